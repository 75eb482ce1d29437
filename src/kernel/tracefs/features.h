/* SPDX-License-Identifier: MIT */
/* kernel/tracefs: what this kernel can do, and the hazards of arming a place. */
#ifndef NOPWATCH_KERNEL_TRACEFS_FEATURES_H
#define NOPWATCH_KERNEL_TRACEFS_FEATURES_H

#include "kernel/tracefs/tracefs.h"
#include "plan/plan.h"

enum nw_feature {
	NW_FEATURE_UPROBE_EVENTS,
	NW_FEATURE_INSTANCES,
	NW_FEATURE_INSTANCE_EVENTS,
	NW_FEATURE_MEMORY,
	NW_FEATURE_PATH_COLON,
	NW_FEATURE_REF_CTR,
	NW_FEATURE_MULTI_SITE,
	NW_FEATURE_HEX,
	NW_FEATURE_ARRAYS,
	NW_FEATURE_IMMEDIATE,
	NW_FEATURE_EVENT_PID,
	NW_FEATURE_EVENT_FORK,
	NW_FEATURE_BUFFER_PERCENT,
	NW_FEATURE_SUBBUF,
	NW_FEATURE_ERROR_LOG,
	NW_FEATURE_CLOCK_MONO,
	NW_FEATURE_CLOCK_BOOT,
	NW_FEATURE_HIST,
	NW_FEATURE_HIST_BUCKETS,
	NW_FEATURE_SYNTHETIC,
	NW_FEATURE_EVENT_PROBES,
	NW_FEATURE_RETURN_ARGS,
	NW_FEATURE_ELEMENTS,
	NW_FEATURE_NOP5_SAFE,
	NW_FEATURE_NOP10,
	NW_FEATURE_EXPEDITE,
	NW_FEATURE_FANOTIFY,
	NW_FEATURE_DISARM_SAFE,
	NW_FEATURE_LONGJMP,
	NW_FEATURE_STACK_TRIGGER,
	NW_FEATURE_SWITCH_STATE,
	NW_FEATURE_KPROBE_EVENTS,
	NW_FEATURE_MAXACTIVE,
	NW_FEATURE_COUNT
};

struct nw_features {
	bool has[NW_FEATURE_COUNT];
	bool masked[NW_FEATURE_COUNT]; /* switched off by NOPWATCH_FEATURES */
	bool long64; /* the kernel is a 64-bit one, whatever this program is */
	/* The result of the trial: "works", or what went wrong; NULL: not tried. */
	const char *tried[NW_FEATURE_COUNT];
	bool rights[NW_RIGHTS]; /* which capabilities this process has */
	/* Some features stay unknown after README and files were read: see nw_features_find(). */
	bool unproven;
};

/* One row of the table of features. */
struct nw_feature_info {
	const char *name;    /* as in NOPWATCH_FEATURES: "ref_ctr" */
	const char *what;    /* the feature */
	const char *how;     /* how nopwatch detects it */
	const char *without; /* what nopwatch does without it */
};
extern const struct nw_feature_info nw_feature_table[NW_FEATURE_COUNT];

/*
 * Finds out what this kernel can do, by README and the content of its files, never by its version. mask:
 * "-ref_ctr,-hex" or NULL; an unknown name is EINVAL.
 */
int nw_features_detect(const struct nw_tracefs *fs, const char *mask,
		       struct nw_features *out, struct nw_error *err);
/* Assumes a kernel that can do everything except `mask`, for machines without tracefs; not nop10, since a probe at such a nop is no
 * good anywhere else. */
int nw_features_assume(const char *mask, struct nw_features *out, struct nw_error *err);
/*
 * Tries features by defining and arming probes in our own executable, in a session of its own that is removed
 * again. This takes a tenth of a second, so only `features` and kernels that do not list their features need it.
 * The results decide `has`, unless a feature is masked.
 */
int nw_features_try(const struct nw_tracefs *fs, struct nw_features *features,
		    struct nw_error *err);
