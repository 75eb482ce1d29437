/* SPDX-License-Identifier: MIT */
/*
 * The expression of --by 'title(REGEX)'. A traced program chooses its title, and thereby how long a search takes: hours for
 * 100 characters, if the expression has a back reference. regexec() cannot be interrupted. So a process without
 * privileges searches (find/dwarf/fence.h), and it is killed when a title takes too long.
 */
#ifndef NOPWATCH_RUN_CONSUMERS_TITLE_SEARCH_H
#define NOPWATCH_RUN_CONSUMERS_TITLE_SEARCH_H

#include "base/base.h"

struct nw_title_search;

/* Compiles an expression. `key` is the user's word, for the error. */
int nw_title_search_open(const char *key, const char *expression,
			 struct nw_title_search **out, struct nw_error *err);
void nw_title_search_free(struct nw_title_search *search);
/*
 * Returns what the expression finds in a title: its first group or else all that matches, valid until the next call. NULL:
 * it does not match, or (*code) the title was not searched: ETIMEDOUT, that took too long, or an error of the system.
 * hurry: a signal has ended the run.
 */
const char *nw_title_search_find(struct nw_title_search *search, const char *title,
				 bool hurry, int *code);

#endif
