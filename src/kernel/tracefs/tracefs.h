/* SPDX-License-Identifier: MIT */
/* kernel/tracefs: the place of tracefs, its files, and what the kernel permits. */
#ifndef NOPWATCH_KERNEL_TRACEFS_TRACEFS_H
#define NOPWATCH_KERNEL_TRACEFS_TRACEFS_H

#include <sys/types.h>

#include "base/base.h"

/* The list of events at functions of the kernel. A kernel without kprobes lacks it. */
#define NW_KPROBE_EVENTS "kprobe_events"
/* It has all of them, and alone takes event probes ("e:"). */
#define NW_DYNAMIC_EVENTS "dynamic_events"

struct nw_tracefs {
	int root; /* directory, O_PATH */
	char path[256];
};

/* Finds and opens tracefs: the directory in NOPWATCH_TRACEFS, or else its mount point. The error says what to do if
 * it is not mounted, not accessible, or has no uprobes. */
int nw_tracefs_open(struct nw_tracefs *out, struct nw_error *err);
void nw_tracefs_close(struct nw_tracefs *fs);

/* Opens a file of tracefs on which to call flock(): it is the same file in all containers, and no other program
 * locks it. */
int nw_tracefs_open_lock(const struct nw_tracefs *fs, struct nw_error *err);

/* Read and write files below a directory of tracefs. All return 0 or -errno; nw_tracefs_read() appends to out. */
int nw_tracefs_read(int dir, const char *file, struct nw_buf *out);
/* Replaces the content. */
int nw_tracefs_write(int dir, const char *file, const char *text);
bool nw_tracefs_has(int dir, const char *file);

/* Lists the kernel's events as "SYSTEM:EVENT", without those of nopwatch sessions. */
int nw_tracefs_events(const struct nw_tracefs *fs, nw_strings *out, struct nw_error *err);
/* Lists all uprobe events as "GROUP:EVENT", an event of several places once for each place. Returns 0 or -errno. */
int nw_uprobe_names(const struct nw_tracefs *fs, nw_strings *out);
/* Appends the list of the kernel's functions that it can trace. Returns 0 or -errno; -ENOENT: there is no such list. */
int nw_kernel_traceable(const struct nw_tracefs *fs, struct nw_buf *out);
/* Appends the text of an event's format file. Returns 0 or -errno. */
int nw_tracefs_format(const struct nw_tracefs *fs, const char *system, const char *event,
		      struct nw_buf *out);

/* The kernel's permissions for this program, and for tools that use BPF. */
struct nw_kernel_access {
	/* 0: usable; otherwise an errno, and `error` says why and what to do. */
	int tracefs;
	struct nw_error error;
	/* "none", "integrity", "confidentiality"; "": the kernel has no lockdown. */
	char lockdown[24];
	bool root;
	int bpf; /* 0: bpf() may load programs; else its errno */
	/* Bpf() was not called, because it may taint the kernel (nw_bpf_taints()); `bpf` is EOPNOTSUPP. */
	bool bpf_taints;
	bool btf;	      /* the kernel describes its own types */
	bool pmu;	      /* perf_event_open() knows uprobes */
	int perf_paranoid;    /* kernel.perf_event_paranoid; -100: unknown */
	int bpf_unprivileged; /* kernel.unprivileged_bpf_disabled; -1: unknown */
	uint64_t memlock;     /* RLIMIT_MEMLOCK, UINT64_MAX: none */
};

/* Fills all members but `bpf` and `bpf_taints`, which stay 0. */
void nw_kernel_access_read(struct nw_kernel_access *out);
/* Fills `bpf` and `bpf_taints`. It reads all symbols of the kernel, which takes 40 ms. */
void nw_kernel_access_try_bpf(struct nw_kernel_access *out);
/* May a call of bpf() taint this kernel? The arguments are the paths of /proc/sys/kernel/tainted and
 * /proc/kallsyms. */
bool nw_bpf_taints(const char *tainted, const char *symbols);

/* A capability of capabilities(7), and what it is for here. */
struct nw_right {
	const char *name;	      /* "CAP_SYS_PTRACE" */
	unsigned int number, instead; /* `instead` serves as well; 0: none does */
	const char *purpose, *without;
};
enum {
	NW_RIGHTS = 5
};
extern const struct nw_right nw_rights[NW_RIGHTS];
/* Which of them this process has (capget(2)); all if the kernel does not say. */
void nw_rights_read(bool has[NW_RIGHTS]);

/* ---- what its files say ---------------------------------------------------------------- */

/* Finds the name that the kernel has saved for a thread that hit an event (saved_cmdlines), by the kernel's number
 * of the thread. comm does not change if there is none. */
void nw_saved_name(const struct nw_tracefs *fs, pid_t tid, char comm[16]);

/*
 * Counts the events that a CPU's buffer has lost, by the text of per_cpu/cpuN/stats: overwritten, dropped for lack
 * of room, or never committed. emptied: recording has stopped, and the buffer was read until it was empty. Events
 * that stats still shows then are lost, too: the kernel has discarded a page that still received events (see
 * src/stream/pages).
 */
uint64_t nw_buffer_stats_lost(const char *stats, bool emptied);
/* Estimates how many nanoseconds of events a buffer of `size` bytes holds when it is full, by the same text.
 * UINT64_MAX: there are too few events to tell. */
uint64_t nw_buffer_stats_reach(const char *stats, uint64_t size);

#endif
