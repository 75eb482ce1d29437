// SPDX-License-Identifier: MIT
/* Keys, and how they change a view. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"

/* ---- the cursor --------------------------------------------------------------------- */

static void move(struct nw_top_view *view, const struct nw_top *top, long by)
{
	nw_top_list list = {0};

	if (nw_top_list_make(top, view, &list) == 0 && list.count) {
		long at = (long)nw_top_list_cursor(&list, view) + by;
		long last = (long)list.count - 1;
		const struct nw_top_row *row = list.item[at < 0	     ? 0
							 : at > last ? last
								     : at]
						       .row;
		view->has_cursor = true;
		view->cursor_is_span = row->is_span;
		view->cursor_index = row->index;
		view->cursor_group = row->group;
	}
	nw_vec_free(&list);
}

/* ---- the order ---------------------------------------------------------------------- */

/* The sort keys in the order of the columns. */
static const enum nw_sort order[] = {NW_SORT_DEFAULT, NW_SORT_HITS, NW_SORT_RATE,
				     NW_SORT_MEAN,    NW_SORT_P50,  NW_SORT_P99,
				     NW_SORT_MAX,     NW_SORT_NAME};

static void sort_by(struct nw_top_view *view, size_t step)
{
	size_t at = 0;

	/* sorting by total is the default */
	for (size_t i = 0; i < NW_COUNT(order); i++)
		if (order[i] == view->sort)
			at = i;
	view->sort = order[(at + step) % NW_COUNT(order)];
	if (view->sort == NW_SORT_DEFAULT)
		snprintf(view->message, sizeof(view->message),
			 "sorted by total time, probes by hits");
	else
		snprintf(view->message, sizeof(view->message), "sorted by %s",
			 nw_sort_names[view->sort]);
}

/* ---- what is typed ------------------------------------------------------------------ */

static void ask(struct nw_top_view *view, enum nw_top_prompt prompt, const char *input)
{
	view->prompt = prompt;
	view->pane = view->pane == NW_PANE_HELP ? NW_PANE_NONE : view->pane;
	snprintf(view->input, sizeof(view->input), "%s", input);
}

static void type(char *input, size_t size, uint32_t key)
{
	char bytes[4];
	size_t len = strlen(input), count = nw_utf8_encode(key, bytes);

	if (len + count >= size)
		return;
	memcpy(input + len, bytes, count);
	input[len + count] = '\0';
}

static enum nw_top_action press_prompt(struct nw_top_view *view, uint32_t key)
{
	enum nw_top_prompt prompt = view->prompt;

	if (key == NW_PRESS_BACKSPACE) {
		size_t len = strlen(view->input);
		while (len > 0 && ((unsigned char)view->input[len - 1] & 0xc0) == 0x80)
			len--;
		view->input[len ? len - 1 : 0] = '\0';
	} else if (key < NW_PRESS_ENTER) {
		type(view->input,
		     prompt == NW_PROMPT_FILTER ? sizeof(view->filter)
						: sizeof(view->input),
		     key);
	}
	if (key == NW_PRESS_ESCAPE && prompt == NW_PROMPT_FILTER)
		view->input[0] = '\0';
	/* rows are filtered while the filter is typed */
	if (prompt == NW_PROMPT_FILTER)
		snprintf(view->filter, sizeof(view->filter), "%.*s",
			 (int)sizeof(view->filter) - 1, view->input);
	if (key != NW_PRESS_ENTER && key != NW_PRESS_ESCAPE)
		return NW_TOP_NOTHING;
	view->prompt = NW_PROMPT_NONE;
	if (key == NW_PRESS_ESCAPE)
		return NW_TOP_NOTHING;
	return prompt == NW_PROMPT_GROUP    ? NW_TOP_GROUP
	       : prompt == NW_PROMPT_REPORT ? NW_TOP_REPORT
					    : NW_TOP_NOTHING;
}

/* ---- all keys ----------------------------------------------------------------------- */

static void toggle(struct nw_top_view *view, enum nw_top_pane pane)
{
	view->pane = view->pane == pane ? NW_PANE_NONE : pane;
}

static bool press_cursor(struct nw_top_view *view, const struct nw_top *top, uint32_t key)
{
	long page = view->page ? (long)view->page : 1;

	switch (key) {
	case NW_PRESS_UP:
	case 'k':
		move(view, top, -1);
		return true;
	case NW_PRESS_DOWN:
	case 'j':
		move(view, top, 1);
		return true;
	case NW_PRESS_PAGE_UP:
		move(view, top, -page);
		return true;
	case NW_PRESS_PAGE_DOWN:
		move(view, top, page);
		return true;
	case NW_PRESS_HOME:
		move(view, top, -NW_TOP_ROWS);
		return true;
	case NW_PRESS_END:
		move(view, top, NW_TOP_ROWS);
		return true;
	default:
		return false;
	}
}

enum nw_top_action nw_top_press(struct nw_top_view *view, const struct nw_top *top,
				uint32_t key)
{
	view->message[0] = '\0';
	if (view->prompt)
		return press_prompt(view, key);
	if (press_cursor(view, top, key))
		return NW_TOP_NOTHING;
	switch (key) {
	case 'q':
	case 'Q':
		return NW_TOP_QUIT;
	case ' ':
	case 'p':
		view->paused = !view->paused;
		return NW_TOP_PAUSE;
	case 's':
	case '>':
	case NW_PRESS_RIGHT:
		sort_by(view, 1);
		break;
	case 'S':
	case '<':
	case NW_PRESS_LEFT:
		sort_by(view, NW_COUNT(order) - 1);
		break;
	case 'i':
		view->interval = !view->interval;
		break;
	case 't':
		view->trend_p99 = !view->trend_p99;
		break;
	case NW_PRESS_ENTER:
	case 'h':
		toggle(view, NW_PANE_HISTOGRAM);
		break;
	case 'm':
		toggle(view, NW_PANE_HEAT);
		break;
	case '?':
		toggle(view, NW_PANE_HELP);
		break;
	case '/':
		ask(view, NW_PROMPT_FILTER, view->filter);
		break;
	case 'b':
	case 'g':
		ask(view, NW_PROMPT_GROUP, view->by ? view->by : "");
		break;
	case 'w':
		ask(view, NW_PROMPT_REPORT, "nopwatch.html");
		break;
	case NW_PRESS_ESCAPE:
		if (view->pane)
			view->pane = NW_PANE_NONE;
		else
			view->filter[0] = '\0';
		break;
	default:
		break;
	}
	return NW_TOP_NOTHING;
}
