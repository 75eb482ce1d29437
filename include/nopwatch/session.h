/* SPDX-License-Identifier: MIT */
/*
 * kernel: a plan becomes armed probes in an instance of its own, and every trace of it goes
 * away again, also that of a session that was killed.
 *
 * The rules that nothing here may break:
 *  - uprobe_events is opened for append only, one definition a write (opening it with O_TRUNC
 *    deletes everybody's events);
 *  - what is ours is named nopwatch_SESSION, and /run/nopwatch/SESSION says so before it
 *    exists; a session is alive as long as somebody holds the lock on that file;
 *  - an event is deleted only after it has been seen disabled in every instance: deleting an
 *    enabled event of several sites frees memory that is in use (trace_uprobe.c, unregister_trace_uprobe(): siblings are not asked whether
 *    they are busy).
 */
#ifndef NOPWATCH_SESSION_H
#define NOPWATCH_SESSION_H

#include "nopwatch/features.h"

enum nw_clock {
	NW_CLOCK_MONO,	/* CLOCK_MONOTONIC */
	NW_CLOCK_BOOT,	/* CLOCK_BOOTTIME */
	NW_CLOCK_OTHER, /* nanoseconds of the kernel's own */
};

struct nw_session_options {
	uint64_t buffer_bytes;	     /* per CPU; 0: a default for the number of CPUs */
	unsigned int buffer_percent; /* how full a buffer wakes the reader; 0: a default */
	/* Larger pages in the ring buffer, where the kernel has them: cheaper to read, slower to
	 * begin with, and emptier where events are few. */
	bool large_pages;
	bool overwrite; /* a full buffer loses its oldest records, whatever the top level's does */
	/* Record only these processes and what they create, by the kernel's numbers; none: all. */
	const pid_t *pids;
	size_t pid_count;
	const struct nw_pid_space *space; /* whose numbers /proc has; NULL: the kernel's */
	/* Of the scheduler's events that tell of states (nw_scheduler_event()), record only those of these processes'
	 * threads also where the kernel does not restrict the recording; without pids, those of nw_session_users(). Births have
	 * to be read meanwhile, and hits. */
	bool only_their_switches;
	bool tasks; /* also record births, names and deaths of threads */
	bool force; /* arm what is known to be dangerous */
};

struct nw_session;

/* A name for a new session: "4711_1a2b". */
void nw_session_name(char out[24]);

/*
 * Make the instance and define the plan's events (but those that the kernel has anyway),
 * nothing enabled. Removes the leftovers of
 * dead sessions first. What becomes of the plan is in *armed, which is the caller's to free
 * (nw_armed_free()) after the session has been closed: places that the kernel refuses are marked there
 * and described in warnings; all refused is an error.
 */
int nw_session_open(const struct nw_tracefs *fs, const struct nw_features *features,
		    const struct nw_plan *plan, const char *name,
		    const struct nw_session_options *options, struct nw_armed *armed,
		    struct nw_session **out, struct nw_error *err);
/*
 * Switch recording on. What is recorded from here on are births, new names and deaths of threads (options.tasks): who
 * looks up which threads there are after this, and before nw_session_arm(), has met everybody who will hit.
 */
int nw_session_record(struct nw_session *session, struct nw_error *err);
/*
 * Enable: from here on processes are hit. What records and filters does so already, so the first hit of a
 * program that only waits for its semaphore is recorded.
 */
int nw_session_arm(struct nw_session *session, struct nw_error *err);
/* On the session's clock: when arming began. No hit is earlier. */
uint64_t nw_session_began(const struct nw_session *session);
/*
 * Where the kernel does not raise semaphores itself, the session does, also in processes that
 * start later: call nw_session_serve() whenever nw_session_fd() (-1: none) is readable, and after
 * as many milliseconds as it returns.
 */
int nw_session_fd(const struct nw_session *session);
int nw_session_serve(struct nw_session *session);
/*
 * Does the kernel record only the threads of options.pids? If not, the caller sorts the hits, and
 * tells of threads that are not wanted, hit by hit, and of threads that have ended.
 */
