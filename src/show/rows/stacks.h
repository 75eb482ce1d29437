/* SPDX-License-Identifier: MIT */
/* Stacks: what their formats have in common. */
#ifndef NOPWATCH_SHOW_ROWS_STACKS_H
#define NOPWATCH_SHOW_ROWS_STACKS_H

#include "nopwatch/output.h"

/* What has stacks in a report. */
struct nw_stack_owner {
	uint32_t number; /* as nw_stack_rows_of() takes it */
	bool span;
	const char *name;
	const struct nw_probe *function; /* the probe, or a call's; NULL: none is known */
};

typedef NW_VEC(struct nw_stack_owner) nw_stack_owners;

/* All that have any: the spans, and the probes that begin none. -ENOMEM. */
int nw_report_stack_owners(const struct nw_report *report, nw_stack_owners *out);
/* Each of them. */
void nw_report_each_stack_owner(const struct nw_report *report,
				void (*show)(const struct nw_report *report,
					     const struct nw_stack_owner *of,
					     struct nw_buf *out),
				struct nw_buf *out);
/* So many of all that these rows count. */
double nw_stack_percent(const nw_stack_rows *rows, uint64_t count);
/* The stack of a slow span: that of its start; where only its end has one, that. 0: neither has. */
uint32_t nw_slow_stack(const struct nw_slow_span *slow);
/* What stands before the first function where more is missing than is there; NULL: it is whole. */
const char *nw_stack_root(enum nw_stack_end end);
/* "main;f;g", the first function first, as tools that draw flame graphs read it. */
void nw_stack_fold(const struct nw_stacks *stacks, uint32_t number, struct nw_buf *out);

/* A name as a part of a folded line: ';' separates functions and a newline ends the line, so these become ':' and '?',
 * as do other controls. */
void nw_stack_fold_name(const char *name, struct nw_buf *out);

#endif
