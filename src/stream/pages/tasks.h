/* SPDX-License-Identifier: MIT */
/* stream: the process and the name of each thread. */
#ifndef NOPWATCH_STREAM_PAGES_TASKS_H
#define NOPWATCH_STREAM_PAGES_TASKS_H

#include "stream/pages/record.h"

/*
 * The threads of the stream: their processes, their names, and whether they are wanted. The stream itself reports
 * births, new names and deaths; a thread that is older than the stream is looked up once.
 */
struct nw_tasks;
struct nw_task {
	int32_t tid, pid;
	char comm[16];
	bool wanted; /* `traced`, and the main thread if only main threads are wanted */
	bool traced; /* its process is wanted */
	bool known;  /* its process is known; else pid is tid */
};
struct nw_tasks_options {
	const pid_t *pids; /* wanted processes; none: all processes */
	size_t pid_count;
	const pid_t *tids; /* of these only these threads are wanted; none: all threads */
	size_t tid_count;
	bool follow; /* descendants of these processes are wanted, too */
	/* Other threads are recorded as well: a thread that exits before it can be looked up is not wanted. */
	bool untraced_recorded;
	bool main_only; /* of each process only the main thread is wanted: the one that has its number */
	/* Looks up the process and the name of a thread that is older than the stream; returns -errno if it is
	 * unknown. NULL: threads cannot be looked up. */
	int (*look_up)(void *arg, pid_t tid, pid_t *process, char comm[16]);
	void *look_up_arg;
};
int nw_tasks_open(const struct nw_tasks_options *options,
		  struct nw_tasks **out); /* -ENOMEM */
/* Takes a record of kind TASK: it applies to its thread from now on. */
void nw_tasks_record(struct nw_tasks *tasks, const struct nw_record *record);
/* Converts a record of kind BOTH to one of kind TASK. */
struct nw_record nw_record_task(const struct nw_record *both);
/* Never returns NULL: an unknown thread is its own process and has the name "?". */
const struct nw_task *nw_tasks_get(struct nw_tasks *tasks, int32_t tid);
void nw_tasks_free(struct nw_tasks *tasks);
/* Returns how many threads had an unknown process. */
size_t nw_tasks_unknown(const struct nw_tasks *tasks);
/* Sets the process of a thread (0: unknown), which decides whether it is wanted, and its name. */
void nw_tasks_set(struct nw_tasks *tasks, int32_t tid, int32_t process, const char *comm,
		  size_t len);
/* Returns the thread that died with this record (kind TASK); 0: none. */
int32_t nw_record_exited(const struct nw_record *record);
/* If a thread executes another program with this record (kind TASK), returns its former number; from now on it has
 * the number of its process. 0: no exec. */
int32_t nw_record_exec(const struct nw_record *record);
/* Returns the thread that was born with this record (kind TASK); 0: none. */
int32_t nw_record_born(const struct nw_record *record);
/* Returns the flags of clone() of such a record; 0: no thread was born. */
uint64_t nw_record_clone_flags(const struct nw_record *record);
/* Did the thread of this record (kind TASK) change its name, as it does by an exec? */
bool nw_record_renamed(const struct nw_record *record);
/* If a thread is born or changes its name with this record (kind TASK), returns the thread and its name; 0: neither. */
int32_t nw_record_called(const struct nw_record *record, char comm[16]);

#endif
