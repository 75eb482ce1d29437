/* SPDX-License-Identifier: MIT */
/*
 * run/flight: the flight recorder, which keeps the last seconds only and writes them when a trigger fires.
 *
 * Everything is recorded into a ring buffer that overwrites its oldest events, and nobody reads it. A second, small
 * session of a span's two probes, which is read and counted, sees whether the span took too long; a signal or a
 * command that fails can be the trigger, too. Then the buffer is read, older events are left out, and the rest is a
 * recording of its own, which another process writes while recording continues.
 */
#ifndef NOPWATCH_FLIGHT_H
#define NOPWATCH_FLIGHT_H

#include "nopwatch/engine.h"

/* "SPAN > TIME", "SPAN >= TIME". SPAN is called as summaries call it, with or without its provider, or is one that
 * nw_span_parse() knows. */
struct nw_until {
	char *span;
	uint64_t least_ns;
};

/* A usage error says what is wrong with it. span is the caller's to free. */
int nw_until_parse(const char *text, struct nw_until *out, struct nw_error *err);
/* Does it say where its span begins and ends? */
bool nw_until_has_ends(const struct nw_until *until);

struct nw_flight_options {
	const char *
		path; /* of the first recording; the next are PATH-2, ... (nw_flight_path()) */
	struct nw_until until; /* no span: none */
	const char *
		command; /* /bin/sh runs it every second; a status other than 0 is the condition. NULL: none */
	uint64_t keep_ns; /* what was before is recorded, so long */
	uint64_t times;	  /* recordings; 0: until something else ends the run */
	bool fixed_buffer; /* the ring buffer is not read before it is overwritten, to keep so much */
	bool states; /* record what threads do, too */
	void *arg;
	void (*armed)(void *arg, const struct nw_run_result *so_far); /* or NULL */
	/* What happens, in a sentence: a recording was written, or cannot be; something was not watched. */
	void (*notice)(void *arg, const char *text);
};

struct nw_flight;

/* "slow.dat", "slow-2.dat", ...: the name of that number, from 1. NULL: no memory; the caller frees. */
char *nw_flight_path(const char *path, uint64_t number);
int nw_flight_open(const struct nw_flight_options *options, struct nw_flight **out,
		   struct nw_error *err);
/* For nw_run(), of a request in which snapshots may be set: SIGUSR2 is a condition, too. */
struct nw_consumer nw_flight_consumer(struct nw_flight *flight);
/* Behind nw_run(): write what is not written yet. An error if that cannot be. The result gets what was lost, in recordings and
 * where spans are looked at. */
int nw_flight_finish(struct nw_flight *flight, struct nw_run_result *result,
		     struct nw_error *err);

/* What became of it, so far. */
struct nw_flight_stats {
	uint64_t recordings; /* written */
	uint64_t spans;	     /* of the condition, that were looked at */
	uint64_t lost;	     /* events of these that were not */
	uint64_t
		missed; /* conditions that were met while too many recordings could not be written */
};
struct nw_flight_stats nw_flight_stats(const struct nw_flight *flight);
void nw_flight_free(struct nw_flight *flight);

#endif
