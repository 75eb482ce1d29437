// SPDX-License-Identifier: MIT
/* Measurements of the library: the reports of `stat`, and their numbers one by one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "run/consumers/reports.h"

struct nopwatch_measure {
	struct nw_reports_options options;
	char *by;
	nopwatch_output_fn *output; /* NULL: no reports */
	void *arg;
	struct nw_reports reports;
	struct nopwatch_result result;
	bool has_run;
	bool done;   /* the numbers are complete */
	bool closed; /* nobody takes more output */
};

struct nopwatch_measure *nopwatch_measure_new(void)
{
	struct nopwatch_measure *m = calloc(1, sizeof(*m));

	if (m)
		m->options.format = nw_output_find("json");
	return m;
}

void nopwatch_measure_free(struct nopwatch_measure *m)
{
	if (!m)
		return;
	nw_reports_free(&m->reports);
	nw_result_free(&m->result.run);
	free(m->by);
	free(m);
}

/* ---- what is measured --------------------------------------------------------------- */

int nopwatch_measure_set_by(struct nopwatch_measure *m, const char *keys,
			    struct nopwatch_error **error)
{
	struct nw_error err;

	return nw_api_done(nw_api_copy(keys, &m->by, &err), &err, error);
}

void nopwatch_measure_set_slowest(struct nopwatch_measure *m, size_t count)
{
	m->options.measure.slower.slowest = count;
}

int nopwatch_measure_set_flags(struct nopwatch_measure *m, unsigned int flags,
			       struct nopwatch_error **error)
{
	const unsigned int known = NOPWATCH_STATES | NOPWATCH_NET;
	struct nw_error err;

	if (flags & ~known)
		return nw_api_done(
			nw_fail(&err, EINVAL, "there is no flag 0x%x", flags & ~known),
			&err, error);
	m->options.measure.states = flags & NOPWATCH_STATES;
	m->options.measure.net = flags & NOPWATCH_NET;
	return 0;
}

int nopwatch_measure_set_output(struct nopwatch_measure *m, const char *format,
				uint64_t interval, nopwatch_output_fn *output, void *arg,
				struct nopwatch_error **error)
{
	const struct nw_output_format *found = nw_output_find(format);
	struct nw_error err;

	if (!found || !found->shows[NW_SHOWS_REPORTS])
		return nw_api_done(
			nw_fail(&err, EINVAL, "no format '%s' has reports", format), &err,
			error);
	m->options.format = found;
	m->options.measure.interval_ns = interval;
	m->output = output;
	m->arg = arg;
	return 0;
}

/* ---- the run ------------------------------------------------------------------------ */

static int take_text(void *arg, struct nw_buf *text, struct nw_error *err)
{
	struct nopwatch_measure *m = arg;

	if (text->failed)
		return nw_no_memory(err);
	if (m->output && text->len && !m->closed)
		m->closed = m->output(m->arg, text->data, text->len) != 0;
	nw_buf_clear(text);
	return m->closed ? -EPIPE : 0;
}

static int measure(struct nopwatch_measure *m, struct nopwatch_request *request,
		   struct nw_error *err)
{
	struct nw_reports_options options = m->options;

	options.measure.by = m->by;
	options.measure.spans = (const char *const *)request->spans.item;
	options.measure.span_count = request->spans.count;
	options.measure.costs = m->output && options.format->costs ? NW_COSTS_WANTED
								   : NW_COSTS_KNOWN;
	options.recorded = request->recording != NULL;
	options.source = request->recording;
	options.arg = m;
	options.write = take_text;
	int ret = nw_reports_open(&options, &m->reports, err);
	if (ret < 0)
		return ret;
	const struct nw_consumer consumer = nw_reports_consumer(&m->reports);
	ret = nw_api_run(request, &consumer, &m->result.run, err);
	if (m->closed)
		ret = 0; /* the caller has ended the run */
	if (ret < 0 && m->reports.measure.failure.code)
		*err = m->reports.measure.failure;
	if (ret < 0)
		return ret;
	nw_reports_ended(&m->reports, &m->result.run);
	ret = nw_reports_finish(&m->reports, err);
	return ret == -EPIPE && m->closed ? 0 : ret;
}

int nopwatch_measure_run(struct nopwatch_measure *m, struct nopwatch_request *request,
			 struct nopwatch_error **error)
{
	struct nw_error err;
	int ret = m->has_run ? nw_fail(&err, EBUSY, "the measurement has run already") : 0;

