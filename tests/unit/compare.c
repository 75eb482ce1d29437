// SPDX-License-Identifier: MIT
/* compare: two samples by their ranks. */
#include <math.h>

#include "measure/compare.h"
#include "measure/histogram.h"
#include "unit.h"

/* ---- how many are enough -------------------------------------------------------------- */

/* The largest U that is significant at 5 %, two-sided: Siegel, Nonparametric Statistics (1956), table K, from Auble (1953). */
static const struct {
	size_t m, n;
	long critical;
} published[] = {{4, 4, 0},   {3, 5, 0},    {5, 5, 2},	  {5, 6, 3},	{5, 8, 6},
		 {5, 10, 8},  {6, 6, 5},    {7, 9, 12},	  {8, 8, 13},	{10, 10, 23},
		 {9, 11, 23}, {12, 17, 57}, {15, 15, 64}, {10, 20, 55}, {20, 20, 127},
		 {2, 8, 0},   {2, 20, 2}};

START_TEST(critical_values_are_those_of_the_tables)
{
	for (size_t i = 0; i < NW_COUNT(published); i++) {
		ck_assert_int_eq(nw_compare_rank(published[i].m, published[i].n),
				 published[i].critical + 1);
		ck_assert_int_eq(nw_compare_rank(published[i].n, published[i].m),
				 published[i].critical + 1);
	}
}
END_TEST

/* Counts U in every arrangement of m ranks among m + n. */
static long rank_by_enumeration(unsigned int m, unsigned int n)
{
	unsigned long ways[50] = {0}, all = 0, below = 0;
	long k = 0;

	for (unsigned int set = 0; set < 1u << (m + n); set++) {
		unsigned int u = 0, chosen = 0;
		for (unsigned int rank = 0; rank < m + n; rank++)
			if (set >> rank & 1)
				u += rank - chosen++;
		if (chosen != m)
			continue;
		ways[u]++;
		all++;
	}
	while (k < (long)(m * n) && (below += ways[k]) * 40 <= all)
		k++;
	return k;
}

START_TEST(small_samples_are_counted_exactly)
{
	for (unsigned int m = 1; m <= 7; m++)
		for (unsigned int n = 1; n <= 7; n++)
			ck_assert_int_eq(nw_compare_rank(m, n), rank_by_enumeration(m, n));
}
END_TEST

START_TEST(few_numbers_tell_nothing)
{
	static const size_t few[][2] = {{0, 100}, {1, 1}, {3, 3}, {3, 4}, {2, 7}, {1, 38}};

	for (size_t i = 0; i < NW_COUNT(few); i++) {
		ck_assert_int_eq(nw_compare_rank(few[i][0], few[i][1]), 0);
		ck_assert_int_eq(nw_compare_rank(few[i][1], few[i][0]), 0);
	}
	ck_assert_int_eq(nw_compare_rank(1, 39), 1);
}
END_TEST

/* The interval of parts holds 95 % of the ratios, however many there are: it does not shrink as that of the median does. */
START_TEST(parts_stand_for_runs)
{
	double before[100], after[100];
	struct nw_comparison ten, hundred, median;

	ck_assert_int_eq(nw_compare_parts_rank(9, 11), 0);
	ck_assert_int_eq(nw_compare_parts_rank(10, 10), 1);
	ck_assert_int_eq(nw_compare_parts_rank(12, 12), 1);
	ck_assert_int_eq(nw_compare_parts_rank(20, 20), 4);
	for (size_t i = 0; i < 100; i++) {
		before[i] = exp(0.1 * ((double)(i * 37 % 100) / 50 - 1));
		after[i] = 1.1 * exp(0.1 * ((double)(i * 61 % 100) / 50 - 1));
	}
	ck_assert_int_eq(nw_compare(before, 10, after, 10, 1, &ten), 0);
	ck_assert_int_eq(nw_compare(before, 100, after, 100, 100, &hundred), 0);
	ck_assert_int_eq(nw_compare(before, 100, after, 100,
				    (size_t)nw_compare_rank(100, 100), &median),
			 0);
	ck_assert(ten.noise && hundred.noise && !median.noise);
	ck_assert(fabs(log(hundred.high / hundred.low) / log(ten.high / ten.low) - 1) <
		  0.2);
	ck_assert(log(median.high / median.low) < 0.3 * log(hundred.high / hundred.low));
}
END_TEST

