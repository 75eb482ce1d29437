// SPDX-License-Identifier: MIT
/*
 * The text reader.
 *
 *   buffer   holds large blocks of text. A line is not copied: its position in the whole text is
 *            kept instead, and text that lines in the window still need moves along
 *   window   holds parsed lines, by time; the oldest is handed out when the window is full. Text
 *            is in order, except for events of a CPU that came while trace_pipe looked at
 *            another CPU, so a line rarely has to move
 *   strings  may contain newlines, as SQL does: a line that is no trace line belongs to a string
 *            of the line before it, if that line has a quote
 *   losses   trace_pipe reports a loss just before the next line of its CPU; in the window the
 *            loss is at its begin
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

enum {
	LEAST_ROOM = 1 << 16,
	BLOCK = 1 << 20,
	LINE_MOST = 1 << 20,	/* longer lines are dropped */
	TRAILER_MOST = 1 << 26, /* what maps that a kernel gives memory to have at most */
	CPUS_MOST = 1 << 16,
};

enum line_kind {
	LINE_HIT,
	LINE_TASK,
	LINE_LOSS,
};

struct line {
	uint64_t time;
	union {
		uint64_t at;	/* its begin in the whole text */
		uint64_t until; /* LOSS */
	};
	union {
		struct {
			uint32_t len, args; /* args: offset from `at` */
		};
		uint64_t lost; /* LOSS */
	};
	uint32_t cpu, event; /* event: index in the plan; TASK: enum nw_text_task */
	int32_t tid, tgid;
	uint16_t comm, comm_len; /* comm: offset from `at` */
	uint8_t kind;
	bool lost_is_least; /* LOSS */
};

struct cpu {
	uint64_t last; /* time of its last line */
	uint64_t lost;
	bool losing; /* a loss was reported, and the line behind it has not come */
	bool lost_is_least;
};

struct nw_text {
	char *buffer; /* NULL: the text is in memory */
	const char *bytes;
	size_t room, len, next; /* next: begin of the first line that was not taken */
	uint64_t base;		/* position of `bytes` in the whole text */

	struct line window[NW_TEXT_WINDOW];
	/* The lines in the window are number first % NW_TEXT_WINDOW up to `end` */
	uint64_t first, end;
	uint64_t newest; /* number of the line taken last, if it is still in the window */
	uint64_t tail;	 /* position of the last line that may have a string */
	bool has_tail;	 /* there is such a line */
	uint64_t quotes_to; /* end of the text behind `tail` that was searched for quotes */
	/* The searched text has a quote; the last one is open */
	bool has_quote, open_quote;
	bool flush, finished;

	const struct nw_plan *plan;
	struct nw_text_event *events;
	struct nw_index names; /* names of the plan's events */
	nw_vec_u32 numbers;    /* their indexes, by number of the name */
	struct nw_text_tasks tasks;
	struct nw_buf header, values;
	struct nw_buf trailer;
	bool in_map; /* lines are those of the map that the trailer has begun last */
	bool header_ends;
	NW_VEC(struct cpu) cpus;
	size_t losing;	 /* number of CPUs whose `losing` is set */
	size_t told;	 /* at the end: CPUs below this number are done */
	uint64_t began;	 /* time of the first line; 0: none has come */
	uint64_t handed; /* latest time handed out */
	uint64_t over;	 /* time of the script's last mark; UINT64_MAX: it has not come */
	struct nw_text_stats stats;
	uint64_t told_lost; /* lost events as counted by our script */
	uint64_t uncounted; /* losses whose size is unknown */
};

/* ---- life --------------------------------------------------------------------------- */

int nw_text_open(struct nw_text **out)
{
	struct nw_text *text = calloc(1, sizeof(*text));

	if (!text)
		return -ENOMEM;
	nw_text_tasks_init(&text->tasks);
	text->over = UINT64_MAX;
	*out = text;
	return 0;
}

int nw_text_open_memory(const char *bytes, size_t len, struct nw_text **out)
{
	int ret = nw_text_open(out);

	if (ret < 0)
		return ret;
	(*out)->bytes = bytes;
	(*out)->len = len;
	nw_text_finish(*out);
	return 0;
}

