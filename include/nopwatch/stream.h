/* SPDX-License-Identifier: MIT */
/*
 * stream: ring-buffer pages become records in time order, with losses marked where they
 * happened. Touches only the file descriptors it is handed.
 *
 * Order: each CPU's events are in order already; across CPUs they are merged, and an event is
 * handed out only when every CPU is known to have nothing older. A CPU that was found empty is
 * known up to the moment before it was looked at: whatever is older had been committed by
 * then, or has no causal tie to what is handed out (a thread commits its event before it can
 * move on and cause another one elsewhere).
 */
#ifndef NOPWATCH_STREAM_H
#define NOPWATCH_STREAM_H

#include <string.h>

#include "nopwatch/plan.h"

/* ---- pages -------------------------------------------------------------------------- */

/*
 * Layout of a sub-buffer, from events/header_page: u64 time stamp, a commit word of the
 * kernel's long, data. kernel/trace/ring_buffer.c, struct buffer_data_page.
 */
struct nw_page_layout {
	size_t size;	    /* of the whole sub-buffer */
	size_t commit;	    /* offset of the commit word */
	size_t commit_size; /* 4 or 8 */
	size_t data;	    /* offset of the first event */
};

int nw_page_layout_parse(const char *header_page, size_t len, struct nw_page_layout *out,
			 struct nw_error *err);

/* A walk over the events of one page. */
struct nw_page {
	const unsigned char *at, *end;
	uint64_t time; /* of the event last returned */
	bool missed;   /* events were lost before this page */
	uint64_t lost; /* how many; 0: the kernel did not say */
	/* type_len and bytes, header included, of the last event of 1..28 words: the next one
	 * is most likely as long. Its place is then known before this one has been read, which
	 * makes the walk three times as fast as one load waiting for the other. */
	uint32_t usual_type, usual_length;
};

/* Begin; -EBADMSG if the page's own sizes are impossible. */
int nw_page_open(struct nw_page *page, const struct nw_page_layout *layout,
		 const unsigned char *bytes, size_t len);
/* The next event's payload: 1 with *data and *size (page->time is its time), 0 at the end,
 * -EBADMSG for a damaged page. */
static inline int nw_page_next(struct nw_page *page, const unsigned char **data,
			       uint32_t *size);
/* The same, for whatever is not like the event before. */
int nw_page_next_other(struct nw_page *page, const unsigned char **data, uint32_t *size);

/* An event header is a u32, type_len:5 time_delta:27, from the top on big endian. */
static inline uint32_t nw_page_type(uint32_t header)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? header & 31 : header >> 27;
}

static inline uint32_t nw_page_delta(uint32_t header)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? header >> 5
							 : header & ((1u << 27) - 1);
}

static inline int nw_page_next(struct nw_page *page, const unsigned char **data,
			       uint32_t *size)
{
	const unsigned char *at = page->at;
	uint32_t length = page->usual_length, header;

	if (nw_unlikely((size_t)(page->end - at) < length))
		return nw_page_next_other(page, data, size);
	memcpy(&header, at, sizeof(header));
	if (nw_unlikely(nw_page_type(header) != page->usual_type))
		return nw_page_next_other(page, data, size);
	*data = at + sizeof(header);
	*size = length - (uint32_t)sizeof(header);
	page->at = at + length;
	page->time += nw_page_delta(header);
	return 1;
}

/* ---- formats ------------------------------------------------------------------------ */

struct nw_field_format {
	uint32_t offset, size;
	bool dynamic;  /* __data_loc: u32 of offset | length << 16 */
	bool relative; /* __rel_loc: the same, with offsets counted from behind the field */
	/* Of a kernel event: its type, array > 0: an array of it, whose length its size tells.
	 * DEFAULT: an event of ours, whose types the plan tells. */
	struct nw_type type;
};

/* What kinds of events there are in a stream. */
enum nw_event_kind {
	NW_EVENT_PROBE,
	NW_EVENT_NEWTASK, /* task:task_newtask */
	NW_EVENT_RENAME,  /* task:task_rename */
	NW_EVENT_EXIT,	  /* sched:sched_process_exit */
	NW_EVENT_BOTH,	  /* one of these three that the user has asked for, too */
};

