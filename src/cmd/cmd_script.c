// SPDX-License-Identifier: MIT
/* script: prints the probes as a shell script, for a machine that has only a shell. */
#include <errno.h>

#include "counts.h"
#include "request.h"

/* Options that count are for a script that counts, or for the reader of a script's hits. */
static int check(const struct nw_args *args, struct nw_error *err)
{
	const char *count = nw_counts_options(args);

	if (args->engine == NW_ENGINE_AUTO) {
		nw_fail_usage(
			err,
			"a script does not know its kernel: --engine=auto has no choice");
		nw_error_hint(
			err,
			"--engine=kernel lets the kernel count, or says there why it cannot; --engine=stream works on every kernel");
		return -EINVAL;
	}
	if (args->engine == NW_ENGINE_KERNEL && args->string_size)
		return nw_fail_usage(
			err,
			"--string-size does not go with --engine=kernel, which counts no strings");
	if (args->engine == NW_ENGINE_KERNEL || !count)
		return 0;
	nw_fail_usage(err, "%s goes with --engine=kernel: this script prints each hit",
		      count);
	nw_error_hint(err, "say it to the reader: `nopwatch stat --from FILE %s ...`",
		      count);
	return -EINVAL;
}

static int make_script(const struct nw_args *args, struct nw_counts *counts,
		       struct nw_buf *out, struct nw_error *err)
{
	nw_strings dangers = {0};
	struct nw_prepared prepared;
	int ret = nw_prepare(args, &prepared, err);

	if (ret < 0)
		return ret;
	prepared.request.keep = counts ? &counts->kept : NULL;
	ret = nw_request_script(&prepared.request, counts ? &counts->consumer : NULL,
				args->remotes.item, args->remotes.count, &dangers, out,
				err);
	nw_vec_each (&dangers, sentence)
		nw_note("%s", *sentence);
	nw_strings_free(&dangers);
	nw_prepared_close(&prepared);
	return ret;
}

static int run(const struct nw_args *args)
{
	const bool count = args->engine == NW_ENGINE_KERNEL;
	struct nw_counts counts;
	struct nw_sink sink = {0};
	struct nw_buf out = {0};
	struct nw_error err = {0};
	int ret = check(args, &err);

	if (ret == 0 && count)
		ret = nw_counts_open(args, &counts, &err);
	if (ret < 0)
		return nw_failure(&nw_cmd_script, &err);
	ret = make_script(args, count ? &counts : NULL, &out, &err);
	if (count)
		nw_counts_close(&counts, ret, &err);
	if (ret == 0)
		ret = nw_sink_open(args->output, args->format, &sink, &err);
	if (ret == 0)
		ret = nw_sink_finish(&sink, ret, &out, &err);
	nw_buf_free(&out);
	return ret < 0 ? nw_failure(&nw_cmd_script, &err) : NW_EXIT_OK;
}

const struct nw_command nw_cmd_script = {
	.name = "script",
	.summary = "the same as a shell script, for a machine without nopwatch",
	.usage = "SPEC... [-p PID | -x FILE]",
	.examples =
		"  nopwatch script usdt:./server:myserver:request__start >probe.sh\n"
		"  nopwatch script -x ./server 'myserver:*'\n"
		"  nopwatch script -p 4711 'app:*' -d 10\n"
		"  nopwatch script --engine=kernel -d 1h --by tid 'usdt:./server:myserver:*'\n"
		"  nopwatch script 'usdt:./server:myserver:done(status)'\n",
	.details =
		"Prints a POSIX shell script that arms the probes on another machine, prints what the\n"
		"kernel records, and takes everything away when it is ended. It needs root there, a shell,\n"
		"cat, grep, mkdir and mount. What it prints is for --from:\n"
		"\n"
		"    nopwatch script 'usdt:./server:app:*' | ssh HOST sh | nopwatch stat --from -\n"
		"\n"
		"With --engine=kernel the kernel there counts, and the script prints its maps at the end:\n"
		"`nopwatch report --from FILE` shows the rows that stat --engine=kernel would have.\n"
		"\n"
		"The file must be the same here and there, but may lie elsewhere (--remote-path) and be of\n"
		"another architecture. -p are processes there.",
	.options =
		"pid exe duration output buffer string-size remote-path no-demangle force quiet "
		"engine by span hist",
	.run = run,
};
