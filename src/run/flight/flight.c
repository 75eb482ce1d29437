// SPDX-License-Identifier: MIT
/* The consumer that keeps the last seconds, and writes them when a trigger comes. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "health.h"
#include "page_history.h"
#include "reach.h"
#include "run/consumers/recorder.h"
#include "sched_filter_snapshot.h"
#include "span_trigger.h"
#include "trigger.h"

#define SECOND_NS UINT64_C(1000000000)
#define RETRY_NS  (5 * SECOND_NS)
#define MARGIN_NS (2 * SECOND_NS) /* from the end of a slow span until its time is read */

enum {
	/* Limit of recordings that wait in memory because they cannot be written */
	MOST_WAITING = 4
};

/* Events of a CPU that were not read, because they were overwritten or lost. */
struct unread {
	uint64_t from, until, count;
	bool is_least; /* there may be more */
};

/* A recording that is not written yet. */
struct job {
	struct nw_trigger trigger;
	nw_recorded_cpus cpus;
	struct nw_buf table, comms;
	uint64_t begins, until, lost;
	bool lost_is_least;  /* the size of some losses is unknown */
	const char *shorter; /* why it begins later than requested; NULL: it does not */
	uint64_t late_ns;    /* how much later */
	char *path;
	pid_t writer;	/* the process that writes it; 0: none */
	uint64_t again; /* time of the next attempt after an error */
	bool told;
};

struct nw_flight {
	struct nw_flight_options options;
	struct nw_recorder *recorder;
	struct nw_run *run; /* during the run */
	struct nw_page_layout layout;
	struct nw_span_trigger span_trigger;
	struct nw_health health;
	struct nw_page_history kept;
	struct nw_trigger next; /* triggers that came and are not being read for */
	struct nw_trigger now;	/* triggers for which records are being read */
	bool reading;		/* records are being read, up to now.end */
	NW_VEC(struct unread) unread;
	NW_VEC(struct job) jobs;
	uint64_t cuts;	   /* number of recordings that were begun */
	uint64_t number;   /* of the last name */
	uint64_t last_cut; /* the records that are kept were read up to this time */
	struct nw_sched_filter_snapshot
		named; /* threads whose scheduler events are recorded */
	nw_strings
		/* names: scheduler events of new threads with these names are recorded, too */
		comms;
	struct nw_reach reach;
	uint64_t aged;	     /* time of the last nw_recorder_age() */
	uint64_t kept_since; /* older records were dropped for lack of memory */
	bool told_missed;
	int failed;	    /* errno: a page or a loss could not be kept */
	uint64_t lost;	    /* events that recordings lack */
	bool lost_is_least; /* there may be more */
	struct nw_flight_stats stats;
};

static void notice(const struct nw_flight *f, const char *fmt, ...) nw_format(2, 3);
static void notice(const struct nw_flight *f, const char *fmt, ...)
{
	struct nw_buf text = {0};
	va_list args;

	va_start(args, fmt);
	nw_buf_vprintf(&text, fmt, args);
	va_end(args);
	if (f->options.notice)
		f->options.notice(f->options.arg, nw_buf_str(&text));
	nw_buf_free(&text);
}

static uint64_t before(uint64_t time, uint64_t ns)
{
	return time > ns ? time - ns : 0;
}

/* ---- conditions --------------------------------------------------------------------- */

/* Adds a trigger. Triggers that come before the recording is cut share it. */
static void add_trigger(struct nw_flight *f, uint64_t start, uint64_t end, const char *text)
{
	const uint64_t keep = f->options.keep_ns;

	if (f->options.times && f->cuts + f->reading >= f->options.times &&
	    !(f->reading && end <= f->now.end))
		return; /* the last recording is being made */
	const bool held = f->reading && nw_trigger_holds(&f->now, start, end, keep);
	nw_trigger_add(held ? &f->now : &f->next, start, end, keep, text);
}

static void seen(void *arg, const struct nw_seen_span *span)
{
	struct nw_flight *f = arg;
	char took[16], text[160];

	nw_duration_text(span->end - span->start, took);
	snprintf(text, sizeof(text), "%s took %s in thread %d%s%.16s%s", span->name, took,
		 (int)span->tid, span->task && span->task->comm[0] ? " (" : "",
		 span->task ? span->task->comm : "",
		 span->task && span->task->comm[0] ? ")" : "");
	add_trigger(f, span->start, span->end, text);
}

