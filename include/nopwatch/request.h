/* SPDX-License-Identifier: MIT */
/*
 * A request: which probes of which processes, for how long. It copies what it is given, and may be used for several
 * runs, one after the other. A request with nothing but probes covers all processes and ends by
 * nopwatch_request_stop() or by what a callback returns.
 */
#ifndef NOPWATCH_REQUEST_H
#define NOPWATCH_REQUEST_H

#include <stdint.h>
#include <sys/types.h>

#include "nopwatch/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nopwatch_request;

/* Returns NULL if there is no memory. */
struct nopwatch_request *nopwatch_request_new(void);
void nopwatch_request_free(struct nopwatch_request *request);

/* Adds a probe: a SPEC as on the command line, "usdt:./server:app:request__*(id, bytes:u32)". */
int nopwatch_request_add_probe(struct nopwatch_request *request, const char *spec,
			       struct nopwatch_error **error);
/* Adds a span between two probes, as --span has it. If a request has spans and no probes, it uses the spans' probes. */
int nopwatch_request_add_span(struct nopwatch_request *request, const char *span,
			      struct nopwatch_error **error);
/* Adds a target process, by its number in the caller's PID namespace. */
int nopwatch_request_add_pid(struct nopwatch_request *request, pid_t pid,
			     struct nopwatch_error **error);
/* Adds a file that describes the arguments of probes, as --types has it. Known descriptions are used anyway. */
int nopwatch_request_add_types(struct nopwatch_request *request, const char *path,
			       struct nopwatch_error **error);
/* Fetches the callers of probes whose names match the glob ("": all probes). */
int nopwatch_request_add_stack(struct nopwatch_request *request, const char *pattern,
			       struct nopwatch_error **error);
/* Sets the file of probes whose SPEC names none. */
int nopwatch_request_set_file(struct nopwatch_request *request, const char *path,
			      struct nopwatch_error **error);
/* Sets a command that is started once all probes are armed; the run ends with it. argv ends with NULL. */
int nopwatch_request_set_command(struct nopwatch_request *request, const char *const *argv,
				 struct nopwatch_error **error);
/* Drops hits for which the condition is false, as --filter does. A mistake in it is an error of the run. */
int nopwatch_request_set_filter(struct nopwatch_request *request, const char *condition,
				struct nopwatch_error **error);

/* Limits. 0, which is how they begin, means: no limit for the first two, and the default size for the others. */
enum nopwatch_limit {
	NOPWATCH_DURATION = 1, /* nanoseconds from the time when all probes are armed */
	NOPWATCH_MAX_RATE, /* hits per second and probe; above it, the probe is disabled */
	NOPWATCH_BUFFER_SIZE, /* bytes of ring buffer per CPU */
	NOPWATCH_STRING_SIZE, /* bytes to fetch of a string argument */
	NOPWATCH_STACK_SIZE   /* bytes to fetch of a stack */
};
/* Fails with EINVAL if the limit is unknown or the value too large. */
int nopwatch_request_set_limit(struct nopwatch_request *request, enum nopwatch_limit limit,
			       uint64_t value, struct nopwatch_error **error);

/* Flags, to be or-ed together. */
enum nopwatch_flag {
	NOPWATCH_FOLLOW = 1, /* descendants of the target processes count, too */
	NOPWATCH_ALL =
		2, /* all processes count; PIDs and command only tell where probes are and when to end */
	NOPWATCH_FORCE = 4, /* arm probes that are known to be dangerous */
	NOPWATCH_SIGNALS =
		8, /* SIGINT, SIGTERM and SIGHUP end the run, and stay blocked afterwards */
	NOPWATCH_VERBOSE = 16 /* more notices */
};
/* Sets all flags. Fails with EINVAL if one is unknown. */
int nopwatch_request_set_flags(struct nopwatch_request *request, unsigned int flags,
			       struct nopwatch_error **error);

/* Sets a function that receives lines for the user: a probe was not armed, was disabled, ... NULL: none. */
typedef void nopwatch_notice_fn(void *arg, const char *text);
void nopwatch_request_set_notice(struct nopwatch_request *request,
				 nopwatch_notice_fn *notice, void *arg);

/*
 * Ends the live run that uses the request, within a fifth of a second, as if its time were over. A call before the run ends the
 * next run as soon as it begins. May be called by any thread and by signal handlers.
 */
void nopwatch_request_stop(struct nopwatch_request *request);

#ifdef __cplusplus
}
#endif

#endif
