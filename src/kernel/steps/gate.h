/* SPDX-License-Identifier: MIT */
/* The gates of events that have several sites: without one they cannot be deleted safely. */
#ifndef NOPWATCH_KERNEL_STEPS_GATE_H
#define NOPWATCH_KERNEL_STEPS_GATE_H

#include "journal.h"

enum {
	NW_GATE_OFFSET = 0x1000
};

/* What its file is called, beside the session's journal. */
void nw_gate_file(const char *session, char out[32]);
/* The gate as steps: make it, shut; open it; shut it. */
enum nw_gate_move {
	NW_GATE_MAKE,
	NW_GATE_OPEN,
	NW_GATE_SHUT
};
int nw_gate_step(struct nw_doing *doing, const struct nw_journal *journal,
		 enum nw_gate_move move);
void nw_gate_remove(const struct nw_journal *journal);
/* The definition of "GROUP/NAME" that is to come before all others of the event; fetches are those of
 * any of its sites, as their names and types have to be the same. The caller frees. */
char *nw_gate_line(const struct nw_journal *journal, const char *event, bool is_return,
		   const char *fetches);
/*
 * Who has an event, by what enabling it answers. Before anything else the kernel asks whether the
 * other of ftrace and perf has it (EINTR; trace_uprobe.c, probe_event_enable()); then it registers the
 * sites: a shut gate is EINVAL or EIO, a site that cannot be probed ENOTSUP or 524. So to come as far
 * as the sites means that the other has not got it; and to come past a shut gate means that it was
 * enabled before. -EBUSY: somebody has it; 0: nobody, or not the other; else it is not told.
 */
int nw_event_holder(int answer, bool shut);
/* Is this the path of a gate, no site of anybody's? */
bool nw_is_gate(const char *path);

/*
 * Does perf have the event open? Only told while nobody has enabled it: perf and ftrace exclude
 * each other, so enabling it (in an instance of that name, made for it if need be) answers EINTR
 * if perf has it. 0: no; -EBUSY: yes; else -errno: it cannot be told.
 */
int nw_event_try_perf(const struct nw_tracefs *fs, const char *instance, const char *group,
		      const char *name);
/* Delete "GROUP/NAME"; one of several sites only when it is shown that nobody has it. */
int nw_event_delete(const struct nw_tracefs *fs, const char *event);

#endif
