/* SPDX-License-Identifier: MIT */
/*
 * plan: which kernel events a selection of probes becomes, as data and as text. Pure: touches
 * no file, and the same input always gives the same plan.
 *
 * Sites share events. Disarming and deleting cost the kernel tens of milliseconds an event,
 * whatever it holds, and since 5.4 one event holds many places as long as the names and types
 * of its fields are the same. So all points of one shape share an event, if the low 12 bits
 * of their file offsets differ: every record carries the address that was hit, mappings are
 * page-aligned, so those bits say which of the points it was, in any process.
 */
#ifndef NOPWATCH_PLAN_PLAN_H
#define NOPWATCH_PLAN_PLAN_H

#include <string.h>

#include "find/probe/probe.h"
#include "triggers.h"

/* Limits of kernel/trace/trace_probe.h: MAX_ARGSTR_LEN, MAX_TRACE_ARGS, WRITE_BUFSIZE. */
#define NW_MAX_EXPRESSION 63
#define NW_MAX_FIELDS	  128
#define NW_MAX_LINE	  4094
/* MAX_EVENT_NAME_LEN is 64 and some kernels want one less. */
#define NW_MAX_NAME 63
/* Our own limit: events that one point may be spread over. */
#define NW_MAX_PARTS 32
/*
 * Bytes that the fields of one event have at most. Kernels keep them in a page of each CPU and
 * warn, or write on, where they are more (trace_uprobe.c, MAX_UCB_BUFFER_SIZE); the ring buffer
 * has less in a page; new ones refuse more than this (trace_probe.h, MAX_PROBE_EVENT_SIZE).
 */
#define NW_MAX_BYTES 3072
/* Bytes of a string that are fetched by default, and at most. */
#define NW_STRING_SIZE	   256
#define NW_MAX_STRING_SIZE 16384
/* Bytes of the stack that are fetched to find callers, by default and at most. */
#define NW_STACK_BYTES	   2048
#define NW_MAX_STACK_BYTES 16384
/* Calls at once that a return probe in the kernel follows, where that can be said; it takes 100 bytes of memory a call. */
#define NW_KERNEL_CALLS 512
/* Characters of an argument's name at the beginning of the names of its byte fields. */
#define NW_STRING_NAME 20

/* The features of the kernel that definitions depend on. */
struct nw_caps {
	bool memory;	 /* fetches from memory, not only registers */
	bool ref_ctr;	 /* PATH:OFFSET(REF_CTR): it counts USDT semaphores itself */
	bool multi_site; /* one event may hold several places */
	bool hex;	 /* x8..x64 */
	bool arrays;	 /* TYPE[N] */
	bool maxactive; /* a return probe in the kernel may say how many calls at once it follows */
	bool long64; /* pointers in memory are read as 8 bytes, in 32-bit programs too */
	/* a load that meets the end of a mapping keeps the bytes in front of it */
	bool partial;
	/* a hist trigger adds up base + index * scale, and an event probe reads what is there; not in nw_caps_all */
	bool elements;
	/* A key of a hist trigger may be the sum or difference of a field and a constant that is fetched. Kernels before 5.14 take
	 * such a key and give it no size, so that it tells nothing apart (parse_expr() in kernel/trace/trace_events_hist.c). */
	bool key_sums;
};

/* The features of the newest kernels that one definition makes use of, which `list` assumes. */
extern const struct nw_caps nw_caps_all;

/* ---- fetch arguments ---------------------------------------------------------------- */

/* How the kernel delivers one operand, and what is left to do in user space. */
struct nw_fetch {
	char text[NW_MAX_EXPRESSION + 1]; /* "-16(%bp):u64"; "" for a constant */
	char high_text[NW_MAX_EXPRESSION +
		       1]; /* upper half of a pair of registers, or "" */
	/* A string: where its pointer is, "-16(%bp)", of so many bits. text only says what is
	 * meant, "+0(-16(%bp)):string": that has no bound, so it is fetched in words. */
	char place[NW_MAX_EXPRESSION + 1];
	unsigned int place_bits;
	struct nw_type field;	/* type of the field as it is delivered */
	struct nw_type shown;	/* type the value has for the user */
	unsigned int sign_bits; /* the value is this wide and signed, but was fetched
				   unsigned: extend it; 0: nothing to do */
	bool is_constant;
	uint64_t constant;
	bool untrusted; /* behind a nested dereference: after a fault the kernel leaves what
			   was in the field before */
	/* An event probe reads it, behind a word that the kernel passes on (kernel/session/carried.c): at a call's return one that was
	 * kept of its entry, "+u8($k0):s32", or the sum of two registers, "+u0($e0):s32". */
	bool carried;
	/* The field is an array that begins where the index is 0, and high_text is the index: the
	 * value is the element at index * scale bytes. 0: it is not. */
	unsigned int scale;
	/* a sentence that says in what way the value is not complete; NULL: it is complete */
	const char *remark;
	const char *problem; /* why the value cannot be had, a sentence; else NULL */
};

