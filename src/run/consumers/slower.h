/* SPDX-License-Identifier: MIT */
/* Decides which spans are slow, for the consumer that summarises. */
#ifndef NOPWATCH_RUN_CONSUMERS_SLOWER_H
#define NOPWATCH_RUN_CONSUMERS_SLOWER_H

#include "run/engine.h"

/* Writes "spans of at least 50ms", "spans longer than p99 of those before them", or "" for any length. */
void nw_slower_text(const struct nw_slower *slower, char out[64]);

int nw_slow_watch_open(const struct nw_slower *slower, size_t spans,
		       struct nw_slow_watch **out); /* -ENOMEM */
void nw_slow_watch_free(struct nw_slow_watch *watch);
/*
 * Takes each event of a span. Returns true if the span has ended and was slow; *out has its start, latency, limit and
 * hits, which are valid until the next call.
 */
bool nw_slow_watch_failed(const struct nw_slow_watch *watch); /* Did memory run out? */
bool nw_slow_watch_span(struct nw_slow_watch *watch, const struct nw_span_event *event,
			struct nw_slow_span *out);
/* Keeps a copy of a span that was slow, and drops the one that does not belong to the slowest any more. -ENOMEM. */
int nw_slow_watch_keep(struct nw_slow_watch *watch, const struct nw_slow_span *slow,
		       uint32_t span);
typedef NW_VEC(struct nw_slow_span) nw_slow_spans;
/* Appends the spans of a kind that are kept, the slowest first; they are valid until a next one is kept. -ENOMEM. */
int nw_slow_watch_kept(const struct nw_slow_watch *watch, uint32_t span,
		       nw_slow_spans *out);

#endif
