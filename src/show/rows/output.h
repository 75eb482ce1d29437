/* SPDX-License-Identifier: MIT */
/*
 * show/rows: the data that formats show, and the interface of a format: functions that append to a string buffer,
 * which the caller writes to a file. The formats themselves are in show/formats.h.
 */
#ifndef NOPWATCH_SHOW_ROWS_OUTPUT_H
#define NOPWATCH_SHOW_ROWS_OUTPUT_H

#include "kernel/manage/manage.h"
#include "measure/bins.h"
#include "measure/boundaries.h"
#include "measure/diff.h"
#include "measure/stack/stack.h"
#include "measure/summary.h"
#include "stream/pages/stream.h"
#include "why/why.h"

/* ---- results ------------------------------------------------------------------------ */

/* The state of a probe. */
enum nw_state {
	NW_STATE_UNKNOWN,
	NW_STATE_HIT,
	NW_STATE_NOT_HIT, /* the code was not reached */
	NW_STATE_NOT_MAPPED,
	NW_STATE_NOT_ARMED,
	NW_STATE_SEMAPHORE_CLOSED,
	NW_STATE_FILTERED,
	NW_STATE_NOT_RECORDED,
	NW_STATE_DISABLED,	     /* nopwatch disabled it during the run */
	NW_STATE_DISABLED_BY_OTHERS, /* another program disabled it during the run */
	NW_STATE_COUNT
};
/* The fixed words for states (docs/json.md); an unknown state is "not-hit". */
extern const char *const nw_state_words[NW_STATE_COUNT];

/* Why a probe has no hits, or no more hits, and one sentence for people. */
struct nw_probe_state {
	enum nw_state state;
	const char *text; /* NULL: nothing to say */
};

/* The keys that order the rows of a report. */
enum nw_sort {
	NW_SORT_DEFAULT, /* probes as they were selected, spans and groups by total */
	NW_SORT_HITS,
	NW_SORT_RATE,
	NW_SORT_TOTAL,
	NW_SORT_MIN, /* the statistics, in the order of their columns */
	NW_SORT_MEAN,
	NW_SORT_P50,
	NW_SORT_P90,
	NW_SORT_P99,
	NW_SORT_P999,
	NW_SORT_MAX,
	NW_SORT_ABANDONED, /* only spans have these */
	NW_SORT_UNMATCHED,
	NW_SORT_DISCARDED,
	NW_SORT_NAME,
	NW_SORT_COUNT
};
/* "hits", "rate", ...; NULL for the default. */
extern const char *const nw_sort_names[NW_SORT_COUNT];

/* Which parts of a report are shown, and how. All zero: every part, with text folded for people. */
struct nw_view {
	enum nw_sort sort;
	/* this many probes, and spans, and groups of each; 0: all of them, but 10 groups in text */
	size_t top;
	/* CSV: cells that a spreadsheet would take for a formula stay as they are */
	bool raw;
	bool all_rows;	  /* text: rows without hits, too, one by one */
	bool spans_only;  /* no rows of probes and their arguments */
	bool tables_only; /* text: no histograms */
	/* text: trees of stacks by address in a function, with file and line, not by function */
	bool frames;
};

/* How text is laid out for its reader. */
struct nw_layout {
	size_t width; /* of the terminal, in characters; 0: any width */
	bool bold;
	bool plain; /* sentences instead of tables and bars, for a screen reader */
};

/* Why a run has ended. */
enum nw_end_reason {
	NW_END_NONE, /* the run goes on, or the reason is not known */
	NW_END_SIGNAL,
	NW_END_DURATION,
	NW_END_COUNT,
	NW_END_COMMAND, /* CMD has ended */
	NW_END_PROCESS, /* the last target process has ended */
	NW_END_OUTPUT,	/* the output has no reader any more */
	NW_END_RECORDING,
	NW_END_TEXT,
};
/* The fixed words for reasons (docs/json.md). */
extern const char *const nw_end_reasons[];

