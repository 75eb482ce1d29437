// SPDX-License-Identifier: MIT
/* The consumer that counts for expectations (expectation.c), and judges them. */
#include "expect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "find/arch/arch.h"
#include "run/run.h"

/* ---- what the expectations mean ------------------------------------------------------ */

static bool is_of_span(const struct nw_expectation *one)
{
	return one->what != NW_EXPECT_HITS && one->what != NW_EXPECT_THERE;
}

static int add_found(struct nw_expectation *one, uint32_t number, struct nw_error *err)
{
	struct nw_expect_tally *tally = nw_vec_add(&one->found);

	if (!tally)
		return nw_no_memory(err);
	tally->number = number;
	return 0;
}

/* Adds the probes of a selection that another selection has, too: functions whose names the spec does not spell. */
static int add_same(const struct nw_selection *selection, const struct nw_selection *other,
		    struct nw_expectation *one, struct nw_error *err)
{
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < selection->probes.count; i++) {
		const struct nw_probe *probe = selection->probes.item[i];
		bool same = false;
		nw_vec_each (&other->probes, it)
			same |= strcmp((*it)->provider, probe->provider) == 0 &&
				strcmp((*it)->name, probe->name) == 0 &&
				(*it)->kind == probe->kind;
		if (same)
			ret = add_found(one, i, err);
	}
	return ret;
}

/* Finds out why the selection has no probe of the spec, unless it calls the probe otherwise. */
static int find_missing(const struct nw_expect *e, const struct nw_selection *selection,
			struct nw_expectation *one, struct nw_error *err)
{
	struct nw_request request = *e->request;
	struct nw_selection alone = {0};

	if (request.source_name) {
		nw_fail(&one->missing, ENOENT, "%s has no such probe", request.source_name);
		return 0;
	}
	request.specs = (const char *const *)&one->subject;
	request.spec_count = 1;
	request.span_count = 0;
	request.notice = NULL;
	int ret = nw_request_select(&request, true, &alone, &one->missing);
	if (ret == -ENOMEM)
		return nw_no_memory(err);
	if (ret < 0)
		return 0;
	ret = add_same(selection, &alone, one, err);
	nw_selection_free(&alone);
	if (ret == 0 && !one->found.count)
		nw_fail(&one->missing, ENOENT, "its probes were not armed");
	return ret;
}

static void fail_args(const struct nw_expect *e, const struct nw_point *point, size_t count,
		      struct nw_expectation *one)
{
	nw_fail(&one->missing, EINVAL,
		nw_plural(one->args,
			  "%s has %d argument in %s, but %zu at 0x%" PRIx64 " of %s",
			  "%s has %d arguments in %s, but %zu at 0x%" PRIx64 " of %s"),
		one->subject, one->args, e->expectations->path, count, point->vaddr,
		point->image->path);
	if (one->exact)
		nw_error_hint(
			&one->missing,
			"generate the header from the .d file again and build the program anew, or correct the declaration");
}

/* Compares the number of arguments at each site with the one that is expected. */
static int check_args(const struct nw_expect *e, const struct nw_probe *probe,
		      struct nw_expectation *one, struct nw_error *err)
{
	nw_vec_each (&probe->points, point) {
		nw_operands operands = {0};
		if (!point->site || !point->image->arch || one->missing.code)
			continue;
		if (nw_operands_parse(point->image->arch, point->site->args, &operands) < 0)
			return nw_no_memory(err);
		size_t count = operands.count;
		nw_vec_free(&operands);
		if (one->exact ? count != (size_t)one->args : count < (size_t)one->args)
			fail_args(e, point, count, one);
	}
	return 0;
}

static int find_probes(const struct nw_expect *e, const struct nw_selection *selection,
		       struct nw_expectation *one, struct nw_error *err)
{
	nw_vec_u32 numbers = {0};
	int ret = nw_probes_named(selection, one->subject, &numbers);

