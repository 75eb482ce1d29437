// SPDX-License-Identifier: MIT
/*
 * A plan as text, one thing a line, blanks between words; inside a word everything but
 * printable ASCII, and '%', is written %XX. "-" is the empty word.
 *
 *	nopwatch-plan 1
 *	group NAME
 *	image PATH
 *	build ID					of the image before; left out if it has none
 *	probe IMAGE KIND PROVIDER NAME LABEL NAMED	belongs to the image of that number
 *	arg NAME TYPE					of the last probe
 *	enum NAMES					of the last arg: of the values of its enumeration
 *	linked NAME					of the last probe: the linker's name
 *	point VADDR OFFSET RETURN			of the last probe
 *	planned PROBE POINT PARTS REFUSED
 *	carried PART					of the last planned: its first part that is read at a return
 *	stack FIELD POPS LOOSE				of the last planned, if it has one
 *	goroutine FIELD					of the last stack: whose it is
 *	frame FIELD OFFSET FUNCTION			the same of a frame (struct nw_frame)
 *	source PART FIELD HIGH TYPE SHOWN SIGN CONSTANT UNTRUSTED PROBLEM	of the last planned
 *	string BIG_ENDIAN WHOLE				of the last source
 *	length ARG					of the last source
 *	of_call						of the last source
 *	chunk PART FIELD OFFSET BITS COUNT		of the last source
 *	callers PART FIELD ARCH				the last source of its planned, with chunks
 *	event NAME RETURN
 *	id NUMBER					of the last event: the kernel's
 *	order NUMBER					of the last event (struct nw_armed_event)
 *	system NAME					of the last event: the kernel has it anyway
 *	attached NAME					of the last event (struct nw_event)
 *	field NAME					of the last event
 *	place PLANNED PART				of the last event
 *	shifted_states					prev_state of sched_switch is one bit too high
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_private.h"

enum {
	MOST_WORDS = 12,
	/* A plan may come from anywhere. An event takes 8 KiB of memory here, and milliseconds in the kernel. */
	MOST_IMAGES = 4096,
	MOST_PROBES = 16384,
	MOST_POINTS = 262144,
	MOST_EVENTS = 8192
};

struct loader {
	struct nw_selection *selection;
	struct nw_plan *plan;
	char *words[MOST_WORDS];
	size_t count;
	size_t points;
	nw_vec_u32 refused; /* by planned point */
	nw_vec_u32 ids;	    /* by event, where they are known */
	nw_vec_u32 orders;  /* the same */
	bool begun;	    /* the first line has been seen */
	bool shifted_states;
};

/* Reads word i as a number of at most `most`. */
static bool number(const struct loader *load, size_t i, uint64_t most, uint64_t *out)
{
	return nw_parse_u64(load->words[i], out) == 0 && *out <= most;
}

/* Reads word i as a number, or -1. */
static bool small_or_none(const struct loader *load, size_t i, int *out)
{
	uint64_t value;

	if (strcmp(load->words[i], "-1") == 0) {
		*out = -1;
		return true;
	}
	if (!number(load, i, NW_MAX_FIELDS, &value))
		return false;
	*out = (int)value;
	return true;
}

static bool type(const struct loader *load, size_t i, struct nw_type *out)
{
	const char *text = load->words[i];

	*out = (struct nw_type){0};
	return !*text || nw_type_parse(text, strlen(text), out) == 0;
}

static struct nw_probe *last_probe(const struct loader *load)
{
	size_t count = load->selection->probes.count;

	return count ? load->selection->probes.item[count - 1] : NULL;
}

static int load_begin(struct loader *load)
{
	load->begun = strcmp(load->words[1], "1") == 0;
	return load->begun ? 0 : -EBADMSG;
}

static int load_group(struct loader *load)
{
	nw_identifier(load->words[1], NW_MAX_NAME, load->plan->group);
	return strcmp(load->plan->group, load->words[1]) == 0 ? 0 : -EBADMSG;
}

