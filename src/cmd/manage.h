/* SPDX-License-Identifier: MIT */
/* Shared by add, enable, disable, remove and status. */
#ifndef NOPWATCH_CMD_MANAGE_H
#define NOPWATCH_CMD_MANAGE_H

#include "cmd.h"
#include "kernel/manage/manage.h"

/*
 * Opens tracefs and finds out what the kernel can do. --dry-run needs neither tracefs nor the right to use it:
 * without them fs->root is -1, its path is the usual one, and the kernel counts as one that can do everything.
 */
int nw_open_kernel(const struct nw_args *args, struct nw_tracefs *fs,
		   struct nw_features *features, struct nw_error *err);

struct nw_management {
	const struct nw_args *args;
	struct nw_tracefs fs;
	struct nw_features features;
	struct nw_manager *manager;
	struct nw_manager_options options;
};

/* read_only: nothing will be changed, as with --dry-run. */
int nw_management_open(struct nw_management *m, const struct nw_args *args, bool read_only,
		       struct nw_error *err);
void nw_management_close(struct nw_management *m);
/* Returns the files or processes in which the words are searched. */
struct nw_scope nw_management_scope(const struct nw_args *args);
/* Finds the events that the words mean (nw_manager_pick()). pick: the search and its result. */
int nw_management_pick(const struct nw_management *m, struct nw_pick *pick,
		       struct nw_error *err);
/* Plans persistent events. */
int nw_management_plan(const struct nw_management *m, const struct nw_selection *selection,
		       struct nw_plan *out, struct nw_error *err);
/* Makes or prints the changes, and prints the result for every event. */
int nw_management_finish(struct nw_management *m, struct nw_error *err);

#endif
