/* SPDX-License-Identifier: MIT */
/* The inside of a run, shared by its sources (sources/), its guards (limits/) and the delivery of hits. */
#ifndef NOPWATCH_RUN_RUN_H
#define NOPWATCH_RUN_RUN_H

#include "run/engine.h"
#include "wake.h"

struct nw_rate_limit;
struct nw_external_changes;
struct nw_replaced;

/*
 * The source of a run's records. The functions are called in this order. After one that fails, only close() is
 * called.
 */
struct nw_run_source {
	/* Time passes while it is read: the consumer's tick() is called now and then */
	bool ticks;
	/* live: the running kernel; recorded: a recording; neither: text */
	bool live, recorded;
	/* Finds the probes and how they are fetched: the selection and the plan of run->result. */
	int (*open)(struct nw_run *run, struct nw_error *err);
	/* Arms the probes, or does whatever else makes records come, once the consumer knows the probes.
	 * nw_run_begin() is called when the first record may come. */
	int (*begin)(struct nw_run *run, struct nw_error *err);
	/* Waits for records. Returns 1: there may be some; 0: the run is over, and result->reason tells why. */
	int (*fill)(struct nw_run *run, struct nw_error *err);
	/* Returns 1 with the next record in time order; 0: none for now; -errno. NULL: run->delivery.stream has the
	 * records, as for all sources that are read in pages. */
	int (*next)(struct nw_run *run, struct nw_record *record, struct nw_error *err);
	/* Called after all records that had come were handed out: checks whether the time is over or something is
	 * wrong. NULL: nothing can go wrong. */
	int (*check)(struct nw_run *run, struct nw_error *err);
	/* Stops the source; records that it still has are handed out afterwards. */
	int (*stop)(struct nw_run *run, struct nw_error *err);
	/* Reads the maps of an event by which the kernel has counted, as nw_session_read_maps() does; NULL: those of the session. */
	int (*maps)(const struct nw_run *run, bool synthetic, const char *event,
		    nw_kernel_maps *out);
	/* Completes the result. */
	int (*finish)(struct nw_run *run, struct nw_error *err);
	/* Closes everything that is open, in any state. */
	void (*close)(struct nw_run *run);
};

/* If births are not read all the time: the last search for processes that map probed files. */
struct nw_process_rescan {
	uint64_t next; /* earliest time of the next search */
	uint64_t born; /* highest process number at the last search; 0: unknown */
	bool again;    /* a process was born shortly before */
};

/* The kernel's part of a live run: the session, the target processes, and the guards of both. Owned by the live
 * source. */
struct nw_run_live {
	char *command; /* the executable of request->command */
	struct nw_child child;
	struct nw_wake wake; /* also used for text that is read as it comes */
	struct nw_pid_space space;
	int own_cgroups; /* nw_cgroup_leave_host() takes it */
	struct nw_tracefs fs;
	struct nw_features features;
	struct nw_session *session;
	struct nw_cpu_buffers buffers;
	struct nw_process_rescan rescan;
	struct nw_external_changes *watch; /* reports external changes of its events */
	struct nw_replaced *replaced;	   /* probed files that are watched; NULL: none */
	struct nw_rate_limit *rate_limit;  /* NULL: no max_rate was requested */
	/* By point: hits that the kernel had counted when recording began. */
	uint64_t *profile;
	uint64_t *counted; /* the same at the end */
	/* By these the kernel counts, and the consumer owns them; NULL: it records. */
	const struct nw_triggers *triggers;
	uint64_t uncounted; /* hits that the kernel's maps lack */
};

