/* SPDX-License-Identifier: MIT */
/*
 * kernel: a plan becomes armed probes in an instance of its own, and every trace of it goes
 * away again. The only room that touches tracefs and /run/nopwatch.
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
#ifndef NOPWATCH_KERNEL_H
#define NOPWATCH_KERNEL_H

#include "nopwatch/plan.h"

/* ---- tracefs ------------------------------------------------------------------------ */

struct nw_tracefs {
	int root; /* directory, O_PATH */
	char path[256];
};

/* Find and open tracefs: where NOPWATCH_TRACEFS says, else where it is mounted. Errors name
 * the remedy: not mounted, not allowed, no uprobes. */
int nw_tracefs_open(struct nw_tracefs *out, struct nw_error *err);
void nw_tracefs_close(struct nw_tracefs *fs);

/* Files below a directory of tracefs. All return 0 or -errno; read adds to out. */
int nw_tracefs_read(int dir, const char *file, struct nw_buf *out);
int nw_tracefs_write(int dir, const char *file, const char *text); /* replaces */
int nw_tracefs_append(int dir, const char *file, const char *text);
bool nw_tracefs_has(int dir, const char *file);
/* The kernel's own reason for refusing this definition, from error_log; "" if it has none. */
void nw_tracefs_reason(const struct nw_tracefs *fs, const char *command, char out[128]);

/* What an error number means: a sentence, in answer to what was tried. Never NULL. */
enum nw_refusal {
	NW_REFUSED_OTHERWISE,
	NW_REFUSED_DEFINITION,
	NW_REFUSED_ENABLING,
	NW_REFUSED_DELETION,
	NW_REFUSED_INSTANCE,
};
const char *nw_refusal_text(enum nw_refusal what, int code);

/* The events that the kernel has, as "SYSTEM:EVENT", but those of sessions like ours. */
int nw_tracefs_events(const struct nw_tracefs *fs, nw_strings *out, struct nw_error *err);
/* The text of an event's format file, added to out. Returns 0 or -errno. */
int nw_tracefs_format(const struct nw_tracefs *fs, const char *system, const char *event,
		      struct nw_buf *out);

/* ---- features ----------------------------------------------------------------------- */

enum nw_feature {
	NW_FEATURE_UPROBE_EVENTS,
	NW_FEATURE_INSTANCES,
	NW_FEATURE_INSTANCE_EVENTS,
	NW_FEATURE_MEMORY,
	NW_FEATURE_PATH_COLON,
	NW_FEATURE_REF_CTR,
	NW_FEATURE_MULTI_SITE,
	NW_FEATURE_HEX,
	NW_FEATURE_ARRAYS,
	NW_FEATURE_IMMEDIATE,
	NW_FEATURE_EVENT_PID,
	NW_FEATURE_EVENT_FORK,
	NW_FEATURE_BUFFER_PERCENT,
	NW_FEATURE_SUBBUF,
	NW_FEATURE_ERROR_LOG,
	NW_FEATURE_CLOCK_MONO,
	NW_FEATURE_CLOCK_BOOT,
	NW_FEATURE_HIST,
	NW_FEATURE_SYNTHETIC,
	NW_FEATURE_NOP5_SAFE,
	NW_FEATURE_EXPEDITE,
	NW_FEATURE_FANOTIFY,
	NW_FEATURE_COUNT
};

struct nw_features {
	bool has[NW_FEATURE_COUNT];
	bool masked[NW_FEATURE_COUNT]; /* switched off by NOPWATCH_FEATURES */
	bool long64;		       /* a 64-bit kernel, whatever we are */
	/* what came of trying it: "works", or what went wrong; NULL: not tried */
	const char *tried[NW_FEATURE_COUNT];
	bool unproven; /* neither README nor files tell of some: nw_features_find() does */
};

