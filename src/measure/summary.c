// SPDX-License-Identifier: MIT
/*
 * Counts hits in rows.
 *
 * A measured span must be true, so a loss discards what it may have affected and nothing else: a span that was open
 * when events were lost is discarded, since its end or another start may be among them, and so is the gap across the
 * loss. These spans are not searched for: the summary keeps the end of the last loss, and drops an older start when
 * it meets one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"

/* The work that hits need beside counts and latencies. It is a constant where functions are inlined, so that only what is
 * requested costs time. */
enum asked {
	ASKED_NOTHING,
	/* Also compute probe overhead; the values below do so, too, if the summary knows the cost of a hit */
	ASKED_COST,
	ASKED_SLOW, /* also make events of slow spans for the listener */
	ASKED_ALL   /* also make events of all spans */
};

/* ---- groups ------------------------------------------------------------------------- */

/* Notes that a group has a row that is not empty, so that the end of a bin does not walk all groups. */
static nw_noinline void touch(struct nw_summary *s, int64_t group)
{
	uint32_t *place = nw_vec_add(&s->touched);

	s->failed |= !place;
	if (!place)
		return;
	*place = (uint32_t)group;
	s->groups.item[group].touched = true;
}

/* Returns the group of a hit; group -1 is unknown, "?". NULL: no memory. */
static nw_inlined struct group *group_of(struct nw_summary *s, int64_t group)
{
	if (nw_likely(!s->options.grouped))
		group = 0;
	else if (nw_unlikely(group < 0))
		group = nw_summary_group(s, "?", 1);
	if (nw_unlikely(group < 0))
		return NULL;
	if (nw_unlikely(s->options.bins && !s->groups.item[group].touched))
		touch(s, group);
	return &s->groups.item[group];
}

/* ---- spans -------------------------------------------------------------------------- */

/* Does a hit that begins a span make an event? */
static inline bool emits_begin(const struct nw_summary *s, const struct nw_hit *hit)
{
	return s->task_states || (s->options.listener && (!s->options.lazy || hit->values));
}

static void discard(struct nw_summary *s, struct nw_span_row *row, uint32_t count)
{
	row->discarded += count;
	s->discarded += count;
}

void nw_summary_abandon(struct nw_summary *s, uint32_t span, struct nw_open_slot *slot,
			bool ended)
{
	struct nw_start start;

	while (nw_open_pop(&s->open, slot, &start)) {
		if (start.group == NW_HIDDEN)
			continue;
		struct group *g = group_of(s, start.group);
		if (!g)
			continue;
		struct nw_span_row *row = span_row(s, g, span);
		bool lost = start.time < s->loss_until || s->broken[span];
		if (lost)
			discard(s, row, 1);
		else
			*(ended ? &row->abandoned : &row->unmatched_starts) += 1;
		nw_span_emit_gone(s, span, slot->key, &start,
				  lost	  ? "discarded"
				  : ended ? "abandoned"
					  : "unmatched");
	}
	slot->outlived = 0;
}

/* Drops the starts of a key if the end of the innermost may be lost, since then all of them may have ended. */
static inline bool drop_stale(struct nw_summary *s, uint32_t span,
			      struct nw_open_slot *slot)
{
	if (nw_likely(!slot->depth || slot->top.time >= s->loss_until))
		return false;
	nw_summary_abandon(s, span, slot, false);
	return true;
}

/* Drops open starts of the same key before a span begins, if they cannot or must not stay. Returns whether the start
 * is inside one that stays and that alone counts (nest=outer). */
static nw_noinline bool make_way(struct nw_summary *s, uint32_t span,
				 struct nw_open_slot *slot)
{
	if (!slot->depth || drop_stale(s, span, slot))
		return false;
	if (s->options.spans[span].flat)
		nw_summary_abandon(s, span, slot, true);
	slot->outlived += s->options.spans[span].outer;
	return s->options.spans[span].outer;
}

