// SPDX-License-Identifier: MIT
/*
 * Strings that are hard to read: of many lengths, inside a mapping and at its very end, with and
 * without a NUL, NULL, and pointers to where nothing is. Each hit of edges:text says how long its
 * string is and what is special about it: edges [ROUNDS]. tests/lib/edges knows what is right.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sdt.h>

enum {
	MOST = 10000,
	ROOM = 16384,
};

/* INSIDE: other bytes follow; LAST: the NUL is the last byte of the mapping; ENDLESS: there is
 * none before its end. */
enum kind {
	INSIDE,
	LAST,
	ENDLESS,
	NOWHERE
};

static void show(const char *text, int len, enum kind kind)
{
	DTRACE_PROBE3(edges, text, text, len, kind);
}

static void letters(char *to, int len)
{
	for (int i = 0; i < len; i++)
		to[i] = (char)('a' + i % 26);
}

/* The string of this length whose last byte is the last of the room. */
static void show_at_end(char *room, int len, enum kind kind)
{
	char *at = room + ROOM - len - (kind == LAST);

	memset(room, 0, ROOM);
	letters(at, len);
	show(at, len, kind);
}

static void show_all(char *room, char *behind)
{
	static const int lens[] = {0,	 1,    2,    6,	   7,	 8,    9,    15,
				   16,	 23,   62,   63,   64,	 65,   100,  254,
				   255,	 256,  257,  1000, 4080, 4088, 4090, 4091,
				   4092, 4093, 4094, 4095, 4096, 4097, MOST};
	static char inside[MOST + 64];

	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		memset(inside, '#', sizeof(inside));
		letters(inside + 1, lens[i]);
		inside[lens[i] + 1] = '\0';
		show(inside + 1, lens[i], INSIDE);
		show_at_end(room, lens[i], LAST);
		if (lens[i])
			show_at_end(room, lens[i], ENDLESS);
	}
	show(NULL, -1, NOWHERE);
	show((char *)8, -1, NOWHERE);
	show((char *)0x1234, -1, NOWHERE); /* a number that was taken for a pointer */
	show((char *)0xdeadbeef, -1, NOWHERE);
	show(behind, -1, NOWHERE);
	show(behind + 4090, -1, NOWHERE);
	show((char *)(uintptr_t)0x4141414141414141, -1, NOWHERE);
	show((char *)(uintptr_t)-1, -1, NOWHERE);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	char *room = mmap(NULL, ROOM + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED || mprotect(room, ROOM, PROT_READ | PROT_WRITE) < 0)
		return 1;
	for (int i = 0; i < rounds; i++)
		show_all(room, room + ROOM);
	return 0;
}
