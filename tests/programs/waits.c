// SPDX-License-Identifier: MIT
/*
 * Waits for the semaphore of waits:hit, as programs do that prepare a probe's arguments only when
 * somebody listens, then hits at once as often as it is told, and ends: waits N.
 *
 * The kernel raises the semaphore some microseconds before it writes the breakpoint (set_swbp() in
 * kernel/events/uprobes.c): that is waited for, too, as what is hit in between nobody can record.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/sdt.h>
#include <unistd.h>

enum {
	CODE = 16
};

/*
 * Copies the first bytes of the function from the file: in memory they may have a breakpoint already. Returns 0, or -1 if they
 * cannot be read.
 */
static int read_unarmed(void (*function)(long), char *to)
{
	const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	uintptr_t base = 0, into;
	ssize_t got = -1;
	int file = open("/proc/self/exe", O_RDONLY);

	for (size_t i = 0; i < getauxval(AT_PHNUM); i++) {
		if (header[i].p_type == PT_PHDR)
			base = (uintptr_t)header - header[i].p_vaddr;
		into = (uintptr_t)function - base - header[i].p_vaddr;
		if (header[i].p_type == PT_LOAD && into < header[i].p_memsz)
			got = pread(file, to, CODE, (off_t)(header[i].p_offset + into));
	}
	close(file);
	return got == CODE ? 0 : -1;
}

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

	if (read_unarmed(code, before) != 0) {
		fprintf(stderr, "waits: it cannot read its own code\n");
		return 2;
	}
	do {
		memcpy(now, (const void *)code, CODE);
		__asm__ volatile("" : : "r"(now) : "memory");
	} while (!waits_hit_semaphore || memcmp(before, now, CODE) == 0);
	for (long i = 0; i < hits; i++)
		code(i);
	printf("%ld\n", hits);
	return 0;
}
