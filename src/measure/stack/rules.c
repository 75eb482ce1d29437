// SPDX-License-Identifier: MIT
/*
 * A cache of the rules by which callers are found (nw_rule_load()), by place. The same places come again with each
 * hit, and many of them have the same rule. If there are too many, all are dropped and read again.
 */
#include <stdlib.h>
#include <string.h>

#include "modules.h"

enum {
	SLOTS = 1 << 16, /* power of two */
	TRIED = 8,	 /* slots that a place may be in */
	MOST_RULES = 1 << 15,
	NUMBERS = 2 * MOST_RULES, /* power of two */
	MOST_BYTES = 16 << 20,
	NONE = UINT32_MAX
};

struct nw_rule_slot {
	uint64_t vaddr;
	uint32_t module;
	/* Its number + 1; NONE: the place has no rule; 0: the slot is free */
	uint32_t rule;
};

static size_t slot_of(uint32_t module, uint64_t vaddr)
{
	return (size_t)nw_hash64(vaddr ^ (uint64_t)module << 44) & (SLOTS - 1);
}

bool nw_rules_find(const struct nw_rule_cache *cache, uint32_t module, uint64_t vaddr,
		   const struct nw_rule **out)
{
	size_t at = slot_of(module, vaddr);

	*out = NULL;
	for (size_t i = 0; cache->slots && i < TRIED; i++) {
		const struct nw_rule_slot *slot = &cache->slots[(at + i) & (SLOTS - 1)];
		if (!slot->rule)
			return false;
		if (slot->vaddr != vaddr || slot->module != module)
			continue;
		if (slot->rule != NONE)
			*out = cache->rules.item[slot->rule - 1].rule;
		return true;
	}
	return false;
}

void nw_rules_free(struct nw_rule_cache *cache)
{
	nw_vec_each (&cache->rules, kept) {
		nw_rule_free(kept->rule);
		free(kept->bytes);
	}
	nw_vec_free(&cache->rules);
	free(cache->numbers);
	free(cache->slots);
	*cache = (struct nw_rule_cache){0};
}

/* Returns the number of the rule with these bytes, + 1; NONE without memory. */
static uint32_t number_of(struct nw_rule_cache *cache, const void *bytes, size_t len)
{
	size_t at = nw_hash_text(bytes, len) & (NUMBERS - 1);

	for (; cache->numbers[at]; at = (at + 1) & (NUMBERS - 1)) {
		const struct nw_kept_rule *kept =
			&cache->rules.item[cache->numbers[at] - 1];
		if (kept->len == len && memcmp(kept->bytes, bytes, len) == 0)
			return cache->numbers[at];
	}
	struct nw_kept_rule *kept = nw_vec_add(&cache->rules);
	void *copy = kept ? malloc(len + 1) : NULL;
	if (!copy) {
		cache->rules.count -= kept != NULL;
		return NONE;
	}
	memcpy(copy, bytes, len);
	*kept = (struct nw_kept_rule){nw_rule_load(bytes, len), copy, len};
	cache->bytes += len;
	cache->numbers[at] = (uint32_t)cache->rules.count;
	return cache->numbers[at];
}

void nw_rules_add(struct nw_rule_cache *cache, uint32_t module, uint64_t vaddr,
		  const void *bytes, size_t len)
{
	size_t at = slot_of(module, vaddr), i = 0;

	if (cache->rules.count >= MOST_RULES || cache->bytes >= MOST_BYTES)
		nw_rules_free(cache);
	if (!cache->slots) {
		cache->slots = calloc(SLOTS, sizeof(*cache->slots));
		cache->numbers = calloc(NUMBERS, sizeof(*cache->numbers));
	}
	if (!cache->slots || !cache->numbers) {
		nw_rules_free(cache);
		return;
	}
	while (i < TRIED - 1 && cache->slots[(at + i) & (SLOTS - 1)].rule)
		i++;
	/* The last slot is overwritten if none is free. */
	cache->slots[(at + i) & (SLOTS - 1)] = (struct nw_rule_slot){
		vaddr, module, bytes ? number_of(cache, bytes, len) : NONE};
}
