/* SPDX-License-Identifier: MIT */
/*
 * measure/spans: spans, which last from one hit to another. Defines which probes begin and end a span, by the probes'
 * names or by the user's definition, and the events of a span's life.
 */
#ifndef NOPWATCH_MEASURE_SPANS_SPANS_H
#define NOPWATCH_MEASURE_SPANS_SPANS_H

#include "find/probe/probe.h"
#include "stream/pages/stream.h"

/* ---- what they are ------------------------------------------------------------------ */

enum nw_span_key {
	NW_KEY_TID,
	NW_KEY_PID,
	NW_KEY_CPU,
	NW_KEY_ARG,
	NW_KEY_SEVERAL /* of the above together: "dev+sector" */
};
enum {
	NW_MOST_KEY_PARTS = 4,
	NW_SPAN_KEY_TEXT = 258 /* room for the text of both keys */
};

/*
 * A span lasts from a hit of a start probe to a hit of an end probe with the same key. Spans of the same key pair
 * last in, first out. If hits have stack pointers, the return of a function ends the call with the same stack
 * pointer, and calls that it leaves behind are abandoned. Pairs of USDT probes in one function are paired in the same
 * way by their frames.
 */
struct nw_span_def {
	char *name;
	nw_vec_u32 starts; /* indexes of probes in the selection */
	nw_vec_u32 ends;
	enum nw_span_key key;
	/* Name of the argument if key is ARG, names with + between them if it is SEVERAL; else "tid", "pid" or "cpu" */
	char key_name[128];
	/* The key of the ends, if it differs: an event that concerns two threads begins a span of one of them by one
	 * argument and ends a span of the other one by another argument. "": the ends have the same key. */
	enum nw_span_key end_key;
	char end_key_name[128];
	bool call;	/* a function's entry and its return */
	bool named;	/* the names of the probes say that they form a span */
	bool unlimited; /* returns are reported without the kernel's return probes */
	/* Functions of Go programs: calls are told apart by goroutine, not by thread */
	bool goroutines;
	/* The user says that the span does not nest: a start gives up the start before it */
	bool flat;
	/* Only the outermost of nested starts of a key begins a span; the others and their ends do not count */
	bool outer;
	/* The program measures the span itself: each hit of a probe is a whole span, whose duration is an argument, in
	 * this unit. The probes are both starts and ends. 0: the span is measured from start to end. */
	uint64_t unit_ns;
	char duration[32]; /* name of the argument */
};

typedef NW_VEC(struct nw_span_def) nw_span_defs;

/* Finds the spans that names imply: x__start .. x__done and the like, and a function's entry and return. */
int nw_spans_by_name(const struct nw_selection *selection, nw_span_defs *out);
/* Returns the probe at the function's entry if the span is a function call, else NULL. */
const struct nw_probe *nw_span_function(const struct nw_span_def *def,
					const struct nw_selection *selection);
/* Writes the keys as the user writes them: "tid", "prev_pid:next_pid". */
void nw_span_key_text(const struct nw_span_def *def, char out[NW_SPAN_KEY_TEXT]);
/* Do spans with this definition need arguments, or processes, as keys? */
bool nw_span_needs_args(const char *text);
bool nw_span_needs_pids(const char *text);
/* Finds the frames at the points of framed spans, so that hits of these points fetch them. */
int nw_spans_find_frames(struct nw_selection *selection, const nw_span_defs *defs,
			 struct nw_error *err);
/* Parses "[NAME=]START..END[|END2][,key=tid|pid|ARG[+ARG2][:ENDARG]][,nest=no|outer]" or "[NAME=]PROBE[|PROBE2],duration=ARG[:UNIT]".
 * The patterns match labels and names of the selected probes. */
int nw_span_parse(const char *text, const struct nw_selection *selection,
		  struct nw_span_def *out, struct nw_error *err);
/* Adds the probes that a spec, a label or a name means, without duplicates; the file of a spec counts. Returns how many it
 * means, or -ENOMEM. */
int nw_probes_named(const struct nw_selection *selection, const char *text,
		    nw_vec_u32 *out);
/* Lists the probe specs inside a definition, so that the user need not type them twice. */
int nw_span_specs(const char *text, nw_strings *out, struct nw_error *err);
void nw_spans_free(nw_span_defs *defs);
void nw_span_def_free(struct nw_span_def *def);

/* ---- what becomes of each ----------------------------------------------------------- */

struct nw_span_states;

/* The events of a span's life, for a listener that looks at each span. */
enum nw_span_moment {
	NW_SPAN_BEGINS,
	NW_SPAN_ENDS,	      /* the span ends and is measured */
	NW_SPAN_ENDS_NOTHING, /* an end has no start */
	NW_SPAN_NEVER_ENDS,   /* a start has no end, or its end is unknown */
	NW_SPAN_STILL_OPEN,   /* a start is open when the run ends */
};

struct nw_span_event {
	enum nw_span_moment moment;
	uint32_t span;
	uint64_t key;	/* of the start */
	uint64_t start; /* time of the start; ENDS_NOTHING: 0 */
	/* The group that counts the span; -1: its hits do not tell. Without grouping it has no meaning. */
	int64_t group;
	uint32_t cpu; /* CPU of the start; ENDS_NOTHING: 0 */
	/* BEGINS, ENDS, ENDS_NOTHING: the hit that does it; else NULL. */
	const struct nw_hit *hit;
	uint64_t latency; /* ENDS: without probe overhead if --net was requested */
	/* ENDS: the probe overhead inside the span, in ns. 0: no hit was inside, or the cost of a hit is unknown. */
	uint64_t cost;
	/* ENDS: the time in each state, which adds up to the latency. NULL: not requested, or unknown. */
	const struct nw_span_states *states;
	/* Other moments: "unmatched", "abandoned", "omitted", "repeated", "discarded", or "filtered" if a filter
	 * dropped the end. */
	const char *why;
};

typedef void nw_span_listener(void *arg, const struct nw_span_event *event);

/*
 * Keeps copies of the hits with which open spans have begun, for a listener that shows the start of a span when it
 * ends. At most NW_MOST_STARTS hits are kept, so that spans that never end do not fill our memory.
 */
enum {
	NW_MOST_STARTS = 65536
};

struct nw_span_starts;

int nw_span_starts_open(struct nw_span_starts **out); /* -ENOMEM */
void nw_span_starts_free(struct nw_span_starts *starts);
/* Was there no memory for one of the starts? false if `starts` is NULL. */
bool nw_span_starts_failed(const struct nw_span_starts *starts);
/* A span that is open, and the hit with which it began. */
struct nw_open_span {
	uint64_t key;
	const struct nw_hit *began;
	const struct nw_task *task; /* of that hit; all zero if it was not told */
};
/* Finds the spans of a kind for which is_open() returns true, and writes at most so many of them, the oldest first; valid
 * until the next event. Returns how many are open. */
size_t nw_span_starts_oldest(const struct nw_span_starts *starts, uint32_t span,
			     bool (*is_open)(const void *arg, uint32_t span,
					     const struct nw_open_span *open),
			     const void *arg, struct nw_open_span *out, size_t most);
/* Was a start left out because there were too many? Then more spans may be open. */
bool nw_span_starts_left_out(const struct nw_span_starts *starts);
/* Must be called for each event; task: the thread that begins the span, or NULL. If the event ends the span, returns the
 * hit with which the span began, with its values, valid until the next call; NULL: it is unknown. */
const struct nw_hit *nw_span_starts_follow(struct nw_span_starts *starts,
					   const struct nw_span_event *event,
					   const struct nw_task *task);

#endif
