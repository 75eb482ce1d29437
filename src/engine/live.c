// SPDX-License-Identifier: MIT
/* A live run, from tracefs to the last hit; see run.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

enum {
	TICK_MS = 100,
	POLL_MS = 20,	       /* where the kernel cannot wake us when it is worth it */
	MEETING_NS = 250000000 /* to look all threads up, before the probes are armed */
};

/* ---- opening ------------------------------------------------------------------------ */

int nw_run_read_format(void *arg, const char *system, const char *name, struct nw_buf *out)
{
	return nw_tracefs_format(arg, system, name, out);
}

/* The instance's: its pages may be larger than the top level's. Old kernels have only that. */
int nw_run_read_header(const struct nw_run *run, struct nw_buf *out, struct nw_error *err)
{
	static const char file[] = "events/header_page";
	int ret = nw_tracefs_read(nw_session_instance(run->session), file, out);

	if (ret == -ENOENT)
		ret = nw_tracefs_read(run->fs.root, file, out);
	return ret < 0 ? nw_fail(err, -ret, "cannot read %s: %s", file, nw_strerror(-ret))
		       : 0;
}

static int load_formats(struct nw_run *run, struct nw_error *err)
{
	struct nw_buf header = {0};
	int ret = nw_run_read_header(run, &header, err);

	if (ret == 0)
		ret = nw_formats_load(&run->plan, true, nw_buf_str(&header), header.len,
				      nw_run_read_format, &run->fs, &run->formats, err);
	nw_buf_free(&header);
	return ret;
}