static int check_triggers(struct nw_flight *f, struct nw_error *err)
{
	uint64_t now = nw_run_now(f->run);
	int ret = f->options.until.span ? nw_span_trigger_step(&f->span_trigger, err) : 0;

	if (ret < 0)
		return ret;
	const char *fell_back = nw_span_trigger_check_kernel(&f->span_trigger);
	if (fell_back)
		nw_run_notice(f->run, "%s", fell_back);
	if (nw_run_snapshot_requested(f->run))
		add_trigger(f, now, now, "SIGUSR2");
	ret = nw_health_check(&f->health, err);
	if (ret > 0) {
		char text[160];
		snprintf(text, sizeof(text), "'%.80s' %s", f->options.command,
			 f->health.reason);
		add_trigger(f, now, now, text);
	}
	return ret < 0 ? ret : 0;
}

/* ---- reading ------------------------------------------------------------------------ */

/* Are so many pages kept for recordings that cannot be written that reading has to stop? Then the ring buffer keeps
 * newer records as long as it can. */
static bool is_full(const struct nw_flight *f)
{
	uint64_t since;

	return f->jobs.count && nw_page_history_size(&f->kept, &since) > 2 * f->reach.most;
}

static enum nw_due due(void *arg)
{
	const struct nw_flight *f = arg;

	if (f->reading)
		return NW_DUE_NOW;
	return f->reach.is_short && !is_full(f) ? NW_DUE_AS_IT_COMES : NW_DUE_NOT;
}

/* The stream's tap, which gets every page that was read. */
static int take_page(void *arg, uint32_t cpu, const unsigned char *page, size_t len)
{
	struct nw_flight *f = arg;
	int ret = f->failed ? 0 : nw_page_history_add(&f->kept, cpu, page, len);

	if (ret < 0)
		f->failed = -ret;
	return ret;
}

static int hits(void *arg, const struct nw_hit *hits, size_t count)
{
	return nw_recorder_hits(((struct nw_flight *)arg)->recorder, hits, count);
}

static int hit(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	(void)hit;
	return nw_recorder_note(((struct nw_flight *)arg)->recorder, task);
}

static int other_hit(void *arg, enum nw_other_hit what, const struct nw_hit *hit,
		     const struct nw_task *task)
{
	(void)task;
	return what == NW_HIT_SCHEDULER
		       ? nw_recorder_scheduled(((struct nw_flight *)arg)->recorder, hit)
		       : 0;
}

static void loss(void *arg, const struct nw_record *record)
{
	struct nw_flight *f = arg;
	struct unread *unread = nw_vec_add(&f->unread);

	if (unread)
		*unread = (struct unread){record->time, record->until, record->lost,
					  record->lost_is_least};
	else
		f->failed = ENOMEM;
}

/* Before reading begins, finds the threads whose scheduler events are recorded. */
static int look_who_is_named(struct nw_flight *f)
{
	const struct nw_run_result *result = f->run->result;
	nw_named_threads now = {0};
	int ret = 0;

	/* A new name in records that were read earlier is not seen any more. */
	if (f->reach.is_short)
		nw_sched_filter_snapshot_pause(
			&f->named, nw_max64(f->named.read, nw_run_watermark(f->run)));
	nw_strings_free(&f->comms);
	f->comms = (nw_strings){0};
	if (result->has_named)
		ret = nw_session_named_now(nw_run_session(f->run), &now);
	if (ret == 0 && result->has_named) /* the recording begins then, or later */
		ret = nw_session_comms_since(nw_run_session(f->run),
					     nw_max64(f->now.from, result->armed_ns),
					     &f->comms);
	if (ret == 0)
		ret = nw_sched_filter_snapshot_look(&f->named, &now);
	nw_vec_free(&now);
	return ret;
}

static void thread(void *arg, const struct nw_thread_event *event)
{
	if (event->what == NW_THREAD_BORN || event->what == NW_THREAD_NAMED)
		nw_sched_filter_snapshot_changed(&((struct nw_flight *)arg)->named,
						 event->tid);
}

