/* SPDX-License-Identifier: MIT */
/* What the checks share: how they say what they saw, and whom they blame. */
#ifndef NOPWATCH_WHY_JUDGE_H
#define NOPWATCH_WHY_JUDGE_H

#include "nopwatch/why.h"

struct judge {
	const struct nw_facts *facts;
	struct nw_diagnosis *out;
	struct nw_check *check; /* the one that is being made; NULL: not begun */
	const char *name;
	bool failed; /* out of memory */
};

/* The result of the check and what it saw. A second call adds a sentence; FAIL stays. */
void nw_pass(struct judge *judge, const char *fmt, ...) nw_format(2, 3);
void nw_fails(struct judge *judge, const char *fmt, ...) nw_format(2, 3);
void nw_unknown(struct judge *judge, const char *fmt, ...) nw_format(2, 3);

/* Blame a cause, in one sentence; then what to do about it, a command a call. */
void nw_blame(struct judge *judge, enum nw_cause cause, const char *fmt, ...)
	nw_format(3, 4);
void nw_remedy(struct judge *judge, const char *fmt, ...) nw_format(2, 3);
/* The spec again, on another file (NULL: the same), place (NULL: the same) or process (0: as
 * asked, -1: none), as commands of nopwatch and of bpftrace. */
void nw_remedy_spec(struct judge *judge, const char *path, const char *place, pid_t pid);

/* The same as a command of nopwatch only, where tools that use BPF cannot work. */
void nw_remedy_stat(struct judge *judge, const char *path, const char *place, pid_t pid);
/* The function's entry, which can be probed where its return cannot. */
void nw_remedy_entry(struct judge *judge);
/* A command with a file behind it, and an option or pipe behind that: "nm FILE | grep -w f". */
void nw_remedy_file(struct judge *judge, const char *command, const char *path,
		    const char *rest);

/* The same `nopwatch why` again with one option more; before: what stands in front of it ("sudo "). */
void nw_remedy_again(struct judge *judge, const char *before, const char *option);

/* 1,532 */
void nw_thousands(uint64_t number, char out[32]);
/* "process 4711 (server)"; valid until the next call with the same buffer. */
const char *nw_who(const struct nw_process_facts *process, char out[64]);
/* The directory of the instance that has the event enabled, or of the top level. */
const char *nw_instance_path(const struct nw_foreign_event *event, char *out, size_t room);
bool nw_is_usdt(const struct nw_facts *facts);
/* Does any place of the probe have a semaphore? */
bool nw_has_semaphore(const struct nw_facts *facts);
/* The probe's points, one after the other; NULL: no more. */
const struct nw_point *nw_next_point(const struct nw_facts *facts, size_t *probe,
				     size_t *point);
size_t nw_count_points(const struct nw_facts *facts);
/* The one at a file offset; NULL: there is none. */
const struct nw_point *nw_point_at(const struct nw_facts *facts, uint64_t offset);

/* Is the probe one that programs fire only when told to, and this one was not (src/why/switches.c)? */
bool nw_blame_switch(struct judge *judge);

/* The checks; one file each group. */
void nw_check_kernel(struct judge *judge);
void nw_check_privilege(struct judge *judge);
void nw_check_lockdown(struct judge *judge);
void nw_check_bpf(struct judge *judge);
void nw_check_file(struct judge *judge);
void nw_check_symbol(struct judge *judge);
void nw_check_note(struct judge *judge);
void nw_check_site(struct judge *judge);
void nw_check_arguments(struct judge *judge);
void nw_check_return(struct judge *judge);
void nw_check_process(struct judge *judge);
void nw_check_bits(struct judge *judge);
void nw_check_mapping(struct judge *judge);
void nw_check_text(struct judge *judge);
void nw_check_events(struct judge *judge);
void nw_check_armed(struct judge *judge);
void nw_check_semaphore(struct judge *judge);
void nw_check_hit(struct judge *judge);
void nw_check_recorded(struct judge *judge);
void nw_check_program(struct judge *judge);

bool nw_diagnosis_has(const struct nw_diagnosis *diagnosis, enum nw_cause cause);

#endif
