// SPDX-License-Identifier: MIT
/*
 * Arguments of a call that are read when it returns (find/probe/carry.c). Three objects of the kernel hand them on:
 *
 *	the entry's hist trigger keeps the stack pointer and the arguments' bases, as variables of the thread;
 *	the return's takes them, and passes them to a synthetic event, with how far the stack pointer has moved since;
 *	event probes behind that one read the program's memory. They are parts of the return's hit.
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

#include "kernel/tracefs/event_list.h"

#include "session_private.h"

enum {
	MOST_THREADS = 8192 /* entries of a hist trigger, which are never given back */
};

/* One return with such arguments, and the entry of its function. */
struct chain {
	const struct nw_planned_point *entry, *back;
	const struct nw_event *start, *end;
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

/* Finds the chain of a planned point. Returns false if it has none, or its ends are not armed. */
static bool find_chain(const struct nw_session *session, size_t number, struct chain *out)
{
	const struct nw_plan *plan = session->plan;
	const struct nw_planned_point *back = &plan->points.item[number];

	if (!back->carried_part || session->armed->points.item[number].failed)
		return false;
	*out = (struct chain){.back = back, .entry = nw_plan_entry_of(plan, back)};
	if (!out->entry)
		return false;
	out->entry_number = (size_t)(out->entry - plan->points.item);
	const struct nw_point *point = point_of(plan, out->entry);
	out->kept = point->kept.count;
	out->bits = 8 * point->image->arch->word;
	out->start = nw_plan_event_of(plan, out->entry, 0);
	out->end = nw_plan_event_of(plan, back, 0);
	nw_plan_synthetic(plan, back->chain, out->synthetic);
	return out->start && out->end && out->entry->stack.field >= 0 &&
	       back->stack.field >= 0 &&
	       !session->armed->points.item[out->entry_number].failed;
}

static int append(struct nw_session *session, const char *file, const struct nw_buf *text,
		  struct nw_error *err)
{
	int ret = text->failed
			  ? -ENOMEM
			  : nw_step_runner_step(
				    &session->runner, NW_DO_APPEND, file,
				    nw_buf_str((struct nw_buf *)(uintptr_t)text), NULL);

	if (ret == 0)
		return 0;
	nw_fail(err, -ret, "the kernel refuses to keep arguments until the return: %s (%s)",
		nw_strerror(-ret), file);
	nw_error_hint(err, "leave @return out: then they are read at the entry");
	return ret;
}

/* ---- the synthetic events, which event probes are defined behind --------------------- */

int nw_session_carry_define(struct nw_session *session, size_t first, struct nw_error *err)
{
	int ret = 0;

	for (size_t i = first; ret == 0 && i < session->plan->points.count; i++) {
		struct nw_buf text = {0};
		struct chain chain;
		if (!find_chain(session, i, &chain))
			continue;
		nw_buf_printf(&text, "%s u%u d", chain.synthetic, chain.bits);
		for (size_t k = 0; k < chain.kept; k++)
			nw_buf_printf(&text, "; u%u k%zu", chain.bits, k);
		ret = append(session, "synthetic_events", &text, err);
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

/* Writes the return's trigger: "hist:keys=common_pid:d1=sp-$s0,q1_0=$k0_0:size=8192:onmatch(G.start).trace(G,$d1,$q1_0)". */
static void write_end(const struct nw_plan *plan, const struct chain *chain,
		      struct nw_buf *out)
{
	const unsigned int number = chain->back->chain;

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

/* Has an earlier chain the same entry, and its trigger? */
static bool has_start(const struct nw_session *session, size_t number,
		      const struct chain *chain)
{
	struct chain other;

	for (size_t i = 0; i < number; i++)
		if (find_chain(session, i, &other) && other.entry == chain->entry)
			return true;
	return false;
}

static bool is_refused(const struct nw_session *session,
		       const struct nw_planned_point *planned, uint32_t part)
{
	const size_t number = (size_t)(planned - session->plan->points.item);

	return session->armed->points.item[number].refused >> part & 1;
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
		ret = set_filters(session, &chain);
		if (ret < 0)
			nw_fail(err, -ret,
				"the kernel refuses a filter of what is read at the return: %s",
				nw_strerror(-ret));
		write_start(&chain, &start);
		write_end(session->plan, &chain, &end);
		trigger_file(session, chain.start, file);
		if (ret == 0 && !has_start(session, i, &chain))
			ret = append(session, file, &start, err);
		trigger_file(session, chain.end, file);
		if (ret == 0)
			ret = append(session, file, &end, err);
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
