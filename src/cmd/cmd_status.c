// SPDX-License-Identifier: MIT
/* status: lists every uprobe event of the system with its owner. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manage.h"

/* ---- the command -------------------------------------------------------------------- */

/* Chooses all events, or those that the words mean. */
static int choose(const struct nw_management *m, struct nw_pick *out, struct nw_error *err)
{
	size_t count = nw_manager_inventory(m->manager)->events.count;
	int ret = 0;

	if (m->args->words.count)
		ret = nw_management_pick(m, out, err);
	for (size_t i = 0; i < count && ret == 0 && !m->args->words.count; i++) {
		uint32_t *slot = nw_vec_add(&out->events);
		if (slot)
			*slot = (uint32_t)i;
		else
			ret = nw_no_memory(err);
	}
	if (ret == 0 && out->missing.count)
		ret = nw_fail(err, ENOENT, "no event is there for '%s'",
			      out->missing.item[0]);
	return ret;
}

static int print(struct nw_management *m, const nw_event_statuses *events,
		 struct nw_error *err)
{
	const struct nw_args *args = m->args;
	struct nw_status status = {
		.events = events,
		.has_hits = nw_manager_inventory(m->manager)->has_hits,
		.details = args->verbose > 0,
		.layout = nw_layout_of(args, args->output ? NULL : stdout)};
	struct nw_output output = {0};
	struct nw_sink sink;
	int ret = nw_sink_open(args->output, args->format, &sink, err);

	if (ret < 0)
		return ret;
	if (nw_output_make(args->format, &output) < 0)
		ret = nw_no_memory(err);
	else
		output.format->status(&output, &status);
	if (ret == 0 && !events->count && args->format->for_people && !args->quiet)
		nw_note("there is no uprobe event");
	ret = nw_sink_finish(&sink, ret, &output.text, err);
	nw_output_free(&output);
	return ret;
}

static int run(const struct nw_args *args)
{
	struct nw_management m = {.fs = {.root = -1}};
	nw_event_statuses events = {0};
	struct nw_pick chosen = {.all = true};
	struct nw_error err;
	int ret = nw_management_open(&m, args, true, &err);

	if (ret == 0)
		ret = choose(&m, &chosen, &err);
	if (ret == 0)
		ret = nw_event_status_read(nw_manager_inventory(m.manager), &chosen.events,
					   &events, &err);
	if (ret == 0)
		ret = print(&m, &events, &err);
	nw_event_status_free(&events);
	nw_pick_free(&chosen);
	nw_management_close(&m);
	return ret < 0 ? nw_failure(&nw_cmd_status, &err) : NW_EXIT_OK;
}

const struct nw_command nw_cmd_status = {
	.name = "status",
	.summary = "every uprobe event there is: whose, where enabled, hits, armed where",
	.usage = "[SPEC|GROUP:EVENT...] [-v] [-j]",
	.details =
		"Ours and others'. PROBE is what stands at the event's places. OWNER: nopwatch (add made\n"
		"it), session PID (a nopwatch that runs), dead session (`clean` removes it) or foreign.\n"
		"HITS are the kernel's own count, in all processes, recorded or not. ARMED: processes that\n"
		"have the breakpoint in their memory now. FILE: same, changed, replaced or gone since add;\n"
		"present or gone for others' events. -v shows the definitions.",
	.options = NW_OPTIONS_RESULT "pid exe quiet verbose plain color",
	.run = run,
};
