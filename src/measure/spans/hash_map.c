// SPDX-License-Identifier: MIT
/* See hash_map.h. */
#include "hash_map.h"

#include <errno.h>
#include <stdlib.h>

struct nw_map_key nw_map_key_of_span(const struct nw_span_event *event)
{
	return (struct nw_map_key){
		.span = event->span, .time = event->start, .key = event->key};
}

struct nw_map_key nw_map_key_of_thread(int32_t tid)
{
	return (struct nw_map_key){.time = (uint32_t)tid};
}

int nw_hash_map_put(struct nw_hash_map *map, struct nw_map_key key, void *value)
{
	struct nw_map_entry *entry = nw_vec_add(&map->entries);

	if (!entry || nw_hash_table_add(&map->table, nw_map_key_hash(&key),
					map->entries.count - 1) < 0) {
		map->entries.count -= entry != NULL;
		free(value);
		return -ENOMEM;
	}
	*entry = (struct nw_map_entry){key, ++map->serial, value};
	return 0;
}

static struct nw_map_entry *find(const struct nw_hash_map *map, struct nw_map_key key)
{
	struct nw_map_entry *found = NULL;

	nw_hash_each (&map->table, nw_map_key_hash(&key), number) {
		struct nw_map_entry *entry = &map->entries.item[number];
		if (nw_map_keys_equal(&entry->key, &key) &&
		    (!found || entry->serial > found->serial))
			found = entry;
	}
	return found;
}

void *nw_hash_map_find(const struct nw_hash_map *map, struct nw_map_key key)
{
	const struct nw_map_entry *entry = find(map, key);

	return entry ? entry->value : NULL;
}

void *nw_hash_map_take(struct nw_hash_map *map, struct nw_map_key key)
{
	struct nw_map_entry *entry = find(map, key);

	if (!entry)
		return NULL;
	void *value = entry->value;
	const struct nw_map_entry *last = &map->entries.item[--map->entries.count];
	nw_hash_table_remove(&map->table, nw_map_key_hash(&key),
			     (size_t)(entry - map->entries.item),
			     nw_map_key_hash(&last->key), map->entries.count);
	*entry = *last;
	return value;
}

void nw_hash_map_free(struct nw_hash_map *map)
{
	nw_vec_each (&map->entries, entry)
		free(entry->value);
	nw_vec_free(&map->entries);
	nw_hash_table_free(&map->table);
	*map = (struct nw_hash_map){0};
}
