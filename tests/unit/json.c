// SPDX-License-Identifier: MIT
/* output: the JSON writer, and every kind of line with the keys that docs/json.md promises. */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "base/json_writer.h"
#include "plan/plan.h"
#include "show/rows/output.h"
#include "shown.h"
#include "unit.h"

static void expect(struct nw_buf *out, const char *wanted)
{
	ck_assert_str_eq(nw_buf_str(out), wanted);
	nw_buf_free(out);
}

/* ---- the writer --------------------------------------------------------------------- */

START_TEST(nesting_gets_its_commas)
{
	struct nw_buf out = {0};
	struct nw_json json = {.out = &out};

	nw_json_open(&json, '{');
	nw_json_key(&json, "a");
	nw_json_open(&json, '[');
	nw_json_close(&json, ']');
	nw_json_key(&json, "b");
	nw_json_open(&json, '[');
	nw_json_open(&json, '{');
	nw_json_close(&json, '}');
	nw_json_open(&json, '[');
	nw_json_null(&json);
	nw_json_bool(&json, true);
	nw_json_bool(&json, false);
	nw_json_close(&json, ']');
	nw_json_i64(&json, -1);
	nw_json_close(&json, ']');
	nw_json_key_u64(&json, "c", 7);
	nw_json_key_text(&json, "d", "x");
	nw_json_close(&json, '}');
	expect(&out, "{\"a\":[],\"b\":[{},[null,true,false],-1],\"c\":7,\"d\":\"x\"}");
}
END_TEST

START_TEST(texts_are_escaped_and_made_valid)
{
	static const struct {
		const char *text;
		size_t len;
		const char *json;
	} cases[] = {
		{"", 0, "\"\""},
		{"a\"b\\c/", 6, "\"a\\\"b\\\\c/\""},
		{"\n\r\t", 3, "\"\\n\\r\\t\""},
		{"\0\1\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\""},
		{"\xc3\xa9\xf0\x9f\x98\x80", 6, "\"\xc3\xa9\xf0\x9f\x98\x80\""},
		{"a\xff"
		 "b",
		 3, "\"a\\ufffdb\""},
		{"\xc3", 1, "\"\\ufffd\""},
		{"\xe6\x97", 2, "\"\\ufffd\\ufffd\""},
		{"\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\""}, /* a surrogate */
		{"\xc0\xaf", 2, "\"\\ufffd\\ufffd\""},		  /* overlong */
		{"abc", 2, "\"ab\""},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_buf out = {0};
		struct nw_json json = {.out = &out};
		nw_json_text(&json, cases[i].text, cases[i].len);
		expect(&out, cases[i].json);
	}
}
END_TEST

START_TEST(integers_beyond_2_to_53_are_strings)
{
	static const struct {
		uint64_t value;
		const char *as_u64, *as_i64;
	} cases[] = {
		{0, "0", "0"},
		{9007199254740991, "9007199254740991", "9007199254740991"},
		{9007199254740992, "9007199254740992", "9007199254740992"},
		{9007199254740993, "\"9007199254740993\"", "\"9007199254740993\""},
		{UINT64_MAX, "\"18446744073709551615\"", "-1"},
		{-(uint64_t)9007199254740992, "\"18437736874454810624\"",
		 "-9007199254740992"},
		{-(uint64_t)9007199254740993, "\"18437736874454810623\"",
		 "\"-9007199254740993\""},
		{(uint64_t)1 << 63, "\"9223372036854775808\"", "\"-9223372036854775808\""},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_buf out = {0};
		nw_json_u64(&(struct nw_json){.out = &out}, cases[i].value);
		expect(&out, cases[i].as_u64);
		nw_json_i64(&(struct nw_json){.out = &out}, (int64_t)cases[i].value);
		expect(&out, cases[i].as_i64);
	}
}
END_TEST

