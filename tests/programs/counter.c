// SPDX-License-Identifier: MIT
/*
 * Fires its probes exactly as often as it is told: counter N [PAUSE_US [DEPTH]]. Prints what it did.
 *
 *	counter:step__begin(i, text)  counter:step__end(i, square)	N times
 *	counter:inner__entry(depth)  counter:inner__return(depth)	recursive, DEPTH (3) a step
 *	counter:never(argc)						never
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <unistd.h>

static unsigned long inner_hits;

static __attribute__((noinline)) void inner(int depth)
{
	DTRACE_PROBE1(counter, inner__entry, depth);
	inner_hits++;
	if (depth > 1)
		inner(depth - 1);
	DTRACE_PROBE1(counter, inner__return, depth);
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 10;
	unsigned int pause = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	int depth = argc > 3 ? atoi(argv[3]) : 3;
	char text[64];

	if (argc > 9)
		DTRACE_PROBE1(counter, never, argc);
	for (long i = 0; i < steps; i++) {
		snprintf(text, sizeof(text), "step \"%ld\"\t\\", i);
		DTRACE_PROBE2(counter, step__begin, i, text);
		inner(depth);
		DTRACE_PROBE2(counter, step__end, i, i * i);
		if (pause)
			usleep(pause);
	}
	printf("steps %ld inner %lu\n", steps, inner_hits);
	return 0;
}
