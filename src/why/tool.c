// SPDX-License-Identifier: MIT
/*
 * A command line of bpftrace, or of stap, perf and trace-cmd (tool_other.c), read without running it: which user-level probes,
 * of which process, and what in its program could show nothing though the probe fires.
 *
 *	bpftrace [-p PID] [-c CMD] -e 'PROBE[,PROBE] /FILTER/ { ACTION } ...'
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* ---- words of the program ----------------------------------------------------------- */

/* Skips a string, a comment or one character; strings and comments hide braces and slashes. */
static const char *skip_one(const char *at)
{
	if (*at == '"') {
		for (at++; *at && *at != '"'; at++)
			if (*at == '\\' && at[1])
				at++;
		return *at ? at + 1 : at;
	}
	if (at[0] == '/' && at[1] == '/')
		return at + strcspn(at, "\n");
	if (at[0] == '/' && at[1] == '*') {
		const char *end = strstr(at + 2, "*/");
		return end ? end + 2 : at + strlen(at);
	}
	return at + 1;
}

static bool is_comment(const char *at)
{
	return at[0] == '/' && (at[1] == '/' || at[1] == '*');
}

/* Skips the block that begins at the brace. */
static const char *skip_block(const char *at)
{
	int depth = 0;

	while (*at) {
		depth += *at == '{';
		depth -= *at == '}';
		bool done = *at == '}' && depth == 0;
		at = skip_one(at);
		if (done)
			break;
	}
	return at;
}

/* ---- one probe ---------------------------------------------------------------------- */

static const struct {
	const char *name, *ours;
} user_probes[] = {
	{"usdt:", "usdt:"},	      {"U:", "usdt:"},
	{"uprobe:", "uprobe:"},	      {"u:", "uprobe:"},
	{"uretprobe:", "uretprobe:"}, {"ur:", "uretprobe:"},
};

/*
 * Adds a spec without bpftrace's quotes: uprobe:PATH:"C++ name", and quotes around a path; a character behind a backslash is
 * itself. "cpp:" before a function's name only says that it is one of C++.
 */
static int add_unquoted(struct nw_tool *tool, const char *kind, const char *text,
			size_t len)
{
	static const char lang[] = ":cpp:";
	struct nw_buf spec = {0};
	bool quoted = false;
	int ret;

	nw_buf_adds(&spec, kind);
	for (size_t i = 0; i < len; i++) {
		bool is_lang = !quoted && len - i > strlen(lang) &&
			       strncmp(text + i, lang, strlen(lang)) == 0;
		if (text[i] == '"')
			quoted = !quoted;
		tool->source_names |= is_lang || quoted;
		if (is_lang)
			i += strlen(lang) - 2; /* leaves one colon */
		else if (text[i] != '"')
			nw_buf_addc(
				&spec,
				text[quoted && text[i] == '\\' && i + 1 < len ? ++i : i]);
	}
	ret = spec.failed || nw_strings_add(&tool->specs, nw_buf_str(&spec), spec.len) < 0
		      ? -ENOMEM
		      : 0;
	nw_buf_free(&spec);
	return ret;
}

static int take_probe(struct nw_tool *tool, const char *text, size_t len)
{
	while (len && isspace((unsigned char)*text))
		text++, len--;
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (!len)
		return 0;
	for (size_t i = 0; i < NW_COUNT(user_probes); i++) {
		size_t head = strlen(user_probes[i].name);
		if (len > head && strncmp(text, user_probes[i].name, head) == 0)
			return add_unquoted(tool, user_probes[i].ours, text + head,
					    len - head);
	}
	if (len > 11 && strncmp(text, "tracepoint:", 11) == 0)
		return nw_strings_add(&tool->events, text, len);
	tool->other_probes++;
	return 0;
}

/* Finds the end of the probes "a:b, c:d": a filter or an action. A slash that begins a filter stands after a blank. */
static const char *probes_end(const char *at)
{
	bool blank = true;

	while (*at && *at != '{') {
		if (*at == '/' && blank && !is_comment(at))
			break;
		blank = isspace((unsigned char)*at);
		at = skip_one(at);
	}
	return at;
}

