// SPDX-License-Identifier: MIT
/* stream: the parts of a hit, from events of their own, become one hit again. */
#include "page_builder.h"

/*
 * Probe "many" has three strings, so three events; "two" has two, and its second event was
 * refused by the kernel; "one" and "plain" have one event, "none" has no arguments. "beside"
 * stands at the same place as "many".
 */
static const char plan[] =
	"nopwatch-plan 1\ngroup nopwatch_t\nimage /bin/app\n"
	"probe 0 0 p many p:many 1\narg - -\narg - -\narg - -\narg - -\npoint 16 16 0\n"
	"probe 0 0 p two p:two 1\narg - -\narg - -\npoint 32 32 0\n"
	"probe 0 0 p one p:one 1\narg - -\npoint 48 48 0\n"
	"probe 0 0 p none p:none 1\npoint 64 64 0\n"
	"probe 0 0 p beside p:beside 1\narg - -\npoint 16 16 0\n"
	"planned 0 0 3 0\n"
	"source 0 0 -1 string string 0 - 0 -\n"
	"source 1 0 -1 string string 0 - 0 -\n"
	"source 2 0 -1 u8[2] u8[2] 0 - 0 -\n"
	"source 0 -1 -1 - u8 0 7 0 -\n"
	"planned 1 0 2 2\n"
	"source 0 0 -1 string string 0 - 0 -\n"
	"source 1 0 -1 string string 0 - 0 the%20kernel%20refused\n"
	"planned 2 0 1 0\nsource 0 0 -1 string string 0 - 0 -\n"
	"planned 3 0 1 0\n"
	"planned 4 0 1 0\nsource 0 0 -1 string string 0 - 0 -\n"
	"event e0 0\nfield a0\nplace 0 0\nplace 1 0\nplace 2 0\n"
	"event e1 0\nfield a0\nplace 0 1\n"
	"event e2 0\nfield a0\nplace 0 2\n"
	"event e3 0\nplace 3 0\n"
	"event e4 0\nfield a0\nplace 4 0\n";
static const struct fake_format formats[] = {{"e0", 10, "a0:string"},
					     {"e1", 11, "a0:string"},
					     {"e2", 12, "a0:u8[2]"},
					     {"e3", 13, ""},
					     {"e4", 14, "a0:string"}};

enum {
	MANY,
	TWO,
	ONE,
	NONE,
	BESIDE
};

static struct fake fake;
static struct nw_join *join;
static struct nw_hit got;
static struct nw_buf seen; /* what came out, as text */

static void setup(void)
{
	fake_open(&fake, plan, formats, NW_COUNT(formats), page_layout(256, 8));
	ck_assert_int_eq(nw_join_open(&fake.formats, true, &join), 0);
}

static void teardown(void)
{
	nw_join_free(join);
	nw_buf_free(&seen);
	fake_close(&fake);
}

static void describe(const struct nw_value *value)
{
	if (value->kind == NW_VALUE_STRING)
		nw_buf_printf(&seen, " %.*s", (int)value->len, value->text);
	else if (value->kind == NW_VALUE_ARRAY)
		nw_buf_printf(&seen, " {%" PRIu64 ",%" PRIu64 "}",
			      nw_value_element(value, 0), nw_value_element(value, 1));
	else if (value->kind == NW_VALUE_MISSING)
		nw_buf_printf(&seen, " (%s)", value->text);
	else
		nw_buf_printf(&seen, " %" PRIu64, value->number);
}

/* "TIME TID PROBE VALUES...;" */
static void describe_hit(void)
{
	nw_buf_printf(&seen, "%" PRIu64 " %d %s", got.time, got.tid,
		      fake.selection.probes.item[got.probe]->name);
	ck_assert_uint_eq(got.planned, got.probe);
	ck_assert_uint_eq(got.cpu, 3);
	for (size_t i = 0; i < got.value_count; i++)
		describe(&got.values[i]);
	nw_buf_addc(&seen, ';');
}

