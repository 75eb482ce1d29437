// SPDX-License-Identifier: MIT
/*
 * Points into events.
 *
 * Each point gets, for every argument that is wanted, a source: a field of one of its events,
 * a constant, or the reason why there is no value. Its fields are then laid out in parts: the
 * first string comes first, since on some kernels a number that faults displaces a string
 * behind it; every further string goes into a companion event of its own at the same place,
 * since two long ones overflow the kernel's buffer (kernel.md, "Long strings are dangerous").
 * Parts of equal shape then share events, as far as the low bits of their addresses differ.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nopwatch/plan.h"

/* What one part of a point asks of its event, while it is being laid out. */
struct layout {
	struct nw_buf shape;   /* "p a0:string a1:s32" */
	struct nw_buf fetches; /* "a0=+0(%di):string a1=%si:s32" */
	size_t fields;
};

typedef NW_VEC(struct layout) layouts;

static void free_layouts(layouts *list)
{
	nw_vec_each (list, layout) {
		nw_buf_free(&layout->shape);
		nw_buf_free(&layout->fetches);
	}
	nw_vec_free(list);
}

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
	for (; *path; path++)
		if (isspace((unsigned char)*path) || *path == '#')
			return false;
	return true;
}

/* ---- fields ------------------------------------------------------------------------- */

/* The type that the kernel compares when places share an event: a bitfield's container. */
static void shape_type(const char *fetch, char out[16])
{
	const char *colon = strrchr(fetch, ':');
	const char *type = colon ? colon + 1 : "";
	const char *slash = type[0] == 'b' ? strchr(type, '/') : NULL;

	if (slash)
		snprintf(out, 16, "u%.8s", slash + 1);
	else
		snprintf(out, 16, "%.15s", type);
}

/* Room for the place, its offset, its semaphore and the event's name. */
enum {
	LINE_OVERHEAD = 64 + 64 + 64 + 1100
};

/* A part that can take one more field: the last one, or a new one. */
static struct layout *part_for(layouts *parts, size_t fetch_len)
{
	struct layout *last = parts->count ? &parts->item[parts->count - 1] : NULL;

	if (last && ((last->fields + 2 < NW_MAX_FIELDS &&
		      last->fetches.len + fetch_len + 16 < NW_MAX_LINE - LINE_OVERHEAD) ||
		     parts->count == NW_MAX_PARTS))
		return last;
	return nw_vec_add(parts);
}

/* Append a field to a part; returns its number there. */
static int add_field(struct layout *part, const char *fetch)
{
	char type[16];

	shape_type(fetch, type);
	nw_buf_printf(&part->shape, " a%zu:%s", part->fields, type);
	nw_buf_printf(&part->fetches, "%sa%zu=%s", part->fields ? " " : "", part->fields,
		      fetch);
	return (int)part->fields++;
}

static bool is_fetched_string(const struct nw_source *source)
{
	return source->fetch.text[0] && source->fetch.shown.base == NW_TYPE_STRING;
}

/* Numbers and arrays of a point, behind the string that may already stand in parts[0]. */
static int lay_out_numbers(struct nw_planned *planned, layouts *parts)
{
	nw_vec_each (&planned->args, source) {
		if (!source->fetch.text[0] || is_fetched_string(source))
			continue;
		struct layout *part = part_for(parts, 2 * NW_MAX_EXPRESSION);
		if (!part)
			return -ENOMEM;
		source->part = (unsigned int)(part - parts->item);
		source->field = add_field(part, source->fetch.text);
		if (source->fetch.high_text[0])
			source->high_field = add_field(part, source->fetch.high_text);
	}
	return 0;
}

static int lay_out(struct nw_planned *planned, layouts *parts)
{
	struct nw_source *first = NULL;

	nw_vec_each (&planned->args, source)
		if (!first && is_fetched_string(source))
			first = source;
	struct layout *main_part = nw_vec_add(parts);
	if (!main_part)
		return -ENOMEM;
	if (first)
		first->field = add_field(main_part, first->fetch.text);
	if (lay_out_numbers(planned, parts) < 0)
		return -ENOMEM;
	nw_vec_each (&planned->args, source) {
		if (source == first || !is_fetched_string(source))
			continue;
		if (parts->count == NW_MAX_PARTS) {
			source->fetch.problem = "one of too many strings";
			continue;
		}
		struct layout *companion = nw_vec_add(parts);
		if (!companion)
			return -ENOMEM;
		source->part = (unsigned int)parts->count - 1;
		source->field = add_field(companion, source->fetch.text);
	}
	planned->parts = (unsigned int)parts->count;
	return 0;
}