/* Is it the end of a start inside the one that counts (nest=outer)? Then it counts as little. */
static bool ends_inner(struct nw_summary *s, uint32_t span, struct nw_open_slot *slot)
{
	if (!s->options.spans[span].outer || !slot->outlived || drop_stale(s, span, slot))
		return false;
	slot->outlived--;
	return true;
}

/* Writes field by field to the final place: copying a struct directly after writing its parts would make the
 * processor wait for them. */
static nw_inlined void set_start(const struct nw_summary *s, const struct nw_hit *hit,
				 int32_t group, const enum asked asked,
				 struct nw_start *out)
{
	out->time = hit->time;
	out->spent = asked != ASKED_NOTHING ? s->spent : 0;
	out->cpu = hit->cpu;
	out->group = group;
	out->whose = nw_hit_thread(hit);
	out->probe = hit->probe;
}

/* Adds a measured span to its row. */
static nw_inlined void add_span(struct nw_summary *s, struct nw_span_row *row,
				const struct nw_start *start, const struct nw_hit *hit,
				const enum asked asked)
{
	if (asked == ASKED_NOTHING || (asked != ASKED_COST && !s->self_cost)) {
		nw_histogram_add_here(&row->latency, hit->time - start->time);
		return;
	}
	const struct nw_measured measured = nw_summary_measure(s, start, hit,
							       nw_hit_thread(hit));
	nw_histogram_add_here(&row->latency, measured.latency);
	add_cost(s, row, &measured);
}

/* Begins a span whose key is new or has open spans, or when too many spans are open. */
static nw_noinline int begin_unusual(struct nw_summary *s, uint32_t span, uint64_t key,
				     struct nw_open_slot *slot,
				     const struct nw_start *start, struct nw_span_row *row)
{
	if (make_way(s, span, slot)) {
		row->inner++;
		return 0;
	}
	bool full = s->open.open >= s->open.most;
	int given_up = nw_open_push(&s->open, slot, span, key, start);
	if (given_up > 0)
		row->unmatched_starts += (uint64_t)given_up;
	if (given_up > 0 && full)
		s->crowded_out += (uint64_t)given_up;
	return given_up < 0 ? given_up : 0;
}

static nw_inlined int begin(struct nw_summary *s, uint32_t span, uint64_t key,
			    const struct nw_hit *hit, int64_t group,
			    struct nw_span_row *row, const enum asked asked)
{
	struct nw_open_slot *slot = nw_open_find(&s->open, span, key);
	struct nw_start unusual, *start = nw_open_put(&s->open, slot);
	bool is_put = start;

	if (nw_unlikely(!is_put))
		start = &unusual;
	set_start(s, hit, (int32_t)group, asked, start);
	if (asked != ASKED_NOTHING && s->options.spans[span].key != NW_KEY_TID)
		start->whose = NW_START_NOBODYS;
	return nw_likely(is_put) ? 0 : begin_unusual(s, span, key, slot, start, row);
}

/* Ends a span if there are several of its key, none, or one that does not count. */
static nw_noinline int end_unusual(struct nw_summary *s, uint32_t span,
				   struct nw_open_slot *slot, const struct nw_hit *hit,
				   int64_t group, struct nw_span_row *row)
{
	struct nw_start start;

	if (drop_stale(s, span, slot) || ends_inner(s, span, slot))
		return 0;
	if (!nw_open_pop(&s->open, slot, &start)) {
		row->unmatched_ends++;
		nw_role_watch_strays(s, span);
		return 0;
	}
	bool outlived = nw_open_outlived(slot);
	if (start.group != group) {
		if (start.group == NW_HIDDEN)
			return 0;
		struct group *g = group_of(s, nw_summary_span_group(s, start.group, group));
		if (!g)
			return -ENOMEM;
		row = span_row(s, g, span);
	}
	row->nested += outlived;
	if (hit->time < start.time)
		discard(s, row, 1);
	else
		add_span(s, row, &start, hit, ASKED_ALL);
	return 0;
}

static nw_inlined int end_in(struct nw_summary *s, uint32_t span, struct nw_open_slot *slot,
			     const struct nw_hit *hit, int64_t group,
			     struct nw_span_row *row, const enum asked asked)
{
	const struct nw_start *start = &slot->top;

