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
	bool dwarf; /* the file has DWARF */
	/* Only the functions themselves are looked at, not their copies: `inlinable` tells whether one may have copies. */
	bool functions, inlinable;
	bool partial;	    /* the unit is read as a part of others */
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

static bool has_attribute(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) != NULL;
}

static bool has_name(Dwarf_Die *die, const struct count *count)
{
	Dwarf_Attribute attribute;
	const char *name = nw_attribute_text(
		count->sections, dwarf_attr_integrate(die, DW_AT_name, &attribute));

	return (name && strcmp(name, count->name) == 0) || has_whole_name(die, name, count);
}

/* Is this a function to which its copies may refer? It says so, or has no code of its own. A declaration is one if it belongs to a
 * class, or if several units share it (dwz): each C file declares the functions of others that it calls. */
static bool may_be_inlined(Dwarf_Die *die, const struct count *count)
{
	if (!has_attribute(die, DW_AT_inline)) {
		if (has_attribute(die, DW_AT_low_pc) || has_attribute(die, DW_AT_ranges))
			return false;
		if (has_attribute(die, DW_AT_declaration) && count->depth == 1 &&
		    !count->partial)
			return false;
	}
	return has_name(die, count);
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
		const int tag = dwarf_tag(&child);
		if (count->functions && tag == DW_TAG_subprogram)
			count->inlinable |= may_be_inlined(&child, count);
		else if (!count->functions && tag == DW_TAG_inlined_subroutine &&
			 has_name(&child, count))
			add_copy(&child, count);
		count_below(&child, count);
	} while (dwarf_siblingof(&child, &child) == 0);
	count->depth--;
}

/* ---- units that do not have the name ------------------------------------------------ */

/* To read every entry of the C library takes 0.2 s. Entries refer to their names by offset in .debug_str, so a unit that has none
 * of the name's offsets among its bytes, nor the name itself, has no entry of that name. */
struct mentions {
	const char *name;
	size_t count;
	/* As entries have them. In 64 bits the other half is zero, as the first 4 GiB are all that is looked at. */
	uint8_t offsets[16][4];
	bool unknown; /* there are more, or the unit's strings are told in another way */
};

static void find_mentions(const struct nw_debug_sections *sections, struct mentions *out)
{
	const struct nw_section_bytes str = sections->str;
	const size_t size = strlen(out->name) + 1;
	const uint8_t *at = str.data;

	while (at &&
	       (at = memmem(at, str.size - (size_t)(at - str.data), out->name, size))) {
		const uint64_t offset = (uint64_t)(at++ - str.data);
		if (out->count == NW_COUNT(out->offsets) || offset > UINT32_MAX) {
			out->unknown = true;
			return;
		}
		for (unsigned int i = 0; i < 4; i++)
			out->offsets[out->count][i] =
				(uint8_t)(offset >> 8 * (sections->big_endian ? 3 - i : i));
		out->count++;
	}
}

static bool has_mention(const uint8_t *bytes, size_t size, const struct mentions *mentions)
{
	if (memmem(bytes, size, mentions->name, strlen(mentions->name) + 1))
		return true;
	for (size_t i = 0; i < mentions->count; i++)
		if (memmem(bytes, size, mentions->offsets[i], sizeof(mentions->offsets[i])))
			return true;
	return false;
}

/* Reads all units, or those that may have the name. */
static void read_units(const struct nw_info *info, const struct mentions *mentions,
		       struct count *count)
{
	const struct nw_section_bytes bytes = info->sections.info;
	Dwarf_Off at = 0, next;
	size_t header;

	while (count->entries &&
	       dwarf_nextcu(info->dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;
		if (dwarf_offdie(info->dwarf, at + header, &unit)) {
			count->dwarf = true;
			count->partial = dwarf_tag(&unit) == DW_TAG_partial_unit;
			if (!mentions || at > bytes.size || next > bytes.size ||
			    has_attribute(&unit, DW_AT_str_offsets_base) ||
			    has_mention(bytes.data + at, next - at, mentions))
				count_below(&unit, count);
		}
		at = next;
	}
}

/* May a function of this name have copies? False is certain: a name of
 * several parts, or one that the compiler has made, is written in other ways, too. */
static bool may_have_copies(const struct nw_info *info, struct count *count)
{
	const struct nw_debug_sections *shared = info->sections.shared;
	struct mentions mentions = {.name = count->name};

	if (strchr(count->name, ':') || strncmp(count->name, "_Z", 2) == 0 ||
	    strncmp(count->name, "_R", 2) == 0)
		return true;
	if (shared)
		find_mentions(shared, &mentions);
	if (mentions.unknown ||
	    (shared && shared->info.data &&
	     has_mention(shared->info.data, shared->info.size, &mentions)))
		return true;
	find_mentions(&info->sections, &mentions);
	if (mentions.unknown)
		return true;
	count->functions = true;
	read_units(info, &mentions, count);
	count->functions = false;
	return count->inlinable || !count->entries;
}

int nw_lines_inlined(struct nw_lines *lines, const char *name,
		     struct nw_inlined_copies *out)
{
	const struct nw_info *info = &lines->info;
	struct count count = {.sections = &info->sections,
			      .name = name,
			      .copies = out,
			      .entries = nw_debug_size(info->elf)};

	*out = (struct nw_inlined_copies){0};
	if (may_have_copies(info, &count))
		read_units(info, NULL, &count);
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