/* One row of the table of features. */
struct nw_feature_info {
	const char *name;    /* as NOPWATCH_FEATURES has it: "ref_ctr" */
	const char *what;    /* what it is */
	const char *how;     /* how it is found out */
	const char *without; /* what nopwatch does where it is missing */
};
extern const struct nw_feature_info nw_feature_table[NW_FEATURE_COUNT];

/*
 * What this kernel can do, from README, the files that exist and what they hold; never from
 * its version. mask: "-ref_ctr,-hex" or NULL; an unknown name is EINVAL.
 */
int nw_features_detect(const struct nw_tracefs *fs, const char *mask,
		       struct nw_features *out, struct nw_error *err);
/* A kernel that can do everything but what mask says: where none can be asked. */
int nw_features_assume(const char *mask, struct nw_features *out, struct nw_error *err);
/*
 * Try out what can be tried: definitions and armed probes in our own executable, in a session of
 * its own that is taken away again. Takes a tenth of a second, so it is for `features` and for
 * kernels that do not tell. What was tried decides `has`, unless it is masked.
 */
int nw_features_try(const struct nw_tracefs *fs, struct nw_features *features,
		    struct nw_error *err);
/*
 * What commands go by: nw_features_detect(), and where that leaves something open, what was tried since
 * the machine was booted (/run/nopwatch/tried.features), or else a trial now. may_try false: nothing is
 * changed; what nobody knows yet is then taken to be there, and out->unproven says so.
 */
int nw_features_find(const struct nw_tracefs *fs, const char *mask, bool may_try,
		     struct nw_features *out, struct nw_error *err);
struct nw_caps nw_features_caps(const struct nw_features *features);
/* Before Linux 3.14 a uprobe in a file on tmpfs is taken and never hits: is it such a kernel, which
 * trying has shown, and such a file? */
bool nw_is_mute(const struct nw_features *features, const struct nw_image *image);

/* What makes a place too dangerous to arm without --force; NULL: nothing. features NULL: on a kernel
 * that is not known. */
const char *nw_point_hazard(const struct nw_features *features,
			    const struct nw_point *point);

/* ---- sessions ----------------------------------------------------------------------- */

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
	/* Record only these processes and what they create, by the kernel's numbers; none: all. */
	const pid_t *pids;
	size_t pid_count;
	const struct nw_pid_space *space; /* whose numbers /proc has; NULL: the kernel's */
	bool tasks; /* also record births, names and deaths of threads */
	bool force; /* arm what is known to be dangerous */
};

struct nw_session;

/* The kernel events that options.tasks records: "task/task_newtask", ... */
extern const char *const nw_task_events[];
extern const size_t nw_task_event_count;

/* The name that the kernel has kept of a thread that hit an event (saved_cmdlines), by its own
 * number; comm is left alone if it has none. */
void nw_saved_name(const struct nw_tracefs *fs, pid_t tid, char comm[16]);

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
 * Switch recording on, then enable: from here on processes are hit. What filters does so already,
 * so the first hit of a program that only waits for its semaphore is recorded.
 */
int nw_session_arm(struct nw_session *session, struct nw_error *err);
/* On the session's clock: when recording was switched on. */
uint64_t nw_session_began(const struct nw_session *session);
/*
 * Where the kernel does not raise semaphores itself, the session does, also in processes that
 * start later: call nw_session_tend() whenever nw_session_fd() (-1: none) is readable, and after
 * as many milliseconds as it returns.
 */
int nw_session_fd(const struct nw_session *session);
int nw_session_tend(struct nw_session *session);
/*
 * Does the kernel record only the threads of options.pids? If not, the caller sorts the hits, and
 * tells of threads that are not wanted, hit by hit, and of threads that have ended.
 */
