/* SPDX-License-Identifier: MIT */
/*
 * One architecture as data: its registers, and how its assembler writes operands. The engine
 * that reads them is operand.c; the data is table.c.
 */
#ifndef NOPWATCH_FIND_ARCH_ARCH_H
#define NOPWATCH_FIND_ARCH_ARCH_H

#include "nopwatch/arch.h"

enum nw_reg_kind {
	NW_REG_GENERAL,
	NW_REG_PC,
	NW_REG_ZERO,	/* always reads 0; pt_regs does not have it */
	NW_REG_FLOAT,	/* not in pt_regs: ftrace cannot read it */
	NW_REG_SEGMENT, /* x86 %fs, %gs: the base of thread-local storage */
};

/*
 * A register or a numbered family of them: with first < 0 `name` is the whole name, else the
 * names are name + N + suffix for N in first..last, and kernel + N in pt_regs.
 */
struct nw_reg_family {
	const char *name;
	int first, last;
	const char *suffix;
	const char *kernel; /* spelling of regs_query_register_offset() */
	unsigned int bits;  /* width of this name */
	unsigned int shift; /* first bit of the register, 8 for %ah */
	enum nw_reg_kind kind;
};

struct nw_nop_code {
	unsigned char code[4];
	unsigned int size;
};

enum nw_memory_form {
	NW_MEMORY_PAREN,   /* D(base), D(base,index,scale) */
	NW_MEMORY_BRACKET, /* [base], [base, D], [base, index, lsl #2] */
	NW_MEMORY_COMMA,   /* base,D or base,index */
};

struct nw_insns;
typedef const char *nw_insn_decoder(const struct nw_arch *arch, const unsigned char *code,
				    size_t len, uint64_t vaddr, struct nw_insns *out);

struct nw_arch {
	const char *name;
	unsigned int machine; /* e_machine */
	bool elf64;
	int big_endian; /* 1, 0; -1: either */
	unsigned int word;
	const char *pc; /* pt_regs' name of the instruction pointer, NULL: none */

	/* grammar */
	const char *sigil;	/* before a register: "%", "$" or "" */
	bool sigil_optional;	/* ppc: 9, r9 and %r9 are the same */
	char immediate;		/* before a constant: '$', '#', 'i'; 0: none needed */
	bool bare_constant;	/* a bare number is a constant */
	bool bare_register;	/* a bare number is a register (ppc) */
	bool bare_symbol_value; /* a bare symbol is its address, not its content (arm) */
	enum nw_memory_form memory;
	bool index_first; /* D(index,base) (s390) */
	/* an 8-byte value in 32-bit registers: successor of each register, pairs of names */
	const char *pair_order;

	/* the procedure call standard, as a note would write it */
	const char *call_args; /* integer arguments in registers, at a function's entry */
	const char *return_value; /* at its return */
	const char *stack_args;	  /* those behind call_args; NULL: none are known */
	/* why a floating-point argument or result cannot be had; NULL: it is where an integer is */
	const char *float_args, *float_result;
	/* a floating-point argument leaves the place unused that an integer would have had (OpenPOWER
	 * ELFv2 ABI, "Parameter Passing in Registers") */
	bool floats_take_places;
	uint32_t soft_float_mask,
		soft_float; /* e_flags of code whose floats are integers */

	/* Go's convention: in registers since 1.go_since, else on the stack; NULL: not known */
	const char *go_args, *go_stack;
	int go_since;
	/* The register that points to the goroutine, as pt_regs names it, in all of Go's functions but
	 * those in assembly of before or without the registers' convention (go_g_always: in these,
	 * too); NULL: it is in no register (Go's src/cmd/compile/abi-internal.md and the assembler's
	 * obj files: REGG). */
	const char *go_g;
	bool go_g_always;

	/*
	 * The stack pointer as pt_regs names it, and how much higher it is for a return probe than
	 * it was at the function's entry: the kernel's handler runs when the return instruction is
	 * through, which on x86 has popped the address (handle_trampoline() of
	 * kernel/events/uprobes.c; sys_uretprobe() of 6.11+ restores the same value).
	 */
	const char *stack;
	unsigned int return_pops;
	/* a function may pop its arguments, too (ret N): i386 does so where it returns a
	 * structure, and where it is stdcall */
	bool callee_pops;

	/* the registers from which call frame information counts, by DWARF's numbers */
	struct {
		unsigned int dwarf;
		const char *name; /* pt_regs'; NULL: none */
	} frame_regs[2];

