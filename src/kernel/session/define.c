// SPDX-License-Identifier: MIT
/*
 * Definitions: each place is written, and tried, by itself. If the kernel refuses one, only that
 * place is left out, and the user is told why.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/tracefs/expedite.h"

#include "session_private.h"

/* ---- paths -------------------------------------------------------------------------- */

/* Older kernels take the first colon for the one before the offset. */
bool nw_path_will_do(const struct nw_features *features, const char *path,
		     const struct nw_image *image)
{
	return nw_path_is_writable(path) &&
	       (features->has[NW_FEATURE_PATH_COLON] || !strchr(path, ':')) &&
	       nw_image_is_at(image, path) && strlen(path) < 1024;
}

/*
 * A path that the kernel's grammar can carry and that leads to the very file we read: its own
 * if that does, else our open file, which cannot be mistaken for another.
 */
static char *make_path(struct nw_session *session, const struct nw_image *image)
{
	nw_cleanup(nw_free_ptr) char *path = nw_absolute_path(image->path);

	if (path && nw_path_will_do(session->features, path, image))
		return strdup(path);
	if (session->runner.dry_run)
		return path ? nw_session_dry_run_path(session, path) : NULL;
	char *own = nw_text("/proc/self/fd/%d", image->fd);
	struct nw_buf line = {0};
	if (own)
		nw_journal_file(&line, own, path ? path : image->path);
	if (nw_journal_write(session->journal.fd, &line) < 0) {
		free(own);
		own = NULL;
	}
	nw_buf_free(&line);
	return own;
}

static const char *path_of(struct nw_session *session, const struct nw_image *image)
{
	nw_vec_each (&session->paths, known)
		if (known->image == image)
			return known->path;
	char *path = make_path(session, image);
	struct nw_image_path *fresh = path ? nw_vec_add(&session->paths) : NULL;
	if (fresh)
		*fresh = (struct nw_image_path){image, path};
	else
		free(path);
	return fresh ? path : NULL;
}

/* ---- one place ---------------------------------------------------------------------- */

static const struct nw_probe *probe_of(const struct nw_session *session,
				       const struct nw_event_site *place)
{
	const struct nw_plan *plan = session->plan;

	return plan->selection->probes.item[plan->points.item[place->planned].probe];
}

const char *nw_session_list(const struct nw_session *session, const struct nw_event *event)
{
	return nw_event_follows(event)			    ? NW_DYNAMIC_EVENTS
	       : nw_event_in_function(session->plan, event) ? NW_KPROBE_EVENTS
							    : "uprobe_events";
}

static bool has_failed(const struct nw_session *session, const struct nw_event_site *place)
{
	return session->armed->points.item[place->planned].failed;
}

static void give_up(struct nw_session *session, const struct nw_event_site *place,
		    const char *why)
{
	struct nw_buf where = {0};

	nw_point_text(probe_of(session, place), nw_plan_point(session->plan, place),
		      &where);
	/* without its part 0 a point is left out; without another part it lacks one string */
	nw_armed_refuse(session->armed, place, why);
	nw_strings_tell(&session->warnings, "%s is left out: %s", nw_buf_str(&where), why);
	nw_buf_free(&where);
}

/* The kernel's own words, where it has some, else what its error number means. */
static void explain_definition(struct nw_session *session, const struct nw_event *event,
			       const struct nw_event_site *place, const char *line, int ret)
{
	char reason[128] = "";
	const enum nw_refusal what = nw_event_in_function(session->plan, event)
					     ? NW_REFUSED_FUNCTION
					     : NW_REFUSED_DEFINITION;

	if (nw_step_runner_is_short(&session->runner, ret)) {
		session->failed = ret;
		return;
	}
	if (session->features->has[NW_FEATURE_ERROR_LOG])
		nw_tracefs_reason(session->fs, line, reason);
	nw_cleanup(nw_free_ptr) char *why =
		*reason ? nw_text("the kernel refused the definition: %s (%s)",
				  nw_strerror(-ret), reason)
			: nw_text("the kernel refused the definition: %s",
				  nw_refusal_text(what, -ret));
	give_up(session, place, why ? why : "refused");
}

/* Before 5.4 a definition silently replaces the one of the same name. */
static bool would_replace(const struct nw_session *session,
			  const struct nw_armed_event *event)
{
	char dir[2 * NW_MAX_NAME + 16];

	snprintf(dir, sizeof(dir), "events/%s/%s", session->plan->group, event->name);
	return !session->runner.dry_run && !session->features->has[NW_FEATURE_MULTI_SITE] &&
	       nw_tracefs_has(session->fs->root, dir);
}

