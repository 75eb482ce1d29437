/* SPDX-License-Identifier: MIT */
/*
 * measure: hits become numbers. Pure: no files, no clock of its own; times are those of the
 * hits, in nanoseconds.
 */
#ifndef NOPWATCH_SUMMARY_H
#define NOPWATCH_SUMMARY_H

#include "nopwatch/filter.h"
#include "nopwatch/spans.h"
#include "nopwatch/threads.h"

/* ---- histogram ---------------------------------------------------------------------- */

/*
 * Log-linear: 32 buckets per power of two, so a bucket is at most 3.1 % wide; values below 32
 * have one each. Covers all of u64 (and, for signed values, their negatives), in blocks of one
 * power of two, of which only the range between the smallest and the largest value is kept.
 * Count, sum, min and max are exact. Merging is adding. Zero-initialised is empty and valid.
 */
enum {
	NW_BUCKETS = 32,
	NW_BLOCKS = 60
};

struct nw_blocks {
	uint64_t *count;	  /* of the buckets first .. first + used - 1 */
	unsigned int first, used; /* multiples of NW_BUCKETS */
};

struct nw_histogram {
	uint64_t count;
	uint64_t min, max; /* as int64_t if is_signed; only with count > 0 */
	uint64_t sum;	   /* wraps never: stops at its largest value */
	/* A value that is less than this above min is counted and added up, and nothing else has to be seen to: it is
	 * not above max, and has a bucket. 0: every value has to be looked at (there are none yet, some are signed, ...). */
	uint64_t usual;
	/* The sum of the values' squares, exactly; unless some values, or the sum, are too
	 * large for that: then the moments are rough. */
	uint64_t squares, squares_high;
	bool rough;
	bool is_signed; /* has seen nw_histogram_add_signed(); then unsigned values
			       beyond INT64_MAX count as that */
	bool failed;	/* out of memory: some values are in count but in no bucket */
	double origin;	/* about the mean; the next two are relative to it, which keeps a */
	double shifted_sum; /* small deviation of large values nearly exact */
	double shifted_squares;
	struct nw_blocks values;
	struct nw_blocks negatives; /* magnitudes */
};

void nw_histogram_add(struct nw_histogram *h, uint64_t value);
void nw_histogram_merge(struct nw_histogram *into, const struct nw_histogram *from);
void nw_histogram_clear(struct nw_histogram *h); /* keeps its memory */
void nw_histogram_free(struct nw_histogram *h);
double nw_histogram_mean(const struct nw_histogram *h);
double nw_histogram_stddev(const struct nw_histogram *h); /* of the population */
/*
 * The value at rank ceil(p * count), 0 < p <= 1, as int64_t if is_signed: the middle of the bucket that holds this rank,
 * cut to [min, max]. At most half a bucket (1.6 %) too low or too high; the first rank is min and the last is max.
 */
uint64_t nw_histogram_percentile(const struct nw_histogram *h, double p);
/* The largest value that can be at that rank: no value of its bucket is larger. */
uint64_t nw_histogram_percentile_most(const struct nw_histogram *h, double p);

struct nw_bucket {
	uint64_t low, high; /* both inclusive; as int64_t if is_signed */
	uint64_t count;
};
/* Walk the buckets that are not empty, from the smallest value: *at starts at 0. */
bool nw_histogram_next(const struct nw_histogram *h, unsigned int *at,
		       struct nw_bucket *out);

/* ---- the summary -------------------------------------------------------------------- */

/* What there are rows of. */
enum nw_subject {
	NW_SUBJECT_PROBES,
	NW_SUBJECT_SPANS,
	NW_SUBJECTS
};

struct nw_probe_row {
	uint64_t hits;
	struct nw_histogram gap; /* between successive hits, whatever thread */
	struct nw_histogram
		*args; /* as many as the probe has arguments; NULL: not wanted */
	uint64_t
		last; /* time of the latest hit, 0: none that counts; only current rows have it */
};

