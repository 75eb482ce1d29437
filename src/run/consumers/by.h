/* SPDX-License-Identifier: MIT */
/* --by: which group a hit belongs to. One key, or several: "method,status". */
#ifndef NOPWATCH_RUN_CONSUMERS_BY_H
#define NOPWATCH_RUN_CONSUMERS_BY_H

#include "nopwatch/probe.h"
#include "nopwatch/summary.h"

enum nw_by_what {
	NW_BY_TID,
	NW_BY_PID,
	NW_BY_COMM,
	NW_BY_CPU,
	NW_BY_ARG
};

enum {
	NW_BY_CACHE = 256,
	NW_BY_MOST_SHAPES = 1000
};

struct nw_by_key {
	enum nw_by_what what;
	char *name;
	char *arg_name; /* ARG: "query" of "sql(query)" */
	bool sql;	/* ARG: the shapes of statements count, not their texts */
	int *arg; /* ARG: per probe, which of its arguments; -1: it has none of that name */
};

struct nw_by {
	NW_VEC(struct nw_by_key) keys; /* none: nothing is grouped */
	struct nw_buf text;	       /* of the group being made */
	struct {		       /* numbers that have been made into groups before */
		uint64_t number;
		int64_t group; /* one more than it is; 0: none yet */
	} cache[NW_BY_CACHE];
};

/* "KEY[,KEY...]"; a usage error if a key is empty or said twice. text NULL: no groups. */
int nw_by_parse(const char *text, struct nw_by *out, struct nw_error *err);
void nw_by_free(struct nw_by *by);
/* How many groups there may be: a program that writes its values into its statements' names makes shapes without end. 0: as
 * many as a summary has. */
size_t nw_by_most_groups(const struct nw_by *by);
/* Do hits need their values, or their threads' processes and names? */
bool nw_by_needs_args(const struct nw_by *by);
bool nw_by_needs_tasks(const struct nw_by *by);
/* Find the arguments that are meant. A usage error if no probe has one of that name. */
int nw_by_bind(struct nw_by *by, const struct nw_selection *selection,
	       struct nw_error *err);
/* The group of a hit, -1 if it cannot say; -ENOMEM. The parts of the name of a group by several
 * keys are separated by NW_GROUP_SEPARATOR. */
int64_t nw_by_group(struct nw_by *by, struct nw_summary *summary, const struct nw_hit *hit,
		    const struct nw_task *task);

#endif
