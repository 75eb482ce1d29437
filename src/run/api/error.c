// SPDX-License-Identifier: MIT
/* Errors of the library, and what it is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

struct nopwatch_error {
	struct nw_error error;
};

/* Stands for an error for which there was no memory. */
static const struct nopwatch_error no_memory = {{.code = ENOMEM, .what = "out of memory"}};

const char *nopwatch_version(void)
{
	return NOPWATCH_VERSION;
}

int nw_api_done(int ret, const struct nw_error *err, struct nopwatch_error **out)
{
	if (ret >= 0 || !out)
		return ret;
	struct nopwatch_error *copy = malloc(sizeof(*copy));
	if (copy)
		copy->error = *err;
	*out = copy ? copy : (struct nopwatch_error *)(uintptr_t)&no_memory;
	return ret; /* cppcheck-suppress memleak ; it is the caller's */
}

int nw_api_copy(const char *text, char **out, struct nw_error *err)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return nw_no_memory(err);
	free(*out);
	*out = copy;
	return 0;
}

int nopwatch_error_code(const struct nopwatch_error *error)
{
	return error->error.code;
}

const char *nopwatch_error_text(const struct nopwatch_error *error)
{
	return error->error.what;
}

const char *nopwatch_error_hint(const struct nopwatch_error *error)
{
	return error->error.hint;
}

void nopwatch_error_free(struct nopwatch_error *error)
{
	if (error != &no_memory)
		free(error);
}