/* What a place in an event stands for. */
struct nw_hit_place {
	uint32_t probe, planned; /* in the order of struct nw_hit: copied in one piece */
	uint32_t part;
	bool known; /* false: nothing, the address is none of ours */
	bool whole; /* the hit has this part only */
};

struct nw_event_format {
	enum nw_event_kind kind;
	uint32_t id;
	uint32_t size; /* least payload that holds all fixed fields */
	/* PROBE: the low 16 bits of __probe_ip or __probe_func. A kernel event has one place:
	 * whatever stands there leads to it. */
	uint32_t address;
	/* PROBE: the stack pointer, see struct nw_stack_field; stack_size 0: it has none.
	 * NW_STACK_LOOSE: it may still be too high. */
	uint32_t stack, stack_size;
	uint64_t stack_loose;
	const struct nw_event_format *task; /* BOTH: what it tells of threads */
	const struct nw_event *event;	    /* PROBE */
	const uint16_t *by_low_bits;	    /* PROBE: of the address -> index into places */
	NW_VEC(struct nw_hit_place) places; /* PROBE: the first is not known */
	/* PROBE, BOTH: those of the plan's event; NEWTASK: pid, comm, clone_flags; RENAME: newcomm and, where
	 * the kernel has it, pid; EXIT: comm */
	NW_VEC(struct nw_field_format) fields;
};

/* All formats of a session, by event id. */
struct nw_formats {
	struct nw_page_layout page;
	uint32_t type_offset, pid_offset; /* common_type (u16), common_pid (s32) */
	NW_VEC(struct nw_event_format *) events;
	const struct nw_event_format **by_id; /* NULL: not ours; ids below `ids` */
	size_t ids;
	uint32_t least; /* payload that holds both common fields */
	bool stacks;	/* some of its hits have a stack pointer */
	const struct nw_plan *plan;
};

/*
 * Read the formats of the plan's events, and of the task events if wanted, from the tracefs
 * directory `root` (or, for a recording, through read: the text of events/SYSTEM/NAME/format).
 */
typedef int nw_format_reader(void *arg, const char *system, const char *name,
			     struct nw_buf *out);
int nw_formats_load(const struct nw_plan *plan, bool tasks, const char *header_page,
		    size_t header_len, nw_format_reader *read, void *arg,
		    struct nw_formats *out, struct nw_error *err);
void nw_formats_free(struct nw_formats *formats);

/* The fields of an event, with the types they have for the user, from the text of its format
 * file; EBADMSG if that cannot be read. */
int nw_format_fields(const char *text, nw_named_args *out, struct nw_error *err);

/* ---- records ------------------------------------------------------------------------ */

enum nw_record_kind {
	NW_RECORD_HIT,
	NW_RECORD_TASK, /* a thread was born, renamed, or died: for nw_tasks */
	NW_RECORD_BOTH, /* a HIT that tells of a thread, too: nw_record_task() has that part */
	NW_RECORD_LOSS, /* events of this CPU between time and until are missing: overwritten,
			   or on a page that cannot be read */
};

struct nw_value;

/* A hit with all its values, from however many records. */
#define NW_HIT_FIELDS                                                         \
	uint64_t time; /* ns of the trace clock */                            \
	uint32_t cpu;                                                         \
	int32_t tid;                                                          \
	uint32_t probe, planned;                                              \
	const struct nw_value                                                 \
		*values; /* as many as the probe has arguments; NULL: none */ \
	size_t value_count;                                                   \
	uint64_t stack /* see NW_STACK_LOOSE */

/*
 * The stack pointer of a hit: at the return of a call what it was at its entry; of a USDT probe the
 * address of the frame it is in; 0 where it was not fetched. It is only there if the plan has stacks (nw_plan_has_stacks()). Stack pointers are even:
 * with this bit, the function may have popped its arguments, too, and what it was at the entry is
 * the value without the bit, or up to NW_MOST_POPS less.
 */
#define NW_STACK_LOOSE ((uint64_t)1)

struct nw_hit {
	NW_HIT_FIELDS;
};

