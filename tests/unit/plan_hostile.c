// SPDX-License-Identifier: MIT
/* Texts of plans that somebody cut, changed or made up: an error with its line, or a plan that
 * keeps its promises. */
#include <errno.h>

#include "plan_builder.h"

static const char good[] = "nopwatch-plan 1\n"			    /* 1 */
			   "group nopwatch_s\n"			    /* 2 */
			   "image /a%20b\n"			    /* 3 */
			   "image /c\n"				    /* 4 */
			   "probe 0 0 p a p:a 1\n"		    /* 5 */
			   "arg sql string\n"			    /* 6 */
			   "arg n u16\n"			    /* 7 */
			   "point 4194320 16 0\n"		    /* 8 */
			   "point 4194336 4112 0\n"		    /* 9 */
			   "probe 1 3 uprobe f /c:uprobe:f 0\n"	    /* 10 */
			   "point 4194337 33 1\n"		    /* 11 */
			   "planned 0 0 2 0\n"			    /* 12 */
			   "source 1 0 -1 string string 0 - 0 -\n"  /* 13 */
			   "source 0 -1 -1 - u16 16 65534 0 -\n"    /* 14 */
			   "planned 0 1 1 1\n"			    /* 15 */
			   "source 0 1 2 u32 u64 0 - 1 why%20not\n" /* 16 */
			   "planned 1 0 1 0\n"			    /* 17 */
			   "event es_0 0\n"			    /* 18 */
			   "field a0\n"				    /* 19 */
			   "place 0 0\n"			    /* 20 */
			   "event es_1 1\n"			    /* 21 */
			   "place 2 0\n"			    /* 22 */
			   "place 0 1\n";			    /* 23 */

/* What the readers of a loaded plan count on. */
static void check_promises(const struct nw_selection *s, const struct nw_plan *plan)
{
	ck_assert_ptr_eq(plan->selection, s);
	nw_vec_each (&s->images, image)
		ck_assert((*image)->path && (*image)->fd == -1);
	nw_vec_each (&s->probes, probe) {
		ck_assert((*probe)->label && (*probe)->provider && (*probe)->name);
		ck_assert_int_eq(!(*probe)->image, (*probe)->kind == NW_SPEC_TRACEPOINT);
		ck_assert_uint_le((*probe)->kind, NW_SPEC_TRACEPOINT);
	}
	nw_vec_each (&plan->points, planned) {
		ck_assert_uint_lt(planned->probe, s->probes.count);
		const struct nw_probe *probe = s->probes.item[planned->probe];
		ck_assert_uint_lt(planned->point, probe->points.count);
		ck_assert(planned->parts >= 1 && planned->parts <= NW_MAX_PARTS);
		ck_assert_uint_le(planned->args.count, probe->args.count);
		nw_vec_each (&planned->args, source) {
			ck_assert_uint_lt(source->part, planned->parts);
			ck_assert(source->field >= -1 && source->field <= NW_MAX_FIELDS);
			ck_assert(source->high_field >= -1 &&
				  source->high_field <= NW_MAX_FIELDS);
			ck_assert_uint_le(source->fetch.sign_bits, 64);
			ck_assert_uint_le(source->fetch.field.array, 64);
		}
	}
	nw_vec_each (&plan->events, event) {
		ck_assert_uint_le((*event)->fields.count, NW_MAX_FIELDS);
		ck_assert_uint_gt(strlen((*event)->name), 0);
		nw_vec_each (&(*event)->places, place) {
			size_t number = (size_t)(place - (*event)->places.item) + 1;
			ck_assert_uint_lt(place->planned, plan->points.count);
			ck_assert_uint_lt(place->part,
					  plan->points.item[place->planned].parts);
			const struct nw_point *point = nw_plan_point(plan, place);
			ck_assert_uint_eq((*event)->by_low_bits[point->offset & 0xfff],
					  number);
		}
	}
}

/* All of it is, but for what was refused. */
static void check_armed(const struct nw_armed *armed)
{
	ck_assert_uint_eq(armed->points.count, armed->plan->points.count);
	ck_assert_uint_eq(armed->events.count, armed->plan->events.count);
	for (size_t i = 0; i < armed->events.count; i++) {
		const struct nw_armed_event *event = armed->events.item[i];
		ck_assert_ptr_eq(event->planned, armed->plan->events.item[i]);
		ck_assert_uint_eq(event->defined, event->planned->places.count);
	}
}

