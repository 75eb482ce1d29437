// SPDX-License-Identifier: MIT
/* diff: the numbers of two sides, and the conditions of --fail-if. */
#include <errno.h>
#include <math.h>

#include "measure/diff.h"
#include "unit.h"

/* ---- conditions ----------------------------------------------------------------------- */

START_TEST(conditions_are_parsed)
{
	static const struct {
		const char *text, *name;
		enum nw_metric metric;
		bool above;
		double least;
	} cases[] = {
		{"request.p99 > +10%", "request", NW_METRIC_P99, true, 0.1},
		{"  request.p99.9>10%  ", "request", NW_METRIC_P999, true, 0.1},
		{"request[GET,200].rate < -5%", "request[GET,200]", NW_METRIC_RATE, false,
		 -0.05},
		{"app:f(x).MEAN < -2.5 %", "app:f(x)", NW_METRIC_MEAN, false, -0.025},
		{"map<int>::at.p50 > 0%", "map<int>::at", NW_METRIC_P50, true, 0},
		{"a.max.max > -0%", "a.max", NW_METRIC_MAX, true, 0},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_diff_limit limit;
		struct nw_error err;
		ck_assert_msg(nw_diff_limit_parse(cases[i].text, &limit, &err) == 0,
			      "%s: %s", cases[i].text, err.what);
		ck_assert_str_eq(limit.name, cases[i].name);
		ck_assert_int_eq(limit.metric, cases[i].metric);
		ck_assert_int_eq(limit.above, cases[i].above);
		ck_assert_double_eq_tol(limit.least, cases[i].least, 1e-12);
		nw_diff_limit_free(&limit);
	}
}
END_TEST

