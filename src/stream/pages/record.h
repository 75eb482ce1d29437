/* SPDX-License-Identifier: MIT */
/* stream: the formats of events, the records made from them, and the values of their arguments. */
#ifndef NOPWATCH_STREAM_PAGES_RECORD_H
#define NOPWATCH_STREAM_PAGES_RECORD_H

#include "plan/plan.h"
#include "stream/pages/page.h"

/* ---- formats ------------------------------------------------------------------------ */

struct nw_field_format {
	uint32_t offset, size;
	bool dynamic; /* __data_loc: u32 offset | length << 16 */
	/* An array that extends to the end of the record, whatever its size is */
	bool open;
	/* __rel_loc: like __data_loc, but offsets count from the end of the field */
	bool relative;
	/* Type of a field of a kernel event. array > 0: an array, whose length follows from the size. DEFAULT: a
	 * field of our own event, whose type is in the plan. */
	struct nw_type type;
	/* The name of a field of an EventHeader event's payload, which each record defines by itself; NULL: it is none. The
	 * offset is that of the header. */
	const char *member;
	struct nw_buf *
		text; /* with a member: for text that is made of its value; owned by the format */
};

/* The kinds of events in a stream. */
enum nw_event_kind {
	NW_EVENT_PROBE,
	NW_EVENT_NEWTASK, /* task:task_newtask */
	NW_EVENT_RENAME,  /* task:task_rename */
	NW_EVENT_EXIT,	  /* sched:sched_process_exit */
	NW_EVENT_EXEC,	  /* sched:sched_process_exec */
	NW_EVENT_BOTH,	  /* one of these four events that the user traces, too */
};

/* The meaning of a place in an event. */
struct nw_hit_place {
	/* In the order of struct nw_hit, to be copied in one piece */
	uint32_t probe, planned;
	uint32_t part;
	bool known; /* false: the address belongs to no probe */
	bool whole; /* the hit has only this part */
	/* To be subtracted from its stack pointer: see struct nw_stack_field */
	uint64_t pops;
};

struct nw_event_format {
	enum nw_event_kind kind;
	uint32_t id;
	uint32_t size; /* least payload that holds all fixed fields */
	/* PROBE: offset of the low 16 bits of __probe_ip or __probe_func. A kernel event has one place, to which all
	 * bits lead. */
	uint32_t address;
	/* PROBE: offset and size of the instruction pointer; pc_size 0: there is none (text). */
	uint32_t pc, pc_size;
	/* PROBE: offset and size of the stack pointer, see struct nw_stack_field; stack_size 0: there is none.
	 * stack_loose is NW_STACK_LOOSE if the stack pointer may still be too high. */
	uint32_t stack, stack_size;
	uint32_t stack_field; /* index of its field */
	/* PROBE: the same offset, if the stack pointer has 8 bytes and only the place's pops have to be subtracted;
	 * else 0. */
	uint32_t plain_stack;
	/* Text: offset of bits that tell which fields the line has; 0: it has all fields. */
	uint32_t present;
	uint64_t stack_loose;
	/* PROBE: the owner of the stack: offsets of the fields of struct nw_stack_field's goroutine, as large as the
	 * stack pointer. The first is 0: there are none. */
	uint32_t goroutine[3];
	const struct nw_event_format *task; /* BOTH: the format of the thread event */
	const struct nw_event *event;	    /* PROBE */
	uint32_t order;			    /* PROBE: as in struct nw_armed_event */
	bool eventheader; /* PROBE: each record defines the fields that are read of it */
	/* PROBE: low bits of the address -> index into places */
	const uint16_t *by_low_bits;
	NW_VEC(struct nw_hit_place) places; /* PROBE: the first one is unknown */
	/* PROBE, BOTH: the fields of the plan's event; NEWTASK: pid, comm, clone_flags; RENAME: newcomm and, if the
	 * kernel has it, pid; EXIT: comm. */
	NW_VEC(struct nw_field_format) fields;
};

/* All formats of a session, by event id. */
struct nw_formats {
	struct nw_page_layout page;
	uint32_t type_offset, pid_offset; /* common_type (u16), common_pid (s32) */
	NW_VEC(struct nw_event_format *) events;
	/* NULL: not a known event; ids are below `ids` */
	const struct nw_event_format **by_id;
	size_t ids;
	uint32_t least;	  /* payload that holds both common fields */
	uint32_t largest; /* payload of the largest event; UINT32_MAX: no limit */
	bool stacks;	  /* some hits have a stack pointer */
	const struct nw_plan *plan;
	const struct nw_armed *armed; /* the armed events of the plan */
};

