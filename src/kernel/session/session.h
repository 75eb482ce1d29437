/* SPDX-License-Identifier: MIT */
/*
 * kernel: a plan becomes armed probes in an instance of its own, and everything that a session has made is removed
 * again, also after it was killed.
 *
 * The rules that no code here may break:
 *
 *  - uprobe_events is opened for append only, one definition per write (opening it with O_TRUNC deletes the events
 *    of all programs);
 *  - what is ours is named nopwatch_SESSION, and /run/nopwatch/SESSION lists it before it exists; a session is alive
 *    as long as a process holds the lock on that file;
 *  - an event is deleted only after it has been seen disabled in every instance: deleting an enabled event of several
 *    sites frees memory that is in use (trace_uprobe.c, unregister_trace_uprobe(): siblings are not checked).
 */
#ifndef NOPWATCH_KERNEL_SESSION_SESSION_H
#define NOPWATCH_KERNEL_SESSION_SESSION_H

#include "kernel/steps/span_watch.h"
#include "kernel/tracefs/features.h"
#include "kernel/tracefs/kernel_map.h"

#include "triggers.h"

enum nw_clock {
	NW_CLOCK_MONO,	/* CLOCK_MONOTONIC */
	NW_CLOCK_BOOT,	/* CLOCK_BOOTTIME */
	NW_CLOCK_OTHER, /* nanoseconds of another kernel clock */
};

struct nw_session_options {
	uint64_t buffer_bytes; /* per CPU; 0: the default for the number of CPUs */
	/* How full a buffer wakes the reader; 0: the default */
	unsigned int buffer_percent;
	/* Use larger pages in the ring buffer if the kernel supports them: they are cheaper to read, slower to set
	 * up, and emptier if events are rare. */
	bool large_pages;
	/* A full buffer loses its oldest records, whatever the setting of the top level is */
	bool overwrite;
	/* Record only these processes and their descendants, by the kernel's numbers; none: all processes. */
	const pid_t *pids;
	size_t pid_count;
	/* Record only these threads of the processes, and no descendants; none: all threads. */
	const pid_t *tids;
	size_t tid_count;
	const struct nw_pid_space *space; /* the numbers in /proc; NULL: the kernel's */
	/* Record the scheduler's events that tell states (nw_scheduler_event()) only for threads of these processes,
	 * even if the kernel does not restrict the recording; without pids, for those of
	 * nw_session_set_target_processes(). The caller must report births and hits meanwhile. */
	bool only_their_switches;
	bool tasks; /* also record births, names and deaths of threads */
	/* The kernel counts the events by these triggers, instead of recording them; NULL: it records them. They must live as
	 * long as the session. */
	const struct nw_triggers *triggers;
	bool stays; /* nw_session_dry_run() takes nothing away */
	bool force; /* arm probes that are known to be dangerous */
};

struct nw_session;

/* Makes a name for a new session: "4711_1a2b". */
void nw_session_name(char out[24]);

/*
 * Makes the instance and defines the plan's events (except kernel events, which exist), but enables nothing. Removes
 * the remains of dead sessions first. *armed tells which events the kernel accepted; the caller frees it
 * (nw_armed_free()) after the session is closed. Places that the kernel refuses are marked there and described in
 * warnings; it is an error if all are refused.
 */
int nw_session_open(const struct nw_tracefs *fs, const struct nw_features *features,
		    const struct nw_plan *plan, const char *name,
		    const struct nw_session_options *options, struct nw_armed *armed,
		    struct nw_session **out, struct nw_error *err);
/*
 * Switches recording on. From here on births, new names and deaths of threads are recorded (options.tasks): a caller
 * that lists all threads after this, and before nw_session_arm(), misses no thread that will hit.
 */
int nw_session_record(struct nw_session *session, struct nw_error *err);
/*
 * Enables the events: from here on processes hit them. Recording and filters are set up by then, so the first hit of
 * a program that only waits for its semaphore is recorded.
 */
int nw_session_arm(struct nw_session *session, struct nw_error *err);
/* Returns when arming began, on the session's clock. No hit is earlier. */
uint64_t nw_session_began(const struct nw_session *session);
/*
 * If the kernel does not raise semaphores itself, the session does, also in processes that start later. Call
 * nw_session_serve() whenever nw_session_fd() (-1: none) is readable, and after as many milliseconds as it returns.
 */
