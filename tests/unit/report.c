// SPDX-License-Identifier: MIT
/* output: reports as text and CSV, from a summary made by hand. */
#include <inttypes.h>

#include "plan/plan.h"
#include "show/text/table.h"
#include "show/text/text.h"
#include "shown.h"
#include "unit.h"

static struct nw_selection selection;
static struct nw_plan plan;
static struct nw_summary *summary;
static nw_span_defs spans;

/* Two probes that are a span, "app:q"; the first has two arguments. */
static void setup(const char *probes, bool grouped)
{
	int ret = nw_plan_load(probes, strlen(probes), &selection, &plan, NULL, NULL, NULL,
			       NULL);

	ck_assert_int_eq(ret, 0);
	ck_assert_int_eq(nw_spans_by_name(&selection, &spans), 0);
	const struct nw_summary_options options = {.selection = &selection,
						   .spans = spans.item,
						   .span_count = spans.count,
						   .args = NW_ARGS_ALL,
						   .grouped = grouped};
	ck_assert_int_eq(nw_summary_open(&options, &summary, NULL), 0);
}

static const char plain[] = "nopwatch-plan 1\nimage /bin/app\n"
			    "probe 0 0 app q__start app:q__start 1\narg rows -\narg - -\n"
			    "probe 0 0 app q__done app:q__done 0\n";

static void teardown(void)
{
	nw_summary_free(summary);
	summary = NULL;
	nw_spans_free(&spans);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
}

static void hit(uint32_t probe, uint64_t time, int64_t rows, int64_t group)
{
	const struct nw_value values[] = {
		{.kind = NW_VALUE_SIGNED, .number = (uint64_t)rows},
		{.kind = NW_VALUE_UNSIGNED, .number = UINT64_MAX}};
	const struct nw_hit one = {
		.time = time,
		.tid = 1,
		.probe = probe,
		.values = values,
		.value_count = (uint32_t)selection.probes.item[probe]->args.count};

	ck_assert_int_eq(nw_summary_hit(summary, &one, 1, group), 0);
}

static struct nw_report report_of(void)
{
	return (struct nw_report){.selection = &selection,
				  .summary = summary,
				  .spans = spans.item,
				  .span_count = spans.count,
				  .elapsed_ns = 2000000000};
}

static void expect(const struct nw_report *report, const struct nw_output_format *format,
		   const char *wanted)
{
	struct nw_buf out = {0};

	show_report(format, report, NW_END_DURATION, &out);
	ck_assert_str_eq(nw_buf_str(&out), wanted);
	nw_buf_free(&out);
}

/* Latencies of 1, 1.5 and 3 us; one end alone. */
static void play(int64_t group)
{
	hit(1, 500, 0, group);
	hit(0, 1000, -3, group);
	hit(1, 2000, 0, group);
	hit(0, 3000, 5, group);
	hit(1, 4500, 0, group);
	hit(0, 10000, 40, group);
	hit(1, 13000, 0, group);
}

/* ---- text --------------------------------------------------------------------------- */

#define FULL "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
#define HALF "@@@@@@@@@@@@@@@@@@@@@@@@@@                          "
#define NONE "                                                    "

START_TEST(a_report_is_tables_histograms_and_a_last_line)
{
	setup(plain, false);
	play(0);
	nw_summary_finish(summary);
	struct nw_report report = report_of();
	expect(&report, &nw_output_text,
	       "SPAN   COUNT   TOTAL     MIN    MEAN     P50     P90     P99   P99.9     "
	       "MAX  "
	       "UNMATCHED  DISCARDED\n"
	       "app:q      3  5.50us  1.00us  1.83us  1.49us  3.00us  3.00us  3.00us  "
	       "3.00us       "
	       " 0/1          0\n"
	       "\n"
	       "PROBE         HITS    RATE  GAP: MIN    MEAN     P50     P90     P99   "
	       "P99.9     MAX\n"
	       "app:q__start     3  1.50/s    2.00us  4.50us  2.00us  7.00us  7.00us  "
	       "7.00us  7.00us\n"
	       "app:q__done      4  2.00/s    1.50us  4.17us  2.53us  8.50us  8.50us  "
	       "8.50us  8.50us\n"
	       "\n"
	       "ARGUMENT           COUNT  SUM  MIN  MEAN  P50  P90  P99  P99.9  MAX\n"
	       "app:q__start rows      3   42   -3    14    5   40   40     40   40\n"
	       "\n"
	       "app:q, latency:\n"
	       "512ns-1.02us           1 |" FULL "|\n"
	       "1.02-2.05us            1 |" FULL "|\n"
	       "2.05-4.10us            1 |" FULL "|\n"
	       "\n"
	       "7 hits in 2.00s, 0 events lost\n");
}
END_TEST

