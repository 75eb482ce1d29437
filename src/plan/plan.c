// SPDX-License-Identifier: MIT
/*
 * Points into events.
 *
 * Each point gets, for every argument that is wanted, a source: a field of one of its events,
 * a constant, or the reason why there is no value. Its fields are then laid out in parts
 * (layout.c), each of which goes into an event. Parts of equal shape share events, as far as the
 * low bits of their addresses differ.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_private.h"

void nw_identifier(const char *text, size_t most, char *out)
{
	size_t len = 0;

	if (isdigit((unsigned char)*text) && most > 1)
		out[len++] = '_';
	for (; *text && len < most; text++)
		out[len++] = isalnum((unsigned char)*text) ? *text : '_';
	if (len == 0 && most)
		out[len++] = '_';
	out[len] = '\0';
}

bool nw_path_is_writable(const char *path)
{
	if (*path != '/')
		return false;
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;
		/* the kernel's isspace() takes 0xa0 for Latin-1's no-break space; in UTF-8 it is the second byte of
		 * an a with a grave accent */
		if (isspace(c) || c == 0xa0 || c == '#')
			return false;
	}
	return true;
}

/*
 * Is it one of the two probes of a function, its entry and its return? Then the stack pointer tells
 * which return is whose.
 */
static bool is_half_of_call(const struct nw_selection *selection,
			    const struct nw_probe *probe)
{
	if (probe->kind == NW_SPEC_USDT || probe->kind == NW_SPEC_TRACEPOINT)
		return false;
	nw_vec_each (&selection->probes, other)
		if (nw_probes_are_call(probe, *other) || nw_probes_are_call(*other, probe))
			return true;
	return false;
}

static bool wants_stack(const struct nw_selection *selection,
			const struct nw_plan_options *options, const struct nw_probe *probe,
			const struct nw_point *point)
{
	const struct nw_arch *arch = probe->image->arch;

	return arch && arch->stack &&
	       !(probe->image->kernel && arch->no_kernel_return_stack) &&
	       (point->kept.count ||
		(options->stacks &&
		 (point->frame.function || is_half_of_call(selection, probe))));
}

/* ---- sources ------------------------------------------------------------------------ */

enum {
	MOST_SUMS =
		12 /* a hist trigger has room for 16 variables, and for as many references to them (tracing_map.h) */
};

/* Fetches argument i: behind the sum of two registers, if it has an index and the kernel can. */
static int fetch_argument(const struct nw_point *point, size_t i,
			  const struct nw_type *type, const struct nw_plan_options *options,
			  struct nw_planned_point *planned, struct nw_source *source)
{
	const struct nw_image *image = point->image;
	const struct nw_operand *op = &point->operands.item[i];
	const size_t number = planned->sums.count;
	struct nw_operand behind;
	struct nw_sum sum;
	const bool summed = number < MOST_SUMS &&
			    nw_fetch_sum(op, type, image->arch, point->vaddr,
					 &options->caps, number, &behind, &sum);

	nw_fetch_make(summed ? &behind : op, type, image->arch, image->big_endian,
		      point->vaddr, &options->caps, &source->fetch);
	if (!summed || source->fetch.problem)
		return 0;
	struct nw_sum *slot = nw_vec_add(&planned->sums);
	if (!slot)
		return -ENOMEM;
	*slot = sum;
	return 0;
}

static int find_sources(const struct nw_probe *probe, const struct nw_point *point,
			const struct nw_plan_options *options,
			struct nw_planned_point *planned)
{
	const struct nw_image *image = point->image;
	size_t i = 0;

