/* SPDX-License-Identifier: MIT */
/* The rows of the table of errors: the kernel's own sentences, then the tools'. */
#ifndef NOPWATCH_WHY_ERROR_ROWS_H
#define NOPWATCH_WHY_ERROR_ROWS_H

#include "nopwatch/why.h"

/* One row of the table of other tools' errors. */
struct nw_error_cause {
	const char *pattern; /* with * for what varies; case does not count */
	enum nw_cause cause;
	const char *text;   /* what it means */
	const char *remedy; /* what to do, a command or a phrase; NULL */
	const char *source; /* who says so: the tool or kernel, and its source file */
};
/* Rows that fit the pasted text, the most special first; up to room of them. Returns how many. */
size_t nw_error_causes(const char *text, const struct nw_error_cause **out, size_t room);
/* All rows, in the order in which they are tried. */
size_t nw_error_count(void);
const struct nw_error_cause *nw_error_row(size_t i);

extern const struct nw_error_cause nw_kernel_errors[], nw_bpf_errors[], nw_tool_errors[];
extern const size_t nw_kernel_error_count, nw_bpf_error_count, nw_tool_error_count;

#endif
