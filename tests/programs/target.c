// SPDX-License-Identifier: MIT
/*
 * What a probe can be silent on: target HOW. It says "ready" once it is what HOW means, and lives for ten minutes
 * at most.
 *
 *	plain		work(), target:tick and target:guarded every 2 ms
 *	idle		nothing, forever
 *	fork		children do it, the parent only waits
 *	thread		a second thread does it
 *	exec FILE	waits until somebody has raised target:tick's semaphore, and half a second later becomes FILE
 *	seccomp		under a filter that allows everything
 *	copy		its own code is copied to anonymous memory first
 *	writable	its own code is made writable first
 *	heals		waits until somebody has changed its code, puts it right, as a debugger does that had
 *			a breakpoint there before, and begins
 *	dlopen FILE	waits for SIGUSR1, then loads FILE and calls its lib_work()
 */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

__extension__ unsigned short target_guarded_semaphore __attribute__((section(".probes")));
unsigned short target_tick_semaphore __attribute__((section(".probes")));

static volatile int sink;

__attribute__((noinline, noclone)) int work(int n)
{
	sink += n;
	__asm__ volatile("");
	return sink;
}

/* inlined wherever it is called; a copy of its own stays, which nobody calls */
__attribute__((noclone)) inline int folded(int n)
{
	sink += 3 * n;
	return sink;
}
extern int folded(int n);

/* static, so that no copy is left at all */
static inline __attribute__((always_inline)) int vanished(int n)
{
	sink += 7 * n;
	return sink;
}

static int fast(int n)
{
	sink += n;
	return n + 1;
}

static int slow(int n)
{
	sink += n;
	return n + 2;
}

static int (*choose(void))(int)
{
	return getenv("SLOW_PLEASE") ? slow : fast;
}
int chosen(int n) __attribute__((ifunc("choose")));

static void once(int i)
{
	work(i);
	folded(i);
	vanished(i);
	chosen(i);
	STAP_PROBE1(target, tick, i);
	if (target_guarded_semaphore)
		STAP_PROBE1(target, guarded, i);
	usleep(2000);
}

/* Whatever becomes of the test: nothing stays behind. */
static void live_briefly(void)
{
	prctl(PR_SET_PDEATHSIG, 9);
	alarm(600);
}

static void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

static void *loop(void *arg)
{
	for (int i = 0;; i++)
		once(i);
	return arg;
}

static void sandbox(void)
{
	struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {1, allow};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(3);
}

/* As programs do that want their code on huge pages: copy it aside, put the copy in its place. */
static void copy_code(void)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start = 0, end = 0;

	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		if (strstr(line, " r-xp ") && sscanf(line, "%lx-%lx", &from, &to) == 2 &&
		    from <= (unsigned long)work && (unsigned long)work < to)
			start = from, end = to;
	}
	if (maps)
		fclose(maps);
	size_t len = end - start;
	char *copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	memcpy(copy, (void *)start, len);
	mprotect(copy, len, PROT_READ | PROT_EXEC);
	/* mremap() in one step: there is no moment without code */
	if (mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start) ==
	    MAP_FAILED)
		_exit(4);
}

static void make_writable(void)
{
	uintptr_t page = (uintptr_t)work & ~(uintptr_t)4095;

	if (mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
		_exit(6);
}

/* As a debugger does it, so that the code stays as it is mapped. */
static void heal(void)
{
	char code[16];
	FILE *memory = fopen("/proc/self/mem", "r+");

	memcpy(code, (void *)(uintptr_t)work, sizeof(code));
	say_ready();
	while (memory && memcmp(code, (void *)(uintptr_t)work, sizeof(code)) == 0)
		usleep(1000);
	usleep(300000); /* whoever armed a probe has seen that it is there */
	if (!memory || fseek(memory, (long)(uintptr_t)work, SEEK_SET) != 0 ||
	    fwrite(code, sizeof(code), 1, memory) != 1)
		_exit(7);
	fclose(memory);
}

static void become(char **argv)
{
	const volatile unsigned short *armed = &target_tick_semaphore;

	say_ready();
	while (!*armed)
		usleep(1000);
	usleep(500000); /* whoever armed the probe has begun to watch */
	execv(*argv, argv);
}

static void load(const char *file)
{
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	say_ready();
	sigwait(&signals, &signal);
	void *library = dlopen(file, RTLD_NOW);
	int (*lib_work)(int) = library ? (int (*)(int))dlsym(library, "lib_work") : NULL;

	if (!lib_work)
		_exit(5);
	for (int i = 0;; i++) {
		lib_work(i);
		usleep(2000);
	}
}

static void fork_children(void)
{
	for (;;) {
		if (fork() == 0) {
			live_briefly();
			loop(NULL);
		}
		say_ready();
		wait(NULL);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "plain";
	pthread_t thread;

	live_briefly();
	if (strcmp(how, "idle") == 0) {
		say_ready();
		for (;;)
			pause();
	} else if (strcmp(how, "fork") == 0) {
		fork_children();
	} else if (strcmp(how, "thread") == 0) {
		pthread_create(&thread, NULL, loop, NULL);
		say_ready();
		for (;;)
			pause();
	} else if (strcmp(how, "exec") == 0 && argc > 2) {
		become(argv + 2);
	} else if (strcmp(how, "seccomp") == 0) {
		sandbox();
	} else if (strcmp(how, "copy") == 0) {
		copy_code();
	} else if (strcmp(how, "writable") == 0) {
		make_writable();
	} else if (strcmp(how, "heals") == 0) {
		heal();
	} else if (strcmp(how, "dlopen") == 0 && argc > 2) {
		load(argv[2]);
	}
	say_ready();
	loop(NULL);
	return 0;
}
