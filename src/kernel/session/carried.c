// SPDX-License-Identifier: MIT
/*
 * Arguments that event probes read, because no fetch argument of the hit can say where they are. A hist trigger computes words, and
 * passes them to a synthetic event; event probes behind that one read the program's memory. They are parts of the hit.
 *
 * An element of an array, at base + index * scale (nw_fetch_sum()), needs one trigger, of the last event of the hit: the sum is a
 * variable of the CPU, set and passed on while the kernel holds the record, without preemption (ring_buffer.c:
 * ring_buffer_lock_reserve() up to ring_buffer_unlock_commit(), between which trace_event_buffer_commit() runs the triggers). So no
 * other hit comes between, and the map cannot run full.
 *
 * An argument of a call that is read when it returns (find/probe/carry.c) needs two:
 *
 *	the entry's hist trigger keeps the stack pointer and the arguments' bases, as variables of the thread;
 *	the return's takes them, and passes them on, with how far the stack pointer has moved since.
 *
 * A difference takes its variable away (trace_events_hist.c: read_once), so a return whose entry was not seen, or whose call
 * has called the function again, passes nothing on. If the inner call was left by longjmp() or an exception, its variables
 * are still there: then the stack pointer has moved by another distance than between the two ends of one call, and the
 * event probe's filter drops the record.
 *
 * recovery/teardown.c takes all of it away, in the only order that the kernel allows. The triggers come behind the enabling of
 * their events (see set_all() in triggers.c). Calls that hit before the triggers are set lack what is carried.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/tracefs/event_list.h"

#include "session_private.h"

enum {
	MOST_THREADS = 8192, /* entries of a hist trigger, which are never given back */
	LEAST_ENTRIES =
		128 /* of them there are, as tracing_map.h has it (TRACING_MAP_BITS_MIN) */
};

/* One point with such arguments, and if it is a return, the entry of its function. */
struct chain {
	const struct nw_planned_point *entry, *back;
	const struct nw_event *start,
		*end;	     /* whose triggers there are; start: NULL for sums */
	size_t kept;	     /* words that are kept */
	unsigned int bits;   /* of a word */
	size_t entry_number; /* of the entry in the plan: its variables are called by it */
	char synthetic[NW_MAX_NAME + 1];
};

static const struct nw_point *point_of(const struct nw_plan *plan,
				       const struct nw_planned_point *planned)
{
	return &plan->selection->probes.item[planned->probe]->points.item[planned->point];
}

static bool is_refused(const struct nw_session *session,
		       const struct nw_planned_point *planned, uint32_t part)
{
	const size_t number = (size_t)(planned - session->plan->points.item);

	return session->armed->points.item[number].refused >> part & 1;
}

/* Finds the entry of a return's chain. Returns false if it has none, or is not armed. */
static bool find_entry(const struct nw_session *session, struct chain *out)
{
	const struct nw_plan *plan = session->plan;

	out->entry = nw_plan_entry_of(plan, out->back);
	if (!out->entry)
		return false;
	out->entry_number = (size_t)(out->entry - plan->points.item);
	out->kept = point_of(plan, out->entry)->kept.count;
	out->start = nw_plan_event_of(plan, out->entry, 0);
	out->end = nw_plan_event_of(plan, out->back, 0);
	return out->start && out->end && out->entry->stack.field >= 0 &&
	       out->back->stack.field >= 0 &&
	       !session->armed->points.item[out->entry_number].failed;
}

/* Finds the chain of a planned point. Returns false if it has none, or its ends are not armed. */
static bool find_chain(const struct nw_session *session, size_t number, struct chain *out)
{
	const struct nw_plan *plan = session->plan;
	const struct nw_planned_point *back = &plan->points.item[number];

	if (!back->carried_part || session->armed->points.item[number].failed)
		return false;
	*out = (struct chain){.back = back,
			      .bits = 8 * point_of(plan, back)->image->arch->word};
	nw_plan_synthetic(plan, back->chain, out->synthetic);
	if (!back->sums.count)
		return find_entry(session, out);
	out->end = nw_plan_event_of(plan, back, back->carried_part - 1);
	return out->end && !is_refused(session, back, back->carried_part - 1);
}

static int append(struct nw_session *session, const struct chain *chain, const char *file,
		  const struct nw_buf *text, struct nw_error *err)
{
	int ret = text->failed
			  ? -ENOMEM
			  : nw_step_runner_step(
				    &session->runner, NW_DO_APPEND, file,
				    nw_buf_str((struct nw_buf *)(uintptr_t)text), NULL);

	if (ret == 0)
		return 0;
	nw_fail(err, -ret,
		chain->start
			? "the kernel refuses to keep arguments until the return: %s (%s)"
			: "the kernel refuses to add up the address of an element: %s (%s)",
		nw_strerror(-ret), file);
	nw_error_hint(
		err,
		chain->start
			? "leave @return out: then they are read at the entry"
			: "NOPWATCH_FEATURES=-elements in the environment: then the first 64 elements are read");
	return ret;
}

