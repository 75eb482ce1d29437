/* SPDX-License-Identifier: MIT */
/* Specs and names of arguments as users of other tools write them. */
#ifndef NOPWATCH_FIND_SPEC_HABITS_H
#define NOPWATCH_FIND_SPEC_HABITS_H

#include "base/base.h"

/* Refuses a text that is no probe spec, with all forms that are. Returns -EINVAL. */
int nw_bad_spec(struct nw_error *err, const char *text, const char *why);
/* Refuses a spec that is written as other tools write probes: the hint says how to write it here. */
int nw_spec_refuse_habit(const char *text, struct nw_error *err);
/* Returns what to type in place of a name that users of other tools give to a fact of a hit ("thread", "retval"); NULL: unknown. */
const char *nw_arg_habit(const char *name);

#endif
