/* SPDX-License-Identifier: MIT */
/* The results of trials on this kernel, kept until the next boot. */
#ifndef NOPWATCH_KERNEL_SESSION_FEATURE_CACHE_H
#define NOPWATCH_KERNEL_SESSION_FEATURE_CACHE_H

#include "kernel/tracefs/features.h"

/* Keep what was tried until the next boot; whole: it was everything. */
void nw_features_keep(const struct nw_tracefs *fs, const struct nw_features *features,
		      bool whole);

/* For one feature of a kernel whose files tell its other features: takes what was tried since boot, if it was; keeps
 * what was tried. */
bool nw_feature_recall(const struct nw_tracefs *fs, struct nw_features *features,
		       enum nw_feature feature);
void nw_feature_keep(const struct nw_tracefs *fs, const struct nw_features *features,
		     enum nw_feature feature);

/* The text of /run/nopwatch/hit.cost, which says what a hit costs. Reading takes it apart; false: it is another boot's,
 * another version's or another tracefs's, or not whole. */
void nw_machine_cost_write(const struct nw_machine_cost *cost, const char *tracefs,
			   struct nw_buf *out);
bool nw_machine_cost_read(struct nw_buf *text, const char *tracefs,
			  struct nw_machine_cost *out);

#endif