	if (!options->all_args && !probe->has_args)
		return 0;
	nw_vec_each (&probe->args, arg) {
		struct nw_source *source = nw_vec_add(&planned->args);
		if (!source)
			return -ENOMEM;
		source->field = source->high_field = -1;
		if (i < point->operands.count && !arg->made) {
			if (fetch_argument(point, i, &arg->type, options, planned, source) <
			    0)
				return -ENOMEM;
		} else if (!arg->made)
			source->fetch.problem = "this site has no such argument";
		/* Where a kprobe cannot read, copy_from_kernel_nofault() and copy_from_user_nofault() (mm/maccess.c) clear nothing, so
		 * what an earlier hit left in the ring buffer stays. Strings are judged by their pointers. */
		source->fetch.untrusted |= image && image->kernel && arg->type.array;
		if (*arg->length && !source->fetch.problem) {
			int length = nw_arg_find(probe, arg->length);
			source->counted = length >= 0;
			source->length = length >= 0 ? (uint32_t)length : 0;
		}
		i++;
	}
	return 0;
}

/* Adds the source that callers are found by, if the probe wants callers and the architecture has them. */
static int find_callers(const struct nw_probe *probe, struct nw_planned_point *planned)
{
	const struct nw_arch *arch = probe->image->arch;
	struct nw_source *source;

	if (!probe->callers || !arch || !arch->unwind)
		return 0;
	source = nw_vec_add(&planned->args);
	if (!source)
		return -ENOMEM;
	source->field = source->high_field = -1;
	source->callers = arch;
	source->big_endian = probe->image->big_endian;
	source->fetch.shown.base = NW_TYPE_STRING;
	return 0;
}

const struct nw_source *nw_planned_callers(const struct nw_planned_point *planned)
{
	size_t count = planned->args.count;

	return count && planned->args.item[count - 1].callers
		       ? &planned->args.item[count - 1]
		       : NULL;
}

uint32_t nw_planned_values(const struct nw_planned_point *planned)
{
	return (uint32_t)planned->args.count - (nw_planned_callers(planned) != NULL);
}

/* ---- events ------------------------------------------------------------------------- */

struct nw_event *nw_plan_event(struct nw_plan *plan, const char *shape, bool is_return)
{
	struct nw_event *event = calloc(1, sizeof(*event));
	struct nw_event **slot = event ? nw_vec_add(&plan->events) : NULL;

	if (!slot) {
		free(event);
		return NULL;
	}
	*slot = event;
	event->shape = strdup(shape);
	event->is_return = is_return;
	return event->shape ? event : NULL;
}

static uint16_t *low_bits_slot(struct nw_event *event, const struct nw_point *point)
{
	return &event->by_low_bits[point->offset & 0xfff];
}

/* Puts a place into an event, whose slot for it must be free. Takes over fetches. */
int nw_plan_place(struct nw_plan *plan, struct nw_event *event, uint32_t planned,
		  uint32_t part, char *fetches)
{
	struct nw_event_site *place = nw_vec_add(&event->places);

	if (!place) {
		free(fetches);
		return -ENOMEM;
	}
	*place = (struct nw_event_site){
		.planned = planned, .part = part, .fetches = fetches};
	*low_bits_slot(event, nw_plan_point(plan, place)) = (uint16_t)event->places.count;
	return 0;
}

/* Returns the event for one part of a point; only places of the same shape share an event. */
static struct nw_event *event_for(struct nw_plan *plan,
				  const struct nw_plan_options *options,
				  const struct nw_point *point, const char *shape,
				  nw_strings *fields)
{
	for (size_t i = plan->sealed; i < plan->events.count; i++) {
		struct nw_event *shared = plan->events.item[i];
		if (options->caps.multi_site && strcmp(shared->shape, shape) == 0 &&
		    !*low_bits_slot(shared, point))
			return shared;
	}
	struct nw_event *event = nw_plan_event(plan, shape, point->is_return);
	if (event) { /* the event takes over the names */
		event->fields = *fields;
		*fields = (nw_strings){0};
	}
	return event;
}

void nw_plan_synthetic(const struct nw_plan *plan, unsigned int chain,
		       char out[NW_MAX_NAME + 1])
{
	if (chain)
		snprintf(out, NW_MAX_NAME + 1, "%.50s_%u", plan->group, chain);
	else
		snprintf(out, NW_MAX_NAME + 1, "%s", plan->group);
}

