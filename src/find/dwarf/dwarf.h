/* SPDX-License-Identifier: MIT */
/*
 * find/dwarf: debugging information about the code of a file: the frames of its functions, their callers, source
 * lines, and inlined functions. libdw reads DWARF; 32-bit ARM has tables of its own.
 *
 * Files are hostile: the effort for their contents is limited (docs/dev/limits.md).
 */
#ifndef NOPWATCH_FIND_DWARF_DWARF_H
#define NOPWATCH_FIND_DWARF_DWARF_H

#include "find/elf/elf.h"

/* ---- callers ------------------------------------------------------------------------ */

/* Returns why this build does not read DWARF's unwind tables, so that callers are found by frame pointers; NULL: it
 * does. */
const char *nw_unwind_tables_lack(void);

struct nw_registers {
	uint64_t pc;
	uint64_t value[NW_MAX_REGISTERS];
	bool known[NW_MAX_REGISTERS];
};
/* Reads up to 8 bytes of a process's memory as a number. Returns 0, -EFAULT or another -errno, which is passed on. */
struct nw_memory {
	int (*read)(void *arg, uint64_t address, unsigned int bytes, uint64_t *out);
	void *arg;
};

/*
 * The rule for finding the caller at one address of a file, from bytes that the reader process has written. NULL:
 * they are no rule, or there is no memory.
 */
struct nw_rule;
struct nw_rule *nw_rule_load(const void *bytes, size_t len);
void nw_rule_free(struct nw_rule *rule);
/* Is the address a function's first instruction? */
bool nw_rule_is_entry(const struct nw_rule *rule);
/*
 * Goes from a function to its caller by call frame information. bias: what the process adds to linked addresses.
 * Returns 1: the registers are the caller's; 0: it is the first function; -ENOENT: the table has nothing for this
 * address; -EFAULT or the error of read(): the memory that it needs is missing. *interrupted: a signal has
 * interrupted the caller.
 */
int nw_rule_step(const struct nw_rule *rule, const struct nw_arch *arch, uint64_t bias,
		 const struct nw_memory *memory, struct nw_registers *registers,
		 bool *interrupted);
/* Applies rules from .ARM.exidx, which 32-bit ARM has instead. They do not hold at a function's first instruction. */
int nw_rule_step_table(const struct nw_rule *rule, const struct nw_memory *memory,
		       struct nw_registers *registers, bool *interrupted);

/* The call frame information of a file, which must stay open. -ENOENT: it has none, or libdw is missing; else what was
 * short (nw_shortage()). */
struct nw_cfi;
int nw_cfi_open(const struct nw_image *image, struct nw_cfi **out);
void nw_cfi_free(struct nw_cfi *cfi);
/* 32-bit ARM's tables of a file, which must stay open. -ENOENT: it has none. */
struct nw_exidx;
int nw_exidx_open(struct nw_image *image, struct nw_exidx **out);
void nw_exidx_free(struct nw_exidx *exidx);

/* ---- lines -------------------------------------------------------------------------- */

/* A source line. Strings are valid as long as the nw_lines. */
struct nw_source_line {
	const char *file; /* NULL: unknown */
	unsigned int line;
};
enum {
	NW_MOST_INLINED = 16
};
struct nw_source_lines {
	struct {
		const char *function; /* the linker's name if it is known */
		struct nw_source_line line;
		/* The functions that are inlined at the address, the innermost first. */
	} inlined[NW_MOST_INLINED];
	size_t count;
	struct nw_source_line line; /* the line in the function that contains the address */
};
/* The lines in the DWARF of a file or its debug file. -ENOENT: it has none, or libdw is missing. */
struct nw_lines;
int nw_lines_open(const struct nw_image *image, struct nw_lines **out);
void nw_lines_free(struct nw_lines *lines);
void nw_lines_at(struct nw_lines *lines, uint64_t vaddr, struct nw_source_lines *out);

/* Places that something in the source has in the code. */
enum {
	NW_MOST_SOURCE_PLACES = 1024
};
struct nw_source_place {
	uint64_t vaddr;
	uint64_t copy; /* tells the copies of functions apart; 0: unknown */
};
typedef NW_VEC(struct nw_source_place) nw_source_places;

