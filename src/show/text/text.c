// SPDX-License-Identifier: MIT
/* The format for people: one event a line; reports and facts are in text_*.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "show/rows/stacks.h"
#include "text_private.h"

/* ---- values ------------------------------------------------------------------------- */

static void print_number(enum nw_value_kind kind, uint64_t number, struct nw_buf *out)
{
	if (kind == NW_VALUE_SIGNED)
		nw_buf_printf(out, "%" PRId64, (int64_t)number);
	else if (kind == NW_VALUE_HEX)
		nw_buf_printf(out, "0x%" PRIx64, number);
	else
		nw_buf_printf(out, "%" PRIu64, number);
}

static void print_real(double real, unsigned int bits, struct nw_buf *out)
{
	nw_buf_printf(out, "%.*g", bits == 32 ? 9 : 17, real);
}

static void print_array(const struct nw_value *value, struct nw_buf *out)
{
	nw_buf_addc(out, '{');
	for (uint32_t i = 0; i < value->len; i++) {
		nw_buf_adds(out, i ? "," : "");
		if (value->element == NW_VALUE_FLOAT)
			print_real(nw_value_real(value, i), value->bits, out);
		else
			print_number(value->element, nw_value_element(value, i), out);
	}
	nw_buf_addc(out, '}');
}

void nw_value_print(const struct nw_value *value, struct nw_buf *out)
{
	switch (value->kind) {
	case NW_VALUE_MISSING:
		nw_buf_adds(out, *value->text == '(' ? value->text : "(none)");
		break;
	case NW_VALUE_STRING:
		if (value->json) {
			nw_buf_add(out, value->text, value->len);
			break;
		}
		nw_buf_addc(out, '"');
		nw_buf_add_escaped(out, value->text, value->len);
		nw_buf_adds(out, value->cut ? "\"..." : "\"");
		break;
	case NW_VALUE_NULL:
		nw_buf_adds(out, "NULL");
		break;
	case NW_VALUE_ARRAY:
		print_array(value, out);
		break;
	case NW_VALUE_FLOAT:
		print_real(value->real, value->bits, out);
		break;
	default:
		print_number(value->kind, value->number, out);
	}
	if (value->untrusted) /* the value may be left over from an earlier event */
		nw_buf_addc(out, '?');
}

void nw_arg_print(const struct nw_probe *probe, size_t i, const struct nw_value *value,
		  struct nw_buf *out)
{
	const char *word = NULL;
	size_t len = nw_value_word(probe, i, value, &word);

	if (!len) {
		nw_value_print(value, out);
		return;
	}
	nw_buf_add_escaped(out, word, len);
	nw_buf_adds(out, value->untrusted ? "?" : "");
}

/* ---- events ------------------------------------------------------------------------- */

/* Widths of the columns; long names push the rest of their line. */
#define LINE_FORMAT "%-15s %3s %-23s "
/* of callers below a line */
#define INDENT "                    "

const char nw_net_text[] = "Latencies are net of the probe overhead (--net).";

static void begin(struct nw_output *output, const struct nw_begin *begin)
{
	if (begin->net && begin->spans) /* reports say so themselves */
		nw_buf_printf(&output->text, "%s\n", nw_net_text);
	if (begin->header)
		nw_buf_printf(&output->text, "%s" LINE_FORMAT "%s%s\n",
			      begin->bold ? "\033[1m" : "", "TIME", "CPU", "COMM-TID",
			      "PROBE", begin->bold ? "\033[0m" : "");
}

/* Writes the time of day, or the time since the start if wall_ns is 0, as wide as its column. */
static void time_text(uint64_t time, uint64_t start, int64_t wall_ns, char out[32])
{
	if (wall_ns) {
		uint64_t wall = time + (uint64_t)wall_ns;
		time_t seconds = (time_t)(wall / 1000000000);
		struct tm local;
		localtime_r(&seconds, &local);
		strftime(out, 16, "%H:%M:%S", &local);
		snprintf(out + 8, 24, ".%06u", (unsigned int)(wall % 1000000000 / 1000));
		return;
	}
	uint64_t since = time > start ? time - start : 0;
	snprintf(out, 32, "%8" PRIu64 ".%06u", since / 1000000000,
		 (unsigned int)(since % 1000000000 / 1000));
}

