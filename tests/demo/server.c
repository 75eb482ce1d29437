// SPDX-License-Identifier: MIT
/*
 * A server without a network, for trying nopwatch: threads answer requests that they make up
 * themselves, and say what they do through USDT probes of the provider `myserver`:
 *
 *	request__start(id, path)	a string; behind a semaphore, since it costs something
 *	request__done(id, status, bytes)
 *	parse__start(id) parse__done(id)	nested in a request
 *	lookup__start(key)			nested, too
 *	lookup__done(key, found)		three sites: memory, disk, nowhere
 *	cache__evict(key, left)			now and then
 *
 * Without options it runs until it is killed. At its end it prints what it has done, so that
 * what nopwatch counted can be compared.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <time.h>
#include <unistd.h>

#define SEMAPHORE(probe) \
	unsigned short myserver_##probe##_semaphore __attribute__((section(".probes")))
/* A program asks this before it prepares costly arguments. */
#define ENABLED(probe) __builtin_expect(myserver_##probe##_semaphore != 0, 0)

SEMAPHORE(request__start);
SEMAPHORE(request__done);
SEMAPHORE(parse__start);
SEMAPHORE(parse__done);
SEMAPHORE(lookup__start);
SEMAPHORE(lookup__done);
SEMAPHORE(cache__evict);

static volatile sig_atomic_t stopping;
static unsigned int cache_left = 64; /* a global, so that a probe has one to show */

struct worker {
	pthread_t thread;
	unsigned int number;
	uint64_t requests_wanted; /* 0: no limit */
	unsigned int pause_us;
	uint64_t random;
	uint64_t requests, lookups, evictions;
};

static uint64_t next_random(struct worker *worker)
{
	worker->random += 0x9e3779b97f4a7c15u;
	uint64_t x = worker->random;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void work(unsigned int rounds)
{
	for (volatile unsigned int i = 0; i < rounds; i++)
		;
}

static void nap(unsigned int microseconds)
{
	const struct timespec time = {.tv_nsec = microseconds * 1000L};

	nanosleep(&time, NULL);
}

static void evict(struct worker *worker, unsigned int key)
{
	unsigned int left = __atomic_sub_fetch(&cache_left, 1, __ATOMIC_RELAXED);

	worker->evictions++;
	DTRACE_PROBE2(myserver, cache__evict, key, cache_left);
	if (left == 0)
		__atomic_store_n(&cache_left, 64, __ATOMIC_RELAXED);
}

/* Most keys are in memory, some on disk, few nowhere: two humps and a tail. */
static int lookup(struct worker *worker, unsigned int key)
{
	unsigned int luck = (unsigned int)(next_random(worker) % 100);

	worker->lookups++;
	DTRACE_PROBE1(myserver, lookup__start, key);
	if (luck < 80) {
		work(500 + luck * 10);
		DTRACE_PROBE2(myserver, lookup__done, key, 1);
		return 1;
	}
	if (luck < 98) {
		nap(100 + luck);
		evict(worker, key);
		DTRACE_PROBE2(myserver, lookup__done, key, 1);
		return 1;
	}
	nap(1000);
	DTRACE_PROBE2(myserver, lookup__done, key, 0);
	return 0;
}

static void parse(unsigned int id)
{
	DTRACE_PROBE1(myserver, parse__start, id);
	work(200);
	DTRACE_PROBE1(myserver, parse__done, id);
}

static void answer(struct worker *worker)
{
	unsigned int id = worker->number * 1000000 + (unsigned int)worker->requests;
	unsigned int key = (unsigned int)(next_random(worker) % 1000);
	char path[64];

	if (ENABLED(request__start)) {
		snprintf(path, sizeof(path), "/item/%u?user=%u", key, worker->number);
		DTRACE_PROBE2(myserver, request__start, id, path);
	}
	parse(id);
	int found = lookup(worker, key);
	unsigned short status = found ? 200 : 404;
	long bytes = found ? (long)(100 + key * 3) : 0;
	worker->requests++;
	DTRACE_PROBE3(myserver, request__done, id, status, bytes);
}

static void *serve(void *arg)
{
	struct worker *worker = arg;

	while (!stopping &&
	       (!worker->requests_wanted || worker->requests < worker->requests_wanted)) {
		answer(worker);
		if (worker->pause_us)
			nap(worker->pause_us);
	}
	return NULL;
}

static void stop(int number)
{
	(void)number;
	stopping = 1;
}

static int usage(void)
{
	fputs("usage: server [-t THREADS] [-n REQUESTS] [-d SECONDS] [-p PAUSE_US]\n"
	      "  -n: requests per thread; -p: pause between requests\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	unsigned int threads = 2, seconds = 0, pause_us = 200;
	uint64_t requests = 0, totals[3] = {0};
	int option;

	while ((option = getopt(argc, argv, "t:n:d:p:")) != -1) {
		if (option == 't')
			threads = (unsigned int)strtoul(optarg, NULL, 10);
		else if (option == 'n')
			requests = strtoull(optarg, NULL, 10);
		else if (option == 'd')
			seconds = (unsigned int)strtoul(optarg, NULL, 10);
		else if (option == 'p')
			pause_us = (unsigned int)strtoul(optarg, NULL, 10);
		else
			return usage();
	}
	if (optind != argc || threads == 0 || threads > 256)
		return usage();
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	signal(SIGALRM, stop);
	alarm(seconds);

	struct worker *workers = calloc(threads, sizeof(*workers));
	if (!workers)
		return 1;
	for (unsigned int i = 0; i < threads; i++) {
		workers[i] = (struct worker){.number = i + 1,
					     .requests_wanted = requests,
					     .pause_us = pause_us,
					     .random = i};
		if (pthread_create(&workers[i].thread, NULL, serve, &workers[i]) != 0)
			return 1;
	}
	for (unsigned int i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		totals[0] += workers[i].requests;
		totals[1] += workers[i].lookups;
		totals[2] += workers[i].evictions;
	}
	printf("requests %lu lookups %lu evictions %lu\n", (unsigned long)totals[0],
	       (unsigned long)totals[1], (unsigned long)totals[2]);
	free(workers);
	return 0;
}
