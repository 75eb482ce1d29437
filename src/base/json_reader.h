/* SPDX-License-Identifier: MIT */
/*
 * Reads JSON text. The text may be anybody's: it may nest NW_JSON_MOST_DEPTH deep, and its values take ten to forty times
 * its length in memory, so callers limit the length.
 */
#ifndef NOPWATCH_BASE_JSON_READER_H
#define NOPWATCH_BASE_JSON_READER_H

#include "base.h"

enum {
	NW_JSON_MOST_DEPTH = 32
};

/* A value, and what it contains: an object, an array, a text, a number, true, false. JSON's null is NULL. */
typedef struct nw_json_value nw_json_value;

/*
 * Reads one value, which the caller frees by nw_json_value_free(). -EINVAL: the text is not JSON, and the error tells why;
 * -ENODATA: it ends in the middle of a value; -ENOMEM.
 */
int nw_json_read(const char *text, size_t len, nw_json_value **out, struct nw_error *err);
void nw_json_value_free(nw_json_value *value); /* also accepts NULL */

/* The functions below accept any value, also NULL, and then have no result. */
/* Returns the member of an object, valid as long as the whole. NULL: there is none, or it is null. */
const nw_json_value *nw_json_member(const nw_json_value *object, const char *key);
/* Walks the members of an object in their order. *at starts at NULL. Returns the key; NULL: there are no more. */
const char *nw_json_next_member(const nw_json_value *object, void **at,
				const nw_json_value **value);
/* The elements of an array. */
size_t nw_json_length(const nw_json_value *array);
const nw_json_value *nw_json_element(const nw_json_value *array, size_t index);
/* Returns a text, which ends with a NUL that does not count in *len; its escape \u0000 is U+FFFD. NULL: the value is no text. */
const char *nw_json_string(const nw_json_value *value, size_t *len);
/* Is it a whole number, perhaps written as a text because it is above 2^53? */
bool nw_json_unsigned(const nw_json_value *value, uint64_t *out);
bool nw_json_signed(const nw_json_value *value, int64_t *out);
/* Is it a number? */
bool nw_json_double(const nw_json_value *value, double *out);
bool nw_json_is_true(const nw_json_value *value);

#endif
