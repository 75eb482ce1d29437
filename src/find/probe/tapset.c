// SPDX-License-Identifier: MIT
/*
 * SystemTap's tapsets (stap(1), "PROBES"), as far as they describe USDT probes:
 *
 *    probe x.y = process("libjvm.so").provider("hotspot").mark("gc__begin") ?
 *    {
 *            is_full = $arg1
 *            sql = user_string($arg2);
 *    }
 *
 * Names come from assignments of $argN, and string types from user_string() and the like. A tapset is a program;
 * everything else in it is skipped, as long as its brackets pair.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"

enum {
	MOST_MARKS = 64, /* of one probe */
	MOST_ARGS = 64,
};

/* One process("P").mark("M"). */
struct mark {
	struct nw_token program, provider, name;
};

struct marks {
	struct mark mark[MOST_MARKS];
	size_t count;
};

/* ---- probe points ------------------------------------------------------------------- */

/* Takes the "NAME" in parentheses behind a word. The scan is at the word, and then behind the parentheses. */
static int take_parameter(struct nw_scan *scan, struct nw_token *out)
{
	int ret = nw_scan_next(scan);

	*out = (struct nw_token){0};
	if (ret < 0 || !nw_token_is(&scan->token, "("))
		return ret;
	struct nw_token inner = nw_scan_peek(scan);
	if (inner.kind == NW_TOKEN_STRING)
		*out = inner;
	return nw_scan_skip_balanced(scan);
}

/* Takes one component of a probe point. The scan is at its word. */
static int take_component(struct nw_scan *scan, struct mark *mark)
{
	struct nw_token word = scan->token, parameter;
	int ret = take_parameter(scan, &parameter);

	if (ret < 0)
		return ret;
	if (nw_token_is(&word, "process") || nw_token_is(&word, "library"))
		mark->program = parameter;
	else if (nw_token_is(&word, "provider"))
		mark->provider = parameter;
	else if (nw_token_is(&word, "mark"))
		mark->name = parameter;
	return 0;
}

static void end_point(struct marks *marks, struct mark *mark)
{
	if (mark->name.kind == NW_TOKEN_STRING && mark->name.len &&
	    marks->count < MOST_MARKS)
		marks->mark[marks->count++] = *mark;
	*mark = (struct mark){0};
}

/* Parses "ALIAS = POINT, POINT ?" up to the brace. The scan is at `probe`. */
static int parse_points(struct nw_scan *scan, struct marks *marks)
{
	struct mark mark = {0};
	struct nw_token probe = scan->token;
	int ret = nw_scan_next(scan);

	while (ret == 0 && !nw_token_is(&scan->token, "{")) {
		if (scan->token.kind == NW_TOKEN_END || nw_token_is(&scan->token, "}") ||
		    nw_token_is(&scan->token, "probe")) {
			scan->token = probe;
			return nw_scan_fail(scan, "a probe without a body in braces");
		}
		if (nw_token_is(&scan->token, "="))
			mark = (struct mark){0}; /* it was the name of an alias */
		if (nw_token_is(&scan->token, ","))
			end_point(marks, &mark);
		ret = scan->token.kind == NW_TOKEN_WORD ? take_component(scan, &mark)
							: nw_scan_next(scan);
	}
	end_point(marks, &mark);
	return ret;
}

/* ---- bodies ------------------------------------------------------------------------- */

/* Returns 0..63 for "$arg1".."$arg64"; -1 for other tokens. */
static int arg_number(const struct nw_token *token)
{
	char digits[4] = "";

	if (token->kind != NW_TOKEN_WORD || token->len < 5 || token->len > 7 ||
	    memcmp(token->text, "$arg", 4) != 0)
		return -1;
	memcpy(digits, token->text + 4, token->len - 4);
	if (strspn(digits, "0123456789") != token->len - 4)
		return -1;
	int number = atoi(digits);
	return number >= 1 && number <= MOST_ARGS ? number - 1 : -1;
}

/* Is it a function that reads a string at an address up to its NUL (tapset::uconversions)? */
static bool reads_string(const struct nw_token *token)
{
	static const char *const names[] = {
		"user_string",	    "user_string2",	     "user_string_warn",
		"user_string_utf8", "user_string_nofault",   "user_string_quoted",
		"user_string_n",    "user_string_n_quoted",  "user_string_n_nofault",
		"user_string_n2",   "user_string_n_warn",    "user_string2_utf8",
		"user_string2_n",   "user_string2_n_quoted", "user_string_n2_quoted",
	};

	for (size_t i = 0; i < NW_COUNT(names); i++)
		if (nw_token_is(token, names[i]))
			return true;
	return false;
}

static void name_arg(struct nw_named_arg *args, int number, const struct nw_token *name,
		     enum nw_base_type base)
{
	struct nw_named_arg *arg = &args[number];

	if (name->len >= sizeof(arg->name) || *arg->name)
		return;
	for (size_t i = 0; i < MOST_ARGS; i++) /* one variable names one argument */
		if (nw_token_is(name, args[i].name))
			return;
	memcpy(arg->name, name->text, name->len);
	arg->type = base == NW_TYPE_HEX ? (struct nw_type){base, 64, 0}
					: (struct nw_type){base, 0, 0};
}