	if (nw_unlikely(!nw_open_is_single(slot) || start->time < s->loss_until ||
			start->group != group || hit->time < start->time))
		return end_unusual(s, span, slot, hit, group, row);
	add_span(s, row, start, hit, asked);
	nw_open_drop_single(&s->open, slot);
	return 0;
}

/* begin() and end() for spans that make, or may make, events. */
static int begin_emitting(struct nw_summary *s, uint32_t span, uint64_t key,
			  const struct nw_hit *hit, int64_t group, struct nw_span_row *row)
{
	uint64_t unmatched = row->unmatched_starts, inner = row->inner;
	int ret = begin(s, span, key, hit, group, row, ASKED_ALL);
	if (row->inner != inner)
		return ret;
	bool given_up = ret == 0 && row->unmatched_starts != unmatched;

	if (given_up && !s->open.gave_itself)
		nw_span_emit_gone(s, span, key, &s->open.given_up, "unmatched");
	if (ret == 0 && (emits_begin(s, hit) || s->options.spans[span].key != NW_KEY_TID))
		nw_span_emit_hit(s, NW_SPAN_BEGINS, span, key, NULL, hit, group);
	if (given_up && s->open.gave_itself)
		nw_span_emit_gone(s, span, key, &s->open.given_up, "unmatched");
	return ret;
}

/* A filter hides the beginning or the end of a span, but not that its thread has served the key. */
static void take_hidden_turn(const struct nw_summary *s, uint32_t span, uint64_t key,
			     const struct nw_hit *hit)
{
	if (s->task_states && s->options.spans[span].key != NW_KEY_TID)
		nw_task_states_turn(s->task_states, span, key, hit);
}

static int end_emitting(struct nw_summary *s, uint32_t span, uint64_t key,
			const struct nw_hit *hit, int64_t group, struct nw_span_row *row)
{
	struct nw_open_slot *slot = nw_open_find(&s->open, span, key);
	bool has = slot->depth, stale = has && slot->top.time < s->loss_until;
	bool inner = s->options.spans[span].outer && slot->outlived;
	const struct nw_start start = slot->top;
	int ret = end_in(s, span, slot, hit, group, row, ASKED_ALL);

	if (ret < 0 || stale || inner)
		return ret;
	if (has && start.group == NW_HIDDEN)
		take_hidden_turn(s, span, key, hit);
	else if (!has)
		nw_span_emit_hit(s, NW_SPAN_ENDS_NOTHING, span, key, NULL, hit, group);
	else if (hit->time < start.time)
		nw_span_emit_gone(s, span, key, &start, "discarded");
	else
		nw_span_emit_hit(s, NW_SPAN_ENDS, span, key, &start, hit, group);
	return ret;
}

/* Does the same as end() if only slow spans make events. A span that seems to end before it began counts as slow. */
static nw_inlined int end_watched(struct nw_summary *s, uint32_t span, uint64_t key,
				  const struct nw_hit *hit, int64_t group,
				  struct nw_span_row *row)
{
	struct nw_open_slot *slot = nw_open_find(&s->open, span, key);

	if (nw_unlikely(slot->depth && hit->time - slot->top.time > s->least[span]))
		return end_emitting(s, span, key, hit, group, row);
	return end_in(s, span, slot, hit, group, row, ASKED_SLOW);
}

/* Returns the row of a start; NULL: a filter has dropped the start, so it has no row. */
static struct nw_span_row *row_of_start(struct nw_summary *s, uint32_t span,
					const struct nw_start *start)
{
	struct group *g = start->group == NW_HIDDEN ? NULL : group_of(s, start->group);

	return g ? span_row(s, g, span) : NULL;
}

void nw_summary_call_over(void *arg, uint64_t owner, const struct nw_call *call,
			  enum nw_call_fate fate)
{
	struct nw_summary *s = arg;
	struct nw_span_row *row = row_of_start(s, call->span, &call->start);
	const char *why = "unmatched";

