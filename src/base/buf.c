// SPDX-License-Identifier: MIT
/* A growable string, and the escaping of untrusted text. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

static bool make_room(struct nw_buf *buf, size_t more)
{
	size_t need;

	if (buf->failed)
		return false;
	if (nw_size_add_overflows(buf->len, more, &need) || need >= SIZE_MAX / 2) {
		buf->failed = true;
		return false;
	}
	if (need + 1 <= buf->room)
		return true;
	size_t room = buf->room ? buf->room : 64;
	while (room < need + 1)
		room *= 2;
	char *data = realloc(buf->data, room);
	if (!data) {
		buf->failed = true;
		return false;
	}
	buf->data = data;
	buf->room = room;
	return true;
}

void nw_buf_add(struct nw_buf *buf, const void *data, size_t len)
{
	if (!make_room(buf, len))
		return;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void nw_buf_adds(struct nw_buf *buf, const char *text)
{
	nw_buf_add(buf, text, strlen(text));
}

void nw_buf_addc(struct nw_buf *buf, char c)
{
	nw_buf_add(buf, &c, 1);
}

void nw_buf_addu(struct nw_buf *buf, uint64_t number)
{
	char digits[20], *at = digits + sizeof(digits);

	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	nw_buf_add(buf, at, (size_t)(digits + sizeof(digits) - at));
}

/* Formats into the free room first, where most texts fit; only a longer one is formatted twice. */
void nw_buf_vprintf(struct nw_buf *buf, const char *fmt, va_list args)
{
	size_t spare = buf->failed ? 0 : buf->room - buf->len;
	va_list again;

	va_copy(again, args);
	int len = vsnprintf(spare ? buf->data + buf->len : NULL, spare, fmt, again);
	va_end(again);
	if (len < 0) {
		buf->failed = true;
		return;
	}
	if (!make_room(buf, (size_t)len)) {
		if (spare)
			buf->data[buf->len] = '\0';
		return;
	}
	if ((size_t)len >= spare)
		vsnprintf(buf->data + buf->len, (size_t)len + 1, fmt, args);
	buf->len += (size_t)len;
}

void nw_buf_printf(struct nw_buf *buf, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	nw_buf_vprintf(buf, fmt, args);
	va_end(args);
}

void nw_buf_cut(struct nw_buf *buf, size_t len)
{
	buf->len = len;
	if (buf->data)
		buf->data[len] = '\0';
}

void nw_buf_clear(struct nw_buf *buf)
{
	buf->len = 0;
	buf->failed = false;
	if (buf->data)
		buf->data[0] = '\0';
}

void nw_buf_free(struct nw_buf *buf)
{
	free(buf->data);
	*buf = (struct nw_buf){0};
}

const char *nw_buf_str(const struct nw_buf *buf)
{
	return buf->data ? buf->data : "";
}

char *nw_buf_take(struct nw_buf *buf)
{
	char *text = NULL;

	if (!buf->failed)
		text = buf->data ? buf->data : calloc(1, 1);
	else
		free(buf->data);
	*buf = (struct nw_buf){0};
	return text;
}

int nw_buf_read(struct nw_buf *buf, int fd)
{
	return nw_buf_read_most(buf, fd, SIZE_MAX);
}

