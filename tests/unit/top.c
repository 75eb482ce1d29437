// SPDX-License-Identifier: MIT
/* top: rows and keys go in, cells come out, and a terminal that is sent them shows them. */
#include "show/top/top.h"

#include "show/top/canvas.h"
#include "show/top/model.h"
#include "unit.h"

static const uint64_t second = 1000000000;
static struct nw_top top;
static struct nw_top_view view;
static struct nw_canvas canvas;

static void setup(void)
{
	nw_top_open(&top, second, second / 2, 0);
}

static void teardown(void)
{
	nw_top_free(&top);
	nw_canvas_free(&canvas);
}

/* So many spans or gaps of the same length, in the interval that is being told. */
static void add_group(bool is_span, uint32_t index, const char *name, uint32_t group,
		      const char *group_name, uint64_t count, uint64_t ns)
{
	struct nw_histogram times = {0};

	for (uint64_t i = 0; i < count; i++)
		nw_histogram_add(&times, ns);
	const struct nw_top_entry entry = {.is_span = is_span,
					   .index = index,
					   .group = group,
					   .name = name,
					   .group_name = group_name,
					   .count = count,
					   .times = &times};
	ck_assert_int_eq(nw_top_add(&top, &entry), 0);
	nw_histogram_free(&times);
}

static void add(bool is_span, uint32_t index, const char *name, uint64_t count, uint64_t ns)
{
	add_group(is_span, index, name, 0, NULL, count, ns);
}

/* The next half second. */
static void next(void)
{
	nw_top_next(&top, top.end, top.end + second / 2);
}

/* Writes what the canvas shows, as lines of text without blanks at their ends. */
static void write_lines(struct nw_buf *out)
{
	for (size_t y = 0; y < canvas.rows; y++) {
		const struct nw_glyph *row = canvas.glyph + y * canvas.columns;
		size_t last = canvas.columns;
		char bytes[4];
		while (last > 0 && !row[last - 1].code)
			last--;
		for (size_t x = 0; x < last; x++)
			nw_buf_add(out, bytes,
				   nw_utf8_encode(row[x].code ? row[x].code : ' ', bytes));
		nw_buf_addc(out, '\n');
	}
}

static char *draw(size_t columns, size_t rows)
{
	struct nw_buf out = {0};

	ck_assert_int_eq(nw_canvas_reset(&canvas, columns, rows), 0);
	ck_assert_int_eq(nw_top_draw(&top, &view, &canvas), 0);
	write_lines(&out);
	return nw_buf_take(&out);
}

/* Is this in the picture? */
static void expect(size_t columns, size_t rows, const char *text)
{
	char *picture = draw(columns, rows);

	ck_assert_msg(strstr(picture, text) != NULL, "no '%s' in:\n%s", text, picture);
	free(picture);
}

static void expect_not(size_t columns, size_t rows, const char *text)
{
	char *picture = draw(columns, rows);

	ck_assert_msg(strstr(picture, text) == NULL, "'%s' in:\n%s", text, picture);
	free(picture);
}

/* Does the one come before the other? */
static void expect_order(const char *first, const char *then)
{
	char *picture = draw(80, 24);
	const char *a = strstr(picture, first), *b = strstr(picture, then);

	ck_assert_msg(a && b && a < b, "not '%s' before '%s' in:\n%s", first, then,
		      picture);
	free(picture);
}

static enum nw_top_action press(uint32_t key)
{
	return nw_top_press(&view, &top, key);
}

static enum nw_top_action type(const char *text)
{
	enum nw_top_action action = NW_TOP_NOTHING;

	for (; *text; text++)
		action = press((unsigned char)*text);
	return action;
}

/* ---- a terminal --------------------------------------------------------------------- */

/* Just so much of one as is written to: CUP, SGR, ED, and characters. */
struct vt {
	uint32_t cell[64][64];
	uint8_t style[64][64];
	size_t x, y;
	uint8_t now;
};

