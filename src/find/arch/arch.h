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

struct nw_arch; /* registers, operand grammar and nops of one machine; see find/arch/arch.h */

/* Finds an architecture by its name ("x86_64"); NULL if it is unknown. */
const struct nw_arch *nw_arch_by_name(const char *name);
const char *nw_arch_name(const struct nw_arch *arch);
/* Returns the size of a register and of a pointer in bytes: 4 or 8. */
unsigned int nw_arch_word(const struct nw_arch *arch);
/* Returns the kernel's name of the instruction pointer ("ip"); NULL if the kernel has none. */
const char *nw_arch_pc(const struct nw_arch *arch);
/*
 * nw_arch_stack() returns the kernel's name of the stack pointer ("sp"). In a return probe the stack pointer is
 * nw_arch_return_pops() bytes higher than at the function's entry, and higher still if nw_arch_callee_pops() and
 * the function has popped its arguments.
 */
const char *nw_arch_stack(const struct nw_arch *arch);
unsigned int nw_arch_return_pops(const struct nw_arch *arch);
bool nw_arch_callee_pops(const struct nw_arch *arch);
/* Returns the architecture for which this program was built. */
const struct nw_arch *nw_arch_native(void);
/* Tells whether a process has a uprobe at a site. machine: e_machine; code: the bytes in the process's memory. 1:
 * yes; 0: no; -1: yes if the file has other bytes there. */
int nw_arch_is_armed(unsigned int machine, const unsigned char *code, size_t len);
/* Returns the number of the system call by which newer kernels replace uprobes at long nops; 0: none. */
long nw_arch_uprobe_call(const struct nw_arch *arch);
/* Does a load of 8 bytes that runs into the end of a mapping keep the bytes before the end? */
bool nw_arch_partial_loads(const struct nw_arch *arch);
/* Do kernels of this architecture kill a program that hits a probe while the probe is removed? */
bool nw_arch_reads_trap_again(const struct nw_arch *arch);
/* Do all kernels of this architecture kill a program that leaves a function with a return probe by longjmp()? */
bool nw_arch_keeps_left_calls(const struct nw_arch *arch);
/* Returns the names of the first three argument registers in pt_regs, with which the canary tests the kernel; NULL:
 * the canary fetches none. */
const char *const *nw_arch_canary_args(const struct nw_arch *arch);

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
	NW_NOP_TRAP, /* the file itself has a breakpoint here */
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
	unsigned int scale;	 /* MEMORY: 1, 2, 4, 8, ... with an index */
	/* MEMORY, GLOBAL: the place holds a pointer; then[0] is added to it, and so on. */
	unsigned int loads;
	int64_t then[NW_MOST_THEN];
	unsigned int
		bits; /* of a bit field in little-endian memory that begins at `shift`; 0: it is none */
	bool in_place; /* an array, not a pointer to one */
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
/* Returns NULL if callers cannot be found on this architecture. */
const struct nw_unwind *nw_arch_unwind(const struct nw_arch *arch);

#endif
