// SPDX-License-Identifier: MIT
/*
 * Finds functions by their names in the source: "app::Server::handle" in C++ and Rust. The reader process (dwarf)
 * translates the linker's names; here they are compared with names that users type, which omit parameters, results
 * and template arguments. Names come from files, so all effort is proportional to their lengths.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "find/dwarf/dwarf.h"
#include "select.h"

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t size = strlen(end);

	return len > size && memcmp(text + len - size, end, size) == 0;
}

/* Returns the length of a name without its parameters and the qualifiers behind them: "f(int) const". */
static size_t cut_parameters(const char *name)
{
	static const char *const behind[] = {" const", " volatile", " &", " &&", "&", "&&"};
	size_t len = strlen(name), depth = 0;
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < NW_COUNT(behind); i++)
			if (ends_with(name, len, behind[i])) {
				len -= strlen(behind[i]);
				again = true;
			}
	}
	if (!len || name[len - 1] != ')')
		return strlen(name);
	for (size_t at = len; at-- > 0;) {
		depth += name[at] == ')';
		depth -= name[at] == '(';
		if (!depth)
			return at ? at : len;
	}
	return len;
}

/* Returns the length of an operator's name at this place, including its '<' and '>', which are no brackets there; 0:
 * none. */
static size_t operator_len(const char *name, size_t at, size_t len)
{
	static const char word[] = "operator";
	const size_t size = sizeof(word) - 1;

	if (len - at < size || memcmp(name + at, word, size) != 0 ||
	    (at && nw_is_word(name[at - 1])) ||
	    (len - at > size && nw_is_word(name[at + size])))
		return 0;
	return size + strspn(name + at + size, "<>=-*");
}

/* Returns the begin of the name behind the result type, which only instances of templates have: "int app::f<int>". */
static size_t skip_result(const char *name, size_t len)
{
	size_t begin = 0, depth = 0;

	for (size_t at = 0; at < len && !operator_len(name, at, len); at++) {
		char c = name[at];
		if (c == '<' || c == '(' || c == '{' || c == '[')
			depth++;
		else if (depth && (c == ')' || c == '}' || c == ']' ||
				   (c == '>' && name[at - 1] != '-')))
			depth--;
		else if (c == ' ' && !depth)
			begin = at + 1;
	}
	return begin;
}

/* Returns the end of a pair of '<' and '>'; len: it has none. */
static size_t skip_brackets(const char *name, size_t at, size_t len)
{
	size_t depth = 0;

	for (; at < len; at++) {
		if (name[at] == '<')
			depth++;
		else if (name[at] == '>' && name[at - 1] != '-' && --depth == 0)
			return at + 1;
	}
	return len;
}

/* Returns the end of "app::Foo" in "<app::Foo<T> as Trait>", with which Rust names begin. */
static size_t cut_implemented(const char *name, size_t end)
{
	for (size_t at = 1, depth = 0; at < end; at++) {
		if (name[at] == '<')
			depth++;
		else if (depth && name[at] == '>' && name[at - 1] != '-')
			depth--;
		else if (!depth && strncmp(name + at, " as ", 4) == 0)
			return at;
	}
	return end - 1;
}

/* Appends a name without template arguments, and without suffixes such as "f[abi:cxx11]". */
static void add_plain(struct nw_buf *out, const char *name, size_t len)
{
	size_t at = 0;

	if (len && *name == '<') {
		size_t end = skip_brackets(name, 0, len);
		size_t type = cut_implemented(name, end);
		/* A type that is in brackets itself stays as it is. */
		if (type > 1 && name[1] != '<')
			add_plain(out, name + 1, type - 1);
		at = end;
	}
	while (at < len) {
		size_t word = operator_len(name, at, len);
		if (word)
			nw_buf_add(out, name + at, word < len - at ? word : len - at);
		else if (name[at] == '<')
			word = skip_brackets(name, at, len) - at;
		else if (strncmp(name + at, "[abi:", 5) == 0)
			word = strcspn(name + at, "]") + 1;
		else if (strncmp(name + at, "::<", 3) == 0)
			word = 2;
		else
			nw_buf_addc(out, name[at]);
		at += word ? word : 1;
	}
}