bool nw_session_restricts(const struct nw_session *session);
void nw_session_stranger(struct nw_session *session, pid_t tid);
void nw_session_gone(struct nw_session *session, pid_t tid);
/* Does the session have to raise semaphores in these images? NULL: in any. */
bool nw_session_raises(const struct nw_session *session, const nw_images *images);
/* Raise those that a process maps by now. true: it has all that are in these images. */
bool nw_session_raise(struct nw_session *session, pid_t pid, const nw_images *images);
/* Disable the events of one probe of the plan, which must have been planned as separate. */
int nw_session_disable(struct nw_session *session, size_t probe, struct nw_error *err);
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
/* One word for a shell. */
void nw_shell_word(struct nw_buf *out, const char *text);

/* The directory of its instance; of the top level, where it has to record there. */
int nw_session_instance(const struct nw_session *session);
enum nw_clock nw_session_clock(const struct nw_session *session);
/* What went wrong without being fatal, for the user; lives as long as the session. */
const nw_strings *nw_session_warnings(const struct nw_session *session);
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

/* The file descriptors of trace_pipe_raw are opened by the stream room, below the instance's
 * per_cpu directory. */

/* ---- leftovers ---------------------------------------------------------------------- */

struct nw_clean_report {
	unsigned int living;  /* sessions left alone */
	unsigned int removed; /* dead sessions taken away */
	unsigned int
		waiting;    /* whose empty instance stays while others read a trace_pipe */
	size_t persistent;  /* events that `add` made: they stay */
	nw_strings stuck;   /* what could not be removed, and why */
	nw_strings orphans; /* nopwatch_* in tracefs that no journal speaks of */
};

/* Remove what dead sessions left. orphans_too: also what has no journal. */
int nw_clean(const struct nw_tracefs *fs, bool orphans_too, struct nw_clean_report *out,
	     struct nw_error *err);
/* What nw_clean() would do, as shell commands. */
int nw_clean_dry_run(const struct nw_tracefs *fs, bool orphans_too, struct nw_buf *out,
		     struct nw_error *err);
void nw_clean_report_free(struct nw_clean_report *report);

/* ---- looking around ----------------------------------------------------------------- */

/* What the kernel allows, to us and to tools that use BPF. */
struct nw_kernel_access {
	int tracefs; /* 0: usable; else the errno, and in `error` why and what to do */
	struct nw_error error;
	char lockdown
		[24]; /* "none", "integrity", "confidentiality"; "": no lockdown here */
	bool root;
	int bpf;	      /* 0: bpf() may load programs; else its errno */
	bool btf;	      /* the kernel describes its own types */
	bool pmu;	      /* perf_event_open() knows uprobes */
	int perf_paranoid;    /* kernel.perf_event_paranoid; -100: unknown */
	int bpf_unprivileged; /* kernel.unprivileged_bpf_disabled; -1: unknown */
	uint64_t memlock;     /* RLIMIT_MEMLOCK, UINT64_MAX: none */
};

void nw_kernel_access_read(struct nw_kernel_access *out);

/* An event of somebody else's on a file of interest, and what becomes of its hits. */
struct nw_foreign_event {
	char group[NW_MAX_NAME + 1], name[NW_MAX_NAME + 1];
	char *path;
	uint64_t offset, ref_ctr; /* ref_ctr 0: it has none */
	bool is_return;
	bool enabled;			/* in the top level or in an instance */
	char instance[NW_MAX_NAME + 1]; /* the one that has it enabled, "": the top level */
	pid_t dead_owner; /* the process that its name speaks of is gone; 0: not known */
	uint64_t hits;	  /* uprobe_profile; of everybody, since it was defined */
	/* the instance: */
	bool tracing_on;
	bool overwrite;	   /* a full buffer drops the oldest, not the newest events */
	bool pid_filter;   /* set_event_pid is set, */
	bool pid_filtered; /* and has none of the threads of interest */
	bool pid_excluded; /* set_event_notrace_pid has all of them */
	bool waits;	   /* enabled, but recorded only once a trigger switches it on */
	unsigned int cpus_left_out; /* by tracing_cpumask, */
	char *all_cpus;		    /* which would be this if it left out none; or NULL */
	uint64_t buffer_kib;	    /* a CPU; 0: not made yet */
	char filter[128];	    /* "" = none */
	uint64_t
		recorded; /* events that went into its buffer, read and overwritten ones too */
	uint64_t dropped; /* that did not fit */
	nw_pids readers;  /* processes that hold a trace_pipe of it open */
};

