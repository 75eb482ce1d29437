/* SPDX-License-Identifier: MIT */
/*
 * find/arch: registers, nops, instructions and calling conventions of each architecture, and its assembler's syntax
 * for the operands of USDT notes. Code and text come in as bytes, both may be hostile, and nothing else is read.
 */
#ifndef NOPWATCH_FIND_ARCH_ARCH_H
#define NOPWATCH_FIND_ARCH_ARCH_H

#include <sys/types.h>

#include "base/base.h"

/* ---- architectures ------------------------------------------------------------------ */

struct nw_arch;

/* Finds an architecture by its name ("x86_64"); NULL if it is unknown. */
const struct nw_arch *nw_arch_by_name(const char *name);
/* Returns the architecture for which this program was built; NULL if it is unknown. */
const struct nw_arch *nw_arch_native(void);
/* Tells whether a process has a uprobe at a site. machine: e_machine; code: the bytes in the process's memory. 1:
 * yes; 0: no; -1: yes if the file has other bytes there. */
int nw_arch_is_armed(unsigned int machine, const unsigned char *code, size_t len);
/* Tells whether the kernel has turned the probe of an armed site into a call, so that a hit takes no trap. */
bool nw_arch_is_optimised(unsigned int machine, const unsigned char *code, size_t len);

/*
 * The instruction at a USDT site. The kernel emulates the plain nop everywhere. It may single-step other nops,
 * which takes ten times as long, and on 6.18 to 7.1 it replaces nop5 by a call that overwrites the red zone.
 */
enum nw_nop {
	NW_NOP_NONE, /* no nop: a probe must not be armed here */
	NW_NOP_1,    /* the architecture's plain nop */
	NW_NOP_LONG, /* x86: 2..9 bytes, but not 5 */
	NW_NOP_5,    /* x86: 5 bytes */
	NW_NOP_10,   /* x86: 10 bytes and more */
	NW_NOP_PAIR, /* x86-64: a plain nop, and behind it a nop of 10 bytes that the kernel can turn into a call */
	NW_NOP_TRAP, /* the file itself has a breakpoint here */
};
/* NW_NOP_PAIR: how far behind the plain nop the other one begins, and how long that is, in bytes. */
enum {
	NW_CALL_DISTANCE = 1,
	NW_CALL_LENGTH = 10
};
/* Returns "nop", "nop5", ..., "trap"; NULL for NW_NOP_NONE. */
const char *nw_nop_name(enum nw_nop nop);

/* ---- operands ----------------------------------------------------------------------- */

enum nw_operand_kind {
	NW_OPERAND_UNKNOWN, /* the text fits no grammar; `problem` says what was found */
	NW_OPERAND_REGISTER,
	NW_OPERAND_MEMORY,   /* *(register + offset [+ index * scale]) */
	NW_OPERAND_GLOBAL,   /* *(symbol + offset) */
	NW_OPERAND_CONSTANT, /* value */
};

/*
 * One argument of a USDT note, such as `-4@8(%rbp)`. The size and sign are the note's: the
 * width of the register's name does not count (sys/sdt.h: "STAP_PROBE_ASM", gdb PR 24541).
 */
enum {
	NW_MOST_THEN = 3
};
struct nw_operand {
	enum nw_operand_kind kind;
	const char *text; /* in the note, text_len bytes */
	size_t text_len;
	unsigned int size; /* bytes */
	bool is_signed;
	bool is_float;
	bool absolute;	    /* GLOBAL: the code contains the symbol's address itself */
	bool got;	    /* GLOBAL: the value is the address in the symbol's GOT slot */
	unsigned int shift; /* REGISTER: the first bit; 8 for %ah */
	char reg[12];	    /* the kernel's name; "": none */
	char reg_high[12];  /* the second register of a pair */
	char index[12];	    /* MEMORY: index register */
	unsigned int index_bits; /* width of the index register's name */
	bool index_unsigned;	 /* it is extended by zeros, `uxtw`; else by its sign */
	unsigned int scale;	 /* MEMORY: 1, 2, 4, 8, ... with an index */
	/* MEMORY, GLOBAL: the place holds a pointer; then[0] is added to it, and so on. */
	unsigned int loads;
	int64_t then[NW_MOST_THEN];
	unsigned int
		bits; /* of a bit field in little-endian memory that begins at `shift`; 0: it is none */
	bool in_place; /* an array, not a pointer to one */
	/* REGISTER, MEMORY: reg is the name of a value that the kernel passes on, and the place is read by an event probe: "k0"
	 * was kept of a call's entry, "e0" is the sum of two registers. */
	bool carried;
	/* Only the index is a problem: memory near the base can be fetched. Without reg, the base is the symbol's
	 * address. */
	bool window;
	/* REGISTER: the value has twice the register's width; the note does not name the second register. */
	bool half;
	int64_t offset; /* MEMORY, GLOBAL, address constant: displacement */
	/* CONSTANT: truncated to size, sign-extended to 64 bits if signed. */
	uint64_t value;
	/* The symbol that offset is added to: in the note, symbol_len bytes. */
	const char *symbol;
	size_t symbol_len;
	bool resolved; /* the symbol was found */
	/* The symbol's linked address; with `got`, that of its GOT slot. */
	uint64_t address;
	/* A sentence that says why the value cannot be fetched; NULL: it can. */
	const char *problem;
};

