/* SPDX-License-Identifier: MIT */
/*
 * run: turns a request into a result. A run takes hits from a source (armed probes, a recording, trace text) and
 * hands them to a consumer in time order, until the source ends, the request says so, or the consumer has had enough.
 * When the run returns, nothing of it is left in the kernel; what could not be removed is named in its result.
 *
 * A run never prints: messages for people go to the request's notice().
 *
 * docs/examples/span.c measures a span with it.
 */
#ifndef NOPWATCH_ENGINE_H
#define NOPWATCH_ENGINE_H

#include <sys/types.h>

#include "nopwatch/bins.h"
#include "nopwatch/formats.h"
#include "nopwatch/kernel.h"
#include "nopwatch/kernel_symbols.h"
#include "nopwatch/stack.h"
#include "nopwatch/stream.h"
#include "nopwatch/summary.h"
#include "nopwatch/why.h"

/* ---- the request -------------------------------------------------------------------- */

/* A probed file may be replaced while its probes are armed (a package upgrade). The run then does one of these. */
enum nw_replaced_files {
	NW_REPLACED_IGNORED,
	NW_REPLACED_TOLD, /* a notice says so */
	NW_REPLACED_FOLLOWED, /* a notice says so, and the probes are armed in the new file, too */
};

/* What to run. Everything in it is the caller's, and must stay until the run is over; all zero
 * but for `specs` is a live run over every process, without an end but the consumer's. */
struct nw_request {
	/* which probes: specs as `nopwatch help` explains them; if there are none, those that
	 * these spans begin and end with (nw_span_parse()) */
	const char *const *specs;
	size_t spec_count;
	const char *const *spans;
	size_t span_count;
	const char *file;	      /* for specs without a file; or NULL */
	const struct nw_types *types; /* what is known of arguments; or NULL */
	const char *filter;	      /* nw_filter_parse(); NULL: every hit counts */

	/* of which processes */
	const pid_t *pids; /* none: of all of them, or of the command */
	size_t pid_count;
	char *const
		*command; /* argv of a program that is started once all is armed; or NULL */
	bool all;    /* pids and command only say where the probes are and when it ends */
	bool follow; /* and the processes that these have started */

	/* how */
	uint64_t duration_ns;  /* from when all is armed; 0: any */
	uint64_t buffer_bytes; /* of ring buffer per CPU; 0: a default */
	uint64_t
		max_rate; /* disable what is hit more often, a second and probe; 0: never */
	uint32_t string_size; /* bytes of a string that are fetched; 0: NW_STRING_SIZE */
	/* Who has called is found out for the hits of probes whose names these globs fit, "" for all; and so many bytes of the
	 * stack are fetched for that (0: NW_STACK_BYTES). */
	const char *const *stacks;
	size_t stack_count;
	uint32_t stack_size;
	const char *features; /* mask of what the kernel can do, see nw_features_detect() */
	enum nw_replaced_files replaced;
	bool no_demangle; /* functions that patterns name are called as the linker calls them */
	bool force;	  /* arm what is known to be dangerous */
	/* SIGINT, SIGTERM and SIGHUP end the run, SIGUSR1 asks for a report (nw_run_asked()); SIGPIPE
	 * is ignored. They stay blocked afterwards: what comes late does not kill whoever still
	 * prints the result. */
	bool signals;
	bool snapshots; /* and SIGUSR2 asks for a recording (nw_run_asked_snapshot()) */
	/* Descriptors whose readiness wakes the run: the consumer's tick() is called, and reads them. */
	const int *wake_fds;
	size_t wake_fd_count;

	/* instead of all that: a recording or trace text in memory, or text from a descriptor
	 * that is read as it comes (source_fd 0 or more, and source_bytes NULL). name: for
	 * messages. Only filter and notices count then. */
	const char *source_name; /* NULL: a live run */
	const char *source_bytes;
	size_t source_len;
	int source_fd;

	/* How the run was asked for: goes into the result's origin, and into recordings; or NULL */
	const char *command_line;

	/* One line for a person: what could not be armed, what has been disabled, ... NULL: nobody
	 * cares. verbose: in more detail. */
	void (*notice)(void *arg, const char *text);
	void *notice_arg;
	bool verbose;
};