struct nw_slow_span;

/* The command, the machine and the time of a run, for a report that is read elsewhere. Any text may be NULL, and any
 * number 0: it is unknown. */
struct nw_about {
	const char *command; /* as a shell would read it */
	const char *source;  /* the recording or text that the report is made from */
	/* the machine of the run, in uname()'s words */
	const char *host, *kernel, *machine;
	const char *cost; /* a sentence */
	int64_t began_ns; /* nanoseconds since 1970 */
	enum nw_end_reason reason;
};

/* The stacks of a probe or span, folded, for a flame graph. */
struct nw_folded {
	const char *text; /* "root;...;leaf" */
	uint64_t count;
};

struct nw_flame {
	const char *of; /* the probe's label or the span's name; or any other title */
	const struct nw_folded *stacks;
	size_t count;
};

struct nw_report {
	struct nw_view view;
	const struct nw_selection *selection;
	const struct nw_summary *summary;
	const struct nw_span_def *spans;
	size_t span_count;
	const struct nw_probe_state *states; /* by probe; NULL: not known */
	/* by probe: when it was disabled, 0: it was not; NULL: no probe was */
	const uint64_t *disabled_at;
	uint64_t start_ns;    /* when the run began, on the clock of disabled_at */
	const char *group_by; /* "tid", "method,status", ...; NULL: not grouped */
	int64_t wall_ns;      /* when an interval ended, since 1970; 0: not known */
	uint64_t elapsed_ns;
	/* number of this report, from 1; 0: a report of everything, at the end or in between */
	uint64_t interval;
	uint64_t short_ns;  /* length of an interval that ended early; 0: it did not */
	bool so_far;	    /* a report that SIGUSR1 asked for during the run */
	uint64_t lost;	    /* events */
	bool lost_is_least; /* `lost` is a lower bound */
	/* events of this time were lost: the counts of all rows are lower bounds */
	bool at_least;
	bool has_filter;   /* the run has a filter */
	uint64_t filtered; /* hits that the filter took out */
	size_t runs; /* the report is of so many runs, whose time is added up; 0: of one */
	uint64_t dropped;      /* hits that the kernel counted but did not record */
	bool restricted;       /* dropped hits may be those of untraced processes */
	const nw_hists *hists; /* arguments whose histograms are shown; NULL: none */
	bool gaps;	       /* show the histograms of gaps, too */
	bool net;	       /* latencies are net: without probe overhead */
	/* The kernel has counted: no gaps are known, and min, max and deviations are off by up to a bucket's width. */
	bool by_kernel;
	bool by_eighths; /* ... percentiles too, and the width is an eighth of a power of two */
	const struct nw_hit_cost *hit_costs; /* by probe; NULL: the overhead is not known */
	/* OpenMetrics: Prometheus's text format 0.0.4, which node_exporter's textfile collector reads */
	bool prometheus;
	const struct nw_boundaries
		*boundaries;		/* OpenMetrics: --buckets; NULL: the usual ones */
	const struct nw_stacks *stacks; /* callers; NULL: --stack was not given */
	const struct nw_stack_counts *stack_counts; /* how often each stack was counted */
	/* "spans of at least 50ms": the only spans whose stacks are counted; NULL: all spans */
	const char *stacks_of;
	struct nw_layout layout;
	const struct nw_about *about;  /* NULL: not known */
	const struct nw_bins *bins;    /* counts by time, for a format that has bins */
	const struct nw_flame *flames; /* NULL: --stack was not given */
	size_t flame_count;
	/* the slowest spans of each kind, kind by kind; none: they were not requested */
	const struct nw_slow_span *slowest;
	size_t slowest_count;
	/* the oldest spans of each kind that are open, kind by kind, if the user asks for them */
	bool asks_open;
	const struct nw_slow_span *open;
	size_t open_count;
};

