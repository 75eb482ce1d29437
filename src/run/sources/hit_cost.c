// SPDX-License-Identifier: MIT
/*
 * Measures the cost of a hit on this machine by a run of our own. Its probes are at entries and returns of functions of
 * our own, and on the scheduler's events of two threads that wake each other (cost_sites.c). The functions are called
 * some hundred times each; the time is taken just before and just after every call. If the records have the same clock,
 * their timestamps tell how much of a call comes before and after them. The time of the same calls without probes is
 * subtracted; these are made before and after the others, because the machine may be slow during one series. Of each of
 * some twenty rounds the mean is computed, because --net subtracts the result from sums. The median of these means
 * counts: a round is so short that interrupts and other threads disturb few of them. Only after ENOUGH measurements
 * since boot are results reused, because the machine may be slow during a whole measurement; the least of them counts.
 *
 * A probe is on the file, and so traps in every process that runs it. While another nopwatch measures, our calls "without
 * probes" trap, too, and the difference is next to nothing. So one measures at a time (lock_sites()), and rounds do not
 * count in which a site that should have no probe has one, or calls in which one that should has none.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cost_sites.h"
#include "run/limits/guards.h"

#include "sources.h"

enum {
	ROUNDS = 25,
	CALLS = 16, /* of each site in each round */
	WORDS = 16, /* words that a hit of SITE_WORDS fetches */
	WORD_BYTES = 8,
	CODE = 4, /* bytes of a site in which the kernel's breakpoint is, or a part of it */
	ENOUGH = 5, /* measurements since boot */
	LOCK_TRIES = 40,
	LOCK_PAUSE_NS = 50000000,
	OTHER_WORD_PS = 80000 /* if it is not measured: docs/dev/performance.md */
};

enum site {
	SITE_NOP,
	SITE_CALL,
	SITE_LONG_NOP,
	SITE_PUSH,
	SITE_ENDBR,
	SITE_USUAL,
	SITE_WORDS,  /* as SITE_NOP, with a string */
	SITE_BOTH,   /* entry and return */
	SITE_RETURN, /* return only */
	SITE_EVENT,  /* the scheduler's events; the sites before this one have uprobes */
	SITES
};

static nw_cost_function *const functions[SITES] = {
	[SITE_NOP] = nw_cost_nop,	    [SITE_CALL] = nw_cost_call_nop,
	[SITE_LONG_NOP] = nw_cost_long_nop, [SITE_PUSH] = nw_cost_push,
	[SITE_ENDBR] = nw_cost_endbr,	    [SITE_USUAL] = nw_cost_usual,
	[SITE_WORDS] = nw_cost_words,	    [SITE_BOTH] = nw_cost_both,
	[SITE_RETURN] = nw_cost_return,	    [SITE_EVENT] = nw_cost_relay};

struct call {
	uint64_t began, ended;
	uint64_t hit[2]; /* at the entry and at the return; 0: none */
	uint32_t events; /* number of scheduler events recorded meanwhile */
};

/* The calls are in the order of time. */
struct round {
	struct call call[SITES][CALLS];
	bool probed; /* a site was not as in the file, before the round or after it */
};

/* Before the probes are armed, while they are, and after they were disarmed. */
enum series {
	SERIES_BEFORE,
	SERIES_ARMED,
	SERIES_AFTER,
	ALL_SERIES
};

struct measuring {
	uint64_t offset[SITE_EVENT];
	unsigned char code[SITE_EVENT][CODE]; /* of the sites, in the file */
	struct round *rounds;		      /* ROUNDS of each series */
	size_t next;	 /* the first call that may have the next hit */
	size_t hits;	 /* of the sites */
	size_t assigned; /* those with a call; 0: the records have another clock */
	bool has_events; /* the kernel has scheduler_events */
	bool calls;	 /* the kernel turns the second nop of SITE_CALL into a call */
	struct nw_relay relay;
};

