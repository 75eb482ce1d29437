// SPDX-License-Identifier: MIT
/*
 * Finds a function's caller on 32-bit ARM, whose programs have no .eh_frame, but tables of their own: "Exception
 * Handling ABI for the Arm Architecture" (IHI 0038), sections "Index table entries" to "Frame unwinding
 * instructions".
 *
 * .ARM.exidx is sorted by functions and has two words for each: the begin of the function, and the instructions for
 * unwinding its frame, or their place in .ARM.extab. They are valid where calls return to, and not in a function's
 * first and last instructions. Linkers make an entry that refuses (EXIDX_CANTUNWIND) where functions without tables
 * begin.
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "find/arch/arch.h"
#include "rule.h"

enum {
	ENTRY = 8,  /* bytes */
	CANNOT = 1, /* EXIDX_CANTUNWIND */
	START = 64, /* in bytes: the program's first instructions */
	SP = 13,
	LR = 14,
	PC = 15
};
#ifndef PT_ARM_EXIDX
#define PT_ARM_EXIDX 0x70000001
#endif

struct nw_exidx {
	struct nw_image *image;
	uint32_t vaddr, count, first; /* first: the program's entry point */
	unsigned char *table;
};

static uint32_t number(const struct nw_exidx *exidx, const unsigned char *at)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < 4; i++)
		value = value << 8 | at[exidx->image->big_endian ? i : 3 - i];
	return value;
}

/* Decodes a "prel31": bits 30 to 0 are the distance from its own place. In addresses of code, the lowest bit marks
 * Thumb. */
static uint32_t place_at(uint32_t where, uint32_t word)
{
	return where + ((word & 0x7fffffff) | (word & 0x40000000) << 1);
}

static int read_table(struct nw_exidx *exidx, Elf *elf)
{
	size_t count = 0;
	GElf_Ehdr file;

	if (!gelf_getehdr(elf, &file) || elf_getphdrnum(elf, &count) < 0)
		return -ENOENT;
	exidx->first = (uint32_t)file.e_entry & ~(uint32_t)1;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_ARM_EXIDX)
			continue;
		const uint64_t size = exidx->image->size;
		if (header.p_filesz < ENTRY || header.p_filesz > size ||
		    header.p_offset > size - header.p_filesz)
			return -ENOENT;
		exidx->vaddr = (uint32_t)header.p_vaddr;
		exidx->count = (uint32_t)(header.p_filesz / ENTRY);
		exidx->table = malloc((size_t)exidx->count * ENTRY);
		if (!exidx->table)
			return -ENOMEM;
		ssize_t got = pread(exidx->image->fd, exidx->table,
				    (size_t)exidx->count * ENTRY, (off_t)header.p_offset);
		return got == (ssize_t)exidx->count * ENTRY ? 0 : -ENOENT;
	}
	return -ENOENT;
}

int nw_exidx_open(struct nw_image *image, struct nw_exidx **out)
{
	*out = NULL;
	if (image->machine != EM_ARM || image->elf64)
		return -ENOENT;
	struct nw_exidx *exidx = calloc(1, sizeof(*exidx));
	if (!exidx)
		return -ENOMEM;
	exidx->image = image;
	Elf *elf = elf_begin(image->fd, ELF_C_READ, NULL);
	int ret = elf ? read_table(exidx, elf) : -ENOENT;
	elf_end(elf);
	if (ret < 0) {
		nw_exidx_free(exidx);
		return ret;
	}
	*out = exidx;
	return 0;
}

void nw_exidx_free(struct nw_exidx *exidx)
{
	if (!exidx)
		return;
	free(exidx->table);
	free(exidx);
}

/* ---- instructions ------------------------------------------------------------------- */

struct frame {
	const struct nw_memory *memory;
	struct nw_registers regs; /* they become the caller's */
	uint32_t sp;
	int fault; /* error of a failed read; 0: none */
	const unsigned char *code;
	size_t len, at;
};

/* Pops the registers of the mask from the stack, the lowest first. A register that cannot be read is unknown. */
static int pop(struct frame *f, uint32_t mask)
{
	for (unsigned int i = 0; i < 16; i++) {
		if (!(mask & 1u << i))
			continue;
		int ret = f->memory->read(f->memory->arg, f->sp, 4, &f->regs.value[i]);
		f->regs.known[i] = ret == 0;
		if (ret < 0)
			f->fault = ret;
		f->sp += 4;
	}
	if (!(mask & 1u << SP))
		return 0;
	f->sp = (uint32_t)f->regs.value[SP];
	return f->regs.known[SP] ? 0 : f->fault;
}

