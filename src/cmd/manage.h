/* SPDX-License-Identifier: MIT */
/* What add, enable, disable, remove and status share. */
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

/* look: nothing is to be changed, as with --dry-run. */
int nw_management_open(struct nw_management *m, const struct nw_args *args, bool look,
		       struct nw_error *err);
void nw_management_close(struct nw_management *m);
/* The probes that the words mean, and the plan of events that stay for them. */
int nw_management_select(const struct nw_args *args, struct nw_selection *out,
			 struct nw_error *err);
int nw_management_plan(const struct nw_management *m, const struct nw_selection *selection,
		       struct nw_plan *out, struct nw_error *err);
/*
 * The events that the words mean, as numbers of the inventory: specs by the place they name,
 * other words as patterns. all: whoever made them; else what is not ours is only taken with
 * --foreign. Words that fit nothing are in missing. Where nothing but what is not ours fits, the
 * word is refused; except, with others, a pattern that fits only what others have made: a sentence
 * about that is added to them.
 */
int nw_management_pick(struct nw_management *m, bool all, nw_vec_u32 *out,
		       nw_strings *missing, nw_strings *others, struct nw_error *err);
/* Do it, or tell it, and print what became of every event. */
int nw_management_finish(struct nw_management *m, struct nw_error *err);

#endif