int nw_session_fd(const struct nw_session *session);
int nw_session_serve(struct nw_session *session);
/*
 * Does the kernel record only the threads of options.pids? If not, the caller drops the other hits, and reports each
 * hit of an untraced thread (nw_session_exclude_tid()), and threads that have ended (nw_session_gone()).
 */
bool nw_session_restricts(const struct nw_session *session);
void nw_session_exclude_tid(struct nw_session *session, pid_t tid);
void nw_session_gone(struct nw_session *session, pid_t tid);
/*
 * Sets the targets of options.only_their_switches: names of programs (comm) that will hit, and, without pids,
 * processes that will hit, by the kernel's numbers. To be called between nw_session_record() and nw_session_arm().
 * Returns -ENOMEM on failure.
 */
int nw_session_set_target_processes(struct nw_session *session, const nw_pids *processes,
				    const nw_strings *comms);
/*
 * Are the scheduler's events recorded for selected threads only (options.only_their_switches)? These are threads with
 * one of some names, from nw_session_began() on, and threads in a list that grows. The caller then has to report
 * births (of traced threads; without pids, of all threads), new names, and without pids also hits. covered: the
 * thread has one of the names. For any other thread, missing events mean nothing before its first sched_wakeup, or
 * its first switch from or to the idle thread. If the result is false, *refused tells why all threads are recorded;
 * NULL: it was not requested, or the kernel restricts the recording.
 */
bool nw_session_names_threads(const struct nw_session *session, const char **refused);
void nw_session_born(struct nw_session *session, pid_t tid, pid_t parent, bool covered);
void nw_session_thread_left_filter(struct nw_session *session, pid_t tid);
void nw_session_note_tid(struct nw_session *session, pid_t tid);
/* A selected thread. The list is in the order of selection; a number may occur again. */
struct nw_named_thread {
	pid_t tid;     /* 0: all threads, because selecting was given up */
	uint64_t from; /* its events are recorded from here on, on the session's clock */
	bool by_name;  /* only while it has its name; else whatever its name becomes */
};
typedef NW_VEC(struct nw_named_thread) nw_named_threads;
const nw_named_threads *nw_session_named(const struct nw_session *session);
const nw_strings *nw_session_comms(const struct nw_session *session);
/*
 * For a caller that reads births, names and hits only now and then, and so cannot report them: sets the processes
 * that map probed files now, by the kernel's numbers, instead of earlier ones. Selects new threads. Returns -ENOMEM
 * on failure.
 */
int nw_session_update_target_processes(struct nw_session *session,
				       const nw_pids *processes);
/* Return the threads whose events are recorded at this moment, and the names of nw_session_comms() that were already
 * in use at `since`. Return -ENOMEM on failure. */
int nw_session_named_now(const struct nw_session *session, nw_named_threads *out);
int nw_session_comms_since(const struct nw_session *session, uint64_t since,
			   nw_strings *out);
/* Does the session have to raise semaphores in these images? NULL: in any image. */
bool nw_session_raises(const struct nw_session *session, const nw_images *images);
/* Raises the semaphores that a process maps by now. Returns true if it maps all semaphores of these images. */
bool nw_session_raise(struct nw_session *session, pid_t pid, const nw_images *images);
/*
 * Defines and enables the armed events from this number on, which were added to the plan since (nw_plan_grow()). All
 * earlier events go on. Events that the kernel refuses are left out with a warning; it is an error if all are
 * refused.
 */
int nw_session_grow(struct nw_session *session, size_t first, struct nw_error *err);
/* Disables one event for good, because its places do not belong to its probes any more. */
int nw_session_retire(struct nw_session *session, struct nw_armed_event *event);
/* Disables the events of one probe of the plan, which must have been planned as separate. */
int nw_session_disable(struct nw_session *session, size_t probe, struct nw_error *err);
/* Reads what the triggers of an event have counted so far (options.triggers). Returns 0 or -errno; -ENOENT: the event is
 * gone. */
int nw_session_read_maps(const struct nw_session *session, bool synthetic,
			 const char *event, nw_kernel_maps *out);
/*
 * The session needs no process from here on: its triggers count until `nopwatch remove`, and nw_session_close() leaves all as it is.
 * kept: how the maps are to be read; its plan and time are set here. Fails where nopwatch would have to raise semaphores.
 */
struct nw_kept;
int nw_session_keep(struct nw_session *session, const struct nw_kept *kept,
		    struct nw_error *err);
