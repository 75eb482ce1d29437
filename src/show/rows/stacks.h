/* SPDX-License-Identifier: MIT */
/* Shared by all formats that show stacks. */
#ifndef NOPWATCH_SHOW_ROWS_STACKS_H
#define NOPWATCH_SHOW_ROWS_STACKS_H

#include "show/rows/output.h"

/* The stacks of one probe or span of a report. */
struct nw_stack_table {
	bool span, alone; /* alone: the report has no other table of stacks */
	const char *name;
	const struct nw_probe *function; /* the probe, or a call's; NULL: none is known */
	const struct nw_stack_row *row;	 /* the most frequent first */
	size_t count;
	uint64_t total; /* hits of all its stacks */
};

/* Calls a function for the stacks of each span, and of each probe that begins none. Returns how many there are. */
size_t nw_report_each_stack_table(const struct nw_report *report,
				  void (*show)(const struct nw_report *report,
					       const struct nw_stack_table *of,
					       struct nw_buf *out),
				  struct nw_buf *out);
/* Returns the stack of a slow span: that of its start, or of its end if only its end has one. 0: neither has. */
uint32_t nw_slow_stack(const struct nw_slow_span *slow);
/* Returns the text before the first function of a stack that is not whole; NULL: it is whole. */
const char *nw_stack_root(enum nw_stack_end end);
/* Writes "main;f;g", the first function first, as tools that draw flame graphs read it. */
void nw_stack_fold(const struct nw_stacks *stacks, uint32_t number, struct nw_buf *out);

/* Writes a name as a part of a folded line: ';' separates functions and a newline ends the line, so these become ':'
 * and '?', as do other control characters. */
void nw_stack_fold_name(const char *name, struct nw_buf *out);

#endif
