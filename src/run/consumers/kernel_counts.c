// SPDX-License-Identifier: MIT
/* Reads what the kernel has counted, and adds it to the summary: see kernel_counts.h. */
#include "kernel_counts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream/pages/value.h"

#include "measure.h"

/* The threads of a span, or its keys, of which a map may have 131,072. */
struct threads {
	NW_VEC(struct nw_counted_thread) list;
	struct nw_hash_table numbers; /* by key */
};

/* ---- threads ------------------------------------------------------------------------ */

static struct nw_task *find_ended(const struct nw_kernel_counts *c, int32_t tid)
{
	nw_hash_each (&c->ended_numbers, nw_hash64((uint32_t)tid), at)
		if (c->ended.item[at].tid == tid)
			return &c->ended.item[at];
	return NULL;
}

/*
 * Returns what is known of a thread, whether it lives or not. The tasks of the run know no thread that has ended. What is not
 * `known` may have begun and ended in records that are not read yet.
 */
static struct nw_task task_of(const struct nw_kernel_counts *c, int32_t tid)
{
	const struct nw_task *ended = find_ended(c, tid), *task = ended;

	if (!task)
		task = nw_run_task(c->run, tid);
	struct nw_task found = task ? *task
				    : (struct nw_task){
					      .tid = tid, .pid = tid, .wanted = true};
	found.known |= ended != NULL;
	return found;
}

int nw_kernel_counts_exit(struct nw_kernel_counts *c, int32_t tid)
{
	const struct nw_task *task = c->keeps_ended && !c->closed ? nw_run_task(c->run, tid)
								  : NULL;
	/* Nothing is kept of threads that do not count; a later thread may get the number. */
	if (!task || (c->run->result->restricted && !task->wanted))
		return 0;
	struct nw_task *slot = find_ended(c, tid);
	if (!slot && (slot = nw_vec_add(&c->ended)) &&
	    nw_hash_table_add(&c->ended_numbers, nw_hash64((uint32_t)tid),
			      c->ended.count - 1) < 0)
		return -ENOMEM;
	if (!slot)
		return -ENOMEM;
	*slot = *task;
	return 0;
}

/* ---- rows --------------------------------------------------------------------------- */

enum {
	NOT_COUNTED = 1,
	NOT_YET /* what its thread is, records tell that are still to be read */
};

/* Finds the group that a row counts for, and whether it counts at all. Returns 0, one of the above, or -ENOMEM. */
static int find_group(struct nw_kernel_counts *c, const struct nw_counted_map *map,
		      const struct nw_kernel_map_row *row, struct nw_summary *summary,
		      int64_t *group)
{
	const struct nw_selection *selection = &c->run->result->selection;
	const size_t args = selection->probes.item[map->probe]->args.count;
	struct nw_hit hit = {.probe = map->probe}; /* without values it tells no argument */
	struct nw_task task = {.wanted = true};

	if (map->thread >= 0) {
		hit.tid = (int32_t)row->key[map->thread].low;
		task = task_of(c, hit.tid);
		if (c->keeps_ended && !task.known && !c->ended_all)
			return NOT_YET;
	}
	if (c->run->result->restricted && !task.wanted)
		return NOT_COUNTED;
	*group = 0;
	if (!c->by->keys.count)
		return 0;
	struct nw_value *values = calloc(args + 1, sizeof(*values));
	if (!values)
		return -ENOMEM;
	const int at = c->by_name
			       ? nw_arg_find(selection->probes.item[map->probe], c->by_name)
			       : -1;
	if (map->by >= 0 && at >= 0) {
		hit.value_count = (uint32_t)args;
		nw_value_number(&nw_kernel_counts_source(&c->run->result->plan, map->probe,
							 (size_t)at)
					 ->fetch,
				row->key[map->by].low, &values[at]);
	}
	hit.values = values;
	*group = nw_by_group(c->by, c->run, summary, &hit, &task);
	free(values);
	return *group == -ENOMEM ? -ENOMEM : 0;
}

