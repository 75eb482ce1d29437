// SPDX-License-Identifier: MIT
/*
 * Trace text as a source of hits. With the header of our own script the probes are known before the first hit, and
 * text is processed as it comes. Without a header they are known when all text was read, so it is kept until its end.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/state.h"
#include "stream/recording/recording.h"
#include "stream/trace_pipe/trace_text.h"

#include "run/limits/guards.h"

#include "sources.h"

enum {
	QUIET_MS = 100, /* after such a pause the window of lines is emptied */
	END_MS = 1000,	/* after Ctrl-C: limit of the wait for more text */
	END_COUNTED_MS =
		10000, /* the same for what the kernel has counted, which comes at the end */
};

/* ---- the same for memory and pipes -------------------------------------------------- */

/* The text of an event's file `hist`, which is the reader's. */
struct counted_text {
	const char *name; /* "synthetic nopwatch_sh_1\n...", "GROUP e0\n..." */
	const char *text;
	size_t len;
};

struct player {
	struct nw_run *run;
	struct nw_text *text;
	bool looked; /* in memory: all text was read */
	ssize_t got; /* result of the last read of the pipe: bytes; 0: its end; -errno */
	uint64_t got_at; /* time of the last text that came, CLOCK_MONOTONIC */
	/* -p of the script: its processes and their threads when it began. restricted: the kernel on the other
	 * machine records only these and their descendants. */
	nw_pids only;
	NW_VEC(struct nw_task) tasks;
	bool restricted, failed;
	/* The kernel has counted (plan/script.c): what, and its maps as they are at the end of the text. */
	struct nw_kept kept;
	bool eighths;
	NW_VEC(struct counted_text) maps;
};

static const char *name_of(const struct nw_run *run)
{
	const char *name = run->request->source_name;

	return strcmp(name, "-") == 0 ? "standard input" : name;
}

/* Takes a line of the header that does not belong to the plan. */
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
	} else if (strcmp(words[0], "rows") == 0 && count == 2) {
		p->eighths = strcmp(words[1], "eighths") == 0;
	}
}

static int look_up_task(void *arg, pid_t tid, pid_t *process, char comm[16])
{
	const struct player *p = arg;

	(void)comm; /* each line contains it */
	nw_vec_each (&p->tasks, task)
		if (task->tid == tid) {
			*process = task->pid;
			return 0;
		}
	return -ESRCH;
}

static void close_player(struct nw_run *run)
{
	struct player *p = run->source_state;

	run->source_state = NULL;
	if (!p)
		return;
	nw_text_free(p->text);
	nw_vec_free(&p->only);
	nw_vec_free(&p->tasks);
	nw_kept_free(&p->kept);
	nw_vec_free(&p->maps);
	free(p);
}

static struct player *open_player(struct nw_run *run)
{
	struct player *p = calloc(1, sizeof(*p));

	run->source_state = p;
	run->result->reason = NW_END_TEXT;
	if (p)
		*p = (struct player){.run = run, .got = 1};
	return p;
}

/* ---- what the kernel has counted ---------------------------------------------------- */

static int take_counted_line(void *arg, const struct nw_journal_line *line)
{
	take_line(arg, line->words, line->count);
	return 0;
}

static bool has_counts(const struct nw_buf *header)
{
	return strncmp(nw_buf_str(header), "kept ", 5) == 0 ||
	       strstr(nw_buf_str(header), "\nkept ");
}

/* Reads a header that is the journal of counts, with the lines of the script. */
static int find_counts(struct player *p, const struct nw_buf *header, struct nw_error *err)
{
	struct nw_buf text = {0}, again = {0};

	if (!p->run->consumer.count) {
		nw_fail(err, ENOTSUP, "it has what the kernel has counted, and no hits");
		nw_error_hint(err, "`nopwatch report %s` shows it",
			      p->run->request->source_name);
		return -ENOTSUP;
	}
	nw_buf_add(&text, nw_buf_str(header), header->len);
	nw_buf_add(&again, nw_buf_str(header), header->len);
	int ret = text.failed || again.failed ? -ENOMEM : nw_kept_parse(&text, &p->kept);
	if (ret == 0)
		ret = nw_journal_parse(&again, take_counted_line, p, NULL, NULL);
	nw_buf_free(&text);
	nw_buf_free(&again);
	if (ret < 0)
		return ret == -ENOMEM ? nw_no_memory(err)
				      : nw_fail(err, EBADMSG, "its header is damaged");
	return nw_run_load_kept(p->run, &p->kept, err);
}

