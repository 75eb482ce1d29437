// SPDX-License-Identifier: MIT
/*
 * Translates Rust's newer mangling ("Rust Symbol Mangling (v0)", RFC 2603 and the rustc book): a path of identifiers
 * with generic arguments. Hashes of crates are omitted, as by Rust's own tools. If anything is not understood, the
 * symbol is not translated.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"

enum {
	DEEPEST = 100,	   /* limited, because back references may nest without end */
	LONGEST = 1 << 14, /* limited, because a short symbol may have a very long name */
};

struct reader {
	const char *name; /* behind "_R" */
	size_t at, len;
	struct nw_buf *out;
	unsigned int depth;
	bool failed;
};

static void path(struct reader *r, bool value);
static void type(struct reader *r);

static char peek(const struct reader *r)
{
	return r->at < r->len ? r->name[r->at] : '\0';
}

static bool eat(struct reader *r, char c)
{
	if (peek(r) != c)
		return false;
	r->at++;
	return true;
}

static char take(struct reader *r)
{
	char c = peek(r);

	r->failed |= !c;
	r->at += c != '\0';
	return c;
}

static bool deeper(struct reader *r)
{
	r->failed |= ++r->depth > DEEPEST || r->out->len > LONGEST || r->out->failed;
	return !r->failed;
}

/* Reads a base-62 number: "_" is 0, "N_" is the number plus one. */
static uint64_t base62(struct reader *r)
{
	uint64_t value = 0;

	if (eat(r, '_'))
		return 0;
	while (!r->failed && !eat(r, '_')) {
		char c = take(r);
		unsigned int digit = isdigit((unsigned char)c) ? (unsigned int)(c - '0')
				     : islower((unsigned char)c)
					     ? (unsigned int)(c - 'a') + 10
				     : isupper((unsigned char)c)
					     ? (unsigned int)(c - 'A') + 36
					     : 62;
		r->failed |= digit == 62 || value > UINT64_MAX / 62 - 62;
		value = value * 62 + digit;
	}
	return value + 1;
}

/* Reads the number that tells equal names apart; 0: there is none. */
static uint64_t disambiguator(struct reader *r)
{
	return eat(r, 's') ? base62(r) + 1 : 0;
}

static void identifier(struct reader *r, const char **text, size_t *len)
{
	size_t count = 0;

	*text = "";
	*len = 0;
	r->failed |= eat(r, 'u'); /* Punycode: not ASCII */
	r->failed |= !isdigit((unsigned char)peek(r));
	if (!eat(r, '0'))
		while (!r->failed && isdigit((unsigned char)peek(r)))
			count = count * 10 + (size_t)(take(r) - '0');
	(void)eat(r, '_');
	if (r->failed || count > r->len - r->at) {
		r->failed = true;
		return;
	}
	*text = r->name + r->at;
	*len = count;
	r->at += count;
}

/* Reads an earlier part of the symbol as if it were here. */
static void back_reference(struct reader *r, void (*read)(struct reader *r))
{
	size_t here = r->at - 1, to = base62(r), behind = r->at;

	r->failed |= to >= here;
	if (r->failed)
		return;
	r->at = to;
	read(r);
	r->at = behind;
}

static void value_path(struct reader *r)
{
	path(r, true);
}

static void type_path(struct reader *r)
{
	path(r, false);
}

static void lifetime(struct reader *r)
{
	(void)base62(r);
	nw_buf_adds(r->out, "'_");
}

static void constant(struct reader *r)
{
	if (eat(r, 'B')) {
		back_reference(r, constant);
		return;
	}
	if (eat(r, 'p')) {
		nw_buf_addc(r->out, '_');
		return;
	}
	char kind = take(r);
	nw_buf_adds(r->out, eat(r, 'n') ? "-" : "");
	size_t begin = r->at;
	while (!r->failed && peek(r) != '_')
		take(r);
	uint64_t number = r->at - begin <= 16 ? strtoull(r->name + begin, NULL, 16) : 0;
	(void)eat(r, '_');
	if (kind == 'b')
		nw_buf_adds(r->out, number ? "true" : "false");
	else
		nw_buf_printf(r->out, "%ju", number);
}

static void generic_arguments(struct reader *r)
{
	nw_buf_addc(r->out, '<');
	for (bool first = true; !r->failed && !eat(r, 'E'); first = false) {
		if (!first)
			nw_buf_adds(r->out, ", ");
		if (eat(r, 'L'))
			lifetime(r);
		else if (eat(r, 'K'))
			constant(r);
		else
			type(r);
	}
	nw_buf_addc(r->out, '>');
}

/* Reads the path of an impl without showing it: only its type is shown. */
static void skip_path(struct reader *r)
{
	size_t len = r->out->len;

	(void)disambiguator(r);
	path(r, false);
	if (r->out->data && len <= r->out->len) {
		r->out->len = len;
		r->out->data[len] = '\0';
	}
}

static void nested(struct reader *r, bool value)
{
	char space = take(r);
	const char *text;
	size_t len;

	path(r, value);
	uint64_t number = disambiguator(r);
	identifier(r, &text, &len);
	if (!isupper((unsigned char)space)) {
		if (len)
			nw_buf_printf(r->out, "::%.*s", (int)len, text);
		return;
	}
	nw_buf_printf(r->out, "::{%s",
		      space == 'C'   ? "closure"
		      : space == 'S' ? "shim"
				     : "?");
	if (len)
		nw_buf_printf(r->out, ":%.*s", (int)len, text);
	nw_buf_printf(r->out, "#%ju}", number);
}

