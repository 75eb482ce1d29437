// SPDX-License-Identifier: MIT
/* See page_history.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "page_history.h"
#include "run/consumers/recorder.h"

static int open_file(const struct nw_page_history *pages)
{
#ifdef SYS_memfd_create
	enum {
		CLOSE_ON_EXEC = 1 /* MFD_CLOEXEC, which older headers do not have */
	};
	int fd = (int)syscall(SYS_memfd_create, "nopwatch", CLOSE_ON_EXEC);

	if (fd >= 0)
		return fd;
#endif
	return nw_nameless_file(pages->path);
}

static struct nw_history_cpu *find_cpu(struct nw_page_history *pages, uint32_t cpu)
{
	while (pages->cpus.count <= cpu) {
		struct nw_history_cpu *fresh = nw_vec_add(&pages->cpus);
		if (!fresh)
			return NULL;
		fresh->fd = -1;
	}
	return &pages->cpus.item[cpu];
}

static int write_page(const struct nw_page_history *pages, struct nw_history_cpu *cpu,
		      const unsigned char *bytes, size_t len)
{
	struct nw_page page;
	uint64_t *time = nw_vec_add(&cpu->times);

	if (!time)
		return -ENOMEM;
	/* a damaged page is kept next to its neighbour */
	*time = nw_page_open(&page, pages->layout, bytes, len) == 0 ? page.time
		: cpu->times.count > 1				    ? time[-1]
								    : 0;
	int ret = nw_write_all(cpu->fd, bytes, len);
	if (ret == 0 && len < pages->layout->size)
		ret = nw_write_all(cpu->fd, pages->blank, pages->layout->size - len);
	return ret;
}

int nw_page_history_add(struct nw_page_history *pages, uint32_t number,
			const unsigned char *bytes, size_t len)
{
	struct nw_history_cpu *cpu = find_cpu(pages, number);

	if (!cpu)
		return -ENOMEM;
	if (cpu->fd < 0 && (cpu->fd = open_file(pages)) < 0)
		return -errno;
	return write_page(pages, cpu, bytes, len);
}

/* Returns the first page with an event that is not older than this: a page's events end where the next page begins. */
static size_t first_since(const struct nw_history_cpu *cpu, uint64_t from)
{
	size_t first = 0;

	while (first + 1 < cpu->times.count && cpu->times.item[first + 1] <= from)
		first++;
	return first;
}

int nw_page_history_cut(const struct nw_page_history *pages, uint64_t since,
			nw_recorded_cpus *out)
{
	nw_vec_each (&pages->cpus, cpu) {
		struct nw_recorded_cpu *part = nw_vec_add(out);
		size_t first = first_since(cpu, since);
		if (!part)
			return -ENOMEM;
		part->fd = cpu->fd;
		part->from = (cpu->forgotten + first) * pages->layout->size;
		part->size = (cpu->times.count - first) * pages->layout->size;
		part->since = since;
	}
	return 0;
}

/* Frees pages at the begin of the file; the positions of all other pages stay. */
static void give_back(const struct nw_page_history *pages, struct nw_history_cpu *cpu,
		      size_t count)
{
	cpu->forgotten += count;
	cpu->times.count -= count;
	memmove(cpu->times.item, cpu->times.item + count,
		cpu->times.count * sizeof(*cpu->times.item));
	/* A file system that does not support it keeps them until the file is gone. */
	if (fallocate(cpu->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		      (off_t)(cpu->forgotten * pages->layout->size)) < 0)
		errno = 0;
}

void nw_page_history_forget(struct nw_page_history *pages, uint64_t before)
{
	nw_vec_each (&pages->cpus, cpu) {
		if (cpu->fd < 0)
			continue;
		if (before != UINT64_MAX) {
			size_t count = first_since(cpu, before);
			if (count)
				give_back(pages, cpu, count);
			continue;
		}
		close(cpu->fd);
		nw_vec_free(&cpu->times);
		cpu->fd = -1;
		cpu->forgotten = 0;
	}
}

uint64_t nw_page_history_size(const struct nw_page_history *pages, uint64_t *since)
{
	uint64_t count = 0, first = UINT64_MAX;

	nw_vec_each (&pages->cpus, cpu) {
		count += cpu->times.count;
		if (cpu->times.count)
			first = nw_min64(first, cpu->times.item[0]);
	}
	*since = count ? first : 0;
	return count * pages->layout->size;
}

void nw_page_history_free(struct nw_page_history *pages)
{
	nw_page_history_forget(pages, UINT64_MAX);
	nw_vec_free(&pages->cpus);
}
