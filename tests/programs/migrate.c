// SPDX-License-Identifier: MIT
/*
 * Threads that change their CPU between the start and the end of every span, and measure
 * themselves with CLOCK_MONOTONIC: migrate THREADS ROUNDS FILE. Writes "ID OUTER INNER" lines:
 * nanoseconds from before the start probe to after the end probe, and between the two.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <time.h>
#include <unistd.h>

struct measure {
	uint64_t outer, inner;
};

static int rounds, cpus;
static struct measure *measures;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void move_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *run(void *arg)
{
	int thread = (int)(intptr_t)arg;

	for (int i = 0; i < rounds; i++) {
		int id = thread * rounds + i;
		move_to(i % cpus);
		uint64_t before = now();
		DTRACE_PROBE1(migrate, hop__start, id);
		uint64_t from = now();
		move_to((i + 1) % cpus);
		uint64_t to = now();
		DTRACE_PROBE1(migrate, hop__done, id);
		uint64_t after = now();
		measures[id] = (struct measure){after - before, to - from};
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t thread[64];
	FILE *out;

	rounds = argc > 2 ? atoi(argv[2]) : 1000;
	cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	measures = calloc((size_t)threads * (size_t)rounds, sizeof(*measures));
	for (int i = 0; i < threads && i < 64; i++)
		pthread_create(&thread[i], NULL, run, (void *)(intptr_t)i);
	for (int i = 0; i < threads && i < 64; i++)
		pthread_join(thread[i], NULL);
	out = argc > 3 ? fopen(argv[3], "w") : stdout;
	for (int i = 0; i < threads * rounds; i++)
		fprintf(out, "%d %lu %lu\n", i, (unsigned long)measures[i].outer,
			(unsigned long)measures[i].inner);
	fclose(out);
	return 0;
}
