/* SPDX-License-Identifier: MIT */
/*
 * A run: what stat, trace and record have in common. From specs to armed probes, through the
 * stream until something ends it, and back to a machine as it was.
 */
#ifndef NOPWATCH_ENGINE_RUN_H
#define NOPWATCH_ENGINE_RUN_H

#include "cmd/cmd.h"
#include "nopwatch/kernel.h"
#include "wake.h"

struct nw_run;
struct nw_governor;
struct nw_meddling;

/* Who consumes the hits. Functions return 0 or -errno; -ECANCELED: enough, stop now. */
struct nw_consumer {
	void *arg;
	bool all_args;	   /* fetch every argument */
	bool values;	   /* wants those that the user did not name with the hits, too */
	bool stacks;	   /* pairs calls, or keeps the hits for somebody who does */
	bool comms;	   /* wants to know processes and names of threads */
	bool named_events; /* call events after their probes, for other tools */
	bool large_pages;  /* does so little with a hit that reading it counts */
	/* Everything is planned; nothing is armed yet. */
	int (*start)(void *arg, struct nw_run *run, struct nw_error *err);
	/* Armed, or the recording is open. */
	int (*armed)(void *arg, struct nw_run *run, struct nw_error *err);
	int (*hit)(void *arg, const struct nw_hit *hit, const struct nw_task *task);
	/* The same of many hits, whose values and threads nobody wants; NULL: one by one. */
	int (*hits)(void *arg, const struct nw_hit *hits, size_t count);
	/* How many hits of a probe it was handed, so that the run need not count them, too; NULL:
	 * it does not know. */
	uint64_t (*counted)(void *arg, size_t probe);
	/* A hit that --filter has taken out; NULL: nobody has to know. */
	int (*filtered)(void *arg, const struct nw_hit *hit, const struct nw_task *task);
	/* A hit of a thread that is not wanted, in a run that is restricted; NULL: nobody cares. */
	int (*stranger)(void *arg, const struct nw_hit *hit);
	/* --max-rate has disabled a probe at this time; hits before it may still come. NULL:
	 * nobody has to know. */
	void (*disabled)(void *arg, uint32_t probe, uint64_t at);
	void (*exit)(void *arg, int32_t tid);
	void (*loss)(void *arg, const struct nw_record *record);
	/* The end, but the probes are still armed; may be NULL. */
	void (*stopping)(void *arg, struct nw_run *run);
	/* After every look at the ring buffer, several times a second at least. */
	int (*tick)(void *arg, struct nw_run *run, struct nw_error *err);
};

struct nw_run {
	const struct nw_args *args;
	const struct nw_consumer *consumer;

	struct nw_filter *filter; /* NULL: none */
	bool needs_tasks;	  /* somebody looks at the threads of hits */
	NW_VEC(struct nw_spec) specs;
	struct nw_selection selection;
	struct nw_plan plan;
	bool restricted; /* to some processes */
	struct nw_pid_space space;

	struct nw_tracefs fs;
	struct nw_features features;
	struct nw_session *session;
	struct nw_formats formats;
	struct nw_stream *stream;
	struct nw_join *join;
	struct nw_tasks *tasks;
	NW_VEC(int) fds;
	nw_vec_u32 cpus;

	struct nw_meddling *watch;    /* over what others do to its events */
	struct nw_governor *governor; /* NULL: there is no --max-rate */
	struct nw_wake wake;
	struct nw_child child;

	uint64_t start_ns, stop_ns; /* trace clock: what is recorded is between them */
	uint64_t armed_ns;	    /* all probes were enabled */
	bool meddled;		    /* others have disabled or deleted events of its */
	bool unclean;		    /* something of it had to stay in the kernel */
	uint64_t now_ns;	    /* at the last tick */
	int64_t wall_ns;	    /* add to the trace clock for the time of day */
	const char *reason;	    /* why it ended */
	bool enough;		    /* the consumer wants no more hits */
	uint64_t hits;		    /* handed to the consumer */
	uint64_t *probe_hits;	    /* the same by probe; see nw_run_probe_hits() */
	uint64_t filtered;	    /* hits that were taken out by the filter */
	uint64_t *probe_filtered;   /* the same by probe; NULL: there is no filter */
	uint64_t records;	    /* first parts of hits, before any filter of ours */
	uint64_t lost;		    /* events, as the kernel counts them */
	bool lost_is_least;
	uint64_t *
		profile; /* by point: hits the kernel had counted when we began to record */
	uint64_t dropped;      /* hits that were counted but not recorded */
	uint64_t *disabled_at; /* per probe, trace clock, 0: it was not; NULL: none was */
	uint64_t kernel_hits, cost_ns; /* as the kernel counted them; what they have cost */
	struct nw_probe_state *states; /* per probe, after the run; NULL: not known */
	nw_strings state_texts;	       /* what their texts point to */
};

/* Run to the end. Everything is taken away again before this returns, whatever happens; the
 * results in `run` stay until nw_run_free(). */
int nw_run(struct nw_run *run, const struct nw_args *args,
	   const struct nw_consumer *consumer, struct nw_error *err);
/* The same from a recording or from trace text (--from, report). */
int nw_replay(struct nw_run *run, const struct nw_args *args,
	      const struct nw_consumer *consumer, struct nw_error *err);
/* The part of it that is text: in memory, or as it comes out of a pipe. */
int nw_replay_text(struct nw_run *run, const char *bytes, size_t len, struct nw_error *err);
int nw_replay_pipe(struct nw_run *run, int fd, struct nw_error *err);
/* Recording or text that lies in memory. */
int nw_replay_bytes(struct nw_run *run, const void *bytes, size_t len,
		    struct nw_error *err);
