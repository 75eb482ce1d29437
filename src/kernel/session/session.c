// SPDX-License-Identifier: MIT
/* The life of a session: journal, instance, definitions, arming, disarming, removal. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernel/steps/topbuffer.h"
#include "kernel/tracefs/event_list.h"
#include "kernel/tracefs/expedite.h"

#include "kernel/recovery/cleanup.h"
#include "kernel/recovery/teardown.h"
#include "session_private.h"

/* ---- its name ----------------------------------------------------------------------- */

/* Calls getrandom(2) by its number, because glibc has a function for it only since 2.25. It does not wait until the
 * kernel has collected enough randomness. */
static bool random_bytes(void *out, size_t size)
{
#ifdef SYS_getrandom
	return syscall(SYS_getrandom, out, size, 1 /* GRND_NONBLOCK */) == (long)size;
#else
	(void)out;
	return size == 0;
#endif
}

void nw_session_name(char out[24])
{
	uint32_t mix;

	if (!random_bytes(&mix, sizeof(mix)))
		mix = (uint32_t)nw_hash64(nw_clock_ns(CLOCK_REALTIME));
	snprintf(out, 24, "%d_%06x", (int)getpid(), mix & 0xffffffu);
}

/* ---- the instance ------------------------------------------------------------------- */

int nw_session_set(struct nw_session *session, const char *file, const char *value)
{
	int ret = session->top ? nw_top_keep(session->fs, &session->journal, file) : 0;
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s%s", session->where, file);

	if (ret < 0 || !path)
		return ret < 0 ? ret : -ENOMEM;
	return nw_step_runner_step(&session->runner, NW_DO_WRITE, path, value, NULL);
}

int nw_session_do(const struct nw_session *session, enum nw_action_kind kind,
		  const char *file, const char *text)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s%s", session->where, file);

	return path ? nw_do(session->fs, kind, path, text) : -ENOMEM;
}

static int set_recording(struct nw_session *session, bool on, struct nw_error *err)
{
	const char *file = nw_settings[NW_SETTING_RECORD].file;
	int ret = nw_session_set(session, file, on ? "1" : "0");

	return ret < 0 ? nw_fail(err, -ret,
				 on ? "cannot start recording: %s"
				    : "cannot stop recording: %s",
				 nw_strerror(-ret))
		       : 0;
}

/* Prepares recording in the top-level buffer. It is emptied, so that only our own records are counted, read or lost. */
static int take_top(struct nw_session *session, struct nw_error *err)
{
	int ret = nw_top_take(session->fs, session->options.force, &session->top_lock, err);

	if (ret < 0)
		return ret;
	session->top = true;
	session->instance = openat(session->fs->root, ".",
				   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (session->instance < 0)
		return nw_fail(err, errno, "cannot open %s: %s", session->fs->path,
			       nw_strerror(errno));
	ret = set_recording(session, false, err);
	if (ret == 0)
		nw_top_clear(session->fs);
	return ret;
}

/* Makes an instance. It records from the start, which costs nothing while no event is enabled in it. */
static int make_instance(struct nw_session *session, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *dir = nw_text("instances/%s", session->plan->group);
	int ret = dir ? nw_step_runner_step(&session->runner, NW_DO_MKDIR, dir, "", NULL)
		      : -ENOMEM;

	if (ret < 0)
		return nw_fail(err, -ret, "cannot create %s/%s: %s", session->fs->path,
			       dir ? dir : "", nw_refusal_text(NW_REFUSED_INSTANCE, -ret));
	snprintf(session->where, sizeof(session->where), "%s/", dir);
	if (session->runner.dry_run) {
		nw_step_runner_shell(&session->runner, "I=\"$T/%s\"", dir);
		return 0;
	}
	session->instance = openat(session->fs->root, dir,
				   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return session->instance < 0 ? nw_fail(err, errno, "cannot open %s/%s: %s",
					       session->fs->path, dir, nw_strerror(errno))
				     : 0;
}

/* Sets the first clock of the setting that the kernel supports. */
static int set_clock(struct nw_session *session, struct nw_error *err)
{
	static const enum nw_feature needed[] = {[NW_CLOCK_MONO] = NW_FEATURE_CLOCK_MONO,
						 [NW_CLOCK_BOOT] = NW_FEATURE_CLOCK_BOOT};
	const bool *has = session->features->has;
	const char *word = nw_settings[NW_SETTING_CLOCK].value;
	enum nw_clock clock = NW_CLOCK_MONO;
	char name[16];

	for (; clock < NW_CLOCK_OTHER && !has[needed[clock]]; clock++)
		word += strcspn(word, " ") + 1;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, " "), word);
	session->clock = clock;
	int ret = nw_session_set(session, nw_settings[NW_SETTING_CLOCK].file, name);
	return ret < 0 ? nw_fail(err, -ret, "cannot set the trace clock to %s: %s", name,
				 nw_strerror(-ret))
		       : 0;
}

