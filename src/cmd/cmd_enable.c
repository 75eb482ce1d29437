// SPDX-License-Identifier: MIT
/* enable, disable and remove: change events that `add` has defined, by specs and patterns. */
#include <errno.h>
#include <stdlib.h>

#include "manage.h"

struct verb {
	const struct nw_command *command;
	bool must_match; /* it is an error if no event matches */
	bool was_on;	 /* without tracefs: assume that the events are enabled */
	bool counts;	 /* it also applies to counts that stay */
	int (*apply)(struct nw_management *m, const struct nw_uprobe_event *event,
		     struct nw_error *err);
};

static int enable(struct nw_management *m, const struct nw_uprobe_event *event,
		  struct nw_error *err)
{
	return nw_manager_switch(m->manager, event, true, &m->options, err);
}

static int disable(struct nw_management *m, const struct nw_uprobe_event *event,
		   struct nw_error *err)
{
	return nw_manager_switch(m->manager, event, false, &m->options, err);
}

static int remove_event(struct nw_management *m, const struct nw_uprobe_event *event,
			struct nw_error *err)
{
	return nw_manager_remove(m->manager, event, &m->options, err);
}

static int report_missing(const struct nw_management *m, const struct verb *verb,
			  const nw_strings *missing, struct nw_error *err)
{
	if (!missing->count)
		return 0;
	if (verb->must_match) {
		nw_fail(err, ENOENT, "no event is there for '%s'", missing->item[0]);
		nw_error_hint(err,
			      "`nopwatch status` lists what is, `nopwatch add` defines it");
		return -ENOENT;
	}
	if (!m->args->quiet)
		nw_vec_each (missing, word)
			nw_note("no event is there for '%s': nothing to do", *word);
	return 0;
}

/* Without tracefs: assumes that the events that specs name exist as `add` defines them. */
static int assume(struct nw_management *m, const struct verb *verb, struct nw_error *err)
{
	struct nw_selection selection;
	struct nw_plan plan;
	const struct nw_scope scope = nw_management_scope(m->args);
	int ret = nw_select_words(m->args->words.item, m->args->words.count, &scope,
				  &selection, err);

	if (ret < 0) {
		nw_error_hint(
			err,
			"which events there are cannot be looked up: only specs with a file will do");
		return ret;
	}
	ret = nw_management_plan(m, &selection, &plan, err);
	if (ret == 0) {
		ret = nw_manager_assume(m->manager, &plan, verb->was_on, m->args->instance,
					err);
		nw_plan_free(&plan);
	}
	nw_selection_free(&selection);
	return ret;
}

static int apply(struct nw_management *m, const struct verb *verb, struct nw_error *err)
{
	const struct nw_inventory *inventory = nw_manager_inventory(m->manager);
	struct nw_pick picked = {.lenient = !verb->must_match, .counts = verb->counts};
	int ret = nw_management_pick(m, &picked, err);

	if (ret == 0)
		ret = report_missing(m, verb, &picked.missing, err);
	if (!m->args->quiet)
		nw_vec_each (&picked.foreign, sentence)
			nw_note("%s", *sentence);
	nw_vec_each (&picked.events, number)
		if (ret == 0)
			ret = verb->apply(m, &inventory->events.item[*number], err);
	nw_pick_free(&picked);
	return ret < 0 ? ret : nw_management_finish(m, err);
}

static int run(const struct nw_args *args, const struct verb *verb)
{
	struct nw_management m = {.fs = {.root = -1}};
	struct nw_error err;
	int ret = args->words.count ? 0 : nw_fail_usage(&err, "no probe is named");

	if (ret == 0)
		ret = nw_management_open(&m, args, false, &err);
	if (ret == 0 && m.fs.root < 0)
		ret = assume(&m, verb, &err);
	if (ret == 0)
		ret = apply(&m, verb, &err);
	nw_management_close(&m);
	return ret < 0 ? nw_failure(verb->command, &err) : NW_EXIT_OK;
}

static int run_enable(const struct nw_args *args)
{
	return run(args, &(struct verb){&nw_cmd_enable, true, false, false, enable});
}

static int run_disable(const struct nw_args *args)
{
	return run(args, &(struct verb){&nw_cmd_disable, false, true, false, disable});
}

static int run_remove(const struct nw_args *args)
{
	return run(args, &(struct verb){&nw_cmd_remove, false, true, true, remove_event});
}

const struct nw_command nw_cmd_enable = {
	.name = "enable",
	.summary = "enable events that add has defined",
	.usage = "SPEC|GROUP:EVENT... [--instance NAME]",
	.details =
		"In the instance they were added for, else in the top-level buffer, or in --instance,\n"
		"which is made if need be. By spec, or by pattern: GROUP:EVENT, GROUP, EVENT or\n"
		"PROVIDER:NAME, with globs. All are enabled, or none. Read them with\n"
		"`cat /sys/kernel/tracing/trace_pipe`.",
	.options = NW_OPTIONS_EVENTS "instance foreign",
	.run = run_enable,
};

const struct nw_command nw_cmd_disable = {
	.name = "disable",
	.summary = "disable events that add has defined",
	.usage = "SPEC|GROUP:EVENT... [--instance NAME]",
	.details =
		"In --instance; without it, where they were added for and wherever nopwatch has\n"
		"enabled them. They stay defined.",
	.options = NW_OPTIONS_EVENTS "instance foreign",
	.run = run_disable,
};

const struct nw_command nw_cmd_remove = {
	.name = "remove",
	.summary = "remove events that add has defined",
	.usage = "SPEC|GROUP:EVENT|NAME... [--foreign] [--force]",
	.details =
		"Disables them wherever nopwatch has enabled them, and deletes them; all of them, or\n"
		"none. What somebody else has enabled is named and stays, unless --force. What\n"
		"somebody else has made stays, unless --foreign. `nopwatch remove '*'` removes all\n"
		"that is ours, and is no failure where nothing is. NAME: the counts that add\n"
		"--engine=kernel has left under this name.",
	.options = NW_OPTIONS_EVENTS "foreign force",
	.run = run_remove,
};
