// SPDX-License-Identifier: MIT
/*
 * Events and spans as a Perfetto trace, for ui.perfetto.dev, trace_processor and traceconv. A file is a
 * sequence of packets, each whole in itself, so that one that was cut off can be read up to there.
 *
 * Spans by thread are slices on their threads' tracks. On a track, slices must nest: a slice's end is that
 * of the innermost that is open. So a span is written when it has ended, and is then known to nest or
 * not; one that does not goes to a track of its own below the thread's. Packets need not be in the
 * order of time: who reads them sorts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfetto.h"

enum {
	SECOND = 1000000000,
};

/* ---- threads ------------------------------------------------------------------------ */

static uint64_t hash_of(int32_t tid)
{
	return nw_hash64((uint32_t)tid);
}

struct nw_pf_thread *nw_pf_find_thread(const struct nw_pf *p, int32_t tid)
{
	nw_hash_each (&p->thread_table, hash_of(tid), number)
		if (p->threads.item[number].tid == tid)
			return &p->threads.item[number];
	return NULL;
}

static struct nw_pf_thread *add_thread(struct nw_pf *p, int32_t tid)
{
	struct nw_pf_thread *thread = nw_vec_add(&p->threads);

	if (!thread ||
	    nw_hash_table_add(&p->thread_table, hash_of(tid), p->threads.count - 1) < 0)
		return NULL;
	thread->tid = tid;
	return thread;
}

uint64_t nw_pf_thread_track(const struct nw_pf_thread *thread)
{
	return nw_pf_track(TRACK_OF_THREAD, (uint32_t)thread->pid, (uint32_t)thread->tid);
}

static void process_descriptor(struct nw_buf *out, struct nw_pf *p,
			       const struct nw_pf_thread *thread)
{
	bool leads = thread->tid == thread->pid;
	char pid[16];
	int len = snprintf(pid, sizeof(pid), "%d", (int)thread->pid);

	if (!leads && nw_index_find(&p->processes, pid, (size_t)len) >= 0)
		return;
	out->failed |= nw_index_add(&p->processes, pid, (size_t)len) < 0;
	size_t packet = nw_pf_packet(out);
	size_t track = nw_pb_open(out, PACKET_TRACK_DESCRIPTOR);
	nw_pb_uint(out, TRACK_UUID,
		   nw_pf_track(TRACK_OF_PROCESS, 0, (uint32_t)thread->pid));
	size_t process = nw_pb_open(out, TRACK_PROCESS);
	nw_pb_int(out, PROCESS_PID, thread->pid);
	if (leads)
		nw_pb_string(out, PROCESS_NAME, thread->comm, strlen(thread->comm));
	nw_pb_close(out, process);
	nw_pb_close(out, track);
	nw_pb_close(out, packet);
}

static void thread_descriptor(struct nw_buf *out, struct nw_pf *p,
			      const struct nw_pf_thread *thread)
{
	process_descriptor(out, p, thread);
	size_t packet = nw_pf_packet(out);
	size_t track = nw_pb_open(out, PACKET_TRACK_DESCRIPTOR);
	nw_pb_uint(out, TRACK_UUID, nw_pf_thread_track(thread));
	nw_pb_uint(out, TRACK_PARENT,
		   nw_pf_track(TRACK_OF_PROCESS, 0, (uint32_t)thread->pid));
	size_t inner = nw_pb_open(out, TRACK_THREAD);
	nw_pb_int(out, THREAD_PID, thread->pid);
	nw_pb_int(out, THREAD_TID, thread->tid);
	nw_pb_string(out, THREAD_NAME, thread->comm, strlen(thread->comm));
	nw_pb_close(out, inner);
	nw_pb_close(out, track);
	nw_pb_close(out, packet);
}

struct nw_pf_thread *nw_pf_thread(struct nw_output *output,
				  const struct nw_event_line *line)
{
	struct nw_pf *p = output->state;
	int32_t tid = line->hit->tid, pid = line->task ? line->task->pid : tid;
	const char *comm = line->task ? line->task->comm : "";

	struct nw_pf_thread *thread = nw_pf_find_thread(p, tid);
	if (thread && thread->pid == pid && strcmp(thread->comm, comm) == 0)
		return thread;
	if (!thread)
		thread = add_thread(p, tid);
	if (!thread) {
		output->text.failed = true;
		return NULL;
	}
	thread->pid = pid;
	memcpy(thread->comm, comm, strnlen(comm, sizeof(thread->comm) - 1) + 1);
	thread->comm[sizeof(thread->comm) - 1] = '\0';
	thread_descriptor(&output->text, p, thread);
	return thread;
}

