// SPDX-License-Identifier: MIT
/*
 * Probe specs, in the spellings that users of other tools know.
 *
 *    usdt:PATH:PROVIDER:NAME         bpftrace, and the output of `list`
 *    usdt::PROVIDER:NAME             usdt:PATH:NAME
 *    PATH:PROVIDER:NAME              PROVIDER:NAME              NAME
 *    PROVIDER:::NAME                 DTrace
 *    %sdt_PROVIDER:NAME              perf
 *    uprobe:PATH:SYMBOL[+OFFSET]     uprobe:PATH:0xOFFSET       uretprobe:...   func:PATH:SYMBOL
 *    uprobe:PATH:SYMBOL (inlined)
 *    uprobe:PATH@SOURCE:LINE         PATH@SOURCE:LINE
 *    func:PATH:SYMBOL,returns=insn
 *    func:kernel:SYMBOL              kprobe:SYMBOL              kretprobe:SYMBOL
 *    tracepoint:SYSTEM:EVENT         user_events:NAME
 *
 * A spec is split from the right, because paths may contain colons. Parentheses behind the name may name and type its
 * arguments.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "find/probe/probe.h"
#include "spec_habits.h"

/* ---- types and arguments ------------------------------------------------------------ */

enum {
	LONGEST_NAME = 32 /* of an argument of USDT, with its NUL: the kernel's limit */
};

static const struct {
	const char *name;
	struct nw_type type;
} type_names[] = {
	{"u8", {NW_TYPE_UNSIGNED, 8, 0}},   {"u16", {NW_TYPE_UNSIGNED, 16, 0}},
	{"u32", {NW_TYPE_UNSIGNED, 32, 0}}, {"u64", {NW_TYPE_UNSIGNED, 64, 0}},
	{"s8", {NW_TYPE_SIGNED, 8, 0}},	    {"s16", {NW_TYPE_SIGNED, 16, 0}},
	{"s32", {NW_TYPE_SIGNED, 32, 0}},   {"s64", {NW_TYPE_SIGNED, 64, 0}},
	{"x8", {NW_TYPE_HEX, 8, 0}},	    {"x16", {NW_TYPE_HEX, 16, 0}},
	{"x32", {NW_TYPE_HEX, 32, 0}},	    {"x64", {NW_TYPE_HEX, 64, 0}},
	{"f32", {NW_TYPE_FLOAT, 32, 0}},    {"f64", {NW_TYPE_FLOAT, 64, 0}},
	{"string", {NW_TYPE_STRING, 0, 0}}, {"char", {NW_TYPE_CHAR, 8, 0}},
};

int nw_type_parse(const char *text, size_t len, struct nw_type *out)
{
	const char *bracket = memchr(text, '[', len);
	size_t name_len = bracket ? (size_t)(bracket - text) : len;
	unsigned int array = 0;

	if (bracket) {
		const char *at = bracket + 1, *end = text + len - 1;
		if (*end != ']' || at == end)
			return -EINVAL;
		for (; at < end; at++) {
			if (!isdigit((unsigned char)*at))
				return -EINVAL;
			array = array * 10 + (unsigned int)(*at - '0');
			if (array > 64) /* the kernel's limit, MAX_ARRAY_LEN */
				return -ERANGE;
		}
		if (array == 0)
			return -EINVAL;
	}
	for (size_t i = 0; i < NW_COUNT(type_names); i++) {
		if (strlen(type_names[i].name) != name_len ||
		    memcmp(type_names[i].name, text, name_len) != 0)
			continue;
		if (type_names[i].type.base == NW_TYPE_CHAR && !array)
			return -EINVAL;
		*out = type_names[i].type;
		out->array = array;
		return 0;
	}
	return -EINVAL;
}