/* ---- the result --------------------------------------------------------------------- */

/* Where and how it was measured; of a recording, where and how that was made. NULL: not known. */
struct nw_origin {
	char *host, *kernel, *machine; /* uname()'s nodename, release, machine */
	char *command;		       /* the request's command_line */
};

/* A thread's events of the scheduler are recorded from a time on (struct nw_named_thread). That was known when everything up to
 * `seen` had been handed out, so it is of the thread that has the number then. */
struct nw_named_at {
	int32_t tid; /* 0: everybody's */
	uint64_t from, seen;
};

/* What a run has come to, so far or at its end. Times are of the trace clock, in nanoseconds. */
struct nw_run_result {
	struct nw_origin origin;
	struct nw_selection selection; /* the probes, */
	struct nw_plan plan;	       /* how they are to be fetched, */
	struct nw_armed armed;	       /* and what became of that */
	bool has_filter, has_stacks;   /* hits were filtered; have stack pointers */
	bool restricted;	       /* to some processes, */
	nw_pids pids; /* to these (-p or CMD), as the kernel whose hits they are counts them */
	bool follow;	/* and to what these created */
	bool strangers; /* the kernel has recorded others, too: the reader sorts */
	/* The scheduler's events are those of threads that the kernel was told of, which it was late for those that were
	 * met meanwhile (nw_session_names_threads()); why not, if it could not be, NULL: that was not asked for. */
	bool named_threads;
	char *unnamed_why;
	bool has_named; /* who was named is known, too, of which old recordings say nothing: */
	NW_VEC(struct nw_named_at) named; /* in that order; and everybody who is called */
	nw_strings named_comms;		  /* so, since start_ns */
	uint64_t start_ns, stop_ns;	  /* what is recorded is between them */
	uint64_t armed_ns;		  /* all probes were enabled */
	uint64_t now_ns;		  /* when the run last looked at the clock */
	int64_t wall_ns; /* add to the trace clock for the time of day; 0: unknown */
	enum nw_end_reason reason;     /* why it ended; NONE: it goes on */
	uint64_t hits;		       /* handed to the consumer */
	uint64_t filtered;	       /* taken out by the filter */
	uint64_t lost;		       /* events, as the kernel counts them */
	bool lost_is_least;	       /* or more: not all of them could be counted */
	uint64_t dropped;	       /* hits that were counted but not recorded */
	uint64_t incomplete;	       /* hits of which some records were lost */
	uint64_t kernel_hits, cost_ns; /* as the kernel counted them; what they have cost */
	bool has_machine_cost;	       /* live, and the consumer has asked: */
	struct nw_machine_cost machine_cost;
	struct nw_hit_cost *hit_costs; /* by probe, with what it fetches; NULL: not known */
	struct nw_stacks *stacks;      /* that hits have; NULL: nobody has asked for them */
	uint64_t *disabled_at;	       /* per probe, 0: it was not; NULL: none was */
	struct nw_probe_state *states; /* per probe; NULL: not known */
	struct nw_kernel_symbols
		*symbols;	/* NULL: nobody asks, or the kernel does not tell */
	nw_strings state_texts; /* what their texts point to */
	bool meddled;		/* others have disabled or deleted events of its */
	bool unclean;		/* something had to stay in the kernel: */
	struct nw_error left;	/* what, and why */
	int command_status;	/* of waitpid(), if the command's end is the reason */
};

/* Sites that are armed. */
size_t nw_result_sites(const struct nw_run_result *result);
uint64_t nw_result_elapsed(const struct nw_run_result *result);
bool nw_result_is_disabled(const struct nw_run_result *result, size_t probe);
/* "about 1.2 % of one CPU in the traced processes: ..."; nothing if it is not known. */
void nw_result_cost(const struct nw_run_result *result, struct nw_buf *out);
/* As output wants to be told of it: its end, and that a probe was disabled at this time. */
struct nw_end nw_result_end(const struct nw_run_result *result);
struct nw_disabled nw_result_disabled(const struct nw_run_result *result, uint32_t probe,
				      uint64_t at);
void nw_result_free(struct nw_run_result *result);

/* ---- consumers ---------------------------------------------------------------------- */

/* A run that is going on, as its consumer sees it. */
struct nw_run;