struct nw_span_row {
	struct nw_histogram latency;
	uint64_t unmatched_starts, unmatched_ends;
	uint64_t discarded; /* may have straddled a loss */
	uint64_t
		abandoned; /* calls that never returned, framed and flat spans whose end never came */
	/* Measured by order, with others of the same key inside: so it is where they nest, but also where
	 * an end without a start of its own took a start whose end never came. */
	uint64_t nested;
	/* NW_TASK_STATES of them: how long spans were in each state; NULL: none, or nobody asks */
	struct nw_histogram *states;
	struct nw_sleeps *wakers, *channels; /* of those that slept; NULL: none */
	struct nw_histogram
		*cost; /* what the probes have added to spans; NULL: none, or nobody asks */
	uint64_t clamped; /* net, and measured as 0: the probes cost more than they took */
	uint64_t unsplit; /* measured, but what its thread did is not known */
	uint64_t
		omitted; /* calls whose return the kernel did not tell: beyond 64 nested ones */
	uint64_t repeated; /* calls of Go's that began once more, as they do when a stack is
			      moved: so many hits of the entry are more than there were calls */
};

/* How a number lies in its row. Counts are merged by adding them, the others as their types are. */
enum nw_number_kind {
	NW_NUMBER_COUNT, /* uint64_t */
	NW_NUMBER_TIMES, /* struct nw_histogram: the times that the row is about */
	NW_NUMBER_COST,	 /* struct nw_histogram *: one; NULL: none. Metrics have its sum. */
	NW_NUMBER_STATES,   /* the same: one for each state of a thread */
	NW_NUMBER_ARGS,	    /* the same: one for each argument */
	NW_NUMBER_SLEPT_IN, /* struct nw_sleeps *; NULL: none */
	NW_NUMBER_WOKEN_BY
};

enum nw_number_is {
	NW_NUMBER_EVENTS =
		1, /* a row in which it is 0, as are all others of these, has nothing to say */
	NW_NUMBER_UNMEASURED = 2, /* spans that are in no distribution */
	NW_NUMBER_EARLY = 4, /* its column of CSV stands before the argument and the time */
	NW_NUMBER_NET = 8,   /* there with --net only */
	NW_NUMBER_SPLIT = 16,	/* there in rows that --states has split only */
	NW_NUMBER_LATENCY = 32, /* its times are net with --net */
	NW_NUMBER_STATEMENTS =
		128, /* of PostgreSQL's query: statements that failed; the text is only for these */
	NW_NUMBER_FIRST = 64 /* what nw_row_count() has, which formats say first */
};

/* A number that rows have: all that formats, merging and clearing know of it. */
struct nw_number {
	const char *key; /* in JSON and in the page (docs/json.md) */
	const char *
		csv; /* the column of a count, the type of a distribution's own line; NULL: none */
	const char *metric, *help; /* in OpenMetrics; NULL: it is not there */
	const char *
		text; /* below the table of spans, behind the span's name and a count; NULL: no line */
	enum nw_number_kind kind;
	unsigned int is; /* enum nw_number_is */
	size_t at;	 /* its offset in the row */
};

/* Those of a probe's rows and of a span's, in the order of JSON's keys. */
extern const struct nw_numbers {
	const struct nw_number *item;
	size_t count;
} nw_numbers[NW_SUBJECTS];

#define nw_number_each(subject, number)                                 \
	for (const struct nw_number *number = nw_numbers[subject].item; \
	     number < nw_numbers[subject].item + nw_numbers[subject].count; number++)

/* A number of a row, which is a struct nw_probe_row or nw_span_row; of its kind, of course. */
uint64_t nw_number_count(const struct nw_number *number, const void *row);
/* The first of its distributions; NULL: there are none. */
struct nw_histogram *nw_number_times(const struct nw_number *number, const void *row);
/* How many there are; args: how many arguments a probe's rows have. */
size_t nw_number_parts(const struct nw_number *number, size_t args);
struct nw_sleeps *nw_number_sleeps(const struct nw_number *number, const void *row);
/* Is it told of a row? net: latencies are without what the probes have cost. */
bool nw_number_applies(const struct nw_number *number, const void *row, bool net);

/* The hits of a probe, the measured spans of a span; and what is measured: gaps, latencies. */
uint64_t nw_row_count(enum nw_subject subject, const void *row);
struct nw_histogram *nw_row_times(enum nw_subject subject, const void *row);
/* Has anything begun or ended, was it hit? */
bool nw_row_has(enum nw_subject subject, const void *row);
/* The sum of its counts that are all of this (enum nw_number_is). */
uint64_t nw_row_sum(enum nw_subject subject, const void *row, unsigned int is);
/* args: how many distributions of arguments a probe's rows have. Without memory the sum's times have failed. */
void nw_row_merge(enum nw_subject subject, void *into, const void *from, size_t args);
void nw_row_free(enum nw_subject subject, void *row, size_t args); /* what it points to */

