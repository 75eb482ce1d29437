// SPDX-License-Identifier: MIT
/*
 * Decides what libdw may read in a hostile file. libdw assumes that string sections end with a NUL, and that a string
 * in .debug_info ends there; sections.h tells what is checked before.
 */
#include "sections.h"

#ifdef NW_HAVE_LIBDW

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

#include "find/elf/budget.h"

/* Returns the name without prefixes for packed sections and link-time sections, all of which libdw accepts. */
static const char *plain_name(const char *name)
{
	static const char link_time[] = ".gnu.debuglto_";
	const size_t skipped = strncmp(name, link_time, sizeof(link_time) - 1) == 0
				       ? sizeof(link_time) - 1
				       : 0;

	name += skipped;
	return strncmp(name, ".zdebug_", 8) == 0  ? name + 8
	       : strncmp(name, ".debug_", 7) == 0 ? name + 7
						  : "";
}

static struct nw_section_bytes *slot_of(struct nw_debug_sections *out, const char *name)
{
	const struct {
		const char *name;
		struct nw_section_bytes *slot;
	} slots[] = {
		{"info", &out->info}, {"types", &out->types},	    {"line", &out->line},
		{"str", &out->str},   {"line_str", &out->line_str},
	};
	const char *plain = plain_name(name);
	const size_t len = strcspn(plain, "."); /* without ".dwo" */

	for (size_t i = 0; i < NW_COUNT(slots); i++)
		if (len && strlen(slots[i].name) == len &&
		    strncmp(plain, slots[i].name, len) == 0)
			return slots[i].slot;
	return NULL;
}

static bool ends_with_nul(struct nw_section_bytes bytes)
{
	return !bytes.size || bytes.data[bytes.size - 1] == '\0';
}

bool nw_debug_sections_find(Elf *elf, struct nw_debug_sections *out)
{
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr header;
	GElf_Ehdr file;
	size_t names;

	*out = (struct nw_debug_sections){.big_endian = false};
	if (!gelf_getehdr(elf, &file) || elf_getshdrstrndx(elf, &names) != 0)
		return false;
	out->big_endian = file.e_ident[EI_DATA] == ELFDATA2MSB;
	while ((section = nw_next_section(elf, section, &header, &name))) {
		struct nw_section_bytes *slot = header.sh_type != SHT_NOBITS
							? slot_of(out, name)
							: NULL;
		Elf_Data *data = slot ? elf_getdata(section, NULL) : NULL;
		if (!data || !data->d_buf)
			continue;
		if (slot->data)
			return false;
		*slot = (struct nw_section_bytes){data->d_buf, data->d_size};
	}
	return ends_with_nul(out->str) && ends_with_nul(out->line_str);
}

static bool ends_within(struct nw_section_bytes bytes, const char *text)
{
	const uintptr_t begin = (uintptr_t)bytes.data, at = (uintptr_t)text;

	return bytes.data && at >= begin && at - begin < bytes.size &&
	       memchr(text, '\0', bytes.size - (at - begin));
}

static bool ends_in_section(const struct nw_debug_sections *sections, const char *text)
{
	return ends_within(sections->info, text) || ends_within(sections->types, text) ||
	       ends_within(sections->str, text) || ends_within(sections->line_str, text);
}

/* The attribute may belong to either file, and so may its text: an index may lead to the very end. */
const char *nw_attribute_text(const struct nw_debug_sections *sections,
			      Dwarf_Attribute *attribute)
{
	const char *text = dwarf_formstring(attribute); /* NULL is accepted */

	if (!text || ends_in_section(sections, text) ||
	    (sections->shared && ends_in_section(sections->shared, text)))
		return text;
	return NULL;
}

bool nw_unit_has_lines(const struct nw_debug_sections *sections, Dwarf_Die *unit)
{
	Dwarf_Attribute table, directory;
	Dwarf_Word at;

	if (dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &table), &at) != 0)
		return false;
	if (dwarf_attr(unit, DW_AT_comp_dir, &directory) &&
	    !nw_attribute_text(sections, &directory))
		return false;
	return nw_line_table_is_sound(sections->line, at, sections->big_endian);
}

#endif
