// SPDX-License-Identifier: MIT
/* See distinct.h. */
#include <errno.h>
#include <stdlib.h>

#include "distinct.h"

int nw_distinct_add(struct nw_distinct *distinct, const char *name, size_t len)
{
	uint64_t hash = nw_hash_text(name, len);

	if (distinct->hashes.count >= NW_MOST_OVERFLOW_GROUPS)
		return 0;
	nw_hash_each (&distinct->table, hash, number)
		if (distinct->hashes.item[number] == hash)
			return 0;
	uint64_t *added = nw_vec_add(&distinct->hashes);
	if (!added)
		return -ENOMEM;
	*added = hash;
	return nw_hash_table_add(&distinct->table, hash, distinct->hashes.count - 1);
}

void nw_distinct_free(struct nw_distinct *distinct)
{
	nw_vec_free(&distinct->hashes);
	nw_hash_table_free(&distinct->table);
}
