/* SPDX-License-Identifier: MIT */
/*
 * Tiny ELF files, made byte by byte for tests: any class and byte order, segments whose
 * addresses are not their file offsets, USDT notes, symbols, relocations; all of it may be
 * wrong on purpose.
 *
 *	struct eb b;
 *	eb_program(&b, EM_X86_64, true, false);		text full of nops, and data
 *	eb_note(&b, EB_TEXT, EB_BASE, 0, "prov", "name", "8@%rdi");
 *	eb_notes(&b);					into a .note.stapsdt section
 *	int fd = eb_memfd(&b);				the finished file; frees the builder
 */
#ifndef NOPWATCH_TESTS_ELF_BUILDER_H
#define NOPWATCH_TESTS_ELF_BUILDER_H

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

/* What eb_program() makes. Addresses and file offsets differ in more than their pages. */
enum {
	EB_HEAD = 0x200, /* room for the header and the program headers */
	EB_TEXT = 0x401000,
	EB_TEXT_AT = 0x200,
	EB_TEXT_SIZE = 0x100,
	EB_NOT_NOP = 0x80, /* behind EB_TEXT: no nop */
	EB_TRAP = 0x90,	   /* behind EB_TEXT: a breakpoint (x86), else no nop */
	EB_DATA = 0x604040,
	EB_DATA_AT = 0x300,
	EB_DATA_SIZE = 0x40,
	EB_DATA_MEMORY = 0x80, /* the rest is .bss */
	EB_BASE = 0x402000,    /* address of .stapsdt.base, once eb_base() is called */
};

struct eb_load {
	uint32_t type; /* 0: PT_LOAD */
	uint32_t flags;
	uint64_t vaddr, offset, filesz, memsz;
};

struct eb_section {
	uint32_t name, type, link, info;
	uint64_t flags, addr, offset, size, entsize;
};

struct eb {
	bool elf64, big_endian;
	uint16_t type, machine;
	uint64_t entry;	  /* where it begins */
	bool no_sections; /* leave the section headers out */
	NW_VEC(struct eb_load) loads;
	NW_VEC(struct eb_section) sections;
	struct nw_buf bytes; /* the file */
	struct nw_buf names; /* .shstrtab */
	struct nw_buf notes; /* of the section in the making */
};

struct eb_symbols {
	struct nw_buf table, strings;
};

/* ---- bytes -------------------------------------------------------------------------- */

static inline void eb_put(const struct eb *b, struct nw_buf *out, uint64_t value,
			  size_t size)
{
	for (size_t i = 0; i < size; i++)
		nw_buf_addc(out, (char)(value >> 8 * (b->big_endian ? size - 1 - i : i)));
}

static inline void eb_word(const struct eb *b, struct nw_buf *out, uint64_t value)
{
	eb_put(b, out, value, b->elf64 ? 8 : 4);
}

static inline void eb_align(struct nw_buf *out, size_t to)
{
	while (out->len % to)
		nw_buf_addc(out, '\0');
}

/* ---- segments and sections ---------------------------------------------------------- */

/* Append a PT_LOAD with these bytes; returns their file offset. */
static inline uint64_t eb_load(struct eb *b, uint32_t flags, uint64_t vaddr,
			       const void *data, size_t len, uint64_t memsz)
{
	struct eb_load *load = nw_vec_add(&b->loads);

	eb_align(&b->bytes, 0x100);
	*load = (struct eb_load){.flags = flags,
				 .vaddr = vaddr,
				 .offset = b->bytes.len,
				 .filesz = len,
				 .memsz = memsz};
	nw_buf_add(&b->bytes, data, len);
	return load->offset;
}

/* Append a section with these bytes (NULL: none in the file); returns its number. */
static inline uint32_t eb_section(struct eb *b, const char *name, uint32_t type,
				  uint64_t addr, const void *data, size_t len)
{
	struct eb_section *section = nw_vec_add(&b->sections);

	eb_align(&b->bytes, 8);
	*section = (struct eb_section){.name = (uint32_t)b->names.len,
				       .type = type,
				       .addr = addr,
				       .offset = b->bytes.len,
				       .size = len};
	nw_buf_add(&b->names, name, strlen(name) + 1);
	if (data)
		nw_buf_add(&b->bytes, data, len);
	return (uint32_t)b->sections.count - 1;
}

