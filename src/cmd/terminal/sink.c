// SPDX-License-Identifier: MIT
/* See sink.h. */
#include "sink.h"

#include <errno.h>
#include <unistd.h>

/* The run that goes on, and whether a signal has ended one before. */
static const struct nw_run_result *followed;
static bool is_signalled;

void nw_sinks_follow(const struct nw_run_result *run)
{
	is_signalled |= followed && followed->signalled;
	followed = run;
}

static int check_terminal(const struct nw_sink *sink, struct nw_error *err)
{
	if (!sink->format->binary || isatty(fileno(sink->file)) != 1)
		return 0;
	if (sink->path)
		nw_fail_usage(err,
			      "-f %s is not readable on a terminal, and %s is a terminal",
			      sink->format->name, sink->path);
	else
		nw_fail_usage(
			err,
			"-f %s is not readable on a terminal, and the output is a terminal",
			sink->format->name);
	nw_error_hint(err, "write it to a file: -o FILE");
	return -EINVAL;
}

int nw_sink_open(const char *path, const struct nw_output_format *format,
		 struct nw_sink *out, struct nw_error *err)
{
	*out = (struct nw_sink){.file = stdout,
				.path = path,
				.format = format,
				.replace = path && format->whole};
	if (!path)
		return check_terminal(out, err);
	/* The old file stays until the new one is complete. Whether it can be replaced is checked now. */
	if (out->replace) {
		bool direct;
		int ret = nw_replace_try(path, &direct, err);
		out->replace = !direct;
		out->file = NULL;
		if (ret < 0 || !direct)
			return ret;
	}
	int fd = nw_output_open(path, nw_output_mode(format), false, err);
	if (fd < 0)
		return fd;
	out->file = fdopen(fd, "w");
	if (out->file)
		return check_terminal(out, err);
	close(fd);
	return nw_no_memory(err);
}

static int sink_fail(struct nw_sink *sink, struct nw_error *err)
{
	int code = errno;

	if (sink->to.stalled)
		return nw_fail(err, code, "cannot write the output: nobody reads it");
	if (code == EPIPE) {
		sink->closed = true;
		return -EPIPE;
	}
	if (!sink->path)
		return nw_fail(err, code, "cannot write the output: %s", nw_strerror(code));
	return nw_fail(err, code, "cannot write '%s': %s", sink->path, nw_strerror(code));
}

/* Has a signal ended a run, so that it is not pending any more? */
static bool is_ended(void)
{
	return is_signalled || (followed && followed->signalled);
}

bool nw_sink_put(struct nw_sink *sink, const char *at, size_t left)
{
	if (fflush(sink->file) != 0)
		return false;
	sink->to.fd = fileno(sink->file);
	sink->to.ended = is_ended();
	int ret = nw_writer_put(&sink->to, at, left);
	errno = -ret;
	return ret == 0;
}

int nw_sink_write(struct nw_sink *sink, struct nw_buf *text, struct nw_error *err)
{
	bool ok = !text->failed;

	if (ok && text->len && sink->replace) {
		/* A collector may read the file at any moment. */
		int ret = nw_replace_text(sink->path, nw_output_mode(sink->format),
					  is_ended(), text->data, text->len, err);
		nw_buf_clear(text);
		return ret;
	}
	if (!ok)
		errno = ENOMEM;
	else if (sink->page)
		nw_buf_add(&sink->held, text->data, text->len);
	else if (text->len && !sink->closed)
		ok = nw_sink_put(sink, text->data, text->len);
	nw_buf_clear(text);
	return ok ? 0 : sink_fail(sink, err);
}

int nw_sink_close(struct nw_sink *sink, struct nw_error *err)
{
	if (sink->page)
		nw_sink_show(sink);
	nw_writer_close(&sink->to);
	if (!sink->file || sink->file == stdout)
		return 0;
	int ret = fclose(sink->file);
	sink->file = NULL;
	return ret == 0 ? 0 : sink_fail(sink, err);
}

int nw_sink_finish(struct nw_sink *sink, int ret, struct nw_buf *text, struct nw_error *err)
{
	if (ret == 0)
		ret = nw_sink_write(sink, text, err);
	int end = nw_sink_close(sink, ret == 0 ? err : NULL);
	if (sink->closed)
		return 0;
	return ret < 0 ? ret : end;
}
