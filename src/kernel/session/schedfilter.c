// SPDX-License-Identifier: MIT
/* See schedfilter.h. */
#include "schedfilter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "session_private.h"

/* Writing a filter waits for all CPUs, and meanwhile nothing is read. */
#define EVERY_NS 50000000u

enum {
	MOST_LOGGED = 16384, /* a recording has a line for each */
	/* Limit for names of later programs: filters are short, and names are never removed. */
	MOST_COMMS = 32,
	/* Possible error of nw_session_now(), which may be too early */
	NOW_ROUNDS_NS = 1000,
	/* Children of untraced threads are among these numbers: their stacks are recorded, too, until the trigger is
	 * set again. */
	BORN_NEXT = 4096
};

/* In the order of writing: if a sched_wakeup of a thread is seen, all its later switches are recorded. */
static const struct {
	const char *file;
	struct nw_sched_fields fields;
} events[] = {
	{"events/sched/sched_switch/filter",
	 {{"prev_pid", "next_pid"}, {"prev_comm", "next_comm"}}},
	{"events/sched/sched_waking/filter", {{"pid"}, {"comm"}}},
	{"events/sched/sched_wakeup/filter", {{"pid"}, {"comm"}}},
};

/* ---- the text ----------------------------------------------------------------------- */

int nw_sched_filter_text(const struct nw_sched_filter *filter,
			 const struct nw_sched_fields *fields, struct nw_buf *out)
{
	nw_vec_each (&filter->comms, comm)
		for (size_t i = 0; i < 2 && fields->comm[i]; i++)
			nw_buf_printf(out, "%s%s==\"%s\"", out->len ? "||" : "",
				      fields->comm[i], *comm);
	nw_vec_each (&filter->threads, thread)
		for (size_t i = 0; i < 2 && fields->pid[i]; i++)
			nw_buf_printf(out, "%s%s==%d", out->len ? "||" : "", fields->pid[i],
				      (int)thread->tid);
	if (!out->len) /* matches no thread */
		nw_buf_printf(out, "%s==-1", fields->pid[0]);
	if (out->failed)
		return -ENOMEM;
	return out->len >= (size_t)sysconf(_SC_PAGESIZE) ? -E2BIG : 0;
}

/* Returns the number of the thread that was born last; if it is unknown, the highest number since the trigger was
 * set. */
static pid_t last_born(const struct nw_sched_filter *filter)
{
	pid_t last = (pid_t)nw_pid_space_last_born(filter->space);

	if (last > 0)
		return last;
	nw_vec_each (&filter->threads, thread)
		if (!thread->stacks && thread->tid > last)
			last = thread->tid;
	return last > 0 ? last : filter->born_to;
}

char *nw_sched_filter_trigger(struct nw_sched_filter *filter, const char *condition)
{
	static const struct nw_sched_fields sleeper = {{"prev_pid"}, {"prev_comm"}};
	struct nw_buf names = {0};
	char *out = NULL;

	if (!filter->active)
		return nw_text("stacktrace if %s", condition);
	filter->born_from = last_born(filter) + 1;
	filter->born_to = filter->born_from + BORN_NEXT;
	filter->stack_comms = filter->comms.count;
	nw_vec_each (&filter->threads, thread)
		thread->stacks = true;
	/* it is shorter than the filter of sched_switch, which fits */
	if (nw_sched_filter_text(filter, &sleeper, &names) != -ENOMEM)
		out = nw_text("stacktrace if (%s) && (%s||(prev_pid>=%d&&prev_pid<=%d))",
			      condition, nw_buf_str(&names), (int)filter->born_from,
			      (int)filter->born_to);
	nw_buf_free(&names);
	return out;
}

bool nw_sched_filter_lacks_stacks(const struct nw_sched_filter *filter)
{
	if (filter->stack_comms < filter->comms.count)
		return true;
	nw_vec_each (&filter->threads, thread)
		if (!thread->stacks &&
		    (thread->tid < filter->born_from || thread->tid > filter->born_to))
			return true;
	return false;
}

/* ---- which threads ------------------------------------------------------------------ */

static struct nw_filtered_thread *find(struct nw_sched_filter *filter, pid_t tid)
{
	nw_vec_each (&filter->threads, thread)
		if (thread->tid == tid)
			return thread;
	return NULL;
}

