// SPDX-License-Identifier: MIT
/*
 * Spans that the names of probes imply: query__start and query__done are the ends of "query". One table holds all
 * words.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"

/*
 * Words that begin a span, and the words that may end it. Those behind ELSE count only if no probe has one of those
 * in front of it: x_enter ends with x_entered, and x_exit then means something else.
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
 * Exceptions, where names do not tell enough, or mislead. ends: one or several names, separated by blanks; "": these
 * two words form no span, since several may be open in one thread at a time and end in any order. Such a span needs
 * --span with a key that tells them apart.
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

/* Separators of a word and the rest of a name. */
static const char *const separators[] = {"__", "_", "-", "."};

/* The position of a word in a name. */
struct word_match {
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

static struct word_match match_word(const char *name, const char *word)
{
	size_t len = strlen(name), word_len = strlen(word);

	if (strcmp(name, word) == 0)
		return (struct word_match){.found = true};
	for (size_t i = 0; i < NW_COUNT(separators); i++) {
		size_t sep = strlen(separators[i]);
		if (len <= word_len + sep)
			continue;
		size_t rest = len - word_len - sep;
		if (ends_with(name, len, word) &&
		    ends_with(name, len - word_len, separators[i]))
			return (struct word_match){.found = true,
						   .stem_len = rest,
						   .separator = separators[i]};
		if (memcmp(name, word, word_len) == 0 &&
		    memcmp(name + word_len, separators[i], sep) == 0)
			return (struct word_match){.found = true,
						   .stem_at = word_len + sep,
						   .stem_len = rest,
						   .separator = separators[i],
						   .in_front = true};
	}
	return (struct word_match){0};
}

static bool same_stem(const char *a, const struct word_match *x, const char *b,
		      const struct word_match *y)
{
	return x->separator == y->separator && x->in_front == y->in_front &&
	       x->stem_len == y->stem_len &&
	       memcmp(a + x->stem_at, b + y->stem_at, x->stem_len) == 0;
}

/* Names a span: "postgresql:query"; if names consist of the words only, "libstdcxx:throw-catch". */
static char *span_name(const struct nw_probe *start, const struct word_match *match,
		       const struct nw_probe *end)
{
	size_t name_len = strlen(start->name), label_len = strlen(start->label);
	int prefix = (int)(label_len - name_len);

	if (!match->separator)
		return nw_text("%.*s%s-%s", prefix, start->label, start->name, end->name);
	return nw_text("%.*s%.*s", prefix, start->label, (int)match->stem_len,
		       start->name + match->stem_at);
}

int nw_pairs_add(nw_vec_u32 *list, uint32_t probe)
{
	uint32_t *slot = nw_vec_add(list);

	if (!slot)
		return -ENOMEM;
	*slot = probe;
	return 0;
}

/* ---- probes by name ------------------------------------------------------------------ */

/* The probes of a selection, sorted by file, provider and name. */
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

/* Adds the numbers of all probes of that file, provider and name. */
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
		if (nw_pairs_add(out, all->item[from].number) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int by_number(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return a < b ? -1 : a > b;
}

/* Sorts the ends of a span by their order in the selection. */
static void sort_numbers(nw_vec_u32 *list)
{
	if (list->count)
		qsort(list->item, list->count, sizeof(*list->item), by_number);
}

/* ---- spans by name ------------------------------------------------------------------- */

/* Completes a definition that has its name and ends: adds the start, and appends it to the spans. Returns 1, or
 * -ENOMEM. */
static int add_span(struct nw_span_def *def, uint32_t start, nw_span_defs *out)
{
	bool ready = def->name && nw_pairs_add(&def->starts, start) == 0;
	struct nw_span_def *span = ready ? nw_vec_add(out) : NULL;

	if (!span) {
		nw_span_def_free(def);
		return -ENOMEM;
	}
	*span = *def;
	return 1;
}

/* Returns how many words of the row's ends, from `at` on, belong to one group. */
static size_t ends_of_group(size_t row, size_t at)
{
	size_t count = 0;

	while (at + count < MOST_ENDS && words[row].ends[at + count] &&
	       *words[row].ends[at + count])
		count++;
	return count;
}

/* Adds the probe to the ends if its name has one of these words in the right place. Returns -ENOMEM on failure. */
static int add_end(const struct nw_probe *first, const struct word_match *from,
		   const struct nw_probe *probe, uint32_t number, const char *const *ends,
		   size_t count, struct nw_span_def *def)
{
	for (size_t j = 0; j < count; j++) {
		struct word_match to = match_word(probe->name, ends[j]);
		if (!to.found || !same_stem(first->name, from, probe->name, &to))
			continue;
		if (!def->name)
			def->name = span_name(first, from, probe);
		return def->name ? nw_pairs_add(&def->ends, number) : -ENOMEM;
	}
	return 0;
}

/* Returns the name of an end probe that has `word` in the place of the start's word. */
static char *end_name(const char *start, const struct word_match *from, const char *word)
{
	if (!from->separator)
		return strdup(word);
	if (from->in_front)
		return nw_text("%s%s%.*s", word, from->separator, (int)from->stem_len,
			       start + from->stem_at);
	return nw_text("%.*s%s%s", (int)from->stem_len, start + from->stem_at,
		       from->separator, word);
}

/* Finds the end probes for any of these words. */
static int find_ends(const named_probes *all, const struct nw_probe *first,
		     const struct word_match *from, const char *const *ends, size_t count,
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

/* Interrupts and softirqs begin and end on one CPU, and have nothing to do with the thread that they interrupt. */
static bool is_of_cpu(const struct nw_probe *probe)
{
	return probe->kind == NW_SPEC_TRACEPOINT &&
	       (strcmp(probe->provider, "irq") == 0 ||
		strcmp(probe->provider, "irq_vectors") == 0);
}

/* Makes a definition without ends. */
static struct nw_span_def named_span(const struct nw_probe *first)
{
	struct nw_span_def def = {.key = NW_KEY_TID, .key_name = "tid", .named = true};

	if (is_of_cpu(first)) {
		def.key = NW_KEY_CPU;
		strcpy(def.key_name, "cpu");
	}
	return def;
}

/* Finds the ends of a start probe by one row of words, and makes a span of them. */
static int pair_row(const struct nw_selection *selection, const named_probes *all,
		    uint32_t start, size_t row, nw_span_defs *out)
{
	const struct nw_probe *first = selection->probes.item[start];
	struct word_match from = match_word(first->name, words[row].start);
	struct nw_span_def def = named_span(first);
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

/* Finds the probes of the same file and provider that a list of names, separated by blanks, contains. */
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

/* Applies the table of exceptions. *known: the table has the start, with or without a span. */
static int pair_special(const struct nw_selection *selection, const named_probes *all,
			uint32_t start, bool *known, nw_span_defs *out)
{
	const struct nw_probe *first = selection->probes.item[start];
	struct nw_span_def def = named_span(first);
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

void nw_pairs_set_call(const struct nw_selection *selection, const struct nw_probe *entry,
		       struct nw_span_def *def)
{
	const struct nw_probe *returns = selection->probes.item[def->ends.item[0]];

	def->unlimited = returns->points.count && !returns->points.item[0].is_return;
	def->goroutines = entry->points.count && entry->points.item[0].goroutine;
	if (def->goroutines)
		strcpy(def->key_name, "goroutine");
}

/* Pairs a function's entry with its return: func:PATH:SYMBOL. */
static int pair_function(const struct nw_selection *selection, const named_probes *all,
			 uint32_t start, nw_span_defs *out)
{
	const struct nw_probe *first = selection->probes.item[start];
	struct nw_span_def def = {.key = NW_KEY_TID, .key_name = "tid", .call = true};
	const char *back = nw_return_provider(first->provider);

	/* Calls of Go functions are not measured if it is unknown which call a return ends (see struct nw_point). */
	const char *goroutine = first->points.count ? first->points.item[0].goroutine
						    : NULL;
	if (goroutine && !*goroutine)
		return 0;
	if (back && find_probes(all, first->image, back, first->name, &def.ends) < 0) {
		nw_span_def_free(&def);
		return -ENOMEM;
	}
	if (!def.ends.count)
		return 0;
	def.ends.count = 1;
	def.name = strdup(first->name);
	nw_pairs_set_call(selection, first, &def);
	return add_span(&def, start, out);
}

int nw_spans_by_name(const struct nw_selection *selection, nw_span_defs *out)
{
	named_probes all = {0};
	int ret = 0;

	for (uint32_t i = 0; i < selection->probes.count && ret == 0; i++) {
		/* what the user did not ask for is not measured */
		struct named_probe *named = selection->probes.item[i]->hidden
						    ? NULL
						    : nw_vec_add(&all);
		if (selection->probes.item[i]->hidden)
			continue;
		if (named)
			*named = (struct named_probe){selection->probes.item[i], i};
		ret = named ? 0 : -ENOMEM;
	}
	if (all.count)
		qsort(all.item, all.count, sizeof(*all.item), by_source);
	for (uint32_t i = 0; i < selection->probes.count && ret >= 0; i++) {
		bool known;
		if (selection->probes.item[i]->hidden)
			continue;
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
