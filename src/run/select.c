// SPDX-License-Identifier: MIT
/* Selects the probes of a run, their values, and the target processes. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observed.h"
#include "run.h"

/* ---- probes ------------------------------------------------------------------------- */

/* Must arguments be fetched that the user did not name? */
static bool wants_args(const struct nw_run *run)
{
	return run->consumer.needs.all_args ||
	       (run->delivery.filter && nw_filter_names_args(run->delivery.filter));
}

/* Does the plan fetch arguments? */
static bool has_fetched(const struct nw_plan *plan)
{
	nw_vec_each (&plan->points, planned)
		nw_vec_each (&planned->args, source)
			if (source->field >= 0)
				return true;
	return false;
}

bool nw_run_wants_values(const struct nw_run *run)
{
	bool values = run->consumer.needs.values ||
		      (run->consumer.needs.fetched && has_fetched(&run->result->plan)) ||
		      (run->delivery.filter && nw_filter_names_args(run->delivery.filter));

	nw_vec_each (&run->result->selection.probes, probe)
		values |= (*probe)->has_args || (*probe)->callers;
	return values;
}

/* A list of parsed specs. */
typedef NW_VEC(struct nw_spec) specs;

static int add_spec(specs *list, const char *text, struct nw_error *err)
{
	struct nw_spec spec, *slot;
	int ret = nw_spec_parse(text, &spec, err);

	if (ret < 0)
		return ret;
	slot = nw_vec_add(list);
	if (!slot) {
		nw_spec_free(&spec);
		return nw_no_memory(err);
	}
	*slot = spec;
	return 0;
}

/* Parses the specs, or the ends of spans, which need not be given twice. */
static int read_specs(const struct nw_request *request, specs *out, struct nw_error *err)
{
	nw_strings ends = {0};
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < request->spec_count; i++)
		ret = add_spec(out, request->specs[i], err);
	for (size_t i = 0; ret == 0 && !request->spec_count && i < request->span_count; i++)
		ret = nw_span_specs(request->spans[i], &ends, err);
	nw_vec_each (&ends, text)
		if (ret == 0)
			ret = add_spec(out, *text, err);
	nw_strings_free(&ends);
	if (ret < 0 || out->count)
		return ret;
	nw_fail_usage(err, "no probe is named");
	if (request->pid_count)
		nw_error_hint(err, "`nopwatch list -p %d` shows those of process %d",
			      (int)request->pids[0], (int)request->pids[0]);
	else if (request->command)
		nw_error_hint(err, "`nopwatch list -- %s` shows those of %s",
			      request->command[0], request->command[0]);
	return -EINVAL;
}

static void free_specs(specs *list)
{
	nw_vec_each (list, spec)
		nw_spec_free(spec);
	nw_vec_free(list);
}

