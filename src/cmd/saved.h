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
};

/* Does this file begin like JSON? A pipe is not looked into. */
bool nw_is_json_file(const char *path);

/*
 * Reads the file at path to its end with the options of args that concern measuring (--by, --filter, --span, --hist, --states,
 * --net), but grouped by these keys (NULL: not grouped). The rows of JSON lines are as they were printed; they cannot be measured
 * anew. The caller closes `out`, also after an error.
 */
int nw_saved_read(const struct nw_args *args, const char *path, const char *by,
		  struct nw_saved *out, struct nw_error *err);
void nw_saved_close(struct nw_saved *saved);

/* Is `host` one of the keys of --by? by NULL: no. */
bool nw_by_has_host(const char *by);
/* report with several files, or grouped by host: prints one summary of all. Returns the exit status. */
int nw_report_merged(const struct nw_args *args, const struct nw_command *command);

#endif
