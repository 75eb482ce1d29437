/* SPDX-License-Identifier: MIT */
/* A map whose values are memory for free(): data of each open span or of each thread. (starts.c keeps the hits that spans
 * begin with, and allocates nothing for most of them.) */
#ifndef NOPWATCH_MEASURE_SPANS_HASH_MAP_H
#define NOPWATCH_MEASURE_SPANS_HASH_MAP_H

#include "spans.h"

/* A span, the time of its start, and the key of the start. */
struct nw_map_key {
	uint32_t span;
	uint64_t time, key;
};

static inline bool nw_map_keys_equal(const struct nw_map_key *a, const struct nw_map_key *b)
{
	return a->span == b->span && a->time == b->time && a->key == b->key;
}

/* .key is not hashed, because few spans begin at the same time. */
static inline uint64_t nw_map_key_hash(const struct nw_map_key *key)
{
	return nw_hash64(key->time ^ (uint64_t)key->span << 48);
}

struct nw_map_entry {
	struct nw_map_key key;
	uint64_t serial; /* of entries with equal keys the latest is found */
	void *value;
};

/* A zeroed one is empty and valid. */
struct nw_hash_map {
	NW_VEC(struct nw_map_entry) entries; /* in no order */
	struct nw_hash_table table;
	uint64_t serial;
};

struct nw_map_key nw_map_key_of_span(const struct nw_span_event *event);
struct nw_map_key nw_map_key_of_thread(int32_t tid);
/* Puts a value into the map, which owns it from now on, and frees it on failure. Returns -ENOMEM on failure. */
int nw_hash_map_put(struct nw_hash_map *map, struct nw_map_key key, void *value);
/* Returns the value, which stays the map's; NULL: there is none. */
void *nw_hash_map_find(const struct nw_hash_map *map, struct nw_map_key key);
/* Removes the value from the map and returns it; the caller frees it. NULL: there is none. */
void *nw_hash_map_take(struct nw_hash_map *map, struct nw_map_key key);
void nw_hash_map_free(struct nw_hash_map *map);

#endif
