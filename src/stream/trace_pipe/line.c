// SPDX-License-Identifier: MIT
/*
 * Parses one line of trace text. The name of a thread may contain anything, also text that looks like the rest of a
 * line, so the line is not read from the left. The kernel pads names to 16 characters, so the dash behind the name is
 * in column 16. If blanks were cut off, the last dash that is followed by a complete rest counts.
 */
#include <string.h>

#include "stream/trace_pipe/trace_text.h"
#include "text.h"

enum {
	COMM_WIDTH = 16, /* "%16s-%-5d" and "%16s-%-7d" */
	COMM_MOST = 24,
	FLAGS_MOST = 16
};

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static inline const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	return at;
}

/* Reads digits at *at and moves behind them. Returns false if there are none or too many. */
static inline bool digits(const char **at, const char *end, unsigned int most,
			  uint64_t *out)
{
	const char *from = *at, *to = from;
	uint64_t value = 0;

	for (; to < end && is_digit(*to); to++)
		value = value * 10 + (uint64_t)(*to - '0');
	*at = to;
	*out = value;
	return to > from && to - from <= most;
}

/* ---- the pieces --------------------------------------------------------------------- */

/* Reads "( 123) " or "(-----) " of the option record-tgid. Returns NULL if it is something else. */
static const char *take_tgid(const char *at, const char *end, int32_t *tgid)
{
	uint64_t value;

	at = skip_blanks(at + 1, end);
	if (at < end && *at == '-') {
		while (at < end && *at == '-')
			at++;
	} else {
		if (!digits(&at, end, 9, &value))
			return NULL;
		*tgid = (int32_t)value;
	}
	return at < end && *at == ')' ? skip_blanks(at + 1, end) : NULL;
}

/*
 * Reads a time: "1234.567890:" in seconds, with any number of decimals (tools print nine), or "1234:" in the units of
 * clocks that do not count nanoseconds.
 */
static inline const char *take_time(const char *at, const char *end,
				    struct nw_text_line *out)
{
	static const uint32_t scale[] = {1000000000, 100000000, 10000000, 1000000, 100000,
					 10000,	     1000,	100,	  10,	   1};
	uint64_t whole, part;

	if (!digits(&at, end, 20, &whole) || at == end)
		return NULL;
	out->ticks = *at == ':';
	out->time = whole;
	if (out->ticks)
		return at + 1;
	if (*at++ != '.')
		return NULL;
	const char *from = at;
	if (!digits(&at, end, 9, &part) || at == end || *at != ':')
		return NULL;
	out->time = whole * 1000000000 + part * scale[at - from];
	return at + 1;
}

/* Reads the flags, if irq-info is on, and the time behind them. */
static inline const char *take_flags_and_time(const char *at, const char *end,
					      struct nw_text_line *out)
{
	const char *behind = take_time(at, end, out);

	if (behind)
		return behind;
	for (const char *most = at + FLAGS_MOST; at < end && *at != ' '; at++)
		if (at == most)
			return NULL;
	return take_time(skip_blanks(at, end), end, out);
}

/* Reads "EVENT: ARGUMENTS". The name ends at the first colon that is followed by a blank. */
static inline bool take_event(const char *at, const char *end, struct nw_text_line *out)
{
	at = skip_blanks(at, end);
	out->event = at;
	for (; at < end; at++) {
		if ((unsigned char)(*at - 0x21) > 0x7e - 0x21)
			return false;
		if (*at == ':' && (at + 1 == end || at[1] == ' '))
			break;
	}
	out->event_len = (size_t)(at - out->event);
	if (at == end || !out->event_len)
		return false;
	out->args = skip_blanks(at + 1, end);
	out->args_len = (size_t)(end - out->args);
	return true;
}

/* Reads everything behind the dash, if it is the dash behind the name. */
static inline bool take_rest(const char *dash, const char *end, struct nw_text_line *out)
{
	const char *at = dash + 1;
	uint64_t value;

	if (!digits(&at, end, 10, &value) || value > INT32_MAX)
		return false;
	out->tid = (int32_t)value;
	out->tgid = 0;
	at = skip_blanks(at, end);
	if (at < end && *at == '(' && !(at = take_tgid(at, end, &out->tgid)))
		return false;
	if (at == end || *at++ != '[' || !digits(&at, end, 6, &value) || at == end ||
	    *at != ']')
		return false;
	out->cpu = (uint32_t)value;
	at = skip_blanks(at + 1, end);
	/* Some Android kernels have it behind the CPU. */
	if (at < end && *at == '(' && !(at = take_tgid(at, end, &out->tgid)))
		return false;
	at = take_flags_and_time(at, end, out);
	return at && take_event(at, end, out);
}

static inline bool take_comm(const char *line, const char *dash, struct nw_text_line *out)
{
	out->comm = skip_blanks(line, dash);
	out->comm_len = (size_t)(dash - out->comm);
	return out->comm_len > 0;
}

/* Finds the last dash that fits, if blanks were cut off or the name is longer. */
static bool search_event(const char *line, size_t len, struct nw_text_line *out)
{
	size_t at = len < COMM_MOST ? len : COMM_MOST;

	while (at-- > 1)
		if (line[at] == '-' && take_rest(line + at, line + len, out))
			return take_comm(line, line + at, out);
	return false;
}

/* ---- other lines -------------------------------------------------------------------- */

static bool begins(const char *line, size_t len, const char *with)
{
	size_t most = strlen(with);

	return len >= most && memcmp(line, with, most) == 0;
}

