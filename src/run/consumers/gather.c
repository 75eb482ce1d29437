// SPDX-License-Identifier: MIT
/* Collects the facts of a diagnosis: the spec's file and places, the process, events of other programs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/limits/silent.h"
#include "run/run.h"

#include "gather.h"

/* ---- the process -------------------------------------------------------------------- */

/*
 * Returns the process of which facts are told. In control groups there may be several, of which mostly one runs the file: it is one of
 * those that map a file which the spec means, or the first.
 */
static pid_t find_process(const struct nw_gathered *g)
{
	const char *spec = g->spec.text;
	struct nw_selection selection = {0};
	struct nw_request one = *g->request;
	nw_pids mapping = {0};
	struct nw_error ignored; /* the diagnosis tells */
	pid_t found = one.pids[0];

	one.specs = &spec;
	one.spec_count = 1;
	one.notice = NULL;
	if (nw_request_select(&one, false, &selection, &ignored) == 0)
		nw_processes_mapping((const struct nw_image *const *)selection.images.item,
				     selection.images.count, &mapping);
	for (size_t i = one.pid_count; i > 0; i--)
		nw_vec_each (&mapping, pid)
			if (*pid == one.pids[i - 1])
				found = *pid;
	nw_vec_free(&mapping);
	nw_selection_free(&selection);
	return found;
}

static int gather_process(struct nw_gathered *g, pid_t tool_pid, struct nw_error *err)
{
	const struct nw_request *request = g->request;
	pid_t asked = request->members && request->pid_count ? find_process(g)
		      : request->pid_count		     ? request->pids[0]
							     : tool_pid;
	pid_t *slot;

	if (!asked)
		return 0;
	int ret = nw_process_inspect(asked, &g->process, err);
	if (ret < 0)
		return ret;
	g->facts.process = &g->process;
	if (!g->process.process)
		return 0;
	slot = nw_vec_add(&g->pids);
	if (!slot)
		return nw_no_memory(err);
	*slot = g->process.process;
	for (size_t i = 0; i < request->pid_count; i++) {
		slot = request->pids[i] != asked ? nw_vec_add(&g->pids) : NULL;
		if (slot)
			*slot = request->pids[i];
		else if (request->pids[i] != asked)
			return nw_no_memory(err);
	}
	return 0;
}

/* ---- the file ----------------------------------------------------------------------- */

/* Finds the path that the user's tool would open, which is a path from here, whatever the process sees. */
static int find_path(struct nw_gathered *g)
{
	const char *given = *g->spec.path ? g->spec.path : g->request->file;

	if (!given)
		return 0;
	if (strchr(given, '/') || access(given, F_OK) == 0) {
		g->path = strdup(given);
		return g->path ? 0 : -ENOMEM;
	}
	/* A bare name is a library of the process, else a file that a shell or the linker would find. */
	if (g->pids.count && *g->spec.path)
		return 0;
	return nw_locate(given, &g->path, &g->file_error) == -ENOMEM ? -ENOMEM : 0;
}

/* A number in another tool's command line is an address; in a spec of ours it is a file offset. */
static void translate_address(struct nw_gathered *g)
{
	struct nw_image *image = NULL;

	if (!g->facts.tool || g->facts.tool->by_event || !g->path || *g->spec.name ||
	    g->spec.kind == NW_SPEC_USDT ||
	    nw_image_open(g->path, g->request->force, &image, NULL) < 0)
		return;
	int64_t offset = nw_image_offset(image, g->spec.offset, true);
	if (offset >= 0)
		g->spec.offset = (uint64_t)offset;
	nw_image_free(image);
}

static int select_probe(struct nw_gathered *g)
{
	char *typed = g->spec.path;
	bool by_path = g->path != NULL;
	struct nw_tracefs fs;
	const struct nw_kernel_events events = nw_events_of(&fs);
	const struct nw_scope scope = {
		.pids = by_path ? NULL : g->pids.item,
		.pid_count = by_path ? 0 : g->pids.count,
		.members = g->request->members,
		.force = g->request->force,
		.want_operands = g->spec.kind != NW_SPEC_TRACEPOINT,
		.events = &events,
	};

	if (by_path)
		g->spec.path = g->path;
	int ret = nw_select(&g->spec, 1, &scope, &g->selection, &g->select_error);
	g->spec.path = typed;
	nw_tracefs_close(&fs);
	return ret;
}

