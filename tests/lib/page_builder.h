/* SPDX-License-Identifier: MIT */
/*
 * What a kernel would hand us, made by hand: pages of the ring buffer, event formats as
 * tracefs prints them, and the plan they belong to.
 *
 *	page_*	one page, event by event, exactly as told
 *	cpu_*	the pages of a CPU from events with times: deltas and page breaks by itself
 *	fake_*	a plan from its text, with the formats of its events
 */
#ifndef NOPWATCH_TESTS_PAGE_BUILDER_H
#define NOPWATCH_TESTS_PAGE_BUILDER_H

#include <endian.h>
#include <inttypes.h>

#include "stream/pages/stream.h"
#include "unit.h"

/* kernel/trace/ring_buffer.c: flags of the commit word */
#define PAGE_MISSED 0x80000000u /* RB_MISSED_EVENTS */
#define PAGE_STORED 0x40000000u /* RB_MISSED_STORED */

/* include/linux/ring_buffer.h: enum ring_buffer_type */
enum {
	PAGE_TYPE_LONG = 0, /* up to 28: a short event of so many words */
	PAGE_TYPE_PADDING = 29,
	PAGE_TYPE_EXTEND = 30,
	PAGE_TYPE_STAMP = 31
};

/* ---- one page ----------------------------------------------------------------------- */

struct page {
	struct nw_page_layout layout;
	unsigned char *bytes; /* layout.size, from malloc: what lies beyond is not ours */
	size_t used;	      /* of the data */
};

static inline struct nw_page_layout page_layout(size_t size, size_t commit_size)
{
	return (struct nw_page_layout){.size = size,
				       .commit = 8,
				       .commit_size = commit_size,
				       .data = 8 + commit_size};
}

/* events/header_page of a kernel with such pages */
static inline void page_header_text(const struct nw_page_layout *layout, struct nw_buf *out)
{
	nw_buf_printf(out,
		      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		      "\tfield: local_t commit;\toffset:8;\tsize:%zu;\tsigned:1;\n"
		      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		      "\tfield: char data;\toffset:%zu;\tsize:%zu;\tsigned:0;\n",
		      layout->commit_size, layout->data, layout->size - layout->data);
}

static inline uint32_t page_header(unsigned int type, uint32_t delta)
{
	return __BYTE_ORDER == __LITTLE_ENDIAN ? delta << 5 | type : type << 27 | delta;
}

static inline void page_put(struct page *page, const void *data, size_t len)
{
	ck_assert_uint_le(page->layout.data + page->used + len, page->layout.size);
	memcpy(page->bytes + page->layout.data + page->used, data, len);
	page->used += len;
}

static inline void page_put32(struct page *page, uint32_t word)
{
	page_put(page, &word, sizeof(word));
}

static inline struct page page_begin(struct nw_page_layout layout, uint64_t stamp)
{
	struct page page = {.layout = layout, .bytes = malloc(layout.size)};

	ck_assert_ptr_nonnull(page.bytes);
	memset(page.bytes, 0, layout.size);
	memcpy(page.bytes, &stamp, sizeof(stamp));
	return page;
}

/* An event of 4 to 112 bytes, a multiple of 4. */
static inline void page_event(struct page *page, uint32_t delta, const void *data,
			      size_t len)
{
	page_put32(page, page_header((unsigned int)len / 4, delta));
	page_put(page, data, len);
}

/* An event whose length stands in a word of its own. */
static inline void page_long_event(struct page *page, uint32_t delta, const void *data,
				   size_t len)
{
	page_put32(page, page_header(PAGE_TYPE_LONG, delta));
	page_put32(page, (uint32_t)len + 4);
	page_put(page, data, len);
	while (page->used % 4)
		page_put(page, "", 1);
}

static inline void page_extend(struct page *page, uint64_t delta)
{
	page_put32(page, page_header(PAGE_TYPE_EXTEND, delta & 0x7ffffff));
	page_put32(page, (uint32_t)(delta >> 27));
}

/* The low 59 bits of a time, as an absolute time stamp has them. */
static inline void page_stamp(struct page *page, uint64_t time)
{
	page_put32(page, page_header(PAGE_TYPE_STAMP, time & 0x7ffffff));
	page_put32(page, (uint32_t)(time >> 27));
}

static inline void page_padding(struct page *page)
{
	page_put32(page, page_header(PAGE_TYPE_PADDING, 0));
}

/* A discarded event: its header says padding, its length follows. */
static inline void page_discarded(struct page *page, uint32_t delta, size_t len)
{
	page_put32(page, page_header(PAGE_TYPE_PADDING, delta));
	page_put32(page, (uint32_t)len);
	for (size_t i = 4; i < len; i++)
		page_put(page, "\xdd", 1);
}

