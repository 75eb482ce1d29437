// SPDX-License-Identifier: MIT
/* Requests of the library: what they are given is checked where that is possible without looking anywhere. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "api.h"

enum {
	ALL_FLAGS = NOPWATCH_FOLLOW | NOPWATCH_ALL | NOPWATCH_FORCE | NOPWATCH_SIGNALS |
		    NOPWATCH_VERBOSE,
	MOST_RECORDING = 1 << 30
};

struct nopwatch_request *nopwatch_request_new(void)
{
	struct nopwatch_request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	request->request.end_fd = request->end >= 0 ? &request->end : NULL;
	request->request.replaced = NW_REPLACED_FOLLOWED;
	return request;
}

static void forget_command(struct nopwatch_request *request)
{
	nw_vec_each (&request->argv, word)
		free(*word);
	nw_vec_free(&request->argv);
}

void nopwatch_request_free(struct nopwatch_request *request)
{
	if (!request)
		return;
	nw_strings_free(&request->specs);
	nw_strings_free(&request->spans);
	nw_strings_free(&request->stacks);
	nw_strings_free(&request->types);
	forget_command(request);
	nw_vec_free(&request->pids);
	free(request->file);
	free(request->filter);
	free(request->recording);
	nw_buf_free(&request->bytes);
	nw_types_free(&request->described);
	if (request->end >= 0)
		close(request->end);
	free(request);
}

/* ---- what is traced ----------------------------------------------------------------- */

static int add_text(nw_strings *list, const char *text, struct nopwatch_error **error)
{
	struct nw_error err;
	int ret = nw_strings_add(list, text, strlen(text));

	return nw_api_done(ret < 0 ? nw_no_memory(&err) : 0, &err, error);
}

int nopwatch_request_add_probe(struct nopwatch_request *request, const char *spec,
			       struct nopwatch_error **error)
{
	struct nw_spec parsed = {0};
	struct nw_error err;
	int ret = nw_spec_parse(spec, &parsed, &err);

	if (ret < 0)
		return nw_api_done(ret, &err, error);
	nw_spec_free(&parsed);
	return add_text(&request->specs, spec, error);
}

int nopwatch_request_add_span(struct nopwatch_request *request, const char *span,
			      struct nopwatch_error **error)
{
	nw_strings ends = {0};
	struct nw_error err;
	int ret = nw_span_specs(span, &ends, &err);

	nw_strings_free(&ends);
	return ret < 0 ? nw_api_done(ret, &err, error)
		       : add_text(&request->spans, span, error);
}

int nopwatch_request_add_stack(struct nopwatch_request *request, const char *pattern,
			       struct nopwatch_error **error)
{
	return add_text(&request->stacks, pattern, error);
}

int nopwatch_request_add_types(struct nopwatch_request *request, const char *path,
			       struct nopwatch_error **error)
{
	struct nw_types types = {0};
	struct nw_error err;
	int ret = nw_types_read(&types, path, &err);

	nw_types_free(&types);
	return ret < 0 ? nw_api_done(ret, &err, error)
		       : add_text(&request->types, path, error);
}

int nopwatch_request_add_pid(struct nopwatch_request *request, pid_t pid,
			     struct nopwatch_error **error)
{
	struct nw_error err;
	pid_t *slot = pid > 0 ? nw_vec_add(&request->pids) : NULL;

	if (pid <= 0)
		nw_fail(&err, EINVAL, "%d is not the number of a process", (int)pid);
	else if (!slot)
		nw_no_memory(&err);
	if (!slot)
		return nw_api_done(-err.code, &err, error);
	*slot = pid;
	return 0;
}

int nopwatch_request_set_file(struct nopwatch_request *request, const char *path,
			      struct nopwatch_error **error)
{
	struct nw_error err;

	return nw_api_done(nw_api_copy(path, &request->file, &err), &err, error);
}

int nopwatch_request_set_filter(struct nopwatch_request *request, const char *condition,
				struct nopwatch_error **error)
{
	struct nw_filter *filter = NULL;
	struct nw_error err;
	int ret = condition ? nw_filter_parse(condition, &filter, &err) : 0;

	nw_filter_free(filter);
	if (ret == 0)
		ret = nw_api_copy(condition, &request->filter, &err);
	return nw_api_done(ret, &err, error);
}

int nopwatch_request_set_command(struct nopwatch_request *request, const char *const *argv,
				 struct nopwatch_error **error)
{
	struct nw_error err;
	bool failed = false;

	forget_command(request);
	for (size_t i = 0; argv && !failed; i++) {
		char **slot = nw_vec_add(&request->argv);
		if (slot && argv[i])
			*slot = strdup(argv[i]);
		failed = !slot || (argv[i] && !*slot);
		if (!argv[i])
			break;
	}
	if (failed)
		forget_command(request);
	return nw_api_done(failed ? nw_no_memory(&err) : 0, &err, error);
}

/* ---- limits and flags --------------------------------------------------------------- */

