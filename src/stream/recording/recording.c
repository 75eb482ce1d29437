// SPDX-License-Identifier: MIT
/*
 * trace.dat, version 6.
 *
 *	17 08 44 "tracing" "6\0"  endian  sizeof(long)  u32 page size
 *	"header_page\0"  u64 size, text;  "header_event\0"  u64 size, text
 *	u32 ftrace formats (none);  u32 systems, each: name\0, u32 formats, each: u64 size, text
 *	u32 size, kallsyms;  u32 size, printk formats;  u64 size, "TID NAME\n"...
 *	u32 CPUs;  "options  \0", each u16 id, u32 size, data; u16 0
 *	"flyrecord\0", per CPU u64 offset, u64 size;  page-aligned data
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/load.h"
#include "stream/pages/page.h"
#include "stream/pages/stream.h"
#include "stream/recording/recording.h"

/* lib/trace-cmd: enum of TRACECMD_OPTION_* */
enum {
	OPTION_DONE = 0,
	OPTION_CLOCK = 4,
	OPTION_VERSION = 9
};

enum {
	MOST_FORMATS = 16384 /* kernels have about 2,000 events */
};

static const char magic[] = "\x17\x08\x44tracing6"; /* including its NUL */

void nw_recording_parts_free(struct nw_recording_parts *parts)
{
	nw_buf_free(&parts->header_page);
	nw_buf_free(&parts->header_event);
	nw_vec_each (&parts->formats, format)
		nw_buf_free(&format->text);
	nw_vec_free(&parts->formats);
	nw_buf_free(&parts->comms);
	nw_buf_free(&parts->clock);
	nw_buf_free(&parts->table);
}

/* ---- writing ------------------------------------------------------------------------ */

static void put(struct nw_buf *out, uint64_t value, size_t size)
{
	uint32_t word = (uint32_t)value;
	uint16_t half = (uint16_t)value;

	nw_buf_add(out,
		   size == 8   ? (void *)&value
		   : size == 4 ? (void *)&word
			       : (void *)&half,
		   size);
}

static void put_sized(struct nw_buf *out, const struct nw_buf *text, size_t size)
{
	put(out, text->len, size);
	nw_buf_add(out, nw_buf_str(text), text->len);
}

static void put_formats(struct nw_buf *out, const struct nw_recording_parts *parts)
{
	uint32_t systems = 0;

	for (size_t i = 0; i < parts->formats.count; i++)
		systems += i == 0 || strcmp(parts->formats.item[i].system,
					    parts->formats.item[i - 1].system) != 0;
	put(out, systems, 4);
	for (size_t i = 0; i < parts->formats.count;) {
		const char *system = parts->formats.item[i].system;
		size_t end = i;
		while (end < parts->formats.count &&
		       strcmp(parts->formats.item[end].system, system) == 0)
			end++;
		nw_buf_add(out, system, strlen(system) + 1);
		put(out, end - i, 4);
		for (; i < end; i++)
			put_sized(out, &parts->formats.item[i].text, 8);
	}
}

static void put_option(struct nw_buf *out, unsigned int id, const char *text,
		       size_t text_len, const struct nw_buf *more)
{
	put(out, id, 2);
	put(out, text_len + (more ? more->len : 0), 4);
	nw_buf_add(out, text, text_len);
	if (more)
		nw_buf_add(out, nw_buf_str(more), more->len);
}

