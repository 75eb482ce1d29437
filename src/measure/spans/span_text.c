// SPDX-License-Identifier: MIT
/* Parses spans that the user defines with --span. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"

/* The parts of "[NAME=]START..END[|END2][,key=KEY]", pointing into the text. With a duration there is no start. */
struct span_text {
	const char *name, *start, *end, *key, *nest, *duration;
	size_t name_len, start_len, end_len, key_len, nest_len, duration_len;
};

static int bad_span(struct nw_error *err, const char *text, const char *why)
{
	nw_fail_usage(err, "'%s' is not a span: %s", text, why);
	nw_error_hint(
		err,
		"write [NAME=]START..END[|END2][,key=tid|pid|cpu|ARG[+ARG2][:ENDARG]][,nest=no|outer], START and END being probes, for example --span 'conn=app:connect..app:close,key=fd'; or [NAME=]PROBE,duration=ARG[:ns|us|ms|s] if the probe hands over how long it took");
	return -EINVAL;
}

/* Finds the dots between START and END, which are not those of a path such as ../app or /opt/../app. */
static const char *find_dots(const char *text)
{
	const char *at = text;

	while ((at = strstr(at, ".."))) {
		bool begins = at == text || strchr(":=/", at[-1]);
		if (!begins || at[2] != '/')
			return at;
		at += 2;
	}
	return NULL;
}

/* Is the text NAME, or up to 4 with + between them? A name is shorter than 32 characters. */
static bool is_names(const char *text, size_t len)
{
	size_t parts = 1, at = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && text[i] != '+')
			continue;
		if (i == at || i - at >= 32 || (i < len && ++parts > NW_MOST_KEY_PARTS))
			return false;
		at = i + 1;
	}
	return true;
}

/* Is the text NAMES or NAMES:NAMES? */
static bool is_key(const char *key, size_t len)
{
	const char *colon = memchr(key, ':', len);
	size_t first = colon ? (size_t)(colon - key) : len;

	return is_names(key, first) &&
	       (!colon || (is_names(colon + 1, len - first - 1) &&
			   !memchr(colon + 1, ':', len - first - 1)));
}

