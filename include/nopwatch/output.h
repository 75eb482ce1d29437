/* SPDX-License-Identifier: MIT */
/*
 * show/rows: what there is to show, and what a format is that shows it: functions that append to a string buffer, which
 * somebody else writes away. The formats themselves are in nopwatch/formats.h.
 */
#ifndef NOPWATCH_OUTPUT_H
#define NOPWATCH_OUTPUT_H

#include "nopwatch/bins.h"
#include "nopwatch/manage.h"
#include "nopwatch/stack.h"
#include "nopwatch/stream.h"
#include "nopwatch/summary.h"
#include "nopwatch/why.h"

/* ---- results ------------------------------------------------------------------------ */

/* What became of a probe. */
enum nw_state {
	NW_STATE_UNKNOWN,
	NW_STATE_HIT,
	NW_STATE_NOT_HIT, /* the code was not reached */
	NW_STATE_NOT_MAPPED,
	NW_STATE_NOT_ARMED,
	NW_STATE_SEMAPHORE_CLOSED,
	NW_STATE_FILTERED,
	NW_STATE_NOT_RECORDED,
	NW_STATE_DISABLED,	     /* in mid-run, by us */
	NW_STATE_DISABLED_BY_OTHERS, /* or by somebody else */
	NW_STATE_COUNT
};
/* In words that are fixed (docs/json.md); what is not known is "not-hit". */
extern const char *const nw_state_words[NW_STATE_COUNT];

/* Why a probe has no hits, or no more, and one sentence for people. */
struct nw_probe_state {
	enum nw_state state;
	const char *text; /* NULL: nothing to say */
};

/* What orders the rows of a report. */
enum nw_sort {
	NW_SORT_DEFAULT, /* probes as they were selected, spans and groups by total */
	NW_SORT_HITS,
	NW_SORT_RATE,
	NW_SORT_TOTAL,
	NW_SORT_MEAN,
	NW_SORT_P50,
	NW_SORT_P99,
	NW_SORT_MAX,
	NW_SORT_NAME,
	NW_SORT_COUNT
};
/* "hits", "rate", ...; NULL for the default. */
extern const char *const nw_sort_names[NW_SORT_COUNT];

/* What of a report is shown, and how; all zero: everything, in text folded as for people. */
struct nw_view {
	enum nw_sort sort;
	size_t top; /* so many probes, spans and groups of each; 0: all of them, but in text
			  10 groups */
	bool raw;   /* CSV: also what a spreadsheet would take for a formula is as it is */
	bool all_rows; /* text: also those that were not hit, one by one */
	bool frames; /* text: trees of stacks by where they are in functions, with file and line, not by function */
	size_t width; /* text: of the terminal, in characters; 0: any */
};

/* Why a run has ended. */
enum nw_end_reason {
	NW_END_NONE, /* it goes on, or nobody knows */
	NW_END_SIGNAL,
	NW_END_DURATION,
	NW_END_COUNT,
	NW_END_COMMAND, /* that it had started */
	NW_END_PROCESS, /* the last that was traced */
	NW_END_OUTPUT,	/* nobody reads it any more */
	NW_END_RECORDING,
	NW_END_TEXT,
};
/* In words that are fixed (docs/json.md). */
extern const char *const nw_end_reasons[];

/* What was run, where and when, for a form that will be read elsewhere. Any text may be NULL, and any
 * number 0: not known. */
struct nw_about {
	const char *command; /* as a shell would read it */
	const char *source;  /* the recording or text that it is made from */
	const char *host, *kernel, *machine; /* where it happened: uname()'s words */
	const char *cost;		     /* a sentence */
	int64_t began_ns;		     /* since 1970 */
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
	const struct nw_probe_state *states; /* per probe; NULL: not known */
	const uint64_t
		*disabled_at; /* per probe: when it was disabled, 0: it was not; NULL:
					none was */
	uint64_t start_ns;    /* on the clock of disabled_at: when it began */
	const char *group_by; /* "tid", "method,status", ...; NULL: not grouped */
	int64_t wall_ns;      /* when an interval ended, since 1970; 0: not known */
	uint64_t elapsed_ns;
	uint64_t
		interval; /* number of this report, from 1; 0: of everything, the last one or */
	uint64_t
		short_ns; /* how long an interval was that ended before its time; 0: it did not */
	bool so_far;	    /* one that was asked for meanwhile (SIGUSR1) */
	uint64_t lost;	    /* events */
	bool lost_is_least; /* at least so many */
	bool at_least; /* events of this time were lost: what the rows count are lower bounds */
	bool has_filter;   /* there is a filter, */
	uint64_t filtered; /* which took out so many hits */
	uint64_t dropped;  /* hits that the kernel counted but did not record; */
	bool restricted;   /* those of processes that are not traced are among them */
	const char *const *hist_args; /* arguments whose histogram is shown */
	size_t hist_arg_count;
	bool gaps;	 /* show the histograms of the gaps, too */
	bool net;	 /* latencies are without what the probes themselves have cost */
	bool prometheus; /* OpenMetrics: as Prometheus's text format 0.0.4, which node_exporter's
			    textfile collector reads */
	const struct nw_stacks *stacks; /* who called; NULL: nobody has asked, */
	const struct nw_stack_counts *stack_counts; /* and how often; */
	const char *
		stacks_of; /* "spans of at least 50ms": spans' stacks are only of these; NULL: of all */
	bool bold;
	const struct nw_about *about;  /* NULL: not known */
	const struct nw_bins *bins;    /* what happened when, where the format has bins */
	const struct nw_flame *flames; /* NULL: nobody asks for stacks */
	size_t flame_count;
};

