// SPDX-License-Identifier: MIT
/* See hash_map.h. */
#include "hash_map.h"

#include <errno.h>
#include <stdlib.h>

struct nw_map_entry {
	struct nw_map_entry *next;
	struct nw_map_key key;
	void *value;
};

enum {
	FIRST_SLOTS = 64 /* a power of two, as all sizes are */
};

struct nw_map_key nw_map_key_of_span(const struct nw_span_event *event)
{
	return (struct nw_map_key){
		.span = event->span, .time = event->start, .key = event->key};
}

struct nw_map_key nw_map_key_of_thread(int32_t tid)
{
	return (struct nw_map_key){.time = (uint32_t)tid};
}

/* Returns the chain of a key. .key is not hashed, because few spans begin at the same time. */
static struct nw_map_entry **chain(struct nw_map_entry **slot, size_t slots,
				   struct nw_map_key key)
{
	return &slot[nw_hash64(key.time ^ (uint64_t)key.span << 48) & (slots - 1)];
}

static int grow(struct nw_hash_map *map)
{
	size_t slots = map->slots ? map->slots * 2 : FIRST_SLOTS;
	struct nw_map_entry **slot = calloc(slots, sizeof(*slot));

	if (!slot) /* A table that cannot grow still works, with longer chains. */
		return map->slots ? 0 : -ENOMEM;
	for (size_t i = 0; i < map->slots; i++) {
		for (struct nw_map_entry *next, *it = map->slot[i]; it; it = next) {
			struct nw_map_entry **to = chain(slot, slots, it->key);
			next = it->next;
			while (*to) /* of equal keys the latest stays in front */
				to = &(*to)->next;
			it->next = NULL;
			*to = it;
		}
	}
	free(map->slot);
	map->slot = slot;
	map->slots = slots;
	return 0;
}

int nw_hash_map_put(struct nw_hash_map *map, struct nw_map_key key, void *value)
{
	struct nw_map_entry *entry = malloc(sizeof(*entry));

	if (!entry || (map->count == map->slots && grow(map) < 0)) {
		free(entry);
		free(value);
		return -ENOMEM;
	}
	struct nw_map_entry **slot = chain(map->slot, map->slots, key);
	*entry = (struct nw_map_entry){.next = *slot, .key = key, .value = value};
	*slot = entry;
	map->count++;
	return 0;
}

/* Returns the pointer that points to the entry; NULL: there is none. */
static struct nw_map_entry **find(const struct nw_hash_map *map, struct nw_map_key key)
{
	if (!map->slots)
		return NULL;
	struct nw_map_entry **link = chain(map->slot, map->slots, key);
	for (; *link; link = &(*link)->next) {
		const struct nw_map_key *other = &(*link)->key;
		if (other->span == key.span && other->time == key.time &&
		    other->key == key.key)
			return link;
	}
	return NULL;
}

void *nw_hash_map_find(const struct nw_hash_map *map, struct nw_map_key key)
{
	struct nw_map_entry **link = find(map, key);

	return link ? (*link)->value : NULL;
}

void *nw_hash_map_take(struct nw_hash_map *map, struct nw_map_key key)
{
	struct nw_map_entry **link = find(map, key);

	if (!link)
		return NULL;
	struct nw_map_entry *entry = *link;
	void *value = entry->value;
	*link = entry->next;
	free(entry);
	map->count--;
	return value;
}

void nw_hash_map_each(const struct nw_hash_map *map,
		      void (*each)(void *arg, struct nw_map_key key, void *value),
		      void *arg)
{
	for (size_t i = 0; i < map->slots; i++)
		for (struct nw_map_entry *it = map->slot[i]; it; it = it->next)
			each(arg, it->key, it->value);
}

void nw_hash_map_free(struct nw_hash_map *map)
{
	for (size_t i = 0; i < map->slots; i++) {
		for (struct nw_map_entry *next, *it = map->slot[i]; it; it = next) {
			next = it->next;
			free(it->value);
			free(it);
		}
	}
	free(map->slot);
	*map = (struct nw_hash_map){0};
}
