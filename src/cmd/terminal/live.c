// SPDX-License-Identifier: MIT
/* See live.h. */
#include "live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command_output.h"
#include "terminal.h"

enum {
	PICTURE_NS = 100000000 /* between two pictures, unless a key asks for one */
};

struct nw_live_view {
	struct nw_live_options options;
	struct nw_reports_live hooks;
	struct nw_reports *reports; /* NULL until all probes are armed */
	struct nw_terminal terminal;
	struct nw_top seen, frozen; /* frozen: shown while the view is paused */
	struct nw_top_view view;
	struct nw_canvas canvas;
	struct nw_buf keys; /* keys by which calls can be grouped */
	/* Keys by which they were grouped; each lives as long as the run. */
	nw_strings bys;
	nw_strings notices;		 /* printed again at the end */
	struct nw_command_output output; /* of CMD */
	unsigned char typed[256];	 /* the bytes of an incomplete key */
	size_t typed_len;
	uint64_t drawn;	      /* time of the last picture, on this program's clock */
	uint64_t hits_before; /* hits before the grouping was changed */
	uint64_t told_until;  /* end of the last interval, on the trace clock */
	int wake_fds[2];
	bool fresh, urgent, quit;
};

static struct nw_measure *measure_of(const struct nw_live_view *v)
{
	return &v->reports->measure;
}

/* ---- drawing ------------------------------------------------------------------------ */

static const struct nw_top *shown(const struct nw_live_view *v)
{
	return v->view.paused ? &v->frozen : &v->seen;
}

static void draw(struct nw_live_view *v)
{
	struct nw_screen size = nw_terminal_size(&v->terminal);

	v->fresh = v->urgent = false;
	v->drawn = nw_clock_ns(CLOCK_MONOTONIC);
	if (nw_canvas_reset(&v->canvas, size.columns, size.rows) == 0 &&
	    nw_top_draw(shown(v), &v->view, &v->canvas) == 0)
		nw_terminal_show(&v->terminal, &v->canvas);
}

/* ---- keys --------------------------------------------------------------------------- */

static void say(struct nw_live_view *v, const char *text)
{
	snprintf(v->view.message, sizeof(v->view.message), "%.*s",
		 (int)sizeof(v->view.message) - 1, text);
}

static void pause_view(struct nw_live_view *v)
{
	nw_top_free(&v->frozen);
	if (v->view.paused && nw_top_copy(&v->seen, &v->frozen) < 0) {
		v->view.paused = false;
		say(v, "out of memory");
	}
}

static void group(struct nw_live_view *v)
{
	const char *by = NULL;
	struct nw_error err = {0};
	int ret = 0;

	if (*v->view.input) {
		ret = nw_strings_add(&v->bys, v->view.input, strlen(v->view.input));
		by = ret == 0 ? v->bys.item[v->bys.count - 1] : NULL;
	}
	if (ret == 0)
		ret = nw_reports_regroup(v->reports, by, &err);
	if (ret < 0) {
		say(v, err.code ? err.what : "out of memory");
		return;
	}
	v->view.by = by;
	v->view.paused = v->view.has_cursor = false;
	v->view.first = 0;
	nw_top_free(&v->frozen);
	nw_top_free(&v->seen);
	nw_top_open(&v->seen, v->told_until, v->options.interval_ns, 0);
	v->hits_before = nw_run_so_far(measure_of(v)->run)->hits;
}

static void write_report(struct nw_live_view *v, const char *path)
{
	struct nw_error err = {0};
	int ret = nw_reports_write(v->reports, path, &err);

	if (ret < 0)
		say(v, err.what);
	else
		snprintf(v->view.message, sizeof(v->view.message), "written: %.200s", path);
}

static void press(struct nw_live_view *v, uint32_t key)
{
	if (key == NW_PRESS_REDRAW) {
		nw_terminal_forget(&v->terminal);
		v->fresh = v->urgent = true;
		return;
	}
	switch (nw_top_press(&v->view, shown(v), key)) {
	case NW_TOP_NOTHING:
		break;
	case NW_TOP_QUIT:
		v->quit = true;
		break;
	case NW_TOP_PAUSE:
		pause_view(v);
		break;
	case NW_TOP_GROUP:
		group(v);
		break;
	case NW_TOP_REPORT:
		write_report(v, v->view.input);
		break;
	}
	v->fresh = v->urgent = true;
}

