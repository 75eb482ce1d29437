// SPDX-License-Identifier: MIT
/*
 * Learns the events of a text without a header: their names, and for each argument a type for all its values. The
 * result is a plan as in recordings.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream/trace_pipe/trace_text.h"
#include "text.h"

enum {
	EVENTS_MOST = 4096,
	ARGS_MOST = NW_MAX_FIELDS,
	NAME_MOST = 31 /* of an argument's name */
};

struct arg {
	char *name;
	/* size of an element and offset, if the argument holds bytes of a string behind its pointer; chunk_bits 0: it
	 * does not */
	uint32_t chunk_bits, chunk_offset;
	enum nw_base_type base; /* DEFAULT: only (fault) was seen */
	uint32_t array;
};

struct event {
	char name[NW_MAX_NAME + 1];
	NW_VEC(struct arg) args;
};

struct lesson {
	struct nw_index names;
	NW_VEC(struct event) events;
};

/* ---- types -------------------------------------------------------------------------- */

static enum nw_base_type number_type(const char *text, size_t len)
{
	uint64_t value;

	if (!nw_text_number(text, len, &value))
		return NW_TYPE_STRING;
	if (*text == '-')
		return NW_TYPE_SIGNED;
	return len > 2 && text[1] == 'x' ? NW_TYPE_HEX : NW_TYPE_UNSIGNED;
}

/* Returns a type for the values of both. */
static enum nw_base_type common_type(enum nw_base_type a, enum nw_base_type b)
{
	if (a == b || b == NW_TYPE_DEFAULT)
		return a;
	if (a == NW_TYPE_DEFAULT)
		return b;
	if (a == NW_TYPE_STRING || b == NW_TYPE_STRING)
		return NW_TYPE_STRING;
	return a == NW_TYPE_SIGNED || b == NW_TYPE_SIGNED ? NW_TYPE_SIGNED
							  : NW_TYPE_UNSIGNED;
}

/* Returns the type of the elements of "{1,2,3}" and their number; STRING if the text is no array. */
static enum nw_base_type array_type(const char *text, size_t len, uint32_t *count)
{
	const char *end = text + len - 1, *at = text + 1;
	enum nw_base_type type = NW_TYPE_DEFAULT;

	*count = 0;
	if (len < 3 || *end != '}')
		return NW_TYPE_STRING;
	while (at <= end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *stop = comma ? comma : end;
		type = common_type(type, number_type(at, (size_t)(stop - at)));
		at = stop + 1;
		if (type == NW_TYPE_STRING || ++*count > 64)
			return NW_TYPE_STRING;
	}
	return type;
}

static void learn_value(struct arg *arg, const char *text, size_t len)
{
	enum nw_base_type type = NW_TYPE_STRING;
	uint32_t array = 0;

	if (len == 7 && memcmp(text, "(fault)", 7) == 0)
		return;
	if (len && *text == '{')
		type = array_type(text, len, &array);
	else if (len && *text != '"')
		type = number_type(text, len);
	bool same_shape = arg->base == NW_TYPE_DEFAULT || arg->array == array;
	arg->base = same_shape ? common_type(arg->base, type) : NW_TYPE_STRING;
	arg->array = arg->base == NW_TYPE_STRING ? 0 : array;
}

/* ---- lines -------------------------------------------------------------------------- */

static struct arg *find_arg(struct event *event, size_t from,
			    const struct nw_text_arg *wanted)
{
	size_t count = event->args.count;

	for (size_t i = 0; i < count; i++) {
		struct arg *arg = &event->args.item[(from + i) % count];
		if (strncmp(arg->name, wanted->name, wanted->name_len) == 0 &&
		    !arg->name[wanted->name_len])
			return arg;
	}
	if (count == ARGS_MOST)
		return NULL;
	char *name = strndup(wanted->name, wanted->name_len);
	struct arg *fresh = name ? nw_vec_add(&event->args) : NULL;
	if (fresh)
		fresh->name = name;
	else
		free(name);
	return fresh;
}

