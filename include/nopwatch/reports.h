/* SPDX-License-Identifier: MIT */
/*
 * run: the consumer of `stat`: it measures a run and writes reports in a format, once an interval, when SIGUSR1 asks,
 * and at the end.
 */
#ifndef NOPWATCH_REPORTS_H
#define NOPWATCH_REPORTS_H

#include "nopwatch/engine.h"

struct nw_reports;

/*
 * Somebody who shows the run while it goes on, as `top` does: then nothing is written before the end,
 * other groups may be asked for in mid-run, and pictures of everything are kept. They return as the
 * functions of struct nw_measure_options.
 */
struct nw_reports_live {
	void *arg;
	int (*armed)(void *arg, struct nw_reports *reports, struct nw_error *err);
	/* An interval is over, which the summary now has. */
	int (*interval)(void *arg, uint64_t start, uint64_t end, struct nw_error *err);
	int (*tick)(void *arg, struct nw_error *err);
	/* The run is being taken down. */
	void (*leave)(void *arg);
};

struct nw_reports_options {
	/* What is measured: spans, by, hists, interval_ns, count, slower, states. The rest is set
	 * here. */
	struct nw_measure_options measure;
	const struct nw_output_format *format; /* one that has reports */
	/* How it is shown: see struct nw_report. hist_args are the measure's. */
	struct nw_view view;
	bool gaps, prometheus;
	bool replaces; /* what is written takes the place of what was written before */
	bool recorded; /* the source is a recording: every argument that it has is kept */
	const char *source;		    /* its name; or NULL */
	const struct nw_reports_live *live; /* or NULL */

	void *arg;
	/* As the measure's; the format's output begins behind armed(). start() may still change
	 * replaces. Any but write() may be NULL. */
	int (*start)(void *arg, struct nw_reports *reports, struct nw_error *err);
	void (*armed)(void *arg, const struct nw_run_result *so_far);
	void (*tick)(void *arg, const struct nw_run_result *so_far);
	/* Before each report: set what depends on where it is shown, view.width and bold. */
	void (*style)(void *arg, struct nw_report *report);
	/* Write the text away, and empty it. */
	int (*write)(void *arg, struct nw_buf *text, struct nw_error *err);
	/* What is written from here on is all that there is. */
	void (*only)(void *arg);
};

struct nw_reports {
	struct nw_reports_options options;
	struct nw_measure measure;
	struct nw_output output;
	const char *by;		/* as it is grouped, */
	char slower[64];	/* which spans count for stacks; "": all */
	uint64_t since;		/* since then; 0: from the start */
	uint64_t lost_before;	/* what was lost up to the interval before */
	uint64_t slow_left_out; /* slow spans of a live view, of which not all are kept */
	const struct nw_run_result *result; /* once it has ended; NULL: it goes on */
};

/* out must not move as long as it is open. A mistake in options->measure.by is a usage error. */
int nw_reports_open(const struct nw_reports_options *options, struct nw_reports *out,
		    struct nw_error *err);
/* For nw_run(). If that fails, measure.failure says more where it has a code. */
struct nw_consumer nw_reports_consumer(struct nw_reports *reports);
/* The run has ended so; the result must stay as long as the reports are open. */
void nw_reports_ended(struct nw_reports *reports, const struct nw_run_result *result);
/* The report of everything, and the output's end. */
int nw_reports_finish(struct nw_reports *reports, struct nw_error *err);
/* In a live view: other groups from here on, and nothing else counts; by must live as long as the run. */
int nw_reports_regroup(struct nw_reports *reports, const char *by, struct nw_error *err);
/* Write a report of what was seen so far to a file; the end of its name says in which format. */
int nw_reports_write(struct nw_reports *reports, const char *path, struct nw_error *err);
void nw_reports_free(struct nw_reports *reports);

#endif
