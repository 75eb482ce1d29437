// SPDX-License-Identifier: MIT
/*
 * Frames of calls, from .eh_frame (System V psABI, "DWARF Extensions" of the Linux Standard Base).
 * libdw interprets it, but does not tell which of its entries an address belongs to: an entry is a
 * function, so where they begin is read beside it.
 */
#include "reader.h"

#ifdef NW_HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <endian.h>
#include <errno.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "elf/budget.h"

/* Where functions begin, sorted. */
typedef NW_VEC(uint64_t) functions;

struct section {
	const unsigned char *bytes;
	size_t size;
	uint64_t vaddr;
	bool big_endian;
};

static bool find_section(const struct nw_image *image, Elf *elf, struct section *out)
{
	struct nw_section_budget budget = nw_section_budget(image->size);
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;
		if (!name || strcmp(name, ".eh_frame") != 0)
			continue;
		Elf_Data *data = nw_section_afford(&budget, &header)
					 ? elf_rawdata(section, NULL)
					 : NULL;
		*out = (struct section){.bytes = data ? data->d_buf : NULL,
					.size = data ? data->d_size : 0,
					.vaddr = header.sh_addr,
					.big_endian = image->big_endian};
		return out->bytes != NULL;
	}
	return false;
}

/* How long a pointer of this encoding is; 0: not known. */
static size_t pointer_size(unsigned int encoding, unsigned int word)
{
	static const unsigned int sizes[16] = {
		[DW_EH_PE_udata2] = 2, [DW_EH_PE_sdata2] = 2, [DW_EH_PE_udata4] = 4,
		[DW_EH_PE_sdata4] = 4, [DW_EH_PE_udata8] = 8, [DW_EH_PE_sdata8] = 8};

	return (encoding & 0x0f) == DW_EH_PE_absptr ? word : sizes[encoding & 0x0f];
}

/* Are the places of the functions of this CIE 32-bit distances, as compilers write them? */
static bool has_distances(const Dwarf_CIE *cie, unsigned int word)
{
	const uint8_t *data = cie->augmentation_data;
	size_t at = 0, size = cie->augmentation_data_size;

	if (cie->augmentation[0] != 'z' || !data)
		return false;
	for (const char *c = cie->augmentation + 1; *c && at < size; c++) {
		if (*c == 'R')
			return data[at] == (DW_EH_PE_pcrel | DW_EH_PE_sdata4);
		if (*c == 'L')
			at++;
		else if (*c == 'P' && pointer_size(data[at], word))
			at += 1 + pointer_size(data[at], word);
		else if (*c == 'P')
			return false;
	}
	return false;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* False: another form, of which nothing is known. */
static bool find_functions(const struct nw_image *image, Elf *elf, functions *out)
{
	unsigned char *ident = (unsigned char *)elf_getident(elf, NULL);
	struct section section;
	Dwarf_CFI_Entry entry;
	Dwarf_Off at = 0, next;

	if (!ident || !find_section(image, elf, &section))
		return false;
	Elf_Data data = {.d_buf = (void *)(uintptr_t)section.bytes,
			 .d_type = ELF_T_BYTE,
			 .d_size = section.size,
			 .d_version = EV_CURRENT};
	for (; dwarf_next_cfi(ident, &data, true, at, &next, &entry) == 0 && next > at;
	     at = next) {
		if (dwarf_cfi_cie_p(&entry)) {
			if (!has_distances(&entry.cie, nw_arch_word(image->arch)))
				return false;
			continue;
		}
		uint64_t place = (uint64_t)(entry.fde.start - section.bytes);
		uint64_t *slot = entry.fde.end - entry.fde.start >= 4 ? nw_vec_add(out)
								      : NULL;
		uint32_t distance;
		if (!slot)
			return false;
		memcpy(&distance, entry.fde.start, sizeof(distance));
		distance = section.big_endian ? be32toh(distance) : le32toh(distance);
		*slot = section.vaddr + place + (uint64_t)(int64_t)(int32_t)distance;
	}
	if (out->count)
		qsort(out->item, out->count, sizeof(*out->item), by_number);
	return out->count > 0;
}

/* Where the function begins that holds vaddr, 0: none does. */
static uint64_t function_at(const functions *list, uint64_t vaddr)
{
	size_t low = nw_vec_in_front(list, function, *function <= vaddr);

	return low ? list->item[low - 1] : 0;
}

/* DW_OP_bregN OFFSET, or DW_OP_bregx N OFFSET: what a register and an offset look like. */
static bool is_register(const Dwarf_Op *op, const struct nw_arch *arch,
			struct nw_frame_numbers *out)
{
	if (op->atom == DW_OP_bregx) {
		out->reg = (unsigned int)nw_min64(op->number, UINT32_MAX);
		out->offset = (int64_t)op->number2;
	} else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		out->reg = (unsigned int)op->atom - DW_OP_breg0;
		out->offset = (int64_t)op->number;
	} else {
		return false;
	}
	return nw_arch_frame_register(arch, out->reg) != NULL;
}

static void find_frame(const struct nw_image *image, Dwarf_CFI *cfi, const functions *list,
		       uint64_t vaddr, struct nw_frame_numbers *out)
{
	struct nw_frame_numbers found = {0};
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops = NULL;
	size_t count = 0;

	if (dwarf_cfi_addrframe(cfi, vaddr, &frame) != 0)
		return;
	if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1 &&
	    is_register(ops, image->arch, &found)) {
		found.function = function_at(list, vaddr);
		*out = found;
	}
	free(frame);
}

void nw_frames_read(struct nw_image *image, const uint64_t *vaddrs, size_t count,
		    struct nw_frame_numbers *out)
{
	errno = 0;
	Elf *elf = image->arch ? elf_begin(image->fd, ELF_C_READ, NULL) : NULL;
	functions list = {0};
	Dwarf_CFI *cfi = elf && find_functions(image, elf, &list) ? dwarf_getcfi_elf(elf)
								  : NULL;

	for (size_t i = 0; i < count; i++) {
		out[i] = (struct nw_frame_numbers){.reg = NW_NO_REGISTER};
		if (cfi)
			find_frame(image, cfi, &list, vaddrs[i], &out[i]);
	}
	if (cfi)
		dwarf_cfi_end(cfi);
	image->failed = image->failed ? image->failed : nw_shortage();
	nw_vec_free(&list);
	elf_end(elf);
}

#else

void nw_frames_read(struct nw_image *image, const uint64_t *vaddrs, size_t count,
		    struct nw_frame_numbers *out)
{
	(void)image;
	(void)vaddrs;
	for (size_t i = 0; i < count; i++)
		out[i] = (struct nw_frame_numbers){.reg = NW_NO_REGISTER};
}

#endif
