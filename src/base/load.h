/* SPDX-License-Identifier: MIT */
/* Numbers at any address: of this machine's byte order, as in pages and recordings, or of a file's. */
#ifndef NOPWATCH_BASE_LOAD_H
#define NOPWATCH_BASE_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t nw_load16(const unsigned char *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint32_t nw_load32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint64_t nw_load64(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Reads a number of 1, 2, 4 or 8 bytes. Returns 0 for other sizes, which no kernel writes. */
static inline uint64_t nw_load(const unsigned char *at, size_t bytes)
{
	switch (bytes) {
	case 1:
		return *at;
	case 2:
		return nw_load16(at);
	case 4:
		return nw_load32(at);
	case 8:
		return nw_load64(at);
	default:
		return 0;
	}
}

/* Reads a number of up to 8 bytes of either byte order. */
static inline uint64_t nw_load_ordered(const unsigned char *at, size_t bytes,
				       bool big_endian)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | at[big_endian ? i : bytes - 1 - i];
	return value;
}

#endif
