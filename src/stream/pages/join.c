// SPDX-License-Identifier: MIT
/*
 * Hits whose strings come in companion events. The kernel runs the events of one place one after the other in the
 * thread that hit it. So the parts follow each other among that thread's records, although records of other threads
 * may be between them. Parts are collected by thread until all are there. If the thread hits another place first,
 * some parts were lost, and the hit is handed out with the parts that it has, before later hits. Several probes may
 * be at one place: their events come mixed.
 *
 * If the order in which the kernel runs the events is known, a part that should have come earlier begins another hit.
 * Otherwise, if the first part of a hit is lost or was not armed yet, the hit would take that of the next hit, which
 * would then lack its own, and so on for all hits of the thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_buffer.h"
#include "value.h"

struct pending {
	struct nw_hit hit;
	uint32_t order; /* of the event whose record came last; see struct nw_armed_event */
	uint32_t got;	/* bits of the parts that have come */
	uint32_t missing;	 /* when complete: how many parts have not come */
	struct nw_value *values; /* the hit's, and behind them the copy of the stack */
	size_t room;		 /* how many these are */
	NW_VEC(char *) copies;	 /* strings of earlier parts */
	/* The beginnings of strings that are spread over several parts. */
	struct nw_buf *strings;
};

typedef NW_VEC(struct pending *) pendings;

struct nw_join {
	const struct nw_formats *formats;
	pendings waiting;
	pendings ready;		 /* hits to be handed out, in this order */
	struct pending *current; /* handed out last */
	struct nw_value *values; /* values of hits of one part */
	size_t room;
	bool values_wanted;
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

int nw_join_open(const struct nw_formats *formats, bool values, struct nw_join **out)
{
	struct nw_join *join = calloc(1, sizeof(*join));

	if (!join)
		return -ENOMEM;
	join->formats = formats;
	join->values_wanted = values;
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
	for (size_t i = 0; p->strings && i < p->room; i++)
		nw_buf_free(&p->strings[i]);
	free(p->strings);
	free(p->values);
	free(p);
}

static const struct nw_planned_point *planned_of(const struct nw_join *join,
						 uint32_t planned)
{
	return &join->formats->plan->points.item[planned];
}

static uint32_t part_bit(const struct nw_record *record)
{
	return 1u << (record->part % NW_MAX_PARTS);
}

/* Adds the stack pointer, unless the line of text did not have it. */
static void add_stack(const struct nw_join *join, const struct nw_record *record,
		      struct nw_hit *hit)
{
	const struct nw_event_format *format = record->format;

