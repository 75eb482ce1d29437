// SPDX-License-Identifier: MIT
/* base: errors, buffers, arrays, the string index, parsers of user text. */
#include <errno.h>
#include <unistd.h>

#include "unit.h"

START_TEST(error_keeps_reason_and_hint)
{
	struct nw_error err = {0};

	ck_assert_int_eq(nw_fail(&err, ENOENT, "no file '%s'", "x"), -ENOENT);
	nw_error_hint(&err, "try %d", 7);
	ck_assert_str_eq(err.what, "no file 'x'");
	ck_assert_str_eq(err.hint, "try 7");
	ck_assert(!err.usage);
	ck_assert_int_eq(nw_error_context(&err, "while %s", "testing"), -ENOENT);
	ck_assert_str_eq(err.what, "while testing: no file 'x'");
	ck_assert_int_eq(nw_fail(NULL, EIO, "nobody listens"), -EIO);
}
END_TEST

START_TEST(error_cuts_long_texts)
{
	struct nw_error err;
	char longer[2000];

	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	nw_fail(&err, EIO, "%s", longer);
	nw_error_context(&err, "%s", longer);
	ck_assert_uint_eq(strlen(err.what), sizeof(err.what) - 1);
}
END_TEST

START_TEST(strerror_knows_the_kernels_own_code)
{
	ck_assert_ptr_nonnull(strstr(nw_strerror(524), "524"));
	ck_assert_str_eq(nw_strerror(ENOENT), strerror(ENOENT));
	ck_assert_ptr_nonnull(nw_strerror(99999));
}
END_TEST

