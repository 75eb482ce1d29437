/* SPDX-License-Identifier: MIT */
/*
 * measure: hits become numbers. Pure: it opens no files and has no clock of its own. All times are those of the hits,
 * in nanoseconds.
 */
#ifndef NOPWATCH_MEASURE_SUMMARY_H
#define NOPWATCH_MEASURE_SUMMARY_H

#include "measure/linear.h"
#include "measure/sched/threads.h"
#include "measure/spans/filter.h"
#include "measure/spans/spans.h"

/* ---- histogram ---------------------------------------------------------------------- */

/*
 * Log-linear: 32 buckets per power of two, so a bucket is at most 3.1 % wide; each value below 32 has its own bucket.
 * Buckets cover all of u64 (and, for signed values, their negatives). They are allocated in blocks of one power of
 * two, from the block of the smallest value to that of the largest. Count, sum, min and max are exact. Merging is
 * adding. A zeroed histogram is empty and valid.
 */
enum {
	NW_BUCKETS = 32,
	NW_BLOCKS = 60
};

struct nw_blocks {
	uint64_t *count;	  /* counts of the buckets first .. first + used - 1 */
	unsigned int first, used; /* multiples of NW_BUCKETS */
};

struct nw_histogram {
	uint64_t count;
	uint64_t min, max; /* as int64_t if is_signed; valid only if count > 0 */
	uint64_t sum;	   /* never wraps: it stays at UINT64_MAX */
	/* A value that exceeds min by less than `usual` only has to be counted and added: it is not above max, and
	 * its bucket exists. 0: every value needs all checks, because there are none yet, some are signed, or the sum
	 * may wrap. */
	uint64_t usual;
	/* The exact sum of the squared values, in 128 bits. If some values or the sum are too large for that, `rough`
	 * is set, and the moments are computed from the last three doubles. */
	uint64_t squares, squares_high;
	bool rough;
	/* nw_histogram_add_signed() was called; unsigned values above INT64_MAX then count as INT64_MAX. */
	bool is_signed;
	/* Out of memory: some values are in `count` but in no bucket. */
	bool failed;
	/* A value near the mean. The next two sums are relative to it, which keeps a small deviation of large values
	 * nearly exact. */
	double origin;
	double shifted_sum;
	double shifted_squares;
	struct nw_blocks values;
	struct nw_blocks negatives; /* by magnitude */
	/* Counts of the same values in equal steps; NULL: not requested. Merging keeps them if all values have them. */
	struct nw_linear *linear;
};

void nw_histogram_add(struct nw_histogram *h, uint64_t value);
void nw_histogram_merge(struct nw_histogram *into, const struct nw_histogram *from);
void nw_histogram_clear(struct nw_histogram *h); /* keeps the memory */
void nw_histogram_free(struct nw_histogram *h);
double nw_histogram_mean(const struct nw_histogram *h);
double nw_histogram_stddev(const struct nw_histogram *h); /* of the population */
/*
 * Returns the value at rank ceil(p * count), 0 < p <= 1, as int64_t if is_signed: the middle of the bucket that holds
 * this rank, cut to [min, max]. It is at most half a bucket (1.6 %) too low or too high. The first rank gives min and
 * the last one max.
 */
uint64_t nw_histogram_percentile(const struct nw_histogram *h, double p);
/* Returns the largest value that the percentile can be: the upper end of its bucket. */
uint64_t nw_histogram_percentile_most(const struct nw_histogram *h, double p);

struct nw_bucket {
	uint64_t low, high; /* both inclusive; as int64_t if is_signed */
	uint64_t count;
};
/* Walks the buckets that are not empty, from the smallest value on. *at starts at 0. */
bool nw_histogram_next(const struct nw_histogram *h, unsigned int *at,
		       struct nw_bucket *out);
/*
 * Make a histogram of facts that were read: of an empty one, whose count, sum, min, max and is_signed are set, and then of each of its
 * buckets. Only the deviation is not exact any more. False: no histogram has such a bucket. Without memory the histogram is marked
 * as failed.
 */
void nw_histogram_restore(struct nw_histogram *h, double mean, double stddev);
bool nw_histogram_restore_bucket(struct nw_histogram *h, const struct nw_bucket *bucket);

/* ---- the summary -------------------------------------------------------------------- */

