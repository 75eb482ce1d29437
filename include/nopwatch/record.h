/* SPDX-License-Identifier: MIT */
/* stream: the formats of events, the records made of them, and the values of their arguments. */
#ifndef NOPWATCH_RECORD_H
#define NOPWATCH_RECORD_H

#include "nopwatch/page.h"
#include "nopwatch/plan.h"

/* ---- formats ------------------------------------------------------------------------ */

struct nw_field_format {
	uint32_t offset, size;
	bool dynamic; /* __data_loc: u32 of offset | length << 16 */
	bool open; /* an array that goes on to the end of the record, however long it says it is */
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
	NW_EVENT_EXEC,	  /* sched:sched_process_exec */
	NW_EVENT_BOTH,	  /* one of these four that the user has asked for, too */
};

/* What a place in an event stands for. */
struct nw_hit_place {
	uint32_t probe, planned; /* in the order of struct nw_hit: copied in one piece */
	uint32_t part;
	bool known;    /* false: nothing, the address is none of ours */
	bool whole;    /* the hit has this part only */
	uint64_t pops; /* to be taken from its stack pointer: see struct nw_stack_field */
};

struct nw_event_format {
	enum nw_event_kind kind;
	uint32_t id;
	uint32_t size; /* least payload that holds all fixed fields */
	/* PROBE: the low 16 bits of __probe_ip or __probe_func. A kernel event has one place:
	 * whatever stands there leads to it. */
	uint32_t address;
	/* PROBE: where the instruction pointer is, and how long; 0: nowhere (text) */
	uint32_t pc, pc_size;
	/* PROBE: the stack pointer, see struct nw_stack_field; stack_size 0: it has none.
	 * NW_STACK_LOOSE: it may still be too high. */
	uint32_t stack, stack_size;
	uint32_t stack_field; /* its number */
	/* PROBE: its offset once more, where it has 8 bytes and nothing but the place's pops is to be seen
	 * to; 0: otherwise. */
	uint32_t plain_stack;
	/* Text: where in the payload the bits are of the fields that its line has; 0: it has all. */
	uint32_t present;
	uint64_t stack_loose;
	/* PROBE: whose stack it is: the offsets of the fields of struct nw_stack_field's goroutine, of as
	 * many bytes as the stack pointer's. The first is 0: there are none. */
	uint32_t goroutine[3];
	const struct nw_event_format *task; /* BOTH: what it tells of threads */
	const struct nw_event *event;	    /* PROBE */
	uint32_t order;			    /* PROBE: struct nw_armed_event's */
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
	uint32_t least;	  /* payload that holds both common fields */
	uint32_t largest; /* payload of the largest event; UINT32_MAX: there is no limit */
	bool stacks;	  /* some of its hits have a stack pointer */
	const struct nw_plan *plan;
	const struct nw_armed *armed; /* and what became of it */
};

/*
 * Read the formats of the events that are armed and, with tasks, of the kernel's events of threads. header_page: the
 * text of events/header_page. read() appends the text of events/SYSTEM/NAME/format, from tracefs or from a recording,
 * and returns 0 or -errno. What is armed must stay as long as the formats.
 */
typedef int nw_format_reader(void *arg, const char *system, const char *name,
			     struct nw_buf *out);
int nw_formats_load(const struct nw_armed *armed, bool tasks, const char *header_page,
		    size_t header_len, nw_format_reader *read, void *arg,
		    struct nw_formats *out, struct nw_error *err);
/* The same for what was armed since: the events from this number on. */
int nw_formats_grow(struct nw_formats *formats, size_t first, nw_format_reader *read,
		    void *arg, struct nw_error *err);
void nw_formats_free(struct nw_formats *formats);

/* The fields of an event, with the types they have for the user, from the text of its format
 * file; EBADMSG if that cannot be read. */
int nw_format_fields(const char *text, nw_named_args *out, struct nw_error *err);

/* Where fields are in an event's records, and the records' id, from the same text. -EBADMSG: it cannot be read, or has
 * no field of that name and size. -ENOMEM. */
struct nw_wanted_field {
	const char *name;
	uint32_t size;	  /* bytes */
	uint32_t *offset; /* to be filled in */
};
int nw_format_find(const char *text, const struct nw_wanted_field *wanted, size_t count,
		   uint16_t *id);

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
 * The stack pointer of a hit: at the return of a call what it was at its entry; of a USDT probe the
 * address of the frame it is in; 0 where it was not fetched. It is only there if the plan has stacks (nw_plan_has_stacks()). Stack pointers are even:
 * with this bit, the function may have popped its arguments, too, and what it was at the entry is
 * the value without the bit, or up to NW_MOST_POPS less.
 */
#define NW_STACK_LOOSE ((uint64_t)1)

/*
 * A function of Go's runs on the stack of a goroutine, whatever thread that has, and a stack that is too small
 * is moved to a bigger one. goroutine is the address of its struct g, base where its stack ends now, and
 * stack how far the stack pointer is from there, less than 0: this stays the same when it moves.
 * goroutine 0: it is a thread's own stack.
 *
 * With this bit, the function that is entered finds that the stack is too small, or that others are to run,
 * and will be called once more, by the runtime (runtime.morestack), when that is done.
 */
#define NW_STACK_AGAIN ((uint64_t)2)

struct nw_hit {
	NW_HIT_FIELDS;
};

/* The number of the hit's thread, by which threads are told apart: the idle threads, one a CPU, all have the
 * number 0, and are -1, -2, ... here. */
static inline int32_t nw_hit_thread(const struct nw_hit *hit)
{
	return nw_likely(hit->tid) ? hit->tid : -1 - (int32_t)hit->cpu;
}

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
	uint64_t lost;	    /* LOSS: events, 0: unknown; */
	bool lost_is_least; /* or more: of some it is unknown */
	const struct nw_event_format *format;
	const unsigned char *data; /* valid until the next call */
	uint32_t size;
};

/* Has the record this field? Only a line of text may lack one. */
static inline bool nw_record_has(const struct nw_record *record, size_t field)
{
	uint32_t present = record->format->present;

	return !present || record->data[present + field / 8] >> field % 8 & 1;
}

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

/* ---- values ------------------------------------------------------------------------- */

enum nw_value_kind {
	NW_VALUE_MISSING, /* could not be had; text says why */
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
	const char *text; /* STRING: len bytes, not terminated; MISSING: why, a few words */
	uint32_t len;	  /* STRING: bytes; ARRAY: elements */
	const unsigned char *elements; /* ARRAY */
	enum nw_value_kind element;    /* ARRAY: SIGNED, UNSIGNED, HEX or FLOAT */
};

/* Element i of an ARRAY value, as a number; of FLOATs, as a real one. */
uint64_t nw_value_element(const struct nw_value *value, uint32_t i);
double nw_value_real(const struct nw_value *value, uint32_t i);

/* A copy of a hit, with its values and what they point to, in one piece of memory for free(); but that why
 * a value is missing stays where it is. NULL: no memory. */
struct nw_hit *nw_hit_copy(const struct nw_hit *hit);

/* Joins the records of hits whose strings came in companion events. Without values, hits of one
 * part have none. */
struct nw_join;
/* formats: looked at again with each record, so they may be filled later. */
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
/* Of the hit that was handed out last: how many of its records have not come. 0: it has all. */
uint32_t nw_join_missing(const struct nw_join *join, const struct nw_hit *hit);
void nw_join_free(struct nw_join *join);

#endif
