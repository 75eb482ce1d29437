/* SPDX-License-Identifier: MIT */
/* stream: walks a page of the ring buffer event by event. */
#ifndef NOPWATCH_STREAM_PAGES_PAGE_H
#define NOPWATCH_STREAM_PAGES_PAGE_H

#include <string.h>

#include "base/base.h"

/*
 * Layout of a sub-buffer, from events/header_page: u64 time stamp, a commit word of the size of the kernel's long,
 * data. kernel/trace/ring_buffer.c, struct buffer_data_page.
 */
struct nw_page_layout {
	size_t size;	    /* of the whole sub-buffer */
	size_t commit;	    /* offset of the commit word */
	size_t commit_size; /* 4 or 8 */
	size_t data;	    /* offset of the first event */
};

int nw_page_layout_parse(const char *header_page, size_t len, struct nw_page_layout *out,
			 struct nw_error *err);

/* A walk over the events of one page. */
struct nw_page {
	const unsigned char *at, *end;
	uint64_t time; /* of the event returned last */
	bool missed;   /* events were lost before this page */
	uint64_t lost; /* how many; 0: unknown */
	/* type_len and size, including the header, of the last event of 1..28 words: the next event most likely has
	 * the same size. So its place is known before this one has been read, which makes the walk three times as
	 * fast as one load waiting for another. */
	uint32_t usual_type, usual_length;
};

/* Begins a walk. Returns -EBADMSG if the page's own sizes are impossible. */
int nw_page_open(struct nw_page *page, const struct nw_page_layout *layout,
		 const unsigned char *bytes, size_t len);
/* Moves to the next event. Returns 1 with its payload in *data and *size (page->time is its time); 0 at the end;
 * -EBADMSG: the page is damaged. */
static inline int nw_page_next(struct nw_page *page, const unsigned char **data,
			       uint32_t *size);
/* Does the same for an event that is not like the one before. */
int nw_page_next_other(struct nw_page *page, const unsigned char **data, uint32_t *size);

/*
 * Copies the part of a page from a time on to a page of layout->size bytes. Events are moved, not changed. It has the
 * mark of lost events if the page has it and all its events are younger than `time`, because then the lost events may
 * be younger, too. Returns false if there are no later events, or if the page is damaged; nothing is written then.
 */
bool nw_page_cut(const struct nw_page_layout *layout, const unsigned char *bytes,
		 size_t len, uint64_t time, unsigned char *out);

/* An event header is a u32, type_len:5 time_delta:27, from the top on big endian. */
static inline uint32_t nw_page_type(uint32_t header)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? header & 31 : header >> 27;
}

static inline uint32_t nw_page_delta(uint32_t header)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? header >> 5
							 : header & ((1u << 27) - 1);
}

static inline int nw_page_next(struct nw_page *page, const unsigned char **data,
			       uint32_t *size)
{
	const unsigned char *at = page->at;
	uint32_t length = page->usual_length, header;

	if (nw_unlikely((size_t)(page->end - at) < length))
		return nw_page_next_other(page, data, size);
	memcpy(&header, at, sizeof(header));
	if (nw_unlikely(nw_page_type(header) != page->usual_type))
		return nw_page_next_other(page, data, size);
	*data = at + sizeof(header);
	*size = length - (uint32_t)sizeof(header);
	page->at = at + length;
	page->time += nw_page_delta(header);
	return 1;
}

#endif
