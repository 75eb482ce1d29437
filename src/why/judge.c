// SPDX-License-Identifier: MIT
/* See judge.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"

/* ---- what was seen ------------------------------------------------------------------ */

static void say(struct judge *judge, enum nw_result result, const char *fmt, va_list args)
{
	struct nw_buf text = {0};

	if (!judge->check) {
		judge->check = nw_vec_add(&judge->out->checks);
		if (!judge->check) {
			judge->failed = true;
			return;
		}
		*judge->check = (struct nw_check){.name = judge->name, .result = result};
	} else if (judge->check->result != NW_RESULT_FAIL) {
		judge->check->result = result;
	}
	if (judge->check->saw)
		nw_buf_printf(&text, "%s; ", judge->check->saw);
	nw_buf_vprintf(&text, fmt, args);
	free(judge->check->saw);
	judge->check->saw = nw_buf_take(&text);
	judge->failed = judge->failed || !judge->check->saw;
}

#define SAY(function, result)                                    \
	void function(struct judge *judge, const char *fmt, ...) \
	{                                                        \
		va_list args;                                    \
		va_start(args, fmt);                             \
		say(judge, result, fmt, args);                   \
		va_end(args);                                    \
	}

SAY(nw_pass, NW_RESULT_PASS)
SAY(nw_fails, NW_RESULT_FAIL)
SAY(nw_unknown, NW_RESULT_UNKNOWN)

/* ---- whom to blame ------------------------------------------------------------------ */

void nw_blame(struct judge *judge, enum nw_cause cause, const char *fmt, ...)
{
	struct nw_reason *reason = nw_vec_add(&judge->out->reasons);
	struct nw_buf text = {0};
	va_list args;

	if (!reason) {
		judge->failed = true;
		return;
	}
	va_start(args, fmt);
	nw_buf_vprintf(&text, fmt, args);
	va_end(args);
	*reason = (struct nw_reason){.cause = cause, .text = nw_buf_take(&text)};
	judge->failed = judge->failed || !reason->text;
}

void nw_remedy(struct judge *judge, const char *fmt, ...)
{
	struct nw_diagnosis *out = judge->out;
	struct nw_buf text = {0};
	va_list args;

	if (!out->reasons.count)
		return;
	va_start(args, fmt);
	nw_buf_vprintf(&text, fmt, args);
	va_end(args);
	nw_strings *list = &out->reasons.item[out->reasons.count - 1].remedy;
	if (text.failed || (!nw_strings_has(list, nw_buf_str(&text)) &&
			    nw_strings_add(list, nw_buf_str(&text), text.len) < 0))
		judge->failed = true;
	nw_buf_free(&text);
}

/* Writes PROVIDER:NAME as the file spells it, if that is known: other tools do not take the - of a name for __. */
static void usdt_text(const struct nw_facts *facts, struct nw_buf *out)
{
	const struct nw_probe *one = facts->selection && facts->selection->probes.count == 1
					     ? facts->selection->probes.item[0]
					     : NULL;

	if (one && one->provider && one->name)
		nw_buf_printf(out, "%s:%s", one->provider, one->name);
	else
		nw_buf_printf(out, "%s:%s", facts->spec->provider, facts->spec->name);
}

/* Writes KIND:PATH:PLACE. */
static void spec_text(const struct nw_facts *facts, const char *path, const char *place,
		      struct nw_buf *out)
{
	static const char *const kinds[] = {[NW_SPEC_USDT] = "usdt",
					    [NW_SPEC_UPROBE] = "uprobe",
					    [NW_SPEC_URETPROBE] = "uretprobe",
					    [NW_SPEC_FUNC] = "func",
					    [NW_SPEC_TRACEPOINT] = "tracepoint"};
	const struct nw_spec *spec = facts->spec;

	nw_buf_printf(out, "%s:", kinds[spec->kind]);
	if (!place && spec->kind != NW_SPEC_USDT) {
		nw_spec_write_place(spec, path, out);
		return;
	}
	nw_buf_printf(out, "%s:", path);
	if (place)
		nw_buf_adds(out, place);
	else
		usdt_text(facts, out);
}

