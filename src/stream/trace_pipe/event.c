// SPDX-License-Identifier: MIT
/*
 * Converts the arguments of a line to a record as the kernel would have written it: fixed fields, then strings. So
 * all later steps are the same for text and for pages. A field that the line does not have is marked as missing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream/pages/fields.h"
#include "text.h"

enum {
	STRING_MOST = 0xf000, /* offset and length of a string have 16 bits each */
};

/* ---- what the fields are ------------------------------------------------------------ */

static void type_field(struct nw_text_field *field, const struct nw_fetch *fetch)
{
	field->string = fetch->shown.base == NW_TYPE_STRING;
	field->array = field->string ? 0 : fetch->field.array;
	uint32_t size = field->string ? 4 : fetch->field.bits / 8;
	/* Sizes are checked, because the plan may come from a hostile recording. */
	field->size = nw_is_plain_size(size) ? size * (field->array ? field->array : 1) : 0;
}

/* Sets the types of a string's fields, which are words; the field of the string itself is its pointer. */
static void type_string(struct nw_text_event *event, const struct nw_source *source,
			uint32_t part)
{
	nw_vec_each (&source->chunks, chunk) {
		if (chunk->part != part || (size_t)chunk->field >= event->field_count)
			continue;
		struct nw_text_field *field = &event->fields[chunk->field];
		field->array = chunk->count;
		field->size = nw_chunk_bytes(chunk);
		field->big_endian = source->big_endian;
		field->bytes = true;
	}
}

static void type_fields(const struct nw_plan *plan, struct nw_text_event *event)
{
	nw_vec_each (&event->event->places, place) {
		const struct nw_stack_field *stack =
			&plan->points.item[place->planned].stack;
		if (!place->part && stack->field >= 0 &&
		    (size_t)stack->field < event->field_count) {
			event->fields[stack->field].size = 8;
			event->stack = true;
			for (int i = 0; stack->goroutine && i < NW_GOROUTINE_FIELDS; i++)
				if ((size_t)(stack->goroutine + i) < event->field_count)
					event->fields[stack->goroutine + i].size = 8;
		}
		nw_vec_each (&plan->points.item[place->planned].args, source) {
			size_t count = event->field_count;
			type_string(event, source, place->part);
			if (source->part != place->part)
				continue;
			if (source->chunks.count && (size_t)source->field < count)
				event->fields[source->field].size = 8;
			else if (source->field >= 0 && (size_t)source->field < count)
				type_field(&event->fields[source->field], &source->fetch);
			if (source->high_field >= 0 && (size_t)source->high_field < count)
				event->fields[source->high_field].size = source->fetch.scale
										 ? 8
										 : 4;
		}
	}
}

static int make_fields(const struct nw_plan *plan, struct nw_text_event *event)
{
	const nw_strings *names = &event->event->fields;
	size_t i = 0;

	event->fields = calloc(names->count + 1, sizeof(*event->fields));
	if (!event->fields)
		return -ENOMEM;
	event->field_count = names->count;
	nw_vec_each (names, name) {
		event->fields[i].name = *name;
		event->fields[i++].name_len = strlen(*name);
	}
	type_fields(plan, event);
	for (i = 0; i < names->count; i++) {
		struct nw_field_format *format = nw_vec_add(&event->format->fields);
		if (!format)
			return -ENOMEM;
		format->offset = event->fixed;
		format->size = event->fields[i].size;
		format->dynamic = event->fields[i].string;
		event->fixed += event->fields[i].size;
		event->strings += event->fields[i].string;
	}
	if (event->fixed) { /* a bit per field tells which fields a line has */
		event->format->present = event->fixed;
		event->fixed += (uint32_t)(names->count + 7) / 8;
	}
	nw_format_find_stack(plan, event->format);
	return 0;
}

static int make_event(const struct nw_plan *plan, const struct nw_event *from,
		      struct nw_formats *formats, struct nw_text_event *out)
{
	struct nw_event_format **slot = nw_vec_add(&formats->events);
	struct nw_event_format *format = slot ? calloc(1, sizeof(*format)) : NULL;

	if (!format)
		return -ENOMEM;
	*slot = format;
	format->kind = NW_EVENT_PROBE;
	format->event = from;
	out->event = from;
	out->format = format;
	out->one_place = from->places.count == 1;
	if (from->places.count) {
		const struct nw_event_site *place = &from->places.item[0];
		out->planned = place->planned;
		out->part = place->part;
		out->probe = (uint32_t)plan->points.item[place->planned].probe;
	}
	return make_fields(plan, out);
}

