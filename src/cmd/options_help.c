// SPDX-License-Identifier: MIT
/* The help of a command, made from the table of options. */
#include <stdio.h>

#include "cmd.h"

void nw_option_help(const struct nw_command *command, const struct nw_option *option,
		    struct nw_buf *out)
{
	if (option->help)
		nw_buf_adds(out, option->help);
	else
		nw_output_names(command->shows, out);
}

static const char *const group_titles[NW_OPTION_GROUPS] = {
	[NW_OPTIONS_TARGET] = "target:",
	[NW_OPTIONS_STOP] = "stop:",
	[NW_OPTIONS_FLIGHT] = "flight recorder:",
	[NW_OPTIONS_MEASURE] = "spans and groups:",
	[NW_OPTIONS_OUTPUT] = "output:",
	[NW_OPTIONS_OVERHEAD] = "overhead:",
	[NW_OPTIONS_PERSISTENT] = "persistent events:",
	[NW_OPTIONS_DANGER] = "danger:",
	[NW_OPTIONS_OTHER] = "other options:",
};

static void print_option(const struct nw_command *command, const struct nw_option *option,
			 struct nw_buf *out)
{
	char spelled[64];

	snprintf(spelled, sizeof(spelled), "%s%c%s--%s%s%s", option->letter ? "-" : " ",
		 option->letter ? option->letter : ' ', option->letter ? ", " : "  ",
		 option->name, option->arg && !nw_is_optional(option) ? " " : "",
		 option->arg ? option->arg : "");
	nw_buf_printf(out, "  %-26s ", spelled);
	nw_option_help(command, option, out);
	nw_buf_addc(out, '\n');
}

int nw_print_help(const struct nw_command *command, FILE *to, struct nw_error *err)
{
	struct nw_buf out = {0};

	nw_buf_printf(&out, "usage: nopwatch %s %s\n\n%s\n", command->name, command->usage,
		      command->summary);
	if (command->examples)
		nw_buf_printf(&out, "\nexamples:\n%s", command->examples);
	nw_buf_printf(&out, "\n%s\n", command->details);
	for (int group = 0; group < NW_OPTION_GROUPS; group++) {
		const struct nw_option *option;
		bool titled = false;
		for (size_t i = 0; (option = nw_option_at(i)); i++) {
			if (!nw_takes_option(command, option) ||
			    (int)option->group != group)
				continue;
			if (!titled)
				nw_buf_printf(&out, "\n%s\n", group_titles[group]);
			titled = true;
			print_option(command, option, &out);
		}
	}
	fputs(nw_buf_str(&out), to);
	bool failed = out.failed;
	nw_buf_free(&out);
	return failed ? nw_no_memory(err) : 0;
}
