// SPDX-License-Identifier: MIT
/* The consumer that records raw pages in trace-cmd's format. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder.h"
#include "run/observed.h"

/* ---- pages -------------------------------------------------------------------------- */

/* The stream's tap, which gets every page that was read. -ECANCELED ends the run. */
static int take_page(void *arg, uint32_t cpu, const unsigned char *page, size_t len)
{
	struct nw_recorder *r = arg;

	if (r->failed)
		return 0;
	int ret = 0;
	while (ret == 0 && r->cpus.count <= cpu) {
		struct nw_recorded_cpu *fresh = nw_vec_add(&r->cpus);
		if (fresh)
			fresh->fd = -1;
		ret = fresh ? 0 : -ENOMEM;
	}
	struct nw_recorded_cpu *file = ret == 0 ? &r->cpus.item[cpu] : NULL;
	if (file && file->fd < 0)
		file->fd = nw_nameless_file(r->options.path);
	if (file)
		ret = file->fd < 0 ? -errno : nw_write_all(file->fd, page, len);
	if (ret == 0 && len < r->page_size)
		ret = nw_write_all(file->fd, r->blank, r->page_size - len);
	if (ret < 0) {
		r->failed = -ret;
		return -ECANCELED;
	}
	r->cpus.item[cpu].size += r->page_size;
	return 0;
}

/* ---- formats ------------------------------------------------------------------------ */

/* Keeps the format of an event, once: the user may have asked for an event of threads (task_rename, ...), which is
 * recorded anyway. probe: NULL for an event of threads. */
static int keep_format(struct nw_recorder *r, const char *system, const char *name,
		       const struct nw_armed_event *probe)
{
	nw_cleanup(nw_free_ptr) char *known = nw_text("%s/%s", system, name);
	struct nw_recorded_format *format;
	struct nw_buf text = {0};

	if (!known)
		return -ENOMEM;
	if (nw_strings_has(&r->formats, known))
		return 0;
	int ret = nw_tracefs_format(nw_session_tracefs(nw_run_session(r->run)), system,
				    name, &text);
	if (ret == 0 && probe)
		ret = nw_format_show_strings(&r->run->result->plan, probe, &text);
	if (ret == 0)
		ret = nw_strings_add(&r->formats, known, strlen(known));
	format = ret == 0 ? nw_vec_add(&r->parts.formats) : NULL;
	if (!format) {
		nw_buf_free(&text);
		return ret < 0 ? ret : -ENOMEM;
	}
	snprintf(format->system, sizeof(format->system), "%s", system);
	format->text = text;
	return 0;
}

static int keep_task_formats(struct nw_recorder *r)
{
	int ret = 0;

	for (size_t i = 0; i < nw_task_event_count && ret == 0; i++) {
		const char *slash = strchr(nw_task_events[i], '/');
		nw_cleanup(nw_free_ptr) char *system = strndup(
			nw_task_events[i], (size_t)(slash - nw_task_events[i]));
		if (!system)
			return -ENOMEM;
		ret = keep_format(r, system, slash + 1, NULL);
		if (ret < 0 && !nw_is_shortage(-ret))
			ret = 0; /* this kernel does not have it */
	}
	return ret;
}

static int by_system(const void *a, const void *b)
{
	const struct nw_recorded_format *x = a, *y = b;

	return strcmp(x->system, y->system);
}

/* ---- the consumer ------------------------------------------------------------------- */

/* Checks now, and not after an hour, that the file can be written. */
static int start(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_recorder *r = arg;
	bool direct;

	r->run = run;
	int ret = nw_by_bind(&r->by, run, err);
	nw_run_keep_observed(run);
	return ret < 0 ? ret : nw_replace_try(r->options.path, &direct, err);
}

static int armed(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_recorder *r = arg;

	nw_run_tap(run, take_page, r);
	return nw_recorder_begin(r, run, err);
}

