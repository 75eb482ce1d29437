// SPDX-License-Identifier: MIT
/* Look-ups in the table of architectures, and what counts as a nop. */
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

const struct nw_arch *nw_arch_native(void)
{
#if defined(__x86_64__) && !defined(__ILP32__)
	return nw_arch_by_name("x86_64");
#elif defined(__x86_64__)
	return nw_arch_by_name("x32");
#elif defined(__i386__)
	return nw_arch_by_name("i386");
#elif defined(__aarch64__)
	return nw_arch_by_name("aarch64");
#elif defined(__arm__)
	return nw_arch_by_name("arm");
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return nw_arch_by_name("ppc64le");
#elif defined(__powerpc64__)
	return nw_arch_by_name("ppc64");
#elif defined(__powerpc__)
	return nw_arch_by_name("ppc");
#elif defined(__s390x__)
	return nw_arch_by_name("s390x");
#elif defined(__riscv) && __riscv_xlen == 64
	return nw_arch_by_name("riscv64");
#elif defined(__loongarch64)
	return nw_arch_by_name("loongarch64");
#else
	return NULL;
#endif
}

const char *nw_arch_name(const struct nw_arch *arch)
{
	return arch->name;
}

unsigned int nw_arch_word(const struct nw_arch *arch)
{
	return arch->word;
}

const char *nw_arch_pc(const struct nw_arch *arch)
{
	return arch->pc;
}

const char *nw_arch_stack(const struct nw_arch *arch)
{
	return arch->stack;
}

unsigned int nw_arch_return_pops(const struct nw_arch *arch)
{
	return arch->return_pops;
}

bool nw_arch_callee_pops(const struct nw_arch *arch)
{
	return arch->callee_pops;
}

/* ---- registers ---------------------------------------------------------------------- */

/* The N of name + N + suffix, or -1. Leading zeros are no register's name. */
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

/* The kernel's name with a number of at most two digits; notes are full of registers. */
static void spell(const struct nw_reg_family *family, int number, struct nw_reg *out)
{
	char *at = stpcpy(out->kernel, family->kernel);

	if (number >= 10)
		*at++ = (char)('0' + number / 10);
	if (number >= 0)
		*at++ = (char)('0' + number % 10);
	*at = '\0';
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
		spell(family, number, out);
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
		[NW_NOP_1] = "nop",    [NW_NOP_LONG] = "long nop", [NW_NOP_5] = "nop5",
		[NW_NOP_10] = "nop10", [NW_NOP_TRAP] = "trap",
	};

	return names[nop];
}

/* Length of the ModRM operand of a long nop (SDM vol. 2, table 2-2; 32 and 64 bits alike). */
static size_t modrm_length(const unsigned char *code, size_t len)
{
	if (len == 0)
		return 0;
	unsigned int mod = code[0] >> 6, rm = code[0] & 7;
	size_t sib = mod != 3 && rm == 4;
	if (sib && len < 2)
		return 0;
	size_t disp = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	if (mod == 0 && (rm == 5 || (sib && (code[1] & 7) == 5)))
		disp = 4;
	return 1 + sib + disp;
}

/* Length of the x86 nop at code, 0 if there is none: [66|2e|REX]* 90, [66|2e]* 0f 1f /0. */
static size_t x86_nop_length(const unsigned char *code, size_t len)
{
	size_t at = 0;

	while (at < len && at < 11 && (code[at] == 0x66 || code[at] == 0x2e))
		at++;
	if (at < len && code[at] == 0x90)
		return at + 1;
	if (at + 2 >= len || code[at] != 0x0f || code[at + 1] != 0x1f ||
	    (code[at + 2] & 0x38) != 0)
		return 0;
	size_t operand = modrm_length(code + at + 2, len - at - 2);
	size_t total = at + 2 + operand;
	return operand && total <= len && total <= 15 ? total : 0;
}

static enum nw_nop x86_nop(const unsigned char *code, size_t len)
{
	if (len && code[0] == 0xcc)
		return NW_NOP_TRAP;
	size_t length = x86_nop_length(code, len);
	if (length == 0)
		return NW_NOP_NONE;
	return length == 1   ? NW_NOP_1
	       : length == 5 ? NW_NOP_5
	       : length > 9  ? NW_NOP_10
			     : NW_NOP_LONG;
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
	if (arch->nop_count == 0)
		return x86_nop(code, len);
	return is_one_of(arch->nops, arch->nop_count, code, len) ? NW_NOP_1 : NW_NOP_NONE;
}

const char *nw_nop_barred(const struct nw_arch *arch, const unsigned char *code, size_t len)
{
	return is_one_of(arch->barred_nops, arch->barred_count, code, len) ? arch->barred
									   : NULL;
}