int nw_text_events_make(const struct nw_armed *armed, bool values,
			struct nw_formats *formats, struct nw_text_event **out)
{
	const struct nw_plan *plan = armed->plan;
	size_t count = plan->events.count, i = 0;
	struct nw_text_event *events = calloc(count + 1, sizeof(*events));
	int ret = events ? 0 : -ENOMEM;

	formats->plan = plan;
	formats->armed = armed;
	formats->stacks = nw_plan_has_stacks(plan);
	for (; ret == 0 && i < count; i++) {
		ret = make_event(plan, plan->events.item[i], formats, &events[i]);
		events[i].values = values || events[i].stack;
	}
	if (ret < 0) {
		nw_text_events_free(events, i);
		return ret;
	}
	*out = events;
	return 0;
}

void nw_text_events_free(struct nw_text_event *events, size_t count)
{
	for (size_t i = 0; events && i < count; i++)
		free(events[i].fields);
	free(events);
}

/* ---- values ------------------------------------------------------------------------- */

static void store_element(const struct nw_text_field *field, unsigned char *to,
			  uint64_t value, uint32_t bytes)
{
	/* Numbers of a record have the byte order of this machine; bytes of a program's memory have that of the
	 * program. */
	bool big_endian = field->bytes ? field->big_endian
				       : __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	bool swapped = big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint32_t low = (uint32_t)value;

	/* The usual case: storing single bytes took longer than everything else about a number. */
	if (bytes == sizeof(value) && !swapped) {
		memcpy(to, &value, sizeof(value));
		return;
	}
	if (bytes == sizeof(low) && !swapped) {
		memcpy(to, &low, sizeof(low));
		return;
	}
	for (uint32_t i = 0; i < bytes; i++)
		to[big_endian ? bytes - 1 - i : i] = (unsigned char)(value >> 8 * i);
}

/* Stores "{1,2,3}". The text must have as many elements as the field. */
static bool store_array(const struct nw_text_field *field, const char *text, size_t len,
			unsigned char *to)
{
	uint32_t width = field->size / field->array, i = 0;
	const char *end = text + len - 1;
	uint64_t value;

	if (len < 2 || *text != '{' || *end != '}')
		return false;
	for (const char *at = text + 1; at < end && i < field->array; i++) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *stop = comma ? comma : end;
		if (!nw_text_number(at, (size_t)(stop - at), &value))
			return false;
		store_element(field, to + (size_t)i * width, value, width);
		at = stop + 1;
	}
	return i == field->array;
}

/* Stores a string behind the fixed fields. "(fault)" has length 0, as in the kernel's records. */
static bool store_string(const char *text, size_t len, struct nw_buf *room, uint32_t at)
{
	bool fault = len == 7 && memcmp(text, "(fault)", 7) == 0;
	uint32_t where = (uint32_t)room->len;

	if (len >= 2 && *text == '"') {
		text++;
		len -= text[len - 2] == '"' ? 2 : 1;
	}
	if (room->len + len + 1 >= STRING_MOST)
		return false;
	if (!fault) {
		nw_buf_add(room, text, len);
		nw_buf_add(room, "", 1);
		where |= (uint32_t)(len + 1) << 16;
	}
	if (!room->failed)
		memcpy(room->data + at, &where, 4);
	return true;
}

/* ---- finding them ------------------------------------------------------------------- */

/* Returns the begin of the field's value if the field is at `at`. */
static inline const char *value_at(const struct nw_text_field *field, const char *at,
				   const char *end)
{
	while (at < end && *at == ' ')
		at++;
	if ((size_t)(end - at) <= field->name_len || at[field->name_len] != '=' ||
	    memcmp(at, field->name, field->name_len) != 0)
		return NULL;
	return at + field->name_len + 1;
}

/* Does the same, wherever the field is among the arguments. */
static const char *find_value(const struct nw_text_field *field, const char *args,
			      const char *end)
{
	struct nw_text_arg arg;

	while (nw_text_arg_next(&args, end, &arg))
		if (arg.name_len == field->name_len &&
		    memcmp(arg.name, field->name, arg.name_len) == 0)
			return arg.value;
	return NULL;
}

/*
 * Returns the end of a value. If the event has only one string, it ends at the last quote, whatever it contains,
 * because numbers have no quotes. If there are several, each ends where another name seems to begin.
 */
