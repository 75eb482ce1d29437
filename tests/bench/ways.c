// SPDX-License-Identifier: MIT
/*
 * Ways to get at the pages of a ring buffer, compared: ways read|splice|mmap PER_CPU_DIR EVENTS [PAGE_KIB]
 * reads so many events, walks over each, and prints what that cost this process.
 *
 *	read	 of trace_pipe_raw, a page at a time
 *	splice	 into a pipe, and from there into memory
 *	mmap	 the buffer itself (Linux 6.10; include/uapi/linux/trace_mmap.h): a page is
 *		 handed over by an ioctl and read where it lies
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stream/pages/stream.h"

enum {
	MOST = 64 << 10
};

/* struct trace_buffer_meta of the UAPI header, which older systems lack. */
struct meta {
	uint32_t meta_page_size, meta_struct_len;
	uint32_t subbuf_size, nr_subbufs;
	struct {
		uint64_t lost_events;
		uint32_t id, read;
	} reader;
	uint64_t flags, entries, overrun, read;
};

#define GET_READER _IO('R', 0x20)

static struct nw_page_layout layout = {.size = 4096,
				       .commit = 8,
				       .commit_size = 8,
				       .data = 16};
static const struct meta *meta;
static size_t walked; /* bytes of the last page */
static uint32_t page_id = UINT32_MAX;
static int to_pipe[2];

static void die(const char *what)
{
	fprintf(stderr, "ways: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The events from the first `done` bytes on. */
static uint64_t walk(const unsigned char *bytes, size_t len, size_t done)
{
	const unsigned char *data;
	struct nw_page page;
	uint64_t events = 0;
	uint32_t size;

	if (nw_page_open(&page, &layout, bytes, len) < 0)
		return 0;
	page.at += done;
	while (nw_page_next(&page, &data, &size) > 0)
		events++;
	walked = (size_t)(page.end - bytes) - layout.data;
	return events;
}

/* Each returns the events of one page; 0: there is nothing. */
static uint64_t by_read(int fd)
{
	static unsigned char bytes[MOST];
	ssize_t got = read(fd, bytes, layout.size);

	return got > 0 ? walk(bytes, (size_t)got, 0) : 0;
}

static uint64_t by_splice(int fd)
{
	static unsigned char bytes[MOST];
	ssize_t page = (ssize_t)layout.size;
	uint64_t events = 0;
	ssize_t moved = splice(fd, NULL, to_pipe[1], NULL, 16 * layout.size,
			       SPLICE_F_NONBLOCK);

	for (; moved >= page; moved -= page) {
		if (read(to_pipe[0], bytes, layout.size) != page)
			die("pipe");
		events += walk(bytes, layout.size, 0);
	}
	return events;
}

/* The page stays ours until the next ioctl; if the writer is still on it, the same one comes
 * again, with more on it. */
static uint64_t by_mmap(int fd)
{
	if (ioctl(fd, GET_READER) < 0)
		die("ioctl");
	const unsigned char *page = (const unsigned char *)meta + meta->meta_page_size +
				    (size_t)meta->reader.id * meta->subbuf_size;
	if (meta->reader.id != page_id) {
		page_id = meta->reader.id;
		walked = 0;
	}
	return walk(page, meta->subbuf_size, walked);
}

static void map(int fd)
{
	struct meta *first = mmap(NULL, sizeof(*first), PROT_READ, MAP_SHARED, fd, 0);

	if (first == MAP_FAILED)
		die("mmap");
	size_t size = first->meta_page_size +
		      (size_t)first->nr_subbufs * first->subbuf_size;
	munmap(first, sizeof(*first));
	meta = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (meta == MAP_FAILED)
		die("mmap");
}

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint64_t (*get)(int fd);
	} ways[] = {{"read", by_read}, {"splice", by_splice}, {"mmap", by_mmap}};
	uint64_t (*get)(int fd) = NULL, events = 0;
	char path[4096];

	for (size_t i = 0; i < NW_COUNT(ways) && argc >= 4; i++)
		if (strcmp(ways[i].name, argv[1]) == 0)
			get = ways[i].get;
	if (argc == 5)
		layout.size = strtoul(argv[4], NULL, 10) << 10;
	if (!get || layout.size < 4096 || layout.size > MOST) {
		fprintf(stderr,
			"usage: ways read|splice|mmap PER_CPU_DIR EVENTS [PAGE_KIB]\n");
		return 2;
	}
	snprintf(path, sizeof(path), "%s/trace_pipe_raw", argv[2]);
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || pipe2(to_pipe, O_CLOEXEC) < 0)
		die(path);
	if (get == by_mmap)
		map(fd);
	uint64_t wanted = strtoull(argv[3], NULL, 10);
	double start = cpu_seconds();
	for (int idle = 0; events < wanted && idle < 30;) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		uint64_t got;
		idle = poll(&wait, 1, 100) > 0 ? 0 : idle + 1;
		do { /* not after a writer that is still on this page */
			got = get(fd);
			events += got;
		} while (got && walked > layout.size / 2);
	}
	printf("{\"events\":%" PRIu64 ",\"ns\":%.2f}\n", events,
	       events ? (cpu_seconds() - start) / (double)events * 1e9 : 0.0);
	return 0;
}
