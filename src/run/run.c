// SPDX-License-Identifier: MIT
/* The steps of a run, which are the same for all sources. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "observed.h"
#include "run.h"

/* ---- notices ------------------------------------------------------------------------ */

static void notice(const struct nw_request *request, const char *fmt, va_list args)
{
	struct nw_buf text = {0};

	if (!request->notice)
		return;
	nw_buf_vprintf(&text, fmt, args);
	request->notice(request->notice_arg, nw_buf_str(&text));
	nw_buf_free(&text);
}

void nw_request_notice(const struct nw_request *request, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	notice(request, fmt, args);
	va_end(args);
}

void nw_run_notice(const struct nw_run *run, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	notice(run->request, fmt, args);
	va_end(args);
}

/* ---- the run ------------------------------------------------------------------------ */

void nw_run_init(struct nw_run *run, const struct nw_request *request,
		 const struct nw_consumer *consumer, struct nw_run_result *result)
{
	*result = (struct nw_run_result){.stop_ns = UINT64_MAX};
	*run = (struct nw_run){.request = request,
			       .consumer = *consumer,
			       .result = result,
			       .live = {.fs = {.root = -1},
					.space = {.host = -1},
					.wake = {.fd = -1, .signals = -1, .end = -1},
					.child = {.release = -1, .failure = -1}}};
}

void nw_run_free(struct nw_run *run)
{
	nw_wake_close(&run->live.wake);
	nw_join_free(run->delivery.join);
	nw_tasks_free(run->delivery.tasks);
	nw_pid_space_close(&run->live.space);
	nw_kernel_texts_free(run->delivery.kernel_texts);
	nw_formats_free(&run->delivery.formats);
	free(run->live.command);
	free(run->live.watch);
	free(run->delivery.probe_hits);
	free(run->delivery.probe_filtered);
	free(run->delivery.is_return);
	nw_filter_free(run->delivery.filter);
	nw_run_close_members(run);
	free(run->live.profile);
	free(run->live.counted);
	if (run->spooled)
		munmap(run->spooled, run->len);
}

int nw_run_open_wake(struct nw_run *run, struct nw_error *err)
{
	const struct nw_request *request = run->request;
	unsigned int signals = NW_WAKE_CHILD | (request->signals ? NW_WAKE_END : 0u) |
			       (request->snapshots ? NW_WAKE_SNAPSHOT : 0u);
	int ret = nw_wake_open(&run->live.wake, run->inner ? 0 : signals, err);

	if (ret == 0 && request->end_fd) {
		run->live.wake.end = *request->end_fd;
		nw_wake_add(&run->live.wake, *request->end_fd);
	}
	return ret;
}

void nw_run_add_inner(struct nw_run *run, const struct nw_run *inner)
{
	nw_wake_add(&run->live.wake, inner->live.wake.fd);
	nw_wake_add(&run->live.wake, nw_stream_fd(inner->delivery.stream));
}

struct nw_session *nw_run_session(const struct nw_run *run)
{
	return run->live.session;
}

uint64_t nw_run_now(const struct nw_run *run)
{
	return nw_session_now(run->live.session);
}

pid_t nw_run_child(const struct nw_run *run)
{
	return run->live.child.pid;
}

uint64_t nw_run_reach(const struct nw_run *run)
{
	uint64_t reach = UINT64_MAX;

	nw_vec_each (&run->live.buffers.cpus, cpu)
		reach = nw_min64(reach, nw_session_reach(run->live.session, *cpu));
	return reach;
}

uint64_t nw_run_buffer_size(const struct nw_run *run)
{
	return nw_session_buffer(run->live.session) * run->live.buffers.cpus.count;
}

const struct nw_page_layout *nw_run_page_layout(const struct nw_run *run)
{
	return &run->delivery.formats.page;
}

void nw_run_tap(struct nw_run *run, nw_page_tap *tap, void *arg)
{
	nw_stream_tap(run->delivery.stream, tap, arg);
}

/* Reports that --net was requested, but the cost of a hit is unknown. */
static int no_costs(const struct nw_run *run, struct nw_error *err)
{
	if (run->source->recorded) {
		nw_fail(err, ENODATA,
			"--net: %s does not tell what a hit cost where it was recorded",
			run->request->source_name);
		nw_error_hint(
			err,
			"record it again: `nopwatch record` measures that, unless the kernel's probes do not record in instances (before Linux 3.15, RHEL 7)");
	} else {
		nw_fail(err, ENODATA,
			"--net: text does not tell what a hit cost where %s is from",
			run->request->source_name);
		nw_error_hint(
			err,
			"use `nopwatch record` and `nopwatch report --net`, or `nopwatch stat --net` on that machine");
	}
	return -ENODATA;
}

