// SPDX-License-Identifier: MIT
/* Libraries that are opened when they are needed; see library.h. */
#include "library.h"

#include <string.h>
#ifndef NW_STATIC
#include <dlfcn.h>
#endif

#ifndef NW_STATIC
/* The library is never closed, because its addresses are used until the process ends. */
static void *open_file(const char *file)
{
	return dlopen(file, RTLD_LAZY | RTLD_LOCAL);
}

static void *find(void *library, const char *name)
{
	return dlsym(library, name);
}
#else
/* A static program has every library linked: nothing is opened. */
static void *open_file(const char *file)
{
	(void)file;
	return NULL;
}

static void *find(void *library, const char *name)
{
	(void)library;
	(void)name;
	return NULL;
}
#endif

bool nw_library_open(const char *file, const struct nw_library_function *functions,
		     size_t count, void *table)
{
	void *library = NULL;

	for (size_t i = 0; i < count; i++) {
		void *address;
		memcpy(&address, &functions[i].linked, sizeof(address));
		if (!address && !library && !(library = open_file(file)))
			return false;
		if (!address && !(address = find(library, functions[i].name)))
			return false;
		memcpy((char *)table + functions[i].offset, &address, sizeof(address));
	}
	return true;
}