/*
 * Room for 0.05 s of one thread's hits at full speed; the reader is woken long before. A larger buffer makes starting
 * slower (0.2 ms per MiB and CPU), and needs memory on every CPU.
 */
uint64_t nw_buffer_default(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t share = ((uint64_t)128 << 20) / (uint64_t)(cpus > 0 ? cpus : 1);

	return nw_max64(512 << 10, nw_min64(share, 2 << 20));
}

/* Sets pages of 16 KiB (sub-buffers, 6.8), which are cheaper to read than those of 4 KiB (`make bench ONLY=ways`), if
 * the buffer has room for some of them. If that fails, small ones do; a dry run may lack the memory to print it. */
static int set_pages(struct nw_session *session, uint64_t bytes)
{
	enum {
		KIB = 16,
		LEAST_PAGES = 64
	};
	char text[16];

	if (!session->features->has[NW_FEATURE_SUBBUF] || !session->options.large_pages ||
	    session->top || bytes / 1024 < KIB * LEAST_PAGES)
		return 0;
	snprintf(text, sizeof(text), "%d", KIB);
	int ret = nw_session_set(session, "buffer_subbuf_size_kb", text);
	return session->runner.dry_run ? ret : 0;
}

/*
 * Resizes the buffer. While a process has the instance's `trace` open, that fails (ring_buffer_resize(): -EBUSY),
 * which kernels before 6.15 report as ENOMEM, like a lack of memory (tracing_resize_ring_buffer()). So it is tried
 * again: for milliseconds if memory may be lacking, else for up to a second.
 */
static int resize(struct nw_session *session, uint64_t bytes, bool last)
{
	char text[32];
	int ret;

	snprintf(text, sizeof(text), "%ju", (bytes + 1023) / 1024);
	for (long us = 500; (ret = nw_session_set(session, "buffer_size_kb", text)) < 0 &&
			    (ret == -EBUSY || ret == -ENOMEM) &&
			    us <= (last || ret == -EBUSY ? 500000 : 8000);
	     us *= 2)
		nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
	return ret;
}

/*
 * Some kernels (4.9 to 6.1 seen) have one flag for all buffers that says "this buffer has its own size". Resizing an
 * instance sets it, so the top-level buffer would keep its boot size for good: "7 (expanded: 1408)" would become "7".
 * A write to any `enable` file, even of "0", expands the top level first (tracing_update_buffers()), as enabling our
 * first event would. Otherwise the write has no effect, because the instance has no events enabled yet.
 */
static int expand_top(struct nw_session *session)
{
	struct nw_buf size = {0};

	if (session->top)
		return 0;
	nw_tracefs_read(session->fs->root, "buffer_size_kb", &size);
	bool expands = strstr(nw_buf_str(&size), "(expanded: ") != NULL;
	nw_buf_free(&size);
	return expands ? nw_session_set(session, "events/enable", "0") : 0;
}

/* Sets the size of the buffer. If memory is short, a smaller buffer is better than none. */
static int set_buffer(struct nw_session *session, uint64_t bytes, struct nw_error *err)
{
	uint64_t wanted = bytes ? bytes : nw_buffer_default();
	int ret;

	ret = expand_top(session);
	if (ret < 0)
		return nw_fail(err, -ret,
			       "cannot write to the new instance's events/enable: %s",
			       nw_strerror(-ret));
	ret = set_pages(session, wanted);
	if (ret < 0)
		return nw_fail(err, -ret, "cannot print the size of pages: %s",
			       nw_strerror(-ret));
	for (bytes = wanted;; bytes /= 2) {
		bool last = bytes < 16384;
		ret = resize(session, bytes, last);
		if (ret != -ENOMEM || last)
			break;
	}
	if (ret < 0)
		return nw_fail(err, -ret,
			       "cannot allocate %ju KiB of ring buffer per CPU: %s",
			       wanted / 1024, nw_strerror(-ret));
	if (bytes < wanted)
		nw_strings_tell(&session->warnings,
				"only %ju KiB of ring buffer per CPU could be had",
				bytes / 1024);
	session->buffer_bytes = bytes;
	return 0;
}

