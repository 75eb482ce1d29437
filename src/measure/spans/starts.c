// SPDX-License-Identifier: MIT
/* Copies of the hits with which open spans have begun. Most hits have no values; then a start allocates nothing. */
#include <errno.h>
#include <stdlib.h>

#include "hash_map.h"

struct start {
	struct nw_map_key key;
	/* If two starts have equal keys, the later one ends first. */
	uint64_t serial;
	struct nw_hit hit;
	struct nw_hit *copy; /* owns the values; NULL: the hit has none */
	struct nw_task task;
};

struct nw_span_starts {
	NW_VEC(struct start) open; /* in no order */
	struct nw_hash_table table;
	uint64_t serial;
	struct start last; /* the start that nw_span_starts_follow() returned last */
	bool failed;	   /* there was no memory for a start */
	bool left_out;	   /* there were too many starts */
};

int nw_span_starts_open(struct nw_span_starts **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

bool nw_span_starts_failed(const struct nw_span_starts *starts)
{
	return starts && starts->failed;
}

void nw_span_starts_free(struct nw_span_starts *starts)
{
	if (!starts)
		return;
	nw_vec_each (&starts->open, it)
		free(it->copy);
	nw_vec_free(&starts->open);
	nw_hash_table_free(&starts->table);
	free(starts->last.copy);
	free(starts);
}

/* Returns the start, or the latest one if several of the same key have begun at the same time; NULL: none. */
static struct start *find(const struct nw_span_starts *starts, const struct nw_map_key *key)
{
	struct start *found = NULL;

	nw_hash_each (&starts->table, nw_map_key_hash(key), number) {
		struct start *it = &starts->open.item[number];
		if (nw_map_keys_equal(&it->key, key) &&
		    (!found || it->serial > found->serial))
			found = it;
	}
	return found;
}

/* Keeps a start. Returns false without memory. */
static bool keep_start(struct nw_span_starts *starts, const struct nw_span_event *event,
		       const struct nw_task *task)
{
	const struct nw_map_key key = nw_map_key_of_span(event);
	struct nw_hit *copy = event->hit->values ? nw_hit_copy(event->hit) : NULL;
	struct start *it = copy || !event->hit->values ? nw_vec_add(&starts->open) : NULL;

	if (it && nw_hash_table_add(&starts->table, nw_map_key_hash(&key),
				    starts->open.count - 1) < 0) {
		starts->open.count--;
		it = NULL;
	}
	if (!it) {
		free(copy);
		return false;
	}
	it->key = key;
	it->serial = ++starts->serial;
	it->hit = *event->hit;
	it->copy = copy;
	it->task = task ? *task : (struct nw_task){0};
	return true;
}

/* Moves a start to `last`. */
static void take_start(struct nw_span_starts *starts, struct start *it)
{
	const struct start *end = &starts->open.item[--starts->open.count];

	nw_hash_table_remove(&starts->table, nw_map_key_hash(&it->key),
			     (size_t)(it - starts->open.item), nw_map_key_hash(&end->key),
			     starts->open.count);
	starts->last = *it;
	*it = *end;
}

bool nw_span_starts_left_out(const struct nw_span_starts *starts)
{
	return starts->left_out;
}

size_t nw_span_starts_oldest(const struct nw_span_starts *starts, uint32_t span,
			     bool (*is_open)(const void *arg, uint32_t span,
					     const struct nw_open_span *open),
			     const void *arg, struct nw_open_span *out, size_t most)
{
	size_t count = 0;

	nw_vec_each (&starts->open, it) {
		const struct nw_open_span open = {
			it->key.key, it->copy ? it->copy : &it->hit, &it->task};
		if (it->key.span != span || !is_open(arg, span, &open))
			continue;
		size_t at = nw_min64(count++, most);
		for (; at && out[at - 1].began->time > open.began->time; at--)
			if (at < most)
				out[at] = out[at - 1];
		if (at < most)
			out[at] = open;
	}
	return count;
}

const struct nw_hit *nw_span_starts_follow(struct nw_span_starts *starts,
					   const struct nw_span_event *event,
					   const struct nw_task *task)
{
	free(starts->last.copy);
	starts->last.copy = NULL;
	if (event->moment == NW_SPAN_BEGINS) {
		/* If the table is full, the start will be unknown when its span ends. */
		if (starts->open.count == NW_MOST_STARTS)
			starts->left_out = true;
		else if (!keep_start(starts, event, task))
			starts->failed = true;
		return NULL;
	}
	const struct nw_map_key key = nw_map_key_of_span(event);
	struct start *it = event->moment != NW_SPAN_ENDS_NOTHING ? find(starts, &key)
								 : NULL;
	if (!it)
		return NULL;
	take_start(starts, it);
	return starts->last.copy ? starts->last.copy : &starts->last.hit;
}