static bool is_shared(const struct nw_armed_event *event)
{
	return event->only < 0 && event->planned->places.count > 1;
}

/* An event of several sites begins with the gate (gate.c). 0: it has one, or needs none. */
static int define_gate(struct nw_session *session, const struct nw_armed_event *event,
		       const struct nw_event_site *place)
{
	bool shared = session->features->has[NW_FEATURE_MULTI_SITE] && is_shared(event) &&
		      !session->runner.dry_run;

	if (!shared || event->defined || session->gated == event)
		return 0;
	int ret = session->gated
			  ? 0
			  : nw_gate_step(&session->runner, &session->journal, NW_GATE_MAKE);
	nw_cleanup(nw_free_ptr) char *name = nw_text("%s/%s", session->plan->group,
						     event->name);
	nw_cleanup(nw_free_ptr) char *line = name ? nw_gate_line(&session->journal, name,
								 event->planned->is_return,
								 place->fetches)
						  : NULL;
	if (ret == 0)
		ret = line ? nw_step_runner_step(&session->runner, NW_DO_APPEND,
						 "uprobe_events", line, NULL)
			   : -ENOMEM;
	if (ret < 0 && ret != -EEXIST) {
		explain_definition(session, event->planned, place, line ? line : "", ret);
		return ret;
	}
	session->gated = event;
	return 0;
}

static int define_place(struct nw_session *session, const struct nw_armed_event *event,
			const struct nw_event_site *place)
{
	const struct nw_point *point = nw_plan_point(session->plan, place);
	const bool kernel = *event->planned->attached || point->image->kernel;
	const char *danger = session->options.force || kernel
				     ? NULL
				     : nw_point_hazard(session->features, point);
	const char *path = kernel ? "" : path_of(session, point->image);
	struct nw_buf line = {0};
	if (danger) {
		if (session->runner.dry_run)
			nw_step_runner_shell(&session->runner, "# %s is left out: %s",
					     probe_of(session, place)->label, danger);
		give_up(session, place, danger);
		return -EPERM;
	}
	if (!path)
		return session->failed = -ENOMEM;
	int gate = define_gate(session, event, place);
	if (gate < 0)
		return gate;
	nw_plan_define_as(session->plan, event->planned, event->name, place, path,
			  session->features->has[NW_FEATURE_REF_CTR], &line);
	int ret = line.failed ? -ENOMEM
		  : would_replace(session, event)
			  ? -EEXIST
			  : nw_step_runner_step(&session->runner, NW_DO_APPEND,
						nw_session_list(session, event->planned),
						nw_buf_str(&line), NULL);
	if (ret < 0)
		explain_definition(session, event->planned, place, nw_buf_str(&line), ret);
	nw_buf_free(&line);
	return ret;
}

/* ---- all of them -------------------------------------------------------------------- */

/* Main parts first: a companion is of no use when its point could not be defined. */
static size_t define_parts(struct nw_session *session, size_t first, bool companions)
{
	size_t defined = 0;

	for (size_t number = first; number < session->armed->events.count; number++) {
		struct nw_armed_event *event = session->armed->events.item[number];
		const struct nw_event *planned = event->planned;
		for (size_t i = 0; !*planned->system && i < planned->places.count; i++) {
			const struct nw_event_site *place = &planned->places.item[i];
			if ((place->part > 0) != companions)
				continue;
			if (!has_failed(session, place) &&
			    define_place(session, event, place) == 0) {
				if (!event->order)
					event->order = ++session->defined;
				event->defined++;
				defined++;
			} else {
				nw_armed_forget(session->armed, event, i);
			}
		}
	}
	return defined;
}

/* Every place was left out: the first reason is the error. */
static int nothing_left(struct nw_session *session, struct nw_error *err)
{
	const nw_strings *warnings = &session->warnings;

	nw_fail(err, session->refused ? session->refused : EINVAL, "%s",
		warnings->count ? warnings->item[warnings->count - 1]
				: "no probe could be defined");
	return -EINVAL;
}

static int tell_failed(const struct nw_session *session, struct nw_error *err)
{
	return nw_fail(err, -session->failed, "%s: %s",
		       session->runner.unwritten ? "cannot write the journal"
						 : "the probes cannot be defined",
		       nw_strerror(-session->failed));
}

/*
 * func: is for the time of calls. Where not one of the functions has a return that can be probed, that is an error with
 * the first one's reason, rather than a table without a span.
 */
