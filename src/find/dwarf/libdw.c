// SPDX-License-Identifier: MIT
/*
 * libdw's functions. Their library is opened at the first call of one of them (base/library.h): loading it and the
 * two libraries that it needs would take a third of a millisecond at the start of runs that mostly do not use it.
 * Callers do not notice: the functions have their names here, and forward to the library, like a linker's table. If
 * the library cannot be opened, they return the result for a file without DWARF.
 */
#include "find/dwarf/dwarf.h"

#if defined(NW_HAVE_LIBDW) && !defined(NW_LINKED_LIBDW)

#include <elfutils/libdw.h>
#include <pthread.h>

#include "base/library.h"

/* each(type, result without the library, name, parameters, arguments), a row per function; libdw.h has checked them. */
/* clang-format off */
#define FUNCTIONS(each) \
	each(Dwarf *, NULL, dwarf_begin_elf, (Elf *elf, Dwarf_Cmd command, Elf_Scn *group), (elf, command, group)) \
	each(int, -1, dwarf_end, (Dwarf *dwarf), (dwarf)) \
	each(void, (void)0, dwarf_setalt, (Dwarf *dwarf, Dwarf *shared), (dwarf, shared)) \
	each(int, -1, dwarf_nextcu, \
		(Dwarf *dwarf, Dwarf_Off at, Dwarf_Off *next, size_t *header, Dwarf_Off *abbreviations, \
		 uint8_t *address_size, uint8_t *offset_size), \
		(dwarf, at, next, header, abbreviations, address_size, offset_size)) \
	each(Dwarf_Die *, NULL, dwarf_offdie, (Dwarf *dwarf, Dwarf_Off at, Dwarf_Die *out), (dwarf, at, out)) \
	each(Dwarf_Die *, NULL, dwarf_addrdie, \
		(Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *out), \
		(dwarf, address, out)) \
	each(int, -1, dwarf_child, (Dwarf_Die *die, Dwarf_Die *out), (die, out)) \
	each(int, -1, dwarf_siblingof, (Dwarf_Die *die, Dwarf_Die *out), (die, out)) \
	each(int, -1, dwarf_tag, (Dwarf_Die *die), (die)) \
	each(Dwarf_Off, 0, dwarf_dieoffset, (Dwarf_Die *die), (die)) \
	each(int, -1, dwarf_entrypc, (Dwarf_Die *die, Dwarf_Addr *out), (die, out)) \
	each(int, -1, dwarf_haspc, (Dwarf_Die *die, Dwarf_Addr address), (die, address)) \
	each(Dwarf_Attribute *, NULL, dwarf_attr, \
		(Dwarf_Die *die, unsigned int name, Dwarf_Attribute *out), \
		(die, name, out)) \
	each(Dwarf_Attribute *, NULL, dwarf_attr_integrate, \
		(Dwarf_Die *die, unsigned int name, Dwarf_Attribute *out), \
		(die, name, out)) \
	each(const char *, NULL, dwarf_formstring, (Dwarf_Attribute *attribute), (attribute)) \
	each(Dwarf_Die *, NULL, dwarf_formref_die, (Dwarf_Attribute *attribute, Dwarf_Die *out), (attribute, out)) \
	each(int, -1, dwarf_formudata, (Dwarf_Attribute *attribute, Dwarf_Word *out), (attribute, out)) \
	each(int, -1, dwarf_formsdata, (Dwarf_Attribute *attribute, Dwarf_Sword *out), (attribute, out)) \
	each(unsigned int, 0, dwarf_whatform, (Dwarf_Attribute *attribute), (attribute)) \
	each(int, -1, dwarf_aggregate_size, (Dwarf_Die *die, Dwarf_Word *out), (die, out)) \
	each(int, -1, dwarf_formaddr, (Dwarf_Attribute *attribute, Dwarf_Addr *out), (attribute, out)) \
	each(int, -1, dwarf_getlocation_attr, \
		(Dwarf_Attribute *attribute, const Dwarf_Op *op, Dwarf_Attribute *out), \
		(attribute, op, out)) \
	each(int, -1, dwarf_getlocation_addr, \
		(Dwarf_Attribute *attribute, Dwarf_Addr address, Dwarf_Op **ops, size_t *counts, size_t most), \
		(attribute, address, ops, counts, most)) \
	each(int, -1, dwarf_getsrcfiles, (Dwarf_Die *unit, Dwarf_Files **files, size_t *count), (unit, files, count)) \
	each(const char *, NULL, dwarf_filesrc, \
		(Dwarf_Files *files, size_t at, Dwarf_Word *time, Dwarf_Word *length), \
		(files, at, time, length)) \
	each(Dwarf_Line *, NULL, dwarf_getsrc_die, (Dwarf_Die *unit, Dwarf_Addr address), (unit, address)) \
	each(int, -1, dwarf_getsrclines, (Dwarf_Die *unit, Dwarf_Lines **lines, size_t *count), (unit, lines, count)) \
	each(Dwarf_Line *, NULL, dwarf_onesrcline, (Dwarf_Lines *lines, size_t at), (lines, at)) \
	each(int, -1, dwarf_lineaddr, (Dwarf_Line *line, Dwarf_Addr *out), (line, out)) \
	each(int, -1, dwarf_linebeginstatement, (Dwarf_Line *line, bool *out), (line, out)) \
	each(int, -1, dwarf_lineendsequence, (Dwarf_Line *line, bool *out), (line, out)) \
	each(int, -1, dwarf_lineno, (Dwarf_Line *line, int *out), (line, out)) \
	each(const char *, NULL, dwarf_linesrc, \
		(Dwarf_Line *line, Dwarf_Word *time, Dwarf_Word *length), \
		(line, time, length)) \
	each(Dwarf_CFI *, NULL, dwarf_getcfi, (Dwarf *dwarf), (dwarf)) \
	each(Dwarf_CFI *, NULL, dwarf_getcfi_elf, (Elf *elf), (elf)) \
	each(int, -1, dwarf_cfi_end, (Dwarf_CFI *frames), (frames)) \
	each(int, -1, dwarf_cfi_addrframe, \
		(Dwarf_CFI *frames, Dwarf_Addr address, Dwarf_Frame **out), \
		(frames, address, out)) \
	each(int, -1, dwarf_next_cfi, \
		(const unsigned char identity[], Elf_Data *data, bool is_eh_frame, Dwarf_Off at, \
		 Dwarf_Off *next, Dwarf_CFI_Entry *out), \
		(identity, data, is_eh_frame, at, next, out)) \
	each(int, -1, dwarf_frame_info, \
		(Dwarf_Frame *frame, Dwarf_Addr *begin, Dwarf_Addr *end, bool *interrupted), \
		(frame, begin, end, interrupted)) \
	each(int, -1, dwarf_frame_cfa, (Dwarf_Frame *frame, Dwarf_Op **ops, size_t *count), (frame, ops, count)) \
	each(int, -1, dwarf_frame_register, \
		(Dwarf_Frame *frame, int number, Dwarf_Op memory[3], Dwarf_Op **ops, size_t *count), \
		(frame, number, memory, ops, count))
