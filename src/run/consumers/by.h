/* SPDX-License-Identifier: MIT */
/* --by: the group of a hit, by one key or several: "method,status". */
#ifndef NOPWATCH_RUN_CONSUMERS_BY_H
#define NOPWATCH_RUN_CONSUMERS_BY_H

#include "measure/spans/member.h"
#include "run/engine.h"

enum nw_by_what {
	NW_BY_TID,
	NW_BY_PID,
	NW_BY_COMM,
	NW_BY_CPU,
	NW_BY_TITLE, /* of the process: "title", or "title(REGEX)" */
	NW_BY_CGROUP,
	NW_BY_CONTAINER,
	NW_BY_PATH, /* of a descriptor: "path(ARG)" */
	NW_BY_ARG
};

enum {
	NW_BY_CACHE = 256,
	NW_BY_MOST_SHAPES = 1000,
	NW_BY_TITLE_BYTES =
		256 /* of a title, or the end of a control group's path, in a group's name; the rest is cut */
};

struct nw_by_function;
struct nw_title_search;

struct nw_by_key {
	enum nw_by_what what;
	char *name;
	char *arg_name; /* ARG: "query" of "sql(query)" */
	/* ARG: "sql" of "sql(query)"; NULL: the value itself */
	const struct nw_by_function *function;
	struct nw_member member; /* ARG: of "json(ARG, PATH)" */
	struct nw_title_search
		*search; /* TITLE: of "title(REGEX)"; NULL: the whole title */
	int *arg; /* ARG: number of the argument, by probe; -1: it has none of that name */
};

struct nw_by {
	NW_VEC(struct nw_by_key) keys; /* none: nothing is grouped */
	struct nw_buf text;	       /* name of the group being made */
	struct {		       /* cache: numbers whose groups are known */
		uint64_t number;
		int64_t group; /* the group plus one; 0: free */
	} cache[NW_BY_CACHE];
};

/* Parses "KEY[,KEY...]". It is a usage error if a key is empty or given twice. text NULL: no groups. */
int nw_by_parse(const char *text, struct nw_by *out, struct nw_error *err);
void nw_by_free(struct nw_by *by);
/* Returns the limit of groups: a program that writes values into the names of statements makes shapes without end. 0:
 * the limit of the summary. */
size_t nw_by_most_groups(const struct nw_by *by);
/* Do hits need their values, or the processes and names of their threads? */
bool nw_by_needs_args(const struct nw_by *by);
bool nw_by_needs_tasks(const struct nw_by *by);
/* Must the calls that close descriptors be recorded? */
bool nw_by_needs_descriptors(const struct nw_by *by);
/* Returns which keys, by their places in a group's name (bit 0: the first), a span takes from its end: those that
 * may change meanwhile. */
uint64_t nw_by_late_keys(const struct nw_by *by);
/* Finds the arguments of the keys. It is a usage error if no probe has one of that name, and an error if the run
 * cannot tell what a key needs. */
int nw_by_bind(struct nw_by *by, struct nw_run *run, struct nw_error *err);
/* Returns the group of a hit; -1: the hit does not tell; -ENOMEM. In the name of a group by several keys, the parts
 * are separated by NW_GROUP_SEPARATOR. */
int64_t nw_by_group(struct nw_by *by, struct nw_run *run, struct nw_summary *summary,
		    const struct nw_hit *hit, const struct nw_task *task);
/* Asks the run what the keys need of the system at this hit, for a recording. */
void nw_by_observe(const struct nw_by *by, struct nw_run *run, const struct nw_task *task,
		   const struct nw_hit *hit);

#endif