/* The events that happen in each call of nw_cost_relay(), on every kernel: two switches, and one wake-up or two. */
static const char *const scheduler_events[] = {"sched_switch", "sched_wakeup"};

/* ---- calls -------------------------------------------------------------------------- */

/* Has anybody a probe at one of our sites? The kernel changes the code in memory, not in the file. */
static bool is_probed(const struct measuring *m)
{
	bool same = true;

	for (size_t i = 0; i < SITE_EVENT; i++)
		same = same &&
		       memcmp((const void *)(uintptr_t)functions[i], m->code[i], CODE) == 0;
	return !same;
}

static void call_round(const struct measuring *m, const char *text, struct round *round)
{
	round->probed = is_probed(m);
	for (size_t i = 0; i < (size_t)SITES * CALLS; i++) {
		size_t site = i / CALLS;
		nw_cost_function *volatile function = functions[site];
		const void *arg = site == SITE_EVENT ? (const void *)&m->relay : text;
		struct call *call = &round->call[site][i % CALLS];
		call->began = nw_clock_ns(CLOCK_MONOTONIC);
		nw_cost_call(function, arg);
		call->ended = nw_clock_ns(CLOCK_MONOTONIC);
	}
	round->probed = is_probed(m) || round->probed;
}

static void call_all(const struct measuring *m, enum series series)
{
	static const char text[WORDS * WORD_BYTES + 1] =
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

	struct round *rounds = &m->rounds[series * ROUNDS];
	cpu_set_t before;

	bool moved = nw_relay_join(&m->relay, &before);
	for (size_t i = 0; i < ROUNDS; i++)
		call_round(m, text, &rounds[i]);
	if (moved)
		sched_setaffinity(0, sizeof(before), &before);
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns the mean of `part` of a site's calls. Calls for which `part` returns -1 do not count. -1: there are too few
 * calls. */
static int64_t mean(const struct call *calls, int64_t (*part)(const struct call *call))
{
	int64_t sum = 0, count = 0;

	for (size_t i = 0; i < CALLS; i++) {
		int64_t value = part(&calls[i]);
		sum += value >= 0 ? value : 0;
		count += value >= 0;
	}
	return count < CALLS / 2 ? -1 : (sum + count / 2) / count;
}

/* Returns the median of the rounds' means; -1: fewer than half of the rounds count, and have enough calls. */
static int64_t typical_of(const struct measuring *m, enum series series, enum site site,
			  int64_t (*part)(const struct call *call))
{
	const struct round *rounds = &m->rounds[series * ROUNDS];
	int64_t means[ROUNDS];
	size_t count = 0;

	for (size_t i = 0; i < ROUNDS; i++) {
		int64_t value = mean(rounds[i].call[site], part);
		if (value >= 0 && rounds[i].probed == (series == SERIES_ARMED))
			means[count++] = value;
	}
	qsort(means, count, sizeof(*means), by_size);
	return count >= ROUNDS / 2 ? means[count / 2] : -1;
}

static int64_t typical(const struct measuring *m, enum site site,
		       int64_t (*part)(const struct call *call))
{
	return typical_of(m, SERIES_ARMED, site, part);
}

static int64_t whole(const struct call *call)
{
	return (int64_t)(call->ended - call->began);
}

static int64_t whole_with_hit(const struct call *call)
{
	return call->hit[0] || call->hit[1] ? whole(call) : -1;
}

/* A call without a probe, and the taking of the time with it; -1: there are too few. */
static int64_t plain(const struct measuring *m, enum site site)
{
	int64_t before = typical_of(m, SERIES_BEFORE, site, whole);
	int64_t after = typical_of(m, SERIES_AFTER, site, whole);

	return after < 0 || (before >= 0 && before < after) ? before : after;
}

/* Returns the time that the probe adds to a call; -1: there are too few calls, or it adds nothing. */
static int64_t added(const struct measuring *m, enum site site)
{
	const bool told = m->assigned && site != SITE_EVENT;
	int64_t empty = plain(m, site);
	int64_t probed = typical(m, site, told ? whole_with_hit : whole);

	return empty < 0 || probed < empty ? -1 : probed - empty;
}

static int64_t up_to_entry(const struct call *call)
{
	return call->hit[0] ? (int64_t)(call->hit[0] - call->began) : -1;
}

static int64_t up_to_return(const struct call *call)
{
	return call->hit[1] ? (int64_t)(call->hit[1] - call->began) : -1;
}

static int64_t entry_to_return(const struct call *call)
{
	return call->hit[0] && call->hit[1] ? (int64_t)(call->hit[1] - call->hit[0]) : -1;
}

/* ---- the run ------------------------------------------------------------------------ */

/* Called before anything is armed. */
static int start(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct measuring *m = arg;

	(void)run;
	m->rounds = calloc((size_t)ALL_SERIES * ROUNDS, sizeof(*m->rounds));
	if (!m->rounds)
		return nw_no_memory(err);
	nw_relay_open(&m->relay);
	call_all(m, SERIES_BEFORE);
	return 0;
}

static int armed(void *arg, struct nw_run *run, struct nw_error *err)
{
	struct measuring *m = arg;

	(void)run;
	(void)err;
	call_all(m, SERIES_ARMED);
	return 0;
}

/* Returns a call of those with probes, counted in the order of time. */
static struct call *call_at(const struct measuring *m, size_t number)
{
	struct round *round = &m->rounds[SERIES_ARMED * ROUNDS + number / CALLS / SITES];

	return &round->call[number / CALLS % SITES][number % CALLS];
}

/* Assigns a hit to its call. Both come in the order of time. */
static int hit(void *arg, const struct nw_hit *hit, const struct nw_task *task)
{
	struct measuring *m = arg;

	(void)task;
	const size_t all = (size_t)ROUNDS * SITES * CALLS;
	m->hits += hit->probe <= SITE_EVENT;
	while (m->next < all && call_at(m, m->next)->ended < hit->time)
		m->next++;
	struct call *call = m->next < all ? call_at(m, m->next) : NULL;
	if (!call || hit->time < call->began)
		return 0;
	if (hit->probe > SITE_EVENT) {
		call->events++;
		return 0;
	}
	enum site site = (enum site)(m->next / CALLS % SITES);
	bool returns = site == SITE_RETURN || (site == SITE_BOTH && call->hit[0]);
	call->hit[returns] = hit->time;
	m->assigned++;
	return 0;
}

/* ---- what came of it ---------------------------------------------------------------- */

static uint32_t above_zero(int64_t ns)
{
	return ns > 0 ? (uint32_t)nw_min64((uint64_t)ns, NW_MOST_HIT_COST) : 0;
}

/* Computes the cost of a probe that is alone at its site. If the records have another clock, both halves are taken for
 * equal: for probes of one kind only the sum matters. */
static bool one_cost(const struct measuring *m, enum site site,
		     int64_t (*up_to_hit)(const struct call *call), struct nw_hit_cost *out)
{
	int64_t all = added(m, site), before = typical(m, site, up_to_hit);

	if (all <= 0)
		return false;
	before = before < 0 ? all / 2 : before - plain(m, site) / 2;
	out->before = above_zero(before < all ? before : all);
	out->after = above_zero(all) - out->before;
	return true;
}

/* Computes the cost of the return probe of a function whose entry is probed, too. They share a trap: the time between the
 * two records, less the part of the entry behind its timestamp, comes before the return's timestamp. */
static void shared_return_cost(const struct measuring *m, const struct nw_hit_cost *entry,
			       struct nw_hit_cost *out)
{
	int64_t all = added(m, SITE_BOTH) - entry->before - entry->after;
	int64_t between = typical(m, SITE_BOTH, entry_to_return);

	out->before = above_zero(between < 0 ? all / 2 : between - entry->after);
	out->after = above_zero(all - out->before);
}

/* Computes the cost of a kernel event. The part before its timestamp cannot be measured: it is taken to be three
 * sevenths, as in the default values (NW_USUAL_EVENT_BEFORE, NW_USUAL_EVENT_AFTER). It stays 0 if it is not measured:
 * with fewer than two switches a call the two threads were not on one CPU, or the kernel does not tell of all switches. */
static void event_cost(const struct measuring *m, struct nw_hit_cost *out)
{
	const uint64_t calls = (uint64_t)ROUNDS * CALLS;
	int64_t all = added(m, SITE_EVENT);
	uint64_t events = 0;

	for (size_t i = 0; i < calls; i++)
		events += m->rounds[SERIES_ARMED * ROUNDS + i / CALLS]
				  .call[SITE_EVENT][i % CALLS]
				  .events;
	if (all <= 0 || events < 2 * calls)
		return;
	uint32_t cost = above_zero(all * (int64_t)calls / (int64_t)events);
	out->before = cost * 3 / 7;
	out->after = cost - out->before;
}

static bool conclude(const struct measuring *m, struct nw_machine_cost *out)
{
	static const enum nw_cost_kind kinds[] = {
		[SITE_NOP] = NW_COST_NOP,	    [SITE_CALL] = NW_COST_CALL,
		[SITE_LONG_NOP] = NW_COST_LONG_NOP, [SITE_PUSH] = NW_COST_PUSH,
		[SITE_ENDBR] = NW_COST_ENDBR,	    [SITE_USUAL] = NW_COST_USUAL};
	struct nw_hit_cost words = {0};

	*out = (struct nw_machine_cost){.times = 1};
	if (m->hits < (size_t)ROUNDS * SITE_EVENT * CALLS / 2)
		return false;
	for (size_t i = 0; i < NW_COUNT(kinds); i++)
		if (!one_cost(m, (enum site)i, up_to_entry, &out->kind[kinds[i]]))
			return false;
	if (!m->calls) /* it was one at a plain nop */
		out->kind[NW_COST_CALL] = (struct nw_hit_cost){0};
	if (!one_cost(m, SITE_WORDS, up_to_entry, &words) || added(m, SITE_BOTH) < 0 ||
	    !one_cost(m, SITE_RETURN, up_to_return, &out->kind[NW_COST_RETURN_ALONE]))
		return false;
	const struct nw_hit_cost *nop = &out->kind[NW_COST_NOP];
	out->word_ps = above_zero(
		((int64_t)words.before + words.after - nop->before - nop->after) * 1000 /
		WORDS);
	shared_return_cost(m, nop, &out->kind[NW_COST_RETURN]);
	event_cost(m, &out->kind[NW_COST_EVENT]);
	return true;
}

/* ---- the whole ---------------------------------------------------------------------- */

static int find_sites(struct measuring *m, struct nw_error *err)
{
	uintptr_t addresses[SITE_EVENT];

	for (size_t i = 0; i < SITE_EVENT; i++)
		addresses[i] = (uintptr_t)functions[i];
	int ret = nw_process_own_offsets(addresses, SITE_EVENT, m->offset, err);
	int fd = ret < 0 ? -1 : open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; ret == 0 && i < SITE_EVENT; i++)
		if (pread(fd, m->code[i], CODE, (off_t)m->offset[i]) != CODE)
			ret = nw_fail(err, EIO, "cannot read our own executable");
	m->offset[SITE_CALL] += m->calls ? NW_CALL_DISTANCE : 0;
	if (fd >= 0)
		close(fd);
	return ret;
}