static inline const char *end_of_value(const struct nw_text_event *event,
				       const struct nw_text_field *field, const char *value,
				       const char *end)
{
	if (value < end && *value == '"') {
		const char *quote = event->strings == 1 && field->string
					    ? memrchr(value, '"', (size_t)(end - value))
					    : NULL;
		struct nw_text_arg arg;
		const char *from = value - field->name_len - 1;
		if (quote && quote > value)
			return quote + 1;
		return nw_text_arg_next(&from, end, &arg) ? arg.value + arg.value_len : end;
	}
	if (!field->string) {
		while (value < end && *value != ' ' && *value != '\n')
			value++;
		return value;
	}
	struct nw_text_arg arg;
	const char *from = value - field->name_len - 1;
	return nw_text_arg_next(&from, end, &arg) ? arg.value + arg.value_len : end;
}

static bool store_value(const struct nw_text_event *event, size_t i, const char *value,
			const char *stop, struct nw_buf *room)
{
	const struct nw_text_field *field = &event->fields[i];
	uint32_t at = event->format->fields.item[i].offset;
	size_t len = (size_t)(stop - value);
	uint64_t number;

	if (field->string)
		return store_string(value, len, room, at);
	if (field->array)
		return store_array(field, value, len, (unsigned char *)room->data + at);
	if (!nw_text_number(value, len, &number))
		return false;
	store_element(field, (unsigned char *)room->data + at, number, field->size);
	return true;
}

static void store_values(const struct nw_text_event *event, const char *args,
			 const char *end, struct nw_buf *room)
{
	const char *at = args;

	for (size_t i = 0; i < event->field_count; i++) {
		const struct nw_text_field *field = &event->fields[i];
		if (!field->size)
			continue;
		const char *value = value_at(field, at, end);
		if (!value) /* only behind the previous field, because a string may contain the text "NAME=", too */
			value = find_value(field, at, end);
		if (!value && !event->strings)
			value = find_value(field, args, end);
		if (!value)
			continue;
		at = end_of_value(event, field, value, end);
		if (store_value(event, i, value, at, room) && !room->failed) {
			unsigned char *bits = (unsigned char *)room->data +
					      event->format->present;
			bits[i / 8] = (unsigned char)(bits[i / 8] | 1u << i % 8);
		}
	}
}

/* ---- the record --------------------------------------------------------------------- */

/* Finds the event's place by the address in "(0x401136)", or of the function in "(0x401136 <- 0x401100)". */
static bool find_place(const struct nw_plan *plan, const struct nw_text_event *event,
		       const char *args, size_t len, struct nw_record *out)
{
	const struct nw_event *from = event->event;
	const char *close = len && *args == '(' ? memchr(args, ')', len) : NULL;
	const char *at = args + 1;
	uint64_t address;

	if (!close)
		return false;
	if (from->is_return) {
		at = memmem(args, (size_t)(close - args), "<- ", 3);
		if (!at)
			return false;
		at += 3;
	}
	if (!nw_text_number(at, (size_t)(close - at), &address))
		return false;
	uint16_t number = from->by_low_bits[address & 0xfff];
	if (!number || number > from->places.count)
		return false;
	const struct nw_event_site *place = &from->places.item[number - 1];
	out->planned = place->planned;
	out->part = place->part;
	out->probe = (uint32_t)plan->points.item[place->planned].probe;
	return true;
}

bool nw_text_event_record(const struct nw_plan *plan, const struct nw_text_event *event,
			  const char *args, size_t len, struct nw_buf *room,
			  struct nw_record *out)
{
	static const char zeros[256];

	out->planned = event->planned;
	out->part = event->part;
	out->probe = event->probe;
	if (!event->one_place && !find_place(plan, event, args, len, out))
		return false;
	nw_buf_clear(room);
	for (uint32_t left = event->fixed; left;) {
		uint32_t some = left < sizeof(zeros) ? left : sizeof(zeros);
		nw_buf_add(room, zeros, some);
		left -= some;
	}
	if (event->field_count && event->values && !room->failed)
		store_values(event, nw_text_args(args, len), args + len, room);
	out->whole = plan->points.item[out->planned].parts == 1 && out->part == 0;
	out->format = event->format;
	out->data = (const unsigned char *)nw_buf_str(room);
	out->size = (uint32_t)room->len;
	return true;
}
