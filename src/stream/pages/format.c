// SPDX-License-Identifier: MIT
/*
 * Event formats. The text is parsed once, and the hot path then reads fields by offset: a look-up by name for every
 * event would cost five times the rest of the decoding.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_buffer.h"
#include "eventheader.h"
#include "fields.h"

struct loader {
	struct nw_formats *formats;
	nw_format_reader *read;
	void *arg;
};

/* The format file of one event. The names of the fields point into the text. */
struct source {
	const char *system, *name;
	struct nw_buf text;
	struct nw_fields fields;
};

static void close_source(struct source *source)
{
	nw_fields_free(&source->fields);
	nw_buf_free(&source->text);
}

static int open_source(struct loader *load, const char *system, const char *name,
		       struct source *out, struct nw_error *err)
{
	*out = (struct source){.system = system, .name = name};
	int ret = load->read(load->arg, system, name, &out->text);

	if (ret == 0 && out->text.failed)
		ret = -ENOMEM;
	if (ret == 0)
		ret = nw_fields_parse(nw_buf_str(&out->text), &out->fields);
	if (ret == 0)
		return 0;
	close_source(out);
	return nw_fail(err, -ret, "cannot read the format of event %s:%s: %s", system, name,
		       nw_strerror(-ret));
}

static int missing(const struct source *source, const char *field, struct nw_error *err)
{
	return nw_fail(err, EBADMSG, "the format of event %s:%s has no field '%s'",
		       source->system, source->name, field);
}

/* Adds a field of the event's records. The type in the file counts only for kernel events; the types of our arguments
 * are in the plan. */
static int add_field(struct nw_event_format *format, const struct source *source,
		     const char *name, struct nw_error *err)
{
	bool of_kernel = format->event && *format->event->system;
	bool names_own = of_kernel && nw_eventheader_find(&source->fields);
	const struct nw_field_format *field = nw_fields_find(&source->fields, name);
	struct nw_field_format *slot;

	if (!field && !names_own)
		return missing(source, name, err);
	slot = nw_vec_add(&format->fields);
	if (!slot)
		return nw_no_memory(err);
	if (names_own) {
		if (nw_eventheader_field(&source->fields, name, slot) < 0)
			return nw_no_memory(err);
		format->eventheader = true;
	} else {
		*slot = *field;
	}
	if (!of_kernel)
		slot->type = (struct nw_type){0};
	if (slot->offset + slot->size > format->size)
		format->size = slot->offset + slot->size;
	return 0;
}

/* Adds the format of an event. */
static int add_format(struct nw_formats *formats, const struct source *source,
		      struct nw_event_format **out, struct nw_error *err)
{
	const struct nw_field_format *type = nw_fields_find(&source->fields, "common_type");
	const struct nw_field_format *pid = nw_fields_find(&source->fields, "common_pid");

	if (!type || type->size != 2 || !pid || pid->size != 4)
		return missing(source, "common_type or common_pid", err);
	/* These two are at the same offsets in all events of a kernel. */
	formats->type_offset = type->offset;
	formats->pid_offset = pid->offset;
	formats->least = type->offset + 2 > pid->offset + 4 ? type->offset + 2
							    : pid->offset + 4;
	struct nw_event_format *format = calloc(1, sizeof(*format));
	struct nw_event_format **slot = format ? nw_vec_add(&formats->events) : NULL;
	if (!slot) {
		free(format);
		return nw_no_memory(err);
	}
	*slot = *out = format;
	format->id = source->fields.id;
	format->size = formats->least;
	/* Programs may write more than the fields that they have registered. */
	if (strncmp(source->system, NW_USER_EVENTS, strlen(NW_USER_EVENTS)) == 0)
		formats->largest = UINT32_MAX;
	/* No event is larger than its format says, except those with strings of variable length. */
	nw_vec_each (&source->fields.list, field) {
		uint32_t end = field->format.offset + field->format.size;
		if (field->format.dynamic)
			formats->largest = UINT32_MAX;
		else if (end > formats->largest)
			formats->largest = end;
	}
	return 0;
}

