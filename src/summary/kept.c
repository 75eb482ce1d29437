// SPDX-License-Identifier: MIT
/* See kept.h. */
#include "kept.h"

#include <errno.h>
#include <stdlib.h>

struct nw_kept_item {
	struct nw_kept_item *next;
	struct nw_kept_id id;
	void *what;
};

enum {
	FIRST_SLOTS = 64
};

struct nw_kept_id nw_kept_id_of(const struct nw_span_event *event)
{
	return (struct nw_kept_id){
		.span = event->span, .time = event->start, .key = event->key};
}

/* Not by the key, which is not always known. */
static struct nw_kept_item **chain(struct nw_kept_item **slot, size_t slots,
				   struct nw_kept_id id)
{
	return &slot[nw_hash64(id.time ^ (uint64_t)id.span << 48) & (slots - 1)];
}

/* A larger table. */
static int grow(struct nw_kept *kept)
{
	size_t slots = kept->slots ? kept->slots * 2 : FIRST_SLOTS;
	struct nw_kept_item **slot = calloc(slots, sizeof(*slot));

	if (!slot) /* longer chains are no error */
		return kept->slots ? 0 : -ENOMEM;
	for (size_t i = 0; i < kept->slots; i++) {
		for (struct nw_kept_item *next, *it = kept->slot[i]; it; it = next) {
			struct nw_kept_item **to = chain(slot, slots, it->id);
			next = it->next;
			it->next = *to;
			*to = it;
		}
	}
	free(kept->slot);
	kept->slot = slot;
	kept->slots = slots;
	return 0;
}

int nw_kept_put(struct nw_kept *kept, struct nw_kept_id id, void *what)
{
	struct nw_kept_item *item = malloc(sizeof(*item));

	if (!item || (kept->count == kept->slots && grow(kept) < 0)) {
		free(item);
		free(what);
		return -ENOMEM;
	}
	struct nw_kept_item **slot = chain(kept->slot, kept->slots, id);
	*item = (struct nw_kept_item){.next = *slot, .id = id, .what = what};
	*slot = item;
	kept->count++;
	return 0;
}

static struct nw_kept_item **find(const struct nw_kept *kept, struct nw_kept_id id)
{
	if (!kept->slots)
		return NULL;
	struct nw_kept_item **link = chain(kept->slot, kept->slots, id);
	for (; *link; link = &(*link)->next) {
		const struct nw_kept_id *other = &(*link)->id;
		if (other->span == id.span && other->time == id.time &&
		    (!id.key || other->key == id.key))
			return link;
	}
	return NULL;
}

void *nw_kept_find(const struct nw_kept *kept, struct nw_kept_id id)
{
	struct nw_kept_item **link = find(kept, id);

	return link ? (*link)->what : NULL;
}

void *nw_kept_take(struct nw_kept *kept, struct nw_kept_id id)
{
	struct nw_kept_item **link = find(kept, id);

	if (!link)
		return NULL;
	struct nw_kept_item *item = *link;
	void *what = item->what;
	*link = item->next;
	free(item);
	kept->count--;
	return what;
}

void nw_kept_free(struct nw_kept *kept)
{
	for (size_t i = 0; i < kept->slots; i++) {
		for (struct nw_kept_item *next, *it = kept->slot[i]; it; it = next) {
			next = it->next;
			free(it->what);
			free(it);
		}
	}
	free(kept->slot);
	*kept = (struct nw_kept){0};
}
