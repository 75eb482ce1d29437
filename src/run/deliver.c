// SPDX-License-Identifier: MIT
/* Turns records into hits for the consumer, in the same way for all sources. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "observed.h"
#include "run.h"

bool nw_run_is_return(const struct nw_run *run, size_t probe)
{
	const struct nw_probe *p = run->result->selection.probes.item[probe];

	return p->points.count && p->points.item[0].is_return;
}

static int find_returns(struct nw_run *run)
{
	size_t probes = run->result->selection.probes.count;
	bool *returns = calloc(probes + 1, sizeof(*returns));
	bool any = false;

	if (!returns)
		return -ENOMEM;
	for (size_t i = 0; i < probes; i++) {
		returns[i] = nw_run_is_return(run, i);
		any |= returns[i];
	}
	if (any)
		run->delivery.is_return = returns;
	else
		free(returns);
	return 0;
}

int nw_run_open_counts(struct nw_run *run, struct nw_error *err)
{
	size_t probes = run->result->selection.probes.count;

	run->delivery.probe_hits = calloc(probes + 1, sizeof(*run->delivery.probe_hits));
	if (run->delivery.filter)
		run->delivery.probe_filtered = calloc(
			probes + 1, sizeof(*run->delivery.probe_filtered));
	if (!run->delivery.probe_hits ||
	    (run->delivery.filter && !run->delivery.probe_filtered) ||
	    find_returns(run) < 0)
		return nw_no_memory(err);
	bool live = run->source->live;
	/* The scheduler's events are hidden unless the user asks for them, which is not possible for a recording or
	 * text. */
	if (run->consumer.needs.scheduler)
		nw_vec_each (&run->result->selection.probes, probe)
			if (nw_is_scheduler_probe(*probe) &&
			    !(live && nw_request_names(run->request, *probe)))
				(*probe)->hidden = true;
	run->delivery.hides = run->consumer.needs.descriptors && live;
	nw_vec_each (&run->result->selection.probes, probe)
		run->delivery.hides |= (*probe)->hidden && nw_is_descriptor_probe(*probe);
	return run->delivery.filter
		       ? nw_filter_bind(run->delivery.filter, &run->result->selection, err)
		       : 0;
}

int nw_run_open_join(struct nw_run *run)
{
	/* the addresses of goroutines are those of a process */
	run->delivery.goroutines = run->consumer.needs.stacks &&
				   nw_plan_has_goroutines(&run->result->plan);
	run->delivery.needs_tasks = run->result->restricted || run->consumer.needs.comms ||
				    run->delivery.goroutines || run->delivery.stacks ||
				    (run->delivery.filter &&
				     nw_filter_names_tasks(run->delivery.filter));
	return nw_join_open(&run->delivery.formats, nw_run_wants_values(run),
			    &run->delivery.join);
}

/* Is there a hit of several records whose order in the kernel is unknown? */
static bool is_order_unknown(const struct nw_armed *armed)
{
	nw_vec_each (&armed->events, event)
		nw_vec_each (&(*event)->planned->places, place)
			if (place->part && !(*event)->order && !*(*event)->planned->system)
				return true;
	return false;
}

void nw_run_notice_order(const struct nw_run *run)
{
	const struct nw_run_result *result = run->result;
	/* Newer recordings tell when probes were armed; text may begin anywhere. */
	bool early = run->source->recorded && !result->armed_ns;

	if (nw_run_wants_values(run) && (result->lost || early) &&
	    is_order_unknown(&result->armed))
		nw_run_notice(
			run,
			early ? "an older nopwatch has recorded this: behind a loss, and from the start on, long strings and stacks may be those of a thread's next hit"
			      : "behind a loss, long strings and stacks may be those of a thread's next hit: in which order the kernel writes their parts is not known");
}

/* Tells the consumer of a hit that is not the run's. */
static int tell_other(struct nw_run *run, enum nw_other_hit what, const struct nw_hit *hit,
		      const struct nw_task *task)
{
	int ret = run->consumer.other_hit
			  ? run->consumer.other_hit(run->consumer.arg, what, hit, task)
			  : 0;

	run->delivery.enough |= ret < 0;
	return ret;
}

static nw_noinline int filter_out(struct nw_run *run, const struct nw_hit *hit,
				  const struct nw_task *task)
{
	run->result->filtered++;
	run->delivery.probe_filtered[hit->probe]++;
	return tell_other(run, NW_HIT_FILTERED, hit, task);
}