/* A record whose text is gone as soon as the next one comes; true: there is a hit. */
static bool push_record(uint64_t time, int32_t tid, uint32_t planned, uint32_t part,
			const char *text)
{
	static unsigned char bytes[64];
	static const uint32_t events[][3] = {{0, 1, 2}, {0, 1}, {0}, {3}, {4}};
	struct nw_record record = {.kind = NW_RECORD_HIT,
				   .time = time,
				   .cpu = 3,
				   .tid = tid,
				   .planned = planned,
				   .probe = planned,
				   .part = part,
				   .whole = planned != MANY && planned != TWO,
				   .data = bytes};
	uint32_t where = 20 | (uint32_t)(strlen(text) + 1) << 16;

	record.format = fake.formats.events.item[events[planned][part]];
	memset(bytes, 'x', sizeof(bytes));
	fake_hit(bytes, record.format->id, tid, 16, &where, 4);
	strcpy((char *)bytes + 20, text);
	if (planned == MANY && part == 2)
		memcpy(bytes + 16, text, 2); /* no string */
	record.size = (uint32_t)(21 + strlen(text));
	int ret = nw_join_push(join, &record, &got);
	ck_assert_int_ge(ret, 0);
	memset(bytes, 'y', sizeof(bytes));
	/* what a hit of one part has still lies in the record */
	strcpy((char *)bytes + 20, text);
	return ret;
}

static void push(uint64_t time, int32_t tid, uint32_t planned, uint32_t part,
		 const char *text)
{
	if (push_record(time, tid, planned, part, text))
		describe_hit();
}

static void rest(void)
{
	while (nw_join_rest(join, &got) > 0)
		describe_hit();
	ck_assert_int_eq(nw_join_rest(join, &got), 0);
}

static void lose(const struct nw_record *loss)
{
	while (nw_join_loss(join, loss, &got) > 0)
		describe_hit();
}

/* So much has come out since the last time. */
static void expect(const char *text)
{
	ck_assert_str_eq(nw_buf_str(&seen), text);
	nw_buf_clear(&seen);
}

START_TEST(hits_of_one_part_pass_through)
{
	push(1, 7, ONE, 0, "a");
	expect("1 7 one a;");
	push(2, 7, NONE, 0, "");
	expect("2 7 none;");
	push(3, 8, ONE, 0, "b");
	expect("3 8 one b;");
	rest();
	expect("");
}
END_TEST