static void vt_sgr(struct vt *vt, const char *parameters)
{
	for (const char *at = parameters; *at;) {
		long n = strtol(at, (char **)&at, 10);
		at += *at == ';';
		ck_assert(n == 0 || n == 1 || n == 2 || n == 7 || (n >= 30 && n <= 37));
		vt->now = n == 0   ? 0
			  : n == 1 ? vt->now | NW_GLYPH_BOLD
			  : n == 2 ? vt->now | NW_GLYPH_DIM
			  : n == 7 ? vt->now | NW_GLYPH_REVERSE
				   : (uint8_t)(vt->now | NW_GLYPH_COLOR | (n - 30));
	}
}

static void vt_play(struct vt *vt, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		if (text[i] != '\033') {
			uint32_t code;
			size_t bytes = nw_utf8_decode((const unsigned char *)text + i,
						      len - i, &code);
			ck_assert_uint_gt(bytes, 0);
			ck_assert(!nw_is_control(code));
			vt->cell[vt->y][vt->x] = code == ' ' ? 0 : code;
			vt->style[vt->y][vt->x++] = vt->now;
			i += bytes;
			continue;
		}
		char parameters[32] = "";
		size_t used = 0;
		ck_assert_int_eq(text[i + 1], '[');
		for (i += 2; text[i] < 0x40; i++)
			parameters[used++] = text[i];
		if (text[i] == 'm')
			vt_sgr(vt, parameters);
		else if (text[i] == 'H' && !*parameters)
			vt->x = vt->y = 0;
		else if (text[i] == 'H')
			ck_assert_int_eq(sscanf(parameters, "%zu;%zu", &vt->y, &vt->x), 2);
		else
			ck_assert_int_eq(text[i], 'J');
		if (text[i] == 'H' && *parameters)
			vt->x--, vt->y--;
		if (text[i] == 'J')
			memset(vt, 0, sizeof(*vt));
		i++;
	}
}

static void vt_expect(const struct vt *vt, const struct nw_canvas *wanted)
{
	for (size_t y = 0; y < wanted->rows; y++)
		for (size_t x = 0; x < wanted->columns; x++) {
			const struct nw_glyph *glyph =
				&wanted->glyph[y * wanted->columns + x];
			ck_assert_uint_eq(vt->cell[y][x], glyph->code);
			ck_assert_uint_eq(vt->style[y][x], glyph->style);
		}
}

START_TEST(a_terminal_shows_what_is_drawn)
{
	static const uint32_t codes[] = {0, 'a', 'b', 0xe9, 0x2588, 0x4e2d, 0x1f600};
	static const uint8_t styles[] = {0, NW_GLYPH_BOLD, NW_GLYPH_COLOR | 1,
					 NW_GLYPH_REVERSE | NW_GLYPH_COLOR | 4};
	struct nw_canvas before = {0}, after = {0};
	struct vt vt = {0};
	uint64_t random = 1;

	for (int round = 0; round < 500; round++) {
		struct nw_buf out = {0};
		size_t columns = round % 50 ? before.columns
					    : 1 + unit_random(&random) % 40;
		size_t rows = round % 50 ? before.rows : 1 + unit_random(&random) % 20;
		ck_assert_int_eq(nw_canvas_reset(&after, columns, rows), 0);
		if (columns == before.columns && rows == before.rows)
			memcpy(after.glyph, before.glyph,
			       columns * rows * sizeof(*after.glyph));
		for (int i = 0; i < 30; i++)
			nw_canvas_put(&after, unit_random(&random) % columns,
				      unit_random(&random) % rows,
				      codes[unit_random(&random) % NW_COUNT(codes)],
				      styles[unit_random(&random) % NW_COUNT(styles)]);
		nw_canvas_diff(&before, &after, true, &out);
		vt_play(&vt, nw_buf_str(&out), out.len);
		vt_expect(&vt, &after);
		nw_buf_clear(&out);
		nw_canvas_diff(&after, &after, true, &out);
		ck_assert_uint_eq(out.len, 0);
		struct nw_canvas swap = before;
		before = after;
		after = swap;
		nw_buf_free(&out);
	}
	nw_canvas_free(&before);
	nw_canvas_free(&after);
}
END_TEST

