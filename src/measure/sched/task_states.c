// SPDX-License-Identifier: MIT
/*
 * Each thread has a clock for each state, and one of them runs at a time. The time that a span spent in a state is
 * the advance of that clock between the span's start and end, so nested spans need no care, and the times add up to
 * the latency exactly. A thread that hits a probe is running: if its clocks say something else, an event of the
 * scheduler is missing, and no open span of the thread is split.
 *
 * Events: include/trace/events/sched.h of the kernel. sched_switch's prev_state is 0 (or a flag above all states) for
 * a thread that was preempted, else a mask: 1 is interruptible sleep, 2 is uninterruptible, further bits are stopped,
 * traced, dead, parked. Before 4.14, uninterruptible may come with flags above (TASK_KILLABLE: 130). Linux 4.15 to
 * 4.19 have all bits one position higher (shifted_states), and 1 for a thread that yields its CPU;
 * kernel/session/tracepoint.c detects that. Linux 4.14.0 has a number instead of a mask: 3 is stopped there.
 * sched_waking is recorded when a thread begins to wake another one, and sched_wakeup when that one is on a run
 * queue, which may belong to another CPU that has to be interrupted first. A thread waits for a CPU from sched_wakeup
 * on, as /proc/PID/schedstat counts it; if that was not recorded, from sched_waking on.
 *
 * Waker: sched_waking is recorded in the context of the waker, so its common_pid is the waker, unless its
 * common_flags say that this was an interrupt, which has nothing to do with the interrupted thread
 * (TRACE_FLAG_HARDIRQ 0x08, TRACE_FLAG_SOFTIRQ 0x10, TRACE_FLAG_NMI 0x40: include/linux/trace_events.h). sched_wakeup
 * may be recorded by the CPU on which the thread is to run, and does not name the waker.
 *
 * Wait channel: the stack of a thread follows its sched_switch on the same CPU, and precedes its next sched_switch.
 * Another CPU may have woken the thread in between, but it does not run before.
 */
#include "task_states.h"
#include "sleeps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/spans/hash_map.h"

const char *const nw_task_state_names[NW_TASK_STATES] = {
	[NW_TASK_RUNNING] = "running",	 [NW_TASK_RUNNABLE] = "runnable",
	[NW_TASK_SLEEPING] = "sleeping", [NW_TASK_DISK] = "disk",
	[NW_TASK_OTHERS] = "others",
};

enum kind {
	NOTHING,
	SWITCH,
	WAKING, /* by the thread that hits it */
	WOKEN,
	STACK, /* of the thread that has just left the CPU */
};

static const struct {
	const char *system, *name;
	enum kind kind;
	const char *args[3];
	const char *optional;
} kinds[] = {
	{"sched", "sched_switch", SWITCH, {"prev_pid", "prev_state", "next_pid"}, NULL},
	{"sched", "sched_wakeup", WOKEN, {"pid"}, NULL},
	{"sched", "sched_waking", WAKING, {"pid"}, "common_flags"},
	{NW_STACK_SYSTEM, NW_STACK_EVENT, STACK, {"caller"}, NULL},
};

enum {
	IN_INTERRUPT = 0x08 | 0x10 | 0x40 /* bits of common_flags */
};

/* The tables of sleeps. */
enum table {
	WAKERS,
	CHANNELS,
	TABLES
};

struct thread {
	enum nw_task_state state;
	uint64_t since;
	uint64_t spent[NW_TASK_STATES];
	uint64_t breaks; /* how often its events were found to be incomplete */
	/* Tells apart threads that had the same number one after the other */
	uint64_t serial;
	size_t open; /* number of open spans; sleeps are counted only while there are any */
	struct nw_sleeps sleeps[TABLES];
	struct nw_sleep waker; /* the thread that has begun to wake it; count 0: none */
	uint64_t waking;       /* time of sched_waking if the thread slept then; else 0 */
	struct nw_sleep where; /* its last sleep; count 0: it is in the table already */
	/* Its switches may not be recorded yet, except switches from and to threads whose events are recorded. */
	bool unseen;
	uint64_t from; /* time from which they are recorded; 0: unknown */
};

/* A copy of the clocks at the start of a span. */
struct mark {
	int32_t tid;
	uint64_t serial, breaks, losses;
	uint64_t turn; /* the thread's turn */
	uint64_t spent[NW_TASK_STATES];
	/* How many entries the thread's tables had. Copies of the entries follow in `sleep`, one table after the
	 * other. */
	size_t sleeps[TABLES];
	struct nw_sleep sleep[];
};

