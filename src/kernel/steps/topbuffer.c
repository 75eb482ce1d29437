// SPDX-License-Identifier: MIT
/* See topbuffer.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "kernel/tracefs/files.h"

#include "topbuffer.h"

/* ---- who uses it -------------------------------------------------------------------- */

/* Returns the content of a file without its last newline; "": it does not exist. The caller frees. */
static char *read_text(const struct nw_tracefs *fs, const char *file)
{
	struct nw_buf text = {0};

	nw_tracefs_read(fs->root, file, &text);
	if (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	nw_buf_adds(&text, "");
	return nw_buf_take(&text);
}

static char *used_tracer(const struct nw_tracefs *fs)
{
	nw_cleanup(nw_free_ptr) char *tracer = read_text(fs, "current_tracer");

	return tracer && *tracer && strcmp(tracer, "nop") != 0
		       ? nw_text("the tracer '%s' is on", tracer)
		       : NULL;
}

/* Lists the enabled events: set_event has one SYSTEM:EVENT per line. */
static char *used_events(const struct nw_tracefs *fs)
{
	nw_cleanup(nw_free_ptr) char *events = read_text(fs, "set_event");

	return events && *events ? nw_text("events are enabled there (%.*s%s)",
					   (int)strcspn(events, "\n"), events,
					   strchr(events, '\n') ? ", ..." : "")
				 : NULL;
}

static char *used_pids(const struct nw_tracefs *fs)
{
	nw_cleanup(nw_free_ptr) char *pids = read_text(fs, "set_event_pid");

	return pids && *pids ? nw_text("it is restricted to threads (set_event_pid)")
			     : NULL;
}

static char *used_switch(const struct nw_tracefs *fs)
{
	nw_cleanup(nw_free_ptr) char *on = read_text(fs, "tracing_on");

	return on && strcmp(on, "0") == 0 ? nw_text("somebody has stopped it (tracing_on)")
					  : NULL;
}

static char *used_records(const struct nw_tracefs *fs)
{
	nw_strings cpus = {0};
	uint64_t records = 0;

	int ret = nw_tracefs_list(fs->root, "per_cpu", "cpu", &cpus);
	nw_vec_each (&cpus, cpu) {
		char file[300];
		snprintf(file, sizeof(file), "per_cpu/%.255s/stats", *cpu);
		nw_cleanup(nw_free_ptr) char *stats = read_text(fs, file);
		const char *at = stats ? strstr(stats, "entries:") : NULL;
		records += at ? strtoull(at + 8, NULL, 10) : 0;
	}
	nw_strings_free(&cpus);
	if (ret < 0)
		return nw_text("what it holds cannot be looked at: %s", nw_strerror(-ret));
	return records ? nw_text("it holds %ju records that nobody has read", records)
		       : NULL;
}

/* Returns the reason why the buffer cannot be ours; NULL: it can. The caller frees. */
static char *find_use(const struct nw_tracefs *fs)
{
	static char *(*const looks[])(const struct nw_tracefs *fs) = {
		used_tracer, used_events, used_pids, used_switch, used_records};

	for (size_t i = 0; i < NW_COUNT(looks); i++) {
		char *use = looks[i](fs);
		if (use)
			return use;
	}
	return NULL;
}

int nw_top_take(const struct nw_tracefs *fs, bool force, int *lock, struct nw_error *err)
{
	int fd = openat(fs->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return nw_fail(err, errno, "cannot open %s: %s", fs->path,
			       nw_strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return nw_fail(
			err, EBUSY,
			"this kernel has one ring buffer for all sessions, and another nopwatch uses it");
	}
	nw_cleanup(nw_free_ptr) char *use = force ? NULL : find_use(fs);
	if (use) {
		close(fd);
		nw_fail(err, EBUSY,
			"there is one ring buffer for all, and it is in use: %s", use);
		nw_error_hint(
			err,
			"end that, or use --force: what others record there is lost then");
		return -EBUSY;
	}
	*lock = fd;
	return 0;
}

/* ---- save and restore --------------------------------------------------------------- */

static int note(const struct nw_journal *journal, const char *file, const char *value)
{
	static const struct nw_action nothing = {.kind = NW_DO_NOTHING};
	const struct nw_action back = {
		.kind = NW_DO_WRITE, .file = (char *)file, .text = (char *)value};

	return nw_journal_step(journal, &nothing, &back);
}

/* Returns the clock in brackets of "local [mono] boot". */
static const char *chosen(char *text)
{
	char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	if (!close)
		return text;
	*close = '\0';
	return open + 1;
}

/* Takes 1408 from "7 (expanded: 1408)", the size that the buffer gets with its first use. */
static const char *size_of(char *text)
{
	char *expanded = strstr(text, "(expanded: ");

	if (!expanded)
		return text;
	expanded += strlen("(expanded: ");
	expanded[strspn(expanded, "0123456789")] = '\0';
	return expanded;
}

/* Notes the size of each CPU's buffer, if they differ ("X"). */
static int keep_sizes(const struct nw_tracefs *fs, const struct nw_journal *journal)
{
	nw_strings cpus = {0};
	int ret = nw_tracefs_list(fs->root, "per_cpu", "cpu", &cpus);

	nw_vec_each (&cpus, cpu) {
		char file[300];
		snprintf(file, sizeof(file), "per_cpu/%.255s/buffer_size_kb", *cpu);
		nw_cleanup(nw_free_ptr) char *text = read_text(fs, file);
		if (ret == 0)
			ret = text ? note(journal, file, size_of(text)) : -ENOMEM;
	}
	nw_strings_free(&cpus);
	return ret;
}

int nw_top_keep(const struct nw_tracefs *fs, const struct nw_journal *journal,
		const char *file)
{
	nw_cleanup(nw_free_ptr) char *text = read_text(fs, file);

	if (!text)
		return -ENOMEM;
	if (strcmp(file, "trace_clock") == 0)
		return note(journal, file, chosen(text));
	if (strcmp(file, "buffer_size_kb") == 0)
		return *text == 'X' ? keep_sizes(fs, journal)
				    : note(journal, file, size_of(text));
	const char *slash = strrchr(file, '/');
	/* "none" cannot be written as a filter. A filter that was refused shows the error instead and filters
	 * nothing. */
	bool none = slash && strcmp(slash, "/filter") == 0 &&
		    (strcmp(text, "none") == 0 || strchr(text, '\n'));
	return note(journal, file, none ? "0" : text);
}

void nw_top_clear(const struct nw_tracefs *fs)
{
	(void)nw_do(fs, NW_DO_WRITE, "trace", "");
}

static bool is_of_buffer(const struct nw_action *undo)
{
	return undo->kind == NW_DO_WRITE && *undo->file != '/';
}

int nw_top_restore(const struct nw_tracefs *fs, const struct nw_journal *journal,
		   const struct nw_journal_contents *contents, nw_strings *stuck)
{
	bool cleared = false;
	int ret = 0;

	nw_vec_each (&contents->undos.list, step) {
		const struct nw_action *undo = &step->go;
		if (!cleared && is_of_buffer(undo))
			nw_top_clear(fs);
		cleared |= is_of_buffer(undo);
		int failed = nw_action_do(fs, undo);
		if (failed == 0 || failed == -ENOENT) {
			nw_journal_note(journal, "undone %s\n", undo->file);
			continue;
		}
		nw_strings_tell(stuck, "%s/%s cannot be set back to '%s': %s", fs->path,
				undo->file, undo->text, nw_strerror(-failed));
		ret = -EBUSY;
	}
	return ret;
}
