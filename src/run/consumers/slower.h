/* SPDX-License-Identifier: MIT */
/* Decides which spans are slow, for the consumer that summarises. */
#ifndef NOPWATCH_RUN_CONSUMERS_SLOWER_H
#define NOPWATCH_RUN_CONSUMERS_SLOWER_H

#include "nopwatch/engine.h"

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

#endif
