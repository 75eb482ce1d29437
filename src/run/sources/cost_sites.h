/* SPDX-License-Identifier: MIT */
/* Functions of our own to be hit, for hit_cost.c: what stands at their beginning is what the kernel has to get over. */
#ifndef NOPWATCH_RUN_SOURCES_COST_SITES_H
#define NOPWATCH_RUN_SOURCES_COST_SITES_H

#include <stdint.h>

/* As many as are worth telling apart; each is a place of its own. */
typedef void nw_cost_function(const char *text);
nw_cost_function nw_cost_nop, nw_cost_words, nw_cost_both, nw_cost_return;
/* The first instruction of a usual function, which the kernel executes in a copy, or by its own means. */
nw_cost_function nw_cost_usual;
/* x86 only; elsewhere the same as nw_cost_usual. */
nw_cost_function nw_cost_long_nop, nw_cost_push, nw_cost_endbr;

/*
 * Call one. From code of the same kind: on 32-bit ARM the last bit of an address to return to says that it is Thumb code, and
 * the kernel goes back from a return probe without looking at that bit, which ends in a SIGSEGV
 * (instruction_pointer_set() of arch/arm/include/asm/ptrace.h).
 */
void nw_cost_call(nw_cost_function *function, const char *text);

/* Their argument, as a note would spell it; "": it is on the stack, or nobody has looked. */
#if defined(__x86_64__)
#define NW_COST_ARGUMENT "8@%rdi"
#elif defined(__aarch64__)
#define NW_COST_ARGUMENT "8@x0"
#elif defined(__s390x__)
#define NW_COST_ARGUMENT "8@%r2"
#else
#define NW_COST_ARGUMENT ""
#endif

#endif