/* The flame graphs of a report's stacks, for its `flames`; none if it has no stacks. -ENOMEM. */
struct nw_flames {
	NW_VEC(struct nw_flame) list;
};
int nw_flames_make(const struct nw_report *report, struct nw_flames *out);
void nw_flames_free(struct nw_flames *flames);

/* ---- differences ---------------------------------------------------------------------- */

/* All results of one side. */
struct nw_diff_side {
	size_t files;
	uint64_t elapsed_ns, lost; /* sums */
	bool lost_is_least;
};

/* One value of a sample is a number of this. */
enum nw_sample {
	NW_SAMPLE_NONE, /* there are no intervals */
	NW_SAMPLE_RUNS,
	NW_SAMPLE_SLICES /* of the time of runs */
};
/* "run", "slice"; NULL for none. */
extern const char *const nw_sample_names[];

/* A condition (--fail-if) and what has become of it. */
struct nw_diff_check {
	struct nw_diff_limit limit;
	enum nw_verdict verdict;
	const struct nw_diff_row *row; /* NULL: there is no such row */
	char *why;		       /* it cannot be told; NULL: it can */
};
/* The fixed words for verdicts (docs/json.md). */
extern const char *const nw_verdict_words[];

/* A folded stack, and how often each side has it. */
struct nw_diff_stack {
	const char *text; /* "root;...;leaf" */
	uint64_t count[NW_SIDES];
};

struct nw_diff_report {
	const struct nw_diff *diff;
	struct nw_view view;
	struct nw_layout layout;
	const char *group_by; /* as in a report */
	bool net;	      /* as in a report */
	bool gaps;	      /* text: the gaps between hits, too */
	struct nw_diff_side side[NW_SIDES];
	enum nw_sample sample;
	uint64_t slice_ns; /* about how long slices are */
	bool sliced; /* the units are slices, else runs; also where they are too few */
	const char *no_interval; /* why there is none, a sentence; NULL: there are some */
	const struct nw_diff_check *checks;
	size_t check_count;
	/* for a format that shows only stacks */
	const struct nw_diff_stack *stacks;
	size_t stack_count;
};

/* Is the row shown? It is not if nothing was counted on either side, unless view.all_rows. */
bool nw_diff_shows(const struct nw_diff_report *report, const struct nw_diff_row *row);
/* Is this number of a row in a table for people? Probes have their rates there; gaps between hits are for those who ask. */
bool nw_diff_shows_metric(const struct nw_diff_report *report,
			  const struct nw_diff_row *row, enum nw_metric metric);
/* Writes a number of a row, a rate or a time. */
void nw_diff_value_text(enum nw_metric metric, double value, char out[16]);
/* Writes a change, 0.1 as "+10.0 %". */
void nw_change_text(double change, char out[24]);
/* Writes an interval of changes: "-3.0 to +4.1 %", "+5.0 % or more"; "-": it says nothing. */
void nw_interval_text(const struct nw_comparison *comparison, char out[48]);
/* Writes what a check has found: "request.p99 > +10%: +12.3 %, which is noise (-3.0 to +30.1 %)". */
void nw_diff_check_text(const struct nw_diff_check *check, struct nw_buf *out);

/* ---- events ------------------------------------------------------------------------- */

struct nw_event_line {
	const struct nw_selection *selection; /* the selection that has the probe */
	const struct nw_probe *probe;
	const struct nw_hit *hit;
	const struct nw_task *task;
	uint64_t start;	 /* time that text counts from */
	int64_t wall_ns; /* offset from the trace clock to the time of day; 0: not known */
	bool wall;	 /* show the time of day */
	const struct nw_stacks *stacks; /* the stacks of hits; NULL: hits have none */
	const char *kernel_text; /* the kernel's own text of the event; NULL: not known */
};