/* Load a copy of just that size. Returns 0, or the number of the line that is bad. */
static unsigned int load(const char *text, size_t len)
{
	static const char format[] =
		"line %u of the recording's table of probes is damaged";
	struct nw_selection s;
	struct nw_plan plan;
	struct nw_armed armed;
	struct nw_error err = {0};
	char *exact = malloc(len ? len : 1);
	char what[128];
	unsigned int line = 0;

	memcpy(exact, text, len);
	int ret = nw_plan_load(exact, len, &s, &plan, &armed, NULL, NULL, &err);
	free(exact);
	if (ret == 0) {
		check_promises(&s, &plan);
		check_armed(&armed);
		nw_armed_free(&armed);
		pb_free(&s, &plan);
		return 0;
	}
	ck_assert_int_eq(ret, -EBADMSG);
	ck_assert_int_eq(err.code, EBADMSG);
	ck_assert_int_eq(sscanf(err.what, format, &line), 1);
	snprintf(what, sizeof(what), format, line);
	ck_assert_str_eq(err.what, what);
	return line;
}

START_TEST(a_good_text_is_loaded)
{
	ck_assert_uint_eq(load(good, sizeof(good) - 1), 0);
}
END_TEST

/* Replace line n, and load. */
static unsigned int load_with(unsigned int n, const char *line)
{
	struct nw_buf text = {0};
	const char *at = good;

	for (unsigned int i = 1; *at; i++) {
		size_t len = strcspn(at, "\n") + 1;
		if (i == n)
			nw_buf_printf(&text, "%s\n", line);
		else
			nw_buf_add(&text, at, len);
		at += len;
	}
	unsigned int bad = load(nw_buf_str(&text), text.len);
	nw_buf_free(&text);
	return bad;
}

