// SPDX-License-Identifier: MIT
/* See member.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "member.h"

int nw_member_parse(const char *text, struct nw_member *out, const char **why)
{
	static const char word[] = "json(";
	const size_t begin = sizeof(word) - 1, len = strlen(text);

	*out = (struct nw_member){0};
	if (strncmp(text, word, begin) != 0)
		return 0;
	const char *comma = strchr(text, ',');
	*why = "write json(ARG, PATH), as in json(arg0, ok.val)";
	if (!comma || text[len - 1] != ')')
		return -EINVAL;
	const char *path = comma + 1 + strspn(comma + 1, " ");
	const char *arg = text + begin + strspn(text + begin, " ");
	out->arg = strndup(arg, (size_t)(comma - arg));
	out->path = strndup(path, len - 1 - (size_t)(path - text));
	if (!out->arg || !out->path) {
		nw_member_free(out);
		return -ENOMEM;
	}
	for (size_t i = strlen(out->arg); i && out->arg[i - 1] == ' '; i--)
		out->arg[i - 1] = '\0';
	bool valid = *out->arg && nw_json_is_path(out->path);
	if (*out->arg)
		*why = "a path is names and numbers, such as ok.val or rows[0].id";
	if (!valid)
		nw_member_free(out);
	return valid ? 1 : -EINVAL;
}

void nw_member_free(struct nw_member *member)
{
	free(member->arg);
	free(member->path);
	*member = (struct nw_member){0};
}

/* Reads a number of JSON. Returns false if the text is none, or if it is an integer that has no room. */
static bool read_number(const struct nw_json_part *part, struct nw_value *out)
{
	char text[64], *end;

	if (part->len >= sizeof(text) || !strchr("-0123456789", *part->text))
		return false;
	memcpy(text, part->text, part->len);
	text[part->len] = '\0';
	if (text[strspn(text, "+-.0123456789eE")])
		return false;
	bool integer = text[1 + strspn(text + 1, "0123456789")] == '\0';
	errno = 0;
	*out = (struct nw_value){.kind = NW_VALUE_FLOAT, .bits = 64};
	if (integer && *text == '-') {
		out->kind = NW_VALUE_SIGNED;
		out->number = (uint64_t)strtoll(text, &end, 10);
	} else if (integer) {
		out->kind = NW_VALUE_UNSIGNED;
		out->number = strtoull(text, &end, 10);
	} else {
		out->real = strtod(text, &end);
	}
	return errno == 0 && end > text && !*end;
}

struct nw_value nw_member_value(const struct nw_member *member,
				const struct nw_value *string, struct nw_buf *decoded)
{
	struct nw_value value = {.kind = NW_VALUE_MISSING, .text = "no such member"};
	struct nw_json_part part;

	nw_buf_clear(decoded);
	if (string->kind != NW_VALUE_STRING)
		return *string;
	enum nw_json_search found = nw_json_find(string->text, string->len, member->path,
						 &part);
	if (found == NW_JSON_CUT && string->cut)
		return (struct nw_value){.kind = NW_VALUE_STRING, .text = "", .cut = true};
	if (found != NW_JSON_FOUND)
		return value;
	const bool cut = part.cut && string->cut;
	if (!part.is_string && !cut && read_number(&part, &value))
		return value;
	value = (struct nw_value){.kind = NW_VALUE_STRING,
				  .text = part.text,
				  .len = (uint32_t)part.len,
				  .cut = cut,
				  .untrusted = string->untrusted || (part.cut && !cut)};
	if (part.is_string && memchr(part.text, '\\', part.len)) {
		nw_json_unescape(part.text, part.len, decoded);
		value.text = nw_buf_str(decoded);
		value.len = (uint32_t)decoded->len;
	}
	return value;
}
