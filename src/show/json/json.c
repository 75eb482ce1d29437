// SPDX-License-Identifier: MIT
/* JSON lines: a run. Facts are in json_facts.c. Keys are fixed (docs/json.md). */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "measure/strays.h"
#include "show/rows/order.h"
#include "show/rows/report.h"
#include "show/rows/stacks.h"

struct nw_json nw_json_start(struct nw_buf *out, const char *type)
{
	struct nw_json json = {.out = out};

	nw_json_open(&json, '{');
	nw_json_key_text(&json, "type", type);
	return json;
}

void nw_json_finish(struct nw_json *json)
{
	nw_json_close(json, '}');
	nw_buf_addc(json->out, '\n');
}

/* ---- values ------------------------------------------------------------------------- */

static void json_element(const struct nw_value *value, uint32_t i, struct nw_json *json)
{
	uint64_t number = nw_value_element(value, i);

	if (value->element == NW_VALUE_FLOAT)
		nw_json_real(json, nw_value_real(value, i));
	else if (value->element == NW_VALUE_SIGNED)
		nw_json_i64(json, (int64_t)number);
	else
		nw_json_u64(json, number);
}

void nw_value_json(const struct nw_value *value, struct nw_json *json)
{
	switch (value->kind) {
	case NW_VALUE_MISSING:
	case NW_VALUE_NULL:
		nw_json_null(json);
		break;
	case NW_VALUE_STRING:
		(value->json ? nw_json_raw : nw_json_text)(json, value->text, value->len);
		break;
	case NW_VALUE_ARRAY:
		nw_json_open(json, '[');
		for (uint32_t i = 0; i < value->len; i++)
			json_element(value, i, json);
		nw_json_close(json, ']');
		break;
	case NW_VALUE_FLOAT:
		nw_json_real(json, value->real);
		break;
	case NW_VALUE_SIGNED:
		nw_json_i64(json, (int64_t)value->number);
		break;
	default:
		nw_json_u64(json, value->number);
	}
}

/* ---- events ------------------------------------------------------------------------- */

/* Marks of values, which are lists of arguments' names; an empty list is left out. */
static bool is_untrusted(const struct nw_value *value)
{
	return value->untrusted;
}

static bool is_cut(const struct nw_value *value)
{
	return value->kind == NW_VALUE_STRING && value->cut;
}

static bool is_fault(const struct nw_value *value)
{
	return value->kind == NW_VALUE_MISSING && strcmp(value->text, "(fault)") == 0;
}

static const struct {
	const char *key;
	bool (*has)(const struct nw_value *value);
} marks[] = {{"untrusted", is_untrusted}, {"cut", is_cut}, {"fault", is_fault}};

/* Writes "names": those of values of enumerations. */
static void print_words(const struct nw_probe *probe, const struct nw_hit *hit,
			struct nw_json *json)
{
	bool any = false;

	for (size_t i = 0; i < hit->value_count; i++) {
		const char *word = NULL;
		char name[NW_ARG_NAME];
		size_t len = nw_value_word(probe, i, &hit->values[i], &word);
		if (!len)
			continue;
		if (!any) {
			nw_json_key(json, "names");
			nw_json_open(json, '{');
		}
		any = true;
		nw_arg_name(probe, i, name);
		nw_json_key(json, name);
		nw_json_text(json, word, len);
	}
	if (any)
		nw_json_close(json, '}');
}

static void print_marks(const struct nw_probe *probe, const struct nw_hit *hit,
			struct nw_json *json)
{
	print_words(probe, hit, json);
	for (size_t mark = 0; mark < NW_COUNT(marks); mark++) {
		bool any = false;
		for (size_t i = 0; i < hit->value_count; i++) {
			char name[NW_ARG_NAME];
			if (!marks[mark].has(&hit->values[i]))
				continue;
			if (!any) {
				nw_json_key(json, marks[mark].key);
				nw_json_open(json, '[');
			}
			any = true;
			nw_arg_name(probe, i, name);
			nw_json_text(json, name, strlen(name));
		}
		if (any)
			nw_json_close(json, ']');
	}
}

