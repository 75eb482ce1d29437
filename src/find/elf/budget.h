/* SPDX-License-Identifier: MIT */
/*
 * The limits of reading a file. Files are hostile: a thousand headers may point at one table, a million symbols at
 * one name. Time and memory grow with the bytes that are really there, and not with what they say of themselves;
 * docs/dev/limits.md lists all limits.
 */
#ifndef NOPWATCH_FIND_ELF_BUDGET_H
#define NOPWATCH_FIND_ELF_BUDGET_H

#include <gelf.h>
#include <libelf.h>

#include "nopwatch/elf.h"

enum {
	NW_MOST_PROBES = 8192,	     /* of different names, in a run; libjvm.so has 500 */
	NW_MOST_SEGMENTS = 1024,     /* to load; a program has less than ten */
	NW_MOST_NAMESAKES = 4096,    /* symbols of one name that are told apart */
	NW_MOST_NEEDED = 4096,	     /* libraries that a file says it needs, and */
	NW_MOST_RUN_PATHS = 64,	     /* places where it wants them looked for */
	NW_TIMES_NAMES = 16,	     /* bytes of symbols' names, in sizes of the file */
	NW_TIMES_DEBUG = 16,	     /* unpacked debugging information, likewise, */
	NW_LEAST_DEBUG = 64 << 20,   /* or this much of it */
	NW_MOST_GOT_WORK = 64 << 20, /* relocations looked at, for all operands of a file */
	NW_MOST_HASHED = 64 << 20    /* bytes of code, for the identity of a file */
};

/* How many bytes of sections may be read of a file. In an honest file sections do not overlap, so
 * that reading each of them once, and a string table once for each table that uses it, stays within
 * twice the file's size. */
struct nw_section_budget {
	uint64_t left;
	bool spent; /* something was not read */
};

static inline struct nw_section_budget nw_section_budget(uint64_t file_size)
{
	return (struct nw_section_budget){.left = 2 * file_size + 65536};
}

/* May the section be read? */
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

/* The same for the string table of a table. */
static inline bool nw_section_afford_names(struct nw_section_budget *budget, Elf *elf,
					   const GElf_Shdr *table)
{
	Elf_Scn *strings = elf_getscn(elf, table->sh_link);
	GElf_Shdr header;

	return strings && gelf_getshdr(strings, &header) &&
	       nw_section_afford(budget, &header);
}

#endif