int nw_recorder_begin(struct nw_recorder *r, struct nw_run *run, struct nw_error *err)
{
	r->run = run;
	r->page_size = nw_run_page_layout(run)->size;
	r->blank = calloc(1, r->page_size);
	if (!r->blank)
		return nw_no_memory(err);
	if (r->options.armed)
		r->options.armed(r->options.arg, run->result);
	int ret = nw_session_headers(nw_run_session(run), &r->parts.header_page,
				     &r->parts.header_event, &r->parts.clock, err);
	if (ret < 0)
		return ret;
	nw_vec_each (&run->result->armed.events, event)
		if (ret == 0 && (*event)->defined)
			ret = keep_format(
				r, nw_event_group(&run->result->plan, (*event)->planned),
				(*event)->name, *event);
	if (ret == 0)
		ret = keep_task_formats(r);
	if (ret == 0)
		qsort(r->parts.formats.item, r->parts.formats.count,
		      sizeof(*r->parts.formats.item), by_system);
	return ret < 0 ? nw_fail(err, -ret, "cannot read the event formats: %s",
				 nw_strerror(-ret))
		       : 0;
}

/* Keeps the process and name of a thread, once. Besides its page a hit costs only this, so it has to be cheap. */
int nw_recorder_note(struct nw_recorder *r, const struct nw_task *task)
{
	struct nw_task *noted = &r->noted[(uint32_t)task->tid % NW_NOTED];
	char line[96];

	if (noted->tid == task->tid && noted->pid == task->pid &&
	    strcmp(noted->comm, task->comm) == 0)
		return 0;
	int len = snprintf(line, sizeof(line), "%d %d %s", task->tid, task->pid,
			   task->comm);
	if (nw_index_add(&r->tasks, line, (size_t)len) < 0)
		return -ENOMEM;
	*noted = *task;
	return 0;
}

/* No thread is born, renamed or ends between these hits, so a thread is only looked up when the thread changes. */
int nw_recorder_hits(struct nw_recorder *r, const struct nw_hit *hits, size_t count)
{
	int ret = 0;

	for (size_t i = 0; i < count && ret == 0; i++)
		if (i == 0 || hits[i].tid != hits[i - 1].tid)
			ret = nw_recorder_note(r, nw_run_task(r->run, hits[i].tid));
	return ret;
}

static int hits(void *arg, const struct nw_hit *hits, size_t count)
{
	return nw_recorder_hits(arg, hits, count);
}

static int hit(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct nw_recorder *r = arg;

	if (nw_recorder_note(r, task) < 0)
		return -ENOMEM;
	nw_by_observe(&r->by, r->run, task, hit);
	return r->options.count && r->run->result->hits >= r->options.count ? -ECANCELED
									    : 0;
}

static int other_hit(void *arg, enum nw_other_hit what, const struct nw_hit *hit,
		     const struct nw_task *task)
{
	(void)task;
	return what == NW_HIT_SCHEDULER ? nw_recorder_scheduled(arg, hit) : 0;
}

void nw_recorder_age(struct nw_recorder *r)
{
	nw_index_free(&r->older_tasks);
	r->older_tasks = r->tasks;
	r->tasks = (struct nw_index){0};
	memset(r->noted, 0, sizeof(r->noted));
}

int nw_recorder_scheduled(struct nw_recorder *r, const struct nw_hit *hit)
{
	const struct nw_probe *probe = r->run->result->selection.probes.item[hit->probe];
	uint64_t address;

	if (strcmp(probe->provider, NW_STACK_SYSTEM) != 0 || !hit->value_count)
		return 0;
	const char *name = nw_run_wait_channel(r->run, &hit->values[0], &address);
	if (!name)
		return 0;
	nw_cleanup(nw_free_ptr) char *line = nw_text("%" PRIx64 " %s", address, name);
	if (!line)
		return -ENOMEM;
	return nw_strings_has(&r->symbols, line)
		       ? 0
		       : nw_strings_add(&r->symbols, line, strlen(line));
}