static void print_args(const struct nw_probe *probe, const struct nw_hit *hit,
		       const char *key, struct nw_json *json)
{
	nw_json_key(json, key);
	nw_json_open(json, '{');
	for (size_t i = 0; i < hit->value_count; i++) {
		char name[NW_ARG_NAME];
		nw_arg_name(probe, i, name);
		nw_json_key(json, name);
		nw_value_json(&hit->values[i], json);
	}
	nw_json_close(json, '}');
}

/* Writes "stack": the callers, the function that was hit first; "stack_cut": why there are no more callers, unless
 * the stack is whole ("cut" is the name of the arguments' mark). */
static void print_stack(const struct nw_stacks *stacks, uint32_t number,
			struct nw_json *json)
{
	const struct nw_stack stack = nw_stacks_get(stacks, number);
	nw_json_key(json, "stack");
	nw_json_open(json, '[');
	for (size_t i = 0; i < stack.count; i++) {
		const char *text = nw_stacks_frame(stacks, stack.frames[i]).text;
		nw_json_text(json, text, strlen(text));
	}
	nw_json_close(json, ']');
	if (stack.end != NW_STACK_WHOLE)
		nw_json_key_text(json, "stack_cut", nw_stack_end_words[stack.end]);
}

/* Writes the linker's name beside the source's name. */
static void symbol_key(const struct nw_probe *probe, struct nw_json *json)
{
	if (probe && probe->symbol)
		nw_json_key_text(json, "symbol", probe->symbol);
}

static void event(struct nw_output *output, const struct nw_event_line *line)
{
	const struct nw_hit *hit = line->hit;
	struct nw_json json = nw_json_start(&output->text, "event");

	nw_json_key_u64(&json, "time_ns", hit->time);
	if (line->wall && line->wall_ns)
		nw_json_key_u64(&json, "wall_ns", hit->time + (uint64_t)line->wall_ns);
	nw_json_key_u64(&json, "cpu", hit->cpu);
	nw_json_key(&json, "pid");
	nw_json_i64(&json, line->task->pid);
	nw_json_key(&json, "tid");
	nw_json_i64(&json, hit->tid);
	nw_json_key_text(&json, "comm", line->task->comm);
	nw_json_key_text(&json, "probe", line->probe->label);
	symbol_key(line->probe, &json);
	print_args(line->probe, hit, "args", &json);
	if (line->kernel_text)
		nw_json_key_text(&json, "text", line->kernel_text);
	print_marks(line->probe, hit, &json);
	if (line->stacks && (hit->callers || line->probe->callers))
		print_stack(line->stacks, hit->callers, &json);
	nw_json_finish(&json);
}

static const struct nw_probe *probe_of(const struct nw_slow_span *slow,
				       const struct nw_hit *hit)
{
	return slow->selection->probes.item[hit->probe];
}

/* Writes one end of a slow span. */
static void print_side(const struct nw_slow_span *slow, const char *key,
		       const struct nw_hit *hit, struct nw_json *json)
{
	const struct nw_probe *probe;

	if (!hit)
		return;
	probe = probe_of(slow, hit);
	nw_json_key(json, key);
	nw_json_open(json, '{');
	nw_json_key_text(json, "probe", probe->label);
	nw_json_key_u64(json, "cpu", hit->cpu);
	nw_json_key(json, "tid");
	nw_json_i64(json, hit->tid);
	print_marks(probe, hit, json);
	nw_json_close(json, '}');
}

/* Writes the thread that ended a sleep, or the function in which it was. */
static void name_sleep(const struct nw_sleep *sleep, bool where, struct nw_json *json)
{
	bool thread = !where && sleep->key < NW_WAKER_INTERRUPT;
	char comm[17] = "";

	if (sleep->function) {
		nw_json_key_text(json, "function", sleep->function);
		return;
	}
	nw_json_key_text(json, where ? "place" : "by",
			 thread				    ? "thread"
			 : sleep->key == NW_WAKER_INTERRUPT ? "interrupt"
			 : sleep->key == NW_SLEEP_OTHERS    ? "others"
							    : "unknown");
	if (!thread)
		return;
	memcpy(comm, sleep->comm, 16);
	nw_json_key_u64(json, "tid", sleep->key);
	nw_json_key_text(json, "comm", comm);
}

