/* SPDX-License-Identifier: MIT */
/*
 * Debugging information of a tiny program, made byte by byte: in a.c, a function `outer` over all of the text, into whose
 * second quarter `inner` was inlined, from b.h. All of it may be changed before it becomes sections.
 *
 *	struct eb_dwarf dwarf;
 *	eb_dwarf_make(&b, 5, &dwarf);
 *	dwarf.line_str.len--;			no NUL at its end
 *	eb_dwarf_sections(&b, &dwarf);		frees it
 */
#ifndef NOPWATCH_TESTS_DWARF_BUILDER_H
#define NOPWATCH_TESTS_DWARF_BUILDER_H

#include "elf_builder.h"

struct eb_dwarf {
	struct nw_buf abbrev, info, line, str, line_str;
};

enum {
	EB_INLINED = EB_TEXT + EB_TEXT_SIZE / 4, /* where inner is, for a quarter */
	EB_OUTER_LINE = 10,			 /* of the first instruction */
	EB_INNER_LINE = 20,
	EB_CALL_LINE = 30
};

/* The length of what follows, then that. */
static inline void eb_dwarf_unit(const struct eb *b, struct nw_buf *out,
				 struct nw_buf *unit)
{
	eb_put(b, out, unit->len, 4);
	nw_buf_add(out, unit->data, unit->len);
	nw_buf_free(unit);
}

static inline void eb_dwarf_info(const struct eb *b, unsigned int version,
				 struct eb_dwarf *out)
{
	static const unsigned char abbrev[] = {
		/* clang-format off */
		1, 0x11, 1, 0x03, 0x08, 0x1b, 0x0e, 0x10, 0x17, 0x11, 0x01, 0x12, 0x06, 0, 0, /* unit: name, directory, lines, addresses */
		2, 0x2e, 1, 0x03, 0x0e, 0x11, 0x01, 0x12, 0x06, 0, 0, /* function: name, addresses */
		3, 0x1d, 0, 0x31, 0x13, 0x11, 0x01, 0x12, 0x06, 0x58, 0x0b, 0x59, 0x0b, 0, 0, /* inlined: of what, addresses, called where */
		4, 0x2e, 0, 0x03, 0x08, 0, 0, /* function without code: name */
		0
		/* clang-format on */
	};
	static const char strings[] = "/directory\0outer";
	struct nw_buf unit = {0};

	nw_buf_add(&out->abbrev, (const char *)abbrev, sizeof(abbrev));
	nw_buf_add(&out->str, strings, sizeof(strings));
	eb_put(b, &unit, version, 2);
	if (version >= 5) {
		eb_put(b, &unit, 1, 1); /* of a whole unit */
		eb_put(b, &unit, b->elf64 ? 8 : 4, 1);
	}
	eb_put(b, &unit, 0, 4);
	if (version < 5)
		eb_put(b, &unit, b->elf64 ? 8 : 4, 1);
	nw_buf_add(&unit, "\001a.c", 5);
	eb_put(b, &unit, 0, 4);
	eb_put(b, &unit, 0, 4);
	eb_word(b, &unit, EB_TEXT);
	eb_put(b, &unit, EB_TEXT_SIZE, 4);
	eb_put(b, &unit, 2, 1);
	eb_put(b, &unit, sizeof("/directory"), 4);
	eb_word(b, &unit, EB_TEXT);
	eb_put(b, &unit, EB_TEXT_SIZE, 4);
	eb_put(b, &unit, 3, 1);
	/* from the unit's length on, where inner stands: behind the rest of this, and the end of outer's children */
	eb_put(b, &unit, 4 + unit.len + 4 + (b->elf64 ? 8 : 4) + 6 + 1, 4);
	eb_word(b, &unit, EB_INLINED);
	eb_put(b, &unit, EB_TEXT_SIZE / 4, 4);
	eb_put(b, &unit, 1, 1);
	eb_put(b, &unit, EB_CALL_LINE, 1);
	eb_put(b, &unit, 0, 1);
	nw_buf_add(&unit, "\004inner\0", 8); /* the last 0 ends the unit's children */
	eb_dwarf_unit(b, &out->info, &unit);
}

