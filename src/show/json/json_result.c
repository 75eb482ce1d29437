// SPDX-License-Identifier: MIT
/* See json_result.h. */
#include "json_result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_reader.h"
#include "measure/sched/task_states.h"

enum {
	MOST_LINE = 64 << 20
};

struct line {
	size_t number; /* from 1 */
	nw_json_value *value;
};

/* The slices of time that are made of intervals. */
struct slices {
	struct nw_summary *summary; /* its current rows are those of the slice */
	uint64_t number, each;	    /* of the slice, from 0; intervals in one */
	const struct nw_slice_taker *to;
};

struct reader {
	const char *name;
	struct slices *slices; /* NULL: the whole is read */
	struct nw_json_result *out;
	NW_VEC(struct line) rows; /* the lines of probes and spans */
	struct nw_index labels, spans;
	bool ended;
};

static int fail(const struct reader *r, size_t line, const char *why, struct nw_error *err)
{
	return nw_fail(err, EINVAL, "'%s', line %zu: %s", r->name, line, why);
}

static const char *text_of(const nw_json_value *object, const char *key)
{
	size_t len;
	const char *text = nw_json_string(nw_json_member(object, key), &len);

	return text && strlen(text) == len ? text : NULL;
}

static uint64_t count_of(const nw_json_value *object, const char *key)
{
	uint64_t count;

	return nw_json_unsigned(nw_json_member(object, key), &count) ? count : 0;
}

/* ---- names -------------------------------------------------------------------------- */

static enum nw_subject subject_of(const nw_json_value *row)
{
	return strcmp(text_of(row, "type"), "span") == 0 ? NW_SUBJECT_SPANS
							 : NW_SUBJECT_PROBES;
}

static int set_keys(struct nw_json_result *out, const char *keys)
{
	nw_cleanup(nw_free_ptr) char *copy = strdup(keys);
	char *rest = copy;

	out->group_by = strdup(keys);
	while (nw_split_keys(&rest))
		out->keys++;
	return out->group_by && copy ? 0 : -ENOMEM;
}

/* Output of earlier versions names the keys in its rows only, and one key alone not at all. */
static int read_keys(struct reader *r, const nw_json_value *row)
{
	const nw_json_value *by = nw_json_member(row, "by"), *value;
	struct nw_buf keys = {0};
	void *at = NULL;
	const char *key;

	if (r->out->group_by || !nw_json_member(row, "group"))
		return 0;
	while ((key = nw_json_next_member(by, &at, &value)))
		nw_buf_printf(&keys, "%s%s", keys.len ? "," : "", key);
	int ret = keys.failed ? -ENOMEM
			      : set_keys(r->out, keys.len ? nw_buf_str(&keys) : "group");
	nw_buf_free(&keys);
	return ret;
}

static int add_args(struct nw_probe *probe, const nw_json_value *row)
{
	const nw_json_value *args = nw_json_member(row, "args"), *value;
	void *at = NULL;
	const char *name;

	while ((name = nw_json_next_member(args, &at, &value)))
		if (nw_merged_arg(probe, name) < 0)
			return -ENOMEM;
	return 0;
}

static int add_probe(struct reader *r, const nw_json_value *row)
{
	const char *label = text_of(row, "probe"), *symbol = text_of(row, "symbol");
	struct nw_selection *selection = &r->out->rows.selection;
	int64_t at = nw_index_add(&r->labels, label, strlen(label));

	if (at < 0)
		return -ENOMEM;
	if ((size_t)at == selection->probes.count) {
		const struct nw_probe named = {
			.label = (char *)(uintptr_t)label,
			.symbol = (char *)(uintptr_t)symbol,
			.has_args = true,
		};
		if (!nw_merged_new_probe(selection, &named))
			return -ENOMEM;
	}
	return add_args(selection->probes.item[at], row);
}