bool nw_session_restricts(const struct nw_session *session);
void nw_session_stranger(struct nw_session *session, pid_t tid);
void nw_session_gone(struct nw_session *session, pid_t tid);
/*
 * options.only_their_switches: how programs are called (comm) that will hit, and, without pids, processes that will, by the kernel's
 * numbers. Between nw_session_record() and nw_session_arm(). -ENOMEM
 */
int nw_session_users(struct nw_session *session, const nw_pids *processes,
		     const nw_strings *comms);
/*
 * Are the scheduler's events recorded of the wanted threads only (options.only_their_switches)? They are those of threads with
 * one of some names, from nw_session_began() on, and of those in a list that grows. Then tell of births (of wanted
 * threads; without pids, of all), of new names, and without pids of hits: covered is who has one of the names.
 * Of everybody else nothing may be concluded from what is missing before the first sched_wakeup of it, or switch from or to
 * the idle thread. If not, *refused is
 * why everybody's are recorded; NULL: that was not asked for, or the kernel restricts the recording.
 */
bool nw_session_names_threads(const struct nw_session *session, const char **refused);
void nw_session_born(struct nw_session *session, pid_t tid, pid_t parent, bool covered);
void nw_session_uncovered(struct nw_session *session, pid_t tid);
void nw_session_hit_by(struct nw_session *session, pid_t tid);
/* Who was named, in that order; a number may come again. */
struct nw_named_thread {
	pid_t tid;     /* 0: everybody, since naming was given up */
	uint64_t from; /* its events are recorded from here on, by the session's clock */
	bool by_name;  /* as long as it is called so; else whatever becomes of it */
};
typedef NW_VEC(struct nw_named_thread) nw_named_threads;
const nw_named_threads *nw_session_named(const struct nw_session *session);
const nw_strings *nw_session_comms(const struct nw_session *session);
/*
 * For who reads births, names and hits only now and then, and so cannot tell of them: the processes that map what is probed
 * by now, by the kernel's numbers, in the place of those that were told of before. New ones are named. -ENOMEM
 */
int nw_session_users_now(struct nw_session *session, const nw_pids *processes);
/* Whose events are recorded at this moment: threads, and out of nw_session_comms() the names that were used at `since` already. -ENOMEM */
int nw_session_named_now(const struct nw_session *session, nw_named_threads *out);
int nw_session_comms_since(const struct nw_session *session, uint64_t since,
			   nw_strings *out);
/* Does the session have to raise semaphores in these images? NULL: in any. */
bool nw_session_raises(const struct nw_session *session, const nw_images *images);
/* Raise those that a process maps by now. true: it has all that are in these images. */
bool nw_session_raise(struct nw_session *session, pid_t pid, const nw_images *images);
/*
 * Define and enable the armed events from this number on, which the plan has got since (nw_plan_grow()). The others go on.
 * What the kernel refuses is left out and warned about; all refused is an error.
 */
int nw_session_grow(struct nw_session *session, size_t first, struct nw_error *err);
/* Disable one event for good: its places are not those of its probes any more. */
int nw_session_retire(struct nw_session *session, struct nw_armed_event *event);
/* Disable the events of one probe of the plan, which must have been planned as separate. */
int nw_session_disable(struct nw_session *session, size_t probe, struct nw_error *err);
/*
 * The kernel itself looks out for spans that take at least so long, of an armed session: from the one event to the
 * next hit of the other by the same thread, where a later start replaces an earlier one. These two events are not
 * recorded any more; in their place there is a record for each such span, of a synthetic event (the system is
 * "synthetic") with the fields common_pid (s32, the thread by the kernel's number), took and at (u64: how long, and when it
 * ended, by the session's clock). It takes hist triggers and synthetic events (histogram.rst), and is 0, or -errno with everything as it was before.
 */
struct nw_span_watch {
	const char *event;	 /* name of the synthetic one; the session's, as */
	const char *start, *end; /* those of the others */
};
int nw_span_watch_begin(const struct nw_session *session,
			const struct nw_armed_event *start,
			const struct nw_armed_event *end, uint64_t least_ns,
			struct nw_span_watch *out);