const struct nw_run_result *nw_run_so_far(const struct nw_run *run);
/* Everything up to this time has been handed out. */
uint64_t nw_run_known(const struct nw_run *run);
/* What the hits so far have cost the programs, in nanoseconds of CPU, as far as they were recorded; 0 if
 * it is no live run. */
uint64_t nw_run_cost(const struct nw_run *run);
/* Is it a thread of the processes that are meant? */
bool nw_run_wants(const struct nw_run *run, int32_t tid);
/* What is known of a thread; NULL: nobody has asked for tasks. */
const struct nw_task *nw_run_task(const struct nw_run *run, int32_t tid);
/* A hit as a line of output; task as hit() has it. What it points to is the run's, and good until hit() returns. */
struct nw_event_line nw_run_event_line(const struct nw_run *run, const struct nw_hit *hit,
				       const struct nw_task *task);
/* The wait channel of a stack of the kernel's (NW_STACK_EVENT), good as long as the result, and the address
 * of that function; NULL: it cannot be told. */
const char *nw_run_channel(const struct nw_run *run, const struct nw_value *callers,
			   uint64_t *function);
/* Has SIGUSR1 asked for a report since the last call? */
bool nw_run_asked(struct nw_run *run);
bool nw_run_asked_snapshot(struct nw_run *run); /* the same of SIGUSR2 */

/* Is what a hit costs to be known? It is measured once a boot, which takes a tenth of a second. */
enum nw_costs {
	NW_COSTS_NONE,
	NW_COSTS_WANTED, /* if that can be had */
	NW_COSTS_TOLD,	 /* and if not, the reason */
	NW_COSTS_NEEDED, /* if not, there is no run */
};

/* When records are to be read. */
enum nw_due {
	NW_DUE_NOT,
	NW_DUE_AS_IT_COMES, /* before it is overwritten, and in large portions */
	NW_DUE_NOW,	    /* all there is */
};

/* A consumer sets these to make the run fetch and record more than the hits themselves. */
struct nw_needs {
	bool all_args; /* every argument is fetched */
	bool values;   /* hits carry values of arguments that the user did not name, too */
	bool fetched;  /* the same, but only if anything is fetched at all */
	bool stacks;   /* hits carry stack pointers, by which calls are paired */
	bool comms;    /* hit() gets the hit's task: process, and name of the thread */
	bool threads;  /* nw_run_task() is called for some hits only */
	bool kernel_texts; /* nw_run_kernel_text() is called, for live kernel events */
	bool named_events; /* events are called after their probes, for other tools */
	bool scheduler; /* the events that nw_is_scheduler_probe() knows are recorded, and come as NW_HIT_SCHEDULER if
			   nobody has asked to see them */
	bool large_pages; /* hits are taken so fast that reading pages costs most: larger ones pay */
	bool brief; /* why probes had no hits is not asked */
	enum nw_costs costs;
	/* texts in which argN means an argument that nobody has named, so that it is fetched */
	const char *const *uses;
	size_t use_count;
};

/* A hit that is not among the run's hits. */
enum nw_other_hit {
	NW_HIT_FILTERED, /* the filter has taken it out */
	NW_HIT_STRANGER, /* of a thread that is not wanted, in a run that is restricted */
	NW_HIT_SCHEDULER, /* of a hidden probe of the scheduler (needs.scheduler), of whatever thread */
};

struct nw_thread_event {
	enum {
		NW_THREAD_BORN, /* a wanted thread, if result.named_threads */
		NW_THREAD_EXEC, /* it begins another program, and is the only thread of its process, whose number it has now */
		NW_THREAD_EXIT,
		NW_THREAD_NAMED, /* if result.has_named: its scheduler events are recorded from a time on */
	} what;
	int32_t tid;	 /* NAMED: 0 for everybody */
	int32_t old_tid; /* EXEC: the number that it had before */
	uint64_t from;	 /* NAMED: that time; UINT64_MAX: they are not recorded any more */
};

/*
 * A consumer receives the hits of a run. Every function may be NULL. The functions return 0 or -errno; -ECANCELED: enough, stop
 * now; -EPIPE: nobody reads what is written any more, stop, too. Other errors of hit() end the run
 * with what it says in err, where it has one.
 */
