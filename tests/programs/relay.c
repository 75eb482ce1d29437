// SPDX-License-Identifier: MIT
/*
 * A program that hands requests on: relay REQUESTS WORKERS US. One thread begins them (relay:begin(7, id, slot)) and puts them
 * into a pipe, one every US microseconds, and one of the WORKERS ends each (relay:end(id, slot, status)). A slot is used again
 * as soon as its request is over; the numbers of requests are not.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <unistd.h>

enum {
	SLOTS = 64
};

struct request {
	long id, slot;
};

static int queue[2];
static long us;
static atomic_bool busy[SLOTS];

static void *work(void *arg)
{
	struct request request;

	(void)arg;
	while (read(queue[0], &request, sizeof(request)) == (ssize_t)sizeof(request)) {
		usleep((useconds_t)us * 2);
		atomic_store(&busy[request.slot], 0);
		STAP_PROBE3(relay, end, request.id, request.slot, request.id % 3);
	}
	return NULL;
}

static long free_slot(void)
{
	for (long slot = 0;; slot = (slot + 1) % SLOTS)
		if (!atomic_exchange(&busy[slot], 1))
			return slot;
}

int main(int argc, char **argv)
{
	const long requests = argc > 3 ? atol(argv[1]) : 0,
		   workers = requests ? atol(argv[2]) : 0;
	pthread_t thread[64];

	if (!requests || workers < 1 || workers > 64 || pipe(queue) < 0)
		return 2;
	us = atol(argv[3]);
	for (long i = 0; i < workers; i++)
		if (pthread_create(&thread[i], NULL, work, NULL) != 0)
			return 1;
	for (long id = 1000; id < 1000 + requests; id++) {
		struct request request = {id, free_slot()};
		STAP_PROBE3(relay, begin, 7, request.id, request.slot);
		if (write(queue[1], &request, sizeof(request)) != (ssize_t)sizeof(request))
			return 1;
		usleep((useconds_t)us);
	}
	close(queue[1]);
	for (long i = 0; i < workers; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
