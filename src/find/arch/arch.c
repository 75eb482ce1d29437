// SPDX-License-Identifier: MIT
/* Looks up architectures, their registers and their nops. */
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "arch.h"

const struct nw_arch *nw_arch_find(unsigned int machine, bool elf64, bool big_endian)
{
	for (size_t i = 0; i < nw_arch_count; i++) {
		const struct nw_arch *arch = &nw_arch_table[i];
		if (arch->machine == machine && arch->elf64 == elf64 &&
		    (arch->big_endian < 0 || arch->big_endian == (int)big_endian))
			return arch;
	}
	return NULL;
}

const struct nw_arch *nw_arch_by_name(const char *name)
{
	for (size_t i = 0; i < nw_arch_count; i++)
		if (strcmp(nw_arch_table[i].name, name) == 0)
			return &nw_arch_table[i];
	return NULL;
}

/* The linker defines this symbol at the ELF header of the running program (binutils 2.23). */
extern const ElfW(Ehdr) __ehdr_start __attribute__((weak, visibility("hidden")));

const struct nw_arch *nw_arch_native(void)
{
	const ElfW(Ehdr) *header = &__ehdr_start;

	return header ? nw_arch_find(header->e_machine,
				     header->e_ident[EI_CLASS] == ELFCLASS64,
				     header->e_ident[EI_DATA] == ELFDATA2MSB)
		      : NULL;
}

int nw_arch_is_armed(unsigned int machine, const unsigned char *code, size_t len)
{
	for (size_t i = 0; i < nw_arch_count; i++)
		if (nw_arch_table[i].machine == machine && nw_arch_table[i].is_armed)
			return nw_arch_table[i].is_armed(code, len);
	return -1;
}

bool nw_arch_is_optimised(unsigned int machine, const unsigned char *code, size_t len)
{
	for (size_t i = 0; i < nw_arch_count; i++)
		if (nw_arch_table[i].machine == machine && nw_arch_table[i].is_optimised)
			return nw_arch_table[i].is_optimised(code, len);
	return false;
}

const char *nw_arch_frame_register(const struct nw_arch *arch, unsigned int dwarf)
{
	for (size_t i = 0; i < NW_COUNT(arch->frame_regs); i++)
		if (arch->frame_regs[i].name && arch->frame_regs[i].dwarf == dwarf)
			return arch->frame_regs[i].name;
	return NULL;
}

/* ---- registers ---------------------------------------------------------------------- */

/* Returns N of a register named name + N + suffix; -1 if it is not of this family. A register's name has no leading
 * zeros. */
static int family_number(const struct nw_reg_family *family, const char *name, size_t len)
{
	size_t prefix = strlen(family->name), suffix = strlen(family->suffix);
	int number = 0;

	if (len <= prefix + suffix || len > prefix + suffix + 2)
		return -1;
	if (memcmp(name, family->name, prefix) != 0 ||
	    memcmp(name + len - suffix, family->suffix, suffix) != 0)
		return -1;
	for (size_t i = prefix; i < len - suffix; i++) {
		if (name[i] < '0' || name[i] > '9')
			return -1;
		if (i > prefix && number == 0)
			return -1;
		number = number * 10 + (name[i] - '0');
	}
	return number >= family->first && number <= family->last ? number : -1;
}

static bool is_name(const struct nw_reg_family *family, const char *name, size_t len)
{
	return *name == *family->name && strlen(family->name) == len &&
	       memcmp(name, family->name, len) == 0;
}

bool nw_arch_dwarf_register(const struct nw_arch *arch, uint64_t number, char out[12])
{
	const char *at = arch->dwarf_regs;

	for (; at && number; number--)
		at = (at = strchr(at, ' ')) ? at + 1 : NULL;
	if (at)
		snprintf(out, 12, "%.*s", (int)strcspn(at, " "), at);
	return at != NULL;
}

bool nw_arch_register(const struct nw_arch *arch, const char *name, size_t len,
		      struct nw_reg *out)
{
	for (size_t i = 0; i < arch->reg_count; i++) {
		const struct nw_reg_family *family = &arch->regs[i];
		int number = -1;

		if (family->first >= 0) {
			number = family_number(family, name, len);
			if (number < 0)
				continue;
		} else if (!is_name(family, name, len)) {
			continue;
		}
		/* The kernel's name and at most two digits follow. This runs for each register of each note, so
		 * printf() would be too slow. */
		char *at = stpcpy(out->kernel, family->kernel);
		if (number >= 10)
			*at++ = (char)('0' + number / 10);
		if (number >= 0)
			*at++ = (char)('0' + number % 10);
		*at = '\0';
		out->bits = family->bits;
		out->shift = family->shift;
		out->kind = family->kind;
		return true;
	}
	return false;
}

/* ---- nops --------------------------------------------------------------------------- */

const char *nw_nop_name(enum nw_nop nop)
{
	static const char *const names[] = {
		[NW_NOP_1] = "nop",    [NW_NOP_LONG] = "long nop",  [NW_NOP_5] = "nop5",
		[NW_NOP_10] = "nop10", [NW_NOP_PAIR] = "nop,nop10", [NW_NOP_TRAP] = "trap",
	};

	return names[nop];
}

static bool is_one_of(const struct nw_nop_code *nops, size_t count,
		      const unsigned char *code, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (len >= nops[i].size && memcmp(code, nops[i].code, nops[i].size) == 0)
			return true;
	return false;
}

enum nw_nop nw_nop_at(const struct nw_arch *arch, const unsigned char *code, size_t len)
{
	if (arch->nop_at)
		return arch->nop_at(code, len);
	return is_one_of(arch->nops, arch->nop_count, code, len) ? NW_NOP_1 : NW_NOP_NONE;
}

const char *nw_nop_barred(const struct nw_arch *arch, const unsigned char *code, size_t len)
{
	return is_one_of(arch->barred_nops, arch->barred_count, code, len) ? arch->barred
									   : NULL;
}