static void remedy_spec(struct judge *judge, const char *path, const char *place, pid_t pid,
			bool bpf)
{
	const struct nw_facts *facts = judge->facts;
	struct nw_buf spec = {0}, ours = {0}, theirs = {0}, option = {0};
	const char *file = path ? path : facts->path ? facts->path : "";

	if (pid == 0 && facts->process)
		pid = facts->process->process;
	spec_text(facts, file, place, &spec);
	if (facts->leads && *file && !facts->leads(facts->leads_arg, nw_buf_str(&spec))) {
		/* a command that finds no probe is no help; the probes that the file has may be */
		nw_buf_free(&spec);
		nw_remedy_file(judge, "nopwatch list", file, "");
		return;
	}
	if (pid > 0)
		nw_buf_printf(&option, " -p %d", (int)pid);
	nw_buf_add_shell(&ours, nw_buf_str(&spec));
	nw_remedy(judge, "nopwatch stat%s %s", nw_buf_str(&option), nw_buf_str(&ours));
	nw_buf_adds(&spec, " { @hits = count(); }");
	nw_buf_add_shell(&theirs, nw_buf_str(&spec));
	/* other tools have neither lines nor func: for entry and return; nopwatch's numbers are offsets, theirs are addresses */
	bool named = place || *facts->spec->name || facts->spec->kind == NW_SPEC_USDT;
	if (bpf && named && !facts->spec->source && facts->spec->kind != NW_SPEC_FUNC)
		nw_remedy(judge, "bpftrace%s -e %s", nw_buf_str(&option),
			  nw_buf_str(&theirs));
	judge->failed |= spec.failed || ours.failed || theirs.failed || option.failed;
	nw_buf_free(&spec);
	nw_buf_free(&ours);
	nw_buf_free(&theirs);
	nw_buf_free(&option);
}

void nw_remedy_spec(struct judge *judge, const char *path, const char *place, pid_t pid)
{
	remedy_spec(judge, path, place, pid, true);
}

void nw_remedy_stat(struct judge *judge, const char *path, const char *place, pid_t pid)
{
	remedy_spec(judge, path, place, pid, false);
}

void nw_remedy_file(struct judge *judge, const char *command, const char *path,
		    const char *rest)
{
	struct nw_buf file = {0};

	nw_buf_add_shell(&file, path);
	nw_remedy(judge, "%s %s%s", command, nw_buf_str(&file), rest);
	judge->failed |= file.failed;
	nw_buf_free(&file);
}

void nw_remedy_again(struct judge *judge, const char *before, const char *option)
{
	const struct nw_facts *facts = judge->facts;
	struct nw_buf line = {0};

	nw_buf_printf(&line, "%snopwatch why%s%s", before, *option ? " " : "", option);
	if (facts->process)
		nw_buf_printf(&line, " -p %d", (int)facts->process->asked);
	nw_buf_addc(&line, ' ');
	nw_buf_add_shell(&line, facts->spec->text);
	nw_remedy(judge, "%s", nw_buf_str(&line));
	judge->failed |= line.failed;
	nw_buf_free(&line);
}

/* ---- words and numbers -------------------------------------------------------------- */

void nw_thousands(uint64_t number, char out[32])
{
	char plain[24];
	size_t len = (size_t)snprintf(plain, sizeof(plain), "%ju", number), used = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = plain[i];
	}
	out[used] = '\0';
}

const char *nw_who(const struct nw_process_facts *process, char out[64])
{
	struct nw_buf name = {0};

	nw_buf_add_escaped(&name, process->comm, strlen(process->comm));
	if (*process->comm)
		snprintf(out, 64, "process %d (%.40s)", (int)process->process,
			 nw_buf_str(&name));
	else
		snprintf(out, 64, "process %d", (int)process->process);
	nw_buf_free(&name);
	return out;
}

const char *nw_instance_path(const struct nw_foreign_event *event, char *out, size_t room)
{
	snprintf(out, room, "/sys/kernel/tracing%s%s",
		 *event->instance ? "/instances/" : "", event->instance);
	return out;
}

/* ---- the probe's places ------------------------------------------------------------- */

bool nw_is_usdt(const struct nw_facts *facts)
{
	return facts->spec && facts->spec->kind == NW_SPEC_USDT;
}

const struct nw_point *nw_next_point(const struct nw_facts *facts, size_t *probe,
				     size_t *point)
{
	while (facts->selection && *probe < facts->selection->probes.count) {
		const struct nw_probe *at = facts->selection->probes.item[*probe];
		if (*point < at->points.count)
			return &at->points.item[(*point)++];
		++*probe;
		*point = 0;
	}
	return NULL;
}

bool nw_has_semaphore(const struct nw_facts *facts)
{
	const struct nw_point *at;
	size_t probe = 0, point = 0;

	while ((at = nw_next_point(facts, &probe, &point)))
		if (at->semaphore_offset)
			return true;
	return false;
}

size_t nw_count_points(const struct nw_facts *facts)
{
	size_t probe = 0, point = 0, count = 0;

	while (nw_next_point(facts, &probe, &point))
		count++;
	return count;
}

const struct nw_point *nw_point_at(const struct nw_facts *facts, uint64_t offset)
{
	const struct nw_point *at;
	size_t probe = 0, point = 0;

	while ((at = nw_next_point(facts, &probe, &point)))
		if (at->offset == offset)
			return at;
	return NULL;
}
