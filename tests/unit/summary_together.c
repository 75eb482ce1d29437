// SPDX-License-Identifier: MIT
/* summary: hits that are passed together count as hits that are passed one by one, however their spans are paired. */
#include <inttypes.h>
#include <string.h>

#include "measure/spans/pairs.h"
#include "measure/summary.h"
#include "open_spans.h"
#include "plan/plan.h"
#include "unit.h"

/* Paired by frames, as calls, and by their order. */
static const char *const plans[] = {
	"nopwatch-plan 1\nimage /bin/app\n"
	"probe 0 0 app f__start app:f__start 0\npoint 1 1 0\n"
	"probe 0 0 app f__done app:f__done 0\npoint 2 2 0\n"
	"probe 0 0 app g__start app:g__start 0\npoint 3 3 0\n"
	"probe 0 0 app g__done app:g__done 0\npoint 4 4 0\n"
	"planned 0 0 1 0\nframe 0 16 4096\nplanned 1 0 1 0\nframe 0 16 4096\n"
	"planned 2 0 1 0\nframe 0 16 4096\nplanned 3 0 1 0\nframe 0 16 4096\n",
	"nopwatch-plan 1\nimage /bin/app\n"
	"probe 0 1 uprobe f uprobe:f 0\nprobe 0 2 uretprobe f uretprobe:f 0\n"
	"probe 0 1 uprobe g uprobe:g 0\nprobe 0 2 uretprobe g uretprobe:g 0\n",
	"nopwatch-plan 1\nimage /bin/app\n"
	"probe 0 0 app f__start app:f__start 0\nprobe 0 0 app f__done app:f__done 0\n"
	"probe 0 0 app g__start app:g__start 0\nprobe 0 0 app g__done app:g__done 0\n",
};
enum {
	FRAMES,
	CALLS,
	ORDER,
	PROBES = 4
};

static const struct nw_hit_cost costs[PROBES] = {{400, 300}, {500, 20}, {7, 60}, {90, 0}};

enum overhead {
	UNKNOWN,
	KNOWN,
	NET
};

static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_summary *summary;
static nw_span_defs spans;

static void setup(int how, enum overhead overhead)
{
	const char *text = plans[how];

	ck_assert_int_eq(
		nw_plan_load(text, strlen(text), &selection, &plan, NULL, NULL, NULL, NULL),
		0);
	ck_assert_int_eq(nw_spans_by_name(&selection, &spans), 0);
	ck_assert_uint_eq(spans.count, 2);
	const struct nw_summary_options options = {
		.selection = &selection, .spans = spans.item, .span_count = spans.count};
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
	if (how != ORDER)
		nw_summary_use_stacks(summary);
	if (overhead != UNKNOWN)
		ck_assert_int_eq(nw_summary_use_cost(summary, costs, overhead == NET), 0);
}

static void teardown(void)
{
	nw_summary_free(summary);
	nw_spans_free(&spans);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
	spans = (nw_span_defs){0};
}

static void dump_histogram(const struct nw_histogram *h, struct nw_buf *out)
{
	struct nw_bucket bucket;
	unsigned int at = 0;

	if (!h)
		return;
	nw_buf_printf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 ":", h->count,
		      h->sum, h->count ? h->min : 0, h->count ? h->max : 0);
	while (nw_histogram_next(h, &at, &bucket))
		nw_buf_printf(out, " %" PRIu64 "x%" PRIu64, bucket.low, bucket.count);
}

/* All that the rows have. */
static void dump(struct nw_buf *out)
{
	const struct nw_group_rows *rows = nw_summary_rows(summary, 0, true);

	for (uint32_t i = 0; i < PROBES; i++) {
		const struct nw_probe_row *row = nw_group_probe(rows, i);
		nw_buf_printf(out, "probe %" PRIu64 " %" PRIu64, row->hits, row->last);
		dump_histogram(&row->gap, out);
		nw_buf_addc(out, '\n');
	}
	for (uint32_t i = 0; i < spans.count; i++) {
		const struct nw_span_row *row = nw_group_span(rows, i);
		nw_buf_printf(out,
			      "span %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			      " %" PRIu64 " %" PRIu64,
			      row->abandoned, row->unmatched_starts, row->unmatched_ends,
			      row->discarded, row->nested, row->clamped);
		dump_histogram(&row->latency, out);
		dump_histogram(row->cost, out);
		nw_buf_addc(out, '\n');
	}
	nw_buf_printf(out, "open %zu\n", open_spans(summary));
}

/* ---- hits --------------------------------------------------------------------------- */

enum {
	HITS = 600,
	PIECE = 100 /* hits between two events of other kinds */
};

/*
 * Hits of two threads, and of the idle one. A start and its end follow each other more often than not, but the end may be
 * another span's, in another frame, in another thread, or earlier by its time.
 */
