// SPDX-License-Identifier: MIT
/*
 * Finds one member of a JSON text without reading the rest of it into memory: the text may be hostile, and cut at any
 * byte. Nothing nests here but a counter, each byte is looked at once, and nothing is allocated but for names with
 * escapes. What lies beside the way to the member is passed over by its strings and brackets, not checked.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json_find.h"

struct scan {
	const char *at, *end;
};

static void skip_blanks(struct scan *s)
{
	while (s->at < s->end && strchr(" \t\n\r", *s->at) && *s->at)
		s->at++;
}

/* Moves behind a string; false: the text ends inside it. */
static bool skip_string(struct scan *s)
{
	for (s->at++; s->at < s->end; s->at++) {
		if (*s->at == '"') {
			s->at++;
			return true;
		}
		if (*s->at == '\\' && s->at + 1 < s->end)
			s->at++;
	}
	return false;
}

/* Moves behind an object or an array; false: the text ends inside it. */
static bool skip_nested(struct scan *s)
{
	size_t depth = 0;

	while (s->at < s->end) {
		char c = *s->at;
		if (c == '"') {
			if (!skip_string(s))
				return false;
			continue;
		}
		s->at++;
		depth += c == '{' || c == '[';
		depth -= (c == '}' || c == ']') && depth;
		if (!depth)
			return true;
	}
	return false;
}

/* Moves behind a number, true, false or null; false: the text ends behind it, where more may have been cut. */
static bool skip_word(struct scan *s)
{
	while (s->at < s->end && !strchr(",]}: \t\n\r\"[{", *s->at))
		s->at++;
	return s->at < s->end;
}

static bool skip_value(struct scan *s)
{
	return *s->at == '"'			? skip_string(s)
	       : *s->at == '{' || *s->at == '[' ? skip_nested(s)
						: skip_word(s);
}

/* ---- strings ------------------------------------------------------------------------ */

static bool hex4(const char *at, const char *end, uint32_t *out)
{
	*out = 0;
	if (end - at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		const char *digit = strchr("0123456789abcdefABCDEF", at[i]);
		if (!at[i] || !digit)
			return false;
		size_t value = (size_t)(digit - "0123456789abcdefABCDEF");
		*out = *out << 4 | (uint32_t)(value > 15 ? value - 6 : value);
	}
	return true;
}

/* Decodes \uXXXX, or two of them that are one character. Returns the bytes behind the backslash; 0: it is none. */
static size_t unescape_unicode(const char *at, const char *end, struct nw_buf *out)
{
	uint32_t code, low;
	size_t len = 5;
	char utf8[4];

	if (!hex4(at + 1, end, &code))
		return 0;
	if (code >> 10 == 0x36 && end - at >= 11 && at[5] == '\\' && at[6] == 'u' &&
	    hex4(at + 7, end, &low) && low >> 10 == 0x37) {
		code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
		len = 11;
	}
	if (code >> 11 == 0x1b || !code) /* half a character, or the end of a C string */
		code = 0xfffd;
	nw_buf_add(out, utf8, nw_utf8_encode(code, utf8));
	return len;
}

void nw_json_unescape(const char *text, size_t len, struct nw_buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";

	for (const char *end = text + len; text < end;) {
		const char *plain = memchr(text, '\\', (size_t)(end - text));
		nw_buf_add(out, text, (size_t)((plain ? plain : end) - text));
		if (!plain)
			return;
		text = plain + 1;
		const char *known = text < end && *text ? strchr(from, *text) : NULL;
		size_t taken = text < end && *text == 'u' ? unescape_unicode(text, end, out)
							  : (size_t)(known != NULL);
		if (known)
			nw_buf_addc(out, to[known - from]);
		if (!taken) /* no escape of JSON: it stays */
			nw_buf_addc(out, '\\');
		text += taken;
	}
}

static bool is_name(const char *text, size_t len, const char *name, size_t name_len)
{
	struct nw_buf plain = {0};

	if (!memchr(text, '\\', len))
		return len == name_len && memcmp(text, name, len) == 0;
	nw_json_unescape(text, len, &plain);
	bool same = plain.len == name_len &&
		    memcmp(nw_buf_str(&plain), name, name_len) == 0;
	nw_buf_free(&plain);
	return same;
}