/* Where the exact count ends, the normal distribution goes on: from one size to the next, k grows as it did before. */
START_TEST(large_samples_continue_small_ones)
{
	long before = nw_compare_rank(40, 40);

	for (size_t n = 41; n < 80; n++) {
		long k = nw_compare_rank(n, n);
		const double all = (double)(n * n);
		const double deviation = sqrt(all * (2 * (double)n + 1) / 12);
		ck_assert_int_gt(k, before);
		ck_assert(fabs((double)k - (all / 2 + 0.5 - 1.96 * deviation)) <= 1.5);
		before = k;
	}
	ck_assert_int_gt(nw_compare_rank(1000, 1000), 0);
}
END_TEST

/* ---- intervals ---------------------------------------------------------------------- */

static struct nw_comparison compare(const double *before, size_t m, const double *after,
				    size_t n)
{
	struct nw_comparison out;
	long k = nw_compare_rank(m, n);

	ck_assert_int_gt(k, 0);
	ck_assert_int_eq(nw_compare(before, m, after, n, (size_t)k, &out), 0);
	return out;
}

static void is_about(double got, double wanted)
{
	ck_assert_msg(fabs(got - wanted) <= 1e-12 * wanted, "%.17g, not %.17g", got,
		      wanted);
}

/*
 * The permeability of membranes in Hollander and Wolfe, table 4.1, which R's help on wilcox.test() has, too. The numbers wanted were computed
 * by a program of its own, which sorts all ratios and enumerates all arrangements (in Python, 2026).
 */
START_TEST(known_samples)
{
	static const double term[] = {0.80, 0.83, 1.89, 1.04, 1.45,
				      1.38, 1.91, 1.64, 0.73, 1.46};
	static const double early[] = {1.15, 0.88, 0.90, 0.74, 1.21};
	static const double base[] = {100, 101, 99, 102, 98};
	static const double slower[] = {120, 119, 122, 121, 118};
	static const double same[] = {101, 100, 99, 103, 97};
	struct nw_comparison got = compare(early, 5, term, 10);

	is_about(got.estimate, 1.3117671370783737);
	is_about(got.low, 0.859504132231405);
	is_about(got.high, 1.9594594594594594);
	ck_assert(got.noise);
	got = compare(term, 10, early, 5);
	is_about(got.estimate, 0.7623304256784817);
	is_about(got.low, 0.5103448275862069);
	is_about(got.high, 1.1634615384615383);
	got = compare(base, 5, slower, 5);
	is_about(got.estimate, 1.2);
	is_about(got.low, 1.1683168316831682);
	is_about(got.high, 1.2323232323232323);
	ck_assert(!got.noise);
	got = compare(base, 5, same, 5);
	is_about(got.estimate, 1);
	is_about(got.low, 0.97);
	is_about(got.high, 1.030612244897959);
	ck_assert(got.noise);
}
END_TEST

START_TEST(equal_numbers)
{
	static const double before[] = {3, 3, 3, 4, 4, 4}, after[] = {4, 4, 4, 4, 5, 5};
	static const double one[] = {7, 7, 7, 7, 7};
	struct nw_comparison got = compare(before, 6, after, 6);

	is_about(got.estimate, 1.2909944487358056); /* by the same program */
	is_about(got.low, 1);
	is_about(got.high, 1.6666666666666667);
	ck_assert(got.noise); /* the end belongs to the interval */
	got = compare(one, 5, one, 5);
	ck_assert(got.estimate == 1 && got.low == 1 && got.high == 1 && got.noise);
}
END_TEST

START_TEST(zeros)
{
	static const double none[] = {0, 0, 0, 0}, some[] = {5, 6, 7, 8};
	static const double mixed[] = {0, 0, 9, 9};
	struct nw_comparison got = compare(none, 4, none, 4);

	ck_assert(got.estimate == 1 && got.low == 1 && got.high == 1 && got.noise);
	got = compare(some, 4, none, 4);
	ck_assert(got.estimate == 0 && got.low == 0 && got.high == 0 && !got.noise);
	got = compare(none, 4, some, 4);
	ck_assert(isinf(got.low) && isinf(got.high) && !got.noise);
	got = compare(mixed, 4, mixed, 4);
	ck_assert(got.low == 0 && isinf(got.high) && got.estimate == 1 && got.noise);
	got = compare(mixed, 4, some, 4);
	ck_assert(!isnan(got.estimate) && isinf(got.high) && got.noise);
}
END_TEST