START_TEST(without_colours_none_are_sent)
{
	struct nw_canvas none = {0};
	struct nw_buf out = {0};

	nw_canvas_reset(&canvas, 4, 1);
	nw_canvas_put(&canvas, 0, 0, 'x', NW_GLYPH_COLOR | 1 | NW_GLYPH_BOLD);
	nw_canvas_diff(&none, &canvas, false, &out);
	ck_assert_str_eq(nw_buf_str(&out), "\033[0m\033[H\033[J\033[1;1H\033[0;1mx\033[0m");
	nw_buf_free(&out);
	nw_canvas_free(&canvas);
}
END_TEST

/* ---- keys --------------------------------------------------------------------------- */

START_TEST(keys_are_what_terminals_send)
{
	static const struct {
		const char *bytes;
		uint32_t keys[4];
	} cases[] = {
		{"q", {'q'}},
		{"\033[A\033OB", {NW_PRESS_UP, NW_PRESS_DOWN}},
		{"\033[5~\033[6~", {NW_PRESS_PAGE_UP, NW_PRESS_PAGE_DOWN}},
		{"\033[H\033[1~\033OH", {NW_PRESS_HOME, NW_PRESS_HOME, NW_PRESS_HOME}},
		{"\033[F\033[4~", {NW_PRESS_END, NW_PRESS_END}},
		{"\r\n", {NW_PRESS_ENTER, NW_PRESS_ENTER}},
		{"\177\010", {NW_PRESS_BACKSPACE, NW_PRESS_BACKSPACE}},
		{"\033", {NW_PRESS_ESCAPE}},
		{"\033x", {NW_PRESS_ESCAPE, 'x'}},
		{"\303\251", {0xe9}},
		{"\033[1;5Aq", {NW_PRESS_OTHER, 'q'}}, /* Ctrl-up */
		{"\033[[Aq", {NW_PRESS_OTHER, 'q'}},   /* the console's F1 */
		{"\033[200~", {NW_PRESS_OTHER}},
		{"\fq", {NW_PRESS_REDRAW, 'q'}},
		{"\377\001q", {NW_PRESS_OTHER, NW_PRESS_OTHER, 'q'}},
		{"a\033[", {'a'}}, /* the rest is still to come */
		{"\033[1", {0}},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		const char *bytes = cases[i].bytes;
		size_t at = 0;
		for (size_t j = 0; j < 4; j++)
			ck_assert_uint_eq(nw_press_next((const unsigned char *)bytes,
							strlen(bytes), &at),
					  cases[i].keys[j]);
	}
}
END_TEST

START_TEST(any_bytes_come_to_an_end)
{
	uint64_t random = 2;

	for (int round = 0; round < 20000; round++) {
		unsigned char bytes[24];
		size_t at = 0, len = unit_random(&random) % sizeof(bytes);
		static const unsigned char some[] = "\033[O;1~A";
		for (size_t i = 0; i < len; i++)
			bytes[i] = unit_random(&random) % 2
					   ? some[unit_random(&random) % 7]
					   : (unsigned char)unit_random(&random);
		size_t before = SIZE_MAX;
		while (nw_press_next(bytes, len, &at)) {
			ck_assert_uint_ne(at, before);
			before = at;
		}
		ck_assert_uint_le(at, len);
	}
}
END_TEST

/* ---- rows --------------------------------------------------------------------------- */

