// SPDX-License-Identifier: MIT
/* stream: the layout of a page, and the walk over its events. */
#include <errno.h>

#include "page_builder.h"

/* ---- layout ------------------------------------------------------------------------- */

/* x86-64, 6.18 */
static const char header_64[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
/* a kernel of 32 bits, 3.x: without the overwrite line */
static const char header_32[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				"\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
				"\tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n";

START_TEST(layout_is_what_the_kernel_says)
{
	struct nw_page_layout layout;

	ck_assert_int_eq(nw_page_layout_parse(header_64, strlen(header_64), &layout, NULL),
			 0);
	ck_assert_uint_eq(layout.size, 4096);
	ck_assert_uint_eq(layout.commit, 8);
	ck_assert_uint_eq(layout.commit_size, 8);
	ck_assert_uint_eq(layout.data, 16);
	ck_assert_int_eq(nw_page_layout_parse(header_32, strlen(header_32), &layout, NULL),
			 0);
	ck_assert_uint_eq(layout.size, 4096);
	ck_assert_uint_eq(layout.commit_size, 4);
	ck_assert_uint_eq(layout.data, 12);
}
END_TEST

#define LINE(what, offset, size) \
	"\tfield: " what ";\toffset:" offset ";\tsize:" size ";\tsigned:0;\n"
#define TIME   LINE("u64 timestamp", "0", "8")
#define COMMIT LINE("local_t commit", "8", "8")
#define DATA   LINE("char data", "16", "4080")

START_TEST(damaged_layouts_are_refused)
{
	static const char *const bad[] = {
		"",
		TIME,
		TIME COMMIT,
		TIME DATA,
		COMMIT DATA,
		"timestamp commit data",
		TIME LINE("local_t commit", "8", "2") DATA,
		TIME LINE("local_t commit", "4", "8") DATA,
		TIME LINE("local_t commit", "8", "4") DATA,
		TIME LINE("local_t commit", "x", "8") DATA,
		TIME COMMIT LINE("char data", "8", "4080"),
		TIME COMMIT LINE("char data", "16", "0"),
		TIME COMMIT LINE("char data", "16", "40"),
		TIME COMMIT LINE("char data", "16", "-12"),
		TIME COMMIT LINE("char data", "16", "1073741824"),
		TIME COMMIT LINE("char data", "16",
				 "18446744073709555696"), /* wraps to 4096 */
		TIME COMMIT "\tfield: char data;\toffset:16;",
	};

	for (size_t i = 0; i < NW_COUNT(bad); i++) {
		struct nw_page_layout layout = {.size = 7};
		struct nw_error err = {0};
		ck_assert_msg(nw_page_layout_parse(bad[i], strlen(bad[i]), &layout, &err) ==
				      -EBADMSG,
			      "%s", bad[i]);
		ck_assert_str_eq(err.what, "events/header_page is not as expected");
		ck_assert_uint_eq(layout.size, 7); /* untouched */
	}
}
END_TEST

START_TEST(layout_text_need_not_end_in_a_nul)
{
	/* up to the second digit of the last size it cannot be a page */
	const size_t least = strlen(header_64) - strlen("80;\tsigned:0;\n");
	struct nw_page_layout layout;

	for (size_t len = 0; len <= least; len++) {
		char *exact = malloc(len ? len : 1); /* nothing behind it */
		memcpy(exact, header_64, len);
		ck_assert_int_eq(nw_page_layout_parse(exact, len, &layout, NULL), -EBADMSG);
		free(exact);
	}
}
END_TEST

/* ---- events ------------------------------------------------------------------------- */

/* The next event is that many bytes of that letter at that time. */
static void expect(struct nw_page *page, uint64_t time, char letter, size_t len)
{
	const unsigned char *data;
	uint32_t size;

	ck_assert_int_eq(nw_page_next(page, &data, &size), 1);
	ck_assert_uint_eq(page->time, time);
	ck_assert_uint_eq(size, len);
	for (size_t i = 0; i < len; i++)
		ck_assert_int_eq(data[i], letter);
}

static void expect_end(struct nw_page *page, int end)
{
	const unsigned char *data;
	uint32_t size;

	ck_assert_int_eq(nw_page_next(page, &data, &size), end);
	ck_assert_int_eq(nw_page_next(page, &data, &size), end); /* and it stays so */
}

static char letters[256][200]; /* a run of each */

static const char *run_of(char letter)
{
	memset(letters[(unsigned char)letter], letter, sizeof(letters[0]));
	return letters[(unsigned char)letter];
}

/* The walk over a finished page. Frees nothing. */
static struct nw_page opened(struct page *page, uint32_t flags, uint64_t lost)
{
	struct nw_page walk;

	page_commit(page, flags, lost);
	ck_assert_int_eq(nw_page_open(&walk, &page->layout, page->bytes, page->layout.size),
			 0);
	return walk;
}

START_TEST(events_of_every_length_come_with_their_times)
{
	struct page page = page_begin(page_layout(4096, 8), 1000);
	uint64_t time = 1000;

	for (size_t words = 1; words <= 28; words++)
		page_event(&page, (uint32_t)words, run_of('a'), words * 4);
	for (size_t len = 1; len <= 9; len++) /* lengths that are no multiple of 4, too */
		page_long_event(&page, 7, run_of('b'), len);
	page_long_event(&page, 0, run_of('c'), 200);
	struct nw_page walk = opened(&page, 0, 0);
	for (size_t words = 1; words <= 28; words++)
		expect(&walk, time += words, 'a', words * 4);
	for (size_t len = 1; len <= 9; len++)
		expect(&walk, time += 7, 'b', len);
	expect(&walk, time, 'c', 200);
	expect_end(&walk, 0);
	free(page.bytes);
}
END_TEST

START_TEST(times_add_up_over_extends_and_discarded_events)
{
	struct page page = page_begin(page_layout(4096, 8), 5);

	page_event(&page, 0, run_of('a'), 8);
	page_extend(&page, (uint64_t)3 << 27 | 11);
	page_event(&page, 2, run_of('b'), 4);
	page_discarded(&page, 100, 4);
	page_discarded(&page, 1000, 48);
	page_event(&page, 1, run_of('c'), 4);
	page_extend(&page, (uint64_t)UINT32_MAX << 27);
	page_event(&page, 0x7ffffff, run_of('d'), 4);
	struct nw_page walk = opened(&page, 0, 0);
	expect(&walk, 5, 'a', 8);
	uint64_t time = 5 + ((uint64_t)3 << 27) + 11 + 2;
	expect(&walk, time, 'b', 4);
	expect(&walk, time += 1101, 'c', 4);
	expect(&walk, time + ((uint64_t)UINT32_MAX << 27) + 0x7ffffff, 'd', 4);
	expect_end(&walk, 0);
	free(page.bytes);
}
END_TEST

START_TEST(absolute_stamps_take_the_top_bits_from_the_time_before)
{
	const uint64_t top = (uint64_t)1 << 59;
	const struct {
		uint64_t page, stamp, time;
	} cases[] = {
		{100, 5000, 5000},
		{100, top - 1, top - 1},
		{5000, 100, 100}, /* below the first wrap, stamps mean what they say */
		{3 * top + 5, 3 * top + 77, 3 * top + 77},
		{3 * top + 77, 4 * top + 3, 4 * top + 3}, /* the 59 bits wrapped */
		{top + top - 1, top + top, top + top},
		{31 * top + 1, 31 * top + 1, 31 * top + 1},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct page page = page_begin(page_layout(256, 8), cases[i].page);
		page_stamp(&page, cases[i].stamp & (top - 1));
		page_event(&page, 9, run_of('s'), 4);
		struct nw_page walk = opened(&page, 0, 0);
		expect(&walk, cases[i].time + 9, 's', 4);
		expect_end(&walk, 0);
		free(page.bytes);
	}
}
END_TEST

START_TEST(padding_ends_the_page)
{
	struct page page = page_begin(page_layout(256, 4), 1);

	page_event(&page, 0, run_of('a'), 4);
	page_padding(&page);
	page_event(&page, 0, run_of('x'), 4); /* left over from an earlier round */
	struct nw_page walk = opened(&page, 0, 0);
	expect(&walk, 1, 'a', 4);
	expect_end(&walk, 0);
	free(page.bytes);
}
END_TEST

START_TEST(an_empty_page_has_no_events)
{
	struct page page = page_begin(page_layout(256, 8), 1);
	struct nw_page walk = opened(&page, 0, 0);

	expect_end(&walk, 0);
	free(page.bytes);
}
END_TEST

START_TEST(lost_events_are_told_with_and_without_a_count)
{
	const struct {
		size_t commit_size;
		uint32_t flags;
		uint64_t count;
		bool missed;
		uint64_t lost;
	} cases[] = {
		{8, 0, 0, false, 0},
		{4, 0, 0, false, 0},
		{8, PAGE_MISSED, 0, true, 0},
		{4, PAGE_MISSED, 0, true, 0},
		{8, PAGE_MISSED | PAGE_STORED, 12345678901, true, 12345678901},
		{4, PAGE_MISSED | PAGE_STORED, 0xfffffffe, true, 0xfffffffe},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct page page = page_begin(page_layout(256, cases[i].commit_size), 1);
		page_event(&page, 0, run_of('a'), 4);
		struct nw_page walk = opened(&page, cases[i].flags, cases[i].count);
		ck_assert(walk.missed == cases[i].missed);
		ck_assert_uint_eq(walk.lost, cases[i].lost);
		expect(&walk, 1, 'a', 4);
		expect_end(&walk, 0); /* the count is no event */
		free(page.bytes);
	}
}
END_TEST

START_TEST(a_count_without_room_is_not_read)
{
	struct page page = page_begin(page_layout(64, 8), 1);
	const uint64_t word = (64 - 16 - 4) | PAGE_MISSED | PAGE_STORED;
	struct nw_page walk;

	memcpy(page.bytes + 8, &word, 8);
	memset(page.bytes + 16, 0xff, 48);
	ck_assert_int_eq(nw_page_open(&walk, &page.layout, page.bytes, 64), 0);
	ck_assert(walk.missed);
	ck_assert_uint_eq(walk.lost, 0);
	free(page.bytes);
}
END_TEST

/* ---- damage ------------------------------------------------------------------------- */

START_TEST(impossible_events_are_damage)
{
	const struct {
		const char *what;
		uint32_t word[3];
		size_t words;
	} cases[] = {
		{"longer than the page", {page_header(5, 0)}, 1},
		{"a length cut off", {page_header(PAGE_TYPE_LONG, 0)}, 1},
		{"a length of 0", {page_header(PAGE_TYPE_LONG, 0), 0}, 2},
		{"a length of 3", {page_header(PAGE_TYPE_LONG, 0), 3, 0}, 3},
		{"a length beyond the end", {page_header(PAGE_TYPE_LONG, 0), 12, 0}, 3},
		{"the largest length", {page_header(PAGE_TYPE_LONG, 0), UINT32_MAX, 0}, 3},
		{"an extend cut off", {page_header(PAGE_TYPE_EXTEND, 1)}, 1},
		{"a stamp cut off", {page_header(PAGE_TYPE_STAMP, 1)}, 1},
		{"a discarded event cut off", {page_header(PAGE_TYPE_PADDING, 1)}, 1},
		{"a discarded event of 0", {page_header(PAGE_TYPE_PADDING, 1), 0}, 2},
		{"a discarded event too long",
		 {page_header(PAGE_TYPE_PADDING, 1), 12, 0},
		 3},
		{"the longest discarded event",
		 {page_header(PAGE_TYPE_PADDING, 1), UINT32_MAX, 0},
		 3},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct page page = page_begin(page_layout(64, 8), 1);
		page_event(&page, 0, run_of('a'), 4);
		for (size_t j = 0; j < cases[i].words; j++)
			page_put32(&page, cases[i].word[j]);
		struct nw_page walk = opened(&page, 0, 0);
		expect(&walk, 1, 'a', 4);
		expect_end(&walk, -EBADMSG);
		free(page.bytes);
	}
}
END_TEST

START_TEST(a_rest_smaller_than_a_header_is_damage)
{
	struct page page = page_begin(page_layout(64, 8), 1);

	page_event(&page, 0, run_of('a'), 4);
	page_put(&page, "\1\2\3", 3);
	struct nw_page walk = opened(&page, 0, 0);
	expect(&walk, 1, 'a', 4);
	expect_end(&walk, -EBADMSG);
	free(page.bytes);
}
END_TEST

START_TEST(pages_of_impossible_size_are_not_opened)
{
	const struct nw_page_layout layout = page_layout(64, 8);
	struct nw_page walk;

	for (size_t len = 0; len <= 64; len++) {
		const uint64_t word = 40;
		unsigned char whole[64] = {0}, *exact = malloc(len ? len : 1);
		memcpy(whole + 8, &word, 8);
		memcpy(exact, whole, len);
		ck_assert_int_eq(nw_page_open(&walk, &layout, exact, len),
				 len < 56 ? -EBADMSG : 0);
		free(exact);
	}
}
END_TEST

/* Walk to the end; how it ends does not matter, only that it ends inside. */
static void walk_all(const struct nw_page_layout *layout, const unsigned char *bytes,
		     size_t len)
{
	const unsigned char *data;
	struct nw_page walk;
	unsigned int sum = 0;
	uint32_t size;

	if (nw_page_open(&walk, layout, bytes, len) < 0)
		return;
	for (size_t steps = 0; nw_page_next(&walk, &data, &size) > 0; steps++) {
		ck_assert_uint_le(steps, len);
		ck_assert(data >= bytes && size <= len &&
			  (size_t)(data - bytes) <= len - size);
		for (uint32_t i = 0; i < size; i++)
			sum += data[i]; /* under SAN=1: every byte may be read */
	}
	ck_assert_uint_lt(sum, UINT32_MAX);
}

START_TEST(random_and_cut_off_pages_stay_within_their_bytes)
{
	uint64_t state = 1;

	for (unsigned int round = 0; round < 40000; round++) {
		const struct nw_page_layout layout = page_layout(256, round & 1 ? 4 : 8);
		size_t len = round & 2 ? 256 : unit_random(&state) % 257;
		unsigned char *bytes = malloc(len ? len : 1);
		/* mostly small numbers: more of them pass the first checks */
		for (size_t i = 0; i < len; i++) {
			uint64_t r = unit_random(&state);
			bytes[i] = (unsigned char)(r & 256 ? r
						   : r & 7 ? r >> 8 & 3
							   : r >> 8);
		}
		uint32_t commit = (uint32_t)(unit_random(&state) % 260) |
				  (uint32_t)(unit_random(&state) & 3) << 30;
		if (len >= 12)
			memcpy(bytes + 8, &commit, sizeof(commit));
		walk_all(&layout, bytes, len);
		free(bytes);
	}
}
END_TEST

UNIT_MAIN("page", layout_is_what_the_kernel_says, damaged_layouts_are_refused,
	  layout_text_need_not_end_in_a_nul, events_of_every_length_come_with_their_times,
	  times_add_up_over_extends_and_discarded_events,
	  absolute_stamps_take_the_top_bits_from_the_time_before, padding_ends_the_page,
	  an_empty_page_has_no_events, lost_events_are_told_with_and_without_a_count,
	  a_count_without_room_is_not_read, impossible_events_are_damage,
	  a_rest_smaller_than_a_header_is_damage, pages_of_impossible_size_are_not_opened,
	  random_and_cut_off_pages_stay_within_their_bytes)
