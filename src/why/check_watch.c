// SPDX-License-Identifier: MIT
/* Checks the observations made while the probe was armed: the breakpoint, the semaphore, the hits. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "judge.h"

static const struct nw_watch *watch_of(struct judge *judge)
{
	const struct nw_watch *watch = judge->facts->watch;

	if (watch && watch->done)
		return watch;
	if (watch && watch->skipped && judge->facts->selection)
		nw_unknown(judge, "not tried: %s", watch->skipped);
	return NULL;
}

/* ---- armed -------------------------------------------------------------------------- */

static void blame_refusal(struct judge *judge)
{
	const struct nw_watch *watch = judge->facts->watch;

	nw_fails(judge, "%s", watch->refused);
	if (watch->refused_code ==
	    EIO) /* uprobes return it for a file without a page cache */
		nw_blame(judge, NW_CAUSE_FILESYSTEM,
			 "uprobes are impossible on this file system (EIO): %s",
			 watch->refused);
	else
		nw_blame(judge, NW_CAUSE_REFUSED, "%s", watch->refused);
}

/* Returns the state after the watch, or before it: the processes that mapped the file may have ended. */
static const struct nw_presence *last_presence(const struct nw_watch *watch)
{
	return watch->after.mapped ? &watch->after : &watch->before;
}

void nw_check_armed(struct judge *judge)
{
	const struct nw_watch *tried = judge->facts->watch;

	if (tried && *tried->refused) {
		blame_refusal(judge);
		return;
	}
	const struct nw_watch *watch = watch_of(judge);
	if (!watch)
		return;
	const struct nw_presence *seen = last_presence(watch);
	if (!seen->mapped) {
		nw_unknown(judge, "no process maps it any more");
	} else if (seen->armed) {
		struct nw_buf forms = {0};
		nw_armed_forms_text(&seen->forms, &forms);
		nw_pass(judge, "the breakpoint is in memory at %u of %u places: %s",
			seen->armed, seen->mapped, nw_buf_str(&forms));
		nw_buf_free(&forms);
	} else if (seen->unreadable == seen->mapped) {
		nw_unknown(judge, "the memory of the process cannot be read: %s",
			   nw_strerror(seen->unreadable_code));
	} else if (judge->facts->mapping && judge->facts->mapping->overlay) {
		nw_fails(judge, "enabled, but not in memory, and the file is on overlayfs");
		nw_blame(
			judge, NW_CAUSE_OVERLAY,
			"%s lies on overlayfs and was copied up since process %d began: that still runs the layer below, which is another inode",
			judge->facts->path, (int)seen->unarmed_pid);
		nw_remedy(judge, "# restart it, or probe the file in the lower directory");
		nw_remedy(judge, "grep overlay /proc/self/mounts");
	} else {
		nw_fails(judge, "enabled, but the original bytes are in memory");
		nw_blame(
			judge, NW_CAUSE_NOT_ARMED,
			"the kernel took the probe, but there is no breakpoint in the memory of process %d: it says nothing when it fails to put one there, or somebody has put the old code back, as a debugger does that had a breakpoint of its own there before; arm it again",
			(int)seen->unarmed_pid);
		nw_remedy_spec(judge, NULL, NULL, 0);
		nw_remedy(judge, "dmesg | tail");
	}
}

/* ---- the semaphore ------------------------------------------------------------------ */

void nw_check_semaphore(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;

	if (!nw_is_usdt(facts) || !nw_has_semaphore(facts))
		return;
	const struct nw_watch *watch = watch_of(judge);
	if (!watch)
		return;
	const struct nw_presence *seen = last_presence(watch);
	if (seen->armed && seen->closed == seen->mapped && !watch->in_target) {
		nw_fails(judge, "it is 0 while the probe is armed");
		nw_blame(
			judge, NW_CAUSE_SEMAPHORE,
			"the probe is armed, but its semaphore is 0 in process %d, so the program skips it (a kernel before 4.20 does not count it)",
			(int)seen->closed_pid);
		nw_remedy_spec(judge, NULL, NULL, 0);
	} else if (seen->closed) {
		nw_unknown(judge, "it is 0 at %u of %u places", seen->closed, seen->mapped);
	} else if (seen->mapped) {
		nw_pass(judge, "it is raised while the probe is armed");
	} else {
		nw_unknown(judge, "no process has it");
	}
}

/* ---- hits --------------------------------------------------------------------------- */

