// SPDX-License-Identifier: MIT
/* The table of checks, in order, and the verdict that they add up to. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"

typedef void check_fn(struct judge *judge);
struct named_check {
	const char *name;
	check_fn *check;
};

/* The checks in their order: of several causes, the one of the earliest check explains the later ones. */
static const struct named_check in_programs[] = {
	{"kernel", nw_check_kernel},	   {"privilege", nw_check_privilege},
	{"lockdown", nw_check_lockdown},   {"bpf", nw_check_bpf},
	{"process", nw_check_process},	   {"file", nw_check_file},
	{"symbol", nw_check_symbol},	   {"note", nw_check_note},
	{"site", nw_check_site},	   {"arguments", nw_check_arguments},
	{"bits", nw_check_bits},	   {"return", nw_check_return},
	{"mapping", nw_check_mapping},	   {"text", nw_check_text},
	{"events", nw_check_events},	   {"armed", nw_check_armed},
	{"semaphore", nw_check_semaphore}, {"hit", nw_check_hit},
	{"recorded", nw_check_recorded},   {"program", nw_check_program},
};

/* Those of a function of the kernel, which has no file, and no process maps it. */
static const struct named_check in_kernel[] = {
	{"kernel", nw_check_kernel},	 {"privilege", nw_check_privilege},
	{"lockdown", nw_check_lockdown}, {"process", nw_check_process},
	{"symbol", nw_check_function},	 {"hit", nw_check_called},
};

/* Those of an event that a program has registered by itself. */
static const struct named_check of_user_event[] = {
	{"kernel", nw_check_kernel},	 {"privilege", nw_check_privilege},
	{"lockdown", nw_check_lockdown}, {"process", nw_check_process},
	{"event", nw_check_user_event},	 {"hit", nw_check_written},
};

/* ---- the verdict -------------------------------------------------------------------- */

static enum nw_cause_kind kind_of(const struct nw_reason *reason)
{
	return nw_cause_table[reason->cause].kind;
}

static const struct nw_reason *first_of(const struct nw_diagnosis *diagnosis,
					enum nw_cause_kind kind)
{
	nw_vec_each (&diagnosis->reasons, reason)
		if (kind_of(reason) == kind)
			return reason;
	return NULL;
}

bool nw_diagnosis_has(const struct nw_diagnosis *diagnosis, enum nw_cause cause)
{
	nw_vec_each (&diagnosis->reasons, reason)
		if (reason->cause == cause)
			return true;
	return false;
}

bool nw_diagnosis_settled(const struct nw_diagnosis *diagnosis)
{
	return first_of(diagnosis, NW_KIND_SILENT) || first_of(diagnosis, NW_KIND_DANGER);
}

static int judge_firing(const struct nw_facts *facts, const struct nw_diagnosis *diagnosis)
{
	/* the probe fires if a process that the user named has hit it */
	if (facts->watch && facts->watch->done ? facts->watch->in_target : 0)
		return 1;
	if (first_of(diagnosis, NW_KIND_SILENT))
		return 0;
	return -1;
}

/* Does the cause belong to the verdict? */
static bool belongs(const struct nw_diagnosis *diagnosis, const struct nw_reason *reason)
{
	switch (kind_of(reason)) {
	case NW_KIND_SILENT:
	case NW_KIND_DANGER:
	case NW_KIND_MAYBE:
		return diagnosis->fires != 1;
	default: /* a cause that hides hits matters unless the probe does not fire */
		/* A fault of the tool's program stays when the traced program runs the code later. */
		return diagnosis->fires != 0 ||
		       (reason->cause == NW_CAUSE_BPF_PROGRAM &&
			nw_diagnosis_has(diagnosis, NW_CAUSE_NOT_EXECUTED));
	}
}

static void free_reason(struct nw_reason *reason)
{
	free(reason->text);
	nw_strings_free(&reason->remedy);
}

/* "the probe fires (1,532 hits in 5.00s at 2 of its 3 sites)" */
static void say_fires(const struct nw_facts *facts, struct nw_buf *out)
{
	const struct nw_watch *watch = facts->watch;
	char hits[32], seconds[32];

	nw_thousands(watch->in_target, hits);
	snprintf(seconds, sizeof(seconds), "%.3g s", (double)watch->elapsed_ns / 1e9);
	nw_buf_printf(out,
		      nw_plural(watch->in_target, "the probe fires (%s hit in %s",
				"the probe fires (%s hits in %s"),
		      hits, seconds);
	if (watch->sites > 1)
		nw_buf_printf(out, " at %zu of its %zu sites", watch->sites_hit,
			      watch->sites);
	nw_buf_addc(out, ')');
}

