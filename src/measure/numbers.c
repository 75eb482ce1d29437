// SPDX-License-Identifier: MIT
/* The numbers of probe and span rows: a table for each, which merging and all formats read. */
#include <stdlib.h>

#include "rows.h"
#include "sched/sleeps.h"

/* clang-format off */
#define PROBE(name) .at = offsetof(struct nw_probe_row, name)
#define SPAN(name) .at = offsetof(struct nw_span_row, name)

static const struct nw_number of_probes[] = {
	{"hits", NULL, "hits", "Hits of a probe.", NULL,
	 NW_NUMBER_COUNT, NW_NUMBER_EVENTS | NW_NUMBER_FIRST, PROBE(hits)},
	{"gap_ns", NULL, "gap_seconds", "From one hit of a probe to the next.", NULL,
	 NW_NUMBER_TIMES, 0, PROBE(gap)},
	{"args", "arg", "arg", "Values of an argument.", NULL,
	 NW_NUMBER_ARGS, 0, PROBE(args)},
};

static const struct nw_number of_spans[] = {
	{"latency_ns", NULL, "latency_seconds", "From the start of a span to its end", NULL,
	 NW_NUMBER_TIMES, NW_NUMBER_EVENTS | NW_NUMBER_LATENCY, SPAN(latency)},
	{"unmatched_starts", "unmatched_starts", "unmatched_starts", "Starts that had no end.", NULL,
	 NW_NUMBER_COUNT, NW_NUMBER_EVENTS | NW_NUMBER_UNMEASURED | NW_NUMBER_EARLY, SPAN(unmatched_starts)},
	{"unmatched_ends", "unmatched_ends", "unmatched_ends", "Ends that had no start.", NULL,
	 NW_NUMBER_COUNT, NW_NUMBER_EVENTS | NW_NUMBER_UNMEASURED | NW_NUMBER_EARLY, SPAN(unmatched_ends)},
	{"discarded", "discarded", "discarded_spans",
	 "Spans that may have straddled a loss and were not measured.", NULL,
	 NW_NUMBER_COUNT, NW_NUMBER_EVENTS | NW_NUMBER_UNMEASURED | NW_NUMBER_EARLY, SPAN(discarded)},
	{"abandoned", "abandoned", "abandoned_spans", "Calls that never returned.",
	 "statements failed or were cancelled (ABANDONED): PostgreSQL tells no end of these",
	 NW_NUMBER_COUNT, NW_NUMBER_EVENTS | NW_NUMBER_UNMEASURED | NW_NUMBER_STATEMENTS, SPAN(abandoned)},
	{"omitted", "omitted", "omitted_returns",
	 "Calls nested so deep that the kernel did not tell of their return.",
	 "calls were not measured: the kernel omits return probes beyond 64 nested calls",
	 NW_NUMBER_COUNT, NW_NUMBER_EVENTS | NW_NUMBER_UNMEASURED, SPAN(omitted)},
	{"repeated", "repeated", "repeated_starts",
	 "Starts of calls that began once more, as Go's do when their stack is moved.",
	 "hits of the entry were of calls that began once more, as Go's do when their stack is moved or others are to run",
	 NW_NUMBER_COUNT, NW_NUMBER_EVENTS, SPAN(repeated)},
	{"nested", "nested", "nested_spans",
	 "Spans paired by order that had others of the same key inside.",
	 "measured spans had others of the same kind inside: unless they nest, their latencies are wrong; use --span ...,nest=no, or key=ARG if a thread has several at a time",
	 NW_NUMBER_COUNT, 0, SPAN(nested)},
	{"inner", "inner", "inner_starts",
	 "Starts inside a span of the same key, which nest=outer does not measure.",
	 "starts were inside another span of the same key: only the outermost are measured (nest=outer)",
	 NW_NUMBER_COUNT, 0, SPAN(inner)},
	{"invalid", "invalid", "invalid_durations",
	 "Durations handed over that are negative, no number, or longer than the machine has run.",
	 "hits were not measured: the duration that they hand over is negative, no number, or longer than the machine has run (is its unit right?)",
	 NW_NUMBER_COUNT, NW_NUMBER_EVENTS | NW_NUMBER_UNMEASURED, SPAN(invalid)},
	{"probe_cost_ns", "probe_cost", "probe_cost_seconds",
	 "Probe overhead in spans.", NULL,
	 NW_NUMBER_COST, 0, SPAN(cost)},
	{"clamped", "net_clamped", "clamped_spans",
	 "Spans whose probe overhead is more than they took: they count as 0.",
	 "measured spans count as 0: their probe overhead is more than they took",
	 NW_NUMBER_COUNT, NW_NUMBER_NET, SPAN(clamped)},
	{"states_ns", "state", "state_seconds", "How long the thread of a span was in a state", NULL,
	 NW_NUMBER_STATES, NW_NUMBER_SPLIT | NW_NUMBER_LATENCY, SPAN(states)},
	{"unsplit", NULL, "unsplit_spans",
	 "Spans that were measured, but what their threads did is not known.", NULL,
	 NW_NUMBER_COUNT, NW_NUMBER_SPLIT, SPAN(unsplit)},
	{"slept_in", NULL, NULL, NULL, NULL,
	 NW_NUMBER_SLEPT_IN, NW_NUMBER_SPLIT, SPAN(channels)},
	{"woken_by", NULL, NULL, NULL, NULL,
	 NW_NUMBER_WOKEN_BY, NW_NUMBER_SPLIT, SPAN(wakers)},
};
/* clang-format on */

