/* SPDX-License-Identifier: MIT */
/*
 * Facts of a hit that only the running system knows, and no event tells: the title of its process, and its control group. Live, it
 * is read from /proc when a hit is handed out, and not again for a while; a recording keeps each change, with the time of the hit for
 * which it was read, so that a report of the recording sees at each hit what the live run saw. A new process has the control group
 * of its parent until it is read.
 */
#ifndef NOPWATCH_RUN_OBSERVED_H
#define NOPWATCH_RUN_OBSERVED_H

#include "find/process/cgroup.h"
#include "run/descriptors.h"
#include "run/engine.h"

enum {
	NW_OBSERVED_BYTES = 1024, /* of a text; the rest is cut */
	NW_OBSERVED_MOST =
		1 << 16, /* texts that are known at a time, and changes in a recording */
};

struct nw_observed;

/* space: whose /proc is read; NULL: nothing is read, and nw_observed_line() tells. Returns -ENOMEM on failure. */
int nw_observed_open(const struct nw_pid_space *space, struct nw_observed **out);
/* From now on it is followed. */
void nw_observed_use(struct nw_observed *observed, enum nw_observed_what what);
/* Sets the groups of NW_OBSERVED_MEMBER, which the caller owns. */
void nw_observed_set_cgroups(struct nw_observed *observed,
			     const struct nw_cgroups *cgroups);
/* From now on every change is kept for nw_observed_save(). */
void nw_observed_keep(struct nw_observed *observed);
/* Returns the text for a hit of this thread at this time, valid until the next call; NULL: it is not known, which is counted, or
 * memory ran out (nw_observed_failed()). Times must not go back. */
const char *nw_observed_get(struct nw_observed *observed, enum nw_observed_what what,
			    pid_t pid, pid_t tid, uint64_t time);
/* Returns the path of a descriptor, as nw_observed_get() does. */
const char *nw_observed_path(struct nw_observed *observed, pid_t pid, uint32_t fd,
			     uint64_t time);
/* Paths of descriptors are asked of `descriptors`, which is taken over. */
void nw_observed_set_descriptors(struct nw_observed *observed,
				 struct nw_descriptors *descriptors);
/* NULL: none were set. */
struct nw_descriptors *nw_observed_descriptors(const struct nw_observed *observed);
bool nw_observed_failed(const struct nw_observed *observed);
/* Counts a hit whose text was not searched: ETIMEDOUT, that took too long, or another errno. */
void nw_observed_not_searched(struct nw_observed *observed, enum nw_observed_what what,
			      int code);
/* Tells that a process has ended: a later one may get its number. */
void nw_observed_exit(struct nw_observed *observed, pid_t pid, uint64_t time);
/* Tells that a process was born so long ago, by its parent and the thread that made it. */
void nw_observed_born(struct nw_observed *observed, pid_t pid, pid_t parent,
		      pid_t parent_tid, uint64_t time, uint64_t age_ns);
/* Reads the control group of a process that may have ended when its first hit is read. */
void nw_observed_look(struct nw_observed *observed, pid_t pid);
/* Tells that a process runs another program now. */
void nw_observed_exec(struct nw_observed *observed, pid_t pid);
/* Writes what was kept as lines of a recording's table. */
void nw_observed_save(const struct nw_observed *observed, struct nw_buf *out);
/* Do lines of a recording's table that tell such a fact begin with this word? */
bool nw_observed_is_word(const char *word);
/* Takes a line of a recording's table; false: the line is another one. */
bool nw_observed_line(struct nw_observed *observed, char *const *words, size_t count);
/* Does the recording have such texts? */
bool nw_observed_has(const struct nw_observed *observed, enum nw_observed_what what);
/* Tells the user, at the end of the run, which facts were not known. */
void nw_observed_tell(const struct nw_observed *observed, const struct nw_run *run);
void nw_observed_free(struct nw_observed *observed);

#endif