static int add(struct nw_sched_filter *filter, pid_t tid, bool hits)
{
	struct nw_filtered_thread *slot = nw_vec_add(&filter->threads);

	if (!slot)
		return -ENOMEM;
	*slot = (struct nw_filtered_thread){.tid = tid, .hits = hits};
	return 0;
}

static void take_out(struct nw_sched_filter *filter, struct nw_filtered_thread *thread)
{
	*thread = filter->threads.item[--filter->threads.count];
}

/* Adds the threads of a process. A list that is read while threads come and go may miss one, so it is read until no
 * thread is new. */
static int list_process(struct nw_sched_filter *filter, pid_t pid, bool hits)
{
	struct nw_error ignored;
	int ret = 0;

	for (bool fresh = true; fresh && ret == 0;) {
		nw_pids threads = {0};
		ret = nw_pid_space_threads(filter->space, pid, &threads, &ignored);
		fresh = false;
		nw_vec_each (&threads, tid) {
			if (ret < 0 || find(filter, *tid))
				continue;
			ret = add(filter, *tid, hits);
			fresh = true;
		}
		nw_vec_free(&threads);
	}
	return ret == -ESRCH ? 0 : ret; /* the process has gone, and no thread is left */
}

/* Can a filter contain the name? Quotes and wildcards have a meaning there. */
static bool can_be_written(const char *comm)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_.,:/+@#%=-";

	return *comm && !comm[strspn(comm, plain)];
}

static int add_comm(struct nw_sched_filter *filter, const char *comm)
{
	char cut[16];

	snprintf(cut, sizeof(cut), "%s", comm);
	if (!can_be_written(cut) || nw_strings_has(&filter->comms, cut))
		return 0;
	return nw_strings_add(&filter->comms, cut, strlen(cut));
}

/* Finds the current name of a thread; empty if the thread has gone. */
static void find_comm(const struct nw_sched_filter *filter, pid_t tid, char comm[16])
{
	pid_t process;

	*comm = '\0';
	if (nw_pid_space_task(filter->space, tid, &process, comm) < 0)
		*comm = '\0';
}

/* Removes threads whose names are in the filter, so that their numbers are not needed. */
static void leave_out_covered(struct nw_sched_filter *filter)
{
	char comm[16];

	for (size_t i = filter->threads.count; i--;) {
		struct nw_filtered_thread *thread = &filter->threads.item[i];
		if (thread->from)
			continue;
		find_comm(filter, thread->tid, comm);
		if (nw_strings_has(&filter->comms, comm))
			take_out(filter, thread);
	}
}

/*
 * Removes new threads that are about to run another program. A child of a traced process is a thread of it, or a fork
 * that goes on with the same program, or a process that is about to call exec, like all children of a shell.
 */
static void leave_out_others(struct nw_sched_filter *filter)
{
	struct nw_process_stat stat;

	if (!filter->anybody || (filter->space && filter->space->foreign))
		return;
	for (size_t i = filter->threads.count; i--;) {
		struct nw_filtered_thread *thread = &filter->threads.item[i];
		if (!thread->from && !thread->hits &&
		    (nw_process_stat(thread->tid, &stat) < 0 || !stat.forked))
			take_out(filter, thread);
	}
}

/* ---- writing ------------------------------------------------------------------------ */

/* An event that this kernel does not have is not recorded either. */
static bool has_event(const struct nw_session *session, size_t i)
{
	int dir = session->runner.dry_run ? session->fs->root : session->instance;

	/* Without tracefs, --dry-run takes the kernel for one that has everything. */
	return dir < 0 || nw_tracefs_has(dir, events[i].file);
}

/* first: notes the top level's filter, which is restored later. */
static int write_filter(struct nw_session *session, size_t i, const char *text, bool first)
{
	return first ? nw_session_set(session, events[i].file, text)
		     : nw_session_do(session, NW_DO_WRITE, events[i].file, text);
}

static void log_thread(struct nw_sched_filter *filter, pid_t tid, uint64_t from)
{
	struct nw_named_thread *slot = filter->log.count < MOST_LOGGED
					       ? nw_vec_add(&filter->log)
					       : NULL;

	if (slot) /* otherwise less is known about the thread */
		*slot = (struct nw_named_thread){.tid = tid, .from = from};
}

