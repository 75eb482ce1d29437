// SPDX-License-Identifier: MIT
/*
 * Translates process numbers between PID namespaces. ftrace knows only the numbers of the first PID namespace
 * (struct task_struct.pid), both in set_event_pid and in records. A container's /proc shows other numbers, and a
 * process of the host may have the number that a container means.
 *
 * The first namespace is recognised by its inode, which is always PROC_PID_INIT_INO of include/linux/proc_ns.h
 * (3.8), or by the kernel's own threads, which only its /proc shows: kthreadd is process 2. Process 1 would tell as
 * well, but root in a container may not inspect it. The NSpid line in a process's status (4.1) lists its numbers,
 * from the namespace of the /proc that is read down to its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"

#define FIRST_NAMESPACE 0xEFFFFFFCu

/* The kernel allows 32 nested namespaces. */
enum {
	MOST_LEVELS = 40
};

/* Returns the inode of a process's PID namespace; 0: it cannot be read, and errno says why. */
static ino_t namespace_of(int proc, const char *process)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/ns/pid", process);
	return fstatat(proc, path, &st, 0) < 0 ? 0 : st.st_ino;
}

/* Reads the numbers of a process, the outermost first. Returns how many there are; 0: unknown. */
static size_t read_numbers(int proc, const char *process, pid_t *out, size_t most)
{
	struct nw_buf text = {0};
	size_t count = 0;
	char path[64];

	snprintf(path, sizeof(path), "%s/status", process);
	int ret = nw_buf_read_file(&text, proc, path);
	const char *line = ret == 0 ? strstr(nw_buf_str(&text), "\nNSpid:") : NULL;
	for (const char *at = line ? line + 7 : NULL; at && count < most;) {
		char *end;
		at += strspn(at, "\t ");
		long number = strtol(at, &end, 10);
		if (end == at || *at == '\n')
			break;
		out[count++] = (pid_t)number;
		at = end;
	}
	nw_buf_free(&text);
	return count;
}

pid_t nw_proc_own_number(const char *proc, pid_t pid)
{
	pid_t numbers[MOST_LEVELS];
	char process[48];

	snprintf(process, sizeof(process), "%s/%d", proc, (int)pid);
	size_t count = read_numbers(AT_FDCWD, process, numbers, MOST_LEVELS);
	return count ? numbers[count - 1] : pid;
}

