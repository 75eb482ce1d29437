// SPDX-License-Identifier: MIT
/* stream: where strings end that came as a pointer and words. */
#include "page_builder.h"
#include "show/text/text.h"
#include "stream/pages/value.h"
#include "stream/trace_pipe/trace_text.h"

enum {
	MOST = 128,
	PAGE = 4096
};

/* A string of up to MOST bytes: as an array of words; bytewise and then in words. */
static struct nw_source words(uint32_t size, bool whole)
{
	struct nw_source source = {.whole = whole};
	uint32_t bytewise = whole ? 16 : 0;

	if (whole)
		*nw_vec_add(&source.chunks) = (struct nw_chunk){.bits = 8,
								.count = bytewise};
	*nw_vec_add(&source.chunks) = (struct nw_chunk){
		.bits = 64, .offset = bytewise, .count = (size - bytewise) / 8};
	return source;
}

/* What the kernel stores of text, which ends with a NUL and then other bytes, at an address, if
 * nothing can be read from `end` on; whole: loads that meet it load nothing. */
static void load(const char *text, uint64_t address, uint64_t end, bool whole,
		 unsigned char out[MOST])
{
	struct nw_source source = words(MOST, whole);

	memset(out, '#', MOST);
	memcpy(out, text, strlen(text) + 1);
	nw_vec_each (&source.chunks, chunk) {
		uint32_t step = chunk->bits / 8;
		for (uint32_t i = 0; i < nw_chunk_bytes(chunk); i += step) {
			uint64_t at = address + chunk->offset + i;
			uint64_t there = at >= end ? 0 : end - at;
			if (there >= step || !end)
				continue;
			if (whole)
				there = 0;
			memset(out + chunk->offset + i + there, 0, step - there);
		}
	}
	nw_vec_free(&source.chunks);
}

static void check(const char *text, uint64_t address, uint64_t end, bool whole,
		  const char *wanted)
{
	struct nw_value value = {.kind = NW_VALUE_STRING, .number = address};
	struct nw_source source = words(MOST, whole);
	unsigned char bytes[MOST];
	struct nw_buf seen = {0};

	load(text, address, end, whole, bytes);
	nw_string_finish(&source, bytes, MOST, &value);
	nw_value_print(&value, &seen);
	ck_assert_msg(strcmp(nw_buf_str(&seen), wanted) == 0,
		      "'%s' at %#lx up to %#lx, whole %d: %s, not %s", text, address, end,
		      whole, nw_buf_str(&seen), wanted);
	nw_buf_free(&seen);
	nw_vec_free(&source.chunks);
}

START_TEST(strings_end_at_their_nul)
{
	for (int whole = 0; whole < 2; whole++) {
		check("abc", 0x401001, 0, whole, "\"abc\"");
		check("abcdefghijklmnopqrstuvwxyz", 0x401fff, 0, whole,
		      "\"abcdefghijklmnopqrstuvwxyz\"");
		check("", 0x401001, 0, whole, "\"\"");
	}
}
END_TEST

/* For every length and every place of the mapping's end behind it. */
START_TEST(strings_at_the_end_of_a_mapping_are_whole)
{
	char text[MOST];

	for (uint32_t len = 1; len < 100; len++) {
		struct nw_buf wanted = {0};
		for (uint32_t i = 0; i < len; i++)
			text[i] = (char)('a' + i % 26);
		text[len] = '\0';
		nw_buf_printf(&wanted, "\"%s\"", text);
		for (uint32_t behind = 0; behind < 20 && len + 1 + behind < MOST; behind++)
			check(text, 7 * PAGE - len - 1 - behind, 7 * PAGE, false,
			      nw_buf_str(&wanted));
		/* where loads are lost as a whole: what was fetched bytewise */
		if (len < 16)
			check(text, 7 * PAGE - len - 1, 7 * PAGE, true,
			      nw_buf_str(&wanted));
		nw_buf_free(&wanted);
	}
}
END_TEST

START_TEST(strings_that_may_go_on_are_marked)
{
	char longer[200];

	/* no NUL before the end of the mapping */
	check("abcdefgh", 7 * PAGE - 8, 7 * PAGE, false, "\"abcdefgh\"...");
	check("abcdefghij", 7 * PAGE - 8, 7 * PAGE, false, "\"abcdefgh\"...");
	check("abcdefghijk", 7 * PAGE - 11, 7 * PAGE, true, "\"abcdefghijk\"...");
	/* the NUL may stand in a word that was lost with what is behind it */
	check("abcdefghijklmnopqrstu", 7 * PAGE - 22, 7 * PAGE, true,
	      "\"abcdefghijklmnop\"...");
	/* the next page is there, and says that it is the end */
	check("abcdefgh", 7 * PAGE - 8, 0, false, "\"abcdefgh\"");
	memset(longer, 'x', MOST);
	longer[MOST] = '\0';
	struct nw_source source = words(MOST, false);
	struct nw_value value = {.kind = NW_VALUE_STRING, .number = 0x401001};
	nw_string_finish(&source, (const unsigned char *)longer, MOST, &value);
	ck_assert_uint_eq(value.len, MOST);
	ck_assert(value.cut && !value.untrusted);
	nw_vec_free(&source.chunks);
}
END_TEST