static int take_probes(struct nw_tool *tool, const char *text, const char *end)
{
	int ret = 0;

	while (ret == 0 && text < end) {
		const char *stop = text;
		while (stop < end && *stop != ',')
			stop = skip_one(stop);
		ret = take_probe(tool, text, (size_t)(stop - text));
		text = stop + (stop < end);
	}
	return ret;
}

/* ---- what it does with a hit -------------------------------------------------------- */

/* Notes argN and str(argN) in an action, and $N, which is a word of the command line. */
static void read_action(struct nw_tool *tool, const char *at, const char *end,
			bool is_return)
{
	char before = ' ';

	while (at < end) {
		if (!nw_is_word(before) && before != '$' && strncmp(at, "arg", 3) == 0 &&
		    isdigit((unsigned char)at[3]) && !nw_is_word(at[4])) {
			tool->args_used |= 1ull << (at[3] - '0');
			tool->returns_arg = tool->returns_arg || is_return;
		}
		if (!nw_is_word(before) && strncmp(at, "str(", 4) == 0)
			tool->wants_string = true;
		if (before == '$' && isdigit((unsigned char)*at))
			tool->word_used = nw_max64(tool->word_used, strtoul(at, NULL, 10));
		before = *at;
		at = skip_one(at);
	}
}

/* Reads a filter: /pid == 4711/ restricts as -p does, and does not count as a filter; /ppid == 1/ and /pid != 1/ do. */
static void read_filter(struct nw_tool *tool, const char *at, const char *end)
{
	long number = 0;
	int len = 0;
	nw_cleanup(nw_free_ptr) char *text = strndup(at, (size_t)(end - at));

	if (text && sscanf(text, " pid == %ld %n", &number, &len) == 1 && len &&
	    !text[len] && number > 0 && number <= INT_MAX &&
	    (!tool->pid || tool->pid == (pid_t)number))
		tool->pid = (pid_t)number;
	else
		tool->filter = true;
}

static int take_program(struct nw_tool *tool, const char *at)
{
	while (*at) {
		while (isspace((unsigned char)*at) || is_comment(at))
			at = is_comment(at) ? skip_one(at) : at + 1;
		const char *start = at;
		at = probes_end(at);
		size_t before = tool->specs.count;
		int ret = take_probes(tool, start, at);
		if (ret < 0)
			return ret;
		bool user = tool->specs.count > before;
		if (*at == '/') {
			const char *end = at + 1;
			while (*end && *end != '/')
				end = *end == '"' ? skip_one(end) : end + 1;
			if (user)
				read_filter(tool, at + 1, end);
			at = *end ? end + 1 : end;
			at += strcspn(at, "{");
		}
		const char *action = at;
		at = *at == '{' ? skip_block(at) : at;
		if (user)
			read_action(tool, action, at,
				    strncmp(tool->specs.item[before], "uret", 4) == 0);
		if (at == start) /* the text is no probe, filter or action: reading ends */
			break;
	}
	return 0;
}

/* ---- the command line --------------------------------------------------------------- */

const char *nw_tool_value(char *const **at, const char *letter, const char *name)
{
	const char *word = **at;
	size_t len = strlen(name);

	if (strncmp(word, name, len) == 0 && word[len] == '=')
		return word + len + 1;
	if (strcmp(word, letter) == 0 || strcmp(word, name) == 0)
		return (*at)[1] ? *++*at : NULL;
	if (strncmp(word, letter, 2) == 0 && word[1] != '-' && word[2])
		return word + 2;
	return NULL;
}