struct nw_consumer {
	void *arg;
	struct nw_needs needs;

	/* ---- hits */

	/* task: NULL unless needs.comms is set, or the run is restricted or filtered by it. */
	int (*hit)(void *arg, const struct nw_hit *hit, const struct nw_task *task);
	/* The same for many hits without values at once. Nothing else was recorded between them, so no thread
	 * began, ended or got another name. NULL: they come one by one. */
	int (*hits)(void *arg, const struct nw_hit *hits, size_t count);
	/* How many hits of a probe it was handed by hits(), which the run does not count. */
	uint64_t (*counted)(void *arg, size_t probe);
	/* A hit that is not among the run's hits; task as hit() has it, NULL but for NW_HIT_FILTERED. */
	int (*other_hit)(void *arg, enum nw_other_hit what, const struct nw_hit *hit,
			 const struct nw_task *task);
	/* Before it is told what is no hit, but for disabled(): when that is. */
	int (*reached)(void *arg, uint64_t time);

	/* ---- losses, threads */

	void (*loss)(void *arg, const struct nw_record *record);
	void (*thread)(void *arg, const struct nw_thread_event *event);

	/* ---- the run's life */

	/* The run calls this once the probes are planned, and before anything is armed. */
	int (*start)(void *arg, struct nw_run *run, struct nw_error *err);
	/* Armed, or the first record is there. */
	int (*armed)(void *arg, struct nw_run *run, struct nw_error *err);
	/* After records have been taken, and several times a second also if none came. */
	int (*tick)(void *arg, struct nw_run *run, struct nw_error *err);
	/* Live: is what was recorded to be read now? As long as it is not, the ring buffer keeps its newest
	 * records and overwrites the others, which are no losses. NULL: always, as it comes. */
	enum nw_due (*due)(void *arg);
	/* A probe was disabled at this time; hits before it may still come. */
	void (*disabled)(void *arg, uint32_t probe, uint64_t at);
	/* The end, but the probes are still armed. */
	void (*stopping)(void *arg, struct nw_run *run);
};

/* Inside of hit(): the hit as the kernel prints it, if it is of one of the running kernel's own events;
 * NULL: it is none, or cannot be told. Good until hit() returns. */
const char *nw_run_kernel_text(const struct nw_run *run);

/* ---- running ------------------------------------------------------------------------ */

/* Run to the end. The result is the caller's to free, whatever comes of it. */
int nw_run(const struct nw_request *request, const struct nw_consumer *consumer,
	   struct nw_run_result *out, struct nw_error *err);
/* What a live run would do to the kernel, as shell commands that do the same. Where tracefs cannot be
 * looked at, the kernel is taken for one that can do everything. */
int nw_run_as_shell(const struct nw_request *request, const struct nw_consumer *consumer,
		    struct nw_buf *out, struct nw_error *err);
/*
 * The probes of a request as a shell script for another machine (nw_script_make()). Its pids are
 * processes there. remotes: where files are there, "FILE=PATH", or a PATH if there is one file only.
 * dangers: gets a sentence about each place that is left out since it would be too dangerous.
 */
int nw_request_script(const struct nw_request *request, const char *const *remotes,
		      size_t remote_count, nw_strings *dangers, struct nw_buf *out,
		      struct nw_error *err);
/*
 * Open tracefs and find out what the kernel can do. assume: where that cannot be, take it for one
 * that can do everything: then fs->root is -1, its path the usual one.
 */
int nw_request_kernel(const struct nw_request *request, bool assume, struct nw_tracefs *fs,
		      struct nw_features *features, struct nw_error *err);

/* ---- the consumer that summarises --------------------------------------------------- */

struct nw_measure;

/*
 * What a slow span is: one of at least so many nanoseconds, or so long that this share of the spans before
 * it, of the same kind, were shorter. All zero: nobody asks.
 */
struct nw_slower {
	uint64_t ns;
	double percentile; /* 0 < p < 1; ns does not count then */
};

static inline bool nw_slower_asked(const struct nw_slower *slower)
{
	return slower->ns || slower->percentile > 0;
}

/* "50ms", "p99", "p99.9". -EINVAL: it is neither a duration above 0 nor a percentile between 0 and 100. */
int nw_slower_parse(const char *text, struct nw_slower *out);
struct nw_slow_watch;

