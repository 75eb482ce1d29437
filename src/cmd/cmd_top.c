// SPDX-License-Identifier: MIT
/* top: the summary, live in the terminal. What it shows is made by top/, what it prints at its end by stat. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "live.h"
#include "terminal.h"

enum {
	INTERVAL_NS = 500000000,
	PICTURE_NS = 100000000 /* between two, unless a key asks for one */
};

/* What CMD prints would be drawn over: it is kept, and shown at the end. */
struct kept {
	FILE *file;
	int before[3]; /* what our standard files were; -1: they stayed */
};

struct top {
	const struct nw_args *args;
	struct nw_stat *stat;
	struct nw_terminal terminal;
	struct nw_top seen, frozen; /* frozen: while it is paused */
	struct nw_top_view view;
	struct nw_canvas canvas;
	struct nw_buf keys; /* that can be grouped by */
	nw_strings bys;	    /* that it was grouped by: each lives as long as the run */
	nw_strings notices; /* to be printed at the end, too */
	struct kept kept;
	unsigned char typed[256]; /* the beginning of a key */
	size_t typed_len;
	uint64_t drawn;	      /* when, on the clock of this program */
	uint64_t hits_before; /* that were grouped otherwise */
	uint64_t told_until;  /* of the trace clock: the last interval's end */
	bool fresh, urgent, quit;
};

static uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- CMD's standard files ----------------------------------------------------------- */

static void redirect(struct kept *kept, int fd, int to)
{
	kept->before[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (kept->before[fd] >= 0 && dup2(to, fd) < 0)
		kept->before[fd] = -1;
}

static void keep(struct kept *kept)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	kept->file = tmpfile();
	if (kept->file) {
		int fd = fileno(kept->file);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(fd, F_SETFL, O_APPEND);
		for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++)
			if (isatty(i) == 1)
				redirect(kept, i, fd);
	}
	/* the keys are ours */
	if (nothing >= 0 && isatty(STDIN_FILENO) == 1)
		redirect(kept, STDIN_FILENO, nothing);
	if (nothing >= 0)
		close(nothing);
}

static void show_end(FILE *file)
{
	enum {
		MOST = 65536
	};
	nw_cleanup(nw_free_ptr) char *text = malloc(MOST);
	long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;

	if (!text || size <= 0)
		return;
	if (size > MOST)
		nw_note("the last %d of %ld bytes that it has printed:", MOST, size);
	fseek(file, size > MOST ? size - MOST : 0, SEEK_SET);
	size_t got = fread(text, 1, MOST, file);
	fwrite(text, 1, got, stdout);
	fflush(stdout);
}

static void give_out(struct kept *kept)
{
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
		if (kept->before[i] < 0)
			continue;
		dup2(kept->before[i], i);
		close(kept->before[i]);
		kept->before[i] = -1;
	}
	if (!kept->file)
		return;
	show_end(kept->file);
	fclose(kept->file);
	kept->file = NULL;
}

/* ---- drawing ------------------------------------------------------------------------ */

static const struct nw_top *shown(const struct top *t)
{
	return t->view.paused ? &t->frozen : &t->seen;
}

static void draw(struct top *t)
{
	struct nw_screen size = nw_terminal_size(&t->terminal);

	t->fresh = t->urgent = false;
	t->drawn = clock_now();
	if (nw_canvas_reset(&t->canvas, size.columns, size.rows) == 0 &&
	    nw_top_draw(shown(t), &t->view, &t->canvas) == 0)
		nw_terminal_show(&t->terminal, &t->canvas);
}

/* ---- keys --------------------------------------------------------------------------- */

static void say(struct top *t, const char *text)
{
	snprintf(t->view.message, sizeof(t->view.message), "%.*s",
		 (int)sizeof(t->view.message) - 1, text);
}

static void pause_view(struct top *t)
{
	nw_top_free(&t->frozen);
	if (t->view.paused && nw_top_copy(&t->seen, &t->frozen) < 0) {
		t->view.paused = false;
		say(t, "out of memory");
	}
}

static void group(struct top *t)
{
	const char *by = NULL;
	struct nw_error err = {0};
	int ret = 0;

	if (*t->view.input) {
		ret = nw_strings_add(&t->bys, t->view.input, strlen(t->view.input));
		by = ret == 0 ? t->bys.item[t->bys.count - 1] : NULL;
	}
	if (ret == 0)
		ret = nw_stat_regroup(t->stat, by, &err);
	if (ret < 0) {
		say(t, err.code ? err.what : "out of memory");
		return;
	}
	t->view.by = by;
	t->view.paused = t->view.has_cursor = false;
	t->view.first = 0;
	nw_top_free(&t->frozen);
	nw_top_free(&t->seen);
	nw_top_open(&t->seen, t->told_until, t->args->interval_ns, 0);
	t->hits_before = nw_run_so_far(nw_stat_measure(t->stat)->run)->hits;
}

static void write_report(struct top *t, const char *path)
{
	struct nw_error err = {0};
	int ret = nw_stat_write(t->stat, path, &err);

	if (ret < 0)
		say(t, err.what);
	else
		snprintf(t->view.message, sizeof(t->view.message), "written: %.200s", path);
}

