// SPDX-License-Identifier: MIT
/* help: prints the overview, or the help text of one command or topic. */
#include <string.h>

#include "cmd.h"

const struct nw_topic nw_topics[] = {
	{"spec", "how probes are named",
	 "A SPEC names probes.\n\n"
	 "  usdt:PATH:PROVIDER:NAME    a USDT probe of a file; PATH may be a name in $PATH\n"
	 "  PROVIDER:NAME              the same; -p PID, -x FILE or -- CMD says in which file\n"
	 "  func:PATH:SYMBOL           a function, from its entry to its return: a span\n"
	 "  uprobe:PATH:SYMBOL[+OFF]   its entry, or an instruction; also uprobe:PATH:0xOFFSET\n"
	 "  uprobe:PATH@FILE.c:LINE    a line of the source, by the file's debugging information\n"
	 "  uretprobe:PATH:SYMBOL      its return\n"
	 "  tracepoint:SYSTEM:EVENT    an event of the kernel\n"
	 "  user_events:NAME           an event that a program has registered (Linux 6.4)\n"
	 "  func:kernel:SYMBOL         a function of the kernel; its ends are kprobe:SYMBOL and\n"
	 "                             kretprobe:SYMBOL\n\n"
	 "Every field may hold * and ?; - in a name matches __. Quote what has a *, or the shell\n"
	 "replaces it. Arguments are named and typed behind the name; types are u8..u64, s8..s64,\n"
	 "x8..x64, f32, f64 and string; arguments without a name are arg0, arg1, ...\n\n"
	 "  'postgresql:query__start(sql:string)'   'app:done(id, status:u16)'\n\n"
	 "@return reads an argument of a call when it returns, such as a text that is written\n"
	 "meanwhile (Linux 5.15 with hist triggers); the result is called ret:\n\n"
	 "  'func:libc.so.6:fgets(line:string@return)'\n"
	 "  'func:libc.so.6:read(fd, buf:string[ret]@return)'\n\n"
	 "func:PATH:SYMBOL,returns=insn uses the return instructions, not a return probe, which is\n"
	 "right for C++ that throws, and for Go. `nopwatch list` prints specs.\n"},
	{"filter", "what --filter takes",
	 "--filter EXPR keeps the hits for which EXPR holds.\n\n"
	 "  --filter 'status >= 400'\n"
	 "  --filter 'comm ~ \"post*\" && size > 4096'\n"
	 "  --filter '!(tid == 4711 || flags & 1)'\n\n"
	 "A comparison is NAME OP VALUE. NAME is an argument (named in the spec, or arg0, ...), tid,\n"
	 "pid, comm or cpu. OP is == != < <= > >= & (a bit is set) or ~ (a glob fits). VALUE is a\n"
	 "number without a unit, or \"text\" for a string (\"5\", not 5). && || ! and parentheses join\n"
	 "comparisons. Hits of probes that lack the argument are kept. A span is measured if both of\n"
	 "its ends are kept; spans of a certain length are --slower's: --slower 50ms.\n"},
	{"span", "what --span takes",
	 "A span is the time from a start to an end. Names that pair make spans by themselves:\n"
	 "x__start and x__done (or __end, __stop, ...), _begin and _end, _entry and _return,\n"
	 "enter and exit; func: makes one of each call. --span pairs any other probes:\n\n"
	 "  --span [NAME=]START..END[|END2][,key=tid|pid|cpu|ARG[+ARG2][:ENDARG]][,nest=no|outer]\n\n"
	 "  --span 'app:open..app:close'\n"
	 "  --span 'conn=app:accept..app:close|app:abort,key=fd'\n"
	 "  --span 'app:submit..app:complete,key=id:request_id'\n\n"
	 "An end pairs with the last start of the same key, which is the thread unless key= says\n"
	 "otherwise. Use an argument if a request moves from thread to thread, or several that\n"
	 "are one only together, as in key=dev+sector. nest=no: a start\n"
	 "replaces one that has not ended; nest=outer: of nested spans only the outermost is\n"
	 "measured. UNMATCHED counts starts/ends without their other end.\n\n"
	 "A program that measures itself hands the duration over, in ns (default), us, ms or s:\n\n"
	 "  --span 'rpc=app:rpc__done,duration=arg1:us'\n"},
};

const size_t nw_topic_count = NW_COUNT(nw_topics);

static const char *find_topic(const char *name)
{
	for (size_t i = 0; i < nw_topic_count; i++)
		if (strcmp(nw_topics[i].name, name) == 0)
			return nw_topics[i].text;
	return NULL;
}

static int run(const struct nw_args *args)
{
	const struct nw_command *command;
	struct nw_error err;

	if (!args->words.count) {
		nw_print_overview(stdout);
		return NW_EXIT_OK;
	}
	const char *topic = find_topic(args->words.item[0]);
	if (topic) {
		fputs(topic, stdout);
		return NW_EXIT_OK;
	}
	command = nw_find_command((char *[]){(char *)(uintptr_t)args->words.item[0], NULL},
				  &err);
	if (!command || nw_print_help(command, stdout, &err) < 0)
		return nw_failure(NULL, &err);
	return NW_EXIT_OK;
}

const struct nw_command nw_cmd_help = {
	.name = "help",
	.summary = "explain a command",
	.usage = "[COMMAND|spec|filter|span]",
	.details =
		"Without a word, lists the commands. spec, filter and span explain what a SPEC,\n"
		"--filter and --span take.",
	.options = "",
	.run = run,
};