static int add_row(struct nw_kernel_counts *c, const struct nw_counted_map *map,
		   const struct nw_kernel_map_row *row, struct nw_summary *summary)
{
	const struct nw_counted counted = nw_kernel_counts_row(map, row);
	int64_t group;
	const bool adds = map->what == NW_COUNTED_HITS || map->what == NW_COUNTED_ARG ||
			  map->what == NW_COUNTED_LATENCY;
	int ret = row->hits && adds ? find_group(c, map, row, summary, &group)
				    : NOT_COUNTED;

	if (ret == NOT_COUNTED && map->what == NW_COUNTED_HITS)
		c->others[map->probe] += row->hits;
	if (ret)
		return ret;
	switch (map->what) {
	case NW_COUNTED_HITS:
		c->hits[map->probe] += row->hits;
		c->run->result->hits += row->hits;
		return nw_summary_count_hits(summary, group, map->probe, row->hits);
	case NW_COUNTED_ARG:
		return nw_summary_count_arg(summary, group, map->probe, map->arg, &counted);
	case NW_COUNTED_LATENCY:
		return nw_summary_count_span(summary, group, map->span, &counted);
	case NW_COUNTED_STARTS:
	case NW_COUNTED_ENDS:
	case NW_COUNTED_ALL_ENDS:
		break;
	}
	return 0;
}

/* Adds what a row has got since it was read before. What does not count yet is taken out of it. */
static int add_since(struct nw_kernel_counts *c, const struct nw_counted_map *map,
		     const struct nw_kernel_map_row *before, struct nw_kernel_map_row *now,
		     struct nw_summary *summary)
{
	struct nw_kernel_map_row row = *now;

	if (before) {
		row.hits -= nw_min64(row.hits, before->hits);
		row.sum -= before->sum;
	}
	int ret = add_row(c, map, &row, summary);
	if (ret == NOT_YET) {
		now->hits -= row.hits;
		now->sum -= row.sum;
	}
	return ret < 0 ? ret : 0;
}

/* Adds what a map has got since it was read before; `now` takes the place of that. */
static int add_map(struct nw_kernel_counts *c, struct nw_counted_map *map,
		   struct nw_summary *summary)
{
	const struct nw_kernel_map *before = &map->before;
	struct nw_kernel_map *now = &map->now;
	size_t old = 0;
	int ret = 0;

	nw_kernel_map_sort(now);
	for (size_t i = 0; ret == 0 && i < now->rows.count; i++) {
		struct nw_kernel_map_row *row = &now->rows.item[i];
		while (old < before->rows.count &&
		       nw_kernel_map_compare(&before->rows.item[old], row) < 0)
			old++;
		const bool same = old < before->rows.count &&
				  nw_kernel_map_compare(&before->rows.item[old], row) == 0;
		ret = add_since(c, map, same ? &before->rows.item[old] : NULL, row,
				summary);
	}
	if (now->dropped > before->dropped)
		c->dropped += map->what == NW_COUNTED_ARG ||
					      map->what == NW_COUNTED_ALL_ENDS
				      ? 0
				      : now->dropped - before->dropped;
	map->dropped |= now->dropped > 0;
	nw_vec_free(&map->before.rows);
	map->before = *now;
	*now = (struct nw_kernel_map){0};
	return ret;
}