void nw_text_free(struct nw_text *text)
{
	if (!text)
		return;
	nw_text_events_free(text->events, text->plan ? text->plan->events.count : 0);
	nw_index_free(&text->names);
	nw_vec_free(&text->numbers);
	nw_buf_free(&text->header);
	nw_buf_free(&text->trailer);
	nw_buf_free(&text->values);
	nw_vec_free(&text->cpus);
	free(text->buffer);
	free(text);
}

int nw_text_use(struct nw_text *text, const struct nw_armed *armed, bool values,
		struct nw_formats *formats)
{
	const struct nw_plan *plan = armed->plan;

	text->plan = plan;
	nw_vec_each (&plan->events, event) {
		const char *name = (*event)->name;
		int64_t number = nw_index_add(&text->names, name, strlen(name));
		if (number < 0)
			return -ENOMEM;
		if ((size_t)number < text->numbers.count)
			/* If two events have the same name, the lines belong to the first */
			continue;
		uint32_t *slot = nw_vec_add(&text->numbers);
		if (!slot)
			return -ENOMEM;
		*slot = (uint32_t)(event - plan->events.item);
	}
	return nw_text_events_make(armed, values, formats, &text->events);
}

uint64_t nw_text_over(const struct nw_text *text)
{
	return text->over;
}

/* Returns the statistics. Our script counts all lost events (told), including losses without a number in the text,
 * each of which has lost at least one event. */
struct nw_text_stats nw_text_stats(const struct nw_text *text)
{
	struct nw_text_stats stats = text->stats;

	stats.lost += text->uncounted;
	stats.lost_is_least = text->uncounted && text->told_lost < stats.lost;
	stats.lost = nw_max64(stats.lost, text->told_lost);
	return stats;
}

const struct nw_buf *nw_text_header(const struct nw_text *text)
{
	return &text->header;
}

const struct nw_buf *nw_text_trailer(const struct nw_text *text)
{
	return &text->trailer;
}

/* ---- the buffer --------------------------------------------------------------------- */

/* Returns the position of the first byte that is still needed. */
static uint64_t needed_from(const struct nw_text *text)
{
	uint64_t from = text->base + text->next;

	if (text->has_tail)
		from = nw_min64(from, text->tail);
	for (uint64_t i = text->first; i < text->end; i++) {
		const struct line *line = &text->window[i % NW_TEXT_WINDOW];
		if (line->kind != LINE_LOSS)
			from = nw_min64(from, line->at);
	}
	return from;
}

char *nw_text_room(struct nw_text *text, size_t *room)
{
	if (text->room - text->len < LEAST_ROOM) {
		size_t gone = (size_t)(needed_from(text) - text->base);
		if (gone)
			memmove(text->buffer, text->buffer + gone, text->len - gone);
		text->len -= gone;
		text->next -= gone;
		text->base += gone;
	}
	if (text->room - text->len < LEAST_ROOM) {
		char *more = realloc(text->buffer, text->room + BLOCK);
		if (!more)
			return NULL;
		text->buffer = more;
		text->bytes = more;
		text->room += BLOCK;
	}
	*room = text->room - text->len;
	return text->buffer + text->len;
}

void nw_text_filled(struct nw_text *text, size_t len)
{
	text->len += len;
	text->flush = false;
}

void nw_text_flush(struct nw_text *text)
{
	text->flush = true;
}

void nw_text_finish(struct nw_text *text)
{
	text->flush = text->finished = true;
}

/* Takes the next line, without its newline. Returns false if the line is incomplete. */
static bool next_line(struct nw_text *text, const char **line, size_t *len)
{
	size_t left = text->len - text->next;
	if (!left)
		return false;
	const char *from = text->bytes + text->next;
	const char *newline = memchr(from, '\n', left);

	*line = from;
	if (newline) {
		*len = (size_t)(newline - from);
		text->next += *len + 1;
	} else if (text->finished || left >= LINE_MOST) {
		*len = left;
		text->next += left;
	} else {
		return false;
	}
	text->stats.lines++;
	return true;
}