	if (!row)
		return;
	row->repeated += fate == NW_CALL_REPEATED || fate == NW_CALL_ONCE_MORE;
	if (fate == NW_CALL_ONCE_MORE)
		return;
	if (fate == NW_CALL_REPEATED) {
		why = "repeated";
	} else if (s->broken[call->span] ||
		   (fate == NW_CALL_OPEN && call->start.time < s->loss_until)) {
		discard(s, row, 1);
		why = "discarded";
	} else if (fate == NW_CALL_ABANDONED) {
		row->abandoned++;
		why = "abandoned";
	} else if (fate == NW_CALL_OMITTED) {
		row->omitted++;
		why = "omitted";
	} else {
		row->unmatched_starts++;
	}
	nw_span_emit_gone(s, call->span, nw_call_key(s, owner, call), &call->start, why);
}

static nw_inlined int begin_call(const struct nw_summary *s, struct nw_calls *calls,
				 const struct role *role, const struct nw_hit *hit,
				 int64_t group, const struct nw_stack_owner *owner)
{
	struct nw_call call = {.stack = nw_stack_of(hit),
			       .span = role->span,
			       .site = hit->planned & 0x3fffffff,
			       .limited = role->limited};

	set_start(s, hit, (int32_t)group, ASKED_ALL, &call.start);
	if (owner->process) {
		call.start.whose = NW_START_GOROUTINE;
		call.start.spent = s->goroutine_spent;
	}
	return nw_calls_begin(calls, owner, &call);
}

/* Called for each open start of a span that was paired by frames and is paired by order from now on. */
static int reopen(void *arg, int32_t tid, const struct nw_call *call)
{
	struct nw_summary *s = arg;
	uint64_t key = (uint32_t)tid;
	struct nw_open_slot *slot = nw_open_find(&s->open, call->span, key);
	int given_up = nw_open_push(&s->open, slot, call->span, key, &call->start);

	if (given_up > 0) {
		struct nw_span_row *row = row_of_start(s, call->span, &s->open.given_up);
		if (row)
			row->unmatched_starts++;
		nw_span_emit_gone(s, call->span, key, &s->open.given_up, "unmatched");
	}
	return given_up < 0 ? given_up : 0;
}

/*
 * Handles an end in a frame in which nothing of its span has begun. The first such end may be that of a start before
 * the run: returns -EAGAIN. If it happens more often, the program begins in one call what it ends in another, or
 * keeps several open in one frame, so the assumption made from the code was wrong: from now on the span is paired by
 * order.
 */
static nw_noinline int misfit(struct nw_summary *s, uint32_t span)
{
	enum {
		TIMES = 8 /* tolerates one misfit per 8 matches */
	};
	struct fitting *fitting = &s->fitting[span];

	if (++fitting->misfits < 2 || fitting->misfits * TIMES <= fitting->matched)
		return -EAGAIN;
	for (size_t i = 0; i < s->probes; i++)
		nw_vec_each (&s->probe[i].roles, role)
			if (role->span == span) {
				role->calls = NULL;
				role->plain = role->until == UINT64_MAX &&
					      !nw_summary_emits(s);
			}
	return nw_calls_take(&s->frames, span, reopen, s);
}

/* Takes a hit of a function's entry or return, or of a framed span. group: of the hit, or NW_HIDDEN. */
static nw_noinline int play_call(struct nw_summary *s, const struct role *role,
				 const struct nw_hit *hit, int32_t pid, int64_t group,
				 struct group *g)
{
	struct nw_calls *calls = role->calls;
	struct nw_stack_owner owner;
	struct nw_call call;

