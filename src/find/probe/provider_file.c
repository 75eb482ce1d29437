// SPDX-License-Identifier: MIT
/*
 * DTrace's provider files (Solaris Dynamic Tracing Guide, "Statically Defined Tracing"), from which `dtrace -h`
 * generates C code for the probes of a project.
 *
 *      #define Oid unsigned int
 *      typedef int mode;
 *      provider postgresql {
 *              probe query__start(const char *sql);
 *              probe lock(Oid, mode, char *name : string);
 *      };
 *
 * Types are translated if they tell something: strings, pointers, signs and widths. For other types (the project's
 * own types, structures) the note's type stays.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"

enum {
	MOST_WORDS = 16, /* of one type */
	MOST_ALIASES = 1024,
	MOST_DEPTH = 8,	      /* depth of aliases in aliases */
	MOST_EXPANSIONS = 64, /* of one type */
	MOST_ARGS = 64,
};

/* A #define NAME TYPE or typedef TYPE NAME. */
struct alias {
	const char *name, *type;
	size_t name_len, type_len;
};

struct aliases {
	NW_VEC(struct alias) list;
};

/* ---- types -------------------------------------------------------------------------- */

/* The words of a type. */
struct words {
	struct nw_token word[MOST_WORDS];
	size_t count;
	unsigned int stars;
	unsigned int expansions;
	bool other; /* parentheses and the like: a pointer to a function */
};

static const struct alias *find_alias(const struct aliases *aliases,
				      const struct nw_token *word)
{
	nw_vec_each (&aliases->list, alias)
		if (alias->name_len == word->len &&
		    memcmp(alias->name, word->text, word->len) == 0)
			return alias;
	return NULL;
}

static void collect(const struct aliases *aliases, struct nw_scan *scan, unsigned int depth,
		    struct words *out);

static void add_word(const struct aliases *aliases, const struct nw_token *word,
		     unsigned int depth, struct words *out)
{
	bool more = depth < MOST_DEPTH && out->expansions < MOST_EXPANSIONS;
	const struct alias *alias = more ? find_alias(aliases, word) : NULL;

	if (alias) {
		out->expansions++;
		struct nw_scan scan = {.file = "",
				       .at = alias->type,
				       .end = alias->type + alias->type_len};
		collect(aliases, &scan, depth + 1, out);
	} else if (out->count < MOST_WORDS) {
		out->word[out->count++] = *word;
	}
}

/* Collects the words of a type, up to the end of the text. */
static void collect(const struct aliases *aliases, struct nw_scan *scan, unsigned int depth,
		    struct words *out)
{
	while (nw_scan_next(scan) == 0 && scan->token.kind != NW_TOKEN_END) {
		if (scan->token.kind == NW_TOKEN_WORD)
			add_word(aliases, &scan->token, depth, out);
		else if (*scan->token.text == '*' || *scan->token.text == '[')
			out->stars++;
		else if (*scan->token.text == '(')
			out->other = true;
	}
}

static const struct {
	const char *name;
	struct nw_type type;
} simple_types[] = {
	{"string", {NW_TYPE_STRING, 0, 0}},	 {"char", {NW_TYPE_DEFAULT, 0, 0}},
	{"short", {NW_TYPE_SIGNED, 16, 0}},	 {"int", {NW_TYPE_SIGNED, 32, 0}},
	{"long", {NW_TYPE_SIGNED, 64, 0}},	 {"float", {NW_TYPE_FLOAT, 32, 0}},
	{"double", {NW_TYPE_FLOAT, 64, 0}},	 {"bool", {NW_TYPE_UNSIGNED, 8, 0}},
	{"_Bool", {NW_TYPE_UNSIGNED, 8, 0}},	 {"int8_t", {NW_TYPE_SIGNED, 8, 0}},
	{"int16_t", {NW_TYPE_SIGNED, 16, 0}},	 {"int32_t", {NW_TYPE_SIGNED, 32, 0}},
	{"int64_t", {NW_TYPE_SIGNED, 64, 0}},	 {"uint8_t", {NW_TYPE_UNSIGNED, 8, 0}},
	{"uint16_t", {NW_TYPE_UNSIGNED, 16, 0}}, {"uint32_t", {NW_TYPE_UNSIGNED, 32, 0}},
	{"uint64_t", {NW_TYPE_UNSIGNED, 64, 0}}, {"size_t", {NW_TYPE_UNSIGNED, 64, 0}},
	{"ssize_t", {NW_TYPE_SIGNED, 64, 0}},	 {"off_t", {NW_TYPE_SIGNED, 64, 0}},
	{"pid_t", {NW_TYPE_SIGNED, 32, 0}},	 {"uid_t", {NW_TYPE_UNSIGNED, 32, 0}},
	{"gid_t", {NW_TYPE_UNSIGNED, 32, 0}},	 {"uintptr_t", {NW_TYPE_HEX, 64, 0}},
	{"intptr_t", {NW_TYPE_SIGNED, 64, 0}},	 {"u_int", {NW_TYPE_UNSIGNED, 32, 0}},
	{"uint", {NW_TYPE_UNSIGNED, 32, 0}},	 {"u_long", {NW_TYPE_UNSIGNED, 64, 0}},
	{"ulong", {NW_TYPE_UNSIGNED, 64, 0}},
};

