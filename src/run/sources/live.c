// SPDX-License-Identifier: MIT
/* The live source: hits from the running kernel. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "run/limits/guards.h"
#include "run/observed.h"

#include "sources.h"

enum {
	TICK_MS = 100,
	REST_MS = 500, /* the same while nothing is to be read */
	POLL_MS = 20,  /* if the kernel cannot wake us when reading pays off */
	OBSERVE_MS =
		10, /* if the system is asked about each hit: a title may change soon */
	/* for looking up all threads before the probes are armed, and behind that, while the buffer fills */
	SCAN_BEFORE_NS = 250000000,
	SCAN_ARMED_NS = 20000000
};

/* ---- opening ------------------------------------------------------------------------ */

int nw_run_read_format(void *arg, const char *system, const char *name, struct nw_buf *out)
{
	return nw_tracefs_format(arg, system, name, out);
}

static int load_formats(struct nw_run *run, struct nw_error *err)
{
	struct nw_buf header = {0};
	int ret = nw_session_headers(run->live.session, &header, NULL, NULL, err);

	if (ret == 0)
		ret = nw_formats_load(&run->result->armed, true, nw_buf_str(&header),
				      header.len, nw_run_read_format, &run->live.fs,
				      &run->delivery.formats, err);
	nw_buf_free(&header);
	if (ret == 0 && run->consumer.needs.kernel_texts &&
	    nw_kernel_texts_open(&run->delivery.formats, nw_run_read_format, &run->live.fs,
				 &run->delivery.kernel_texts) == -ENOMEM)
		ret = nw_no_memory(err);
	return ret;
}

static uint64_t trace_now(void *arg)
{
	const struct nw_run *run = arg;

	return nw_session_now(run->live.session);
}

static int open_stream(struct nw_run *run, struct nw_error *err)
{
	int ret = nw_session_buffers(run->live.session, &run->live.buffers, err);
	/* The top-level buffer may contain events of other programs. */
	bool alone = run->live.features.has[NW_FEATURE_INSTANCES] &&
		     run->live.features.has[NW_FEATURE_INSTANCE_EVENTS];
	const struct nw_stream_options options = {
		.fds = run->live.buffers.fds.item,
		.cpus = run->live.buffers.cpus.item,
		.buffers = run->live.buffers.cpus.count,
		.now = trace_now,
		.now_arg = run,
		.largest = alone ? run->delivery.formats.largest : 0,
		.poll_ms = run->result->observed			       ? OBSERVE_MS
			   : run->live.features.has[NW_FEATURE_BUFFER_PERCENT] ? 0
									       : POLL_MS,
	};

	return ret < 0 ? ret
		       : nw_stream_open(&run->delivery.formats, &options,
					&run->delivery.stream, err);
}

int nw_run_look_up_task(void *arg, pid_t tid, pid_t *process, char comm[16])
{
	const struct nw_run *run = arg;
	int ret = nw_pid_space_task(&run->live.space, tid, process, comm);

	if (ret < 0) /* the thread has gone, but the kernel may have kept its name */
		nw_saved_name(&run->live.fs, tid, comm);
	return ret;
}

/* Are hits of untraced threads recorded, too? Triggers of old kernels count them (docs/dev/kernel.md). */
static bool records_untraced(const struct nw_run *run)
{
	return !nw_session_restricts(run->live.session) || run->result->by_kernel ||
	       nw_run_has_kernel_events(run);
}

static int open_tasks(struct nw_run *run, struct nw_error *err)
{
	const struct nw_tasks_options options = {
		.pids = run->result->pids.item,
		.pid_count = run->result->pids.count,
		.tids = run->result->tids.item,
		.tid_count = run->result->tids.count,
		.follow = run->result->follow,
		.main_only = run->request->main_thread,
		.look_up = nw_run_look_up_task,
		.look_up_arg = run,
		.untraced_recorded = records_untraced(run),
	};

	int ret = nw_run_open_stacks(run, err);
	if (ret == 0 && (nw_tasks_open(&options, &run->delivery.tasks) < 0 ||
			 nw_run_open_join(run) < 0))
		ret = nw_no_memory(err);
	return ret;
}

