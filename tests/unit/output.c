// SPDX-License-Identifier: MIT
/* output: units, tables, histograms, and events as text. */
#include <inttypes.h>

#include "measure/histogram.h"
#include "plan/plan.h"
#include "show/formats.h"
#include "show/rows/stacks.h"
#include "show/text/table.h"
#include "show/text/text.h"
#include "shown.h"
#include "unit.h"

/* The buffer holds this; then it is empty. */
static void expect(struct nw_buf *out, const char *wanted)
{
	ck_assert_str_eq(nw_buf_str(out), wanted);
	nw_buf_free(out);
}

/* ---- units -------------------------------------------------------------------------- */

START_TEST(durations_have_three_significant_digits)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "0ns"},
		{1, "1ns"},
		{830, "830ns"},
		{999, "999ns"},
		{1000, "1.00us"},
		{1004, "1.00us"},
		{1006, "1.01us"},
		{9994, "9.99us"},
		{9995, "10.0us"},
		{12345, "12.3us"},
		{99949, "99.9us"},
		{99950, "100us"},
		{999499, "999us"},
		{999500, "1.00ms"},
		{4560000, "4.56ms"},
		{999499999, "999ms"},
		{999500000, "1.00s"},
		{1200000000, "1.20s"},
		{95000000000, "95.0s"},
		{99950000000, "100s"},
		{3600000000000, "3600s"},
		{UINT64_MAX, "18446744074s"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		char text[16];
		nw_duration_text(cases[i].ns, text);
		ck_assert_str_eq(text, cases[i].text);
	}
}
END_TEST

START_TEST(rates_have_three_significant_digits)
{
	static const struct {
		double rate;
		const char *text;
	} cases[] = {
		{0, "0/s"},
		{0.25, "0.25/s"},
		{9.99, "9.99/s"},
		{9.996, "10/s"},
		{17, "17/s"},
		{17.6, "18/s"},
		{999.4, "999/s"},
		{999.5, "1.00k/s"},
		{2000, "2.00k/s"},
		{99949, "99.9k/s"},
		{99950, "100k/s"},
		{999499, "999k/s"},
		{999500, "1.00M/s"},
		{1300000, "1.30M/s"},
		{999500000, "1.00G/s"},
		{2.5e9, "2.50G/s"},
		{1e300, "100000000000000"}, /* cut, but never too long */
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		char text[16];
		nw_rate_text(cases[i].rate, text);
		ck_assert_uint_lt(strlen(text), sizeof(text));
		if (cases[i].rate < 1e10)
			ck_assert_str_eq(text, cases[i].text);
	}
}
END_TEST

/* ---- formats ------------------------------------------------------------------------ */

/* Whoever shows something has the functions that commands call without asking. */
START_TEST(formats_can_what_they_say)
{
	for (size_t i = 0; i < nw_output_format_count; i++) {
		const struct nw_output_format *format = nw_output_formats[i];
		bool facts = format->shows[NW_SHOWS_FACTS];
		ck_assert_ptr_eq(nw_output_find(format->name), format);
		ck_assert(!facts || (format->features && format->status && format->change &&
				     format->diagnosis && format->site && format->problem &&
				     format->checked));
		ck_assert(!facts || format->for_people || format->skipped);
		ck_assert(!format->shows[NW_SHOWS_EVENTS] || format->event || format->end ||
			  (format->one_signal && format->slow));
		ck_assert(!format->shows[NW_SHOWS_REPORTS] || format->report);
		ck_assert(!format->state_size || format->end || format->free);
	}
	ck_assert_ptr_null(nw_output_find("xml"));
}
END_TEST

/* Names of functions are what a file, or a runtime, says. */
START_TEST(folded_names_are_harmless)
{
	struct nw_buf out = {0};

	nw_stack_fold_name(
		"a;b\"\\ \n\x1b[2J\x9b\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8b\xff;",
		&out);
	expect(&out,
	       "a:b\"\\ \\n\\x1b[2J\\x9b\\xc2\\x9b\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x80\\x8b\\xff:");
	nw_stack_fold_name("gr\xc3\xbc\xc3\x9f", &out);
	expect(&out, "gr\xc3\xbc\xc3\x9f");
}
END_TEST

START_TEST(formats_are_named_by_what_they_show)
{
	struct nw_buf out = {0};

	nw_output_names(NW_SHOWS_COUNT, &out);
	expect(&out, "text, json, csv, openmetrics, otlp, perfetto, html or folded");
	nw_output_names(NW_SHOWS_FACTS, &out);
	expect(&out, "text or json");
	nw_output_names(NW_SHOWS_REPORTS, &out);
	expect(&out, "text, json, csv, openmetrics, otlp, html or folded");
}
END_TEST

static void keep(struct nw_output *output, const struct nw_event_line *line)
{
	(void)line;
	++*(unsigned int *)output->state;
}

