/* SPDX-License-Identifier: MIT */
/* The writer of JSON. */
#ifndef NOPWATCH_BASE_JSON_WRITER_H
#define NOPWATCH_BASE_JSON_WRITER_H

#include "base/base.h"

/*
 * A streaming writer: it writes commas and escapes, the caller sees to nesting. Integers that a double cannot hold
 * exactly (beyond 2^53) become strings; bytes that are not UTF-8 become U+FFFD.
 */
struct nw_json {
	struct nw_buf *out;
	bool comma; /* a comma comes before the next key or element */
};

void nw_json_open(struct nw_json *json, char bracket); /* '{' or '[' */
void nw_json_close(struct nw_json *json, char bracket);
void nw_json_key(struct nw_json *json, const char *key);
void nw_json_key_bytes(struct nw_json *json, const char *key, size_t len);
/* Adds an object or array that this writer has written before. */
void nw_json_raw(struct nw_json *json, const char *text, size_t len);
void nw_json_u64(struct nw_json *json, uint64_t value);
void nw_json_i64(struct nw_json *json, int64_t value);
void nw_json_real(struct nw_json *json, double value);
void nw_json_bool(struct nw_json *json, bool value);
void nw_json_null(struct nw_json *json);
void nw_json_text(struct nw_json *json, const char *text, size_t len);
/* These write a key and its value. */
void nw_json_key_u64(struct nw_json *json, const char *key, uint64_t value);
void nw_json_key_text(struct nw_json *json, const char *key, const char *text);

#endif