static int copy_pages(struct nw_writer *to, int from, uint64_t at, uint64_t size)
{
	char chunk[65536];

	for (uint64_t end = at + size; at < end;) {
		size_t want = end - at < sizeof(chunk) ? end - at : sizeof(chunk);
		ssize_t got = pread(from, chunk, want, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		int ret = nw_writer_put(to, chunk, (size_t)got);
		if (ret < 0)
			return ret;
		at += (uint64_t)got;
	}
	return 0;
}

/* The pages of a CPU as they are written: the first page is cut where the recording begins, all others are copied. */
struct written {
	unsigned char *page; /* NULL: no page is cut */
	struct nw_recorded_cpu rest;
};

static int cut_first(struct written *w, const struct nw_page_layout *layout)
{
	struct nw_recorded_cpu *rest = &w->rest;

	if (!rest->since || rest->size < layout->size)
		return 0;
	w->page = calloc(1, layout->size);
	if (!w->page)
		return -ENOMEM;
	nw_cleanup(nw_free_ptr) char *first = malloc(layout->size);
	if (!first)
		return -ENOMEM;
	ssize_t got = pread(rest->fd, first, layout->size, (off_t)rest->from);
	if (got != (ssize_t)layout->size)
		return got < 0 ? -errno : -EIO;
	if (!nw_page_cut(layout, (unsigned char *)first, layout->size, rest->since,
			 w->page)) {
		free(w->page);
		w->page = NULL;
	}
	rest->from += layout->size;
	rest->size -= layout->size;
	return 0;
}

/* Writes everything in front of the pages. */
static void put_head(struct nw_buf *out, const struct nw_recording_parts *parts,
		     size_t page_size, const struct written *cpus, uint32_t count)
{
	static const char version[] = "nopwatch";

	nw_buf_add(out, magic, sizeof(magic));
	nw_buf_addc(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	nw_buf_addc(out, sizeof(long));
	put(out, page_size, 4);
	nw_buf_add(out, "header_page", 12);
	put_sized(out, &parts->header_page, 8);
	nw_buf_add(out, "header_event", 13);
	put_sized(out, &parts->header_event, 8);
	put(out, 0, 4);
	put_formats(out, parts);
	put(out, 0, 4); /* kallsyms */
	put(out, 0, 4); /* printk formats */
	put_sized(out, &parts->comms, 8);
	put(out, count, 4);
	nw_buf_add(out, "options  ", 10);
	put_option(out, OPTION_CLOCK, nw_buf_str(&parts->clock), parts->clock.len + 1,
		   NULL);
	put_option(out, OPTION_VERSION, version, sizeof(version), &parts->table);
	put(out, OPTION_DONE, 2);
	nw_buf_add(out, "flyrecord", 10);
	/* The pages of each CPU follow this table, aligned to a page of the file. */
	uint64_t at = out->len + (uint64_t)count * 16;
	at = (at + page_size - 1) / page_size * page_size;
	const uint64_t data = at;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t size = cpus[i].rest.size + (cpus[i].page ? page_size : 0);
		put(out, at, 8);
		put(out, size, 8);
		at += size;
	}
	while (out->len < data && !out->failed)
		nw_buf_addc(out, '\0');
}

int nw_recording_write(struct nw_writer *to, const struct nw_recording_parts *parts,
		       size_t page_size, const struct nw_recorded_cpu *cpus, uint32_t count,
		       struct nw_error *err)
{
	struct written *written = calloc(count + 1, sizeof(*written));
	struct nw_page_layout layout = {0};
	struct nw_buf head = {0};
	int ret = written ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && ret == 0; i++) {
		written[i].rest = cpus[i];
		if (cpus[i].since && !layout.size)
			ret = nw_page_layout_parse(nw_buf_str(&parts->header_page),
						   parts->header_page.len, &layout, err);
		if (ret == 0)
			ret = cut_first(&written[i], &layout);
	}
	if (ret == 0) {
		put_head(&head, parts, page_size, written, count);
		ret = head.failed ? -ENOMEM : nw_writer_put(to, head.data, head.len);
	}
	nw_buf_free(&head);
	for (uint32_t i = 0; i < count && ret == 0; i++) {
		const struct nw_recorded_cpu *rest = &written[i].rest;
		if (written[i].page)
			ret = nw_writer_put(to, written[i].page, page_size);
		if (ret == 0)
			ret = copy_pages(to, rest->fd, rest->from, rest->size);
	}
	for (uint32_t i = 0; written && i < count; i++)
		free(written[i].page);
	free(written);
	return ret < 0 ? nw_fail(err, -ret, "cannot write the recording: %s",
				 nw_strerror(-ret))
		       : 0;
}

/* ---- reading ------------------------------------------------------------------------ */

struct reader {
	const char *start, *at, *end;
	bool bad;
	bool failed; /* `bad`, because memory ran out */
};

/* Returns the next len bytes; NULL (and sets `bad`) if there are fewer. */
static const char *take(struct reader *r, uint64_t len)
{
	const char *at = r->at;

	if (r->bad || len > (uint64_t)(r->end - r->at)) {
		r->bad = true;
		return NULL;
	}
	r->at += len;
	return at;
}

static uint64_t take_number(struct reader *r, size_t size)
{
	const char *at = take(r, size);

	return at ? nw_load((const unsigned char *)at, size) : 0;
}

static const char *take_sized(struct reader *r, size_t size, size_t *len)
{
	uint64_t length = take_number(r, size);
	const char *text = take(r, length);

	*len = text ? length : 0;
	return text;
}

static void take_word(struct reader *r, const char *word, size_t len)
{
	const char *at = take(r, len);

	r->bad |= !at || memcmp(at, word, len) != 0;
}

static void take_formats(struct reader *r, struct nw_recording *out)
{
	for (uint64_t systems = take_number(r, 4); systems && !r->bad; systems--) {
		const char *nul = r->bad ? NULL
					 : memchr(r->at, '\0', (size_t)(r->end - r->at));
		const char *system = nul ? take(r, (uint64_t)(nul - r->at) + 1)
					 : take(r, UINT64_MAX);
		for (uint64_t count = take_number(r, 4); count && !r->bad; count--) {
			/* Limited, because all formats are searched for each event of the plan. */
			r->bad |= out->formats.count >= MOST_FORMATS;
			struct nw_format_text *format = r->bad ? NULL
							       : nw_vec_add(&out->formats);
			if (!format) {
				r->failed |= !r->bad;
				r->bad = true;
				return;
			}
			format->system = system;
			format->text = take_sized(r, 8, &format->len);
		}
	}
}