/* Begins to read for the triggers, if there is room for a recording. */
static void begin_reading(struct nw_flight *f, bool wait)
{
	uint64_t now = nw_run_now(f->run);
	if (!f->next.any || f->reading || (wait && !nw_trigger_is_due(&f->next, now)))
		return;
	if (f->jobs.count >= MOST_WAITING) {
		f->stats.missed += 1 + f->next.more;
		if (!f->told_missed)
			notice(f,
			       "%s: not recorded, since %zu recordings wait to be written",
			       f->next.text, f->jobs.count);
		f->told_missed = true;
		f->next = (struct nw_trigger){0};
		return;
	}
	f->told_missed = false;
	f->now = f->next;
	f->next = (struct nw_trigger){0};
	if (look_who_is_named(f) < 0)
		f->failed = ENOMEM;
	f->now.end = nw_max64(f->now.end, now);
	f->reading = true;
}

/* ---- a recording -------------------------------------------------------------------- */

/* Finds the time from which all events since `from` are there, and counts events that are missing behind it. */
static void find_beginning(const struct nw_flight *f, const struct nw_run_result *result,
			   struct job *job)
{
	uint64_t from = job->trigger.from;
	uint64_t first = nw_max64(nw_max64(from, result->armed_ns), f->kept_since);

	job->begins = first;
	/* A loss that was going on at the first moment that could be recorded is no gap: the recording begins behind
	 * it. */
	nw_vec_each (&f->unread, unread)
		if (unread->from <= first && unread->until != UINT64_MAX)
			job->begins = nw_max64(job->begins, unread->until);
	nw_vec_each (&f->unread, unread)
		if (unread->from > first && unread->until > job->begins) {
			job->lost += unread->count ? unread->count : 1;
			job->lost_is_least |= unread->is_least;
		}
	job->shorter = nw_reach_explain(from, result->armed_ns, job->begins, &job->late_ns);
}

/* Makes the table of a recording, which differs from that of the run in these fields. */
static int make_table(struct nw_flight *f, const struct nw_run_result *result,
		      struct job *job)
{
	struct nw_run_result part = *result;
	int ret = 0;

	part.start_ns = job->begins;
	part.stop_ns = job->until;
	part.lost = job->lost;
	part.lost_is_least = job->lost_is_least;
	memset(&part.named, 0, sizeof(part.named));
	part.named_comms = f->comms;
	nw_vec_each (&f->named.threads, thread) {
		struct nw_named_at *slot = thread->from != UINT64_MAX
						   ? nw_vec_add(&part.named)
						   : NULL;
		if (slot)
			*slot = (struct nw_named_at){thread->tid, thread->from, 0};
		else if (thread->from != UINT64_MAX)
			ret = -ENOMEM;
	}
	if (ret == 0)
		nw_recorder_table(f->recorder, &part, &job->table, &job->comms);
	nw_vec_free(&part.named);
	return ret;
}

/* Makes a job from the records that were read. */
static int cut(struct nw_flight *f, const struct nw_run_result *result, uint64_t until,
	       struct nw_error *err)
{
	struct job *job = nw_vec_add(&f->jobs);

	f->reading = false;
	if (!job)
		return nw_no_memory(err);
	job->trigger = f->now;
	job->until = until;
	find_beginning(f, result, job);
	if (make_table(f, result, job) < 0)
		return nw_no_memory(err);
	f->now = (struct nw_trigger){0};
	f->last_cut = until;
	f->cuts++;
	return nw_page_history_cut(&f->kept, job->begins, &job->cpus) < 0
		       ? nw_no_memory(err)
		       : 0;
}

/* Finds the next name that does not exist. */
static int name_job(struct nw_flight *f, struct job *job)
{
	struct stat st;

	do {
		free(job->path);
		job->path = nw_flight_path(f->options.path, ++f->number);
	} while (job->path && lstat(job->path, &st) == 0);
	return job->path ? 0 : -ENOMEM;
}

static int write_job(struct nw_flight *f, const struct job *job, struct nw_error *err)
{
	struct nw_recording_parts parts = f->recorder->parts;
	struct nw_replace file;
	int ret = nw_replace_begin(job->path, NW_FILE_PRIVATE, false, &file, err);

	if (ret < 0)
		return ret;
	parts.table = job->table;
	parts.comms = job->comms;
	struct nw_writer writer = {.fd = file.fd};
	ret = nw_recording_write(&writer, &parts, f->layout.size, job->cpus.item,
				 (uint32_t)job->cpus.count, err);
	nw_writer_close(&writer);
	if (ret == 0)
		return nw_replace_commit_new(&file, err);
	nw_replace_abort(&file);
	return nw_cannot_write(job->path, -ret, err);
}

