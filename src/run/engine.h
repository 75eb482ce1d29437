/* SPDX-License-Identifier: MIT */
/*
 * run: turns a request into a result. A run takes hits from a source (armed probes, a recording, trace text) and
 * hands them to a consumer in time order, until the source ends, the request says so, or the consumer wants no more.
 * When the run returns, nothing of it is left in the kernel; if something could not be removed, the result names it.
 *
 * A run never prints: messages for people go to the request's notice().
 *
 * docs/examples/span.c measures a span with it.
 */
#ifndef NOPWATCH_RUN_ENGINE_H
#define NOPWATCH_RUN_ENGINE_H

#include <sys/types.h>

#include "find/process/kernel_symbols.h"
#include "kernel/recovery/kept.h"
#include "kernel/session/session.h"
#include "measure/bins.h"
#include "measure/stack/stack.h"
#include "measure/summary.h"
#include "show/formats.h"
#include "stream/pages/stream.h"
#include "why/why.h"

struct nw_observed;
struct nw_cgroups;

/* ---- generated code ----------------------------------------------------------------- */

/* Finds a function among the generated code of these processes; out->pid is 0 if none has it. Returns 0 or -ENOMEM. */
int nw_find_generated(const char *name, const pid_t *pids, size_t count,
		      struct nw_generated *out);
void nw_generated_free(struct nw_generated *generated);

/* ---- the request -------------------------------------------------------------------- */

/* A probed file may be replaced while its probes are armed (a package upgrade). The run then does one of these. */
enum nw_replaced_files {
	NW_REPLACED_IGNORED,
	NW_REPLACED_TOLD,     /* shows a notice */
	NW_REPLACED_FOLLOWED, /* shows a notice, and arms the probes in the new file, too */
};

/* The engine of a live run: it counts the hits. */
enum nw_engine {
	NW_ENGINE_DEFAULT, /* as STREAM, and no output names it */
	NW_ENGINE_STREAM,  /* nopwatch reads each hit */
	NW_ENGINE_KERNEL, /* hist triggers, and nothing is recorded; an error if the kernel cannot */
	NW_ENGINE_AUTO, /* the kernel if it can, else nopwatch; a notice tells why */
};

/* A request. Everything in it is the caller's, and must stay valid during the run. A request that is zero except for
 * `specs` is a live run over all processes, which only the consumer ends. */
struct nw_request {
	/* Probes: specs as `nopwatch help` explains them. If there are none, the probes that begin and end these
	 * spans (nw_span_parse()). */
	const char *const *specs;
	size_t spec_count;
	const char *const *spans;
	size_t span_count;
	bool some;	  /* a spec that matches nothing is skipped if others match */
	bool implied;	  /* the consumer also measures the spans that names imply */
	const char *file; /* file of specs without a file; or NULL */
	const struct nw_types *types; /* descriptions of arguments; or NULL */
	const char *filter;	      /* nw_filter_parse(); NULL: every hit counts */

	/* Target processes. */
	const pid_t *pids; /* none: all processes, or the command */
	size_t pid_count;
	/* Only these threads of them count, each of which belongs to one of `pids`; none: all threads. The run ends with the
	 * last of them. */
	const pid_t *tids;
	size_t tid_count;
	/* Only processes in these control groups count, of `pids` if there are any; NULL: all. */
	const struct nw_cgroups *cgroups;
	/* `pids` are those that were in the groups at the beginning: they only tell where the probes are. */
	bool members;
	/* argv of a program that is started when all probes are armed; or NULL. */
	char *const *command;
	/* All processes count: pids and command only tell where the probes are, and when the run ends */
	bool all;
	bool follow;	  /* descendants of these processes count, too */
	bool main_thread; /* of each process only its main thread counts */