/* Gives a span that counts failed statements, PostgreSQL's, a start by which reports know it. */
static int add_statement(const struct nw_selection *selection, struct nw_span_def *span)
{
	for (uint32_t i = 0; i < selection->probes.count; i++)
		if (strncmp(selection->probes.item[i]->label, "postgresql:query__", 18) ==
		    0) {
			uint32_t *slot = nw_vec_add(&span->starts);
			if (slot)
				*slot = i;
			return slot ? 0 : -ENOMEM;
		}
	return 0;
}

static int add_span(struct reader *r, const nw_json_value *row)
{
	const char *name = text_of(row, "span"), *key = text_of(row, "key");
	struct nw_span_def *span;
	struct nw_buf both = {0};

	nw_buf_printf(&both, "%s%c%s", name, NW_GROUP_SEPARATOR, key ? key : "");
	int64_t at = both.failed ? -ENOMEM
				 : nw_index_add(&r->spans, nw_buf_str(&both), both.len);
	nw_buf_free(&both);
	if (at < 0)
		return -ENOMEM;
	if ((size_t)at < r->out->rows.spans.count)
		return 0;
	if (!(span = nw_vec_add(&r->out->rows.spans)))
		return -ENOMEM;
	span->name = strdup(name);
	memcpy(span->key_name, key ? key : "",
	       key ? strnlen(key, sizeof(span->key_name) - 1) : 0);
	if (!span->name)
		return -ENOMEM;
	return nw_json_member(row, "failed_statements")
		       ? add_statement(&r->out->rows.selection, span)
		       : 0;
}

static int add_name(struct reader *r, const struct line *line, struct nw_error *err)
{
	bool is_span = subject_of(line->value) == NW_SUBJECT_SPANS;
	int ret;

	if (nw_json_member(line->value, "more"))
		return fail(r, line->number,
			    "it was made with --top, so it does not name all rows", err);
	if (!text_of(line->value, is_span ? "span" : "probe"))
		return fail(r, line->number, "the row has no name", err);
	ret = is_span ? add_span(r, line->value) : add_probe(r, line->value);
	if (ret == 0)
		ret = read_keys(r, line->value);
	return ret < 0 ? nw_no_memory(err) : 0;
}

/* ---- numbers ------------------------------------------------------------------------ */

/* Reads a number of a distribution, whose values are signed or not. */
static bool read_value(const nw_json_value *value, bool is_signed, uint64_t *out)
{
	return is_signed ? nw_json_signed(value, (int64_t *)out)
			 : nw_json_unsigned(value, out);
}

/* Is it a number below zero? */
static bool is_negative(const nw_json_value *value)
{
	int64_t number;

	return nw_json_signed(value, &number) && number < 0;
}

static double as_double(const struct nw_histogram *h, uint64_t value)
{
	return h->is_signed ? (double)(int64_t)value : (double)value;
}

/* Can these be mean and deviation of values between the least and the greatest? NaN cannot. */
static bool are_of_values(const struct nw_histogram *h, double mean, double stddev)
{
	const double min = as_double(h, h->min), max = as_double(h, h->max);
	/* Doubles of 64 bits are rounded, and so are the means that earlier reports have merged. */
	const double slack = 1e-9 * (1 + fabs(min) + fabs(max));

	return min <= max && mean >= min - slack && mean <= max + slack && stddev >= 0 &&
	       stddev <= max - min + slack;
}

/* Can a bucket have a value between the least and the greatest? */
static bool has_values(const struct nw_histogram *h, const struct nw_bucket *bucket)
{
	if (h->is_signed)
		return (int64_t)bucket->high >= (int64_t)h->min &&
		       (int64_t)bucket->low <= (int64_t)h->max;
	return bucket->high >= h->min && bucket->low <= h->max;
}

static bool read_buckets(const nw_json_value *list, struct nw_histogram *h)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nw_json_length(list); i++) {
		const nw_json_value *of = nw_json_element(list, i);
		struct nw_bucket bucket;
		if (!read_value(nw_json_element(of, 0), h->is_signed, &bucket.low) ||
		    !read_value(nw_json_element(of, 1), h->is_signed, &bucket.high) ||
		    !nw_json_unsigned(nw_json_element(of, 2), &bucket.count) ||
		    nw_add_overflows(sum, bucket.count, &sum) || sum > h->count ||
		    !has_values(h, &bucket) || !nw_histogram_restore_bucket(h, &bucket))
			return false;
	}
	return sum == h->count;
}