/* Write the commit word, and the count of lost events behind the data. */
static inline void page_commit(struct page *page, uint32_t flags, uint64_t lost)
{
	unsigned char *at = page->bytes + page->layout.commit;
	unsigned char *end = page->bytes + page->layout.data + page->used;
	uint64_t wide = page->used | flags;
	uint32_t narrow = (uint32_t)wide, narrow_lost = (uint32_t)lost;
	bool is_wide = page->layout.commit_size == 8;

	memcpy(at, is_wide ? (void *)&wide : &narrow, page->layout.commit_size);
	if (!(flags & PAGE_STORED))
		return;
	ck_assert_uint_le(page->layout.data + page->used + page->layout.commit_size,
			  page->layout.size);
	memcpy(end, is_wide ? (void *)&lost : &narrow_lost, page->layout.commit_size);
}

/* ---- the pages of a CPU ------------------------------------------------------------- */

struct cpu {
	struct nw_page_layout layout;
	struct nw_buf pages; /* whole ones */
	struct page page;    /* being filled, if it has bytes */
	uint64_t time;	     /* of the last event on it */
	uint32_t flags;	     /* of the page */
	uint64_t lost;
};

/* End the current page, as a reader does who takes it half full. */
static inline void cpu_flush(struct cpu *cpu)
{
	if (!cpu->page.bytes)
		return;
	page_commit(&cpu->page, cpu->flags, cpu->lost);
	nw_buf_add(&cpu->pages, cpu->page.bytes, cpu->layout.size);
	free(cpu->page.bytes);
	cpu->page = (struct page){0};
	cpu->flags = 0;
	cpu->lost = 0;
}

/* Events are lost here; lost 0: the kernel does not say how many. */
static inline void cpu_lose(struct cpu *cpu, uint64_t lost)
{
	cpu_flush(cpu);
	cpu->flags = PAGE_MISSED | (lost ? PAGE_STORED : 0);
	cpu->lost = lost;
}

static inline void cpu_event(struct cpu *cpu, uint64_t time, const void *data, size_t len)
{
	size_t room = cpu->layout.size - cpu->layout.data - cpu->layout.commit_size;

	if (cpu->page.bytes && cpu->page.used + len + 16 > room)
		cpu_flush(cpu);
	if (!cpu->page.bytes) {
		cpu->page = page_begin(cpu->layout, time);
		cpu->time = time;
	}
	uint64_t delta = time - cpu->time;
	cpu->time = time;
	if (delta >> 27) {
		page_extend(&cpu->page, delta);
		delta = 0;
	}
	if (len > 112 || len % 4)
		page_long_event(&cpu->page, (uint32_t)delta, data, len);
	else
		page_event(&cpu->page, (uint32_t)delta, data, len);
}

static inline void cpu_free(struct cpu *cpu)
{
	free(cpu->page.bytes);
	nw_buf_free(&cpu->pages);
}

/* ---- a plan with its formats -------------------------------------------------------- */

struct fake_format {
	const char *name;
	uint32_t id;
	const char *fields; /* of a uprobe event, "a0:s32 a1:string a2:u8[4]" */
};

struct fake {
	struct nw_selection selection;
	struct nw_plan plan;
	struct nw_armed armed;
	struct nw_formats formats;
	const struct fake_format *format;
	size_t format_count;
};

#define FAKE_COMMON                                                                    \
	"format:\n"                                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* One field as trace_probe_print_args() and its format file have it: packed, in order. */
static inline size_t fake_field(const char *word, size_t len, size_t offset,
				struct nw_buf *out)
{
	const char *colon = memchr(word, ':', len);
	struct nw_type type;
	char text[16];

	ck_assert_ptr_nonnull(colon);
	size_t name = (size_t)(colon - word);
	ck_assert_int_eq(nw_type_parse(colon + 1, len - name - 1, &type), 0);
	if (type.base == NW_TYPE_STRING) {
		nw_buf_printf(out,
			      "\tfield:__data_loc char[] %.*s;\toffset:%zu;\tsize:4;"
			      "\tsigned:1;\n",
			      (int)name, word, offset);
		return 4;
	}
	unsigned int array = type.array;
	size_t size = (size_t)type.bits / 8 * (array ? array : 1);
	type.array = 0;
	nw_type_text(&type, text);
	nw_buf_printf(out, "\tfield:%s %.*s", text, (int)name, word);
	if (array)
		nw_buf_printf(out, "[%u]", array);
	nw_buf_printf(out, ";\toffset:%zu;\tsize:%zu;\tsigned:%d;\n", offset, size,
		      type.base == NW_TYPE_SIGNED);
	return size;
}

/* The format file of a uprobe event. */
static inline void fake_format_text(const struct fake_format *format, struct nw_buf *out)
{
	const char *at = format->fields;
	size_t offset = 16;

	nw_buf_printf(out,
		      "name: %s\nID: %" PRIu32 "\n" FAKE_COMMON
		      "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n",
		      format->name, format->id);
	while (*at) {
		size_t len = strcspn(at, " ");
		offset += fake_field(at, len, offset, out);
		at += len + (at[len] == ' ');
	}
	nw_buf_adds(out, "\nprint fmt: \"(%lx)\", REC->__probe_ip\n");
}

