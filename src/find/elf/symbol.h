/* SPDX-License-Identifier: MIT */
/* Debug files of an image, from which its symbols are loaded. */
#ifndef NOPWATCH_FIND_ELF_SYMBOL_H
#define NOPWATCH_FIND_ELF_SYMBOL_H

#include <libelf.h>

#include "find/elf/elf.h"

void nw_symbols_free(struct nw_symbols *symbols);
/* Opens the debug file of a stripped file. Returns a descriptor, -ENOENT, or -errno of what was short (nw_shortage()).
 * elf: the image's. */
int nw_debug_file_open(const struct nw_image *image, Elf *elf);
/* Opens the file that shares debugging information with `elf` and others (.gnu_debugaltlink). Returns as
 * nw_debug_file_open(). */
int nw_shared_debug_open(const struct nw_image *image, Elf *elf);
/* Returns how many bytes of debugging information a file has after unpacking. */
uint64_t nw_debug_size(Elf *elf);
/* Unpacks the ELF file in .gnu_debugdata. -ENOENT: there is none, or the build has no liblzma. */
int nw_debug_data_read(Elf *elf, struct nw_buf *out);
/* Opens the library that unpacks it now, for callers that cannot open files later. */
void nw_debug_data_prepare(void);

#endif
