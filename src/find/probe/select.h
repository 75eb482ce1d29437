/* SPDX-License-Identifier: MIT */
/* The steps of nw_select(): the files of a spec, and the probes in a file. */
#ifndef NOPWATCH_FIND_PROBE_SELECT_H
#define NOPWATCH_FIND_PROBE_SELECT_H

#include "find/probe/probe.h"

/* Up to three names that are similar to one that was not found. */
enum {
	NW_NEAR_MOST = 3
};

struct nw_near {
	char text[NW_NEAR_MOST][160];
	unsigned int distance[NW_NEAR_MOST];
};

/* Keeps a name that is similar enough. */
void nw_near_add(struct nw_near *near, unsigned int distance, const char *text);
/* Keeps PREFIX PROVIDER:NAME if it is similar to the spec. */
void nw_near_consider(struct nw_near *near, const struct nw_spec *spec, const char *prefix,
		      const char *provider, const char *name);
/* Finds the functions whose linker name or source name is the most similar to this one. Returns 0 or -errno.
 * (source_name.c) */
int nw_near_functions(struct nw_image *image, const char *name, struct nw_near *near);
/* Appends "a, b, c", or nothing if there is no similar name. */
void nw_near_list(const struct nw_near *near, struct nw_buf *out);
/* Sets the hint "did you mean ...?", or `otherwise`. */
void nw_near_hint(const struct nw_near *near, const char *otherwise, struct nw_error *err);

/* Finds a probe of the selection (NULL: there is none), or adds one (NULL: no memory). */
struct nw_probe *nw_probe_find(struct nw_selection *selection, const struct nw_image *image,
			       const char *provider, const char *name);
struct nw_probe *nw_probe_add(struct nw_selection *selection, struct nw_image *image,
			      enum nw_spec_kind kind, const char *provider,
			      const char *name);

/* Finds the images of a spec and adds them to selection->images; `out` borrows them. */
int nw_candidates_find(const struct nw_spec *spec, const struct nw_scope *scope,
		       struct nw_selection *selection, nw_images *out,
		       struct nw_error *err);

/* Adds the probes of one image that the spec names. Returns how many matched, or -errno. */
int nw_match_image(const struct nw_spec *spec, const struct nw_scope *scope,
		   struct nw_image *image, struct nw_selection *selection,
		   struct nw_error *err);

/* Does the same for functions, by symbol, offset or pattern. */
int nw_match_function(const struct nw_spec *spec, const struct nw_scope *scope,
		      struct nw_image *image, struct nw_selection *selection,
		      struct nw_error *err);
/* Does the same for functions of the running kernel, by its list of symbols. */
int nw_match_kernel(const struct nw_spec *spec, const struct nw_scope *scope,
		    struct nw_image *image, struct nw_selection *selection,
		    struct nw_error *err);
/* Applies the names and types that the spec gives for the arguments of a probe. */
int nw_probe_name_args(const struct nw_spec *spec, struct nw_probe *probe,
		       struct nw_error *err);

/* Does the same for tracepoints, whose image is the kernel. It is an error if none matches. */
int nw_match_events(const struct nw_spec *spec, const struct nw_scope *scope,
		    struct nw_selection *selection, struct nw_error *err);

/*
 * Finds every ELF file with USDT notes below a directory, in the order of names. Calls found() with the image of
 * each, which found() then owns. Several threads read the tree, but found() is called by the caller's thread only.
 * The walk stops when found() does not return 0.
 */
int nw_walk(const char *root, bool force, int (*found)(struct nw_image *image, void *arg),
	    void *arg, struct nw_error *err);

/* Is the file of that path what a spec calls `wanted`: the whole path, or (lib)name(.so.N)? Both may be globs. */
bool nw_is_called(const char *path, const char *wanted);
/* Returns the interpreter of a #! script, which the caller frees. ENOEXEC: it is no script. */
int nw_locate_interpreter(const char *path, char **out, struct nw_error *err);

#endif
