// SPDX-License-Identifier: MIT
/*
 * Each thread has a clock a state, of which one runs at a time. A span's parts are by how much these
 * have advanced between its start and its end, so nested spans need no care, and the parts add up to the
 * latency exactly. A thread that hits a probe is running then: if its clocks say something else, an event
 * of the scheduler's is missing, and no span that is open then is split.
 *
 * Events: include/trace/events/sched.h of the kernel. sched_switch's prev_state is 0 (or a flag
 * above all states) for a thread that was preempted, else a mask: 1 is interruptible sleep, 2 is
 * uninterruptible, further bits are stopped, traced, dead, parked. Below 4.14, uninterruptible may
 * come with flags above (TASK_KILLABLE: 130). sched_waking is when somebody begins to wake a thread,
 * sched_wakeup when it is on a run queue; the first may come while the thread is still on its way
 * to sleep, so both are looked at.
 */
#include "task_states.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kept.h"

const char *const nw_task_state_names[NW_TASK_STATES] = {
	[NW_TASK_RUNNING] = "running",	 [NW_TASK_RUNNABLE] = "runnable",
	[NW_TASK_SLEEPING] = "sleeping", [NW_TASK_DISK] = "disk",
	[NW_TASK_OTHERS] = "others",
};

enum kind {
	NOTHING,
	SWITCH,
	WAKING,
};

static const struct {
	const char *name;
	enum kind kind;
	bool needed;
	const char *args[3];
} kinds[] = {
	{"sched_switch", SWITCH, true, {"prev_pid", "prev_state", "next_pid"}},
	{"sched_waking", WAKING, false, {"pid"}},
	{"sched_wakeup", WAKING, false, {"pid"}},
};

struct thread {
	enum nw_task_state state;
	uint64_t since;
	uint64_t spent[NW_TASK_STATES];
	uint64_t breaks; /* so often its events were found to be incomplete */
};

/* The clocks when a span began. */
struct mark {
	int32_t tid;
	uint64_t breaks, losses;
	uint64_t spent[NW_TASK_STATES];
};

struct scheduler_probe {
	enum kind kind;
	size_t arg[3];
};

struct nw_task_states {
	struct nw_kept threads; /* that have begun spans, by their numbers */
	struct nw_kept marks;
	uint64_t losses;
	struct scheduler_probe *probe;
	size_t probes;
};

/* ---- which events they are ---------------------------------------------------------- */

static int no_arg(const struct nw_probe *probe, const char *name, struct nw_error *err)
{
	nw_fail_usage(err, "the states of threads need the argument '%s' of %s", name,
		      probe->label);
	nw_error_hint(err, "name it, too, or none of its arguments");
	return -EINVAL;
}

static int use_probe(struct scheduler_probe *out, const struct nw_probe *probe, size_t i,
		     struct nw_error *err)
{
	out->kind = kinds[i].kind;
	for (size_t j = 0; j < NW_COUNT(kinds[i].args) && kinds[i].args[j]; j++) {
		int arg = nw_arg_find(probe, kinds[i].args[j]);
		if (arg < 0)
			return no_arg(probe, kinds[i].args[j], err);
		out->arg[j] = (size_t)arg;
	}
	return 0;
}

static int find_probes(struct nw_task_states *states, const struct nw_selection *selection,
		       struct nw_error *err)
{
	bool has_switch = false;