static int open_cpu(struct nw_run *run, int dir, const char *name, struct nw_error *err)
{
	char file[64];
	uint64_t cpu;

	if (strncmp(name, "cpu", 3) != 0 || nw_parse_u64(name + 3, &cpu) < 0)
		return 0;
	snprintf(file, sizeof(file), "%.32s/trace_pipe_raw", name);
	int fd = openat(dir, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return nw_fail(err, errno, "cannot open the ring buffer of CPU %ju: %s",
			       cpu, nw_strerror(errno));
	int *slot = nw_vec_add(&run->fds);
	uint32_t *number = slot ? nw_vec_add(&run->cpus) : NULL;
	if (!number) {
		close(fd);
		return nw_no_memory(err);
	}
	*slot = fd;
	*number = (uint32_t)cpu;
	return 0;
}

static int open_cpus(struct nw_run *run, struct nw_error *err)
{
	int dir = openat(nw_session_instance(run->session), "per_cpu",
			 O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = dir >= 0 ? fdopendir(dir) : NULL;
	struct dirent *entry;
	int ret = 0;

	if (!list)
		return nw_fail(err, errno, "cannot open the instance's per_cpu: %s",
			       nw_strerror(errno));
	while (ret == 0 && (entry = readdir(list)))
		ret = open_cpu(run, dirfd(list), entry->d_name, err);
	closedir(list);
	return ret;
}

static uint64_t trace_now(void *arg)
{
	const struct nw_run *run = arg;

	return nw_session_now(run->session);
}

static int open_stream(struct nw_run *run, struct nw_error *err)
{
	int ret = open_cpus(run, err);
	const struct nw_stream_options options = {
		.fds = run->fds.item,
		.cpus = run->cpus.item,
		.lanes = run->fds.count,
		.now = trace_now,
		.now_arg = run,
		.poll_ms = run->features.has[NW_FEATURE_BUFFER_PERCENT] ? 0 : POLL_MS,
	};

	return ret < 0 ? ret : nw_stream_open(&run->formats, &options, &run->stream, err);
}

static int look_up_task(void *arg, pid_t tid, pid_t *process, char comm[16])
{
	const struct nw_run *run = arg;
	int ret = nw_pid_space_task(&run->space, tid, process, comm);

	if (ret < 0) /* it has gone, but may have left its name */
		nw_saved_name(&run->fs, tid, comm);
	return ret;
}

/* Is what others do recorded, too? */
static bool has_strangers(const struct nw_run *run)
{
	return !nw_session_restricts(run->session) || nw_run_has_kernel_events(run);
}

static int open_tasks(struct nw_run *run, const nw_pids *pids, struct nw_error *err)
{
	const struct nw_tasks_options options = {
		.pids = pids->item,
		.pid_count = pids->count,
		.follow = run->args->follow || run->child.pid,
		.look_up = look_up_task,
		.look_up_arg = run,
		.strangers = has_strangers(run),
	};

	if (nw_tasks_open(&options, &run->tasks) < 0 || nw_run_open_join(run) < 0)
		return nw_no_memory(err);
	return 0;
}

int nw_run_plan(struct nw_run *run, const char *session, struct nw_error *err)
{
	const struct nw_plan_options options = {
		.session = session,
		.caps = nw_features_caps(&run->features),
		.all_args = nw_run_wants_args(run),
		.stacks = run->consumer->stacks,
		.separate = run->consumer->named_events || run->args->max_rate,
		.naming = run->consumer->named_events ? NW_NAMES_PROBES : NW_NAMES_PRIVATE,
		.string_size = run->args->string_size,
	};

	return nw_plan_make(&run->selection, &options, &run->plan, err);
}

static void print_session_warnings(const struct nw_run *run)
{
	if (!run->args->quiet)
		nw_vec_each (nw_session_warnings(run->session), warning)
			nw_note("%s", *warning);
}

static int open_session(struct nw_run *run, const nw_pids *pids, struct nw_error *err)
{
	const struct nw_session_options options = {
		.buffer_bytes = run->args->buffer_bytes,
		.pids = pids->item,
		.pid_count = pids->count,
		.space = &run->space,
		.tasks = true,
		.force = run->args->force,
		.large_pages = run->consumer->large_pages,
	};
	char name[24];

	nw_session_name(name);
	int ret = nw_run_plan(run, name, err);
	if (ret == 0)
		ret = nw_session_open(&run->fs, &run->features, &run->plan, name, &options,
				      &run->session, err);
	return ret;
}

static int open_kernel(struct nw_run *run, struct nw_error *err)
{
	int ret = nw_tracefs_open(&run->fs, err);

	if (ret == 0)
		ret = nw_features_detect(&run->fs, getenv("NOPWATCH_FEATURES"),
					 &run->features, err);
	if (ret == 0 && run->features.unproven)
		ret = nw_features_try(&run->fs, &run->features, err);
	return ret;
}

/* ---- the loop ----------------------------------------------------------------------- */

/* What -d means: all probes armed, which may take a while if there are many. */
static uint64_t armed_for(const struct nw_run *run)
{
	return run->now_ns > run->armed_ns ? run->now_ns - run->armed_ns : 0;
}

/* Why to stop now; NULL: go on. */
static const char *stop_reason(struct nw_run *run)
{
	nw_wake_look(&run->wake);
	if (run->wake.stop)
		return "signal";
	if (run->wake.child_ended && nw_child_reap(&run->child))
		return "command";
	if (nw_wake_all_gone(&run->wake))
		return "process";
	if (run->args->duration_ns && armed_for(run) >= run->args->duration_ns)
		return "duration";
	return NULL;
}

/* Not longer than to the end, nor than the session can do without being tended. */
static int wait_ms(const struct nw_run *run)
{
	uint64_t elapsed = armed_for(run), left = UINT64_MAX;
	int tend_ms = nw_session_tend(run->session);
	int most = tend_ms < TICK_MS ? tend_ms : TICK_MS;

	if (run->args->duration_ns)
		left = run->args->duration_ns > elapsed ? run->args->duration_ns - elapsed
							: 0;
	return left / 1000000 < (uint64_t)most ? (int)(left / 1000000) + 1 : most;
}

static int loop(struct nw_run *run, struct nw_error *err)
{
	int ret = 0;

	while (!(run->reason = stop_reason(run))) {
		ret = nw_stream_fill(run->stream, run->wake.fd, wait_ms(run));
		run->reason = nw_run_reason(ret);
		if (run->reason) /* the tap has had enough */
			return 0;
		if (ret < 0)
			return nw_fail(err, -ret, "cannot read the ring buffer: %s",
				       nw_strerror(-ret));
		ret = nw_run_drain(run);
		run->now_ns = nw_session_now(run->session);
		if (ret == 0)
			ret = nw_governor_look(run, err);
		if (ret == 0)
			ret = nw_watch_look(run, false, err);
		if (ret == 0)
			ret = run->consumer->tick(run->consumer->arg, run, err);
		run->reason = nw_run_reason(ret);
		if (run->reason)
			return 0;
		if (ret == -ENOMEM)
			return nw_no_memory(err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* ---- the end ------------------------------------------------------------------------ */

/* "overrun: N", "dropped events: N", "commit overrun: N" of one CPU. */
static uint64_t lost_on_cpu(const struct nw_run *run, uint32_t cpu)
{
	static const char *const counts[] = {
		"\noverrun:", "\ndropped events:", "\ncommit overrun:"};
	struct nw_buf stats = {0};
	char file[64];
	uint64_t lost = 0;

	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
	if (nw_tracefs_read(nw_session_instance(run->session), file, &stats) == 0)
		for (size_t i = 0; i < NW_COUNT(counts); i++) {
			const char *at = strstr(nw_buf_str(&stats), counts[i]);
			lost += at ? strtoull(at + strlen(counts[i]), NULL, 10) : 0;
		}
	nw_buf_free(&stats);
	return lost;
}

/* The kernel's own counts know of losses that no page could tell any more. */
static void count_losses(struct nw_run *run)
{
	uint64_t counted = 0;

	nw_vec_each (&run->cpus, cpu)
		counted += lost_on_cpu(run, *cpu);
	run->lost = nw_max64(counted, nw_stream_stats(run->stream).lost);
}

/*
 * Hits that the kernel counted but did not record: its buffer for arguments was too small, or
 * somebody had disabled the event here. Where only some processes are recorded, those of others are
 * among them: the kernel counts everybody's.
 * A hit that was counted just before the end may not be recorded yet, one a CPU at most. Only uprobes are
 * counted like that, not the kernel's own events.
 */
static void count_dropped(struct nw_run *run, const uint64_t *hits)
{
	uint64_t all = 0, records = run->records;

	for (size_t i = 0; i < run->plan.points.count; i++)
		all += hits[i] - nw_min64(run->profile[i], hits[i]);
	for (size_t i = 0; i < run->selection.probes.count; i++)
		if (run->selection.probes.item[i]->kind == NW_SPEC_TRACEPOINT)
			records -= nw_min64(records, nw_run_probe_hits(run, i));
	if (all > records + run->lost + run->cpus.count)
		run->dropped = all - records - run->lost;
}

void nw_run_tell_dropped(const struct nw_run *run)
{
	if (run->dropped && !run->args->quiet)
		nw_note("%ju %s", run->dropped, nw_dropped_text(run->restricted));
}

/* What the kernel has counted up to now; NULL if it does not tell. The caller frees. */
static uint64_t *read_profile(const struct nw_run *run)
{
	uint64_t *hits = calloc(run->plan.points.count + 1, sizeof(*hits));

	if (!hits || nw_session_profile(run->session, hits) == 0)
		return hits;
	free(hits);
	return NULL;
}

/* Recording was on before the first probe was enabled: every hit that is counted since its
 * definition is one of the run. NULL: the kernel does not tell. */
static uint64_t *begin_profile(const struct nw_run *run)
{
	uint64_t *hits = read_profile(run);

	if (hits)
		memset(hits, 0, run->plan.points.count * sizeof(*hits));
	return hits;
}

/*
 * Silent probes are looked at while they are armed. What comes out of the buffer afterwards
 * may still show that they were not silent.
 */
static int finish(struct nw_run *run, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) uint64_t *hits = read_profile(run);

	run->now_ns = run->stop_ns = nw_session_now(run->session);
	if (run->consumer->stopping)
		run->consumer->stopping(run->consumer->arg, run);
	int ret = nw_watch_look(run, true, err);
	if (ret == 0)
		ret = nw_session_stop(run->session, err);
	if (ret == 0)
		ret = nw_run_explain(run, err);
	if (ret == 0 && nw_run_drain_rest(run) < 0)
		ret = nw_fail(err, EIO, "cannot read the rest of the ring buffer");
	if (ret == 0)
		ret = nw_run_judge_hits(run, err);
	if (ret < 0)
		return ret;
	count_losses(run);
	if (hits)
		nw_run_count_cost(run, hits);
	if (hits && run->profile)
		count_dropped(run, hits);
	return 0;
}

/* Close what is open in the instance, and take everything away. */
static int close_kernel(struct nw_run *run, struct nw_error *err)
{
	nw_stream_free(run->stream);
	run->stream = NULL;
	nw_vec_each (&run->fds, fd)
		close(*fd);
	nw_vec_free(&run->fds);
	nw_vec_free(&run->cpus);
	int ret = nw_session_close(run->session, err);
	run->session = NULL;
	nw_tracefs_close(&run->fs);
	return ret;
}

/* ---- the whole ---------------------------------------------------------------------- */

static int64_t wall_offset(const struct nw_run *run)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	return (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec -
	       (int64_t)nw_session_now(run->session);
}

struct held {
	struct nw_run *run;
	nw_images needed; /* that CMD loads as it starts */
};

static bool has_semaphores(void *arg, pid_t pid)
{
	const struct held *held = arg;

	return nw_session_raise(held->run->session, nw_pid_shown(pid), &held->needed);
}

/* Let CMD run; where its semaphores are raised by hand, not before they are. */
static int release(struct nw_run *run, const char *command, struct nw_error *err)
{
	struct held held = {.run = run};
	const char *name = run->args->cmd[0];
	int ret;

	if (nw_session_raises(run->session, NULL))
		nw_locate_needed(command, false, &held.needed, NULL);
	if (nw_session_raises(run->session, &held.needed))
		ret = nw_child_release_until(&run->child, name, has_semaphores, &held, err);
	else
		ret = nw_child_release(&run->child, name, err);
	nw_images_free(&held.needed);
	return ret;
}

static void meet(struct nw_run *run, const nw_pids *pids)
{
	uint64_t began = nw_session_now(run->session);

	nw_vec_each (pids, pid) {
		nw_pids threads = {0};
		if (nw_session_now(run->session) - began > MEETING_NS)
			break; /* the rest when they are met */
		nw_pid_space_threads(&run->space, *pid, &threads, NULL);
		nw_vec_each (&threads, tid)
			nw_tasks_get(run->tasks, *tid);
		nw_vec_free(&threads);
	}
}

/* Those whose names will be shown: they may be gone when their hits are read. */
static void meet_named(struct nw_run *run, const nw_pids *pids)
{
	nw_pids all = {0};

	if (run->needs_tasks && !pids->count && !run->space.foreign)
		nw_process_all(&all, NULL);
	if (run->needs_tasks)
		meet(run, pids->count ? pids : &all);
	nw_vec_free(&all);
}

static int arm_and_loop(struct nw_run *run, const char *command, const nw_pids *pids,
			struct nw_error *err)
{
	meet_named(run, pids);
	int ret = nw_session_arm(run->session, err);

	/* who is wanted must be known before it ends, where others are recorded, too */
	if (has_strangers(run))
		meet(run, pids);
	run->start_ns = nw_session_began(run->session);
	run->armed_ns = run->now_ns = nw_session_now(run->session);
	run->stop_ns = UINT64_MAX;
	run->wall_ns = wall_offset(run);
	print_session_warnings(run);
	nw_run_tell_missing(run);
	if (ret == 0)
		run->profile = begin_profile(run);
	if (ret == 0)
		ret = nw_governor_open(run, err);
	if (ret == 0)
		ret = nw_run_read_back(run, err);
	if (ret == 0)
		ret = nw_watch_open(run, err);
	if (ret == 0)
		ret = load_formats(run, err); /* arming may have split events */
	if (ret == 0)
		ret = open_stream(run, err);
	nw_wake_add(&run->wake, ret == 0 ? nw_session_fd(run->session) : -1);
	if (ret == 0)
		ret = run->consumer->armed(run->consumer->arg, run, err);
	if (ret == 0 && run->child.pid)
		ret = release(run, command, err);
	if (ret == 0)
		ret = loop(run, err);
	return ret < 0 ? ret : finish(run, err);
}

static int run_live(struct nw_run *run, const char *command, struct nw_error *err)
{
	nw_pids pids = {0};
	int ret = open_kernel(run, err);

	if (ret == 0 && command)
		ret = nw_child_start(run->args->cmd, &run->child, err);
	if (ret == 0)
		ret = nw_run_collect_pids(run, command, &pids, err);
	if (ret == 0)
		ret = open_session(run, &pids, err);
	if (ret == 0)
		ret = open_tasks(run, &pids, err);
	if (ret == 0)
		ret = arm_and_loop(run, command, &pids, err);
	struct nw_error end;
	int end_ret = close_kernel(run, &end);
	if (ret == 0 && end_ret < 0) { /* the results are good all the same */
		nw_report_error(&end);
		run->unclean = true;
	}
	nw_child_stop(&run->child);
	nw_vec_free(&pids);
	return ret;
}

int nw_run(struct nw_run *run, const struct nw_args *args,
	   const struct nw_consumer *consumer, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *command = NULL;
	int ret = nw_run_select(run, args, consumer, &command, err);

	if (ret == 0)
		ret = nw_run_open_counts(run, err);
	if (ret == 0)
		ret = consumer->start(consumer->arg, run, err);
	if (ret == 0)
		ret = nw_wake_open(&run->wake, err);
	if (ret == 0)
		ret = run_live(run, command, err);
	nw_wake_close(&run->wake);
	return ret;
}

void nw_run_free(struct nw_run *run)
{
	nw_join_free(run->join);
	nw_tasks_free(run->tasks);
	nw_pid_space_close(&run->space);
	nw_formats_free(&run->formats);
	nw_plan_free(&run->plan);
	nw_selection_free(&run->selection);
	nw_vec_each (&run->specs, spec)
		nw_spec_free(spec);
	nw_vec_free(&run->specs);
	nw_governor_free(run);
	free(run->watch);
	free(run->states);
	nw_strings_free(&run->state_texts);
	free(run->disabled_at);
	free(run->probe_hits);
	free(run->probe_filtered);
	nw_filter_free(run->filter);
	free(run->profile);
}

int nw_run_status(const struct nw_run *run)
{
	bool by_command = run->reason && strcmp(run->reason, "command") == 0;

	if (by_command && run->child.status)
		return nw_child_exit(&run->child);
	bool incomplete = run->lost || run->meddled;

	return run->unclean || (run->args->strict && incomplete) ? NW_EXIT_FAILED
								 : NW_EXIT_OK;
}

size_t nw_run_sites(const struct nw_run *run)
{
	size_t sites = 0;

	nw_vec_each (&run->plan.points, planned)
		sites += !planned->failed;
	return sites;
}

uint64_t nw_run_known(const struct nw_run *run)
{
	return run->stream ? nw_stream_known(run->stream) : run->now_ns;
}

uint64_t nw_run_elapsed(const struct nw_run *run)
{
	return run->now_ns > run->start_ns ? run->now_ns - run->start_ns : 0;
}