/* Elements of an array that is fetched for an index. */
#define NW_WINDOW 64

/* base + index * scale, which the kernel adds up. */
struct nw_sum {
	char base[20], index[20]; /* their fetches, "%ax:u64" and "%bx:s64" */
	unsigned int scale;
	int field; /* of the base; that of the index is the next one */
};

/*
 * Translates one operand of the site at vaddr. `want` is the user's type (base DEFAULT: the note's type). Never
 * fails: an operand that the kernel cannot fetch gets a problem.
 */
void nw_fetch_make(const struct nw_operand *op, const struct nw_type *want,
		   const struct nw_arch *arch, bool big_endian, uint64_t vaddr,
		   const struct nw_caps *caps, struct nw_fetch *out);

/*
 * Makes of an operand with an index one that begins with the number-th sum of its point, "$e0". Returns false if it has no index, or
 * the kernel cannot do so: then nw_fetch_make() says what there is.
 */
bool nw_fetch_sum(const struct nw_operand *op, const struct nw_type *want,
		  const struct nw_arch *arch, uint64_t vaddr, const struct nw_caps *caps,
		  size_t number, struct nw_operand *out, struct nw_sum *sum);

/* Returns the fetch's remark, or what the value is not good for; NULL: the value is complete. */
const char *nw_fetch_remark(const struct nw_fetch *fetch);

/* "s32", "u8[16]", "string" */
void nw_type_text(const struct nw_type *type, char out[16]);

/* ---- the plan ----------------------------------------------------------------------- */

/* Some bytes of a string: count elements of one field, which begin at this offset in the string. */
struct nw_chunk {
	uint32_t part;
	int field;
	uint32_t offset;
	uint32_t bits, count; /* of the elements; count 0: it is no array */
};

/* Where the value of one argument of one point is found. */
struct nw_source {
	unsigned int part; /* which of the point's events */
	int field;	   /* number of the field there, -1: no field */
	int high_field;	   /* upper half, -1: none */
	struct nw_fetch fetch;
	/* A string: the field is its pointer, and the chunks hold its beginning, in order and without a gap. No
	 * chunks: the field has the kernel's type string (old recordings, and text). */
	NW_VEC(struct nw_chunk) chunks;
	bool big_endian; /* a string: the program that it is from */
	bool whole;  /* a string: a load that meets the end of a mapping loads nothing */
	bool spread; /* a string: chunks are in other parts than its pointer */
	/* A string that a probe in the kernel reads, which cannot wait for a page: if a program's page is not in memory, words keep
	 * what was in their place, which may be an earlier hit's string. */
	bool in_kernel;
	/* Not NULL: the source is no argument, but holds what callers are found by: the registers of this
	 * architecture's unwind row, then the stack from the stack pointer on, in chunks as for a string. It is
	 * the last source of its point. */
	const struct nw_arch *callers;
	bool counted;	 /* a string without a NUL, but with a length: */
	uint32_t length; /* the number of the argument that holds it */
};

/*
 * The stack pointer, by which calls are told apart: a field of part 0 that no output shows. At a function's return it
 * has the value of the entry once `pops` is subtracted. `loose`: the function may have popped its arguments, too, up
 * to 64 KiB more.
 */
enum {
	NW_MOST_POPS = 65535 /* the operand of x86's ret has 16 bits */
};
struct nw_stack_field {
	int field;    /* -1: it is not fetched */
	int64_t pops; /* negative: is added */
	bool loose;
	/* Not 0: the field is the register of a frame (struct nw_frame) in the function that begins at this address;
	 * 0: it is the stack pointer of a call. */
	uint64_t function;
	/*
	 * A Go function: the first of three further fields, a word each, that tell whose stack it is: the goroutine's
	 * address, and stack.hi and stackguard0 of its struct g (Go's src/runtime/runtime2.go). 0: there are none.
	 */
	int goroutine;
};
enum {
	NW_GOROUTINE_FIELDS = 3
};

