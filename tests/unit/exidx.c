// SPDX-License-Identifier: MIT
/* elf: callers on 32-bit ARM, by tables made by hand: every instruction of the ABI, what it reserves, and where they end. */
#include <errno.h>
#include <unistd.h>

#include "elf_builder.h"
#include "find/dwarf/rule.h"

enum {
	STACK = 0x20000, /* the stack pointer */
	WORDS = 300,	 /* that can be read from there on; each is WORD and its number */
	WORD = 0xa000,
	LINK = 0x9001,	   /* lr */
	R7 = STACK + 0x20, /* for vsp = r7 */
	SP = 13,
	FUNCTION = EB_TEXT + 0x20, /* what the entry is about */
	HERE = FUNCTION + 8,
	NEXT = EB_TEXT + 0x80, /* where another one begins, which refuses */
	TABLE = 0x501000,
	ENTRY = 0x500000 /* in .ARM.extab */
};

static int read_stack(void *arg, uint64_t address, unsigned int bytes, uint64_t *out)
{
	(void)arg;
	ck_assert_uint_eq(bytes, 4);
	if (address < STACK || address >= STACK + 4 * WORDS)
		return -EFAULT;
	*out = WORD + (address - STACK) / 4;
	return 0;
}

static struct nw_image *make_file(bool big_endian, uint32_t word, const uint32_t *entry,
				  size_t count)
{
	const uint32_t table[][2] = {{FUNCTION, word}, {NEXT, 1}};
	struct nw_buf bytes = {0};
	struct nw_image *image;
	struct eb b;

	eb_program(&b, EM_ARM, false, big_endian);
	b.entry = EB_TEXT + 1;
	eb_exidx(&b, TABLE, table, 2);
	for (size_t i = 0; i < count; i++)
		eb_put(&b, &bytes, entry[i], 4);
	if (count)
		eb_load(&b, PF_R, ENTRY, bytes.data, bytes.len, bytes.len);
	nw_buf_free(&bytes);
	ck_assert_int_eq(nw_image_open_fd(eb_memfd(&b), "file", false, &image, NULL), 0);
	return image;
}

static struct nw_registers at_the_hit(void)
{
	struct nw_registers registers = {.pc = HERE};

	for (unsigned int i = 4; i < 15; i++) {
		registers.known[i] = i != 12;
		registers.value[i] = i == SP ? STACK : i == 14 ? LINK : i == 7 ? R7 : i;
	}
	return registers;
}

/* The words of .ARM.extab, or one that is in the index itself; and what becomes of the registers: at least `reg`. */
struct row {
	const char *what;
	uint32_t words[3];
	uint32_t sp;
	uint32_t pc;
	int reg;
	uint32_t value;
};

static int step(const uint32_t words[3], bool big_endian, uint64_t vaddr,
		struct nw_registers *registers, bool *interrupted)
{
	const struct nw_memory memory = {read_stack, NULL};
	size_t count = words[1] ? 2 + (words[2] != 0) : 0;
	struct nw_image *image = make_file(big_endian, count ? ENTRY : words[0], words,
					   count);
	struct nw_buf bytes = {0}, body = {0};
	struct nw_exidx *exidx;

	ck_assert_int_eq(nw_exidx_open(image, &exidx), 0);
	nw_put(&bytes, nw_exidx_rule(exidx, vaddr, &body), 1);
	nw_buf_add(&bytes, nw_buf_str(&body), body.len);
	struct nw_rule *rule = nw_rule_load(bytes.data, bytes.len);
	ck_assert_ptr_nonnull(rule);
	int ret = nw_rule_step_table(rule, &memory, registers, interrupted);
	nw_rule_free(rule);
	nw_buf_free(&bytes);
	nw_buf_free(&body);
	nw_exidx_free(exidx);
	nw_image_free(image);
	return ret;
}