START_TEST(buf_grows_and_is_taken)
{
	struct nw_buf buf = {0};

	ck_assert_str_eq(nw_buf_str(&buf), "");
	for (int i = 0; i < 1000; i++)
		nw_buf_printf(&buf, "%d,", i);
	nw_buf_addc(&buf, '!');
	ck_assert_uint_eq(buf.len, 3891);
	ck_assert_str_eq(nw_buf_str(&buf) + buf.len - 5, "999,!");
	char *text = nw_buf_take(&buf);
	ck_assert_uint_eq(strlen(text), 3891);
	ck_assert_uint_eq(buf.len, 0);
	free(text);
	text = nw_buf_take(&buf); /* an empty one is still a string */
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

START_TEST(numbers_are_added_in_decimal)
{
	static const uint64_t numbers[] = {0, 7, 10, 4294967296, UINT64_MAX};
	struct nw_buf buf = {0};

	for (size_t i = 0; i < NW_COUNT(numbers); i++) {
		nw_buf_addu(&buf, numbers[i]);
		nw_buf_addc(&buf, ' ');
	}
	ck_assert_str_eq(nw_buf_str(&buf), "0 7 10 4294967296 18446744073709551615 ");
	nw_buf_free(&buf);
}
END_TEST

/* Shorter than the room there is, as long as it, and longer. */
START_TEST(printf_grows_at_every_length)
{
	for (int len = 0; len < 300; len++) {
		struct nw_buf buf = {0};
		nw_buf_adds(&buf, "x");
		nw_buf_printf(&buf, "%*s", len, "");
		ck_assert_uint_eq(buf.len, 1 + (size_t)len);
		ck_assert_uint_eq(strlen(buf.data), 1 + (size_t)len);
		nw_buf_free(&buf);
	}
}
END_TEST

START_TEST(escape_makes_terminals_safe)
{
	static const struct {
		const char *in;
		size_t len;
		const char *out;
	} cases[] = {
		{"plain", 5, "plain"},
		{"a\nb\tc\rd", 7, "a\\nb\\tc\\rd"},
		{"q\"b\\", 4, "q\\\"b\\\\"},
		{"\x1b[31m", 5, "\\x1b[31m"},
		{"\x00x", 2, "\\x00x"},
		{"\xc3\xa9", 2, "\xc3\xa9"},		     /* e acute */
		{"\xc3", 1, "\\xc3"},			     /* cut off */
		{"\xc0\xaf", 2, "\\xc0\\xaf"},		     /* overlong */
		{"\xed\xa0\x80", 3, "\\xed\\xa0\\x80"},	     /* surrogate */
		{"\xc2\x9b", 2, "\\xc2\\x9b"},		     /* C1: a terminal's CSI */
		{"\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80"}, /* four bytes */
		{"\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"},
		{"\x7f", 1, "\\x7f"},
		{"\xe2\x80\xae", 3, "\\xe2\\x80\\xae"},		 /* right to left */
		{"\xcd\x8f", 2, "\\xcd\\x8f"},			 /* invisible: a joiner, */
		{"\xe3\x85\xa4", 3, "\\xe3\\x85\\xa4"},		 /* a Hangul filler, */
		{"\xf3\xa0\x84\x80", 4, "\\xf3\\xa0\\x84\\x80"}, /* a selector */
		{"\xef\xb8\x8f", 3, "\xef\xb8\x8f"},		 /* one that emoji have */
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_buf buf = {0};
		nw_buf_add_escaped(&buf, cases[i].in, cases[i].len);
		ck_assert_str_eq(nw_buf_str(&buf), cases[i].out);
		nw_buf_free(&buf);
	}
}
END_TEST

START_TEST(vec_hands_out_zeroed_items)
{
	struct two {
		int a, b;
	};
	NW_VEC(struct two) vec = {0};

	for (int i = 0; i < 100; i++) {
		struct two *item = nw_vec_add(&vec);
		ck_assert_int_eq(item->a, 0);
		item->a = item->b = i;
	}
	int sum = 0;
	nw_vec_each (&vec, it)
		sum += it->b;
	ck_assert_int_eq(sum, 4950);
	nw_vec_free(&vec);
	ck_assert_uint_eq(vec.count, 0);
}
END_TEST

/* Items of one hash are all found, whatever else is in the table, and each of them once. */
START_TEST(hash_table_finds_all_of_a_hash)
{
	struct nw_hash_table table = {0};
	unsigned int found[1000] = {0};

	nw_hash_each (&table, 7, number)
		ck_abort_msg("%zu is in an empty table", number);
	for (size_t i = 0; i < NW_COUNT(found); i++)
		ck_assert_int_eq(nw_hash_table_add(&table, i % 100, i), 0);
	for (uint64_t hash = 0; hash < 100; hash++)
		nw_hash_each (&table, hash, number) {
			ck_assert_uint_eq(number % 100, hash);
			found[number]++;
		}
	for (size_t i = 0; i < NW_COUNT(found); i++)
		ck_assert_uint_eq(found[i], 1);
	nw_hash_each (&table, 100, number)
		ck_abort_msg("%zu has another hash", number);
	nw_hash_table_free(&table);
}
END_TEST

/* After items of an array were removed, the others are found under their new numbers, and nothing else is. */
START_TEST(hash_table_forgets_what_was_removed)
{
	struct nw_hash_table table = {0};
	uint32_t item[500], random = 1;
	size_t count = NW_COUNT(item);

	for (size_t i = 0; i < count;
	     i++) { /* few hashes, which wrap around the end of the table */
		item[i] = (uint32_t)(i % 7 ? i * 61 : UINT32_MAX - i % 3);
		ck_assert_int_eq(nw_hash_table_add(&table, item[i], i), 0);
	}
	while (count) {
		random = random * 1103515245 + 12345;
		size_t gone = (random >> 8) % count--;
		nw_hash_table_remove(&table, item[gone], gone, item[count], count);
		item[gone] = item[count];
		for (size_t i = 0; i < count; i++) {
			size_t found = 0;
			nw_hash_each (&table, item[i], number) {
				ck_assert_uint_lt(number, count);
				ck_assert_uint_eq(item[number], item[i]);
				found += number == i;
			}
			ck_assert_uint_eq(found, 1);
		}
		ck_assert_uint_eq(table.count, count);
	}
	nw_hash_table_free(&table);
}
END_TEST

START_TEST(index_numbers_strings)
{
	struct nw_index index = {0};
	char text[16];

	ck_assert_int_eq(nw_index_find(&index, "a", 1), -ENOENT);
	for (int i = 0; i < 5000; i++) {
		int len = snprintf(text, sizeof(text), "key%d", i);
		ck_assert_int_eq(nw_index_add(&index, text, (size_t)len), i);
	}
	for (int i = 0; i < 5000; i++) {
		int len = snprintf(text, sizeof(text), "key%d", i);
		ck_assert_int_eq(nw_index_find(&index, text, (size_t)len), i);
		ck_assert_int_eq(nw_index_add(&index, text, (size_t)len), i);
		ck_assert_str_eq(index.text.item[i], text);
	}
	ck_assert_int_eq(nw_index_find(&index, "key", 3), -ENOENT);
	/* what lies behind a NUL does not count, or it could never be found again */
	int64_t first = nw_index_add(&index, "nul\0x", 5);
	ck_assert_int_eq(nw_index_add(&index, "nul\0y", 5), first);
	nw_index_free(&index);
}
END_TEST

START_TEST(numbers_are_strict)
{
	uint64_t value = 1;

	ck_assert_int_eq(nw_parse_u64("0", &value), 0);
	ck_assert_uint_eq(value, 0);
	ck_assert_int_eq(nw_parse_u64("18446744073709551615", &value), 0);
	ck_assert_uint_eq(value, UINT64_MAX);
	ck_assert_int_eq(nw_parse_u64("0x1F", &value), 0);
	ck_assert_uint_eq(value, 31);
	static const char *const bad[] = {
		"",  " 1", "-1", "+1", "1 ", "1x", "0x", "0xg", "18446744073709551616",
		"ff"};
	for (size_t i = 0; i < NW_COUNT(bad); i++)
		ck_assert_msg(nw_parse_u64(bad[i], &value) < 0, "'%s'", bad[i]);
}
END_TEST

START_TEST(durations)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {{"10", 10000000000},   {"1.5", 1500000000}, {"500ms", 500000000},
		    {"20us", 20000},	   {"7ns", 7},		{"2m", 120000000000},
		    {"1h", 3600000000000}, {"3S", 3000000000},	{".5s", 500000000}};
	static const char *const bad[] = {"",	 "0",	  "-1",	   "1x",
					  "1 s", "s",	  "0x10",  "nan",
					  "inf", "1e400", "0.1ns", "99999999999h"};
	uint64_t ns;

	for (size_t i = 0; i < NW_COUNT(good); i++) {
		ck_assert_int_eq(nw_parse_duration(good[i].text, &ns), 0);
		ck_assert_uint_eq(ns, good[i].ns);
	}
	for (size_t i = 0; i < NW_COUNT(bad); i++)
		ck_assert_msg(nw_parse_duration(bad[i], &ns) < 0, "'%s'", bad[i]);
}
END_TEST

