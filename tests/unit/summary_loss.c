// SPDX-License-Identifier: MIT
/* summary: nothing is measured across a loss, and a loss costs nothing else. */
#include <inttypes.h>

#include "one_span.h"

static void setup(enum nw_span_key key)
{
	setup_options((struct nw_summary_options){0}, key);
}

static const struct nw_span_row *span_row(void)
{
	return nw_group_span(nw_summary_rows(summary, 0, false), 0);
}

static const struct nw_probe_row *probe_row(uint32_t probe)
{
	return nw_group_probe(nw_summary_rows(summary, 0, false), probe);
}

static void hit_key(uint32_t probe, int32_t tid, uint64_t key, uint64_t time)
{
	const struct nw_value value = {.kind = NW_VALUE_UNSIGNED, .number = key};
	const struct nw_hit hit = {.time = time,
				   .tid = tid,
				   .probe = probe,
				   .values = &value,
				   .value_count = 1};

	ck_assert_int_eq(nw_summary_hit(summary, &hit, 1, 0), 0);
}

static void hit(uint32_t probe, int32_t tid, uint64_t time)
{
	hit_key(probe, tid, 0, time);
}

/* ---- cases -------------------------------------------------------------------------- */

/* Spans measured, their sum, and the three counts. */
static void expect(uint64_t count, uint64_t sum, uint64_t starts, uint64_t ends,
		   uint64_t discarded)
{
	const struct nw_span_row *row = span_row();

	ck_assert_uint_eq(row->latency.count, count);
	ck_assert_uint_eq(row->latency.sum, sum);
	ck_assert_uint_eq(row->unmatched_starts, starts);
	ck_assert_uint_eq(row->unmatched_ends, ends);
	ck_assert_uint_eq(row->discarded, discarded);
	ck_assert_uint_eq(nw_summary_discarded(summary), discarded);
}

START_TEST(a_span_over_a_loss_is_discarded)
{
	setup(NW_KEY_TID);
	hit(START, 1, 100);
	hit(START, 2, 110);
	hit(DONE, 2, 120);
	nw_summary_loss(summary, 200, 17);
	hit(DONE, 1, 210);
	expect(1, 10, 0, 0, 1);
	ck_assert_uint_eq(nw_summary_lost(summary), 17);
	ck_assert_uint_eq(open_spans(summary), 0);
}
END_TEST

START_TEST(a_loss_of_unknown_size_is_one_event_at_least)
{
	setup(NW_KEY_TID);
	nw_summary_loss(summary, 200, 7);
	ck_assert(!nw_summary_lost_is_least(summary));
	nw_summary_loss(summary, 300, 0);
	ck_assert(nw_summary_lost_is_least(summary));
	ck_assert_uint_eq(nw_summary_lost(summary), 8);
}
END_TEST

START_TEST(a_start_behind_a_loss_drops_those_before_it)
{
	setup(NW_KEY_TID);
	hit(START, 1, 100);
	hit(START, 1, 110);
	nw_summary_loss(summary, 200, 0);
	hit(START, 1, 220);
	expect(0, 0, 0, 0, 2);
	hit(DONE, 1, 225);
	hit(DONE, 1, 226); /* of one that was dropped */
	expect(1, 5, 0, 1, 2);
}
END_TEST

START_TEST(a_span_within_the_time_of_a_loss_is_discarded)
{
	setup(NW_KEY_TID);
	nw_summary_loss(summary, 200, 0); /* on some other CPU, from 100 on */
	hit(START, 1, 150);
	hit(DONE, 1, 160);
	hit(START, 1, 199);
	hit(DONE, 1, 201);
	expect(0, 0, 0, 0, 2);
}
END_TEST

START_TEST(the_first_event_behind_a_loss_counts)
{
	setup(NW_KEY_TID);
	nw_summary_loss(summary, 200, 0);
	hit(START, 1, 200);
	hit(DONE, 1, 203);
	hit(START, 1, 204);
	expect(1, 3, 0, 0, 0);
	ck_assert_uint_eq(probe_row(START)->gap.sum, 4);
}
END_TEST