static void print_sleeps(const char *key, const struct nw_sleeps *list, bool where,
			 struct nw_json *json)
{
	struct nw_sleeps sleeps = *list;

	nw_sleeps_sort(&sleeps);
	nw_json_key(json, key);
	nw_json_open(json, '[');
	for (size_t i = 0; i < sleeps.count; i++) {
		nw_json_open(json, '{');
		name_sleep(&sleeps.item[i], where, json);
		nw_json_key_u64(json, "ns", sleeps.item[i].ns);
		nw_json_key_u64(json, "count", sleeps.item[i].count);
		nw_json_close(json, '}');
	}
	nw_json_close(json, ']');
}

/* Writes a key that is true, so that each line can be read by itself. */
static void say(bool is_so, const char *key, struct nw_json *json)
{
	if (!is_so)
		return;
	nw_json_key(json, key);
	nw_json_bool(json, true);
}

static void slow(struct nw_output *output, const struct nw_slow_span *slow)
{
	const struct nw_hit *last = slow->ended ? slow->ended : slow->began;
	struct nw_json json = nw_json_start(&output->text, slow->open ? "open" : "slow");

	nw_json_key_text(&json, "span", slow->span->name);
	symbol_key(nw_span_function(slow->span, slow->selection), &json);
	if (slow->interval)
		nw_json_key_u64(&json, "interval", slow->interval);
	nw_json_key_u64(&json, "start_ns", slow->start);
	if (slow->ended)
		nw_json_key_u64(&json, "time_ns", slow->ended->time);
	nw_json_key_u64(&json, slow->open ? "open_ns" : "latency_ns", slow->latency);
	say(slow->net, "net", &json);
	if (slow->rank)
		nw_json_key_u64(&json, "rank", slow->rank);
	else
		nw_json_key_u64(&json, "limit_ns", slow->least);
	if (slow->open)
		nw_json_key_u64(&json, "open", slow->open);
	say(slow->open_is_least, "open_is_least", &json);
	say(slow->end_may_be_lost, "end_may_be_lost", &json);
	if (slow->has_cost)
		nw_json_key_u64(&json, "probe_cost_ns", slow->cost);
	if (slow->wall_ns)
		nw_json_key_u64(&json, "wall_ns", last->time + (uint64_t)slow->wall_ns);
	nw_json_key_u64(&json, "cpu", last->cpu);
	nw_json_key(&json, "pid");
	nw_json_i64(&json, slow->task->pid);
	nw_json_key(&json, "tid");
	nw_json_i64(&json, last->tid);
	nw_json_key_text(&json, "comm", slow->task->comm);
	nw_json_key(&json, "args");
	nw_json_open(&json, '{');
	if (slow->began) /* the arguments of the start are known */
		print_args(probe_of(slow, slow->began), slow->began, "start", &json);
	if (slow->ended)
		print_args(probe_of(slow, slow->ended), slow->ended, "end", &json);
	nw_json_close(&json, '}');
	if (slow->states) {
		nw_json_key(&json, "states_ns");
		nw_json_open(&json, '{');
		for (size_t i = 0; i < NW_TASK_STATES; i++)
			nw_json_key_u64(&json, nw_task_state_names[i], slow->states->ns[i]);
		nw_json_close(&json, '}');
		print_sleeps("slept_in", &slow->states->channels, true, &json);
		print_sleeps("woken_by", &slow->states->wakers, false, &json);
	}
	print_side(slow, "start", slow->began, &json);
	print_side(slow, "end", slow->ended, &json);
	if (slow->stacks && nw_slow_stack(slow))
		print_stack(slow->stacks, nw_slow_stack(slow), &json);
	nw_json_finish(&json);
}