/* Fills one array with the probes of the event's places, because the reader needs them for every hit. */
static int load_places(const struct nw_plan *plan, const uint16_t *by_low_bits,
		       struct nw_event_format *format)
{
	struct nw_hit_place *slot = nw_vec_add(&format->places);

	nw_vec_each (&format->event->places, place) {
		const struct nw_planned_point *planned = &plan->points.item[place->planned];
		slot = slot ? nw_vec_add(&format->places) : NULL;
		if (slot)
			*slot = (struct nw_hit_place){
				.planned = place->planned,
				.probe = (uint32_t)planned->probe,
				.part = place->part,
				.known = true,
				/* a damaged recording may have parts that do not belong together */
				.whole = planned->parts == 1 && place->part == 0,
				.pops = (uint64_t)planned->stack.pops};
	}
	format->by_low_bits = by_low_bits;
	return slot ? 0 : -ENOMEM;
}

/* Finds the field that tells the event's places apart. */
static int add_address(struct nw_event_format *format, const struct source *source,
		       struct nw_error *err)
{
	const char *name = format->event->is_return ? "__probe_func" : "__probe_ip";
	const char *goes_on = format->event->is_return ? "__probe_ret_ip" : name;
	int ret = add_field(format, source, name, err);

	if (ret == 0)
		ret = add_field(format, source, goes_on, err);
	if (ret == 0 && format->fields.item[0].size < 4)
		ret = missing(source, name, err);
	if (ret < 0)
		return ret;
	/* offset of its low 16 bits */
	format->address = format->fields.item[0].offset;
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		format->address += format->fields.item[0].size - 2;
	format->pc = format->fields.item[1].offset;
	format->pc_size = format->fields.item[1].size;
	format->fields.count = 0;
	return 0;
}

/* A kernel event has one place and no address, and a function of the kernel is an event's only place, behind whose
 * address (endbr64) its probe may stand: all low bits lead to that place. */
static const uint16_t only_place[4096] = {[0 ... 4095] = 1};

/* Finds the stack pointer. It is in the same field for all places of an event, so only the first place is looked at. */
void nw_format_find_stack(const struct nw_plan *plan, struct nw_event_format *format)
{
	const struct nw_event *event = format->event;
	const struct nw_event_site *place = event->places.count ? event->places.item : NULL;

	if (!place || place->part)
		return;
	const struct nw_stack_field *stack = &plan->points.item[place->planned].stack;
	if (stack->field < 0 || (size_t)stack->field >= format->fields.count)
		return;
	format->stack = format->fields.item[stack->field].offset;
	format->stack_field = (uint32_t)stack->field;
	format->stack_size = format->fields.item[stack->field].size;
	format->stack_loose = stack->loose ? NW_STACK_LOOSE : 0;
	if (format->stack_size == 8 && !stack->loose && !stack->goroutine)
		format->plain_stack = format->stack;
	for (size_t i = 0; i < NW_GOROUTINE_FIELDS; i++) {
		size_t field = (size_t)stack->goroutine + i;
		if (!stack->goroutine || field >= format->fields.count ||
		    format->fields.item[field].size != format->stack_size) {
			format->goroutine[0] = 0;
			return;
		}
		format->goroutine[i] = format->fields.item[field].offset;
	}
}

static uint64_t load_word(const struct nw_event_format *format, const unsigned char *data,
			  size_t i)
{
	const unsigned char *at = data + format->goroutine[i];

	return format->stack_size == 8 ? nw_load64(at) : nw_load32(at);
}

void nw_hit_goroutine(const struct nw_event_format *format, const unsigned char *data,
		      struct nw_hit *hit)
{
	enum {
		LARGEST = 1 << 30 /* runtime.maxstacksize of 64-bit Go programs: 1 GB */
	};
	uint64_t end = load_word(format, data, 1), guard = load_word(format, data, 2);

	/* In C code called by Go the register may have any value. */
	if (hit->stack >= end || end - hit->stack > LARGEST)
		return;
	hit->goroutine = load_word(format, data, 0);
	hit->base = end;
	hit->stack = (hit->stack - end) | (hit->stack <= guard ? NW_STACK_AGAIN : 0);
}

/* Checks that the event still is the one that was armed: an event that is deleted and defined again gets another
 * number. */
