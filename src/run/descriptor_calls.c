// SPDX-License-Identifier: MIT
/*
 * The system calls that close descriptors, for the paths of --by 'path(fd)' (descriptors.h). The kernel's events of them are recorded
 * beside the user's probes, and are not shown.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "observed.h"
#include "run.h"

enum {
	CLOSE_UNSHARES = 2,    /* CLOSE_RANGE_UNSHARE */
	SHARES_FILES = 0x400,  /* CLONE_FILES */
	SHARES_GROUP = 0x10000 /* CLONE_THREAD */
};

static const struct call {
	const char *name;
	enum {
		ONE, /* the first argument is closed */
		RANGE,
		UNSHARE, /* the thread may have a table of its own */
		RING,	 /* io_uring closes without a system call */
		RETURN
	} what;
	const char *args[3];
} calls[] = {
	{"sys_enter_close", ONE, {"fd"}},
	{"sys_enter_dup2", ONE, {"newfd"}},
	{"sys_enter_dup3", ONE, {"newfd"}},
	{"sys_enter_close_range", RANGE, {"fd", "max_fd", "flags"}},
	{"sys_enter_unshare", UNSHARE, {"unshare_flags"}},
	{"sys_enter_io_uring_setup", RING, {"entries"}},
	{"sys_exit_close", RETURN, {"ret"}},
	{"sys_exit_dup2", RETURN, {"ret"}},
	{"sys_exit_dup3", RETURN, {"ret"}},
	{"sys_exit_close_range", RETURN, {"ret"}},
};

const char *nw_descriptor_call(size_t number)
{
	return number < NW_COUNT(calls) ? calls[number].name : NULL;
}

void nw_descriptor_spec(size_t number, char *out, size_t size)
{
	const struct call *call = &calls[number];

	snprintf(out, size, "tracepoint:syscalls:%s(%s%s%s%s%s)", call->name, call->args[0],
		 call->args[1] ? ", " : "", call->args[1] ? call->args[1] : "",
		 call->args[2] ? ", " : "", call->args[2] ? call->args[2] : "");
}

static const struct call *call_of(const struct nw_probe *probe)
{
	if (probe->kind != NW_SPEC_TRACEPOINT || strcmp(probe->provider, "syscalls") != 0)
		return NULL;
	for (size_t i = 0; i < NW_COUNT(calls); i++)
		if (strcmp(calls[i].name, probe->name) == 0)
			return &calls[i];
	return NULL;
}

bool nw_is_descriptor_probe(const struct nw_probe *probe)
{
	return call_of(probe) != NULL;
}

/* ---- where paths come from ---------------------------------------------------------- */

/* A socket's number says nothing, and makes a group of each. */
static void shorten(char *path)
{
	static const char *const kinds[] = {"socket", "pipe"};

	for (size_t i = 0; i < NW_COUNT(kinds); i++) {
		const size_t len = strlen(kinds[i]);
		if (strncmp(path, kinds[i], len) == 0 && path[len] == ':')
			path[len] = '\0';
	}
}

static int read_path(void *arg, pid_t pid, uint32_t fd, char *out, size_t size)
{
	const struct nw_run *run = arg;
	int ret = nw_pid_space_path(&run->live.space, pid, (int32_t)fd, out, size);

	if (ret == 0)
		shorten(out);
	return ret;
}

static bool is_strange(void *arg, pid_t pid)
{
	const struct nw_run *run = arg;

	return nw_pid_space_closes_unseen(&run->live.space, pid);
}

static uint64_t trace_now(void *arg)
{
	const struct nw_run *run = arg;

	return nw_session_now(run->live.session);
}

static int fail_without(const char *key, const char *why, struct nw_error *err)
{
	nw_fail(err, ENOTSUP, "--by '%s': %s", key, why);
	nw_error_hint(
		err,
		"without them a path may be that of a later file with the same number. Group by the number, with --by pid,ARG, or see the paths with `strace -f -y`");
	return -ENOTSUP;
}

int nw_run_descriptors_open(struct nw_run *run, const char *key, struct nw_error *err)
{
	const struct nw_descriptor_source source = {
		.read = read_path, .strange = is_strange, .now = trace_now, .arg = run};
	struct nw_descriptors *descriptors;
	bool closes = false, returns = false;

	if (nw_observed_descriptors(run->result->observed))
		return 0;
	if (!run->consumer.needs.descriptors)
		return nw_fail_usage(err, "--by '%s': begin with --by '%s'", key, key);
	nw_vec_each (&run->result->selection.probes, probe) {
		const struct call *call = call_of(*probe);
		for (size_t i = 0; call && i < NW_COUNT(call->args) && call->args[i]; i++)
			if (call->what != RETURN && nw_arg_find(*probe, call->args[i]) < 0)
				return nw_fail_usage(
					err, "--by '%s' needs the argument '%s' of %s", key,
					call->args[i], (*probe)->label);
		closes |= call && strcmp(call->name, "sys_enter_close") == 0;
		returns |= call && strcmp(call->name, "sys_exit_close") == 0;
	}
	if (!closes || !returns)
		return fail_without(
			key,
			"the kernel has no events of the system calls that close descriptors (CONFIG_FTRACE_SYSCALLS)",
			err);
	if (nw_descriptors_open(&source, &descriptors) < 0)
		return nw_no_memory(err);
	nw_observed_set_descriptors(run->result->observed, descriptors);
	return 0;
}

