// SPDX-License-Identifier: MIT
/*
 * Spans that the names of probes say: query__start and query__done are the ends of "query".
 * The words stand in one table.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nopwatch/summary.h"

/*
 * A word that begins a span, and the words that may end it. Those behind ELSE count only where no
 * probe has one in front of it: x_enter ends with x_entered, and x_exit is another story then.
 */
#define ELSE ""

enum {
	MOST_ENDS = 20
};

static const struct {
	const char *start, *ends[MOST_ENDS];
} words[] = {
	{"start",
	 {"done", "end", "stop", "finish", "finished", "complete", "completed", "return",
	  "commit", "abort", "cancel", "cancelled", "fail", "failed", "error", "success"}},
	{"begin",
	 {"end", "done", "finish", "finished", "complete", "completed", "commit", "abort",
	  "rollback", "cancel", "fail", "failed"}},
	{"entry", {"acquired", ELSE, "return", "exit", "success", "failure"}},
	{"enter", {"entered", ELSE, "exit", "return", "leave"}},
	{"sys_enter", {"sys_exit"}},
	{"request", {"response", "reply", "done"}},
	{"startup", {"shutdown"}},
	{"acquire", {"acquired", ELSE, "release"}},
	{"lock", {"locked", ELSE, "unlock"}},
	{"wait", {"wakeup", "waited"}},
	{"throw", {"catch"}},
	{"thrown", {"caught"}},
	{"raise", {"rescue"}},
	{"suspend", {"resume"}},
	{"scheduled", {"unscheduled"}},
	{"loading", {"loaded"}},
	{"before", {"after"}},
	{"pre", {"post"}},
};

/*
 * Where the names say less than is so, or something else. ends: several, with blanks between them;
 * "": these two words of the table do not make a span, since several are open in one thread at a
 * time and end in any order: --span with a key that tells them apart does.
 */
static const struct {
	const char *provider, *name, *start, *ends;
} special[] = {
	{"hotspot", "class__initialization", "class__initialization__required",
	 "class__initialization__end class__initialization__error class__initialization__erroneous class__initialization__recursive class__initialization__concurrent class__initialization__super__failed"},
	{"hotspot", "monitor__contended", "monitor__contended__enter",
	 "monitor__contended__entered"},
	{"postgresql", "buffer__checkpoint__sync", "buffer__checkpoint__sync__start",
	 "buffer__checkpoint__done"},
	{"postgresql", NULL, "lwlock__acquire", ""},
	{"libc", "pthread_join", "pthread_join", "pthread_join_ret"},
	{"libpthread", "pthread_join", "pthread_join", "pthread_join_ret"},
	{"libc", "rdlock", "rdlock_entry", "rdlock_acquire_read"},
	{"libpthread", "rdlock", "rdlock_entry", "rdlock_acquire_read"},
	{"libc", "wrlock", "wrlock_entry", "wrlock_acquire_write"},
	{"libpthread", "wrlock", "wrlock_entry", "wrlock_acquire_write"},
	{"sssd", "sysdb_transaction", "sysdb_transaction_start",
	 "sysdb_transaction_commit_after sysdb_transaction_cancel"},
	{"glib", "main__dispatch", "main__before_dispatch", "main__after_dispatch"},
	{"gobject", "signal__emit", "signal__emit", "signal__emit__end"},
	{"node", NULL, "http__server__request", ""},
	{"node", NULL, "http__client__request", ""},
	{"libvirt", NULL, "rpc_keepalive_start", ""},
};

/* What separates a word from the rest of a name. */
static const char *const separators[] = {"__", "_", "-", "."};

/* Where a word stands in a name. */
struct fit {
	bool found;
	size_t stem_at, stem_len; /* the rest of the name */
	const char *separator;	  /* NULL: the word is the whole name */
	bool in_front;		  /* start_query rather than query_start */
};

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t end_len = strlen(end);

	return len >= end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

static struct fit fit_word(const char *name, const char *word)
{
	size_t len = strlen(name), word_len = strlen(word);

