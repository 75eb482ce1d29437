// SPDX-License-Identifier: MIT
/* See sink.h. */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The run that goes on, and whether a signal has ended one before. */
static const struct nw_run_result *followed;
static bool is_signalled;

void nw_sinks_follow(const struct nw_run_result *run)
{
	is_signalled |= followed && followed->reason == NW_END_SIGNAL;
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
	int fd = nw_output_open(path, nw_output_mode(format), err);
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

	if (sink->stalled)
		return nw_fail(err, code, "cannot write the output: nobody reads it");
	if (code == EPIPE) {
		sink->closed = true;
		return -EPIPE;
	}
	if (!sink->path)
		return nw_fail(err, code, "cannot write the output: %s", nw_strerror(code));
	return nw_fail(err, code, "cannot write '%s': %s", sink->path, nw_strerror(code));
}

static bool is_to_end(void)
{
	return is_signalled || nw_is_end_pending() ||
	       (followed && followed->reason == NW_END_SIGNAL);
}

/* Waits until fd can be written to. Returns false if a signal asks for the end of the run and half a second has
 * passed. */
static bool wait_for_reader(struct nw_sink *sink, int fd)
{
	enum {
		SLICE_MS = 50,
		MOST_SLICES = 10
	};
	struct pollfd room = {.fd = fd, .events = POLLOUT};

	for (int slices = 0; !sink->stalled && poll(&room, 1, SLICE_MS) <= 0;) {
		slices += is_to_end();
		sink->stalled = slices == MOST_SLICES;
	}
	errno = ECANCELED;
	return !sink->stalled;
}

/* Opens a pipe once more, because others may fill it between poll() and write(): O_NONBLOCK belongs to what is opened, and the
 * first is shared with them. Returns the sink's own descriptor if the pipe may not be opened. */
static int open_pipe(struct nw_sink *sink)
{
	char path[32];

	if (!sink->pipe) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(sink->file));
		sink->pipe = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	}
	return sink->pipe < 0 ? fileno(sink->file) : sink->pipe;
}

/* Returns the bytes that can be written without waiting after poll() has reported room: PIPE_BUF for a pipe, some
 * for other files. */
static size_t piece_of(const struct stat *st, size_t left)
{
	enum {
		SOME = 256
	};

	if (S_ISREG(st->st_mode))
		return left;
	return nw_min64(left, S_ISFIFO(st->st_mode) ? PIPE_BUF : SOME);
}

bool nw_sink_put(struct nw_sink *sink, const char *at, size_t left)
{
	int fd = fileno(sink->file);
	struct stat st;

	if (fflush(sink->file) != 0 || fstat(fd, &st) < 0)
		return false;
	if (S_ISFIFO(st.st_mode))
		fd = open_pipe(sink);
	while (left) {
		if (!wait_for_reader(sink, fd))
			return false;
		size_t piece = piece_of(&st, left);
		ssize_t done = S_ISSOCK(st.st_mode)
				       ? send(fd, at, piece, MSG_DONTWAIT | MSG_NOSIGNAL)
				       : write(fd, at, piece);
		if (done < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		const size_t written = done > 0 ? (size_t)done : 0;
		at += written;
		left -= written;
	}
	return true;
}

int nw_sink_write(struct nw_sink *sink, struct nw_buf *text, struct nw_error *err)
{
	bool ok = !text->failed;

	if (ok && text->len && sink->replace) {
		/* A collector may read the file at any moment. */
		int ret = nw_replace_text(sink->path, nw_output_mode(sink->format),
					  text->data, text->len, err);
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
	if (sink->pipe > 0)
		close(sink->pipe);
	sink->pipe = 0;
	if (!sink->file || sink->file == stdout)
		return 0;
	int ret = fclose(sink->file);
	sink->file = NULL;
	return ret == 0 ? 0 : sink_fail(sink, err);
}