int nw_run_begin(struct nw_run *run, uint64_t start, struct nw_error *err)
{
	if (run->begun)
		return 0;
	if (run->consumer.needs.costs == NW_COSTS_NEEDED && !run->result->hit_costs)
		return no_costs(run, err);
	/* found out by the session, or kept in the recording */
	nw_vec_each (&run->result->selection.probes, probe)
		(*probe)->shifted_states = run->result->armed.shifted_states;
	run->begun = true;
	run->result->start_ns = start;
	/* Not before: the consumer's tick() reads them, which is called from now on. */
	for (size_t i = 0; run->source->ticks && i < run->request->wake_fd_count; i++)
		nw_wake_add(&run->live.wake, run->request->wake_fds[i]);
	run->result->has_stacks = run->delivery.formats.stacks;
	return run->consumer.armed ? run->consumer.armed(run->consumer.arg, run, err) : 0;
}

/* Waits for records and hands them out. Returns 0: the run is over; 1: go on. */
int nw_run_step(struct nw_run *run, struct nw_error *err)
{
	const struct nw_run_source *source = run->source;
	int ret = source->fill(run, err);

	if (ret <= 0)
		return ret;
	ret = nw_run_drain(run, err);
	if (ret == 0 && run->delivery.stacks && source->ticks)
		ret = nw_stacks_advance(run->delivery.stacks, nw_run_watermark(run));
	if (ret == 0 && source->check)
		ret = source->check(run, err);
	if (ret == 0 && source->ticks && run->begun && run->consumer.tick)
		ret = run->consumer.tick(run->consumer.arg, run, err);
	return ret < 0 ? ret : 1;
}

/* Tells that --main-thread has left out threads since nothing says whose they are. */
static void notice_unknown(const struct nw_run *run)
{
	size_t unknown = run->request->main_thread && run->delivery.tasks
				 ? nw_tasks_unknown(run->delivery.tasks)
				 : 0;

	if (unknown && run->source->live)
		nw_run_notice(
			run,
			nw_plural(
				unknown,
				"--main-thread: %zu thread ended before its process was known, and is left out",
				"--main-thread: %zu threads ended before their process was known, and are left out"),
			unknown);
	else if (unknown)
		nw_run_notice(
			run,
			nw_plural(
				unknown,
				"--main-thread: %zu thread is left out, since %s does not tell its process (text does where options/record-tgid is 1)",
				"--main-thread: %zu threads are left out, since %s does not tell their processes (text does where options/record-tgid is 1)"),
			unknown, run->request->source_name);
}

int nw_run_end(struct nw_run *run, struct nw_error *err)
{
	const struct nw_run_source *source = run->source;
	int ret = source->stop(run, err);

	if (ret < 0)
		return ret;
	ret = nw_run_drain(run, err);
	if (ret == 0)
		ret = nw_run_join_rest(run);
	if (run->consumer.stopped)
		run->consumer.stopped(run->consumer.arg);
	run->had_enough = nw_run_reason(ret) != NW_END_NONE; /* no error */
	if (run->had_enough)
		ret = 0;
	if (ret == 0 && run->result->observed) {
		nw_observed_tell(run->result->observed, run);
		if (nw_observed_failed(run->result->observed))
			return nw_no_memory(err);
	}
	notice_unknown(run);
	if (run->delivery.members)
		nw_run_tell_members(run);
	return ret < 0 ? ret : source->finish(run, err);
}

/* ---- what a consumer may ask -------------------------------------------------------- */

const struct nw_run_result *nw_run_so_far(const struct nw_run *run)
{
	return run->result;
}

uint64_t nw_run_watermark(const struct nw_run *run)
{
	return run->delivery.stream ? nw_stream_known(run->delivery.stream)
				    : run->result->now_ns;
}

bool nw_run_is_traced_thread(const struct nw_run *run, int32_t tid)
{
	return nw_tasks_get(run->delivery.tasks, tid)->wanted;
}

const struct nw_task *nw_run_task(const struct nw_run *run, int32_t tid)
{
	return run->delivery.tasks ? nw_tasks_get(run->delivery.tasks, tid) : NULL;
}

