// SPDX-License-Identifier: MIT
/*
 * Calls through as many libraries as are named, to one function of the program: modules TIMES LIBRARY...
 * TIMES: how often, 0: until it is killed, a hundredth of a second apart. With -DLIBRARY it is such a library; copies of one
 * file are as many libraries.
 */
struct link {
	long (*step)(const struct link *link); /* of the library */
	const struct link *next;
	long (*leaf)(long depth); /* which the last one calls */
	long depth;
};

#ifdef LIBRARY

long step(const struct link *link)
{
	return 1 + (link->next ? link->next->step(link->next) : link->leaf(link->depth));
}

#else

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline, noclone)) long leaf(long depth)
{
	__asm__ volatile("" ::: "memory");
	return depth;
}

int main(int argc, char **argv)
{
	static struct link links[1024];
	const struct timespec pause = {0, 10000000};
	const long times = argc > 2 ? atol(argv[1]) : 1;
	const int count = argc - 2;

	if (count < 1 || count > 1024)
		return 2;
	for (int i = 0; i < count; i++) {
		void *library = dlopen(argv[i + 2], RTLD_NOW | RTLD_LOCAL);
		links[i].step = library ? (long (*)(const struct link *))dlsym(library,
									       "step")
					: NULL;
		links[i].next = i + 1 < count ? &links[i + 1] : NULL;
		links[i].leaf = leaf;
		links[i].depth = count;
		if (!links[i].step) {
			fprintf(stderr, "modules: %s\n", dlerror());
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	for (long i = 0; times == 0 || i < times; i++) {
		if (links[0].step(&links[0]) != 2L * count)
			return 1;
		nanosleep(&pause, NULL);
	}
	return 0;
}

#endif
