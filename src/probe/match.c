// SPDX-License-Identifier: MIT
/* What a spec names in one image: USDT sites by pattern, functions by symbol. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "code.h"
#include "select.h"

/* ---- probes ------------------------------------------------------------------------- */

struct nw_probe *nw_probe_find(const struct nw_selection *selection,
			       const struct nw_image *image, const char *provider,
			       const char *name)
{
	nw_vec_each (&selection->probes, probe)
		if ((*probe)->image == image && strcmp((*probe)->provider, provider) == 0 &&
		    strcmp((*probe)->name, name) == 0)
			return *probe;
	return NULL;
}

struct nw_probe *nw_probe_add(struct nw_selection *selection, struct nw_image *image,
			      enum nw_spec_kind kind, const char *provider,
			      const char *name)
{
	struct nw_probe *probe = calloc(1, sizeof(*probe));
	struct nw_probe **slot = probe ? nw_vec_add(&selection->probes) : NULL;

	if (!slot) {
		free(probe);
		return NULL;
	}
	*slot = probe;
	probe->image = image;
	probe->kind = kind;
	probe->provider = strdup(provider);
	probe->name = strdup(name);
	return probe->provider && probe->name ? probe : NULL;
}

/* Names and types that the user gave; more than one spec may give them, the last wins. */
static int name_args(const struct nw_spec *spec, struct nw_probe *probe,
		     struct nw_error *err)
{
	size_t i = 0;

	if (!spec->has_args)
		return 0;
	bool one = !nw_has_glob(spec->provider) && !nw_has_glob(spec->name);
	if (spec->args.count > probe->args.count && one)
		return nw_fail_usage(err, "'%s' names %zu arguments, but %s:%s has %zu",
				     spec->text, spec->args.count, probe->provider,
				     probe->name, probe->args.count);
	probe->has_args = true;
	nw_vec_each (&spec->args, arg)
		if (i < probe->args.count)
			probe->args.item[i++] = *arg;
	return 0;
}

static int add_operands(struct nw_image *image, const char *args, struct nw_probe *probe,
			struct nw_point *point, struct nw_error *err)
{
	if (!image->arch)
		return 0;
	if (nw_operands_parse(image->arch, args, &point->operands) < 0)
		return nw_no_memory(err);
	nw_operands_resolve(image, point->vaddr, &point->operands);
	while (probe->args.count < point->operands.count)
		if (!nw_vec_add(&probe->args))
			return nw_no_memory(err);
	return 0;
}

/* ---- USDT --------------------------------------------------------------------------- */

bool nw_spec_fits(const struct nw_spec *spec, const char *provider, const char *name)
{
	return nw_glob_match(spec->provider, provider) && nw_glob_match(spec->name, name);
}

/* The probe's point at an offset; added, if it is new. NULL: out of memory. */
static struct nw_point *point_at(struct nw_probe *probe, uint64_t offset)
{
	nw_vec_each (&probe->points, point)
		if (point->offset == offset)
			return point;
	struct nw_point *point = nw_vec_add(&probe->points);
	if (point)
		point->offset = offset;
	return point;
}

static int add_site(const struct nw_spec *spec, const struct nw_scope *scope,
		    struct nw_image *image, const struct nw_site *site,
		    struct nw_probe *probe, struct nw_error *err)
{
	struct nw_point *point = point_at(probe, site->offset);

	if (!point)
		return nw_no_memory(err);
	point->image = image;
	point->site = site;
	point->vaddr = site->vaddr;
	point->nop = site->nop;
	point->semaphore_offset = site->warning ? 0 : site->semaphore_offset;
	if (point->operands.count || (!scope->want_operands && !spec->has_args))
		return 0;
	return add_operands(image, site->args, probe, point, err);
}

/* Warnings about one file: the first few notes in full, the others as a number. */
struct warnings {
	nw_strings *list;
	size_t seen, more;
};

/* Add a warning, unless it is there: several specs may come by. Takes text over. */
static int warn(struct warnings *warnings, char *text)
{
	enum {
		MOST = 8
	};
	bool known = text && nw_strings_has(warnings->list, text);
	int ret = text ? 0 : -ENOMEM;

	if (text && !known && warnings->seen < MOST)
		ret = nw_strings_add(warnings->list, text, strlen(text));
	else if (!known)
		warnings->more++;
	warnings->seen++;
	free(text);
	return ret;
}

