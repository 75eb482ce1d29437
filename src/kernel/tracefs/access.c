// SPDX-License-Identifier: MIT
/* Finds out what this kernel permits: tracefs for this program, BPF for other tools. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/tracefs/tracefs.h"

static bool read_line(const char *path, char *out, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, out, room - 1) : 0;

	if (fd >= 0)
		close(fd);
	out[len > 0 ? len : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return len > 0;
}

static int read_number(const char *path, int unknown)
{
	char line[32];

	return read_line(path, line, sizeof(line)) ? (int)strtol(line, NULL, 10) : unknown;
}

/* Reads the word in brackets of "none [integrity] confidentiality". */
static void read_lockdown(char out[24])
{
	char line[128];

	*out = '\0';
	if (!read_line("/sys/kernel/security/lockdown", line, sizeof(line)))
		return;
	char *open = strchr(line, '['), *close = strchr(line, ']');
	if (open && close && close > open)
		snprintf(out, 24, "%.*s", (int)(close - open - 1), open + 1);
}

/* Tries to load the smallest program, `r0 = 0; exit`, of a type that can be attached to uprobes. */
static int try_bpf(void)
{
	static const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.insn_cnt = NW_COUNT(program),
		.insns = (uint64_t)(uintptr_t)program,
		.license = (uint64_t)(uintptr_t) "GPL",
	};
	long fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

/* Does a list of the kernel's symbols ("ADDRESS KIND NAME[\t[MODULE]]" per line) contain this one? */
static bool lists_symbol(const char *path, const char *symbol)
{
	const size_t len = strlen(symbol);
	struct nw_buf text = {0};
	bool found = false;

	if (nw_buf_read_file(&text, AT_FDCWD, path) == 0)
		for (const char *at = nw_buf_str(&text);
		     !found && (at = strstr(at, symbol)); at += len)
			found = at > text.data && at[-1] == ' ' && strchr("\t\n", at[len]);
	nw_buf_free(&text);
	return found;
}

/*
 * Red Hat's kernels have mark_tech_preview(), and some (RHEL 7) call it for any bpf() system call. It taints the
 * kernel until the next boot, which support asks about. A kernel that is tainted already cannot get worse.
 */
bool nw_bpf_taints(const char *tainted, const char *symbols)
{
	static const unsigned long tech_preview = 1ul << 29;
	char line[32];

	if (read_line(tainted, line, sizeof(line)) &&
	    strtoul(line, NULL, 10) & tech_preview)
		return false;
	return lists_symbol(symbols, "mark_tech_preview");
}

void nw_kernel_access_read(struct nw_kernel_access *out)
{
	struct nw_tracefs fs;
	struct rlimit limit;

	*out = (struct nw_kernel_access){.root = geteuid() == 0};
	out->tracefs = -nw_tracefs_open(&fs, &out->error);
	if (out->tracefs == 0)
		nw_tracefs_close(&fs);
	read_lockdown(out->lockdown);
	out->btf = access("/sys/kernel/btf/vmlinux", F_OK) == 0;
	out->pmu = access("/sys/bus/event_source/devices/uprobe/type", F_OK) == 0;
	out->perf_paranoid = read_number("/proc/sys/kernel/perf_event_paranoid", -100);
	out->bpf_unprivileged = read_number("/proc/sys/kernel/unprivileged_bpf_disabled",
					    -1);
	out->memlock = getrlimit(RLIMIT_MEMLOCK, &limit) < 0 ||
				       limit.rlim_cur == RLIM_INFINITY
			       ? UINT64_MAX
			       : limit.rlim_cur;
}

void nw_kernel_access_try_bpf(struct nw_kernel_access *out)
{
	out->bpf_taints = nw_bpf_taints("/proc/sys/kernel/tainted", "/proc/kallsyms");
	out->bpf = out->bpf_taints ? EOPNOTSUPP : try_bpf();
}