START_TEST(a_bad_line_is_named)
{
	static const struct {
		unsigned int line;
		const char *text;
	} cases[] = {
		{1, "nopwatch-plan 2"},
		{1, "nopwatch-plan"},
		{1, "nopwatch-plan 1 1"},
		{2, "group"},
		{2, "group a b"},
		{2, "group a-b"},
		{2, "group 1a"},
		{2, "group -"},
		{3, "image"},
		{3, "image a b"},
		{5, "probe 2 0 p a p:a 1"},
		{5, "probe -1 0 p a p:a 1"},
		{5, "probe 0 5 p a p:a 1"},
		{5, "probe 0 -1 p a p:a 1"},
		{5, "probe 0 0 p a p:b 1"},
		{5, "probe 0 0 p aa a 1"},
		{5, "probe 0 0 p a p:a 2"},
		{5, "probe 0 0 p a p:a"},
		{5, "probe x 0 p a p:a 1"},
		{6, "arg sql text"},
		{6, "arg sql u8[65]"},
		{6, "arg sql"},
		{6, "arg a01234567890123456789012345678901234567890123456789012345678901234"
		    "56789012345678901234567890123456789012345678901234567890123456 u8"},
		{6, "enum 0=RED"},
		{8, "enum 0=RED GREEN"},
		{8, "point 1 2"},
		{8, "point -1 16 0"},
		{8, "point 18446744073709551616 16 0"},
		{8, "point 1 16 2"},
		{12, "planned 2 0 2 0"},
		{12, "planned 0 2 2 0"},
		{12, "planned 0 0 0 0"},
		{12, "planned 0 0 33 0"},
		{12, "planned 0 0 2 4294967296"},
		{12, "planned 0 0 2"},
		{13, "source 2 0 -1 string string 0 - 0 -"},
		{13, "source 1 129 -1 string string 0 - 0 -"},
		{13, "source 1 -2 -1 string string 0 - 0 -"},
		{13, "source 1 0 -1 u7 string 0 - 0 -"},
		{13, "source 1 0 -1 string u7 0 - 0 -"},
		{13, "source 1 0 -1 string string 65 - 0 -"},
		{13, "source 1 0 -1 string string 0 x 0 -"},
		{13, "source 1 0 -1 string string 0 18446744073709551616 0 -"},
		{13, "source 1 0 -1 string string 0 - 2 -"},
		{13, "source 1 0 -1 string string 0 - 0"},
		{18, "event es_0"},
		{18, "event es_0 2"},
		{18, "event - 0"},
		{18, "event a-b 0"},
		{18, "event "
		     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz0123456789ab 0"},
		{19, "field"},
		{20, "place 3 0"},
		{20, "place -1 0"},
		{20, "place 0"},
		{20, "place 0 2"},
		{22, "place 2 1"},
		{23, "place 2 0"}, /* the same low bits */
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		unsigned int bad = load_with(cases[i].line, cases[i].text);
		ck_assert_msg(bad == cases[i].line, "'%s': line %u", cases[i].text, bad);
	}
}
END_TEST

START_TEST(lines_need_what_comes_before_them)
{
	static const char *const cases[] = {
		"",
		"\n",
		"other\n",
		"group g\nnopwatch-plan 1\n",
		"nopwatch-plan 1\narg a u8\n",
		"nopwatch-plan 1\npoint 1 1 0\n",
		"nopwatch-plan 1\nprobe 0 0 p a p:a 1\n",
		"nopwatch-plan 1\nplanned 0 0 1 0\n",
		"nopwatch-plan 1\nsource 0 0 -1 - - 0 - 0 -\n",
		"nopwatch-plan 1\nfield a\n",
		"nopwatch-plan 1\nplace 0 0\n",
		"nopwatch-plan 1\nimage /x\nprobe 0 0 p a p:a 1\nplanned 0 0 1 0\n",
		"nopwatch-plan 1\nimage /x\nprobe 0 0 p a p:a 1\npoint 1 1 0\n"
		"planned 0 0 1 0\nsource 0 0 -1 - - 0 - 0 -\n", /* it has no arguments */
		"nopwatch-plan 1\nimage /x\nprobe 0 0 p a p:a 1\npoint 1 1 0\n"
		"planned 0 0 1 0\nplace 0 0\n", /* no event */
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++)
		ck_assert_msg(load(cases[i], strlen(cases[i])) > 0, "%s", cases[i]);
	static const char zero[] = "nopwatch-plan 1\n\0group -\n";
	ck_assert_uint_eq(load(zero, sizeof(zero) - 1), 0); /* nothing behind a NUL */
}
END_TEST

START_TEST(an_event_has_at_most_so_many_fields)
{
	for (unsigned int count = NW_MAX_FIELDS; count <= NW_MAX_FIELDS + 1; count++) {
		struct nw_buf text = {0};
		nw_buf_adds(&text, "nopwatch-plan 1\nevent e 0\n");
		for (unsigned int i = 0; i < count; i++)
			nw_buf_printf(&text, "field f%u\n", i);
		ck_assert_uint_eq(load(nw_buf_str(&text), text.len),
				  count == NW_MAX_FIELDS ? 0 : 2 + count);
		nw_buf_free(&text);
	}
}
END_TEST

START_TEST(a_text_cut_anywhere_does_no_harm)
{
	for (size_t len = 0; len < sizeof(good); len++) {
		unsigned int bad = load(good, len), line = 1;
		for (size_t i = 0; i < len; i++)
			line += good[i] == '\n';
		/* only the line that was cut can be bad; the first is needed whole */
		ck_assert_msg(bad == 0 || bad == line, "%zu: line %u", len, bad);
		if (len < 15)
			ck_assert_uint_eq(bad, 1);
		else if (len == 15 || good[len - 1] == '\n')
			ck_assert_uint_eq(bad, 0);
	}
	for (unsigned int i = 1; i <= 23; i++) /* one line less */
		load_with(i, "");
	ck_assert_uint_eq(load_with(1, ""), 2);
	ck_assert_uint_eq(load_with(3, ""), 10); /* there is no image 1 then */
}
END_TEST

START_TEST(a_text_changed_anywhere_does_no_harm)
{
	static const char letters[] = "0123456789- %\nabcdefxu[]";
	static const char *const wild[] = {
		"4294967295", "18446744073709551615",  "-1", "0x10",
		"2147483648", "999999999999999999999", "",   "-"};
	uint64_t state = 21;
	unsigned int loaded = 0;

	for (int i = 0; i < 100000; i++) {
		char text[sizeof(good) + 64];
		memcpy(text, good, sizeof(good));
		for (uint64_t n = unit_random(&state) % 4; n > 0; n--)
			text[unit_random(&state) % strlen(text)] =
				letters[unit_random(&state) % (sizeof(letters) - 1)];
		if (i % 2) { /* and a word becomes a wild number */
			const char *word = wild[unit_random(&state) % NW_COUNT(wild)];
			char *at = strchr(text + unit_random(&state) % (strlen(text) - 16),
					  ' ');
			if (at) {
				size_t old = strcspn(at + 1, " \n"), len = strlen(word);
				memmove(at + 1 + len, at + 1 + old,
					strlen(at + 1 + old) + 1);
				memcpy(at + 1, word, len);
			}
		}
		loaded += load(text, strlen(text)) == 0;
	}
	ck_assert_uint_gt(loaded, 10000);
}
END_TEST

UNIT_MAIN("hostile plans", a_good_text_is_loaded, a_bad_line_is_named,
	  lines_need_what_comes_before_them, an_event_has_at_most_so_many_fields,
	  a_text_cut_anywhere_does_no_harm, a_text_changed_anywhere_does_no_harm)
