// SPDX-License-Identifier: MIT
/* health: a command of the user's that is run now and then, and when its failure counts. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/flight/health.h"

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
	char place[] = "/tmp/nopwatch-health.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(place));
	ck_assert_int_eq(chdir(place), 0);
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
	ck_assert_int_eq(rmdir(place), 0);
}
END_TEST

START_TEST(one_that_hangs_fails)
{
	struct nw_health health = {.command = "sleep 1000 & wait", .timeout_ns = 50000000};

	ck_assert_int_eq(nw_health_check(&health, &err), 0);
	ck_assert_int_eq(look_until(&health, 1), 1);
	ck_assert_str_eq(health.reason, "did not end within 0.05 s");
	nw_health_stop(&health);
	ck_assert_int_eq(health.pid, 0);
}
END_TEST

/* The number that the command has written, once it is there. */
static pid_t read_pid(const char *path)
{
	long pid = 0;

	for (int i = 0; i < 2000 && !pid; i++) {
		FILE *file = fopen(path, "r");
		if (file && fscanf(file, "%ld", &pid) != 1)
			pid = 0;
		if (file)
			fclose(file);
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	}
	ck_assert_int_gt(pid, 0);
	return (pid_t)pid;
}

/* A zombie does nothing any more; who is to reap it is none of ours. */
static bool is_gone(pid_t pid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "r");
	if (!file)
		return true;
	int found = fscanf(file, "%*d (%*[^)]) %c", &state);
	fclose(file);
	return found != 1 || state == 'Z' || state == 'X';
}

static bool goes(pid_t pid)
{
	for (int i = 0; i < 2000 && !is_gone(pid); i++)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	return is_gone(pid);
}

static char dir[] = "/tmp/nopwatch-health.XXXXXX";

static void enter_directory(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
}

static void leave_directory(void)
{
	ck_assert_int_eq(unlink("pid"), 0);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}

/* A child in the shell's process group; and one that has left it, whose parent is gone. */
#define IN_GROUP  "sleep 1000 & echo $! >p; mv p pid"
#define OUT_OF_IT "(setsid sh -c 'echo $$ >p; mv p pid; exec sleep 1000' &)"

START_TEST(who_is_late_goes_with_all_that_is_below)
{
	struct nw_health health = {.command = OUT_OF_IT "; sleep 1000",
				   .timeout_ns = MINUTE_NS};

	enter_directory();
	ck_assert_int_eq(nw_health_check(&health, &err), 0);
	pid_t pid = read_pid("pid");
	health.timeout_ns = 1; /* now it is late: before, it might not have got so far */
	ck_assert_int_eq(look_until(&health, 1), 1);
	ck_assert(goes(pid));
	leave_directory();
	nw_health_stop(&health);
}
END_TEST

START_TEST(the_end_takes_all_that_is_below)
{
	struct nw_health health = {.command = OUT_OF_IT "; sleep 1000",
				   .timeout_ns = MINUTE_NS};

	enter_directory();
	ck_assert_int_eq(nw_health_check(&health, &err), 0);
	pid_t pid = read_pid("pid");
	ck_assert(!is_gone(pid));
	nw_health_stop(&health);
	ck_assert(is_gone(pid));
	leave_directory();
}
END_TEST

START_TEST(what_ends_by_itself_leaves_only_daemons)
{
	struct nw_health group = {.command = IN_GROUP, .timeout_ns = MINUTE_NS};
	struct nw_health daemon = {.command = OUT_OF_IT
				   "; until test -e pid; do sleep 0.01; done",
				   .timeout_ns = MINUTE_NS};

	enter_directory();
	ck_assert_int_eq(look_until(&group, 1), 0);
	ck_assert(goes(read_pid("pid")));
	ck_assert_int_eq(unlink("pid"), 0);
	ck_assert_int_eq(look_until(&daemon, 1), 0);
	pid_t pid = read_pid("pid");
	nw_health_stop(&daemon);
	ck_assert(!is_gone(pid));
	kill(pid, SIGKILL);
	leave_directory();
}
END_TEST

/* Killed with SIGKILL, as a machine short of memory does. */
static void check_killed(const char *command)
{
	struct nw_health health = {.command = command, .timeout_ns = MINUTE_NS};
	pid_t us = fork();

	if (us == 0) {
		nw_health_check(&health, &err);
		pause();
		_exit(0);
	}
	pid_t pid = read_pid("pid");
	ck_assert(!is_gone(pid));
	kill(us, SIGKILL);
	waitpid(us, NULL, 0);
	ck_assert(goes(pid));
	ck_assert_int_eq(unlink("pid"), 0);
}

START_TEST(a_kill_takes_all_that_is_below)
{
	enter_directory();
	check_killed(IN_GROUP "; wait");
	check_killed(OUT_OF_IT "; sleep 1000");
	check_killed("trap '' HUP INT TERM; " OUT_OF_IT "; sleep 1000; sleep 1000");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

/* Who holds an instance's files keeps the kernel from removing it. */
START_TEST(the_guard_holds_nothing_open)
{
	struct nw_health health = {.command = "sleep 1000", .timeout_ns = MINUTE_NS};
	int ends[2];
	char byte;

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(nw_health_check(&health, &err), 0);
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], &byte, 1), 0); /* the end, which nobody else has */
	close(ends[0]);
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
	  who_is_late_goes_with_all_that_is_below, the_end_takes_all_that_is_below,
	  what_ends_by_itself_leaves_only_daemons, a_kill_takes_all_that_is_below,
	  the_guard_holds_nothing_open, what_no_shell_finds_is_an_error)
