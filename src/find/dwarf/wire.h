/* SPDX-License-Identifier: MIT */
/*
 * Numbers and strings in the messages between nopwatch and its reader process (reader.h). Both run on one machine, so
 * numbers have the machine's byte order. Messages are hostile: the process that wrote them has read hostile files.
 */
#ifndef NOPWATCH_FIND_DWARF_WIRE_H
#define NOPWATCH_FIND_DWARF_WIRE_H

#include "base/base.h"
#include "base/load.h"

static inline void nw_put(struct nw_buf *out, uint64_t value, size_t bytes)
{
	const uint8_t one = (uint8_t)value;
	const uint16_t two = (uint16_t)value;
	const uint32_t four = (uint32_t)value;

	nw_buf_add(out,
		   bytes == 1	? (const void *)&one
		   : bytes == 2 ? (const void *)&two
		   : bytes == 4 ? (const void *)&four
				: (const void *)&value,
		   bytes);
}

/* Writes the length of a string, its bytes and a NUL. NULL is an empty string. */
static inline void nw_put_text(struct nw_buf *out, const char *text, size_t len)
{
	nw_put(out, len, 4);
	if (len)
		nw_buf_add(out, text, len);
	nw_buf_addc(out, '\0');
}

/* A message that is being read. */
struct nw_wire {
	const unsigned char *at, *end;
	/* It ended too early, or has an impossible value; all later reads return 0 */
	bool bad;
};

static inline const unsigned char *nw_take_bytes(struct nw_wire *wire, size_t len)
{
	const unsigned char *bytes = wire->at;

	if (wire->bad || (size_t)(wire->end - wire->at) < len) {
		wire->bad = true;
		return NULL;
	}
	wire->at += len;
	return bytes;
}

static inline uint64_t nw_take(struct nw_wire *wire, size_t bytes)
{
	const unsigned char *at = nw_take_bytes(wire, bytes);

	return at ? nw_load(at, bytes) : 0;
}

/* Returns a string, which is in the message itself; "" if it is bad. */
static inline const char *nw_take_text(struct nw_wire *wire)
{
	size_t len = (size_t)nw_take(wire, 4);
	const char *text = (const char *)nw_take_bytes(wire, len);
	const unsigned char *nul = nw_take_bytes(wire, 1);

	if (!nul || *nul || memchr(text, '\0', len)) {
		wire->bad = true;
		return "";
	}
	return text;
}

#endif
