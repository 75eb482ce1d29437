// SPDX-License-Identifier: MIT
/* stream: pages in memory become records in time order, with losses where they happened. */
#include "page_builder.h"

enum {
	PAGE = 256,
	EVENTS = 20000,
	MOST_CPUS = 512
};
static struct fake fake;
static struct cpu cpus[MOST_CPUS];

static void setup(void)
{
	fake_open_two(&fake, PAGE);
	for (size_t i = 0; i < MOST_CPUS; i++)
		cpus[i] = (struct cpu){.layout = fake.formats.page};
}

static void hit(unsigned int cpu, uint64_t time, uint64_t address, uint64_t number)
{
	cpu_hit(&cpus[cpu], time, (int32_t)cpu + 1, address, number);
}

/* A stream over the first CPUs; CPU i is called 10 + i. */
static struct nw_stream *stream_of(size_t count)
{
	struct nw_page_run run[MOST_CPUS];
	struct nw_stream *stream;

	for (size_t i = 0; i < count; i++) {
		cpu_flush(&cpus[i]);
		const void *pages = nw_buf_str(&cpus[i].pages);
		run[i] = (struct nw_page_run){(uint32_t)i + 10, pages, cpus[i].pages.len};
	}
	ck_assert_int_eq(nw_stream_open_memory(&fake.formats, run, count, &stream, NULL),
			 0);
	return stream;
}

static void teardown(struct nw_stream *stream)
{
	nw_stream_free(stream);
	for (size_t i = 0; i < MOST_CPUS; i++)
		cpu_free(&cpus[i]);
	fake_close(&fake);
}

static void expect_end(struct nw_stream *stream)
{
	expect_nothing(stream);
	ck_assert_int_eq(nw_stream_finish(stream), 0);
	expect_nothing(stream);
}

START_TEST(a_hit_says_what_who_where_and_when)
{
	struct nw_record record;

	setup();
	hit(3, 77, FAKE_TWO, 9);
	struct nw_stream *stream = stream_of(4);
	ck_assert_int_eq(nw_stream_next(stream, &record), 1);
	ck_assert_int_eq(record.kind, NW_RECORD_HIT);
	ck_assert(record.time == 77 && record.cpu == 13 && record.tid == 4);
	ck_assert(record.probe == 1 && record.planned == 1 && record.part == 0);
	ck_assert_uint_eq(record.size, 24);
	ck_assert_ptr_eq(record.format, fake.formats.events.item[0]);
	expect_end(stream);
	const struct nw_stream_stats stats = nw_stream_stats(stream);
	const struct nw_stream_stats wanted = {.records = 1, .pages = 1, .bytes = 28};
	ck_assert_mem_eq(&stats, &wanted, sizeof(stats));
	teardown(stream);
}
END_TEST

/* ---- order -------------------------------------------------------------------------- */

struct event {
	uint64_t time, number;
	unsigned int cpu;
};

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->cpu != y->cpu	       ? (int)x->cpu - (int)y->cpu
	       : x->number < y->number ? -1
				       : 1;
}

/* Random events, some of them at the same time; what comes out is what a sort gives. */
static void check_order(unsigned int count, uint64_t seed)
{
	static struct event events[EVENTS];
	static uint64_t now[MOST_CPUS];
	uint64_t state = seed;

	setup();
	for (unsigned int i = 0; i < count; i++)
		now[i] = unit_random(&state) % 1000;
	for (uint64_t i = 0; i < EVENTS; i++) {
		unsigned int cpu = (unsigned int)(unit_random(&state) % count);
		uint64_t r = unit_random(&state);
		now[cpu] += r % 100 == 0 ? (r >> 8) % ((uint64_t)1 << 40) : (r >> 8) % 40;
		events[i] = (struct event){now[cpu], i, cpu};
		hit(cpu, now[cpu], i & 1 ? FAKE_ONE : FAKE_TWO, i);
		if (r % 37 == 0)
			cpu_flush(&cpus[cpu]);
	}
	struct nw_stream *stream = stream_of(count);
	qsort(events, EVENTS, sizeof(events[0]), by_time);
	for (size_t i = 0; i < EVENTS; i++)
		expect_hit(stream, events[i].time, events[i].number);
	expect_end(stream);
	teardown(stream);
}

START_TEST(events_of_all_cpus_come_sorted_by_time)
{
	static const unsigned int counts[] = {1, 2, 3, 64, 512};

	for (size_t i = 0; i < NW_COUNT(counts); i++)
		check_order(counts[i], i);
}
END_TEST