int nw_buf_read_most(struct nw_buf *buf, int fd, size_t most)
{
	size_t before = buf->len;

	for (;;) {
		if (buf->len - before > most)
			return -EFBIG;
		if (!make_room(buf, 4096))
			return -ENOMEM;
		ssize_t got = read(fd, buf->data + buf->len, buf->room - buf->len - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		buf->len += (size_t)got;
		buf->data[buf->len] = '\0';
		if (got == 0)
			return 0;
	}
}

int nw_buf_read_file(struct nw_buf *buf, int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	int ret = nw_buf_read(buf, fd);
	close(fd);
	return ret;
}

size_t nw_utf8_decode(const unsigned char *text, size_t len, uint32_t *out)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t need = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;

	if (text[0] < 0x80) {
		*out = text[0];
		return 1;
	}
	if (text[0] < 0xc2 || text[0] > 0xf4 || len < need)
		return 0;
	uint32_t code = text[0] & (0x7fu >> need);
	for (size_t i = 1; i < need; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[need] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*out = code;
	return need;
}

size_t nw_utf8_encode(uint32_t code, char out[4])
{
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	out[0] = (char)(lead[bytes] | code >> 6 * (bytes - 1));
	for (size_t i = 1; i < bytes; i++)
		out[i] = (char)(0x80 | (code >> 6 * (bytes - 1 - i) & 0x3f));
	return bytes;
}

bool nw_is_control(uint32_t code)
{
	/* Controls, line separators, and the invisible characters of Unicode's Default_Ignorable_Code_Point, without
	 * the variation selectors from U+FE00, which are a part of emoji. */
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0, 0x1f},	    {0x7f, 0x9f},	{0xad, 0xad},
		{0x34f, 0x34f},	    {0x61c, 0x61c},	{0x115f, 0x1160},
		{0x17b4, 0x17b5},   {0x180b, 0x180f},	{0x200b, 0x200f},
		{0x2028, 0x202e},   {0x2060, 0x206f},	{0x3164, 0x3164},
		{0xfeff, 0xfeff},   {0xffa0, 0xffa0},	{0xfff0, 0xfffb},
		{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < NW_COUNT(ranges) && code >= ranges[i].first; i++)
		if (code <= ranges[i].last)
			return true;
	return false;
}

/* Counts the bytes at the beginning that need no escape. */
static size_t plain_run(const unsigned char *text, size_t len)
{
	size_t i = 0;

	while (i < len && text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' &&
	       text[i] != '\\')
		i++;
	return i;
}

static void add_escaped_byte(struct nw_buf *buf, unsigned char c)
{
	static const char letter[256] = {
		['\n'] = 'n', ['\t'] = 't', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\'};

	if (letter[c])
		nw_buf_printf(buf, "\\%c", letter[c]);
	else if (c < 0x20 || c >= 0x7f)
		nw_buf_printf(buf, "\\x%02x", c);
	else
		nw_buf_addc(buf, (char)c);
}

void nw_buf_add_escaped(struct nw_buf *buf, const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;

	while (len) {
		size_t plain = plain_run(at, len);
		nw_buf_add(buf, at, plain);
		at += plain;
		len -= plain;
		if (!len)
			break;
		uint32_t code;
		size_t sequence = nw_utf8_decode(at, len, &code);
		if (sequence > 1 && !nw_is_control(code)) {
			nw_buf_add(buf, at, sequence);
		} else {
			add_escaped_byte(buf, *at);
			sequence = 1;
		}
		at += sequence;
		len -= sequence;
	}
}

void nw_buf_add_sentence(struct nw_buf *buf, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *from = text;
		while (text < end && *text != '"' && *text != '\\')
			text++;
		nw_buf_add_escaped(buf, from, (size_t)(text - from));
		if (text < end)
			nw_buf_addc(buf, *text++);
	}
}

void nw_buf_add_shell(struct nw_buf *buf, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t len = strlen(text);

	nw_buf_addc(buf, '\'');
	while (len) {
		uint32_t code;
		size_t sequence = nw_utf8_decode(at, len, &code);
		bool plain = sequence && (*at == '\n' || !nw_is_control(code));
		sequence = sequence ? sequence : 1;
		if (*at == '\'')
			nw_buf_adds(buf, "'\\''");
		else if (plain)
			nw_buf_add(buf, at, sequence);
		else
			nw_buf_adds(buf, "'\"$(printf '");
		for (size_t i = 0; !plain && i < sequence; i++)
			nw_buf_printf(buf, "\\%03o", at[i]);
		if (!plain)
			nw_buf_adds(buf, "')\"'");
		at += sequence;
		len -= sequence;
	}
	nw_buf_addc(buf, '\'');
}

char *nw_text(const char *fmt, ...)
{
	struct nw_buf buf = {0};
	va_list args;

	va_start(args, fmt);
	nw_buf_vprintf(&buf, fmt, args);
	va_end(args);
	return nw_buf_take(&buf);
}