/* Runs in the writer, which holds only the pages. If nopwatch is killed, its session is dead at once, even if the
 * writer waits for a disk and cannot be killed. */
static void run_writer(struct nw_flight *f, const struct job *job, pid_t parent)
{
	NW_VEC(int) pages = {0};
	struct nw_error ignored;

	nw_end_with_parent(parent, SIGKILL);
	nw_vec_each (&job->cpus, cpu) {
		int *fd = nw_vec_add(&pages);
		if (!fd)
			_exit(ENOMEM);
		*fd = cpu->fd;
	}
	nw_close_all_files(pages.item, pages.count);
	int ret = write_job(f, job, &ignored);
	_exit(ret == 0 ? 0 : -ret < 255 ? -ret : EIO);
}

/* Starts the writer. It is another process, because a disk may take seconds, in which more may happen. */
static void begin_writing(struct nw_flight *f, struct job *job)
{
	pid_t parent = getpid();

	job->writer = fork();
	if (job->writer == 0)
		run_writer(f, job, parent);
	if (job->writer < 0) /* fork() is tried again later, or at the end */
		job->writer = 0;
}

static void notice_written(struct nw_flight *f, const struct job *job)
{
	uint64_t bytes = 0;
	char more[48] = "", lost[48];

	nw_vec_each (&job->cpus, cpu)
		bytes += cpu->size;
	if (job->trigger.more)
		snprintf(more, sizeof(more), " (and %" PRIu64 " more)", job->trigger.more);
	nw_lost_text(job->lost, job->lost_is_least, lost);
	notice(f, "%s: %s%s; the last %.1f s, %" PRIu64 " KiB, %s", job->path,
	       job->trigger.text, more, (double)before(job->until, job->begins) / 1e9,
	       bytes / 1024, lost);
	if (job->shorter)
		notice(f, "%s begins %.1f s later than it should: %s", job->path,
		       (double)job->late_ns / 1e9, job->shorter);
	f->lost += job->lost;
	f->lost_is_least |= job->lost_is_least;
	f->stats.recordings++;
}

static void free_job(struct job *job)
{
	nw_vec_free(&job->cpus);
	nw_buf_free(&job->table);
	nw_buf_free(&job->comms);
	free(job->path);
}

static void drop_job(struct nw_flight *f, size_t index)
{
	free_job(&f->jobs.item[index]);
	f->jobs.count--;
	memmove(&f->jobs.item[index], &f->jobs.item[index + 1],
		(f->jobs.count - index) * sizeof(struct job));
}

/* Handles a failed writer. A name that another program has taken meanwhile is left to it. */
static void handle_writer_exit(struct nw_flight *f, struct job *job, int status,
			       uint64_t now)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;

	job->writer = 0;
	if (code == EEXIST && name_job(f, job) == 0)
		return;
	job->again = now + RETRY_NS;
	if (!job->told && !code)
		notice(f,
		       "'%s' is not written, since its writer was killed by signal %d: it stays in memory, and is tried again every 5 s",
		       job->path, WTERMSIG(status));
	else if (!job->told)
		notice(f,
		       "cannot write '%s': %s: it stays in memory, and is tried again every 5 s",
		       job->path, nw_strerror(code));
	job->told = true;
}

/* Writes the jobs one after the other, in their order. */
static int write_jobs(struct nw_flight *f, struct nw_error *err)
{
	uint64_t now = nw_run_now(f->run);
	struct job *job = f->jobs.item;
	int status;

	if (!f->jobs.count)
		return 0;
	if (!job->path && name_job(f, job) < 0)
		return nw_no_memory(err);
	if (!job->writer) {
		if (now >= job->again)
			begin_writing(f, job);
		return 0;
	}
	if (waitpid(job->writer, &status, WNOHANG) != job->writer)
		return 0;
	if (status) {
		handle_writer_exit(f, job, status, now);
		return 0;
	}
	notice_written(f, job);
	drop_job(f, 0);
	return 0;
}

/* ---- what is kept ------------------------------------------------------------------- */

/* Drops the oldest eighth of the time if more was read than may be kept, unless a recording waits for it. Returns the
 * time from which records are kept. */
static uint64_t limit_memory(struct nw_flight *f, uint64_t now, uint64_t wanted)
{
	uint64_t since, size = nw_page_history_size(&f->kept, &since);

	if (!f->reach.is_short || size <= f->reach.most || f->jobs.count)
		return wanted;
	f->kept_since = nw_max64(wanted, since + (now - nw_min64(since, now)) / 8);
	nw_reach_warn(&f->reach, f->run, now - f->kept_since,
		      "an eighth of the free memory is the most that is kept");
	return f->kept_since;
}