START_TEST(an_earlier_loss_that_is_told_later_changes_nothing)
{
	setup(NW_KEY_TID);
	nw_summary_loss(summary, 200, 1);
	nw_summary_loss(summary, 150, 2);
	hit(START, 1, 190);
	hit(DONE, 1, 210);
	expect(0, 0, 0, 0, 1);
	ck_assert_uint_eq(nw_summary_lost(summary), 3);
}
END_TEST

START_TEST(gaps_over_a_loss_are_not_measured)
{
	setup(NW_KEY_TID);
	hit(DONE, 1, 100);
	hit(DONE, 1, 110);
	nw_summary_loss(summary, 200, 0);
	hit(DONE, 1, 150); /* another CPU's, meanwhile */
	hit(DONE, 1, 230);
	hit(DONE, 1, 270);
	ck_assert_uint_eq(probe_row(DONE)->hits, 5);
	ck_assert_uint_eq(probe_row(DONE)->gap.count, 2);
	ck_assert_uint_eq(probe_row(DONE)->gap.sum, 10 + 40);
}
END_TEST

START_TEST(what_is_open_at_the_end_is_discarded_only_if_it_met_a_loss)
{
	setup(NW_KEY_TID);
	hit(START, 1, 100);
	hit(START, 2, 110);
	nw_summary_loss(summary, 200, 0);
	hit(START, 3, 210);
	nw_summary_exit(summary, 2);
	expect(0, 0, 0, 0, 1);
	nw_summary_finish(summary);
	expect(0, 0, 1, 0, 2);
}
END_TEST

START_TEST(behind_a_loss_without_end_nothing_is_measured)
{
	setup(NW_KEY_TID);
	nw_summary_loss(summary, UINT64_MAX, 0);
	hit(START, 1, 100);
	hit(DONE, 1, 110);
	hit(DONE, 1, 120);
	expect(0, 0, 0, 1, 1);
	ck_assert_uint_eq(probe_row(DONE)->gap.count, 0);
	nw_summary_finish(summary);
}
END_TEST

/* ---- a program whose truth is known ------------------------------------------------- */

enum {
	KEYS = 6,
	CPUS = 3,
	EVENTS = 3000,
	DEEP = 8,
	MOST_LOSSES = 40
};

struct event {
	uint64_t time;
	uint32_t probe;
	unsigned int key, cpu;
	uint64_t begun;	   /* DONE: when its span truly began; 0: it had no start */
	uint64_t previous; /* time of this probe's last hit before, lost or not */
	bool lost;
};

struct loss {
	uint64_t from, until;
	unsigned int cpu;
};

static struct event events[EVENTS];
static struct loss losses[MOST_LOSSES];
static size_t loss_count;

/* Keys that nest spans and move between CPUs; no two events at the same time. */
static void run_program(uint64_t *state)
{
	uint64_t open[KEYS][DEEP], now = 1000, previous[2] = {0};
	unsigned int depth[KEYS] = {0}, cpu[KEYS] = {0};

	for (size_t i = 0; i < EVENTS; i++) {
		uint64_t r = unit_random(state);
		unsigned int key = (unsigned int)(r % KEYS);
		bool begins = !depth[key] || (depth[key] < DEEP && (r >> 8 & 1));
		now += 1 + (r >> 16) % 1000000;
		if ((r >> 40) % 16 == 0)
			cpu[key] = (unsigned int)((r >> 48) % CPUS);
		struct event *e = &events[i];
		*e = (struct event){.time = now, .key = key, .cpu = cpu[key]};
		e->probe = begins ? START : DONE;
		if (begins)
			open[key][depth[key]++] = now;
		else
			e->begun = open[key][--depth[key]];
		e->previous = previous[e->probe];
		previous[e->probe] = now;
	}
}

/* Take a stretch out of a CPU's events, which becomes a loss between its neighbours. */
static void lose(unsigned int cpu, size_t first, size_t count)
{
	struct loss *loss = &losses[loss_count];
	bool any = false;

	*loss = (struct loss){.cpu = cpu, .until = UINT64_MAX};
	for (size_t i = 0; i < EVENTS; i++) {
		struct event *e = &events[i];
		if (e->cpu != cpu || e->lost)
			continue;
		if (i < first) {
			loss->from = e->time;
		} else if (count) {
			count--;
			any = e->lost = true;
		} else {
			loss->until = e->time;
			break;
		}
	}
	loss_count += any;
}