/* Reads the maps of one event. */
static int read_file(struct nw_kernel_counts *c, size_t file, struct nw_error *err)
{
	const struct nw_counted_file *from = &c->files.item[file];
	nw_kernel_maps maps = {0};
	int ret = nw_run_read_maps(c->run, from->synthetic, from->event, &maps);

	nw_vec_each (&c->maps, map) {
		if (ret < 0 || map->file != file)
			continue;
		struct nw_kernel_map *now = nw_kernel_map_find(&maps, map->keys,
							       map->filter, map->mark);
		if (!now || now->rows.count > map->size) {
			ret = now ? -EBADMSG : -ENOENT;
			continue;
		}
		nw_vec_free(&map->now.rows);
		map->now = *now;
		map->now.info = NULL;
		*now = (struct nw_kernel_map){.info = now->info};
	}
	nw_kernel_maps_free(&maps);
	if (ret == -ENOENT) /* the report says less, and why */
		return nw_fail(
			err, ENOENT,
			nw_run_session(c->run)
				? "another program has removed triggers of %s, by which the kernel counts"
				: "what the kernel has counted is not all in the text: a map of %s is missing, since lines were cut out, or since another program had removed its trigger",
			from->event);
	return ret < 0 ? nw_fail(err, -ret,
				 "cannot read what the kernel has counted (%s): %s",
				 from->event, nw_strerror(-ret))
		       : 0;
}

/* ---- starts and ends without the other ---------------------------------------------- */

static struct nw_counted_thread *thread_of(struct threads *threads,
					   const uint64_t key[NW_KERNEL_MAP_KEYS])
{
	uint64_t hash = 0;

	for (size_t i = 0; i < NW_KERNEL_MAP_KEYS; i++)
		hash = nw_hash64(hash + key[i]);
	nw_hash_each (&threads->numbers, hash, at) {
		struct nw_counted_thread *known = &threads->list.item[at];
		if (memcmp(known->key, key, sizeof(known->key)) == 0)
			return known;
	}
	struct nw_counted_thread *thread = nw_vec_add(&threads->list);
	if (!thread ||
	    nw_hash_table_add(&threads->numbers, hash, threads->list.count - 1) < 0)
		return NULL;
	memcpy(thread->key, key, sizeof(thread->key));
	return thread;
}

static void free_threads(struct threads *threads)
{
	nw_vec_free(&threads->list);
	nw_hash_table_free(&threads->numbers);
}

static bool holds(const nw_vec_u32 *probes, uint32_t probe)
{
	nw_vec_each (probes, item)
		if (*item == probe)
			return true;
	return false;
}

/* Adds the rows of a map to the counts of a span's threads. */
static int count_threads(const struct nw_kernel_counts *c, uint32_t span,
			 const struct nw_counted_map *map, struct threads *threads)
{
	const struct nw_span_def *def = &c->spans->item[span];
	const bool keyed = nw_kernel_counts_by_key(c, span);
	const bool hits = map->what == NW_COUNTED_HITS && !keyed, own = map->span == span;
	const bool starts = (hits && holds(&def->starts, map->probe)) ||
			    (keyed && own && map->what == NW_COUNTED_STARTS);
	const bool ends = (hits && holds(&def->ends, map->probe)) ||
			  (own && map->what == NW_COUNTED_ALL_ENDS);
	const bool matched = map->what == NW_COUNTED_ENDS && own;

	if (!starts && !ends && !matched)
		return 0;
	nw_vec_each (&map->before.rows, row) {
		uint64_t key[NW_KERNEL_MAP_KEYS] = {0};
		for (size_t i = 0; i < (keyed ? NW_KERNEL_MAP_KEYS : 1); i++)
			key[i] = row->key[keyed ? (int)i : map->thread].low;
		struct nw_counted_thread *thread = thread_of(threads, key);
		if (!thread)
			return -ENOMEM;
		thread->starts += starts ? row->hits : 0;
		thread->ends += ends ? row->hits : 0;
		thread->matched += matched ? row->hits : 0;
	}
	return 0;
}

/*
 * A start that is followed by another one of its thread is lost: the kernel keeps one a thread. If nested spans are the reason, the
 * inner end takes the inner start, and the outer end finds none. A span that was open when the run began, and one when it ended,
 * look alike, once a thread; so do hits that the kernel's maps have dropped, which the report tells.
 */
static uint64_t nested_times(const struct nw_kernel_counts *c,
			     const struct nw_counted_thread *thread)
{
	const uint64_t lost = thread->starts - nw_min64(thread->starts, thread->matched);
	const uint64_t missed = thread->ends - nw_min64(thread->ends, thread->matched);
	const uint64_t both = nw_min64(lost, missed),
		       times = both - nw_min64(both, c->dropped);

	return times > 1 || (times && nw_run_child(c->run) && c->run->result->restricted)
		       ? times
		       : 0;
}

