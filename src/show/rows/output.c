// SPDX-License-Identifier: MIT
/* Shared by all formats. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "show/rows/output.h"
#include "status.h"

unsigned int nw_output_mode(const struct nw_output_format *format)
{
	return format->for_collectors ? NW_FILE_READABLE : NW_FILE_PRIVATE;
}

int nw_output_make(const struct nw_output_format *format, struct nw_output *out)
{
	*out = (struct nw_output){.format = format};
	if (format->state_size)
		out->state = calloc(1, format->state_size);
	return format->state_size && !out->state ? -ENOMEM : 0;
}

void nw_output_free(struct nw_output *output)
{
	if (output->format && output->format->free && output->state)
		output->format->free(output);
	free(output->state);
	nw_buf_free(&output->text);
	*output = (struct nw_output){0};
}

void nw_output_begin(struct nw_output *output, const struct nw_begin *begin)
{
	if (output->format->begin)
		output->format->begin(output, begin);
}

void nw_output_event(struct nw_output *output, const struct nw_event_line *line)
{
	if (output->format->event)
		output->format->event(output, line);
}

void nw_output_span(struct nw_output *output, const struct nw_span_event *event)
{
	if (output->format->span)
		output->format->span(output, event);
}

void nw_output_slow(struct nw_output *output, const struct nw_slow_span *slow)
{
	if (output->format->slow)
		output->format->slow(output, slow);
}

void nw_output_loss(struct nw_output *output, const struct nw_record *loss)
{
	if (output->format->loss)
		output->format->loss(output, loss);
}

void nw_output_disabled(struct nw_output *output, const struct nw_disabled *disabled)
{
	if (output->format->disabled)
		output->format->disabled(output, disabled);
}

void nw_output_report(struct nw_output *output, const struct nw_report *report)
{
	if (output->format->report)
		output->format->report(output, report);
	output->text.failed |= nw_summary_failed(report->summary);
}

void nw_output_diff(struct nw_output *output, const struct nw_diff_report *report)
{
	if (output->format->diff)
		output->format->diff(output, report);
}

void nw_output_quiet(struct nw_output *output, uint64_t first, uint64_t count)
{
	if (output->format->quiet)
		output->format->quiet(output, first, count);
}

void nw_output_end(struct nw_output *output, const struct nw_end *end)
{
	if (output->format->end)
		output->format->end(output, end);
}

const char *const nw_end_reasons[] = {
	[NW_END_NONE] = "end",
	[NW_END_SIGNAL] = "signal",
	[NW_END_DURATION] = "duration",
	[NW_END_COUNT] = "count",
	[NW_END_COMMAND] = "command",
	[NW_END_PROCESS] = "process",
	[NW_END_OUTPUT] = "output closed",
	[NW_END_RECORDING] = "end of recording",
	[NW_END_TEXT] = "end of text",
};

const char *const nw_state_words[] = {
	[NW_STATE_UNKNOWN] = "not-hit",
	[NW_STATE_HIT] = "hit",
	[NW_STATE_NOT_HIT] = "not-hit",
	[NW_STATE_NOT_MAPPED] = "not-mapped",
	[NW_STATE_NOT_ARMED] = "not-armed",
	[NW_STATE_SEMAPHORE_CLOSED] = "semaphore-closed",
	[NW_STATE_FILTERED] = "filtered",
	[NW_STATE_NOT_RECORDED] = "not-recorded",
	[NW_STATE_DISABLED] = "disabled",
	[NW_STATE_DISABLED_BY_OTHERS] = "disabled-by-others",
};

/* ---- facts -------------------------------------------------------------------------- */

const char *const nw_owner_names[] = {
	[NW_OWNER_FOREIGN] = "foreign",	       [NW_OWNER_PERSISTENT] = "nopwatch",
	[NW_OWNER_SESSION] = "session",	       [NW_OWNER_DEAD] = "dead session",
	[NW_OWNER_ORPHAN] = "unknown session", [NW_OWNER_KEPT] = "kernel counts",
};

uint64_t nw_status_hits(const struct nw_uprobe_event *event)
{
	uint64_t hits = 0;

	nw_vec_each (&event->places, place)
		hits += place->hits;
	return hits;
}
