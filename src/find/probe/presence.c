// SPDX-License-Identifier: MIT
/*
 * Checks whether a place is armed. Enabling an event succeeds if no process maps the file, and the kernel does not
 * report errors of later mappings, so the only proof is the byte in the process's memory. nw_mapping_is_of() decides
 * which mapping belongs to the file.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "find/probe/probe.h"

static bool is_armed(const struct nw_point *point, const unsigned char *code, size_t len)
{
	int known = nw_arch_is_armed(point->image->machine, code, len);
	unsigned char file[16];

	if (known >= 0)
		return known;
	ssize_t got = pread(point->image->fd, file, len < 4 ? len : 4,
			    (off_t)point->offset);
	return got > 0 && memcmp(file, code, (size_t)got) != 0;
}

/* Checks the semaphore, which is in another mapping than the code. */
static void check_semaphore(const struct nw_process *process, const struct nw_point *point,
			    struct nw_presence *out)
{
	const struct nw_file_id file = nw_image_file_id(point->image);
	uint64_t at = nw_process_variable(process, &file, point->semaphore_offset);
	uint16_t value;

	if (at &&
	    pread(process->memory, &value, sizeof(value), (off_t)at) ==
		    (ssize_t)sizeof(value) &&
	    value == 0) {
		out->closed++;
		out->closed_pid = process->pid;
	}
}

static void check_point(const struct nw_process *process, const struct nw_point *point,
			struct nw_presence *out)
{
	const struct nw_file_id file = nw_image_file_id(point->image);
	int memory = process->memory;
	unsigned char code[16];

	nw_vec_each (&process->maps, mapping) {
		bool covers = point->offset >= mapping->offset &&
			      point->offset - mapping->offset <
				      mapping->end - mapping->start;
		if (!mapping->exec || !covers ||
		    !nw_mapping_is_of(process->dir, mapping, &file))
			continue;
		uint64_t at = mapping->start + (point->offset - mapping->offset);
		ssize_t got = memory >= 0 ? pread(memory, code, sizeof(code), (off_t)at)
					  : -1;
		out->mapped++;
		if (got <= 0) {
			out->unreadable++;
			out->unreadable_code = memory < 0 ? EACCES
					       : got < 0  ? errno
							  : ESRCH;
		} else if (is_armed(point, code, (size_t)got)) {
			out->armed++;
		} else {
			out->unarmed_pid = process->pid;
		}
		if (memory >= 0 && point->semaphore_offset)
			check_semaphore(process, point, out);
		return;
	}
}

static bool maps_any(const nw_mappings *maps, const struct nw_point *const *points,
		     size_t count)
{
	nw_vec_each (maps, mapping)
		for (size_t i = 0; i < count; i++)
			if (mapping->exec && mapping->ino == points[i]->image->ino)
				return true;
	return false;
}

/* Returns an error only if memory or descriptors are short: any other means that the process is gone. */
static int check_process(pid_t pid, const struct nw_point *const *points, size_t count,
			 struct nw_presence *out)
{
	struct nw_process process;
	nw_mappings maps = {0};
	int ret = nw_process_maps(pid, &maps, NULL);
	/* Most processes map none of the files, and need no closer look. */
	bool may = ret == 0 && maps_any(&maps, points, count);

	nw_mappings_free(&maps);
	if (may)
		ret = nw_process_open(pid, NW_PROCESS_READ, &process);
	if (ret < 0)
		return nw_is_shortage(-ret) ? ret : 0;
	for (size_t i = 0; may && i < count; i++)
		check_point(&process, points[i], &out[i]);
	if (may)
		nw_process_close(&process);
	return 0;
}

int nw_points_presence(const struct nw_point *const *points, size_t count,
		       const pid_t *pids, size_t pid_count, struct nw_presence *out,
		       struct nw_error *err)
{
	nw_pids all = {0};
	int ret = 0;

	if (count)
		memset(out, 0, count * sizeof(*out));
	if (!pids) {
		ret = nw_process_all(&all, err);
		pids = all.item;
		pid_count = all.count;
	}
	for (size_t i = 0; ret == 0 && i < pid_count; i++) {
		ret = check_process(pids[i], points, count, out);
		if (ret < 0)
			nw_fail(err, -ret, "cannot look at process %d: %s", (int)pids[i],
				nw_strerror(-ret));
	}
	nw_vec_free(&all);
	return ret;
}
