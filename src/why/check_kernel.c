// SPDX-License-Identifier: MIT
/* Checks whether the kernel allows the probe: to nopwatch through tracefs, to other tools through BPF. */
#include <errno.h>
#include <string.h>

#include "judge.h"

static bool is_forbidden(const struct nw_kernel_access *kernel)
{
	return kernel->tracefs == EACCES || kernel->tracefs == EPERM;
}

void nw_check_kernel(struct judge *judge)
{
	const struct nw_kernel_access *kernel = judge->facts->kernel;

	if (kernel->tracefs == 0 || is_forbidden(kernel)) {
		nw_pass(judge, kernel->tracefs
				       ? "tracefs is there"
				       : "tracefs is mounted and has uprobe_events");
		return;
	}
	if (nw_is_shortage(kernel->tracefs)) {
		nw_unknown(judge, "%s", kernel->error.what);
		return;
	}
	nw_fails(judge, "%s", kernel->error.what);
	if (kernel->tracefs == ENOENT) {
		nw_blame(
			judge, NW_CAUSE_NO_TRACEFS,
			"tracefs is not mounted, so no tool can define a probe through it");
		nw_remedy(judge, "mount -t tracefs nodev /sys/kernel/tracing");
	} else {
		nw_blame(judge, NW_CAUSE_NO_UPROBES, "%s", kernel->error.what);
		nw_remedy(judge,
			  "# use a kernel that was built with CONFIG_UPROBE_EVENTS=y");
	}
}

void nw_check_privilege(struct judge *judge)
{
	const struct nw_kernel_access *kernel = judge->facts->kernel;

	if (kernel->tracefs == 0) {
		nw_pass(judge, "uprobe_events may be written");
		return;
	}
	if (!is_forbidden(kernel)) {
		nw_unknown(judge, "there is nothing to be allowed");
		return;
	}
	nw_fails(judge, "%s", kernel->error.what);
	if (strcmp(kernel->lockdown, "confidentiality") == 0)
		return; /* the next check names the reason */
	nw_blame(
		judge, NW_CAUSE_NO_PRIVILEGE,
		kernel->root
			? "even root may not use tracefs here (a container without the right to it): nothing can be probed from this place"
			: "this user may neither use tracefs nor place uprobes; it takes root");
	if (kernel->root)
		nw_remedy(judge, "# run it on the host, not in the container");
	else
		nw_remedy_again(judge, "sudo ", "");
}

void nw_check_lockdown(struct judge *judge)
{
	const struct nw_kernel_access *kernel = judge->facts->kernel;

	if (strcmp(kernel->lockdown, "confidentiality") != 0) {
		nw_pass(judge, "kernel lockdown: %s",
			*kernel->lockdown ? kernel->lockdown : "none");
		return;
	}
	nw_fails(judge, "kernel lockdown: %s", kernel->lockdown);
	nw_blame(
		judge, NW_CAUSE_LOCKDOWN,
		"kernel lockdown is at confidentiality, which forbids tracefs, perf and BPF tracing even to root (EPERM)");
	nw_remedy(judge,
		  "# boot without lockdown=confidentiality; integrity is no obstacle");
}

static void check_bpf_allowed(struct judge *judge)
{
	const struct nw_kernel_access *kernel = judge->facts->kernel;

	if (kernel->bpf_taints) {
		nw_unknown(
			judge,
			"bpf() was not tried: this kernel may count as tainted after it (TECH_PREVIEW of Red Hat's)");
	} else if (kernel->bpf == ENOSYS) {
		nw_fails(judge, "the kernel has no bpf() (CONFIG_BPF_SYSCALL)");
		nw_blame(
			judge, NW_CAUSE_BPF_MISSING,
			"this kernel has no bpf() system call, so bpftrace and bcc cannot work on it");
	} else if (kernel->bpf == EPERM || kernel->bpf == EACCES) {
		nw_fails(judge, "bpf() is not allowed (unprivileged_bpf_disabled is %d)",
			 kernel->bpf_unprivileged);
		nw_blame(
			judge, NW_CAUSE_BPF_PRIVILEGE,
			"bpf() is not allowed here: bpftrace and bcc need root, or CAP_BPF and CAP_PERFMON");
		nw_remedy(judge, "# run bpftrace with sudo");
	} else if (kernel->bpf) {
		nw_unknown(judge, "bpf() answers: %s", nw_strerror(kernel->bpf));
	} else {
		nw_pass(judge, "bpf() loads programs");
	}
}

void nw_check_bpf(struct judge *judge)
{
	const struct nw_kernel_access *kernel = judge->facts->kernel;

	check_bpf_allowed(judge);
	if (kernel->bpf)
		return;
	if (kernel->pmu)
		nw_pass(judge,
			kernel->btf
				? "the kernel has BTF, perf_event_open() takes uprobes, perf_event_paranoid is %d"
				: "no BTF, perf_event_open() takes uprobes, perf_event_paranoid is %d",
			kernel->perf_paranoid);
	else
		nw_pass(judge,
			kernel->btf
				? "the kernel has BTF, no uprobe PMU: tools define events in tracefs instead, perf_event_paranoid is %d"
				: "no BTF, no uprobe PMU: tools define events in tracefs instead, perf_event_paranoid is %d",
			kernel->perf_paranoid);
	if (kernel->memlock < 1 << 20)
		nw_pass(judge, "RLIMIT_MEMLOCK is %ju KiB, which kernels before 5.11 count",
			kernel->memlock / 1024);
}
