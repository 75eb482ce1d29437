/* SPDX-License-Identifier: MIT */
/* The files of /proc/PID and their formats, shared by the files of this room. */
#ifndef NOPWATCH_FIND_PROCESS_PROC_H
#define NOPWATCH_FIND_PROCESS_PROC_H

#include "find/process/process.h"

/* Reads a whole file of /proc/PID. Returns 0 or -errno. */
int nw_process_file(pid_t pid, const char *name, struct nw_buf *out);
/* Returns the text behind "KEY:" at the beginning of a line of a status file, except the first line; NULL: no such
 * line. */
const char *nw_status_value(const char *status, const char *key);
/* Parses the text of maps, which is changed. Returns 0 or -ENOMEM. */
int nw_proc_maps(char *text, nw_mappings *out);
/* Parses the text of stat. Returns 0 or -ESRCH. */
int nw_proc_stat(const char *text, struct nw_process_stat *out);
/* Lists the entries whose names are numbers. Closes the directory's descriptor. Returns 0 or -errno. */
int nw_proc_numbers(int dir, nw_pids *out);
/* Adds the processes that a "children" file lists (Linux 3.5, with CONFIG_PROC_CHILDREN). -errno: memory or
 * descriptors ran out. */
int nw_proc_children(int proc, const char *file, nw_pids *out);
/* Reads the process and the name of the task `name` below this /proc. Returns 0 or -errno. */
int nw_proc_task(int proc, const char *name, pid_t *process, char comm[16]);

/* Computes the difference between the addresses in a process and the linked addresses of an image, from any of its
 * mappings. -ENOENT: the process does not map it. */
int nw_load_bias(pid_t pid, const nw_mappings *maps, const struct nw_image *image,
		 uint64_t *bias);

#endif
