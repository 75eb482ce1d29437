// SPDX-License-Identifier: MIT
/* See check.h. */
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "show/rows/site.h"

/* The first site of each probe, by the number of its name. */
struct first_site {
	const struct nw_site *site;
	char *types;	/* of its arguments: "s32, u64" */
	bool disagrees; /* another site's types differ, and that was written */
};

struct check {
	struct nw_image *image;
	struct nw_output *output;
	const struct nw_types *types;
	struct nw_index names;
	NW_VEC(struct first_site) firsts;
	struct nw_checked result;
	bool failed; /* out of memory */
};

static void tell(struct check *check, const char *kind, const char *provider,
		 const char *name, uint64_t vaddr, const char *text)
{
	const struct nw_note_problem problem = {kind, provider, name, vaddr, text};

	check->result.problems++;
	check->output->format->problem(check->output, check->image, &problem);
}

nw_format(4, 5) static void tell_of_site(struct check *check, const struct nw_site *site,
					 const char *kind, const char *fmt, ...)
{
	struct nw_buf text = {0};
	va_list args;

	va_start(args, fmt);
	nw_buf_vprintf(&text, fmt, args);
	va_end(args);
	tell(check, kind, site->provider, site->name, site->vaddr, nw_buf_str(&text));
	check->failed |= text.failed;
	nw_buf_free(&text);
}

/* ---- arguments ---------------------------------------------------------------------- */

static void check_args(struct check *check, const struct nw_site *site,
		       const struct nw_site_args *args, struct nw_buf *types)
{
	for (size_t i = 0; i < args->point.operands.count; i++) {
		const struct nw_operand *op = &args->point.operands.item[i];
		struct nw_fetch fetch;

		nw_site_fetch(check->image, site, args, i, &fetch);
		if (fetch.problem)
			tell_of_site(check, site, "argument",
				     "arg%zu '%.*s' cannot be fetched: %s", i,
				     (int)op->text_len, op->text, fetch.problem);
		nw_buf_printf(types, "%s%c%u", i ? ", " : "",
			      op->is_float    ? 'f'
			      : op->is_signed ? 's'
					      : 'u',
			      op->size * 8);
	}
	if (!types->len)
		nw_buf_adds(types, "none");
}

/* Returns the number of the probe's name, or -ENOENT: none of its sites is in the file. */
static int64_t name_of(struct check *check, const char *provider, const char *name,
		       bool add)
{
	nw_cleanup(nw_free_ptr) char *text = nw_text("%s:%s", provider, name);

	if (!text)
		return -ENOMEM;
	return add ? nw_index_add(&check->names, text, strlen(text))
		   : nw_index_find(&check->names, text, strlen(text));
}

/* Compares the types of a site's arguments with those of the probe's first site; keeps `types` if it is the first. */
static void compare_types(struct check *check, const struct nw_site *site,
			  struct nw_buf *types)
{
	int64_t number = name_of(check, site->provider, site->name, true);
	struct first_site *first = NULL;

	if (number >= 0 && (size_t)number < check->firsts.count)
		first = &check->firsts.item[number];
	else if (number >= 0 && (first = nw_vec_add(&check->firsts)))
		*first = (struct first_site){site, nw_buf_take(types), false};
	if (!first || !first->types || types->failed) {
		check->failed = true;
		return;
	}
	if (first->site == site || first->disagrees ||
	    strcmp(first->types, nw_buf_str(types)) == 0)
		return;
	first->disagrees = true;
	tell_of_site(
		check, site, "duplicate",
		"its arguments are %s, but %s at the site at 0x%llx: tracers take them for one probe",
		nw_buf_str(types), first->types, (unsigned long long)first->site->vaddr);
}

/* ---- sites -------------------------------------------------------------------------- */

static void check_site(struct check *check, const struct nw_site *site)
{
	struct nw_site_args args;
	struct nw_buf types = {0};

	check->result.sites++;
	check->result.notes++;
	if (nw_site_args_read(check->image, site, check->types, &args) < 0)
		check->failed = true;
	if (!check->image->arch)
		tell_of_site(check, site, "site",
			     "uprobes do not exist for the machine of this file");
	if (site->warning)
		tell_of_site(check, site, "semaphore", "%s", site->warning);
	check_args(check, site, &args, &types);
	compare_types(check, site, &types);
	nw_buf_free(&types);
	nw_site_args_free(&args);
}

/* Unused copies of an inline function are dropped every day: code that was dropped is a problem if the probe has no
 * other site. */
static void check_skipped(struct check *check, const struct nw_skipped *skipped)
{
	check->result.notes++;
	if (skipped->dropped &&
	    name_of(check, skipped->provider, skipped->name, false) != -ENOENT)
		return;
	tell(check, *skipped->name ? "site" : "note", skipped->provider, skipped->name,
	     skipped->vaddr,
	     skipped->dropped ? "the linker dropped the code it stood in" : skipped->why);
}

int nw_check_notes(struct nw_image *image, const struct nw_search *search,
		   const struct nw_types *types, struct nw_output *output,
		   struct nw_checked *out)
{
	struct check check = {.image = image, .output = output, .types = types};

	nw_vec_each (&image->sites, site)
		if (nw_search_wants(search, site->provider, site->name))
			check_site(&check, site);
	nw_vec_each (&image->skipped, skipped)
		if (!*skipped->name ||
		    nw_search_wants(search, skipped->provider, skipped->name))
			check_skipped(&check, skipped);
	check.result.probes = check.firsts.count;
	if (check.result.notes && image->base_problem)
		tell(&check, "base", "", "", 0, image->base_problem);
	if (check.result.notes)
		output->format->checked(output, image, &check.result);
	nw_vec_each (&check.firsts, first)
		free(first->types);
	nw_vec_free(&check.firsts);
	nw_index_free(&check.names);
	*out = check.result;
	return check.failed ? -ENOMEM : 0;
}