/*
 * Finds the kernel's word for a number: S in "... prev_state=S ==> ...". NULL if the name is in the text twice,
 * because a thread may call itself "prev_state=Z".
 */
static size_t kernel_word(const char *text, const char *name, const char **out)
{
	size_t len = strlen(name), found = 0;

	for (const char *at = text; (at = strstr(at, name)); at += len) {
		if ((at > text && at[-1] != ' ') || at[len] != '=')
			continue;
		*out = at + len + 1;
		found++;
	}
	return found == 1 ? strcspn(*out, " ") : 0;
}

/* before: what stands before each argument */
static void print_args(const struct nw_probe *probe, const struct nw_hit *hit,
		       const char *before, const char *kernel_text, struct nw_buf *out)
{
	for (size_t i = 0; i < hit->value_count; i++) {
		const struct nw_value *value = &hit->values[i];
		const char *word = NULL;
		char name[NW_ARG_NAME];
		nw_arg_name(probe, i, name);
		nw_buf_adds(out, before);
		nw_buf_add_escaped(out, name, strlen(name));
		nw_buf_addc(out, '=');
		bool number = value->kind == NW_VALUE_SIGNED ||
			      value->kind == NW_VALUE_UNSIGNED;
		size_t len = number && kernel_text ? kernel_word(kernel_text, name, &word)
						   : 0;
		if (len)
			nw_buf_add_escaped(out, word, len);
		else
			nw_arg_print(probe, i, value, out);
	}
}

/* Writes the time, the CPU and the thread: as columns, or as the beginning of a sentence. */
static void line_start(const struct nw_output *output, const char *time,
		       const struct nw_hit *hit, const struct nw_task *task,
		       struct nw_buf *out)
{
	struct nw_buf who = {0};
	char cpu[16];

	snprintf(cpu, sizeof(cpu), "%u", hit->cpu);
	nw_buf_add_escaped(&who, task->comm, strlen(task->comm));
	nw_buf_printf(&who, "-%d", hit->tid);
	if (output->plain)
		nw_buf_printf(out,
			      "At %s%s, thread %s on CPU %s: ", time + strspn(time, " "),
			      strchr(time, ':') ? "" : " seconds", nw_buf_str(&who), cpu);
	else
		nw_buf_printf(out, LINE_FORMAT, time, cpu, nw_buf_str(&who));
	out->failed |= who.failed;
	nw_buf_free(&who);
}

/* Writes the callers, the function that was hit first, and why there are no more. */
static void print_stack(const struct nw_output *output, const struct nw_stacks *stacks,
			uint32_t number, struct nw_buf *out)
{
	const struct nw_stack stack = nw_stacks_get(stacks, number);
	const char *in = output->plain ? "In " : INDENT;
	const char *by = output->plain ? "Called by " : INDENT;
	for (size_t i = 0; i < stack.count; i++) {
		const char *text = nw_stacks_frame(stacks, stack.frames[i]).text;
		nw_buf_adds(out, i ? by : in);
		nw_buf_add_escaped(out, text, strlen(text));
		nw_buf_adds(out, output->plain ? ".\n" : "\n");
	}
	const char *end = nw_stack_end_texts[stack.end];
	if (end)
		nw_buf_printf(
			out, output->plain ? "The stack ends here: %s.\n" : INDENT "[%s]\n",
			end);
}

static void event(struct nw_output *output, const struct nw_event_line *line)
{
	struct nw_buf *out = &output->text;
	char time[32];

	time_text(line->hit->time, line->start, line->wall ? line->wall_ns : 0, time);
	line_start(output, time, line->hit, line->task, out);
	nw_buf_add_escaped(out, line->probe->label, strlen(line->probe->label));
	if (line->kernel_text && !line->probe->has_args) {
		nw_buf_addc(out, ' ');
		nw_buf_add_escaped(out, line->kernel_text, strlen(line->kernel_text));
	} else {
		print_args(line->probe, line->hit, output->plain ? ", " : " ",
			   line->kernel_text, out);
	}
	nw_buf_adds(out, output->plain ? ".\n" : "\n");
	if (line->stacks && (line->hit->callers || line->probe->callers))
		print_stack(output, line->stacks, line->hit->callers, out);
}