/* Notes that fit but were left out, and semaphores that cannot work: tell the user. */
static int warn_usdt(const struct nw_spec *spec, const struct nw_image *image,
		     struct nw_selection *selection)
{
	struct warnings warnings = {.list = &selection->warnings};
	int ret = 0;

	nw_vec_each (&image->skipped, skipped) {
		bool named = *skipped->name;
		if (ret == 0 &&
		    (!named || nw_spec_fits(spec, skipped->provider, skipped->name)))
			ret = warn(&warnings,
				   nw_text("%s: skipped the note of %s:%s: %s", image->path,
					   named ? skipped->provider : "?",
					   named ? skipped->name : "?", skipped->why));
	}
	nw_vec_each (&image->sites, site) {
		if (ret == 0 && site->warning &&
		    nw_spec_fits(spec, site->provider, site->name))
			ret = warn(&warnings,
				   nw_text("%s: %s:%s: %s", image->path, site->provider,
					   site->name, site->warning));
	}
	size_t more = warnings.more;
	warnings.seen = 0;
	if (ret == 0 && more)
		ret = warn(&warnings,
			   nw_text("%s: %zu more notes with problems", image->path, more));
	return ret;
}

/* What the spec leaves open, a description may know. */
static void apply_types(const struct nw_types *types, struct nw_probe *probe)
{
	const struct nw_described *known = types ? nw_types_look_up(
							   types, probe->image->path,
							   probe->provider, probe->name)
						 : NULL;

	if (known)
		nw_types_apply(known, probe->points.item, probe->points.count,
			       &probe->args);
}

static int match_usdt(const struct nw_spec *spec, const struct nw_scope *scope,
		      struct nw_image *image, struct nw_selection *selection,
		      struct nw_error *err)
{
	int matched = 0, ret = 0;

	nw_vec_each (&image->sites, site) {
		if (!nw_spec_fits(spec, site->provider, site->name))
			continue;
		struct nw_probe *probe = nw_probe_find(selection, image, site->provider,
						       site->name);
		if (!probe) {
			probe = nw_probe_add(selection, image, spec->kind, site->provider,
					     site->name);
			if (!probe)
				return nw_no_memory(err);
		}
		matched++;
		ret = add_site(spec, scope, image, site, probe, err);
		if (ret < 0)
			return ret;
	}
	nw_vec_each (&selection->probes, probe)
		if (ret == 0 && matched && (*probe)->image == image &&
		    nw_spec_fits(spec, (*probe)->provider, (*probe)->name)) {
			ret = name_args(spec, *probe, err);
			apply_types(scope->types, *probe);
		}
	if (ret == 0 && warn_usdt(spec, image, selection) < 0)
		ret = nw_no_memory(err);
	return ret < 0 ? ret : matched;
}

/* ---- functions ---------------------------------------------------------------------- */

static int function_fail(const struct nw_spec *spec, const struct nw_image *image, int ret,
			 struct nw_error *err)
{
	switch (ret) {
	case -ENXIO:
		nw_fail(err, ENOENT, "'%s' is only imported by %s, not defined there",
			spec->name, image->path);
		nw_error_hint(err,
			      "probe the library that defines it: nopwatch list -p PID "
			      "shows what a process has loaded");
		return -ENOENT;
	case -ENOTUNIQ:
		nw_fail(err, ENOTUNIQ, "%s has several functions called '%s'", image->path,
			spec->name);
		nw_error_hint(err, "give the file offset: uprobe:%s:0xOFFSET", image->path);
		return -ENOTUNIQ;
	case -ENOMEM:
		return nw_no_memory(err);
	default:
		return nw_fail(err, ENOENT, "there is no function '%s' in %s", spec->name,
			       image->path);
	}
}

/* Is the place one where a breakpoint does no harm? Else the point gets its hazard. */
static int doubt_place(const struct nw_spec *spec, const struct nw_symbol *symbol,
		       struct nw_point *point, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *why = NULL;
	int ret = 0;

	if (symbol && symbol->object)
		why = nw_text("'%s' is a variable, not code", symbol->name);
	else if (symbol && symbol->size && spec->offset >= symbol->size)
		why = nw_text("it lies outside of '%s', which has %" PRIu64 " bytes",
			      symbol->name, symbol->size);
	else if (!symbol || spec->offset)
		ret = nw_code_doubt(point->image, point->vaddr, &why);
	if (why)
		point->hazard = nw_text("no instruction is shown to begin there: %s "
					"(--force arms it all the same)",
					why);
	return ret < 0 || (why && !point->hazard) ? nw_no_memory(err) : 0;
}

