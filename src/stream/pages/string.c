// SPDX-License-Identifier: MIT
/*
 * Strings that come as a pointer and words (plan/layout.c). The kernel stores zeros for a word that it could not
 * read, which looks like the end of the string. The limits of pages tell the two apart, because either all of a page
 * can be read or nothing of it.
 */
#include <stdlib.h>
#include <string.h>

#include "stream/pages/record.h"
#include "value.h"

enum {
	/* The smallest of any architecture: the limits of larger pages are limits of these, too */
	PAGE = 4096,
	LOWEST = 65536, /* the lowest address that programs map */
};

static bool all_zero(const unsigned char *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (bytes[i])
			return false;
	return true;
}

static uint32_t least(uint32_t a, uint64_t b)
{
	return b < a ? (uint32_t)b : a;
}

uint32_t nw_string_bytes(const struct nw_record *record, const struct nw_source *source,
			 uint32_t *offset, const unsigned char **bytes)
{
	const struct nw_event_format *format = record->format;
	uint32_t len = 0;

	nw_vec_each (&source->chunks, chunk) {
		if (chunk->part != record->part)
			continue;
		if ((size_t)chunk->field >= format->fields.count)
			break;
		const struct nw_field_format *field = &format->fields.item[chunk->field];
		const unsigned char *at = record->data + field->offset;
		if (!len) {
			*offset = chunk->offset;
			*bytes = at;
		}
		/* Chunks are contiguous; a line of text may have lost one. */
		if (!nw_record_has(record, (size_t)chunk->field) ||
		    field->size != nw_chunk_bytes(chunk) || at != *bytes + len)
			break;
		len += field->size;
	}
	return len;
}

/* Returns the end of the page that has the byte at this offset of the string, as an offset. */
static uint64_t page_end(const struct nw_value *value, uint32_t offset)
{
	return offset + (PAGE - (value->number + offset) % PAGE);
}

/* Returns the begin of the array element that has this byte, and of the next element. */
static void element_of(const struct nw_source *source, uint32_t offset, uint32_t *from,
		       uint32_t *to)
{
	nw_vec_each (&source->chunks, chunk) {
		uint32_t step = chunk->bits / 8;
		if (offset - chunk->offset >= nw_chunk_bytes(chunk))
			continue;
		*from = offset - (offset - chunk->offset) % step;
		*to = *from + step;
		return;
	}
	*from = offset;
	*to = offset + 1;
}

/*
 * Can the zero at `end` come from a failed load? Only a load from a page that could not be read fails: then all bytes
 * are zero from the begin of that page on. A failed load may also lose bytes in front of the page (all of them, or
 * all but the first few, as arm64's copy does); then the zeros begin within its element.
 */
static bool could_be_a_fault(const struct nw_source *source, const unsigned char *bytes,
			     uint32_t len, uint32_t end, const struct nw_value *value)
{
	uint32_t from, to;

	element_of(source, end, &from, &to);
	uint64_t page = page_end(value, end);
	bool crosses = to > page;
	if (source->whole && crosses)
		return all_zero(bytes + end, least(len, page_end(value, to - 1)) - end);
	if ((value->number + end) % PAGE != 0)
		return false;
	return all_zero(bytes + end, least(len, page) - end);
}

static void miss(struct nw_value *value)
{
	value->kind = NW_VALUE_MISSING;
	value->text = "(fault)"; /* as ftrace itself prints it */
	value->untrusted = false;
}

/*
 * Decides about a string that begins with a NUL. It is empty if anything else on its page was read; otherwise the
 * load may have failed. The load has failed for certain if no process can have memory at that address: the kernel's
 * half of all addresses, and the first 64 KiB, to which small numbers point that are no pointers. (Distributions set
 * vm.mmap_min_addr to that, 32 KiB on arm; below it only root can have a mapping, by asking for it.) At a system call the
 * page may well not be in memory yet, so there it is taken for failed.
 */
static void finish_empty(const struct nw_source *source, const unsigned char *bytes,
			 uint32_t len, struct nw_value *value)
{
	bool unsure = all_zero(bytes, least(len, page_end(value, 0)));

	if (unsure && (source->in_kernel || value->number < LOWEST || value->number >> 57))
		miss(value);
	else
		value->untrusted |= unsure;
}

void nw_string_finish(const struct nw_source *source, const unsigned char *bytes,
		      uint32_t len, struct nw_value *value)
{
	if (source->callers) { /* the bytes may contain NULs */
		value->text = (const char *)bytes;
		value->len = len;
		return;
	}
	if (!value->number) {
		value->kind = NW_VALUE_NULL;
		return;
	}
	if (!len) {
		value->kind = NW_VALUE_MISSING;
		value->text = "lost";
		return;
	}
	value->text = (const char *)bytes;
	if (source->counted) { /* its length is not known yet */
		value->len = len;
		return;
	}
	value->len = (uint32_t)strnlen(value->text, len);
	if (!value->len)
		finish_empty(source, bytes, len, value);
	else
		value->cut = value->len == len ||
			     could_be_a_fault(source, bytes, len, value->len, value);
}

/* ---- strings that have a length ----------------------------------------------------- */

/* Returns how many of the bytes were read. Zeros from the begin of a page up to the last byte look like failed loads,
 * and do not count. */
static uint32_t readable(const struct nw_value *value, uint32_t len)
{
	const unsigned char *bytes = (const unsigned char *)value->text;
	uint32_t end = len;

	while (end && !bytes[end - 1])
		end--;
	if (end == len)
		return len;
	if (!end)
		return 0;
	uint64_t page = (value->number + end) % PAGE == 0 ? end : page_end(value, end);
	return least(len, page);
}

/* Cuts the string to the length that another argument has. */
static void cut_to(struct nw_value *value, const struct nw_value *length)
{
	uint64_t wanted = length->number;

	if (value->kind == NW_VALUE_NULL && (wanted || length->kind == NW_VALUE_MISSING))
		return;
	if (length->kind != NW_VALUE_UNSIGNED && length->kind != NW_VALUE_SIGNED &&
	    length->kind != NW_VALUE_HEX) {
		*value = (struct nw_value){.kind = NW_VALUE_MISSING,
					   .text = "its length is not known"};
		return;
	}
	if (length->kind == NW_VALUE_SIGNED && (int64_t)wanted < 0)
		wanted = 0;
	value->kind = NW_VALUE_STRING;
	value->len = readable(value, least(value->len, wanted));
	value->cut = value->len < wanted;
	if (wanted && !value->len)
		miss(value);
}

void nw_string_lengths(const struct nw_planned_point *planned, struct nw_value *values)
{
	size_t i = 0;

	nw_vec_each (&planned->args, source) {
		struct nw_value *value = &values[i++];
		/* An empty string may have no address, as Go's have. */
		if (source->counted &&
		    (value->kind == NW_VALUE_STRING || value->kind == NW_VALUE_NULL) &&
		    source->length < planned->args.count && source->length != i - 1)
			cut_to(value, &values[source->length]);
	}
}