/* The key of the last span that a thread has begun or ended. The number changes whenever the key changes. */
struct turn {
	uint64_t key, number;
};

struct scheduler_probe {
	enum kind kind;
	size_t arg[3];
	int optional; /* -1: the event does not have it */
};

struct nw_task_states {
	struct nw_hash_map threads; /* by number; only threads that have begun spans */
	struct nw_hash_map marks;
	struct nw_hash_map turns; /* by thread and span */
	uint64_t losses, serial, last_turn;
	bool named; /* the kernel records events of selected threads only */
	/* With `named`: births are not reported, so every thread may be one that is not selected */
	bool all;
	bool missed;		 /* a thread that is not in the map may not be recorded */
	uint64_t everybody_from; /* time from which all threads are recorded; 0: never */
	struct scheduler_probe *probe;
	size_t probes;
	const struct nw_selection *selection;
	const struct nw_thread_names *names;
};

/* ---- which events they are ---------------------------------------------------------- */

static int use_probe(struct scheduler_probe *out, const struct nw_probe *probe, size_t i,
		     struct nw_error *err)
{
	out->kind = kinds[i].kind;
	for (size_t j = 0; j < NW_COUNT(kinds[i].args) && kinds[i].args[j]; j++) {
		int arg = nw_arg_find(probe, kinds[i].args[j]);
		if (arg < 0) {
			nw_fail_usage(err,
				      "the states of threads need the argument '%s' of %s",
				      kinds[i].args[j], probe->label);
			nw_error_hint(err, "name it, too, or none of its arguments");
			return -EINVAL;
		}
		out->arg[j] = (size_t)arg;
	}
	out->optional = kinds[i].optional ? nw_arg_find(probe, kinds[i].optional) : -1;
	return 0;
}

static bool is_kind(const struct nw_probe *probe, size_t i)
{
	return probe->kind == NW_SPEC_TRACEPOINT &&
	       strcmp(probe->provider, kinds[i].system) == 0 &&
	       strcmp(probe->name, kinds[i].name) == 0;
}

static int find_probes(struct nw_task_states *states, const struct nw_selection *selection,
		       struct nw_error *err)
{
	bool has_switch = false;

	for (size_t i = 0; i < states->probes; i++) {
		const struct nw_probe *probe = selection->probes.item[i];
		for (size_t j = 0; j < NW_COUNT(kinds); j++) {
			if (!is_kind(probe, j))
				continue;
			int ret = use_probe(&states->probe[i], probe, j, err);
			if (ret < 0)
				return ret;
			has_switch |= kinds[j].kind == SWITCH;
		}
	}
	if (has_switch)
		return 0;
	nw_fail_usage(err,
		      "there are no events of the scheduler that tell what threads do");
	nw_error_hint(err, "record with --states, too");
	return -EINVAL;
}

int nw_task_states_open(const struct nw_selection *selection,
			const struct nw_thread_names *names, struct nw_task_states **out,
			struct nw_error *err)
{
	struct nw_task_states *states = calloc(1, sizeof(*states));

	*out = NULL;
	if (states) {
		states->selection = selection;
		states->names = names;
		states->probes = selection->probes.count;
		states->probe = calloc(states->probes + 1, sizeof(*states->probe));
	}
	if (!states || !states->probe) {
		free(states);
		return nw_no_memory(err);
	}
	int ret = find_probes(states, selection, err);
	if (ret < 0)
		nw_task_states_free(states);
	else
		*out = states;
	return ret;
}

void nw_task_states_free(struct nw_task_states *states)
{
	if (!states)
		return;
	nw_hash_map_free(&states->threads);
	nw_hash_map_free(&states->marks);
	nw_hash_map_free(&states->turns);
	free(states->probe);
	free(states);
}

bool nw_task_states_uses(const struct nw_task_states *states, uint32_t probe)
{
	return states->probe[probe].kind != NOTHING;
}

bool nw_is_scheduler_probe(const struct nw_probe *probe)
{
	for (size_t i = 0; i < NW_COUNT(kinds); i++)
		if (is_kind(probe, i))
			return true;
	return false;
}

const char *nw_scheduler_event(size_t number)
{
	return number < NW_COUNT(kinds) && kinds[number].kind != STACK ? kinds[number].name
								       : NULL;
}

