/* SPDX-License-Identifier: MIT */
/* stat's run with something else to look at while it goes on: how top is made of it. */
#ifndef NOPWATCH_CMD_LIVE_H
#define NOPWATCH_CMD_LIVE_H

#include "cmd.h"
#include "nopwatch/engine.h"

struct nw_stat; /* the run, while it goes on */

/* Takes the place of what stat prints before its end. They return 0 or -errno, as those of
 * nw_measure_options. */
struct nw_live {
	void *arg;
	int (*armed)(void *arg, struct nw_stat *stat, struct nw_error *err);
	int (*interval)(void *arg, uint64_t start, uint64_t end, struct nw_error *err);
	int (*tick)(void *arg, struct nw_error *err);
	void (*notice)(void *arg, const char *text);
	/* The run has ended well, and its result is still to be printed: of a recording there is
	 * something to look at. */
	void (*look)(void *arg, const struct nw_run_result *result);
	/* From here on stat prints: the run is being taken down, or is over, however that came. More
	 * than once. */
	void (*leave)(void *arg);
	const int *wake_fds; /* see struct nw_request */
	size_t wake_fd_count;
};

/* Run stat; live NULL: as stat does. The exit status. */
int nw_stat_run(const struct nw_args *args, const struct nw_command *command,
		const struct nw_live *live);
struct nw_measure *nw_stat_measure(struct nw_stat *stat);
/* Write a report of what was seen so far; the end of its name says in which format. */
int nw_stat_write(struct nw_stat *stat, const char *path, struct nw_error *err);
/* Other groups from here on, and nothing else counts; by must live as long as the run. */
int nw_stat_regroup(struct nw_stat *stat, const char *by, struct nw_error *err);

#endif
