/* SPDX-License-Identifier: MIT */
/* run/api: the library's functions, as include/nopwatch/ declares them. Each object holds one of the run's structs, whose layout
 * may change. */
#ifndef NOPWATCH_RUN_API_API_H
#define NOPWATCH_RUN_API_API_H

#include "nopwatch/nopwatch.h"
#include "run/engine.h"

struct nopwatch_request {
	/* Complete after nw_api_request(): its lists are the following ones. */
	struct nw_request request;
	nw_strings specs, spans, stacks, types;
	NW_VEC(char *) argv; /* ends with NULL, or is empty */
	nw_pids pids;
	char *file, *filter, *recording;
	struct nw_buf bytes; /* of the recording */
	struct nw_types described;
	int end; /* an eventfd: readable after nopwatch_request_stop() */
};

struct nopwatch_result {
	struct nw_run_result run;
};

/* Hands the reason of a failure to the caller. Returns ret. */
int nw_api_done(int ret, const struct nw_error *err, struct nopwatch_error **out);
/* Replaces a text by a copy; NULL: none. */
int nw_api_copy(const char *text, char **out, struct nw_error *err);

/* Completes the request for a run. */
int nw_api_request(struct nopwatch_request *request, struct nw_error *err);
/* Runs the request. *out receives the result, which is also kept after an error, until it is freed. */
int nw_api_run(struct nopwatch_request *request, const struct nw_consumer *consumer,
	       struct nw_run_result *out, struct nw_error *err);

#endif
