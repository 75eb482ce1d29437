// SPDX-License-Identifier: MIT
/*
 * power: how many runs a side `report --diff` needs to find a change in at least 95 of 100 comparisons, by how much runs of the same
 * program differ (the deviation of the logarithm), and how many false alarms it has; and the same of one run a side. Made numbers, the same in every run of this program.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "measure/compare.h"

enum {
	TRIALS = 4000,
	PARTS = 12, /* of a run */
	LEAST = 4,
	MOST = 30
};

static uint64_t state = 1;

static double uniform(void)
{
	state += 0x9e3779b97f4a7c15u;
	return ((double)(nw_hash64(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* Returns the share of comparisons, in percent, that find a change. */
static double found(double shift, double deviation, size_t runs)
{
	const long k = nw_compare_rank(runs, runs);
	int count = 0;

	for (int trial = 0; trial < TRIALS; trial++) {
		double before[MOST], after[MOST];
		struct nw_comparison got;
		for (size_t i = 0; i < runs; i++) {
			before[i] = exp(deviation * normal());
			after[i] = shift * exp(deviation * normal());
		}
		if (nw_compare(before, runs, after, runs, (size_t)k, &got) < 0)
			exit(1);
		count += !got.noise;
	}
	return 100.0 * count / TRIALS;
}

static void print_cell(double shift, double deviation)
{
	size_t runs = LEAST;

	while (runs <= MOST && found(shift, deviation, runs) < 95)
		runs++;
	if (runs > MOST)
		printf(" more than %d |", MOST);
	else
		printf(" %zu |", runs);
}

/*
 * Returns the share of comparisons of one run a side, each of PARTS parts, that find a change. parts: by how much the parts of a run
 * differ; runs: by how much runs differ besides. by_rank: the interval of the parts' median, as if they were so many runs.
 */
static double found_in_parts(double shift, double parts, double runs, bool by_rank)
{
	const long k = by_rank ? nw_compare_rank(PARTS, PARTS)
			       : nw_compare_parts_rank(PARTS, PARTS);
	int count = 0;

	for (int trial = 0; trial < TRIALS; trial++) {
		double before[PARTS], after[PARTS];
		const double was = runs * normal(), is = runs * normal();
		struct nw_comparison got;
		for (size_t i = 0; i < PARTS; i++) {
			before[i] = exp(was + parts * normal());
			after[i] = shift * exp(is + parts * normal());
		}
		if (nw_compare(before, PARTS, after, PARTS, (size_t)k, &got) < 0)
			exit(1);
		count += !got.noise;
	}
	return 100.0 * count / TRIALS;
}

static void print_parts(void)
{
	static const double parts[] = {0.02, 0.05, 0.07};
	static const double ratios[] = {0, 0.5, 1, 2};

	printf("\n| parts of a run differ by | runs besides | false alarms, parts for runs | of the median of parts | 20 %% found, parts for runs | of the median |\n"
	       "|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < NW_COUNT(parts); i++)
		for (size_t j = 0; j < NW_COUNT(ratios); j++) {
			const double runs = ratios[j] * parts[i];
			printf("| %.0f %% | %.1f %% | %.1f | %.1f | %.0f | %.0f |\n",
			       100 * parts[i], 100 * runs,
			       found_in_parts(1, parts[i], runs, false),
			       found_in_parts(1, parts[i], runs, true),
			       found_in_parts(1.2, parts[i], runs, false),
			       found_in_parts(1.2, parts[i], runs, true));
		}
}

int main(void)
{
	static const double deviations[] = {0.01, 0.02, 0.03, 0.05, 0.07, 0.10, 0.15};

	printf("| runs of the same program differ by | 5 %% | 10 %% | 20 %% | 50 %% | of 5 and 5 runs: 20 %% found | false alarms |\n"
	       "|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < NW_COUNT(deviations); i++) {
		printf("| %.0f %% |", 100 * deviations[i]);
		print_cell(1.05, deviations[i]);
		print_cell(1.10, deviations[i]);
		print_cell(1.20, deviations[i]);
		print_cell(1.50, deviations[i]);
		printf(" %.0f of 100 | %.1f of 100 |\n", found(1.2, deviations[i], 5),
		       found(1, deviations[i], 5));
	}
	print_parts();
	return 0;
}
