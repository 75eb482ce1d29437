/* SPDX-License-Identifier: MIT */
/*
 * why: derives from facts why a probe does not fire. Pure: the facts come from the rooms find and kernel and from
 * watching the probe; here they become checks (what was looked at, what was seen), causes and one verdict.
 */
#ifndef NOPWATCH_WHY_WHY_H
#define NOPWATCH_WHY_WHY_H

#include "find/probe/probe.h"
#include "find/process/kernel_symbols.h"
#include "kernel/recovery/inventory.h"
#include "kernel/session/session.h"
#include "kernel/tracefs/user_events.h"

/* ---- causes ------------------------------------------------------------------------- */

/* The kinds of causes, by what a cause proves. */
enum nw_cause_kind {
	NW_KIND_SILENT, /* no hit is possible */
	NW_KIND_DANGER, /* arming could hurt the process, so it was not tried */
	NW_KIND_MAYBE,	/* could be why there was no hit */
	/* the probe is hit, but another tool's events of it are not recorded or not read */
	NW_KIND_OUTPUT,
	NW_KIND_BPF, /* the probe is hit, but BPF tools may show nothing */
};

enum nw_cause {
	NW_CAUSE_NO_TRACEFS,
	NW_CAUSE_NO_UPROBES,
	NW_CAUSE_NO_KPROBES,
	NW_CAUSE_NO_USER_EVENTS,
	NW_CAUSE_NOT_REGISTERED,
	NW_CAUSE_NO_PRIVILEGE,
	NW_CAUSE_LOCKDOWN,
	NW_CAUSE_FILE_MISSING,
	NW_CAUSE_FILE_DELETED,
	NW_CAUSE_DEBUG_FILE,
	NW_CAUSE_OBJECT_FILE,
	NW_CAUSE_SCRIPT,
	NW_CAUSE_SYMBOL_IMPORTED,
	NW_CAUSE_SYMBOL_STRIPPED,
	NW_CAUSE_SYMBOL_INLINED,
	NW_CAUSE_SYMBOL_MANGLED,
	NW_CAUSE_SYMBOL_MISSING,
	NW_CAUSE_SYMBOL_AMBIGUOUS,
	NW_CAUSE_SYMBOL_IFUNC,
	NW_CAUSE_SYMBOL_IS_NOTE,
	NW_CAUSE_FORBIDDEN,
	NW_CAUSE_NOT_TRACEABLE,
	NW_CAUSE_KPROBES_OFF,
	NW_CAUSE_GENERATED,
	NW_CAUSE_NO_SUCH_LINE,
	NW_CAUSE_INTERPOSED,
	NW_CAUSE_NO_NOTES,
	NW_CAUSE_NO_SUCH_PROBE,
	NW_CAUSE_NOTE_DAMAGED,
	NW_CAUSE_NOTE_SEMAPHORE,
	NW_CAUSE_ADDRESS_AS_OFFSET,
	NW_CAUSE_BAD_OFFSET,
	NW_CAUSE_BREAKPOINT,
	NW_CAUSE_THUMB,
	NW_CAUSE_INSIDE_FUNCTION,
	NW_CAUSE_BAD_DEFINITION,
	NW_CAUSE_NOP5,
	NW_CAUSE_RETURN_GO,
	NW_CAUSE_RETURN_EXCEPTION,
	NW_CAUSE_RETURN_SECCOMP,
	NW_CAUSE_PROCESS_GONE,
	NW_CAUSE_THREAD_ID,
	NW_CAUSE_INNER_PID,
	NW_CAUSE_OTHER_NAMESPACE,
	NW_CAUSE_OVERLAY,
	NW_CAUSE_FILE_REPLACED,
	NW_CAUSE_OTHER_COPY,
	NW_CAUSE_OTHER_PROGRAM,
	NW_CAUSE_NOT_LOADED,
	NW_CAUSE_NOT_RUNNING,
	NW_CAUSE_TEXT_COPIED,
	NW_CAUSE_TEXT_WRITABLE,
	NW_CAUSE_TRANSLATED,
	NW_CAUSE_STALE_EVENT,
	NW_CAUSE_PLACE_TAKEN,
	NW_CAUSE_EVENT_OFFSET,
	NW_CAUSE_EVENT_DISABLED,
	NW_CAUSE_NO_SUCH_EVENT,
	NW_CAUSE_REFUSED,
	NW_CAUSE_FILESYSTEM,
	NW_CAUSE_NOT_ARMED,
	NW_CAUSE_SEMAPHORE,
	NW_CAUSE_EXECED,
	NW_CAUSE_CHILD,
	NW_CAUSE_OTHER_PROCESS,
	NW_CAUSE_NOT_EXECUTED,
	NW_CAUSE_STOPPED,
	NW_CAUSE_NO_RETURN,
	NW_CAUSE_SWITCHED_OFF,
	NW_CAUSE_TRACING_OFF,
	NW_CAUSE_FILTER,
	NW_CAUSE_PID_FILTER,
	NW_CAUSE_CPU_MASK,
	NW_CAUSE_BUFFER_FULL,
	NW_CAUSE_SECOND_READER,
	NW_CAUSE_BPF_PRIVILEGE,
	NW_CAUSE_BPF_MISSING,
	NW_CAUSE_BPF_OPERAND,
	NW_CAUSE_BITS32,
	NW_CAUSE_BPF_PROGRAM,
	NW_CAUSE_LIMIT,
	NW_CAUSE_COUNT
};

