// SPDX-License-Identifier: MIT
/*
 * Arms the probe and watches it. This is an ordinary run, but for all processes, since hits in the wrong process are
 * an answer, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/limits/silent.h"
#include "run/run.h"

#include "gather.h"

enum {
	WATCH_SECONDS = 3
};

struct tally {
	pid_t pid;
	uint64_t hits;
	char comm[16];
};

struct watcher {
	struct nw_gathered *g;
	NW_VEC(struct tally) tallies; /* by process */
	nw_pids targets, children;    /* of -p; in the kernel's numbers, as in hits */
	bool *site_hit;		      /* by point of the plan */
	bool *site_entry; /* by point: the entry of a function whose return is watched */
	size_t sites;
	struct nw_error failed; /* code 0: nothing has failed */
};

/* ---- hits --------------------------------------------------------------------------- */

static struct tally *tally_of(struct watcher *watcher, pid_t pid)
{
	nw_vec_each (&watcher->tallies, tally)
		if (tally->pid == pid)
			return tally;
	struct tally *fresh = nw_vec_add(&watcher->tallies);
	if (fresh)
		fresh->pid = pid;
	return fresh;
}

static bool has_pid(const nw_pids *pids, pid_t pid)
{
	nw_vec_each (pids, it)
		if (*it == pid)
			return true;
	return false;
}

static bool is_target(const struct watcher *watcher, pid_t pid)
{
	return watcher->targets.count == 0 || has_pid(&watcher->targets, pid);
}

static int take_hit(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct watcher *watcher = arg;

	if (hit->planned < watcher->sites && watcher->site_entry[hit->planned]) {
		watcher->g->watch.entered += is_target(watcher, task->pid);
		watcher->g->watch.recorded++;
		return 0;
	}
	struct tally *tally = tally_of(watcher, task->pid);
	if (!tally)
		return -ENOMEM;
	if (!tally->hits++)
		memcpy(tally->comm, task->comm, sizeof(tally->comm));
	watcher->g->watch.recorded++;
	if (hit->planned < watcher->sites && is_target(watcher, task->pid))
		watcher->site_hit[hit->planned] = true;
	return 0;
}

/* ---- the processes' memory ---------------------------------------------------------- */

static int read_memory(struct watcher *watcher, struct nw_run *run, struct nw_presence *sum,
		       struct nw_error *err)
{
	const pid_t *pids = watcher->g->pids.count ? watcher->g->pids.item : NULL;
	size_t count = run->result->plan.points.count, used = 0;
	const struct nw_point **points = calloc(count + 1, sizeof(*points));
	struct nw_presence *seen = calloc(count + 1, sizeof(*seen));
	int ret = points && seen ? 0 : nw_no_memory(err);

	*sum = (struct nw_presence){0};
	for (size_t i = 0; ret == 0 && i < count; i++) {
		const struct nw_planned_point *planned = &run->result->plan.points.item[i];
		if (!run->result->armed.points.item[i].failed && !watcher->site_entry[i] &&
		    !nw_probe_in_kernel(run->result->selection.probes.item[planned->probe]))
			points[used++] = &run->result->selection.probes
						  .item[planned->probe]
						  ->points.item[planned->point];
	}
	if (ret == 0 && used)
		ret = nw_points_presence(points, used, pids, watcher->g->pids.count, seen,
					 err);
	for (size_t i = 0; ret == 0 && i < used; i++)
		nw_presence_add(sum, &seen[i]);
	free(points);
	free(seen);
	return ret;
}

/* ---- the run ------------------------------------------------------------------------ */

/* Is this the entry of a function whose return is probed? It is watched, too, because a call may never return. */
static bool is_entry(const struct watcher *watcher, const struct nw_run *run, size_t i)
{
	const struct nw_planned_point *planned = &run->result->plan.points.item[i];
	const struct nw_probe *probe = run->result->selection.probes.item[planned->probe];
	const struct nw_point *point = &probe->points.item[planned->point];

	return watcher->g->spec.kind == NW_SPEC_URETPROBE && !point->is_return &&
	       !point->is_exit;
}

