/* SPDX-License-Identifier: MIT */
/* Pages of the ring buffer that were read, and may go into a recording: in memory, where the kernel has
 * memfd_create() (3.17), else in unlinked files. */
#ifndef NOPWATCH_RUN_FLIGHT_PAGE_HISTORY_H
#define NOPWATCH_RUN_FLIGHT_PAGE_HISTORY_H

#include "nopwatch/recording.h"

typedef NW_VEC(struct nw_recorded_cpu) nw_recorded_cpus;

struct nw_history_cpu {
	int fd; /* -1: none yet */
	uint64_t
		forgotten; /* pages at the beginning of the file that have been given back */
	NW_VEC(uint64_t) times; /* of the first event of each page behind these */
};

struct nw_page_history {
	const char *path; /* on whose disk files are, if they have to be */
	const struct nw_page_layout *layout;
	const unsigned char *blank; /* a page of zeros */
	NW_VEC(struct nw_history_cpu) cpus;
};

int nw_page_history_add(struct nw_page_history *pages, uint32_t cpu,
			const unsigned char *page, size_t len);
/* Where what was recorded since this time is. -ENOMEM. Good until it is forgotten. */
int nw_page_history_cut(const struct nw_page_history *pages, uint64_t since,
			nw_recorded_cpus *out);
/* Nobody wants what is older any more. UINT64_MAX: nobody wants anything. */
void nw_page_history_forget(struct nw_page_history *pages, uint64_t before);
/* How many bytes are kept, and since when (0: nothing is). */
uint64_t nw_page_history_size(const struct nw_page_history *pages, uint64_t *since);
void nw_page_history_free(struct nw_page_history *pages);

#endif