/* Where the spec points in the image: linked address and file offset. */
static int function_place(const struct nw_spec *spec, struct nw_image *image,
			  struct nw_point *point, struct nw_error *err)
{
	struct nw_symbol symbol;

	if (!*spec->name) { /* a file offset */
		point->offset = spec->offset;
		nw_vec_each (&image->segments, segment)
			if (segment->exec && spec->offset >= segment->offset &&
			    spec->offset - segment->offset < segment->filesz)
				point->vaddr = spec->offset - segment->offset +
					       segment->vaddr;
		if (!point->vaddr)
			return nw_fail(err, EINVAL,
				       "offset 0x%lx is in no executable segment of %s",
				       spec->offset, image->path);
		return doubt_place(spec, NULL, point, err);
	}
	int ret = nw_image_symbol(image, spec->name, strlen(spec->name), 0, &symbol);
	if (ret < 0)
		return function_fail(spec, image, ret, err);
	point->vaddr = symbol.value + spec->offset;
	int64_t offset = nw_image_offset(image, point->vaddr, true);
	if (offset < 0)
		return nw_fail(err, EINVAL, "'%s' of %s is in no executable segment",
			       spec->name, image->path);
	point->offset = (uint64_t)offset;
	return doubt_place(spec, &symbol, point, err);
}

/* What `list` and the labels call it; the caller frees. */
static char *function_name(const struct nw_spec *spec)
{
	if (!*spec->name)
		return nw_text("0x%lx", spec->offset);
	if (spec->offset)
		return nw_text("%s+0x%lx", spec->name, spec->offset);
	return nw_text("%s", spec->name);
}

/* The only point of the function's probe; added, if it is new. NULL: out of memory. */
static struct nw_point *function_point(const struct nw_spec *spec, struct nw_point *place,
				       struct nw_selection *selection,
				       struct nw_probe **probe)
{
	const char *provider = place->is_return ? "uretprobe" : "uprobe";
	nw_cleanup(nw_free_ptr) char *name = function_name(spec);

	if (!name)
		return NULL;
	*probe = nw_probe_find(selection, place->image, provider, name);
	if (*probe) {
		free(place->hazard);
		return (*probe)->points.item;
	}
	*probe = nw_probe_add(selection, place->image, spec->kind, provider, name);
	struct nw_point *point = *probe ? nw_vec_add(&(*probe)->points) : NULL;
	if (!point)
		return NULL;
	*point = *place;
	point->nop = nw_image_nop(place->image, place->offset);
	return point;
}

static int add_function(const struct nw_spec *spec, const struct nw_scope *scope,
			bool is_return, struct nw_image *image,
			struct nw_selection *selection, struct nw_error *err)
{
	struct nw_point place = {.image = image, .is_return = is_return};
	/* the names of func:PATH:SYMBOL(...) are those of the call's arguments */
	bool named = spec->has_args && !(is_return && spec->kind == NW_SPEC_FUNC);
	struct nw_probe *probe;
	int ret = function_place(spec, image, &place, err);

	if (ret < 0)
		return ret;
	struct nw_point *point = function_point(spec, &place, selection, &probe);
	if (!point)
		return nw_no_memory(err);
	if (image->arch && !point->operands.count && (named || scope->want_operands)) {
		const char *args = is_return	  ? image->arch->return_value
				   : spec->offset ? ""
						  : image->arch->call_args;
		ret = add_operands(image, args, probe, point, err);
	}
	if (ret == 0 && named)
		ret = name_args(spec, probe, err);
	return ret < 0 ? ret : 1;
}

static int match_function(const struct nw_spec *spec, const struct nw_scope *scope,
			  struct nw_image *image, struct nw_selection *selection,
			  struct nw_error *err)
{
	int entry = 0, back = 0;

	if (spec->kind != NW_SPEC_URETPROBE)
		entry = add_function(spec, scope, false, image, selection, err);
	if (entry >= 0 && spec->kind != NW_SPEC_UPROBE)
		back = add_function(spec, scope, true, image, selection, err);
	return entry < 0 ? entry : back < 0 ? back : entry + back;
}

int nw_match_image(const struct nw_spec *spec, const struct nw_scope *scope,
		   struct nw_image *image, struct nw_selection *selection,
		   struct nw_error *err)
{
	if (spec->kind == NW_SPEC_USDT)
		return match_usdt(spec, scope, image, selection, err);
	return match_function(spec, scope, image, selection, err);
}
