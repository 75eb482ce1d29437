// SPDX-License-Identifier: MIT
/* See observed.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
	uint32_t fd; /* PATH */
	uint64_t since, read_ns;
	char *text;	/* NULL: not known; "": the process has ended */
	bool kept;	/* a recording has it */
	uint64_t start; /* when the process began, in ticks since boot; 0: not known */
	bool inherited; /* it is the parent's, and was not read of the process itself */
};

struct nw_observed {
	const struct nw_pid_space *space;
	const struct nw_cgroups *cgroups;
	struct nw_containers containers;
	struct nw_descriptors *descriptors;
	uint64_t path_until; /* a recording: paths are known until then; 0: all the time */
	bool path_full;	     /* changes of paths are not kept any more */
	bool used[NW_OBSERVED_COUNT];
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
static const char *const words_of[NW_OBSERVED_COUNT] = {
	[NW_OBSERVED_TITLE] = "title",
	[NW_OBSERVED_CGROUP] = "cgroup",
	[NW_OBSERVED_CONTAINER] = "container",
	[NW_OBSERVED_PATH] = "path",
	[NW_OBSERVED_MEMBER] = "member"};

static uint64_t hash_of(enum nw_observed_what what, pid_t pid, uint32_t fd)
{
	return nw_hash64(((uint64_t)what << 32 | (uint32_t)pid) ^ nw_hash64(fd));
}

/* ---- from /proc --------------------------------------------------------------------- */

static struct observed *find(struct nw_observed *o, enum nw_observed_what what, pid_t pid,
			     uint32_t fd)
{
	nw_hash_each (&o->table, hash_of(what, pid, fd), at)
		if (o->texts.item[at].what == what && o->texts.item[at].pid == pid &&
		    o->texts.item[at].fd == fd)
			return &o->texts.item[at];
	return NULL;
}

static struct observed *add(struct nw_observed *o, enum nw_observed_what what, pid_t pid,
			    uint32_t fd)
{
	struct observed *fresh;

	if (o->texts.count >= NW_OBSERVED_MOST)
		return NULL;
	fresh = nw_vec_add(&o->texts);
	if (!fresh ||
	    nw_hash_table_add(&o->table, hash_of(what, pid, fd), o->texts.count - 1) < 0) {
		o->texts.count -= fresh != NULL;
		o->failed = true;
		return NULL;
	}
	fresh->what = what;
	fresh->pid = pid;
	fresh->fd = fd;
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
	if (it->what == NW_OBSERVED_PATH)
		nw_buf_printf(&o->kept, " %" PRIu32, it->fd);
	nw_plan_word(&o->kept, it->text ? it->text : "");
	nw_buf_addc(&o->kept, '\n');
	o->failed |= o->kept.failed;
}

/* Writes the end of a text that does not fit: the last parts of a path say most. */
static void put_end(const char *text, size_t len, char *out, size_t size)
{
	size_t left = len < size ? len : size - 4;

	snprintf(out, size, "%s%.*s", left < len ? "..." : "", (int)left,
		 text + (len - left));
}

/* Reads what is told of a process's control group. If
 * something is known, what the kernel shows of a process that is ending is of no use. */
static int read_cgroup(struct nw_observed *o, struct observed *it, pid_t tid, char *out,
		       size_t size)
{
	struct nw_buf text = {0};
	uint64_t start = 0;
	size_t len;
	int ret = nw_pid_space_cgroup(o->space, it->pid, tid, &start, &text);

	if (ret == -EAGAIN && !it->text)
		ret = 0;
	/* Both times are cut to ticks. */
	if (start && it->start && (start > it->start + 1 || start + 1 < it->start))
		ret = -ESRCH; /* a later process has the number */
	if (ret == 0 && start && !it->start)
		it->start = start;
	const char *path = nw_cgroup_path(nw_buf_str(&text), &len);
	if (ret == 0 && it->what == NW_OBSERVED_MEMBER) {
		snprintf(out, size, "%d",
			 o->cgroups && nw_cgroups_have(o->cgroups, nw_buf_str(&text)));
	} else if (ret == 0 && it->what == NW_OBSERVED_CGROUP) {
		put_end(path, len, out, size);
	} else if (ret == 0) {
		const char *label = nw_containers_label(&o->containers, o->space, path,
							len);
		o->failed |= !label;
		snprintf(out, size, "%s", label ? label : "");
	}
	o->failed |= text.failed;
	nw_buf_free(&text);
	return ret;
}

/* Reads the text again. If that fails, the process is ending, and the last text stays. */
static void read_again(struct nw_observed *o, struct observed *it, pid_t tid)
{
	char text[NW_OBSERVED_BYTES];
	int ret = it->what == NW_OBSERVED_TITLE
			  ? nw_pid_space_title(o->space, it->pid, text, sizeof(text))
			  : read_cgroup(o, it, tid, text, sizeof(text));

	it->read_ns = nw_clock_ns(CLOCK_MONOTONIC);
	if (ret < 0)
		return;
	it->inherited = false;
	if (it->text && strcmp(it->text, text) == 0)
		return;
	free(it->text);
	it->text = strdup(text);
	it->kept = false;
	o->failed |= !it->text;
}

/* Finds a process, and reads its text if that was not read for a while. */
static struct observed *look(struct nw_observed *o, enum nw_observed_what what, pid_t pid,
			     pid_t tid)
{
	struct observed *it = find(o, what, pid, 0);
	const uint64_t now = nw_clock_ns(CLOCK_MONOTONIC);
	const uint64_t age = nw_max64(AGE_NS, o->texts.count * AGE_EACH_NS);

	if (!it)
		it = add(o, what, pid, 0);
	if (it && (!it->read_ns || now - it->read_ns >= age))
		read_again(o, it, tid);
	return it;
}

static const char *observe(struct nw_observed *o, enum nw_observed_what what, pid_t pid,
			   pid_t tid, uint64_t time)
{
	struct observed *it = look(o, what, pid, tid);

	if (!it || !it->text)
		return NULL;
	if (!it->kept)
		keep(o, it, time);
	it->kept = true;
	return it->text;
}

static void forget(struct nw_observed *o, enum nw_observed_what what, pid_t pid,
		   uint64_t time)
{
	struct observed *it = find(o, what, pid, 0);

	if (!it)
		return;
	const struct observed last = o->texts.item[o->texts.count - 1];
	if (it->text && it->kept)
		keep(o, &(struct observed){.what = it->what, .pid = pid}, time);
	free(it->text);
	nw_hash_table_remove(&o->table, hash_of(it->what, pid, it->fd),
			     (size_t)(it - o->texts.item),
			     hash_of(last.what, last.pid, last.fd), o->texts.count - 1);
	*it = last;
	o->texts.count--;
}

void nw_observed_exit(struct nw_observed *o, pid_t pid, uint64_t time)
{
	for (size_t i = 0; o->space && i < NW_OBSERVED_COUNT; i++)
		forget(o, (enum nw_observed_what)i, pid, time);
}

/* Does a new process have the text of its parent? */
static bool is_inherited(const struct nw_observed *o, size_t what)
{
	return o->space && o->used[what] && what != NW_OBSERVED_TITLE &&
	       what != NW_OBSERVED_PATH;
}

/* Returns when something was, so long ago, in ticks since boot, as /proc tells when a process began. */
static uint64_t ticks_ago(uint64_t age_ns)
{
	const uint64_t tick = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);