static void check_row(const struct row *row, bool big_endian)
{
	struct nw_registers registers = at_the_hit();
	bool interrupted;

	int ret = step(row->words, big_endian, HERE, &registers, &interrupted);
	ck_assert_msg(ret == 1, "%s: %d", row->what, ret);
	ck_assert_msg(registers.pc == row->pc && registers.value[SP] == row->sp &&
			      registers.known[SP],
		      "%s: pc %llx, wanted %x; sp %llx, wanted %x", row->what,
		      (unsigned long long)registers.pc, row->pc,
		      (unsigned long long)registers.value[SP], row->sp);
	ck_assert_msg(registers.known[row->reg] && registers.value[row->reg] == row->value,
		      "%s: r%d is %llx", row->what, row->reg,
		      (unsigned long long)registers.value[row->reg]);
	/* a call changes them */
	ck_assert(!interrupted && !registers.known[3] && !registers.known[12] &&
		  !registers.known[14]);
}

#define AT(words)    (STACK + 4 * (words))
#define POPPED(word) (WORD + (word))

/* One word is in the index itself. In a language's own entry the first one leads to its routine. */
/* clang-format off */
static const struct row rows[] = {
	{"nothing but finish", {0x80b0b0b0}, AT(0), LINK, 7, R7},
	{"no finish", {0x80003f7f}, AT(1), LINK, 4, 4}, /* 4 + 256 - 256 */
	{"up, a mask", {0x80028488}, AT(6), POPPED(5), 11, POPPED(4)},
	{"r3, a row with lr", {0x80b108a9}, AT(4), POPPED(3), 5, POPPED(2)},
	{"a row without, and lr", {0x80a38400}, AT(5), POPPED(4), 7, POPPED(3)},
	{"from r7", {0x80970caf}, AT(8 + 13 + 9), POPPED(8 + 13 + 8), 4, POPPED(8 + 13)},
	{"down", {0x800140a8}, AT(3), POPPED(2), 4, POPPED(1)},
	{"form 1", {0x81010a3f, 0x8400b0b0}, AT(76), POPPED(75), 4, 4},
	{"form 2", {0x8201d080, 0x08a8b0b0}, AT(5), POPPED(4), 4, POPPED(3)},
	{"form 0", {0x80a8b0b0, 1}, AT(2), POPPED(1), 4, POPPED(0)},
	{"a language's", {0x00001000, 0x00b108ab}, AT(6), POPPED(5), 7, POPPED(4)},
	{"a language's, longer",
	 {0x00001000, 0x01b204a8, 0xb0b0b0b0},
	 AT(133 + 2),
	 POPPED(134),
	 4,
	 POPPED(133)},
	{"uleb128 of two bytes", {0x8101b282, 0x01a8b0b0}, AT(129 + 130 + 2), POPPED(260), 4, POPPED(259)},
	{"D8", {0x80d0a8b0}, AT(4), POPPED(3), 4, POPPED(2)},
	{"D8 to D15", {0x80d7a8b0}, AT(18), POPPED(17), 4, POPPED(16)},
	{"D8 to D9, the old way", {0x80b9a8b0}, AT(5 + 2), POPPED(6), 4, POPPED(5)},
	{"D1 to D2, the old way", {0x80b311a8}, AT(5 + 2), POPPED(6), 4, POPPED(5)},
	{"D8 to D11", {0x80c983a8}, AT(8 + 2), POPPED(9), 4, POPPED(8)},
	{"D16", {0x80c800a8}, AT(2 + 2), POPPED(3), 4, POPPED(2)},
};

static const struct {
	const char *what;
	uint32_t words[3];
} refused[] = {
	{"refuses", {0x808000b0}},
	{"vsp = sp", {0x809da8b0}},
	{"vsp = pc", {0x809fa8b0}},
	{"no registers", {0x80b100b0}},
	{"a mask of more", {0x80b110b0}},
	{"b4", {0x80b4a8b0}},
	{"c0: another coprocessor", {0x80c0a8b0}},
	{"c7", {0x80c701a8}},
	{"ca", {0x80ca00a8}},
	{"d8", {0x80d8a8b0}},
	{"e0", {0x80e0a8b0}},
	{"ff", {0x80ffa8b0}},
	{"a byte is missing", {0x80000084}},
	{"another form in the index", {0x81a8b0b0}},
	{"form 3", {0x83a8b0b0, 0xb0b0b0b0}},
	{"reserved bits", {0x90a8b0b0, 0xb0b0b0b0}},
	{"longer than the file", {0x82ffa8b0, 0xb0b0b0b0}},
	{"uleb128 without an end", {0x8101b2ff, 0xffffffff}},
};
/* clang-format on */