/* Has the image this name? "libfoo", "foo" and "libfoo.so" mean libfoo.so.1. */
static bool has_name(const struct nw_image *image, const char *name)
{
	const char *slash = strrchr(image->path, '/'),
		   *base = slash ? slash + 1 : image->path;

	if (strncmp(base, "lib", 3) == 0 && strncmp(name, "lib", 3) != 0)
		base += 3;
	return strncmp(base, name, strlen(name)) == 0;
}

/* Returns how likely a spec that matched nothing in the process means this image; -1: it does not. */
static int likeliness(const struct nw_gathered *g, const struct nw_image *image)
{
	if (*g->spec.path)
		return has_name(image, g->spec.path) ? 3 : -1;
	nw_vec_each (&image->skipped, skipped)
		if (*skipped->name &&
		    nw_spec_matches(&g->spec, skipped->provider, skipped->name))
			return 2;
	return image->ino == g->process.exe_ino ? 1 : 0;
}

/* Finds the file of the process that is most likely meant, if the spec has no path and matched nothing. */
static void choose_mapped(struct nw_gathered *g)
{
	nw_images images = {0};
	int best = -1;

	if (g->pids.count)
		nw_process_images(g->pids.item[0], true, g->request->force, &images, NULL);
	nw_vec_each (&images, slot) {
		int likely = likeliness(g, *slot);
		if (likely <= best)
			continue;
		struct nw_image *chosen = *slot;
		*slot = g->own;
		g->own = chosen;
		best = likely;
	}
	nw_images_free(&images); /* NULL where an image was taken */
	if (g->own)
		g->path = strdup(g->own->path);
	else if (*g->spec.path)
		nw_locate(g->spec.path, &g->path, &g->file_error);
}

/* Keeps the first line of a script, "#!/usr/bin/perl", and the program that it starts. */
static int read_script(struct nw_gathered *g)
{
	char line[128];
	int fd = nw_open_regular(AT_FDCWD, g->path);
	ssize_t len = fd >= 0 ? pread(fd, line, sizeof(line) - 1, 0) : -1;

	if (fd >= 0)
		close(fd);
	if (len < 2 || line[0] != '#' || line[1] != '!')
		return 0;
	line[len] = '\0';
	line[strcspn(line, "\n")] = '\0';
	g->facts.script = g->script = strdup(line);
	int ret = nw_follow_script(g->path, &g->script_starts);
	g->facts.script_starts = g->script_starts;
	return g->script ? ret : -ENOMEM;
}

/* Finds another file of the process, else a library that the file links, that has the USDT probe: libjvm.so for java. */
static int find_elsewhere(struct nw_gathered *g)
{
	nw_images images = {0};

	if (g->spec.kind != NW_SPEC_USDT || (!g->pids.count && nw_has_glob(g->spec.name)))
		return 0;
	bool force = g->request->force;
	int ret = g->pids.count
			  ? nw_process_images(g->pids.item[0], false, force, &images, NULL)
			  : nw_locate_needed(g->path, force, &images, NULL);
	nw_vec_each (&images, image)
		for (size_t i = 0; ret == 0 && !g->elsewhere && i < (*image)->sites.count;
		     i++)
			if (nw_spec_matches(&g->spec, (*image)->sites.item[i].provider,
					    (*image)->sites.item[i].name)) {
				g->elsewhere = strdup((*image)->path);
				ret = g->elsewhere ? 0 : -ENOMEM;
			}
	nw_images_free(&images);
	g->facts.elsewhere = g->elsewhere;
	return ret == -ENOMEM ? ret : 0;
}

