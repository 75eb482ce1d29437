// SPDX-License-Identifier: MIT
/*
 * What a session would do to the kernel, told as steps: the order is that of session.c and
 * teardown.c. (Those look at what the kernel answers, and go on accordingly: what they do then
 * cannot be told before.)
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "steps.h"

/* A file whose path the kernel's grammar cannot carry: the shell holds it open. */
struct held_file {
	const struct nw_image *image;
	unsigned int fd;
};

struct telling {
	const struct nw_features *features;
	const struct nw_plan *plan;
	const struct nw_session_options *options;
	char where[NW_MAX_NAME + 16]; /* "instances/nopwatch_X" */
	struct nw_steps steps;
	NW_VEC(struct held_file) held;
};

static void shell(struct telling *t, const char *fmt, ...) nw_format(2, 3);
static void shell(struct telling *t, const char *fmt, ...)
{
	struct nw_buf text = {0};
	va_list args;

	va_start(args, fmt);
	nw_buf_vprintf(&text, fmt, args);
	va_end(args);
	t->steps.failed |= text.failed;
	nw_steps_add(&t->steps, NW_DO_SHELL, "", nw_buf_str(&text));
	nw_buf_free(&text);
}

static void set(struct telling *t, const char *file, const char *value)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/%s", t->where, file);

	if (path)
		nw_steps_add(&t->steps, NW_DO_WRITE, path, value);
	else
		t->steps.failed = true;
}

static void set_number(struct telling *t, const char *file, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	set(t, file, text);
}

/* ---- definitions -------------------------------------------------------------------- */

/* The path for the definition; a file is opened the first time. The caller frees. */
static char *path_of(struct telling *t, const struct nw_image *image)
{
	char *path = nw_absolute_path(image->path);
	unsigned int next = 3;

	if (!path || nw_path_will_do(path, image))
		return path;
	nw_vec_each (&t->held, held) {
		next++;
		if (held->image == image) {
			free(path);
			return nw_text("/proc/self/fd/%u", held->fd);
		}
	}
	struct held_file *held = next < 10 ? nw_vec_add(&t->held) : NULL;
	if (!held) { /* no shell needs to know more digits */
		shell(t,
		      "# too many files with odd paths: the next must be named otherwise");
		return path;
	}
	*held = (struct held_file){image, next};
	struct nw_buf word = {0};
	nw_shell_word(&word, path);
	shell(t, "exec %u<%s", next, nw_buf_str(&word));
	nw_buf_free(&word);
	free(path);
	return nw_text("/proc/self/fd/%u", next);
}

static void define_place(struct telling *t, const struct nw_event *event,
			 const struct nw_place *place)
{
	const struct nw_point *point = nw_plan_point(t->plan, place);
	const char *danger = t->options->force ? NULL : nw_point_hazard(t->features, point);
	struct nw_buf line = {0};

	if (danger) {
		shell(t, "# left out: %s", danger);
		return;
	}
	nw_cleanup(nw_free_ptr) char *path = path_of(t, point->image);
	if (!path) {
		t->steps.failed = true;
		return;
	}
	nw_plan_define(t->plan, event, place, path, t->features->has[NW_FEATURE_REF_CTR],
		       &line);
	t->steps.failed |= line.failed;
	nw_steps_add(&t->steps, NW_DO_APPEND, "uprobe_events", nw_buf_str(&line));
	nw_buf_free(&line);
}

static void define(struct telling *t)
{
	for (int companions = 0; companions < 2; companions++)
		nw_vec_each (&t->plan->events, event)
			nw_vec_each (&(*event)->places, place)
				if (!*(*event)->system && (place->part > 0) == companions)
					define_place(t, *event, place);
}

/* ---- the way there, and back -------------------------------------------------------- */

static void set_buffer(struct telling *t, uint64_t bytes)
{
	unsigned int pages = nw_buffer_pages(t->features, t->options, bytes);

	if (pages)
		set_number(t, "buffer_subbuf_size_kb", pages);
	set_number(t, "buffer_size_kb", (bytes + 1023) / 1024);
}

