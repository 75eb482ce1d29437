// SPDX-License-Identifier: MIT
/*
 * Measures the cost of a scheduler event for the thread in which it is recorded. Two threads on one CPU wake each
 * other through pipes: each round has two switches, and one or two wake-ups (none if the reader was not asleep yet).
 * The rounds take longer while these events are recorded; the difference is their cost. As in hit_cost.c, the
 * shortest sample counts, because other load only makes it longer.
 */
#include "event_cost.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nopwatch/base.h"

enum {
	ROUNDS = 8, /* per sample: short samples are less often disturbed */
	LEAST_NS = 20,
	MOST_NS = 20000
};

const char *const nw_relay_events[] = {"sched_switch", "sched_wakeup"};
const uint32_t nw_relay_event_count = NW_COUNT(nw_relay_events);

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool pass(int from, int to)
{
	char byte;
	ssize_t ret;

	while ((ret = read(from, &byte, 1)) < 0 && errno == EINTR)
		;
	return ret == 1 && write(to, &byte, 1) == 1;
}

/* Runs in the other thread, until the pipe that it reads has no writer any more. */
static void *pass_back(void *arg)
{
	struct nw_relay *relay = arg;

	while (pass(relay->there[0], relay->back[1]))
		;
	/* the reader of the answers then reads the end of the pipe */
	close(relay->back[1]);
	return NULL;
}

static bool run_there(int cpu, cpu_set_t *before)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	return sched_getaffinity(0, sizeof(*before), before) == 0 &&
	       sched_setaffinity(0, sizeof(one), &one) == 0;
}

/* Returns false if the other thread does not answer. */
static bool run_samples(struct nw_relay *relay, struct nw_relay_sample *samples)
{
	for (size_t i = 0; i < NW_RELAY_SAMPLES; i++) {
		samples[i].began = now_ns();
		for (size_t j = 0; j < ROUNDS; j++)
			if (write(relay->there[1], "", 1) != 1 ||
			    read(relay->back[0], &(char){0}, 1) != 1)
				return false;
		samples[i].ended = now_ns();
	}
	return true;
}

static const struct nw_relay_sample *shortest(const struct nw_relay_sample *samples)
{
	const struct nw_relay_sample *least = samples;

	for (size_t i = 1; i < NW_RELAY_SAMPLES; i++)
		if (samples[i].ended - samples[i].began < least->ended - least->began)
			least = &samples[i];
	return least;
}

static bool open_pipes(struct nw_relay *relay)
{
	if (pipe2(relay->there, O_CLOEXEC) < 0)
		return false;
	if (pipe2(relay->back, O_CLOEXEC) == 0)
		return true;
	close(relay->there[0]);
	close(relay->there[1]);
	return false;
}

void nw_relay_start(struct nw_relay *relay)
{
	cpu_set_t before;

	*relay = (struct nw_relay){.cpu = sched_getcpu()};
	relay->opened = relay->cpu >= 0 && relay->cpu < CPU_SETSIZE && open_pipes(relay);
	if (!relay->opened || !run_there(relay->cpu, &before))
		return;
	/* The new thread inherits this CPU from us. */
	relay->runs = pthread_create(&relay->other, NULL, pass_back, relay) == 0;
	relay->plain = relay->runs && run_samples(relay, relay->before);
	sched_setaffinity(0, sizeof(before), &before);
}

void nw_relay_again(struct nw_relay *relay)
{
	cpu_set_t before;

	if (!relay->plain || !run_there(relay->cpu, &before))
		return;
	relay->recorded = run_samples(relay, relay->with);
	sched_setaffinity(0, sizeof(before), &before);
}

void nw_relay_hit(struct nw_relay *relay, uint64_t time)
{
	while (relay->next < NW_RELAY_SAMPLES && relay->with[relay->next].ended < time)
		relay->next++;
	if (relay->next < NW_RELAY_SAMPLES && relay->with[relay->next].began <= time)
		relay->with[relay->next].events++;
}

uint32_t nw_relay_cost(const struct nw_relay *relay)
{
	if (!relay->recorded)
		return 0;
	const struct nw_relay_sample *with = shortest(relay->with);
	const struct nw_relay_sample *before = shortest(relay->before);
	uint64_t plain = before->ended - before->began, all = with->ended - with->began;
	/* With fewer than two switches per round, the two threads do not run on one CPU. */
	if (with->events < 2 * ROUNDS || all <= plain)
		return 0;
	uint64_t cost = (all - plain) / with->events;
	return cost >= LEAST_NS && cost <= MOST_NS ? (uint32_t)cost : 0;
}

void nw_relay_end(struct nw_relay *relay)
{
	if (!relay->opened)
		return;
	close(relay->there[1]); /* ends the other thread */
	if (relay->runs)
		pthread_join(relay->other, NULL);
	else
		close(relay->back[1]);
	close(relay->there[0]);
	close(relay->back[0]);
	relay->opened = relay->runs = false;
}
