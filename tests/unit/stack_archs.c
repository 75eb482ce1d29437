// SPDX-License-Identifier: MIT
/*
 * stack: callers on each architecture, from files and stacks made by hand as its ABI has them: leaf() was called by
 * middle(), that by itself, and that by first(), which nobody called.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "elf_files.h"
#include "measure/stack/stack.h"
#include "unit.h"

enum {
	LEAF = EB_TEXT, /* makes no frame */
	MIDDLE = EB_TEXT + 0x40,
	FIRST = EB_TEXT + 0x80,
	CALLS = 0x10, /* behind a function's beginning: where what it calls returns to */
	TRAMPOLINE = 0x700000, /* of return probes */
	FRAME = 32,	       /* bytes that middle() takes */
	STACK = 0x20000,       /* the stack pointer when leaf() is entered */
	WORDS = 1024,	       /* bytes of the stack that are fetched */
	ARM = 6		       /* of `machines` */
};

/* Numbers are DWARF's; distances in bytes. */
static const struct machine {
	const char *name;
	uint16_t number;
	bool elf64, big_endian;
	uint8_t stack, back; /* registers: stack pointer, return address */
	uint8_t incoming;    /* the frame's address above the stack pointer at the entry */
	int slot;  /* where the return address is saved, from the frame's address on */
	int above; /* the frame's address above the caller's stack pointer */
	bool calls_push; /* a call puts the return address on the stack */
	/* without call frame information: a register that leads through the frames, and where from there the next is,
	 * and where it returns to, counted from the next one where that is so */
	int reg, next, caller;
	bool in_next;
} machines[] = {
	{"x86_64", EM_X86_64, true, false, 7, 16, 8, -8, 0, true, 6, 0, 8, false},
	{"i386", EM_386, false, false, 4, 8, 4, -4, 0, true, 5, 0, 4, false},
	{"aarch64", EM_AARCH64, true, false, 31, 30, 0, -24, 0, false, 29, 0, 8, false},
	{"riscv64", EM_RISCV, true, false, 2, 1, 0, -8, 0, false, 8, -16, -8, false},
	{"ppc64le", EM_PPC64, true, false, 1, 65, 0, 16, 0, false, 1, 0, 16, true},
	{"ppc64", EM_PPC64, true, true, 1, 65, 0, 16, 0, false, 1, 0, 16, true},
	{"arm", EM_ARM, false, false, 13, 14, 0, -4, 0, false, -1, 0, 0, false},
	{"s390x", EM_S390, true, true, 15, 14, 160, -48, 160, false, -1, 0, 0, false},
};

/* What the compiler would have said of the three. */
static void add_frames(struct eb *b, const struct machine *m)
{
	const uint8_t data = m->elf64 ? 8 : 4; /* the factor is less than 0 */
	const uint8_t saved = (uint8_t)(-m->slot / data) & 0x7f;
	const uint64_t addr = 0x500000;
	struct nw_buf out = {0}, entry = {0};

	eb_put(b, &entry, 0, 4);
	nw_buf_add(&entry, "\1zR", 4);
	const uint8_t common[] = {1,	-data & 0x7f, m->back,	1,
				  0x1b, 0x0c,	      m->stack, m->incoming & 0x7f,
				  0x01, 0x11,	      m->back,	saved};
	/* def_cfa; where calls push it, offset_extended_sf. 160 takes two bytes. */
	nw_buf_add(&entry, common, 7);
	nw_buf_addc(&entry, (char)(m->incoming | (m->incoming > 127 ? 0x80 : 0)));
	if (m->incoming > 127)
		nw_buf_add(&entry, common + 8, 1);
	if (m->calls_push)
		nw_buf_add(&entry, common + 9, 3);
	eb_frame_entry(b, &out, &entry);
	for (uint64_t i = 0; i < 3; i++) {
		const unsigned int whole = m->incoming + FRAME;
		const uint8_t frame[] = {0,
					 0x44, /* 4 bytes on: */
					 0x0e, /* def_cfa_offset */
					 (uint8_t)((whole & 0x7f) | 0x80),
					 (uint8_t)(whole >> 7),
					 0x11,
					 m->back,
					 saved},
			      undefined[] = {0, 0x07, m->back};
		eb_put(b, &entry, out.len + 4, 4);
		eb_put(b, &entry, EB_TEXT + 0x40 * i - (addr + out.len + 8), 4);
		eb_put(b, &entry, 0x40, 4);
		nw_buf_add(&entry, i == 2 ? undefined : frame,
			   i == 0   ? 1
			   : i == 1 ? sizeof(frame)
				    : sizeof(undefined));
		eb_frame_entry(b, &out, &entry);
	}
	eb_put(b, &out, 0, 4);
	eb_section(b, ".eh_frame", SHT_PROGBITS, addr, out.data, out.len);
	b->sections.item[b->sections.count - 1].flags = SHF_ALLOC;
	eb_load(b, PF_R, addr, out.data, out.len, out.len);
	nw_buf_free(&out);
}