static int require_returns(const struct nw_session *session, struct nw_error *err)
{
	const struct nw_plan *plan = session->plan;
	const char *label = NULL, *why = NULL;

	for (size_t i = 0; i < plan->points.count; i++) {
		const struct nw_planned_point *planned = &plan->points.item[i];
		const struct nw_probe *probe = plan->selection->probes.item[planned->probe];
		const struct nw_point *point = &probe->points.item[planned->point];
		if (probe->kind != NW_SPEC_FUNC || !(point->is_return || point->is_exit))
			continue;
		if (!session->armed->points.item[i].failed)
			return 0;
		if (!why) {
			why = session->armed->points.item[i].why;
			label = probe->label;
		}
	}
	if (!why)
		return 0;
	nw_fail(err, EOPNOTSUPP, "no call can be timed: %s is left out: %s", label, why);
	nw_error_hint(err, "uprobe: in place of func: counts the calls");
	return -EOPNOTSUPP;
}

int nw_session_define(struct nw_session *session, struct nw_error *err)
{
	size_t tracepoints = nw_session_find_tracepoints(session);
	size_t defined = define_parts(session, 0, false) + tracepoints;

	if (defined == 0 && !session->failed && !session->runner.dry_run)
		return nothing_left(session, err);
	if (!session->failed) {
		int ret = nw_session_carry_define(session, 0, err);
		if (ret < 0)
			return ret;
		define_parts(session, 0, true);
	}
	if (session->failed)
		return tell_failed(session, err);
	return session->runner.dry_run ? 0 : require_returns(session, err);
}

/* ---- enabling ----------------------------------------------------------------------- */

static int write_enable(struct nw_session *session, const struct nw_armed_event *event,
			const char *value)
{
	char file[3 * NW_MAX_NAME + 64];

	snprintf(file, sizeof(file), "%sevents/%s/%s%senable", session->where,
		 session->plan->group, event ? event->name : "", event ? "/" : "");
	/* the gate is open only while we go through it */
	bool gated = session->gated && *value == '1';
	int ret = gated ? nw_gate_step(&session->runner, &session->journal, NW_GATE_OPEN)
			: 0;
	if (ret == 0)
		ret = nw_step_runner_step(&session->runner, NW_DO_WRITE, file, value, NULL);
	int shut = gated ? nw_gate_step(&session->runner, &session->journal, NW_GATE_SHUT)
			 : 0;
	return ret < 0 ? ret : shut;
}

/* Give every place of a refused event one of its own, defined again. */
static int split(struct nw_session *session, struct nw_armed_event *event)
{
	for (size_t i = event->planned->places.count; i-- > 0;) {
		const struct nw_event_site *place = &event->planned->places.item[i];
		struct nw_armed_event *fresh = nw_armed_split(session->armed, event, i);
		if (!fresh)
			return -ENOMEM;
		if (!has_failed(session, place) && define_place(session, fresh, place) == 0)
			fresh->defined = 1;
		else
			nw_armed_forget(session->armed, fresh, i);
	}
	return 0;
}

/* Enable one by one, from this one on; the events become more while refused ones are split. */
static size_t enable_each(struct nw_session *session, size_t first)
{
	size_t enabled = 0;

	/* some may have been enabled with the group: they run in whatever order */
	for (size_t i = first; i < session->armed->events.count; i++)
		session->armed->events.item[i]->order = 0;
	for (size_t i = first; i < session->armed->events.count; i++) {
		struct nw_armed_event *event = session->armed->events.item[i];
		if (!event->defined || *event->planned->system)
			continue;
		int ret = write_enable(session, event, "1");
		if (ret == 0) {
			enabled++;
			continue;
		}
		write_enable(session, event, "0");
		/* delete an event that the kernel did not enable. It rolled back: nothing of it is armed. */
		char name[2 * NW_MAX_NAME + 2];
		snprintf(name, sizeof(name), "%s/%s", session->plan->group, event->name);
		(void)nw_step_runner_step(&session->runner, NW_DO_DELETE,
					  nw_session_list(session, event->planned), name,
					  NULL);
		event->defined = 0;
		if (is_shared(event)) {
			split(session, event);
		} else {
			size_t number = event->only < 0 ? 0 : (size_t)event->only;
			const struct nw_event_site *place =
				&event->planned->places.item[number];
			const char *why = nw_refusal_text(NW_REFUSED_ENABLING, -ret);
			nw_cleanup(nw_free_ptr) char *text = nw_text(
				"the kernel would not arm it: %s", why);

			give_up(session, place, text ? text : why);
			if (!session->refused)
				session->refused = -ret;
			nw_armed_forget(session->armed, event, number);
		}
	}
	return enabled;
}

