/* SPDX-License-Identifier: MIT */
/* Arguments of a function that are read when it returns: "func:FILE:fgets(line:string@return)". */
#ifndef NOPWATCH_FIND_PROBE_CARRY_H
#define NOPWATCH_FIND_PROBE_CARRY_H

#include "probe.h"

/* Has the spec an argument that is read at the return? */
bool nw_spec_carries(const struct nw_spec *spec);

/*
 * Moves these arguments from a function's entry to its returns, behind the result. Their places begin with values that are
 * kept of the entry (nw_point's kept). An argument that cannot be carried gets a problem. EINVAL, EOPNOTSUPP: the spec is
 * refused.
 */
int nw_carry_arguments(const struct nw_spec *spec, struct nw_probe *entry,
		       struct nw_probe *returns, struct nw_error *err);

#endif
