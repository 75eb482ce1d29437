// SPDX-License-Identifier: MIT
/*
 * stream: buffers that fill while they are read. A socket stands for a trace_pipe_raw: one page a
 * read, EAGAIN when it is empty. The clock is ours, so nothing depends on time.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "page_builder.h"

enum {
	PAGE = 256,
	MOST = 8
};

/* Times are relative to the clock at the start, which is more than one sweep after 0. */
#define START 1000000000u

static struct fake fake;
static struct nw_stream *stream;
static uint64_t clock_ns = START;
static struct cpu cpus[MOST];
static int reader[MOST], writer[MOST];
static size_t sent[MOST]; /* bytes of each CPU's pages that the "kernel" has written */

static uint64_t clock_now(void *arg)
{
	(void)arg;
	return clock_ns;
}

static void setup_for(size_t buffers, size_t budget, uint32_t largest)
{
	static const uint32_t numbers[MOST] = {0, 1, 2, 3, 4, 5, 6, 7};
	const struct nw_stream_options options = {.fds = reader,
						  .cpus = numbers,
						  .buffers = buffers,
						  .now = clock_now,
						  .page_budget = budget,
						  .largest = largest};

	fake_open_two(&fake, PAGE);
	for (size_t i = 0; i < buffers; i++) {
		int pair[2];
		ck_assert_int_eq(
			socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
		reader[i] = pair[0];
		writer[i] = pair[1];
		cpus[i] = (struct cpu){.layout = fake.formats.page};
	}
	ck_assert_int_eq(nw_stream_open(&fake.formats, &options, &stream, NULL), 0);
}

static void setup(size_t buffers, size_t budget)
{
	setup_for(buffers, budget, 0);
}

static void teardown(size_t buffers)
{
	nw_stream_free(stream);
	for (size_t i = 0; i < buffers; i++) {
		close(reader[i]);
		close(writer[i]);
		cpu_free(&cpus[i]);
	}
	fake_close(&fake);
}

static void hit(size_t cpu, uint64_t time, uint64_t number)
{
	cpu_hit(&cpus[cpu], START + time, 1, FAKE_ONE, number);
}

/* The kernel's side: as many whole pages as fit. Returns what is left to be written. */
static size_t send_pages(size_t cpu)
{
	const struct nw_buf *pages = &cpus[cpu].pages;

	while (sent[cpu] < pages->len &&
	       write(writer[cpu], pages->data + sent[cpu], PAGE) == PAGE)
		sent[cpu] += PAGE;
	return pages->len - sent[cpu];
}

/* All hits of the CPU so far can be read now. */
static void flush(size_t cpu)
{
	cpu_flush(&cpus[cpu]);
	ck_assert_uint_eq(send_pages(cpu), 0);
}

static void fill(void)
{
	ck_assert_int_eq(nw_stream_fill(stream, -1, 0), 0);
}

/* ---- the watermark ------------------------------------------------------------------ */

START_TEST(nothing_is_handed_out_before_every_lane_is_known)
{
	setup(2, 0);
	fill(); /* both are empty now, at 0 */
	ck_assert_uint_eq(nw_stream_known(stream), START);
	hit(0, 10, 1);
	hit(0, 30, 2);
	flush(0);
	fill(); /* buffer 0 was looked at, but buffer 1 is known up to 0 only */
	ck_assert_uint_eq(nw_stream_known(stream), START);
	expect_nothing(stream);
	hit(1, 5, 11); /* older, and comes later */
	flush(1);
	clock_ns = START + 20;
	fill();
	expect_hit(stream, START + 5, 11);
	expect_hit(stream, START + 10, 1);
	expect_nothing(stream); /* buffer 1 may hold more that is older than 30 */
	fill();
	expect_nothing(stream);
	ck_assert_uint_eq(nw_stream_known(stream), START + 20);
	clock_ns = START + 100000000; /* time for a look at every buffer */
	fill();
	expect_hit(stream, START + 30, 2);
	expect_nothing(stream);
	ck_assert_uint_eq(nw_stream_known(stream), START + 100000000);
	teardown(2);
}
END_TEST

START_TEST(an_event_at_the_watermark_goes_out_and_one_behind_it_stays)
{
	setup(2, 0);
	clock_ns = START + 50;
	hit(0, 50, 1);
	hit(0, 51, 2);
	flush(0);
	fill(); /* both buffers are looked at, at 50 */
	expect_hit(stream, START + 50, 1);
	expect_nothing(stream);
	teardown(2);
}
END_TEST

START_TEST(a_lane_with_pages_to_come_is_known_up_to_its_last_page)
{
	setup(2, 8);
	for (uint64_t i = 0; i < 100;
	     i++) /* 7 a page: more pages than the buffer may take */
		hit(0, i * 10, i);
	flush(0);
	hit(1, 5, 1000);
	hit(1, 995, 1001);
	flush(1);
	clock_ns = START + 2000;
	fill();
	uint64_t known = nw_stream_known(stream);
	/* the stamp of a page of buffer 0 that is not its last */
	ck_assert_uint_gt(known, START);
	ck_assert_uint_lt(known, START + 990);
	ck_assert_uint_eq((known - START) % 70, 0);
	expect_hit(stream, START + 0, 0);
	expect_hit(stream, START + 5, 1000);
	for (uint64_t i = 1; START + i * 10 <= known; i++)
		expect_hit(stream, START + i * 10, i);
	expect_nothing(stream);
	teardown(2);
}
END_TEST

START_TEST(reading_in_between_neither_repeats_nor_skips_an_event)
{
	setup(2, 0);
	hit(1, 10, 1);
	hit(1, 30, 2);
	flush(1);
	clock_ns = START + 10;
	fill();
	expect_hit(stream, START + 10,
		   1);	/* and the caller stops here: 1 is still the top of the heap */
	hit(0, 10, 11); /* at the same time: before it, if it were not out already */
	flush(0);
	clock_ns = START + 200000000;
	fill();
	expect_hit(stream, START + 10, 11);
	expect_hit(stream, START + 30, 2);
	expect_nothing(stream);
	teardown(2);
}
END_TEST

/* ---- a page that is being written --------------------------------------------------- */

enum {
	PAYLOAD = 24, /* of a hit, whose header is a word */
	ROOM = PAGE - 16,
	AROUND = 32
};

START_TEST(nothing_is_asked_for_behind_a_page_with_room)
{
	setup_for(1, 0, PAYLOAD);
	hit(0, 10, 1);
	flush(0);
	hit(0, 20, 2); /* a kernel would have put it on the same page */
	flush(0);
	clock_ns = START + 30;
	fill();
	ck_assert_uint_eq(nw_stream_stats(stream).pages, 1);
	ck_assert_uint_eq(nw_stream_known(stream), START + 30);
	expect_hit(stream, START + 10, 1);
	expect_nothing(stream);
	ck_assert_int_eq(nw_stream_finish(stream), 0);
	ck_assert(nw_stream_emptied(stream, 0));
	expect_hit(stream, START + 20, 2);
	teardown(1);
}
END_TEST

/* Its end may come in several parts, each at the beginning of what is read. */
START_TEST(the_rest_of_a_page_is_not_taken_for_one_with_room)
{
	const uint64_t most = (ROOM - PAYLOAD - AROUND) / (PAYLOAD + 4);
	uint64_t number = 0;

	setup_for(1, 0, PAYLOAD);
	for (; number < most; number++)
		hit(0, number, number);
	flush(0);
	clock_ns = START + 100;
	fill();
	for (uint64_t i = 0; i < number; i++)
		expect_hit(stream, START + i, i);
	hit(0, 110, 110); /* and no more fits */
	flush(0);
	hit(0, 120, 120);
	flush(0);
	clock_ns = START + 200;
	fill();
	expect_hit(stream, START + 110, 110);
	expect_hit(stream, START + 120, 120);
	expect_nothing(stream);
	ck_assert(!nw_stream_emptied(stream, 0));
	teardown(1);
}
END_TEST

/* ---- losses ------------------------------------------------------------------------- */

START_TEST(a_loss_begins_where_the_lane_was_last_empty)
{
	setup(1, 0);
	hit(0, 10, 1);
	flush(0);
	clock_ns = START + 20;
	fill();
	expect_hit(stream, START + 10, 1);
	cpu_lose(&cpus[0], 3);
	hit(0, 50, 2);
	flush(0);
	clock_ns = START + 60;
	fill();
	expect_loss(stream, 0, START + 20, START + 50, 3);
	expect_hit(stream, START + 50, 2);
	expect_nothing(stream);
	teardown(1);
}
END_TEST

START_TEST(a_loss_with_no_event_behind_it_ends_where_the_lane_is_empty)
{
	setup(2, 0);
	hit(0, 10, 1);
	cpu_lose(&cpus[0], 3);
	cpus[0].page = page_begin(cpus[0].layout, START + 30);
	page_discarded(&cpus[0].page, 1, 8);
	flush(0);
	hit(1, 5, 11);
	hit(1, 20, 12); /* in the loss: may not come before it */
	flush(1);
	clock_ns = START + 40;
	fill();
	expect_hit(stream, START + 5, 11);
	expect_hit(stream, START + 10, 1);
	expect_loss(stream, 0, START + 10, START + 40, 3);
	expect_hit(stream, START + 20, 12);
	expect_nothing(stream);
	teardown(2);
}
END_TEST

/* ---- bursts ------------------------------------------------------------------------- */

/* Pages that were tapped, by CPU, as they came. */
static struct nw_buf tapped[MOST];

static int tap(void *arg, uint32_t cpu, const unsigned char *page, size_t len)
{
	ck_assert_ptr_eq(arg, tapped);
	nw_buf_add(&tapped[cpu], page, len);
	return 0;
}

/* Random hits on all CPUs in one order of time: number n is the n-th. */
static void make_burst(size_t buffers, uint64_t hits, uint64_t seed)
{
	uint64_t state = seed;

	for (uint64_t i = 0; i < hits; i++) {
		uint64_t r = unit_random(&state);
		/* most on the last CPU, so that the others fall behind */
		hit(r & 3 ? buffers - 1 : (r >> 2) % buffers, i + 1, i);
	}
	for (size_t i = 0; i < buffers; i++)
		cpu_flush(&cpus[i]);
}

static size_t send_all(size_t buffers)
{
	size_t left = 0;

	for (size_t i = 0; i < buffers; i++)
		left += send_pages(i);
	return left;
}

static uint64_t take_all(uint64_t next)
{
	struct nw_record record;

	for (; nw_stream_next(stream, &record) == 1; next++)
		ck_assert_uint_eq(fake_number(&record), next);
	return next;
}

START_TEST(bursts_beyond_the_budget_keep_their_order)
{
	enum {
		LANES = 6,
		HITS = 20000 /* 2800 pages; the budget is 24 */
	};
	uint64_t next = 0;

	setup(LANES, 1);
	make_burst(LANES, HITS, 7);
	while (send_all(LANES) || next < HITS) {
		clock_ns += 200000000;
		fill();
		uint64_t before = next;
		next = take_all(next);
		ck_assert_uint_gt(next, before); /* it moves on every time */
	}
	teardown(LANES);
}
END_TEST

START_TEST(a_full_budget_moves_on_by_pages)
{
	unsigned int fills = 0;
	uint64_t next = 0;

	setup(2, 1);			   /* a budget of 8 */
	for (uint64_t i = 0; i < 840; i++) /* 60 pages of 7 hits each */
		hit(i & 1, i, i);
	cpu_flush(&cpus[0]);
	cpu_flush(&cpus[1]);
	ck_assert_uint_eq(send_all(2), 0);
	clock_ns = START + 1000; /* stands still: no look is due by time alone */
	for (; next < 700 && fills < 1000; fills++) {
		fill();
		next = take_all(next);
	}
	ck_assert_uint_le(fills, 60); /* at least a page each time */
	teardown(2);
}
END_TEST

START_TEST(finish_hands_out_everything_in_order)
{
	static const size_t buffers[] = {1, 2, MOST};
	enum {
		HITS = 700 /* 100 pages; budgets are 4 a buffer */
	};

	for (size_t i = 0; i < NW_COUNT(buffers); i++) {
		memset(sent, 0, sizeof(sent));
		clock_ns = START;
		setup(buffers[i], 1);
		make_burst(buffers[i], HITS, i); /* in the sockets all at once */
		ck_assert_uint_eq(send_all(buffers[i]), 0);
		ck_assert_int_eq(nw_stream_finish(stream), 0);
		ck_assert_uint_eq(take_all(0), HITS);
		ck_assert_uint_eq(nw_stream_known(stream), UINT64_MAX);
		teardown(buffers[i]);
	}
}
END_TEST

START_TEST(the_tap_sees_every_page_as_it_was_read)
{
	setup(3, 1);
	nw_stream_tap(stream, tap, tapped);
	make_burst(3, 1000, 3);
	memset(cpus[1].pages.data + 8, 0xff, 8); /* one that cannot be decoded, too */
	ck_assert_uint_eq(send_all(3), 0);
	fill();
	ck_assert_int_eq(nw_stream_finish(stream), 0);
	while (nw_stream_next(stream, &(struct nw_record){0}) == 1)
		;
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(tapped[i].len, cpus[i].pages.len);
		ck_assert_mem_eq(tapped[i].data, cpus[i].pages.data, tapped[i].len);
		nw_buf_free(&tapped[i]);
	}
	ck_assert_uint_eq(nw_stream_stats(stream).damaged, 1);
	teardown(3);
}
END_TEST

