/* SPDX-License-Identifier: MIT */
/*
 * summary: hits become numbers. Pure: no files, no clock of its own; times are those of the
 * hits, in nanoseconds.
 */
#ifndef NOPWATCH_SUMMARY_H
#define NOPWATCH_SUMMARY_H

#include "nopwatch/probe.h"
#include "nopwatch/stream.h"

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
	/* A value below this goes into its bucket, and nothing else has to be seen to. 0: every value has to be
	 * looked at (there are none yet, some are signed, ...). */
	uint64_t plain;
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
/* Upper bound of the bucket that holds rank ceil(p * count), clamped to [min, max]; 0 < p <= 1.
 * As int64_t if is_signed. */
uint64_t nw_histogram_percentile(const struct nw_histogram *h, double p);

struct nw_bucket {
	uint64_t low, high; /* both inclusive; as int64_t if is_signed */
	uint64_t count;
};
/* Walk the buckets that are not empty, from the smallest value: *at starts at 0. */
bool nw_histogram_next(const struct nw_histogram *h, unsigned int *at,
		       struct nw_bucket *out);

/* ---- spans -------------------------------------------------------------------------- */

enum nw_span_key {
	NW_KEY_TID,
	NW_KEY_PID,
	NW_KEY_ARG
};

/*
 * From a hit of a start probe to a hit of an end probe with the same key, last in first out. Of
 * calls, where hits have stack pointers, the return ends the call of the same one, and what it
 * leaves behind is abandoned. So it is with pairs of USDT probes in one function, by their frames.
 */
struct nw_span_def {
	char *name;
	nw_vec_u32 starts; /* probes, as indexes into the selection */
	nw_vec_u32 ends;
	enum nw_span_key key;
	char key_name[32]; /* ARG: its name; "tid", "pid" else */
	/* The same of the ends, if it is another: an event that is about two threads begins the
	 * one's span by the one argument and ends the other's by the other. "": the same */
	enum nw_span_key end_key;
	char end_key_name[32];
	bool call;	/* a function's entry and its return */
	bool named;	/* the probes' names say that the one's end is the other */
	bool unlimited; /* the return is told without the kernel's return probes */
	bool goroutines; /* functions of Go's: calls are told apart by goroutine, not by thread */
	bool flat; /* the user says that it does not nest: a start gives up the one before */
};

typedef NW_VEC(struct nw_span_def) nw_span_defs;

/* Spans that names say: x__start .. x__done and so on, a function's entry and return. */
int nw_spans_by_name(const struct nw_selection *selection, nw_span_defs *out);
/* "tid", "prev_pid:next_pid": the keys as they are written. */
void nw_span_key_text(const struct nw_span_def *def, char out[72]);
/* Do the spans of such texts need arguments for their keys, or processes? */
bool nw_span_needs_args(const char *text);
bool nw_span_needs_pids(const char *text);
/* Find out the frames of the points of spans that are framed, and of no others: these are to be
 * fetched. -ENOMEM. */
int nw_spans_find_frames(struct nw_selection *selection, const nw_span_defs *defs);
/* Parse "[NAME=]START..END[|END2][,key=tid|pid|ARG[:ENDARG]][,nest=no]"; the patterns match probe labels and names
 * of the selection. */
int nw_span_parse(const char *text, const struct nw_selection *selection,
		  struct nw_span_def *out, struct nw_error *err);
/* The probe specs inside such a text, so that they need not be given twice. */
int nw_span_specs(const char *text, nw_strings *out, struct nw_error *err);
void nw_spans_free(nw_span_defs *defs);
void nw_span_def_free(struct nw_span_def *def);

/* ---- filters ------------------------------------------------------------------------ */

/*
 * Which hits count: comparisons NAME OP VALUE, joined by && || ! and parentheses.
 *
 * NAME is an argument, as nw_arg_name() has it or argN by its number, or tid, pid, comm, cpu. OP
 * is one of == != < <= > >=, & (some of these bits are set) and ~ (a glob, as ftrace's filters
 * have it: * ? [a-z] [!a] and backslash). VALUE is an integer (42, -1, 0x2a), compared as a number
 * whatever the width and sign of the argument; a real number; a bare word up to a blank, a
 * parenthesis, a quote, & or |; or a string in quotes of either kind, with \n \t \xNN and
 * escaped quotes.
 *
 * A filter applies to the probes that have all of its arguments; hits of others pass. A value
 * that is missing makes its comparison false, whatever it is (and ! makes that true).
 */