typedef NW_VEC(struct nw_foreign_event) nw_foreign_events;

/* All events of others on the file. threads: whom set_event_pid must let through; may be none. */
int nw_foreign_events_read(const struct nw_tracefs *fs, const struct nw_image *image,
			   const nw_pids *threads, nw_foreign_events *out,
			   struct nw_error *err);
void nw_foreign_events_free(nw_foreign_events *events);

/* How many of the CPUs that are online (a list: "0-3,8") are not in a mask ("f,ffffffff")? */
unsigned int nw_cpus_left_out(const char *mask, const char *online);
/* The mask of all that are online. 0 or -ENOMEM. */
int nw_cpus_mask(const char *online, struct nw_buf *out);

/* ---- every uprobe event that there is ----------------------------------------------- */

/* An event that `add` has made, as the journal of what stays knows it. */
struct nw_persistent_event {
	char group[NW_MAX_NAME + 1], name[NW_MAX_NAME + 1];
	char *label; /* of its probe: "postgresql:query__start" */
	char *file;  /* as the user knows it */
	char *link; /* how the kernel was told, if its grammar cannot carry that; else "" */
	char *home; /* the instance it was made for; "": the top level */
	uint64_t offset;
	bool is_return;
	uint64_t dev, ino, size; /* the file at that time */
	int64_t mtime;
	char build_id[129];
	unsigned int machine; /* e_machine */
	nw_strings on;	      /* where we have enabled it: "" or an instance */
	bool defined;	      /* the kernel has it: as it was last pruned */
};

/* One place of an event: a line of uprobe_events. */
struct nw_definition {
	char *line; /* all of it: "p:GROUP/NAME PATH:0xOFFSET(0xREF_CTR) ARGS" */
	char *path;
	uint64_t offset;
	uint64_t ref_ctr; /* 0: none */
	char *args;	  /* "a=%di:s32"; "": none */
	uint64_t hits;	  /* uprobe_profile: in the whole system, recorded or not */
};

/* What an event is in the top-level buffer or an instance, if not off and without filter. */
struct nw_event_use {
	char *where; /* "": the top level; else the instance */
	bool on;
	char *filter; /* "": none */
};

enum nw_owner {
	NW_OWNER_FOREIGN,    /* somebody else, or nothing is known */
	NW_OWNER_PERSISTENT, /* `add` has made it */
	NW_OWNER_SESSION,    /* of a nopwatch that runs */
	NW_OWNER_DEAD,	     /* of one that was killed: `clean` removes it */
	NW_OWNER_ORPHAN,     /* named as a session's, but no journal here knows of it */
};

struct nw_uprobe_event {
	char group[NW_MAX_NAME + 1], name[NW_MAX_NAME + 1];
	bool is_return;
	NW_VEC(struct nw_definition) places; /* at least one */
	NW_VEC(struct nw_event_use) uses;
	enum nw_owner owner;
	pid_t owner_pid;			      /* of a session; else 0 */
	const struct nw_persistent_event *persistent; /* owner == PERSISTENT; else NULL */
};

struct nw_inventory {
	NW_VEC(struct nw_uprobe_event) events;
	bool has_hits;	      /* false: the list changed whenever it was looked at */
	nw_strings instances; /* all there are */
};

/* Is the event enabled there ("" or an instance)? */
bool nw_event_is_on(const struct nw_uprobe_event *event, const char *where);
/*
 * Does a pattern mean this event? GROUP:EVENT, GROUP/EVENT, GROUP or EVENT, or the label of its
 * probe; globs anywhere.
 */