START_TEST(histograms_of_gaps_and_arguments_are_shown_when_asked_for)
{
	struct nw_hist rows = {.name = (char[]){"rows"}};
	const nw_hists hists = {.item = &rows, .count = 1};
	struct nw_buf out = {0};

	setup(plain, false);
	play(0);
	struct nw_report report = report_of();
	report.gaps = true;
	report.hists = &hists;
	show_report(&nw_output_text, &report, NW_END_DURATION, &out);
	ck_assert_ptr_nonnull(strstr(nw_buf_str(&out),
				     "\napp:q__start, time between hits:\n"
				     "1.02-2.05us            1 |" FULL "|\n"
				     "2.05-4.10us            0 |" NONE "|\n"
				     "4.10-8.19us            1 |" FULL "|\n"
				     "\napp:q__start, rows:\n"
				     "(..., 0)               1 |" FULL "|\n"
				     "[0]                    0 |" NONE "|\n"
				     "[1]                    0 |" NONE "|\n"
				     "[2, 4)                 0 |" NONE "|\n"
				     "[4, 8)                 1 |" FULL "|\n"
				     "[8, 16)                0 |" NONE "|\n"
				     "[16, 32)               0 |" NONE "|\n"
				     "[32, 64)               1 |" FULL "|\n"
				     "\napp:q__done, time between hits:\n"
				     "1.02-2.05us            1 |" FULL "|\n"
				     "2.05-4.10us            1 |" FULL "|\n"
				     "4.10-8.19us            0 |" NONE "|\n"
				     "8.19-16.4us            1 |" FULL "|\n"
				     "\n7 hits in"));
	ck_assert_ptr_null(strstr(nw_buf_str(&out), ", arg1:"));
	nw_buf_free(&out);
}
END_TEST

/* A probe, and nothing else, so that the rest of a report stands out. */
static const char alone[] = "nopwatch-plan 1\nimage /bin/app\nprobe 0 0 app q app:q 0\n";
#define ALONE                                                            \
	"PROBE  HITS  RATE  GAP: MIN  MEAN  P50  P90  P99  P99.9  MAX\n" \
	"app:q     0   0/s         -     -    -    -    -      -    -\n\n"

/* Shows a report of spans whose P50 is 1.49 us, and returns whether its overhead line is `line` (NULL: there is none). */
static bool has_overhead(uint32_t after, uint32_t before, const char *line)
{
	const struct nw_hit_cost costs[] = {{.after = after}, {.before = before}};
	struct nw_buf out = {0};

	setup(plain, false);
	play(0);
	struct nw_report report = report_of();
	report.hit_costs = costs;
	show_report(&nw_output_text, &report, NW_END_DURATION, &out);
	const char *found = strstr(nw_buf_str(&out), "probe overhead");
	bool ok = line ? strstr(nw_buf_str(&out), line) != NULL : !found;
	nw_buf_free(&out);
	teardown();
	return ok;
}

START_TEST(overhead_of_more_than_a_fifth_is_told)
{
	ck_assert(has_overhead(
		200, 800,
		"\napp:q: 1.00us of the P50 of 1.49us (67 %) is probe overhead; "
		"--net subtracts it\n"));
	ck_assert(has_overhead(
		2000, 800,
		"\napp:q: 1.49us of the P50 of 1.49us (100 %) is probe overhead; "
		"--net subtracts it\n"));
	ck_assert(has_overhead(100, 100, NULL));
	ck_assert(has_overhead(0, 0, NULL));
}
END_TEST

