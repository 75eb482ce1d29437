// SPDX-License-Identifier: MIT
/*
 * Hits whose strings came in companion events. The kernel runs the events of one place one
 * after the other in the thread that hit it, so the parts follow each other in that thread's
 * records, though another thread's may stand between them. Parts are collected by thread until
 * all are there; if something else of the thread comes first, some were lost, and the hit is
 * handed out with what it has.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nopwatch/stream.h"

struct pending {
	struct nw_hit hit;
	uint32_t got; /* parts, as bits */
	struct nw_value *values;
	size_t room;
	NW_VEC(char *) copies; /* strings of parts already seen */
};

struct nw_join {
	const struct nw_formats *formats;
	NW_VEC(struct pending *) waiting;
	struct pending *current; /* handed out last */
	struct nw_value *values; /* of hits of one part */
	size_t room;
};

static int make_room(struct nw_value **values, size_t *room, size_t count)
{
	if (count <= *room)
		return 0;
	struct nw_value *grown = realloc(*values, count * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*values = grown;
	*room = count;
	return 0;
}

int nw_join_open(const struct nw_formats *formats, struct nw_join **out)
{
	struct nw_join *join = calloc(1, sizeof(*join));

	if (!join)
		return -ENOMEM;
	join->formats = formats;
	*out = join;
	return 0;
}

static void free_pending(struct pending *p)
{
	if (!p)
		return;
	nw_vec_each (&p->copies, copy)
		free(*copy);
	nw_vec_free(&p->copies);
	free(p->values);
	free(p);
}

static const struct nw_planned *planned_of(const struct nw_join *join, uint32_t planned)
{
	return &join->formats->plan->points.item[planned];
}

static struct nw_hit hit_of(const struct nw_record *record)
{
	return (struct nw_hit){.time = record->time,
			       .cpu = record->cpu,
			       .tid = record->tid,
			       .probe = record->probe,
			       .planned = record->planned};
}

/* ---- hits of several parts ---------------------------------------------------------- */

/* Strings point into the page, which will be gone when the hit is complete. */
static int keep_strings(struct pending *p, const struct nw_planned *planned, uint32_t part)
{
	for (size_t i = 0; i < p->hit.value_count; i++) {
		struct nw_value *value = &p->values[i];
		bool is_array = value->kind == NW_VALUE_ARRAY;
		if (planned->args.item[i].part != part ||
		    (value->kind != NW_VALUE_STRING && !is_array))
			continue;
		const void *from = is_array ? (const void *)value->elements : value->text;
		size_t len = is_array ? (size_t)value->len * (value->bits / 8) : value->len;
		char **slot = nw_vec_add(&p->copies);
		char *copy = slot ? malloc(len + 1) : NULL;
		if (!copy)
			return -ENOMEM;
		*slot = memcpy(copy, from, len);
		if (is_array)
			value->elements = (const unsigned char *)copy;
		else
			value->text = copy;
	}
	return 0;
}

static struct pending *start(struct nw_join *join, const struct nw_record *record)
{
	size_t count = planned_of(join, record->planned)->args.count;
	struct pending *p = calloc(1, sizeof(*p));

	if (!p || make_room(&p->values, &p->room, count) < 0) {
		free_pending(p);
		return NULL;
	}
	p->hit = hit_of(record);
	p->hit.values = p->values;
	p->hit.value_count = count;
	for (size_t i = 0; i < count; i++)
		p->values[i] = (struct nw_value){.kind = NW_VALUE_MISSING, .text = "lost"};
	return p;
}

static ssize_t find_waiting(const struct nw_join *join, int32_t tid)
{
	for (size_t i = 0; i < join->waiting.count; i++)
		if (join->waiting.item[i]->hit.tid == tid)
			return (ssize_t)i;
	return -1;
}

/* Take a hit off the list; it lives until the next call. */
static int hand_out(struct nw_join *join, size_t at, struct nw_hit *out)
{
	free_pending(join->current);
	join->current = join->waiting.item[at];
	join->waiting.item[at] = join->waiting.item[--join->waiting.count];
	*out = join->current->hit;
	return 1;
}

static int add_part(struct nw_join *join, const struct nw_record *record,
		    struct nw_hit *out)
{
	const struct nw_planned *planned = planned_of(join, record->planned);
	uint32_t bit = 1u << (record->part % NW_MAX_PARTS);
	uint32_t all = (uint32_t)(((uint64_t)1 << planned->parts) - 1) & ~planned->refused;
	ssize_t at = find_waiting(join, record->tid);
	int ready = 0;

	if (at >= 0) {
		struct pending *p = join->waiting.item[at];
		if (p->hit.planned != record->planned || (p->got & bit)) {
			ready = hand_out(join, (size_t)at, out); /* incomplete */
			at = -1;
		}
	}
	if (at < 0) {
		struct pending **slot = nw_vec_add(&join->waiting);
		if (!slot)
			return -ENOMEM;
		*slot = start(join, record);
		if (!*slot) {
			join->waiting.count--;
			return -ENOMEM;
		}
		at = (ssize_t)join->waiting.count - 1;
	}
	struct pending *p = join->waiting.item[at];
	p->got |= bit;
	nw_record_values(join->formats, record, p->values);
	if (keep_strings(p, planned, record->part) < 0)
		return -ENOMEM;
	if (!ready && (p->got & all) == all)
		return hand_out(join, (size_t)at, out);
	return ready;
}

/* ---- all hits ----------------------------------------------------------------------- */

int nw_join_push(struct nw_join *join, const struct nw_record *record, struct nw_hit *out)
{
	const struct nw_planned *planned = planned_of(join, record->planned);

	if (planned->parts > 1)
		return add_part(join, record, out);
	*out = hit_of(record);
	if (!planned->args.count)
		return 1;
	if (make_room(&join->values, &join->room, planned->args.count) < 0)
		return -ENOMEM;
	nw_record_values(join->formats, record, join->values);
	out->values = join->values;
	out->value_count = planned->args.count;
	return 1;
}

int nw_join_rest(struct nw_join *join, struct nw_hit *out)
{
	return join->waiting.count ? hand_out(join, join->waiting.count - 1, out) : 0;
}

void nw_join_free(struct nw_join *join)
{
	if (!join)
		return;
	nw_vec_each (&join->waiting, p)
		free_pending(*p);
	nw_vec_free(&join->waiting);
	free_pending(join->current);
	free(join->values);
	free(join);
}
