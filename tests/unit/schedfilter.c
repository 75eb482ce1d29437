// SPDX-License-Identifier: MIT
/* The filter of the scheduler's events: which threads it names, and when it is too long. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/session/schedfilter.h"

#include "unit.h"

static const struct nw_sched_fields pid = {{"pid"}, {"comm"}},
				    both = {{"prev_pid", "next_pid"},
					    {"prev_comm", "next_comm"}};

static void name(struct nw_sched_filter *filter, pid_t tid)
{
	struct nw_filtered_thread *slot = nw_vec_add(&filter->threads);

	*slot = (struct nw_filtered_thread){.tid = tid};
}

START_TEST(each_thread_is_named)
{
	struct nw_sched_filter filter = {0};
	struct nw_buf text = {0};

	ck_assert_int_eq(nw_sched_filter_text(&filter, &both, &text), 0);
	ck_assert_str_eq(nw_buf_str(&text), "prev_pid==-1");
	nw_buf_clear(&text);
	name(&filter, 7);
	name(&filter, 4194303);
	ck_assert_int_eq(nw_sched_filter_text(&filter, &pid, &text), 0);
	ck_assert_str_eq(nw_buf_str(&text), "pid==7||pid==4194303");
	nw_buf_clear(&text);
	ck_assert_int_eq(nw_sched_filter_text(&filter, &both, &text), 0);
	ck_assert_str_eq(nw_buf_str(&text),
			 "prev_pid==7||next_pid==7||prev_pid==4194303||next_pid==4194303");
	nw_buf_clear(&text);
	filter.threads.count = 1;
	ck_assert_int_eq(nw_strings_add(&filter.comms, "app", 3), 0);
	ck_assert_int_eq(nw_sched_filter_text(&filter, &both, &text), 0);
	ck_assert_str_eq(
		nw_buf_str(&text),
		"prev_comm==\"app\"||next_comm==\"app\"||prev_pid==7||next_pid==7");
	nw_buf_free(&text);
	nw_sched_filter_free(&filter);
}
END_TEST

/* The kernel looks at a trigger's own filter only, not at the event's. */
START_TEST(stacks_are_those_of_the_named)
{
	struct nw_sched_filter filter = {0};
	char *text = nw_sched_filter_trigger(&filter, "prev_state & 3");

	ck_assert_str_eq(text, "stacktrace if prev_state & 3");
	free(text);
	filter.active = true;
	name(&filter, 7);
	name(&filter, 8);
	text = nw_sched_filter_trigger(&filter, "prev_state & 3");
	ck_assert(strstr(
		text,
		"stacktrace if (prev_state & 3) && (prev_pid==7||prev_pid==8||(prev_pid>="));
	free(text);
	nw_sched_filter_free(&filter);
}
END_TEST

/* To set a trigger anew is to be without one for a while. */
START_TEST(who_is_born_next_is_in_the_trigger)
{
	/* /proc has others' numbers: of the kernel's, only those that were met are known */
	const struct nw_pid_space others = {.foreign = true, .host = -1};
	struct nw_sched_filter filter = {.active = true, .space = &others};
	char *text;

	name(&filter, 70);
	name(&filter, 8);
	ck_assert(nw_sched_filter_lacks_stacks(&filter));
	text = nw_sched_filter_trigger(&filter, "prev_state & 3");
	ck_assert_str_eq(
		text,
		"stacktrace if (prev_state & 3) && (prev_pid==70||prev_pid==8||(prev_pid>=71&&prev_pid<=4167))");
	free(text);
	ck_assert(!nw_sched_filter_lacks_stacks(&filter));
	name(&filter, 71);
	name(&filter, 4167);
	ck_assert(!nw_sched_filter_lacks_stacks(&filter));
	/* numbers begin anew at some time */
	name(&filter, 9);
	ck_assert(nw_sched_filter_lacks_stacks(&filter));
	text = nw_sched_filter_trigger(&filter, "prev_state & 3");
	ck_assert(strstr(text, "prev_pid==9||(prev_pid>=4168&&prev_pid<=8264))"));
	free(text);
	ck_assert(!nw_sched_filter_lacks_stacks(&filter));
	/* a name may be that of somebody who has been there for long */
	ck_assert_int_eq(nw_strings_add(&filter.comms, "app", 3), 0);
	ck_assert(nw_sched_filter_lacks_stacks(&filter));
	nw_sched_filter_free(&filter);
}
END_TEST

START_TEST(a_page_is_too_long)
{
	struct nw_sched_filter filter = {0};
	struct nw_buf text = {0};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	/* "pid==10||": 9 bytes each, the last 7 */
	while (filter.threads.count * 9 + 7 < page)
		name(&filter, 10);
	ck_assert_int_eq(nw_sched_filter_text(&filter, &pid, &text), 0);
	ck_assert_uint_lt(text.len, page);
	name(&filter, 10);
	nw_buf_clear(&text);
	ck_assert_int_eq(nw_sched_filter_text(&filter, &pid, &text), -E2BIG);
	nw_buf_free(&text);
	nw_sched_filter_free(&filter);
}
END_TEST

UNIT_MAIN("schedfilter", each_thread_is_named, stacks_are_those_of_the_named,
	  who_is_born_next_is_in_the_trigger, a_page_is_too_long)
