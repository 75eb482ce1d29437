// SPDX-License-Identifier: MIT
/*
 * fails WAY [COUNT]: pieces of work with a probe at their start and one at their end, some of which
 * fail in between and never come to the end, COUNT times each, and what became of them.
 *
 *	nested		three in each other, all of which end
 *	caught		the third of five catches what the fifth throws; before that it has slept for a
 *			millisecond, so that whoever ended took at least that
 *	statements	nine that fail, one after the other at the same place, and one that does not
 *	startless	the same; and then an end that has no start
 *	thread		three in each other end their thread
 *	coroutines	on two stacks, in any order
 *	overlapping	two kinds in one frame that neither nest nor follow each other
 *	interpreter	nested, but all in one frame
 *	crossing	what one call starts another one ends, and that is deeper on the stack
 *	inlined		as nested, of a function that the compiler has put into itself
 *	helped		one that fails, two that do not, and an end that has no start; starts are in a
 *			function of their own, and so are ends
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <time.h>
#include <ucontext.h>

#define APART __attribute__((noinline, noclone, noipa))

static unsigned long ended, abandoned;
static jmp_buf back;
static ucontext_t here, there[2];
static char stacks[2][65536] __attribute__((aligned(16)));

APART static void rest(void)
{
	struct timespec ms = {.tv_nsec = 1000000};

	nanosleep(&ms, NULL);
}

typedef int action(int level);

APART static int work(action *act, int level)
{
	volatile char frame[64];

	DTRACE_PROBE1(fails, work__start, level);
	frame[0] = (char)level;
	int got = act(level) + frame[0];
	ended++;
	DTRACE_PROBE1(fails, work__done, level);
	return got;
}

static int nothing(int level)
{
	return level;
}

static int nesting(int level)
{
	return level < 3 ? work(nesting, level + 1) : level;
}

static int throwing(int level)
{
	if (level < 5)
		return work(throwing, level + 1);
	abandoned += 2;
	longjmp(back, 1);
}

static int catching(int level)
{
	if (level < 3)
		return work(catching, level + 1);
	rest();
	return setjmp(back) == 0 ? work(throwing, level + 1) : 0;
}

static int failing(int level)
{
	abandoned++;
	longjmp(back, level);
}

static void statements(void)
{
	for (volatile int i = 0; i < 10; i++)
		if (setjmp(back) == 0)
			work(i < 9 ? failing : nothing, 1);
}

/* As work(), but it may come to its end without a start. */
APART static void tidy_fails(void)
{
	abandoned++;
	longjmp(back, 1);
}

APART static void tidy(action *act, int start)
{
	if (start)
		DTRACE_PROBE1(fails, tidy__start, start);
	if (start == 2)
		tidy_fails();
	ended += start == 1;
	act(start);
	DTRACE_PROBE1(fails, tidy__done, start);
}

static void startless(void)
{
	if (setjmp(back) == 0)
		tidy(nothing, 2);
	for (int i = 0; i < 20; i++)
		tidy(nothing, 1);
	tidy(nothing, 0);
}

static int ending(int level)
{
	if (level < 3)
		return work(ending, level + 1);
	abandoned += 3;
	pthread_exit(NULL);
}

static void *thread(void *arg)
{
	work(ending, 1);
	return arg;
}

static int yielding(int level)
{
	swapcontext(&there[level], &here);
	return level;
}

static void coroutine(int which)
{
	work(yielding, which);
	swapcontext(&there[which], &here);
}

static void resume(int which)
{
	swapcontext(&here, &there[which]);
}

static void start(int which)
{
	getcontext(&there[which]);
	there[which].uc_stack.ss_sp = stacks[which];
	there[which].uc_stack.ss_size = sizeof(stacks[0]);
	makecontext(&there[which], (void (*)(void))coroutine, 1, which);
	resume(which);
}

static void coroutines(void)
{
	start(0);
	start(1);
	resume(0);
	resume(1);
}

APART static void overlapping(void)
{
	DTRACE_PROBE(fails, one__start);
	DTRACE_PROBE(fails, work__start);
	DTRACE_PROBE(fails, one__done);
	ended++;
	DTRACE_PROBE(fails, work__done);
}

APART static void interpreter(const char *program)
{
	for (; *program; program++)
		if (*program == '(') {
			DTRACE_PROBE(fails, work__start);
		} else {
			ended++;
			DTRACE_PROBE(fails, work__done);
		}
}

APART static void poll(int *busy)
{
	if (!*busy) {
		DTRACE_PROBE(fails, work__start);
		*busy = 1;
	} else {
		ended++;
		DTRACE_PROBE(fails, work__done);
		*busy = 0;
	}
}

APART static void poll_deeper(int *busy)
{
	volatile char frame[256];

	frame[0] = 1;
	poll(busy);
	frame[1] = frame[0];
}

static void crossing(void)
{
	int busy = 0;

	poll(&busy);
	poll_deeper(&busy);
}

/* What a compiler makes of a function that calls itself: copies of it, in one frame. */
static inline __attribute__((always_inline)) void copy(int level)
{
	DTRACE_PROBE1(fails, work__start, level);
	rest();
	if (level == 1) {
		DTRACE_PROBE1(fails, work__start, level + 1);
		ended++;
		DTRACE_PROBE1(fails, work__done, level + 1);
	}
	ended++;
	DTRACE_PROBE1(fails, work__done, level);
}

APART static void inlined(void)
{
	copy(1);
}

APART static void help_begin(int number)
{
	DTRACE_PROBE1(fails, help__start, number);
}

APART static void help_end(int number)
{
	DTRACE_PROBE1(fails, help__done, number);
}

static void helped(void)
{
	help_begin(0);
	abandoned++;
	for (int i = 1; i < 3; i++) {
		help_begin(i);
		ended++;
		help_end(i);
	}
	help_end(3);
}

static void in_thread(void)
{
	pthread_t other;

	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
}

static void nested(void)
{
	work(nesting, 1);
}

static void caught(void)
{
	work(catching, 1);
}

static void interpret(void)
{
	interpreter("(()(()))");
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"nested", nested},	      {"caught", caught},
	{"statements", statements},   {"startless", startless},
	{"thread", in_thread},	      {"coroutines", coroutines},
	{"overlapping", overlapping}, {"interpreter", interpret},
	{"crossing", crossing},	      {"inlined", inlined},
	{"helped", helped},
};

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 1;
	const char *way = argc > 1 ? argv[1] : "nested";

	for (int i = 0; i < count; i++)
		for (size_t j = 0; j < sizeof(ways) / sizeof(*ways); j++)
			if (strcmp(ways[j].name, way) == 0)
				ways[j].run();
	printf("ended %lu abandoned %lu\n", ended, abandoned);
	return 0;
}
