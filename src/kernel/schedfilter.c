// SPDX-License-Identifier: MIT
/* See schedfilter.h. */
#include "schedfilter.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "session.h"

/* Writing a filter waits for all CPUs, and meanwhile nobody reads. */
#define EVERY_NS 50000000u

/* In the order in which they are written: of whom a sched_wakeup is seen, all switches are recorded from there on. */
static const struct {
	const char *file, *fields[2];
} events[] = {
	{"events/sched/sched_switch/filter", {"prev_pid", "next_pid"}},
	{"events/sched/sched_waking/filter", {"pid", NULL}},
	{"events/sched/sched_wakeup/filter", {"pid", NULL}},
};

/* ---- the text ----------------------------------------------------------------------- */

int nw_sched_filter_text(const struct nw_sched_filter *filter, const char *const fields[2],
			 struct nw_buf *out)
{
	nw_vec_each (&filter->threads, thread)
		for (size_t i = 0; i < 2 && fields[i]; i++)
			nw_buf_printf(out, "%s%s==%d", out->len ? "||" : "", fields[i],
				      (int)thread->tid);
	if (!out->len) /* nobody's number */
		nw_buf_printf(out, "%s==-1", fields[0]);
	if (out->failed)
		return -ENOMEM;
	return out->len >= (size_t)sysconf(_SC_PAGESIZE) ? -E2BIG : 0;
}

/* ---- which threads ------------------------------------------------------------------ */

static struct nw_filtered_thread *find(struct nw_sched_filter *filter, pid_t tid)
{
	nw_vec_each (&filter->threads, thread)
		if (thread->tid == tid)
			return thread;
	return NULL;
}

static int add(struct nw_sched_filter *filter, pid_t tid)
{
	struct nw_filtered_thread *slot = nw_vec_add(&filter->threads);

	if (!slot)
		return -ENOMEM;
	*slot = (struct nw_filtered_thread){.tid = tid};
	return 0;
}

/* A list that is read while threads come and go may miss one: again until nothing is new. */
static int list_process(struct nw_sched_filter *filter, pid_t pid)
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
			ret = add(filter, *tid);
			fresh = true;
		}
		nw_vec_free(&threads);
	}
	return ret == -ESRCH ? 0 : ret; /* gone meanwhile: nobody left to name */
}

/* ---- writing ------------------------------------------------------------------------ */

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* An event that this kernel does not have is not recorded either. */
static bool has_event(const struct nw_session *session, size_t i)
{
	return nw_tracefs_has(session->instance, events[i].file);
}

/* first: what the top level has there is noted, to be put back. */
static int write_filter(struct nw_session *session, size_t i, const char *text, bool first)
{
	return first ? nw_session_set(session, events[i].file, text)
		     : nw_session_do(session, NW_DO_WRITE, events[i].file, text);
}

static int write_filters(struct nw_session *session, bool first)
{
	int ret = 0;

	for (size_t i = 0; i < NW_COUNT(events) && ret == 0; i++) {
		struct nw_buf text = {0};
		if (!has_event(session, i))
			continue;
		ret = nw_sched_filter_text(&session->sched, events[i].fields, &text);
		if (ret == 0)
			ret = write_filter(session, i, nw_buf_str(&text), first);
		nw_buf_free(&text);
	}
	session->sched.written = now();
	if (ret == 0)
		nw_vec_each (&session->sched.threads, thread)
			thread->named = true;
	return ret;
}

/* Everybody's are recorded from here on. What was refused stands in the file until something else is written. */
static void give_up(struct nw_session *session, int reason, bool first)
{
	struct nw_sched_filter *filter = &session->sched;

	filter->active = false;
	filter->refused = reason == -E2BIG ? nw_text("%zu threads do not fit into a filter",
						     filter->threads.count)
					   : nw_text("their filter was refused: %s",
						     nw_strerror(-reason));
	for (size_t i = NW_COUNT(events); i--;)
		if (has_event(session, i))
			(void)write_filter(session, i, "0", first);
}

/* ---- in a session ------------------------------------------------------------------- */

void nw_session_born(struct nw_session *session, pid_t tid)
{
	struct nw_sched_filter *filter = &session->sched;

	if (!filter->active)
		return;
	struct nw_filtered_thread *known = find(filter, tid);
	/* it may have been there already when they were listed */
	if (!known && add(filter, tid) < 0)
		give_up(session, -ENOMEM, false);
}

void nw_sched_filter_gone(struct nw_session *session, pid_t tid)
{
	struct nw_sched_filter *filter = &session->sched;
	struct nw_filtered_thread *thread = find(filter, tid);

	if (thread)
		*thread = filter->threads.item[--filter->threads.count];
}

int nw_sched_filter_want(struct nw_session *session,
			 const struct nw_session_options *options)
{
	struct nw_sched_filter *filter = &session->sched;

	filter->wanted = options->only_their_switches && options->pid_count &&
			 !nw_session_restricts(session) && !session->doing.dry_run;
	filter->space = options->space;
	for (size_t i = 0; filter->wanted && i < options->pid_count; i++) {
		pid_t *slot = nw_vec_add(&filter->pids);
		if (!slot)
			return -ENOMEM;
		*slot = options->pids[i];
	}
	return 0;
}

int nw_sched_filter_begin(struct nw_session *session)
{
	struct nw_sched_filter *filter = &session->sched;
	int ret = 0;

	if (!filter->wanted)
		return 0;
	if (!session->births) { /* who is born could not be named */
		filter->refused = nw_text("births of threads are not recorded");
		return filter->refused ? 0 : -ENOMEM;
	}
	nw_vec_each (&filter->pids, pid)
		if (ret == 0)
			ret = list_process(filter, *pid);
	if (ret == 0)
		ret = write_filters(session, true);
	filter->active = ret == 0;
	if (ret < 0)
		give_up(session, ret, true);
	return ret == -ENOMEM ? ret : 0;
}

void nw_sched_filter_update(struct nw_session *session)
{
	struct nw_sched_filter *filter = &session->sched;
	bool all = true;

	nw_vec_each (&filter->threads, thread)
		all &= thread->named;
	if (!filter->active || all || now() - filter->written < EVERY_NS)
		return;
	int ret = write_filters(session, false);
	if (ret < 0)
		give_up(session, ret, false);
}

bool nw_session_names_threads(const struct nw_session *session, const char **refused)
{
	*refused = session->sched.refused;
	return session->sched.active;
}

void nw_sched_filter_free(struct nw_sched_filter *filter)
{
	nw_vec_free(&filter->pids);
	nw_vec_free(&filter->threads);
	free(filter->refused);
}