	ret = ret < 0 ? nw_no_memory(err) : 0;
	nw_vec_each (&numbers, number)
		if (ret == 0 && !selection->probes.item[*number]->hidden)
			ret = add_found(one, *number, err);
	nw_vec_free(&numbers);
	if (ret == 0 && !one->found.count)
		ret = find_missing(e, selection, one, err);
	nw_vec_each (&one->found, tally)
		if (ret == 0 && one->args >= 0)
			ret = check_args(e, selection->probes.item[tally->number], one,
					 err);
	return ret;
}

/* Does the filter apply to all probes of the expectation? Only then it tells which hits count. */
static int bind_condition(const struct nw_selection *selection, struct nw_expectation *one,
			  struct nw_error *err)
{
	static const char option[] = "--filter: ";
	int ret = nw_filter_bind(one->filter, selection, err);

	if (ret < 0 && strncmp(err->what, option, strlen(option)) == 0)
		memmove(err->what, err->what + strlen(option),
			strlen(err->what + strlen(option)) + 1);
	nw_vec_each (&one->found, tally) {
		if (ret < 0 || nw_filter_applies(one->filter, tally->number))
			continue;
		ret = nw_fail_usage(err, "%s has not all arguments of '%s'",
				    selection->probes.item[tally->number]->label,
				    one->condition);
		nw_error_hint(
			err,
			"name them in this line, as in 'app:done(id, status)', or use arg0, arg1, ...; if several lines name arguments of a probe, the last one counts");
	}
	return ret;
}

static int find_all_probes(const struct nw_expect *e, const struct nw_selection *selection,
			   struct nw_error *err)
{
	int ret = 0;

	nw_vec_each (&e->expectations->item, one) {
		if (ret < 0 || is_of_span(one))
			continue;
		ret = find_probes(e, selection, one, err);
		if (ret == 0 && one->filter && one->found.count) {
			ret = bind_condition(selection, one, err);
			if (ret == -EINVAL)
				nw_error_context(err, "%s:%u", e->expectations->path,
						 one->line);
		}
	}
	return ret;
}

/* Tells each probe which conditions its hits have to be tried on. The tallies do not move any more. */
static int index_conditions(struct nw_expect *e, size_t probes, struct nw_error *err)
{
	e->conditions = calloc(probes + 1, sizeof(*e->conditions));
	e->probes = probes;
	if (!e->conditions)
		return nw_no_memory(err);
	nw_vec_each (&e->expectations->item, one)
		nw_vec_each (&one->found, tally) {
			struct nw_expect_condition *slot =
				one->filter ? nw_vec_add(&e->conditions[tally->number])
					    : NULL;
			if (one->filter && !slot)
				return nw_no_memory(err);
			if (slot)
				*slot = (struct nw_expect_condition){one->filter, tally};
		}
	return 0;
}

/* Leaves out the definitions of spans whose probes are not there: their expectations do not hold. */
static int choose_spans(struct nw_expect *e, const struct nw_selection *selection,
			struct nw_error *err)
{
	nw_vec_each (&e->expectations->spans, text) {
		struct nw_span_def def;
		struct nw_error why;
		int ret = nw_span_parse(*text, selection, &def, &why);
		if (ret == -ENOMEM)
			return nw_no_memory(err);
		nw_vec_each (&e->expectations->item, one)
			if (ret < 0 && is_of_span(one) && strcmp(one->subject, *text) == 0)
				one->missing = why;
		if (ret < 0)
			continue;
		nw_span_def_free(&def);
		const char **slot = nw_vec_add(&e->spans);
		if (!slot)
			return nw_no_memory(err);
		*slot = *text;
	}
	e->measure.options.spans = e->spans.item;
	e->measure.options.span_count = e->spans.count;
	return 0;
}

/* Does the text name the span: by its whole name or its definition; or, if not `whole`, without the provider? */
static bool names_span(const char *text, const char *name, bool whole)
{
	const char *colon = strrchr(name, ':'), *equals = strchr(text, '=');
	size_t len = strlen(name);

	if (strcmp(text, name) == 0 || nw_glob_match(text, name))
		return true;
	if (!whole)
		return colon && nw_glob_match(text, colon + 1);
	/* [NAME=]START..END[,...]: NAME, or START..END, is what the span is called */
	if (equals && (size_t)(equals - text) == len && memcmp(text, name, len) == 0)
		return true;
	return strstr(text, "..") && strncmp(text, name, len) == 0 &&
	       (!text[len] || text[len] == ',');
}

