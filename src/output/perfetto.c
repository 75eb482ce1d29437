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

#include "nopwatch/output.h"
#include "perfetto_fields.h"
#include "protobuf.h"

enum {
	SEQUENCE = 1, /* all packets are of one writer */
	MOST_LANES = 4096,
	MOST_OPEN =
		4096, /* spans a thread, and of all other keys together: then the oldest are forgotten */
	SECOND = 1000000000,
};

/* The tracks' numbers: what they are of, and which. */
enum track {
	TRACK_OF_PROCESS = 1,
	TRACK_OF_THREAD,
	TRACK_BESIDE_THREAD, /* spans that do not nest */
	TRACK_OF_SPAN,	     /* spans by something else than the thread */
	TRACK_OF_LOSS,
	TRACK_OF_HITS,
	TRACK_OF_LOST,
};

/* A span that has begun. */
struct started {
	uint32_t span;
	uint32_t
		lane; /* by something else than the thread: its place among those that are open */
	uint64_t key, start;
	struct nw_buf args; /* of its start, as they are written */
};

struct thread {
	bool known; /* else the slot is free: the idle threads have the number 0 */
	int32_t tid, pid;
	char comm[16]; /* as it was told last; "": not yet */
	NW_VEC(struct started) open;
	NW_VEC(uint64_t) beside; /* by track: when its last slice ended */
};

struct perfetto {
	struct nw_begin run;
	bool *is_end_or_start; /* by probe: it is of a span */
	struct thread *thread; /* open-addressed */
	size_t threads, used;
	NW_VEC(int32_t) processes;   /* that were told */
	NW_VEC(struct started) open; /* by something else than the thread */
	nw_vec_u32 *lanes;	     /* by span: 1 if taken */
	struct nw_event_line line;   /* that spans are told of */
	bool clock;		     /* was told */
	uint64_t second, hits;	     /* in that second of the trace clock */
	uint64_t lost;
};

/* ---- packets ------------------------------------------------------------------------ */

static size_t open_packet(struct nw_buf *out, uint64_t time)
{
	size_t packet = nw_pb_open(out, TRACE_PACKET);

	if (time)
		nw_pb_uint(out, PACKET_TIMESTAMP, time);
	nw_pb_uint(out, PACKET_SEQUENCE, SEQUENCE);
	return packet;
}

/* Threads' numbers have at most 22 bits (PID_MAX_LIMIT of include/linux/threads.h). */
static uint64_t track_number(enum track kind, uint64_t a, uint64_t b)
{
	return (uint64_t)kind << 56 | a << 24 | b;
}

static void name_track(struct nw_buf *out, uint64_t uuid, uint64_t parent, const char *name,
		       bool counter)
{
	size_t packet = open_packet(out, 0);
	size_t track = nw_pb_open(out, PACKET_TRACK_DESCRIPTOR);

	nw_pb_uint(out, TRACK_UUID, uuid);
	nw_pb_string(out, TRACK_NAME, name, strlen(name));
	if (parent)
		nw_pb_uint(out, TRACK_PARENT, parent);
	if (counter)
		nw_pb_bytes(out, TRACK_COUNTER, "", 0);
	nw_pb_close(out, track);
	nw_pb_close(out, packet);
}

/* A track event; the caller closes both. */
struct opened {
	size_t packet, event;
};

static struct opened open_event(struct nw_buf *out, uint64_t time, unsigned int type,
				uint64_t track)
{
	struct opened opened = {.packet = open_packet(out, time)};

	opened.event = nw_pb_open(out, PACKET_TRACK_EVENT);
	nw_pb_uint(out, EVENT_TYPE, type);
	nw_pb_uint(out, EVENT_TRACK, track);
	return opened;
}

static void close_event(struct nw_buf *out, struct opened opened)
{
	nw_pb_close(out, opened.event);
	nw_pb_close(out, opened.packet);
}

static void counter(struct nw_buf *out, uint64_t time, enum track kind, uint64_t value)
{
	struct opened event = open_event(out, time, TYPE_COUNTER, track_number(kind, 0, 0));

	nw_pb_int(out, EVENT_COUNTER, (int64_t)value);
	close_event(out, event);
}

/* ---- annotations -------------------------------------------------------------------- */

static void note_name(struct nw_buf *out, const char *name)
{
	nw_pb_string(out, ANNOTATION_NAME, name, strlen(name));
}