static int on_armed(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct watcher *watcher = arg;

	watcher->sites = run->result->plan.points.count;
	watcher->site_hit = calloc(watcher->sites + 1, sizeof(*watcher->site_hit));
	watcher->site_entry = calloc(watcher->sites + 1, sizeof(*watcher->site_entry));
	if (!watcher->site_hit || !watcher->site_entry)
		return nw_no_memory(err);
	for (size_t i = 0; i < watcher->sites; i++)
		watcher->site_entry[i] = is_entry(watcher, run, i);
	return read_memory(watcher, run, &watcher->g->watch.before, err);
}

static void on_stopping(void *arg, struct nw_run *run)
{
	struct watcher *watcher = arg;
	struct nw_gathered *g = watcher->g;
	uint64_t *hits = calloc(run->result->plan.points.count + 1, sizeof(*hits));

	read_memory(watcher, run, &g->watch.after, &watcher->failed);
	if (hits && nw_session_profile(nw_run_session(run), hits) == 0)
		for (size_t i = 0; i < run->result->plan.points.count; i++)
			g->watch.counted += hits[i];
	free(hits);
	nw_gather_after(g, NULL);
	if (g->pids.count && nw_process_find_stop(g->pids.item[0], &g->watch.stop) < 0)
		nw_no_memory(&watcher->failed);
}

/* ---- what it adds up to ------------------------------------------------------------- */

static void count_processes(struct watcher *watcher)
{
	struct nw_watch *watch = &watcher->g->watch;
	uint64_t most_child = 0, most_other = 0;

	nw_vec_each (&watcher->tallies, tally) {
		if (is_target(watcher, tally->pid)) {
			watch->in_target += tally->hits;
		} else if (has_pid(&watcher->children, tally->pid)) {
			watch->in_children += tally->hits;
			if (tally->hits > most_child)
				watch->child_pid = tally->pid;
			most_child = nw_max64(most_child, tally->hits);
		} else if (tally->hits > most_other) {
			most_other = watch->other_hits = tally->hits;
			watch->other_pid = tally->pid;
			memcpy(watch->other_comm, tally->comm, sizeof(tally->comm));
		}
	}
	for (size_t i = 0; i < watcher->sites; i++) {
		watch->sites_hit += watcher->site_hit[i];
		watch->sites += !watcher->site_entry[i];
	}
}

/* Has the process executed another program? */
static void check_exec(struct nw_gathered *g)
{
	struct nw_process_facts now;

	if (!g->pids.count || nw_process_inspect(g->pids.item[0], &now, NULL) < 0)
		return;
	g->watch.exec_seen = now.exe && g->process.exe && now.exe_ino != g->process.exe_ino;
	if (g->watch.exec_seen) {
		g->watch.exe_after = now.exe;
		now.exe = NULL;
	}
	nw_process_facts_free(&now);
}

/* Returns the spec as it was understood, with the path of the file that was read. */
static char *exact_spec(const struct nw_gathered *g, enum nw_spec_kind kind)
{
	static const char *const kinds[] = {[NW_SPEC_USDT] = "usdt",
					    [NW_SPEC_UPROBE] = "uprobe",
					    [NW_SPEC_URETPROBE] = "uretprobe",
					    [NW_SPEC_FUNC] = "func"};
	const struct nw_spec *spec = &g->spec;

	if (spec->kernel)
		return nw_text("%s:kernel:%s", kinds[kind], spec->name);
	if (kind == NW_SPEC_TRACEPOINT)
		return nw_text(NW_USER_EVENTS ":%s", spec->name);
	if (kind == NW_SPEC_USDT)
		return nw_text("usdt:%s:%s:%s", g->path, spec->provider, spec->name);
	struct nw_buf text = {0};
	nw_buf_printf(&text, "%s:", kinds[kind]);
	nw_spec_write_place(spec, g->path, &text);
	return nw_buf_take(&text);
}

static void refuse(struct nw_watch *watch, const struct nw_error *err)
{
	snprintf(watch->refused, sizeof(watch->refused), "%s", err->what);
	watch->refused_code = err->code;
}

static void finish(struct watcher *watcher, const struct nw_run_result *result, int ret,
		   const struct nw_error *err)
{
	struct nw_watch *watch = &watcher->g->watch;

	if (ret < 0) {
		refuse(watch, err);
		return;
	}
	watch->done = true;
	watch->elapsed_ns = nw_result_elapsed(result);
	watch->ended = result->reason == NW_END_PROCESS;
	count_processes(watcher);
	check_exec(watcher->g);
}

