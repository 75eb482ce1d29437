// SPDX-License-Identifier: MIT
/* The scheduler events that a run records: those of the threads that it traces, or those of all. */
#include "run/limits/guards.h"

#include "unit.h"

static char uprobe[] = "uprobe", work[] = "work", sched[] = "sched",
	    sched_switch[] = "sched_switch", forked[] = "sched_process_fork";
static struct nw_image program;
static struct nw_probe function = {.provider = uprobe,
				   .name = work,
				   .kind = NW_SPEC_FUNC,
				   .image = &program},
		       switches = {.provider = sched,
				   .name = sched_switch,
				   .kind = NW_SPEC_TRACEPOINT},
		       forks = {.provider = sched,
				.name = forked,
				.kind = NW_SPEC_TRACEPOINT};

static enum nw_due due(void *state)
{
	(void)state;
	return 0;
}

/* Asks a run of these probes, whose user named `spec`. */
static bool only_theirs(struct nw_probe *probe, const char *spec, bool scheduler,
			pid_t target, bool reads_late)
{
	struct nw_probe *probes[] = {probe, &switches};
	struct nw_request request = {.specs = &spec, .spec_count = 1};
	struct nw_run_result result = {0};
	struct nw_run run = {.request = &request, .result = &result};

	result.selection.probes.item = probes;
	result.selection.probes.count = 2;
	result.pids.item = &target;
	result.pids.count = target ? 1 : 0;
	run.consumer.needs.scheduler = scheduler;
	if (reads_late)
		run.consumer.due = due;
	return nw_run_only_their_switches(&run);
}

START_TEST(switches_are_of_the_traced_threads)
{
	ck_assert(only_theirs(&function, "func:/bin/app:work", true, 0, false));
	ck_assert(only_theirs(&function, "func:/bin/app:work", true, 7, false));
	/* nobody needs them */
	ck_assert(!only_theirs(&function, "func:/bin/app:work", false, 0, false));
}
END_TEST

START_TEST(switches_that_are_shown_are_of_all)
{
	ck_assert(!only_theirs(&function, "tracepoint:sched:sched_switch", true, 0, false));
	ck_assert(!only_theirs(&function, "tracepoint:sched:*", true, 7, false));
	/* another event is shown */
	ck_assert(only_theirs(&function, "tracepoint:sched:sched_wakeup_new", true, 7,
			      false));
}
END_TEST

START_TEST(anybody_may_hit_an_event_of_the_kernel)
{
	ck_assert(!only_theirs(&forks, "tracepoint:sched:sched_process_fork", true, 0,
			       false));
	ck_assert(
		only_theirs(&forks, "tracepoint:sched:sched_process_fork", true, 7, false));
}
END_TEST

START_TEST(births_must_be_read_all_the_time)
{
	ck_assert(!only_theirs(&function, "func:/bin/app:work", true, 7, true));
	ck_assert(only_theirs(&function, "func:/bin/app:work", true, 0, true));
}
END_TEST

UNIT_MAIN("named", switches_are_of_the_traced_threads, switches_that_are_shown_are_of_all,
	  anybody_may_hit_an_event_of_the_kernel, births_must_be_read_all_the_time)
