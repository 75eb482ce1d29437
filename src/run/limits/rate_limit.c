// SPDX-License-Identifier: MIT
/*
 * The cost of hits for the traced programs, and --max-rate, which disables a probe that is hit too often.
 *
 * Both use the kernel's counts (uprobe_profile): a hit costs time whether or not it fits into the ring buffer, in any
 * process. Kernel events are not counted there; for these, the recorded hits are used.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guards.h"
#include "rates.h"

struct nw_rate_limit {
	struct nw_rates *rates;
	uint64_t *probes; /* counted hits, by probe */
};

/* ---- cost --------------------------------------------------------------------------- */

/*
 * Cost of a hit for its thread in nanoseconds, if it was not measured (hit_cost.c). A hit recorded by ftrace takes
 * 0.75 to 0.82 us, with or without arguments; a long nop that is single-stepped 10 us (both measured on 6.18; kernels
 * since 7.1 emulate it); a return probe a fifth more than an entry. Strings and stacks are copied word by word, at
 * some 80 ns each (docs/dev/performance.md, "What a string costs").
 */
enum {
	COST_NS = 800,
	COST_CALL_NS = 500,
	COST_STEPPED_NS = 10000,
	COST_RETURN_NS = 1000,
	COST_WORD_NS = 80
};

static uint64_t cost_of(const struct nw_point *point)
{
	if (point->is_return)
		return COST_RETURN_NS;
	if (point->is_call)
		return COST_CALL_NS;
	return point->nop == NW_NOP_LONG ? COST_STEPPED_NS : COST_NS;
}

void nw_run_count_cost(struct nw_run *run, const uint64_t *hits)
{
	struct nw_run_result *result = run->result;

	for (size_t i = 0; i < result->plan.points.count; i++) {
		const struct nw_planned_point *planned = &result->plan.points.item[i];
		const struct nw_probe *probe =
			result->selection.probes.item[planned->probe];
		const struct nw_hit_cost *measured =
			result->hit_costs ? &result->hit_costs[planned->probe] : NULL;
		uint64_t words = 0;
		nw_vec_each (&planned->args, source)
			nw_vec_each (&source->chunks, chunk)
				words += chunk->count ? chunk->count : 1;
		result->kernel_hits += hits[i];
		result->cost_ns += hits[i] *
				   (measured
					    ? (uint64_t)measured->before + measured->after
					    : cost_of(&probe->points.item[planned->point]) +
						      words * COST_WORD_NS);
	}
}

uint64_t nw_run_cost(const struct nw_run *run)
{
	const struct nw_selection *selection = &run->result->selection;
	uint64_t cost = 0;

	for (size_t i = 0; run->live.session && i < selection->probes.count; i++) {
		const struct nw_probe *probe = selection->probes.item[i];
		if (probe->kind != NW_SPEC_TRACEPOINT && probe->points.count)
			cost += nw_run_probe_hits(run, i) * cost_of(probe->points.item);
	}
	return cost;
}

void nw_result_cost(const struct nw_run_result *result, struct nw_buf *out)
{
	uint64_t elapsed = nw_result_elapsed(result);
	char each[16];

	if (!result->kernel_hits || !elapsed)
		return;
	double percent = 100.0 * (double)result->cost_ns / (double)elapsed;
	nw_duration_text(result->cost_ns / result->kernel_hits, each);
	if (percent < 0.1)
		nw_buf_printf(
			out,
			"less than 0.1 %% of one CPU in the traced processes: %" PRIu64
			" hits, an estimated %s each",
			result->kernel_hits, each);
	else
		nw_buf_printf(out,
			      "about %.1f %% of one CPU in the traced processes: %" PRIu64
			      " hits, an estimated %s each",
			      percent, result->kernel_hits, each);
}

/* ---- the limit ---------------------------------------------------------------------- */

int nw_rate_limit_open(struct nw_run *run, struct nw_error *err)
{
	size_t probes = run->result->selection.probes.count;
	struct nw_rate_limit *g;

	if (!run->request->max_rate)
		return 0;
	run->live.rate_limit = g = calloc(1, sizeof(*g));
	if (!g || nw_rates_open(probes, &g->rates) < 0)
		return nw_no_memory(err);
	g->probes = calloc(probes + 1, sizeof(*g->probes));
	return g->probes ? nw_rate_limit_check(run, err) : nw_no_memory(err);
}

