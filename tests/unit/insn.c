// SPDX-License-Identifier: MIT
/* Where instructions begin, and which of them leave a function. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "elf_files.h"
#include "find/dwarf/code.h"

/* ---- instructions ------------------------------------------------------------------- */

/* "0p 4c 9>20 b?": offset and kind of each instruction, and where it jumps. */
static char *described(const char *arch, const void *code, size_t len, const char **why)
{
	static const char kinds[] = {
		[NW_INSN_PLAIN] = 'p', [NW_INSN_CALL] = 'c',   [NW_INSN_RETURN] = 'r',
		[NW_INSN_JUMP] = 'j',  [NW_INSN_BRANCH] = 'b', [NW_INSN_TRAP] = 't'};
	static const char goals[] = {[NW_GOAL_TABLE] = 't',
				     [NW_GOAL_POINTER] = 'p',
				     [NW_GOAL_ARRAY] = 'a',
				     [NW_GOAL_UNKNOWN] = '?'};
	struct nw_buf out = {0};
	nw_insns insns = {0};
	unsigned char *exact = malloc(len); /* a sanitizer sees what reads beyond it */

	memcpy(exact, code, len);
	*why = nw_insns_decode(nw_arch_by_name(arch), exact, len, 0, &insns);
	nw_vec_each (&insns, insn) {
		nw_buf_printf(&out, "%s%lx%c", out.len ? " " : "", insn->vaddr,
			      kinds[insn->kind]);
		if (insn->kind != NW_INSN_JUMP && insn->kind != NW_INSN_BRANCH)
			continue;
		if (insn->goal == NW_GOAL_TARGET)
			nw_buf_printf(&out, ">%lx", insn->target);
		else
			nw_buf_addc(&out, goals[insn->goal]);
	}
	nw_vec_free(&insns);
	free(exact);
	return nw_buf_take(&out);
}

static void check_code(const char *arch, const void *code, size_t len, const char *wanted)
{
	const char *why;
	char *got = described(arch, code, len, &why);

	ck_assert_msg(!why, "%s: %s", wanted, why);
	ck_assert_str_eq(got, wanted);
	free(got);
}

#define CHECK(arch, code, wanted) check_code(arch, code, sizeof(code) - 1, wanted)

START_TEST(x86_instructions_are_told_apart)
{
#ifdef NW_HAVE_CAPSTONE
	/* endbr64; push %rbx; call; pop %rbx; ret; repz ret; ret $8 */
	CHECK("x86_64", "\xf3\x0f\x1e\xfa\x53\xe8\0\0\0\0\x5b\xc3\xf3\xc3\xc2\x08\x00",
	      "0p 4p 5c ap br cr er");
	/* je +2; jmp +0x80; hlt; ud2; loop; jrcxz */
	CHECK("x86_64", "\x74\x02\xe9\x80\0\0\0\xf4\x0f\x0b\xe2\xfe\xe3\xfe",
	      "0b>4 2j>87 7t 8t ab>a cb>c");
	/* i386: the same bytes are other instructions: inc %eax; ret */
	CHECK("i386", "\x40\xc3", "0p 1r");
	CHECK("x86_64", "\x40\xc3", "0r");
#endif
}
END_TEST