/* The way of hits from records to the consumer, the same for all sources (deliver.c). */
struct nw_delivery {
	struct nw_formats formats;
	struct nw_stream *stream; /* NULL: the source is text */
	struct nw_join *join;
	struct nw_filter *filter;   /* NULL: none */
	struct nw_members *members; /* of JSON arguments; NULL: none */
	struct nw_tasks *tasks;
	struct nw_stacks *stacks; /* the result's; NULL: not needed */
	/* NULL: not needed, or the source is not live */
	struct nw_kernel_texts *kernel_texts;
	/* The record being handed out, for kernel_texts; or NULL */
	const struct nw_record *record;
	/* Hits passed to the consumer, by probe; see nw_run_probe_hits() */
	uint64_t *probe_hits;
	/* Hits dropped by the filter, by probe; NULL: no filter. */
	uint64_t *probe_filtered;
	uint64_t records;  /* first parts of hits, before all filters of ours */
	uint64_t returned; /* hits of return probes, before all filters of ours */
	bool *is_return;   /* by probe; NULL: none is a return probe */
	size_t told;	   /* how many of result->named the consumer knows */
	bool hides; /* calls that close descriptors are recorded (descriptor_calls.c) */
	bool needs_tasks;      /* each hit's thread is looked up */
	bool goroutines;       /* hits may be of goroutines */
	bool enough;	       /* the consumer wants no more hits */
	bool had_loss, at_end; /* had_loss: records were lost; at_end: no more will come */
};

/* A run: its request, its consumer, and its result so far. */
struct nw_run {
	const struct nw_request *request;
	struct nw_consumer consumer;
	struct nw_run_result *result;
	const struct nw_run_source *source;
	const struct nw_kept *kept; /* what nw_run_kept() returns: the source's */
	void *source_state;	    /* of a recording or text */
	const char *bytes;	    /* the recording or text in memory */
	size_t len;
	/* Owns `bytes` if they came through a pipe; NULL: the caller owns them */
	char *spooled;
	struct nw_run_live live;
	struct nw_delivery delivery;
	bool begun;
	bool inner;   /* another run steps it: it never waits, and gets no signals */
	bool stopped; /* a signal has ended the run before all records had come */
	/* The consumer has stopped the run while the last records were handed out */
	bool had_enough;
};

/* Opens the wake, which also waits for the events of the request. */
int nw_run_open_wake(struct nw_run *run, struct nw_error *err);
/* Shows a notice to the user. */
void nw_run_notice(const struct nw_run *run, const char *fmt, ...) nw_format(2, 3);
void nw_request_notice(const struct nw_request *request, const char *fmt, ...)
	nw_format(2, 3);
/* Tells the consumer that the first record may come, with its time. Has an effect only once. */
int nw_run_begin(struct nw_run *run, uint64_t start, struct nw_error *err);

/*
 * The parts of nw_run(), also for a run inside another one. The caller may drop probes of the result's selection
 * between nw_run_open() and nw_run_arm(). nw_run_step() follows until it does not return 1 or no more is wanted, then
 * nw_run_end(), which may still hand out hits. nw_run_close() comes last, also after an error.
 */

/* Chooses the source and finds the probes. inner: another run steps this one; then CMD belongs to that run. */
int nw_run_open(struct nw_run *run, bool inner, const struct nw_request *request,
		const struct nw_consumer *consumer, struct nw_run_result *result,
		struct nw_error *err);
/* Tells the consumer which probes were found, and refuses what it and the filter cannot do with them. */
int nw_run_check(struct nw_run *run, struct nw_error *err);
/* nw_run_check(), and arms the probes. */
int nw_run_arm(struct nw_run *run, struct nw_error *err);
int nw_run_step(struct nw_run *run, struct nw_error *err);
int nw_run_end(struct nw_run *run, struct nw_error *err);
void nw_run_close(struct nw_run *run);
/* Wakes the run when there is something to do for the run inside it, which is armed. */
void nw_run_add_inner(struct nw_run *run, const struct nw_run *inner);

/* ---- a live run that is armed, for consumers that keep pages or have a run inside ---- */

/* Returns the run's session, which belongs to the run. */
struct nw_session *nw_run_session(const struct nw_run *run);
/* Returns why the kernel cannot count by itself (nw_triggers_lack()); NULL: it can. */
const char *nw_run_cannot_count(const struct nw_run *run);
int nw_run_read_maps(const struct nw_run *run, bool synthetic, const char *event,
		     nw_kernel_maps *out);
/* Returns what `add` or `script` was asked to count; NULL: the run reads no such counts. */
const struct nw_kept *nw_run_kept(const struct nw_run *run);
/* Can the kernel count in rows of equal width (.buckets=)? */
bool nw_run_counts_buckets(const struct nw_run *run);
/* Sets how many hits the kernel's maps had no room for: they are lost. */
void nw_run_note_uncounted(struct nw_run *run, uint64_t hits);
/* ---- calls that close descriptors (descriptor_calls.c) ------------------------------ */