START_TEST(numbers_that_may_be_ids_are_not_summarized)
{
	static const char named[] =
		"nopwatch-plan 1\nimage /bin/app\n"
		"probe 0 0 app q__start app:q__start 1\narg id -\narg buf_len -\n"
		"probe 0 0 app q__done app:q__done 0\n";
	struct nw_buf out = {0};

	setup(named, false);
	selection.probes.item[0]->named = true;
	play(0);
	struct nw_report report = report_of();
	show_report(&nw_output_text, &report, NW_END_DURATION, &out);
	ck_assert_ptr_nonnull(strstr(nw_buf_str(&out), "\napp:q__start buf_len "));
	ck_assert_ptr_null(strstr(nw_buf_str(&out), "q__start id"));
	ck_assert_ptr_nonnull(
		strstr(nw_buf_str(&out), "\n1 argument is not summarized, since"));
	nw_buf_free(&out);
}
END_TEST

START_TEST(losses_and_silent_probes_are_told_at_the_end)
{
	const struct nw_probe_state state = {NW_STATE_NOT_MAPPED,
					     "no hit: nobody has loaded it"};

	setup(alone, false);
	struct nw_report report = report_of();
	expect(&report, &nw_output_text, ALONE "0 hits in 2.00s, 0 events lost\n");
	report.states = &state;
	report.lost = 5;
	expect(&report, &nw_output_text,
	       ALONE
	       "0 hits in 2.00s, 5 events lost: 0 spans discarded, counts with a + are too "
	       "low (a larger -b helps)\napp:q: no hit: nobody has loaded it\n");
	report.lost_is_least = true;
	report.dropped = 9;
	report.interval = 1;
	expect(&report, &nw_output_text,
	       "--- report 1 ---\n" ALONE
	       "0 hits in 2.00s, at least 5 events lost: 0 spans discarded, counts with a + "
	       "are too low; 9 hits not recorded by the kernel\n");
	report.interval = 2;
	report.lost = report.dropped = 0;
	report.lost_is_least = false;
	report.layout.bold = true;
	expect(&report, &nw_output_text,
	       "\n--- report 2 ---\n"
	       "\033[1mPROBE  HITS  RATE  GAP: MIN  MEAN  P50  P90  P99  P99.9  "
	       "MAX\033[0m\n"
	       "app:q     0   0/s         -     -    -    -    -      -    -\n\n"
	       "0 hits in 2.00s, 0 events lost\n");
}
END_TEST

START_TEST(groups_have_rows_of_their_own_where_they_have_hits)
{
	setup(alone, true);
	int64_t a = nw_summary_group(summary, "\x1b[1m", 4),
		b = nw_summary_group(summary, "b", 1);
	hit(0, 100, 0, b);
	hit(0, 107, 0, b);
	struct nw_report report = report_of();
	report.group_by = "comm";
	ck_assert_int_eq(a, 0);
	expect(&report, &nw_output_text,
	       "PROBE  BY comm  HITS    RATE  GAP: MIN  MEAN  P50  P90  P99  P99.9  MAX\n"
	       "app:q  b           2  1.00/s       7ns   7ns  7ns  7ns  7ns    7ns  7ns\n\n"
	       "2 hits in 2.00s, 0 events lost\n");
	hit(0, 200, 0, a);
	report.elapsed_ns = 0; /* no rate without time */
	expect(&report, &nw_output_text,
	       "PROBE  BY comm  HITS  RATE  GAP: MIN  MEAN  P50  P90  P99  P99.9  MAX\n"
	       "app:q  b           2   0/s       7ns   7ns  7ns  7ns  7ns    7ns  7ns\n"
	       "app:q  \\x1b[1m     1   0/s         -     -    -    -    -      -    -\n\n"
	       "3 hits in 0ns, 0 events lost\n");
}
END_TEST

/* Names as a hostile program, or a hostile recording, may have them. */
static const char hostile[] =
	"nopwatch-plan 1\nimage /bin/app\n"
	"probe 0 0 a%1b[2J q,%22%0a%c3__start a%1b[2J:q,%22%0a%c3__start 1\narg %07rows "
	"-\narg - -\n"
	"probe 0 0 a%1b[2J q,%22%0a%c3__done a%1b[2J:q,%22%0a%c3__done 0\n";

