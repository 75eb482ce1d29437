// SPDX-License-Identifier: MIT
/*
 * What a session would do to the kernel (--dry-run): the session runs as always, but its steps are
 * collected instead of done, and each counts as successful; what it would do after a refusal of the
 * kernel is not shown. This file has only what a shell has to do in another way than nopwatch.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/session/session.h"

#include "kernel/steps/steps.h"

#include "session_private.h"

static const char held[] = "/proc/self/fd/";

/* A path for the kernel to an image whose own path the grammar cannot carry: a descriptor that the
 * shell holds open. */
char *nw_session_dry_run_path(struct nw_session *session, const char *path)
{
	struct nw_buf word = {0};
	unsigned int next = 3;

	nw_vec_each (&session->paths, known)
		next += strncmp(known->path, held, sizeof(held) - 1) == 0;
	if (next > 9) { /* no shell needs to know more digits */
		nw_step_runner_shell(
			&session->runner,
			"# too many files with odd paths: the next must be named otherwise");
		return strdup(path);
	}
	nw_shell_word(&word, path);
	nw_step_runner_shell(&session->runner, "exec %u<%s", next, nw_buf_str(&word));
	nw_buf_free(&word);
	return nw_text("%s%u", held, next);
}

/* restricted: only the shell itself is recorded, and what it starts: CMD */
static void restrict_to(struct nw_session *session,
			const struct nw_session_options *options, bool restricted)
{
	const bool *has = session->features->has;

	if (!options->pid_count && !restricted)
		return;
	if (!has[NW_FEATURE_EVENT_PID] ||
	    (!options->tid_count && !has[NW_FEATURE_EVENT_FORK])) {
		nw_step_runner_shell(
			&session->runner,
			"# this kernel cannot keep other processes out: nopwatch sorts what it reads");
		return;
	}
	for (size_t i = 0; i < options->tid_count; i++)
		nw_step_runner_shell(&session->runner, "echo %d >>\"$I/set_event_pid\"",
				     (int)options->tids[i]);
	if (options->tid_count)
		return;
	(void)nw_session_set(session, nw_settings[NW_SETTING_FORK].file,
			     nw_settings[NW_SETTING_FORK].value);
	if (restricted)
		nw_step_runner_shell(&session->runner, "echo $$ >>\"$I/set_event_pid\"");
	for (size_t i = 0; i < options->pid_count; i++)
		nw_step_runner_shell(
			&session->runner,
			"for t in /proc/%d/task/*; do echo \"${t##*/} \" >>\"$I/set_event_pid\"; done",
			(int)options->pids[i]);
}

static int dry_run(struct nw_session *session, const struct nw_session_options *options,
		   bool restricted, const nw_strings *middle, struct nw_error *err)
{
	int ret = nw_session_prepare(session, &session->options, err);

	if (ret < 0)
		return ret;
	restrict_to(session, options, restricted);
	ret = nw_session_record(session, err);
	if (ret == 0)
		ret = nw_session_arm(session, err);
	if (!session->features->has[NW_FEATURE_REF_CTR])
		nw_step_runner_shell(
			&session->runner,
			"# nopwatch would now raise the semaphores in /proc/PID/mem");
	nw_vec_each (middle, line)
		nw_step_runner_shell(&session->runner, "%s", *line);
	return ret;
}

/* Prints the end of a session. */
static int take_away(struct nw_session *session, struct nw_error *err)
{
	int ret = nw_session_stop(session, err);
	struct nw_step_runner *runner = &session->runner;
	char text[2 * NW_MAX_NAME + 16];

	if (ret == 0 && ((ret = nw_session_print_removal(session)) < 0 ||
			 (ret = nw_session_carry_print_end(session)) < 0))
		nw_fail(err, -ret, "cannot print how triggers are removed: %s",
			nw_strerror(-ret));
	if (nw_session_set(session, "events/enable", "0") == -ENOMEM ||
	    nw_session_carry_print_removal(session) < 0)
		ret = nw_no_memory(err);
	snprintf(text, sizeof(text), "instances/%s", session->plan->group);
	(void)nw_step_runner_step(runner, NW_DO_RMDIR, text, "", NULL);
	nw_vec_each (&session->armed->events, event) {
		if (*(*event)->planned->system || !(*event)->defined ||
		    nw_event_is_carried((*event)->planned))
			continue;
		snprintf(text, sizeof(text), "%s/%s", session->plan->group, (*event)->name);
		(void)nw_step_runner_step(runner, NW_DO_DELETE,
					  nw_session_list(session, (*event)->planned), text,
					  NULL);
	}
	return ret;
}

static void close_paths(struct nw_session *session)
{
	nw_vec_each (&session->paths, known)
		if (strncmp(known->path, held, sizeof(held) - 1) == 0)
			nw_step_runner_shell(&session->runner, "exec %s<&-",
					     known->path + sizeof(held) - 1);
}

int nw_session_dry_run(const struct nw_tracefs *fs, const struct nw_features *features,
		       const struct nw_plan *plan, const struct nw_session_options *options,
		       const struct nw_session_targets *targets, bool restricted,
		       const nw_strings *middle, struct nw_buf *out, struct nw_error *err)
{
	if (!features->has[NW_FEATURE_INSTANCES] ||
	    !features->has[NW_FEATURE_INSTANCE_EVENTS]) {
		nw_fail(err, ENOTSUP,
			"what is done without instances, in the top-level buffer, cannot be told: it depends on what is set there");
		nw_error_hint(err, "`nopwatch script` makes a script for such kernels");
		return -ENOTSUP;
	}
	struct nw_armed armed = {0};
	struct nw_session *session = calloc(1, sizeof(*session));
	if (!session || nw_armed_make(plan, &armed) < 0) {
		free(session);
		return nw_no_memory(err);
	}
	*session = (struct nw_session){.fs = fs,
				       .features = features,
				       .plan = plan,
				       .armed = &armed,
				       .instance = -1,
				       .top_lock = -1,
				       .journal = {.fd = -1},
				       .runner = {.fs = fs, .dry_run = true},
				       .options = *options};
	session->options.pids = NULL;
	session->options.pid_count = 0;
	session->options.tids = NULL;
	session->options.tid_count = 0;
	int ret = nw_session_set_target_processes(session, targets->processes,
						  targets->comms);
	ret = ret < 0 ? nw_no_memory(err)
		      : dry_run(session, options, restricted, middle, err);
	if (ret == 0 && !options->stays)
		ret = take_away(session, err);
	close_paths(session);
	if (ret == 0) {
		nw_steps_print(fs->path, &session->runner.steps, out);
		ret = out->failed ? nw_no_memory(err) : 0;
	}
	nw_session_free(session);
	nw_armed_free(&armed);
	return ret;
}
