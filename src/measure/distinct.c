// SPDX-License-Identifier: MIT
/* See distinct.h. */
#include <errno.h>
#include <stdlib.h>

#include "distinct.h"

/* Returns the slot of the hash, or the free slot where it belongs. */
static uint64_t *find(const struct nw_distinct *distinct, uint64_t hash)
{
	size_t at = hash & (distinct->slots - 1);

	while (distinct->slot[at] && distinct->slot[at] != hash)
		at = (at + 1) & (distinct->slots - 1);
	return &distinct->slot[at];
}

static int grow(struct nw_distinct *distinct)
{
	struct nw_distinct bigger = {.slots = distinct->slots ? distinct->slots * 2 : 256,
				     .count = distinct->count};

	bigger.slot = calloc(bigger.slots, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (size_t i = 0; i < distinct->slots; i++)
		if (distinct->slot[i])
			*find(&bigger, distinct->slot[i]) = distinct->slot[i];
	free(distinct->slot);
	*distinct = bigger;
	return 0;
}

int nw_distinct_add(struct nw_distinct *distinct, const char *name, size_t len)
{
	uint64_t hash = nw_hash64(nw_hash_text(name, len)) | 1;

	if (distinct->count >= NW_MOST_OVERFLOW_GROUPS)
		return 0;
	if (distinct->count * 2 >= distinct->slots && grow(distinct) < 0)
		return -ENOMEM;
	uint64_t *slot = find(distinct, hash);
	distinct->count += !*slot;
	*slot = hash;
	return 0;
}

void nw_distinct_free(struct nw_distinct *distinct)
{
	free(distinct->slot);
	*distinct = (struct nw_distinct){0};
}
