// SPDX-License-Identifier: MIT
/* The format of journals; see journal.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "journal.h"

/* ---- writing ------------------------------------------------------------------------ */

/* Reads the ID of this boot; "": unknown. The content of tracefs does not outlive a boot, even if the journal does. */
static void boot_id(char out[40])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, out, 36) : -1;

	out[got == 36 ? 36 : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

void nw_journal_head(struct nw_buf *out)
{
	char boot[40];

	boot_id(boot);
	nw_buf_printf(out, "nopwatch 2 %s\n", boot);
}

void nw_journal_action(struct nw_buf *out, const char *word, const struct nw_action *action)
{
	nw_buf_printf(out, "%s %d", word, (int)action->kind);
	nw_plan_word(out, action->file);
	nw_plan_word(out, action->text);
	nw_buf_addc(out, '\n');
}

int nw_journal_write(int fd, const struct nw_buf *text)
{
	ssize_t done = text->failed ? 0 : write(fd, text->data, text->len);

	return text->failed		   ? -ENOMEM
	       : done < 0		   ? -errno
	       : (size_t)done == text->len ? 0
					   : -ENOSPC;
}

void nw_journal_file(struct nw_buf *out, const char *path, const char *file)
{
	nw_buf_adds(out, "file");
	nw_plan_word(out, path);
	nw_plan_word(out, file);
	nw_buf_addc(out, '\n');
}

int nw_journal_step(const struct nw_journal *journal, const struct nw_action *go,
		    const struct nw_action *back)
{
	struct nw_buf text = {0};
	int ret = 0;

	if ((go->kind == NW_DO_APPEND && *go->text != '-') || go->kind == NW_DO_LOWER)
		nw_journal_action(&text, "do", go);
	if (back->kind != NW_DO_NOTHING)
		nw_journal_action(&text, "undo", back);
	if (text.len || text.failed)
		ret = nw_journal_write(journal->fd, &text);
	nw_buf_free(&text);
	return ret;
}

/* ---- reading ------------------------------------------------------------------------ */

int nw_journal_read_action(const struct nw_journal_line *line, struct nw_action *out)
{
	uint64_t kind;

	if (line->count != 4 || nw_parse_u64(line->words[1], &kind) < 0 ||
	    kind > NW_DO_LOWER || kind == NW_DO_SHELL)
		return -EBADMSG;
	*out = (struct nw_action){.kind = (enum nw_action_kind)kind,
				  .file = strdup(line->words[2]),
				  .text = strdup(line->words[3])};
	if (out->file && out->text)
		return 0;
	nw_action_free(out);
	return -ENOMEM;
}

static bool is_of_another_boot(const char *line)
{
	const char *its = strrchr(line, ' ');
	char boot[40];

	boot_id(boot);
	return *boot && its && strlen(its + 1) == 36 && strcmp(its + 1, boot) != 0;
}

int nw_journal_parse(struct nw_buf *text,
		     int (*each)(void *arg, const struct nw_journal_line *line), void *arg,
		     unsigned int *number, bool *cut)
{
	char *rest = text->data, *end;
	unsigned int at = 0;
	int ret = 0;

	if (number)
		*number = 0;
	while (ret == 0 && rest && (end = strchr(rest, '\n'))) {
		struct nw_journal_line line = {.count = 0};
		char *one = rest, *word;
		*end = '\0';
		rest = end + 1;
		at++;
		if (number)
			*number = at;
		/* The header is "nopwatch 2 BOOT", or in older versions "nopwatch-kept 1 BOOT". */
		if (at == 1 && (strncmp(one, "nopwatch", 8) == 0)) {
			ret = is_of_another_boot(one) ? -ESTALE : 0;
			continue;
		}
		while (line.count < NW_JOURNAL_WORDS && (word = strsep(&one, " ")))
			nw_plan_unword(line.words[line.count++] = word);
		ret = each(arg, &line);
	}
	if (cut)
		*cut = rest && *rest;
	return ret;
}

/* ---- a session's ------------------------------------------------------------------- */

/* Is there a value to restore for this file? The first one is kept, because it is the value before the session. */
static bool has_value(const struct nw_steps *steps, const struct nw_action *action)
{
	nw_vec_each (&steps->list, step)
		if (action->kind == NW_DO_WRITE && step->go.kind == NW_DO_WRITE &&
		    strcmp(step->go.file, action->file) == 0)
			return true;
	return false;
}

static int add_action(struct nw_journal_contents *contents,
		      const struct nw_journal_line *line)
{
	bool undo = line->words[0][0] == 'u';
	struct nw_steps *steps = undo ? &contents->undos : &contents->definitions;
	struct nw_action action = {0};
	int ret = nw_journal_read_action(line, &action);

	if (ret == 0 && action.kind == NW_DO_LOWER) {
		nw_steps_add(&contents->semaphores, undo ? NW_DO_NOTHING : action.kind,
			     action.file, action.text);
		if (undo)
			nw_steps_back(&contents->semaphores, action.kind, action.file,
				      action.text);
		contents->semaphore_last = true;
		ret = contents->semaphores.failed ? -ENOMEM : 0;
	} else if (ret == 0 && !has_value(steps, &action))
		nw_steps_add(steps, action.kind, action.file, action.text);
	nw_action_free(&action);
	/* A damaged line is skipped; the other lines still count. */
	return ret == -ENOMEM || steps->failed ? -ENOMEM : 0;
}

/* Drops the undos of a file, which were done. */
static void drop_undos(struct nw_steps *steps, const char *file)
{
	size_t left = 0;

	nw_vec_each (&steps->list, step) {
		if (strcmp(step->go.file, file) != 0)
			steps->list.item[left++] = *step;
		else
			nw_action_free(&step->go);
	}
	steps->list.count = left;
}

static int read_line(void *arg, const struct nw_journal_line *line)
{
	struct nw_journal_contents *contents = arg;

	contents->semaphore_last = false;
	if (strcmp(line->words[0], "do") == 0 || strcmp(line->words[0], "undo") == 0)
		return add_action(contents, line);
	if (strcmp(line->words[0], "arming") == 0)
		contents->armed = true;
	if (strcmp(line->words[0], "file") == 0 && line->count == 3)
		nw_steps_add(&contents->files, NW_DO_NOTHING, line->words[1],
			     line->words[2]);
	if (strcmp(line->words[0], "undone") == 0 && line->count == 2)
		drop_undos(&contents->undos, line->words[1]);
	return contents->files.failed ? -ENOMEM : 0;
}

static int read_once(const struct nw_journal *journal, struct nw_journal_contents *out)
{
	struct nw_journal_contents contents = {0};
	struct nw_buf text = {0};
	int ret = nw_journal_text(journal, &text);

	*out = contents;
	if (ret == 0)
		ret = nw_journal_parse(&text, read_line, &contents, NULL, NULL);
	nw_buf_free(&text);
	if (ret < 0 && ret != -ESTALE) {
		nw_journal_contents_free(&contents);
		return ret;
	}
	for (size_t i = 0, j = contents.undos.list.count; i + 1 < j; i++) {
		struct nw_step last = contents.undos.list.item[--j];
		contents.undos.list.item[j] = contents.undos.list.item[i];
		contents.undos.list.item[i] = last;
	}
	*out = contents;
	return 0;
}

int nw_journal_read(const struct nw_journal *journal, struct nw_journal_contents *out)
{
	*out = (struct nw_journal_contents){0};
	int ret = read_once(journal, out);

	/* A shortage may be over: the failed attempt has freed its memory. */
	return ret < 0 && nw_is_shortage(-ret) ? read_once(journal, out) : ret;
}

void nw_journal_contents_free(struct nw_journal_contents *contents)
{
	nw_steps_free(&contents->definitions);
	nw_steps_free(&contents->undos);
	nw_steps_free(&contents->semaphores);
	nw_steps_free(&contents->files);
}
