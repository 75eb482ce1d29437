// SPDX-License-Identifier: MIT
/*
 * See cost_sites.h. On x86 the instructions are written in assembly, because a compiler may begin any function with
 * an endbr64. On other architectures they are functions in C: one that saves nothing, and one that has a frame.
 */
#include "cost_sites.h"

#if defined(__x86_64__) || defined(__i386__)

#define SITE(name, code)                                                               \
	__asm__(".pushsection .text\n\t.balign 64\n\t.globl " name "\n\t.hidden " name \
		"\n\t.type " name ", @function\n" name ":\n\t" code                    \
		"\n\tret\n\t.size " name ", . - " name "\n\t.popsection");

SITE("nw_cost_nop", "nop")
SITE("nw_cost_words", "nop")
SITE("nw_cost_both", "nop")
SITE("nw_cost_return", "nop")
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

void nw_cost_call(nw_cost_function *function, const char *text)
{
	function(text);
}

#else

/* Kernels cannot place uprobes in Thumb code: a probe there kills us. */
#ifdef __thumb__
#define PROBED __attribute__((noinline, target("arm")))
#else
#define PROBED __attribute__((noinline))
#endif

/* The numbers make the functions differ, so that no linker folds them. */
#define LEAF(name, number)                                                     \
	PROBED void name(const char *text)                                     \
	{                                                                      \
		__asm__ volatile("nop" : : "r"(text), "r"(number) : "memory"); \
	}

static PROBED void callee(const char *text)
{
	__asm__ volatile("" : : "r"(text) : "memory");
}

#define USUAL(name, number)                  \
	PROBED void name(const char *text)   \
	{                                    \
		volatile char saved[number]; \
		saved[0] = (char)number;     \
		callee(text);                \
		(void)saved[0];              \
	}

PROBED void nw_cost_call(nw_cost_function *function, const char *text)
{
	function(text);
	__asm__ volatile("" : : : "memory"); /* prevents a tail call */
}

LEAF(nw_cost_nop, 1)
LEAF(nw_cost_words, 2)
LEAF(nw_cost_both, 3)
LEAF(nw_cost_return, 4)
USUAL(nw_cost_usual, 5)
USUAL(nw_cost_long_nop, 6)
USUAL(nw_cost_push, 7)
USUAL(nw_cost_endbr, 8)

#endif
