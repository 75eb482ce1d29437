/* SPDX-License-Identifier: MIT */
/* Pieces of the text reader: text.c reads lines, event.c and task.c make records of them. */
#ifndef NOPWATCH_STREAM_TRACE_PIPE_TEXT_H
#define NOPWATCH_STREAM_TRACE_PIPE_TEXT_H

#include "nopwatch/trace_text.h"

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

/* ---- births and deaths of threads, and new programs in them (task.c) ------------------------------------- */

enum nw_text_task {
	NW_TEXT_BIRTH,
	NW_TEXT_DEATH,
	NW_TEXT_EXEC,
	NW_TEXT_TASKS
};

/* What a line of task_newtask says, in a record's shape. */
struct nw_text_birth {
	int32_t tid;
	char comm[16];
	uint64_t flags;
};

struct nw_text_tasks {
	struct nw_event_format format[NW_TEXT_TASKS];
	struct nw_field_format fields[3]; /* of a birth */
	struct nw_text_birth birth;	  /* the last one */
	struct nw_field_format old_tid_field;
	int32_t old_tid; /* of the last thread that has begun another program */
};

void nw_text_tasks_init(struct nw_text_tasks *tasks);
/* Is the line of such an event? */
bool nw_text_task_kind(const struct nw_text_line *parsed, enum nw_text_task *kind);
/* Fill a TASK from the arguments of its line, valid until the next; false: they cannot be read. */
bool nw_text_task_record(struct nw_text_tasks *tasks, enum nw_text_task kind,
			 const char *args, size_t len, struct nw_record *out);

/* ---- events (event.c) ---------------------------------------------------------- */

/* One field of an event, as its line has it: "NAME=VALUE". */
struct nw_text_field {
	const char *name; /* the plan's */
	size_t name_len;
	uint32_t size;	/* bytes in the record; 0: the plan has no use for it */
	uint32_t array; /* elements, 0: none */
	bool string;
	bool bytes; /* numbers that are a program's bytes, in its order: */
	bool big_endian;
};

/* An event of the plan, and how its lines become records. */
struct nw_text_event {
	const struct nw_event *event;
	struct nw_event_format *format; /* of the nw_formats */
	struct nw_text_field *fields;
	size_t field_count, strings;
	uint32_t fixed; /* bytes of all fields, before the strings */
	uint32_t planned, probe, part;
	bool stack;	/* one of the fields is the stack pointer */
	bool one_place; /* so the address need not be looked at */
	bool values;	/* somebody wants them, or the stack pointer */
};

/* Make them of a plan; formats gets a format for each. */
int nw_text_events_make(const struct nw_armed *armed, bool values,
			struct nw_formats *formats, struct nw_text_event **out);
void nw_text_events_free(struct nw_text_event *events, size_t count);

/*
 * Fill a HIT from the arguments of a line, with its values in room, which is made larger as
 * needed. False: its address is none of the event's places. -ENOMEM in *ret.
 */
bool nw_text_event_record(const struct nw_plan *plan, const struct nw_text_event *event,
			  const char *args, size_t len, struct nw_buf *room,
			  struct nw_record *out);

#endif
