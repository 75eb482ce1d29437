/* SPDX-License-Identifier: MIT */
/*
 * measure/stack: the callers of a hit. The kernel fetches registers and the first bytes of the stack (struct
 * nw_source, callers). The callers are found from them by the call frame information of the files that the process
 * maps, or by frame pointers where there is none, and get their names.
 */
#ifndef NOPWATCH_STACK_H
#define NOPWATCH_STACK_H

#include <time.h>

#include "nopwatch/process.h"

struct nw_stacks;

/* Why a stack has no more callers. */
enum nw_stack_end {
	NW_STACK_WHOLE, /* it is the first function of its thread */
	NW_STACK_SIZE,	/* the bytes that were fetched end there */
	NW_STACK_LOST, /* nothing tells who called: no call frame information, no frame pointer */
	NW_STACK_UNREAD, /* the file of its last function cannot be read (nw_stacks_unread()) */
	NW_STACK_RETURN, /* a return probe stands where it returns to, and it was not seen being put there */
	NW_STACK_DEEP,	 /* there are more than are kept */
	NW_STACK_OTHERS, /* of one of those beyond NW_MOST_STACKS */
	NW_STACK_NONE,	 /* its hit has no stack: what was fetched is lost */
	NW_STACK_ENDS
};
/* In words that are fixed (docs/json.md), and a sentence for people. */
extern const char *const nw_stack_end_words[NW_STACK_ENDS];
extern const char *const nw_stack_end_texts[NW_STACK_ENDS];

enum {
	NW_MOST_STACKS = 65536, /* different ones; all others are one */
	NW_DEEPEST_STACK = 256	/* functions */
};

/* A stack, the function that was hit first. */
struct nw_stack {
	const uint32_t *frames; /* numbers of nw_stacks_frame() */
	size_t count;
	enum nw_stack_end end;
};

/* A place in a function. Both are bytes from files: to be escaped where they are shown. */
struct nw_stack_frame {
	const char *
		text; /* "FUNCTION+0x12 (FILE)", "FUNCTION+0x12 (FILE, source.c:12)", "0x12 (FILE)" */
	const char *function; /* "FUNCTION", "[FILE]", NW_STACK_NAMELESS */
};
/* Code that is in no file, and of which nobody has told a name, as a runtime may in /tmp/perf-PID.map. */
#define NW_STACK_NAMELESS "[unknown]"

/* proc: the /proc in which processes are looked at; NULL: they are those of a recording (nw_stacks_line()). -ENOMEM. */
int nw_stacks_open(const char *proc, struct nw_stacks **out);
void nw_stacks_free(struct nw_stacks *stacks);
/* Functions are called as the linker has them (--no-demangle). */
void nw_stacks_linked(struct nw_stacks *stacks);

/* What was fetched with a hit. */
struct nw_stack_copy {
	const struct nw_arch *arch;
	bool big_endian;
	const unsigned char *bytes;
	size_t len;
	pid_t process, thread;
	uint64_t time; /* of the hit; ns of the clock of nw_stacks_watch() */
	uint64_t
		address; /* of the hit, where the instruction pointer is not among what was fetched; 0: not known */
	bool entry; /* it may be the first instruction of a function */
};
/* The number of the stack, from 1 on; -ENOMEM. */
int64_t nw_stacks_add(struct nw_stacks *stacks, const struct nw_stack_copy *copy);
/* Number 0: a stack that is not known. Good until the next nw_stacks_add(). */
struct nw_stack nw_stacks_get(const struct nw_stacks *stacks, uint32_t number);
struct nw_stack_frame nw_stacks_frame(const struct nw_stacks *stacks, uint32_t number);
/* ---- how often ---------------------------------------------------------------------- */

/* A stack of a probe, or of a span: then `of` has this bit, and ns is how long they took together. */
#define NW_STACK_OF_SPAN ((uint32_t)1 << 31)
struct nw_stack_row {
	uint32_t of, stack;
	uint64_t count, ns;
};
typedef NW_VEC(struct nw_stack_row) nw_stack_rows;

/* Zeroed it is empty, and valid. */
struct nw_stack_counts {
	struct nw_stack_row *slot; /* count 0: free */
	size_t slots, count;
};
/* -ENOMEM. */
int nw_stack_count(struct nw_stack_counts *counts, uint32_t of, uint32_t stack,
		   uint64_t ns);
/* Lists all of them: those of spans by number, then those of probes, the most frequent of each first. -ENOMEM. */
int nw_stack_rows_list(const struct nw_stack_counts *counts, nw_stack_rows *out);
void nw_stack_counts_free(struct nw_stack_counts *counts);

/* ---- processes ---------------------------------------------------------------------- */

/*
 * Let the kernel tell what processes map from now on, so that it is known of those that end, and of libraries that
 * are unloaded; where it does not, processes are looked at. Before anything is hit, and where the kernel's numbers of processes are ours. clock: that of the hits. -ENOMEM.
 */
int nw_stacks_watch(struct nw_stacks *stacks, clockid_t clock);
/* No stack from before this time will come: what processes did up to then is taken in. -ENOMEM. */
int nw_stacks_advance(struct nw_stacks *stacks, uint64_t until);
/*
 * The run has ended: frames of code that is in no file, and had no name when they were met, get the names that are listed now.
 * Some runtimes list theirs only when they end (a JVM with -XX:+DumpPerfMapAtExit). -ENOMEM.
 */
int nw_stacks_look_again(struct nw_stacks *stacks);
/* It has begun another program: what it maps is to be looked at again. */
void nw_stacks_renamed(struct nw_stacks *stacks, pid_t process);

/* What the kernel could not tell, and what that is worth. */
struct nw_stack_losses {
	uint64_t changes; /* of what processes map: processes were looked at again */
	uint64_t stacks;  /* of hits while that happened: their functions may be others */
};
struct nw_stack_losses nw_stacks_losses(const struct nw_stacks *stacks);

/* Files whose functions have no names, since they could not be read, or names only: how many there are of each reason. */
struct nw_unread {
	char *path; /* of the first */
	char *why;  /* a part of a sentence */
	size_t files;
	bool named; /* functions have names, but no lines, and none that are inlined are known */
};
/* The array is good until the next nw_stacks_add(). Returns how many reasons there are. */
size_t nw_stacks_unread(const struct nw_stacks *stacks, const struct nw_unread **out);
/* The run is to end: what is read of files from now on may take half a second in total. */
void nw_stacks_hurry(struct nw_stacks *stacks);

/* What processes map, as lines for a recording; and back: true if the line was one of these. */
void nw_stacks_save(const struct nw_stacks *stacks, struct nw_buf *out);
bool nw_stacks_line(struct nw_stacks *stacks, char *const *words, size_t count);

#endif