static int up(struct frame *f, unsigned int op, unsigned int next)
{
	(void)next;
	f->sp += ((op & 0x3f) << 2) + 4;
	return 0;
}

static int down(struct frame *f, unsigned int op, unsigned int next)
{
	(void)next;
	f->sp -= ((op & 0x3f) << 2) + 4;
	return 0;
}

static int far_up(struct frame *f, unsigned int op, unsigned int next)
{
	uint32_t value = next & 0x7f;

	(void)op;
	for (unsigned int shift = 7; next & 0x80; shift += 7) {
		if (f->at == f->len || shift > 28)
			return -ENOENT;
		next = f->code[f->at++];
		value |= (next & 0x7f) << shift;
	}
	f->sp += 0x204 + (value << 2);
	return 0;
}

static int pop_high(struct frame *f, unsigned int op, unsigned int next)
{
	const uint32_t mask = (op & 15) << 8 | next;

	return mask ? pop(f, mask << 4) : -ENOENT; /* an empty mask refuses */
}

static int pop_low(struct frame *f, unsigned int op, unsigned int next)
{
	(void)op;
	return next && !(next & 0xf0) ? pop(f, next) : -ENOENT;
}

static int pop_row(struct frame *f, unsigned int op, unsigned int next)
{
	(void)next;
	return pop(f, ((2u << (op & 7)) - 1) << 4 | (op & 8 ? 1u << LR : 0));
}

static int from_register(struct frame *f, unsigned int op, unsigned int next)
{
	(void)next;
	if ((op & 15) == SP || (op & 15) == PC)
		return -ENOENT;
	f->sp = (uint32_t)f->regs.value[op & 15];
	return f->regs.known[op & 15] ? 0 : -EFAULT;
}

/* Skips floating-point registers, by which no caller is found: the lowest bits tell how many of 8 bytes, minus one. */
static int skip_row(struct frame *f, unsigned int op, unsigned int next)
{
	(void)next;
	f->sp += 8 * ((op & 7) + 1);
	return 0;
}

static int skip_row_and_word(struct frame *f, unsigned int op, unsigned int next)
{
	f->sp += 4;
	return skip_row(f, op, next);
}

static int skip_range(struct frame *f, unsigned int op, unsigned int next)
{
	f->sp += 8 * ((next & 15) + 1) + (op == 0xb3 ? 4 : 0);
	return 0;
}

static int finish(struct frame *f, unsigned int op, unsigned int next)
{
	(void)op;
	(void)next;
	f->at = f->len;
	return 0;
}

/* The first row that fits counts. All other instructions are reserved, or belong to coprocessors that Linux does not
 * support any more. */
static const struct {
	uint8_t mask, op;
	bool long_one; /* a byte follows */
	int (*run)(struct frame *f, unsigned int op, unsigned int next);
} instructions[] = {
	{0xc0, 0x00, false, up},
	{0xc0, 0x40, false, down},
	{0xf0, 0x80, true, pop_high},
	{0xf0, 0x90, false, from_register},
	{0xf0, 0xa0, false, pop_row},
	{0xff, 0xb0, false, finish},
	{0xff, 0xb1, true, pop_low},
	{0xff, 0xb2, true, far_up},
	{0xff, 0xb3, true, skip_range},		/* D registers by FSTMFDX */
	{0xf8, 0xb8, false, skip_row_and_word}, /* from D8 on, by FSTMFDX */
	{0xfe, 0xc8, true, skip_range},		/* D16 to D31, D0 to D15 */
	{0xf8, 0xd0, false, skip_row},		/* from D8 on */
};

