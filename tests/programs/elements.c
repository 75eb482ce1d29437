// SPDX-License-Identifier: MIT
/*
 * USDT probes whose arguments are elements of arrays, at base + index * scale:
 *
 *    elements ROUNDS [THREADS [PAUSE]]      PAUSE: microseconds between two rounds
 *
 * Each thread has tables of its own, of TABLE elements. The index goes through them, in ROUNDS rounds. In each:
 *
 *    elements:at(element, INDEX, THREAD)   at two sites, the second one with other operands; element = INDEX * 64 + THREAD - 100000
 *
 * and in every fifth one, the first among them:
 *
 *    elements:sizes(s8, u8, s16, u16, s32, u32, INDEX), elements:sizes8(s64, u64, f32, f64, INDEX)   each element is INDEX * -2654435761 of its size, but for
 *                                          floating-point: INDEX * 0.5
 *    elements:text(TEXT, INDEX, THREAD, PLAIN)   TEXT: what a pointer in a table points at, "text INDEX of THREAD"; PLAIN: "plain"
 *    elements:back(element, INDEX)         the index is negative: -1 - INDEX, from the end of the table on
 *
 * Then the first thread fires elements:wild(element, TEXT) with a base that is NULL, at a page that cannot be read, at a page that was
 * never used, and with an element that is a NULL pointer; and last elements:at once more, with index 1.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	TABLE = 5000
};

struct tables {
	long thread;
	int ints[TABLE];
	int8_t bytes[TABLE];
	int16_t shorts[TABLE];
	int32_t words[TABLE];
	int64_t longs[TABLE];
	float floats[TABLE];
	double doubles[TABLE];
	char *texts[TABLE];
	char text[TABLE][24];
};

#if defined(__x86_64__) || defined(__i386__)
#ifdef __x86_64__
#define REG(name) "%%r" name
#define WORD	  ".8byte "
#define SIZE	  "8"
#define SCALE	  8, 3
#else
#define REG(name) "%%e" name
#define WORD	  ".4byte "
#define SIZE	  "4"
#define SCALE	  4, 2
#endif
#define ELEMENT_(base, scale, shift) "(" REG(base) "," REG("bx") "," #scale ")"
/* the element in front of the index */
#define BEFORE "-4(" REG("ax") "," REG("bx") ",4)"
#define INPUTS "a"(a), "b"(index), "c"(c), "d"(d)
#define LOCALS
#elif defined(__aarch64__)
#define REG(name)		     REG_##name
#define WORD			     ".8byte "
#define SIZE			     "8"
#define SCALE			     8, 3
#define ELEMENT_(base, scale, shift) "[" base ", x10, lsl " #shift "]"
#define BEFORE			     "[x9, x10, lsl 2]"
#define INPUTS			     "r"(in_a), "r"(in_b), "r"(in_c), "r"(in_d)
#define LOCALS                                          \
	register const void *in_a __asm__("x9") = (a);  \
	register long in_b __asm__("x10") = (index);    \
	register const void *in_c __asm__("x11") = (c); \
	register const void *in_d __asm__("x12") = (d);
#endif
#define ELEMENT(base, ...) ELEMENT_(base, __VA_ARGS__)

#ifdef LOCALS
#ifdef __aarch64__
#define A	    "x9"
#define C	    "x11"
#define D	    "x12"
#define INDEX	    SIZE "@x10"
#define PLAIN(base) SIZE "@" base
#else
#define A	    "ax"
#define C	    "cx"
#define D	    "dx"
#define INDEX	    "-" SIZE "@" REG("bx")
#define PLAIN(base) SIZE "@" REG(base)
#endif

/* Fires a probe with these operands, while the registers hold these words. */
#define FIRE(name, operands, a_, index_, c_, d_)                               \
	do {                                                                   \
		const void *a = (a_), *c = (c_), *d = (d_);                    \
		const long index = (index_);                                   \
		LOCALS                                                         \
		__asm__ volatile("990: nop\n"                                  \
				 ".pushsection .note.stapsdt,\"\",\"note\"\n"  \
				 ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
				 "991: .asciz \"stapsdt\"\n992: .balign 4\n"   \
				 "993: " WORD "990b, 0, 0\n"                   \
				 ".asciz \"elements\"\n.asciz \"" name "\"\n"  \
				 ".asciz \"" operands "\"\n"                   \
				 "994: .balign 4\n.popsection\n"               \
				 :                                             \
				 : INPUTS                                      \
				 : "memory");                                  \
	} while (0)

