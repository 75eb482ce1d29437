// SPDX-License-Identifier: MIT
/* Small parsers for user input: numbers, durations, sizes, globs, near misses. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

int nw_parse_u64(const char *text, uint64_t *out)
{
	char *end;
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;

	/* strtoull() would accept blanks and signs, and wrap negative numbers */
	if (!isxdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	unsigned long long value = strtoull(text, &end, base);
	if (errno || *end || end == text || (base == 16 && end == text + 2))
		return -EINVAL;
	*out = value;
	return 0;
}

struct unit {
	const char *name;
	double factor;
};

/* A decimal number and one of the units, as a whole number of the smallest unit. */
static int parse_with_unit(const char *text, const struct unit *units, size_t count,
			   uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return -EINVAL;
	if (text[0] == '0' && tolower((unsigned char)text[1]) == 'x')
		return -EINVAL;
	errno = 0;
	double number = strtod(text, &end);
	if (errno || end == text || !isfinite(number))
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		if (strcasecmp(end, units[i].name) != 0)
			continue;
		double value = number * units[i].factor;
		if (value < 1 || value >= 9.2e18)
			return -ERANGE;
		*out = (uint64_t)value;
		return 0;
	}
	return -EINVAL;
}

int nw_parse_duration(const char *text, uint64_t *out_ns)
{
	static const struct unit units[] = {
		{"", 1e9},   {"s", 1e9},  {"ms", 1e6},	 {"us", 1e3},
		{"ns", 1e0}, {"m", 60e9}, {"h", 3600e9},
	};

	return parse_with_unit(text, units, NW_COUNT(units), out_ns);
}

int nw_parse_size(const char *text, uint64_t *out_bytes)
{
	static const struct unit units[] = {
		{"", 1},	{"k", 0x1p10},	{"m", 0x1p20},	{"g", 0x1p30},
		{"kb", 0x1p10}, {"mb", 0x1p20}, {"gb", 0x1p30},
	};

	return parse_with_unit(text, units, NW_COUNT(units), out_bytes);
}

bool nw_has_glob(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

/* Every '__' becomes '-', so that the two spellings compare equal. NULL: out of memory. */
static char *fold_dashes(const char *text)
{
	char *folded = malloc(strlen(text) + 1);
	char *to = folded;

	if (!folded)
		return NULL;
	for (; *text; text++) {
		bool dash = text[0] == '_' && text[1] == '_';
		*to++ = dash ? '-' : *text;
		text += dash;
	}
	*to = '\0';
	return folded;
}

/* As fnmatch(), which is slow where there is nothing to expand: most names are plain. */
static bool matches(const char *pattern, const char *text)
{
	if (!strpbrk(pattern, "*?[\\"))
		return strcmp(pattern, text) == 0;
	return fnmatch(pattern, text, 0) == 0;
}

bool nw_glob_match(const char *pattern, const char *text)
{
	if (matches(pattern, text))
		return true;
	if (!strchr(pattern, '-') && !strchr(text, '-'))
		return false;
	nw_cleanup(nw_free_ptr) char *folded_pattern = fold_dashes(pattern);
	nw_cleanup(nw_free_ptr) char *folded_text = fold_dashes(text);
	return folded_pattern && folded_text && matches(folded_pattern, folded_text);
}

/* Returns the end of a bracket expression that begins here. A "]" that comes first belongs to it. */
static char *skip_bracket(char *at)
{
	at += at[1] == '^' ? 2 : 1;
	char *end = *at ? strchr(at + 1, ']') : NULL;

	return end ? end : at + strlen(at) - 1;
}

char *nw_split_keys(char **rest)
{
	char *part = *rest;
	int depth = 0;

	if (!part)
		return NULL;
	for (char *at = part; *at; at++) {
		if (depth && *at == '\\' && at[1])
			at++;
		else if (depth && *at == '[')
			at = skip_bracket(at);
		else if (*at == '(' || (*at == ')' && depth))
			depth += *at == '(' ? 1 : -1;
		else if (*at == ',' && depth == 0) {
			*at = '\0';
			*rest = at + 1;
			return part;
		}
	}
	*rest = NULL;
	return part;
}

unsigned int nw_edit_distance(const char *a, const char *b)
{
	enum {
		LONGEST = 127
	};
	unsigned int row[LONGEST + 1];
	size_t a_len = strnlen(a, LONGEST), b_len = strnlen(b, LONGEST);

	for (size_t j = 0; j <= b_len; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned int diagonal = row[0];
		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_len; j++) {
			unsigned int best = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[b_len];
}

bool nw_may_mean(const char *word, const char *name)
{
	return nw_edit_distance(word, name) <= nw_max64(strlen(word) / 4, 1);
}

char *nw_absolute_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	nw_cleanup(nw_free_ptr) char *dir = nw_text(
		"%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	nw_cleanup(nw_free_ptr) char *real = dir ? realpath(dir, NULL) : NULL;
	bool is_root = real && strcmp(real, "/") == 0;

	if (!real)
		return dir && !nw_is_shortage(errno) ? strdup(path) : NULL;
	return nw_text("%s/%s", is_root ? "" : real, base);
}
