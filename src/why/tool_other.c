// SPDX-License-Identifier: MIT
/*
 * Command lines of SystemTap, perf and trace-cmd, read without running them: which user-level probes, of
 * which process.
 *
 *	stap [-x PID] [-c CMD] -e 'probe process("PATH").mark("NAME") { ... }' | SCRIPT
 *	perf probe -x PATH [-a] '[GROUP:][EVENT=]FUNCTION[+OFFSET|%return] [ARGUMENTS]'
 *	perf record|stat|top|trace -e EVENT[,EVENT] [-p PID] [--filter FILTER] [CMD]
 *	trace-cmd record|start|stream|profile|set -e EVENT [-f FILTER] [-P PID] [CMD]
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* ---- SystemTap ---------------------------------------------------------------------- */

/* The components of a probe point that say where it is: the text in quotes; NULL: the component is missing. */
struct stap_point {
	char *path, *library, *provider, *mark, *function, *statement;
	bool returns;
};

static void free_point(struct stap_point *point)
{
	free(point->path);
	free(point->library);
	free(point->provider);
	free(point->mark);
	free(point->function);
	free(point->statement);
	*point = (struct stap_point){0};
}

/* Reads a component, `name("text")` or `name`. Returns the text after it. */
static const char *take_component(const char *at, struct stap_point *point)
{
	const struct {
		const char *name;
		char **text;
	} known[] = {{"process", &point->path},	     {"library", &point->library},
		     {"provider", &point->provider}, {"mark", &point->mark},
		     {"function", &point->function}, {"statement", &point->statement}};
	size_t len = 0;

	while (isalnum((unsigned char)at[len]) || at[len] == '_')
		len++;
	const char *name = at, *text = at + len, *end = text;
	if (text[0] == '(' && text[1] == '"') {
		text += 2;
		end = strchr(text, '"');
		at = end && end[1] == ')' ? end + 2 : text;
	} else {
		at = text;
	}
	for (size_t i = 0; i < NW_COUNT(known); i++)
		if (end && strlen(known[i].name) == len &&
		    strncmp(name, known[i].name, len) == 0 && !*known[i].text)
			*known[i].text = strndup(text, (size_t)(end - text));
	point->returns |= len == 6 && strncmp(name, "return", 6) == 0;
	return at;
}

/* Adds the point in nopwatch's spelling. "function@file.c:12" means the function. */
static int add_point(struct nw_tool *tool, const struct stap_point *point)
{
	const char *path = point->library ? point->library : point->path ? point->path : "";
	nw_cleanup(nw_free_ptr) char *exe = nw_text("/proc/%d/exe", (int)tool->pid);

	if (!exe)
		return -ENOMEM;
	if (!*path && tool->pid && !point->mark)
		path = exe; /* process.function() means the program of -x */
	if (point->mark)
		return nw_strings_addf(&tool->specs, "usdt:%s:%s:%s", path,
				       point->provider ? point->provider : "*",
				       point->mark);
	if (point->function)
		return nw_strings_addf(&tool->specs, "%s:%s:%.*s",
				       point->returns ? "uretprobe" : "uprobe", path,
				       (int)strcspn(point->function, "@"), point->function);
	tool->other_probes++;
	return 0;
}

/* Reads process("PATH").mark("NAME") and the like anywhere in the text. */
static int take_stap(struct nw_tool *tool, const char *text)
{
	const char *at = text;
	int ret = 0;

	while (ret >= 0 && (at = strstr(at, "process"))) {
		struct stap_point point = {0};
		bool begins = at == text || !(isalnum((unsigned char)at[-1]) ||
					      at[-1] == '_' || at[-1] == '.');
		if (!begins) {
			at++;
			continue;
		}
		at = take_component(at, &point);
		while (*at == '.')
			at = take_component(at + 1, &point);
		ret = add_point(tool, &point);
		free_point(&point);
	}
	return ret < 0 ? -ENOMEM : 0;
}

static int take_stap_options(struct nw_tool *tool, char *const *argv)
{
	const char *script = NULL, *text = NULL;
	int ret = 0;

	for (char *const *at = argv + 1; *at; at++) {
		const char *value;
		if ((value = nw_tool_value(&at, "-e", "--script"))) {
			text = value;
		} else if ((value = nw_tool_value(&at, "-x", "--target-pid"))) {
			tool->pid = (pid_t)strtol(value, NULL, 10);
		} else if (strchr("cdDImoprRsSB", (*at)[1]) && **at == '-' && (*at)[1] &&
			   !(*at)[2] && at[1]) {
			at++; /* the option's value */
		} else if (**at != '-' && !script) {
			script = *at;
		}
	}
	if (text) {
		ret = take_stap(tool, text);
	} else if (script) {
		tool->script = strdup(script);
		ret = tool->script ? 0 : -ENOMEM;
	}
	return ret;
}

int nw_tool_stap(struct nw_tool *tool, char *const *argv)
{
	return take_stap_options(tool, argv);
}

int nw_tool_stap_script(struct nw_tool *tool, const char *text)
{
	return take_stap(tool, text);
}

/* ---- perf probe --------------------------------------------------------------------- */

/* Reads a definition: "[GROUP:][EVENT=]FUNCTION[...] ARGUMENTS", or "[%]sdt_PROVIDER:NAME". A ; in place of the :
 * begins a line pattern. */
