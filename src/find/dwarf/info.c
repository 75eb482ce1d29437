// SPDX-License-Identifier: MIT
/*
 * See info.h. Debug files may share data in a file that they name (.gnu_debugaltlink). libdw opens that file by
 * itself as soon as it needs it, whatever the name is, unless it was given one before.
 */
#include "info.h"

#ifdef NW_HAVE_LIBDW

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "find/elf/budget.h"
#include "find/elf/symbol.h"

/* dwarf_begin() is not used: it would map the file, and a file that shrinks would kill us. In the reader process only
 * that process would die, so the file is mapped there, and large files need no memory. */
static Dwarf *open_dwarf(const struct nw_image *image, int fd, Elf **elf)
{
	const off_t size = lseek(fd, 0, SEEK_END);
	const Elf_Cmd how = image->debug_files ? ELF_C_READ_MMAP : ELF_C_READ;

	*elf = size > 0 ? elf_begin(fd, how, NULL) : NULL;
	return *elf && nw_debug_size(*elf) <=
				       NW_LEAST_DEBUG + NW_TIMES_DEBUG * (uint64_t)size
		       ? dwarf_begin_elf(*elf, DWARF_C_READ, NULL)
		       : NULL;
}

/* ---- what is shared ----------------------------------------------------------------- */

/* An empty file of debugging information: one byte of .debug_info. */
struct empty {
	Elf64_Ehdr header;
	char names[32];
	Elf64_Shdr sections[3];
};

static char *make_empty(void)
{
	static const char names[] = "\0.shstrtab\0.debug_info";
	const size_t at = offsetof(struct empty, names);
	struct empty *empty = calloc(1, sizeof(*empty));

	if (!empty)
		return NULL;
	empty->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB
								   : ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_version = EV_CURRENT,
		.e_shoff = offsetof(struct empty, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = NW_COUNT(empty->sections),
		.e_shstrndx = 1};
	memcpy(empty->names, names, sizeof(names));
	empty->sections[1] = (Elf64_Shdr){.sh_name = 1,
					  .sh_type = SHT_STRTAB,
					  .sh_offset = at,
					  .sh_size = sizeof(names),
					  .sh_addralign = 1};
	empty->sections[2] = (Elf64_Shdr){.sh_name = 11,
					  .sh_type = SHT_PROGBITS,
					  .sh_offset = at,
					  .sh_size = 1,
					  .sh_addralign = 1};
	return (char *)empty;
}

static void close_shared(struct nw_shared_info *shared)
{
	dwarf_end(shared->dwarf);
	elf_end(shared->elf);
	free(shared->empty);
	if (shared->fd >= 0)
		close(shared->fd);
	*shared = (struct nw_shared_info){.fd = -1};
}

static bool open_shared(const struct nw_image *image, struct nw_info *info)
{
	struct nw_shared_info *shared = &info->shared;

	shared->fd = nw_shared_debug_open(image, info->elf);
	if (shared->fd >= 0)
		shared->dwarf = open_dwarf(image, shared->fd, &shared->elf);
	if (!shared->dwarf || !nw_debug_sections_find(shared->elf, &shared->sections)) {
		close_shared(shared);
		shared->empty = make_empty();
		shared->elf = shared->empty
				      ? elf_memory(shared->empty, sizeof(struct empty))
				      : NULL;
		shared->dwarf = shared->elf
					? dwarf_begin_elf(shared->elf, DWARF_C_READ, NULL)
					: NULL;
	}
	info->sections.shared = &shared->sections;
	if (shared->dwarf)
		dwarf_setalt(info->dwarf, shared->dwarf);
	return shared->dwarf != NULL;
}

/* ---- the whole ---------------------------------------------------------------------- */

bool nw_info_open(const struct nw_image *image, int fd, struct nw_info *out)
{
	Dwarf_Off next;
	size_t header;

	*out = (struct nw_info){.shared.fd = -1};
	out->dwarf = open_dwarf(image, fd, &out->elf);
	if (out->dwarf && nw_debug_sections_find(out->elf, &out->sections) &&
	    open_shared(image, out) &&
	    dwarf_nextcu(out->dwarf, 0, &next, &header, NULL, NULL, NULL) == 0)
		return true;
	nw_info_close(out);
	return false;
}

void nw_info_close(struct nw_info *info)
{
	if (!info->elf)
		return;
	dwarf_end(info->dwarf);
	elf_end(info->elf);
	close_shared(&info->shared);
	*info = (struct nw_info){0};
}

#endif
