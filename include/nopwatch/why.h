/* SPDX-License-Identifier: MIT */
/* Why a probe does not fire. */
#ifndef NOPWATCH_WHY_H
#define NOPWATCH_WHY_H

#include <stddef.h>

#include "nopwatch/request.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nopwatch_answer;

/* Finds out why a probe does not fire: looks at the kernel, the file, the processes of the request; then, unless the
 * answer is known by then or arming could hurt, arms the probe and watches it for the duration of the request (by default 3
 * seconds). Of the request, file, processes, duration, force and notices count. It is an error, too, if something could not be
 * removed from the kernel afterwards: it says what, and `nopwatch clean` tries again. */
int nopwatch_why(struct nopwatch_request *request, const char *spec,
		 struct nopwatch_answer **answer, struct nopwatch_error **error);
/* Explains an error message of bpftrace, perf, SystemTap or trace-cmd. Looks at nothing. */
int nopwatch_why_error(const char *message, struct nopwatch_answer **answer,
		       struct nopwatch_error **error);

/* 1: the probe fires; 0: it does not, and the causes say why; -1: not known. */
int nopwatch_answer_fires(const struct nopwatch_answer *answer);
/* The verdict, a sentence. */
const char *nopwatch_answer_text(const struct nopwatch_answer *answer);
/* Return the number of causes; the fixed word of a cause (docs/why.md); a sentence about it. Cause 0 is the most telling
 * one. */
size_t nopwatch_answer_causes(const struct nopwatch_answer *answer);
const char *nopwatch_answer_cause(const struct nopwatch_answer *answer, size_t cause);
const char *nopwatch_answer_cause_text(const struct nopwatch_answer *answer, size_t cause);
/* Commands that help; NULL behind the last. */
const char *nopwatch_answer_remedy(const struct nopwatch_answer *answer, size_t remedy);
/* All of it as JSON lines, as `nopwatch why -j` prints them. The caller frees. NULL: no memory. */
char *nopwatch_answer_json(const struct nopwatch_answer *answer);
void nopwatch_answer_free(struct nopwatch_answer *answer);

#ifdef __cplusplus
}
#endif

#endif
