// SPDX-License-Identifier: MIT
/* expect: a test of a program's probes, for CI. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "request.h"
#include "run/consumers/expect.h"
#include "show/tap.h"

struct test {
	const struct nw_args *args;
	/* The options of a run: the probes of the file in place of the file. */
	struct nw_args run_args;
	struct nw_expectations expectations;
	struct nw_prepared prepared;
	struct nw_expect expect;
	struct nw_run_result result;
	bool ran;
	bool failed; /* an expectation does not hold */
	struct nw_buf out;
};

/* ---- what is printed ---------------------------------------------------------------- */

static void print_expectation(struct test *t, size_t number)
{
	const struct nw_expectation *one = &t->expectations.item.item[number];
	struct nw_buf message = {0}, reason = {0}, where = {0};
	bool holds = nw_expect_holds(&t->expect, one, t->ran ? &t->result : NULL, &message,
				     &reason);

	nw_tap_test(&t->out, holds, number + 1, one->text);
	nw_buf_adds(&where, t->expectations.path);
	if (one->line)
		nw_buf_printf(&where, ":%u", one->line);
	const struct nw_tap_fact facts[] = {{"message", nw_buf_str(&message)},
					    {"reason", nw_buf_str(&reason)},
					    {"at", nw_buf_str(&where)}};
	if (!holds)
		nw_tap_facts(&t->out, facts, NW_COUNT(facts));
	t->failed |= !holds;
	t->out.failed |= message.failed || reason.failed || where.failed;
	nw_buf_free(&message);
	nw_buf_free(&reason);
	nw_buf_free(&where);
}

