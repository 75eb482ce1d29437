// SPDX-License-Identifier: MIT
/* See steps.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kernel/tracefs/event_list.h"
#include "kernel/tracefs/files.h"

#include "gate.h"
#include "journal.h"
#include "semaphore_step.h"

/* ---- making ------------------------------------------------------------------------- */

static bool fill(struct nw_action *action, enum nw_action_kind kind, const char *file,
		 const char *text)
{
	*action = (struct nw_action){kind, strdup(file), strdup(text), NULL};
	return action->file && action->text;
}

void nw_steps_add(struct nw_steps *steps, enum nw_action_kind kind, const char *file,
		  const char *text)
{
	struct nw_step *step = nw_vec_add(&steps->list);

	if (!step || !fill(&step->go, kind, file, text))
		steps->failed = true;
}

static struct nw_step *last_of(struct nw_steps *steps)
{
	return steps->failed || !steps->list.count
		       ? NULL
		       : &steps->list.item[steps->list.count - 1];
}

void nw_steps_back(struct nw_steps *steps, enum nw_action_kind kind, const char *file,
		   const char *text)
{
	struct nw_step *step = last_of(steps);

	if (step && !fill(&step->back, kind, file, text))
		steps->failed = true;
}

void nw_steps_what(struct nw_steps *steps, enum nw_refusal refusal, const char *fmt, ...)
{
	struct nw_step *step = last_of(steps);
	struct nw_buf text = {0};
	va_list args;

	if (!step)
		return;
	va_start(args, fmt);
	nw_buf_vprintf(&text, fmt, args);
	va_end(args);
	step->refusal = refusal;
	step->what = nw_buf_take(&text);
	if (!step->what)
		steps->failed = true;
}

void nw_action_free(struct nw_action *action)
{
	free(action->file);
	free(action->text);
	action->file = action->text = NULL;
}

void nw_steps_free(struct nw_steps *steps)
{
	nw_vec_each (&steps->list, step) {
		nw_action_free(&step->go);
		nw_action_free(&step->back);
		free(step->what);
	}
	nw_vec_free(&steps->list);
}

/* ---- doing -------------------------------------------------------------------------- */

static int append_line(const struct nw_tracefs *fs, const struct nw_action *action)
{
	nw_cleanup(nw_free_ptr) char *line = nw_text("%s\n", action->text);

	return line ? nw_tracefs_append(fs->root, action->file, line) : -ENOMEM;
}

/* Writes 0 and reads it back, because some kernels accept the write and leave the event enabled. */
static int disable(const struct nw_tracefs *fs, const struct nw_action *action)
{
	int ret = nw_tracefs_write(fs->root, action->file, "0");
	enum nw_enabled enabled = NW_ENABLED_NO;
	int seen = nw_enabled_read(fs->root, action->file, &enabled);

	if (seen == -ENOENT || (seen == 0 && !nw_enabled_arms(enabled)))
		return 0;
	return ret < 0 ? ret : seen < 0 ? seen : -EBUSY;
}