static const struct nw_type *simple_type(const struct nw_token *word)
{
	for (size_t i = 0; i < NW_COUNT(simple_types); i++)
		if (nw_token_is(word, simple_types[i].name))
			return &simple_types[i].type;
	return NULL;
}

static bool is_any(const struct nw_token *word, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (nw_token_is(word, names[i]))
			return true;
	return false;
}

/* Is it const or another word that does not change the value? */
static bool is_qualifier(const struct nw_token *word)
{
	static const char *const names[] = {"const", "volatile", "register", "restrict",
					    "in",    "inout",	 "userland", "kernel"};

	return is_any(word, names, NW_COUNT(names));
}

/* Is the word a type or part of one, and so not the name of an argument? */
static bool is_type_word(const struct nw_token *word)
{
	static const char *const names[] = {"unsigned", "signed", "void",
					    "struct",	"union",  "enum"};

	return is_qualifier(word) || is_any(word, names, NW_COUNT(names)) ||
	       simple_type(word);
}

static bool has_word(const struct words *words, const char *name)
{
	for (size_t i = 0; i < words->count; i++)
		if (nw_token_is(&words->word[i], name))
			return true;
	return false;
}

/* Returns the type of the words, without a name; DEFAULT if they tell nothing. */
static struct nw_type type_of(const struct words *words)
{
	bool is_unsigned = has_word(words, "unsigned");
	struct nw_type type = {0};

	if (words->stars == 1 && has_word(words, "char") && !is_unsigned && !words->other)
		return (struct nw_type){NW_TYPE_STRING, 0, 0};
	if (words->stars || words->other)
		return (struct nw_type){NW_TYPE_HEX, 64, 0};
	if (has_word(words, "struct") || has_word(words, "union") ||
	    has_word(words, "enum"))
		return type;
	for (size_t i = 0; i < words->count; i++) {
		const struct nw_type *simple = simple_type(&words->word[i]);
		/* In "short int" and "long int" the int tells nothing. */
		if (simple && (type.bits == 0 || type.bits == 32))
			type = simple->bits || !type.bits ? *simple : type;
	}
	if (has_word(words, "long") && has_word(words, "double"))
		return (struct nw_type){0};
	if (is_unsigned && has_word(words, "char"))
		return (struct nw_type){NW_TYPE_UNSIGNED, 8, 0};
	if (has_word(words, "signed") && has_word(words, "char"))
		return (struct nw_type){NW_TYPE_SIGNED, 8, 0};
	if (is_unsigned && (type.bits == 0 || type.base == NW_TYPE_SIGNED)) {
		type.bits = type.bits ? type.bits : 32;
		type.base = NW_TYPE_UNSIGNED;
	}
	return type;
}

/* Is the last word of a parameter its name? It is if a complete type precedes it. */
static bool ends_in_name(const struct nw_token *list, size_t count, bool star_before)
{
	size_t types = 0;

	if (count == 0 || is_type_word(&list[count - 1]))
		return false;
	if (star_before)
		return true;
	for (size_t i = 0; i + 1 < count; i++) {
		if (is_qualifier(&list[i]))
			continue;
		/* "struct foo" is one type */
		bool tag = nw_token_is(&list[i], "struct") ||
			   nw_token_is(&list[i], "union") || nw_token_is(&list[i], "enum");
		types += !tag;
	}
	return types > 0;
}

/* ---- parameters --------------------------------------------------------------------- */