static int run(struct frame *f)
{
	while (f->at < f->len) {
		const unsigned int op = f->code[f->at++];
		size_t i = 0;
		while (i < NW_COUNT(instructions) &&
		       (op & instructions[i].mask) != instructions[i].op)
			i++;
		if (i == NW_COUNT(instructions) ||
		    (instructions[i].long_one && f->at == f->len))
			return -ENOENT;
		const unsigned int next = instructions[i].long_one ? f->code[f->at++] : 0;
		int ret = instructions[i].run(f, op, next);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* ---- entries ------------------------------------------------------------------------ */

struct code {
	unsigned char bytes[NW_MOST_RULE_CODE];
	size_t len;
};

/* Takes the bytes of a word that are instructions, the highest first. */
static void take_code(struct code *f, uint32_t word, unsigned int bytes)
{
	for (unsigned int i = bytes; i-- > 0;)
		f->bytes[f->len++] = (unsigned char)(word >> 8 * i);
}

/*
 * Reads an entry of .ARM.extab. The ABI defines three forms: form 0 has three bytes of instructions; 1 and 2 have
 * two, and the number of words that follow. Other entries are defined by a language; those of GCC and LLVM have the
 * data of form 1 behind the address of their routine.
 */
static int read_entry(const struct nw_exidx *exidx, uint32_t vaddr, struct code *f)
{
	unsigned char bytes[NW_MOST_RULE_CODE + 8];
	int64_t offset = nw_image_offset(exidx->image, vaddr, false);
	ssize_t got = offset < 0 ? -1
				 : pread(exidx->image->fd, bytes, sizeof(bytes),
					 (off_t)offset);
	size_t at = 0;

	if (got < 4)
		return -ENOENT;
	uint32_t word = number(exidx, bytes), form = word >> 24 & 15,
		 more = word >> 16 & 255;
	if (!(word >> 31)) {
		if (got < 8)
			return -ENOENT;
		at = 4;
		word = number(exidx, bytes + at);
		more = word >> 24;
		form = 0;
	} else if (word >> 28 != 8 || form > 2) {
		return -ENOENT;
	}
	if (form == 0 && at == 0)
		more = 0;
	take_code(f, word, form == 0 ? 3 : 2);
	if ((size_t)got < at + 4 + 4 * (size_t)more)
		return -ENOENT;
	for (uint32_t i = 0; i < more; i++)
		take_code(f, number(exidx, bytes + at + 4 + 4 * (size_t)i), 4);
	return 0;
}

/* Has the function no caller, because a process or a thread begins there? Its entry refuses, but other entries do so,
 * too. */
static bool is_first(const struct nw_exidx *exidx, uint32_t vaddr)
{
	static const char *const names[] = {"_start", "__clone", "clone"};
	struct nw_symbol symbol;

	if (exidx->first && vaddr >= exidx->first && vaddr - exidx->first < START)
		return true;
	if (nw_image_function(exidx->image, vaddr, &symbol) < 0)
		return false;
	for (size_t i = 0; i < NW_COUNT(names); i++)
		if (strcmp(symbol.name, names[i]) == 0)
			return true;
	return false;
}

/* Returns 1: its instructions are in f; 0: the function has no caller; -ENOENT. */
static int find_code(const struct nw_exidx *exidx, uint32_t vaddr, struct code *f)
{
	size_t low = 0, high = exidx->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint32_t start = place_at(exidx->vaddr + (uint32_t)(ENTRY * middle),
					  number(exidx, exidx->table + ENTRY * middle));
		if ((start & ~(uint32_t)1) <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return -ENOENT;
	const uint32_t word = number(exidx, exidx->table + ENTRY * (low - 1) + 4);
	if (word == CANNOT)
		return is_first(exidx, vaddr) ? 0 : -ENOENT;
	if (!(word >> 31))
		return read_entry(
			       exidx,
			       place_at(exidx->vaddr + (uint32_t)(ENTRY * low) - 4, word),
			       f) < 0
			       ? -ENOENT
			       : 1;
	if (word >> 24 != 0x80)
		return -ENOENT;
	take_code(f, word, 3);
	return 1;
}

unsigned int nw_exidx_rule(const struct nw_exidx *exidx, uint64_t vaddr, struct nw_buf *out)
{
	struct code code = {.len = 0};
	int ret = find_code(exidx, (uint32_t)vaddr, &code);

	if (ret <= 0)
		return ret == 0 ? NW_RULE_FIRST : 0;
	nw_put(out, code.len, 2);
	nw_buf_add(out, code.bytes, code.len);
	return NW_RULE_TABLE;
}

int nw_exidx_run(const unsigned char *code, size_t len, const struct nw_memory *memory,
		 struct nw_registers *registers, bool *interrupted)
{
	struct frame f = {.memory = memory,
			  .regs = *registers,
			  .sp = (uint32_t)registers->value[SP],
			  .code = code,
			  .len = len};

	*interrupted = false;
	f.regs.known[PC] = false;
	if (!registers->known[SP])
		return -ENOENT;
	int ret = run(&f);
	if (ret < 0)
		return ret;
	/* Only an interrupted function has its pc on the stack; the return address of a call was in lr. */
	*interrupted = f.regs.known[PC];
	const unsigned int back = f.regs.known[PC] ? PC : LR;
	if (!f.regs.known[back])
		return f.fault ? f.fault : -ENOENT;
	f.regs.pc = f.regs.value[back];
	f.regs.value[SP] = f.sp;
	f.regs.known[SP] = true;
	for (unsigned int i = 0; i < 16 && !*interrupted;
	     i++) /* the call has changed them */
		if (i < 4 || i == 12 || i > SP)
			f.regs.known[i] = false;
	*registers = f.regs;
	return f.regs.pc != 0;
}