typedef NW_VEC(struct nw_operand) nw_operands;

/* Can a value of so many bytes be a number? */
static inline bool nw_is_plain_size(unsigned int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/*
 * Splits and parses the argument string of a note. Text that cannot be parsed becomes an operand of kind UNKNOWN
 * with its problem. The operands point into args. Returns 0 or -ENOMEM.
 */
int nw_operands_parse(const struct nw_arch *arch, const char *args, nw_operands *out);
/* Truncates a constant to its size; a signed one is extended to 64 bits again. */
uint64_t nw_operand_cut(uint64_t value, unsigned int size, bool is_signed);
/* Counts the arguments, without an architecture. */
size_t nw_operands_count(const char *args);

/* ---- how callers are found ------------------------------------------------------- */

enum {
	NW_MAX_REGISTERS = 66, /* DWARF's numbers; the highest is ppc64's link register */
	NW_NO_REGISTER = NW_MAX_REGISTERS
};

/* A register that is needed to find callers: the kernel's name, and its number in DWARF (NW_NO_REGISTER: DWARF has
 * none, as for some instruction pointers). */
struct nw_unwind_register {
	const char *name;
	unsigned int dwarf;
};

/*
 * Code without call frame information keeps a linked list of frames: register `reg` points to a frame, the caller's
 * value of that register is at distance `next` in bytes, and the return address at distance `back`.
 */
struct nw_frame_list {
	unsigned int reg; /* NW_NO_REGISTER: the architecture has no such list */
	int next, back;
	bool back_in_next; /* `back` is counted from the caller's frame */
	/* Distance to the end of the frame, which is the caller's stack pointer. */
	int end;
};

/* How callers are found on an architecture. Register numbers are DWARF's. */
struct nw_unwind {
	/* The registers to fetch with each hit, in this order. */
	const struct nw_unwind_register *fetched;
	size_t count;
	/* The first one is the instruction pointer; otherwise the kernel has no name for it. */
	bool has_pc;
	unsigned int stack; /* the stack pointer */
	/* The register that holds the return address at a function's first instruction; NW_NO_REGISTER: the return
	 * address is on top of the stack. */
	unsigned int link;
	/* Bytes that the return instruction pops off the stack (x86). */
	unsigned int pops;
	/* Bits of a return address that do not belong to it, such as the lowest bit for Thumb code. */
	uint64_t no_address;
	/* How many bytes DWARF's "canonical frame address" is above the caller's stack pointer (s390x). */
	unsigned int above;
	struct nw_frame_list frames;
};

/* ---- an architecture as data; the rows are in table.c -------------------------------- */

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
	/* A function of the kernel itself has its arguments here, and those behind them there. NULL: as elsewhere. */
	const char *kernel_call_args, *kernel_stack_args;
	/*
	 * Where a kernel of this architecture has the six arguments of a system call at the entry of its function, as fetches
	 * of a kprobe with a blank behind each. Newer kernels have a wrapper, SYSCALL_PREFIX "sys_openat", whose only argument
	 * is a struct pt_regs (arch/x86/include/asm/syscall_wrapper.h); older ones have "sys_openat". NULL: not known.
	 */
	const char *syscall_prefix, *syscall_regs, *syscall_args;
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
	/* A return probe of the kernel's own functions does not know the stack pointer: its trampoline stores r0 to r11 only
	 * (arch/arm/probes/kprobes/core.c). */
	bool no_kernel_return_stack;

	/* Registers that hold call frame addresses, by their DWARF numbers. */
	struct {
		unsigned int dwarf;
		const char *name; /* in pt_regs; NULL: the entry is unused */
	} frame_regs[2];

	/* The names in pt_regs of the registers that DWARF numbers from 0 on; NULL: not known. */
	const char *dwarf_regs;

	const struct nw_unwind *unwind; /* how callers are found; NULL: they cannot be */

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
	/* Tells whether the code of an armed probe is the kernel's call. NULL: its kernels write none. */
	bool (*is_optimised)(const unsigned char *code, size_t len);
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
enum nw_nop nw_x86_64_nop_at(const unsigned char *code, size_t len);
bool nw_x86_is_armed(const unsigned char *code, size_t len);
bool nw_x86_is_optimised(const unsigned char *code, size_t len);
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
