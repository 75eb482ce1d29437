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

#include "journal.h"

static const char file_name[] = "tried.features";

enum {
	FILE_MOST = 8192
};

/* ---- writing ------------------------------------------------------------------------ */

static void write_found(const struct nw_tracefs *fs, const struct nw_features *features,
			bool whole, struct nw_buf *out)
{
	nw_journal_head(out);
	nw_buf_adds(out, "tried " NOPWATCH_VERSION);
	nw_plan_word(out, fs->path);
	nw_buf_addc(out, '\n');
	for (size_t i = 0; i < NW_FEATURE_COUNT; i++)
		if (features->tried[i])
			nw_buf_printf(out, "feature %s %d\n", nw_feature_table[i].name,
				      features->has[i]);
	nw_buf_adds(out, whole ? "end\n" : "more\n");
}

/* Which boot it is must be known, or it would be believed after the next one. */
static bool has_boot(const struct nw_buf *text)
{
	return text->len > 36 && strcspn(nw_buf_str(text), "\n") > 36;
}

/* Nothing but a trial tells of these, or they decide what can be tried. */
static const enum nw_feature untold[] = {NW_FEATURE_INSTANCES, NW_FEATURE_INSTANCE_EVENTS,
					 NW_FEATURE_MEMORY};

/* That it cannot be kept only means that it is tried again. */
void nw_features_keep(const struct nw_tracefs *fs, const struct nw_features *features,
		      bool whole)
{
	struct nw_buf text = {0};
	char fresh[64];

	for (size_t i = 0; i < NW_COUNT(untold); i++)
		if (features->masked[untold[i]])
			return; /* it was not tried */
	write_found(fs, features, whole, &text);
	int dir = has_boot(&text) ? nw_journal_open_dir(NULL) : -1;
	snprintf(fresh, sizeof(fresh), "%s.%d", file_name, (int)getpid());
	int fd = -1;
	if (dir >= 0) {
		unlinkat(dir, fresh, 0); /* of a dead process of our number */
		fd = openat(dir, fresh,
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	}
	if (fd >= 0 &&
	    (nw_journal_write(fd, &text) < 0 || renameat(dir, fresh, dir, file_name) < 0))
		unlinkat(dir, fresh, 0);
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
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
			features->tried[i] = has ? "worked" : "did not work";
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

static int read_file(struct nw_buf *out)
{
	int dir = nw_journal_open_place(nw_journal_place(file_name), NULL);
	int fd = dir < 0 ? dir : nw_open_regular(dir, file_name);
	int ret = fd < 0 ? fd : nw_buf_read_most(out, fd, FILE_MOST);

	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	return ret;
}

/* True: nothing is left to try. */
static bool recall(const struct nw_tracefs *fs, struct nw_features *features)
{
	struct nw_features found = *features;
	struct reading r = {.fs = fs, .features = &found};
	struct nw_buf text = {0};
	bool cut = false;

	int ret = read_file(&text);
	bool dated = ret == 0 && has_boot(&text);
	if (dated)
		ret = nw_journal_parse(&text, read_line, &r, NULL, &cut);
	nw_buf_free(&text);
	if (!dated || ret < 0 || cut || !r.ended)
		return false;
	found.unproven = !r.whole;
	*features = found;
	return r.whole;
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
