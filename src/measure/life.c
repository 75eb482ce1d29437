// SPDX-License-Identifier: MIT
/* Opens and frees a summary, changes its settings, and tells it about events other than hits. */
#include <errno.h>
#include <stdlib.h>

#include "measure/spans/pairs.h"
#include "state.h"

/* Is there a span whose states are those of its thread? */
static int check_states(const struct nw_summary_options *options, struct nw_error *err)
{
	for (size_t i = 0; i < options->span_count; i++)
		if (!options->spans[i].goroutines)
			return 0;
	if (!options->span_count)
		return 0;
	nw_fail_usage(
		err,
		"--states: all spans here are calls of Go functions, and what they wait for cannot be told: while a goroutine waits, its thread runs others, and the kernel tells only of threads");
	nw_error_hint(err, "leave --states out: the latencies are right");
	return -EINVAL;
}

int nw_summary_open(const struct nw_summary_options *options, struct nw_summary **out,
		    struct nw_error *err)
{
	struct nw_summary *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return nw_no_memory(err);
	s->options = *options;
	s->gap_least = 1;
	s->probes = options->selection->probes.count;
	for (uint32_t i = 0; i < options->span_count; i++)
		s->goroutines |= options->spans[i].goroutines;
	s->plain = !options->listener && !options->states;
	s->probe = calloc(s->probes + 1, sizeof(*s->probe));
	s->broken = calloc(options->span_count + 1, sizeof(*s->broken));
	s->fitting = calloc(options->span_count + 1, sizeof(*s->fitting));
	s->strays = calloc(options->span_count + 1, sizeof(*s->strays));
	bool made = s->probe && s->broken && s->fitting && s->strays &&
		    nw_row_shape_init(&s->shape, &s->options) == 0 &&
		    nw_open_init(&s->open, options->most_open) == 0;
	made = made &&
	       nw_calls_init(&s->calls, options->most_open, false, nw_summary_call_over,
			     s) == 0 &&
	       nw_calls_init(&s->frames, options->most_open, true, nw_summary_call_over,
			     s) == 0;
	ret = made ? 0 : nw_no_memory(err);
	if (ret == 0 && options->states)
		ret = check_states(options, err);
	if (ret == 0 && options->states)
		ret = nw_task_states_open(options->selection, &s->options.names,
					  &s->task_states, err);
	if (ret == 0)
		ret = nw_summary_add_roles(s, err);
	if (ret == 0 && !options->grouped && nw_summary_add_group(s) < 0)
		ret = nw_no_memory(err);
	if (ret < 0)
		nw_summary_free(s);
	else
		*out = s;
	return ret;
}

void nw_summary_emit_above(struct nw_summary *s, const uint64_t *least)
{
	s->least = least;
}

void nw_summary_set_thread_filter(struct nw_summary *s,
				  bool (*wanted)(void *arg, int32_t tid), void *arg)
{
	s->wanted = wanted;
	s->wanted_arg = arg;
}

void nw_summary_use_stacks(struct nw_summary *s)
{
	for (uint32_t i = 0; i < s->options.span_count; i++) {
		const struct nw_span_def *def = &s->options.spans[i];
		int framed = nw_span_is_framed(s->options.selection, def);
		s->failed |= framed < 0;
		if (!framed && !def->call)
			continue;
		for (size_t j = 0; j < s->probes; j++)
			nw_vec_each (&s->probe[j].roles, role)
				if (role->span == i) {
					role->calls = framed ? &s->frames : &s->calls;
					role->plain = false;
				}
	}
}

int nw_summary_use_cost(struct nw_summary *s, const struct nw_hit_cost *cost, bool net)
{
	int ret = nw_self_cost_open(cost, &s->self_cost);

	s->cost = ret == 0 ? cost : NULL;
	s->plain &= ret < 0;
	s->net = net;
	return ret;
}

/* Marks all open spans as begun before a loss. */
static void break_at(struct nw_summary *s, uint64_t until)
{
	s->loss_until = nw_max64(s->loss_until, until);
	s->gap_least = nw_max64(s->gap_least, until);
	s->calls.loss_until = s->frames.loss_until = s->loss_until;
	if (s->task_states)
		nw_task_states_loss(s->task_states);
}

void nw_summary_loss(struct nw_summary *s, uint64_t until, uint64_t events)
{
	break_at(s, until);
	s->lost += events ? events : 1;
	s->lost_is_least |= !events;
}

void nw_summary_inherit_losses(struct nw_summary *s, const struct nw_summary *from,
			       uint64_t until)
{
	break_at(s, until);
	s->lost = from->lost;
	s->lost_is_least = from->lost_is_least;
}

void nw_summary_disabled(struct nw_summary *s, uint32_t probe, uint64_t at)
{
	nw_vec_each (&s->probe[probe].roles, broken) {
		s->broken[broken->span] = true;
		for (size_t i = 0; i < s->probes; i++)
			nw_vec_each (&s->probe[i].roles, role)
				if (role->span == broken->span) {
					role->until = nw_min64(role->until, at);
					role->plain = false;
				}
	}
}

