// SPDX-License-Identifier: MIT
/*
 * From a function to its caller, by call frame information: .eh_frame, which exceptions need and stripped files
 * have, too; else .debug_frame, in the file or its debug file: compilers write that instead where unwind tables are not the
 * default (riscv64 before GCC 13). libdw interprets both. What it found for an address is kept: the same ones come
 * again and again.
 */
#include "cfi.h"

#ifdef NW_HAVE_LIBDW

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "elf/budget.h"
#include "elf/symbol.h"

enum {
	SLOTS = 1 << 14, /* power of two */
	MOST_KEPT = SLOTS / 2
};

struct known {
	uint64_t vaddr;
	Dwarf_Frame *frame; /* NULL: nothing is known there */
	bool used;
};

/* .debug_frame; looked for when an address is not in .eh_frame */
struct debug_frames {
	bool looked;
	int fd; /* of the debug file; -1: it is in the file itself */
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *frames; /* the dwarf's; NULL: there is none */
};

struct nw_cfi {
	const struct nw_image *image;
	Elf *elf;
	Dwarf_CFI *frames; /* .eh_frame; NULL: it has none */
	struct debug_frames debug;
	const struct nw_unwind *unwind;
	unsigned int word;
	unsigned int numbers; /* of registers that callers are found by are below this */
	struct known *known;
	size_t count;
};

static bool has_debug_frame(const struct nw_image *image, Elf *elf)
{
	struct nw_section_budget budget = nw_section_budget(image->size);
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) ||
		    !nw_section_afford_names(&budget, elf, &header))
			continue;
		const char *name = elf_strptr(elf, names, header.sh_name);
		if (name && header.sh_type == SHT_PROGBITS &&
		    (strcmp(name, ".debug_frame") == 0 ||
		     strcmp(name, ".zdebug_frame") == 0))
			return true;
	}
	return false;
}

/* dwarf_begin() would map the file, and a file that shrinks would kill us. */
static void open_debug_frames(const struct nw_image *image, int fd,
			      struct debug_frames *out)
{
	const off_t size = lseek(fd, 0, SEEK_END);

	out->elf = size > 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (has_debug_frame(image, out->elf) &&
	    nw_debug_size(out->elf) <= NW_LEAST_DEBUG + NW_TIMES_DEBUG * (uint64_t)size)
		out->dwarf = dwarf_begin_elf(out->elf, DWARF_C_READ, NULL);
	out->frames = out->dwarf ? dwarf_getcfi(out->dwarf) : NULL;
	if (out->frames)
		return;
	dwarf_end(out->dwarf);
	elf_end(out->elf);
	out->dwarf = NULL;
	out->elf = NULL;
}

static void find_debug_frames(struct nw_cfi *cfi)
{
	struct debug_frames *debug = &cfi->debug;

	debug->looked = true;
	open_debug_frames(cfi->image, cfi->image->fd, debug);
	if (!debug->frames)
		debug->fd = nw_debug_file_open(cfi->image, cfi->elf);
	if (debug->fd >= 0)
		open_debug_frames(cfi->image, debug->fd, debug);
}

int nw_cfi_open(const struct nw_image *image, struct nw_cfi **out)
{
	struct nw_cfi *cfi = calloc(1, sizeof(*cfi));

	*out = cfi;
	if (!cfi)
		return -ENOMEM;
	cfi->image = image;
	cfi->debug.fd = -1;
	cfi->known = calloc(SLOTS, sizeof(*cfi->known));
	cfi->word = image->arch ? nw_arch_word(image->arch) : 0;
	cfi->unwind = image->arch ? nw_arch_unwind(image->arch) : NULL;
	for (size_t i = 0; cfi->unwind && i < cfi->unwind->count; i++) {
		unsigned int number = cfi->unwind->fetched[i].dwarf;
		if (number != NW_NO_REGISTER && number >= cfi->numbers)
			cfi->numbers = number + 1;
	}
	cfi->elf = cfi->unwind ? elf_begin(image->fd, ELF_C_READ, NULL) : NULL;
	cfi->frames = cfi->elf ? dwarf_getcfi_elf(cfi->elf) : NULL;
	if (cfi->elf && !cfi->frames)
		find_debug_frames(cfi);
	if (cfi->known && (cfi->frames || cfi->debug.frames))
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
	dwarf_end(cfi->debug.dwarf);
	elf_end(cfi->debug.elf);
	if (cfi->debug.fd >= 0)
		close(cfi->debug.fd);
	free(cfi);
}

static Dwarf_Frame *find_frame(struct nw_cfi *cfi, uint64_t vaddr)
{
	Dwarf_Frame *frame = NULL;

	if (cfi->frames && dwarf_cfi_addrframe(cfi->frames, vaddr, &frame) == 0)
		return frame;
	if (!cfi->debug.looked)
		find_debug_frames(cfi);
	if (cfi->debug.frames && dwarf_cfi_addrframe(cfi->debug.frames, vaddr, &frame) == 0)
		return frame;
	return NULL;
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
	slot->frame = find_frame(cfi, vaddr);
	slot->vaddr = vaddr;
	slot->used = true;
	cfi->count++;
	return slot->frame;
}

/* A register as the caller had it. 1: *out is it; 0: it has none; -ENOENT: nobody knows; another -errno: it is where
 * nothing can be read. */
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
		if (number >= NW_MAX_REGISTERS || !about->registers->known[number])
			return -ENOENT;
		*out = about->registers->value[number];
		return 1;
	}
	int ret = nw_expression_evaluate(about, ops, count, &value, &is_value);
	if (ret == 0 && !is_value)
		ret = about->memory->read(about->memory->arg, value, about->word, &value);
	*out = value;
	return ret < 0 ? ret : 1;
}

int nw_cfi_step(struct nw_cfi *cfi, uint64_t vaddr, uint64_t bias,
		const struct nw_memory *memory, struct nw_registers *registers,
		bool *interrupted)
{
	const unsigned int stack = cfi->unwind->stack;
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
	ret = caller_register(frame, &about, (unsigned int)back, &caller.pc);
	if (ret <= 0)
		return ret;
	/* what cannot be read is not known */
	for (unsigned int i = 0; i < cfi->numbers; i++)
		caller.known[i] = caller_register(frame, &about, i, &caller.value[i]) > 0;
	/* the call itself has changed it */
	if (cfi->unwind->link != NW_NO_REGISTER && !*interrupted)
		caller.known[cfi->unwind->link] = false;
	/* where it is not the frame's address, libdw takes it for unchanged unless the file says otherwise */
	if (!caller.known[stack] || (cfi->unwind->above && !*interrupted)) {
		caller.value[stack] = about.cfa - cfi->unwind->above;
		caller.known[stack] = true;
	}
	*registers = caller;
	return caller.pc != 0;
}

#else

#include <errno.h>

#include "nopwatch/dwarf.h"

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
		const struct nw_memory *memory, struct nw_registers *registers,
		bool *interrupted)
{
	(void)cfi;
	(void)vaddr;
	(void)bias;
	(void)memory;
	(void)registers;
	*interrupted = false;
	return -ENOENT;
}

#endif
