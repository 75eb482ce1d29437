// SPDX-License-Identifier: MIT
/* See title_search.h. */
#include "title_search.h"

#include <errno.h>
#include <regex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "find/dwarf/fence.h"
#include "find/dwarf/reader.h"

#define MS ((uint64_t)1000000)

enum {
	LONGEST = 1000, /* regcomp() calls itself for each parenthesis, without a limit */
	MOST_TITLE = 4096, /* bytes of a title that are searched */
	MOST_KNOWN = 1024, /* titles that are remembered */
	MOST_SLOW = 20,	   /* titles that took too long, until none is searched any more */
	SLICE_MS = 20,	   /* time between two checks of the limits while waiting */
	/* The most slices in which nothing has come. Where a busy machine, or its host, lets neither process run, time passes in
	 * which the other one cannot answer, but no slices. */
	MOST_SLICES = 100
};
static const uint64_t most_cpu = 100 * MS, /* per title */
	most_hurry = 500 * MS;

/* The process's answer. */
struct answer {
	int32_t code;	    /* of regexec() */
	uint32_t from, end; /* of what was found, in the title; equal: nothing */
};

/* A title, and what was found in it. */
struct known {
	char *title, *found; /* found: NULL if it did not match */
	int code;	     /* why it was not searched; 0: it was */
};

struct nw_title_search {
	regex_t regex;
	pid_t pid; /* 0: there is none */
	int socket;
	unsigned int slow;	    /* titles that took too long */
	uint64_t hurried;	    /* ns waited since the run's end was asked for */
	struct known last;	    /* what is not remembered: there was no memory for it */
	struct nw_hash_table table; /* finds `known` by the title */
	NW_VEC(struct known) known;
};

int nw_title_search_open(const char *key, const char *expression,
			 struct nw_title_search **out, struct nw_error *err)
{
	char why[128];

	if (strlen(expression) > LONGEST)
		return nw_fail_usage(
			err,
			"--by '%.40s...': the expression has %zu characters, more than %d",
			key, strlen(expression), LONGEST);
	struct nw_title_search *search = calloc(1, sizeof(*search));

	if (!search)
		return nw_no_memory(err);
	int ret = regcomp(&search->regex, expression, REG_EXTENDED);
	if (ret == 0) {
		*out = search;
		return 0;
	}
	regerror(ret, &search->regex, why, sizeof(why));
	free(search);
	if (ret == REG_ESPACE)
		return nw_no_memory(err);
	nw_fail_usage(err, "--by '%s': '%s' is no regular expression: %s", key, expression,
		      why);
	nw_error_hint(
		err,
		"POSIX's extended ones are meant, as of `grep -E`; the first group is the key, as in --by 'title(^postgres: ([^ ]+))'");
	return -EINVAL;
}

/* ---- the process -------------------------------------------------------------------- */

static struct answer search_here(const regex_t *regex, const char *title)
{
	regmatch_t match[2];
	struct answer answer = {.code = regexec(regex, title, NW_COUNT(match), match, 0)};
	const regmatch_t *found = &match[regex->re_nsub > 0];

	if (answer.code == 0 && found->rm_so < 0)
		answer.code = REG_NOMATCH;
	if (answer.code == 0) {
		answer.from = (uint32_t)found->rm_so;
		answer.end = (uint32_t)found->rm_eo;
	}
	return answer;
}

/* Called in the process: answers until the parent closes the socket. */
static void serve(const regex_t *regex, int socket, pid_t parent)
{
	char title[MOST_TITLE + 1];

	if (!nw_fence_enter(socket, parent))
		_exit(1);
	for (;;) {
		ssize_t len = nw_receive_message(0, title, MOST_TITLE, NULL);
		if (len <= 0)
			_exit(1);
		title[len] = '\0';
		const struct answer answer = search_here(regex, title);
		if (!nw_send_message(0, &answer, sizeof(answer), -1))
			_exit(1);
	}
}

/* Returns 0 or an errno. */
static int start(struct nw_title_search *search)
{
	const struct timeval slice = {0, 1000 * SLICE_MS};
	const pid_t parent = getpid();
	int ends[2];

	if (search->pid)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return errno;
	pid_t pid = fork();
	int code = pid < 0 ? errno : 0;
	if (pid == 0)
		serve(&search->regex, ends[1], parent);
	close(ends[1]);
	/* A receive call returns after a slice at the latest, so that the limits are checked. */
	if (pid > 0 &&
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof(slice)) < 0)
		code = errno;
	search->pid = pid > 0 ? pid : 0;
	search->socket = ends[0];
	if (pid < 0)
		close(ends[0]);
	return code;
}

