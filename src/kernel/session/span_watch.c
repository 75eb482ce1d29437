// SPDX-License-Identifier: MIT
/*
 * The kernel itself looks out for slow spans: Documentation/trace/histogram.rst, "inter-event hist triggers". The start's
 * trigger keeps each thread's time, the end's takes the difference and hands it to a synthetic event, whose filter
 * lets through what has taken long enough. The events themselves are then not recorded any more, so there is nothing
 * to read.
 *
 * A thread's start is one variable, which a later start replaces and the end that reads it takes away: that is what
 * `nest=no` means, and nothing else.
 *
 * The synthetic event is called as the session's group, so whoever takes a dead session away finds it by its name. An
 * instance with such triggers cannot be removed (trace_events_hist.c, save_hist_vars() takes a reference), and that of
 * the start not before that of the end, which refers to it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/recovery/teardown.h"
#include "kernel/tracefs/event_list.h"
#include "kernel/tracefs/files.h"

#include "session.h"

enum {
	MOST_THREADS = 2048 /* entries of a hist trigger, which are never given back */
};

/* ---- setting it up ------------------------------------------------------------------ */

static int set(const struct nw_session *session, const char *system, const char *event,
	       const char *file, const char *text)
{
	char path[512];

	nw_event_file(session->plan->group, system, event, file, path);
	return strcmp(file, "trigger") == 0
		       ? nw_tracefs_append(session->fs->root, path, text)
		       : nw_tracefs_write(session->fs->root, path, text);
}

static int set_trigger(const struct nw_session *session, const char *event,
		       const char *clock, const char *variables, const char *action)
{
	nw_cleanup(nw_free_ptr) char *text = nw_text(
		"hist:keys=common_pid:%s:size=%d:clock=%s%s", variables, MOST_THREADS,
		clock, action);

	return text ? set(session, session->plan->group, event, "trigger", text) : -ENOMEM;
}

static int set_up(const struct nw_session *session, const char *start, const char *end,
		  uint64_t least_ns)
{
	const char *group = session->plan->group;
	const char *clock = session->clock == NW_CLOCK_MONO ? "mono" : "boot";
	char filter[48];
	nw_cleanup(nw_free_ptr) char *synthetic = nw_text("%s %s", group,
							  nw_span_watch_fields);
	nw_cleanup(nw_free_ptr) char *action = nw_text(
		":onmatch(%s.%s).trace(%s,$took,$at)", group, start, group);

	if (!synthetic || !action)
		return -ENOMEM;
	snprintf(filter, sizeof(filter), "took >= %" PRIu64, least_ns);
	int ret = nw_tracefs_append(session->fs->root, "synthetic_events", synthetic);
	if (ret == 0)
		ret = set(session, "synthetic", group, "filter", filter);
	if (ret == 0)
		ret = set(session, "synthetic", group, "enable", "1");
	if (ret == 0)
		ret = set_trigger(session, start, clock, "began=common_timestamp", "");
	if (ret == 0)
		ret = set_trigger(session, end, clock,
				  "took=common_timestamp-$began,at=common_timestamp",
				  action);
	return ret;
}

/* Before Linux 5.1 hist triggers say it otherwise, and are too young to be relied on. */
static bool has_actions(const struct nw_tracefs *fs)
{
	struct nw_buf readme = {0};

	nw_tracefs_read(fs->root, "README", &readme);
	bool has = strstr(nw_buf_str(&readme), "trace(<synthetic_event>") != NULL;
	nw_buf_free(&readme);
	return has;
}

int nw_span_watch_begin(const struct nw_session *session,
			const struct nw_armed_event *start,
			const struct nw_armed_event *end, uint64_t least_ns,
			struct nw_span_watch *out)
{
	const char *group = session->plan->group;
	int ret = has_actions(session->fs)
			  ? set_up(session, start->name, end->name, least_ns)
			  : -ENOTSUP;

	*out = (struct nw_span_watch){
		.event = group, .start = start->name, .end = end->name};
	/* The triggers keep the places armed: what ends here is their recording. */
	if (ret == 0)
		ret = set(session, group, start->name, "enable", "0");
	if (ret == 0)
		ret = set(session, group, end->name, "enable", "0");
	if (ret < 0 && ret != -ENOTSUP)
		nw_span_watch_end(session, out);
	return ret;
}

void nw_span_watch_end(const struct nw_session *session, struct nw_span_watch *watch)
{
	struct nw_steps steps = {0};
	nw_strings events = {0}, stuck = {0};

	(void)set(session, session->plan->group, watch->start, "enable", "1");
	(void)set(session, session->plan->group, watch->end, "enable", "1");
	nw_vec_each (&session->armed->events, event)
		if (nw_strings_add(&events, (*event)->name, strlen((*event)->name)) < 0)
			break;
	nw_span_watch_steps(session->fs, session->plan->group, &events, &steps);
	/* what stays is tried again, and told, at the session's end */
	(void)nw_steps_do_each(session->fs, &steps, &stuck);
	nw_steps_free(&steps);
	nw_strings_free(&events);
	nw_strings_free(&stuck);
}

/* ---- what it has seen --------------------------------------------------------------- */

/* The number behind a word of the lines below "Totals:". */
static int read_totals(const struct nw_session *session, const char *event, uint64_t *hits,
		       uint64_t *dropped)
{
	struct nw_buf text = {0};
	char path[512];

	nw_event_file(session->plan->group, session->plan->group, event, "hist", path);
	int ret = nw_tracefs_read(session->fs->root, path, &text);
	const char *totals = ret == 0 ? strstr(nw_buf_str(&text), "Totals:") : NULL;
	const char *drops = totals ? strstr(totals, "Dropped:") : NULL;
	const char *all = totals ? strstr(totals, "Hits:") : NULL;
	if (!drops || !all)
		ret = ret < 0 ? ret : -ENOENT;
	*hits = all ? strtoull(all + 5, NULL, 10) : 0;
	*dropped = drops ? strtoull(drops + 8, NULL, 10) : 0;
	nw_buf_free(&text);
	return ret;
}

int nw_span_watch_check(const struct nw_session *session, const struct nw_span_watch *watch,
			uint64_t *ends, uint64_t *dropped)
{
	uint64_t starts, first, last;
	int ret = read_totals(session, watch->start, &starts, &first);

	if (ret == 0)
		ret = read_totals(session, watch->end, ends, &last);
	if (ret == 0)
		*dropped = first + last;
	return ret;
}