void nw_scheduler_spec(size_t number, struct nw_buf *out)
{
	const char *const *args = kinds[number].args, *optional = kinds[number].optional;

	nw_buf_printf(out, "tracepoint:sched:%s(%s", kinds[number].name, args[0]);
	for (size_t i = 1; i < NW_COUNT(kinds[0].args) && args[i]; i++)
		nw_buf_printf(out, ", %s", args[i]);
	if (optional)
		nw_buf_printf(out, ", %s", optional);
	nw_buf_addc(out, ')');
}

/* ---- threads ------------------------------------------------------------------------ */

static struct thread *find(const struct nw_task_states *states, int32_t tid)
{
	return nw_hash_map_find(&states->threads, nw_map_key_of_thread(tid));
}

/* Advances the clock of the thread's state to now. */
static void advance(struct thread *thread, uint64_t now)
{
	if (now < thread->since) { /* the clocks of CPUs differ */
		thread->breaks++;
		return;
	}
	thread->spent[thread->state] += now - thread->since;
	thread->since = now;
}

static void enter(struct thread *thread, enum nw_task_state state, uint64_t now)
{
	advance(thread, now);
	thread->state = state;
}

/* Returns NULL if the table is full or without memory. */
static struct thread *add_thread(struct nw_task_states *states, int32_t tid)
{
	/* A recording may name more threads than there ever were. */
	struct thread *thread = states->threads.entries.count < NW_MOST_STARTS
					? calloc(1, sizeof(*thread))
					: NULL;

	if (!thread ||
	    nw_hash_map_put(&states->threads, nw_map_key_of_thread(tid), thread) < 0)
		return NULL;
	thread->serial = ++states->serial;
	return thread;
}

/* Returns the thread of a hit, which is running. NULL if the table is full or without memory. */
static struct thread *running(struct nw_task_states *states, const struct nw_hit *hit)
{
	struct thread *thread = find(states, nw_hit_thread(hit));

	if (!thread) {
		thread = add_thread(states, nw_hit_thread(hit));
		if (!thread)
			return NULL;
		thread->since = hit->time;
		thread->unseen = states->missed;
	}
	advance(thread, hit->time);
	if (thread->state != NW_TASK_RUNNING)
		thread->breaks++;
	thread->state = NW_TASK_RUNNING;
	return thread;
}

void nw_task_states_named(struct nw_task_states *states, bool all)
{
	states->named = true;
	states->all = all;
	states->missed |= all;
}

void nw_task_states_born(struct nw_task_states *states, int32_t tid)
{
	free(nw_hash_map_take(&states->threads, nw_map_key_of_thread(tid)));
	/* With `all`, births are those of a whole machine, of which most threads never hit a probe. */
	struct thread *thread = states->named && !states->all ? add_thread(states, tid)
							      : NULL;

	if (thread)
		thread->unseen = true;
	else
		states->missed |= states->named;
}

void nw_task_states_recorded(struct nw_task_states *states, int32_t tid, uint64_t from)
{
	struct thread *thread = tid ? find(states, tid) : NULL;

	if (!tid) {
		states->everybody_from = from;
		return;
	}
	if (from == UINT64_MAX) { /* the states of its open spans are unknown from now on */
		if (thread) {
			thread->unseen = true;
			thread->from = 0;
			thread->breaks++;
		}
		return;
	}
	if (!thread && (thread = add_thread(states, tid)))
		thread->unseen = true;
	if (thread)
		thread->from = thread->from ? nw_min64(thread->from, from) : from;
}

void nw_task_states_same(struct nw_task_states *states, const struct nw_task_states *other)
{
	states->everybody_from = other->everybody_from;
	nw_vec_each (&other->threads.entries, entry) {
		const struct thread *known = entry->value;
		if (known->from)
			nw_task_states_recorded(states, (int32_t)entry->key.time,
						known->from);
	}
}

void nw_task_states_exit(struct nw_task_states *states, int32_t tid)
{
	free(nw_hash_map_take(&states->threads, nw_map_key_of_thread(tid)));
}

void nw_task_states_loss(struct nw_task_states *states)
{
	states->losses++;
	/* A birth may be lost, and then the thread is not recorded. */
	states->missed |= states->named;
	if (!states->all)
		return;
	/* A new name may be lost, too, which ends the recording of its thread. */
	nw_vec_each (&states->threads.entries, entry) {
		struct thread *thread = entry->value;
		thread->unseen = true;
		thread->from = 0;
	}
}

