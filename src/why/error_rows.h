/* SPDX-License-Identifier: MIT */
/* The rows of the table of errors: the kernel's own sentences, then the tools'. */
#ifndef NOPWATCH_WHY_ERROR_ROWS_H
#define NOPWATCH_WHY_ERROR_ROWS_H

#include "nopwatch/why.h"

extern const struct nw_error_cause nw_kernel_errors[], nw_bpf_errors[], nw_tool_errors[];
extern const size_t nw_kernel_error_count, nw_bpf_error_count, nw_tool_error_count;

#endif