START_TEST(a_bad_condition_says_what_is_wrong)
{
	static const char *const cases[][2] = {
		{"request.p99", "there is no < or >"},
		{"request > 5%", "there is no metric in front of < or >"},
		{".p99 > 5%", "there is no metric in front of < or >"},
		{"request.p99 < 5%",
		 "> takes an increase such as +10%, < a decrease such as -10%"},
		{"request.p98 > 5%", "there is no metric in front of < or >"},
		{"request.p99 > ", "there is no percentage behind < or >"},
		{"request.p99 > +", "there is no percentage behind < or >"},
		{"request.p99 > +-5%", "there is no percentage behind < or >"},
		{"request.p99 > 0x5%", "there is no percentage behind < or >"},
		{"request.p99 > inf%", "there is no percentage behind < or >"},
		{"request.p99 > 1e3%", "there is no percentage behind < or >"},
		{"request.p99 > 5", "a change is in percent, such as +10%"},
		{"request.p99 > 5%%", "a change is in percent, such as +10%"},
		{"request.p99 > 10ms", "a change is in percent, such as +10%"},
		{"request.p99 > 100000001%", "the percentage is too large"},
		{"request.p99 < -101%", "nothing becomes less by more than 100 %"},
		{"request.p99 > -5%",
		 "> takes an increase such as +10%, < a decrease such as -10%"},
		{"request.p99 < +5%",
		 "> takes an increase such as +10%, < a decrease such as -10%"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_diff_limit limit;
		struct nw_error err = {0};
		ck_assert_msg(nw_diff_limit_parse(cases[i][0], &limit, &err) < 0, "%s",
			      cases[i][0]);
		ck_assert(err.usage);
		nw_cleanup(nw_free_ptr) char *what = nw_text("--fail-if '%s': %s",
							     cases[i][0], cases[i][1]);
		ck_assert_str_eq(err.what, what);
		nw_diff_limit_free(&limit);
	}
}
END_TEST

/* ---- verdicts ------------------------------------------------------------------------- */

static struct nw_diff diff;

static void teardown(void)
{
	nw_diff_free(&diff);
}

static struct nw_diff_row *add_row(const char *name, const char *key, const char *group)
{
	struct nw_diff_row *row = nw_vec_add(&diff.rows);

	*row = (struct nw_diff_row){.subject = NW_SUBJECT_SPANS,
				    .name = strdup(name),
				    .key = strdup(key),
				    .group = group ? strdup(group) : NULL,
				    .has = {true, true}};
	diff.grouped |= group != NULL;
	return row;
}

/* Sets a metric of a row that was 100 before, with the interval of the ratio. */
static void set(struct nw_diff_row *row, enum nw_metric m, double after, double low,
		double high)
{
	row->metric[m] = (struct nw_diff_metric){
		.has = {true, true},
		.value = {100, after},
		.is_compared = true,
		.comparison = {(low + high) / 2, low, high, low <= 1 && high >= 1}};
}

static enum nw_verdict judge(const char *text, const char *why)
{
	const struct nw_diff_row *row;
	struct nw_diff_limit limit;
	struct nw_buf said = {0};
	struct nw_error err;

	ck_assert_int_eq(nw_diff_limit_parse(text, &limit, &err), 0);
	enum nw_verdict verdict = nw_diff_judge(&diff, &limit, &row, &said);
	ck_assert_str_eq(nw_buf_str(&said), why);
	nw_buf_free(&said);
	nw_diff_limit_free(&limit);
	return verdict;
}

START_TEST(a_change_beyond_the_limit_fails_unless_it_is_noise)
{
	static const struct {
		double after, low, high;
		const char *limit;
		enum nw_verdict verdict;
	} cases[] = {
		{120, 1.1, 1.3, "> 10%", NW_VERDICT_FAILED},
		{109, 1.05, 1.2, "> 10%", NW_VERDICT_PASSED},
		{110.0001, 1.05, 1.2, "> 10%", NW_VERDICT_FAILED},
		{120, 0.9, 1.5, "> 10%", NW_VERDICT_NOISE},
		{120, 0.8, 0.9, "> 10%", NW_VERDICT_NOISE}, /* speaks against it */
		{80, 0.7, 0.9, "> 10%", NW_VERDICT_PASSED},
		{80, 0.7, 0.9, "< -10%", NW_VERDICT_FAILED},
		{80, 1.1, 1.2, "< -10%", NW_VERDICT_NOISE},
		{95, 0.9, 0.97, "< -10%", NW_VERDICT_PASSED},
		{100, 1, 1, "> 0%", NW_VERDICT_PASSED},
		{200, 1.5, INFINITY, "> 50%", NW_VERDICT_FAILED},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		nw_cleanup(nw_free_ptr) char *text = nw_text("request.p99 %s",
							     cases[i].limit);
		set(add_row("request", "tid", NULL), NW_METRIC_P99, cases[i].after,
		    cases[i].low, cases[i].high);
		ck_assert_msg(judge(text, "") == cases[i].verdict, "case %zu", i);
		nw_diff_free(&diff);
	}
}
END_TEST

START_TEST(a_row_is_found_by_its_name_and_group)
{
	set(add_row("request", "tid",
		    "GET\x1f"
		    "200"),
	    NW_METRIC_P99, 150, 1.4, 1.6);
	set(add_row("request", "tid", "GET"), NW_METRIC_P99, 100, 0.9, 1.1);
	set(add_row("f[1]", "tid", "GET"), NW_METRIC_P99, 150, 1.4, 1.6);
	ck_assert_int_eq(NW_GROUP_SEPARATOR, '\x1f');
	ck_assert_int_eq(judge("request[GET,200].p99 > 10%", ""), NW_VERDICT_FAILED);
	ck_assert_int_eq(judge("request[GET].p99 > 10%", ""), NW_VERDICT_PASSED);
	ck_assert_int_eq(judge("f[1][GET].p99 > 10%", ""), NW_VERDICT_FAILED);
	static const char grouped[] =
		"no row has the name 'request%s': rows are grouped, so write 'NAME[GROUP].p99', with commas between the values of several keys";
	static const char *const absent[] = {"", "[GET,20]", "[GET,2000]", "[GET", "[]"};
	for (size_t i = 0; i < NW_COUNT(absent); i++) {
		nw_cleanup(nw_free_ptr) char *text = nw_text("request%s.p99 > 10%%",
							     absent[i]);
		nw_cleanup(nw_free_ptr) char *why = nw_text(grouped, absent[i]);
		ck_assert_int_eq(judge(text, why), NW_VERDICT_UNKNOWN);
	}
}
END_TEST

START_TEST(a_condition_that_cannot_be_judged_says_why)
{
	struct nw_diff_row *row = add_row("request", "tid", NULL);

	set(row, NW_METRIC_P99, 150, 1.4, 1.6);
	set(row, NW_METRIC_MEAN, 150, 1.4, 1.6);
	set(row, NW_METRIC_P50, 150, 1.4, 1.6);
	row->metric[NW_METRIC_MEAN].value[NW_BEFORE] = 0;
	row->metric[NW_METRIC_P50].is_compared = false;
	row = add_row("lookup", "tid", NULL);
	row->has[NW_BEFORE] = false;
	set(add_row("parse", "tid", NULL), NW_METRIC_P99, 150, 1.4, 1.6);
	set(add_row("parse", "id", NULL), NW_METRIC_P99, 150, 1.4, 1.6);
	static const char *const cases[][2] = {
		{"requst.p99 > 1%",
		 "there is no probe or span 'requst'; did you mean 'request'?"},
		{"nothing.p99 > 1%",
		 "there is no probe or span 'nothing'; there is 'request', 'lookup', 'parse'"},
		{"parse.p99 > 1%", "'parse' are 2 rows, with different keys"},
		{"lookup.p99 > 1%", "it was not measured before"},
		{"request.max > 1%", "nothing was counted before"},
		{"request.mean > 1%", "it was 0 before, so there is no percentage"},
		{"request.p50 > 1%",
		 "0 samples before and 0 after are too few for an interval of 95 %"},
	};
	for (size_t i = 0; i < NW_COUNT(cases); i++)
		ck_assert_int_eq(judge(cases[i][0], cases[i][1]), NW_VERDICT_UNKNOWN);
}
END_TEST

UNIT_MAIN_WITH("diff", NULL, teardown, conditions_are_parsed,
	       a_bad_condition_says_what_is_wrong,
	       a_change_beyond_the_limit_fails_unless_it_is_noise,
	       a_row_is_found_by_its_name_and_group,
	       a_condition_that_cannot_be_judged_says_why)
