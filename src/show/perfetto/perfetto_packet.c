// SPDX-License-Identifier: MIT
/* Writes packets of a Perfetto trace, and the annotations in them. */
#include <string.h>

#include "perfetto.h"

enum {
	SEQUENCE = 1, /* all packets have the same writer */
};

/* ---- packets ------------------------------------------------------------------------ */

size_t nw_pf_packet(struct nw_buf *out)
{
	size_t packet = nw_pb_open(out, TRACE_PACKET);

	nw_pb_uint(out, PACKET_SEQUENCE, SEQUENCE);
	return packet;
}

/* Threads' numbers have at most 22 bits (PID_MAX_LIMIT of include/linux/threads.h). */
uint64_t nw_pf_track(enum nw_pf_kind kind, uint64_t a, uint64_t b)
{
	return (uint64_t)kind << 56 | a << 24 | b;
}

void nw_pf_name_track(struct nw_buf *out, uint64_t uuid, uint64_t parent, const char *name,
		      bool counter)
{
	size_t packet = nw_pf_packet(out);
	size_t track = nw_pb_open(out, PACKET_TRACK_DESCRIPTOR);

	nw_pb_uint(out, TRACK_UUID, uuid);
	nw_pb_string(out, TRACK_NAME, name, strlen(name));
	if (parent)
		nw_pb_uint(out, TRACK_PARENT, parent);
	if (counter)
		nw_pb_bytes(out, TRACK_COUNTER, "", 0);
	nw_pb_close(out, track);
	nw_pb_close(out, packet);
}

struct nw_pf_event nw_pf_open(struct nw_buf *out, uint64_t time, unsigned int type,
			      uint64_t track)
{
	struct nw_pf_event opened = {.packet = nw_pf_packet(out)};

	nw_pb_uint(out, PACKET_TIMESTAMP, time);
	opened.event = nw_pb_open(out, PACKET_TRACK_EVENT);
	nw_pb_uint(out, EVENT_TYPE, type);
	nw_pb_uint(out, EVENT_TRACK, track);
	return opened;
}

void nw_pf_close(struct nw_buf *out, struct nw_pf_event opened)
{
	nw_pb_close(out, opened.event);
	nw_pb_close(out, opened.packet);
}

void nw_pf_counter(struct nw_buf *out, uint64_t time, enum nw_pf_kind kind, uint64_t value)
{
	struct nw_pf_event event = nw_pf_open(out, time, TYPE_COUNTER,
					      nw_pf_track(kind, 0, 0));

	nw_pb_int(out, EVENT_COUNTER, (int64_t)value);
	nw_pf_close(out, event);
}

/* ---- annotations -------------------------------------------------------------------- */

static void note_name(struct nw_buf *out, const char *name)
{
	nw_pb_string(out, ANNOTATION_NAME, name, strlen(name));
}

static void note_text(struct nw_buf *out, const char *name, const char *text)
{
	size_t note = nw_pb_open(out, EVENT_ANNOTATIONS);

	note_name(out, name);
	nw_pb_string(out, ANNOTATION_STRING, text, strlen(text));
	nw_pb_close(out, note);
}

void nw_pf_note_number(struct nw_buf *out, const char *name, uint64_t number)
{
	size_t note = nw_pb_open(out, EVENT_ANNOTATIONS);

	note_name(out, name);
	nw_pb_uint(out, ANNOTATION_UINT, number);
	nw_pb_close(out, note);
}

static void number(struct nw_buf *out, enum nw_value_kind kind, uint64_t bits, double real)
{
	if (kind == NW_VALUE_FLOAT)
		nw_pb_double(out, ANNOTATION_DOUBLE, real);
	else if (kind == NW_VALUE_SIGNED)
		nw_pb_int(out, ANNOTATION_INT, (int64_t)bits);
	else
		nw_pb_uint(out, kind == NW_VALUE_HEX ? ANNOTATION_POINTER : ANNOTATION_UINT,
			   bits);
}

static void value(struct nw_buf *out, const struct nw_value *value)
{
	struct nw_buf shown = {0};

	switch (value->kind) {
	case NW_VALUE_STRING:
		nw_pb_string(out, ANNOTATION_STRING, value->text, value->len);
		break;
	case NW_VALUE_ARRAY:
		for (uint32_t i = 0; i < value->len; i++) {
			size_t element = nw_pb_open(out, ANNOTATION_ARRAY);
			number(out, value->element, nw_value_element(value, i),
			       value->element == NW_VALUE_FLOAT ? nw_value_real(value, i)
								: 0);
			nw_pb_close(out, element);
		}
		break;
	case NW_VALUE_MISSING:
	case NW_VALUE_NULL:
		nw_value_print(value, &shown);
		nw_pb_string(out, ANNOTATION_STRING, nw_buf_str(&shown), shown.len);
		nw_buf_free(&shown);
		break;
	default:
		number(out, value->kind, value->number, value->real);
	}
}

/* Writes the arguments of a hit and its CPU, each as an annotation in this field. */
static void add_args(struct nw_buf *out, unsigned int field,
		     const struct nw_event_line *line)
{
	for (size_t i = 0; i < line->hit->value_count; i++) {
		char name[NW_ARG_NAME];
		size_t note = nw_pb_open(out, field);
		nw_arg_name(line->probe, i, name);
		note_name(out, name);
		const char *word = NULL;
		size_t len = nw_value_word(line->probe, i, &line->hit->values[i], &word);
		if (len)
			nw_pb_string(out, ANNOTATION_STRING, word, len);
		else
			value(out, &line->hit->values[i]);
		nw_pb_close(out, note);
	}
	size_t cpu = nw_pb_open(out, field);
	note_name(out, "cpu");
	nw_pb_uint(out, ANNOTATION_UINT, line->hit->cpu);
	nw_pb_close(out, cpu);
}

/* "start" or "end" with the arguments of its hit, as one annotation. */
void nw_pf_side(struct nw_buf *out, const char *name, const struct nw_event_line *line)
{
	size_t note = nw_pb_open(out, EVENT_ANNOTATIONS);

	note_name(out, name);
	add_args(out, ANNOTATION_DICT, line);
	nw_pb_close(out, note);
}

void nw_pf_instant(struct nw_buf *out, uint64_t time, uint64_t track, const char *name,
		   const char *state, const struct nw_event_line *line,
		   const struct nw_buf *notes)
{
	struct nw_pf_event event = nw_pf_open(out, time, TYPE_INSTANT, track);

	nw_pb_string(out, EVENT_CATEGORIES, "probe", 5);
	nw_pb_string(out, EVENT_NAME, name, strlen(name));
	if (state)
		note_text(out, "state", state);
	if (line)
		add_args(out, EVENT_ANNOTATIONS, line);
	if (notes)
		nw_buf_add(out, nw_buf_str(notes), notes->len);
	nw_pf_close(out, event);
}
