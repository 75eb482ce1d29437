/* SPDX-License-Identifier: MIT */
/* measure/spans: "json(ARG, PATH)", a member of an argument that is JSON, for filters and groups. */
#ifndef NOPWATCH_MEASURE_SPANS_MEMBER_H
#define NOPWATCH_MEASURE_SPANS_MEMBER_H

#include "base/json_find.h"
#include "stream/pages/stream.h"

/* Zeroed: it is none. */
struct nw_member {
	char *arg, *path;
};

/* Reads "json(ARG, PATH)". Returns 1; 0: the text is something else; -EINVAL: it begins so, and *why tells what is wrong;
 * -ENOMEM. */
int nw_member_parse(const char *text, struct nw_member *out, const char **why);
void nw_member_free(struct nw_member *member);
/*
 * Finds the member in a string: a number, or a STRING for a string, true, false, null, an object or an array. It is cut if
 * it is not whole, and MISSING if it is not there. decoded: cleared, and holds the text of the value if that has escapes.
 */
struct nw_value nw_member_value(const struct nw_member *member,
				const struct nw_value *string, struct nw_buf *decoded);

#endif
