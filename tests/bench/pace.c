// SPDX-License-Identifier: MIT
/*
 * pace SPANS WORK: so many spans from pace:op__start to pace:op__done, each of WORK steps of arithmetic times a factor between 0.5 and 4 that
 * is the same for the same span of every run. A run with 1.2 times the WORK is slower by 20 % in all that it does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>

static volatile uint64_t sink;

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

int main(int argc, char **argv)
{
	const long spans = argc > 1 ? atol(argv[1]) : 1000;
	const uint64_t work = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
	uint64_t state = 1;

	for (long i = 0; i < spans; i++) {
		uint64_t steps = work / 2 + next(&state) % work;
		if (next(&state) % 16 == 0)
			steps += 2 * work;
		STAP_PROBE1(pace, op__start, i);
		for (uint64_t k = 0; k < steps; k++)
			sink += k;
		STAP_PROBE1(pace, op__done, i);
	}
	return 0;
}
