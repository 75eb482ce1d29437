/* SPDX-License-Identifier: MIT */
/* The DWARF of a file, opened so that libdw opens no files by itself. */
#ifndef NOPWATCH_FIND_DWARF_INFO_H
#define NOPWATCH_FIND_DWARF_INFO_H

#include "sections.h"

#ifdef NW_HAVE_LIBDW

#include <elfutils/libdw.h>

/* The file that debug files share (dwz). */
struct nw_shared_info {
	int fd; /* -1: there is none, and `elf` is in `empty` */
	char *empty;
	Elf *elf;
	Dwarf *dwarf;
	struct nw_debug_sections sections;
};

/* A zeroed one is closed. It must stay where it was opened. */
struct nw_info {
	Elf *elf;
	Dwarf *dwarf;
	struct nw_debug_sections sections;
	struct nw_shared_info shared;
};

/* fd: of the image or its debug file; it must stay open. Returns false if there is no DWARF, or too much. */
bool nw_info_open(const struct nw_image *image, int fd, struct nw_info *out);
void nw_info_close(struct nw_info *info);

#endif
#endif
