/* SPDX-License-Identifier: MIT */
/* Keeps the output of CMD while the live view has the screen, and shows it at the end. */
#ifndef NOPWATCH_CMD_TERMINAL_COMMAND_OUTPUT_H
#define NOPWATCH_CMD_TERMINAL_COMMAND_OUTPUT_H

#include <stdio.h>

struct nw_command_output {
	FILE *file;    /* it; NULL: nothing is kept */
	int before[3]; /* what our standard files were; -1: they stayed */
};

/* Those of our standard files that are the terminal become a file, which CMD inherits; its input is empty. */
void nw_command_output_keep(struct nw_command_output *output);
/* They are what they were again, and what was kept is printed. note: tells a person if that is not all. */
void nw_command_output_show(struct nw_command_output *output,
			    void (*note)(const char *fmt, ...));

#endif