/* ---- the window --------------------------------------------------------------------- */

static void push(struct nw_text *text, const struct line *line)
{
	uint64_t at = text->end++;

	for (; at > text->first; at--) {
		const struct line *before = &text->window[(at - 1) % NW_TEXT_WINDOW];
		if (before->time <= line->time)
			break;
		text->window[at % NW_TEXT_WINDOW] = *before;
	}
	text->window[at % NW_TEXT_WINDOW] = *line;
	text->newest = at;
}

static struct cpu *cpu_of(struct nw_text *text, uint32_t number)
{
	if (number >= CPUS_MOST)
		return NULL;
	while (text->cpus.count <= number)
		if (!nw_vec_add(&text->cpus))
			return NULL;
	return &text->cpus.item[number];
}

static void push_loss(struct nw_text *text, struct cpu *cpu, uint64_t until)
{
	const struct line loss = {.kind = LINE_LOSS,
				  .time = cpu->last ? cpu->last : text->began,
				  .until = until,
				  .lost = cpu->lost,
				  .lost_is_least = cpu->lost_is_least,
				  .cpu = (uint32_t)(cpu - text->cpus.item)};

	push(text, &loss);
	text->losing--;
	cpu->losing = false;
	cpu->lost = 0;
	cpu->lost_is_least = false;
}

/* Notes the time of a line, which ends a loss of its CPU. */
static void pass_time(struct nw_text *text, const struct nw_text_line *parsed)
{
	struct cpu *cpu = cpu_of(text, parsed->cpu);

	text->stats.ticks |= parsed->ticks;
	text->stats.now = nw_max64(text->stats.now, parsed->time);
	if (!text->began)
		text->began = parsed->time;
	if (!cpu)
		return;
	if (nw_unlikely(cpu->losing))
		push_loss(text, cpu, parsed->time);
	cpu->last = parsed->time;
}

static bool is_text(const char *text, size_t len, const char *wanted)
{
	return strlen(wanted) == len && memcmp(text, wanted, len) == 0;
}

/* Was the line written to trace_marker? */
static bool is_mark(const struct nw_text_line *parsed)
{
	return is_text(parsed->event, parsed->event_len, "tracing_mark_write");
}

static void take_event(struct nw_text *text, const char *at,
		       const struct nw_text_line *parsed)
{
	int64_t known = nw_index_find(&text->names, parsed->event, parsed->event_len);
	enum nw_text_task task = NW_TEXT_TASKS;
	struct line line = {.time = parsed->time,
			    .at = text->base + (uint64_t)(at - text->bytes),
			    .len = (uint32_t)(parsed->args + parsed->args_len - at),
			    .args = (uint32_t)(parsed->args - at),
			    .cpu = parsed->cpu,
			    .event = known < 0 ? 0 : text->numbers.item[known],
			    .tid = parsed->tid,
			    .tgid = parsed->tgid,
			    .comm = (uint16_t)(parsed->comm - at),
			    .comm_len = (uint16_t)parsed->comm_len,
			    .kind = LINE_HIT};

	pass_time(text, parsed);
	text->tail = text->quotes_to = line.at;
	text->has_quote = text->open_quote = false;
	text->has_tail = true;
	text->newest = UINT64_MAX;
	if (is_mark(parsed) && text->header_ends &&
	    is_text(parsed->args, parsed->args_len, "nopwatch stop"))
		text->over = nw_min64(text->over, parsed->time);
	/* Births and deaths of threads count only if our script has asked for them. */
	if (known < 0 && text->header_ends && nw_text_task_kind(parsed, &task)) {
		line.kind = LINE_TASK;
		line.event = task;
	} else if (known < 0 &&
		   !is_mark(parsed)) { /* marks are the heartbeat of our script */
		text->stats.other++;
	}
	if (known >= 0 || line.kind == LINE_TASK)
		push(text, &line);
}

