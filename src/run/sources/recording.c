// SPDX-License-Identifier: MIT
/* A recording as a source of hits: needs no kernel and no privileges. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/limits/guards.h"
#include "run/observed.h"
#include "stream/recording/recording.h"

#include "sources.h"

/* A line of the recording that says why a probe had no hits, or, if it was disabled (at), no more hits. */
struct told_state {
	uint64_t probe, at;
	enum nw_state state;
	char *text;
};

/* A thread, and the number of its line in the table: the last line counts. */
struct told {
	struct nw_task task;
	uint32_t order;
};

/* The cost of a probe's hit, from the table. */
struct told_cost {
	uint64_t probe;
	struct nw_hit_cost cost;
};

/* The recording, and the lines of its table that do not belong to the plan (written by recorder.c). */
struct replay {
	struct nw_run *run;
	struct nw_recording recording;
	NW_VEC(struct told) tasks;
	NW_VEC(struct told_state) states;
	NW_VEC(struct told_cost) costs;
	bool follow, untraced_recorded, failed;
	uint64_t lost;
	bool lost_is_least;
};

static int64_t word_number(const char *word)
{
	return strtoll(word, NULL, 10);
}

static void add_task(struct replay *replay, char *const *words)
{
	struct told *told = nw_vec_add(&replay->tasks);

	if (!told) {
		replay->failed = true;
		return;
	}
	told->order = (uint32_t)replay->tasks.count;
	struct nw_task *task = &told->task;
	task->tid = (int32_t)word_number(words[1]);
	task->pid = (int32_t)word_number(words[2]);
	strncpy(task->comm, words[3], sizeof(task->comm) - 1);
}

static void add_only(struct replay *replay, nw_pids *list, const char *word)
{
	pid_t *slot = nw_vec_add(list);

	replay->failed |= !slot;
	if (slot)
		*slot = (pid_t)word_number(word);
}

static void add_state(struct replay *replay, enum nw_state state, char *const *words)
{
	struct told_state *told = nw_vec_add(&replay->states);

	if (told) {
		told->state = state;
		told->probe = (uint64_t)word_number(words[1]);
		told->at = (uint64_t)word_number(words[2]);
		told->text = strdup(words[3]);
	}
	replay->failed |= !told || !told->text;
}

static void add_symbol(struct replay *replay, char *const *words)
{
	struct nw_run_result *result = replay->run->result;

	if (!result->symbols && nw_kernel_symbols_new(&result->symbols) < 0)
		replay->failed = true;
	else if (nw_kernel_symbols_add(result->symbols, strtoull(words[1], NULL, 16),
				       words[2]) < 0)
		replay->failed = true;
}

/* Reads which threads' scheduler events are recorded. 1: the recording is from an earlier version, and lacks the
 * lines `named`. */
static void take_named_threads(struct nw_run_result *result, const char *word)
{
	result->named_threads = true;
	result->has_named = strcmp(word, "2") == 0;
}

static void add_named(struct replay *replay, char *const *words)
{
	uint64_t number[3];

	for (size_t i = 0; i < NW_COUNT(number); i++)
		if (nw_parse_u64(words[i + 1], &number[i]) < 0)
			return;
	struct nw_named_at *named = number[0] <= INT32_MAX
					    ? nw_vec_add(&replay->run->result->named)
					    : NULL;
	replay->failed |= !named && number[0] <= INT32_MAX;
	if (named)
		*named = (struct nw_named_at){(int32_t)number[0], number[1], number[2]};
}

static void add_hit_cost(struct replay *replay, char *const *words)
{
	uint64_t number[3];

	for (size_t i = 0; i < NW_COUNT(number); i++)
		if (nw_parse_u64(words[i + 1], &number[i]) < 0 ||
		    (i && number[i] > NW_MOST_HIT_COST))
			return;
	struct told_cost *told = nw_vec_add(&replay->costs);
	replay->failed |= !told;
	if (told)
		*told = (struct told_cost){number[0],
					   {(uint32_t)number[1], (uint32_t)number[2]}};
}

/* Stores the costs. The number of probes is known only after all lines were read, and the lines may be hostile. */
static int use_costs(struct replay *replay)
{
	struct nw_run_result *result = replay->run->result;
	size_t probes = result->selection.probes.count;

	if (!replay->costs.count)
		return 0;
	result->hit_costs = calloc(probes + 1, sizeof(*result->hit_costs));
	if (!result->hit_costs)
		return -ENOMEM;
	nw_vec_each (&replay->costs, told)
		if (told->probe < probes)
			result->hit_costs[told->probe] = told->cost;
	return 0;
}

static void take_origin(struct replay *replay, char *const *words)
{
	struct nw_origin *origin = &replay->run->result->origin;
	char **const parts[] = {&origin->host, &origin->kernel, &origin->machine,
				&origin->command};

	for (size_t i = 0; i < NW_COUNT(parts); i++) {
		free(*parts[i]);
		*parts[i] = *words[i + 1] ? strdup(words[i + 1]) : NULL;
		replay->failed |= *words[i + 1] && !*parts[i];
	}
}

