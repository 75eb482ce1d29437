// SPDX-License-Identifier: MIT
/* See request.h. */
#include "request.h"

#include "measure/strays.h"
#include "show/text/text.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- what is asked for -------------------------------------------------------------- */

static void print_notice(void *arg, const char *text)
{
	(void)arg;
	nw_note("%s", text);
}

const char *nw_service_name(void)
{
	const char *name = getenv("OTEL_SERVICE_NAME");

	return name && *name ? name : NULL;
}

struct nw_request nw_kernel_request(const struct nw_args *args)
{
	return (struct nw_request){
		.features = getenv("NOPWATCH_FEATURES"),
		.notice = args->quiet ? NULL : print_notice,
	};
}

static void take_options(const struct nw_args *args, const char *command_line,
			 struct nw_request *out)
{
	*out = nw_kernel_request(args);
	out->specs = args->words.item;
	out->spec_count = args->words.count;
	out->spans = args->spans.item;
	out->span_count = args->spans.count;
	out->file = args->file;
	out->filter = args->filter;
	out->pids = args->pids.item;
	out->pid_count = args->pids.count;
	out->command = args->cmd;
	out->all = args->all;
	out->follow = args->follow;
	out->main_thread = args->main_thread;
	out->duration_ns = args->duration_ns;
	out->buffer_bytes = args->buffer_bytes;
	out->max_rate = args->max_rate;
	out->string_size = (uint32_t)args->string_size;
	out->stacks = args->stacks.item;
	out->stack_count = args->stacks.count;
	out->stack_size = (uint32_t)args->stack_size;
	out->force = args->force;
	out->engine = args->engine;
	out->replaced = args->no_follow_file ? NW_REPLACED_TOLD : NW_REPLACED_FOLLOWED;
	out->no_demangle = args->no_demangle;
	out->verbose = args->verbose > 0;
	out->signals = true;
	out->command_line = command_line;
}

/* Opens a file. A file of known length becomes one piece of memory; any other is read as a stream. */
static int open_file(struct nw_prepared *p, int fd, struct nw_error *err)
{
	const char *name = p->args->from;
	struct stat st;

	if (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode))
		return nw_fail(err, EISDIR, "cannot read '%s': %s", name,
			       nw_strerror(EISDIR));
	p->request.source_fd = fd;
	/* Files of tracefs report a size of 0. */
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return 0;
	int ret = nw_input_open(fd, &st, name, &p->input, err);
	p->request.source_bytes = p->input.bytes;
	p->request.source_len = p->input.len;
	return ret;
}

static int open_from(struct nw_prepared *p, struct nw_error *err)
{
	const struct nw_args *args = p->args;

	if (args->words.count || args->cmd || args->pids.count || args->tids.count ||
	    args->cgroups.count)
		return nw_fail_usage(
			err,
			"a recording holds its own probes: --from goes without SPEC, -p, --cgroup and CMD");
	p->request.source_name = args->from;
	if (strcmp(args->from, "-") == 0)
		return open_file(p, STDIN_FILENO, err);
	p->fd = nw_open_input(args->from);
	if (p->fd == -ENXIO)
		return nw_fail(err, ENXIO,
			       "cannot read '%s': it is neither a file nor a pipe",
			       args->from);
	if (p->fd < 0) {
		nw_fail(err, -p->fd, "cannot read '%s': %s", args->from,
			nw_strerror(-p->fd));
		if (p->fd == -ENOENT)
			nw_error_hint(
				err, "`nopwatch record -o FILE SPEC...` makes a recording");
		return p->fd;
	}
	return open_file(p, p->fd, err);
}

/* Finds the processes of --tid's threads, in whose files probes are looked for. */
static int find_processes(struct nw_prepared *p, struct nw_error *err)
{
	char comm[16];

	nw_vec_each (&p->args->tids, tid) {
		pid_t *slot = nw_vec_add(&p->processes);
		if (!slot)
			return nw_no_memory(err);
		int ret = nw_process_task(*tid, slot, comm);
		if (ret < 0 && nw_is_shortage(-ret))
			return nw_fail(err, -ret, "cannot look at thread %d: %s", (int)*tid,
				       nw_strerror(-ret));
		if (ret < 0) {
			nw_fail(err, ESRCH, "there is no thread %d", (int)*tid);
			nw_error_hint(err, "`ps -L -p PID` lists the threads of a process");
			return -ESRCH;
		}
	}
	if (!p->args->tids.count)
		return 0;
	p->request.pids = p->processes.item;
	p->request.pid_count = p->processes.count;
	p->request.tids = p->args->tids.item;
	p->request.tid_count = p->args->tids.count;
	return 0;
}

int nw_find_members(const struct nw_args *args, bool distinct, struct nw_cgroups *out,
		    nw_args_pids *pids, struct nw_error *err)
{
	if (!args->cgroups.count)
		return 0;
	int ret = nw_cgroups_find(args->cgroups.item, args->cgroups.count, out, err);
	if (ret == 0)
		ret = nw_cgroups_members(out, distinct, pids, err);
	if (ret == 0 && !pids->count && !args->quiet)
		nw_note("no process is in %s '%s' now",
			nw_cgroup_options[args->cgroups.item[0].kind],
			args->cgroups.item[0].text);
	return ret;
}

