// SPDX-License-Identifier: MIT
/*
 * Frames of calls, from .eh_frame (System V psABI, "DWARF Extensions" of the Linux Standard Base). libdw interprets
 * it, but does not tell which entry an address belongs to. An entry is a function, so the begins of functions are
 * read separately.
 */
#include "reader.h"

#include <stdlib.h>

#ifdef NW_HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <endian.h>
#include <errno.h>
#include <gelf.h>
#include <stdint.h>
#include <string.h>

#include "find/arch/arch.h"
#include "find/elf/budget.h"

/* The code that an entry of the table describes: a function, or a part of one. */
struct function {
	uint64_t start, size;
	uint64_t next; /* begin of the next entry's code; 0: it is the last */
};

struct nw_frame_table {
	const struct nw_arch *arch;
	Elf *elf;
	Dwarf_CFI *cfi;			   /* NULL: nothing is known */
	NW_VEC(struct function) functions; /* sorted */
};

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
	GElf_Shdr header;
	const char *name;

	while ((section = nw_next_section(elf, section, &header, &name))) {
		if (strcmp(name, ".eh_frame") != 0)
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

/* Returns the size of a pointer with this encoding; 0: unknown. */
static size_t pointer_size(unsigned int encoding, unsigned int word)
{
	static const unsigned int sizes[16] = {
		[DW_EH_PE_udata2] = 2, [DW_EH_PE_sdata2] = 2, [DW_EH_PE_udata4] = 4,
		[DW_EH_PE_sdata4] = 4, [DW_EH_PE_udata8] = 8, [DW_EH_PE_sdata8] = 8};

	return (encoding & 0x0f) == DW_EH_PE_absptr ? word : sizes[encoding & 0x0f];
}

/* Are the addresses of functions with this CIE 32-bit distances, as compilers write them? */
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

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Returns the distance at this place of the section; the caller has checked that it is in the section. */
static int32_t distance_at(const struct section *section, const unsigned char *at)
{
	uint32_t distance;

	memcpy(&distance, at, sizeof(distance));
	return (int32_t)(section->big_endian ? be32toh(distance) : le32toh(distance));
}

/* Returns false if the table has another form, which is not supported. */
static bool find_functions(const struct nw_image *image, struct nw_frame_table *table)
{
	unsigned char *ident = (unsigned char *)elf_getident(table->elf, NULL);
	struct function *last = NULL;
	struct section section;
	Dwarf_CFI_Entry entry;
	Dwarf_Off at = 0, next;

	if (!ident || !find_section(image, table->elf, &section))
		return false;
	Elf_Data data = {.d_buf = (void *)(uintptr_t)section.bytes,
			 .d_type = ELF_T_BYTE,
			 .d_size = section.size,
			 .d_version = EV_CURRENT};
	for (; dwarf_next_cfi(ident, &data, true, at, &next, &entry) == 0 && next > at;
	     at = next) {
		if (dwarf_cfi_cie_p(&entry)) {
			if (!has_distances(&entry.cie, image->arch->word))
				return false;
			continue;
		}
		const unsigned char *place = entry.fde.start;
		struct function *slot = entry.fde.end - place >= 8
						? nw_vec_add(&table->functions)
						: NULL;
		if (!slot)
			return false;
		slot->start = section.vaddr + (uint64_t)(place - section.bytes) +
			      (uint64_t)(int64_t)distance_at(&section, place);
		slot->size = (uint32_t)distance_at(&section, place + 4);
		slot->next = 0;
		last = table->functions.item + table->functions.count - 1;
		if (table->functions.count > 1)
			last[-1].next = slot->start;
	}
	if (last)
		qsort(table->functions.item, table->functions.count,
		      sizeof(*table->functions.item), by_start);
	return last != NULL;
}

/* Returns the function that contains vaddr; NULL: none. */
static const struct function *function_at(const struct nw_frame_table *table,
					  uint64_t vaddr)
{
	size_t low = nw_vec_lower_bound(&table->functions, function,
					function->start <= vaddr);
	const struct function *found = low ? &table->functions.item[low - 1] : NULL;

	return found && vaddr - found->start < found->size ? found : NULL;
}

/* Is the operation a register plus an offset: DW_OP_bregN OFFSET, or DW_OP_bregx N OFFSET? */
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

void nw_frame_at(const struct nw_frame_table *table, uint64_t vaddr,
		 struct nw_frame_numbers *out)
{
	const struct function *function = table->cfi ? function_at(table, vaddr) : NULL;
	struct nw_frame_numbers found = {.reg = NW_NO_REGISTER};
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops = NULL;
	size_t count = 0;

	*out = found;
	if (!function || dwarf_cfi_addrframe(table->cfi, vaddr, &frame) != 0)
		return;
	if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1 &&
	    is_register(ops, table->arch, &found))
		*out = found;
	out->function = function->start;
	out->size = function->size;
	out->next = function->next;
	free(frame);
}

struct nw_frame_table *nw_frames_open(struct nw_image *image)
{
	struct nw_frame_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	errno = 0;
	table->arch = image->arch;
	table->elf = image->arch ? elf_begin(image->fd, ELF_C_READ, NULL) : NULL;
	if (table->elf && find_functions(image, table))
		table->cfi = dwarf_getcfi_elf(table->elf);
	image->failed = image->failed ? image->failed : nw_shortage();
	return table;
}

void nw_frames_free(struct nw_frame_table *table)
{
	if (!table)
		return;
	if (table->cfi)
		dwarf_cfi_end(table->cfi);
	nw_vec_free(&table->functions);
	elf_end(table->elf);
	free(table);
}

#else

struct nw_frame_table {
	char unused;
};

struct nw_frame_table *nw_frames_open(struct nw_image *image)
{
	(void)image;
	return calloc(1, sizeof(struct nw_frame_table));
}

void nw_frames_free(struct nw_frame_table *table)
{
	free(table);
}

void nw_frame_at(const struct nw_frame_table *table, uint64_t vaddr,
		 struct nw_frame_numbers *out)
{
	(void)table;
	(void)vaddr;
	*out = (struct nw_frame_numbers){.reg = NW_NO_REGISTER};
}

#endif
