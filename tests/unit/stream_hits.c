// SPDX-License-Identifier: MIT
/*
 * stream: hits many at a time are those that come one by one, and nothing that is more than a
 * hit is passed over. The same pages are read twice, and what comes out is compared.
 */
#include "page_builder.h"

enum {
	PAGE = 256,
	MOST_CPUS = 64,
	EVENTS = 4000,
	STRANGE_ID = 77
};

static struct fake fake;
static struct cpu cpus[MOST_CPUS];
static uint64_t state;

static void setup(size_t count, uint64_t seed)
{
	fake_open_two(&fake, PAGE);
	for (size_t i = 0; i < count; i++)
		cpus[i] = (struct cpu){.layout = fake.formats.page};
	state = seed;
}

static void teardown(size_t count)
{
	for (size_t i = 0; i < count; i++)
		cpu_free(&cpus[i]);
	fake_close(&fake);
}

/* ---- pages of everything there is --------------------------------------------------- */

static uint64_t below(uint64_t end)
{
	return unit_random(&state) % end;
}

static void add_hit(struct cpu *cpu, uint64_t time, uint64_t address)
{
	cpu_hit(cpu, time, (int32_t)below(5), address, 0);
}

/* An event of a type that is not ours, or of another length. */
static void add_strange(struct cpu *cpu, uint64_t time)
{
	unsigned char bytes[200];
	bool ours = below(2);
	size_t extra = below(30) * 4; /* from 0: too short to be a hit */

	memset(bytes, 0, sizeof(bytes));
	size_t len = fake_hit(bytes, ours ? 1500 : STRANGE_ID, 1, FAKE_ONE, NULL, 0);
	cpu_event(cpu, time, bytes, len + extra);
}

static void add_gap(struct cpu *cpu, uint64_t time)
{
	if (!cpu->page.bytes || cpu->page.used + 60 > PAGE)
		return;
	page_discarded(&cpu->page, 0, 8 + below(3) * 4);
	page_extend(&cpu->page, 0);
	page_stamp(&cpu->page, time);
	cpu->time = time;
}

static void add_event(struct cpu *cpu, uint64_t time)
{
	switch (below(40)) {
	case 0:
		cpu_lose(cpu, below(3));
		break;
	case 1:
		add_strange(cpu, time);
		break;
	case 2: /* of none of our places */
		add_hit(cpu, time, FAKE_ONE + 1);
		break;
	case 3:
		add_gap(cpu, time);
		break;
	case 4:
		cpu_flush(cpu);
		break;
	default:
		add_hit(cpu, time, below(8) ? FAKE_ONE : FAKE_TWO);
	}
}

static void damage(struct nw_buf *pages)
{
	static const uint32_t endless = 28;
	size_t count = pages->len / PAGE;

	for (size_t i = 0; i < count / 8; i++) {
		size_t at = below(count) * PAGE + 16 + below(8) * 28;
		memcpy(pages->data + at, &endless, sizeof(endless));
	}
}

static void make_pages(size_t count, bool damaged)
{
	static uint64_t now[MOST_CPUS];

	for (size_t i = 0; i < EVENTS; i++) {
		size_t cpu = below(count);
		now[cpu] += below(200) ? below(6) : below((uint64_t)1 << 35);
		if (damaged && !below(300))
			now[cpu] /= 2; /* a time that goes back */
		if (cpus[cpu].time > now[cpu])
			cpu_flush(&cpus[cpu]);
		add_event(&cpus[cpu], now[cpu]);
	}
	for (size_t i = 0; i < count; i++) {
		cpu_flush(&cpus[i]);
		if (damaged)
			damage(&cpus[i].pages);
	}
}

static struct nw_stream *open_stream(size_t count)
{
	struct nw_page_run run[MOST_CPUS];
	struct nw_stream *stream;

	for (size_t i = 0; i < count; i++)
		run[i] = (struct nw_page_run){(uint32_t)i, (void *)cpus[i].pages.data,
					      cpus[i].pages.len};
	ck_assert_int_eq(nw_stream_open_memory(&fake.formats, run, count, &stream, NULL),
			 0);
	return stream;
}

/* ---- comparing ---------------------------------------------------------------------- */

/* The next record of a stream that is read one by one is this hit. */
static void expect_same_hit(struct nw_stream *stream, const struct nw_hit *hit)
{
	struct nw_record record;

	ck_assert_int_eq(nw_stream_next(stream, &record), 1);
	ck_assert_int_eq(record.kind, NW_RECORD_HIT);
	ck_assert(record.whole);
	ck_assert_uint_eq(record.time, hit->time);
	ck_assert_uint_eq(record.cpu, hit->cpu);
	ck_assert_int_eq(record.tid, hit->tid);
	ck_assert_uint_eq(record.probe, hit->probe);
	ck_assert_uint_eq(record.planned, hit->planned);
	ck_assert(!hit->values && !hit->value_count);
}

