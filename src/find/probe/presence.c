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

bool nw_point_take_call(struct nw_point *point)
{
	enum {
		PAGE = 4096
	};
	const uint64_t at = point->offset + NW_CALL_DISTANCE;

	if (point->nop != NW_NOP_PAIR || point->is_return || !point->site ||
	    PAGE - at % PAGE < NW_CALL_LENGTH)
		return false;
	point->offset += NW_CALL_DISTANCE;
	point->vaddr += NW_CALL_DISTANCE;
	point->nop = NW_NOP_10;
	point->is_call = true;
	return true;
}

bool nw_site_is_at(const struct nw_site *site, uint64_t offset)
{
	return site->offset == offset ||
	       (site->nop == NW_NOP_PAIR && site->offset + NW_CALL_DISTANCE == offset);
}

static void count_form(const struct nw_point *point, const unsigned char *code, size_t len,
		       struct nw_presence *out)
{
	out->armed++;
	if (nw_arch_is_optimised(point->image->machine, code, len))
		out->forms.optimised++;
	else if (point->nop == NW_NOP_1 || point->nop == NW_NOP_PAIR)
		out->forms.emulated++;
	else
		out->forms.trapped++;
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
			count_form(point, code, (size_t)got, out);
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

/* ---- how it is armed ---------------------------------------------------------------- */

void nw_armed_forms_add(struct nw_armed_forms *sum, const struct nw_armed_forms *one)
{
	sum->trapped += one->trapped;
	sum->emulated += one->emulated;
	sum->optimised += one->optimised;
}

void nw_armed_forms_text(const struct nw_armed_forms *forms, struct nw_buf *out)
{
	const struct {
		unsigned int count;
		const char *name;
	} all[] = {{forms->optimised, "optimised"},
		   {forms->emulated, "emulated"},
		   {forms->trapped, "trapped"}};
	const char *before = "";

	for (size_t i = 0; i < NW_COUNT(all); i++) {
		if (!all[i].count)
			continue;
		nw_buf_printf(out, "%s%u %s", before, all[i].count, all[i].name);
		before = ", ";
	}
}

int nw_image_find_armed(struct nw_image *image, const pid_t *pids, size_t pid_count,
			struct nw_error *err)
{
	enum {
		NOPS = 2 /* of a site: two probes may be at its two nops */
	};
	const size_t count = image->sites.count;
	nw_cleanup(nw_free_ptr) struct nw_point *points = calloc(count * NOPS + 1,
								 sizeof(*points));
	nw_cleanup(nw_free_ptr)
		const struct nw_point **list = calloc(count * NOPS + 1, sizeof(*list));
	nw_cleanup(nw_free_ptr) struct nw_presence *seen = calloc(count * NOPS + 1,
								  sizeof(*seen));
	size_t used = 0;

	if (!points || !list || !seen)
		return nw_no_memory(err);
	for (size_t i = 0; i < count * NOPS; i++) {
		const struct nw_site *site = &image->sites.item[i / NOPS];
		points[used] = (struct nw_point){.image = image,
						 .site = site,
						 .offset = site->offset,
						 .vaddr = site->vaddr,
						 .nop = site->nop};
		if (i % NOPS == 0 || nw_point_take_call(&points[used])) {
			list[used] = &points[used];
			used++;
		}
	}
	int ret = nw_points_presence(list, used, pids, pid_count, seen, err);
	for (size_t i = 0; ret == 0 && i < used; i++)
		nw_armed_forms_add(
			&image->sites.item[points[i].site - image->sites.item].armed,
			&seen[i].forms);
	return ret;
}
