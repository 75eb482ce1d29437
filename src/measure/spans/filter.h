/* SPDX-License-Identifier: MIT */
/*
 * measure/spans: filters, which decide about hits. A filter is comparisons NAME OP VALUE, joined by && || ! and
 * parentheses.
 *
 * NAME is an argument, called as nw_arg_name() calls it or argN by its number, or tid, pid, comm or cpu, or a member of
 * an argument that is JSON: json(ARG, PATH). OP is one of
 * == != < <= > >=, & (some of these bits are set) and ~ (a glob, as in ftrace's filters: * ? [a-z] [!a] and
 * backslash). VALUE is an integer (42, -1, 0x2a), compared as a number regardless of the width and sign of the
 * argument; a real number; a bare word up to a blank, a parenthesis, a quote, & or |; or a string in quotes of either
 * kind, with \n \t \xNN and escaped quotes.
 *
 * A filter applies to probes that have all of its arguments; hits of all other probes pass. A comparison with a
 * missing value is false whatever the operator (and ! makes it true).
 */
#ifndef NOPWATCH_MEASURE_SPANS_FILTER_H
#define NOPWATCH_MEASURE_SPANS_FILTER_H

#include "find/probe/probe.h"
#include "stream/pages/stream.h"

struct nw_filter;

/* Parses a filter. The effort is limited by the length of the text, which may be hostile: parentheses nest at most 64
 * deep, and there are at most 256 comparisons. A mistake is a usage error that names the column. */
int nw_filter_parse(const char *text, struct nw_filter **out, struct nw_error *err);
void nw_filter_free(struct nw_filter *filter);
/* Does the filter name arguments, so that hits need their values? */
bool nw_filter_names_args(const struct nw_filter *filter);
/* Does the filter name pid or comm, so that hits need their nw_task? */
bool nw_filter_names_tasks(const struct nw_filter *filter);
/* Finds the probes to which the filter applies. Must be called once, before the first hit. It is a usage error if
 * there is none, or if an argument has a type for which a comparison can never be true. */
int nw_filter_bind(struct nw_filter *filter, const struct nw_selection *selection,
		   struct nw_error *err);
/* Does it apply to this probe, by its number? */
bool nw_filter_applies(const struct nw_filter *filter, size_t probe);
/* task may be NULL if nw_filter_names_tasks() returns false. */
bool nw_filter_passes(const struct nw_filter *filter, const struct nw_hit *hit,
		      const struct nw_task *task);

#endif
