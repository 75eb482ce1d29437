// SPDX-License-Identifier: MIT
/* See pidfilter.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel/session/session.h"

#include "session_private.h"

enum {
	MANY_HITS = 64,	    /* of an untraced thread, before it is excluded */
	MOST_EXCLUDED = 128 /* a filter has to fit into a page */
};

/* Writing a filter waits for all CPUs. */
#define EVERY_NS 500000000u

/* ---- by the kernel ------------------------------------------------------------------ */

static bool has_pid(const nw_pids *list, pid_t pid)
{
	nw_vec_each (list, known)
		if (*known == pid)
			return true;
	return false;
}

static int add_tid(struct nw_session *session, nw_pids *added, pid_t tid,
		   struct nw_error *err)
{
	char text[16];
	pid_t *slot;

	snprintf(text, sizeof(text), "%d", (int)tid);
	int ret = nw_session_do(session, NW_DO_APPEND, "set_event_pid", text);
	if (ret < 0)
		return nw_fail(err, -ret, "cannot restrict recording to thread %d: %s",
			       (int)tid, nw_strerror(-ret));
	slot = nw_vec_add(added);
	if (!slot)
		return nw_no_memory(err);
	*slot = tid;
	return 0;
}

/*
 * Adds those threads that are not added yet, in one write: each write waits for all CPUs, some 30 ms, which no signal ends,
 * and a process may have thousands of threads. Returns how many, or -errno.
 */
static int add_new(struct nw_session *session, nw_pids *added, pid_t pid,
		   const nw_pids *threads, struct nw_error *err)
{
	struct nw_buf text = {0};
	int count = 0;

	nw_vec_each (threads, tid) {
		pid_t *slot = has_pid(added, *tid) ? NULL : nw_vec_add(added);
		text.failed |= !slot && !has_pid(added, *tid);
		if (!slot)
			continue;
		*slot = *tid;
		nw_buf_printf(&text, "%s%d", count++ ? " " : "", (int)*tid);
	}
	int ret = text.failed ? -ENOMEM : 0;
	if (ret == 0 && count)
		ret = nw_session_do(session, NW_DO_APPEND, "set_event_pid",
				    nw_buf_str(&text));
	nw_buf_free(&text);
	return ret < 0 ? nw_fail(err, -ret, "cannot restrict recording to process %d: %s",
				 (int)pid, nw_strerror(-ret))
		       : count;
}

/*
 * Adds all threads of a process. Children of listed threads are followed by the kernel (event-fork), those of other
 * threads are not, so the list is read until no thread is new.
 */
