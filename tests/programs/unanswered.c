/* SPDX-License-Identifier: MIT */
/*
 * unanswered DIR FILE: mounts a file system at DIR (FUSE, spoken directly) in which every name is a file of its own with the
 * content of FILE. After SIGUSR1 it answers nothing any more, like a server that is gone; after SIGUSR2 it answers all but
 * reads. It prints a line "asked NAME" for each request to open a file or to look at it, and "read NAME" for each to read it,
 * that has no answer. It forgets nothing for longer than a question: the kernel asks again at each look. It ends, and the
 * mount with it, when it is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	MOST = 1 << 20, /* bytes of a request or of an answer */
	MOST_NAMES = 256,
	FIRST_NODE = 2 /* the number of the first name; the directory's is FUSE_ROOT_ID */
};

static volatile sig_atomic_t silent; /* the number of the signal that came */
static int device, backing;
static struct stat st;
static char names[MOST_NAMES][64];

static void fall_silent(int number)
{
	silent = number;
}

/* Returns the number of a name, which it is given when it is asked for first. */
static uint64_t node_of(const char *name)
{
	uint64_t i = 0;

	while (i < MOST_NAMES - 1 && *names[i] && strcmp(names[i], name) != 0)
		i++;
	snprintf(names[i], sizeof(names[i]), "%.63s", name);
	return FIRST_NODE + i;
}

static const char *name_of(uint64_t node)
{
	return node >= FIRST_NODE && node < FIRST_NODE + MOST_NAMES
		       ? names[node - FIRST_NODE]
		       : ".";
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
	const uint64_t node = in->opcode == FUSE_LOOKUP ? node_of(arg) : FIRST_NODE;
	const struct fuse_entry_out entry = {.nodeid = node, .attr = attr_of(node)};
	const struct fuse_attr_out attr = {.attr = attr_of(in->nodeid)};
	/* Later, what the kernel has of the file is forgotten, so that it has to be read. */
	const struct fuse_open_out opened = {.open_flags = silent ? 0 : FOPEN_KEEP_CACHE};

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

/* Prints a request that stays without an answer. Others say no more: FUSE_RELEASE comes from who closes a file. */
static void tell(const struct fuse_in_header *in, const char *arg)
{
	if (in->opcode == FUSE_LOOKUP)
		printf("asked %s\n", arg);
	else if (in->opcode == FUSE_OPEN || in->opcode == FUSE_GETATTR)
		printf("asked %s\n", name_of(in->nodeid));
	else if (in->opcode == FUSE_READ)
		printf("read %s\n", name_of(in->nodeid));
	fflush(stdout);
}

static bool is_answered(const struct fuse_in_header *in)
{
	return !silent || (silent == SIGUSR2 && in->opcode != FUSE_READ);
}

int main(int argc, char **argv)
{
	static _Alignas(8) char request[MOST];
	const struct sigaction action = {.sa_handler = fall_silent};
	char options[128];

	if (argc != 3)
		return 2;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
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
		const struct fuse_in_header *in = (const struct fuse_in_header *)request;
		const char *arg = request + sizeof(*in);
		if (is_answered(in))
			serve(in, arg);
		else
			tell(in, arg);
	}
}
