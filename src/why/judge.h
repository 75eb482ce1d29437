/* SPDX-License-Identifier: MIT */
/* Shared by all checks: how a check says what it saw, and which cause it blames. */
#ifndef NOPWATCH_WHY_JUDGE_H
#define NOPWATCH_WHY_JUDGE_H

#include "why/why.h"

struct judge {
	const struct nw_facts *facts;
	struct nw_diagnosis *out;
	struct nw_check *check; /* the check that runs; NULL: none has begun */
	const char *name;
	bool failed; /* out of memory */
};

/* Sets the result of the check and what it saw. A second call adds a sentence; a FAIL stays. */
void nw_pass(struct judge *judge, const char *fmt, ...) nw_format(2, 3);
void nw_fails(struct judge *judge, const char *fmt, ...) nw_format(2, 3);
void nw_unknown(struct judge *judge, const char *fmt, ...) nw_format(2, 3);

/* Blames a cause, in one sentence. Then each call adds a command that helps. */
void nw_blame(struct judge *judge, enum nw_cause cause, const char *fmt, ...)
	nw_format(3, 4);
void nw_remedy(struct judge *judge, const char *fmt, ...) nw_format(2, 3);
/* Offers the spec again with another file (NULL: the same), place (NULL: the same) or process (0: the one that was
 * asked for, -1: none), as commands of nopwatch and of bpftrace. */
void nw_remedy_spec(struct judge *judge, const char *path, const char *place, pid_t pid);

/* The same as a command of nopwatch only, for cases in which BPF tools cannot work. */
void nw_remedy_stat(struct judge *judge, const char *path, const char *place, pid_t pid);
/* Offers the function's entry, which can be probed where its return cannot. */
void nw_remedy_entry(struct judge *judge);
/* Offers a command with a file, and an option or pipe after it: "nm FILE | grep -w f". */
void nw_remedy_file(struct judge *judge, const char *command, const char *path,
		    const char *rest);

/* Offers the same `nopwatch why` with one more option; before: the text in front of it ("sudo "). */
void nw_remedy_again(struct judge *judge, const char *before, const char *option);

/* Writes a number with thousands separators: 1,532. */
void nw_thousands(uint64_t number, char out[32]);
/* Returns "process 4711 (server)"; valid until the next call with the same buffer. */
const char *nw_who(const struct nw_process_facts *process, char out[64]);
/* Returns the directory of the instance that has the event enabled, or of the top level. */
const char *nw_instance_path(const struct nw_foreign_event *event, char *out, size_t room);
bool nw_is_usdt(const struct nw_facts *facts);
/* Does any place of the probe have a semaphore? */
bool nw_has_semaphore(const struct nw_facts *facts);
/* Returns the probe's next point; NULL: there is none. */
const struct nw_point *nw_next_point(const struct nw_facts *facts, size_t *probe,
				     size_t *point);
size_t nw_count_points(const struct nw_facts *facts);
/* Returns the point at a file offset; NULL: there is none. */
const struct nw_point *nw_point_at(const struct nw_facts *facts, uint64_t offset);

/* Blames that the program fires this probe only when it is told to, and was not told (src/why/switches.c). False: the
 * probe is none of these. */
bool nw_blame_switch(struct judge *judge);

/* The checks; one file each group. */
void nw_check_user_event(struct judge *judge);
void nw_check_written(struct judge *judge);
void nw_check_kernel(struct judge *judge);
void nw_check_privilege(struct judge *judge);
void nw_check_lockdown(struct judge *judge);
void nw_check_bpf(struct judge *judge);
void nw_check_file(struct judge *judge);
void nw_check_symbol(struct judge *judge);
void nw_check_function(struct judge *judge);
void nw_check_called(struct judge *judge);
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
