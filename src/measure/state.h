/* SPDX-License-Identifier: MIT */
/* The data of a summary; for its own files only. */
#ifndef NOPWATCH_MEASURE_STATE_H
#define NOPWATCH_MEASURE_STATE_H

#include "distinct.h"
#include "measure/sched/self_cost.h"
#include "measure/sched/task_states.h"
#include "measure/spans/calls.h"
#include "measure/spans/open.h"
#include "rows.h"

/* What a probe means to one span. */
struct role {
	uint32_t span;
	bool is_end;
	enum nw_span_key key;
	int key_arg;  /* number of the argument that is the key, -1: none */
	bool plain;   /* by thread, and not until some time */
	bool limited; /* the ends are told by return probes */
	bool thread; /* of the kernel's event: the key is an argument with a thread's number */
	uint64_t until;		/* from then on a probe of the span is disabled */
	struct nw_calls *calls; /* by stack pointer or frame, where the hit has one; NULL */
};

/* How well a framed span's ends fit its starts. */
struct fitting {
	uint64_t matched, misfits;
};

struct probe_state {
	NW_VEC(struct role) roles;
};

struct group {
	struct nw_group_rows current, total;
	struct nw_group_rows
		interval; /* bins: what is current in all bins of an interval */
	bool has_total;
	bool touched; /* bins: something may be in its current rows */
	bool partial; /* it has several keys, and the value of one of them is not known */
};

/* The group of spans that begin with a hit of the one and end with a hit of the other. */
struct joined_groups {
	int64_t start, end, group; /* the group's number + 1; 0: nothing is kept here */
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
	struct nw_index names;	      /* of groups */
	struct joined_groups *joined; /* the latest ones by a hash; NULL: there are none */
	struct nw_distinct overflow_names; /* the names of those beyond NW_MOST_GROUPS */
	bool *broken;			   /* by span: one of its probes was disabled */
	struct nw_open open;
	struct nw_calls calls, frames;
	struct fitting *fitting;		/* by span */
	bool (*wanted)(void *arg, int32_t tid); /* NULL: all are */
	void *wanted_arg;
	uint64_t loss_until; /* starts before this may have ended unseen */
	uint64_t gap_least; /* the same of gaps, and more than 0, which stands for "none" */
	uint64_t lost;
	bool lost_is_least;
	uint64_t discarded;
	NW_VEC(uint32_t) touched; /* bins: the groups that are */
	const uint64_t *
		least; /* by span: the listener wants to know of longer ones; NULL: of all */
	bool begin_emitted; /* it was called for a start, and waits for what becomes of it */
	bool goroutines;    /* some spans are of these */
	bool has_intervals; /* there have been intervals */
	bool finished;
	struct nw_task_states *task_states; /* NULL: nobody asks */
	struct nw_self_cost *self_cost;	    /* NULL: nobody asks */
	const struct nw_hit_cost *cost;	    /* by probe; NULL: nobody asks */
	bool net;			    /* latencies are without it */
	uint64_t spent; /* by the thread of the current hit, up to its timestamp */
	uint64_t goroutine_spent; /* and by its goroutine */
	bool plain;		  /* counts and latencies are all that is asked of hits */
	bool failed; /* there was no memory for a row; these took what it was to count: */
	struct nw_probe_row spare_probe;
	struct nw_span_row spare_span;
};

/* A span that the current hit ends. */
struct nw_measured {
	uint64_t latency, cost;
	bool clamped;
};

static nw_inlined struct nw_measured nw_summary_measure(const struct nw_summary *s,
							const struct nw_start *start,
							const struct nw_hit *hit)
{
	struct nw_measured m = {.latency = hit->time - start->time};

	if (nw_likely(!s->self_cost))
		return m;
	const bool of_goroutine = start->whose == NW_START_GOROUTINE;
	const uint64_t spent = of_goroutine ? s->goroutine_spent : s->spent;
	/* of a span that has crossed threads only its own hits are known to be inside */
	if ((of_goroutine || start->whose == nw_hit_thread(hit)) && spent > start->spent)
		m.cost = spent - start->spent;
	else
		m.cost = (uint64_t)start->after + s->cost[hit->probe].before;
	if (s->net) {
		m.clamped = m.cost > m.latency;
		m.latency -= m.clamped ? m.latency : m.cost;
	}
	return m;
}

/* Events for the listener (span_events.c). What a hit does to a span; start: it began then, as a hit of that
 * group; NULL: it begins, or never did. */
void nw_span_emit_hit(struct nw_summary *s, enum nw_span_moment moment, uint32_t span,
		      uint64_t key, const struct nw_start *start, const struct nw_hit *hit,
		      int64_t group);
/* A start that is not measured after all. */
void nw_span_emit_gone(struct nw_summary *s, uint32_t span, uint64_t key,
		       const struct nw_start *start, const char *why);
/* Is there somebody for whom each span makes an event? */
static inline bool nw_summary_emits(const struct nw_summary *s)
{
	return s->options.listener || s->task_states;
}
/* ... or only those that are slow? */
static inline bool nw_summary_emits_slow(const struct nw_summary *s)
{
	return s->least && !s->begin_emitted && !s->task_states;
}

/* All starts of a key that can have no end any more, each counted where it belongs. ended: it is known that
 * their ends never came, and not only that they have not. */
void nw_summary_abandon(struct nw_summary *s, uint32_t span, struct nw_open_slot *slot,
			bool ended);
/* A call will not be measured: nw_call_over(). */
void nw_summary_call_over(void *summary, uint64_t owner, const struct nw_call *call,
			  enum nw_call_fate fate);
/* The group of a span whose start's and end's hits name these: each key from the start, or, where that cannot say,
 * from the end. -1: neither says anything; -ENOMEM. */
int64_t nw_summary_span_group(struct nw_summary *s, int64_t start, int64_t end);
/* A group more, whose number is the last. -ENOMEM. */
int nw_summary_add_group(struct nw_summary *s);
/* What each probe means to the spans of the options. */
int nw_summary_add_roles(struct nw_summary *s, struct nw_error *err);

/* End of a piece of time that somebody looks at row by row: those in which something has happened since the
 * last call are told, and added to the others. 0, or what `take` returned, and then nothing is added; -ENOMEM. */
int nw_summary_next_bin(struct nw_summary *summary,
			int (*take)(void *arg, size_t group,
				    const struct nw_group_row *row),
			void *arg);

#endif