/* What is to be measured, and what is called meanwhile. */
struct nw_measure_options {
	const char *const *spans; /* nw_span_parse(); none: those that names say */
	size_t span_count;
	const char *by;		  /* "method,pid": groups of hits; NULL: none */
	const char *const *hists; /* arguments that must be there, to be summarised */
	size_t hist_count;
	uint64_t interval_ns; /* of reports; 0: none */
	uint64_t count; /* stop after so many intervals, or hits without them; 0: go on */
	bool totals;	/* a report of an interval is of everything so far */
	bool states;	/* what threads do in spans: running, sleeping, ... */
	enum nw_costs costs;	 /* what the probes add to spans */
	bool net;		 /* and latencies are without it: it must be known */
	struct nw_slower slower; /* slow() is called for each span that takes so long */
	bool bins;		 /* keep what happened when, for pictures */
	bool one_by_one; /* take hits one by one also where many at once would do: groups or intervals
			    may be asked for later */
	/* What is called, with this argument; any may be NULL. */
	void *arg;
	nw_span_listener *listener; /* for each span */
	bool ends_only;		    /* for ends only */
	/* The probes are known, nothing is armed. */
	int (*start)(void *arg, struct nw_error *err);
	int (*armed)(void *arg, struct nw_error *err);
	/* An interval is over: its number, from 1, and its end on the trace clock. */
	int (*interval)(void *arg, uint64_t number, uint64_t end, struct nw_error *err);
	/* So many intervals, from this number on, had nothing in them. */
	int (*quiet)(void *arg, uint64_t first, uint64_t count, struct nw_error *err);
	int (*tick)(void *arg, struct nw_error *err);
	/* A span of at least options.slower has ended. */
	int (*slow)(void *arg, const struct nw_slow_span *slow, struct nw_error *err);
};

struct nw_measure {
	struct nw_measure_options options;
	uint64_t
		scheduled; /* hits of the scheduler's events that nobody has asked to see */
	struct nw_run *run; /* while it goes on */
	struct nw_summary *summary;
	struct nw_bins *bins; /* if they are wanted, once all is armed */
	nw_span_defs spans;
	struct nw_by *by;
	uint64_t next;	    /* trace clock: end of the current interval; UINT64_MAX: none */
	uint64_t most_hits; /* stop then; UINT64_MAX: go on */
	uint64_t intervals; /* that are over */
	uint64_t filtered;  /* hits taken out since the last of them */
	nw_strings uses;
	bool every_arg;		    /* the values of every argument are there */
	struct nw_slow_watch *slow; /* NULL: nobody asks for slow spans */
	struct nw_starts
		*starts; /* where stacks are counted, and nobody asks for slow spans */
	struct nw_stack_counts
		stacks; /* of spans as they began, and of probes that begin none */
	bool *begins;	/* by probe: a span */
	const struct nw_task *task; /* of the hit that is taken; NULL: not known */
	uint64_t slow_spans;	    /* that slow() was called for */
	struct nw_error
		failure; /* of a function that was called inside of hit(); code 0: none */
};

/* A mistake in options->by is a usage error. */
int nw_measure_open(const struct nw_measure_options *options, struct nw_measure *out,
		    struct nw_error *err);
/* For nw_run(). Behind it the summary is whole once nw_summary_finish() was called. */
struct nw_consumer nw_measure_consumer(struct nw_measure *measure);
/* In armed(): intervals are so long, whatever the options say. */
void nw_measure_set_interval(struct nw_measure *measure, uint64_t interval_ns);
/* What can be grouped by in mid-run, for people: "tid, pid, comm, cpu, method". pid and comm only if the
 * consumer wants to know processes. */
void nw_measure_keys(const struct nw_measure *measure, struct nw_buf *out);
void nw_measure_close(struct nw_measure *measure);

/* ---- the consumer that prints ------------------------------------------------------- */