/* A point with its fetches, as it will be armed. */
struct nw_planned_point {
	size_t probe, point; /* indexes into the selection */
	NW_VEC(struct nw_source)
	args; /* in the order of the probe's arguments; see `callers` */
	struct nw_stack_field stack;
	/* events that it is spread over: 1, or more with several strings */
	unsigned int parts;
	/*
	 * Arguments that event probes read, at the return of a call or behind a sum: they are in the parts from this one on, behind the
	 * synthetic event with number `chain` of the plan (nw_plan_synthetic()). 0: it has none. A call of which the entry was
	 * not seen, or that called the function again, lacks these parts.
	 */
	unsigned int carried_part, chain;
	/* Their fields are in the part before these. */
	NW_VEC(struct nw_sum) sums;
	/* The entry of such a function: the first of its fields that are kept, as many as its point's `kept`. */
	int kept_field;
};
/* The last field of such a part of a return: how far the stack pointer has moved since the entry. */
extern const char nw_plan_moved[8];

struct nw_event_site {	  /* a point in an event */
	uint32_t planned; /* index into plan->points */
	uint32_t part;
	char *fetches; /* "a0=%di:s32 a1=..."; "" if there are none */
};

struct nw_plan;
struct nw_event {
	char group[NW_MAX_NAME + 1]; /* "": the plan's */
	char name[NW_MAX_NAME + 1];
	/* The system of an event of the kernel itself, which is enabled but never defined or deleted, and has one
	 * place; "": the event is in our group. */
	char system[NW_MAX_NAME + 1];
	/*
	 * An event of ours that is attached to something of the kernel, and has one place: the function "__x64_sys_openat", or
	 * the event "syscalls.sys_enter_openat" (see nw_event_follows()); "": its places are in files, or functions of probes.
	 */
	char attached[2 * NW_MAX_NAME + 2]; /* a recording's has NW_MAX_NAME characters */
	/* its name without the number behind it, if it has one */
	char base[NW_MAX_NAME - 8];
	char *shape; /* "p a0:string a1:s32": places of this shape can share the event */
	bool is_return;
	nw_strings fields; /* names; of a kernel event: those that are wanted */
	NW_VEC(struct nw_event_site) places;
	uint16_t by_low_bits[4096]; /* file offset & 0xfff -> place + 1, 0: none */
};

/* Is the event attached to an event of the kernel (an event probe)? */
static inline bool nw_event_follows(const struct nw_event *event)
{
	return strchr(event->attached, '.') != NULL;
}
/* Is it behind a synthetic event of the plan, which passes on where it reads? */
static inline bool nw_event_is_carried(const struct nw_event *event)
{
	return strncmp(event->attached, "synthetic.", 10) == 0;
}
/* Is it in a function of the kernel (a kprobe)? */
bool nw_event_in_function(const struct nw_plan *plan, const struct nw_event *event);
/*
 * Writes the expression of an event's fields that is the same at both ends of a call: "sp", "sp-level" or "frame+level"
 * (nw_plan_options.levels). Returns false if the event does not have it at all of its sites.
 */
bool nw_event_level(const struct nw_plan *plan, const struct nw_event *event, char out[64]);

enum nw_naming {
	NW_NAMES_PRIVATE, /* short, unique in the session: for our own reader */
	NW_NAMES_PROBES,  /* after the probe: for files and for other tools */
	NW_NAMES_STAY,	  /* group and event after the probe, as perf names them */
};

struct nw_plan_options {
	const char
		*session; /* C identifier of up to 20 characters; names group and events */
	struct nw_caps caps;
	bool all_args; /* fetch every argument, not only those the user named */
	bool stacks;   /* fetch the stack pointer or frame that tells calls apart, too */
	/* `stacks` is for the kernel itself, which cannot know `pops`: where it is not 0, it is fetched behind the stack pointer. */
	bool levels;
	bool separate; /* no sharing between probes */
	enum nw_naming naming;
	const char *group;    /* NW_NAMES_STAY: instead of sdt_PROVIDER or probe_FILE */
	uint32_t string_size; /* bytes of a string, at least; 0: NW_STRING_SIZE */
	/* strings are fetched as the kernel's own type, which others read, and which has no bound; one an event */
	bool kernel_strings;
	uint32_t
		stack_size; /* bytes of the stack, of probes that want callers; 0: NW_STACK_BYTES */
	/* the kernel is not known: fetch strings in the way that every kernel accepts */
	bool any_kernel;
};