/* Returns "app::f<int>" for "int app::f<int>(int)"; with `plain` "app::f". The caller frees it. */
static char *short_name(const char *name, bool plain)
{
	struct nw_buf out = {0};
	size_t len = cut_parameters(name);
	size_t begin = skip_result(name, len);

	if (plain)
		add_plain(&out, name + begin, len - begin);
	else
		nw_buf_add(&out, name + begin, len - begin);
	return nw_buf_take(&out);
}

/* Is this the name of a function that the source has? Copies and thunks are made by the compiler. */
static bool is_function(const char *source)
{
	const char *clone = strstr(source, " [clone ");

	return *source && !strstr(source, " thunk to ") &&
	       (!clone || strncmp(clone, " [clone .llvm.", 14) == 0);
}

/* ---- parameters --------------------------------------------------------------------- */

/* Returns the begin of the parameters at the end of a name or a pattern; its length: there are none. */
static size_t find_parameters(const char *name)
{
	static const char word[] = "operator";
	size_t at = cut_parameters(name), size = sizeof(word) - 1;

	if (at >= size && memcmp(name + at - size, word, size) == 0)
		return strlen(name); /* "operator()" */
	return at;
}

/* May this pattern of parameters match several lists? A '*' behind a type is a pointer. */
static bool is_wild(const char *parameters)
{
	return strpbrk(parameters, "?[") || strstr(parameters, "(*") ||
	       strstr(parameters, ",*") || strstr(parameters, ", *");
}

/* Returns "(char const*,long)" for "(const char *, long)": blanks and the place of "const" do not matter; "(void)" is
 * "()". */
static char *plain_parameters(const char *text, size_t len)
{
	static const char word[] = "const ";
	struct nw_buf out = {0};
	bool begins = false, is_const = false;

	if (len == 6 && memcmp(text, "(void)", 6) == 0)
		return strdup("()");
	for (size_t at = 0; at < len; at++) {
		char c = text[at];
		char next = at + 1 < len ? text[at + 1] : '\0';
		if (begins && len - at > 6 && memcmp(text + at, word, 6) == 0) {
			is_const = true;
			at += 5;
			continue;
		}
		if (c == ' ' &&
		    (!out.len || !nw_is_word(out.data[out.len - 1]) || !nw_is_word(next)))
			continue;
		if (is_const && strchr("*&,)>", c)) {
			nw_buf_adds(&out, " const");
			is_const = false;
		}
		begins = c == '(' || c == ',' || c == '<' || (begins && c == ' ');
		nw_buf_addc(&out, c);
	}
	return nw_buf_take(&out);
}

/* Are the parameters the same? The qualifiers behind them ("const") may be omitted. */
static int same_parameters(const char *wanted, const char *there, bool *out)
{
	const char *end = strrchr(there, ')');
	size_t len = end && wanted[strlen(wanted) - 1] == ')' ? (size_t)(end - there) + 1
							      : strlen(there);
	nw_cleanup(nw_free_ptr) char *a = plain_parameters(wanted, strlen(wanted));
	nw_cleanup(nw_free_ptr) char *b = plain_parameters(there, len);

	if (!a || !b)
		return -ENOMEM;
	*out = strcmp(a, b) == 0;
	return 0;
}

static int matches(const char *pattern, const char *source, bool *out)
{
	size_t at = find_parameters(pattern);
	bool exact = pattern[at] && !is_wild(pattern + at);
	nw_cleanup(nw_free_ptr) char *name = strndup(pattern, exact ? at : strlen(pattern));
	nw_cleanup(nw_free_ptr) char *with = short_name(source, false);
	nw_cleanup(nw_free_ptr) char *plain = short_name(source, true);

	if (!name || !with || !plain)
		return -ENOMEM;
	*out = nw_glob_match(name, with) || nw_glob_match(name, plain);
	if (*out && exact)
		return same_parameters(pattern + at, source + find_parameters(source), out);
	if (!*out)
		*out = exact ? strcmp(pattern, source) == 0
			     : nw_glob_match(pattern, source);
	return 0;
}

