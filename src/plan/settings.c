// SPDX-License-Identifier: MIT
/* The settings that a session or a script writes to a ring buffer before it enables its events. */
#include "plan/plan.h"

#define NEWTASK "task/task_newtask"
#define RENAME	"task/task_rename"
#define EXIT	"sched/sched_process_exit"
#define EXEC	"sched/sched_process_exec"

const char *const nw_task_events[] = {NEWTASK, RENAME, EXIT, EXEC};
const size_t nw_task_event_count = NW_COUNT(nw_task_events);

#define ENABLE(event) "events/" event "/enable"

/* The settings in the order in which they are written: filters and recording are set before anything is hit. */
const struct nw_setting nw_settings[NW_SETTING_COUNT] = {
	/* the first clock that the kernel has; its default, local, cannot be compared across CPUs */
	[NW_SETTING_CLOCK] = {.file = "trace_clock",
			      .value = "mono boot global",
			      .note = "clock",
			      .session = true},
	[NW_SETTING_FORK] = {.file = "options/event-fork", .value = "1", .session = true},
	/* text has no other way to tell threads from processes */
	[NW_SETTING_TGID] = {.file = "options/record-tgid",
			     .value = "1",
			     .note = "tgid",
			     .script = true},
	/* record-tgid knows a thread from its first switch on (4.13), and before 4.13 never: the record of
	 * its birth tells whose a new thread is */
	[NW_SETTING_NEWTASK] = {.file = ENABLE(NEWTASK),
				.value = "1",
				.after = "0",
				.session = true,
				.script = true,
				.own = true,
				.heirs = true},
	[NW_SETTING_RENAME] = {.file = ENABLE(RENAME), .value = "1", .session = true},
	[NW_SETTING_EXIT] = {.file = ENABLE(EXIT),
			     .value = "1",
			     .after = "0",
			     .session = true,
			     .script = true,
			     .own = true},
	[NW_SETTING_EXEC] = {.file = ENABLE(EXEC),
			     .value = "1",
			     .after = "0",
			     .session = true,
			     .script = true,
			     .own = true},
	[NW_SETTING_RECORD] = {.file = "tracing_on",
			       .value = "1",
			       .note = "on",
			       .session = true,
			       .script = true},
};
