/* SPDX-License-Identifier: MIT */
/*
 * Checks of sections that libdw would read beyond their ends: some releases trust the lengths in line tables and
 * strings.
 */
#ifndef NOPWATCH_FIND_DWARF_SECTIONS_H
#define NOPWATCH_FIND_DWARF_SECTIONS_H

#include "find/dwarf/dwarf.h"

struct nw_section_bytes {
	const uint8_t *data; /* NULL: the file has no such section */
	size_t size;
};

/*
 * May libdw read the line table at this offset of .debug_line? Its length, its header's length, and its tables of
 * directories and files must end within it and within the section. Strings of other files are refused, too, because
 * libdw would open those files.
 */
bool nw_line_table_is_sound(struct nw_section_bytes section, uint64_t at, bool big_endian);

#ifdef NW_HAVE_LIBDW

#include <elfutils/libdw.h>

/* The sections of strings and line tables, as libdw sees them. The data belong to the Elf. */
struct nw_debug_sections {
	struct nw_section_bytes info, types, line, str, line_str;
	bool big_endian;
	/* The sections of the file that several debug files share; NULL: there is none. */
	const struct nw_debug_sections *shared;
};

/* Must be called after dwarf_begin_elf(), which unpacks the sections. Returns false if libdw must not read names and
 * lines of this file: it has two sections of one kind, or strings without an end. */
bool nw_debug_sections_find(Elf *elf, struct nw_debug_sections *out);
/* Returns the string of an attribute; NULL: there is none, or it does not end within its section. attribute may be
 * NULL. */
const char *nw_attribute_text(const struct nw_debug_sections *sections,
			      Dwarf_Attribute *attribute);
/* May libdw read the lines and files of a unit? */
bool nw_unit_has_lines(const struct nw_debug_sections *sections, Dwarf_Die *unit);

#endif
#endif