/* An nw_format_reader; task events are not there unless a test brings its own reader. */
static inline int fake_read_format(void *arg, const char *system, const char *name,
				   struct nw_buf *out)
{
	const struct fake *fake = arg;

	for (size_t i = 0; i < fake->format_count; i++) {
		if (strcmp(system, fake->plan.group) != 0 ||
		    strcmp(name, fake->format[i].name) != 0)
			continue;
		fake_format_text(&fake->format[i], out);
		return 0;
	}
	return -2; /* ENOENT */
}

/* A plan and formats for pages of that layout. The plan must stay where it is. */
static inline void fake_open(struct fake *fake, const char *plan,
			     const struct fake_format *format, size_t count,
			     struct nw_page_layout layout)
{
	struct nw_error err = {0};
	struct nw_buf header = {0};

	*fake = (struct fake){.format = format, .format_count = count};
	ck_assert_msg(nw_plan_load(plan, strlen(plan), &fake->selection, &fake->plan,
				   &fake->armed, NULL, NULL, &err) == 0,
		      "%s", err.what);
	page_header_text(&layout, &header);
	ck_assert_msg(nw_formats_load(&fake->armed, false, nw_buf_str(&header), header.len,
				      fake_read_format, fake, &fake->formats, &err) == 0,
		      "%s", err.what);
	nw_buf_free(&header);
}

static inline void fake_close(struct fake *fake)
{
	nw_formats_free(&fake->formats);
	nw_armed_free(&fake->armed);
	nw_plan_free(&fake->plan);
	nw_selection_free(&fake->selection);
}

/* Two probes whose sites share the event "e", and a number in every hit. */
#define FAKE_SOURCE "source 0 0 -1 u64 u64 0 - 0 -\n"
static const char fake_two_probes[] =
	"nopwatch-plan 1\ngroup nopwatch_t\nimage /bin/app\n"
	"probe 0 0 app one app:one 1\narg n u64\npoint 4112 4112 0\n"
	"probe 0 0 app two app:two 1\narg n u64\npoint 8224 8224 0\n"
	"planned 0 0 1 0\n" FAKE_SOURCE "planned 1 0 1 0\n" FAKE_SOURCE
	"event e 0\nfield a0\nplace 0 0\nplace 1 0\n";
static const struct fake_format fake_two_formats[] = {{"e", 1500, "a0:u64"}};
#define FAKE_ONE 0x555555555010u /* 4112 = 0x1010 */
#define FAKE_TWO 0x7ffff7ff2020u

static inline void fake_open_two(struct fake *fake, size_t page_size)
{
	fake_open(fake, fake_two_probes, fake_two_formats, 1, page_layout(page_size, 8));
}

/* The bytes of a hit: common fields, the address, then the event's own. */
static inline size_t fake_hit(unsigned char *out, uint32_t id, int32_t tid,
			      uint64_t address, const void *fields, size_t len)
{
	uint16_t type = (uint16_t)id;

	memset(out, 0, 16);
	memcpy(out, &type, 2);
	memcpy(out + 4, &tid, 4);
	memcpy(out + 8, &address, 8);
	if (len)
		memcpy(out + 16, fields, len);
	return 16 + len;
}

/* A hit of one of the two probes. */
static inline void cpu_hit(struct cpu *cpu, uint64_t time, int32_t tid, uint64_t address,
			   uint64_t number)
{
	unsigned char bytes[24];

	cpu_event(cpu, time, bytes, fake_hit(bytes, 1500, tid, address, &number, 8));
}

static inline uint64_t fake_number(const struct nw_record *record)
{
	uint64_t number;

	ck_assert_int_eq(record->kind, NW_RECORD_HIT);
	memcpy(&number, record->data + 16, sizeof(number));
	return number;
}

/* The stream's next record is this hit. */
static inline void expect_hit(struct nw_stream *stream, uint64_t time, uint64_t number)
{
	struct nw_record record;

	ck_assert_int_eq(nw_stream_next(stream, &record), 1);
	ck_assert_uint_eq(fake_number(&record), number);
	ck_assert_uint_eq(record.time, time);
}

static inline void expect_loss(struct nw_stream *stream, uint32_t cpu, uint64_t from,
			       uint64_t until, uint64_t lost)
{
	struct nw_record record;

	ck_assert_int_eq(nw_stream_next(stream, &record), 1);
	ck_assert(record.kind == NW_RECORD_LOSS && record.cpu == cpu);
	ck_assert_uint_eq(record.time, from);
	ck_assert_uint_eq(record.until, until);
	ck_assert_uint_eq(record.lost, lost);
}

static inline void expect_nothing(struct nw_stream *stream)
{
	struct nw_record record;

	ck_assert_int_eq(nw_stream_next(stream, &record), 0);
}

#endif