static int load_image(struct loader *load)
{
	if (load->selection->images.count == MOST_IMAGES)
		return -EFBIG;
	struct nw_image *image = calloc(1, sizeof(*image));
	struct nw_image **slot = image ? nw_vec_add(&load->selection->images) : NULL;

	if (!slot) {
		free(image);
		return -ENOMEM;
	}
	*slot = image;
	image->fd = -1;
	image->path = strdup(load->words[1]);
	image->kernel = strcmp(load->words[1], nw_kernel_path) == 0;
	return image->path ? 0 : -ENOMEM;
}

static int load_build(struct loader *load)
{
	const nw_images *images = &load->selection->images;
	const char *id = load->words[1];

	if (!images->count || strlen(id) >= sizeof(images->item[0]->build_id) ||
	    id[strspn(id, "0123456789abcdef")])
		return -EBADMSG;
	strcpy(images->item[images->count - 1]->build_id, id);
	return 0;
}

static int load_probe(struct loader *load)
{
	if (load->selection->probes.count == MOST_PROBES)
		return -EFBIG;
	struct nw_probe *probe = calloc(1, sizeof(*probe));
	struct nw_probe **slot = probe ? nw_vec_add(&load->selection->probes) : NULL;
	uint64_t image, kind, named;

	if (!slot) {
		free(probe);
		return -ENOMEM;
	}
	*slot = probe;
	probe->provider = strdup(load->words[3]);
	probe->name = strdup(load->words[4]);
	probe->label = strdup(load->words[5]);
	if (!probe->provider || !probe->name || !probe->label)
		return -ENOMEM;
	size_t label = strlen(probe->label), name = strlen(probe->name);
	if (!number(load, 1, UINT32_MAX, &image) ||
	    image >= load->selection->images.count ||
	    !number(load, 2, NW_SPEC_TRACEPOINT, &kind) || !number(load, 6, 1, &named) ||
	    /* the label ends with the name: spans are named after it */
	    name > label || strcmp(probe->label + label - name, probe->name) != 0)
		return -EBADMSG;
	probe->kind = (enum nw_spec_kind)kind;
	probe->image = kind == NW_SPEC_TRACEPOINT ? NULL
						  : load->selection->images.item[image];
	probe->has_args = named;
	return 0;
}

static int load_arg(struct loader *load)
{
	struct nw_probe *probe = last_probe(load);
	struct nw_named_arg *arg;

	if (!probe || strlen(load->words[1]) >= sizeof(arg->name))
		return -EBADMSG;
	arg = nw_vec_add(&probe->args);
	if (!arg)
		return -ENOMEM;
	strcpy(arg->name, load->words[1]);
	return type(load, 2, &arg->type) ? 0 : -EBADMSG;
}

static int load_enum(struct loader *load)
{
	struct nw_probe *probe = last_probe(load);
	int ret = 0;

	if (!probe || probe->enums.count >= probe->args.count)
		return -EBADMSG;
	while (ret == 0 && probe->enums.count + 1 < probe->args.count)
		ret = nw_strings_add(&probe->enums, "", 0);
	const char *names = load->words[1];
	return ret < 0 ? ret : nw_strings_add(&probe->enums, names, strlen(names));
}

static int load_symbol(struct loader *load)
{
	struct nw_probe *probe = last_probe(load);

	if (!probe || probe->symbol)
		return -EBADMSG;
	probe->symbol = strdup(load->words[1]);
	return probe->symbol ? 0 : -ENOMEM;
}

static int load_point(struct loader *load)
{
	struct nw_probe *probe = last_probe(load);
	uint64_t vaddr, offset, is_return;

	if (!probe || !number(load, 1, UINT64_MAX, &vaddr) ||
	    !number(load, 2, UINT64_MAX, &offset) || !number(load, 3, 1, &is_return))
		return -EBADMSG;
	if (load->points++ == MOST_POINTS)
		return -EFBIG;
	struct nw_point *point = nw_vec_add(&probe->points);
	if (!point)
		return -ENOMEM;
	*point = (struct nw_point){.image = probe->image, .is_return = is_return};
	point->vaddr = vaddr;
	point->offset = offset;
	return 0;
}