/* Finds the control groups. If nothing else names processes, the probes are looked for in the files of those that are in them. */
static int find_cgroups(struct nw_prepared *p, struct nw_error *err)
{
	const bool named = p->request.pid_count;
	nw_args_pids members = {0};
	int ret = nw_find_members(p->args, true, &p->cgroups, &members, err);

	if (p->args->cgroups.count)
		p->request.cgroups = &p->cgroups;
	if (named || !p->args->cgroups.count) {
		nw_vec_free(&members);
		return ret;
	}
	p->processes = members;
	p->request.pids = members.item;
	p->request.pid_count = members.count;
	p->request.members = true;
	return ret;
}

int nw_prepare(const struct nw_args *args, struct nw_prepared *out, struct nw_error *err)
{
	struct nw_buf line = {0};

	*out = (struct nw_prepared){.args = args, .fd = -1};
	if (args->at_ns && args->from)
		return nw_fail_usage(err,
				     "--at says when probes are armed: %s is there already",
				     args->from);
	nw_command_line(args, &line);
	out->command_line = nw_buf_take(&line);
	if (!out->command_line)
		return nw_no_memory(err);
	take_options(args, out->command_line, &out->request);
	out->request.kept = args->kept;
	int ret = args->from ? open_from(out, err)
			     : nw_types_load(args->types.item, args->types.count,
					     &out->types, err);
	if (ret == 0)
		ret = find_processes(out, err);
	if (ret == 0)
		ret = find_cgroups(out, err);
	if (ret < 0)
		nw_prepared_close(out);
	else if (!args->from)
		out->request.types = &out->types;
	return ret;
}

void nw_prepared_close(struct nw_prepared *prepared)
{
	nw_types_free(&prepared->types);
	nw_vec_free(&prepared->processes);
	nw_cgroups_free(&prepared->cgroups);
	free(prepared->command_line);
	prepared->command_line = NULL;
	nw_input_close(&prepared->input);
	if (prepared->fd >= 0)
		close(prepared->fd);
	prepared->fd = -1;
}

/* ---- what became of it -------------------------------------------------------------- */

