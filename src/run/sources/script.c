// SPDX-License-Identifier: MIT
/* Writes a request as a shell script, for a machine that has only a shell. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sources.h"

enum {
	/* A build-id is near the begin of a file, and shells read slowly. */
	ID_WITHIN = 1 << 16,
	PART = 1 << 20, /* bytes of a file that are read at once */
	ID_LEAST = 6	/* bytes that are compared, at least */
};

struct script {
	const struct nw_request *request;
	const char *const *remotes; /* "FILE=PATH" or "PATH" */
	size_t remote_count;
	nw_strings *dangers;
	struct nw_run run; /* which is never armed */
	/* As on the other machine, if its kernel accepts everything */
	struct nw_run_result result;
	struct nw_buf counting, header; /* if the kernel counts */
	NW_VEC(struct nw_script_file) files;
	nw_strings paths;
};

/* ---- where the files are there ------------------------------------------------------ */

/* Returns PATH of the "FILE=PATH" for this image, or a PATH alone if there is only one image; NULL: neither. */
static const char *remote_path(const struct script *s, const struct nw_image *image)
{
	bool alone = s->result.selection.images.count == 1;
	size_t len = strlen(image->path);

	for (size_t i = 0; i < s->remote_count; i++) {
		const char *text = s->remotes[i];
		if (strncmp(text, image->path, len) == 0 && text[len] == '=')
			return text + len + 1;
		if (alone && *text == '/')
			return text;
	}
	return NULL;
}

static int add_path(struct script *s, const struct nw_image *image, struct nw_error *err)
{
	const char *there = remote_path(s, image), *path = image->path;
	nw_cleanup(nw_free_ptr) char *cwd = getcwd(NULL, 0);

	if (there)
		return nw_strings_add(&s->paths, there, strlen(there)) < 0
			       ? nw_no_memory(err)
			       : 0;
	if (!cwd)
		return nw_fail(err, errno, "cannot find out the working directory: %s",
			       nw_strerror(errno));
	while (strncmp(path, "./", 2) == 0)
		path += 2;
	int ret = *path == '/' ? nw_strings_add(&s->paths, path, strlen(path))
			       : nw_strings_addf(&s->paths, "%s/%s", cwd, path);
	return ret < 0 ? nw_no_memory(err) : 0;
}

/* Checks that every --remote-path names one of the files. */
static int check_remotes(const struct script *s, struct nw_error *err)
{
	for (size_t i = 0; i < s->remote_count; i++) {
		const char *text = s->remotes[i];
		bool used = false;
		nw_vec_each (&s->result.selection.images, image) {
			const char *path = remote_path(s, *image);
			used |= path && path >= text && path <= text + strlen(text);
		}
		if (used)
			continue;
		nw_fail_usage(err, "--remote-path '%s' matches none of the files", text);
		nw_error_hint(err,
			      "write FILE=PATH, with FILE as `nopwatch list` shows it: %s",
			      s->result.selection.images.item[0]->path);
		return -EINVAL;
	}
	return 0;
}

/* ---- what the files are ------------------------------------------------------------- */

static uint64_t count_newlines(const char *bytes, size_t len)
{
	const char *at = bytes, *end = bytes + len;
	uint64_t count = 0;

	while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
		count++;
		at++;
	}
	return count;
}

/* Finds the longest sequence of bytes of the build-id that shells do not change, and its place in the file. */
static void find_id(const struct nw_image *image, const char *bytes, size_t len,
		    struct nw_script_file *out)
{
	unsigned char id[64];
	size_t id_len = 0, best = 0, best_len = 0;

	for (const char *hex = image->build_id; hex[0] && hex[1] && id_len < sizeof(id);
	     hex += 2) {
		char pair[3] = {hex[0], hex[1], '\0'};
		id[id_len++] = (unsigned char)strtoul(pair, NULL, 16);
	}
	for (size_t i = 0, run = 0; i < id_len; i++) {
		/* Shells drop NUL, and use 0x81..0x88 themselves. */
		bool safe = id[i] != 0 && id[i] != '\n' && (id[i] < 0x80 || id[i] > 0x8f);
		run = safe ? run + 1 : 0;
		if (run > best_len) {
			best_len = run;
			best = i + 1 - run;
		}
	}
	const char *at = id_len ? memmem(bytes, len < ID_WITHIN ? len : ID_WITHIN, id,
					 id_len)
				: NULL;
	if (!at || best_len < ID_LEAST)
		return;
	memcpy(out->id, id + best, best_len);
	out->id_len = best_len;
	out->id_line = count_newlines(bytes, (size_t)(at - bytes) + best);
}