/* Handles keys and signals. */
static void take_input(struct nw_live_view *v)
{
	size_t room = sizeof(v->typed) - v->typed_len, at = 0;
	uint32_t key;

	nw_terminal_poll(&v->terminal);
	size_t got = nw_terminal_read(&v->terminal, v->typed + v->typed_len, room);
	if (got) {
		v->typed_len += got;
		while ((key = nw_press_next(v->typed, v->typed_len, &at)))
			press(v, key);
		/* No key has that many bytes. */
		at = v->typed_len - at == sizeof(v->typed) ? v->typed_len : at;
		v->typed_len -= at;
		memmove(v->typed, v->typed + at, v->typed_len);
	}
	v->quit |= v->terminal.gone || v->terminal.ended;
	v->fresh |= v->terminal.redraw;
}

/* ---- what is measured --------------------------------------------------------------- */

static int add_row(struct nw_live_view *v, const struct nw_run_result *so_far,
		   const struct nw_group_row *row, uint32_t group, const char *group_name)
{
	const struct nw_measure *m = measure_of(v);
	bool is_span = row->subject == NW_SUBJECT_SPANS;
	const struct nw_top_entry entry = {
		.is_span = is_span,
		.index = row->number,
		.group = group,
		.name = is_span ? m->spans.item[row->number].name
				: so_far->selection.probes.item[row->number]->label,
		.group_name = group_name,
		.count = nw_row_count(row->subject, row->row),
		.times = nw_row_times(row->subject, row->row),
		.disabled = !is_span && nw_result_is_disabled(so_far, row->number),
	};

	/* There may be many groups, so those without calls in this interval keep their values. */
	return group_name && !entry.count ? 0 : nw_top_add(&v->seen, &entry);
}

/* Takes the rows of the summary for an interval. */
static int take_rows(struct nw_live_view *v, const struct nw_run_result *so_far,
		     uint64_t start, uint64_t end)
{
	const struct nw_measure *m = measure_of(v);
	bool grouped = v->view.by != NULL;
	int ret = m->bins ? nw_bins_update(m->bins, 0) : 0;

	nw_top_next(&v->seen, nw_max64(start, v->seen.began), end);
	v->told_until = end;
	for (size_t g = 0; ret == 0 && g < nw_summary_groups(m->summary); g++) {
		const struct nw_group_rows *rows = nw_summary_rows(m->summary, g, false);
		const char *name = grouped ? nw_summary_group_name(m->summary, g) : NULL;
		struct nw_group_row row;
		size_t at = 0;
		while (ret == 0 && nw_group_next(rows, &at, &row))
			/* A probe that is only recorded for another purpose has no row. */
			if (row.subject == NW_SUBJECT_SPANS ||
			    !so_far->selection.probes.item[row.number]->hidden)
				ret = add_row(v, so_far, &row, (uint32_t)g, name);
	}
	if (ret == 0 && nw_summary_failed(m->summary))
		ret = -ENOMEM;
	v->seen.hits = so_far->hits - v->hits_before;
	v->seen.lost = nw_summary_lost(m->summary);
	v->fresh |= !v->view.paused;
	return ret;
}

static int take_interval(void *arg, uint64_t start, uint64_t end, struct nw_error *err)
{
	struct nw_live_view *v = arg;
	const struct nw_measure *m = measure_of(v);
	const struct nw_run_result *so_far = nw_run_so_far(m->run);

	if (take_rows(v, so_far, start, end) < 0)
		return nw_no_memory(err);
	if (!v->options.recorded && end > so_far->start_ns)
		v->seen.cost = (double)nw_run_cost(m->run) /
			       (double)(end - so_far->start_ns);
	/* A recording is read without ticks. */
	if (v->options.recorded &&
	    nw_clock_ns(CLOCK_MONOTONIC) - v->drawn >= NW_LIVE_INTERVAL_NS) {
		take_input(v);
		draw(v);
	}
	return v->quit ? -ECANCELED : 0;
}

