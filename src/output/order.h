/* SPDX-License-Identifier: MIT */
/* Which rows of a report are shown, and in what order. */
#ifndef NOPWATCH_OUTPUT_ORDER_H
#define NOPWATCH_OUTPUT_ORDER_H

#include "nopwatch/output.h"

/* One thing that a report has rows for. */
enum nw_subject {
	NW_SUBJECT_PROBES,
	NW_SUBJECT_SPANS
};

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
/* Call show for each of them, and each of its groups, in the order that view.sort asks for. */
void nw_rank_each(const struct nw_report *report, enum nw_subject subject,
		  void (*show)(const struct nw_report *report, size_t index, size_t group,
			       struct nw_buf *out),
		  struct nw_buf *out);
/* Was it never hit, or neither begun nor ended, in any group? */
bool nw_is_silent(const struct nw_report *report, enum nw_subject subject, size_t index);

#endif
