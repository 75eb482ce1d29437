// SPDX-License-Identifier: MIT
/*
 * Trace text instead of a kernel. With the header of our own script the probes are known
 * before the first hit, and text is taken as it comes; without one they are known when all of
 * it has been seen, so it is kept until its end.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run.h"

enum {
	QUIET_MS = 100, /* the window is emptied when nothing comes for so long */
	END_MS = 1000,	/* after Ctrl-C: what is still to come must come within this */
};

/* ---- consuming ---------------------------------------------------------------------- */

struct player {
	struct nw_run *run;
	struct nw_text *text;
	bool started;
	/* -p of the script: its processes and their threads when it began; restricted: the kernel
	 * over there records nobody else, or what they have created */
	nw_pids only;
	NW_VEC(struct nw_task) tasks;
	bool restricted, failed;
};

/* Lines of the header that are not the plan's. */
static void take_line(void *arg, char *const *words, size_t count)
{
	struct player *p = arg;

	if (strcmp(words[0], "only") == 0 && count == 2) {
		pid_t *pid = nw_vec_add(&p->only);
		p->failed |= !pid;
		if (pid)
			*pid = (pid_t)strtol(words[1], NULL, 10);
	} else if (strcmp(words[0], "task") == 0 && count == 4) {
		struct nw_task *task = nw_vec_add(&p->tasks);
		p->failed |= !task;
		if (task) {
			task->tid = (int32_t)strtol(words[1], NULL, 10);
			task->pid = (int32_t)strtol(words[2], NULL, 10);
		}
	} else if (strcmp(words[0], "restricted") == 0) {
		p->restricted = true;
	}
}

static int look_up(void *arg, pid_t tid, pid_t *process, char comm[16])
{
	const struct player *p = arg;

	(void)comm; /* each line says it */
	nw_vec_each (&p->tasks, task)
		if (task->tid == tid) {
			*process = task->pid;
			return 0;
		}
	return -ESRCH;
}

static void close_player(struct player *p)
{
	nw_text_free(p->text);
	nw_vec_free(&p->only);
	nw_vec_free(&p->tasks);
}

static const char *name_of(const struct nw_run *run)
{
	return strcmp(run->args->from, "-") == 0 ? "standard input" : run->args->from;
}

static int open_run(struct player *p, struct nw_error *err)
{
	struct nw_run *run = p->run;
	const struct nw_tasks_options options = {
		.pids = p->only.item,
		.pid_count = p->only.count,
		.strangers = !p->restricted,
		.look_up = look_up,
		.look_up_arg = p,
	};

	run->restricted = p->only.count > 0;
	if (p->failed || nw_tasks_open(&options, &run->tasks) < 0 ||
	    nw_run_open_join(run) < 0)
		return nw_no_memory(err);
	int ret = nw_run_open_counts(run, err);
	return ret < 0 ? ret : run->consumer->start(run->consumer->arg, run, err);
}

/* The first time that is known begins the run. */
static int begin(struct player *p, uint64_t time, struct nw_error *err)
{
	uint64_t told = nw_text_stats(p->text).start;

	if (p->started)
		return 0;
	p->started = true;
	p->run->start_ns = p->run->now_ns = told ? told : time;
	return p->run->consumer->armed(p->run->consumer->arg, p->run, err);
}

static int take(struct player *p, const struct nw_record *record,
		const struct nw_text_who *who, struct nw_error *err)
{
	int ret = begin(p, record->time, err);

	if (ret < 0)
		return ret;
	p->run->stop_ns = nw_text_over(p->text);
	if (p->run->needs_tasks && record->kind != NW_RECORD_LOSS)
		nw_tasks_tell(p->run->tasks, record->tid, who->pid, who->comm,
			      who->comm_len);
	return nw_run_take(p->run, record);
}

/* Hand out what there is. An error of the consumer is in err. */
static int drain(struct player *p, struct nw_error *err)
{
	struct nw_record record;
	struct nw_text_who who;
	int ret = 0, more = 1;

	while (ret == 0 && (more = nw_text_next(p->text, &record, &who)) > 0)
		ret = take(p, &record, &who, err);
	if (more == -ENOMEM || ret == -ENOMEM)
		return nw_no_memory(err);
	return ret;
}

