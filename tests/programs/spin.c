// SPDX-License-Identifier: MIT
/*
 * Fires as fast as it can: spin THREADS OPS [PAUSE_US]. Spans of a known least length, so that
 * a latency that cannot be is seen at once: every op lasts at least 2 us, and the pause
 * between two ops at least PAUSE_US (100). OPS: of each thread; 0: until SIGTERM. Prints the ops of all threads, the longest one, and gap,
 * the longest time from before an op to behind the next one, as a busy machine may make a thread wait.
 *
 *	spin:op__start(i) spin:op__done(i)	with FLAT=1: no pause at all
 *	spin:tick(i)				between some ops, so that pages of the ring buffer
 *						begin and end anywhere
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <time.h>

struct times {
	uint64_t longest, gap;
	long ops;
};

static long hits;
static uint64_t rest = 100000;
static int flat;
static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pass(uint64_t ns)
{
	for (uint64_t end = now() + ns; now() < end;)
		;
}

static void *run(void *arg)
{
	struct times *times = arg;
	uint64_t before = now();

	for (long i = 0; (i < hits || !hits) && !ended; i++) {
		uint64_t from = now();
		DTRACE_PROBE1(spin, op__start, i);
		if (!flat)
			pass(2000);
		DTRACE_PROBE1(spin, op__done, i);
		uint64_t until = now();
		if (until - from > times->longest)
			times->longest = until - from;
		if (until - before > times->gap)
			times->gap = until - before;
		before = from;
		times->ops++;
		if (!flat && i % 7 == 3)
			DTRACE_PROBE1(spin, tick, i);
		if (!flat)
			pass(rest);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[64];
	struct times times[64] = {0}, most = {0};

	hits = argc > 2 ? atol(argv[2]) : 100000;
	if (argc > 3)
		rest = strtoull(argv[3], NULL, 10) * 1000;
	signal(SIGTERM, end);
	flat = getenv("FLAT") != NULL;
	uint64_t start = now();
	for (int i = 0; i < threads && i < 64; i++)
		pthread_create(&thread[i], NULL, run, &times[i]);
	for (int i = 0; i < threads && i < 64; i++) {
		pthread_join(thread[i], NULL);
		if (times[i].longest > most.longest)
			most.longest = times[i].longest;
		if (times[i].gap > most.gap)
			most.gap = times[i].gap;
		most.ops += times[i].ops;
	}
	printf("ops %ld longest %lu elapsed %lu gap %lu\n", most.ops,
	       (unsigned long)most.longest, (unsigned long)(now() - start),
	       (unsigned long)most.gap);
	return 0;
}
