/* SPDX-License-Identifier: MIT */
/* A saved result: the rows of a recording that was read to its end, or of the JSON lines that stat has printed. */
#ifndef NOPWATCH_CMD_SAVED_H
#define NOPWATCH_CMD_SAVED_H

#include "cmd.h"
#include "measure/merge.h"
#include "run/consumers/reports.h"
#include "show/json/json_result.h"

struct nw_saved {
	const char *path;
	bool is_json;
	struct nw_json_result json; /* if it is */
	struct nw_measure measure;  /* if it is not */
	struct nw_run_result result;
	/* Both: */
	struct nw_merge_part part;	     /* points into the above */
	const struct nw_probe_state *states; /* by probe of the part; NULL: unknown */
	struct nw_end end;
	size_t sites;
	struct nw_buf piped; /* of JSON lines from a pipe, if they are read again */
};

/* Does this file begin like JSON? A pipe is not looked into. Returns 1, 0, or -errno of what was short (nw_shortage()). */
int nw_is_json_file(const char *path, struct nw_error *err);

/*
 * Reads the file at path to its end with the options of args that concern measuring (--by, --filter, --span, --hist, --states,
 * --net), but grouped by these keys (NULL: not grouped). The rows of JSON lines are as they were printed; they cannot be measured
 * anew. The caller closes `out`, also after an error.
 */
int nw_saved_read(const struct nw_args *args, const char *path, const char *by,
		  struct nw_saved *out, struct nw_error *err);
void nw_saved_close(struct nw_saved *saved);
/* The time of the result that can be told apart: 1 ms of a recording, an interval of JSON lines; 0: these have none. */
uint64_t nw_saved_resolution(const struct nw_saved *saved);
/* How long slices of the result are, if they shall be of `ns`: JSON lines have whole intervals. */
uint64_t nw_saved_slice_ns(const struct nw_saved *saved, uint64_t ns);
/*
 * Reads the file again, by the same options and keys, and hands out each nw_saved_slice_ns() of its time, with the rows of that time. A rest
 * that is less than half as long is left out.
 */
int nw_saved_slices(const struct nw_args *args, const struct nw_saved *saved,
		    const char *by, uint64_t ns, const struct nw_slice_taker *to,
		    struct nw_error *err);

/* ---- several of them ------------------------------------------------------------------ */

/* Saved results that become one summary. A zeroed set is empty and valid. */
struct nw_saved_set {
	NW_VEC(struct nw_saved) results;
	struct nw_merged merged; /* nw_saved_set_merge() makes it */
	struct nw_end end;	 /* the sum of all: times, losses */
	char *by;		 /* the keys of each result, without `host`; NULL: none */
	size_t keys;
	int host_at;
};

/* Reads these files. like: another set, whose keys this one has to have, too; or NULL. An error leaves a set to be freed. */
int nw_saved_set_read(struct nw_saved_set *set, const struct nw_args *args,
		      const char *const *paths, size_t count,
		      const struct nw_saved_set *like, struct nw_error *err);
int nw_saved_set_merge(struct nw_saved_set *set, struct nw_error *err);
/* Tells of probes whose files differ, since their latencies are those of different programs. */
void nw_saved_set_tell_builds(const struct nw_saved_set *set);
/* Tells the files of probes that are other programs in the second set than in the first one. */
void nw_saved_sets_tell_builds(const struct nw_saved_set *before,
			       const struct nw_saved_set *after);
/* Were events lost, so that --strict fails? */
bool nw_saved_set_is_incomplete(const struct nw_saved_set *set);
void nw_saved_set_free(struct nw_saved_set *set);

/* Returns an option that needs the hits of one recording in the order of time; NULL: none was given. */
const char *nw_option_of_one(const struct nw_args *args);

/* Is `host` one of the keys of --by? by NULL: no. */
bool nw_by_has_host(const char *by);
/* report with several files, or grouped by host: prints one summary of all. Returns the exit status. */
int nw_report_merged(const struct nw_args *args, const struct nw_command *command);
/* report --diff: compares the files in front of -- with those behind it. Returns the exit status. */
int nw_report_diff(const struct nw_args *args, const struct nw_command *command);

#endif
