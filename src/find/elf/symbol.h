/* SPDX-License-Identifier: MIT */
/* Symbols of an image, loaded when first asked for. */
#ifndef NOPWATCH_FIND_ELF_SYMBOL_H
#define NOPWATCH_FIND_ELF_SYMBOL_H

#include <libelf.h>

#include "nopwatch/elf.h"

void nw_symbols_free(struct nw_symbols *symbols);
/* The file that has the symbols of a stripped one; a descriptor, or -ENOENT. elf: the image's. */
int nw_debug_file_open(const struct nw_image *image, Elf *elf);
/* The file that its debugging information shares with that of others (.gnu_debugaltlink). The same. elf: what names it. */
int nw_shared_debug_open(const struct nw_image *image, Elf *elf);
/* Bytes that the debugging information of a file has, once it is unpacked. */
uint64_t nw_debug_size(Elf *elf);
/* The ELF file that is packed in .gnu_debugdata. -ENOENT: none, or built without liblzma. */
int nw_debug_data_read(Elf *elf, struct nw_buf *out);
/* Open the library that unpacks it now, as later no file can be opened. */
void nw_debug_data_prepare(void);

#endif
