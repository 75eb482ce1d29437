/* SPDX-License-Identifier: MIT */
/* Pages of the ring buffer that were read, and may become part of a recording: in memory if the kernel has
 * memfd_create() (3.17), else in unlinked files. */
#ifndef NOPWATCH_RUN_FLIGHT_PAGE_HISTORY_H
#define NOPWATCH_RUN_FLIGHT_PAGE_HISTORY_H

#include "stream/recording/recording.h"

typedef NW_VEC(struct nw_recorded_cpu) nw_recorded_cpus;

struct nw_history_cpu {
	int fd; /* -1: none yet */
	/* Number of pages at the begin of the file that were freed. */
	uint64_t forgotten;
	NW_VEC(uint64_t) times; /* of the first event of each page behind those */
};

struct nw_page_history {
	const char *path; /* the directory for unlinked files */
	const struct nw_page_layout *layout;
	const unsigned char *blank; /* a page of zeros */
	NW_VEC(struct nw_history_cpu) cpus;
};

int nw_page_history_add(struct nw_page_history *pages, uint32_t cpu,
			const unsigned char *page, size_t len);
/* Finds the pages with events since this time. They stay valid until they are forgotten. Returns -ENOMEM on failure. */
int nw_page_history_cut(const struct nw_page_history *pages, uint64_t since,
			nw_recorded_cpus *out);
/* Drops pages with older events only. UINT64_MAX: drops all pages. */
void nw_page_history_forget(struct nw_page_history *pages, uint64_t before);
/* Returns the size of all pages in bytes, and the time of the oldest one (0: there are none). */
uint64_t nw_page_history_size(const struct nw_page_history *pages, uint64_t *since);
void nw_page_history_free(struct nw_page_history *pages);

#endif
