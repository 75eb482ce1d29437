// SPDX-License-Identifier: MIT
/* Several strings in one probe, long ones, pointers to nowhere: strings THREADS ROUNDS. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>

static int rounds;

static void *run(void *arg)
{
	int thread = (int)(intptr_t)arg;
	char a[32], b[32], c[32];

	for (int i = 0; i < rounds; i++) {
		int n = thread * rounds + i;
		snprintf(a, sizeof(a), "a%d", n);
		snprintf(b, sizeof(b), "b%d", n);
		snprintf(c, sizeof(c), "c%d", n);
		DTRACE_PROBE4(strings, three, a, n, b, c);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	static char many[3001];
	pthread_t thread[64];

	rounds = argc > 2 ? atoi(argv[2]) : 1;
	for (int i = 0; i < threads && i < 64; i++)
		pthread_create(&thread[i], NULL, run, (void *)(intptr_t)i);
	for (int i = 0; i < threads && i < 64; i++)
		pthread_join(thread[i], NULL);
	memset(many, 'x', sizeof(many) - 1);
	DTRACE_PROBE1(strings, long, many);
	DTRACE_PROBE2(strings, bad, (char *)8, 7);
	return 0;
}