/* Reads one row of equal steps. */
static bool read_step(const nw_json_value *of, struct nw_linear *linear)
{
	const struct nw_linear_shape *shape = &linear->shape;
	int64_t low, high;
	uint64_t count;

	if (!nw_json_signed(nw_json_element(of, 0), &low) ||
	    !nw_json_signed(nw_json_element(of, 1), &high) ||
	    !nw_json_unsigned(nw_json_element(of, 2), &count) || low < shape->min ||
	    low >= shape->max)
		return false;
	const uint64_t from_min = (uint64_t)low - (uint64_t)shape->min;
	if (from_min % shape->step || (uint64_t)high - (uint64_t)low != shape->step - 1)
		return false;
	linear->count[from_min / shape->step] += count;
	return true;
}

/* Reads the counts in equal steps, if there are some. They are of the values that the distribution counts. */
static bool read_linear(const nw_json_value *value, struct nw_histogram *h)
{
	const nw_json_value *list = nw_json_member(value, "buckets");
	struct nw_linear_shape shape = {0};
	int64_t min, max;
	uint64_t step, sum;

	if (!value)
		return true;
	if (!nw_json_signed(nw_json_member(value, "min"), &min) ||
	    !nw_json_signed(nw_json_member(value, "max"), &max) ||
	    !nw_json_unsigned(nw_json_member(value, "step"), &step) ||
	    nw_linear_make(min, max, step, &shape) != NW_LINEAR_RIGHT)
		return false;
	free(h->linear);
	h->linear = nw_linear_new(&shape);
	if (!h->linear ||
	    !nw_json_unsigned(nw_json_member(value, "below"), &h->linear->below) ||
	    !nw_json_unsigned(nw_json_member(value, "above"), &h->linear->above))
		return false;
	for (size_t i = 0; i < nw_json_length(list); i++)
		if (!read_step(nw_json_element(list, i), h->linear))
			return false;
	bool wraps = nw_add_overflows(h->linear->below, h->linear->above, &sum);
	for (size_t i = 0; i < shape.buckets; i++)
		wraps |= nw_add_overflows(sum, h->linear->count[i], &sum);
	return !wraps && sum == h->count;
}

/* Reads DIST. False: it contradicts itself. */
static bool read_distribution(const nw_json_value *dist, struct nw_histogram *h)
{
	double mean = 0, stddev = 0;

	if (!nw_json_unsigned(nw_json_member(dist, "count"), &h->count) || h->count >> 62)
		return false;
	if (!h->count)
		return true;
	h->is_signed = is_negative(nw_json_member(dist, "min"));
	if (!read_value(nw_json_member(dist, "sum"), h->is_signed, &h->sum) ||
	    !read_value(nw_json_member(dist, "min"), h->is_signed, &h->min) ||
	    !read_value(nw_json_member(dist, "max"), h->is_signed, &h->max) ||
	    !nw_json_double(nw_json_member(dist, "mean"), &mean) ||
	    !nw_json_double(nw_json_member(dist, "stddev"), &stddev))
		return false;
	nw_histogram_restore(h, mean, stddev);
	return are_of_values(h, mean, stddev) &&
	       read_buckets(nw_json_member(dist, "buckets"), h) &&
	       read_linear(nw_json_member(dist, "linear"), h);
}

/* Reads a number that is an object of distributions by the names of arguments or states. */
static bool read_named(const nw_json_value *object, const struct nw_number *number,
		       const struct nw_probe *probe, struct nw_histogram *h)
{
	size_t count = nw_number_parts(number, probe ? probe->args.count : 0);
	bool ok = true;

	for (size_t i = 0; ok && i < count; i++) {
		const nw_json_value *dist = nw_json_member(
			object, probe ? probe->args.item[i].name : nw_task_state_names[i]);
		ok = !dist || read_distribution(dist, &h[i]);
	}
	return ok;
}