static int make_file(const struct machine *m, bool frames)
{
	static const char *const names[] = {"leaf", "middle", "first"};
	struct eb_symbols symbols = {0};
	struct eb b;

	eb_program(&b, m->number, m->elf64, m->big_endian);
	if (frames)
		add_frames(&b, m);
	for (uint64_t i = 0; i < NW_COUNT(names); i++)
		eb_symbol(&b, &symbols, names[i], ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1,
			  EB_TEXT + 0x40 * i, 0x40);
	eb_symtab(&b, &symbols, SHT_SYMTAB);
	return eb_memfd(&b);
}

static void tell(struct nw_stacks *stacks, const char *format, ...)
{
	char text[256], *words[12], *rest = text, *one;
	size_t count = 0;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	while (count < 12 && (one = strsep(&rest, " ")))
		words[count++] = one;
	ck_assert(nw_stacks_line(stacks, words, count));
}

static struct nw_stacks *open_stacks(int fd)
{
	struct nw_stacks *stacks;
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(nw_stacks_open(NULL, &stacks), 0);
	tell(stacks, "module 3 0 0 x");
	/* not /proc/self: another process opens it */
	tell(stacks, "module 0 %ju %ju /proc/%d/fd/%d", (uintmax_t)st.st_dev,
	     (uintmax_t)st.st_ino, (int)getpid(), fd);
	tell(stacks, "module 2 0 0 [uprobes]");
	tell(stacks, "region 5 %d %d %d 1", EB_TEXT, EB_TEXT + 0x1000, EB_TEXT_AT);
	tell(stacks, "region 5 %d %d 0 2", TRAMPOLINE, TRAMPOLINE + 0x1000);
	return stacks;
}

struct hit {
	uint64_t pc, stack, link, frame; /* frame: what `reg` has */
	bool entry;
	pid_t thread;
	unsigned char words[WORDS]; /* from `stack` on */
};

static void put(const struct machine *m, unsigned char *at, uint64_t value,
		unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		at[m->big_endian ? bytes - 1 - i : i] = (unsigned char)(value >> 8 * i);
}

static void put_word(const struct machine *m, struct hit *hit, uint64_t address,
		     uint64_t value)
{
	ck_assert(address >= hit->stack && address - hit->stack <= WORDS - 8);
	put(m, hit->words + (address - hit->stack), value, m->elf64 ? 8 : 4);
}

