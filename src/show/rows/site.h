/* SPDX-License-Identifier: MIT */
/* The arguments of a site, as all formats show them. */
#ifndef NOPWATCH_SHOW_ROWS_SITE_H
#define NOPWATCH_SHOW_ROWS_SITE_H

#include "nopwatch/output.h"
#include "nopwatch/plan.h"

/* What its note says, and what is known beside. */
struct nw_site_args {
	struct nw_point point; /* its operands */
	nw_named_args known;   /* one each */
};

/* Returns -ENOMEM at worst; then there are fewer. Free in any case. */
int nw_site_args_read(struct nw_image *image, const struct nw_site *site,
		      const struct nw_types *types, struct nw_site_args *out);
void nw_site_args_free(struct nw_site_args *args);
/* The fetch of an argument as a kernel that has everything would take it. */
void nw_site_fetch(const struct nw_image *image, const struct nw_site *site,
		   const struct nw_site_args *args, size_t arg, struct nw_fetch *out);

#endif