/* The kinds of rows. */
enum nw_subject {
	NW_SUBJECT_PROBES,
	NW_SUBJECT_SPANS,
	NW_SUBJECTS
};

struct nw_probe_row {
	uint64_t hits;
	struct nw_histogram gap; /* between successive hits, on any thread */
	/* One per summarised argument of the probe; NULL: arguments are not summarised. */
	struct nw_histogram *args;
	/* Time of the latest hit; 0: none since the last loss. Only current rows have it. */
	uint64_t last;
};

struct nw_span_row {
	struct nw_histogram latency;
	uint64_t unmatched_starts, unmatched_ends;
	uint64_t discarded; /* spans that may have straddled a loss */
	/* Calls that never returned, and framed and flat spans whose end never came. */
	uint64_t abandoned;
	/* Spans paired by order that had other spans of the same key inside. That is what nested spans look like, but
	 * also a span whose end was matched with a start whose own end never came. */
	uint64_t nested;
	/* With nest=outer: starts inside a span of the same key, which do not count. */
	uint64_t inner;
	/* NW_TASK_STATES histograms: the time that spans spent in each state. NULL: no span was split. */
	struct nw_histogram *states;
	/* of the sleeps inside the spans; NULL: none */
	struct nw_sleeps *wakers, *channels;
	/* Probe overhead inside the spans. NULL: none, or the cost of a hit is unknown. */
	struct nw_histogram *cost;
	/* With --net: spans measured as 0, because the probes cost more than the span took */
	uint64_t clamped;
	uint64_t unsplit; /* measured spans whose time could not be split into states */
	/* Calls whose return the kernel does not report: those nested more than 64 deep. */
	uint64_t omitted;
	/* Calls of Go functions that began again, as happens when the stack is moved. The entry has as many hits more
	 * than there were calls. */
	uint64_t repeated;
	/* Durations handed over that cannot be: negative, no number, or longer than the machine has run. */
	uint64_t invalid;
};

/* How a number is stored in its row. Counts are merged by adding them, all other kinds by merging their parts. */
enum nw_number_kind {
	NW_NUMBER_COUNT, /* uint64_t */
	NW_NUMBER_TIMES, /* struct nw_histogram: what the row measures */
	/* Struct nw_histogram *; NULL: none. OpenMetrics shows only its sum. */
	NW_NUMBER_COST,
	/* Struct nw_histogram *: an array with an element per thread state; NULL: none */
	NW_NUMBER_STATES,
	/* Struct nw_histogram *: an array with an element per argument; NULL: none */
	NW_NUMBER_ARGS,
	NW_NUMBER_SLEPT_IN, /* struct nw_sleeps *; NULL: none */
	NW_NUMBER_WOKEN_BY
};

enum nw_number_is {
	/* A row in which all numbers with this bit are 0 is not shown. */
	NW_NUMBER_EVENTS = 1,
	NW_NUMBER_UNMEASURED = 2, /* spans that are in no distribution */
	NW_NUMBER_EARLY = 4,	  /* its CSV column precedes the argument and the times */
	NW_NUMBER_NET = 8,	  /* shown with --net only */
	NW_NUMBER_SPLIT = 16,	  /* shown only in rows that --states has split */
	NW_NUMBER_LATENCY = 32,	  /* its times are net with --net */
	/* Failed statements of PostgreSQL's `query` span: its text line is for that span only. */
	NW_NUMBER_STATEMENTS = 128,
	/* The number that nw_row_count() returns, which formats print first. */
	NW_NUMBER_FIRST = 64
};

/* One number of a row: everything that formats, merging and clearing need to know about it. */
struct nw_number {
	const char *key; /* the key in JSON and in the page (docs/json.md) */
	/* The CSV column of a count, or the type in a distribution's own CSV line. NULL: none. */
	const char *csv;
	const char *metric, *help; /* name and help in OpenMetrics; NULL: not shown there */
	/* The line below the table of spans, behind the span's name and a count. NULL: no line. */
	const char *text;
	enum nw_number_kind kind;
	unsigned int is; /* enum nw_number_is */
	size_t at;	 /* offset in the row */
};

/* The numbers of probe rows and of span rows, in the order of the keys in JSON. */
extern const struct nw_numbers {
	const struct nw_number *item;
	size_t count;
} nw_numbers[NW_SUBJECTS];

