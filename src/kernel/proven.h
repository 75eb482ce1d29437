/* SPDX-License-Identifier: MIT */
/* What was tried of this kernel, kept until the next boot. */
#ifndef NOPWATCH_KERNEL_PROVEN_H
#define NOPWATCH_KERNEL_PROVEN_H

#include "nopwatch/features.h"

/* Keep what was tried until the next boot; whole: it was everything. */
void nw_features_keep(const struct nw_tracefs *fs, const struct nw_features *features,
		      bool whole);

#endif