	if (nw_unlikely(hit->time >= role->until))
		return 0;
	nw_stack_owner_of(hit, pid, &owner);
	if (!role->is_end) {
		int begun = begin_call(s, calls, role, hit, group, &owner);
		call = (struct nw_call){.span = role->span, .stack = nw_stack_of(hit)};
		if (begun == 0 && group != NW_HIDDEN && emits_begin(s, hit))
			nw_span_emit_hit(s, NW_SPAN_BEGINS, role->span,
					 nw_call_key(s, owner.number, &call), NULL, hit,
					 group);
		return begun < 0 ? begun : 0;
	}
	enum nw_call_end ended = nw_calls_end(calls, &owner, role->span, nw_stack_of(hit),
					      &call);
	if (nw_unlikely(ended == NW_CALL_STALE))
		return 0;
	if (nw_unlikely(ended != NW_CALL_RETURNED)) {
		int ret = ended == NW_CALL_MISFIT ? misfit(s, role->span) : -EAGAIN;
		struct nw_span_row *row = g ? span_row(s, g, role->span) : NULL;
		if (ret == 0 && row)
			return end_emitting(s, role->span, owner.number, hit, group, row);
		if (row) {
			row->unmatched_ends++;
			nw_span_emit_hit(s, NW_SPAN_ENDS_NOTHING, role->span, owner.number,
					 NULL, hit, group);
		}
		return ret == -EAGAIN ? 0 : ret;
	}
	s->fitting[role->span].matched++;
	const struct nw_start *start = &call.start;
	uint64_t key = nw_call_key(s, owner.number, &call);
	if (nw_unlikely(start->group != group || group == NW_HIDDEN)) {
		if (group == NW_HIDDEN)
			nw_span_emit_gone(s, role->span, key, start, "filtered");
		if (group == NW_HIDDEN || start->group == NW_HIDDEN)
			return 0;
		g = group_of(s, nw_summary_span_group(s, start->group, group));
		if (!g)
			return -ENOMEM;
	}
	struct nw_span_row *row = span_row(s, g, role->span);
	if (nw_unlikely(hit->time < start->time)) {
		discard(s, row, 1);
		nw_span_emit_gone(s, role->span, key, start, "discarded");
		return 0;
	}
	add_span(s, row, start, hit, ASKED_ALL);
	if (nw_summary_emits(s) &&
	    (!nw_summary_emits_slow(s) || hit->time - start->time > s->least[role->span]))
		nw_span_emit_hit(s, NW_SPAN_ENDS, role->span, key, start, hit, group);
	return 0;
}

/* Takes the usual hit of a call, on a thread's own stack: the begin of a call or the end of the innermost one.
 * Returns false if it is another case; then nothing was changed. */
static nw_inlined bool play_plain_call(struct nw_summary *s, const struct role *role,
				       const struct nw_hit *hit, int64_t group,
				       struct nw_span_row *row, const enum asked asked)
{
	struct nw_calls *calls = role->calls;
	const struct nw_call *top;

	if (nw_unlikely(hit->goroutine || hit->time >= role->until))
		return false;
	if (!role->is_end) {
		struct nw_call *call = nw_calls_put(calls, hit->tid, hit->stack);
		if (nw_unlikely(!call))
			return false;
		call->stack = hit->stack;
		set_start(s, hit, (int32_t)group, asked, &call->start);
		call->span = role->span;
		call->site = hit->planned & 0x3fffffff;
		call->limited = role->limited;
		call->again = false;
		return true;
	}
	struct nw_calls_of *thread = nw_calls_top(calls, hit->tid, role->span, hit->stack,
						  &top);
	if (nw_unlikely(!thread || top->start.group != group ||
			hit->time < top->start.time))
		return false;
	if (asked == ASKED_SLOW && hit->time - top->start.time > s->least[role->span])
		return false;
	s->fitting[role->span].matched++;
	add_span(s, row, &top->start, hit, asked);
	nw_calls_drop_top(calls, thread);
	return true;
}

/* Is the thread whose number is the key measured? 0 is the idle thread of any CPU. */
static bool is_measured(const struct nw_summary *s, uint64_t key)
{
	return key != 0 && (!s->wanted || s->wanted(s->wanted_arg, (int32_t)key));
}

/* Takes a hit of a span that is not keyed by thread, or one of whose probes was disabled. */
static nw_noinline int play_unusual(struct nw_summary *s, const struct role *role,
				    const struct nw_hit *hit, int32_t pid, int64_t group,
				    struct group *g)
{
	struct nw_span_row *row = span_row(s, g, role->span);
	uint64_t key;