	/* Options. */
	uint64_t duration_ns;  /* from the time when all probes are armed; 0: no limit */
	uint64_t buffer_bytes; /* size of the ring buffer per CPU; 0: the default */
	/* Limit of hits per second and probe; a probe above it is disabled. 0: no limit. */
	uint64_t max_rate;
	uint32_t string_size; /* bytes to fetch of a string; 0: NW_STRING_SIZE */
	/* Hits of probes whose names match these globs ("": all probes) get their callers, for which so many bytes of
	 * the stack are fetched (0: NW_STACK_BYTES). */
	const char *const *stacks;
	size_t stack_count;
	uint32_t stack_size;
	const char *features; /* mask of kernel features, see nw_features_detect() */
	enum nw_replaced_files replaced;
	bool no_demangle; /* functions that match patterns keep the linker's names */
	bool force;	  /* arm probes that are known to be dangerous */
	enum nw_engine engine;
	/* nw_run_keep(): what counts in the kernel stays, under this name, with what is told of it. */
	const char *keep_name;
	const struct nw_kept *keep;
	/* The run reads counts that stay (nw_kept_read()), and arms nothing; NULL: it does not. */
	const struct nw_kept *kept;
	/* SIGINT, SIGTERM and SIGHUP end the run, SIGUSR1 requests a report (nw_run_report_requested()); SIGPIPE is
	 * ignored. The signals stay blocked afterwards, so that a late one does not kill a caller that still prints
	 * the result. */
	bool signals;
	bool snapshots; /* SIGUSR2 requests a recording (nw_run_snapshot_requested()) */
	/* Descriptors whose readiness wakes the run: it calls the consumer's tick(), which reads them. */
	const int *wake_fds;
	size_t wake_fd_count;
	/* A descriptor that ends the run once it is readable, as a signal does; NULL: none. */
	const int *end_fd;

	/* Instead of a live run: a recording or trace text in memory, or text from a descriptor that is read as it
	 * comes (source_fd is at least 0, and source_bytes is NULL). source_name is for messages. Only filter and
	 * notices count then. */
	const char *source_name; /* NULL: a live run */
	const char *source_bytes;
	size_t source_len;
	int source_fd;

	/* The user's command line, for the result's origin and for recordings; or NULL. */
	const char *command_line;

	/* Called with a line for the user: a probe could not be armed, was disabled, ... NULL: no notices. verbose:
	 * in more detail. */
	void (*notice)(void *arg, const char *text);
	void *notice_arg;
	bool verbose;
};

/* ---- the result --------------------------------------------------------------------- */

/* Where and how the run, or the recording, was made. NULL: unknown. */
struct nw_origin {
	char *host, *kernel, *machine; /* uname()'s nodename, release, machine */
	char *command;		       /* the request's command_line */
};

/* A thread whose scheduler events are recorded from a time on (struct nw_named_thread). This was known when
 * everything up to `seen` had been handed out, so it applies to the thread that has the number then. */
struct nw_named_at {
	int32_t tid; /* 0: all threads */
	uint64_t from, seen;
};