static int name_probe(uint64_t offset, nw_strings *out)
{
	char spec[64];
	int len = snprintf(spec, sizeof(spec), "uprobe:/proc/self/exe:0x%" PRIx64, offset);

	return nw_strings_add(out, spec, (size_t)len);
}

/* Names a probe per site, and two for the site whose entry and return are probed: the second one is at another
 * address, because no probe is selected twice. The scheduler's events follow. */
static int name_probes(const struct measuring *m, nw_strings *out)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < SITE_EVENT; i++) {
		ret = name_probe(m->offset[i], out);
		if (ret == 0 && i == SITE_BOTH)
			ret = name_probe(m->offset[i] + 1, out);
	}
	for (size_t i = 0; ret == 0 && m->has_events && i < NW_COUNT(scheduler_events); i++)
		ret = nw_strings_addf(out, "tracepoint:sched:%s", scheduler_events[i]);
	return ret;
}

static int add_string(struct nw_probe *probe)
{
	const struct nw_arch *arch = nw_arch_native();
	struct nw_named_arg *arg = *NW_COST_ARGUMENT && arch ? nw_vec_add(&probe->args)
							     : NULL;

	if (!arg)
		return *NW_COST_ARGUMENT && arch ? -ENOMEM : 0;
	arg->type.base = NW_TYPE_STRING;
	probe->named = probe->has_args = true;
	return nw_operands_parse(arch, NW_COST_ARGUMENT, &probe->points.item[0].operands);
}