static void write_kept(struct nw_output *output, const struct nw_end *end)
{
	nw_buf_printf(&output->text, "%u events, %s\n", *(unsigned int *)output->state,
		      nw_end_reasons[end->reason]);
}

START_TEST(a_format_may_keep_what_it_writes_at_the_end)
{
	static const struct nw_output_format counts = {.name = "counts",
						       .shows = {[NW_SHOWS_EVENTS] = true},
						       .state_size = sizeof(unsigned int),
						       .event = keep,
						       .end = write_kept};
	struct nw_output output;

	ck_assert_int_eq(nw_output_make(&counts, &output), 0);
	nw_output_begin(&output, &(struct nw_begin){.sites = 1});
	for (int i = 0; i < 3; i++)
		nw_output_event(&output, NULL);
	nw_output_loss(&output, NULL);
	ck_assert_uint_eq(output.text.len, 0);
	nw_output_end(&output, &(struct nw_end){.reason = NW_END_COUNT});
	ck_assert_str_eq(nw_buf_str(&output.text), "3 events, count\n");
	nw_output_free(&output);
	ck_assert_ptr_null(output.state);
}
END_TEST

/* ---- tables ------------------------------------------------------------------------- */

START_TEST(tables_align_text_left_and_numbers_right)
{
	static const bool left[] = {true, false, true};
	static const char *const cells[] = {"NAME", "N",      "WHAT", "a",	  "12345",
					    "x",    "longer", "1",    "what ever"};
	struct nw_table table = {.columns = 3, .left = left};
	struct nw_buf out = {0};

	for (size_t i = 0; i < 4; i++)
		nw_table_cell(&table, "%s", cells[i]);
	nw_table_number(&table, 12345);
	for (size_t i = 5; i < NW_COUNT(cells); i++)
		nw_table_text(&table, cells[i]);
	nw_table_cell(&table, "half a row"); /* left out */
	nw_table_print(&table, &out);
	expect(&out, "NAME        N  WHAT\n"
		     "a       12345  x\n"
		     "longer      1  what ever\n");
	ck_assert_uint_eq(table.cells.count, 0);
}
END_TEST

START_TEST(tables_count_characters_not_bytes)
{
	static const bool left[] = {true, true};
	struct nw_table table = {.columns = 2, .left = left, .layout.bold = true};
	struct nw_buf out = {0};

	nw_table_cell(&table, "%s", "NAME");
	nw_table_cell(&table, "%s", "X");
	nw_table_cell(&table, "%s", "\xc3\xa9t\xc3\xa9"); /* summer in French */
	nw_table_cell(&table, "%d", 1);
	nw_table_cell(&table, "%s", "\xe6\x97\xa5");
	nw_table_cell(&table, "%d", 2);
	nw_table_print(&table, &out);
	expect(&out, "\033[1mNAME  X\033[0m\n"
		     "\xc3\xa9t\xc3\xa9   1\n"
		     "\xe6\x97\xa5     2\n");
}
END_TEST

START_TEST(a_plain_table_is_sentences)
{
	static const bool left[] = {true};
	static const char *const cells[] = {"SPAN",  "COUNT", "GAP: MIN", "P50",
					    "app:q", "5",     "2.04us",	  "-"};
	struct nw_table table = {.columns = 4,
				 .left = left,
				 .layout = {.width = 10, .bold = true, .plain = true}};
	struct nw_buf out = {0};

	for (size_t i = 0; i < NW_COUNT(cells); i++)
		nw_table_text(&table, cells[i]);
	nw_table_print(&table, &out);
	expect(&out, "Span app:q: count 5, gap min 2.04us.\n");
}
END_TEST

/* ---- histograms --------------------------------------------------------------------- */

#define BAR_52 "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
#define BAR_30 "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
#define BAR_17 "@@@@@@@@@@@@@@@@@"
#define GAP_52 "                                                    "
#define GAP_35 "                                   "
#define GAP_22 "                      "

static void expect_rows(const int64_t *values, size_t count, bool is_signed,
			const char *rows)
{
	struct nw_histogram h = {0};
	struct nw_buf out = {0};

	for (size_t i = 0; i < count; i++) {
		if (is_signed)
			nw_histogram_add_signed(&h, values[i]);
		else
			nw_histogram_add(&h, (uint64_t)values[i]);
	}
	nw_histogram_print(&h, false, &(struct nw_layout){0}, &out);
	expect(&out, rows);
	nw_histogram_free(&h);
}

