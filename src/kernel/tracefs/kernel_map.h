/* SPDX-License-Identifier: MIT */
/* The text of an event's file `hist`: what its hist triggers have counted (Documentation/trace/histogram.rst). Pure. */
#ifndef NOPWATCH_KERNEL_TRACEFS_KERNEL_MAP_H
#define NOPWATCH_KERNEL_TRACEFS_KERNEL_MAP_H

#include "base/base.h"

enum {
	NW_KERNEL_MAP_KEYS = 3 /* the kernel's limit, TRACING_MAP_KEYS_MAX */
};

/* A key of a row. With the modifiers .buckets=N and .log2 it is a range, else both are its value. A negative value is in two's
 * complement, as the kernel prints it. */
struct nw_kernel_map_key {
	uint64_t low, high; /* both inclusive */
};

struct nw_kernel_map_row {
	struct nw_kernel_map_key key[NW_KERNEL_MAP_KEYS];
	uint64_t hits;
	uint64_t sum; /* of the first value besides the hits; 0: there is none */
};

/* A map: the rows that one hist trigger has counted. */
struct nw_kernel_map {
	char *info; /* the trigger as the kernel writes it: "hist:keys=common_pid:vals=hitcount... [active]" */
	size_t keys; /* of each row */
	NW_VEC(struct nw_kernel_map_row) rows;
	uint64_t dropped; /* hits for whose keys there was no room */
};
typedef NW_VEC(struct nw_kernel_map) nw_kernel_maps;

/* Parses the file. Keys that are no numbers, such as stacks and names, are an error, since nopwatch sets no such
 * trigger. Returns 0, -EBADMSG, -EFBIG, or -ENOMEM; frees what it has added then. */
int nw_kernel_maps_parse(const char *text, size_t len, nw_kernel_maps *out);
void nw_kernel_maps_free(nw_kernel_maps *maps);
/*
 * Finds the map of a trigger: that with these keys ("common_pid,lat.buckets=64"), this filter ("": none), and with
 * `mark` in its text ("": the text sets no variable). NULL: there is none.
 */
struct nw_kernel_map *nw_kernel_map_find(nw_kernel_maps *maps, const char *keys,
					 const char *filter, const char *mark);
/* Sorts the rows by their keys. */
void nw_kernel_map_sort(struct nw_kernel_map *map);
/* Compares the keys of two rows: negative, 0 or positive. */
int nw_kernel_map_compare(const void *a, const void *b);

#endif