const struct nw_numbers nw_numbers[NW_SUBJECTS] = {
	[NW_SUBJECT_PROBES] = {of_probes, NW_COUNT(of_probes)},
	[NW_SUBJECT_SPANS] = {of_spans, NW_COUNT(of_spans)},
};

/* ---- one number --------------------------------------------------------------------- */

static void *place(const struct nw_number *number, const void *row)
{
	return (char *)(uintptr_t)row + number->at;
}

uint64_t nw_number_count(const struct nw_number *number, const void *row)
{
	return *(const uint64_t *)place(number, row);
}

struct nw_histogram *nw_number_times(const struct nw_number *number, const void *row)
{
	return number->kind == NW_NUMBER_TIMES
		       ? place(number, row)
		       : *(struct nw_histogram **)place(number, row);
}

struct nw_sleeps *nw_number_sleeps(const struct nw_number *number, const void *row)
{
	return *(struct nw_sleeps **)place(number, row);
}

bool nw_number_applies(const struct nw_number *number, const void *row, bool net)
{
	const struct nw_span_row *span = row;

	return !(number->is & (NW_NUMBER_NET | NW_NUMBER_SPLIT)) ||
	       (number->is & NW_NUMBER_NET ? net : span->states || span->unsplit);
}

size_t nw_number_parts(const struct nw_number *number, size_t args)
{
	return number->kind == NW_NUMBER_STATES ? NW_TASK_STATES
	       : number->kind == NW_NUMBER_ARGS ? args
						: 1;
}

/* Returns false without memory. */
static bool merge_times(const struct nw_number *number, void *into, const void *from,
			size_t args)
{
	const struct nw_histogram *more = nw_number_times(number, from);
	size_t count = nw_number_parts(number, args);

	if (!more || !count)
		return true;
	if (!nw_number_times(number, into))
		*(struct nw_histogram **)place(number, into) = calloc(count, sizeof(*more));
	struct nw_histogram *sum = nw_number_times(number, into);
	for (size_t i = 0; sum && i < count; i++)
		nw_histogram_merge(&sum[i], &more[i]);
	return sum;
}

