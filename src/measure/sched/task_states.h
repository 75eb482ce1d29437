/* SPDX-License-Identifier: MIT */
/* The states of threads with open spans, by the scheduler's events; for the summary. */
#ifndef NOPWATCH_MEASURE_SCHED_TASK_STATES_H
#define NOPWATCH_MEASURE_SCHED_TASK_STATES_H

#include "nopwatch/threads.h"

struct nw_task_states;

/* selection and names stay the caller's, and must stay. A usage error if it does not have these events, with the arguments that tell. */
int nw_task_states_open(const struct nw_selection *selection,
			const struct nw_thread_names *names, struct nw_task_states **out,
			struct nw_error *err);
void nw_task_states_free(struct nw_task_states *states);
/* Is it one of the scheduler's events that are looked at? */
bool nw_task_states_uses(const struct nw_task_states *states, uint32_t probe);
/* Such a hit, of whatever thread. */
void nw_task_states_hit(struct nw_task_states *states, const struct nw_hit *hit);
/* Events are missing: what threads did meanwhile is not known. */
void nw_task_states_loss(struct nw_task_states *states);
/* nw_summary_named_threads(), nw_summary_thread_named(), nw_summary_same_names() */
void nw_task_states_named(struct nw_task_states *states, bool all);
void nw_task_states_recorded(struct nw_task_states *states, int32_t tid, uint64_t from);
void nw_task_states_same(struct nw_task_states *states, const struct nw_task_states *other);
/* Such a thread is born. */
void nw_task_states_born(struct nw_task_states *states, int32_t tid);
void nw_task_states_exit(struct nw_task_states *states, int32_t tid);
/* What becomes of a span. True: it has ended, and out says how it went. False: it has not, or that is not known. by_thread:
 * its key is its thread, which has no other. */
bool nw_task_states_span(struct nw_task_states *states, const struct nw_span_event *event,
			 bool by_thread, struct nw_span_states *out);
/*
 * A thread that serves several keys in turn (an event loop) sleeps and runs for all of them, so its states are those of a span only
 * if it began and ended none of another key in between. Returns the number of the thread's turn, which is that of the key.
 * nw_task_states_span() calls it for its events; what a filter hides takes turns, too.
 */
uint64_t nw_task_states_turn(struct nw_task_states *states, uint32_t span, uint64_t key,
			     const struct nw_hit *hit);

#endif
