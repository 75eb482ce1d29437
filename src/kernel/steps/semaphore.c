// SPDX-License-Identifier: MIT
/* See semaphore.h. */
#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "semaphore.h"

/* searches for forks that were made while their parents were lowered */
enum {
	MOST_ROUNDS = 8
};

/* ---- the list ----------------------------------------------------------------------- */

/* Returns the index of a semaphore, which is added if it is new; or -ENOMEM. */
static int add_semaphore(struct nw_semaphores *set, const struct nw_semaphore *wanted)
{
	for (size_t i = 0; i < set->all.count; i++) {
		const struct nw_semaphore *known = &set->all.item[i];
		if (known->dev == wanted->dev && known->ino == wanted->ino &&
		    known->offset == wanted->offset)
			return (int)i;
	}
	struct nw_semaphore *fresh = nw_vec_add(&set->all);
	if (!fresh)
		return -ENOMEM;
	*fresh = *wanted;
	return (int)set->all.count - 1;
}

static struct nw_target *find_target(const struct nw_semaphores *set, pid_t pid)
{
	nw_vec_each (&set->targets, target)
		if (target->pid == pid)
			return target;
	return NULL;
}

static struct nw_raised *find_raised(const struct nw_target *target, uint32_t semaphore)
{
	nw_vec_each (&target->raised, raised)
		if (raised->semaphore == semaphore)
			return raised;
	return NULL;
}

static bool is_in(const struct nw_semaphore *semaphore, const nw_images *images)
{
	nw_vec_each (images, image)
		if ((*image)->dev == semaphore->dev && (*image)->ino == semaphore->ino)
			return true;
	return false;
}

bool nw_semaphores_in(const struct nw_semaphores *set, const nw_images *images)
{
	nw_vec_each (&set->all, semaphore)
		if (is_in(semaphore, images))
			return true;
	return false;
}

bool nw_semaphores_has(const struct nw_semaphores *set, pid_t pid, const nw_images *images)
{
	const struct nw_target *target = find_target(set, pid);

	for (uint32_t i = 0; i < set->all.count; i++)
		if (is_in(&set->all.item[i], images) &&
		    (!target || !find_raised(target, i)))
			return false;
	return true;
}

/* ---- a process's memory ------------------------------------------------------------- */

/* Does the process seem to map one of the files? Most do not, and need no closer inspection. */
static bool may_map(const struct nw_semaphores *set, pid_t pid)
{
	nw_mappings maps = {0};
	int ret = nw_process_maps(pid, &maps, NULL);
	/* Unknown, so it needs the closer inspection. */
	bool found = ret < 0 && nw_is_shortage(-ret);

	nw_vec_each (&maps, mapping)
		nw_vec_each (&set->all, semaphore)
			found = found || mapping->ino == semaphore->ino;
	nw_mappings_free(&maps);
	return found;
}

/* Has the process ended, or started another program? Then nothing is left to do in the old one. A program that the
 * kernel is still starting (-EINPROGRESS, which lasts while other processes keep the CPU) was not raised yet. */
static bool is_gone(int ret)
{
	return ret == -ESRCH || ret == -EAGAIN || ret == -EINPROGRESS;
}

/* ---- raising ------------------------------------------------------------------------ */

/*
 * Did this fork inherit its value from a process in which we had raised it? A fork has the same addresses as its
 * parent, which may have ended.
 */
static bool is_inherited(const struct nw_semaphores *set, const struct nw_target *target,
			 uint32_t semaphore, uint64_t at, uint16_t value)
{
	if (!target->stat.forked || !value)
		return false;
	nw_vec_each (&set->targets, other) {
		const struct nw_raised *raised = find_raised(other, semaphore);
		if (other != target && raised && raised->at == at &&
		    (!raised->lowered || value > raised->after))
			return true;
	}
	return false;
}

