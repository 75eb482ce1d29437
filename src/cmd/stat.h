/* SPDX-License-Identifier: MIT */
/* The run of stat, which top uses, too. */
#ifndef NOPWATCH_CMD_STAT_H
#define NOPWATCH_CMD_STAT_H

#include "cmd.h"
#include "cmd/terminal/live.h"

/* view: shows the run while it goes on; NULL: it is printed. Returns the exit status. */
int nw_stat_run(const struct nw_args *args, const struct nw_command *command,
		struct nw_live_view *view);

#endif
