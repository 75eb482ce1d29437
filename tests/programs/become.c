// SPDX-License-Identifier: MIT
/*
 * A program that becomes another at every moment, for looks at a process that take longer than
 * the process stays what it was.
 *
 *	become chain COUNT FILE		starts FILE in its place, which starts this one, ...
 *	become nest COUNT FILE		makes children that become FILE; each of them runs in
 *					its parent's memory until then
 *
 * FILE is a copy of this program with "YY" in the place of become:beat's semaphore, so that this
 * means something else at the same address. Whoever is that copy looks whether somebody has changed
 * it: `whole` is said at the end, `harmed` at once.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

__extension__ volatile unsigned short become_beat_semaphore
	__attribute__((section(".probes")));

static int is_copy(void)
{
	return become_beat_semaphore >> 8 == 'Y';
}

static void check(void)
{
	if (!is_copy() || become_beat_semaphore == 0x5959)
		return;
	printf("harmed\n");
	exit(1);
}

/* It takes a while to read them all, and those of the program come first. */
static void map_many(void)
{
	enum {
		MANY = 600
	};
	char *at = mmap(NULL, MANY * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 1; at != MAP_FAILED && i < MANY; i += 2)
		mprotect(at + i * 4096, 4096, PROT_READ);
}

/* Different each time, so that everything is met with everything. */
static void pause_a_while(int count)
{
	const struct timespec nap = {.tv_nsec = 20000 * (count % 16)};

	nanosleep(&nap, NULL);
}

static int become(const char *file, const char *how, int count, const char *next)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", count);
	execl(file, file, how, number, next, (char *)NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
		/* from now on everything has its address */
		personality(ADDR_NO_RANDOMIZE);
		execv(argv[0], argv);
		return 1;
	}
	int count = atoi(argv[2]);
	check();
	if (strcmp(argv[1], "leaf") == 0)
		count = -1;
	if (!is_copy())
		map_many();
	for (; strcmp(argv[1], "nest") == 0 && count > 0; count--) {
		pid_t pid = vfork();
		if (pid == 0) {
			pause_a_while(count);
			become(argv[3], "leaf", count, argv[0]);
		}
		waitpid(pid, NULL, 0);
		check();
	}
	pause_a_while(count < 0 ? 1 : count);
	check();
	if (count > 0)
		become(argv[3], argv[1], count - 1, argv[0]);
	if (count == 0)
		printf("whole\n");
	STAP_PROBE(become, beat);
	return 0;
}
