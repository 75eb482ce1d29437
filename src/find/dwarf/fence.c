// SPDX-License-Identifier: MIT
/*
 * See fence.h. Each restriction is applied on its own, because not every kernel has all of them and not every user
 * may use them: a user without privileges has none to drop, seccomp needs Linux 3.5, and so on. So failures are
 * ignored.
 */
#include "fence.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifndef PR_SET_NO_NEW_PRIVS
#define PR_SET_NO_NEW_PRIVS 38
#endif

/* ---- system calls ------------------------------------------------------------------- */

#if defined(__x86_64__) && !defined(__ILP32__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define OUR_ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__) && defined(AUDIT_ARCH_AARCH64)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#elif defined(__arm__) && defined(__ARMEL__)
#define OUR_ARCH AUDIT_ARCH_ARM
#elif defined(__riscv) && __riscv_xlen == 64 && defined(AUDIT_ARCH_RISCV64)
#define OUR_ARCH AUDIT_ARCH_RISCV64
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__) && defined(AUDIT_ARCH_PPC64LE)
#define OUR_ARCH AUDIT_ARCH_PPC64LE
#elif defined(__powerpc64__)
#define OUR_ARCH AUDIT_ARCH_PPC64
#elif defined(__s390x__)
#define OUR_ARCH AUDIT_ARCH_S390X
#endif

#if defined(OUR_ARCH) && defined(SECCOMP_RET_ERRNO) && !defined(SANITIZED)

/* System calls that libelf, libdw, liblzma and the C library need for reading open descriptors and for computing. */
static const int calls[] = {
	SYS_read, SYS_pread64, SYS_lseek, SYS_fstat, SYS_munmap, SYS_mremap, SYS_brk,
	SYS_madvise, SYS_futex, SYS_close, SYS_exit, SYS_exit_group, SYS_rt_sigreturn,
	SYS_rt_sigprocmask, SYS_restart_syscall, SYS_getpid, SYS_gettid, SYS_clock_gettime,
	SYS_sched_yield, SYS_sysinfo, SYS_setrlimit,
#ifdef SYS_sendmsg
	SYS_sendmsg, SYS_recvmsg, SYS_sendto, SYS_recvfrom,
#endif
#ifdef SYS_newfstatat
	SYS_newfstatat,
#endif
#ifdef SYS_fstat64
	SYS_fstat64, SYS_fstatat64,
#endif
#ifdef SYS_statx
	SYS_statx,
#endif
#ifdef SYS__llseek
	SYS__llseek,
#endif
#ifdef SYS_getrandom
	SYS_getrandom,
#endif
#ifdef SYS_futex_time64
	SYS_futex_time64, SYS_clock_gettime64,
#endif
#ifdef __x86_64__
	/* uretprobe: the kernel's return probes in this process need it (Linux 6.11) */
	335, 336, /* uprobe, for the same reason (Linux 6.18) */
#endif
#ifdef __s390x__
	SYS_mmap, /* its arguments are in memory, where no filter sees them */
#endif
};

enum {
	/* Stands for the number of this process, which is never so large. */
	OUR_PID = 0x7fffffff
};
/* System calls that are allowed if these bits of an argument have this value. */
static const struct {
	int call;
	unsigned int argument;
	uint32_t bits, value;
} conditions[] = {
#ifdef SYS_mmap2
	{SYS_mmap2, 2, PROT_EXEC, 0},
#elif !defined(__s390x__)
	{SYS_mmap, 2, PROT_EXEC, 0},
#endif
	{SYS_mprotect, 2, PROT_EXEC, 0},
	{SYS_tgkill, 0, ~(uint32_t)0, OUR_PID}, /* abort() */
#ifdef SYS_prlimit64
	{SYS_prlimit64, 0, ~(uint32_t)0, 0}, /* its own limits */
#endif
#ifdef SYS_socketcall
	{SYS_socketcall, 0, ~(uint32_t)1, 16}, /* SYS_SENDMSG, SYS_RECVMSG of linux/net.h */
#endif
};

static uint32_t argument_at(unsigned int number)
{
	/* offset of the lower half of 64 bits */
	const unsigned int half = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0;

	return (uint32_t)offsetof(struct seccomp_data, args) + 8 * number + half;
}

