/* SPDX-License-Identifier: MIT */
/* A run that hands out its events one by one, and the result of any run. Runs need root (CAP_SYS_ADMIN) and tracefs,
 * unless they read a recording. When a run returns, nothing of it is left in the kernel; nopwatch_result_left()
 * names exceptions. While a run with a command goes on, its thread blocks SIGCHLD. */
#ifndef NOPWATCH_RUN_H
#define NOPWATCH_RUN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nopwatch/request.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nopwatch_result;
struct nopwatch_event;

/* Receives an event, which is valid until the function returns. Returns 0 to go on, anything else to end the run. */
typedef int nopwatch_event_fn(void *arg, struct nopwatch_event *event);

/* Runs to the end, and calls event() for each hit in the order of time. *result, which may be NULL, receives the
 * result on success. */
int nopwatch_run(struct nopwatch_request *request, nopwatch_event_fn *event, void *arg,
		 struct nopwatch_result **result, struct nopwatch_error **error);

/* ---- an event */

/* The name of the probe, "app:request__start". */
const char *nopwatch_event_probe(const struct nopwatch_event *event);
uint64_t nopwatch_event_time(const struct nopwatch_event *event);
uint32_t nopwatch_event_cpu(const struct nopwatch_event *event);
pid_t nopwatch_event_pid(const struct nopwatch_event *event);
pid_t nopwatch_event_tid(const struct nopwatch_event *event);
/* The name of the thread. */
const char *nopwatch_event_comm(const struct nopwatch_event *event);
/* The value of an integer argument, sign-extended if it is signed. -ENOENT: the probe has no such argument; -EINVAL:
 * it is no integer; -ENODATA: it could not be fetched. */
int nopwatch_event_number(const struct nopwatch_event *event, const char *argument,
			  uint64_t *value);
/* The event as a JSON object on one line, as `nopwatch trace -j` prints it (docs/json.md), with all arguments and the
 * stack. NULL: no memory. Valid until the callback returns. */
const char *nopwatch_event_json(struct nopwatch_event *event);

/* ---- the result of a run */

enum nopwatch_count {
	NOPWATCH_HITS = 1,   /* hits that were delivered */
	NOPWATCH_LOST,	     /* events that the kernel lost, at least */
	NOPWATCH_FILTERED,   /* hits that the filter dropped */
	NOPWATCH_DROPPED,    /* hits that were counted but not recorded */
	NOPWATCH_INCOMPLETE, /* hits of which some records were lost */
	NOPWATCH_SITES,	     /* places that were armed */
	NOPWATCH_PROBES,     /* probes that were selected */
	NOPWATCH_ELAPSED     /* nanoseconds */
};
/* Returns a number of the result; 0 if the kind is unknown. */
uint64_t nopwatch_result_count(const struct nopwatch_result *result,
			       enum nopwatch_count kind);
/* Why it ended: "duration", "command", "signal" (nopwatch_request_stop(), too), ... (docs/json.md). */
const char *nopwatch_result_reason(const struct nopwatch_result *result);
/* The status of the command from waitpid(); 0 if there was none, or the run ended before it. */
int nopwatch_result_command_status(const struct nopwatch_result *result);
/* Names the changes to the kernel that could not be undone, and why; NULL if nothing is left. `nopwatch clean` tries again. */
const char *nopwatch_result_left(const struct nopwatch_result *result);
/* The name of a probe, 0 to NOPWATCH_PROBES - 1, and its state: "hit", "not-mapped", ... (docs/json.md). NULL: there is
 * no such probe. */
const char *nopwatch_result_probe(const struct nopwatch_result *result, size_t probe);
const char *nopwatch_result_probe_state(const struct nopwatch_result *result, size_t probe);
void nopwatch_result_free(struct nopwatch_result *result);

#ifdef __cplusplus
}
#endif

#endif
