// SPDX-License-Identifier: MIT
/*
 * Event formats: libtraceevent parses the text once, the hot path then reads fields by offset
 * (a look-up by name for every event costs five times the rest of the decoding, kernel.md).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

#include "nopwatch/stream.h"

/* Event ids are u16 in the common header (struct trace_entry). */
enum {
	MOST_IDS = 65536
};

struct loader {
	struct tep_handle *tep;
	struct nw_formats *formats;
	nw_format_reader *read;
	void *arg;
};

static int missing(const char *system, const char *name, const char *field,
		   struct nw_error *err)
{
	return nw_fail(err, EBADMSG, "the format of event %s:%s has no field '%s'", system,
		       name, field);
}

static int add_field(struct nw_event_format *format, struct tep_event *event,
		     const char *name, struct nw_error *err)
{
	struct tep_format_field *field = tep_find_field(event, name);
	struct nw_field_format *slot;

	if (!field)
		return missing(event->system, event->name, name, err);
	slot = nw_vec_add(&format->fields);
	if (!slot)
		return nw_no_memory(err);
	if (field->offset < 0 || field->size < 0 || field->offset > 65535 ||
	    field->size > 65535)
		return missing(event->system, event->name, name, err);
	slot->offset = (uint32_t)field->offset;
	slot->size = (uint32_t)field->size;
	slot->dynamic = field->flags & TEP_FIELD_IS_DYNAMIC;
	if (slot->offset + slot->size > format->size)
		format->size = slot->offset + slot->size;
	return 0;
}

/* Where common_type and common_pid are; the same in all events of a kernel. */
static int check_common(struct loader *load, struct tep_event *event, struct nw_error *err)
{
	struct tep_format_field *type = tep_find_common_field(event, "common_type");
	struct tep_format_field *pid = tep_find_common_field(event, "common_pid");

	if (!type || type->size != 2 || type->offset < 0 || !pid || pid->size != 4 ||
	    pid->offset < 0)
		return missing(event->system, event->name, "common_type or common_pid",
			       err);
	load->formats->type_offset = (uint32_t)type->offset;
	load->formats->pid_offset = (uint32_t)pid->offset;
	load->formats->least = load->formats->pid_offset + 4;
	if (load->formats->least < load->formats->type_offset + 2)
		load->formats->least = load->formats->type_offset + 2;
	return 0;
}

/*
 * The rest of a format says how to print the event: expressions in C, whose parser in
 * libtraceevent leaks and worse when they are damaged. Nothing here needs them.
 */
static void cut_print_format(struct nw_buf *text)
{
	const char *print = memmem(nw_buf_str(text), text->len, "\nprint fmt:", 11);

	if (print)
		text->len = (size_t)(print - text->data) + 1;
	nw_buf_adds(text, "print fmt: \"\"\n");
}

static int parse_format(struct loader *load, const char *system, const char *name,
			struct tep_event **event)
{
	struct nw_buf text = {0};
	int ret = load->read(load->arg, system, name, &text);

	cut_print_format(&text);
	if (ret == 0 && text.failed)
		ret = -ENOMEM;
	if (ret == 0 &&
	    tep_parse_format(load->tep, event, nw_buf_str(&text), text.len, system) != 0)
		ret = -EBADMSG;
	nw_buf_free(&text);
	return ret;
}

/* Read and parse one format file, and make an entry for it. The event belongs to load->tep. */
static int load_format(struct loader *load, const char *system, const char *name,
		       struct tep_event **event, struct nw_event_format **out,
		       struct nw_error *err)
{
	int ret = parse_format(load, system, name, event);

	if (ret < 0)
		return nw_fail(err, -ret, "cannot read the format of event %s:%s: %s",
			       system, name, nw_strerror(-ret));
	if ((*event)->id < 0 || (*event)->id >= MOST_IDS)
		return nw_fail(err, EBADMSG, "event %s:%s has the impossible id %d", system,
			       name, (*event)->id);
	ret = check_common(load, *event, err);
	if (ret < 0)
		return ret;
	struct nw_event_format *format = calloc(1, sizeof(*format));
	struct nw_event_format **slot = format ? nw_vec_add(&load->formats->events) : NULL;
	if (!slot) {
		free(format);
		return nw_no_memory(err);
	}
	*slot = *out = format;
	format->id = (uint32_t)(*event)->id;
	format->size = load->formats->least;
	return 0;
}

/* Where the low 16 bits of a number lie. */
static uint32_t low_bits_offset(const struct nw_field_format *field)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? field->offset
							 : field->offset + field->size - 2;
}

/* What each place of the event stands for, flat: the reader asks for every hit. */
static int load_places(const struct nw_plan *plan, struct nw_event_format *format)
{
	struct nw_hit_place *slot = nw_vec_add(&format->places);

	nw_vec_each (&format->event->places, place) {
		const struct nw_planned *planned = &plan->points.item[place->planned];
		slot = slot ? nw_vec_add(&format->places) : NULL;
		if (slot)
			*slot = (struct nw_hit_place){
				.planned = place->planned,
				.probe = (uint32_t)planned->probe,
				.part = place->part,
				.known = true,
				/* not so: the table of a damaged recording */
				.whole = planned->parts == 1 && place->part == 0};
	}
	format->by_low_bits = format->event->by_low_bits;
	return slot ? 0 : -ENOMEM;
}

