// SPDX-License-Identifier: MIT
/* Chooses the source of a request, and runs it from begin to end. */
#include <errno.h>

#include "sources.h"

static int loop(struct nw_run *run, struct nw_error *err)
{
	int ret;

	while ((ret = nw_run_step(run, err)) > 0)
		;
	if (!nw_run_reason(ret))
		return ret;
	run->result->reason = nw_run_reason(ret);
	return 0;
}

int nw_run(const struct nw_request *request, const struct nw_consumer *consumer,
	   struct nw_run_result *out, struct nw_error *err)
{
	struct nw_error failure = {0};
	struct nw_run run;

	nw_run_init(&run, request, consumer, out);
	run.bytes = request->source_bytes;
	run.len = request->source_len;
	run.source = !request->source_name ? &nw_live_source : &nw_pipe_source;
	if (request->source_name && request->source_bytes)
		run.source = nw_source_of_bytes(request->source_bytes, request->source_len);
	int ret = request->filter
			  ? nw_filter_parse(request->filter, &run.delivery.filter, &failure)
			  : 0;
	out->has_filter = run.delivery.filter != NULL;
	if (ret == 0)
		ret = run.source->open(&run, &failure);
	if (ret == 0)
		ret = nw_run_prepare(&run, &failure);
	/* The source may have changed: open() replaces that of a pipe by that of a recording. */
	if (ret == 0)
		ret = run.source->begin(&run, &failure);
	if (ret == 0)
		ret = loop(&run, &failure);
	if (ret == 0)
		ret = nw_run_end(&run, &failure);
	run.source->close(&run, ret);
	if (ret == 0 && run.stopped)
		out->reason = NW_END_SIGNAL;
	nw_run_free(&run);
	if (ret == -ENOMEM && !failure.code)
		nw_no_memory(&failure);
	if (ret < 0 && !failure.code)
		nw_fail(&failure, -ret, "the hits cannot be taken: %s", nw_strerror(-ret));
	if (ret < 0)
		*err = failure;
	return ret;
}