/* Converts process numbers to the kernel's, which hits have, and which differ from ours in a PID namespace. */
static int add_kernel_pids(const struct nw_pid_space *space, const nw_pids *pids,
			   nw_pids *out, struct nw_error *err)
{
	int ret = 0;

	nw_vec_each (pids, pid) {
		pid_t *slot = ret == 0 ? nw_vec_add(out) : NULL;
		if (slot)
			ret = nw_pid_space_kernel(space, *pid, slot, err);
		else if (ret == 0)
			ret = nw_no_memory(err);
	}
	return ret;
}

int nw_watch(struct nw_gathered *g, struct nw_error *err)
{
	bool returns = g->spec.kind == NW_SPEC_URETPROBE;
	nw_cleanup(nw_free_ptr) char *spec = exact_spec(g, g->spec.kind);
	nw_cleanup(nw_free_ptr) char *entry = returns ? exact_spec(g, NW_SPEC_UPROBE)
						      : NULL;
	const char *specs[] = {spec, entry};
	struct watcher watcher = {.g = g};
	const struct nw_request request = {
		.specs = specs,
		.spec_count = returns ? 2 : 1,
		.pids = g->pids.item,
		.pid_count = g->pids.count,
		.duration_ns = g->request->duration_ns ? g->request->duration_ns
						       : WATCH_SECONDS * 1000000000ull,
		.features = g->request->features,
		.types = g->request->types,
		.all = true,
		.force = g->request->force,
		.signals = g->request->signals,
		.end_fd = g->request->end_fd,
	};
	const struct nw_consumer consumer = {
		.arg = &watcher,
		.needs =
			{
				.comms = true,
			},
		.armed = on_armed,
		.hit = take_hit,
		.stopping = on_stopping,
	};
	struct nw_run_result result;
	struct nw_error why;

	if (!spec || (returns && !entry))
		return nw_no_memory(err);
	struct nw_pid_space space;
	nw_pid_space_open(&space);
	int ret = add_kernel_pids(&space, &g->pids, &watcher.targets, &why);
	if (ret == 0) /* a child that is gone by now is left out */
		add_kernel_pids(&space, &g->process.children, &watcher.children, NULL);
	nw_pid_space_close(&space);
	if (ret == 0) {
		ret = nw_run(&request, &consumer, &result, &why);
		finish(&watcher, &result, ret, &why);
		if (ret == -EUCLEAN || result.unclean)
			g->left = ret < 0 ? why : result.left;
		nw_result_free(&result);
	} else {
		refuse(&g->watch, &why);
	}
	g->facts.watch = &g->watch;
	nw_vec_free(&watcher.tallies);
	nw_vec_free(&watcher.targets);
	nw_vec_free(&watcher.children);
	free(watcher.site_hit);
	free(watcher.site_entry);
	if (watcher.failed.code) {
		*err = watcher.failed;
		return -err->code;
	}
	if (ret == 0 || !nw_is_shortage(-ret))
		return 0;
	*err = why; /* the error tells nothing about the probe */
	return ret;
}

/* ---- the whole ---------------------------------------------------------------------- */

static const char *why_not_armed(const struct nw_diagnosis *first)
{
	nw_vec_each (&first->reasons, reason)
		if (nw_cause_table[reason->cause].kind == NW_KIND_SILENT)
			return "what is known without arming is enough";
	return "it could hurt the process";
}

int nw_find_out_why(const struct nw_request *request, const char *spec,
		    const struct nw_tool *tool, struct nw_diagnosis *out,
		    struct nw_error *err)
{
	struct nw_gathered g;
	int ret = nw_gather(&g, spec, request, tool, err);

	if (ret < 0)
		return ret;
	/* First diagnoses without arming; then arms the probe, unless that is not needed or could do harm. */
	ret = nw_diagnose(&g.facts, out, err);
	bool diagnosed = ret == 0;
	if (diagnosed && (nw_diagnosis_settled(out) || !g.facts.selection)) {
		g.watch.skipped = why_not_armed(out);
		g.facts.watch = &g.watch;
	} else if (diagnosed) {
		ret = nw_watch(&g, err);
	}
	if (diagnosed)
		nw_diagnosis_free(out);
	if (ret == 0)
		ret = nw_diagnose(&g.facts, out, err);
	if (ret == 0 && g.left.code) {
		*err = g.left;
		ret = -EUCLEAN;
	}
	nw_gathered_free(&g);
	return ret;
}
