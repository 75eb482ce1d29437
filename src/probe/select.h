/* SPDX-License-Identifier: MIT */
/* The steps behind nw_select(): the files of a spec, the probes in a file. */
#ifndef NOPWATCH_PROBE_SELECT_H
#define NOPWATCH_PROBE_SELECT_H

#include "nopwatch/probe.h"

/* The images a spec speaks of, added to selection->images; out borrows them. */
int nw_candidates_find(const struct nw_spec *spec, const struct nw_scope *scope,
		       struct nw_selection *selection, nw_images *out,
		       struct nw_error *err);

/* Add what the spec names in one image. Returns how many probes it matched, or -errno. */
int nw_match_image(const struct nw_spec *spec, const struct nw_scope *scope,
		   struct nw_image *image, struct nw_selection *selection,
		   struct nw_error *err);

#endif
