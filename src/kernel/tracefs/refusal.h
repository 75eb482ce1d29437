/* SPDX-License-Identifier: MIT */
/* The reason for a refusal of the kernel, as a sentence. */
#ifndef NOPWATCH_KERNEL_TRACEFS_REFUSAL_H
#define NOPWATCH_KERNEL_TRACEFS_REFUSAL_H

#include "kernel/tracefs/tracefs.h"

/* The attempted operation, on which the meaning of an error number depends. */
enum nw_refusal {
	NW_REFUSED_OTHERWISE,
	NW_REFUSED_DEFINITION,
	NW_REFUSED_FUNCTION, /* the definition of a probe at a function of the kernel */
	NW_REFUSED_ENABLING,
	NW_REFUSED_DELETION,
	NW_REFUSED_INSTANCE,
};
/* Returns the meaning of a (positive) error number, never NULL. */
const char *nw_refusal_text(enum nw_refusal what, int code);
/* Reads the kernel's own reason for refusing this definition from error_log; "": it has none. */
void nw_tracefs_reason(const struct nw_tracefs *fs, const char *command, char out[128]);

#endif
