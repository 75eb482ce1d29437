/* SPDX-License-Identifier: MIT */
/* Gates of events that have several sites. An event without a gate cannot be deleted safely; see gate.c. */
#ifndef NOPWATCH_KERNEL_STEPS_GATE_H
#define NOPWATCH_KERNEL_STEPS_GATE_H

#include "definitions.h"
#include "journal.h"

enum {
	NW_GATE_OFFSET = 0x1000
};

/* Writes the name of a session's gate file, which is next to its journal. */
void nw_gate_file(const char *session, char out[32]);
/* Steps for a gate: create it shut, open it, shut it. */
enum nw_gate_move {
	NW_GATE_MAKE,
	NW_GATE_OPEN,
	NW_GATE_SHUT
};
int nw_gate_step(struct nw_step_runner *runner, const struct nw_journal *journal,
		 enum nw_gate_move move);
/* Returns 0, or -errno if the file stays. */
int nw_gate_remove(const struct nw_journal *journal);
/* Returns the definition of "GROUP/NAME" at the gate, which has to precede all other definitions of the event.
 * fetches: those of any of its sites, because names and types must be the same. The caller frees. */
char *nw_gate_line(const struct nw_journal *journal, const char *event, bool is_return,
		   const char *fetches);
/*
 * Tells who uses an event, by the result of enabling it. The kernel first checks whether the other one of ftrace
 * and perf uses it (EINTR; trace_uprobe.c, probe_event_enable()), and then registers the sites: at a shut gate this
 * returns EINVAL or EIO, at a site that cannot be probed ENOTSUP or 524. So an error of a site means that the other
 * one does not use the event, and success behind a shut gate means that it was enabled before. Returns -EBUSY: in
 * use; 0: not in use, or not by the other one; another -errno: unknown.
 */
int nw_event_holder(int answer, bool shut);
/* Is this the path of a gate, and no real site? */
bool nw_is_gate(const char *path);

/*
 * Tests whether perf has the event open, by enabling it in an instance of that name, which is made if it does not
 * exist: EINTR means that perf has it, since perf and ftrace exclude each other. The answer is only valid if nobody
 * has enabled the event in ftrace. 0: no; -EBUSY: yes; another -errno: unknown.
 */
int nw_event_try_perf(const struct nw_tracefs *fs, const char *instance, const char *group,
		      const char *name);
/* Deletes "GROUP/NAME". list: NW_KPROBE_EVENTS, or "" for uprobe_events, which `definitions` reads when it has to. An event
 * of several sites is deleted only after a proof that nobody uses it. */
int nw_event_delete(const struct nw_tracefs *fs, struct nw_defined_events *definitions,
		    const char *list, const char *event);

#endif