static int load_planned(struct loader *load)
{
	uint64_t probe, point, parts, refused;

	if (!number(load, 1, UINT32_MAX, &probe) ||
	    probe >= load->selection->probes.count ||
	    !number(load, 2, UINT32_MAX, &point) ||
	    point >= load->selection->probes.item[probe]->points.count ||
	    !number(load, 3, NW_MAX_PARTS, &parts) || parts == 0 ||
	    !number(load, 4, UINT32_MAX, &refused))
		return -EBADMSG;
	if (load->plan->points.count == MOST_POINTS)
		return -EFBIG;
	struct nw_planned_point *planned = nw_vec_add(&load->plan->points);
	uint32_t *parts_refused = planned ? nw_vec_add(&load->refused) : NULL;
	if (!parts_refused)
		return -ENOMEM;
	*planned = (struct nw_planned_point){
		.probe = probe, .point = point, .stack.field = -1, .kept_field = -1};
	planned->parts = (unsigned int)parts;
	*parts_refused = (uint32_t)refused;
	return 0;
}

static int load_carried(struct loader *load)
{
	size_t count = load->plan->points.count;
	uint64_t part;

	if (!count || !number(load, 1, NW_MAX_PARTS - 1, &part) || !part ||
	    part >= load->plan->points.item[count - 1].parts)
		return -EBADMSG;
	load->plan->points.item[count - 1].carried_part = (unsigned int)part;
	return 0;
}

static int load_stack(struct loader *load)
{
	size_t count = load->plan->points.count;
	uint64_t field, pops, loose;

	if (!count || !number(load, 1, NW_MAX_FIELDS - 1, &field) ||
	    !number(load, 2, NW_MOST_POPS, &pops) || !number(load, 3, 1, &loose))
		return -EBADMSG;
	load->plan->points.item[count - 1].stack = (struct nw_stack_field){
		.field = (int)field, .pops = (int64_t)pops, .loose = loose};
	return 0;
}

static int load_goroutine(struct loader *load)
{
	size_t count = load->plan->points.count;
	uint64_t field;

	if (!count || load->plan->points.item[count - 1].stack.field < 0 ||
	    !number(load, 1, NW_MAX_FIELDS - NW_GOROUTINE_FIELDS, &field) || !field)
		return -EBADMSG;
	struct nw_planned_point *planned = &load->plan->points.item[count - 1];
	struct nw_probe *probe = load->selection->probes.item[planned->probe];
	planned->stack.goroutine = (int)field;
	probe->points.item[planned->point].goroutine = "g";
	return 0;
}

static int load_frame(struct loader *load)
{
	size_t count = load->plan->points.count;
	uint64_t field, offset, function;

	if (!count || !number(load, 1, NW_MAX_FIELDS - 1, &field) ||
	    !number(load, 2, UINT64_MAX, &offset) ||
	    !number(load, 3, UINT64_MAX, &function) || !function)
		return -EBADMSG;
	struct nw_planned_point *planned = &load->plan->points.item[count - 1];
	struct nw_probe *probe = load->selection->probes.item[planned->probe];
	planned->stack = (struct nw_stack_field){
		.field = (int)field, .pops = (int64_t)(0 - offset), .function = function};
	probe->points.item[planned->point].frame.function = function;
	return 0;
}

/* Reads the constant, if the word is one. */
static bool load_constant(const struct loader *load, size_t i, struct nw_fetch *fetch)
{
	fetch->is_constant = *load->words[i] != '\0';
	return !fetch->is_constant || number(load, i, UINT64_MAX, &fetch->constant);
}