	if (hit->time >= role->until)
		return 0;
	if (role->unit_ns) {
		nw_role_hand_over(s, role, hit, group, row);
		return 0;
	}
	if (!nw_role_key(role, hit, pid, &key)) {
		*(role->is_end ? &row->unmatched_ends : &row->unmatched_starts) += 1;
		return 0;
	}
	if (role->thread && !is_measured(s, key))
		return 0;
	if (nw_unlikely(s->strays[role->span].on))
		nw_role_show_strays(s, role, hit, key);
	return role->is_end ? end_emitting(s, role->span, key, hit, group, row)
			    : begin_emitting(s, role->span, key, hit, group, row);
}

static nw_inlined int play_role(struct nw_summary *s, const struct role *role,
				const struct nw_hit *hit, int32_t pid, int64_t group,
				struct group *g, const enum asked asked, const bool grouped)
{
	struct nw_span_row *row = grouped ? span_row(s, g, role->span)
					  : &g->current.spans[role->span];

	if (!role->plain) {
		if (!role->calls || !hit->stack)
			return play_unusual(s, role, hit, pid, group, g);
		return asked != ASKED_ALL &&
				       play_plain_call(s, role, hit, group, row, asked)
			       ? 0
			       : play_call(s, role, hit, pid, group, g);
	}
	uint64_t key = (uint32_t)nw_hit_thread(hit);
	if (asked == ASKED_ALL && role->is_end)
		return end_emitting(s, role->span, key, hit, group, row);
	if (asked == ASKED_ALL && emits_begin(s, hit))
		return begin_emitting(s, role->span, key, hit, group, row);
	if (asked == ASKED_SLOW && role->is_end)
		return end_watched(s, role->span, key, hit, group, row);
	return role->is_end ? end_in(s, role->span, nw_open_find(&s->open, role->span, key),
				     hit, group, row, asked)
			    : begin(s, role->span, key, hit, group, row, asked);
}

/* ---- hits --------------------------------------------------------------------------- */

static nw_inlined int take_hit(struct nw_summary *s, struct group *g,
			       const struct nw_hit *hit, int32_t pid, int64_t group,
			       const enum asked asked, const bool grouped)
{
	const struct probe_state *state = &s->probe[hit->probe];
	struct nw_probe_row *row = grouped ? probe_row(s, g, hit->probe)
					   : &g->current.probes[hit->probe];

	count_hit(s, row, hit->time);
	if (row->args && hit->values)
		nw_row_add_args(row, hit);
	const size_t place = grouped ? (size_t)(g - s->groups.item) : 0;
	const struct role *role = state->roles.item;
	for (size_t left = state->roles.count; nw_likely(left); role++) {
		if (grouped) /* a span may have made a group, which moves the array */
			g = &s->groups.item[place];
		int ret = play_role(s, role, hit, pid, group, g, asked, grouped);
		if (nw_unlikely(ret))
			return ret;
		if (nw_likely(!--left)) /* most probes have one role */
			break;
	}
	return 0;
}

/* Computes the probe overhead of the thread and the goroutine. Must be called before the hit begins or ends spans. */
static nw_inlined void add_probe_cost(struct nw_summary *s, const struct nw_hit *hit,
				      int32_t pid, const enum asked asked)
{
	if (asked == ASKED_NOTHING || (asked != ASKED_COST && !s->self_cost))
		return;
	s->spent = nw_self_cost_hit(s->self_cost, hit, nw_hit_thread(hit));
	if (nw_unlikely(s->goroutines && hit->stack && hit->goroutine))
		s->goroutine_spent = nw_self_cost_goroutine_hit(s->self_cost, hit, pid);
}