/* Returns the name of such an event of the kernel, by its number; NULL: there are no more. */
const char *nw_descriptor_call(size_t number);
void nw_descriptor_spec(size_t number, char *out, size_t size);
bool nw_is_descriptor_probe(const struct nw_probe *probe);
/* Prepares to tell the paths of descriptors; an error if the events are not recorded. key: the user's word. */
int nw_run_descriptors_open(struct nw_run *run, const char *key, struct nw_error *err);
/* The probes are armed, as far as they can be. */
void nw_run_descriptors_armed(struct nw_run *run);
/* Tells of a hit, if it is of such a call; of events that were lost; and of births, ends and new programs of processes. */
void nw_run_take_call(struct nw_run *run, const struct nw_hit *hit);
void nw_run_calls_lost(struct nw_run *run, uint64_t until);
void nw_run_take_life(struct nw_run *run, const struct nw_record *record);

/* Keeps what nw_run_observed() returns, each change once, for a recording. */
void nw_run_keep_observed(struct nw_run *run);
/* Returns the time of the session's trace clock. */
uint64_t nw_run_now(const struct nw_run *run);
/* Returns the process of CMD; 0: the run has not started one. */
pid_t nw_run_child(const struct nw_run *run);
/* Returns how far back in time the ring buffer of each CPU reaches at least, and the size of all of them in bytes. */
uint64_t nw_run_reach(const struct nw_run *run);
uint64_t nw_run_buffer_size(const struct nw_run *run);
/* Returns how pages of the ring buffer are laid out. */
const struct nw_page_layout *nw_run_page_layout(const struct nw_run *run);
/* Calls `tap` with every page that is read (nw_stream_tap()). */
void nw_run_tap(struct nw_run *run, nw_page_tap *tap, void *arg);

/* ---- what is meant (select.c) ------------------------------------------------------- */

void nw_run_init(struct nw_run *run, const struct nw_request *request,
		 const struct nw_consumer *consumer, struct nw_run_result *result);
void nw_run_free(struct nw_run *run);
/* Finds the probes, and the executable of the command. */
int nw_run_select(struct nw_run *run, struct nw_error *err);
/* Finds the spans of a request, or those that names imply. Returns -ENOMEM on failure. */
int nw_request_spans(const struct nw_request *request, const struct nw_selection *selection,
		     nw_span_defs *out);
/* Does the request name this kernel event? */
bool nw_request_names(const struct nw_request *request, const struct nw_probe *probe);
int nw_run_plan(struct nw_run *run, const char *session, struct nw_error *err);
/* Adds the members of JSON arguments that the consumer wants to the probes' arguments (members.c). */
int nw_run_open_members(struct nw_run *run, struct nw_error *err);
/* Adds their values to a hit, until the next hit. -ENOMEM */
int nw_run_add_members(struct nw_run *run, struct nw_hit *hit);
/* Tells the user how many were cut. */
void nw_run_tell_members(const struct nw_run *run);
void nw_run_close_members(struct nw_run *run);
/* Finds what takes the place of the events of system calls of which strings are wanted. may_try: the kernel may be changed
 * for a trial. */
int nw_run_attach_calls(struct nw_run *run, bool may_try, struct nw_error *err);
/* Moves probes to the nops that the kernel turns into calls, where it does. may_try: the kernel may be changed for a
 * trial. */
int nw_run_take_calls(struct nw_run *run, bool may_try, struct nw_error *err);
/* Finds the probes of the request's specs in the file that is at this path now, each spec by itself. */
int nw_run_select_again(const struct nw_run *run, const char *path,
			struct nw_selection *out, struct nw_error *err);
/* Plans these points of the selection, too. Returns -ENOMEM on failure. */
int nw_run_plan_more(struct nw_run *run, const nw_points_of *points);
/* Finds the target processes, result->pids: those of the request, or the command. */
int nw_run_collect_pids(struct nw_run *run, struct nw_error *err);
/* Adds all descendants of these processes. */
int nw_run_add_descendants(nw_pids *pids, struct nw_error *err);
/* Are there kernel events among the probes? They are also recorded if they only concern a traced thread: sched_switch
 * to it, sched_wakeup of it. */
