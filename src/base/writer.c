// SPDX-License-Identifier: MIT
/* Writes for readers who may stall: no reader keeps a run from its end once a signal has asked for that. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

/* Waits until fd can be written to. Returns false if a signal asks for the end of the run and half a second has
 * passed. */
static bool wait_for_reader(struct nw_writer *writer, int fd)
{
	enum {
		SLICE_MS = 50,
		MOST_SLICES = 10
	};
	struct pollfd room = {.fd = fd, .events = POLLOUT};

	for (int slices = 0; !writer->stalled && poll(&room, 1, SLICE_MS) <= 0;) {
		slices += writer->ended || nw_is_end_pending();
		writer->stalled = slices == MOST_SLICES;
	}
	return !writer->stalled;
}

/* Opens a pipe once more, because others may fill it between poll() and write(): O_NONBLOCK belongs to what is opened,
 * and the first is shared with them. Returns the writer's own descriptor if the pipe may not be opened. */
static int open_pipe(struct nw_writer *writer)
{
	char path[32];

	if (!writer->pipe) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", writer->fd);
		writer->pipe = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	}
	return writer->pipe < 0 ? writer->fd : writer->pipe;
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

int nw_writer_put(struct nw_writer *writer, const void *bytes, size_t len)
{
	const char *at = bytes;
	int fd = writer->fd;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISFIFO(st.st_mode))
		fd = open_pipe(writer);
	while (len) {
		if (!wait_for_reader(writer, fd))
			return -ECANCELED;
		size_t piece = piece_of(&st, len);
		ssize_t done = S_ISSOCK(st.st_mode)
				       ? send(fd, at, piece, MSG_DONTWAIT | MSG_NOSIGNAL)
				       : write(fd, at, piece);
		if (done < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		const size_t written = done > 0 ? (size_t)done : 0;
		at += written;
		len -= written;
	}
	return 0;
}

void nw_writer_close(struct nw_writer *writer)
{
	if (writer->pipe > 0)
		close(writer->pipe);
	writer->pipe = 0;
}
