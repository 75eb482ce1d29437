// SPDX-License-Identifier: MIT
/*
 * Says what it does: every hit of its probes is a JSON line in a file, written in the same
 * critical section, so that the lines have the order of the hits. Arguments of all widths and
 * both signs, strings, globals, constants, and more of them than there are registers.
 *
 *	values FILE THREADS ROUNDS [PAUSE_US]
 */
#define _SDT_HAS_SEMAPHORES 1
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <unistd.h>

#define SEMAPHORE(probe) \
	unsigned short values_##probe##_semaphore __attribute__((section(".probes")))
#define ENABLED(probe) (__atomic_load_n(&values_##probe##_semaphore, __ATOMIC_RELAXED) != 0)

SEMAPHORE(ints);
SEMAPHORE(text);
SEMAPHORE(globals);
SEMAPHORE(many);

unsigned int rounds_done; /* globals, so that a probe has some to show */
short below_zero = -1;
static uint64_t wide = 0x123456789abcdef0u;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *said;
static unsigned int rounds, pause_us;
static uint64_t state;

static uint64_t next_random(void)
{
	state += 0x9e3779b97f4a7c15u;
	uint64_t x = state;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void show_ints(void)
{
	uint64_t r = next_random();
	uint8_t u8 = (uint8_t)r;
	int8_t s8 = (int8_t)(r >> 8);
	uint16_t u16 = (uint16_t)(r >> 16);
	int16_t s16 = (int16_t)(r >> 24);
	uint32_t u32 = (uint32_t)(r >> 32);
	int32_t s32 = (int32_t)(r >> 16);
	uint64_t u64 = r * 3;
	int64_t s64 = (int64_t)(r * 5);

	if (!ENABLED(ints))
		return;
	fprintf(said,
		"{\"probe\":\"ints\",\"args\":[%u,%d,%u,%d,%" PRIu32 ",%" PRId32 ",%" PRIu64
		",%" PRId64 "]}\n",
		u8, s8, u16, s16, u32, s32, u64, s64);
	STAP_PROBE8(values, ints, u8, s8, u16, s16, u32, s32, u64, s64);
}

static void show_text(void)
{
	char text[64];
	unsigned int number = (unsigned int)next_random() % 100000;
	const char *constant = "constant";

	if (!ENABLED(text))
		return;
	snprintf(text, sizeof(text), "number %u", number);
	fprintf(said, "{\"probe\":\"text\",\"args\":[%u,\"%s\",\"%s\"]}\n", number, text,
		constant);
	STAP_PROBE3(values, text, number, text, constant);
}

static void show_globals(void)
{
	wide = next_random();
	below_zero = (short)(wide | 0x8000);
	if (!ENABLED(globals))
		return;
	fprintf(said, "{\"probe\":\"globals\",\"args\":[%u,%d,%" PRIu64 ",42,-7]}\n",
		rounds_done, below_zero, wide);
	STAP_PROBE5(values, globals, rounds_done, below_zero, wide, 42, -7L);
}

static void show_many(void)
{
	uint32_t v[12];

	if (!ENABLED(many))
		return;
	for (int i = 0; i < 12; i++)
		v[i] = (uint32_t)next_random();
	fprintf(said, "{\"probe\":\"many\",\"args\":[%" PRIu32, v[0]);
	for (int i = 1; i < 12; i++)
		fprintf(said, ",%" PRIu32, v[i]);
	fputs("]}\n", said);
	STAP_PROBE12(values, many, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8],
		     v[9], v[10], v[11]);
}

/* For function probes: called once a round. */
__attribute__((noinline)) unsigned int one_round(unsigned int number)
{
	__asm__ volatile("" : "+r"(number));
	pthread_mutex_lock(&lock);
	rounds_done++;
	show_ints();
	show_text();
	show_globals();
	show_many();
	pthread_mutex_unlock(&lock);
	return number + rounds_done;
}

static void *work(void *arg)
{
	for (unsigned int i = 0; i < rounds; i++) {
		one_round(i);
		if (pause_us)
			usleep(pause_us);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread[16];

	if (argc < 4 || argc > 5)
		return 2;
	int threads = atoi(argv[2]);
	said = fopen(argv[1], "w");
	rounds = (unsigned int)atoi(argv[3]);
	pause_us = argc == 5 ? (unsigned int)atoi(argv[4]) : 0;
	if (!said || threads < 1 || threads > 16)
		return 2;
	if (pause_us) /* somebody reads along */
		setvbuf(said, NULL, _IOLBF, 0);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work, NULL) != 0)
			return 1;
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	fprintf(said, "{\"probe\":\"done\",\"args\":[%u]}\n", rounds_done);
	return fclose(said) != 0;
}
