// SPDX-License-Identifier: MIT
/*
 * Opens the memory and the mappings of a process so that both belong to the same program.
 *
 * The kernel ties files of /proc to a process or a program as follows (fs/proc/base.c, fs/proc/task_mmu.c):
 * - An open /proc/PID is the process. Once the process is gone, all files below it return ESRCH,
 *    even if the number is reused.
 * - An open mem is the address space that the process had at open() (2.6.39, so all kernels with
 *    uprobe_events). It does not follow an exec: a write goes to the old address space, or nowhere
 *    if no process uses that any more.
 * - An open maps is the address space at open() only since 3.18 (29a40ace841c). Before, each read()
 *    uses the process's current one.
 * So memory is opened first. maps, read after it, may belong to a later program, and its addresses would then be
 * applied to the earlier program. For example, a program with more rights may
 * call posix_spawn(): its child runs in its memory until the child starts a program. That memory is alive, so a successful read proves nothing.
 *
 * A process never returns to an address space that it has left. So if the process is still in the address space of
 * the open memory after maps was read, it was there all the time. This is proved by random bytes: at each exec the
 * kernel creates 16 of them, and AT_RANDOM in the auxiliary vector holds their address (all kernels with uprobes).
 * They are read in the memory that is open and in memory that is opened after maps. Their address comes from the
 * auxiliary vector, which must be the same before memory was opened and afterwards: a program can change its own
 * vector (PR_SET_MM_MAP), but cannot know the other program's random bytes or their address.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"

enum {
	MOST_TRIES = 8,	       /* for a process that starts one program after the other */
	AUXV_RANDOM = 25,      /* AT_RANDOM of <linux/auxvec.h> */
	MOST_AUXV = 2 * 64 * 8 /* bytes; the kernel has some 25 pairs */
};

/* Properties that differ between any two programs that are started. */
struct program {
	dev_t dev; /* of the program's file */
	ino_t ino;
	size_t auxv_len;
	unsigned char auxv[MOST_AUXV];
};

