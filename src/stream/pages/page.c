// SPDX-License-Identifier: MIT
/*
 * One sub-buffer of the ring buffer (kernel/trace/ring_buffer.c; the text of events/header_event): a time stamp, a
 * commit word, events.
 *
 *   commit  low 30 bits: bytes of data; bit 31: events were lost before this page;
 *           bit 30: the number of lost events follows the data, as a kernel long
 *   event   header u32, type_len:5 time_delta:27
 *           0       u32 length follows, itself included
 *           1..28   length = type_len * 4
 *           29      padding: delta 0: rest of the page; else u32 length of a discarded event
 *           30      time extend: delta += next u32 << 27
 *           31      time stamp: next u32 << 27 | delta, absolute; 59 bits, the rest from the
 *                   page's stamp
 *
 * Times are the page's stamp plus the sum of the deltas.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/load.h"
#include "stream/pages/page.h"

#define RB_MISSED_EVENTS (1u << 31)
#define RB_MISSED_STORED (1u << 30)
#define COMMIT_MASK	 (RB_MISSED_STORED - 1)
#define TS_TOP		 (~(uint64_t)0 << 59) /* ring_buffer.c: TS_MSB */

enum {
	TYPE_PADDING = 29,
	TYPE_TIME_EXTEND = 30,
	TYPE_TIME_STAMP = 31
};

/* ---- layout ------------------------------------------------------------------------- */

/* Parses "field: TYPE NAME; offset:N; size:N;". */
static bool find_field(const char *text, const char *name, size_t *offset, size_t *size)
{
	const char *at = strstr(text, name);

	return at &&
	       sscanf(at + strlen(name), "; offset:%zu; size:%zu;", offset, size) == 2;
}

int nw_page_layout_parse(const char *header_page, size_t len, struct nw_page_layout *out,
			 struct nw_error *err)
{
	struct nw_page_layout layout = {0};
	size_t data_size = 0, ignored;
	struct nw_buf text = {0};
	bool known;

	nw_buf_add(&text, header_page, len);
	known = find_field(nw_buf_str(&text), "commit", &layout.commit,
			   &layout.commit_size) &&
		find_field(nw_buf_str(&text), " data", &layout.data, &data_size) &&
		find_field(nw_buf_str(&text), "timestamp", &ignored, &ignored);
	bool failed = text.failed;
	nw_buf_free(&text);
	if (failed)
		return nw_no_memory(err);
	layout.size = layout.data + data_size;
	if (!known || (layout.commit_size != 4 && layout.commit_size != 8) ||
	    layout.commit != 8 || layout.data != 8 + layout.commit_size ||
	    layout.size < 64 || data_size > (64 << 20))
		return nw_fail(err, EBADMSG, "events/header_page is not as expected");
	*out = layout;
	return 0;
}

/* ---- walking ------------------------------------------------------------------------ */

int nw_page_open(struct nw_page *page, const struct nw_page_layout *layout,
		 const unsigned char *bytes, size_t len)
{
	*page = (struct nw_page){.usual_type = 1, .usual_length = 8};
	if (len < layout->data)
		return -EBADMSG;
	/* The flags are in the low 32 bits of the kernel's long. */
	uint64_t word = layout->commit_size == 8 ? nw_load64(bytes + layout->commit)
						 : nw_load32(bytes + layout->commit);
	size_t used = word & COMMIT_MASK;
	if (used > len - layout->data)
		return -EBADMSG;
	page->at = bytes + layout->data;
	page->end = page->at + used;
	page->time = nw_load64(bytes);
	page->missed = word & RB_MISSED_EVENTS;
	if ((word & RB_MISSED_STORED) && len - layout->data - used >= layout->commit_size)
		page->lost = layout->commit_size == 8 ? nw_load64(page->end)
						      : nw_load32(page->end);
	return 0;
}