static int load_source(struct loader *load)
{
	struct nw_plan *plan = load->plan;
	struct nw_planned_point *planned =
		plan->points.count ? &plan->points.item[plan->points.count - 1] : NULL;
	uint64_t part, sign, untrusted;
	struct nw_source *source;

	if (!planned || nw_planned_callers(planned) ||
	    planned->args.count >=
		    load->selection->probes.item[planned->probe]->args.count ||
	    !number(load, 1, planned->parts - 1, &part) || !number(load, 6, 64, &sign) ||
	    !number(load, 8, 1, &untrusted))
		return -EBADMSG;
	source = nw_vec_add(&planned->args);
	if (!source)
		return -ENOMEM;
	source->part = (unsigned int)part;
	source->fetch.sign_bits = (unsigned int)sign;
	source->fetch.untrusted = untrusted;
	if (!small_or_none(load, 2, &source->field) ||
	    !small_or_none(load, 3, &source->high_field) ||
	    !type(load, 4, &source->fetch.field) || !type(load, 5, &source->fetch.shown) ||
	    !load_constant(load, 7, &source->fetch))
		return -EBADMSG;
	const char *text = load->words[9];
	nw_strings *texts = &load->plan->texts;
	if (!*text)
		return 0;
	if (nw_strings_add(texts, text, strlen(text)) < 0)
		return -ENOMEM;
	source->fetch.problem = texts->item[texts->count - 1];
	return 0;
}

static struct nw_source *last_source(const struct loader *load)
{
	size_t count = load->plan->points.count;
	struct nw_planned_point *planned = count ? &load->plan->points.item[count - 1]
						 : NULL;

	return planned && planned->args.count ? &planned->args.item[planned->args.count - 1]
					      : NULL;
}

static int load_callers(struct loader *load)
{
	size_t count = load->plan->points.count;
	struct nw_planned_point *planned = count ? &load->plan->points.item[count - 1]
						 : NULL;
	const struct nw_arch *arch = nw_arch_by_name(load->words[3]);
	uint64_t part, field;

	if (!planned || !arch || nw_planned_callers(planned) ||
	    !number(load, 1, planned->parts - 1, &part) ||
	    !number(load, 2, NW_MAX_FIELDS - 1, &field))
		return -EBADMSG;
	struct nw_source *source = nw_vec_add(&planned->args);
	if (!source)
		return -ENOMEM;
	source->part = (unsigned int)part;
	source->field = (int)field;
	source->high_field = -1;
	source->callers = arch;
	source->fetch.shown.base = NW_TYPE_STRING;
	load->selection->probes.item[planned->probe]->callers = true;
	return 0;
}

static int load_window(struct loader *load)
{
	struct nw_source *source = last_source(load);
	uint64_t scale;

	if (!source || !number(load, 1, 1 << 15, &scale) || !scale ||
	    !source->fetch.field.array || source->high_field < 0)
		return -EBADMSG;
	source->fetch.scale = (unsigned int)scale;
	return 0;
}

static int load_string(struct loader *load)
{
	struct nw_source *source = last_source(load);
	uint64_t big_endian, whole;

	if (!source || !number(load, 1, 1, &big_endian) || !number(load, 2, 1, &whole))
		return -EBADMSG;
	source->big_endian = big_endian;
	source->whole = whole;
	return 0;
}

static int load_length(struct loader *load)
{
	struct nw_source *source = last_source(load);
	uint64_t length;

	if (!source || !number(load, 1, NW_MAX_FIELDS, &length))
		return -EBADMSG;
	source->counted = true;
	source->length = (uint32_t)length;
	return 0;
}

static int load_of_call(struct loader *load)
{
	struct nw_source *source = last_source(load);

	if (source)
		source->in_kernel = true;
	return source ? 0 : -EBADMSG;
}

