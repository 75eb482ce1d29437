/* SPDX-License-Identifier: MIT */
/*
 * kernel/tracefs: finds tracefs, reads its files, and says what the kernel allows.
 */
#ifndef NOPWATCH_TRACEFS_H
#define NOPWATCH_TRACEFS_H

#include <sys/types.h>

#include "nopwatch/base.h"

struct nw_tracefs {
	int root; /* directory, O_PATH */
	char path[256];
};

/* Find and open tracefs: where NOPWATCH_TRACEFS says, else where it is mounted. Errors name
 * the remedy: not mounted, not allowed, no uprobes. */
int nw_tracefs_open(struct nw_tracefs *out, struct nw_error *err);
void nw_tracefs_close(struct nw_tracefs *fs);

/* A descriptor of a file of tracefs that is the same one in all containers and that nobody else locks, for flock(). */
int nw_tracefs_open_lock(const struct nw_tracefs *fs, struct nw_error *err);

/* Files below a directory of tracefs. All return 0 or -errno; read adds to out. */
int nw_tracefs_read(int dir, const char *file, struct nw_buf *out);
int nw_tracefs_write(int dir, const char *file, const char *text); /* replaces */
bool nw_tracefs_has(int dir, const char *file);

/* The events that the kernel has, as "SYSTEM:EVENT", but those of sessions like ours. */
int nw_tracefs_events(const struct nw_tracefs *fs, nw_strings *out, struct nw_error *err);
/* The names of all uprobe events, as GROUP:EVENT; an event of several places once for each. 0 or -errno. */
int nw_uprobe_names(const struct nw_tracefs *fs, nw_strings *out);
/* The text of an event's format file, added to out. Returns 0 or -errno. */
int nw_tracefs_format(const struct nw_tracefs *fs, const char *system, const char *event,
		      struct nw_buf *out);

/* What the kernel allows, to us and to tools that use BPF. */
struct nw_kernel_access {
	int tracefs; /* 0: usable; else the errno, and in `error` why and what to do */
	struct nw_error error;
	char lockdown
		[24]; /* "none", "integrity", "confidentiality"; "": no lockdown here */
	bool root;
	int bpf;	      /* 0: bpf() may load programs; else its errno */
	bool bpf_taints;      /* bpf() was not tried, and is EOPNOTSUPP: nw_bpf_taints() */
	bool btf;	      /* the kernel describes its own types */
	bool pmu;	      /* perf_event_open() knows uprobes */
	int perf_paranoid;    /* kernel.perf_event_paranoid; -100: unknown */
	int bpf_unprivileged; /* kernel.unprivileged_bpf_disabled; -1: unknown */
	uint64_t memlock;     /* RLIMIT_MEMLOCK, UINT64_MAX: none */
};

/* All but `bpf` and `bpf_taints`, which stay 0. */
void nw_kernel_access_read(struct nw_kernel_access *out);
/* These two. It reads all of the kernel's symbols, which takes 40 ms. */
void nw_kernel_access_try_bpf(struct nw_kernel_access *out);
/* May a call of bpf() taint this kernel? Files: /proc/sys/kernel/tainted, /proc/kallsyms. */
bool nw_bpf_taints(const char *tainted, const char *symbols);

/* ---- what its files say ---------------------------------------------------------------- */

/* The name that the kernel has kept of a thread that hit an event (saved_cmdlines), by its own
 * number; comm is left alone if it has none. */
void nw_saved_name(const struct nw_tracefs *fs, pid_t tid, char comm[16]);

/*
 * Events that a CPU's buffer has lost, by the text of its per_cpu/cpuN/stats: overwritten, without room, or never
 * committed. emptied: it was read until it was found empty, after recording had stopped. What it says is in it
 * then nobody can read any more: the kernel has thrown a page away that still got events (see read.c of the stream room).
 */
uint64_t nw_buffer_stats_lost(const char *stats, bool emptied);
/* By the same text: how far back a buffer of so many bytes reaches, or will reach at the rate so far, once it is full.
 * UINT64_MAX: there is too little in it to tell. */
uint64_t nw_buffer_stats_reach(const char *stats, uint64_t size);

#endif
