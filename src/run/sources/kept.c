// SPDX-License-Identifier: MIT
/* Counts that stay as a source: no hits come, and the consumer reads the kernel's maps once (recovery/kept.h). */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "run/limits/guards.h"

#include "sources.h"

int nw_run_load_kept(struct nw_run *run, const struct nw_kept *kept, struct nw_error *err)
{
	struct nw_run_result *result = run->result;
	int ret = nw_plan_load(kept->plan, strlen(kept->plan), &result->selection,
			       &result->plan, &result->armed, NULL, NULL, err);

	if (ret == 0 && kept->named.count != result->selection.probes.count)
		ret = nw_fail(err, EBADMSG, "it does not tell how its %zu probes are named",
			      result->selection.probes.count);
	for (size_t i = 0; ret == 0 && i < kept->named.count; i++) {
		struct nw_probe *probe = result->selection.probes.item[i];
		probe->named = nw_min64(kept->named.item[i], probe->args.count);
	}
	if (ret == 0 && run->request->no_demangle &&
	    nw_selection_linked(&result->selection) < 0)
		ret = nw_no_memory(err);
	result->by_kernel = true;
	run->kept = kept;
	return ret;
}

static int open_plan(struct nw_run *run, struct nw_error *err)
{
	int ret = nw_run_load_kept(run, run->request->kept, err);

	return ret < 0 ? nw_error_context(err, "the journal of %s", run->result->plan.group)
		       : 0;
}

static int open_tasks(struct nw_run *run)
{
	const struct nw_tasks_options options = {.look_up = nw_run_look_up_task,
						 .look_up_arg = run};

	nw_pid_space_open(&run->live.space);
	int ret = nw_tasks_open(&options, &run->delivery.tasks);
	return ret < 0 ? ret : nw_run_open_join(run);
}

static int begin(struct nw_run *run, struct nw_error *err)
{
	struct nw_run_result *result = run->result;
	int ret = nw_request_kernel(run->request, false, &run->live.fs, &run->live.features,
				    err);

	if (ret == 0)
		ret = nw_session_open_kept(&run->live.fs, &run->live.features,
					   &result->plan, &run->live.session, err);
	if (ret == 0 && (nw_run_note_origin(run) < 0 || open_tasks(run) < 0))
		ret = nw_no_memory(err);
	if (ret < 0)
		return ret;
	const uint64_t now = nw_session_now(run->live.session);
	result->start_ns = result->armed_ns = nw_min64(run->request->kept->began_ns, now);
	result->now_ns = result->stop_ns = now;
	result->wall_ns = (int64_t)(nw_clock_ns(CLOCK_REALTIME) - now);
	ret = run->consumer.count(run->consumer.arg, run, &run->live.triggers, err);
	return ret < 0 ? ret : nw_run_begin(run, result->start_ns, err);
}

static int fill(struct nw_run *run, struct nw_error *err)
{
	(void)run;
	(void)err;
	return 0;
}

static int next(struct nw_run *run, struct nw_record *record, struct nw_error *err)
{
	(void)run;
	(void)record;
	(void)err;
	return 0;
}

static int stop(struct nw_run *run, struct nw_error *err)
{
	(void)err;
	run->consumer.stopping(run->consumer.arg, run);
	return 0;
}

static int finish(struct nw_run *run, struct nw_error *err)
{
	run->result->lost = run->live.uncounted;
	return nw_run_judge_hits(run, err);
}

static void close_kept(struct nw_run *run)
{
	(void)nw_session_close(run->live.session, NULL);
	run->live.session = NULL;
	nw_tracefs_close(&run->live.fs);
}

const struct nw_run_source nw_kept_source = {
	.open = open_plan,
	.begin = begin,
	.fill = fill,
	.next = next,
	.stop = stop,
	.finish = finish,
	.close = close_kept,
};