/* ---- events ------------------------------------------------------------------------- */

/* Writes the time of day of a timestamp. */
static void clock_snapshot(struct nw_buf *out, uint64_t time, int64_t wall_ns)
{
	const uint64_t clocks[][2] = {{CLOCK_BOOTTIME_ID, time},
				      {CLOCK_REALTIME_ID, time + (uint64_t)wall_ns}};
	size_t packet = nw_pf_packet(out);

	nw_pb_uint(out, PACKET_TIMESTAMP, time);
	size_t snapshot = nw_pb_open(out, PACKET_CLOCK_SNAPSHOT);
	for (size_t i = 0; i < NW_COUNT(clocks); i++) {
		size_t clock = nw_pb_open(out, SNAPSHOT_CLOCKS);
		nw_pb_uint(out, CLOCK_ID, clocks[i][0]);
		nw_pb_uint(out, CLOCK_TIMESTAMP, clocks[i][1]);
		nw_pb_close(out, clock);
	}
	nw_pb_close(out, snapshot);
	nw_pb_close(out, packet);
}

/* Counts hits by second: the counter has a second's number from the second's beginning on. */
static void count_hit(struct nw_buf *out, struct nw_pf *p, uint64_t time)
{
	uint64_t second = time / SECOND;

	if (second != p->second && p->hits) {
		nw_pf_counter(out, p->second * SECOND, TRACK_OF_HITS, p->hits);
		if (second != p->second + 1)
			nw_pf_counter(out, (p->second + 1) * SECOND, TRACK_OF_HITS, 0);
		p->hits = 0;
	}
	p->second = second;
	p->hits++;
}

/* The scheduler events from which thread states are drawn, with their fields in the order of their numbers. */
static const struct kernel_event {
	const char *label;
	unsigned int field;
	const char *arg[8];
} kernel_events[] = {
	{"sched:sched_switch",
	 FTRACE_SCHED_SWITCH,
	 {"prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid",
	  "next_prio"}},
	{"sched:sched_wakeup",
	 FTRACE_SCHED_WAKEUP,
	 {"comm", "pid", "prio", "success", "target_cpu"}},
	{"sched:sched_waking",
	 FTRACE_SCHED_WAKING,
	 {"comm", "pid", "prio", "success", "target_cpu"}},
};

static const struct kernel_event *kernel_event_of(const struct nw_probe *probe)
{
	for (size_t i = 0; probe->kind == NW_SPEC_TRACEPOINT && i < NW_COUNT(kernel_events);
	     i++)
		if (strcmp(probe->label, kernel_events[i].label) == 0)
			return &kernel_events[i];
	return NULL;
}

static void write_kernel_event(struct nw_buf *out, const struct kernel_event *kind,
			       const struct nw_event_line *line)
{
	size_t packet = nw_pf_packet(out);
	size_t bundle = nw_pb_open(out, PACKET_FTRACE_EVENTS);

	nw_pb_uint(out, BUNDLE_CPU, line->hit->cpu);
	size_t event = nw_pb_open(out, BUNDLE_EVENT);
	nw_pb_uint(out, FTRACE_TIMESTAMP, line->hit->time);
	nw_pb_int(out, FTRACE_PID, line->hit->tid);
	size_t fields = nw_pb_open(out, kind->field);
	for (unsigned int i = 0; i < NW_COUNT(kind->arg) && kind->arg[i]; i++) {
		int arg = nw_arg_find(line->probe, kind->arg[i]);
		if (arg < 0 || (size_t)arg >= line->hit->value_count)
			continue;
		const struct nw_value *value = &line->hit->values[arg];
		if (value->kind == NW_VALUE_STRING)
			nw_pb_string(out, i + 1, value->text, value->len);
		else if (value->kind != NW_VALUE_MISSING)
			nw_pb_int(out, i + 1, (int64_t)value->number);
	}
	nw_pb_close(out, fields);
	nw_pb_close(out, event);
	nw_pb_close(out, bundle);
	nw_pb_close(out, packet);
}

static void event(struct nw_output *output, const struct nw_event_line *line)
{
	struct nw_pf *p = output->state;
	const struct kernel_event *kernel = kernel_event_of(line->probe);
	struct nw_pf_thread *thread;

	p->line = *line;
	if (!p->clock && line->wall_ns)
		clock_snapshot(&output->text, line->hit->time, line->wall_ns);
	p->clock = true;
	count_hit(&output->text, p, line->hit->time);
	if (kernel)
		write_kernel_event(&output->text, kernel, line);
	else if (!p->is_end_or_start[line->hit->probe] &&
		 (thread = nw_pf_thread(output, line)))
		nw_pf_instant(&output->text, line->hit->time, nw_pf_thread_track(thread),
			      line->probe->label, NULL, line, NULL);
}