START_TEST(bins_are_two_a_power_of_two)
{
	ck_assert_uint_eq(nw_top_bin(0), 0);
	ck_assert_uint_eq(nw_top_bin(127), 1);
	ck_assert_uint_eq(nw_top_bin(128), 2);
	ck_assert_uint_eq(nw_top_bin(191), 2);
	ck_assert_uint_eq(nw_top_bin(192), 3);
	ck_assert_uint_eq(nw_top_bin(UINT64_MAX), NW_TOP_BINS - 1);
	for (unsigned int i = 1; i < NW_TOP_BINS; i++) {
		ck_assert_uint_eq(nw_top_bin(nw_top_bin_start(i)), i);
		ck_assert_uint_eq(nw_top_bin(nw_top_bin_start(i) - 1), i - 1);
	}
	for (uint64_t count = 0; count < 1000; count++) {
		uint64_t back = nw_top_unshade(nw_top_shade(count));
		ck_assert_uint_le(back, count + count / 16 + 1);
		ck_assert_uint_ge(back + count / 16 + 1, count);
		ck_assert(!back == !count);
	}
}
END_TEST

START_TEST(the_last_interval_and_everything)
{
	next();
	add(true, 0, "app:request", 100, 1000000);
	next();
	add(true, 0, "app:request", 10, 2000000);
	ck_assert_uint_eq(top.rows.count, 1);
	const struct nw_top_row *row = top.rows.item[0];
	ck_assert_uint_eq(row->last.count, 10);
	ck_assert_uint_eq(row->total.count, 110);
	ck_assert_uint_eq(row->total.times.max, 2000000);
	expect(80, 24, "app:request    110/s  1.01ms  2.00ms  2.00ms");
	expect(80, 24, "the whole run");
	press('i');
	expect(80, 24, "app:request     20/s  2.00ms  2.00ms  2.00ms");
	expect(80, 24, "the last 500ms");
	next();
	expect(80, 24, "app:request      0/s       -       -       -");
	press('i');
	expect(80, 24, "app:request     73/s");
}
END_TEST

START_TEST(a_minute_is_remembered)
{
	next();
	add(true, 0, "span", 5, 1000);
	const struct nw_top_row *row = top.rows.item[0];
	uint64_t slot = top.slot;
	ck_assert_uint_eq(row->slots[slot % NW_TOP_SLOTS].count, 5);
	for (int i = 1; i < NW_TOP_SLOTS; i++)
		next();
	ck_assert_uint_eq(top.slot, slot + NW_TOP_SLOTS - 1);
	ck_assert_uint_eq(row->slots[slot % NW_TOP_SLOTS].count, 5);
	next();
	ck_assert_ptr_null(row->slots); /* a row that does nothing costs little */
	/* time may jump */
	add(true, 0, "span", 1, 1000);
	nw_top_next(&top, top.end, top.end + 3600 * second);
	ck_assert_ptr_null(row->slots);
	ck_assert_uint_eq(row->total.count, 6);
}
END_TEST

START_TEST(short_intervals_share_a_slot)
{
	teardown();
	nw_top_open(&top, 0, second / 100, 0);
	for (int i = 0; i < 50; i++) {
		nw_top_next(&top, top.end, top.end + second / 100);
		add(true, 0, "span", 3, 1000);
	}
	const struct nw_top_row *row = top.rows.item[0];
	ck_assert_uint_eq(top.slot, 1);
	ck_assert_uint_eq(row->slots[1].count, 150);
	ck_assert_uint_eq(row->slots[1].bins[nw_top_bin(1000)], nw_top_shade(150));
}
END_TEST

START_TEST(slots_hold_all_of_the_time)
{
	nw_top_open(&top, 0, 1, 10 * NW_TOP_SLOTS);
	ck_assert_uint_eq(top.slot_ns, 10);
	nw_top_open(&top, 0, 1, 10 * NW_TOP_SLOTS + 1);
	ck_assert_uint_eq(top.slot_ns, 11);
	nw_top_open(&top, 0, 1, 0);
	ck_assert_uint_eq(top.slot_ns * NW_TOP_SLOTS, 60 * second);
}
END_TEST

