// SPDX-License-Identifier: MIT
/* The bytes of .note.stapsdt sections, good and bad. */
#include <errno.h>

#include "find/elf/note.h"
#include "unit.h"

/* How one file writes numbers. */
struct form {
	bool elf64, big_endian;
};

static const struct form forms[] = {{true, false},
				    {true, true},
				    {false, false},
				    {false, true}};

/* ---- making notes ------------------------------------------------------------------- */

static void put(struct nw_buf *out, const struct form *form, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		nw_buf_addc(out,
			    (char)(value >> 8 * (form->big_endian ? size - 1 - i : i)));
}

static void pad(struct nw_buf *out)
{
	while (out->len % 4)
		nw_buf_addc(out, '\0');
}

/* A note of any name and type; strings: "provider\0name\0args\0", as many bytes as said. */
static void put_note(struct nw_buf *out, const struct form *form, const char *name,
		     uint32_t type, const uint64_t words[3], const char *strings,
		     size_t len)
{
	size_t word = form->elf64 ? 8 : 4;

	put(out, form, strlen(name) + 1, 4);
	put(out, form, 3 * word + len, 4);
	put(out, form, type, 4);
	nw_buf_add(out, name, strlen(name) + 1);
	pad(out);
	for (size_t i = 0; i < 3; i++)
		put(out, form, words[i], word);
	nw_buf_add(out, strings, len);
	pad(out);
}

/* sizeof() of a literal counts its last NUL, too: "provider\0name\0args". */
#define PUT(out, form, words, strings) \
	put_note((out), (form), "stapsdt", 3, (words), (strings), sizeof(strings))

static int next(const struct nw_buf *data, const struct form *form, size_t *at,
		struct nw_note *note, const char **why)
{
	return nw_note_next(data->data, data->len, form->elf64, form->big_endian, at, note,
			    why);
}

static const uint64_t words[3] = {0x11223344, 0x55667788, 0x99aabbcc};

/* ---- good notes --------------------------------------------------------------------- */

START_TEST(notes_of_every_class_and_byte_order_are_read)
{
	for (size_t i = 0; i < NW_COUNT(forms); i++) {
		const struct form *form = &forms[i];
		const uint64_t large[3] = {form->elf64 ? 0x1122334455667788 : 0xfffffffe,
					   form->elf64 ? 0xffffffff00000000 : 1, 0};
		struct nw_buf data = {0};
		struct nw_note note;
		const char *why;
		size_t at = 0;

		PUT(&data, form, words, "libc\0setjmp\0008@%rdi -4@%esi");
		PUT(&data, form, large, "a\0b\0");
		ck_assert_int_eq(next(&data, form, &at, &note, &why), 1);
		ck_assert_uint_eq(note.pc, 0x11223344);
		ck_assert_uint_eq(note.base, 0x55667788);
		ck_assert_uint_eq(note.semaphore, 0x99aabbcc);
		ck_assert_str_eq(note.provider, "libc");
		ck_assert_str_eq(note.name, "setjmp");
		ck_assert_str_eq(note.args, "8@%rdi -4@%esi");
		ck_assert_int_eq(next(&data, form, &at, &note, &why), 1);
		ck_assert_uint_eq(note.pc, large[0]);
		ck_assert_uint_eq(note.base, large[1]);
		ck_assert_uint_eq(note.semaphore, 0);
		ck_assert_str_eq(note.provider, "a");
		ck_assert_str_eq(note.name, "b");
		ck_assert_str_eq(note.args, "");
		ck_assert_uint_eq(at, data.len);
		ck_assert_int_eq(next(&data, form, &at, &note, &why), 0);
		nw_buf_free(&data);
	}
}
END_TEST

START_TEST(an_empty_section_has_no_notes)
{
	struct nw_note note;
	const char *why;
	size_t at = 0;

	ck_assert_int_eq(nw_note_next("", 0, true, false, &at, &note, &why), 0);
	ck_assert_uint_eq(at, 0);
}
END_TEST

START_TEST(missing_arguments_are_no_arguments)
{
	for (size_t i = 0; i < NW_COUNT(forms); i++) {
		struct nw_buf data = {0};
		struct nw_note note;
		const char *why;
		size_t at = 0;

		PUT(&data, &forms[i], words, "p\0n");
		ck_assert_int_eq(next(&data, &forms[i], &at, &note, &why), 1);
		ck_assert_str_eq(note.provider, "p");
		ck_assert_str_eq(note.name, "n");
		ck_assert_str_eq(note.args, "");
		nw_buf_free(&data);
	}
}
END_TEST

START_TEST(the_last_note_may_lack_its_padding)
{
	struct nw_buf data = {0};
	struct nw_note note;
	const char *why;
	size_t at = 0;

	PUT(&data, &forms[0], words, "p\0n\0ab");
	ck_assert_uint_eq(data.len, 12 + 8 + 24 + 8);
	data.len -= 1; /* 7 bytes of strings, 1 of padding */
	ck_assert_int_eq(next(&data, &forms[0], &at, &note, &why), 1);
	ck_assert_str_eq(note.args, "ab");
	ck_assert_uint_eq(at, data.len);
	nw_buf_free(&data);
}
END_TEST