static int full_disk(void *arg, uint32_t cpu, const unsigned char *page, size_t len)
{
	(void)arg, (void)cpu, (void)page, (void)len;
	return -ENOSPC;
}

START_TEST(the_taps_error_is_handed_on)
{
	setup(1, 0);
	nw_stream_tap(stream, full_disk, NULL);
	hit(0, 1, 1);
	flush(0);
	ck_assert_int_eq(nw_stream_fill(stream, -1, 0), -ENOSPC);
	teardown(1);
}
END_TEST

START_TEST(what_cannot_be_watched_is_an_error)
{
	struct nw_error err = {0};
	const uint32_t cpu = 5;
	const int fd = -1;
	const struct nw_stream_options options = {
		.fds = &fd, .cpus = &cpu, .buffers = 1, .now = clock_now};

	setup(1, 0);
	struct nw_stream *none;
	ck_assert_int_eq(nw_stream_open(&fake.formats, &options, &none, &err), -EBADF);
	ck_assert_str_eq(err.what,
			 "cannot watch the ring buffer of CPU 5: Bad file descriptor");
	teardown(1);
}
END_TEST

UNIT_MAIN("stream_live", nothing_is_handed_out_before_every_lane_is_known,
	  an_event_at_the_watermark_goes_out_and_one_behind_it_stays,
	  a_lane_with_pages_to_come_is_known_up_to_its_last_page,
	  reading_in_between_neither_repeats_nor_skips_an_event,
	  nothing_is_asked_for_behind_a_page_with_room,
	  the_rest_of_a_page_is_not_taken_for_one_with_room,
	  a_loss_begins_where_the_lane_was_last_empty,
	  a_loss_with_no_event_behind_it_ends_where_the_lane_is_empty,
	  bursts_beyond_the_budget_keep_their_order, a_full_budget_moves_on_by_pages,
	  finish_hands_out_everything_in_order, the_tap_sees_every_page_as_it_was_read,
	  the_taps_error_is_handed_on, what_cannot_be_watched_is_an_error)
