// SPDX-License-Identifier: MIT
/* Selects the threads whose scheduler events a live run records (--states): the traced threads, as far as they are
 * known. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "guards.h"

typedef NW_VEC(const struct nw_image *) const_images;

/* Are the scheduler's events recorded without being shown? */
static bool wants_switches(const struct nw_run *run)
{
	nw_vec_each (&run->result->selection.probes, probe)
		if (nw_is_scheduler_probe(*probe) && nw_request_names(run->request, *probe))
			return false;
	return run->consumer.needs.scheduler;
}

/* May unknown threads hit a probe, because it is a kernel event? */
static bool anybody_hits(const struct nw_run *run)
{
	bool kernel = false;

	nw_vec_each (&run->result->selection.probes, probe)
		kernel |= nw_probe_in_kernel(*probe) && !nw_is_scheduler_probe(*probe) &&
			  strcmp((*probe)->provider, NW_STACK_SYSTEM) != 0;
	return kernel && !run->result->pids.count;
}

/*
 * Are only the events of traced threads recorded? Not if the scheduler's events are shown, because wake-ups are hits
 * of the waking threads. The threads that may hit must be known: those of the target processes, if births are read
 * all the time, or those of processes that map a probed file.
 */
bool nw_run_only_their_switches(const struct nw_run *run)
{
	return wants_switches(run) && !anybody_hits(run) &&
	       !(run->consumer.due && run->result->pids.count);
}

/* Lists the images of all probes, without duplicates. */
static int list_images(const struct nw_run *run, const_images *out)
{
	nw_vec_each (&run->result->plan.points, planned) {
		const struct nw_probe *probe =
			run->result->selection.probes.item[planned->probe];
		const struct nw_image *image = probe->points.item[planned->point].image;
		bool known = nw_probe_in_kernel(probe);
		for (size_t i = 0; i < out->count && !known; i++)
			known = out->item[i] == image;
		const struct nw_image **slot = known ? NULL : nw_vec_add(out);
		if (slot)
			*slot = image;
		else if (!known)
			return -ENOMEM;
	}
	return 0;
}

/* Adds the name that exec() gives a thread (begin_new_exec() in fs/exec.c): the last part of the path. */
static int add_program(const char *path, nw_strings *out)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	return strstr(name, ".so") ? 0 : nw_strings_add(out, name, strlen(name));
}

/* Finds the processes that map a probed file, by the kernel's numbers. */
static int find_processes(const struct nw_run *run, const const_images *images,
			  nw_pids *out)
{
	int ret = nw_processes_mapping(images->item, images->count, out);
	size_t known = 0; /* a process that has ended since has no kernel number any more */

	nw_vec_each (out, pid)
		known += nw_pid_space_kernel(&run->live.space, *pid, &out->item[known],
					     NULL) == 0;
	out->count = known;
	return ret;
}

static int tell_not_found(int ret, struct nw_error *err)
{
	return ret < 0 ? nw_fail(err, -ret, "cannot look for processes to trace: %s",
				 nw_strerror(-ret))
		       : 0;
}

int nw_run_list_users(const struct nw_run *run, nw_pids *processes, nw_strings *comms,
		      struct nw_error *err)
{
	const_images images = {0};
	int ret = 0;

	if (run->live.command)
		ret = add_program(run->live.command, comms);
	if (ret == 0 && !run->result->pids.count)
		ret = list_images(run, &images);
	nw_vec_each (&images, image)
		if (ret == 0)
			ret = add_program((*image)->path, comms);
	if (ret == 0 && images.count)
		ret = find_processes(run, &images, processes);
	nw_vec_free(&images);
	return tell_not_found(ret, err);
}

int nw_run_find_users(const struct nw_run *run, struct nw_error *err)
{
	nw_strings comms = {0};
	nw_pids pids = {0};
	int ret = 0;

	if (!nw_run_only_their_switches(run))
		return 0;
	ret = nw_run_list_users(run, &pids, &comms, err);
	if (ret == 0 &&
	    nw_session_set_target_processes(run->live.session, &pids, &comms) < 0)
		ret = nw_no_memory(err);
	nw_vec_free(&pids);
	nw_strings_free(&comms);
	return ret;
}

/* ---- where births are not read all the time ------------------------------------------ */

#define LOOK_NS UINT64_C(1000000000)
/* The search takes at most a five-hundredth of a CPU. */
#define REST_FACTOR 500u

/* Searches again after the last birth: a new process starts a program, which then loads its libraries. */
int nw_run_find_users_again(struct nw_run *run, struct nw_error *err)
{
	struct nw_process_rescan *rescan = &run->live.rescan;
	uint64_t now = nw_session_now(run->live.session),
		 before = nw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const_images images = {0};
	nw_pids pids = {0};
	const char *refused;

	if (!run->consumer.due || run->result->pids.count || now < rescan->next ||
	    !nw_session_names_threads(run->live.session, &refused))
		return 0;
	uint64_t born = nw_pid_space_last_born(&run->live.space);
	bool fresh = !born || born != rescan->born;
	int ret = 0;
	if (fresh || rescan->again) {
		ret = list_images(run, &images);
		if (ret == 0)
			ret = find_processes(run, &images, &pids);
		if (ret == 0)
			ret = nw_session_update_target_processes(run->live.session, &pids);
	}
	rescan->again = fresh;
	rescan->born = born;
	rescan->next = now +
		       nw_max64(LOOK_NS, (nw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before) *
						 REST_FACTOR);
	nw_vec_free(&images);
	nw_vec_free(&pids);
	return tell_not_found(ret, err);
}

/* Copies the threads that were selected since the last call. If selecting was given up, that is reported once. */
int nw_run_note_named(struct nw_run *run, struct nw_error *err)
{
	struct nw_run_result *result = run->result;
	const nw_named_threads *named = nw_session_named(run->live.session);
	const char *why;

	const nw_strings *comms = nw_session_comms(run->live.session);
	for (size_t i = result->named_comms.count; result->has_named && i < comms->count;
	     i++)
		if (nw_strings_add(&result->named_comms, comms->item[i],
				   strlen(comms->item[i])) < 0)
			return nw_no_memory(err);
	/* With due(), threads are looked up before each reading (nw_session_named_now()). */
	for (size_t i = result->named.count; !run->consumer.due && i < named->count; i++) {
		struct nw_named_at *slot = nw_vec_add(&result->named);
		if (!slot)
			return nw_no_memory(err);
		*slot = (struct nw_named_at){named->item[i].tid, named->item[i].from,
					     run->delivery.stream ? nw_run_watermark(run)
								  : 0};
	}
	nw_session_names_threads(run->live.session, &why);
	if (wants_switches(run) && anybody_hits(run))
		why = "the threads that will hit the kernel events are unknown (use -p or CMD)";
	if (!why || result->unnamed_why)
		return 0;
	result->unnamed_why = strdup(why);
	nw_run_notice(
		run,
		"the scheduler's events of all threads in the system are recorded, not only of those that are traced: %s",
		why);
	return result->unnamed_why ? 0 : nw_no_memory(err);
}
