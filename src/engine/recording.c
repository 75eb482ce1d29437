// SPDX-License-Identifier: MIT
/* A recording or text instead of a kernel: the same consumers, no privileges. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "run.h"

/* A probe that was disabled while it was recorded. */
struct disabled {
	uint64_t probe, at;
	const char *word;
	char *text;
};

/* A thread, and which line told of it: the last one holds. */
struct told {
	struct nw_task task;
	uint32_t order;
};

/* What the recording's table says beside the plan (written by cmd_record.c). */
struct story {
	struct nw_run *run;
	NW_VEC(struct told) tasks;
	nw_pids only; /* processes that were recorded; none: all */
	NW_VEC(struct disabled) disabled;
	bool follow, failed;
	uint64_t lost;
};

static int64_t word_number(const char *word)
{
	return strtoll(word, NULL, 10);
}

static void add_task(struct story *story, char *const *words)
{
	struct told *told = nw_vec_add(&story->tasks);

	if (!told) {
		story->failed = true;
		return;
	}
	told->order = (uint32_t)story->tasks.count;
	struct nw_task *task = &told->task;
	task->tid = (int32_t)word_number(words[1]);
	task->pid = (int32_t)word_number(words[2]);
	strncpy(task->comm, words[3], sizeof(task->comm) - 1);
}

static void add_only(struct story *story, const char *word)
{
	pid_t *slot = nw_vec_add(&story->only);

	story->failed |= !slot;
	if (slot)
		*slot = (pid_t)word_number(word);
}

static void add_disabled(struct story *story, const char *word, char *const *words)
{
	struct disabled *disabled = nw_vec_add(&story->disabled);

	if (disabled) {
		disabled->word = word;
		disabled->probe = (uint64_t)word_number(words[1]);
		disabled->at = (uint64_t)word_number(words[2]);
		disabled->text = strdup(words[3]);
	}
	story->failed |= !disabled || !disabled->text;
}

/* Lines of the table that are not the plan's. Unknown ones are of a later version: skipped. */
static void take_line(void *arg, char *const *words, size_t count)
{
	struct story *story = arg;
	struct nw_run *run = story->run;

	if (strcmp(words[0], "task") == 0 && count == 4)
		add_task(story, words);
	if (strcmp(words[0], "disabled") == 0 && count == 4)
		add_disabled(story, NW_STATE_DISABLED, words);
	if (strcmp(words[0], "disabled-by-others") == 0 && count == 4)
		add_disabled(story, NW_STATE_MEDDLED, words);
	if (count != 2)
		return;
	if (strcmp(words[0], "start") == 0)
		run->start_ns = (uint64_t)word_number(words[1]);
	else if (strcmp(words[0], "stop") == 0)
		run->stop_ns = run->now_ns = (uint64_t)word_number(words[1]);
	else if (strcmp(words[0], "wall") == 0)
		run->wall_ns = word_number(words[1]);
	else if (strcmp(words[0], "lost") == 0)
		story->lost = (uint64_t)word_number(words[1]);
	else if (strcmp(words[0], "only") == 0)
		add_only(story, words[1]);
	else if (strcmp(words[0], "follow") == 0)
		story->follow = true;
}

static int by_thread(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->task.tid != y->task.tid)
		return x->task.tid < y->task.tid ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int look_up(void *arg, pid_t tid, pid_t *process, char comm[16])
{
	const struct story *story = arg;
	size_t low = 0, high = story->tasks.count;

	while (low < high) { /* the first behind it */
		size_t middle = low + (high - low) / 2;
		if (story->tasks.item[middle].task.tid <= tid)
			low = middle + 1;
		else
			high = middle;
	}
	const struct nw_task *found = low ? &story->tasks.item[low - 1].task : NULL;
	if (!found || found->tid != tid)
		return -ESRCH;
	*process = found->pid;
	memcpy(comm, found->comm, 16);
	return 0;
}

static int open_consumers(struct nw_run *run, struct story *story, struct nw_error *err)
{
	const struct nw_tasks_options options = {
		.pids = story->only.item,
		.pid_count = story->only.count,
		.follow = story->follow,
		.strangers = nw_run_has_kernel_events(run),
		.look_up = look_up,
		.look_up_arg = story,
	};

	if (story->tasks.count)
		qsort(story->tasks.item, story->tasks.count, sizeof(*story->tasks.item),
		      by_thread);
	run->restricted = story->only.count > 0;
	if (nw_tasks_open(&options, &run->tasks) < 0 || nw_run_open_join(run) < 0)
		return nw_no_memory(err);
	int ret = nw_run_open_counts(run, err);
	if (ret == 0)
		ret = run->consumer->start(run->consumer->arg, run, err);
	nw_vec_each (&story->disabled, it)
		if (ret == 0 && it->probe < run->selection.probes.count)
			ret = nw_run_mark_disabled(run, it->probe, it->word, it->at,
						   it->text, err);
	return ret < 0 ? ret : run->consumer->armed(run->consumer->arg, run, err);
}