/* The result of a run, so far or at its end. Times are of the trace clock, in nanoseconds. */
struct nw_run_result {
	struct nw_origin origin;
	struct nw_selection selection; /* the probes */
	struct nw_plan plan;	       /* how they are fetched */
	struct nw_armed armed;	       /* which events the kernel accepted */
	bool has_filter, has_stacks;   /* hits were filtered; hits have stack pointers */
	bool restricted;	       /* only target processes count */
	bool by_cgroup;		       /* only processes in control groups count */
	/* The target processes (-p or CMD), by the numbers of the kernel that recorded the hits */
	nw_pids pids;
	nw_pids tids; /* only these of their threads (--tid); none: all of them */
	bool follow;  /* their descendants count, too */
	/* Untraced threads were recorded, too, so the reader drops their hits */
	bool untraced_recorded;
	/* A signal has asked for the end of the run, which may have ended for another reason */
	bool signalled;
	/* The scheduler's events are recorded for selected threads only, which may begin late for threads that were
	 * found during the run (nw_session_names_threads()). unnamed_why: why not, if that was impossible; NULL: it
	 * was not requested. */
	bool named_threads;
	char *unnamed_why;
	bool has_named; /* `named` is valid, which older recordings lack */
	NW_VEC(struct nw_named_at) named; /* the selected threads, in the order of `seen` */
	nw_strings
		/* Threads with these names are selected, too, since start_ns */
		named_comms;
	uint64_t start_ns, stop_ns; /* limits of the recorded time */
	uint64_t armed_ns;	    /* time at which all probes were enabled */
	uint64_t now_ns;	    /* time at which the run last read the clock */
	/* To be added to the trace clock for the time of day; 0: unknown */
	int64_t wall_ns;
	enum nw_end_reason reason; /* why it ended; NONE: it goes on */
	uint64_t hits;		   /* hits passed to the consumer */
	uint64_t filtered;	   /* hits dropped by the filter */
	uint64_t lost;		   /* lost events, as counted by the kernel */
	bool lost_is_least;	   /* there may be more, because not all could be counted */
	uint64_t dropped;	   /* hits that were counted but not recorded */
	uint64_t incomplete;	   /* hits of which some records were lost */
	uint64_t kernel_hits, cost_ns; /* hits counted by the kernel; what they have cost */
	bool has_machine_cost;	       /* live, and requested by the consumer */
	struct nw_machine_cost machine_cost;
	struct nw_hit_cost *hit_costs; /* by probe, including its fetches; NULL: unknown */
	struct nw_stacks *stacks;      /* stacks of hits; NULL: not requested */
	struct nw_observed *observed;  /* titles of processes; NULL: not requested */
	uint64_t *disabled_at;	       /* by probe, 0: not disabled; NULL: no probe was */
	struct nw_probe_state *states; /* by probe; NULL: unknown */
	/* NULL: not needed, or the kernel does not provide them. */
	struct nw_kernel_symbols *symbols;
	nw_strings state_texts; /* texts of the states */
	bool by_kernel;		/* the kernel counts the hits, which are not recorded */
	bool by_eighths; /* it counts latencies and values in eighths of powers of two */
	bool changed_externally; /* another program has disabled or deleted events of the run */
	bool unclean;		 /* something could not be removed from the kernel */
	struct nw_error left; /* what is left, and why */
	int command_status;   /* from waitpid(), if the end of the command is the reason */
};

/* Returns the number of armed sites. */
size_t nw_result_sites(const struct nw_run_result *result);
uint64_t nw_result_elapsed(const struct nw_run_result *result);
bool nw_result_is_disabled(const struct nw_run_result *result, size_t probe);
/* Writes "about 1.2 % of one CPU in the traced processes: ..."; nothing if it is unknown. */
void nw_result_cost(const struct nw_run_result *result, struct nw_buf *out);
/*
 * The probe overhead on this machine: what was measured since boot, or, if nothing was, a measurement now. `mask` is that of
 * nw_features_detect(). Fails with EOPNOTSUPP if measuring could kill a process (feature disarm_safe) or is not possible;
 * with -EUCLEAN if the session that measured could not be removed: the error says what is left, and why.
 */
int nw_machine_cost(const struct nw_tracefs *fs, const struct nw_features *features,
		    const char *mask, struct nw_machine_cost *out, struct nw_error *err);
/* Completes the result of a live run that asked for NW_COSTS_KNOWN: fills hit_costs, by nw_machine_cost(). */
int nw_result_find_costs(struct nw_run_result *result, const char *mask,
			 struct nw_error *err);
/* Converts parts of the result for output: the end of the run, and a probe that was disabled at this time. */
struct nw_end nw_result_end(const struct nw_run_result *result);
/* service: the user's name of it; NULL: that of the first probe's file. The texts are those of the result. */
struct nw_resource nw_result_resource(const struct nw_run_result *result,
				      const char *service);
struct nw_disabled nw_result_disabled(const struct nw_run_result *result, uint32_t probe,
				      uint64_t at);
void nw_result_free(struct nw_run_result *result);

/* ---- consumers ---------------------------------------------------------------------- */

/* A run that is going on, for its consumer. */
struct nw_run;