/* Blames that the process is stopped: the probe could be hit if the process ran. */
static bool blame_stop(struct judge *judge, const struct nw_stop *stop)
{
	char who[64];

	if (!stop->kind)
		return false;
	nw_who(judge->facts->process, who);
	if (stop->kind == NW_STOP_DEBUGGER) {
		nw_blame(judge, NW_CAUSE_STOPPED,
			 "%s does not run: process %d traces it and holds it (a debugger)",
			 who, (int)stop->tracer);
		nw_remedy(judge, "ps -o pid,args -p %d", (int)stop->tracer);
	} else if (stop->kind == NW_STOP_SIGNAL) {
		nw_blame(judge, NW_CAUSE_STOPPED,
			 "%s does not run: a signal has stopped it (SIGSTOP, or Ctrl-Z)",
			 who);
		nw_remedy(judge, "kill -CONT %d", (int)judge->facts->process->process);
	} else {
		nw_cleanup(nw_free_ptr) char *thaw = nw_text("echo %s >", stop->thaw);
		nw_blame(judge, NW_CAUSE_STOPPED,
			 "%s does not run: its control group is frozen (%s)", who,
			 stop->freezer);
		if (thaw)
			nw_remedy_file(judge, thaw, stop->freezer, "");
	}
	return true;
}

/* Blames calls that begin and never return to their caller. */
static bool blame_no_return(struct judge *judge, const struct nw_watch *watch)
{
	char calls[32];

	if (!watch->entered)
		return false;
	nw_thousands(watch->entered, calls);
	nw_blame(
		judge, NW_CAUSE_NO_RETURN,
		nw_plural(
			watch->entered,
			"'%s' was called %s time and did not return in %.3g s: a call takes longer, or it is left otherwise than by returning (longjmp, an exception, exit)",
			"'%s' was called %s times and did not return once in %.3g s: a call takes longer, or it is left otherwise than by returning (longjmp, an exception, exit)"),
		judge->facts->spec->name, calls, (double)watch->elapsed_ns / 1e9);
	nw_remedy_entry(judge);
	return true;
}

static void blame_silence(struct judge *judge, const struct nw_watch *watch)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_presence *seen = last_presence(watch);
	char who[64];

	nw_fails(judge, "no hit in %.3g s", (double)watch->elapsed_ns / 1e9);
	if (watch->exec_seen) {
		nw_who(facts->process, who);
		if (watch->exe_after)
			nw_blame(
				judge, NW_CAUSE_EXECED,
				"%s began to run another program (%s) meanwhile, and probes do not follow an exec",
				who, watch->exe_after);
		else
			nw_blame(
				judge, NW_CAUSE_EXECED,
				"%s began to run another program (unknown) meanwhile, and probes do not follow an exec",
				who);
		return;
	}
	if (watch->ended) {
		nw_blame(judge, NW_CAUSE_PROCESS_GONE, "%s ended before it was hit",
			 nw_who(facts->process, who));
		return;
	}
	if (blame_stop(judge, &watch->stop) || blame_no_return(judge, watch))
		return;
	bool open = !seen->closed || seen->closed < seen->mapped;
	if (!seen->armed || !open || nw_diagnosis_settled(judge->out))
		return;
	if (nw_blame_switch(judge))
		return;
	bool inlined = nw_diagnosis_has(judge->out, NW_CAUSE_SYMBOL_INLINED);
	double seconds = (double)watch->elapsed_ns / 1e9;
	if (facts->interposed) {
		nw_blame(
			judge, NW_CAUSE_NOT_EXECUTED,
			inlined ? "everything is in place; the code was not executed in the last %.3g s, and the function was inlined elsewhere, and calls by name reach %s"
				: "everything is in place; the code was not executed in the last %.3g s, and calls by name reach %s",
			seconds, facts->interposed);
		return; /* that cause has a better remedy than waiting */
	}
	/* The kernel puts a return probe's trampoline on the stack when a call begins. */
	bool returns = facts->spec->kind == NW_SPEC_URETPROBE;
	nw_blame(
		judge, NW_CAUSE_NOT_EXECUTED,
		inlined ? "everything is in place; the code was not executed in the last %.3g s, and the function was inlined elsewhere"
		: returns
			? "everything is in place; no call began in the last %.3g s, and the kernel does not see the return of a call that began before"
			: "everything is in place; the code was not executed in the last %.3g s",
		seconds);
	nw_remedy_again(judge, "", "-d 1m");
}

static void blame_another(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_watch *watch = facts->watch;
	char who[64], hits[32];

	if (watch->stop.kind) {
		blame_silence(judge, watch);
		return;
	}
	nw_who(facts->process, who);
	if (watch->in_children) {
		nw_thousands(watch->in_children, hits);
		nw_fails(judge, "no hit in %s, %s in its children", who, hits);
		nw_blame(
			judge, NW_CAUSE_CHILD,
			"%s itself does not reach it; its children do (%s hits, most in process %d)",
			who, hits, (int)watch->child_pid);
		char option[48];
		snprintf(option, sizeof(option), "nopwatch stat --follow -p %d",
			 (int)judge->facts->process->process);
		nw_remedy_file(judge, option, judge->facts->spec->text, "");
		nw_remedy_spec(judge, NULL, NULL, watch->child_pid);
		return;
	}
	nw_thousands(watch->other_hits, hits);
	nw_fails(judge, "no hit in %s, %s in process %d", who, hits, (int)watch->other_pid);
	/* the file is a library if the process runs another executable; other processes load it for their own reasons */
	bool shared = facts->image && facts->process->exe_ino &&
		      facts->image->ino != facts->process->exe_ino;
	if (shared) {
		blame_silence(judge, watch);
		return;
	}
	nw_blame(judge, NW_CAUSE_OTHER_PROCESS,
		 "no hit in %s, but %s in process %d (%s): is that the one you mean?", who,
		 hits, (int)watch->other_pid, watch->other_comm);
	nw_remedy_spec(judge, NULL, NULL, watch->other_pid);
}