static void stop(struct nw_title_search *search)
{
	if (!search->pid)
		return;
	kill(search->pid, SIGKILL);
	while (waitpid(search->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(search->socket);
	search->pid = 0;
}

static uint64_t cpu_of(const struct nw_title_search *search)
{
	clockid_t clock;

	return clock_getcpuclockid(search->pid, &clock) == 0 ? nw_clock_ns(clock) : 0;
}

/* Waits for an answer. Returns 0, ETIMEDOUT, or EPIPE: the process has ended. */
static int wait_answer(struct nw_title_search *search, bool hurry, struct answer *answer)
{
	const uint64_t cpu = cpu_of(search);
	uint64_t spent = nw_clock_ns(CLOCK_MONOTONIC);

	for (int slices = 0;; slices++) {
		ssize_t got = nw_receive_message(search->socket, answer, sizeof(*answer),
						 NULL);
		if (got == sizeof(*answer))
			return 0;
		if (got >= 0 || (errno != EAGAIN && errno != EINTR))
			return got < 0 && errno == ENOMEM ? ENOMEM : EPIPE;
		const uint64_t now = nw_clock_ns(CLOCK_MONOTONIC);
		if (hurry || nw_is_end_pending())
			search->hurried += now - spent;
		spent = now;
		if (cpu_of(search) - cpu > most_cpu || slices >= MOST_SLICES ||
		    search->hurried > most_hurry)
			return ETIMEDOUT;
	}
}

/* Asks the process. A process that has ended by itself, as by its limit of processor time, is started once more. */
static int ask(struct nw_title_search *search, const char *title, bool hurry,
	       struct answer *answer)
{
	int code = EPIPE;

	for (int i = 0; i < 2 && code == EPIPE; i++) {
		code = start(search);
		if (code == 0 &&
		    !nw_send_message(search->socket, title,
				     nw_min64(strlen(title) + 1, MOST_TITLE), -1))
			code = errno;
		else if (code == 0)
			code = wait_answer(search, hurry, answer);
		if (code)
			stop(search);
	}
	return code;
}

/* ---- titles ------------------------------------------------------------------------- */

static void free_known(struct known *known)
{
	free(known->title);
	free(known->found);
	*known = (struct known){0};
}

static void forget(struct nw_title_search *search)
{
	nw_vec_each (&search->known, known)
		free_known(known);
	search->known.count = 0;
	nw_hash_table_free(&search->table);
	search->table = (struct nw_hash_table){0};
}

void nw_title_search_free(struct nw_title_search *search)
{
	if (!search)
		return;
	stop(search);
	regfree(&search->regex);
	forget(search);
	nw_vec_free(&search->known);
	free_known(&search->last);
	free(search);
}

/* Searches a title. Its answer comes from a process that has read what is hostile, so it is checked. */
static struct known search_title(struct nw_title_search *search, const char *title,
				 bool hurry)
{
	struct known known = {.code = ETIMEDOUT};
	struct answer answer = {0};

	if (search->slow >= MOST_SLOW || search->hurried > most_hurry)
		return known;
	known.code = ask(search, title, hurry, &answer);
	search->slow += known.code == ETIMEDOUT;
	if (known.code == 0 && answer.code == REG_ESPACE)
		known.code = ENOMEM;
	if (known.code || answer.code || answer.from > answer.end ||
	    answer.end > strlen(title))
		return known;
	known.found = strndup(title + answer.from, answer.end - answer.from);
	known.code = known.found ? 0 : ENOMEM;
	return known;
}

/* Remembers what was found, if there is memory for it. */
static const struct known *remember(struct nw_title_search *search, const char *title,
				    struct known known)
{
	const size_t at = search->known.count;
	struct known *place = NULL;

	known.title = strdup(title);
	if (known.title)
		place = nw_vec_add(&search->known);
	if (place &&
	    nw_hash_table_add(&search->table, nw_hash_text(title, strlen(title)), at) < 0) {
		search->known.count--;
		place = NULL;
	}
	if (!place) {
		free_known(&search->last);
		place = &search->last;
	}
	*place = known;
	return place;
}

static const struct known *recall(const struct nw_title_search *search, const char *title)
{
	nw_hash_each (&search->table, nw_hash_text(title, strlen(title)), at)
		if (strcmp(search->known.item[at].title, title) == 0)
			return &search->known.item[at];
	return NULL;
}

const char *nw_title_search_find(struct nw_title_search *search, const char *title,
				 bool hurry, int *code)
{
	const struct known *known = recall(search, title);

	if (!known) {
		if (search->known.count >= MOST_KNOWN)
			forget(search);
		known = remember(search, title, search_title(search, title, hurry));
	}
	*code = known->code;
	return known->found;
}