START_TEST(indirect_jumps_of_x86_are_judged_by_what_was_loaded)
{
#ifdef NW_HAVE_CAPSTONE
	/* a PIC switch: lea t(%rip),%rdx; movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax */
	CHECK("x86_64", "\x48\x8d\x15\0\0\0\0\x48\x63\x04\x82\x48\x01\xd0\xff\xe0",
	      "0p 7p bp ejt");
	/* the same, protected: notrack jmp *%rax */
	CHECK("x86_64", "\x3e\xff\xe0", "0jt");
	/* a virtual call at the end: mov (%rdi),%rax; mov 8(%rax),%rax; jmp *%rax */
	CHECK("x86_64", "\x48\x8b\x07\x48\x8b\x40\x08\xff\xe0", "0p 3p 7jp");
	/* jmp *8(%rax); jmp *0x10(%rip) */
	CHECK("x86_64", "\xff\x60\x08\xff\x25\x10\0\0\0", "0jp 3jp");
	/* jmp *0x1000(,%rax,8): an array */
	CHECK("x86_64", "\xff\x24\xc5\0\x10\0\0", "0ja");
	/* lea a(%rip),%rdx; jmp *(%rdx,%rax,8): an array, too */
	CHECK("x86_64", "\x48\x8d\x15\0\0\0\0\xff\x24\xc2", "0p 7ja");
	/* jmp *(%rcx,%rax,8), of which nothing is known */
	CHECK("x86_64", "\xff\x24\xc1", "0j?");
	/* an argument: jmp *%rdi */
	CHECK("x86_64", "\xff\xe7", "0jp");
	/* add %rcx,%rax; xor %eax,%eax; jmp *%rax */
	CHECK("x86_64", "\x48\x01\xc8\x48\x31\xc0\xff\xe0", "0p 3p 6j?");
	/* a label of its own: lea 1f(%rip),%rax; jmp *%rax; 1: ret */
	CHECK("x86_64", "\x48\x8d\x05\x02\0\0\0\xff\xe0\xc3", "0p 7j? 9r");
	/* the same by number, as code that is not position independent has it: mov $7,%eax */
	CHECK("x86_64", "\xb8\x07\0\0\0\xff\xe0\xc3", "0p 5j? 7r");
	/* the address of another function: lea f(%rip),%rax; jmp *%rax */
	CHECK("x86_64", "\x48\x8d\x05\x00\x10\0\0\xff\xe0", "0p 7jp");
#endif
}
END_TEST

START_TEST(aarch64_instructions_are_told_apart)
{
	/* ret; retaa; b +8; b.eq -4; cbz x0,+8; tbz w0,#1,+8; bl; brk; ldr x1,[x2,#8]; br x1 */
	CHECK("aarch64",
	      "\xc0\x03\x5f\xd6\xff\x0b\x5f\xd6\x02\x00\x00\x14\xe0\xff\xff\x54"
	      "\x40\x00\x00\xb4\x40\x00\x08\x36\x00\x00\x00\x94\x00\x00\x20\xd4"
	      "\x41\x04\x40\xf9\x20\x00\x1f\xd6",
	      "0r 4r 8j>10 cb>8 10b>18 14b>1c 18c 1ct 20p 24jp");
	/* add x0,x1,w0,sxth #2; br x0 */
	CHECK("aarch64", "\x20\xa8\x20\x8b\x00\x00\x1f\xd6", "0p 4jt");
}
END_TEST

START_TEST(lengths_of_the_others_are_told)
{
	CHECK("riscv64", "\x01\x00\x13\x00\x00\x00\x82\x80", "0p 2p 6p");
	CHECK("s390x", "\x07\xfe\x47\0\0\0\xc0\x20\0\0\0\0", "0p 2p 6p");
}
END_TEST

START_TEST(what_cannot_be_decoded_is_said)
{
	static const struct {
		const char *arch, *code;
		size_t len;
	} list[] = {
		{"riscv64", "\x13\x00", 2}, /* cut off */
		{"riscv64", "\x1f\x00\x00\x00", 4},
		{"s390x", "\xc0\x20", 2},
		{"aarch64", "\xc0\x03", 2},
		{"x86_64", "\xe8\0\0", 3},
		{"x86_64", "\x06\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90",
		 15},
	};

	for (size_t i = 0; i < NW_COUNT(list); i++) {
		const char *why;
		free(described(list[i].arch, list[i].code, list[i].len, &why));
		ck_assert_ptr_nonnull(why);
	}
}
END_TEST

START_TEST(random_bytes_do_no_harm)
{
	static const char *const archs[] = {"x86_64", "i386",	 "aarch64",
					    "s390x",  "riscv64", "ppc64le"};
	uint64_t state = 42;

	for (int i = 0; i < 6000; i++) {
		unsigned char code[40];
		const char *why;
		for (size_t j = 0; j < sizeof(code); j++)
			code[j] = (unsigned char)unit_random(&state);
		free(described(archs[i % 6], code, 1 + unit_random(&state) % 40, &why));
	}
}
END_TEST

/* ---- functions ---------------------------------------------------------------------- */

struct part {
	const char *name;
	size_t at, size;
};

/* An x86_64 file with this text and these functions. */
static struct nw_image *make_image(const void *code, size_t len, const struct part *parts,
				   size_t count)
{
	struct eb_symbols symbols = {0};
	struct nw_image *image;
	struct nw_error err;
	struct eb b;

	eb_program(&b, EM_X86_64, true, false);
	memcpy(b.bytes.data + EB_TEXT_AT, code, len);
	for (size_t i = 0; i < count; i++)
		eb_symbol(&b, &symbols, parts[i].name, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			  1, EB_TEXT + parts[i].at, parts[i].size);
	eb_symtab(&b, &symbols, SHT_SYMTAB);
	int ret = nw_image_open_fd(eb_memfd(&b), "made", false, &image, &err);
	ck_assert_msg(ret == 0, "%s", err.what);
	return image;
}

