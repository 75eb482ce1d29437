/* SPDX-License-Identifier: MIT */
/* Parses the text of an event's format file into fields. */
#ifndef NOPWATCH_STREAM_PAGES_FIELDS_H
#define NOPWATCH_STREAM_PAGES_FIELDS_H

#include "stream/pages/record.h"

struct nw_field {
	char *name;
	char *type;	/* "unsigned int", "char[16]", "__data_loc char[]" */
	uint32_t array; /* the number in the brackets; 0: none */
	bool has_array; /* there are brackets */
	bool is_signed;
	struct nw_field_format format;
};

struct nw_fields {
	uint32_t id; /* below 65536: struct trace_entry has 16 bits for it */
	NW_VEC(struct nw_field) list;
};

/*
 * Parses the text of events/SYSTEM/NAME/format as kernel/trace/trace_events.c: f_show() writes it:
 *
 * 	ID: 1500
 * 		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 * 		field:__data_loc char[] newcomm;	offset:8;	size:4;	signed:1;
 *
 * The print format behind the fields is ignored, because the text may come from another person's recording. -EBADMSG:
 * damaged; -ENOMEM.
 */
int nw_fields_parse(const char *text, struct nw_fields *out);
/* Returns the field of that name; NULL if there is none. */
const struct nw_field_format *nw_fields_find(const struct nw_fields *fields,
					     const char *name);
/* Sets the format's type, dynamic and relative from the field's declaration. */
void nw_field_type(struct nw_field *field);
/* Finds the stack pointer in the format's event, if it has one. */
void nw_format_find_stack(const struct nw_plan *plan, struct nw_event_format *format);
void nw_fields_free(struct nw_fields *fields);

#endif
