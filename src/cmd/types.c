// SPDX-License-Identifier: MIT
/* What is known of arguments before a note is read: --types, and the tapsets that are here. */
#include <stdlib.h>

#include "cmd.h"

/* Where distributions install them; stap itself lets SYSTEMTAP_TAPSET say another place. */
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