/* Finds the probes of a spec that needs no file. */
static int gather_selection_of(struct nw_gathered *g, struct nw_error *err)
{
	int ret = select_probe(g);

	if (ret < 0 && nw_is_shortage(-ret)) {
		*err = g->select_error;
		return ret;
	}
	if (ret == 0)
		g->facts.selection = &g->selection;
	else
		g->facts.select_error = &g->select_error;
	return 0;
}

/* Finds the probes of the spec, and the image that it means, whether it matches or not. */
static int gather_selection(struct nw_gathered *g, struct nw_error *err)
{
	int ret = g->file_error.code ? -ENOENT : select_probe(g);

	if (ret < 0 && nw_is_shortage(-ret)) {
		*err = g->select_error;
		return ret;
	}
	if (ret == 0) {
		g->facts.selection = &g->selection;
		g->facts.image = g->selection.probes.item[0]->image;
		if (!g->path)
			g->path = strdup(g->facts.image->path);
	} else {
		g->facts.select_error = &g->select_error;
		if (!g->path && !g->file_error.code)
			choose_mapped(g);
		if (!g->own && g->path)
			nw_image_open(g->path, g->request->force, &g->own, &g->file_error);
		if (nw_is_shortage(g->file_error.code)) {
			*err = g->file_error;
			return -err->code;
		}
		g->facts.image = g->own;
		if (g->file_error.code)
			g->facts.file_error = &g->file_error;
		if (g->file_error.code && g->path && read_script(g) < 0)
			return -ENOMEM;
		if (g->own && g->spec.has_args && g->select_error.usage) {
			/* The probe is there, but its arguments are wrong */
			*err = g->select_error;
			return -EINVAL;
		}
		if (g->own && find_elsewhere(g) < 0)
			return -ENOMEM;
	}
	g->facts.path = g->path;
	return 0;
}

/* ---- the place ---------------------------------------------------------------------- */

/* Returns the linker's name of the function; few other tools look for names of the source. */
static const char *symbol_name(const struct nw_gathered *g)
{
	const struct nw_probe *probe = g->selection.probes.count
					       ? g->selection.probes.item[0]
					       : NULL;
	const struct nw_tool *tool = g->facts.tool;

	return probe && probe->symbol && (!tool || tool->source_names) ? probe->symbol
								       : g->spec.name;
}

/* Looks among the generated code of the process, or of those that run the file. */
static int gather_generated(struct nw_gathered *g, struct nw_error *err)
{
	enum {
		MOST_PROCESSES = 16
	};
	const struct nw_image *image = g->facts.image;
	nw_pids running = {0};
	int ret = g->pids.count ? 0 : nw_processes_mapping(&image, 1, &running);
	const nw_pids *pids = g->pids.count ? &g->pids : &running;

	if (ret < 0)
		nw_fail(err, -ret, "cannot look for processes that run '%s': %s",
			image->path, nw_strerror(-ret));
	else
		ret = nw_find_generated(g->spec.name, pids->item,
					nw_min64(pids->count, MOST_PROCESSES),
					&g->generated);
	g->facts.generated = g->generated.pid ? &g->generated : NULL;
	nw_vec_free(&running);
	return ret;
}

static int gather_symbol(struct nw_gathered *g, struct nw_error *err)
{
	struct nw_image *image = (struct nw_image *)(uintptr_t)g->facts.image;
	bool function = g->spec.kind != NW_SPEC_USDT && g->spec.kind != NW_SPEC_TRACEPOINT;
	struct nw_symbol symbol = {0};

	/* A pattern that matches no function may be a name: Go's names have '*' in them. */
	if (!image || !*g->spec.name || g->spec.source ||
	    (g->facts.selection && nw_has_glob(symbol_name(g))))
		return 0;
	if (g->spec.kind == NW_SPEC_USDT)
		g->facts.is_function = nw_image_symbol(image, g->spec.name,
						       strlen(g->spec.name), 0,
						       &symbol) == 0 &&
				       symbol.function;
	if (!function)
		return 0;
	int ret = nw_symbol_inspect(image, symbol_name(g),
				    g->pids.count ? g->pids.item[0] : 0, &g->symbol, err);
	if (ret == 0)
		g->facts.symbol = &g->symbol;
	if (ret == 0 && g->symbol.state == NW_SYMBOL_FOUND && g->facts.process &&
	    g->process.process) {
		ret = nw_symbol_interposed(image, symbol_name(g), &g->process,
					   &g->interposed);
		g->facts.interposed = g->interposed;
	}
	if (ret == 0 && g->symbol.state == NW_SYMBOL_MISSING)
		ret = gather_generated(g, err);
	return ret == -ENOMEM ? nw_no_memory(err) : ret;
}

