/* SPDX-License-Identifier: MIT */
/*
 * run: the consumer of `stat`. It measures a run and writes reports in a format: after each interval, at SIGUSR1, and
 * at the end.
 */
#ifndef NOPWATCH_RUN_CONSUMERS_REPORTS_H
#define NOPWATCH_RUN_CONSUMERS_REPORTS_H

#include "run/engine.h"

struct nw_reports;

/*
 * A live view of the run, as in `top`. Nothing is written before the end then, the user may request other groups
 * during the run, and pictures of everything are kept. The functions return as those of struct nw_measure_options.
 */
struct nw_reports_live {
	void *arg;
	int (*armed)(void *arg, struct nw_reports *reports, struct nw_error *err);
	/* An interval is over, and the summary includes it. */
	int (*interval)(void *arg, uint64_t start, uint64_t end, struct nw_error *err);
	int (*tick)(void *arg, struct nw_error *err);
	/* The run is about to end. */
	void (*leave)(void *arg);
};

struct nw_reports_options {
	/* The caller sets spans, by, hists, interval_ns, count, slower and states. nw_reports_open() sets all other fields. */
	struct nw_measure_options measure;
	const struct nw_output_format *format; /* a format that has reports */
	/* How to show it: see struct nw_report. hists are those of the measure. */
	struct nw_view view;
	bool gaps, prometheus;
	const struct nw_boundaries *boundaries; /* as in a report */
	bool replaces;				/* each report replaces the one before */
	bool recorded;	     /* the source is a recording: all its arguments are kept */
	const char *source;  /* the name of the source; or NULL */
	const char *service; /* nw_result_resource() */
	bool names_engine;   /* the header of JSON tells who counted (enum nw_engine) */
	const struct nw_reports_live *live; /* or NULL */

	void *arg;
	/* As in the measure's options. The format's output begins after armed(). start() may still change `replaces`.
	 * All except write() may be NULL. */
	int (*start)(void *arg, struct nw_reports *reports, struct nw_error *err);
	void (*armed)(void *arg, const struct nw_run_result *so_far);
	void (*tick)(void *arg, const struct nw_run_result *so_far);
	/* Called before each report: sets the layout, which depends on where it is shown. */
	void (*style)(void *arg, struct nw_report *report);
	/* Writes the text, and empties it. */
	int (*write)(void *arg, struct nw_buf *text, struct nw_error *err);
	/* Tells that all text from here on replaces earlier text. */
	void (*only)(void *arg);
};

struct nw_reports {
	struct nw_reports_options options;
	struct nw_measure measure;
	struct nw_output output;
	const char *by;	      /* current group keys */
	char slower[64];      /* which spans have stacks; "": all */
	uint64_t since;	      /* time of the last change of groups; 0: the start */
	uint64_t lost_before; /* lost events up to the previous interval */
	/* The report that is written now shows these open spans; the states of each are in the other array. */
	NW_VEC(struct nw_slow_span) open;
	struct nw_span_states *open_states;
	uint64_t slow_left_out; /* slow spans of a live view that are not all kept */
	const struct nw_run_result *result; /* after the end of the run; NULL: it goes on */
};

/* `out` must not move while it is open. A mistake in options->measure.by is a usage error. */
int nw_reports_open(const struct nw_reports_options *options, struct nw_reports *out,
		    struct nw_error *err);
/* Returns the consumer for nw_run(). If that fails, measure.failure tells more if it has a code. */
struct nw_consumer nw_reports_consumer(struct nw_reports *reports);
/* Tells that the run has ended; the result must stay valid as long as the reports are open. */
void nw_reports_ended(struct nw_reports *reports, const struct nw_run_result *result);
/* Writes the final report, and ends the output. */
int nw_reports_finish(struct nw_reports *reports, struct nw_error *err);
/* In a live view: changes the groups from here on, and drops all earlier hits. `by` must live as long as the run. */
int nw_reports_regroup(struct nw_reports *reports, const char *by, struct nw_error *err);
/* Writes a report so far to a file; the ending of its name determines the format. */
int nw_reports_write(struct nw_reports *reports, const char *path, struct nw_error *err);
/* Puts a report of everything until now into `out`, whose text before is dropped, in a format that needs nothing else, such as
 * nw_exposition_format(); prometheus: as in a report. */
int nw_reports_render(struct nw_reports *reports, const struct nw_output_format *format,
		      bool prometheus, struct nw_buf *out, struct nw_error *err);
void nw_reports_free(struct nw_reports *reports);

#endif
