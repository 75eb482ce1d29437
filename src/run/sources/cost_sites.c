// SPDX-License-Identifier: MIT
/*
 * See cost_sites.h. On x86 the instructions are written in assembly, because a compiler may begin any function with
 * an endbr64. On other architectures they are functions in C: one that saves nothing, and one that has a frame.
 */
#include "cost_sites.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)

#define SITE(name, code)                                                               \
	__asm__(".pushsection .text\n\t.balign 64\n\t.globl " name "\n\t.hidden " name \
		"\n\t.type " name ", @function\n" name ":\n\t" code                    \
		"\n\tret\n\t.size " name ", . - " name "\n\t.popsection");

SITE("nw_cost_nop", "nop")
SITE("nw_cost_words", "nop")
SITE("nw_cost_both", "nop")
SITE("nw_cost_return", "nop")
SITE("nw_cost_call_nop", "nop\n\t.byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0")
SITE("nw_cost_long_nop", ".byte 0x0f, 0x1f, 0x40, 0x00")
#ifdef __x86_64__
SITE("nw_cost_endbr", ".byte 0xf3, 0x0f, 0x1e, 0xfa")
SITE("nw_cost_push", "push %rbp\n\tpop %rbp")
SITE("nw_cost_usual", "sub $8, %rsp\n\tadd $8, %rsp")
#else
SITE("nw_cost_endbr", ".byte 0xf3, 0x0f, 0x1e, 0xfb")
SITE("nw_cost_push", "push %ebp\n\tpop %ebp")
SITE("nw_cost_usual", "sub $4, %esp\n\tadd $4, %esp")
#endif

void nw_cost_call(nw_cost_function *function, const void *arg)
{
	function(arg);
}

#else

/* Kernels cannot place uprobes in Thumb code: a probe there kills us. */
#ifdef __thumb__
#define PROBED __attribute__((noinline, target("arm")))
#else
#define PROBED __attribute__((noinline))
#endif

/* The numbers make the functions differ, so that no linker folds them. */
#define LEAF(name, number)                                                    \
	PROBED void name(const void *arg)                                     \
	{                                                                     \
		__asm__ volatile("nop" : : "r"(arg), "r"(number) : "memory"); \
	}

static PROBED void callee(const void *arg)
{
	__asm__ volatile("" : : "r"(arg) : "memory");
}

#define USUAL(name, number)                  \
	PROBED void name(const void *arg)    \
	{                                    \
		volatile char saved[number]; \
		saved[0] = (char)number;     \
		callee(arg);                 \
		(void)saved[0];              \
	}

PROBED void nw_cost_call(nw_cost_function *function, const void *arg)
{
	function(arg);
	__asm__ volatile("" : : : "memory"); /* prevents a tail call */
}

LEAF(nw_cost_nop, 1)
LEAF(nw_cost_words, 2)
LEAF(nw_cost_both, 3)
LEAF(nw_cost_return, 4)
USUAL(nw_cost_usual, 5)
USUAL(nw_cost_long_nop, 6)
USUAL(nw_cost_call_nop, 9)
USUAL(nw_cost_push, 7)
USUAL(nw_cost_endbr, 8)

#endif

/* ---- two threads --------------------------------------------------------------------- */

static bool pass(int from, int to)
{
	char byte;
	ssize_t ret;

	while ((ret = read(from, &byte, 1)) < 0 && errno == EINTR)
		;
	return ret == 1 && write(to, &byte, 1) == 1;
}

/* The other thread runs until the pipe that it reads has no writer any more. */
static void *pass_back(void *arg)
{
	struct nw_relay *relay = arg;

	while (pass(relay->there[0], relay->back[1]))
		;
	/* whoever waits for an answer reads the end of the pipe */
	close(relay->back[1]);
	return NULL;
}

bool nw_relay_join(const struct nw_relay *relay, cpu_set_t *before)
{
	cpu_set_t one;

	if (!relay->runs)
		return false;
	CPU_ZERO(&one);
	CPU_SET((size_t)relay->cpu, &one);
	return sched_getaffinity(0, sizeof(*before), before) == 0 &&
	       sched_setaffinity(0, sizeof(one), &one) == 0;
}

static void close_pipe(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

void nw_relay_open(struct nw_relay *relay)
{
	cpu_set_t before;

	*relay = (struct nw_relay){.cpu = sched_getcpu()};
	if (relay->cpu < 0 || relay->cpu >= CPU_SETSIZE ||
	    pipe2(relay->there, O_CLOEXEC) < 0)
		return;
	if (pipe2(relay->back, O_CLOEXEC) < 0) {
		close_pipe(relay->there);
		return;
	}
	relay->runs = true;
	/* The other thread stays on the CPU where this one has created it. */
	bool moved = nw_relay_join(relay, &before);
	relay->runs = moved && pthread_create(&relay->other, NULL, pass_back, relay) == 0;
	if (moved)
		sched_setaffinity(0, sizeof(before), &before);
	if (!relay->runs) {
		close_pipe(relay->there);
		close_pipe(relay->back);
	}
}

void nw_cost_relay(const void *arg)
{
	const struct nw_relay *relay = arg;
	char byte = 0;

	if (relay->runs && write(relay->there[1], &byte, 1) == 1)
		while (read(relay->back[0], &byte, 1) < 0 && errno == EINTR)
			;
}

void nw_relay_close(struct nw_relay *relay)
{
	if (!relay->runs)
		return;
	close(relay->there[1]); /* ends the other thread */
	pthread_join(relay->other, NULL);
	close(relay->there[0]);
	close(relay->back[0]);
	relay->runs = false;
}
