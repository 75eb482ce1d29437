/* SPDX-License-Identifier: MIT */
/* Two threads of our own that wake each other, for hit_cost.c: what they take with the scheduler's events recorded and without
 * tells what one of these costs. */
#ifndef NOPWATCH_RUN_SOURCES_EVENT_COST_H
#define NOPWATCH_RUN_SOURCES_EVENT_COST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Those that happen each round, on every kernel; nw_relay_event_count of them. */
extern const char *const nw_relay_events[];
extern const uint32_t nw_relay_event_count;

enum {
	NW_RELAY_SAMPLES = 40
};

/* Some rounds. */
struct nw_relay_sample {
	uint64_t began, ended; /* CLOCK_MONOTONIC */
	uint32_t events;       /* that were recorded of them */
};

struct nw_relay {
	int there[2], back[2]; /* pipes */
	pthread_t other;
	bool opened, runs;
	int cpu; /* that both run on */
	bool plain,
		recorded; /* it went round before the events were recorded, and while they were */
	struct nw_relay_sample before[NW_RELAY_SAMPLES], with[NW_RELAY_SAMPLES];
	size_t next; /* the first sample that may have the next event */
};

/* Before the events are recorded. That it cannot be had only means that nothing is measured. */
void nw_relay_start(struct nw_relay *relay);
/* Once the events are recorded. */
void nw_relay_again(struct nw_relay *relay);
/* In the order of time. */
void nw_relay_hit(struct nw_relay *relay, uint64_t time);
/* ns of an event; 0: not measured. */
uint32_t nw_relay_cost(const struct nw_relay *relay);
void nw_relay_end(struct nw_relay *relay);

#endif