/* Returns the highest argN in a text, plus one: the number of arguments that it uses without naming them. */
static size_t args_used(const char *text)
{
	size_t used = 0;

	for (const char *at = text; at && (at = strstr(at, "arg")); at += 3) {
		unsigned long number = 0;
		char *end;
		bool begins = at == text ||
			      (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
		if (!begins || !isdigit((unsigned char)at[3]))
			continue;
		number = strtoul(at + 3, &end, 10);
		if (number < NW_MAX_FIELDS && number + 1 > used)
			used = number + 1;
	}
	return used;
}

/* Returns how many arguments these texts use. */
static size_t most_used(const char *const *texts, size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		used = nw_max64(used, args_used(texts[i]));
	return used;
}

int nw_request_spans(const struct nw_request *request, const struct nw_selection *selection,
		     nw_span_defs *out)
{
	if ((!request->span_count || request->implied) &&
	    nw_spans_by_name(selection, out) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < request->span_count; i++) {
		struct nw_span_def def;
		/* The code that uses the span reports its errors */
		struct nw_error ignored;
		if (nw_span_parse(request->spans[i], selection, &def, &ignored) < 0)
			continue;
		struct nw_span_def *slot = nw_vec_add(out);
		if (!slot) {
			nw_span_def_free(&def);
			return -ENOMEM;
		}
		*slot = def;
	}
	return 0;
}

/* Finds the frames of spans that are paired by frames, so that these are fetched. */
static int find_frames(const struct nw_request *request, struct nw_selection *selection,
		       struct nw_error *err)
{
	nw_span_defs spans = {0};
	int ret = nw_request_spans(request, selection, &spans);

	ret = ret < 0 ? nw_no_memory(err) : nw_spans_find_frames(selection, &spans, err);
	nw_spans_free(&spans);
	return ret;
}

static bool names_event(const struct nw_spec *spec, const char *system, const char *name)
{
	return spec->kind == NW_SPEC_TRACEPOINT && nw_spec_matches(spec, system, name);
}

bool nw_request_names(const struct nw_request *request, const struct nw_probe *probe)
{
	specs list = {0};
	struct nw_error ignored;
	bool named = false;

	if (read_specs(request, &list, &ignored) == 0)
		nw_vec_each (&list, spec)
			named |= names_event(spec, probe->provider, probe->name);
	free_specs(&list);
	return named;
}

/* Does the kernel have the event? Kernels before 4.3 have no sched_waking. */
static bool has_event(const struct nw_kernel_events *events, const char *system,
		      const char *name)
{
	struct nw_error ignored;
	nw_strings names = {0};
	size_t len = strlen(system);
	bool has = events->names(events->arg, &names, &ignored) < 0;

	nw_vec_each (&names, one)
		has |= strncmp(*one, system, len) == 0 && (*one)[len] == ':' &&
		       strcmp(*one + len + 1, name) == 0;
	nw_strings_free(&names);
	return has;
}

/* Adds the events that tell the states of threads, unless the user names them. */
static int add_scheduler(specs *list, const struct nw_kernel_events *events,
			 struct nw_error *err)
{
	struct nw_buf spec = {0};
	size_t asked = list->count;
	const char *event;
	int ret = 0;

	for (size_t i = 0; ret == 0 && (event = nw_scheduler_event(i)); i++) {
		bool named = !has_event(events, "sched", event);
		for (size_t j = 0; j < asked; j++)
			named |= names_event(&list->item[j], "sched", event);
		if (named)
			continue;
		nw_buf_clear(&spec);
		nw_scheduler_spec(i, &spec);
		ret = spec.failed ? nw_no_memory(err)
				  : add_spec(list, nw_buf_str(&spec), err);
	}
	nw_buf_free(&spec);
	return ret;
}

/* Adds the stacks of sleeping threads, which the kernel can write behind sched_switch. */
static int add_stacks(struct nw_selection *selection, const struct nw_kernel_events *events,
		      struct nw_error *err)
{
	nw_named_args fields = {0};
	struct nw_error ignored;
	bool has = events->fields(events->arg, NW_STACK_SYSTEM, NW_STACK_EVENT, &fields,
				  &ignored) == 0;

	nw_vec_free(&fields);
	return has ? nw_select_stacks(selection, err) : 0;
}

/* Needs beyond those that the request names. */
struct wanted {
	bool all_args, scheduler, descriptors, some;
	size_t used; /* number of arguments that are used without having been named */
};

/* Tells once what is known of probes that fire only for some calls, as another probe is not armed. */
static void tell_partners(const struct nw_request *request,
			  const struct nw_selection *selection)
{
	const char *told = NULL;

	nw_vec_each (&selection->probes, probe) {
		const char *text = nw_switch_partner(selection, *probe);
		if (text && text != told)
			nw_request_notice(request, "%s", text);
		told = text ? text : told;
	}
}

/* Does the spec name a function, rather than a place, a line or a pattern? */
static bool is_function(const struct nw_spec *spec)
{
	return spec->kind != NW_SPEC_USDT && spec->kind != NW_SPEC_TRACEPOINT &&
	       !spec->kernel && *spec->name && !spec->source && !nw_has_glob(spec->name);
}

/* A function that no file has may be one that a process generates: the hint says so. */
static int explain_generated(const specs *list, const struct nw_request *request,
			     struct nw_error *err)
{
	struct nw_generated generated = {0};
	int ret = 0;

	nw_vec_each (list, spec)
		if (ret == 0 && !generated.pid && is_function(spec))
			ret = nw_find_generated(spec->name, request->pids,
						request->pid_count, &generated);
	if (generated.pid && !generated.name) {
		nw_error_hint(
			err,
			"process %d is %s: a function of the program that it runs has code that is generated while it runs (JIT), and uprobes need a file; `nopwatch why` with the same -p and spec names the runtime's own probes",
			(int)generated.pid, generated.runtime);
	} else if (generated.pid) {
		struct nw_buf name = {0};
		nw_buf_add_escaped(&name, generated.name, strlen(generated.name));
		nw_error_hint(
			err,
			"process %d generates it while it runs ('%s' in /tmp/perf-%d.map), and uprobes need a file; `nopwatch why` with the same -p and spec names the runtime's own probes",
			(int)generated.pid, nw_buf_str(&name), (int)generated.pid);
		nw_buf_free(&name);
	}
	nw_generated_free(&generated);
	return ret < 0 ? nw_no_memory(err) : -err->code;
}

/* *command: the executable of the request's command; NULL: not needed. */
static int select_probes(const struct nw_request *request, char **command,
			 const struct wanted *wanted, struct nw_selection *out,
			 struct nw_error *err)
{
	struct nw_tracefs fs;
	const struct nw_types no_types = {0};
	const struct nw_kernel_events events = nw_events_of(&fs);
	struct nw_scope scope = {
		.pids = request->pids,
		.pid_count = request->pid_count,
		.members = request->members,
		.file = request->file,
		.force = request->force,
		.no_demangle = request->no_demangle,
		.want_operands = wanted->all_args,
		.some = wanted->some || request->some,
		.types = request->types ? request->types : &no_types,
		.events = &events,
	};
	specs list = {0};
	size_t used = wanted->used;
	int ret = read_specs(request, &list, err);

	if (ret == 0 && wanted->scheduler)
		ret = add_scheduler(&list, &events, err);
	const size_t asked = list.count;
	for (size_t i = 0; ret == 0 && wanted->descriptors && nw_descriptor_call(i); i++) {
		char spec[128];
		bool named = !has_event(&events, "syscalls", nw_descriptor_call(i));
		for (size_t j = 0; j < asked; j++)
			named |= names_event(&list.item[j], "syscalls",
					     nw_descriptor_call(i));
		nw_descriptor_spec(i, spec, sizeof(spec));
		ret = named ? 0 : add_spec(&list, spec, err);
	}
	if (ret == 0 && command && request->command)
		ret = nw_locate(request->command[0], command, err);
	scope.command = command ? *command : NULL;
	if (ret == 0)
		ret = nw_select(list.item, list.count, &scope, out, err);
	if (ret == 0 && wanted->descriptors)
		nw_vec_each (&out->probes, probe)
			(*probe)->hidden |= nw_is_descriptor_probe(*probe) &&
					    !nw_request_names(request, *probe);
	if (ret == -ENOENT && request->pid_count)
		ret = explain_generated(&list, request, err);
	if (ret == 0 && wanted->scheduler)
		ret = add_stacks(out, &events, err);
	/* If arguments were named, all others are dropped, unless the filter or a group key uses them. */
	used = nw_max64(used, args_used(request->filter));
	used = nw_max64(used, most_used(request->spans, request->span_count));
	if (ret == 0)
		ret = nw_selection_trim(out, used, err);
	free_specs(&list);
	nw_tracefs_close(&fs);
	if (ret == 0)
		nw_vec_each (&out->warnings, warning)
			nw_request_notice(request, "%s", *warning);
	if (ret == 0)
		tell_partners(request, out);
	return ret;
}

int nw_request_select(const struct nw_request *request, bool all_args,
		      struct nw_selection *out, struct nw_error *err)
{
	const struct wanted wanted = {.all_args = all_args};
	nw_cleanup(nw_free_ptr) char *command = NULL;
	int ret = select_probes(request, &command, &wanted, out, err);

	return ret < 0 ? ret : find_frames(request, out, err);
}

int nw_run_select(struct nw_run *run, struct nw_error *err)
{
	const struct nw_consumer *consumer = &run->consumer;
	const struct wanted wanted = {
		.all_args = wants_args(run),
		.scheduler = consumer->needs.scheduler,
		.descriptors = consumer->needs.descriptors,
		.used = most_used(consumer->needs.uses, consumer->needs.use_count),
	};
	int ret = select_probes(run->request, &run->live.command, &wanted,
				&run->result->selection, err);
	if (ret == 0)
		ret = nw_run_select_stacks(run, err);
	if (ret == 0 && run->request->cgroups)
		ret = nw_run_observe(run, NW_OBSERVED_MEMBER, "cgroup", err);
	if (ret == 0 && run->request->cgroups)
		nw_observed_set_cgroups(run->result->observed, run->request->cgroups);
	if (ret == 0 && consumer->needs.stacks)
		ret = find_frames(run->request, &run->result->selection, err);
	struct nw_error why;
	if (ret == 0 && consumer->needs.scheduler &&
	    nw_kernel_symbols_load("/proc/kallsyms", &run->result->symbols, &why) < 0)
		/* everything else works without them */
		nw_request_notice(run->request, "where threads sleep is not told: %s",
				  why.what);
	return ret;
}

int nw_run_select_again(const struct nw_run *run, const char *path,
			struct nw_selection *out, struct nw_error *err)
{
	struct nw_request request = *run->request;
	const struct wanted wanted = {
		.all_args = wants_args(run),
		.some = true,
		.used = most_used(run->consumer.needs.uses, run->consumer.needs.use_count),
	};

	request.file = path;
	request.pid_count = 0;
	request.notice = NULL;
	*out = (struct nw_selection){0};
	return select_probes(&request, NULL, &wanted, out, err);
}

/* ---- the plan ----------------------------------------------------------------------- */

static struct nw_plan_options plan_options(const struct nw_run *run, const char *session)
{
	struct nw_caps caps = nw_features_caps(&run->live.features);

	/* a trigger would keep a probe armed that --max-rate stops, and where the kernel counts, no hit is read */
	caps.elements &= !run->request->max_rate && !run->result->by_kernel;
	return (struct nw_plan_options){
		.session = session,
		.caps = caps,
		.all_args = wants_args(run),
		.stacks = run->consumer.needs.stacks,
		.levels = run->result->by_kernel,
		/* the kernel may watch the events of a span trigger one by one */
		.separate = run->consumer.needs.named_events || run->request->max_rate ||
			    run->inner || run->result->by_kernel,
		.naming = run->consumer.needs.named_events ? NW_NAMES_PROBES
							   : NW_NAMES_PRIVATE,
		.string_size = run->request->string_size,
		.stack_size = run->request->stack_size,
	};
}

/* Moves these probes to the nops that the kernel turns into calls, where it does. */
int nw_run_take_calls(struct nw_run *run, bool may_try, struct nw_error *err)
{
	struct nw_features *features = &run->live.features;
	struct nw_selection *selection = &run->result->selection;
	bool any = false;

	nw_vec_each (&selection->probes, probe)
		nw_vec_each (&(*probe)->points, point)
			any |= point->nop == NW_NOP_PAIR;
	if (!any || !features->has[NW_FEATURE_NOP10])
		return 0;
	int ret = may_try ? nw_calls_try(&run->live.fs, features, err) : 0;
	if (ret < 0 || !features->has[NW_FEATURE_NOP10])
		return ret;
	nw_vec_each (&selection->probes, probe)
		nw_vec_each (&(*probe)->points, point)
			nw_point_take_call(point);
	return 0;
}

int nw_run_plan_more(struct nw_run *run, const nw_points_of *points)
{
	const char *session = nw_group_session(run->result->plan.group);
	const struct nw_plan_options options = plan_options(run, session ? session : "");
	const struct nw_selection *selection = &run->result->selection;

	nw_vec_each (points, of)
		if (run->live.features.has[NW_FEATURE_NOP10])
			nw_point_take_call(
				&selection->probes.item[of->probe]->points.item[of->point]);
	return nw_plan_grow(&run->result->plan, &options, points);
}

/* Refuses functions of the kernel where it lets nobody probe them. */
static int refuse_kernel_functions(const struct nw_run *run, struct nw_error *err)
{
	nw_vec_each (&run->result->selection.probes, probe) {
		if (!(*probe)->image || !(*probe)->image->kernel ||
		    run->live.features.has[NW_FEATURE_KPROBE_EVENTS])
			continue;
		nw_fail(err, ENOTSUP,
			"%s: this kernel has no kprobe_events (built without CONFIG_KPROBE_EVENTS), so its functions cannot be probed",
			(*probe)->label);
		nw_error_hint(
			err,
			"its own events may tell the same: tracepoint:syscalls:sys_*_read times read(); available_events in tracefs lists them");
		return -ENOTSUP;
	}
	return 0;
}

/*
 * Refuses arguments that are to be read at a call's return where they cannot be: event probes behind a synthetic event are
 * what reads them (kernel/session/carried.c), whose triggers keep their events armed.
 */
static int refuse_carried(const struct nw_run *run, struct nw_error *err)
{
	const struct nw_probe *probe = nw_selection_carries(&run->result->selection);
	const struct nw_features *features = &run->live.features;
	const char *why = nw_triggers_lack(features);

	if (!why && !features->has[NW_FEATURE_RETURN_ARGS])
		why = "this kernel has no event probes (before Linux 5.15)";
	if (!why && run->request->max_rate)
		why = "--max-rate could not stop them, because triggers keep the probes armed";
	if (!probe || !why)
		return 0;
	nw_fail(err, ENOTSUP, "%s: @return: arguments cannot be read at the return: %s",
		probe->label, why);
	nw_error_hint(err, run->request->max_rate
				   ? "leave out --max-rate or @return"
				   : "leave @return out: then they are read at the entry");
	return -ENOTSUP;
}

static int make_plan(struct nw_run *run, const char *session, struct nw_error *err)
{
	const struct nw_plan_options options = plan_options(run, session);

	if (refuse_kernel_functions(run, err) < 0 || refuse_carried(run, err) < 0)
		return -err->code;
	nw_vec_each (&run->result->selection.probes, probe)
		if ((*probe)->callers && !options.caps.memory)
			return nw_fail(
				err, ENOTSUP,
				"--stack: this kernel's probes only read registers (before 3.14), so nothing of a stack can be fetched");
	return nw_plan_make(&run->result->selection, &options, &run->result->plan, err);
}

/* Asks the consumer for the triggers by which the kernel counts. Returns 1 if each hit is to be read instead. */
static int plan_counting(struct nw_run *run, struct nw_error *err)
{
	const struct nw_request *request = run->request;
	int ret = run->consumer.count(run->consumer.arg, run, &run->live.triggers, err);

	if (ret == 0 && request->verbose)
		nw_run_notice(run, "the kernel counts (--engine=kernel)");
	if (ret != -ENOTSUP || request->engine != NW_ENGINE_AUTO)
		return ret;
	if (request->verbose)
		nw_run_notice(run, "each hit is read (--engine=stream): %s", err->what);
	*err = (struct nw_error){0};
	run->live.triggers = NULL;
	return 1;
}

int nw_run_plan(struct nw_run *run, const char *session, struct nw_error *err)
{
	run->result->by_kernel = run->request->engine > NW_ENGINE_STREAM &&
				 run->consumer.count;
	int ret = make_plan(run, session, err);

	if (ret == 0 && run->result->by_kernel)
		ret = plan_counting(run, err);
	if (ret <= 0)
		return ret;
	run->result->by_kernel = false;
	nw_plan_free(&run->result->plan);
	return make_plan(run, session, err);
}

bool nw_run_has_kernel_events(const struct nw_run *run)
{
	nw_vec_each (&run->result->selection.probes, probe)
		if ((*probe)->kind == NW_SPEC_TRACEPOINT)
			return true;
	return false;
}

/* ---- the kernel --------------------------------------------------------------------- */

int nw_request_kernel(const struct nw_request *request, bool assume, struct nw_tracefs *fs,
		      struct nw_features *features, struct nw_error *err)
{
	int ret = nw_tracefs_open(fs, err);

	if (ret < 0 && !assume)
		return ret;
	if (ret < 0) {
		*fs = (struct nw_tracefs){.root = -1, .path = "/sys/kernel/tracing"};
		nw_request_notice(request,
				  "%s: the kernel is taken for one that can do everything",
				  err->what);
		return nw_features_assume(request->features, features, err);
	}
	ret = nw_features_find(fs, request->features, !assume, features, err);
	if (ret == 0 && features->unproven)
		nw_request_notice(
			request,
			"this kernel's files do not tell what its probes can do, and it was not tried since it was booted (`nopwatch features` does): they are taken to record in instances");
	return ret;
}

/* ---- processes ---------------------------------------------------------------------- */

/* Adds the descendants of these processes. */
int nw_run_add_descendants(nw_pids *pids, struct nw_error *err)
{
	for (size_t i = 0; i < pids->count; i++) { /* pids grows meanwhile */
		const pid_t pid = pids->item[i];
		int ret = nw_process_children(pid, pids);
		if (ret < 0 && nw_is_shortage(-ret))
			return nw_fail(err, -ret, "cannot list the children of %d: %s",
				       (int)pid, nw_strerror(-ret));
	}
	return 0;
}

static int add_pid(nw_pids *pids, pid_t pid, struct nw_error *err)
{
	pid_t *slot = nw_vec_add(pids);

	if (!slot)
		return nw_no_memory(err);
	*slot = pid;
	return 0;
}

/* Watches the threads of the request, and finds their numbers in the kernel. */
static int collect_tids(struct nw_run *run, struct nw_error *err)
{
	const struct nw_request *request = run->request;
	pid_t process, kernel_process = 0, kernel_tid = 0;
	char comm[16];
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < request->tid_count; i++) {
		const pid_t tid = request->tids[i];
		if (nw_process_task(tid, &process, comm) < 0)
			return nw_fail(err, ESRCH, "there is no thread %d", (int)tid);
		ret = nw_wake_watch_thread(&run->live.wake, process, tid, err);
		if (ret == 0)
			ret = nw_pid_space_kernel(&run->live.space, process,
						  &kernel_process, err);
		if (ret == 0)
			ret = nw_pid_space_kernel_thread(&run->live.space, kernel_process,
							 tid, &kernel_tid, err);
		if (ret == 0)
			ret = add_pid(&run->result->tids, kernel_tid, err);
	}
	return ret;
}

