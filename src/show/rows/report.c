// SPDX-License-Identifier: MIT
/* Shared by all formats that show reports. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report.h"

const struct nw_statistic nw_statistics[] = {
	{"min", "MIN", 0},   {"mean", "MEAN", 0},  {"p50", "P50", 0.5},
	{"p90", "P90", 0.9}, {"p99", "P99", 0.99}, {"p999", "P99.9", 0.999},
	{"max", "MAX", 0},
};
const size_t nw_statistic_count = NW_COUNT(nw_statistics);

/* Returns the mean as an integer. Near the ends of the range, a double may round to a value that no integer can hold. */
static uint64_t whole_mean(const struct nw_histogram *h)
{
	double mean = round(nw_histogram_mean(h));
	double min = h->is_signed ? (double)(int64_t)h->min : (double)h->min;
	double max = h->is_signed ? (double)(int64_t)h->max : (double)h->max;

	if (mean <= min)
		return h->min;
	if (mean >= max)
		return h->max;
	return h->is_signed ? (uint64_t)(int64_t)mean : (uint64_t)mean;
}

uint64_t nw_statistic_of(const struct nw_histogram *h, const struct nw_statistic *statistic)
{
	if (statistic->percentile > 0)
		return nw_histogram_percentile(h, statistic->percentile);
	if (strcmp(statistic->key, "min") == 0)
		return h->min;
	if (strcmp(statistic->key, "max") == 0)
		return h->max;
	return whole_mean(h);
}

double nw_report_rate(const struct nw_report *report, uint64_t hits)
{
	return report->elapsed_ns ? (double)hits * 1e9 / (double)report->elapsed_ns : 0;
}

const struct nw_group_rows *nw_report_rows(const struct nw_report *report, size_t group)
{
	return nw_summary_rows(report->summary, group, report->interval == 0);
}

char *nw_report_group(const struct nw_report *report, size_t group)
{
	char *name = report->group_by
			     ? strdup(nw_summary_group_name(report->summary, group))
			     : NULL;

	for (char *at = name; at && (at = strchr(at, NW_GROUP_SEPARATOR)); at++)
		*at = ',';
	return name;
}

const char *nw_report_time(const struct nw_report *report, char out[40])
{
	time_t seconds = (time_t)(report->wall_ns / 1000000000);
	struct tm utc;
	size_t len = 0;

	if (report->wall_ns && gmtime_r(&seconds, &utc))
		len = strftime(out, 40, "%Y-%m-%dT%H:%M:%S", &utc);
	if (len)
		snprintf(out + len, 40 - len, ".%03dZ",
			 (int)(report->wall_ns / 1000000 % 1000));
	else
		*out = '\0';
	return out;
}

/* A statement that fails leaves its function by longjmp(), without query__done. */
bool nw_report_is_statement(const struct nw_report *report, size_t span)
{
	static const char start[] = "postgresql:query__";
	const nw_vec_u32 *starts = &report->spans[span].starts;
	const uint32_t first = starts->count ? starts->item[0] : 0;

	return starts->count && strncmp(report->selection->probes.item[first]->label, start,
					sizeof(start) - 1) == 0;
}

bool nw_report_has(const struct nw_report *report, enum nw_subject subject, size_t index,
		   const void *row)
{
	if (subject == NW_SUBJECT_PROBES && report->selection->probes.item[index]->hidden)
		return false;
	return !report->group_by || nw_row_has(subject, row);
}

bool nw_report_next_times(const struct nw_report *report, const struct nw_number *number,
			  size_t index, const void *row, size_t *at,
			  struct nw_named_times *out)
{
	bool is_arg = number->kind == NW_NUMBER_ARGS;
	const struct nw_probe *probe = is_arg ? report->selection->probes.item[index]
					      : NULL;
	size_t count = nw_number_parts(number, probe ? probe->args.count : 0), i = *at;

	*out = (struct nw_named_times){.times = nw_number_times(number, row)};
	while (out->times && i < count && is_arg && !out->times[i].count)
		i++;
	*at = i + 1;
	if (!out->times || i >= count)
		return false;
	out->times += i;
	if (probe)
		nw_arg_name(probe, i, out->name);
	else if (number->kind == NW_NUMBER_STATES)
		strcpy(out->name, nw_task_state_names[i]);
	return true;
}

uint64_t nw_report_sum(const struct nw_report *report, size_t span,
		       const struct nw_number *number)
{
	uint64_t sum = 0;

	for (size_t g = 0; g < nw_summary_groups(report->summary); g++)
		sum += nw_number_count(number,
				       nw_group_span(nw_report_rows(report, g), span));
	return sum;
}

/* The kernel counts dropped hits of all processes. */
void nw_lost_text(uint64_t lost, bool least, char out[48])
{
	snprintf(out, 48, "%s%" PRIu64 " %s lost", least ? "at least " : "", lost,
		 least && lost == 1 ? "event" : "events");
}

const char *nw_dropped_text(bool restricted)
{
	return restricted
		       ? "more hits counted by the kernel: of other processes, or not recorded"
		       : "hits not recorded by the kernel";
}
