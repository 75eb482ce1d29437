/* SPDX-License-Identifier: MIT */
/* The arguments of a hit, from its records. */
#ifndef NOPWATCH_STREAM_PAGES_VALUE_H
#define NOPWATCH_STREAM_PAGES_VALUE_H

#include "nopwatch/record.h"

/* Decode the arguments that this part of the hit carries; others in out are left alone.
 * out: as many as the probe has arguments. Strings point into the record. A string that is spread
 * over parts is only announced by that of its pointer: nw_string_bytes() collects it, and
 * nw_string_finish() makes it a value. */
void nw_record_values(const struct nw_formats *formats, const struct nw_record *record,
		      struct nw_value *out);
/* The bytes that a record has of a string, from the first chunk in it on: how many (0: none), at
 * which offset of the string they begin. */
uint32_t nw_string_bytes(const struct nw_record *record, const struct nw_source *source,
			 uint32_t *offset, const unsigned char **bytes);
/*
 * Where the string at value->number ends, in its first len bytes. A load that the kernel could
 * not do has left zeros, so a NUL is believed only where that is not what it looks like.
 */
void nw_string_finish(const struct nw_source *source, const unsigned char *bytes,
		      uint32_t len, struct nw_value *value);
/* All values of a hit are there: cut the strings that have a length. */
void nw_string_lengths(const struct nw_planned *planned, struct nw_value *values);

#endif
