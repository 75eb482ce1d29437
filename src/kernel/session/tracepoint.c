// SPDX-License-Identifier: MIT
/*
 * Kernel events (tracepoints). They are enabled in our own instance and go with it; nothing is defined or deleted for
 * them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernel/steps/topbuffer.h"

#include "session_private.h"

int nw_tracefs_events(const struct nw_tracefs *fs, nw_strings *out, struct nw_error *err)
{
	struct nw_buf text = {0};
	int ret = nw_tracefs_read(fs->root, "available_events", &text);
	char *rest = text.data, *line;

	if (ret < 0)
		nw_fail(err, -ret, "cannot read %s/available_events: %s", fs->path,
			nw_strerror(-ret));
	while (ret == 0 && (line = strsep(&rest, "\n")))
		/* Events of nopwatch sessions may go away at any moment. */
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

#define ENABLE "events/sched/sched_switch/enable"

/* bits of prev_state: 1 interruptible, 2 uninterruptible (include/linux/sched.h) */
static const char goes_to_sleep[] = "prev_state & 3";
static const char shifted_goes_to_sleep[] = "prev_state & 6";

static bool is_event(const struct nw_event *event, const char *system, const char *name)
{
	return strcmp(event->system, system) == 0 && strcmp(event->name, name) == 0;
}

static bool is_stack(const struct nw_event *event)
{
	return is_event(event, NW_STACK_SYSTEM, NW_STACK_EVENT);
}

/* ---- a trial: we go to sleep -------------------------------------------------------- */

enum {
	OFTEN = 10
};

/* Sleeps once for a moment, or several times for longer, so that a thread that is slow to fall asleep does, and is
 * recorded. */
static void go_to_sleep(int times)
{
	const struct timespec moment = {.tv_nsec = times > 1 ? 1000000 : 1};

	for (int i = 0; i < times; i++)
		nanosleep(&moment, NULL);
}

/* Counts the lines in which the thread leaves a CPU with this state: "prev_pid=17 prev_prio=120 prev_state=S ==>
 * ...". */
static unsigned int count_states(const char *trace, pid_t tid, char state)
{
	static const char name[] = " prev_state=";
	unsigned int count = 0;
	char mark[48];

	snprintf(mark, sizeof(mark), " prev_pid=%d prev_prio=", (int)tid);
	for (const char *at = trace; (at = strstr(at, mark)); at++) {
		const char *found = strstr(at, name);
		count += found && found < strchrnul(at, '\n') &&
			 found[strlen(name)] == state;
	}
	return count;
}

/*
 * Linux 4.15 to 4.19 record 1 << index, while other kernels record the state's mask, 1 << (index - 1), so their text
 * says D for a thread that sleeps as we do (__trace_sched_switch_state() of include/trace/events/sched.h). D may also
 * come from a lock that we have waited for, more than once if other programs use tracefs, and S from a thread that
 * yields its CPU: so the more frequent state decides.
 */
static bool is_shifted(const char *trace, pid_t tid)
{
	unsigned int disk = count_states(trace, tid, 'D');

	return disk > 1 && disk > count_states(trace, tid, 'S');
}

/* If README documents immediate values (Linux 5.4 and later), the kernel is correct. */
static bool may_be_shifted(const struct nw_features *features)
{
	return !features->masked[NW_FEATURE_SWITCH_STATE] &&
	       !features->has[NW_FEATURE_IMMEDIATE];
}

/* Sleeps while sched_switch is recorded, with a trigger unless it is NULL. *out: the contents of our buffer. */
static int record_sleep(struct nw_session *session, const char *trigger, int times,
			struct nw_buf *out)
{
	nw_cleanup(nw_free_ptr) char *undo = trigger ? nw_text("!%s", trigger) : NULL;

	if (trigger && !undo)
		return -ENOMEM;
	int ret = nw_session_set(session, ENABLE, "1");
	if (ret < 0)
		return ret;
	if (trigger)
		ret = nw_session_set(session, NW_TRIGGER_FILE, trigger);
	if (session->top) /* it does not record yet */
		nw_session_set(session, "tracing_on", "1");
	go_to_sleep(times);
	if (session->top)
		nw_session_set(session, "tracing_on", "0");
	/* Must precede reading: if events come faster than they are read, reading would not end. */
	nw_session_set(session, ENABLE, "0");
	nw_buf_clear(out);
	nw_tracefs_read(session->instance, "trace", out);
	if (trigger && ret == 0)
		nw_session_set(session, NW_TRIGGER_FILE, undo);
	if (session->top)
		nw_top_clear(session->fs);
	else
		nw_session_set(session, "trace", "");
	return ret;
}

/* Finds this thread's number in records. Returns false if it is unknown; *out is that of another namespace then. */
static bool own_number(const struct nw_session *session, pid_t *out)
{
	const struct nw_pid_space *space = session->options.space;

	*out = (pid_t)syscall(SYS_gettid);
	return !space || !space->foreign ||
	       (*out == getpid() && nw_pid_space_kernel(space, *out, out, NULL) == 0);
}

/*
 * Older kernels write stacks into the top-level buffer, whatever instance the trigger is set in. A trigger that fires
 * once, for this thread only, detects this; on such a kernel its stack goes to the top-level buffer, and is removed
 * if no program uses that buffer. On a busy machine the moment may have passed before we are asleep, and then no
 * switch is recorded: so a second attempt sleeps longer.
 */