/* May a span begin with this hit and end with the next one, without a trace in the open spans? */
static nw_inlined bool passes_by(struct nw_summary *s, const struct role *begins,
				 const struct role *ends, const struct nw_hit *hit)
{
	const struct nw_hit *end = hit + 1;

	if (begins->plain && ends->plain)
		return hit->time >= s->loss_until &&
		       nw_open_is_idle(&s->open, nw_open_find(&s->open, begins->span,
							      (uint32_t)hit->tid));
	if (!begins->calls || begins->calls != ends->calls || !hit->stack ||
	    hit->stack != end->stack || hit->goroutine || end->goroutine ||
	    end->time >= begins->until || end->time >= ends->until ||
	    !nw_calls_pass(begins->calls, hit->tid, hit->stack, hit->time))
		return false;
	s->fitting[begins->span].matched++;
	return true;
}

/*
 * Takes a start and the hit behind it at once, if that is the end of the start's span on the same thread: nothing is
 * left open then, and the probe overhead inside of the span is that of these two hits. Returns false if it is another
 * case; then nothing was changed.
 */
static nw_inlined bool take_pair(struct nw_summary *s, struct group *g,
				 const struct nw_hit *hit, const enum asked asked)
{
	const struct nw_hit *end = hit + 1;
	const struct probe_state *first = &s->probe[hit->probe];
	const struct probe_state *second = &s->probe[end->probe];

	if (first->roles.count != 1 || second->roles.count != 1)
		return false;
	const struct role *begins = first->roles.item, *ends = second->roles.item;
	if (begins->is_end || !ends->is_end || begins->span != ends->span ||
	    hit->tid != end->tid || !hit->tid || end->time < hit->time ||
	    !passes_by(s, begins, ends, hit))
		return false;
	count_hit(s, &g->current.probes[hit->probe], hit->time);
	count_hit(s, &g->current.probes[end->probe], end->time);
	struct nw_span_row *row = &g->current.spans[begins->span];
	struct nw_measured measured = {.latency = end->time - hit->time};
	if (asked != ASKED_NOTHING) {
		nw_self_cost_pair(s->self_cost, hit, end, hit->tid);
		measured.cost = nw_summary_pair_cost(s, hit->probe, end->probe);
		nw_summary_take_off(s, &measured);
		add_cost(s, row, &measured);
	}
	nw_histogram_add_here(&row->latency, measured.latency);
	return true;
}

/* Takes several hits. grouped: only one hit is passed at a time. */
static nw_inlined int take_hits(struct nw_summary *s, struct group *g,
				const struct nw_hit *hits, size_t count, int32_t pid,
				int64_t group, const enum asked asked, const bool grouped)
{
	int ret = 0;

	for (const struct nw_hit *hit = hits; hit < hits + count; hit++) {
		if (!grouped && (asked == ASKED_NOTHING || asked == ASKED_COST) &&
		    hit + 1 < hits + count && take_pair(s, g, hit, asked)) {
			hit++;
			continue;
		}
		add_probe_cost(s, hit, pid, asked);
		ret = take_hit(s, g, hit, pid, group, asked, grouped);
		if (nw_unlikely(ret))
			break;
	}
	if (asked != ASKED_NOTHING && s->equal_costs.times)
		add_equal_costs(s);
	return ret;
}

/* Takes hits that need more than counts and latencies. They are not grouped. */
static nw_noinline int take_asked(struct nw_summary *s, struct group *g,
				  const struct nw_hit *hits, size_t count)
{
	if (!nw_summary_emits(s))
		return take_hits(s, g, hits, count, 0, 0, ASKED_COST, false);
	return nw_summary_emits_slow(s)
		       ? take_hits(s, g, hits, count, 0, 0, ASKED_SLOW, false)
		       : take_hits(s, g, hits, count, 0, 0, ASKED_ALL, false);
}

/* Takes one such hit. It may be grouped. */
static nw_noinline int take_one(struct nw_summary *s, struct group *g,
				const struct nw_hit *hit, int32_t pid, int64_t group)
{
	const bool grouped = s->options.grouped;

	return nw_summary_emits(s)
		       ? take_hits(s, g, hit, 1, pid, group, ASKED_ALL, grouped)
		       : take_hits(s, g, hit, 1, pid, group, ASKED_COST, grouped);
}