static void tell_bad_lines(const struct player *p)
{
	const struct nw_text_stats stats = nw_text_stats(p->text);

	if (p->run->args->quiet)
		return;
	if (stats.ticks)
		nw_note("the times of this text are no nanoseconds (trace clock counter, "
			"uptime or x86-tsc): they are shown as if they were");
	if (!p->run->args->verbose)
		return;
	nw_note("%ju lines: %ju are of other events, %ju are no trace lines%s", stats.lines,
		stats.other, stats.bad, stats.late ? ", some were late" : "");
	if (stats.bad)
		nw_note("the first that is none is line %ju", stats.bad_at);
}

static int end(struct player *p, struct nw_error *err)
{
	const struct nw_text_stats stats = nw_text_stats(p->text);
	struct nw_run *run = p->run;
	int ret = begin(p, stats.now, err);

	if (ret == 0 && !run->enough)
		ret = nw_run_join_rest(run);
	run->now_ns = nw_min64(nw_text_over(p->text), nw_max64(stats.now, stats.stop));
	run->stop_ns = run->now_ns;
	run->lost = nw_text_stats(p->text).lost;
	tell_bad_lines(p);
	return nw_run_reason(ret) ? 0 : ret;
}

/* ---- in memory ---------------------------------------------------------------------- */

/* The probes: as the header says, or as the text itself shows them. */
static int find_probes(struct player *p, const char *bytes, size_t len,
		       struct nw_error *err)
{
	struct nw_run *run = p->run;
	const struct nw_buf *header = nw_text_header(p->text);
	int ret;

	if (nw_text_begin(p->text) == NW_TEXT_HEADER)
		ret = nw_plan_load(nw_buf_str(header), header->len, &run->selection,
				   &run->plan, take_line, p, err);
	else
		ret = nw_text_learn(bytes, len, run->args->from, &run->selection,
				    &run->plan, err);
	if (ret == -ENOENT)
		return nw_fail(err, EBADMSG, "%s is neither a recording nor trace text",
			       name_of(run));
	if (ret < 0)
		return nw_error_context(err, "%s", name_of(run));
	if (nw_text_use(p->text, &run->plan, nw_run_wants_values(run), &run->formats) < 0)
		return nw_no_memory(err);
	return open_run(p, err);
}

static int play_text(struct player *p, const char *bytes, size_t len, struct nw_error *err)
{
	int ret = find_probes(p, bytes, len, err);

	if (ret == 0)
		ret = drain(p, err);
	if (nw_run_reason(ret)) {
		p->run->reason = nw_run_reason(ret);
		ret = 0;
	}
	return ret < 0 ? ret : end(p, err);
}

int nw_replay_text(struct nw_run *run, const char *bytes, size_t len, struct nw_error *err)
{
	struct player p = {.run = run};

	run->reason = "end of text";
	if (nw_text_open_memory(bytes, len, &p.text) < 0)
		return nw_no_memory(err);
	int ret = play_text(&p, bytes, len, err);
	close_player(&p);
	return ret;
}

/* ---- from a pipe -------------------------------------------------------------------- */

/* What can be read: its length; 0: the end; -EAGAIN: nothing now. */
static ssize_t read_some(struct nw_run *run, int fd, char *to, size_t room)
{
	struct pollfd wait[2] = {{.fd = fd, .events = POLLIN},
				 {.fd = run->wake.fd, .events = POLLIN}};

	if (poll(wait, run->wake.stop ? 1 : 2, run->wake.stop ? END_MS : QUIET_MS) < 0 ||
	    !wait[0].revents)
		return -EAGAIN;
	ssize_t got = read(fd, to, room);
	if (got < 0 && errno == EINTR)
		return -EAGAIN;
	return got < 0 ? -errno : got;
}

/*
 * Ctrl-C goes to everybody in the pipeline, and what the script has not printed yet is still
 * to come: so the end of the text is waited for, as long as something comes.
 */
static bool is_over(struct nw_run *run, ssize_t got)
{
	bool stopped = run->wake.stop;

	nw_wake_look(&run->wake);
	if (stopped)
		run->reason = "signal";
	return got == 0 || (stopped && got == -EAGAIN);
}

static int cannot_read(const struct nw_run *run, ssize_t code, struct nw_error *err)
{
	return nw_fail(err, (int)-code, "cannot read %s: %s", name_of(run),
		       nw_strerror((int)-code));
}

