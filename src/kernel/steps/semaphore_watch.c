// SPDX-License-Identifier: MIT
/*
 * Finds processes that map a file with semaphores while a session runs. fanotify reports who opens such a file,
 * which exec and dlopen do just before they map it. The process is then inspected until it has mapped the file,
 * mostly within a millisecond. Without fanotify, and for forks, which open no file, /proc is scanned at intervals.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/fanotify.h>
#include <time.h>
#include <unistd.h>

#include "semaphore.h"

enum {
	/* Inspect without long pauses for so long after the last process has come. */
	SPIN_NS = 1000000,
	NAP_NS = 50000, /* pause between two such inspections */
	/* A process that has not mapped the file by then only reads it. */
	PATIENCE_NS = 200000000,
	SCAN_NS = 1000000000,	  /* between two scans of /proc, with fanotify */
	SCAN_BLIND_NS = 250000000 /* between two scans of /proc, without it */
};

/* ---- watching ----------------------------------------------------------------------- */

static bool watch_image(int watch, const struct nw_image *image)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", image->fd);
	return fanotify_mark(watch, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, path) == 0;
}

void nw_semaphores_watch(struct nw_semaphores *set, const struct nw_plan *plan)
{
	/* fanotify reports our numbers, but processes are inspected by those of /proc. */
	int watch = set->watch >= 0 ? set->watch
		    : !nw_proc_is_ours()
			    ? -1
			    : fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK,
					    O_RDONLY | O_CLOEXEC | O_LARGEFILE);

	nw_vec_each (&plan->selection->images, image) {
		const nw_images one = {.item = image, .count = 1};
		if (watch >= 0 && nw_semaphores_in(set, &one) &&
		    !watch_image(watch, *image)) {
			/* Without a mark on every file, /proc is scanned instead. */
			close(watch);
			watch = -1;
		}
	}
	set->watch = watch;
}

static void add_opener(struct nw_semaphores *set, pid_t pid)
{
	if (pid <= 0 || pid == getpid())
		return;
	nw_vec_each (&set->openers, known)
		if (known->pid == pid) { /* it has opened another file */
			known->came = known->next = nw_clock_ns(CLOCK_MONOTONIC);
			known->step = SPIN_NS;
			return;
		}
	struct nw_opener *fresh = nw_vec_add(&set->openers);
	if (fresh)
		*fresh = (struct nw_opener){pid, nw_clock_ns(CLOCK_MONOTONIC),
					    nw_clock_ns(CLOCK_MONOTONIC), SPIN_NS};
}

/* Reads which processes have opened a file. Returns false if events were lost. */
static bool read_watch(struct nw_semaphores *set)
{
	_Alignas(struct fanotify_event_metadata) char bytes[4096];
	bool all = true;
	ssize_t len;

	while ((len = read(set->watch, bytes, sizeof(bytes))) > 0) {
		const struct fanotify_event_metadata *event = (const void *)bytes;
		for (; FAN_EVENT_OK(event, len); event = FAN_EVENT_NEXT(event, len)) {
			if (event->fd >= 0)
				close(event->fd);
			if (event->mask & FAN_Q_OVERFLOW)
				all = false;
			else
				add_opener(set, event->pid);
		}
	}
	return all;
}

/* ---- looking ------------------------------------------------------------------------ */

/* Inspects the processes whose time has come. Returns when to do so again. */
static uint64_t visit_openers(struct nw_semaphores *set)
{
	uint64_t next = UINT64_MAX, time = nw_clock_ns(CLOCK_MONOTONIC);
	size_t left = 0;

	nw_vec_each (&set->openers, opener) {
		size_t before = set->raises;
		if (time - opener->came > PATIENCE_NS)
			continue;
		if (time >= opener->next) {
			nw_semaphores_raise(set, opener->pid);
			/* A process that has mapped one file may map another one next. */
			if (set->raises != before || time - opener->came >= SPIN_NS) {
				opener->next = time + opener->step;
				opener->step *= 2;
			}
		}
		next = nw_min64(next, opener->next);
		set->openers.item[left++] = *opener;
	}
	set->openers.count = left;
	return next;
}

static int scan_if_due(struct nw_semaphores *set, bool at_once)
{
	uint64_t every = set->watch >= 0 ? SCAN_NS : SCAN_BLIND_NS,
		 time = nw_clock_ns(CLOCK_MONOTONIC);

	if (at_once || time - set->scanned >= every) {
		/* A process that a failed scan has missed is found by the next scan. */
		(void)!nw_semaphores_scan(set, at_once || set->watch < 0);
		set->scanned = time = nw_clock_ns(CLOCK_MONOTONIC);
	}
	return (int)((set->scanned + every - time) / 1000000) + 1;
}

int nw_semaphores_poll(struct nw_semaphores *set)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	bool all = set->watch < 0 || read_watch(set);
	uint64_t next, time = nw_clock_ns(CLOCK_MONOTONIC), spin_until = time + SPIN_NS;

	while ((next = visit_openers(set)) <= time && time < spin_until) {
		nanosleep(&nap, NULL);
		if (set->watch >= 0)
			all = read_watch(set) && all;
		time = nw_clock_ns(CLOCK_MONOTONIC);
	}
	int wait = scan_if_due(set, !all);
	if (next == UINT64_MAX)
		return wait;
	time = nw_clock_ns(CLOCK_MONOTONIC);
	int soon = next > time ? (int)((next - time) / 1000000) + 1 : 1;
	return soon < wait ? soon : wait;
}