/* One parameter as written, before aliases are replaced. */
struct parameter {
	struct nw_token word[MOST_WORDS];
	size_t count;
	unsigned int stars;
	bool star_before; /* a star precedes the last word */
	bool other;
	bool seen;
};

static void add_parameter(const struct aliases *aliases, const struct parameter *parameter,
			  struct nw_described *out)
{
	struct words words = {.stars = parameter->stars, .other = parameter->other};
	size_t count = parameter->count;
	struct nw_named_arg arg = {0};

	if (count == 1 && !words.stars && nw_token_is(&parameter->word[0], "void"))
		return;
	if (!words.other && ends_in_name(parameter->word, count, parameter->star_before)) {
		const struct nw_token *name = &parameter->word[--count];
		snprintf(arg.name, sizeof(arg.name), "%.*s",
			 name->len < sizeof(arg.name) ? (int)name->len : 0, name->text);
	}
	for (size_t i = 0; i < count; i++)
		add_word(aliases, &parameter->word[i], 0, &words);
	arg.type = type_of(&words);
	struct nw_named_arg *slot = out->args.count < MOST_ARGS ? nw_vec_add(&out->args)
								: NULL;
	if (slot)
		*slot = arg;
}

/* Takes one token of a parameter. Tokens behind a colon are for translators, and are ignored. */
static void take_part(const struct nw_token *token, bool translated,
		      struct parameter *parameter)
{
	parameter->seen = true;
	if (translated)
		return;
	if (token->kind == NW_TOKEN_WORD) {
		parameter->star_before = parameter->stars > 0;
		if (parameter->count < MOST_WORDS)
			parameter->word[parameter->count++] = *token;
		else
			parameter->other = true;
	} else if (token->kind == NW_TOKEN_MARK && strchr("*[", *token->text)) {
		parameter->stars++;
	} else if (token->kind == NW_TOKEN_MARK && *token->text == '(') {
		parameter->other = true;
	}
}

/* Parses "(const char *, int count : uint32_t)", behind its first parenthesis, and moves behind the last one. */
static int parse_parameters(struct nw_scan *scan, const struct aliases *aliases,
			    struct nw_described *out)
{
	struct parameter parameter = {0};
	unsigned int depth = 1;
	bool translated = false;
	int ret = nw_scan_next(scan);

	for (; ret == 0; ret = nw_scan_next(scan)) {
		bool mark = scan->token.kind == NW_TOKEN_MARK;
		if (scan->token.kind == NW_TOKEN_END || nw_token_is(&scan->token, ";") ||
		    nw_token_is(&scan->token, "{") || nw_token_is(&scan->token, "}"))
			return nw_scan_expected(scan, "',' or ')' behind an argument");
		depth += mark && *scan->token.text == '(';
		depth -= mark && *scan->token.text == ')';
		if (depth == 0 || (depth == 1 && mark && *scan->token.text == ',')) {
			if (parameter.seen)
				add_parameter(aliases, &parameter, out);
			parameter = (struct parameter){0};
			translated = false;
		} else if (depth == 1 && mark && *scan->token.text == ':') {
			translated = true;
		} else {
			take_part(&scan->token, translated, &parameter);
		}
		if (depth == 0)
			return nw_scan_next(scan);
	}
	return ret;
}

/* ---- declarations ------------------------------------------------------------------- */

static void add_alias(struct aliases *aliases, const struct nw_token *name,
		      const char *type, const char *end)
{
	struct alias *alias = aliases->list.count < MOST_ALIASES
				      ? nw_vec_add(&aliases->list)
				      : NULL;

	if (alias)
		*alias = (struct alias){.name = name->text,
					.name_len = name->len,
					.type = type,
					.type_len = (size_t)(end - type)};
}

/* Parses "#define NAME TYPE", and skips other directives. The current token is the '#'. */
static int parse_directive(struct nw_scan *scan, struct aliases *aliases)
{
	const char *start = scan->at, *end = start;
	struct nw_scan line = {.file = "", .at = start};

	/* A backslash continues the line. */
	while (end < scan->end && (*end != '\n' || (end > start && end[-1] == '\\')))
		scan->line += *end++ == '\n';
	scan->at = line.end = end;
	if (nw_scan_next(&line) == 0 && nw_token_is(&line.token, "define") &&
	    nw_scan_next(&line) == 0 && line.token.kind == NW_TOKEN_WORD &&
	    (line.at == end || *line.at != '(')) {
		struct nw_token name = line.token;
		add_alias(aliases, &name, line.at, end);
	}
	return nw_scan_next(scan);
}