static void note_text(struct nw_buf *out, const char *name, const char *text)
{
	size_t note = nw_pb_open(out, EVENT_ANNOTATIONS);

	note_name(out, name);
	nw_pb_string(out, ANNOTATION_STRING, text, strlen(text));
	nw_pb_close(out, note);
}

static void note_number(struct nw_buf *out, const char *name, uint64_t number)
{
	size_t note = nw_pb_open(out, EVENT_ANNOTATIONS);

	note_name(out, name);
	nw_pb_uint(out, ANNOTATION_UINT, number);
	nw_pb_close(out, note);
}

static void number(struct nw_buf *out, enum nw_value_kind kind, uint64_t bits, double real)
{
	if (kind == NW_VALUE_FLOAT)
		nw_pb_double(out, ANNOTATION_DOUBLE, real);
	else if (kind == NW_VALUE_SIGNED)
		nw_pb_int(out, ANNOTATION_INT, (int64_t)bits);
	else
		nw_pb_uint(out, kind == NW_VALUE_HEX ? ANNOTATION_POINTER : ANNOTATION_UINT,
			   bits);
}

static void value(struct nw_buf *out, const struct nw_value *value)
{
	struct nw_buf shown = {0};

	switch (value->kind) {
	case NW_VALUE_STRING:
		nw_pb_string(out, ANNOTATION_STRING, value->text, value->len);
		break;
	case NW_VALUE_ARRAY:
		for (uint32_t i = 0; i < value->len; i++) {
			size_t element = nw_pb_open(out, ANNOTATION_ARRAY);
			number(out, value->element, nw_value_element(value, i),
			       value->element == NW_VALUE_FLOAT ? nw_value_real(value, i)
								: 0);
			nw_pb_close(out, element);
		}
		break;
	case NW_VALUE_MISSING:
	case NW_VALUE_NULL:
		nw_value_print(value, &shown);
		nw_pb_string(out, ANNOTATION_STRING, nw_buf_str(&shown), shown.len);
		nw_buf_free(&shown);
		break;
	default:
		number(out, value->kind, value->number, value->real);
	}
}

/* The arguments of a hit and its CPU, each as an annotation in this field. */
static void args(struct nw_buf *out, unsigned int field, const struct nw_event_line *line)
{
	for (size_t i = 0; i < line->hit->value_count; i++) {
		char name[32];
		size_t note = nw_pb_open(out, field);
		nw_arg_name(line->probe, i, name);
		note_name(out, name);
		value(out, &line->hit->values[i]);
		nw_pb_close(out, note);
	}
	size_t cpu = nw_pb_open(out, field);
	note_name(out, "cpu");
	nw_pb_uint(out, ANNOTATION_UINT, line->hit->cpu);
	nw_pb_close(out, cpu);
}

/* "start" or "end" with the arguments of its hit, as one annotation. */
static void side(struct nw_buf *out, const char *name, const struct nw_event_line *line)
{
	size_t note = nw_pb_open(out, EVENT_ANNOTATIONS);

	note_name(out, name);
	args(out, ANNOTATION_DICT, line);
	nw_pb_close(out, note);
}

/* ---- threads ------------------------------------------------------------------------ */

static struct thread *thread_slot(const struct perfetto *p, int32_t tid)
{
	size_t at = nw_hash64((uint32_t)tid) & (p->threads - 1);

	while (p->thread[at].known && p->thread[at].tid != tid)
		at = (at + 1) & (p->threads - 1);
	return &p->thread[at];
}

static bool more_threads(struct perfetto *p)
{
	struct perfetto bigger = *p;

	bigger.threads = p->threads ? p->threads * 2 : 64;
	bigger.thread = calloc(bigger.threads, sizeof(*bigger.thread));
	if (!bigger.thread)
		return false;
	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i].known)
			*thread_slot(&bigger, p->thread[i].tid) = p->thread[i];
	free(p->thread);
	*p = bigger;
	return true;
}

static uint64_t thread_track(const struct thread *thread)
{
	return track_number(TRACK_OF_THREAD, (uint32_t)thread->pid, (uint32_t)thread->tid);
}