/* Hits as lines; write() gets what there is now and then, and empties it. */
struct nw_printer {
	const struct nw_output_format *format;
	bool header, bold; /* see struct nw_begin */
	bool wall;	   /* the time of day */
	uint64_t count;	   /* stop after so many hits; 0: go on */
	void *arg;
	int (*start)(void *arg, struct nw_error *err);		      /* or NULL */
	void (*armed)(void *arg, const struct nw_run_result *so_far); /* or NULL */
	int (*write)(void *arg, struct nw_buf *text, struct nw_error *err);

	struct nw_run *run; /* while it goes on */
	struct nw_output output;
	struct nw_error failure; /* of write() inside of hit(); code 0: none */
};

struct nw_consumer nw_printer_consumer(struct nw_printer *printer);
/* The end, and what is left to write. */
int nw_printer_finish(struct nw_printer *printer, const struct nw_run_result *result,
		      struct nw_error *err);
void nw_printer_free(struct nw_printer *printer);

/* ---- the consumer that draws -------------------------------------------------------- */

/* Hits and the spans between them, each as the format draws it; else as nw_printer. */
struct nw_timeline_options {
	const struct nw_output_format *format; /* one that has spans */
	const char *const *spans; /* nw_span_parse(); none: those that names say */
	size_t span_count;
	const char *by; /* groups of spans, as in struct nw_measure_options */
	uint64_t count; /* stop after so many hits; 0: go on */
	struct nw_slower
		slower; /* instead of hits and spans only those that take so long are shown, and counted */
	bool states;		 /* what threads do in spans */
	bool net;		 /* latencies are without what the probes cost */
	enum nw_costs costs;	 /* what they do */
	bool header, bold, wall; /* as those of nw_printer */
	void *arg;
	int (*start)(void *arg, struct nw_error *err);		      /* or NULL */
	void (*armed)(void *arg, const struct nw_run_result *so_far); /* or NULL */
	int (*write)(void *arg, struct nw_buf *text, struct nw_error *err);
};

struct nw_timeline {
	struct nw_timeline_options options;
	struct nw_measure measure;
	struct nw_consumer inner; /* the measure's */
	struct nw_run *run;	  /* while it goes on */
	struct nw_output output;
	struct nw_error failure; /* of write() inside of hit(); code 0: none */
};

/* out must not move as long as it is open. */
int nw_timeline_open(const struct nw_timeline_options *options, struct nw_timeline *out,
		     struct nw_error *err);
struct nw_consumer nw_timeline_consumer(struct nw_timeline *timeline);
/* The end, and what is left to write. */
int nw_timeline_finish(struct nw_timeline *timeline, const struct nw_run_result *result,
		       struct nw_error *err);
void nw_timeline_free(struct nw_timeline *timeline);

/* ---- the consumer that records ------------------------------------------------------ */

struct nw_recorder;

struct nw_recorder_options {
	const char *
		path; /* of the recording, which is replaced as a whole at the end; that it can
			      be is seen at the start */
	uint64_t count; /* stop after so many hits; 0: go on */
	bool states;	/* record what threads do, too */
	void *arg;
	void (*armed)(void *arg, const struct nw_run_result *so_far); /* or NULL */
};

int nw_recorder_open(const struct nw_recorder_options *options, struct nw_recorder **out,
		     struct nw_error *err);
struct nw_consumer nw_recorder_consumer(struct nw_recorder *recorder);
/* Write the file. *bytes: of the pages in it. */
int nw_recorder_finish(struct nw_recorder *recorder, const struct nw_run_result *result,
		       uint64_t *bytes, struct nw_error *err);
void nw_recorder_free(struct nw_recorder *recorder);

/* ---- why a probe does not fire ------------------------------------------------------ */

/*
 * Look at everything that can be known without arming, then, unless that settles it or arming could
 * hurt, arm the probe for everybody and watch it for the request's duration (3 seconds). Of the
 * request: file, pids, duration_ns, force, features. A spec that is none is an error; that nothing
 * fits it is an answer. tool: what another tool was asked, or NULL.
 */
int nw_find_out_why(const struct nw_request *request, const char *spec,
		    const struct nw_tool *tool, struct nw_diagnosis *out,
		    struct nw_error *err);

/*
 * The places of the events that a tool records (by_event), as specs in tool->specs; missing: which of its events tracefs
 * does not have. This one reads tracefs.
 */
int nw_tool_find_places(struct nw_tool *tool, nw_strings *missing, struct nw_error *err);

#endif