struct nw_filter;

/* Hostile text costs no more than its length: parentheses nest 64 deep, comparisons are 256. A
 * mistake is a usage error that says the column. */
int nw_filter_parse(const char *text, struct nw_filter **out, struct nw_error *err);
void nw_filter_free(struct nw_filter *filter);
/* Does it name arguments, so that hits need their values? */
bool nw_filter_names_args(const struct nw_filter *filter);
/* Does it name pid or comm, so that hits need their nw_task? */
bool nw_filter_names_tasks(const struct nw_filter *filter);
/* Find out which probes it applies to; once, before the first hit. A usage error if it is none,
 * or if an argument is of a type for which a comparison would never be true. */
int nw_filter_bind(struct nw_filter *filter, const struct nw_selection *selection,
		   struct nw_error *err);
/* task may be NULL if nw_filter_names_tasks() says so. */
bool nw_filter_passes(const struct nw_filter *filter, const struct nw_hit *hit,
		      const struct nw_task *task);

/* ---- rates -------------------------------------------------------------------------- */

/* How often probes are hit, from counters that only grow, as nw_rates_sample() is told them. */
struct nw_rates;
enum {
	NW_RATES_NS = 100000000 /* between two looks, at least */
};

int nw_rates_open(size_t probes, struct nw_rates **out); /* -ENOMEM */
void nw_rates_free(struct nw_rates *rates);
bool nw_rates_due(const struct nw_rates *rates, uint64_t time);
/* counts: one a probe. Not before nw_rates_due(). */
void nw_rates_sample(struct nw_rates *rates, uint64_t time, const uint64_t *counts);
/* Was the probe hit more than most times within the last second? *rate: how often a second. */
bool nw_rates_over(const struct nw_rates *rates, size_t probe, uint64_t most, double *rate);

/* ---- what threads do ---------------------------------------------------------------- */

/* Where the time of a span goes. */
enum nw_task_state {
	NW_TASK_RUNNING,
	NW_TASK_RUNNABLE, /* it could run, but the CPU did something else */
	NW_TASK_SLEEPING, /* until it is woken: by a lock, a socket, a timer; or stopped */
	NW_TASK_DISK,	  /* the same, and signals do not wake it */
	NW_TASK_OTHERS,	  /* the span has ended on another thread */
	NW_TASK_STATES
};
extern const char *const nw_task_state_names[NW_TASK_STATES]; /* "running", ... */

/* Who ended sleeps, or where they were: so many of them, and how long they were together. */
struct nw_sleep {
	/* of whom: a thread's number, or one of NW_WAKER_*; of where: the address of a function of the
	 * kernel's, NW_WAKER_UNKNOWN; NW_SLEEP_OTHERS */
	uint64_t key;
	uint64_t ns, count;
	char comm[16]; /* the thread's name when it first woke one */
	const char *
		function; /* where they slept; NULL: that is not what is counted, or not known */
};

#define NW_WAKER_INTERRUPT ((uint64_t)1 << 32) /* a timer, a device, or what they set off */
#define NW_WAKER_UNKNOWN   ((uint64_t)2 << 32) /* the events do not say */
#define NW_SLEEP_OTHERS	   UINT64_MAX	       /* those for whom there was no room */

enum {
	NW_MOST_SLEEPS = 16
};

/* As they come; the last of a full one is NW_SLEEP_OTHERS. */
struct nw_sleeps {
	struct nw_sleep item[NW_MOST_SLEEPS];
	size_t count;
};

/* The longest first, and the others last. */
void nw_sleeps_sort(struct nw_sleeps *sleeps);
/* "comm/tid", "(interrupt)", "pipe_read", "(not told)", "(others)" */
void nw_sleep_text(const struct nw_sleep *sleep, struct nw_buf *out);

/* What became of a thread while its span was open. */
struct nw_span_states {
	uint64_t ns
		[NW_TASK_STATES]; /* so long in which state, which adds up to the latency */
	/* of what was sleeping or disk: who ended it, and where it was */
	struct nw_sleeps wakers, channels;
};

/* Is it one of the scheduler's events that tell this? sched_switch, sched_waking, sched_wakeup */
bool nw_is_scheduler_probe(const struct nw_probe *probe);
/* The number-th of them, without its system; NULL: there are no more. */
const char *nw_scheduler_event(size_t number);
/* As a spec with the arguments that tell it: "tracepoint:sched:sched_wakeup(pid)". */
void nw_scheduler_spec(size_t number, struct nw_buf *out);