/* "leaf+0x0 middle+0x10 ...", and how it ends. */
static void is_called_so(struct nw_stacks *stacks, const struct machine *m,
			 const struct hit *hit, const char *wanted, enum nw_stack_end end)
{
	const struct nw_arch *arch = nw_arch_by_name(m->name);
	const struct nw_unwind *unwind = arch->unwind;
	unsigned char bytes[8 * 32 + WORDS] = {0};
	struct nw_buf got = {0};

	ck_assert_ptr_nonnull(unwind);
	for (size_t i = 0; i < unwind->count; i++) {
		unsigned int number = unwind->fetched[i].dwarf;
		uint64_t value = number == m->stack		       ? hit->stack
				 : number == (unsigned int)m->reg      ? hit->frame
				 : number == m->back && !m->calls_push ? hit->link
				 : i == 0			       ? hit->pc
								       : 0;
		put(m, bytes + 8 * i, value, 8);
	}
	memcpy(bytes + 8 * unwind->count, hit->words, WORDS);
	const struct nw_stack_copy copy = {.arch = arch,
					   .big_endian = m->big_endian,
					   .bytes = bytes,
					   .len = 8 * unwind->count + WORDS,
					   .process = 5,
					   .thread = hit->thread,
					   .address = hit->pc,
					   .entry = hit->entry};
	int64_t number = nw_stacks_add(stacks, &copy);
	ck_assert_int_gt(number, 1);
	const struct nw_stack stack = nw_stacks_get(stacks, (uint32_t)number);
	for (size_t i = 0; i < stack.count; i++) {
		const char *text = nw_stacks_frame(stacks, stack.frames[i]).text;
		nw_buf_printf(&got, "%s%.*s", i ? " " : "", (int)strcspn(text, " "), text);
	}
	ck_assert_msg(strcmp(nw_buf_str(&got), wanted) == 0 && stack.end == end,
		      "%s: got '%s' (%s), wanted '%s' (%s)", m->name, nw_buf_str(&got),
		      nw_stack_end_words[stack.end], wanted, nw_stack_end_words[end]);
	nw_buf_free(&got);
}

#ifdef NW_HAVE_LIBDW
static const bool have_libdw = true;
#else
static const bool have_libdw = false;
#endif

#define ALL "leaf+0x0 middle+0x10 middle+0x10 first+0x10"

/* A hit of leaf(), with both calls of middle() on its stack; returns the frame's address of the outer one. */
static uint64_t make_hit(const struct machine *m, struct hit *hit, uint64_t outer_returns)
{
	const uint64_t pushed = m->calls_push ? m->incoming : 0;
	const uint64_t inner = STACK + pushed + FRAME + m->incoming;
	const uint64_t outer = inner - (uint64_t)m->above + FRAME + m->incoming;

	*hit = (struct hit){.pc = LEAF,
			    .stack = STACK,
			    .link = MIDDLE + CALLS,
			    .entry = true,
			    .thread = 5};
	if (m->calls_push)
		put_word(m, hit, STACK, MIDDLE + CALLS);
	put_word(m, hit, inner + (uint64_t)(int64_t)m->slot, MIDDLE + CALLS);
	put_word(m, hit, outer + (uint64_t)(int64_t)m->slot, outer_returns);
	return outer;
}

static void by_call_frame_information_of(const struct machine *m)
{
	int fd = make_file(m, true);
	struct nw_stacks *stacks = open_stacks(fd);
	struct hit hit;

	make_hit(m, &hit, FIRST + CALLS);
	if (have_libdw)
		is_called_so(stacks, m, &hit, ALL, NW_STACK_WHOLE);
	nw_stacks_free(stacks);
	close(fd);
}

/* A return probe has taken the outer call's return address: it is known if that call's entry was hit. */
static void behind_a_return_probe_of(const struct machine *m)
{
	int fd = make_file(m, true);
	struct nw_stacks *stacks = open_stacks(fd);
	struct hit hit,
		entered = {.pc = MIDDLE, .link = FIRST + CALLS, .entry = true, .thread = 5};

	uint64_t outer = make_hit(m, &hit, TRAMPOLINE);
	if (have_libdw) {
		is_called_so(stacks, m, &hit, "leaf+0x0 middle+0x10 middle+0x10",
			     NW_STACK_RETURN);
		entered.stack = outer - m->incoming;
		if (m->calls_push)
			put_word(m, &entered, entered.stack, FIRST + CALLS);
		is_called_so(stacks, m, &entered, "middle+0x0 first+0x10", NW_STACK_WHOLE);
		is_called_so(stacks, m, &hit, ALL, NW_STACK_WHOLE);
		hit.thread = 6;
		is_called_so(stacks, m, &hit, "leaf+0x0 middle+0x10 middle+0x10",
			     NW_STACK_RETURN);
	}
	nw_stacks_free(stacks);
	close(fd);
}