START_TEST(every_instruction)
{
	for (size_t i = 0; i < NW_COUNT(rows); i++) {
		check_row(&rows[i], false);
		check_row(&rows[i], true);
	}
}
END_TEST

START_TEST(what_is_refused)
{
	for (size_t i = 0; i < NW_COUNT(refused); i++) {
		struct nw_registers registers = at_the_hit();
		bool interrupted;
		int ret = step(refused[i].words, false, HERE, &registers, &interrupted);
		ck_assert_msg(ret == -ENOENT, "%s: %d", refused[i].what, ret);
	}
}
END_TEST

/* What the kernel has put on the stack for a signal's handler: the program goes on just there. */
START_TEST(behind_a_signal)
{
	struct nw_registers registers = at_the_hit();
	const uint32_t words[3] = {0x808a00b0};
	bool interrupted;

	ck_assert_int_eq(step(words, false, HERE, &registers, &interrupted), 1);
	ck_assert(interrupted && registers.known[14]);
	ck_assert_uint_eq(registers.value[SP], POPPED(0));
	ck_assert_uint_eq(registers.pc, POPPED(1));
}
END_TEST

START_TEST(where_they_end)
{
	const uint32_t refuses[3] = {1}, link[3] = {0x80b0b0b0}, saved[3] = {0x80a8b0b0},
		       from_r7[3] = {0x8097a8b0};
	struct nw_registers registers = at_the_hit();
	bool interrupted;

	/* where the program begins; and not there */
	ck_assert_int_eq(step(refuses, false, HERE, &registers, &interrupted), 0);
	ck_assert_int_eq(step(link, false, NEXT + 4, &registers, &interrupted), -ENOENT);
	ck_assert_int_eq(step(link, false, FUNCTION - 4, &registers, &interrupted),
			 -ENOENT);
	/* what is not there to be read */
	registers.value[SP] = STACK + 4 * WORDS - 4;
	ck_assert_int_eq(step(saved, false, HERE, &registers, &interrupted), -EFAULT);
	registers = at_the_hit();
	registers.value[SP] = STACK - 4;
	ck_assert_int_eq(step(saved, false, HERE, &registers, &interrupted), 1);
	ck_assert_uint_eq(registers.pc, POPPED(0));
	ck_assert(!registers.known[4] && registers.known[5]);
	/* lr is only known in the function that was hit */
	ck_assert_int_eq(step(link, false, HERE, &registers, &interrupted), -ENOENT);
	registers = at_the_hit();
	registers.known[7] = false;
	ck_assert_int_eq(step(from_r7, false, HERE, &registers, &interrupted), -EFAULT);
	registers = at_the_hit();
	registers.value[14] = 0;
	ck_assert_int_eq(step(link, false, HERE, &registers, &interrupted), 0);
}
END_TEST

START_TEST(files_without_one)
{
	const uint32_t table[][2] = {{EB_TEXT, 1}};
	struct nw_exidx *exidx;
	struct nw_image *image;
	struct eb b;

	for (int i = 0; i < 4; i++) {
		eb_program(&b, i == 0 ? EM_386 : EM_ARM, false, false);
		if (i != 1)
			eb_exidx(&b, TABLE, table, 1);
		struct eb_load *last = &b.loads.item[b.loads.count - 1];
		if (i == 2)
			last->filesz = 1 << 20;
		if (i == 3)
			last->offset = UINT32_MAX;
		ck_assert_int_eq(
			nw_image_open_fd(eb_memfd(&b), "file", false, &image, NULL), 0);
		ck_assert_int_eq(nw_exidx_open(image, &exidx), -ENOENT);
		ck_assert_ptr_null(exidx);
		nw_image_free(image);
	}
}
END_TEST

UNIT_MAIN("exidx", every_instruction, what_is_refused, behind_a_signal, where_they_end,
	  files_without_one)