/* ---- the synthetic events, which event probes are defined behind --------------------- */

/* Writes the synthetic event: "NAME u64 d; u64 k0; u64 k1", or "NAME u64 e0; u64 e1". */
static void write_words(const struct chain *chain, struct nw_buf *out)
{
	nw_buf_adds(out, chain->synthetic);
	if (chain->start)
		nw_buf_printf(out, " u%u d;", chain->bits);
	for (size_t k = 0; k < chain->kept; k++)
		nw_buf_printf(out, " u%u k%zu;", chain->bits, k);
	for (size_t e = 0; e < chain->back->sums.count; e++)
		nw_buf_printf(out, " u%u e%zu;", chain->bits, e);
	if (out->len && !out->failed)
		out->data[--out->len] = '\0';
}

int nw_session_carry_define(struct nw_session *session, size_t first, struct nw_error *err)
{
	int ret = 0;

	for (size_t i = first; ret == 0 && i < session->plan->points.count; i++) {
		struct nw_buf text = {0};
		struct chain chain;
		if (!find_chain(session, i, &chain))
			continue;
		write_words(&chain, &text);
		ret = append(session, &chain, "synthetic_events", &text, err);
		nw_buf_free(&text);
	}
	return ret;
}

/* ---- triggers and filters ------------------------------------------------------------ */

/* Returns the name of the number-th field of an event. */
static const char *field_of(const struct nw_event *event, int number)
{
	return event->fields.item[number];
}

/* Writes the entry's trigger: "hist:keys=common_pid:s0=sp,k0_0=kept:size=8192". */
static void write_start(const struct chain *chain, struct nw_buf *out)
{
	nw_buf_printf(out, "hist:keys=common_pid:s%zu=%s", chain->entry_number,
		      field_of(chain->start, chain->entry->stack.field));
	for (size_t k = 0; k < chain->kept; k++)
		nw_buf_printf(out, ",k%zu_%zu=%s", chain->entry_number, k,
			      field_of(chain->start, chain->entry->kept_field + (int)k));
	nw_buf_printf(out, ":size=%d", MOST_THREADS);
}

/* Writes the trigger of sums: "hist:keys=common_cpu:x0_0=base+index*4:size=128:onmatch(G.e0).trace(G,$x0_0)". */
static void write_sums(const struct nw_plan *plan, const struct chain *chain,
		       struct nw_buf *out)
{
	const unsigned int number = chain->back->chain;
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	size_t i = 0;

	nw_buf_adds(out, "hist:keys=common_cpu");
	nw_vec_each (&chain->back->sums, sum) {
		nw_buf_printf(out, "%cx%u_%zu=%s+%s", i ? ',' : ':', number, i,
			      field_of(chain->end, sum->field),
			      field_of(chain->end, sum->field + 1));
		if (sum->scale > 1)
			nw_buf_printf(out, "*%u", sum->scale);
		i++;
	}
	nw_buf_printf(out, ":size=%ld:onmatch(%s.%s).trace(%s",
		      cpus > LEAST_ENTRIES ? cpus : LEAST_ENTRIES, plan->group,
		      chain->end->name, chain->synthetic);
	for (size_t e = 0; e < i; e++)
		nw_buf_printf(out, ",$x%u_%zu", number, e);
	nw_buf_addc(out, ')');
}

/* Writes the return's trigger: "hist:keys=common_pid:d1=sp-$s0,q1_0=$k0_0:size=8192:onmatch(G.start).trace(G,$d1,$q1_0)". */
static void write_end(const struct nw_plan *plan, const struct chain *chain,
		      struct nw_buf *out)
{
	const unsigned int number = chain->back->chain;

	if (!chain->start) {
		write_sums(plan, chain, out);
		return;
	}
	nw_buf_printf(out, "hist:keys=common_pid:d%u=%s-$s%zu", number,
		      field_of(chain->end, chain->back->stack.field), chain->entry_number);
	for (size_t k = 0; k < chain->kept; k++)
		nw_buf_printf(out, ",q%u_%zu=$k%zu_%zu", number, k, chain->entry_number, k);
	nw_buf_printf(out, ":size=%d:onmatch(%s.%s).trace(%s,$d%u", MOST_THREADS,
		      plan->group, chain->start->name, chain->synthetic, number);
	for (size_t k = 0; k < chain->kept; k++)
		nw_buf_printf(out, ",$q%u_%zu", number, k);
	nw_buf_addc(out, ')');
}

