// SPDX-License-Identifier: MIT
/* Checks an event of user_events: whether the kernel has them, whether a program has registered it and writes it. */
#include "judge.h"

void nw_check_user_event(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const char *name = facts->spec->name;

	if (facts->no_user_events) {
		nw_fails(judge, "%s", facts->no_user_events->what);
		nw_blame(judge, NW_CAUSE_NO_USER_EVENTS, "%s", facts->no_user_events->what);
		nw_remedy(
			judge,
			"# use a kernel from Linux 6.4 on that was built with CONFIG_USER_EVENTS=y");
		return;
	}
	if (!facts->user_events) {
		nw_unknown(judge, "user_events_status cannot be read");
		return;
	}
	nw_vec_each (facts->user_events, event)
		nw_pass(judge,
			*event->used
				? "a program has registered %s, which is used by %s"
				: "a program has registered %s, which no tool has enabled",
			event->name, event->used);
	if (facts->user_events->count)
		return;
	nw_fails(judge, "user_events_status has no event '%s'", name);
	nw_blame(
		judge, NW_CAUSE_NOT_REGISTERED,
		"no program that runs has registered an event '%s': it is there from its registration until the last such program ends",
		name);
	nw_remedy(judge, "nopwatch list 'user_events:*'");
}

void nw_check_written(struct judge *judge)
{
	const struct nw_watch *watch = judge->facts->watch;
	char hits[32];

	if (!watch)
		return;
	if (*watch->refused) {
		nw_fails(judge, "%s", watch->refused);
		nw_blame(judge, NW_CAUSE_REFUSED, "%s", watch->refused);
	} else if (!watch->done) {
		if (watch->skipped)
			nw_unknown(judge, "not tried: %s", watch->skipped);
	} else if (watch->in_target) {
		nw_thousands(watch->in_target, hits);
		nw_pass(judge, "%s in %.3g s", hits, (double)watch->elapsed_ns / 1e9);
	} else if (watch->recorded) {
		nw_fails(judge,
			 "process %d (%s) has written it, and not the one that was named",
			 (int)watch->other_pid, watch->other_comm);
		nw_blame(judge, NW_CAUSE_OTHER_PROCESS,
			 "the event was written by process %d (%s)", (int)watch->other_pid,
			 watch->other_comm);
	} else {
		nw_fails(judge, "no hit in %.3g s", (double)watch->elapsed_ns / 1e9);
		nw_blame(
			judge, NW_CAUSE_NOT_EXECUTED,
			"the event is registered and was enabled, and no program has written it in the last %.3g s",
			(double)watch->elapsed_ns / 1e9);
		nw_remedy_again(judge, "", "-d 1m");
	}
}