/* Returns the bytes of a chunk. */
static inline uint32_t nw_chunk_bytes(const struct nw_chunk *chunk)
{
	return chunk->bits / 8 * (chunk->count ? chunk->count : 1);
}

struct nw_plan {
	char group[NW_MAX_NAME + 1];
	const struct nw_selection *selection; /* borrowed, must outlive the plan */
	NW_VEC(struct nw_planned_point) points;
	NW_VEC(struct nw_event *) events;
	size_t sealed;	     /* the first so many events get no more places */
	bool maxactive;	     /* as in struct nw_caps */
	unsigned int chains; /* points with arguments that event probes read */
	nw_strings texts;    /* problems of a plan that was loaded */
};

/* A point of the selection, by the numbers of its probe and of the point. */
struct nw_point_of {
	size_t probe, point;
};
typedef NW_VEC(struct nw_point_of) nw_points_of;

int nw_plan_make(const struct nw_selection *selection,
		 const struct nw_plan_options *options, struct nw_plan *out,
		 struct nw_error *err);
/*
 * Plan these points in events of their own, behind those that are there: a probed file was replaced while it was traced, and
 * the selection's probes have got points in the new one. What was planned before stays as it is. -ENOMEM
 */
int nw_plan_grow(struct nw_plan *plan, const struct nw_plan_options *options,
		 const nw_points_of *points);
void nw_plan_free(struct nw_plan *plan);

/* Writes the name of a synthetic event of the plan: the group's, GROUP_1, GROUP_2, ... */
void nw_plan_synthetic(const struct nw_plan *plan, unsigned int chain,
		       char out[NW_MAX_NAME + 1]);
/* Returns the event with a part of a point; NULL: there is none. */
const struct nw_event *nw_plan_event_of(const struct nw_plan *plan,
					const struct nw_planned_point *planned,
					uint32_t part);
/* Returns the entry that a return's arguments are kept at; NULL: there is none. */
const struct nw_planned_point *nw_plan_entry_of(const struct nw_plan *plan,
						const struct nw_planned_point *returns);

/* Does any point of the plan fetch the stack pointer? */
bool nw_plan_has_stacks(const struct nw_plan *plan);
/* Returns the source that callers are found by; NULL: the point has none. */
const struct nw_source *nw_planned_callers(const struct nw_planned_point *planned);
/* Returns how many values a hit has. The copy of its stack, which comes behind them, is none. */
uint32_t nw_planned_values(const struct nw_planned_point *planned);
/* Does any point of the plan fetch its goroutine? */
bool nw_plan_has_goroutines(const struct nw_plan *plan);

/* Returns the group or system of the event. */
const char *nw_event_group(const struct nw_plan *plan, const struct nw_event *event);
/* The names of a session's group and instance begin with this prefix. */
extern const char nw_session_prefix[10]; /* "nopwatch_" */
void nw_session_group(const char *session, char out[NW_MAX_NAME + 1]);
/* Returns the session of a group or instance, by its name alone; NULL: it belongs to no session. */
const char *nw_group_session(const char *group);

/* Returns the point of a place. */
const struct nw_point *nw_plan_point(const struct nw_plan *plan,
				     const struct nw_event_site *place);

/*
 * The line that defines one place of an event of ours, without a final newline:
 *	p:GROUP/EVENT PATH:0xOFFSET(0xREF_CTR) a0=%di:s32
 *	r512:GROUP/EVENT FUNCTION		in the kernel, whatever `path` is
 *	e:GROUP/EVENT SYSTEM.EVENT		behind an event of the kernel
 * ref_ctr: write the semaphore, where the point has one.
 */
void nw_plan_define(const struct nw_plan *plan, const struct nw_event *event,
		    const struct nw_event_site *place, const char *path, bool ref_ctr,
		    struct nw_buf *out);