/* Warns that removing probes may kill programs; a CMD has ended, or is ended, before that. */
static void warn_disarm_hazard(const struct nw_run *run)
{
	if (!run->live.features.has[NW_FEATURE_DISARM_SAFE] && !run->request->command)
		nw_run_notice(
			run,
			"a program that hits a probe in the moment it is taken away, at the end of this run, is killed by kernels of this architecture (SIGILL)");
}

/*
 * Returns the size of a CPU's buffer in bytes; 0: the session's default. Stacks are large: a buffer holds as many
 * stacks of 4096 bytes as it holds stacks of the default size, if all CPUs together need at most 512 MiB.
 */
static uint64_t buffer_bytes(const struct nw_request *request)
{
	const uint64_t all = 4 * nw_buffer_default();
	const uint64_t parts = (request->stack_size + NW_STACK_BYTES - 1) / NW_STACK_BYTES;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t share = ((uint64_t)512 << 20) / (uint64_t)(cpus > 0 ? cpus : 1);

	if (request->keep_name) /* nothing is recorded */
		return 4096;
	if (request->buffer_bytes || !request->stack_count)
		return request->buffer_bytes;
	return nw_max64(all, nw_min64(all * parts, share));
}

static int open_session(struct nw_run *run, struct nw_error *err)
{
	const struct nw_request *request = run->request;
	struct nw_session_options options = {
		.buffer_bytes = buffer_bytes(request),
		.pids = run->result->pids.item,
		.pid_count = run->result->pids.count,
		.tids = run->result->tids.item,
		.tid_count = run->result->tids.count,
		.space = &run->live.space,
		.only_their_switches = nw_run_only_their_switches(run),
		.tasks = !request->keep_name,
		.force = request->force,
		.large_pages = run->consumer.needs.large_pages && !request->keep_name,
		.overwrite = run->consumer.due != NULL,
	};
	char name[24];

	nw_session_name(name);
	if (request->keep_name)
		snprintf(name, sizeof(name), "%s", request->keep_name);
	int ret = nw_run_attach_calls(run, true, err);
	if (ret == 0)
		ret = nw_run_take_calls(run, true, err);
	if (ret == 0)
		ret = nw_run_plan(run, name, err);
	options.triggers = run->live.triggers;
	if (ret == 0)
		ret = nw_session_open(&run->live.fs, &run->live.features,
				      &run->result->plan, name, &options,
				      &run->result->armed, &run->live.session, err);
	return ret;
}

/* ---- the loop ----------------------------------------------------------------------- */

/* Returns the time to which the duration applies: since all probes were armed, which may take a while if there are
 * many. */
static uint64_t armed_for(const struct nw_run_result *result)
{
	return result->now_ns > result->armed_ns ? result->now_ns - result->armed_ns : 0;
}

/* Returns why to stop now; NONE: go on. */
static enum nw_end_reason stop_reason(struct nw_run *run)
{
	uint64_t duration = run->request->duration_ns;

	nw_wake_poll(&run->live.wake);
	run->result->signalled = run->live.wake.stop;
	if (run->live.wake.stop && run->delivery.stacks)
		nw_stacks_hurry(run->delivery.stacks);
	if (run->live.wake.stop)
		return NW_END_SIGNAL;
	if (run->live.wake.child_ended && nw_child_reap(&run->live.child))
		return NW_END_COMMAND;
	if (nw_wake_all_gone(&run->live.wake))
		return NW_END_PROCESS;
	if (duration && armed_for(run->result) >= duration)
		return NW_END_DURATION;
	return NW_END_NONE;
}

