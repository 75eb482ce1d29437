/* SPDX-License-Identifier: MIT */
/*
 * run/flight: the flight recorder, which keeps the last seconds only and writes them when a trigger fires.
 *
 * The recorder's session writes to a ring buffer that overwrites its oldest events, and nobody reads it. A second, small session
 * with a span's two probes, which is read, finds spans that take too long; a signal or a command that fails can be
 * the trigger, too. Then the buffer is read, older events are left out, and the rest becomes a recording, which
 * another process writes while recording continues.
 */
#ifndef NOPWATCH_RUN_FLIGHT_FLIGHT_H
#define NOPWATCH_RUN_FLIGHT_FLIGHT_H

#include "run/engine.h"

/* "SPAN > TIME" or "SPAN >= TIME". SPAN has the name of a span in summaries, with or without its provider, or is a
 * definition for nw_span_parse(). */
struct nw_until {
	char *span;
	uint64_t least_ns;
};

/* Parses the condition. A mistake is a usage error. The caller frees `span`. */
int nw_until_parse(const char *text, struct nw_until *out, struct nw_error *err);
/* Does the condition define where its span begins and ends? */
bool nw_until_has_ends(const struct nw_until *until);

struct nw_flight_options {
	/* Path of the first recording; the next ones are PATH-2, ... (nw_flight_path()). */
	const char *path;
	struct nw_until until; /* without a span: none */
	/* A command that /bin/sh runs every second; a status other than 0 is the trigger. NULL: none. */
	const char *command;
	uint64_t keep_ns; /* time to record before a trigger */
	uint64_t times;	  /* number of recordings; 0: no limit */
	/* The user has chosen the size of the buffer, so it is not read early to keep more */
	bool fixed_buffer;
	bool states; /* also record thread states */
	void *arg;
	void (*armed)(void *arg, const struct nw_run_result *so_far); /* or NULL */
	/* Called with a sentence: a recording was written, or cannot be written; something was not watched. */
	void (*notice)(void *arg, const char *text);
};

struct nw_flight;

/* Returns the name of a recording by its number, from 1 on: "slow.dat", "slow-2.dat", ... NULL: no memory. The caller
 * frees it. */
char *nw_flight_path(const char *path, uint64_t number);
int nw_flight_open(const struct nw_flight_options *options, struct nw_flight **out,
		   struct nw_error *err);
/* Returns the consumer for nw_run(). If the request sets `snapshots`, SIGUSR2 is a trigger, too. */
struct nw_consumer nw_flight_consumer(struct nw_flight *flight);
/* Called after nw_run(): writes the remaining recordings. Returns an error if that is impossible. The result gets the
 * lost events, of recordings and of the watched spans. */
int nw_flight_finish(struct nw_flight *flight, struct nw_run_result *result,
		     struct nw_error *err);

/* Statistics so far. */
struct nw_flight_stats {
	uint64_t recordings; /* recordings that were written */
	uint64_t spans;	     /* spans of the condition that were checked */
	/* How long the longest of them took; 0: it is unknown, since the kernel has paired them. */
	uint64_t longest_ns;
	uint64_t lost; /* lost events of these spans */
	/* Triggers that came while too many recordings could not be written. */
	uint64_t missed;
};
struct nw_flight_stats nw_flight_stats(const struct nw_flight *flight);
void nw_flight_free(struct nw_flight *flight);

#endif
