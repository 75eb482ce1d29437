// SPDX-License-Identifier: MIT
/*
 * power: how many runs a side `report --diff` needs to find a change in at least 95 of 100 comparisons, by how much runs of the same
 * program differ (the deviation of the logarithm), and how many false alarms it has. Made numbers, the same in every run of this program.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "measure/compare.h"

enum {
	TRIALS = 4000,
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
	return 0;
}