struct nw_record {
	/* All kinds have a time, a CPU and a thread, HIT and BOTH a probe; a HIT that is whole,
	 * and whose values nobody wants, is a hit as it stands here. */
	union {
		struct {
			NW_HIT_FIELDS;
		};
		struct nw_hit hit;
	};
	enum nw_record_kind kind;
	uint32_t part; /* HIT, BOTH */
	bool whole;    /* HIT: has no other parts */
	/* LOSS: time of the next event that was not lost; if none has come, when the CPU was
	 * found empty; UINT64_MAX at the end of a recording */
	uint64_t until;
	uint64_t lost; /* LOSS: events, 0: unknown */
	const struct nw_event_format *format;
	const unsigned char *data; /* valid until the next call */
	uint32_t size;
};

/* ---- the kernel's words ------------------------------------------------------------- */

/*
 * The kernel's own events among the formats, printed as the kernel prints them, flags and symbols by
 * name. Of the running kernel only: read() must not be a recording's. *out is NULL if there are none.
 * -ENOMEM, or what read() returns.
 */
struct nw_kernel_texts;
int nw_kernel_texts_open(const struct nw_formats *formats, nw_format_reader *read,
			 void *arg, struct nw_kernel_texts **out);
/* "prev_comm=sh prev_pid=7 prev_prio=120 prev_state=S ==> ...", good until the next call; bytes of
 * programs are in it as they are. NULL: it cannot be told of this record. */
const char *nw_kernel_text(struct nw_kernel_texts *texts, const struct nw_record *record);
void nw_kernel_texts_free(struct nw_kernel_texts *texts);

/* ---- streams ------------------------------------------------------------------------ */

struct nw_stream;

struct nw_stream_stats {
	uint64_t records; /* handed out */
	uint64_t pages;	  /* read */
	uint64_t bytes;	  /* of their data */
	uint64_t lost;	  /* events the pages say were lost */
	uint64_t unknown; /* events of a type or place that is not ours */
	uint64_t damaged; /* pages that had to be given up */
};

/* Read one page of a CPU: bytes read, 0: nothing there now, -errno. */
typedef ssize_t nw_page_source(void *arg, unsigned int buffer, unsigned char *page,
			       size_t size);

/*
 * A stream over per-CPU file descriptors of trace_pipe_raw, which stay the caller's. now()
 * tells the trace clock's time.
 */
struct nw_stream_options {
	const int *fds;	      /* one per buffer, non-blocking */
	const uint32_t *cpus; /* which CPU each buffer is */
	size_t buffers;
	uint64_t (*now)(void *arg);
	void *now_arg;
	size_t page_budget; /* pages held at most, 0: a default */
	/* Look at every buffer this often, instead of letting the kernel tell, which before
	 * buffer_percent (5.0) it does for every few events; 0: it tells. */
	int poll_ms;
};
int nw_stream_open(const struct nw_formats *formats,
		   const struct nw_stream_options *options, struct nw_stream **out,
		   struct nw_error *err);

/* A stream over pages that lie in memory one behind the other, a run per CPU. */
struct nw_page_run {
	uint32_t cpu;
	const unsigned char *pages;
	size_t size; /* bytes; a cut-off last page is damaged */
};
int nw_stream_open_memory(const struct nw_formats *formats, const struct nw_page_run *runs,
			  size_t count, struct nw_stream **out, struct nw_error *err);

void nw_stream_free(struct nw_stream *stream);

/* Wait until there is something to read or until wake_fd (-1: none) is readable or the time is
 * over, then read. Returns 0 or -errno. */
int nw_stream_fill(struct nw_stream *stream, int wake_fd, int timeout_ms);
/* Nothing more will be written: read what is left, hand out everything. */
int nw_stream_finish(struct nw_stream *stream);
/* The next record in time order: 1, or 0: nothing yet (fill again). */
int nw_stream_next(struct nw_stream *stream, struct nw_record *out);
/*
 * The next records, many at a time, as long as they are hits with nothing more to them: whole,
 * and nobody wants their values. At most `most`. Returns how many; 0: nw_stream_next() has the
 * next one, if there is any.
 */
size_t nw_stream_hits(struct nw_stream *stream, struct nw_hit *out, size_t most);
/* Everything up to this time has been handed out, or will be before anything later. */
uint64_t nw_stream_known(const struct nw_stream *stream);
struct nw_stream_stats nw_stream_stats(const struct nw_stream *stream);
/* Sees every page as it was read, before it is decoded (recording). NULL: nobody. */
void nw_stream_tap(struct nw_stream *stream,
		   int (*tap)(void *arg, uint32_t cpu, const unsigned char *page,
			      size_t len),
		   void *arg);