static int read_program(int dir, struct program *out)
{
	struct stat exe;

	memset(out, 0, sizeof(*out));
	if (fstatat(dir, "exe", &exe, 0) == 0) {
		out->dev = exe.st_dev;
		out->ino = exe.st_ino;
	}
	int fd = openat(dir, "auxv", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ssize_t len = read(fd, out->auxv, sizeof(out->auxv));
	int ret = len < 0 ? -errno : 0;
	close(fd);
	out->auxv_len = len < 0 ? 0 : (size_t)len;
	return ret;
}

static bool same_program(const struct program *a, const struct program *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->auxv_len == b->auxv_len &&
	       memcmp(a->auxv, b->auxv, a->auxv_len) == 0;
}

/* Returns a word of the auxiliary vector. A 32-bit program on a 64-bit kernel has words of 4 bytes. */
static uint64_t auxv_word(const struct program *program, size_t index, size_t size)
{
	uint64_t wide = 0;
	uint32_t narrow;

	if ((index + 1) * size > program->auxv_len)
		return 0;
	if (size == sizeof(wide)) {
		memcpy(&wide, program->auxv + index * size, size);
		return wide;
	}
	memcpy(&narrow, program->auxv + index * size, size);
	return narrow;
}

/* Returns the address of the random bytes; 0: the vector does not have it, or the program is being started. */
static uint64_t random_at(const struct program *program)
{
	/* Types are small numbers, so two words of 4 bytes that are read as one yield a large number. */
	bool narrow = sizeof(long) < 8 || auxv_word(program, 0, 8) > UINT32_MAX;
	size_t size = narrow ? 4 : 8;

	for (size_t i = 0; i + 1 < program->auxv_len / size; i += 2)
		if (auxv_word(program, i, size) == AUXV_RANDOM)
			return auxv_word(program, i + 1, size);
	return 0;
}

static bool read_random(int memory, uint64_t at, unsigned char bytes[16])
{
	return at && pread(memory, bytes, 16, (off_t)at) == 16;
}

/* Is the kernel still starting the program? It empties the vector with the new address space, maps the program's
 * file, and fills the vector last (fs/binfmt_elf.c, create_elf_tables). */
static bool is_starting(const struct program *program)
{
	return program->auxv_len >= sizeof(long) &&
	       auxv_word(program, 0, sizeof(long)) == 0;
}

/* Is the process still in the address space of `memory`? Returns 0; -EAGAIN: it is in another one; -EINPROGRESS: the
 * kernel is still starting its program; -ENODATA: unknown. */
static int is_still_in(int dir, int memory, const struct program *before)
{
	unsigned char meant[16], current[16];
	struct program after;
	uint64_t at = random_at(before);
	int now = openat(dir, "mem", O_RDONLY | O_CLOEXEC);

	if (now < 0)
		return -errno;
	bool known = read_random(memory, at, meant), there = read_random(now, at, current);
	int ret = read_program(dir, &after);
	close(now);
	if (ret < 0)
		return ret;
	if (known != there || !same_program(before, &after) ||
	    (known && memcmp(meant, current, sizeof(meant)) != 0))
		return -EAGAIN;
	return known ? 0 : is_starting(&after) ? -EINPROGRESS : -ENODATA;
}

static int read_stat(int dir, struct nw_process_stat *out)
{
	struct nw_buf text = {0};
	int ret = nw_buf_read_file(&text, dir, "stat");

	if (ret == 0)
		ret = nw_proc_stat(nw_buf_str(&text), out);
	nw_buf_free(&text);
	return ret;
}

static int read_maps(int dir, nw_mappings *out)
{
	struct nw_buf text = {0};
	int ret = nw_buf_read_file(&text, dir, "maps");

	if (ret == 0)
		ret = nw_proc_maps(text.data, out);
	nw_buf_free(&text);
	return ret;
}

static int open_once(struct nw_process *process, enum nw_process_use use)
{
	int mode = use == NW_PROCESS_WRITE ? O_RDWR : O_RDONLY;
	struct program before;
	int shown = read_program(process->dir, &before);

	process->memory = openat(process->dir, "mem", mode | O_CLOEXEC);
	int ret = process->memory < 0 ? -errno : 0;
	/* If the memory cannot be read, nothing is read or written by the addresses in maps, so they need no proof. */
	if (ret < 0 && (use == NW_PROCESS_WRITE || ret == -ESRCH || ret == -ENOENT ||
			nw_is_shortage(-ret)))
		return ret;
	ret = read_maps(process->dir, &process->maps);
	if (ret == 0)
		ret = read_stat(process->dir, &process->stat);
	if (ret < 0 || process->memory < 0)
		return ret;
	if (shown == 0)
		shown = is_still_in(process->dir, process->memory, &before);
	return shown == -EAGAIN || use == NW_PROCESS_WRITE ? shown : 0;
}

int nw_process_open(pid_t pid, enum nw_process_use use, struct nw_process *out)
{
	struct nw_process process = {.pid = pid, .memory = -1};
	char path[32];
	int ret = -EAGAIN;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	process.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (process.dir < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	for (int i = 0; i < MOST_TRIES && (ret == -EAGAIN || ret == -EINPROGRESS); i++) {
		nw_mappings_free(&process.maps);
		if (process.memory >= 0)
			close(process.memory);
		process.memory = -1;
		ret = open_once(&process, use);
	}
	if (ret < 0) {
		nw_process_close(&process);
		return ret == -ENOENT ? -ESRCH : ret;
	}
	*out = process;
	return 0;
}

void nw_process_close(struct nw_process *process)
{
	nw_mappings_free(&process->maps);
	if (process->memory >= 0)
		close(process->memory);
	if (process->dir >= 0)
		close(process->dir);
	*process = (struct nw_process){.dir = -1, .memory = -1};
}

/* ---- variables ---------------------------------------------------------------------- */

uint64_t nw_process_variable(const struct nw_process *process,
			     const struct nw_file_id *file, uint64_t offset)
{
	nw_vec_each (&process->maps, mapping)
		if (mapping->write && !mapping->shared && offset >= mapping->offset &&
		    offset - mapping->offset < mapping->end - mapping->start &&
		    nw_mapping_is_of(process->dir, mapping, file))
			return mapping->start + (offset - mapping->offset);
	return 0;
}
