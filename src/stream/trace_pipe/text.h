/* SPDX-License-Identifier: MIT */
/* Parts of the text reader: text.c reads lines, event.c and task.c make records from them. */
#ifndef NOPWATCH_STREAM_TRACE_PIPE_TEXT_H
#define NOPWATCH_STREAM_TRACE_PIPE_TEXT_H

#include "stream/trace_pipe/trace_text.h"

/* One parsed line. The texts point into it. */
struct nw_text_line {
	enum nw_text_kind kind;
	const char *comm, *event;
	const char *args; /* EVENT: behind "EVENT: "; HEADER: behind "#nw " */
	size_t comm_len, event_len, args_len;
	int32_t tid, tgid; /* tgid 0: unknown */
	uint32_t cpu;
	bool ticks; /* `time` is a plain number: the clock is counter, uptime or x86-tsc */
	uint64_t time; /* ns, or ticks */
	uint64_t lost; /* LOSS: lost events, 0: unknown; COMMENT: overwritten events */
};

/* Parses a line without its newline. Never fails: a line that is no trace line is BAD. */
void nw_text_line_parse(const char *line, size_t len, struct nw_text_line *out);

/* A walk over "name=value name=value". *at begins behind the place "(0x401136)". */
struct nw_text_arg {
	const char *name, *value; /* value: with its quotes */
	size_t name_len, value_len;
};
const char *nw_text_args(const char *args, size_t len);
bool nw_text_arg_next(const char **at, const char *end, struct nw_text_arg *out);
/* Parses "-5", "17" or "0x1f" and nothing else. Negative numbers are in two's complement. */
bool nw_text_number(const char *text, size_t len, uint64_t *out);

/* ---- births and deaths of threads, and new programs in them (task.c) ------------------------------------- */

enum nw_text_task {
	NW_TEXT_BIRTH,
	NW_TEXT_DEATH,
	NW_TEXT_EXEC,
	NW_TEXT_TASKS
};

/* The contents of a task_newtask line, in the shape of a record. */
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
	int32_t old_tid; /* former number of the last thread that called exec */
};

void nw_text_tasks_init(struct nw_text_tasks *tasks);
/* Is the line one of these events? */
bool nw_text_task_kind(const struct nw_text_line *parsed, enum nw_text_task *kind);
/* Makes a TASK record from the arguments of its line, valid until the next call. Returns false if they cannot be
 * read. */
bool nw_text_task_record(struct nw_text_tasks *tasks, enum nw_text_task kind,
			 const char *args, size_t len, struct nw_record *out);

/* ---- events (event.c) ---------------------------------------------------------- */

/* One field of an event, which is "NAME=VALUE" in its line. */
struct nw_text_field {
	const char *name; /* owned by the plan */
	size_t name_len;
	uint32_t size;	/* bytes in the record; 0: the plan does not use it */
	uint32_t array; /* number of elements; 0: no array */
	bool string;
	bool bytes; /* its numbers are bytes of a program, with the program's byte order */
	bool big_endian;
};

/* An event of the plan, and how its lines become records. */
struct nw_text_event {
	const struct nw_event *event;
	struct nw_event_format *format; /* owned by the nw_formats */
	struct nw_text_field *fields;
	size_t field_count, strings;
	uint32_t fixed; /* size of all fields in front of the strings */
	uint32_t planned, probe, part;
	bool stack;	/* one of the fields is the stack pointer */
	bool one_place; /* so the address need not be checked */
	bool values;	/* values or the stack pointer are needed */
};

/* Makes the events of a plan, and adds a format for each to `formats`. */
int nw_text_events_make(const struct nw_armed *armed, bool values,
			struct nw_formats *formats, struct nw_text_event **out);
void nw_text_events_free(struct nw_text_event *events, size_t count);

/*
 * Makes a HIT record from the arguments of a line, with its values in `room`, which grows as needed. Returns false if
 * the address is not one of the event's places.
 */
bool nw_text_event_record(const struct nw_plan *plan, const struct nw_text_event *event,
			  const char *args, size_t len, struct nw_buf *room,
			  struct nw_record *out);

#endif
