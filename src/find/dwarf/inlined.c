// SPDX-License-Identifier: MIT
/*
 * Counts the inlined copies of a function: a probe on the function itself does not fire where the compiler has put
 * its code into callers. Only DWARF tells, so without libdw the number is unknown.
 */
#include "reader.h"

#ifdef NW_HAVE_LIBDW

#include <dwarf.h>
#include <string.h>

#include "find/elf/symbol.h"
#include "info.h"

struct count {
	const struct nw_debug_sections *sections;
	const char *name;
	int copies;
	bool dwarf;	    /* the file has DWARF */
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
			count->copies += (name && strcmp(name, count->name) == 0) ||
					 has_whole_name(&child, name, count);
		}
		count_below(&child, count);
	} while (dwarf_siblingof(&child, &child) == 0);
	count->depth--;
}

static int count_in(const struct nw_info *info, const char *name)
{
	struct count count = {.sections = &info->sections,
			      .name = name,
			      .entries = nw_debug_size(info->elf)};
	Dwarf_Off at = 0, next;
	size_t header;

	while (count.entries &&
	       dwarf_nextcu(info->dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;
		if (dwarf_offdie(info->dwarf, at + header, &unit)) {
			count.dwarf = true;
			count_below(&unit, &count);
		}
		at = next;
	}
	return count.dwarf && count.entries ? count.copies : -1;
}

int nw_inlined_read(const struct nw_image *image, const char *name)
{
	struct nw_info info;
	int copies = -1;

	if (nw_info_open(image, image->fd, &info))
		copies = count_in(&info, name);
	nw_info_close(&info);
	return copies;
}

#else

int nw_inlined_read(const struct nw_image *image, const char *name)
{
	(void)image;
	(void)name;
	return -1;
}

#endif
