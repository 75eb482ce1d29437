// SPDX-License-Identifier: MIT
/* help: prints the overview, or the help text of one command. */
#include "cmd.h"

static int run(const struct nw_args *args)
{
	const struct nw_command *command;
	struct nw_error err;

	if (!args->words.count) {
		nw_print_overview(stdout);
		return NW_EXIT_OK;
	}
	command = nw_find_command((char *[]){(char *)(uintptr_t)args->words.item[0], NULL},
				  &err);
	if (!command || nw_print_help(command, stdout, &err) < 0)
		return nw_failure(NULL, &err);
	return NW_EXIT_OK;
}

const struct nw_command nw_cmd_help = {
	.name = "help",
	.summary = "explain a command",
	.usage = "[COMMAND]",
	.details = "Without COMMAND, lists what there is.",
	.options = "",
	.run = run,
};
