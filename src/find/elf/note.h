/* SPDX-License-Identifier: MIT */
/* The stapsdt notes of a section, one by one. */
#ifndef NOPWATCH_FIND_ELF_NOTE_H
#define NOPWATCH_FIND_ELF_NOTE_H

#include "nopwatch/elf.h"

/* A stapsdt note as it lies in the file; strings point into the section. */
struct nw_note {
	uint64_t pc, base, semaphore;
	const char *provider, *name, *args;
};

/*
 * Walk the bytes of a .note.stapsdt section. *at starts at 0 and moves on; returns 1 with a
 * note, 0 at the end, -EBADMSG for a note that is damaged (with *why, a static sentence): it
 * is skipped and the walk can go on, unless *at has reached len.
 */
int nw_note_next(const char *data, size_t len, bool elf64, bool big_endian, size_t *at,
		 struct nw_note *note, const char **why);

#endif