/* Takes a title or a control group; false: the line is another one. */
static bool take_observed(struct replay *replay, char *const *words, size_t count)
{
	struct nw_run_result *result = replay->run->result;

	if (!nw_observed_is_word(words[0]))
		return false;
	if (!result->observed && nw_observed_open(NULL, &result->observed) < 0)
		replay->failed = true;
	return result->observed && nw_observed_line(result->observed, words, count);
}

/* Hides a probe that was recorded for something else. */
static void hide(struct replay *replay, const char *number)
{
	struct nw_selection *selection = &replay->run->result->selection;
	uint64_t probe;

	if (nw_parse_u64(number, &probe) == 0 && probe < selection->probes.count)
		selection->probes.item[probe]->hidden |= nw_is_descriptor_probe(
			selection->probes.item[probe]);
}

/* Takes a line of the table that does not belong to the plan. Unknown lines are from a later version, and are
 * skipped. */
static void take_line(void *arg, char *const *words, size_t count)
{
	struct replay *replay = arg;
	struct nw_run *run = replay->run;

	if (!run->delivery.stacks && strcmp(words[0], "module") == 0) {
		replay->failed |= nw_stacks_open(NULL, &run->delivery.stacks) < 0;
		if (run->delivery.stacks && run->request->no_demangle)
			nw_stacks_linked(run->delivery.stacks);
		run->result->stacks = run->delivery.stacks;
	}
	if (run->delivery.stacks && nw_stacks_line(run->delivery.stacks, words, count))
		return;
	if (take_observed(replay, words, count))
		return;
	if (strcmp(words[0], "task") == 0 && count == 4)
		add_task(replay, words);
	if (strcmp(words[0], "origin") == 0 && count == 5)
		take_origin(replay, words);
	if (strcmp(words[0], "hit_cost") == 0 && count == 4)
		add_hit_cost(replay, words);
	if (strcmp(words[0], "cost") == 0 && count == 3) {
		run->result->kernel_hits = strtoull(words[1], NULL, 10);
		run->result->cost_ns = strtoull(words[2], NULL, 10);
	}
	if (strcmp(words[0], "named") == 0 && count == 4)
		add_named(replay, words);
	if (strcmp(words[0], "symbol") == 0 && count == 3)
		add_symbol(replay, words);
	for (int i = NW_STATE_NOT_HIT; i < NW_STATE_COUNT; i++)
		if (strcmp(words[0], nw_state_words[i]) == 0 && count == 4)
			add_state(replay, (enum nw_state)i, words);
	if (count != 2)
		return;
	if (strcmp(words[0], "hidden") == 0)
		hide(replay, words[1]);
	else if (strcmp(words[0], "start") == 0)
		run->result->start_ns = (uint64_t)word_number(words[1]);
	else if (strcmp(words[0], "armed") == 0)
		run->result->armed_ns = (uint64_t)word_number(words[1]);
	else if (strcmp(words[0], "stop") == 0)
		run->result->stop_ns = run->result->now_ns = (uint64_t)word_number(
			words[1]);
	else if (strcmp(words[0], "wall") == 0)
		run->result->wall_ns = word_number(words[1]);
	else if (strcmp(words[0], "lost") == 0)
		replay->lost = (uint64_t)word_number(words[1]);
	else if (strcmp(words[0], "lost_at_least") == 0) {
		replay->lost = (uint64_t)word_number(words[1]);
		replay->lost_is_least = true;
	} else if (strcmp(words[0], "only") == 0)
		add_only(replay, &run->result->pids, words[1]);
	else if (strcmp(words[0], "only_thread") == 0)
		add_only(replay, &run->result->tids, words[1]);
	else if (strcmp(words[0], "follow") == 0)
		replay->follow = true;
	else if (strcmp(words[0], "strangers") == 0)
		replay->untraced_recorded = true;
	else if (strcmp(words[0], "named_threads") == 0)
		take_named_threads(run->result, words[1]);
	else if (strcmp(words[0], "named_comm") == 0)
		replay->failed |= nw_strings_add(&run->result->named_comms, words[1],
						 strlen(words[1])) < 0;
}

static int by_thread(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->task.tid != y->task.tid)
		return x->task.tid < y->task.tid ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int look_up_task(void *arg, pid_t tid, pid_t *process, char comm[16])
{
	const struct replay *replay = arg;
	size_t low = nw_vec_lower_bound(&replay->tasks, told, told->task.tid <= tid);

	const struct nw_task *found = low ? &replay->tasks.item[low - 1].task : NULL;
	if (!found || found->tid != tid)
		return -ESRCH;
	*process = found->pid;
	memcpy(comm, found->comm, 16);
	return 0;
}

