/* SPDX-License-Identifier: MIT */
/*
 * An architecture as data: its registers, and how its assembler writes operands. The rows are in table.c; operand.c
 * parses operands by them.
 */
#ifndef NOPWATCH_FIND_ARCH_ARCH_PRIVATE_H
#define NOPWATCH_FIND_ARCH_ARCH_PRIVATE_H

#include "find/arch/arch.h"

enum nw_reg_kind {
	NW_REG_GENERAL,
	NW_REG_PC,
	NW_REG_ZERO,	/* always reads 0; pt_regs does not have it */
	NW_REG_FLOAT,	/* not in pt_regs: ftrace cannot read it */
	NW_REG_SEGMENT, /* x86 %fs, %gs: the base of thread-local storage */
};

/*
 * A register, or a numbered family of registers. With first < 0, `name` is the whole name. Otherwise the names are
 * name + N + suffix for N in first..last, and pt_regs calls them kernel + N.
 */
struct nw_reg_family {
	const char *name;
	int first, last;
	const char *suffix;
	const char *kernel; /* the name that regs_query_register_offset() takes */
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
	int big_endian; /* 1 or 0; -1: the machine has both byte orders */
	unsigned int word;
	/* The name of the instruction pointer in pt_regs; NULL: it has none. */
	const char *pc;

	/* How the assembler writes operands: */
	const char *sigil;	/* before a register: "%", "$" or "" */
	bool sigil_optional;	/* ppc: 9, r9 and %r9 are the same */
	char immediate;		/* before a constant: '$', '#', 'i'; 0: none needed */
	bool bare_constant;	/* a bare number is a constant */
	bool bare_register;	/* a bare number is a register (ppc) */
	bool bare_symbol_value; /* a bare symbol is its address, not its content (arm) */
	enum nw_memory_form memory;
	bool index_first; /* D(index,base) (s390) */
	/* A value of 8 bytes may lie in two registers of 32 bits: each register in this list is followed by the one
	 * that holds the upper half. NULL: no such list is known. */
	const char *pair_order;

	/* The procedure call standard, written as a note would write it: */
	const char *call_args; /* integer arguments in registers, at a function's entry */
	const char *return_value; /* the result, at the function's return */
	/* Arguments that do not fit into call_args; NULL: not known. */
	const char *stack_args;
	/* These sentences say why the kernel cannot fetch a floating-point argument or result; NULL: it lies where
	 * an integer would. */
	const char *float_args, *float_result;
	/* A floating-point argument also uses up the register in which an integer would have been passed (OpenPOWER
	 * ELFv2 ABI, "Parameter Passing in Registers"). */
	bool floats_take_places;
	uint32_t soft_float_mask,
		soft_float; /* e_flags of code whose floats are integers */

	/* Arguments of Go functions: in the registers go_args since Go 1.go_since, on the stack before. NULL: not
	 * known. */
	const char *go_args, *go_stack;
	int go_since;
	/*
	 * The register that points to the goroutine, by its name in pt_regs, in all Go functions but those in
	 * assembly that use the stack for arguments (go_g_always: in those, too). NULL: no register does (Go's
	 * src/cmd/compile/abi-internal.md, and REGG in the assembler's obj files).
	 */
	const char *go_g;
	bool go_g_always;

	/*
	 * The name of the stack pointer in pt_regs, and how many bytes higher it is for a return probe than at the
	 * function's entry. The kernel's handler runs after the return instruction, which has popped the return
	 * address on x86 (handle_trampoline() of kernel/events/uprobes.c; sys_uretprobe() of 6.11+ restores the
	 * same value).
	 */
	const char *stack;
	unsigned int return_pops;
	/* A function may also pop its arguments (ret N): i386 functions do so if they return a structure or are
	 * stdcall. */
	bool callee_pops;

	/* Registers that hold call frame addresses, by their DWARF numbers. */
	struct {
		unsigned int dwarf;
		const char *name; /* in pt_regs; NULL: the entry is unused */
	} frame_regs[2];

	/* The names in pt_regs of the registers that DWARF numbers from 0 on; NULL: not known. */
	const char *dwarf_regs;

	const struct nw_unwind *unwind; /* see nw_arch_unwind(); NULL: not known */

	const struct nw_reg_family *regs;
	size_t reg_count;