/* The kernel that has counted could do it. */
static int count(struct player *p, struct nw_error *err)
{
	struct nw_run *run = p->run;
	int ret = nw_features_assume(p->eighths ? "-hist_buckets" : NULL,
				     &run->live.features, err);

	run->live.features.long64 = true;
	return ret < 0 ? ret
		       : run->consumer.count(run->consumer.arg, run, &run->live.triggers,
					     err);
}

/* Takes "task TID PROCESS NAME". */
static void take_task(struct player *p, char *line)
{
	char *words[4], *rest = line;
	size_t got = 0;
	uint64_t tid, pid;

	while (got < NW_COUNT(words) && (words[got] = strsep(&rest, " ")))
		nw_plan_unword(words[got++]);
	if (got == NW_COUNT(words) && nw_parse_u64(words[1], &tid) == 0 &&
	    nw_parse_u64(words[2], &pid) == 0 && tid <= INT32_MAX && pid <= INT32_MAX)
		nw_tasks_set(p->run->delivery.tasks, (int32_t)tid, (int32_t)pid, words[3],
			     strlen(words[3]));
}

/* Finds the maps and the threads in what the script has told at its end. */
static int take_trailer(struct player *p)
{
	const struct nw_buf *trailer = nw_text_trailer(p->text);
	struct counted_text *map = NULL;

	for (const char *line = nw_buf_str(trailer), *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			break;
		const bool begins = strncmp(line, "map ", 4) == 0;
		if (!begins && map)
			map->len = (size_t)(end + 1 - map->text);
		if (begins && !(map = nw_vec_add(&p->maps)))
			return -ENOMEM;
		if (begins)
			*map = (struct counted_text){.name = line + 4, .text = end + 1};
		if (map || strncmp(line, "task ", 5) != 0)
			continue;
		nw_cleanup(nw_free_ptr) char *copy = strndup(line, (size_t)(end - line));
		if (!copy)
			return -ENOMEM;
		take_task(p, copy);
	}
	return 0;
}

/* Is it the map of this event? Of events that are not synthetic, the group is that of the script's process. */
static bool is_map_of(const struct counted_text *map, bool synthetic, const char *event)
{
	const size_t system = strcspn(map->name, " \n"), len = strlen(event);

	return map->name[system] == ' ' &&
	       (system == 9 && memcmp(map->name, "synthetic", 9) == 0) == synthetic &&
	       strncmp(map->name + system + 1, event, len) == 0 &&
	       map->name[system + 1 + len] == '\n';
}

static int read_maps(const struct nw_run *run, bool synthetic, const char *event,
		     nw_kernel_maps *out)
{
	const struct player *p = run->source_state;

	nw_vec_each (&p->maps, map)
		if (is_map_of(map, synthetic, event))
			return nw_kernel_maps_parse(map->text, map->len, out);
	return -ENOENT;
}

/* Lets the consumer read what the kernel has counted. */
static int stop_counting(struct player *p, struct nw_error *err)
{
	const struct nw_text_stats stats = nw_text_stats(p->text);

	if (stats.trailer_cut)
		return nw_fail(err, EFBIG, "%s: the kernel's maps are too large",
			       name_of(p->run));
	if (!stats.stop) {
		nw_fail(err, EBADMSG,
			"%s ends in front of what the kernel has counted: its script was killed, or cut off",
			name_of(p->run));
		nw_error_hint(
			err,
			"a script prints it when it ends: by itself (-d), or by Ctrl-C or SIGTERM");
		return -EBADMSG;
	}
	if (nw_text_trailer(p->text)->failed || take_trailer(p) < 0)
		return nw_no_memory(err);
	p->run->consumer.stopping(p->run->consumer.arg, p->run);
	return 0;
}