/* ---- recordings --------------------------------------------------------------------- */

/*
 * trace.dat, version 6 (trace-cmd.dat.v6(5)): what trace-cmd and kernelshark read. Our own
 * table of probes (nw_plan_save() and a few lines more) rides in the VERSION option, behind
 * the terminating NUL of its text, where other readers do not look.
 */
struct nw_recorded_format {
	char system[64];
	struct nw_buf text;
};

struct nw_recording_parts {
	struct nw_buf header_page, header_event;
	NW_VEC(struct nw_recorded_format) formats; /* grouped by system */
	struct nw_buf comms;			   /* "TID NAME\n" */
	struct nw_buf clock;			   /* as trace_clock has it: "[mono]" */
	struct nw_buf table;
};

void nw_recording_parts_free(struct nw_recording_parts *parts);

/* Write a recording: fds[i] holds the pages of CPU i, from its start, sizes[i] bytes. */
int nw_recording_write(int fd, const struct nw_recording_parts *parts, size_t page_size,
		       const int *fds, const uint64_t *sizes, uint32_t cpus,
		       struct nw_error *err);

struct nw_format_text {
	const char *system, *text;
	size_t len;
};

/* A recording that lies in memory; what it points to lives as long as the memory. */
struct nw_recording {
	const char *header_page, *table;
	size_t header_page_len, table_len;
	NW_VEC(struct nw_format_text) formats;
	NW_VEC(struct nw_page_run) runs;
};

/* Is this the beginning of a trace.dat file? */
bool nw_recording_is_one(const void *bytes, size_t len);
/* Take a recording apart. EBADMSG: damaged; ENOTSUP: made by another tool or machine. */
int nw_recording_parse(const void *bytes, size_t len, struct nw_recording *out,
		       struct nw_error *err);
void nw_recording_free(struct nw_recording *recording);
/* An nw_format_reader for nw_formats_load(). */
int nw_recording_format(void *recording, const char *system, const char *name,
			struct nw_buf *out);

/* ---- text --------------------------------------------------------------------------- */

/*
 * The text of trace_pipe and of trace files, of any kernel since 3.10, whatever its options
 * and clock (kernel/trace/trace_output.c: trace_print_context(), print_trace_line()):
 *
 *	            bash-4711  [003] d..2.  1234.567890: req: (0x401136) id=5 sql="x"
 *	COMM-TID [ (TGID) ] [CPU] [FLAGS] TIME: EVENT: ARGUMENTS
 *	CPU:3 [LOST 17 EVENTS]
 *
 * Nothing in it can be trusted: a thread may call itself anything, and a string may hold
 * newlines and what looks like another line.
 */
enum nw_text_kind {
	NW_TEXT_EVENT,
	NW_TEXT_LOSS,
	NW_TEXT_HEADER,	 /* "#nw ...": of our own script, see nw_script_make() */
	NW_TEXT_COMMENT, /* "# tracer: nop", or nothing at all */
	NW_TEXT_BAD,
};

/* One line taken apart; the texts point into it. */
struct nw_text_line {
	enum nw_text_kind kind;
	const char *comm, *event;
	const char *args; /* EVENT: behind "EVENT: "; HEADER: behind "#nw " */
	size_t comm_len, event_len, args_len;
	int32_t tid, tgid; /* tgid 0: not told */
	uint32_t cpu;
	bool ticks;    /* time is a plain number: of clock counter, uptime or x86-tsc */
	uint64_t time; /* ns, or ticks */
	uint64_t lost; /* LOSS: events, 0: unknown; COMMENT: those that were overwritten */
};

/* Take a line without its newline apart. Never fails: what is no trace line is BAD. */
void nw_text_line_parse(const char *line, size_t len, struct nw_text_line *out);

/* A walk over "name=value name=value"; at begins behind the place "(0x401136)". */
struct nw_text_arg {
	const char *name, *value; /* value with its quotes */
	size_t name_len, value_len;
};
const char *nw_text_args(const char *args, size_t len);
bool nw_text_arg_next(const char **at, const char *end, struct nw_text_arg *out);
/* "-5", "17", "0x1f" and nothing else; negative numbers as their two's complement. */
bool nw_text_number(const char *text, size_t len, uint64_t *out);