	const struct nw_unwind *unwind; /* see nw_arch_unwind(); NULL: not known */

	const struct nw_reg_family *regs;
	size_t reg_count;

	/* The nop at code; NULL: it is one of nops, which are plain. */
	enum nw_nop (*nop_at)(const unsigned char *code, size_t len);
	const struct nw_nop_code *nops;
	size_t nop_count;
	/* nops of code that the kernel cannot probe, and what that code is */
	const struct nw_nop_code *barred_nops;
	size_t barred_count;
	const char *barred;

	/* Is a uprobe armed at code? NULL: it is if the bytes are not those of the file. */
	bool (*is_armed)(const unsigned char *code, size_t len);
	/* The system call of newer kernels that replaces uprobes at long nops (6.18); 0: none. */
	long uprobe_call;
	/* A load that meets the end of a mapping keeps the bytes in front of it (5.8 on). */
	bool partial_loads;
	/*
	 * The kernel reads the instruction once more to see whether it was a breakpoint. If it is gone by then, since
	 * the probe is being taken away, the program is killed by SIGILL (illegal_op() in arch/s390/kernel/traps.c,
	 * do_undefinstr() in arch/arm/kernel/traps.c; others restart the instruction).
	 */
	bool reads_trap_again;
	/*
	 * Its kernels have no arch_uretprobe_is_alive() of their own: they take a call that longjmp() has left for one that
	 * goes on, and the next return of a probed function goes where that call would have gone (kernel/events/uprobes.c).
	 */
	bool keeps_left_calls;
	/* pt_regs' names of the first arguments, for the canary; NULL: it does without */
	const char *canary_args[3];

	/* Relocations (psABI): of a GOT slot with the address of a symbol, of a function that is
	 * called through the PLT, and of what an ifunc's resolver answers; 0: not known. */
	unsigned int got_slot, plt_slot, ifunc_slot;
	/* Bits of a function's value that are no part of its address, such as Thumb's lowest. */
	uint64_t no_address;
	/* st_other tells how far behind its address calls from its own file enter (ppc64). */
	bool local_entries;
	/* Do 16 bytes of code begin like an entry of the PLT? NULL: not known. */
	bool (*is_plt_entry)(const unsigned char *code);

	/* Every instruction is as long as this; 0: they differ. */
	unsigned int insn_width;
	bool insn_kinds; /* decode tells which instructions leave a function */
	/* See nw_insns_decode(); NULL: not known. */
	nw_insn_decoder *decode;
};

struct nw_reg {
	char kernel[12];
	unsigned int bits, shift;
	enum nw_reg_kind kind;
};

/* By e_machine, class and byte order of an ELF header; NULL: not one that uprobes know. */
const struct nw_arch *nw_arch_find(unsigned int machine, bool elf64, bool big_endian);
/* The register that call frame information counts from, by its number in DWARF (the psABI's table
 * "DWARF register number mapping"), as the kernel spells it; NULL: another one. */
const char *nw_arch_frame_register(const struct nw_arch *arch, unsigned int dwarf);
/* Look up a register by the name an assembler prints, without its sigil. */
bool nw_arch_register(const struct nw_arch *arch, const char *name, size_t len,
		      struct nw_reg *out);

/* What the code at a site is, if it has a nop but the kernel cannot probe it; else NULL. */
const char *nw_nop_barred(const struct nw_arch *arch, const unsigned char *code,
			  size_t len);

/* What the rows point to: one file an architecture that needs code (x86.c, ...). */
enum nw_nop nw_x86_nop_at(const unsigned char *code, size_t len);
bool nw_x86_is_armed(const unsigned char *code, size_t len);
bool nw_x86_is_plt_entry(const unsigned char *code);
nw_insn_decoder nw_x86_decode, nw_arm64_decode, nw_riscv_decode, nw_s390_decode;
bool nw_arm64_is_plt_entry(const unsigned char *code);
/* unwind.c */
extern const struct nw_unwind nw_x86_64_unwind, nw_i386_unwind, nw_arm64_unwind,
	nw_arm_unwind, nw_riscv64_unwind, nw_ppc64_unwind, nw_s390x_unwind;

extern const struct nw_arch nw_arch_table[];
extern const size_t nw_arch_count;

enum nw_nop nw_nop_at(const struct nw_arch *arch, const unsigned char *code, size_t len);

#endif