START_TEST(hostile_names_reach_no_terminal)
{
	const struct nw_probe_state states[] = {{NW_STATE_NOT_HIT, "no hit"},
						{NW_STATE_NOT_HIT, "no hit"}};
	struct nw_hist first = {.name = (char[]){"arg1"}};
	const nw_hists hists = {.item = &first, .count = 1};
	struct nw_buf out = {0};

	setup(hostile, true);
	play(nw_summary_group(summary, "\x1b]0;x\x07\xff\n", 8));
	struct nw_report report = report_of();
	report.group_by = "comm";
	report.gaps = true;
	report.hists = &hists;
	report.states = states;
	show_report(&nw_output_text, &report, NW_END_DURATION, &out);
	for (size_t i = 0; i < out.len; i++)
		ck_assert_msg(out.data[i] == '\n' || ((unsigned char)out.data[i] >= ' ' &&
						      (unsigned char)out.data[i] < 0x7f),
			      "byte %zu", i);
	ck_assert_ptr_nonnull(strstr(out.data, "a\\x1b[2J:q,\\\"\\n\\xc3__done: no hit\n"));
	ck_assert_ptr_nonnull(strstr(out.data,
				     "a\\x1b[2J:q,\\\"\\n\\xc3, comm \\x1b]0;x\\x07"
				     "\\xff\\n, latency:\n"));
	nw_buf_free(&out);
}
END_TEST

/* ---- CSV ---------------------------------------------------------------------------- */

#define HEADER                                                                        \
	"type,name,group,interval,count,rate_hz,sum_ns,min_ns,mean_ns,p50_ns,p90_ns," \
	"p99_ns,p999_ns,max_ns,unmatched_starts,unmatched_ends,discarded,arg,time,"   \
	"abandoned,omitted,repeated,nested,inner,invalid,at_least,symbol\n"

/* Fields of each row, by RFC 4180; they must all be as many as those of the first. */
static size_t count_fields(const char *text)
{
	size_t rows = 0, fields = 1, wanted = 0;
	bool quoted = false;

	for (; *text; text++) {
		quoted ^= *text == '"';
		fields += *text == ',' && !quoted;
		if (*text != '\n' || quoted)
			continue;
		wanted = rows++ ? wanted : fields;
		ck_assert_uint_eq(fields, wanted);
		fields = 1;
	}
	ck_assert(!quoted && fields == 1);
	return wanted;
}

static void expect_csv(struct nw_report *report, const char *wanted)
{
	struct nw_buf out = {0};

	show_begin(&nw_output_csv, 2, 7, &out);
	show_report(&nw_output_csv, report, NW_END_DURATION, &out);
	ck_assert_str_eq(nw_buf_str(&out), wanted);
	ck_assert_uint_eq(count_fields(out.data), 27);
	nw_buf_free(&out);
}

#define MOST	",18446744073709551615"
#define ALL_MAX MOST MOST MOST MOST MOST MOST MOST MOST
#define AT	",2026-11-22T04:12:16.123Z,,,,,,,,\n"

START_TEST(csv_has_one_row_a_probe_argument_and_span)
{
	setup(plain, false);
	play(0);
	nw_summary_finish(summary);
	struct nw_report report = report_of();
	report.lost = 3;
	expect_csv(&report, HEADER
		   "probe,app:q__start,,,3,1.500,9000,2000,4500,2000,7000,7000,7000,7000,,,"
		   ",,,,,,,,,,\n"
		   "arg,app:q__start,,,3,1.500,42,-3,14,5,40,40,40,40,,,,rows,,,,,,,,,\n"
		   "arg,app:q__start,,,3,1.500" ALL_MAX ",,,,arg1,,,,,,,,,\n"
		   "probe,app:q__done,,,4,2.000,12500,1500,4167,2527,8500,8500,8500,8500,,,"
		   ",,,,,,,,,,\n"
		   "span,app:q,,,3,1.500,5500,1000,1833,1487,3000,3000,3000,3000,0,1,0,,,0,"
		   "0,0,0,0,0,,\n"
		   "loss,,,,3,,,,,,,,,,,,0,,,,,,,,,,\n");
	report.interval = 4;
	report.wall_ns = 1795320736123456789; /* 2026-11-22 04:12:16 UTC */
	expect_csv(
		&report, HEADER
		"probe,app:q__start,,4,3,1.500,9000,2000,4500,2000,7000,7000,7000,7000,,,"
		"," AT "arg,app:q__start,,4,3,1.500,42,-3,14,5,40,40,40,40,,,,rows" AT
		"arg,app:q__start,,4,3,1.500" ALL_MAX ",,,,arg1" AT
		"probe,app:q__done,,4,4,2.000,12500,1500,4167,2527,8500,8500,8500,8500,,,"
		"," AT "span,app:q,,4,3,1.500,5500,1000,1833,1487,3000,3000,3000,3000,0,1,"
		"0,,2026-11-22T04:12:16.123Z,0,0,0,0,0,0,,\n");
}
END_TEST

