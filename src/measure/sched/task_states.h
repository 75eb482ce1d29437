/* SPDX-License-Identifier: MIT */
/* The states of threads with open spans, computed from the scheduler's events, for the summary. */
#ifndef NOPWATCH_MEASURE_SCHED_TASK_STATES_H
#define NOPWATCH_MEASURE_SCHED_TASK_STATES_H

#include "measure/sched/threads.h"

struct nw_task_states;

/* `selection` and `names` stay the caller's and must outlive the object. It is a usage error if the selection does
 * not have these events with the needed arguments. */
int nw_task_states_open(const struct nw_selection *selection,
			const struct nw_thread_names *names, struct nw_task_states **out,
			struct nw_error *err);
void nw_task_states_free(struct nw_task_states *states);
/* Is the probe one of the scheduler's events that are used? */
bool nw_task_states_uses(const struct nw_task_states *states, uint32_t probe);
/* Takes a hit of such an event, of any thread. */
void nw_task_states_hit(struct nw_task_states *states, const struct nw_hit *hit);
/* Tells that events are lost, so that the states of threads are unknown. */
void nw_task_states_loss(struct nw_task_states *states);
/* Implement nw_summary_named_threads(), nw_summary_thread_named() and nw_summary_copy_thread_table(). */
void nw_task_states_named(struct nw_task_states *states, bool all);
void nw_task_states_recorded(struct nw_task_states *states, int32_t tid, uint64_t from);
void nw_task_states_same(struct nw_task_states *states, const struct nw_task_states *other);
/* Tells that a thread is born. */
void nw_task_states_born(struct nw_task_states *states, int32_t tid);
void nw_task_states_exit(struct nw_task_states *states, int32_t tid);
/* Takes an event of a span. Returns true if the span has ended and its states are in *out; false if it is open or its
 * states are unknown. by_thread: the span is keyed by thread. */
bool nw_task_states_span(struct nw_task_states *states, const struct nw_span_event *event,
			 bool by_thread, struct nw_span_states *out);
/* Finds the states of a span up to now that is open and keyed by thread. Returns false if they are unknown. */
bool nw_task_states_so_far(const struct nw_task_states *states, uint32_t span, uint64_t key,
			   uint64_t start, uint64_t now, struct nw_span_states *out);
/*
 * A thread that serves several keys in turn (an event loop) sleeps and runs for all of them. So its states are those
 * of a span only if it has begun and ended no span of another key in between. Returns the number of the thread's
 * turn, which changes with the key. nw_task_states_span() calls it for its events; hits that a filter drops take
 * turns, too.
 */
uint64_t nw_task_states_turn(struct nw_task_states *states, uint32_t span, uint64_t key,
			     const struct nw_hit *hit);

#endif
