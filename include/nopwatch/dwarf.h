/* SPDX-License-Identifier: MIT */
/*
 * find/dwarf: debugging information about the code of a file: the frames of its functions, their callers, source
 * lines, and inlined functions. libdw reads DWARF; 32-bit ARM has tables of its own.
 *
 * Files are hostile: the work for what they say of themselves is limited (docs/dev/limits.md).
 */
#ifndef NOPWATCH_DWARF_H
#define NOPWATCH_DWARF_H

#include "nopwatch/elf.h"

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

/*
 * The rule by which a file finds the callers at one of its addresses, in bytes that the reader process has written (below). NULL:
 * they are none, or there is no memory.
 */
struct nw_rule;
struct nw_rule *nw_rule_load(const void *bytes, size_t len);
void nw_rule_free(struct nw_rule *rule);
/* Is the address a function's first instruction? */
bool nw_rule_is_entry(const struct nw_rule *rule);
/*
 * From the function to its caller, by call frame information; the process adds bias to linked addresses. 1: registers are
 * the caller's; 0: there is none, it is the first function; -ENOENT: nothing is known there; -EFAULT, or what read() said:
 * it needs memory that is not there. *interrupted: the function is one that a signal called.
 */
int nw_rule_step(const struct nw_rule *rule, const struct nw_arch *arch, uint64_t bias,
		 const struct nw_memory *memory, struct nw_registers *registers,
		 bool *interrupted);
/* Rules from .ARM.exidx, which 32-bit ARM has instead: no rule of it holds at a function's first instruction. */
int nw_rule_step_table(const struct nw_rule *rule, const struct nw_memory *memory,
		       struct nw_registers *registers, bool *interrupted);

/* The call frame information of a file, which must stay. -ENOENT: it has none, or libdw is missing. */
struct nw_cfi;
int nw_cfi_open(const struct nw_image *image, struct nw_cfi **out);
void nw_cfi_free(struct nw_cfi *cfi);
/* 32-bit ARM's tables. -ENOENT: it has none. The image must stay. */
struct nw_exidx;
int nw_exidx_open(struct nw_image *image, struct nw_exidx **out);
void nw_exidx_free(struct nw_exidx *exidx);

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

/* ---- in a process of its own -------------------------------------------------------- */

/*
 * Files of traced programs are hostile, and libraries that parse them are large: a file may cost minutes, or gigabytes, or
 * end the process that reads it. So a process without privileges reads them (docs/security.md), and hands over facts. It is
 * started when the first file is asked for; when it takes too long or dies it is replaced, and that file is given up.
 */
struct nw_reader;

enum {
	NW_WANT_FILE = NW_DEBUG_PLACES
};
/* A file that is to be read. The number tells it from others. */
struct nw_read_file {
	uint32_t number;
	/*
	 * Open it (what: NW_WANT_FILE), or a file of debugging information that it names (enum nw_debug_place). Returns a descriptor,
	 * which the reader closes, or -errno. It may be asked again for what it has opened before.
	 */
	int (*get)(void *arg, unsigned int what, const char *name);
	void *arg;
	/*
	 * How many bytes arg points at, all that get() needs: it is called in another process then, with a copy of them, since
	 * a file system that does not answer keeps who opens a file for ever, also from being killed. 0: get() opens nothing
	 * that could be like that, and is called here.
	 */
	size_t size;
};

/* -ENOMEM. */
int nw_reader_open(struct nw_reader **out);
void nw_reader_free(struct nw_reader *reader);
/* Read in the process of the caller. For fuzzers, which have to see what goes wrong. */
void nw_reader_inside(struct nw_reader *reader);
/* From now on names of functions are told as the linker has them. */
void nw_reader_linked(struct nw_reader *reader);
/* The run is to end: from now on all questions together may take half a second. */
void nw_reader_hurry(struct nw_reader *reader);

/* The file as a whole; segments are those that hold code. */
struct nw_file_facts {
	const struct nw_arch *arch;
	nw_segments segments;
	const char
		*identity; /* nw_image_identity(); good until the reader is asked again */
};
/* How much is asked of an address. Each one is what the one before it is, and more. */
enum nw_place_depth {
	NW_PLACE_RULE,
	NW_PLACE_NAME, /* of the function, by symbols */
	NW_PLACE_LINES, /* and what is inlined there: by DWARF, which costs much more where it is hostile */
};
/* The facts about an address. Strings and bytes are good until the reader is asked again. */
struct nw_place_facts {
	const void *rule; /* for nw_rule_load() */
	size_t rule_len;
	bool known;	   /* the function is */
	uint64_t function; /* where it begins */
	const char
		*name; /* as its source has it; likewise those of the inlined functions */
	struct nw_source_lines lines;
};
/*
 * Ask. 0; -errno, with the reason in err: it cannot be opened, it is no ELF file (ENOEXEC), it took too long (ETIMEDOUT), or
 * too much memory (ENOMEM), the process that reads it has died (EIO), or nothing is read any more (ECANCELED).
 */
int nw_reader_file(struct nw_reader *reader, const struct nw_read_file *file,
		   struct nw_file_facts *out, struct nw_error *err);
int nw_reader_place(struct nw_reader *reader, const struct nw_read_file *file,
		    uint64_t vaddr, enum nw_place_depth depth, struct nw_place_facts *out,
		    struct nw_error *err);

/*
 * The names that source has for what a linker calls so: "app::f(int)"; "": none of C++'s or Rust's, or it cannot be told
 * here (without libstdc++, for one). The reader process finds them. 0, or -errno: memory or descriptors are short.
 */
int nw_source_names(const nw_strings *names, nw_strings *out);

/* ---- frames ------------------------------------------------------------------------- */

/*
 * The frame of a function's call: at an address in its code, the value of a register and an offset
 * make the frame's own address (DWARF's "canonical frame address"), which is the same at all
 * addresses of the function as long as the call lasts.
 */
struct nw_frame {
	uint64_t
		function; /* where the function, or its part, begins; 0: nothing is known */
	uint64_t size;	  /* bytes of it */
	uint64_t
		next; /* where the code begins that the table describes next; 0: it is the last */
	const char *reg; /* as the kernel spells it; NULL: the frame is not known */
	int64_t offset;
};

/*
 * The frames at these addresses, by the call frame information that exceptions need (.eh_frame),
 * which stripped files have, too. Where it tells nothing, or something that is no register and an
 * offset, or libdw is missing, the frame is not known. Where memory or descriptors are short, or the process that reads the
 * file ends, it is an error instead. The reader may be asked about no other file.
 */
int nw_image_frames(struct nw_reader *reader, const struct nw_image *image,
		    const uint64_t *vaddrs, size_t count, struct nw_frame *out,
		    struct nw_error *err);

#endif
