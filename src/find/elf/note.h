/* SPDX-License-Identifier: MIT */
/* Walks the stapsdt notes of a section. */
#ifndef NOPWATCH_FIND_ELF_NOTE_H
#define NOPWATCH_FIND_ELF_NOTE_H

#include "find/elf/elf.h"

/* A stapsdt note as it is in the file. Its strings point into the section. */
struct nw_note {
	uint64_t pc, base, semaphore;
	const char *provider, *name, *args;
};

/*
 * Walks the bytes of a .note.stapsdt section. *at starts at 0 and advances. Returns 1 with a note, 0 at the end,
 * and -EBADMSG for a damaged note (with *why, a static sentence). The damaged note is skipped, and the walk can
 * continue unless *at has reached len.
 */
int nw_note_next(const char *data, size_t len, bool elf64, bool big_endian, size_t *at,
		 struct nw_note *note, const char **why);

#endif