/* --at: waits until the clock of the host is at a multiple. Nothing is armed meanwhile, so a signal may end the program. */
static void wait_for_multiple(const struct nw_args *args)
{
	enum {
		SECOND = 1000000000
	};
	struct timespec now;
	struct tm when;
	char text[16];

	if (!args->at_ns)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t ns = (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
	uint64_t begin = (ns / args->at_ns + 1) * args->at_ns;
	const struct timespec at = {(time_t)(begin / SECOND), (long)(begin % SECOND)};
	if (begin - ns > SECOND && !args->quiet && localtime_r(&at.tv_sec, &when) &&
	    strftime(text, sizeof(text), "%T", &when))
		nw_note("waiting until %s", text);
	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

int nw_prepared_run(const struct nw_prepared *prepared, const struct nw_consumer *consumer,
		    struct nw_run_result *out, struct nw_error *err)
{
	wait_for_multiple(prepared->args);
	nw_sinks_follow(out);
	int ret = nw_run(&prepared->request, consumer, out, err);
	nw_sinks_follow(NULL);
	/* If a part of the file is missing, that is the reason for any other error. */
	int whole = prepared->input.bytes
			    ? nw_input_is_whole(&prepared->input, prepared->args->from, err)
			    : 0;

	if (out->unclean)
		nw_report_error(&out->left);
	return whole < 0 ? whole : ret;
}

int nw_result_status(const struct nw_args *args, const struct nw_run_result *result)
{
	const struct rlimit no_core = {0};
	int status = result->command_status;
	sigset_t set;

	if (!result->hits && !result->filtered && !args->quiet)
		nw_recipe_note();
	if (status && WIFEXITED(status))
		return WEXITSTATUS(status);
	/* A signal has ended CMD, so it ends this process, too, without a core file. */
	if (status) {
		int number = WTERMSIG(status);
		setrlimit(RLIMIT_CORE, &no_core);
		signal(number, SIG_DFL);
		sigemptyset(&set);
		sigaddset(&set, number);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		fflush(NULL);
		raise(number);
		return 128 + number;
	}
	bool incomplete = result->lost || result->lost_is_least || result->incomplete ||
			  result->changed_externally ||
			  (result->stacks && nw_stacks_losses(result->stacks).stacks) ||
			  nw_result_end(result).unread_count;

	return result->unclean || (args->strict && incomplete) ? NW_EXIT_FAILED
							       : NW_EXIT_OK;
}

bool nw_note_armed(const struct nw_args *args, const struct nw_run_result *so_far)
{
	size_t sites = nw_result_sites(so_far);
	size_t probes = so_far->selection.probes.count -
			nw_selection_hidden(&so_far->selection);

	if (args->quiet || isatty(STDERR_FILENO) != 1)
		return false;
	nw_note(probes > 1   ? "attached %zu probes (%zu sites), Ctrl-C ends"
		: sites == 1 ? "attached %zu probe (%zu site), Ctrl-C ends"
			     : "attached %zu probe (%zu sites), Ctrl-C ends",
		probes, sites);
	return true;
}

void nw_warn_dropped(const struct nw_args *args, const struct nw_run_result *result)
{
	if (result->dropped && !args->quiet)
		nw_note("%ju %s", result->dropped, nw_dropped_text(result->restricted));
}

void nw_warn_incomplete(const struct nw_args *args, const struct nw_run_result *result)
{
	if (result->incomplete && !args->quiet)
		nw_note("%ju hits came only in part: other records of theirs were lost",
			result->incomplete);
}

void nw_note_silent(const struct nw_args *args, const struct nw_run_result *result)
{
	size_t probes = result->selection.probes.count;
	nw_cleanup(nw_free_ptr) struct nw_probe_state *states = calloc(probes + 1,
								       sizeof(*states));
	struct nw_buf text = {0};

	/* The disabling of a probe was reported when it happened. */
	for (size_t i = 0; states && result->states && i < probes; i++)
		if (args->from || !nw_result_is_disabled(result, i))
			states[i] = result->states[i];
	if (states && !args->quiet)
		nw_text_silent_lines(&result->selection, states,
				     args->verbose || args->view.all_rows, &text);
	char *rest = text.len && !text.failed ? text.data : NULL;
	for (char *line; (line = strsep(&rest, "\n")) && *line;)
		nw_note("%s", line);
	nw_buf_free(&text);
}

void nw_note_none_slow(const char *before, uint64_t spans, uint64_t longest_ns)
{
	char longest[16];

	if (!spans) {
		nw_note("%sno span has ended", before);
		return;
	}
	nw_duration_text(longest_ns, longest);
	nw_note(nw_plural(spans, "%s%" PRIu64 " span ended, none was so long%s%s",
			  "%s%" PRIu64 " spans ended, none was so long%s%s"),
		before, spans, longest_ns ? "; the longest took " : "",
		longest_ns ? longest : "");
}

void nw_note_strays(const struct nw_measure *measure, const struct nw_run_result *result)
{
	char key[NW_STRAYS_KEY];
	struct nw_strays_found found;

	for (size_t i = 0; i < measure->spans.count; i++) {
		const struct nw_span_def *def = &measure->spans.item[i];
		if (!nw_summary_strays(measure->summary, i, &found))
			continue;
		const char *start =
			result->selection.probes.item[def->starts.item[0]]->label;
		const char *end = result->selection.probes.item[found.end_probe]->label;
		nw_note("%s: %u of %u ends that were looked at come from other threads than their starts, which are paired by thread",
			def->name, found.elsewhere, found.ends);
		nw_strays_key(&result->selection, &found, key);
		if (*key)
			nw_note("%s is the same at both ends of %u of these: --span '%s=%s..%s,key=%s'",
				key, found.agree, def->name, start, end, key);
		else
			nw_note("pair them by an argument that both have: --span '%s=%s..%s,key=ARG'; with --slowest 1, which reads the arguments, nopwatch finds one that fits",
				def->name, start, end);
	}
}

static void warn_unread(const struct nw_run_result *result)
{
	const struct nw_unread *unread;
	size_t count = nw_stacks_unread(result->stacks, &unread);

	for (size_t i = 0; i < count; i++) {
		const char *missing =
			unread[i].named
				? "no source lines, and inlined functions are missing"
				: "no names";
		if (unread[i].files == 1)
			nw_note("functions of '%s' have %s: %s", unread[i].path, missing,
				unread[i].why);
		else
			nw_note("functions of %zu files have %s: %s ('%s' is the first)",
				unread[i].files, missing, unread[i].why, unread[i].path);
	}
}

void nw_warn_stacks(const struct nw_args *args, const struct nw_run_result *result)
{
	if (!result->stacks || args->quiet)
		return;
	const struct nw_stack_losses losses = nw_stacks_losses(result->stacks);
	if (losses.changes)
		nw_note("%ju changes of what processes map came too fast and were lost; processes were looked at again, but %ju stacks of that time may have wrong functions",
			losses.changes, losses.stacks);
	warn_unread(result);
}

int nw_output_start(const struct nw_args *args, struct nw_sink *sink, struct nw_error *err)
{
	bool direct;

	if (!args->dry_run || args->from)
		return nw_sink_open(args->output, args->format, sink, err);
	return args->output ? nw_replace_try(args->output, &direct, err) : 0;
}

int nw_dry_run(const struct nw_args *args, const struct nw_consumer *consumer,
	       const struct nw_command *command)
{
	struct nw_sink sink = {.file = stdout};
	struct nw_prepared prepared;
	struct nw_buf out = {0};
	struct nw_error err;
	int ret = nw_prepare(args, &prepared, &err);

	if (ret == 0) {
		ret = nw_run_as_shell(&prepared.request, consumer, &out, &err);
		nw_prepared_close(&prepared);
	}
	if (ret == 0)
		ret = nw_sink_write(&sink, &out, &err);
	nw_buf_free(&out);
	return ret < 0 && !sink.closed ? nw_failure(command, &err) : NW_EXIT_OK;
}
