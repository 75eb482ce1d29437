// SPDX-License-Identifier: MIT
/* The slowest spans, kept whole: the slowest span of each slice of time, and the slowest of the whole run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bins_private.h"

/* Copies a hit. Strings are cut to NW_BINS_STRING bytes. */
static struct nw_hit *copy_of(const struct nw_hit *hit)
{
	size_t count = hit->values ? hit->value_count : 0;
	nw_cleanup(nw_free_ptr) struct nw_value *values = malloc(count * sizeof(*values) +
								 1);
	struct nw_hit shorter = *hit;

	if (!values)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		values[i] = hit->values[i];
		if (values[i].kind != NW_VALUE_STRING || values[i].len <= NW_BINS_STRING)
			continue;
		values[i].len = NW_BINS_STRING;
		values[i].cut = true;
	}
	shorter.values = count ? values : NULL;
	shorter.value_count = (uint32_t)count;
	return nw_hit_copy(&shorter);
}

/* ---- what is kept ------------------------------------------------------------------- */

static uint64_t length_of(const struct nw_exemplar *span)
{
	return span->latency;
}

static size_t bytes_of(const struct nw_exemplar *span)
{
	const struct nw_hit *both[] = {span->began.hit, span->ended.hit};
	size_t bytes = sizeof(*span);

	for (size_t i = 0; i < NW_COUNT(both); i++)
		for (size_t j = 0; both[i] && j < both[i]->value_count; j++) {
			const struct nw_value *value = &both[i]->values[j];
			bytes += sizeof(*value);
			if (value->kind == NW_VALUE_STRING)
				bytes += value->len;
			else if (value->kind == NW_VALUE_ARRAY)
				bytes += (size_t)value->len * (value->bits / 8);
		}
	return bytes;
}

static void free_span(struct nw_exemplar *span)
{
	free(span->began.hit);
	free(span->ended.hit);
	free(span);
}

static unsigned int slice_of(const struct nw_bins *b, uint64_t time)
{
	uint64_t since = time - nw_min64(time, b->options.start);

	/* A late span counts in the current slice, which is not far away. */
	return (unsigned int)nw_min64(since / b->width, NW_BINS_MOST - 1) >> b->slice_shift;
}

static int slowest_first(const void *a, const void *b)
{
	uint64_t x = length_of(*(struct nw_exemplar *const *)a);
	uint64_t y = length_of(*(struct nw_exemplar *const *)b);

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Drops the spans of a series that are not kept any more, and computes which spans are worth keeping from now on. */
static void judge(struct nw_bins *b, struct nw_bin_series *s)
{
	bool has[NW_BINS_MOST] = {false};
	uint64_t here = 0, last = 0;
	size_t kept = 0;

	if (s->slowest.count > 1)
		qsort(s->slowest.item, s->slowest.count, sizeof(*s->slowest.item),
		      slowest_first);
	for (size_t i = 0; i < s->slowest.count; i++) {
		struct nw_exemplar *span = s->slowest.item[i];
		unsigned int slice = slice_of(b, span->end);
		if (i >= b->slowest && has[slice]) {
			b->kept_bytes -= bytes_of(span);
			free_span(span);
			continue;
		}
		if (!has[slice] && slice == b->current >> b->slice_shift)
			here = length_of(span);
		if (i + 1 == b->slowest)
			last = length_of(span);
		has[slice] = true;
		s->slowest.item[kept++] = span;
	}
	s->slowest.count = kept;
	s->least = nw_min64(here, last);
	if (s->group == 0)
		b->least[s->number] = s->least;
}

void nw_slowest_judge(struct nw_bins *b)
{
	nw_vec_each (&b->series, it)
		if ((*it)->slowest.count)
			judge(b, *it);
}

/* Reduces memory: first fewer slices, then fewer of the slowest spans of the run. The slowest span always stays. */
static void keep_less(struct nw_bins *b)
{
	while (b->kept_bytes > NW_BINS_BYTES && b->slowest) {
		if (NW_BINS_MOST >> b->slice_shift > 1)
			b->slice_shift++;
		else
			b->slowest /= 2;
		nw_slowest_judge(b);
	}
}

/* Returns false without memory. */
static bool keep_hit(const struct nw_bins *b, const struct nw_hit *hit,
		     struct nw_exemplar_hit *out)
{
	out->hit = copy_of(hit);
	const struct nw_task *task = b->options.task ? b->options.task(b->options.task_arg,
								       hit->tid)
						     : NULL;
	if (task) {
		out->pid = task->pid;
		memcpy(out->comm, task->comm, sizeof(out->comm));
	}
	return out->hit != NULL;
}

/* Makes a start hit from the event of a span's end. For a span keyed by thread it has everything but the values. */
static struct nw_hit start_of(const struct nw_bins *b, const struct nw_span_event *event)
{
	const struct nw_span_def *def = &b->options.spans[event->span];

	return (struct nw_hit){
		.time = event->start,
		.cpu = event->cpu,
		.tid = event->hit->tid,
		.probe = def->starts.count == 1 ? def->starts.item[0] : NW_BINS_UNKNOWN,
	};
}

int nw_slowest_add(struct nw_bins *b, struct nw_bin_series *s, const struct nw_hit *began,
		   const struct nw_span_event *event)
{
	const struct nw_hit start = start_of(b, event);
	if (!began && b->options.spans[event->span].key == NW_KEY_TID)
		began = &start;
	struct nw_exemplar *span = calloc(1, sizeof(*span));
	bool ok = span && keep_hit(b, event->hit, &span->ended) &&
		  (!began || keep_hit(b, began, &span->began));
	struct nw_exemplar **place = ok ? nw_vec_add(&s->slowest) : NULL;

	if (!place) {
		if (span)
			free_span(span);
		return -ENOMEM;
	}
	span->start = event->start;
	span->end = event->hit->time;
	span->latency = event->latency;
	span->has_states = event->states != NULL;
	if (event->states)
		memcpy(span->states, event->states->ns, sizeof(span->states));
	*place = span;
	b->kept_bytes += bytes_of(span);
	judge(b, s);
	keep_less(b);
	return 0;
}

void nw_slowest_free(struct nw_bin_series *s)
{
	nw_vec_each (&s->slowest, span)
		free_span(*span);
	nw_vec_free(&s->slowest);
}
