// SPDX-License-Identifier: MIT
/*
 * What the trials (canary.c) have found, kept until the next boot: on kernels whose files do not tell,
 * every command that arms anything would have to try it again, and each trial leaves lines in the
 * kernel's log. /run/nopwatch/tried.features has a journal's header and a line a feature; the point
 * in its name keeps it apart from sessions' journals. It ends in "end", or in "more": the rest is to be tried
 * when the top-level buffer is free.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/state.h"
#include "kernel/steps/journal.h"

#include "feature_cache.h"

static const char file_name[] = "tried.features";

enum {
	FILE_MOST = 8192
};

/* ---- writing ------------------------------------------------------------------------ */

/* Which boot it is must be known, or it would be believed after the next one. */
static bool has_boot(const struct nw_buf *text)
{
	return text->len > 36 && strcspn(nw_buf_str(text), "\n") > 36;
}

/* Nothing but a trial tells of these, or they decide what can be tried. */
static const enum nw_feature untold[] = {NW_FEATURE_INSTANCES, NW_FEATURE_INSTANCE_EVENTS,
					 NW_FEATURE_MEMORY};

/* That it cannot be kept only means that it is tried again. */
static void keep_file(const char *name, const struct nw_buf *text)
{
	int dir = has_boot(text) ? nw_journal_open_dir(NULL) : -1;
	char fresh[64];
	int fd = -1;

	snprintf(fresh, sizeof(fresh), "%s.%d", name, (int)getpid());
	if (dir >= 0) {
		unlinkat(dir, fresh, 0); /* of a dead process of our number */
		fd = openat(dir, fresh,
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	}
	if (fd >= 0 &&
	    (nw_journal_write(fd, text) < 0 || renameat(dir, fresh, dir, name) < 0))
		unlinkat(dir, fresh, 0);
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
}

void nw_features_keep(const struct nw_tracefs *fs, const struct nw_features *features,
		      bool whole)
{
	struct nw_buf text = {0};

	for (size_t i = 0; i < NW_COUNT(untold); i++)
		if (features->masked[untold[i]])
			return; /* it was not tried */
	nw_journal_head(&text);
	nw_buf_adds(&text, "tried " NOPWATCH_VERSION);
	nw_plan_word(&text, fs->path);
	nw_buf_addc(&text, '\n');
	for (size_t i = 0; i < NW_FEATURE_COUNT; i++)
		if (features->tried[i])
			nw_buf_printf(&text, "feature %s %d\n", nw_feature_table[i].name,
				      features->has[i]);
	nw_buf_adds(&text, whole ? "end\n" : "more\n");
	keep_file(file_name, &text);
	nw_buf_free(&text);
}

/* ---- reading ------------------------------------------------------------------------ */

struct reading {
	const struct nw_tracefs *fs;
	struct nw_features *features;
	bool ours, ended, whole;
};

static int read_feature(struct nw_features *features, const struct nw_journal_line *line)
{
	for (size_t i = 0; i < NW_FEATURE_COUNT; i++) {
		if (strcmp(nw_feature_table[i].name, line->words[1]) != 0)
			continue;
		bool has = strcmp(line->words[2], "1") == 0;
		if (!features->masked[i]) {
			features->has[i] = has;
			features->tried[i] = has ? "works" : "did not work";
		}
		return 0;
	}
	return -EBADMSG;
}

static int read_line(void *arg, const struct nw_journal_line *line)
{
	struct reading *r = arg;
	const char *word = line->words[0];

	if (r->ended)
		return -EBADMSG;
	if (strcmp(word, "tried") == 0 && line->count == 3) {
		r->ours = strcmp(line->words[1], NOPWATCH_VERSION) == 0 &&
			  strcmp(line->words[2], r->fs->path) == 0;
		return r->ours ? 0 : -ESTALE;
	}
	if (strcmp(word, "feature") == 0 && line->count == 3 && r->ours)
		return read_feature(r->features, line);
	r->whole = strcmp(word, "end") == 0;
	r->ended = r->whole || strcmp(word, "more") == 0;
	return r->ended ? 0 : -EBADMSG;
}

static int read_file(const char *name, struct nw_buf *out)
{
	int dir = nw_journal_open_place(nw_journal_place(name), NULL);
	int fd = dir < 0 ? dir : nw_open_regular(dir, name);
	int ret = fd < 0 ? fd : nw_buf_read_most(out, fd, FILE_MOST);

	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	return ret;
}

/* Adds what was tried since boot to *found. False: nothing was, or its file is damaged; *found is of no use then. */
static bool read_tried(const struct nw_tracefs *fs, struct nw_features *found, bool *whole)
{
	struct reading r = {.fs = fs, .features = found};
	struct nw_buf text = {0};
	bool cut = false;

	int ret = read_file(file_name, &text);
	bool dated = ret == 0 && has_boot(&text);
	if (dated)
		ret = nw_journal_parse(&text, read_line, &r, NULL, &cut);
	nw_buf_free(&text);
	*whole = r.whole;
	return dated && ret == 0 && !cut && r.ended;
}

/* True: nothing is left to try. */
static bool recall(const struct nw_tracefs *fs, struct nw_features *features)
{
	struct nw_features found = *features;
	bool whole;

	if (!read_tried(fs, &found, &whole))
		return false;
	found.unproven = !whole;
	*features = found;
	return whole;
}

bool nw_feature_recall(const struct nw_tracefs *fs, struct nw_features *features,
		       enum nw_feature feature)
{
	struct nw_features found = *features;
	bool whole;

	if (!read_tried(fs, &found, &whole) || !found.tried[feature])
		return false;
	features->has[feature] = found.has[feature];
	features->tried[feature] = found.tried[feature];
	return true;
}

void nw_feature_keep(const struct nw_tracefs *fs, const struct nw_features *features,
		     enum nw_feature feature)
{
	struct nw_features all = *features;
	bool whole;

	/* nothing stays in /tmp when a session has ended */
	if (features->unproven || !features->tried[feature] ||
	    nw_state_is_temporary(nw_journal_dir()))
		return;
	if (!read_tried(fs, &all, &whole))
		all = *features;
	all.has[feature] = features->has[feature];
	all.tried[feature] = features->tried[feature];
	nw_features_keep(fs, &all, true);
}

/* ---- what a hit costs --------------------------------------------------------------- */

/*
 * hit.cost, in the same way:
 *
 *	costs VERSION TRACEFS
 *	kind NAME BEFORE AFTER		for each
 *	word PICOSECONDS
 *	times MEASUREMENTS
 *	end
 */
static const char cost_name[] = "hit.cost";

const char *const nw_cost_kind_names[NW_COST_KINDS] = {
	[NW_COST_NOP] = "nop",		 [NW_COST_CALL] = "call",
	[NW_COST_LONG_NOP] = "long_nop", [NW_COST_PUSH] = "push",
	[NW_COST_ENDBR] = "endbr",	 [NW_COST_USUAL] = "usual",
	[NW_COST_RETURN] = "return",	 [NW_COST_RETURN_ALONE] = "return_alone",
	[NW_COST_EVENT] = "event"};

void nw_machine_cost_write(const struct nw_machine_cost *cost, const char *tracefs,
			   struct nw_buf *out)
{
	nw_journal_head(out);
	nw_buf_adds(out, "costs " NOPWATCH_VERSION);
	nw_plan_word(out, tracefs);
	nw_buf_addc(out, '\n');
	for (size_t i = 0; i < NW_COST_KINDS; i++)
		nw_buf_printf(out, "kind %s %u %u\n", nw_cost_kind_names[i],
			      cost->kind[i].before, cost->kind[i].after);
	nw_buf_printf(out, "word %u\ntimes %u\nend\n", cost->word_ps, cost->times);
}

void nw_machine_cost_add(struct nw_machine_cost *cost, const struct nw_machine_cost *more)
{
	if (!cost->times)
		*cost = (struct nw_machine_cost){0};
	for (size_t i = 0; i < NW_COST_KINDS; i++) {
		struct nw_hit_cost *old = &cost->kind[i];
		const struct nw_hit_cost *new = &more->kind[i];
		uint64_t all = (uint64_t)old->before + old->after;
		uint64_t other = (uint64_t) new->before + new->after;
		if (!all || (other && other < all)) /* 0 was not measured */
			*old = *new;
	}
	if (!cost->times || more->word_ps < cost->word_ps)
		cost->word_ps = more->word_ps;
	cost->times += more->times;
}

void nw_machine_cost_keep(const struct nw_tracefs *fs, const struct nw_machine_cost *cost)
{
	struct nw_buf text = {0};

	/* nothing stays in /tmp when a session has ended: there it is measured each time */
	if (nw_state_is_temporary(nw_journal_dir()))
		return;
	nw_machine_cost_write(cost, fs->path, &text);
	keep_file(cost_name, &text);
	nw_buf_free(&text);
}

struct reading_cost {
	const char *tracefs;
	struct nw_machine_cost *cost;
	size_t kinds;
	bool ours, word, times, ended;
};

static bool read_ns(const char *word, uint32_t *out)
{
	uint64_t number;

	if (nw_parse_u64(word, &number) < 0 || number > NW_MOST_HIT_COST)
		return false;
	*out = (uint32_t)number;
	return true;
}

static int read_cost_line(void *arg, const struct nw_journal_line *line)
{
	struct reading_cost *r = arg;
	char *const *words = line->words;

	if (r->ended)
		return -EBADMSG;
	if (strcmp(words[0], "costs") == 0 && line->count == 3) {
		r->ours = strcmp(words[1], NOPWATCH_VERSION) == 0 &&
			  strcmp(words[2], r->tracefs) == 0;
		return r->ours ? 0 : -ESTALE;
	}
	if (strcmp(words[0], "kind") == 0 && line->count == 4 && r->ours &&
	    r->kinds < NW_COST_KINDS &&
	    strcmp(words[1], nw_cost_kind_names[r->kinds]) == 0) {
		struct nw_hit_cost *kind = &r->cost->kind[r->kinds++];
		return read_ns(words[2], &kind->before) && read_ns(words[3], &kind->after)
			       ? 0
			       : -EBADMSG;
	}
	if (strcmp(words[0], "word") == 0 && line->count == 2 && !r->word) {
		r->word = true;
		return read_ns(words[1], &r->cost->word_ps) ? 0 : -EBADMSG;
	}
	if (strcmp(words[0], "times") == 0 && line->count == 2 && !r->times) {
		r->times = true;
		return read_ns(words[1], &r->cost->times) ? 0 : -EBADMSG;
	}
	r->ended = strcmp(words[0], "end") == 0 && r->kinds == NW_COST_KINDS && r->word &&
		   r->times;
	return r->ended ? 0 : -EBADMSG;
}

bool nw_machine_cost_read(struct nw_buf *text, const char *tracefs,
			  struct nw_machine_cost *out)
{
	struct reading_cost r = {.tracefs = tracefs, .cost = out};
	bool cut = false;

	return has_boot(text) &&
	       nw_journal_parse(text, read_cost_line, &r, NULL, &cut) == 0 && !cut &&
	       r.ended;
}

bool nw_machine_cost_recall(const struct nw_tracefs *fs, struct nw_machine_cost *out)
{
	struct nw_buf text = {0};
	bool known = read_file(cost_name, &text) == 0 &&
		     nw_machine_cost_read(&text, fs->path, out);

	nw_buf_free(&text);
	return known;
}

/* ---- the whole ---------------------------------------------------------------------- */

int nw_features_find(const struct nw_tracefs *fs, const char *mask, bool may_try,
		     struct nw_features *out, struct nw_error *err)
{
	int ret = nw_features_detect(fs, mask, out, err);

	if (ret < 0 || !out->unproven || recall(fs, out))
		return ret;
	if (may_try)
		return nw_features_try(fs, out, err);
	for (size_t i = 0; i < NW_COUNT(untold); i++)
		if (!out->tried[untold[i]])
			out->has[untold[i]] = !out->masked[untold[i]] &&
					      (out->has[untold[i]] ||
					       out->has[NW_FEATURE_INSTANCES]);
	return 0;
}