/*
 * Adds what lacks its start or its end in one frame to the counts of the thread. Probes in one function may still be hit in different
 * frames, where one call ends what another one has begun; then each end lacks its start.
 */
static int add_misfits(const struct nw_kernel_counts *c, uint32_t span,
		       const struct nw_counted_thread *frame, struct threads *threads)
{
	const uint64_t key[NW_KERNEL_MAP_KEYS] = {frame->key[0]};

	if (!c->framed[span] || c->spans->item[span].call)
		return 0;
	struct nw_counted_thread *thread = thread_of(threads, key);
	if (!thread)
		return -ENOMEM;
	thread->starts += frame->starts - nw_min64(frame->starts, frame->matched);
	thread->ends += frame->ends - nw_min64(frame->ends, frame->matched);
	return 0;
}

static int count_unmatched(struct nw_kernel_counts *c, uint32_t span,
			   struct nw_summary *summary)
{
	struct threads threads = {0}, misfits = {0};
	const struct nw_span_def *def = &c->spans->item[span];
	const bool keyed = nw_kernel_counts_keyed(def);
	const struct nw_counted_map of = {
		.probe = def->starts.item[0], .thread = keyed ? -1 : 0, .by = -1};
	int ret = 0;

	nw_vec_each (&c->maps, map)
		if (ret == 0)
			ret = count_threads(c, span, map, &threads);
	nw_vec_each (&threads.list, thread) {
		struct nw_kernel_map_row row = {.key[0] = {thread->key[0], thread->key[0]}};
		int64_t group;
		int found = ret < 0 ? ret : find_group(c, &of, &row, summary, &group);
		if (found == 0) {
			c->nested_times += nested_times(c, thread);
			found = nw_summary_count_unmatched(
				summary, group, span,
				thread->starts - nw_min64(thread->starts, thread->matched),
				thread->ends - nw_min64(thread->ends, thread->matched));
			if (found == 0)
				found = add_misfits(c, span, thread, &misfits);
		}
		ret = found < 0 ? found : ret;
		if (c->nested_times && !c->nested)
			c->nested = def;
	}
	nw_vec_each (&c->maps, map)
		if (keyed && map->span == span && map->what == NW_COUNTED_ENDS &&
		    (c->others[map->probe] || c->others[def->starts.item[0]]))
			c->mixed = def;
	nw_vec_each (&misfits.list, thread)
		if (nested_times(c, thread))
			c->misfit = def;
	free_threads(&threads);
	free_threads(&misfits);
	return ret;
}

/* ---- reading ------------------------------------------------------------------------ */

/*
 * Tells the user whether rows are too low because the kernel has dropped hits: a map was full, or another CPU had not yet made the
 * row when the second one gave up waiting for it (kernel/trace/tracing_map.c, __tracing_map_insert(), since Linux 4.17).
 */
static void tell_dropped(const struct nw_kernel_counts *c)
{
	nw_vec_each (&c->maps, map)
		if (map->dropped && map->what == NW_COUNTED_ARG)
			nw_run_notice(
				c->run,
				"some values of an argument of %s are not counted: the kernel's map is full, or two CPUs made one row at once (--engine=stream counts all)",
				c->run->result->selection.probes.item[map->probe]->label);
	if (c->dropped)
		nw_run_notice(
			c->run,
			nw_plural(
				c->dropped,
				"%ju hit is not counted in the rows: the kernel's maps are full, or two CPUs made one row at once (--engine=stream counts all)",
				"%ju hits are not counted in the rows: the kernel's maps are full, or two CPUs made one row at once (--engine=stream counts all)"),
			(uintmax_t)c->dropped);
}