static void tell_process(struct nw_buf *out, struct perfetto *p,
			 const struct thread *thread)
{
	bool known = false, leads = thread->tid == thread->pid;

	nw_vec_each (&p->processes, pid)
		known |= *pid == thread->pid;
	if (known && !leads)
		return;
	int32_t *fresh = known ? NULL : nw_vec_add(&p->processes);
	if (fresh)
		*fresh = thread->pid;
	size_t packet = open_packet(out, 0);
	size_t track = nw_pb_open(out, PACKET_TRACK_DESCRIPTOR);
	nw_pb_uint(out, TRACK_UUID,
		   track_number(TRACK_OF_PROCESS, 0, (uint32_t)thread->pid));
	size_t process = nw_pb_open(out, TRACK_PROCESS);
	nw_pb_int(out, PROCESS_PID, thread->pid);
	if (leads)
		nw_pb_string(out, PROCESS_NAME, thread->comm, strlen(thread->comm));
	nw_pb_close(out, process);
	nw_pb_close(out, track);
	nw_pb_close(out, packet);
}

static void tell_thread(struct nw_buf *out, struct perfetto *p, const struct thread *thread)
{
	tell_process(out, p, thread);
	size_t packet = open_packet(out, 0);
	size_t track = nw_pb_open(out, PACKET_TRACK_DESCRIPTOR);
	nw_pb_uint(out, TRACK_UUID, thread_track(thread));
	nw_pb_uint(out, TRACK_PARENT,
		   track_number(TRACK_OF_PROCESS, 0, (uint32_t)thread->pid));
	size_t inner = nw_pb_open(out, TRACK_THREAD);
	nw_pb_int(out, THREAD_PID, thread->pid);
	nw_pb_int(out, THREAD_TID, thread->tid);
	nw_pb_string(out, THREAD_NAME, thread->comm, strlen(thread->comm));
	nw_pb_close(out, inner);
	nw_pb_close(out, track);
	nw_pb_close(out, packet);
}

/* The thread of a hit, told of if it is new or has another name; NULL: out of memory. */
static struct thread *thread_of(struct nw_output *output, const struct nw_event_line *line)
{
	struct perfetto *p = output->state;
	int32_t tid = line->hit->tid, pid = line->task ? line->task->pid : tid;
	const char *comm = line->task ? line->task->comm : "";

	if ((!p->threads || (p->used + 1) * 2 > p->threads) && !more_threads(p)) {
		output->text.failed = true;
		return NULL;
	}
	struct thread *thread = thread_slot(p, tid);
	if (!thread->known) {
		thread->known = true;
		thread->tid = tid;
		p->used++;
	} else if (thread->pid == pid && strcmp(thread->comm, comm) == 0) {
		return thread;
	}
	thread->pid = pid;
	memcpy(thread->comm, comm, strnlen(comm, sizeof(thread->comm) - 1) + 1);
	thread->comm[sizeof(thread->comm) - 1] = '\0';
	tell_thread(&output->text, p, thread);
	return thread;
}

/* ---- spans -------------------------------------------------------------------------- */

static bool is_by_thread(const struct perfetto *p, uint32_t span)
{
	const struct nw_span_def *def = &p->run.spans[span];

	return def->key == NW_KEY_TID &&
	       (!*def->end_key_name || def->end_key == NW_KEY_TID);
}

/* The track for a span that has ended: the thread's, unless another has begun in it that has not ended. */
static uint64_t track_of(struct nw_buf *out, struct perfetto *p, struct thread *thread,
			 const struct started *it, uint64_t end)
{
	size_t lane = 0;
	bool nests = true;

	nw_vec_each (&thread->open, other)
		nests &= other == it || other->start <= it->start;
	if (nests)
		return thread_track(thread);
	while (lane < thread->beside.count && thread->beside.item[lane] > it->start)
		lane++;
	uint64_t uuid = track_number(TRACK_BESIDE_THREAD, (uint32_t)thread->tid, lane);
	if (lane == thread->beside.count) {
		uint64_t *fresh = nw_vec_add(&thread->beside);
		if (!fresh)
			return uuid;
		name_track(out, uuid, thread_track(thread), p->run.spans[it->span].name,
			   false);
	}
	thread->beside.item[lane] = end;
	return uuid;
}