static bool merge_number(const struct nw_number *number, void *into, const void *from,
			 size_t args)
{
	switch (number->kind) {
	case NW_NUMBER_COUNT:
		*(uint64_t *)place(number, into) += nw_number_count(number, from);
		return true;
	case NW_NUMBER_SLEPT_IN:
	case NW_NUMBER_WOKEN_BY:
		return nw_sleeps_merge(place(number, into), nw_number_sleeps(number, from));
	default:
		return merge_times(number, into, from, args);
	}
}

static void clear_number(const struct nw_number *number, void *row, size_t args)
{
	struct nw_histogram *times;
	struct nw_sleeps *sleeps;

	switch (number->kind) {
	case NW_NUMBER_COUNT:
		*(uint64_t *)place(number, row) = 0;
		break;
	case NW_NUMBER_SLEPT_IN:
	case NW_NUMBER_WOKEN_BY:
		sleeps = nw_number_sleeps(number, row);
		if (sleeps)
			sleeps->count = 0;
		break;
	default:
		times = nw_number_times(number, row);
		for (size_t i = 0; times && i < nw_number_parts(number, args); i++)
			nw_histogram_clear(&times[i]);
	}
}

static void free_number(const struct nw_number *number, void *row, size_t args)
{
	struct nw_histogram *times = NULL;
	void **at = place(number, row);

	if (number->kind == NW_NUMBER_COUNT)
		return;
	if (number->kind < NW_NUMBER_SLEPT_IN)
		times = nw_number_times(number, row);
	for (size_t i = 0; times && i < nw_number_parts(number, args); i++)
		nw_histogram_free(&times[i]);
	if (number->kind == NW_NUMBER_TIMES)
		return;
	free(*at);
	*at = NULL;
}

/* ---- a row -------------------------------------------------------------------------- */

uint64_t nw_row_count(enum nw_subject subject, const void *row)
{
	const struct nw_probe_row *probe = row;
	const struct nw_span_row *span = row;

	return subject == NW_SUBJECT_PROBES ? probe->hits : span->latency.count;
}

struct nw_histogram *nw_row_times(enum nw_subject subject, const void *row)
{
	nw_number_each (subject, number)
		if (number->kind == NW_NUMBER_TIMES)
			return nw_number_times(number, row);
	return NULL;
}

uint64_t nw_row_sum(enum nw_subject subject, const void *row, unsigned int is)
{
	uint64_t sum = 0;

	nw_number_each (subject, number)
		if (number->kind == NW_NUMBER_COUNT && (number->is & is) == is)
			sum += nw_number_count(number, row);
	return sum;
}

bool nw_row_has(enum nw_subject subject, const void *row)
{
	if (nw_row_count(subject, row) || subject == NW_SUBJECT_PROBES)
		return nw_row_count(subject, row);
	return nw_row_sum(subject, row, NW_NUMBER_EVENTS);
}

void nw_row_merge(enum nw_subject subject, void *into, const void *from, size_t args)
{
	bool merged = true;

	if (!nw_row_has(subject, from)) /* In most bins, most rows are empty. */
		return;
	nw_number_each (subject, number)
		merged &= merge_number(number, into, from, args);
	if (!merged)
		nw_row_times(subject, into)->failed = true;
}

void nw_row_clear(enum nw_subject subject, void *row, size_t args)
{
	if (!nw_row_has(subject, row))
		return;
	nw_number_each (subject, number)
		clear_number(number, row, args);
}

void nw_row_free(enum nw_subject subject, void *row, size_t args)
{
	nw_number_each (subject, number)
		free_number(number, row, args);
}

bool nw_row_failed(enum nw_subject subject, const void *row, size_t args)
{
	bool failed = false;

	nw_number_each (subject, number) {
		const struct nw_histogram *times =
			number->kind == NW_NUMBER_COUNT ||
					number->kind >= NW_NUMBER_SLEPT_IN
				? NULL
				: nw_number_times(number, row);
		for (size_t i = 0; times && i < nw_number_parts(number, args); i++)
			failed |= times[i].failed;
	}
	return failed;
}