/* What a row counts is marked on its own line, in every format. */
START_TEST(rows_that_lack_events_say_so)
{
	static const struct {
		const struct nw_output_format *format;
		const char *with, *without;
	} cases[] = {
		{&nw_output_text, "app:q__start    3+ ", "app:q__start     3 "},
		{&nw_output_text, "app:q     3+  5.50us", "app:q      3  5.50us"},
		{&nw_output_json, "\"hits\":3,\"at_least\":true,", "\"hits\":3,\"rate"},
		{&nw_output_json, "\"count\":3,\"at_least\":true,", "\"count\":3,\"lat"},
		{&nw_output_csv, ",0,0,0,0,0,1,\n", ",0,0,0,0,0,,\n"},
		{&nw_output_openmetrics, "nopwatch_counts_at_least 1\n",
		 "nopwatch_counts_at_least 0\n"},
	};

	setup(plain, false);
	play(0);
	nw_summary_finish(summary);
	struct nw_report report = report_of();
	for (size_t i = 0; i < 2 * NW_COUNT(cases); i++) {
		const bool lost = i % 2;
		const char *wanted = lost ? cases[i / 2].with : cases[i / 2].without;
		struct nw_buf out = {0};
		report.at_least = lost;
		show_begin(cases[i / 2].format, 2, 7, &out);
		show_report(cases[i / 2].format, &report, NW_END_DURATION, &out);
		ck_assert_msg(strstr(nw_buf_str(&out), wanted) != NULL, "%s is not in %s",
			      wanted, nw_buf_str(&out));
		nw_buf_free(&out);
	}
}
END_TEST

START_TEST(csv_quotes_what_would_break_a_row)
{
	static const char name[] = "a\"b,c\r\nd";

	setup(hostile, true);
	hit(0, 100, 0, nw_summary_group(summary, name, strlen(name)));
	struct nw_report report = report_of();
	report.group_by = "comm";
	expect_csv(&report, HEADER
		   "probe,\"a\\x1b[2J:q,\"\"\\n\\xc3__start\",\"a\"\"b,c\\r\\nd\",,1,"
		   "0.500,0,,,,,,,,,,,,,,,,,,,,\narg,\"a\\x1b[2J:q,\"\"\\n\\xc3__start\","
		   "\"a\"\"b,c\\r\\nd\",,1,0.500,0,0,0,0,0,0,0,0,,,,\\x07rows,,,,,,,,,\n"
		   "arg,\"a\\x1b[2J:q,\"\"\\n\\xc3__start\",\"a\"\"b,c\\r\\nd\",,1,0."
		   "500" ALL_MAX ",,,,arg1,,,,,,,,,\nloss,,,,0,,,,,,,,,,,,0,,,,,,,,,,\n");
}
END_TEST

/* The group of a report's first row, as CSV has it. */
static void expect_cell(const char *group, const char *wanted, const char *raw)
{
	struct nw_buf out = {0};

	for (int i = 0; i < 2; i++) {
		setup(plain, true);
		hit(0, 100, 0, nw_summary_group(summary, group, strlen(group)));
		struct nw_report report = report_of();
		report.group_by = "comm";
		report.view.raw = i == 1;
		show_report(&nw_output_csv, &report, NW_END_DURATION, &out);
		nw_cleanup(nw_free_ptr) char *row = nw_text(
			"probe,app:q__start,%s,,1,0.500,0,", i ? raw : wanted);
		ck_assert_msg(strncmp(nw_buf_str(&out), row, strlen(row)) == 0, "%s: %s",
			      row, nw_buf_str(&out));
		nw_buf_free(&out);
		teardown();
	}
}