START_TEST(rows_have_a_limit)
{
	char name[16];

	for (int round = 0; round < 2; round++) {
		next();
		for (uint32_t i = 0; i < NW_TOP_ROWS + 7; i++) {
			snprintf(name, sizeof(name), "g%u", i);
			add_group(false, 0, "probe", i, name, 0, 0);
		}
		ck_assert_uint_eq(top.rows.count, NW_TOP_ROWS);
		ck_assert_uint_eq(top.unwatched, 7);
	}
	expect(120, 24, "7 more rows not watched");
}
END_TEST

START_TEST(a_copy_stands_still)
{
	struct nw_top copy, live;

	next();
	add(true, 0, "span", 5, 1000);
	ck_assert_int_eq(nw_top_copy(&top, &copy), 0);
	next();
	add(true, 0, "span", 7, 1000);
	add(true, 1, "new", 1, 1000);
	ck_assert_uint_eq(copy.rows.count, 1);
	ck_assert_uint_eq(copy.rows.item[0]->total.count, 5);
	ck_assert_uint_eq(copy.rows.item[0]->slots[top.slot % NW_TOP_SLOTS].count, 0);
	live = top;
	top = copy;
	view.paused = true;
	expect(80, 24, "PAUSED");
	expect(80, 24, " 10/s ");
	top = live;
	nw_top_free(&copy);
}
END_TEST

/* ---- pictures ----------------------------------------------------------------------- */

START_TEST(a_picture_of_80_by_24)
{
	view.ascii = true;
	next();
	add(true, 0, "app:request", 98, 1000);
	add(false, 3, "app:done", 98, 20000);
	next();
	add(true, 0, "app:request", 2, 1000000);
	top.hits = 196;
	top.cost = 0.013;
	char *picture = draw(80, 24);
	ck_assert_str_eq(picture,
			 "1.00s  0 lost  196 hits, 196/s  cost 1.3 % of a CPU  the whole "
			 "run\n"
			 "SPAN            RATE     P50     P99     MAX LAST MINUTE     1us "
			 "  10us  100us\n"
			 "app:request    100/s  1.00us  1.00ms  1.00ms              @  @   "
			 "              -\n"
			 "PROBE           RATE     P50     P99     MAX LAST MINUTE         "
			 "100us 1ms\n"
			 "app:done        98/s  20.0us  20.0us  20.0us              @ @\n"
			 "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"
			 "q quit  ? help  s sort  i interval  space pause  / filter  b "
			 "group by  w report\n");
	free(picture);
}
END_TEST

/* Every span is in a line, and the lines are as many as fit. */
START_TEST(a_histogram_fits_its_pane)
{
	for (unsigned int i = 0; i < 20; i++) {
		next();
		add(true, 0, "app:request", 1, 1000ULL << i);
	}
	view.ascii = true;
	press(NW_PRESS_ENTER);
	expect(80, 24,
	       " 201ms         2 #################################################  p99\nq quit");
	expect(80, 24, " 768ns         2 #");
	expect(80, 16,
	       " 134ms         2 ########################                           p99\nq quit");
	expect(80, 16, " 768ns         4 #");
	expect(80, 30, " 67.1ms         1 #"); /* 39 bins in 13 lines */
}
END_TEST

START_TEST(small_terminals_get_what_fits)
{
	next();
	add(true, 0, "app:request", 98, 1000);
	add(false, 0, "app:done", 98, 1000);
	expect(20, 5, "SPAN            P99\napp:request  1.00us\n");
	expect(19, 5, "too small: 19x5 of\n");
	expect(40, 4, "too small: 40x4 of 20x5\n");
	expect(1, 1, "t\n");
	for (size_t columns = 1; columns < 220; columns++)
		free(draw(columns, 3 + columns % 30));
}
END_TEST

START_TEST(nothing_has_happened)
{
	expect(80, 24, "nothing has happened yet");
	top.over = true;
	expect(80, 24, "nothing has happened\n");
	for (enum nw_top_pane pane = NW_PANE_NONE; pane <= NW_PANE_HELP; pane++) {
		view.pane = pane;
		free(draw(80, 24));
	}
	view.pane = NW_PANE_NONE;
	press(NW_PRESS_DOWN);
	press('s');
}
END_TEST

