/* SPDX-License-Identifier: MIT */
/*
 * A hash table with chains, whose values are memory for free(): data of each open span or of each thread. (starts.c
 * has a table of its own for the hits that spans begin with, which allocates nothing for most of them.)
 */
#ifndef NOPWATCH_MEASURE_SCHED_HASH_MAP_H
#define NOPWATCH_MEASURE_SCHED_HASH_MAP_H

#include "measure/spans/spans.h"

/* A span, the time of its start, and the key of the start. */
struct nw_map_key {
	uint32_t span;
	uint64_t time, key;
};

struct nw_map_entry;

/* A zeroed one is empty and valid. */
struct nw_hash_map {
	struct nw_map_entry **slot;
	size_t slots, count;
};

struct nw_map_key nw_map_key_of_span(const struct nw_span_event *event);
struct nw_map_key nw_map_key_of_thread(int32_t tid);
/* Puts a value into the map, which owns it from now on, and frees it on failure. Returns -ENOMEM on failure. */
int nw_hash_map_put(struct nw_hash_map *map, struct nw_map_key key, void *value);
/* Returns the value, which stays the map's; NULL: there is none. */
void *nw_hash_map_find(const struct nw_hash_map *map, struct nw_map_key key);
/* Removes the value from the map and returns it; the caller frees it. NULL: there is none. */
void *nw_hash_map_take(struct nw_hash_map *map, struct nw_map_key key);
/* Calls `each` for all entries; `each` must not change the map. */
void nw_hash_map_each(const struct nw_hash_map *map,
		      void (*each)(void *arg, struct nw_map_key key, void *value),
		      void *arg);
void nw_hash_map_free(struct nw_hash_map *map);

#endif
