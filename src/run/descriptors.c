// SPDX-License-Identifier: MIT
/* See descriptors.h. */
#include "descriptors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A path is not read again before this time is over, unless it may have changed. */
#define AGE_NS UINT64_C(10000000)

enum {
	SINGLY = 16, /* numbers of a range that are looked up one by one */
	MOST_CLOSINGS =
		1024 /* threads in such calls at a time; with more nothing is known any more */
};

/* A path was read after `begin` and before `end`: the number had it at some moment between. */
struct look {
	char *path; /* NULL: there is none */
	uint64_t begin, end;
};

struct entry {
	enum kind {
		NUMBER, /* of a process */
		PROCESS /* all its numbers */
	} kind;
	pid_t pid;
	uint32_t fd;
	/* NUMBER: the later look counts from its end on. Until then hits come that the earlier one tells of. */
	struct look earlier, later;
	uint64_t
		tried; /* NUMBER: when it was read last, even if it had no path; 0: never */
	/* PROCESS: no look that began before this counts; UINT64_MAX: none does */
	uint64_t closed;
	bool checked; /* PROCESS */
};

/* A call that closes numbers has begun, and not returned. They may be closed at any moment, and opened again. */
struct closing {
	pid_t pid, tid;
	uint32_t first, last;
};

struct nw_descriptors {
	struct nw_descriptor_source source;
	NW_VEC(struct entry) entries;
	struct nw_hash_table table;
	NW_VEC(struct closing) closings;
	uint64_t lost; /* no look that began before this counts */
	bool failed;
};

static uint64_t hash_of(enum kind kind, pid_t pid, uint32_t fd)
{
	return nw_hash64(((uint64_t)(uint32_t)pid << 32 | fd) ^ (uint64_t)kind << 63);
}

static struct entry *find(struct nw_descriptors *d, enum kind kind, pid_t pid, uint32_t fd)
{
	nw_hash_each (&d->table, hash_of(kind, pid, fd), at) {
		struct entry *it = &d->entries.item[at];
		if (it->kind == kind && it->pid == pid && it->fd == fd)
			return it;
	}
	return NULL;
}

static void drop(struct look *look)
{
	free(look->path);
	*look = (struct look){0};
}

/* Forgets all paths. They are read again, later than all that was told. Which processes are not trusted stays. */
static void forget(struct nw_descriptors *d)
{
	size_t kept = 0;

	nw_hash_table_free(&d->table);
	d->table = (struct nw_hash_table){0};
	nw_vec_each (&d->entries, it) {
		drop(&it->earlier);
		drop(&it->later);
		if (it->kind == PROCESS && it->closed == UINT64_MAX)
			d->entries.item[kept++] = *it;
	}
	d->entries.count = kept;
	for (size_t i = 0; i < kept; i++)
		if (nw_hash_table_add(&d->table,
				      hash_of(PROCESS, d->entries.item[i].pid, 0), i) < 0)
			d->failed = true;
	/* Too many to be told apart from others */
	if (d->failed || kept > NW_DESCRIPTORS_MOST / 2)
		d->lost = UINT64_MAX;
}

/* Finds an entry, which is made if there is none; NULL: no memory. */
static struct entry *need(struct nw_descriptors *d, enum kind kind, pid_t pid, uint32_t fd)
{
	struct entry *it = find(d, kind, pid, fd);

	if (it)
		return it;
	if (d->lost == UINT64_MAX)
		return NULL;
	if (d->entries.count >= NW_DESCRIPTORS_MOST)
		forget(d);
	it = nw_vec_add(&d->entries);
	if (!it || nw_hash_table_add(&d->table, hash_of(kind, pid, fd),
				     d->entries.count - 1) < 0) {
		d->entries.count -= it != NULL;
		d->failed = true;
		return NULL;
	}
	it->kind = kind;
	it->pid = pid;
	it->fd = fd;
	return it;
}

/* ---- looks -------------------------------------------------------------------------- */

/* Drops the looks that began before this time, and after which the number was closed. */
static void drop_until(struct entry *it, uint64_t time)
{
	if (it->earlier.path && it->earlier.begin <= time)
		drop(&it->earlier);
	if (it->later.path && it->later.begin <= time)
		drop(&it->later);
	if (it->tried <= time)
		it->tried = 0;
}

static void look(struct nw_descriptors *d, struct entry *it)
{
	char path[NW_DESCRIPTOR_BYTES];
	const uint64_t begin = d->source.now(d->source.arg);
	int ret = d->source.read(d->source.arg, it->pid, it->fd, path, sizeof(path));

	it->tried = d->source.now(d->source.arg);
	if (ret < 0)
		return;
	it->later = (struct look){.path = strdup(path), .begin = begin, .end = it->tried};
	d->failed |= !it->later.path;
}