static int play(struct nw_run *run, struct nw_recording *recording, struct story *story,
		struct nw_error *err)
{
	int ret = nw_plan_load(recording->table, recording->table_len, &run->selection,
			       &run->plan, take_line, story, err);

	if (ret == 0 && story->failed)
		ret = nw_no_memory(err);
	if (ret == 0)
		ret = nw_formats_load(&run->plan, true, recording->header_page,
				      recording->header_page_len, nw_recording_format,
				      recording, &run->formats, err);
	if (ret == 0)
		ret = open_consumers(run, story, err);
	if (ret == 0)
		ret = nw_stream_open_memory(&run->formats, recording->runs.item,
					    recording->runs.count, &run->stream, err);
	if (ret < 0)
		return ret;
	if (nw_run_drain_rest(run) < 0)
		return nw_no_memory(err);
	run->lost = nw_max64(story->lost, nw_stream_stats(run->stream).lost);
	return 0;
}

static int play_recording(struct nw_run *run, const void *bytes, size_t len,
			  struct nw_error *err)
{
	struct nw_recording recording;
	struct story story = {.run = run};
	int ret = nw_recording_parse(bytes, len, &recording, err);

	run->reason = "end of recording";
	if (ret < 0)
		return nw_error_context(err, "%s", run->args->from);
	ret = play(run, &recording, &story, err);
	nw_stream_free(run->stream);
	run->stream = NULL;
	nw_vec_free(&story.tasks);
	nw_vec_each (&story.disabled, it)
		free(it->text);
	nw_vec_free(&story.disabled);
	nw_vec_free(&story.only);
	nw_recording_free(&recording);
	return ret;
}

int nw_replay_bytes(struct nw_run *run, const void *bytes, size_t len, struct nw_error *err)
{
	if (!nw_recording_is_one(bytes, len))
		return nw_replay_text(run, bytes, len, err);
	return play_recording(run, bytes, len, err);
}

/* A file of which the length is known is one piece of memory; all else is read as it comes. */
static int play_file(struct nw_run *run, int fd, struct nw_error *err)
{
	const char *name = run->args->from;
	struct nw_input input;
	struct stat st;

	if (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode))
		return nw_fail(err, EISDIR, "cannot read '%s': %s", name,
			       nw_strerror(EISDIR));
	/* files of tracefs say they are empty */
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return nw_replay_pipe(run, fd, err);
	int ret = nw_input_open(fd, &st, name, &input, err);
	if (ret < 0)
		return ret;
	ret = nw_replay_bytes(run, input.bytes, input.len, err);
	/* what is missing is why, whatever else was found wrong */
	int whole = nw_input_is_whole(&input, name, err);
	nw_input_close(&input);
	return whole < 0 ? whole : ret;
}

int nw_replay(struct nw_run *run, const struct nw_args *args,
	      const struct nw_consumer *consumer, struct nw_error *err)
{
	bool is_stdin = strcmp(args->from, "-") == 0;

	*run = (struct nw_run){.args = args,
			       .consumer = consumer,
			       .fs = {.root = -1},
			       .wake = {.fd = -1, .signals = -1},
			       .stop_ns = UINT64_MAX};
	if (args->words.count || args->cmd || args->pids.count)
		return nw_fail_usage(
			err, "a recording holds its own probes: --from goes without "
			     "SPEC, -p and CMD");
	int ret = nw_run_read_filter(run, err);
	if (ret < 0)
		return ret;
	int fd = is_stdin ? STDIN_FILENO : nw_open_input(args->from);
	if (fd < 0)
		return nw_fail(err, -fd, "cannot read '%s': %s", args->from,
			       fd == -ENXIO ? "it is neither a file nor a pipe"
					    : nw_strerror(-fd));
	ret = play_file(run, fd, err);
	if (!is_stdin)
		close(fd);
	return ret == 0 && run->filter ? nw_run_judge_hits(run, err) : ret;
}
