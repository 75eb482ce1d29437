// SPDX-License-Identifier: MIT
/* Trace text as --from reads it, with the header of a script or without: the same records and
 * values whether it lies in memory or comes in pieces. */
#include "show/text/text.h"
#include "fuzz.h"
#include "stream/pages/stream.h"
#include "stream/trace_pipe/trace_text.h"

struct reading {
	struct nw_text *text;
	struct nw_selection selection;
	struct nw_plan plan;
	struct nw_armed armed;
	struct nw_formats formats;
	struct nw_join *join;
	bool open;
};

/* Find the probes; false: there are none. */
static bool open_reading(struct reading *r, const char *bytes, size_t size)
{
	const struct nw_buf *header = nw_text_header(r->text);
	struct nw_error err = {0};
	int ret;

	if (nw_text_begin(r->text) == NW_TEXT_HEADER)
		ret = nw_plan_load(nw_buf_str(header), header->len, &r->selection, &r->plan,
				   &r->armed, NULL, NULL, &err);
	else
		ret = nw_text_learn(bytes, size, "text", &r->selection, &r->plan, &r->armed,
				    &err);
	if (ret < 0) {
		fuzz_error(ret, &err);
		return false;
	}
	r->open = true;
	PROMISE(nw_text_use(r->text, &r->armed, true, &r->formats) == 0);
	PROMISE(nw_join_open(&r->formats, true, &r->join) == 0);
	return true;
}

static void close_reading(struct reading *r)
{
	nw_join_free(r->join);
	nw_text_free(r->text);
	nw_formats_free(&r->formats);
	if (r->open) {
		nw_armed_free(&r->armed);
		nw_plan_free(&r->plan);
		nw_selection_free(&r->selection);
	}
}

static void write_hit(const struct reading *r, const struct nw_hit *hit, struct nw_buf *out)
{
	PROMISE(hit->probe < r->selection.probes.count);
	PROMISE(hit->planned < r->plan.points.count);
	nw_buf_printf(out, "%lu %d %u", hit->time, hit->tid, hit->probe);
	for (size_t i = 0; hit->values && i < hit->value_count; i++)
		nw_value_print(&hit->values[i], out);
}

static void write_records(struct reading *r, struct nw_buf *out)
{
	struct nw_record record;
	struct nw_text_who who;
	struct nw_hit hit;

	while (nw_text_next(r->text, &record, &who) == 1) {
		PROMISE(who.comm_len < 65536);
		nw_buf_printf(out, "%d %.*s ", record.kind, (int)who.comm_len, who.comm);
		if (record.kind == NW_RECORD_HIT &&
		    nw_join_push(r->join, &record, &hit) == 1)
			write_hit(r, &hit, out);
		while (record.kind == NW_RECORD_LOSS &&
		       nw_join_loss(r->join, &record, &hit) == 1)
			write_hit(r, &hit, out);
	}
	while (nw_join_rest(r->join, &hit) == 1)
		write_hit(r, &hit, out);
	nw_buf_adds(out, nw_buf_str(nw_text_trailer(r->text)));
}

static void feed(struct nw_text *text, const char *bytes, size_t size)
{
	size_t room, some;

	for (; size; size -= some, bytes += some) {
		char *to = nw_text_room(text, &room);
		PROMISE(to && room);
		some = size < room ? size : room;
		memcpy(to, bytes, some);
		nw_text_filled(text, some);
	}
}

/* The same bytes, fed in two pieces. */
static void read_pieces(const char *bytes, size_t size, struct nw_buf *out)
{
	struct reading r = {0};

	PROMISE(nw_text_open(&r.text) == 0);
	feed(r.text, bytes, size / 2);
	nw_text_begin(r.text);
	feed(r.text, bytes + size / 2, size - size / 2);
	nw_text_finish(r.text);
	if (open_reading(&r, bytes, size))
		write_records(&r, out);
	close_reading(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = fuzz_bytes(data, size);
	struct nw_buf whole = {0}, pieces = {0};
	struct reading r = {0};

	PROMISE(nw_text_open_memory(bytes, size, &r.text) == 0);
	if (open_reading(&r, bytes, size))
		write_records(&r, &whole);
	close_reading(&r);
	read_pieces(bytes, size, &pieces);
	PROMISE(strcmp(nw_buf_str(&whole), nw_buf_str(&pieces)) == 0);
	nw_buf_free(&whole);
	nw_buf_free(&pieces);
	free(bytes);
	return 0;
}
