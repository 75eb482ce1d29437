/* SPDX-License-Identifier: MIT */
/*
 * dwarf: what compilers have written down about the code of a file: the frames of its functions, who called them, the
 * source's lines, and which functions were put into others. DWARF, read by libdw, and 32-bit ARM's own tables.
 *
 * Files are hostile: what they say is looked at as often as docs/architecture.md allows, and no more.
 */
#ifndef NOPWATCH_DWARF_H
#define NOPWATCH_DWARF_H

#include "nopwatch/elf.h"

/* ---- frames ------------------------------------------------------------------------- */

/*
 * The frame of a function's call: at an address in its code, the value of a register and an offset
 * make the frame's own address (DWARF's "canonical frame address"), which is the same at all
 * addresses of the function as long as the call lasts.
 */
struct nw_frame {
	uint64_t function; /* where the function begins; 0: nothing is known */
	const char *reg;   /* as the kernel spells it */
	int64_t offset;
};

/*
 * The frames at these addresses, by the call frame information that exceptions need (.eh_frame),
 * which stripped files have, too. Where it tells nothing, or something that is no register and an
 * offset, or libdw is missing, the frame is not known.
 */
void nw_image_frames(struct nw_image *image, const uint64_t *vaddrs, size_t count,
		     struct nw_frame *out);

/* ---- callers ------------------------------------------------------------------------ */

/* Why DWARF's unwind tables are not read here, so that callers are found by frame pointers; NULL: they are. */
const char *nw_unwind_tables_lack(void);

struct nw_registers {
	uint64_t pc;
	uint64_t value[NW_MAX_REGISTERS];
	bool known[NW_MAX_REGISTERS];
};
/* Memory of a process: up to 8 bytes of it as a number. 0, -EFAULT or another -errno, which is handed on. */
struct nw_memory {
	int (*read)(void *arg, uint64_t address, unsigned int bytes, uint64_t *out);
	void *arg;
};

/* The call frame information of a file, which must stay. -ENOENT: it has none, or libdw is missing. */
struct nw_cfi;
int nw_cfi_open(const struct nw_image *image, struct nw_cfi **out);
void nw_cfi_free(struct nw_cfi *cfi);
/*
 * From the function that holds vaddr (as linked; the process adds bias) to its caller. 1: registers are the caller's; 0: there is none, it is the first function; -ENOENT: nothing is
 * known there; -EFAULT, or what read() said: it needs memory that is not there. *interrupted: the function is one that a signal called.
 */
int nw_cfi_step(struct nw_cfi *cfi, uint64_t vaddr, uint64_t bias,
		const struct nw_memory *memory, struct nw_registers *registers,
		bool *interrupted);

/*
 * The same by .ARM.exidx, which 32-bit ARM has instead: nothing that it says holds at a function's first instruction.
 * nw_exidx_open(): -ENOENT: it has none. The image must stay.
 */
struct nw_exidx;
int nw_exidx_open(struct nw_image *image, struct nw_exidx **out);
void nw_exidx_free(struct nw_exidx *exidx);
int nw_exidx_step(const struct nw_exidx *exidx, uint64_t vaddr,
		  const struct nw_memory *memory, struct nw_registers *registers,
		  bool *interrupted);

/* ---- lines -------------------------------------------------------------------------- */

/* Where an address's source is. Strings live as long as the lines. */
struct nw_source_line {
	const char *file; /* NULL: not known */
	unsigned int line;
};
enum {
	NW_MOST_INLINED = 16
};
struct nw_source_lines {
	struct {
		const char *function; /* as the linker calls it, if that is known */
		struct nw_source_line line;
	} inlined
		[NW_MOST_INLINED]; /* the functions that the compiler has put there, innermost first, */
	size_t count;
	struct nw_source_line line; /* and where the function is that they were put into */
};
/* What DWARF tells of a file, or its debug file. -ENOENT: there is none, or libdw is missing. */
struct nw_lines;
int nw_lines_open(const struct nw_image *image, struct nw_lines **out);
void nw_lines_free(struct nw_lines *lines);
void nw_lines_at(struct nw_lines *lines, uint64_t vaddr, struct nw_source_lines *out);

/* Copies of a function that DWARF says were inlined; -1 without DWARF or without libdw. */
int nw_count_inlined(const struct nw_image *image, const char *name);

#endif
