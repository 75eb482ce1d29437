// SPDX-License-Identifier: MIT
/*
 * Finds out why a probe of a run had no hit, by the checks of `why`, from facts of the run and facts about its file.
 * Each file is read once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "silent.h"

/* ---- files, each looked at once ----------------------------------------------------- */

static struct nw_silent_file *known_file(struct nw_silent *silent,
					 const struct nw_image *image)
{
	nw_hash_each (&silent->by_image, nw_hash64((uintptr_t)image), number)
		if (silent->files.item[number].image == image)
			return &silent->files.item[number];
	return NULL;
}

static int add_file(struct nw_silent *silent, const struct nw_point *point)
{
	struct nw_silent_file *fresh = nw_vec_add(&silent->files);

	if (!fresh)
		return -ENOMEM;
	fresh->image = point->image;
	fresh->vaddr = point->vaddr;
	if (!silent->has_others || nw_foreign_paths_have(&silent->others, point->image))
		nw_foreign_events_read(&silent->run->live.fs, point->image,
				       &silent->threads, &fresh->foreign, NULL);
	return nw_hash_table_add(&silent->by_image, nw_hash64((uintptr_t)point->image),
				 silent->files.count - 1);
}

/* Adds the files of all probes that may be asked for: of those without a hit and without a reason. */
static int add_files(struct nw_silent *silent)
{
	const struct nw_run_result *result = silent->run->result;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < result->selection.probes.count; i++) {
		const struct nw_probe *probe = result->selection.probes.item[i];
		if (probe->points.count && !nw_probe_in_kernel(probe) &&
		    !nw_run_probe_hits(silent->run, i) && !result->states[i].text &&
		    !known_file(silent, probe->points.item->image))
			ret = add_file(silent, probe->points.item);
	}
	return ret;
}

/* Looks at each process once for the files from number `first` on. Facts that cannot be read stay unknown. */
static int inspect_files(struct nw_silent *silent, size_t first)
{
	const struct nw_request *request = silent->run->request;
	const size_t count = silent->files.count - first;
	struct nw_mapping_query *queries = calloc(count + 1, sizeof(*queries));

	if (!queries)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct nw_silent_file *file = &silent->files.item[first + i];
		queries[i] = (struct nw_mapping_query){.path = file->image->path,
						       .image = file->image,
						       .vaddr = file->vaddr};
	}
	bool known = nw_mappings_inspect(queries, count,
					 request->pid_count ? request->pids : NULL,
					 request->pid_count, NULL) == 0;
	for (size_t i = 0; i < count; i++) {
		silent->files.item[first + i].mapped = known;
		silent->files.item[first + i].mapping = queries[i].facts;
	}
	free(queries);
	return 0;
}

static struct nw_silent_file *file_of(struct nw_silent *silent,
				      const struct nw_point *point)
{
	struct nw_silent_file *known = known_file(silent, point->image);
	const size_t first = silent->files.count;

	if (known)
		return known;
	int ret = first ? 0 : add_files(silent);
	if (ret == 0 && !known_file(silent, point->image))
		ret = add_file(silent, point);
	if (ret == 0)
		ret = inspect_files(silent, first);
	return ret == 0 ? known_file(silent, point->image) : NULL;
}

int nw_silent_open(struct nw_run *run, struct nw_silent *out, struct nw_error *err)
{
	*out = (struct nw_silent){.run = run};
	nw_kernel_access_read(&out->kernel);
	out->has_others = nw_foreign_paths_read(&run->live.fs, &out->others) == 0;
	if (!run->request->pid_count)
		return 0;
	for (size_t i = 0; i < run->request->pid_count; i++) {
		int listed = nw_process_threads(run->request->pids[i], &out->threads, err);
		if (listed < 0 && nw_is_shortage(-listed))
			return listed;
	}
	int ret = nw_process_inspect(run->request->pids[0], &out->process, err);
	out->has_process = ret == 0;
	return ret;
}

void nw_silent_close(struct nw_silent *silent)
{
	nw_vec_each (&silent->files, file) {
		nw_mapping_facts_free(&file->mapping);
		nw_foreign_events_free(&file->foreign);
	}
	nw_vec_free(&silent->files);
	nw_hash_table_free(&silent->by_image);
	nw_strings_free(&silent->others);
	nw_vec_free(&silent->threads);
	nw_process_facts_free(&silent->process);
}

/* ---- one probe ---------------------------------------------------------------------- */

