/* SPDX-License-Identifier: MIT */
/* A file as one piece of memory, which stays readable even if others change the file. */
#ifndef NOPWATCH_CMD_INPUT_H
#define NOPWATCH_CMD_INPUT_H

#include <sys/stat.h>

#include "base/base.h"

struct nw_input {
	char *bytes;
	size_t len;
	bool mapped; /* false: it is a copy */
};

/*
 * Opens all of an open regular file. A file that only we (or root) can write is mapped, with no limit of size; if
 * it becomes shorter, the missing part reads as zeros, and nw_input_is_whole() tells. A file that others can write
 * could change between two reads, so it is copied, up to 1 GiB. Only one input may be mapped at a time. name: for
 * messages.
 */
int nw_input_open(int fd, const struct stat *st, const char *name, struct nw_input *out,
		  struct nw_error *err);
/* Was the file complete until the end? Otherwise the error says so. */
int nw_input_is_whole(const struct nw_input *input, const char *name, struct nw_error *err);
void nw_input_close(struct nw_input *input);

#endif
