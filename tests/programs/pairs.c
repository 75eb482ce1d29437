// SPDX-License-Identifier: MIT
/*
 * Sites whose nop has a longer nop behind it: pairs:ten (a nop of 10 bytes, which Linux 7.2 and later turn into a call) and pairs:five (5
 * bytes, whose call destroys the red zone on 6.18 to 7.1). They stand in functions without a frame that keep data below the stack pointer:
 *
 *    pairs ROUNDS THREADS [again]
 *
 * Every thread hits both probes ROUNDS times, and then so does a child of a fork(), the last time with seccomp's strict filter. A round is bad if a word of the red zone, a register or
 * the carry flag is not what it was before the probe. The program says "rounds N bad N ns N child N CODE", where N are sums over all
 * threads, ns the time of one round, and CODE the bytes in memory at pairs:ten. With `again`, it waits for SIGUSR1 then and begins anew.
 * The arguments are the round, the word that lies deepest in the red zone, and a global variable. Status 2: another architecture.
 */
#ifndef __x86_64__
int main(void)
{
	return 2;
}
#else
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	CODE = 11
};

int pairs_global = -7;

/* Writes a function that fills the red zone with its argument and the number of the word, sets registers, hits the
 * probe, and returns how much of that has changed. %rdi: the round. */
#define LEAF(name, nop, note)                                                        \
	__asm__(".pushsection .text\n\t.balign 64\n\t.globl leaf_" name              \
		"\n.type leaf_" name ", @function\nleaf_" name ":\n"                 \
		"	mov $-16, %rdx\n"                                                  \
		"1:	lea (%rdi,%rdx), %rax\n"                                         \
		"	mov %rax, (%rsp,%rdx,8)\n"                                         \
		"	inc %rdx\n"                                                        \
		"	jnz 1b\n"                                                          \
		"	mov $0x1111, %rax\n"                                               \
		"	mov $0x2222, %rcx\n"                                               \
		"	mov $0x3333, %r11\n"                                               \
		"	stc\n"                                                             \
		"	.globl site_" name "\nsite_" name ":\n"                      \
		"	nop\n"                                                             \
		"	.byte " nop "\n"                                             \
		"	sbb %rsi, %rsi\n" /* -1: the carry flag is set */            \
		"	inc %rsi\n"                                                        \
		"	sub $0x1111, %rax\n"                                               \
		"	or %rax, %rsi\n"                                                   \
		"	sub $0x2222, %rcx\n"                                               \
		"	or %rcx, %rsi\n"                                                   \
		"	sub $0x3333, %r11\n"                                               \
		"	or %r11, %rsi\n"                                                   \
		"	mov $-16, %rdx\n"                                                  \
		"2:	lea (%rdi,%rdx), %rax\n"                                         \
		"	sub (%rsp,%rdx,8), %rax\n"                                         \
		"	or %rax, %rsi\n"                                                   \
		"	inc %rdx\n"                                                        \
		"	jnz 2b\n"                                                          \
		"	mov %rsi, %rax\n"                                                  \
		"	ret\n.size leaf_" name ", . - leaf_" name "\n	.popsection\n" \
		"	.pushsection .note.stapsdt,\"\",\"note\"\n"                        \
		"	.balign 4\n"                                                       \
		"	.4byte 8, 5f-4f, 3\n"                                              \
		"	.asciz \"stapsdt\"\n"                                              \
		"4:	.8byte site_" name ", _.stapsdt.base, 0\n"                   \
		"	.asciz \"pairs\"\n	.asciz \"" note "\"\n"               \
		"	.asciz \"8@%rdi -8@-128(%rsp) -4@pairs_global(%rip)\"\n"           \
		"5:	.balign 4\n	.popsection\n")

__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"
	".size _.stapsdt.base, 1\n.popsection");
LEAF("ten", "0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0", "ten");
LEAF("five", "0x0f, 0x1f, 0x44, 0x00, 0x00", "five");

long leaf_ten(long round);
long leaf_five(long round);
extern const unsigned char site_ten[CODE];

static long rounds;
static long bad;

static void *hit(void *arg)
{
	long wrong = 0;

	(void)arg;
	for (long i = 1; i <= rounds; i++)
		wrong += leaf_ten(i) != 0 || leaf_five(i) != 0;
	__atomic_add_fetch(&bad, wrong, __ATOMIC_RELAXED);
	return NULL;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The last round may use no system call but read(), write() and exit(); the kernel's call is one of its own. */
static void be_child(void)
{
	bad = 0;
	rounds--;
	hit(NULL);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0)
		bad += leaf_ten(rounds + 1) != 0 || leaf_five(rounds + 1) != 0;
	syscall(SYS_exit, bad != 0);
}

static void begin(int threads)
{
	pthread_t other[64];
	int status;

	bad = 0;
	uint64_t began = now();
	for (int i = 0; i < threads; i++)
		pthread_create(&other[i], NULL, hit, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(other[i], NULL);
	uint64_t took = now() - began;
	pid_t child = fork();
	if (child == 0)
		be_child();
	waitpid(child, &status, 0);
	printf("rounds %ld bad %ld ns %llu child %d ", rounds * threads, bad,
	       (unsigned long long)took / (unsigned long long)(rounds * threads), status);
	for (int i = 0; i < CODE; i++)
		printf("%02x", ((const volatile unsigned char *)site_ten)[i]);
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1, signal;
	sigset_t wanted;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGUSR1);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	rounds = argc > 1 ? atol(argv[1]) : 1;
	begin(threads < 64 ? threads : 64);
	while (argc > 3) {
		sigwait(&wanted, &signal);
		begin(threads < 64 ? threads : 64);
	}
	return 0;
}
#endif
