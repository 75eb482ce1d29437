/* SPDX-License-Identifier: MIT */
/* Debug information from a server (elfutils' debuginfod), by build ID. Only if the user asks for it. */
#ifndef NOPWATCH_FIND_ELF_DEBUGINFOD_H
#define NOPWATCH_FIND_ELF_DEBUGINFOD_H

#include "base/base.h"

/* From now on debug files that the machine lacks are asked of the servers in $DEBUGINFOD_URLS. EINVAL: it names none. */
int nw_debuginfod_enable(struct nw_error *err);
/* Fetches the debug file of that build ID, once in a run. Returns a descriptor, -ENOENT, or -errno of what was short. */
int nw_debuginfod_open(const char *build_id);
/* Returns sentences for the user: which files were fetched, and why others were not. */
const nw_strings *nw_debuginfod_notes(void);

#endif