static int find_spans(const struct nw_expect *e, struct nw_expectation *one,
		      struct nw_error *err)
{
	const nw_span_defs *spans = &e->measure.spans;
	struct nw_buf names = {0};
	int ret = 0;

	for (int whole = 1; ret == 0 && whole >= 0 && !one->found.count; whole--)
		for (uint32_t i = 0; ret == 0 && i < spans->count; i++)
			if (names_span(one->subject, spans->item[i].name, whole))
				ret = add_found(one, i, err);
	if (ret < 0 || one->found.count || one->missing.code)
		return ret;
	nw_fail(&one->missing, ENOENT, "no probes form a span of that name");
	nw_vec_each (spans, span)
		nw_buf_printf(&names, "%s%s", names.len ? ", " : "", span->name);
	if (names.len)
		nw_error_hint(&one->missing, "the spans are %s", nw_buf_str(&names));
	else
		nw_error_hint(
			&one->missing,
			"name the probes at both of its ends in lines of their own, or write span NAME=START..END");
	nw_buf_free(&names);
	return 0;
}

/* ---- the run ------------------------------------------------------------------------ */

static int start(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct nw_expect *e = arg;
	const struct nw_selection *selection = &nw_run_so_far(run)->selection;
	int ret = find_all_probes(e, selection, err);

	e->started = true;
	if (ret == 0)
		ret = index_conditions(e, selection->probes.count, err);
	if (ret == 0)
		ret = choose_spans(e, selection, err);
	if (ret == 0)
		ret = e->inner.start(arg, run, err);
	nw_vec_each (&e->expectations->item, one)
		if (ret == 0 && is_of_span(one))
			ret = find_spans(e, one, err);
	return ret;
}

static int hit(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	const struct nw_expect *e = arg;

	nw_vec_each (&e->conditions[hit->probe], condition) {
		bool passes = nw_filter_passes(condition->filter, hit, task);
		condition->tally->passed += passes;
		condition->tally->failed += !passes;
	}
	return e->inner.hit(arg, hit, task);
}

int nw_expect_open(struct nw_expectations *expectations, const struct nw_request *request,
		   struct nw_expect *out, struct nw_error *err)
{
	const struct nw_measure_options options = {.implied = true};

	*out = (struct nw_expect){.expectations = expectations, .request = request};
	return nw_measure_open(&options, &out->measure, err);
}

struct nw_consumer nw_expect_consumer(struct nw_expect *expect)
{
	/* The needs of the spans are known before the spans are chosen. */
	expect->measure.options.spans = (const char *const *)
						expect->expectations->spans.item;
	expect->measure.options.span_count = expect->expectations->spans.count;
	struct nw_consumer consumer = nw_measure_consumer(&expect->measure);
	bool conditions = false;

	expect->inner = consumer;
	consumer.start = start;
	nw_vec_each (&expect->expectations->item, one) {
		bool args = one->filter && nw_filter_names_args(one->filter);
		conditions |= one->filter != NULL;
		consumer.needs.all_args |= args;
		consumer.needs.values |= args;
		consumer.needs.comms |= one->filter && nw_filter_names_tasks(one->filter);
	}
	if (!conditions)
		return consumer;
	consumer.hit = hit;
	consumer.hits = NULL;
	consumer.counted = NULL;
	return consumer;
}

int nw_expect_look(struct nw_expect *expect, struct nw_error *err)
{
	struct nw_selection selection = {0};
	int ret = nw_request_select(expect->request, true, &selection, err);

	/* Each expectation says why its probe is not there. */
	if (ret == -ENOENT)
		ret = 0;
	if (ret == 0)
		ret = find_all_probes(expect, &selection, err);
	nw_selection_free(&selection);
	return ret;
}

void nw_expect_finish(struct nw_expect *expect)
{
	nw_summary_finish(expect->measure.summary);
}