static void begin(struct nw_output *output, const struct nw_begin *begin)
{
	struct nw_json json = nw_json_start(&output->text, "attached");

	nw_json_key_u64(&json, "probes", begin->selection->probes.count - begin->hidden);
	nw_json_key_u64(&json, "sites", begin->sites);
	say(begin->net, "net", &json);
	if (begin->group_by)
		nw_json_key_text(&json, "group_by", begin->group_by);
	if (begin->host)
		nw_json_key_text(&json, "host", begin->host);
	if (begin->engine)
		nw_json_key_text(&json, "engine", begin->engine);
	if (begin->off_by > 0) {
		nw_json_key(&json, "off_by");
		nw_json_real(&json, begin->off_by);
	}
	if (begin->runs)
		nw_json_key_u64(&json, "runs", begin->runs);
	nw_json_key_u64(&json, "schema", NW_JSON_SCHEMA);
	nw_json_finish(&json);
}

static void disabled(struct nw_output *output, const struct nw_disabled *disabled)
{
	struct nw_json json = nw_json_start(&output->text, "disabled");

	nw_json_key_text(&json, "probe", disabled->probe->label);
	nw_json_key_text(&json, "state", nw_state_words[disabled->state->state]);
	nw_json_key_u64(&json, "disabled_ns", disabled->after_ns);
	nw_json_key_text(&json, "text", disabled->state->text);
	nw_json_finish(&json);
}

static void say_unread(const struct nw_end *end, struct nw_json *json)
{
	nw_json_key(json, "unread");
	nw_json_open(json, '[');
	for (size_t i = 0; i < end->unread_count; i++) {
		const struct nw_unread *unread = &end->unread[i];
		nw_json_open(json, '{');
		nw_json_key_u64(json, "files", unread->files);
		nw_json_key_text(json, "first", unread->path);
		nw_json_key_text(json, "missing", unread->named ? "lines" : "names");
		nw_json_key_text(json, "text", unread->why);
		nw_json_close(json, '}');
	}
	nw_json_close(json, ']');
}

static void end(struct nw_output *output, const struct nw_end *end)
{
	struct nw_json json = nw_json_start(&output->text, "loss");

	nw_json_key_u64(&json, "events", end->lost);
	say(end->lost_is_least, "at_least", &json);
	nw_json_key_u64(&json, "discarded_spans", end->discarded);
	if (end->dropped)
		nw_json_key_u64(&json, "not_recorded", end->dropped);
	if (end->incomplete)
		nw_json_key_u64(&json, "incomplete_hits", end->incomplete);
	if (end->unmapped) {
		nw_json_key_u64(&json, "mappings_lost", end->unmapped);
		nw_json_key_u64(&json, "doubtful_stacks", end->doubtful);
	}
	if (end->unread_count)
		say_unread(end, &json);
	nw_json_finish(&json);
	json = nw_json_start(&output->text, "end");
	nw_json_key_text(&json, "reason", nw_end_reasons[end->reason]);
	nw_json_key_u64(&json, "elapsed_ns", end->elapsed_ns);
	if (end->has_filter)
		nw_json_key_u64(&json, "filtered", end->filtered);
	nw_json_finish(&json);
}

/* ---- reports ------------------------------------------------------------------------ */

static void number(struct nw_json *json, const char *key, const struct nw_histogram *h,
		   uint64_t value)
{
	nw_json_key(json, key);
	if (h->is_signed)
		nw_json_i64(json, (int64_t)value);
	else
		nw_json_u64(json, value);
}

static void buckets(struct nw_json *json, const struct nw_histogram *h)
{
	struct nw_bucket bucket;
	unsigned int at = 0;

	nw_json_key(json, "buckets");
	nw_json_open(json, '[');
	while (nw_histogram_next(h, &at, &bucket)) {
		nw_json_open(json, '[');
		if (h->is_signed) {
			nw_json_i64(json, (int64_t)bucket.low);
			nw_json_i64(json, (int64_t)bucket.high);
		} else {
			nw_json_u64(json, bucket.low);
			nw_json_u64(json, bucket.high);
		}
		nw_json_u64(json, bucket.count);
		nw_json_close(json, ']');
	}
	nw_json_close(json, ']');
}