static int check_id(const struct nw_event_format *format,
		    const struct nw_armed_event *armed, const struct source *source,
		    struct nw_error *err)
{
	if (!armed->id || armed->id == format->id)
		return 0;
	return nw_fail(
		err, EBADMSG,
		"event %s:%s is not the one that was armed: its number is %u now, and was %u",
		source->system, source->name, format->id, armed->id);
}

/* Handles stacks, whose number of frames varies: the size in the format is only the least one. */
static void open_stack(struct nw_formats *formats, struct nw_event_format *format)
{
	format->size = formats->least;
	nw_vec_each (&format->fields, field) {
		field->open = field->type.array > 0;
		uint32_t end = field->offset + (field->open ? 0 : field->size);
		if (end > format->size)
			format->size = end;
	}
	formats->largest = UINT32_MAX;
}

/* Has the event one place, wherever its records say that they are from? */
static bool has_one_place(const struct nw_plan *plan, const struct nw_event *event)
{
	return *event->system || nw_event_follows(event) ||
	       (event->places.count == 1 && nw_event_in_function(plan, event));
}

static int add_probe(struct nw_formats *formats, const struct source *source,
		     const struct nw_armed_event *armed, struct nw_error *err)
{
	const struct nw_event *planned = armed->planned;
	struct nw_event_format *format = NULL;
	int ret = add_format(formats, source, &format, err);

	if (ret == 0)
		ret = check_id(format, armed, source, err);
	if (ret == 0) {
		format->kind = NW_EVENT_PROBE;
		format->event = planned;
		format->order = armed->order;
		ret = *planned->system || nw_event_follows(planned)
			      ? 0
			      : add_address(format, source, err);
	}
	if (ret == 0)
		ret = load_places(formats->plan, armed->by_low_bits, format) < 0
			      ? nw_no_memory(err)
			      : 0;
	if (ret == 0 && has_one_place(formats->plan, planned))
		format->by_low_bits = only_place;
	nw_vec_each (&planned->fields, name)
		if (ret == 0)
			ret = add_field(format, source, *name, err);
	if (ret == 0 && strcmp(planned->system, NW_STACK_SYSTEM) == 0)
		open_stack(formats, format);
	if (ret == 0 && format->kind == NW_EVENT_PROBE)
		nw_format_find_stack(formats->plan, format);
	return ret;
}

static int load_probe(struct loader *load, const char *group,
		      const struct nw_armed_event *armed, struct nw_error *err)
{
	struct source source;
	int ret = open_source(load, group, armed->name, &source, err);

	if (ret < 0)
		return ret;
	ret = add_probe(load->formats, &source, armed, err);
	close_source(&source);
	return ret;
}

/* The events that report threads, and the needed fields. Some kernels leave out the pid of a renamed thread; then it
 * is taken for the thread that renames. */
static const struct {
	enum nw_event_kind kind;
	const char *system, *name, *fields[4], *optional;
} task_formats[] = {
	{NW_EVENT_NEWTASK, "task", "task_newtask", {"pid", "comm", "clone_flags"}, NULL},
	{NW_EVENT_RENAME, "task", "task_rename", {"newcomm"}, "pid"},
	{NW_EVENT_EXIT, "sched", "sched_process_exit", {"comm"}, NULL},
	{NW_EVENT_EXEC, "sched", "sched_process_exec", {"old_pid"}, NULL},
};

static int add_task(struct nw_formats *formats, const struct source *source, size_t i)
{
	const char *optional = task_formats[i].optional;
	struct nw_event_format *format = NULL;
	struct nw_error ignored;
	int ret = add_format(formats, source, &format, &ignored);

	for (size_t j = 0; ret == 0 && task_formats[i].fields[j]; j++)
		ret = add_field(format, source, task_formats[i].fields[j], &ignored);
	if (ret == 0 && optional && nw_fields_find(&source->fields, optional))
		ret = add_field(format, source, optional, &ignored);
	if (format)
		format->kind = task_formats[i].kind;
	if (ret < 0 && format) {
		formats->events.count--;
		nw_vec_free(&format->fields);
		free(format);
	}
	return ret;
}

