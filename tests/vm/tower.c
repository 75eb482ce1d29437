// SPDX-License-Identifier: MIT
/*
 * tower DEPTH COUNT: COUNT times, begin() calls down(), which calls itself until there are DEPTH of it; the last one calls
 * leaf(). Then each callback that qsort() makes calls leaf(): what is between is the C library's. It stays for half a second:
 * kernels before 4.1 do not tell what processes map, so it is looked up while they are there.
 */
#include <stdlib.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

/*
 * Not the return alone, which would be what the probe replaces: QEMU 7.2 seems not to take a branch that is stepped over on s390x,
 * so that what lies behind leaf() would be executed.
 */
APART void leaf(long number)
{
	__asm__ volatile("nop" : : "r"(number) : "memory");
}

/* What comes behind a call keeps it from becoming a jump. */
APART long down(long depth, long number)
{
	volatile long room[3] = {depth, number, 0};

	if (depth > 1)
		room[2] = down(depth - 1, number);
	else
		leaf(number);
	return room[0] + room[2];
}

APART long begin(long depth, long number)
{
	volatile long sum = down(depth, number);

	return sum + 4;
}

APART int compare(const void *a, const void *b)
{
	volatile int order = *(const int *)a - *(const int *)b;

	leaf(order);
	return order;
}

int main(int argc, char **argv)
{
	long depth = argc > 1 ? atol(argv[1]) : 3, count = argc > 2 ? atol(argv[2]) : 1;
	volatile long sum = 0;
	int pair[] = {2, 1};

	for (long i = 0; i < count; i++)
		sum += begin(depth, i);
	qsort(pair, 2, sizeof(*pair), compare);
	usleep(500000);
	return pair[0] != 1;
}