void nw_rate_limit_free(struct nw_run *run)
{
	if (!run->live.rate_limit)
		return;
	nw_rates_free(run->live.rate_limit->rates);
	free(run->live.rate_limit->probes);
	free(run->live.rate_limit);
	run->live.rate_limit = NULL;
}

/* Counts the hits of each probe. If the kernel does not count them, the recorded hits are used. Returns false if the counts
 * cannot be had now. */
static bool count(struct nw_run *run)
{
	struct nw_rate_limit *g = run->live.rate_limit;
	size_t probes = run->result->selection.probes.count;
	/* by point of the plan, which grows when a file is replaced */
	nw_cleanup(nw_free_ptr) uint64_t *points = calloc(
		run->result->plan.points.count + 1, sizeof(*points));

	int ret = points ? nw_session_profile(run->live.session, points) : -EAGAIN;
	if (ret == -EAGAIN) /* tried again later */
		return false;
	memset(g->probes, 0, probes * sizeof(*g->probes));
	for (size_t i = 0; ret == 0 && i < run->result->plan.points.count; i++)
		g->probes[run->result->plan.points.item[i].probe] += points[i];
	for (size_t i = 0; i < probes; i++)
		if (ret < 0 ||
		    run->result->selection.probes.item[i]->kind == NW_SPEC_TRACEPOINT)
			g->probes[i] = nw_run_probe_hits(run, i) +
				       (run->delivery.probe_filtered
						? run->delivery.probe_filtered[i]
						: 0);
	return true;
}

int nw_run_mark_disabled(struct nw_run *run, size_t probe, enum nw_state state, uint64_t at,
			 const char *text, struct nw_error *err)
{
	size_t probes = run->result->selection.probes.count;

	if (!run->result->disabled_at)
		run->result->disabled_at = calloc(probes + 1,
						  sizeof(*run->result->disabled_at));
	if (!run->result->disabled_at || nw_run_make_states(run) < 0 ||
	    nw_run_set_state(run, probe, state, "%s", text) < 0)
		return nw_no_memory(err);
	run->result->disabled_at[probe] = nw_max64(at, 1);
	if (nw_is_descriptor_probe(run->result->selection.probes.item[probe]))
		nw_run_calls_lost(run, UINT64_MAX);
	if (run->consumer.disabled)
		run->consumer.disabled(run->consumer.arg, (uint32_t)probe, at);
	return 0;
}

static int disable(struct nw_run *run, size_t probe, double rate, struct nw_error *err)
{
	uint64_t at = nw_session_now(run->live.session);
	char when[16], how_often[16], text[128];

	int ret = nw_session_disable(run->live.session, probe, err);
	if (ret < 0)
		return ret;
	nw_duration_text(at > run->result->start_ns ? at - run->result->start_ns : 0, when);
	nw_rate_text(rate, how_often);
	snprintf(text, sizeof(text), "disabled after %s: %s, more than --max-rate %" PRIu64,
		 when, how_often, run->request->max_rate);
	ret = nw_run_mark_disabled(run, probe, NW_STATE_DISABLED, at, text, err);
	if (ret == 0)
		nw_run_notice(run, "%s: %s",
			      run->result->selection.probes.item[probe]->label, text);
	return ret;
}

int nw_rate_limit_check(struct nw_run *run, struct nw_error *err)
{
	struct nw_rate_limit *g = run->live.rate_limit;
	uint64_t now = nw_session_now(run->live.session);
	double rate;
	int ret = 0;

	if (!g || !nw_rates_due(g->rates, now))
		return 0;
	if (!count(run))
		return 0;
	nw_rates_sample(g->rates, now, nw_session_now(run->live.session), g->probes);
	for (size_t i = 0; ret == 0 && i < run->result->selection.probes.count; i++)
		if (!nw_result_is_disabled(run->result, i) &&
		    nw_rates_over(g->rates, i, run->request->max_rate, &rate))
			ret = disable(run, i, rate, err);
	return ret;
}
