// SPDX-License-Identifier: MIT
/* status: every uprobe event of the system, ours and others'. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manage.h"
#include "standing.h"

/* ---- the command -------------------------------------------------------------------- */

/* All events, or those that the words mean. */
static int choose(struct nw_management *m, nw_vec_u32 *out, struct nw_error *err)
{
	size_t count = nw_manager_inventory(m->manager)->events.count;
	nw_strings missing = {0};
	int ret = 0;

	if (m->args->words.count)
		ret = nw_management_pick(m, true, out, &missing, NULL, err);
	for (size_t i = 0; i < count && ret == 0 && !m->args->words.count; i++) {
		uint32_t *slot = nw_vec_add(out);
		if (slot)
			*slot = (uint32_t)i;
		else
			ret = nw_no_memory(err);
	}
	if (ret == 0 && missing.count)
		ret = nw_fail(err, ENOENT, "no event is there for '%s'", missing.item[0]);
	nw_strings_free(&missing);
	return ret;
}

/* What is shown of them; it points into the standings. */
static int make_status(const nw_standings *standings, struct nw_status *out)
{
	nw_vec_each (standings, standing) {
		struct nw_status_line *line = nw_vec_add(&out->lines);
		if (!line)
			return -ENOMEM;
		line->event = standing->event;
		line->armed = &standing->armed;
		line->mapped = standing->mapped;
		line->file = nw_file_state_name(standing->file);
		nw_vec_each (&standing->places, place) {
			const char **label = nw_vec_add(&line->labels);
			if (!label)
				return -ENOMEM;
			*label = place->label;
		}
	}
	return 0;
}

static int print(struct nw_management *m, const nw_standings *standings,
		 struct nw_error *err)
{
	const struct nw_args *args = m->args;
	struct nw_status status = {.has_hits = nw_manager_inventory(m->manager)->has_hits,
				   .details = args->verbose > 0,
				   .bold = !args->output && nw_use_color(args, stdout)};
	struct nw_output output = {0};
	struct nw_sink sink;
	int ret = nw_sink_open(args, &sink, err);

	if (ret < 0)
		return ret;
	if (make_status(standings, &status) < 0 ||
	    nw_output_make(args->format, &output) < 0)
		ret = nw_no_memory(err);
	else
		output.format->status(&output, &status);
	if (ret == 0 && !standings->count && args->format->for_people && !args->quiet)
		nw_note("there is no uprobe event");
	if (ret == 0)
		ret = nw_sink_write(&sink, &output.text, err);
	nw_output_free(&output);
	nw_status_free(&status);
	int end = nw_sink_close(&sink, ret == 0 ? err : NULL);
	return ret < 0 && !sink.closed ? ret : end;
}

static int run(const struct nw_args *args)
{
	struct nw_management m = {.fs = {.root = -1}};
	nw_standings standings = {0};
	nw_vec_u32 chosen = {0};
	struct nw_error err;
	int ret = nw_management_open(&m, args, true, &err);

	if (ret == 0)
		ret = choose(&m, &chosen, &err);
	if (ret == 0)
		ret = nw_standings_look(nw_manager_inventory(m.manager), &chosen,
					&standings, &err);
	if (ret == 0)
		ret = print(&m, &standings, &err);
	nw_standings_free(&standings);
	nw_vec_free(&chosen);
	nw_management_close(&m);
	return ret < 0 ? nw_failure(&nw_cmd_status, &err) : NW_EXIT_OK;
}

const struct nw_command nw_cmd_status = {
	.name = "status",
	.summary = "every uprobe event there is: whose, where enabled, hits, armed where",
	.usage = "[SPEC|GROUP:EVENT...] [-v] [-j]",
	.details =
		"Ours and others'. PROBE is what stands at the event's places. OWNER: "
		"nopwatch (add made\n"
		"it), session PID (a nopwatch that runs), dead session (`clean` removes "
		"it) "
		"or foreign.\n"
		"HITS are the kernel's own count, in all processes, recorded or not. "
		"ARMED: "
		"processes that\n"
		"have the breakpoint in their memory now. FILE: same, changed, replaced or "
		"gone since add;\n"
		"present or gone for others' events. -v shows the definitions.",
	.options = "pid exe output format json quiet verbose color",
	.run = run,
};
