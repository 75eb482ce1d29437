/* SPDX-License-Identifier: MIT */
/* The functions of the measuring consumer that reports use. */
#ifndef NOPWATCH_RUN_CONSUMERS_MEASURE_H
#define NOPWATCH_RUN_CONSUMERS_MEASURE_H

#include "nopwatch/engine.h"

/* Behind the run, where it was a recording's: what of it is behind the last interval that was told is told, too,
 * although the last interval is shorter than the others. Then nw_summary_finish(). */
int nw_measure_end(struct nw_measure *measure, uint64_t end, struct nw_error *err);
/*
 * In mid-run: begin again, with other groups. Spans that are open now are discarded; what was lost
 * stays counted. by must live as long as the measure; NULL: no groups. A key must be one of
 * nw_measure_keys(); if it is not, nothing is changed.
 */
int nw_measure_regroup(struct nw_measure *measure, const char *by, struct nw_error *err);

#endif