/* Writes the counts in equal steps (--hist ARG:MIN:MAX:STEP). */
static void linear_key(struct nw_json *json, const struct nw_linear *linear)
{
	const struct nw_linear_shape *shape = &linear->shape;

	nw_json_key(json, "linear");
	nw_json_open(json, '{');
	nw_json_key(json, "min");
	nw_json_i64(json, shape->min);
	nw_json_key(json, "max");
	nw_json_i64(json, shape->max);
	nw_json_key_u64(json, "step", shape->step);
	nw_json_key_u64(json, "below", linear->below);
	nw_json_key_u64(json, "above", linear->above);
	nw_json_key(json, "buckets");
	nw_json_open(json, '[');
	for (size_t i = 0; i < shape->buckets; i++) {
		if (!linear->count[i])
			continue;
		nw_json_open(json, '[');
		nw_json_i64(json, nw_linear_low(shape, i));
		nw_json_i64(json, nw_linear_low(shape, i + 1) - 1);
		nw_json_u64(json, linear->count[i]);
		nw_json_close(json, ']');
	}
	nw_json_close(json, ']');
	nw_json_close(json, '}');
}

/* Writes DIST; an empty distribution has only its count, and no buckets. */
static void distribution(struct nw_json *json, const char *key,
			 const struct nw_histogram *h, bool with_buckets)
{
	nw_json_key(json, key);
	nw_json_open(json, '{');
	nw_json_key_u64(json, "count", h->count);
	number(json, "sum", h, h->sum);
	if (h->count) {
		number(json, "min", h, h->min);
		nw_json_key(json, "mean");
		nw_json_real(json, nw_histogram_mean(h));
		nw_json_key(json, "stddev");
		nw_json_real(json, nw_histogram_stddev(h));
		for (size_t i = 0; i < nw_statistic_count; i++)
			if (nw_statistics[i].percentile > 0)
				number(json, nw_statistics[i].key, h,
				       nw_statistic_of(h, &nw_statistics[i]));
		number(json, "max", h, h->max);
	}
	if (with_buckets)
		buckets(json, h);
	if (h->linear)
		linear_key(json, h->linear);
	nw_json_close(json, '}');
}

void nw_json_group_parts(const char *group_by, const char *name, struct nw_json *json)
{
	nw_cleanup(nw_free_ptr) char *keys = strdup(group_by);
	char *rest = keys, *key;

	nw_json_key(json, "by");
	nw_json_open(json, '{');
	while (keys && (key = nw_split_keys(&rest))) {
		const char separator[] = {NW_GROUP_SEPARATOR, '\0'};
		size_t len = strcspn(name, separator);
		nw_json_key(json, key);
		nw_json_text(json, name, len);
		name += len + (name[len] != '\0');
	}
	nw_json_close(json, '}');
	json->out->failed |= !keys;
}

/* Writes the name of a row and of its group; a row for several that --top leaves out says how many they are. */
static void row_keys(const char *what, const struct nw_shown *shown, struct nw_json *json)
{
	nw_json_key(json, what);
	if (shown->name)
		nw_json_text(json, shown->name, strlen(shown->name));
	else
		nw_json_null(json);
	if (shown->more)
		nw_json_key_u64(json, "more", shown->more);
}

static void group_key(const struct nw_report *report, struct nw_json *json,
		      const struct nw_shown *shown)
{
	size_t group = shown->group;

	if (report->group_by && !shown->more) {
		nw_cleanup(nw_free_ptr) char *name = nw_report_group(report, group);
		json->out->failed |= !name;
		nw_json_key_text(json, "group", name ? name : "");
		if (strchr(report->group_by, ','))
			nw_json_group_parts(report->group_by,
					    nw_summary_group_name(report->summary, group),
					    json);
	}
	if (report->interval)
		nw_json_key_u64(json, "interval", report->interval);
	if (report->short_ns)
		nw_json_key_u64(json, "interval_ns", report->short_ns);
	say(report->so_far, "so_far", json);
	if (report->wall_ns) {
		char when[40];
		nw_json_key_text(json, "time", nw_report_time(report, when));
	}
}

