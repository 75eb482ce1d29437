// SPDX-License-Identifier: MIT
/* See kept.h. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kept.h"
#include "teardown.h"

enum {
	/* These are limits of a text that may come from anywhere. */
	MOST_PROBES = 16384,
	MOST_OPTIONS = 1024
};

int nw_kept_name_check(const char *name, struct nw_error *err)
{
	if (nw_session_name_is_valid(name) && islower((unsigned char)*name))
		return 0;
	return nw_fail_usage(
		err,
		"--name '%s': not a letter and up to 22 letters, digits and _ behind it (in lower case)",
		name);
}

/* ---- the journal's lines ------------------------------------------------------------ */

static void with_line(struct nw_buf *out, const char *name, const char *text)
{
	nw_buf_printf(out, "with %s", name);
	nw_plan_word(out, text);
	nw_buf_addc(out, '\n');
}

void nw_kept_lines(const struct nw_kept *kept, const struct nw_selection *selection,
		   struct nw_buf *out)
{
	nw_vec_each (&selection->probes, probe)
		nw_buf_printf(out, "with named %zu\n", (*probe)->named);
	if (kept->by)
		with_line(out, "by", kept->by);
	nw_vec_each (&kept->spans, span)
		with_line(out, "span", *span);
	nw_vec_each (&kept->hists, hist)
		with_line(out, "hist", *hist);
	nw_buf_printf(out, "kept %" PRIu64, kept->began_ns);
	nw_plan_word(out, kept->plan);
	nw_buf_addc(out, '\n');
}

static int set_text(char **where, const char *text)
{
	free(*where);
	*where = strdup(text);
	return *where ? 0 : -ENOMEM;
}

static int add_named(struct nw_kept *kept, const char *text)
{
	uint64_t number;

	if (kept->named.count == MOST_PROBES)
		return -EFBIG;
	if (nw_parse_u64(text, &number) < 0 || number > UINT32_MAX)
		return -EBADMSG;
	uint32_t *slot = nw_vec_add(&kept->named);
	if (!slot)
		return -ENOMEM;
	*slot = (uint32_t)number;
	return 0;
}

static int take_line(void *arg, const struct nw_journal_line *line)
{
	struct nw_kept *kept = arg;
	char *const *words = line->words;

	if (line->count != 3)
		return 0;
	if (strcmp(words[0], "kept") == 0)
		return nw_parse_u64(words[1], &kept->began_ns) < 0
			       ? -EBADMSG
			       : set_text(&kept->plan, words[2]);
	if (strcmp(words[0], "with") != 0)
		return 0;
	if (strcmp(words[1], "by") == 0)
		return set_text(&kept->by, words[2]);
	if (strcmp(words[1], "named") == 0)
		return add_named(kept, words[2]);
	nw_strings *list = strcmp(words[1], "span") == 0   ? &kept->spans
			   : strcmp(words[1], "hist") == 0 ? &kept->hists
							   : NULL;
	if (list && list->count == MOST_OPTIONS)
		return -EFBIG;
	return list ? nw_strings_add(list, words[2], strlen(words[2])) : -EBADMSG;
}

int nw_kept_parse(struct nw_buf *text, struct nw_kept *out)
{
	struct nw_kept kept = {0};
	int ret = nw_journal_parse(text, take_line, &kept, NULL, NULL);

	if (ret == 0 && !kept.plan)
		ret = -EBADMSG;
	if (ret == 0)
		*out = kept;
	else
		nw_kept_free(&kept);
	return ret;
}

int nw_kept_read(const char *name, struct nw_kept *out, struct nw_error *err)
{
	struct nw_buf text = {0};
	int state = nw_session_name_is_valid(name) ? nw_journal_read_kept(name, &text)
						   : (int)NW_JOURNAL_GONE;
	int ret = state < 0 ? state : state == NW_JOURNAL_KEPT ? 0 : -ENOENT;

	if (ret == 0)
		ret = nw_kept_parse(&text, out);
	nw_buf_free(&text);
	if (ret == 0)
		return 0;
	nw_fail(err, -ret,
		ret == -ENOENT ? "no counts that stay are called '%s'%s"
			       : "cannot read the journal of '%s': %s",
		name, ret == -ENOENT ? "" : nw_strerror(-ret));
	if (ret == -ENOENT)
		nw_error_hint(
			err,
			"`nopwatch status` lists them as nopwatch_NAME, `nopwatch add --engine=kernel` makes them");
	return ret;
}

void nw_kept_free(struct nw_kept *kept)
{
	free(kept->plan);
	free(kept->by);
	nw_strings_free(&kept->spans);
	nw_strings_free(&kept->hists);
	nw_vec_free(&kept->named);
	*kept = (struct nw_kept){0};
}

int nw_kept_list(nw_strings *out)
{
	nw_strings all = {0};
	int ret = nw_journal_list(&all);

	nw_vec_each (&all, name)
		if (ret == 0 && nw_journal_check(*name) == NW_JOURNAL_KEPT)
			ret = nw_strings_add(out, *name, strlen(*name));
	nw_strings_free(&all);
	return ret;
}

/* ---- the end ------------------------------------------------------------------------ */

int nw_kept_remove(const struct nw_tracefs *fs, const char *name, struct nw_error *err)
{
	struct nw_journal_contents contents = {0};
	struct nw_journal journal;
	nw_strings stuck = {0};
	int state = nw_journal_seize_kept(name, &journal);

	if (state != NW_JOURNAL_KEPT)
		return nw_fail(err, state < 0 ? -state : ENOENT,
			       "the journal of '%s' cannot be taken over: %s", name,
			       nw_strerror(state < 0 ? -state : ENOENT));
	int ret = nw_journal_note(&journal, "dropped\n");
	if (ret == 0)
		ret = nw_journal_read(&journal, &contents);
	if (ret == 0)
		ret = nw_session_undo(fs, &journal, &contents, NULL, &stuck);
	nw_journal_contents_free(&contents);
	return nw_session_settle(&journal, ret, &stuck, err);
}