/* The flame graphs of a report's stacks, for its `flames`; nothing where it has none. -ENOMEM. */
struct nw_flames {
	NW_VEC(struct nw_flame) list;
};
int nw_flames_make(const struct nw_report *report, struct nw_flames *out);
void nw_flames_free(struct nw_flames *flames);

/* ---- events ------------------------------------------------------------------------- */

struct nw_event_line {
	const struct nw_selection *selection; /* that the probe is one of */
	const struct nw_probe *probe;
	const struct nw_hit *hit;
	const struct nw_task *task;
	uint64_t start;	 /* time that text counts from */
	int64_t wall_ns; /* what to add to the trace clock for the time of day; 0: unknown */
	bool wall;	 /* show the time of day */
	const struct nw_stacks *stacks; /* those of hits; NULL: they have none */
	const char *
		kernel_text; /* the kernel's own words for its event; NULL: none are known */
};

/* A span that took long, as it ends. */
struct nw_slow_span {
	const struct nw_selection *selection;
	const struct nw_stacks *stacks; /* as in an event's line */
	const struct nw_span_def *span;
	const struct nw_hit
		*began; /* NULL: not known, there are too many open spans to keep */
	const struct nw_hit *ended;
	const struct nw_task *task;	/* that ended it */
	uint64_t start, latency, least; /* it began then; at least so long are shown */
	bool has_cost;			/* what the probes have added to it is known: */
	uint64_t cost;
	bool net;			     /* the latency is without it */
	const struct nw_span_states *states; /* as in a span's event */
	double percentile; /* least is that of the spans before it; 0: it was said as it is */
	uint64_t run_start; /* time that text counts from */
	int64_t wall_ns;    /* as in an event's line */
	bool wall;
};

/* ---- a run, from its beginning to its end ------------------------------------------- */

struct nw_begin {
	const struct nw_selection *selection;
	const struct nw_span_def *spans; /* where the format has spans */
	size_t span_count;
	/* where spans are grouped: by what, and who knows the groups' names; or NULL */
	const char *group_by;
	const struct nw_summary *summary;
	size_t hidden; /* of the probes, that nobody has asked for */
	size_t sites;  /* that are armed */
	bool net;      /* as in a report */
	bool header;   /* text: name the columns of events, */
	bool bold;     /* so */
};

/* A probe was disabled in mid-run. */
struct nw_disabled {
	const struct nw_probe *probe;
	const struct nw_probe_state *state;
	uint64_t after_ns; /* since the beginning */
};

struct nw_end {
	uint64_t lost;			/* events, */
	bool lost_is_least;		/* or more */
	uint64_t discarded;		/* spans, for that */
	uint64_t dropped;		/* as in a report */
	uint64_t incomplete;		/* hits of which some records were lost */
	uint64_t unmapped, doubtful;	/* struct nw_stack_losses */
	const struct nw_unread *unread; /* files that --stack could not read, by reason */
	size_t unread_count;
	bool has_filter;   /* there is a filter, */
	uint64_t filtered; /* which took out so many hits */
	enum nw_end_reason reason;
	uint64_t elapsed_ns;
};

/* What hits that were not recorded are, in words behind their number. */
const char *nw_dropped_text(bool restricted);
/* "17 events lost", "at least 1 event lost"; least: not all of them could be counted. */
void nw_lost_text(uint64_t lost, bool least, char out[48]);

/* ---- facts -------------------------------------------------------------------------- */

/* Uprobe events of the system. */
struct nw_status {
	const nw_event_statuses *events;
	bool has_hits; /* the kernel's counts are known */
	bool details;  /* text: the definitions, too */
	bool bold;
};

/* ---- formats ------------------------------------------------------------------------ */

/* What a command has to show. */
enum nw_shows {
	NW_SHOWS_FACTS,	  /* lists: sites, features, verdicts */
	NW_SHOWS_EVENTS,  /* begin, each event, end */
	NW_SHOWS_REPORTS, /* begin, reports, end */
	NW_SHOWS_COUNT
};