static void follow_states(struct nw_summary *s, const struct nw_hit *hit)
{
	if (s->task_states && nw_task_states_uses(s->task_states, hit->probe))
		nw_task_states_hit(s->task_states, hit);
}

void nw_summary_scheduled(struct nw_summary *s, const struct nw_hit *hit)
{
	/* Whichever thread the event is about, recording it took time from the thread that ran. */
	add_probe_cost(s, hit, 0, ASKED_ALL);
	follow_states(s, hit);
}

int nw_summary_hit(struct nw_summary *s, const struct nw_hit *hit, int32_t pid,
		   int64_t group)
{
	if (nw_likely(s->plain && !s->options.grouped))
		return take_hit(s, s->groups.item, hit, pid, 0, ASKED_NOTHING, false);
	struct group *g = group_of(s, group);
	int ret;
	if (nw_unlikely(!g))
		return -ENOMEM;
	if (nw_unlikely(s->task_states))
		follow_states(s, hit);
	ret = nw_likely(s->plain) ? take_hit(s, g, hit, pid, group, ASKED_NOTHING, true)
				  : take_one(s, g, hit, pid, group);
	return nw_likely(!s->failed) ? ret : -ENOMEM;
}

int nw_summary_hits(struct nw_summary *s, const struct nw_hit *hits, size_t count)
{
	struct group *g = group_of(s, 0);

	return nw_likely(s->plain)
		       ? take_hits(s, g, hits, count, 0, 0, ASKED_NOTHING, false)
		       : take_asked(s, g, hits, count);
}

int nw_summary_untraced_hit(struct nw_summary *s, const struct nw_hit *hit)
{
	int ret = 0;

	follow_states(s, hit);
	nw_vec_each (&s->probe[hit->probe].roles, role) {
		struct group *g = role->thread && ret == 0 ? group_of(s, -1) : NULL;
		if (g)
			ret = play_unusual(s, role, hit, 0, -1, g);
	}
	return ret;
}

/* Does the same as play_role() for a hit that does not count. */
static int hide_role(struct nw_summary *s, const struct role *role,
		     const struct nw_hit *hit, int32_t pid)
{
	struct nw_start hidden, start;
	uint64_t key;

	if (role->calls && hit->stack)
		return play_call(s, role, hit, pid, NW_HIDDEN, NULL);
	if (role->unit_ns)
		return 0;
	if (hit->time >= role->until || !nw_role_key(role, hit, pid, &key) ||
	    (role->thread && !is_measured(s, key)))
		return 0;
	struct nw_open_slot *slot = nw_open_find(&s->open, role->span, key);
	if (role->is_end) {
		if (!drop_stale(s, role->span, slot) && !ends_inner(s, role->span, slot) &&
		    nw_open_pop(&s->open, slot, &start)) {
			nw_open_outlived(slot);
			take_hidden_turn(s, role->span, key, hit);
			nw_span_emit_gone(s, role->span, key, &start, "filtered");
		}
		return 0;
	}
	if (make_way(s, role->span, slot))
		return 0;
	take_hidden_turn(s, role->span, key, hit);
	set_start(s, hit, NW_HIDDEN, ASKED_ALL, &hidden);
	int given_up = nw_open_push(&s->open, slot, role->span, key, &hidden);
	if (given_up > 0) { /* an older start of the key, which did count */
		struct group *g = group_of(s, -1);
		if (g)
			span_row(s, g, role->span)->unmatched_starts++;
		nw_span_emit_gone(s, role->span, key, &s->open.given_up, "unmatched");
	}
	return given_up < 0 ? given_up : 0;
}

int nw_summary_filtered(struct nw_summary *s, const struct nw_hit *hit, int32_t pid)
{
	int ret = 0;

	follow_states(s, hit);
	add_probe_cost(s, hit, pid, ASKED_ALL);
	nw_vec_each (&s->probe[hit->probe].roles, role)
		if (ret == 0)
			ret = hide_role(s, role, hit, pid);
	return ret;
}