/* ---- each span ---------------------------------------------------------------------- */

/* What becomes of one span, for whoever looks at each, not only at their distribution. */
enum nw_span_moment {
	NW_SPAN_BEGINS,
	NW_SPAN_ENDS,	      /* and is measured */
	NW_SPAN_ENDS_NOTHING, /* an end without a start */
	NW_SPAN_NEVER_ENDS,   /* a start without an end, or whose end is not known */
	NW_SPAN_STILL_OPEN,   /* a start when everything is in */
};

struct nw_span_event {
	enum nw_span_moment moment;
	uint32_t span;
	uint64_t key;	/* of the start; 0: not known */
	uint64_t start; /* when it began; ENDS_NOTHING: 0 */
	int64_t group; /* where it counts; -1: its hits cannot say; any, where nothing is grouped */
	uint32_t cpu; /* where it began; ENDS_NOTHING: 0 */
	const struct nw_hit
		*hit;	  /* BEGINS, ENDS, ENDS_NOTHING: the one that does; else NULL */
	uint64_t latency; /* ENDS: net of the cost where that is asked for */
	uint64_t
		cost; /* ENDS: what the probes have added to it; 0: nothing, or it is not known */
	/* ENDS: NULL: nobody asks, or it is not known. They add up to the latency. */
	const struct nw_span_states *states;
	const char *
		why; /* the others: "unmatched", "abandoned", "omitted", "repeated", "discarded", or "filtered":
				a filter took its end out */
};

typedef void nw_span_listener(void *arg, const struct nw_span_event *event);

/*
 * For a listener that wants to show how a span began when it ends: copies of the hits that open spans
 * have begun with. Beyond NW_MOST_STARTS at once there are none, so that spans that never end do not
 * fill our memory.
 */
enum {
	NW_MOST_STARTS = 65536
};

struct nw_starts;

int nw_starts_open(struct nw_starts **out); /* -ENOMEM */
void nw_starts_free(struct nw_starts *starts);
/* To be called for each event, whatever it is. Where the span ends or is over: the hit that it began
 * with, with its values, until the next call; NULL: there was none, or it is not known. */
const struct nw_hit *nw_starts_follow(struct nw_starts *starts,
				      const struct nw_span_event *event);

/* ---- the summary -------------------------------------------------------------------- */

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

/* Has anything begun or ended? */
bool nw_span_row_has(const struct nw_span_row *row);
void nw_span_row_merge(struct nw_span_row *into, const struct nw_span_row *from);
void nw_span_row_free(struct nw_span_row *row); /* what it points to */

/* Results of one group; group 0 is everything when nothing is grouped. They cost memory for the
 * probes and spans that the group has, not for all that there are. */
struct nw_group_rows;

/* By number; an empty row where the group has none. Until the next hit or nw_summary_next_interval(). */
const struct nw_probe_row *nw_group_probe(const struct nw_group_rows *rows, size_t probe);
const struct nw_span_row *nw_group_span(const struct nw_group_rows *rows, size_t span);

struct nw_group_row {
	bool is_span;
	uint32_t number;		  /* of the probe or span */
	const struct nw_probe_row *probe; /* one of these two */
	const struct nw_span_row *span;
};
/* Walk the rows that are kept, in no order: *at starts at 0. */
bool nw_group_next(const struct nw_group_rows *rows, size_t *at, struct nw_group_row *out);

struct nw_summary;

struct nw_summary_options {
	const struct nw_selection *selection;
	const struct nw_span_def *spans;
	size_t span_count;
	bool args;    /* distributions of the arguments that hits carry */
	bool grouped; /* hits name their group; else all are in group 0 */
	bool states; /* what threads do in spans: the scheduler's events are among the probes */
	/* The name of a thread, as of now; NULL: none are known. */
	void (*comm)(void *arg, int32_t tid, char out[16]);
	/* The wait channel of a stack of the kernel's, and the address of that function; NULL: it cannot be
	 * told. The text stays as long as the summary. NULL: none is known. */
	const char *(*channel)(void *arg, const struct nw_value *callers,
			       uint64_t *function);
	void *comm_arg;
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
void nw_summary_loss(struct nw_summary *summary, uint64_t until, uint64_t events);
/* A thread is gone: its open spans will never end. */
void nw_summary_exit(struct nw_summary *summary, int32_t tid);
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
/* Everything is in: open spans become unmatched starts. */
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
uint64_t nw_summary_discarded(const struct nw_summary *summary);

#endif