bool nw_run_has_kernel_events(const struct nw_run *run);
/* Must values of hits be decoded? Most summaries do not need them. */
bool nw_run_wants_values(const struct nw_run *run);
/* Provides kernel events for nw_scope. fs is opened at the first use; the caller closes it. */
struct nw_kernel_events nw_events_of(struct nw_tracefs *fs);

/* ---- who is counted with CMD (command.c) --------------------------------------------- */

/*
 * With CMD and without -p: do only CMD and its descendants count? Returns 1 if they do, because of --follow, or
 * because CMD or a program that its arguments start runs all probed files. 0: every process counts (CMD is the load
 * of a server). A notice tells which, unless CMD itself runs the files. -errno: it cannot be decided for lack of
 * memory or the like.
 */
int nw_run_counts_command(const struct nw_run *run, struct nw_error *err);

/* ---- who called (callers.c) ---------------------------------------------------------- */

/* Marks the probes whose callers are needed. It is an error if a glob matches no probe, or if the kernel does not
 * support it. */
int nw_run_select_stacks(struct nw_run *run, struct nw_error *err);
/* Opens the stacks after the probes were planned, if one of them needs callers. */
int nw_run_open_stacks(struct nw_run *run, struct nw_error *err);
/* Finds the callers of a hit that has a copy of its stack. Returns -ENOMEM on failure. */
int nw_run_add_callers(struct nw_run *run, struct nw_hit *hit);

/* ---- from records to hits (deliver.c) ----------------------------------------------- */

/* Allocates the counts by probe, and finds the probes to which the filter applies. */
int nw_run_open_counts(struct nw_run *run, struct nw_error *err);
/* Begins to make hits from records; the plan and its formats are complete. */
int nw_run_open_join(struct nw_run *run);
/* Warns, behind the last hit, if events were lost and hits consist of several records whose order is unknown: parts
 * of one hit may be shown with another. */
void nw_run_notice_order(const struct nw_run *run);
/* Hands the source's records to the consumer; and, at the end, the hits that are still being joined. */
int nw_run_drain(struct nw_run *run, struct nw_error *err);
int nw_run_join_rest(struct nw_run *run);
/* Is it a return probe? The kernel counts its calls when they begin, and many never return. */
bool nw_run_is_return(const struct nw_run *run, size_t probe);
/* Returns how many hits of a probe were passed to the consumer. */
uint64_t nw_run_probe_hits(const struct nw_run *run, size_t probe);
/* Returns the reason if an error of the consumer only means "stop"; NONE: it is a real error. */
enum nw_end_reason nw_run_reason(int ret);

/* ---- what becomes of it ------------------------------------------------------------- */

/* Allocates the state of each probe in the result, once. Returns -ENOMEM on failure. */
int nw_run_make_states(struct nw_run *run);
/* Sets a probe's state, with a text that the result owns. Returns -ENOMEM on failure. */
int nw_run_set_state(struct nw_run *run, size_t probe, enum nw_state state, const char *fmt,
		     ...) nw_format(4, 5);
/*
 * Did the consumer want no more hits (-n, or nobody reads the output)? Later hits are recorded, but not looked at.
 * Also true if the run ended for another reason before these hits were read, as with a CMD that ends at once.
 */
static inline bool nw_run_is_cut_short(const struct nw_run *run)
{
	return run->had_enough || run->result->reason == NW_END_COUNT ||
	       run->result->reason == NW_END_OUTPUT;
}

/* Selects the probes of a request. all_args: fetch also arguments that were not named. */
int nw_request_select(const struct nw_request *request, bool all_args,
		      struct nw_selection *out, struct nw_error *err);

/* ---- user_events ---------------------------------------------------------------------- */

/* Lists the events that programs have registered and that match one of the specs, or all events if there are none.
 * ENOENT: none matches; EOPNOTSUPP: the kernel has no user_events. The caller frees them, also after an error. */
int nw_user_event_rows_read(const char *const *specs, size_t count, nw_user_event_rows *out,
			    struct nw_error *err);
void nw_user_event_rows_free(nw_user_event_rows *rows);

#endif