/* "4 a-": the exits of the function called f, jumps marked; or why there are none. */
static void check_exits(const void *code, size_t len, const struct part *parts,
			size_t count, const char *wanted)
{
	struct nw_image *image = make_image(code, len, parts, count);
	struct nw_symbol symbol;
	struct nw_buf out = {0};
	nw_exits exits = {0};
	char *why;

	ck_assert_int_eq(nw_image_symbol(image, "f", 1, 0, &symbol), 0);
	ck_assert_int_eq(nw_code_exits(image, &symbol, &exits, &why, NULL), 0);
	nw_vec_each (&exits, exit)
		nw_buf_printf(&out, "%s%lx%s", out.len ? " " : "", exit->vaddr - EB_TEXT,
			      exit->jump ? "-" : "");
	if (why)
		nw_buf_adds(&out, why);
	ck_assert_msg(strstr(nw_buf_str(&out), wanted), "%s, wanted %s", nw_buf_str(&out),
		      wanted);
	ck_assert(why || strlen(wanted) == out.len);
	free(why);
	nw_buf_free(&out);
	nw_vec_free(&exits);
	nw_image_free(image);
}

START_TEST(a_function_is_left_by_its_returns_and_tail_jumps)
{
#ifdef NW_HAVE_CAPSTONE
	/* test; je 5; ret; nop; jmp g */
	check_exits("\x85\xff\x74\x02\xc3\x90\xe9\x05\0\0\0\xcc\xcc\xcc\xcc\xcc\xc3", 17,
		    (struct part[]){{"f", 0, 11}, {"g", 0x10, 1}}, 2, "4 6-");
	/* jne f.cold; ret; f.cold: jmp back */
	check_exits(
		"\x75\x0e\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xeb\xf0",
		18, (struct part[]){{"f", 0, 3}, {"f.cold", 0x10, 2}}, 2, "2");
	/* a loop and a call that does not return: jmp 0 */
	check_exits("\xeb\xfe", 2, (struct part[]){{"f", 0, 2}}, 1,
		    "no return instruction");
	/* jne g: taken or not? */
	check_exits("\x75\x0e\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xc3",
		    17, (struct part[]){{"f", 0, 3}, {"g", 0x10, 1}}, 2,
		    "conditional jump");
	/* jmp to where no symbol is */
	check_exits("\xe9\x20\0\0\0", 5, (struct part[]){{"f", 0, 5}}, 1,
		    "neither a symbol nor .eh_frame assigns");
	/* nop, and then what stands behind it */
	check_exits("\xc3\x90\xc3", 3, (struct part[]){{"f", 0, 2}, {"g", 2, 1}}, 2,
		    "runs on");
	/* a jump into its own instruction: data, or a trick */
	check_exits("\xeb\x01\xb8\xc3\xc3\xc3\xc3\xc3", 8, (struct part[]){{"f", 0, 8}}, 1,
		    "taken for instructions");
	/* but a lock prefix may be skipped: je +1; lock cmpxchg %esi,(%rdi); ret */
	check_exits("\x74\x01\xf0\x0f\xb1\x37\xc3", 7, (struct part[]){{"f", 0, 7}}, 1,
		    "6");
	check_exits("\xc3", 1, (struct part[]){{"f", 0, 0}}, 1, "how long it is");
	check_exits("\xc3", 1, (struct part[]){{"f", 0, 1}}, 1, "leaves it already");
	/* nop; jmp through a PLT entry: endbr64; bnd jmp *GOT(%rip) */
	check_exits("\x90\xeb\x05\xcc\xcc\xcc\xcc\xcc\xf3\x0f\x1e\xfa\xf2\xff\x25\0\0\0\0",
		    19, (struct part[]){{"f", 0, 3}}, 1, "1-");
#else
	check_exits("\xc3", 1, (struct part[]){{"f", 0, 1}}, 1, "without a disassembler");
#endif
}
END_TEST

