// SPDX-License-Identifier: MIT
/* See reach.h. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reach.h"

#define LOOK_NS UINT64_C(1000000000)

/* Returns an eighth of the free memory; if that is unknown, the size of the ring buffer. */
static uint64_t find_most(const struct nw_run *run)
{
	uint64_t most = nw_run_buffer_size(run);
	struct nw_buf text = {0};

	if (nw_buf_read_file(&text, AT_FDCWD, "/proc/meminfo") == 0) {
		const char *at = strstr(nw_buf_str(&text), "MemAvailable:");
		if (!at) /* MemAvailable exists since Linux 3.14 */
			at = strstr(nw_buf_str(&text), "MemFree:");
		if (at)
			most = strtoull(strchr(at, ':') + 1, NULL, 10) * 1024 / 8;
	}
	nw_buf_free(&text);
	return most;
}

void nw_reach_warn(struct nw_reach *reach, const struct nw_run *run, uint64_t holds_ns,
		   const char *why)
{
	char holds[16], wanted[16];

	if (reach->told)
		return;
	reach->told = true;
	nw_duration_text(holds_ns, holds);
	nw_duration_text(reach->keep_ns, wanted);
	nw_run_notice(run, "at this rate only the last %s are kept, not %s: %s", holds,
		      wanted, why);
}

static void begin_to_read(struct nw_reach *reach, const struct nw_run *run, uint64_t holds)
{
	char text[16];

	reach->is_short = true;
	reach->most = find_most(run);
	nw_duration_text(holds, text);
	if (run->request->verbose)
		nw_run_notice(
			run,
			"the ring buffer (%" PRIu64
			" KiB per CPU) holds the last %s only, at this rate: so it is read all the time from now on",
			nw_session_buffer(nw_run_session(run)) / 1024, text);
}

bool nw_reach_check(struct nw_reach *reach, const struct nw_run *run)
{
	uint64_t now = nw_run_now(run), holds;

	if (now - reach->looked_at < LOOK_NS)
		return false;
	reach->looked_at = now;
	if (reach->is_short || (holds = nw_run_reach(run)) >= reach->wanted_ns)
		return true;
	if (!reach->fixed)
		begin_to_read(reach, run, holds);
	else
		nw_reach_warn(reach, run, holds,
			      "the ring buffer holds no more (-b makes it larger)");
	return true;
}

const char *nw_reach_explain(uint64_t from, uint64_t armed, uint64_t begins,
			     uint64_t *late_ns)
{
	const uint64_t worth = LOOK_NS / 10, should = nw_max64(from, armed);

	*late_ns = begins - nw_min64(should, begins);
	if (*late_ns >= worth)
		return "the ring buffer holds no more (see -b)";
	*late_ns = begins - nw_min64(from, begins);
	return *late_ns >= worth ? "the probes were armed only then" : NULL;
}