/* Returns the distributions of a number, which are made if the row has none; NULL: no memory. */
static struct nw_histogram *times_of(const struct nw_number *number, void *row, size_t args)
{
	struct nw_histogram *times = nw_number_times(number, row);

	if (!times) {
		times = calloc(nw_number_parts(number, args) + 1, sizeof(*times));
		*(struct nw_histogram **)((char *)row + number->at) = times;
	}
	return times;
}

/* Returns 0, -ENOMEM, or -EINVAL if the number contradicts itself. */
static int read_number(const nw_json_value *from, const struct nw_number *number,
		       const struct nw_probe *probe, void *row)
{
	const nw_json_value *value = nw_json_member(from, number->key);

	if (!value || number->kind == NW_NUMBER_SLEPT_IN ||
	    number->kind == NW_NUMBER_WOKEN_BY)
		return 0;
	if (number->kind == NW_NUMBER_COUNT)
		return nw_json_unsigned(value, (uint64_t *)((char *)row + number->at))
			       ? 0
			       : -EINVAL;
	struct nw_histogram *times = times_of(number, row, probe ? probe->args.count : 0);
	if (!times)
		return -ENOMEM;
	if (times->count) /* the row is there twice */
		return -EINVAL;
	bool named = number->kind == NW_NUMBER_ARGS || number->kind == NW_NUMBER_STATES;
	return named ? (read_named(value, number, probe, times) ? 0 : -EINVAL)
		     : (read_distribution(value, times) ? 0 : -EINVAL);
}

/* Writes the name of a row's group as a summary has it. */
static void add_group(const nw_json_value *row, struct nw_buf *out)
{
	const nw_json_value *by = nw_json_member(row, "by"), *value;
	const char *group = text_of(row, "group");
	void *at = NULL;
	size_t len;

	if (!by || (group && strcmp(group, nw_group_overflow) == 0)) {
		nw_buf_adds(out, group ? group : "?");
		return;
	}
	for (bool first = true; nw_json_next_member(by, &at, &value); first = false) {
		const char *part = nw_json_string(value, &len);
		if (!first)
			nw_buf_addc(out, NW_GROUP_SEPARATOR);
		nw_buf_add(out, part ? part : "?", part ? len : 1);
	}
}

static int64_t number_of(const struct reader *r, const nw_json_value *row,
			 enum nw_subject subject)
{
	const char *name = text_of(row, subject == NW_SUBJECT_SPANS ? "span" : "probe");
	const char *key = text_of(row, "key");
	struct nw_buf both = {0};

	if (subject == NW_SUBJECT_PROBES)
		return nw_index_find(&r->labels, name, strlen(name));
	nw_buf_printf(&both, "%s%c%s", name, NW_GROUP_SEPARATOR, key ? key : "");
	int64_t at = both.failed ? -ENOMEM
				 : nw_index_find(&r->spans, nw_buf_str(&both), both.len);
	nw_buf_free(&both);
	return at;
}

/* Takes the word for a probe's state from any of its rows. */
static void read_state(struct reader *r, const nw_json_value *row, int64_t probe)
{
	const char *word = text_of(row, "state");
	struct nw_probe_state *state = &r->out->states[probe];

	for (size_t i = NW_STATE_UNKNOWN + 1; word && i < NW_STATE_COUNT; i++)
		if (nw_state_words[i] && strcmp(nw_state_words[i], word) == 0 &&
		    state->state != NW_STATE_HIT)
			state->state = (enum nw_state)i;
}

