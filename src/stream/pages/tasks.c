// SPDX-License-Identifier: MIT
/*
 * Threads: an open-addressed table by thread id. It is filled from task_newtask, task_rename, sched_process_exec and
 * sched_process_exit; a thread that is older than the stream is looked up once.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/load.h"
#include "stream/pages/tasks.h"

struct nw_tasks {
	struct nw_tasks_options options;
	pid_t *pids;
	pid_t *tids; /* 0: the thread has ended, and another one may have its number */
	struct nw_task *slot; /* tid 0 (the idle thread): the slot is free */
	size_t slots, used;
	size_t unknown;		    /* threads whose process was unknown */
	struct nw_task placeholder; /* returned for idle threads and without memory */
};

static size_t home(const struct nw_tasks *tasks, int32_t tid)
{
	return nw_hash64((uint64_t)(uint32_t)tid) & (tasks->slots - 1);
}

static struct nw_task *find(const struct nw_tasks *tasks, int32_t tid)
{
	size_t at = home(tasks, tid);

	while (tasks->slot[at].tid && tasks->slot[at].tid != tid)
		at = (at + 1) & (tasks->slots - 1);
	return &tasks->slot[at];
}

static int grow(struct nw_tasks *tasks)
{
	struct nw_tasks bigger = *tasks;

	bigger.slots = tasks->slots * 2;
	bigger.slot = calloc(bigger.slots, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (size_t i = 0; i < tasks->slots; i++)
		if (tasks->slot[i].tid)
			*find(&bigger, tasks->slot[i].tid) = tasks->slot[i];
	free(tasks->slot);
	*tasks = bigger;
	return 0;
}

/* Returns the entry of a thread, made if it is new; NULL without memory. */
static struct nw_task *entry(struct nw_tasks *tasks, int32_t tid, bool *fresh)
{
	struct nw_task *task = find(tasks, tid);

	*fresh = task->tid == 0;
	if (!*fresh)
		return task;
	if ((tasks->used + 1) * 2 > tasks->slots) {
		if (grow(tasks) < 0)
			return NULL;
		task = find(tasks, tid);
	}
	tasks->used++;
	*task = (struct nw_task){.tid = tid};
	return task;
}

/* Removes an entry. Linear probing without tombstones: later entries move back if their search would end here. */
static void forget(struct nw_tasks *tasks, int32_t tid)
{
	size_t mask = tasks->slots - 1;
	size_t hole = (size_t)(find(tasks, tid) - tasks->slot);

	if (!tasks->slot[hole].tid)
		return;
	for (size_t at = (hole + 1) & mask; tasks->slot[at].tid; at = (at + 1) & mask) {
		size_t wanted = home(tasks, tasks->slot[at].tid);
		if (((at - wanted) & mask) < ((at - hole) & mask))
			continue;
		tasks->slot[hole] = tasks->slot[at];
		hole = at;
	}
	tasks->slot[hole].tid = 0;
	tasks->used--;
}

/* ---- what a thread is --------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool is_wanted(const struct nw_tasks *tasks, pid_t process)
{
	return tasks->options.pid_count == 0 ||
	       bsearch(&process, tasks->pids, tasks->options.pid_count,
		       sizeof(*tasks->pids), by_number);
}

/* Finds out whether a thread is wanted, after its process has become known or was found to be unknown. */
static void settle(struct nw_tasks *tasks, struct nw_task *task)
{
	bool named = !tasks->options.tid_count;

	for (size_t i = 0; i < tasks->options.tid_count; i++)
		named |= tasks->tids[i] == task->tid;
	task->wanted = task->traced && named &&
		       (!tasks->options.main_only ||
			(task->known && task->tid == task->pid));
}

static void read_task(struct nw_tasks *tasks, struct nw_task *task)
{
	pid_t process;

	task->pid = task->tid;
	/* Without `untraced_recorded` the kernel has filtered, so every recorded thread is wanted. With
	 * `untraced_recorded`, of a process that is gone at least its first thread is recognised: it has the number
	 * of the process. */
	task->traced = !tasks->options.untraced_recorded || is_wanted(tasks, task->tid);
	task->known = tasks->options.pid_count && is_wanted(tasks, task->tid);
	strcpy(task->comm, "?");
	if (tasks->options.look_up &&
	    tasks->options.look_up(tasks->options.look_up_arg, task->tid, &process,
				   task->comm) >= 0) {
		task->pid = process;
		task->traced = is_wanted(tasks, process);
		task->known = true;
	}
	tasks->unknown += !task->known;
	settle(tasks, task);
}

size_t nw_tasks_unknown(const struct nw_tasks *tasks)
{
	return tasks->unknown;
}

const struct nw_task *nw_tasks_get(struct nw_tasks *tasks, int32_t tid)
{
	bool fresh;
	struct nw_task *task = tid ? entry(tasks, tid, &fresh) : NULL;

	if (!task) {
		/* the idle thread (tid 0) belongs to no process */
		tasks->placeholder = (struct nw_task){
			.tid = tid, .pid = tid, .traced = tid || !tasks->options.pid_count};
		settle(tasks, &tasks->placeholder);
		strcpy(tasks->placeholder.comm, tid ? "?" : "<idle>");
		return &tasks->placeholder;
	}
	if (fresh)
		read_task(tasks, task);
	return task;
}

/* ---- records ------------------------------------------------------------------------ */

static uint64_t field_number(const struct nw_record *record, size_t i)
{
	const struct nw_field_format *field = &record->format->fields.item[i];

	return nw_load(record->data + field->offset, field->size);
}

static void field_comm(const struct nw_record *record, size_t i, char comm[16])
{
	const struct nw_field_format *field = &record->format->fields.item[i];
	uint32_t at = field->offset, len = field->size;

	if (field->dynamic) {
		uint32_t where = (uint32_t)field_number(record, i);
		at = where & 0xffff;
		len = where >> 16;
	}
	if (at > record->size || len > record->size - at)
		return;
	len = len < 15 ? len : 15;
	memcpy(comm, record->data + at, len);
	comm[len] = '\0';
}

static void born(struct nw_tasks *tasks, const struct nw_record *record)
{
	struct nw_task parent = *nw_tasks_get(tasks, record->tid);
	int32_t tid = (int32_t)field_number(record, 0);
	bool thread = field_number(record, 2) & CLONE_THREAD, fresh;
	struct nw_task *task = tid ? entry(tasks, tid, &fresh) : NULL;

	if (!task)
		return;
	task->pid = thread ? parent.pid : tid;
	task->known = parent.known || !thread;
	task->traced = parent.traced &&
		       (thread || tasks->options.follow || !tasks->options.pid_count);
	tasks->unknown += !task->known;
	settle(tasks, task);
	field_comm(record, 1, task->comm);
}

/* Handles a new name. A thread may rename another one, as pthread_setname_np() does. */
static void renamed(struct nw_tasks *tasks, const struct nw_record *record)
{
	bool says_whom = record->format->fields.count > 1, fresh;
	int32_t tid = says_whom ? (int32_t)field_number(record, 1) : record->tid;

	nw_tasks_get(tasks, tid); /* makes its entry, with its process */
	struct nw_task *task = tid ? entry(tasks, tid, &fresh) : NULL;
	if (task)
		field_comm(record, 0, task->comm);
}

void nw_tasks_set(struct nw_tasks *tasks, int32_t tid, int32_t process, const char *comm,
		  size_t len)
{
	bool fresh,
		known = len && comm[0] != '<'; /* "<...>", or "<idle>", which has tid 0 */
	struct nw_task *task = tid ? entry(tasks, tid, &fresh) : NULL;

	if (!task)
		return;
	bool made = fresh && process &&
		    known;  /* without read_task(), which would count it */
	if (fresh && !made) /* the caller does not know everything */
		read_task(tasks, task);
	if (process) { /* a process that a wanted process may have forked */
		tasks->unknown -= !task->known && !made;
		task->pid = process;
		task->traced = is_wanted(tasks, process);
		task->known = true;
		settle(tasks, task);
	}
	if (!known)
		return;
	len = len < sizeof(task->comm) ? len : sizeof(task->comm) - 1;
	memcpy(task->comm, comm, len);
	task->comm[len] = '\0';
}

void nw_tasks_record(struct nw_tasks *tasks, const struct nw_record *record)
{
	switch (record->format->kind) {
	case NW_EVENT_NEWTASK:
		born(tasks, record);
		break;
	case NW_EVENT_RENAME:
		renamed(tasks, record);
		break;
	case NW_EVENT_EXIT:
		forget(tasks, record->tid);
		for (size_t i = 0; i < tasks->options.tid_count; i++)
			if (tasks->tids[i] == record->tid)
				tasks->tids[i] = 0;
		break;
	case NW_EVENT_EXEC:
		if (nw_record_exec(record) != record->tid)
			forget(tasks, nw_record_exec(record));
		break;
	default:
		break;
	}
}

struct nw_record nw_record_task(const struct nw_record *both)
{
	struct nw_record record = *both;

	record.kind = NW_RECORD_TASK;
	record.format = both->format->task;
	return record;
}

int32_t nw_record_exited(const struct nw_record *record)
{
	return record->kind == NW_RECORD_TASK && record->format->kind == NW_EVENT_EXIT
		       ? record->tid
		       : 0;
}

int32_t nw_record_exec(const struct nw_record *record)
{
	return record->kind == NW_RECORD_TASK && record->format->kind == NW_EVENT_EXEC
		       ? (int32_t)field_number(record, 0)
		       : 0;
}

int32_t nw_record_born(const struct nw_record *record)
{
	return record->kind == NW_RECORD_TASK && record->format->kind == NW_EVENT_NEWTASK
		       ? (int32_t)field_number(record, 0)
		       : 0;
}

uint64_t nw_record_clone_flags(const struct nw_record *record)
{
	return nw_record_born(record) ? field_number(record, 2) : 0;
}

bool nw_record_renamed(const struct nw_record *record)
{
	return record->kind == NW_RECORD_TASK && record->format->kind == NW_EVENT_RENAME;
}

int32_t nw_record_called(const struct nw_record *record, char comm[16])
{
	if (nw_record_born(record)) {
		field_comm(record, 1, comm);
		return nw_record_born(record);
	}
	if (!nw_record_renamed(record))
		return 0;
	field_comm(record, 0, comm);
	return record->format->fields.count > 1 ? (int32_t)field_number(record, 1)
						: record->tid;
}

/* ---- life --------------------------------------------------------------------------- */

int nw_tasks_open(const struct nw_tasks_options *options, struct nw_tasks **out)
{
	struct nw_tasks *tasks = calloc(1, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	tasks->options = *options;
	tasks->slots = 64;
	tasks->slot = calloc(tasks->slots, sizeof(*tasks->slot));
	tasks->pids = calloc(options->pid_count + 1, sizeof(*tasks->pids));
	tasks->tids = calloc(options->tid_count + 1, sizeof(*tasks->tids));
	if (!tasks->slot || !tasks->pids || !tasks->tids) {
		nw_tasks_free(tasks);
		return -ENOMEM;
	}
	if (options->pid_count) {
		memcpy(tasks->pids, options->pids, options->pid_count * sizeof(pid_t));
		qsort(tasks->pids, options->pid_count, sizeof(pid_t), by_number);
	}
	if (options->tid_count)
		memcpy(tasks->tids, options->tids, options->tid_count * sizeof(pid_t));
	*out = tasks;
	return 0;
}

void nw_tasks_free(struct nw_tasks *tasks)
{
	if (!tasks)
		return;
	free(tasks->slot);
	free(tasks->pids);
	free(tasks->tids);
	free(tasks);
}
