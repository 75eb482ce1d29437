// SPDX-License-Identifier: MIT
/* Computes rates over the last second from samples of counters. */
#include "rates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	SAMPLES = 12, /* a little more than a second */
	WINDOW_NS = 1000000000
};

struct nw_rates {
	size_t probes;
	uint64_t *counts;			 /* by sample, then by probe */
	uint64_t begun[SAMPLES], ended[SAMPLES]; /* when each was taken */
	size_t samples;				 /* number of samples so far */
};

int nw_rates_open(size_t probes, struct nw_rates **out)
{
	struct nw_rates *rates = calloc(1, sizeof(*rates));

	if (rates)
		rates->counts = calloc(probes + 1, SAMPLES * sizeof(*rates->counts));
	if (!rates || !rates->counts) {
		free(rates);
		return -ENOMEM;
	}
	rates->probes = probes;
	*out = rates;
	return 0;
}

void nw_rates_free(struct nw_rates *rates)
{
	if (rates)
		free(rates->counts);
	free(rates);
}

static uint64_t *counts_of(const struct nw_rates *rates, size_t sample)
{
	return rates->counts + sample % SAMPLES * rates->probes;
}

bool nw_rates_due(const struct nw_rates *rates, uint64_t time)
{
	return !rates->samples ||
	       time >= rates->ended[(rates->samples - 1) % SAMPLES] + NW_RATES_NS;
}

void nw_rates_sample(struct nw_rates *rates, uint64_t begun, uint64_t ended,
		     const uint64_t *counts)
{
	memcpy(counts_of(rates, rates->samples), counts, rates->probes * sizeof(*counts));
	rates->begun[rates->samples % SAMPLES] = begun;
	rates->ended[rates->samples++ % SAMPLES] = ended;
}

/*
 * More hits than `most` within less than a second are too many for the whole second, too. Once there is a sample that
 * is older than a second, the rate since the youngest such sample counts, so that a steady rate just above the limit
 * is seen as well. Nobody knows when between its two times a sample was taken, so the hits of two samples count for the
 * longest time that they can have taken: a rate is never told too high.
 */
bool nw_rates_over(const struct nw_rates *rates, size_t probe, uint64_t most, double *rate)
{
	if (rates->samples < 2)
		return false;
	size_t last = rates->samples - 1,
	       oldest = rates->samples > SAMPLES ? rates->samples - SAMPLES : 0;
	uint64_t now = rates->ended[last % SAMPLES], count = counts_of(rates, last)[probe];

	for (size_t sample = last; sample-- > oldest;) {
		uint64_t before = counts_of(rates, sample)[probe];
		uint64_t hits = count > before ? count - before : 0;
		uint64_t age = now - rates->begun[sample % SAMPLES];
		double per_second = age ? (double)hits * 1e9 / (double)age : 0;
		bool over = age < WINDOW_NS ? hits > most : per_second > (double)most;
		if (over && age) {
			*rate = per_second;
			return true;
		}
		if (age >= WINDOW_NS)
			break;
	}
	return false;
}
