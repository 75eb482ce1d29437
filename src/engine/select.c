// SPDX-License-Identifier: MIT
/* What a run is about: which probes, with which values, and of which processes. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

/* ---- probes ------------------------------------------------------------------------- */

bool nw_run_wants_args(const struct nw_run *run)
{
	return run->consumer->all_args ||
	       (run->filter && nw_filter_names_args(run->filter));
}

bool nw_run_wants_values(const struct nw_run *run)
{
	bool values = run->consumer->values ||
		      (run->filter && nw_filter_names_args(run->filter));

	nw_vec_each (&run->selection.probes, probe)
		values |= (*probe)->has_args;
	return values;
}

int nw_run_read_filter(struct nw_run *run, struct nw_error *err)
{
	return run->args->filter ? nw_filter_parse(run->args->filter, &run->filter, err)
				 : 0;
}

static int add_spec(struct nw_run *run, const char *text, struct nw_error *err)
{
	struct nw_spec spec, *slot;
	int ret = nw_spec_parse(text, &spec, err);

	if (ret < 0)
		return ret;
	slot = nw_vec_add(&run->specs);
	if (!slot) {
		nw_spec_free(&spec);
		return nw_no_memory(err);
	}
	*slot = spec;
	return 0;
}

/* Specs from the words, and the ends of spans, which need not be named twice. */
static int read_specs(struct nw_run *run, struct nw_error *err)
{
	nw_strings ends = {0};
	int ret = 0;

	nw_vec_each (&run->args->words, word)
		if (ret == 0)
			ret = add_spec(run, *word, err);
	nw_vec_each (&run->args->spans, text)
		if (ret == 0 && !run->args->words.count)
			ret = nw_span_specs(*text, &ends, err);
	nw_vec_each (&ends, text)
		if (ret == 0)
			ret = add_spec(run, *text, err);
	nw_strings_free(&ends);
	if (ret == 0 && !run->specs.count)
		ret = nw_fail_usage(err, "no probe is named");
	return ret;
}