static int take_definition(struct nw_tool *tool, const char *path, const char *text)
{
	size_t len = strcspn(text, " ");
	const char *equals = memchr(text, '=', len);
	const char *sdt = text + (*text == '%');

	if (!equals && strncmp(sdt, "sdt_", 4) == 0 &&
	    memchr(sdt, ':', len - (size_t)(sdt - text)))
		return nw_strings_addf(&tool->specs, "usdt:%s:%.*s", path,
				       (int)(len - (size_t)(sdt - text) - 4), sdt + 4);
	if (equals) {
		len -= (size_t)(equals + 1 - text);
		text = equals + 1;
	}
	bool returns = len > 7 && strncmp(text + len - 7, "%return", 7) == 0;
	len -= returns ? 7 : 0;
	size_t name = strcspn(text, "@:; ");
	return nw_strings_addf(&tool->specs, "%s:%s:%.*s", returns ? "uretprobe" : "uprobe",
			       path, (int)(name < len ? name : len), text);
}

static int take_perf_probe(struct nw_tool *tool, char *const *argv, struct nw_error *err)
{
	const char *path = NULL;
	int ret = 0;

	for (char *const *at = argv + 2; *at; at++) {
		const char *value = nw_tool_value(&at, "-x", "--exec");
		path = value ? value : path;
	}
	if (!path) {
		nw_fail_usage(err,
			      "that probes the kernel: a program's function takes -x FILE");
		nw_error_hint(
			err,
			"what is understood: perf probe -x FILE [-a] '[GROUP:][EVENT=]FUNCTION[+OFFSET|%%return]'");
		return -EINVAL;
	}
	bool words = false; /* words after the first are the definition's arguments */
	for (char *const *at = argv + 2; ret >= 0 && *at; at++) {
		const char *value;
		if (nw_tool_value(&at, "-x", "--exec"))
			continue;
		if ((value = nw_tool_value(&at, "-a", "--add"))) {
			ret = take_definition(tool, path, value);
		} else if (**at != '-' && !words) {
			ret = take_definition(tool, path, *at);
			words = true;
		}
	}
	return ret < 0 ? nw_no_memory(err) : 0;
}

/* ---- perf record and trace-cmd record ----------------------------------------------- */

/* Reads a list of events: "sdt_app:tick,probe_app:*", "%sdt_app:tick", "{a:b,c:d}:S". A word with a slash or without
 * a group is no event of tracefs, but trace-cmd accepts a group alone. */
static int take_events(struct nw_tool *tool, const char *text, bool groups)
{
	int ret = 0;

	while (ret >= 0 && *text) {
		size_t len = strcspn(text, ",{}");
		size_t skip = *text == '%';
		const char *colon = memchr(text, ':', len);
		/* modifiers, "sdt_app:tick:u" */
		const char *second = colon ? memchr(colon + 1, ':',
						    len - (size_t)(colon + 1 - text))
					   : NULL;
		size_t end = second ? (size_t)(second - text) : len;
		if (colon != text && (colon || (groups && len)) && !memchr(text, '/', end))
			ret = nw_strings_add(&tool->events, text + skip, end - skip);
		text += len;
		text += strspn(text, ",{}");
	}
	return ret;
}

/* The options of a recording tool: which letters take events, processes and filters. */
struct recorder {
	const char *events, *events_long, *pid, *pid_long, *filter, *filter_long;
	const char *with_value; /* letters of options whose value does not matter */
	bool groups;		/* an event may be a group alone */
};

static int take_recorder(struct nw_tool *tool, const struct recorder *letters,
			 char *const *argv, struct nw_error *err)
{
	int ret = 0;

	tool->by_event = true;
	for (char *const *at = argv + 2; ret >= 0 && *at; at++) {
		const char *value;
		bool of_option = strncmp(at[-1], "--", 2) == 0 && !strchr(at[-1], '=');
		if (strcmp(*at, "--") == 0 || (**at != '-' && !of_option))
			break; /* the command that is recorded */
		if ((value = nw_tool_value(&at, letters->events, letters->events_long)))
			ret = take_events(tool, value, letters->groups);
		else if ((value = nw_tool_value(&at, letters->pid, letters->pid_long)))
			tool->pid = (pid_t)strtol(value, NULL, 10);
		else if (nw_tool_value(&at, letters->filter, letters->filter_long))
			tool->filter = true;
		else if ((*at)[1] && strchr(letters->with_value, (*at)[1]) && !(*at)[2] &&
			 at[1])
			at++;
	}
	return ret < 0 ? nw_no_memory(err) : 0;
}

int nw_tool_perf(struct nw_tool *tool, char *const *argv, struct nw_error *err)
{
	static const struct recorder letters = {
		"-e",	    "--event",	     "-p", "--pid", "--filter",
		"--filter", "ocCFmtuGDjkrI", false};
	static const char *const recorders[] = {"record", "stat", "top", "trace"};

	if (argv[1] && strcmp(argv[1], "probe") == 0)
		return take_perf_probe(tool, argv, err);
	for (size_t i = 0; argv[1] && i < NW_COUNT(recorders); i++)
		if (strcmp(argv[1], recorders[i]) == 0)
			return take_recorder(tool, &letters, argv, err);
	return nw_fail_usage(
		err,
		"of perf, the command lines of probe, record, stat, top and trace are understood");
}

int nw_tool_trace_cmd(struct nw_tool *tool, char *const *argv, struct nw_error *err)
{
	static const struct recorder letters = {
		"-e", "-e", "-P", "-P", "-f", "-f", "obBClgnOprsNVmMR", true};
	static const char *const recorders[] = {"record", "start", "stream", "profile",
						"set"};

	for (size_t i = 0; argv[1] && i < NW_COUNT(recorders); i++)
		if (strcmp(argv[1], recorders[i]) == 0)
			return take_recorder(tool, &letters, argv, err);
	return nw_fail_usage(
		err,
		"of trace-cmd, the command lines of record, start, stream, profile and set are understood");
}
