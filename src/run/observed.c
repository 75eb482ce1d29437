// SPDX-License-Identifier: MIT
/* See observed.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "observed.h"
#include "run.h"

/* How long a text counts before it is read again: at least this long, and longer if there are many processes, so that
 * at most 5,000 are read in a second. */
#define AGE_NS	    UINT64_C(10000000)
#define AGE_EACH_NS UINT64_C(200000)

/* A text that is known, and from when on. In a recording there are several for one process, by `since`. */
struct observed {
	enum nw_observed_what what;
	pid_t pid;
	uint64_t since, read_ns;
	char *text; /* NULL: not known; "": the process has ended */
};

struct nw_observed {
	const struct nw_pid_space *space;
	/* Live: one for each process, which the table finds. A recording: sorted before the first is asked for. */
	NW_VEC(struct observed) texts;
	struct nw_hash_table table;
	bool sorted, keeps, failed;
	uint64_t unknown[NW_OBSERVED_COUNT];	  /* hits whose text is not known */
	uint64_t not_searched[NW_OBSERVED_COUNT]; /* hits whose text was not searched */
	int code;				  /* why the last of them was not */
	uint64_t left_out;			  /* changes that are not kept */
	size_t kept_count;
	struct nw_buf kept; /* lines of a recording's table */
};

/* The word of a recording's line. */
static const char *const words_of[NW_OBSERVED_COUNT] = {[NW_OBSERVED_TITLE] = "title"};

static uint64_t hash_of(enum nw_observed_what what, pid_t pid)
{
	return nw_hash64((uint64_t)what << 32 | (uint32_t)pid);
}

/* ---- from /proc --------------------------------------------------------------------- */

static struct observed *find(struct nw_observed *o, enum nw_observed_what what, pid_t pid)
{
	nw_hash_each (&o->table, hash_of(what, pid), at)
		if (o->texts.item[at].what == what && o->texts.item[at].pid == pid)
			return &o->texts.item[at];
	return NULL;
}

static struct observed *add(struct nw_observed *o, enum nw_observed_what what, pid_t pid)
{
	struct observed *fresh;

	if (o->texts.count >= NW_OBSERVED_MOST)
		return NULL;
	fresh = nw_vec_add(&o->texts);
	if (!fresh ||
	    nw_hash_table_add(&o->table, hash_of(what, pid), o->texts.count - 1) < 0) {
		o->texts.count -= fresh != NULL;
		o->failed = true;
		return NULL;
	}
	fresh->what = what;
	fresh->pid = pid;
	return fresh;
}

static void keep(struct nw_observed *o, const struct observed *it, uint64_t time)
{
	if (!o->keeps)
		return;
	if (o->kept_count >= NW_OBSERVED_MOST) {
		o->left_out++;
		return;
	}
	o->kept_count++;
	nw_buf_printf(&o->kept, "%s %" PRIu64 " %d", words_of[it->what], time,
		      (int)it->pid);
	nw_plan_word(&o->kept, it->text ? it->text : "");
	nw_buf_addc(&o->kept, '\n');
	o->failed |= o->kept.failed;
}

/* Reads the text again. If that fails, the process is ending, and the last text stays. */
static void read_again(struct nw_observed *o, struct observed *it, uint64_t time)
{
	char text[NW_OBSERVED_BYTES];

	if (nw_pid_space_title(o->space, it->pid, text, sizeof(text)) < 0 ||
	    (it->text && strcmp(it->text, text) == 0))
		return;
	free(it->text);
	it->text = strdup(text);
	o->failed |= !it->text;
	keep(o, it, time);
}

static const char *observe(struct nw_observed *o, enum nw_observed_what what, pid_t pid,
			   uint64_t time)
{
	struct observed *it = find(o, what, pid);
	const uint64_t now = nw_clock_ns(CLOCK_MONOTONIC);
	const uint64_t age = nw_max64(AGE_NS, o->texts.count * AGE_EACH_NS);

	if (!it)
		it = add(o, what, pid);
	if (!it)
		return NULL;
	if (!it->read_ns || now - it->read_ns >= age) {
		read_again(o, it, time);
		it->read_ns = now;
	}
	return it->text;
}

void nw_observed_exit(struct nw_observed *o, pid_t pid, uint64_t time)
{
	struct observed *it = o->space ? find(o, NW_OBSERVED_TITLE, pid) : NULL;

	if (!it)
		return;
	const struct observed last = o->texts.item[o->texts.count - 1];
	if (it->text)
		keep(o, &(struct observed){.what = it->what, .pid = pid}, time);
	free(it->text);
	nw_hash_table_remove(&o->table, hash_of(it->what, pid),
			     (size_t)(it - o->texts.item), hash_of(last.what, last.pid),
			     o->texts.count - 1);
	*it = last;
	o->texts.count--;
}

void nw_observed_exec(struct nw_observed *o, pid_t pid)
{
	struct observed *it = o->space ? find(o, NW_OBSERVED_TITLE, pid) : NULL;

	if (it)
		it->read_ns = 0;
}

