/* SPDX-License-Identifier: MIT */
/*
 * Libraries that few runs need, opened when they are first asked for. Linked in the usual way they would be loaded
 * into every run: capstone alone has 84,000 relocations, which take a millisecond, whether or not it is called.
 *
 * The Makefile finds out which file that is: what the linker would have written down, the library's SONAME. Where it
 * does not, and in static programs, the functions are linked, and the same table has their addresses.
 */
#ifndef NOPWATCH_BASE_LIBRARY_H
#define NOPWATCH_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* A function of a library, and where its address goes. */
struct nw_library_function {
	const char *name;
	size_t offset;	      /* of the pointer in the caller's table */
	void (*linked)(void); /* its address; NULL: look it up */
};

/*
 * Fill table with the addresses of functions. False: one has to be looked up, and the library cannot be opened or lacks
 * it. An open library stays open until the process ends; to open it again takes microseconds.
 */
bool nw_library_open(const char *file, const struct nw_library_function *functions,
		     size_t count, void *table);

#endif