START_TEST(notes_of_others_are_passed_over)
{
	for (size_t i = 0; i < NW_COUNT(forms); i++) {
		struct nw_buf data = {0};
		struct nw_note note;
		const char *why;
		size_t at = 0;

		put_note(&data, &forms[i], "GNU", 3, words, "p\0n\0", 5);
		put_note(&data, &forms[i], "stapsdt", 1, words, "p\0n\0", 5);
		put_note(&data, &forms[i], "stapsdT", 3, words, "p\0n\0", 5);
		put_note(&data, &forms[i], "stapsdt2", 3, words, "p\0n\0", 5);
		put_note(&data, &forms[i], "", 3, words, "", 0);
		put(&data, &forms[i], 0, 4); /* neither name nor descriptor */
		put(&data, &forms[i], 0, 4);
		put(&data, &forms[i], 3, 4);
		PUT(&data, &forms[i], words, "mine\0n\0");
		put_note(&data, &forms[i], "CORE", 3, words, "p\0n\0", 5);
		ck_assert_int_eq(next(&data, &forms[i], &at, &note, &why), 1);
		ck_assert_str_eq(note.provider, "mine");
		ck_assert_int_eq(next(&data, &forms[i], &at, &note, &why), 0);
		ck_assert_uint_eq(at, data.len);
		nw_buf_free(&data);
	}
}
END_TEST

/* ---- bad notes ---------------------------------------------------------------------- */

/* The note between two good ones is damaged for this reason, and the second is still found. */
static void check_damaged(const struct nw_buf *bad, const struct form *form, uint64_t pc,
			  const char *reason)
{
	struct nw_buf data = {0};
	struct nw_note note;
	const char *why = NULL;
	size_t at = 0;

	PUT(&data, form, words, "first\0n\0");
	nw_buf_add(&data, bad->data, bad->len);
	PUT(&data, form, words, "last\0n\0");
	ck_assert_int_eq(next(&data, form, &at, &note, &why), 1);
	ck_assert_int_eq(next(&data, form, &at, &note, &why), -EBADMSG);
	ck_assert_str_eq(why, reason);
	ck_assert_str_eq(note.provider, "");
	ck_assert_str_eq(note.name, "");
	ck_assert_str_eq(note.args, "");
	ck_assert_uint_eq(note.pc, pc);
	ck_assert_uint_eq(note.base, 0);
	ck_assert_uint_eq(note.semaphore, 0);
	ck_assert_int_eq(next(&data, form, &at, &note, &why), 1);
	ck_assert_str_eq(note.provider, "last");
	ck_assert_int_eq(next(&data, form, &at, &note, &why), 0);
	nw_buf_free(&data);
}

START_TEST(a_damaged_note_costs_only_itself)
{
	static const struct {
		const char *strings;
		size_t len;
		const char *why;
	} cases[] = {
		{"", 0, "its strings do not end inside the note"},
		{"p", 1, "its strings do not end inside the note"},
		{"p\0", 2, "its strings do not end inside the note"},
		{"p\0n", 3, "its strings do not end inside the note"},
		{"p\0n\0a", 5, "its strings do not end inside the note"},
		{"\0n\0", 4, "it has no provider or no name"},
		{"p\0\0", 4, "it has no provider or no name"},
		{"\0\0\0", 4, "it has no provider or no name"},
	};

	for (size_t i = 0; i < NW_COUNT(cases) * NW_COUNT(forms); i++) {
		const struct form *form = &forms[i % NW_COUNT(forms)];
		size_t n = i / NW_COUNT(forms);
		struct nw_buf bad = {0};

		put_note(&bad, form, "stapsdt", 3, words, cases[n].strings, cases[n].len);
		check_damaged(&bad, form, words[0], cases[n].why);
		nw_buf_free(&bad);
	}
}
END_TEST

START_TEST(a_descriptor_without_room_for_three_addresses_is_damaged)
{
	for (size_t i = 0; i < NW_COUNT(forms); i++) {
		for (size_t len = 0; len < (forms[i].elf64 ? 24u : 12u); len++) {
			struct nw_buf bad = {0};

			put(&bad, &forms[i], 8, 4);
			put(&bad, &forms[i], len, 4);
			put(&bad, &forms[i], 3, 4);
			nw_buf_add(&bad, "stapsdt", 8);
			for (size_t j = 0; j < len; j++)
				nw_buf_addc(&bad, 'x');
			pad(&bad);
			check_damaged(&bad, &forms[i], 0,
				      "its descriptor is too short for three addresses");
			nw_buf_free(&bad);
		}
	}
}
END_TEST

