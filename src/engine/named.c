// SPDX-License-Identifier: MIT
/* Whose scheduler events a live run records (--states): those of the threads that it traces, as far as it can be known. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

typedef NW_VEC(const struct nw_image *) const_images;

/*
 * They are read all the time, and nobody asks to see them: those of waking are hits of who wakes. And it is known who may hit:
 * the processes that are meant, or those that map a file.
 */
bool nw_run_only_their_switches(const struct nw_run *run)
{
	bool only = run->consumer.scheduler && !run->consumer.due;

	nw_vec_each (&run->result->selection.probes, probe) {
		if (nw_is_scheduler_probe(*probe))
			only &= !nw_request_names(run->request, *probe);
		else if (strcmp((*probe)->provider, NW_STACK_SYSTEM) != 0)
			only &= (*probe)->kind != NW_SPEC_TRACEPOINT ||
				run->result->pids.count;
	}
	return only;
}

/* The images of all probes, each once. */
static int list_images(const struct nw_run *run, const_images *out)
{
	nw_vec_each (&run->result->plan.points, planned) {
		const struct nw_probe *probe =
			run->result->selection.probes.item[planned->probe];
		const struct nw_image *image = probe->points.item[planned->point].image;
		bool known = !image;
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

/* As exec() calls a thread (begin_new_exec() in fs/exec.c): by the last part of the path. */
static int add_program(const char *path, nw_strings *out)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	return strstr(name, ".so") ? 0 : nw_strings_add(out, name, strlen(name));
}

/* Who maps what is probed, by the kernel's numbers. */
static int find_processes(const struct nw_run *run, const const_images *images,
			  nw_pids *out)
{
	int ret = nw_processes_mapping(images->item, images->count, out);
	size_t known = 0; /* who has ended since has no number there any more */

	nw_vec_each (out, pid)
		known += nw_pid_space_kernel(&run->space, *pid, &out->item[known], NULL) ==
			 0;
	out->count = known;
	return ret;
}

int nw_run_find_users(const struct nw_run *run, struct nw_error *err)
{
	const_images images = {0};
	nw_strings comms = {0};
	nw_pids pids = {0};
	int ret = 0;

	if (!nw_run_only_their_switches(run))
		return 0;
	if (run->command)
		ret = add_program(run->command, &comms);
	if (ret == 0 && !run->result->pids.count)
		ret = list_images(run, &images);
	nw_vec_each (&images, image)
		if (ret == 0)
			ret = add_program((*image)->path, &comms);
	if (ret == 0 && images.count)
		ret = find_processes(run, &images, &pids);
	if (ret == 0)
		ret = nw_session_users(run->session, &pids, &comms);
	nw_vec_free(&images);
	nw_vec_free(&pids);
	nw_strings_free(&comms);
	return ret < 0 ? nw_no_memory(err) : 0;
}

/* Who was named since the last call; the first time that naming was given up, that is said. */
int nw_run_note_named(struct nw_run *run, struct nw_error *err)
{
	struct nw_run_result *result = run->result;
	const nw_named_threads *named = nw_session_named(run->session);
	const char *why;

	const nw_strings *comms = nw_session_comms(run->session);
	for (size_t i = result->named_comms.count; result->has_named && i < comms->count;
	     i++)
		if (nw_strings_add(&result->named_comms, comms->item[i],
				   strlen(comms->item[i])) < 0)
			return nw_no_memory(err);
	for (size_t i = result->named.count; i < named->count; i++) {
		struct nw_named_at *slot = nw_vec_add(&result->named);
		if (!slot)
			return nw_no_memory(err);
		*slot = (struct nw_named_at){named->item[i].tid, named->item[i].from,
					     run->stream ? nw_run_known(run) : 0};
	}
	nw_session_names_threads(run->session, &why);
	if (!why || result->unnamed_why)
		return 0;
	result->unnamed_why = strdup(why);
	nw_run_notice(
		run,
		"the scheduler's events of all threads in the system are recorded, not only of those that are traced: %s",
		why);
	return result->unnamed_why ? 0 : nw_no_memory(err);
}
