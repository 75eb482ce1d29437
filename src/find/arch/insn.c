// SPDX-License-Identifier: MIT
/* Splits code into instructions; each architecture classifies them in its own file. */
#include "insn.h"

struct nw_insn *nw_insns_add(nw_insns *out, uint64_t vaddr, unsigned int size)
{
	struct nw_insn *insn = nw_vec_add(out);

	if (insn)
		*insn = (struct nw_insn){.vaddr = vaddr, .size = size};
	return insn;
}

const char nw_insn_no_memory[] = "out of memory";
const char nw_insn_cut_off[] = "its last instruction reaches beyond its end";

/* ---- lengths ------------------------------------------------------------------------ */

/* RISC-V: the two lowest bits of the first half-word give the length (The RISC-V ISA Manual, "Base
 * Instruction-Length Encoding"). Its code is little endian. */
static unsigned int riscv_size(const unsigned char *code)
{
	return (code[0] & 3) != 3 ? 2 : (code[0] & 0x1f) != 0x1f ? 4 : 0;
}

/* s390: the two highest bits of the first byte give the length (z/Architecture Principles of Operation). */
static unsigned int s390_size(const unsigned char *code)
{
	static const unsigned char sizes[] = {2, 4, 4, 6};

	return sizes[code[0] >> 6];
}

static const char *decode_lengths(unsigned int (*size_of)(const unsigned char *code),
				  const unsigned char *code, size_t len, uint64_t vaddr,
				  nw_insns *out)
{
	for (size_t at = 0; at < len;) {
		unsigned int size = size_of(code + at);
		if (!size)
			return "it holds an instruction of a length that is not known";
		if (size > len - at)
			return nw_insn_cut_off;
		if (!nw_insns_add(out, vaddr + at, size))
			return nw_insn_no_memory;
		at += size;
	}
	return NULL;
}

const char *nw_riscv_decode(const struct nw_arch *arch, const unsigned char *code,
			    size_t len, uint64_t vaddr, nw_insns *out)
{
	(void)arch;
	return decode_lengths(riscv_size, code, len, vaddr, out);
}

const char *nw_s390_decode(const struct nw_arch *arch, const unsigned char *code,
			   size_t len, uint64_t vaddr, nw_insns *out)
{
	(void)arch;
	return decode_lengths(s390_size, code, len, vaddr, out);
}

/* ---- the whole ---------------------------------------------------------------------- */

const char *nw_insns_decode(const struct nw_arch *arch, const unsigned char *code,
			    size_t len, uint64_t vaddr, nw_insns *out)
{
	if (!arch->decode)
		return "which instructions it has is not known for this architecture";
	return arch->decode(arch, code, len, vaddr, out);
}
