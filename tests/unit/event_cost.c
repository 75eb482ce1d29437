// SPDX-License-Identifier: MIT
/* event_cost: two threads that wake each other. */
#include <fcntl.h>
#include <unistd.h>

#include "run/sources/event_cost.h"

#include "unit.h"

START_TEST(two_threads_wake_each_other)
{
	struct nw_relay relay;

	nw_relay_start(&relay);
	ck_assert(relay.plain);
	nw_relay_again(&relay);
	ck_assert(relay.recorded);
	ck_assert_uint_eq(nw_relay_cost(&relay), 0); /* nothing was recorded */
	nw_relay_end(&relay);
}
END_TEST

/* Nobody waits for an answer of a thread that cannot read. */
START_TEST(a_thread_that_fails_is_not_waited_for)
{
	int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct nw_relay relay;

	ck_assert_int_ge(out, 0);
	nw_relay_start(&relay);
	ck_assert(relay.plain);
	int kept = dup(relay.there[0]); /* the pipe has a reader still */
	ck_assert_int_ge(kept, 0);
	/* what it reads now has no bytes to give: EBADF */
	ck_assert_int_ge(dup2(out, relay.there[0]), 0);
	nw_relay_again(&relay);
	ck_assert(!relay.recorded);
	nw_relay_end(&relay);
	close(kept);
	close(out);
}
END_TEST

UNIT_MAIN("event_cost", two_threads_wake_each_other, a_thread_that_fails_is_not_waited_for)
