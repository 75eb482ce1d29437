// SPDX-License-Identifier: MIT
/* Runs that hand out their events or record them, and the results of runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

/* ---- events ------------------------------------------------------------------------- */

struct nopwatch_event {
	struct nw_event_line line;
	struct nw_output output;
	/* the caller's */
	nopwatch_event_fn *take;
	void *arg;
	struct nw_run *run;
};

static int start(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nopwatch_event *event = arg;

	(void)err;
	event->run = run;
	return 0;
}

static int hit(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct nopwatch_event *event = arg;

	event->line = nw_run_event_line(event->run, hit, task);
	event->line.kernel_text = nw_run_kernel_text(event->run);
	return event->take(event->arg, event) == 0 ? 0 : -ECANCELED;
}

/* Hands the result of a run to the caller, or frees it. */
static int finish(int ret, struct nopwatch_result *made, struct nopwatch_result **out,
		  const struct nw_error *err, struct nopwatch_error **error)
{
	if (ret < 0 || !out)
		nopwatch_result_free(made);
	else
		*out = made;
	return nw_api_done(ret, err, error);
}

int nopwatch_run(struct nopwatch_request *request, nopwatch_event_fn *take, void *arg,
		 struct nopwatch_result **result, struct nopwatch_error **error)
{
	struct nopwatch_result *made = calloc(1, sizeof(*made));
	struct nopwatch_event event = {.take = take, .arg = arg};
	const struct nw_consumer consumer = {
		.arg = &event,
		.needs = {.all_args = true,
			  .values = true,
			  .comms = true,
			  .kernel_texts = true},
		.start = start,
		.hit = hit,
	};
	struct nw_error err;
	int ret = made ? nw_output_make(nw_output_find("json"), &event.output) : -ENOMEM;

	ret = ret < 0 ? nw_no_memory(&err)
		      : nw_api_run(request, &consumer, &made->run, &err);
	nw_output_free(&event.output);
	return finish(ret, made, result, &err, error);
}

const char *nopwatch_event_probe(const struct nopwatch_event *event)
{
	return event->line.probe->label;
}

uint64_t nopwatch_event_time(const struct nopwatch_event *event)
{
	return event->line.hit->time;
}

uint32_t nopwatch_event_cpu(const struct nopwatch_event *event)
{
	return event->line.hit->cpu;
}

pid_t nopwatch_event_pid(const struct nopwatch_event *event)
{
	return event->line.task->pid;
}

pid_t nopwatch_event_tid(const struct nopwatch_event *event)
{
	return event->line.hit->tid;
}

const char *nopwatch_event_comm(const struct nopwatch_event *event)
{
	return event->line.task->comm;
}

int nopwatch_event_number(const struct nopwatch_event *event, const char *argument,
			  uint64_t *out)
{
	const struct nw_hit *hit = event->line.hit;

	for (size_t i = 0; i < hit->value_count; i++) {
		const struct nw_value *value = &hit->values[i];
		char name[NW_ARG_NAME];
		nw_arg_name(event->line.probe, i, name);
		if (strcmp(name, argument) != 0)
			continue;
		if (value->kind == NW_VALUE_MISSING)
			return -ENODATA;
		if (value->kind != NW_VALUE_SIGNED && value->kind != NW_VALUE_UNSIGNED &&
		    value->kind != NW_VALUE_HEX)
			return -EINVAL;
		*out = value->number;
		return 0;
	}
	return -ENOENT;
}

const char *nopwatch_event_json(struct nopwatch_event *event)
{
	struct nw_buf *text = &event->output.text;

	nw_buf_clear(text);
	nw_output_event(&event->output, &event->line);
	if (text->failed)
		return NULL;
	if (text->len)
		nw_buf_cut(text, text->len - 1); /* the end of the line */
	return nw_buf_str(text);
}

/* ---- recordings --------------------------------------------------------------------- */

int nopwatch_record(struct nopwatch_request *request, const char *path,
		    struct nopwatch_result **result, struct nopwatch_error **error)
{
	const struct nw_recorder_options options = {.path = path};
	struct nopwatch_result *made = calloc(1, sizeof(*made));
	struct nw_recorder *recorder = NULL;
	struct nw_error err;
	uint64_t bytes;
	int ret = made ? nw_recorder_open(&options, &recorder, &err) : nw_no_memory(&err);

	if (ret == 0) {
		const struct nw_consumer consumer = nw_recorder_consumer(recorder);
		ret = nw_api_run(request, &consumer, &made->run, &err);
	}
	if (ret == 0)
		ret = nw_recorder_finish(recorder, &made->run, &bytes, &err);
	nw_recorder_free(recorder);
	return finish(ret, made, result, &err, error);
}

/* ---- results ------------------------------------------------------------------------ */

uint64_t nopwatch_result_count(const struct nopwatch_result *result,
			       enum nopwatch_count kind)
{
	const struct nw_run_result *run = &result->run;

	switch (kind) {
	case NOPWATCH_HITS:
		return run->hits;
	case NOPWATCH_LOST:
		return run->lost;
	case NOPWATCH_FILTERED:
		return run->filtered;
	case NOPWATCH_DROPPED:
		return run->dropped;
	case NOPWATCH_INCOMPLETE:
		return run->incomplete;
	case NOPWATCH_SITES:
		return nw_result_sites(run);
	case NOPWATCH_PROBES:
		return run->selection.probes.count;
	case NOPWATCH_ELAPSED:
		return nw_result_elapsed(run);
	}
	return 0;
}

const char *nopwatch_result_reason(const struct nopwatch_result *result)
{
	return nw_end_reasons[result->run.reason];
}

int nopwatch_result_command_status(const struct nopwatch_result *result)
{
	return result->run.reason == NW_END_COMMAND ? result->run.command_status : 0;
}

const char *nopwatch_result_left(const struct nopwatch_result *result)
{
	return result->run.unclean ? result->run.left.what : NULL;
}

const char *nopwatch_result_probe(const struct nopwatch_result *result, size_t probe)
{
	return probe < result->run.selection.probes.count
		       ? result->run.selection.probes.item[probe]->label
		       : NULL;
}

const char *nopwatch_result_probe_state(const struct nopwatch_result *result, size_t probe)
{
	const struct nw_probe_state *states = result->run.states;

	if (probe >= result->run.selection.probes.count)
		return NULL;
	return nw_state_words[states ? states[probe].state : NW_STATE_UNKNOWN];
}

void nopwatch_result_free(struct nopwatch_result *result)
{
	if (result)
		nw_result_free(&result->run);
	free(result);
}
