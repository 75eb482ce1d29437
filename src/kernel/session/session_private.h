/* SPDX-License-Identifier: MIT */
/* The inside of a session, shared by its opening, its definitions and its end. */
#ifndef NOPWATCH_KERNEL_SESSION_SESSION_PRIVATE_H
#define NOPWATCH_KERNEL_SESSION_SESSION_PRIVATE_H

#include "kernel/steps/gate.h"
#include "kernel/steps/semaphore.h"

#include "pidfilter.h"
#include "schedfilter.h"

struct nw_image_path {
	const struct nw_image *image;
	char *path;
};

struct nw_session {
	const struct nw_tracefs *fs;
	const struct nw_features *features;
	const struct nw_plan *plan;
	struct nw_armed *armed; /* which events the kernel accepted; owned by the caller */
	struct nw_journal journal;
	struct nw_step_runner runner; /* does or prints its steps */
	char where[NW_MAX_NAME + 16]; /* "instances/nopwatch_X/"; "": the top level */
	int instance; /* directory; -1: none yet; the top level itself if `top` */
	bool top;     /* it records in the top-level buffer */
	bool kept;    /* it stays when it is closed */
	int top_lock; /* -1: none */
	struct nw_session_options options; /* except the processes */
	enum nw_clock clock;
	uint64_t buffer_bytes;
	nw_strings warnings;
	struct nw_semaphores *semaphores; /* NULL: none, or the kernel raises them */
	struct nw_pid_filter filter;
	struct nw_sched_filter sched;
	bool births;			    /* births of threads are recorded */
	NW_VEC(struct nw_image_path) paths; /* the path of each image for the kernel */
	/* The last event that got a gate; NULL: none. */
	const struct nw_armed_event *gated;
	/* -errno: memory or descriptors ran out, which does not mean that a place is refused */
	int failed;
	int refused;	   /* first errno with which the kernel refused a place; 0: none */
	uint64_t began_ns; /* time at which arming began, on its clock */
	uint32_t defined;  /* number of events so far */
};

/* Returns the kernel's list that an event's definitions belong to. */
const char *nw_session_list(const struct nw_session *session, const struct nw_event *event);
/* Does the kernel's grammar allow the path, and does it lead to the image? */
bool nw_path_will_do(const struct nw_features *features, const char *path,
		     const struct nw_image *image);
/* Returns a path for a shell to an image whose path the grammar does not allow (dry_run.c). */
char *nw_session_dry_run_path(struct nw_session *session, const char *path);
/* Writes a file of the session's instance; the top level's former contents are noted before. */
int nw_session_set(struct nw_session *session, const char *file, const char *value);
/* Changes a file of the session's instance without an undo: the change goes with the instance, or was noted when the
 * file was first set. */
int nw_session_do(const struct nw_session *session, enum nw_action_kind kind,
		  const char *file, const char *text);
/* Does the steps before arming: instance, size of its buffer, definitions, filters. */
int nw_session_prepare(struct nw_session *session, const struct nw_session_options *options,
		       struct nw_error *err);
void nw_session_free(struct nw_session *session);
/* Defines every event of the plan; refused places are marked, with a warning. */
int nw_session_define(struct nw_session *session, struct nw_error *err);
/* Enables the group. A refused event is split until only the refused places are left out. */
int nw_session_enable(struct nw_session *session, struct nw_error *err);
/* Sets options.triggers, which arm the events. */
int nw_session_set_triggers(struct nw_session *session, struct nw_error *err);
/*
 * Arguments that are read at the return, of the points from number `first` of the plan on (carried.c): defines the synthetic
 * events, which has to come before the events behind them; sets filters and triggers, once the events are enabled.
 */
int nw_session_carry_define(struct nw_session *session, size_t first, struct nw_error *err);
int nw_session_carry_begin(struct nw_session *session, size_t first, struct nw_error *err);
/* Print, in a dry run, how the triggers are removed, and, once all is disabled, what they were for. Return 0 or -errno. */
int nw_session_carry_print_end(struct nw_session *session);
int nw_session_carry_print_removal(struct nw_session *session);
/* Prints, in a dry run, the steps that take the triggers away. Returns 0 or -errno. */
int nw_session_print_removal(struct nw_session *session);
/* Finds the kernel's numbers of the enabled events from this one on. */
void nw_session_find_ids(struct nw_session *session, size_t first);
/* Raises the semaphores of all armed points, unless the kernel does it. */
int nw_session_raise_semaphores(struct nw_session *session, struct nw_error *err);

/* Find the plan's kernel events that can be enabled; enable them. Both return their number; other events are marked,
 * with a warning. */
size_t nw_session_find_tracepoints(struct nw_session *session);
size_t nw_session_enable_tracepoints(struct nw_session *session);
/* Disables a kernel event, unless the session itself needs it. */
int nw_session_disable_tracepoint(struct nw_session *session, const struct nw_event *event);
/* Returns the current trigger that writes the stacks of threads that go to sleep. NULL: no memory. */
#define NW_TRIGGER_FILE "events/sched/sched_switch/trigger"
char *nw_session_stack_trigger(struct nw_session *session);

#endif