/* Reads the file in parts, because its owner may cut it off meanwhile. */
static int read_file(const struct nw_image *image, struct nw_script_file *file)
{
	nw_cleanup(nw_free_ptr) char *part = malloc(PART);
	uint64_t at = 0;
	char last = '\n';

	if (!part)
		return -ENOMEM;
	while (at < image->size) {
		ssize_t got = pread(image->fd, part, PART, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -ENODATA;
		if (at == 0)
			find_id(image, part, (size_t)got, file);
		file->lines += count_newlines(part, (size_t)got);
		last = part[got - 1];
		at += (size_t)got;
	}
	file->lines += last != '\n';
	return 0;
}

static int measure_files(struct script *s, struct nw_error *err)
{
	const struct nw_selection *selection = &s->result.selection;
	int ret = check_remotes(s, err);

	for (size_t i = 0; i < selection->images.count && ret == 0; i++)
		ret = add_path(s, selection->images.item[i], err);
	for (size_t i = 0; i < selection->images.count && ret == 0; i++) {
		const struct nw_image *image = selection->images.item[i];
		struct nw_script_file *file = nw_vec_add(&s->files);
		if (!file)
			return nw_no_memory(err);
		file->path = s->paths.item[i];
		file->size = image->size;
		ret = read_file(image, file);
		if (ret == -ENODATA)
			ret = nw_fail(err, ENODATA, "'%s' became shorter while it was read",
				      image->path);
		else if (ret < 0)
			ret = nw_fail(err, -ret, "cannot read '%s': %s", image->path,
				      nw_strerror(-ret));
	}
	return ret;
}

/* ---- the plan ----------------------------------------------------------------------- */

/* Makes one event per place, without those that are too dangerous. */
static int choose_events(struct script *s, struct nw_error *err)
{
	const struct nw_plan *plan = &s->result.plan;
	size_t left = 0;

	if (nw_armed_make(plan, &s->result.armed) < 0)
		return nw_no_memory(err);
	nw_vec_each (&plan->events, event) {
		const struct nw_event_site *place = &(*event)->places.item[0];
		const struct nw_point *point = nw_plan_point(plan, place);
		const struct nw_planned_point *planned = &plan->points.item[place->planned];
		bool *failed = &s->result.armed.points.item[place->planned].failed;
		const char *danger = s->request->force ? NULL
						       : nw_point_hazard(NULL, point);
		if (danger && s->result.by_kernel)
			return nw_fail(
				err, EPERM,
				"%s at %s+0x%jx: %s (--force counts it all the same)",
				plan->selection->probes.item[planned->probe]->label,
				point->image->path, point->offset, danger);
		if (danger && !*failed &&
		    nw_strings_addf(s->dangers, "%s at %s+0x%jx is left out: %s",
				    plan->selection->probes.item[planned->probe]->label,
				    point->image->path, point->offset, danger) < 0)
			return nw_no_memory(err);
		*failed |= danger != NULL;
		left += !*failed;
	}
	nw_armed_assume(&s->result.armed);
	return left ? 0 : nw_fail(err, EPERM, "no probe is left");
}

static int make_plan(struct script *s, struct nw_error *err)
{
	/* The features of that kernel are unknown. So hexadecimal is left to the reader, and arguments that the
	 * kernel refuses only cost themselves. */
	struct nw_caps caps = nw_caps_all;
	const bool counts = s->result.by_kernel;
	caps.multi_site = caps.hex = false;
	const struct nw_plan_options options = {
		.session = "sh",
		.caps = caps,
		.all_args = !counts || s->run.consumer.needs.all_args,
		.stacks = true,
		.levels = counts,
		.separate = true,
		.naming = counts ? NW_NAMES_PRIVATE : NW_NAMES_PROBES,
		.string_size = s->request->string_size,
		.any_kernel = true,
	};
	int ret = nw_plan_make(&s->result.selection, &options, &s->result.plan, err);

	return ret < 0 ? ret : choose_events(s, err);
}

/* ---- the kernel counts ---------------------------------------------------------------- */

/* Writes the triggers for kernels with these features. */
static int add_triggers(struct script *s, const char *mask, const char *rows,
			const struct nw_triggers **out, struct nw_error *err)
{
	int ret = nw_features_assume(mask, &s->run.live.features, err);

	s->run.live.features.long64 = true; /* others are refused by the script */
	if (ret == 0)
		ret = s->run.consumer.count(s->run.consumer.arg, &s->run, out, err);
	if (ret == 0)
		nw_script_triggers(&s->result.plan, *out, rows, &s->counting);
	return ret;
}

/* Writes what has to be known to read the maps, as in the journal of counts that stay. */
static int add_counting(struct script *s, struct nw_error *err)
{
	const struct nw_triggers *triggers;
	struct nw_kept kept = *s->request->keep;
	struct nw_buf plan = {0};
	int ret = add_triggers(s, "-hist_buckets", "eighths", &triggers, err);

	if (ret == 0)
		ret = add_triggers(s, NULL, "buckets", &triggers, err);
	if (ret < 0)
		return ret;
	nw_script_maps(&s->result.plan, triggers, &s->counting);
	nw_plan_save(&s->result.armed, &plan);
	kept.plan = (char *)(uintptr_t)nw_buf_str(&plan);
	nw_kept_lines(&kept, &s->result.selection, &s->header);
	ret = plan.failed || s->counting.failed || s->header.failed ? nw_no_memory(err) : 0;
	nw_buf_free(&plan);
	return ret;
}

/* Finds the probes: those of a run, whose consumer says what is counted, or all arguments of all. */
static int find_probes(struct script *s, const struct nw_request *request,
		       const struct nw_consumer *consumer, struct nw_error *err)
{
	if (!consumer)
		return nw_request_select(request, true, &s->result.selection, err);
	int ret = nw_run_open(&s->run, false, request, consumer, &s->result, err);
	if (ret == 0)
		ret = nw_run_check(&s->run, err);
	s->run.request = s->request;
	s->result.by_kernel = true;
	s->result.restricted = s->request->pid_count > 0;
	return ret;
}

/* ---- the probes ----------------------------------------------------------------------- */

/* Refuses kernel events, because those of the other machine are unknown. */
static int refuse_kernel_events(const struct nw_request *request, struct nw_error *err)
{
	for (size_t i = 0; i < request->spec_count; i++) {
		struct nw_error ignored;
		struct nw_spec spec;
		if (nw_spec_parse(request->specs[i], &spec, &ignored) < 0)
			continue;
		bool kernel = spec.kind == NW_SPEC_TRACEPOINT || spec.kernel;
		nw_spec_free(&spec);
		if (kernel)
			return nw_fail_usage(
				err,
				"'%s': a script has probes of programs only, not the kernel's own events and functions",
				request->specs[i]);
	}
	return 0;
}

/* Refuses arguments that are read at a call's return: a script does not know whether the kernel there has what that takes. */
static int refuse_carried(const struct nw_selection *selection, struct nw_error *err)
{
	const struct nw_probe *probe = nw_selection_carries(selection);

	if (!probe)
		return 0;
	nw_fail(err, ENOTSUP,
		"%s: @return: a script is for any kernel, and reading arguments at the return needs event probes and hist triggers (Linux 5.15)",
		probe->label);
	nw_error_hint(
		err,
		"leave @return out; or print the commands for this kernel: nopwatch trace --dry-run");
	return -ENOTSUP;
}

/* Do the specs name files? Processes of -p are those of the other machine, so they are used only if not. */
static bool files_are_named(const struct nw_request *request)
{
	if (request->file)
		return true;
	for (size_t i = 0; i < request->spec_count; i++) {
		struct nw_error ignored;
		struct nw_spec spec;
		if (nw_spec_parse(request->specs[i], &spec, &ignored) < 0)
			return false;
		bool named = strchr(spec.path, '/') != NULL;
		nw_spec_free(&spec);
		if (!named)
			return false;
	}
	return true;
}

int nw_request_script(const struct nw_request *request, const struct nw_consumer *consumer,
		      const char *const *remotes, size_t remote_count, nw_strings *dangers,
		      struct nw_buf *out, struct nw_error *err)
{
	struct script s = {.request = request,
			   .remotes = remotes,
			   .remote_count = remote_count,
			   .dangers = dangers};
	int ret = refuse_kernel_events(request, err);

	if (consumer)
		nw_run_init(&s.run, request, consumer, &s.result);

	struct nw_request selecting = *request;
	if (files_are_named(request))
		selecting.pid_count = 0;
	if (ret == 0)
		ret = find_probes(&s, &selecting, consumer, err);
	if (ret == 0)
		ret = refuse_carried(&s.result.selection, err);
	if (ret == 0)
		ret = make_plan(&s, err);
	if (ret == 0 && consumer)
		ret = add_counting(&s, err);
	if (ret == 0)
		ret = measure_files(&s, err);
	if (ret == 0) {
		const struct nw_script_options options = {
			.files = s.files.item,
			.pids = request->pids,
			.pid_count = request->pid_count,
			.duration_ns = request->duration_ns,
			.buffer_bytes = request->buffer_bytes,
			.force = request->force,
			.counting = consumer ? nw_buf_str(&s.counting) : NULL,
			.header = consumer ? nw_buf_str(&s.header) : NULL,
			.tasks = consumer && (request->pid_count || consumer->needs.comms),
		};
		ret = nw_script_make(&s.result.armed, &options, out, err);
	}
	if (consumer)
		nw_run_free(&s.run);
	nw_result_free(&s.result);
	nw_buf_free(&s.counting);
	nw_buf_free(&s.header);
	nw_vec_free(&s.files);
	nw_strings_free(&s.paths);
	return ret;
}
