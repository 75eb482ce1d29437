/* SPDX-License-Identifier: MIT */
/* Shared by the readers of other tools' command lines. */
#ifndef NOPWATCH_WHY_TOOL_H
#define NOPWATCH_WHY_TOOL_H

#include "why/why.h"

/* Returns the value of -e VALUE, -eVALUE, --long VALUE or --long=VALUE; NULL: it is another option. Moves *at to the
 * word with the value. */
const char *nw_tool_value(char *const **at, const char *letter, const char *name);

/* Reads SystemTap's command line, and the text of its script. 0 or -ENOMEM. */
int nw_tool_stap(struct nw_tool *tool, char *const *argv);
int nw_tool_stap_script(struct nw_tool *tool, const char *text);
/* Reads the command lines of perf and trace-cmd. EINVAL: it names no place in a program. */
int nw_tool_perf(struct nw_tool *tool, char *const *argv, struct nw_error *err);
int nw_tool_trace_cmd(struct nw_tool *tool, char *const *argv, struct nw_error *err);

#endif