static void press(struct top *t, uint32_t key)
{
	switch (nw_top_press(&t->view, shown(t), key)) {
	case NW_TOP_NOTHING:
		break;
	case NW_TOP_QUIT:
		t->quit = true;
		break;
	case NW_TOP_PAUSE:
		pause_view(t);
		break;
	case NW_TOP_GROUP:
		group(t);
		break;
	case NW_TOP_REPORT:
		write_report(t, t->view.input);
		break;
	}
	t->fresh = t->urgent = true;
}

/* Keys and signals. */
static void look_around(struct top *t)
{
	size_t room = sizeof(t->typed) - t->typed_len, at = 0;
	uint32_t key;

	nw_terminal_look(&t->terminal);
	size_t got = nw_terminal_read(&t->terminal, t->typed + t->typed_len, room);
	if (got) {
		t->typed_len += got;
		while ((key = nw_press_next(t->typed, t->typed_len, &at)))
			press(t, key);
		/* nothing is that long */
		at = t->typed_len - at == sizeof(t->typed) ? t->typed_len : at;
		t->typed_len -= at;
		memmove(t->typed, t->typed + at, t->typed_len);
	}
	t->quit |= t->terminal.gone || t->terminal.ended;
	t->fresh |= t->terminal.redraw;
}

static bool is_time(const struct top *t)
{
	return t->fresh && !t->quit && (t->urgent || clock_now() - t->drawn >= PICTURE_NS);
}

/* ---- what is measured --------------------------------------------------------------- */

/* What is only recorded for something else is no row. */
static bool is_hidden(const struct nw_run_result *so_far, const struct nw_group_row *row)
{
	return !row->is_span && so_far->selection.probes.item[row->number]->hidden;
}

static int add_row(struct top *t, const struct nw_run_result *so_far,
		   const struct nw_group_row *row, uint32_t group, const char *group_name)
{
	const struct nw_measure *m = nw_stat_measure(t->stat);
	const struct nw_top_entry entry = {
		.is_span = row->is_span,
		.index = row->number,
		.group = group,
		.name = row->is_span ? m->spans.item[row->number].name
				     : so_far->selection.probes.item[row->number]->label,
		.group_name = group_name,
		.count = row->is_span ? row->span->latency.count : row->probe->hits,
		.times = row->is_span ? &row->span->latency : &row->probe->gap,
		.disabled = !row->is_span && nw_result_is_disabled(so_far, row->number),
	};

	/* of groups there may be many: those that did nothing now keep what they have */
	return group_name && !entry.count ? 0 : nw_top_add(&t->seen, &entry);
}

/* What the summary has of a piece of time. */
static int take_rows(struct top *t, const struct nw_run_result *so_far, uint64_t start,
		     uint64_t end)
{
	const struct nw_measure *m = nw_stat_measure(t->stat);
	bool grouped = t->view.by != NULL;
	int ret = 0;

	nw_top_next(&t->seen, nw_max64(start, t->seen.began), end);
	t->told_until = end;
	for (size_t g = 0; g < nw_summary_groups(m->summary); g++) {
		const struct nw_group_rows *rows = nw_summary_rows(m->summary, g, false);
		const char *name = grouped ? nw_summary_group_name(m->summary, g) : NULL;
		struct nw_group_row row;
		size_t at = 0;
		while (ret == 0 && nw_group_next(rows, &at, &row))
			if (!is_hidden(so_far, &row))
				ret = add_row(t, so_far, &row, (uint32_t)g, name);
	}
	t->seen.hits = so_far->hits - t->hits_before;
	t->seen.lost = nw_summary_lost(m->summary);
	t->fresh |= !t->view.paused;
	return ret;
}

static int take_interval(void *arg, uint64_t start, uint64_t end, struct nw_error *err)
{
	struct top *t = arg;
	const struct nw_measure *m = nw_stat_measure(t->stat);
	const struct nw_run_result *so_far = nw_run_so_far(m->run);

	if (take_rows(t, so_far, start, end) < 0)
		return nw_no_memory(err);
	if (!t->args->from && end > so_far->start_ns)
		t->seen.cost = (double)nw_run_cost(m->run) /
			       (double)(end - so_far->start_ns);
	/* a recording is read without ticks */
	if (t->args->from && clock_now() - t->drawn >= INTERVAL_NS) {
		look_around(t);
		draw(t);
	}
	return t->quit ? -ECANCELED : 0;
}

/* How long all of it is, where a recording tells; 0: not known. */
static uint64_t all_ns(const struct top *t, const struct nw_run_result *so_far)
{
	bool known = t->args->from && so_far->stop_ns != UINT64_MAX;

	return known && so_far->stop_ns > so_far->start_ns
		       ? so_far->stop_ns - so_far->start_ns
		       : 0;
}

