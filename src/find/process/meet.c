// SPDX-License-Identifier: MIT
/*
 * Who is there: the threads of processes and their names, asked for all at once. With as few system calls as there can
 * be, since a command has to wait for it before its first probe is armed: each takes microseconds, and most processes
 * have one thread, or are the kernel's.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"

struct meeting {
	int proc;
	nw_thread_met *met;
	void *arg;
	bool enough;
};

static void meet_thread(struct meeting *m, pid_t process, pid_t tid)
{
	char path[48], comm[64]; /* the kernel's own may have long ones */

	if (tid == process)
		snprintf(path, sizeof(path), "%d/comm", (int)tid);
	else /* below the process, or the number may be another's by now */
		snprintf(path, sizeof(path), "%d/task/%d/comm", (int)process, (int)tid);
	int fd = openat(m->proc, path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, comm, sizeof(comm)) : 0;
	if (fd >= 0)
		close(fd);
	if (len > 0) /* with a newline, which the kernel appends */
		m->enough = !m->met(m->arg, process, tid, comm, (size_t)len - 1);
}

static void meet_process(struct meeting *m, pid_t process)
{
	nw_pids threads = {0};
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "%d/task", (int)process);
	/* a directory has a link a directory in it, and two: proc_task_getattr() in fs/proc/base.c */
	if (fstatat(m->proc, path, &st, 0) == 0 && st.st_nlink == 3) {
		meet_thread(m, process, process);
		return;
	}
	int dir = openat(m->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0)
		nw_proc_numbers(dir, &threads);
	for (size_t i = 0; i < threads.count && !m->enough; i++)
		meet_thread(m, process, threads.item[i]);
	nw_vec_free(&threads);
}

static int by_number(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * The kernel's own threads are the children of kthreadd, which is number 2, and are told in one file (Linux 3.5, with
 * CONFIG_PROC_CHILDREN). Where there is none, all are taken for programs.
 */
static void find_kernel_threads(int proc, nw_pids *out)
{
	nw_proc_children(proc, "2/task/2/children", out);
	if (out->count)
		qsort(out->item, out->count, sizeof(*out->item), by_number);
}

static void meet_all(struct meeting *m, const nw_pids *but)
{
	int dir = openat(m->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	nw_pids all = {0};

	if (dir >= 0)
		nw_proc_numbers(dir, &all);
	for (size_t i = 0; i < all.count && !m->enough; i++)
		if (!but->count || !bsearch(&all.item[i], but->item, but->count,
					    sizeof(*but->item), by_number))
			meet_process(m, all.item[i]);
	nw_vec_free(&all);
}

void nw_pid_space_meet(const struct nw_pid_space *space, const nw_pids *processes,
		       bool kernel, nw_thread_met *met, void *arg)
{
	int proc = space->foreign ? space->host
				  : open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct meeting m = {.proc = proc, .met = met, .arg = arg};

	nw_pids but = {0};

	if (proc < 0)
		return;
	if (!processes->count && !kernel)
		find_kernel_threads(proc, &but);
	if (!processes->count)
		meet_all(&m, &but);
	for (size_t i = 0; i < processes->count && !m.enough; i++)
		meet_process(&m, processes->item[i]);
	nw_vec_free(&but);
	if (!space->foreign)
		close(proc);
}
