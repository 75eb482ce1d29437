// SPDX-License-Identifier: MIT
/*
 * Earlier mappings of a process, for recordings: finds the region of an address at a time, among regions that were
 * replaced later. If processes open and close libraries all the time there are thousands of them, and every frame of
 * every stack needs a search.
 *
 * A segment tree: the ends of all regions divide memory into intervals, which are the leaves. A region is stored at
 * the few nodes whose leaves together make up the region (at most two on each level). The search for an address looks
 * at its leaf and at all nodes above. The regions of a node are sorted by time, so each look is a binary search.
 */
#include <errno.h>
#include <stdlib.h>

#include "modules.h"

struct when {
	uint64_t until;
	uint32_t number; /* index in the list */
};

struct nw_past_tree {
	size_t regions;	    /* how many regions of the list are in the tree */
	struct when *order; /* by time; regions of the same time in the order of the list */
	uint64_t *ends;	    /* of all regions, sorted and without duplicates */
	/* Leaf i, from ends[i] to ends[i + 1], is node leaves + i; the parent of a node is node / 2. */
	uint32_t leaves;
	/* Index in `member` of each node's first region, and the end of the last node's */
	uint32_t *first;
	uint32_t *member; /* indexes in `order`, sorted */
};

enum {
	MOST_NODES = 2 * 32 /* limit of nodes for one region */
};

void nw_past_tree_free(struct nw_past_tree *tree)
{
	if (!tree)
		return;
	free(tree->order);
	free(tree->ends);
	free(tree->first);
	free(tree->member);
	free(tree);
}

static int by_time(const void *a, const void *b)
{
	const struct when *x = a, *y = b;

	if (x->until != y->until)
		return x->until < y->until ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns how many ends are not above this address. */
static uint32_t ends_up_to(const struct nw_past_tree *tree, uint32_t count,
			   uint64_t address)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (tree->ends[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Finds the nodes of a region. */
static size_t nodes_of(const struct nw_past_tree *tree, const struct nw_region *region,
		       uint32_t nodes[MOST_NODES])
{
	uint32_t ends = tree->leaves + 1;
	uint32_t from = tree->leaves + ends_up_to(tree, ends, region->start) - 1;
	uint32_t to = tree->leaves + ends_up_to(tree, ends, region->end) - 1;
	size_t count = 0;

	for (; from < to; from /= 2, to /= 2) {
		if (from % 2)
			nodes[count++] = from++;
		if (to % 2)
			nodes[count++] = --to;
	}
	return count;
}

/* Stores regions at their nodes in the order of time, so that each node's regions are sorted, too. */
static int hang_up(struct nw_past_tree *tree, const nw_past_regions *past)
{
	const size_t nodes = 2 * (size_t)tree->leaves;
	uint32_t at[MOST_NODES];
	size_t all = 0;

	tree->first = calloc(nodes + 2, sizeof(*tree->first));
	if (!tree->first)
		return -ENOMEM;
	/* First counts the regions of each node, in the entry two places further on. After summing these up, filling
	 * the nodes moves every entry to its final value. */
	nw_vec_each (past, it) {
		size_t count = nodes_of(tree, &it->region, at);
		for (size_t i = 0; i < count; i++)
			tree->first[at[i] + 2]++;
		all += count;
	}
	for (size_t i = 2; i < nodes + 2; i++)
		tree->first[i] += tree->first[i - 1];
	tree->member = calloc(all + 1, sizeof(*tree->member));
	if (!tree->member)
		return -ENOMEM;
	for (uint32_t i = 0; i < past->count; i++) {
		size_t count = nodes_of(tree, &past->item[tree->order[i].number].region,
					at);
		for (size_t j = 0; j < count; j++)
			tree->member[tree->first[at[j] + 1]++] = i;
	}
	return 0;
}

static struct nw_past_tree *make(const nw_past_regions *past)
{
	struct nw_past_tree *tree = calloc(1, sizeof(*tree));
	uint32_t ends = 0;

	if (!tree)
		return NULL;
	tree->regions = past->count;
	tree->order = calloc(past->count, sizeof(*tree->order));
	tree->ends = calloc(2 * past->count, sizeof(*tree->ends));
	if (!tree->order || !tree->ends) {
		nw_past_tree_free(tree);
		return NULL;
	}
	for (uint32_t i = 0; i < past->count; i++) {
		const struct nw_past_region *it = &past->item[i];
		tree->order[i] = (struct when){it->until, i};
		tree->ends[ends++] = it->region.start;
		tree->ends[ends++] = it->region.end;
	}
	qsort(tree->order, past->count, sizeof(*tree->order), by_time);
	qsort(tree->ends, ends, sizeof(*tree->ends), by_address);
	for (uint32_t i = 1; i < ends; i++)
		if (tree->ends[i] != tree->ends[tree->leaves])
			tree->ends[++tree->leaves] = tree->ends[i];
	if (hang_up(tree, past) == 0)
		return tree;
	nw_past_tree_free(tree);
	return NULL;
}

/* Returns the first region of a node that was there until later than `now`, as an index in `order`; UINT32_MAX:
 * none. */
static uint32_t first_after(const struct nw_past_tree *tree, uint32_t node, uint64_t now)
{
	uint32_t low = tree->first[node], high = tree->first[node + 1], end = high;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (tree->order[tree->member[middle]].until <= now)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end ? tree->member[low] : UINT32_MAX;
}

const struct nw_region *nw_past_find(const nw_past_regions *past,
				     struct nw_past_tree **made, uint64_t address,
				     uint64_t now)
{
	struct nw_past_tree *tree = *made;
	uint32_t best = UINT32_MAX;

	if (!past->count)
		return NULL;
	if (!tree || tree->regions != past->count) {
		nw_past_tree_free(tree);
		tree = *made = make(past);
	}
	if (!tree)
		return NULL;
	uint32_t leaf = ends_up_to(tree, tree->leaves + 1, address);
	if (leaf == 0 || leaf > tree->leaves)
		return NULL;
	for (uint32_t node = tree->leaves + leaf - 1; node; node /= 2) {
		uint32_t first = first_after(tree, node, now);
		best = first < best ? first : best;
	}
	return best == UINT32_MAX ? NULL : &past->item[tree->order[best].number].region;
}