/* At the end of the text, hands out losses with no line behind them. */
static bool take_last_loss(struct nw_text *text)
{
	if (!text->losing || !text->finished)
		return false;
	for (; text->told < text->cpus.count; text->told++) {
		struct cpu *cpu = &text->cpus.item[text->told];
		if (!cpu->losing)
			continue;
		push_loss(text, cpu, UINT64_MAX);
		return true;
	}
	return false;
}

/* ---- lines that are no events ------------------------------------------------------- */

/* Does the line belong to a string of the line before it? A line that looks like a comment does only if that string
 * is still open. */
static bool belongs_to_string(struct nw_text *text, const char *line, size_t len,
			      bool comment)
{
	uint64_t end = text->base + (uint64_t)(line + len - text->bytes);

	if (!text->has_tail || end - text->tail >= LINE_MOST)
		return false;
	/* Counts the quotes from the begin of the event's line up to here. Each byte is searched once, however many
	 * lines the string has. */
	const char *at = text->bytes + (text->quotes_to - text->base);
	while (at < line && (at = memchr(at, '"', (size_t)(line - at)))) {
		text->has_quote = true;
		text->open_quote = !text->open_quote;
		at++;
	}
	text->quotes_to = text->base + (uint64_t)(line - text->bytes);
	if (comment ? !text->open_quote : !text->has_quote)
		return false;
	if (text->newest >= text->first && text->newest < text->end)
		text->window[text->newest % NW_TEXT_WINDOW].len = (uint32_t)(end -
									     text->tail);
	return true;
}

/* Converts "17.000042" in seconds. */
static uint64_t header_time(const char *text, size_t len)
{
	struct nw_text_line line;
	char whole[96];

	if (len > 40)
		return 0;
	snprintf(whole, sizeof(whole), "a-1 [0] %.*s: e:", (int)len, text);
	nw_text_line_parse(whole, strlen(whole), &line);
	return line.kind == NW_TEXT_EVENT ? line.time : 0;
}

/* Adds a line of what the kernel has counted. */
static void add_to_trailer(struct nw_text *text, const char *line, size_t len)
{
	if (text->trailer.len >= TRAILER_MOST) {
		text->stats.trailer_cut = true;
		return;
	}
	nw_buf_add(&text->trailer, line, len);
	nw_buf_addc(&text->trailer, '\n');
}

/* Takes a line of our script: of the header, which "end" ends, or behind it. */
static void take_header(struct nw_text *text, const struct nw_text_line *parsed)
{
	const char *blank = memchr(parsed->args, ' ', parsed->args_len);
	size_t word = blank ? (size_t)(blank - parsed->args) : parsed->args_len;
	const char *value = blank ? blank + 1 : parsed->args + word;
	size_t len = (size_t)(parsed->args + parsed->args_len - value);
	uint64_t number;

	text->in_map = text->header_ends && is_text(parsed->args, word, "map");
	if (text->in_map || (text->header_ends && is_text(parsed->args, word, "task"))) {
		add_to_trailer(text, parsed->args, parsed->args_len);
		return;
	}
	if (is_text(parsed->args, word, "start"))
		text->stats.start = header_time(value, len);
	else if (is_text(parsed->args, word, "stop"))
		text->stats.stop = header_time(value, len);
	else if (is_text(parsed->args, word, "lost") && nw_text_number(value, len, &number))
		text->told_lost = nw_max64(text->told_lost, number);
	else if (is_text(parsed->args, word, "end"))
		text->header_ends = true;
	else if (!text->header_ends && text->header.len < LINE_MOST * 16) {
		nw_buf_add(&text->header, parsed->args, parsed->args_len);
		nw_buf_addc(&text->header, '\n');
	}
}

