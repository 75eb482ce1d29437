/* SPDX-License-Identifier: MIT */
/*
 * Writing messages in protobuf's wire format (protobuf.dev/programming-guides/encoding): a key is
 * (field number << 3 | wire type), then a varint (type 0) or a length and so many bytes (type 2).
 */
#ifndef NOPWATCH_SHOW_ROWS_PROTOBUF_H
#define NOPWATCH_SHOW_ROWS_PROTOBUF_H

#include "base/base.h"

void nw_pb_uint(struct nw_buf *out, unsigned int field, uint64_t value);
/* int32 and int64: negative numbers take ten bytes. */
void nw_pb_int(struct nw_buf *out, unsigned int field, int64_t value);
/* sint32 and sint64: numbers near 0 take few bytes, also negative ones. */
void nw_pb_sint(struct nw_buf *out, unsigned int field, int64_t value);
void nw_pb_double(struct nw_buf *out, unsigned int field, double value);
/* A string must be UTF-8: bytes that are not are written as \xNN. */
void nw_pb_string(struct nw_buf *out, unsigned int field, const char *text, size_t len);
void nw_pb_bytes(struct nw_buf *out, unsigned int field, const void *data, size_t len);
/* A nested message: the bytes between open and close. Its length always takes four bytes, so that nothing has to be
 * moved; a message has at most 256 MiB. */
size_t nw_pb_open(struct nw_buf *out, unsigned int field);
void nw_pb_close(struct nw_buf *out, size_t at);

/* A message behind its length, as streams of messages have it. */
void nw_pb_delimited(struct nw_buf *out, const void *data, size_t len);

#endif
