/* SPDX-License-Identifier: MIT */
/* The inside of a run: shared by its source (sources/), its guards (limits/) and its way from records to hits. */
#ifndef NOPWATCH_RUN_RUN_H
#define NOPWATCH_RUN_RUN_H

#include "nopwatch/engine.h"
#include "wake.h"

struct nw_rate_limit;
struct nw_meddling;
struct nw_replaced;

/*
 * Where the records of a run come from. The functions are called in this order, and none after
 * one that has failed but close().
 */
struct nw_run_source {
	bool ticks; /* time passes while it is read: the consumer is called now and then */
	bool live, recorded; /* it is the kernel, now; a recording. Neither: text */
	/* Find out the probes and how they are fetched: run->result's selection and plan. */
	int (*open)(struct nw_run *run, struct nw_error *err);
	/* The consumer knows the probes: arm them, or whatever makes records come; nw_run_begin() is called when the
	 * first may come. */
	int (*begin)(struct nw_run *run, struct nw_error *err);
	/* Wait for records. 1: there may be some; 0: it is over, and result->reason says why. */
	int (*fill)(struct nw_run *run, struct nw_error *err);
	/* The next record in time order: 1; 0: none for now; -errno. NULL: run->delivery.stream has it, as
	 * for all whose records come in pages. */
	int (*next)(struct nw_run *run, struct nw_record *record, struct nw_error *err);
	/* After all that had come was handed out: has the time come to an end, and does nothing go wrong? NULL:
	 * nothing can. */
	int (*check)(struct nw_run *run, struct nw_error *err);
	/* No more is wanted: what is still there is handed out after this, */
	int (*stop)(struct nw_run *run, struct nw_error *err);
	/* and then the result is completed. */
	int (*finish)(struct nw_run *run, struct nw_error *err);
	/* Everything it has opened, in whatever state. ret: how the run has gone so far. */
	void (*close)(struct nw_run *run, int ret);
};

/* Where births are not read all the time: when processes were looked at for those that map what is probed. */
struct nw_run_looking {
	uint64_t next; /* not before */
	uint64_t born; /* the latest number of all then; 0: not known */
	bool again;    /* somebody was born not long before */
};

/* The kernel's part of a live run: the session, the traced processes, and what guards both. The live source owns it. */
struct nw_run_live {
	char *command; /* the executable of request->command */
	struct nw_child child;
	struct nw_wake wake; /* of text that is read as it comes, too */
	struct nw_pid_space space;
	struct nw_tracefs fs;
	struct nw_features features;
	struct nw_session *session;
	struct nw_cpu_buffers buffers;
	struct nw_run_looking looking;
	struct nw_meddling *watch;	  /* over what others do to its events */
	struct nw_replaced *replaced;	  /* files that are watched; NULL: none */
	struct nw_rate_limit *rate_limit; /* NULL: there is no max_rate */
	uint64_t *
		profile; /* by point: hits the kernel had counted when we began to record */
	uint64_t *counted; /* the same at the end */
};

/* Hits on their way from records to the consumer, the same for all sources (deliver.c). */
struct nw_delivery {
	struct nw_formats formats;
	struct nw_stream *stream; /* NULL: the source is text */
	struct nw_join *join;
	struct nw_filter *filter; /* NULL: none */
	struct nw_tasks *tasks;
	struct nw_stacks *stacks;	      /* the result's; NULL: none are wanted */
	struct nw_kernel_texts *kernel_texts; /* NULL: nobody wants them, or not live */
	const struct nw_record *record; /* that is being handed out, for them; or NULL */
	uint64_t *probe_hits; /* handed to the consumer by probe; see nw_run_probe_hits() */
	uint64_t
		*probe_filtered; /* the same of what the filter took out; NULL: no filter */
	uint64_t records;	 /* first parts of hits, before any filter of ours */
	size_t told;		 /* of result->named the consumer has been told */
	bool needs_tasks;	 /* each hit's thread is looked up */
	bool goroutines;	 /* hits may be of these */
	bool enough;		 /* the consumer wants no more hits */
	bool had_loss, at_end;	 /* records were lost; no more will come */
};

/* A run: what was asked, who takes the hits, and what has come of it so far. */
struct nw_run {
	const struct nw_request *request;
	struct nw_consumer
		consumer; /* with something in the place of every NULL, but hits */
	struct nw_run_result *result;
	const struct nw_run_source *source;
	void *source_state; /* of a recording or text */
	const char *bytes;  /* in memory */
	size_t len;
	char *spooled; /* the same, if they came through a pipe; NULL: they are the caller's */
	struct nw_run_live live;
	struct nw_delivery delivery;
	bool begun;
	bool inner;	 /* stepped by another one: it never waits, and gets no signals */
	bool stopped;	 /* a signal has ended it before all had come */
	bool had_enough; /* the consumer has, of what was left to read at the end */
};

/* Begin to wait, for what the request names, too. */
int nw_run_open_wake(struct nw_run *run, struct nw_error *err);
/* Something that a person should know. */
void nw_run_notice(const struct nw_run *run, const char *fmt, ...) nw_format(2, 3);
void nw_request_notice(const struct nw_request *request, const char *fmt, ...)
	nw_format(2, 3);
/* The first record may come now, of this time: the consumer is told. Once; 0 after that. */
int nw_run_begin(struct nw_run *run, uint64_t start, struct nw_error *err);