static int open_proc(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* ---- whose numbers /proc has -------------------------------------------------------- */

bool nw_proc_is_ours(void)
{
	char number[16];
	ssize_t len = readlink("/proc/self", number, sizeof(number) - 1);

	number[len > 0 ? len : 0] = '\0';
	return len <= 0 || strtol(number, NULL, 10) == getpid();
}

static bool has_kernel_threads(int proc)
{
	struct nw_process_stat stat = {0};
	struct nw_buf text = {0};
	bool found = nw_buf_read_file(&text, proc, "2/stat") == 0 &&
		     nw_proc_stat(nw_buf_str(&text), &stat) == 0 && stat.kernel;

	nw_buf_free(&text);
	return found;
}

/* Does this /proc show the kernel's own numbers? */
static bool has_kernels_numbers(int proc)
{
	ino_t own = namespace_of(proc, "self");

	/* A kernel without namespaces has only one kind of numbers. */
	if (own == FIRST_NAMESPACE || (!own && errno == ENOENT && nw_proc_is_ours()))
		return true;
	return has_kernel_threads(proc);
}

/* Looks for the host's /proc, which may be mounted into a container (docker run -v /proc:/host/proc). */
static int find_hosts_proc(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;
	int found = -1;

	while (mounts && found < 0 && (mount = getmntent(mounts))) {
		if (strcmp(mount->mnt_type, "proc") != 0)
			continue;
		int proc = open_proc(mount->mnt_dir);
		if (proc >= 0 && has_kernel_threads(proc))
			found = proc;
		else if (proc >= 0)
			close(proc);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

void nw_pid_space_open(struct nw_pid_space *out)
{
	pid_t here[MOST_LEVELS], there[MOST_LEVELS];
	int proc = open_proc("/proc");

	*out = (struct nw_pid_space){.host = -1};
	if (proc < 0)
		return;
	out->foreign = !has_kernels_numbers(proc);
	if (out->foreign)
		out->host = find_hosts_proc();
	if (out->host >= 0) {
		size_t outer = read_numbers(out->host, "self", there, MOST_LEVELS);
		size_t inner = read_numbers(proc, "self", here, MOST_LEVELS);
		if (inner && inner <= outer) {
			out->level = (unsigned int)(outer - inner);
		} else { /* kernels before 4.1 have no NSpid */
			close(out->host);
			out->host = -1;
		}
	}
	close(proc);
}

void nw_pid_space_close(struct nw_pid_space *space)
{
	if (space->foreign && space->host >= 0)
		close(space->host);
	*space = (struct nw_pid_space){.host = -1};
}

/* ---- translation -------------------------------------------------------------------- */

static int list_numbers(int dir, const char *path, nw_pids *out)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : nw_proc_numbers(fd, out);
}

int nw_pid_space_check(const struct nw_pid_space *space, const char *what,
		       struct nw_error *err)
{
	if (!space->foreign || space->host >= 0)
		return 0;
	nw_fail(err, ENOTSUP,
		"%s: the kernel has other numbers for processes than this PID namespace, from inside which it cannot be told which is which",
		what);
	nw_error_hint(
		err,
		"run nopwatch on the host, or mount the host's /proc here (docker run -v /proc:/host/proc:ro, or --pid=host)");
	return -ENOTSUP;
}

static int unknown(struct nw_error *err, pid_t pid)
{
	nw_fail(err, ENOTSUP,
		"the kernel has another number for process %d, which cannot be told from inside this PID namespace",
		(int)pid);
	nw_error_hint(
		err,
		"run nopwatch on the host, mount the host's /proc here (docker run -v /proc:/host/proc:ro, or --pid=host), or measure every process (no -p, and -a with CMD)");
	return -ENOTSUP;
}

int nw_pid_space_kernel(const struct nw_pid_space *space, pid_t pid, pid_t *out,
			struct nw_error *err)
{
	pid_t numbers[MOST_LEVELS];
	nw_pids all = {0};
	char name[32];
	int found = 0;

	*out = pid;
	if (!space->foreign)
		return 0;
	if (space->host < 0)
		return unknown(err, pid);
	snprintf(name, sizeof(name), "/proc/%d", (int)pid);
	ino_t own = namespace_of(AT_FDCWD, name);
	if (!own)
		return errno == ENOENT
			       ? nw_fail(err, ESRCH, "there is no process %d", (int)pid)
			       : unknown(err, pid);
	list_numbers(space->host, ".", &all);
	nw_vec_each (&all, candidate) {
		/* A process of another container may have the same number. */
		snprintf(name, sizeof(name), "%d", (int)*candidate);
		if (read_numbers(space->host, name, numbers, MOST_LEVELS) > space->level &&
		    numbers[space->level] == pid &&
		    namespace_of(space->host, name) == own) {
			*out = *candidate;
			found++;
		}
	}
	nw_vec_free(&all);
	return found == 1 ? 0 : unknown(err, pid);
}

int nw_pid_space_threads(const struct nw_pid_space *space, pid_t process, nw_pids *out,
			 struct nw_error *err)
{
	char path[32];

	if (!space || !space->foreign)
		return nw_process_threads(process, out, err);
	snprintf(path, sizeof(path), "%d/task", (int)process);
	int ret = list_numbers(space->host, path, out);
	return ret < 0 ? nw_fail(err, ret == -ENOENT ? ESRCH : -ret,
				 "cannot list the threads of process %d: %s", (int)process,
				 nw_strerror(-ret))
		       : 0;
}

int nw_pid_space_task(const struct nw_pid_space *space, pid_t tid, pid_t *process,
		      char comm[16])
{
	char name[16];

	if (!space->foreign)
		return nw_process_task(tid, process, comm);
	/* The kernel's number may belong to another process in our own /proc. */
	if (space->host < 0)
		return -ESRCH;
	snprintf(name, sizeof(name), "%d", (int)tid);
	return nw_proc_task(space->host, name, process, comm);
}

int nw_pid_space_kernel_thread(const struct nw_pid_space *space, pid_t process, pid_t tid,
			       pid_t *out, struct nw_error *err)
{
	pid_t numbers[MOST_LEVELS];
	nw_pids threads = {0};
	char name[32];
	bool found = false;

	*out = tid;
	if (!space->foreign)
		return 0;
	int ret = nw_pid_space_threads(space, process, &threads, err);
	nw_vec_each (&threads, thread) {
		snprintf(name, sizeof(name), "%d", (int)*thread);
		if (read_numbers(space->host, name, numbers, MOST_LEVELS) > space->level &&
		    numbers[space->level] == tid) {
			*out = *thread;
			found = true;
		}
	}
	nw_vec_free(&threads);
	if (ret < 0)
		return ret;
	return found ? 0 : nw_fail(err, ESRCH, "there is no thread %d", (int)tid);
}

uint64_t nw_pid_space_last_born(const struct nw_pid_space *space)
{
	struct nw_buf text = {0};
	uint64_t number = 0;

	if (!(space && space->foreign) &&
	    nw_buf_read_file(&text, AT_FDCWD, "/proc/loadavg") == 0) {
		const char *last = strrchr(nw_buf_str(&text), ' ');
		number = last ? strtoull(last, NULL, 10) : 0;
	}
	nw_buf_free(&text);
	return number;
}

/* Translates a number that fork() returned into the number in /proc, which may be an outer namespace's. */
pid_t nw_pid_shown(pid_t pid)
{
	pid_t numbers[MOST_LEVELS];
	nw_pids all = {0};
	char name[16];
	pid_t found = pid;
	int proc = nw_proc_is_ours() ? -1 : open_proc("/proc");

	if (proc < 0)
		return pid;
	size_t depth = read_numbers(proc, "self", numbers, MOST_LEVELS);
	ino_t own = namespace_of(proc, "self");
	list_numbers(proc, ".", &all);
	nw_vec_each (&all, candidate) {
		snprintf(name, sizeof(name), "%d", (int)*candidate);
		if (read_numbers(proc, name, numbers, MOST_LEVELS) == depth && depth &&
		    numbers[depth - 1] == pid && namespace_of(proc, name) == own)
			found = *candidate;
	}
	nw_vec_free(&all);
	close(proc);
	return found;
}