/*
 * Changes probes to returns, or adds arguments. Specs could only do that by the names of functions, which may have
 * been stripped, so all selected probes are entries at addresses.
 */
static int change_probes(const struct measuring *m, const struct nw_selection *selection,
			 struct nw_error *err)
{
	const size_t events = m->has_events ? NW_COUNT(scheduler_events) : 0;
	bool found = selection->probes.count == SITE_EVENT + 1 + events;

	for (size_t i = 0; found && i <= SITE_EVENT; i++)
		found = selection->probes.item[i]->points.count == 1;
	if (!found)
		return nw_fail(err, EOPNOTSUPP, "probes of our own are not found");
	const struct nw_point *entry = selection->probes.item[SITE_BOTH]->points.item;
	struct nw_point *back = selection->probes.item[SITE_BOTH + 1]->points.item;
	back->vaddr = entry->vaddr;
	back->offset = entry->offset;
	back->nop = entry->nop;
	back->is_return = true;
	selection->probes.item[SITE_RETURN + 1]->points.item[0].is_return = true;
	return add_string(selection->probes.item[SITE_WORDS]) < 0 ? nw_no_memory(err) : 0;
}

static bool has_events(const struct nw_tracefs *fs)
{
	bool has = true;

	for (size_t i = 0; i < NW_COUNT(scheduler_events); i++) {
		nw_cleanup(nw_free_ptr) char *file = nw_text("events/sched/%s/enable",
							     scheduler_events[i]);
		struct stat st;
		has = has && file && fstatat(fs->root, file, &st, 0) == 0;
	}
	return has;
}

