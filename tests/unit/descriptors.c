// SPDX-License-Identifier: MIT
/* descriptors: a path counts for a hit only if the number was read before it and was not closed since. */
#include <errno.h>
#include <stdlib.h>

#include "run/descriptors.h"
#include "unit.h"

static struct nw_descriptors *d;
static uint64_t now_ns;
static const char *file; /* what the descriptor leads to; NULL: it is closed */
static unsigned int reads;

enum {
	PID = 10,
	TID = 11,
	FD = 3,
	READ_NS = 10
};
#define LATER UINT64_C(20000000)

static int read_path(void *arg, pid_t pid, uint32_t fd, char *out, size_t size)
{
	(void)arg;
	(void)fd;
	reads++;
	now_ns += READ_NS;
	if (!file || (pid != PID && pid != PID + 1))
		return -ENOENT;
	snprintf(out, size, "%s%s", file, pid == PID ? "" : " of another");
	return 0;
}

static uint64_t now(void *arg)
{
	(void)arg;
	return now_ns;
}

static void setup(void)
{
	const struct nw_descriptor_source source = {.read = read_path, .now = now};

	ck_assert_int_eq(nw_descriptors_open(&source, &d), 0);
	now_ns = 1000;
	file = "/a";
	reads = 0;
}

static void teardown(void)
{
	ck_assert(!nw_descriptors_failed(d));
	nw_descriptors_free(d);
}

static const char *path(uint64_t time)
{
	const char *text = nw_descriptors_path(d, PID, FD, time);

	return text ? text : "?";
}

/* Reads the path, from 1000 to 1010. */
static void begin(void)
{
	ck_assert_str_eq(path(900), "?");
	ck_assert_uint_eq(reads, 1);
}

START_TEST(only_hits_behind_the_look_have_it)
{
	begin();
	ck_assert_str_eq(path(1000), "?");
	ck_assert_str_eq(path(1009), "?");
	ck_assert_str_eq(path(1010), "/a");
	ck_assert_str_eq(path(1011), "/a");
}
END_TEST

/* The file that has the number now is not that of the hit. */
START_TEST(a_closed_number_has_no_path_until_it_is_read_again)
{
	begin();
	ck_assert_str_eq(path(1010), "/a");
	nw_descriptors_closing(d, PID, TID, FD, FD, 1100);
	now_ns = 2000;
	file = "/b";
	ck_assert_str_eq(path(1105), "?");
	nw_descriptors_closed(d, PID, TID, 1110);
	ck_assert_str_eq(path(1120), "?");
	ck_assert_str_eq(path(2009), "?");
	ck_assert_str_eq(path(2010), "/b");
}
END_TEST

/* The look comes between the event of the call and the closing itself. */
START_TEST(a_look_while_a_call_closes_does_not_count)
{
	nw_descriptors_closing(d, PID, TID, FD, FD, 990);
	begin();
	ck_assert_str_eq(
		path(1010),
		"?"); /* it may be closed by now, and another file have the number */
	nw_descriptors_closed(d, PID, TID, 1020);
	ck_assert_str_eq(path(1030), "?");
}
END_TEST

START_TEST(a_later_look_outlives_an_earlier_close)
{
	begin();
	ck_assert_str_eq(path(1010), "/a");
	now_ns = LATER;
	file = "/b"; /* closed and opened again at 2000, which the stream tells later */
	ck_assert_str_eq(path(1500), "/a");
	ck_assert_uint_eq(reads, 2);
	nw_descriptors_closing(d, PID, TID, FD, FD, 2000);
	nw_descriptors_closed(d, PID, TID, 2001);
	ck_assert_str_eq(path(2100), "?");
	ck_assert_uint_eq(reads, 2);
	ck_assert_str_eq(path(LATER + READ_NS), "/b");
}
END_TEST

START_TEST(other_numbers_and_processes_keep_theirs)
{
	begin();
	nw_descriptors_path(d, PID + 1, FD, 900);
	nw_descriptors_closing(d, PID, TID, FD + 1, FD + 1, 1100);
	nw_descriptors_closed(d, PID, TID, 1101);
	nw_descriptors_all_closed(d, PID + 1, 1102);
	now_ns = 2000;
	ck_assert_str_eq(path(1200), "/a");
	ck_assert_ptr_null(nw_descriptors_path(d, PID + 1, FD, 1200));
	ck_assert_str_eq(nw_descriptors_path(d, PID + 1, FD, 5000), "/a of another");
}
END_TEST