/* clang-format on */

struct addresses {
#define POINTER(type, failing, name, parameters, arguments) type(*name) parameters;
	FUNCTIONS(POINTER)
};

/* Looked up once and constant from then on: a linker's table, not state. */
static struct addresses addresses;
static bool is_open;

static void look_up(void)
{
#define ROW(type, failing, name, parameters, arguments) \
	{#name, offsetof(struct addresses, name), NULL},
	static const struct nw_library_function functions[] = {FUNCTIONS(ROW)};

	is_open = nw_library_open(NW_LIBDW_LIBRARY, functions, NW_COUNT(functions),
				  &addresses);
}

static bool library(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	return pthread_once(&once, look_up) == 0 && is_open;
}

#define FORWARD(type, failing, name, parameters, arguments)            \
	type name parameters                                           \
	{                                                              \
		return library() ? addresses.name arguments : failing; \
	}
FUNCTIONS(FORWARD)

#endif

const char *nw_unwind_tables_lack(void)
{
#ifndef NW_HAVE_LIBDW
	return "this nopwatch was built without libdw";
#elif defined(NW_LINKED_LIBDW)
	return NULL;
#else
	return library() ? NULL
			 : "the library that reads them (" NW_LIBDW_LIBRARY
			   ") is missing or cannot be opened";
#endif
}