/* Finds the probes in the header, or in the text itself. */
static int find_probes(struct player *p, const char *bytes, size_t len,
		       struct nw_error *err)
{
	struct nw_run *run = p->run;
	struct nw_run_result *result = run->result;
	const struct nw_buf *header = nw_text_header(p->text);
	int ret;

	const bool has_header = nw_text_begin(p->text) == NW_TEXT_HEADER;
	if (has_header && has_counts(header))
		ret = find_counts(p, header, err);
	else if (has_header)
		ret = nw_plan_load(nw_buf_str(header), header->len, &result->selection,
				   &result->plan, &result->armed, take_line, p, err);
	else
		ret = nw_text_learn(bytes, len, run->request->source_name,
				    &result->selection, &result->plan, &result->armed, err);
	if (ret == -ENOENT)
		return nw_fail(err, EBADMSG, "%s is neither a recording nor trace text",
			       name_of(run));
	if (ret < 0)
		return nw_error_context(err, "%s", name_of(run));
	ret = nw_text_use(p->text, &result->armed, nw_run_wants_values(run),
			  &run->delivery.formats);
	return ret < 0 ? nw_no_memory(err) : 0;
}

/* nw_run_begin() is called for the first line that is a hit. */
static int begin(struct nw_run *run, struct nw_error *err)
{
	struct player *p = run->source_state;
	const struct nw_tasks_options options = {
		.pids = p->only.item,
		.pid_count = p->only.count,
		/* Maps may have the hits of others, too (docs/dev/kernel.md). */
		.untraced_recorded = !p->restricted || run->result->by_kernel,
		.main_only = run->request->main_thread,
		.look_up = look_up_task,
		.look_up_arg = p,
	};

	run->result->restricted = p->only.count > 0 || run->request->main_thread;
	if (p->failed || nw_tasks_open(&options, &run->delivery.tasks) < 0 ||
	    nw_run_open_join(run) < 0)
		return nw_no_memory(err);
	return run->result->by_kernel ? count(p, err) : 0;
}

/* Begins the run at the first known time. */
static int begin_at(struct player *p, uint64_t time, struct nw_error *err)
{
	uint64_t told = nw_text_stats(p->text).start;

	if (p->run->begun)
		return 0;
	p->run->result->now_ns = told ? told : time;
	return nw_run_begin(p->run, told ? told : time, err);
}

static int next(struct nw_run *run, struct nw_record *record, struct nw_error *err)
{
	struct player *p = run->source_state;
	struct nw_text_who who;
	int ret = run->delivery.enough ? 0 : nw_text_next(p->text, record, &who);

	if (ret <= 0)
		return ret == -ENOMEM ? ret : 0;
	ret = begin_at(p, record->time, err);
	if (ret < 0)
		return ret;
	run->result->stop_ns = nw_text_over(p->text);
	if ((run->delivery.needs_tasks || run->consumer.needs.threads ||
	     run->result->by_kernel) &&
	    record->kind != NW_RECORD_LOSS)
		nw_tasks_set(run->delivery.tasks, record->tid, who.pid, who.comm,
			     who.comm_len);
	return 1;
}

/* Hands out the lines that are still in the window, because the text is over. */
static int stop(struct nw_run *run, struct nw_error *err)
{
	struct player *p = run->source_state;

	nw_text_finish(p->text);
	int ret = nw_run_drain(run, err);
	if (nw_run_reason(ret)) {
		run->result->reason = nw_run_reason(ret);
		ret = 0;
	}
	if (ret == 0)
		ret = begin_at(p, nw_text_stats(p->text).now, err);
	return ret == 0 && run->result->by_kernel ? stop_counting(p, err) : ret;
}