/* Returns our name of a type for its name in C or bpftrace. */
static const char *type_meant(const char *text, size_t len)
{
	static const struct {
		const char *theirs, *ours;
	} known[] = {
		{"str", "string"},
		{"char*", "string"},
		{"char *", "string"},
		{"const char*", "string"},
		{"const char *", "string"},
		{"int", "s32"},
		{"int32", "s32"},
		{"int32_t", "s32"},
		{"uint32", "u32"},
		{"uint32_t", "u32"},
		{"unsigned", "u32"},
		{"long", "s64"},
		{"int64", "s64"},
		{"int64_t", "s64"},
		{"uint64", "u64"},
		{"uint64_t", "u64"},
		{"size_t", "u64"},
		{"bool", "u8"},
		{"ptr", "x64"},
		{"void*", "x64"},
		{"void *", "x64"},
		{"float", "f32"},
		{"double", "f64"},
	};
	nw_cleanup(nw_free_ptr) char *word = strndup(text, len);

	for (size_t i = 0; word && i < NW_COUNT(known); i++)
		if (strcmp(known[i].theirs, word) == 0)
			return known[i].ours;
	for (size_t i = 0; word && len > 3 && i < NW_COUNT(type_names); i++)
		if (nw_may_mean(word, type_names[i].name))
			return type_names[i].name;
	return NULL;
}

static int unknown_type(const char *whole, const char *text, size_t len,
			const struct nw_named_arg *arg, struct nw_error *err)
{
	const char *meant = type_meant(text, len);

	nw_bad_spec(err, whole, "an argument has an unknown type");
	if (meant)
		nw_error_hint(err, "unknown type '%.*s' of '%s': did you mean %s?",
			      (int)len, text, arg->name, meant);
	else
		nw_error_hint(
			err,
			"types are u8..u64, s8..s64, x8..x64, f32, f64, string, string[len], whose length is the argument len, and arrays such as u8[16], or char[16] for text (at most 64 elements)");
	return -EINVAL;
}