static int take_armed(void *arg, struct nw_reports *reports, struct nw_error *err)
{
	struct nw_live_view *v = arg;
	struct nw_measure *m = &reports->measure;
	const struct nw_run_result *so_far = nw_run_so_far(m->run);
	/* The length of a recording, if it is known; else 0. */
	bool known = v->options.recorded && so_far->stop_ns != UINT64_MAX;
	uint64_t all = known && so_far->stop_ns > so_far->start_ns
			       ? so_far->stop_ns - so_far->start_ns
			       : 0;

	v->reports = reports;
	v->told_until = so_far->start_ns;
	nw_top_open(&v->seen, so_far->start_ns, v->options.interval_ns, all);
	if (!m->options.interval_ns) /* fit as much as possible into the picture */
		nw_measure_set_interval(m, all ? v->seen.slot_ns : NW_LIVE_INTERVAL_NS);
	nw_measure_keys(m, &v->keys);
	if (v->keys.failed)
		return nw_no_memory(err);
	v->view.keys = nw_buf_str(&v->keys);
	nw_terminal_enter(&v->terminal);
	draw(v);
	return 0;
}

static int take_tick(void *arg, struct nw_error *err)
{
	struct nw_live_view *v = arg;

	(void)err;
	take_input(v);
	if (v->fresh && !v->quit &&
	    (v->urgent || nw_clock_ns(CLOCK_MONOTONIC) - v->drawn >= PICTURE_NS))
		draw(v);
	return v->quit ? -ECANCELED : 0;
}

void nw_live_notice(struct nw_live_view *v, const char *text)
{
	if (!v->terminal.entered) {
		v->options.note("%s", text);
		return;
	}
	say(v, text);
	v->fresh = true;
	/* Without memory the notice was at least shown. */
	int ret = nw_strings_add(&v->notices, text, strlen(text));
	(void)ret;
}

/* Shows the result of a recording, which is read before anybody has seen it. */
void nw_live_browse(struct nw_live_view *v, const struct nw_run_result *result)
{
	if (!v->options.recorded || v->quit || result->reason == NW_END_SIGNAL)
		return;
	nw_terminal_take_ends(&v->terminal);
	/* The rest behind the last interval counts, even a single hit without duration. */
	if (take_rows(v, result, v->told_until, nw_max64(result->now_ns, v->told_until)) <
		    0 ||
	    nw_summary_next_interval(measure_of(v)->summary) < 0)
		say(v, "out of memory");
	v->seen.over = true;
	v->fresh = true;
	while (!v->quit) {
		take_input(v);
		if (v->fresh)
			draw(v);
		if (!v->quit)
			nw_terminal_wait(&v->terminal, -1);
	}
}

static void leave(void *arg)
{
	struct nw_live_view *v = arg;

	nw_terminal_leave(&v->terminal);
	nw_command_output_show(&v->output, v->options.note);
	nw_vec_each (&v->notices, notice)
		v->options.note("%s", *notice);
	nw_strings_free(&v->notices);
}

/* ---- the whole ---------------------------------------------------------------------- */

int nw_live_open(const struct nw_live_options *options, struct nw_live_view **out)
{
	const char *term = getenv("TERM");
	struct nw_live_view *v = calloc(1, sizeof(*v));

	if (!v || nw_terminal_open(&v->terminal, options->color) < 0) {
		free(v);
		return -ENOTTY;
	}
	v->options = *options;
	v->view = (struct nw_top_view){
		.sort = options->sort,
		.by = options->by,
		.net = options->net,
		.ascii = !nw_terminal_is_utf8(),
		.console = term && strcmp(term, "linux") == 0,
	};
	v->hooks = (struct nw_reports_live){
		.arg = v,
		.armed = take_armed,
		.interval = take_interval,
		.tick = take_tick,
		.leave = leave,
	};
	v->wake_fds[0] = v->terminal.fd;
	v->wake_fds[1] = v->terminal.signals;
	for (int i = 0; i < 3; i++)
		v->output.before[i] = -1;
	if (options->keeps_output)
		nw_command_output_keep(&v->output);
	*out = v;
	return 0;
}

const struct nw_reports_live *nw_live_hooks(const struct nw_live_view *v)
{
	return &v->hooks;
}

bool nw_live_is_shown(const struct nw_live_view *v)
{
	return v->terminal.entered;
}

const int *nw_live_wake_fds(const struct nw_live_view *v, size_t *count)
{
	*count = NW_COUNT(v->wake_fds);
	return v->wake_fds;
}

void nw_live_leave(struct nw_live_view *v)
{
	leave(v);
}

void nw_live_close(struct nw_live_view *v)
{
	nw_terminal_close(&v->terminal);
	nw_top_free(&v->seen);
	nw_top_free(&v->frozen);
	nw_canvas_free(&v->canvas);
	nw_buf_free(&v->keys);
	nw_strings_free(&v->bys);
	free(v);
}