START_TEST(sizes)
{
	uint64_t bytes;

	ck_assert_int_eq(nw_parse_size("4096", &bytes), 0);
	ck_assert_uint_eq(bytes, 4096);
	ck_assert_int_eq(nw_parse_size("512K", &bytes), 0);
	ck_assert_uint_eq(bytes, 524288);
	ck_assert_int_eq(nw_parse_size("8mb", &bytes), 0);
	ck_assert_uint_eq(bytes, 8388608);
	ck_assert_int_lt(nw_parse_size("8q", &bytes), 0);
	ck_assert_int_lt(nw_parse_size("", &bytes), 0);
}
END_TEST

START_TEST(globs_know_dashes)
{
	ck_assert(nw_glob_match("query__*", "query__start"));
	ck_assert(nw_glob_match("query-start", "query__start"));
	ck_assert(nw_glob_match("query__start", "query-start"));
	ck_assert(nw_glob_match("*-done", "a__b__done"));
	ck_assert(!nw_glob_match("query-start", "query_start"));
	ck_assert(nw_glob_match("[ab]*", "b/c"));
	ck_assert(!nw_glob_match("query", "query__start"));
	ck_assert(nw_glob_match("a\\*", "a*") && !nw_glob_match("a\\*", "ab"));
	ck_assert(nw_has_glob("a?") && !nw_has_glob("a-b"));
}
END_TEST

START_TEST(keys_are_split_outside_of_parentheses)
{
	static const struct {
		const char *text, *parts;
	} cases[] = {
		{"", "<>"},
		{"a", "<a>"},
		{"a,b,", "<a><b><>"},
		{"title(a,b),tid", "<title(a,b)><tid>"},
		{"title((a,b),c),tid", "<title((a,b),c)><tid>"},
		{"title([)],b),tid", "<title([)],b)><tid>"},
		{"title([^])],b),tid", "<title([^])],b)><tid>"},
		{"title(\\),b),tid", "<title(\\),b)><tid>"},
		{"a[1],b)", "<a[1]><b)>"},
		{"title([,b", "<title([,b>"},
		{"title([", "<title([>"},
		{"title([^", "<title([^>"},
		{"title(\\", "<title(\\>"},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_buf out = {0};
		char *copy = strdup(cases[i].text), *rest = copy, *part;
		while ((part = nw_split_keys(&rest)))
			nw_buf_printf(&out, "<%s>", part);
		ck_assert_str_eq(nw_buf_str(&out), cases[i].parts);
		nw_buf_free(&out);
		free(copy);
	}
}
END_TEST