/* Notes that the filters are in force. When the first ones are written, nothing is enabled yet. */
static void note_named(struct nw_session *session, bool first)
{
	struct nw_sched_filter *filter = &session->sched;
	uint64_t from = first ? session->began_ns : nw_session_now(session) + NOW_ROUNDS_NS;

	nw_vec_each (&filter->threads, thread) {
		if (thread->from)
			continue;
		thread->from = from;
		log_thread(filter, thread->tid, from);
	}
	while (filter->comms_from.count < filter->comms.count) {
		uint64_t *slot = nw_vec_add(&filter->comms_from);
		if (!slot) /* then it is unknown since when the name counts */
			return;
		*slot = from;
	}
}

static int write_filters(struct nw_session *session, bool first)
{
	int ret = 0;

	for (size_t i = 0; i < NW_COUNT(events) && ret == 0; i++) {
		struct nw_buf text = {0};
		if (!has_event(session, i))
			continue;
		ret = nw_sched_filter_text(&session->sched, &events[i].fields, &text);
		if (ret == 0)
			ret = write_filter(session, i, nw_buf_str(&text), first);
		nw_buf_free(&text);
	}
	session->sched.written = nw_clock_ns(CLOCK_MONOTONIC);
	if (ret == 0)
		note_named(session, first);
	return ret;
}

/* Sets the trigger again, because it cannot be changed. Stacks of threads that go to sleep meanwhile are missing. */
static void write_trigger(struct nw_session *session)
{
	if (!session->sched.stacks)
		return;
	nw_cleanup(nw_free_ptr) char *text = nw_session_stack_trigger(session);
	if (!text)
		return;
	(void)nw_session_do(session, NW_DO_WRITE, NW_TRIGGER_FILE, "!stacktrace");
	(void)nw_session_do(session, NW_DO_WRITE, NW_TRIGGER_FILE, text);
}

/* Gives up filtering: the events of all threads are recorded from here on. A filter that was refused stays in the
 * file until another one is written. */
static void give_up(struct nw_session *session, int reason, bool first)
{
	struct nw_sched_filter *filter = &session->sched;

	filter->active = false;
	filter->refused =
		reason == -E2BIG
			? nw_text("their names and numbers do not fit into a filter")
			: nw_text("their filter was refused: %s", nw_strerror(-reason));
	for (size_t i = NW_COUNT(events); i--;)
		if (has_event(session, i))
			(void)write_filter(session, i, "0", first);
	write_trigger(session);
	if (first)
		return;
	filter->everybody_from = nw_session_now(session) + NOW_ROUNDS_NS;
	log_thread(filter, 0, filter->everybody_from);
}

/* ---- in a session ------------------------------------------------------------------- */

void nw_session_born(struct nw_session *session, pid_t tid, pid_t parent, bool covered)
{
	struct nw_sched_filter *filter = &session->sched;

	if (!filter->active || covered || (filter->anybody && !find(filter, parent)))
		return;
	const struct nw_filtered_thread *known = find(filter, tid);
	/* The thread may already have been in the list, or its number belonged to a thread whose end was lost. */
	if (known && known->from)
		log_thread(filter, tid, known->from);
	else if (!known && add(filter, tid, false) < 0)
		give_up(session, -ENOMEM, false);
}

void nw_session_thread_left_filter(struct nw_session *session, pid_t tid)
{
	struct nw_sched_filter *filter = &session->sched;
	const struct nw_filtered_thread *known = find(filter, tid);
	pid_t *slot = &filter->hit[(size_t)tid % NW_COUNT(filter->hit)];

	if (*slot == tid) /* it is checked again at its next hit */
		*slot = 0;
	if (known && known->from)
		log_thread(filter, tid, known->from);
	else if (filter->active && !known && !filter->anybody &&
		 add(filter, tid, false) < 0)
		give_up(session, -ENOMEM, false);
}

