// SPDX-License-Identifier: MIT
/*
 * Tells whether an exception can pass through the functions of an image. An exception can pass through any frame of
 * a language that has exceptions, also without a landing pad, so the answer is per image and not per function: does
 * the image need a library that throws or unwinds, or contain one?
 */
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "budget.h"
#include "symbol.h"

/* The beginnings of library names: libstdc++ and libc++ (Itanium C++ ABI), and the unwinders of GCC and LLVM, which
 * Rust and D use, too. */
static const char *const libraries[] = {"libstdc++.", "libc++.", "libc++abi.", "libgcc_s.",
					"libunwind."};

/* Symbols of a file that is linked statically with these libraries. _Unwind_Resume and __gcc_personality_v0 are not
 * among them: glibc has its own, for the cancellation of threads, which needs no frames. */
static const char *const symbols[] = {"__cxa_throw", "__cxa_begin_catch",
				      "__gxx_personality_v0", "rust_eh_personality",
				      "_Unwind_RaiseException"};

/* The functions by which C code leaves functions without returning from them. */
static const char *const jumps[] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"};

static bool is_throwing(const char *needed)
{
	for (size_t i = 0; i < NW_COUNT(libraries); i++)
		if (strncmp(needed, libraries[i], strlen(libraries[i])) == 0)
			return true;
	return false;
}

static bool needs_library(const struct nw_image *image)
{
	Elf *elf = elf_begin(image->fd, ELF_C_READ, NULL);
	struct nw_section_budget budget = nw_section_budget(image->size);
	Elf_Scn *section = NULL;
	bool found = false;

	while (elf && !found && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		GElf_Dyn entry;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC ||
		    !nw_section_afford(&budget, &header) ||
		    !nw_section_afford_names(&budget, elf, &header))
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		for (int i = 0; data && !found && gelf_getdyn(data, i, &entry); i++) {
			const char *name = entry.d_tag == DT_NEEDED
						   ? elf_strptr(elf, header.sh_link,
								entry.d_un.d_val)
						   : NULL;
			found = name && is_throwing(name);
		}
	}
	elf_end(elf);
	return found;
}

/* Does the file import one of these symbols, or (own) define one? */
static bool has_symbol(struct nw_image *image, const char *const *names, size_t count,
		       bool own)
{
	for (size_t i = 0; i < count; i++) {
		struct nw_symbol symbol;
		int ret = nw_image_symbol(image, names[i], strlen(names[i]), 0, &symbol);
		if ((ret == 0 && own) || ret == -ENXIO)
			return true;
	}
	return false;
}

bool nw_image_throws(struct nw_image *image)
{
	if (!image->throws_known) {
		image->throws = needs_library(image) ||
				has_symbol(image, symbols, NW_COUNT(symbols), true);
		image->throws_known = true;
	}
	return image->throws;
}

bool nw_image_jumps(struct nw_image *image)
{
	return has_symbol(image, jumps, NW_COUNT(jumps), true);
}

bool nw_image_imports_jump(struct nw_image *image)
{
	return has_symbol(image, jumps, NW_COUNT(jumps), false);
}