int nopwatch_request_set_limit(struct nopwatch_request *request, enum nopwatch_limit limit,
			       uint64_t value, struct nopwatch_error **error)
{
	struct nw_request *r = &request->request;
	bool is_size = limit == NOPWATCH_STRING_SIZE || limit == NOPWATCH_STACK_SIZE;
	struct nw_error err;

	if (limit < NOPWATCH_DURATION || limit > NOPWATCH_STACK_SIZE)
		return nw_api_done(
			nw_fail(&err, EINVAL, "there is no limit %d", (int)limit), &err,
			error);
	if (is_size && value > 1 << 16)
		return nw_api_done(
			nw_fail(&err, EINVAL, "at most 65536 bytes can be fetched"), &err,
			error);
	if (limit == NOPWATCH_DURATION)
		r->duration_ns = value;
	else if (limit == NOPWATCH_MAX_RATE)
		r->max_rate = value;
	else if (limit == NOPWATCH_BUFFER_SIZE)
		r->buffer_bytes = value;
	else if (limit == NOPWATCH_STRING_SIZE)
		r->string_size = (uint32_t)value;
	else
		r->stack_size = (uint32_t)value;
	return 0;
}

int nopwatch_request_set_flags(struct nopwatch_request *request, unsigned int flags,
			       struct nopwatch_error **error)
{
	struct nw_request *r = &request->request;
	struct nw_error err;

	if (flags & ~(unsigned int)ALL_FLAGS)
		return nw_api_done(nw_fail(&err, EINVAL, "there is no flag 0x%x",
					   flags & ~(unsigned int)ALL_FLAGS),
				   &err, error);
	r->follow = flags & NOPWATCH_FOLLOW;
	r->all = flags & NOPWATCH_ALL;
	r->force = flags & NOPWATCH_FORCE;
	r->signals = flags & NOPWATCH_SIGNALS;
	r->verbose = flags & NOPWATCH_VERBOSE;
	return 0;
}

void nopwatch_request_set_notice(struct nopwatch_request *request,
				 nopwatch_notice_fn *notice, void *arg)
{
	request->request.notice = notice;
	request->request.notice_arg = arg;
}

/* ---- running ------------------------------------------------------------------------ */

static int read_recording(const char *path, struct nw_buf *out, struct nw_error *err)
{
	int fd = nw_open_input(path);
	int ret = fd < 0 ? fd : nw_buf_read_most(out, fd, MOST_RECORDING);

	if (fd >= 0)
		close(fd);
	return ret < 0 ? nw_fail(err, -ret, "cannot read '%s': %s", path, nw_strerror(-ret))
		       : 0;
}

int nopwatch_request_set_recording(struct nopwatch_request *request, const char *path,
				   struct nopwatch_error **error)
{
	struct nw_buf bytes = {0};
	struct nw_error err;
	int ret = path ? read_recording(path, &bytes, &err) : 0;

	if (ret == 0)
		ret = nw_api_copy(path, &request->recording, &err);
	if (ret < 0) {
		nw_buf_free(&bytes);
		return nw_api_done(ret, &err, error);
	}
	nw_buf_free(&request->bytes);
	request->bytes = bytes;
	return 0;
}

void nopwatch_request_stop(struct nopwatch_request *request)
{
	const uint64_t one = 1;
	int code = errno;

	/* It can only fail because it is readable already. */
	if (write(request->end, &one, sizeof(one)) < 0)
		errno = code;
}

int nw_api_request(struct nopwatch_request *request, struct nw_error *err)
{
	struct nw_request *r = &request->request;

	if (request->end < 0)
		return nw_fail(err, EMFILE, "the request has no descriptor: %s",
			       nw_strerror(EMFILE));
	nw_types_free(&request->described);
	int ret = nw_types_load((const char *const *)request->types.item,
				request->types.count, &request->described, err);
	if (ret < 0)
		return ret;
	r->specs = (const char *const *)request->specs.item;
	r->spec_count = request->specs.count;
	r->spans = (const char *const *)request->spans.item;
	r->span_count = request->spans.count;
	r->stacks = (const char *const *)request->stacks.item;
	r->stack_count = request->stacks.count;
	r->types = &request->described;
	r->command = request->argv.count ? request->argv.item : NULL;
	r->pids = request->pids.item;
	r->pid_count = request->pids.count;
	r->file = request->file;
	r->filter = request->filter;
	r->source_name = request->recording;
	r->source_bytes = request->recording ? nw_buf_str(&request->bytes) : NULL;
	r->source_len = request->bytes.len;
	return 0;
}

int nw_api_run(struct nopwatch_request *request, const struct nw_consumer *consumer,
	       struct nw_run_result *out, struct nw_error *err)
{
	uint64_t stops;
	int ret = nw_api_request(request, err);

	if (ret == 0)
		ret = nw_run(&request->request, consumer, out, err);
	/* The next run is not to end at once. */
	if (request->end >= 0 && read(request->end, &stops, sizeof(stops)) < 0)
		errno = 0;
	return ret;
}
