// SPDX-License-Identifier: MIT
/* See protobuf.h. */
#include <string.h>

#include "protobuf.h"

enum {
	VARINT = 0,
	FIXED64 = 1,
	BYTES = 2,
	LENGTH = 4 /* bytes of a length that is filled in later */
};

static void varint(struct nw_buf *out, uint64_t value)
{
	unsigned char bytes[10];
	size_t len = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[len++] = (unsigned char)(value | 0x80);
	bytes[len++] = (unsigned char)value;
	nw_buf_add(out, bytes, len);
}

static void key(struct nw_buf *out, unsigned int field, unsigned int type)
{
	varint(out, (uint64_t)field << 3 | type);
}

void nw_pb_uint(struct nw_buf *out, unsigned int field, uint64_t value)
{
	key(out, field, VARINT);
	varint(out, value);
}

void nw_pb_int(struct nw_buf *out, unsigned int field, int64_t value)
{
	nw_pb_uint(out, field, (uint64_t)value);
}

void nw_pb_sint(struct nw_buf *out, unsigned int field, int64_t value)
{
	nw_pb_uint(out, field, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void nw_pb_delimited(struct nw_buf *out, const void *data, size_t len)
{
	varint(out, len);
	nw_buf_add(out, data, len);
}

void nw_pb_double(struct nw_buf *out, unsigned int field, double value)
{
	unsigned char bytes[8];
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(bits >> 8 * i);
	key(out, field, FIXED64);
	nw_buf_add(out, bytes, sizeof(bytes));
}

void nw_pb_bytes(struct nw_buf *out, unsigned int field, const void *data, size_t len)
{
	key(out, field, BYTES);
	varint(out, len);
	nw_buf_add(out, data, len);
}

static bool is_utf8(const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + len;
	uint32_t code;

	while (at < end) {
		size_t step = *at < 0x80 ? 1
					 : nw_utf8_decode(at, (size_t)(end - at), &code);
		if (!step)
			return false;
		at += step;
	}
	return true;
}

void nw_pb_string(struct nw_buf *out, unsigned int field, const char *text, size_t len)
{
	struct nw_buf escaped = {0};

	if (is_utf8(text, len)) {
		nw_pb_bytes(out, field, text, len);
		return;
	}
	nw_buf_add_escaped(&escaped, text, len);
	nw_pb_bytes(out, field, nw_buf_str(&escaped), escaped.len);
	out->failed |= escaped.failed;
	nw_buf_free(&escaped);
}

size_t nw_pb_open(struct nw_buf *out, unsigned int field)
{
	static const char room[LENGTH];

	key(out, field, BYTES);
	nw_buf_add(out, room, sizeof(room));
	return out->len;
}

void nw_pb_close(struct nw_buf *out, size_t at)
{
	if (out->failed)
		return;
	size_t len = out->len - at;
	for (size_t i = 0; i < LENGTH; i++)
		out->data[at - LENGTH + i] = (char)((len >> 7 * i & 0x7f) |
						    (i + 1 < LENGTH ? 0x80 : 0));
}