/* 0 wakes the reader for every few events, and 50 (the kernel's default) too late. */
static int set_percent(struct nw_session *session, struct nw_error *err)
{
	unsigned int asked = session->options.buffer_percent;
	char text[16];

	if (!session->features->has[NW_FEATURE_BUFFER_PERCENT])
		return 0;
	snprintf(text, sizeof(text), "%u", asked ? asked : 20);
	int ret = nw_session_set(session, "buffer_percent", text);
	return ret < 0 ? nw_fail(err, -ret, "cannot set buffer_percent: %s",
				 nw_strerror(-ret))
		       : 0;
}

/* A new instance copies the option of the top level (Linux 4.4 and later); older kernels have only the top level's. */
static int set_overwrite(struct nw_session *session, struct nw_error *err)
{
	static const char file[] = "options/overwrite";

	if (!session->options.overwrite)
		return 0;
	int ret = nw_session_set(session, file, "1");
	return ret < 0 && ret != -ENOENT
		       ? nw_fail(err, -ret, "cannot set %s: %s", file, nw_strerror(-ret))
		       : 0;
}

/* ---- births, names and deaths ------------------------------------------------------- */

/* Enables the events about threads. If the kernel lacks one, the run does without. */
static int enable_tasks(struct nw_session *session, struct nw_error *err)
{
	for (size_t i = 0; i < nw_task_event_count; i++) {
		const struct nw_setting *setting = &nw_settings[NW_SETTING_NEWTASK + i];
		int ret = nw_session_set(session, setting->file, setting->value);
		session->births |= ret == 0 && i == 0; /* task_newtask */
		if (ret < 0 && nw_is_shortage(-ret))
			return nw_fail(err, -ret, "%s cannot be recorded: %s",
				       nw_task_events[i], nw_strerror(-ret));
		if (ret < 0)
			nw_strings_tell(
				&session->warnings,
				"%s cannot be recorded (%s): names of short-lived threads may be missing",
				nw_task_events[i], nw_strerror(-ret));
	}
	return 0;
}

/* ---- opening ------------------------------------------------------------------------ */

/* Does everything except enabling. The buffer gets its size here, because resizing silently drops events. */
int nw_session_prepare(struct nw_session *session, const struct nw_session_options *options,
		       struct nw_error *err)
{
	const bool *has = session->features->has;
	int ret = has[NW_FEATURE_INSTANCES] && has[NW_FEATURE_INSTANCE_EVENTS]
			  ? make_instance(session, err)
			  : take_top(session, err);

	if (ret == 0)
		ret = set_clock(session, err);
	if (ret == 0)
		ret = set_buffer(session, options->buffer_bytes, err);
	if (ret == 0)
		ret = set_percent(session, err);
	if (ret == 0)
		ret = set_overwrite(session, err);
	if (ret == 0)
		ret = nw_session_define(session, err);
	if (ret == 0)
		ret = nw_pid_filter_begin(session, options, err);
	if (ret == 0 && nw_sched_filter_want(session, options) < 0)
		ret = nw_no_memory(err);
	return ret;
}

int nw_session_open(const struct nw_tracefs *fs, const struct nw_features *features,
		    const struct nw_plan *plan, const char *name,
		    const struct nw_session_options *options, struct nw_armed *armed,
		    struct nw_session **out, struct nw_error *err)
{
	struct nw_session *session = calloc(1, sizeof(*session));

	if (!session)
		return nw_no_memory(err);
	session->fs = fs;
	session->features = features;
	session->plan = plan;
	session->armed = armed;
	session->instance = session->top_lock = -1;
	session->journal.fd = -1;
	session->options = *options;
	session->options.pids = NULL;
	session->options.pid_count = 0;
	session->options.tids = NULL;
	session->options.tid_count = 0;
	nw_clean_before(session->fs, &session->warnings);
	int ret = nw_armed_make(plan, armed) < 0
			  ? nw_no_memory(err)
			  : nw_journal_create(name, &session->journal, err);
	if (ret == 0) {
		session->runner = (struct nw_step_runner){.fs = fs,
							  .journal = &session->journal};
		nw_expedite_begin(features, &session->journal.expedited);
		ret = nw_session_prepare(session, options, err);
	}
	if (ret < 0) {
		nw_session_close(session, NULL);
		return ret;
	}
	*out = session;
	return 0;
}