static int take_options(struct nw_tool *tool, char *const *argv, struct nw_error *err)
{
	/* the first word is the script's file, unless -e has the program */
	const char *script = NULL;
	bool told = false;
	int ret = 0;

	for (char *const *at = argv + 1; ret == 0 && *at; at++) {
		const char *value;
		if ((value = nw_tool_value(&at, "-e", "--execute"))) {
			told = true;
			ret = take_program(tool, value) < 0 ? nw_no_memory(err) : 0;
		} else if ((value = nw_tool_value(&at, "-p", "--pid"))) {
			pid_t pid = (pid_t)strtol(value, NULL, 10);
			tool->filter = tool->filter || (tool->pid && tool->pid != pid);
			tool->pid = pid;
		} else if ((value = nw_tool_value(&at, "-c", "--cmd"))) {
			tool->command = strdup(value);
		} else if ((value = nw_tool_value(&at, "-o", "--output")) ||
			   (value = nw_tool_value(&at, "-f", "--format")) ||
			   (value = nw_tool_value(&at, "-I", "--include-dir"))) {
			continue;
		} else if (**at != '-') {
			tool->words += script || told;
			script = script ? script : *at;
		}
	}
	if (ret == 0 && script && !told) {
		tool->script = strdup(script);
		ret = tool->script ? 0 : nw_no_memory(err);
	}
	return ret;
}

/* Fails if the program that was read names no place in a program. */
static int check_named(const struct nw_tool *tool, struct nw_error *err)
{
	if (tool->specs.count || (tool->by_event && tool->events.count))
		return 0;
	if (tool->by_event)
		return nw_fail(err, ENOENT, "that command line names no event");
	if (tool->events.count)
		return nw_fail(
			err, ENOENT,
			"%s is an event, not a place in a program: bpftrace cannot attach to uprobe events (PERF_EVENT_IOC_SET_BPF: Invalid argument)",
			tool->events.item[0]);
	return nw_fail(err, ENOENT, "that program has no uprobe, uretprobe or usdt probe");
}

static bool is_stap(const struct nw_tool *tool)
{
	return tool->program && strcmp(tool->program, "stap") == 0;
}

int nw_tool_script(struct nw_tool *tool, const char *text, struct nw_error *err)
{
	if (is_stap(tool))
		return nw_tool_stap_script(tool, text) < 0 ? nw_no_memory(err)
							   : check_named(tool, err);
	if (strncmp(text, "#!", 2) == 0)
		text += strcspn(text, "\n");
	return take_program(tool, text) < 0 ? nw_no_memory(err) : check_named(tool, err);
}

int nw_tool_parse(char *const *argv, struct nw_tool *out, struct nw_error *err)
{
	struct nw_tool tool = {0};
	const char *slash = argv[0] ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argv[0];

	if (name && strcmp(name, "sudo") == 0 && argv[1])
		return nw_tool_parse(argv + 1, out, err);
	bool bpftrace = name && strcmp(name, "bpftrace") == 0;
	bool perf = name && strcmp(name, "perf") == 0;
	bool trace_cmd = name && strcmp(name, "trace-cmd") == 0;
	if (!bpftrace && !perf && !trace_cmd && !(name && strcmp(name, "stap") == 0))
		return nw_fail_usage(
			err,
			"'%s' is not a tool whose command line is understood (bpftrace, stap, perf and trace-cmd are)",
			name ? name : "");
	tool.program = strdup(name);
	int ret = !tool.program ? nw_no_memory(err)
		  : bpftrace	? take_options(&tool, argv, err)
		  : perf	? nw_tool_perf(&tool, argv, err)
		  : trace_cmd	? nw_tool_trace_cmd(&tool, argv, err)
				: nw_tool_stap(&tool, argv);
	if (ret == -ENOMEM)
		ret = nw_no_memory(err);
	if (ret == 0 && !tool.script)
		ret = check_named(&tool, err);
	if (ret < 0)
		nw_tool_free(&tool);
	else
		*out = tool;
	return ret;
}

void nw_tool_free(struct nw_tool *tool)
{
	free(tool->program);
	free(tool->command);
	free(tool->script);
	nw_strings_free(&tool->specs);
	nw_strings_free(&tool->events);
	*tool = (struct nw_tool){0};
}
