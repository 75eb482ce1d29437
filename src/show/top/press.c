// SPDX-License-Identifier: MIT
/* The bytes that a terminal sends for keys. */
#include <string.h>

#include "show/top/top.h"

/* The bytes after "\033[" or "\033O", as xterm, screen, tmux, PuTTY, the Linux console and the VT220 send them. */
static const struct {
	const char *bytes;
	uint32_t key;
} sequences[] = {
	{"A", NW_PRESS_UP},    {"B", NW_PRESS_DOWN},	 {"C", NW_PRESS_RIGHT},
	{"D", NW_PRESS_LEFT},  {"H", NW_PRESS_HOME},	 {"F", NW_PRESS_END},
	{"1~", NW_PRESS_HOME}, {"7~", NW_PRESS_HOME},	 {"4~", NW_PRESS_END},
	{"8~", NW_PRESS_END},  {"5~", NW_PRESS_PAGE_UP}, {"6~", NW_PRESS_PAGE_DOWN},
	{"M", NW_PRESS_ENTER},
};

/* Reads a control sequence (ECMA-48 5.4): parameters and intermediates, then one final byte. */
static uint32_t sequence(const unsigned char *bytes, size_t len, size_t *at)
{
	size_t from = *at + 2, end = from;

	/* the console's function keys: "\033[[A" */
	if (end < len && bytes[from - 1] == '[' && bytes[end] == '[')
		end++;
	while (end < len && bytes[end] >= 0x20 && bytes[end] < 0x40)
		end++;
	if (end == len)
		return NW_PRESS_NONE;
	*at = end + 1;
	for (size_t i = 0; i < NW_COUNT(sequences); i++)
		if (strlen(sequences[i].bytes) == end + 1 - from &&
		    memcmp(sequences[i].bytes, bytes + from, end + 1 - from) == 0)
			return sequences[i].key;
	return NW_PRESS_OTHER;
}

uint32_t nw_press_next(const unsigned char *bytes, size_t len, size_t *at)
{
	uint32_t code;

	if (*at >= len)
		return NW_PRESS_NONE;
	unsigned char first = bytes[*at];
	if (first == 0x1b && *at + 1 < len &&
	    (bytes[*at + 1] == '[' || bytes[*at + 1] == 'O'))
		return sequence(bytes, len, at);
	size_t length = nw_utf8_decode(bytes + *at, len - *at, &code);
	*at += length ? length : 1;
	if (first == 0x1b)
		return NW_PRESS_ESCAPE;
	if (first == '\r' || first == '\n')
		return NW_PRESS_ENTER;
	if (first == 0x7f || first == 0x08)
		return NW_PRESS_BACKSPACE;
	if (first == '\f')
		return NW_PRESS_REDRAW;
	return length && !nw_is_control(code) ? code : NW_PRESS_OTHER;
}
