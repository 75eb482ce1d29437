// SPDX-License-Identifier: MIT
/* What this kernel allows: tracefs to us, BPF to others. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nopwatch/tracefs.h"

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

/* "none [integrity] confidentiality" */
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

/* The smallest program there is, `r0 = 0; exit`, of a kind that uprobes take. */
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

void nw_kernel_access_read(struct nw_kernel_access *out)
{
	struct nw_tracefs fs;
	struct rlimit limit;

	*out = (struct nw_kernel_access){.root = geteuid() == 0};
	out->tracefs = -nw_tracefs_open(&fs, &out->error);
	if (out->tracefs == 0)
		nw_tracefs_close(&fs);
	read_lockdown(out->lockdown);
	out->bpf = try_bpf();
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