/*
 * Latencies are read first, then the ends and then the starts, since hits go on meanwhile: no span that is counted lacks its
 * start. The files of synthetic events are the last that were made.
 */
int nw_kernel_counts_read(struct nw_kernel_counts *c, struct nw_error *err)
{
	int ret = 0;

	for (size_t i = c->files.count; !c->closed && ret == 0 && i-- > 0;)
		ret = read_file(c, i, err);
	return ret;
}

/* Before the maps are added, every thread counts of which it is not known that it does not. */
uint64_t nw_kernel_counts_hits(const struct nw_kernel_counts *c, uint32_t probe)
{
	uint64_t hits = 0;

	if (c->closed)
		return c->hits[probe];
	nw_vec_each (&c->maps, map) {
		if (map->what != NW_COUNTED_HITS || map->probe != probe)
			continue;
		nw_vec_each (&map->now.rows, row) {
			const struct nw_task task = task_of(
				c, (int32_t)row->key[map->thread].low);
			hits += !c->run->result->restricted || task.wanted || !task.known
					? row->hits
					: 0;
		}
	}
	return nw_max64(hits, c->hits[probe]);
}

int nw_kernel_counts_add(struct nw_kernel_counts *c, struct nw_summary *summary, bool last,
			 struct nw_error *err)
{
	int ret = 0;

	if (c->closed)
		return 0;
	c->ended_all = last;
	nw_vec_each (&c->maps, map)
		ret = ret == 0 ? add_map(c, map, summary) : ret;
	c->closed = last;
	if (last)
		nw_run_note_uncounted(c->run, c->dropped);
	for (uint32_t i = 0; last && ret == 0 && i < c->spans->count; i++)
		ret = count_unmatched(c, i, summary);
	if (last)
		tell_dropped(c);
	return ret < 0 ? nw_no_memory(err) : 0;
}

int nw_kernel_counts_check(const struct nw_kernel_counts *c, struct nw_error *err)
{
	if (c->mixed) {
		nw_fail(err, ENOTSUP,
			"--engine=kernel: other processes hit the probes of the span %s, too, and their keys may be those of the traced ones",
			c->mixed->name);
		nw_error_hint(
			err,
			"--engine=stream tells them apart; --all counts all processes");
		return -ENOTSUP;
	}
	if (c->misfit && !c->nested) {
		nw_fail(err, ENOTSUP,
			"--engine=kernel: the span %s does not begin and end in one call of its function, as its probes suggest: by call frames its ends have no starts",
			c->misfit->name);
		nw_error_hint(
			err,
			"--engine=stream finds that out; or say that it does not nest, in --span: ...,nest=no");
		return -ENOTSUP;
	}
	if (!c->nested)
		return 0;
	const size_t span = (size_t)(c->nested - c->spans->item);
	const bool framed = c->framed[span], keyed = nw_kernel_counts_keyed(c->nested);
	nw_fail(err, ENOTSUP,
		nw_plural(
			c->nested_times,
			"--engine=kernel: the span %s began again before it had ended, %s, %ju time: the kernel keeps one start a %s, so its latencies are wrong",
			"--engine=kernel: the span %s began again before it had ended, %s, %ju times: the kernel keeps one start a %s, so its latencies are wrong"),
		c->nested->name,
		keyed	 ? "with one key"
		: framed ? "in one call frame"
			 : "in one thread",
		(uintmax_t)c->nested_times,
		keyed	 ? "key"
		: framed ? "call frame"
			 : "thread");
	nw_error_hint(err, "--engine=stream times nested and recursive spans");
	return -ENOTSUP;
}

void nw_kernel_counts_close(struct nw_kernel_counts *c)
{
	nw_triggers_free(&c->triggers);
	nw_vec_each (&c->maps, map) {
		free(map->keys);
		free(map->filter);
		nw_vec_free(&map->before.rows);
		nw_vec_free(&map->now.rows);
	}
	nw_vec_free(&c->maps);
	nw_vec_each (&c->files, file)
		free(file->event);
	nw_vec_free(&c->files);
	nw_vec_free(&c->ended);
	nw_hash_table_free(&c->ended_numbers);
	free(c->event_file);
	free(c->framed);
	free(c->events);
	free(c->hits);
	free(c->others);
	*c = (struct nw_kernel_counts){0};
}