static void take_other(struct nw_text *text, const char *line, size_t len,
		       const struct nw_text_line *parsed)
{
	struct cpu *cpu = NULL;

	switch (parsed->kind) {
	case NW_TEXT_LOSS:
		text->stats.lost += parsed->lost;
		text->uncounted += !parsed->lost;
		cpu = cpu_of(text, parsed->cpu);
		if (!cpu)
			break;
		text->losing += !cpu->losing;
		cpu->losing = true;
		cpu->lost += parsed->lost;
		cpu->lost_is_least |= !parsed->lost;
		break;
	case NW_TEXT_HEADER:
		take_header(text, parsed);
		break;
	case NW_TEXT_COMMENT:
		if (!belongs_to_string(text, line, len, true))
			text->stats.lost += parsed->lost;
		return;
	default:
		if (!belongs_to_string(text, line, len, false) && text->stats.bad++ == 0)
			text->stats.bad_at = text->stats.lines;
		return;
	}
	text->has_tail = false;
}

/* ---- the beginning ------------------------------------------------------------------ */

enum nw_text_kind nw_text_begin(struct nw_text *text)
{
	struct nw_text_line parsed;
	const char *line;
	size_t len;

	for (;;) {
		struct nw_text_stats before = text->stats;
		size_t at = text->next;
		if (text->header_ends)
			return NW_TEXT_HEADER;
		if (!next_line(text, &line, &len))
			return NW_TEXT_BAD;
		nw_text_line_parse(line, len, &parsed);
		if (parsed.kind == NW_TEXT_EVENT || parsed.kind == NW_TEXT_LOSS) {
			text->next = at; /* the line will be read again */
			text->stats = before;
			return NW_TEXT_EVENT;
		}
		take_other(text, line, len, &parsed);
	}
}

/* ---- handing out -------------------------------------------------------------------- */

/* Fills a record from the oldest line in the window. Returns false if the event is not in the plan. */
static bool pop(struct nw_text *text, struct nw_record *out, struct nw_text_who *who)
{
	const struct line *line = &text->window[text->first++ % NW_TEXT_WINDOW];

	if (line->kind == LINE_LOSS) {
		*out = (struct nw_record){.kind = NW_RECORD_LOSS,
					  .time = line->time,
					  .cpu = line->cpu,
					  .until = line->until,
					  .lost = line->lost,
					  .lost_is_least = line->lost_is_least};
		if (who)
			*who = (struct nw_text_who){0};
		return true;
	}
	const char *from = text->bytes + (line->at - text->base);
	*out = (struct nw_record){.kind = NW_RECORD_HIT,
				  .time = line->time,
				  .cpu = line->cpu,
				  .tid = line->tid};
	if (who)
		*who = (struct nw_text_who){.comm = from + line->comm,
					    .comm_len = line->comm_len,
					    .pid = line->tgid};
	const char *args = from + line->args;
	size_t len = line->len - line->args;
	bool ours = line->kind == LINE_TASK
			    ? nw_text_task_record(&text->tasks, line->event, args, len, out)
			    : nw_text_event_record(text->plan, &text->events[line->event],
						   args, len, &text->values, out);
	if (ours)
		return true;
	text->stats.other++;
	return false;
}

/* Takes the next line of the text into the window. Returns false if there is none. */
static bool take_line(struct nw_text *text)
{
	struct nw_text_line parsed;
	const char *line;
	size_t len;

	if (!next_line(text, &line, &len))
		return false;
	if (text->in_map && (len < 4 || memcmp(line, "#nw ", 4) != 0)) {
		add_to_trailer(text, line, len);
		return true;
	}
	nw_text_line_parse(line, len, &parsed);
	if (parsed.kind == NW_TEXT_EVENT)
		take_event(text, line, &parsed);
	else
		take_other(text, line, len, &parsed);
	return true;
}

int nw_text_next(struct nw_text *text, struct nw_record *out, struct nw_text_who *who)
{
	if (!text->plan)
		return 0;
	for (;;) {
		/* A line may bring a loss with it, so there must be room for two. */
		bool full = text->end - text->first + 2 > NW_TEXT_WINDOW;
		if (!full && (take_line(text) || take_last_loss(text)))
			continue;
		if (text->end == text->first || (!full && !text->flush))
			return 0;
		if (!pop(text, out, who))
			continue;
		if (text->values.failed || text->header.failed)
			return -ENOMEM;
		text->stats.late += out->time < text->handed;
		text->handed = nw_max64(text->handed, out->time);
		return 1;
	}
}
