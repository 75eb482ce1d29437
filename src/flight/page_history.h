/* SPDX-License-Identifier: MIT */
/* Pages of the ring buffer that were read, and may go into a recording: in memory, where the kernel has
 * memfd_create() (3.17), else in unlinked files. */
#ifndef NOPWATCH_FLIGHT_PAGE_HISTORY_H
#define NOPWATCH_FLIGHT_PAGE_HISTORY_H

#include "nopwatch/recording.h"

typedef NW_VEC(struct nw_recorded_cpu) nw_recorded_cpus;

/* Between these times events may be missing, on any CPU. */
struct nw_history_hole {
	uint64_t from, until;
};

struct nw_history_cpu {
	int fd; /* -1: none yet */
	uint64_t
		forgotten; /* pages at the beginning of the file that have been given back */
	NW_VEC(uint64_t) times; /* of the first event of each page behind these */
	size_t holes;		/* that its pages have come to the end of */
};

struct nw_page_history {
	const char *path; /* on whose disk files are, if they have to be */
	const struct nw_page_layout *layout;
	const unsigned char *blank; /* a page of zeros */
	NW_VEC(struct nw_history_cpu) cpus;
	NW_VEC(struct nw_history_hole)
	holes; /* in their order; pages behind them have not been added yet */
};

int nw_page_history_add(struct nw_page_history *pages, uint32_t cpu,
			const unsigned char *page, size_t len);
/* Where what was recorded since this time is. -ENOMEM. Good until it is forgotten. */
int nw_page_history_cut(const struct nw_page_history *pages, uint64_t since,
			nw_recorded_cpus *out);
/* Nobody wants what is older any more. UINT64_MAX: nobody wants anything. */
void nw_page_history_forget(struct nw_page_history *pages, uint64_t before);
void nw_page_history_free(struct nw_page_history *pages);

#endif