struct nw_event_line nw_run_event_line(const struct nw_run *run, const struct nw_hit *hit,
				       const struct nw_task *task)
{
	const struct nw_run_result *so_far = run->result;

	return (struct nw_event_line){
		.selection = &so_far->selection,
		.probe = so_far->selection.probes.item[hit->probe],
		.hit = hit,
		.task = task,
		.stacks = so_far->stacks,
		.start = so_far->start_ns,
		.wall_ns = so_far->wall_ns,
	};
}

const char *nw_run_wait_channel(const struct nw_run *run, const struct nw_value *callers,
				uint64_t *function)
{
	enum {
		MOST_FRAMES = 64
	};
	uint64_t frames[MOST_FRAMES];
	size_t count = 0, bytes = callers->bits / 8;

	if (!run->result->symbols || callers->kind != NW_VALUE_ARRAY)
		return NULL;
	for (; count < callers->len && count < MOST_FRAMES; count++) {
		const unsigned char *at = callers->elements + count * bytes;
		uint32_t narrow = 0;
		if (bytes == sizeof(narrow))
			memcpy(&narrow, at, sizeof(narrow));
		else
			memcpy(&frames[count], at, sizeof(frames[count]));
		if (bytes == sizeof(narrow))
			frames[count] = narrow;
	}
	return nw_kernel_wait_channel(run->result->symbols, frames, count, function);
}

static int cannot_observe(const struct nw_run *run, const char *key, struct nw_error *err)
{
	if (run->source->recorded)
		nw_fail(err, ENODATA, "--by '%s': %s was recorded without it", key,
			run->request->source_name);
	else
		nw_fail(err, ENODATA, "--by '%s': trace text does not tell it", key);
	nw_error_hint(
		err,
		"it is known only while the programs run: use `nopwatch record --by '%s' ...` or `nopwatch stat --by '%s' ...` there",
		key, key);
	return -ENODATA;
}

int nw_run_observe(struct nw_run *run, enum nw_observed_what what, const char *key,
		   struct nw_error *err)
{
	if (!run->result->observed && run->source->live &&
	    nw_observed_open(&run->live.space, &run->result->observed) < 0)
		return nw_no_memory(err);
	if (what == NW_OBSERVED_PATH && run->source->live) {
		int ret = nw_run_descriptors_open(run, key, err);
		if (ret < 0)
			return ret;
	}
	if (run->source->live)
		nw_observed_use(run->result->observed, what);
	if (run->result->observed && nw_observed_has(run->result->observed, what))
		return 0;
	return cannot_observe(run, key, err);
}

const char *nw_run_observed(struct nw_run *run, enum nw_observed_what what,
			    const struct nw_hit *hit, pid_t pid)
{
	return nw_observed_get(run->result->observed, what, pid, hit->tid, hit->time);
}

const char *nw_run_observed_path(struct nw_run *run, const struct nw_hit *hit, pid_t pid,
				 uint32_t fd)
{
	return nw_observed_path(run->result->observed, pid, fd, hit->time);
}

void nw_run_not_searched(struct nw_run *run, enum nw_observed_what what, int code)
{
	nw_observed_not_searched(run->result->observed, what, code);
}

void nw_run_keep_observed(struct nw_run *run)
{
	if (run->result->observed)
		nw_observed_keep(run->result->observed);
}

bool nw_run_report_requested(struct nw_run *run)
{
	bool asked = run->live.wake.report;

	run->live.wake.report = false;
	return asked;
}

bool nw_run_snapshot_requested(struct nw_run *run)
{
	bool asked = run->live.wake.snapshot;

	run->live.wake.snapshot = false;
	return asked;
}

/* ---- states of probes --------------------------------------------------------------- */

int nw_run_make_states(struct nw_run *run)
{
	struct nw_run_result *result = run->result;

	if (!result->states)
		result->states = calloc(result->selection.probes.count + 1,
					sizeof(*result->states));
	return result->states ? 0 : -ENOMEM;
}

int nw_run_set_state(struct nw_run *run, size_t probe, enum nw_state state, const char *fmt,
		     ...)
{
	nw_strings *texts = &run->result->state_texts;
	struct nw_buf text = {0};
	va_list args;

	va_start(args, fmt);
	nw_buf_vprintf(&text, fmt, args);
	va_end(args);
	int ret = text.failed ? -ENOMEM
			      : nw_strings_add(texts, nw_buf_str(&text), text.len);
	nw_buf_free(&text);
	if (ret == 0)
		run->result->states[probe] = (struct nw_probe_state){
			.state = state, .text = texts->item[texts->count - 1]};
	return ret;
}