static void report_bad_lines(const struct player *p)
{
	const struct nw_text_stats stats = nw_text_stats(p->text);

	if (stats.ticks)
		nw_run_notice(
			p->run,
			"the times of this text are no nanoseconds (trace clock counter, uptime or x86-tsc): they are shown as if they were");
	if (!p->run->request->verbose)
		return;
	if (stats.late)
		nw_run_notice(
			p->run,
			"%ju lines: %ju are of other events, %ju are no trace lines, some were late",
			stats.lines, stats.other, stats.bad);
	else
		nw_run_notice(p->run,
			      "%ju lines: %ju are of other events, %ju are no trace lines",
			      stats.lines, stats.other, stats.bad);
	if (stats.bad)
		nw_run_notice(p->run, "the first that is none is line %ju", stats.bad_at);
}

static int finish(struct nw_run *run, struct nw_error *err)
{
	const struct player *p = run->source_state;
	const struct nw_text_stats stats = nw_text_stats(p->text);
	struct nw_run_result *result = run->result;

	result->now_ns = nw_min64(nw_text_over(p->text), nw_max64(stats.now, stats.stop));
	result->stop_ns = result->now_ns;
	result->lost = stats.lost + run->live.uncounted;
	result->lost_is_least = stats.lost_is_least;
	report_bad_lines(p);
	nw_run_notice_order(run);
	return nw_run_explain_recorded(run, err);
}

/* ---- in memory ---------------------------------------------------------------------- */

static int open_memory(struct nw_run *run, struct nw_error *err)
{
	struct player *p = open_player(run);

	if (!p || nw_text_open_memory(run->bytes, run->len, &p->text) < 0)
		return nw_no_memory(err);
	return find_probes(p, run->bytes, run->len, err);
}

static int fill_memory(struct nw_run *run, struct nw_error *err)
{
	struct player *p = run->source_state;
	bool more = !p->looked;

	(void)err;
	p->looked = true;
	return more;
}

const struct nw_run_source nw_text_source = {
	.open = open_memory,
	.begin = begin,
	.fill = fill_memory,
	.next = next,
	.stop = stop,
	.maps = read_maps,
	.finish = finish,
	.close = close_player,
};

/* ---- from a pipe -------------------------------------------------------------------- */

/* Reads what is there. Returns its length; 0: the end; -EAGAIN: nothing now. */
static ssize_t read_some(struct nw_run *run, char *to, size_t room)
{
	int fd = run->request->source_fd;
	struct pollfd wait[2] = {{.fd = fd, .events = POLLIN},
				 {.fd = run->live.wake.fd, .events = POLLIN}};

	const int end_ms = run->result->by_kernel ? END_COUNTED_MS : END_MS;
	if (poll(wait, run->live.wake.stop ? 1 : 2,
		 run->live.wake.stop ? end_ms : QUIET_MS) < 0 ||
	    !wait[0].revents)
		return -EAGAIN;
	ssize_t got = read(fd, to, room);
	if (got < 0 && errno == EINTR)
		return -EAGAIN;
	return got < 0 ? -errno : got;
}

/*
 * Is the text over? Ctrl-C goes to all programs of the pipeline, and the script still has to print the rest, so the
 * end of the text is awaited as long as something comes.
 */
static bool is_over(struct nw_run *run, ssize_t got)
{
	bool stopped = run->live.wake.stop;

	nw_wake_poll(&run->live.wake);
	run->result->signalled = run->live.wake.stop;
	if (stopped)
		run->result->reason = NW_END_SIGNAL;
	return got == 0 || (stopped && got == -EAGAIN);
}

static int cannot_read(const struct nw_run *run, ssize_t code, struct nw_error *err)
{
	return nw_fail(err, (int)-code, "cannot read %s: %s", name_of(run),
		       nw_strerror((int)-code));
}

