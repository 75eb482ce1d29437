/* SPDX-License-Identifier: MIT */
/* stream: the process and the name of each thread. */
#ifndef NOPWATCH_TASKS_H
#define NOPWATCH_TASKS_H

#include "nopwatch/record.h"

/*
 * What the threads of the stream are: which process, which name, and whether they are wanted.
 * Births, new names and deaths come from the stream itself; a thread that is older than it is
 * looked up once.
 */
struct nw_tasks;
struct nw_task {
	int32_t tid, pid;
	char comm[16];
	bool wanted;
};
struct nw_tasks_options {
	const pid_t *pids; /* wanted processes; none: all */
	size_t pid_count;
	bool follow; /* and all their descendants */
	/* Others are recorded, too: who is gone before it could be looked up is one of them. */
	bool strangers;
	/* What a thread older than the stream is; -errno: unknown. NULL: nobody knows. */
	int (*look_up)(void *arg, pid_t tid, pid_t *process, char comm[16]);
	void *look_up_arg;
};
int nw_tasks_open(const struct nw_tasks_options *options,
		  struct nw_tasks **out); /* -ENOMEM */
/* Take a record of kind TASK: what it says of a thread holds from here on. */
void nw_tasks_record(struct nw_tasks *tasks, const struct nw_record *record);
/* What a record of kind BOTH tells of a thread, as one of kind TASK. */
struct nw_record nw_record_task(const struct nw_record *both);
/* Never NULL: an unknown thread is its own process and called "?". */
const struct nw_task *nw_tasks_get(struct nw_tasks *tasks, int32_t tid);
void nw_tasks_free(struct nw_tasks *tasks);
/* What else is known of a thread: its process (0: unknown), which says whether it is wanted, and
 * its name. */
void nw_tasks_set(struct nw_tasks *tasks, int32_t tid, int32_t process, const char *comm,
		  size_t len);
/* The thread that died with this record (kind TASK); 0: none did. */
int32_t nw_record_exited(const struct nw_record *record);
/* The number that the thread had which begins another program with this record (kind TASK), and has that of its process
 * from now on; 0: none does. */
int32_t nw_record_exec(const struct nw_record *record);
/* The thread that was born with this record (kind TASK); 0: none was. */
int32_t nw_record_born(const struct nw_record *record);
/* Has its thread (kind TASK) got another name, as it does when it begins another program? */
bool nw_record_renamed(const struct nw_record *record);
/* A thread that is born with this record (kind TASK), or gets another name, and its name from then on; 0: neither. */
int32_t nw_record_called(const struct nw_record *record, char comm[16]);

#endif