/* ---- sources ------------------------------------------------------------------------ */

static int find_sources(const struct nw_probe *probe, const struct nw_point *point,
			const struct nw_plan_options *options, struct nw_planned *planned)
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
		if (i < point->operands.count)
			nw_fetch_make(&point->operands.item[i], &arg->type, image->arch,
				      image->big_endian, point->vaddr, &options->caps,
				      &source->fetch);
		else
			source->fetch.problem = "this site has no such argument";
		i++;
	}
	return 0;
}

/* ---- events ------------------------------------------------------------------------- */

static struct nw_event *new_event(struct nw_plan *plan, const char *shape, bool is_return)
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

/* Put a place into an event, which must have its slot free. Takes over fetches. */
static int add_place(struct nw_plan *plan, struct nw_event *event, uint32_t planned,
		     uint32_t part, char *fetches)
{
	struct nw_place *place = nw_vec_add(&event->places);

	if (!place) {
		free(fetches);
		return -ENOMEM;
	}
	*place = (struct nw_place){.planned = planned, .part = part, .fetches = fetches};
	*low_bits_slot(event, nw_plan_point(plan, place)) = (uint16_t)event->places.count;
	return 0;
}

static bool can_share(struct nw_event *event, const char *shape,
		      const struct nw_point *point, const struct nw_plan_options *options)
{
	return options->caps.multi_site && strcmp(event->shape, shape) == 0 &&
	       !*low_bits_slot(event, point);
}

/* The event that a part of a point goes into; shape tells whom it may share it with. */
static struct nw_event *event_for(struct nw_plan *plan,
				  const struct nw_plan_options *options,
				  const struct nw_point *point, const char *shape,
				  size_t fields)
{
	nw_vec_each (&plan->events, event)
		if (can_share(*event, shape, point, options))
			return *event;
	struct nw_event *event = new_event(plan, shape, point->is_return);
	if (event)
		event->fields = fields;
	return event;
}

static int place_parts(struct nw_plan *plan, const struct nw_plan_options *options,
		       layouts *parts)
{
	size_t index = plan->points.count - 1;
	const struct nw_planned *planned = &plan->points.item[index];
	const struct nw_probe *probe = plan->selection->probes.item[planned->probe];
	const struct nw_point *point = &probe->points.item[planned->point];
	uint32_t number = 0;
	int ret = 0;

	nw_vec_each (parts, part) {
		struct nw_buf shape = {0};
		nw_buf_printf(&shape, "%c", point->is_return ? 'r' : 'p');
		nw_buf_adds(&shape, nw_buf_str(&part->shape));
		if (options->separate) /* nobody else has this shape */
			nw_buf_printf(&shape, " #%zu.%u", planned->probe, number);
		char *fetches = nw_buf_take(&part->fetches);
		struct nw_event *event = fetches && !shape.failed
						 ? event_for(plan, options, point,
							     nw_buf_str(&shape),
							     part->fields)
						 : NULL;
		nw_buf_free(&shape);
		if (!event) {
			free(fetches);
			return -ENOMEM;
		}
		ret = add_place(plan, event, (uint32_t)index, number++, fetches);
		if (ret < 0)
			break;
	}
	return ret;
}

static int plan_point(struct nw_plan *plan, const struct nw_plan_options *options,
		      size_t probe_index, size_t point_index)
{
	const struct nw_probe *probe = plan->selection->probes.item[probe_index];
	struct nw_planned *planned = nw_vec_add(&plan->points);
	layouts parts = {0};

	if (!planned)
		return -ENOMEM;
	planned->probe = probe_index;
	planned->point = point_index;
	int ret = find_sources(probe, &probe->points.item[point_index], options, planned);
	if (ret == 0)
		ret = lay_out(planned, &parts);
	if (ret == 0)
		ret = place_parts(plan, options, &parts);
	free_layouts(&parts);
	return ret;
}

