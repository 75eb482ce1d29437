/* SPDX-License-Identifier: MIT */
/* A file that is read as one piece of memory, whatever others do to it meanwhile. */
#ifndef NOPWATCH_CMD_INPUT_H
#define NOPWATCH_CMD_INPUT_H

#include <sys/stat.h>

#include "nopwatch/base.h"

struct nw_input {
	char *bytes;
	size_t len;
	bool mapped; /* false: a copy of our own */
};

/*
 * All of an open regular file. One that only we (or root) can write is mapped, up to any size;
 * should it become shorter, what is gone reads as zeros, and nw_input_is_whole() tells. What
 * others can write could change between two looks at it, so it is copied, up to 1 GiB. One
 * mapped input at a time. name: for messages.
 */
int nw_input_open(int fd, const struct stat *st, const char *name, struct nw_input *out,
		  struct nw_error *err);
/* Was all of it there to the end? Otherwise the error says so. */
int nw_input_is_whole(const struct nw_input *input, const char *name, struct nw_error *err);
void nw_input_close(struct nw_input *input);

#endif