/* A reader: bytes in, records out, in the order of time as far as a window of so many lines
 * can put them (trace_pipe prints what it finds; a CPU that was just empty may come late). */
enum {
	NW_TEXT_WINDOW = 256
};
struct nw_text;

struct nw_text_stats {
	uint64_t lines;	      /* all, also what belongs to the string of the line before */
	uint64_t bad;	      /* that are no trace lines */
	uint64_t bad_at;      /* number of the first of them */
	uint64_t other;	      /* events that are not ours */
	uint64_t late;	      /* lines beyond the window: handed out after what was later */
	uint64_t lost;	      /* events, as lines and header say */
	uint64_t now;	      /* latest time seen; 0: none */
	uint64_t start, stop; /* as our script tells; 0: it does not */
	bool ticks;	      /* times are no nanoseconds */
};

/* Who the thread of a record is, as its line says. */
struct nw_text_who {
	const char *comm;
	size_t comm_len;
	int32_t pid; /* 0: not told */
};

/* A reader of what is fed, or of text that lies in memory for as long as the reader lives. */
int nw_text_open(struct nw_text **out);
int nw_text_open_memory(const char *bytes, size_t len, struct nw_text **out);
void nw_text_free(struct nw_text *text);

/* Where to put more text: at least 64 KiB; NULL when out of memory. Pointers of earlier
 * records die. Then say how much was put there. */
char *nw_text_room(struct nw_text *text, size_t *room);
void nw_text_filled(struct nw_text *text, size_t len);
/* Nothing will come for a while: hand out what is in the window. */
void nw_text_flush(struct nw_text *text);
/* Nothing more will come. */
void nw_text_finish(struct nw_text *text);

/* What kind of text is it? HEADER: our script's header is complete, nw_text_header() has it;
 * EVENT: there is none; BAD: cannot be told before more is fed (or at its end: none). */
enum nw_text_kind nw_text_begin(struct nw_text *text);
/* The header, as nw_plan_load() takes it. */
const struct nw_buf *nw_text_header(const struct nw_text *text);
/*
 * The events to look for. Makes formats for nw_join and nw_record_values, to be freed by the
 * caller after the reader. Before it, there are no records. Without values, they have none.
 */
int nw_text_use(struct nw_text *text, const struct nw_plan *plan, bool values,
		struct nw_formats *formats);
/*
 * For text without a header: a plan of all events in it, with the arguments they have there.
 * ENOENT: there are none. source names the text.
 */
int nw_text_learn(const char *bytes, size_t len, const char *source,
		  struct nw_selection *selection, struct nw_plan *plan,
		  struct nw_error *err);

/* The next record: 1; 0: none before more is fed; -ENOMEM. who may be NULL. */
int nw_text_next(struct nw_text *text, struct nw_record *out, struct nw_text_who *who);
struct nw_text_stats nw_text_stats(const struct nw_text *text);
/* When our script stopped, by its mark among the events: what is later was hit while the probes were
 * disarmed, one after the other. UINT64_MAX: no mark has come yet. */
uint64_t nw_text_over(const struct nw_text *text);

/* ---- values ------------------------------------------------------------------------- */

enum nw_value_kind {
	NW_VALUE_MISSING, /* could not be had; why says it */
	NW_VALUE_SIGNED,
	NW_VALUE_UNSIGNED,
	NW_VALUE_HEX,
	NW_VALUE_FLOAT,
	NW_VALUE_STRING,
	NW_VALUE_ARRAY,
	NW_VALUE_NULL, /* a string whose pointer is NULL */
};

struct nw_value {
	enum nw_value_kind kind;
	bool untrusted;	   /* may be left over from an earlier event; an empty
			      string: or what cannot be read */
	bool cut;	   /* STRING: there is, or may be, more of it */
	unsigned int bits; /* of the number, or of an array's element */
	uint64_t number;   /* SIGNED: sign-extended; HEX, UNSIGNED; STRING: its address */
	double real;	   /* FLOAT */
	const char *text;  /* STRING: len bytes, not terminated; MISSING: a sentence */
	uint32_t len;	   /* STRING: bytes; ARRAY: elements */
	const unsigned char *elements; /* ARRAY */
	enum nw_value_kind element;    /* ARRAY: SIGNED, UNSIGNED, HEX or FLOAT */
};