/* Attaches an event to a synthetic one, which has the words behind which it reads. */
static void follow_synthetic(const struct nw_plan *plan, unsigned int chain,
			     struct nw_event *event)
{
	char name[NW_MAX_NAME + 1];

	nw_plan_synthetic(plan, chain, name);
	snprintf(event->attached, sizeof(event->attached), "synthetic.%s", name);
	event->is_return = false;
}

const struct nw_event *nw_plan_event_of(const struct nw_plan *plan,
					const struct nw_planned_point *planned,
					uint32_t part)
{
	const size_t number = (size_t)(planned - plan->points.item);

	nw_vec_each (&plan->events, event)
		nw_vec_each (&(*event)->places, place)
			if (place->planned == number && place->part == part)
				return *event;
	return NULL;
}

static const struct nw_point *point_of(const struct nw_plan *plan,
				       const struct nw_planned_point *planned)
{
	return &plan->selection->probes.item[planned->probe]->points.item[planned->point];
}

const struct nw_planned_point *nw_plan_entry_of(const struct nw_plan *plan,
						const struct nw_planned_point *returns)
{
	const struct nw_probe *probe = plan->selection->probes.item[returns->probe];
	const struct nw_image *image = point_of(plan, returns)->image;

	nw_vec_each (&plan->points, planned)
		if (planned->kept_field >= 0 && point_of(plan, planned)->image == image &&
		    nw_probes_are_call(plan->selection->probes.item[planned->probe], probe))
			return planned;
	return NULL;
}

static int place_parts(struct nw_plan *plan, const struct nw_plan_options *options,
		       nw_layouts *parts)
{
	size_t index = plan->points.count - 1;
	struct nw_planned_point *planned = &plan->points.item[index];
	const struct nw_probe *probe = plan->selection->probes.item[planned->probe];
	const struct nw_point *point = &probe->points.item[planned->point];
	uint32_t number = 0;
	int ret = 0;

	if (planned->carried_part)
		planned->chain = plan->chains++;
	nw_vec_each (parts, part) {
		struct nw_buf shape = {0};
		nw_buf_printf(&shape, "%c", point->is_return ? 'r' : 'p');
		nw_buf_adds(&shape, nw_buf_str(&part->shape));
		/* no other probe has this shape, so none can share the event; events of the kernel's functions cannot be shared */
		if (options->separate || point->image->kernel)
			nw_buf_printf(&shape, " #%zu.%u", planned->probe, number);
		/* the triggers of what is passed on are those of one place */
		const bool carried = planned->carried_part &&
				     number >= planned->carried_part;
		if (point->kept.count || planned->sums.count)
			nw_buf_printf(&shape, " k%zu.%u", index, number);
		char *fetches = nw_buf_take(&part->fetches);
		struct nw_event *event = fetches && !shape.failed
						 ? event_for(plan, options, point,
							     nw_buf_str(&shape),
							     &part->fields)
						 : NULL;
		nw_buf_free(&shape);
		if (!event) {
			free(fetches);
			return -ENOMEM;
		}
		if (carried)
			follow_synthetic(plan, planned->chain, event);
		ret = nw_plan_place(plan, event, (uint32_t)index, number++, fetches);
		if (ret < 0)
			break;
	}
	return ret;
}

/* Plans an event of the kernel itself: it has a name and fields, and needs no definition. Its format tells the types
 * of the fields. */
static int plan_kernel_event(struct nw_plan *plan, const struct nw_probe *probe,
			     struct nw_planned_point *planned, bool fetch)
{
	uint32_t number = (uint32_t)plan->points.count - 1;
	struct nw_event *event = nw_plan_event(plan, "t", false);
	int ret = event ? 0 : -ENOMEM;

	planned->parts = 1;
	if (event) {
		snprintf(event->system, sizeof(event->system), "%s", probe->provider);
		snprintf(event->name, sizeof(event->name), "%s", probe->name);
	}
	nw_vec_each (&probe->args, arg) {
		if (ret < 0 || !fetch)
			break;
		struct nw_source *source = nw_vec_add(&planned->args);
		if (!source)
			return -ENOMEM;
		source->field = arg->made ? -1 : (int)event->fields.count;
		source->high_field = -1;
		source->fetch.shown = arg->type;
		if (!arg->made)
			ret = nw_strings_add(&event->fields, arg->name, strlen(arg->name));
	}
	char *none = ret == 0 ? strdup("") : NULL;
	return none ? nw_plan_place(plan, event, number, 0, none) : -ENOMEM;
}