const struct nw_run_result *nw_run_so_far(const struct nw_run *run);
/* Returns the watermark: everything up to this time has been handed out. */
uint64_t nw_run_watermark(const struct nw_run *run);
/* Returns the cost of the recorded hits so far for the programs, in nanoseconds of CPU; 0 if the run is not live. */
uint64_t nw_run_cost(const struct nw_run *run);
/* Is it a thread of the target processes? */
bool nw_run_is_traced_thread(const struct nw_run *run, int32_t tid);
/* Returns what is known about a thread; NULL: threads are not looked up. */
const struct nw_task *nw_run_task(const struct nw_run *run, int32_t tid);
/* Makes a line of output from a hit; task: as in hit(). Its pointers are the run's, and valid until hit() returns. */
struct nw_event_line nw_run_event_line(const struct nw_run *run, const struct nw_hit *hit,
				       const struct nw_task *task);
/* Facts of a hit that only the running system knows (observed.h). */
enum nw_observed_what {
	NW_OBSERVED_TITLE,     /* of its process */
	NW_OBSERVED_CGROUP,    /* the path of its process's control group */
	NW_OBSERVED_CONTAINER, /* what the container of its process is called; "-": none */
	NW_OBSERVED_PATH,      /* the path of a descriptor of its process */
	NW_OBSERVED_MEMBER,    /* "1": its process is in request.cgroups; else "0" */
	NW_OBSERVED_COUNT
};
/* Prepares to tell it, in the consumer's start(). It is an error if the source cannot tell; `key` is the user's word. */
int nw_run_observe(struct nw_run *run, enum nw_observed_what what, const char *key,
		   struct nw_error *err);
/* Returns it for a hit of this process; NULL: it is not known. Valid until the next call. */
const char *nw_run_observed(struct nw_run *run, enum nw_observed_what what,
			    const struct nw_hit *hit, pid_t pid);
/* Returns the path of a descriptor for a hit of this process (NW_OBSERVED_PATH), as nw_run_observed() does. */
const char *nw_run_observed_path(struct nw_run *run, const struct nw_hit *hit, pid_t pid,
				 uint32_t fd);
/* Counts a hit whose text was known, but not searched: ETIMEDOUT, that took too long, or another errno. */
void nw_run_not_searched(struct nw_run *run, enum nw_observed_what what, int code);
/* Returns the wait channel of a kernel stack (NW_STACK_EVENT), valid as long as the result, and the address of that
 * function; NULL: it is unknown. */
const char *nw_run_wait_channel(const struct nw_run *run, const struct nw_value *callers,
				uint64_t *function);
/* Has SIGUSR1 requested a report since the last call? */
bool nw_run_report_requested(struct nw_run *run);
bool nw_run_snapshot_requested(struct nw_run *run); /* the same for SIGUSR2 */

/* Is the cost of a hit needed? It is measured before the first probe is armed, which takes a tenth of a second. */
enum nw_costs {
	NW_COSTS_NONE,
	NW_COSTS_KNOWN, /* if it was measured already; nothing is measured before or during the run */
	NW_COSTS_WANTED, /* if it can be measured */
	NW_COSTS_TOLD,	 /* if not, a notice tells why */
	NW_COSTS_NEEDED, /* if not, the run fails */
};

/* When to read records. */
enum nw_due {
	NW_DUE_NOT,
	NW_DUE_AS_IT_COMES, /* before they are overwritten, and in large portions */
	NW_DUE_NOW,	    /* all that are there */
};

/* A consumer sets these to make the run fetch and record more than the hits themselves. */
struct nw_needs {
	bool all_args; /* every argument is fetched */
	bool values;   /* hits also carry values of arguments that the user did not name */
	bool fetched;  /* the same, but only if anything is fetched at all */
	bool stacks;   /* hits carry stack pointers, by which calls are paired */
	bool comms;    /* hit() gets the hit's task: process, and name of the thread */
	bool threads;  /* nw_run_task() is called, for some hits only */
	bool kernel_texts; /* nw_run_kernel_text() is called, for live kernel events */
	bool named_events; /* events are named after their probes, for other tools */
	/* Events that nw_is_scheduler_probe() recognises are recorded; unless the user asks for them, they come as
	 * NW_HIT_SCHEDULER. */
	bool scheduler;
	/* The calls that close descriptors are recorded, for NW_OBSERVED_PATH. */
	bool descriptors;
	/* Hits are taken so fast that reading pages costs most, so larger pages pay off */
	bool large_pages;
	bool brief; /* no explanation of probes without hits is needed */
	enum nw_costs costs;
	/* Texts in which argN is an argument that the user did not name, so that it is fetched. */
	const char *const *uses;
	size_t use_count;
	/* Members of JSON arguments that become arguments: "json(ARG, PATH)". */
	const char *const *members;
	size_t member_count;
};

