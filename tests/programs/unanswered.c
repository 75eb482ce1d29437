/* SPDX-License-Identifier: MIT */
/*
 * unanswered DIR FILE: mounts a file system at DIR (FUSE, spoken directly) in which every name is a copy of FILE. After
 * SIGUSR1 it answers nothing any more, like a server that is gone. It forgets nothing for longer than a question: the kernel
 * asks again at each look. It ends, and the mount with it, when it is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	MOST = 1 << 20, /* bytes of a request or of an answer */
	NODE = 2	/* the number of the file; the directory's is FUSE_ROOT_ID */
};

static volatile sig_atomic_t silent;
static int device, backing;
static struct stat st;

static void fall_silent(int number)
{
	(void)number;
	silent = 1;
}

static struct fuse_attr attr_of(uint64_t node)
{
	struct fuse_attr attr = {
		.ino = node, .nlink = 1, .mode = S_IFREG | 0755, .blksize = 4096};

	if (node == FUSE_ROOT_ID)
		attr.mode = S_IFDIR | 0755;
	else
		attr.size = (uint64_t)st.st_size, attr.blocks = (attr.size + 511) / 512;
	return attr;
}

static void answer(const struct fuse_in_header *in, int error, const void *data, size_t len)
{
	struct fuse_out_header out = {(uint32_t)(sizeof(out) + len), -error, in->unique};
	struct iovec parts[] = {{&out, sizeof(out)}, {(void *)(uintptr_t)data, len}};

	if (writev(device, parts, 2) < 0 && errno != ENOENT)
		perror("unanswered: answer");
}

static void answer_read(const struct fuse_in_header *in, const struct fuse_read_in *what)
{
	static char bytes[MOST];
	ssize_t got = pread(backing, bytes, what->size < MOST ? what->size : MOST,
			    (off_t)what->offset);

	answer(in, got < 0 ? errno : 0, bytes, got < 0 ? 0 : (size_t)got);
}

static void serve(const struct fuse_in_header *in, const void *arg)
{
	const struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
					   .minor = 31,
					   .max_readahead = 65536,
					   .max_write = 65536};
	const struct fuse_entry_out entry = {.nodeid = NODE, .attr = attr_of(NODE)};
	const struct fuse_attr_out attr = {.attr = attr_of(in->nodeid)};
	const struct fuse_open_out opened = {.open_flags = FOPEN_KEEP_CACHE};

	switch (in->opcode) {
	case FUSE_INIT:
		answer(in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer(in, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(in, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		answer_read(in, arg);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break; /* have no answer */
	default:
		answer(in, ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static _Alignas(8) char request[MOST];
	const struct sigaction action = {.sa_handler = fall_silent};
	char options[128];

	if (argc != 3)
		return 2;
	sigaction(SIGUSR1, &action, NULL);
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	backing = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (device < 0 || backing < 0 || fstat(backing, &st) < 0)
		return perror("unanswered"), 1;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device);
	if (mount("unanswered", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		return perror("unanswered: mount"), 1;
	puts("ready");
	fflush(stdout);
	for (;;) {
		ssize_t got = read(device, request, sizeof(request));
		if (got < 0 && errno == ENODEV)
			return 0; /* unmounted */
		if (got < (ssize_t)sizeof(struct fuse_in_header))
			continue;
		if (!silent)
			serve((const struct fuse_in_header *)request,
			      request + sizeof(struct fuse_in_header));
	}
}
