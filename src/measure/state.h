/* SPDX-License-Identifier: MIT */
/* The data of a summary, shared by the source files that implement it. */
#ifndef NOPWATCH_MEASURE_STATE_H
#define NOPWATCH_MEASURE_STATE_H

#include "distinct.h"
#include "measure/sched/self_cost.h"
#include "measure/sched/task_states.h"
#include "measure/spans/calls.h"
#include "measure/spans/open.h"
#include "measure/strays.h"
#include "rows.h"

/* The effect of a probe's hits on one span. */
struct role {
	uint32_t span;
	bool is_end;
	enum nw_span_key key;
	int key_arg; /* number of the argument that is the key or the duration; -1: none */
	uint64_t unit_ns; /* of the duration that the hit hands over; 0: none */
	/* The key is the thread, no probe of the span is disabled, and its ends are not watched. was_plain: but for that. */
	bool plain, was_plain;
	bool limited; /* kernel return probes report the ends, which miss some calls */
	/* Kernel event whose key is an argument that holds a thread's number */
	bool thread;
	uint64_t until; /* time from which a probe of the span is disabled */
	/* Pairs by stack pointer or frame if the hit has one; NULL: by order. */
	struct nw_calls *calls;
	/* The other parts of a key of several. */
	struct role_part {
		enum nw_span_key key;
		int arg;
	} more[NW_MOST_KEY_PARTS - 1];
	unsigned int more_count;
};

/* How many ends of a framed span match a start in their frame. */
struct fitting {
	uint64_t matched, misfits;
};

/* Are the ends of a span watched for starts in other threads? */
struct stray_watch {
	struct nw_strays *seen; /* NULL: each end had its start so far */
	bool on;
};

struct probe_state {
	NW_VEC(struct role) roles;
};

struct group {
	struct nw_group_rows current, total;
	/* With bins: the rows of all bins of an interval. */
	struct nw_group_rows interval;
	bool has_total;
	bool touched; /* with bins: its current rows may not be empty */
	bool partial; /* it has several keys, and the value of one of them is unknown */
};

/* The group of spans that begin with a hit of group `start` and end with a hit of group `end`. */
struct joined_groups {
	int64_t start, end, group; /* the group's number + 1; 0: the entry is free */
};

enum {
	JOINED_GROUPS = 256
};

struct nw_summary {
	struct nw_summary_options options;
	struct probe_state *probe;
	size_t probes;
	struct nw_row_shape shape;
	NW_VEC(struct group) groups;
	struct nw_index names; /* names of the groups */
	/* Cache by a hash of start and end; NULL: not allocated */
	struct joined_groups *joined;
	struct nw_distinct overflow_names; /* names of the groups beyond NW_MOST_GROUPS */
	bool *broken;			   /* by span: one of its probes was disabled */
	struct nw_open open;
	struct nw_calls calls, frames;
	struct fitting *fitting;		/* by span */
	struct stray_watch *strays;		/* by span */
	bool (*wanted)(void *arg, int32_t tid); /* NULL: all threads are wanted */
	void *wanted_arg;
	uint64_t loss_until; /* the ends of starts before this may be lost */
	/* The same for gaps, but at least 1, because 0 as the time of the last hit means "none" */
	uint64_t gap_least;
	uint64_t crowded_out; /* starts that were given up since too many spans were open */
	uint64_t lost;
	bool lost_is_least;
	uint64_t discarded;
	NW_VEC(uint32_t) touched; /* with bins: the groups whose `touched` is set */
	/* By span: the listener wants only spans that take longer; NULL: all spans. */
	const uint64_t *least;
	bool begin_emitted; /* the listener was called with BEGINS and waits for the end */
	bool goroutines;    /* some spans are of Go functions */
	bool has_intervals; /* an interval has ended */
	bool finished;
	struct nw_task_states *task_states; /* NULL: not requested */
	struct nw_self_cost *self_cost;	    /* NULL: not requested */
	const struct nw_hit_cost *cost;	    /* by probe; NULL: unknown */
	/* Spans that ended one after the other and had the same probe overhead. Their count is added to the histogram at the end
	 * of the hits that are taken together. */
	struct {
		struct nw_histogram *to; /* costs of a row */
		uint64_t cost;
		uint32_t times;
	} equal_costs;
	bool net; /* latencies are without probe overhead */
	/* Cost of all hits of the current hit's thread up to its timestamp */
	uint64_t spent;
	uint64_t goroutine_spent; /* the same of its goroutine */
	bool plain;		  /* only counts and latencies are requested */
	/* There was no memory for a row. The spare rows take its counts. */
	bool failed;
	struct nw_probe_row spare_probe;
	struct nw_span_row spare_span;
};

/* The measurement of a span that the current hit ends. */
struct nw_measured {
	uint64_t latency, cost;
	bool clamped;
};

