// SPDX-License-Identifier: MIT
/*
 * External changes: other programs may disable or delete the events of a run, or switch off its recording. Then hits
 * are not recorded, and no loss is reported. So this is checked once a second, and reported. A change that is undone
 * between two checks is not seen, but its hits are among those that the kernel has counted and did not record.
 */
#include <stdio.h>
#include <stdlib.h>

#include "guards.h"

enum {
	LOOK_NS = 1000000000
};

struct nw_external_changes {
	uint64_t seen; /* trace clock: time of the last check without a change */
	bool was_on[]; /* by armed event: it was enabled when the run began */
};

int nw_external_changes_open(struct nw_run *run, struct nw_error *err)
{
	const struct nw_armed *armed = &run->result->armed;
	size_t count = armed->events.count;

	nw_external_changes_close(run);
	run->live.watch = calloc(1, sizeof(*run->live.watch) + count * sizeof(bool));
	if (!run->live.watch)
		return nw_no_memory(err);
	for (size_t i = 0; i < count; i++)
		run->live.watch->was_on[i] = armed->events.item[i]->defined &&
					     nw_session_event_state(
						     run->live.session,
						     armed->events.item[i]) == NW_EVENT_ON;
	run->live.watch->seen = nw_session_now(run->live.session);
	return 0;
}

void nw_external_changes_close(struct nw_run *run)
{
	free(run->live.watch);
	run->live.watch = NULL;
}

static int mark(struct nw_run *run, size_t probe, uint64_t now, const char *what,
		struct nw_error *err)
{
	uint64_t at = run->live.watch->seen;
	char since[16], until[16], text[160];

	if (nw_result_is_disabled(run->result, probe))
		return 0;
	nw_duration_text(at > run->result->start_ns ? at - run->result->start_ns : 0,
			 since);
	nw_duration_text(now - run->result->start_ns, until);
	snprintf(text, sizeof(text),
		 "%s, %s to %s after the start: hits since then are missing", what, since,
		 until);
	int ret = nw_run_mark_disabled(run, probe, NW_STATE_DISABLED_BY_OTHERS, at, text,
				       err);
	run->result->changed_externally = true;
	if (ret == 0)
		nw_run_notice(run, "%s: %s",
			      run->result->selection.probes.item[probe]->label, text);
	return ret;
}

static int check_event(struct nw_run *run, size_t number, uint64_t now, bool records,
		       struct nw_error *err)
{
	const struct nw_armed_event *event = run->result->armed.events.item[number];
	int ret = 0;

	if (!run->live.watch->was_on[number])
		return 0;
	const char *what = records ? NULL : "recording was switched off by another program";
	switch (nw_session_event_state(run->live.session, event)) {
	case NW_EVENT_OFF:
		what = "disabled by another program";
		break;
	case NW_EVENT_GONE:
		what = "its event was deleted by another program";
		break;
	default:
		break;
	}
	if (!what)
		return 0;
	const struct nw_event *planned = event->planned;
	for (size_t i = 0; ret == 0 && i < planned->places.count; i++)
		if (nw_armed_holds(event, i))
			ret = mark(run,
				   run->result->plan.points
					   .item[planned->places.item[i].planned]
					   .probe,
				   now, what, err);
	return ret;
}

/* An event that the rate limit has disabled is marked already, and is not taken for an external change. */
int nw_external_changes_check(struct nw_run *run, bool at_end, struct nw_error *err)
{
	uint64_t now = nw_session_now(run->live.session);
	int ret = 0;

	if (!run->live.watch || (!at_end && now - run->live.watch->seen < LOOK_NS))
		return 0;
	bool records = nw_session_records(run->live.session);
	for (size_t i = 0; i < run->result->armed.events.count && ret == 0; i++)
		ret = check_event(run, i, now, records, err);
	run->live.watch->seen = now;
	return ret;
}