START_TEST(reals_can_be_read_back)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{0, "0"},	   {1.5, "1.5"},
		{-0.1, "-0.1"},	   {4500, "4500"},
		{1e300, "1e+300"}, {INFINITY, "null"},
		{NAN, "null"},	   {0.1 + 0.2, "0.30000000000000004"},
	};
	uint64_t state = 1;

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_buf out = {0};
		nw_json_real(&(struct nw_json){.out = &out}, cases[i].value);
		expect(&out, cases[i].text);
	}
	for (int i = 0; i < 10000; i++) {
		uint64_t bits = unit_random(&state);
		struct nw_buf out = {0};
		double value;
		memcpy(&value, &bits, sizeof(value));
		nw_json_real(&(struct nw_json){.out = &out}, value);
		if (isfinite(value))
			ck_assert(strtod(nw_buf_str(&out), NULL) == value);
		nw_buf_free(&out);
	}
}
END_TEST

/* ---- a reader ----------------------------------------------------------------------- */

/* Where the value at text ends; NULL: it is none. Its keys at that depth go to keys. */
static const char *skip_value(const char *text, nw_strings *keys);

static const char *skip_string(const char *text)
{
	for (text++; *text != '"'; text++) {
		if ((unsigned char)*text < ' ')
			return NULL; /* the end, too */
		if (*text == '\\' && !strchr("\"\\/bfnrtu", *++text))
			return NULL;
	}
	return text + 1;
}

static const char *skip_list(const char *text, nw_strings *keys)
{
	char close = *text == '{' ? '}' : ']';

	for (text++; *text != close;) {
		if (close == '}') {
			const char *end = *text == '"' ? skip_string(text) : NULL;
			if (!end || *end != ':')
				return NULL;
			if (keys &&
			    nw_strings_add(keys, text + 1, (size_t)(end - text) - 2) < 0)
				return NULL;
			text = end + 1;
		}
		text = skip_value(text, NULL);
		if (!text || (*text != ',' && *text != close))
			return NULL;
		if (*text == ',' && *++text == close)
			return NULL;
	}
	return text + 1;
}

static const char *skip_value(const char *text, nw_strings *keys)
{
	static const char *const words[] = {"null", "true", "false"};
	char *end;

	if (*text == '{' || *text == '[')
		return skip_list(text, keys);
	if (*text == '"')
		return skip_string(text);
	for (size_t i = 0; i < NW_COUNT(words); i++)
		if (strncmp(text, words[i], strlen(words[i])) == 0)
			return text + strlen(words[i]);
	if (*text != '-' && (*text < '0' || *text > '9'))
		return NULL;
	strtod(text, &end);
	return end;
}

/* The value of a key of an object. */
static const char *value_of(const char *object, const char *key)
{
	char text[64];

	snprintf(text, sizeof(text), "\"%s\":", key);
	const char *at = strstr(object, text);
	ck_assert_msg(at != NULL, "no %s in %s", key, object);
	return at + strlen(text);
}

/* The object parses, and its keys are these, separated by blanks, in this order. */
static const char *expect_keys(const char *object, const char *wanted)
{
	nw_strings keys = {0};
	struct nw_buf seen = {0};
	const char *end = skip_value(object, &keys);

	ck_assert_msg(end != NULL, "%s", object);
	nw_vec_each (&keys, key)
		nw_buf_printf(&seen, "%s%s", seen.len ? " " : "", *key);
	ck_assert_str_eq(nw_buf_str(&seen), wanted);
	nw_buf_free(&seen);
	nw_strings_free(&keys);
	return end;
}

#define DIST "count sum min mean stddev p50 p90 p99 p999 max buckets"

/* ---- lines -------------------------------------------------------------------------- */

/* Names that need care: quotes, a control, half a character. */
static const char hostile[] =
	"nopwatch-plan 1\nimage /bin/app\n"
	"probe 0 0 a q%22%1b%c3__start a:q%22%1b%c3__start 1\narg n%22 -\narg - -\n"
	"probe 0 0 a q%22%1b%c3__done a:q%22%1b%c3__done 0\n";

static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_summary *summary;
static nw_span_defs spans;

