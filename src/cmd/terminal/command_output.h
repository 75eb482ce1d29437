/* SPDX-License-Identifier: MIT */
/* Keeps CMD's output while the live view uses the screen, and shows it at the end. */
#ifndef NOPWATCH_CMD_TERMINAL_COMMAND_OUTPUT_H
#define NOPWATCH_CMD_TERMINAL_COMMAND_OUTPUT_H

#include <stdio.h>

struct nw_command_output {
	FILE *file;    /* the output; NULL: it is not kept */
	int before[3]; /* our standard files before; -1: not replaced */
};

/* Replaces those of our standard files that are the terminal by a file, which CMD inherits. CMD's standard input is
 * empty then. */
void nw_command_output_keep(struct nw_command_output *output);
/* Restores the standard files and prints the kept output. note: reports output that could not be kept. */
void nw_command_output_show(struct nw_command_output *output,
			    void (*note)(const char *fmt, ...));

#endif
