/* SPDX-License-Identifier: MIT */
/* The functions of the measuring consumer that reports use. */
#ifndef NOPWATCH_RUN_CONSUMERS_MEASURE_H
#define NOPWATCH_RUN_CONSUMERS_MEASURE_H

#include "run/engine.h"

/* Reports the intervals that have ended before the end of the run. */
int nw_measure_catch_up(struct nw_measure *measure, uint64_t end, struct nw_error *err);
/* Does the same behind the run, and reports the rest behind the last interval as a shorter interval. The summary gives up
 * what is open before that. */
int nw_measure_end(struct nw_measure *measure, uint64_t end, struct nw_error *err);
/*
 * Begins again with other groups during a run. Open spans are discarded; losses stay counted. `by` must outlive the
 * measure; NULL: no groups. A key must be one of nw_measure_keys(); otherwise nothing is changed.
 */
int nw_measure_regroup(struct nw_measure *measure, const char *by, struct nw_error *err);

/* Takes what `add` or `script` was asked to count, in place of the options, before anything is opened by these. */
int nw_measure_take_kept(struct nw_measure *measure, const struct nw_kept *kept,
			 struct nw_error *err);
/* count(), stopping() and stopped() of the consumer: the kernel counts (kernel_counts.h). */
int nw_measure_count(void *measure, struct nw_run *run, const struct nw_triggers **out,
		     struct nw_error *err);
void nw_measure_stopping(void *measure, struct nw_run *run);
void nw_measure_stopped(void *measure);
/* Adds what the kernel has counted up to now to the summary, if it counts. */
int nw_measure_refresh(struct nw_measure *measure, struct nw_error *err);
/* Fails if what the kernel has counted could not be read, or is wrong since spans are nested. */
int nw_measure_check_counts(const struct nw_measure *measure, struct nw_error *err);

#endif