static void hit(uint32_t probe, uint64_t time, int64_t group)
{
	const struct nw_value values[] = {
		{.kind = NW_VALUE_SIGNED, .number = (uint64_t)-1},
		{.kind = NW_VALUE_UNSIGNED, .number = UINT64_MAX}};
	const struct nw_hit one = {.time = time,
				   .probe = probe,
				   .tid = 1,
				   .values = values,
				   .value_count = probe ? 0 : 2};

	ck_assert_int_eq(nw_summary_hit(summary, &one, 1, group), 0);
}

static void setup(bool grouped)
{
	int ret = nw_plan_load(hostile, strlen(hostile), &selection, &plan, NULL, NULL,
			       NULL, NULL);

	ck_assert_int_eq(ret, 0);
	ck_assert_int_eq(nw_spans_by_name(&selection, &spans), 0);
	const struct nw_summary_options options = {.selection = &selection,
						   .spans = spans.item,
						   .span_count = spans.count,
						   .args = NW_ARGS_ALL,
						   .grouped = grouped};
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
}

static void teardown(void)
{
	nw_summary_free(summary);
	nw_spans_free(&spans);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
}

/* The next line has these keys; *at moves behind it. */
static const char *expect_line(const char **at, const char *keys)
{
	const char *line = *at, *end = expect_keys(line, keys);

	ck_assert_int_eq(*end, '\n');
	*at = end + 1;
	return line;
}

static void report(uint64_t interval, const char *by, struct nw_buf *out)
{
	const struct nw_report one = {.selection = &selection,
				      .summary = summary,
				      .spans = spans.item,
				      .span_count = spans.count,
				      .group_by = by,
				      .interval = interval,
				      .elapsed_ns = 500000000,
				      .lost = 3};

	show_report(&nw_output_json, &one, NW_END_SIGNAL, out);
}

#define PROBE "type probe hits rate_hz gap_ns args state"
#define SPAN                                                                        \
	"type span key count latency_ns unmatched_starts unmatched_ends discarded " \
	"abandoned omitted repeated nested inner invalid"

START_TEST(a_report_in_between_says_so_and_is_no_end)
{
	const struct nw_report one = {
		.wall_ns = 1795320736123456789, .so_far = true, .elapsed_ns = 500000000};
	struct nw_report report = one;
	struct nw_buf out = {0};

	setup(false);
	hit(0, 100, 0);
	report.selection = &selection;
	report.summary = summary;
	report.spans = spans.item;
	report.span_count = spans.count;
	show_report(&nw_output_json, &report, NW_END_NONE, &out);
	const char *at = nw_buf_str(&out);
	const char *line = expect_line(
		&at, "type probe so_far time hits rate_hz gap_ns args state");
	ck_assert_ptr_nonnull(
		strstr(line, "\"so_far\":true,\"time\":\"2026-11-22T04:12:16.123Z\""));
	expect_line(&at, "type probe so_far time hits rate_hz gap_ns args state");
	expect_line(&at, "type span key so_far time count latency_ns unmatched_starts "
			 "unmatched_ends discarded abandoned omitted repeated "
			 "nested inner invalid");
	ck_assert_int_eq(*at, '\0');
	nw_buf_free(&out);
	teardown();
}
END_TEST

START_TEST(a_report_has_the_keys_that_are_fixed)
{
	struct nw_buf out = {0};

	setup(false);
	for (uint64_t i = 0; i < 3; i++) {
		hit(0, 100 + i * 50, 0);
		hit(1, 110 + i * 50, 0);
	}
	show_begin(&nw_output_json, 2, 9, &out);
	report(0, NULL, &out);
	const char *at = nw_buf_str(&out);
	const char *line = expect_line(&at, "type probes sites schema");
	ck_assert_int_eq(
		strncmp(line, "{\"type\":\"attached\",\"probes\":2,\"sites\":9}\n", 39), 0);
	line = expect_line(&at, PROBE);
	expect_keys(value_of(line, "gap_ns"), DIST);
	const char *args = value_of(line, "args");
	expect_keys(args, "n\\\" arg1");
	expect_keys(value_of(args, "arg1"), DIST);
	expect_line(&at, PROBE);
	line = expect_line(&at, SPAN);
	expect_keys(value_of(line, "latency_ns"), DIST);
	expect_line(&at, "type events discarded_spans");
	expect_line(&at, "type reason elapsed_ns");
	ck_assert_int_eq(*at, '\0');
	nw_buf_free(&out);
	teardown();
}
END_TEST

