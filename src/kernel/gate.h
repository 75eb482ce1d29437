/* SPDX-License-Identifier: MIT */
/* The gates of events that have several sites: without one they cannot be deleted safely. */
#ifndef NOPWATCH_KERNEL_GATE_H
#define NOPWATCH_KERNEL_GATE_H

#include "journal.h"

enum {
	NW_GATE_OFFSET = 0x1000
};

/* What its file is called, beside the session's journal. */
void nw_gate_file(const char *session, char out[32]);
/* Make the session's gate, shut; 0 or -errno. nw_journal_remove() takes it away again. */
int nw_gate_make(const struct nw_journal *journal);
void nw_gate_remove(const struct nw_journal *journal, int dir);
int nw_gate_set(const struct nw_journal *journal, bool open);
/* The definition of "GROUP/NAME" that is to come before all others of the event; fetches are those of
 * any of its sites, as their names and types have to be the same. The caller frees. */
char *nw_gate_line(const struct nw_journal *journal, const char *event, bool is_return,
		   const char *fetches);
/* Is this the path of a gate, no site of anybody's? */
bool nw_is_gate(const char *path);

#endif