/* Where nothing is said about frames, they are a list; leaf() has made none yet. */
static void by_the_frames_themselves_of(const struct machine *m)
{
	int fd = make_file(m, false);
	struct nw_stacks *stacks = open_stacks(fd);
	struct hit hit = {.pc = LEAF,
			  .stack = STACK,
			  .link = MIDDLE + CALLS,
			  .entry = true,
			  .thread = 5};
	uint64_t frame = m->in_next ? STACK : STACK + 64;

	if (m->calls_push)
		put_word(m, &hit, STACK, MIDDLE + CALLS);
	hit.frame = frame;
	for (int i = 0; i < 3 && m->reg >= 0; i++) {
		const uint64_t next = i == 2 && m->in_next ? 0 : frame + 64;
		put_word(m, &hit, frame + (uint64_t)(int64_t)m->next, next);
		if (next)
			put_word(m, &hit,
				 (m->in_next ? next : frame) + (uint64_t)(int64_t)m->caller,
				 i == 0	  ? MIDDLE + CALLS
				 : i == 1 ? FIRST + CALLS
					  : 0);
		frame += 64;
	}
	if (m->reg >= 0)
		is_called_so(stacks, m, &hit, ALL, NW_STACK_WHOLE);
	else /* there is no list */
		is_called_so(stacks, m, &hit, "leaf+0x0 middle+0x10", NW_STACK_LOST);
	nw_stacks_free(stacks);
	close(fd);
}

/*
 * 32-bit ARM's own tables, and callers that are Thumb code, which their return addresses say. leaf() is hit at its first
 * instruction, where they do not hold; first() is where the program begins, of which they tell nothing.
 */
START_TEST(by_tables_of_exceptions)
{
	static const char *const names[] = {"leaf", "middle", "first"};
	/* leaf: up 32 and pop lr, once it has got that far; so does middle() */
	const uint32_t table[][2] = {{LEAF, 0x80078400}, {MIDDLE, 0x80078400}, {FIRST, 1}};
	const struct machine *m = &machines[ARM];
	struct eb_symbols symbols = {0};
	struct nw_stacks *stacks;
	struct hit hit;
	struct eb b;

	ck_assert_str_eq(m->name, "arm");
	eb_program(&b, EM_ARM, false, false);
	b.entry = FIRST + 1;
	eb_exidx(&b, 0x500000, table, NW_COUNT(table));
	for (uint64_t i = 0; i < NW_COUNT(names); i++)
		eb_symbol(&b, &symbols, names[i], ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1,
			  EB_TEXT + 0x40 * i + (i > 0), 0x40);
	eb_symtab(&b, &symbols, SHT_SYMTAB);
	int fd = eb_memfd(&b);
	stacks = open_stacks(fd);
	hit = (struct hit){.pc = LEAF,
			   .stack = STACK,
			   .link = (MIDDLE + CALLS) | 1,
			   .entry = true,
			   .thread = 5};
	put_word(m, &hit, STACK + 32, (MIDDLE + CALLS) | 1);
	put_word(m, &hit, STACK + 68, (FIRST + CALLS) | 1);
	is_called_so(stacks, m, &hit, ALL, NW_STACK_WHOLE);
	/* further on it has saved lr; behind a return probe nobody knows who called */
	hit.pc = LEAF + 8;
	hit.link = 0;
	put_word(m, &hit, STACK + 68, TRAMPOLINE);
	is_called_so(stacks, m, &hit, "leaf+0x8 middle+0x10", NW_STACK_RETURN);
	nw_stacks_free(stacks);
	close(fd);
}
END_TEST

#define OF_ALL(test)                                            \
	START_TEST(test)                                        \
	{                                                       \
		for (size_t i = 0; i < NW_COUNT(machines); i++) \
			test##_of(&machines[i]);                \
	}                                                       \
	END_TEST

OF_ALL(by_call_frame_information)
OF_ALL(behind_a_return_probe)
OF_ALL(by_the_frames_themselves)

UNIT_MAIN("stack_archs", by_call_frame_information, behind_a_return_probe,
	  by_the_frames_themselves, by_tables_of_exceptions)
