// SPDX-License-Identifier: MIT
/* See buffer_growth.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer_growth.h"
#include "nopwatch/text.h"

#define LOOK_NS UINT64_C(1000000000)
#define STEP_NS   \
	UINT64_C( \
		20000000) /* a step is to take: slow spans are not looked out for meanwhile */
#define FIRST_STEP ((uint64_t)4 << 20)
#define MOST_STEP  ((uint64_t)256 << 20)

/* How far back the CPU reaches that reaches least. */
static uint64_t find_reach(const struct nw_run *run)
{
	uint64_t reach = UINT64_MAX, size = nw_session_buffer(run->session);

	nw_vec_each (&run->cpus, cpu) {
		struct nw_buf stats = {0};
		char file[64];
		snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", *cpu);
		if (nw_tracefs_read(nw_session_instance(run->session), file, &stats) == 0)
			reach = nw_min64(reach,
					 nw_buffer_stats_reach(nw_buf_str(&stats), size));
		nw_buf_free(&stats);
	}
	return reach;
}

/* An eighth of the memory that is free now, for every CPU alike; 0: not known. */
static uint64_t most_per_cpu(const struct nw_run *run)
{
	struct nw_buf text = {0};
	uint64_t most = 0;
	FILE *file = fopen("/proc/meminfo", "re");

	if (file && nw_buf_read(&text, fileno(file)) == 0) {
		const char *at = strstr(nw_buf_str(&text), "MemAvailable:");
		if (!at) /* Linux 3.14 on */
			at = strstr(nw_buf_str(&text), "MemFree:");
		if (at)
			most = strtoull(strchr(at, ':') + 1, NULL, 10) * 1024 / 8 /
			       run->cpus.count;
	}
	if (file)
		fclose(file);
	nw_buf_free(&text);
	return most;
}

static void warn_short(struct nw_buffer_growth *growth, const struct nw_run *run,
		       uint64_t reach, const char *why)
{
	char holds[16], wanted[16];

	if (growth->told)
		return;
	growth->told = true;
	nw_duration_text(reach, holds);
	nw_duration_text(growth->keep_ns, wanted);
	nw_run_notice(run,
		      "the ring buffer (%" PRIu64
		      " KiB per CPU) holds the last %s only, at this rate, not %s: %s",
		      nw_session_buffer(run->session) / 1024, holds, wanted, why);
}

/* Is it too small? Then how large it is to be. */
static void choose_target(struct nw_buffer_growth *growth, const struct nw_run *run)
{
	uint64_t size = nw_session_buffer(run->session), reach = find_reach(run);

	if (reach >= growth->wanted_ns)
		return;
	double bytes = (double)size * 1.25 * (double)growth->wanted_ns /
		       (double)nw_max64(reach, 1);
	uint64_t most = growth->fixed ? 0 : most_per_cpu(run);
	if (growth->fixed)
		warn_short(growth, run, reach, "-b makes it larger");
	else if (bytes < (double)most)
		growth->target = (uint64_t)bytes;
	else if (most > size + size / 4)
		growth->target = most;
	else
		warn_short(
			growth, run, reach,
			"an eighth of the free memory is the most it may have without -b");
}

static void report_grown(const struct nw_buffer_growth *growth, const struct nw_run *run)
{
	char took[16];

	if (!run->request->verbose)
		return;
	nw_duration_text(growth->missing_ns, took);
	nw_run_notice(
		run,
		"the ring buffer has %" PRIu64
		" KiB per CPU now; what was hit in the %s that this took may be missing",
		nw_session_buffer(run->session) / 1024, took);
}

/* The kernel takes the longer the more it is given, and how long for so much is not known before. */
static int grow(struct nw_buffer_growth *growth, const struct nw_run *run,
		struct nw_page_history *history)
{
	uint64_t size = nw_session_buffer(run->session);
	uint64_t step = growth->step ? growth->step : FIRST_STEP;
	struct nw_history_hole *hole = nw_vec_add(&history->holes);
	struct nw_error err;

	if (!hole)
		return -ENOMEM;
	step = nw_min64(step, growth->target - size);
	hole->from = nw_session_now(run->session);
	int ret = nw_session_grow(run->session, size + step, &err);
	hole->until = nw_session_now(run->session);
	uint64_t took = nw_max64(hole->until - hole->from, 1000);
	growth->missing_ns += took;
	growth->step = (uint64_t)((double)step * (double)STEP_NS / (double)took);
	growth->step = nw_max64(nw_min64(growth->step, MOST_STEP), FIRST_STEP / 4);
	if (ret < 0) {
		growth->fixed = true;
		warn_short(growth, run, find_reach(run), err.what);
	} else if (nw_session_buffer(run->session) >= growth->target) {
		report_grown(growth, run);
	}
	return 0;
}

int nw_buffer_growth_check(struct nw_buffer_growth *growth, struct nw_run *run,
			   struct nw_page_history *history)
{
	uint64_t now = nw_session_now(run->session);

	if (now - growth->looked_at >= LOOK_NS) {
		growth->looked_at = now;
		choose_target(growth, run);
	}
	return !growth->fixed && nw_session_buffer(run->session) < growth->target
		       ? grow(growth, run, history)
		       : 0;
}
