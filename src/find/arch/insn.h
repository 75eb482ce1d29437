/* SPDX-License-Identifier: MIT */
/*
 * Splits code into instructions and finds those that leave a function. The code comes in as bytes; nothing else is
 * read.
 *
 * x86 is decoded by capstone, if the build has it. Other architectures encode the length of an instruction in a
 * word or two bits, and their decoders recognise only jumps, calls and returns.
 */
#ifndef NOPWATCH_FIND_ARCH_INSN_H
#define NOPWATCH_FIND_ARCH_INSN_H

#include "arch.h"

enum nw_insn_kind {
	NW_INSN_PLAIN,
	NW_INSN_CALL,
	NW_INSN_RETURN,
	NW_INSN_JUMP,	/* the next instruction is not reached from here */
	NW_INSN_BRANCH, /* it jumps, or the next instruction follows */
	NW_INSN_TRAP,	/* ud2, hlt, brk: the program does not go on */
};

/* The destination of a jump or a branch. */
enum nw_insn_goal {
	NW_GOAL_TARGET, /* the address `target` */
	/* Through a compiler's jump table (switch): it stays in its function. */
	NW_GOAL_TABLE,
	NW_GOAL_POINTER, /* through a pointer in memory: it goes to another function */
	/* Through the array of pointers at `target`: one of the two above. */
	NW_GOAL_ARRAY,
	NW_GOAL_UNKNOWN, /* through a register with unknown content */
};

struct nw_insn {
	uint64_t vaddr;
	unsigned int size;
	enum nw_insn_kind kind;
	enum nw_insn_goal goal;
	uint64_t target;
	/* The register that an indirect jump uses, for the decoder; 0: none. */
	unsigned int reg;
	bool locked; /* x86: it has a lock prefix, which code may jump over */
};

struct nw_insns {
	struct nw_insn *item;
	size_t count, room;
};
typedef struct nw_insns nw_insns;

/*
 * Splits all code at vaddr into instructions. Returns NULL, or a sentence that says why that is not possible; `out`
 * is then of no use.
 */
const char *nw_insns_decode(const struct nw_arch *arch, const unsigned char *code,
			    size_t len, uint64_t vaddr, nw_insns *out);
/* For decoders: appends an instruction (NULL: out of memory); and two reasons that decoders return. */
struct nw_insn *nw_insns_add(nw_insns *out, uint64_t vaddr, unsigned int size);
extern const char nw_insn_no_memory[], nw_insn_cut_off[];

#endif