static int measure(const struct nw_tracefs *fs, bool calls, const char *features,
		   struct nw_machine_cost *out, struct nw_error *err)
{
	struct measuring m = {.has_events = has_events(fs), .calls = calls};
	const struct nw_consumer consumer = {
		.arg = &m, .start = start, .armed = armed, .hit = hit, .needs.brief = true};
	const pid_t self = getpid();
	struct nw_run_result result = {0};
	struct nw_run run;
	nw_strings specs = {0};
	int ret = find_sites(&m, err);

	if (ret == 0 && name_probes(&m, &specs) < 0)
		ret = nw_no_memory(err);
	const struct nw_request request = {.specs = (const char *const *)specs.item,
					   .spec_count = specs.count,
					   .pids = &self,
					   .pid_count = 1,
					   .string_size = WORDS * WORD_BYTES,
					   .features = features,
					   .force = true, /* they are our own probes */
					   .source_fd = -1};
	if (ret == 0) {
		ret = nw_run_open(&run, true, &request, &consumer, &result, err);
		if (ret == 0)
			ret = change_probes(&m, &result.selection, err);
		if (ret == 0)
			ret = nw_run_arm(&run, err);
		if (ret == 0)
			ret = nw_run_end(&run, err);
		nw_run_close(&run);
	}
	if (ret == 0)
		call_all(&m, SERIES_AFTER);
	if (ret == 0 && plain(&m, SITE_NOP) < 0)
		ret = nw_fail(
			err, EBUSY,
			"others have probes at the functions that it is measured with");
	if (ret == 0 && !conclude(&m, out))
		ret = nw_fail(err, EOPNOTSUPP, "probes of our own were not recorded");
	if (result.unclean) {
		*err = result.left;
		ret = -EUCLEAN;
	}
	nw_result_free(&result);
	nw_strings_free(&specs);
	nw_relay_close(&m.relay);
	free(m.rounds);
	return ret;
}

