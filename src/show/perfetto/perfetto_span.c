// SPDX-License-Identifier: MIT
/* Spans of a Perfetto trace: which track each is on, and when it can be written. */
#include <stdlib.h>
#include <string.h>

#include "perfetto.h"

enum {
	MOST_OPEN =
		4096, /* open spans of a thread, and of all other keys together; beyond it the oldest are forgotten */
};

/* ---- spans -------------------------------------------------------------------------- */

/* Is the thread the key of the span? A goroutine's span may begin on one thread and end on another. */
static bool is_by_thread(const struct nw_pf *p, uint32_t span)
{
	const struct nw_span_def *def = &p->run.spans[span];

	return def->key == NW_KEY_TID && !def->goroutines &&
	       (!*def->end_key_name || def->end_key == NW_KEY_TID);
}

/* Doubles the rows: the old tree becomes the left half of the new one, level by level. */
static bool add_rows(nw_pf_rows *rows)
{
	size_t count = rows->count ? 2 * rows->count : 1;
	uint64_t *ends = calloc(2 * count, sizeof(*ends));

	if (!ends)
		return false;
	for (size_t level = 1; level < count; level *= 2)
		memcpy(ends + 2 * level, rows->ends + level, level * sizeof(*ends));
	free(rows->ends);
	*rows = (nw_pf_rows){.ends = ends, .count = count};
	return true;
}

static void set_row(nw_pf_rows *rows, size_t row, uint64_t end)
{
	size_t at = rows->count + row;

	if (rows->count)
		rows->ends[at] = end;
	for (; at > 1; at /= 2)
		rows->ends[at / 2] = nw_min64(rows->ends[at], rows->ends[at ^ 1]);
}

/* Returns the first row that is free when this slice begins; makes one if there is none. */
static size_t row_for(struct nw_buf *out, nw_pf_rows *rows, uint64_t start, uint64_t end,
		      bool *fresh)
{
	size_t at = 1;

	*fresh = false;
	if ((!rows->count || rows->ends[1] > start) && !add_rows(rows)) {
		out->failed = true;
		return 0;
	}
	while (at < rows->count)
		at = 2 * at + (rows->ends[2 * at] > start);
	*fresh = !rows->ends[at];
	set_row(rows, at - rows->count, end);
	return at - rows->count;
}

/* Returns the track for a span that has ended: the thread's track, unless a later span of it is still open. Of two
 * spans that began at the same time, Perfetto takes the one that is written first for the outer one. */
static uint64_t track_of(struct nw_buf *out, struct nw_pf *p, struct nw_pf_thread *thread,
			 const struct nw_pf_started *it, uint64_t end)
{
	/* Nobody says that spans that are handed over nest. */
	bool nests = !p->run.spans[it->span].unit_ns;

	nw_vec_each (&thread->open, other)
		nests &= other == it || other->start < it->start;
	if (nests)
		return nw_pf_thread_track(thread);
	bool fresh;
	size_t row = row_for(out, &thread->beside, it->start, end, &fresh);
	uint64_t uuid = nw_pf_track(TRACK_BESIDE_THREAD, (uint32_t)thread->tid, row);
	if (fresh)
		nw_pf_name_track(out, uuid, nw_pf_thread_track(thread),
				 p->run.spans[it->span].name, false);
	return uuid;
}