/* ---- the kernel counts -------------------------------------------------------------- */

/* Counts that are kept cannot be counted anew. Returns the first option that asks for it; NULL: there is none. */
static const char *asks_for_more(const struct nw_measure_options *options)
{
	return options->by	      ? "--by"
	       : options->span_count  ? "--span"
	       : options->hist_count  ? "--hist"
	       : options->interval_ns ? "-i"
				      : NULL;
}

int nw_measure_take_kept(struct nw_measure *m, const struct nw_kept *kept,
			 struct nw_error *err)
{
	const char *more = asks_for_more(&m->options);

	if (more)
		return nw_fail_usage(
			err,
			"what the kernel has counted is shown as it was begun: %s was to be said to `nopwatch add` or `nopwatch script`",
			more);
	if (m->options.bins && m->options.spare_bins) {
		nw_fail_usage(err,
			      "what the kernel has counted has no times to be shown live");
		nw_error_hint(err, "`nopwatch report` shows it");
		return -EINVAL;
	}
	if (kept->by && nw_strings_add(&m->uses, kept->by, strlen(kept->by)) < 0)
		return nw_no_memory(err);
	m->options.by = kept->by ? m->uses.item[m->uses.count - 1] : NULL;
	m->options.spans = (const char *const *)kept->spans.item;
	m->options.span_count = kept->spans.count;
	m->options.hist_count = kept->hists.count;
	int ret = nw_by_parse(kept->by, m->by, err);
	nw_vec_each (&kept->hists, hist)
		ret = ret == 0 ? nw_hist_parse(*hist, &m->hists, err) : ret;
	return ret;
}

static uint64_t counted_by_kernel(void *arg, size_t probe)
{
	return nw_kernel_counts_hits(((struct nw_measure *)arg)->counts, (uint32_t)probe);
}

int nw_measure_count(void *arg, struct nw_run *run, const struct nw_triggers **out,
		     struct nw_error *err)
{
	struct nw_measure *m = arg;

	if (m->counts) /* a script asks for several kernels */
		nw_kernel_counts_close(m->counts);
	free(m->counts);
	m->counts = calloc(1, sizeof(*m->counts));
	int ret = m->counts ? nw_kernel_counts_open(m, run, m->counts, err)
			    : nw_no_memory(err);
	if (ret == 0) {
		*out = &m->counts->triggers;
		run->consumer.counted = counted_by_kernel;
		run->result->by_eighths = !m->counts->buckets;
		m->options.bins = false;
		nw_summary_spare_bins(m->summary);
		return 0;
	}
	if (m->counts)
		nw_kernel_counts_close(m->counts);
	free(m->counts);
	m->counts = NULL;
	return ret;
}

void nw_measure_stopping(void *arg, struct nw_run *run)
{
	struct nw_measure *m = arg;

	(void)run;
	if (m->counts)
		(void)nw_kernel_counts_read(m->counts, &m->failure);
}

void nw_measure_stopped(void *arg)
{
	struct nw_measure *m = arg;

	if (m->counts && !m->failure.code)
		(void)nw_kernel_counts_add(m->counts, m->summary, true, &m->failure);
}

int nw_measure_refresh(struct nw_measure *m, struct nw_error *err)
{
	int ret = m->counts ? nw_kernel_counts_read(m->counts, err) : 0;

	return m->counts && ret == 0
		       ? nw_kernel_counts_add(m->counts, m->summary, false, err)
		       : ret;
}

int nw_measure_check_counts(const struct nw_measure *m, struct nw_error *err)
{
	if (!m->counts || !m->failure.code)
		return m->counts ? nw_kernel_counts_check(m->counts, err) : 0;
	*err = m->failure;
	return -err->code;
}
