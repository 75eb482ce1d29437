// SPDX-License-Identifier: MIT
/* add: defines events that outlive the command, for the shell, perf and trace-cmd. */
#include <errno.h>
#include <stdlib.h>

#include "counts.h"
#include "manage.h"

static int add(struct nw_management *m, const struct nw_selection *selection,
	       struct nw_error *err)
{
	struct nw_plan plan;
	int ret = nw_management_plan(m, selection, &plan, err);

	if (ret < 0)
		return ret;
	ret = nw_manager_add(m->manager, &plan, &m->options, err);
	nw_plan_free(&plan);
	return ret < 0 ? ret : nw_management_finish(m, err);
}

static int run(const struct nw_args *args)
{
	if (args->engine != NW_ENGINE_DEFAULT || nw_counts_options(args))
		return nw_counts_add(args);
	struct nw_selection selection = {0};
	struct nw_management m = {.fs = {.root = -1}};
	struct nw_error err;
	const struct nw_scope scope = nw_management_scope(args);
	int ret = args->kernel_strings && args->string_size
			  ? nw_fail_usage(&err, "--kernel-strings have no size: leave "
						"--string-size out")
			  : 0;

	if (ret == 0)
		ret = nw_select_words(args->words.item, args->words.count, &scope,
				      &selection, &err);

	if (ret == 0) {
		if (!args->quiet)
			nw_vec_each (&selection.warnings, warning)
				nw_note("%s", *warning);
		if (args->kernel_strings && !args->quiet)
			nw_note("a string of some 4 KiB (with perf on older kernels: 2 KiB) is lost "
				"with its hit, and makes the kernel warn, or overwrite its memory if it "
				"lacks the fix for CVE-2024-50067 (Linux 6.12)");
		const struct nw_jumpers who = {args->pids.item, args->pids.count, NULL};
		ret = nw_management_open(&m, args, false, &err);
		if (ret == 0)
			ret = nw_find_jumps(&m.features, &who, &selection, &err);
		if (ret == 0)
			ret = add(&m, &selection, &err);
		nw_management_close(&m);
		nw_selection_free(&selection);
	}
	return ret < 0 ? nw_failure(&nw_cmd_add, &err) : NW_EXIT_OK;
}

const struct nw_command nw_cmd_add = {
	.name = "add",
	.summary = "define events that stay, for the shell, perf and trace-cmd",
	.usage = "SPEC... [-p PID | -x FILE] [--group NAME] [--instance NAME] [--enable]",
	.examples = "  nopwatch add -x ./server 'myserver:*'\n"
		    "  nopwatch add --enable usdt:./server:myserver:request__start\n"
		    "  nopwatch add --dry-run -x ./server 'myserver:*'\n"
		    "  nopwatch add -p 4711 'app:start(id)'\n"
		    "  nopwatch add --engine=kernel --name night -p 4711 'app:*'\n",
	.details =
		"One event a site, sdt_PROVIDER:NAME, NAME_1, ..., as perf and trace-cmd call them, or\n"
		"probe_FILE:FUNCTION; they stay until `nopwatch remove`. All are defined, or none. What\n"
		"is there already is left as it is. Nothing is enabled without --enable, so\n"
		"`perf record -e sdt_PROVIDER:NAME` works. With --instance, that instance is made if\n"
		"need be, and is where `enable` enables them. perf and trace-cmd show strings as numbers,\n"
		"or with --kernel-strings as text: for programs whose strings are short.\n"
		"\n"
		"With --engine=kernel it leaves no events for other tools, but counts: what stat counts\n"
		"with it, by --span, --by and --hist, goes on in the kernel when nopwatch has ended.\n"
		"`nopwatch report --kernel NAME` shows it at any time, `nopwatch remove NAME` ends it.",
	.options = NW_OPTIONS_EVENTS
	"group instance enable string-size kernel-strings no-demangle force "
	"engine name by span hist",
	.run = run,
};