/* Decode the arguments that this part of the hit carries; others in out are left alone.
 * out: as many as the probe has arguments. Strings point into the record. A string that is spread
 * over parts is only announced by that of its pointer: nw_string_bytes() collects it, and
 * nw_string_finish() makes it a value. */
void nw_record_values(const struct nw_formats *formats, const struct nw_record *record,
		      struct nw_value *out);
/* The bytes that a record has of a string, from the first chunk in it on: how many (0: none), at
 * which offset of the string they begin. */
uint32_t nw_string_bytes(const struct nw_record *record, const struct nw_source *source,
			 uint32_t *offset, const unsigned char **bytes);
/*
 * Where the string at value->number ends, in its first len bytes. A load that the kernel could
 * not do has left zeros, so a NUL is believed only where that is not what it looks like.
 */
void nw_string_finish(const struct nw_source *source, const unsigned char *bytes,
		      uint32_t len, struct nw_value *value);
/* All values of a hit are there: cut the strings that have a length. */
void nw_string_lengths(const struct nw_planned *planned, struct nw_value *values);
/* Element i of an ARRAY value, as a number; of FLOATs, as a real one. */
uint64_t nw_value_element(const struct nw_value *value, uint32_t i);
double nw_value_real(const struct nw_value *value, uint32_t i);

/* Joins the records of hits whose strings came in companion events. Without values, hits of one
 * part have none. */
struct nw_join;
int nw_join_open(const struct nw_formats *formats, bool values, struct nw_join **out);
/* Nothing waits, and no values are wanted: records that are whole need not be pushed. */
bool nw_join_is_idle(const struct nw_join *join);
/* Take a record of kind HIT; 1 when there is a hit to hand out, which is valid until the next
 * call. Behind a hit whose companions were lost, hits come one call late. */
int nw_join_push(struct nw_join *join, const struct nw_record *record, struct nw_hit *out);
/* Events of a CPU are missing: what has been collected there so far has lost its companions.
 * 1 for each hit that is complete now (they were before the loss), then 0. */
int nw_join_loss(struct nw_join *join, const struct nw_record *loss, struct nw_hit *out);
/* At the end: hits that are left, such as those whose companions never came; 1 each, then 0. */
int nw_join_rest(struct nw_join *join, struct nw_hit *out);
void nw_join_free(struct nw_join *join);

/* ---- threads ------------------------------------------------------------------------ */

/*
 * What the threads of the stream are: which process, which name, and whether they are wanted.
 * Births, new names and deaths come from the stream itself; a thread that is older than it is
 * looked up once.
 */
struct nw_tasks;
struct nw_task {
	int32_t tid, pid;
	char comm[16];
	bool wanted;
};
struct nw_tasks_options {
	const pid_t *pids; /* wanted processes; none: all */
	size_t pid_count;
	bool follow; /* and all their descendants */
	/* Others are recorded, too: who is gone before it could be looked up is one of them. */
	bool strangers;
	/* What a thread older than the stream is; -errno: unknown. NULL: nobody knows. */
	int (*look_up)(void *arg, pid_t tid, pid_t *process, char comm[16]);
	void *look_up_arg;
};
int nw_tasks_open(const struct nw_tasks_options *options, struct nw_tasks **out);
void nw_tasks_record(struct nw_tasks *tasks, const struct nw_record *record);
/* What a record of kind BOTH tells of a thread, as one of kind TASK. */
struct nw_record nw_record_task(const struct nw_record *both);
/* Never NULL: an unknown thread is its own process and called "?". */
const struct nw_task *nw_tasks_get(struct nw_tasks *tasks, int32_t tid);
void nw_tasks_free(struct nw_tasks *tasks);
/* What else is known of a thread: its process (0: unknown), which says whether it is wanted, and
 * its name. */
void nw_tasks_tell(struct nw_tasks *tasks, int32_t tid, int32_t process, const char *comm,
		   size_t len);
/* The thread that died with this record (kind TASK); 0: none did. */
int32_t nw_record_exited(const struct nw_record *record);

#endif