static const char *state_word(const struct nw_report *report, size_t probe, uint64_t hits)
{
	const struct nw_probe_state *state = report->states ? &report->states[probe] : NULL;

	if (hits && !(report->disabled_at && report->disabled_at[probe]))
		return "hit";
	return nw_state_words[state ? state->state : NW_STATE_UNKNOWN];
}

/* Writes DIST, or {STATE: DIST}, or {ARGUMENT: DIST}. */
static void times_key(struct nw_json *json, const struct nw_number *number,
		      const struct nw_report *report, const struct nw_shown *shown,
		      bool buckets)
{
	bool named = number->kind == NW_NUMBER_STATES || number->kind == NW_NUMBER_ARGS;
	struct nw_named_times one;
	size_t at = 0;

	if (named) {
		nw_json_key(json, number->key);
		nw_json_open(json, '{');
	}
	while (nw_report_next_times(report, number, shown->index, shown->row, &at, &one))
		distribution(json, named ? one.name : number->key, one.times, buckets);
	if (named)
		nw_json_close(json, '}');
}

static void number_key(struct nw_json *json, const struct nw_number *number,
		       const struct nw_report *report, const struct nw_shown *shown,
		       bool buckets)
{
	if (number->kind == NW_NUMBER_COUNT) {
		nw_json_key_u64(json, number->key, nw_number_count(number, shown->row));
		if ((number->is & NW_NUMBER_STATEMENTS) && shown->name &&
		    nw_report_is_statement(report, shown->index))
			nw_json_key_u64(json, "failed_statements",
					nw_number_count(number, shown->row));
	} else if (number->kind < NW_NUMBER_SLEPT_IN)
		times_key(json, number, report, shown, buckets);
	else if (nw_number_sleeps(number, shown->row))
		print_sleeps(number->key, nw_number_sleeps(number, shown->row),
			     number->kind == NW_NUMBER_SLEPT_IN, json);
}

/* Writes the numbers that need an option, or the others. */
static void number_keys(struct nw_json *json, const struct nw_report *report,
			const struct nw_shown *shown, bool optional, bool buckets)
{
	nw_number_each (shown->subject, number)
		if (!(number->is & NW_NUMBER_FIRST) &&
		    !(number->is & (NW_NUMBER_NET | NW_NUMBER_SPLIT)) == !optional &&
		    nw_number_applies(number, shown->row, report->net))
			number_key(json, number, report, shown, buckets);
}

static void probe_keys(const struct nw_report *report, const struct nw_shown *shown,
		       bool buckets, struct nw_json *json)
{
	size_t probe = shown->index;
	const struct nw_probe *p = report->selection->probes.item[probe];
	const struct nw_probe_row *row = shown->row;

	row_keys("probe", shown, json);
	if (shown->name)
		symbol_key(p, json);
	group_key(report, json, shown);
	nw_json_key_u64(json, "hits", row->hits);
	say(report->at_least, "at_least", json);
	nw_json_key(json, "rate_hz");
	nw_json_real(json, nw_report_rate(report, row->hits));
	number_keys(json, report, shown, false, buckets);
	nw_json_key_text(json, "state",
			 shown->name ? state_word(report, probe, row->hits) : "hit");
	if (shown->name && report->disabled_at && report->disabled_at[probe])
		nw_json_key_u64(
			json, "disabled_ns",
			report->disabled_at[probe] -
				nw_min64(report->start_ns, report->disabled_at[probe]));
}

/* Writes what is known of ends that come from other threads than their starts, and the key that would pair them. */
static void strays_key(const struct nw_report *report, size_t span, struct nw_json *json)
{
	char key[NW_STRAYS_KEY];
	struct nw_strays_found found;

	if (!report->summary || !nw_summary_strays(report->summary, span, &found))
		return;
	nw_strays_key(report->selection, &found, key);
	nw_json_key(json, "other_threads");
	nw_json_open(json, '{');
	nw_json_key_u64(json, "watched", found.ends);
	nw_json_key_u64(json, "ends", found.elsewhere);
	if (*key) {
		nw_json_key_u64(json, "agree", found.agree);
		nw_json_key_text(json, "key", key);
	}
	nw_json_close(json, '}');
}

