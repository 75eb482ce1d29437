// SPDX-License-Identifier: MIT
/*
 * chain DEPTH [COUNT [SLEEP]]: calls leaf() COUNT times, each time through top<int>(), in which
 * between() is inlined, through geo::Shape::area(), and DEPTH calls of down(), the last of which calls leaf(). SLEEP: milliseconds
 * that each leaf() takes.
 *
 * With -DLIBRARY only what is below main(), with -DPROGRAM only main().
 */
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

extern "C" void leaf(long number, unsigned int sleep);
extern "C" long down(long depth, long number, unsigned int sleep);

namespace geo
{
struct Shape {
	long depth;
	long area(long number, unsigned int sleep) const;
};
}

long begin(long depth, long number, unsigned int sleep);

#ifndef PROGRAM
extern "C" APART void leaf(long number, unsigned int sleep)
{
	if (sleep)
		usleep(sleep * 1000);
	__asm__ volatile("" : : "r"(number) : "memory");
}

/* What comes behind a call keeps it from becoming a jump. */
extern "C" APART long down(long depth, long number, unsigned int sleep)
{
	volatile long room[3] = {depth, number, 0};

	if (depth > 1)
		room[2] = down(depth - 1, number, sleep);
	else
		leaf(number, sleep);
	return room[0] + room[2];
}

APART long geo::Shape::area(long number, unsigned int sleep) const
{
	long sum = down(depth, number, sleep);
	__asm__ volatile("" : "+r"(sum));
	return sum + 1;
}

static inline __attribute__((always_inline)) long between(const geo::Shape &shape, long number, unsigned int sleep)
{
	return shape.area(number, sleep) + 2;
}

template <typename T> APART T top(T number, unsigned int sleep, long depth)
{
	geo::Shape shape = {depth};
	T sum = (T)between(shape, number, sleep);
	__asm__ volatile("" : "+r"(sum));
	return sum + 3;
}

APART long begin(long depth, long number, unsigned int sleep)
{
	long sum = top<int>((int)number, sleep, depth);
	__asm__ volatile("" : "+r"(sum));
	return sum + 4;
}
#endif

#ifndef LIBRARY
int main(int argc, char **argv)
{
	long depth = argc > 1 ? atol(argv[1]) : 3, count = argc > 2 ? atol(argv[2]) : 1, sum = 0;

	for (long i = 0; i < count; i++)
		sum += begin(depth, i, argc > 3 ? (unsigned int)atol(argv[3]) : 0);
	return sum == 42;
}
#endif
