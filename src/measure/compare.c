// SPDX-License-Identifier: MIT
/* See measure/compare.h. */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- the distribution of U ---------------------------------------------------------- */

enum {
	MOST_STEPS = 20000000 /* additions for an exact distribution: some 20 ms */
};

static const double TAIL = 0.025;
/* The share for ratios of parts. It is less because a dozen of parts tell the spread of parts only roughly: with 12 and 12 of them, runs
 * that differ as much as their parts do are told apart in 4.5 of 100 comparisons (tests/bench/power.c). */
static const double PARTS_TAIL = 0.01;

/*
 * Counts the arrangements of the ranks 1 .. m + n in which the smaller sample, of m ranks, has the sum m * (m + 1) / 2 + U: ways[U] for
 * each U. A row of `sums` holds the choices of j ranks among those that were offered so far. Only additions of numbers
 * above 0 happen, so doubles stay exact to 15 digits. Returns NULL without memory.
 */
static double *count_arrangements(size_t m, size_t n)
{
	const size_t width = m * n + 1;
	double *sums = calloc((m + 1) * width, sizeof(*sums));

	if (!sums)
		return NULL;
	sums[0] = 1;
	/* The j-th chosen rank exceeds the least possible one, j, by rank - j, which is what it adds to U. */
	for (size_t rank = 1; rank <= m + n; rank++)
		for (size_t j = rank < m ? rank : m; j > 0; j--) {
			const size_t adds = rank - j;
			double *to = &sums[j * width];
			const double *from = &sums[(j - 1) * width];
			for (size_t u = adds; adds <= n && u < width; u++)
				to[u] += from[u - adds];
		}
	for (size_t u = 0; u < width; u++)
		sums[u] = sums[m * width + u];
	return sums;
}

static long exact_rank(size_t m, size_t n)
{
	double *ways = count_arrangements(m, n), all = 0, below = 0;
	long k = 0;

	if (!ways)
		return -1;
	for (size_t u = 0; u <= m * n; u++)
		all += ways[u];
	while ((size_t)k < m * n && (below += ways[k]) <= TAIL * all)
		k++;
	free(ways);
	return k;
}

static long normal_rank(double m, double n)
{
	const double quantile = 1.959963984540054; /* of 97.5 % */
	const double deviation = sqrt(m * n * (m + n + 1) / 12);

	return lround(fmax(0, floor(m * n / 2 + 0.5 - quantile * deviation)));
}

long nw_compare_rank(size_t m, size_t n)
{
	const double less = (double)(m < n ? m : n), all = (double)m + (double)n;

	if (m == 0 || n == 0)
		return 0;
	return all * less * (double)m * (double)n <= MOST_STEPS
		       ? exact_rank(m < n ? m : n, m < n ? n : m)
		       : normal_rank((double)m, (double)n);
}

long nw_compare_parts_rank(size_t m, size_t n)
{
	return (long)(PARTS_TAIL * (double)m * (double)n);
}

/* ---- ratios ------------------------------------------------------------------------- */

static double ratio_of(double after, double before)
{
	if (before > 0)
		return after / before;
	return after > 0 ? INFINITY : 1;
}

/* Returns the k-th smallest number, counted from 0, and reorders them (Hoare's selection). */
static double select_kth(double *item, size_t count, size_t k)
{
	size_t low = 0, high = count - 1;

	while (low < high) {
		const double pivot = item[low + (high - low) / 2];
		size_t i = low, j = high;
		for (;;) {
			while (item[i] < pivot)
				i++;
			while (item[j] > pivot)
				j--;
			if (i >= j)
				break;
			const double other = item[i];
			item[i++] = item[j];
			item[j--] = other;
		}
		/* Behind this loop nothing up to j is above the pivot, and nothing from j + 1 on below it. */
		if (i == j && item[j] > pivot)
			j--;
		if (k <= j)
			high = j;
		else
			low = j + 1;
	}
	return item[k];
}

/* Returns the middle of two ratios on the scale of their logarithms. */
static double middle(double a, double b)
{
	if (a == b)
		return a;
	/* Half of the pairs have nothing before and half of them nothing after: neither sample is above the other. */
	if (a == 0 && isinf(b))
		return 1;
	return sqrt(a) * sqrt(b);
}

int nw_compare(const double *before, size_t m, const double *after, size_t n, size_t k,
	       struct nw_comparison *out)
{
	const size_t count = m * n;
	double *ratios = calloc(count + 1, sizeof(*ratios));

	if (!ratios)
		return -ENOMEM;
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++)
			ratios[i * n + j] = ratio_of(after[j], before[i]);
	*out = (struct nw_comparison){
		.low = select_kth(ratios, count, k - 1),
		.high = select_kth(ratios, count, count - k),
		.estimate = middle(select_kth(ratios, count, (count - 1) / 2),
				   select_kth(ratios, count, count / 2)),
	};
	out->noise = out->low <= 1 && out->high >= 1;
	free(ratios);
	return 0;
}
