// SPDX-License-Identifier: MIT
/*
 * A server that is hardly ever slow: rare REQUESTS EVERY MS PAUSE_US. Each request hits rare:request__start(id),
 * rare:step(id) and rare:request__done(id); every EVERYth takes MS milliseconds between the step and its end. PAUSE_US: of
 * sleep before each, 0: none.
 *
 * Of each slow one it prints "slow ID START END GAP", of CLOCK_MONOTONIC in nanoseconds, taken outside of the probes, GAP: the
 * longest time so far from one request's beginning to the next one's, slow ones left out (a busy machine makes it wait); and
 * "done REQUESTS" at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <time.h>

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void nap(long long ns)
{
	const struct timespec time = {.tv_sec = ns / 1000000000,
				      .tv_nsec = ns % 1000000000};

	nanosleep(&time, NULL);
}

static void request(long id, long ms)
{
	DTRACE_PROBE1(rare, request__start, id);
	DTRACE_PROBE1(rare, step, id);
	if (ms)
		nap(ms * 1000000LL);
	DTRACE_PROBE1(rare, request__done, id);
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	long requests = atol(argv[1]), every = atol(argv[2]), ms = atol(argv[3]);
	long pause = atol(argv[4]);
	long long before = now(), gap = 0;

	for (long id = 1; id <= requests; id++) {
		if (pause) {
			nap(pause * 1000LL);
			long long begins = now();
			if (begins - before > gap)
				gap = begins - before;
			before = begins;
		}
		if (id % every) {
			request(id, 0);
			continue;
		}
		long long start = now();
		request(id, ms);
		before = now();
		printf("slow %ld %lld %lld %lld\n", id, start, before, gap);
		fflush(stdout);
	}
	printf("done %ld\n", requests);
	return 0;
}