/* Returns how long to wait: not beyond the end of the run, and not longer than the session may be left alone. */
static int wait_ms(const struct nw_run *run, int most)
{
	uint64_t elapsed = armed_for(run->result), duration = run->request->duration_ns;
	uint64_t left = UINT64_MAX;
	int care_ms = nw_session_serve(run->live.session);

	if (run->inner)
		return 0;
	most = care_ms < most ? care_ms : most;
	if (duration)
		left = duration > elapsed ? duration - elapsed : 0;
	return left / 1000000 < (uint64_t)most ? (int)(left / 1000000) + 1 : most;
}

static int fill(struct nw_run *run, struct nw_error *err)
{
	run->result->reason = stop_reason(run);
	if (run->result->reason)
		return 0;
	enum nw_due due = run->consumer.due ? run->consumer.due(run->consumer.arg)
					    : NW_DUE_AS_IT_COMES;
	int ret = 0;
	if (due == NW_DUE_AS_IT_COMES) {
		ret = nw_stream_fill(run->delivery.stream, run->live.wake.fd,
				     wait_ms(run, TICK_MS));
	} else if (due == NW_DUE_NOW) {
		ret = nw_stream_poll(run->delivery.stream);
	} else { /* nothing is to be read now; a signal or the end of a process wakes us */
		struct pollfd wake = {.fd = run->live.wake.fd, .events = POLLIN};
		poll(&wake, 1, wait_ms(run, REST_MS));
	}
	if (nw_run_reason(ret)) /* the recorder wants no more pages */
		return ret;
	return ret < 0 ? nw_fail(err, -ret, "cannot read the ring buffer: %s",
				 nw_strerror(-ret))
		       : 1;
}

static int check(struct nw_run *run, struct nw_error *err)
{
	run->result->now_ns = nw_session_now(run->live.session);
	int ret = nw_run_find_users_again(run, err);

	if (ret == 0)
		ret = nw_run_note_named(run, err);
	if (ret == 0)
		ret = nw_rate_limit_check(run, err);
	if (ret == 0)
		ret = nw_replaced_check(run, err);
	return ret < 0 ? ret : nw_external_changes_check(run, false, err);
}

/* ---- the end ------------------------------------------------------------------------ */

/* Counts lost events. The kernel's own counts include losses behind the last event, and losses whose size the pages
 * do not tell. The number of events on a damaged page is unknown. */
static void count_lost(struct nw_run *run)
{
	const struct nw_stream_stats seen = nw_stream_stats(run->delivery.stream);
	uint64_t counted = 0;
	bool told = true;

	for (size_t i = 0; i < run->live.buffers.cpus.count; i++)
		told &= nw_session_lost(run->live.session, run->live.buffers.cpus.item[i],
					nw_stream_emptied(run->delivery.stream, i),
					&counted);
	run->result->lost = nw_max64(counted + seen.damaged, seen.lost + seen.uncounted);
	run->result->lost += run->live.uncounted;
	run->result->lost_is_least = seen.damaged || (seen.uncounted && !told);
}

/*
 * Counts hits that the kernel counted but did not record: its buffer for arguments was too small, or another program
 * had disabled the event here. If only some processes are recorded, hits of all others are included, because the
 * kernel counts all. A hit that was counted just before the end may not be recorded yet, at most one per CPU. Only
 * uprobes are counted in this way, not kernel events, and not return probes: the kernel counts a call when it begins,
 * and a call that is left by longjmp() or has not ended has no record of its return.
 */
static void count_dropped(struct nw_run *run, const uint64_t *hits)
{
	uint64_t all = 0, records = run->delivery.records;

	records -= nw_min64(records, run->delivery.returned);
	for (size_t i = 0; i < run->result->plan.points.count; i++)
		if (!nw_run_is_return(run, run->result->plan.points.item[i].probe))
			all += hits[i] - nw_min64(run->live.profile[i], hits[i]);
	for (size_t i = 0; i < run->result->selection.probes.count; i++)
		if (run->result->selection.probes.item[i]->kind == NW_SPEC_TRACEPOINT)
			records -= nw_min64(records, nw_run_probe_hits(run, i));
	if (all > records + run->result->lost + run->live.buffers.cpus.count)
		run->result->dropped = all - records - run->result->lost;
}