static int plan_point(struct nw_plan *plan, const struct nw_plan_options *options,
		      size_t probe_index, size_t point_index)
{
	const struct nw_probe *probe = plan->selection->probes.item[probe_index];
	struct nw_planned_point *planned = nw_vec_add(&plan->points);
	nw_layouts parts = {0};

	if (!planned)
		return -ENOMEM;
	planned->probe = probe_index;
	planned->point = point_index;
	planned->stack.field = planned->kept_field = -1;
	if (probe->attached)
		return nw_plan_attached(plan, options, probe, planned);
	if (probe->kind == NW_SPEC_TRACEPOINT)
		return plan_kernel_event(plan, probe, planned,
					 options->all_args || probe->has_args);
	int ret = find_sources(probe, &probe->points.item[point_index], options, planned);
	if (ret == 0)
		ret = find_callers(probe, planned);
	const struct nw_point *point = &probe->points.item[point_index];
	const struct nw_laying laying = {
		options,
		probe,
		planned,
		probe->image->big_endian,
		wants_stack(plan->selection, options, probe, point),
		point->kept.count && !point->is_return && !point->is_exit};
	if (ret == 0)
		ret = nw_lay_out(&laying, &parts);
	if (ret == 0)
		ret = place_parts(plan, options, &parts);
	nw_layouts_free(&parts);
	return ret;
}

/* ---- the plan ----------------------------------------------------------------------- */

/* Names the events that have no name yet; such an event gets no further places. */
static void name_events(struct nw_plan *plan, const struct nw_plan_options *options)
{
	for (; plan->sealed < plan->events.count; plan->sealed++)
		nw_plan_name(plan, options, plan->events.item[plan->sealed], plan->sealed);
}

int nw_plan_make(const struct nw_selection *selection,
		 const struct nw_plan_options *options, struct nw_plan *out,
		 struct nw_error *err)
{
	struct nw_plan plan = {.selection = selection,
			       .maxactive = options->caps.maxactive};
	char session[21];
	int ret = 0;

	snprintf(session, sizeof(session), "%s", options->session);
	nw_session_group(session, plan.group);
	for (size_t i = 0; i < selection->probes.count; i++)
		for (size_t j = 0; j < selection->probes.item[i]->points.count && ret == 0;
		     j++)
			ret = plan_point(&plan, options, i, j);
	if (ret < 0) {
		nw_plan_free(&plan);
		return nw_no_memory(err);
	}
	name_events(&plan, options);
	*out = plan;
	return 0;
}

int nw_plan_grow(struct nw_plan *plan, const struct nw_plan_options *options,
		 const nw_points_of *points)
{
	int ret = 0;

	nw_vec_each (points, one)
		if (ret == 0)
			ret = plan_point(plan, options, one->probe, one->point);
	name_events(plan, options);
	return ret;
}

bool nw_plan_has_stacks(const struct nw_plan *plan)
{
	nw_vec_each (&plan->points, planned)
		if (planned->stack.field >= 0)
			return true;
	return false;
}

bool nw_plan_has_goroutines(const struct nw_plan *plan)
{
	nw_vec_each (&plan->points, planned)
		if (planned->stack.field >= 0 && planned->stack.goroutine)
			return true;
	return false;
}

const char *nw_event_group(const struct nw_plan *plan, const struct nw_event *event)
{
	return *event->system ? event->system : plan->group;
}

static const struct nw_probe *probe_of(const struct nw_plan *plan,
				       const struct nw_event_site *place)
{
	return plan->selection->probes.item[plan->points.item[place->planned].probe];
}