START_TEST(histogram_rows_are_bpftraces)
{
	static const int64_t golden[] = {0, 2, 3, 3, 1024}, edges[] = {1, 3, 4, 7};

	/* tests/runtime/outputs/hist.txt of bpftrace, with the empty rows between them */
	expect_rows(golden, 5, false,
		    "[0]                    1 |" BAR_17 GAP_35 "|\n"
		    "[1]                    0 |" GAP_52 "|\n"
		    "[2, 4)                 3 |" BAR_52 "|\n"
		    "[4, 8)                 0 |" GAP_52 "|\n"
		    "[8, 16)                0 |" GAP_52 "|\n"
		    "[16, 32)               0 |" GAP_52 "|\n"
		    "[32, 64)               0 |" GAP_52 "|\n"
		    "[64, 128)              0 |" GAP_52 "|\n"
		    "[128, 256)             0 |" GAP_52 "|\n"
		    "[256, 512)             0 |" GAP_52 "|\n"
		    "[512, 1K)              0 |" GAP_52 "|\n"
		    "[1K, 2K)               1 |" BAR_17 GAP_35 "|\n");
	expect_rows(edges, 4, false,
		    "[1]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                  "
		    "        |\n"
		    "[2, 4)                 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                  "
		    "        |\n"
		    "[4, 8)                 2 |" BAR_52 "|\n");
}
END_TEST

START_TEST(the_largest_values_have_rows)
{
	static const int64_t largest[] = {INT64_MIN, -1}; /* 2^63 and 2^64 - 1 */
	static const int64_t large[] = {(int64_t)1 << 59, (int64_t)1 << 60};

	expect_rows(largest, 2, false, "[8E, 16E)              2 |" BAR_52 "|\n");
	expect_rows(large, 2, false,
		    "[512P, 1E)             1 |" BAR_52 "|\n"
		    "[1E, 2E)               1 |" BAR_52 "|\n");
}
END_TEST

START_TEST(negative_values_share_a_row)
{
	static const int64_t values[] = {-1, -1000, INT64_MIN, 0}, one[] = {-7};

	expect_rows(values, 4, true,
		    "(..., 0)               3 |" BAR_52 "|\n"
		    "[0]                    1 |" BAR_17 GAP_35 "|\n");
	expect_rows(one, 1, true, "(..., 0)               1 |" BAR_52 "|\n");
	expect_rows(one, 0, true, "");
}
END_TEST

START_TEST(bars_are_as_long_as_a_float_makes_them)
{
	struct nw_histogram h = {0};
	struct nw_buf out = {0};

	/* 15 of 26: 30 in a float, 29 in a double */
	for (int i = 0; i < 41; i++)
		nw_histogram_add(&h, i < 15 ? 0 : 1);
	nw_histogram_print(&h, false, &(struct nw_layout){0}, &out);
	expect(&out, "[0]                   15 |" BAR_30 GAP_22 "|\n"
		     "[1]                   26 |" BAR_52 "|\n");
	nw_histogram_free(&h);
}
END_TEST

/* ---- values and events -------------------------------------------------------------- */

