// SPDX-License-Identifier: MIT
/*
 * exits N: functions that are left in every way, each called N times: by a return, by an
 * exception that passes through, by a jump into another function. Prints what it caught.
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

extern "C" {

volatile int sink;

__attribute__((noinline, noclone)) int thrower(int i)
{
	if (i % 3 == 0)
		throw std::runtime_error("every third");
	return i;
}

/* no landing pad: the exception only passes through */
__attribute__((noinline, noclone)) int passes(int i)
{
	sink += thrower(i);
	return sink & 0xffff;
}

__attribute__((noinline, noclone)) int catches(int i)
{
	try {
		return passes(i);
	} catch (const std::exception &) {
		return -1;
	}
}

__attribute__((noinline, noclone)) int other(int i)
{
	sink += i;
	return sink;
}

/* compilers make a jump of the last call */
__attribute__((noinline, noclone)) int tail(int i)
{
	if (i % 4 == 1)
		return 7;
	return other(i + 1);
}

static __attribute__((noinline, noclone, cold)) int rare(int i)
{
	sink += i;
	return sink;
}

/* gcc puts what is rare elsewhere (colder.cold), and a return of its own with it */
__attribute__((noinline, noclone)) int colder(int i)
{
	if (__builtin_expect(i % 5 == 0, 0)) {
		sink += rare(i);
		if (sink & 1)
			sink *= 3;
		return sink;
	}
	sink += i;
	return sink / 3;
}

static __attribute__((noinline, noclone)) int local(int i)
{
	sink ^= i;
	return sink;
}

/* what it ends with has no symbol in a stripped file */
__attribute__((noinline, noclone)) int ends_local(int i)
{
	if (i % 4 == 1)
		return 7;
	return local(i + 1);
}

__attribute__((noinline, noclone)) int deep(int n)
{
	if (n == 0)
		return sink;
	return deep(n - 1) + deep(n / 8) / 2;
}

/* more than registers have room for, and one in a register of its own kind */
__attribute__((noinline, noclone)) long many(int a, double b, int c, long d, long e, long f,
					     long g, short h, long i)
{
	sink += a + c + (int)(d + e + f + g + h + i);
	return (long)b;
}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10, caught = 0, sum = 0;

	for (int i = 0; i < n; i++) {
		caught += catches(i) < 0;
		sum += colder(i) + ends_local(i) + local(i);
		sum += tail(i) + deep(3) + (int)many(i, 0.5, 3, 4, 5, 6, 7, (short)-8, 9000000000);
	}
	sink = sum;
	printf("caught %d\n", caught);
	return 0;
}
