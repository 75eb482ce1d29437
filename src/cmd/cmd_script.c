// SPDX-License-Identifier: MIT
/* script: prints the probes as a shell script, for a machine that has only a shell. */
#include "request.h"

static int make_script(const struct nw_args *args, struct nw_buf *out, struct nw_error *err)
{
	nw_strings dangers = {0};
	struct nw_prepared prepared;
	int ret = nw_prepare(args, &prepared, err);

	if (ret < 0)
		return ret;
	ret = nw_request_script(&prepared.request, args->remotes.item, args->remotes.count,
				&dangers, out, err);
	nw_vec_each (&dangers, sentence)
		nw_note("%s", *sentence);
	nw_strings_free(&dangers);
	nw_prepared_close(&prepared);
	return ret;
}

static int run(const struct nw_args *args)
{
	struct nw_sink sink = {0};
	struct nw_buf out = {0};
	struct nw_error err = {0};
	int ret = make_script(args, &out, &err);

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
	.examples = "  nopwatch script usdt:./server:myserver:request__start >probe.sh\n"
		    "  nopwatch script -x ./server 'myserver:*'\n"
		    "  nopwatch script -p 4711 'app:*' -d 10\n"
		    "  nopwatch script 'func:./server:handle'\n"
		    "  nopwatch script 'usdt:./server:myserver:done(status)'\n",
	.details =
		"Prints a POSIX shell script that arms the probes on another machine, prints what the\n"
		"kernel records, and takes everything away when it is ended. It needs root there, a shell,\n"
		"cat, grep, mkdir and mount. What it prints is for --from:\n"
		"\n"
		"    nopwatch script 'usdt:./server:app:*' | ssh HOST sh | nopwatch stat --from -\n"
		"\n"
		"The file must be the same here and there, but may lie elsewhere (--remote-path) and be of\n"
		"another architecture. -p are processes there.",
	.options =
		"pid exe duration output buffer string-size remote-path no-demangle force quiet",
	.run = run,
};
