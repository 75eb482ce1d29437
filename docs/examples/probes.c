/* SPDX-License-Identifier: MIT */
/* List probes as JSON with libnopwatch, an object a line. Needs no privileges:
 *
 *	probes /usr/lib/postgresql/15/bin/postgres
 *	probes 'func:libc.so.6:mal*' */
#include <stdio.h>

#include <nopwatch/nopwatch.h>

/* Returns 0 to go on, anything else to stop. */
static int print(void *arg, const char *json)
{
	(void)arg;
	return puts(json) == EOF;
}

int main(int argc, char **argv)
{
	struct nopwatch_error *error = NULL;
	int ret = 0;

	for (int i = 1; i < argc && ret == 0; i++)
		ret = nopwatch_list(NULL, argv[i], print, NULL, &error);
	if (ret < 0)
		fprintf(stderr, "probes: %s\n",
			error ? nopwatch_error_text(error) : "out of memory");
	nopwatch_error_free(error);
	return argc < 2 ? 2 : ret == 0 ? 0 : 1;
}