/* A hit that is not among the run's hits. */
enum nw_other_hit {
	NW_HIT_FILTERED, /* the filter has dropped it */
	NW_HIT_UNTRACED, /* of an untraced thread, in a restricted run */
	/* of a hidden probe of the scheduler (needs.scheduler), of any thread */
	NW_HIT_SCHEDULER,
};

struct nw_thread_event {
	enum {
		NW_THREAD_BORN, /* a traced thread, if result.named_threads */
		/* The thread executes another program. It is the only thread of its process, whose number it has from
		 * now on. */
		NW_THREAD_EXEC,
		NW_THREAD_EXIT,
		NW_THREAD_NAMED, /* if result.has_named: its scheduler events are recorded from a time on */
	} what;
	int32_t tid;	 /* NAMED: 0 for all threads */
	int32_t old_tid; /* EXEC: its former number */
	uint64_t from;	 /* NAMED: that time; UINT64_MAX: they are not recorded any more */
};

/*
 * A consumer receives the hits of a run. Every function may be NULL. The functions return 0 or -errno. -ECANCELED and
 * -EPIPE stop the run: no more is wanted, or nobody reads the output any more. After another error of hit(), the run
 * fails with its err, if it has one.
 */
struct nw_consumer {
	void *arg;
	struct nw_needs needs;

	/* ---- hits */

	/* task: NULL unless needs.comms is set, or the run is restricted or filtered by it. */
	int (*hit)(void *arg, const struct nw_hit *hit, const struct nw_task *task);
	/* Takes several hits without values at once. Nothing else was recorded between them, so no thread began, ended
	 * or changed its name. NULL: hits come one by one. */
	int (*hits)(void *arg, const struct nw_hit *hits, size_t count);
	/* Returns how many hits of a probe hits() has received, which the run does not count. */
	uint64_t (*counted)(void *arg, size_t probe);
	/* Takes a hit that is not among the run's hits; task: as in hit(), NULL except for NW_HIT_FILTERED. */
	int (*other_hit)(void *arg, enum nw_other_hit what, const struct nw_hit *hit,
			 const struct nw_task *task);
	/* Called with the time of an event that is no hit, before the other functions, except disabled(). */
	int (*reached)(void *arg, uint64_t time);

	/* ---- losses, threads */

	void (*loss)(void *arg, const struct nw_record *record);
	void (*thread)(void *arg, const struct nw_thread_event *event);

	/* ---- the run's life */

	/* The run calls this once the probes are planned, and before anything is armed. */
	int (*start)(void *arg, struct nw_run *run, struct nw_error *err);
	/*
	 * Called if the request wants the kernel to count, once the events are planned: makes the triggers by which it does,
	 * which the consumer owns. Returns -ENOTSUP with the reason if it cannot. NULL: the consumer needs each hit.
	 */
	int (*count)(void *arg, struct nw_run *run, const struct nw_triggers **out,
		     struct nw_error *err);
	/* Called when the probes are armed, or when the first record of a recording or text is there. */
	int (*armed)(void *arg, struct nw_run *run, struct nw_error *err);
	/* Called after records have been taken, and also several times a second without records. */
	int (*tick)(void *arg, struct nw_run *run, struct nw_error *err);
	/* Live runs: should records be read now? If not, the ring buffer keeps its newest records and overwrites all
	 * others, which are not counted as lost. NULL: records are always read as they come. */
	enum nw_due (*due)(void *arg);
	/* A probe was disabled at this time; earlier hits may still come. */
	void (*disabled)(void *arg, uint32_t probe, uint64_t at);
	/* The run is about to end, but the probes are still armed. */
	void (*stopping)(void *arg, struct nw_run *run);
	/* All records of the run were delivered. */
	void (*stopped)(void *arg);
};