void nw_session_note_tid(struct nw_session *session, pid_t tid)
{
	struct nw_sched_filter *filter = &session->sched;
	pid_t *slot = &filter->hit[(size_t)tid % NW_COUNT(filter->hit)];
	pid_t process;
	char comm[16];

	if (!filter->active || !filter->anybody || *slot == tid)
		return;
	*slot = tid;
	struct nw_filtered_thread *known = find(filter, tid);
	if (known)
		known->hits = true;
	else if (nw_pid_space_task(filter->space, tid, &process, comm) == 0 &&
		 list_process(filter, process, true) == -ENOMEM)
		give_up(session, -ENOMEM, false);
	else
		leave_out_covered(filter);
}

void nw_sched_filter_gone(struct nw_session *session, pid_t tid)
{
	struct nw_sched_filter *filter = &session->sched;
	struct nw_filtered_thread *thread = find(filter, tid);
	pid_t *slot = &filter->hit[(size_t)tid % NW_COUNT(filter->hit)];

	if (thread)
		take_out(filter, thread);
	if (*slot == tid)
		*slot = 0;
}

int nw_sched_filter_want(struct nw_session *session,
			 const struct nw_session_options *options)
{
	struct nw_sched_filter *filter = &session->sched;

	filter->anybody = !options->pid_count;
	filter->wanted = options->only_their_switches &&
			 (filter->anybody || !nw_session_restricts(session));
	filter->space = options->space;
	for (size_t i = 0; filter->wanted && i < options->pid_count; i++) {
		pid_t *slot = nw_vec_add(&filter->pids);
		if (!slot)
			return -ENOMEM;
		*slot = options->pids[i];
	}
	return 0;
}

int nw_session_set_target_processes(struct nw_session *session, const nw_pids *processes,
				    const nw_strings *comms)
{
	struct nw_sched_filter *filter = &session->sched;

	nw_vec_each (processes, pid) {
		pid_t *slot = nw_vec_add(&filter->pids);
		if (!slot)
			return -ENOMEM;
		*slot = *pid;
	}
	nw_vec_each (comms, comm)
		if (add_comm(filter, *comm) < 0)
			return -ENOMEM;
	return 0;
}

/* Selects all threads of the processes by their names, as far as possible, and so also their descendants. */
static int list_users(struct nw_session *session)
{
	struct nw_sched_filter *filter = &session->sched;
	char own[16], comm[16];
	pid_t self;
	int ret = 0;

	if (nw_process_task(getpid(), &self, own) < 0)
		*own = '\0';
	nw_vec_each (&filter->pids, pid)
		if (ret == 0)
			ret = list_process(filter, *pid, true);
	for (size_t i = 0; ret == 0 && i < filter->threads.count; i++) {
		find_comm(filter, filter->threads.item[i].tid, comm);
		log_thread(filter, filter->threads.item[i].tid, session->began_ns);
		if (strcmp(comm, own) !=
		    0) /* a command that waits for its start still has our name */
			ret = add_comm(filter, comm);
	}
	if (ret == 0)
		leave_out_covered(filter);
	return ret;
}

int nw_sched_filter_begin(struct nw_session *session)
{
	struct nw_sched_filter *filter = &session->sched;

	if (!filter->wanted)
		return 0;
	if (!session->births) { /* new threads could not be selected */
		filter->refused = nw_text("births of threads are not recorded");
		return filter->refused ? 0 : -ENOMEM;
	}
	int ret = list_users(session);
	if (ret == 0)
		ret = write_filters(session, true);
	filter->active = ret == 0;
	if (ret < 0)
		give_up(session, ret, true);
	return ret == -ENOMEM ? ret : 0;
}

static bool has_news(const struct nw_sched_filter *filter)
{
	if (filter->comms_from.count < filter->comms.count)
		return true;
	nw_vec_each (&filter->threads, thread)
		if (!thread->from)
			return true;
	return false;
}

void nw_sched_filter_update(struct nw_session *session)
{
	struct nw_sched_filter *filter = &session->sched;

	if (!filter->active || !has_news(filter) ||
	    nw_clock_ns(CLOCK_MONOTONIC) - filter->written < EVERY_NS)
		return;
	leave_out_others(filter);
	if (!has_news(filter))
		return;
	int ret = write_filters(session, false);
	if (ret < 0)
		give_up(session, ret, false);
	else if (nw_sched_filter_lacks_stacks(filter))
		write_trigger(session);
}