/* Returns what the two hits of a span alone cost inside of it. */
static inline uint64_t nw_summary_pair_cost(const struct nw_summary *s, uint32_t start,
					    uint32_t end)
{
	return (uint64_t)s->cost[start].after + s->cost[end].before;
}

/* With --net, takes the probe overhead off the latency. */
static nw_inlined void nw_summary_take_off(const struct nw_summary *s,
					   struct nw_measured *m)
{
	if (nw_likely(!s->net))
		return;
	m->clamped = m->cost > m->latency;
	m->latency -= m->clamped ? m->latency : m->cost;
}

/* tid: the hit's thread, nw_hit_thread(). */
static nw_inlined struct nw_measured nw_summary_measure(const struct nw_summary *s,
							const struct nw_start *start,
							const struct nw_hit *hit,
							int32_t tid)
{
	struct nw_measured m = {.latency = hit->time - start->time};

	if (nw_likely(!s->self_cost) || start->whose == NW_START_HANDED)
		return m;
	/* In a span that has crossed threads, only the hits that begin and end it are known to be inside. */
	if (nw_likely(start->whose == tid && s->spent > start->spent))
		m.cost = s->spent - start->spent;
	else if (start->whose == NW_START_GOROUTINE && s->goroutine_spent > start->spent)
		m.cost = s->goroutine_spent - start->spent;
	else
		m.cost = nw_summary_pair_cost(s, start->probe, hit->probe);
	nw_summary_take_off(s, &m);
	return m;
}

/* Returns the key of a call in events of spans. Where the clock is coarse, nested calls of one function may begin at the
 * same time, so their stack pointers tell them apart. A pair inside a function may be paired by its thread later, so its
 * key is the thread alone. */
static inline uint64_t nw_call_key(const struct nw_summary *s, uint64_t owner,
				   const struct nw_call *call)
{
	return s->options.spans[call->span].call ? nw_hash64(owner) + call->stack : owner;
}

/* Passes an event of a span that a hit begins or ends to the listener (span_events.c). start: the start of the span;
 * NULL: the event is a start, or an end without one. group: the group of the span. */
void nw_span_emit_hit(struct nw_summary *s, enum nw_span_moment moment, uint32_t span,
		      uint64_t key, const struct nw_start *start, const struct nw_hit *hit,
		      int64_t group);
/* Passes the event of a start that is not measured to the listener. */
void nw_span_emit_gone(struct nw_summary *s, uint32_t span, uint64_t key,
		       const struct nw_start *start, const char *why);
/* Does each span make an event? */
static inline bool nw_summary_emits(const struct nw_summary *s)
{
	return s->options.listener || s->task_states;
}
/* Do only slow spans make events? */
static inline bool nw_summary_emits_slow(const struct nw_summary *s)
{
	return s->least && !s->begin_emitted && !s->task_states;
}

/* Gives up all starts of a key, each counted in its own row. ended: it is certain that their ends never come;
 * otherwise they are only unknown. */
void nw_summary_abandon(struct nw_summary *s, uint32_t span, struct nw_open_slot *slot,
			bool ended);
/* Counts a call that is not measured (nw_call_over()). */
void nw_summary_call_over(void *summary, uint64_t owner, const struct nw_call *call,
			  enum nw_call_fate fate);
/* Returns the group of a span whose start and end have these groups: each key is the start's, or the end's if the
 * start's is unknown. -1: both are unknown; -ENOMEM. */
int64_t nw_summary_span_group(struct nw_summary *s, int64_t start, int64_t end);
/* Adds a group, whose number is the last one. Returns -ENOMEM on failure. */
int nw_summary_add_group(struct nw_summary *s);
/* Computes the key as 64 bits. A string is hashed, so that no text is kept. Returns false if the hit has no key. */
bool nw_role_key(const struct role *role, const struct nw_hit *hit, int32_t pid,
		 uint64_t *key);
/* Takes a hit that hands over the duration of a span. */
void nw_role_hand_over(struct nw_summary *s, const struct role *role,
		       const struct nw_hit *hit, int64_t group, struct nw_span_row *row);
/* An end has no start in its thread: from now on the hits of its span are watched. */
void nw_role_watch_strays(struct nw_summary *s, uint32_t span);
/* Shows a hit of a watched span to the watch, until that has seen enough. */
void nw_role_show_strays(struct nw_summary *s, const struct role *role,
			 const struct nw_hit *hit, uint64_t key);
/* Makes the roles of all probes from the spans of the options. */
int nw_summary_add_roles(struct nw_summary *s, struct nw_error *err);

/* Ends a bin: calls `take` for each row that is not empty, and then adds these rows to the interval and the total. If
 * `take` does not return 0, returns its result, and adds nothing. Returns -ENOMEM on failure. */
int nw_summary_next_bin(struct nw_summary *summary,
			int (*take)(void *arg, size_t group,
				    const struct nw_group_row *row),
			void *arg);

#endif