static int fill_pipe(struct nw_run *run, struct nw_error *err)
{
	struct player *p = run->source_state;
	struct pollfd wake = {.fd = run->live.wake.fd, .events = POLLIN};
	size_t room;

	if (is_over(run, p->got))
		return 0;
	char *to = nw_text_room(p->text, &room);
	p->got = to ? read_some(run, to, room) : -ENOMEM;
	if (p->got < 0 && p->got != -EAGAIN)
		return cannot_read(run, p->got, err);
	uint64_t now = nw_clock_ns(CLOCK_MONOTONIC);
	/* A signal, or a client of `serve`, is no pause of the text; but neither puts one off. */
	bool pause = p->got == 0 || poll(&wake, 1, 0) <= 0 ||
		     now - p->got_at >= (uint64_t)QUIET_MS * 1000000;
	if (p->got > 0) {
		nw_text_filled(p->text, (size_t)p->got);
		p->got_at = now;
	} else if (pause) {
		nw_text_flush(p->text);
	}
	if (p->got == 0)
		nw_text_finish(p->text);
	return 1;
}

static int check(struct nw_run *run, struct nw_error *err)
{
	const struct player *p = run->source_state;

	(void)err;
	run->result->now_ns = nw_max64(run->result->now_ns, nw_text_stats(p->text).now);
	return 0;
}

/* Reads everything into a file without a name, and maps that. first: text that was read already. */
static int spool(struct nw_run *run, const struct nw_buf *first, struct nw_error *err)
{
	FILE *file = nw_temporary_file();
	bool ok = file && fwrite(nw_buf_str(first), 1, first->len, file) == first->len;
	nw_cleanup(nw_free_ptr) char *block = malloc(1 << 16);
	size_t len = first->len;
	ssize_t got = 1;

	ok = ok && block;
	while (ok && !is_over(run, got)) {
		got = read_some(run, block, 1 << 16);
		if (got < 0 && got != -EAGAIN)
			break;
		if (got > 0)
			ok = fwrite(block, 1, (size_t)got, file) == (size_t)got;
		len += got > 0 ? (size_t)got : 0;
	}
	ok = ok && fflush(file) == 0;
	int code = ok ? 0 : errno;
	char *bytes = ok && len ? mmap(NULL, len, PROT_READ, MAP_PRIVATE, fileno(file), 0)
				: MAP_FAILED;
	if (file)
		fclose(file);
	run->spooled = bytes != MAP_FAILED ? bytes : NULL;
	run->bytes = run->spooled ? bytes : "";
	run->len = run->spooled ? len : 0;
	if (code)
		return nw_fail(err, code, "cannot keep the text in a temporary file: %s",
			       nw_strerror(code));
	return got < 0 && got != -EAGAIN ? cannot_read(run, got, err) : 0;
}

/* Reads until the kind of data is known. first: all data so far. */
static int read_beginning(struct player *p, struct nw_buf *first, enum nw_text_kind *kind,
			  struct nw_error *err)
{
	ssize_t got = 1;

	*kind = NW_TEXT_BAD;
	while (!is_over(p->run, got)) {
		size_t room;
		char *to = nw_text_room(p->text, &room);
		got = to ? read_some(p->run, to, room) : -ENOMEM;
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

/* Reads everything first, because the kind of data is only known at its end, and opens the source for it. */
static int open_spooled(struct nw_run *run, const struct nw_buf *first,
			struct nw_error *err)
{
	int ret = spool(run, first, err);

	if (ret < 0)
		return ret;
	run->stopped = run->live.wake.stop;
	close_player(run);
	run->source = nw_source_of_bytes(run->bytes, run->len);
	return run->source->open(run, err);
}

static int open_pipe(struct nw_run *run, struct nw_error *err)
{
	struct player *p = open_player(run);
	struct nw_buf first = {0};
	enum nw_text_kind kind;

	if (!p || nw_text_open(&p->text) < 0)
		return nw_no_memory(err);
	int ret = nw_run_open_wake(run, err);
	if (ret == 0)
		ret = read_beginning(p, &first, &kind, err);
	if (ret == 0)
		ret = kind == NW_TEXT_HEADER ? find_probes(p, NULL, 0, err)
					     : open_spooled(run, &first, err);
	nw_buf_free(&first);
	return ret;
}

const struct nw_run_source nw_pipe_source = {
	.ticks = true,
	.open = open_pipe,
	.begin = begin,
	.fill = fill_pipe,
	.next = next,
	.check = check,
	.stop = stop,
	.maps = read_maps,
	.finish = finish,
	.close = close_player,
};
