/* SPDX-License-Identifier: MIT */
/*
 * measure/spans: spans, from one hit to another: which probes begin and end them, by their names or by the user's
 * definition, and the events of a span's life.
 */
#ifndef NOPWATCH_SPANS_H
#define NOPWATCH_SPANS_H

#include "nopwatch/probe.h"
#include "nopwatch/stream.h"

/* ---- what they are ------------------------------------------------------------------ */

enum nw_span_key {
	NW_KEY_TID,
	NW_KEY_PID,
	NW_KEY_CPU,
	NW_KEY_ARG
};

/*
 * From a hit of a start probe to a hit of an end probe with the same key, last in first out. Of
 * calls, where hits have stack pointers, the return ends the call of the same one, and what it
 * leaves behind is abandoned. So it is with pairs of USDT probes in one function, by their frames.
 */
struct nw_span_def {
	char *name;
	nw_vec_u32 starts; /* probes, as indexes into the selection */
	nw_vec_u32 ends;
	enum nw_span_key key;
	char key_name[32]; /* ARG: its name; "tid", "pid", "cpu" else */
	/* The same of the ends, if it is another: an event that is about two threads begins the
	 * one's span by the one argument and ends the other's by the other. "": the same */
	enum nw_span_key end_key;
	char end_key_name[32];
	bool call;	/* a function's entry and its return */
	bool named;	/* the probes' names say that the one's end is the other */
	bool unlimited; /* the return is told without the kernel's return probes */
	bool goroutines; /* functions of Go's: calls are told apart by goroutine, not by thread */
	bool flat; /* the user says that it does not nest: a start gives up the one before */
};

typedef NW_VEC(struct nw_span_def) nw_span_defs;

/* Spans that names say: x__start .. x__done and so on, a function's entry and return. */
int nw_spans_by_name(const struct nw_selection *selection, nw_span_defs *out);
/* The probe that begins it, if it is a function's call, else NULL. */
const struct nw_probe *nw_span_function(const struct nw_span_def *def,
					const struct nw_selection *selection);
/* "tid", "prev_pid:next_pid": the keys as they are written. */
void nw_span_key_text(const struct nw_span_def *def, char out[72]);
/* Do the spans of such texts need arguments for their keys, or processes? */
bool nw_span_needs_args(const char *text);
bool nw_span_needs_pids(const char *text);
/* Find out the frames of the points of spans that are framed, and of no others: these are to be
 * fetched. */
int nw_spans_find_frames(struct nw_selection *selection, const nw_span_defs *defs,
			 struct nw_error *err);
/* Parse "[NAME=]START..END[|END2][,key=tid|pid|ARG[:ENDARG]][,nest=no]"; the patterns match probe labels and names
 * of the selection. */
int nw_span_parse(const char *text, const struct nw_selection *selection,
		  struct nw_span_def *out, struct nw_error *err);
/* The probe specs inside such a text, so that they need not be given twice. */
int nw_span_specs(const char *text, nw_strings *out, struct nw_error *err);
void nw_spans_free(nw_span_defs *defs);
void nw_span_def_free(struct nw_span_def *def);

/* ---- what becomes of each ----------------------------------------------------------- */

struct nw_span_states;

/* What becomes of one span, for whoever looks at each, not only at their distribution. */
enum nw_span_moment {
	NW_SPAN_BEGINS,
	NW_SPAN_ENDS,	      /* and is measured */
	NW_SPAN_ENDS_NOTHING, /* an end without a start */
	NW_SPAN_NEVER_ENDS,   /* a start without an end, or whose end is not known */
	NW_SPAN_STILL_OPEN,   /* a start when everything is in */
};

struct nw_span_event {
	enum nw_span_moment moment;
	uint32_t span;
	uint64_t key;	/* of the start */
	uint64_t start; /* when it began; ENDS_NOTHING: 0 */
	int64_t group; /* where it counts; -1: its hits cannot say; any, where nothing is grouped */
	uint32_t cpu; /* where it began; ENDS_NOTHING: 0 */
	const struct nw_hit
		*hit;	  /* BEGINS, ENDS, ENDS_NOTHING: the one that does; else NULL */
	uint64_t latency; /* ENDS: net of the cost where that is asked for */
	uint64_t
		cost; /* ENDS: what the probes have added to it; 0: nothing, or it is not known */
	/* ENDS: NULL: nobody asks, or it is not known. They add up to the latency. */
	const struct nw_span_states *states;
	const char *
		why; /* the others: "unmatched", "abandoned", "omitted", "repeated", "discarded", or "filtered":
				a filter took its end out */
};

typedef void nw_span_listener(void *arg, const struct nw_span_event *event);

/*
 * For a listener that wants to show how a span began when it ends: copies of the hits that open spans
 * have begun with. Beyond NW_MOST_STARTS at once there are none, so that spans that never end do not
 * fill our memory.
 */
enum {
	NW_MOST_STARTS = 65536
};

struct nw_starts;

int nw_starts_open(struct nw_starts **out); /* -ENOMEM */
void nw_starts_free(struct nw_starts *starts);
/* Was there no memory for one of the starts? NULL: no. */
bool nw_starts_failed(const struct nw_starts *starts);
/* To be called for each event, whatever it is. Where the span ends or is over: the hit that it began
 * with, with its values, until the next call; NULL: there was none, or it is not known. */
const struct nw_hit *nw_starts_follow(struct nw_starts *starts,
				      const struct nw_span_event *event);

#endif