	m->has_run = true;
	if (ret == 0)
		ret = measure(m, request, &err);
	m->done |= ret == 0;
	return nw_api_done(ret, &err, error);
}

/* ---- the numbers -------------------------------------------------------------------- */

const struct nopwatch_result *nopwatch_measure_result(const struct nopwatch_measure *m)
{
	return &m->result;
}

size_t nopwatch_measure_groups(const struct nopwatch_measure *m)
{
	return m->done ? nw_summary_groups(m->reports.measure.summary) : 0;
}

const char *nopwatch_measure_group(const struct nopwatch_measure *m, size_t group)
{
	if (group >= nopwatch_measure_groups(m))
		return NULL;
	const char *name = nw_summary_group_name(m->reports.measure.summary, group);
	return name ? name : "";
}

size_t nopwatch_measure_rows(const struct nopwatch_measure *m, enum nopwatch_rows rows)
{
	if (!m->done)
		return 0;
	return rows == NOPWATCH_PROBE_ROWS  ? m->result.run.selection.probes.count
	       : rows == NOPWATCH_SPAN_ROWS ? m->reports.measure.spans.count
					    : 0;
}

const char *nopwatch_measure_name(const struct nopwatch_measure *m, enum nopwatch_rows rows,
				  size_t row)
{
	if (row >= nopwatch_measure_rows(m, rows))
		return NULL;
	return rows == NOPWATCH_PROBE_ROWS ? m->result.run.selection.probes.item[row]->label
					   : m->reports.measure.spans.item[row].name;
}

/* Returns a row of the summary; NULL: there is none. */
static const void *find_row(const struct nopwatch_measure *m, enum nopwatch_rows rows,
			    size_t group, size_t row)
{
	if (group >= nopwatch_measure_groups(m) || row >= nopwatch_measure_rows(m, rows))
		return NULL;
	const struct nw_group_rows *of = nw_summary_rows(m->reports.measure.summary, group,
							 true);
	return rows == NOPWATCH_PROBE_ROWS ? (const void *)nw_group_probe(of, row)
					   : nw_group_span(of, row);
}

static enum nw_subject subject_of(enum nopwatch_rows rows)
{
	return rows == NOPWATCH_PROBE_ROWS ? NW_SUBJECT_PROBES : NW_SUBJECT_SPANS;
}

static bool number_of_times(const struct nw_histogram *times, const char *key,
			    uint64_t *out)
{
	if (strcmp(key, "count") == 0)
		*out = times->count;
	else if (strcmp(key, "sum") == 0)
		*out = times->sum;
	else if (!times->count)
		return false;
	else if (strcmp(key, "min") == 0)
		*out = times->min;
	else if (strcmp(key, "max") == 0)
		*out = times->max;
	else if (strcmp(key, "mean") == 0)
		*out = (uint64_t)nw_histogram_mean(times);
	else
		return false;
	return true;
}

bool nopwatch_measure_number(const struct nopwatch_measure *m, enum nopwatch_rows rows,
			     size_t group, size_t row, const char *key, uint64_t *out)
{
	const void *found = find_row(m, rows, group, row);
	enum nw_subject subject = subject_of(rows);

	if (!found)
		return false;
	nw_number_each (subject, number)
		if (number->kind == NW_NUMBER_COUNT && strcmp(number->key, key) == 0) {
			*out = nw_number_count(number, found);
			return true;
		}
	return number_of_times(nw_row_times(subject, found), key, out);
}

bool nopwatch_measure_percentile(const struct nopwatch_measure *m, enum nopwatch_rows rows,
				 size_t group, size_t row, double share, uint64_t *out)
{
	const void *found = find_row(m, rows, group, row);
	const struct nw_histogram *times = found ? nw_row_times(subject_of(rows), found)
						 : NULL;

	if (!times || !times->count || !(share > 0 && share <= 1))
		return false;
	*out = nw_histogram_percentile(times, share);
	return true;
}

bool nopwatch_measure_bucket(const struct nopwatch_measure *m, enum nopwatch_rows rows,
			     size_t group, size_t row, unsigned int *at, uint64_t *low,
			     uint64_t *high, uint64_t *count)
{
	const void *found = find_row(m, rows, group, row);
	struct nw_bucket bucket;

	if (!found ||
	    !nw_histogram_next(nw_row_times(subject_of(rows), found), at, &bucket))
		return false;
	*low = bucket.low;
	*high = bucket.high;
	*count = bucket.count;
	return true;
}