static int read_row(struct reader *r, const struct line *line, struct nw_error *err)
{
	enum nw_subject subject = subject_of(line->value);
	bool is_span = subject == NW_SUBJECT_SPANS;
	struct nw_merged *rows = &r->out->rows;
	struct nw_buf group = {0};
	int64_t at = number_of(r, line->value, subject);
	int ret = 0;

	if (at < 0)
		return nw_no_memory(err);
	const struct nw_probe *probe = is_span ? NULL : rows->selection.probes.item[at];
	add_group(line->value, &group);
	void *row = group.failed ? NULL
				 : nw_merged_row(rows, nw_buf_str(&group), group.len,
						 subject, (uint32_t)at);
	nw_buf_free(&group);
	if (!row)
		return nw_no_memory(err);
	if (!is_span)
		read_state(r, line->value, at);
	nw_number_each (subject, number)
		if (ret == 0)
			ret = read_number(line->value, number, probe, row);
	if (ret == -EINVAL)
		return fail(r, line->number, "its numbers contradict each other", err);
	return ret < 0 ? nw_no_memory(err) : 0;
}

/* ---- lines -------------------------------------------------------------------------- */

static int read_facts(struct reader *r, const char *type, const nw_json_value *line)
{
	struct nw_json_result *out = r->out;
	const char *host = text_of(line, "host"), *keys = text_of(line, "group_by");

	if (strcmp(type, "attached") == 0 && !out->host && !out->group_by) {
		out->sites = (size_t)count_of(line, "sites");
		out->net = nw_json_is_true(nw_json_member(line, "net"));
		out->host = host ? strdup(host) : NULL;
		if (host && !out->host)
			return -ENOMEM;
		return keys ? set_keys(out, keys) : 0;
	}
	if (strcmp(type, "loss") == 0) {
		out->end.lost = count_of(line, "events");
		out->end.lost_is_least = nw_json_is_true(nw_json_member(line, "at_least"));
		out->end.discarded = count_of(line, "discarded_spans");
		out->end.dropped = count_of(line, "not_recorded");
		out->end.incomplete = count_of(line, "incomplete_hits");
	}
	if (strcmp(type, "end") == 0) {
		r->ended = true;
		out->end.elapsed_ns = count_of(line, "elapsed_ns");
		out->end.has_filter = nw_json_member(line, "filtered") != NULL;
		out->end.filtered = count_of(line, "filtered");
	}
	return 0;
}

/* Notes how many intervals there are: rows and quiet lines name theirs. */
static void count_interval(struct nw_json_result *out, const nw_json_value *line)
{
	const uint64_t number = nw_max64(count_of(line, "interval"),
					 count_of(line, "last"));

	if (number < out->intervals)
		return;
	out->intervals = number;
	out->short_ns = count_of(line, "interval_ns");
}

/* Keeps the lines of the rows of the whole run until the names of all are known. */
static int take_line(struct reader *r, size_t number, nw_json_value *value,
		     struct nw_error *err)
{
	const char *type = text_of(value, "type");
	bool is_row = type && (strcmp(type, "probe") == 0 || strcmp(type, "span") == 0);
	bool of_part = nw_json_member(value, "interval") || nw_json_member(value, "so_far");
	int ret = 0;

	if (!type)
		ret = fail(r, number, "no line of JSON that nopwatch has printed", err);
	else if (strcmp(type, "event") == 0)
		ret = fail(
			r, number,
			"a single hit: `report` reads what `nopwatch stat -j` has printed",
			err);
	else if (!is_row)
		ret = read_facts(r, type, value) < 0 ? nw_no_memory(err) : 0;
	if (nw_json_member(value, "interval"))
		count_interval(r->out, value);
	if (ret < 0 || !is_row || of_part) {
		nw_json_value_free(value);
		return ret;
	}
	struct line *line = nw_vec_add(&r->rows);
	if (!line) {
		nw_json_value_free(value);
		return nw_no_memory(err);
	}
	*line = (struct line){number, value};
	return add_name(r, line, err);
}

static int read_lines(struct reader *r, const char *text, size_t len,
		      int (*take)(struct reader *r, size_t number, nw_json_value *value,
				  struct nw_error *err),
		      struct nw_error *err)
{
	int ret = 0;

