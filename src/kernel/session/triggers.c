// SPDX-License-Identifier: MIT
/* Sets the triggers by which the kernel counts, and reads what it has counted. recovery/ takes them away (span_watch.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/recovery/kept.h"
#include "kernel/steps/gate.h"
#include "kernel/tracefs/event_list.h"

#include "session_private.h"

#define SYNTHETIC "synthetic"

const char *nw_triggers_lack(const struct nw_features *features)
{
	if (!features->has[NW_FEATURE_HIST])
		return "this kernel has no hist triggers (built without CONFIG_HIST_TRIGGERS)";
	if (!features->has[NW_FEATURE_SYNTHETIC])
		return "this kernel has no synthetic events (built without CONFIG_SYNTH_EVENTS)";
	if (!features->has[NW_FEATURE_INSTANCES] ||
	    !features->has[NW_FEATURE_INSTANCE_EVENTS] ||
	    !features->has[NW_FEATURE_CLOCK_MONO])
		return "this kernel has no ring buffers of one's own, or no trace clock mono";
	/* Without buckets, .log2 is used, which takes its values for the kernel's unsigned long. */
	if (!features->has[NW_FEATURE_HIST_BUCKETS] && !features->long64 &&
	    sizeof(long) < sizeof(uint64_t))
		return "this 32-bit kernel's hist triggers have no .buckets=size (Linux 5.14), and their powers of two end at 2^32";
	return NULL;
}

static const char *system_of(const struct nw_session *session,
			     const struct nw_hist_trigger *trigger)
{
	return trigger->synthetic ? SYNTHETIC : session->plan->group;
}

/* Writes a trigger, with something before it and behind its text. */
static int set(struct nw_session *session, const struct nw_hist_trigger *trigger,
	       const char *before, const char *behind)
{
	nw_cleanup(nw_free_ptr) char *text = nw_text("%s%s%s%s%s", before, trigger->text,
						     behind, *trigger->filter ? " if " : "",
						     trigger->filter);
	char file[512];

	nw_event_file(session->plan->group, system_of(session, trigger), trigger->event,
		      "trigger", file);
	return text ? nw_step_runner_step(&session->runner, NW_DO_APPEND, file, text, NULL)
		    : -ENOMEM;
}

static int refuse(const struct nw_hist_trigger *trigger, int ret, struct nw_error *err)
{
	nw_fail(err, -ret, "the kernel refuses to count by itself: %s (%s of %s)",
		nw_strerror(-ret), trigger->text, trigger->event);
	nw_error_hint(err, "--engine=stream reads each hit");
	return ret;
}

/* Is it the first trigger of an event of the group? */
static bool is_first(const struct nw_triggers *triggers,
		     const struct nw_hist_trigger *trigger)
{
	const struct nw_hist_trigger *before = triggers->list.item;

	for (; before < trigger; before++)
		if (!before->synthetic && strcmp(before->event, trigger->event) == 0)
			return false;
	return !trigger->synthetic;
}

/* Writes a text to a file of each event of the group that has triggers. */
static int write_each(struct nw_session *session, const char *name, const char *text,
		      struct nw_error *err)
{
	const struct nw_triggers *triggers = session->options.triggers;
	char file[512];

	nw_vec_each (&triggers->list, trigger) {
		if (!is_first(triggers, trigger))
			continue;
		nw_event_file(session->plan->group, session->plan->group, trigger->event,
			      name, file);
		int ret = nw_step_runner_step(&session->runner, NW_DO_WRITE, file, text,
					      NULL);
		if (ret == 0)
			continue;
		nw_fail(err, -ret, "the kernel refuses to count by itself: %s (%s)",
			nw_refusal_text(NW_REFUSED_ENABLING, -ret), file);
		nw_error_hint(err, "--engine=stream reads each hit");
		return ret;
	}
	return 0;
}

static int set_each(struct nw_session *session, struct nw_error *err)
{
	const struct nw_triggers *triggers = session->options.triggers;

	nw_vec_each (&triggers->list, trigger) {
		int ret = set(session, trigger, "", trigger->paused ? ":pause" : "");
		if (ret < 0)
			return refuse(trigger, ret, err);
	}
	nw_vec_each (&triggers->list, trigger) {
		int ret = trigger->paused ? set(session, trigger, "", ":cont") : 0;
		if (ret < 0)
			return refuse(trigger, ret, err);
	}
	return 0;
}

/*
 * The events are enabled before they have triggers. A first trigger would enable its event itself, in soft mode. If that fails, as
 * when SIGKILL comes meanwhile, trace_event_trigger_enable_disable() (kernel/trace/trace_events_trigger.c, seen on 6.8) does not count
 * down what it has counted up, so the event stays in soft mode for good ("0*" in `enable`). A plain enabling takes all back. Until the
 * triggers hold it, a filter that no record passes keeps hits out of the ring buffer; triggers are called in front of it.
 */