/* Directories and files. */
static inline void eb_dwarf_tables(const struct eb *b, unsigned int version,
				   struct eb_dwarf *out, struct nw_buf *header)
{
	static const char strings[] = "/directory\0headers\0a.c\0b.h";

	if (version < 5) {
		nw_buf_add(header, "headers\0", 9);
		nw_buf_add(header, "a.c\0\0\0\0b.h\0\001\0\0", 15);
		return;
	}
	nw_buf_add(&out->line_str, strings, sizeof(strings));
	nw_buf_add(header, "\001\001\x1f\002", 4);
	eb_put(b, header, 0, 4);
	eb_put(b, header, sizeof("/directory"), 4);
	nw_buf_add(header, "\002\001\x1f\002\x0b\003", 6);
	for (int i = 0; i < 2; i++) { /* DWARF 5 has the first one twice */
		eb_put(b, header, sizeof("/directory\0headers"), 4);
		eb_put(b, header, 0, 1);
	}
	eb_put(b, header, sizeof("/directory\0headers\0a.c"), 4);
	eb_put(b, header, 1, 1);
}

static inline void eb_dwarf_line(const struct eb *b, unsigned int version,
				 struct eb_dwarf *out)
{
	static const unsigned char fields[] = {1, 1, 1, 0xfb, 14, 13, 0, 1, 1,
					       1, 1, 0, 0,    0,  1,  0, 0, 1};
	struct nw_buf unit = {0}, header = {0};

	nw_buf_add(&header, (const char *)fields + (version < 4),
		   sizeof(fields) - (version < 4));
	eb_dwarf_tables(b, version, out, &header);
	eb_put(b, &unit, version, 2);
	if (version >= 5) {
		eb_put(b, &unit, b->elf64 ? 8 : 4, 1);
		eb_put(b, &unit, 0, 1);
	}
	eb_dwarf_unit(b, &unit, &header);
	eb_put(b, &unit, 0, 1); /* an address */
	eb_put(b, &unit, b->elf64 ? 9 : 5, 1);
	eb_put(b, &unit, 2, 1);
	eb_word(b, &unit, EB_TEXT);
	nw_buf_add(&unit, "\003\011\001", 3);	      /* line + 9, a row */
	nw_buf_add(&unit, "\002\300\0", 3);	      /* a quarter further */
	nw_buf_add(&unit, "\004\002\003\012\001", 5); /* file 2, line + 10, a row */
	nw_buf_add(&unit, "\002\300\0\004\001\001",
		   6); /* a quarter further, file 1, a row */
	nw_buf_add(&unit, "\002\200\001\0\001\001", 6); /* half of it further is the end */
	eb_dwarf_unit(b, &out->line, &unit);
}

static inline void eb_dwarf_make(const struct eb *b, unsigned int version,
				 struct eb_dwarf *out)
{
	*out = (struct eb_dwarf){.abbrev = {0}};
	eb_dwarf_info(b, version, out);
	eb_dwarf_line(b, version, out);
}

static inline void eb_dwarf_sections(struct eb *b, struct eb_dwarf *dwarf)
{
	const struct {
		const char *name;
		struct nw_buf *bytes;
	} all[] = {{".debug_abbrev", &dwarf->abbrev},
		   {".debug_info", &dwarf->info},
		   {".debug_line", &dwarf->line},
		   {".debug_str", &dwarf->str},
		   {".debug_line_str", &dwarf->line_str}};

	for (size_t i = 0; i < NW_COUNT(all); i++) {
		if (all[i].bytes->len)
			eb_section(b, all[i].name, SHT_PROGBITS, 0, all[i].bytes->data,
				   all[i].bytes->len);
		nw_buf_free(all[i].bytes);
	}
}

#endif