/* Results of one group; group 0 is everything when nothing is grouped. They cost memory for the
 * probes and spans that the group has, not for all that there are. */
struct nw_group_rows;

/* By number; an empty row where the group has none. Until the next hit or nw_summary_next_interval(). */
const struct nw_probe_row *nw_group_probe(const struct nw_group_rows *rows, size_t probe);
const struct nw_span_row *nw_group_span(const struct nw_group_rows *rows, size_t span);

struct nw_group_row {
	enum nw_subject subject;
	uint32_t number; /* of the probe or span */
	union {
		const void *row;
		const struct nw_probe_row *probe;
		const struct nw_span_row *span;
	};
};
/* Walk the rows that are kept, in no order: *at starts at 0. */
bool nw_group_next(const struct nw_group_rows *rows, size_t *at, struct nw_group_row *out);

struct nw_summary;

enum nw_counted_args {
	NW_ARGS_NONE,
	NW_ARGS_NAMED, /* of probes whose arguments a spec has named */
	NW_ARGS_ALL
};

struct nw_summary_options {
	const struct nw_selection *selection;
	const struct nw_span_def *spans;
	size_t span_count;
	enum nw_counted_args
		args;	    /* whose distributions are kept, of those that hits carry */
	bool grouped;	    /* hits name their group; else all are in group 0 */
	size_t most_groups; /* that have rows of their own, 0: NW_MOST_GROUPS */
	bool states; /* what threads do in spans: the scheduler's events are among the probes */
	struct nw_thread_names names;
	/* Is told of each span, but not of those that a filter has taken a part of. NULL: nobody. */
	nw_span_listener *listener;
	void *listener_arg;
	bool lazy; /* it is not told of BEGINS by hits without values, of spans by thread: what ends
		      them says all there is */
	bool bins; /* nw_summary_next_bin() is called, and rows are those up to its last call */
	bool intervals;	  /* bins: rows of intervals are wanted, too, not only the total */
	size_t most_open; /* open spans at most, 0: a default; then the outermost one of the
			     key is given up, or the new one if it is the first */
};

int nw_summary_open(const struct nw_summary_options *options, struct nw_summary **out,
		    struct nw_error *err);
void nw_summary_free(struct nw_summary *summary);
/* Has a row or a bucket of it no memory, so that its numbers are wrong? */
bool nw_summary_failed(const struct nw_summary *summary);
/* Hits have stack pointers and frames (nw_plan_has_stacks()): calls and framed spans are paired by
 * them. Before the first hit. */
void nw_summary_use_stacks(struct nw_summary *summary);
/* What a hit costs, by probe, is known, so that what the probes add to spans can be told; net: and taken off their
 * latencies, and of how they are split of what was `running` first. Before the first hit; cost stays the
 * caller's, and must stay. -ENOMEM. */
int nw_summary_use_cost(struct nw_summary *summary, const struct nw_hit_cost *cost,
			bool net);

/*
 * The listener that is lazy wants to know only of spans that take longer than this, one value a span of
 * the options; it may change them any time. As long as no BEGINS has been told: then it needs all ends.
 */
void nw_summary_emit_above(struct nw_summary *summary, const uint64_t *least);

/* Between the parts of the name of a group that has several keys (ASCII's unit separator). */
enum {
	NW_GROUP_SEPARATOR = '\x1f'
};

/* So many groups get rows of their own, since --by a request's id must not fill our memory; what
 * is beyond them shares the group nw_group_overflow. */
enum {
	NW_MOST_OVERFLOW_GROUPS = 1 << 20, /* see nw_summary_overflow_groups() */
	NW_MOST_GROUPS = 16384
};
extern const char nw_group_overflow[];

/* The number of a group, made if it is new; -ENOMEM. */
int64_t nw_summary_group(struct nw_summary *summary, const char *name, size_t len);
/* Take a hit that a filter has taken out: it is in no row, but still ends the span that it ends
 * and begins the one that it begins, and these are neither measured nor unmatched. */