/*
 * Another nopwatch may be the same executable, so only the holder of a lock measures; its file is the same in all
 * containers. On some machines a program that hits a probe at the moment of its removal dies (feature disarm_safe). We
 * do not, because we remove our probes ourselves and call nothing meanwhile. Returns a descriptor, or -errno.
 */
static int lock_sites(const struct nw_tracefs *fs, struct nw_error *err)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	int fd = nw_tracefs_open_lock(fs, err);

	if (fd < 0)
		return fd;
	for (int tries = LOCK_TRIES; flock(fd, LOCK_EX | LOCK_NB) < 0; tries--) {
		if (!tries) {
			close(fd);
			return nw_fail(
				err, EBUSY,
				"another nopwatch has been measuring it for two seconds, and only one may at a time");
		}
		nanosleep(&pause, NULL);
	}
	return fd;
}

/* Are there enough measurements since boot? out->times 0: there are none. */
static bool is_known(const struct nw_tracefs *fs, struct nw_machine_cost *out)
{
	if (!nw_machine_cost_recall(fs, out))
		out->times = 0;
	return out->times >= ENOUGH;
}

static int find(const struct nw_tracefs *fs, const bool *has, const char *mask,
		struct nw_machine_cost *out, struct nw_error *err)
{
	if (!has[NW_FEATURE_INSTANCES] || !has[NW_FEATURE_INSTANCE_EVENTS])
		return nw_fail(err, EOPNOTSUPP,
			       "this kernel's probes do not record in instances");
	if (is_known(fs, out))
		return 0;
	int lock = lock_sites(fs, err), ret = 0;
	/* Another nopwatch may just have measured. */
	bool known = is_known(fs, out);
	if (lock < 0)
		return out->times ? 0 : lock;
	if (!known) {
		struct nw_machine_cost more = {0};
		ret = measure(fs, has[NW_FEATURE_NOP10], mask, &more, err);
		if (ret == 0) {
			nw_machine_cost_add(out, &more);
			nw_machine_cost_keep(fs, out);
		}
	}
	close(lock);
	return out->times && ret != -EUCLEAN ? 0 : ret;
}

int nw_machine_cost(const struct nw_tracefs *fs, const struct nw_features *features,
		    const char *mask, struct nw_machine_cost *out, struct nw_error *err)
{
	if (is_known(fs, out) || out->times)
		return 0;
	if (!features->has[NW_FEATURE_DISARM_SAFE])
		return nw_fail(err, EOPNOTSUPP,
			       "it was not measured since boot; --net measures it");
	return find(fs, features->has, mask, out, err);
}

/* ---- by probe ----------------------------------------------------------------------- */

/* x86 instructions that differ in cost. */
static const struct {
	enum nw_cost_kind kind;
	unsigned char mask[4], code[4];
} instructions[] = {
	{NW_COST_PUSH, {0xf8}, {0x50}},
	{NW_COST_PUSH, {0xff, 0xf8}, {0x41, 0x50}},
	{NW_COST_ENDBR, {0xff, 0xff, 0xff, 0xfe}, {0xf3, 0x0f, 0x1e, 0xfa}},
	/* The kernel emulates jumps and calls, as it does nops. */
	{NW_COST_NOP, {0xff}, {0xe8}},
	{NW_COST_NOP, {0xfd}, {0xe9}},
	{NW_COST_NOP, {0xf0}, {0x70}},
	{NW_COST_NOP, {0xff, 0xf0}, {0x0f, 0x80}},
};

