/* SPDX-License-Identifier: MIT */
/* Reads the JSON lines that `stat` or `report` has printed, as the rows that they were made of. */
#ifndef NOPWATCH_SHOW_JSON_JSON_RESULT_H
#define NOPWATCH_SHOW_JSON_JSON_RESULT_H

#include "measure/merge.h"
#include "show/rows/output.h"

struct nw_json_result {
	struct nw_merged rows;
	struct nw_probe_state *states; /* by probe, without texts */
	char *group_by; /* the keys of groups: "method,status"; "group": the one key, whose name no line tells; NULL: no groups */
	size_t keys;
	char *host; /* NULL: unknown */
	struct nw_end end;
	size_t sites;
	bool net;
	/* With -i: how many intervals there are, and how long the last one was, if it was shorter than the others. */
	uint64_t intervals, short_ns;
};

/*
 * Reads the lines in `text`. All of them are used but those of intervals, slow and open spans, sleeps and stacks. name: of their file, for
 * messages. An error names the line; -EINVAL: it is no such line, or holds what cannot be. The caller frees `out`, also after an error.
 */
int nw_json_result_read(const char *name, const char *text, size_t len,
			struct nw_json_result *out, struct nw_error *err);
/* The length of an interval; 0: there are none, or their number cannot be. */
uint64_t nw_json_interval_ns(const struct nw_json_result *result);
/*
 * Reads the lines again, of which `whole` was made, and hands out each `each` intervals, with their rows (hits, gaps and latencies) and
 * their time. The last slice is left out if it is less than half as long as the others. host: of the parts.
 */
int nw_json_result_slices(const char *host, const char *text, size_t len,
			  const struct nw_json_result *whole, uint64_t each,
			  const struct nw_slice_taker *to, struct nw_error *err);
void nw_json_result_free(struct nw_json_result *result);

#endif
