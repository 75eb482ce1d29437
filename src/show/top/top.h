/* SPDX-License-Identifier: MIT */
/*
 * show/top: the live view without its terminal: rows and keys go in, cells come out. Pure: no files, no clock of its
 * own. The terminal is src/cmd/terminal/.
 */
#ifndef NOPWATCH_SHOW_TOP_TOP_H
#define NOPWATCH_SHOW_TOP_TOP_H

#include "base/base.h"
#include "measure/summary.h"
#include "show/rows/output.h"

/* ---- cells -------------------------------------------------------------------------- */

/* The style of a cell: a colour as in "\033[3Nm" (N in the low three bits), and attributes. */
enum {
	NW_GLYPH_COLOR = 0x08, /* the low three bits are a colour */
	NW_GLYPH_BOLD = 0x10,
	NW_GLYPH_DIM = 0x20,
	NW_GLYPH_REVERSE = 0x40
};

struct nw_glyph {
	uint32_t code; /* Unicode; 0 is a blank */
	uint8_t style;
};

/* The cells that are or will be on a screen. Zero-initialised is empty and valid. */
struct nw_canvas {
	size_t columns, rows;
	struct nw_glyph *glyph; /* row by row */
};

/* Makes the canvas this large, and blank. -ENOMEM. */
int nw_canvas_reset(struct nw_canvas *canvas, size_t columns, size_t rows);
void nw_canvas_free(struct nw_canvas *canvas);
/*
 * Writes the bytes that turn a terminal which shows `before` into one that shows `after`: nothing if nothing has
 * changed. If the sizes differ, the terminal is cleared first. Uses only sequences that every terminal since the
 * VT100 understands (ECMA-48: CUP, SGR, ED). color: false leaves out colours.
 */
void nw_canvas_diff(const struct nw_canvas *before, const struct nw_canvas *after,
		    bool color, struct nw_buf *out);
/* ---- rows --------------------------------------------------------------------------- */

enum {
	/* bins of latencies: two for each power of two, from 2^6 ns to 2^38 ns */
	NW_TOP_BINS = 64,
	NW_TOP_SLOTS = 120, /* slots of time that are kept */
	NW_TOP_ROWS = 4096  /* rows at most; each takes about 10 KB */
};

/* The counts of a slot of time. */
struct nw_top_slot {
	uint64_t count, p99;
	uint8_t bins[NW_TOP_BINS]; /* nw_top_shade() */
};

struct nw_top_numbers {
	uint64_t count;		   /* hits, or spans */
	struct nw_histogram times; /* gaps between hits, or latencies of spans */
};

struct nw_top_row {
	bool is_span;
	uint32_t index, group;
	char *name, *group_name; /* escaped for a terminal; group_name "": no groups */
	struct nw_top_numbers last, total; /* of the last interval, and of the whole run */
	/* a ring, by the slot's number; NULL: no hits for a long time */
	struct nw_top_slot *slots;
	uint64_t latest;	      /* the last slot with hits */
	uint64_t counts[NW_TOP_BINS]; /* the counts of that slot so far */
	bool disabled;		      /* the probe was disabled, or a probe of the span */
};

/* The data of a live view: rows, and their times. */
struct nw_top {
	NW_VEC(struct nw_top_row *) rows;
	struct nw_hash_table table; /* of rows */
	uint64_t slot_ns;	    /* length of a slot */
	bool whole;		    /* the slots cover the whole run */
	uint64_t slot;		    /* number of the current slot, from 1 */
	uint64_t start, end;	    /* of the last interval */
	uint64_t began;		    /* when the run began */
	uint64_t hits, lost;	    /* of the whole run */
	/* probe overhead in the programs, as a share of one CPU; negative: not known */
	double cost;
	uint64_t unwatched; /* rows beyond NW_TOP_ROWS */
	bool over;	    /* the run is over */
};

/* Begins a live view. interval_ns: the usual length of an interval. all_ns: the length of the whole run, if it is
 * known; then the slots cover it all, otherwise the last minute. 0: not known. */
void nw_top_open(struct nw_top *top, uint64_t began, uint64_t interval_ns, uint64_t all_ns);
void nw_top_free(struct nw_top *top);
/* Copies the data; the copy stays as it is while the original continues. -ENOMEM. */
int nw_top_copy(const struct nw_top *from, struct nw_top *to);

/* The counts of a probe or span in an interval and a group. */
struct nw_top_entry {
	bool is_span;
	uint32_t index, group;
	const char *name,
		/* as the target process has them; group_name NULL: no groups */
		*group_name;
	uint64_t count;
	const struct nw_histogram *times;
	bool disabled;
};

/* Begins a new interval, with its start and end. */
void nw_top_next(struct nw_top *top, uint64_t start, uint64_t end);
int nw_top_add(struct nw_top *top, const struct nw_top_entry *entry); /* -ENOMEM */

/* ---- what a person does ------------------------------------------------------------- */

enum nw_press {
	NW_PRESS_NONE = 0, /* the bytes are no whole key yet */
	/* values below are characters */
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

/* Returns the next key in the bytes that a terminal sent; *at moves behind it. */
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

/* The state of the view: what the user has chosen to see. */
struct nw_top_view {
	enum nw_sort sort; /* DEFAULT: by total */
	bool interval;	   /* show the last interval, not the whole run */
	bool trend_p99;	   /* show the course of p99, not of the rate */
	bool ascii;	   /* use ASCII characters only */
	bool console;	   /* use only characters of the Linux console's fonts */
	bool net;	   /* latencies are net of probe overhead */
	bool paused;
	enum nw_top_pane pane;
	enum nw_top_prompt prompt;
	/* rows whose names match: a glob, or a part of the name; "": all rows */
	char filter[64];
	char input[256];   /* text that the user is typing */
	const char *by;	   /* the current group keys; NULL: no groups */
	const char *keys;  /* possible group keys, for the prompt */
	char message[256]; /* shown in the last line until the next key */
	/* the row under the cursor, and the first that is shown */
	bool has_cursor, cursor_is_span;
	uint32_t cursor_index, cursor_group;
	size_t first;
	size_t page; /* rows of the last picture */
};

/* The caller's next action after a key. */
enum nw_top_action {
	NW_TOP_NOTHING,
	NW_TOP_QUIT,
	NW_TOP_PAUSE, /* view->paused has changed */
	NW_TOP_GROUP, /* group by view->input; "": no groups */
	NW_TOP_REPORT /* write a report to the file view->input */
};

enum nw_top_action nw_top_press(struct nw_top_view *view, const struct nw_top *top,
				uint32_t key);
/* Draws the view in the size of the canvas. -ENOMEM. */
int nw_top_draw(const struct nw_top *top, struct nw_top_view *view,
		struct nw_canvas *canvas);

#endif