/* Reads the kernel's counts of hits; NULL if there are none. The caller frees it. */
static uint64_t *read_profile(const struct nw_run *run)
{
	uint64_t *hits = calloc(run->result->plan.points.count + 1, sizeof(*hits));

	if (!hits || nw_session_profile(run->live.session, hits) == 0)
		return hits;
	free(hits);
	return NULL;
}

/* Says how many calls of kernel functions have no return, and so no time. */
static void tell_missed(const struct nw_run *run)
{
	const uint64_t missed = nw_session_missed(run->live.session);

	if (missed)
		nw_run_notice(
			run,
			nw_plural(
				missed,
				"%ju call of a kernel function is not timed: as many others as the kernel follows were under way",
				"%ju calls of kernel functions are not timed: as many others as the kernel follows were under way"),
			(uintmax_t)missed);
}

/*
 * Silent probes are checked while they are armed. Records that are read afterwards may still show that they were hit.
 */
static int stop(struct nw_run *run, struct nw_error *err)
{
	struct nw_run_result *result = run->result;

	run->live.counted = read_profile(run);
	tell_missed(run);
	result->now_ns = result->stop_ns = nw_session_now(run->live.session);
	nw_wake_poll(&run->live.wake); /* a signal may have asked for a recording */
	result->signalled = run->live.wake.stop;
	if (run->consumer.stopping)
		run->consumer.stopping(run->consumer.arg, run);
	bool due = !run->consumer.due || run->consumer.due(run->consumer.arg) != NW_DUE_NOT;
	int ret = nw_external_changes_check(run, true, err);
	if (ret == 0)
		ret = nw_session_stop(run->live.session, err);
	if (ret == 0 && !run->consumer.needs.brief)
		ret = nw_run_explain(run, err);
	if (ret < 0 || !due)
		return ret;
	ret = nw_stream_finish(run->delivery.stream);
	/* The consumer has failed, and gives the reason at its end. */
	if (ret == -ECANCELED)
		return 0;
	return ret < 0 ? nw_fail(err, -ret, "cannot read the rest of the ring buffer: %s",
				 nw_strerror(-ret))
		       : 0;
}

static int finish(struct nw_run *run, struct nw_error *err)
{
	int ret = run->consumer.needs.brief ? 0 : nw_run_judge_hits(run, err);

	if (ret == 0 && run->delivery.stacks &&
	    nw_stacks_look_again(run->delivery.stacks) < 0)
		ret = nw_no_memory(err);
	if (ret < 0)
		return ret;
	if (!run->consumer.due)
		count_lost(run);
	if (run->result->by_kernel)
		return 0;
	if (run->live.counted)
		nw_run_count_cost(run, run->live.counted);
	if (run->live.counted && run->live.profile && !run->consumer.due &&
	    !nw_run_is_cut_short(run))
		count_dropped(run, run->live.counted);
	return 0;
}

static void close_live(struct nw_run *run)
{
	struct nw_run_result *result = run->result;
	struct nw_error left;

	/* An open file of the instance keeps it from being removed. */
	nw_cgroup_leave_host(run->live.own_cgroups);
	run->live.own_cgroups = 0;
	nw_stream_free(run->delivery.stream);
	run->delivery.stream = NULL;
	nw_cpu_buffers_close(&run->live.buffers);
	/* Must precede the removal of the probes: on s390x and 32-bit ARM, a process that hits one at that moment is
	 * killed (feature disarm_safe). */
	nw_child_stop(&run->live.child);
	int closed = nw_session_close(run->live.session, &left);
	run->live.session = NULL;
	nw_tracefs_close(&run->live.fs);
	nw_rate_limit_free(run);
	nw_replaced_free(run);
	if (closed < 0) { /* the results, if there are any, are valid all the same */
		result->left = left;
		result->unclean = true;
	}
	if (result->reason == NW_END_COMMAND)
		result->command_status = run->live.child.status;
}