const struct nw_point *nw_plan_point(const struct nw_plan *plan,
				     const struct nw_event_site *place)
{
	const struct nw_planned_point *planned = &plan->points.item[place->planned];

	return &plan->selection->probes.item[planned->probe]->points.item[planned->point];
}

bool nw_event_in_function(const struct nw_plan *plan, const struct nw_event *event)
{
	if (*event->attached || *event->system)
		return *event->attached && !nw_event_follows(event);
	const struct nw_image *image =
		event->places.count ? nw_plan_point(plan, event->places.item)->image : NULL;
	return image && image->kernel;
}

bool nw_event_level(const struct nw_plan *plan, const struct nw_event *event, char out[64])
{
	const struct nw_stack_field *first = NULL;

	nw_vec_each (&event->places, place) {
		const struct nw_stack_field *stack =
			&plan->points.item[place->planned].stack;
		/* a plan that was read may come from anywhere */
		if (stack->field < 0 || (size_t)stack->field >= event->fields.count ||
		    stack->loose || stack->goroutine || place->part ||
		    (first && first->field != stack->field))
			return false;
		const size_t behind = (size_t)stack->field + 1;
		const bool levelled = behind < event->fields.count &&
				      strncmp(event->fields.item[behind], NW_LEVEL_FIELD,
					      strlen(NW_LEVEL_FIELD)) == 0;
		if (stack->pops && !levelled)
			return false;
		const bool sum = levelled && (stack->pops || stack->function);
		first = stack;
		snprintf(out, 64, "%.24s%s%.24s", event->fields.item[stack->field],
			 !sum		   ? ""
			 : stack->function ? "+"
					   : "-",
			 sum ? event->fields.item[behind] : "");
	}
	return first != NULL;
}

void nw_plan_define_as(const struct nw_plan *plan, const struct nw_event *event,
		       const char *name, const struct nw_event_site *place,
		       const char *path, bool ref_ctr, struct nw_buf *out)
{
	const struct nw_point *point = nw_plan_point(plan, place);
	const bool in_kernel = nw_event_in_function(plan, event);

	nw_buf_addc(out, event->is_return ? 'r' : nw_event_follows(event) ? 'e' : 'p');
	if (event->is_return && in_kernel && plan->maxactive)
		nw_buf_printf(out, "%d", NW_KERNEL_CALLS);
	nw_buf_printf(out, ":%s/%s ", *event->group ? event->group : plan->group, name);
	if (*event->attached)
		nw_buf_adds(out, event->attached);
	else if (in_kernel)
		nw_buf_adds(out, probe_of(plan, place)->name);
	else
		nw_buf_printf(out, "%s:0x%jx", path, point->offset);
	if (ref_ctr && point->semaphore_offset)
		nw_buf_printf(out, "(0x%jx)", point->semaphore_offset);
	if (*place->fetches)
		nw_buf_printf(out, " %s", place->fetches);
}

void nw_plan_define(const struct nw_plan *plan, const struct nw_event *event,
		    const struct nw_event_site *place, const char *path, bool ref_ctr,
		    struct nw_buf *out)
{
	nw_plan_define_as(plan, event, event->name, place, path, ref_ctr, out);
}

size_t nw_plan_image(const struct nw_selection *selection, const struct nw_image *image)
{
	size_t i = 0;

	while (i < selection->images.count && selection->images.item[i] != image)
		i++;
	return i;
}

static void free_event(struct nw_event *event)
{
	nw_vec_each (&event->places, place)
		free(place->fetches);
	nw_vec_free(&event->places);
	nw_strings_free(&event->fields);
	free(event->shape);
	free(event);
}

void nw_plan_free(struct nw_plan *plan)
{
	nw_vec_each (&plan->events, event)
		free_event(*event);
	nw_vec_free(&plan->events);
	nw_vec_each (&plan->points, planned) {
		nw_vec_each (&planned->args, source)
			nw_vec_free(&source->chunks);
		nw_vec_free(&planned->args);
		nw_vec_free(&planned->sums);
	}
	nw_vec_free(&plan->points);
	nw_strings_free(&plan->texts);
}