/* Where a line of the source begins. Each copy of a function, inlined or not, has one place. */
struct nw_line_places {
	const char *file; /* as DWARF names it; "": no such source file */
	const char
		*other; /* another source file that has the same name; "": there is none */
	unsigned int next; /* the next line that has code; 0: there is none */
	bool more;	   /* there are more places than NW_MOST_SOURCE_PLACES */
	/* Where the line begins again in a copy of its function: the rest of a loop's head, or a loop that the compiler has
	 * unrolled. */
	unsigned int again;
	nw_source_places places;
};
/* Finds the places of a line of "x.c" or "dir/x.c". Strings are valid as long as the nw_lines; the caller frees the places.
 * Returns -ENOMEM on failure. */
int nw_lines_places(struct nw_lines *lines, const char *source, unsigned int line,
		    struct nw_line_places *out);

/* Why the value of a variable cannot be had. The last column is a sentence. */
#define NW_LACKS(each)                                                                                              \
	each(NONE, NULL) each(OPTIMISED, "the compiler has optimised it out") each(                                 \
		PIECES,                                                                                             \
		"it is in pieces: several registers or places hold it together") each(THREAD,                       \
										      "it is thread-local")         \
		each(REGISTER, "it is in a register that ftrace cannot read, such as one for floating point") each( \
			COMPUTED,                                                                                   \
			"no register and no memory holds it: a debugger would compute it")                          \
			each(LATER, "it gets its value after the function's entry") each(                           \
				PASSED,                                                                             \
				"DWARF tells where it is after the entry, and how it is passed is not certain")     \
				each(STRUCTURE, "it is a structure: name one of its fields") each(                  \
					TYPE,                                                                       \
					"its type is neither a number, a pointer nor an array of numbers")          \
					each(WIDE,                                                                  \
					     "it is a number of another size than 1, 2, 4 and 8 bytes")             \
						each(DEEP, "it is behind too many pointers") each(                  \
							VOID,                                                       \
							"the function returns nothing")                             \
							each(INCOMPLETE,                                            \
							     "its type is only declared in this source file")
enum nw_lack {
#define NW_LACK_OF(name, why) NW_LACK_##name,
	NW_LACKS(NW_LACK_OF) NW_LACK_COUNT
};

/*
 * A value that an expression of the source names: "name", "request->id", "points[3].x". It is found from a base, to
 * which add[0] is added; each further load takes the pointer that is there and adds the next offset.
 */
struct nw_variable {
	const char *error; /* what is wrong with the expression; "": nothing */
	const char *type;  /* as the source writes it */
	/* The names of an enumeration's values, which are identifiers: "0=RED,7=GREEN"; "": none. */
	const char *names;
	enum nw_lack lack;
	enum nw_variable_base {
		NW_BASE_REGISTER, /* number: DWARF's */
		NW_BASE_PASSED, /* number: which of the integers that are passed in registers, from 0 on */
		NW_BASE_ADDRESS,  /* number: linked address */
		NW_BASE_CONSTANT, /* number: the value */
		NW_BASE_RESULT,	  /* the register of results */
		NW_BASE_COUNT
	} base;
	uint64_t number;
	uint8_t is_memory; /* the value is at the address that was computed, not the address itself */
	unsigned int loads;
#define NW_MOST_LOADS 3
	int64_t add[NW_MOST_LOADS + 1];
	unsigned int size; /* in bytes, of the whole value */
	uint8_t is_signed, is_float, is_pointer,
		is_string,	  /* 0 or 1; it is sent as bytes */
		is_counted;	  /* a string of Go: its field "len" has its length */
	unsigned int elements;	  /* of an array; 0: it is none */
	unsigned int shift, bits; /* of a bit field in `size` bytes; bits 0: it is none */
};
enum {
	NW_MOST_VARIABLES = 64 /* in one question */
};
/* The expression for a function's result. */
#define NW_RESULT "$retval"
/* Stands for a function's arguments: their names become `names` ("request,name"), of NW_MOST_VARIABLES at most. */
#define NW_ARGUMENTS "$args"
struct nw_variable_place {
	uint64_t vaddr;
	bool is_entry; /* vaddr is the first instruction of the function, and nothing has run yet */
	uint64_t
		cfa; /* DWARF number of a register; NW_NO_REGISTER: the call frame's address is unknown */
	int64_t cfa_offset;
};
/* Finds one variable. The text of `out` is appended to the buffers, and its pointers are not set. */
void nw_lines_variable(struct nw_lines *lines, const struct nw_variable_place *place,
		       const char *expression, struct nw_variable *out,
		       struct nw_buf *error, struct nw_buf *type, struct nw_buf *names);