static int add_process(struct nw_session *session, const struct nw_pid_space *space,
		       nw_pids *added, pid_t pid, struct nw_error *err)
{
	for (bool fresh = true; fresh;) {
		nw_pids threads = {0};
		int ret = nw_pid_space_threads(space, pid, &threads, err);
		if (ret == 0)
			ret = add_new(session, added, pid, &threads, err);
		fresh = ret > 0;
		nw_vec_free(&threads);
		if (ret == -ESRCH) /* the process has gone, and no thread is left */
			return 0;
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Records only named threads, in our own events, by a filter. Returns false if the kernel does not take it. */
static bool filter_by_name(struct nw_session *session,
			   const struct nw_session_options *options)
{
	char file[NW_MAX_NAME + 32];
	struct nw_buf text = {0};

	for (size_t i = 0; i < options->tid_count; i++)
		nw_buf_printf(&text, "%scommon_pid == %d", i ? " || " : "",
			      (int)options->tids[i]);
	snprintf(file, sizeof(file), "events/%s/filter", session->plan->group);
	bool done = !text.failed && options->tid_count <= MOST_EXCLUDED &&
		    nw_session_do(session, NW_DO_WRITE, file, nw_buf_str(&text)) == 0;
	nw_buf_free(&text);
	return done;
}

/* Records only named threads. */
static int restrict_to_tids(struct nw_session *session,
			    const struct nw_session_options *options, bool by_pid,
			    struct nw_error *err)
{
	nw_pids added = {0};
	int ret = 0;

	for (size_t i = 0; by_pid && i < options->tid_count && ret == 0; i++)
		ret = add_tid(session, &added, options->tids[i], err);
	nw_vec_free(&added);
	/* The thread has ended: nothing will be recorded of it. */
	if (ret == -ESRCH || by_pid)
		return ret == -ESRCH ? 0 : ret;
	session->filter.active = true;
	session->filter.named = filter_by_name(session, options);
	nw_strings_tell(
		&session->warnings,
		session->filter.named
			? "this kernel has no set_event_pid here: hits of other threads are filtered by their common_pid, after their arguments were fetched"
			: "this kernel cannot keep other threads out: their hits are recorded, and dropped when they are read");
	return 0;
}

int nw_pid_filter_begin(struct nw_session *session,
			const struct nw_session_options *options, struct nw_error *err)
{
	const bool *has = session->features->has;
	struct nw_buf pids = {0};

	if (!options->pid_count)
		return 0;
	if (session->top) /* another program may use it there */
		nw_tracefs_read(session->instance, "set_event_pid", &pids);
	bool ours = pids.len == 0;
	nw_buf_free(&pids);
	if (options->tid_count)
		return restrict_to_tids(session, options,
					ours && !session->top && has[NW_FEATURE_EVENT_PID],
					err);
	if (ours && has[NW_FEATURE_EVENT_PID] && has[NW_FEATURE_EVENT_FORK]) {
		nw_pids added = {0};
		int ret = nw_session_set(session, nw_settings[NW_SETTING_FORK].file,
					 nw_settings[NW_SETTING_FORK].value);

		if (ret < 0)
			return nw_fail(err, -ret,
				       "cannot follow new threads (event-fork): %s",
				       nw_strerror(-ret));
		if (session->top) /* noted, so that it is emptied afterwards */
			ret = nw_session_set(session, "set_event_pid", "");
		if (ret < 0)
			return nw_fail(err, -ret, "cannot empty set_event_pid: %s",
				       nw_strerror(-ret));
		for (size_t i = 0; i < options->pid_count && ret == 0; i++)
			ret = add_process(session, options->space, &added, options->pids[i],
					  err);
		nw_vec_free(&added);
		return ret;
	}
	session->filter.active = true;
	return 0;
}

bool nw_session_restricts(const struct nw_session *session)
{
	return !session->filter.active;
}

/* ---- by what has been seen ---------------------------------------------------------- */

void nw_session_exclude_tid(struct nw_session *session, pid_t tid)
{
	struct nw_pid_filter *filter = &session->filter;
	size_t slot = nw_hash64((uint64_t)tid) & (NW_STRANGERS - 1);

	if (!filter->active || filter->failed || filter->named)
		return;
	if (filter->seen[slot].tid != tid) {
		filter->seen[slot].tid = tid;
		filter->seen[slot].hits = 0;
	}
	if (++filter->seen[slot].hits != MANY_HITS ||
	    filter->excluded.count >= MOST_EXCLUDED || has_pid(&filter->excluded, tid))
		return;
	pid_t *fresh = nw_vec_add(&filter->excluded);
	if (fresh) {
		*fresh = tid;
		filter->dirty = true;
	}
}

/* A thread has ended, so it is not excluded any more: its number may be given to a thread that is to be recorded. */
void nw_session_gone(struct nw_session *session, pid_t tid)
{
	struct nw_pid_filter *filter = &session->filter;

	nw_sched_filter_gone(session, tid);
	for (size_t i = 0; i < filter->excluded.count; i++)
		if (filter->excluded.item[i] == tid) {
			filter->excluded.item[i] =
				filter->excluded.item[--filter->excluded.count];
			filter->dirty = true;
			return;
		}
}

void nw_pid_filter_update(struct nw_session *session)
{
	struct nw_pid_filter *filter = &session->filter;
	char file[NW_MAX_NAME + 32];
	struct nw_buf text = {0};

	if (!filter->dirty || filter->failed ||
	    nw_clock_ns(CLOCK_MONOTONIC) - filter->written < EVERY_NS)
		return;
	nw_vec_each (&filter->excluded, tid)
		nw_buf_printf(&text, "%scommon_pid != %d", text.len ? " && " : "",
			      (int)*tid);
	if (!text.len)
		nw_buf_adds(&text, "0"); /* no filter */
	snprintf(file, sizeof(file), "events/%s/filter", session->plan->group);
	/* Without the filter, hits of untraced threads only take room in the buffer. */
	filter->failed = text.failed ||
			 nw_session_do(session, NW_DO_WRITE, file, nw_buf_str(&text)) < 0;
	nw_buf_free(&text);
	filter->dirty = false;
	filter->written = nw_clock_ns(CLOCK_MONOTONIC);
}
