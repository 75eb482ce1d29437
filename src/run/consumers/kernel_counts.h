/* SPDX-License-Identifier: MIT */
/*
 * The kernel counts (--engine=kernel): hist triggers take the place of records, and what they have counted is added to the same
 * summary that hits would fill. kernel_triggers.c makes the triggers, kernel_counts.c reads them.
 *
 * A map for each probe has its hits by thread. A span has a variable a thread, which its start sets and its end takes away; the
 * difference goes to a synthetic event, whose triggers are its histogram (kernel_ranges.c). Calls, and pairs of probes in one
 * function, have a variable for each thread and frame, so they may nest.
 */
#ifndef NOPWATCH_RUN_CONSUMERS_KERNEL_COUNTS_H
#define NOPWATCH_RUN_CONSUMERS_KERNEL_COUNTS_H

#include "by.h"
#include "run/run.h"

enum nw_counted_what {
	NW_COUNTED_HITS,
	NW_COUNTED_STARTS,
	NW_COUNTED_ENDS,     /* of a span, that had a start */
	NW_COUNTED_ALL_ENDS, /* of a span that is paired by arguments */
	NW_COUNTED_LATENCY,
	NW_COUNTED_ARG
};

/* How the values of a row are found. */
enum {
	NW_COUNTED_PLAIN, /* its key tells its ends */
	NW_COUNTED_EIGHTH, /* its key tells the power of two; of that, it is the first eighth (+1: the second) */
	NW_COUNTED_OCTAVE = NW_COUNTED_EIGHTH + 8 /* it is a power of two */
};

/* One map, and where it is. */
struct nw_counted_map {
	enum nw_counted_what what;
	size_t file; /* in nw_kernel_counts.files */
	size_t size; /* entries that it has room for */
	char *keys, *filter;
	char mark[40]; /* see nw_kernel_map_find() */
	uint32_t probe, span;
	size_t arg;
	bool is_signed;	   /* the values */
	bool large;	   /* it has room for more keys than there are threads */
	unsigned int part; /* NW_COUNTED_PLAIN, ... */
	/* The places of the thread, of the argument that groups, and of the value among the keys; -1: it is no key. */
	int thread, by, value;
	struct nw_kernel_map before; /* as it was when it was last added, by keys */
	struct nw_kernel_map now;    /* as it was read since */
	bool dropped;		     /* it lacks a hit */
};

/* The triggers of one event, which are read together. */
struct nw_counted_file {
	bool synthetic;
	char *event;
};

/* The hits of a thread in a span's probes, or those with other keys of the span. */
struct nw_counted_thread {
	uint64_t key[NW_KERNEL_MAP_KEYS]; /* the thread; the values of arguments */
	uint64_t starts, ends, matched;
};

struct nw_kernel_counts {
	struct nw_run *run;
	const nw_span_defs *spans;
	struct nw_by *by;
	struct nw_triggers triggers;
	NW_VEC(struct nw_counted_map) maps;
	NW_VEC(struct nw_counted_file) files;
	size_t *event_file; /* by probe: the file of its first event */
	size_t *events; /* by probe: how many it has, whose files are behind each other */
	NW_VEC(struct nw_task) ended;	    /* threads that have ended, each number once */
	struct nw_hash_table ended_numbers; /* by number: the index of its last thread */
	size_t room;	     /* entries of all maps, also of those that keep starts */
	bool *framed;	     /* by span: it is paired by thread and call frame */
	uint64_t *hits;	     /* by probe: those of all groups */
	uint64_t *others;    /* by probe: those of threads that do not count */
	uint64_t dropped;    /* hits that maps lack */
	const char *by_name; /* the argument that groups; NULL: none */
	bool buckets; /* rows may have any width; else they are eighths of powers of two */
	bool by_thread; /* rows must tell the thread: only some count, or they are grouped by it */
	bool keeps_ended;
	/* A span that began again before it had ended, on the same thread, and how often at least; NULL: none. */
	const struct nw_span_def *nested;
	uint64_t nested_times;
	/* A span that is paired by frames, although its ends are in other frames than its starts; NULL: none. */
	const struct nw_span_def *misfit;
	/* A span that is paired by arguments, whose probes threads hit that do not count; NULL: none. */
	const struct nw_span_def *mixed;
	bool ended_all; /* all records of threads were read */
	bool closed;	/* the last reading was added */
};

struct nw_measure;

/*
 * Makes the triggers for the plan of the run. Returns -ENOTSUP with the reason and a hint if the kernel cannot count what is
 * asked for; -ENOMEM. `out` is to be closed in any case.
 */
int nw_kernel_counts_open(const struct nw_measure *measure, struct nw_run *run,
			  struct nw_kernel_counts *out, struct nw_error *err);
/* Adds a map and its trigger. text: what the trigger has behind its keys. */
int nw_kernel_counts_add_map(struct nw_kernel_counts *counts,
			     const struct nw_counted_map *map, const char *keys,
			     const char *text, const char *filter);

/* Is a span paired by arguments, or by threads that they name, and not by thread? */
static inline bool nw_kernel_counts_keyed(const struct nw_span_def *def)
{
	return def->key != NW_KEY_TID || *def->end_key_name;
}
/* Is a span paired by more than the thread? Then a thread has rows for each of its keys. */
static inline bool nw_kernel_counts_by_key(const struct nw_kernel_counts *counts,
					   uint32_t span)
{
	return nw_kernel_counts_keyed(&counts->spans->item[span]) || counts->framed[span];
}

/* A value and the keys that stand before it. */
struct nw_kernel_value {
	const char *name;
	const char *before; /* "common_pid,a0,", or "" */
	/* of the largest value that is looked for; the last range has no end */
	unsigned int bits;
	bool is_signed;
	bool exact; /* each has a row of its own, since it is also the group */
};
/* Adds the maps of a histogram. map: what they count. */
int nw_kernel_counts_add_ranges(struct nw_kernel_counts *counts,
				const struct nw_counted_map *map,
				const struct nw_kernel_value *value);
/* Returns what a row of such a map has counted. */
struct nw_counted nw_kernel_counts_row(const struct nw_counted_map *map,
				       const struct nw_kernel_map_row *row);
/* Returns where an argument of a probe is fetched, the same for all of its sites; NULL: the kernel does not have it as a number. */
const struct nw_source *nw_kernel_counts_source(const struct nw_plan *plan, uint32_t probe,
						size_t arg);
void nw_kernel_counts_close(struct nw_kernel_counts *counts);
/* Reads the maps. Does nothing behind the last time that they were added. */
int nw_kernel_counts_read(struct nw_kernel_counts *counts, struct nw_error *err);
/*
 * Adds to the summary what the maps that were read have got since the reading before. last: the run has ended, and all records
 * have been read, which tell the threads. Else rows of threads that may have begun and ended since wait for the next reading.
 */
int nw_kernel_counts_add(struct nw_kernel_counts *counts, struct nw_summary *summary,
			 bool last, struct nw_error *err);
/* A thread ends: its process and name are kept for its rows. */
int nw_kernel_counts_exit(struct nw_kernel_counts *counts, int32_t tid);
/* Returns the hits of a probe that count, as far as they were read. */
uint64_t nw_kernel_counts_hits(const struct nw_kernel_counts *counts, uint32_t probe);
/* Fails if nested spans were found, whose latencies are wrong. */
int nw_kernel_counts_check(const struct nw_kernel_counts *counts, struct nw_error *err);

#endif