/* Does a step in a process. inherited: the fork has the raised value already, so only the undo is noted. */
static int do_step(struct nw_semaphores *set, enum nw_action_kind kind,
		   const struct nw_target *target, const struct nw_process *process,
		   const struct nw_raised *raised, bool inherited)
{
	const struct nw_semaphore_step step = {.its = set->all.item[raised->semaphore],
					       .pid = target->pid,
					       .start = target->stat.start,
					       .at = raised->at,
					       .before = raised->before};
	struct nw_action go, back = {.kind = NW_DO_NOTHING};
	int ret = nw_semaphore_action(inherited ? NW_DO_NOTHING : kind, &step, &go);

	if (ret == 0 && kind == NW_DO_RAISE)
		ret = nw_semaphore_action(NW_DO_LOWER, &step, &back);
	go.process = process;
	if (ret == 0)
		ret = nw_step_runner_action(&set->runner, &go, &back);
	nw_action_free(&go);
	nw_action_free(&back);
	return ret;
}

static int raise_one(struct nw_semaphores *set, struct nw_target *target,
		     const struct nw_process *process, uint32_t semaphore, uint64_t at)
{
	struct nw_raised *raised = find_raised(target, semaphore);
	uint16_t value;
	int ret = nw_semaphore_load(process, at, &value);

	if (ret < 0)
		return ret;
	/* Raised already; with a value of 0, in a program that the process ran before. */
	if (raised && raised->at == at && (value || set->closing))
		return 0;
	bool inherited = is_inherited(set, target, semaphore, at, value);
	if (!inherited && (set->closing || value == UINT16_MAX))
		return 0;
	if (!raised)
		raised = nw_vec_add(&target->raised);
	if (!raised)
		return -ENOMEM;
	uint16_t before = inherited ? (uint16_t)(value - 1) : value;
	*raised = (struct nw_raised){.semaphore = semaphore, .at = at, .before = before};
	ret = do_step(set, NW_DO_RAISE, target, process, raised, inherited);
	if (ret < 0)
		target->raised.count--;
	else
		set->raises++;
	return ret;
}

/* Returns the entry of a process. It is added if it is new, and emptied if it belonged to an earlier process of the
 * same number. */
static struct nw_target *enter(struct nw_semaphores *set, pid_t pid,
			       const struct nw_process_stat *stat)
{
	struct nw_target *target = find_target(set, pid);

	if (!target)
		target = nw_vec_add(&set->targets);
	if (!target)
		return NULL;
	if (target->pid != pid || target->stat.start != stat->start)
		target->raised.count = 0;
	target->pid = pid;
	target->stat = *stat;
	return target;
}

/* Raises the semaphores in a process that maps one of the files. */
static int raise_in(struct nw_semaphores *set, pid_t pid)
{
	struct nw_process process;
	int ret = nw_process_open(pid, NW_PROCESS_WRITE, &process);

	if (ret < 0)
		return ret;
	struct nw_target *target = enter(set, pid, &process.stat);
	if (!target)
		ret = -ENOMEM;
	for (uint32_t i = 0; i < set->all.count && ret == 0; i++) {
		uint64_t at = nw_semaphore_at(&set->all.item[i], &process);
		if (at)
			ret = raise_one(set, target, &process, i, at);
	}
	nw_process_close(&process);
	return ret;
}

/* Inspects a process, unless it was inspected before. */
static int visit(struct nw_semaphores *set, pid_t pid, bool again)
{
	const struct nw_target *known = find_target(set, pid);
	struct nw_process_stat stat;

	if (nw_process_stat(pid, &stat) < 0)
		return 0; /* gone */
	if (known && known->stat.start == stat.start && !again)
		return 0;
	if (!enter(set, pid, &stat))
		return -ENOMEM;
	/* A process that we may not inspect is only a problem if it maps the file. */
	int ret = may_map(set, pid) ? raise_in(set, pid) : 0;
	if (ret < 0 && ret != -ENOMEM && !is_gone(ret))
		nw_strings_tell(&set->problems,
				"the semaphores in process %d cannot be raised: %s",
				(int)pid, nw_strerror(-ret));
	return ret == -ENOMEM ? ret : 0;
}

void nw_semaphores_raise(struct nw_semaphores *set, pid_t pid)
{
	visit(set, pid, true);
}

static bool is_alive(const struct nw_target *target)
{
	struct nw_process_stat stat;

	return nw_process_stat(target->pid, &stat) == 0 && stat.start == target->stat.start;
}

