// SPDX-License-Identifier: MIT
/*
 * How often a function was inlined: a probe on the copy that is left never fires where the
 * compiler put the code into its callers. Only DWARF tells; without libdw nothing does.
 */
#include "nopwatch/look.h"

#ifdef NW_HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

struct count {
	const char *name;
	int copies;
	bool dwarf;	    /* there is some */
	unsigned int depth; /* hostile files may nest without end */
};

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(
		dwarf_attr_integrate(die, DW_AT_name, &attribute)); /* NULL is taken */
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
		if (dwarf_tag(&child) == DW_TAG_inlined_subroutine) {
			const char *name = name_of(&child);
			count->copies += name && strcmp(name, count->name) == 0;
		}
		count_below(&child, count);
	} while (dwarf_siblingof(&child, &child) == 0);
	count->depth--;
}

static int count_in(Dwarf *dwarf, const char *name)
{
	struct count count = {.name = name};
	Dwarf_Off at = 0, next;
	size_t header;

	while (dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;
		if (dwarf_offdie(dwarf, at + header, &unit)) {
			count.dwarf = true;
			count_below(&unit, &count);
		}
		at = next;
	}
	return count.dwarf ? count.copies : -1;
}

/* dwarf_begin() would map the file, and a file that shrinks would kill us. */
int nw_count_inlined(const struct nw_image *image, const char *name)
{
	Elf *elf = elf_begin(image->fd, ELF_C_READ, NULL);
	Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	int copies = dwarf ? count_in(dwarf, name) : -1;

	dwarf_end(dwarf);
	elf_end(elf);
	return copies;
}

#else

int nw_count_inlined(const struct nw_image *image, const char *name)
{
	(void)image;
	(void)name;
	return -1;
}

#endif
