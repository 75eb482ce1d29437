// SPDX-License-Identifier: MIT
/*
 * A fuzz target with an ordinary compiler: every file of the directory named is one test. A
 * crash ends the program; the line before it names the file.
 */
#include <dirent.h>
#include <limits.h>
#include <sys/resource.h>

#include "fuzz.h"

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rbe");
	uint8_t *bytes = NULL;
	size_t room = 0;

	if (!file)
		return NULL;
	*size = 0;
	do {
		room = room ? room * 2 : 4096;
		uint8_t *more = realloc(bytes, room);
		if (!more)
			break;
		bytes = more;
		*size += fread(bytes + *size, 1, room - *size, file);
	} while (*size == room);
	fclose(file);
	return bytes;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* All seeds take a second and some megabytes. Sanitizers map terabytes. */
static void limit(void)
{
	const struct rlimit seconds = {60, 60}, bytes = {1 << 30, 1 << 30};

	setrlimit(RLIMIT_CPU, &seconds);
#ifndef __SANITIZE_ADDRESS__
	setrlimit(RLIMIT_AS, &bytes);
#else
	(void)bytes;
#endif
}

int main(int argc, char **argv)
{
	struct dirent **names;
	int count = argc == 2 ? scandir(argv[1], &names, is_visible, by_name) : -1;

	if (count < 0) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	limit();
	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];
		size_t size = 0;
		snprintf(path, sizeof(path), "%s/%s", argv[1], names[i]->d_name);
		printf("# %s\n", path);
		fflush(stdout);
		uint8_t *bytes = read_file(path, &size);
		if (bytes)
			LLVMFuzzerTestOneInput(bytes, size);
		printf("%s %d - %s\n", bytes ? "ok" : "not ok", i + 1, names[i]->d_name);
		free(bytes);
		free(names[i]);
	}
	free(names);
	return 0;
}
