/* SPDX-License-Identifier: MIT */
/*
 * Limits on the work that reading an ELF file may cause. A hostile file may refer to one table from a thousand
 * headers, or to one name from a million symbols. Time and memory grow with the real bytes of the file and not with
 * the numbers in its headers; docs/dev/limits.md lists all limits.
 */
#ifndef NOPWATCH_FIND_ELF_BUDGET_H
#define NOPWATCH_FIND_ELF_BUDGET_H

#include <gelf.h>
#include <libelf.h>

#include "find/elf/elf.h"

enum {
	NW_MOST_PROBES = 16384,	 /* probes of different names in a run; libjvm.so has 500 */
	NW_MOST_SEGMENTS = 1024, /* segments to load; a program has less than ten */
	NW_MOST_NAMESAKES = 4096, /* symbols of one name that are compared */
	NW_MOST_NEEDED = 4096,	  /* libraries (DT_NEEDED) of a file */
	NW_MOST_RUN_PATHS = 64,	  /* directories in its run path */
	NW_TIMES_NAMES = 16, /* bytes of symbol names, as a multiple of the file's size */
	/* Bytes of unpacked debugging information, as a multiple of the file's size. */
	NW_TIMES_DEBUG = 16,
	NW_LEAST_DEBUG = 64 << 20,   /* this many bytes of it are always allowed */
	NW_MOST_GOT_WORK = 64 << 20, /* relocations examined for all operands of a file */
	NW_MOST_HASHED = 64 << 20 /* bytes of code that are hashed for a file's identity */
};

/* The bytes of sections that may still be read of a file. Sections of an honest file do not overlap, so reading
 * each section once, and a string table once for each table that uses it, needs at most twice the file's size. */
struct nw_section_budget {
	uint64_t left;
	bool spent; /* a section was not read for lack of budget */
};

static inline struct nw_section_budget nw_section_budget(uint64_t file_size)
{
	return (struct nw_section_budget){.left = 2 * file_size + 65536};
}

/* Takes the section's size from the budget. Returns false if the budget is too small. */
static inline bool nw_section_afford(struct nw_section_budget *budget,
				     const GElf_Shdr *header)
{
	if (header->sh_type == SHT_NOBITS)
		return true;
	if (header->sh_size > budget->left) {
		budget->spent = true;
		return false;
	}
	budget->left -= header->sh_size;
	return true;
}

/* Does the same for the string table that belongs to a table. */
static inline bool nw_section_afford_names(struct nw_section_budget *budget, Elf *elf,
					   const GElf_Shdr *table)
{
	Elf_Scn *strings = elf_getscn(elf, table->sh_link);
	GElf_Shdr header;

	return strings && gelf_getshdr(strings, &header) &&
	       nw_section_afford(budget, &header);
}

/* Returns the next section that has a name; NULL: there is none. section: NULL at first. */
static inline Elf_Scn *nw_next_section(Elf *elf, Elf_Scn *section, GElf_Shdr *header,
				       const char **name)
{
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		*name = gelf_getshdr(section, header)
				? elf_strptr(elf, names, header->sh_name)
				: NULL;
		if (*name)
			break;
	}
	return section;
}

#endif