/* Drops records that no recording can need any more. */
static void forget(struct nw_flight *f)
{
	uint64_t now = nw_run_now(f->run), wanted;
	size_t left = 0;
	if (f->reading || (!f->last_cut && !f->reach.is_short))
		return;
	wanted = before(now, f->reach.wanted_ns);
	nw_vec_each (&f->jobs, job)
		wanted = nw_min64(wanted, job->begins);
	wanted = limit_memory(f, now, wanted);
	nw_vec_each (&f->unread, unread)
		if (unread->until > wanted)
			f->unread.item[left++] = *unread;
	f->unread.count = left;
	if (!f->reach.is_short && !f->jobs.count && wanted > f->last_cut) {
		nw_page_history_forget(&f->kept, UINT64_MAX);
		nw_recorder_age(f->recorder);
		nw_recorder_age(f->recorder);
		f->last_cut = 0;
	} else {
		nw_page_history_forget(&f->kept, wanted);
	}
}

/* ---- the consumer ------------------------------------------------------------------- */

static int start(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_flight *f = arg;
	bool direct;
	int ret = nw_replace_try(f->options.path, &direct, err);

	f->run = run;
	if (ret == 0 && direct)
		ret = nw_fail_usage(err,
				    "-o '%s': not a file, of which there may be several",
				    f->options.path);
	if (ret == 0 && f->options.until.span)
		ret = nw_span_trigger_open(&f->span_trigger, run, &f->options.until, err);
	return ret;
}

/* CMD is not released before this returns, so that the first slow span is seen, too. */
static int armed(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_flight *f = arg;

	f->layout = *nw_run_page_layout(run);
	int ret = f->options.until.span ? nw_span_trigger_arm(&f->span_trigger, run, err)
					: 0;
	if (ret == 0 && f->options.until.span)
		nw_span_trigger_tell_way(&f->span_trigger, run);
	if (ret == 0)
		ret = nw_recorder_begin(f->recorder, run, err);
	f->kept = (struct nw_page_history){
		.path = f->options.path, .layout = &f->layout, .blank = f->recorder->blank};
	f->reach = (struct nw_reach){
		.keep_ns = f->options.keep_ns,
		.wanted_ns = f->options.keep_ns + f->options.until.least_ns + MARGIN_NS,
		.fixed = f->options.fixed_buffer,
		.looked_at = nw_run_now(run),
	};
	nw_run_tap(run, take_page, f);
	return ret;
}

/* While all records are read as they come, refreshes the known names and threads once a second. */
static int keep_up(struct nw_flight *f)
{
	uint64_t known = nw_run_watermark(f->run);

	if (!f->reach.is_short)
		forget(f);
	if (!nw_reach_check(&f->reach, f->run) || !f->reach.is_short)
		return 0;
	if (known - nw_min64(f->aged, known) >= f->reach.wanted_ns && !f->jobs.count) {
		nw_recorder_age(f->recorder);
		f->aged = known;
	}
	forget(f);
	return look_who_is_named(f);
}

static int tick(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_flight *f = arg;
	bool enough = f->options.times && f->cuts >= f->options.times;
	int ret = write_jobs(f, err);

	if (ret == 0 && enough)
		return f->jobs.count ? 0 : -ECANCELED;
	if (ret == 0)
		ret = check_triggers(f, err);
	if (ret < 0)
		return ret;
	begin_reading(f, true);
	if (f->failed)
		return nw_fail(err, f->failed, "cannot keep what was read: %s",
			       nw_strerror(f->failed));
	if (f->reading && nw_run_watermark(run) >= f->now.end) {
		nw_sched_filter_snapshot_pause(&f->named, nw_run_now(run));
		ret = cut(f, run->result, f->now.end, err);
	}
	if (ret == 0 && !f->reading)
		ret = keep_up(f) < 0 ? nw_no_memory(err) : 0;
	return ret;
}