/* Parses "typedef TYPE NAME;". */
static int parse_typedef(struct nw_scan *scan, struct aliases *aliases)
{
	const char *type = scan->at;
	struct nw_token last = {0};
	int ret = nw_scan_next(scan);

	while (ret == 0 && !nw_token_is(&scan->token, ";")) {
		if (scan->token.kind == NW_TOKEN_END)
			return nw_scan_expected(scan, "';' behind a typedef");
		if (scan->token.kind == NW_TOKEN_WORD)
			last = scan->token;
		ret = nw_token_is(&scan->token, "{") ? nw_scan_skip_balanced(scan)
						     : nw_scan_next(scan);
	}
	if (ret == 0 && last.text)
		add_alias(aliases, &last, type, last.text);
	return ret < 0 ? ret : nw_scan_next(scan);
}

static int parse_probe(struct nw_scan *scan, const struct aliases *aliases,
		       const struct nw_token *provider, struct nw_types *types)
{
	int ret = nw_scan_next(scan);

	if (ret < 0)
		return ret;
	if (scan->token.kind != NW_TOKEN_WORD)
		return nw_scan_expected(scan, "the name of a probe");
	struct nw_described *probe = nw_types_add(types);
	if (!probe)
		return nw_scan_fail(scan, "more probes than there is room for");
	probe->provider = strndup(provider->text, provider->len);
	probe->name = strndup(scan->token.text, scan->token.len);
	if (!probe->provider || !probe->name)
		return nw_no_memory(scan->err);
	ret = nw_scan_next(scan);
	if (ret == 0 && nw_token_is(&scan->token, "("))
		ret = parse_parameters(scan, aliases, probe);
	else if (ret == 0)
		ret = nw_scan_expected(scan, "'(' behind a probe's name");
	/* "(...) : (...);" tells how a translator presents the arguments. */
	while (ret == 0 && !nw_token_is(&scan->token, ";")) {
		if (nw_token_is(&scan->token, "("))
			ret = nw_scan_skip_balanced(scan);
		else if (nw_token_is(&scan->token, ":"))
			ret = nw_scan_next(scan);
		else
			ret = nw_scan_expected(scan, "';' behind a probe");
	}
	return ret < 0 ? ret : nw_scan_next(scan);
}

static int parse_provider(struct nw_scan *scan, struct aliases *aliases,
			  struct nw_types *types)
{
	int ret = nw_scan_next(scan);
	struct nw_token provider = scan->token;

	if (ret == 0 && provider.kind != NW_TOKEN_WORD)
		return nw_scan_expected(scan, "the name of a provider");
	if (ret == 0)
		ret = nw_scan_next(scan);
	if (ret == 0 && !nw_token_is(&scan->token, "{"))
		return nw_scan_expected(scan, "'{' behind the name of a provider");
	if (ret == 0)
		ret = nw_scan_next(scan);
	while (ret == 0 && !nw_token_is(&scan->token, "}")) {
		if (nw_token_is(&scan->token, "#"))
			ret = parse_directive(scan, aliases);
		else if (nw_token_is(&scan->token, "probe"))
			ret = parse_probe(scan, aliases, &provider, types);
		else
			ret = nw_scan_expected(scan, "'probe' or '}'");
	}
	return ret < 0 ? ret : nw_scan_next(scan);
}

int nw_types_provider_file(struct nw_scan *scan, struct nw_types *types)
{
	struct aliases aliases = {0};
	int ret = nw_scan_next(scan);

	while (ret == 0 && scan->token.kind != NW_TOKEN_END) {
		if (nw_token_is(&scan->token, "#"))
			ret = parse_directive(scan, &aliases);
		else if (nw_token_is(&scan->token, "typedef"))
			ret = parse_typedef(scan, &aliases);
		else if (nw_token_is(&scan->token, "provider"))
			ret = parse_provider(scan, &aliases, types);
		else if (nw_token_is(&scan->token, "{") || nw_token_is(&scan->token, "("))
			ret = nw_scan_skip_balanced(scan);
		else /* a C declaration */
			ret = nw_scan_next(scan);
	}
	nw_vec_free(&aliases.list);
	return ret;
}
