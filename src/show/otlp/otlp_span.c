// SPDX-License-Identifier: MIT
/* A slow span as a span of a trace, whose only span it is. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "otlp.h"
#include "show/rows/stacks.h"

enum {
	INTERNAL = 1 /* SPAN_KIND_INTERNAL */
};

/* ---- identifiers -------------------------------------------------------------------- */

/* A span of a thread of a machine has the same identifiers however often it is written: once live, once of a recording. */
static void identify(struct nw_json *json, const struct nw_output *output,
		     const struct nw_slow_span *slow)
{
	const char *resource = nw_otlp_resource(output), *name = slow->span->name;
	uint64_t hash = nw_hash_text(resource, strlen(resource));
	char text[40];

	hash = nw_hash64(hash ^ nw_hash_text(name, strlen(name)));
	hash = nw_hash64(hash ^ (slow->start + (uint64_t)slow->wall_ns));
	hash = nw_hash64(hash ^ (slow->ended->time + (uint64_t)slow->wall_ns));
	hash = nw_hash64(hash ^ (uint32_t)slow->ended->tid);
	/* All zeroes are no identifier. */
	snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, hash | 1,
		 nw_hash64(hash + 1));
	nw_json_key_text(json, "traceId", text);
	snprintf(text, sizeof(text), "%016" PRIx64, nw_hash64(hash + 2) | 1);
	nw_json_key_text(json, "spanId", text);
}

/* ---- attributes --------------------------------------------------------------------- */

static void arguments(struct nw_json *json, const struct nw_slow_span *slow,
		      const char *end, const struct nw_hit *hit)
{
	for (size_t i = 0; hit && i < hit->value_count; i++) {
		char name[NW_ARG_NAME], key[NW_ARG_NAME + 24];
		nw_arg_name(slow->selection->probes.item[hit->probe], i, name);
		snprintf(key, sizeof(key), "nopwatch.%s.%s", end, name);
		nw_otlp_value(json, key, &hit->values[i]);
	}
}

static void states(struct nw_json *json, const struct nw_slow_span *slow)
{
	char key[48];

	for (size_t i = 0; slow->states && i < NW_TASK_STATES; i++) {
		snprintf(key, sizeof(key), "nopwatch.state.%s_ns", nw_task_state_names[i]);
		nw_otlp_int(json, key, (int64_t)slow->states->ns[i]);
	}
}

/* The callers, a line each, the function that was hit first. */
static void stack(struct nw_json *json, const struct nw_slow_span *slow)
{
	struct nw_buf lines = {0};

	if (!slow->stacks || !nw_slow_stack(slow))
		return;
	const struct nw_stack of = nw_stacks_get(slow->stacks, nw_slow_stack(slow));
	for (size_t i = 0; i < of.count; i++)
		nw_buf_printf(&lines, "%s%s", i ? "\n" : "",
			      nw_stacks_frame(slow->stacks, of.frames[i]).text);
	nw_otlp_text(json, "code.stacktrace", nw_buf_str(&lines), lines.len);
	json->out->failed |= lines.failed;
	nw_buf_free(&lines);
}

static void attributes(struct nw_json *json, const struct nw_slow_span *slow)
{
	nw_json_key(json, "attributes");
	nw_json_open(json, '[');
	nw_otlp_int(json, "thread.id", slow->ended->tid);
	nw_otlp_text(json, "thread.name", slow->task->comm, strlen(slow->task->comm));
	nw_otlp_int(json, "process.pid", slow->task->pid);
	nw_otlp_int(json, "cpu.logical_number", slow->ended->cpu);
	if (slow->net)
		nw_otlp_int(json, "nopwatch.net_latency_ns", (int64_t)slow->latency);
	if (slow->has_cost)
		nw_otlp_int(json, "nopwatch.probe_cost_ns", (int64_t)slow->cost);
	states(json, slow);
	arguments(json, slow, "start", slow->began);
	arguments(json, slow, "end", slow->ended);
	stack(json, slow);
	nw_json_close(json, ']');
}

void nw_otlp_span(struct nw_output *output, const struct nw_slow_span *slow)
{
	struct nw_json json = nw_otlp_begin(output, "resourceSpans", "scopeSpans", "spans");

	nw_json_open(&json, '{');
	identify(&json, output, slow);
	nw_json_key_text(&json, "name", slow->span->name);
	nw_json_key_u64(&json, "kind", INTERNAL);
	nw_otlp_key_u64(&json, "startTimeUnixNano", slow->start + (uint64_t)slow->wall_ns);
	nw_otlp_key_u64(&json, "endTimeUnixNano",
			slow->ended->time + (uint64_t)slow->wall_ns);
	attributes(&json, slow);
	nw_json_close(&json, '}');
	nw_otlp_end(&json);
}