static size_t count_definitions(const struct nw_session *session)
{
	size_t count = 0;

	nw_vec_each (&session->armed->events, event)
		count += (*event)->defined && !*(*event)->planned->system;
	return count;
}

static bool holds_probe(const struct nw_session *session,
			const struct nw_armed_event *event, size_t probe)
{
	const struct nw_event *planned = event->planned;

	for (size_t i = 0; i < planned->places.count; i++)
		if (nw_armed_holds(event, i) &&
		    session->plan->points.item[planned->places.item[i].planned].probe ==
			    probe)
			return true;
	return false;
}

int nw_session_disable(struct nw_session *session, size_t probe, struct nw_error *err)
{
	int ret = 0;

	nw_expedite_begin(session->features, &session->journal.expedited);
	nw_vec_each (&session->armed->events, event)
		if (ret == 0 && (*event)->defined && holds_probe(session, *event, probe))
			ret = *(*event)->planned->system
				      ? nw_session_disable_tracepoint(session,
								      (*event)->planned)
				      : write_enable(session, *event, "0");
	nw_expedite_end(&session->journal.expedited);
	return ret < 0 ? nw_fail(err, -ret, "cannot disable %s: %s",
				 session->plan->selection->probes.item[probe]->label,
				 nw_strerror(-ret))
		       : 0;
}

/* Enables the events that were defined after the first `before` events, the last one first. */
static int enable_since(struct nw_session *session, size_t before)
{
	int ret = 0;

	for (size_t order = session->defined; ret == 0 && order > before; order--)
		nw_vec_each (&session->armed->events, event)
			if (ret == 0 && (*event)->order == order && (*event)->defined &&
			    !*(*event)->planned->system)
				ret = write_enable(session, *event, "1");
	return ret;
}

/*
 * The group's events are enabled the one that was defined last first, as by the group's file (trace_events.c puts new ones
 * in front of its list). At a place, the one that was enabled last runs first (uprobes.c: consumer_add()). So they run in
 * the order in which they were defined. Where they are few each is enabled by its own file: for the group's the kernel
 * looks through all events of the instance, thousands, which takes longer than all else that it does for one of ours
 * (0.3 of 0.4 ms on Linux 6.18). One that has a gate, which opens and shuts each time, is not enabled that way beside others.
 */
static int enable_group(struct nw_session *session, size_t count)
{
	enum {
		FEW = 8
	};

	if (count > (session->gated ? 1 : FEW))
		return write_enable(session, NULL, "1");
	return enable_since(session, 0);
}

int nw_session_enable(struct nw_session *session, struct nw_error *err)
{
	size_t enabled = nw_session_enable_tracepoints(session);
	size_t count = count_definitions(session);

	if (count)
		enabled += enable_group(session, count) == 0 ? 1 : enable_each(session, 0);
	return enabled || session->runner.dry_run ? nw_session_carry_begin(session, 0, err)
						  : nothing_left(session, err);
}

/* ---- a file that was replaced ------------------------------------------------------- */

/* Returns the first point of the plan that is in one of the armed events from this number on. */
static size_t first_point(const struct nw_session *session, size_t first)
{
	size_t found = session->plan->points.count;

	for (size_t i = first; i < session->armed->events.count; i++)
		nw_vec_each (&session->armed->events.item[i]->planned->places, place)
			if (place->planned < found)
				found = place->planned;
	return found;
}

int nw_session_grow(struct nw_session *session, size_t first, struct nw_error *err)
{
	size_t before = session->defined, points = first_point(session, first);
	struct nw_error none = {0};
	int ret = 0;

	nw_expedite_begin(session->features, &session->journal.expedited);
	size_t defined = define_parts(session, first, false);
	if (!session->failed)
		ret = nw_session_carry_define(session, points, err);
	if (!session->failed && ret == 0)
		define_parts(session, first, true);
	if (session->failed)
		ret = tell_failed(session, err);
	else if (ret == 0 && (!defined || (enable_since(session, before) < 0 &&
					   !enable_each(session, first))))
		ret = nothing_left(session, err);
	if (ret == 0)
		ret = nw_session_carry_begin(session, points, err);
	nw_expedite_end(&session->journal.expedited);
	nw_session_find_ids(session, first);
	if (ret == 0 && nw_session_raise_semaphores(session, &none) < 0)
		nw_strings_tell(&session->warnings, "%s", none.what);
	session->failed = 0;
	session->runner.unwritten = false;
	return ret;
}

int nw_session_retire(struct nw_session *session, struct nw_armed_event *event)
{
	int ret = write_enable(session, event, "0");

	if (ret == 0)
		event->defined = 0;
	return ret;
}