	if (strcmp(name, word) == 0)
		return (struct fit){.found = true};
	for (size_t i = 0; i < NW_COUNT(separators); i++) {
		size_t sep = strlen(separators[i]);
		if (len <= word_len + sep)
			continue;
		size_t rest = len - word_len - sep;
		if (ends_with(name, len, word) &&
		    ends_with(name, len - word_len, separators[i]))
			return (struct fit){.found = true,
					    .stem_len = rest,
					    .separator = separators[i]};
		if (memcmp(name, word, word_len) == 0 &&
		    memcmp(name + word_len, separators[i], sep) == 0)
			return (struct fit){.found = true,
					    .stem_at = word_len + sep,
					    .stem_len = rest,
					    .separator = separators[i],
					    .in_front = true};
	}
	return (struct fit){0};
}

static bool same_stem(const char *a, const struct fit *x, const char *b,
		      const struct fit *y)
{
	return x->separator == y->separator && x->in_front == y->in_front &&
	       x->stem_len == y->stem_len &&
	       memcmp(a + x->stem_at, b + y->stem_at, x->stem_len) == 0;
}

/* "postgresql:query"; where nothing but the words is left, "libstdcxx:throw-catch". */
static char *span_name(const struct nw_probe *start, const struct fit *fit,
		       const struct nw_probe *end)
{
	size_t name_len = strlen(start->name), label_len = strlen(start->label);
	int prefix = (int)(label_len - name_len);

	if (!fit->separator)
		return nw_text("%.*s%s-%s", prefix, start->label, start->name, end->name);
	return nw_text("%.*s%.*s", prefix, start->label, (int)fit->stem_len,
		       start->name + fit->stem_at);
}

static int add_probe(nw_vec_u32 *list, uint32_t probe)
{
	uint32_t *slot = nw_vec_add(list);

	if (!slot)
		return -ENOMEM;
	*slot = probe;
	return 0;
}

/* ---- probes by name ------------------------------------------------------------------ */

/* The probes of a selection in the order of their files, providers and names. */
struct named_probe {
	const struct nw_probe *probe;
	uint32_t number;
};
typedef NW_VEC(struct named_probe) named_probes;

static int compare_source(const struct nw_probe *probe, const struct nw_image *image,
			  const char *provider, const char *name)
{
	int order = strcmp(probe->provider, provider);

	if (probe->image != image)
		return (uintptr_t)probe->image < (uintptr_t)image ? -1 : 1;
	return order ? order : strcmp(probe->name, name);
}

static int by_source(const void *one, const void *other)
{
	const struct named_probe *a = one, *b = other;
	int order = compare_source(a->probe, b->probe->image, b->probe->provider,
				   b->probe->name);

	return order ? order : a->number < b->number ? -1 : a->number > b->number;
}

static int sort_probes(const struct nw_selection *selection, named_probes *out)
{
	for (uint32_t i = 0; i < selection->probes.count; i++) {
		struct named_probe *named = nw_vec_add(out);
		if (!named)
			return -ENOMEM;
		*named = (struct named_probe){selection->probes.item[i], i};
	}
	if (out->count)
		qsort(out->item, out->count, sizeof(*out->item), by_source);
	return 0;
}