static int learn_line(struct lesson *lesson, const struct nw_text_line *line)
{
	int64_t number = nw_index_find(&lesson->names, line->event, line->event_len);
	const char *end = line->args + line->args_len;
	const char *at = nw_text_args(line->args, line->args_len);
	struct nw_text_arg arg;
	size_t position = 0;

	if (number < 0) {
		if (lesson->events.count == EVENTS_MOST || line->event_len > NW_MAX_NAME)
			return 0;
		number = nw_index_add(&lesson->names, line->event, line->event_len);
		struct event *fresh = number < 0 ? NULL : nw_vec_add(&lesson->events);
		if (!fresh)
			return -ENOMEM;
		memcpy(fresh->name, line->event, line->event_len);
	}
	struct event *event = &lesson->events.item[number];
	while (nw_text_arg_next(&at, end, &arg)) {
		struct arg *known = find_arg(event, position++, &arg);
		if (known)
			learn_value(known, arg.value, arg.value_len);
	}
	return 0;
}

static int learn_lines(struct lesson *lesson, const char *bytes, size_t len)
{
	const char *at = bytes, *end = bytes + len;
	struct nw_text_line line;
	int ret = 0;

	while (at < end && ret == 0) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		nw_text_line_parse(at, (size_t)(stop - at), &line);
		if (line.kind == NW_TEXT_EVENT)
			ret = learn_line(lesson, &line);
		at = stop + 1;
	}
	return ret;
}

/* ---- the plan ----------------------------------------------------------------------- */

static void type_of(const struct arg *arg, char out[16])
{
	const struct nw_type type = {
		.base = arg->base == NW_TYPE_DEFAULT ? NW_TYPE_STRING : arg->base,
		.bits = arg->base == NW_TYPE_DEFAULT || arg->base == NW_TYPE_STRING ? 8
										    : 64,
		.array = arg->array};

	nw_type_text(&type, out);
}

/* Is the argument a pointer followed by its string, NAME=0x1234 NAME_str0={...}? */
static bool is_pointer(const struct event *event, size_t at)
{
	return at + 1 < event->args.count && !event->args.item[at].chunk_bits &&
	       event->args.item[at + 1].chunk_bits;
}

static bool is_number(const struct arg *arg)
{
	return arg->base == NW_TYPE_HEX || arg->base == NW_TYPE_UNSIGNED;
}

/* Recognises bytes of a string: "NAME_str64" behind the pointer NAME has words, "NAME_chr0" bytes (plan/layout.c). */
static bool take_chunk(const struct arg *pointer, struct arg *arg)
{
	size_t len = strnlen(pointer->name, NW_STRING_NAME);
	const char *tail = arg->name + len;
	uint64_t offset;

	if (!is_number(arg) || strncmp(arg->name, pointer->name, len) != 0 ||
	    (strncmp(tail, "_str", 4) != 0 && strncmp(tail, "_chr", 4) != 0) ||
	    nw_parse_u64(tail + 4, &offset) < 0 || offset > NW_MAX_STRING_SIZE)
		return false;
	arg->chunk_offset = (uint32_t)offset;
	arg->chunk_bits = tail[1] == 's' ? 64 : 8;
	return true;
}

/* Finds the arguments that hold the bytes of strings: numbers behind a pointer, in order, from offset 0 on. */
static void find_chunks(struct event *event)
{
	struct arg *pointer = NULL, *last = NULL;

	nw_vec_each (&event->args, arg) {
		if (pointer && take_chunk(pointer, arg) &&
		    (last ? arg->chunk_offset > last->chunk_offset
			  : arg->chunk_offset == 0)) {
			last = arg;
			continue;
		}
		arg->chunk_bits = 0;
		pointer = is_number(arg) && !arg->array ? arg : NULL;
		last = NULL;
	}
}

/* Writes the chunks of a string up to a gap. A string begins with single bytes if failed loads are lost as a whole. */
static void write_chunks(const struct event *event, size_t pointer, struct nw_buf *out)
{
	const struct arg *args = event->args.item;
	uint32_t next = 0;

	nw_buf_printf(out, "string %d %d\n", __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
		      args[pointer + 1].chunk_bits == 8);
	for (size_t i = pointer + 1; i < event->args.count && args[i].chunk_bits; i++) {
		if (args[i].chunk_offset != next)
			break;
		nw_buf_printf(out, "chunk 0 %zu %" PRIu32 " %u %" PRIu32 "\n", i, next,
			      args[i].chunk_bits, args[i].array);
		next += args[i].chunk_bits / 8 * (args[i].array ? args[i].array : 1);
	}
}