/*
 * The pieces of nw_run(), for a run that is stepped by another one: its source's open(), prepare(), the
 * source's begin(); then steps, until one does not return 1, or nobody wants more; the end, whose last
 * hits may still come; close() and nw_run_free().
 */
int nw_run_prepare(struct nw_run *run, struct nw_error *err);
int nw_run_step(struct nw_run *run, struct nw_error *err);
int nw_run_end(struct nw_run *run, struct nw_error *err);

/* ---- what is meant (select.c) ------------------------------------------------------- */

void nw_run_init(struct nw_run *run, const struct nw_request *request,
		 const struct nw_consumer *consumer, struct nw_run_result *result);
void nw_run_free(struct nw_run *run);
/* The probes and the executable of the command. */
int nw_run_select(struct nw_run *run, struct nw_error *err);
/* The spans of a request, or those that names say. -ENOMEM. */
int nw_request_spans(const struct nw_request *request, const struct nw_selection *selection,
		     nw_span_defs *out);
/* Has the request asked for this event of the kernel's? */
bool nw_request_names(const struct nw_request *request, const struct nw_probe *probe);
int nw_run_plan(struct nw_run *run, const char *session, struct nw_error *err);
/* What the request's specs mean in the file that is at this path now, each of them by itself. */
int nw_run_select_again(const struct nw_run *run, const char *path,
			struct nw_selection *out, struct nw_error *err);
/* Plan these points of the selection, too. -ENOMEM */
int nw_run_plan_more(struct nw_run *run, const nw_points_of *points);
/* The processes that are meant, into result->pids: those of the request, or the command. */
int nw_run_collect_pids(struct nw_run *run, struct nw_error *err);
/* Add the processes below these. */
int nw_run_add_descendants(nw_pids *pids, struct nw_error *err);
/* Are there kernel events among the probes? They are recorded also when they only have to do with
 * a wanted thread: sched_switch to it, sched_wakeup of it. */
bool nw_run_has_kernel_events(const struct nw_run *run);
/* Are values of hits to be decoded? For most summaries they are not. */
bool nw_run_wants_values(const struct nw_run *run);
/* The kernel's events as nw_scope wants them. fs is opened when they are asked for, and is the
 * caller's to close. */
struct nw_kernel_events nw_events_of(struct nw_tracefs *fs);

/* ---- who is counted with CMD (command.c) --------------------------------------------- */

/*
 * With CMD and no -p: are only CMD and the processes that it starts counted? 1: yes, as --follow says so, or as CMD, or a
 * program that its arguments start, runs all probed files. 0: every process is (CMD is the load of a server). A notice says
 * which, unless CMD itself runs the files. -errno: it cannot be found out for want of something.
 */
int nw_run_counts_command(const struct nw_run *run, struct nw_error *err);

/* ---- who called (callers.c) ---------------------------------------------------------- */

/* Mark the probes whose callers are wanted; a glob that fits none is an error, as is a kernel that cannot tell. */
int nw_run_select_stacks(struct nw_run *run, struct nw_error *err);
/* The probes are planned: open what their stacks are kept in, if any of them has one. */
int nw_run_open_stacks(struct nw_run *run, struct nw_error *err);
/* Give the hit its stack, and take what it was found by from its values. -ENOMEM. */
int nw_run_add_callers(struct nw_run *run, struct nw_hit *hit);

/* ---- from records to hits (deliver.c) ----------------------------------------------- */

/* The probes are known: make room for what is counted by probe, and see to which of them the
 * filter applies. */
int nw_run_open_counts(struct nw_run *run, struct nw_error *err);
/* Begin to make hits of records; the plan and its formats are there. */
int nw_run_open_join(struct nw_run *run);
/* Say so where hits take several records whose order is not known, and some were lost: then parts of one hit may be shown
 * with another's. Behind the last hit. */
void nw_run_notice_order(const struct nw_run *run);
/* Hand what the source has to the consumer; and at the end the hits that are still being
 * joined. */
int nw_run_drain(struct nw_run *run, struct nw_error *err);
int nw_run_join_rest(struct nw_run *run);
/* How many of a probe were handed to it. */
uint64_t nw_run_probe_hits(const struct nw_run *run, size_t probe);
/* Errors of the consumer that only mean "stop", as a reason; NONE: others. */
enum nw_end_reason nw_run_reason(int ret);

/* ---- what becomes of it ------------------------------------------------------------- */

/* Room for the state of each probe in the result; once made, it stays. -ENOMEM. */
int nw_run_make_states(struct nw_run *run);
/* Set a probe's state, with a text that the result owns. -ENOMEM. */
int nw_run_set_state(struct nw_run *run, size_t probe, enum nw_state state, const char *fmt,
		     ...) nw_format(4, 5);
/*
 * The consumer has had enough (-n; nobody reads the output): what came behind that is recorded, but is not looked at. Also if the
 * run ended for another reason before that was read, as it does with a CMD that is over at once.
 */
static inline bool nw_run_is_cut_short(const struct nw_run *run)
{
	return run->had_enough || run->result->reason == NW_END_COUNT ||
	       run->result->reason == NW_END_OUTPUT;
}

/* The probes that a request means; all_args: whether or not they were named. */
int nw_request_select(const struct nw_request *request, bool all_args,
		      struct nw_selection *out, struct nw_error *err);

#endif