/* Returns the hit as the kernel prints it, if it is a hit of a running kernel's event; NULL: it is not, or it cannot
 * be printed. May only be called in hit(), and is valid until hit() returns. */
const char *nw_run_kernel_text(const struct nw_run *run);

/* ---- running ------------------------------------------------------------------------ */

/* Runs to the end. The caller frees the result, even after an error. */
int nw_run(const struct nw_request *request, const struct nw_consumer *consumer,
	   struct nw_run_result *out, struct nw_error *err);
/* Arms a live run in which the kernel counts, and lets it count on (request->keep_name). The caller frees the result, even after an
 * error, which leaves nothing. */
int nw_run_keep(const struct nw_request *request, const struct nw_consumer *consumer,
		struct nw_run_result *out, struct nw_error *err);
/* Writes what a live run would do to the kernel as equivalent shell commands. Without tracefs, the kernel is assumed
 * to support everything. */
int nw_run_as_shell(const struct nw_request *request, const struct nw_consumer *consumer,
		    struct nw_buf *out, struct nw_error *err);
/*
 * Writes the probes of a request as a shell script for another machine (nw_script_make()). The request's pids are
 * processes of that machine. remotes: paths of files there, "FILE=PATH", or a PATH if there is only one file.
 * dangers: receives a sentence about each place that is left out because it would be too dangerous. consumer: it lets the kernel
 * count there, and request->keep says what; NULL: each hit is recorded.
 */
int nw_request_script(const struct nw_request *request, const struct nw_consumer *consumer,
		      const char *const *remotes, size_t remote_count, nw_strings *dangers,
		      struct nw_buf *out, struct nw_error *err);
/*
 * Opens tracefs and finds out what the kernel supports. assume: if that is impossible, assume that it supports
 * everything; fs->root is -1 then, and its path is the usual one.
 */
int nw_request_kernel(const struct nw_request *request, bool assume, struct nw_tracefs *fs,
		      struct nw_features *features, struct nw_error *err);

/* ---- the consumer that summarises --------------------------------------------------- */

struct nw_measure;

/*
 * A span is slow if it takes at least `ns` nanoseconds, or if it takes longer than the share `percentile` of the earlier
 * spans of the same kind. All zero: slow spans are not requested.
 */
struct nw_slower {
	uint64_t ns;
	double percentile; /* 0 < p < 1; ns is ignored then */
	/* Keep so many of the slowest spans of each kind until the end, instead of calling slow() for any. */
	size_t slowest;
};

static inline bool nw_slower_asked(const struct nw_slower *slower)
{
	return slower->ns || slower->percentile > 0 || slower->slowest;
}

/* Parses "50ms", "p99", "p99.9". -EINVAL: it is neither a duration above 0 nor a percentile between 0 and 100. */
int nw_slower_parse(const char *text, struct nw_slower *out);
struct nw_slow_watch;

/* These options choose what nw_measure_open() measures, and name functions that it calls during the run. */
struct nw_measure_options {
	const char *const *spans; /* nw_span_parse(); none: the spans that names imply */
	size_t span_count;
	bool implied;	/* the spans that names imply, too */
	const char *by; /* group keys, "method,pid"; NULL: none */
	/* arguments that must be fetched, to be summarised (nw_hist_parse()) */
	const char *const *hists;
	size_t hist_count;
	uint64_t interval_ns; /* of reports; 0: none */
	/* Stop after so many intervals, or hits if there are no intervals; 0: no limit */
	uint64_t count;
	bool totals;	     /* the report of an interval includes everything so far */
	bool states;	     /* the thread states in spans: running, sleeping, ... */
	enum nw_costs costs; /* probe overhead in spans */
	bool net; /* latencies without probe overhead, whose cost must be known */
	struct nw_slower slower; /* slow() is called for each span that is slow */
	bool open;		 /* the spans that have not ended are asked for */
	bool spans_only;	 /* there must be spans, since nothing else is shown */
	bool bins;		 /* keep counts by time, for pictures */
	bool spare_bins;	 /* unless the kernel counts, which keeps none */
	/* Take hits one by one even if many at once would do, because groups or intervals may be requested later. */
	bool one_by_one;
	/* Functions that are called with this argument; each may be NULL. */
	void *arg;
	nw_span_listener *listener; /* called for each span */
	bool ends_only;		    /* only for ends */
	/* Called when the probes are known, and nothing is armed. */
	int (*start)(void *arg, struct nw_error *err);
	int (*armed)(void *arg, struct nw_error *err);
	/* An interval is over: its number, from 1 on, and its end on the trace clock. */
	int (*interval)(void *arg, uint64_t number, uint64_t end, struct nw_error *err);
	/* Several intervals, from this number on, had no hits. */
	int (*quiet)(void *arg, uint64_t first, uint64_t count, struct nw_error *err);
	int (*tick)(void *arg, struct nw_error *err);
	/* A span of at least options.slower has ended. */
	int (*slow)(void *arg, const struct nw_slow_span *slow, struct nw_error *err);
};

