// SPDX-License-Identifier: MIT
/*
 * Watches the mappings of processes: /proc/PID/maps is gone with the process, and hits are read up to a tenth of a
 * second late. perf events of a counter that never counts (PERF_COUNT_SW_DUMMY, Linux 3.12; perf_event_open(2),
 * PERF_RECORD_MMAP2 of 3.16) report each new mapping of code, each program that is started, each fork and exit, on
 * the clock of the hits (use_clockid, 4.1). The buffers belong to this run alone. If they are too small, or if too
 * many changes wait to be handed out, a change reports the loss, and processes have to be looked at again.
 */
#include "watch.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
	/* linux/perf_event.h; newer than some headers. */
	RECORD_MMAP2 = 10,
	MISC_COMM_EXEC = 1 << 13,
	PAGES = 64,	/* buffer for events, per CPU: a power of two */
	LONGEST = 8192, /* limit of an event; one with a path of 4096 bytes is shorter */
	MOST_PENDING = 1 << 18
};

struct cpu {
	int fd;
	struct perf_event_mmap_page *control;
	uint64_t whole; /* up to this time nothing is lost, or the loss was reported */
	/* The buffer was full: with its next event the kernel reports how many it has dropped */
	bool full;
};

struct nw_map_watch {
	clockid_t clock;
	NW_VEC(struct cpu) cpus;
	size_t page;
	/* Changes that were read and not yet handed out, sorted by time from `next` on. */
	NW_VEC(struct nw_map_change) pending;
	size_t next;
	bool sorted;
	bool failed; /* there was no memory for a change */
	/* Changes that the kernel lost in this round of reading; `until` 0: none were lost. */
	struct nw_map_change gap;
};

static size_t buffer_size(const struct nw_map_watch *watch)
{
	return (PAGES + 1) * watch->page;
}

/* Returns -1 if the kernel does not support it, or if the headers of this build (before Linux 4.1) have no clocks. */
static int open_events(clockid_t clock, int cpu)
{
#ifdef PERF_ATTR_SIZE_VER5
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = 1 << 30, /* nobody waits for it */
		.use_clockid = 1,
		.clockid = clock,
		.exclude_kernel = 1,
	};
	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
#else
	(void)clock;
	(void)cpu;
	return -1;
#endif
}

/* Opens the events of a CPU. A CPU that is offline is not watched. Returns -errno of what is short (nw_shortage()). */
static int open_cpu(struct nw_map_watch *watch, int number)
{
	errno = 0;
	int fd = open_events(watch->clock, number);
	if (fd < 0)
		return nw_shortage();
	struct cpu *cpu = nw_vec_add(&watch->cpus);
	if (!cpu) {
		close(fd);
		return -ENOMEM;
	}
	*cpu = (struct cpu){.fd = fd, .whole = nw_clock_ns(watch->clock)};
	void *memory = mmap(NULL, buffer_size(watch), PROT_READ | PROT_WRITE, MAP_SHARED,
			    fd, 0);
	cpu->control = memory == MAP_FAILED ? NULL : memory;
	return cpu->control ? 0 : nw_shortage();
}

int nw_map_watch_open(clockid_t clock, struct nw_map_watch **out)
{
	struct nw_map_watch *watch = calloc(1, sizeof(*watch));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int ret = 0;

	*out = NULL;
	if (!watch)
		return -ENOMEM;
	watch->clock = clock;
	watch->page = (size_t)sysconf(_SC_PAGESIZE);
	for (int i = 0; ret == 0 && i < cpus; i++)
		ret = open_cpu(watch, i);
	if (ret == 0 && watch->cpus.count)
		*out = watch;
	else
		nw_map_watch_free(watch);
	return ret;
}

static void forget(struct nw_map_change *change)
{
	free(change->mapping.path);
	change->mapping.path = NULL;
}

void nw_map_watch_free(struct nw_map_watch *watch)
{
	if (!watch)
		return;
	nw_vec_each (&watch->cpus, cpu) {
		if (cpu->control)
			munmap(cpu->control, buffer_size(watch));
		close(cpu->fd);
	}
	nw_vec_free(&watch->cpus);
	nw_vec_each (&watch->pending, change)
		forget(change);
	nw_vec_free(&watch->pending);
	free(watch);
}