	return (nw_clock_ns(CLOCK_BOOTTIME) - age_ns) / tick;
}

void nw_observed_born(struct nw_observed *o, pid_t pid, pid_t parent, pid_t parent_tid,
		      uint64_t time, uint64_t age_ns)
{
	const uint64_t start = o->space ? ticks_ago(age_ns) : 0;

	for (size_t i = 0; i < NW_OBSERVED_COUNT; i++) {
		const enum nw_observed_what what = (enum nw_observed_what)i;
		if (!is_inherited(o, i))
			continue;
		forget(o, what, pid, time); /* its end was not recorded */
		const struct observed *from = look(o, what, parent, parent_tid);
		nw_cleanup(nw_free_ptr) char *text = from && from->text ? strdup(from->text)
									: NULL;
		const uint64_t read_ns = from ? from->read_ns : 0;
		o->failed |= from && from->text && !text;
		struct observed *it = add(o, what, pid, 0);
		if (!it)
			continue;
		it->start = start;
		if (!text)
			read_again(o, it, pid);
		if (!text)
			continue;
		it->text = text;
		it->read_ns = read_ns;
		it->inherited = true;
		text = NULL;
	}
}

/*
 * A process that enters a control group mostly does it before it starts a program there. If it has ended before this is read, it may
 * have been in it or not.
 */
static void doubt(struct observed *it)
{
	if (!it->inherited || it->what != NW_OBSERVED_MEMBER || strcmp(it->text, "1") == 0)
		return;
	free(it->text);
	it->text = NULL;
}

