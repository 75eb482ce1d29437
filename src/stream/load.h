/* SPDX-License-Identifier: MIT */
/* Numbers of a page, wherever they lie: it is in the byte order of the machine. */
#ifndef NOPWATCH_STREAM_LOAD_H
#define NOPWATCH_STREAM_LOAD_H

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

#endif