static void make_hits(unsigned int seed, struct nw_hit *hits)
{
	uint64_t random = seed * 0x9e3779b97f4a7c15u + 1, time = 1000;

	for (size_t i = 0; i < HITS; i++) {
		random = nw_hash64(random);
		const struct nw_hit *last = i ? &hits[i - 1] : NULL;
		bool follows = last && last->probe % 2 == 0 && random % 8 < 5;
		bool back = (random >> 8) % 32 == 0;
		time += random >> 16 & 1023;
		hits[i] = (struct nw_hit){
			.time = back && time > 2000 ? time - 1500 : time,
			.cpu = random >> 32 & 1,
			.tid = follows ? last->tid : (int32_t)(random >> 40 & 15) % 3,
			.probe = follows ? last->probe + 1
					 : (uint32_t)(random >> 48) % PROBES,
			.stack = follows && random >> 56 & 7 ? last->stack
							     : 64 + (random >> 60 & 3) * 16,
		};
		hits[i].planned = hits[i].probe;
	}
}

/* An event between two pieces: events are lost, a thread ends, or, late, a probe is disabled. */
static void happen(size_t piece, const struct nw_hit *before)
{
	if (piece == 1)
		nw_summary_loss(summary, before->time + 700, 1);
	if (piece == 3)
		nw_summary_exit(summary, before->tid);
	if (piece == 5)
		nw_summary_disabled(summary, 1, before->time + 2000);
}

/* Passes the hits in parts of at most `most`, and dumps what came of them. */
static void pass(const struct nw_hit *hits, size_t most, struct nw_buf *out)
{
	for (size_t piece = 0; piece < HITS / PIECE; piece++) {
		const struct nw_hit *first = hits + piece * PIECE;
		if (piece)
			happen(piece, first - 1);
		for (size_t at = 0, count; at < PIECE; at += count) {
			count = nw_min64(most, PIECE - at);
			ck_assert_int_eq(
				most > 1 ? nw_summary_hits(summary, first + at, count)
					 : nw_summary_hit(summary, first + at, 1, 0),
				0);
		}
		dump(out);
	}
	nw_summary_finish(summary);
	dump(out);
}

static void compare(int how, enum overhead overhead, unsigned int seed)
{
	static const size_t parts[] = {1, 2, 3, 17, PIECE};
	struct nw_hit hits[HITS];
	struct nw_buf wanted = {0};

	make_hits(seed, hits);
	for (size_t i = 0; i < NW_COUNT(parts); i++) {
		struct nw_buf seen = {0};
		setup(how, overhead);
		pass(hits, parts[i], i ? &seen : &wanted);
		ck_assert_msg(i == 0 || strcmp(nw_buf_str(&seen), nw_buf_str(&wanted)) == 0,
			      "plan %d, overhead %d, seed %u, by %zu:\n%s\nnot\n%s", how,
			      overhead, seed, parts[i], nw_buf_str(&seen),
			      nw_buf_str(&wanted));
		nw_buf_free(&seen);
		teardown();
	}
	nw_buf_free(&wanted);
}

START_TEST(together_as_one_by_one)
{
	for (int how = FRAMES; how <= ORDER; how++)
		for (int overhead = UNKNOWN; overhead <= NET; overhead++)
			for (unsigned int seed = 0; seed < 30; seed++)
				compare(how, (enum overhead)overhead, seed);
}
END_TEST

/* The overhead of a pair that follows each other is in the sum of its thread: a span around it pays for it. */
START_TEST(a_span_pays_for_the_pairs_inside)
{
	const struct nw_hit hits[] = {{.time = 1000, .tid = 7, .probe = 0, .stack = 96},
				      {.time = 5000, .tid = 7, .probe = 2, .stack = 64},
				      {.time = 6000, .tid = 7, .probe = 3, .stack = 64},
				      {.time = 9000, .tid = 7, .probe = 1, .stack = 96}};

	for (int how = FRAMES; how <= ORDER; how++) {
		setup(how, KNOWN);
		for (int i = 0; i < 2; i++)
			ck_assert_int_eq(nw_summary_hits(summary, hits, NW_COUNT(hits)), 0);
		const struct nw_group_rows *rows = nw_summary_rows(summary, 0, true);
		ck_assert_uint_eq(nw_group_span(rows, 0)->cost->sum,
				  2 * (300 + 7 + 60 + 90 + 0 + 500));
		ck_assert_uint_eq(nw_group_span(rows, 1)->cost->sum, 2 * (60 + 90));
		teardown();
	}
}
END_TEST

UNIT_MAIN("summary_together", together_as_one_by_one, a_span_pays_for_the_pairs_inside)
