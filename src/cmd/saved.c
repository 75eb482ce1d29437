// SPDX-License-Identifier: MIT
/* See saved.h. */
#include "saved.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "request.h"

enum {
	MOST_PIPED = 1 << 30
};

/* ---- JSON lines --------------------------------------------------------------------- */

bool nw_is_json_file(const char *path)
{
	int fd = nw_open_regular(AT_FDCWD, path);
	char first = 0;
	bool is_json = fd >= 0 && pread(fd, &first, 1, 0) == 1 && first == '{';

	if (fd >= 0)
		close(fd);
	return is_json;
}

/* Reads a pipe to its end. */
static int read_pipe(int fd, const char *path, struct nw_buf *out, struct nw_error *err)
{
	char chunk[65536];
	ssize_t got;

	while ((got = read(fd, chunk, sizeof(chunk))) > 0 || (got < 0 && errno == EINTR)) {
		if (got > 0)
			nw_buf_add(out, chunk, (size_t)got);
		if (out->failed)
			return nw_no_memory(err);
		if (out->len > MOST_PIPED)
			return nw_fail(err, EFBIG, "'%s': more than 1 GiB came", path);
	}
	return got < 0 ? nw_fail(err, errno, "cannot read '%s': %s", path,
				 nw_strerror(errno))
		       : 0;
}

/* Refuses what would need the hits, of which JSON lines have only the summary. */
static int check_json(const struct nw_args *args, const struct nw_saved *saved,
		      struct nw_error *err)
{
	const char *option = args->filter	 ? "--filter"
			     : args->spans.count ? "--span"
			     : args->states	 ? "--states"
						 : NULL;
	if (option || args->net != saved->json.net)
		return nw_fail_usage(
			err,
			"'%s' has rows that were measured %s %s: JSON lines cannot be measured anew, a recording can",
			saved->path, option || args->net ? "without" : "with",
			option ? option : "--net");
	return 0;
}

static int read_json(const struct nw_args *args, const char *text, size_t len,
		     struct nw_saved *out, struct nw_error *err)
{
	struct nw_json_result *json = &out->json;
	int ret = nw_json_result_read(out->path, text, len, json, err);

	out->is_json = true;
	if (ret == 0)
		ret = check_json(args, out, err);
	if (ret < 0)
		return ret;
	out->end = json->end;
	out->sites = json->sites;
	out->states = json->states;
	out->part = (struct nw_merge_part){
		.selection = &json->rows.selection,
		.spans = json->rows.spans.item,
		.span_count = json->rows.spans.count,
		.summary = json->rows.summary,
		.discarded = out->end.discarded,
		.host = json->host ? json->host : out->path,
	};
	return 0;
}

/* Reads a pipe, or a file of JSON lines. */
static int read_lines(const struct nw_args *args, int fd, struct nw_saved *out,
		      struct nw_error *err)
{
	struct nw_input input = {0};
	struct nw_buf piped = {0};
	struct stat st;
	int ret = fstat(fd, &st) < 0 ? -errno : 0;

	if (ret < 0)
		return nw_fail(err, -ret, "cannot read '%s': %s", out->path,
			       nw_strerror(-ret));
	if (S_ISREG(st.st_mode)) {
		ret = nw_input_open(fd, &st, out->path, &input, err);
		if (ret == 0)
			ret = read_json(args, input.bytes, input.len, out, err);
		if (nw_input_is_whole(&input, out->path, err) < 0)
			ret = -ENODATA;
		nw_input_close(&input);
		return ret;
	}
	ret = read_pipe(fd, out->path, &piped, err);
	if (ret == 0 && (!piped.len || *piped.data != '{')) {
		nw_fail(err, EINVAL, "'%s' is a pipe, from which only JSON lines are read",
			out->path);
		nw_error_hint(err, "save a recording as a file first");
		ret = -EINVAL;
	} else if (ret == 0) {
		ret = read_json(args, piped.data, piped.len, out, err);
	}
	nw_buf_free(&piped);
	return ret;
}

/* ---- recordings --------------------------------------------------------------------- */

static int read_recording(const struct nw_args *args, const char *by, struct nw_saved *out,
			  struct nw_error *err)
{
	const struct nw_measure_options options = {
		.spans = args->spans.item,
		.span_count = args->spans.count,
		.by = by,
		.hists = args->hists.item,
		.hist_count = args->hists.count,
		.spans_only = args->view.spans_only,
		.states = args->states,
		.net = args->net,
		.costs = NW_COSTS_KNOWN,
	};
	struct nw_prepared prepared;
	struct nw_args one = *args;

	one.from = out->path;
	one.words.count = 0;
	int ret = nw_measure_open(&options, &out->measure, err);
	if (ret < 0 || (ret = nw_prepare(&one, &prepared, err)) < 0)
		return ret;
	const struct nw_consumer consumer = nw_measure_consumer(&out->measure);
	ret = nw_prepared_run(&prepared, &consumer, &out->result, err);
	nw_prepared_close(&prepared);
	if (ret < 0 && out->measure.failure.code)
		*err = out->measure.failure;
	if (ret < 0)
		return ret;
	nw_summary_finish(out->measure.summary);
	out->end = nw_result_end(&out->result);
	out->end.discarded = nw_summary_discarded(out->measure.summary);
	out->sites = nw_result_sites(&out->result);
	out->states = out->result.states;
	out->part = (struct nw_merge_part){
		.selection = &out->result.selection,
		.spans = out->measure.spans.item,
		.span_count = out->measure.spans.count,
		.summary = out->measure.summary,
		.discarded = out->end.discarded,
		.host = out->result.origin.host ? out->result.origin.host : out->path,
	};
	return 0;
}

int nw_saved_read(const struct nw_args *args, const char *path, const char *by,
		  struct nw_saved *out, struct nw_error *err)
{
	struct stat st;
	bool is_pipe = stat(path, &st) == 0 && S_ISFIFO(st.st_mode);

	*out = (struct nw_saved){.path = path};
	if (!is_pipe && !nw_is_json_file(path))
		return read_recording(args, by, out, err);
	int fd = nw_open_input(path);
	if (fd < 0)
		return nw_fail(err, -fd, "cannot read '%s': %s", path, nw_strerror(-fd));
	int ret = read_lines(args, fd, out, err);
	close(fd);
	return ret;
}

void nw_saved_close(struct nw_saved *saved)
{
	nw_measure_close(&saved->measure);
	nw_result_free(&saved->result);
	nw_json_result_free(&saved->json);
}