/*
 * Reads the formats of armed events and, with `tasks`, of the kernel's events about threads. header_page: the text of
 * events/header_page. read() appends the text of events/SYSTEM/NAME/format, from tracefs or from a recording, and
 * returns 0 or -errno. `armed` must outlive the formats.
 */
typedef int nw_format_reader(void *arg, const char *system, const char *name,
			     struct nw_buf *out);
int nw_formats_load(const struct nw_armed *armed, bool tasks, const char *header_page,
		    size_t header_len, nw_format_reader *read, void *arg,
		    struct nw_formats *out, struct nw_error *err);
/* Reads the formats of events that were armed since, from this number on. */
int nw_formats_grow(struct nw_formats *formats, size_t first, nw_format_reader *read,
		    void *arg, struct nw_error *err);
void nw_formats_free(struct nw_formats *formats);

/* Returns the fields of an event and the types that the user sees, from the text of its format file. EBADMSG: the
 * text cannot be read. */
int nw_format_fields(const char *text, nw_named_args *out, struct nw_error *err);

/* Finds fields in an event's records, and the records' id, from the same text. -EBADMSG: the text cannot be read, or
 * has no field of that name and size; -ENOMEM. */
struct nw_wanted_field {
	const char *name;
	uint32_t size;	  /* bytes */
	uint32_t *offset; /* is filled in */
};
int nw_format_find(const char *text, const struct nw_wanted_field *wanted, size_t count,
		   uint16_t *id);

/* ---- records ------------------------------------------------------------------------ */

enum nw_record_kind {
	NW_RECORD_HIT,
	NW_RECORD_TASK, /* a thread was born, renamed, or died: input of nw_tasks */
	/* A HIT that also tells of a thread: nw_record_task() returns that part */
	NW_RECORD_BOTH,
	/* Events of this CPU between `time` and `until` are missing: overwritten, or on a damaged page. */
	NW_RECORD_LOSS,
};

struct nw_value;

/* A hit with all its values, from one or several records. */
#define NW_HIT_FIELDS                                                              \
	uint64_t time; /* ns of the trace clock */                                 \
	uint32_t cpu;                                                              \
	int32_t tid;                                                               \
	uint32_t probe, planned;                                                   \
	const struct nw_value                                                      \
		*values; /* as many as the probe has arguments; NULL: none */      \
	uint32_t value_count;                                                      \
	uint32_t callers;	 /* a number of nw_stacks_get(); 0: nobody asks */ \
	uint64_t stack;		 /* see NW_STACK_LOOSE */                          \
	uint64_t goroutine, base /* where stack is 0, these are not set */

/*
 * The stack pointer of a hit. At the return of a call it is the stack pointer of the entry; at a USDT probe the
 * address of the frame; 0 if it was not fetched. It is only there if the plan has stacks (nw_plan_has_stacks()).
 * Stack pointers are even: with this bit, the function may have popped its arguments, too, and the stack pointer of
 * the entry is the value without the bit, or up to NW_MOST_POPS less.
 */
#define NW_STACK_LOOSE ((uint64_t)1)

/*
 * A Go function runs on the stack of a goroutine, on whatever thread runs that goroutine, and a stack that is too
 * small is moved to a bigger one. goroutine is the address of its struct g, base is the current end of the stack, and
 * stack is the stack pointer minus that end, a negative number that stays the same when the stack moves. goroutine 0:
 * the stack is the thread's own.
 *
 * With this bit, the function that is entered finds that its stack is too small, or that the goroutine is preempted,
 * and will be called again by the runtime (runtime.morestack) afterwards.
 */
#define NW_STACK_AGAIN ((uint64_t)2)

struct nw_hit {
	NW_HIT_FIELDS;
};

/* Returns the number of the hit's thread. Idle threads, one per CPU, all have number 0 in the kernel, and -1, -2, ...
 * here. */
static inline int32_t nw_hit_thread(const struct nw_hit *hit)
{
	return nw_likely(hit->tid) ? hit->tid : -1 - (int32_t)hit->cpu;
}

struct nw_record {
	/* All kinds have a time, a CPU and a thread; HIT and BOTH have a probe. A HIT that is whole and whose values
	 * nobody needs is complete as it is. */
	union {
		struct {
			NW_HIT_FIELDS;
		};
		struct nw_hit hit;
	};
	enum nw_record_kind kind;
	uint32_t part; /* HIT, BOTH */
	bool whole;    /* HIT: it has no other parts */
	/* LOSS: time of the next event that was not lost; if none has come, the time at which the CPU was found
	 * empty; UINT64_MAX at the end of a recording. */
	uint64_t until;
	uint64_t lost; /* LOSS: number of events; 0: unknown */
	/* LOSS: there may be more, because the size of a loss is unknown */
	bool lost_is_least;
	const struct nw_event_format *format;
	const unsigned char *data; /* valid until the next call */
	uint32_t size;
};

