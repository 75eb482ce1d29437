/* SPDX-License-Identifier: MIT */
/* One member of a JSON text, which a traced program has written and which may be cut. */
#ifndef NOPWATCH_BASE_JSON_FIND_H
#define NOPWATCH_BASE_JSON_FIND_H

#include "base/base.h"

enum nw_json_search {
	NW_JSON_FOUND,
	NW_JSON_MISSING, /* there is no such member */
	NW_JSON_CUT,	 /* the text ends before the member */
	NW_JSON_BROKEN,	 /* the text is no JSON */
};

/* A value in the text: a number, true, false, null, or an object or array as it is written; or the inside of a string. */
struct nw_json_part {
	const char *text;
	size_t len;
	bool is_string; /* nw_json_unescape() decodes it */
	bool cut; /* the text ends inside the value, or so close behind it that a number may go on */
};

/* Is it a path: "a", "a.b", "a[3].b", "[0]"? A name may have any characters but . and [. */
bool nw_json_is_path(const char *path);
/* Finds the value of a path; of several members of one name, the first. */
enum nw_json_search nw_json_find(const char *text, size_t len, const char *path,
				 struct nw_json_part *out);
/* Appends the inside of a string, decoded to UTF-8. Escapes that JSON does not have stay as they are. */
void nw_json_unescape(const char *text, size_t len, struct nw_buf *out);

#endif