/* ---- notes -------------------------------------------------------------------------- */

static inline void eb_note(struct eb *b, uint64_t pc, uint64_t base, uint64_t semaphore,
			   const char *provider, const char *name, const char *args)
{
	size_t strings = strlen(provider) + strlen(name) + strlen(args) + 3;

	eb_put(b, &b->notes, 8, 4);
	eb_put(b, &b->notes, (b->elf64 ? 24 : 12) + strings, 4);
	eb_put(b, &b->notes, 3, 4);
	nw_buf_add(&b->notes, "stapsdt", 8);
	eb_word(b, &b->notes, pc);
	eb_word(b, &b->notes, base);
	eb_word(b, &b->notes, semaphore);
	nw_buf_add(&b->notes, provider, strlen(provider) + 1);
	nw_buf_add(&b->notes, name, strlen(name) + 1);
	nw_buf_add(&b->notes, args, strlen(args) + 1);
	eb_align(&b->notes, 4);
}

/* Make a section of the notes so far; the next ones will be in another. */
static inline uint32_t eb_notes(struct eb *b)
{
	uint32_t number = eb_section(b, ".note.stapsdt", SHT_NOTE, 0, b->notes.data,
				     b->notes.len);

	nw_buf_clear(&b->notes);
	return number;
}

static inline void eb_base(struct eb *b, uint64_t addr)
{
	eb_section(b, ".stapsdt.base", SHT_PROGBITS, addr, "", 1);
}

static inline void eb_build_id(struct eb *b, const char *id, size_t len)
{
	struct nw_buf note = {0};

	eb_put(b, &note, 4, 4);
	eb_put(b, &note, len, 4);
	eb_put(b, &note, NT_GNU_BUILD_ID, 4);
	nw_buf_add(&note, "GNU", 4);
	nw_buf_add(&note, id, len);
	eb_align(&note, 4);
	eb_section(b, ".note.gnu.build-id", SHT_NOTE, 0, note.data, note.len);
	nw_buf_free(&note);
}

/* ---- call frame information --------------------------------------------------------- */

/* DWARF's numbers of an architecture, and what its addresses and saved registers are multiples of. */
struct eb_frame_numbers {
	unsigned char back, stack, frame, code;
	int8_t data;
};

/* With the length, which is of what follows it. */
static inline void eb_frame_entry(const struct eb *b, struct nw_buf *out,
				  struct nw_buf *entry)
{
	eb_align(entry, 4);
	eb_put(b, out, entry->len, 4);
	nw_buf_add(out, entry->data, entry->len);
	nw_buf_free(entry);
}

/*
 * An .eh_frame at this address: of the first half of the text, a function that saves the frame pointer and goes on
 * by it; of the second, one whose frame an expression finds: it is called by nobody. header: with an .eh_frame_hdr, where
 * both are looked up.
 */