/* ---- the scheduler's events --------------------------------------------------------- */

/* Converts prev_state: a number or, in text, a letter. */
static enum nw_task_state state_of(const struct nw_value *value, bool shifted)
{
	uint64_t mask = (value->number & 0xff) >> shifted;

	if (value->kind == NW_VALUE_STRING)
		mask = !value->len	       ? 1
		       : value->text[0] == 'R' ? 0
		       : value->text[0] == 'D' ? 2
					       : 1;
	return mask == 0	 ? NW_TASK_RUNNABLE
	       : (mask & 3) == 2 ? NW_TASK_DISK
				 : NW_TASK_SLEEPING;
}

/* If no stack has come, the wait channel of the thread's last sleep is unknown. */
static void settle(struct thread *thread)
{
	if (thread->where.count && thread->open)
		nw_sleeps_add(&thread->sleeps[CHANNELS], &thread->where);
	thread->where.count = 0;
}

static void leaves(struct thread *thread, enum nw_task_state state, uint64_t now)
{
	if (thread->state != NW_TASK_RUNNING)
		thread->breaks++;
	thread->waking = 0; /* that was an earlier sleep, whose end was not recorded */
	thread->where = (struct nw_sleep){.key = NW_WAKER_UNKNOWN};
	enter(thread, state, now);
}

static bool sleeps(const struct thread *thread)
{
	return thread->state == NW_TASK_SLEEPING || thread->state == NW_TASK_DISK;
}

/* Ends the thread's sleep: it waits for a CPU. */
static void wakes_up(struct thread *thread, uint64_t now)
{
	struct nw_sleep waker = thread->waker;

	if (!waker.count)
		waker = (struct nw_sleep){.key = NW_WAKER_UNKNOWN, .count = 1};
	waker.ns = now > thread->since ? now - thread->since : 0;
	if (thread->open)
		nw_sleeps_add(&thread->sleeps[WAKERS], &waker);
	/* Its stack may have come already, or may still come. */
	thread->where.ns = waker.ns;
	thread->where.count = 1;
	enter(thread, NW_TASK_RUNNABLE, now);
}

static void comes(struct thread *thread, uint64_t now)
{
	if (sleeps(thread) && thread->waking)
		wakes_up(thread, thread->waking);
	thread->waker.count = thread->waking = 0;
	settle(thread);
	/* A sleeping thread is woken before it runs, so an event is missing. */
	if (thread->state != NW_TASK_RUNNABLE)
		thread->breaks++;
	enter(thread, NW_TASK_RUNNING, now);
}

/* Returns the thread that begins to wake another one. */
static struct nw_sleep waker_of(const struct nw_task_states *states,
				const struct scheduler_probe *probe,
				const struct nw_hit *hit)
{
	struct nw_sleep waker = {.key = NW_WAKER_UNKNOWN, .count = 1};
	const struct nw_value *flags = probe->optional < 0 || (size_t)probe->optional >=
								      hit->value_count
					       ? NULL
					       : &hit->values[probe->optional];

	if (!flags || flags->kind == NW_VALUE_MISSING)
		return waker;
	waker.key = flags->number & IN_INTERRUPT ? NW_WAKER_INTERRUPT : (uint32_t)hit->tid;
	if (waker.key == (uint32_t)hit->tid && states->names->comm)
		states->names->comm(states->names->arg, hit->tid, waker.comm);
	return waker;
}

/* Handles sched_waking and sched_wakeup. A thread may be woken while it is still on its way to sleep: then only the
 * second event finds it asleep. */
static void wakes(const struct nw_task_states *states, const struct scheduler_probe *probe,
		  struct thread *thread, const struct nw_hit *hit)
{
	thread->unseen = false;
	if (probe->kind == WAKING && !thread->waking) {
		thread->waker = waker_of(states, probe, hit);
		thread->waking = sleeps(thread) ? hit->time : 0;
	} else if (probe->kind == WOKEN && sleeps(thread)) {
		wakes_up(thread, hit->time);
	}
}

/* Notes the wait channel of the thread that hits the event, which may be awake again by now. */
static void takes_stack(const struct nw_task_states *states,
			const struct scheduler_probe *probe, const struct nw_hit *hit)
{
	struct thread *thread = find(states, hit->tid);
	uint64_t address = 0;

	if (!thread || !states->names->channel || thread->state == NW_TASK_RUNNING)
		return;
	const char *function = states->names->channel(
		states->names->arg, &hit->values[probe->arg[0]], &address);
	thread->where.function = function;
	thread->where.key = function ? address : NW_WAKER_UNKNOWN;
}

