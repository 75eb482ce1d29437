// SPDX-License-Identifier: MIT
/*
 * The table of architectures.
 *
 * Names in the kernel: regoffset_table of arch/ARCH/kernel/ptrace.c (x86, arm, arm64, powerpc, riscv, loongarch)
 * and regs_query_register_offset() (s390: r0..r15 only). Names in assembler: what gcc and clang print for the
 * constraints of sys/sdt.h. powerpc's table has both r3 and gpr3; gpr3 is the older name.
 */
#include <elf.h>

#include "arch.h"
#include "base/old_headers.h"

#define GENERAL NW_REG_GENERAL
#define ONE(n, k, b)                                                 \
	{                                                            \
		.name = (n), .first = -1, .kernel = (k), .bits = (b) \
	}
#define HIGH(n, k)                                                             \
	{                                                                      \
		.name = (n), .first = -1, .kernel = (k), .bits = 8, .shift = 8 \
	}
#define KIND(n, k, t)                                                \
	{                                                            \
		.name = (n), .first = -1, .kernel = (k), .kind = (t) \
	}
#define FAMILY(n, lo, hi, sfx, k, b)                                                      \
	{                                                                                 \
		.name = (n), .first = (lo), .last = (hi), .suffix = (sfx), .kernel = (k), \
		.bits = (b)                                                               \
	}
#define FLOATS(n, lo, hi)                                                              \
	{                                                                              \
		.name = (n), .first = (lo), .last = (hi), .suffix = "", .kernel = (n), \
		.kind = NW_REG_FLOAT                                                   \
	}

/* clang-format off */
#define X86_LETTER(l) \
	ONE("e" l "x", l "x", 32), ONE(l "x", l "x", 16), ONE(l "l", l "x", 8), HIGH(l "h", l "x")
#define X86_POINTER(p) ONE("e" p, p, 32), ONE(p, p, 16)
#define X86_SPECIAL \
	KIND("eip", "ip", NW_REG_PC), \
	KIND("fs", "fs", NW_REG_SEGMENT), KIND("gs", "gs", NW_REG_SEGMENT), \
	FLOATS("xmm", 0, 31), FLOATS("ymm", 0, 31), FLOATS("zmm", 0, 31), FLOATS("mm", 0, 7), \
	FLOATS("k", 0, 7), KIND("st", "st", NW_REG_FLOAT)

static const struct nw_reg_family x86_64_regs[] = {
	ONE("rax", "ax", 64), ONE("rbx", "bx", 64), ONE("rcx", "cx", 64), ONE("rdx", "dx", 64),
	ONE("rsi", "si", 64), ONE("rdi", "di", 64), ONE("rbp", "bp", 64), ONE("rsp", "sp", 64),
	X86_LETTER("a"), X86_LETTER("b"), X86_LETTER("c"), X86_LETTER("d"),
	X86_POINTER("si"), X86_POINTER("di"), X86_POINTER("bp"), X86_POINTER("sp"),
	ONE("sil", "si", 8), ONE("dil", "di", 8), ONE("bpl", "bp", 8), ONE("spl", "sp", 8),
	FAMILY("r", 8, 15, "", "r", 64), FAMILY("r", 8, 15, "d", "r", 32),
	FAMILY("r", 8, 15, "w", "r", 16), FAMILY("r", 8, 15, "b", "r", 8),
	KIND("rip", "ip", NW_REG_PC),
	X86_SPECIAL,
};

static const struct nw_reg_family i386_regs[] = {
	X86_LETTER("a"), X86_LETTER("b"), X86_LETTER("c"), X86_LETTER("d"),
	X86_POINTER("si"), X86_POINTER("di"), X86_POINTER("bp"), X86_POINTER("sp"),
	/* i386 has no registers of these names, but gcc writes them for low bytes. */
	ONE("sil", "si", 8), ONE("dil", "di", 8), ONE("bpl", "bp", 8), ONE("spl", "sp", 8),
	X86_SPECIAL,
};

