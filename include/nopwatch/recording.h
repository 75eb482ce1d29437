/* SPDX-License-Identifier: MIT */
/* Recordings in trace-cmd's format (trace.dat): making them, and running from them. */
#ifndef NOPWATCH_RECORDING_H
#define NOPWATCH_RECORDING_H

#include "nopwatch/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs to the end and writes a recording, which replaces the file as a whole at the end. */
int nopwatch_record(struct nopwatch_request *request, const char *path,
		    struct nopwatch_result **result, struct nopwatch_error **error);

/* Makes the request read a recording or the text of trace_pipe instead of running live. The file, of at most 1 GiB, is
 * read now. Of everything else only filter, spans and notices count then. Needs no privileges. */
int nopwatch_request_set_recording(struct nopwatch_request *request, const char *path,
				   struct nopwatch_error **error);

#ifdef __cplusplus
}
#endif

#endif