START_TEST(distances)
{
	ck_assert_uint_eq(nw_edit_distance("", ""), 0);
	ck_assert_uint_eq(nw_edit_distance("abc", ""), 3);
	ck_assert_uint_eq(nw_edit_distance("kitten", "sitting"), 3);
	ck_assert_uint_eq(nw_edit_distance("query__strat", "query__start"), 2);
	char longer[300];
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ck_assert_uint_eq(nw_edit_distance(longer, longer), 0);
}
END_TEST

static int realpath_fails; /* with this errno; 0: it does not */

char *realpath(const char *path, char *out)
{
	errno = realpath_fails ? realpath_fails : ENOSYS;
	(void)out;
	return realpath_fails ? NULL : canonicalize_file_name(path);
}

/* A path that could not be looked up for a shortage is none: the kernel resolves a relative one from elsewhere. */
START_TEST(absolute_paths)
{
	static const int shortages[] = {EIO, EINTR, ENOMEM, EMFILE};
	char *path = nw_absolute_path("/usr/../usr/./file");

	ck_assert_str_eq(path, "/usr/file");
	free(path);
	realpath_fails = EACCES;
	path = nw_absolute_path("./file");
	ck_assert_str_eq(path, "./file");
	free(path);
	for (size_t i = 0; i < NW_COUNT(shortages); i++) {
		realpath_fails = shortages[i];
		ck_assert_ptr_null(nw_absolute_path("./file"));
		ck_assert_int_eq(errno, shortages[i]);
	}
	realpath_fails = 0;
}
END_TEST

START_TEST(buf_reads_a_file)
{
	struct nw_buf buf = {0};
	int pipes[2];

	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(write(pipes[1], "hello", 5), 5);
	close(pipes[1]);
	ck_assert_int_eq(nw_buf_read(&buf, pipes[0]), 0);
	close(pipes[0]);
	ck_assert_str_eq(nw_buf_str(&buf), "hello");
	ck_assert_int_eq(nw_buf_read(&buf, -1), -EBADF);
	nw_buf_free(&buf);
}
END_TEST

/* The words of a line, with "|" behind each; the error in front. */
static const char *words_of(const char *line)
{
	static char out[64];
	nw_strings words = {0};
	int ret = nw_words_add(&words, line);
	size_t used = (size_t)snprintf(out, sizeof(out), "%s", ret ? "bad " : "");

	ck_assert(ret == 0 || ret == -EBADMSG);
	nw_vec_each (&words, word)
		used += (size_t)snprintf(out + used, sizeof(out) - used, "%s|", *word);
	nw_strings_free(&words);
	return out;
}

START_TEST(lines_are_split_into_words)
{
	ck_assert_str_eq(words_of(""), "");
	ck_assert_str_eq(words_of(" \t\r"), "");
	ck_assert_str_eq(words_of("stat  -i\t15\r"), "stat|-i|15|");
	ck_assert_str_eq(words_of("--filter 'a == \"b c\"' x"), "--filter|a == \"b c\"|x|");
	ck_assert_str_eq(words_of("a'b 'c''d"), "ab cd|");
	ck_assert_str_eq(words_of("'' \"a b"), "|\"a|b|");
	ck_assert_str_eq(words_of("a 'b c"), "bad a|");
	ck_assert_str_eq(words_of("a'"), "bad ");
}
END_TEST

UNIT_MAIN("base", error_keeps_reason_and_hint, error_cuts_long_texts,
	  strerror_knows_the_kernels_own_code, buf_grows_and_is_taken,
	  numbers_are_added_in_decimal, printf_grows_at_every_length,
	  escape_makes_terminals_safe, vec_hands_out_zeroed_items,
	  hash_table_finds_all_of_a_hash, hash_table_forgets_what_was_removed,
	  index_numbers_strings, numbers_are_strict, durations, sizes, globs_know_dashes,
	  keys_are_split_outside_of_parentheses, distances, absolute_paths,
	  buf_reads_a_file, lines_are_split_into_words)