/* Is it a USDT site, or the begin of a function? */
static bool begins_here(const struct nw_point *point)
{
	struct nw_symbol symbol;

	if (point->site)
		return true;
	nw_vec_each (&point->image->sites, site)
		if (site->offset == point->offset)
			return true;
	return nw_image_function(point->image, point->vaddr, &symbol) == 0 &&
	       symbol.value == point->vaddr;
}

static int gather_mapping(struct nw_gathered *g, struct nw_error *err)
{
	uint64_t vaddr = 0;

	if (!g->path || (g->facts.process && !g->pids.count))
		return 0;
	if (g->selection.probes.count && g->selection.probes.item[0]->points.count)
		vaddr = g->selection.probes.item[0]->points.item[0].vaddr;
	int ret = nw_mapping_inspect(g->path, g->facts.image, vaddr,
				     g->pids.count ? g->pids.item : NULL, g->pids.count,
				     &g->mapping, err);
	if (ret == 0)
		g->facts.mapping = &g->mapping;
	return ret;
}

/* ---- the kernel --------------------------------------------------------------------- */

static int gather_kernel(struct nw_gathered *g, struct nw_error *err)
{
	struct nw_tracefs fs;
	struct nw_features *features = &g->features;

	nw_kernel_access_read(&g->kernel);
	nw_kernel_access_try_bpf(&g->kernel);
	g->facts.kernel = &g->kernel;
	if (nw_is_shortage(g->kernel.tracefs)) {
		*err = g->kernel.error;
		return -err->code;
	}
	if (g->kernel.tracefs || nw_tracefs_open(&fs, NULL) < 0)
		return 0;
	int ret = nw_features_find(&fs, g->request->features, true, features, err);
	if (ret < 0 && nw_is_shortage(-ret)) {
		nw_tracefs_close(&fs);
		return ret;
	}
	if (ret == -EUCLEAN)
		g->left = *err;
	if (ret < 0) /* features that cannot be tried stay unknown */
		ret = nw_features_find(&fs, g->request->features, false, features, err);
	g->facts.nop5_safe = ret == 0 && features->has[NW_FEATURE_NOP5_SAFE];
	g->facts.ref_ctr = ret == 0 && features->has[NW_FEATURE_REF_CTR];
	nw_tracefs_close(&fs);
	return ret;
}

static int read_foreign_events(struct nw_gathered *g, nw_foreign_events *out,
			       struct nw_error *err)
{
	struct nw_tracefs fs;
	nw_pids threads = {0};
	int ret = 0;

	if (g->kernel.tracefs || !g->facts.image || nw_tracefs_open(&fs, NULL) < 0)
		return 0;
	nw_vec_each (&g->pids, pid)
		if (ret == 0 || !nw_is_shortage(-ret))
			ret = nw_process_threads(*pid, &threads, err);
	if (ret == 0 || !nw_is_shortage(-ret))
		ret = nw_foreign_events_read(&fs, g->facts.image, &threads, out, err);
	nw_vec_free(&threads);
	nw_tracefs_close(&fs);
	return ret;
}

