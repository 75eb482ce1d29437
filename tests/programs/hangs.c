// SPDX-License-Identifier: MIT
/*
 * Threads that hang: hangs N reads lines. At the first one, N threads each begin a span (hangs:job__start, with the thread's
 * index and the depth), begin it twice more inside, and read from a pipe. At the second one, the pipe is closed, and all spans end.
 * At the third one, the program ends.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <unistd.h>

enum {
	DEPTH = 3
};

static int ends[2];

static __attribute__((noinline)) void job(long index, long depth)
{
	char byte;

	DTRACE_PROBE2(hangs, job__start, index, depth);
	if (depth + 1 < DEPTH)
		job(index, depth + 1);
	else if (read(ends[0], &byte, 1) < 0)
		abort();
	DTRACE_PROBE1(hangs, job__done, index);
}

static void *work(void *index)
{
	job((long)(intptr_t)index, 0);
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = argc > 1 ? atol(argv[1]) : 1;
	pthread_t thread;
	char line[16];

	if (pipe(ends) < 0 || !fgets(line, sizeof(line), stdin))
		return 1;
	for (long i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, work, (void *)(intptr_t)i) != 0)
			return 1;
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	close(ends[1]);
	return fgets(line, sizeof(line), stdin) ? 0 : 1;
}
