// SPDX-License-Identifier: MIT
/*
 * A thread that does one kind of thing between states:begin and states:end, and knows for how long:
 * states ROUNDS [FILE] (without one nothing is read from disk). Everything happens on one CPU (STATES_CPU, else 0), so that "contend" has to wait for it. It asks at each end, on both
 * sides of the probe, so that a span lies between two times that are known. Prints a round a line: its kind; by the
 * inner times, how long it ran (CLOCK_THREAD_CPUTIME_ID), waited for a CPU (/proc/self/schedstat), and how long
 * that was (CLOCK_MONOTONIC), in ns; the same by the outer ones; how often it gave up the CPU by itself, and how often
 * it had to (getrusage).
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sdt.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	MS = 1000000,
	BLOCK = 4096
};

static int schedstat, block_file, to_echo[2], from_echo[2];
static void *block;
static atomic_bool contending;

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static uint64_t waited_so_far(void)
{
	char text[64] = "";
	uint64_t waited;

	if (pread(schedstat, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%*u %" SCNu64, &waited) != 1)
		exit(3);
	return waited;
}

static struct rusage used(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage;
}

static void spin(void)
{
	uint64_t end = now() + 3 * MS;

	while (now() < end)
		;
}

static void timer(void)
{
	const struct timespec time = {.tv_nsec = 3 * MS};

	nanosleep(&time, NULL);
}

static void futex(void)
{
	const struct timespec time = {.tv_nsec = 3 * MS};
	static int word;

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}

/* Another thread answers. */
static void *echo(void *arg)
{
	char byte;

	(void)arg;
	while (read(to_echo[0], &byte, 1) == 1 && write(from_echo[1], &byte, 1) == 1)
		;
	return NULL;
}

static void pipe_wait(void)
{
	char byte = 0;

	if (write(to_echo[1], &byte, 1) != 1 || read(from_echo[0], &byte, 1) != 1)
		exit(3);
}

static void disk(void)
{
	static off_t at;

	if (pread(block_file, block, BLOCK, at) != BLOCK)
		exit(3);
	at = (at + BLOCK) % (256 * BLOCK);
}

/* Wants the same CPU while somebody spins. */
static void *rival(void *arg)
{
	(void)arg;
	for (;;) {
		if (contending)
			spin();
		else
			sched_yield();
	}
	return NULL;
}

static void contend(void)
{
	static pthread_t thread;

	contending = true;
	if (!thread && pthread_create(&thread, NULL, rival, NULL) != 0)
		exit(3);
	for (int i = 0; i < 4; i++)
		spin();
	contending = false;
}

static const struct {
	const char *name;
	void (*act)(void);
} kinds[] = {
	/* the last, since its rival does not go away */
	{"spin", spin},	     {"timer", timer}, {"futex", futex},
	{"pipe", pipe_wait}, {"disk", disk},   {"contend", contend},
};

/* What is known of the thread at a moment. */
struct known {
	uint64_t waited, ran, time;
};

/* Asked again where it had to wait in between: not all of it would be of one moment. */
static struct known known_now(void)
{
	struct known known;

	do {
		known.waited = waited_so_far();
		known.ran = read_clock(CLOCK_THREAD_CPUTIME_ID);
		known.time = now();
	} while (waited_so_far() != known.waited);
	return known;
}

static void print_since(const struct known *now, const struct known *then)
{
	printf(" %" PRIu64 " %" PRIu64 " %" PRIu64, now->ran - then->ran,
	       now->waited - then->waited, now->time - then->time);
}

static void one_kind(size_t kind, long rounds)
{
	for (long i = 0; i < rounds; i++) {
		struct rusage before = used();
		const struct known outer = known_now();
		DTRACE_PROBE1(states, begin, kinds[kind].name);
		const struct known inner = known_now();
		kinds[kind].act();
		const struct known inner_end = known_now();
		DTRACE_PROBE1(states, end, kinds[kind].name);
		const struct known outer_end = known_now();
		struct rusage after = used();
		printf("%s", kinds[kind].name);
		print_since(&inner_end, &inner);
		print_since(&outer_end, &outer);
		printf(" %ld %ld\n", after.ru_nvcsw - before.ru_nvcsw,
		       after.ru_nivcsw - before.ru_nivcsw);
	}
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 0;
	cpu_set_t cpu;
	pthread_t thread;

	/* nobody else shall have the CPU meanwhile; where that is not allowed, somebody may */
	setpriority(PRIO_PROCESS, 0, -20);
	CPU_ZERO(&cpu);
	CPU_SET(getenv("STATES_CPU") ? (size_t)atol(getenv("STATES_CPU")) : 0, &cpu);
	schedstat = open("/proc/self/schedstat", O_RDONLY);
	block_file = argc > 2 ? open(argv[2], O_RDONLY | O_DIRECT) : -1;
	if (!rounds || schedstat < 0 || (argc > 2 && block_file < 0) ||
	    posix_memalign(&block, BLOCK, BLOCK) != 0 || pipe(to_echo) < 0 ||
	    pipe(from_echo) < 0 || sched_setaffinity(0, sizeof(cpu), &cpu) < 0 ||
	    pthread_create(&thread, NULL, echo, NULL) != 0)
		return 3;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].act != disk || block_file >= 0)
			one_kind(i, rounds);
	return 0;
}