/* No kernel writes this; a damaged recording may hold it. */
START_TEST(a_cpu_whose_time_goes_back_stands_still)
{
	setup();
	hit(0, 500, FAKE_ONE, 0);
	cpu_flush(&cpus[0]);
	hit(0, 100, FAKE_ONE, 1);
	hit(0, 600, FAKE_ONE, 2);
	hit(1, 550, FAKE_TWO, 3);
	struct nw_stream *stream = stream_of(2);
	expect_hit(stream, 500, 0);
	expect_hit(stream, 500, 1);
	expect_hit(stream, 550, 3);
	expect_hit(stream, 600, 2);
	expect_end(stream);
	teardown(stream);
}
END_TEST

START_TEST(a_stream_without_pages_ends_at_once)
{
	setup();
	for (size_t count = 0; count < 3; count++) {
		struct nw_stream *stream = stream_of(count);
		expect_end(stream);
		ck_assert_uint_eq(nw_stream_known(stream), UINT64_MAX);
		nw_stream_free(stream);
	}
	teardown(NULL);
}
END_TEST

/* ---- losses ------------------------------------------------------------------------- */

START_TEST(a_loss_stands_between_the_events_around_it)
{
	setup();
	hit(0, 100, FAKE_ONE, 1);
	cpu_lose(&cpus[0], 42);
	hit(0, 200, FAKE_ONE, 2);
	cpu_lose(&cpus[0], 0); /* nobody counted them */
	hit(0, 300, FAKE_ONE, 3);
	hit(1, 100, FAKE_ONE, 11);
	hit(1, 101, FAKE_ONE, 12);
	hit(1, 199, FAKE_ONE, 13);
	hit(1, 250, FAKE_ONE, 14);
	struct nw_stream *stream = stream_of(2);
	expect_hit(stream, 100, 1);
	expect_loss(stream, 10, 100, 200, 42);
	expect_hit(stream, 100, 11);
	expect_hit(stream, 101, 12);
	expect_hit(stream, 199, 13);
	expect_hit(stream, 200, 2);
	expect_loss(stream, 10, 200, 300, 0);
	expect_hit(stream, 250, 14);
	expect_hit(stream, 300, 3);
	expect_end(stream);
	ck_assert_uint_eq(nw_stream_stats(stream).lost, 42);
	ck_assert_uint_eq(nw_stream_stats(stream).uncounted, 1);
	ck_assert_uint_eq(nw_stream_stats(stream).lost, 42);
	teardown(stream);
}
END_TEST

START_TEST(a_loss_before_the_first_event_reaches_back_to_the_beginning)
{
	setup();
	cpu_lose(&cpus[1], 5);
	hit(1, 50, FAKE_ONE, 2);
	hit(0, 10, FAKE_ONE, 1);
	struct nw_stream *stream = stream_of(2);
	expect_loss(stream, 11, 0, 50, 5);
	expect_hit(stream, 10, 1);
	expect_hit(stream, 50, 2);
	expect_end(stream);
	teardown(stream);
}
END_TEST

/* A page that says events were lost, with nothing but a discarded one on it. */
static void lose_on_empty_page(unsigned int cpu, uint64_t time, uint64_t lost)
{
	cpu_lose(&cpus[cpu], lost);
	cpus[cpu].page = page_begin(cpus[cpu].layout, time);
	page_discarded(&cpus[cpu].page, 1, 8);
	cpu_flush(&cpus[cpu]);
}

START_TEST(losses_with_no_event_between_them_are_one)
{
	setup();
	hit(0, 100, FAKE_ONE, 1);
	lose_on_empty_page(0, 120, 7);
	cpu_lose(&cpus[0], 5);
	hit(0, 200, FAKE_ONE, 2);
	struct nw_stream *stream = stream_of(1);
	expect_hit(stream, 100, 1);
	expect_loss(stream, 10, 100, 200, 12);
	expect_hit(stream, 200, 2);
	expect_end(stream);
	teardown(stream);
}
END_TEST

START_TEST(a_loss_at_the_end_of_a_cpu_is_told_in_its_place)
{
	setup();
	hit(0, 100, FAKE_ONE, 1);
	lose_on_empty_page(0, 120, 7);
	hit(1, 99, FAKE_ONE, 11);
	hit(1, 150, FAKE_ONE, 12);
	struct nw_stream *stream = stream_of(2);
	expect_hit(stream, 99, 11);
	expect_hit(stream, 100, 1);
	expect_loss(stream, 10, 100, UINT64_MAX, 7); /* nothing tells when it ended */
	expect_hit(stream, 150, 12);
	expect_end(stream);
	teardown(stream);
}
END_TEST

/* ---- damage ------------------------------------------------------------------------- */