/* Finds breakpoints that were there before ours, by any program. */
static int gather_held(struct nw_gathered *g, struct nw_error *err)
{
	NW_VEC(const struct nw_point *) points = {0};
	int ret = 0;

	nw_vec_each (&g->selection.probes, probe)
		nw_vec_each (&(*probe)->points, point) {
			const struct nw_point **slot = nw_vec_add(&points);
			if (!slot)
				ret = nw_no_memory(err);
			else
				*slot = point;
		}
	struct nw_presence *seen = calloc(points.count + 1, sizeof(*seen));
	if (!seen)
		ret = nw_no_memory(err);
	if (ret == 0 && points.count && g->mapping.mapped)
		ret = nw_points_presence(points.item, points.count,
					 g->pids.count ? g->pids.item : NULL, g->pids.count,
					 seen, err);
	for (size_t i = 0; ret == 0 && i < points.count; i++)
		nw_presence_add(&g->held, &seen[i]);
	if (ret == 0)
		g->facts.held = &g->held;
	free(seen);
	nw_vec_free(&points);
	return ret;
}

/* ---- the whole ---------------------------------------------------------------------- */

/* Collects what is known of a function of the kernel. */
static int gather_function(struct nw_gathered *g, pid_t tool_pid, struct nw_error *err)
{
	struct nw_buf traceable = {0};
	struct nw_tracefs fs;
	int ret = gather_kernel(g, err);

	if (ret == 0)
		ret = gather_process(g, tool_pid, err);
	if (ret == 0)
		ret = gather_selection_of(g, err);
	if (ret < 0)
		return ret;
	bool known = !g->kernel.tracefs && nw_tracefs_open(&fs, NULL) == 0;
	if (known && nw_kernel_traceable(&fs, &traceable) < 0)
		nw_buf_free(&traceable);
	ret = nw_kernel_function_inspect(g->spec.name, "/proc/kallsyms",
					 traceable.len ? nw_buf_str(&traceable) : NULL,
					 &g->function);
	if (ret < 0)
		nw_fail(err, -ret, "cannot read /proc/kallsyms: %s", nw_strerror(-ret));
	if (known)
		nw_tracefs_close(&fs);
	nw_buf_free(&traceable);
	g->facts.function = &g->function;
	g->facts.kprobes = g->features.has[NW_FEATURE_KPROBE_EVENTS];
	return ret;
}

/* Collects what is known of an event that a program has registered by itself. */
static int gather_user_event(struct nw_gathered *g, struct nw_error *err)
{
	nw_user_events all = {0};
	struct nw_tracefs fs;
	int ret = gather_kernel(g, err);

	g->facts.of_user_event = true;
	if (ret == 0)
		ret = gather_process(g, 0, err);
	if (ret < 0 || g->kernel.tracefs || nw_tracefs_open(&fs, NULL) < 0)
		return ret;
	ret = nw_user_events_read(&fs, &all, &g->no_user_events);
	nw_tracefs_close(&fs);
	if (ret == -EOPNOTSUPP)
		g->facts.no_user_events = &g->no_user_events;
	else if (ret == 0)
		g->facts.user_events = &g->user_events;
	nw_vec_each (&all, event) {
		struct nw_user_event *slot = nw_glob_match(g->spec.name, event->name)
						     ? nw_vec_add(&g->user_events)
						     : NULL;
		if (!slot)
			continue;
		*slot = *event;
		*event = (struct nw_user_event){0};
	}
	nw_user_events_free(&all);
	return g->user_events.count ? gather_selection_of(g, err) : 0;
}

static int gather_all(struct nw_gathered *g, const struct nw_tool *tool,
		      struct nw_error *err)
{
	int ret = gather_kernel(g, err);