static int load_probe(struct loader *load, const char *group,
		      const struct nw_event *planned, struct nw_error *err)
{
	const char *address = planned->is_return ? "__probe_func" : "__probe_ip";
	struct nw_event_format *format = NULL;
	struct tep_event *event = NULL;
	int ret = load_format(load, group, planned->name, &event, &format, err);

	if (ret == 0)
		ret = add_field(format, event, address, err);
	if (ret == 0 && format->fields.item[0].size < 4)
		ret = missing(group, planned->name, address, err);
	if (ret == 0) {
		format->kind = NW_EVENT_PROBE;
		format->event = planned;
		format->address = low_bits_offset(&format->fields.item[0]);
		format->fields.count = 0;
		ret = load_places(load->formats->plan, format) < 0 ? nw_no_memory(err) : 0;
	}
	nw_vec_each (&planned->fields, name)
		if (ret == 0)
			ret = add_field(format, event, *name, err);
	return ret;
}

/* The events that tell of threads, and the fields that matter in them. Without the pid of a
 * renamed thread, which some kernels leave out, it is taken for the one that did it. */
static const struct {
	enum nw_event_kind kind;
	const char *system, *name, *fields[4], *optional;
} task_formats[] = {
	{NW_EVENT_NEWTASK, "task", "task_newtask", {"pid", "comm", "clone_flags"}, NULL},
	{NW_EVENT_RENAME, "task", "task_rename", {"newcomm"}, "pid"},
	{NW_EVENT_EXIT, "sched", "sched_process_exit", {"comm"}, NULL},
};

/* Kernels without them exist: then threads are looked up, and that is all. */
static int load_tasks(struct loader *load)
{
	for (size_t i = 0; i < NW_COUNT(task_formats); i++) {
		struct nw_event_format *format = NULL;
		struct tep_event *event = NULL;
		struct nw_error ignored;
		int ret = load_format(load, task_formats[i].system, task_formats[i].name,
				      &event, &format, &ignored);
		for (size_t j = 0; ret == 0 && task_formats[i].fields[j]; j++)
			ret = add_field(format, event, task_formats[i].fields[j], &ignored);
		if (ret == 0 && task_formats[i].optional &&
		    tep_find_field(event, task_formats[i].optional))
			ret = add_field(format, event, task_formats[i].optional, &ignored);
		if (format)
			format->kind = task_formats[i].kind;
		if (ret < 0 && format) {
			load->formats->events.count--;
			nw_vec_free(&format->fields);
			free(format);
		}
		if (ret == -ENOMEM)
			return ret;
	}
	return 0;
}

static int index_by_id(struct nw_formats *formats)
{
	nw_vec_each (&formats->events, format)
		if ((*format)->id >= formats->ids)
			formats->ids = (*format)->id + 1;
	formats->by_id = calloc(formats->ids + 1, sizeof(*formats->by_id));
	if (!formats->by_id)
		return -ENOMEM;
	nw_vec_each (&formats->events, format)
		formats->by_id[(*format)->id] = *format;
	return 0;
}

static int load_all(struct loader *load, const struct nw_plan *plan, bool tasks,
		    struct nw_error *err)
{
	int ret = 0;

	nw_vec_each (&plan->events, event)
		if (ret == 0 && (*event)->defined)
			ret = load_probe(load, plan->group, *event, err);
	if (ret == 0 && tasks && load_tasks(load) < 0)
		ret = nw_no_memory(err);
	if (ret == 0 && index_by_id(load->formats) < 0)
		ret = nw_no_memory(err);
	return ret;
}

int nw_formats_load(const struct nw_plan *plan, bool tasks, const char *header_page,
		    size_t header_len, nw_format_reader *read, void *arg,
		    struct nw_formats *out, struct nw_error *err)
{
	struct nw_formats formats = {.plan = plan};
	struct loader load = {.formats = &formats, .read = read, .arg = arg};
	int ret = nw_page_layout_parse(header_page, header_len, &formats.page, err);

	if (ret < 0)
		return ret;
	load.tep = tep_alloc();
	ret = load.tep ? load_all(&load, plan, tasks, err) : nw_no_memory(err);
	tep_free(load.tep);
	if (ret < 0)
		nw_formats_free(&formats);
	else
		*out = formats;
	return ret;
}

void nw_formats_free(struct nw_formats *formats)
{
	nw_vec_each (&formats->events, format) {
		nw_vec_free(&(*format)->fields);
		nw_vec_free(&(*format)->places);
		free(*format);
	}
	nw_vec_free(&formats->events);
	free(formats->by_id);
	*formats = (struct nw_formats){0};
}