/* Writes a loss: from when to when, on which CPU. */
static void loss(struct nw_output *output, const struct nw_record *loss)
{
	struct nw_pf *p = output->state;
	uint64_t track = nw_pf_track(TRACK_OF_LOSS, 0, loss->cpu);
	bool has_end = loss->until != UINT64_MAX && loss->until > loss->time;
	struct nw_buf *out = &output->text;
	char name[40];

	snprintf(name, sizeof(name), "events lost on CPU %u", loss->cpu);
	nw_pf_name_track(out, track, 0, name, false);
	struct nw_pf_event event = nw_pf_open(out, loss->time,
					      has_end ? TYPE_BEGIN : TYPE_INSTANT, track);
	nw_pb_string(out, EVENT_NAME, "events lost", 11);
	nw_pf_note_number(out, "events", loss->lost);
	nw_pf_close(out, event);
	if (has_end)
		nw_pf_close(out, nw_pf_open(out, loss->until, TYPE_END, track));
	p->lost += loss->lost;
	nw_pf_counter(out, loss->time, TRACK_OF_LOST, p->lost);
}

static void disabled(struct nw_output *output, const struct nw_disabled *disabled)
{
	struct nw_pf *p = output->state;

	if (p->line.hit)
		nw_pf_instant(&output->text, p->line.start + disabled->after_ns,
			      nw_pf_track(TRACK_OF_HITS, 1, 0), disabled->probe->label,
			      nw_state_words[disabled->state->state], NULL, NULL);
}

/* ---- the whole ---------------------------------------------------------------------- */

static void begin(struct nw_output *output, const struct nw_begin *begin)
{
	struct nw_pf *p = output->state;
	struct nw_buf *out = &output->text;

	p->run = *begin;
	p->is_end_or_start = calloc(begin->selection->probes.count + 1, sizeof(bool));
	p->rows = calloc(begin->span_count + 1, sizeof(*p->rows));
	if (!p->is_end_or_start || !p->rows) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < begin->span_count; i++) {
		nw_vec_each (&begin->spans[i].starts, probe)
			p->is_end_or_start[*probe] = true;
		nw_vec_each (&begin->spans[i].ends, probe)
			p->is_end_or_start[*probe] = true;
	}
	nw_pf_name_track(out, nw_pf_track(TRACK_OF_HITS, 0, 0), 0, "hits a second", true);
	nw_pf_name_track(out, nw_pf_track(TRACK_OF_HITS, 1, 0), 0, "disabled probes",
			 false);
	nw_pf_name_track(out, nw_pf_track(TRACK_OF_LOST, 0, 0), 0, "lost events", true);
}

static void end(struct nw_output *output, const struct nw_end *end)
{
	struct nw_pf *p = output->state;

	(void)end;
	if (!p->hits)
		return;
	nw_pf_counter(&output->text, p->second * SECOND, TRACK_OF_HITS, p->hits);
	nw_pf_counter(&output->text, (p->second + 1) * SECOND, TRACK_OF_HITS, 0);
}

static void free_state(struct nw_output *output)
{
	struct nw_pf *p = output->state;

	nw_vec_each (&p->threads, thread) {
		nw_pf_free_started(thread->open.item, thread->open.count);
		nw_vec_free(&thread->open);
		free(thread->beside.ends);
	}
	nw_vec_free(&p->threads);
	nw_hash_table_free(&p->thread_table);
	nw_pf_free_started(p->open.item, p->open.count);
	nw_vec_free(&p->open);
	nw_index_free(&p->processes);
	nw_vec_each (&p->groups, rows)
		free(rows->ends);
	nw_vec_free(&p->groups);
	for (size_t i = 0; p->rows && i < p->run.span_count; i++)
		free(p->rows[i].ends);
	free(p->rows);
	free(p->is_end_or_start);
}

const struct nw_output_format nw_output_perfetto = {
	.name = "perfetto",
	.states = true,
	.shows = {[NW_SHOWS_EVENTS] = true},
	.spans = true,
	.binary = true,
	.state_size = sizeof(struct nw_pf),
	.free = free_state,
	.begin = begin,
	.event = event,
	.span = nw_pf_span,
	.loss = loss,
	.disabled = disabled,
	.end = end,
};
