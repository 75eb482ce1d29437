// SPDX-License-Identifier: MIT
/* Chooses the source of a request, and runs it from begin to end. */
#include <errno.h>
#include <stdlib.h>

#include "sources.h"

int nw_run_open(struct nw_run *run, bool inner, const struct nw_request *request,
		const struct nw_consumer *consumer, struct nw_run_result *result,
		struct nw_error *err)
{
	nw_run_init(run, request, consumer, result);
	run->inner = inner;
	run->bytes = request->source_bytes;
	run->len = request->source_len;
	run->source = request->kept	      ? &nw_kept_source
		      : !request->source_name ? &nw_live_source
					      : &nw_pipe_source;
	if (request->source_name && request->source_bytes)
		run->source = nw_source_of_bytes(request->source_bytes,
						 request->source_len);
	int ret = request->filter
			  ? nw_filter_parse(request->filter, &run->delivery.filter, err)
			  : 0;
	result->has_filter = run->delivery.filter != NULL;
	if (ret == 0)
		ret = run->source->open(run, err);
	if (inner) {
		free(run->live.command);
		run->live.command = NULL;
	}
	return ret;
}

int nw_run_check(struct nw_run *run, struct nw_error *err)
{
	int ret = nw_run_open_counts(run, err);

	if (ret == 0)
		ret = nw_run_open_members(run, err);
	return ret == 0 && run->consumer.start
		       ? run->consumer.start(run->consumer.arg, run, err)
		       : ret;
}

int nw_run_arm(struct nw_run *run, struct nw_error *err)
{
	int ret = nw_run_check(run, err);

	return ret < 0 ? ret : run->source->begin(run, err);
}

void nw_run_close(struct nw_run *run)
{
	run->source->close(run);
	nw_run_free(run);
}

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
	int ret = nw_run_open(&run, false, request, consumer, out, &failure);

	if (ret == 0)
		ret = nw_run_arm(&run, &failure);
	if (ret == 0)
		ret = loop(&run, &failure);
	if (ret == 0)
		ret = nw_run_end(&run, &failure);
	if (ret == 0 && run.stopped)
		out->reason = NW_END_SIGNAL;
	nw_run_close(&run);
	if (ret == -ENOMEM && !failure.code)
		nw_no_memory(&failure);
	if (ret < 0 && !failure.code)
		nw_fail(&failure, -ret, "the hits cannot be taken: %s", nw_strerror(-ret));
	if (ret < 0)
		*err = failure;
	return ret;
}

int nw_run_keep(const struct nw_request *request, const struct nw_consumer *consumer,
		struct nw_run_result *out, struct nw_error *err)
{
	struct nw_run run;
	int ret = nw_run_open(&run, false, request, consumer, out, err);

	if (ret == 0)
		ret = nw_run_arm(&run, err);
	nw_run_close(&run);
	return ret;
}