/* Add the numbers of all probes of that file, provider and name. */
static int find_probes(const named_probes *all, const struct nw_image *image,
		       const char *provider, const char *name, nw_vec_u32 *out)
{
	size_t from = 0, to = all->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (compare_source(all->item[middle].probe, image, provider, name) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	for (; from < all->count; from++) {
		if (compare_source(all->item[from].probe, image, provider, name) != 0)
			break;
		if (add_probe(out, all->item[from].number) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int by_number(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return a < b ? -1 : a > b;
}

/* Spans list their ends in the order of the selection. */
static void sort_numbers(nw_vec_u32 *list)
{
	if (list->count)
		qsort(list->item, list->count, sizeof(*list->item), by_number);
}

/* ---- spans by name ------------------------------------------------------------------- */

/* Make a span of a definition that has its name and its ends; 1. */
static int add_span(struct nw_span_def *def, uint32_t start, nw_span_defs *out)
{
	bool ready = def->name && add_probe(&def->starts, start) == 0;
	struct nw_span_def *span = ready ? nw_vec_add(out) : NULL;

	if (!span) {
		nw_span_def_free(def);
		return -ENOMEM;
	}
	*span = *def;
	return 1;
}

/* How many words of the row's ends from the at-th on belong together. */
static size_t ends_of_group(size_t row, size_t at)
{
	size_t count = 0;

	while (at + count < MOST_ENDS && words[row].ends[at + count] &&
	       *words[row].ends[at + count])
		count++;
	return count;
}

/* Add the probe to the ends if it is one, by these words of the row; -ENOMEM. */
static int add_end(const struct nw_probe *first, const struct fit *from,
		   const struct nw_probe *probe, uint32_t number, const char *const *ends,
		   size_t count, struct nw_span_def *def)
{
	for (size_t j = 0; j < count; j++) {
		struct fit to = fit_word(probe->name, ends[j]);
		if (!to.found || !same_stem(first->name, from, probe->name, &to))
			continue;
		if (!def->name)
			def->name = span_name(first, from, probe);
		return def->name ? add_probe(&def->ends, number) : -ENOMEM;
	}
	return 0;
}

/* What an end probe is called that has the word where the start has its own. */
static char *end_name(const char *start, const struct fit *from, const char *word)
{
	if (!from->separator)
		return strdup(word);
	if (from->in_front)
		return nw_text("%s%s%.*s", word, from->separator, (int)from->stem_len,
			       start + from->stem_at);
	return nw_text("%.*s%s%s", (int)from->stem_len, start + from->stem_at,
		       from->separator, word);
}

/* The probes that are called so, by any of these words. */
static int find_ends(const named_probes *all, const struct nw_probe *first,
		     const struct fit *from, const char *const *ends, size_t count,
		     nw_vec_u32 *out)
{
	int ret = 0;

	for (size_t j = 0; j < count && ret == 0; j++) {
		nw_cleanup(nw_free_ptr) char *name = end_name(first->name, from, ends[j]);
		ret = name ? find_probes(all, first->image, first->provider, name, out)
			   : -ENOMEM;
	}
	sort_numbers(out);
	return ret;
}

/* Find the ends of a start probe by one row of words, and make a span of them. */
static int pair_row(const struct nw_selection *selection, const named_probes *all,
		    uint32_t start, size_t row, nw_span_defs *out)
{
	const struct nw_probe *first = selection->probes.item[start];
	struct fit from = fit_word(first->name, words[row].start);
	struct nw_span_def def = {.key = NW_KEY_TID, .key_name = "tid", .named = true};
	size_t at = 0, count;
	int ret = 0;

	for (;
	     from.found && ret == 0 && !def.ends.count && (count = ends_of_group(row, at));
	     at += count + 1) {
		const char *const *ends = words[row].ends + at;
		nw_vec_u32 found = {0};
		ret = find_ends(all, first, &from, ends, count, &found);
		nw_vec_each (&found, number)
			if (ret == 0 && *number != start)
				ret = add_end(first, &from, selection->probes.item[*number],
					      *number, ends, count, &def);
		nw_vec_free(&found);
	}
	if (ret == 0 && def.ends.count)
		return add_span(&def, start, out);
	nw_span_def_free(&def);
	return ret;
}

/* The probes of the same source that a list with blanks names. */
static int find_listed(const named_probes *all, const struct nw_probe *first,
		       const char *list, nw_vec_u32 *out)
{
	int ret = 0;

	while (*list && ret == 0) {
		size_t len = strcspn(list, " ");
		nw_cleanup(nw_free_ptr) char *name = strndup(list, len);
		ret = name ? find_probes(all, first->image, first->provider, name, out)
			   : -ENOMEM;
		list += len + strspn(list + len, " ");
	}
	sort_numbers(out);
	return ret;
}

/* By the table of special cases; *known: it is one, whether there is a span or not. */
static int pair_special(const struct nw_selection *selection, const named_probes *all,
			uint32_t start, bool *known, nw_span_defs *out)
{
	const struct nw_probe *first = selection->probes.item[start];
	struct nw_span_def def = {.key = NW_KEY_TID, .key_name = "tid", .named = true};
	size_t row = 0;

	*known = false;
	while (row < NW_COUNT(special) &&
	       (strcmp(special[row].provider, first->provider) != 0 ||
		strcmp(special[row].start, first->name) != 0))
		row++;
	if (row == NW_COUNT(special))
		return 0;
	*known = true;
	if (find_listed(all, first, special[row].ends, &def.ends) < 0) {
		nw_span_def_free(&def);
		return -ENOMEM;
	}
	if (!def.ends.count)
		return 0;
	int prefix = (int)(strlen(first->label) - strlen(first->name));
	def.name = nw_text("%.*s%s", prefix, first->label, special[row].name);
	return add_span(&def, start, out);
}

/* Are its returns told by something else than the kernel's return probes? */
static bool is_unlimited(const struct nw_probe *returns)
{
	return returns->points.count && !returns->points.item[0].is_return;
}

/* What a function's code says of its calls. */
static void describe_call(const struct nw_selection *selection,
			  const struct nw_probe *entry, struct nw_span_def *def)
{
	def->unlimited = is_unlimited(selection->probes.item[def->ends.item[0]]);
	def->goroutines = entry->points.count && entry->points.item[0].goroutine;
	if (def->goroutines)
		strcpy(def->key_name, "goroutine");
}

/* Calls of Go's are not timed if nothing says which of them a return ends (see struct nw_point). */
static bool is_untold(const struct nw_probe *entry)
{
	const char *goroutine = entry->points.count ? entry->points.item[0].goroutine
						    : NULL;

	return goroutine && !*goroutine;
}

/* func:PATH:SYMBOL: a function's entry and its return. */
static int pair_function(const struct nw_selection *selection, const named_probes *all,
			 uint32_t start, nw_span_defs *out)
{
	const struct nw_probe *first = selection->probes.item[start];
	struct nw_span_def def = {.key = NW_KEY_TID, .key_name = "tid", .call = true};
	bool is_entry = strcmp(first->provider, "uprobe") == 0;

	if (is_untold(first))
		return 0;
	if (is_entry &&
	    find_probes(all, first->image, "uretprobe", first->name, &def.ends) < 0) {
		nw_span_def_free(&def);
		return -ENOMEM;
	}
	if (!def.ends.count)
		return 0;
	def.ends.count = 1;
	def.name = strdup(first->name);
	describe_call(selection, first, &def);
	return add_span(&def, start, out);
}

int nw_spans_by_name(const struct nw_selection *selection, nw_span_defs *out)
{
	named_probes all = {0};
	int ret = sort_probes(selection, &all);

	for (uint32_t i = 0; i < selection->probes.count && ret >= 0; i++) {
		bool known;
		ret = pair_special(selection, &all, i, &known, out);
		for (size_t row = 0; row < NW_COUNT(words) && ret == 0 && !known; row++)
			ret = pair_row(selection, &all, i, row, out);
		if (ret == 0)
			ret = pair_function(selection, &all, i, out);
	}
	nw_vec_free(&all);
	return ret < 0 ? ret : 0;
}

void nw_span_def_free(struct nw_span_def *def)
{
	free(def->name);
	nw_vec_free(&def->starts);
	nw_vec_free(&def->ends);
	*def = (struct nw_span_def){0};
}

void nw_spans_free(nw_span_defs *defs)
{
	nw_vec_each (defs, def)
		nw_span_def_free(def);
	nw_vec_free(defs);
}

/* ---- --span ------------------------------------------------------------------------- */

/* The pieces of "[NAME=]START..END[|END2][,key=KEY]", pointing into text. */
struct span_text {
	const char *name, *start, *end, *key;
	size_t name_len, start_len, end_len, key_len;
};

static int bad_span(struct nw_error *err, const char *text, const char *why)
{
	nw_fail_usage(err, "'%s' is not a span: %s", text, why);
	nw_error_hint(
		err,
		"write [NAME=]START..END[|END2][,key=tid|pid|ARG[:ENDARG]], START and END being probes, for example --span 'conn=app:connect..app:close,key=fd'");
	return -EINVAL;
}

/* The dots between START and END: not those of a path such as ../app or /opt/../app. */
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

/* NAME or NAME:NAME */
static bool is_key(const char *key)
{
	size_t first = strcspn(key, ":");
	const char *second = key[first] ? key + first + 1 : "end";

	return first > 0 && first < 32 && *second && strlen(second) < 32 &&
	       !strchr(second, ':');
}

static int cut_span(const char *text, struct span_text *out, struct nw_error *err)
{
	const char *dots = find_dots(text), *comma, *equals;

	*out = (struct span_text){.start = text};
	if (!dots)
		return bad_span(err, text, "START..END is missing");
	/* a NAME= before the dots, but not an '=' inside a path */
	equals = memchr(text, '=', (size_t)(dots - text));
	if (equals && !memchr(text, '/', (size_t)(equals - text)) &&
	    !memchr(text, ':', (size_t)(equals - text))) {
		out->name = text;
		out->name_len = (size_t)(equals - text);
		out->start = equals + 1;
	}
	out->start_len = (size_t)(dots - out->start);
	out->end = dots + 2;
	comma = strstr(out->end, ",key=");
	out->end_len = comma ? (size_t)(comma - out->end) : strlen(out->end);
	if (comma) {
		out->key = comma + 5;
		out->key_len = strlen(out->key);
	}
	if (out->name && !out->name_len)
		return bad_span(err, text, "its name is empty");
	if (!out->start_len || !out->end_len)
		return bad_span(err, text, "START or END is missing");
	if (comma && !is_key(out->key))
		return bad_span(err, text, "the key is not a name");
	return 0;
}

/* A probe as the user writes it. */
struct named {
	char *pattern; /* without arguments */
	struct nw_spec
		spec; /* the same taken as a spec, if it is one: else without a text */
	char *symbol; /* what the spec's probe is called */
};

static void free_named(struct named *named)
{
	free(named->pattern);
	free(named->symbol);
	nw_spec_free(&named->spec);
}

/* What a function's probe is called (src/probe/match.c); a USDT probe has its own name. */
static char *symbol_of(const struct nw_spec *spec)
{
	if (spec->kind == NW_SPEC_USDT || (*spec->name && !spec->offset))
		return strdup(spec->name);
	return nw_text("%s%s0x%" PRIx64, spec->name, *spec->name ? "+" : "", spec->offset);
}

static int make_named(const char *text, size_t len, struct named *out)
{
	struct nw_error ignored;

	*out = (struct named){.pattern = strndup(text, len)};
	if (!out->pattern)
		return -ENOMEM;
	int ret = nw_spec_parse(out->pattern, &out->spec, &ignored);
	if (ret == 0)
		out->symbol = symbol_of(&out->spec);
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

/* Is it the file of the spec? It may have been found under another path: in $PATH, as a version
 * of a library, below /proc/PID/root. */
static bool in_file(const struct nw_spec *spec, const char *path)
{
	const char *wanted = base_name(spec->path);

	return !*wanted || nw_glob_match(spec->path, path) ||
	       strncmp(base_name(path), wanted, strlen(wanted)) == 0;
}

/* Does the text name this probe: by its label, by its name alone, or as a spec? */
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

/* Add the probes that the text names, each once. Returns how many it names, or -ENOMEM. */
static int add_named(const struct nw_selection *selection, const char *text, size_t len,
		     nw_vec_u32 *out)
{
	struct named named;
	int found = make_named(text, len, &named);

	/* the path tells several files apart; where it matches none of them, it is ignored */
	for (int any_file = 0; any_file < 2 && found == 0; any_file++) {
		for (uint32_t i = 0; i < selection->probes.count && found >= 0; i++) {
			if (!names_probe(&named, selection->probes.item[i], any_file))
				continue;
			found++;
			if (!has_number(out, i) && add_probe(out, i) < 0)
				found = -ENOMEM;
		}
	}
	free_named(&named);
	return found;
}

/* All of END|END2|... */
static int add_ends(const struct nw_selection *selection, const struct span_text *parts,
		    struct nw_span_def *def)
{
	const char *at = parts->end, *stop = parts->end + parts->end_len;

	while (at < stop) {
		const char *bar = memchr(at, '|', (size_t)(stop - at));
		size_t len = (size_t)((bar ? bar : stop) - at);
		int found = add_named(selection, at, len, &def->ends);
		if (found <= 0)
			return found;
		at += len + (bar != NULL);
	}
	return (int)def->ends.count;
}

static enum nw_span_key key_kind(const char *name)
{
	return strcmp(name, "tid") == 0	  ? NW_KEY_TID
	       : strcmp(name, "pid") == 0 ? NW_KEY_PID
					  : NW_KEY_ARG;
}

/* KEY, or KEY:KEY of the ends. */
static void set_key(const struct span_text *parts, struct nw_span_def *def)
{
	const char *key = parts->key ? parts->key : "tid";
	size_t len = strcspn(key, ":");

	snprintf(def->key_name, sizeof(def->key_name), "%.*s", (int)len, key);
	def->key = key_kind(def->key_name);
	if (key[len] && strcmp(def->key_name, key + len + 1) != 0)
		snprintf(def->end_key_name, sizeof(def->end_key_name), "%s", key + len + 1);
	def->end_key = *def->end_key_name ? key_kind(def->end_key_name) : def->key;
}

void nw_span_key_text(const struct nw_span_def *def, char out[72])
{
	snprintf(out, 72, "%s%s%s", def->key_name, *def->end_key_name ? ":" : "",
		 def->end_key_name);
}

/* Is one of the keys of such a text of that kind? */
static bool has_key(const char *text, enum nw_span_key kind)
{
	struct nw_span_def def = {0};
	struct span_text parts;
	struct nw_error ignored;

	if (cut_span(text, &parts, &ignored) < 0)
		return false;
	set_key(&parts, &def);
	return def.key == kind || def.end_key == kind;
}

bool nw_span_needs_args(const char *text)
{
	return has_key(text, NW_KEY_ARG);
}

bool nw_span_needs_pids(const char *text)
{
	return has_key(text, NW_KEY_PID);
}

static bool is_return_of(const struct nw_probe *entry, const struct nw_probe *probe)
{
	return strcmp(entry->provider, "uprobe") == 0 && probe->image == entry->image &&
	       strcmp(probe->provider, "uretprobe") == 0 &&
	       strcmp(probe->name, entry->name) == 0;
}

/* Is every start a function's entry, and every end the return of the same one? */
static bool is_call(const struct nw_selection *selection, const struct nw_span_def *def)
{
	const struct nw_probe *first = selection->probes.item[def->starts.item[0]];

	if (def->key != NW_KEY_TID || *def->end_key_name || def->starts.count != 1 ||
	    def->ends.count != 1)
		return false;
	return is_return_of(first, selection->probes.item[def->ends.item[0]]);
}

static bool is_subset(const nw_vec_u32 *some, const nw_vec_u32 *all)
{
	nw_vec_each (some, number)
		if (!has_number(all, *number))
			return false;
	return true;
}

/* Do the names of the probes say the same as the user? -ENOMEM. */
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
			      : strndup(parts.start, parts.start_len + 2 + parts.end_len);
	set_key(&parts, &def);
	int starts = add_named(selection, parts.start, parts.start_len, &def.starts);
	int ends = add_ends(selection, &parts, &def);
	if (!def.name || starts == -ENOMEM || ends == -ENOMEM)
		ret = nw_no_memory(err);
	else if (!starts)
		ret = bad_span(err, text, "no probe that is traced is its START");
	else if (!ends)
		ret = bad_span(err, text, "no probe that is traced is its END");
	else if (find_named(selection, &def) < 0)
		ret = nw_no_memory(err);
	if (ret < 0) {
		nw_span_def_free(&def);
		return ret;
	}
	def.call = is_call(selection, &def);
	if (def.call)
		describe_call(selection, selection->probes.item[def.starts.item[0]], &def);
	*out = def;
	return 0;
}

int nw_span_specs(const char *text, nw_strings *out, struct nw_error *err)
{
	struct span_text parts;
	int ret = cut_span(text, &parts, err);

	if (ret == 0)
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