/* Is the process of a hit at this time in one of the control groups? The idle thread is in none. */
static nw_noinline bool is_member(struct nw_run *run, const struct nw_task *task,
				  uint64_t time)
{
	const char *text = task->pid > 0 ? nw_observed_get(run->result->observed,
							   NW_OBSERVED_MEMBER, task->pid,
							   task->tid, time)
					 : NULL;

	return text && strcmp(text, "1") == 0;
}

/* Returns the thread of a hit at this time; NULL: it is not a traced thread. */
static const struct nw_task *wanted_task(struct nw_run *run, int32_t tid, uint64_t time)
{
	const struct nw_task *task = nw_tasks_get(run->delivery.tasks, tid);

	if (nw_unlikely(run->result->by_cgroup) && task->wanted)
		return is_member(run, task, time) ? task : NULL;
	if (task->wanted)
		return task;
	if (run->live.session) /* not for a recording */
		nw_session_exclude_tid(run->live.session, tid);
	return NULL;
}

/*
 * Did recording begin or end in the middle of this hit, some of whose records have not come? The events of a place
 * are enabled one after the other, and disabled so. When recording stops, a thread may be between two of them, and
 * its further records do not come. Nothing was lost then: the hit came before its probe was armed, or after it was
 * disarmed.
 */
static bool is_at_an_edge(const struct nw_run *run, const struct nw_hit *hit)
{
	if (hit->time <= run->result->armed_ns)
		return true;
	return !run->delivery.had_loss &&
	       (run->delivery.at_end || nw_result_is_disabled(run->result, hit->probe));
}

/* Counts an incomplete hit. Returns false if the hit does not belong to the run. */
static nw_noinline bool take_incomplete(struct nw_run *run, const struct nw_hit *hit)
{
	if (run->delivery.stream && is_at_an_edge(run, hit))
		return false;
	run->result->incomplete++;
	return true;
}

static void tell_thread(const struct nw_run *run, const struct nw_thread_event *event)
{
	if (run->consumer.thread)
		run->consumer.thread(run->consumer.arg, event);
}

static void tell_named(const struct nw_run *run, int32_t tid, uint64_t from)
{
	tell_thread(run, &(struct nw_thread_event){
				 .what = NW_THREAD_NAMED, .tid = tid, .from = from});
}

/* Tells the consumer which threads were known by name before this time. */
static void pass_named(struct nw_run *run, uint64_t time)
{
	const struct nw_run_result *result = run->result;

	for (; run->delivery.told < result->named.count; run->delivery.told++) {
		const struct nw_named_at *named = &result->named.item[run->delivery.told];
		if (named->seen >= time)
			return;
		tell_named(run, named->tid, named->from);
	}
}

static inline int hand_out(struct nw_run *run, struct nw_hit *hit)
{
	const struct nw_task *task = NULL;

	if (hit->time > run->result->stop_ns || run->delivery.enough)
		return 0;
	if (nw_unlikely(run->delivery.is_return != NULL))
		run->delivery.returned += run->delivery.is_return[hit->probe];
	if (nw_unlikely(run->consumer.needs.scheduler)) {
		pass_named(run, hit->time);
		const struct nw_probe *probe =
			run->result->selection.probes.item[hit->probe];
		if (probe->hidden && !nw_is_descriptor_probe(probe)) {
			run->delivery.probe_hits[hit->probe]++;
			return tell_other(run, NW_HIT_SCHEDULER, hit, NULL);
		}
		if (run->live.session)
			nw_session_note_tid(run->live.session, hit->tid);
	}
	if (nw_unlikely(run->delivery.hides)) {
		nw_run_take_call(run, hit);
		if (run->result->selection.probes.item[hit->probe]->hidden) {
			run->delivery.probe_hits[hit->probe]++;
			return 0;
		}
	}
	if (run->delivery.needs_tasks && !(task = wanted_task(run, hit->tid, hit->time)))
		return tell_other(run, NW_HIT_UNTRACED, hit, NULL);
	if (nw_unlikely(nw_join_missing(run->delivery.join, hit)) &&
	    !take_incomplete(run, hit))
		return 0;
	if (nw_unlikely(run->delivery.filter) &&
	    !nw_filter_passes(run->delivery.filter, hit, task))
		return filter_out(run, hit, task);
	run->result->hits++;
	run->delivery.probe_hits[hit->probe]++;
	if (nw_unlikely(run->delivery.stacks) && nw_run_add_callers(run, hit) < 0)
		return -ENOMEM;
	if (nw_unlikely(run->delivery.members) && nw_run_add_members(run, hit) < 0)
		return -ENOMEM;
	int ret = run->consumer.hit ? run->consumer.hit(run->consumer.arg, hit, task) : 0;
	run->delivery.enough = ret < 0;
	return ret;
}

