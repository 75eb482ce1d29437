/* SPDX-License-Identifier: MIT */
/*
 * find/arch: the differences between architectures: registers, nops, instructions, calling conventions, and how an
 * assembler writes the operands of a USDT note. Pure: code and text go in as bytes, and both are hostile.
 */
#ifndef NOPWATCH_ARCH_H
#define NOPWATCH_ARCH_H

#include <sys/types.h>

#include "nopwatch/base.h"

/* ---- architectures ------------------------------------------------------------------ */

struct nw_arch; /* registers, operand grammar and nops of one machine; see find/arch/arch.h */

/* By name ("x86_64"), NULL if unknown. */
const struct nw_arch *nw_arch_by_name(const char *name);
const char *nw_arch_name(const struct nw_arch *arch);
/* Bytes of a register and of a pointer: 4 or 8. */
unsigned int nw_arch_word(const struct nw_arch *arch);
/* The instruction pointer as the kernel spells it ("ip"); NULL where it cannot be named. */
const char *nw_arch_pc(const struct nw_arch *arch);
/* The stack pointer as the kernel spells it ("sp"); how much higher it is for a return probe than it
 * was at the function's entry, and whether it may be higher still, by arguments that were popped. */
const char *nw_arch_stack(const struct nw_arch *arch);
unsigned int nw_arch_return_pops(const struct nw_arch *arch);
bool nw_arch_callee_pops(const struct nw_arch *arch);
/* The architecture that the tool itself was built for. */
const struct nw_arch *nw_arch_native(void);
/* Has a process an uprobe in its code there? code: in its memory; 1: yes, 0: no, -1: if the file has
 * something else there. machine: e_machine. */
int nw_arch_is_armed(unsigned int machine, const unsigned char *code, size_t len);
/* The number of the system call that newer kernels answer where they replace the uprobes at long
 * nops; 0: none. */
long nw_arch_uprobe_call(const struct nw_arch *arch);
/* Does a load of 8 bytes that meets the end of a mapping keep those in front of it? */
bool nw_arch_partial_loads(const struct nw_arch *arch);
/* Do its kernels kill a program that hits a probe in the moment it is taken away? */
bool nw_arch_reads_trap_again(const struct nw_arch *arch);
/* Do its kernels, of any version, kill a program that leaves a function with a return probe by longjmp()? */
bool nw_arch_keeps_left_calls(const struct nw_arch *arch);
/* pt_regs' names of the first three arguments of a function, for proving what the kernel can do;
 * NULL: it is not tried. */
const char *const *nw_arch_canary_args(const struct nw_arch *arch);

/*
 * What stands at a USDT site. The kernel emulates the one-byte nop everywhere; others may
 * be single-stepped (ten times dearer) or, on 6.18..7.1, be rewritten into a call that
 * tramples the red zone (nop5).
 */
enum nw_nop {
	NW_NOP_NONE, /* not a nop: nothing may be armed here */
	NW_NOP_1,    /* the architecture's plain nop */
	NW_NOP_LONG, /* x86: 2..9 bytes, but not 5 */
	NW_NOP_5,    /* x86: 5 bytes */
	NW_NOP_10,   /* x86: 10 bytes and more */
	NW_NOP_TRAP, /* a breakpoint is in the file already */
};
/* "nop", "nop5", ...; "trap"; NULL for NW_NOP_NONE. */
const char *nw_nop_name(enum nw_nop nop);

/* ---- operands ----------------------------------------------------------------------- */

enum nw_operand_kind {
	NW_OPERAND_UNKNOWN, /* no grammar fits: problem says what was seen */
	NW_OPERAND_REGISTER,
	NW_OPERAND_MEMORY,   /* *(register + offset [+ index * scale]) */
	NW_OPERAND_GLOBAL,   /* *(symbol + offset) */
	NW_OPERAND_CONSTANT, /* value */
};

