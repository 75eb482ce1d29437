// SPDX-License-Identifier: MIT
/* See others.h. */
#include <errno.h>
#include <stdlib.h>

#include "others.h"

/* Where the hash is, or would be. */
static uint64_t *find(const struct nw_others *others, uint64_t hash)
{
	size_t at = hash & (others->slots - 1);

	while (others->slot[at] && others->slot[at] != hash)
		at = (at + 1) & (others->slots - 1);
	return &others->slot[at];
}

static int grow(struct nw_others *others)
{
	struct nw_others bigger = {.slots = others->slots ? others->slots * 2 : 256,
				   .count = others->count};

	bigger.slot = calloc(bigger.slots, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (size_t i = 0; i < others->slots; i++)
		if (others->slot[i])
			*find(&bigger, others->slot[i]) = others->slot[i];
	free(others->slot);
	*others = bigger;
	return 0;
}

int nw_others_add(struct nw_others *others, const char *name, size_t len)
{
	uint64_t hash = nw_hash64(nw_hash_text(name, len)) | 1;

	if (others->count >= NW_OTHERS_MOST)
		return 0;
	if (others->count * 2 >= others->slots && grow(others) < 0)
		return -ENOMEM;
	uint64_t *slot = find(others, hash);
	others->count += !*slot;
	*slot = hash;
	return 0;
}

void nw_others_free(struct nw_others *others)
{
	free(others->slot);
	*others = (struct nw_others){0};
}
