// SPDX-License-Identifier: MIT
/*
 * From a function to its caller, by call frame information: .eh_frame, which exceptions need and stripped files
 * have, too; else .debug_frame. libdw interprets both. What it found for an address is kept: the same ones come
 * again and again.
 */
#include "cfi.h"

#ifdef NW_HAVE_LIBDW

#include <errno.h>
#include <stdlib.h>

#include "arch.h"

enum {
	SLOTS = 1 << 14, /* power of two */
	MOST_KEPT = SLOTS / 2
};

struct known {
	uint64_t vaddr;
	Dwarf_Frame *frame; /* NULL: nothing is known there */
	bool used;
};

struct nw_cfi {
	Elf *elf;
	Dwarf_CFI *frames;
	unsigned int word;
	struct known *known;
	size_t count;
};

int nw_cfi_open(const struct nw_image *image, struct nw_cfi **out)
{
	struct nw_cfi *cfi = calloc(1, sizeof(*cfi));

	*out = cfi;
	if (!cfi)
		return -ENOMEM;
	cfi->known = calloc(SLOTS, sizeof(*cfi->known));
	cfi->word = image->arch ? nw_arch_word(image->arch) : 0;
	cfi->elf = image->arch ? elf_begin(image->fd, ELF_C_READ, NULL) : NULL;
	cfi->frames = cfi->elf ? dwarf_getcfi_elf(cfi->elf) : NULL;
	if (cfi->known && cfi->frames)
		return 0;
	int ret = cfi->known ? -ENOENT : -ENOMEM;
	nw_cfi_free(cfi);
	*out = NULL;
	return ret;
}

static void forget(struct nw_cfi *cfi)
{
	for (size_t i = 0; cfi->known && i < SLOTS; i++) {
		free(cfi->known[i].frame);
		cfi->known[i] = (struct known){0};
	}
	cfi->count = 0;
}

void nw_cfi_free(struct nw_cfi *cfi)
{
	if (!cfi)
		return;
	forget(cfi);
	free(cfi->known);
	if (cfi->frames)
		dwarf_cfi_end(cfi->frames);
	elf_end(cfi->elf);
	free(cfi);
}

static Dwarf_Frame *frame_at(struct nw_cfi *cfi, uint64_t vaddr)
{
	size_t at = nw_hash64(vaddr) & (SLOTS - 1);

	while (cfi->known[at].used && cfi->known[at].vaddr != vaddr)
		at = (at + 1) & (SLOTS - 1);
	if (cfi->known[at].used)
		return cfi->known[at].frame;
	if (cfi->count == MOST_KEPT) {
		forget(cfi);
		at = nw_hash64(vaddr) & (SLOTS - 1);
	}
	struct known *slot = &cfi->known[at];
	if (dwarf_cfi_addrframe(cfi->frames, vaddr, &slot->frame) != 0)
		slot->frame = NULL;
	slot->vaddr = vaddr;
	slot->used = true;
	cfi->count++;
	return slot->frame;
}

/* A register as the caller had it. 1: *out is it; 0: nobody knows; -errno. */
static int caller_register(Dwarf_Frame *frame, const struct nw_expression *about,
			   unsigned int number, uint64_t *out)
{
	Dwarf_Op memory[3], *ops = NULL;
	size_t count = 0;
	bool is_value = false;
	uint64_t value;

	if (dwarf_frame_register(frame, (int)number, memory, &ops, &count) != 0)
		return 0;
	if (!count && ops == memory) /* undefined */
		return 0;
	if (!count) { /* as it is */
		*out = about->registers->value[number];
		return about->registers->known >> number & 1;
	}
	int ret = nw_expression_evaluate(about, ops, count, &value, &is_value);
	if (ret == 0 && !is_value)
		ret = about->memory->read(about->memory->arg, value, about->word, &value);
	*out = value;
	return ret < 0 ? ret : 1;
}

int nw_cfi_step(struct nw_cfi *cfi, uint64_t vaddr, uint64_t bias,
		const struct nw_memory *memory, unsigned int stack,
		struct nw_registers *registers, bool *interrupted)
{
	struct nw_expression about = {
		.registers = registers, .memory = memory, .word = cfi->word, .bias = bias};
	Dwarf_Frame *frame = frame_at(cfi, vaddr);
	struct nw_registers caller = {0};
	Dwarf_Addr begin, end;
	size_t count = 0;
	Dwarf_Op *ops = NULL;
	bool ignored;

	*interrupted = false;
	if (!frame || dwarf_frame_cfa(frame, &ops, &count) != 0 || !count)
		return -ENOENT;
	int back = dwarf_frame_info(frame, &begin, &end, interrupted);
	int ret = nw_expression_evaluate(&about, ops, count, &about.cfa, &ignored);
	if (back < 0 || back >= NW_MAX_REGISTERS || ret < 0)
		return ret < 0 ? ret : -ENOENT;
	about.has_cfa = true;
	for (unsigned int i = 0; i < NW_MAX_REGISTERS; i++) {
		ret = caller_register(frame, &about, i, &caller.value[i]);
		if (ret > 0)
			caller.known |= (uint64_t)1 << i;
		/* what cannot be read is not known; without where it returns to nothing is */
		if (ret < 0 && i == (unsigned int)back)
			return ret;
	}
	if (!(caller.known >> back & 1))
		return 0;
	caller.pc = caller.value[back];
	if (!(caller.known >> stack & 1)) {
		caller.value[stack] = about.cfa;
		caller.known |= (uint64_t)1 << stack;
	}
	*registers = caller;
	return caller.pc != 0;
}

#else

#include <errno.h>

#include "nopwatch/elf.h"

int nw_cfi_open(const struct nw_image *image, struct nw_cfi **out)
{
	(void)image;
	*out = NULL;
	return -ENOENT;
}

void nw_cfi_free(struct nw_cfi *cfi)
{
	(void)cfi;
}

int nw_cfi_step(struct nw_cfi *cfi, uint64_t vaddr, uint64_t bias,
		const struct nw_memory *memory, unsigned int stack,
		struct nw_registers *registers, bool *interrupted)
{
	(void)cfi;
	(void)vaddr;
	(void)bias;
	(void)memory;
	(void)stack;
	(void)registers;
	*interrupted = false;
	return -ENOENT;
}

#endif