static int set_all(struct nw_session *session, struct nw_error *err)
{
	int ret = write_each(session, "filter", NW_FILTER_NOTHING, err);

	if (ret == 0)
		ret = write_each(session, "enable", "1", err);
	if (ret == 0)
		ret = set_each(session, err);
	return ret == 0 ? write_each(session, "enable", "0", err) : ret;
}

int nw_session_set_triggers(struct nw_session *session, struct nw_error *err)
{
	const struct nw_triggers *triggers = session->options.triggers;

	nw_vec_each (&triggers->synthetic, definition) {
		int ret = nw_step_runner_step(&session->runner, NW_DO_APPEND,
					      "synthetic_events", *definition, NULL);
		if (ret < 0)
			return nw_fail(err, -ret,
				       "the kernel refuses the synthetic event '%s': %s",
				       *definition, nw_strerror(-ret));
	}
	/* Events are armed, for which a gate is open only meanwhile (gate.h). */
	int ret = session->gated
			  ? nw_gate_step(&session->runner, &session->journal, NW_GATE_OPEN)
			  : 0;
	if (ret == 0)
		ret = set_all(session, err);
	else
		nw_fail(err, -ret, "the file of the session's gate cannot be resized: %s",
			nw_strerror(-ret));
	int shut = session->gated
			   ? nw_gate_step(&session->runner, &session->journal, NW_GATE_SHUT)
			   : 0;
	if (ret < 0 || shut == 0)
		return ret;
	return nw_fail(err, -shut, "the file of the session's gate cannot be resized: %s",
		       nw_strerror(-shut));
}

int nw_session_print_removal(struct nw_session *session)
{
	const struct nw_triggers *triggers = session->options.triggers;
	int ret = 0;

	for (size_t i = triggers ? triggers->list.count : 0; ret == 0 && i-- > 0;)
		ret = set(session, &triggers->list.item[i], "!", "");
	for (size_t i = triggers ? triggers->synthetic.count : 0; ret == 0 && i-- > 0;) {
		const char *name = triggers->synthetic.item[i];
		nw_cleanup(nw_free_ptr) char *undo = nw_text("!%.*s",
							     (int)strcspn(name, " "), name);
		ret = undo ? nw_step_runner_step(&session->runner, NW_DO_APPEND,
						 "synthetic_events", undo, NULL)
			   : -ENOMEM;
	}
	return ret;
}

int nw_session_read_maps(const struct nw_session *session, bool synthetic,
			 const char *event, nw_kernel_maps *out)
{
	const struct nw_hist_trigger of = {.synthetic = synthetic};
	struct nw_buf text = {0};
	char file[512];

	nw_event_file("", system_of(session, &of), event, "hist", file);
	int ret = nw_tracefs_read(session->instance, file, &text);
	if (ret == 0)
		ret = text.failed ? -ENOMEM
				  : nw_kernel_maps_parse(nw_buf_str(&text), text.len, out);
	nw_buf_free(&text);
	return ret;
}

/* ---- counts that stay --------------------------------------------------------------- */

int nw_session_keep(struct nw_session *session, const struct nw_kept *kept,
		    struct nw_error *err)
{
	struct nw_buf plan = {0}, lines = {0};

	if (session->semaphores) {
		nw_fail(err, ENOTSUP,
			"this kernel does not raise semaphores (before 4.20), for which nopwatch would have to stay");
		nw_error_hint(err, "`nopwatch stat --engine=kernel` counts while it runs");
		return -ENOTSUP;
	}
	nw_plan_save(session->armed, &plan);
	struct nw_kept whole = *kept;
	whole.began_ns = session->began_ns;
	whole.plan = (char *)(uintptr_t)nw_buf_str(&plan);
	nw_kept_lines(&whole, session->plan->selection, &lines);
	lines.failed |= plan.failed;
	int ret = nw_journal_write(session->journal.fd, &lines);
	nw_buf_free(&plan);
	nw_buf_free(&lines);
	if (ret < 0)
		return nw_fail(err, -ret, "cannot write the journal: %s",
			       nw_strerror(-ret));
	session->kept = true;
	return 0;
}

int nw_session_open_kept(const struct nw_tracefs *fs, const struct nw_features *features,
			 const struct nw_plan *plan, struct nw_session **out,
			 struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *dir = nw_text("instances/%s", plan->group);
	struct nw_session *session = calloc(1, sizeof(*session));

	if (!dir || !session) {
		free(session);
		return nw_no_memory(err);
	}
	*session = (struct nw_session){.fs = fs,
				       .features = features,
				       .plan = plan,
				       .journal = {.fd = -1},
				       .top_lock = -1,
				       .kept = true};
	session->instance = openat(fs->root, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (session->instance < 0) {
		int ret = nw_fail(err, errno, "cannot open %s/%s: %s", fs->path, dir,
				  nw_strerror(errno));
		nw_session_free(session);
		return ret;
	}
	*out = session;
	return 0;
}
