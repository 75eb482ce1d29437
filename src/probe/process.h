/* SPDX-License-Identifier: MIT */
/* What process.c and process_once.c share: the files of /proc/PID and their grammar. */
#ifndef NOPWATCH_PROBE_PROCESS_H
#define NOPWATCH_PROBE_PROCESS_H

#include "nopwatch/probe.h"

/* Read a whole file below a directory. 0 or -errno. */
int nw_proc_read(int dir, const char *name, struct nw_buf *out);
/* Take the text of maps apart, which is changed by it; -ENOMEM. */
int nw_proc_maps(char *text, nw_mappings *out);
/* Take the text of stat apart; -ESRCH. */
int nw_proc_stat(const char *text, struct nw_process_stat *out);

#endif
