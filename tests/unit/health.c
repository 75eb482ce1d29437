// SPDX-License-Identifier: MIT
/* health: a command of the user's that is run now and then, and when its failure counts. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../src/engine/health.h"
#include "unit.h"

#define MINUTE_NS UINT64_C(60000000000)

static struct nw_error err;

/* Look until it has ended so often; what the last look said. */
static int look_until(struct nw_health *health, uint64_t runs)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	int ret = 0;

	while (ret >= 0 && health->runs < runs) {
		ret = nw_health_check(health, &err);
		nanosleep(&moment, NULL);
	}
	return ret;
}

START_TEST(it_counts_when_it_fails_and_did_not_before)
{
	struct nw_health health = {.command = "test ! -e bad", .timeout_ns = MINUTE_NS};
	char dir[] = "/tmp/nopwatch-health.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(look_until(&health, 1), 0);
	ck_assert_int_eq(look_until(&health, 2), 0);
	ck_assert_int_eq(mkdir("bad", 0700), 0);
	ck_assert_int_eq(look_until(&health, 3), 1);
	ck_assert_str_eq(health.reason, "failed with status 1");
	ck_assert_int_eq(look_until(&health, 5), 0);
	ck_assert_int_eq(rmdir("bad"), 0);
	ck_assert_int_eq(look_until(&health, 6), 0);
	ck_assert_int_eq(mkdir("bad", 0700), 0);
	ck_assert_int_eq(look_until(&health, 7), 1);
	ck_assert_int_eq(rmdir("bad"), 0);
	nw_health_stop(&health);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(one_that_hangs_fails)
{
	struct nw_health health = {.command = "sleep 1000 & wait", .timeout_ns = 50000000};

	ck_assert_int_eq(nw_health_check(&health, &err), 0);
	ck_assert_int_eq(look_until(&health, 1), 1);
	ck_assert_str_eq(health.reason, "did not end within 0.05 s");
	ck_assert_int_eq(health.pid, 0);
	nw_health_stop(&health);
}
END_TEST

START_TEST(what_no_shell_finds_is_an_error)
{
	struct nw_health missing = {.command = "nopwatch-no-such-command",
				    .timeout_ns = MINUTE_NS};
	struct nw_health killed = {.command = "kill -9 $$", .timeout_ns = MINUTE_NS};
	struct nw_health none = {0};

	ck_assert_int_eq(look_until(&missing, 1), -ENOENT);
	ck_assert_str_eq(
		err.what,
		"--until-cmd 'nopwatch-no-such-command': the shell cannot find it");
	ck_assert_int_eq(look_until(&killed, 1), 1);
	ck_assert_str_eq(killed.reason, "was killed by signal 9");
	ck_assert_int_eq(nw_health_check(&none, &err), 0);
	nw_health_stop(&none);
}
END_TEST

UNIT_MAIN("health", it_counts_when_it_fails_and_did_not_before, one_that_hangs_fails,
	  what_no_shell_finds_is_an_error)