static int expect_same_record(struct nw_stream *one, struct nw_stream *other)
{
	struct nw_record a, b;
	int ret = nw_stream_next(one, &a);

	ck_assert_int_eq(nw_stream_next(other, &b), ret);
	if (ret == 0)
		return 0;
	ck_assert_int_eq(a.kind, b.kind);
	ck_assert_uint_eq(a.time, b.time);
	ck_assert_uint_eq(a.cpu, b.cpu);
	if (a.kind == NW_RECORD_LOSS) {
		ck_assert_uint_eq(a.until, b.until);
		ck_assert_uint_eq(a.lost, b.lost);
	} else {
		ck_assert_uint_eq(a.planned, b.planned);
		ck_assert_ptr_eq(a.data, b.data);
		ck_assert_uint_eq(a.size, b.size);
	}
	return ret;
}

static size_t take_many(struct nw_stream *one, struct nw_stream *many, size_t most)
{
	struct nw_hit hits[128];
	size_t count = nw_stream_hits(many, hits, most);

	ck_assert_uint_le(count, most);
	for (size_t i = 0; i < count; i++)
		expect_same_hit(one, &hits[i]);
	return count;
}

static void compare(size_t cpu_count)
{
	struct nw_stream *one = open_stream(cpu_count), *many = open_stream(cpu_count);
	uint64_t taken = 0;
	int more = 1;

	while (more) {
		size_t most = below(3) ? 128 : below(4);
		size_t count = below(10) ? take_many(one, many, most) : 0;
		taken += count;
		if (!count)
			more = expect_same_record(one, many);
	}
	const struct nw_stream_stats a = nw_stream_stats(one), b = nw_stream_stats(many);
	ck_assert_mem_eq(&a, &b, sizeof(a));
	ck_assert_uint_gt(taken, EVENTS / 4);
	nw_stream_free(one);
	nw_stream_free(many);
}

static void compare_all(bool damaged)
{
	static const size_t counts[] = {1, 2, 3, MOST_CPUS};

	for (size_t i = 0; i < NW_COUNT(counts); i++)
		for (uint64_t seed = 0; seed < 20; seed++) {
			setup(counts[i], seed);
			make_pages(counts[i], damaged);
			compare(counts[i]);
			teardown(counts[i]);
		}
}

START_TEST(many_at_a_time_are_those_one_by_one)
{
	compare_all(false);
}
END_TEST

START_TEST(damage_ends_them_where_it_ends_one_by_one)
{
	compare_all(true);
}
END_TEST

/* ---- what is left to nw_stream_next() ----------------------------------------------- */

START_TEST(parts_of_hits_are_not_among_them)
{
	struct nw_record record;
	struct nw_hit hits[8];

	setup(1, 0);
	/* the second probe's hits come in several parts */
	fake.formats.events.item[0]->places.item[2].whole = false;
	add_hit(&cpus[0], 10, FAKE_ONE);
	add_hit(&cpus[0], 20, FAKE_ONE);
	add_hit(&cpus[0], 30, FAKE_TWO);
	add_hit(&cpus[0], 40, FAKE_ONE);
	cpu_flush(&cpus[0]);
	struct nw_stream *stream = open_stream(1);
	ck_assert_uint_eq(nw_stream_hits(stream, hits, 8), 2);
	ck_assert(hits[0].time == 10 && hits[1].time == 20);
	ck_assert_uint_eq(nw_stream_hits(stream, hits, 8), 0);
	ck_assert_uint_eq(nw_stream_hits(stream, hits, 8), 0);
	ck_assert_int_eq(nw_stream_next(stream, &record), 1);
	ck_assert(record.time == 30 && !record.whole);
	ck_assert_uint_eq(nw_stream_hits(stream, hits, 8), 1);
	ck_assert_uint_eq(hits[0].time, 40);
	ck_assert_uint_eq(nw_stream_hits(stream, hits, 8), 0);
	expect_nothing(stream);
	nw_stream_free(stream);
	teardown(1);
}
END_TEST

START_TEST(what_tells_of_threads_is_not_among_them)
{
	struct nw_record record;
	struct nw_hit hits[8];

	setup(1, 0);
	fake.formats.events.item[0]->kind = NW_EVENT_EXIT;
	add_hit(&cpus[0], 10, FAKE_ONE);
	cpu_flush(&cpus[0]);
	struct nw_stream *stream = open_stream(1);
	ck_assert_uint_eq(nw_stream_hits(stream, hits, 8), 0);
	ck_assert_int_eq(nw_stream_next(stream, &record), 1);
	ck_assert_int_eq(record.kind, NW_RECORD_TASK);
	nw_stream_free(stream);
	teardown(1);
}
END_TEST

UNIT_MAIN("stream_hits", many_at_a_time_are_those_one_by_one,
	  damage_ends_them_where_it_ends_one_by_one, parts_of_hits_are_not_among_them,
	  what_tells_of_threads_is_not_among_them)
