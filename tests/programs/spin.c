// SPDX-License-Identifier: MIT
/*
 * Fires as fast as it can: spin THREADS HITS_PER_THREAD. Spans of a known least length, so that
 * a latency that cannot be is seen at once: every op lasts at least LEAST_NS, and the pause
 * between two ops lasts at least 50 times that. Prints the longest op of all, and gap, the longest
 * time from before an op to behind the next one, as a busy machine may make a thread wait.
 *
 *	spin:op__start(i) spin:op__done(i)	with FLAT=1: no pause at all
 *	spin:tick(i)				between some ops, so that pages of the ring buffer
 *						begin and end anywhere
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <time.h>

struct times {
	uint64_t longest, gap;
};

static long hits;
static int flat;

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

	for (long i = 0; i < hits; i++) {
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
		if (!flat && i % 7 == 3)
			DTRACE_PROBE1(spin, tick, i);
		if (!flat)
			pass(100000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[64];
	struct times times[64] = {0}, most = {0};

	hits = argc > 2 ? atol(argv[2]) : 100000;
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
	}
	printf("ops %ld longest %lu elapsed %lu gap %lu\n", hits * threads,
	       (unsigned long)most.longest, (unsigned long)(now() - start),
	       (unsigned long)most.gap);
	return 0;
}
