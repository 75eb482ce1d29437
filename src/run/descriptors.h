/* SPDX-License-Identifier: MIT */
/*
 * The paths of descriptors, for --by 'path(fd)'. A path is read from /proc/PID/fd while the program runs on, so it may be that of a
 * file that has the number only since. It counts for a hit only if it was read before the hit, and the number was not closed between
 * the two: the calls that close descriptors are recorded in the same stream, and are told here, in the order of their times. A
 * number that is not closed cannot be given to another file. A hit whose number was not read before it has no path.
 */
#ifndef NOPWATCH_RUN_DESCRIPTORS_H
#define NOPWATCH_RUN_DESCRIPTORS_H

#include "base/base.h"

enum {
	NW_DESCRIPTOR_BYTES = 1024, /* of a path; the rest is cut */
	NW_DESCRIPTORS_MOST = 1 << 16
};

struct nw_descriptor_source {
	/* Reads the path of a descriptor. Returns 0 or -errno. */
	int (*read)(void *arg, pid_t pid, uint32_t fd, char *out, size_t size);
	/* May descriptors of this process be closed without an event? NULL: never. Asked when a process is seen first, and again behind
	 * nw_descriptors_gone(). */
	bool (*strange)(void *arg, pid_t pid);
	/* Returns the time on the clock of the hits. */
	uint64_t (*now)(void *arg);
	void *arg;
};

struct nw_descriptors;

/* Returns -ENOMEM on failure. */
int nw_descriptors_open(const struct nw_descriptor_source *source,
			struct nw_descriptors **out);
/* Returns the path of the descriptor at a hit of this process, valid until the next call; NULL: it is not known, or memory ran out
 * (nw_descriptors_failed()). Times must not go back. */
const char *nw_descriptors_path(struct nw_descriptors *d, pid_t pid, uint32_t fd,
				uint64_t time);
/* A thread begins to close these numbers, both inclusive. */
void nw_descriptors_closing(struct nw_descriptors *d, pid_t pid, pid_t tid, uint32_t first,
			    uint32_t last, uint64_t time);
/* The call that closes has returned. */
void nw_descriptors_closed(struct nw_descriptors *d, pid_t pid, pid_t tid, uint64_t time);
/* A process may have closed any number. */
void nw_descriptors_all_closed(struct nw_descriptors *d, pid_t pid, uint64_t time);
/* The process has ended, and a later one may have its number, or it runs another program, with a table of its own. */
void nw_descriptors_gone(struct nw_descriptors *d, pid_t pid, uint64_t time);
/* Events of any process were lost until this time. */
void nw_descriptors_lost(struct nw_descriptors *d, uint64_t until);
/* From now on nothing is known of a process: its descriptors may be closed without an event. */
void nw_descriptors_distrust(struct nw_descriptors *d, pid_t pid);
bool nw_descriptors_failed(const struct nw_descriptors *d);
void nw_descriptors_free(struct nw_descriptors *d);

#endif
