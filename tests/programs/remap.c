// SPDX-License-Identifier: MIT
/*
 * remap COUNT LIBRARY OTHER: loads LIBRARY (of chain.cc) and calls begin() of it, then reads a line, maps this program's
 * first page as code COUNT times, loads OTHER in the place of LIBRARY and calls begin() of that; reads a line, and calls it once
 * more. Prints after each step where begin() was.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef long begin_fn(long depth, long number, unsigned int sleep);

static void call(begin_fn *begin, long number)
{
	begin(3, number, 0);
	printf("%p\n", (void *)(unsigned long)begin);
	fflush(stdout);
}

static begin_fn *load(const char *path, void **library)
{
	begin_fn *begin = NULL;

	*library = dlopen(path, RTLD_NOW);
	if (*library)
		*(void **)&begin = dlsym(*library, "_Z5beginllj");
	if (!begin)
		exit(1);
	return begin;
}

int main(int argc, char **argv)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *library;

	if (argc != 4 || self < 0)
		return 2;
	call(load(argv[2], &library), 1);
	getchar();
	for (long i = atol(argv[1]); i > 0; i--) {
		void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, self, 0);
		if (page == MAP_FAILED || munmap(page, 4096) != 0)
			return 1;
	}
	dlclose(library);
	begin_fn *begin = load(argv[3], &library);
	call(begin, 2);
	getchar();
	call(begin, 3);
	return 0;
}