	/* Classifies the nop at code. NULL: the nops below are plain ones, and there are no others. */
	enum nw_nop (*nop_at)(const unsigned char *code, size_t len);
	const struct nw_nop_code *nops;
	size_t nop_count;
	/* The kernel cannot probe code with these nops; `barred` says what kind of code has them. */
	const struct nw_nop_code *barred_nops;
	size_t barred_count;
	const char *barred;

	/* Tells whether a uprobe is armed at code. NULL: one is armed if the bytes differ from the file. */
	bool (*is_armed)(const unsigned char *code, size_t len);
	/* The system call by which kernels since 6.18 replace uprobes at long nops; 0: none. */
	long uprobe_call;
	/* A load that runs into the end of a mapping keeps the bytes before the end (since 5.8). */
	bool partial_loads;
	/*
	 * The kernel reads the instruction again to see whether it was a breakpoint. If the probe was removed
	 * meanwhile, the kernel kills the program by SIGILL (illegal_op() in arch/s390/kernel/traps.c,
	 * do_undefinstr() in arch/arm/kernel/traps.c; other architectures restart the instruction).
	 */
	bool reads_trap_again;
	/*
	 * These kernels have no arch_uretprobe_is_alive() of their own. They take a call that longjmp() has left
	 * for a live one, so the next return of a probed function jumps to the return address of the abandoned call
	 * (kernel/events/uprobes.c).
	 */
	bool keeps_left_calls;
	/* Names of the first argument registers in pt_regs, for the canary; NULL: the canary fetches none. */
	const char *canary_args[3];

	/* Relocation types (psABI) of a GOT slot that holds a symbol's address, of one for a call through the PLT,
	 * and of one that an ifunc's resolver fills; 0: not known. */
	unsigned int got_slot, plt_slot, ifunc_slot;
	/* Bits of a function's value that do not belong to its address, such as the lowest bit for Thumb code. */
	uint64_t no_address;
	/* st_other encodes how far behind a function's address calls from its own file enter it (ppc64). */
	bool local_entries;
	/* Tells whether these 16 bytes of code begin like a PLT entry. NULL: not known. */
	bool (*is_plt_entry)(const unsigned char *code);

	/* The length of every instruction in bytes; 0: lengths differ. */
	unsigned int insn_width;
	bool insn_kinds; /* decode() tells which instructions leave a function */
	/* Implements nw_insns_decode(); NULL: there is no decoder. */
	nw_insn_decoder *decode;
};

struct nw_reg {
	char kernel[12];
	unsigned int bits, shift;
	enum nw_reg_kind kind;
};

/* Finds an architecture by e_machine, class and byte order of an ELF header; NULL: it has no uprobes. */
const struct nw_arch *nw_arch_find(unsigned int machine, bool elf64, bool big_endian);
/* Returns the kernel's name of a register that holds a call frame address, by its DWARF number (the psABI's table
 * "DWARF register number mapping"); NULL: call frame addresses are not counted from this one. */
const char *nw_arch_frame_register(const struct nw_arch *arch, unsigned int dwarf);
/* Writes the kernel's name of a register by its DWARF number. Returns false if the kernel has none. */
bool nw_arch_dwarf_register(const struct nw_arch *arch, uint64_t number, char out[12]);
/* Looks up a register by the name that an assembler prints, without its sigil. */
bool nw_arch_register(const struct nw_arch *arch, const char *name, size_t len,
		      struct nw_reg *out);

/* Says what kind of code is at a site if it has a nop that the kernel cannot probe; else NULL. */
const char *nw_nop_barred(const struct nw_arch *arch, const unsigned char *code,
			  size_t len);

/* Functions for the rows of table.c; an architecture that needs code has a file of its own (x86.c, ...). */
enum nw_nop nw_x86_nop_at(const unsigned char *code, size_t len);
bool nw_x86_is_armed(const unsigned char *code, size_t len);
bool nw_x86_is_plt_entry(const unsigned char *code);
nw_insn_decoder nw_x86_decode, nw_arm64_decode, nw_riscv_decode, nw_s390_decode;
bool nw_arm64_is_plt_entry(const unsigned char *code);
/* The rows of unwind.c. */
extern const struct nw_unwind nw_x86_64_unwind, nw_i386_unwind, nw_arm64_unwind,
	nw_arm_unwind, nw_riscv64_unwind, nw_ppc64_unwind, nw_s390x_unwind;

extern const struct nw_arch nw_arch_table[];
extern const size_t nw_arch_count;

enum nw_nop nw_nop_at(const struct nw_arch *arch, const unsigned char *code, size_t len);

#endif