void nw_expect_close(struct nw_expect *expect)
{
	for (size_t i = 0; expect->conditions && i < expect->probes; i++)
		nw_vec_free(&expect->conditions[i]);
	free(expect->conditions);
	nw_vec_free(&expect->spans);
	nw_measure_close(&expect->measure);
}

/* ---- judging ------------------------------------------------------------------------ */

static bool compares(uint64_t value, enum nw_compare compare, uint64_t wanted)
{
	switch (compare) {
	case NW_LESS:
		return value < wanted;
	case NW_LESS_EQUAL:
		return value <= wanted;
	case NW_MORE:
		return value > wanted;
	case NW_MORE_EQUAL:
		return value >= wanted;
	default:
		return value == wanted;
	}
}

/* The facts that a judgement is made of, and where its sentences go. */
struct judge {
	const struct nw_expect *e;
	const struct nw_expectation *one;
	const struct nw_run_result *result;
	struct nw_buf *message, *reason;
};

/* Begins a sentence behind others. */
static struct nw_buf *next_sentence(struct nw_buf *text)
{
	if (text->len)
		nw_buf_adds(text, "; ");
	return text;
}

static void add_hits(const struct judge *judge, const char *label, uint64_t counted,
		     uint64_t hits)
{
	struct nw_buf *out = next_sentence(judge->message);

	if (!judge->one->filter) {
		nw_buf_printf(out,
			      nw_plural(hits, "%s was hit %" PRIu64 " time",
					"%s was hit %" PRIu64 " times"),
			      label, hits);
		return;
	}
	nw_buf_printf(
		out,
		nw_plural(hits, "%s was hit %" PRIu64 " time, %" PRIu64 " of them with %s",
			  "%s was hit %" PRIu64 " times, %" PRIu64 " of them with %s"),
		label, hits, counted, judge->one->condition);
}

/* Judges the hits of one probe. */
static bool judge_probe(const struct judge *judge, const struct nw_expect_tally *tally)
{
	const struct nw_summary *summary = judge->e->measure.summary;
	const struct nw_expectation *one = judge->one;
	const char *label = judge->result->selection.probes.item[tally->number]->label;
	uint64_t hits =
		nw_group_probe(nw_summary_rows(summary, 0, true), tally->number)->hits;
	uint64_t counted = one->filter && !one->always ? tally->passed : hits;
	bool holds = compares(counted, one->compare, one->value) &&
		     !(one->always && tally->failed);

	if (holds)
		return true;
	add_hits(judge, label, tally->passed, hits);
	const char *why = judge->result->states ? judge->result->states[tally->number].text
						: NULL;
	if (!hits && why)
		nw_buf_printf(next_sentence(judge->reason), "%s: %s", label, why);
	return false;
}

/* The number of a span that is compared. */
static uint64_t number_of(const struct nw_expectation *one, const struct nw_span_row *row)
{
	switch (one->what) {
	case NW_EXPECT_MIN:
		return row->latency.min;
	case NW_EXPECT_MEAN:
		return (uint64_t)nw_histogram_mean(&row->latency);
	case NW_EXPECT_MAX:
		return row->latency.max;
	case NW_EXPECT_COUNT:
		return row->latency.count;
	case NW_EXPECT_UNMATCHED:
		return row->unmatched_starts + row->unmatched_ends;
	default:
		return nw_histogram_percentile(&row->latency, one->percentile);
	}
}

/* Writes what is compared, as the file spells it: "p99.9", "max". */
static void name_number(const struct nw_expectation *one, struct nw_buf *out)
{
	static const char *const names[] = {[NW_EXPECT_MIN] = "min",
					    [NW_EXPECT_MEAN] = "mean",
					    [NW_EXPECT_MAX] = "max",
					    [NW_EXPECT_COUNT] = "count",
					    [NW_EXPECT_UNMATCHED] = "unmatched"};

	if (one->what == NW_EXPECT_PERCENTILE)
		nw_buf_printf(out, "p%g", 100 * one->percentile);
	else
		nw_buf_adds(out, names[one->what]);
}