static void trigger_file(const struct nw_session *session, const struct nw_event *event,
			 char out[512])
{
	nw_event_file(session->plan->group, session->plan->group, event->name, "trigger",
		      out);
}

/* Is there no entry that needs a trigger, or has an earlier chain the same one, and its trigger? */
static bool has_start(const struct nw_session *session, size_t number,
		      const struct chain *chain)
{
	struct chain other;

	for (size_t i = 0; chain->start && i < number; i++)
		if (find_chain(session, i, &other) && other.entry == chain->entry)
			return true;
	return !chain->start;
}

/* Lets the parts of a return through only if the stack pointer has moved as between the two ends of one call. */
static int set_filters(struct nw_session *session, const struct chain *chain)
{
	char file[512], text[64];
	int ret = 0;

	snprintf(text, sizeof(text), "%s == %" PRIu64, nw_plan_moved,
		 (uint64_t)chain->back->stack.pops);
	for (uint32_t part = chain->back->carried_part;
	     ret == 0 && part < chain->back->parts; part++) {
		const struct nw_event *event = nw_plan_event_of(session->plan, chain->back,
								part);
		if (!event || is_refused(session, chain->back, part))
			continue;
		nw_event_file(session->plan->group, session->plan->group, event->name,
			      "filter", file);
		ret = nw_step_runner_step(&session->runner, NW_DO_WRITE, file, text, NULL);
	}
	return ret;
}

int nw_session_carry_begin(struct nw_session *session, size_t first, struct nw_error *err)
{
	int ret = 0;

	for (size_t i = first; ret == 0 && i < session->plan->points.count; i++) {
		struct nw_buf start = {0}, end = {0};
		struct chain chain;
		char file[512];
		if (!find_chain(session, i, &chain))
			continue;
		if (chain.start && (ret = set_filters(session, &chain)) < 0)
			nw_fail(err, -ret,
				"the kernel refuses a filter of what is read at the return: %s",
				nw_strerror(-ret));
		if (ret == 0 && !has_start(session, i, &chain)) {
			write_start(&chain, &start);
			trigger_file(session, chain.start, file);
			ret = append(session, &chain, file, &start, err);
		}
		write_end(session->plan, &chain, &end);
		trigger_file(session, chain.end, file);
		if (ret == 0)
			ret = append(session, &chain, file, &end, err);
		nw_buf_free(&start);
		nw_buf_free(&end);
	}
	return ret;
}

/* ---- printing how it is taken away ---------------------------------------------------- */

/* Prints that a trigger is removed. */
static int remove_trigger(struct nw_session *session, const struct nw_event *event,
			  const struct nw_buf *text)
{
	nw_cleanup(nw_free_ptr) char *undo = nw_text(
		"!%s", nw_buf_str((struct nw_buf *)(uintptr_t)text));
	char file[512];

	trigger_file(session, event, file);
	return undo && !text->failed ? nw_step_runner_step(&session->runner, NW_DO_APPEND,
							   file, undo, NULL)
				     : -ENOMEM;
}

int nw_session_carry_print_end(struct nw_session *session)
{
	struct chain chain;
	int ret = 0;

	for (int starts = 0; starts < 2; starts++)
		for (size_t i = 0; ret == 0 && i < session->plan->points.count; i++) {
			struct nw_buf text = {0};
			if (!find_chain(session, i, &chain) ||
			    (starts && has_start(session, i, &chain)))
				continue;
			if (starts)
				write_start(&chain, &text);
			else
				write_end(session->plan, &chain, &text);
			ret = remove_trigger(session, starts ? chain.start : chain.end,
					     &text);
			nw_buf_free(&text);
		}
	return ret;
}

int nw_session_carry_print_removal(struct nw_session *session)
{
	char text[2 * NW_MAX_NAME + 16];
	struct chain chain;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < session->plan->points.count; i++) {
		if (!find_chain(session, i, &chain))
			continue;
		for (uint32_t part = chain.back->carried_part;
		     ret == 0 && part < chain.back->parts; part++) {
			const struct nw_event *event = nw_plan_event_of(session->plan,
									chain.back, part);
			if (!event)
				continue;
			snprintf(text, sizeof(text), "%s/%s", session->plan->group,
				 event->name);
			ret = nw_step_runner_step(&session->runner, NW_DO_DELETE,
						  nw_session_list(session, event), text,
						  NULL);
		}
		snprintf(text, sizeof(text), "!%s", chain.synthetic);
		if (ret == 0)
			ret = nw_step_runner_step(&session->runner, NW_DO_APPEND,
						  "synthetic_events", text, NULL);
	}
	return ret;
}