START_TEST(what_cannot_be_read_is_no_empty_string)
{
	for (int whole = 0; whole < 2; whole++) {
		check("abc", 0, 1, whole, "NULL");
		check("abc", 8, 1, whole, "(fault)");
		check("abc", 4095, 1, whole, "(fault)");
		check("abc", 0x1234, 1, whole, "(fault)");
		check("abc", 0xffff, 1, whole, "(fault)");
		check("", 0x10000, 0, whole, "\"\"");
		check("abc", 0x4141414141414141, 1, whole, "(fault)");
		check("abc", UINT64_MAX, 1, whole, "(fault)");
		/* who knows: nothing, or nothing but zeros */
		check("abc", 0xdeadbeef, 1, whole, "\"\"?");
	}
}
END_TEST

/* The page of a system call's string may not be in memory, so nothing at all is no empty string there. */
START_TEST(nothing_of_a_system_call_is_a_fault)
{
	static const unsigned char zeros[MOST], empty[MOST] = {[MOST - 1] = 1};
	struct nw_source source = words(MOST, true);
	struct nw_value value = {.kind = NW_VALUE_STRING, .number = 0x401000};

	nw_string_finish(&source, zeros, MOST, &value);
	ck_assert(value.kind == NW_VALUE_STRING && value.untrusted);
	source.in_kernel = true;
	value = (struct nw_value){.kind = NW_VALUE_STRING, .number = 0x401000};
	nw_string_finish(&source, zeros, MOST, &value);
	ck_assert(value.kind == NW_VALUE_MISSING);
	ck_assert_str_eq(value.text, "(fault)");
	value = (struct nw_value){.kind = NW_VALUE_STRING, .number = 0x401000};
	nw_string_finish(&source, empty, MOST, &value);
	ck_assert(value.kind == NW_VALUE_STRING && !value.untrusted && !value.len);
	nw_vec_free(&source.chunks);
}
END_TEST

START_TEST(bytes_that_are_lost_are_no_end)
{
	struct nw_value value = {.kind = NW_VALUE_STRING, .number = 0x401001};
	struct nw_source source = words(MOST, false);

	nw_string_finish(&source, NULL, 0, &value);
	ck_assert_int_eq(value.kind, NW_VALUE_MISSING);
	ck_assert_str_eq(value.text, "lost");
	nw_vec_free(&source.chunks);
}
END_TEST

/* ---- text ---------------------------------------------------------------------------- */

/* All events of a text whose events are learned from it, as trace prints their values. */
static void check_text(const char *text, const char *wanted)
{
	struct nw_formats formats = {0};
	struct nw_selection selection;
	struct nw_buf seen = {0};
	struct nw_record record;
	struct nw_text *reader;
	struct nw_error err;
	struct nw_plan plan;
	struct nw_armed armed;

	ck_assert_int_eq(
		nw_text_learn(text, strlen(text), "-", &selection, &plan, &armed, &err), 0);
	ck_assert_int_eq(nw_text_open_memory(text, strlen(text), &reader), 0);
	nw_text_begin(reader);
	ck_assert_int_eq(nw_text_use(reader, &armed, true, &formats), 0);
	nw_text_finish(reader);
	while (nw_text_next(reader, &record, NULL) > 0) {
		const struct nw_probe *probe = selection.probes.item[record.probe];
		struct nw_value values[8] = {0};
		ck_assert_uint_le(probe->args.count, 8);
		nw_record_values(&formats, &record, values);
		for (size_t i = 0; i < probe->args.count; i++) {
			nw_buf_printf(&seen, "%s=", probe->args.item[i].name);
			nw_value_print(&values[i], &seen);
			nw_buf_addc(&seen, ' ');
		}
	}
	ck_assert_str_eq(nw_buf_str(&seen), wanted);
	nw_text_free(reader);
	nw_formats_free(&formats);
	nw_armed_free(&armed);
	nw_plan_free(&plan);
	nw_selection_free(&selection);
	nw_buf_free(&seen);
}

START_TEST(text_of_added_events_has_their_strings)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	check_text("bash-1 [000] .... 1.000000: n: (0x401136) id=5 s=0x401001 "
		   "s_str0={0x6f77206f6c6c6568,0x2323230021646c72} b=7\n"
		   "bash-1 [000] .... 2.000000: n: (0x401136) id=6 s=0x0 "
		   "s_str0={0x0,0x0} b=8\n",
		   "id=5 s=\"hello world!\" b=7 id=6 s=NULL b=8 ");
	/* singly, the beginning bytewise */
	check_text("bash-1 [000] .... 1.000000: n: (0x401136) s=4198401 s_chr0=97 "
		   "s_chr1=98 s_str2=7667774633883821155 s_str10=107\n",
		   "s=\"abcdefghijk\" ");
#endif
	/* what only looks alike */
	check_text("bash-1 [000] .... 1.000000: n: (0x401136) s=1 s_str8=2 t_str0=3\n",
		   "s=1 s_str8=2 t_str0=3 ");
}
END_TEST

UNIT_MAIN("strings", strings_end_at_their_nul, strings_at_the_end_of_a_mapping_are_whole,
	  strings_that_may_go_on_are_marked, what_cannot_be_read_is_no_empty_string,
	  nothing_of_a_system_call_is_a_fault, bytes_that_are_lost_are_no_end,
	  text_of_added_events_has_their_strings)
