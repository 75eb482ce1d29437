// SPDX-License-Identifier: MIT
/*
 * Finds the addresses at which a line of the source begins, from DWARF's line tables, by libdw. A function that is
 * inlined has its lines in each of its callers. Compilers scatter the instructions of a line: as debuggers do, only the
 * lowest address of each copy of a function is taken, so that one execution of the line is one hit at most. In an unrolled
 * loop it may be none: `again` counts the addresses that were passed over.
 */
#include "lines.h"

#ifdef NW_HAVE_LIBDW

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "find/elf/symbol.h"

struct search {
	struct nw_lines *lines;
	const char *source;
	unsigned int line;
	struct nw_line_places *out;
	Dwarf_Die unit;
	uint64_t entries; /* limit of entries that are looked at: files are hostile */
	/* The file of the row before and whether the source means it: rows of one file follow each other. */
	const char *file;
	bool is_source;
};

/* Does "x.c" or "dir/x.c" mean this file? */
static bool means_file(const char *source, const char *file)
{
	size_t len = strlen(source), whole = strlen(file);

	return len <= whole && strcmp(file + whole - len, source) == 0 &&
	       (len == whole || file[whole - len - 1] == '/');
}

/* Is the row of the source file that is searched? The first file that the source means is the only one. */
static bool is_in_source(struct search *s, Dwarf_Line *row)
{
	const char *file = dwarf_linesrc(row, NULL, NULL);

	if (!file || file == s->file)
		return file && s->is_source;
	s->file = file;
	s->is_source = means_file(s->source, file);
	if (!s->is_source)
		return false;
	if (!*s->out->file)
		s->out->file = file;
	s->is_source = strcmp(file, s->out->file) == 0;
	if (!s->is_source)
		s->out->other = file;
	return s->is_source;
}

/* Returns the entry of the function's copy that has the address; 0: it is in none. */
static Dwarf_Off find_copy(struct search *s, uint64_t vaddr)
{
	struct nw_scopes scopes = {.vaddr = vaddr, .entries = s->entries, .entered = true};

	nw_find_scopes(&s->unit, &scopes);
	s->entries = scopes.entries;
	while (scopes.depth > 0) {
		Dwarf_Die *scope = &scopes.die[--scopes.depth];
		int tag = dwarf_tag(scope);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			return dwarf_dieoffset(scope);
	}
	return 0;
}

/* Adds an address, unless its copy of the function has a lower one. The rows of a unit come in the order of addresses. */
static int add_place(struct search *s, uint64_t vaddr)
{
	Dwarf_Off copy = find_copy(s, vaddr);

	nw_vec_each (&s->out->places, known)
		if (known->vaddr == vaddr || (copy && known->copy == copy)) {
			s->out->again += known->vaddr != vaddr;
			return 0;
		}
	if (s->out->places.count == NW_MOST_SOURCE_PLACES) {
		s->out->more = true;
		return 0;
	}
	struct nw_source_place *place = nw_vec_add(&s->out->places);
	if (!place)
		return -ENOMEM;
	*place = (struct nw_source_place){vaddr, copy};
	return 0;
}

static int search_unit(struct search *s)
{
	bool before = false; /* the row before is of the line, too */
	Dwarf_Lines *rows;
	size_t count;
	int ret = 0;

	if (!nw_unit_has_lines(&s->lines->info.sections, &s->unit) ||
	    dwarf_getsrclines(&s->unit, &rows, &count) != 0)
		return 0;
	s->file =
		NULL; /* another unit may have other texts at the same address of memory */
	for (size_t i = 0; ret == 0 && i < count; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		bool begins = false, ends = false;
		Dwarf_Addr vaddr;
		int line = 0;

		dwarf_lineendsequence(row, &ends);
		if (ends || !is_in_source(s, row) || dwarf_lineno(row, &line) != 0 ||
		    dwarf_linebeginstatement(row, &begins) != 0 || !begins || line <= 0) {
			before = false;
			continue;
		}
		bool wanted = (unsigned int)line == s->line;
		if (wanted && !before && dwarf_lineaddr(row, &vaddr) == 0)
			ret = add_place(s, vaddr);
		if ((unsigned int)line > s->line &&
		    (!s->out->next || (unsigned int)line < s->out->next))
			s->out->next = (unsigned int)line;
		before = wanted;
	}
	return ret;
}

int nw_lines_places(struct nw_lines *lines, const char *source, unsigned int line,
		    struct nw_line_places *out)
{
	struct search s = {.lines = lines,
			   .source = source,
			   .line = line,
			   .out = out,
			   .entries = nw_debug_size(lines->info.elf)};
	Dwarf_Off at = 0, next;
	size_t header;
	int ret = 0;

	*out = (struct nw_line_places){.file = "", .other = ""};
	for (; ret == 0 &&
	       dwarf_nextcu(lines->info.dwarf, at, &next, &header, NULL, NULL, NULL) == 0;
	     at = next)
		if (dwarf_offdie(lines->info.dwarf, at + header, &s.unit))
			ret = search_unit(&s);
	return ret;
}

#else

int nw_lines_places(struct nw_lines *lines, const char *source, unsigned int line,
		    struct nw_line_places *out)
{
	(void)lines;
	(void)source;
	(void)line;
	*out = (struct nw_line_places){.file = "", .other = ""};
	return 0;
}

#endif