/* Skips padding and time events. Returns 1 to go on, 0 at the end of the page. */
static int skip_special(struct nw_page *page, unsigned int type, uint32_t delta)
{
	size_t left = (size_t)(page->end - page->at);

	if (type == TYPE_PADDING && delta == 0)
		return 0;
	if (left < 8)
		return -EBADMSG;
	uint64_t extra = nw_load32(page->at + 4);
	if (type == TYPE_PADDING) {
		size_t length = extra + 4;
		if (length < 8 || length > left)
			return -EBADMSG;
		page->time += delta;
		page->at += length;
		return 1;
	}
	if (type == TYPE_TIME_EXTEND) {
		page->time += (extra << 27) + delta;
	} else {
		uint64_t before = page->time;
		page->time = (before & TS_TOP) | (extra << 27) | delta;
		if (page->time < before && (before & TS_TOP)) /* its 59 bits have wrapped */
			page->time += (uint64_t)1 << 59;
	}
	page->at += 8;
	return 1;
}

int nw_page_next_other(struct nw_page *page, const unsigned char **data, uint32_t *size)
{
	while (page->end - page->at >= 4) {
		uint32_t header = nw_load32(page->at);
		unsigned int type = nw_page_type(header);
		uint32_t delta = nw_page_delta(header);
		size_t left = (size_t)(page->end - page->at), length;

		if (nw_unlikely(type >= TYPE_PADDING)) {
			int ret = skip_special(page, type, delta);
			if (ret <= 0)
				return ret;
			continue;
		}
		if (nw_unlikely(type == 0)) {
			if (left < 8)
				return -EBADMSG;
			length = nw_load32(page->at + 4);
			if (length < 4 || length > left - 4)
				return -EBADMSG;
			*data = page->at + 8;
			*size = (uint32_t)length - 4;
			length += 4;
			length = (length + 3) & ~(size_t)3;
		} else {
			length = 4 + type * 4;
			if (length > left)
				return -EBADMSG;
			*data = page->at + 4;
			*size = type * 4;
			page->usual_type = type;
			page->usual_length = (uint32_t)length;
		}
		page->time += delta;
		page->at += length < left ? length : left;
		return 1;
	}
	return page->at == page->end ? 0 : -EBADMSG; /* less than a header is left */
}

/* ---- cutting ------------------------------------------------------------------------ */

/* Writes a page. The number of lost events follows the data if there is room for it. */
static void put_page(const struct nw_page_layout *layout, uint64_t time,
		     const unsigned char *from, const struct nw_page *page, bool missed,
		     unsigned char *out)
{
	size_t used = (size_t)(page->end - from);
	bool counted = missed && page->lost &&
		       layout->size - layout->data - used >= layout->commit_size;
	uint64_t wide = used | (missed ? RB_MISSED_EVENTS : 0) |
			(counted ? RB_MISSED_STORED : 0);
	uint32_t word = (uint32_t)wide, lost = (uint32_t)page->lost;
	bool is_wide = layout->commit_size == 8;

	memset(out, 0, layout->size);
	memcpy(out, &time, sizeof(time));
	memcpy(out + layout->commit, is_wide ? (const void *)&wide : (const void *)&word,
	       layout->commit_size);
	memcpy(out + layout->data, from, used);
	if (counted)
		memcpy(out + layout->data + used,
		       is_wide ? (const void *)&page->lost : (const void *)&lost,
		       layout->commit_size);
}

/* Cuts a page at a time. The stamp of the new page is the time before its first event, since each event has only the
 * difference to the one before. */
bool nw_page_cut(const struct nw_page_layout *layout, const unsigned char *bytes,
		 size_t len, uint64_t time, unsigned char *out)
{
	const unsigned char *data, *at;
	struct nw_page page;
	uint64_t last;
	uint32_t size;

	if (nw_page_open(&page, layout, bytes, len) < 0)
		return false;
	const unsigned char *begin = page.at;
	do {
		at = page.at;
		last = page.time;
		if (nw_page_next(&page, &data, &size) <= 0)
			return false;
	} while (page.time < time);
	/* If events between `time` and the first event were lost, the cut page has the same loss. */
	put_page(layout, last, at, &page, page.missed && at == begin && page.time > time,
		 out);
	return true;
}