static void fill(struct tables *t)
{
	for (long i = 0; i < TABLE; i++) {
		const int64_t value = i * -2654435761LL;
		t->ints[i] = (int)(i * 64 + t->thread - 100000);
		t->bytes[i] = (int8_t)value;
		t->shorts[i] = (int16_t)value;
		t->words[i] = (int32_t)value;
		t->longs[i] = value;
		t->floats[i] = (float)i * 0.5F;
		t->doubles[i] = (double)i * 0.5;
		snprintf(t->text[i], sizeof(t->text[i]), "text %ld of %ld", i, t->thread);
		t->texts[i] = t->text[i];
	}
}

static long rounds;
static useconds_t pause_us;

static void *run(void *arg)
{
	struct tables *t = arg;
	const void *thread = (const void *)t->thread;

	fill(t);
	for (long round = 0; round < rounds; round++) {
		const long i = round % TABLE;
		if (pause_us)
			usleep(pause_us);
		FIRE("at", "-4@" ELEMENT(A, 4, 2) " " INDEX " " PLAIN(C), t->ints, i,
		     thread, NULL);
		FIRE("at", "-4@" ELEMENT(D, 4, 2) " " INDEX " " PLAIN(C), NULL, i, thread,
		     t->ints);
		if (round % 5)
			continue;
		FIRE("sizes",
		     "-1@" ELEMENT(A, 1, 0) " 1@" ELEMENT(A, 1, 0) " -2@" ELEMENT(
			     C, 2,
			     1) " 2@" ELEMENT(C, 2,
					      1) " -4@" ELEMENT(D, 4,
								2) " 4@" ELEMENT(D, 4,
										 2) " " INDEX,
		     t->bytes, i, t->shorts, t->words);
		FIRE("sizes8",
		     "-8@" ELEMENT(A, 8, 3) " 8@" ELEMENT(A, 8, 3) " 4f@" ELEMENT(
			     C, 4, 2) " 8f@" ELEMENT(D, 8, 3) " " INDEX,
		     t->longs, i, t->floats, t->doubles);
		FIRE("text", SIZE "@" ELEMENT(A, SCALE) " " INDEX " " PLAIN(C) " " PLAIN(D),
		     t->texts, i, thread, "plain");
		FIRE("back", "-4@" ELEMENT(A, 4, 2) " " INDEX, t->ints + TABLE, -1 - i,
		     NULL, NULL);
#ifndef __aarch64__
		FIRE("before", "-4@" BEFORE " " INDEX " " PLAIN(C), t->ints, i + 1, thread,
		     NULL);
#endif
	}
	return NULL;
}

#define WILD(base, index)                                                                \
	FIRE("wild", "-4@" ELEMENT(A, 4, 2) " " SIZE "@" ELEMENT(A, SCALE), base, index, \
	     NULL, NULL)

int main(int argc, char **argv)
{
	static void *none[2];
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const int threads = argc > 2 ? atoi(argv[2]) : 1;
	struct tables *tables = calloc((size_t)threads, sizeof(*tables));
	pthread_t others[16];

	rounds = argc > 1 ? atol(argv[1]) : 10;
	pause_us = argc > 3 ? (useconds_t)atol(argv[3]) : 0;
	if (!tables || threads < 1 || threads > 16)
		return 1;
	for (int i = 1; i < threads; i++) {
		tables[i].thread = i;
		if (pthread_create(&others[i], NULL, run, &tables[i]) != 0)
			return 1;
	}
	run(&tables[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	char *barred = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *unused = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	WILD(NULL, 3);
	WILD(barred, 4);
	WILD(unused, 5);
	WILD(none, 1);
	FIRE("at", "-4@" ELEMENT(A, 4, 2) " " INDEX " " PLAIN(C), tables[0].ints, 1L, NULL,
	     NULL);
	return 0;
}
#else
int main(void)
{
	fprintf(stderr, "elements: not written for this architecture\n");
	return 1;
}
#endif