static const struct nw_reg_family arm64_regs[] = {
	FAMILY("x", 0, 30, "", "x", 64), FAMILY("w", 0, 30, "", "x", 32),
	ONE("sp", "sp", 64), ONE("wsp", "sp", 32), ONE("x31", "sp", 64),
	ONE("fp", "x29", 64), ONE("lr", "x30", 64),
	KIND("xzr", "", NW_REG_ZERO), KIND("wzr", "", NW_REG_ZERO),
	KIND("pc", "pc", NW_REG_PC),
	FLOATS("v", 0, 31), FLOATS("q", 0, 31), FLOATS("d", 0, 31), FLOATS("s", 0, 31),
	FLOATS("h", 0, 31), FLOATS("b", 0, 31),
};

static const struct nw_reg_family arm_regs[] = {
	FAMILY("r", 0, 10, "", "r", 32),
	ONE("r11", "fp", 32), ONE("r12", "ip", 32), ONE("r13", "sp", 32), ONE("r14", "lr", 32),
	ONE("sb", "r9", 32), ONE("sl", "r10", 32), ONE("fp", "fp", 32), ONE("ip", "ip", 32),
	ONE("sp", "sp", 32), ONE("lr", "lr", 32),
	KIND("pc", "pc", NW_REG_PC), KIND("r15", "pc", NW_REG_PC),
	FLOATS("s", 0, 31), FLOATS("d", 0, 31), FLOATS("q", 0, 15),
};

static const struct nw_reg_family ppc64_regs[] = {
	FAMILY("r", 0, 31, "", "gpr", 64), FAMILY("", 0, 31, "", "gpr", 64),
	KIND("ctr", "ctr", GENERAL), KIND("lr", "link", GENERAL),
	FLOATS("f", 0, 31), FLOATS("v", 0, 31), FLOATS("vs", 0, 63),
};

static const struct nw_reg_family ppc32_regs[] = {
	FAMILY("r", 0, 31, "", "gpr", 32), FAMILY("", 0, 31, "", "gpr", 32),
	FLOATS("f", 0, 31), FLOATS("v", 0, 31),
};

static const struct nw_reg_family s390x_regs[] = {
	FAMILY("r", 0, 15, "", "r", 64),
	FLOATS("f", 0, 15), FLOATS("v", 0, 31), FLOATS("a", 0, 15),
};

static const struct nw_reg_family riscv64_regs[] = {
	KIND("zero", "", NW_REG_ZERO), KIND("x0", "", NW_REG_ZERO),
	ONE("ra", "ra", 64), ONE("sp", "sp", 64), ONE("gp", "gp", 64), ONE("tp", "tp", 64),
	FAMILY("t", 0, 6, "", "t", 64), FAMILY("s", 0, 11, "", "s", 64),
	FAMILY("a", 0, 7, "", "a", 64), ONE("fp", "s0", 64),
	ONE("x1", "ra", 64), ONE("x2", "sp", 64), ONE("x3", "gp", 64), ONE("x4", "tp", 64),
	ONE("x5", "t0", 64), ONE("x6", "t1", 64), ONE("x7", "t2", 64),
	ONE("x8", "s0", 64), ONE("x9", "s1", 64),
	ONE("x10", "a0", 64), ONE("x11", "a1", 64), ONE("x12", "a2", 64), ONE("x13", "a3", 64),
	ONE("x14", "a4", 64), ONE("x15", "a5", 64), ONE("x16", "a6", 64), ONE("x17", "a7", 64),
	ONE("x18", "s2", 64), ONE("x19", "s3", 64), ONE("x20", "s4", 64), ONE("x21", "s5", 64),
	ONE("x22", "s6", 64), ONE("x23", "s7", 64), ONE("x24", "s8", 64), ONE("x25", "s9", 64),
	ONE("x26", "s10", 64), ONE("x27", "s11", 64), ONE("x28", "t3", 64),
	ONE("x29", "t4", 64), ONE("x30", "t5", 64), ONE("x31", "t6", 64),
	FLOATS("ft", 0, 11), FLOATS("fs", 0, 11), FLOATS("fa", 0, 7), FLOATS("f", 0, 31),
};

