// SPDX-License-Identifier: MIT
/*
 * Threads that begin at once and do nothing but sleep between pool:begin and pool:end: pool THREADS SPANS MS [named [EACH]].
 * Each has SPANS of these, of MS milliseconds at least; of -MS, if MS is negative, in which it does not sleep.
 * named: each has another name, which it gives itself. EACH: one begins so many milliseconds after the other, and all that begin
 * behind the first two end at once, without a span: they are only born.
 * SIGTERM: each ends with the span that it is in.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/sdt.h>
#include <time.h>

enum {
	MOST = 1000
};

static long spans, ms, each;
static int named;
static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

static void run_for(long least_ms)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 <
	       least_ms);
}

static void *work(void *arg)
{
	const struct timespec nap = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	char name[16];

	if (named) {
		snprintf(name, sizeof(name), "work-%ld", (long)arg);
		prctl(PR_SET_NAME, name);
	}
	for (long i = 0; i < spans && !ended && (!each || (long)arg < 2); i++) {
		DTRACE_PROBE2(pool, begin, (long)arg, i);
		if (ms < 0)
			run_for(-ms);
		else
			nanosleep(&nap, NULL);
		DTRACE_PROBE2(pool, end, (long)arg, i);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long count = argc > 3 ? atol(argv[1]) : 0;
	pthread_t threads[MOST];
	sigset_t sigterm;

	if (count < 1 || count > MOST)
		return 2;
	spans = atol(argv[2]);
	ms = atol(argv[3]);
	named = argc > 4;
	each = argc > 5 ? atol(argv[5]) : 0;
	/* The handler runs in this thread only, which interrupts nobody's sleep. */
	signal(SIGTERM, end);
	sigemptyset(&sigterm);
	sigaddset(&sigterm, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &sigterm, NULL);
	for (long i = 0; i < count; i++) {
		const struct timespec pause = {.tv_nsec = each * 1000000};
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
		nanosleep(&pause, NULL);
	}
	pthread_sigmask(SIG_UNBLOCK, &sigterm, NULL);
	puts("all there");
	fflush(stdout);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