#define nw_number_each(subject, number)                                 \
	for (const struct nw_number *number = nw_numbers[subject].item; \
	     number < nw_numbers[subject].item + nw_numbers[subject].count; number++)

/* Returns a number of kind COUNT. `row` is a struct nw_probe_row or nw_span_row, as the number requires. */
uint64_t nw_number_count(const struct nw_number *number, const void *row);
/* Returns the first histogram of a number of the other kinds, except sleeps. NULL: there is none. */
struct nw_histogram *nw_number_times(const struct nw_number *number, const void *row);
/* Returns the number of histograms. args: how many arguments the rows of the probe have. */
size_t nw_number_parts(const struct nw_number *number, size_t args);
struct nw_sleeps *nw_number_sleeps(const struct nw_number *number, const void *row);
/* Is the number shown for this row? net: latencies are shown without probe overhead. */
bool nw_number_applies(const struct nw_number *number, const void *row, bool net);

/* The hits of a probe or the measured spans of a span; and the gaps or latencies. */
uint64_t nw_row_count(enum nw_subject subject, const void *row);
struct nw_histogram *nw_row_times(enum nw_subject subject, const void *row);
/* Is the row not empty? */
bool nw_row_has(enum nw_subject subject, const void *row);
/* Returns the sum of the counts that have all these bits of enum nw_number_is. */
uint64_t nw_row_sum(enum nw_subject subject, const void *row, unsigned int is);
/* Merges a row into another of the same kind. args: how many argument distributions a probe row has. Without memory
 * the histogram of the gaps or latencies is marked as failed. */
void nw_row_merge(enum nw_subject subject, void *into, const void *from, size_t args);
/* Frees what the row points to */
void nw_row_free(enum nw_subject subject, void *row, size_t args);

/* The rows of one group. Without grouping, group 0 has all of them. The memory depends on the number of probes and
 * spans that were hit in the group, not on the number of all probes and spans. */
struct nw_group_rows;

/* Return a row by the number of its probe or span; an empty row if the group has none. It is valid until the next hit
 * or nw_summary_next_interval(). */
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
/* Walks the rows of a group, in no particular order. *at starts at 0. */
bool nw_group_next(const struct nw_group_rows *rows, size_t *at, struct nw_group_row *out);

struct nw_summary;

enum nw_counted_args {
	NW_ARGS_NONE,
	NW_ARGS_NAMED, /* only of probes for which a spec names arguments */
	NW_ARGS_ALL
};

struct nw_summary_options {
	const struct nw_selection *selection;
	const struct nw_span_def *spans;
	size_t span_count;
	/* Which arguments are summarised, of those that hits carry. */
	enum nw_counted_args args;
	/* Which of them are also counted in equal steps; the first one of an argument counts. They must outlive the summary. */
	const nw_hists *hists;
	bool grouped; /* each hit names its group; otherwise all hits are in group 0 */
	size_t most_groups; /* groups that have rows of their own; 0: NW_MOST_GROUPS */
	/* Parts of a group's name that a span has from its end, if that knows them; bit 0 is the first part. */
	uint64_t late_keys;
	/* Split spans by thread state: the scheduler's events are among the probes */
	bool states;
	struct nw_thread_names names;
	/* Called for each span, except spans of which a filter has dropped one of the hits. NULL: none. */
	nw_span_listener *listener;
	void *listener_arg;
	/* The listener is not called with BEGINS for a hit without values of a span keyed by thread, because the
	 * event of its end tells the same. */
	bool lazy;
	/* nw_summary_next_bin() is called. Rows then cover the time up to its last call. */
	bool bins;
	bool intervals; /* with bins: keep rows of intervals, too, not only the total */
	/* Limit of open spans; 0: the default. Beyond it the outermost start of the same key is given up, or the new
	 * start if its key has none. */
	size_t most_open;
};

int nw_summary_open(const struct nw_summary_options *options, struct nw_summary **out,
		    struct nw_error *err);
void nw_summary_free(struct nw_summary *summary);
/* Did a row or a bucket get no memory, so that the numbers are wrong? */
bool nw_summary_failed(const struct nw_summary *summary);
/* Pairs calls and framed spans by stack pointers and frames, which hits must have (nw_plan_has_stacks()). Must be
 * called before the first hit. */
