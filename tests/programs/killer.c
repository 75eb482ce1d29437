// SPDX-License-Identifier: MIT
/*
 * Kills a command at a moment of its life that can be chosen, and chosen again: moments are the
 * entries to and exits from those of its system calls that change something (files, directories,
 * locks), in their order.
 *
 *	killer 0 COMMAND...	run it to its end, and print how many moments there are
 *	killer N COMMAND...	kill -9 it at the N-th: an odd one is before a call, an even one behind it
 *	killer TEXT@N+US COMMAND...	kill -9 it inside the N-th write() of something that begins with TEXT (seven bytes at
 *				most), US microseconds after the call has begun
 *
 * Ends with status 0 if the command was killed or counted, 3 if it had ended before, 77 where the
 * kernel does not tell of system calls (PTRACE_GET_SYSCALL_INFO, 5.3) and their registers are not known here.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PTRACE_GET_SYSCALL_INFO /* glibc has it as an enumerator, too, since 2.29 */
#define PTRACE_GET_SYSCALL_INFO 0x420e
#endif

/* struct ptrace_syscall_info of linux/ptrace.h, which older headers do not have */
struct call_info {
	uint8_t op, pad[3];
	uint32_t arch;
	uint64_t instruction_pointer, stack_pointer;
	uint64_t nr, args[6];
};

enum {
	OP_ENTRY = 1,
	OP_EXIT = 2
};

/* Where the command is killed. */
struct wanted {
	long moment;  /* 0: nowhere */
	char text[8]; /* "": at a moment; else inside a write() that begins with it ... */
	long write,
		us; /* ... the write-th of these, so many microseconds after its begin */
};

static bool changes(const struct call_info *info)
{
	static const long calls[] = {
		SYS_pwrite64, SYS_mkdirat, SYS_unlinkat,  SYS_renameat2,
		SYS_linkat,   SYS_flock,   SYS_symlinkat, SYS_ftruncate,
#ifdef SYS_mkdir
		SYS_mkdir,    SYS_rmdir,   SYS_unlink,	  SYS_rename,
		SYS_symlink,  SYS_link,
#endif
#ifdef SYS_renameat
		SYS_renameat,
#endif
	};

	if (info->nr == SYS_openat)
		return info->args[2] & (O_WRONLY | O_RDWR | O_CREAT);
	if (info->nr == SYS_write)
		return info->args[0] > STDERR_FILENO;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if ((long)info->nr == calls[i])
			return true;
	return false;
}

/* Before 5.3: a call that has not begun yet has ENOSYS for its result (arch/x86/entry: pt_regs' ax). */
static bool tell_by_registers(pid_t pid, struct call_info *info)
{
#ifdef __x86_64__
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0)
		return false;
	info->op = (long)regs.rax == -ENOSYS ? OP_ENTRY : OP_EXIT;
	info->nr = regs.orig_rax;
	info->args[0] = regs.rdi;
	info->args[1] = regs.rsi;
	info->args[2] = regs.rdx;
	return true;
#else
	(void)pid, (void)info;
	return false;
#endif
}

static bool tell(pid_t pid, struct call_info *info)
{
	return ptrace((enum __ptrace_request)PTRACE_GET_SYSCALL_INFO, pid,
		      (void *)sizeof(*info), info) > 0 ||
	       tell_by_registers(pid, info);
}

static _Noreturn void become(char **argv)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

/* Is it a write() of something that begins with this text? */
static bool writes(pid_t pid, const struct call_info *info, const char *text)
{
	long word;

	if (!*text || info->nr != SYS_write)
		return false;
	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, pid, (void *)(uintptr_t)info->args[1], NULL);
	return !errno && strncmp((const char *)&word, text, strlen(text)) == 0;
}

static long end_it(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

/* The number of moments until it ended, or -1: it was killed where that was wanted. */
static long follow(pid_t pid, struct wanted *wanted)
{
	bool counts = false; /* we are in a call that changes something */
	long moments = 0;
	int status, number = 0;

	while (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)number) == 0 &&
	       waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		struct call_info info = {0};
		number = WSTOPSIG(status);
		if (number != (SIGTRAP | 0x80)) {
			number = number == SIGTRAP ? 0 : number; /* exec */
			continue;
		}
		number = 0;
		if (!tell(pid, &info))
			exit(77);
		if (info.op == OP_ENTRY)
			counts = changes(&info);
		if (info.op == OP_ENTRY && writes(pid, &info, wanted->text) &&
		    !--wanted->write) {
			ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
			usleep((useconds_t)wanted->us);
			return end_it(pid);
		}
		if (counts && ++moments == wanted->moment)
			return end_it(pid);
	}
	return moments;
}

int main(int argc, char **argv)
{
	struct wanted wanted = {.moment = -1};
	int status;

	if (argc > 2 && sscanf(argv[1], "%7[^@]@%ld+%ld", wanted.text, &wanted.write,
			       &wanted.us) == 3) {
		wanted.moment = 0;
	} else if (argc > 2) {
		wanted.text[0] = '\0';
		wanted.moment = strtol(argv[1], NULL, 10);
	}
	if (wanted.moment < 0) {
		fprintf(stderr, "usage: killer N|TEXT@N+US COMMAND...\n");
		return 2;
	}
	pid_t pid = fork();
	if (pid == 0)
		become(argv + 2);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 1;
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
	       (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	long moments = follow(pid, &wanted);
	bool counts = !wanted.moment && !*wanted.text;
	if (counts)
		printf("%ld\n", moments);
	return !counts && moments >= 0 ? 3 : 0;
}
