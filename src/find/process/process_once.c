// SPDX-License-Identifier: MIT
/*
 * A process, looked at once: its memory and its mappings, of one program.
 *
 * What the kernel ties together, and since when (fs/proc/base.c, fs/proc/task_mmu.c):
 *  - an open /proc/PID is the process: once that is gone, all below it is ESRCH, also when the number
 *    has been given away;
 *  - an open mem is the address space that the process had when it was opened (2.6.39, so on all
 *    kernels with uprobe_events). After an exec it does not follow: what is written goes to the old
 *    one, or, if nobody is left in that, nowhere;
 *  - an open maps is the address space of the open only since 3.18 (29a40ace841c). Before, each
 *    read() looks again which one the process has by then.
 * So memory is opened first. maps, read after it, may belong to a later program, and its addresses
 * would be written to in the earlier one: a child that posix_spawn() has made of a program with more
 * rights runs in that program's memory until it starts another. That memory is alive, so reading it
 * proves nothing.
 *
 * An address space never comes back to a process that has left it. So if the process is still in
 * the one that memory means once maps has been read, it was there all the time. That is
 * shown by what the kernel makes up at each exec: the 16 random bytes that AT_RANDOM in the
 * auxiliary vector points to (all kernels with uprobes), read in the memory that is
 * open and in one that is opened after maps. Where they are is taken from the vector as it was
 * before memory was opened and must be the same after: a program can say anything of itself
 * (PR_SET_MM_MAP), but not what the other's random bytes are, nor where.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"

enum {
	MOST_TRIES = 8,	       /* of a process that starts one program after the other */
	AUXV_RANDOM = 25,      /* AT_RANDOM of <linux/auxvec.h> */
	MOST_AUXV = 2 * 64 * 8 /* bytes; the kernel has some 25 pairs */
};

/* What is different in every program that is started. */
struct program {
	dev_t dev; /* of its file */
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

/* A word of the vector: of a 32-bit program's on a 64-bit kernel, words have 4 bytes. */
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

/* Where its random bytes are; 0: it does not say, or is being started right now. */
static uint64_t random_at(const struct program *program)
{
	/* types are small numbers: two words that are read as one make a large one */
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

/* Is the process in the address space that `memory` means? 0, -EAGAIN: in another one,
 * -ENODATA: it cannot be told. */
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
	return known ? 0 : -ENODATA;
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
	/* where mappings may be read and memory not, there is nothing that could be mixed up */
	if (ret < 0 && (use == NW_PROCESS_WRITE || ret == -ESRCH || ret == -ENOENT))
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
	/* no data: mostly a program that the kernel has not finished starting */
	for (int i = 0; i < MOST_TRIES && (ret == -EAGAIN || ret == -ENODATA); i++) {
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
