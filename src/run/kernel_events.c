// SPDX-License-Identifier: MIT
/* Kernel events, for the selection of probes, which does not read tracefs itself. */
#include <errno.h>

#include "kernel/tracefs/user_events.h"

#include "run.h"

/* Opens tracefs for the first spec that needs it. */
static int list_names(void *arg, nw_strings *out, struct nw_error *err)
{
	struct nw_tracefs *fs = arg;
	int ret = fs->root < 0 ? nw_tracefs_open(fs, err) : 0;

	return ret < 0 ? ret : nw_tracefs_events(fs, out, err);
}

static int list_fields(void *arg, const char *system, const char *event, nw_named_args *out,
		       struct nw_error *err)
{
	struct nw_buf text = {0};
	int ret = nw_tracefs_format(arg, system, event, &text);

	if (ret < 0)
		nw_fail(err, -ret, "cannot read the format of event %s:%s: %s", system,
			event, nw_strerror(-ret));
	else
		ret = nw_format_fields(nw_buf_str(&text), out, err);
	nw_buf_free(&text);
	return ret < 0 ? nw_error_context(err, "tracepoint:%s:%s", system, event) : 0;
}

static int user_events(void *arg, struct nw_error *err)
{
	return nw_user_events_check(arg, err);
}

struct nw_kernel_events nw_events_of(struct nw_tracefs *fs)
{
	fs->root = -1;
	return (struct nw_kernel_events){.arg = fs,
					 .names = list_names,
					 .user_events = user_events,
					 .fields = list_fields};
}