/* Tries whether event probes read the strings of system calls, once; other features stay as they are. */
int nw_event_probes_try(const struct nw_tracefs *fs, struct nw_features *features,
			struct nw_error *err);
/*
 * Tries whether the kernel turns probes at nops of 10 bytes into calls that leave the program as it is: a child hits one of
 * our own. Once a boot; other features stay as they are.
 */
int nw_calls_try(const struct nw_tracefs *fs, struct nw_features *features,
		 struct nw_error *err);
/*
 * Finds the features for a command: by nw_features_detect(), for features that this leaves open by the results of
 * trials since boot (/run/nopwatch/tried.features), and without these by a trial. may_try false: nothing is
 * changed; unknown features count as present, and out->unproven is set.
 */
int nw_features_find(const struct nw_tracefs *fs, const char *mask, bool may_try,
		     struct nw_features *out, struct nw_error *err);
/* Kinds of instructions at a probe: the kernel emulates some, and executes others in a copy of the code. */
enum nw_cost_kind {
	NW_COST_NOP,
	NW_COST_CALL, /* x86: a nop of 10 bytes that the kernel turns into a call, where it does */
	NW_COST_LONG_NOP, /* x86 */
	NW_COST_PUSH,	  /* x86: push of a register */
	NW_COST_ENDBR,	  /* x86: endbr64, endbr32 */
	NW_COST_USUAL,	  /* any other instruction at the beginning of a function */
	NW_COST_RETURN,	  /* a return probe of a function whose entry is also probed */
	NW_COST_RETURN_ALONE,
	/* An event of the kernel itself, measured with a scheduler event; 0: it could not be measured. */
	NW_COST_EVENT,
	NW_COST_KINDS
};
/* The cost that is assumed if NW_COST_EVENT could not be measured, in ns: docs/dev/performance.md. */
enum {
	NW_USUAL_EVENT_BEFORE = 150,
	NW_USUAL_EVENT_AFTER = 200
};
extern const char *const nw_cost_kind_names[NW_COST_KINDS]; /* "nop", ... */

/* The costs measured on this machine (nw_machine_cost()). */
struct nw_machine_cost {
	struct nw_hit_cost kind[NW_COST_KINDS];
	/* For each word fetched from memory, in picoseconds; all of it belongs to `before`. */
	uint32_t word_ps;
	uint32_t times; /* number of measurements; the least value of each is kept */
};

/* Reads the costs that were measured since boot (/run/nopwatch/hit.cost). Returns false if there are none.
 * nw_machine_cost_keep() ignores errors: without the file the costs are measured again. */
bool nw_machine_cost_recall(const struct nw_tracefs *fs, struct nw_machine_cost *out);
void nw_machine_cost_keep(const struct nw_tracefs *fs, const struct nw_machine_cost *cost);
/*
 * Combines two measurements. A processor may be slower by a third for tenths of a second (a neighbour on the same
 * core, its host, its clock), so a whole measurement may be too large. It is not too small: only one nopwatch measures
 * at a time, and calls do not count that others' probes disturb, or that have no hit (hit_cost.c).
 */
void nw_machine_cost_add(struct nw_machine_cost *cost, const struct nw_machine_cost *more);
struct nw_caps nw_features_caps(const struct nw_features *features);
/* Is this a kernel whose uprobes never hit in files on tmpfs, and is the file on tmpfs? Trials find such kernels:
 * Linux before 3.16, and RHEL 7. */
bool nw_is_mute(const struct nw_features *features, const struct nw_image *image);

/* Says why a place is too dangerous to arm without --force; NULL: it is not. features NULL: the kernel is not
 * known. */
const char *nw_point_hazard(const struct nw_features *features,
			    const struct nw_point *point);
/* The end of the message about a return probe that is dangerous because a file calls longjmp(); the file's name comes
 * before it. */
extern const char nw_jump_hazard[];

#endif