static void take_options(struct reader *r, struct nw_recording *out)
{
	size_t len;

	while (!r->bad) {
		uint64_t id = take_number(r, 2);
		if (id == OPTION_DONE)
			return;
		const char *data = take_sized(r, 4, &len);
		const char *nul = data ? memchr(data, '\0', len) : NULL;
		if (id != OPTION_VERSION || !nul || strcmp(data, "nopwatch") != 0)
			continue;
		out->table = nul + 1;
		out->table_len = len - (size_t)(nul + 1 - data);
	}
}

/* Takes the places of the pages. The pages of CPUs do not overlap, so together they are not larger than the file. */
static void take_runs(struct reader *r, uint64_t cpus, struct nw_recording *out)
{
	uint64_t left = (uint64_t)(r->end - r->start);

	for (uint32_t cpu = 0; cpu < cpus && !r->bad; cpu++) {
		uint64_t offset = take_number(r, 8), size = take_number(r, 8);
		uint64_t whole = (uint64_t)(r->end - r->start);
		if (r->bad || offset > whole || size > whole - offset || size > left) {
			r->bad = true;
			return;
		}
		left -= size;
		if (!size)
			continue;
		struct nw_page_run *run = nw_vec_add(&out->runs);
		if (!run) {
			r->bad = r->failed = true;
			return;
		}
		run->cpu = cpu;
		run->pages = (const unsigned char *)r->start + offset;
		run->size = size;
	}
}

/* Takes everything up to the options. Returns false if the byte order is not that of this machine. */
static bool take_head(struct reader *r, struct nw_recording *out)
{
	size_t len;

	take_word(r, magic, sizeof(magic));
	const char *endian = take(r, 1), *word = take(r, 1);
	if (endian && word && ((*endian != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)))
		return false;
	take_number(r, 4);
	take_word(r, "header_page", 12);
	out->header_page = take_sized(r, 8, &out->header_page_len);
	take_word(r, "header_event", 13);
	take_sized(r, 8, &len);
	for (uint64_t count = take_number(r, 4); count && !r->bad; count--)
		take_sized(r, 8, &len);
	take_formats(r, out);
	take_sized(r, 4, &len);
	take_sized(r, 4, &len);
	take_sized(r, 8, &len);
	return true;
}

bool nw_recording_is_one(const void *bytes, size_t len)
{
	return len >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic) - 2) == 0;
}

int nw_recording_parse(const void *bytes, size_t len, struct nw_recording *out,
		       struct nw_error *err)
{
	struct reader r = {.start = bytes, .at = bytes, .end = (const char *)bytes + len};
	struct nw_recording recording = {0};

	if (nw_recording_is_one(bytes, len) && memcmp(bytes, magic, sizeof(magic)) != 0) {
		nw_fail(err, ENOTSUP,
			"the recording was made by another tool: it is not of version 6");
		nw_error_hint(err, "`trace-cmd report` can print it");
		return -ENOTSUP;
	}
	bool ours = take_head(&r, &recording);

	uint64_t cpus = take_number(&r, 4);
	take_word(&r, "options  ", 10);
	take_options(&r, &recording);
	take_word(&r, "flyrecord", 10);
	take_runs(&r, cpus, &recording);
	if (ours && !r.bad && recording.table) {
		*out = recording;
		return 0;
	}
	nw_recording_free(&recording);
	if (r.failed)
		return nw_no_memory(err);
	if (!ours)
		return nw_fail(err, ENOTSUP,
			       "the recording is from a machine of the other byte order");
	if (r.bad)
		return nw_fail(err, EBADMSG, "the recording is damaged or cut off");
	nw_fail(err, ENOTSUP,
		"the recording was made by another tool: it has no table of probes");
	nw_error_hint(err, "`trace-cmd report` can print it");
	return -ENOTSUP;
}

void nw_recording_free(struct nw_recording *recording)
{
	nw_vec_free(&recording->formats);
	nw_vec_free(&recording->runs);
}

int nw_recording_format(void *arg, const char *system, const char *name, struct nw_buf *out)
{
	const struct nw_recording *recording = arg;
	size_t len = strlen(name);

	nw_vec_each (&recording->formats, format) {
		const char *text = format->text; /* its first line is "name: NAME\n" */
		if (strcmp(format->system, system) != 0 || format->len <= len + 7 ||
		    memcmp(text, "name: ", 6) != 0 || memcmp(text + 6, name, len) != 0 ||
		    text[6 + len] != '\n')
			continue;
		nw_buf_add(out, format->text, format->len);
		return out->failed ? -ENOMEM : 0;
	}
	return -ENOENT;
}