	for (size_t number = 1; ret == 0 && len; number++) {
		const char *end = memchr(text, '\n', len);
		size_t line = end ? (size_t)(end - text) : len;
		nw_json_value *value = NULL;
		struct nw_error why = {0};
		if (line > MOST_LINE)
			return fail(r, number, "longer than 64 MiB", err);
		ret = line ? nw_json_read(text, line, &value, &why) : 0;
		if (ret == -ENOMEM)
			*err = why;
		else if (ret < 0)
			ret = fail(r, number, why.what, err);
		else if (line)
			ret = take(r, number, value, err);
		text += line + (end != NULL);
		len -= line + (end != NULL);
	}
	return ret;
}

static int make_rows(struct reader *r, struct nw_error *err)
{
	struct nw_merged *rows = &r->out->rows;
	const struct nw_summary_options options = {
		.selection = &rows->selection,
		.spans = rows->spans.item,
		.span_count = rows->spans.count,
		.args = NW_ARGS_ALL,
		.grouped = r->out->group_by != NULL,
	};
	int ret = nw_summary_open(&options, &rows->summary, err);

	r->out->states = calloc(rows->selection.probes.count + 1, sizeof(*r->out->states));
	if (ret == 0 && !r->out->states)
		ret = nw_no_memory(err);
	nw_vec_each (&r->rows, line)
		if (ret == 0)
			ret = read_row(r, line, err);
	return ret;
}

int nw_json_result_read(const char *name, const char *text, size_t len,
			struct nw_json_result *out, struct nw_error *err)
{
	struct reader r = {.name = name, .out = out};

	*out = (struct nw_json_result){.end = {.reason = NW_END_RECORDING}};
	int ret = read_lines(&r, text, len, take_line, err);
	if (ret == 0 && !r.ended)
		ret = nw_fail(
			err, EINVAL,
			"'%s' is not the whole output of `nopwatch stat -j`: its last line, \"end\", is missing",
			name);
	if (ret == 0)
		ret = make_rows(&r, err);
	nw_vec_each (&r.rows, line)
		nw_json_value_free(line->value);
	nw_vec_free(&r.rows);
	nw_index_free(&r.labels);
	nw_index_free(&r.spans);
	return ret;
}

/* ---- intervals ---------------------------------------------------------------------- */

uint64_t nw_json_interval_ns(const struct nw_json_result *result)
{
	const uint64_t is_short = result->short_ns && result->intervals > 1;
	const uint64_t count = result->intervals - is_short;
	const uint64_t elapsed = result->end.elapsed_ns;

	return count && elapsed > result->short_ns
		       ? (elapsed - (is_short ? result->short_ns : 0)) / count
		       : 0;
}

/* Ends the slice that is being read, and those behind it that are empty, up to this one. */
static int end_slices(struct reader *r, uint64_t until, struct nw_error *err)
{
	const struct nw_json_result *whole = r->out;
	const struct nw_merge_part part = {.selection = &whole->rows.selection,
					   .spans = whole->rows.spans.item,
					   .span_count = whole->rows.spans.count,
					   .summary = r->slices->summary,
					   .interval = true,
					   .host = r->name};
	const uint64_t length = nw_json_interval_ns(whole);
	int ret = 0;

	for (; ret == 0 && r->slices->number < until; r->slices->number++) {
		const uint64_t left = whole->intervals -
				      r->slices->number * r->slices->each;
		uint64_t ns = nw_min64(left, r->slices->each) * length;
		if (left <= r->slices->each && whole->short_ns && whole->short_ns < length)
			ns -= length - whole->short_ns;
		if (ns >= r->slices->each * length / 2)
			ret = r->slices->to->take(r->slices->to->arg, &part, ns, err);
		if (ret == 0 && nw_summary_next_interval(r->slices->summary) < 0)
			ret = nw_no_memory(err);
	}
	return ret;
}