static inline void eb_frames(struct eb *b, uint64_t addr,
			     const struct eb_frame_numbers *numbers, bool header)
{
	const uint8_t word = b->elf64 ? 8 : 4;
	struct nw_buf out = {0}, entry = {0};
	uint64_t starts[2], at[2];

	eb_put(b, &entry, 0,
	       4); /* it is common information: version, then how the rest is written */
	nw_buf_add(&entry, "\1zR", 4);
	const uint8_t common[] = {numbers->code,
				  (uint8_t)numbers->data & 0x7f,
				  numbers->back,
				  1,
				  0x1b, /* from here, 4 bytes, signed */
				  0x0c,
				  numbers->stack,
				  word, /* DW_CFA_def_cfa */
				  (uint8_t)(0x80 | numbers->back),
				  1};
	nw_buf_add(&entry, common, sizeof(common));
	eb_frame_entry(b, &out, &entry);
	for (int i = 0; i < 2; i++) {
		const uint8_t plain[] = {0,
					 0x41,
					 0x0e,
					 (uint8_t)(2 * word),
					 (uint8_t)(0x80 | numbers->frame),
					 2,
					 0x43,
					 0x0d,
					 numbers->frame},
			      expression[] = {0,
					      0x0f,
					      4, /* DW_CFA_def_cfa_expression */
					      (uint8_t)(0x70 + numbers->stack),
					      16,
					      0x38,
					      0x22 /* breg, lit8, plus */,
					      0x07,
					      numbers->back}; /* DW_CFA_undefined */
		starts[i] = EB_TEXT + (uint64_t)i * EB_TEXT_SIZE / 2;
		at[i] = addr + out.len;
		eb_put(b, &entry, out.len + 4, 4);
		eb_put(b, &entry, starts[i] - (addr + out.len + 8), 4);
		eb_put(b, &entry, EB_TEXT_SIZE / 2, 4);
		nw_buf_add(&entry, i ? expression : plain, sizeof(plain));
		eb_frame_entry(b, &out, &entry);
	}
	eb_put(b, &out, 0, 4);
	eb_section(b, ".eh_frame", SHT_PROGBITS, addr, out.data, out.len);
	b->sections.item[b->sections.count - 1].flags = SHF_ALLOC;
	eb_load(b, PF_R, addr, out.data, out.len, out.len);
	if (header) {
		const uint8_t how[] = {1, 0x1b, 0x03, 0x3b};
		uint64_t head = addr + 0x1000;
		nw_buf_clear(&out);
		nw_buf_add(&out, how, sizeof(how));
		eb_put(b, &out, addr - (head + 4), 4);
		eb_put(b, &out, 2, 4);
		for (int i = 0; i < 2; i++) {
			eb_put(b, &out, starts[i] - head, 4);
			eb_put(b, &out, at[i] - head, 4);
		}
		eb_load(b, PF_R, head, out.data, out.len, out.len);
		struct eb_load of = b->loads.item[b->loads.count - 1];
		of.type = PT_GNU_EH_FRAME;
		*nw_vec_add(&b->loads) = of;
	}
	nw_buf_free(&out);
}

/* .ARM.exidx at addr: `count` pairs of a function's address and its word; a word that begins with no 8 and is not 1 is
 * the address of an entry elsewhere. */
static inline void eb_exidx(struct eb *b, uint32_t addr, const uint32_t (*entries)[2],
			    size_t count)
{
	struct nw_buf out = {0};

	for (size_t i = 0; i < count; i++) {
		const uint32_t where = addr + 8 * (uint32_t)i, word = entries[i][1];
		eb_put(b, &out, (entries[i][0] - where) & 0x7fffffff, 4);
		eb_put(b, &out,
		       word >> 31 || word == 1 ? word : (word - (where + 4)) & 0x7fffffff,
		       4);
	}
	eb_load(b, PF_R, addr, out.data, out.len, out.len);
	struct eb_load of = b->loads.item[b->loads.count - 1];
	of.type = PT_ARM_EXIDX;
	*nw_vec_add(&b->loads) = of;
	nw_buf_free(&out);
}

/* ---- symbols and relocations -------------------------------------------------------- */

/* info: ELF64_ST_INFO(bind, type); section: of the symbol, SHN_UNDEF: imported. */
static inline void eb_symbol(const struct eb *b, struct eb_symbols *symbols,
			     const char *name, int info, uint16_t section, uint64_t value,
			     uint64_t size)
{
	if (!symbols->table.len) { /* the first one is empty */
		for (int i = 0; i < (b->elf64 ? 24 : 16); i++)
			nw_buf_addc(&symbols->table, '\0');
		nw_buf_addc(&symbols->strings, '\0');
	}
	eb_put(b, &symbols->table, symbols->strings.len, 4);
	if (!b->elf64) {
		eb_put(b, &symbols->table, value, 4);
		eb_put(b, &symbols->table, size, 4);
	}
	eb_put(b, &symbols->table, (uint64_t)info, 1);
	eb_put(b, &symbols->table, 0, 1);
	eb_put(b, &symbols->table, section, 2);
	if (b->elf64) {
		eb_put(b, &symbols->table, value, 8);
		eb_put(b, &symbols->table, size, 8);
	}
	nw_buf_add(&symbols->strings, name, strlen(name) + 1);
}

