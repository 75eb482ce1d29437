/* SPDX-License-Identifier: MIT */
/*
 * The sections that libdw is not asked about, because it would read past their ends: some releases trust the lengths
 * in line tables and strings.
 */
#ifndef NOPWATCH_FIND_DWARF_SECTIONS_H
#define NOPWATCH_FIND_DWARF_SECTIONS_H

#include "nopwatch/dwarf.h"

struct nw_section_bytes {
	const uint8_t *data; /* NULL: the file has no such section */
	size_t size;
};

/*
 * May libdw read the line table that begins at this offset of .debug_line? Its length, its header's length, and its tables of
 * directories and files must end where they say, within the section. Strings of other files are refused, too: libdw would open them.
 */
bool nw_line_table_is_sound(struct nw_section_bytes section, uint64_t at, bool big_endian);

#ifdef NW_HAVE_LIBDW

#include <elfutils/libdw.h>

/* The sections that strings and line tables are in, as libdw sees them: its data, which live as long as the Elf does. */
struct nw_debug_sections {
	struct nw_section_bytes info, types, line, str, line_str;
	bool big_endian;
};

/* Call it after dwarf_begin_elf(), which unpacks them. False: libdw must not be asked about this file's names and lines: it has
 * two sections of one kind, or strings without an end. */
bool nw_debug_sections_find(Elf *elf, struct nw_debug_sections *out);
/* The string of an attribute; NULL: it has none, or one that does not end within its section. NULL is taken. */
const char *nw_attribute_text(const struct nw_debug_sections *sections,
			      Dwarf_Attribute *attribute);
/* May libdw be asked for the lines and files of a unit? */
bool nw_unit_has_lines(const struct nw_debug_sections *sections, Dwarf_Die *unit);

#endif
#endif
