// SPDX-License-Identifier: MIT
/*
 * The registers from which the callers of a function are found, for each architecture. They have to be fetched with
 * each hit: the program counter, the stack pointer, and the registers that functions preserve for their callers.
 *
 * The register numbers are DWARF's, from these documents:
 * 	x86-64	System V ABI, AMD64 supplement: figure "DWARF Register Number Mapping"
 * 	i386	System V ABI, Intel386 supplement: table "DWARF Register Number Mapping"
 * 	arm64	DWARF for the Arm 64-bit Architecture (IHI 0057): "DWARF register names"
 * 	riscv64	RISC-V ABIs Specification: "DWARF Register Numbers"
 * 	ppc64	64-Bit ELF V2 ABI Specification, Power Architecture: table "Mappings of Common Registers"
 * 	arm	DWARF for the Arm Architecture (IHI 0040): "DWARF register names"
 * 	s390x	ELF ABI, s390x Supplement: table "DWARF register number mapping"
 * The names are the kernel's (table.c).
 */
#include "arch.h"

#define FETCHED(list) .fetched = (list), .count = NW_COUNT(list)

/* clang-format off */
static const struct nw_unwind_register x86_64_fetched[] = {
	{"ip", 16}, {"sp", 7}, {"bp", 6}, {"bx", 3}, {"r12", 12}, {"r13", 13}, {"r14", 14}, {"r15", 15},
};
static const struct nw_unwind_register i386_fetched[] = {
	{"ip", 8}, {"sp", 4}, {"bp", 5}, {"bx", 3}, {"si", 6}, {"di", 7},
};
static const struct nw_unwind_register arm64_fetched[] = {
	{"pc", 32}, {"sp", 31}, {"x29", 29}, {"x30", 30}, {"x19", 19}, {"x20", 20}, {"x21", 21},
	{"x22", 22}, {"x23", 23}, {"x24", 24}, {"x25", 25}, {"x26", 26}, {"x27", 27}, {"x28", 28},
};
static const struct nw_unwind_register arm_fetched[] = {
	{"pc", 15}, {"sp", 13}, {"fp", 11}, {"lr", 14}, {"r4", 4}, {"r5", 5}, {"r6", 6}, {"r7", 7},
	{"r8", 8}, {"r9", 9}, {"r10", 10},
};
static const struct nw_unwind_register riscv64_fetched[] = {
	{"epc", NW_NO_REGISTER}, {"sp", 2}, {"s0", 8}, {"ra", 1}, {"s1", 9}, {"s2", 18}, {"s3", 19},
	{"s4", 20}, {"s5", 21}, {"s6", 22}, {"s7", 23}, {"s8", 24}, {"s9", 25}, {"s10", 26}, {"s11", 27},
};
static const struct nw_unwind_register ppc64_fetched[] = {
	{"nip", NW_NO_REGISTER}, {"gpr1", 1}, {"gpr31", 31}, {"link", 65}, {"gpr14", 14}, {"gpr15", 15},
	{"gpr16", 16}, {"gpr17", 17}, {"gpr18", 18}, {"gpr19", 19}, {"gpr20", 20}, {"gpr21", 21},
	{"gpr22", 22}, {"gpr23", 23}, {"gpr24", 24}, {"gpr25", 25}, {"gpr26", 26}, {"gpr27", 27},
	{"gpr28", 28}, {"gpr29", 29}, {"gpr30", 30},
};
static const struct nw_unwind_register s390x_fetched[] = {
	{"r15", 15}, {"r11", 11}, {"r14", 14}, {"r6", 6}, {"r7", 7}, {"r8", 8}, {"r9", 9}, {"r10", 10},
	{"r12", 12}, {"r13", 13},
};
/* clang-format on */

/* The frame pointer points to the caller's saved frame pointer; the return address is the next word. */
const struct nw_unwind nw_x86_64_unwind = {
	FETCHED(x86_64_fetched),
	.has_pc = true,
	.stack = 7,
	.link = NW_NO_REGISTER,
	.pops = 8,
	.frames = {.reg = 6, .next = 0, .back = 8, .end = 16},
};
const struct nw_unwind nw_i386_unwind = {
	FETCHED(i386_fetched),
	.has_pc = true,
	.stack = 4,
	.link = NW_NO_REGISTER,
	.pops = 4,
	.frames = {.reg = 5, .next = 0, .back = 4, .end = 8},
};
/* Procedure Call Standard for the Arm 64-bit Architecture (IHI 0055), "The Frame Pointer". */
const struct nw_unwind nw_arm64_unwind = {
	FETCHED(arm64_fetched),
	.has_pc = true,
	.stack = 31,
	.link = 30,
	.frames = {.reg = 29, .next = 0, .back = 8, .end = 16},
};
/*
 * Arm code has .debug_frame, or only the exception tables that exidx.c reads. There is no list of frames: each
 * compiler uses the frame pointer in its own way, and differently in ARM and Thumb code.
 */
const struct nw_unwind nw_arm_unwind = {
	FETCHED(arm_fetched),
	.has_pc = true,
	.stack = 13,
	.link = 14,
	.no_address = 1, /* the Thumb bit */
	.frames = {.reg = NW_NO_REGISTER},
};
/* RISC-V ABIs Specification, "Frame Pointer Convention": the frame pointer points to the end of the frame. */
const struct nw_unwind nw_riscv64_unwind = {
	FETCHED(riscv64_fetched),
	.has_pc = true,
	.stack = 2,
	.link = 1,
	.frames = {.reg = 8, .next = -16, .back = -8, .end = 0},
};
/*
 * ELF V2 ABI, "The Stack Frame": the stack pointer always points to the back chain. A function saves its return
 * address 16 bytes into its caller's frame ("LR save doubleword").
 */
const struct nw_unwind nw_ppc64_unwind = {
	FETCHED(ppc64_fetched),
	.has_pc = true,
	.stack = 1,
	.link = 65,
	.frames = {.reg = 1, .next = 0, .back = 16, .back_in_next = true},
};
/*
 * ELF ABI, s390x Supplement, "The Stack Frame": the caller provides 160 bytes in which the function saves
 * registers. Compilers write a back chain only on request, and distributions do not ask for it.
 */
const struct nw_unwind nw_s390x_unwind = {
	FETCHED(s390x_fetched),
	.stack = 15,
	.link = 14,
	.above = 160,
	.frames = {.reg = NW_NO_REGISTER},
};