struct nw_cause_info {
	const char *key; /* in JSON and in docs/why.md; does not change */
	enum nw_cause_kind kind;
	const char *title; /* the check in a few words */
};
extern const struct nw_cause_info nw_cause_table[NW_CAUSE_COUNT];

/* ---- facts -------------------------------------------------------------------------- */

/* The observations made while the probe was armed. */
struct nw_watch {
	bool done; /* the probe was armed and watched */
	/* why the probe was not armed, a phrase; NULL: it was armed, or refused */
	const char *skipped;
	char refused[768]; /* the kernel's or nopwatch's reason not to arm; "": armed */
	int refused_code;  /* the errno of the refusal */
	uint64_t elapsed_ns;
	size_t sites, sites_hit;
	uint64_t counted;  /* hits by the kernel's count, in all processes */
	uint64_t recorded; /* hits that nopwatch's ring buffer delivered */
	/* recorded hits in the processes that the user named (all, if none was named) */
	uint64_t in_target;
	uint64_t in_children; /* recorded hits in the children of these processes */
	pid_t other_pid;      /* the other process with the most hits; 0: none */
	char other_comm[16];
	uint64_t other_hits;
	pid_t child_pid;
	struct nw_presence before,
		after;	  /* sums over the sites: at the start, at the end */
	uint64_t entered; /* a return probe: calls that began in the named processes */
	/* how the first named process was stopped when the watch ended */
	struct nw_stop stop;
	bool exec_seen; /* the process began another program during the watch */
	bool ended;	/* the process ended during the watch */
	char *exe_after;
};

/* Another tool's command line, as nw_tool_parse() reads it. */
struct nw_tool {
	char *program;	  /* "bpftrace", "stap", "perf", "trace-cmd" */
	nw_strings specs; /* its user-level probes, as nopwatch's specs */
	nw_strings
		events; /* tracepoint:GROUP:EVENT of its probes; by_event: GROUP:EVENT or GROUP */
	bool by_event;	    /* it records events of tracefs: perf record, trace-cmd */
	char *script;	    /* the file with the program; NULL: it is on the command line */
	pid_t pid;	    /* -p, or a filter /pid == N/; 0: none */
	char *command;	    /* -c; NULL: none */
	uint64_t args_used; /* bit N: argN is used */
	bool filter;	    /* some probe has a filter */
	bool returns_arg;   /* argN in a return probe */
	size_t word_used;   /* the highest $N, a word of its command line; 0: none */
	size_t words;	    /* words that its command line has for them */
	bool wants_string;  /* str(argN) */
	bool source_names; /* its functions may have the names of their source: bpftrace, in quotes or behind cpp: */
	size_t other_probes; /* probes of other kinds */
};

/* All facts for a verdict. A NULL means: not looked at, or it does not apply. */
/* A function that a process generates while it runs, such as a method that a JVM has compiled. */
struct nw_generated {
	pid_t pid;  /* 0: there is none */
	char *name; /* in its /tmp/perf-PID.map; NULL: it is not there, but the process is of a runtime that generates code */
	const char *runtime;	 /* "a JVM"; NULL: not known */
	const char *lists_names; /* how that runtime is made to list its functions there */
	uint64_t code;		 /* bytes of code in memory of no file */
	char *probe; /* spec of the runtime's own USDT probe for each call; NULL: it has none */
};