/* ---- the beginning ------------------------------------------------------------------- */

static int64_t wall_offset(const struct nw_run *run)
{
	return (int64_t)(nw_clock_ns(CLOCK_REALTIME) - nw_session_now(run->live.session));
}

struct held {
	struct nw_run *run;
	nw_images needed; /* files that CMD loads when it starts */
};

static bool has_semaphores(void *arg, pid_t pid)
{
	const struct held *held = arg;

	return nw_session_raise(held->run->live.session, nw_pid_shown(pid), &held->needed);
}

/* Releases the command. If its semaphores are raised by hand, they are raised first. */
static int release(struct nw_run *run, struct nw_error *err)
{
	struct held held = {.run = run};
	const char *name = run->request->command[0];
	struct nw_error why = {0};
	int ret = 0;

	if (nw_session_raises(run->live.session, NULL))
		ret = nw_locate_needed(run->live.command, false, &held.needed, &why);
	if (ret < 0 && nw_is_shortage(-ret)) {
		nw_images_free(&held.needed);
		*err = why;
		return ret;
	}
	if (nw_session_raises(run->live.session, &held.needed))
		ret = nw_child_release_until(&run->live.child, name, has_semaphores, &held,
					     err);
	else
		ret = nw_child_release(&run->live.child, name, err);
	nw_images_free(&held.needed);
	return ret;
}

struct thread_scan {
	struct nw_run *run;
	uint64_t until;
};

static bool note_thread(void *arg, pid_t process, pid_t tid, const char *comm, size_t len)
{
	const struct thread_scan *m = arg;

	nw_tasks_set(m->run->delivery.tasks, tid, process, comm, len);
	if (m->run->result->observed && tid == process)
		nw_observed_look(m->run->result->observed, process);
	return nw_session_now(m->run->live.session) < m->until;
}

/* Do the processes of threads decide which hits count? Then they must be known before the first hit. */
static bool decides_by_scan(const struct nw_run *run)
{
	return run->result->restricted || run->result->pids.count;
}

/*
 * Looks up the threads whose names will be shown, or that decide about untraced hits, because they may be gone when
 * their hits are read. Kernel threads hit only kernel events. Births and deaths are recorded by now, so no thread is
 * missed; a thread that is not reached within `most_ns` is looked up at its first hit.
 */
static void scan_existing_threads(struct nw_run *run, uint64_t most_ns)
{
	struct thread_scan m = {.run = run,
				.until = nw_session_now(run->live.session) + most_ns};

	if (run->delivery.needs_tasks || (records_untraced(run) && run->result->pids.count))
		nw_pid_space_scan_threads(&run->live.space, &run->result->pids,
					  nw_run_has_kernel_events(run), note_thread, &m);
}

/* Enables the probes. If all threads are traced, their names are looked up behind that: /proc has hundreds of files to
 * read, and the first hit does not wait for them. */
static int enable_probes(struct nw_run *run, struct nw_error *err)
{
	int ret;

	if (decides_by_scan(run))
		scan_existing_threads(run, SCAN_BEFORE_NS);
	ret = nw_run_find_users(run, err);
	if (ret == 0)
		ret = nw_session_arm(run->live.session, err);
	run->result->start_ns = nw_session_began(run->live.session);
	run->result->armed_ns = run->result->now_ns = nw_session_now(run->live.session);
	if (ret == 0 && !decides_by_scan(run))
		scan_existing_threads(run, SCAN_ARMED_NS);
	return ret;
}

