// SPDX-License-Identifier: MIT
/*
 * A program of which there are several builds, one of which replaces another while it is traced: upgrade N makes N spans,
 * waits for the end of its standard input, and makes N more.
 *
 *	upgrade:work__start(number)  upgrade:work__done(number)
 *	upgrade_work()			a function
 *
 * BUILD moves its code. LESS leaves the probe work__done out, OTHER gives the start's argument another type. With WAITS
 * the probes have semaphores, and it begins when work__start's is raised.
 */
#ifdef WAITS
#define _SDT_HAS_SEMAPHORES 1
#endif
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <unistd.h>

#ifndef BUILD
#define BUILD 1
#endif
#ifdef OTHER
typedef short number;
#else
typedef int number;
#endif

#ifdef WAITS
__extension__ unsigned short upgrade_work__start_semaphore
	__attribute__((unused, section(".probes")));
__extension__ unsigned short upgrade_work__done_semaphore
	__attribute__((unused, section(".probes")));
#endif

static volatile int sink;

__attribute__((noinline)) int upgrade_work(int i);
int upgrade_work(int i)
{
	number given = (number)(i * BUILD);

	for (int k = 0; k < BUILD; k++)
		sink += k;
#if BUILD > 1
	sink += BUILD;
	usleep(1);
#endif
	/* two sites of a probe */
	if (i % 2)
		STAP_PROBE1(upgrade, work__start, given);
	else
		STAP_PROBE1(upgrade, work__start, given);
#ifndef LESS
	STAP_PROBE1(upgrade, work__done, given);
#endif
	return sink;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	char byte;

#ifdef WAITS
	while (!*(volatile unsigned short *)&upgrade_work__start_semaphore)
		usleep(1000);
#endif
	for (int i = 0; i < count; i++)
		upgrade_work(i);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	for (int i = 0; i < count; i++)
		upgrade_work(i);
	return 0;
}