/* ---- the file ----------------------------------------------------------------------- */

static void save_origin(const struct nw_origin *origin, struct nw_buf *out)
{
	const char *const words[] = {origin->host, origin->kernel, origin->machine,
				     origin->command};

	nw_buf_adds(out, "origin");
	for (size_t i = 0; i < NW_COUNT(words); i++)
		nw_plan_word(out, words[i] ? words[i] : "");
	nw_buf_addc(out, '\n');
}

static void save_symbols(const struct nw_recorder *r, const struct nw_run_result *result,
			 struct nw_buf *out)
{
	uint64_t bounds[2];

	if (!result->symbols || !r->symbols.count)
		return;
	nw_kernel_sched_bounds(result->symbols, bounds);
	for (size_t i = 0; i < NW_COUNT(bounds); i++)
		nw_buf_printf(out, "symbol %" PRIx64 " %s\n", bounds[i],
			      nw_kernel_sched_text[i]);
	nw_vec_each (&r->symbols, line) {
		nw_buf_printf(out, "symbol %.*s", (int)strcspn(*line, " "), *line);
		nw_plan_word(out, strchr(*line, ' ') + 1);
		nw_buf_addc(out, '\n');
	}
}

/* A later name of a thread follows its earlier one, and counts. */
static void save_tasks(const struct nw_index *tasks, struct nw_buf *out,
		       struct nw_buf *comms)
{
	nw_vec_each (&tasks->text, line) {
		int tid, pid, comm = 0;
		if (sscanf(*line, "%d %d %n", &tid, &pid, &comm) < 2)
			continue;
		nw_buf_printf(out, "task %d %d", tid, pid);
		nw_plan_word(out, *line + comm);
		nw_buf_addc(out, '\n');
		nw_buf_printf(comms, "%d %s\n", tid, *line + comm);
	}
}

/* Saves why probes had no hits, or no more hits. */
static void save_states(const struct nw_run_result *result, struct nw_buf *out)
{
	for (size_t i = 0; result->states && i < result->selection.probes.count; i++) {
		if (!result->states[i].text)
			continue;
		nw_buf_printf(out, "%s %zu %" PRIu64,
			      nw_state_words[result->states[i].state], i,
			      result->disabled_at ? result->disabled_at[i] : 0);
		nw_plan_word(out, result->states[i].text);
		nw_buf_addc(out, '\n');
	}
}

void nw_recorder_table(const struct nw_recorder *r, const struct nw_run_result *result,
		       struct nw_buf *out, struct nw_buf *comms)
{
	nw_plan_save(&result->armed, out);
	nw_buf_printf(out, "start %" PRIu64 "\nstop %" PRIu64 "\nwall %" PRId64 "\n",
		      result->start_ns, result->stop_ns, result->wall_ns);
	nw_buf_printf(out, "armed %" PRIu64 "\n", result->armed_ns);
	nw_buf_printf(out, "%s %" PRIu64 "\ncost %" PRIu64 " %" PRIu64 "\n",
		      result->lost_is_least ? "lost_at_least" : "lost", result->lost,
		      result->kernel_hits, result->cost_ns);
	for (size_t i = 0; result->hit_costs && i < result->selection.probes.count; i++)
		nw_buf_printf(out, "hit_cost %zu %" PRIu32 " %" PRIu32 "\n", i,
			      result->hit_costs[i].before, result->hit_costs[i].after);
	save_origin(&result->origin, out);
	save_symbols(r, result, out);
	save_states(result, out);
	if (result->follow)
		nw_buf_adds(out, "follow 1\n");
	if (result->untraced_recorded)
		nw_buf_adds(out, "strangers 1\n");
	if (result->named_threads)
		nw_buf_printf(out, "named_threads %d\n", result->has_named ? 2 : 1);
	nw_vec_each (&result->named, named)
		nw_buf_printf(out, "named %d %" PRIu64 " %" PRIu64 "\n", named->tid,
			      named->from, named->seen);
	nw_vec_each (&result->named_comms, comm) {
		nw_buf_adds(out, "named_comm");
		nw_plan_word(out, *comm);
		nw_buf_addc(out, '\n');
	}
	nw_vec_each (&result->pids, pid)
		nw_buf_printf(out, "only %d\n", (int)*pid);
	nw_vec_each (&result->tids, tid)
		nw_buf_printf(out, "only_thread %d\n", (int)*tid);
	for (size_t i = 0; i < result->selection.probes.count; i++)
		if (result->selection.probes.item[i]->hidden &&
		    nw_is_descriptor_probe(result->selection.probes.item[i]))
			nw_buf_printf(out, "hidden %zu\n", i);
	if (result->observed)
		nw_observed_save(result->observed, out);
	if (result->stacks)
		nw_stacks_save(result->stacks, out);
	save_tasks(&r->older_tasks, out, comms);
	save_tasks(&r->tasks, out, comms);
}