static int open_story(struct nw_run *run, struct nw_error *err)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		return nw_no_memory(err);
	run->source_state = replay;
	replay->run = run;
	run->result->reason = NW_END_RECORDING;
	int ret = nw_recording_parse(run->bytes, run->len, &replay->recording, err);
	if (ret < 0)
		return nw_error_context(err, "%s", run->request->source_name);
	const struct nw_recording *recording = &replay->recording;
	ret = nw_plan_load(recording->table, recording->table_len, &run->result->selection,
			   &run->result->plan, &run->result->armed, take_line, replay, err);
	if (ret == 0 && run->request->no_demangle)
		replay->failed |= nw_selection_linked(&run->result->selection) < 0;
	if (ret == 0 && (replay->failed || use_costs(replay) < 0))
		ret = nw_no_memory(err);
	if (ret == 0)
		ret = nw_formats_load(&run->result->armed, true, recording->header_page,
				      recording->header_page_len, nw_recording_format,
				      &replay->recording, &run->delivery.formats, err);
	return ret;
}

static int open_tasks(struct nw_run *run, struct replay *replay)
{
	const struct nw_tasks_options options = {
		.pids = run->result->pids.item,
		.pid_count = run->result->pids.count,
		.tids = run->result->tids.item,
		.tid_count = run->result->tids.count,
		.follow = replay->follow,
		.untraced_recorded = replay->untraced_recorded ||
				     nw_run_has_kernel_events(run),
		.main_only = run->request->main_thread,
		.look_up = look_up_task,
		.look_up_arg = replay,
	};

	if (replay->tasks.count)
		qsort(replay->tasks.item, replay->tasks.count, sizeof(*replay->tasks.item),
		      by_thread);
	run->result->by_cgroup = run->result->observed &&
				 nw_observed_has(run->result->observed, NW_OBSERVED_MEMBER);
	run->result->restricted = run->result->pids.count > 0 ||
				  run->request->main_thread || run->result->by_cgroup;
	run->result->follow = replay->follow;
	int ret = nw_tasks_open(&options, &run->delivery.tasks);
	return ret < 0 ? ret : nw_run_open_join(run);
}

static int begin(struct nw_run *run, struct nw_error *err)
{
	struct replay *replay = run->source_state;
	int ret = nw_run_open_stacks(run, err);

	if (ret == 0 && open_tasks(run, replay) < 0)
		ret = nw_no_memory(err);

	nw_vec_each (&replay->states, it)
		if (ret == 0 && it->state >= NW_STATE_DISABLED &&
		    it->probe < run->result->selection.probes.count)
			ret = nw_run_mark_disabled(run, it->probe, it->state, it->at,
						   it->text, err);
	if (ret == 0)
		ret = nw_run_begin(run, run->result->start_ns, err);
	return ret < 0 ? ret
		       : nw_stream_open_memory(
				 &run->delivery.formats, replay->recording.runs.item,
				 replay->recording.runs.count, &run->delivery.stream, err);
}

/* Everything was read when the recording was opened. */
static int fill(struct nw_run *run, struct nw_error *err)
{
	(void)run;
	(void)err;
	return 0;
}

static int stop(struct nw_run *run, struct nw_error *err)
{
	return nw_stream_finish(run->delivery.stream) < 0 ? nw_no_memory(err) : 0;
}

/* Tells why probes had no hits, as the recording run found it. */
static int explain(struct nw_run *run, const struct replay *replay, struct nw_error *err)
{
	int ret = nw_run_explain_recorded(run, err);

	nw_vec_each (&replay->states, it) {
		if (ret < 0 || it->probe >= run->result->selection.probes.count)
			break;
		enum nw_state now = run->result->states[it->probe].state;
		if ((now == NW_STATE_UNKNOWN || now == NW_STATE_NOT_HIT) &&
		    nw_run_set_state(run, it->probe, it->state, "%s", it->text) < 0)
			ret = nw_no_memory(err);
	}
	return ret;
}

static int finish(struct nw_run *run, struct nw_error *err)
{
	const struct replay *replay = run->source_state;

	/* The recording run knew the total number of lost events, if the table has it; each loss of unknown size is
	 * at least one event. */
	const struct nw_stream_stats seen = nw_stream_stats(run->delivery.stream);
	uint64_t least = seen.lost + seen.uncounted;
	run->result->lost = nw_max64(replay->lost, least);
	run->result->lost_is_least = replay->lost_is_least || seen.damaged ||
				     (seen.uncounted && replay->lost < least);
	nw_run_notice_order(run);
	return explain(run, replay, err);
}

static void close_story(struct nw_run *run)
{
	struct replay *replay = run->source_state;

	nw_stream_free(run->delivery.stream);
	run->delivery.stream = NULL;
	if (!replay)
		return;
	nw_vec_free(&replay->tasks);
	nw_vec_each (&replay->states, it)
		free(it->text);
	nw_vec_free(&replay->states);
	nw_vec_free(&replay->costs);
	nw_recording_free(&replay->recording);
	free(replay);
}

const struct nw_run_source nw_recording_source = {
	.recorded = true,
	.open = open_story,
	.begin = begin,
	.fill = fill,
	.stop = stop,
	.finish = finish,
	.close = close_story,
};

const struct nw_run_source *nw_source_of_bytes(const char *bytes, size_t len)
{
	return nw_recording_is_one(bytes, len) ? &nw_recording_source : &nw_text_source;
}
