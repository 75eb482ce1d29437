// SPDX-License-Identifier: MIT
#include "call_trial.h"

#include <errno.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "find/arch/arch.h"

#ifdef __x86_64__

enum {
	CALL_HITS = 4,
	CALL_CODE = 6 /* bytes that tell that it is a call */
};

/*
 * Fills the red zone (%rsp - 128 to %rsp), hits the probe, and returns how much of the red zone, of three registers and of the
 * carry flag has changed.
 */
long nw_call_trial(void);
extern const unsigned char nw_call_trial_site[CALL_CODE];
__asm__(".pushsection .text\n\t.balign 64\n"
	"\t.globl nw_call_trial\n\t.hidden nw_call_trial\n"
	"\t.type nw_call_trial, @function\nnw_call_trial:\n"
	"\tmov $-16, %rdx\n1:\tmov %rdx, (%rsp,%rdx,8)\n\tinc %rdx\n\tjnz 1b\n"
	"\tmov $1111, %eax\n\tmov $2222, %ecx\n\tmov $3333, %r11d\n\tstc\n"
	"\t.globl nw_call_trial_site\n\t.hidden nw_call_trial_site\n"
	"nw_call_trial_site:\n"
	"\t.byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	"\tsbb %rsi, %rsi\n\tinc %rsi\n"
	"\tsub $1111, %rax\n\tor %rax, %rsi\n\tsub $2222, %rcx\n\tor %rcx, %rsi\n"
	"\tsub $3333, %r11\n\tor %r11, %rsi\n"
	"\tmov $-16, %rdx\n2:\tmov %rdx, %rax\n\tsub (%rsp,%rdx,8), %rax\n"
	"\tor %rax, %rsi\n\tinc %rdx\n\tjnz 2b\n"
	"\tmov %rsi, %rax\n\tret\n"
	"\t.size nw_call_trial, . - nw_call_trial\n\t.popsection");

enum outcome {
	CALL_WORKS,
	CALL_IS_A_TRAP,
	CALL_DOES_HARM
};

static void hit_and_exit(void)
{
	const unsigned int machine = nw_arch_native()->machine;
	long changed = 0;

	for (int i = 0; i < CALL_HITS; i++)
		changed |= nw_call_trial();
	if (changed)
		_exit(CALL_DOES_HARM);
	_exit(nw_arch_is_optimised(machine, nw_call_trial_site, CALL_CODE)
		      ? CALL_WORKS
		      : CALL_IS_A_TRAP);
}

uintptr_t nw_call_trial_nop(void)
{
	return nw_arch_native() ? (uintptr_t)nw_call_trial_site : 0;
}

int nw_call_trial_hit(unsigned int *hits, const char **failure)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		hit_and_exit();
	if (child < 0)
		return -errno;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	*hits = CALL_HITS;
	*failure = NULL;
	if (!WIFEXITED(status) || WEXITSTATUS(status) == CALL_DOES_HARM)
		*failure = "a probe at a nop of ten bytes harms the program";
	else if (WEXITSTATUS(status) == CALL_IS_A_TRAP)
		*failure = "such a probe stays a trap";
	return 0;
}

#else

uintptr_t nw_call_trial_nop(void)
{
	return 0;
}

int nw_call_trial_hit(unsigned int *hits, const char **failure)
{
	*hits = 0;
	*failure = "this architecture has no such nop";
	return 0;
}

#endif
