// SPDX-License-Identifier: MIT
/*
 * A semaphore and its heirs: brood N. Hits brood:beat, if its semaphore is raised, a hundred times
 * a second. SIGUSR1: forks N children, which do the same. SIGUSR2: all print their semaphore's
 * value and end.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned short brood_beat_semaphore __attribute__((section(".probes")));

static volatile sig_atomic_t multiply, stop;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		multiply = 1;
	else
		stop = 1;
}

/* Each beat has a rest, semaphore or not. */
static __attribute__((noinline)) void rest(void)
{
	usleep(10000);
}

int main(int argc, char **argv)
{
	int wanted = argc > 1 ? atoi(argv[1]) : 1, count = 0;
	pid_t children[64];

	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("parent\n");
	while (!stop) {
		if (*(volatile unsigned short *)&brood_beat_semaphore)
			DTRACE_PROBE1(brood, beat, getpid());
		rest();
		while (multiply && count < wanted && count < 64) {
			children[count] = fork();
			if (children[count] == 0) {
				count = 0;
				multiply = 0;
				printf("child\n");
				break;
			}
			count++;
		}
		multiply = 0;
	}
	for (int i = 0; i < count; i++) {
		kill(children[i], SIGUSR2);
		waitpid(children[i], NULL, 0);
	}
	printf("semaphore %u\n", *(volatile unsigned short *)&brood_beat_semaphore);
	return 0;
}
