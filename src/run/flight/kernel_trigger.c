// SPDX-License-Identifier: MIT
/* The kernel itself finds slow spans: see span_trigger.h and span_watch.h. */
#include <errno.h>
#include <string.h>

#include "run/limits/guards.h"
#include "stream/pages/page.h"

#include "span_trigger.h"

#define LOOK_NS UINT64_C(5000000000)

/* Returns the only span that is watched; NULL: there are several. */
static const struct nw_span_def *watched_span(const struct nw_span_trigger *l)
{
	const struct nw_span_def *found = NULL;

	for (size_t i = 0; i < l->measure.spans.count; i++) {
		if (!l->watched[i])
			continue;
		if (found)
			return NULL;
		found = &l->measure.spans.item[i];
	}
	return found;
}

/* Returns the event that has all places of the only probe, and no others; NULL: there is none. */
static const struct nw_armed_event *event_of(const struct nw_span_trigger *l,
					     const nw_vec_u32 *probes)
{
	const struct nw_armed_event *found = NULL;

	if (probes->count != 1)
		return NULL;
	nw_vec_each (&l->result.armed.events, slot) {
		const struct nw_event *planned = (*slot)->planned;
		bool other = false, same = false;
		nw_vec_each (&planned->places, place) {
			bool is = l->result.plan.points.item[place->planned].probe ==
				  probes->item[0];
			same |= is;
			other |= !is;
		}
		if (same && (other || found || *planned->system || (*slot)->only >= 0 ||
			     (*slot)->defined != planned->places.count))
			return NULL;
		if (same)
			found = *slot;
	}
	return found;
}

static void take_record(struct nw_span_trigger *l, const unsigned char *data, uint32_t size)
{
	uint64_t took, at;
	uint16_t id;
	int32_t tid;

	if (size < sizeof(id))
		return;
	memcpy(&id, data, sizeof(id));
	if (id != l->record.id || size < l->record.tid + sizeof(tid) ||
	    size < l->record.took + sizeof(took) || size < l->record.at + sizeof(at))
		return;
	memcpy(&tid, data + l->record.tid, sizeof(tid));
	memcpy(&took, data + l->record.took, sizeof(took));
	memcpy(&at, data + l->record.at, sizeof(at));
	const struct nw_seen_span seen = {
		.name = watched_span(l)->name,
		.start = at - took,
		.end = at,
		.tid = tid,
		.task = nw_run_task(&l->run, tid),
	};
	l->seen(l->arg, &seen);
}

/* The stream's tap. The plan does not know the kernel's records of slow spans. */
static int take_page(void *arg, uint32_t cpu, const unsigned char *bytes, size_t len)
{
	struct nw_span_trigger *l = arg;
	const unsigned char *data;
	struct nw_page page;
	uint32_t size;

	(void)cpu;
	if (!l->by_kernel ||
	    nw_page_open(&page, nw_run_page_layout(&l->run), bytes, len) < 0)
		return 0;
	while (nw_page_next(&page, &data, &size) > 0)
		take_record(l, data, size);
	return 0;
}

static int find_record(struct nw_span_trigger *l)
{
	const struct nw_wanted_field fields[] = {
		{"common_pid", sizeof(int32_t), &l->record.tid},
		{"took", sizeof(uint64_t), &l->record.took},
		{"at", sizeof(uint64_t), &l->record.at},
	};
	struct nw_buf text = {0};
	int ret = nw_tracefs_format(l->watch.fs, "synthetic", l->watch.group, &text);

	if (ret == 0)
		ret = text.failed ? -ENOMEM
				  : nw_format_find(nw_buf_str(&text), fields,
						   NW_COUNT(fields), &l->record.id);
	nw_buf_free(&text);
	return ret;
}

const char *nw_span_trigger_by_kernel(struct nw_span_trigger *l)
{
	const struct nw_session *session = nw_run_session(&l->run);
	const bool *has = nw_session_features(session)->has;
	const struct nw_span_def *span = watched_span(l);
	const struct nw_armed_event *start, *end;

	if (!has[NW_FEATURE_HIST] || !has[NW_FEATURE_SYNTHETIC])
		return "this kernel has no hist triggers, or no synthetic events";
	if (nw_session_clock(session) == NW_CLOCK_OTHER)
		return "nopwatch cannot read its trace clock";
	if (!span)
		return "several spans have this name";
	if (!span->flat || span->call || span->key != NW_KEY_TID || *span->end_key_name)
		return "the kernel keeps one start a thread, which is right only for spans with nest=no";
	if (l->request.filter || l->request.max_rate)
		return "--filter and --max-rate need each hit";
	if (l->result.restricted && !nw_session_restricts(session))
		return "this kernel also records hits of other processes";
	if (nw_selection_carries(&l->result.selection))
		return "arguments that are read at the return (@return) need each hit";
	if (l->result.plan.chains)
		return "elements of arrays need each hit";
	start = event_of(l, &span->starts);
	end = event_of(l, &span->ends);
	if (!start || !end)
		return "its start or its end is more than one event";
	nw_run_tap(&l->run, take_page, l);
	l->watch = nw_session_span_watch(session, start->name, end->name);
	if (nw_span_watch_begin(&l->watch, l->until->least_ns) < 0)
		return "the kernel has refused the triggers";
	if (find_record(l) < 0) {
		nw_span_watch_end(&l->watch);
		return "the format of the kernel's record cannot be read";
	}
	nw_external_changes_close(&l->run); /* these two events are not recorded any more */
	l->by_kernel = true;
	l->checked = nw_run_now(&l->run);
	return NULL;
}

const char *nw_span_trigger_check_kernel(struct nw_span_trigger *l)
{
	uint64_t now, dropped = 0;

	if (!l->by_kernel || l->fell_back)
		return NULL;
	now = nw_run_now(&l->run);
	if (!l->ended && now - l->checked < LOOK_NS)
		return NULL;
	l->checked = now;
	int ret = nw_span_watch_check(&l->watch, &l->spans, &dropped);
	if (ret == 0 && !dropped)
		return NULL;
	nw_span_watch_end(&l->watch);
	l->fell_back = true; /* records up to now are still read */
	if (l->ended)
		return ret < 0 ? "another program has removed the kernel's triggers: slow spans of the last seconds may be missing"
			       : "the kernel's triggers had no room for so many threads: slow spans of the last seconds may be missing";
	return ret < 0 ? "another program has removed the kernel's triggers: from now on the two events are read"
		       : "the kernel's triggers have no room for so many threads: from now on the two events are read";
}