static enum nw_cost_kind instruction_kind(const struct nw_point *point)
{
	unsigned char code[4] = {0};
	const struct nw_image *image = point->image;

	if (point->is_call)
		return NW_COST_CALL;
	if (point->nop == NW_NOP_1 || point->nop == NW_NOP_PAIR)
		return NW_COST_NOP;
	if (point->nop != NW_NOP_NONE)
		return NW_COST_LONG_NOP;
	if ((image->machine != EM_X86_64 && image->machine != EM_386) ||
	    pread(image->fd, code, sizeof(code), (off_t)point->offset) < 1)
		return NW_COST_USUAL;
	for (size_t i = 0; i < NW_COUNT(instructions); i++) {
		bool same = true;
		for (size_t j = 0; j < sizeof(code); j++)
			same = same && (code[j] & instructions[i].mask[j]) ==
					       instructions[i].code[j];
		if (same)
			return instructions[i].kind;
	}
	return NW_COST_USUAL;
}

static int by_place(const void *a, const void *b)
{
	const struct nw_point *x = *(const struct nw_point *const *)a;
	const struct nw_point *y = *(const struct nw_point *const *)b;

	if (x->image != y->image)
		return (uintptr_t)x->image < (uintptr_t)y->image ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

typedef NW_VEC(const struct nw_point *) points;

/* Lists the entry probes, sorted by place. */
static int find_entries(const struct nw_plan *plan, points *out)
{
	nw_vec_each (&plan->points, planned) {
		const struct nw_probe *probe = plan->selection->probes.item[planned->probe];
		const struct nw_point *point = &probe->points.item[planned->point];
		const struct nw_point **slot = point->is_return ? NULL : nw_vec_add(out);
		if (!point->is_return && !slot)
			return -ENOMEM;
		if (slot)
			*slot = point;
	}
	if (out->count)
		qsort(out->item, out->count, sizeof(const struct nw_point *), by_place);
	return 0;
}

static bool is_shared(const points *entries, const struct nw_point *point)
{
	return entries->count && bsearch(&point, entries->item, entries->count,
					 sizeof(const struct nw_point *), by_place);
}

/* Returns how many words of memory these fetches read: "a0=%di:u64 a1=+0(+8(%di)):x64[16]" are 17. */
static uint64_t words_of(const char *fetches)
{
	uint64_t words = 0;

	while (*fetches) {
		size_t len = strcspn(fetches, " "), nested = 0;
		const char *array = memchr(fetches, '[', len);
		for (size_t i = 0; i < len; i++)
			nested += fetches[i] == '(';
		if (nested)
			words += nested - 1 + (array ? strtoul(array + 1, NULL, 10) : 1);
		fetches += len + (fetches[len] == ' ');
	}
	return words;
}

static uint64_t *planned_words(const struct nw_plan *plan)
{
	uint64_t *words = calloc(plan->points.count + 1, sizeof(*words));

	nw_vec_each (&plan->events, event)
		nw_vec_each (&(*event)->places, place)
			if (words && place->fetches)
				words[place->planned] += words_of(place->fetches);
	return words;
}

static struct nw_hit_cost cost_of(const struct nw_machine_cost *machine,
				  const points *entries, const struct nw_point *point,
				  uint64_t words)
{
	enum nw_cost_kind kind = NW_COST_RETURN_ALONE;

	if (!point->is_return)
		kind = instruction_kind(point);
	else if (is_shared(entries, point))
		kind = NW_COST_RETURN;
	if (kind == NW_COST_CALL && !machine->kind[kind].before)
		kind = NW_COST_NOP;
	struct nw_hit_cost cost = machine->kind[kind];
	const uint64_t with_words = cost.before + words * machine->word_ps / 1000;
	cost.before = (uint32_t)nw_min64(with_words, NW_MOST_HIT_COST);
	return cost;
}

/* The cost of a kernel event if it cannot be measured; see docs/dev/performance.md. */
static const struct nw_hit_cost usual_event = {.before = NW_USUAL_EVENT_BEFORE,
					       .after = NW_USUAL_EVENT_AFTER};

/* Computes the mean of a probe's places. */
static int cost_probes(const struct nw_plan *plan, const struct nw_machine_cost *machine,
		       struct nw_hit_cost *out)
{
	size_t probes = plan->selection->probes.count;
	const struct nw_hit_cost *event = &machine->kind[NW_COST_EVENT];
	nw_cleanup(nw_free_ptr) uint64_t *words = planned_words(plan);
	nw_cleanup(nw_free_ptr) uint64_t *places = calloc(probes + 1, sizeof(*places));
	points entries = {0};
	int ret = words && places ? find_entries(plan, &entries) : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < plan->points.count; i++) {
		const struct nw_planned_point *planned = &plan->points.item[i];
		const struct nw_probe *probe = plan->selection->probes.item[planned->probe];
		struct nw_hit_cost *mean = &out[planned->probe];
		/* a probe in a function of the kernel costs at least as much as an event of the kernel */
		if (nw_probe_in_kernel(probe)) {
			if (strcmp(probe->provider, NW_STACK_SYSTEM) != 0)
				*mean = event->before ? *event : usual_event;
			continue;
		}
		const struct nw_hit_cost cost = cost_of(
			machine, &entries, &probe->points.item[planned->point], words[i]);
		uint64_t count = ++places[planned->probe];
		mean->before = (uint32_t)((mean->before * (count - 1) + cost.before) /
					  count);
		mean->after = (uint32_t)((mean->after * (count - 1) + cost.after) / count);
	}
	nw_vec_free(&entries);
	return ret;
}

