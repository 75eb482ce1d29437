/* SPDX-License-Identifier: MIT */
/* The inside of a session: shared by its opening, its definitions and its end. */
#ifndef NOPWATCH_KERNEL_SESSION_SESSION_H
#define NOPWATCH_KERNEL_SESSION_SESSION_H

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
	struct nw_armed *armed; /* what became of it; the caller's */
	struct nw_journal journal;
	struct nw_step_runner runner; /* how its steps are done, or told */
	char where[NW_MAX_NAME + 16]; /* "instances/nopwatch_X/"; "": the top level */
	int instance; /* directory, -1: none yet; the top level itself if `top` */
	bool top;     /* it records in the top-level buffer */
	int top_lock; /* -1: none */
	struct nw_session_options options; /* but for the processes */
	enum nw_clock clock;
	uint64_t buffer_bytes;
	nw_strings warnings;
	struct nw_semaphores *semaphores; /* NULL: none, or the kernel raises them */
	struct nw_pid_filter filter;
	struct nw_sched_filter sched;
	bool births;			    /* of threads are recorded */
	NW_VEC(struct nw_image_path) paths; /* how the kernel is told where each image is */
	const struct nw_armed_event
		*gated; /* the last that got a gate; NULL: none has one */
	int failed; /* -errno: memory or descriptors ran out, which is no reason to leave out a place */
	int refused; /* why the kernel would not arm a place, the first errno; 0: it did */
	uint64_t began_ns; /* on its clock: arming began */
	uint32_t defined;  /* events so far */
};

/* Can this kernel's grammar carry the path, and does it lead to the image? */
bool nw_path_will_do(const struct nw_features *features, const char *path,
		     const struct nw_image *image);
/* How a shell can be told of an image whose path the grammar cannot carry (dry_run.c). */
char *nw_session_dry_run_path(struct nw_session *session, const struct nw_image *image,
			      const char *path);
/* Write a file of the session's instance; what the top level had there is noted before. */
int nw_session_set(struct nw_session *session, const char *file, const char *value);
/* Do something to a file of the session's instance that nothing has to undo: it goes with the
 * instance, or was noted when it was first set. */
int nw_session_do(const struct nw_session *session, enum nw_action_kind kind,
		  const char *file, const char *text);
/* The way there: instance, size of its buffer, definitions, filters. */
int nw_session_prepare(struct nw_session *session, const struct nw_session_options *options,
		       struct nw_error *err);
void nw_session_free(struct nw_session *session);
/* Define every event of the plan; places that are refused are marked and warned about. */
int nw_session_define(struct nw_session *session, struct nw_error *err);
/* Enable the group; what the kernel refuses is split until only the culprits are left out. */
int nw_session_enable(struct nw_session *session, struct nw_error *err);
/* Find the kernel's numbers of the events from this one on, once they are enabled. */
void nw_session_find_ids(struct nw_session *session, size_t first);
/* Where the kernel does not raise semaphores, raise those of all points that are armed by now. */
int nw_session_raise_semaphores(struct nw_session *session, struct nw_error *err);

/* Of the plan's events that the kernel has anyway: find those that can be enabled; enable them.
 * Both return how many; what cannot be had is marked and warned about. */
size_t nw_session_find_tracepoints(struct nw_session *session);
size_t nw_session_enable_tracepoints(struct nw_session *session);
/* Disable one of them, unless the session needs it itself. */
int nw_session_disable_tracepoint(struct nw_session *session, const struct nw_event *event);
/* The trigger that writes the stacks of who goes to sleep, as it is to be now. NULL: no memory. */
#define NW_TRIGGER_FILE "events/sched/sched_switch/trigger"
char *nw_session_stack_trigger(struct nw_session *session);

#endif