static bool is_identifier(const char *text, size_t len)
{
	if (len && isdigit((unsigned char)text[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	return true;
}

/* Is it a path through the source's variables, such as "request->id" or "points[3].x"? */
static bool is_path(const char *text, size_t len)
{
	size_t name = 0;

	while (name < len && is_identifier(text, name + 1))
		name++;
	return name && strspn(text + name, NW_PATH_CHARACTERS) >= len - name;
}

/* Parses a type. In "string[len]", `len` is the name of the argument that has the length. */
static int parse_type(const char *text, size_t len, struct nw_named_arg *arg)
{
	static const char with_length[] = "string[";
	size_t before = sizeof(with_length) - 1;

	if (len < before + 2 || memcmp(text, with_length, before) != 0 ||
	    isdigit((unsigned char)text[before]))
		return nw_type_parse(text, len, &arg->type);
	size_t name = len - before - 1;
	if (text[len - 1] != ']' || name >= sizeof(arg->length) ||
	    !is_identifier(text + before, name))
		return -EINVAL;
	memcpy(arg->length, text + before, name);
	return nw_type_parse(text, before - 1, &arg->type);
}

/* Takes "@return" off the end of an argument. Returns whether it was there. */
static bool cut_return(const char *text, size_t *len)
{
	static const char word[] = "@return";
	const size_t word_len = sizeof(word) - 1;

	if (*len <= word_len || memcmp(text + *len - word_len, word, word_len) != 0)
		return false;
	*len -= word_len;
	return true;
}

/* An argument is kept at the entry of a call for its return, so both ends are needed. */
static int refuse_return(const char *whole, struct nw_error *err)
{
	nw_bad_spec(
		err, whole,
		"@return reads an argument of a call when it returns, for which only func: has both ends");
	nw_error_hint(err,
		      "func:PATH:SYMBOL(NAME:TYPE@return), for a function of a program");
	return -EINVAL;
}

static int parse_arg(const char *whole, const char *text, size_t len, struct nw_spec *spec,
		     struct nw_error *err)
{
	struct nw_named_arg *arg = nw_vec_add(&spec->args);

	if (!arg)
		return nw_no_memory(err);
	arg->at_return = cut_return(text, &len);
	if (arg->at_return && spec->kind != NW_SPEC_FUNC)
		return refuse_return(whole, err);
	const char *colon = memchr(text, ':', len);
	size_t name_len = colon ? (size_t)(colon - text) : len;
	/* fields of structs: of functions' arguments, and of EventHeader events */
	bool of_function = spec->kind == NW_SPEC_FUNC || spec->kind == NW_SPEC_UPROBE ||
			   spec->kind == NW_SPEC_TRACEPOINT;
	if (name_len >= (of_function ? sizeof(arg->name) : LONGEST_NAME) ||
	    !(is_identifier(text, name_len) || (of_function && is_path(text, name_len)))) {
		nw_bad_spec(
			err, whole,
			of_function
				? "an argument's name is a C identifier, or a path such as request->id, of up to 127 characters"
				: "an argument's name is a C identifier of up to 31 characters");
		if (memchr(text, ' ', name_len))
			nw_error_hint(
				err,
				"the type stands behind the name and a colon: (id:s32, path:string)");
		return -EINVAL;
	}
	memcpy(arg->name, text, name_len);
	if (colon && parse_type(colon + 1, len - name_len - 1, arg) < 0)
		return unknown_type(whole, colon + 1, len - name_len - 1, arg, err);
	nw_vec_each (&spec->args, other) /* values are told apart by their names */
		if (other != arg && *arg->name && strcmp(other->name, arg->name) == 0)
			return nw_bad_spec(err, whole,
					   "two of its arguments have the same name");
	return 0;
}

/* Parses "sql:string, rows:u32". */
static int parse_args(const char *whole, const char *text, size_t len, struct nw_spec *spec,
		      struct nw_error *err)
{
	spec->has_args = true;
	while (len && isspace((unsigned char)*text))
		text++, len--;
	while (len) {
		const char *comma = memchr(text, ',', len);
		size_t whole_part = comma ? (size_t)(comma - text) : len;
		const char *at = text;
		size_t part = whole_part;
		while (part && isspace((unsigned char)*at))
			at++, part--;
		while (part && isspace((unsigned char)at[part - 1]))
			part--;
		int ret = parse_arg(whole, at, part, spec, err);
		if (ret < 0)
			return ret;
		size_t used = whole_part + (comma != NULL);
		text += used;
		len -= used;
	}
	return 0;
}

/* ---- fields ------------------------------------------------------------------------- */

/* Removes the last ':'-separated field from the text (of *len bytes) and returns a copy of it. */
static char *cut_field(const char *text, size_t *len)
{
	size_t at = *len;
	char *field;

	while (at > 0 && text[at - 1] != ':')
		at--;
	field = strndup(text + at, *len - at);
	*len = at ? at - 1 : 0;
	return field;
}

/* Does the same, but keeps "::" together, which is part of names in C++ and Rust. */
static char *cut_symbol(const char *text, size_t *len)
{
	size_t at = *len;
	char *field;

	while (at > 0 && (text[at - 1] != ':' || (at < *len && text[at] == ':') ||
			  (at > 1 && text[at - 2] == ':')))
		at--;
	field = strndup(text + at, *len - at);
	*len = at ? at - 1 : 0;
	return field;
}

/* Replaces an empty field by "*". */
static char *glob_field(char *field)
{
	if (field && !*field) {
		free(field);
		return strdup("*");
	}
	return field;
}

/* Returns the length of the "sdt_" of perf's sdt_PROVIDER. Behind a path, "sdt_" is part of the name. */
static size_t perf_prefix(const char *text, size_t len)
{
	return len > 4 && memcmp(text, "sdt_", 4) == 0 && !memchr(text, ':', len) ? 4 : 0;
}

const char *nw_usdt_file(const char *name)
{
	return strcmp(name, "java") == 0 ? "libjvm.so" : name;
}

static int parse_usdt(const char *text, size_t len, struct nw_spec *spec,
		      struct nw_error *err)
{
	if (len && text[0] == '%')
		text++, len--;
	spec->name = glob_field(cut_field(text, &len));
	if (len >= 2 && text[len - 1] == ':' && text[len - 2] == ':') {
		/* PROVIDER:::NAME: the two empty fields in the middle are DTrace's module and function. */
		while (len && text[len - 1] == ':')
			len--;
	}
	if (!memchr(text, ':', len) &&
	    (memchr(text, '/', len) || memmem(text, len, ".so", 3))) {
		spec->provider = strdup("*"); /* usdt:PATH:NAME */
	} else {
		size_t perf = perf_prefix(text, len);
		text += perf, len -= perf;
		spec->perf = perf;
		spec->provider = glob_field(cut_field(text, &len));
	}
	spec->any_path = len == 1 && *text == '*';
	nw_cleanup(nw_free_ptr) char *file = strndup(text, spec->any_path ? 0 : len);
	spec->path = file ? strdup(nw_usdt_file(file)) : NULL;
	return spec->name && spec->provider && spec->path ? 0 : nw_no_memory(err);
}

/* Parses SYMBOL, SYMBOL+OFFSET or 0xOFFSET. */
static int parse_symbol(const char *whole, struct nw_spec *spec, struct nw_error *err)
{
	char *plus = strrchr(spec->name, '+');
	const char *word = strstr(spec->name, "operator+"); /* or "operator++" */
	uint64_t offset;

	if (!*spec->name || plus == spec->name)
		return nw_bad_spec(err, whole, "the symbol is missing");
	if (isdigit((unsigned char)spec->name[0])) {
		if (nw_parse_u64(spec->name, &spec->offset) < 0)
			return nw_bad_spec(err, whole, "the offset is not a number");
		spec->name[0] = '\0';
		return 0;
	}
	if (!plus || (word && plus <= word + strlen("operator+")))
		return 0;
	if (nw_parse_u64(plus + 1, &offset) < 0)
		return nw_bad_spec(err, whole, "what follows the '+' is not a number");
	*plus = '\0';
	spec->offset = offset;
	return 0;
}

/* Is the text PATH@SOURCE:LINE? */
static bool names_line(const char *text, size_t len)
{
	const char *colon = memrchr(text, ':', len);
	const char *at = colon ? memrchr(text, '@', (size_t)(colon - text)) : NULL;
	size_t digits = colon ? len - (size_t)(colon - text) - 1 : 0;

	return at && at > text && at + 1 < colon && digits &&
	       strspn(colon + 1, "0123456789") >= digits;
}

/* Splits the path into PATH@SOURCE. The probe's name becomes SOURCE:LINE, without directories. */
static int parse_line(struct nw_spec *spec, struct nw_error *err)
{
	char *at = strrchr(spec->path, '@');
	const char *slash = strrchr(at, '/');
	char *name = nw_text("%s:%s", slash ? slash + 1 : at + 1, spec->name);
	uint64_t line;

	if (spec->kind != NW_SPEC_UPROBE) {
		free(name);
		return nw_bad_spec(err, spec->text,
				   "a line of the source has no return: write uprobe:");
	}
	if (nw_parse_u64(spec->name, &line) < 0 || !line || line > INT32_MAX) {
		free(name);
		return nw_bad_spec(err, spec->text, "there is no such line");
	}
	free(spec->name);
	spec->name = name;
	spec->source = strdup(at + 1);
	spec->line = (unsigned int)line;
	*at = '\0';
	return spec->name && spec->source ? 0 : nw_no_memory(err);
}

/* Completes the spec of a function of the kernel, whose name is there. */
static int parse_kernel_name(struct nw_spec *spec, struct nw_error *err)
{
	const char *name = spec->name;

	if (!*name || isdigit((unsigned char)*name) ||
	    name[strspn(name, NW_KERNEL_CHARACTERS)])
		return nw_bad_spec(
			err, spec->text,
			"a function of the kernel is probed as a whole, by its name alone");
	if (spec->source || spec->inlined || spec->returns_insn)
		return nw_bad_spec(err, spec->text,
				   "that is for functions of programs, not of the kernel");
	spec->kernel = true;
	spec->path = strdup("");
	spec->provider = strdup(spec->kind == NW_SPEC_URETPROBE ? "kretprobe" : "kprobe");
	return spec->path && spec->provider ? 0 : nw_no_memory(err);
}

/* kprobe:SYMBOL, kretprobe:SYMBOL */
static int parse_kernel(const char *text, size_t len, struct nw_spec *spec,
			struct nw_error *err)
{
	spec->name = strndup(text, len);
	return spec->name ? parse_kernel_name(spec, err) : nw_no_memory(err);
}

static int parse_function(const char *text, size_t len, struct nw_spec *spec,
			  struct nw_error *err)
{
	const char *whole = spec->text;
	bool is_line = names_line(text, len);

	spec->name = cut_symbol(text, &len);
	if (spec->name && len == 6 && memcmp(text, "kernel", len) == 0)
		return parse_kernel_name(spec, err);
	spec->path = strndup(text, len);
	spec->provider = strdup(spec->kind == NW_SPEC_URETPROBE ? "uretprobe" : "uprobe");
	if (!spec->name || !spec->path || !spec->provider)
		return nw_no_memory(err);
	if (!*spec->path && strchr(spec->name, '/'))
		return nw_bad_spec(err, whole, "the symbol is missing");
	if (!*spec->path) {
		const int kind = (int)strcspn(whole, ":") + 1;
		const char *dot = strstr(spec->name, ".so") ? strrchr(spec->name, '.')
							    : NULL;
		nw_bad_spec(err, whole, "the path is missing");
		if (dot && (isalpha((unsigned char)dot[1]) || dot[1] == '_') &&
		    strncmp(dot, ".so", 3) != 0)
			nw_error_hint(err, "did you mean %.*s%.*s:%s?", kind, whole,
				      (int)(dot - spec->name), spec->name, dot + 1);
		else
			nw_error_hint(err, "write %.*sFILE:%s, as in func:libc.so.6:malloc",
				      kind, whole, spec->name);
		return -EINVAL;
	}
	spec->any_path = strcmp(spec->path, "*") == 0;
	if (spec->any_path)
		*spec->path = '\0';
	if (is_line)
		return parse_line(spec, err);
	int ret = parse_symbol(whole, spec, err);
	if (ret == 0 && spec->kind != NW_SPEC_UPROBE && (spec->offset || !*spec->name))
		return nw_bad_spec(err, whole, "only a whole function has a return");
	return ret;
}

static int parse_tracepoint(const char *text, size_t len, struct nw_spec *spec,
			    struct nw_error *err)
{
	spec->name = cut_field(text, &len);
	spec->provider = strndup(text, len);
	spec->path = strdup("");
	if (!spec->name || !spec->provider || !spec->path)
		return nw_no_memory(err);
	if (!*spec->name || !*spec->provider)
		return nw_bad_spec(
			err, spec->text,
			"a tracepoint is tracepoint:SYSTEM:EVENT, such as tracepoint:sched:sched_switch");
	return 0;
}

/* user_events:NAME */
static int parse_user_event(const char *text, size_t len, struct nw_spec *spec,
			    struct nw_error *err)
{
	spec->name = strndup(text, len);
	spec->provider = strdup(NW_USER_EVENTS);
	spec->path = strdup("");
	return spec->name && spec->provider && spec->path ? 0 : nw_no_memory(err);
}

/* ---- the whole ---------------------------------------------------------------------- */

static const struct {
	const char *prefix;
	enum nw_spec_kind kind;
	int (*parse)(const char *text, size_t len, struct nw_spec *spec,
		     struct nw_error *err);
} kinds[] = {
	{"usdt:", NW_SPEC_USDT, parse_usdt},
	{"U:", NW_SPEC_USDT, parse_usdt},
	{"sdt:", NW_SPEC_USDT, parse_usdt},
	{"uprobe:", NW_SPEC_UPROBE, parse_function},
	{"uretprobe:", NW_SPEC_URETPROBE, parse_function},
	{"func:", NW_SPEC_FUNC, parse_function},
	{"kprobe:", NW_SPEC_UPROBE, parse_kernel},
	{"kretprobe:", NW_SPEC_URETPROBE, parse_kernel},
	{"tracepoint:", NW_SPEC_TRACEPOINT, parse_tracepoint},
	{NW_USER_EVENTS ":", NW_SPEC_TRACEPOINT, parse_user_event},
	{"", NW_SPEC_USDT, parse_usdt},
};

/*
 * Removes ",returns=insn" from a function's spec, before its arguments or behind them. (A comma in a path has a colon
 * or a slash behind it.)
 */
static int take_returns(char *text, struct nw_spec *spec, struct nw_error *err)
{
	static const char word[] = ",returns=", insn[] = "insn";
	char *found = NULL;

	for (char *at = text; (at = strstr(at, word)); at++)
		found = at;
	if (!found)
		return 0;
	char *value = found + strlen(word);
	size_t len = strcspn(value, "(:/");
	if (value[len] == ':' || value[len] == '/')
		return 0;
	if (spec->kind != NW_SPEC_FUNC && spec->kind != NW_SPEC_URETPROBE)
		return nw_bad_spec(
			err, spec->text,
			"returns= is for func: and uretprobe:, which have returns");
	if (len != strlen(insn) || memcmp(value, insn, len) != 0)
		return nw_bad_spec(err, spec->text,
				   "returns= takes insn, and nothing else");
	spec->returns_insn = true;
	memmove(found, value + len, strlen(value + len) + 1);
	return 0;
}

/* Takes " (inlined)" off the end of a name, as nopwatch calls the inlined copies of a function. */
static void take_inlined(const char *text, size_t *len, struct nw_spec *spec)
{
	static const char mark[] = NW_INLINED_MARK;
	const size_t size = sizeof(mark) - 1;

	if (*len <= size || memcmp(text + *len - size, mark, size) != 0)
		return;
	*len -= size;
	spec->inlined = true;
}

/* Returns the begin of the list in parentheses at the end of the text; len: there is none. */
static size_t find_list(const char *text, size_t len)
{
	size_t depth = 0;

	for (size_t at = len; at-- > 0;) {
		depth += text[at] == ')';
		if (!depth)
			break;
		if (text[at] == '(' && --depth == 0)
			return at;
	}
	return len;
}

/* Has the list a colon before a type? C++ names have two colons. */
static bool has_types(const char *list)
{
	for (const char *at = list; (at = strchr(at, ':')); at += 2)
		if (at[1] != ':')
			return true;
	return false;
}

/*
 * Does this list belong to the function's name? It does in "operator()", and if it contains something that only C++
 * parameters have: types of the language, or punctuation. An empty list belongs to a name that contains "::".
 */
static bool is_parameters(const char *text, size_t begin, size_t len)
{
	static const char word[] = "operator";
	static const char *const types[] = {"bool", "char",   "double", "float",
					    "int",  "long",   "short",	"unsigned",
					    "void", "wchar_t"};
	const size_t size = sizeof(word) - 1;
	nw_cleanup(nw_free_ptr) char *list = strndup(text + begin + 1, len - begin - 2);
	bool found = list && (strpbrk(list, "*&<(") || strstr(list, "::"));

	if (begin >= size && memcmp(text + begin - size, word, size) == 0)
		return true;
	if (list && !list[strspn(list, " ")])
		return text[begin - 1] != ')' && memmem(text, begin, "::", 2);
	if (list && has_types(list))
		return false;
	for (char *rest = list, *type; !found && rest && (type = strsep(&rest, ", "));)
		for (size_t i = 0; i < NW_COUNT(types); i++)
			found |= strcmp(type, types[i]) == 0;
	return found;
}

/* Returns the kind of the spec and the length of its prefix. */
static size_t find_kind(const char *text, size_t *kind)
{
	for (*kind = 0; *kind < NW_COUNT(kinds); ++*kind) {
		size_t prefix = strlen(kinds[*kind].prefix);
		if (strncmp(text, kinds[*kind].prefix, prefix) == 0)
			return prefix;
	}
	return 0;
}

/* text: a copy of spec->text, which is cut up. */
static int parse_body(char *text, struct nw_spec *spec, struct nw_error *err)
{
	size_t kind, prefix = find_kind(text, &kind);

	spec->kind = kinds[kind].kind;
	int ret = nw_spec_refuse_habit(spec->text, err);
	if (ret == 0)
		ret = take_returns(text, spec, err);
	size_t whole = strlen(text);
	if (kinds[kind].parse == parse_function)
		take_inlined(text, &whole, spec);
	/* The last parentheses contain the arguments: a path may have others, and so may C++ names. */
	size_t len = find_list(text, whole);
	if (!prefix && names_line(text, len)) {
		find_kind("uprobe:", &kind);
		spec->kind = kinds[kind].kind;
	}
	const char *open = strrchr(text, '(');
	bool of_name = len < whole && kinds[kind].parse == parse_function &&
		       is_parameters(text, len, whole);
	if (ret == 0 && open && !strchr(open, ')'))
		ret = nw_bad_spec(err, spec->text, "a parenthesis is not closed");
	if (ret == 0 && len < whole && !of_name)
		ret = parse_args(spec->text, text + len + 1, whole - len - 2, spec, err);
	len = of_name ? whole : len;
	if (kinds[kind].parse == parse_function)
		take_inlined(text, &len, spec);
	if (ret == 0 && len <= prefix)
		ret = nw_bad_spec(err, spec->text, "it names no probe");
	if (ret == 0)
		ret = kinds[kind].parse(text + prefix, len - prefix, spec, err);
	nw_vec_each (&spec->args, arg)
		if (ret == 0 && arg->at_return && (spec->kernel || spec->offset))
			ret = refuse_return(spec->text, err);
	return ret;
}

int nw_spec_parse(const char *text, struct nw_spec *out, struct nw_error *err)
{
	struct nw_spec spec = {.text = strdup(text)};
	nw_cleanup(nw_free_ptr) char *body = strdup(text);
	int ret;

	if (!spec.text || !body)
		ret = nw_no_memory(err);
	else if (!*text || strpbrk(text, "\n\r"))
		ret = nw_bad_spec(err, text,
				  *text ? "it holds a line break" : "it is empty");
	else
		ret = parse_body(body, &spec, err);
	if (ret < 0)
		nw_spec_free(&spec);
	else
		*out = spec;
	return ret;
}

void nw_spec_write_place(const struct nw_spec *spec, const char *path, struct nw_buf *out)
{
	nw_buf_adds(out, path);
	if (spec->source)
		nw_buf_printf(out, "@%s:%u", spec->source, spec->line);
	else if (!*spec->name)
		nw_buf_printf(out, ":0x%" PRIx64, spec->offset);
	else if (spec->offset)
		nw_buf_printf(out, ":%s+0x%" PRIx64, spec->name, spec->offset);
	else
		nw_buf_printf(out, ":%s", spec->name);
}

void nw_spec_free(struct nw_spec *spec)
{
	free(spec->text);
	free(spec->path);
	free(spec->provider);
	free(spec->name);
	free(spec->source);
	nw_vec_free(&spec->args);
	*spec = (struct nw_spec){0};
}