	for (size_t i = 0; i < states->probes; i++) {
		const struct nw_probe *probe = selection->probes.item[i];
		for (size_t j = 0; j < NW_COUNT(kinds); j++) {
			if (!nw_is_scheduler_probe(probe) ||
			    strcmp(probe->name, kinds[j].name) != 0)
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

int nw_task_states_open(const struct nw_selection *selection, struct nw_task_states **out,
			struct nw_error *err)
{
	struct nw_task_states *states = calloc(1, sizeof(*states));

	*out = NULL;
	if (states) {
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
	nw_kept_free(&states->threads);
	nw_kept_free(&states->marks);
	free(states->probe);
	free(states);
}

bool nw_task_states_uses(const struct nw_task_states *states, uint32_t probe)
{
	return states->probe[probe].kind != NOTHING;
}

bool nw_is_scheduler_probe(const struct nw_probe *probe)
{
	if (probe->kind != NW_SPEC_TRACEPOINT || strcmp(probe->provider, "sched") != 0)
		return false;
	for (size_t i = 0; i < NW_COUNT(kinds); i++)
		if (strcmp(probe->name, kinds[i].name) == 0)
			return true;
	return false;
}

/* ---- threads ------------------------------------------------------------------------ */

static struct nw_kept_id id_of(int32_t tid)
{
	return (struct nw_kept_id){.time = (uint32_t)tid};
}

static struct thread *find(const struct nw_task_states *states, int32_t tid)
{
	return nw_kept_find(&states->threads, id_of(tid));
}

/* Let the clock of its state run until now. */
static void advance(struct thread *thread, uint64_t now)
{
	if (now < thread->since) { /* clocks of CPUs that differ */
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

/* It hits a probe, so it is running. NULL: nothing is kept of it. */
static struct thread *running(struct nw_task_states *states, const struct nw_hit *hit)
{
	struct thread *thread = find(states, hit->tid);

	if (!thread) {
		/* a recording may name more threads than there ever were */
		if (states->threads.count >= NW_MOST_STARTS)
			return NULL;
		thread = calloc(1, sizeof(*thread));
		if (!thread || nw_kept_put(&states->threads, id_of(hit->tid), thread) < 0)
			return NULL;
		thread->since = hit->time;
	}
	advance(thread, hit->time);
	if (thread->state != NW_TASK_RUNNING)
		thread->breaks++;
	thread->state = NW_TASK_RUNNING;
	return thread;
}

void nw_task_states_exit(struct nw_task_states *states, int32_t tid)
{
	free(nw_kept_take(&states->threads, id_of(tid)));
}

void nw_task_states_loss(struct nw_task_states *states)
{
	states->losses++;
}

/* ---- the scheduler's events --------------------------------------------------------- */

/* prev_state, as a number or, in text, as the letter that stands for it. */
static enum nw_task_state state_of(const struct nw_value *value)
{
	uint64_t mask = value->number & 0xff;

	if (value->kind == NW_VALUE_STRING)
		mask = !value->len	       ? 1
		       : value->text[0] == 'R' ? 0
		       : value->text[0] == 'D' ? 2
					       : 1;
	return mask == 0 ? NW_TASK_RUNNABLE : mask & 2 ? NW_TASK_DISK : NW_TASK_SLEEPING;
}

static void leaves(struct thread *thread, enum nw_task_state state, uint64_t now)
{
	if (thread->state != NW_TASK_RUNNING)
		thread->breaks++;
	enter(thread, state, now);
}

static void comes(struct thread *thread, uint64_t now)
{
	/* what sleeps is woken before it runs: that was not recorded */
	if (thread->state != NW_TASK_RUNNABLE)
		thread->breaks++;
	enter(thread, NW_TASK_RUNNING, now);
}

void nw_task_states_hit(struct nw_task_states *states, const struct nw_hit *hit)
{
	const struct scheduler_probe *probe = &states->probe[hit->probe];
	struct thread *thread[2] = {NULL};

	for (size_t i = 0; i < 3; i++)
		if (!hit->values || probe->arg[i] >= hit->value_count) {
			nw_task_states_loss(states); /* a record that does not tell */
			return;
		}
	const struct nw_value *first = &hit->values[probe->arg[0]];
	thread[0] = find(states, (int32_t)first->number);
	if (probe->kind == WAKING) {
		if (thread[0] && (thread[0]->state == NW_TASK_SLEEPING ||
				  thread[0]->state == NW_TASK_DISK))
			enter(thread[0], NW_TASK_RUNNABLE, hit->time);
		return;
	}
	thread[1] = find(states, (int32_t)hit->values[probe->arg[2]].number);
	if (thread[0])
		leaves(thread[0], state_of(&hit->values[probe->arg[1]]), hit->time);
	if (thread[1])
		comes(thread[1], hit->time);
}

/* ---- spans -------------------------------------------------------------------------- */

static void begin(struct nw_task_states *states, const struct nw_span_event *event)
{
	const struct thread *thread = running(states, event->hit);
	struct mark *mark = thread ? malloc(sizeof(*mark)) : NULL;

	if (!mark || states->marks.count >= NW_MOST_STARTS) {
		free(mark);
		return;
	}
	*mark = (struct mark){
		.tid = event->hit->tid, .breaks = thread->breaks, .losses = states->losses};
	memcpy(mark->spent, thread->spent, sizeof(mark->spent));
	if (nw_kept_put(&states->marks, nw_kept_id_of(event), mark) < 0)
		return; /* its parts will not be known */
}

bool nw_task_states_span(struct nw_task_states *states, const struct nw_span_event *event,
			 uint64_t out[NW_TASK_STATES])
{
	if (event->moment == NW_SPAN_BEGINS) {
		begin(states, event);
		return false;
	}
	if (event->moment == NW_SPAN_ENDS_NOTHING)
		return false;
	nw_cleanup(nw_free_ptr) struct mark *mark = nw_kept_take(&states->marks,
								 nw_kept_id_of(event));
	if (event->moment != NW_SPAN_ENDS || !mark)
		return false;
	memset(out, 0, NW_TASK_STATES * sizeof(*out));
	if (mark->tid !=
	    event->hit->tid) { /* what a thread did is not what the span waited for */
		out[NW_TASK_OTHERS] = event->hit->time - event->start;
		return true;
	}
	const struct thread *thread = running(states, event->hit);
	if (!thread || thread->breaks != mark->breaks || states->losses != mark->losses)
		return false;
	for (size_t i = 0; i < NW_TASK_STATES; i++)
		out[i] = thread->spent[i] - mark->spent[i];
	return true;
}
