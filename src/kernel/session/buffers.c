// SPDX-License-Identifier: MIT
/* The ring buffers of a session's instance: their files and statistics. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/session/session_private.h"

static int open_buffer(int dir, const char *name, struct nw_cpu_buffers *out,
		       struct nw_error *err)
{
	char file[64];
	uint64_t cpu;

	if (strncmp(name, "cpu", 3) != 0 || nw_parse_u64(name + 3, &cpu) < 0)
		return 0;
	snprintf(file, sizeof(file), "%.32s/trace_pipe_raw", name);
	int fd = openat(dir, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return nw_fail(err, errno, "cannot open the ring buffer of CPU %ju: %s",
			       cpu, nw_strerror(errno));
	int *slot = nw_vec_add(&out->fds);
	uint32_t *number = slot ? nw_vec_add(&out->cpus) : NULL;
	if (!number) {
		close(fd);
		return nw_no_memory(err);
	}
	*slot = fd;
	*number = (uint32_t)cpu;
	return 0;
}

int nw_session_buffers(const struct nw_session *session, struct nw_cpu_buffers *out,
		       struct nw_error *err)
{
	int dir = openat(session->instance, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = dir >= 0 ? fdopendir(dir) : NULL;
	struct dirent *entry;
	int ret = 0;

	if (!list)
		return nw_fail(err, errno, "cannot open the instance's per_cpu: %s",
			       nw_strerror(errno));
	while (ret == 0 && (errno = 0, entry = readdir(list)))
		ret = open_buffer(dirfd(list), entry->d_name, out, err);
	if (ret == 0 && errno)
		ret = nw_fail(err, errno, "cannot list the instance's per_cpu: %s",
			      nw_strerror(errno));
	closedir(list);
	return ret;
}

void nw_cpu_buffers_close(struct nw_cpu_buffers *buffers)
{
	/* A descriptor is added before its CPU's number; if there is no memory for the number, the descriptor is
	 * closed already. */
	for (size_t i = 0; i < buffers->cpus.count; i++)
		close(buffers->fds.item[i]);
	nw_vec_free(&buffers->fds);
	nw_vec_free(&buffers->cpus);
}

/* Reads the stats of a CPU. */
static int read_stats(const struct nw_session *session, uint32_t cpu, struct nw_buf *out)
{
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
	return nw_tracefs_read(session->instance, file, out);
}

bool nw_session_lost(const struct nw_session *session, uint32_t cpu, bool emptied,
		     uint64_t *lost)
{
	struct nw_buf stats = {0};
	bool told = read_stats(session, cpu, &stats) == 0;

	if (told)
		*lost += nw_buffer_stats_lost(nw_buf_str(&stats), emptied);
	nw_buf_free(&stats);
	return told;
}

uint64_t nw_session_reach(const struct nw_session *session, uint32_t cpu)
{
	struct nw_buf stats = {0};
	uint64_t reach = UINT64_MAX;

	if (read_stats(session, cpu, &stats) == 0)
		reach = nw_buffer_stats_reach(nw_buf_str(&stats), session->buffer_bytes);
	nw_buf_free(&stats);
	return reach;
}

/* Reads a header of the instance, whose pages may be larger than the top level's; old kernels have only the latter. */
static int read_header(const struct nw_session *session, const char *file,
		       struct nw_buf *out, struct nw_error *err)
{
	int ret = nw_tracefs_read(session->instance, file, out);

	if (ret == -ENOENT)
		ret = nw_tracefs_read(session->fs->root, file, out);
	return ret < 0 ? nw_fail(err, -ret, "cannot read %s: %s", file, nw_strerror(-ret))
		       : 0;
}

int nw_session_headers(const struct nw_session *session, struct nw_buf *page,
		       struct nw_buf *event, struct nw_buf *clock, struct nw_error *err)
{
	int ret = read_header(session, "events/header_page", page, err);

	if (ret == 0 && event)
		ret = read_header(session, "events/header_event", event, err);
	if (ret == 0 && clock)
		ret = read_header(session, "trace_clock", clock, err);
	return ret;
}