START_TEST(parts_make_one_hit_in_whatever_order_they_come)
{
	static const unsigned int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
						 {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	static const char *const texts[] = {"first", "second", "\1\2"};

	for (size_t i = 0; i < NW_COUNT(orders); i++) {
		for (size_t j = 0; j < 3; j++) {
			expect("");
			push(10, 7, MANY, orders[i][j], texts[orders[i][j]]);
		}
		expect("10 7 many first second {1,2} 7;");
	}
	rest();
	expect("");
}
END_TEST

START_TEST(parts_of_several_threads_do_not_mix)
{
	push(1, 7, MANY, 0, "a");
	push(2, 8, MANY, 0, "b");
	push(3, 8, MANY, 1, "bb");
	push(4, 9, ONE, 0, "between");
	expect("4 9 one between;"); /* waits for nobody */
	push(5, 7, MANY, 1, "aa");
	push(6, 7, MANY, 2, "\1\1");
	expect("1 7 many a aa {1,1} 7;");
	push(7, 8, MANY, 2, "\2\2");
	expect("2 8 many b bb {2,2} 7;");
}
END_TEST

START_TEST(a_part_that_the_kernel_refused_is_not_waited_for)
{
	push(1, 7, TWO, 0, "a");
	expect("1 7 two a (the kernel refused);");
	push(2, 7, TWO, 0, "b");
	expect("2 7 two b (the kernel refused);");
}
END_TEST

START_TEST(a_hit_whose_companion_was_lost_comes_with_what_it_has)
{
	push(1, 7, MANY, 0, "a");
	push(2, 7, MANY, 0, "b"); /* the same part again: another hit */
	expect("1 7 many a (lost) (lost) 7;");
	push(3, 7, MANY, 2, "\1\2");
	push(4, 7, MANY, 1, "bb");
	expect("2 7 many b bb {1,2} 7;");
	push(5, 7, MANY, 1, "cc"); /* its first part was lost */
	push(6, 7, MANY, 1, "dd");
	expect("5 7 many (lost) cc (lost) 7;");
	rest();
	expect("6 7 many (lost) dd (lost) 7;");
}
END_TEST

/* The kernel runs the events of a place in this order. */
static void set_order(void)
{
	static const uint32_t order[] = {1, 3, 4, 5, 2};

	for (size_t i = 0; i < NW_COUNT(order); i++)
		fake.formats.events.item[i]->order = order[i];
}

START_TEST(a_hit_without_its_first_part_takes_none_of_the_next_one)
{
	set_order();
	push(1, 7, MANY, 1, "aa"); /* the first part was not armed yet */
	ck_assert_uint_eq(nw_join_missing(join, &got), 0);
	push(2, 7, MANY, 2, "\1\2");
	push(3, 7, MANY, 0, "b");
	expect("1 7 many (lost) aa {1,2} 7;");
	ck_assert_uint_eq(nw_join_missing(join, &got), 1);
	push(4, 7, MANY, 1, "bb");
	push(5, 7, MANY, 2, "\3\4");
	expect("3 7 many b bb {3,4} 7;");
	ck_assert_uint_eq(nw_join_missing(join, &got), 0);
	push(6, 7, MANY, 2, "\5\6"); /* two were lost, and of the next one, too */
	push(7, 7, MANY, 1, "cc");
	expect("6 7 many (lost) (lost) {5,6} 7;");
	ck_assert_uint_eq(nw_join_missing(join, &got), 2);
	push(8, 7, MANY, 0, "d");
	expect("7 7 many (lost) cc (lost) 7;");
	push(9, 7, MANY, 1, "dd");
	push(10, 7, MANY, 2, "\7\7");
	expect("8 7 many d dd {7,7} 7;");
	push(11, 7, ONE, 0, "e");
	expect("11 7 one e;");
	ck_assert_uint_eq(nw_join_missing(join, &got), 0);
	rest();
	expect("");
}
END_TEST

START_TEST(another_probe_at_the_same_place_shows_that_a_hit_has_begun)
{
	set_order();
	push(1, 7, MANY, 0, "a");
	push(2, 7, BESIDE, 0, "x"); /* comes between the first part and the others */
	expect("2 7 beside x;");
	push(3, 7, MANY, 1, "aa");
	push(4, 7, BESIDE, 0, "y"); /* not of the same hit: what is missing is lost */
	expect("1 7 many a aa (lost) 7;");
	push(5, 7, MANY, 1, "bb");
	expect("4 7 beside y;");
	rest();
	expect("5 7 many (lost) bb (lost) 7;");
}
END_TEST

START_TEST(what_a_thread_hits_next_comes_behind_the_hit_that_lacks_parts)
{
	push(1, 7, MANY, 0, "a");
	push(2, 7, ONE, 0, "b");
	expect("1 7 many a (lost) (lost) 7;");
	push(3, 7, ONE, 0, "c"); /* one call late, but in order */
	expect("2 7 one b;");
	push(4, 8, NONE, 0, "");
	expect("3 7 one c;");
	push(5, 7, MANY, 0, "d"); /* a first part makes place */
	expect("4 8 none;");
	push(6, 7, MANY, 1, "dd");
	expect("");
	push(7, 7, TWO, 0, "e");
	expect("5 7 many d dd (lost) 7;");
	rest();
	expect("7 7 two e (the kernel refused);");
}
END_TEST

START_TEST(parts_before_and_behind_a_loss_are_not_taken_for_one_hit)
{
	const struct nw_record loss = {
		.kind = NW_RECORD_LOSS, .cpu = 3, .time = 3, .until = 9};
	const struct nw_record elsewhere = {.kind = NW_RECORD_LOSS, .cpu = 4};

	push(1, 7, MANY, 0, "a");
	push(2, 8, MANY, 0, "b");
	lose(&elsewhere);
	push(3, 7, MANY, 1, "aa");
	expect("");
	lose(&loss);
	expect("1 7 many a aa (lost) 7;2 8 many b (lost) (lost) 7;");
	push(9, 7, MANY, 2, "\1\2"); /* of some later hit */
	rest();
	expect("9 7 many (lost) (lost) {1,2} 7;");
}
END_TEST

START_TEST(a_part_that_the_plan_does_not_have_is_no_hit_of_its_own)
{
	/* as the table of a damaged recording may have it */
	fake.armed.points.item[TWO].refused = 0;
	fake.plan.points.item[TWO].parts = 1;
	fake.plan.points.item[TWO].args.item[1].fetch.problem = NULL;
	push(1, 7, TWO, 1, "a");
	expect("");
	rest();
	expect("1 7 two (lost) a;");
}
END_TEST

START_TEST(another_probe_at_the_same_place_may_come_between_the_parts)
{
	push(1, 7, MANY, 2, "\1\2");
	push(2, 7, BESIDE, 0, "b");
	expect("2 7 beside b;");
	push(3, 7, MANY, 0, "a");
	push(4, 7, BESIDE, 0, "bb");
	expect("4 7 beside bb;");
	push(5, 7, MANY, 1, "aa");
	expect("1 7 many a aa {1,2} 7;");
}
END_TEST

START_TEST(at_the_end_what_waits_comes_out_oldest_first)
{
	for (int32_t tid = 1; tid <= 5; tid++)
		push((uint64_t)tid, tid, MANY, 0, "x");
	push(6, 2, ONE, 0, "y"); /* what 2 waits for is lost, and y comes behind it */
	expect("2 2 many x (lost) (lost) 7;");
	rest();
	expect("6 2 one y;"
	       "1 1 many x (lost) (lost) 7;3 3 many x (lost) (lost) 7;"
	       "4 4 many x (lost) (lost) 7;5 5 many x (lost) (lost) 7;");
}
END_TEST

enum {
	THREADS = 50,
	ROUNDS = 20000
};

/* What every hit must have, by the time of its first part: its parts, as bits. */
static unsigned int wanted[ROUNDS + 1];
static uint64_t last_time[THREADS]; /* of the hits of each thread */

static void check_hit(void)
{
	unsigned int parts = got.probe == ONE ? 8 : 0;

	for (size_t i = 0; got.probe == MANY && i < 3; i++)
		parts |= got.values[i].kind != NW_VALUE_MISSING ? 1u << i : 0;
	ck_assert_uint_eq(parts, wanted[got.time]);
	wanted[got.time] = 0; /* once */
	ck_assert_uint_gt(got.time, last_time[got.tid]);
	last_time[got.tid] = got.time;
}

START_TEST(random_losses_lose_no_other_part_and_keep_each_threads_order)
{
	uint64_t begun[THREADS] = {0}; /* the hit of which parts may still come */
	unsigned int next[THREADS] = {0};
	uint64_t state = 5;

	for (uint64_t now = 1; now <= ROUNDS; now++) {
		uint64_t r = unit_random(&state);
		int32_t tid = (int32_t)(r % THREADS);
		unsigned int part = next[tid]++ % 4; /* three of MANY, then ONE */
		bool is_one = part == 3;
		if ((r >> 8) % 8 == 0)
			continue; /* lost */
		uint64_t *hit = &begun[tid];
		if (is_one || !*hit || wanted[*hit] >> part & 1)
			*hit = now;
		wanted[*hit] |= 1u << part;
		bool whole = is_one || wanted[*hit] == 7;
		if (push_record(now, tid, is_one ? ONE : MANY, is_one ? 0 : part, "ab"))
			check_hit();
		if (whole)
			*hit = 0;
	}
	while (nw_join_rest(join, &got) > 0)
		check_hit();
	for (size_t i = 0; i <= ROUNDS; i++)
		ck_assert_uint_eq(wanted[i], 0);
}
END_TEST

/*
 * A string whose words are in two events: its pointer and the first 8 bytes in one, the next 8 in
 * the other; and a number beside each.
 */
static const char spread_plan[] =
	"nopwatch-plan 1\ngroup nopwatch_t\nimage /bin/app\n"
	"probe 0 0 p long p:long 1\narg s string\narg n u64\npoint 16 16 0\n"
	"planned 0 0 2 0\n"
	"source 0 0 -1 string string 0 - 0 -\nstring 0 0\nchunk 0 1 0 64 0\n"
	"chunk 1 0 8 64 1\n"
	"source 1 1 -1 u64 u64 0 - 0 -\n"
	"event e0 0\nfield a0\nfield a1\nplace 0 0\n"
	"event e1 0\nfield a0\nfield a1\nplace 0 1\n";

static bool push_spread(uint64_t time, uint32_t part, uint64_t first, const char *second)
{
	unsigned char bytes[64];
	struct {
		uint64_t number;
		char text[8];
	} fields = {.number = first};
	struct nw_record record = {.kind = NW_RECORD_HIT,
				   .time = time,
				   .cpu = 3,
				   .tid = 7,
				   .part = part,
				   .data = bytes,
				   .format = fake.formats.events.item[part]};
	memcpy(fields.text, second, 8);
	if (part == 1) { /* the bytes come first */
		memcpy(&fields.number, second, 8);
		memcpy(fields.text, &first, 8);
	}
	record.size = (uint32_t)fake_hit(bytes, record.format->id, 7, 16, &fields,
					 sizeof(fields));
	int ret = nw_join_push(join, &record, &got);
	ck_assert_int_ge(ret, 0);
	memset(bytes, 'y', sizeof(bytes));
	return ret > 0;
}

START_TEST(a_string_that_is_spread_over_parts_is_one)
{
	static const struct fake_format spread_formats[] = {{"e0", 10, "a0:u64 a1:x64"},
							    {"e1", 11, "a0:x64[1] a1:u64"}};

	teardown();
	fake_open(&fake, spread_plan, spread_formats, 2, page_layout(256, 8));
	ck_assert_int_eq(nw_join_open(&fake.formats, true, &join), 0);
	ck_assert(!push_spread(1, 0, 0x401001, "abcdefgh"));
	ck_assert(push_spread(2, 1, 5, "ijk\0####"));
	describe_hit();
	expect("1 7 long abcdefghijk 5;");
	ck_assert(!got.values[0].cut);
	ck_assert(!push_spread(3, 0, 0x401001, "abc\0####"));
	ck_assert(push_spread(4, 1, 6, "ijklmnop"));
	describe_hit();
	expect("3 7 long abc 6;");
	ck_assert(!got.values[0].cut);
	ck_assert(!push_spread(5, 0, 0x401001, "abcdefgh"));
	ck_assert(push_spread(6, 1, 7, "ijklmnop"));
	describe_hit();
	expect("5 7 long abcdefghijklmnop 7;");
	ck_assert(got.values[0].cut);
	/* the second part is lost: what there is, is the beginning */
	ck_assert(!push_spread(7, 0, 0x401001, "abcdefgh"));
	ck_assert(push_spread(8, 0, 0x401001, "ABCDEFGH"));
	describe_hit();
	expect("7 7 long abcdefgh (lost);");
	ck_assert(got.values[0].cut);
	/* and the first one: bytes without a beginning are nothing */
	ck_assert(push_spread(9, 1, 8, "ijklmnop"));
	describe_hit();
	expect("8 7 long ABCDEFGHijklmnop 8;");
	ck_assert(!push_spread(10, 1, 9, "ijklmnop"));
	ck_assert(push_spread(11, 1, 9, "ijklmnop"));
	describe_hit();
	expect("10 7 long (lost) 9;");
}
END_TEST

/* A return whose two arguments are read there, each by an event of its own, whose order the kernel decides. */
static const char carried_plan[] =
	"nopwatch-plan 1\ngroup nopwatch_t\nimage /bin/app\n"
	"probe 0 3 uretprobe f uretprobe:f 1\narg ret u64\narg a u64\narg b u64\npoint 16 16 0\n"
	"planned 0 0 3 0\ncarried 1\n"
	"source 0 0 -1 u64 u64 0 - 0 -\n"
	"source 1 0 -1 u64 u64 0 - 0 -\n"
	"source 2 0 -1 u64 u64 0 - 0 -\n"
	"event e0 0\norder 1\nfield a0\nplace 0 0\n"
	"event e1 0\norder 2\nattached synthetic.nopwatch_t\nfield a0\nplace 0 1\n"
	"event e2 0\norder 3\nattached synthetic.nopwatch_t\nfield a0\nplace 0 2\n";

static void push_part(uint64_t time, uint32_t part, uint64_t number)
{
	unsigned char bytes[64];
	struct nw_record record = {.kind = NW_RECORD_HIT,
				   .time = time,
				   .cpu = 3,
				   .tid = 7,
				   .part = part,
				   .data = bytes,
				   .size = 24};

	record.format = fake.formats.events.item[part];
	fake_hit(bytes, record.format->id, 7, 16, &number, sizeof(number));
	int ret = nw_join_push(join, &record, &got);
	ck_assert_int_ge(ret, 0);
	if (ret > 0)
		describe_hit();
}

START_TEST(what_is_read_at_the_return_comes_in_whatever_order_or_not_at_all)
{
	static const struct fake_format carried_formats[] = {
		{"e0", 10, "a0:u64"}, {"e1", 11, "a0:u64"}, {"e2", 12, "a0:u64"}};

	teardown();
	fake_open(&fake, carried_plan, carried_formats, 3, page_layout(256, 8));
	ck_assert_int_eq(nw_join_open(&fake.formats, true, &join), 0);
	push_part(1, 0, 10);
	push_part(1, 1, 11);
	push_part(1, 2, 12);
	expect("1 7 f 10 11 12;");
	push_part(2, 0, 20);
	push_part(2, 2, 22);
	push_part(2, 1, 21);
	expect("2 7 f 20 21 22;");
	/* a call that has called the function again has none; that is no loss */
	push_part(3, 0, 30);
	push_part(4, 0, 40);
	expect("3 7 f 30 ((unknown)) ((unknown));");
	ck_assert_uint_eq(nw_join_missing(join, &got), 0);
	push_part(4, 1, 41);
	push_part(4, 2, 42);
	expect("4 7 f 40 41 42;");
	/* the return itself is lost: its arguments are not those of the next one */
	push_part(5, 1, 51);
	push_part(6, 0, 60);
	expect("5 7 f (lost) 51 ((unknown));");
	ck_assert_uint_eq(nw_join_missing(join, &got), 1);
	rest();
	expect("6 7 f 60 ((unknown)) ((unknown));");
}
END_TEST

UNIT_MAIN_WITH("join", setup, teardown, hits_of_one_part_pass_through,
	       parts_make_one_hit_in_whatever_order_they_come,
	       parts_of_several_threads_do_not_mix,
	       a_part_that_the_kernel_refused_is_not_waited_for,
	       a_hit_whose_companion_was_lost_comes_with_what_it_has,
	       a_hit_without_its_first_part_takes_none_of_the_next_one,
	       another_probe_at_the_same_place_shows_that_a_hit_has_begun,
	       what_a_thread_hits_next_comes_behind_the_hit_that_lacks_parts,
	       parts_before_and_behind_a_loss_are_not_taken_for_one_hit,
	       a_part_that_the_plan_does_not_have_is_no_hit_of_its_own,
	       another_probe_at_the_same_place_may_come_between_the_parts,
	       at_the_end_what_waits_comes_out_oldest_first,
	       random_losses_lose_no_other_part_and_keep_each_threads_order,
	       a_string_that_is_spread_over_parts_is_one,
	       what_is_read_at_the_return_comes_in_whatever_order_or_not_at_all)
