// SPDX-License-Identifier: MIT
/* See input.h. Reading beyond the end of a mapped file raises SIGBUS (mmap(2)). */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input.h"

enum {
	MOST_COPIED = 1 << 30
};

/* The one mapped input, for the signal handler. */
static char *volatile mapped_from, *volatile mapped_to;
static volatile size_t page_size;
static volatile sig_atomic_t is_cut;

/* Maps zeros where the file has become shorter, and continues. Any other SIGBUS has its usual effect. */
static void on_sigbus(int number, siginfo_t *info, void *context)
{
	char *at = info->si_addr, *from = mapped_from, *to = mapped_to;

	(void)context;
	if (from && at >= from && at < to) {
		at -= (size_t)(at - from) % page_size;
		if (mmap(at, (size_t)(to - at), PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at) {
			is_cut = 1;
			return;
		}
	}
	signal(number, SIG_DFL); /* the same instruction raises the signal again */
}

static int map(int fd, size_t len, struct nw_input *out)
{
	struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
	char *bytes = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);

	if (bytes == MAP_FAILED)
		return -errno;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	is_cut = 0;
	mapped_from = bytes;
	mapped_to = bytes + len;
	sigaction(SIGBUS, &action, NULL);
	*out = (struct nw_input){.bytes = bytes, .len = len, .mapped = true};
	return 0;
}

static int copy(int fd, size_t len, struct nw_input *out)
{
	struct nw_input input = {.bytes = malloc(len)};
	ssize_t got = 1;

	if (!input.bytes)
		return -ENOMEM;
	while (input.len < len && got != 0) {
		got = pread(fd, input.bytes + input.len, len - input.len, (off_t)input.len);
		if (got < 0 && errno != EINTR)
			break;
		input.len += got > 0 ? (size_t)got : 0;
	}
	if (input.len == len) {
		*out = input;
		return 0;
	}
	int code = got < 0 ? errno : ENODATA;
	free(input.bytes);
	return -code;
}

static int became_shorter(const char *name, struct nw_error *err)
{
	return nw_fail(err, ENODATA, "'%s' became shorter while it was read", name);
}

int nw_input_open(int fd, const struct stat *st, const char *name, struct nw_input *out,
		  struct nw_error *err)
{
	bool ours = (st->st_uid == geteuid() || st->st_uid == 0) && !(st->st_mode & 022);
	size_t len = (size_t)st->st_size;

	if (nw_is_hollow(fd))
		return nw_fail(
			err, EFBIG,
			"'%s' is said to have %llu bytes, and nearly all of them are a hole: it is not read",
			name, (unsigned long long)len);
	if (!ours && len > MOST_COPIED) {
		nw_fail(err, EFBIG,
			"'%s' can be changed by others while it is read, and is larger than 1 GiB",
			name);
		nw_error_hint(err, "make a copy of it that is yours alone");
		return -EFBIG;
	}
	int ret = ours ? map(fd, len, out) : copy(fd, len, out);
	if (ret == -ENODATA)
		return became_shorter(name, err);
	return ret < 0 ? nw_fail(err, -ret, "cannot read '%s': %s", name, nw_strerror(-ret))
		       : 0;
}

int nw_input_is_whole(const struct nw_input *input, const char *name, struct nw_error *err)
{
	return input->mapped && is_cut ? became_shorter(name, err) : 0;
}

void nw_input_close(struct nw_input *input)
{
	if (input->mapped) {
		mapped_from = mapped_to = NULL;
		munmap(input->bytes, input->len);
	} else {
		free(input->bytes);
	}
	*input = (struct nw_input){0};
}