/* A slow span, as it ends; or a span that is open, in a report. */
struct nw_slow_span {
	const struct nw_selection *selection;
	const struct nw_stacks *stacks; /* as in an event's line */
	const struct nw_span_def *span;
	/* the hit that began it; NULL: not known, too many spans were open */
	const struct nw_hit *began;
	const struct nw_hit *ended; /* NULL: the span is open */
	const struct nw_task
		*task; /* the thread that ended it, or began it if it is open */
	/* when it began, how long it took or is open, and the latency from which on spans are shown */
	uint64_t start, latency, least;
	bool has_cost; /* the probe overhead of the span is known: */
	uint64_t cost;
	bool net;			     /* the latency is net of it */
	const struct nw_span_states *states; /* as in a span's event */
	/* `least` is this percentile of the spans before; 0: the user gave a time */
	double percentile;
	/* 1: the slowest of its kind, 2: the next, ...; 0: spans are not ranked, and `least` is meant */
	size_t rank;
	size_t open; /* how many spans of its kind are open, this one too; 0: it has ended */
	uint64_t
		interval; /* the number of the report with the open span; 0: of the whole run */
	bool open_is_least; /* `open` is a lower bound */
	bool end_may_be_lost; /* the open span may have ended: events were lost since it began */
	uint64_t run_start; /* time that text counts from */
	int64_t wall_ns;    /* as in an event's line */
	bool wall;
};

/* ---- a run, from its beginning to its end ------------------------------------------- */

/* The observed program and its machine, for a format that is read elsewhere. Any text may be NULL: it is unknown. */
struct nw_resource {
	const char *service; /* how its users call it */
	const char *program; /* the name of its file */
	int64_t pid;	     /* of the only target process; 0: several, or unknown */
	/* the machine, in uname()'s words */
	const char *host, *kernel, *machine;
};

struct nw_begin {
	const struct nw_resource *resource; /* NULL: unknown */
	const struct nw_selection *selection;
	const struct nw_span_def *spans; /* if the format shows spans */
	size_t span_count;
	/* the group keys, and the summary that knows the groups' names; NULL: no groups */
	const char *group_by;
	const struct nw_summary *summary;
	size_t hidden; /* probes that the user did not ask for */
	size_t sites;  /* sites that are armed */
	const char *
		host; /* the name of the machine in uname()'s words; NULL: unknown, or several */
	const char
		*engine; /* who counts, "stream" or "kernel"; NULL: the user did not ask */
	/* By what share percentiles, min and max may be off, besides a bucket's width; 0: they are not. */
	double off_by;
	size_t runs; /* as in a report */
	bool net;    /* as in a report */
	bool header; /* text: name the columns of events */
	bool bold;   /* text: the header is bold */
};

/* A probe that was disabled during the run. */
struct nw_disabled {
	const struct nw_probe *probe;
	const struct nw_probe_state *state;
	uint64_t after_ns; /* since the run began */
};

struct nw_end {
	uint64_t lost;			/* lost events */
	bool lost_is_least;		/* `lost` is a lower bound */
	uint64_t discarded;		/* spans that were discarded because of losses */
	uint64_t dropped;		/* as in a report */
	uint64_t incomplete;		/* hits of which some records were lost */
	uint64_t unmapped, doubtful;	/* struct nw_stack_losses */
	const struct nw_unread *unread; /* files that --stack could not read, by reason */
	size_t unread_count;
	bool has_filter;   /* the run has a filter */
	uint64_t filtered; /* hits that the filter took out */
	enum nw_end_reason reason;
	uint64_t elapsed_ns;
};

/* Returns the words that explain dropped hits, to stand after their number. */
const char *nw_dropped_text(bool restricted);
/* Writes "17 events lost" or "at least 1 event lost"; least: not all lost events could be counted. */
void nw_lost_text(uint64_t lost, bool least, char out[48]);

/* ---- facts -------------------------------------------------------------------------- */