static const struct nw_reg_family loongarch64_regs[] = {
	FAMILY("r", 0, 31, "", "r", 64), ONE("zero", "r0", 64),
	ONE("ra", "r1", 64), ONE("tp", "r2", 64), ONE("sp", "r3", 64), ONE("fp", "r22", 64),
	ONE("a0", "r4", 64), ONE("a1", "r5", 64), ONE("a2", "r6", 64), ONE("a3", "r7", 64),
	ONE("a4", "r8", 64), ONE("a5", "r9", 64), ONE("a6", "r10", 64), ONE("a7", "r11", 64),
	ONE("t0", "r12", 64), ONE("t1", "r13", 64), ONE("t2", "r14", 64), ONE("t3", "r15", 64),
	ONE("t4", "r16", 64), ONE("t5", "r17", 64), ONE("t6", "r18", 64), ONE("t7", "r19", 64),
	ONE("t8", "r20", 64), ONE("s9", "r22", 64),
	ONE("s0", "r23", 64), ONE("s1", "r24", 64), ONE("s2", "r25", 64), ONE("s3", "r26", 64),
	ONE("s4", "r27", 64), ONE("s5", "r28", 64), ONE("s6", "r29", 64), ONE("s7", "r30", 64),
	ONE("s8", "r31", 64),
	FLOATS("f", 0, 31), FLOATS("fa", 0, 7), FLOATS("ft", 0, 15), FLOATS("fs", 0, 7),
};

/*
 * Bytes of plain nops in memory: hint #0 (arm64); nop and mov r0,r0 (arm; the code of BE8 and of aarch64_be is
 * little endian, too); ori 0,0,0 (ppc); bc 0,0 (s390); c.nop and addi x0,x0,0 (riscv); andi r0,r0,0 (loongarch).
 */
static const struct nw_nop_code arm64_nops[] = {{{0x1f, 0x20, 0x03, 0xd5}, 4}};
static const struct nw_nop_code arm_nops[] = {{{0x00, 0xf0, 0x20, 0xe3}, 4},
					      {{0x00, 0x00, 0xa0, 0xe1}, 4}};
/* Thumb's nop, nop.w, and mov r8,r8 of assemblers that had no nop. Only the CPU's cpsr tells whether code is Thumb;
 * the note does not. */
static const struct nw_nop_code thumb_nops[] = {{{0x00, 0xbf}, 2},
						{{0xaf, 0xf3, 0x00, 0x80}, 4},
						{{0xc0, 0x46}, 2}};
static const struct nw_nop_code ppcle_nops[] = {{{0x00, 0x00, 0x00, 0x60}, 4}};
static const struct nw_nop_code ppcbe_nops[] = {{{0x60, 0x00, 0x00, 0x00}, 4}};
static const struct nw_nop_code s390_nops[] = {{{0x47, 0x00, 0x00, 0x00}, 4}};
static const struct nw_nop_code riscv_nops[] = {{{0x01, 0x00}, 2}, {{0x13, 0x00, 0x00, 0x00}, 4}};
static const struct nw_nop_code loongarch_nops[] = {{{0x00, 0x00, 0x40, 0x03}, 4}};
/* clang-format on */

#define REGS(table) .regs = (table), .reg_count = NW_COUNT(table)
#define NOPS(table) .nops = (table), .nop_count = NW_COUNT(table)

/* The order in which gcc allocates registers on i386; it takes the second half of a pair from the same order. */
#define I386_PAIRS "ax dx cx bx si di bp"
#define ARM_PAIRS  "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 fp ip sp"
#define PPC_PAIRS                                                                          \
	"gpr0 gpr1 gpr2 gpr3 gpr4 gpr5 gpr6 gpr7 gpr8 gpr9 gpr10 gpr11 gpr12 gpr13 gpr14 " \
	"gpr15 gpr16 gpr17 gpr18 gpr19 gpr20 gpr21 gpr22 gpr23 gpr24 gpr25 gpr26 gpr27 "   \
	"gpr28 gpr29 gpr30 gpr31"