/* A spreadsheet computes what begins like a formula, whoever has written it. */
START_TEST(csv_has_no_formulas)
{
	expect_cell("=1+1", "'=1+1", "=1+1");
	expect_cell("+1", "'+1", "+1");
	expect_cell("@SUM(A1)", "'@SUM(A1)", "@SUM(A1)");
	expect_cell("-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0",
		    "-1+cmd|' /C calc'!A0");
	expect_cell("=HYPERLINK(\"http://x\",1)", "\"'=HYPERLINK(\"\"http://x\"\",1)\"",
		    "\"=HYPERLINK(\"\"http://x\"\",1)\"");
	expect_cell("a;=b;-1;c", "a;'=b;'-1;c", "a;=b;-1;c");
	expect_cell("\xef\xbc\x9d"
		    "1",
		    "'\xef\xbc\x9d"
		    "1",
		    "\xef\xbc\x9d"
		    "1");
	expect_cell("\t=1", "\\t=1", "\\t=1");
	expect_cell("\r=1", "\\r=1", "\\r=1");
	/* numbers are numbers */
	expect_cell("-5", "-5", "-5");
	expect_cell("-5.25", "-5.25", "-5.25");
	expect_cell("-5.", "'-5.", "-5.");
	expect_cell("-", "'-", "-");
	expect_cell("--5", "'--5", "--5");
	expect_cell("a=b-c@d+e", "a=b-c@d+e", "a=b-c@d+e");
}
END_TEST

/* ---- many rows ---------------------------------------------------------------------- */

/* Pairs app:sA .. app:sN: probes 2i and 2i+1 begin and end span i. */
static void setup_many(size_t pairs, bool grouped)
{
	struct nw_buf text = {0};

	nw_buf_adds(&text, "nopwatch-plan 1\nimage /bin/app\n");
	for (size_t i = 0; i < pairs; i++)
		for (int end = 0; end < 2; end++) {
			const char *what = end ? "done" : "start";
			char letter = (char)('A' + i);
			nw_buf_printf(&text, "probe 0 0 app s%c__%s app:s%c__%s 0\n",
				      letter, what, letter, what);
		}
	setup(nw_buf_str(&text), grouped);
	nw_buf_free(&text);
}

/* A span of so many nanoseconds. */
static void span(uint32_t pair, uint64_t at, uint64_t latency, int64_t group)
{
	hit(2 * pair, at, 0, group);
	hit(2 * pair + 1, at + latency, 0, group);
}

static char *printed(const struct nw_report *report, const struct nw_output_format *format)
{
	struct nw_buf out = {0};

	show_report(format, report, NW_END_DURATION, &out);
	ck_assert(!out.failed);
	return nw_buf_take(&out);
}

static size_t count_of(const char *text, const char *what)
{
	size_t count = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		count++;
	return count;
}

START_TEST(rows_without_hits_are_one_line_where_there_are_many)
{
	struct nw_probe_state states[20] = {0};

	setup_many(10, false);
	for (size_t i = 2; i < 20; i++)
		states[i] = (struct nw_probe_state){
			NW_STATE_NOT_HIT, i % 2 ? "no hit: not reached" : "no hit: gone"};
	span(0, 1000, 50, 0);
	struct nw_report report = report_of();
	report.states = states;
	char *text = printed(&report, &nw_output_text);
	ck_assert_ptr_nonnull(strstr(text,
				     "\n18 probes were not hit; --all-rows shows them\n"
				     "9 spans neither began nor ended; --all-rows shows "
				     "them\n"));
	ck_assert_ptr_nonnull(strstr(text,
				     "\napp:sB__start, app:sC__start, app:sD__start and 6 "
				     "more: no hit: gone\napp:sB__done, app:sC__done, "
				     "app:sD__done and 6 more: no hit: not reached\n"));
	ck_assert_uint_eq(count_of(text, "app:sJ"), 0);
	free(text);
	report.view.all_rows = true;
	text = printed(&report, &nw_output_text);
	ck_assert_uint_eq(count_of(text, "app:sJ"), 5); /* two probes, a span, two notes */
	ck_assert_uint_eq(count_of(text, "--all-rows"), 0);
	free(text);
	text = printed(&report, &nw_output_json); /* which hides nothing */
	report.view.all_rows = false;
	ck_assert_uint_eq(count_of(text, "app:sJ"), 3);
	free(text);
}
END_TEST

