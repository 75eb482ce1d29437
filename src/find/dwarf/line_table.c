// SPDX-License-Identifier: MIT
/*
 * Checks the header of a line table (DWARF 2 to 5, section 6.2.4) before libdw reads it: every length and every
 * string in it must end within it. libdw checks some of them only after using them (read_srclines()).
 */
#include "sections.h"

#include <string.h>

/* The position in the header. After the first incomplete item, everything reads as 0. */
struct cursor {
	const uint8_t *at, *end;
	bool big_endian, bad;
};

static size_t left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static void skip(struct cursor *cursor, uint64_t count)
{
	cursor->bad |= count > left(cursor);
	cursor->at += cursor->bad ? left(cursor) : (size_t)count;
}

static uint64_t take(struct cursor *cursor, size_t count)
{
	const uint8_t *bytes = cursor->at;
	uint64_t value = 0;

	skip(cursor, count);
	for (size_t i = 0; !cursor->bad && i < count; i++)
		value |= (uint64_t)bytes[i] << 8 * (cursor->big_endian ? count - 1 - i : i);
	return value;
}

/* Reads an unsigned LEB128. One of more than 64 bits is bad, because readers disagree on its end. */
static uint64_t take_leb(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		const uint64_t byte = take(cursor, 1);
		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->bad = true;
	return 0;
}

/* Reads a string with its NUL. Returns true if it is complete and not empty. */
static bool take_string(struct cursor *cursor)
{
	const uint8_t *nul = left(cursor) ? memchr(cursor->at, '\0', left(cursor)) : NULL;
	const uint64_t size = nul ? (uint64_t)(nul - cursor->at) + 1 : UINT64_MAX;

	skip(cursor, size);
	return !cursor->bad && size > 1;
}

/* ---- DWARF 2 to 4 ------------------------------------------------------------------- */

static void take_old_tables(struct cursor *cursor)
{
	while (take_string(cursor)) /* directories */
		;
	while (take_string(cursor)) {
		take_leb(cursor); /* the directory of the file, */
		take_leb(cursor); /* its time, */
		take_leb(cursor); /* and its size */
	}
}

/* ---- DWARF 5 ------------------------------------------------------------------------ */

/* DW_FORM_... values that compilers use in line tables. All others are refused, above all those that lead to other
 * files, and indexes of strings, which libdw looks up by a unit that a line table does not have. */
enum form {
	BLOCK2 = 0x03,
	BLOCK4 = 0x04,
	DATA2 = 0x05,
	DATA4 = 0x06,
	DATA8 = 0x07,
	STRING = 0x08,
	BLOCK = 0x09,
	BLOCK1 = 0x0a,
	DATA1 = 0x0b,
	STRP = 0x0e,
	UDATA = 0x0f,
	DATA16 = 0x1e,
	LINE_STRP = 0x1f
};

static void take_form(struct cursor *cursor, uint64_t form, size_t offset_size)
{
	switch (form) {
	case DATA1:
		return skip(cursor, 1);
	case DATA2:
		return skip(cursor, 2);
	case DATA4:
		return skip(cursor, 4);
	case DATA8:
		return skip(cursor, 8);
	case DATA16:
		return skip(cursor, 16);
	case STRP:
	case LINE_STRP:
		return skip(cursor, offset_size);
	case STRING:
		take_string(cursor);
		return;
	case UDATA:
		take_leb(cursor);
		return;
	case BLOCK1:
		return skip(cursor, take(cursor, 1));
	case BLOCK2:
		return skip(cursor, take(cursor, 2));
	case BLOCK4:
		return skip(cursor, take(cursor, 4));
	case BLOCK:
		return skip(cursor, take_leb(cursor));
	default:
		cursor->bad = true;
	}
}

/* Reads the forms of a table's entries, and then the entries: directories, or files. */
static void take_table(struct cursor *cursor, size_t offset_size)
{
	uint64_t forms[255];
	const size_t form_count = (size_t)take(cursor, 1);

	for (size_t i = 0; i < form_count; i++) {
		take_leb(cursor); /* its meaning: a path, a directory, a checksum, ... */
		forms[i] = take_leb(cursor);
	}
	const uint64_t entries = take_leb(cursor);
	/* Empty entries are refused: there could be any number of them. */
	cursor->bad |= entries && (!form_count || entries > left(cursor) / form_count);
	for (uint64_t i = 0; i < entries && !cursor->bad; i++)
		for (size_t form = 0; form < form_count; form++)
			take_form(cursor, forms[form], offset_size);
}

/* ---- the whole ---------------------------------------------------------------------- */

/* Reads the fields between the header's length and the tables. */
static void take_fields(struct cursor *cursor, uint64_t version)
{
	skip(cursor,
	     version >= 4 ? 5 : 4); /* lengths of instructions, and steps of lines */
	const uint64_t opcode_base = take(cursor, 1);
	cursor->bad |= !opcode_base; /* opcodes count from 1 */
	skip(cursor, cursor->bad ? 0 : opcode_base - 1);
}

bool nw_line_table_is_sound(struct nw_section_bytes section, uint64_t at, bool big_endian)
{
	struct cursor cursor = {section.data, section.data, big_endian, !section.data};
	size_t offset_size = 4;

	if (cursor.bad || at > section.size)
		return false;
	cursor.at += at;
	cursor.end += section.size;
	uint64_t length = take(&cursor, 4);
	if (length == UINT32_MAX) {
		offset_size = 8;
		length = take(&cursor, 8);
	}
	if (cursor.bad || length > left(&cursor))
		return false;
	cursor.end = cursor.at + length;
	const uint64_t version = take(&cursor, 2);
	skip(&cursor, version >= 5 ? 2 : 0); /* sizes of addresses and segments */
	length = take(&cursor, offset_size);
	if (cursor.bad || version < 2 || version > 5 || length > left(&cursor))
		return false;
	cursor.end = cursor.at + length;
	take_fields(&cursor, version);
	if (version < 5) {
		take_old_tables(&cursor);
	} else {
		take_table(&cursor, offset_size);
		take_table(&cursor, offset_size);
	}
	/* Four more bytes are an offset of NVIDIA's compiler, which libdw reads. */
	return !cursor.bad && (left(&cursor) == 0 || left(&cursor) == 4);
}