/* Loads a chunk of a string. Chunks have no gap, and are together no larger than a fetch can be. */
static int load_chunk(struct loader *load)
{
	struct nw_source *source = last_source(load);
	uint64_t part, offset, bits, count;
	uint32_t wanted = 0;
	int field;

	if (!source || source->field < 0 || source->fetch.shown.base != NW_TYPE_STRING ||
	    !number(load, 1, NW_MAX_PARTS - 1, &part) || part < source->part ||
	    part >= load->plan->points.item[load->plan->points.count - 1].parts ||
	    !small_or_none(load, 2, &field) || field < 0 ||
	    !number(load, 3, NW_MAX_STRING_SIZE + 8 * NW_MAX_REGISTERS, &offset) ||
	    !number(load, 4, 64, &bits) || (bits != 8 && bits != 64) ||
	    !number(load, 5, 64, &count))
		return -EBADMSG;
	if (source->chunks.count) {
		const struct nw_chunk *last =
			&source->chunks.item[source->chunks.count - 1];
		wanted = last->offset + nw_chunk_bytes(last);
		if (part < last->part)
			return -EBADMSG;
	}
	if (offset != wanted)
		return -EBADMSG;
	struct nw_chunk *chunk = nw_vec_add(&source->chunks);
	if (!chunk)
		return -ENOMEM;
	*chunk = (struct nw_chunk){.part = (uint32_t)part,
				   .field = field,
				   .offset = (uint32_t)offset,
				   .bits = (uint32_t)bits,
				   .count = (uint32_t)count};
	source->spread |= part != source->part;
	return 0;
}

static int load_event(struct loader *load)
{
	struct nw_event *event;
	uint64_t is_return;

	if (!number(load, 2, 1, &is_return))
		return -EBADMSG;
	if (load->plan->events.count == MOST_EVENTS)
		return -EFBIG;
	event = nw_plan_event(load->plan, "", is_return);
	if (!event)
		return -ENOMEM;
	nw_identifier(load->words[1], NW_MAX_NAME, event->name);
	return strcmp(event->name, load->words[1]) == 0 ? 0 : -EBADMSG;
}

static struct nw_event *last_event(const struct loader *load)
{
	size_t count = load->plan->events.count;

	return count ? load->plan->events.item[count - 1] : NULL;
}

/* Reads a number of the last event; earlier events may have none. */
static int load_event_number(struct loader *load)
{
	nw_vec_u32 *out = strcmp(load->words[0], "id") == 0 ? &load->ids : &load->orders;
	uint64_t value;

	if (!last_event(load) || !number(load, 1, UINT32_MAX, &value))
		return -EBADMSG;
	while (out->count < load->plan->events.count)
		if (!nw_vec_add(out))
			return -ENOMEM;
	out->item[load->plan->events.count - 1] = (uint32_t)value;
	return 0;
}

static int load_system(struct loader *load)
{
	struct nw_event *event = last_event(load);
	const char *name = load->words[1];

	if (!event || !*name || strlen(name) >= sizeof(event->system) ||
	    strchr(name, '/') || *name == '.')
		return -EBADMSG;
	strcpy(*load->words[0] == 's' ? event->system : event->attached, name);
	return 0;
}

static int load_field(struct loader *load)
{
	struct nw_event *event = last_event(load);
	const char *name = load->words[1];

	if (!event || event->fields.count >= NW_MAX_FIELDS)
		return -EBADMSG;
	return nw_strings_add(&event->fields, name, strlen(name));
}

static int load_place(struct loader *load)
{
	struct nw_plan *plan = load->plan;
	struct nw_event *event = plan->events.count
					 ? plan->events.item[plan->events.count - 1]
					 : NULL;
	uint64_t planned, part;

	if (!event || !number(load, 1, UINT32_MAX, &planned) ||
	    planned >= plan->points.count ||
	    !number(load, 2, plan->points.item[planned].parts - 1, &part))
		return -EBADMSG;
	const struct nw_event_site place = {.planned = (uint32_t)planned};
	if (event->by_low_bits[nw_plan_point(plan, &place)->offset & 0xfff] ||
	    event->places.count >= 4096)
		return -EBADMSG;
	return nw_plan_place(plan, event, (uint32_t)planned, (uint32_t)part, strdup(""));
}

static int load_shifted_states(struct loader *load)
{
	load->shifted_states = true;
	return 0;
}