/* Make sections of them: type SHT_SYMTAB or SHT_DYNSYM. Returns the table's number. */
static inline uint32_t eb_symtab(struct eb *b, struct eb_symbols *symbols, uint32_t type)
{
	bool dynamic = type == SHT_DYNSYM;
	uint32_t strings = eb_section(b, dynamic ? ".dynstr" : ".strtab", SHT_STRTAB, 0,
				      symbols->strings.data, symbols->strings.len);
	uint32_t table = eb_section(b, dynamic ? ".dynsym" : ".symtab", type, 0,
				    symbols->table.data, symbols->table.len);

	b->sections.item[table].link = strings;
	b->sections.item[table].entsize = b->elf64 ? 24 : 16;
	nw_buf_free(&symbols->table);
	nw_buf_free(&symbols->strings);
	return table;
}

/* A section of one relocation: RELA in 64-bit files, REL in others. */
static inline void eb_relocation(struct eb *b, uint32_t symtab, uint64_t slot,
				 uint32_t symbol, uint32_t type)
{
	struct nw_buf data = {0};

	eb_word(b, &data, slot);
	eb_word(b, &data,
		b->elf64 ? ELF64_R_INFO((uint64_t)symbol, type)
			 : ELF32_R_INFO(symbol, type));
	if (b->elf64)
		eb_word(b, &data, 0);
	uint32_t section = eb_section(b, b->elf64 ? ".rela.dyn" : ".rel.dyn",
				      b->elf64 ? SHT_RELA : SHT_REL, 0, data.data,
				      data.len);
	b->sections.item[section].link = symtab;
	b->sections.item[section].entsize = data.len;
	nw_buf_free(&data);
}

/* ---- a file ------------------------------------------------------------------------- */

static inline void eb_init(struct eb *b, uint16_t machine, bool elf64, bool big_endian)
{
	*b = (struct eb){.elf64 = elf64,
			 .big_endian = big_endian,
			 .type = ET_DYN,
			 .machine = machine};
	for (int i = 0; i < EB_HEAD; i++)
		nw_buf_addc(&b->bytes, '\0');
	eb_section(b, "", SHT_NULL, 0, NULL, 0);
	b->sections.item[0].offset = 0;
}

/* The bytes of the machine's nop, as often as fits. */
static inline void eb_nops(uint16_t machine, bool big_endian, unsigned char *to, size_t len)
{
	static const unsigned char arm64[] = {0x1f, 0x20, 0x03, 0xd5},
				   ppc[] = {0x60, 0, 0, 0}, ppcle[] = {0, 0, 0, 0x60},
				   s390[] = {0x47, 0, 0, 0},
				   arm[] = {0x00, 0xf0, 0x20, 0xe3},
				   x86[] = {0x90, 0x90, 0x90, 0x90};
	const unsigned char *nop = machine == EM_AARCH64 ? arm64
				   : machine == EM_ARM	 ? arm
				   : machine == EM_S390	 ? s390
				   : machine == EM_PPC	 ? ppc
				   : machine == EM_PPC64 ? (big_endian ? ppc : ppcle)
							 : x86;

	for (size_t i = 0; i < len; i++)
		to[i] = nop[i % 4];
}

/* A program of two segments: text full of nops, but for EB_NOT_NOP and EB_TRAP; data. */
static inline void eb_program(struct eb *b, uint16_t machine, bool elf64, bool big_endian)
{
	unsigned char text[EB_TEXT_SIZE], data[EB_DATA_SIZE] = {0};

	eb_init(b, machine, elf64, big_endian);
	eb_nops(machine, big_endian, text, sizeof(text));
	memset(text + EB_NOT_NOP, 0x55, 8);
	memset(text + EB_TRAP, 0xcc, 8);
	eb_load(b, PF_R | PF_X, EB_TEXT, text, sizeof(text), sizeof(text));
	eb_load(b, PF_R | PF_W, EB_DATA, data, sizeof(data), EB_DATA_MEMORY);
}

