/* SPDX-License-Identifier: MIT */
/* Shared by the files of this room: the files of /proc/PID and their grammar. */
#ifndef NOPWATCH_FIND_PROCESS_PROC_H
#define NOPWATCH_FIND_PROCESS_PROC_H

#include "nopwatch/process.h"

/* Read a whole file of /proc/PID. 0 or -errno. */
int nw_process_file(pid_t pid, const char *name, struct nw_buf *out);
/* What follows "KEY:" at the beginning of a line of a status file, but the first; NULL: no such line. */
const char *nw_status_value(const char *status, const char *key);
/* Take the text of maps apart, which is changed by it; -ENOMEM. */
int nw_proc_maps(char *text, nw_mappings *out);
/* Take the text of stat apart; -ESRCH. */
int nw_proc_stat(const char *text, struct nw_process_stat *out);
/* The entries whose names are numbers; takes over the directory's descriptor. 0 or -errno. */
int nw_proc_numbers(int dir, nw_pids *out);
/* Add the processes that a file "children" lists (Linux 3.5, with CONFIG_PROC_CHILDREN). -errno: memory or descriptors ran out. */
int nw_proc_children(int proc, const char *file, nw_pids *out);
/* Of the task `name` below this /proc: its process and its name. 0 or -errno. */
int nw_proc_task(int proc, const char *name, pid_t *process, char comm[16]);

/* What a process adds to the linked addresses of an image, from any mapping of it; -ENOENT. */
int nw_load_bias(pid_t pid, const nw_mappings *maps, const struct nw_image *image,
		 uint64_t *bias);

#endif