int nw_run_find_costs(struct nw_run *run, struct nw_error *err)
{
	struct nw_run_result *result = run->result;
	struct nw_error why = {0};

	if (run->consumer.needs.costs == NW_COSTS_NONE)
		return 0;
	if (run->consumer.needs.costs == NW_COSTS_KNOWN) {
		is_known(&run->live.fs, &result->machine_cost);
		result->has_machine_cost = result->machine_cost.times;
		return 0;
	}
	int ret = find(&run->live.fs, run->live.features.has, run->request->features,
		       &result->machine_cost, &why);
	if (ret == -EUCLEAN) {
		result->unclean = true;
		result->left = why;
	} else if (ret == 0)
		result->has_machine_cost = true;
	else if (run->consumer.needs.costs == NW_COSTS_NEEDED)
		return nw_fail(err, why.code,
			       "--net: what a hit costs cannot be measured: %s", why.what);
	else if (run->consumer.needs.costs == NW_COSTS_TOLD)
		nw_run_notice(run, "the probe overhead in spans is not known: %s",
			      why.what);
	return 0;
}

int nw_result_find_costs(struct nw_run_result *result, const char *mask,
			 struct nw_error *err)
{
	struct nw_features features;
	struct nw_tracefs fs;
	int ret = nw_tracefs_open(&fs, err);

	if (ret < 0)
		return ret;
	ret = nw_features_find(&fs, mask, true, &features, err);
	if (ret == 0)
		ret = nw_machine_cost(&fs, &features, mask, &result->machine_cost, err);
	nw_tracefs_close(&fs);
	result->has_machine_cost = ret == 0;
	return ret < 0 ? ret : nw_run_cost_probes(result, err);
}

int nw_run_cost_probes(struct nw_run_result *result, struct nw_error *err)
{
	if (!result->has_machine_cost)
		return 0;
	result->hit_costs = calloc(result->selection.probes.count + 1,
				   sizeof(*result->hit_costs));
	return !result->hit_costs || cost_probes(&result->plan, &result->machine_cost,
						 result->hit_costs) < 0
		       ? nw_no_memory(err)
		       : 0;
}
