/* SPDX-License-Identifier: MIT */
/* Two threads of our own that wake each other, for hit_cost.c: the time that they take with and without recorded
 * scheduler events tells the cost of an event. */
#ifndef NOPWATCH_RUN_SOURCES_EVENT_COST_H
#define NOPWATCH_RUN_SOURCES_EVENT_COST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The events of each round that every kernel has; nw_relay_event_count of them. */
extern const char *const nw_relay_events[];
extern const uint32_t nw_relay_event_count;

enum {
	NW_RELAY_SAMPLES = 40
};

/* A sample of several rounds. */
struct nw_relay_sample {
	uint64_t began, ended; /* CLOCK_MONOTONIC */
	uint32_t events;       /* recorded events of these rounds */
};

struct nw_relay {
	int there[2], back[2]; /* pipes */
	pthread_t other;
	bool opened, runs;
	int cpu; /* the CPU of both threads */
	/* The samples before the events were recorded, and while they were, are complete. */
	bool plain, recorded;
	struct nw_relay_sample before[NW_RELAY_SAMPLES], with[NW_RELAY_SAMPLES];
	size_t next; /* the first sample that may contain the next event */
};

/* Called before the events are recorded. If it fails, nothing is measured. */
void nw_relay_start(struct nw_relay *relay);
/* Called while the events are recorded. */
void nw_relay_again(struct nw_relay *relay);
/* Takes a hit. Hits must be in the order of time. */
void nw_relay_hit(struct nw_relay *relay, uint64_t time);
/* Returns the cost of an event in ns; 0: not measured. */
uint32_t nw_relay_cost(const struct nw_relay *relay);
void nw_relay_end(struct nw_relay *relay);

#endif