/* The uprobe events of the system. */
struct nw_status {
	const nw_event_statuses *events;
	bool has_hits; /* the kernel's counts are known */
	bool details;  /* text: the definitions, too */
	struct nw_layout layout;
};

/* An event that a program has registered through user_events_data. */
struct nw_user_event_row {
	char *system, *name;
	char *used; /* "ftrace perf": which tools have it enabled; "": none */
	nw_named_args fields;
	bool names_own; /* EventHeader: each record has fields of its own */
};
typedef NW_VEC(struct nw_user_event_row) nw_user_event_rows;

/* ---- formats ------------------------------------------------------------------------ */

/* The kinds of output of a command. */
enum nw_shows {
	NW_SHOWS_FACTS,	  /* lists: sites, features, verdicts */
	NW_SHOWS_EVENTS,  /* begin, each event, end */
	NW_SHOWS_REPORTS, /* begin, reports, end */
	NW_SHOWS_COUNT
};

struct nw_output;

/* A problem of `list --check`. */
struct nw_note_problem {
	const char *kind;	     /* the fixed word in JSON: docs/json.md */
	const char *provider, *name; /* "": the file's, or unknown */
	uint64_t vaddr;
	const char *text;
};

/* The result of `list --check` for a file. */
struct nw_checked {
	size_t notes; /* sites, and notes that cannot be used */
	size_t probes, sites, problems;
};

/* A row of `list --functions` shows these facts behind the names of a function. */
struct nw_function_details {
	uint64_t size;		    /* 0: unknown */
	struct nw_source_line line; /* where its source begins */
	size_t width;		    /* of the longest name in the list */
	size_t line_width;	    /* of the terminal; 0: any width */
	bool first;		    /* the first function of its file */
	nw_source_arguments
		arguments; /* of its source; none: unknown, or they are not wanted */
};

/*
 * A format is one such struct in a file of its own, and a row of nw_output_formats (show/formats.h). Each function
 * appends to output->text, which the caller writes away and empties whenever it likes; a format
 * that can only be written as a whole appends nothing before end(). NULL: nothing to say.
 *
 * A run is begin, then whatever happens in the order of time, and end. Facts are one call each.
 */
struct nw_output_format {
	const char *name; /* of -f */
	bool shows[NW_SHOWS_COUNT];
	bool for_people; /* tables and titles; what is long goes through a pager */
	/* every report covers the whole run so far: counters that only grow */
	bool cumulative;
	bool spans;   /* an event format whose span() is called, too */
	bool bins;    /* a report format that shows counts by time, so bins are kept */
	bool states;  /* can show thread states in spans (--states) */
	bool costs;   /* can show the probe overhead of spans */
	bool open;    /* can show how many spans are open (--open), without single ones */
	bool buckets; /* has classic buckets, which --buckets chooses */
	bool stacks;  /* can show callers (--stack) */
	bool only_stacks; /* shows stacks and nothing else */
	/* A file has metrics (reports) or slow spans (events), never both */
	bool one_signal;
	bool binary; /* is refused on a terminal */
	/* a report is a whole file: each report replaces the file of -o in one step */
	bool whole;
	/* another user's program reads the file, so it gets the mode of any new file */
	bool for_collectors;
	/* bytes of output->state, which begins zeroed; 0: the format keeps nothing */
	size_t state_size;
	void (*free)(struct nw_output *output); /* frees what the state points to */

	void (*begin)(struct nw_output *output, const struct nw_begin *begin);
	void (*event)(struct nw_output *output, const struct nw_event_line *line);
	/* An event of a span; if a hit causes it, it comes right after the hit's event. */
	void (*span)(struct nw_output *output, const struct nw_span_event *event);
	/* A slow span; NULL: the format cannot show it. */
	void (*slow)(struct nw_output *output, const struct nw_slow_span *slow);
	void (*loss)(struct nw_output *output, const struct nw_record *loss);
	void (*disabled)(struct nw_output *output, const struct nw_disabled *disabled);
	void (*report)(struct nw_output *output, const struct nw_report *report);
	/* The difference of two sides, which is all that is shown; NULL: the format cannot show it. */
	void (*diff)(struct nw_output *output, const struct nw_diff_report *report);
	/* Stands for `count` reports of intervals in which nothing happened, from number `first` on. */
	void (*quiet)(struct nw_output *output, uint64_t first, uint64_t count);
	void (*end)(struct nw_output *output, const struct nw_end *end);

