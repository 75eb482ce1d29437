// SPDX-License-Identifier: MIT
/* See slower.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slower.h"

/* A copy of a slow span, with everything that it points to and that does not outlive the span. */
struct kept {
	struct nw_slow_span slow;
	struct nw_hit *began, *ended;
	struct nw_task task;
	struct nw_span_states states;
};

/* The spans of one kind so far: for a percentile their latencies, and the slowest of them, in this order. */
struct kind {
	NW_VEC(struct kept *) slowest;
	struct nw_histogram seen;
	uint64_t least; /* the limit; UINT64_MAX: there are too few spans */
	uint64_t again; /* number of spans at which the limit is computed again */
};

struct nw_slow_watch {
	struct nw_slower slower;
	struct nw_span_starts *starts;
	struct kind *kind; /* by span */
	size_t kinds;
};

int nw_slower_parse(const char *text, struct nw_slower *out)
{
	*out = (struct nw_slower){0};
	if (text[0] != 'p' || !isdigit((unsigned char)text[1]))
		return nw_parse_duration(text, &out->ns) < 0 || !out->ns ? -EINVAL : 0;
	char *end;
	double percent = strtod(text + 1, &end);
	if (*end || !(percent > 0 && percent < 100))
		return -EINVAL;
	out->percentile = percent / 100;
	return 0;
}

void nw_slower_text(const struct nw_slower *slower, char out[64])
{
	char duration[16];

	out[0] = '\0';
	if (slower->percentile > 0) {
		snprintf(out, 64, "spans longer than p%g of those before them",
			 100 * slower->percentile);
	} else if (slower->ns) {
		nw_duration_text(slower->ns, duration);
		snprintf(out, 64, "spans of at least %s", duration);
	}
}

int nw_slow_watch_open(const struct nw_slower *slower, size_t spans,
		       struct nw_slow_watch **out)
{
	struct nw_slow_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return -ENOMEM;
	*watch = (struct nw_slow_watch){.slower = *slower, .kinds = spans};
	watch->kind = calloc(spans + 1, sizeof(struct kind));
	if (!watch->kind || nw_span_starts_open(&watch->starts) < 0) {
		nw_slow_watch_free(watch);
		return -ENOMEM;
	}
	for (size_t i = 0; i < spans; i++)
		watch->kind[i].least = UINT64_MAX;
	*out = watch;
	return 0;
}

static void free_kept(struct kept *kept)
{
	free(kept->began);
	free(kept->ended);
	free(kept);
}

void nw_slow_watch_free(struct nw_slow_watch *watch)
{
	if (!watch)
		return;
	for (size_t i = 0; watch->kind && i < watch->kinds; i++) {
		nw_histogram_free(&watch->kind[i].seen);
		nw_vec_each (&watch->kind[i].slowest, kept)
			free_kept(*kept);
		nw_vec_free(&watch->kind[i].slowest);
	}
	free(watch->kind);
	nw_span_starts_free(watch->starts);
	free(watch);
}

/*
 * Returns the limit for a span of this latency, and counts the span. A percentile means nothing without spans above
 * it, so the first spans are never slow. The limit is not computed for each span, which would cost more than
 * everything else, but whenever there are a sixteenth more spans.
 */
static uint64_t limit_of(struct kind *kind, double percentile, uint64_t latency)
{
	uint64_t count = kind->seen.count, least = kind->least;

	if (count >= kind->again && (double)count * (1 - percentile) >= 1) {
		least = nw_histogram_percentile_most(&kind->seen, percentile);
		kind->least = least;
		kind->again = count + count / 16 + 1;
	}
	nw_histogram_add(&kind->seen, latency);
	return least;
}

/* Returns the latency that a span must exceed to be one of the slowest. */
static uint64_t least_kept(const struct kind *kind, size_t most)
{
	return kind->slowest.count < most ? 0 : kind->slowest.item[most - 1]->slow.latency;
}

static struct kept *copy_of(const struct nw_slow_span *slow)
{
	struct kept *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	kept->slow = *slow;
	kept->task = *slow->task;
	kept->slow.task = &kept->task;
	kept->slow.ended = kept->ended = nw_hit_copy(slow->ended);
	if (slow->began)
		kept->slow.began = kept->began = nw_hit_copy(slow->began);
	if (slow->states) {
		kept->states = *slow->states;
		kept->slow.states = &kept->states;
	}
	if (kept->ended && (kept->began || !slow->began))
		return kept;
	free_kept(kept);
	return NULL;
}

int nw_slow_watch_keep(struct nw_slow_watch *watch, const struct nw_slow_span *slow,
		       uint32_t span)
{
	struct kind *kind = &watch->kind[span];
	struct kept *kept = copy_of(slow);
	struct kept **slot = kept ? nw_vec_add(&kind->slowest) : NULL;
	size_t at = kind->slowest.count - 1;

	if (!slot) {
		if (kept)
			free_kept(kept);
		return -ENOMEM;
	}
	for (; at && kind->slowest.item[at - 1]->slow.latency < slow->latency; at--)
		kind->slowest.item[at] = kind->slowest.item[at - 1];
	kind->slowest.item[at] = kept;
	if (kind->slowest.count > watch->slower.slowest)
		free_kept(kind->slowest.item[--kind->slowest.count]);
	return 0;
}

int nw_slow_watch_kept(const struct nw_slow_watch *watch, uint32_t span, nw_slow_spans *out)
{
	size_t rank = 0;

	nw_vec_each (&watch->kind[span].slowest, kept) {
		struct nw_slow_span *slow = nw_vec_add(out);
		if (!slow)
			return -ENOMEM;
		*slow = (*kept)->slow;
		slow->rank = ++rank;
	}
	return 0;
}

bool nw_slow_watch_failed(const struct nw_slow_watch *watch)
{
	bool failed = nw_span_starts_failed(watch->starts);

	for (size_t i = 0; i < watch->kinds; i++)
		failed |= watch->kind[i].seen.failed;
	return failed;
}

bool nw_slow_watch_span(struct nw_slow_watch *watch, const struct nw_span_event *event,
			struct nw_slow_span *out)
{
	const struct nw_hit *began = nw_span_starts_follow(watch->starts, event, NULL);
	double percentile = watch->slower.percentile;

	if (event->moment != NW_SPAN_ENDS)
		return false;
	uint64_t latency = event->latency;
	struct kind *kind = &watch->kind[event->span];
	size_t most = watch->slower.slowest;
	uint64_t least = most		  ? least_kept(kind, most)
			 : percentile > 0 ? limit_of(kind, percentile, latency)
					  : watch->slower.ns;
	/* A span in the percentile's own bucket is as long as many other spans, so it is not slow. */
	if (percentile > 0 || (most && kind->slowest.count == most) ? latency <= least
								    : latency < least)
		return false;
	*out = (struct nw_slow_span){
		.began = began,
		.ended = event->hit,
		.start = event->start,
		.latency = latency,
		.least = least,
		.percentile = percentile,
		.cost = event->cost,
		.states = event->states,
	};
	return true;
}