static struct nw_descriptors *descriptors_of(const struct nw_run *run)
{
	return run->result->observed ? nw_observed_descriptors(run->result->observed)
				     : NULL;
}

void nw_run_descriptors_armed(struct nw_run *run)
{
	struct nw_descriptors *d = descriptors_of(run);

	if (!d)
		return;
	/* what was closed before the events were enabled is not known */
	nw_descriptors_lost(d, run->result->armed_ns);
	for (size_t i = 0; i < run->result->armed.points.count; i++) {
		const size_t probe = run->result->plan.points.item[i].probe;
		if (run->result->armed.points.item[i].failed &&
		    nw_is_descriptor_probe(run->result->selection.probes.item[probe]))
			nw_descriptors_lost(d, UINT64_MAX);
	}
}

/* ---- the events --------------------------------------------------------------------- */

/* Returns an argument of a hit. If it is missing, all numbers are meant: *missing. */
static uint32_t number_of(const struct nw_probe *probe, const struct nw_hit *hit,
			  const char *name, bool *missing)
{
	const int at = nw_arg_find(probe, name);

	if (at >= 0 && (size_t)at < hit->value_count &&
	    (hit->values[at].kind == NW_VALUE_SIGNED ||
	     hit->values[at].kind == NW_VALUE_UNSIGNED))
		return (uint32_t)hit->values[at].number;
	*missing = true;
	return 0;
}

void nw_run_take_call(struct nw_run *run, const struct nw_hit *hit)
{
	struct nw_descriptors *d = descriptors_of(run);
	const struct nw_probe *probe = run->result->selection.probes.item[hit->probe];
	const struct call *call = d ? call_of(probe) : NULL;
	uint32_t number[NW_COUNT(call->args)] = {0};
	bool missing = false;

	if (!call)
		return;
	const pid_t pid = nw_tasks_get(run->delivery.tasks, hit->tid)->pid;
	for (size_t i = 0; i < NW_COUNT(number) && call->args[i] && call->what != RETURN;
	     i++)
		number[i] = number_of(probe, hit, call->args[i], &missing);
	const uint32_t last = missing		    ? UINT32_MAX
			      : call->what == RANGE ? number[1]
						    : number[0];
	switch (call->what) {
	case RANGE:
		if (missing || number[2] & CLOSE_UNSHARES)
			nw_descriptors_distrust(d, pid);
		nw_descriptors_closing(d, pid, hit->tid, number[0], last, hit->time);
		break;
	case ONE:
		nw_descriptors_closing(d, pid, hit->tid, missing ? 0 : number[0], last,
				       hit->time);
		break;
	case UNSHARE:
		if (missing || number[0] & SHARES_FILES)
			nw_descriptors_distrust(d, pid);
		break;
	case RING:
		nw_descriptors_distrust(d, pid);
		break;
	case RETURN:
		nw_descriptors_closed(d, pid, hit->tid, hit->time);
		break;
	}
}

void nw_run_calls_lost(struct nw_run *run, uint64_t until)
{
	if (descriptors_of(run))
		nw_descriptors_lost(descriptors_of(run), until);
}

void nw_run_take_life(struct nw_run *run, const struct nw_record *record)
{
	struct nw_descriptors *d = descriptors_of(run);
	const int32_t born = d ? nw_record_born(record) : 0;

	if (!d)
		return;
	if (nw_record_exited(record))
		nw_descriptors_gone(d, nw_record_exited(record), record->time);
	if (nw_record_exec(record))
		nw_descriptors_gone(d, record->tid, record->time);
	if (!born)
		return;
	const uint64_t flags = nw_record_clone_flags(record);
	if (!(flags & SHARES_GROUP))
		nw_descriptors_gone(d, born, record->time);
	/* Two processes have one table, or a thread has a table of its own. */
	if (!(flags & SHARES_FILES) == !(flags & SHARES_GROUP))
		return;
	nw_descriptors_distrust(d, nw_tasks_get(run->delivery.tasks, record->tid)->pid);
	nw_descriptors_distrust(d, born);
}