static int arm(struct nw_run *run, struct nw_error *err)
{
	struct nw_run_result *result = run->result;

	int ret = nw_session_record(run->live.session, err);
	if (ret == 0)
		ret = enable_probes(run, err);
	result->untraced_recorded = records_untraced(run);
	const char *why;
	result->named_threads = nw_session_names_threads(run->live.session, &why);
	result->has_named = result->named_threads;
	if (ret == 0)
		ret = nw_run_note_named(run, err);
	result->wall_ns = wall_offset(run);
	nw_vec_each (nw_session_warnings(run->live.session), warning)
		nw_run_notice(run, "%s", *warning);
	warn_disarm_hazard(run);
	nw_run_warn_missing(run);
	nw_run_descriptors_armed(run);
	/* Recording began before the first probe was enabled, so all hits that were counted since the definition
	 * belong to the run. NULL: the kernel does not count. */
	run->live.profile = ret == 0 ? read_profile(run) : NULL;
	if (run->live.profile)
		memset(run->live.profile, 0,
		       run->result->plan.points.count * sizeof(*run->live.profile));
	if (ret == 0)
		ret = nw_rate_limit_open(run, err);
	if (ret == 0)
		ret = nw_run_read_back(run, err);
	if (ret == 0)
		ret = nw_external_changes_open(run, err);
	if (ret == 0)
		ret = load_formats(run, err); /* arming may have split events */
	if (ret == 0)
		ret = open_stream(run, err);
	if (ret == 0)
		ret = nw_replaced_open(run, err);
	nw_wake_add(&run->live.wake, ret == 0 ? nw_session_fd(run->live.session) : -1);
	return ret;
}

int nw_run_note_origin(struct nw_run *run)
{
	struct nw_origin *origin = &run->result->origin;
	const char *line = run->request->command_line;
	struct utsname here;

	if (uname(&here) < 0)
		return 0;
	origin->host = strdup(here.nodename);
	origin->kernel = strdup(here.release);
	origin->machine = strdup(here.machine);
	origin->command = line ? strdup(line) : NULL;
	bool ok = origin->host && origin->kernel && origin->machine;
	return ok && (!line || origin->command) ? 0 : -ENOMEM;
}

static int begin(struct nw_run *run, struct nw_error *err)
{
	const struct nw_request *request = run->request;
	const struct nw_jumpers who = {request->pids, request->pid_count,
				       run->live.command};
	int ret = nw_run_open_wake(run, err);

	if (ret == 0 && nw_run_note_origin(run) < 0)
		ret = nw_no_memory(err);
	if (ret == 0)
		ret = nw_request_kernel(request, false, &run->live.fs, &run->live.features,
					err);
	if (ret == 0 && run->live.command)
		ret = nw_child_start(request->command, &run->live.child, err);
	run->result->follow = request->follow || run->live.child.pid;
	if (ret == 0)
		ret = nw_run_collect_pids(run, err);
	/* CMD has begun, and keeps what it sees of control groups */
	if (ret == 0 && run->result->observed)
		run->live.own_cgroups = nw_cgroup_enter_host(&run->live.space);
	if (ret == 0 && !run->inner)
		ret = nw_find_jumps(&run->live.features, &who, &run->result->selection,
				    err);
	if (ret == 0)
		ret = nw_run_find_costs(run, err);
	if (ret == 0)
		ret = open_session(run, err);
	if (ret == 0 && !run->result->by_kernel) /* what such a hit costs is not known */
		ret = nw_run_cost_probes(run->result, err);
	if (ret == 0)
		ret = open_tasks(run, err);
	if (ret == 0)
		ret = arm(run, err);
	if (ret == 0)
		ret = nw_run_begin(run, run->result->start_ns, err);
	if (ret == 0 && request->keep_name)
		ret = nw_session_keep(run->live.session, request->keep, err);
	return ret == 0 && run->live.child.pid ? release(run, err) : ret;
}

const struct nw_run_source nw_live_source = {
	.live = true,
	.ticks = true,
	.open = nw_run_select,
	.begin = begin,
	.fill = fill,
	.check = check,
	.stop = stop,
	.finish = finish,
	.close = close_live,
};
