// SPDX-License-Identifier: MIT
/* Passes events of spans to the listener, and to the counts of thread states and probe overhead. */
#include <stdlib.h>
#include <string.h>

#include "measure/sched/sleeps.h"
#include "state.h"

/* Returns the row of a group. group -1: its hits do not tell the group. NULL: no memory. */
static struct nw_span_row *row_of(struct nw_summary *s, int64_t group, uint32_t span)
{
	if (!s->options.grouped)
		group = 0;
	else if (group < 0)
		group = nw_summary_group(s, "?", 1);
	return group < 0 ? NULL : nw_rows_add_span(&s->groups.item[group].current, span);
}

/* Adds the times in each state to the row; a span may have none. */
static void add_states(struct nw_summary *s, const struct nw_span_event *event)
{
	struct nw_span_row *row = row_of(s, event->group, event->span);

	if (row && event->states && !row->states)
		row->states = calloc(NW_TASK_STATES, sizeof(*row->states));
	s->failed |= !row || (event->states && !row->states);
	if (s->failed)
		return;
	row->unsplit += !event->states;
	for (size_t i = 0; event->states && i < NW_TASK_STATES; i++)
		nw_histogram_add(&row->states[i], event->states->ns[i]);
	if (event->states)
		s->failed |= !nw_sleeps_merge(&row->wakers, &event->states->wakers) ||
			     !nw_sleeps_merge(&row->channels, &event->states->channels);
}

/* Takes the probe overhead from `running` first, so that the states still add up to the latency. */
static void take_cost(struct nw_span_states *states, uint64_t cost)
{
	for (size_t i = 0; cost && i < NW_TASK_STATES; i++) {
		uint64_t taken = nw_min64(cost, states->ns[i]);
		states->ns[i] -= taken;
		cost -= taken;
	}
}

static void emit(struct nw_summary *s, const struct nw_span_event *happened)
{
	struct nw_span_event event = *happened;
	struct nw_span_states states;

	/* It is unknown when the goroutine of a Go call had a thread. */
	const struct nw_span_def *def = &s->options.spans[event.span];
	if (s->task_states && !def->goroutines &&
	    nw_task_states_span(s->task_states, &event, def->key == NW_KEY_TID, &states))
		event.states = &states;
	if (event.states && s->net)
		take_cost(&states, event.cost);
	if (s->task_states && event.moment == NW_SPAN_ENDS)
		add_states(s, &event);
	s->begin_emitted |= event.moment == NW_SPAN_BEGINS;
	if (s->options.listener)
		s->options.listener(s->options.listener_arg, &event);
}

void nw_span_emit_hit(struct nw_summary *s, enum nw_span_moment moment, uint32_t span,
		      uint64_t key, const struct nw_start *start, const struct nw_hit *hit,
		      int64_t group)
{
	bool nothing = moment == NW_SPAN_ENDS_NOTHING;
	struct nw_measured measured = {0};

	if (start && moment == NW_SPAN_ENDS)
		measured = nw_summary_measure(s, start, hit, nw_hit_thread(hit));

	emit(s,
	     &(struct nw_span_event){
		     .moment = moment,
		     .span = span,
		     .key = key,
		     .start = start	? start->time
			      : nothing ? 0
					: hit->time,
		     .group = start ? nw_summary_span_group(s, start->group, group) : group,
		     .cpu = start     ? start->cpu
			    : nothing ? 0
				      : hit->cpu,
		     .hit = hit,
		     .latency = measured.latency,
		     .cost = measured.cost,
		     .why = nothing ? "unmatched" : NULL,
	     });
}

void nw_span_emit_gone(struct nw_summary *s, uint32_t span, uint64_t key,
		       const struct nw_start *start, const char *why)
{
	bool open = s->finished && strcmp(why, "unmatched") == 0;

	if (start->group != NW_HIDDEN)
		emit(s, &(struct nw_span_event){
				.moment = open ? NW_SPAN_STILL_OPEN : NW_SPAN_NEVER_ENDS,
				.span = span,
				.key = key,
				.start = start->time,
				.group = start->group,
				.cpu = start->cpu,
				.why = why,
			});
}

bool nw_summary_is_open(const void *arg, uint32_t span, const struct nw_open_span *open)
{
	const struct nw_summary *s = arg;
	const struct nw_hit *began = open->began;
	const struct nw_calls *calls = NULL;
	struct nw_stack_owner owner;

	nw_vec_each (&s->probe[began->probe].roles, role)
		if (role->span == span && !role->is_end && began->stack)
			calls = role->calls;
	if (!calls) /* the listener was told of each other start that is gone */
		return true;
	nw_stack_owner_of(began, open->task->pid, &owner);
	return nw_calls_has(calls, &owner, span, nw_stack_of(began), began->time);
}

bool nw_summary_end_may_be_lost(const struct nw_summary *s, uint32_t span,
				const struct nw_open_span *open)
{
	return open->began->time < s->loss_until || s->broken[span];
}

bool nw_summary_states_so_far(const struct nw_summary *s, uint32_t span,
			      const struct nw_open_span *open, uint64_t now,
			      struct nw_span_states *out)
{
	const struct nw_span_def *def = &s->options.spans[span];

	return s->task_states && def->key == NW_KEY_TID && !def->goroutines &&
	       nw_task_states_so_far(s->task_states, span, open->key, open->began->time,
				     now, out);
}
