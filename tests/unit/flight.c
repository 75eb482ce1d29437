// SPDX-License-Identifier: MIT
/* flight: conditions, names of recordings, and which pages are kept. */
#include <fcntl.h>
#include <unistd.h>

#include "run/flight/flight.h"

#include "run/flight/page_history.h"
#include "run/flight/reach.h"
#include "run/flight/sched_filter_snapshot.h"
#include "run/flight/trigger.h"

#include "page_builder.h"
#include "unit.h"

START_TEST(a_condition_is_a_span_and_a_time)
{
	static const struct {
		const char *text, *span;
		uint64_t least;
	} right[] = {
		{"request > 50ms", "request", 50000001},
		{"app:request>=1s", "app:request", 1000000000},
		{"  a..b,key=id  >2m ", NULL, 0},
		{" a..b,key=id  >2m", "a..b,key=id", 120000000001},
	};
	static const char *const wrong[] = {
		"",	  "request",  "request > ", "> 5ms",   "x < 5ms", "request > 0",
		"x > -1", "x > 5 ms", "x >> 5",	    "x > p99", "x > 5"};
	struct nw_error err;
	struct nw_until until;

	for (size_t i = 0; i < NW_COUNT(right); i++) {
		int ret = nw_until_parse(right[i].text, &until, &err);
		ck_assert_msg((ret == 0) == (right[i].span != NULL), "%s", right[i].text);
		if (ret < 0)
			continue;
		ck_assert_str_eq(until.span, right[i].span);
		ck_assert_uint_eq(until.least_ns, right[i].least);
		free(until.span);
	}
	for (size_t i = 0; i < NW_COUNT(wrong); i++) {
		ck_assert_msg(nw_until_parse(wrong[i], &until, &err) < 0, "%s", wrong[i]);
		ck_assert(err.usage);
	}
}
END_TEST

START_TEST(recordings_are_numbered_before_their_ending)
{
	static const struct {
		const char *path, *second;
	} names[] = {
		{"slow.dat", "slow-2.dat"}, {"slow", "slow-2"},
		{"a.b/slow", "a.b/slow-2"}, {"/x/slow.tar.dat", "/x/slow.tar-2.dat"},
		{".hidden", ".hidden-2"},   {"./.hidden.dat", "./.hidden-2.dat"},
	};

	for (size_t i = 0; i < NW_COUNT(names); i++) {
		char *first = nw_flight_path(names[i].path, 1);
		char *second = nw_flight_path(names[i].path, 2);
		ck_assert_str_eq(first, names[i].path);
		ck_assert_str_eq(second, names[i].second);
		free(first);
		free(second);
	}
}
END_TEST

enum {
	PAGE = 512
};

static struct nw_page_layout layout;
static struct nw_page_history kept;

/* Ten pages of CPU 1, whose events are of 100 to 109, 200 to 209, ... */
static void fill(void)
{
	struct cpu cpu = {.layout = layout};

	for (uint64_t page = 1; page <= 10; page++) {
		for (uint64_t i = 0; i < 10; i++)
			cpu_hit(&cpu, page * 100 + i, 12, FAKE_ONE, i);
		cpu_flush(&cpu);
	}
	ck_assert_uint_eq(cpu.pages.len, 10 * PAGE);
	for (size_t i = 0; i < 10; i++)
		ck_assert_int_eq(
			nw_page_history_add(
				&kept, 1, (unsigned char *)cpu.pages.data + i * PAGE, PAGE),
			0);
	cpu_free(&cpu);
}

static void check_cut(uint64_t since, uint64_t from, uint64_t size)
{
	nw_recorded_cpus cpus = {0};

	ck_assert_int_eq(nw_page_history_cut(&kept, since, &cpus), 0);
	ck_assert_uint_eq(cpus.count, 2);
	ck_assert_uint_eq(cpus.item[0].size, 0);
	ck_assert_uint_eq(cpus.item[1].from, from * PAGE);
	ck_assert_uint_eq(cpus.item[1].size, size * PAGE);
	ck_assert_uint_eq(cpus.item[1].since, since);
	nw_vec_free(&cpus);
}

START_TEST(pages_are_kept_from_a_time_on)
{
	static const unsigned char blank[PAGE];

	layout = page_layout(PAGE, 8);
	kept = (struct nw_page_history){.path = ".", .layout = &layout, .blank = blank};
	fill();
	check_cut(1, 0, 10);
	check_cut(399, 2, 8); /* the page before 400 may have something */
	check_cut(400, 3, 7);
	check_cut(5000, 9, 1);
	nw_page_history_forget(&kept, 405);
	check_cut(1, 3, 7);
	check_cut(900, 8, 2);
	nw_page_history_forget(&kept, UINT64_MAX);
	fill();
	check_cut(1, 0, 10);
	nw_page_history_free(&kept);
}
END_TEST

