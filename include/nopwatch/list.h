/* SPDX-License-Identifier: MIT */
/* Lists the probes of files. Needs no privileges. */
#ifndef NOPWATCH_LIST_H
#define NOPWATCH_LIST_H

#include "nopwatch/request.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Receives a probe as a JSON object on one line, as `nopwatch list -j` prints it (docs/json.md). Returns 0 to go on,
 * anything else to stop. */
typedef int nopwatch_found_fn(void *arg, const char *json);

/*
 * Lists the USDT probes that match a word of `nopwatch list`: a file, a directory, a glob, a SPEC, or PROVIDER:NAME in
 * the request's file or processes. func:FILE:PATTERN lists functions. NULL: all probes of the request's file or
 * processes. request: its file, processes, types, force and notices count; NULL: the word says it all. Places that
 * cannot be searched are told by notices. No match is no error.
 */
int nopwatch_list(struct nopwatch_request *request, const char *word,
		  nopwatch_found_fn *found, void *arg, struct nopwatch_error **error);

#ifdef __cplusplus
}
#endif

#endif