#define NAME "a:q\\\"\\u001b\\ufffd"

START_TEST(a_report_says_what_was_measured)
{
	struct nw_buf out = {0};

	setup(false);
	hit(0, 100, 0);
	hit(1, 110, 0);
	report(0, NULL, &out);
	expect(&out,
	       "{\"type\":\"probe\",\"probe\":\"" NAME "__start\",\"hits\":1,\"rate_hz\":2,"
	       "\"gap_ns\":{\"count\":0,\"sum\":0,\"buckets\":[]},\"args\":{\"n\\\"\":"
	       "{\"count\":1,\"sum\":-1,\"min\":-1,\"mean\":-1,\"stddev\":0,\"p50\":-1,"
	       "\"p90\":-1,"
	       "\"p99\":-1,\"p999\":-1,\"max\":-1,\"buckets\":[[-1,-1,1]]},\"arg1\":"
	       "{\"count\":1,\"sum\":\"18446744073709551615\",\"min\":"
	       "\"18446744073709551615\","
	       "\"mean\":1.8446744073709552e+19,\"stddev\":0,\"p50\":"
	       "\"18446744073709551615\","
	       "\"p90\":\"18446744073709551615\",\"p99\":\"18446744073709551615\","
	       "\"p999\":\"18446744073709551615\",\"max\":\"18446744073709551615\","
	       "\"buckets\":"
	       "[[\"18158513697557839872\",\"18446744073709551615\",1]]}},\"state\":"
	       "\"hit\"}\n"
	       "{\"type\":\"probe\",\"probe\":\"" NAME "__done\",\"hits\":1,\"rate_hz\":2,"
	       "\"gap_ns\":{\"count\":0,\"sum\":0,\"buckets\":[]},\"args\":{},\"state\":"
	       "\"hit\"}\n"
	       "{\"type\":\"span\",\"span\":\"" NAME
	       "\",\"key\":\"tid\",\"count\":1,\"latency_ns\":"
	       "{\"count\":1,\"sum\":10,\"min\":10,\"mean\":10,\"stddev\":0,\"p50\":10,"
	       "\"p90\":10,"
	       "\"p99\":10,\"p999\":10,\"max\":10,\"buckets\":[[10,10,1]]},\"unmatched_"
	       "starts\":0,"
	       "\"unmatched_ends\":0,\"discarded\":0,\"abandoned\":0,\"omitted\":0,"
	       "\"repeated\":0,\"nested\":0,\"inner\":0,\"invalid\":0}\n"
	       "{\"type\":\"loss\",\"events\":3,\"discarded_spans\":0}\n"
	       "{\"type\":\"end\",\"reason\":\"signal\",\"elapsed_ns\":500000000}\n");
	teardown();
}
END_TEST

START_TEST(groups_and_intervals_add_their_keys)
{
	struct nw_buf out = {0};

	setup(true);
	hit(0, 100, nw_summary_group(summary, "g\"\xff", 3));
	report(2, "comm", &out);
	const char *at = nw_buf_str(&out);
	const char *line = expect_line(
		&at, "type probe group interval hits rate_hz gap_ns args state");
	ck_assert_int_eq(
		strncmp(value_of(line, "group"), "\"g\\\"\\ufffd\",\"interval\":2,", 25),
		0);
	ck_assert_int_eq(*at, '\0'); /* nothing ended, and no loss is told before the end */
	nw_buf_free(&out);
	teardown();
}
END_TEST

UNIT_MAIN("json", nesting_gets_its_commas, texts_are_escaped_and_made_valid,
	  integers_beyond_2_to_53_are_strings, reals_can_be_read_back,
	  a_report_has_the_keys_that_are_fixed, a_report_in_between_says_so_and_is_no_end,
	  a_report_says_what_was_measured, groups_and_intervals_add_their_keys)