struct nw_measure {
	struct nw_measure_options options;
	/* Hidden hits of the scheduler's events. */
	uint64_t scheduled;
	struct nw_run *run; /* during the run */
	struct nw_summary *summary;
	struct nw_bins *bins; /* after arming, if requested */
	nw_span_defs spans;
	struct nw_by *by;
	uint64_t next;	    /* trace clock: end of the current interval; UINT64_MAX: none */
	uint64_t most_hits; /* limit of hits; UINT64_MAX: none */
	uint64_t intervals; /* intervals that are over */
	uint64_t filtered;  /* hits dropped by the filter in the current interval */
	nw_hists hists;
	nw_strings uses;
	nw_strings members;	    /* of JSON arguments, of which histograms are wanted */
	bool every_arg;		    /* the values of all arguments are fetched */
	struct nw_slow_watch *slow; /* NULL: slow spans are not requested */
	/* Used for spans that are open, and for counting stacks if slow spans are not requested; else NULL. */
	struct nw_span_starts *starts;
	bool keeps_starts; /* the last report has found the open spans: their starts stay until it is written */
	bool counts_stacks; /* of each span */
	/* The stacks at the starts of spans, and of probes that begin no span. */
	struct nw_stack_counts stacks;
	bool *begins;		    /* by probe: it begins a span */
	const struct nw_task *task; /* of the current hit; NULL: unknown */
	uint64_t slow_spans;	    /* number of calls of slow() */
	/* Used if slow spans are requested: how many spans have ended, and how long the longest took. */
	uint64_t ended_spans, longest_ns;
	/* The kernel counts by these; NULL: hits are read. */
	struct nw_kernel_counts *counts;
	/* The error of a function that was called inside hit(); code 0: none. */
	struct nw_error failure;
};

/* A mistake in options->by is a usage error. */
int nw_measure_open(const struct nw_measure_options *options, struct nw_measure *out,
		    struct nw_error *err);
/* Returns the consumer for nw_run(). After the run the summary is complete once nw_summary_finish() was called. */
struct nw_consumer nw_measure_consumer(struct nw_measure *measure);
/* Sets the length of intervals, instead of that in the options. To be called in armed(). */
void nw_measure_set_interval(struct nw_measure *measure, uint64_t interval_ns);
/* Lists the keys by which hits can be grouped during the run, for people: "tid, pid, comm, cpu, method". pid and comm
 * are included only if the consumer needs processes. */
void nw_measure_keys(const struct nw_measure *measure, struct nw_buf *out);
void nw_measure_close(struct nw_measure *measure);

/* ---- the consumer that prints ------------------------------------------------------- */

