/* SPDX-License-Identifier: MIT */
/*
 * EventHeader: a convention for the payloads of user_events, in which each record tells the names and types of its own
 * fields. Programs of Microsoft's LinuxTracepoints and runtimes of .NET write it.
 */
#ifndef NOPWATCH_STREAM_PAGES_EVENTHEADER_H
#define NOPWATCH_STREAM_PAGES_EVENTHEADER_H

#include "fields.h"

/* Returns where an event with these fields has its header; NULL: it is no EventHeader event. */
const struct nw_field_format *nw_eventheader_find(const struct nw_fields *fields);
/* Adds the names that every EventHeader event has: "event", "fields", "activity", "related_activity", and
 * "eventheader_id" for the header's "id". Returns -ENOMEM on failure. */
int nw_eventheader_names(const struct nw_fields *fields, nw_named_args *out);
/* Finds the field for such a name, or for the name of a payload's field ("status", "request.id"), which differs from
 * record to record: then *out has a `member`. `name` must outlive *out. Returns -ENOMEM on failure. */
int nw_eventheader_field(const struct nw_fields *fields, const char *name,
			 struct nw_field_format *out);
/* Reads the value of a field that has a `member`. The text of the value is valid until the field is read again. */
void nw_eventheader_take(const struct nw_record *record,
			 const struct nw_field_format *field, const struct nw_type *wanted,
			 struct nw_value *out);

#endif