/* The highest argN in a text, and one more: what it uses of arguments that nobody named. */
static size_t args_used(const char *text)
{
	size_t used = 0;

	for (const char *at = text; at && (at = strstr(at, "arg")); at += 3) {
		unsigned long number = 0;
		char *end;
		bool begins = at == text ||
			      (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
		if (!begins || !isdigit((unsigned char)at[3]))
			continue;
		number = strtoul(at + 3, &end, 10);
		if (number < NW_MAX_FIELDS && number + 1 > used)
			used = number + 1;
	}
	return used;
}

/* Arguments that were named are all there is; unless others are compared, or grouped by. */
static int trim_args(struct nw_run *run, struct nw_error *err)
{
	const struct nw_args *args = run->args;
	size_t keep = nw_max64(args_used(args->by), args_used(args->filter));

	nw_vec_each (&args->hists, text)
		keep = nw_max64(keep, args_used(*text));
	nw_vec_each (&args->spans, text)
		keep = nw_max64(keep, args_used(*text));
	return nw_selection_trim(&run->selection, keep, err);
}

static int select_probes(struct nw_run *run, const char *command, struct nw_error *err)
{
	struct nw_types types = {0};
	struct nw_tracefs fs;
	const struct nw_kernel_events events = nw_events_of(&fs);
	const struct nw_scope scope = {
		.pids = run->args->pids.item,
		.pid_count = run->args->pids.count,
		.file = run->args->file,
		.command = command,
		.force = run->args->force,
		.want_operands = nw_run_wants_args(run),
		.types = &types,
		.events = &events,
	};
	int ret = nw_load_types(run->args, &types, err);

	if (ret == 0)
		ret = nw_select(run->specs.item, run->specs.count, &scope, &run->selection,
				err);
	if (ret == 0)
		ret = trim_args(run, err);
	nw_types_free(&types);
	nw_tracefs_close(&fs);
	if (ret == 0 && !run->args->quiet)
		nw_vec_each (&run->selection.warnings, warning)
			nw_note("%s", *warning);
	return ret;
}

int nw_run_select(struct nw_run *run, const struct nw_args *args,
		  const struct nw_consumer *consumer, char **command, struct nw_error *err)
{
	*run = (struct nw_run){.args = args,
			       .consumer = consumer,
			       .fs = {.root = -1},
			       .space = {.host = -1},
			       .wake = {.fd = -1, .signals = -1},
			       .child = {.release = -1, .failure = -1}};
	int ret = nw_run_read_filter(run, err);
	if (ret == 0)
		ret = read_specs(run, err);
	if (ret == 0 && command && args->cmd)
		ret = nw_locate(args->cmd[0], command, err);
	return ret < 0 ? ret : select_probes(run, command ? *command : NULL, err);
}

bool nw_run_has_kernel_events(const struct nw_run *run)
{
	nw_vec_each (&run->selection.probes, probe)
		if ((*probe)->kind == NW_SPEC_TRACEPOINT)
			return true;
	return false;
}

/* ---- processes ---------------------------------------------------------------------- */

static bool is_needed(const nw_images *needed, const struct nw_image *image)
{
	nw_vec_each (needed, other)
		if ((*other)->dev == image->dev && (*other)->ino == image->ino)
			return true;
	return false;
}

/*
 * With CMD and no -p: are the probes in what CMD itself runs? Then CMD and its children are
 * meant. If they are in another program (CMD being the load for a server), everybody is.
 */
bool nw_run_command_has_probes(const struct nw_run *run, const char *command)
{
	nw_images needed = {0};
	bool known = nw_locate_needed(command, false, &needed, NULL) == 0, all = true;

	nw_vec_each (&run->selection.images, image) /* everybody runs the kernel */
		all = all && ((*image)->kernel || (known && is_needed(&needed, *image)));
	nw_images_free(&needed);
	return all;
}

/* The processes below these, children of children included. */
int nw_run_add_descendants(nw_pids *pids, struct nw_error *err)
{
	for (size_t i = 0; i < pids->count; i++) { /* pids grows meanwhile */
		nw_pids threads = {0};
		if (nw_process_threads(pids->item[i], &threads, NULL) < 0)
			continue;
		nw_vec_each (&threads, tid) {
			struct nw_buf text = {0};
			char path[64];
			snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
				 (int)pids->item[i], (int)*tid);
			int fd = open(path, O_RDONLY | O_CLOEXEC);
			if (fd >= 0) {
				nw_buf_read(&text, fd);
				close(fd);
			}
			char *at = text.data, *end;
			for (long pid; at && (pid = strtol(at, &end, 10)) > 0; at = end) {
				pid_t *slot = nw_vec_add(pids);
				if (!slot) {
					nw_buf_free(&text);
					nw_vec_free(&threads);
					return nw_no_memory(err);
				}
				*slot = (pid_t)pid;
			}
			nw_buf_free(&text);
		}
		nw_vec_free(&threads);
	}
	return 0;
}

int nw_run_collect_pids(struct nw_run *run, const char *command, nw_pids *pids,
			struct nw_error *err)
{
	bool by_command = run->child.pid && !run->args->pids.count && !run->args->all;
	pid_t *slot;

	nw_vec_each (&run->args->pids, pid) {
		int ret = nw_wake_watch(&run->wake, *pid, err);
		if (ret == 0 && run->args->all) /* they say where, not who */
			continue;
		slot = ret == 0 ? nw_vec_add(pids) : NULL;
		if (!slot)
			return ret < 0 ? ret : nw_no_memory(err);
		*slot = *pid;
	}
	if (by_command && nw_run_command_has_probes(run, command)) {
		slot = nw_vec_add(pids);
		if (!slot)
			return nw_no_memory(err);
		*slot = nw_pid_shown(run->child.pid);
	}
	run->restricted = pids->count > 0;
	int ret = run->args->follow ? nw_run_add_descendants(pids, err) : 0;
	nw_pid_space_open(&run->space);
	nw_vec_each (pids, pid)
		if (ret == 0)
			ret = nw_pid_space_kernel(&run->space, *pid, pid, err);
	return ret;
}
