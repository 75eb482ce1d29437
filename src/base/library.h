/* SPDX-License-Identifier: MIT */
/*
 * Libraries that few runs need are opened when they are first used. If they were linked in the usual way, every run
 * would load them: capstone alone has 84,000 relocations, which take a millisecond even if it is never called.
 *
 * The Makefile finds the name of the file that the linker would have recorded, the library's SONAME. Where it finds
 * none, and in static programs, the functions are linked, and the same table holds their addresses.
 */
#ifndef NOPWATCH_BASE_LIBRARY_H
#define NOPWATCH_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* One function of a library, and where its address goes. */
struct nw_library_function {
	const char *name;
	size_t offset;	      /* of the pointer in the caller's table */
	void (*linked)(void); /* its address; NULL: look it up */
};

/*
 * Fills table with the addresses of functions. False: the library cannot be opened or lacks one of them. An open
 * library stays open until the process ends; opening it again takes microseconds.
 */
bool nw_library_open(const char *file, const struct nw_library_function *functions,
		     size_t count, void *table);

#endif
