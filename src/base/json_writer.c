// SPDX-License-Identifier: MIT
/* The JSON writer. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"

/* Every integer up to this one is exact in a double. */
#define EXACT ((uint64_t)1 << 53)

static void separate(struct nw_json *json)
{
	if (json->comma)
		nw_buf_addc(json->out, ',');
	json->comma = true;
}

void nw_json_open(struct nw_json *json, char bracket)
{
	separate(json);
	nw_buf_addc(json->out, bracket);
	json->comma = false;
}

void nw_json_close(struct nw_json *json, char bracket)
{
	nw_buf_addc(json->out, bracket);
	json->comma = true;
}

static void add_char(struct nw_buf *out, unsigned char c)
{
	static const char letter[128] = {
		['\n'] = 'n', ['\t'] = 't', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\'};

	if (letter[c & 127])
		nw_buf_printf(out, "\\%c", letter[c & 127]);
	else if (c < 0x20 || c == 0x7f)
		nw_buf_printf(out, "\\u%04x", c);
	else
		nw_buf_addc(out, (char)c);
}

/* Adds a character beyond ASCII as \uXXXX; one beyond U+FFFF as a pair of surrogates. */
static void add_escaped(struct nw_buf *out, uint32_t code)
{
	if (code < 0x10000)
		nw_buf_printf(out, "\\u%04x", code);
	else
		nw_buf_printf(out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
			      0xdc00 + (code & 0x3ff));
}

static void add_string(struct nw_buf *out, const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;

	nw_buf_addc(out, '"');
	while (len) {
		uint32_t code;
		size_t sequence = nw_utf8_decode(at, len, &code);
		if (sequence == 1)
			add_char(out, *at);
		else if (sequence && nw_is_control(code))
			add_escaped(out, code);
		else if (sequence)
			nw_buf_add(out, at, sequence);
		else
			nw_buf_adds(out, "\\ufffd");
		sequence = sequence ? sequence : 1;
		at += sequence;
		len -= sequence;
	}
	nw_buf_addc(out, '"');
}

void nw_json_text(struct nw_json *json, const char *text, size_t len)
{
	separate(json);
	add_string(json->out, text, len);
}

void nw_json_key_bytes(struct nw_json *json, const char *key, size_t len)
{
	separate(json);
	add_string(json->out, key, len);
	nw_buf_addc(json->out, ':');
	json->comma = false;
}

void nw_json_key(struct nw_json *json, const char *key)
{
	nw_json_key_bytes(json, key, strlen(key));
}

void nw_json_raw(struct nw_json *json, const char *text, size_t len)
{
	separate(json);
	nw_buf_add(json->out, text, len);
}

void nw_json_u64(struct nw_json *json, uint64_t value)
{
	separate(json);
	nw_buf_printf(json->out, value > EXACT ? "\"%" PRIu64 "\"" : "%" PRIu64, value);
}

void nw_json_i64(struct nw_json *json, int64_t value)
{
	bool exact = value >= -(int64_t)EXACT && value <= (int64_t)EXACT;

	separate(json);
	nw_buf_printf(json->out, exact ? "%" PRId64 : "\"%" PRId64 "\"", value);
}

void nw_json_real(struct nw_json *json, double value)
{
	char text[32];

	separate(json);
	if (!isfinite(value)) {
		nw_buf_adds(json->out, "null");
		return;
	}
	/* the shortest text that is read back as the same value */
	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	nw_buf_adds(json->out, text);
}

void nw_json_bool(struct nw_json *json, bool value)
{
	separate(json);
	nw_buf_adds(json->out, value ? "true" : "false");
}

void nw_json_null(struct nw_json *json)
{
	separate(json);
	nw_buf_adds(json->out, "null");
}

void nw_json_key_u64(struct nw_json *json, const char *key, uint64_t value)
{
	nw_json_key(json, key);
	nw_json_u64(json, value);
}

void nw_json_key_text(struct nw_json *json, const char *key, const char *text)
{
	nw_json_key(json, key);
	nw_json_text(json, text, strlen(text));
}
