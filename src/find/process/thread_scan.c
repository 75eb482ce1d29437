// SPDX-License-Identifier: MIT
/*
 * Lists the threads of processes with their names. A command waits for this before it arms its first probe, and
 * each system call takes microseconds, so it makes as few calls as possible: most processes have one thread or
 * belong to the kernel.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"

struct scan {
	int proc;
	nw_thread_seen *seen;
	void *arg;
	bool enough;
};

static void report_thread(struct scan *scan, pid_t process, pid_t tid)
{
	char path[48], comm[64]; /* names of kernel threads may be long */

	if (tid == process)
		snprintf(path, sizeof(path), "%d/comm", (int)tid);
	else /* the path goes through the process, since the thread's number may be reused by now */
		snprintf(path, sizeof(path), "%d/task/%d/comm", (int)process, (int)tid);
	int fd = openat(scan->proc, path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, comm, sizeof(comm)) : 0;
	if (fd >= 0)
		close(fd);
	if (len > 0) /* the kernel appends a newline */
		scan->enough = !scan->seen(scan->arg, process, tid, comm, (size_t)len - 1);
}

static void scan_process(struct scan *scan, pid_t process)
{
	nw_pids threads = {0};
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "%d/task", (int)process);
	/* A directory has two links and one for each subdirectory (proc_task_getattr() in fs/proc/base.c), so 3
	 * links mean one thread. */
	if (fstatat(scan->proc, path, &st, 0) == 0 && st.st_nlink == 3) {
		report_thread(scan, process, process);
		return;
	}
	int dir = openat(scan->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0)
		nw_proc_numbers(dir, &threads);
	for (size_t i = 0; i < threads.count && !scan->enough; i++)
		report_thread(scan, process, threads.item[i]);
	nw_vec_free(&threads);
}

static int by_number(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Kernel threads are the children of kthreadd, process 2, and one file lists them (Linux 3.5, with
 * CONFIG_PROC_CHILDREN). On a kernel without this file all processes are taken for programs.
 */
static void find_kernel_threads(int proc, nw_pids *out)
{
	nw_proc_children(proc, "2/task/2/children", out);
	if (out->count)
		qsort(out->item, out->count, sizeof(*out->item), by_number);
}

static void scan_all(struct scan *scan, const nw_pids *but)
{
	int dir = openat(scan->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	nw_pids all = {0};

	if (dir >= 0)
		nw_proc_numbers(dir, &all);
	for (size_t i = 0; i < all.count && !scan->enough; i++)
		if (!but->count || !bsearch(&all.item[i], but->item, but->count,
					    sizeof(*but->item), by_number))
			scan_process(scan, all.item[i]);
	nw_vec_free(&all);
}

void nw_pid_space_scan_threads(const struct nw_pid_space *space, const nw_pids *processes,
			       bool kernel, nw_thread_seen *seen, void *arg)
{
	int proc = space->foreign ? space->host
				  : open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct scan scan = {.proc = proc, .seen = seen, .arg = arg};

	nw_pids but = {0};

	if (proc < 0)
		return;
	if (!processes->count && !kernel)
		find_kernel_threads(proc, &but);
	if (!processes->count)
		scan_all(&scan, &but);
	for (size_t i = 0; i < processes->count && !scan.enough; i++)
		scan_process(&scan, processes->item[i]);
	nw_vec_free(&but);
	if (!space->foreign)
		close(proc);
}
