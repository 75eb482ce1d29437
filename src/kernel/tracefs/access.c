// SPDX-License-Identifier: MIT
/* Finds out what this kernel permits: tracefs for this program, BPF for other tools. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
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

/* Tried one by one on Linux 3.13 to 7: docs/security.md has the table. Newer headers have the names of the last two. */
const struct nw_right nw_rights[NW_RIGHTS] = {
	{"CAP_DAC_OVERRIDE", CAP_DAC_OVERRIDE, 0,
	 "tracefs belongs to root: every command that arms, changes or reads probes",
	 "only list, report, script, --from and --dry-run"},
	{"CAP_SYS_PTRACE", CAP_SYS_PTRACE, 0,
	 "processes of other users: -p, semaphores, stacks, titles",
	 "only your own processes with these; hits of all others are counted all the same"},
	{"CAP_PERFMON", 38, CAP_SYS_ADMIN,
	 "--stack learns of new mappings from perf events when they are made",
	 "mappings are read again now and then, and short-lived ones may have no names"},
	{"CAP_CHECKPOINT_RESTORE", 40, CAP_SYS_ADMIN,
	 "files that are deleted, or that another mount namespace hides",
	 "they cannot be read, and so not be probed"},
	{"CAP_SYSLOG", CAP_SYSLOG, 0,
	 "--states tells in which function of the kernel threads sleep",
	 "it tells how long they sleep, not where"},
};

void nw_rights_read(bool has[NW_RIGHTS])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	memset(data, 0xff, sizeof(data));
	(void)syscall(SYS_capget, &header, data);
	const uint64_t all = (uint64_t)data[1].effective << 32 | data[0].effective;
	for (size_t i = 0; i < NW_RIGHTS; i++)
		has[i] = (all >> nw_rights[i].number & 1) ||
			 (nw_rights[i].instead && (all >> nw_rights[i].instead & 1));
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
