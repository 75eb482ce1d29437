/* SPDX-License-Identifier: MIT */
/* --engine=kernel of `add` (counts that stay) and `script` (counts on another machine). */
#ifndef NOPWATCH_CMD_COUNTS_H
#define NOPWATCH_CMD_COUNTS_H

#include "kernel/recovery/kept.h"
#include "run/consumers/reports.h"

#include "cmd.h"

/* A request to count, as `stat` makes it of the same options. */
struct nw_counts {
	struct nw_kept kept; /* the words are those of the command line */
	struct nw_reports_options options;
	struct nw_reports reports;
	struct nw_consumer consumer;
};
/* Opens it; it must not move then. A mistake in the options is a usage error. */
int nw_counts_open(const struct nw_args *args, struct nw_counts *out, struct nw_error *err);
/* Takes the reason for which the consumer has failed, if that tells more, and closes it. */
void nw_counts_close(struct nw_counts *counts, int ret, struct nw_error *err);

/* Returns the first option that only goes with counts; NULL: there is none. */
const char *nw_counts_options(const struct nw_args *args);
/* Lets the kernel count, and ends. Returns the exit status. */
int nw_counts_add(const struct nw_args *args);

#endif
