/* SPDX-License-Identifier: MIT */
/*
 * Compares two samples of numbers by their ranks, without an assumption about how the numbers are distributed. Pure: numbers in,
 * numbers out.
 *
 * The test is Mann and Whitney's (1947): U counts the pairs of one number of each sample in which the second one is less.
 * The shift and its interval are Hodges and Lehmann's (1963) and Moses's (1953), as in Hollander, Wolfe and Chicken,
 * "Nonparametric Statistical Methods", sections 4.1 to 4.3: the estimate is the median of all m * n differences, and the interval
 * goes from the k-th smallest to the k-th largest of them, where k is the largest number with P(U < k) <= 2.5 %. Here, the numbers are
 * logarithms of latencies or rates, so differences are ratios, and the order of the ratios is all that is needed.
 *
 * Ties: the interval includes its ends, and then covers 95 % or more also if numbers are equal (section 4.3, comment on discrete
 * populations), so many equal numbers make it wider than it has to be, not too narrow.
 */
#ifndef NOPWATCH_MEASURE_COMPARE_H
#define NOPWATCH_MEASURE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Where the numbers are of parts of one run instead, no interval of their median says how runs differ: a run does not differ from another by
 * less if it is cut into more parts. Parts then stand for runs, and the interval holds 98 % of the ratios of a part after to a part before
 * (nw_compare_parts_rank()): it does not shrink with their number. docs/dev/decisions/0041-parts-of-a-run-stand-for-runs.md has the figures.
 */

/* All of these are ratios of a number after to one before. */
struct nw_comparison {
	double estimate; /* Hodges and Lehmann's */
	/* The interval of 95 %. high is INFINITY if there is no upper end, because some numbers before are 0. */
	double low, high;
	bool noise; /* the interval includes 1: no change */
};

/*
 * Returns the k of the interval of 95 % for samples of m and n numbers; 0: they are too few, whatever their values are. The
 * distribution of U is counted exactly, for large samples it is the normal one with a correction for continuity. -1: no memory.
 */
long nw_compare_rank(size_t m, size_t n);
/* Returns the k of the interval that leaves out 1 % of the ratios on either side; 0: they are too few. */
long nw_compare_parts_rank(size_t m, size_t n);
/*
 * Compares two samples of finite numbers that are not negative. k: one of the two ranks of their sizes, above 0. Two numbers that are 0 have
 * the ratio 1. Returns 0 or -ENOMEM.
 */
int nw_compare(const double *before, size_t m, const double *after, size_t n, size_t k,
	       struct nw_comparison *out);

#endif