void nw_session_find_ids(struct nw_session *session, size_t first)
{
	for (size_t i = first; i < session->armed->events.count; i++) {
		struct nw_armed_event *event = session->armed->events.item[i];
		if (event->defined)
			event->id = nw_event_id(
				session->fs, nw_event_group(session->plan, event->planned),
				event->name);
	}
}

/* Raises semaphores, unless the kernel does it. */
int nw_session_raise_semaphores(struct nw_session *session, struct nw_error *err)
{
	const struct nw_features *features = session->features;

	if (features->has[NW_FEATURE_REF_CTR])
		return 0;
	int ret = nw_semaphores_open(session->armed, &session->journal,
				     features->has[NW_FEATURE_FANOTIFY],
				     &session->semaphores, err);
	if (ret == 0 && session->semaphores &&
	    nw_semaphores_scan(session->semaphores, true) < 0)
		ret = nw_no_memory(err);
	if (ret == 0 && session->semaphores)
		nw_vec_each (&session->semaphores->problems, problem)
			nw_strings_tell(&session->warnings, "%s", *problem);
	return ret;
}

/* Does the buffer record already? A new instance does. */
static bool is_recording(const struct nw_session *session)
{
	struct nw_buf text = {0};

	if (session->runner.dry_run)
		return true;
	nw_tracefs_read(session->instance, "tracing_on", &text);
	bool is = text.len && text.data[0] == '1';
	nw_buf_free(&text);
	return is;
}

int nw_session_record(struct nw_session *session, struct nw_error *err)
{
	int ret = is_recording(session) ? 0 : set_recording(session, true, err);

	return ret == 0 && session->options.tasks ? enable_tasks(session, err) : ret;
}

/*
 * Everything that records and filters is in force before the first probe is enabled: enabling raises semaphores, and
 * a program that waits for one hits at once.
 */
int nw_session_arm(struct nw_session *session, struct nw_error *err)
{
	int ret = 0;

	session->began_ns = nw_session_now(session);
	if (!session->runner.dry_run &&
	    (ret = nw_journal_note(&session->journal, "arming\n")) < 0)
		nw_fail(err, -ret, "cannot write the journal: %s", nw_strerror(-ret));
	if (ret == 0 && nw_sched_filter_begin(session) < 0)
		ret = nw_no_memory(err);
	if (ret == 0)
		ret = session->options.triggers ? nw_session_set_triggers(session, err)
						: nw_session_enable(session, err);
	nw_expedite_end(&session->journal.expedited);
	if (ret < 0 || session->runner.dry_run)
		return ret;
	nw_session_find_ids(session, 0); /* no event will be split any more */
	return nw_session_raise_semaphores(session, err);
}

uint64_t nw_session_began(const struct nw_session *session)
{
	return session->began_ns;
}

bool nw_session_raises(const struct nw_session *session, const nw_images *images)
{
	return session->semaphores &&
	       (!images || nw_semaphores_in(session->semaphores, images));
}

bool nw_session_raise(struct nw_session *session, pid_t pid, const nw_images *images)
{
	nw_semaphores_raise(session->semaphores, pid);
	return nw_semaphores_has(session->semaphores, pid, images);
}

int nw_session_fd(const struct nw_session *session)
{
	return session->semaphores ? session->semaphores->watch : -1;
}

int nw_session_serve(struct nw_session *session)
{
	nw_pid_filter_update(session);
	nw_sched_filter_update(session);
	return session->semaphores ? nw_semaphores_poll(session->semaphores) : 1000;
}

int nw_session_stop(struct nw_session *session, struct nw_error *err)
{
	return set_recording(session, false, err);
}

/* ---- the end ------------------------------------------------------------------------ */

static int take_away(struct nw_session *session, struct nw_error *err)
{
	struct nw_journal_contents contents;
	nw_strings stuck = {0};

	if (session->journal.fd < 0)
		return 0;
	int read = nw_journal_read(&session->journal, &contents);
	nw_expedite_begin(session->features, &session->journal.expedited);
	int ret = nw_session_undo(session->fs, &session->journal, &contents,
				  session->semaphores, &stuck);
	nw_expedite_end(&session->journal.expedited);
	nw_journal_contents_free(&contents);
	return nw_session_settle(&session->journal, read < 0 ? read : ret, &stuck, err);
}

