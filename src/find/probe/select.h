/* SPDX-License-Identifier: MIT */
/* The steps behind nw_select(): the files of a spec, the probes in a file. */
#ifndef NOPWATCH_FIND_PROBE_SELECT_H
#define NOPWATCH_FIND_PROBE_SELECT_H

#include "nopwatch/probe.h"

/* Up to three names that are nearest to one that was not found. */
enum {
	NW_NEAR_MOST = 3
};

struct nw_near {
	char text[NW_NEAR_MOST][160];
	unsigned int distance[NW_NEAR_MOST];
};

/* Remember a name that is so near. */
void nw_near_add(struct nw_near *near, unsigned int distance, const char *text);
/* Remember PREFIX PROVIDER:NAME if it is near to what the spec names. */
void nw_near_consider(struct nw_near *near, const struct nw_spec *spec, const char *prefix,
		      const char *provider, const char *name);
/* The functions whose names, the linker's or the source's, are the nearest to this one. 0 or -errno. (source_name.c) */
int nw_near_functions(struct nw_image *image, const char *name, struct nw_near *near);
/* Adds "a, b, c"; nothing, if nothing is near. */
void nw_near_list(const struct nw_near *near, struct nw_buf *out);
/* "did you mean ...?", or where to look. */
void nw_near_hint(const struct nw_near *near, const char *otherwise, struct nw_error *err);

/* A probe of the selection; NULL: there is none. Adding: NULL when out of memory. */
struct nw_probe *nw_probe_find(const struct nw_selection *selection,
			       const struct nw_image *image, const char *provider,
			       const char *name);
struct nw_probe *nw_probe_add(struct nw_selection *selection, struct nw_image *image,
			      enum nw_spec_kind kind, const char *provider,
			      const char *name);

/* The images a spec speaks of, added to selection->images; out borrows them. */
int nw_candidates_find(const struct nw_spec *spec, const struct nw_scope *scope,
		       struct nw_selection *selection, nw_images *out,
		       struct nw_error *err);

/* Add what the spec names in one image. Returns how many probes it matched, or -errno. */
int nw_match_image(const struct nw_spec *spec, const struct nw_scope *scope,
		   struct nw_image *image, struct nw_selection *selection,
		   struct nw_error *err);

/* The same for functions, by symbol, offset or pattern. */
int nw_match_function(const struct nw_spec *spec, const struct nw_scope *scope,
		      struct nw_image *image, struct nw_selection *selection,
		      struct nw_error *err);
/* Give a probe the names and types that the user gave for its arguments. */
int nw_probe_name_args(const struct nw_spec *spec, struct nw_probe *probe,
		       struct nw_error *err);

/* The same for a tracepoint, whose image is the kernel. Fails if it matches none. */
int nw_match_events(const struct nw_spec *spec, const struct nw_scope *scope,
		    struct nw_selection *selection, struct nw_error *err);

/*
 * Every ELF file with USDT notes below a directory, in the order of their names, each handed to
 * found() with its image, which found() then owns; what is not ELF is passed over by its first
 * bytes. Several threads read the tree, but found() is called by the caller's only. Stops when
 * found() is not 0.
 */
int nw_walk(const char *root, bool force, int (*found)(struct nw_image *image, void *arg),
	    void *arg, struct nw_error *err);

/* What runs a #! script; the caller frees. ENOEXEC: it is none. */
int nw_locate_interpreter(const char *path, char **out, struct nw_error *err);

#endif