void nw_observed_exec(struct nw_observed *o, pid_t pid)
{
	struct observed *title = o->space ? find(o, NW_OBSERVED_TITLE, pid, 0) : NULL;

	if (title)
		title->read_ns = 0;
	for (size_t i = 0; i < NW_OBSERVED_COUNT; i++) {
		struct observed *it = is_inherited(o, i)
					      ? look(o, (enum nw_observed_what)i, pid, pid)
					      : NULL;
		if (it)
			read_again(o, it, pid);
		if (it && it->text)
			doubt(it);
	}
}

void nw_observed_look(struct nw_observed *o, pid_t pid)
{
	for (size_t i = 0; i < NW_OBSERVED_COUNT; i++)
		if (is_inherited(o, i))
			look(o, (enum nw_observed_what)i, pid, pid);
}

/* ---- in a recording ----------------------------------------------------------------- */

bool nw_observed_is_word(const char *word)
{
	for (size_t i = 0; i < NW_OBSERVED_COUNT; i++)
		if (strcmp(word, words_of[i]) == 0)
			return true;
	return false;
}

bool nw_observed_line(struct nw_observed *o, char *const *words, size_t count)
{
	uint64_t time, pid, fd = 0;

	for (size_t i = 0; i < NW_OBSERVED_COUNT; i++) {
		const bool path = i == NW_OBSERVED_PATH;
		if (count != (path ? 5 : 4) || strcmp(words[0], words_of[i]) != 0)
			continue;
		const char *text = words[count - 1];
		if (nw_parse_u64(words[1], &time) < 0 || nw_parse_u64(words[2], &pid) < 0 ||
		    (path && nw_parse_u64(words[3], &fd) < 0) || fd > INT32_MAX ||
		    pid > INT32_MAX || strlen(text) >= NW_OBSERVED_BYTES ||
		    o->texts.count >= NW_OBSERVED_MOST)
			return true; /* the recording is hostile or damaged */
		o->used[i] = true;
		if (path && !pid && time)
			o->path_until = time;
		struct observed *it = nw_vec_add(&o->texts);
		if (it)
			*it = (struct observed){.what = (enum nw_observed_what)i,
						.pid = (pid_t)pid,
						.fd = (uint32_t)fd,
						.since = time,
						.text = strdup(text)};
		o->failed |= !it || !it->text;
		return true;
	}
	return false;
}

/* Compares by process, and then by time. */
static int order(const struct observed *a, enum nw_observed_what what, pid_t pid,
		 uint32_t fd, uint64_t since)
{
	if (a->what != what)
		return a->what < what ? -1 : 1;
	if (a->pid != pid)
		return a->pid < pid ? -1 : 1;
	if (a->fd != fd)
		return a->fd < fd ? -1 : 1;
	return a->since < since ? -1 : a->since > since;
}

static int in_order(const void *a, const void *b)
{
	const struct observed *y = b;

	return order(a, y->what, y->pid, y->fd, y->since);
}

static const char *recorded(struct nw_observed *o, enum nw_observed_what what, pid_t pid,
			    uint32_t fd, uint64_t time)
{
	if (!o->sorted && o->texts.count)
		qsort(o->texts.item, o->texts.count, sizeof(*o->texts.item), in_order);
	o->sorted = true;
	size_t behind = nw_vec_lower_bound(&o->texts, it,
					   order(it, what, pid, fd, time) <= 0);
	const struct observed *it = behind ? &o->texts.item[behind - 1] : NULL;
	return it && it->what == what && it->pid == pid && it->fd == fd && *it->text
		       ? it->text
		       : NULL;
}

bool nw_observed_has(const struct nw_observed *o, enum nw_observed_what what)
{
	return o->used[what];
}

/* ---- both --------------------------------------------------------------------------- */

const char *nw_observed_get(struct nw_observed *o, enum nw_observed_what what, pid_t pid,
			    pid_t tid, uint64_t time)
{
	const char *text = o->space ? observe(o, what, pid, tid, time)
				    : recorded(o, what, pid, 0, time);

	/* The live run has told of hits whose groups were not known; a recording leaves them out as it did. */
	o->unknown[what] += text == NULL && (o->space || what != NW_OBSERVED_MEMBER);
	return text;
}

/*
 * Keeps a path in the recording, if it is another than that of the last hit. Once one is not kept, a report would see a path for hits
 * that have another one: then none is kept any more, and the recording says from when on.
 */