/* Spans by something else than the thread: the first place that is free. */
static uint32_t take_lane(struct nw_output *output, uint32_t span)
{
	struct perfetto *p = output->state;
	nw_vec_u32 *lanes = &p->lanes[span];
	uint32_t lane = 0;

	while (lane < lanes->count && lanes->item[lane])
		lane++;
	if (lane == lanes->count && lane < MOST_LANES) {
		if (!nw_vec_add(lanes))
			return 0;
		name_track(&output->text, track_number(TRACK_OF_SPAN, span, lane), 0,
			   p->run.spans[span].name, false);
	}
	if (lane < lanes->count)
		lanes->item[lane] = 1;
	return lane;
}

static void begin_slice(struct nw_buf *out, const struct perfetto *p,
			const struct started *it, uint64_t track)
{
	const struct nw_span_def *def = &p->run.spans[it->span];
	struct opened event = open_event(out, it->start, TYPE_BEGIN, track);

	nw_pb_string(out, EVENT_CATEGORIES, "span", 4);
	nw_pb_string(out, EVENT_NAME, def->name, strlen(def->name));
	nw_buf_add(out, nw_buf_str(&it->args), it->args.len);
	close_event(out, event);
}

static void instant(struct nw_buf *out, uint64_t time, uint64_t track, const char *name,
		    const char *state, const struct nw_event_line *line,
		    const struct nw_buf *notes)
{
	struct opened event = open_event(out, time, TYPE_INSTANT, track);

	nw_pb_string(out, EVENT_CATEGORIES, "probe", 5);
	nw_pb_string(out, EVENT_NAME, name, strlen(name));
	if (state)
		note_text(out, "state", state);
	if (line)
		args(out, EVENT_ANNOTATIONS, line);
	if (notes)
		nw_buf_add(out, nw_buf_str(notes), notes->len);
	close_event(out, event);
}

static struct started *find_started(struct started *list, size_t count,
				    const struct nw_span_event *event)
{
	/* the latest first: most end so */
	for (size_t i = count; i-- > 0;)
		if (list[i].span == event->span && list[i].start == event->start &&
		    (list[i].key == event->key || !event->hit))
			return &list[i];
	return NULL;
}

static void free_lane(struct perfetto *p, const struct started *it)
{
	if (it->lane < p->lanes[it->span].count)
		p->lanes[it->span].item[it->lane] = 0;
}

static void remove_started(struct started *list, size_t *count, struct started *it)
{
	nw_buf_free(&it->args);
	memmove(it, it + 1, (size_t)(list + *count - it - 1) * sizeof(*it));
	(*count)--;
}

/* A hit that makes something of a span. Those of spans by thread were events just now; others may be of
 * threads that are not shown. */
static struct nw_event_line line_of(const struct perfetto *p,
				    const struct nw_span_event *event)
{
	return (struct nw_event_line){
		.probe = p->run.selection->probes.item[event->hit->probe],
		.hit = event->hit,
		.task = p->line.task,
	};
}

static void span_begins(struct nw_output *output, const struct nw_span_event *event)
{
	struct perfetto *p = output->state;
	const struct nw_event_line line = line_of(p, event);
	bool by_thread = is_by_thread(p, event->span);
	struct thread *thread = by_thread ? thread_of(output, &line) : NULL;
	struct started *it = NULL;

	if (thread && thread->open.count == MOST_OPEN)
		remove_started(thread->open.item, &thread->open.count, thread->open.item);
	if (!by_thread && p->open.count == MOST_OPEN) {
		free_lane(p, p->open.item);
		remove_started(p->open.item, &p->open.count, p->open.item);
	}
	if (thread)
		it = nw_vec_add(&thread->open);
	else if (!by_thread)
		it = nw_vec_add(&p->open);
	if (!it) {
		output->text.failed = true;
		return;
	}
	it->span = event->span;
	it->key = event->key;
	it->start = event->start;
	side(&it->args, "start", &line);
	if (!by_thread)
		it->lane = take_lane(output, event->span);
}

static void write_slice(struct nw_output *output, const struct started *it, uint64_t track,
			const struct nw_span_event *event)
{
	struct perfetto *p = output->state;
	const struct nw_event_line line = line_of(p, event);

	begin_slice(&output->text, p, it, track);
	struct opened end = open_event(&output->text, event->hit->time, TYPE_END, track);
	side(&output->text, "end", &line);
	close_event(&output->text, end);
}

