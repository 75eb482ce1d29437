/* SPDX-License-Identifier: MIT */
/* Which rows of a report are shown, and in what order. */
#ifndef NOPWATCH_SHOW_ROWS_ORDER_H
#define NOPWATCH_SHOW_ROWS_ORDER_H

#include "show/rows/output.h"

struct nw_ranked {
	size_t index; /* number of a probe, a span or a group */
	double key;
	const char *name;
};

typedef NW_VEC(struct nw_ranked) nw_ranking;

/* Ranks all probes or spans, best first (in their order of selection, if sort is the default), the first view.top
 * and, for each argument of --hist that none of these has, the first probe that has it. -ENOMEM. */
int nw_rank(const struct nw_report *report, enum nw_subject subject, enum nw_sort sort,
	    nw_ranking *out);
/* Ranks all groups in which a probe or span has a row. -ENOMEM. */
int nw_rank_groups(const struct nw_report *report, enum nw_subject subject, size_t index,
		   enum nw_sort sort, nw_ranking *out);

/* The sum of everything that --top leaves out: groups of one probe or span, or probes and spans. */
struct nw_rest {
	enum nw_subject subject;
	size_t count; /* number of groups, probes or spans in it */
	size_t args;  /* of the probe */
	union {
		struct nw_probe_row probe;
		struct nw_span_row span;
	} row;
};

/* Adds a group. Arguments are merged only for the same probe, because different probes have different arguments.
 * -ENOMEM. */
int nw_rest_add(const struct nw_report *report, size_t index, size_t group,
		struct nw_rest *rest);
/* Adds all probes or spans that were hit and are not in the ranking. -ENOMEM. */
int nw_rest_of(const struct nw_report *report, const nw_ranking *shown,
	       struct nw_rest *out);
void nw_rest_free(struct nw_rest *rest);

/* A row to show. */
struct nw_shown {
	enum nw_subject subject;
	/* name of the probe or span; NULL: the row stands for those that are left out */
	const char *name;
	size_t index, group;
	/* number of groups, probes or spans that are left out; 0: the row is of one group */
	size_t more;
	const void *row; /* struct nw_probe_row or nw_span_row; NULL: there is none */
};

/* Returns the row of a probe or span in a group. */
struct nw_shown nw_shown_in(const struct nw_report *report, enum nw_subject subject,
			    size_t index, size_t group);
/* Calls show for each probe or span, and each of its groups, in the order of view.sort; and for the rest that is left
 * out. */
void nw_rank_each(const struct nw_report *report, enum nw_subject subject,
		  void (*show)(const struct nw_report *report, const struct nw_shown *row,
			       struct nw_buf *out),
		  struct nw_buf *out);
/* Was the probe never hit, or the span neither begun nor ended, in any group? */
bool nw_is_silent(const struct nw_report *report, enum nw_subject subject, size_t index);

#endif
