// SPDX-License-Identifier: MIT
/*
 * See json_reader.h. json-c is not used: it reads through NULL, or reads a null in place of a value, when memory runs out
 * (docs/dev/upstream.md).
 */
#include "json_reader.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json_find.h"

enum {
	LONGEST_NUMBER = 512
};

enum kind {
	TEXT,
	WHOLE, /* a number without a point and an exponent that fits into 64 bits */
	DOUBLE,
	BOOLEAN,
	ARRAY,
	OBJECT
};

struct member {
	nw_json_value *value; /* NULL: null */
	char *key;	      /* NULL in an array */
};

struct nw_json_value {
	enum kind kind;
	bool negative; /* WHOLE: -number; BOOLEAN: unused */
	union {
		struct {
			char *text;
			size_t len;
		};
		uint64_t number; /* BOOLEAN: 1: true */
		double real;
		NW_VEC(struct member) members;
	};
};

struct scan {
	const char *at, *end;
	unsigned int depth;
	struct nw_error *err;
};

static int wrong(struct scan *s, const char *what)
{
	return s->at == s->end ? nw_fail(s->err, ENODATA,
					 "not JSON: it ends in the middle of a value")
			       : nw_fail(s->err, EINVAL, "not JSON: %s", what);
}

static void skip_blanks(struct scan *s)
{
	while (s->at < s->end &&
	       (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
		s->at++;
}

static bool take(struct scan *s, char c)
{
	bool there = s->at < s->end && *s->at == c;

	s->at += there;
	return there;
}

static nw_json_value *make(enum kind kind)
{
	nw_json_value *value = calloc(1, sizeof(*value));

	if (value)
		value->kind = kind;
	return value;
}

/* Moves behind an escape: a letter, or u and four digits. */
static bool skip_escape(struct scan *s)
{
	const bool digits = ++s->at < s->end && *s->at == 'u';

	if (s->at < s->end && (!*s->at || !strchr("\"\\/bfnrtu", *s->at)))
		return false;
	s->at += s->at < s->end;
	for (int i = 0; digits && i < 4 && s->at < s->end; i++, s->at++)
		if (!isxdigit((unsigned char)*s->at))
			return false;
	return true;
}

/* Reads a string; at: its opening quote. */
static int read_text(struct scan *s, char **out, size_t *len)
{
	const char *begin = ++s->at;
	struct nw_buf text = {0};

	while (s->at < s->end && *s->at != '"') {
		if ((unsigned char)*s->at < ' ')
			return wrong(s, "a control character in a string");
		if (*s->at != '\\')
			s->at++;
		else if (!skip_escape(s))
			return wrong(s, "an unknown escape in a string");
	}
	if (s->at >= s->end)
		return wrong(s, "");
	nw_json_unescape(begin, (size_t)(s->at++ - begin), &text);
	*len = text.len;
	*out = text.failed ? NULL : nw_buf_take(&text);
	return *out ? 0 : nw_no_memory(s->err);
}

/* ---- numbers and words -------------------------------------------------------------- */

static bool skip_digits(struct scan *s)
{
	const char *begin = s->at;

	while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
		s->at++;
	return s->at > begin;
}

/* Moves behind a number. *whole: it has neither a point nor an exponent. */
static bool skip_number(struct scan *s, bool *whole)
{
	(void)take(s, '-');
	if (!take(s, '0') && !skip_digits(s))
		return false;
	*whole = true;
	if (take(s, '.')) {
		*whole = false;
		if (!skip_digits(s))
			return false;
	}
	if (take(s, 'e') || take(s, 'E')) {
		*whole = false;
		if (!take(s, '+'))
			(void)take(s, '-');
		return skip_digits(s);
	}
	return true;
}

static int read_number(struct scan *s, nw_json_value **out)
{
	const char *begin = s->at;
	char text[LONGEST_NUMBER];
	bool whole;

	if (!skip_number(s, &whole))
		return wrong(s, "an unknown word or number");
	const size_t len = (size_t)(s->at - begin);
	if (len >= sizeof(text))
		return nw_fail(s->err, EINVAL, "not JSON: a number has more than %d digits",
			       LONGEST_NUMBER);
	memcpy(text, begin, len);
	text[len] = '\0';
	nw_json_value *value = *out = make(DOUBLE);
	if (!value)
		return nw_no_memory(s->err);
	value->negative = *text == '-';
	errno = 0;
	value->number = whole ? strtoull(text + value->negative, NULL, 10) : 0;
	if (whole && !errno)
		value->kind = WHOLE;
	else
		value->real = strtod(text, NULL);
	return 0;
}

/* Reads true, false or null, which is no value; else a number. */
static int read_word(struct scan *s, nw_json_value **out)
{
	static const char *const words[] = {"null", "false", "true"};

	for (size_t i = 0; i < NW_COUNT(words); i++) {
		const size_t left = (size_t)(s->end - s->at);
		const size_t len = nw_min64(left, strlen(words[i]));
		if (!len || memcmp(s->at, words[i], len) != 0)
			continue;
		s->at += len;
		if (len < strlen(words[i]))
			return wrong(s, "");
		if (i == 0)
			return 0;
		*out = make(BOOLEAN);
		if (!*out)
			return nw_no_memory(s->err);
		(*out)->number = i - 1;
		return 0;
	}
	return read_number(s, out);
}

/* ---- objects and arrays ------------------------------------------------------------- */

static int read_value(struct scan *s, nw_json_value **out);

static int read_key(struct scan *s, char **out)
{
	size_t len;

	skip_blanks(s);
	if (s->at == s->end || *s->at != '"')
		return wrong(s, "a member of an object has no name");
	int ret = read_text(s, out, &len);
	if (ret < 0)
		return ret;
	skip_blanks(s);
	return take(s, ':') ? 0 : wrong(s, "no ':' behind the name of a member");
}

/* Reads an object or an array; at: its opening bracket. */
static int read_members(struct scan *s, enum kind kind, nw_json_value **out)
{
	const char close = kind == OBJECT ? '}' : ']';
	nw_json_value *all = *out = make(kind);

	if (!all)
		return nw_no_memory(s->err);
	if (++s->depth > NW_JSON_MOST_DEPTH)
		return nw_fail(s->err, EINVAL, "not JSON: it is nested too deep");
	s->at++;
	skip_blanks(s);
	for (bool first = true; !first || !take(s, close); first = false) {
		struct member *member = nw_vec_add(&all->members);
		if (!member)
			return nw_no_memory(s->err);
		*member = (struct member){NULL, NULL};
		int ret = kind == OBJECT ? read_key(s, &member->key) : 0;
		if (ret == 0)
			ret = read_value(s, &member->value);
		if (ret < 0)
			return ret;
		skip_blanks(s);
		if (take(s, close))
			break;
		if (!take(s, ','))
			return wrong(s, "no ',' between two values");
	}
	s->depth--;
	return 0;
}

static int read_value(struct scan *s, nw_json_value **out)
{
	skip_blanks(s);
	if (s->at == s->end)
		return wrong(s, "");
	if (*s->at == '{' || *s->at == '[')
		return read_members(s, *s->at == '{' ? OBJECT : ARRAY, out);
	if (*s->at != '"')
		return read_word(s, out);
	*out = make(TEXT);
	return *out ? read_text(s, &(*out)->text, &(*out)->len) : nw_no_memory(s->err);
}

int nw_json_read(const char *text, size_t len, nw_json_value **out, struct nw_error *err)
{
	struct scan s = {text, text + len, 0, err};

	*out = NULL;
	int ret = read_value(&s, out);
	skip_blanks(&s);
	if (ret == 0 && s.at < s.end)
		ret = wrong(&s, "there is more behind its value");
	if (ret < 0) {
		nw_json_value_free(*out);
		*out = NULL;
	}
	return ret;
}

void nw_json_value_free(nw_json_value *value)
{
	if (!value)
		return;
	if (value->kind == TEXT)
		free(value->text);
	if (value->kind == ARRAY || value->kind == OBJECT) {
		nw_vec_each (&value->members, member) {
			free(member->key);
			nw_json_value_free(member->value);
		}
		nw_vec_free(&value->members);
	}
	free(value);
}

/* ---- values ------------------------------------------------------------------------- */

static bool is(const nw_json_value *value, enum kind kind)
{
	return value && value->kind == kind;
}

/* If two members have one name, the last one counts. */
const nw_json_value *nw_json_member(const nw_json_value *object, const char *key)
{
	for (size_t i = is(object, OBJECT) ? object->members.count : 0; i-- > 0;)
		if (strcmp(object->members.item[i].key, key) == 0)
			return object->members.item[i].value;
	return NULL;
}

const char *nw_json_next_member(const nw_json_value *object, void **at,
				const nw_json_value **value)
{
	if (!is(object, OBJECT) || !object->members.count)
		return NULL;
	struct member *next = *at ? (struct member *)*at + 1 : object->members.item;
	if (next == object->members.item + object->members.count)
		return NULL;
	*at = next;
	*value = next->value;
	return next->key;
}

size_t nw_json_length(const nw_json_value *array)
{
	return is(array, ARRAY) ? array->members.count : 0;
}

const nw_json_value *nw_json_element(const nw_json_value *array, size_t index)
{
	return index < nw_json_length(array) ? array->members.item[index].value : NULL;
}

const char *nw_json_string(const nw_json_value *value, size_t *len)
{
	*len = is(value, TEXT) ? value->len : 0;
	return is(value, TEXT) ? value->text : NULL;
}

bool nw_json_signed(const nw_json_value *value, int64_t *out)
{
	size_t len;
	char *end;

	if (is(value, WHOLE)) {
		*out = (int64_t)(value->negative ? 0 - value->number : value->number);
		return value->number <= INT64_MAX;
	}
	const char *text = nw_json_string(value, &len);
	errno = 0;
	*out = text ? strtoll(text, &end, 10) : 0;
	return text && len && !errno && *end == '\0' && end == text + len && *text != ' ' &&
	       *text != '+';
}

bool nw_json_unsigned(const nw_json_value *value, uint64_t *out)
{
	size_t len;
	char *end;

	if (is(value, WHOLE)) {
		*out = value->negative ? 0 : value->number;
		return *out == value->number;
	}
	const char *text = nw_json_string(value, &len);
	errno = 0;
	*out = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	return text && *text >= '0' && *text <= '9' && !errno && end == text + len;
}

bool nw_json_double(const nw_json_value *value, double *out)
{
	*out = is(value, DOUBLE)   ? value->real
	       : !is(value, WHOLE) ? 0
	       : value->negative   ? -(double)value->number
				   : (double)value->number;
	return is(value, DOUBLE) || is(value, WHOLE);
}

bool nw_json_is_true(const nw_json_value *value)
{
	return is(value, BOOLEAN) && value->number;
}