void nw_check_hit(struct judge *judge)
{
	const struct nw_watch *watch = watch_of(judge);
	const struct nw_selection *selection = judge->facts->selection;
	const char *partner = selection && selection->probes.count
				      ? nw_switch_partner(selection,
							  selection->probes.item[0])
				      : NULL;
	char hits[32];

	if (!watch)
		return;
	if (watch->in_target) {
		nw_thousands(watch->in_target, hits);
		nw_pass(judge, "%s hits in %.3g s at %zu of %zu sites", hits,
			(double)watch->elapsed_ns / 1e9, watch->sites_hit, watch->sites);
		if (partner)
			nw_pass(judge, "but few of its calls are: %s", partner);
	} else if (judge->facts->process && (watch->in_children || watch->other_hits)) {
		blame_another(judge);
	} else {
		blame_silence(judge, watch);
	}
}

/* ---- the tool's own program --------------------------------------------------------- */

/* Has the name a dash? bpftrace does not read the - of "query-start" as __, as nopwatch and DTrace do. */
static bool has_dash(const struct nw_facts *facts)
{
	const char *colon = strrchr(facts->spec->text, ':');
	bool known = facts->selection && facts->selection->probes.count;

	return known && colon && strchr(colon, '-') &&
	       !strchr(facts->selection->probes.item[0]->name, '-');
}

/* Checks whether perf holds an event of the probe: an event cannot be enabled in perf and in tracefs at the same
 * time. */
static bool check_exclusive(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	char dir[NW_MAX_NAME + 48];
	bool taken = false;

	if (!facts->foreign)
		return false;
	nw_vec_each (facts->foreign, event) {
		if (event->session || !event->enabled || !nw_point_at(facts, event->offset))
			continue;
		taken = true;
		nw_fails(judge, "%s/%s is enabled in tracefs", event->group, event->name);
		nw_blame(
			judge, NW_CAUSE_EVENT_DISABLED,
			"%s/%s is enabled in tracefs, so perf cannot have it (Interrupted system call)",
			event->group, event->name);
		nw_remedy(judge, "echo 0 > %s/events/%s/%s/enable",
			  nw_instance_path(event, dir, sizeof(dir)), event->group,
			  event->name);
	}
	return taken;
}

void nw_check_program(struct judge *judge)
{
	const struct nw_tool *tool = judge->facts->tool;

	if (!tool)
		return;
	bool taken = tool->by_event && strcmp(tool->program, "perf") == 0 &&
		     check_exclusive(judge);
	if (tool->returns_arg) {
		nw_fails(judge, "it uses argN in a return probe");
		nw_blame(
			judge, NW_CAUSE_BPF_PROGRAM,
			"a return probe has no argN, only retval: what argN shows there is whatever the registers hold");
	}
	bool lacks_word = tool->word_used > tool->words;
	if (lacks_word) {
		nw_fails(judge, "it uses $%zu, but its command line has fewer words",
			 tool->word_used);
		nw_blame(
			judge, NW_CAUSE_BPF_PROGRAM,
			"$%zu is a word of the program's own command line, which has none there: an argument of the probe is arg0, arg1, ...",
			tool->word_used);
	}
	bool dashed = strcmp(tool->program, "bpftrace") == 0 && nw_is_usdt(judge->facts) &&
		      has_dash(judge->facts);
	if (dashed) {
		nw_fails(judge, "the probe's name is written with a dash");
		nw_blame(
			judge, NW_CAUSE_BPF_PROGRAM,
			"%s takes a probe's name as it stands in the file, '%s', not with a dash",
			tool->program, judge->facts->selection->probes.item[0]->name);
		nw_remedy_spec(judge, NULL, NULL, 0);
	}
	if (tool->filter) {
		nw_unknown(judge, "it has a filter, which may let nothing through");
		nw_blame(judge, NW_CAUSE_BPF_PROGRAM,
			 "the program's own /filter/ may let nothing through: try without");
	}
	if (tool->wants_string)
		nw_pass(judge,
			"str() of a page that is not in memory is empty: that is no sign of silence");
	if (!tool->returns_arg && !lacks_word && !dashed && !tool->filter && !taken)
		nw_pass(judge, "no filter, nothing that is known to show nothing");
}