int nw_recorder_finish(struct nw_recorder *r, const struct nw_run_result *result,
		       uint64_t *bytes, struct nw_error *err)
{
	if (r->failed)
		return nw_cannot_write(r->options.path, r->failed, err);
	nw_recorder_table(r, result, &r->parts.table, &r->parts.comms);
	if (r->parts.table.failed || r->parts.comms.failed)
		return nw_no_memory(err);
	*bytes = 0;
	nw_vec_each (&r->cpus, cpu)
		*bytes += cpu->size;
	/* Writes a separate file first, so that a full disk does not destroy the existing recording. */
	struct nw_replace file;
	int ret = nw_replace_begin(r->options.path, NW_FILE_PRIVATE, result->signalled,
				   &file, err);
	if (ret < 0)
		return ret;
	struct nw_writer writer = {.fd = file.fd, .ended = result->signalled};
	ret = nw_recording_write(&writer, &r->parts, r->page_size, r->cpus.item,
				 (uint32_t)r->cpus.count, err);
	nw_writer_close(&writer);
	if (ret == 0)
		return nw_replace_commit(&file, err);
	nw_replace_abort(&file);
	return nw_cannot_write(r->options.path, -ret, err);
}

int nw_recorder_open(const struct nw_recorder_options *options, struct nw_recorder **out,
		     struct nw_error *err)
{
	struct nw_recorder *r = calloc(1, sizeof(*r));

	*out = r;
	if (!r)
		return nw_no_memory(err);
	r->options = *options;
	return nw_by_parse(options->by, &r->by, err);
}

struct nw_consumer nw_recorder_consumer(struct nw_recorder *recorder)
{
	return (struct nw_consumer){
		.arg = recorder,
		.needs =
			{
				.all_args = true,
				.stacks = true,
				.comms = true,
				.scheduler = recorder->options.states,
				.descriptors = nw_by_needs_descriptors(&recorder->by),
				.costs = NW_COSTS_WANTED,
				.values = recorder->options.states ||
					  nw_by_needs_descriptors(&recorder->by),
				.named_events = true,
			},
		.other_hit = other_hit,
		.start = start,
		.armed = armed,
		.hit = hit,
		.hits = recorder->options.count || recorder->by.keys.count ? NULL : hits,
	};
}

void nw_recorder_free(struct nw_recorder *r)
{
	if (!r)
		return;
	nw_recording_parts_free(&r->parts);
	nw_vec_each (&r->cpus, cpu)
		if (cpu->fd >= 0)
			close(cpu->fd);
	nw_vec_free(&r->cpus);
	nw_by_free(&r->by);
	nw_index_free(&r->tasks);
	nw_index_free(&r->older_tasks);
	nw_strings_free(&r->formats);
	nw_strings_free(&r->symbols);
	free(r->blank);
	free(r);
}
