/* SPDX-License-Identifier: MIT */
/* Shared by add, enable, disable, remove and status. */
#ifndef NOPWATCH_CMD_MANAGE_H
#define NOPWATCH_CMD_MANAGE_H

#include "cmd.h"
#include "nopwatch/manage.h"

/*
 * Open tracefs and find out what the kernel can do. With --dry-run neither tracefs nor the right
 * to use it is needed: then fs->root is -1, its path the usual one, and the kernel is taken for
 * one that can do everything.
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

/* read_only: nothing is to be changed, as with --dry-run. */
int nw_management_open(struct nw_management *m, const struct nw_args *args, bool read_only,
		       struct nw_error *err);
void nw_management_close(struct nw_management *m);
/* What the words are looked for in. */
struct nw_scope nw_management_scope(const struct nw_args *args);
/* Which events the words mean (nw_manager_pick()). pick: what is wanted, and what is found. */
int nw_management_pick(const struct nw_management *m, struct nw_pick *pick,
		       struct nw_error *err);
/* The plan of events that stay. */
int nw_management_plan(const struct nw_management *m, const struct nw_selection *selection,
		       struct nw_plan *out, struct nw_error *err);
/* Do it, or tell it, and print what became of every event. */
int nw_management_finish(struct nw_management *m, struct nw_error *err);

#endif