static int take_loss(struct nw_run *run, const struct nw_record *loss)
{
	struct nw_record of_run = *loss;
	struct nw_hit hit;
	int ret = 0, more = 1;

	/* A CPU whose first events are missing has lost them since its buffer was made. */
	of_run.time = nw_max64(loss->time, nw_min64(run->result->start_ns, loss->until));
	run->delivery.had_loss = true;
	nw_run_calls_lost(run, loss->until);
	while (ret == 0 && (more = nw_join_loss(run->delivery.join, loss, &hit)) > 0)
		ret = hand_out(run, &hit);
	if (run->consumer.loss)
		run->consumer.loss(run->consumer.arg, &of_run);
	return more < 0 ? more : ret;
}

/* The usual kind of record. */
static inline int take_hit(struct nw_run *run, const struct nw_record *record)
{
	struct nw_hit hit;

	run->delivery.records += record->part == 0 && record->time <= run->result->stop_ns;
	int ret = nw_join_push(run->delivery.join, record, &hit);
	if (nw_unlikely(ret <= 0))
		return ret;
	run->delivery.record = record;
	ret = hand_out(run, &hit);
	run->delivery.record = NULL;
	return ret;
}

const char *nw_run_kernel_text(const struct nw_run *run)
{
	return run->delivery.kernel_texts && run->delivery.record
		       ? nw_kernel_text(run->delivery.kernel_texts, run->delivery.record)
		       : NULL;
}

/* Tells the consumer that a thread is born or has a new name, which decides whether its scheduler events are
 * recorded. */
static void take_name(struct nw_run *run, const struct nw_record *record)
{
	const struct nw_run_result *result = run->result;
	char comm[16] = "";
	int32_t born = nw_record_born(record), tid = nw_record_called(record, comm);

	if (!tid || (result->restricted && !nw_tasks_get(run->delivery.tasks, tid)->wanted))
		return;
	if (born)
		tell_thread(run,
			    &(struct nw_thread_event){.what = NW_THREAD_BORN, .tid = born});
	if (!result->has_named)
		return;
	bool covered = nw_strings_has(&result->named_comms, comm);
	if (covered)
		tell_named(run, tid, nw_max64(record->time, result->start_ns));
	else if (!born)
		tell_named(run, tid, UINT64_MAX);
	if (run->live.session && born)
		nw_session_born(run->live.session, born, record->tid, covered);
	else if (run->live.session && !covered)
		nw_session_thread_left_filter(run->live.session, tid);
}

/* Tells of a process that is born, and not of a thread: a process has the number of its first thread. */
static void tell_born(struct nw_run *run, const struct nw_record *record)
{
	const int32_t born = nw_record_born(record);
	const int32_t parent = nw_tasks_get(run->delivery.tasks, record->tid)->pid;

	if (nw_tasks_get(run->delivery.tasks, born)->pid != born)
		return;
	const uint64_t now = run->live.session ? nw_session_now(run->live.session)
					       : record->time;
	nw_observed_born(run->result->observed, born, parent, record->tid, record->time,
			 now - nw_min64(now, record->time));
}

/* Takes a loss or an event of a thread, which may also be a hit. */
static nw_noinline int take_other(struct nw_run *run, const struct nw_record *record)
{
	struct nw_record part = *record;
	int ret = run->delivery.enough || !run->consumer.reached
			  ? 0
			  : run->consumer.reached(run->consumer.arg, record->time);

	run->delivery.enough |= ret < 0;
	if (ret < 0)
		return ret;
	pass_named(run, record->time);
	switch (record->kind) {
	case NW_RECORD_LOSS:
		return take_loss(run, record);
	case NW_RECORD_BOTH: /* the hit comes first, because it belongs to the thread as it was before */
		part.kind = NW_RECORD_HIT;
		ret = take_hit(run, &part);
		part = nw_record_task(record);
		break;
	default:
		break;
	}
	int32_t exited = nw_record_exited(&part);
	int32_t old_tid = nw_record_exec(&part);
	if (exited)
		tell_thread(run, &(struct nw_thread_event){.what = NW_THREAD_EXIT,
							   .tid = exited});
	if (old_tid)
		tell_thread(run, &(struct nw_thread_event){.what = NW_THREAD_EXEC,
							   .tid = part.tid,
							   .old_tid = old_tid});
	if (exited && run->live.session)
		nw_session_gone(run->live.session, exited);
	if (nw_unlikely(run->delivery.stacks) && nw_record_renamed(&part))
		nw_stacks_renamed(run->delivery.stacks,
				  nw_tasks_get(run->delivery.tasks, part.tid)->pid);
	nw_run_take_life(run, &part);
	if (nw_unlikely(run->result->observed) && exited)
		nw_observed_exit(run->result->observed, exited, part.time);
	if (nw_unlikely(run->result->observed) && old_tid)
		nw_observed_exec(run->result->observed, part.tid);
	nw_tasks_record(run->delivery.tasks, &part);
	if (nw_unlikely(run->result->observed) && nw_record_born(&part))
		tell_born(run, &part);
	if (nw_unlikely(run->result->named_threads))
		take_name(run, &part);
	return ret;
}