	if (ret == 0)
		ret = gather_process(g, tool ? tool->pid : 0, err);
	if (ret == 0 && find_path(g) < 0)
		ret = -ENOMEM;
	if (ret == 0)
		translate_address(g);
	if (ret == 0)
		ret = gather_selection(g, err);
	if (ret == -ENOMEM)
		ret = nw_no_memory(err);
	if (ret == 0 && g->facts.image && nw_image_lacks_code(g->facts.image)) {
		g->facts.no_code = true;
		ret = nw_find_debug_owner(g->facts.image,
					  g->pids.count ? g->pids.item[0] : 0, &g->code_in);
		g->facts.code_in = g->code_in;
	}
	if (ret == -ENOMEM)
		ret = nw_no_memory(err);
	if (ret == 0)
		ret = gather_symbol(g, err);
	if (ret == 0)
		ret = gather_mapping(g, err);
	if (ret == 0)
		ret = gather_held(g, err);
	if (ret == 0)
		ret = read_foreign_events(g, &g->foreign, err);
	if (ret == 0 && !g->kernel.tracefs && g->facts.image)
		g->facts.foreign = &g->foreign;
	const struct nw_jumpers who = {g->pids.item, g->pids.count, NULL};
	if (ret == 0 && !g->kernel.tracefs)
		ret = nw_find_jumps(&g->features, &who, &g->selection, err);
	g->facts.mute = g->facts.image && nw_is_mute(&g->features, g->facts.image);
	g->facts.at_function = true;
	nw_vec_each (&g->selection.probes, probe)
		nw_vec_each (&(*probe)->points, point)
			g->facts.at_function &= begins_here(point);
	nw_vec_each (&g->selection.images, image)
		if (ret == 0)
			ret = nw_image_check(*image, err);
	return ret == 0 && g->own ? nw_image_check(g->own, err) : ret;
}

/* Does a suggestion work, as far as that can be tried without arming? */
static bool leads_somewhere(void *arg, const char *text)
{
	const struct nw_gathered *g = arg;
	const struct nw_scope scope = {.force = g->request->force};
	struct nw_selection selection = {0};
	struct nw_spec spec = {0};
	bool leads = nw_spec_parse(text, &spec, NULL) == 0 &&
		     nw_select(&spec, 1, &scope, &selection, NULL) == 0;

	nw_selection_free(&selection);
	nw_spec_free(&spec);
	return leads;
}

int nw_gather(struct nw_gathered *g, const char *spec, const struct nw_request *request,
	      const struct nw_tool *tool, struct nw_error *err)
{
	*g = (struct nw_gathered){.request = request};
	int ret = nw_spec_parse(spec, &g->spec, err);

	if (ret < 0)
		return ret;
	g->facts.spec = &g->spec;
	g->facts.tool = tool;
	g->facts.leads = leads_somewhere;
	g->facts.leads_arg = g;
	g->facts.force = request->force;
	bool user_event = g->spec.kind == NW_SPEC_TRACEPOINT &&
			  strcmp(g->spec.provider, NW_USER_EVENTS) == 0;
	if (g->spec.kind == NW_SPEC_TRACEPOINT && !user_event)
		ret = nw_fail_usage(
			err, "'%s': a kernel tracepoint needs no place in a program", spec);
	else if (user_event)
		ret = 0;
	else if (!g->spec.kernel && !*g->spec.path && !request->file &&
		 !request->pid_count && !(tool && tool->pid))
		ret = nw_no_file_named(spec, err);
	if (ret == 0 && user_event)
		ret = gather_user_event(g, err);
	else if (ret == 0)
		ret = g->spec.kernel ? gather_function(g, tool ? tool->pid : 0, err)
				     : gather_all(g, tool, err);
	if (ret < 0)
		nw_gathered_free(g);
	return ret;
}

int nw_gather_after(struct nw_gathered *g, struct nw_error *err)
{
	int ret = read_foreign_events(g, &g->foreign_after, err);

	if (ret == 0)
		g->facts.foreign_after = &g->foreign_after;
	return ret;
}

void nw_gathered_free(struct nw_gathered *g)
{
	free(g->watch.exe_after);
	nw_stop_free(&g->watch.stop);
	free(g->script);
	free(g->script_starts);
	free(g->elsewhere);
	free(g->interposed);
	free(g->code_in);
	nw_user_events_free(&g->user_events);
	nw_foreign_events_free(&g->foreign);
	nw_foreign_events_free(&g->foreign_after);
	nw_mapping_facts_free(&g->mapping);
	nw_symbol_facts_free(&g->symbol);
	nw_generated_free(&g->generated);
	nw_kernel_function_free(&g->function);
	nw_selection_free(&g->selection);
	nw_image_free(g->own);
	nw_process_facts_free(&g->process);
	nw_vec_free(&g->pids);
	nw_spec_free(&g->spec);
	free(g->path);
	*g = (struct nw_gathered){0};
}
