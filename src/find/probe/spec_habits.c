// SPDX-License-Identifier: MIT
/* Probes and arguments as users of other tools write them, with the way to write them here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "find/probe/probe.h"
#include "spec_habits.h"

int nw_bad_spec(struct nw_error *err, const char *text, const char *why)
{
	nw_fail_usage(err, "'%s' is not a probe spec: %s", text, why);
	nw_error_hint(
		err,
		"write usdt:PATH:PROVIDER:NAME, PROVIDER:NAME (with -p, -x or -- CMD), uprobe:PATH:SYMBOL, uretprobe:PATH:SYMBOL, func:PATH:SYMBOL, tracepoint:SYSTEM:EVENT or func:kernel:SYMBOL");
	return -EINVAL;
}

/* ---- kinds of probes ----------------------------------------------------------------- */

static const char of_kernel[] = "it begins with an unknown probe type";
static const char by_kprobe[] =
	"functions of the kernel are kprobe:FUNCTION, kretprobe:FUNCTION, and func:kernel:FUNCTION for their time";
static const char no_raw[] =
	"nopwatch records the kernel's events with their fields, not their arguments";
static const char its_events[] = "events of the kernel are tracepoint:SYSTEM:EVENT";
static const char samples[] = "nopwatch counts the hits of probes, it does not sample";
static const char by_perf[] = "`perf record` and `perf stat` sample and count those";

/* Kinds of probes of other tools that uprobes cannot replace. */
static const struct {
	const char *prefix, *why, *hint;
} foreign[] = {
	{"kernel.", of_kernel, by_kprobe},
	{"p::", of_kernel, by_kprobe},
	{"r::", of_kernel, by_kprobe},
	{"rawtracepoint:", no_raw, its_events},
	{"profile:hz:", samples, by_perf},
	{"profile:s:", samples, by_perf},
	{"profile:ms:", samples, by_perf},
	{"software:", samples, by_perf},
	{"hardware:", samples, by_perf},
	{"BEGIN", "it is no probe", "`nopwatch help stat` has examples of complete lines"},
	{"END", "it is no probe", "nopwatch prints when a run ends, without being told"},
	{"interval:s:", "it is no probe", "`nopwatch stat -i TIME` reports every so often"},
	{"interval:ms:", "it is no probe",
	 "`nopwatch stat -i TIME` reports every so often"},
	{"{", "it is a program", "--filter, --by and --hist choose and count"},
};

/* Other tools' names for kinds that exist here. */
static const struct {
	const char *theirs, *ours;
} spelled[] = {{"u:", "uprobe:"},	{"ur:", "uretprobe:"},
	       {"uprobes:", "uprobe:"}, {"t:", "tracepoint:"},
	       {"fentry:", "kprobe:"},	{"fexit:", "kretprobe:"},
	       {"kfunc:", "kprobe:"},	{"kretfunc:", "kretprobe:"},
	       {"tp:", "tracepoint:"},	{"syscall:", "tracepoint:syscalls:sys_enter_"}};

static const char unknown_type[] = "it begins with an unknown probe type";

/* Does the text begin with the prefix, or with the word if that has no colon? */
static bool is_foreign(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) == 0 &&
	       (strchr(":.{", prefix[len - 1]) || !text[len] || strchr(" {", text[len]));
}

static int refuse_foreign(const char *text, struct nw_error *err)
{
	for (size_t i = 0; i < NW_COUNT(foreign); i++)
		if (is_foreign(text, foreign[i].prefix)) {
			nw_bad_spec(err, text, foreign[i].why);
			nw_error_hint(err, "%s", foreign[i].hint);
			return -EINVAL;
		}
	return 0;
}

static int refuse_spelling(const char *text, struct nw_error *err)
{
	/* bcc: p and r take a file; without one they are names of providers */
	bool entry = strncmp(text, "p:", 2) == 0, leave = strncmp(text, "r:", 2) == 0;

	if ((entry || leave) && text[2 + strcspn(text + 2, ":(")] == ':') {
		nw_bad_spec(err, text, unknown_type);
		nw_error_hint(err, "write %s%s",
			      entry ? "uprobe:" : "uretprobe:", text + 2);
		return -EINVAL;
	}
	for (size_t i = 0; i < NW_COUNT(spelled); i++) {
		size_t len = strlen(spelled[i].theirs);
		if (strncmp(text, spelled[i].theirs, len) != 0)
			continue;
		nw_bad_spec(err, text, unknown_type);
		nw_error_hint(err, "write %s%s", spelled[i].ours, text + len);
		return -EINVAL;
	}
	return 0;
}

/* ---- SystemTap and DTrace ------------------------------------------------------------- */

/* Returns what stands in quotes behind the word, as in mark("NAME"), with its length; NULL: nothing does. */
static const char *quoted(const char *text, const char *word, int *len)
{
	const char *found = strstr(text, word);

	if (!found)
		return NULL;
	found += strlen(word);
	*len = (int)strcspn(found, "\"@");
	return *len && found[strcspn(found, "\"")] ? found : NULL;
}