static void filter_calls(void)
{
	enum {
		MOST = 4 + 2 * NW_COUNT(calls) + 6 * NW_COUNT(conditions) + 1
	};
	const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
				 refuse = BPF_STMT(BPF_RET | BPF_K,
						   SECCOMP_RET_ERRNO | EPERM);
	struct sock_filter code[MOST] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0),
		refuse,
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {.len = 4, .filter = code};

	for (size_t i = 0; i < NW_COUNT(calls); i++) {
		code[program.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1);
		code[program.len++] = allow;
	}
	for (size_t i = 0; i < NW_COUNT(conditions); i++) {
		const uint32_t value = conditions[i].value == OUR_PID ? (uint32_t)getpid()
								      : conditions[i].value;
		code[program.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)conditions[i].call, 0, 5);
		code[program.len++] = (struct sock_filter)BPF_STMT(
			BPF_LD | BPF_W | BPF_ABS, argument_at(conditions[i].argument));
		code[program.len++] = (struct sock_filter)BPF_STMT(
			BPF_ALU | BPF_AND | BPF_K, conditions[i].bits);
		code[program.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
		code[program.len++] = allow;
		code[program.len++] = refuse;
	}
	code[program.len++] = refuse;
	(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else

static void filter_calls(void)
{
}

#endif

/* ---- limits ------------------------------------------------------------------------- */

static void limit(int what, rlim_t value)
{
	struct rlimit now;

	if (getrlimit(what, &now) < 0)
		return;
	if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max)
		value = now.rlim_max;
	(void)setrlimit(what, &(struct rlimit){value, value});
}

/* Reads the sizes of the address space and of private memory, in bytes. 0: /proc is not available. */
static void sizes(uint64_t *all, uint64_t *data)
{
	unsigned long long pages[6] = {0};
	FILE *file = fopen("/proc/self/statm", "re");
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (file) {
		if (fscanf(file, "%llu %llu %llu %llu %llu %llu", &pages[0], &pages[1],
			   &pages[2], &pages[3], &pages[4], &pages[5]) != 6)
			pages[0] = pages[5] = 0;
		fclose(file);
	}
	*all = pages[0] * page;
	*data = pages[5] * page;
}

/* Limits memory. RLIMIT_DATA does not include mapped files, but before Linux 4.7 not even memory that malloc() maps. */
static void limit_memory(void)
{
	uint64_t all, data;

	sizes(&all, &data);
	limit(RLIMIT_DATA, (rlim_t)(data + NW_FENCE_MEMORY));
	void *more = mmap(NULL, 2 * (size_t)NW_FENCE_MEMORY, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (more == MAP_FAILED)
		return;
	munmap(more, 2 * (size_t)NW_FENCE_MEMORY);
	limit(RLIMIT_AS, (rlim_t)(all + 2 * (uint64_t)NW_FENCE_MEMORY));
}

static void limit_all(void)
{
	enum {
		DESCRIPTORS = 8192 /* enough for the files that are kept open */
	};
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max < DESCRIPTORS &&
	    setrlimit(RLIMIT_NOFILE, &(struct rlimit){DESCRIPTORS, DESCRIPTORS}) < 0)
		(void)setrlimit(RLIMIT_NOFILE,
				&(struct rlimit){files.rlim_max, files.rlim_max});
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, NW_FENCE_CPU);
	limit(RLIMIT_FSIZE, 0);
#ifndef SANITIZED
	limit_memory();
#endif
}

void nw_fence_descriptors(bool allowed)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	/* Descriptor 0 is the socket: no further one may be made. */
	files.rlim_cur = allowed ? files.rlim_max : 1;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}

/* ---- what was inherited ------------------------------------------------------------- */

/* Resets signals: those of the terminal, and the parent's handlers, are not for this process. */
static void forget_signals(void)
{
	sigset_t none;

	(void)setsid();
	for (int i = 1; i < NSIG; i++)
		if (i != SIGKILL && i != SIGSTOP)
			signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

bool nw_fence_enter(int socket, pid_t parent)
{
	forget_signals();
	(void)prctl(PR_SET_NAME, "nopwatch-reader");
	if (socket != 0 && dup2(socket, 0) < 0)
		return false;
#ifdef SANITIZED
	nw_close_files_above(STDERR_FILENO); /* the sanitizer reports on stderr */
#else
	nw_close_files_above(0);
#endif
	limit_all();
	(void)nw_drop_privileges(); /* the rest of the fence stands without */
	/* after the change of user, which resets it */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return false;
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	filter_calls();
	nw_fence_descriptors(false);
	return true;
}