START_TEST(a_page_that_cannot_be_opened_is_a_loss)
{
	const uint64_t impossible = PAGE;

	setup();
	for (uint64_t i = 1; i <= 3; i++) {
		hit(0, i * 100, FAKE_ONE, i);
		cpu_flush(&cpus[0]);
	}
	memcpy(cpus[0].pages.data + PAGE + 8, &impossible, 8);
	struct nw_stream *stream = stream_of(1);
	expect_hit(stream, 100, 1);
	expect_loss(stream, 10, 100, 300, 0);
	expect_hit(stream, 300, 3);
	expect_end(stream);
	ck_assert_uint_eq(nw_stream_stats(stream).damaged, 1);
	ck_assert_uint_eq(nw_stream_stats(stream).uncounted, 1);
	teardown(stream);
}
END_TEST

START_TEST(the_rest_of_a_damaged_page_is_a_loss)
{
	const uint32_t endless = page_header(28, 0);

	setup();
	hit(0, 100, FAKE_ONE, 1);
	hit(0, 110, FAKE_ONE, 2);
	hit(0, 120, FAKE_ONE, 3);
	cpu_flush(&cpus[0]);
	hit(0, 200, FAKE_ONE, 4);
	hit(1, 115, FAKE_ONE, 11);
	memcpy(cpus[0].pages.data + 16 + 2 * 28, &endless, 4); /* the third event */
	struct nw_stream *stream = stream_of(2);
	expect_hit(stream, 100, 1);
	expect_hit(stream, 110, 2);
	expect_loss(stream, 10, 110, 200, 0);
	expect_hit(stream, 115, 11);
	expect_hit(stream, 200, 4);
	expect_end(stream);
	ck_assert_uint_eq(nw_stream_stats(stream).damaged, 1);
	ck_assert_uint_eq(nw_stream_stats(stream).uncounted, 1);
	teardown(stream);
}
END_TEST

START_TEST(a_last_page_that_is_cut_off_is_a_loss)
{
	setup();
	hit(0, 100, FAKE_ONE, 1);
	cpu_flush(&cpus[0]);
	hit(0, 200, FAKE_ONE, 2);
	cpu_flush(&cpus[0]);
	for (size_t len = 2 * PAGE; len > PAGE; len--) {
		/* only the page's data counts: 16 + 28 bytes */
		bool whole = len >= PAGE + 44;
		cpus[0].pages.len = len;
		struct nw_stream *stream = stream_of(1);
		expect_hit(stream, 100, 1);
		if (whole)
			expect_hit(stream, 200, 2);
		else
			expect_loss(stream, 10, 100, UINT64_MAX, 0);
		expect_end(stream);
		ck_assert_uint_eq(nw_stream_stats(stream).damaged, !whole);
		nw_stream_free(stream);
	}
	teardown(NULL);
}
END_TEST

/* ---- what is not ours --------------------------------------------------------------- */

START_TEST(events_that_are_not_ours_are_counted_and_passed_over)
{
	static const struct {
		uint32_t id;
		uint64_t address;
		size_t len;
	} strange[] =
		{
			{7, FAKE_ONE, 24},
			{1499, FAKE_ONE, 24},
			{1501, FAKE_ONE, 24},
			{65535, FAKE_ONE, 24},
			{1500, 0, 24},
			{1500, FAKE_ONE + 1, 24},
			{1500, FAKE_ONE - 1, 24},
			{1500, FAKE_ONE, 20}, /* shorter than its fields */
			{1500, FAKE_ONE, 4},  /* shorter than any event */
		};
	unsigned char bytes[64] = {0};

	setup();
	for (size_t i = 0; i < NW_COUNT(strange); i++) {
		fake_hit(bytes, strange[i].id, 1, strange[i].address, NULL, 0);
		cpu_event(&cpus[0], 100 + i, bytes, strange[i].len);
		hit(0, 100 + i, FAKE_ONE + 0x1000 * i,
		    i); /* any page: only the low bits count */
	}
	struct nw_stream *stream = stream_of(1);
	for (size_t i = 0; i < NW_COUNT(strange); i++)
		expect_hit(stream, 100 + i, i);
	expect_end(stream);
	ck_assert_uint_eq(nw_stream_stats(stream).unknown, NW_COUNT(strange));
	teardown(stream);
}
END_TEST

UNIT_MAIN("stream", a_hit_says_what_who_where_and_when,
	  events_of_all_cpus_come_sorted_by_time, a_cpu_whose_time_goes_back_stands_still,
	  a_stream_without_pages_ends_at_once, a_loss_stands_between_the_events_around_it,
	  a_loss_before_the_first_event_reaches_back_to_the_beginning,
	  losses_with_no_event_between_them_are_one,
	  a_loss_at_the_end_of_a_cpu_is_told_in_its_place,
	  a_page_that_cannot_be_opened_is_a_loss, the_rest_of_a_damaged_page_is_a_loss,
	  a_last_page_that_is_cut_off_is_a_loss,
	  events_that_are_not_ours_are_counted_and_passed_over)