static bool is_closing(const struct nw_descriptors *d, pid_t pid, uint32_t fd)
{
	nw_vec_each (&d->closings, it)
		if (it->pid == pid && it->first <= fd && fd <= it->last)
			return true;
	return false;
}

const char *nw_descriptors_path(struct nw_descriptors *d, pid_t pid, uint32_t fd,
				uint64_t time)
{
	/* The numbers of a process may be the last that fit: it comes first, as forget() drops both. */
	struct entry *process = need(d, PROCESS, pid, 0);

	if (process && !process->checked && d->source.strange &&
	    d->source.strange(d->source.arg, pid))
		process->closed = UINT64_MAX;
	if (process)
		process->checked = true;
	const uint64_t closed = process ? nw_max64(process->closed, d->lost) : UINT64_MAX;
	struct entry *it = closed < UINT64_MAX ? need(d, NUMBER, pid, fd) : NULL;

	if (!it)
		return NULL;
	drop_until(it, closed);
	if (it->later.path && it->later.end <= time) {
		drop(&it->earlier);
		it->earlier = it->later;
		it->later = (struct look){0};
	}
	if (!it->later.path &&
	    (!it->tried || d->source.now(d->source.arg) - it->tried >= AGE_NS))
		look(d, it);
	return is_closing(d, pid, fd) ? NULL : it->earlier.path;
}

/* ---- what closes -------------------------------------------------------------------- */

static void close_range_of(struct nw_descriptors *d, pid_t pid, uint32_t first,
			   uint32_t last, uint64_t time)
{
	if (last < first)
		return;
	if (last - first >= SINGLY) {
		nw_descriptors_all_closed(d, pid, time);
		return;
	}
	for (uint32_t i = 0; i <= last - first; i++) {
		struct entry *it = find(d, NUMBER, pid, first + i);
		if (it)
			drop_until(it, time);
	}
}

/* Finds the call that a thread is in; NULL: none is known. */
static struct closing *closing_of(struct nw_descriptors *d, pid_t tid)
{
	nw_vec_each (&d->closings, it)
		if (it->tid == tid)
			return it;
	return NULL;
}

void nw_descriptors_closing(struct nw_descriptors *d, pid_t pid, pid_t tid, uint32_t first,
			    uint32_t last, uint64_t time)
{
	struct closing *it = closing_of(d, tid);

	close_range_of(d, pid, first, last, time);
	if (!it && d->closings.count < MOST_CLOSINGS)
		it = nw_vec_add(&d->closings);
	if (it)
		*it = (struct closing){
			.pid = pid, .tid = tid, .first = first, .last = last};
	else
		d->lost = UINT64_MAX;
}

void nw_descriptors_closed(struct nw_descriptors *d, pid_t pid, pid_t tid, uint64_t time)
{
	struct closing *it = closing_of(d, tid);

	/* The call began before the recording, or its begin was lost. */
	if (!it) {
		nw_descriptors_all_closed(d, pid, time);
		return;
	}
	close_range_of(d, pid, it->first, it->last, time);
	*it = d->closings.item[--d->closings.count];
}

void nw_descriptors_all_closed(struct nw_descriptors *d, pid_t pid, uint64_t time)
{
	struct entry *process = need(d, PROCESS, pid, 0);

	if (process)
		process->closed = nw_max64(process->closed, time);
}

void nw_descriptors_gone(struct nw_descriptors *d, pid_t pid, uint64_t time)
{
	struct entry *process = need(d, PROCESS, pid, 0);

	if (process)
		process->closed = time;
	if (process)
		process->checked = false;
	for (size_t i = 0; i < d->closings.count;)
		if (d->closings.item[i].pid == pid)
			d->closings.item[i] = d->closings.item[--d->closings.count];
		else
			i++;
}

void nw_descriptors_lost(struct nw_descriptors *d, uint64_t until)
{
	d->lost = nw_max64(d->lost, until);
	/* A begin that is kept would stand for a later call of its thread, whose own begin was lost. */
	d->closings.count = 0;
}

void nw_descriptors_distrust(struct nw_descriptors *d, pid_t pid)
{
	nw_descriptors_all_closed(d, pid, UINT64_MAX);
}

/* ---- the whole ---------------------------------------------------------------------- */

bool nw_descriptors_failed(const struct nw_descriptors *d)
{
	return d->failed;
}

int nw_descriptors_open(const struct nw_descriptor_source *source,
			struct nw_descriptors **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->source = *source;
	return 0;
}

void nw_descriptors_free(struct nw_descriptors *d)
{
	if (!d)
		return;
	nw_vec_each (&d->entries, it) {
		drop(&it->earlier);
		drop(&it->later);
	}
	nw_vec_free(&d->entries);
	nw_vec_free(&d->closings);
	nw_hash_table_free(&d->table);
	free(d);
}
