// SPDX-License-Identifier: MIT
/* See span_trigger.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "span_trigger.h"

/* ---- which span --------------------------------------------------------------------- */

/* Has the span this name? "request" also means "myserver:request". */
static bool is_called(const struct nw_span_def *def, const char *name)
{
	size_t whole = strlen(def->name), len = strlen(name);

	return strcmp(def->name, name) == 0 ||
	       (len < whole && def->name[whole - len - 1] == ':' &&
		strcmp(def->name + whole - len, name) == 0);
}

static void hint_spans(const nw_span_defs *defs, struct nw_error *err)
{
	enum {
		SHOWN = 8
	};
	struct nw_buf names = {0};

	for (size_t i = 0; i < defs->count && i < SHOWN; i++)
		nw_buf_printf(&names, "%s%s", i ? ", " : "", defs->item[i].name);
	if (defs->count > SHOWN)
		nw_buf_adds(&names, ", ...");
	if (defs->count)
		nw_error_hint(err, "the spans of these probes are %s", nw_buf_str(&names));
	else
		nw_error_hint(
			err,
			"no two of these probes pair by their names: say --until 'START..END > TIME'");
	nw_buf_free(&names);
}

static int find_spans(const struct nw_span_trigger *l, const struct nw_selection *selection,
		      nw_span_defs *out, struct nw_error *err)
{
	if (!nw_until_has_ends(l->until))
		return nw_spans_by_name(selection, out) < 0 ? nw_no_memory(err) : 0;
	struct nw_span_def *def = nw_vec_add(out);
	if (!def)
		return nw_no_memory(err);
	int ret = nw_span_parse(l->until->span, selection, def, err);
	out->count -= ret < 0;
	return ret;
}

static void mark(const nw_vec_u32 *probes, bool *wanted)
{
	nw_vec_each (probes, probe)
		wanted[*probe] = true;
}

/* Keeps only the probes of the span. */
static int narrow(struct nw_span_trigger *l, struct nw_error *err)
{
	struct nw_selection *selection = &l->result.selection;
	bool *wanted = calloc(selection->probes.count + 1, sizeof(*wanted));
	nw_span_defs defs = {0};
	bool found = false;
	int ret = wanted ? find_spans(l, selection, &defs, err) : nw_no_memory(err);

	nw_vec_each (&defs, def) {
		if (ret < 0 ||
		    (!nw_until_has_ends(l->until) && !is_called(def, l->until->span)))
			continue;
		found = true;
		mark(&def->starts, wanted);
		mark(&def->ends, wanted);
	}
	if (ret == 0 && !found) {
		ret = nw_fail_usage(err, "--until '%s': there is no such span",
				    l->until->span);
		hint_spans(&defs, err);
	}
	if (ret == 0)
		nw_selection_keep(selection, wanted);
	nw_vec_each (&selection->probes, probe)
		(*probe)->has_args = false; /* only a key is needed */
	nw_spans_free(&defs);
	free(wanted);
	return ret;
}

/* ---- what it sees ------------------------------------------------------------------- */

static void take_span(void *arg, const struct nw_span_event *event)
{
	struct nw_span_trigger *l = arg;

	if (event->moment != NW_SPAN_ENDS || !l->watched[event->span])
		return;
	l->spans++;
	l->longest_ns = nw_max64(l->longest_ns, event->latency);
	if (event->latency < l->until->least_ns)
		return;
	const struct nw_seen_span seen = {
		.name = l->measure.spans.item[event->span].name,
		.start = event->start,
		.end = event->hit->time,
		.tid = event->hit->tid,
		.task = nw_run_task(&l->run, event->hit->tid),
	};
	l->seen(l->arg, &seen);
}

/* Marks the spans that are watched, because the remaining probes may form other spans, too. */
static int start(void *arg, struct nw_error *err)
{
	struct nw_span_trigger *l = arg;
	const nw_span_defs *spans = &l->measure.spans;

	l->watched = calloc(spans->count + 1, sizeof(*l->watched));
	if (!l->watched)
		return nw_no_memory(err);
	for (size_t i = 0; i < spans->count; i++)
		l->watched[i] = nw_until_has_ends(l->until) ||
				is_called(&spans->item[i], l->until->span);
	return 0;
}

/* ---- the run ------------------------------------------------------------------------ */

int nw_span_trigger_open(struct nw_span_trigger *l, struct nw_run *outer,
			 const struct nw_until *until, struct nw_error *err)
{
	bool ends = nw_until_has_ends(until);

	l->until = until;
	l->span = until->span;
	l->request = *outer->request;
	l->request.spans = ends ? &l->span : NULL;
	l->request.span_count = ends;
	l->request.buffer_bytes = 0;
	l->request.duration_ns = 0;
	l->request.notice = NULL; /* the outer run shows all notices */
	const struct nw_measure_options options = {
		.spans = l->request.spans,
		.span_count = l->request.span_count,
		.arg = l,
		.listener = take_span,
		.ends_only = true,
		.start = start,
	};
	int ret = nw_measure_open(&options, &l->measure, err);

	if (ret < 0)
		return ret;
	struct nw_consumer consumer = nw_measure_consumer(&l->measure);
	consumer.needs.brief = true;
	consumer.needs.threads = true;
	l->open = true;
	ret = nw_run_open(&l->run, true, &l->request, &consumer, &l->result, err);
	return ret < 0 ? ret : narrow(l, err);
}

int nw_span_trigger_arm(struct nw_span_trigger *l, struct nw_run *outer,
			struct nw_error *err)
{
	const bool *has = nw_session_features(nw_run_session(outer))->has;

	if (!has[NW_FEATURE_INSTANCES] || !has[NW_FEATURE_INSTANCE_EVENTS]) {
		nw_fail(err, ENOTSUP,
			"this kernel has one ring buffer for all probes, and --until takes two: one is watched, the other keeps the last seconds");
		nw_error_hint(err, "--until-signal and --until-cmd take only one");
		return -ENOTSUP;
	}
	l->request.command = NULL; /* it belongs to the outer run */
	l->child = nw_run_child(outer);
	if (l->child && outer->result->restricted && !l->request.pid_count) {
		l->request.pids = &l->child;
		l->request.pid_count = 1;
		l->request.follow = true;
	}
	int ret = nw_run_arm(&l->run, err);
	if (ret == 0)
		nw_run_add_inner(outer, &l->run);
	return ret;
}

void nw_span_trigger_tell_way(struct nw_span_trigger *l, const struct nw_run *run)
{
	const char *why_not = nw_span_trigger_by_kernel(l);

	if (run->request->verbose && why_not)
		nw_run_notice(run, "slow spans are found by reading their two events: %s",
			      why_not);
	else if (run->request->verbose)
		nw_run_notice(run, "the kernel itself finds slow spans, by hist triggers");
}

int nw_span_trigger_step(struct nw_span_trigger *l, struct nw_error *err)
{
	int ret = l->ended ? 0 : nw_run_step(&l->run, err);

	if (ret == 0) /* the last process has gone; the outer run sees that, too */
		return nw_span_trigger_end(l, err);
	return ret < 0 ? ret : 0;
}

int nw_span_trigger_end(struct nw_span_trigger *l, struct nw_error *err)
{
	if (l->ended || !l->run.begun)
		return 0;
	l->ended = true;
	l->missed = nw_span_trigger_check_kernel(l);
	return nw_run_end(&l->run, err);
}

void nw_span_trigger_close(struct nw_span_trigger *l)
{
	if (!l->open)
		return;
	nw_run_close(&l->run);
	nw_measure_close(&l->measure);
	free(l->watched);
	l->watched = NULL;
	l->open = false;
}
