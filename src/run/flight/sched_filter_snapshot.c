// SPDX-License-Identifier: MIT
/* See sched_filter_snapshot.h. */
#include "sched_filter_snapshot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/base.h"

static int by_number(const void *a, const void *b)
{
	const struct nw_named_thread *x = a, *y = b;

	return x->tid != y->tid ? (x->tid > y->tid) - (x->tid < y->tid)
				: x->by_name - y->by_name;
}

static struct nw_named_thread *find(const struct nw_sched_filter_snapshot *still, pid_t tid)
{
	const struct nw_named_thread wanted = {.tid = tid, .by_name = true};

	return still->threads.count
		       ? bsearch(&wanted, still->threads.item, still->threads.count,
				 sizeof(wanted), by_number)
		       : NULL;
}

int nw_sched_filter_snapshot_look(struct nw_sched_filter_snapshot *still,
				  const nw_named_threads *now)
{
	struct nw_sched_filter_snapshot fresh = {.read = still->read};

	nw_vec_each (now, thread) {
		const struct nw_named_thread *known = find(still, thread->tid);
		struct nw_named_thread *slot = nw_vec_add(&fresh.threads);
		if (!slot) {
			nw_vec_free(&fresh.threads);
			return -ENOMEM;
		}
		*slot = *thread;
		if (thread->by_name && known && known->from != UINT64_MAX)
			slot->from = known->from;
		else if (thread->by_name)
			slot->from = nw_max64(thread->from, still->read);
	}
	if (fresh.threads.count)
		qsort(fresh.threads.item, fresh.threads.count, sizeof(*fresh.threads.item),
		      by_number);
	nw_vec_free(&still->threads);
	*still = fresh;
	return 0;
}

void nw_sched_filter_snapshot_changed(struct nw_sched_filter_snapshot *still, int32_t tid)
{
	struct nw_named_thread *known = find(still, tid);

	/* It stays in its place, with a time that never comes. */
	if (known)
		known->from = UINT64_MAX;
}

void nw_sched_filter_snapshot_pause(struct nw_sched_filter_snapshot *still, uint64_t now)
{
	still->read = now;
}

void nw_sched_filter_snapshot_free(struct nw_sched_filter_snapshot *still)
{
	nw_vec_free(&still->threads);
}
