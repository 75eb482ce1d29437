/* SPDX-License-Identifier: MIT */
/*
 * show/top: what a live view shows, without a terminal: rows and keys go in, cells come out. Pure: no
 * files, no clock of its own. The terminal is src/cmd/terminal/.
 */
#ifndef NOPWATCH_TOP_H
#define NOPWATCH_TOP_H

#include "nopwatch/base.h"
#include "nopwatch/output.h"
#include "nopwatch/summary.h"

/* ---- cells -------------------------------------------------------------------------- */

/* Of a cell: a colour as in "\033[3Nm" (N in the low three bits), and how it is shown. */
enum {
	NW_GLYPH_COLOR = 0x08, /* the low three bits count */
	NW_GLYPH_BOLD = 0x10,
	NW_GLYPH_DIM = 0x20,
	NW_GLYPH_REVERSE = 0x40
};

struct nw_glyph {
	uint32_t code; /* Unicode; 0 is a blank */
	uint8_t style;
};

/* What is or will be on a screen. Zero-initialised is empty and valid. */
struct nw_canvas {
	size_t columns, rows;
	struct nw_glyph *glyph; /* row by row */
};

/* Make it as large, and blank. -ENOMEM. */
int nw_canvas_reset(struct nw_canvas *canvas, size_t columns, size_t rows);
void nw_canvas_free(struct nw_canvas *canvas);
/*
 * The bytes that turn a terminal which shows `before` into one that shows `after`: nothing where
 * nothing has changed. If the sizes differ the terminal is cleared first. Only what every terminal
 * since the VT100 understands (ECMA-48: CUP, SGR, ED). color: false leaves out colours.
 */
void nw_canvas_diff(const struct nw_canvas *before, const struct nw_canvas *after,
		    bool color, struct nw_buf *out);
/* ---- rows --------------------------------------------------------------------------- */

enum {
	NW_TOP_BINS = 64,   /* of latencies: two a power of two, from 2^6 ns to 2^38 ns */
	NW_TOP_SLOTS = 120, /* of time that are remembered */
	NW_TOP_ROWS = 4096  /* so many at most are watched; each remembers about 10 KB */
};

/* What was in a piece of time. */
struct nw_top_slot {
	uint64_t count, p99;
	uint8_t bins[NW_TOP_BINS]; /* nw_top_shade() */
};

struct nw_top_numbers {
	uint64_t count;		   /* hits, or spans */
	struct nw_histogram times; /* the gaps between hits, or the spans' latencies */
};

struct nw_top_row {
	bool is_span;
	uint32_t index, group;
	char *name, *group_name; /* fit for a terminal; group "": there are none */
	struct nw_top_numbers last, total; /* the last interval, and everything */
	struct nw_top_slot
		*slots;	 /* a ring, by number of the slot; NULL: nothing for long */
	uint64_t latest; /* the last slot that has something, */
	uint64_t counts[NW_TOP_BINS]; /* which it has so far */
	bool disabled;		      /* the probe, or one of the span's */
};

/* All that is seen: rows, and when. */
struct nw_top {
	NW_VEC(struct nw_top_row *) rows;
	uint32_t *index; /* open addressing: number of a row + 1 */
	size_t index_size;
	uint64_t slot_ns;    /* how long a slot is */
	bool whole;	     /* the slots are all there ever was */
	uint64_t slot;	     /* the current one, from 1 */
	uint64_t start, end; /* of the last interval, */
	uint64_t began;	     /* and of everything */
	uint64_t hits, lost; /* of everything */
	double cost;	     /* of one CPU, in the programs; below 0: not known */
	uint64_t unwatched;  /* rows beyond NW_TOP_ROWS */
	bool over;	     /* nothing more comes */
};

/* interval_ns: how long an interval is, mostly. all_ns: how long all of it will be, if that is known: then
 * the course of all of it is remembered; else, of a minute. 0: not known. */
void nw_top_open(struct nw_top *top, uint64_t began, uint64_t interval_ns, uint64_t all_ns);
void nw_top_free(struct nw_top *top);
/* The same once more, which stays as it is while the other goes on. -ENOMEM. */
int nw_top_copy(const struct nw_top *from, struct nw_top *to);

/* What an interval had of a probe or span, in a group. */
struct nw_top_entry {
	bool is_span;
	uint32_t index, group;
	const char *name,
		*group_name; /* as the target has them; group_name NULL: no groups */
	uint64_t count;
	const struct nw_histogram *times;
	bool disabled;
};

/* A new interval begins to be told: its start and end. */
void nw_top_next(struct nw_top *top, uint64_t start, uint64_t end);
int nw_top_add(struct nw_top *top, const struct nw_top_entry *entry); /* -ENOMEM */

/* ---- what a person does ------------------------------------------------------------- */

enum nw_press {
	NW_PRESS_NONE = 0, /* the bytes are no whole key yet */
	/* a character stands for itself; */
	NW_PRESS_ENTER = 0x110000,
	NW_PRESS_ESCAPE,
	NW_PRESS_BACKSPACE,
	NW_PRESS_UP,
	NW_PRESS_DOWN,
	NW_PRESS_PAGE_UP,
	NW_PRESS_PAGE_DOWN,
	NW_PRESS_HOME,
	NW_PRESS_END,
	NW_PRESS_LEFT,
	NW_PRESS_RIGHT,
	NW_PRESS_REDRAW, /* Ctrl-L */
	NW_PRESS_OTHER,	 /* a key that means nothing here */
};

/* The next key of what a terminal has sent; *at moves behind it. */
uint32_t nw_press_next(const unsigned char *bytes, size_t len, size_t *at);

enum nw_top_pane {
	NW_PANE_NONE,
	NW_PANE_HISTOGRAM,
	NW_PANE_HEAT,
	NW_PANE_HELP,
};

enum nw_top_prompt {
	NW_PROMPT_NONE,
	NW_PROMPT_FILTER,
	NW_PROMPT_GROUP,
	NW_PROMPT_REPORT,
};

/* How it is looked at. */
struct nw_top_view {
	enum nw_sort sort; /* DEFAULT: by total */
	bool interval;	   /* the last interval, not everything */
	bool trend_p99;	   /* the course of p99, not of the rate */
	bool ascii;	   /* characters: none but ASCII, */
	bool console;	   /* or those that Linux's console has */
	bool net;	   /* latencies are net of what the probes have cost */
	bool paused;
	enum nw_top_pane pane;
	enum nw_top_prompt prompt;
	char filter[64];   /* names must match: a glob, or a part; "": all */
	char input[256];   /* what is being typed */
	const char *by;	   /* as it is grouped; NULL: it is not */
	const char *keys;  /* that it can be grouped by, for the prompt */
	char message[256]; /* for the last line, until the next key */
	/* the row under the cursor, and the first that is shown */
	bool has_cursor, cursor_is_span;
	uint32_t cursor_index, cursor_group;
	size_t first;
	size_t page; /* rows that were shown at last */
};

/* What is to be done about a key that is not done yet. */
enum nw_top_action {
	NW_TOP_NOTHING,
	NW_TOP_QUIT,
	NW_TOP_PAUSE, /* view->paused has changed */
	NW_TOP_GROUP, /* by view->input; "": no more */
	NW_TOP_REPORT /* write one to view->input */
};

enum nw_top_action nw_top_press(struct nw_top_view *view, const struct nw_top *top,
				uint32_t key);
/* Draw it, in the size that the canvas has. -ENOMEM. */
int nw_top_draw(const struct nw_top *top, struct nw_top_view *view,
		struct nw_canvas *canvas);

#endif
