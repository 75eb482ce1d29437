/* SPDX-License-Identifier: MIT */
/* Why the kernel refuses something, in words. */
#ifndef NOPWATCH_KERNEL_TRACEFS_REFUSAL_H
#define NOPWATCH_KERNEL_TRACEFS_REFUSAL_H

#include "nopwatch/tracefs.h"

/* What was tried, by which the meaning of an error number differs. */
enum nw_refusal {
	NW_REFUSED_OTHERWISE,
	NW_REFUSED_DEFINITION,
	NW_REFUSED_ENABLING,
	NW_REFUSED_DELETION,
	NW_REFUSED_INSTANCE,
};
/* What the error number (positive) means then: a sentence, never NULL. */
const char *nw_refusal_text(enum nw_refusal what, int code);
/* The kernel's own reason for refusing this definition, from error_log; "" if it has none. */
void nw_tracefs_reason(const struct nw_tracefs *fs, const char *command, char out[128]);

#endif
