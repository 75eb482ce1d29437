/* SPDX-License-Identifier: MIT */
/*
 * Where nopwatch keeps files of its own: journals, what it has measured, and temporary files. Nothing else in the sources names
 * /run, /var/run or /tmp as a place to write to.
 *
 * Root's place is /run/nopwatch. $NOPWATCH_STATE_DIR (--state-dir) names a directory in which nopwatch makes one of its
 * own, nopwatch-UID; so it does in /tmp where a user cannot write to /run. UID is the effective user's number: each
 * user has a directory, and nopwatch uses it only if it belongs to that user alone (nw_journal_open_place()).
 */
#ifndef NOPWATCH_BASE_STATE_H
#define NOPWATCH_BASE_STATE_H

#include <stdio.h>

#include "base.h"

enum {
	NW_STATE_MOST = 180, /* bytes of the path in $NOPWATCH_STATE_DIR */
	NW_STATE_PATH = 256  /* room for the path of any file of ours, with its 0 */
};

/* Returns $NOPWATCH_STATE_DIR, or NULL: it is not set, or cannot be used. */
const char *nw_state_dir(void);
/* Checks such a directory: an absolute path without blanks, to a directory in which other users cannot rename files. */
int nw_state_check(const char *dir, struct nw_error *err);
/* Checks $NOPWATCH_STATE_DIR; 0 also if it is not set. */
int nw_state_check_given(struct nw_error *err);
/* Sets $NOPWATCH_STATE_DIR for this process and its children, with an absolute path. Returns 0 or -errno. */
int nw_state_set(const char *dir, struct nw_error *err);
/* Returns the directories in which journals may lie, from 0 on; NULL behind the last. */
const char *nw_state_place(size_t number);
/* Returns the directory for new journals, which may not exist yet. */
const char *nw_state_new(void);
/* Does nothing stay in this directory when the last session has ended? */
bool nw_state_is_temporary(const char *place);
/* May other users write to the directory that it lies in? */
bool nw_state_is_shared(const char *place);
/* Returns the directory for temporary files. */
const char *nw_state_tmp(void);
/* Opens a file without a name, closed on exec: in memory where the kernel can (Linux 3.17), or among the temporary files.
 * Returns a descriptor or -1 with errno. */
int nw_memory_file(const char *name);
/* Opens a file without a name for much data, rather not in memory. Returns NULL with errno if there is no place. */
FILE *nw_temporary_file(void);

#endif
