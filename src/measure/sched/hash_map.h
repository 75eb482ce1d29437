/* SPDX-License-Identifier: MIT */
/*
 * A hash table with chains whose values are memory for free(): what somebody keeps for each open span, from its
 * beginning to its end, or for each thread. (starts.c has a table of its own for the hits that spans begin with,
 * which allocates nothing for most of them.)
 */
#ifndef NOPWATCH_MEASURE_SCHED_HASH_MAP_H
#define NOPWATCH_MEASURE_SCHED_HASH_MAP_H

#include "nopwatch/spans.h"

/* A span, the time of its start, and the key of that. */
struct nw_map_key {
	uint32_t span;
	uint64_t time, key;
};

struct nw_map_entry;

/* Zeroed: an empty one. */
struct nw_hash_map {
	struct nw_map_entry **slot;
	size_t slots, count;
};

struct nw_map_key nw_map_key_of_span(const struct nw_span_event *event);
struct nw_map_key nw_map_key_of_thread(int32_t tid);
/* The map owns the value from now on; if it fails, the value has been freed. -ENOMEM. */
int nw_hash_map_put(struct nw_hash_map *map, struct nw_map_key key, void *value);
/* The value, which stays the map's; NULL: there is none. */
void *nw_hash_map_find(const struct nw_hash_map *map, struct nw_map_key key);
/* The same, and take it out of the map: it is the caller's to free. */
void *nw_hash_map_take(struct nw_hash_map *map, struct nw_map_key key);
/* Which must not change the map meanwhile. */
void nw_hash_map_each(const struct nw_hash_map *map,
		      void (*each)(void *arg, struct nw_map_key key, void *value),
		      void *arg);
void nw_hash_map_free(struct nw_hash_map *map);

#endif
