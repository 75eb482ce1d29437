// SPDX-License-Identifier: MIT
/*
 * Finds the inlined copies of a function: a probe on the function itself does not fire where the compiler has put
 * its code into callers. Only DWARF tells, so without libdw nothing is known.
 */
#include "lines.h"

#ifdef NW_HAVE_LIBDW

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "find/elf/symbol.h"

struct count {
	const struct nw_debug_sections *sections;
	const char *name;
	struct nw_inlined_copies *copies;
	bool dwarf;	    /* the file has DWARF */
	bool failed;	    /* out of memory */
	uint64_t entries;   /* limit of further entries */
	unsigned int depth; /* limited, because hostile files may nest without end */
};

/* Compares whole names. DWARF calls "app::serve" serve; its linkage name is _ZN3app5serve...E, unless the function is
 * static. */
static bool has_whole_name(Dwarf_Die *die, const char *name, const struct count *count)
{
	const char *last = strrchr(count->name, ':');
	Dwarf_Attribute attribute;
	const char *linkage;

	if (!last && strncmp(count->name, "_Z", 2) != 0 &&
	    strncmp(count->name, "_R", 2) != 0)
		return false;
	linkage = nw_attribute_text(
		count->sections, dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
	if (!linkage)
		return last && name && strcmp(name, last + 1) == 0;
	return strcmp(linkage, count->name) == 0 || nw_mangled_is(linkage, count->name) ||
	       nw_differs_by_hash(linkage, count->name);
}

static void add_copy(Dwarf_Die *die, struct count *count)
{
	nw_source_places *entries = &count->copies->entries;
	Dwarf_Addr entry;

	count->copies->count++;
	if (entries->count == NW_MOST_SOURCE_PLACES || dwarf_entrypc(die, &entry) != 0)
		return;
	struct nw_source_place *place = nw_vec_add(entries);
	if (place)
		*place = (struct nw_source_place){entry, dwarf_dieoffset(die)};
	count->failed |= !place;
}

static void count_below(Dwarf_Die *die, struct count *count)
{
	enum {
		DEEPEST = 64
	};
	Dwarf_Die child;

	if (count->depth >= DEEPEST || dwarf_child(die, &child) != 0)
		return;
	count->depth++;
	do {
		/* There may be as many entries as bytes; in a damaged file the next sibling may be a child, or the
		 * entry itself. */
		if (!count->entries)
			break;
		count->entries--;
		if (dwarf_tag(&child) == DW_TAG_inlined_subroutine) {
			Dwarf_Attribute attribute;
			const char *name = nw_attribute_text(
				count->sections,
				dwarf_attr_integrate(&child, DW_AT_name, &attribute));
			if ((name && strcmp(name, count->name) == 0) ||
			    has_whole_name(&child, name, count))
				add_copy(&child, count);
		}
		count_below(&child, count);
	} while (dwarf_siblingof(&child, &child) == 0);
	count->depth--;
}

int nw_lines_inlined(struct nw_lines *lines, const char *name,
		     struct nw_inlined_copies *out)
{
	const struct nw_info *info = &lines->info;
	struct count count = {.sections = &info->sections,
			      .name = name,
			      .copies = out,
			      .entries = nw_debug_size(info->elf)};
	Dwarf_Off at = 0, next;
	size_t header;

	*out = (struct nw_inlined_copies){0};
	while (count.entries &&
	       dwarf_nextcu(info->dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;
		if (dwarf_offdie(info->dwarf, at + header, &unit)) {
			count.dwarf = true;
			count_below(&unit, &count);
		}
		at = next;
	}
	if (!count.dwarf || !count.entries)
		out->count = -1;
	return count.failed ? -ENOMEM : 0;
}

#else

int nw_lines_inlined(struct nw_lines *lines, const char *name,
		     struct nw_inlined_copies *out)
{
	(void)lines;
	(void)name;
	*out = (struct nw_inlined_copies){.count = -1};
	return 0;
}

#endif