/* Returns a thread that sched_switch names; number 0 is the idle thread of the CPU that switches. */
static struct thread *find_switched(const struct nw_task_states *states,
				    const struct nw_hit *hit, size_t arg)
{
	const struct nw_hit named = {.tid = (int32_t)hit->values[arg].number,
				     .cpu = hit->cpu};

	return find(states, nw_hit_thread(&named));
}

void nw_task_states_hit(struct nw_task_states *states, const struct nw_hit *hit)
{
	const struct scheduler_probe *probe = &states->probe[hit->probe];
	struct thread *thread[2] = {NULL};

	for (size_t i = 0; i < 3; i++)
		if (!hit->values || probe->arg[i] >= hit->value_count) {
			nw_task_states_loss(states); /* the record has not all fields */
			return;
		}
	if (probe->kind == STACK) {
		takes_stack(states, probe, hit);
		return;
	}
	const struct nw_value *first = &hit->values[probe->arg[0]];
	thread[0] = find_switched(states, hit, probe->arg[0]);
	if (probe->kind != SWITCH) {
		if (thread[0])
			wakes(states, probe, thread[0], hit);
		return;
	}
	const uint64_t next = hit->values[probe->arg[2]].number;
	thread[1] = find_switched(states, hit, probe->arg[2]);
	/* The idle thread is never selected, so a switch from or to it is recorded because of the other thread. */
	if (thread[0] && next == 0)
		thread[0]->unseen = false;
	if (thread[1] && first->number == 0)
		thread[1]->unseen = false;
	if (thread[0])
		leaves(thread[0],
		       state_of(&hit->values[probe->arg[1]],
				states->selection->probes.item[hit->probe]->shifted_states),
		       hit->time);
	if (thread[1])
		comes(thread[1], hit->time);
}

/* ---- spans -------------------------------------------------------------------------- */

/* Are all switches of the thread recorded from now on? */
static bool is_recorded(const struct nw_task_states *states, const struct thread *thread,
			uint64_t now)
{
	return !thread->unseen || (thread->from && now >= thread->from) ||
	       (states->everybody_from && now >= states->everybody_from);
}

uint64_t nw_task_states_turn(struct nw_task_states *states, uint32_t span, uint64_t key,
			     const struct nw_hit *hit)
{
	const struct nw_map_key at = {.span = span, .time = (uint32_t)nw_hit_thread(hit)};
	struct turn *turn = nw_hash_map_find(&states->turns, at);

	if (!turn) {
		if (states->turns.entries.count >= NW_MOST_STARTS)
			nw_hash_map_free(&states->turns);
		turn = calloc(1, sizeof(*turn));
		if (!turn || nw_hash_map_put(&states->turns, at, turn) < 0)
			return ++states->last_turn;
	}
	if (!turn->number || turn->key != key)
		*turn = (struct turn){key, ++states->last_turn};
	return turn->number;
}

static void begin(struct nw_task_states *states, const struct nw_span_event *event,
		  uint64_t turn)
{
	struct thread *thread = running(states, event->hit);

	if (!thread || !is_recorded(states, thread, event->hit->time) ||
	    states->marks.entries.count >= NW_MOST_STARTS)
		return; /* the span will not be split */
	size_t wakers = thread->sleeps[WAKERS].count;
	size_t channels = thread->sleeps[CHANNELS].count;
	struct mark *mark = malloc(sizeof(*mark) +
				   (wakers + channels) * sizeof(*mark->sleep));
	if (!mark)
		return;
	*mark = (struct mark){.tid = nw_hit_thread(event->hit),
			      .serial = thread->serial,
			      .breaks = thread->breaks,
			      .losses = states->losses,
			      .turn = turn,
			      .sleeps = {[WAKERS] = wakers, [CHANNELS] = channels}};
	memcpy(mark->spent, thread->spent, sizeof(mark->spent));
	memcpy(mark->sleep, thread->sleeps[WAKERS].item, wakers * sizeof(*mark->sleep));
	memcpy(mark->sleep + wakers, thread->sleeps[CHANNELS].item,
	       channels * sizeof(*mark->sleep));
	if (nw_hash_map_put(&states->marks, nw_map_key_of_span(event), mark) == 0)
		thread->open++;
}