START_TEST(sizes_beyond_the_section_end_the_walk)
{
	static const uint32_t sizes[] = {0xffffffff, 0xfffffffe, 0xfffffffc,
					 0x80000000, 0x7fffffff, 0x10000};

	for (size_t i = 0; i < NW_COUNT(sizes) * NW_COUNT(forms) * 2; i++) {
		const struct form *form = &forms[i % NW_COUNT(forms)];
		uint32_t wild = sizes[i / NW_COUNT(forms) % NW_COUNT(sizes)];
		bool in_name = i >= NW_COUNT(sizes) * NW_COUNT(forms);
		struct nw_buf data = {0};
		struct nw_note note;
		const char *why = NULL;
		size_t at = 0;

		PUT(&data, form, words, "first\0n\0");
		put(&data, form, in_name ? wild : 8, 4);
		put(&data, form, in_name ? 32 : wild, 4);
		put(&data, form, 3, 4);
		nw_buf_add(&data, "stapsdt", 8);
		PUT(&data, form, words, "last\0n\0");
		ck_assert_int_eq(next(&data, form, &at, &note, &why), 1);
		ck_assert_int_eq(next(&data, form, &at, &note, &why), -EBADMSG);
		ck_assert_str_eq(why, "its sizes reach past the end of the section");
		ck_assert_uint_eq(at, data.len);
		ck_assert_int_eq(next(&data, form, &at, &note, &why), 0);
		nw_buf_free(&data);
	}
}
END_TEST

/* What a copy of the first len bytes holds, on the heap, so that a byte too far is seen. */
static int notes_in(const struct nw_buf *whole, size_t len, const struct form *form,
		    const char **why)
{
	char *cut = malloc(len ? len : 1);
	struct nw_note note;
	size_t at = 0;
	int ret, count = 0;

	memcpy(cut, whole->data, len);
	while ((ret = nw_note_next(cut, len, form->elf64, form->big_endian, &at, &note,
				   why)) == 1) {
		ck_assert_str_eq(note.name, "name");
		count++;
	}
	if (ret == 0)
		*why = NULL;
	ck_assert_uint_eq(at, len); /* cut off: nothing can follow */
	free(cut);
	return count;
}

START_TEST(a_section_cut_at_any_length_gives_the_notes_before_the_cut)
{
	for (size_t i = 0; i < NW_COUNT(forms); i++) {
		struct nw_buf data = {0};
		const char *why;

		PUT(&data, &forms[i], words, "one\0name\0008@%rax");
		size_t first = data.len;
		PUT(&data, &forms[i], words, "two\0name\0008@%rbx");
		/* strings take 16 bytes: no padding */
		ck_assert_uint_eq(data.len, 2 * first);
		for (size_t len = 0; len <= data.len; len++) {
			int count = notes_in(&data, len, &forms[i], &why);
			size_t rest = len % first;
			ck_assert_int_eq(count, (int)(len / first));
			if (rest == 0)
				ck_assert_ptr_null(why);
			else if (rest < 12)
				ck_assert_str_eq(why, "its header is cut off");
			else
				ck_assert_str_eq(
					why, "its sizes reach past the end of the section");
		}
		nw_buf_free(&data);
	}
}
END_TEST

START_TEST(random_bytes_end_the_walk_sooner_or_later)
{
	uint64_t state = 7;

	for (int i = 0; i < 20000; i++) {
		const struct form *form = &forms[i % (int)NW_COUNT(forms)];
		struct nw_buf data = {0};
		struct nw_note note;
		const char *why;
		size_t at = 0, before = 0;

		for (int j = 0; j < 3; j++)
			PUT(&data, form, words, "p\0name\0008@%rdi");
		for (uint64_t n = unit_random(&state) % 8; n > 0; n--)
			data.data[unit_random(&state) % data.len] = (char)unit_random(
				&state);
		char *exact = malloc(data.len);
		memcpy(exact, data.data, data.len);
		while (nw_note_next(exact, data.len, form->elf64, form->big_endian, &at,
				    &note, &why)) {
			ck_assert_uint_gt(at, before);
			ck_assert_uint_le(at, data.len);
			ck_assert_uint_le(strlen(note.provider) + strlen(note.name) +
						  strlen(note.args),
					  data.len);
			before = at;
		}
		free(exact);
		nw_buf_free(&data);
	}
}
END_TEST

UNIT_MAIN("note", notes_of_every_class_and_byte_order_are_read,
	  an_empty_section_has_no_notes, missing_arguments_are_no_arguments,
	  the_last_note_may_lack_its_padding, notes_of_others_are_passed_over,
	  a_damaged_note_costs_only_itself,
	  a_descriptor_without_room_for_three_addresses_is_damaged,
	  sizes_beyond_the_section_end_the_walk,
	  a_section_cut_at_any_length_gives_the_notes_before_the_cut,
	  random_bytes_end_the_walk_sooner_or_later)