/* The letters of the spans as they come in the table of spans, or in CSV. */
static void expect_order(enum nw_sort sort, size_t top, const char *wanted)
{
	struct nw_report report = report_of();
	char got[8] = "";
	size_t used = 0;

	report.view = (struct nw_view){.sort = sort, .top = top};
	char *text = printed(&report, &nw_output_text);
	for (const char *at = strstr(text, "SPAN "); (at = strstr(at, "\napp:s")); at++)
		if (at[7] == ' ' && at < strstr(text, "\nPROBE ") && used < 7)
			got[used++] = at[6];
	got[used] = '\0';
	ck_assert_str_eq(got, wanted);
	free(text);
	if (sort == NW_SORT_DEFAULT)
		return;
	text = printed(&report, &nw_output_csv);
	used = 0;
	for (const char *at = text; (at = strstr(at, "\nspan,app:s")); at++)
		got[used++] = at[11];
	got[used] = '\0';
	ck_assert_str_eq(got, wanted);
	free(text);
}

START_TEST(rows_are_sorted_by_what_was_asked_for)
{
	setup_many(4, false);
	span(0, 1000, 100, 0); /* A: once, the slowest */
	for (uint64_t i = 0; i < 5; i++)
		span(1, 2000 + 100 * i, 30, 0); /* B: the most time */
	for (uint64_t i = 0; i < 6; i++)
		span(3, 4000 + 100 * i, 2, 0); /* D: the most often; C: never */
	expect_order(NW_SORT_DEFAULT, 0, "BADC");
	expect_order(NW_SORT_TOTAL, 0, "BADC");
	expect_order(NW_SORT_HITS, 0, "DBAC");
	expect_order(NW_SORT_RATE, 0, "DBAC");
	expect_order(NW_SORT_MEAN, 0, "ABDC");
	expect_order(NW_SORT_P50, 0, "ABDC");
	expect_order(NW_SORT_P99, 0, "ABDC");
	expect_order(NW_SORT_MAX, 2, "AB");
	expect_order(NW_SORT_NAME, 0, "ABCD");
	expect_order(NW_SORT_DEFAULT, 1, "B");
	struct nw_report report = report_of();
	report.view.top = 1;
	char *text = printed(&report, &nw_output_text);
	ck_assert_ptr_nonnull(strstr(text,
				     "\n5 more probes and 2 more spans; a larger --top "
				     "shows them\n"));
	free(text);
}
END_TEST

START_TEST(groups_beyond_the_first_ten_are_one_row)
{
	setup_many(1, true);
	for (int i = 0; i < 15; i++) {
		char name[8];
		int len = snprintf(name, sizeof(name), "g%02d", i);
		span(0, 1000 * (uint64_t)i, 10 + (uint64_t)i,
		     nw_summary_group(summary, name, (size_t)len));
	}
	struct nw_report report = report_of();
	report.group_by = "arg0";
	char *text = printed(&report, &nw_output_text);
	/* the five shortest: 10 .. 14 */
	ck_assert_ptr_nonnull(strstr(text, "\napp:sA  (5 more)      5   60ns  10ns  12ns"));
	ck_assert_ptr_nonnull(strstr(text, "\napp:sA  g14           1   24ns  24ns"));
	ck_assert_ptr_null(strstr(text, "\napp:sA  g04"));
	ck_assert_uint_eq(count_of(text, ", latency:"), 10);
	ck_assert_ptr_nonnull(strstr(text, "30 hits in 2.00s"));
	free(text);
	report.view.top = 2;
	text = printed(&report, &nw_output_text);
	ck_assert_ptr_nonnull(strstr(text, "\napp:sA  (13 more)     13"));
	free(text);
}
END_TEST

START_TEST(several_keys_are_told_apart)
{
	setup(alone, true);
	hit(0, 100, 0,
	    nw_summary_group(summary,
			     "GET\x1f"
			     "200",
			     7));
	struct nw_report report = report_of();
	report.group_by = "method,status";
	char *text = printed(&report, &nw_output_text);
	ck_assert_ptr_nonnull(strstr(text, "PROBE  BY method,status  HITS"));
	ck_assert_ptr_nonnull(strstr(text, "\napp:q  GET,200              1"));
	free(text);
	text = printed(&report, &nw_output_json);
	ck_assert_ptr_nonnull(strstr(text,
				     "\"group\":\"GET,200\",\"by\":{\"method\":\"GET\","
				     "\"status\":\"200\"}"));
	free(text);
	text = printed(&report, &nw_output_openmetrics);
	ck_assert_ptr_nonnull(strstr(
		text,
		"nopwatch_hits_total{probe=\"app:q\",method=\"GET\",status=\"200\"} 1\n"));
	free(text);
}
END_TEST