struct nw_facts {
	const struct nw_kernel_access *kernel;
	bool nop5_safe;
	bool ref_ctr; /* the kernel counts semaphores, and refuses a place with another counter */
	bool mute; /* on this kernel no probe in a file on such a file system hits */
	const struct nw_spec *spec;
	/* the file of the spec; NULL: the user named none */
	const char *path;
	const struct nw_image *image;	   /* NULL: it cannot be opened */
	const struct nw_error *file_error; /* why the file cannot be opened */
	const struct nw_selection
		*selection; /* the probes of the file that match the spec; may be empty */
	const struct nw_error *select_error;  /* why nothing matches */
	const struct nw_symbol_facts *symbol; /* of a spec of a function */
	const struct nw_kernel_function
		*function; /* of a spec of a function of the kernel */
	bool kprobes;	   /* the kernel has kprobe_events */
	/* of a spec of user_events: the events that match; NULL: the spec is another one, or tracefs cannot be read */
	const nw_user_events *user_events;
	bool of_user_event; /* the spec is one of user_events */
	const struct nw_error
		*no_user_events; /* why programs cannot register any; NULL: they can */
	const struct nw_generated
		*generated; /* code of a process has that name, and no file */
	bool is_function;   /* of a USDT spec: a function of the file has its name */
	bool at_function;   /* every place is a function's start, or a USDT site */
	const struct nw_process_facts *process; /* -p */
	const char *script; /* the file is a script: its first line; NULL: it is none */
	const char *script_starts; /* the program that it starts; NULL: unknown */
	const char *
		elsewhere; /* a file of the process, or a linked library, with the USDT probe; NULL: none */
	bool no_code;		/* the file is the debug information of another file */
	const char *code_in;	/* that other file; NULL: not found */
	const char *interposed; /* a file of the process that its calls reach instead */
	const struct nw_mapping_facts *mapping;
	const struct nw_presence
		*held; /* the places before the probe was armed; NULL: not looked at */
	/* events of other tools on the file, before the probe was watched and after; NULL:
	 * not asked */
	const nw_foreign_events *foreign, *foreign_after;
	const struct nw_watch *watch;
	const struct nw_tool *tool;
	bool force;
	/* Does a spec lead to a probe? Only specs that do are offered; NULL: every spec is offered. */
	bool (*leads)(void *arg, const char *spec);
	void *leads_arg;
};

/* ---- the diagnosis ------------------------------------------------------------------ */

enum nw_result {
	NW_RESULT_PASS,
	NW_RESULT_FAIL,
	NW_RESULT_UNKNOWN
};

struct nw_check {
	const char *name; /* a fixed word */
	enum nw_result result;
	char *saw; /* a sentence: what was looked at and what was seen */
};

struct nw_reason {
	enum nw_cause cause;
	char *text;	   /* one sentence, without a full stop */
	nw_strings remedy; /* commands */
};

struct nw_diagnosis {
	NW_VEC(struct nw_check) checks;
	NW_VEC(struct nw_reason) reasons; /* most telling first */
	int fires;			  /* 1, 0; -1: not known */
	char *text;			  /* the verdict */
	nw_strings remedy;
};

/*
 * Some programs fire some of their probes only when an argument or the environment tells them to. Returns what tells this
 * program; NULL: `words`, its arguments and its environment, tell it, or nothing is known of such a probe.
 */
const char *nw_switch_text(const struct nw_probe *probe, const char *words);
/* Some probes fire for every call only while another probe of their program is armed. Returns a sentence that says so; NULL:
 * the selection has the other probe, too, or this probe needs none. */
const char *nw_switch_partner(const struct nw_selection *selection,
			      const struct nw_probe *probe);

/*
 * Judges the facts. Without facts->watch it can only use what is known without arming: nw_diagnosis_settled() then
 * says whether arming could tell more.
 */
int nw_diagnose(const struct nw_facts *facts, struct nw_diagnosis *out,
		struct nw_error *err);
/* Is the verdict settled, or arming too dangerous, so that the probe need or must not be armed? */
bool nw_diagnosis_settled(const struct nw_diagnosis *diagnosis);
void nw_diagnosis_free(struct nw_diagnosis *diagnosis);

/* ---- other tools' words ------------------------------------------------------------- */

/*
 * A command line of bpftrace, stap, perf or trace-cmd (behind sudo, too), read without running it. EINVAL: another tool;
 * ENOENT: it names no user-level probe. With out->script it is the text of that file that names
 * them: the caller hands it to nw_tool_script(). With out->by_event tracefs knows their places: nw_tool_find_places().
 */
int nw_tool_parse(char *const *argv, struct nw_tool *out, struct nw_error *err);
int nw_tool_script(struct nw_tool *tool, const char *text, struct nw_error *err);
void nw_tool_free(struct nw_tool *tool);

/* Explains a pasted error as a diagnosis: whether the probe fires is not known, the causes come from the rows of the
 * table. */
int nw_diagnose_error(const char *text, struct nw_diagnosis *out, struct nw_error *err);
/* Diagnoses an event (GROUP:NAME, or GROUP) that tracefs does not have. */
int nw_diagnose_missing(const char *event, struct nw_diagnosis *out, struct nw_error *err);

#endif