/* The options behind the ends, and the fields where their values go. */
static const struct {
	const char *text;
	size_t value, len;
} options[] = {
#define OPTION(name)                                             \
	{                                                        \
		"," #name "=", offsetof(struct span_text, name), \
			offsetof(struct span_text, name##_len)   \
	}
	OPTION(key),
	OPTION(nest),
	OPTION(duration),
};

/* Returns the first option, beginning at its comma; NULL: there is none. Sets *which to its row. */
static const char *find_option(const char *text, size_t *which)
{
	const char *first = NULL;

	for (size_t i = 0; i < NW_COUNT(options); i++) {
		const char *at = strstr(text, options[i].text);
		if (!at || (first && first < at))
			continue;
		first = at;
		*which = i;
	}
	return first;
}

static bool is_word(const char *value, size_t len, const char *word)
{
	return len == strlen(word) && memcmp(value, word, len) == 0;
}

/* Parses ",key=...", ",nest=..." and ",duration=...", in any order. which: the row of the first one. */
static int cut_options(const char *text, const char *at, size_t which,
		       struct span_text *out, struct nw_error *err)
{
	while (at) {
		const char *value = at + strlen(options[which].text);
		const size_t of = which;
		at = find_option(value, &which);
		*(const char **)((char *)out + options[of].value) = value;
		*(size_t *)((char *)out + options[of].len) = at ? (size_t)(at - value)
								: strlen(value);
	}
	if (out->key && !is_key(out->key, out->key_len))
		return bad_span(err, text, "the key is not a name");
	if (out->duration && !is_key(out->duration, out->duration_len))
		return bad_span(err, text, "the duration is not an argument");
	if (out->duration && (out->key || out->nest))
		return bad_span(
			err, text,
			"a duration needs no key and does not nest: each hit is a span");
	if (out->nest && !is_word(out->nest, out->nest_len, "no") &&
	    !is_word(out->nest, out->nest_len, "outer") &&
	    !is_word(out->nest, out->nest_len, "yes"))
		return bad_span(err, text, "nest is 'yes', 'no' or 'outer'");
	return 0;
}

static int cut_span(const char *text, struct span_text *out, struct nw_error *err)
{
	size_t which = 0;
	const char *dots = find_dots(text);
	const char *first = find_option(dots ? dots : text, &which), *equals;
	const char *stop = dots ? dots : first;

	*out = (struct span_text){.start = text};
	if (!stop)
		return bad_span(err, text, "START..END is missing");
	/* There may be a NAME= before the dots; but an '=' inside a path does not count. */
	equals = memchr(text, '=', (size_t)(stop - text));
	if (equals && !memchr(text, '/', (size_t)(equals - text)) &&
	    !memchr(text, ':', (size_t)(equals - text))) {
		out->name = text;
		out->name_len = (size_t)(equals - text);
		out->start = equals + 1;
	}
	out->start_len = dots ? (size_t)(dots - out->start) : 0;
	out->end = dots ? dots + 2 : out->start;
	out->end_len = first ? (size_t)(first - out->end) : strlen(out->end);
	if (out->name && !out->name_len)
		return bad_span(err, text, "its name is empty");
	int ret = cut_options(text, first, which, out, err);
	if (ret < 0)
		return ret;
	if (out->duration && dots)
		return bad_span(
			err, text,
			"a duration is handed over by one probe, not from START to END");
	if (!out->duration && !dots)
		return bad_span(err, text, "START..END is missing");
	return (out->start_len || !dots) && out->end_len
		       ? 0
		       : bad_span(err, text, "START or END is missing");
}

/* A probe as the user writes it. */
struct named {
	char *pattern; /* without arguments */
	/* The same text parsed as a spec; without a text if it is no spec. */
	struct nw_spec spec;
	char *symbol; /* name of the spec's probe */
};

/* The caller frees *out even after an error. */
static int make_named(const char *text, size_t len, struct named *out)
{
	struct nw_error ignored;

	*out = (struct named){.pattern = strndup(text, len)};
	if (!out->pattern)
		return -ENOMEM;
	int ret = nw_spec_parse(out->pattern, &out->spec, &ignored);
	const struct nw_spec *spec = &out->spec;
	/* A USDT probe has its own name; that of a function is made as in src/find/probe/match.c. */
	if (ret == 0 && (spec->kind == NW_SPEC_USDT || (*spec->name && !spec->offset)))
		out->symbol = strdup(spec->name);
	else if (ret == 0)
		out->symbol = nw_text("%s%s0x%" PRIx64, spec->name, *spec->name ? "+" : "",
				      spec->offset);
	char *args = strchr(out->pattern, '(');
	if (args)
		*args = '\0';
	return ret == -ENOMEM || (ret == 0 && !out->symbol) ? -ENOMEM : 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Is it the file of the spec? The file may have been found under another path: in $PATH, as a version of a library,
 * or below /proc/PID/root. */
static bool in_file(const struct nw_spec *spec, const char *path)
{
	const char *wanted = base_name(spec->path);

	return !*wanted || nw_glob_match(spec->path, path) ||
	       strncmp(base_name(path), wanted, strlen(wanted)) == 0;
}

/* Does the text name this probe by its label, by its name alone, or as a spec? */
static bool names_probe(const struct named *named, const struct nw_probe *probe,
			bool any_file)
{
	const struct nw_spec *spec = &named->spec;
	bool kernel = probe->kind == NW_SPEC_TRACEPOINT;

	if (nw_glob_match(named->pattern, probe->label) ||
	    nw_glob_match(named->pattern, probe->name))
		return true;
	return spec->text && (spec->kind == NW_SPEC_TRACEPOINT) == kernel &&
	       nw_spec_matches_provider(spec, probe->provider) &&
	       nw_glob_match(named->symbol, probe->name) &&
	       (any_file || !probe->image || in_file(spec, probe->image->path));
}

static bool has_number(const nw_vec_u32 *list, uint32_t number)
{
	nw_vec_each (list, known)
		if (*known == number)
			return true;
	return false;
}

/* Adds the probes that the text names, without duplicates. Returns how many it names, or -ENOMEM. any_file: the path
 * tells several files apart; if it matches none of them, it is ignored. */
static int add_named(const struct nw_selection *selection, const char *text, size_t len,
		     bool any_file, nw_vec_u32 *out)
{
	struct named named;
	int found = make_named(text, len, &named);

	for (int any = 0; any < (any_file ? 2 : 1) && found == 0; any++) {
		for (uint32_t i = 0; i < selection->probes.count && found >= 0; i++) {
			if (!names_probe(&named, selection->probes.item[i], any))
				continue;
			found++;
			if (!has_number(out, i) && nw_pairs_add(out, i) < 0)
				found = -ENOMEM;
		}
	}
	free(named.pattern);
	free(named.symbol);
	nw_spec_free(&named.spec);
	return found;
}

int nw_probes_named(const struct nw_selection *selection, const char *text, nw_vec_u32 *out)
{
	return add_named(selection, text, strlen(text), false, out);
}

/* Adds all ends of END|END2|... */
static int add_ends(const struct nw_selection *selection, const struct span_text *parts,
		    nw_vec_u32 *out)
{
	const char *at = parts->end, *stop = parts->end + parts->end_len;

	while (at < stop) {
		const char *bar = memchr(at, '|', (size_t)(stop - at));
		size_t len = (size_t)((bar ? bar : stop) - at);
		int found = add_named(selection, at, len, true, out);
		if (found <= 0)
			return found;
		at += len + (bar != NULL);
	}
	return (int)out->count;
}

enum nw_span_key nw_span_key_kind(const char *name)
{
	return strchr(name, '+')	  ? NW_KEY_SEVERAL
	       : strcmp(name, "tid") == 0 ? NW_KEY_TID
	       : strcmp(name, "pid") == 0 ? NW_KEY_PID
	       : strcmp(name, "cpu") == 0 ? NW_KEY_CPU
					  : NW_KEY_ARG;
}

/* Parses KEY, or KEY:KEY with the key of the ends. */
static void set_key(const struct span_text *parts, struct nw_span_def *def)
{
	const char *key = parts->key ? parts->key : "tid";
	int all = parts->key ? (int)parts->key_len : 3, len = 0;

	while (len < all && key[len] != ':')
		len++;
	snprintf(def->key_name, sizeof(def->key_name), "%.*s", len, key);
	def->key = nw_span_key_kind(def->key_name);
	if (len < all)
		snprintf(def->end_key_name, sizeof(def->end_key_name), "%.*s",
			 all - len - 1, key + len + 1);
	if (strcmp(def->key_name, def->end_key_name) == 0)
		*def->end_key_name = '\0';
	def->end_key = *def->end_key_name ? nw_span_key_kind(def->end_key_name) : def->key;
}

/* Parses ARG[:UNIT] of a duration; without a unit, it is in nanoseconds. */
static int set_duration(const char *text, const struct span_text *parts,
			struct nw_span_def *def, struct nw_error *err)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	const char *colon = memchr(parts->duration, ':', parts->duration_len);
	size_t len = colon ? (size_t)(colon - parts->duration) : parts->duration_len;

	snprintf(def->duration, sizeof(def->duration), "%.*s", (int)len, parts->duration);
	if (!colon)
		def->unit_ns = 1;
	for (size_t i = 0; colon && i < NW_COUNT(units); i++)
		if (is_word(colon + 1, parts->duration_len - len - 1, units[i].name))
			def->unit_ns = units[i].ns;
	return def->unit_ns
		       ? 0
		       : bad_span(err, text, "the unit of a duration is ns, us, ms or s");
}

const struct nw_probe *nw_span_function(const struct nw_span_def *def,
					const struct nw_selection *selection)
{
	return def->call && def->starts.count ? selection->probes.item[def->starts.item[0]]
					      : NULL;
}

void nw_span_key_text(const struct nw_span_def *def, char out[NW_SPAN_KEY_TEXT])
{
	snprintf(out, NW_SPAN_KEY_TEXT, "%s%s%s", def->key_name,
		 *def->end_key_name ? ":" : "", def->end_key_name);
}

/* Is one of the names, with + between them, of this kind? */
static bool has_kind(const char *names, enum nw_span_key kind)
{
	nw_cleanup(nw_free_ptr) char *copy = strdup(names);
	char *rest = copy, *name;
	bool found = !copy; /* without memory, what may be needed is needed */

	while (!found && (name = strsep(&rest, "+")))
		found = nw_span_key_kind(name) == kind;
	return found;
}

/* Is one of the keys in the text of this kind? */
static bool has_key(const char *text, enum nw_span_key kind)
{
	struct nw_span_def def = {0};
	struct span_text parts;
	struct nw_error ignored;

	if (cut_span(text, &parts, &ignored) < 0)
		return false;
	set_key(&parts, &def);
	return has_kind(def.key_name, kind) ||
	       (*def.end_key_name && has_kind(def.end_key_name, kind));
}

bool nw_span_needs_args(const char *text)
{
	return has_key(text, NW_KEY_ARG) || strstr(text, ",duration=");
}

bool nw_span_needs_pids(const char *text)
{
	return has_key(text, NW_KEY_PID);
}

/* Is the start a function's entry, and the end the return of the same function? */
static bool is_call(const struct nw_selection *selection, const struct nw_span_def *def)
{
	const struct nw_probe *entry = selection->probes.item[def->starts.item[0]];
	const struct nw_probe *returns = selection->probes.item[def->ends.item[0]];

	if (def->key != NW_KEY_TID || *def->end_key_name || def->starts.count != 1 ||
	    def->ends.count != 1)
		return false;
	return nw_probes_are_call(entry, returns);
}

static bool is_subset(const nw_vec_u32 *some, const nw_vec_u32 *all)
{
	nw_vec_each (some, number)
		if (!has_number(all, *number))
			return false;
	return true;
}

/* Sets `named` if the names of the probes imply the span that the user defines. Returns -ENOMEM on failure. */
static int find_named(const struct nw_selection *selection, struct nw_span_def *def)
{
	nw_span_defs named = {0};
	int ret = nw_spans_by_name(selection, &named);

	nw_vec_each (&named, other)
		def->named |= other->named && is_subset(&def->starts, &other->starts) &&
			      is_subset(&def->ends, &other->ends);
	nw_spans_free(&named);
	return ret;
}

int nw_span_parse(const char *text, const struct nw_selection *selection,
		  struct nw_span_def *out, struct nw_error *err)
{
	struct nw_span_def def = {0};
	struct span_text parts;
	int ret = cut_span(text, &parts, err);

	if (ret < 0)
		return ret;
	def.name = parts.name ? strndup(parts.name, parts.name_len)
			      : strndup(parts.start,
					(size_t)(parts.end + parts.end_len - parts.start));
	set_key(&parts, &def);
	int ends = add_ends(selection, &parts, &def.ends);
	int starts = parts.duration ? add_ends(selection, &parts, &def.starts)
				    : add_named(selection, parts.start, parts.start_len,
						true, &def.starts);
	if (!def.name || starts == -ENOMEM || ends == -ENOMEM)
		ret = nw_no_memory(err);
	else if (!starts)
		ret = bad_span(err, text,
			       parts.duration ? "no probe that is traced hands it over"
					      : "no probe that is traced is its START");
	else if (!ends)
		ret = bad_span(err, text, "no probe that is traced is its END");
	else if (parts.duration)
		ret = set_duration(text, &parts, &def, err);
	else if (find_named(selection, &def) < 0)
		ret = nw_no_memory(err);
	if (ret < 0) {
		nw_span_def_free(&def);
		return ret;
	}
	def.flat = parts.nest && is_word(parts.nest, parts.nest_len, "no");
	def.outer = parts.nest && is_word(parts.nest, parts.nest_len, "outer");
	def.call = is_call(selection, &def);
	if (def.call && (def.flat || def.outer)) {
		nw_span_def_free(&def);
		return bad_span(
			err, text,
			"calls of a function are told apart by their stack pointers, so nest= is not for them");
	}
	if (def.call)
		nw_pairs_set_call(selection, selection->probes.item[def.starts.item[0]],
				  &def);
	*out = def;
	return 0;
}

int nw_span_specs(const char *text, nw_strings *out, struct nw_error *err)
{
	struct span_text parts;
	int ret = cut_span(text, &parts, err);

	if (ret == 0 && parts.start_len)
		ret = nw_strings_add(out, parts.start, parts.start_len);
	for (size_t at = 0; ret == 0 && at < parts.end_len;) {
		size_t len = strcspn(parts.end + at, "|");
		if (len > parts.end_len - at)
			len = parts.end_len - at;
		ret = nw_strings_add(out, parts.end + at, len);
		at += len + 1;
	}
	return ret == -ENOMEM ? nw_no_memory(err) : ret;
}
