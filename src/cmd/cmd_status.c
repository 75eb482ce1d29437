// SPDX-License-Identifier: MIT
/* status: lists every uprobe event of the system with its owner. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manage.h"
#include "run/run.h"

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
		 const nw_user_event_rows *user_events, struct nw_error *err)
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
	nw_vec_each (user_events, row)
		if (ret == 0)
			output.format->user_event(&output, row);
	if (ret == 0 && !events->count && !user_events->count && args->format->for_people &&
	    !args->quiet)
		nw_note("there is no uprobe event");
	ret = nw_sink_finish(&sink, ret, &output.text, err);
	nw_output_free(&output);
	return ret;
}

/* Splits the words into specs of user_events and all others. */
static int split(const struct nw_args *args, struct nw_args *others,
		 struct nw_args *user_events, struct nw_error *err)
{
	*others = *user_events = *args;
	memset(&others->words, 0, sizeof(others->words));
	memset(&user_events->words, 0, sizeof(user_events->words));
	nw_vec_each (&args->words, word) {
		struct nw_args *to = nw_names_user_event(*word) ? user_events : others;
		const char **slot = nw_vec_add(&to->words);
		if (!slot)
			return nw_no_memory(err);
		*slot = *word;
	}
	return 0;
}

/* Reads the events that the words mean; without words, those that there are, also on a kernel that can have none. */
static int read_user_events(const struct nw_args *args, const struct nw_args *user_events,
			    nw_user_event_rows *out, struct nw_error *err)
{
	if (args->words.count && !user_events->words.count)
		return 0;
	int ret = nw_user_event_rows_read(user_events->words.item, user_events->words.count,
					  out, err);
	return ret == -EOPNOTSUPP && !args->words.count ? 0 : ret;
}

static int run(const struct nw_args *args)
{
	struct nw_management m = {.fs = {.root = -1}};
	nw_event_statuses events = {0};
	nw_user_event_rows rows = {0};
	struct nw_pick chosen = {.all = true};
	struct nw_args others, user_events;
	struct nw_error err;
	int ret = split(args, &others, &user_events, &err);

	if (ret == 0)
		ret = nw_management_open(&m, &others, true, &err);
	if (ret == 0)
		ret = read_user_events(args, &user_events, &rows, &err);
	if (ret == 0 && (others.words.count || !args->words.count))
		ret = choose(&m, &chosen, &err);
	if (ret == 0)
		ret = nw_event_status_read(nw_manager_inventory(m.manager), &chosen.events,
					   &events, &err);
	if (ret == 0)
		ret = print(&m, &events, &rows, &err);
	nw_user_event_rows_free(&rows);
	nw_vec_free(&others.words);
	nw_vec_free(&user_events.words);
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
		"it), session PID (a nopwatch that runs), dead session (`clean` removes it), kernel\n"
		"counts (add --engine=kernel; the group is nopwatch_NAME) or foreign.\n"
		"HITS are the kernel's own count, in all processes, recorded or not. ARMED: processes that\n"
		"have the breakpoint in their memory now. FILE: same, changed, replaced or gone since add;\n"
		"present or gone for others' events. -v shows the definitions, and how the places are\n"
		"armed: emulated (a breakpoint at a nop), trapped (at another instruction) or optimised\n"
		"(the kernel's call). Behind them stand the events that programs have registered by\n"
		"themselves, user_events:NAME, and who has them enabled.",
	.options = NW_OPTIONS_RESULT "pid exe quiet verbose plain color state-dir",
	.run = run,
};
