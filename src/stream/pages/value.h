/* SPDX-License-Identifier: MIT */
/* The arguments of a hit, from its records. */
#ifndef NOPWATCH_STREAM_PAGES_VALUE_H
#define NOPWATCH_STREAM_PAGES_VALUE_H

#include "stream/pages/record.h"

/* Decodes the arguments that this part of the hit has; all other elements of `out` stay as they are. out: as many as
 * the probe has arguments. Strings point into the record. A string that is spread over parts gets only its pointer
 * here: nw_string_bytes() collects it, and nw_string_finish() makes it a value. */
void nw_record_values(const struct nw_formats *formats, const struct nw_record *record,
		      struct nw_value *out);
/* Converts a raw number to the type that the user sees. */
void nw_value_number(const struct nw_fetch *fetch, uint64_t raw, struct nw_value *out);
/* Returns how many bytes of a string a record has from its first chunk on (0: none), and their offset in the string. */
uint32_t nw_string_bytes(const struct nw_record *record, const struct nw_source *source,
			 uint32_t *offset, const unsigned char **bytes);
/*
 * Finds the end of the string at value->number in its first len bytes. A load that the kernel could not do leaves
 * zeros, so a NUL counts only if it cannot come from such a load.
 */
void nw_string_finish(const struct nw_source *source, const unsigned char *bytes,
		      uint32_t len, struct nw_value *value);
/* Cuts strings that have a length, when all values of a hit are there. */
void nw_string_lengths(const struct nw_planned_point *planned, struct nw_value *values);

#endif