/* How many ends there were, and how many hits it has not looked at, since a trigger has room for so many threads
 * only. -errno: somebody has taken it away. */
int nw_span_watch_check(const struct nw_session *session, const struct nw_span_watch *watch,
			uint64_t *ends, uint64_t *dropped);
/* The two events are recorded again, and nothing else is left. The session's end does not need it. */
void nw_span_watch_end(const struct nw_session *session, struct nw_span_watch *watch);
/* Stop recording, at once. The probes stay armed until nw_session_close(), which is what takes
 * time; what was recorded can still be read. */
int nw_session_stop(struct nw_session *session, struct nw_error *err);
/*
 * Take everything away and free the session, whatever state it is in. Close every file of the
 * instance before. Returns an error when something had to stay; the text names it.
 */
int nw_session_close(struct nw_session *session, struct nw_error *err);

/*
 * What a session of this plan would do, as shell commands that do the same; the instance is "$I"
 * to them. middle: commands between arming and the end, each a line; restricted: only what these
 * start is recorded.
 */
int nw_session_dry_run(const struct nw_tracefs *fs, const struct nw_features *features,
		       const struct nw_plan *plan, const struct nw_session_options *options,
		       bool restricted, const nw_strings *middle, struct nw_buf *out,
		       struct nw_error *err);

enum nw_clock nw_session_clock(const struct nw_session *session);
/* What went wrong without being fatal, for the user; lives as long as the session. */
const nw_strings *nw_session_warnings(const struct nw_session *session);
/* Bytes a CPU that a session's ring buffer has by itself. */
uint64_t nw_buffer_default(void);
/* Bytes of ring buffer per CPU as the kernel gave them. */
uint64_t nw_session_buffer(const struct nw_session *session);
/*
 * Hits that the kernel counted for each point of the plan (uprobe_profile), recorded or not,
 * in whatever process. hits: as many as plan->points. -EAGAIN: others changed the list of
 * events while it was read.
 */
int nw_session_profile(const struct nw_session *session, uint64_t *hits);
/* What an event of the plan is in the session's instance, whoever made it so. */
enum nw_event_state {
	NW_EVENT_UNKNOWN,
	NW_EVENT_ON,
	NW_EVENT_OFF,
	NW_EVENT_GONE
};
enum nw_event_state nw_session_event_state(const struct nw_session *session,
					   const struct nw_armed_event *event);
/* Is what its events hit recorded (tracing_on)? */
bool nw_session_records(const struct nw_session *session);
/* Now, on the session's trace clock, as raw records show it. */
uint64_t nw_session_now(const struct nw_session *session);

/*
 * The ring buffers of the session, one a CPU: trace_pipe_raw, opened without blocking. They have to be closed before
 * nw_session_close(), also after an error.
 */
struct nw_cpu_buffers {
	NW_VEC(int) fds;
	nw_vec_u32 cpus; /* which CPU each is of */
};
int nw_session_buffers(const struct nw_session *session, struct nw_cpu_buffers *out,
		       struct nw_error *err);
void nw_cpu_buffers_close(struct nw_cpu_buffers *buffers);
/* Add what the kernel says that a CPU's buffer has lost, by its stats (nw_buffer_stats_lost()). false: it does not say. */
bool nw_session_lost(const struct nw_session *session, uint32_t cpu, bool emptied,
		     uint64_t *lost);
/* How far back a CPU's buffer reaches, in nanoseconds (nw_buffer_stats_reach()). UINT64_MAX: that is not known. */
uint64_t nw_session_reach(const struct nw_session *session, uint32_t cpu);
/* What readers of the buffers, and of recordings, need: the texts of header_page, header_event and trace_clock. event, clock:
 * NULL if they are not needed. */
int nw_session_headers(const struct nw_session *session, struct nw_buf *page,
		       struct nw_buf *event, struct nw_buf *clock, struct nw_error *err);

#endif