START_TEST(names_are_hostile)
{
	next();
	add_group(true, 0, "a\033[2J\"x", 0, "<\n\x9b>\x1fy\xff", 1, 1000);
	add(true, 1, "\xe4\xb8\xad\xe6\x96\x87", 1, 1000);
	char *picture = draw(120, 24);
	ck_assert_ptr_nonnull(strstr(picture, "a\\x1b[2J\\\"x <\\n\\x9b>,y\\xff"));
	ck_assert_ptr_nonnull(strstr(picture, "\xe4\xb8\xad\xe6\x96\x87"));
	for (const char *at = picture; *at; at++)
		ck_assert((unsigned char)*at >= ' ' || *at == '\n');
	free(picture);
	view.ascii = true;
	expect(80, 24, "??    ");
}
END_TEST

START_TEST(rows_are_sorted_by_what_is_asked_for)
{
	static const struct {
		enum nw_sort sort;
		const char *first, *then;
		/* what 80 columns show of the order, also without colours */
		const char *mark;
	} cases[] = {
		{NW_SORT_DEFAULT, "slow", "often", "the whole run\n"},
		{NW_SORT_HITS, "often", "slow", "the whole run  sorted by hits\n"},
		{NW_SORT_RATE, "often", "slow", " RATE* "},
		{NW_SORT_MEAN, "slow", "often", "the whole run  sorted by mean\n"},
		{NW_SORT_P50, "slow", "often", " P50* "},
		{NW_SORT_P99, "slow", "often", " P99* "},
		{NW_SORT_MAX, "slow", "often", " MAX* "},
		{NW_SORT_NAME, "often", "slow", "\nSPAN* "},
	};

	next();
	add(true, 0, "slow", 10, 9000000);
	add(true, 1, "often", 500, 1000);
	add(false, 0, "a-probe", 9999, 1);
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		ck_assert_int_eq(view.sort, cases[i].sort);
		expect_order(cases[i].first, cases[i].then);
		expect_order("often", "a-probe");
		expect(80, 24, cases[i].mark);
		if (!strchr(cases[i].mark, '*'))
			expect_not(80, 24, "*");
		press('s');
		ck_assert_int_eq(strncmp(view.message, "sorted by ", 10), 0);
	}
	ck_assert_int_eq(view.sort, NW_SORT_DEFAULT);
	press('S');
	ck_assert_int_eq(view.sort, NW_SORT_NAME);
	/* wide screens have the column */
	view.sort = NW_SORT_MEAN;
	expect(130, 24, " MEAN* ");
	expect_not(130, 24, "sorted by mean");
}
END_TEST

START_TEST(the_cursor_stays_with_its_row)
{
	next();
	add(true, 0, "slow", 10, 9000000);
	add(true, 1, "often", 500, 1000);
	add(false, 0, "probe", 1, 1000);
	press(NW_PRESS_DOWN);
	press('h');
	expect(80, 24, "often: latency, 500 spans, p50 1.00us");
	/* a percentile that has no room is left out, not cut */
	expect(60, 24, "often: latency, 500 spans, p50 1.00us, p90 1.00us");
	expect_not(60, 24, ", p99");
	next();
	add(true, 1, "often", 500, 900000000);
	expect_order("often", "slow");
	expect(80, 24, "often: latency, 1000 spans");
	press(NW_PRESS_END);
	expect(80, 24, "probe: gaps between hits, 1 gap");
	press(NW_PRESS_DOWN);
	expect(80, 24, "probe: gaps");
	press(NW_PRESS_HOME);
	press('m');
	expect(80, 24, "often: latency over time");
	expect(80, 24, "now\n");
	press(NW_PRESS_ESCAPE);
	expect_not(80, 24, "over time");
}
END_TEST

