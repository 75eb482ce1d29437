// SPDX-License-Identifier: MIT
/* See site.h. */
#include "site.h"

#include <errno.h>
#include <stdlib.h>

int nw_site_args_read(struct nw_image *image, const struct nw_site *site,
		      const struct nw_types *types, struct nw_site_args *out)
{
	const struct nw_described *known = types ? nw_types_of(types, image->path,
							       site->provider, site->name)
						 : NULL;
	nw_operands *operands = &out->point.operands;

	*out = (struct nw_site_args){0};
	if (image->arch && nw_operands_parse(image->arch, site->args, operands) < 0)
		return -ENOMEM;
	nw_operands_resolve(image, site->vaddr, operands);
	while (out->known.count < operands->count) {
		if (!nw_vec_add(&out->known)) {
			operands->count = out->known.count;
			return -ENOMEM;
		}
	}
	if (known)
		nw_types_apply(known, &out->point, 1, &out->known);
	return 0;
}

void nw_site_args_free(struct nw_site_args *args)
{
	nw_vec_free(&args->point.operands);
	nw_vec_free(&args->known);
}

void nw_site_fetch(const struct nw_image *image, const struct nw_site *site,
		   const struct nw_site_args *args, size_t arg, struct nw_fetch *out)
{
	nw_fetch_make(&args->point.operands.item[arg], &args->known.item[arg].type,
		      image->arch, image->big_endian, site->vaddr, &nw_caps_all, out);
}