/* Does a program's code begin the span? Spans that kernel events begin go on after an exec: the exec event itself
 * begins one. */
static bool is_begun_by_code(const struct nw_summary *s, const struct nw_span_def *def)
{
	nw_vec_each (&def->starts, probe)
		if (s->options.selection->probes.item[*probe]->kind == NW_SPEC_TRACEPOINT)
			return false;
	return true;
}

/* Gives up the open spans that are keyed by this number of a thread or a process. of_code: only those that code
 * begins. */
static void give_up(struct nw_summary *s, enum nw_span_key key, int32_t number,
		    bool of_code)
{
	for (uint32_t i = 0; i < s->options.span_count; i++) {
		const struct nw_span_def *def = &s->options.spans[i];
		if (def->key == key && (!of_code || is_begun_by_code(s, def)))
			nw_summary_abandon(
				s, i, nw_open_find(&s->open, i, (uint32_t)number), false);
	}
}

static void give_up_calls(struct nw_summary *s, int32_t tid)
{
	const struct nw_stack_owner owner = nw_thread_stack(tid);

	nw_calls_abandon(&s->calls, &owner, NW_CALL_ABANDONED);
	nw_calls_abandon(&s->frames, &owner, NW_CALL_ABANDONED);
	if (s->goroutines) /* the number of a process is that of its first thread */
		nw_calls_abandon_process(&s->calls, tid);
}

void nw_summary_exec(struct nw_summary *s, int32_t tid, int32_t old_tid)
{
	const int32_t numbers[] = {tid, old_tid};

	for (size_t i = 0; i < (old_tid == tid ? 1 : NW_COUNT(numbers)); i++) {
		give_up(s, NW_KEY_TID, numbers[i], true);
		give_up_calls(s, numbers[i]);
	}
	give_up(s, NW_KEY_PID, tid, true);
}

void nw_summary_exit(struct nw_summary *s, int32_t tid)
{
	give_up(s, NW_KEY_TID, tid, false);
	give_up_calls(s, tid);
	if (s->task_states)
		nw_task_states_exit(s->task_states, tid);
	if (s->self_cost)
		nw_self_cost_exit(s->self_cost, tid);
}

void nw_summary_named_threads(struct nw_summary *s, bool all)
{
	if (s->task_states)
		nw_task_states_named(s->task_states, all);
}

void nw_summary_thread_named(struct nw_summary *s, int32_t tid, uint64_t from)
{
	if (s->task_states)
		nw_task_states_recorded(s->task_states, tid, from);
}

void nw_summary_copy_thread_table(struct nw_summary *s, const struct nw_summary *other)
{
	if (s->task_states && other->task_states)
		nw_task_states_same(s->task_states, other->task_states);
}

void nw_summary_born(struct nw_summary *s, int32_t tid)
{
	if (s->task_states)
		nw_task_states_born(s->task_states, tid);
}

void nw_summary_give_up(struct nw_summary *s)
{
	s->finished = true;
	for (size_t i = 0; i < s->open.slots; i++) {
		struct nw_open_slot *slot = &s->open.slot[i];
		if (slot->span)
			nw_summary_abandon(s, slot->span - 1, slot, false);
	}
	nw_calls_finish(&s->calls);
	nw_calls_finish(&s->frames);
}

void nw_summary_finish(struct nw_summary *s)
{
	if (!s->finished)
		nw_summary_give_up(s);
	if (s->has_intervals)
		nw_summary_next_interval(s);
}

bool nw_summary_strays(const struct nw_summary *s, size_t span, struct nw_strays_found *out)
{
	return s->strays[span].seen && nw_strays_find(s->strays[span].seen, out);
}

void nw_summary_free(struct nw_summary *s)
{
	if (!s)
		return;
	nw_vec_each (&s->groups, group) {
		nw_rows_free(&group->current);
		nw_rows_free(&group->total);
		nw_rows_free(&group->interval);
	}
	nw_vec_free(&s->groups);
	nw_vec_free(&s->touched);
	nw_row_free(NW_SUBJECT_PROBES, &s->spare_probe, 0);
	nw_row_free(NW_SUBJECT_SPANS, &s->spare_span, 0);
	nw_row_shape_free(&s->shape);
	for (size_t i = 0; s->probe && i < s->probes; i++)
		nw_vec_free(&s->probe[i].roles);
	free(s->probe);
	free(s->broken);
	free(s->fitting);
	for (size_t i = 0; s->strays && i < s->options.span_count; i++)
		nw_strays_free(s->strays[i].seen);
	free(s->strays);
	nw_index_free(&s->names);
	free(s->joined);
	nw_distinct_free(&s->overflow_names);
	nw_open_free(&s->open);
	nw_calls_free(&s->calls);
	nw_calls_free(&s->frames);
	nw_task_states_free(s->task_states);
	nw_self_cost_free(s->self_cost);
	free(s);
}

uint64_t nw_summary_lost(const struct nw_summary *s)
{
	return s->lost;
}

bool nw_summary_lost_is_least(const struct nw_summary *s)
{
	return s->lost_is_least;
}

uint64_t nw_summary_discarded(const struct nw_summary *s)
{
	return s->discarded;
}