int nw_run_read_maps(const struct nw_run *run, bool synthetic, const char *event,
		     nw_kernel_maps *out)
{
	return run->source->maps
		       ? run->source->maps(run, synthetic, event, out)
		       : nw_session_read_maps(run->live.session, synthetic, event, out);
}

const struct nw_kept *nw_run_kept(const struct nw_run *run)
{
	return run->kept;
}

const char *nw_run_cannot_count(const struct nw_run *run)
{
	return nw_triggers_lack(&run->live.features);
}

bool nw_run_counts_buckets(const struct nw_run *run)
{
	return run->live.features.has[NW_FEATURE_HIST_BUCKETS];
}

void nw_run_note_uncounted(struct nw_run *run, uint64_t hits)
{
	run->live.uncounted = hits;
}

/* ---- the result --------------------------------------------------------------------- */

size_t nw_result_sites(const struct nw_run_result *result)
{
	size_t sites = 0;

	for (size_t i = 0; i < result->armed.points.count; i++) {
		size_t probe = result->plan.points.item[i].probe;
		sites += !result->armed.points.item[i].failed &&
			 !result->selection.probes.item[probe]->hidden;
	}
	return sites;
}

uint64_t nw_result_elapsed(const struct nw_run_result *result)
{
	return result->now_ns > result->start_ns ? result->now_ns - result->start_ns : 0;
}

struct nw_end nw_result_end(const struct nw_run_result *result)
{
	const struct nw_stack_losses losses = result->stacks
						      ? nw_stacks_losses(result->stacks)
						      : (struct nw_stack_losses){0};

	struct nw_end end = {
		.unmapped = losses.changes,
		.doubtful = losses.stacks,
		.lost = result->lost,
		.lost_is_least = result->lost_is_least,
		.dropped = result->dropped,
		.incomplete = result->incomplete,
		.has_filter = result->has_filter,
		.filtered = result->filtered,
		.reason = result->reason,
		.elapsed_ns = nw_result_elapsed(result),
	};

	if (result->stacks)
		end.unread_count = nw_stacks_unread(result->stacks, &end.unread);
	return end;
}

struct nw_resource nw_result_resource(const struct nw_run_result *result,
				      const char *service)
{
	const struct nw_selection *selection = &result->selection;
	struct nw_resource resource = {
		.host = result->origin.host,
		.kernel = result->origin.kernel,
		.machine = result->origin.machine,
		.pid = result->pids.count == 1 ? result->pids.item[0] : 0,
	};

	for (size_t i = 0; i < selection->probes.count && !resource.program; i++) {
		const struct nw_probe *probe = selection->probes.item[i];
		const char *path = nw_probe_in_kernel(probe) || probe->hidden
					   ? NULL
					   : probe->image->path;
		const char *slash = path ? strrchr(path, '/') : NULL;
		resource.program = slash ? slash + 1 : path;
	}
	resource.service = service	      ? service
			   : resource.program ? resource.program
					      : "nopwatch";
	return resource;
}

struct nw_disabled nw_result_disabled(const struct nw_run_result *result, uint32_t probe,
				      uint64_t at)
{
	return (struct nw_disabled){
		.probe = result->selection.probes.item[probe],
		.state = &result->states[probe],
		.after_ns = at - nw_min64(result->start_ns, at),
	};
}

bool nw_result_is_disabled(const struct nw_run_result *result, size_t probe)
{
	return result->disabled_at && result->disabled_at[probe];
}

void nw_result_free(struct nw_run_result *result)
{
	nw_observed_free(result->observed);
	nw_stacks_free(result->stacks);
	nw_armed_free(&result->armed);
	nw_plan_free(&result->plan);
	nw_selection_free(&result->selection);
	free(result->states);
	nw_kernel_symbols_free(result->symbols);
	nw_strings_free(&result->state_texts);
	free(result->hit_costs);
	free(result->unnamed_why);
	nw_vec_free(&result->named);
	nw_strings_free(&result->named_comms);
	free(result->disabled_at);
	nw_vec_free(&result->pids);
	nw_vec_free(&result->tids);
	free(result->origin.host);
	free(result->origin.kernel);
	free(result->origin.machine);
	free(result->origin.command);
	*result = (struct nw_run_result){0};
}