/* ---- in a recording ----------------------------------------------------------------- */

bool nw_observed_line(struct nw_observed *o, char *const *words, size_t count)
{
	uint64_t time, pid;

	for (size_t i = 0; i < NW_OBSERVED_COUNT; i++) {
		if (strcmp(words[0], words_of[i]) != 0 || count != 4)
			continue;
		if (nw_parse_u64(words[1], &time) < 0 || nw_parse_u64(words[2], &pid) < 0 ||
		    pid > INT32_MAX || strlen(words[3]) >= NW_OBSERVED_BYTES ||
		    o->texts.count >= NW_OBSERVED_MOST)
			return true; /* the recording is hostile or damaged */
		struct observed *it = nw_vec_add(&o->texts);
		if (it)
			*it = (struct observed){.what = (enum nw_observed_what)i,
						.pid = (pid_t)pid,
						.since = time,
						.text = strdup(words[3])};
		o->failed |= !it || !it->text;
		return true;
	}
	return false;
}

/* Compares by process, and then by time. */
static int order(const struct observed *a, enum nw_observed_what what, pid_t pid,
		 uint64_t since)
{
	if (a->what != what)
		return a->what < what ? -1 : 1;
	if (a->pid != pid)
		return a->pid < pid ? -1 : 1;
	return a->since < since ? -1 : a->since > since;
}

static int in_order(const void *a, const void *b)
{
	const struct observed *y = b;

	return order(a, y->what, y->pid, y->since);
}

static const char *recorded(struct nw_observed *o, enum nw_observed_what what, pid_t pid,
			    uint64_t time)
{
	if (!o->sorted && o->texts.count)
		qsort(o->texts.item, o->texts.count, sizeof(*o->texts.item), in_order);
	o->sorted = true;
	size_t behind = nw_vec_lower_bound(&o->texts, it, order(it, what, pid, time) <= 0);
	const struct observed *it = behind ? &o->texts.item[behind - 1] : NULL;
	return it && it->what == what && it->pid == pid && *it->text ? it->text : NULL;
}

bool nw_observed_has(const struct nw_observed *o, enum nw_observed_what what)
{
	nw_vec_each (&o->texts, it)
		if (it->what == what)
			return true;
	return false;
}

/* ---- both --------------------------------------------------------------------------- */

const char *nw_observed_get(struct nw_observed *o, enum nw_observed_what what, pid_t pid,
			    uint64_t time)
{
	const char *text = o->space ? observe(o, what, pid, time)
				    : recorded(o, what, pid, time);

	o->unknown[what] += text == NULL;
	return text;
}

bool nw_observed_failed(const struct nw_observed *o)
{
	return o->failed;
}

void nw_observed_not_searched(struct nw_observed *o, enum nw_observed_what what, int code)
{
	o->not_searched[what]++;
	o->code = code;
}

void nw_observed_keep(struct nw_observed *o)
{
	o->keeps = true;
}

void nw_observed_save(const struct nw_observed *o, struct nw_buf *out)
{
	/* A recording of processes whose titles are all unknown has them, too. */
	nw_buf_adds(out, "title 0 0 -\n");
	nw_buf_add(out, nw_buf_str(&o->kept), o->kept.len);
	out->failed |= o->failed;
}

void nw_observed_tell(const struct nw_observed *o, const struct nw_run *run)
{
	const uint64_t unknown = o->unknown[NW_OBSERVED_TITLE];

	if (unknown)
		nw_run_notice(
			run,
			nw_plural(
				unknown,
				"the title is not known at %" PRIu64
				" hit ('?'): its process had ended before the title was read",
				"the title is not known at %" PRIu64
				" hits ('?'): their processes had ended before the title was read"),
			unknown);
	if (o->not_searched[NW_OBSERVED_TITLE])
		nw_run_notice(
			run,
			nw_plural(o->not_searched[NW_OBSERVED_TITLE],
				  "the title was not searched at %" PRIu64 " hit ('?'): %s",
				  "the title was not searched at %" PRIu64
				  " hits ('?'): %s"),
			o->not_searched[NW_OBSERVED_TITLE],
			o->code == ETIMEDOUT
				? "the expression took longer than 0.1 s of processor time for a title"
				: nw_strerror(o->code));
	if (o->left_out)
		nw_run_notice(
			run,
			nw_plural(
				o->left_out,
				"%" PRIu64
				" change of a title is not in the recording, which has 65,536 of them",
				"%" PRIu64
				" changes of titles are not in the recording, which has 65,536 of them"),
			o->left_out);
}

int nw_observed_open(const struct nw_pid_space *space, struct nw_observed **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->space = space;
	return 0;
}

void nw_observed_free(struct nw_observed *o)
{
	if (!o)
		return;
	nw_vec_each (&o->texts, it)
		free(it->text);
	nw_vec_free(&o->texts);
	nw_hash_table_free(&o->table);
	nw_buf_free(&o->kept);
	free(o);
}