/* ---- the way to the member ---------------------------------------------------------- */

/* Moves to what stands behind a "," in an object or array. */
static enum nw_json_search next(struct scan *s, char close)
{
	skip_blanks(s);
	if (s->at == s->end)
		return NW_JSON_CUT;
	if (*s->at == close)
		return NW_JSON_MISSING;
	if (*s->at != ',')
		return NW_JSON_BROKEN;
	s->at++;
	skip_blanks(s);
	return s->at == s->end ? NW_JSON_CUT : NW_JSON_FOUND;
}

static enum nw_json_search enter(struct scan *s, char open, char close)
{
	if (*s->at != open)
		return NW_JSON_MISSING;
	s->at++;
	skip_blanks(s);
	if (s->at == s->end)
		return NW_JSON_CUT;
	return *s->at == close ? NW_JSON_MISSING : NW_JSON_FOUND;
}

static enum nw_json_search find_member(struct scan *s, const char *name, size_t len)
{
	enum nw_json_search ret = enter(s, '{', '}');

	for (; ret == NW_JSON_FOUND; ret = next(s, '}')) {
		const char *key = s->at + 1;
		if (*s->at != '"')
			return NW_JSON_BROKEN;
		if (!skip_string(s))
			return NW_JSON_CUT;
		bool same = is_name(key, (size_t)(s->at - key - 1), name, len);
		skip_blanks(s);
		if (s->at < s->end && *s->at != ':')
			return NW_JSON_BROKEN;
		s->at += s->at < s->end;
		skip_blanks(s);
		if (s->at == s->end)
			return NW_JSON_CUT;
		if (same)
			return NW_JSON_FOUND;
		if (!skip_value(s))
			return NW_JSON_CUT;
	}
	return ret;
}

static enum nw_json_search find_element(struct scan *s, uint64_t number)
{
	enum nw_json_search ret = enter(s, '[', ']');

	for (; ret == NW_JSON_FOUND && number; number--) {
		if (!skip_value(s))
			return NW_JSON_CUT;
		ret = next(s, ']');
	}
	return ret;
}

/* Takes one step of the path: "name", or "[number]". */
static enum nw_json_search step(struct scan *s, const char **path)
{
	if (**path == '[') {
		uint64_t number = strtoull(*path + 1, NULL, 10);
		*path += strcspn(*path, "]") + 1;
		*path += **path == '.';
		return find_element(s, number);
	}
	size_t len = strcspn(*path, ".[");
	const char *name = *path;
	*path += len;
	*path += **path == '.';
	return find_member(s, name, len);
}

enum nw_json_search nw_json_find(const char *text, size_t len, const char *path,
				 struct nw_json_part *out)
{
	struct scan s = {text, text + len};
	enum nw_json_search ret = NW_JSON_FOUND;

	skip_blanks(&s);
	if (s.at == s.end)
		return NW_JSON_CUT;
	while (*path && ret == NW_JSON_FOUND)
		ret = step(&s, &path);
	if (ret != NW_JSON_FOUND)
		return ret;
	*out = (struct nw_json_part){.text = s.at};
	out->is_string = *s.at == '"';
	bool nested = *s.at == '{' || *s.at == '[';
	out->cut = !skip_value(&s) && (out->is_string || nested || *path == '\0');
	out->text += out->is_string;
	out->len = (size_t)(s.at - out->text) - (out->is_string && !out->cut);
	return out->len || out->is_string ? NW_JSON_FOUND : NW_JSON_BROKEN;
}

bool nw_json_is_path(const char *path)
{
	bool name = false;

	if (!*path)
		return false;
	while (*path) {
		if (*path == '[') {
			size_t digits = strspn(path + 1, "0123456789");
			if (digits < 1 || digits > 9 || path[digits + 1] != ']')
				return false;
			path += digits + 2;
			name = true;
			if (*path == '.' && !path[1])
				return false;
			path += *path == '.';
			continue;
		}
		size_t len = strcspn(path, ".[");
		if (!len || (path[len] == '.' && (!path[len + 1] || path[len + 1] == '[')))
			return false;
		path += len;
		path += *path == '.';
		name = true;
	}
	return name;
}
