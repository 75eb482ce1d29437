/* SPDX-License-Identifier: MIT */
/* What reports ask of the consumer that measures. */
#ifndef NOPWATCH_CONSUMERS_MEASURE_H
#define NOPWATCH_CONSUMERS_MEASURE_H

#include "nopwatch/engine.h"

/*
 * In mid-run: begin again, with other groups. Spans that are open now are discarded; what was lost
 * stays counted. by must live as long as the measure; NULL: no groups. A key must be one of
 * nw_measure_keys(); if it is not, nothing is changed.
 */
int nw_measure_regroup(struct nw_measure *measure, const char *by, struct nw_error *err);

#endif