static void path(struct reader *r, bool value)
{
	const char *text;
	size_t len;

	if (!deeper(r))
		return;
	switch (take(r)) {
	case 'C':
		(void)disambiguator(r);
		identifier(r, &text, &len);
		nw_buf_add(r->out, text, len);
		break;
	case 'M':
		skip_path(r);
		nw_buf_addc(r->out, '<');
		type(r);
		nw_buf_addc(r->out, '>');
		break;
	case 'X':
		skip_path(r);
		/* fall through */
	case 'Y':
		nw_buf_addc(r->out, '<');
		type(r);
		nw_buf_adds(r->out, " as ");
		path(r, false);
		nw_buf_addc(r->out, '>');
		break;
	case 'N':
		nested(r, value);
		break;
	case 'I':
		path(r, value);
		nw_buf_adds(r->out, value ? "::" : "");
		generic_arguments(r);
		break;
	case 'B':
		back_reference(r, value ? value_path : type_path);
		break;
	default:
		r->failed = true;
	}
	r->depth--;
}

static const char *basic_type(char c)
{
	static const char *const names[26] = {
		"i8",	 "bool", "char", "f64", "str",	"f32",	NULL,  "u8", "isize",
		"usize", NULL,	 "i32",	 "u32", "i128", "u128", "_",   NULL, NULL,
		"i16",	 "u16",	 "()",	 "...", NULL,	"i64",	"u64", "!"};

	return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static void tuple(struct reader *r)
{
	unsigned int count = 0;

	nw_buf_addc(r->out, '(');
	for (; !r->failed && !eat(r, 'E'); count++) {
		nw_buf_adds(r->out, count ? ", " : "");
		type(r);
	}
	nw_buf_adds(r->out, count == 1 ? ",)" : ")");
}

static void function_type(struct reader *r)
{
	const char *text;
	size_t len;

	if (eat(r, 'G'))
		(void)base62(r);
	nw_buf_adds(r->out, eat(r, 'U') ? "unsafe " : "");
	if (eat(r, 'K')) {
		nw_buf_adds(r->out, "extern \"");
		if (eat(r, 'C')) {
			nw_buf_addc(r->out, 'C');
		} else {
			identifier(r, &text, &len);
			nw_buf_add(r->out, text, len);
		}
		nw_buf_adds(r->out, "\" ");
	}
	nw_buf_adds(r->out, "fn(");
	for (bool first = true; !r->failed && !eat(r, 'E'); first = false) {
		nw_buf_adds(r->out, first ? "" : ", ");
		type(r);
	}
	nw_buf_addc(r->out, ')');
	if (eat(r, 'u'))
		return;
	nw_buf_adds(r->out, " -> ");
	type(r);
}

/* Reads "dyn Trait<A, Name = Type> + Other + 'a". */
static void object_type(struct reader *r)
{
	const char *text;
	size_t len;

	if (eat(r, 'G'))
		(void)base62(r);
	nw_buf_adds(r->out, "dyn ");
	for (bool first = true; !r->failed && !eat(r, 'E'); first = false) {
		nw_buf_adds(r->out, first ? "" : " + ");
		path(r, false);
		bool named = false;
		while (!r->failed && eat(r, 'p')) {
			/* Named arguments follow the arguments without names. */
			bool more = named;
			if (!named && r->out->len && r->out->data[r->out->len - 1] == '>') {
				nw_buf_cut(r->out, r->out->len - 1);
				more = true;
			}
			named = true;
			identifier(r, &text, &len);
			nw_buf_printf(r->out, "%s%.*s = ", more ? ", " : "<", (int)len,
				      text);
			type(r);
		}
		nw_buf_adds(r->out, named ? ">" : "");
	}
	r->failed |= !eat(r, 'L');
	(void)base62(r);
}

static void type(struct reader *r)
{
	const char *basic = basic_type(peek(r));

	if (!deeper(r))
		return;
	if (basic) {
		take(r);
		nw_buf_adds(r->out, basic);
		r->depth--;
		return;
	}
	switch (take(r)) {
	case 'R':
	case 'Q':
		nw_buf_adds(r->out, r->name[r->at - 1] == 'Q' ? "&mut " : "&");
		if (eat(r, 'L'))
			(void)base62(r);
		type(r);
		break;
	case 'P':
	case 'O':
		nw_buf_adds(r->out, r->name[r->at - 1] == 'O' ? "*mut " : "*const ");
		type(r);
		break;
	case 'A':
	case 'S':
		nw_buf_addc(r->out, '[');
		bool array = r->name[r->at - 1] == 'A';
		type(r);
		if (array) {
			nw_buf_adds(r->out, "; ");
			constant(r);
		}
		nw_buf_addc(r->out, ']');
		break;
	case 'T':
		tuple(r);
		break;
	case 'F':
		function_type(r);
		break;
	case 'D':
		object_type(r);
		break;
	case 'B':
		back_reference(r, type);
		break;
	default:
		r->at--;
		path(r, false);
	}
	r->depth--;
}

char *nw_demangle_rust(const char *name)
{
	struct nw_buf out = {0};
	struct reader r = {.name = name + 2, .out = &out};

	r.len = strcspn(r.name, ".$"); /* a suffix of LLVM is no part of the symbol */
	path(&r, true);
	if (!r.failed && !out.failed && out.len)
		return nw_buf_take(&out);
	nw_buf_free(&out);
	return NULL;
}
