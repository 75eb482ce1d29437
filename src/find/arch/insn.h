/* SPDX-License-Identifier: MIT */
/*
 * Instructions: where they begin, and which of them leave a function. Pure: code goes in as bytes.
 *
 * x86 is decoded by capstone, if it was there at build time. Elsewhere a word or two bits tell how
 * long an instruction is, and nothing else is asked but which of them jump and return.
 */
#ifndef NOPWATCH_FIND_ARCH_INSN_H
#define NOPWATCH_FIND_ARCH_INSN_H

#include "arch.h"

enum nw_insn_kind {
	NW_INSN_PLAIN,
	NW_INSN_CALL,
	NW_INSN_RETURN,
	NW_INSN_JUMP,	/* nothing goes on behind it */
	NW_INSN_BRANCH, /* it may jump, or go on */
	NW_INSN_TRAP,	/* ud2, hlt, brk: the end of what does not return */
};

/* Where a jump or a branch goes. */
enum nw_insn_goal {
	NW_GOAL_TARGET, /* to target */
	NW_GOAL_TABLE, /* through a table of the compiler's (switch): it stays in its function */
	NW_GOAL_POINTER, /* through a pointer in memory: to another function */
	NW_GOAL_ARRAY,	 /* through a pointer of the array at target: either of the two */
	NW_GOAL_UNKNOWN, /* through a register, and what is in it cannot be told */
};

struct nw_insn {
	uint64_t vaddr;
	unsigned int size;
	enum nw_insn_kind kind;
	enum nw_insn_goal goal;
	uint64_t target;
	unsigned int reg; /* of a jump through one, for whoever decodes; 0: none */
	bool locked;	  /* x86: a lock prefix, which code may jump over */
};

struct nw_insns {
	struct nw_insn *item;
	size_t count, room;
};
typedef struct nw_insns nw_insns;

/*
 * Take code at vaddr apart, from its first byte to its last. Returns NULL, or a sentence that says why
 * that was not possible: then nothing is known of any of the code.
 */
const char *nw_insns_decode(const struct nw_arch *arch, const unsigned char *code,
			    size_t len, uint64_t vaddr, nw_insns *out);
/* For decoders: append an instruction (NULL: no memory), and the reasons that they return. */
struct nw_insn *nw_insns_add(nw_insns *out, uint64_t vaddr, unsigned int size);
extern const char nw_insn_no_memory[], nw_insn_cut_off[];

#endif
