// SPDX-License-Identifier: MIT
/*
 * Events that the kernel has anyway, its tracepoints: enabled in our own instance, which takes
 * them along when it goes. Nothing is defined for them, and nothing deleted.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "session.h"

int nw_tracefs_events(const struct nw_tracefs *fs, nw_strings *out, struct nw_error *err)
{
	struct nw_buf text = {0};
	int ret = nw_tracefs_read(fs->root, "available_events", &text);
	char *rest = text.data, *line;

	if (ret < 0)
		nw_fail(err, -ret, "cannot read %s/available_events: %s", fs->path,
			nw_strerror(-ret));
	while (ret == 0 && (line = strsep(&rest, "\n")))
		/* those of sessions, also of others, may go away at any moment */
		if (*line && !nw_group_session(line) &&
		    nw_strings_add(out, line, strlen(line)) < 0)
			ret = nw_no_memory(err);
	nw_buf_free(&text);
	return ret;
}

int nw_tracefs_format(const struct nw_tracefs *fs, const char *system, const char *event,
		      struct nw_buf *out)
{
	char file[256];

	if (strchr(system, '/') || strchr(event, '/') ||
	    snprintf(file, sizeof(file), "events/%s/%s/format", system, event) >=
		    (int)sizeof(file))
		return -ENAMETOOLONG;
	return nw_tracefs_read(fs->root, file, out);
}

/* ---- stacks ------------------------------------------------------------------------- */

#define TRIGGER "events/sched/sched_switch/trigger"
/* bits of prev_state: 1 interruptible, 2 uninterruptible (include/linux/sched.h) */
#define STACKS "stacktrace if prev_state & 3"

static bool is_stack(const struct nw_event *event)
{
	return strcmp(event->system, NW_STACK_SYSTEM) == 0 &&
	       strcmp(event->name, NW_STACK_EVENT) == 0;
}

/* Go to sleep once, with the trigger set, and see whether our buffer has a stack. */
static bool sleep_once(struct nw_session *session)
{
	const struct timespec moment = {.tv_nsec = 1};
	struct nw_buf trace = {0};

	nanosleep(&moment, NULL);
	nw_tracefs_read(session->instance, "trace", &trace);
	bool has = strstr(nw_buf_str(&trace), "<stack trace>") != NULL;
	nw_buf_free(&trace);
	return has;
}

/*
 * Older kernels write them into the top-level buffer, whoever's instance the trigger is set in. That is
 * found out with a trigger that fires once, for this thread only: there, one stack of ours goes astray.
 */
static int try_stacks(struct nw_session *session)
{
	static const char enable[] = "events/sched/sched_switch/enable";
	nw_cleanup(nw_free_ptr) char *once = nw_text("stacktrace:1 if prev_pid == %d",
						     (int)syscall(SYS_gettid));
	nw_cleanup(nw_free_ptr) char *undo = once ? nw_text("!%s", once) : NULL;

	if (!session->features->has[NW_FEATURE_STACK_TRIGGER])
		return -ENOENT;
	if (session->doing.dry_run || session->top)
		return 0;
	int ret = undo ? nw_session_set(session, enable, "1") : -ENOMEM;
	if (ret == 0)
		ret = nw_session_set(session, TRIGGER, once);
	if (ret < 0)
		return ret;
	bool has = sleep_once(session);
	nw_session_set(session, TRIGGER, undo);
	nw_session_set(session, enable, "0");
	nw_session_set(session, "trace", "");
	return has ? 0 : -EOPNOTSUPP;
}

/* ---- in a session ------------------------------------------------------------------- */

static int write_enable(struct nw_session *session, const struct nw_event *event,
			const char *value)
{
	char file[2 * NW_MAX_NAME + 32];

	if (is_stack(event))
		return nw_session_set(session, TRIGGER,
				      strcmp(value, "1") == 0 ? STACKS : "!" STACKS);
	snprintf(file, sizeof(file), "events/%s/%s/enable", event->system, event->name);
	return nw_session_set(session, file, value);
}

static void give_up(struct nw_session *session, struct nw_armed_event *armed, int ret)
{
	const struct nw_event *event = armed->planned;

	armed->defined = 0;
	nw_armed_refuse(session->armed, event->places.item, "it cannot be enabled");
	if (is_stack(event)) {
		nw_strings_addf(
			&session->warnings,
			"where threads sleep is not told: this kernel does not write their stacks into an instance (feature stack_trigger): %s",
			nw_strerror(-ret));
		return;
	}
	nw_strings_addf(&session->warnings,
			"tracepoint:%s:%s is left out: it cannot be enabled: %s",
			event->system, event->name, nw_strerror(-ret));
}

/* Does the kernel let it be enabled? Some that it lists cannot be. */
static int try_event(struct nw_session *session, const struct nw_event *event)
{
	char file[2 * NW_MAX_NAME + 32];

	if (is_stack(event))
		return try_stacks(session);
	if (strchr(event->system, '/') || strchr(event->name, '/'))
		return -EINVAL;
	if (session->doing.dry_run)
		return 0;
	snprintf(file, sizeof(file), "events/%s/%s/enable", event->system, event->name);
	return nw_tracefs_has(session->instance, file) ? 0 : -ENOENT;
}

size_t nw_session_find_tracepoints(struct nw_session *session)
{
	size_t found = 0;

	nw_vec_each (&session->armed->events, event) {
		if (!*(*event)->planned->system)
			continue;
		int ret = try_event(session, (*event)->planned);
		(*event)->defined = ret == 0;
		found += ret == 0;
		if (ret < 0)
			give_up(session, *event, ret);
	}
	return found;
}

size_t nw_session_enable_tracepoints(struct nw_session *session)
{
	size_t enabled = 0;

	nw_vec_each (&session->armed->events, event) {
		if (!*(*event)->planned->system || !(*event)->defined)
			continue;
		int ret = write_enable(session, (*event)->planned, "1");
		enabled += ret == 0;
		if (ret < 0)
			give_up(session, *event, ret);
	}
	return enabled;
}

int nw_session_disable_tracepoint(struct nw_session *session, const struct nw_event *event)
{
	char name[2 * NW_MAX_NAME + 2];

	snprintf(name, sizeof(name), "%s/%s", event->system, event->name);
	for (size_t i = 0; session->options.tasks && i < nw_task_event_count; i++)
		if (strcmp(name, nw_task_events[i]) == 0)
			return 0;
	return write_enable(session, event, "0");
}