/* May the stretch of time have met a loss? Its beginning is then not behind it. */
static bool meets_loss(uint64_t from, uint64_t until)
{
	for (size_t i = 0; i < loss_count; i++)
		if (from < losses[i].until && until > losses[i].from)
			return true;
	return false;
}

/* What the last hit has added to a histogram; UINT64_MAX: nothing. */
struct meter {
	uint64_t count, sum;
};

static uint64_t added(struct meter *meter, const struct nw_histogram *h)
{
	struct meter before = *meter;

	*meter = (struct meter){h->count, h->sum};
	ck_assert_uint_le(h->count - before.count, 1);
	return h->count == before.count ? UINT64_MAX : h->sum - before.sum;
}

/* Play what was not lost, as a stream would: each loss where it begins. */
static void play(enum nw_span_key key)
{
	struct meter latency = {0}, gaps[2] = {0};
	bool told[MOST_LOSSES] = {0};
	uint64_t measured = 0;

	for (size_t i = 0; i < EVENTS; i++) {
		const struct event *e = &events[i];
		for (size_t j = 0; j < loss_count; j++) {
			if (told[j] || losses[j].from >= e->time)
				continue;
			nw_summary_loss(summary, losses[j].until, 0);
			told[j] = true;
		}
		if (e->lost)
			continue;
		/* by thread, or by an argument that comes from any thread */
		hit_key(e->probe, key == NW_KEY_TID ? (int32_t)e->key + 1 : (int32_t)i,
			e->key, e->time);
		uint64_t seen = added(&latency, &span_row()->latency);
		bool whole = e->probe == DONE && !meets_loss(e->begun, e->time);
		/* it is true, or it is not there; and it is not there without need */
		ck_assert_uint_eq(seen, whole ? e->time - e->begun : UINT64_MAX);
		measured += whole;
		seen = added(&gaps[e->probe], &probe_row(e->probe)->gap);
		whole = e->previous && !meets_loss(e->previous, e->time);
		ck_assert_uint_eq(seen, whole ? e->time - e->previous : UINT64_MAX);
	}
	nw_summary_finish(summary);
	ck_assert_uint_gt(measured, 0);
}

START_TEST(every_latency_is_true_and_none_is_missing_without_need)
{
	for (uint64_t seed = 0; seed < 300; seed++) {
		enum nw_span_key key = seed & 1 ? NW_KEY_TID : NW_KEY_ARG;
		uint64_t state = seed, surviving[2] = {0};

		run_program(&state);
		loss_count = 0;
		for (uint64_t n = unit_random(&state) % MOST_LOSSES; n; n--) {
			uint64_t r = unit_random(&state);
			lose((unsigned int)(r % CPUS), EVENTS / 10 + (r >> 8) % EVENTS,
			     1 + (r >> 32) % 30);
		}
		setup(key);
		play(key);
		for (size_t i = 0; i < EVENTS; i++)
			surviving[events[i].probe] += !events[i].lost;
		/* every hit is somewhere */
		const struct nw_span_row *row = span_row();
		ck_assert_uint_eq(row->latency.count + row->unmatched_starts +
					  row->discarded,
				  surviving[START]);
		ck_assert_uint_eq(open_spans(summary), 0);
		teardown();
	}
}
END_TEST

UNIT_MAIN_WITH("summary_loss", NULL, teardown, a_span_over_a_loss_is_discarded,
	       a_loss_of_unknown_size_is_one_event_at_least,
	       a_start_behind_a_loss_drops_those_before_it,
	       a_span_within_the_time_of_a_loss_is_discarded,
	       the_first_event_behind_a_loss_counts,
	       an_earlier_loss_that_is_told_later_changes_nothing,
	       gaps_over_a_loss_are_not_measured,
	       what_is_open_at_the_end_is_discarded_only_if_it_met_a_loss,
	       behind_a_loss_without_end_nothing_is_measured,
	       every_latency_is_true_and_none_is_missing_without_need)