/* Returns the track for a span of a group. The group may be known only at its end. */
static uint64_t group_track(struct nw_output *output, const struct nw_pf_started *it,
			    const struct nw_span_event *event)
{
	struct nw_pf *p = output->state;
	size_t group = (size_t)event->group;
	bool fresh;

	while (p->groups.count <= group)
		if (!nw_vec_add(&p->groups)) {
			output->text.failed = true;
			return 0;
		}
	size_t row = row_for(&output->text, &p->groups.item[group], it->start,
			     event->hit->time, &fresh);
	uint64_t uuid = nw_pf_track(TRACK_OF_GROUP, group, row);
	if (fresh) {
		struct nw_buf name = {0};
		nw_buf_printf(&name, "%s ", p->run.group_by);
		nw_buf_adds(&name, nw_summary_group_name(p->run.summary, group));
		for (size_t i = 0; i < name.len; i++)
			if (name.data[i] == NW_GROUP_SEPARATOR)
				name.data[i] = ',';
		nw_pf_name_track(&output->text, uuid, 0, nw_buf_str(&name), false);
		output->text.failed |= name.failed;
		nw_buf_free(&name);
	}
	return uuid;
}

/* Takes the first free row for a span whose key is not the thread. */
static size_t take_row(struct nw_output *output, uint32_t span)
{
	struct nw_pf *p = output->state;
	bool fresh;
	size_t row = row_for(&output->text, &p->rows[span], 1, UINT64_MAX, &fresh);

	if (fresh)
		nw_pf_name_track(&output->text, nw_pf_track(TRACK_OF_SPAN, span, row), 0,
				 p->run.spans[span].name, false);
	return row;
}

static void begin_slice(struct nw_buf *out, const struct nw_pf *p,
			const struct nw_pf_started *it, uint64_t track)
{
	const struct nw_span_def *def = &p->run.spans[it->span];
	struct nw_pf_event event = nw_pf_open(out, it->start, TYPE_BEGIN, track);

	nw_pb_string(out, EVENT_CATEGORIES, "span", 4);
	nw_pb_string(out, EVENT_NAME, def->name, strlen(def->name));
	nw_buf_add(out, nw_buf_str(&it->args), it->args.len);
	nw_pf_close(out, event);
}

static struct nw_pf_started *find_started(const nw_pf_open_spans *list,
					  const struct nw_span_event *event)
{
	/* the latest first, because most spans end in that order */
	for (size_t i = list->count; i-- > 0;)
		if (list->item[i].span == event->span &&
		    list->item[i].start == event->start && list->item[i].key == event->key)
			return &list->item[i];
	return NULL;
}

static void remove_started(struct nw_pf *p, nw_pf_open_spans *list,
			   struct nw_pf_started *it)
{
	if (list == &p->open)
		set_row(&p->rows[it->span], it->row, 1);
	nw_buf_free(&it->args);
	memmove(it, it + 1, (size_t)(list->item + list->count - it - 1) * sizeof(*it));
	list->count--;
}

/* Returns the event of a hit that begins or ends a span. Hits of spans by thread were written just before; others may
 * be of threads that are not shown. */
static struct nw_event_line line_of(const struct nw_pf *p,
				    const struct nw_span_event *event)
{
	return (struct nw_event_line){
		.probe = p->run.selection->probes.item[event->hit->probe],
		.hit = event->hit,
		.task = p->line.task,
	};
}

static void span_begins(struct nw_output *output, const struct nw_span_event *event)
{
	struct nw_pf *p = output->state;
	const struct nw_event_line line = line_of(p, event);
	bool by_thread = is_by_thread(p, event->span);
	struct nw_pf_thread *thread = by_thread ? nw_pf_thread(output, &line) : NULL;
	nw_pf_open_spans *list = thread ? &thread->open : &p->open;

	if (by_thread && !thread)
		return;
	if (list->count == MOST_OPEN)
		remove_started(p, list, list->item);
	struct nw_pf_started *it = nw_vec_add(list);
	if (!it) {
		output->text.failed = true;
		return;
	}
	it->span = event->span;
	it->key = event->key;
	it->start = event->start;
	nw_pf_side(&it->args, "start", &line);
	output->text.failed |= it->args.failed;
	if (!by_thread)
		it->row = take_row(output, event->span);
}