struct nw_output;

/*
 * A format is one such struct in a file of its own, and a row of nw_output_formats (nopwatch/formats.h). Each function
 * appends to output->text, which the caller writes away and empties whenever it likes; a format
 * that can only be written as a whole appends nothing before end(). NULL: nothing to say.
 *
 * A run is begin, then whatever happens in the order of time, and end. Facts are one call each.
 */
struct nw_output_format {
	const char *name; /* of -f */
	bool shows[NW_SHOWS_COUNT];
	bool for_people; /* tables and titles; what is long goes through a pager */
	bool cumulative; /* every report is of everything so far: counters that only grow */
	bool spans;	 /* events: span() is called, too */
	bool bins;	 /* reports: shows what happened when, so bins are kept */
	bool states;	 /* can show what threads did in spans (--states) */
	bool costs;	 /* can show what the probes have added to spans */
	bool stacks;	 /* can show who called (--stack) */
	bool only_stacks; /* shows stacks and nothing else */
	bool binary;	  /* is refused on a terminal */
	bool whole; /* a report is a file: -o's is replaced by the next one in one step */
	bool for_collectors; /* another user's program reads the file, so its mode is that of any new file */
	size_t state_size; /* output->state: so many bytes, zeroed; 0: it keeps nothing */
	void (*free)(struct nw_output *output); /* what the state points to */

	void (*begin)(struct nw_output *output, const struct nw_begin *begin);
	void (*event)(struct nw_output *output, const struct nw_event_line *line);
	/* What becomes of a span; if a hit makes it so, just behind the hit's event. */
	void (*span)(struct nw_output *output, const struct nw_span_event *event);
	/* A span that took long; NULL: the format cannot show it. */
	void (*slow)(struct nw_output *output, const struct nw_slow_span *slow);
	void (*loss)(struct nw_output *output, const struct nw_record *loss);
	void (*disabled)(struct nw_output *output, const struct nw_disabled *disabled);
	void (*report)(struct nw_output *output, const struct nw_report *report);
	/* Instead of `count` reports of intervals in which nothing happened, from `first` on. */
	void (*quiet)(struct nw_output *output, uint64_t first, uint64_t count);
	void (*end)(struct nw_output *output, const struct nw_end *end);

	/* A site; types: what is known of its arguments beside the note, or NULL. Its fetches are
	 * those of a kernel that has everything. */
	void (*site)(struct nw_output *output, struct nw_image *image,
		     const struct nw_site *site, const struct nw_types *types);
	/* A function: the linker's name and the one to show (struct nw_functions). */
	void (*function)(struct nw_output *output, struct nw_image *image,
			 const char *symbol, const char *name);
	/* A note that was left out. */
	void (*skipped)(struct nw_output *output, const struct nw_image *image,
			const struct nw_skipped *skipped);
	void (*features)(struct nw_output *output, const struct nw_features *features);
	void (*status)(struct nw_output *output, const struct nw_status *status);
	/* What became of an event that stays. */
	void (*change)(struct nw_output *output, const struct nw_change *change);
	/* Checks, one a line, then the verdict and its remedies. label: the probe, where there are
	 * several; NULL: there is one. */
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
	format(perfetto) \
	format(html) \
	format(folded)
/* clang-format on */
#define NW_DECLARE_FORMAT(name) extern const struct nw_output_format nw_output_##name;
NW_OUTPUT_FORMATS(NW_DECLARE_FORMAT)

/* What is being written. */
struct nw_output {
	const struct nw_output_format *format;
	struct nw_buf text; /* made, and not yet written */
	void *state;
};

/* The mode of a new file (NW_FILE_PRIVATE, ...). */
unsigned int nw_output_mode(const struct nw_output_format *format);
/* -ENOMEM. */
int nw_output_make(const struct nw_output_format *format, struct nw_output *out);
void nw_output_free(struct nw_output *output);

/* The functions of its format, where it has them. */
void nw_output_begin(struct nw_output *output, const struct nw_begin *begin);
void nw_output_event(struct nw_output *output, const struct nw_event_line *line);
void nw_output_span(struct nw_output *output, const struct nw_span_event *event);
void nw_output_slow(struct nw_output *output, const struct nw_slow_span *slow);
void nw_output_loss(struct nw_output *output, const struct nw_record *loss);
void nw_output_disabled(struct nw_output *output, const struct nw_disabled *disabled);
void nw_output_report(struct nw_output *output, const struct nw_report *report);
void nw_output_quiet(struct nw_output *output, uint64_t first, uint64_t count);
void nw_output_end(struct nw_output *output, const struct nw_end *end);

#endif