int nw_semaphores_scan(struct nw_semaphores *set, bool again)
{
	nw_pids pids = {0};
	int ret = nw_process_all(&pids, NULL);

	nw_vec_each (&pids, pid)
		if (ret == 0)
			ret = visit(set, *pid, again);
	nw_vec_free(&pids);
	if (ret == 0 && !set->closing) {
		/* Forget processes that have ended: all their forks were inspected in this scan. */
		size_t left = 0;

		nw_vec_each (&set->targets, target) {
			if (is_alive(target))
				set->targets.item[left++] = *target;
			else
				nw_vec_free(&target->raised);
		}
		set->targets.count = left;
	}
	return ret;
}

/* ---- lowering ----------------------------------------------------------------------- */

/* Was it lowered already in another process with the same memory (vfork, clone)? */
static bool is_shared(const struct nw_semaphores *set, const struct nw_target *target,
		      const struct nw_raised *raised)
{
	nw_vec_each (&set->targets, other) {
		const struct nw_raised *same = find_raised(other, raised->semaphore);
		if (other != target && same && same->lowered && same->at == raised->at &&
		    syscall(SYS_kcmp, other->pid, target->pid, KCMP_VM, 0, 0) == 0)
			return true;
	}
	return false;
}

static int lower_one(struct nw_semaphores *set, const struct nw_target *target,
		     const struct nw_process *process, struct nw_raised *raised)
{
	uint16_t value, least = raised->unsure ? raised->before : 0;
	int ret = nw_semaphore_load(process, raised->at, &value);

	if (ret < 0)
		return ret;
	raised->lowered = true;
	raised->after = value;
	if (value <= least || is_shared(set, target, raised))
		return 0;
	raised->after = (uint16_t)(value - 1);
	ret = do_step(set, NW_DO_LOWER, target, process, raised, false);
	return ret == -ERANGE ? 0 : ret; /* its value is 0 by now */
}

static bool is_raised(const struct nw_target *target)
{
	nw_vec_each (&target->raised, raised)
		if (!raised->lowered)
			return true;
	return false;
}

/* Lowers the semaphores in a process, if the number is still that of the same process. */
static void lower_in(struct nw_semaphores *set, const struct nw_target *target)
{
	struct nw_process process;
	int ret = nw_process_open(target->pid, NW_PROCESS_WRITE, &process);

	if (ret == 0) {
		const bool same = process.stat.start == target->stat.start;
		nw_vec_each (&target->raised, raised)
			if (same && ret == 0 && !raised->lowered &&
			    nw_semaphore_at(&set->all.item[raised->semaphore], &process) ==
				    raised->at)
				ret = lower_one(set, target, &process, raised);
		nw_process_close(&process);
	}
	if (ret < 0 && !is_gone(ret) && is_alive(target) && may_map(set, target->pid))
		nw_strings_tell(&set->problems,
				"the semaphores in process %d cannot be lowered: %s",
				(int)target->pid, nw_strerror(-ret));
	nw_vec_each (&target->raised, raised) /* not tried again, even after an error */
		raised->lowered = true;
}

static void free_set(struct nw_semaphores *set)
{
	nw_vec_each (&set->targets, target)
		nw_vec_free(&target->raised);
	nw_vec_free(&set->targets);
	nw_vec_free(&set->openers);
	nw_vec_free(&set->all);
	nw_strings_free(&set->problems);
	if (set->watch >= 0)
		close(set->watch);
}

/* Lowers the semaphores, frees the set and reports what could not be done. */
static int finish(struct nw_semaphores *set, nw_strings *stuck)
{
	nw_strings_free(&set->problems); /* problems of raising do not matter any more */
	/* Forks that are made during a round are found in the next round. */
	bool again = true;
	set->closing = true;
	for (int round = 0; again && round < MOST_ROUNDS; round++) {
		int ret = nw_semaphores_scan(set, false);
		if (ret < 0)
			nw_strings_tell(
				&set->problems,
				"semaphores may stay raised: not all processes could be looked at: %s",
				nw_strerror(-ret));
		again = false;
		nw_vec_each (&set->targets, target) {
			if (!is_raised(target))
				continue;
			lower_in(set, target);
			again = true;
		}
	}
	int ret = set->problems.count ? -EBUSY : 0;
	nw_vec_each (&set->problems, problem)
		nw_strings_tell(stuck, "%s", *problem);
	free_set(set);
	return ret;
}