/* Reads "CPU:3 [LOST 17 EVENTS]", "[LOST EVENTS]", or trace-cmd's "[17 EVENTS DROPPED]". */
static bool take_loss(const char *line, size_t len, struct nw_text_line *out)
{
	const char *at = line + 4, *end = line + len;
	uint64_t value;

	if (!begins(line, len, "CPU:") || !digits(&at, end, 6, &value))
		return false;
	out->cpu = (uint32_t)value;
	out->lost = 0;
	at = skip_blanks(at, end);
	size_t left = (size_t)(end - at);
	if (left < 2 || *at != '[' || !memmem(at, left, "EVENTS", 6) ||
	    !(memmem(at, left, "LOST", 4) || memmem(at, left, "DROPPED", 7)))
		return false;
	for (; at < end && !is_digit(*at); at++)
		;
	if (digits(&at, end, 18, &value))
		out->lost = value;
	out->kind = NW_TEXT_LOSS;
	return true;
}

/* Returns the number of overwritten events: the difference in "# entries-in-buffer/entries-written: 140080/250280
 * #P:4". */
static uint64_t overwritten(const char *line, size_t len)
{
	static const char mark[] = "entries-written:";
	const char *end = line + len, *at = memmem(line, len, mark, sizeof(mark) - 1);
	uint64_t in_buffer, written;

	if (!at)
		return 0;
	at = skip_blanks(at + sizeof(mark) - 1, end);
	if (!digits(&at, end, 18, &in_buffer) || at == end || *at++ != '/' ||
	    !digits(&at, end, 18, &written) || written < in_buffer)
		return 0;
	return written - in_buffer;
}

static void take_other(const char *line, size_t len, struct nw_text_line *out)
{
	out->kind = NW_TEXT_BAD;
	out->lost = 0;
	if (begins(line, len, "#nw ")) {
		out->kind = NW_TEXT_HEADER;
		out->args = line + 4;
		out->args_len = len - 4;
	} else if (len == 0 || *line == '#') {
		out->kind = NW_TEXT_COMMENT;
		out->lost = overwritten(line, len);
	} else {
		take_loss(line, len, out);
	}
}

void nw_text_line_parse(const char *line, size_t len, struct nw_text_line *out)
{
	if (len && line[len - 1] == '\r') /* the text passed through a terminal */
		len--;
	bool padded = len > COMM_WIDTH && line[COMM_WIDTH] == '-' &&
		      take_rest(line + COMM_WIDTH, line + len, out) &&
		      take_comm(line, line + COMM_WIDTH, out);
	out->kind = NW_TEXT_EVENT;
	if (!padded && !search_event(line, len, out))
		take_other(line, len, out);
}

/* ---- arguments ---------------------------------------------------------------------- */

/* Skips "(0x401136)" or "(0x401136 <- 0x401100)". */
const char *nw_text_args(const char *args, size_t len)
{
	const char *end = args + len, *close;

	if (len < 3 || args[0] != '(' || args[1] != '0' || args[2] != 'x')
		return args;
	close = memchr(args, ')', len);
	return close ? skip_blanks(close + 1, end) : args;
}

static inline bool is_word(char c)
{
	return (unsigned char)((c | 0x20) - 'a') < 26 || is_digit(c) || c == '_';
}

/* Returns the begin of the next "name=" at or behind `at`; `end` if there is none. */
static const char *next_name(const char *at, const char *end)
{
	const char *from = at, *equals;

	while ((equals = memchr(at, '=', (size_t)(end - at)))) {
		const char *name = equals;
		while (name > from && is_word(name[-1]))
			name--;
		if (name < equals && !is_digit(*name) && (name == from || name[-1] == ' '))
			return name;
		at = equals + 1;
	}
	return end;
}

/* Does a "name=" begin at `at`? */
static bool is_name_at(const char *at, const char *end)
{
	const char *from = at;

	while (at < end && is_word(*at))
		at++;
	return at > from && at < end && *at == '=' && !is_digit(*from);
}

/* Returns the end of the first quote that is followed by a name or the end; `end` if there is none. */
static const char *end_of_string(const char *at, const char *end)
{
	const char *quote;

	for (; (quote = memchr(at, '"', (size_t)(end - at))); at = quote + 1) {
		const char *behind = quote + 1;
		if (behind == end)
			return behind;
		if (*behind == ' ' && is_name_at(behind + 1, end))
			return behind;
	}
	return end;
}

bool nw_text_arg_next(const char **at, const char *end, struct nw_text_arg *out)
{
	const char *name = next_name(*at, end);

	if (name == end)
		return false;
	const char *equals = memchr(name, '=', (size_t)(end - name)), *value = equals + 1;
	const char *to = value < end && *value == '"' ? end_of_string(value + 1, end)
						      : next_name(equals, end);
	*at = to;
	while (to > value && to[-1] == ' ')
		to--;
	*out = (struct nw_text_arg){.name = name,
				    .name_len = (size_t)(equals - name),
				    .value = value,
				    .value_len = (size_t)(to - value)};
	return true;
}

static inline unsigned int hex_digit(char c)
{
	if (is_digit(c))
		return (unsigned int)(c - '0');
	c |= 0x20;
	return (unsigned char)(c - 'a') < 6 ? (unsigned int)(c - 'a') + 10 : 16;
}

bool nw_text_number(const char *text, size_t len, uint64_t *out)
{
	const char *end = text + len;
	bool negative = len && *text == '-';
	uint64_t value = 0;

	text += negative;
	if (end - text > 2 && text[0] == '0' && text[1] == 'x') {
		text += 2;
		if (end - text > 16)
			return false;
		for (; text < end; text++) {
			unsigned int digit = hex_digit(*text);
			if (digit > 15)
				return false;
			value = value << 4 | digit;
		}
	} else if (!digits(&text, end, 20, &value) || text != end) {
		return false;
	}
	*out = negative ? (uint64_t)0 - value : value;
	return true;
}