/* ---- records ------------------------------------------------------------------------ */

/* The record behind its header. The last word of each record is the time. */
struct mapped {
	uint32_t pid, tid;
	uint64_t start, len, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char path[];
};

struct task {
	uint32_t pid, parent, tid, parent_tid;
};

static char *path_of(const struct mapped *m, size_t room)
{
	static const char deleted[] = " (deleted)";
	size_t len = strnlen(m->path, room), end = sizeof(deleted) - 1;

	if (len > end && memcmp(m->path + len - end, deleted, end) == 0)
		len -= end;
	/* Mappings without a file have other names in /proc/PID/maps: use none. */
	return strncmp(m->path, "//", 2) == 0 ? strdup("") : strndup(m->path, len);
}

static bool take_mapped(const unsigned char *body, size_t len, struct nw_map_change *out)
{
	const struct mapped *m = (const struct mapped *)(const void *)body;

	if (len < sizeof(*m) + sizeof(uint64_t))
		return false;
	out->kind = NW_CHANGE_MAPPED;
	out->pid = (pid_t)m->pid;
	out->mapping = (struct nw_mapping){
		.start = m->start,
		.end = m->start + m->len,
		.offset = m->offset,
		.dev = makedev(m->major, m->minor),
		.ino = m->inode,
		.exec = true,
		.path = path_of(m, len - sizeof(*m) - sizeof(uint64_t)),
	};
	return true;
}

static bool take_task(unsigned int type, const unsigned char *body, size_t len,
		      struct nw_map_change *out)
{
	struct task task;

	if (len < sizeof(task))
		return false;
	memcpy(&task, body, sizeof(task));
	out->kind = type == PERF_RECORD_FORK ? NW_CHANGE_FORKED : NW_CHANGE_ENDED;
	out->pid = (pid_t)task.pid;
	out->parent = (pid_t)task.parent;
	/* Threads share the mappings of their process. */
	return type == PERF_RECORD_FORK ? task.pid != task.parent : task.pid == task.tid;
}

/* Takes {id, number of lost events}, which the kernel writes once there is room again. */
static bool take_lost(const unsigned char *body, size_t len, struct nw_map_change *out)
{
	if (len < 3 * sizeof(uint64_t))
		return false;
	out->kind = NW_CHANGE_LOST;
	memcpy(&out->lost, body + sizeof(uint64_t), sizeof(out->lost));
	return true;
}

static bool take_record(const struct perf_event_header *header, const unsigned char *body,
			size_t len, struct nw_map_change *out)
{
	uint32_t pid;

	if (len < sizeof(uint64_t) + sizeof(pid))
		return false;
	memcpy(&out->time, body + len - sizeof(uint64_t), sizeof(uint64_t));
	memcpy(&pid, body, sizeof(pid));
	switch (header->type) {
	case RECORD_MMAP2:
		return take_mapped(body, len, out);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return take_task(header->type, body, len, out);
	case PERF_RECORD_COMM:
		out->kind = NW_CHANGE_STARTED;
		out->pid = (pid_t)pid;
		return header->misc & MISC_COMM_EXEC;
	case PERF_RECORD_LOST:
		return take_lost(body, len, out);
	default:
		return false;
	}
}

static void add_gap(struct nw_map_watch *watch, uint64_t since, uint64_t until,
		    uint64_t lost)
{
	struct nw_map_change *gap = &watch->gap;

	gap->time = gap->until ? nw_min64(gap->time, since) : since;
	gap->until = nw_max64(gap->until, until);
	gap->lost += lost;
}