int nw_semaphores_close(struct nw_semaphores *set, nw_strings *stuck)
{
	int ret = set ? finish(set, stuck) : 0;

	free(set);
	return ret;
}

/* ---- opening ------------------------------------------------------------------------ */

static int find_all(struct nw_semaphores *set, const struct nw_armed *armed)
{
	const struct nw_plan *plan = armed->plan;
	int ret = 0;

	nw_vec_each (&plan->events, event)
		nw_vec_each (&(*event)->places, place) {
			const struct nw_point *point = nw_plan_point(plan, place);
			if (!point->semaphore_offset || ret < 0 ||
			    armed->points.item[place->planned].failed)
				continue;
			struct nw_semaphore fresh = {point->image->dev, point->image->ino,
						     point->image->size,
						     point->semaphore_offset, ""};
			snprintf(fresh.build_id, sizeof(fresh.build_id), "%s",
				 point->image->build_id);
			ret = add_semaphore(set, &fresh);
		}
	return ret < 0 ? ret : 0;
}

int nw_semaphores_open(const struct nw_armed *armed, const struct nw_journal *journal,
		       bool watch, struct nw_semaphores **out, struct nw_error *err)
{
	struct nw_semaphores *set = *out ? *out : calloc(1, sizeof(*set));

	if (!set)
		return nw_no_memory(err);
	if (!*out)
		set->watch = -1;
	set->runner.journal = journal;
	int ret = find_all(set, armed);
	if (!*out && (ret < 0 || !set->all.count)) {
		free_set(set);
		free(set);
		return ret < 0 ? nw_no_memory(err) : 0;
	}
	if (watch)
		nw_semaphores_watch(set, armed->plan);
	*out = set;
	return ret < 0 ? nw_no_memory(err) : 0;
}

/* ---- dead sessions ------------------------------------------------------------------ */

/* Notes a raise of the dead session. unsure: it may not have happened, because nothing follows it in the journal. */
static int recall_raise(struct nw_semaphores *set, const struct nw_semaphore_step *step,
			bool unsure)
{
	const struct nw_process_stat stat = {.start = step->start};
	int semaphore = add_semaphore(set, &step->its);
	struct nw_target *target = semaphore < 0 ? NULL : enter(set, step->pid, &stat);

	if (!target)
		return -ENOMEM;
	struct nw_raised *raised = find_raised(target, (uint32_t)semaphore);
	if (!raised)
		raised = nw_vec_add(&target->raised);
	if (!raised)
		return -ENOMEM;
	*raised = (struct nw_raised){.semaphore = (uint32_t)semaphore,
				     .at = step->at,
				     .before = step->before,
				     .unsure = unsure};
	return 0;
}

static void recall_lower(struct nw_semaphores *set, const struct nw_semaphore_step *step,
			 bool unsure)
{
	const struct nw_target *target = find_target(set, step->pid);

	if (!target)
		return;
	nw_vec_each (&target->raised, raised) {
		if (raised->at != step->at)
			continue;
		raised->lowered = !unsure;
		raised->unsure = unsure;
		raised->after = raised->before;
	}
}

/* Notes all raises (the step's `back` undoes one) and lowerings (the step's `go`) of the dead session. */
static int recall(struct nw_semaphores *set, const struct nw_journal_contents *contents)
{
	size_t count = contents->semaphores.list.count;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < count; i++) {
		const struct nw_step *one = &contents->semaphores.list.item[i];
		bool lower = one->go.kind == NW_DO_LOWER;
		bool unsure = i + 1 == count && contents->semaphore_last;
		struct nw_semaphore_step step;
		if (nw_semaphore_step_read(lower ? &one->go : &one->back, &step) < 0)
			continue;
		if (lower)
			recall_lower(set, &step, unsure);
		else
			ret = recall_raise(set, &step, unsure);
	}
	return ret;
}

int nw_semaphores_recover(const struct nw_journal *journal,
			  const struct nw_journal_contents *contents, nw_strings *stuck)
{
	struct nw_semaphores set = {.runner = {.journal = journal}, .watch = -1};
	int ret = recall(&set, contents);

	if (ret == 0 && set.all.count)
		return finish(&set, stuck);
	free_set(&set);
	return ret;
}