/* Records as they come. */
static int play_live(struct player *p, int fd, struct nw_error *err)
{
	struct nw_run *run = p->run;
	ssize_t got = 1;
	int ret = 0;

	while (ret == 0 && !is_over(run, got)) {
		size_t room;
		char *to = nw_text_room(p->text, &room);
		got = to ? read_some(run, fd, to, room) : -ENOMEM;
		if (got < 0 && got != -EAGAIN)
			return cannot_read(run, got, err);
		if (got > 0)
			nw_text_filled(p->text, (size_t)got);
		else
			nw_text_flush(p->text);
		if (got == 0)
			nw_text_finish(p->text);
		ret = drain(p, err);
		run->now_ns = nw_max64(run->now_ns, nw_text_stats(p->text).now);
		if (ret == 0 && p->started)
			ret = run->consumer->tick(run->consumer->arg, run, err);
	}
	nw_text_finish(p->text);
	if (ret == 0)
		ret = drain(p, err);
	return ret;
}

/* All of it, in a file without a name, and from there. */
static int play_spooled(struct nw_run *run, int fd, const struct nw_buf *first,
			struct nw_error *err)
{
	FILE *spool = tmpfile();
	bool ok = spool && fwrite(nw_buf_str(first), 1, first->len, spool) == first->len;
	nw_cleanup(nw_free_ptr) char *block = malloc(1 << 16);
	size_t len = first->len;
	ssize_t got = 1;

	while (ok && block && !is_over(run, got)) {
		got = read_some(run, fd, block, 1 << 16);
		if (got < 0 && got != -EAGAIN)
			break;
		if (got > 0)
			ok = fwrite(block, 1, (size_t)got, spool) == (size_t)got;
		len += got > 0 ? (size_t)got : 0;
	}
	ok = ok && fflush(spool) == 0;
	int code = ok ? 0 : errno;
	char *bytes = ok && len ? mmap(NULL, len, PROT_READ, MAP_PRIVATE, fileno(spool), 0)
				: MAP_FAILED;
	if (spool)
		fclose(spool);
	if (code)
		return nw_fail(err, code, "cannot keep the text in a temporary file: %s",
			       nw_strerror(code));
	if (got < 0 && got != -EAGAIN)
		return cannot_read(run, got, err);
	bool stopped = run->wake.stop;
	int ret = nw_replay_bytes(run, bytes == MAP_FAILED ? "" : bytes,
				  bytes == MAP_FAILED ? 0 : len, err);
	if (ret == 0 && stopped)
		run->reason = "signal";
	if (bytes != MAP_FAILED)
		munmap(bytes, len);
	return ret;
}

/* Read until it is clear what this is; first has what was read. */
static int read_beginning(struct player *p, int fd, struct nw_buf *first,
			  enum nw_text_kind *kind, struct nw_error *err)
{
	ssize_t got = 1;

	*kind = NW_TEXT_BAD;
	while (!is_over(p->run, got)) {
		size_t room;
		char *to = nw_text_room(p->text, &room);
		got = to ? read_some(p->run, fd, to, room) : -ENOMEM;
		if (got < 0 && got != -EAGAIN)
			return cannot_read(p->run, got, err);
		if (got <= 0)
			continue;
		nw_text_filled(p->text, (size_t)got);
		nw_buf_add(first, to, (size_t)got);
		if (first->failed)
			return nw_no_memory(err);
		bool recording = nw_recording_is_one(first->data, first->len);
		if (!recording)
			*kind = nw_text_begin(p->text);
		if (recording || *kind != NW_TEXT_BAD)
			break;
	}
	return 0;
}

static int play_pipe(struct player *p, int fd, struct nw_error *err)
{
	struct nw_buf first = {0};
	enum nw_text_kind kind;
	int ret = nw_wake_open(&p->run->wake, err);

	if (ret == 0)
		ret = nw_text_open(&p->text) < 0 ? nw_no_memory(err) : 0;
	if (ret == 0)
		ret = read_beginning(p, fd, &first, &kind, err);
	if (ret == 0 && kind != NW_TEXT_HEADER) {
		ret = play_spooled(p->run, fd, &first, err);
		nw_buf_free(&first);
		return ret;
	}
	nw_buf_free(&first);
	if (ret == 0)
		ret = find_probes(p, NULL, 0, err);
	if (ret == 0)
		ret = play_live(p, fd, err);
	if (nw_run_reason(ret)) {
		p->run->reason = nw_run_reason(ret);
		ret = 0;
	}
	return ret < 0 ? ret : end(p, err);
}

int nw_replay_pipe(struct nw_run *run, int fd, struct nw_error *err)
{
	struct player p = {.run = run};

	run->reason = "end of text";
	int ret = play_pipe(&p, fd, err);
	close_player(&p);
	nw_wake_close(&run->wake);
	return ret;
}