	hit->stack = hit->goroutine = 0;
	if (nw_record_has(record, format->stack_field))
		nw_hit_add_stack(join->formats, format, record->planned, record->data, hit);
}

/* ---- hits of several parts ---------------------------------------------------------- */

/* Copies strings, because they point into a page that will be gone when the hit is complete. */
static int keep_strings(struct pending *p, const struct nw_planned_point *planned,
			uint32_t part)
{
	for (size_t i = 0; i < p->room; i++) {
		struct nw_value *value = &p->values[i];
		bool is_array = value->kind == NW_VALUE_ARRAY;
		if (planned->args.item[i].part != part || planned->args.item[i].spread ||
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

/* Collects the bytes that this part has of strings spread over several parts. */
static int collect_strings(struct pending *p, const struct nw_planned_point *planned,
			   const struct nw_record *record)
{
	size_t i = 0;

	nw_vec_each (&planned->args, source) {
		const unsigned char *bytes = NULL;
		struct nw_buf *string = NULL;
		uint32_t offset = 0, len;
		size_t at = i++;
		if (!source->spread || source->fetch.problem)
			continue;
		if (!p->strings)
			p->strings = calloc(p->room + 1, sizeof(*p->strings));
		if (!p->strings)
			return -ENOMEM;
		string = &p->strings[at];
		len = nw_string_bytes(record, source, &offset, &bytes);
		if (len && string->len == offset) /* otherwise an earlier piece is lost */
			nw_buf_add(string, (const char *)bytes, len);
		if (string->failed)
			return -ENOMEM;
	}
	return 0;
}

static struct pending *start(struct nw_join *join, const struct nw_record *record)
{
	const struct nw_planned_point *planned = planned_of(join, record->planned);
	size_t count = planned->args.count;
	struct pending *p = calloc(1, sizeof(*p));

	if (!p || make_room(&p->values, &p->room, count) < 0) {
		free_pending(p);
		return NULL;
	}
	p->hit = record->hit;
	p->hit.stack = p->hit.goroutine = 0;
	p->hit.callers = 0;
	p->hit.values = p->values;
	p->hit.value_count = nw_planned_values(planned);
	for (size_t i = 0; i < count; i++)
		p->values[i] = (struct nw_value){.kind = NW_VALUE_MISSING, .text = "lost"};
	return p;
}

static const struct nw_point *point_of(const struct nw_join *join, uint32_t planned)
{
	const struct nw_planned_point *p = planned_of(join, planned);

	return &join->formats->plan->selection->probes.item[p->probe]
			->points.item[p->point];
}

/* Returns the bits of the parts that come: those that the kernel has not refused. */
static uint32_t all_parts(const struct nw_join *join, uint32_t planned)
{
	uint32_t refused = join->formats->armed->points.item[planned].refused;

	return (uint32_t)(((uint64_t)1 << planned_of(join, planned)->parts) - 1) & ~refused;
}

/* Returns the bits of the parts that event probes read (struct nw_planned_point). */
static uint32_t carried_parts(const struct nw_planned_point *planned)
{
	return planned->carried_part ? ~UINT32_C(0) << planned->carried_part : 0;
}

/*
 * Says of values that the kernel did not pass on, and which are not lost. Returns the other missing parts. A call whose entry
 * it has not seen passes nothing on, and neither does one that has called the function again: its entry is forgotten. Before the
 * triggers are set no hit passes anything on.
 */
static uint32_t explain_carried(const struct nw_planned_point *planned, uint32_t missing,
				struct nw_value *values)
{
	const uint32_t carried = carried_parts(planned);
	size_t i = 0;

	nw_vec_each (&planned->args, source) {
		struct nw_value *value = &values[i++];
		if (value->kind == NW_VALUE_MISSING && source->part < NW_MAX_PARTS &&
		    (carried & missing & UINT32_C(1) << source->part))
			value->text = "(unknown)"; /* as text shows it */
	}
	return missing & ~carried;
}

/* Completes a hit: no more parts will come. */
static int complete(struct nw_join *join, size_t at)
{
	struct pending **slot = nw_vec_add(&join->ready);

	if (!slot)
		return -ENOMEM;
	struct pending *p = *slot = join->waiting.item[at];
	const struct nw_planned_point *planned = planned_of(join, p->hit.planned);
	uint32_t missing = all_parts(join, p->hit.planned) & ~p->got;
	missing = explain_carried(planned, missing, p->values);
	p->missing = (uint32_t)__builtin_popcount(missing);
	for (size_t i = 0; p->strings && i < p->room; i++)
		if (planned->args.item[i].spread && p->values[i].kind == NW_VALUE_STRING)
			nw_string_finish(&planned->args.item[i],
					 (const unsigned char *)nw_buf_str(&p->strings[i]),
					 (uint32_t)p->strings[i].len, &p->values[i]);
	nw_string_lengths(planned, p->values);
	/* The other hits stay in order, the oldest first. */
	memmove(&join->waiting.item[at], &join->waiting.item[at + 1],
		(--join->waiting.count - at) * sizeof(struct pending *));
	return 0;
}

/*
 * Does the record belong to this hit? Of two hits at one place, one after the other, the first may lack the parts
 * with which the second one begins: then no part comes twice before all have come, and only the order tells the hits
 * apart.
 */
static bool same_hit(const struct nw_join *join, const struct pending *p,
		     const struct nw_record *record)
{
	const struct nw_point *mine = point_of(join, p->hit.planned);
	const struct nw_point *its = point_of(join, record->planned);
	uint32_t order = record->format->order;

	if (mine->image != its->image || mine->offset != its->offset ||
	    mine->is_return != its->is_return ||
	    (p->hit.planned == record->planned && (p->got & part_bit(record))))
		return false;
	/* Those that event probes read come behind the others, in whatever order. */
	if (carried_parts(planned_of(join, record->planned)) & part_bit(record))
		return true;
	return !(carried_parts(planned_of(join, p->hit.planned)) & p->got) &&
	       (!order || order > p->order);
}

/* Completes earlier hits of the record's thread: their missing parts are lost. */
static int complete_earlier(struct nw_join *join, const struct nw_record *record)
{
	size_t i = 0;

	while (i < join->waiting.count) {
		const struct pending *p = join->waiting.item[i];
		if (p->hit.tid != record->tid || same_hit(join, p, record))
			i++;
		else if (complete(join, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Hands out the oldest hit that is ready. It is valid until the next call. */
static int hand_out(struct nw_join *join, struct nw_hit *out)
{
	if (!join->ready.count)
		return 0;
	free_pending(join->current);
	join->current = join->ready.item[0];
	join->ready.count--;
	memmove(join->ready.item, join->ready.item + 1,
		join->ready.count * sizeof(struct pending *));
	*out = join->current->hit;
	return 1;
}

/* Returns the entry of the record's hit, made if this is its first part; -ENOMEM. */
static ssize_t entry(struct nw_join *join, const struct nw_record *record)
{
	for (size_t i = 0; i < join->waiting.count; i++)
		if (join->waiting.item[i]->hit.tid == record->tid &&
		    join->waiting.item[i]->hit.planned == record->planned)
			return (ssize_t)i;
	struct pending **slot = nw_vec_add(&join->waiting);
	if (!slot)
		return -ENOMEM;
	*slot = start(join, record);
	if (*slot)
		return (ssize_t)join->waiting.count - 1;
	join->waiting.count--;
	return -ENOMEM;
}

static nw_noinline int add_part(struct nw_join *join, const struct nw_record *record,
				struct nw_hit *out)
{
	const struct nw_planned_point *planned = planned_of(join, record->planned);
	uint32_t all = all_parts(join, record->planned);

	if (complete_earlier(join, record) < 0)
		return -ENOMEM;
	ssize_t at = entry(join, record);
	if (at < 0)
		return (int)at;
	struct pending *p = join->waiting.item[at];
	p->got |= part_bit(record);
	if (!(carried_parts(planned) & part_bit(record)))
		p->order = record->format->order;
	if (record->part == 0 && join->formats->stacks)
		add_stack(join, record, &p->hit);
	nw_record_values(join->formats, record, p->values);
	if (keep_strings(p, planned, record->part) < 0 ||
	    collect_strings(p, planned, record) < 0)
		return -ENOMEM;
	if ((p->got & all) == all && complete(join, (size_t)at) < 0)
		return -ENOMEM;
	return hand_out(join, out);
}

/* ---- all hits ----------------------------------------------------------------------- */

/* Does the record have to wait for other records, or other records for it? */
static nw_noinline bool is_involved(const struct nw_join *join,
				    const struct nw_record *record)
{
	if (!record->whole || join->ready.count)
		return true;
	for (size_t i = 0; i < join->waiting.count; i++)
		if (join->waiting.item[i]->hit.tid == record->tid)
			return true;
	return false;
}

/* Adds the stack pointer and the values of a hit of one part. */
static nw_noinline int add_values(struct nw_join *join, const struct nw_record *record,
				  struct nw_hit *out)
{
	const struct nw_planned_point *planned = planned_of(join, record->planned);
	size_t count = planned->args.count;

	if (join->formats->stacks)
		add_stack(join, record, out);
	if (!count || !join->values_wanted)
		return 1;
	if (make_room(&join->values, &join->room, count) < 0)
		return -ENOMEM;
	nw_record_values(join->formats, record, join->values);
	out->values = join->values;
	out->value_count = nw_planned_values(planned);
	return 1;
}

uint32_t nw_join_missing(const struct nw_join *join, const struct nw_hit *hit)
{
	const struct pending *p = join->current;

	return p && hit->values && hit->values == p->hit.values ? p->missing : 0;
}

const struct nw_value *nw_join_stack(const struct nw_join *join, const struct nw_hit *hit)
{
	if (!hit->values || !nw_planned_callers(planned_of(join, hit->planned)))
		return NULL;
	const struct nw_value *stack = &hit->values[hit->value_count];
	return stack->kind == NW_VALUE_STRING ? stack : NULL;
}

bool nw_join_is_idle(const struct nw_join *join)
{
	return !join->values_wanted && !join->ready.count && !join->waiting.count;
}

int nw_join_push(struct nw_join *join, const struct nw_record *record, struct nw_hit *out)
{
	if (nw_unlikely(!record->whole || join->ready.count || join->waiting.count) &&
	    is_involved(join, record))
		return add_part(join, record, out);
	/* Field by field: a copy in wide pieces would have to wait until the narrow pieces, which have just been
	 * written, are in the cache. */
	out->time = record->time;
	out->cpu = record->cpu;
	out->tid = record->tid;
	out->probe = record->probe;
	out->planned = record->planned;
	out->values = NULL;
	out->value_count = 0;
	out->callers = 0;
	/* checked for each hit, because the formats are filled after the events are armed */
	return join->values_wanted || join->formats->stacks ? add_values(join, record, out)
							    : 1;
}

int nw_join_loss(struct nw_join *join, const struct nw_record *loss, struct nw_hit *out)
{
	size_t i = 0;

	while (i < join->waiting.count) {
		if (join->waiting.item[i]->hit.cpu != loss->cpu)
			i++;
		else if (complete(join, i) < 0)
			return -ENOMEM;
	}
	return hand_out(join, out);
}

int nw_join_rest(struct nw_join *join, struct nw_hit *out)
{
	while (join->waiting.count)
		if (complete(join, 0) < 0)
			return -ENOMEM;
	return hand_out(join, out);
}

void nw_join_free(struct nw_join *join)
{
	if (!join)
		return;
	nw_vec_each (&join->waiting, p)
		free_pending(*p);
	nw_vec_each (&join->ready, p)
		free_pending(*p);
	nw_vec_free(&join->waiting);
	nw_vec_free(&join->ready);
	free_pending(join->current);
	free(join->values);
	free(join);
}