/* last: the time of this CPU's previous event, after which events were lost. */
static void take(struct nw_map_watch *watch, const struct cpu *cpu, uint64_t last,
		 struct nw_map_change *change)
{
	if (change->kind == NW_CHANGE_LOST) {
		uint64_t since = nw_min64(last, change->time);
		add_gap(watch, since, cpu->full ? since : change->time, change->lost);
		return;
	}
	bool complete = change->kind != NW_CHANGE_MAPPED || change->mapping.path;
	bool room = watch->pending.count < MOST_PENDING;
	struct nw_map_change *slot = complete && room ? nw_vec_add(&watch->pending) : NULL;
	watch->failed |= room && !slot;
	if (slot) {
		*slot = *change;
	} else {
		add_gap(watch, change->time, change->time, 1);
		forget(change);
	}
	watch->sorted = false;
}

/* Reads the events of a CPU. */
static void drain(struct nw_map_watch *watch, struct cpu *cpu)
{
	const unsigned char *ring = (const unsigned char *)cpu->control + watch->page;
	uint64_t size = PAGES * watch->page, mask = size - 1,
		 now = nw_clock_ns(watch->clock);
	uint64_t head = __atomic_load_n(&cpu->control->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = cpu->control->data_tail, last = cpu->whole;
	uint64_t record[LONGEST / sizeof(uint64_t)];
	bool full = head - tail > size - LONGEST;

	while (tail < head) {
		struct perf_event_header header;
		unsigned char *bytes = (unsigned char *)record;
		memcpy(&header, ring + (tail & mask), sizeof(header));
		if (header.size < sizeof(header) || header.size > sizeof(record)) {
			full = true;
			break;
		}
		size_t first = (size_t)nw_min64(header.size, size - (tail & mask));
		memcpy(bytes, ring + (tail & mask), first);
		memcpy(bytes + first, ring, header.size - first);
		tail += header.size;
		struct nw_map_change change = {0};
		if (!take_record(&header, bytes + sizeof(header),
				 header.size - sizeof(header), &change))
			continue;
		take(watch, cpu, last, &change);
		last = nw_max64(last, change.time);
		if (change.kind == NW_CHANGE_LOST) {
			cpu->whole = change.time;
			cpu->full = false;
		}
	}
	__atomic_store_n(&cpu->control->data_tail, tail < head ? head : tail,
			 __ATOMIC_RELEASE);
	cpu->full |= full;
	cpu->whole = full ? nw_clock_ns(watch->clock) : nw_max64(now, cpu->whole);
	if (full) /* from here on there is room again */
		add_gap(watch, last, cpu->whole, 0);
}

static int by_time(const void *a, const void *b)
{
	const struct nw_map_change *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* Removes the changes that were handed out. */
static void compact(struct nw_map_watch *watch)
{
	size_t left = watch->pending.count - watch->next;

	for (size_t i = 0; i < watch->next; i++)
		forget(&watch->pending.item[i]);
	if (left)
		memmove(watch->pending.item, watch->pending.item + watch->next,
			left * sizeof(*watch->pending.item));
	watch->pending.count = left;
	watch->next = 0;
}

int nw_map_watch_next(struct nw_map_watch *watch, uint64_t until, struct nw_map_change *out)
{
	if (watch->next < watch->pending.count &&
	    watch->pending.item[watch->next].time <= until) {
		*out = watch->pending.item[watch->next++];
		return 1;
	}
	bool more = false;
	nw_vec_each (&watch->cpus, cpu)
		more |= cpu->control &&
			__atomic_load_n(&cpu->control->data_head, __ATOMIC_RELAXED) !=
				cpu->control->data_tail;
	if (!more)
		return 0;
	compact(watch);
	nw_vec_each (&watch->cpus, cpu)
		if (cpu->control)
			drain(watch, cpu);
	if (watch->failed)
		return -ENOMEM;
	if (watch->gap.until) {
		struct nw_map_change *slot = nw_vec_add(&watch->pending);
		if (!slot)
			return -ENOMEM;
		*slot = watch->gap;
		slot->kind = NW_CHANGE_LOST;
		watch->gap = (struct nw_map_change){0};
		watch->sorted = false;
	}
	if (!watch->sorted && watch->pending.count)
		qsort(watch->pending.item, watch->pending.count,
		      sizeof(*watch->pending.item), by_time);
	watch->sorted = true;
	if (!watch->pending.count || watch->pending.item[0].time > until)
		return 0;
	*out = watch->pending.item[watch->next++];
	return 1;
}