/* Returns the state for the cause of an armed probe without hits. For other causes the code was not reached. */
static enum nw_state state_of(const struct nw_diagnosis *diagnosis)
{
	static const struct {
		enum nw_cause cause;
		enum nw_state state;
	} states[] = {
		{NW_CAUSE_NOT_RUNNING, NW_STATE_NOT_MAPPED},
		{NW_CAUSE_NOT_LOADED, NW_STATE_NOT_MAPPED},
		{NW_CAUSE_OTHER_PROGRAM, NW_STATE_NOT_MAPPED},
		{NW_CAUSE_OTHER_COPY, NW_STATE_NOT_MAPPED},
		{NW_CAUSE_OTHER_NAMESPACE, NW_STATE_NOT_MAPPED},
		{NW_CAUSE_FILE_REPLACED, NW_STATE_NOT_MAPPED},
		{NW_CAUSE_FILE_DELETED, NW_STATE_NOT_MAPPED},
		{NW_CAUSE_PROCESS_GONE, NW_STATE_NOT_MAPPED},
		{NW_CAUSE_OVERLAY, NW_STATE_NOT_ARMED},
		{NW_CAUSE_TEXT_COPIED, NW_STATE_NOT_ARMED},
		{NW_CAUSE_TEXT_WRITABLE, NW_STATE_NOT_ARMED},
		{NW_CAUSE_NOT_ARMED, NW_STATE_NOT_ARMED},
		{NW_CAUSE_SEMAPHORE, NW_STATE_SEMAPHORE_CLOSED},
	};

	for (size_t i = 0; diagnosis->reasons.count && i < NW_COUNT(states); i++)
		if (states[i].cause == diagnosis->reasons.item[0].cause)
			return states[i].state;
	return NW_STATE_NOT_HIT;
}

static int diagnose(struct nw_silent *silent, struct nw_probe *probe,
		    const struct nw_silent_file *file, const struct nw_presence *seen,
		    struct nw_diagnosis *out, struct nw_error *err)
{
	struct nw_probe *one[1] = {probe};
	struct nw_spec spec = {.text = probe->label,
			       .kind = probe->kind,
			       .path = probe->image->path,
			       .provider = probe->provider,
			       .name = probe->name};
	struct nw_selection selection = {
		.probes = {.item = one, .count = 1, .room = 1},
	};
	const struct nw_run_result *result = silent->run->result;
	struct nw_watch watch = {
		.done = true,
		.elapsed_ns = nw_result_elapsed(result),
		.sites = probe->points.count,
		.before = *seen,
		.after = *seen,
		.ended = result->reason == NW_END_PROCESS,
	};
	const struct nw_facts facts = {
		.kernel = &silent->kernel,
		.nop5_safe = true, /* otherwise it would not have been armed */
		.force = true,
		.spec = &spec,
		.path = probe->image->path,
		.image = probe->image,
		.selection = &selection,
		.at_function = true,
		.process = silent->has_process ? &silent->process : NULL,
		.mapping = file->mapped ? &file->mapping : NULL,
		.foreign = &file->foreign,
		.watch = &watch,
	};

	return nw_diagnose(&facts, out, err);
}

/*
 * The command is over, and its mappings are gone, so its memory cannot be checked. Its arguments and its environment say
 * whether it was told to fire the probe. Returns 1: it was not; 0; or an error.
 */
static int explain_ended(const struct nw_run *run, const struct nw_probe *probe,
			 struct nw_probe_state *out, struct nw_error *err)
{
	const char *reached = "no hit: the code was not reached before the end";
	struct nw_buf words = {0};

	*out = (struct nw_probe_state){NW_STATE_NOT_HIT, reached};
	if (!run->request->command || run->result->reason != NW_END_COMMAND)
		return 0;
	for (char *const *word = run->request->command; *word; word++)
		nw_buf_printf(&words, "%s ", *word);
	for (char *const *word = environ; *word; word++)
		nw_buf_printf(&words, "%s ", *word);
	const char *text = nw_switch_text(probe, nw_buf_str(&words));
	int ret = words.failed || (text && nw_strings_addf(&run->result->state_texts,
							   "%s; %s", reached, text) < 0)
			  ? nw_no_memory(err)
			  : 0;
	nw_buf_free(&words);
	if (ret < 0 || !text)
		return ret;
	out->text = run->result->state_texts.item[run->result->state_texts.count - 1];
	return 1;
}

int nw_silent_why(struct nw_silent *silent, struct nw_probe *probe,
		  const struct nw_presence *seen, struct nw_probe_state *out,
		  struct nw_error *err)
{
	const struct nw_run_result *result = silent->run->result;
	const enum nw_end_reason reason = result->reason;
	struct nw_diagnosis diagnosis;

	if (!seen->mapped && (reason == NW_END_PROCESS || reason == NW_END_COMMAND)) {
		int ret = explain_ended(silent->run, probe, out, err);
		/* If everybody counts, others than CMD may load the file, and may run on. */
		if (ret != 0 || reason == NW_END_PROCESS || result->restricted ||
		    silent->run->request->all)
			return ret < 0 ? ret : 0;
	}
	const struct nw_silent_file *file = probe->points.count
						    ? file_of(silent, probe->points.item)
						    : NULL;
	if (!file)
		return nw_no_memory(err);
	int ret = diagnose(silent, probe, file, seen, &diagnosis, err);
	if (ret < 0)
		return ret;
	if (nw_strings_addf(&silent->run->result->state_texts, "no hit: %s",
			    diagnosis.text) < 0)
		ret = nw_no_memory(err);
	else
		*out = (struct nw_probe_state){
			state_of(&diagnosis),
			silent->run->result->state_texts
				.item[silent->run->result->state_texts.count - 1]};
	nw_diagnosis_free(&diagnosis);
	return ret;
}
