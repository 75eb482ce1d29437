/* SPDX-License-Identifier: MIT */
/*
 * Several results become one. Probes are the same if they have the same label, spans if they have the same name and
 * keys, and groups if they have the same name. Counts and histograms are added, so the whole is exactly the sum of its parts.
 */
#ifndef NOPWATCH_MEASURE_MERGE_H
#define NOPWATCH_MEASURE_MERGE_H

#include "measure/summary.h"

/* One of several results. Its pointers are the caller's, and need to be valid during nw_merge() only. */
struct nw_merge_part {
	const struct nw_selection *selection;
	const struct nw_span_def *spans;
	size_t span_count;
	/* Its total rows are taken, or with `interval` its current ones. */
	const struct nw_summary *summary;
	bool interval;
	uint64_t discarded; /* spans, because of losses */
	const char *host;   /* the value of the key `host` for all rows of the part */
};

struct nw_merged {
	/* A probe here has its names and the names of its arguments, but no file and no points. */
	struct nw_selection selection;
	nw_span_defs spans;
	struct nw_summary *summary;
};

/* Receives the slices of a result, each with its rows and its time. An error ends them. */
struct nw_slice_taker {
	int (*take)(void *arg, const struct nw_merge_part *part, uint64_t ns,
		    struct nw_error *err);
	void *arg;
};

enum {
	NW_MERGE_NO_HOST = -1
};

/*
 * Merges the parts. keys: how many keys the parts are grouped by, all by the same. host_at: at which place of a group's keys the
 * host is added, or NW_MERGE_NO_HOST. The caller frees `out`, also after an error. -ENOMEM.
 */
int nw_merge(const struct nw_merge_part *parts, size_t count, size_t keys, int host_at,
	     struct nw_merged *out, struct nw_error *err);
/* Adds a probe with the names of another one; NULL: no memory. Its arguments are added by nw_merged_arg(). */
struct nw_probe *nw_merged_new_probe(struct nw_selection *selection,
				     const struct nw_probe *of);
/* Returns the number of an argument of this name, which is added if the probe has none; -1: no memory. */
int nw_merged_arg(struct nw_probe *probe, const char *name);
/* Returns the row of a probe or span in the group of this name, which is created if it is new; NULL: no memory. Without groups the
 * name is not used. */
void *nw_merged_row(struct nw_merged *merged, const char *group, size_t len,
		    enum nw_subject subject, uint32_t number);
void nw_merged_free(struct nw_merged *merged);

#endif
