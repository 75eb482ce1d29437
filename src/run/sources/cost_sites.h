/* SPDX-License-Identifier: MIT */
/* Functions of our own that hit_cost.c probes. Their first instructions differ in how the kernel executes them. */
#ifndef NOPWATCH_RUN_SOURCES_COST_SITES_H
#define NOPWATCH_RUN_SOURCES_COST_SITES_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

/* The kinds of probed places; each is a function of its own. */
typedef void nw_cost_function(const void *arg);
nw_cost_function nw_cost_nop, nw_cost_words, nw_cost_both, nw_cost_return;
/* The first instruction of a usual function, which the kernel executes in a copy or emulates. */
nw_cost_function nw_cost_usual;
/* x86 only; on other architectures the same as nw_cost_usual. */
nw_cost_function nw_cost_long_nop, nw_cost_call_nop, nw_cost_push, nw_cost_endbr;

/*
 * Calls one of them from code of the same kind. On 32-bit ARM the last bit of a return address marks Thumb code, and
 * the kernel returns from a return probe without checking that bit, which would end in a SIGSEGV
 * (instruction_pointer_set() of arch/arm/include/asm/ptrace.h).
 */
void nw_cost_call(nw_cost_function *function, const void *arg);

/* Their argument in the syntax of notes; "": it is on the stack, or unknown. */
#if defined(__x86_64__)
#define NW_COST_ARGUMENT "8@%rdi"
#elif defined(__aarch64__)
#define NW_COST_ARGUMENT "8@x0"
#elif defined(__s390x__)
#define NW_COST_ARGUMENT "8@%r2"
#else
#define NW_COST_ARGUMENT ""
#endif

/* Two threads of our own, on one CPU. */
struct nw_relay {
	int there[2], back[2]; /* pipes */
	pthread_t other;
	bool runs;
	int cpu;
};

/* Starts the other thread. If it cannot run, nw_cost_relay() does nothing. */
void nw_relay_open(struct nw_relay *relay);
/* Moves the calling thread to the CPU of the other. If it returns true, the caller gives *before back afterwards. */
bool nw_relay_join(const struct nw_relay *relay, cpu_set_t *before);
/* arg: the relay. Wakes the other thread, and sleeps until that has woken this one. */
nw_cost_function nw_cost_relay;
/* Accepts a zeroed relay. */
void nw_relay_close(struct nw_relay *relay);

#endif