static const struct {
	const char *word;
	size_t count;
	int (*load)(struct loader *load);
} lines[] = {
	{"nopwatch-plan", 2, load_begin}, {"group", 2, load_group},
	{"image", 2, load_image},	  {"build", 2, load_build},
	{"probe", 7, load_probe},	  {"arg", 3, load_arg},
	{"enum", 2, load_enum},		  {"linked", 2, load_symbol},
	{"point", 4, load_point},	  {"planned", 5, load_planned},
	{"stack", 4, load_stack},	  {"goroutine", 2, load_goroutine},
	{"frame", 4, load_frame},	  {"source", 10, load_source},
	{"callers", 4, load_callers},	  {"window", 2, load_window},
	{"string", 3, load_string},	  {"length", 2, load_length},
	{"of_call", 1, load_of_call},	  {"chunk", 6, load_chunk},
	{"event", 3, load_event},	  {"id", 2, load_event_number},
	{"order", 2, load_event_number},  {"system", 2, load_system},
	{"attached", 2, load_system},	  {"field", 2, load_field},
	{"place", 3, load_place},	  {"shifted_states", 1, load_shifted_states},
	{"carried", 2, load_carried},
};

/* Reads one line. Returns 1 if the line is not part of a plan: recordings have other lines, too. */
static int load_line(struct loader *load, char *line)
{
	char *one;

	load->count = 0;
	while (load->count < MOST_WORDS && (one = strsep(&line, " ")))
		load->words[load->count++] = one;
	for (size_t i = 1; i < load->count; i++)
		nw_plan_unword(load->words[i]);
	for (size_t i = 0; i < NW_COUNT(lines); i++) {
		if (strcmp(load->words[0], lines[i].word) != 0)
			continue;
		if (load->count != lines[i].count || (i && !load->begun))
			return -EBADMSG;
		return lines[i].load(load);
	}
	return 1;
}

/* Makes the armed state: everything is armed except what was refused where it was recorded. */
static int load_armed(const struct loader *load, struct nw_armed *out)
{
	int ret = nw_armed_make(load->plan, out);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < load->refused.count; i++)
		out->points.item[i].refused = load->refused.item[i];
	for (size_t i = 0; i < load->ids.count; i++)
		out->events.item[i]->id = load->ids.item[i];
	out->shifted_states = load->shifted_states;
	for (size_t i = 0; i < load->orders.count; i++)
		out->events.item[i]->order = load->orders.item[i];
	nw_armed_assume(out);
	return 0;
}

int nw_plan_load(const char *text, size_t len, struct nw_selection *selection,
		 struct nw_plan *plan, struct nw_armed *armed, nw_plan_line *other,
		 void *arg, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *copy = strndup(text, len);
	struct loader load = {.selection = selection, .plan = plan};
	char *rest = copy, *line;
	unsigned int at = 0;
	int ret = copy ? 0 : -ENOMEM;

	*selection = (struct nw_selection){0};
	*plan = (struct nw_plan){.selection = selection};
	while (ret >= 0 && rest && (line = strsep(&rest, "\n"))) {
		at++;
		ret = *line ? load_line(&load, line) : 0;
		if (ret > 0 && other)
			other(arg, load.words, load.count);
	}
	bool whole = ret >= 0 && load.begun;
	if (whole && armed)
		ret = load_armed(&load, armed);
	nw_vec_free(&load.refused);
	nw_vec_free(&load.ids);
	nw_vec_free(&load.orders);
	if (whole && ret >= 0) {
		/* the image that stands for the kernel */
		nw_selection_drop_unused(selection);
		return 0;
	}
	nw_plan_free(plan);
	nw_selection_free(selection);
	if (ret == -ENOMEM)
		return nw_no_memory(err);
	if (ret == -EFBIG)
		return nw_fail(
			err, EFBIG,
			"line %u of the recording's table of probes is one too many: %d files, %d probes, %d sites and %d events at most",
			at, MOST_IMAGES, MOST_PROBES, MOST_POINTS, MOST_EVENTS);
	return nw_fail(err, EBADMSG,
		       "line %u of the recording's table of probes is damaged", at);
}