/* Adds hits, gaps and latencies of a row to the slice. Rows of names and groups that the whole has not are left out. */
static int add_to_slice(struct reader *r, const struct line *line, struct nw_error *err)
{
	enum nw_subject subject = subject_of(line->value);
	int64_t at = number_of(r, line->value, subject);
	struct nw_merged slice = {.summary = r->slices->summary};
	struct nw_buf group = {0};

	if (at < 0)
		return at == -ENOENT ? 0 : nw_no_memory(err);
	add_group(line->value, &group);
	void *row = group.failed ? NULL
				 : nw_merged_row(&slice, nw_buf_str(&group), group.len,
						 subject, (uint32_t)at);
	nw_buf_free(&group);
	if (!row)
		return nw_no_memory(err);
	nw_number_each (subject, number) {
		const nw_json_value *value = nw_json_member(line->value, number->key);
		struct nw_histogram times = {0};
		if (number->kind == NW_NUMBER_COUNT)
			*(uint64_t *)((char *)row + number->at) += count_of(line->value,
									    number->key);
		if (number->kind != NW_NUMBER_TIMES)
			continue;
		bool right = value && read_distribution(value, &times);
		nw_histogram_merge(nw_number_times(number, row), &times);
		nw_histogram_free(&times);
		if (!right)
			return fail(r, line->number, "its numbers contradict each other",
				    err);
	}
	return 0;
}

static int take_interval(struct reader *r, size_t number, nw_json_value *value,
			 struct nw_error *err)
{
	const char *type = text_of(value, "type");
	const uint64_t interval = count_of(value, "interval");
	bool is_row = type && (strcmp(type, "probe") == 0 || strcmp(type, "span") == 0);
	bool named = is_row && text_of(value, strcmp(type, "span") == 0 ? "span" : "probe");
	int ret = 0;

	if (named && interval && interval <= r->out->intervals) {
		ret = end_slices(r, (interval - 1) / r->slices->each, err);
		if (ret == 0)
			ret = add_to_slice(r, &(struct line){number, value}, err);
	}
	nw_json_value_free(value);
	return ret;
}

/* Makes the tables of names again, in the order of the whole. */
static int index_names(struct reader *r, const struct nw_merged *rows)
{
	nw_vec_each (&rows->selection.probes, probe)
		if (nw_index_add(&r->labels, (*probe)->label, strlen((*probe)->label)) < 0)
			return -ENOMEM;
	nw_vec_each (&rows->spans, span) {
		struct nw_buf both = {0};
		nw_buf_printf(&both, "%s%c%s", span->name, NW_GROUP_SEPARATOR,
			      span->key_name);
		int64_t at = both.failed
				     ? -ENOMEM
				     : nw_index_add(&r->spans, nw_buf_str(&both), both.len);
		nw_buf_free(&both);
		if (at < 0)
			return -ENOMEM;
	}
	return 0;
}

int nw_json_result_slices(const char *host, const char *text, size_t len,
			  const struct nw_json_result *whole, uint64_t each,
			  const struct nw_slice_taker *to, struct nw_error *err)
{
	struct slices slices = {.to = to, .each = each};
	struct reader r = {.name = host,
			   .out = (struct nw_json_result *)(uintptr_t)whole,
			   .slices = &slices};
	const struct nw_summary_options options = {
		.selection = &whole->rows.selection,
		.spans = whole->rows.spans.item,
		.span_count = whole->rows.spans.count,
		.args = NW_ARGS_NONE,
		.grouped = whole->group_by != NULL,
	};
	int ret = index_names(&r, &whole->rows) < 0 ? nw_no_memory(err) : 0;

	if (ret == 0)
		ret = nw_summary_open(&options, &slices.summary, err);
	if (ret == 0)
		ret = read_lines(&r, text, len, take_interval, err);
	if (ret == 0)
		ret = end_slices(&r, (whole->intervals + each - 1) / each, err);
	nw_summary_free(slices.summary);
	nw_index_free(&r.labels);
	nw_index_free(&r.spans);
	return ret;
}

void nw_json_result_free(struct nw_json_result *result)
{
	nw_merged_free(&result->rows);
	free(result->states);
	free(result->group_by);
	free(result->host);
}
