// SPDX-License-Identifier: MIT
/*
 * Waits for the semaphore of waits:hit, as programs do that prepare a probe's arguments only when
 * somebody listens, then hits at once as often as it is told, and ends: waits N.
 *
 * The kernel raises the semaphore some microseconds before it writes the breakpoint (set_swbp() in
 * kernel/events/uprobes.c): that is waited for, too, as what is hit in between nobody can record.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>

enum {
	CODE = 16
};

__extension__ volatile unsigned short waits_hit_semaphore
	__attribute__((section(".probes"), visibility("hidden")));

/* The probe is among its first bytes. */
static __attribute__((noinline)) void hit(long i)
{
	DTRACE_PROBE1(waits, hit, i);
}

int main(int argc, char **argv)
{
	void (*volatile code)(long) = hit;
	long hits = argc > 1 ? atol(argv[1]) : 1;
	char before[CODE], now[CODE];

	memcpy(before, (const void *)code, CODE);
	do {
		memcpy(now, (const void *)code, CODE);
		__asm__ volatile("" : : "r"(now) : "memory");
	} while (!waits_hit_semaphore || memcmp(before, now, CODE) == 0);
	for (long i = 0; i < hits; i++)
		code(i);
	printf("%ld\n", hits);
	return 0;
}
