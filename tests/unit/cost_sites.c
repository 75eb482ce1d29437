// SPDX-License-Identifier: MIT
/* cost_sites: two threads that wake each other. */
#include <fcntl.h>
#include <unistd.h>

#include "run/sources/cost_sites.h"

#include "unit.h"

START_TEST(two_threads_wake_each_other)
{
	struct nw_relay relay;
	cpu_set_t before, now;

	nw_relay_open(&relay);
	ck_assert(relay.runs);
	ck_assert(nw_relay_join(&relay, &before));
	ck_assert_int_eq(sched_getaffinity(0, sizeof(now), &now), 0);
	ck_assert_int_eq(CPU_COUNT(&now), 1);
	for (int i = 0; i < 3; i++)
		nw_cost_relay(&relay);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
	int left = open("/dev/null", O_RDONLY | O_CLOEXEC);
	nw_relay_close(&relay);
	ck_assert(!relay.runs);
	nw_relay_close(&relay); /* closes nothing of others */
	ck_assert_int_ge(fcntl(left, F_GETFD), 0);
	close(left);
}
END_TEST

/* Nobody waits for an answer of a thread that cannot read. */
START_TEST(a_thread_that_fails_is_not_waited_for)
{
	int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct nw_relay relay;

	ck_assert_int_ge(out, 0);
	nw_relay_open(&relay);
	ck_assert(relay.runs);
	int kept = dup(relay.there[0]); /* the pipe has a reader still */
	ck_assert_int_ge(kept, 0);
	/* The thread may wait in the pipe until the first byte comes; after that it reads a file that it cannot read. */
	ck_assert_int_ge(dup2(out, relay.there[0]), 0);
	for (int i = 0; i < 3; i++)
		nw_cost_relay(&relay);
	nw_relay_close(&relay);
	close(kept);
	close(out);
}
END_TEST

/* A relay that could not be opened does nothing. */
START_TEST(a_relay_that_does_not_run_is_called_too)
{
	struct nw_relay relay = {0};
	cpu_set_t before;

	nw_cost_relay(&relay);
	ck_assert(!nw_relay_join(&relay, &before));
	nw_relay_close(&relay);
}
END_TEST

UNIT_MAIN("cost_sites", two_threads_wake_each_other, a_thread_that_fails_is_not_waited_for,
	  a_relay_that_does_not_run_is_called_too)