/* Opens the session that keeps a plan's counts, for nw_session_read_maps(). nw_session_close() changes nothing of it. */
int nw_session_open_kept(const struct nw_tracefs *fs, const struct nw_features *features,
			 const struct nw_plan *plan, struct nw_session **out,
			 struct nw_error *err);
/* Stops recording at once. The probes stay armed until nw_session_close(), which takes time; records can still be
 * read. */
int nw_session_stop(struct nw_session *session, struct nw_error *err);
/*
 * Removes everything and frees the session, in any state. Every file of the instance must be closed before. If
 * something could not be removed, returns an error whose text names it.
 */
int nw_session_close(struct nw_session *session, struct nw_error *err);

/* The arguments of nw_session_set_target_processes(). */
struct nw_session_targets {
	const nw_pids *processes;
	const nw_strings *comms;
};

/*
 * Writes what a session of this plan would do as equivalent shell commands, in which the instance is "$I". middle:
 * commands between arming and the end, a line each; restricted: only processes that these start are recorded.
 */
int nw_session_dry_run(const struct nw_tracefs *fs, const struct nw_features *features,
		       const struct nw_plan *plan, const struct nw_session_options *options,
		       const struct nw_session_targets *targets, bool restricted,
		       const nw_strings *middle, struct nw_buf *out, struct nw_error *err);

enum nw_clock nw_session_clock(const struct nw_session *session);
/* Return what nw_session_open() was given. */
const struct nw_tracefs *nw_session_tracefs(const struct nw_session *session);
const struct nw_features *nw_session_features(const struct nw_session *session);
/* Returns what lets the kernel find slow spans between two events of the session (span_watch.h). */
struct nw_span_watch nw_session_span_watch(const struct nw_session *session,
					   const char *start, const char *end);
/* Returns warnings for the user, which live as long as the session. */
const nw_strings *nw_session_warnings(const struct nw_session *session);
/* Returns the default size of a session's ring buffer per CPU in bytes. */
uint64_t nw_buffer_default(void);
/* Returns the size of the ring buffer per CPU in bytes, as the kernel made it. */
uint64_t nw_session_buffer(const struct nw_session *session);
/*
 * Returns the hits that the kernel counted for each point of the plan (uprobe_profile), recorded or not, in any
 * process. hits: an element per point of the plan. -EAGAIN: other programs changed the list of events while it was
 * read.
 */
int nw_session_profile(const struct nw_session *session, uint64_t *hits);
/* Returns how many calls of kernel functions have no return, since the kernel followed as many others at that moment. */
uint64_t nw_session_missed(const struct nw_session *session);
/* The state of an event of the plan in the session's instance, whichever program has changed it. */
enum nw_event_state {
	NW_EVENT_UNKNOWN,
	NW_EVENT_ON,
	NW_EVENT_OFF,
	NW_EVENT_GONE
};
enum nw_event_state nw_session_event_state(const struct nw_session *session,
					   const struct nw_armed_event *event);
/* Are hits of its events recorded (tracing_on)? */
bool nw_session_records(const struct nw_session *session);
/* Returns the current time of the session's trace clock, as in raw records. */
uint64_t nw_session_now(const struct nw_session *session);

/*
 * The ring buffers of the session, one per CPU: trace_pipe_raw, opened without blocking. They must be closed before
 * nw_session_close(), also after an error.
 */
struct nw_cpu_buffers {
	NW_VEC(int) fds;
	nw_vec_u32 cpus; /* the CPU of each buffer */
};
int nw_session_buffers(const struct nw_session *session, struct nw_cpu_buffers *out,
		       struct nw_error *err);
void nw_cpu_buffers_close(struct nw_cpu_buffers *buffers);
/* Adds the events that a CPU's buffer has lost, from its stats (nw_buffer_stats_lost()). Returns false if they do not
 * tell. */
bool nw_session_lost(const struct nw_session *session, uint32_t cpu, bool emptied,
		     uint64_t *lost);
/* Returns how far back a CPU's buffer reaches, in nanoseconds (nw_buffer_stats_reach()). UINT64_MAX: unknown. */
uint64_t nw_session_reach(const struct nw_session *session, uint32_t cpu);
/* Returns the texts of header_page, header_event and trace_clock, which readers of the buffers and of recordings
 * need. event, clock: NULL if they are not needed. */
int nw_session_headers(const struct nw_session *session, struct nw_buf *page,
		       struct nw_buf *event, struct nw_buf *clock, struct nw_error *err);

#endif
