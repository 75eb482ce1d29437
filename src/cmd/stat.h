/* SPDX-License-Identifier: MIT */
/* stat's run, which is top's, too. */
#ifndef NOPWATCH_CMD_STAT_H
#define NOPWATCH_CMD_STAT_H

#include "cmd.h"
#include "cmd/terminal/live.h"

/* view: who shows it while it goes on; NULL: it is printed. The exit status. */
int nw_stat_run(const struct nw_args *args, const struct nw_command *command,
		struct nw_live_view *view);

#endif