START_TEST(ranges)
{
	begin();
	nw_descriptors_closing(d, PID, TID, FD + 1, UINT32_MAX, 1100); /* may be coarse */
	nw_descriptors_closed(d, PID, TID, 1101);
	ck_assert_str_eq(path(1200), "?");
	now_ns = 3000;
	ck_assert_str_eq(path(1300), "?");
	ck_assert_str_eq(path(3010), "/a");
	nw_descriptors_closing(d, PID, TID, FD + 1, FD, 3100); /* refused by the kernel */
	nw_descriptors_closed(d, PID, TID, 3101);
	ck_assert_str_eq(path(3200), "/a");
	nw_descriptors_closing(d, PID, TID, FD - 1, FD + 1, 3300);
	nw_descriptors_closed(d, PID, TID, 3301);
	ck_assert_str_eq(path(3400), "?");
}
END_TEST

/* The begin of the call was not recorded. */
START_TEST(a_return_alone_closes_everything)
{
	begin();
	nw_descriptors_closed(d, PID, TID, 1020);
	ck_assert_str_eq(path(1030), "?");
}
END_TEST

START_TEST(behind_a_loss_everything_is_read_again)
{
	begin();
	nw_descriptors_lost(d, 1050);
	ck_assert_str_eq(path(1060), "?");
	ck_assert_uint_eq(reads, 2);
	ck_assert_str_eq(path(1070),
			 "?"); /* that look began at 1010, before the loss was over */
	now_ns = LATER;
	ck_assert_str_eq(path(1080), "?");
	ck_assert_str_eq(path(LATER + READ_NS), "/a");
}
END_TEST

START_TEST(a_process_that_is_not_trusted_has_none)
{
	begin();
	nw_descriptors_distrust(d, PID);
	ck_assert_str_eq(path(1030), "?");
	now_ns = LATER;
	ck_assert_str_eq(path(LATER), "?");
	ck_assert_str_eq(path(2 * LATER), "?");
	for (uint32_t i = 0; i < 2 * NW_DESCRIPTORS_MOST; i++)
		nw_descriptors_path(d, PID + 1, i, 2 * LATER);
	ck_assert_str_eq(path(4 * LATER), "?"); /* though the table was full */
	ck_assert_str_eq(path(4 * LATER), "?");
	nw_descriptors_gone(d, PID, 4 * LATER);
	now_ns = 5 * LATER;
	ck_assert_str_eq(path(5 * LATER), "?");
	ck_assert_str_eq(path(6 * LATER), "/a");
}
END_TEST

START_TEST(what_is_closed_is_not_read_at_each_hit)
{
	file = NULL;
	for (uint64_t i = 0; i < 1000; i++)
		ck_assert_str_eq(path(1000 + i), "?");
	ck_assert_uint_eq(reads, 1);
	now_ns += LATER;
	ck_assert_str_eq(path(5000), "?");
	ck_assert_uint_eq(reads, 2);
}
END_TEST

START_TEST(the_table_does_not_grow_for_ever)
{
	begin();
	for (uint32_t i = 0; i < 3 * NW_DESCRIPTORS_MOST; i++)
		nw_descriptors_path(d, PID, i + FD + 1, 1020);
	/* what is forgotten is read again, and no call that closed it meanwhile is needed */
	file = "/b";
	now_ns = LATER;
	ck_assert_str_eq(path(LATER), "?");
	ck_assert_str_eq(path(LATER + READ_NS), "/b");
}
END_TEST

/* ---- a program with threads, made up ------------------------------------------------ */

enum {
	NUMBERS = 3,
	THREADS = 4,
	STEPS = 4000
};

/* From `time` on the number has this file; 0: it is closed. */
struct change {
	uint64_t time;
	uint32_t fd, file;
};

struct event {
	uint64_t time;
	enum {
		HIT,
		BEGIN,
		RETURN
	} what;
	int32_t tid;
	uint32_t fd, file;
};

