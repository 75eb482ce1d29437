/* SPDX-License-Identifier: MIT */
/*
 * measure/stack: the callers of a hit. The kernel fetches registers and the first bytes of the stack (struct
 * nw_source, callers). From them the callers are found by the call frame information of the files that the process
 * maps, or by frame pointers where there is none, and are named.
 */
#ifndef NOPWATCH_MEASURE_STACK_STACK_H
#define NOPWATCH_MEASURE_STACK_STACK_H

#include <time.h>

#include "find/process/process.h"

struct nw_stacks;

/* Why a stack has no more callers. */
enum nw_stack_end {
	NW_STACK_WHOLE, /* the last caller is the first function of its thread */
	NW_STACK_SIZE,	/* the fetched bytes of the stack end there */
	/* Neither call frame information nor a frame pointer tells the caller */
	NW_STACK_LOST,
	NW_STACK_UNREAD, /* the file of its last function cannot be read (nw_stacks_unread()) */
	/* A return probe has replaced the return address before nopwatch saw it */
	NW_STACK_RETURN,
	NW_STACK_DEEP,	 /* it has more callers than are kept */
	NW_STACK_OTHERS, /* one of the stacks beyond NW_MOST_STACKS */
	NW_STACK_NONE,	 /* its hit has no stack, because the fetched bytes were lost */
	NW_STACK_ENDS
};
/* Fixed words for formats (docs/json.md), and sentences for people. */
extern const char *const nw_stack_end_words[NW_STACK_ENDS];
extern const char *const nw_stack_end_texts[NW_STACK_ENDS];

enum {
	NW_MOST_STACKS = 65536, /* limit of different stacks; all further ones are one */
	NW_DEEPEST_STACK = 256	/* functions */
};

/* A stack; the function that was hit comes first. */
struct nw_stack {
	const uint32_t *frames; /* numbers for nw_stacks_frame() */
	size_t count;
	enum nw_stack_end end;
};

/* A place in a function. Both texts are bytes from files, which must be escaped for output. */
struct nw_stack_frame {
	/* "FUNCTION+0x12 (FILE)", "FUNCTION+0x12 (FILE, source.c:12)" or "0x12 (FILE)". */
	const char *text;
	const char *function; /* "FUNCTION", "[FILE]" or NW_STACK_NAMELESS */
};
/* Code without a file and without a name; a runtime may name it in /tmp/perf-PID.map. */
#define NW_STACK_NAMELESS "[unknown]"

/* Finds generated code of a process by a name, whole or a word of it: "Main.work" is in "int Main.work(int)". *out is
 * the name in /tmp/perf-PID.map, bytes of the process, which the caller frees. Returns 0, -ENOENT or -ENOMEM. */
int nw_generated_find(pid_t pid, const char *name, char **out);

/* proc: the /proc of the processes; NULL: they are from a recording (nw_stacks_line()). Returns -ENOMEM on failure. */
int nw_stacks_open(const char *proc, struct nw_stacks **out);
void nw_stacks_free(struct nw_stacks *stacks);
/* Uses the names of functions as linked (--no-demangle). */
void nw_stacks_linked(struct nw_stacks *stacks);

/* The bytes that were fetched with a hit. */
struct nw_stack_copy {
	const struct nw_arch *arch;
	bool big_endian;
	const unsigned char *bytes;
	size_t len;
	pid_t process, thread;
	uint64_t time; /* of the hit, in ns of the clock of nw_stacks_watch() */
	/* Address of the hit, if the instruction pointer was not fetched; 0: unknown. */
	uint64_t address;
	bool entry; /* it may be the first instruction of a function */
};
/* Returns the number of the stack, from 1 on; -ENOMEM. */
int64_t nw_stacks_add(struct nw_stacks *stacks, const struct nw_stack_copy *copy);
/* Stack number 0 is unknown. Valid until the next nw_stacks_add(). */
struct nw_stack nw_stacks_get(const struct nw_stacks *stacks, uint32_t number);
struct nw_stack_frame nw_stacks_frame(const struct nw_stacks *stacks, uint32_t number);
/* ---- how often ---------------------------------------------------------------------- */

/* A stack of a probe or of a span. */
struct nw_stack_key {
	bool of_span;
	uint32_t of; /* number of the probe or the span */
	uint32_t stack;
};

struct nw_stack_row {
	struct nw_stack_key key;
	uint64_t count;
	uint64_t ns; /* total time of the spans */
};
typedef NW_VEC(struct nw_stack_row) nw_stack_rows;

/* A zeroed one is empty and valid. */
struct nw_stack_counts {
	nw_stack_rows rows;
	struct nw_hash_table table;
};
/* Returns -ENOMEM on failure. */
int nw_stack_count(struct nw_stack_counts *counts, struct nw_stack_key key, uint64_t ns);
/* Lists all rows: those of spans by number, then those of probes, each sorted by frequency. Returns -ENOMEM on
 * failure. */
int nw_stack_rows_list(const struct nw_stack_counts *counts, nw_stack_rows *out);
void nw_stack_counts_free(struct nw_stack_counts *counts);

/* ---- processes ---------------------------------------------------------------------- */

/*
 * Asks the kernel to report mappings from now on, so that those of processes that end, and of libraries that are
 * unloaded, are known. If the kernel does not report them, processes are only looked at. Must be called before the
 * first hit, and only if the kernel's process numbers are those of our namespace. clock: that of the hits. Returns
 * -errno of what is short: memory, or descriptors.
 */
int nw_stacks_watch(struct nw_stacks *stacks, clockid_t clock);
/* Takes in all mappings up to this time, because no older stack will come. Returns -ENOMEM on failure. */
int nw_stacks_advance(struct nw_stacks *stacks, uint64_t until);
/*
 * At the end of a run, names the frames of code without a file that had no name before: some runtimes write their
 * lists only when they exit (a JVM with -XX:+DumpPerfMapAtExit). Returns -ENOMEM on failure.
 */
int nw_stacks_look_again(struct nw_stacks *stacks);
/* Tells that a process has executed another program, so its mappings have to be looked up again. */
void nw_stacks_renamed(struct nw_stacks *stacks, pid_t process);

/* Returns how many bytes reach to the end of the largest stack among those that were cut for their size, as far as a
 * few of them were looked at while their processes ran; 0: unknown. */
uint64_t nw_stacks_needed(const struct nw_stacks *stacks);

/* Losses of the kernel's reports, and what they affect. */
struct nw_stack_losses {
	uint64_t changes; /* lost changes of mappings; processes were looked at again */
	/* Stacks of hits during these losses, whose functions may be wrong */
	uint64_t stacks;
};
struct nw_stack_losses nw_stacks_losses(const struct nw_stacks *stacks);

/* Files that could not be read, so that their functions have no names, or names only: a row for each reason. */
struct nw_unread {
	char *path; /* of the first such file */
	char *why;  /* the reason, to be put behind "PATH: " */
	size_t files;
	/* Functions have names, but no lines, and inlined functions are unknown */
	bool named;
};
/* The array is valid until the next nw_stacks_add(). Returns the number of reasons. */
size_t nw_stacks_unread(const struct nw_stacks *stacks, const struct nw_unread **out);
/* Tells that the run is about to end: reading of files may take half a second in total from now on. */
void nw_stacks_hurry(struct nw_stacks *stacks);

/* Saves the mappings as lines for a recording, and loads a line; returns true if it was such a line. */
void nw_stacks_save(const struct nw_stacks *stacks, struct nw_buf *out);
bool nw_stacks_line(struct nw_stacks *stacks, char *const *words, size_t count);

#endif
