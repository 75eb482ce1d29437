// SPDX-License-Identifier: MIT
/*
 * Finds a function's caller by call frame information: .eh_frame, which exceptions need and stripped files have, too;
 * else .debug_frame, in the file or its debug file, which compilers write if unwind tables are not their default
 * (riscv64 before GCC 13). libdw interprets both; the result for an address becomes a rule (rule.h).
 */
#include "rule.h"

#ifdef NW_HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "find/arch/arch.h"
#include "find/elf/budget.h"
#include "find/elf/symbol.h"

/* .debug_frame, which is searched if an address is not in .eh_frame. */
struct debug_frames {
	bool looked;
	int fd; /* of the debug file; -1: it is in the file itself */
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *frames; /* owned by `dwarf`; NULL: there is none */
};

struct nw_cfi {
	const struct nw_image *image;
	Elf *elf;
	Dwarf_CFI *frames; /* .eh_frame; NULL: the file has none */
	struct debug_frames debug;
	/* Limit for the numbers of registers by which callers are found */
	unsigned int numbers;
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

/* dwarf_begin() is not used: it would map the file, and a file that shrinks would kill us. */
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

/* Returns 0, or -errno of what was short, so that frames may be missing. */
static int find_debug_frames(struct nw_cfi *cfi)
{
	struct debug_frames *debug = &cfi->debug;

	debug->looked = true;
	errno = 0;
	open_debug_frames(cfi->image, cfi->image->fd, debug);
	int ret = nw_shortage();
	if (!debug->frames && ret == 0)
		debug->fd = nw_debug_file_open(cfi->image, cfi->elf);
	if (nw_is_shortage(-debug->fd))
		return debug->fd;
	errno = 0;
	if (debug->fd >= 0)
		open_debug_frames(cfi->image, debug->fd, debug);
	return ret < 0 ? ret : nw_shortage();
}

int nw_cfi_open(const struct nw_image *image, struct nw_cfi **out)
{
	struct nw_cfi *cfi = calloc(1, sizeof(*cfi));

	*out = cfi;
	if (!cfi)
		return -ENOMEM;
	cfi->image = image;
	cfi->debug.fd = -ENOENT;
	const struct nw_unwind *unwind = image->arch ? image->arch->unwind : NULL;
	for (size_t i = 0; unwind && i < unwind->count; i++) {
		unsigned int number = unwind->fetched[i].dwarf;
		if (number != NW_NO_REGISTER && number >= cfi->numbers)
			cfi->numbers = number + 1;
	}
	errno = 0;
	cfi->elf = unwind ? elf_begin(image->fd, ELF_C_READ, NULL) : NULL;
	cfi->frames = cfi->elf ? dwarf_getcfi_elf(cfi->elf) : NULL;
	int ret = nw_shortage();
	if (cfi->elf && !cfi->frames && ret == 0)
		ret = find_debug_frames(cfi);
	if (ret == 0 && (cfi->frames || cfi->debug.frames))
		return 0;
	nw_cfi_free(cfi);
	*out = NULL;
	return ret < 0 ? ret : -ENOENT;
}

void nw_cfi_free(struct nw_cfi *cfi)
{
	if (!cfi)
		return;
	if (cfi->frames)
		dwarf_cfi_end(cfi->frames);
	elf_end(cfi->elf);
	dwarf_end(cfi->debug.dwarf);
	elf_end(cfi->debug.elf);
	if (cfi->debug.fd >= 0)
		close(cfi->debug.fd);
	free(cfi);
}

/* Returns 0, -ENOENT, or -errno of what was short. */
static int find_frame(struct nw_cfi *cfi, uint64_t vaddr, Dwarf_Frame **out)
{
	errno = 0;
	if (cfi->frames && dwarf_cfi_addrframe(cfi->frames, vaddr, out) == 0)
		return 0;
	int ret = nw_shortage();
	if (ret == 0 && !cfi->debug.looked)
		ret = find_debug_frames(cfi);
	if (ret == 0 && cfi->debug.frames &&
	    dwarf_cfi_addrframe(cfi->debug.frames, vaddr, out) == 0)
		return 0;
	ret = ret < 0 ? ret : nw_shortage();
	return ret < 0 ? ret : -ENOENT;
}

/* ---- rules -------------------------------------------------------------------------- */

static void put_ops(const Dwarf_Op *ops, size_t count, struct nw_buf *out)
{
	nw_put(out, NW_RULE_EXPRESSION, 1);
	nw_put(out, count, 2);
	for (size_t i = 0; i < count; i++) {
		nw_put(out, ops[i].atom, 1);
		nw_put(out, ops[i].number, 8);
		nw_put(out, ops[i].number2, 8);
	}
}

static void put_register(Dwarf_Frame *frame, unsigned int number, struct nw_buf *out)
{
	Dwarf_Op memory[3], *ops = NULL;
	size_t count = 0;

	if (dwarf_frame_register(frame, (int)number, memory, &ops, &count) != 0 ||
	    count > NW_MOST_RULE_OPS || (!count && ops == memory)) {
		nw_put(out, NW_RULE_UNDEFINED, 1);
	} else if (!count) {
		nw_put(out, NW_RULE_SAME, 1);
	} else if (count <= 2 && ops[0].atom == DW_OP_call_frame_cfa &&
		   (count == 1 || ops[1].atom == DW_OP_plus_uconst)) {
		nw_put(out, NW_RULE_OFFSET, 1);
		nw_put(out, count == 2 ? ops[1].number : 0, 8);
	} else {
		put_ops(ops, count, out);
	}
}

static bool put_frame(const struct nw_cfi *cfi, Dwarf_Frame *frame, unsigned int *flags,
		      struct nw_buf *out)
{
	Dwarf_Addr begin, end;
	Dwarf_Op *ops = NULL;
	size_t count = 0;
	bool interrupted;

	if (dwarf_frame_cfa(frame, &ops, &count) != 0 || !count || count > NW_MOST_RULE_OPS)
		return false;
	int back = dwarf_frame_info(frame, &begin, &end, &interrupted);
	if (back < 0 || back >= NW_MAX_REGISTERS)
		return false;
	unsigned int numbers = (unsigned int)back < cfi->numbers ? cfi->numbers
								 : (unsigned int)back + 1;
	*flags = NW_RULE_FRAME | (interrupted ? NW_RULE_INTERRUPTED : 0);
	nw_put(out, (unsigned int)back, 2);
	put_ops(ops, count, out);
	nw_put(out, numbers, 2);
	for (unsigned int i = 0; i < numbers; i++)
		put_register(frame, i, out);
	return true;
}

int nw_cfi_rule(struct nw_cfi *cfi, uint64_t vaddr, unsigned int *flags, struct nw_buf *out)
{
	Dwarf_Frame *frame = NULL;
	int ret = find_frame(cfi, vaddr, &frame);

	if (ret < 0)
		return ret;
	errno = 0;
	put_frame(cfi, frame, flags, out);
	ret = nw_shortage();
	free(frame);
	return ret;
}

#else

#include <errno.h>

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

int nw_cfi_rule(struct nw_cfi *cfi, uint64_t vaddr, unsigned int *flags, struct nw_buf *out)
{
	(void)cfi, (void)vaddr, (void)flags, (void)out;
	return -ENOENT;
}

#endif