static void write_slice(struct nw_output *output, const struct nw_pf_started *it,
			uint64_t track, const struct nw_span_event *event)
{
	struct nw_pf *p = output->state;
	const struct nw_event_line line = line_of(p, event);

	begin_slice(&output->text, p, it, track);
	struct nw_pf_event end = nw_pf_open(&output->text, event->hit->time, TYPE_END,
					    track);
	nw_pf_side(&output->text, "end", &line);
	if (p->run.net)
		nw_pf_note_number(&output->text, "net_ns", event->latency);
	nw_pf_close(&output->text, end);
}

static void span_ends(struct nw_output *output, const struct nw_span_event *event)
{
	struct nw_pf *p = output->state;
	const struct nw_event_line line = line_of(p, event);
	struct nw_pf_thread *thread = is_by_thread(p, event->span)
					      ? nw_pf_thread(output, &line)
					      : NULL;
	nw_pf_open_spans *list = thread ? &thread->open : &p->open;
	struct nw_pf_started handed = {
		.span = event->span, .key = event->key, .start = event->start};
	struct nw_pf_started *it = p->run.spans[event->span].unit_ns
					   ? &handed
					   : find_started(list, event);
	uint64_t track;

	if (!it)
		return;
	if (p->run.group_by && event->group >= 0)
		track = group_track(output, it, event);
	else if (thread)
		track = track_of(&output->text, p, thread, it, event->hit->time);
	else
		track = nw_pf_track(TRACK_OF_SPAN, event->span, it->row);
	write_slice(output, it, track, event);
	if (it != &handed)
		remove_started(p, list, it);
}

/* Writes a start without an end: as an open slice if the run has ended, otherwise as a mark. */
static void never_ends(struct nw_output *output, const struct nw_span_event *event,
		       const struct nw_pf_started *it, uint64_t track)
{
	struct nw_pf *p = output->state;

	if (event->moment == NW_SPAN_STILL_OPEN)
		begin_slice(&output->text, p, it, track);
	else
		nw_pf_instant(&output->text, it->start, track, p->run.spans[it->span].name,
			      event->why, NULL, &it->args);
}

static void span_is_gone(struct nw_output *output, const struct nw_span_event *event)
{
	struct nw_pf *p = output->state;
	/* idle threads have negative keys, by CPU */
	const int32_t key = (int32_t)event->key;
	struct nw_pf_thread *thread = is_by_thread(p, event->span)
					      ? nw_pf_find_thread(p, key < 0 ? 0 : key)
					      : NULL;
	nw_pf_open_spans *list = thread ? &thread->open : &p->open;
	struct nw_pf_started *it = find_started(list, event);

	if (!it)
		return;
	never_ends(output, event, it,
		   thread ? nw_pf_thread_track(thread)
			  : nw_pf_track(TRACK_OF_SPAN, it->span, it->row));
	remove_started(p, list, it);
}

void nw_pf_span(struct nw_output *output, const struct nw_span_event *event)
{
	struct nw_pf *p = output->state;
	struct nw_event_line line;
	struct nw_pf_thread *thread;

	switch (event->moment) {
	case NW_SPAN_BEGINS:
		span_begins(output, event);
		break;
	case NW_SPAN_ENDS:
		span_ends(output, event);
		break;
	case NW_SPAN_ENDS_NOTHING:
		/* an end of some other key says nothing of whose it is; a call's is its thread's */
		line = line_of(p, event);
		thread = is_by_thread(p, event->span) ||
					 p->run.spans[event->span].goroutines
				 ? nw_pf_thread(output, &line)
				 : NULL;
		if (thread)
			nw_pf_instant(&output->text, event->hit->time,
				      nw_pf_thread_track(thread), line.probe->label,
				      event->why, &line, NULL);
		break;
	case NW_SPAN_NEVER_ENDS:
	case NW_SPAN_STILL_OPEN:
		span_is_gone(output, event);
		break;
	}
}

void nw_pf_free_started(struct nw_pf_started *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		nw_buf_free(&list[i].args);
}