START_TEST(more_rows_than_lines_are_scrolled)
{
	char name[16];

	next();
	for (uint32_t i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "span%02u", i);
		add(true, i, name, 100 - i, 1000);
	}
	view.sort = NW_SORT_NAME;
	expect(80, 24, "span20");
	expect_not(80, 24, "span21");
	press(NW_PRESS_PAGE_DOWN);
	expect(80, 24, "span21");
	expect_not(80, 24, "span00");
	press(NW_PRESS_END);
	expect(80, 24, "span99");
	expect(80, 24, "SPAN");
	expect(80, 50, "span99"); /* the screen has grown */
	expect(80, 50, "span60");
	press(NW_PRESS_HOME);
	expect(80, 24, "span00");
}
END_TEST

START_TEST(names_are_filtered_while_they_are_typed)
{
	next();
	add(true, 0, "app:request", 1, 1000);
	add(true, 1, "app:parse", 1, 1000);
	add_group(true, 1, "app:parse", 1, "GET", 1, 1000);
	press('/');
	type("par");
	expect(80, 24, "names like: par_");
	expect(80, 24, "app:parse");
	expect_not(80, 24, "app:request");
	press(NW_PRESS_ENTER);
	expect(80, 24, "like 'par'");
	press('/');
	press(NW_PRESS_BACKSPACE);
	press(NW_PRESS_BACKSPACE);
	press(NW_PRESS_BACKSPACE);
	type("*quest");
	expect(80, 24, "app:request");
	expect_not(80, 24, "app:parse");
	press(NW_PRESS_ESCAPE);
	expect(80, 24, "app:parse");
	press('/');
	type("GET");
	press(NW_PRESS_ENTER);
	expect(80, 24, "app:parse GET");
	press('/');
	type("zzz");
	press(NW_PRESS_ENTER);
	expect(80, 24, "no name is like that");
	press(NW_PRESS_ESCAPE);
	expect(80, 24, "app:request");
}
END_TEST

START_TEST(what_is_typed_is_asked_for)
{
	view.keys = "tid, pid";
	ck_assert_int_eq(press('b'), NW_TOP_NOTHING);
	expect(80, 24, "group by (tid, pid): _");
	ck_assert_int_eq(type("q"), NW_TOP_NOTHING); /* no key now */
	press(NW_PRESS_BACKSPACE);
	press(NW_PRESS_BACKSPACE);
	type("cp");
	press(0xe9);
	press(NW_PRESS_BACKSPACE);
	type("u");
	ck_assert_int_eq(press(NW_PRESS_ENTER), NW_TOP_GROUP);
	ck_assert_str_eq(view.input, "cpu");
	press('w');
	expect(80, 24, "write a report to: nopwatch.html_");
	ck_assert_int_eq(press(NW_PRESS_ESCAPE), NW_TOP_NOTHING);
	press('w');
	ck_assert_int_eq(press(NW_PRESS_ENTER), NW_TOP_REPORT);
	ck_assert_str_eq(view.input, "nopwatch.html");
	press('w');
	for (int i = 0; i < 1000; i++)
		type("0123456789");
	expect(80, 24, "78901_\n");
	expect(20, 5, "_\n");
	press(NW_PRESS_ESCAPE);
	ck_assert_int_eq(press(' '), NW_TOP_PAUSE);
	ck_assert(view.paused);
	ck_assert_int_eq(press('q'), NW_TOP_QUIT);
}
END_TEST

START_TEST(help_names_the_keys)
{
	press('?');
	expect(80, 24, "show its heat map");
	expect(80, 24, "q, Ctrl-C           quit");
	/* no line of it is cut on a usual terminal */
	char *usual = draw(80, 24), *wide = draw(200, 24);
	char *at = strchr(usual, '\n'), *in_wide = strchr(wide, '\n');
	*strstr(at, "\nq quit") = *strstr(in_wide, "\nq quit") = '\0';
	ck_assert_str_eq(at, in_wide);
	free(usual);
	free(wide);
	press('?');
	expect_not(80, 24, "show its heat map");
}
END_TEST

