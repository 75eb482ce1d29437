// SPDX-License-Identifier: MIT
/*
 * Spans with other hits inside: nested ROUNDS [call]. In each round one span with 0, 1, 10 and 100 of them:
 *
 *	nested:outer__start(n), n times nested:inner and a little work, nested:outer__done
 *
 * "call": the inner ones are calls of inner_call() instead, whose entry and return may be probed. What the spans take
 * by the program's own clock, at least, it prints: "N NANOSECONDS".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <time.h>

enum {
	KINDS = 4
};

static const int inside[KINDS] = {0, 1, 10, 100};
static uint64_t least[KINDS];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * In registers, each step waits for the one before: a counter in memory takes one to seven cycles a step, depending on
 * whether the CPU forwards the store, which may change from one start of this program to the next.
 */
static void work(void)
{
	uint64_t x = 1;

	for (int i = 0; i < 2000; i++) {
		x = x * 3 + 1;
		__asm__ volatile("" : "+r"(x));
	}
}

__attribute__((noinline)) void inner_call(int i);

__attribute__((noinline)) void inner_call(int i)
{
	__asm__ volatile("" : : "r"(i) : "memory");
	work();
}

static uint64_t outer(int n, int call)
{
	DTRACE_PROBE1(nested, outer__start, n);
	uint64_t from = now();
	for (int i = 0; i < n; i++) {
		if (call) {
			inner_call(i);
			continue;
		}
		DTRACE_PROBE1(nested, inner, i);
		work();
	}
	uint64_t ns = now() - from;
	DTRACE_PROBE1(nested, outer__done, n);
	return ns;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000;
	int call = argc > 2 && strcmp(argv[2], "call") == 0;

	for (long i = 0; i < rounds; i++)
		for (int k = 0; k < KINDS; k++) {
			uint64_t ns = outer(inside[k], call);
			if (!i || ns < least[k])
				least[k] = ns;
		}
	for (int k = 0; k < KINDS; k++)
		printf("%d %llu\n", inside[k], (unsigned long long)least[k]);
	return 0;
}