int nw_instances_lock(const struct nw_tracefs *fs, int how)
{
	int fd = openat(fs->root, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (int tries = how & LOCK_NB ? 1 : 400; tries--;) {
		if (flock(fd, how | LOCK_NB) == 0)
			return fd;
		if (tries)
			nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	}
	close(fd);
	return -EBUSY;
}

int nw_instance_remove(const struct nw_tracefs *fs, const char *dir, int how)
{
	int lock = nw_instances_lock(fs, how);

	if (lock == -EBUSY) /* the caller may try again */
		return -EAGAIN;
	int ret = unlinkat(fs->root, dir, AT_REMOVEDIR) < 0 ? -errno : 0;
	if (lock >= 0)
		close(lock);
	return ret;
}

enum {
	PATIENCE_US = 1500000,
	/* Another nopwatch holds the lock of the instances for moments, which are long on a busy machine. */
	LOCK_PATIENCE_US = 10000000,
	LONGEST_US = 10000 /* a file that is read in a loop is free for moments only */
};

/* A list of actions that is being done. */
struct doing {
	const struct nw_tracefs *fs;
	unsigned int
		patience; /* microseconds that may still be spent on waiting for all but the lock */
	struct nw_defined_events definitions;
};

static struct doing begin(const struct nw_tracefs *fs)
{
	return (struct doing){.fs = fs, .patience = PATIENCE_US};
}

static int do_once(struct doing *doing, const struct nw_action *action)
{
	const struct nw_tracefs *fs = doing->fs;
	int ret = 0;

	switch (action->kind) {
	case NW_DO_NOTHING:
	case NW_DO_SHELL:
		return 0;
	case NW_DO_WRITE:
		return nw_tracefs_write(fs->root, action->file, action->text);
	case NW_DO_APPEND:
		doing->definitions.read_ns = 0;
		return append_line(fs, action);
	case NW_DO_DISABLE:
		return disable(fs, action);
	case NW_DO_DELETE:
		return nw_event_delete(fs, &doing->definitions, action->file, action->text);
	case NW_DO_CREATE:
		return nw_own_file_create(action->file);
	case NW_DO_RESIZE:
		return nw_own_file_resize(action->file, strtol(action->text, NULL, 10));
	case NW_DO_RAISE:
	case NW_DO_LOWER:
		return nw_semaphore_do(action);
	case NW_DO_MKDIR:
		ret = mkdirat(fs->root, action->file, 0700);
		break;
	case NW_DO_RMDIR:
		return nw_instance_remove(fs, action->file, LOCK_EX | LOCK_NB);
	case NW_DO_LINK:
		ret = symlink(action->text, action->file);
		break;
	case NW_DO_UNLINK:
		ret = unlink(action->file);
		break;
	}
	return ret < 0 ? -errno : 0;
}

static bool takes_away(const struct nw_action *action)
{
	return action->kind == NW_DO_RMDIR || action->kind == NW_DO_DELETE ||
	       (action->kind == NW_DO_APPEND &&
		(action->text[0] == '-' || action->text[0] == '!'));
}

/* Tries again while the thing to remove or its lock is busy, or memory is short. */
static int do_patiently(struct doing *doing, const struct nw_action *action)
{
	unsigned int for_lock = LOCK_PATIENCE_US, us = 500;

	for (;;) {
		int ret = do_once(doing, action);
		bool locked = ret == -EAGAIN && action->kind == NW_DO_RMDIR;
		unsigned int *left = locked ? &for_lock : &doing->patience;
		if ((!locked && ret != -EBUSY && ret != -ENOMEM) || !takes_away(action) ||
		    !*left)
			return ret;
		unsigned int nap = us < *left ? us : *left;
		nanosleep(&(struct timespec){.tv_nsec = (long)nap * 1000}, NULL);
		*left -= nap;
		us = us < LONGEST_US / 2 ? 2 * us : LONGEST_US;
	}
}

static int end(struct doing *doing, int ret)
{
	nw_defined_events_free(&doing->definitions);
	return ret;
}

int nw_action_do(const struct nw_tracefs *fs, const struct nw_action *action)
{
	struct doing doing = begin(fs);

	return end(&doing, do_patiently(&doing, action));
}

int nw_do(const struct nw_tracefs *fs, enum nw_action_kind kind, const char *file,
	  const char *text)
{
	return nw_action_do(fs, &(struct nw_action){.kind = kind,
						    .file = (char *)file,
						    .text = (char *)text});
}

bool nw_error_passes(int ret)
{
	static const int passing[] = {EBUSY, EINTR, EAGAIN, ENOMEM, EMFILE, ENFILE};

	for (size_t i = 0; i < NW_COUNT(passing); i++)
		if (ret == -passing[i])
			return true;
	return false;
}

void nw_steps_undo(const struct nw_tracefs *fs, const struct nw_steps *steps, size_t count,
		   struct nw_steps *left, struct nw_error *err)
{
	struct doing doing = begin(fs);

	while (count--) {
		const struct nw_action *back = &steps->list.item[count].back;
		int ret = do_patiently(&doing, back);
		if (ret >= 0)
			continue;
		nw_error_hint(err, "and '%s' could not be put back into %s: %s", back->text,
			      back->file, nw_strerror(-ret));
		if (left && nw_error_passes(ret)) {
			nw_steps_add(left, back->kind, back->file, back->text);
		}
	}
	end(&doing, 0);
}

static int explain(const struct nw_tracefs *fs, const struct nw_step *step, int ret,
		   struct nw_error *err)
{
	char reason[128] = "";

	/* The kernel's log has no reason for these; what it may have is that of an earlier refusal. */
	if (step->refusal == NW_REFUSED_DEFINITION && !nw_is_shortage(-ret))
		nw_tracefs_reason(fs, step->go.text, reason);
	nw_fail(err, -ret, "%s: %s", step->what,
		*reason ? reason : nw_refusal_text(step->refusal, -ret));
	return ret;
}

int nw_steps_do(const struct nw_tracefs *fs, const struct nw_steps *steps,
		int (*before)(void *arg, const struct nw_action *back), void *arg,
		struct nw_steps *left, struct nw_error *err)
{
	struct doing doing = begin(fs);

	if (steps->failed)
		return nw_no_memory(err);
	for (size_t i = 0; i < steps->list.count; i++) {
		const struct nw_step *step = &steps->list.item[i];
		int ret = before ? before(arg, &step->back) : 0;
		if (ret < 0)
			nw_fail(err, -ret, "cannot write the journal: %s",
				nw_strerror(-ret));
		else if ((ret = do_patiently(&doing, &step->go)) < 0 && step->what)
			explain(fs, step, ret, err);
		else
			continue;
		end(&doing, 0);
		nw_steps_undo(fs, steps, i, left, err);
		return ret;
	}
	return end(&doing, 0);
}

int nw_steps_do_each(const struct nw_tracefs *fs, const struct nw_steps *steps,
		     nw_strings *stuck)
{
	struct doing doing = begin(fs);
	int first = 0;

	if (steps->failed)
		return -ENOMEM;
	nw_vec_each (&steps->list, step) {
		int ret = do_patiently(&doing, &step->go);
		if (ret == 0 || ret == -ENOENT ||
		    !step->what) /* a thing that does not exist needs no removal */
			continue;
		nw_strings_tell(stuck, "%s: %s", step->what,
				nw_refusal_text(step->refusal, -ret));
		first = first < 0 ? first : ret;
	}
	return end(&doing, first);
}

/* ---- a list that is done as it is made ---------------------------------------------- */

int nw_step_runner_action(struct nw_step_runner *runner, const struct nw_action *go,
			  const struct nw_action *back)
{
	static const struct nw_action nothing = {.kind = NW_DO_NOTHING};
	int ret = 0;

	if (runner->dry_run) {
		nw_steps_add(&runner->steps, go->kind, go->file, go->text);
		return 0;
	}
	if (runner->journal)
		ret = nw_journal_step(runner->journal, go, back ? back : &nothing);
	runner->unwritten = runner->unwritten || ret < 0;
	return ret < 0 ? ret : nw_action_do(runner->fs, go);
}

bool nw_step_runner_is_short(const struct nw_step_runner *runner, int error)
{
	return error < 0 && (runner->unwritten || nw_is_shortage(-error));
}

int nw_step_runner_step(struct nw_step_runner *runner, enum nw_action_kind kind,
			const char *file, const char *text, const struct nw_action *back)
{
	const struct nw_action go = {
		.kind = kind, .file = (char *)file, .text = (char *)text};

	return nw_step_runner_action(runner, &go, back);
}

void nw_step_runner_shell(struct nw_step_runner *runner, const char *fmt, ...)
{
	struct nw_buf text = {0};
	va_list args;

	va_start(args, fmt);
	nw_buf_vprintf(&text, fmt, args);
	va_end(args);
	runner->steps.failed |= text.failed;
	nw_steps_add(&runner->steps, NW_DO_SHELL, "", nw_buf_str(&text));
	nw_buf_free(&text);
}

/* ---- as a shell does it ------------------------------------------------------------- */

/* Does the text mean itself to a shell, without quotes? */
static bool is_plain(const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,+@%-";

	return *text && text[strspn(text, plain)] == '\0';
}

void nw_shell_word(struct nw_buf *out, const char *text)
{
	if (is_plain(text)) {
		nw_buf_adds(out, text);
		return;
	}
	nw_buf_add_shell(out, text);
}

static void print_file(const char *file, struct nw_buf *out)
{
	if (is_plain(file)) {
		nw_buf_printf(out, "\"$T/%s\"", file);
		return;
	}
	nw_buf_adds(out, "\"$T\"/");
	nw_shell_word(out, file);
}

/* Prints with printf, since the echo of some shells interprets backslashes and words such as -n. */
static void print_write(const struct nw_action *action, const char *how, struct nw_buf *out)
{
	const char *text = action->text;
	bool odd = strchr(text, '\\') || (*text == '-' && text[1] != ':');

	nw_buf_adds(out, odd ? "printf '%s\\n' " : "echo ");
	nw_shell_word(out, action->text);
	nw_buf_adds(out, how);
	print_file(action->file, out);
}

static void print_action(const struct nw_action *action, struct nw_buf *out)
{
	switch (action->kind) {
	case NW_DO_NOTHING:
		return;
	case NW_DO_WRITE:
	case NW_DO_DISABLE:
		print_write(action, " >", out);
		break;
	case NW_DO_DELETE: /* names of groups and events contain no characters that a shell interprets */
		nw_buf_printf(out, "echo -:%s >>\"$T/%s\"", action->text,
			      *action->file ? action->file : "uprobe_events");
		break;
	case NW_DO_APPEND:
		print_write(action, " >>", out);
		break;
	case NW_DO_RAISE:
	case NW_DO_LOWER:
		nw_semaphore_print(action, out);
		break;
	case NW_DO_MKDIR:
		nw_buf_adds(out, "mkdir ");
		print_file(action->file, out);
		break;
	case NW_DO_RMDIR:
		nw_buf_adds(out, "rmdir ");
		print_file(action->file, out);
		break;
	case NW_DO_LINK: {
		const char *slash = strrchr(action->file, '/');
		nw_buf_printf(out, "mkdir -p %.*s && ln -s ", (int)(slash - action->file),
			      action->file);
		nw_shell_word(out, action->text);
		nw_buf_addc(out, ' ');
		nw_shell_word(out, action->file);
		break;
	}
	case NW_DO_UNLINK:
		nw_buf_adds(out, "rm -f ");
		nw_shell_word(out, action->file);
		break;
	case NW_DO_CREATE:
		nw_buf_adds(out, ": >>");
		nw_shell_word(out, action->file);
		break;
	case NW_DO_RESIZE:
		nw_buf_printf(out, "truncate -s %s ", action->text);
		nw_shell_word(out, action->file);
		break;
	case NW_DO_SHELL:
		nw_buf_adds(out, action->text);
		break;
	}
	nw_buf_addc(out, '\n');
}

void nw_steps_print(const char *tracefs, const struct nw_steps *steps, struct nw_buf *out)
{
	out->failed |= steps->failed;
	if (out->failed) /* a step may be half there */
		return;
	if (steps->list.count) {
		nw_buf_adds(out, "T=");
		nw_shell_word(out, tracefs);
		nw_buf_addc(out, '\n');
	}
	nw_vec_each (&steps->list, step)
		print_action(&step->go, out);
}
