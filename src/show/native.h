/* SPDX-License-Identifier: MIT */
/*
 * A report as protobuf messages (metrics.proto of prometheus/client_model), with native histograms.
 *
 * Durations are there twice. nopwatch_latency_seconds is a classic histogram, as in text. nopwatch_latency_nanoseconds is a
 * native one of schema 5 (32 buckets in each power of two, as ours): in nanoseconds, powers of two are ends of our own buckets, so
 * counts there are exact; in seconds no boundary would be. Arguments have no unit, and one histogram that is both.
 */
#ifndef NOPWATCH_SHOW_NATIVE_H
#define NOPWATCH_SHOW_NATIVE_H

#include "show/rows/output.h"

extern const struct nw_output_format nw_output_native;

#endif