static void span_ends(struct nw_output *output, const struct nw_span_event *event)
{
	struct perfetto *p = output->state;
	struct started *it;

	if (!is_by_thread(p, event->span)) {
		it = find_started(p->open.item, p->open.count, event);
		if (!it)
			return;
		write_slice(output, it, track_number(TRACK_OF_SPAN, event->span, it->lane),
			    event);
		free_lane(p, it);
		remove_started(p->open.item, &p->open.count, it);
		return;
	}
	const struct nw_event_line line = line_of(p, event);
	struct thread *thread = thread_of(output, &line);
	it = thread ? find_started(thread->open.item, thread->open.count, event) : NULL;
	if (!it)
		return;
	write_slice(output, it, track_of(&output->text, p, thread, it, event->hit->time),
		    event);
	remove_started(thread->open.item, &thread->open.count, it);
}

/* A start that has no end: open to the last where the run has ended before, else a mark. */
static void never_ends(struct nw_output *output, const struct nw_span_event *event,
		       const struct started *it, uint64_t track)
{
	struct perfetto *p = output->state;

	if (event->moment == NW_SPAN_STILL_OPEN)
		begin_slice(&output->text, p, it, track);
	else
		instant(&output->text, it->start, track, p->run.spans[it->span].name,
			event->why, NULL, &it->args);
}

static void span_is_gone(struct nw_output *output, const struct nw_span_event *event)
{
	struct perfetto *p = output->state;
	struct started *it;

	if (!is_by_thread(p, event->span)) {
		it = find_started(p->open.item, p->open.count, event);
		if (!it)
			return;
		never_ends(output, event, it,
			   track_number(TRACK_OF_SPAN, it->span, it->lane));
		if (event->moment != NW_SPAN_STILL_OPEN)
			free_lane(p, it);
		remove_started(p->open.item, &p->open.count, it);
		return;
	}
	for (size_t i = 0; i < p->threads; i++) {
		struct thread *thread = &p->thread[i];
		it = event->key && thread->tid != (int32_t)event->key
			     ? NULL
			     : find_started(thread->open.item, thread->open.count, event);
		if (!it)
			continue;
		never_ends(output, event, it, thread_track(thread));
		remove_started(thread->open.item, &thread->open.count, it);
		return;
	}
}

static void span(struct nw_output *output, const struct nw_span_event *event)
{
	struct perfetto *p = output->state;
	struct nw_event_line line;
	struct thread *thread;

	switch (event->moment) {
	case NW_SPAN_BEGINS:
		span_begins(output, event);
		break;
	case NW_SPAN_ENDS:
		span_ends(output, event);
		break;
	case NW_SPAN_ENDS_NOTHING:
		/* an end of some other key says nothing of whose it is */
		line = line_of(p, event);
		thread = is_by_thread(p, event->span) ? thread_of(output, &line) : NULL;
		if (thread)
			instant(&output->text, event->hit->time, thread_track(thread),
				line.probe->label, event->why, &line, NULL);
		break;
	case NW_SPAN_NEVER_ENDS:
	case NW_SPAN_STILL_OPEN:
		span_is_gone(output, event);
		break;
	}
}

/* ---- events ------------------------------------------------------------------------- */