int nw_run_collect_pids(struct nw_run *run, struct nw_error *err)
{
	const struct nw_request *request = run->request;
	bool by_command = run->live.child.pid && !request->pid_count && !request->all &&
			  (!request->cgroups || request->follow);
	int ret = 0;

	for (size_t i = 0; ret == 0 && !request->members && i < request->pid_count; i++) {
		if (!request->tid_count)
			ret = nw_wake_watch(&run->live.wake, request->pids[i], err);
		if (ret == 0 && !request->all)
			ret = add_pid(&run->result->pids, request->pids[i], err);
	}
	if (ret == 0 && by_command)
		ret = nw_run_counts_command(run, err);
	if (ret > 0)
		ret = add_pid(&run->result->pids, nw_pid_shown(run->live.child.pid), err);
	run->result->by_cgroup = request->cgroups != NULL;
	run->result->restricted = run->result->pids.count > 0 || request->main_thread ||
				  request->cgroups;
	if (ret == 0 && request->follow)
		ret = nw_run_add_descendants(&run->result->pids, err);
	nw_pid_space_open(&run->live.space);
	nw_vec_each (&run->result->pids, pid)
		if (ret == 0)
			ret = nw_pid_space_kernel(&run->live.space, *pid, pid, err);
	if (ret == 0)
		ret = collect_tids(run, err);
	if (ret == 0 && run->result->observed)
		ret = nw_pid_space_check(
			&run->live.space,
			request->cgroups ? "--cgroup" : "--by title, cgroup or container",
			err);
	return ret == 0 && request->stack_count
		       ? nw_pid_space_check(&run->live.space, "--stack", err)
		       : ret;
}
