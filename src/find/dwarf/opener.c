// SPDX-License-Identifier: MIT
/*
 * A process that opens files of traced programs for the reader process (reader.h). On a file system that does not
 * answer (FUSE, NFS), opening or closing a file or asking for its size may block for ever, and a blocked process
 * cannot be killed. So nopwatch never has such a file: this process passes it to the reader, and is abandoned if it
 * does not return.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reader.h"

struct request {
	int (*get)(void *arg, unsigned int what, const char *name);
	unsigned int what;
	uint32_t name_size; /* including its NUL; a copy of arg's data follows */
};

enum {
	MOST_REQUEST = 32 << 10,
	ALIGN = 16 /* of arg's data */
};

/* send() and recv() are not used: filters of system calls know them by several names. */
bool nw_send_message(int socket, const void *bytes, size_t len, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec part = {(void *)(uintptr_t)bytes, len};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)len;
}

ssize_t nw_receive_message(int socket, void *bytes, size_t room, int *fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec part = {bytes, room};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = fd ? &control : NULL,
				 .msg_controllen = fd ? sizeof(control) : 0};
	ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	if (fd)
		*fd = -1;
	if (fd && head && head->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(head), sizeof(*fd));
	return got;
}

static size_t arg_offset(uint32_t name_size)
{
	return (sizeof(struct request) + name_size + ALIGN - 1) / ALIGN * ALIGN;
}

/* Serves requests until nopwatch ends it or dies. */
static void serve(int socket, int reader)
{
	static _Alignas(ALIGN) char bytes[MOST_REQUEST];
	const struct request *request = (const struct request *)bytes;

	while (recv(socket, bytes, sizeof(bytes), 0) > 0) {
		int fd = request->get(bytes + arg_offset(request->name_size), request->what,
				      bytes + sizeof(*request));
		const int32_t code = fd < 0 ? -fd : 0;
		const bool copied = request->what == NW_WANT_COPY;
		if ((!copied && !nw_send_message(reader, &code, sizeof(code), fd)) ||
		    !nw_send_message(socket, &code, sizeof(code), copied ? fd : -1))
			break;
		if (fd >= 0)
			close(fd);
	}
	_exit(errno == ENOMEM ? NW_ENDED_WITHOUT_MEMORY : 0);
}

int nw_opener_start(struct nw_opener *opener, int reader)
{
	const pid_t parent = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	pid_t pid = fork();
	const int code = errno;
	if (pid == 0) {
		const int keep[] = {ends[1], reader};
		nw_end_with_parent(parent, SIGKILL);
		nw_close_all_files(keep, NW_COUNT(keep));
		serve(ends[1], reader);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -code;
	}
	*opener = (struct nw_opener){pid, ends[0]};
	return 0;
}

int nw_opener_ask(const struct nw_opener *opener, const struct nw_read_file *file,
		  unsigned int what, const char *name)
{
	static const char zeros[ALIGN];
	const struct request request = {file->get, what, (uint32_t)strlen(name) + 1};
	struct nw_buf message = {0};

	nw_buf_add(&message, &request, sizeof(request));
	nw_buf_add(&message, name, request.name_size);
	nw_buf_add(&message, zeros, arg_offset(request.name_size) - message.len);
	nw_buf_add(&message, file->arg, file->size);
	int ret = message.failed ? -ENOMEM : message.len > MOST_REQUEST ? -EINVAL : 0;
	if (ret == 0 && !nw_send_message(opener->socket, message.data, message.len, -1))
		ret = -errno;
	nw_buf_free(&message);
	return ret;
}
