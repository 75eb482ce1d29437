/* SPDX-License-Identifier: MIT */
/*
 * kernel/tracefs: the features of this kernel, and the places that are too dangerous to arm.
 */
#ifndef NOPWATCH_FEATURES_H
#define NOPWATCH_FEATURES_H

#include "nopwatch/plan.h"
#include "nopwatch/tracefs.h"

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
	NW_FEATURE_SYNTHETIC,
	NW_FEATURE_NOP5_SAFE,
	NW_FEATURE_EXPEDITE,
	NW_FEATURE_FANOTIFY,
	NW_FEATURE_DISARM_SAFE,
	NW_FEATURE_LONGJMP,
	NW_FEATURE_STACK_TRIGGER,
	NW_FEATURE_SWITCH_STATE,
	NW_FEATURE_COUNT
};

struct nw_features {
	bool has[NW_FEATURE_COUNT];
	bool masked[NW_FEATURE_COUNT]; /* switched off by NOPWATCH_FEATURES */
	bool long64;		       /* a 64-bit kernel, whatever we are */
	/* what came of trying it: "works", or what went wrong; NULL: not tried */
	const char *tried[NW_FEATURE_COUNT];
	bool unproven; /* neither README nor files tell of some: nw_features_find() does */
};

/* One row of the table of features. */
struct nw_feature_info {
	const char *name;    /* as NOPWATCH_FEATURES has it: "ref_ctr" */
	const char *what;    /* what it is */
	const char *how;     /* how it is found out */
	const char *without; /* what nopwatch does where it is missing */
};
extern const struct nw_feature_info nw_feature_table[NW_FEATURE_COUNT];

/*
 * What this kernel can do, from README, the files that exist and what they hold; never from
 * its version. mask: "-ref_ctr,-hex" or NULL; an unknown name is EINVAL.
 */
int nw_features_detect(const struct nw_tracefs *fs, const char *mask,
		       struct nw_features *out, struct nw_error *err);
/* A kernel that can do everything but what mask says: where none can be asked. */
int nw_features_assume(const char *mask, struct nw_features *out, struct nw_error *err);
/*
 * Try out what can be tried: definitions and armed probes in our own executable, in a session of
 * its own that is taken away again. Takes a tenth of a second, so it is for `features` and for
 * kernels that do not tell. What was tried decides `has`, unless it is masked.
 */
int nw_features_try(const struct nw_tracefs *fs, struct nw_features *features,
		    struct nw_error *err);
/*
 * What commands go by: nw_features_detect(), and where that leaves something open, what was tried since
 * the machine was booted (/run/nopwatch/tried.features), or else a trial now. may_try false: nothing is
 * changed; what nobody knows yet is then taken to be there, and out->unproven says so.
 */
int nw_features_find(const struct nw_tracefs *fs, const char *mask, bool may_try,
		     struct nw_features *out, struct nw_error *err);
/* By what stands at the place: kernels get over some instructions by themselves, and execute others in a copy. */
enum nw_cost_kind {
	NW_COST_NOP,
	NW_COST_LONG_NOP, /* x86 */
	NW_COST_PUSH,	  /* x86: push of a register */
	NW_COST_ENDBR,	  /* x86: endbr64, endbr32 */
	NW_COST_USUAL,	  /* what else a function begins with */
	NW_COST_RETURN,	  /* a return probe of a function whose entry is probed, too */
	NW_COST_RETURN_ALONE,
	NW_COST_EVENT, /* of the kernel's own, measured with the scheduler's; 0: it could not be measured */
	NW_COST_KINDS
};
/* Taken for NW_COST_EVENT where it could not be measured, in ns: docs/self-cost.md. */
enum {
	NW_USUAL_EVENT_BEFORE = 150,
	NW_USUAL_EVENT_AFTER = 200
};
extern const char *const nw_cost_kind_names[NW_COST_KINDS]; /* "nop", ... */

/* As measured on this machine (nw_machine_cost()). */
struct nw_machine_cost {
	struct nw_hit_cost kind[NW_COST_KINDS];
	uint32_t
		word_ps; /* each word that is fetched from memory, in picoseconds; all of it is before */
	uint32_t times; /* so many measurements; of each number the least is kept */
};

/* What was measured since the machine was booted (/run/nopwatch/hit.cost): false: nothing. That it cannot be kept only
 * means that it is measured again. */
bool nw_machine_cost_recall(const struct nw_tracefs *fs, struct nw_machine_cost *out);
void nw_machine_cost_keep(const struct nw_tracefs *fs, const struct nw_machine_cost *cost);
/*
 * Adds another measurement. For tenths of a second at a time a processor may be slower by a third (its neighbour on the same
 * core, its host, its clock), so one measurement may be too large as a whole; none is too small.
 */
void nw_machine_cost_add(struct nw_machine_cost *cost, const struct nw_machine_cost *more);
struct nw_caps nw_features_caps(const struct nw_features *features);
/* Before Linux 3.16, and on RHEL 7, a uprobe in a file on tmpfs is taken and never hits: is it such a kernel, which
 * trying has shown, and such a file? */
bool nw_is_mute(const struct nw_features *features, const struct nw_image *image);

/* What makes a place too dangerous to arm without --force; NULL: nothing. features NULL: on a kernel
 * that is not known. */
const char *nw_point_hazard(const struct nw_features *features,
			    const struct nw_point *point);

#endif