/* Loads these events. If a kernel lacks them, threads are only known from /proc. */
static int load_tasks(struct loader *load)
{
	for (size_t i = 0; i < NW_COUNT(task_formats); i++) {
		struct nw_error ignored;
		struct source source;
		int ret = open_source(load, task_formats[i].system, task_formats[i].name,
				      &source, &ignored);
		if (ret == 0) {
			ret = add_task(load->formats, &source, i);
			close_source(&source);
		}
		if (ret == -ENOMEM)
			return ret;
	}
	return 0;
}

/* An event of threads (task_rename, ...) that the user traces, too, has two entries: returns that of the user. NULL:
 * the format is no event of threads, or the user does not trace it. */
static struct nw_event_format *asked_for(const struct nw_formats *formats,
					 const struct nw_event_format *format)
{
	if (format->event)
		return NULL;
	nw_vec_each (&formats->events, other)
		if ((*other)->id == format->id && (*other)->event &&
		    *(*other)->event->system)
			return *other;
	return NULL;
}

static int index_by_id(struct nw_formats *formats)
{
	size_t ids = formats->ids;

	nw_vec_each (&formats->events, format)
		if ((*format)->id >= ids)
			ids = (*format)->id + 1;
	const struct nw_event_format **by_id = calloc(ids + 1, sizeof(*by_id));
	if (!by_id)
		return -ENOMEM;
	free(formats->by_id);
	formats->by_id = by_id;
	formats->ids = ids;
	nw_vec_each (&formats->events, format) {
		struct nw_event_format *asked = asked_for(formats, *format);
		if (asked) {
			asked->kind = NW_EVENT_BOTH;
			asked->task = *format;
			if (asked->size < (*format)->size)
				asked->size = (*format)->size;
		}
		formats->by_id[(*format)->id] = asked ? asked : *format;
	}
	return 0;
}

/* Loads the formats of the defined events from this number on. */
static int load_probes(struct loader *load, size_t first, struct nw_error *err)
{
	const struct nw_armed *armed = load->formats->armed;
	int ret = 0;

	for (size_t i = first; ret == 0 && i < armed->events.count; i++) {
		const struct nw_armed_event *event = armed->events.item[i];
		if (event->defined)
			ret = load_probe(load, nw_event_group(armed->plan, event->planned),
					 event, err);
	}
	return ret;
}

int nw_formats_grow(struct nw_formats *formats, size_t first, nw_format_reader *read,
		    void *arg, struct nw_error *err)
{
	struct loader load = {.formats = formats, .read = read, .arg = arg};
	int ret = load_probes(&load, first, err);

	return ret == 0 && index_by_id(formats) < 0 ? nw_no_memory(err) : ret;
}

int nw_formats_load(const struct nw_armed *armed, bool tasks, const char *header_page,
		    size_t header_len, nw_format_reader *read, void *arg,
		    struct nw_formats *out, struct nw_error *err)
{
	struct nw_formats formats = {.plan = armed->plan,
				     .armed = armed,
				     .stacks = nw_plan_has_stacks(armed->plan)};
	struct loader load = {.formats = &formats, .read = read, .arg = arg};
	int ret = nw_page_layout_parse(header_page, header_len, &formats.page, err);

	if (ret < 0)
		return ret;
	ret = load_probes(&load, 0, err);
	if (ret == 0 && tasks && load_tasks(&load) < 0)
		ret = nw_no_memory(err);
	if (ret == 0 && index_by_id(load.formats) < 0)
		ret = nw_no_memory(err);
	if (ret < 0)
		nw_formats_free(&formats);
	else
		*out = formats;
	return ret;
}

static void free_format(struct nw_event_format *format)
{
	nw_vec_each (&format->fields, field) {
		if (field->text)
			nw_buf_free(field->text);
		free(field->text);
	}
	nw_vec_free(&format->fields);
	nw_vec_free(&format->places);
	free(format);
}

void nw_formats_free(struct nw_formats *formats)
{
	nw_vec_each (&formats->events, format)
		free_format(*format);
	nw_vec_free(&formats->events);
	free(formats->by_id);
	*formats = (struct nw_formats){0};
}
