/* SPDX-License-Identifier: MIT */
/*
 * Counts that stay: a session whose events the kernel counts (session/triggers.h), and that needs no process. Its journal says so as its
 * last line, "kept", which is written when all is set: without it the session is a dead one, which `clean` takes away. They are
 * called as the session, so the instance nopwatch_NAME has the maps.
 */
#ifndef NOPWATCH_KERNEL_RECOVERY_KEPT_H
#define NOPWATCH_KERNEL_RECOVERY_KEPT_H

#include "kernel/steps/journal.h"

/* How the maps are to be read. */
struct nw_kept {
	uint64_t began_ns; /* when counting began, CLOCK_MONOTONIC */
	char *plan;	   /* as nw_plan_save() writes it */
	char *by;	   /* keys of groups; NULL: none */
	nw_strings spans, hists;
	nw_vec_u32 named; /* by probe: how many of its arguments the user has named */
};

/* Returns EINVAL with the reason if counts cannot be called so: a letter, and letters, digits and _ behind it, in lower case. */
int nw_kept_name_check(const char *name, struct nw_error *err);
/* Appends the lines that tell it to a journal. selection: tells which arguments were named. */
void nw_kept_lines(const struct nw_kept *kept, const struct nw_selection *selection,
		   struct nw_buf *out);
/*
 * Reads such lines, which may come from anywhere, and changes the text; others are not looked at. Returns 0, -EBADMSG, -EFBIG or
 * -ENOMEM.
 */
int nw_kept_parse(struct nw_buf *text, struct nw_kept *out);
/* Reads what is told of counts. Returns 0 or -errno; -ENOENT: there are none of that name. */
int nw_kept_read(const char *name, struct nw_kept *out, struct nw_error *err);
void nw_kept_free(struct nw_kept *kept);
/* Lists the names of all counts that stay. Returns 0 or -errno. */
int nw_kept_list(nw_strings *out);
/* Takes them away. If this process is killed meanwhile, the rest is a dead session's. */
int nw_kept_remove(const struct nw_tracefs *fs, const char *name, struct nw_error *err);

#endif