/* ---- functions of a file ------------------------------------------------------------ */

struct collecting {
	const char *pattern;
	nw_strings *out;
};

static bool is_mangled(const char *symbol)
{
	return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R');
}

/* Symbols are sorted by name, so equal names follow each other. */
static int collect(const struct nw_symbol *symbol, void *arg)
{
	struct collecting *c = arg;
	size_t len = strcspn(symbol->name, "@"), count = c->out->count;
	const char *last = count ? c->out->item[count - 1] : "";

	if (!symbol->function || symbol->undefined || symbol->ifunc ||
	    (strlen(last) == len && memcmp(last, symbol->name, len) == 0))
		return 0;
	nw_cleanup(nw_free_ptr) char *name = strndup(symbol->name, len);
	if (!name)
		return -ENOMEM;
	return is_mangled(name) || nw_glob_match(c->pattern, name)
		       ? nw_strings_add(c->out, name, len)
		       : 0;
}

struct shown {
	char *brief; /* "app::f<int>"; "": the linker's name is shown */
	/* Its place in the list, which has the whole name first, and then the name to show. */
	char **name;
	const char *symbol; /* NULL: the pattern does not match */
};

static int by_name(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;
	int order = strcmp(x->brief, y->brief);

	return order ? order : strcmp(*x->name, *y->name);
}

/* Computes a function's short name, and whether the pattern matches one of its names; otherwise its symbol is
 * dropped. */
static int judge(const char *pattern, char **symbol, char **name, struct shown *out)
{
	bool wanted = nw_glob_match(pattern, *symbol), source = is_function(*name);

	out->name = name;
	out->brief = source ? short_name(*name, false) : strdup("");
	if (!out->brief || (source && !wanted && matches(pattern, *name, &wanted) < 0))
		return -ENOMEM;
	if (!wanted) {
		free(*symbol);
		*symbol = NULL;
	}
	out->symbol = *symbol;
	return 0;
}

/* Names the functions that have the same short name. The short name is shown if all are the same function, which may
 * have several symbols; otherwise their whole names are shown. */
static int show(struct shown *first, size_t count)
{
	bool same = strcmp(*first->name, *first[count - 1].name) == 0;

	for (struct shown *one = first; one < first + count; one++) {
		const char *text = !*one->brief ? one->symbol
				   : same	? one->brief
						: *one->name;
		char *copy = one->symbol ? strdup(text) : NULL;
		if (one->symbol && !copy)
			return -ENOMEM;
		free(*one->name);
		*one->name = copy;
	}
	return 0;
}

static int show_all(struct shown *list, size_t count)
{
	int ret = 0;

	if (count)
		qsort(list, count, sizeof(*list), by_name);
	for (size_t i = 0, end; ret == 0 && i < count; i = end) {
		for (end = i + 1; end < count; end++)
			if (strcmp(list[i].brief, list[end].brief) != 0)
				break;
		ret = show(&list[i], end - i);
	}
	return ret;
}

/* Keeps the functions that the pattern matches. The names to show depend on all functions of the file, not only on
 * these. */
static int keep_matching(const char *pattern, struct nw_functions *f)
{
	const size_t count = f->symbols.count;
	struct shown *list = calloc(count + 1, sizeof(*list));
	int ret = list ? 0 : -ENOMEM;
	size_t left = 0;

	for (size_t i = 0; ret == 0 && i < count; i++)
		ret = judge(pattern, &f->symbols.item[i], &f->names.item[i], &list[i]);
	if (ret == 0)
		ret = show_all(list, count);
	for (size_t i = 0; list && i < count; i++)
		free(list[i].brief);
	free(list);
	for (size_t i = 0; ret == 0 && i < count; i++)
		if (f->symbols.item[i]) {
			f->symbols.item[left] = f->symbols.item[i];
			f->names.item[left++] = f->names.item[i];
		}
	if (ret == 0)
		f->symbols.count = f->names.count = left;
	return ret;
}

static int find_functions(struct nw_image *image, const char *pattern,
			  struct nw_functions *out)
{
	struct collecting c = {pattern, &out->symbols};
	int ret = nw_image_each_symbol(image, collect, &c);

