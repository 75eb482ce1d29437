// SPDX-License-Identifier: MIT
/*
 * Stacks as tools that draw flame graphs read them (flamegraph.pl's "folded" lines): "main;f;g COUNT", a line a
 * stack, the first function first. Where there are several probes or spans, each is a function that calls all of its own.
 * There is no header, and a line that is none would be taken for damage: so it is that function, "NAME (net)", by which
 * spans tell that they were picked by net latencies.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "show/rows/stacks.h"

/* owner: the function that calls all stacks, or NULL */
static void write_line(const struct nw_stacks *stacks, uint32_t number, const char *owner,
		       bool net, uint64_t count, struct nw_buf *out)
{
	if (owner) {
		nw_stack_fold_name(owner, out);
		nw_buf_adds(out, net ? " (net);" : ";");
	}
	nw_stack_fold(stacks, number, out);
	nw_buf_printf(out, " %" PRIu64 "\n", count);
}

/* Do more than one probe fetch stacks? */
static bool several(const struct nw_selection *selection)
{
	size_t probes = 0;

	nw_vec_each (&selection->probes, probe)
		probes += (*probe)->callers;
	return probes > 1;
}

static void event(struct nw_output *output, const struct nw_event_line *line)
{
	if (line->stacks && line->hit->callers)
		write_line(line->stacks, line->hit->callers,
			   several(line->selection) ? line->probe->label : NULL, false, 1,
			   &output->text);
}

static void slow(struct nw_output *output, const struct nw_slow_span *slow)
{
	uint32_t stack = slow->stacks ? nw_slow_stack(slow) : 0;

	if (stack)
		write_line(slow->stacks, stack,
			   slow->net || several(slow->selection) ? slow->span->name : NULL,
			   slow->net, 1, &output->text);
}

static void table_lines(const struct nw_report *report, const struct nw_stack_table *of,
			struct nw_buf *out)
{
	bool net = report->net && of->span;
	const char *prefix = net || !of->alone ? of->name : NULL;

	for (size_t i = 0; i < of->count; i++)
		write_line(report->stacks, of->row[i].key.stack, prefix, net,
			   of->row[i].count, out);
}

static void report(struct nw_output *output, const struct nw_report *report)
{
	/* stacks cover the whole run so far, so only the last report shows them */
	if (!report->interval && !report->so_far)
		nw_report_each_stack_table(report, table_lines, &output->text);
}

/* Writes the lines that difffolded.pl prints, and flamegraph.pl reads: "main;f;g BEFORE AFTER". */
static void diff(struct nw_output *output, const struct nw_diff_report *report)
{
	for (size_t i = 0; i < report->stack_count; i++)
		nw_buf_printf(&output->text, "%s %" PRIu64 " %" PRIu64 "\n",
			      report->stacks[i].text, report->stacks[i].count[NW_BEFORE],
			      report->stacks[i].count[NW_AFTER]);
}

const struct nw_output_format nw_output_folded = {
	.name = "folded",
	.shows = {false, true, true},
	.stacks = true,
	.only_stacks = true,
	.event = event,
	.slow = slow,
	.report = report,
	.diff = diff,
};