/* ---- many at a time ----------------------------------------------------------------- */

enum {
	/* Hits that are decoded before they are counted: so many stay in the cache */
	MANY = 128
};

/* Keeps the hits of traced threads. A thread often hits several times in a row, and no event between these hits
 * changes it, so it is looked up only once. Untraced threads are noted for each hit. */
static size_t keep_wanted(struct nw_run *run, struct nw_hit *hits, size_t count)
{
	size_t wanted = 0;

	for (size_t i = 0, end; i < count; i = end) {
		const int32_t tid = hits[i].tid;
		for (end = i + 1; end < count && hits[end].tid == tid; end++)
			;
		if (wanted_task(run, tid, hits[i].time)) {
			if (wanted != i)
				memmove(&hits[wanted], &hits[i], (end - i) * sizeof(*hits));
			wanted += end - i;
			continue;
		}
		for (size_t untraced = i + 1; untraced < end; untraced++)
			(void)wanted_task(run, tid, hits[i].time);
	}
	return wanted;
}

static int take_hits(struct nw_run *run, struct nw_hit *hits, size_t count)
{
	while (count && hits[count - 1].time > run->result->stop_ns)
		count--;
	run->delivery.records += count;
	if (run->delivery.is_return)
		for (size_t i = 0; i < count; i++)
			run->delivery.returned += run->delivery.is_return[hits[i].probe];
	if (run->result->restricted)
		count = keep_wanted(run, hits, count);
	if (run->delivery.enough)
		return 0;
	run->result->hits += count;
	if (!run->consumer.counted)
		for (size_t i = 0; i < count; i++)
			run->delivery.probe_hits[hits[i].probe]++;
	int ret = run->consumer.hits(run->consumer.arg, hits, count);
	run->delivery.enough = ret < 0;
	return ret;
}

uint64_t nw_run_probe_hits(const struct nw_run *run, size_t probe)
{
	return run->consumer.counted ? run->consumer.counted(run->consumer.arg, probe)
				     : run->delivery.probe_hits[probe];
}

/* May several hits be taken at a time if only hits follow? */
static bool takes_many(const struct nw_run *run)
{
	return run->delivery.stream && run->consumer.hits && !run->delivery.filter &&
	       !run->delivery.goroutines && !run->delivery.hides && !run->delivery.stacks &&
	       nw_join_is_idle(run->delivery.join);
}

int nw_run_drain(struct nw_run *run, struct nw_error *err)
{
	struct nw_hit hits[MANY];
	struct nw_record record;
	int ret = 0;

	while (ret == 0) {
		size_t count = takes_many(run)
				       ? nw_stream_hits(run->delivery.stream, hits, MANY)
				       : 0;
		if (count) {
			ret = take_hits(run, hits, count);
			continue;
		}
		ret = nw_likely(run->delivery.stream)
			      ? nw_stream_next(run->delivery.stream, &record)
			      : run->source->next(run, &record, err);
		if (ret <= 0)
			break;
		ret = nw_likely(record.kind == NW_RECORD_HIT) ? take_hit(run, &record)
							      : take_other(run, &record);
	}
	return ret;
}

/* ---- the end ------------------------------------------------------------------------ */

/* Returns the reason if an error of the consumer only means "stop". */
enum nw_end_reason nw_run_reason(int ret)
{
	return ret == -ECANCELED ? NW_END_COUNT
	       : ret == -EPIPE	 ? NW_END_OUTPUT
				 : NW_END_NONE;
}

int nw_run_join_rest(struct nw_run *run)
{
	struct nw_hit hit;
	int ret = 0;

	run->delivery.at_end = true;
	while (ret == 0 && nw_join_rest(run->delivery.join, &hit) > 0)
		ret = hand_out(run, &hit);
	return ret;
}