/* What is left of a recording is what was there from that time on, and nothing is said to be lost before it. */
static void check_written(uint64_t since, size_t events)
{
	struct nw_recording_parts parts = {0};
	struct nw_recording recording;
	nw_recorded_cpus cpus = {0};
	struct nw_buf file = {0};
	struct nw_error err = {0};
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);
	size_t seen = 0;

	page_header_text(&layout, &parts.header_page);
	ck_assert_int_eq(nw_page_history_cut(&kept, since, &cpus), 0);
	ck_assert_int_eq(nw_recording_write(&(struct nw_writer){.fd = fd}, &parts, PAGE,
					    cpus.item, (uint32_t)cpus.count, &err),
			 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_int_eq(nw_buf_read(&file, fd), 0);
	ck_assert_int_eq(nw_recording_parse(file.data, file.len, &recording, &err), 0);
	nw_vec_each (&recording.runs, run)
		for (size_t at = 0; at < run->size; at += PAGE) {
			struct nw_page page;
			const unsigned char *data;
			uint32_t size;
			ck_assert_int_eq(
				nw_page_open(&page, &layout, run->pages + at, PAGE), 0);
			ck_assert(!page.missed);
			for (; nw_page_next(&page, &data, &size) == 1; seen++)
				ck_assert_uint_ge(page.time, since);
		}
	ck_assert_uint_eq(seen, events);
	nw_recording_free(&recording);
	nw_recording_parts_free(&parts);
	nw_buf_free(&file);
	nw_vec_free(&cpus);
	close(fd);
}

START_TEST(a_recording_begins_with_the_first_event_that_is_wanted)
{
	static const unsigned char blank[PAGE];

	layout = page_layout(PAGE, 8);
	kept = (struct nw_page_history){.path = ".", .layout = &layout, .blank = blank};
	fill();
	check_written(1, 100);
	check_written(100, 100);
	check_written(105, 95);
	check_written(109, 91);
	check_written(110, 90);
	check_written(200, 90);
	check_written(1009, 1);
	check_written(1010, 0);
	nw_page_history_free(&kept);
}
END_TEST

START_TEST(what_is_kept_has_a_size_and_a_beginning)
{
	static const unsigned char blank[PAGE];
	uint64_t since;

	layout = page_layout(PAGE, 8);
	kept = (struct nw_page_history){.path = ".", .layout = &layout, .blank = blank};
	ck_assert_uint_eq(nw_page_history_size(&kept, &since), 0);
	ck_assert_uint_eq(since, 0);
	fill();
	ck_assert_uint_eq(nw_page_history_size(&kept, &since), 10 * PAGE);
	ck_assert_uint_eq(since, 100);
	nw_page_history_forget(&kept, 405);
	ck_assert_uint_eq(nw_page_history_size(&kept, &since), 7 * PAGE);
	ck_assert_uint_eq(since, 400);
	nw_page_history_free(&kept);
}
END_TEST