/* The copies of a function that were inlined into its callers. */
struct nw_inlined_copies {
	int count; /* -1: unknown */
	nw_source_places
		entries; /* of copies that have code, and of NW_MOST_SOURCE_PLACES at most */
};
/* Finds the inlined copies of a function, whose entries the caller frees. Returns -ENOMEM on failure. */
int nw_lines_inlined(struct nw_lines *lines, const char *name,
		     struct nw_inlined_copies *out);
/* Returns how many copies of a function were inlined according to DWARF; -1 without DWARF or libdw. */
int nw_count_inlined(const struct nw_image *image, const char *name);

/* ---- in a process of its own -------------------------------------------------------- */

/*
 * Files of traced programs are hostile, and libraries that parse them are large: a file may take minutes or
 * gigabytes, or crash the process that reads it. So a process without privileges reads them (docs/security.md) and
 * sends facts. It is started for the first file. If it takes too long or dies, it is replaced, and that file is given
 * up.
 */
struct nw_reader;

enum {
	NW_WANT_FILE = NW_DEBUG_PLACES,
	NW_WANT_COPY /* of nw_reader_copy() */
};
/* A file to read, identified by its number. */
struct nw_read_file {
	uint32_t number;
	/*
	 * Opens the file (what: NW_WANT_FILE), or a file of debugging information that it names (enum
	 * nw_debug_place). Returns a descriptor, which the reader closes, or -errno. It may be asked for the same
	 * file again.
	 */
	int (*get)(void *arg, unsigned int what, const char *name);
	void *arg;
	/*
	 * Size of arg's data, which must be all that get() needs: get() is then called in another process with a
	 * copy, since opening a file on a file system that does not answer blocks for ever and cannot be killed. 0:
	 * get() cannot block, and is called in this process.
	 */
	size_t size;
};

/* Returns -ENOMEM on failure. */
int nw_reader_open(struct nw_reader **out);
void nw_reader_free(struct nw_reader *reader);
/* Makes the reader work in the caller's process, for fuzzers, which must see its crashes. */
void nw_reader_inside(struct nw_reader *reader);
/* Did a file system with debug files not answer? Then they are not looked for any more, and functions lack what only
 * such a file has. */
bool nw_reader_lacks_debug_files(const struct nw_reader *reader);
/* Returns the errno of a debug file that could not be opened since the last call, although it may be there (EMFILE, EIO); 0: none.
 * The answer to the question is without its names. */
int nw_reader_take_shortage(struct nw_reader *reader);
/* Makes the reader return the linker's names of functions from now on. */
void nw_reader_linked(struct nw_reader *reader);
/* Tells that the run is about to end: from now on all questions together may take half a second. */
void nw_reader_hurry(struct nw_reader *reader);

/* Facts about a whole file. segments: those with code. */
struct nw_file_facts {
	const struct nw_arch *arch;
	nw_segments segments;
	/* nw_image_identity(); valid until the next question. */
	const char *identity;
};
/* The amount of facts about an address. Each value includes those before it. */
enum nw_place_depth {
	NW_PLACE_RULE,
	NW_PLACE_NAME, /* of the function, by symbols */
	/* And source lines and inlined functions: by DWARF, which costs much more in a hostile file */
	NW_PLACE_LINES,
};
/* The facts about an address. Strings and bytes are valid until the next question. */
struct nw_place_facts {
	const void *rule; /* for nw_rule_load() */
	size_t rule_len;
	bool known;	   /* the function is known */
	uint64_t function; /* its begin */
	/* As in its source, like the names of the inlined functions. */
	const char *name;
	struct nw_source_lines lines;
};
/*
 * Ask the reader. Return 0, or -errno with the reason in err: the file cannot be opened, is no ELF file (ENOEXEC),
 * took too long (ETIMEDOUT) or too much memory (ENOMEM), the process that reads it has died (EIO), or nothing is read
 * any more (ECANCELED).
 */
