/* SPDX-License-Identifier: MIT */
/*
 * measure/spans: which hits count. A filter is comparisons NAME OP VALUE, joined by && || ! and parentheses.
 *
 * NAME is an argument, as nw_arg_name() has it or argN by its number, or tid, pid, comm, cpu. OP
 * is one of == != < <= > >=, & (some of these bits are set) and ~ (a glob, as ftrace's filters
 * have it: * ? [a-z] [!a] and backslash). VALUE is an integer (42, -1, 0x2a), compared as a number
 * whatever the width and sign of the argument; a real number; a bare word up to a blank, a
 * parenthesis, a quote, & or |; or a string in quotes of either kind, with \n \t \xNN and
 * escaped quotes.
 *
 * A filter applies to the probes that have all of its arguments; hits of others pass. A value
 * that is missing makes its comparison false, whatever it is (and ! makes that true).
 */
#ifndef NOPWATCH_FILTER_H
#define NOPWATCH_FILTER_H

#include "nopwatch/probe.h"
#include "nopwatch/stream.h"

struct nw_filter;

/* Hostile text costs no more than its length: parentheses nest 64 deep, comparisons are 256. A
 * mistake is a usage error that says the column. */
int nw_filter_parse(const char *text, struct nw_filter **out, struct nw_error *err);
void nw_filter_free(struct nw_filter *filter);
/* Does it name arguments, so that hits need their values? */
bool nw_filter_names_args(const struct nw_filter *filter);
/* Does it name pid or comm, so that hits need their nw_task? */
bool nw_filter_names_tasks(const struct nw_filter *filter);
/* Find out which probes it applies to; once, before the first hit. A usage error if it is none,
 * or if an argument is of a type for which a comparison would never be true. */
int nw_filter_bind(struct nw_filter *filter, const struct nw_selection *selection,
		   struct nw_error *err);
/* task may be NULL if nw_filter_names_tasks() says so. */
bool nw_filter_passes(const struct nw_filter *filter, const struct nw_hit *hit,
		      const struct nw_task *task);

#endif
