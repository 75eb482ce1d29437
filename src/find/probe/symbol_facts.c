// SPDX-License-Identifier: MIT
/*
 * Finds out whether a function exists, and if not, why. It may be imported (the PLT has a slot, the code is in a
 * library), stripped, mangled, inlined everywhere, a resolver of an ifunc, or misspelt.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select.h"

/* ---- names that are like it --------------------------------------------------------- */

struct wanted {
	const char *name;
	size_t len;
	struct nw_buf clones;
	char mangled[512];
	char rehashed[512];
};

static void add_name(struct nw_buf *list, const char *name)
{
	nw_buf_printf(list, "%s%s", list->len ? ", " : "", name);
}

static int consider(const struct nw_symbol *symbol, void *arg)
{
	struct wanted *wanted = arg;

	if (!symbol->function || symbol->undefined)
		return 0;
	/* gcc and clang copy and cut functions: f.constprop.0, f.isra.0, f.part.0, f.cold, f.llvm.123. */
	if (strncmp(symbol->name, wanted->name, wanted->len) == 0 &&
	    symbol->name[wanted->len] == '.' && wanted->clones.len < 200)
		add_name(&wanted->clones, symbol->name);
	if (nw_mangled_is(symbol->name, wanted->name) && !*wanted->mangled)
		snprintf(wanted->mangled, sizeof(wanted->mangled), "%s", symbol->name);
	if (nw_differs_by_hash(symbol->name, wanted->name) && !*wanted->rehashed)
		snprintf(wanted->rehashed, sizeof(wanted->rehashed), "%s", symbol->name);
	return 0;
}

static int find_alike(struct nw_image *image, const char *name, struct nw_symbol_facts *out)
{
	struct wanted wanted = {.name = name, .len = strlen(name)};
	struct nw_near found = {0};
	struct nw_buf near = {0};
	int ret = nw_image_each_symbol(image, consider, &wanted);

	if (ret == 0)
		ret = nw_near_functions(image, name, &found);
	nw_near_list(&found, &near);
	if (near.len)
		out->near = nw_buf_take(&near);
	if (*wanted.mangled)
		out->mangled = strdup(wanted.mangled);
	if (*wanted.rehashed)
		out->rehashed = strdup(wanted.rehashed);
	if (wanted.clones.len)
		out->clones = nw_buf_take(&wanted.clones);
	nw_buf_free(&wanted.clones);
	nw_buf_free(&near);
	return ret;
}

/* ---- other files -------------------------------------------------------------------- */

static bool defines(struct nw_image *image, const char *name)
{
	struct nw_symbol symbol;

	return nw_image_symbol(image, name, strlen(name), 0, &symbol) == 0 &&
	       symbol.function;
}

/* Looks for the definition in the files of the process, or in those that the dynamic linker would load. */
static void find_definition(const struct nw_image *image, const char *name, pid_t pid,
			    struct nw_symbol_facts *out)
{
	nw_images mapped = {0};
	int ret = pid ? nw_process_images(pid, true, false, &mapped, NULL)
		      : nw_locate_needed(image->path, false, &mapped, NULL);

	nw_vec_each (&mapped, other) {
		bool self = (*other)->ino == image->ino && (*other)->dev == image->dev;
		if (ret == 0 && !out->defined_in && !self && defines(*other, name))
			out->defined_in = strdup((*other)->path);
	}
	nw_images_free(&mapped);
}

/* ---- other names -------------------------------------------------------------------- */

struct same_place {
	const char *name;
	uint64_t vaddr;
	struct nw_buf names;
	unsigned int count;
};

/* Skips the symbol itself: it is in .symtab and in .dynsym, there with its version. */
static int consider_alias(const struct nw_symbol *symbol, void *arg)
{
	enum {
		MOST = 3
	};
	struct same_place *place = arg;
	size_t len = strcspn(symbol->name, "@");

	if (!symbol->function || symbol->undefined || symbol->value != place->vaddr ||
	    (strlen(place->name) == len && strncmp(symbol->name, place->name, len) == 0))
		return 0;
	nw_cleanup(nw_free_ptr) char *name = strndup(symbol->name, len);
	if (!name || strstr(nw_buf_str(&place->names), name) || place->count++ >= MOST)
		return name ? 0 : -ENOMEM;
	add_name(&place->names, name);
	return 0;
}

/* Finds other names of a function, including functions that the linker has folded into one (--icf). */
static int find_aliases(struct nw_image *image, const char *name, uint64_t vaddr,
			struct nw_symbol_facts *out)
{
	struct same_place place = {.name = name, .vaddr = vaddr};
	int ret = nw_image_each_symbol(image, consider_alias, &place);

	if (place.names.len)
		out->aliases = nw_buf_take(&place.names);
	nw_buf_free(&place.names);
	return ret;
}

/* ---- the whole ---------------------------------------------------------------------- */

static enum nw_symbol_state state_of(const struct nw_image *image, int ret,
				     const struct nw_symbol *symbol)
{
	if (ret == -ENXIO)
		return NW_SYMBOL_IMPORTED;
	if (ret == -ENOTUNIQ)
		return NW_SYMBOL_AMBIGUOUS;
	if (ret < 0)
		return NW_SYMBOL_MISSING;
	/* Hand-written assembly often gives its functions neither a type nor a size. */
	bool in_code = !symbol->object && nw_image_offset(image, symbol->value, true) >= 0;
	return symbol->function || in_code ? NW_SYMBOL_FOUND : NW_SYMBOL_DATA;
}

static bool has_note(const struct nw_image *image, const char *name)
{
	nw_vec_each (&image->sites, site)
		if (nw_glob_match(name, site->name))
			return true;
	return false;
}

int nw_symbol_inspect(struct nw_image *image, const char *name, pid_t pid,
		      struct nw_symbol_facts *out, struct nw_error *err)
{
	struct nw_symbol_facts facts = {.inlined = nw_count_inlined(image, name)};
	struct nw_symbol symbol = {0};
	int ret = nw_image_symbol(image, name, strlen(name), 0, &symbol);

	if (ret == -ENOMEM)
		return nw_no_memory(err);
	facts.state = state_of(image, ret, &symbol);
	facts.stripped = !nw_image_has_symtab(image);
	facts.is_note = has_note(image, name);
	facts.has_notes = image->sites.count > 0;
	if (ret == 0) {
		facts.vaddr = symbol.value;
		facts.size = symbol.size;
		facts.ifunc = symbol.ifunc;
		facts.barred = symbol.barred;
	}
	if (facts.ifunc && pid)
		nw_ifunc_target(image, &symbol, pid, &facts.implementation,
				&facts.implementation_file);
	if (facts.state == NW_SYMBOL_IMPORTED || facts.state == NW_SYMBOL_MISSING)
		find_definition(image, name, pid, &facts);
	if (facts.state == NW_SYMBOL_MISSING && find_alike(image, name, &facts) < 0) {
		nw_symbol_facts_free(&facts);
		return nw_no_memory(err);
	}
	if (facts.state == NW_SYMBOL_FOUND &&
	    find_aliases(image, name, facts.vaddr, &facts) < 0) {
		nw_symbol_facts_free(&facts);
		return nw_no_memory(err);
	}
	*out = facts;
	return 0;
}

void nw_symbol_facts_free(struct nw_symbol_facts *facts)
{
	free(facts->mangled);
	free(facts->rehashed);
	free(facts->near);
	free(facts->clones);
	free(facts->aliases);
	free(facts->defined_in);
	free(facts->implementation);
	free(facts->implementation_file);
	*facts = (struct nw_symbol_facts){0};
}