	/* A site; types: what else is known of its arguments, or NULL. The fetches shown are those of a kernel with
	 * all features. */
	void (*site)(struct nw_output *output, struct nw_image *image,
		     const struct nw_site *site, const struct nw_types *types);
	/* A function: the linker's name and the one to show (struct nw_functions). details: NULL, or what --functions
	 * shows behind them. */
	void (*function)(struct nw_output *output, struct nw_image *image,
			 const char *symbol, const char *name,
			 const struct nw_function_details *details);
	/* A note that was left out. */
	void (*skipped)(struct nw_output *output, const struct nw_image *image,
			const struct nw_skipped *skipped);
	/* A problem with a file's notes, and behind all of them the result of the check. */
	void (*problem)(struct nw_output *output, const struct nw_image *image,
			const struct nw_note_problem *problem);
	void (*checked)(struct nw_output *output, const struct nw_image *image,
			const struct nw_checked *checked);
	void (*features)(struct nw_output *output, const struct nw_features *features);
	void (*status)(struct nw_output *output, const struct nw_status *status);
	void (*user_event)(struct nw_output *output, const struct nw_user_event_row *row);
	/* The change of a persistent event. */
	void (*change)(struct nw_output *output, const struct nw_change *change);
	/* Checks, one a line, then the verdict and its remedies. label: the probe, if there are several; NULL: there
	 * is one. */
	void (*diagnosis)(struct nw_output *output, const struct nw_diagnosis *diagnosis,
			  const char *label, bool color);
};

/* All formats, in the order in which they are listed: each is nw_output_NAME. */
/* clang-format off */
#define NW_OUTPUT_FORMATS(format) \
	format(text) \
	format(json) \
	format(csv) \
	format(openmetrics) \
	format(otlp) \
	format(perfetto) \
	format(html) \
	format(folded)
/* clang-format on */
#define NW_DECLARE_FORMAT(name) extern const struct nw_output_format nw_output_##name;
NW_OUTPUT_FORMATS(NW_DECLARE_FORMAT)

/* An output that is being written. */
struct nw_output {
	const struct nw_output_format *format;
	struct nw_buf text; /* text that is not yet written to the file */
	void *state;
	bool plain; /* text: sentences, for a screen reader */
};

/* Returns the mode of a new file (NW_FILE_PRIVATE, ...). */
unsigned int nw_output_mode(const struct nw_output_format *format);
/* -ENOMEM. */
int nw_output_make(const struct nw_output_format *format, struct nw_output *out);
void nw_output_free(struct nw_output *output);

/* These call the function of the output's format, if it has one. */
void nw_output_begin(struct nw_output *output, const struct nw_begin *begin);
void nw_output_event(struct nw_output *output, const struct nw_event_line *line);
void nw_output_span(struct nw_output *output, const struct nw_span_event *event);
void nw_output_slow(struct nw_output *output, const struct nw_slow_span *slow);
void nw_output_loss(struct nw_output *output, const struct nw_record *loss);
void nw_output_disabled(struct nw_output *output, const struct nw_disabled *disabled);
void nw_output_report(struct nw_output *output, const struct nw_report *report);
void nw_output_diff(struct nw_output *output, const struct nw_diff_report *report);
void nw_output_quiet(struct nw_output *output, uint64_t first, uint64_t count);
void nw_output_end(struct nw_output *output, const struct nw_end *end);

#endif