void nw_summary_use_stacks(struct nw_summary *summary);
/* Sets the cost of a hit for each probe, which makes the probe overhead in spans known. net: latencies are reduced by
 * it, and so are the thread states of a span, beginning with `running`. Must be called before the first hit. `cost`
 * stays the caller's, and must outlive the summary. Returns -ENOMEM on failure. */
int nw_summary_use_cost(struct nw_summary *summary, const struct nw_hit_cost *cost,
			bool net);

/*
 * Restricts a lazy listener to spans that take longer than `least`, which has a value for each span of the options
 * and may change at any time. The restriction ends with the first BEGINS, since from then on the listener needs all
 * ends.
 */
void nw_summary_emit_above(struct nw_summary *summary, const uint64_t *least);

/* Separates the parts of a group name that is made of several keys (ASCII's unit separator). */
enum {
	NW_GROUP_SEPARATOR = '\x1f'
};

/* Only so many groups get rows of their own, because grouping by a request's id must not fill our memory. All further
 * groups share the group nw_group_overflow. */
enum {
	NW_MOST_OVERFLOW_GROUPS = 1 << 20, /* see nw_summary_overflow_groups() */
	NW_MOST_GROUPS = 16384
};
extern const char nw_group_overflow[];

/* Returns the number of a group, which is created if it is new; or -ENOMEM. */
int64_t nw_summary_group(struct nw_summary *summary, const char *name, size_t len);
/* Takes a hit that a filter has dropped: no row counts it, but it still ends and begins its spans. Those spans are
 * neither measured nor unmatched. */
int nw_summary_filtered(struct nw_summary *summary, const struct nw_hit *hit, int32_t pid);
/*
 * Restricts the summary to threads for which `wanted` returns true. If a span of kernel events is keyed by an
 * argument that holds a thread number, that thread decides, and not the one that runs: sched_switch is a hit of the
 * thread that leaves the CPU, and may end a span of the thread that gets it. nw_summary_untraced_hit() takes such a hit
 * of a thread that is not wanted; the row of the probe does not count it.
 */
void nw_summary_set_thread_filter(struct nw_summary *summary,
				  bool (*wanted)(void *arg, int32_t tid), void *arg);
int nw_summary_untraced_hit(struct nw_summary *summary, const struct nw_hit *hit);
/* Takes a hit of the scheduler's events that no row counts and that only tells thread states. */
void nw_summary_scheduled(struct nw_summary *summary, const struct nw_hit *hit);
/* Takes a hit. pid: its process, for spans keyed by process. group: -1 if the group of the hit is unknown. */
int nw_summary_hit(struct nw_summary *summary, const struct nw_hit *hit, int32_t pid,
		   int64_t group);
/* Takes several hits without values, if nothing is grouped and no span is keyed by process. */
int nw_summary_hits(struct nw_summary *summary, const struct nw_hit *hits, size_t count);
/* Values of one bucket of a histogram, of which only these are known. */
struct nw_counted {
	uint64_t count;
	uint64_t sum;	/* modulo 2^64: many large values wrap it around */
	uint64_t low;	/* no value is below it, and none above the bucket that it is in */
	bool is_signed; /* sum and low are of type int64_t */
};
/*
 * Add what the kernel has counted by itself: hits of a probe, values of an argument, latencies of a span, and starts and ends
 * without the other. Count and sum stay exact (nw_histogram_add_summed()). group: as in nw_summary_hit().
 */
int nw_summary_count_hits(struct nw_summary *summary, int64_t group, uint32_t probe,
			  uint64_t hits);
int nw_summary_count_arg(struct nw_summary *summary, int64_t group, uint32_t probe,
			 size_t arg, const struct nw_counted *counted);
int nw_summary_count_span(struct nw_summary *summary, int64_t group, uint32_t span,
			  const struct nw_counted *counted);
int nw_summary_count_unmatched(struct nw_summary *summary, int64_t group, uint32_t span,
			       uint64_t starts, uint64_t ends);
/* Tells that events before `until` are lost: no span that began before it can be measured. events: how many; 0: an
 * unknown number, at least one. */
void nw_summary_loss(struct nw_summary *summary, uint64_t until, uint64_t events);
/* Copies the counts of losses from another summary of the same run, and discards spans that began before `until`. */
void nw_summary_inherit_losses(struct nw_summary *summary, const struct nw_summary *from,
			       uint64_t until);