static void add_number(const struct judge *judge, const char *name, uint64_t number,
		       uint64_t spans)
{
	struct nw_buf *out = next_sentence(judge->message);
	char time[16];

	nw_duration_text(number, time);
	name_number(judge->one, out);
	if (judge->one->what >= NW_EXPECT_COUNT)
		nw_buf_printf(out, " of %s is %" PRIu64, name, number);
	else
		nw_buf_printf(out,
			      nw_plural(spans, " of %s is %s (%" PRIu64 " span)",
					" of %s is %s (%" PRIu64 " spans)"),
			      name, time, spans);
}

static bool judge_span(const struct judge *judge, const struct nw_expect_tally *tally)
{
	const struct nw_expectation *one = judge->one;
	const char *name = judge->e->measure.spans.item[tally->number].name;
	const struct nw_span_row *row = nw_group_span(
		nw_summary_rows(judge->e->measure.summary, 0, true), tally->number);
	bool known = one->what >= NW_EXPECT_COUNT || row->latency.count;
	uint64_t number = known ? number_of(one, row) : 0;

	if (known && compares(number, one->compare, one->value))
		return true;
	if (known)
		add_number(judge, name, number, row->latency.count);
	else
		nw_buf_printf(next_sentence(judge->message), "no span %s was measured",
			      name);
	if (row->unmatched_starts || row->unmatched_ends || row->abandoned ||
	    row->discarded)
		nw_buf_printf(next_sentence(judge->reason),
			      "%s: starts without an end: %" PRIu64
			      ", ends without a start: %" PRIu64
			      ", calls that never returned: %" PRIu64
			      ", spans discarded because of lost events: %" PRIu64,
			      name, row->unmatched_starts, row->unmatched_ends,
			      row->abandoned, row->discarded);
	return false;
}

/* Has the run missed hits of the probe, so that the counts may be too low? Writes why. */
static bool has_missed(const struct judge *judge)
{
	const struct nw_run_result *result = judge->result;
	const struct nw_end end = nw_result_end(result);
	bool disabled = false;
	char lost[48];

	for (size_t i = 0; i < result->selection.probes.count; i++)
		disabled |= nw_result_is_disabled(result, i);
	nw_lost_text(result->lost, result->lost_is_least, lost);
	if (end.lost || end.lost_is_least)
		nw_buf_printf(next_sentence(judge->reason),
			      "%s, so this is not certain (a larger -b helps)", lost);
	else if (end.dropped || end.incomplete)
		nw_buf_printf(next_sentence(judge->reason),
			      "%" PRIu64
			      " hits were not recorded whole, so this is not certain",
			      end.dropped + end.incomplete);
	else if (disabled)
		nw_buf_adds(
			next_sentence(judge->reason),
			"probes were disabled because of --max-rate, so this is not certain");
	else if (result->changed_externally)
		nw_buf_adds(
			next_sentence(judge->reason),
			"another program has changed the events, so this is not certain");
	else
		return false;
	return true;
}

/* Would hits that were missed make no difference, because there are enough? */
static bool is_settled(const struct nw_expectation *one)
{
	return !one->always &&
	       (one->what == NW_EXPECT_HITS || one->what == NW_EXPECT_COUNT) &&
	       (one->compare == NW_MORE || one->compare == NW_MORE_EQUAL);
}

bool nw_expect_holds(const struct nw_expect *expect, const struct nw_expectation *one,
		     const struct nw_run_result *result, struct nw_buf *message,
		     struct nw_buf *reason)
{
	const struct judge judge = {expect, one, result, message, reason};
	bool holds = true;

	if (one->missing.code) {
		nw_buf_adds(message, one->missing.what);
		nw_buf_adds(reason, one->missing.hint);
		return false;
	}
	if (one->what == NW_EXPECT_THERE)
		return true;
	nw_vec_each (&one->found, tally)
		holds &= is_of_span(one) ? judge_span(&judge, tally)
					 : judge_probe(&judge, tally);
	if (holds && is_settled(one))
		return true;
	if (has_missed(&judge) && holds) {
		nw_buf_adds(message, "it holds for what was recorded, but not all was");
		holds = false;
	}
	return holds;
}