static int take_armed(void *arg, struct nw_stat *stat, struct nw_error *err)
{
	struct top *t = arg;
	struct nw_measure *m = nw_stat_measure(stat);
	const struct nw_run_result *so_far = nw_run_so_far(m->run);
	uint64_t all = all_ns(t, so_far);

	t->stat = stat;
	t->told_until = so_far->start_ns;
	nw_top_open(&t->seen, so_far->start_ns, t->args->interval_ns, all);
	if (!m->options.interval_ns) /* as much as can be shown of it */
		nw_measure_set_interval(m, all ? t->seen.slot_ns : INTERVAL_NS);
	nw_measure_keys(m, &t->keys);
	if (t->keys.failed)
		return nw_no_memory(err);
	t->view.keys = nw_buf_str(&t->keys);
	nw_terminal_enter(&t->terminal);
	draw(t);
	return 0;
}

static int take_tick(void *arg, struct nw_error *err)
{
	struct top *t = arg;

	(void)err;
	look_around(t);
	if (is_time(t))
		draw(t);
	return t->quit ? -ECANCELED : 0;
}

static void take_notice(void *arg, const char *text)
{
	struct top *t = arg;

	if (!t->terminal.entered) {
		nw_note("%s", text);
		return;
	}
	say(t, text);
	t->fresh = true;
	/* without memory it was shown at least */
	int ret = nw_strings_add(&t->notices, text, strlen(text));
	(void)ret;
}

/* A recording is over before anybody has seen it. */
static void look_at_result(void *arg, const struct nw_run_result *result)
{
	struct top *t = arg;

	if (!t->args->from || t->quit || result->reason == NW_END_SIGNAL)
		return;
	nw_terminal_take_ends(&t->terminal);
	/* what came behind the last interval, if it was only one hit in no time */
	if (take_rows(t, result, t->told_until, nw_max64(result->now_ns, t->told_until)) <
		    0 ||
	    nw_summary_next_interval(nw_stat_measure(t->stat)->summary) < 0)
		say(t, "out of memory");
	t->seen.over = true;
	t->fresh = true;
	while (!t->quit) {
		look_around(t);
		if (t->fresh)
			draw(t);
		if (!t->quit)
			nw_terminal_wait(&t->terminal, -1);
	}
}

static void leave(void *arg)
{
	struct top *t = arg;

	nw_terminal_leave(&t->terminal);
	give_out(&t->kept);
	nw_vec_each (&t->notices, notice)
		nw_note("%s", *notice);
	nw_strings_free(&t->notices);
}

/* ---- the command -------------------------------------------------------------------- */

static int show(struct top *t)
{
	const int wake_fds[] = {t->terminal.fd, t->terminal.signals};
	const struct nw_live live = {
		.arg = t,
		.armed = take_armed,
		.interval = take_interval,
		.tick = take_tick,
		.notice = take_notice,
		.look = look_at_result,
		.leave = leave,
		.wake_fds = wake_fds,
		.wake_fd_count = NW_COUNT(wake_fds),
	};

	if (t->args->cmd)
		keep(&t->kept);
	int status = nw_stat_run(t->args, &nw_cmd_top, &live);
	leave(t);
	return status;
}

static int run(const struct nw_args *args)
{
	struct nw_args with_interval = *args;
	const char *term = getenv("TERM");
	struct top t = {
		.args = &with_interval,
		.view = {.sort = args->view.sort,
			 .by = args->by,
			 .ascii = !nw_terminal_is_utf8(),
			 .console = term && strcmp(term, "linux") == 0},
		.kept = {.before = {-1, -1, -1}},
	};
	bool live = !args->dry_run && nw_terminal_is_there() &&
		    nw_terminal_open(&t.terminal, nw_use_color(args, stdout)) == 0;

	/* of a recording: as long as it asks for; as lines, one report */
	if (!with_interval.interval_ns && !args->from)
		with_interval.interval_ns = INTERVAL_NS;
	if (!live)
		return nw_stat_run(&with_interval, &nw_cmd_top, NULL);
	int status = show(&t);
	nw_terminal_close(&t.terminal);
	nw_top_free(&t.seen);
	nw_top_free(&t.frozen);
	nw_canvas_free(&t.canvas);
	nw_buf_free(&t.keys);
	nw_strings_free(&t.bys);
	return status;
}

const struct nw_command nw_cmd_top = {
	.name = "top",
	.summary = "the summary, live in the terminal",
	.usage = "SPEC... [-p PID | -x FILE] [-- CMD]",
	.details =
		"Shows what stat would report while it happens, twice a second unless -i says otherwise:\n"
		"a row a span (latencies) and a row a probe (gaps between its hits), with rates,\n"
		"percentiles, the course of the last minute and the distribution. ? shows the keys: sort,\n"
		"pause, the last interval or everything, histogram, heat map, filter by name, group by,\n"
		"write a report. What stat prints comes at the end, in the form that -f says, to -o's file.\n"
		"\n"
		"With --from FILE a recording is looked at. What CMD prints comes at the end. Where\n"
		"stdout is no terminal, or TERM is dumb, it is stat -i 500ms.",
	.shows = NW_SHOWS_REPORTS,
	.options = NW_OPTIONS_STAT,
	.run = run,
};