static void write_arg(const struct event *event, size_t at, struct nw_buf *out)
{
	const struct arg *arg = &event->args.item[at];
	char name[NAME_MOST + 1] = "", type[16];

	if (arg->chunk_bits)
		return;
	memcpy(name, arg->name, strnlen(arg->name, NAME_MOST));
	if (is_pointer(event, at))
		strcpy(type, "string");
	else
		type_of(arg, type);
	nw_buf_printf(out, "arg %s %s\n", name, type);
}

static void write_source(const struct event *event, size_t number, struct nw_buf *out)
{
	const struct arg *arg = &event->args.item[number];
	char text[16];

	if (arg->chunk_bits)
		return;
	if (is_pointer(event, number)) {
		nw_buf_printf(out, "source 0 %zu -1 string string 0 - 0 -\n", number);
		write_chunks(event, number, out);
		return;
	}
	type_of(arg, text);
	nw_buf_printf(out, "source 0 %zu -1 %s %s 0 - 0 -\n", number, text, text);
}

/* Writes an event of the plan. perf prints GROUP:EVENT. */
static void write_event(struct event *event, size_t number, struct nw_buf *out)
{
	const char *colon = strrchr(event->name, ':');
	char provider[NW_MAX_NAME + 1] = "";
	size_t i;

	find_chunks(event);
	if (colon)
		memcpy(provider, event->name, (size_t)(colon - event->name));
	nw_buf_adds(out, "probe 0 0");
	nw_plan_word(out, provider);
	nw_plan_word(out, colon ? colon + 1 : event->name);
	nw_plan_word(out, event->name);
	nw_buf_adds(out, " 0\n");
	for (i = 0; i < event->args.count; i++)
		write_arg(event, i, out);
	nw_buf_printf(out, "point 0 0 0\nplanned %zu 0 1 0\n", number);
	for (i = 0; i < event->args.count; i++)
		write_source(event, i, out);
	nw_buf_printf(out, "event e%zu 0\n", number);
	nw_vec_each (&event->args, arg)
		nw_buf_printf(out, "field %s\n", arg->name);
	nw_buf_printf(out, "place %zu 0\n", number);
}

static int make_plan(const struct lesson *lesson, const char *source,
		     struct nw_selection *selection, struct nw_plan *plan,
		     struct nw_armed *armed, struct nw_error *err)
{
	struct nw_buf text = {0};
	size_t number = 0;

	nw_buf_adds(&text, "nopwatch-plan 1\nimage");
	nw_plan_word(&text, source);
	nw_buf_addc(&text, '\n');
	nw_vec_each (&lesson->events, event)
		write_event(event, number++, &text);
	int ret = text.failed ? nw_no_memory(err)
			      : nw_plan_load(text.data, text.len, selection, plan, NULL,
					     NULL, NULL, err);
	nw_buf_free(&text);
	/* Kernel events, and those of other tools, have names that the plan's text cannot have. */
	for (size_t i = 0; ret == 0 && i < lesson->events.count; i++)
		memcpy(plan->events.item[i]->name, lesson->events.item[i].name,
		       sizeof(plan->events.item[i]->name));
	if (ret < 0)
		return ret;
	if (nw_armed_make(plan, armed) < 0) {
		nw_plan_free(plan);
		nw_selection_free(selection);
		return nw_no_memory(err);
	}
	nw_armed_assume(armed);
	return 0;
}

int nw_text_learn(const char *bytes, size_t len, const char *source,
		  struct nw_selection *selection, struct nw_plan *plan,
		  struct nw_armed *armed, struct nw_error *err)
{
	struct lesson lesson = {0};
	int ret = learn_lines(&lesson, bytes, len);

	if (ret < 0)
		nw_no_memory(err);
	else if (!lesson.events.count)
		ret = nw_fail(err, ENOENT, "there are no trace lines in it");
	else
		ret = make_plan(&lesson, source, selection, plan, armed, err);
	nw_vec_each (&lesson.events, event) {
		nw_vec_each (&event->args, arg)
			free(arg->name);
		nw_vec_free(&event->args);
	}
	nw_vec_free(&lesson.events);
	nw_index_free(&lesson.names);
	return ret;
}