static void check_doubt(struct nw_image *image, uint64_t at, const char *wanted)
{
	char *why;

	ck_assert_int_eq(nw_code_doubt(image, EB_TEXT + at, &why), 0);
	if (!wanted)
		ck_assert_msg(!why, "%lx: %s", at, why);
	else
		ck_assert_msg(why && strstr(why, wanted), "%lx: %s", at,
			      why ? why : "none");
	free(why);
}

START_TEST(a_place_is_doubted_unless_it_is_shown)
{
	/* f: push %rbp; mov %rsp,%rbp; pop; ret.  label: sizeless.  data: jmp +1; .byte */
	static const struct part parts[] = {
		{"f", 0, 6}, {"label", 0x10, 0}, {"data", 0x20, 4}};
	struct nw_image *image = make_image(
		"\x55\x48\x89\xe5\x5d\xc3\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
		"\x90\xc3\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
		"\xeb\x01\xb8\xc3",
		36, parts, NW_COUNT(parts));

	check_doubt(image, 0, NULL);
	check_doubt(image, 0x10, NULL);
	check_doubt(image, 0x20, NULL);
	check_doubt(image, 0x11, "does not say how long it is");
	check_doubt(image, 6, "no function is known to be there");
#ifdef NW_HAVE_CAPSTONE
	check_doubt(image, 1, NULL);
	check_doubt(image, 2, "inside an instruction: 'f' has one of 3 bytes at +0x1");
	check_doubt(image, 3, "inside an instruction");
	check_doubt(image, 4, NULL);
	check_doubt(image, 5, NULL);
	check_doubt(image, 0x22, "cannot be shown");
#else
	check_doubt(image, 1, "without a disassembler");
#endif
	nw_image_free(image);
}
END_TEST

/* An architecture is its row: the program's own is found by its ELF header. */
START_TEST(our_own_architecture_is_known)
{
	const struct nw_arch *own = nw_arch_native();

	ck_assert_ptr_nonnull(own);
	ck_assert_uint_eq(own->word, sizeof(long));
#ifdef __x86_64__
	ck_assert_str_eq(own->name, "x86_64");
#endif
}
END_TEST

START_TEST(an_uprobe_is_known_by_what_it_leaves)
{
	static const unsigned char breakpoint[] = {0xcc, 0x00}, nop[] = {0x90},
				   optimised[] = {0x48, 0x8d, 0x64, 0x24, 0x80, 0xe8},
				   call[] = {0xe8, 0, 0, 0, 0};

	ck_assert_int_eq(nw_arch_is_armed(EM_X86_64, breakpoint, 2), 1);
	ck_assert_int_eq(nw_arch_is_armed(EM_386, breakpoint, 1), 1);
	ck_assert_int_eq(nw_arch_is_armed(EM_X86_64, optimised, sizeof(optimised)), 1);
	ck_assert_int_eq(nw_arch_is_armed(EM_X86_64, optimised, sizeof(optimised) - 1), 0);
	ck_assert(nw_arch_is_optimised(EM_X86_64, optimised, sizeof(optimised)));
	ck_assert(!nw_arch_is_optimised(EM_X86_64, optimised, sizeof(optimised) - 1));
	ck_assert(nw_arch_is_optimised(EM_X86_64, call, sizeof(call)));
	ck_assert(!nw_arch_is_optimised(EM_X86_64, breakpoint, 2));
	ck_assert(!nw_arch_is_optimised(EM_AARCH64, call, sizeof(call)));
	ck_assert_int_eq(nw_arch_is_armed(EM_X86_64, nop, sizeof(nop)), 0);
	ck_assert_int_eq(nw_arch_is_armed(EM_X86_64, nop, 0), 0);
	/* elsewhere: whatever is not what the file has there */
	ck_assert_int_eq(nw_arch_is_armed(EM_AARCH64, breakpoint, 2), -1);
	ck_assert_int_eq(nw_arch_is_armed(EM_NONE, breakpoint, 2), -1);
}
END_TEST

UNIT_MAIN("insn", our_own_architecture_is_known, an_uprobe_is_known_by_what_it_leaves,
	  x86_instructions_are_told_apart,
	  indirect_jumps_of_x86_are_judged_by_what_was_loaded,
	  aarch64_instructions_are_told_apart, lengths_of_the_others_are_told,
	  what_cannot_be_decoded_is_said, random_bytes_do_no_harm,
	  a_function_is_left_by_its_returns_and_tail_jumps,
	  a_place_is_doubted_unless_it_is_shown)