/* Prints hits as lines; with formats that draw timelines also the spans between them. */
struct nw_printer_options {
	const struct nw_output_format *format;
	/* For formats that have spans, and with `slower`. */
	const char *const *spans; /* nw_span_parse(); none: the spans that names imply */
	size_t span_count;
	const char *by; /* group keys of spans, as in struct nw_measure_options */
	/* Show and count only slow spans, instead of hits and spans. */
	struct nw_slower slower;
	bool states;	     /* thread states in spans */
	bool net;	     /* latencies without probe overhead */
	enum nw_costs costs; /* probe overhead */
	uint64_t count;	     /* stop after so many hits; 0: no limit */
	const char *service; /* nw_result_resource() */
	bool header, bold;   /* see struct nw_begin */
	bool wall;	     /* show the time of day */
	bool plain;	     /* text: sentences, for a screen reader */
	const char *const
		*members; /* members of JSON arguments to show: "json(ARG, PATH)" */
	size_t member_count;
	void *arg;
	int (*start)(void *arg, struct nw_error *err);		      /* or NULL */
	void (*armed)(void *arg, const struct nw_run_result *so_far); /* or NULL */
	/* Called with the text now and then, and empties it. */
	int (*write)(void *arg, struct nw_buf *text, struct nw_error *err);
};

struct nw_printer {
	struct nw_printer_options options;
	struct nw_measure measure; /* zeroed: no spans are shown */
	struct nw_consumer inner;  /* consumer of the measure */
	struct nw_run *run;	   /* during the run */
	struct nw_output output;
	struct nw_error failure; /* of write() inside hit(); code 0: none */
};

/* `out` must not move while it is open. */
int nw_printer_open(const struct nw_printer_options *options, struct nw_printer *out,
		    struct nw_error *err);
struct nw_consumer nw_printer_consumer(struct nw_printer *printer);
/* Ends the output and writes the rest. */
int nw_printer_finish(struct nw_printer *printer, const struct nw_run_result *result,
		      struct nw_error *err);
void nw_printer_free(struct nw_printer *printer);

/* ---- the consumer that records ------------------------------------------------------ */

struct nw_recorder;

struct nw_recorder_options {
	/* The recording's path. The file is replaced as a whole at the end; whether that is possible is checked at
	 * the start. */
	const char *path;
	uint64_t count; /* stop after so many hits; 0: no limit */
	bool states;	/* also record thread states */
	/* Group keys for which reports will ask, as in struct nw_measure_options: what only the running system knows of
	 * them is recorded, too. */
	const char *by;
	void *arg;
	void (*armed)(void *arg, const struct nw_run_result *so_far); /* or NULL */
};

/* A mistake in options->by is a usage error. */
int nw_recorder_open(const struct nw_recorder_options *options, struct nw_recorder **out,
		     struct nw_error *err);
struct nw_consumer nw_recorder_consumer(struct nw_recorder *recorder);
/* Writes the file. *bytes: the size of its pages. */
int nw_recorder_finish(struct nw_recorder *recorder, const struct nw_run_result *result,
		       uint64_t *bytes, struct nw_error *err);
void nw_recorder_free(struct nw_recorder *recorder);

/* ---- longjmp() ---------------------------------------------------------------------- */

/* Processes that are searched besides those that map a probe's file: by their numbers in /proc, and CMD or NULL. */
struct nw_jumpers {
	const pid_t *pids;
	size_t pid_count;
	const char *command;
};

/* Finds probes whose kernel return probes kill programs that leave functions by longjmp(); they get a hazard.
 * Programs that are started later are not searched. */
int nw_find_jumps(const struct nw_features *features, const struct nw_jumpers *who,
		  struct nw_selection *selection, struct nw_error *err);

/* ---- why a probe does not fire ------------------------------------------------------ */

/*
 * Finds out why a probe does not fire. Checks everything that can be known without arming; then, unless that gives
 * the answer or arming could do harm, arms the probe for all processes and watches it for the request's duration (3
 * seconds). Of the request, these fields count: file, pids, duration_ns, force, features. It is an error if the spec
 * cannot be parsed; that it matches nothing is an answer. tool: what another tool was asked to do, or NULL. -EUCLEAN: `out`
 * is the answer, and the error says what could not be removed from the kernel.
 */
int nw_find_out_why(const struct nw_request *request, const char *spec,
		    const struct nw_tool *tool, struct nw_diagnosis *out,
		    struct nw_error *err);

/*
 * Finds the places of the events that a tool records (by_event), as specs in tool->specs. missing: those of its
 * events that tracefs does not have. Reads tracefs.
 */
int nw_tool_find_places(struct nw_tool *tool, nw_strings *missing, struct nw_error *err);

#endif