void nw_run_free(struct nw_run *run);
/* --dry-run: print the run as shell commands that do the same to the kernel. The exit status. */
int nw_dry_run(const struct nw_args *args, const struct nw_consumer *consumer,
	       const struct nw_command *command);

/* The parts of a run: which probes and what CMD is meant (*command: its executable, NULL before;
 * the caller frees it; command NULL: there is none), and the plan for them. */
int nw_run_select(struct nw_run *run, const struct nw_args *args,
		  const struct nw_consumer *consumer, char **command, struct nw_error *err);
int nw_run_plan(struct nw_run *run, const char *session, struct nw_error *err);
/* Are all probes in what CMD itself runs? */
bool nw_run_command_has_probes(const struct nw_run *run, const char *command);
/* The processes that are meant: those of -p, or CMD; in the kernel's numbers. */
int nw_run_collect_pids(struct nw_run *run, const char *command, nw_pids *pids,
			struct nw_error *err);
/* Add the processes below these. */
int nw_run_add_descendants(nw_pids *pids, struct nw_error *err);
/* The exit status: of CMD, if that is what ended the run. */
int nw_run_status(const struct nw_run *run);
/* Everything up to this time has been handed out. */
uint64_t nw_run_known(const struct nw_run *run);
/* Elapsed trace time, until now or until the end. */
uint64_t nw_run_elapsed(const struct nw_run *run);

/* A note on the hits that were counted but not recorded, if there were any. */
void nw_run_tell_dropped(const struct nw_run *run);

/* --filter, before anything is done. */
int nw_run_read_filter(struct nw_run *run, struct nw_error *err);
/* Must arguments be fetched that the user did not name? */
bool nw_run_wants_args(const struct nw_run *run);
/* The probes are known: make room for what is counted by probe, and see to which of them the
 * filter applies. */
int nw_run_open_counts(struct nw_run *run, struct nw_error *err);
/* Are there kernel events among the probes? They are recorded also when they only have to do with
 * a wanted thread: sched_switch to it, sched_wakeup of it. */
bool nw_run_has_kernel_events(const struct nw_run *run);
/* Does anybody look at the values of hits? Not for most summaries. */
bool nw_run_wants_values(const struct nw_run *run);
/* Begin to make hits of records; the plan and its formats are there. */
int nw_run_open_join(struct nw_run *run);
/* Hand what the stream has to the consumer. */
int nw_run_drain(struct nw_run *run);
/* How many of a probe were handed to it. */
uint64_t nw_run_probe_hits(const struct nw_run *run, size_t probe);
/* Hand one record to it, and at the end the hits that are still being joined. */
int nw_run_take(struct nw_run *run, const struct nw_record *record);
int nw_run_join_rest(struct nw_run *run);
/* Errors of the consumer that only mean "stop", as a reason; NULL: others. */
const char *nw_run_reason(int ret);
/* And the rest of it, at the end. What only means "stop" is no error here. */
int nw_run_drain_rest(struct nw_run *run);
/* Sites that are armed. */
size_t nw_run_sites(const struct nw_run *run);
/* The kernel's events as nw_scope wants them. fs is opened when they are asked for, and is the
 * caller's to close. */
struct nw_kernel_events nw_events_of(struct nw_tracefs *fs);
/* events/header_page, as it is for the session's ring buffer. */
int nw_run_read_header(const struct nw_run *run, struct nw_buf *out, struct nw_error *err);
/* The text of an event's format file; arg is the struct nw_tracefs. */
int nw_run_read_format(void *arg, const char *system, const char *name, struct nw_buf *out);

/* --max-rate (src/engine/rate_limit.c): look whether a probe is hit too often, and disable it. */
int nw_governor_open(struct nw_run *run, struct nw_error *err);
int nw_governor_look(struct nw_run *run, struct nw_error *err);
void nw_governor_free(struct nw_run *run);
bool nw_run_is_disabled(const struct nw_run *run, size_t probe);
/* A probe was disabled at this time, now or while it was recorded, as text says. */
#define NW_STATE_DISABLED "disabled"
#define NW_STATE_MEDDLED  "disabled-by-others"
int nw_run_mark_disabled(struct nw_run *run, size_t probe, const char *word, uint64_t at,
			 const char *text, struct nw_error *err);
/* Watch over the events that are armed now; look, once a second and at the end, what others have
 * done to them, and mark the probes that are not recorded any more. */
int nw_watch_open(struct nw_run *run, struct nw_error *err);
int nw_watch_look(struct nw_run *run, bool at_end, struct nw_error *err);
/* What these hits, by point, have cost the programs; and say it. */
void nw_run_count_cost(struct nw_run *run, const uint64_t *hits);
void nw_run_tell_cost(const struct nw_run *run);
/* Tell which arguments will have no value, and why (src/cmd/missing.c). */
void nw_run_tell_missing(const struct nw_run *run);
/* Read back, in the processes of -p (with -v in all), what enabling has armed; tell what not. */
int nw_run_read_back(struct nw_run *run, struct nw_error *err);
/* What the hits that came say about the states of probes. */
int nw_run_judge_hits(struct nw_run *run, struct nw_error *err);
/* Why probes without hits have none (src/cmd/silent.c). Before disarming. */
int nw_run_explain(struct nw_run *run, struct nw_error *err);

#endif