/* Removes threads that have ended, which is only noticed here if ends are not read. */
static void leave_out_gone(struct nw_sched_filter *filter)
{
	pid_t process;
	char comm[16];

	if (filter->space->foreign && filter->space->host < 0) /* no number is known */
		return;
	for (size_t i = filter->threads.count; i--;)
		if (nw_pid_space_task(filter->space, filter->threads.item[i].tid, &process,
				      comm) == -ESRCH)
			take_out(filter, &filter->threads.item[i]);
}

int nw_session_update_target_processes(struct nw_session *session, const nw_pids *processes)
{
	struct nw_sched_filter *filter = &session->sched;
	char comm[16];
	int ret = 0;

	if (!filter->active)
		return 0;
	filter->pids.count = 0;
	leave_out_gone(filter);
	nw_vec_each (processes, pid) {
		pid_t *slot = nw_vec_add(&filter->pids);
		if (!slot)
			return -ENOMEM;
		*slot = *pid;
		/* Children have this name, too, and need not be found. */
		find_comm(filter, *pid, comm);
		if (*pid != getpid() && filter->comms.count < MOST_COMMS)
			ret = add_comm(filter, comm);
		if (ret == 0)
			ret = list_process(filter, *pid, true);
		if (ret < 0)
			return ret;
	}
	leave_out_covered(filter);
	return 0;
}

/* Lists the threads of a process that are selected by their names. */
static int list_covered(const struct nw_sched_filter *filter, pid_t process,
			nw_named_threads *out)
{
	struct nw_error ignored;
	nw_pids threads = {0};
	char comm[16];
	int ret = nw_pid_space_threads(filter->space, process, &threads, &ignored);

	nw_vec_each (&threads, tid) {
		find_comm(filter, *tid, comm);
		for (size_t i = 0; i < filter->comms_from.count; i++) {
			if (strcmp(filter->comms.item[i], comm) != 0)
				continue;
			struct nw_named_thread *slot = nw_vec_add(out);
			if (slot)
				*slot = (struct nw_named_thread){
					*tid, filter->comms_from.item[i], true};
			else
				ret = -ENOMEM;
		}
	}
	nw_vec_free(&threads);
	return ret == -ENOMEM ? ret : 0;
}

int nw_session_named_now(const struct nw_session *session, nw_named_threads *out)
{
	const struct nw_sched_filter *filter = &session->sched;
	int ret = 0;

	if (filter->everybody_from) {
		struct nw_named_thread *slot = nw_vec_add(out);
		if (!slot)
			return -ENOMEM;
		*slot = (struct nw_named_thread){.from = filter->everybody_from};
	}
	nw_vec_each (&filter->threads, thread) {
		struct nw_named_thread *slot = thread->from ? nw_vec_add(out) : NULL;
		if (slot)
			*slot = (struct nw_named_thread){thread->tid, thread->from, false};
		else if (thread->from)
			return -ENOMEM;
	}
	nw_vec_each (&filter->pids, pid)
		if (ret == 0)
			ret = list_covered(filter, *pid, out);
	return ret;
}

int nw_session_comms_since(const struct nw_session *session, uint64_t since,
			   nw_strings *out)
{
	const struct nw_sched_filter *filter = &session->sched;

	for (size_t i = 0; i < filter->comms_from.count; i++)
		if (filter->comms_from.item[i] <= since &&
		    nw_strings_add(out, filter->comms.item[i],
				   strlen(filter->comms.item[i])) < 0)
			return -ENOMEM;
	return 0;
}

bool nw_session_names_threads(const struct nw_session *session, const char **refused)
{
	*refused = session->sched.refused;
	return session->sched.active;
}

const nw_strings *nw_session_comms(const struct nw_session *session)
{
	return &session->sched.comms;
}

const nw_named_threads *nw_session_named(const struct nw_session *session)
{
	return &session->sched.log;
}

void nw_sched_filter_free(struct nw_sched_filter *filter)
{
	nw_vec_free(&filter->pids);
	nw_strings_free(&filter->comms);
	nw_vec_free(&filter->threads);
	nw_vec_free(&filter->log);
	nw_vec_free(&filter->comms_from);
	free(filter->refused);
}