/* Writes one of the names of an event: NAME, NAME_1, ..., by their number. */
void nw_event_name(const struct nw_event *event, unsigned int number,
		   char out[NW_MAX_NAME + 1]);

/* The same for an event that the kernel knows by another name. */
void nw_plan_define_as(const struct nw_plan *plan, const struct nw_event *event,
		       const char *name, const struct nw_event_site *place,
		       const char *path, bool ref_ctr, struct nw_buf *out);

/* ---- what became of a plan ---------------------------------------------------------- */

/* The parts of a point that the kernel did not take, and why. */
struct nw_armed_point {
	uint32_t refused; /* refused parts, as bits */
	bool failed;	  /* part 0 was refused: the point is left out */
	/* the reason, a sentence; NULL: nothing was refused, or the reason is not known */
	char *why;
};

/* An event as it is in the kernel. */
struct nw_armed_event {
	const struct nw_event *planned;
	char name[NW_MAX_NAME + 1]; /* the planned one's, unless it was split */
	uint32_t
		id; /* the kernel's number for it, which records begin with; 0: not known */
	size_t defined; /* places that the kernel took; 0: the event does not exist */
	/* A hit at a place is recorded first by the event with the lower order; 0: not known. */
	uint32_t order;
	/* the only place of the planned event that this one has; -1: it has all of them */
	int only;
	uint16_t by_low_bits
		[4096]; /* file offset & 0xfff -> place + 1, 0: none, or refused */
};

/*
 * What the kernel took of a plan, and where an event had to be split. A plan does not change (nw_plan_grow() only
 * adds to it); the session writes this struct, and everybody else reads it.
 */
struct nw_armed {
	const struct nw_plan *plan;	      /* borrowed, must outlive it */
	NW_VEC(struct nw_armed_point) points; /* those of the plan */
	NW_VEC(struct nw_armed_event *)
	events; /* the events of the plan, and those that they were split into */
	/* The kernel's sched_switch has prev_state one bit too high: 1 runs on, 2 sleeps, 4 is uninterruptible, ... */
	bool shifted_states;
};

/* Makes the struct for a plan of which nothing is armed yet. -ENOMEM. */
int nw_armed_make(const struct nw_plan *plan, struct nw_armed *out);
/* Adds the points and events that the plan has got since: none of them is armed yet. known: the events that the plan had. */
int nw_armed_grow(struct nw_armed *armed, size_t known);
/* Assumes that the kernel took every place that was not refused: for the plan of another machine, or of a recording. */
void nw_armed_assume(struct nw_armed *armed);
void nw_armed_free(struct nw_armed *armed);
/* Is the number-th place of the planned event in this one? */
bool nw_armed_holds(const struct nw_armed_event *event, size_t place);
/* Notes that a place was refused, by the kernel or by somebody who must not have it armed. */
void nw_armed_refuse(struct nw_armed *armed, const struct nw_event_site *place,
		     const char *why);
/* Takes the place with this number out of the event's look-up; its number stays in use. */
void nw_armed_forget(struct nw_armed *armed, struct nw_armed_event *event, size_t place);
/*
 * Moves one place into an event of its own, to find out which place of an event the kernel refuses. NULL when out of
 * memory.
 */
struct nw_armed_event *nw_armed_split(struct nw_armed *armed, struct nw_armed_event *event,
				      size_t place);
/* Returns why the value cannot be had, as the plan knows or the kernel said; NULL: it can be had. */
static inline const char *nw_armed_problem(const struct nw_armed *armed, size_t planned,
					   const struct nw_source *source)
{
	if (source->part == 0 || source->fetch.problem ||
	    !(armed->points.item[planned].refused & 1u << source->part))
		return source->fetch.problem;
	return "the kernel refused to fetch it";
}

/*
 * A plan as lines of text, for recordings: everything that is needed to make hits of its
 * events again, without the files it was made from: what was armed of it. nw_plan_load() makes a
 * selection, too, whose images are only names, and what was armed (NULL: nobody asks); lines it does
 * not know are handed to other(), which may be NULL. The text may come from anywhere: EBADMSG with
 * the line that is wrong.
 */