/* Handles triggers up to now, because the run is about to end. */
static void stopping(void *arg, struct nw_run *run)
{
	struct nw_flight *f = arg;

	if (f->options.times && f->cuts >= f->options.times)
		return;
	struct nw_error err;
	if (f->options.until.span && nw_span_trigger_end(&f->span_trigger, &err) < 0)
		nw_run_notice(run, "the last spans were not looked at: %s", err.what);
	if (f->span_trigger.missed)
		nw_run_notice(run, "%s", f->span_trigger.missed);
	uint64_t now = nw_run_now(run);
	if (nw_run_snapshot_requested(run))
		add_trigger(f, now, now, "SIGUSR2");
	begin_reading(f, false);
}

static void await(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
}

/* Completes a job before the end, and waits for it. */
static int finish_job(struct nw_flight *f, struct job *job, struct nw_error *err)
{
	int status = 1, ret = 0;

	if (job->writer)
		await(job->writer, &status);
	if (status != 0) {
		do {
			ret = !job->path || ret == -EEXIST ? name_job(f, job) : 0;
			if (ret == 0)
				ret = write_job(f, job, err);
		} while (ret == -EEXIST);
	}
	job->writer = 0;
	if (ret == -ENOMEM)
		return nw_no_memory(err);
	if (ret == 0)
		notice_written(f, job);
	return ret;
}

int nw_flight_finish(struct nw_flight *f, struct nw_run_result *result,
		     struct nw_error *err)
{
	struct nw_error failure;
	int ret = 0;

	if (f->failed)
		f->reading = false;
	if (f->reading)
		ret = cut(f, result, nw_min64(result->stop_ns, result->now_ns), err);
	nw_vec_each (&f->jobs, job) {
		int one = finish_job(f, job, &failure);
		if (one < 0 && ret == 0)
			*err = failure;
		ret = ret < 0 ? ret : one;
		free_job(job);
	}
	f->jobs.count = 0;
	nw_span_trigger_close(&f->span_trigger);
	if (f->span_trigger.result.unclean && !result->unclean) {
		result->unclean = true;
		result->left = f->span_trigger.result.left;
	}
	result->lost = f->span_trigger.result.lost + f->lost;
	result->lost_is_least = f->span_trigger.result.lost_is_least || f->lost_is_least;
	return ret;
}

struct nw_flight_stats nw_flight_stats(const struct nw_flight *f)
{
	struct nw_flight_stats stats = f->stats;

	stats.spans = f->span_trigger.spans;
	stats.longest_ns = f->span_trigger.by_kernel ? 0 : f->span_trigger.longest_ns;
	stats.lost = f->span_trigger.result.lost;
	return stats;
}

int nw_flight_open(const struct nw_flight_options *options, struct nw_flight **out,
		   struct nw_error *err)
{
	const struct nw_recorder_options recorder = {
		.path = options->path,
		.states = options->states,
		.arg = options->arg,
		.armed = options->armed,
	};
	struct nw_flight *f = calloc(1, sizeof(*f));

	*out = f;
	if (!f)
		return nw_no_memory(err);
	f->options = *options;
	f->health = (struct nw_health){.command = options->command,
				       .interval_ns = SECOND_NS,
				       .timeout_ns = 10 * SECOND_NS};
	f->span_trigger.seen = seen;
	f->span_trigger.arg = f;
	return nw_recorder_open(&recorder, &f->recorder, err);
}

struct nw_consumer nw_flight_consumer(struct nw_flight *f)
{
	return (struct nw_consumer){
		.arg = f,
		.needs =
			{
				.all_args = true,
				.stacks = true,
				.comms = true,
				.scheduler = f->options.states,
				.costs = NW_COSTS_WANTED,
				.named_events = true,
				.brief = true,
				.values = f->options.states,
			},
		.start = start,
		.armed = armed,
		.hit = hit,
		.hits = hits,
		.other_hit = other_hit,
		.thread = thread,
		.loss = loss,
		.due = due,
		.stopping = stopping,
		.tick = tick,
	};
}

void nw_flight_free(struct nw_flight *f)
{
	int status;

	if (!f)
		return;
	nw_health_stop(&f->health);
	nw_vec_each (&f->jobs, job) {
		if (job->writer)
			await(job->writer, &status);
		free_job(job);
	}
	nw_vec_free(&f->jobs);
	nw_vec_free(&f->unread);
	nw_span_trigger_close(&f->span_trigger);
	nw_result_free(&f->span_trigger.result);
	nw_page_history_free(&f->kept);
	nw_recorder_free(f->recorder);
	nw_sched_filter_snapshot_free(&f->named);
	nw_strings_free(&f->comms);
	free(f);
}