/* Tells that a thread has exited: its open spans will never end. */
void nw_summary_exit(struct nw_summary *summary, int32_t tid);
/* Tells that the only thread of a process has executed another program: the open spans of the old program's code will
 * never end. tid: the number of the process, which the thread has from now on; old_tid: its former number. */
void nw_summary_exec(struct nw_summary *summary, int32_t tid, int32_t old_tid);
/*
 * Tells that the scheduler's events are recorded for selected threads only. Thread states are unknown for a thread
 * that is born from now on (nw_summary_born()), or with `all` for any thread, until nw_summary_thread_named() says
 * that the thread is recorded, or until its first sched_wakeup or its first switch from or to the idle thread. Spans
 * that begin earlier are not split. Must be called before the first hit.
 */
void nw_summary_named_threads(struct nw_summary *summary, bool all);
void nw_summary_born(struct nw_summary *summary, int32_t tid);
/* Tells from when on a thread's events are recorded; UINT64_MAX: they are not recorded any more. tid 0: all threads.
 * Must be called in the order of hits, because it applies to the thread that has the number now. */
void nw_summary_thread_named(struct nw_summary *summary, int32_t tid, uint64_t from);
/* Copies from another summary of the same run for which threads the scheduler's events are recorded. */
void nw_summary_copy_thread_table(struct nw_summary *summary,
				  const struct nw_summary *other);
/* Tells that a probe was disabled at this time. Its open spans are discarded, and later hits of their probes neither
 * begin nor end spans. */
void nw_summary_disabled(struct nw_summary *summary, uint32_t probe, uint64_t at);
/* Is the span of this start open, as far as is known? `arg`: the summary. A call whose frame is gone is not: an exception
 * has ended it. */
bool nw_summary_is_open(const void *arg, uint32_t span, const struct nw_open_span *open);
/* May it have ended all the same? Events were lost since it began, or one of its probes was disabled. */
bool nw_summary_end_may_be_lost(const struct nw_summary *summary, uint32_t span,
				const struct nw_open_span *open);
/* Finds what the thread of an open span has done up to now; false: unknown, or --states was not requested. */
bool nw_summary_states_so_far(const struct nw_summary *summary, uint32_t span,
			      const struct nw_open_span *open, uint64_t now,
			      struct nw_span_states *out);
/* Ends the summary behind its last hit: open spans become unmatched starts in the current rows, and no hit may
 * follow. nw_summary_finish() does this too if it was not done, and adds the current rows to the total. */
void nw_summary_give_up(struct nw_summary *summary);
void nw_summary_finish(struct nw_summary *summary);
/* Do most ends of a span that is paired by thread come from other threads than their starts? */
struct nw_strays_found;
bool nw_summary_strays(const struct nw_summary *summary, size_t span,
		       struct nw_strays_found *out);

/* The groups and their rows: since the last nw_summary_next_interval(), or in total. */
size_t nw_summary_groups(const struct nw_summary *summary);
/* Returns how many groups share nw_group_overflow. NW_MOST_OVERFLOW_GROUPS means at least that many. */
size_t nw_summary_overflow_groups(const struct nw_summary *summary);
/* Returns how many starts were given up because *most spans were open. They are among the unmatched ones. */
uint64_t nw_summary_crowded_out(const struct nw_summary *summary, size_t *most);
const char *nw_summary_group_name(const struct nw_summary *summary, size_t group);
const struct nw_group_rows *nw_summary_rows(const struct nw_summary *summary, size_t group,
					    bool total);
/* Ends an interval: adds the current rows to the total and clears them. */
int nw_summary_next_interval(struct nw_summary *summary);
/* nw_summary_next_bin() is not called, in spite of the options. To be said before anything is counted. */
void nw_summary_spare_bins(struct nw_summary *summary);
/* Returns how often a probe was hit since the start. Only without grouping. */
uint64_t nw_summary_probe_hits(const struct nw_summary *summary, size_t probe);
uint64_t nw_summary_lost(const struct nw_summary *summary);
/* Is the number of lost events a lower limit, because the size of a loss was unknown? */
bool nw_summary_lost_is_least(const struct nw_summary *summary);
uint64_t nw_summary_discarded(const struct nw_summary *summary);

#endif