/* What the timestamps are in the time of day. */
static void tell_clock(struct nw_buf *out, uint64_t time, int64_t wall_ns)
{
	const uint64_t clocks[][2] = {{CLOCK_BOOTTIME_ID, time},
				      {CLOCK_REALTIME_ID, time + (uint64_t)wall_ns}};
	size_t packet = open_packet(out, time);
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

/* Hits a second: the counter has a second's number from the second's beginning on. */
static void count_hit(struct nw_buf *out, struct perfetto *p, uint64_t time)
{
	uint64_t second = time / SECOND;

	if (second != p->second && p->hits) {
		counter(out, p->second * SECOND, TRACK_OF_HITS, p->hits);
		if (second != p->second + 1)
			counter(out, (p->second + 1) * SECOND, TRACK_OF_HITS, 0);
		p->hits = 0;
	}
	p->second = second;
	p->hits++;
}

/* The scheduler's events, from which threads' states are drawn: their fields, in the order of their numbers. */
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

static void tell_kernel_event(struct nw_buf *out, const struct kernel_event *kind,
			      const struct nw_event_line *line)
{
	size_t packet = open_packet(out, 0);
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
	struct perfetto *p = output->state;
	const struct kernel_event *kernel = kernel_event_of(line->probe);
	struct thread *thread;

	p->line = *line;
	if (!p->clock && line->wall_ns)
		tell_clock(&output->text, line->hit->time, line->wall_ns);
	p->clock = true;
	count_hit(&output->text, p, line->hit->time);
	if (kernel)
		tell_kernel_event(&output->text, kernel, line);
	else if (!p->is_end_or_start[line->hit->probe] &&
		 (thread = thread_of(output, line)))
		instant(&output->text, line->hit->time, thread_track(thread),
			line->probe->label, NULL, line, NULL);
}

/* Events are missing: from when to when, on which CPU. */
static void loss(struct nw_output *output, const struct nw_record *loss)
{
	struct perfetto *p = output->state;
	uint64_t track = track_number(TRACK_OF_LOSS, 0, loss->cpu);
	bool has_end = loss->until != UINT64_MAX && loss->until > loss->time;
	struct nw_buf *out = &output->text;
	char name[40];

	snprintf(name, sizeof(name), "events lost on CPU %u", loss->cpu);
	name_track(out, track, 0, name, false);
	struct opened event = open_event(out, loss->time,
					 has_end ? TYPE_BEGIN : TYPE_INSTANT, track);
	nw_pb_string(out, EVENT_NAME, "events lost", 11);
	note_number(out, "events", loss->lost);
	close_event(out, event);
	if (has_end)
		close_event(out, open_event(out, loss->until, TYPE_END, track));
	p->lost += loss->lost;
	counter(out, loss->time, TRACK_OF_LOST, p->lost);
}

static void disabled(struct nw_output *output, const struct nw_disabled *disabled)
{
	struct perfetto *p = output->state;

	if (p->line.hit)
		instant(&output->text, p->line.start + disabled->after_ns,
			track_number(TRACK_OF_HITS, 1, 0), disabled->probe->label,
			nw_state_words[disabled->state->state], NULL, NULL);
}

/* ---- the whole ---------------------------------------------------------------------- */

static void begin(struct nw_output *output, const struct nw_begin *begin)
{
	struct perfetto *p = output->state;
	struct nw_buf *out = &output->text;

	p->run = *begin;
	p->is_end_or_start = calloc(begin->selection->probes.count + 1, sizeof(bool));
	p->lanes = calloc(begin->span_count + 1, sizeof(*p->lanes));
	if (!p->is_end_or_start || !p->lanes) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < begin->span_count; i++) {
		nw_vec_each (&begin->spans[i].starts, probe)
			p->is_end_or_start[*probe] = true;
		nw_vec_each (&begin->spans[i].ends, probe)
			p->is_end_or_start[*probe] = true;
	}
	name_track(out, track_number(TRACK_OF_HITS, 0, 0), 0, "hits a second", true);
	name_track(out, track_number(TRACK_OF_HITS, 1, 0), 0, "disabled probes", false);
	name_track(out, track_number(TRACK_OF_LOST, 0, 0), 0, "lost events", true);
}

static void end(struct nw_output *output, const struct nw_end *end)
{
	struct perfetto *p = output->state;

	(void)end;
	if (!p->hits)
		return;
	counter(&output->text, p->second * SECOND, TRACK_OF_HITS, p->hits);
	counter(&output->text, (p->second + 1) * SECOND, TRACK_OF_HITS, 0);
}

static void free_started(struct started *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		nw_buf_free(&list[i].args);
}

static void free_state(struct nw_output *output)
{
	struct perfetto *p = output->state;

	for (size_t i = 0; i < p->threads; i++) {
		free_started(p->thread[i].open.item, p->thread[i].open.count);
		nw_vec_free(&p->thread[i].open);
		nw_vec_free(&p->thread[i].beside);
	}
	free_started(p->open.item, p->open.count);
	nw_vec_free(&p->open);
	nw_vec_free(&p->processes);
	for (size_t i = 0; p->lanes && i < p->run.span_count; i++)
		nw_vec_free(&p->lanes[i]);
	free(p->lanes);
	free(p->thread);
	free(p->is_end_or_start);
}

const struct nw_output_format nw_output_perfetto = {
	.name = "perfetto",
	.shows = {[NW_SHOWS_EVENTS] = true},
	.spans = true,
	.binary = true,
	.state_size = sizeof(struct perfetto),
	.free = free_state,
	.begin = begin,
	.event = event,
	.span = span,
	.loss = loss,
	.disabled = disabled,
	.end = end,
};
