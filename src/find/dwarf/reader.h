/* SPDX-License-Identifier: MIT */
/*
 * The messages between nopwatch (reader.c) and its reader process (served.c). nopwatch asks one question at a time;
 * the reader answers, or first asks for a descriptor, as often as it needs one.
 */
#ifndef NOPWATCH_FIND_DWARF_READER_H
#define NOPWATCH_FIND_DWARF_READER_H

#include "nopwatch/dwarf.h"
#include "wire.h"

enum {
	NW_MOST_MESSAGE = 128 << 10, /* bytes, which a socket takes at once */
	NW_MOST_FRAMES_ASKED = 2048  /* addresses in one question */
};

/* A question: its kind (1 byte), the number of the file (4), and what follows here. */
enum nw_question {
	NW_ASK_FILE, /* nothing */
	NW_ASK_PLACE, /* enum nw_place_depth (1), 1: by the names of the linker (1), the address (8) */
	NW_ASK_FRAMES,	/* how many addresses (4), the addresses (8 each) */
	NW_ASK_INLINED, /* the function's name (string) */
	NW_ASK_NAMES, /* how many names (4), the names (strings); of no file: its number means nothing */
};

/* An answer: its kind (1 byte), and what follows here. */
enum nw_answer {
	/*
	 * FILE: e_machine (4), ELFCLASS64 (1), big endian (1), its identity (string), count (4) of executable
	 * segments: address, offset, size (8 each).
	 * PLACE: the rule (length: 4, bytes); whether the function is known (1), where it begins (8), its name, its source's
	 * file (strings) and line (4); count (1) of inlined functions: name, file (strings), line (4).
	 * FRAMES: for each address the function, its size, and the next in the table (8 each), DWARF's number of a register (4), offset (8).
	 * INLINED: copies, or -1 (4).
	 * NAMES: how many of the names were looked at (4), and of each what its source has (string); "": that is not known.
	 */
	NW_ANSWER,
	NW_ANSWER_WANT, /* what (1): enum nw_debug_place, or NW_WANT_FILE; its name (string) */
	NW_ANSWER_ERROR, /* errno (4) */
};
/* What nopwatch says to NW_ANSWER_WANT: errno (4); 0: the descriptor comes with it. */

/* ---- the reader's side (served.c) --------------------------------------------------- */

/* Where its descriptors come from: returns one, or -errno. */
struct nw_descriptors {
	int (*get)(void *arg, unsigned int what, const char *name);
	void *arg;
};

struct nw_served;
struct nw_served *nw_served_open(const struct nw_descriptors *descriptors);
void nw_served_free(struct nw_served *served);
/* Open the libraries that it may need, as long as files can be opened. names: those that names of C++ need, too. */
void nw_served_prepare(struct nw_served *served, bool names);
/* Answer a question. */
void nw_served_answer(struct nw_served *served, const void *question, size_t len,
		      struct nw_buf *answer);

/* ---- the process that opens files (opener.c) ------------------------------------------ */

struct nw_opener {
	pid_t pid;  /* 0: there is none */
	int socket; /* -1: likewise */
};

/* Start it. It hands what it opens to `reader`, the socket that the reader process listens to. 0 or -errno. */
int nw_opener_start(struct nw_opener *opener, int reader);
/* Have a file opened: an answer comes from opener->socket, errno (4), and the same with the descriptor to the reader. */
bool nw_opener_ask(const struct nw_opener *opener, const struct nw_read_file *file,
		   unsigned int what, const char *name);
/* One message, with a descriptor unless that is -1. */
bool nw_send_message(int socket, const void *bytes, size_t len, int fd);

/* ---- what it reads ------------------------------------------------------------------ */

struct nw_frame_numbers {
	uint64_t function, size, next; /* 0: nothing is known */
	unsigned int reg; /* DWARF's number; NW_NO_REGISTER: the frame is not known */
	int64_t offset;
};
/* A file's .eh_frame; where libdw is missing, nothing is known. NULL: there is no memory. The image must stay. */
struct nw_frame_table;
struct nw_frame_table *nw_frames_open(struct nw_image *image);
void nw_frames_free(struct nw_frame_table *table);
void nw_frame_at(const struct nw_frame_table *table, uint64_t vaddr,
		 struct nw_frame_numbers *out);
int nw_inlined_read(const struct nw_image *image, const char *name);

#endif
