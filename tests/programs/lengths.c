// SPDX-License-Identifier: MIT
/*
 * Spans that know how long they are: lengths NANOSECONDS ROUNDS. In each round
 *
 *	lengths:span__start, work for so long by the program's own clock, lengths:span__done(ns)
 *
 * At the end it prints the least and the mean of these lengths: "LEAST MEAN".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <time.h>

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t length = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
	long rounds = argc > 2 ? atol(argv[2]) : 1000;
	uint64_t least = UINT64_MAX, sum = 0;

	for (long i = 0; i < rounds; i++) {
		DTRACE_PROBE(lengths, span__start);
		uint64_t from = now(), ns;
		do
			ns = now() - from;
		while (ns < length);
		DTRACE_PROBE1(lengths, span__done, ns);
		least = ns < least ? ns : least;
		sum += ns;
	}
	printf("%llu %llu\n", (unsigned long long)least,
	       (unsigned long long)(sum / (uint64_t)(rounds > 0 ? rounds : 1)));
	return 0;
}