int nw_reader_file(struct nw_reader *reader, const struct nw_read_file *file,
		   struct nw_file_facts *out, struct nw_error *err);
int nw_reader_place(struct nw_reader *reader, const struct nw_read_file *file,
		    uint64_t vaddr, enum nw_place_depth depth, struct nw_place_facts *out,
		    struct nw_error *err);
/*
 * Returns the descriptor that the file's get() returns for NW_WANT_COPY, or -errno as above. get() copies what is to be
 * read to memory, because reading it may block for ever, too. EHOSTDOWN: the file system does not answer.
 */
int nw_reader_copy(struct nw_reader *reader, const struct nw_read_file *file,
		   struct nw_error *err);

/*
 * Translates linker names to names of the source: "app::f(int)"; "": the name is neither C++ nor Rust, or cannot be
 * translated here (without libstdc++, for one). The reader process does it. Returns 0, or -errno if memory or
 * descriptors are short.
 */
int nw_source_names(const nw_strings *names, nw_strings *out);

/*
 * Finds the variables that these expressions name at an address (struct nw_variable). Strings are valid until the next
 * question. Without debugging information all are unknown: *known is false. It is an error if the file cannot be read.
 * The reader must not be used for another file.
 */
int nw_image_variables(struct nw_reader *reader, const struct nw_image *image,
		       uint64_t vaddr, bool is_entry, const char *const *expressions,
		       size_t count, struct nw_variable *out, bool *known,
		       struct nw_error *err);

/*
 * Finds the places of a line (struct nw_line_places, whose `places` the caller frees also after an error; its strings are
 * valid until the next question). Without debugging information *known is false. It is an error if the file cannot be read.
 * The reader must not be used for another file.
 */
int nw_image_line(struct nw_reader *reader, const struct nw_image *image,
		  const char *source, unsigned int line, struct nw_line_places *out,
		  bool *known, struct nw_error *err);

/* Finds the inlined copies of a function. The caller frees the entries, also after an error: the file cannot be read. The
 * reader must not be used for another file. */
int nw_image_inlined(struct nw_reader *reader, const struct nw_image *image,
		     const char *name, struct nw_inlined_copies *out, struct nw_error *err);

/* Answers nw_reader_place() with source lines for an image that is open here. The reader must not be used for another file. */
int nw_image_place(struct nw_reader *reader, const struct nw_image *image, uint64_t vaddr,
		   struct nw_place_facts *out, struct nw_error *err);

/* ---- frames ------------------------------------------------------------------------- */

/*
 * The frame of a function's call. At an address in its code, the value of a register plus an offset is the frame's
 * own address (DWARF's "canonical frame address"), which stays the same at all addresses of the function while the
 * call lasts.
 */
struct nw_frame {
	/* Begin of the function or its part; 0: unknown. */
	uint64_t function;
	uint64_t size; /* in bytes */
	/* Begin of the code that the table describes next; 0: it is the last. */
	uint64_t next;
	const char *reg; /* as the kernel spells it; NULL: the frame is unknown */
	int64_t offset;
};

/*
 * Finds the frames at these addresses by the call frame information that exceptions need (.eh_frame), which stripped
 * files have, too. A frame is unknown if there is none for the address, if it is not a register plus an offset, or
 * without libdw. It is an error if memory or descriptors are short, or if the process that reads the file ends. The
 * reader must not be used for another file.
 */
int nw_image_frames(struct nw_reader *reader, const struct nw_image *image,
		    const uint64_t *vaddrs, size_t count, struct nw_frame *out,
		    struct nw_error *err);

#endif