/* ---- made runs with a known shift ---------------------------------------------------- */

static uint64_t state;

static double uniform(void)
{
	return ((double)(unit_random(&state) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

START_TEST(selection_agrees_with_the_order)
{
	for (int trial = 0; trial < 2000; trial++) {
		const size_t m = 4 + (size_t)(uniform() * 5),
			     n = 4 + (size_t)(uniform() * 5);
		const size_t k = (size_t)nw_compare_rank(m, n);
		double before[10], after[10];
		struct nw_comparison got;
		size_t low[2] = {0, 0}, high[2] = {0, 0};
		/* few different values, so that many are equal */
		for (size_t i = 0; i < m; i++)
			before[i] = floor(uniform() * 6);
		for (size_t i = 0; i < n; i++)
			after[i] = floor(uniform() * 6);
		ck_assert_int_eq(nw_compare(before, m, after, n, k, &got), 0);
		for (size_t i = 0; i < m * n; i++) {
			const double b = before[i / n], a = after[i % n];
			const double ratio = b > 0 ? a / b : a > 0 ? INFINITY : 1;
			low[0] += ratio < got.low;
			low[1] += ratio <= got.low;
			high[0] += ratio > got.high;
			high[1] += ratio >= got.high;
		}
		ck_assert(low[0] < k && k <= low[1] && high[0] < k && k <= high[1]);
	}
}
END_TEST

enum {
	RUNS = 5,
	SPANS = 2000,
	TRIALS = 100
};

/* The 99th percentile of a run: lognormal latencies, whose scale differs from run to run by 3 % (one deviation). */
static double p99_of_run(double scale)
{
	struct nw_histogram h = {0};

	scale *= exp(0.03 * normal());
	for (int i = 0; i < SPANS; i++)
		nw_histogram_add(&h, (uint64_t)(scale * exp(0.5 * normal())));
	double p99 = (double)nw_histogram_percentile(&h, 0.99);
	nw_histogram_free(&h);
	return p99;
}

/* Returns how many of the trials find a change that is no noise. */
static int found(double shift, double least)
{
	int count = 0;

	for (int trial = 0; trial < TRIALS; trial++) {
		double before[RUNS], after[RUNS];
		for (int i = 0; i < RUNS; i++) {
			before[i] = p99_of_run(1e6);
			after[i] = p99_of_run(1e6 * shift);
		}
		struct nw_comparison got = compare(before, RUNS, after, RUNS);
		count += !got.noise && got.estimate > least;
	}
	return count;
}

START_TEST(false_alarms_are_few)
{
	state = 1;
	int alarms = found(1, 0);
	ck_assert_msg(alarms <= 5, "%d of %d", alarms, TRIALS);
}
END_TEST

START_TEST(a_shift_of_a_fifth_is_found)
{
	state = 2;
	int hits = found(1.2, 1.1);
	ck_assert_msg(hits >= 95, "%d of %d", hits, TRIALS);
}
END_TEST

/* An interval of 95 % misses the true ratio in at most 5 of 100 cases; binomial noise of 2,000 trials is 1 %. */
START_TEST(intervals_cover_the_true_ratio)
{
	int missed = 0;

	state = 3;
	for (int trial = 0; trial < 2000; trial++) {
		double before[RUNS], after[RUNS + 1];
		for (int i = 0; i < RUNS; i++)
			before[i] = exp(0.2 * normal());
		for (int i = 0; i <= RUNS; i++)
			after[i] = 1.5 * exp(0.2 * normal());
		struct nw_comparison got = compare(before, RUNS, after, RUNS + 1);
		missed += got.low > 1.5 || got.high < 1.5;
	}
	ck_assert_int_le(missed, 120);
	ck_assert_int_ge(
		missed,
		40); /* nor is it much too wide: the exact level is 95.2 % or above */
}
END_TEST

UNIT_MAIN("compare", critical_values_are_those_of_the_tables,
	  small_samples_are_counted_exactly, few_numbers_tell_nothing, parts_stand_for_runs,
	  large_samples_continue_small_ones, known_samples, equal_numbers, zeros,
	  selection_agrees_with_the_order, false_alarms_are_few,
	  a_shift_of_a_fifth_is_found, intervals_cover_the_true_ratio)
