// SPDX-License-Identifier: MIT
/*
 * Finds the source line of an address, and the functions that the compiler has inlined there, from the DWARF of the file or its debug file, by libdw.
 */
#include "lines.h"

#ifdef NW_HAVE_LIBDW

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "find/elf/symbol.h"

int nw_lines_open(const struct nw_image *image, struct nw_lines **out)
{
	struct nw_lines *lines = calloc(1, sizeof(*lines));

	*out = lines;
	if (!lines)
		return -ENOMEM;
	lines->fd = -1;
	errno = 0;
	if (nw_info_open(image, image->fd, &lines->info))
		return 0;
	int ret = nw_shortage();
	Elf *elf = ret < 0 ? NULL : elf_begin(image->fd, ELF_C_READ, NULL);
	ret = ret < 0 ? ret : nw_shortage();
	if (elf)
		lines->fd = nw_debug_file_open(image, elf);
	if (nw_is_shortage(-lines->fd))
		ret = lines->fd;
	elf_end(elf);
	errno = 0;
	if (lines->fd >= 0 && nw_info_open(image, lines->fd, &lines->info))
		return 0;
	ret = ret < 0 ? ret : nw_shortage();
	nw_lines_free(lines);
	*out = NULL;
	return ret < 0 ? ret : -ENOENT;
}

void nw_lines_free(struct nw_lines *lines)
{
	if (!lines)
		return;
	nw_info_close(&lines->info);
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines);
}

bool nw_find_unit(const struct nw_lines *lines, uint64_t vaddr, Dwarf_Die *out)
{
	Dwarf_Off at = 0, next;
	size_t header;

	if (dwarf_addrdie(lines->info.dwarf, vaddr, out) && dwarf_haspc(out, vaddr) > 0)
		return true;
	for (; dwarf_nextcu(lines->info.dwarf, at, &next, &header, NULL, NULL, NULL) == 0;
	     at = next)
		if (dwarf_offdie(lines->info.dwarf, at + header, out) &&
		    dwarf_haspc(out, vaddr) > 0)
			return true;
	return false;
}

/* Returns the linker's name, which tells more; else the name in the source. */
static const char *name_of(const struct nw_lines *lines, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		return nw_attribute_text(&lines->info.sections, &attribute);
	return nw_attribute_text(&lines->info.sections,
				 dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

unsigned int nw_die_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	dwarf_formudata(dwarf_attr(die, name, &attribute), &value);
	return (unsigned int)value;
}

/* Returns the source line at which an inlined function was called. */
static struct nw_source_line call_of(const struct nw_lines *lines, Dwarf_Die *unit,
				     Dwarf_Die *inlined)
{
	unsigned int file = nw_die_number(inlined, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	if (!file || !nw_unit_has_lines(&lines->info.sections, unit) ||
	    dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
		return (struct nw_source_line){0};
	return (struct nw_source_line){dwarf_filesrc(files, file, NULL, NULL),
				       nw_die_number(inlined, DW_AT_call_line)};
}

/* May the entry contain functions although it has no address? Functions may be in namespaces and types, as in Rust,
 * where dwarf_getscopes() does not look; and of nested inlined functions it returns only the first. */
static bool has_no_address(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return true;
	default:
		return false;
	}
}

static bool is_entered_at(Dwarf_Die *die, uint64_t vaddr)
{
	Dwarf_Addr entry;

	return dwarf_tag(die) == DW_TAG_inlined_subroutine &&
	       dwarf_entrypc(die, &entry) == 0 && entry == vaddr;
}

bool nw_find_scopes(Dwarf_Die *die, struct nw_scopes *out)
{
	Dwarf_Die child;

	if (out->depth == NW_COUNT(out->die) || dwarf_child(die, &child) != 0)
		return false;
	do {
		if (!out->entries)
			return false;
		out->entries--;
		bool around = dwarf_haspc(&child, out->vaddr) > 0 ||
			      (out->entered && is_entered_at(&child, out->vaddr));
		if (!around && !has_no_address(&child))
			continue;
		out->die[out->depth++] = child;
		if (nw_find_scopes(&child, out) || around)
			return true;
		out->depth--;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

void nw_lines_at(struct nw_lines *lines, uint64_t vaddr, struct nw_source_lines *out)
{
	struct nw_scopes scopes = {.vaddr = vaddr,
				   .entries = nw_debug_size(lines->info.elf)};
	Dwarf_Die unit;
	int line = 0;

	*out = (struct nw_source_lines){0};
	if (!nw_find_unit(lines, vaddr, &unit))
		return;
	Dwarf_Line *source = nw_unit_has_lines(&lines->info.sections, &unit)
				     ? dwarf_getsrc_die(&unit, vaddr)
				     : NULL;
	if (source && dwarf_lineno(source, &line) == 0)
		out->line = (struct nw_source_line){dwarf_linesrc(source, NULL, NULL),
						    (unsigned int)line};
	nw_find_scopes(&unit, &scopes);
	while (scopes.depth > 0) {
		Dwarf_Die *scope = &scopes.die[--scopes.depth];
		if (dwarf_tag(scope) == DW_TAG_subprogram)
			break;
		if (dwarf_tag(scope) != DW_TAG_inlined_subroutine)
			continue;
		const char *name = name_of(lines, scope);
		if (name && out->count < NW_MOST_INLINED) {
			out->inlined[out->count].function = name;
			out->inlined[out->count++].line = out->line;
		}
		out->line = call_of(lines, &unit, scope);
	}
}

#else

#include <errno.h>

int nw_lines_open(const struct nw_image *image, struct nw_lines **out)
{
	(void)image;
	*out = NULL;
	return -ENOENT;
}

void nw_lines_free(struct nw_lines *lines)
{
	(void)lines;
}

void nw_lines_at(struct nw_lines *lines, uint64_t vaddr, struct nw_source_lines *out)
{
	(void)lines;
	(void)vaddr;
	*out = (struct nw_source_lines){0};
}

#endif