	if (ret == 0)
		ret = nw_source_names(&out->symbols, &out->names);
	return ret < 0 ? ret : keep_matching(pattern, out);
}

int nw_functions_find(struct nw_image *image, const char *pattern, struct nw_functions *out,
		      struct nw_error *err)
{
	struct nw_near near = {0};
	int ret = find_functions(image, pattern, out);

	if (ret < 0)
		return nw_no_memory(err);
	if (out->symbols.count)
		return 0;
	nw_fail(err, ENOENT, "there is no function '%s' in %s", pattern, image->path);
	nw_error_hint(err, "`nopwatch list --functions %s` lists those that are there",
		      image->path);
	if (!nw_has_glob(pattern) && nw_near_functions(image, pattern, &near) == 0 &&
	    *near.text[0])
		nw_near_hint(&near, "", err);
	return -ENOENT;
}

void nw_functions_free(struct nw_functions *functions)
{
	nw_strings_free(&functions->symbols);
	nw_strings_free(&functions->names);
}

bool nw_names_functions(const char *word)
{
	return strncmp(word, "func:", 5) == 0 || strncmp(word, "uprobe:", 7) == 0 ||
	       strncmp(word, "uretprobe:", 10) == 0;
}

bool nw_names_user_event(const char *word)
{
	return strncmp(word, NW_USER_EVENTS ":", strlen(NW_USER_EVENTS ":")) == 0;
}

int nw_image_of_spec(const struct nw_spec *spec, bool force, struct nw_image **image,
		     struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *path = NULL;
	nw_cleanup(nw_free_ptr) char *script = NULL;
	int ret = strchr(spec->path, '/') ? 0
					  : nw_locate_elf(spec->path, &path, &script, err);

	if (ret < 0)
		return ret;
	const char *file = path ? path : spec->path;
	return nw_hint_script(file, nw_image_open(file, force, image, err), err);
}

int nw_functions_of_spec(const struct nw_spec *spec, bool force, struct nw_image **image,
			 struct nw_functions *out, struct nw_error *err)
{
	int ret = nw_image_of_spec(spec, force, image, err);

	return ret < 0 ? ret : nw_functions_find(*image, spec->name, out, err);
}

/* ---- near names --------------------------------------------------------------------- */

/* Returns a name without its parameters and without the signs of Go's receivers: "main.T.f" for "main.(*T).f". */
static char *bare_name(const char *name)
{
	char *bare = strndup(name, find_parameters(name)), *to = bare;

	for (const char *from = bare; from && *from; from++)
		if (!strchr("(*)", *from))
			*to++ = *from;
	if (bare)
		*to = '\0';
	return bare;
}

/* Returns the distance of a function's name from the typed one, whose parameters and namespace, package or receiver may
 * be wrong or missing. */
static unsigned int distance_to(const char *typed, const char *name)
{
	unsigned int whole = nw_edit_distance(typed, name);
	nw_cleanup(nw_free_ptr) char *a = bare_name(typed);
	nw_cleanup(nw_free_ptr) char *b = bare_name(name);

	if (!a || !b)
		return whole;
	size_t len = strlen(b), last = strlen(a);
	bool ends = ends_with(b, len, a) && strchr(":.", b[len - last - 1]);
	unsigned int part = ends ? 1 : nw_edit_distance(a, b) + 2;
	return whole < part ? whole : part;
}

int nw_near_functions(struct nw_image *image, const char *name, struct nw_near *near)
{
	struct nw_functions all = {0};
	size_t len = strlen(name);
	unsigned int limit = (unsigned int)(len < 30 ? len / 4 + 1 : 8);
	int ret = find_functions(image, "*", &all);

	nw_vec_each (&all.names, found) {
		unsigned int distance = ret == 0 ? distance_to(name, *found) : limit + 1;
		if (distance <= limit)
			nw_near_add(near, distance, *found);
	}
	for (size_t i = 1; i < NW_NEAR_MOST; i++)
		if (near->distance[i] > near->distance[0])
			near->text[i][0] = '\0';
	nw_functions_free(&all);
	return ret;
}
