// SPDX-License-Identifier: MIT
/* Matches a spec with the USDT sites of one image. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find/arch/arch.h"
#include "find/elf/budget.h"
#include "select.h"

/* ---- probes ------------------------------------------------------------------------- */

static uint64_t name_hash(const struct nw_image *image, const char *provider,
			  const char *name)
{
	return nw_hash64((uintptr_t)image ^ nw_hash_text(name, strlen(name))) ^
	       nw_hash_text(provider, strlen(provider));
}

/* Adds the probes to the table that were added to the selection since the last call, as far as there is memory. */
static void index_probes(struct nw_selection *selection)
{
	struct nw_hash_table *table = &selection->by_name;

	while (table->count < selection->probes.count) {
		const struct nw_probe *probe = selection->probes.item[table->count];
		if (nw_hash_table_add(table,
				      name_hash(probe->image, probe->provider, probe->name),
				      table->count) < 0)
			return;
	}
}

static bool is_called(const struct nw_probe *probe, const struct nw_image *image,
		      const char *provider, const char *name)
{
	return probe->image == image && strcmp(probe->provider, provider) == 0 &&
	       strcmp(probe->name, name) == 0;
}

struct nw_probe *nw_probe_find(struct nw_selection *selection, const struct nw_image *image,
			       const char *provider, const char *name)
{
	index_probes(selection);
	nw_hash_each (&selection->by_name, name_hash(image, provider, name), number)
		if (is_called(selection->probes.item[number], image, provider, name))
			return selection->probes.item[number];
	for (size_t i = selection->by_name.count; i < selection->probes.count; i++)
		if (is_called(selection->probes.item[i], image, provider, name))
			return selection->probes.item[i];
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

/* Applies the names and types of the spec. If several specs give them, the last one counts. */
int nw_probe_name_args(const struct nw_spec *spec, struct nw_probe *probe,
		       struct nw_error *err)
{
	size_t i = 0;

	if (!spec->has_args)
		return 0;
	bool one = !nw_has_glob(spec->provider) && !nw_has_glob(spec->name);
	if (spec->args.count > probe->args.count && one) {
		nw_fail_usage(err, "'%s' names %zu arguments, but %s:%s has %zu",
			      spec->text, spec->args.count, probe->provider, probe->name,
			      probe->args.count);
		if (spec->kind == NW_SPEC_URETPROBE && !spec->kernel)
			nw_error_hint(
				err,
				"a return has the result only; 'func:%s:%s(%s@return)' reads an argument of the call there",
				spec->path, spec->name, spec->args.item[0].name);
		return -EINVAL;
	}
	probe->has_args = true;
	probe->named = spec->args.count;
	nw_vec_each (&spec->args, arg)
		if (i < probe->args.count)
			probe->args.item[i++] = *arg;
	return 0;
}

/* Parses the operands of a point, and gives its probe as many arguments. */
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

bool nw_spec_matches(const struct nw_spec *spec, const char *provider, const char *name)
{
	return nw_spec_matches_provider(spec, provider) && nw_glob_match(spec->name, name);
}

bool nw_spec_matches_provider(const struct nw_spec *spec, const char *provider)
{
	if (nw_glob_match(spec->provider, provider))
		return true;
	return spec->perf && strncmp(provider, "sdt_", 4) == 0 &&
	       nw_glob_match(spec->provider, provider + 4);
}

/* Returns the probe's point at an offset, added if it is new. NULL: no memory. */
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

/* Warnings about one file: the first ones as text, and the number of all others. */
struct warnings {
	nw_strings *list;
	size_t seen, more;
};

/* Adds a warning, unless another spec has added it. Frees the text. */
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

/* Warns about matching notes that were skipped, and about semaphores that cannot work. */
static int warn_usdt(const struct nw_spec *spec, const struct nw_image *image,
		     struct nw_selection *selection)
{
	struct warnings warnings = {.list = &selection->warnings};
	int ret = 0;

	nw_vec_each (&image->skipped, skipped) {
		bool named = *skipped->name;
		if (ret == 0 &&
		    (!named || nw_spec_matches(spec, skipped->provider, skipped->name)))
			ret = warn(&warnings,
				   nw_text("%s: skipped the note of %s:%s: %s", image->path,
					   named ? skipped->provider : "?",
					   named ? skipped->name : "?", skipped->why));
	}
	nw_vec_each (&image->sites, site) {
		if (ret == 0 && site->warning &&
		    nw_spec_matches(spec, site->provider, site->name))
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

/* Adds names and types that a description knows and the spec does not give. */
static void apply_types(const struct nw_types *types, struct nw_probe *probe)
{
	const struct nw_described *known = types ? nw_types_of(types, probe->image->path,
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
		if (!nw_spec_matches(spec, site->provider, site->name))
			continue;
		struct nw_probe *probe = nw_probe_find(selection, image, site->provider,
						       site->name);
		if (!probe && selection->probes.count >= NW_MOST_PROBES) {
			nw_fail(err, EFBIG,
				"with '%s' the run has more than %d probes (file %s)",
				spec->text, NW_MOST_PROBES, image->path);
			nw_error_hint(err, "name fewer of them");
			return -EFBIG;
		}
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
		    nw_spec_matches(spec, (*probe)->provider, (*probe)->name)) {
			ret = nw_probe_name_args(spec, *probe, err);
			apply_types(scope->types, *probe);
		}
	if (ret == 0 && warn_usdt(spec, image, selection) < 0)
		ret = nw_no_memory(err);
	return ret < 0 ? ret : matched;
}

int nw_match_image(const struct nw_spec *spec, const struct nw_scope *scope,
		   struct nw_image *image, struct nw_selection *selection,
		   struct nw_error *err)
{
	if (spec->kind == NW_SPEC_USDT)
		return match_usdt(spec, scope, image, selection, err);
	if (spec->kernel)
		return nw_match_kernel(spec, scope, image, selection, err);
	return nw_match_function(spec, scope, image, selection, err);
}