static void span_keys(const struct nw_report *report, const struct nw_shown *shown,
		      bool buckets, struct nw_json *json)
{
	char key[NW_SPAN_KEY_TEXT];

	row_keys("span", shown, json);
	nw_span_key_text(&report->spans[shown->index], key);
	if (shown->name) {
		symbol_key(
			nw_span_function(&report->spans[shown->index], report->selection),
			json);
		nw_json_key_text(json, "key", key);
	}
	group_key(report, json, shown);
	nw_json_key_u64(json, "count", nw_row_count(shown->subject, shown->row));
	say(report->at_least, "at_least", json);
	number_keys(json, report, shown, false, buckets);
	say(report->net, "net", json);
	number_keys(json, report, shown, true, buckets);
	if (shown->name)
		strays_key(report, shown->index, json);
}

void nw_json_row(const struct nw_report *report, const struct nw_shown *shown, bool buckets,
		 struct nw_json *json)
{
	bool is_span = shown->subject == NW_SUBJECT_SPANS;

	nw_json_key_text(json, "type", is_span ? "span" : "probe");
	(is_span ? span_keys : probe_keys)(report, shown, buckets, json);
}

static void row_object(const struct nw_report *report, const struct nw_shown *shown,
		       struct nw_buf *out)
{
	struct nw_json json = {.out = out};

	nw_json_open(&json, '{');
	nw_json_row(report, shown, true, &json);
	nw_json_finish(&json);
}

static void stack_objects(const struct nw_report *report, const struct nw_stack_table *of,
			  struct nw_buf *out)
{
	for (const struct nw_stack_row *row = of->row; row < of->row + of->count; row++) {
		struct nw_json json = nw_json_start(out, "stack");
		nw_json_key_text(&json, of->span ? "span" : "probe", of->name);
		symbol_key(of->function, &json);
		nw_json_key_u64(&json, "count", row->count);
		if (of->span)
			nw_json_key_u64(&json, "latency_sum_ns", row->ns);
		say(report->at_least, "at_least", &json);
		nw_json_key(&json, "percent");
		nw_json_real(&json, 100.0 * (double)row->count / (double)of->total);
		print_stack(report->stacks, row->key.stack, &json);
		nw_json_finish(&json);
	}
}

static void report(struct nw_output *output, const struct nw_report *report)
{
	nw_rank_each(report, NW_SUBJECT_PROBES, row_object, &output->text);
	nw_rank_each(report, NW_SUBJECT_SPANS, row_object, &output->text);
	for (size_t i = 0; i < report->slowest_count; i++)
		slow(output, &report->slowest[i]);
	for (size_t i = 0; i < report->open_count; i++)
		slow(output, &report->open[i]);
	if (!report->interval)
		nw_report_each_stack_table(report, stack_objects, &output->text);
}

static void quiet(struct nw_output *output, uint64_t first, uint64_t count)
{
	struct nw_json json = nw_json_start(&output->text, "quiet");

	nw_json_key_u64(&json, "interval", first);
	nw_json_key_u64(&json, "last", first + count - 1);
	nw_json_finish(&json);
}

const struct nw_output_format nw_output_json = {
	.name = "json",
	.costs = true,
	.states = true,
	.stacks = true,
	.shows = {true, true, true},
	.begin = begin,
	.event = event,
	.slow = slow,
	.disabled = disabled,
	.report = report,
	.diff = nw_json_diff,
	.quiet = quiet,
	.end = end,
	.site = nw_json_site,
	.function = nw_json_function,
	.skipped = nw_json_skipped,
	.problem = nw_json_problem,
	.checked = nw_json_checked,
	.features = nw_json_features,
	.status = nw_json_status,
	.user_event = nw_json_user_event,
	.change = nw_json_change,
	.diagnosis = nw_json_diagnosis,
};