/* Writes the arguments at one end of a slow span behind `title`; nothing if there are none. */
static void print_side(const struct nw_slow_span *slow, const char *title,
		       const struct nw_hit *hit, struct nw_buf *out)
{
	if (!hit || !hit->value_count)
		return;
	nw_buf_adds(out, title);
	print_args(slow->selection->probes.item[hit->probe], hit, " ", NULL, out);
}

static void print_sleeps(const char *title, const struct nw_sleeps *list,
			 struct nw_buf *out)
{
	struct nw_sleeps sleeps = *list;
	char time[16];

	nw_sleeps_sort(&sleeps);
	for (size_t i = 0; i < sleeps.count; i++) {
		nw_duration_text(sleeps.item[i].ns, time);
		nw_buf_adds(out, i ? ", " : title);
		nw_sleep_text(&sleeps.item[i], out);
		nw_buf_printf(out, " %s", time);
	}
}

/* Writes "  running 12us, sleeping 3ms  in pipe_read 3ms  woken by app/7 3ms", in a sentence with commas. */
static void print_states(const struct nw_span_states *states, bool plain,
			 struct nw_buf *out)
{
	const char *comma = plain ? ", " : "  ";
	char time[16];

	for (size_t i = 0; i < NW_TASK_STATES; i++) {
		if (!states->ns[i])
			continue;
		nw_duration_text(states->ns[i], time);
		nw_buf_printf(out, "%s%s %s", comma, nw_task_state_names[i], time);
		comma = ", ";
	}
	print_sleeps(plain ? ", in " : "  in ", &states->channels, out);
	print_sleeps(plain ? ", woken by " : "  woken by ", &states->wakers, out);
}

static void slow(struct nw_output *output, const struct nw_slow_span *slow)
{
	const struct nw_hit *last = slow->ended ? slow->ended : slow->began;
	struct nw_buf *out = &output->text;
	char time[32], latency[16], least[16];

	time_text(last->time, slow->run_start, slow->wall ? slow->wall_ns : 0, time);
	line_start(output, time, last, slow->task, out);
	nw_buf_adds(out, output->plain ? "span " : "");
	nw_buf_add_escaped(out, slow->span->name, strlen(slow->span->name));
	nw_duration_text(slow->latency, latency);
	nw_buf_printf(out, "%s %s%s",
		      slow->open      ? " open for"
		      : output->plain ? " took"
				      : "",
		      latency, slow->net && !slow->open ? " net" : "");
	if (slow->end_may_be_lost)
		nw_buf_adds(out, " (or its end is lost)");
	if (slow->percentile > 0) {
		nw_duration_text(slow->least, least);
		nw_buf_printf(out, " (p%.10g so far: %s)", slow->percentile * 100, least);
	}
	if (slow->states)
		print_states(slow->states, output->plain, out);
	print_side(slow, output->plain ? ", at the start" : "  from", slow->began, out);
	print_side(slow, output->plain ? ", at the end" : "  to", slow->ended, out);
	nw_buf_adds(out, output->plain ? ".\n" : "\n");
	if (slow->stacks && nw_slow_stack(slow))
		print_stack(output, slow->stacks, nw_slow_stack(slow), out);
}

static void loss(struct nw_output *output, const struct nw_record *loss)
{
	char lost[48];

	nw_lost_text(loss->lost, loss->lost_is_least, lost);
	nw_buf_printf(&output->text, output->plain ? "On CPU %u: %s.\n" : "[CPU %u: %s]\n",
		      loss->cpu, loss->lost ? lost : "events lost");
}

static void quiet(struct nw_output *output, uint64_t first, uint64_t count)
{
	nw_buf_printf(&output->text,
		      "\n--- reports %" PRIu64 " to %" PRIu64 ": nothing happened ---\n",
		      first, first + count - 1);
}

const struct nw_output_format nw_output_text = {
	.name = "text",
	.shows = {true, true, true},
	.for_people = true,
	.states = true,
	.stacks = true,
	.begin = begin,
	.event = event,
	.slow = slow,
	.loss = loss,
	.report = nw_text_report,
	.diff = nw_text_diff,
	.quiet = quiet,
	.site = nw_text_site,
	.problem = nw_text_problem,
	.checked = nw_text_checked,
	.function = nw_text_function,
	.features = nw_text_features,
	.status = nw_text_status,
	.user_event = nw_text_user_event,
	.change = nw_text_change,
	.diagnosis = nw_text_diagnosis,
};