int nw_summary_filtered(struct nw_summary *summary, const struct nw_hit *hit, int32_t pid);
/*
 * Only some threads are wanted. Spans of the kernel's events whose key is an argument that holds a
 * thread's number are then of those threads, whoever runs: sched_switch is a hit of the thread that
 * goes, and may end the span of the one that comes. Take such a hit of another thread: it is in no
 * row of its probe.
 */
void nw_summary_only(struct nw_summary *summary, bool (*wanted)(void *arg, int32_t tid),
		     void *arg);
int nw_summary_stranger(struct nw_summary *summary, const struct nw_hit *hit);
/* Take a hit of the scheduler that is in no row: it only says what threads do. */
void nw_summary_scheduled(struct nw_summary *summary, const struct nw_hit *hit);
/* Take a hit. pid: its process, for spans keyed by it. group: -1 if the hit cannot say. */
int nw_summary_hit(struct nw_summary *summary, const struct nw_hit *hit, int32_t pid,
		   int64_t group);
/* Take many, when nothing is grouped and no span is keyed by process. */
int nw_summary_hits(struct nw_summary *summary, const struct nw_hit *hits, size_t count);
/* Events before until are missing: nothing that began before it may be measured. */
/* events 0: nobody knows how many, one at least. */
void nw_summary_loss(struct nw_summary *summary, uint64_t until, uint64_t events);
/* Another summary of the same run has seen these losses: they count here, too, and nothing that began before `until` may be
 * measured. */
void nw_summary_inherit_losses(struct nw_summary *summary, const struct nw_summary *from,
			       uint64_t until);
/* A thread is gone: its open spans will never end. */
void nw_summary_exit(struct nw_summary *summary, int32_t tid);
/* The only thread of a process begins another program, which ends nothing that the code of the one before has begun. tid: the
 * process's number, and the thread's from now on; old_tid: which it had. */
void nw_summary_exec(struct nw_summary *summary, int32_t tid, int32_t old_tid);
/*
 * The scheduler's events are those of threads that the kernel was told of. Nothing is known of a thread that is born from now on
 * (nw_summary_born()), or, if `all`, of any, before nw_summary_thread_named() says from when on it is, or its first
 * sched_wakeup, or switch from or to the idle thread. Spans that begin before it are not split. Before the first hit.
 */
void nw_summary_named_threads(struct nw_summary *summary, bool all);
void nw_summary_born(struct nw_summary *summary, int32_t tid);
/* tid 0: everybody; from UINT64_MAX: not any more. In the order of hits: it is said of who has the number now. */
void nw_summary_thread_named(struct nw_summary *summary, int32_t tid, uint64_t from);
/* As much is known of threads as another summary of the same run knows. */
void nw_summary_same_names(struct nw_summary *summary, const struct nw_summary *other);
/* A probe was disabled at this time: what it starts or ends cannot be paired any more. Spans that
 * are open then are discarded, and later hits of their probes begin and end none of them. */
void nw_summary_disabled(struct nw_summary *summary, uint32_t probe, uint64_t at);
/* Ends the summary, behind its last hit: open spans become unmatched starts. They are among the current rows, to which nothing may be added
 * any more. nw_summary_finish() does the same, if it was not done, and adds up what intervals have. */
void nw_summary_give_up(struct nw_summary *summary);
void nw_summary_finish(struct nw_summary *summary);

/* The rows since the last nw_summary_next_interval(), or in total. */
size_t nw_summary_groups(const struct nw_summary *summary);
/* How many groups share nw_group_overflow; NW_MOST_OVERFLOW_GROUPS: so many, or more. */
size_t nw_summary_overflow_groups(const struct nw_summary *summary);
const char *nw_summary_group_name(const struct nw_summary *summary, size_t group);
const struct nw_group_rows *nw_summary_rows(const struct nw_summary *summary, size_t group,
					    bool total);
/* End of an interval: what is current is added to the total and starts again from 0. */
int nw_summary_next_interval(struct nw_summary *summary);
/* How often a probe was hit in all that is known, where nothing is grouped. */
uint64_t nw_summary_probe_hits(const struct nw_summary *summary, size_t probe);
uint64_t nw_summary_lost(const struct nw_summary *summary);
/* Were there more, since somebody did not know how many were lost? */
bool nw_summary_lost_is_least(const struct nw_summary *summary);
uint64_t nw_summary_discarded(const struct nw_summary *summary);

#endif