void nw_plan_save(const struct nw_armed *armed, struct nw_buf *out);
/* " TEXT", escaped as that format has it, for lines of one's own; and back, in place. */
void nw_plan_word(struct nw_buf *out, const char *text);
void nw_plan_unword(char *word);
/* Takes the words of a line that is not the plan's. */
typedef void nw_plan_line(void *arg, char *const *words, size_t count);
int nw_plan_load(const char *text, size_t len, struct nw_selection *selection,
		 struct nw_plan *plan, struct nw_armed *armed, nw_plan_line *other,
		 void *arg, struct nw_error *err);

/* ---- settings ------------------------------------------------------------------------ */

/* Settings of a ring buffer that are written before the first probe is enabled: one table for sessions
 * (kernel/session/session.c), for scripts, and for the clean-up after a killed script. */
enum nw_setting_name {
	NW_SETTING_CLOCK,
	NW_SETTING_FORK, /* children of traced threads are traced, too */
	NW_SETTING_TGID,
	NW_SETTING_NEWTASK,
	NW_SETTING_RENAME,
	NW_SETTING_EXIT,
	NW_SETTING_EXEC,
	NW_SETTING_RECORD,
	NW_SETTING_COUNT
};
struct nw_setting {
	const char *file;  /* below the buffer's directory */
	const char *value; /* or several words: the first that the file accepts */
	const char *after; /* written after the last event is disabled; NULL: nothing */
	const char *note; /* its name in a script's note of the top-level buffer; or NULL */
	bool session, script; /* written by sessions, by scripts, just before they enable */
	bool own;	      /* a script: only into a buffer of its own */
	bool heirs; /* a script: only where the kernel follows what -p's threads create */
};
extern const struct nw_setting nw_settings[NW_SETTING_COUNT];

/* The kernel events that tell of births, names and deaths of threads, and of new programs in them: "task/task_newtask",
 * ... */
extern const char *const nw_task_events[];
extern const size_t nw_task_event_count;

/* ---- scripts ------------------------------------------------------------------------ */

/* Facts about a file of the selection, which a script compares with the file on its machine. */
struct nw_script_file {
	const char *path;     /* absolute, as it is there */
	uint64_t size, lines; /* lines: as grep -c '' counts them */
	/* bytes of its build-id, none of them special to a shell, and the newlines before
	 * them; id_len 0: it has none that can be looked for */
	unsigned char id[64];
	size_t id_len;
	uint64_t id_line;
};

struct nw_script_options {
	const struct nw_script_file *files; /* one for each image of the selection */
	const pid_t *pids;
	size_t pid_count;
	uint64_t duration_ns;  /* 0: until it is ended */
	uint64_t buffer_bytes; /* per CPU, 0: a default */
	bool force;	       /* another file is a warning, not an error */
	/* The kernel counts: nw_script_triggers() for each kind of rows, and nw_script_maps(); NULL: it records. */
	const char *counting;
	const char *header; /* NULL: the plan's lines */
	bool tasks; /* it is told which threads there are at the end, and recorded which begin and end */
};

/*
 * A POSIX shell script (src/plan/script.sh) that defines and arms the plan's events, prints a
 * header and then trace_pipe, and takes everything away again. The header is lines "#nw LINE":
 * those of nw_plan_save(), then "start TIME" and "end"; "lost COUNT" and "stop TIME" come last.
 * The plan must have one place an event. EINVAL: paths that it cannot open there; ENAMETOOLONG.
 *
 * If the kernel counts, nothing of the events is recorded. The header has the lines of `options->header`, and "rows buckets" or
 * "rows eighths". Behind the recorded lines come "task TID PROCESS NAME" of the threads that live then, and "map SYSTEM EVENT" for
 * each event, by its name in the plan, with the text of its file `hist` in lines of their own.
 */
int nw_script_make(const struct nw_armed *armed, const struct nw_script_options *options,
		   struct nw_buf *out, struct nw_error *err);

/* Appends the function of a script that sets these triggers (rows: "buckets" or "eighths"), and those that make the synthetic
 * events and read the maps. */
void nw_script_triggers(const struct nw_plan *plan, const struct nw_triggers *triggers,
			const char *rows, struct nw_buf *out);
void nw_script_maps(const struct nw_plan *plan, const struct nw_triggers *triggers,
		    struct nw_buf *out);

/* Can the kernel's grammar carry this path? It must be absolute, without '#' and without anything that the kernel
 * takes for a blank. */
bool nw_path_is_writable(const char *path);

#endif
