// SPDX-License-Identifier: MIT
/* Which options a format can show, and which command has it. */
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "show/formats.h"

/* A format with one signal a file has the metrics of a report, or the slow spans of a trace. */
static int check_signal(const struct nw_command *command, const struct nw_args *args,
			struct nw_error *err)
{
	const char *name = args->format->name;
	bool slower = nw_slower_asked(&args->slower);
	const char *single = slower		  ? "slower"
			     : args->slowest	  ? "slowest"
			     : args->stacks.count ? "stack"
						  : NULL;

	if (!args->format->one_signal)
		return 0;
	if (command->shows == NW_SHOWS_EVENTS && !slower) {
		nw_fail_usage(err, "-f %s shows slow spans, not hits", name);
		nw_error_hint(err, "add --slower TIME; --slower 1ns shows every span");
		return -EINVAL;
	}
	if (command->shows != NW_SHOWS_REPORTS || !single)
		return 0;
	nw_fail_usage(err,
		      "--%s: -f %s of '%s' has metrics only, since a file has one signal",
		      single, name, command->name);
	nw_error_hint(err, "for spans, write: nopwatch trace --slower TIME -f %s", name);
	return -EINVAL;
}

int nw_check_format(const struct nw_command *command, const struct nw_args *args,
		    struct nw_error *err)
{
	struct nw_buf names = {0};

	if (nw_slower_asked(&args->slower) && !args->format->slow &&
	    !(args->format->stacks && args->stacks.count)) {
		nw_fail_usage(err, "--slower: -f %s cannot show single spans as they end",
			      args->format->name);
		if (args->format->stacks)
			nw_error_hint(
				err,
				"use --stack, too: the flame graphs then show only the slow spans");
		return -EINVAL;
	}
	if (args->slowest && nw_slower_asked(&args->slower))
		return nw_fail_usage(err, "--slowest and --slower do not go together");
	if (args->slowest && !args->format->slow && !args->format->bins)
		return nw_fail_usage(err, "--slowest: -f %s cannot show single spans",
				     args->format->name);
	if (args->open && !args->format->open &&
	    (!args->format->slow || args->format->only_stacks))
		return nw_fail_usage(err, "--open: -f %s cannot show single spans",
				     args->format->name);
	if (args->stacks.count && !args->format->stacks)
		return nw_fail_usage(err, "--stack: -f %s has no place for stacks",
				     args->format->name);
	if (args->format->only_stacks && !args->stacks.count && !args->from &&
	    command != &nw_cmd_report) {
		nw_fail_usage(err, "-f %s shows only stacks, and requires --stack",
			      args->format->name);
		nw_error_hint(err, "add --stack");
		return -EINVAL;
	}
	if (args->net && args->format->only_stacks && !nw_slower_asked(&args->slower))
		return nw_fail_usage(err, "--net: -f %s has no latencies",
				     args->format->name);
	if (args->states && !args->format->states)
		return nw_fail_usage(err,
				     "--states: -f %s has no place for what threads do",
				     args->format->name);
	if (args->boundaries.given && !args->format->buckets && command != &nw_cmd_serve)
		return nw_fail_usage(err,
				     "--buckets goes with -f openmetrics, and with serve");
	if (args->plain && !args->format->for_people)
		return nw_fail_usage(err, "--plain: -f %s has no tables",
				     args->format->name);
	if (args->format->shows[command->shows])
		return check_signal(command, args, err);
	nw_output_names(command->shows, &names);
	int ret = nw_fail_usage(err, "%s writes %s only", command->name,
				nw_buf_str(&names));
	nw_buf_free(&names);
	return ret;
}