static void make_instance(struct telling *t)
{
	const char *clock;

	nw_clock_choose(t->features, &clock);
	nw_steps_add(&t->steps, NW_DO_MKDIR, t->where, "");
	shell(t, "I=\"$T/%s\"", t->where);
	set(t, "trace_clock", clock);
	if (t->options->buffer_bytes)
		set_buffer(t, t->options->buffer_bytes);
}

static void restrict_to(struct telling *t, bool restricted)
{
	if (!t->options->pid_count && !restricted)
		return;
	set(t, "options/event-fork", "1");
	if (restricted) /* the shell itself, and what it starts: CMD */
		shell(t, "echo $$ >>\"$I/set_event_pid\"");
	for (size_t i = 0; i < t->options->pid_count; i++)
		shell(t,
		      "for t in /proc/%d/task/*; do echo \"${t##*/} \" "
		      ">>\"$I/set_event_pid\"; done",
		      (int)t->options->pids[i]);
}

static void arm(struct telling *t)
{
	nw_cleanup(nw_free_ptr) char *enable = nw_text("events/%s/enable", t->plan->group);
	bool defined = false;

	nw_vec_each (&t->plan->events, event)
		defined = defined || !*(*event)->system;
	if (defined)
		set(t, enable ? enable : "", "1");
	nw_vec_each (&t->plan->events, event) { /* the kernel's own */
		if (!*(*event)->system)
			continue;
		nw_cleanup(nw_free_ptr) char *file = nw_text(
			"events/%s/%s/enable", (*event)->system, (*event)->name);
		set(t, file ? file : "", "1");
	}
	for (size_t i = 0; i < nw_task_event_count && t->options->tasks; i++) {
		nw_cleanup(nw_free_ptr) char *file = nw_text("events/%s/enable",
							     nw_task_events[i]);
		set(t, file ? file : "", "1");
	}
	if (t->features->has[NW_FEATURE_BUFFER_PERCENT])
		set_number(t, "buffer_percent", nw_buffer_percent(t->options));
	if (!t->options->buffer_bytes)
		set_buffer(t, nw_buffer_default());
}

static void take_away(struct telling *t)
{
	set(t, "tracing_on", "0");
	set(t, "events/enable", "0");
	nw_steps_add(&t->steps, NW_DO_RMDIR, t->where, "");
	nw_vec_each (&t->plan->events, event) {
		if (*(*event)->system)
			continue;
		char line[2 * NW_MAX_NAME + 8];
		snprintf(line, sizeof(line), "-:%s/%s", t->plan->group, (*event)->name);
		nw_steps_add(&t->steps, NW_DO_APPEND, "uprobe_events", line);
	}
	nw_vec_each (&t->held, held)
		shell(t, "exec %u<&-", held->fd);
}

int nw_session_tell(const struct nw_tracefs *fs, const struct nw_features *features,
		    const struct nw_plan *plan, const char *name,
		    const struct nw_session_options *options, bool restricted,
		    const nw_strings *middle, struct nw_buf *out, struct nw_error *err)
{
	struct telling t = {.features = features, .plan = plan, .options = options};

	if (!features->has[NW_FEATURE_INSTANCES] ||
	    !features->has[NW_FEATURE_INSTANCE_EVENTS]) {
		nw_fail(err, ENOTSUP,
			"what is done without instances, in the top-level buffer, cannot "
			"be "
			"told: it depends on what is set there");
		nw_error_hint(err, "`nopwatch script` makes a script for such kernels");
		return -ENOTSUP;
	}
	snprintf(t.where, sizeof(t.where), "instances/nopwatch_%.20s", name);
	make_instance(&t);
	define(&t);
	restrict_to(&t, restricted);
	if (!features->has[NW_FEATURE_REF_CTR])
		shell(&t, "# nopwatch would now raise the semaphores in /proc/PID/mem");
	arm(&t);
	nw_vec_each (middle, line)
		shell(&t, "%s", *line);
	take_away(&t);
	nw_steps_tell(fs->path, &t.steps, out);
	nw_steps_free(&t.steps);
	nw_vec_free(&t.held);
	return out->failed ? nw_no_memory(err) : 0;
}