/* Writes how the command ended; nothing if its status is 0. */
static void describe_end(const struct test *t, struct nw_buf *out)
{
	int status = t->result.command_status;

	if (!t->ran)
		nw_buf_adds(out, "it was not run, since none of the probes exists");
	else if (t->result.reason != NW_END_COMMAND)
		nw_buf_adds(out, "it had not ended when the run was over");
	else if (WIFSIGNALED(status))
		nw_buf_printf(out, "signal %d (%s) ended it", WTERMSIG(status),
			      strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		nw_buf_printf(out, "its status is %d", WEXITSTATUS(status));
}

/* The last test is whether the command itself has succeeded. */
static void print_command(struct test *t)
{
	struct nw_buf name = {0}, end = {0};

	for (char *const *word = t->args->cmd; *word; word++)
		nw_buf_printf(&name, "%s%s", name.len ? " " : "", *word);
	nw_buf_adds(&name, " ends with status 0");
	describe_end(t, &end);
	nw_tap_test(&t->out, !end.len, t->expectations.item.count + 1, nw_buf_str(&name));
	const struct nw_tap_fact fact = {"message", nw_buf_str(&end)};
	if (end.len)
		nw_tap_facts(&t->out, &fact, 1);
	t->failed |= end.len > 0;
	t->out.failed |= name.failed || end.failed;
	nw_buf_free(&name);
	nw_buf_free(&end);
}

static void print_tests(struct test *t)
{
	size_t count = t->expectations.item.count;

	nw_tap_begin(&t->out, count + (t->args->cmd != NULL));
	for (size_t i = 0; i < count; i++)
		print_expectation(t, i);
	if (t->args->cmd)
		print_command(t);
}

/* ---- the run ------------------------------------------------------------------------ */

/* Runs with standard output as standard error, which CMD inherits: only TAP comes to standard output. */
static int run_aside(struct test *t, const struct nw_consumer *consumer,
		     struct nw_error *err)
{
	int stdout_fd = t->args->output ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	if (stdout_fd >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	int ret = nw_prepared_run(&t->prepared, consumer, &t->result, err);
	if (stdout_fd >= 0) {
		dup2(stdout_fd, STDOUT_FILENO);
		close(stdout_fd);
	}
	return ret;
}

static bool needs_run(const struct nw_args *args)
{
	return args->cmd || args->from || args->pids.count || args->duration_ns;
}

static int count(struct test *t, struct nw_error *err)
{
	int ret = nw_expect_open(&t->expectations, &t->prepared.request, &t->expect, err);

	if (ret < 0)
		return ret;
	const struct nw_consumer consumer = nw_expect_consumer(&t->expect);
	if (!needs_run(t->args))
		return nw_expect_look(&t->expect, err);
	ret = run_aside(t, &consumer, err);
	if (ret == -ENOENT && !t->expect.started)
		return nw_expect_look(&t->expect, err);
	if (ret == 0) {
		t->ran = true;
		nw_expect_finish(&t->expect);
	}
	return ret;
}

/* Makes the options of the run. A recording has its own probes. */
static int make_options(struct test *t)
{
	const struct nw_expectations *all = &t->expectations;

	t->run_args = *t->args;
	t->run_args.words = (nw_args_texts){0};
	t->run_args.spans = (nw_args_texts){0};
	nw_vec_each (&all->specs, spec) {
		const char **slot = t->args->from ? NULL : nw_vec_add(&t->run_args.words);
		if (!slot && !t->args->from)
			return -ENOMEM;
		if (slot)
			*slot = *spec;
	}
	nw_vec_each (&all->spans, span) {
		const char **slot = nw_vec_add(&t->run_args.spans);
		if (!slot)
			return -ENOMEM;
		*slot = *span;
	}
	return 0;
}

static int check_usage(const struct test *t, struct nw_error *err)
{
	const struct nw_expectations *all = &t->expectations;

	if (all->counts && !needs_run(t->args))
		return nw_fail_usage(
			err,
			"%s expects hits, and nothing is run that could cause them: write -- and a test behind it, or -p PID -d TIME",
			all->path);
	if (!all->counts && t->args->from)
		return nw_fail_usage(
			err,
			"%s only expects probes to be there, which a recording does not tell: name the program by -x",
			all->path);
	if (!all->specs.count && !t->args->from)
		return nw_fail_usage(
			err,
			"%s names no probe: write lines for the probes at both ends of its spans, or span NAME=START..END",
			all->path);
	return 0;
}

static int measure(struct test *t, struct nw_error *err)
{
	int ret = make_options(t) < 0 ? nw_no_memory(err) : check_usage(t, err);

	if (ret == 0)
		ret = nw_prepare(&t->run_args, &t->prepared, err);
	if (ret < 0)
		return ret;
	t->prepared.request.some = true;
	t->prepared.request.implied = true;
	ret = count(t, err);
	if (ret == 0)
		print_tests(t);
	nw_expect_close(&t->expect);
	nw_prepared_close(&t->prepared);
	return ret;
}

static int write_out(struct test *t, struct nw_error *err)
{
	struct nw_sink sink;
	int ret = nw_sink_open(t->args->output, t->args->format, &sink, err);

	if (ret < 0)
		return ret;
	return nw_sink_finish(&sink, 0, &t->out, err);
}

static int run(const struct nw_args *args)
{
	struct test t = {.args = args};
	struct nw_error err;
	int status = NW_EXIT_OK;

	if (args->words.count != 1) {
		nw_fail_usage(&err, args->words.count ? "one file of expectations at a time"
						      : "no file of expectations is named");
		return nw_failure(&nw_cmd_expect, &err);
	}
	if (nw_expectations_read(args->words.item[0], &t.expectations, &err) < 0) {
		nw_report_error(&err);
		return NW_EXIT_USAGE;
	}
	if (measure(&t, &err) < 0) {
		status = nw_failure(&nw_cmd_expect, &err);
		nw_tap_bail_out(&t.out, err.what);
	}
	if (write_out(&t, &err) < 0)
		status = nw_failure(&nw_cmd_expect, &err);
	if (status == NW_EXIT_OK && (t.failed || t.result.unclean))
		status = NW_EXIT_FAILED;
	nw_result_free(&t.result);
	nw_expectations_free(&t.expectations);
	nw_vec_free(&t.run_args.words);
	nw_vec_free(&t.run_args.spans);
	nw_buf_free(&t.out);
	return status;
}

const struct nw_command nw_cmd_expect = {
	.name = "expect",
	.summary = "a test for the probes of your program, in TAP",
	.usage = "FILE [-p PID | -x FILE] [-- CMD]",
	.examples = "  nopwatch expect probes.expect -x ./server -- ./run-tests\n"
		    "  nopwatch expect probes.d -x ./server\n"
		    "  nopwatch expect probes.expect --from trace.dat\n",
	.details =
		"Runs CMD, a test, and tells for each line of FILE whether it holds: how often a probe\n"
		"was hit, with which arguments, and how long spans took. A line is one of\n"
		"  PROBE [>= N | = N | never | there] [where EXPR | always EXPR]\n"
		"  span SPAN [p99 | max | min | mean | count | unmatched] OP VALUE\n"
		"PROBE is a spec (>= 1 if nothing is said), which each probe that it matches has to\n"
		"fulfil; EXPR is an expression as in --filter, and SPAN a name or a definition as in\n"
		"--span. # begins a comment. A provider file of DTrace (FILE.d) expects its probes to\n"
		"be there, with as many arguments; nothing is run for that, and it needs no root.\n"
		"Writes TAP (version 13); what CMD prints goes to standard error. Exit status: 0 all\n"
		"lines hold and CMD ends with 0, 1 one does not hold, 2 FILE is wrong.",
	.shows = NW_SHOWS_REPORTS,
	.options =
		"pid follow main-thread all exe types duration max-rate buffer string-size no-demangle force quiet state-dir "
		"no-follow-file from output ",
	.run = run,
};