static inline void eb_program_headers(const struct eb *b, struct nw_buf *out)
{
	for (size_t i = 0; i < b->loads.count; i++) {
		const struct eb_load *load = &b->loads.item[i];
		eb_put(b, out, load->type ? load->type : PT_LOAD, 4);
		if (b->elf64)
			eb_put(b, out, load->flags, 4);
		eb_word(b, out, load->offset);
		eb_word(b, out, load->vaddr);
		eb_word(b, out, load->vaddr);
		eb_word(b, out, load->filesz);
		eb_word(b, out, load->memsz);
		if (!b->elf64)
			eb_put(b, out, load->flags, 4);
		eb_word(b, out, 0x100);
	}
}

static inline void eb_section_headers(struct eb *b)
{
	for (size_t i = 0; i < b->sections.count; i++) {
		const struct eb_section *section = &b->sections.item[i];
		eb_put(b, &b->bytes, section->name, 4);
		eb_put(b, &b->bytes, section->type, 4);
		eb_word(b, &b->bytes, section->flags);
		eb_word(b, &b->bytes, section->addr);
		eb_word(b, &b->bytes, section->offset);
		eb_word(b, &b->bytes, section->size);
		eb_put(b, &b->bytes, section->link, 4);
		eb_put(b, &b->bytes, section->info, 4);
		eb_word(b, &b->bytes, i ? 1 : 0);
		eb_word(b, &b->bytes, section->entsize);
	}
}

static inline void eb_header(const struct eb *b, uint64_t sections_at, struct nw_buf *out)
{
	uint16_t count = b->no_sections ? 0 : (uint16_t)b->sections.count;

	nw_buf_add(out, ELFMAG, SELFMAG);
	nw_buf_addc(out, b->elf64 ? ELFCLASS64 : ELFCLASS32);
	nw_buf_addc(out, b->big_endian ? ELFDATA2MSB : ELFDATA2LSB);
	nw_buf_addc(out, EV_CURRENT);
	eb_align(out, EI_NIDENT);
	eb_put(b, out, b->type, 2);
	eb_put(b, out, b->machine, 2);
	eb_put(b, out, EV_CURRENT, 4);
	eb_word(b, out, b->entry);
	eb_word(b, out, b->elf64 ? 64 : 52);
	eb_word(b, out, b->no_sections ? 0 : sections_at);
	eb_put(b, out, 0, 4);
	eb_put(b, out, b->elf64 ? 64 : 52, 2);
	eb_put(b, out, b->elf64 ? 56 : 32, 2);
	eb_put(b, out, b->loads.count, 2);
	eb_put(b, out, b->elf64 ? 64 : 40, 2);
	eb_put(b, out, count, 2);
	eb_put(b, out, count ? count - 1u : 0, 2);
}

/* The finished file, which the caller frees with nw_buf_free(); the builder is freed. */
static inline struct nw_buf eb_finish(struct eb *b)
{
	struct nw_buf head = {0};

	eb_section(b, ".shstrtab", SHT_STRTAB, 0, NULL, 0);
	struct eb_section *names = &b->sections.item[b->sections.count - 1];
	names->size = b->names.len;
	nw_buf_add(&b->bytes, b->names.data, b->names.len);
	eb_align(&b->bytes, 8);
	eb_header(b, b->bytes.len, &head);
	eb_program_headers(b, &head);
	if (!b->no_sections)
		eb_section_headers(b);
	ck_assert_uint_le(head.len, EB_HEAD);
	memcpy(b->bytes.data, head.data, head.len);
	nw_buf_free(&head);
	nw_buf_free(&b->names);
	nw_buf_free(&b->notes);
	nw_vec_free(&b->loads);
	nw_vec_free(&b->sections);
	ck_assert(!b->bytes.failed);
	return b->bytes;
}

/* A file without a name; the descriptor is the caller's. */
static inline int eb_memfd_of(const void *bytes, size_t len)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
	return fd;
}

static inline int eb_memfd(struct eb *b)
{
	struct nw_buf file = eb_finish(b);
	int fd = eb_memfd_of(file.data, file.len);

	nw_buf_free(&file);
	return fd;
}

#endif