START_TEST(a_recording_that_begins_late_says_why)
{
	static const struct {
		uint64_t from, armed, begins, late;
		const char *why;
	} cases[] = {
		/* in tenths of a second */
		{50, 10, 50, 0, NULL},
		{50, 80, 80, 30, "the probes were armed only then"},
		{50, 10, 80, 30, "the ring buffer holds no more (see -b)"},
		{50, 70, 80, 10, "the ring buffer holds no more (see -b)"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const uint64_t tenth = 100000000;
		uint64_t late;
		const char *why = nw_reach_explain(cases[i].from * tenth,
						   cases[i].armed * tenth,
						   cases[i].begins * tenth + 1, &late);
		ck_assert_msg(!why == !cases[i].why, "%zu", i);
		if (why) {
			ck_assert_str_eq(why, cases[i].why);
			ck_assert_uint_eq(late, cases[i].late * tenth + 1);
		}
	}
}
END_TEST

/* Since when is the thread known to be named, of two ways to name it? 0: not at all. */
static uint64_t since(const struct nw_sched_filter_snapshot *still, pid_t tid, bool by_name)
{
	nw_vec_each (&still->threads, thread)
		if (thread->tid == tid && thread->by_name == by_name)
			return thread->from == UINT64_MAX ? 0 : thread->from;
	return 0;
}

START_TEST(who_has_a_name_is_known_to_have_had_it_only_where_all_was_read)
{
	enum {
		SAME = 5,
		RENAMED,
		NUMBERED,
		LATE,
		SEEN
	};
	struct nw_named_thread there[] = {{SAME, 100, true},	  {RENAMED, 100, true},
					  {SEEN, 100, true},	  {RENAMED, 300, false},
					  {NUMBERED, 200, false}, {LATE, 100, true}};
	nw_named_threads now = {.item = there, .count = NW_COUNT(there) - 1};
	struct nw_sched_filter_snapshot still = {0};

	ck_assert_int_eq(nw_sched_filter_snapshot_look(&still, &now), 0);
	nw_sched_filter_snapshot_changed(&still, RENAMED);
	nw_sched_filter_snapshot_changed(&still, NUMBERED);
	nw_sched_filter_snapshot_changed(&still, 4711);
	ck_assert_uint_eq(since(&still, SAME, true), 100);
	ck_assert_uint_eq(since(&still, RENAMED, true), 0);
	ck_assert_uint_eq(since(&still, RENAMED, false), 300);
	ck_assert_uint_eq(since(&still, NUMBERED, false), 200);
	nw_sched_filter_snapshot_pause(&still, 1000);
	/* who has come since, or has changed, is only known in what is not read yet */
	now.count++;
	ck_assert_int_eq(nw_sched_filter_snapshot_look(&still, &now), 0);
	nw_sched_filter_snapshot_changed(&still, SEEN);
	ck_assert_uint_eq(since(&still, SAME, true), 100);
	ck_assert_uint_eq(since(&still, RENAMED, true), 1000);
	ck_assert_uint_eq(since(&still, LATE, true), 1000);
	ck_assert_uint_eq(since(&still, SEEN, true), 0);
	/* nobody is left */
	now.count = 0;
	ck_assert_int_eq(nw_sched_filter_snapshot_look(&still, &now), 0);
	ck_assert_uint_eq(since(&still, SAME, true), 0);
	nw_sched_filter_snapshot_changed(&still, SAME);
	nw_sched_filter_snapshot_free(&still);
}
END_TEST

/* Slow spans come together: those that end within 0.1 s of each other make one recording, and a later one another. */
START_TEST(slow_spans_that_end_together_make_one_recording)
{
	const uint64_t ms = 1000000, keep = 500 * ms;
	struct nw_trigger trigger = {0};

	ck_assert(!nw_trigger_is_due(&trigger, 0) &&
		  !nw_trigger_is_due(&trigger, UINT64_MAX));
	nw_trigger_add(&trigger, 1000 * ms, 1050 * ms, keep, "first");
	ck_assert_uint_eq(trigger.from, 500 * ms);
	ck_assert_uint_eq(trigger.more, 0);
	/* also where the clock that was read is behind the span's end */
	ck_assert(!nw_trigger_is_due(&trigger, 1049 * ms));
	ck_assert(!nw_trigger_is_due(&trigger, 1150 * ms - 1));
	ck_assert(nw_trigger_is_due(&trigger, 1150 * ms));
	/* one that is longer, and ended a moment later: it is waited for others from its own end */
	nw_trigger_add(&trigger, 900 * ms, 1149 * ms, keep, "longest");
	nw_trigger_add(&trigger, 1100 * ms, 1120 * ms, keep, "short");
	ck_assert(!nw_trigger_is_due(&trigger, 1249 * ms - 1));
	ck_assert(nw_trigger_is_due(&trigger, 1249 * ms));
	ck_assert_uint_eq(trigger.from, 400 * ms);
	ck_assert_uint_eq(trigger.end, 1149 * ms);
	ck_assert_uint_eq(trigger.more, 2);
	ck_assert_str_eq(trigger.text, "longest");
	/* while it is read: what is within belongs to it, and what ends later, or needs more in front, does not */
	ck_assert(nw_trigger_holds(&trigger, 1000 * ms, 1149 * ms, keep));
	ck_assert(!nw_trigger_holds(&trigger, 1000 * ms, 1149 * ms + 1, keep));
	ck_assert(!nw_trigger_holds(&trigger, 899 * ms, 1149 * ms, keep));
}
END_TEST

START_TEST(a_signal_is_a_trigger_without_a_length)
{
	struct nw_trigger trigger = {0};

	nw_trigger_add(&trigger, 30, 30, 100, "SIGUSR2");
	ck_assert_uint_eq(trigger.from, 0);
	ck_assert_str_eq(trigger.text, "SIGUSR2");
	nw_trigger_add(&trigger, 40, 40, 100, "again");
	ck_assert_str_eq(trigger.text, "SIGUSR2");
	ck_assert_uint_eq(trigger.more, 1);
}
END_TEST

UNIT_MAIN("flight", what_is_kept_has_a_size_and_a_beginning,
	  a_recording_that_begins_late_says_why, a_condition_is_a_span_and_a_time,
	  recordings_are_numbered_before_their_ending, pages_are_kept_from_a_time_on,
	  a_recording_begins_with_the_first_event_that_is_wanted,
	  who_has_a_name_is_known_to_have_had_it_only_where_all_was_read,
	  slow_spans_that_end_together_make_one_recording,
	  a_signal_is_a_trigger_without_a_length)