static void say_fault(const struct nw_facts *facts, const struct nw_diagnosis *diagnosis,
		      struct nw_buf *out)
{
	const struct nw_reason *output = first_of(diagnosis, NW_KIND_OUTPUT);
	const struct nw_reason *bpf = first_of(diagnosis, NW_KIND_BPF);

	if (output)
		nw_buf_printf(out, ", but %s", output->text);
	else if (bpf)
		nw_buf_printf(out, "; if a BPF tool shows nothing: %s", bpf->text);
	else if (facts->tool)
		nw_buf_printf(
			out,
			"; the fault is on the side of %s, and nothing that is known of it fits",
			facts->tool->program);
	else
		nw_buf_adds(
			out,
			": nothing is wrong with it here; a BPF tool that shows nothing has a fault of its own");
}

static int say_verdict(const struct nw_facts *facts, struct nw_diagnosis *diagnosis)
{
	struct nw_buf text = {0};
	const struct nw_reason *first = diagnosis->reasons.count
						? &diagnosis->reasons.item[0]
						: NULL;

	if (diagnosis->fires == 1) {
		say_fires(facts, &text);
		say_fault(facts, diagnosis, &text);
	} else if (diagnosis->fires == 0 && first) {
		nw_buf_adds(&text, first->text);
	} else if (first && kind_of(first) != NW_KIND_BPF) {
		nw_buf_printf(&text, "not known for certain; most likely: %s", first->text);
	} else {
		nw_buf_adds(&text, "not known: none of the checks found a cause");
	}
	diagnosis->text = nw_buf_take(&text);
	return diagnosis->text ? 0 : -ENOMEM;
}

static int gather_remedies(struct nw_diagnosis *diagnosis)
{
	nw_vec_each (&diagnosis->reasons, reason)
		nw_vec_each (&reason->remedy, command)
			if (!nw_strings_has(&diagnosis->remedy, *command) &&
			    nw_strings_add(&diagnosis->remedy, *command, strlen(*command)) <
				    0)
				return -ENOMEM;
	return 0;
}

int nw_diagnose(const struct nw_facts *facts, struct nw_diagnosis *out,
		struct nw_error *err)
{
	struct nw_diagnosis diagnosis = {.fires = -1};
	struct judge judge = {.facts = facts, .out = &diagnosis};

	const struct named_check *checks = facts->of_user_event ? of_user_event
					   : facts->function	? in_kernel
								: in_programs;
	const size_t count = facts->of_user_event ? NW_COUNT(of_user_event)
			     : facts->function	  ? NW_COUNT(in_kernel)
						  : NW_COUNT(in_programs);

	for (size_t i = 0; i < count; i++) {
		judge.check = NULL;
		judge.name = checks[i].name;
		checks[i].check(&judge);
	}
	diagnosis.fires = judge_firing(facts, &diagnosis);
	/* Keep the reasons that belong to the verdict, by kind and then in the order of the checks. */
	static const enum nw_cause_kind order[] = {
		NW_KIND_SILENT, NW_KIND_DANGER, NW_KIND_OUTPUT, NW_KIND_MAYBE, NW_KIND_BPF};
	NW_VEC(struct nw_reason) sorted = {0};

	for (size_t i = 0; i < NW_COUNT(order); i++) {
		nw_vec_each (&diagnosis.reasons, reason) {
			if (kind_of(reason) != order[i] || !belongs(&diagnosis, reason))
				continue;
			struct nw_reason *slot = nw_vec_add(&sorted);
			if (!slot) {
				judge.failed = true;
				continue;
			}
			*slot = *reason;
			*reason = (struct nw_reason){.cause = reason->cause};
		}
	}
	nw_vec_each (&diagnosis.reasons, reason)
		free_reason(reason);
	nw_vec_free(&diagnosis.reasons);
	diagnosis.reasons.item = sorted.item;
	diagnosis.reasons.count = sorted.count;
	diagnosis.reasons.room = sorted.room;
	if (judge.failed || say_verdict(facts, &diagnosis) < 0 ||
	    gather_remedies(&diagnosis) < 0) {
		nw_diagnosis_free(&diagnosis);
		return nw_no_memory(err);
	}
	*out = diagnosis;
	return 0;
}

void nw_diagnosis_free(struct nw_diagnosis *diagnosis)
{
	nw_vec_each (&diagnosis->checks, check)
		free(check->saw);
	nw_vec_free(&diagnosis->checks);
	nw_vec_each (&diagnosis->reasons, reason)
		free_reason(reason);
	nw_vec_free(&diagnosis->reasons);
	nw_strings_free(&diagnosis->remedy);
	free(diagnosis->text);
	*diagnosis = (struct nw_diagnosis){0};
}