static struct change changes[2 * STEPS];
static size_t change_count;

static uint32_t file_at(uint32_t fd, uint64_t time)
{
	for (size_t i = change_count; i-- > 0;)
		if (changes[i].fd == fd && changes[i].time <= time)
			return changes[i].file;
	return 0;
}

static int read_made_up(void *arg, pid_t pid, uint32_t fd, char *out, size_t size)
{
	(void)arg;
	(void)pid;
	now_ns += (uint64_t)rand() % 1000;
	uint32_t file_number = file_at(fd, now_ns);
	now_ns += (uint64_t)rand() % 1000;
	if (!file_number)
		return -ENOENT;
	snprintf(out, size, "%u", file_number);
	return 0;
}

/* Makes events in the order of their times: threads that close, open and hit at random, also while others are in close(). */
static size_t make_up(struct event *events)
{
	uint32_t now_open[NUMBERS] = {0}, next = 1;
	struct {
		int at; /* 0: outside, 1: close() begins, 2: it is closed */
		uint32_t fd;
	} in[THREADS] = {0};
	uint64_t time = 1000;
	size_t count = 0;

	change_count = 0;
	for (size_t i = 0; i < STEPS; i++) {
		const int t = rand() % THREADS;
		const uint32_t fd = (uint32_t)rand() % NUMBERS;
		time += 1 + (uint64_t)(rand() % 8 ? rand() % 3000 : rand() % 40000000);
		struct event event = {.time = time, .tid = t + 1, .fd = fd};
		if (in[t].at == 1) {
			now_open[in[t].fd] = 0;
			changes[change_count++] = (struct change){time, in[t].fd, 0};
			in[t].at = 2;
			continue;
		}
		if (in[t].at == 2) {
			event.what = RETURN;
			in[t].at = 0;
		} else if (!now_open[fd]) {
			now_open[fd] = next++ % 7 + 1;
			changes[change_count++] = (struct change){time, fd, now_open[fd]};
			continue;
		} else if (rand() % 12 == 0) {
			event.what = BEGIN;
			in[t].at = 1;
			in[t].fd = fd;
		} else {
			event.what = HIT;
			event.file = now_open[fd];
		}
		events[count++] = event;
	}
	return count;
}

/* The reader is up to 20 ms behind, and looks at what is open then. A path is right, or there is none. */
START_TEST(no_path_is_wrong)
{
	static struct event events[STEPS];
	const struct nw_descriptor_source source = {.read = read_made_up, .now = now};
	size_t known = 0;

	for (unsigned int seed = 1; seed <= 30; seed++) {
		srand(seed);
		nw_descriptors_free(d);
		ck_assert_int_eq(nw_descriptors_open(&source, &d), 0);
		now_ns = 1000;
		const size_t count = make_up(events);
		for (size_t i = 0; i < count; i++) {
			const struct event *e = &events[i];
			if (now_ns <= e->time)
				now_ns = e->time + (uint64_t)rand() % 20000000;
			if (e->what == BEGIN)
				nw_descriptors_closing(d, PID, e->tid, e->fd, e->fd,
						       e->time);
			else if (e->what == RETURN)
				nw_descriptors_closed(d, PID, e->tid, e->time);
			else {
				const char *text = nw_descriptors_path(d, PID, e->fd,
								       e->time);
				known += text != NULL;
				ck_assert_msg(!text || (uint32_t)atoi(text) == e->file,
					      "seed %u, event %zu: %s is not %u", seed, i,
					      text, e->file);
			}
		}
	}
	ck_assert_uint_gt(known, 1000);
}
END_TEST

UNIT_MAIN_WITH("descriptors", setup, teardown, only_hits_behind_the_look_have_it,
	       a_closed_number_has_no_path_until_it_is_read_again,
	       a_look_while_a_call_closes_does_not_count,
	       a_later_look_outlives_an_earlier_close,
	       other_numbers_and_processes_keep_theirs, ranges,
	       a_return_alone_closes_everything, behind_a_loss_everything_is_read_again,
	       a_process_that_is_not_trusted_has_none,
	       what_is_closed_is_not_read_at_each_hit, no_path_is_wrong,
	       the_table_does_not_grow_for_ever)
