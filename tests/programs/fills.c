// SPDX-License-Identifier: MIT
/*
 * Functions that fill a buffer of their caller, so that the text is there at their return only:
 *
 *    fills ROUNDS [THREADS]
 *
 * Each thread calls, ROUNDS times, fill(BUFFER, ROUND, &USED) -> length, whose text is "line ROUND " and ROUND % 150 letters, and
 * stacked(1, 2, 3, 4, 5, 6, ROUND, BUFFER), whose text is "stacked ROUND" and which has its buffer's address on the stack (x86_64), where it
 * writes something else before it returns. The buffer says "before" when a function begins, and is overwritten after it has
 * returned. Then the first thread calls nest(BUFFER, 2), which calls itself twice before it writes "nest DEPTH"; jump(BUFFER, 1), whose inner call
 * leaves by longjmp() and which then writes "jump 1"; fill() with a NULL pointer and with an address that is none; and last fill()
 * with a buffer that ends where the program's memory does: "at the edge".
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	SIZE = 256
};

static __thread jmp_buf out;
static int rounds;

__attribute__((noinline, noclone)) int fill(char *buffer, int round, int *used)
{
	int len;

	if ((unsigned long)buffer < 4096)
		return *used = -1;
	len = sprintf(buffer, "line %d ", round);
	memset(buffer + len, 'a' + round % 26, (size_t)(round % 150));
	len += round % 150;
	buffer[len] = '\0';
	*used = len;
	return len;
}

/* `volatile`: the argument's place on the stack is written. */
__attribute__((noinline, noclone)) int stacked(int a, int b, int c, int d, int e, int f,
					       volatile int round, char *volatile buffer)
{
	int len = sprintf(buffer, "stacked %d", round + a + b + c + d + e + f - 21);

	buffer = NULL;
	round = -1;
	return len;
}

__attribute__((noinline, noclone)) int nest(char *buffer, int depth)
{
	char inner[SIZE] = "before";
	int len = depth ? nest(inner, depth - 1) : 0;

	sprintf(buffer, "nest %d", depth);
	memset(inner, 'x', sizeof(inner) - 1);
	return len + 1;
}

__attribute__((noinline, noclone)) int jump(char *buffer, int depth)
{
	char inner[SIZE] = "inner";

	if (depth == 0)
		longjmp(out, 1);
	if (setjmp(out) == 0)
		jump(inner, depth - 1);
	sprintf(buffer, "jump %d", depth);
	return depth;
}

static void *run(void *arg)
{
	char buffer[SIZE];
	int used;

	(void)arg;
	for (int i = 0; i < rounds; i++) {
		strcpy(buffer, "before");
		fill(buffer, i, &used);
		strcpy(buffer, "before");
		stacked(1, 2, 3, 4, 5, 6, i, buffer);
		memset(buffer, 'x', sizeof(buffer) - 1);
		used = -2;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long page = sysconf(_SC_PAGESIZE);
	int threads = argc > 2 ? atoi(argv[2]) : 1, used;
	char buffer[SIZE] = "before";
	pthread_t others[16];

	rounds = argc > 1 ? atoi(argv[1]) : 10;
	for (int i = 1; i < threads && i < 16; i++)
		if (pthread_create(&others[i], NULL, run, NULL) != 0)
			return 1;
	run(NULL);
	for (int i = 1; i < threads && i < 16; i++)
		pthread_join(others[i], NULL);
	nest(buffer, 2);
	strcpy(buffer, "before");
	jump(buffer, 1);
	fill(NULL, 1, &used);
	fill((char *)16, 1, &used);
	char *map = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || munmap(map + page, (size_t)page) < 0)
		return 1;
	fill(map + page - sizeof("line 0 "), 0, &used);
	printf("rounds %d threads %d\n", rounds, threads);
	return 0;
}