/* Reports instances that stay. All sessions that might read have ended, so another program does. */
static int tell_waiting(unsigned int count, struct nw_error *err)
{
	nw_fail(err, EBUSY,
		nw_plural(
			count,
			"%u instance of tracefs stays, with a small ring buffer: another program reads a trace_pipe, and this kernel keeps every instance meanwhile",
			"%u instances of tracefs stay, with small ring buffers: another program reads a trace_pipe, and this kernel keeps every instance meanwhile"),
		count);
	nw_error_hint(err, "`nopwatch clean` removes what is left when it has ended");
	return -EBUSY;
}

int nw_session_close(struct nw_session *session, struct nw_error *err)
{
	if (!session)
		return 0;
	if (session->kept) {
		close(session->instance);
		nw_journal_leave(&session->journal);
		nw_session_free(session);
		return 0;
	}
	if (session->instance >= 0) {
		/* Must precede disabling the first event; otherwise hits of several events are recorded in part. */
		(void)nw_session_do(session, NW_DO_WRITE, "tracing_on", "0");
		close(session->instance);
	}
	int ret = take_away(session, err);
	if (ret == 0) {
		/* On Linux 4.1 to 5.8 our reading may have kept instances of other sessions
		 * from being removed (teardown.c): they are removed now. Where there are no
		 * journals, this only lists a directory. */
		struct nw_clean_report report;
		nw_strings journals = {0};
		bool any = nw_journal_list(&journals) == 0 && journals.count > 0;

		nw_strings_free(&journals);
		if (any && nw_clean(session->fs, false, &report, NULL) == 0) {
			if (report.waiting && !report.living)
				ret = tell_waiting(report.waiting, err);
			nw_clean_report_free(&report);
		}
	}
	nw_session_free(session);
	return ret;
}

void nw_session_free(struct nw_session *session)
{
	nw_steps_free(&session->runner.steps);
	nw_vec_each (&session->paths, known)
		free(known->path);
	nw_vec_free(&session->paths);
	nw_strings_free(&session->warnings);
	nw_vec_free(&session->filter.excluded);
	nw_sched_filter_free(&session->sched);
	if (session->top_lock >= 0)
		close(session->top_lock);
	free(session);
}

/* ---- questions ---------------------------------------------------------------------- */

enum nw_clock nw_session_clock(const struct nw_session *session)
{
	return session->clock;
}

const struct nw_tracefs *nw_session_tracefs(const struct nw_session *session)
{
	return session->fs;
}

const struct nw_features *nw_session_features(const struct nw_session *session)
{
	return session->features;
}

struct nw_span_watch nw_session_span_watch(const struct nw_session *session,
					   const char *start, const char *end)
{
	return (struct nw_span_watch){
		.fs = session->fs,
		.group = session->plan->group,
		.start = start,
		.end = end,
		.clock = session->clock == NW_CLOCK_MONO ? "mono" : "boot",
	};
}

const nw_strings *nw_session_warnings(const struct nw_session *session)
{
	return &session->warnings;
}

uint64_t nw_session_buffer(const struct nw_session *session)
{
	return session->buffer_bytes;
}

/* Reads "now ts: 12345.678901" of a CPU's stats, in seconds of the trace clock. */
static uint64_t now_from_stats(const struct nw_session *session)
{
	struct nw_buf stats = {0};
	uint64_t seconds = 0, micros = 0;
	const char *now = NULL;

	if (nw_tracefs_read(session->instance, "per_cpu/cpu0/stats", &stats) == 0)
		now = strstr(nw_buf_str(&stats), "now ts:");
	if (now && sscanf(now, "now ts: %ju.%6ju", &seconds, &micros) != 2)
		seconds = micros = 0;
	nw_buf_free(&stats);
	return seconds * 1000000000u + micros * 1000u;
}

uint64_t nw_session_now(const struct nw_session *session)
{
	if (session->clock == NW_CLOCK_OTHER)
		return now_from_stats(session);
	return nw_clock_ns(session->clock == NW_CLOCK_MONO ? CLOCK_MONOTONIC
							   : CLOCK_BOOTTIME);
}