/* Refuses process("FILE").mark("NAME") and process("FILE").function("NAME"). */
static int refuse_systemtap(const char *text, struct nw_error *err)
{
	int path, provider = 1, name;
	const char *file = quoted(text, "process(\"", &path);
	const char *from = quoted(text, ".provider(\"", &provider);
	const char *mark = quoted(text, ".mark(\"", &name);
	const char *function = mark ? NULL : quoted(text, ".function(\"", &name);

	if (strncmp(text, "process(", 8) != 0 && strncmp(text, "process.", 8) != 0)
		return 0;
	nw_bad_spec(err, text, "this is how SystemTap names probes");
	if (file && mark)
		nw_error_hint(err, "write usdt:%.*s:%.*s:%.*s", path, file, provider,
			      from ? from : "*", name, mark);
	else if (file && function)
		nw_error_hint(err, "write %s:%.*s:%.*s",
			      strstr(function, ").return") ? "uretprobe" : "uprobe", path,
			      file, name, function);
	else
		nw_error_hint(err, "write usdt:FILE:PROVIDER:NAME or uprobe:FILE:FUNCTION");
	return -EINVAL;
}

/* Refuses pid4711:MODULE:FUNCTION:entry, pid$target:... and syscall::CALL:entry. */
static int refuse_dtrace(const char *text, struct nw_error *err)
{
	const char *last = strrchr(text, ':'), *pid = text + 3, *module, *function;
	bool leave = last && strcmp(last, ":return") == 0;

	if (!last || (!leave && strcmp(last, ":entry") != 0))
		return 0;
	if (strncmp(text, "syscall::", 9) == 0 && last > text + 9) {
		nw_bad_spec(err, text, "this is how DTrace names system calls");
		nw_error_hint(err, "write tracepoint:syscalls:sys_%s_%.*s",
			      leave ? "exit" : "enter", (int)(last - text - 9), text + 9);
		return -EINVAL;
	}
	module = strchr(text, ':') + 1;
	function = module + strcspn(module, ":") + 1;
	if (strncmp(text, "pid", 3) != 0 || !strchr("$0123456789", *pid) || function > last)
		return 0;
	nw_bad_spec(err, text, "this is how DTrace names functions");
	nw_error_hint(err, "write %s:%.*s:%.*s, and -p PID or -- CMD",
		      leave ? "uretprobe" : "uprobe",
		      function - module > 1 ? (int)(function - module - 1) : 1,
		      function - module > 1 ? module : "*", (int)(last - function),
		      function);
	return -EINVAL;
}

/* ---- programs and suffixes ------------------------------------------------------------ */

/* Refuses a program of bpftrace's behind the probe, as in "usdt:a:b:c /arg0/ { ... }", and perf's "%return". */
static int refuse_program(const char *text, struct nw_error *err)
{
	const char *brace = strstr(text, " {"), *slash = strstr(text, " /");
	const char *end = brace && slash && slash < brace ? slash : brace;
	const char *percent = strstr(text, "%return"), *body = strchr(text, ':');

	if (end) {
		nw_bad_spec(err, text, "a program is behind it");
		nw_error_hint(
			err,
			"give the probe alone, '%.*s'; --filter, --by and --hist choose and count",
			(int)(end - text), text);
	} else if (percent && !percent[7] && body) {
		nw_bad_spec(err, text, "it ends as perf's probes of returns do");
		nw_error_hint(err, "write uretprobe:%.*s", (int)(percent - body - 1),
			      body + 1);
	}
	return end || (percent && !percent[7] && body) ? -EINVAL : 0;
}

int nw_spec_refuse_habit(const char *text, struct nw_error *err)
{
	static int (*const refuse[])(const char *, struct nw_error *) = {
		refuse_systemtap, refuse_foreign, refuse_dtrace, refuse_spelling,
		refuse_program};
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < NW_COUNT(refuse); i++)
		ret = refuse[i](text, err);
	return ret;
}

/* ---- names of arguments ---------------------------------------------------------------- */

/* Words between blanks, and what to type for them. */
static const struct {
	const char *words, *hint;
} names[] = {
	{" thread thread_id threadid ", "the thread is tid"},
	{" process process_id tgid ", "the process is pid"},
	{" name process_name program command exe ", "the name of the thread is comm"},
	{" core processor cpuid ", "the CPU is cpu"},
	{" user uid ",
	 "an event does not have its user; pid, comm and title tell processes apart"},
	{" latency duration elapsed ",
	 "the length of spans is no argument: stat has its distribution, and --slower 50ms prints long ones"},
	{" retval ret ",
	 "the value that a function returns is arg0 of uretprobe:FILE:FUNCTION"},
	{" stack ustack caller callers ", "--stack shows who called"},
};

const char *nw_arg_habit(const char *name)
{
	nw_cleanup(nw_free_ptr) char *word = nw_text(" %s ", name);

	for (size_t i = 0; word && i < NW_COUNT(names); i++)
		if (strstr(names[i].words, word))
			return names[i].hint;
	return NULL;
}