static void keep_path(struct nw_observed *o, pid_t pid, uint32_t fd, uint64_t time,
		      const char *path)
{
	const bool full = o->kept_count + 1 >= NW_OBSERVED_MOST || o->path_full;
	struct observed *it = full ? NULL : find(o, NW_OBSERVED_PATH, pid, fd);

	if (!it && !full && path)
		it = add(o, NW_OBSERVED_PATH, pid, fd);
	if (!it && (path || full) && !o->path_full) {
		keep(o, &(struct observed){.what = NW_OBSERVED_PATH}, time);
		o->path_full = true;
	}
	o->left_out += o->path_full;
	if (!it || (it->text && path ? strcmp(it->text, path) == 0 : !it->text && !path))
		return;
	free(it->text);
	it->text = path ? strdup(path) : NULL;
	o->failed |= path && !it->text;
	keep(o, it, time);
}

const char *nw_observed_path(struct nw_observed *o, pid_t pid, uint32_t fd, uint64_t time)
{
	const char *path = NULL;

	if (o->descriptors)
		path = nw_descriptors_path(o->descriptors, pid, fd, time);
	else if (!o->space && (!o->path_until || time < o->path_until))
		path = recorded(o, NW_OBSERVED_PATH, pid, fd, time);
	if (o->keeps)
		keep_path(o, pid, fd, time, path);
	o->unknown[NW_OBSERVED_PATH] += path == NULL;
	return path;
}

void nw_observed_set_descriptors(struct nw_observed *o, struct nw_descriptors *descriptors)
{
	nw_descriptors_free(o->descriptors);
	o->descriptors = descriptors;
}

struct nw_descriptors *nw_observed_descriptors(const struct nw_observed *o)
{
	return o->descriptors;
}

bool nw_observed_failed(const struct nw_observed *o)
{
	return o->failed || (o->descriptors && nw_descriptors_failed(o->descriptors));
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
	for (size_t i = 0; i < NW_OBSERVED_COUNT; i++)
		if (o->used[i])
			nw_buf_printf(out, "%s 0 0%s -\n", words_of[i],
				      i == NW_OBSERVED_PATH ? " 0" : "");
	nw_buf_add(out, nw_buf_str(&o->kept), o->kept.len);
	out->failed |= o->failed;
}

static void tell_unknown(const struct nw_observed *o, const struct nw_run *run)
{
	const uint64_t titles = o->unknown[NW_OBSERVED_TITLE];
	const uint64_t groups = nw_max64(o->unknown[NW_OBSERVED_CGROUP],
					 o->unknown[NW_OBSERVED_CONTAINER]);
	const uint64_t members = o->unknown[NW_OBSERVED_MEMBER];

	if (titles)
		nw_run_notice(
			run,
			nw_plural(
				titles,
				"the title is not known at %" PRIu64
				" hit ('?'): its process had ended before the title was read",
				"the title is not known at %" PRIu64
				" hits ('?'): their processes had ended before the title was read"),
			titles);
	if (o->unknown[NW_OBSERVED_PATH])
		nw_run_notice(
			run,
			nw_plural(
				o->unknown[NW_OBSERVED_PATH],
				"the path of the descriptor is not known at %" PRIu64
				" hit ('?'): it was not read between the opening and the hit, or the number is not open",
				"the path of the descriptor is not known at %" PRIu64
				" hits ('?'): it was not read between the opening and the hit, or the number is not open"),
			o->unknown[NW_OBSERVED_PATH]);
	if (groups)
		nw_run_notice(
			run,
			nw_plural(
				groups,
				"the control group is not known at %" PRIu64
				" hit ('?'): its process had ended before the group was read",
				"the control group is not known at %" PRIu64
				" hits ('?'): their processes had ended before the group was read"),
			groups);
	if (members)
		nw_run_notice(
			run,
			nw_plural(
				members,
				"%" PRIu64
				" hit is not counted: its process had ended before its control group was read",
				"%" PRIu64
				" hits are not counted: their processes had ended before their control groups were read"),
			members);
}

static void tell_not_searched(const struct nw_observed *o, const struct nw_run *run)
{
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
}

void nw_observed_tell(const struct nw_observed *o, const struct nw_run *run)
{
	tell_unknown(o, run);
	tell_not_searched(o, run);
	if (o->left_out)
		nw_run_notice(
			run,
			nw_plural(
				o->left_out,
				"%" PRIu64
				" change of a title, control group or path is not in the recording, which has 65,536 of them",
				"%" PRIu64
				" changes of titles, control groups and paths are not in the recording, which has 65,536 of them"),
			o->left_out);
}

void nw_observed_use(struct nw_observed *o, enum nw_observed_what what)
{
	o->used[what] = true;
}

void nw_observed_set_cgroups(struct nw_observed *o, const struct nw_cgroups *cgroups)
{
	o->cgroups = cgroups;
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
	nw_containers_free(&o->containers);
	nw_descriptors_free(o->descriptors);
	nw_buf_free(&o->kept);
	free(o);
}