/*
 * One argument of a USDT note, such as `-4@8(%rbp)`. The size and sign are the note's: the
 * width of the register's name does not count (sys/sdt.h: "STAP_PROBE_ASM", gdb PR 24541).
 */
struct nw_operand {
	enum nw_operand_kind kind;
	const char *text; /* into the note, text_len bytes */
	size_t text_len;
	unsigned int size; /* bytes */
	bool is_signed;
	bool is_float;
	bool absolute;		 /* GLOBAL: the symbol's address is written into the code */
	bool got;		 /* GLOBAL: what is wanted is the address in its GOT slot */
	unsigned int shift;	 /* REGISTER: first bit, 8 for %ah */
	char reg[12];		 /* as the kernel spells it, "" if there is none */
	char reg_high[12];	 /* second half of a pair of registers */
	char index[12];		 /* MEMORY: index register */
	unsigned int index_bits; /* width of the index register's name */
	unsigned int scale;	 /* MEMORY: 1, 2, 4, 8, ... with an index */
	bool window; /* its problem is the index only: what is near the base can be had */
	bool half;   /* REGISTER: of twice its width; which one has the rest is not told */
	int64_t offset; /* MEMORY, GLOBAL, address constant: displacement */
	uint64_t value; /* CONSTANT: cut to size, sign-extended to 64 bits if signed */
	const char
		*symbol; /* what offset is relative to: into the note, symbol_len bytes */
	size_t symbol_len;
	bool resolved;	     /* the symbol was found, */
	uint64_t address;    /* and this is its linked address (of its GOT slot, if got) */
	const char *problem; /* why no value can be had, a sentence; NULL: it can */
};

typedef NW_VEC(struct nw_operand) nw_operands;

/*
 * Split and parse the argument string of a note. Never fails on bad text: what cannot be
 * understood becomes an operand of kind UNKNOWN with its problem. Returns -ENOMEM at worst.
 * The operands point into args.
 */
int nw_operands_parse(const struct nw_arch *arch, const char *args, nw_operands *out);
/* How many there are, which is the same for every architecture. */
size_t nw_operands_count(const char *args);

/* ---- how callers are found ------------------------------------------------------- */

enum {
	NW_MAX_REGISTERS =
		66, /* by DWARF's numbers: the last is the link register of ppc64 */
	NW_NO_REGISTER = NW_MAX_REGISTERS
};

/* A register that callers are found by: as the kernel spells it, and its number in DWARF (NW_NO_REGISTER: it has none
 * there, as some instruction pointers). */
struct nw_unwind_register {
	const char *name;
	unsigned int dwarf;
};

/*
 * Where code is that has no call frame information, frames are a list: a register points to one, and at these distances
 * from there is what that register was in the caller, and where the function returns to.
 */
struct nw_frame_list {
	unsigned int reg; /* NW_NO_REGISTER: there is no such list */
	int next, back;
	bool back_in_next; /* `back` is counted from the caller's frame */
	int end;	   /* of the frame: the caller's stack pointer */
};

/* How callers are found on an architecture. Numbers of registers are DWARF's. */
struct nw_unwind {
	const struct nw_unwind_register *fetched; /* with each hit, in this order */
	size_t count;
	bool has_pc; /* the first is the instruction pointer; else the kernel has no name for it */
	unsigned int stack; /* the stack pointer */
	/* what has the return address at a function's first instruction; NW_NO_REGISTER: it is on top of the stack */
	unsigned int link;
	/* the return takes this off the stack (x86) */
	unsigned int pops;
	/* bits of a return address that are no part of it (Thumb's lowest) */
	uint64_t no_address;
	/* how far DWARF's "canonical frame address" is above the caller's stack pointer (s390x) */
	unsigned int above;
	struct nw_frame_list frames;
};
/* NULL: it is not known there. */
const struct nw_unwind *nw_arch_unwind(const struct nw_arch *arch);

#endif