/* Computes the sleeps since the start of the span. */
static void find_sleeps(const struct nw_sleeps *now, const struct nw_sleep *then,
			size_t count, struct nw_sleeps *out)
{
	for (size_t i = 0; i < now->count; i++) {
		struct nw_sleep sleep = now->item[i];
		sleep.ns -= i < count ? then[i].ns : 0;
		sleep.count -= i < count ? then[i].count : 0;
		if (sleep.count)
			nw_sleeps_add(out, &sleep);
	}
}

/* Returns the thread of the mark, which has one open span less; NULL if its number belongs to another thread now. */
static struct thread *close_mark(const struct nw_task_states *states,
				 const struct mark *mark)
{
	struct thread *thread = find(states, mark->tid);

	if (!thread || thread->serial != mark->serial)
		return NULL;
	thread->open--;
	return thread;
}

/* Computes what the thread did since the start of the span; returns false if that is unknown. */
static bool spent_since(const struct nw_task_states *states, const struct thread *thread,
			const struct mark *mark, struct nw_span_states *out)
{
	if (thread->breaks != mark->breaks || states->losses != mark->losses)
		return false;
	for (size_t i = 0; i < NW_TASK_STATES; i++)
		out->ns[i] = thread->spent[i] - mark->spent[i];
	find_sleeps(&thread->sleeps[WAKERS], mark->sleep, mark->sleeps[WAKERS],
		    &out->wakers);
	find_sleeps(&thread->sleeps[CHANNELS], mark->sleep + mark->sleeps[WAKERS],
		    mark->sleeps[CHANNELS], &out->channels);
	return true;
}

static bool split(struct nw_task_states *states, const struct nw_span_event *event,
		  const struct mark *mark, uint64_t turn, struct nw_span_states *out)
{
	const struct thread *thread = running(states, event->hit);
	bool other = mark->tid != nw_hit_thread(event->hit) || mark->turn != turn ||
		     (thread && thread->serial != mark->serial);

	if (other) { /* The span waited for other threads, so the states of this thread do not explain it. */
		out->ns[NW_TASK_OTHERS] = event->hit->time - event->start;
		return true;
	}
	return thread && spent_since(states, thread, mark, out);
}

bool nw_task_states_span(struct nw_task_states *states, const struct nw_span_event *event,
			 bool by_thread, struct nw_span_states *out)
{
	bool is_at = event->moment == NW_SPAN_BEGINS || event->moment == NW_SPAN_ENDS;
	uint64_t turn = by_thread || !is_at ? 0
					    : nw_task_states_turn(states, event->span,
								  event->key, event->hit);

	if (event->moment == NW_SPAN_BEGINS) {
		begin(states, event, turn);
		return false;
	}
	if (event->moment == NW_SPAN_ENDS_NOTHING)
		return false;
	nw_cleanup(nw_free_ptr) struct mark *mark = nw_hash_map_take(
		&states->marks, nw_map_key_of_span(event));
	if (!mark)
		return false;
	memset(out->ns, 0, sizeof(out->ns));
	out->wakers.count = out->channels.count = 0;
	bool known = event->moment == NW_SPAN_ENDS && split(states, event, mark, turn, out);
	struct thread *thread = close_mark(states, mark);
	if (thread && !thread->open)
		thread->sleeps[WAKERS].count = thread->sleeps[CHANNELS].count = 0;
	return known;
}

bool nw_task_states_so_far(const struct nw_task_states *states, uint32_t span, uint64_t key,
			   uint64_t start, uint64_t now, struct nw_span_states *out)
{
	const struct nw_span_event event = {.span = span, .key = key, .start = start};
	const struct mark *mark = nw_hash_map_find(&states->marks,
						   nw_map_key_of_span(&event));
	const struct thread *known = mark ? find(states, mark->tid) : NULL;

	*out = (struct nw_span_states){0};
	if (!known || known->serial != mark->serial || known->since > now)
		return false;
	struct thread thread = *known; /* the thread as it would be if it went on now */
	if (sleeps(&thread) && thread.waking) {
		wakes_up(&thread, thread.waking);
	} else if (sleeps(&thread)) {
		thread.where.ns = now - thread.since;
		thread.where.count = 1;
	}
	settle(&thread);
	advance(&thread, now);
	return spent_since(states, &thread, mark, out);
}