/* ---- the terminal's width ----------------------------------------------------------- */

static void expect_width(size_t width)
{
	struct nw_report report = report_of();

	report.layout.width = width;
	char *text = printed(&report, &nw_output_text), *rest = text, *line;
	while ((line = strsep(&rest, "\n")) && strncmp(line, "app:q, latency", 14) != 0)
		ck_assert_msg(strlen(line) <= width, "%zu: %s", width, line);
	if (width < 90)
		ck_assert_ptr_nonnull(
			strstr(rest, "left out, since the terminal is narrow"));
	free(text);
}

START_TEST(tables_fit_the_terminal)
{
	setup(plain, false);
	play(0);
	expect_width(200);
	expect_width(89);
	expect_width(80);
}
END_TEST

START_TEST(a_name_is_cut_before_a_column_is_lost)
{
	static const bool left[] = {true, false, false};
	struct nw_table table = {
		.columns = 3, .left = left, .layout.width = 34, .give_up = "B\0A\0"};
	struct nw_buf out = {0};
	const char *const cells[] = {
		"NAME", "A", "B", "\xc3\xa4 name of thirty-one characters!", "12", "345"};

	for (size_t i = 0; i < NW_COUNT(cells); i++)
		nw_table_text(&table, cells[i]);
	nw_table_print(&table, &out);
	ck_assert_str_eq(nw_buf_str(&out), "NAME                        A    B\n"
					   "\xc3\xa4 name of thirty-one c...  12  345\n");
	nw_buf_free(&out);
	table = (struct nw_table){
		.columns = 3, .left = left, .layout.width = 14, .give_up = "B\0A\0"};
	for (size_t i = 0; i < NW_COUNT(cells); i++)
		nw_table_text(&table, cells[i]);
	nw_table_print(&table, &out);
	ck_assert_str_eq(nw_buf_str(&out), "NAME\n\xc3\xa4 name of t...\n");
	nw_buf_free(&out);
}
END_TEST

START_TEST(sentences_fit_the_terminal)
{
	struct nw_buf out = {0};

	nw_buf_adds(&out, "a table's row of any length\n");
	const size_t from = out.len;
	nw_buf_adds(&out, "\none two three f\xc3\xbcnf\n`five six` seven\n"
			  "many-letters-without-a-blank and on and\n"
			  "on `without an end\nx y z 1 2 3 4 5");
	nw_text_fill(&out, from, 8);
	ck_assert_str_eq(nw_buf_str(&out),
			 "a table's row of any length\n"
			 "\none two\nthree\nf\xc3\xbcnf\n`five six`\nseven\n"
			 "many-letters-without-a-blank\nand on\nand\n"
			 "on\n`without an end\nx y z 1\n2 3 4 5");
	nw_text_fill(&out, 0, 0);
	ck_assert_ptr_nonnull(strstr(nw_buf_str(&out), "row of any length\n"));
	nw_buf_free(&out);
}
END_TEST

UNIT_MAIN_WITH("report", NULL, teardown, a_report_is_tables_histograms_and_a_last_line,
	       histograms_of_gaps_and_arguments_are_shown_when_asked_for,
	       overhead_of_more_than_a_fifth_is_told,
	       numbers_that_may_be_ids_are_not_summarized,
	       losses_and_silent_probes_are_told_at_the_end,
	       groups_have_rows_of_their_own_where_they_have_hits,
	       hostile_names_reach_no_terminal, csv_has_one_row_a_probe_argument_and_span,
	       rows_that_lack_events_say_so, csv_has_no_formulas,
	       csv_quotes_what_would_break_a_row,
	       rows_without_hits_are_one_line_where_there_are_many,
	       rows_are_sorted_by_what_was_asked_for,
	       groups_beyond_the_first_ten_are_one_row, several_keys_are_told_apart,
	       tables_fit_the_terminal, sentences_fit_the_terminal,
	       a_name_is_cut_before_a_column_is_lost)
