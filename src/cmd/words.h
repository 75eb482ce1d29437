/* SPDX-License-Identifier: MIT */
/*
 * Files of options. A word @FILE in front of `--` stands for the words in FILE: one option a line, or several, as on the
 * command line. '...' keeps blanks in a word; a line that begins with # is a comment. Words of a file are not looked up
 * again. The file must be a regular one of at most 64 KiB that belongs to root or to us, and that nobody else
 * can write to, because it may name commands.
 */
#ifndef NOPWATCH_CMD_WORDS_H
#define NOPWATCH_CMD_WORDS_H

#include "base/base.h"

struct nw_words {
	char **item; /* a NULL follows the last one */
	size_t count, room;
};

/* Replaces each @FILE. The words live until the program ends. Returns 0 or -errno. */
int nw_words_expand(char *const *argv, struct nw_words *out, struct nw_error *err);
/* Puts "FILE:LINE: " in front of an error about this word, if it comes from a file. */
void nw_words_blame(const char *word, struct nw_error *err);

#endif
