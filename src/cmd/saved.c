// SPDX-License-Identifier: MIT
/* See saved.h. */
#include "saved.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "request.h"
#include "run/consumers/measure.h"

enum {
	MOST_PIPED = 1 << 30
};

/* ---- JSON lines --------------------------------------------------------------------- */

int nw_is_json_file(const char *path, struct nw_error *err)
{
	int fd = nw_open_regular(AT_FDCWD, path), code = fd < 0 ? -fd : 0;
	char first = 0;

	if (fd >= 0 && pread(fd, &first, 1, 0) < 0)
		code = errno;
	if (fd >= 0)
		close(fd);
	return nw_is_shortage(code)
		       ? nw_fail(err, code, "cannot read '%s': %s", path, nw_strerror(code))
		       : first == '{';
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
	struct nw_buf *piped = &out->piped;
	ret = read_pipe(fd, out->path, piped, err);
	if (ret == 0 && (!piped->len || *piped->data != '{')) {
		nw_fail(err, EINVAL, "'%s' is a pipe, from which only JSON lines are read",
			out->path);
		nw_error_hint(err, "save a recording as a file first");
		ret = -EINVAL;
	} else if (ret == 0) {
		ret = read_json(args, piped->data, piped->len, out, err);
	}
	if (!args->diff)
		nw_buf_free(piped);
	return ret;
}

/* ---- recordings --------------------------------------------------------------------- */

static struct nw_measure_options measure_options(const struct nw_args *args, const char *by)
{
	return (struct nw_measure_options){
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
}

/* Runs through a recording with an open measure. */
static int run_through(const struct nw_args *args, struct nw_saved *saved,
		       struct nw_error *err)
{
	const struct nw_consumer consumer = nw_measure_consumer(&saved->measure);
	struct nw_prepared prepared;
	struct nw_args one = *args;

	one.from = saved->path;
	one.words.count = 0;
	int ret = nw_prepare(&one, &prepared, err);
	if (ret < 0)
		return ret;
	ret = nw_prepared_run(&prepared, &consumer, &saved->result, err);
	nw_prepared_close(&prepared);
	if (ret < 0 && saved->measure.failure.code)
		*err = saved->measure.failure;
	return ret;
}

static int read_recording(const struct nw_args *args, const char *by, struct nw_saved *out,
			  struct nw_error *err)
{
	const struct nw_measure_options options = measure_options(args, by);
	int ret = nw_measure_open(&options, &out->measure, err);

	if (ret == 0)
		ret = run_through(args, out, err);
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
	int json = is_pipe ? 1 : nw_is_json_file(path, err);
	if (json <= 0)
		return json < 0 ? json : read_recording(args, by, out, err);
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
	nw_buf_free(&saved->piped);
}

/* ---- slices ------------------------------------------------------------------------- */

enum {
	LEAST_SLICE_NS = 1000000 /* also the least interval of -i */
};

/* A recording that is read slice by slice. */
struct slices {
	struct nw_saved saved;
	const char *host;
	bool over;	  /* the run: its result is in saved.result */
	uint64_t ns, end; /* length of a slice; end of the last one */
	const struct nw_slice_taker *to;
};

uint64_t nw_saved_resolution(const struct nw_saved *saved)
{
	const uint64_t ns = saved->is_json ? nw_json_interval_ns(&saved->json)
					   : LEAST_SLICE_NS;

	return ns < LEAST_SLICE_NS ? 0 : ns;
}

uint64_t nw_saved_slice_ns(const struct nw_saved *saved, uint64_t ns)
{
	const uint64_t interval = nw_saved_resolution(saved);

	return saved->is_json && interval
		       ? nw_max64((ns + interval / 2) / interval, 1) * interval
		       : ns;
}

static const struct nw_run_result *result_of(const struct slices *s)
{
	return s->over ? &s->saved.result : nw_run_so_far(s->saved.measure.run);
}

static int end_slice(void *arg, uint64_t number, uint64_t end, struct nw_error *err)
{
	struct slices *s = arg;
	const struct nw_measure *measure = &s->saved.measure;
	const struct nw_run_result *result = result_of(s);
	const uint64_t begin = s->end ? s->end : result->start_ns;
	const struct nw_merge_part part = {.selection = &result->selection,
					   .spans = measure->spans.item,
					   .span_count = measure->spans.count,
					   .summary = measure->summary,
					   .interval = true,
					   .host = s->host};

	(void)number;
	s->end = end;
	return end > begin && end - begin >= s->ns / 2
		       ? s->to->take(s->to->arg, &part, end - begin, err)
		       : 0;
}

static int quiet_slices(void *arg, uint64_t first, uint64_t count, struct nw_error *err)
{
	struct slices *s = arg;
	int ret = 0;

	if (!s->end)
		s->end = result_of(s)->start_ns;
	for (uint64_t i = 0; ret == 0 && i < count; i++)
		ret = end_slice(s, first + i, s->end + s->ns, err);
	return ret;
}

static int slice_recording(const struct nw_args *args, const char *by, struct slices *s,
			   struct nw_error *err)
{
	struct nw_measure_options options = measure_options(args, by);

	options.interval_ns = s->ns;
	options.arg = s;
	options.interval = end_slice;
	options.quiet = quiet_slices;
	int ret = nw_measure_open(&options, &s->saved.measure, err);
	if (ret == 0)
		ret = run_through(args, &s->saved, err);
	s->over = true;
	return ret < 0 ? ret
		       : nw_measure_end(&s->saved.measure, s->saved.result.now_ns, err);
}

static int slice_lines(const struct nw_saved *saved, const struct slices *s,
		       struct nw_error *err)
{
	const uint64_t each = nw_saved_slice_ns(saved, s->ns) / nw_saved_resolution(saved);
	struct nw_input input = {0};
	struct stat st;

	if (saved->piped.len)
		return nw_json_result_slices(s->host, saved->piped.data, saved->piped.len,
					     &saved->json, each, s->to, err);
	int fd = nw_open_input(saved->path);
	int ret = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : 0;
	if (ret < 0)
		nw_fail(err, -ret, "cannot read '%s': %s", saved->path, nw_strerror(-ret));
	if (ret == 0)
		ret = nw_input_open(fd, &st, saved->path, &input, err);
	if (ret == 0)
		ret = nw_json_result_slices(s->host, input.bytes, input.len, &saved->json,
					    each, s->to, err);
	if (ret == 0)
		ret = nw_input_is_whole(&input, saved->path, err);
	nw_input_close(&input);
	if (fd >= 0)
		close(fd);
	return ret;
}

int nw_saved_slices(const struct nw_args *args, const struct nw_saved *saved,
		    const char *by, uint64_t ns, const struct nw_slice_taker *to,
		    struct nw_error *err)
{
	struct slices s = {.saved = {.path = saved->path},
			   .host = saved->part.host,
			   .ns = ns,
			   .to = to};
	int ret = saved->is_json ? slice_lines(saved, &s, err)
				 : slice_recording(args, by, &s, err);

	nw_saved_close(&s.saved);
	return ret;
}
