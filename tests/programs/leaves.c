// SPDX-License-Identifier: MIT
/*
 * leaves WAY [COUNT]: calls of step() that are left in other ways than by returning, COUNT times
 * each, and what became of them.
 *
 *	return		they return
 *	longjmp		the third of five nested calls catches what the fifth throws; before that it
 *			has slept for a millisecond, so that whoever returned took at least that
 *	same		one call after the other at the same place, each left by longjmp() but the last
 *	exit		three nested calls end their thread
 *	deep		200 nested calls, the 100th of which sleeps
 *	coroutine	a call on a stack of its own is never come back to
 *	coroutines	calls on two stacks, which end in the order that the kernel can follow
 *	altstack	a signal's handler on its own stack makes calls while one is open
 *	pops		as longjmp, of give(), which pops an argument on i386: it returns a structure
 *	tail		calls that end in a jump to another function, which jumps to the first again
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define APART __attribute__((noinline, noclone, noipa))

static unsigned long returned, abandoned;
static jmp_buf back;
static ucontext_t here, there[2];
/* the first coroutine's stack lies above the second's: the kernel takes the order of stack pointers
 * for the order of calls */
static char stacks[2][65536] __attribute__((aligned(16)));
static char signal_stack[65536] __attribute__((aligned(16)));

APART static void rest(void)
{
	struct timespec ms = {.tv_nsec = 1000000};

	nanosleep(&ms, NULL);
}

/* What a call of step() does, which is all that is measured. */
typedef int action(int level);

APART int step(action *act, int level)
{
	volatile char frame[64];

	frame[0] = (char)level;
	return act(level) + frame[0] - (char)level;
}

static int nothing(int level)
{
	return level;
}

/* ---- longjmp ------------------------------------------------------------------------ */

static int throwing(int level)
{
	if (level < 5)
		return step(throwing, level + 1);
	abandoned += 2;
	longjmp(back, 1);
}

static int catching(int level)
{
	int got = 0;

	if (level == 3) {
		rest();
		if (setjmp(back) == 0)
			step(throwing, level + 1);
	} else {
		got = step(catching, level + 1);
	}
	returned++;
	return got;
}

static int leaving(int level)
{
	abandoned++;
	longjmp(back, level);
}

static void same(void)
{
	static volatile int i;

	for (i = 0; i < 9; i++)
		if (setjmp(back) == 0)
			step(leaving, 1);
	returned++;
	step(nothing, 1);
}

/* ---- threads ------------------------------------------------------------------------ */

static int ending(int level)
{
	if (level < 3)
		return step(ending, level + 1);
	abandoned += 3;
	pthread_exit(NULL);
}

static void *thread(void *arg)
{
	step(ending, 1);
	return arg;
}

/* ---- deep --------------------------------------------------------------------------- */

static int deepening(int level)
{
	int got = level;

	if (level == 100)
		rest();
	if (level < 200)
		got = step(deepening, level + 1);
	returned++;
	return got;
}

/* ---- other stacks ------------------------------------------------------------------- */

static int yielding(int level)
{
	swapcontext(&there[level], &here);
	returned++;
	return level;
}

static void coroutine(int which)
{
	step(yielding, which);
	swapcontext(&there[which], &here);
}

static void resume(int which)
{
	swapcontext(&here, &there[which]);
}

static void start(int which)
{
	getcontext(&there[which]);
	there[which].uc_stack.ss_sp = stacks[1 - which];
	there[which].uc_stack.ss_size = sizeof(stacks[0]);
	makecontext(&there[which], (void (*)(void))coroutine, 1, which);
	resume(which);
}

static int resuming(int level)
{
	start(0);
	rest();
	abandoned++;
	returned++;
	return level;
}

static int raising(int level)
{
	rest();
	raise(SIGUSR1);
	returned++;
	return level;
}

static void handler(int number)
{
	step(nothing, number);
	step(nothing, number);
	returned += 2;
}

/* ---- functions that pop ------------------------------------------------------------- */

struct gift {
	long values[8];
};

APART struct gift give(int level)
{
	struct gift gift = {{level}};

	if (level == 3) {
		abandoned += 2;
		longjmp(back, 1);
	}
	if (level == 1)
		rest();
	if (level == 2 || (level == 1 && setjmp(back) == 0))
		gift = give(level + 1);
	returned++;
	return gift;
}

/* ---- tail calls --------------------------------------------------------------------- */

APART int other(action *act, int level);

APART __attribute__((optimize("O2"))) int hop(action *act, int level)
{
	__asm__ volatile("" ::: "memory");
	return level ? other(act, level - 1) : act(0);
}

APART __attribute__((optimize("O2"))) int other(action *act, int level)
{
	__asm__ volatile("" ::: "memory");
	return hop(act, level);
}

static int resting(int level)
{
	rest();
	returned += 4;
	return level;
}

/* ---- ways --------------------------------------------------------------------------- */

static void once(const char *way)
{
	pthread_t other_thread;

	if (strcmp(way, "return") == 0) {
		step(nothing, 1);
		returned++;
	} else if (strcmp(way, "longjmp") == 0) {
		step(catching, 1);
	} else if (strcmp(way, "same") == 0) {
		same();
	} else if (strcmp(way, "exit") == 0) {
		pthread_create(&other_thread, NULL, thread, NULL);
		pthread_join(other_thread, NULL);
	} else if (strcmp(way, "deep") == 0) {
		step(deepening, 1);
	} else if (strcmp(way, "coroutine") == 0) {
		step(resuming, 1);
	} else if (strcmp(way, "coroutines") == 0) {
		start(0);
		start(1);
		resume(1);
		resume(0);
	} else if (strcmp(way, "altstack") == 0) {
		step(raising, 1);
	} else if (strcmp(way, "pops") == 0) {
		give(1);
		give(0);
	} else if (strcmp(way, "tail") == 0) {
		hop(resting, 3);
	} else {
		exit(2);
	}
}

int main(int argc, char **argv)
{
	stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};
	struct sigaction on = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	int count = argc > 2 ? atoi(argv[2]) : 1;

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &on, NULL);
	for (int i = 0; i < count; i++)
		once(argc > 1 ? argv[1] : "return");
	printf("returned %lu abandoned %lu\n", returned, abandoned);
	return 0;
}
