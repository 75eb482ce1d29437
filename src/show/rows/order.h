/* SPDX-License-Identifier: MIT */
/* Which rows of a report are shown, and in what order. */
#ifndef NOPWATCH_SHOW_ROWS_ORDER_H
#define NOPWATCH_SHOW_ROWS_ORDER_H

#include "nopwatch/output.h"

struct nw_ranked {
	size_t index; /* of a probe, a span or a group */
	double key;
	const char *name;
};

typedef NW_VEC(struct nw_ranked) nw_ranking;

/* All probes or spans, best first (as they were selected, if sort is the default), at most
 * view.top. -ENOMEM. */
int nw_rank(const struct nw_report *report, enum nw_subject subject, enum nw_sort sort,
	    nw_ranking *out);
/* The groups in which a probe or span has a row; all of them. -ENOMEM. */
int nw_rank_groups(const struct nw_report *report, enum nw_subject subject, size_t index,
		   enum nw_sort sort, nw_ranking *out);

/* What --top leaves out, taken together: groups of one probe or span, or probes and spans. */
struct nw_rest {
	enum nw_subject subject;
	size_t count; /* so many of them */
	size_t args;  /* of the probe */
	union {
		struct nw_probe_row probe;
		struct nw_span_row span;
	} row;
};

/* Add a group; arguments are merged of one probe: those of several are not the same ones. -ENOMEM. */
int nw_rest_add(const struct nw_report *report, size_t index, size_t group,
		struct nw_rest *rest);
/* Add all probes or spans that were hit and are not in the ranking. -ENOMEM. */
int nw_rest_of(const struct nw_report *report, const nw_ranking *shown,
	       struct nw_rest *out);
void nw_rest_free(struct nw_rest *rest);

/* A row to show. */
struct nw_shown {
	enum nw_subject subject;
	const char *name; /* of the probe or span; NULL: it is of those that are left out */
	size_t index, group;
	size_t more; /* so many groups, probes or spans that are left out; 0: it is of one group */
	const void *row; /* struct nw_probe_row or nw_span_row; NULL: there is none */
};

/* That of a probe or span in a group. */
struct nw_shown nw_shown_in(const struct nw_report *report, enum nw_subject subject,
			    size_t index, size_t group);
/* Call show for each of them, and each of its groups, in the order that view.sort asks for; and for what is left out. */
void nw_rank_each(const struct nw_report *report, enum nw_subject subject,
		  void (*show)(const struct nw_report *report, const struct nw_shown *row,
			       struct nw_buf *out),
		  struct nw_buf *out);
/* Was it never hit, or neither begun nor ended, in any group? */
bool nw_is_silent(const struct nw_report *report, enum nw_subject subject, size_t index);

#endif