static int try_stack(struct nw_session *session, pid_t tid, struct nw_buf *trace)
{
	static const int times[] = {1, OFTEN};
	char trigger[64];

	snprintf(trigger, sizeof(trigger), "stacktrace:1 if prev_pid == %d", (int)tid);
	for (size_t i = 0; i < NW_COUNT(times); i++) {
		int ret = record_sleep(session, trigger, times[i], trace);
		if (ret < 0)
			return ret;
		if (strstr(nw_buf_str(trace), "<stack trace>"))
			return 0;
	}
	return -EOPNOTSUPP;
}

static int try_sleep(struct nw_session *session, bool stacks)
{
	pid_t tid;
	int lock = -1, ret = 0;
	struct nw_error ignored;
	bool known = own_number(session, &tid);
	struct nw_buf trace = {0};

	/* without the trigger, because setting one waits in state D, too */
	if (may_be_shifted(session->features)) {
		ret = record_sleep(session, NULL, OFTEN, &trace);
		session->armed->shifted_states |= known &&
						  is_shifted(nw_buf_str(&trace), tid);
	}
	if (stacks) {
		/* A buffer that no program uses is left empty, as it was. */
		bool ours = !session->top &&
			    nw_top_take(session->fs, false, &lock, &ignored) == 0;
		ret = try_stack(session, tid, &trace);
		if (ours) {
			nw_top_clear(session->fs);
			close(lock);
		}
	}
	nw_buf_free(&trace);
	return ret;
}

/* Can stacks be recorded, as far as that is known without a trial? */
static int find_stacks(const struct nw_session *session)
{
	if (!session->features->has[NW_FEATURE_STACK_TRIGGER])
		return -ENOENT;
	/* A trigger is removed by another text than the file shows, so a former trigger could not be restored. */
	return session->top ? -EOPNOTSUPP : 0;
}

/* Finds out how sched_switch records states, if it is needed, and whether stacks can be recorded. Returns 0 or
 * -errno. */
static int try_scheduler(struct nw_session *session)
{
	const struct nw_features *features = session->features;
	bool switches = false, stacks = false;

	nw_vec_each (&session->armed->events, event) {
		switches |= is_event((*event)->planned, "sched", "sched_switch");
		stacks |= is_stack((*event)->planned);
	}
	int ret = stacks ? find_stacks(session) : -ENOENT;
	session->armed->shifted_states = switches &&
					 features->masked[NW_FEATURE_SWITCH_STATE];
	if (!session->runner.dry_run &&
	    (ret == 0 || (switches && may_be_shifted(features)))) {
		int tried = try_sleep(session, ret == 0);
		ret = ret < 0 ? ret : tried;
	}
	return ret;
}

/* ---- in a session ------------------------------------------------------------------- */

char *nw_session_stack_trigger(struct nw_session *session)
{
	return nw_sched_filter_trigger(&session->sched, session->armed->shifted_states
								? shifted_goes_to_sleep
								: goes_to_sleep);
}

static int write_enable(struct nw_session *session, const struct nw_event *event,
			const char *value)
{
	char file[2 * NW_MAX_NAME + 32];

	if (is_stack(event)) {
		bool on = strcmp(value, "1") == 0;
		nw_cleanup(nw_free_ptr) char *text = on ? nw_session_stack_trigger(session)
							: nw_text("!stacktrace");
		int ret = text ? nw_session_set(session, NW_TRIGGER_FILE, text) : -ENOMEM;
		session->sched.stacks = on && ret == 0;
		return ret;
	}
	snprintf(file, sizeof(file), "events/%s/%s/enable", event->system, event->name);
	return nw_session_set(session, file, value);
}

static void give_up(struct nw_session *session, struct nw_armed_event *armed, int ret)
{
	const struct nw_event *event = armed->planned;

	armed->defined = 0;
	nw_armed_refuse(session->armed, event->places.item, "it cannot be enabled");
	if (is_stack(event)) {
		nw_strings_tell(
			&session->warnings,
			"where threads sleep is not told: this kernel does not write their stacks into an instance (feature stack_trigger): %s",
			nw_strerror(-ret));
		return;
	}
	nw_strings_tell(&session->warnings,
			"tracepoint:%s:%s is left out: it cannot be enabled: %s",
			event->system, event->name, nw_strerror(-ret));
}

/* Can the event be enabled? The kernel lists some that cannot. */
static int try_event(struct nw_session *session, const struct nw_event *event)
{
	char file[2 * NW_MAX_NAME + 32];

	if (strchr(event->system, '/') || strchr(event->name, '/'))
		return -EINVAL;
	if (session->runner.dry_run)
		return 0;
	snprintf(file, sizeof(file), "events/%s/%s/enable", event->system, event->name);
	return nw_tracefs_has(session->instance, file) ? 0 : -ENOENT;
}

size_t nw_session_find_tracepoints(struct nw_session *session)
{
	int stacks = try_scheduler(session);
	size_t found = 0;

	nw_vec_each (&session->armed->events, event) {
		if (!*(*event)->planned->system)
			continue;
		int ret = is_stack((*event)->planned)
				  ? stacks
				  : try_event(session, (*event)->planned);
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