START_TEST(values_are_printed_by_their_kind)
{
	static const int16_t shorts[] = {-1, 2};
	static const uint8_t bytes[] = {0, 255};
	static const float floats[] = {0.5f, -2};
	static const struct {
		struct nw_value value;
		const char *text;
	} cases[] = {
		{{.kind = NW_VALUE_SIGNED, .number = (uint64_t)-42}, "-42"},
		{{.kind = NW_VALUE_UNSIGNED, .number = UINT64_MAX}, "18446744073709551615"},
		{{.kind = NW_VALUE_HEX, .number = 0x2a}, "0x2a"},
		{{.kind = NW_VALUE_FLOAT, .bits = 64, .real = 0.1}, "0.10000000000000001"},
		{{.kind = NW_VALUE_FLOAT, .bits = 32, .real = 0.5}, "0.5"},
		{{.kind = NW_VALUE_STRING, .text = "a\n\"\x1b\\", .len = 5},
		 "\"a\\n\\\"\\x1b\\\\\""},
		{{.kind = NW_VALUE_STRING, .text = "", .len = 0}, "\"\""},
		{{.kind = NW_VALUE_MISSING, .text = "(fault)"}, "(fault)"},
		{{.kind = NW_VALUE_MISSING, .text = "lost\x1b"}, "(none)"},
		{{.kind = NW_VALUE_HEX, .number = 1, .untrusted = true}, "0x1?"},
		{{.kind = NW_VALUE_ARRAY, .len = 0}, "{}"},
		{{.kind = NW_VALUE_ARRAY,
		  .len = 2,
		  .bits = 16,
		  .element = NW_VALUE_SIGNED,
		  .elements = (const unsigned char *)shorts},
		 "{-1,2}"},
		{{.kind = NW_VALUE_ARRAY,
		  .len = 2,
		  .bits = 8,
		  .element = NW_VALUE_HEX,
		  .elements = bytes},
		 "{0x0,0xff}"},
		{{.kind = NW_VALUE_ARRAY,
		  .len = 2,
		  .bits = 32,
		  .element = NW_VALUE_FLOAT,
		  .elements = (const unsigned char *)floats},
		 "{0.5,-2}"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_buf out = {0};
		nw_value_print(&cases[i].value, &out);
		expect(&out, cases[i].text);
	}
}
END_TEST

static struct nw_selection selection;
static struct nw_plan plan;

/* One probe with two arguments; names as a plan's text has them. */
static void load(const char *label, const char *arg)
{
	struct nw_buf text = {0};

	nw_buf_printf(
		&text,
		"nopwatch-plan 1\nimage /a\nprobe 0 0 p x %s:x 1\narg %s -\narg - -\n",
		label, arg);
	ck_assert_int_eq(nw_plan_load(nw_buf_str(&text), text.len, &selection, &plan, NULL,
				      NULL, NULL, NULL),
			 0);
	nw_buf_free(&text);
}

static void unload(void)
{
	nw_plan_free(&plan);
	nw_selection_free(&selection);
}

static const struct nw_value two_values[] = {
	{.kind = NW_VALUE_SIGNED, .number = 7},
	{.kind = NW_VALUE_STRING, .text = "SELECT 1", .len = 8},
};

static void print_event(const char *comm, bool wall, struct nw_buf *out)
{
	const struct nw_hit hit = {.time = 5001234567,
				   .cpu = 3,
				   .tid = 77,
				   .values = two_values,
				   .value_count = 2};
	struct nw_task task = {.tid = 77, .pid = 70};
	const struct nw_event_line line = {.probe = selection.probes.item[0],
					   .hit = &hit,
					   .task = &task,
					   .start = 3000000000,
					   .wall = wall,
					   .wall_ns = 1000000000000};

	strcpy(task.comm, comm);
	SHOW(&nw_output_text, out, nw_output_event(&output, &line));
}

START_TEST(an_event_is_one_line_below_its_header)
{
	struct nw_buf out = {0};

	load("p", "rows");
	SHOW(&nw_output_text, &out,
	     nw_output_begin(&output, &(struct nw_begin){.header = true, .bold = false}));
	print_event("server", false, &out);
	print_event("a long long nam", false, &out);
	expect(&out,
	       "TIME            CPU COMM-TID                PROBE\n"
	       "       2.001234   3 server-77               p:x rows=7 arg1=\"SELECT 1\"\n"
	       "       2.001234   3 a long long nam-77      p:x rows=7 arg1=\"SELECT "
	       "1\"\n");
	SHOW(&nw_output_text, &out,
	     nw_output_begin(&output, &(struct nw_begin){.header = true, .bold = true}));
	expect(&out, "\033[1mTIME            CPU COMM-TID                PROBE\033[0m\n");
	unload();
}
END_TEST

START_TEST(the_time_of_day_may_be_shown)
{
	struct nw_buf out = {0};

	setenv("TZ", "UTC", 1);
	load("p", "rows");
	print_event("server", true, &out); /* 1005.001234567 s after 1970 */
	expect(&out, "00:16:45.001234   3 server-77               p:x rows=7 arg1=\"SELECT "
		     "1\"\n");
	unload();
}
END_TEST

START_TEST(hostile_names_reach_no_terminal)
{
	struct nw_buf out = {0};

	/* an escape sequence, a C1 control, half a character, a line break, quotes */
	load("\xff%1b[31m%c2%9b%c3%0a%22", "%1b]0;x%07");
	print_event("\x1b[2J\n\"", false, &out);
	for (size_t i = 0; i + 1 < out.len; i++)
		ck_assert_msg((unsigned char)out.data[i] >= ' ' &&
				      (unsigned char)out.data[i] < 0x7f,
			      "byte %zu of %s", i, out.data);
	expect(&out, "       2.001234   3 \\x1b[2J\\n\\\"-77          "
		     "\\xff\\x1b[31m\\xc2\\x9b\\xc3\\n\\\":x \\x1b]0;x\\x07=7 "
		     "arg1=\"SELECT 1\"\n");
	unload();
}
END_TEST

UNIT_MAIN("output", formats_can_what_they_say, folded_names_are_harmless,
	  formats_are_named_by_what_they_show, a_format_may_keep_what_it_writes_at_the_end,
	  durations_have_three_significant_digits, rates_have_three_significant_digits,
	  tables_align_text_left_and_numbers_right, tables_count_characters_not_bytes,
	  a_plain_table_is_sentences, histogram_rows_are_bpftraces,
	  the_largest_values_have_rows, negative_values_share_a_row,
	  bars_are_as_long_as_a_float_makes_them, values_are_printed_by_their_kind,
	  an_event_is_one_line_below_its_header, the_time_of_day_may_be_shown,
	  hostile_names_reach_no_terminal)
