// SPDX-License-Identifier: MIT
/* Loads descriptions of probe arguments: the files of --types, and the installed tapsets. */
#include <stdlib.h>

#include "cmd.h"

/* The directory in which distributions install tapsets; SYSTEMTAP_TAPSET names another, as for stap. */
#define TAPSETS "/usr/share/systemtap/tapset"

int nw_load_types(const struct nw_args *args, struct nw_types *out, struct nw_error *err)
{
	const char *tapsets = getenv("SYSTEMTAP_TAPSET");
	struct nw_types types = {0};
	int ret = 0;

	nw_vec_each (&args->types, path)
		if (ret == 0)
			ret = nw_types_read(&types, *path, err);
	if (ret < 0) {
		nw_types_free(&types);
		return ret;
	}
	if (nw_types_builtin(&types) < 0) {
		nw_types_free(&types);
		return nw_no_memory(err);
	}
	nw_types_find(&types, tapsets ? tapsets : TAPSETS);
	*out = types;
	return 0;
}