/* The title goes on in a second line if 80 columns are too few for it, but not on a screen of few lines. */
START_TEST(a_title_may_have_two_lines)
{
	next();
	add(false, 0, "app:done", 98, 20000);
	top.hits = 123456789;
	top.lost = 1234;
	top.cost = 0.113;
	view.paused = true;
	view.by = "status";
	expect(80, 24,
	       "500ms  1234 lost  PAUSED  123456789 hits, 247M/s  cost 11.3 % of a CPU\n"
	       "the whole run  by status\nPROBE ");
	expect(80, 15, "% of a CPU\nPROBE ");
	press('?');
	expect(80, 24, "the whole run  by status\nup, down");
}
END_TEST

START_TEST(pictures_have_the_characters_that_there_are)
{
	next();
	for (int i = 1; i < 200; i++)
		add(true, 0, "span", (uint64_t)i, (uint64_t)i * 1000);
	static const char *const panes = "hm";
	for (const char *pane = panes; *pane; pane++) {
		press((unsigned char)*pane);
		view.ascii = true;
		char *picture = draw(80, 24);
		for (const char *at = picture; *at; at++)
			ck_assert((unsigned char)*at < 0x7f);
		free(picture);
		view.ascii = false;
		view.console = true; /* code page 437's */
		ck_assert_int_eq(nw_canvas_reset(&canvas, 80, 24), 0);
		ck_assert_int_eq(nw_top_draw(&top, &view, &canvas), 0);
		for (size_t i = 0; i < 80 * 24; i++) {
			uint32_t code = canvas.glyph[i].code;
			ck_assert(code < 0x7f || code == 0x2584 || code == 0x2588 ||
				  (code >= 0x2591 && code <= 0x2593));
		}
		view.console = false;
	}
}
END_TEST

START_TEST(any_keys_at_any_size)
{
	static const uint32_t keys[] = {'s',
					'S',
					'i',
					't',
					'h',
					'm',
					'?',
					'/',
					'b',
					'w',
					' ',
					'a',
					'*',
					0x4e2d,
					NW_PRESS_UP,
					NW_PRESS_DOWN,
					NW_PRESS_PAGE_DOWN,
					NW_PRESS_PAGE_UP,
					NW_PRESS_HOME,
					NW_PRESS_END,
					NW_PRESS_ENTER,
					NW_PRESS_ESCAPE,
					NW_PRESS_BACKSPACE,
					NW_PRESS_OTHER};
	uint64_t random = 3;
	char name[16];

	for (int round = 0; round < 4000; round++) {
		if (round % 7 == 0)
			next();
		uint32_t number = (uint32_t)(unit_random(&random) % 60);
		snprintf(name, sizeof(name), "name%u", number);
		add(number % 2, number, name, unit_random(&random) % 50,
		    (uint64_t)1 << unit_random(&random) % 45);
		press(keys[unit_random(&random) % NW_COUNT(keys)]);
		free(draw(1 + unit_random(&random) % 210, 1 + unit_random(&random) % 60));
	}
}
END_TEST

UNIT_MAIN_WITH("top", setup, teardown, a_terminal_shows_what_is_drawn,
	       without_colours_none_are_sent, keys_are_what_terminals_send,
	       any_bytes_come_to_an_end, bins_are_two_a_power_of_two,
	       the_last_interval_and_everything, a_minute_is_remembered,
	       short_intervals_share_a_slot, slots_hold_all_of_the_time, rows_have_a_limit,
	       a_histogram_fits_its_pane, a_copy_stands_still, a_picture_of_80_by_24,
	       small_terminals_get_what_fits, nothing_has_happened, names_are_hostile,
	       rows_are_sorted_by_what_is_asked_for, the_cursor_stays_with_its_row,
	       more_rows_than_lines_are_scrolled, names_are_filtered_while_they_are_typed,
	       what_is_typed_is_asked_for, help_names_the_keys, a_title_may_have_two_lines,
	       pictures_have_the_characters_that_there_are, any_keys_at_any_size)