bool nw_event_matches(const struct nw_uprobe_event *event, const char *pattern);
/* Does the event stand at this very place, the same inode and offset? */
bool nw_event_is_at(const struct nw_uprobe_event *event, const struct nw_point *point);

/* ---- events that stay --------------------------------------------------------------- */

/*
 * The manager: changes to what stays. Verbs only collect what is to be done; nw_manager_do()
 * does all of it or nothing, nw_manager_print() prints it as shell commands. Between opening and
 * closing no other manager changes anything.
 */
struct nw_manager;

/*
 * fs->root < 0: there is no tracefs; then nothing exists and all can only be told. read_only: only
 * for looking and telling, takes no lock and writes nothing. Else, what a killed manager had
 * begun is undone first (nw_manager_notes() says so).
 */
int nw_manager_open(const struct nw_tracefs *fs, const struct nw_features *features,
		    bool read_only, struct nw_manager **out, struct nw_error *err);
/* Where there is no tracefs to look at: take the plan's events for there, as `add` would make
 * them, enabled at the top level (and in instance, if not NULL) or not. Only to be told. */
int nw_manager_assume(struct nw_manager *manager, const struct nw_plan *plan, bool on,
		      const char *instance, struct nw_error *err);
const struct nw_inventory *nw_manager_inventory(const struct nw_manager *manager);

struct nw_manager_options {
	const char *instance; /* NULL: not said; "" is the top level */
	bool enable;	      /* add: enable at once */
	bool foreign;	      /* touch what is not ours */
	bool force;	      /* what is dangerous; remove what others have enabled */
};

/* Define every event of a plan that was made with NW_NAMES_STAY and without sharing. An event
 * that is there already, for the same place and arguments, is left as it is. */
int nw_manager_add(struct nw_manager *manager, const struct nw_plan *plan,
		   const struct nw_manager_options *options, struct nw_error *err);
/* Enable or disable an event of the inventory: in options->instance, else at its home; an
 * event is disabled wherever we have enabled it. */
int nw_manager_switch(struct nw_manager *manager, const struct nw_uprobe_event *event,
		      bool on, const struct nw_manager_options *options,
		      struct nw_error *err);
/* Delete an event. EBUSY with names, if others have enabled it. */
int nw_manager_remove(struct nw_manager *manager, const struct nw_uprobe_event *event,
		      const struct nw_manager_options *options, struct nw_error *err);

/* EPERM: the event is not ours to touch, and why. */
int nw_manager_may_touch(const struct nw_uprobe_event *event,
			 const struct nw_manager_options *options, struct nw_error *err);

int nw_manager_do(struct nw_manager *manager, struct nw_error *err);
void nw_manager_print(const struct nw_manager *manager, struct nw_buf *out);

/* What became of each event that a verb was asked about. */
struct nw_change {
	char event[2 * NW_MAX_NAME + 2]; /* "GROUP:NAME" */
	char *label;			 /* "" if unknown */
	char *where;			 /* where it was enabled or disabled; else "" */
	const char *what; /* "added", "added and enabled", "there already", "enabled",
			     "enabled already", "disabled", "not enabled", "removed" */
};
typedef NW_VEC(struct nw_change) nw_changes;
const nw_changes *nw_manager_changes(const struct nw_manager *manager);
/* What the user should know; lives as long as the manager. */
const nw_strings *nw_manager_notes(const struct nw_manager *manager);
/* What nw_manager_do() was to take away and had to leave: the journal keeps it for later. */
const nw_strings *nw_manager_left(const struct nw_manager *manager);
void nw_manager_close(struct nw_manager *manager);

/* May the name be an instance's? EINVAL. */
int nw_instance_name_check(const char *name, struct nw_error *err);
/* May the name be a group's, one that is no session's? EINVAL. */
int nw_group_name_check(const char *name, struct nw_error *err);

#endif