/* Ten arguments on the stack, at these offsets, with the syntax around each. */
#define STACK(before, after, a, b, c, d, e, f, g, h, i, j)                          \
	before #a after " " before #b after " " before #c after " " before #d after \
			" " before #e after " " before #f after " " before #g after \
			" " before #h after " " before #i after " " before #j after
#define X86_STACK STACK("8@", "(%rsp)", 8, 16, 24, 32, 40, 48, 56, 64, 72, 80)

/* A sentence that says why a floating-point value cannot be fetched. */
#define VECTOR(what, which)                        \
	"a floating-point " what " is in " which   \
	", which ftrace cannot read: it has only " \
	"general registers"
#define FLOATS_IN(args, result) \
	.float_args = VECTOR("argument", args), .float_result = VECTOR("result", result)

#define X86_CODE(nop)                                                                    \
	.nop_at = nop, .is_armed = nw_x86_is_armed, .is_optimised = nw_x86_is_optimised, \
	.is_plt_entry = nw_x86_is_plt_entry, .decode = nw_x86_decode, .insn_kinds = true

const struct nw_arch nw_arch_table[] = {
	{.name = "x86_64",
	 X86_CODE(nw_x86_64_nop_at),
	 .uprobe_call = 336,
	 .partial_loads = true,
	 .canary_args = {"di", "si", "dx"},
	 .syscall_prefix = "__x64_",
	 .syscall_regs = "+112(%di) +104(%di) +96(%di) +56(%di) +72(%di) +64(%di) ",
	 .syscall_args = "%di %si %dx %cx %r8 %r9 ",
	 .got_slot = R_X86_64_GLOB_DAT,
	 .plt_slot = R_X86_64_JUMP_SLOT,
	 .ifunc_slot = R_X86_64_IRELATIVE,
	 .call_args = "8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@%r8 8@%r9",
	 .return_value = "8@%rax",
	 .dwarf_regs = "ax dx cx bx si di bp sp r8 r9 r10 r11 r12 r13 r14 r15",
	 .stack = "sp",
	 .frame_regs = {{7, "sp"}, {6, "bp"}},
	 .unwind = &nw_x86_64_unwind,
	 .return_pops = 8,
	 .stack_args = X86_STACK,
	 FLOATS_IN("xmm0 to xmm7", "xmm0"),
	 /* The registers are those of Go's abi-internal.md, "amd64 architecture". */
	 .go_args = "8@%rax 8@%rbx 8@%rcx 8@%rdi 8@%rsi 8@%r8 8@%r9 8@%r10 8@%r11",
	 .go_stack = X86_STACK,
	 .go_since = 17,
	 .go_g = "r14",
	 .machine = EM_X86_64,
	 .elf64 = true,
	 .word = 8,
	 .pc = "ip",
	 .sigil = "%",
	 .immediate = '$',
	 REGS(x86_64_regs)},
	/* x32 has 64-bit registers, but 32-bit pointers and notes. */
	{.name = "x32",
	 X86_CODE(nw_x86_nop_at),
	 .uprobe_call = 336,
	 .got_slot = R_X86_64_GLOB_DAT,
	 .plt_slot = R_X86_64_JUMP_SLOT,
	 .ifunc_slot = R_X86_64_IRELATIVE,
	 .call_args = "8@%rdi 8@%rsi 8@%rdx 8@%rcx 8@%r8 8@%r9",
	 .return_value = "8@%rax",
	 .stack = "sp",
	 .frame_regs = {{7, "sp"}, {6, "bp"}},
	 .return_pops = 8,
	 .stack_args = X86_STACK,
	 FLOATS_IN("xmm0 to xmm7", "xmm0"),
	 .machine = EM_X86_64,
	 .elf64 = false,
	 .word = 8,
	 .pc = "ip",
	 .sigil = "%",
	 .immediate = '$',
	 REGS(x86_64_regs)},
	{.name = "i386",
	 X86_CODE(nw_x86_nop_at),
	 .got_slot = R_386_GLOB_DAT,
	 .plt_slot = R_386_JMP_SLOT,
	 .ifunc_slot = R_386_IRELATIVE,
	 .call_args = "4@4(%esp) 4@8(%esp) 4@12(%esp) 4@16(%esp) 4@20(%esp) 4@24(%esp)",
	 /* -mregparm=3: arch/x86/Makefile, regs_get_kernel_argument() in asm/ptrace.h */
	 .kernel_call_args = "4@%eax 4@%edx 4@%ecx",
	 .kernel_stack_args = STACK("4@", "(%esp)", 4, 8, 12, 16, 20, 24, 28, 32, 36, 40),
	 /* The wrapper came with Linux 5.7; what it replaced is asmlinkage, whose arguments are on the stack. */
	 .syscall_prefix = "__ia32_",
	 .syscall_regs = "+0(%ax) +4(%ax) +8(%ax) +12(%ax) +16(%ax) +20(%ax) ",
	 .syscall_args = "+4(%sp) +8(%sp) +12(%sp) +16(%sp) +20(%sp) +24(%sp) ",
	 .return_value = "4@%eax",
	 .stack = "sp",
	 .frame_regs = {{4, "sp"}, {5, "bp"}},
	 .unwind = &nw_i386_unwind,
	 .return_pops = 4,
	 .callee_pops = true,
	 .stack_args = STACK("4@", "(%esp)", 28, 32, 36, 40, 44, 48, 52, 56, 60, 64),
	 .float_result = VECTOR("result", "st(0)"),
	 .go_stack = STACK("4@", "(%esp)", 4, 8, 12, 16, 20, 24, 28, 32, 36, 40),
	 .machine = EM_386,
	 .elf64 = false,
	 .word = 4,
	 .pc = "ip",
	 .sigil = "%",
	 .immediate = '$',
	 .pair_order = I386_PAIRS,
	 REGS(i386_regs)},
	{.name = "aarch64",
	 .canary_args = {"x0", "x1", "x2"},
	 .syscall_prefix = "__arm64_",
	 .syscall_regs = "+0(%x0) +8(%x0) +16(%x0) +24(%x0) +32(%x0) +40(%x0) ",
	 .syscall_args = "%x0 %x1 %x2 %x3 %x4 %x5 ",
	 .got_slot = 1025,   /* R_AARCH64_GLOB_DAT */
	 .plt_slot = 1026,   /* R_AARCH64_JUMP_SLOT */
	 .ifunc_slot = 1032, /* R_AARCH64_IRELATIVE */
	 .is_plt_entry = nw_arm64_is_plt_entry,
	 .insn_width = 4,
	 .insn_kinds = true,
	 .decode = nw_arm64_decode,
	 .call_args = "8@x0 8@x1 8@x2 8@x3 8@x4 8@x5 8@x6 8@x7",
	 .return_value = "8@x0",
	 .dwarf_regs =
		 "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 x30 sp",
	 .stack = "sp",
	 .frame_regs = {{31, "sp"}, {29, "x29"}},
	 .unwind = &nw_arm64_unwind,
	 .stack_args = STACK("8@[sp, ", "]", 0, 8, 16, 24, 32, 40, 48, 56, 64, 72),
	 FLOATS_IN("v0 to v7", "v0"),
	 /* Go's abi-internal.md, "arm64 architecture". The first word on the stack is the return address. */
	 .go_args =
		 "8@x0 8@x1 8@x2 8@x3 8@x4 8@x5 8@x6 8@x7 8@x8 8@x9 8@x10 8@x11 8@x12 8@x13 8@x14 8@x15",
	 .go_stack = STACK("8@[sp, ", "]", 8, 16, 24, 32, 40, 48, 56, 64, 72, 80),
	 .go_since = 18,
	 .go_g = "x28",
	 .go_g_always = true,
	 .machine = EM_AARCH64,
	 .elf64 = true,
	 .big_endian = -1,
	 .word = 8,
	 .pc = "pc",
	 .sigil = "",
	 .immediate = '#',
	 .bare_constant = true,
	 .memory = NW_MEMORY_BRACKET,
	 REGS(arm64_regs),
	 NOPS(arm64_nops)},
	{.name = "arm",
	 .reads_trap_again = true,
	 .keeps_left_calls = true,
	 .got_slot = R_ARM_GLOB_DAT,
	 .no_address = 1, /* the Thumb bit */
	 .insn_width = 4,
	 .call_args = "4@r0 4@r1 4@r2 4@r3",
	 .return_value = "4@r0",
	 .stack = "sp",
	 .no_kernel_return_stack = true,
	 .unwind = &nw_arm_unwind,
	 .stack_args = STACK("4@[sp, #", "]", 0, 4, 8, 12, 16, 20, 24, 28, 32, 36),
	 FLOATS_IN("d0 to d7", "d0"),
	 .soft_float_mask = EF_ARM_ABI_FLOAT_HARD,
	 .soft_float = 0,
	 .go_stack = STACK("4@[sp, #", "]", 4, 8, 12, 16, 20, 24, 28, 32, 36, 40),
	 .machine = EM_ARM,
	 .elf64 = false,
	 .big_endian = -1,
	 .word = 4,
	 .pc = "pc",
	 .sigil = "",
	 .immediate = '#',
	 .bare_symbol_value = true,
	 .memory = NW_MEMORY_BRACKET,
	 .pair_order = ARM_PAIRS,
	 REGS(arm_regs),
	 NOPS(arm_nops),
	 .barred_nops = thumb_nops,
	 .barred_count = NW_COUNT(thumb_nops),
	 .barred =
		 "Thumb code, in which kernels cannot place uprobes (gcc -marm makes ARM code)"},
	{.name = "ppc64le",
	 .got_slot = R_PPC64_GLOB_DAT,
	 .plt_slot = R_PPC64_JMP_SLOT,
	 .ifunc_slot = R_PPC64_IRELATIVE,
	 .local_entries = true,
	 .insn_width = 4,
	 .call_args = "8@3 8@4 8@5 8@6 8@7 8@8 8@9 8@10",
	 .return_value = "8@3",
	 .stack = "gpr1",
	 .frame_regs = {{1, "gpr1"}, {31, "gpr31"}},
	 .unwind = &nw_ppc64_unwind,
	 .stack_args = STACK("8@", "(1)", 96, 104, 112, 120, 128, 136, 144, 152, 160, 168),
	 FLOATS_IN("f1 to f13", "f1"),
	 .floats_take_places = true,
	 .machine = EM_PPC64,
	 .elf64 = true,
	 .big_endian = 0,
	 .word = 8,
	 .pc = "nip",
	 .sigil = "%",
	 .sigil_optional = true,
	 .immediate = 'i',
	 .bare_register = true,
	 REGS(ppc64_regs),
	 NOPS(ppcle_nops)},
	{.name = "ppc64",
	 .got_slot = R_PPC64_GLOB_DAT,
	 .plt_slot = R_PPC64_JMP_SLOT,
	 .ifunc_slot = R_PPC64_IRELATIVE,
	 .local_entries = true,
	 .insn_width = 4,
	 .call_args = "8@3 8@4 8@5 8@6 8@7 8@8 8@9 8@10",
	 .return_value = "8@3",
	 .stack = "gpr1",
	 .frame_regs = {{1, "gpr1"}, {31, "gpr31"}},
	 .unwind = &nw_ppc64_unwind,
	 .stack_args = STACK("8@", "(1)", 112, 120, 128, 136, 144, 152, 160, 168, 176, 184),
	 FLOATS_IN("f1 to f13", "f1"),
	 .floats_take_places = true,
	 .machine = EM_PPC64,
	 .elf64 = true,
	 .big_endian = 1,
	 .word = 8,
	 .pc = "nip",
	 .sigil = "%",
	 .sigil_optional = true,
	 .immediate = 'i',
	 .bare_register = true,
	 REGS(ppc64_regs),
	 NOPS(ppcbe_nops)},
	{.name = "ppc",
	 .got_slot = R_PPC_GLOB_DAT,
	 .insn_width = 4,
	 .call_args = "4@3 4@4 4@5 4@6 4@7 4@8 4@9 4@10",
	 .return_value = "4@3",
	 .stack = "gpr1",
	 .frame_regs = {{1, "gpr1"}, {31, "gpr31"}},
	 .stack_args = STACK("4@", "(1)", 8, 12, 16, 20, 24, 28, 32, 36, 40, 44),
	 FLOATS_IN("f1 to f8", "f1"),
	 .machine = EM_PPC,
	 .elf64 = false,
	 .big_endian = 1,
	 .word = 4,
	 .pc = "nip",
	 .sigil = "%",
	 .sigil_optional = true,
	 .immediate = 'i',
	 .bare_register = true,
	 .pair_order = PPC_PAIRS,
	 REGS(ppc32_regs),
	 NOPS(ppcbe_nops)},
	/* The kernel has no name for the PSW, so fetch arguments cannot reach globals. */
	{.name = "s390x",
	 .reads_trap_again = true,
	 .got_slot = R_390_GLOB_DAT,
	 .plt_slot = R_390_JMP_SLOT,
	 .ifunc_slot = 61, /* R_390_IRELATIVE */
	 .decode = nw_s390_decode,
	 .call_args = "8@%r2 8@%r3 8@%r4 8@%r5 8@%r6",
	 .return_value = "8@%r2",
	 .stack = "r15",
	 .frame_regs = {{15, "r15"}, {11, "r11"}},
	 .unwind = &nw_s390x_unwind,
	 .stack_args = STACK("8@", "(%r15)", 160, 168, 176, 184, 192, 200, 208, 216, 224,
			     232),
	 FLOATS_IN("f0, f2, f4 and f6", "f0"),
	 .machine = EM_S390,
	 .elf64 = true,
	 .big_endian = 1,
	 .word = 8,
	 .sigil = "%",
	 .bare_constant = true,
	 .index_first = true,
	 REGS(s390x_regs),
	 NOPS(s390_nops)},
	{.name = "riscv64",
	 .got_slot = 2,	   /* R_RISCV_64 */
	 .plt_slot = 5,	   /* R_RISCV_JUMP_SLOT */
	 .ifunc_slot = 58, /* R_RISCV_IRELATIVE */
	 .decode = nw_riscv_decode,
	 .call_args = "8@a0 8@a1 8@a2 8@a3 8@a4 8@a5 8@a6 8@a7",
	 .return_value = "8@a0",
	 .stack = "sp",
	 .frame_regs = {{2, "sp"}, {8, "s0"}},
	 .unwind = &nw_riscv64_unwind,
	 .stack_args = STACK("8@", "(sp)", 0, 8, 16, 24, 32, 40, 48, 56, 64, 72),
	 FLOATS_IN("fa0 to fa7", "fa0"),
	 .soft_float_mask = EF_RISCV_FLOAT_ABI,
	 .soft_float = 0,
	 .machine = EM_RISCV,
	 .elf64 = true,
	 .word = 8,
	 .pc = "epc",
	 .sigil = "",
	 .bare_constant = true,
	 REGS(riscv64_regs),
	 NOPS(riscv_nops)},
	{.name = "loongarch64",
	 .got_slot = 2, /* R_LARCH_64 */
	 .insn_width = 4,
	 .call_args = "8@$r4 8@$r5 8@$r6 8@$r7 8@$r8 8@$r9 8@$r10 8@$r11",
	 .return_value = "8@$r4",
	 .stack = "r3",
	 .frame_regs = {{3, "r3"}, {22, "r22"}},
	 .stack_args = STACK("8@$r3,", "", 0, 8, 16, 24, 32, 40, 48, 56, 64, 72),
	 FLOATS_IN("fa0 to fa7", "fa0"),
	 .soft_float_mask = 7, /* EF_LOONGARCH_ABI_MODIFIER_MASK */
	 .soft_float = 1,      /* EF_LOONGARCH_ABI_SOFT_FLOAT */
	 .machine = EM_LOONGARCH,
	 .elf64 = true,
	 .word = 8,
	 .pc = "csr_era",
	 .sigil = "$",
	 .sigil_optional = true,
	 .bare_constant = true,
	 .memory = NW_MEMORY_COMMA,
	 REGS(loongarch64_regs),
	 NOPS(loongarch_nops)},
};

const size_t nw_arch_count = NW_COUNT(nw_arch_table);
