/* SPDX-License-Identifier: MIT */
/* The arguments of a site, as all formats show them. */
#ifndef NOPWATCH_SHOW_ROWS_SITE_H
#define NOPWATCH_SHOW_ROWS_SITE_H

#include "plan/plan.h"
#include "show/rows/output.h"

/* The arguments of a site: from its note, and from other sources. */
struct nw_site_args {
	struct nw_point point; /* has the site's operands */
	nw_named_args known;   /* one for each operand */
};

/* Reads the arguments. -ENOMEM: some may be missing. Free them in any case. */
int nw_site_args_read(struct nw_image *image, const struct nw_site *site,
		      const struct nw_types *types, struct nw_site_args *out);
void nw_site_args_free(struct nw_site_args *args);
/* Makes the fetch of an argument for a kernel with all features. */
void nw_site_fetch(const struct nw_image *image, const struct nw_site *site,
		   const struct nw_site_args *args, size_t arg, struct nw_fetch *out);

#endif