/* Parses user_string($arg2) or user_string_n($arg2, 100). The scan is at the function's name. */
static int take_string_call(struct nw_scan *scan, int *number, enum nw_base_type *base)
{
	int ret = nw_scan_next(scan);

	*number = -1;
	if (ret < 0 || !nw_token_is(&scan->token, "("))
		return ret;
	struct nw_scan inner = *scan;
	inner.err = NULL;
	ret = nw_scan_next(&inner) < 0 ? -1 : arg_number(&inner.token);
	if (ret >= 0 && nw_scan_next(&inner) == 0) {
		bool sized = nw_token_is(&inner.token, ",");
		struct nw_token length = nw_scan_peek(&inner);
		*number = sized || nw_token_is(&inner.token, ")") ? ret : -1;
		/* With a length in another argument, the bytes have no NUL at the end. */
		*base = sized && arg_number(&length) >= 0 ? NW_TYPE_HEX : NW_TYPE_STRING;
	}
	return nw_scan_skip_balanced(scan);
}

/* Parses the value behind "NAME =". The scan is at its first token, and then behind it. */
static int parse_value(struct nw_scan *scan, const struct nw_token *name,
		       struct nw_named_arg *args)
{
	enum nw_base_type base = NW_TYPE_DEFAULT;
	int number = arg_number(&scan->token), chosen = -1, ret = 0;

	if (number >= 0) {
		ret = nw_scan_next(scan);
		/* $arg2 ? user_string($arg2) : "" */
		if (ret == 0 && nw_token_is(&scan->token, "?")) {
			ret = nw_scan_next(scan);
			if (ret < 0 || !reads_string(&scan->token))
				return ret;
			ret = take_string_call(scan, &chosen, &base);
			if (ret == 0 && chosen == number && nw_token_is(&scan->token, ":"))
				name_arg(args, number, name, base);
			return ret;
		}
	} else if (reads_string(&scan->token)) {
		ret = take_string_call(scan, &number, &base);
	}
	/* If an operator follows, the value is only part of an expression. */
	bool goes_on = scan->token.kind == NW_TOKEN_MARK &&
		       strchr("+-*/%&|^<>=!?:.[(", *scan->token.text);
	if (ret == 0 && number >= 0 && !goes_on)
		name_arg(args, number, name, base);
	return ret;
}

/* Parses a body in braces. The scan is at the first brace, and then behind the last. */
static int parse_body(struct nw_scan *scan, struct nw_named_arg *args)
{
	struct nw_token first = scan->token, word = {0};
	size_t depth = 0;
	int ret = 0;

	do {
		struct nw_token token = scan->token;
		if (token.kind == NW_TOKEN_END) {
			scan->token = first;
			return nw_scan_fail(scan, "what is opened here is never closed");
		}
		depth += nw_token_is(&token, "{");
		depth -= nw_token_is(&token, "}");
		ret = nw_scan_next(scan);
		if (ret == 0 && nw_token_is(&token, "=") && word.text)
			ret = parse_value(scan, &word, args);
		word = token.kind == NW_TOKEN_WORD && *token.text != '$'
			       ? token
			       : (struct nw_token){0};
	} while (ret == 0 && depth);
	return ret;
}

/* ---- files -------------------------------------------------------------------------- */

static int add_mark(struct nw_scan *scan, const struct mark *mark,
		    const struct nw_named_arg *args, size_t count, struct nw_types *types)
{
	struct nw_described *probe = nw_types_add(types);

	if (!probe)
		return nw_scan_fail(scan, "more probes than there is room for");
	probe->name = strndup(mark->name.text, mark->name.len);
	if (mark->program.kind == NW_TOKEN_STRING) {
		/* Takes the part behind the last slash: paths differ between installations, names do not. */
		const char *base = memrchr(mark->program.text, '/', mark->program.len);

		base = base ? base + 1 : mark->program.text;
		probe->program = strndup(
			base, (size_t)(mark->program.text + mark->program.len - base));
	}
	if (mark->provider.kind == NW_TOKEN_STRING)
		probe->provider = strndup(mark->provider.text, mark->provider.len);
	if (!probe->name || (mark->program.kind == NW_TOKEN_STRING && !probe->program) ||
	    (mark->provider.kind == NW_TOKEN_STRING && !probe->provider))
		return nw_no_memory(scan->err);
	for (size_t i = 0; i < count; i++) {
		struct nw_named_arg *slot = nw_vec_add(&probe->args);
		if (!slot)
			return nw_no_memory(scan->err);
		*slot = args[i];
	}
	return 0;
}

static int parse_probe(struct nw_scan *scan, struct nw_types *types)
{
	struct nw_named_arg args[MOST_ARGS] = {0};
	struct marks marks = {0};
	size_t count = MOST_ARGS;
	int ret = parse_points(scan, &marks);

	if (ret == 0)
		ret = parse_body(scan, args);
	while (ret == 0 && nw_token_is(&scan->token, ",")) { /* the epilogue of an alias */
		ret = nw_scan_next(scan);
		if (ret == 0 && nw_token_is(&scan->token, "{"))
			ret = parse_body(scan, args);
	}
	while (count && !*args[count - 1].name)
		count--;
	for (size_t i = 0; ret == 0 && i < marks.count; i++)
		ret = add_mark(scan, &marks.mark[i], args, count, types);
	return ret;
}

int nw_types_tapset(struct nw_scan *scan, struct nw_types *types)
{
	int ret = nw_scan_next(scan);

	while (ret == 0 && scan->token.kind != NW_TOKEN_END) {
		if (nw_token_is(&scan->token, "probe"))
			ret = parse_probe(scan, types);
		else if (nw_token_is(&scan->token, "{"))
			ret = nw_scan_skip_balanced(scan); /* the body of a function */
		else if (nw_token_is(&scan->token, "}"))
			ret = nw_scan_fail(scan, "a '}' that nothing opened");
		else
			ret = nw_scan_next(scan);
	}
	return ret;
}
