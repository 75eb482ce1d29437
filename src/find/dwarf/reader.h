/* SPDX-License-Identifier: MIT */
/*
 * The messages between nopwatch (reader.c) and its reader process (served.c). nopwatch asks one question at a time;
 * the reader answers, or first asks for a descriptor, as often as it needs one.
 */
#ifndef NOPWATCH_FIND_DWARF_READER_H
#define NOPWATCH_FIND_DWARF_READER_H

#include "find/dwarf/dwarf.h"
#include "wire.h"

enum {
	NW_MOST_MESSAGE = 128 << 10, /* in bytes; a socket takes such a message at once */
	NW_MOST_FRAMES_ASKED = 2048  /* addresses in one question */
};

/* A question: its kind (1 byte), the number of the file (4 bytes), and the following data. */
enum nw_question {
	NW_ASK_FILE, /* none */
	/* Enum nw_place_depth (1), 1: use linker names (1), the address (8) */
	NW_ASK_PLACE,
	NW_ASK_FRAMES,	/* number of addresses (4), the addresses (8 each) */
	NW_ASK_INLINED, /* the function's name (string) */
	/* The address (8), 1: it is the entry (1), number of expressions (4), the expressions (strings) */
	NW_ASK_VARIABLES,
	/* Number of names (4), the names (strings); the file's number is ignored */
	NW_ASK_NAMES,
	NW_ASK_LINE, /* the source file (string), the line (4) */
};

/* An answer: its kind (1 byte), and the following data. */
enum nw_answer {
	/*
	 * FILE: e_machine (4), ELFCLASS64 (1), big endian (1), its identity (string), number (4) of executable
	 * segments: address, offset, size (8 each).
	 *
	 * PLACE: the rule (length: 4, bytes); function known (1), its begin (8), its name, its source file (strings)
	 * and line (4); number (1) of inlined functions: name, file (strings), line (4).
	 *
	 * FRAMES: for each address the function, its size, and the next one in the table (8 each), DWARF number of a
	 * register (4), offset (8).
	 *
	 * INLINED: number of copies, or -1 (4); number of their entries (4), and these (8 each).
	 *
	 * VARIABLES: the file has DWARF (1), and for each the fields of struct nw_variable.
	 *
	 * LINE: the file has DWARF (1), and the fields of struct nw_line_places: file, other (strings), next (4), more (1),
	 * again (4), number of places (4), the places (8 each).
	 *
	 * NAMES: how many names were processed (4), and for each its name in the source (string); "": unknown.
	 */
	NW_ANSWER,
	/* Kind (1): enum nw_debug_place, or NW_WANT_FILE; its name (string) */
	NW_ANSWER_WANT,
	NW_ANSWER_ERROR, /* errno (4) */
};
/* nopwatch's reply to NW_ANSWER_WANT: errno (4); 0: the descriptor comes with it. */

/* Begins a question, to whose text the caller adds its data. */
struct nw_buf *nw_question_begin(struct nw_reader *reader, enum nw_question kind,
				 const struct nw_read_file *file);
/* Asks it. The answer is valid until the next question. Returns 0, or -errno as the functions of dwarf.h do; err may be NULL. */
int nw_question_ask(struct nw_reader *reader, const struct nw_read_file *file,
		    struct nw_wire *out, struct nw_error *err);

/* ---- the reader's side (served.c) --------------------------------------------------- */

/* Provides descriptors: returns one, or -errno. */
struct nw_descriptors {
	int (*get)(void *arg, unsigned int what, const char *name);
	void *arg;
};

struct nw_served;
struct nw_served *nw_served_open(const struct nw_descriptors *descriptors);
void nw_served_free(struct nw_served *served);
/* Opens the libraries that the reader may need, while files can still be opened. names: also the library for C++
 * names. */
void nw_served_prepare(struct nw_served *served, bool names);
/* Answers a question. */
void nw_served_answer(struct nw_served *served, const void *question, size_t len,
		      struct nw_buf *answer);

/* ---- the process that opens files (opener.c) ------------------------------------------ */

enum {
	NW_ENDED_WITHOUT_MEMORY = 2 /* exit status of the reader and of the opener */
};

struct nw_opener {
	pid_t pid;  /* 0: there is none */
	int socket; /* -1: there is none */
};

/* Starts the opener, which passes files to `reader`, the socket of the reader process. Returns 0 or -errno. */
int nw_opener_start(struct nw_opener *opener, int reader);
/* Has a file opened. The opener sends errno (4) to opener->socket, and the same with the descriptor to the reader.
 * Returns 0; -ENOMEM; another -errno: the request cannot be sent. */
int nw_opener_ask(const struct nw_opener *opener, const struct nw_read_file *file,
		  unsigned int what, const char *name);
/* Sends one message, with a descriptor unless fd is -1. */
bool nw_send_message(int socket, const void *bytes, size_t len, int fd);
/* Receives one message, and the descriptor that comes with it (fd NULL: none is taken); *fd -1: none. Returns the
 * length; 0: the other side has ended; -1 with errno. */
ssize_t nw_receive_message(int socket, void *bytes, size_t room, int *fd);

/* ---- what it reads ------------------------------------------------------------------ */

struct nw_frame_numbers {
	uint64_t function, size, next; /* 0: unknown */
	unsigned int reg; /* DWARF number; NW_NO_REGISTER: the frame is unknown */
	int64_t offset;
};
/* A file's .eh_frame; without libdw nothing is known. NULL: no memory. The image must stay open. */
struct nw_frame_table;
struct nw_frame_table *nw_frames_open(struct nw_image *image);
void nw_frames_free(struct nw_frame_table *table);
void nw_frame_at(const struct nw_frame_table *table, uint64_t vaddr,
		 struct nw_frame_numbers *out);

#endif