/* Has the record this field? Only a line of text may lack a field. */
static inline bool nw_record_has(const struct nw_record *record, size_t field)
{
	uint32_t present = record->format->present;

	return !present || record->data[present + field / 8] >> field % 8 & 1;
}

/* ---- the kernel's words ------------------------------------------------------------- */

/*
 * Prints kernel events of the formats as the kernel prints them, with names of flags and symbols. Only for the
 * running kernel: read() must not be that of a recording. *out is NULL if there are none. Returns -ENOMEM, or the
 * error of read().
 */
struct nw_kernel_texts;
int nw_kernel_texts_open(const struct nw_formats *formats, nw_format_reader *read,
			 void *arg, struct nw_kernel_texts **out);
/* Returns "prev_comm=sh prev_pid=7 prev_prio=120 prev_state=S ==> ...", valid until the next call. Bytes from
 * programs are not escaped. NULL: the record cannot be printed. */
const char *nw_kernel_text(struct nw_kernel_texts *texts, const struct nw_record *record);
void nw_kernel_texts_free(struct nw_kernel_texts *texts);

/* ---- values ------------------------------------------------------------------------- */

enum nw_value_kind {
	NW_VALUE_MISSING, /* there is no value; text says why */
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
	/* The value may be left over from an earlier event; or an empty string may be one that could not be read. */
	bool untrusted;
	bool cut;  /* STRING: there is, or may be, more of it */
	bool json; /* STRING: JSON that nopwatch has written, without anything to escape */
	unsigned int bits; /* of the number, or of an array element */
	uint64_t number;   /* SIGNED: sign-extended; HEX, UNSIGNED; STRING: its address */
	double real;	   /* FLOAT */
	/* STRING: len bytes, not terminated; MISSING: the reason, a few words */
	const char *text;
	uint32_t len;		       /* STRING: bytes; ARRAY: elements */
	const unsigned char *elements; /* ARRAY */
	enum nw_value_kind element;    /* ARRAY: SIGNED, UNSIGNED, HEX or FLOAT */
};

/* Return element i of an ARRAY as an integer, or of an ARRAY of FLOATs as a real number. */
uint64_t nw_value_element(const struct nw_value *value, uint32_t i);
double nw_value_real(const struct nw_value *value, uint32_t i);
/* Does what nw_arg_word() does, for argument i of a probe. */
size_t nw_value_word(const struct nw_probe *probe, size_t i, const struct nw_value *value,
		     const char **out);

/* Copies a hit, with its values and their data, into one piece of memory for free(); only the reasons of missing
 * values are not copied. NULL: no memory. */
struct nw_hit *nw_hit_copy(const struct nw_hit *hit);

/* Joins the records of hits whose strings come in companion events. Without `values`, hits of one part have none. */
struct nw_join;
/* The formats are read again with each record, so they may be filled later. */
int nw_join_open(const struct nw_formats *formats, bool values, struct nw_join **out);
/* Nothing waits, and no values are needed: whole records need not be pushed. */
bool nw_join_is_idle(const struct nw_join *join);
/* Takes a record of kind HIT. Returns 1 with a hit, which is valid until the next call. Behind a hit whose companions
 * were lost, hits come one call late. */
int nw_join_push(struct nw_join *join, const struct nw_record *record, struct nw_hit *out);
/* Takes a loss: incomplete hits of that CPU have lost their companions. Returns 1 for each hit that is complete now
 * (they were before the loss), then 0. */
int nw_join_loss(struct nw_join *join, const struct nw_record *loss, struct nw_hit *out);
/* At the end, returns 1 for each hit that is left, such as those whose companions never came; then 0. */
int nw_join_rest(struct nw_join *join, struct nw_hit *out);
/* Returns how many records of the hit that was handed out last have not come. 0: all have come. */
uint32_t nw_join_missing(const struct nw_join *join, const struct nw_hit *hit);
/* Returns the copy of the stack that came with the hit that was handed out last; NULL: its probe has none, or the copy is
 * lost. */
const struct nw_value *nw_join_stack(const struct nw_join *join, const struct nw_hit *hit);
void nw_join_free(struct nw_join *join);

#endif