/* ---- names -------------------------------------------------------------------------- */

static bool name_taken(const struct nw_plan *plan, const struct nw_event *but,
		       const char *name)
{
	nw_vec_each (&plan->events, event)
		if (*event != but && strcmp((*event)->name, name) == 0)
			return true;
	return false;
}

/* After its first probe; a number is put behind what is taken. */
static void name_after_probe(const struct nw_plan *plan, struct nw_event *event)
{
	const struct nw_planned *planned =
		&plan->points.item[event->places.item[0].planned];
	const struct nw_probe *probe = plan->selection->probes.item[planned->probe];
	char base[NW_MAX_NAME - 8];

	nw_identifier(probe->name, sizeof(base) - 1, base);
	snprintf(event->name, sizeof(event->name), "%s", base);
	for (unsigned int i = 1; name_taken(plan, event, event->name); i++)
		snprintf(event->name, sizeof(event->name), "%s_%u", base, i % 1000000);
}

static void name_event(const struct nw_plan *plan, const struct nw_plan_options *options,
		       struct nw_event *event, size_t number)
{
	if (options->naming == NW_NAMES_PROBES)
		name_after_probe(plan, event);
	else
		snprintf(event->name, sizeof(event->name), "e%.20s_%zu", options->session,
			 number);
}

/* ---- the plan ----------------------------------------------------------------------- */

int nw_plan_make(const struct nw_selection *selection,
		 const struct nw_plan_options *options, struct nw_plan *out,
		 struct nw_error *err)
{
	struct nw_plan plan = {.selection = selection};
	size_t number = 0;
	int ret = 0;

	snprintf(plan.group, sizeof(plan.group), "nopwatch_%.20s", options->session);
	for (size_t i = 0; i < selection->probes.count; i++)
		for (size_t j = 0; j < selection->probes.item[i]->points.count && ret == 0;
		     j++)
			ret = plan_point(&plan, options, i, j);
	if (ret < 0) {
		nw_plan_free(&plan);
		return nw_no_memory(err);
	}
	nw_vec_each (&plan.events, event)
		name_event(&plan, options, *event, number++);
	*out = plan;
	return 0;
}

const struct nw_point *nw_plan_point(const struct nw_plan *plan,
				     const struct nw_place *place)
{
	const struct nw_planned *planned = &plan->points.item[place->planned];

	return &plan->selection->probes.item[planned->probe]->points.item[planned->point];
}

void nw_plan_define(const struct nw_plan *plan, const struct nw_event *event,
		    const struct nw_place *place, const char *path, bool ref_ctr,
		    struct nw_buf *out)
{
	const struct nw_point *point = nw_plan_point(plan, place);

	nw_buf_printf(out, "%c:%s/%s %s:0x%lx", event->is_return ? 'r' : 'p', plan->group,
		      event->name, path, point->offset);
	if (ref_ctr && point->semaphore_offset)
		nw_buf_printf(out, "(0x%lx)", point->semaphore_offset);
	if (*place->fetches)
		nw_buf_printf(out, " %s", place->fetches);
}

struct nw_event *nw_plan_split(struct nw_plan *plan, struct nw_event *event)
{
	if (!event->places.count)
		return NULL;
	struct nw_place last = event->places.item[event->places.count - 1];
	struct nw_event *fresh = new_event(plan, event->shape, event->is_return);
	if (!fresh)
		return NULL;
	fresh->fields = event->fields;
	*low_bits_slot(event, nw_plan_point(plan, &last)) = 0;
	event->places.count--;
	if (add_place(plan, fresh, last.planned, last.part, last.fetches) < 0)
		return NULL;
	snprintf(fresh->name, sizeof(fresh->name), "%.48s_s%zu", event->name,
		 plan->events.count % 1000000);
	return fresh;
}

static void free_event(struct nw_event *event)
{
	nw_vec_each (&event->places, place)
		free(place->fetches);
	nw_vec_free(&event->places);
	free(event->shape);
	free(event);
}

void nw_plan_free(struct nw_plan *plan)
{
	nw_vec_each (&plan->events, event)
		free_event(*event);
	nw_vec_free(&plan->events);
	nw_vec_each (&plan->points, planned)
		nw_vec_free(&planned->args);
	nw_vec_free(&plan->points);
}
