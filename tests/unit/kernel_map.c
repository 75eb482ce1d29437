// SPDX-License-Identifier: MIT
/* Maps of hist triggers, as the kernel prints them, and the triggers by which a session lets it count. */
#include <errno.h>

#include "kernel/session/triggers.h"
#include "kernel/tracefs/features.h"
#include "kernel/tracefs/kernel_map.h"
#include "run/consumers/kernel_counts.h"

#include "unit.h"

/* As Linux 6.8 prints it. */
static const char text[] =
	"# event histogram\n#\n"
	"# trigger info: hist:keys=common_pid:vals=hitcount:at0=common_timestamp:sort=hitcount:size=2048:clock=mono [active]\n#\n\n"
	"{ common_pid:        132 } hitcount:        100\n"
	"{ common_pid:        128 } hitcount:        200\n\n"
	"Totals:\n    Hits: 300\n    Entries: 2\n    Dropped: 0\n\n\n"
	"# event histogram\n#\n"
	"# trigger info: hist:keys=common_pid:vals=hitcount:sort=hitcount:size=2048 [active]\n#\n\n"
	"{ common_pid:        129 } hitcount:          7\n\n"
	"Totals:\n    Hits: 7\n    Entries: 1\n    Dropped: 3\n\n\n"
	"# event histogram\n#\n"
	"# trigger info: hist:keys=common_pid,lat.buckets=64:vals=hitcount,lat:sort=hitcount:size=8192 if lat >= 2048 && lat < 131072 [active]\n#\n\n"
	"{ common_pid:        129, lat: ~ 2304-2367 } hitcount:          2  lat:       4650\n"
	"{ common_pid:        128, lat: ~ 2048-2111 } hitcount:          1  lat:       2050\n\n"
	"Totals:\n    Hits: 3\n    Entries: 2\n    Dropped: 0\n";

START_TEST(each_trigger_has_its_rows)
{
	nw_kernel_maps maps = {0};

	ck_assert_int_eq(nw_kernel_maps_parse(text, sizeof(text) - 1, &maps), 0);
	ck_assert_uint_eq(maps.count, 3);
	struct nw_kernel_map *starts = nw_kernel_map_find(&maps, "common_pid", "", ":at0=");
	ck_assert_ptr_eq(starts, &maps.item[0]);
	ck_assert_uint_eq(starts->rows.count, 2);
	ck_assert_uint_eq(starts->rows.item[1].key[0].low, 128);
	ck_assert_uint_eq(starts->rows.item[1].hits, 200);
	struct nw_kernel_map *hits = nw_kernel_map_find(&maps, "common_pid", "", "");
	ck_assert_ptr_eq(hits, &maps.item[1]);
	ck_assert_uint_eq(hits->dropped, 3);
	struct nw_kernel_map *latency = nw_kernel_map_find(
		&maps, "common_pid,lat.buckets=64", "lat >= 2048 && lat < 131072", "");
	ck_assert_ptr_eq(latency, &maps.item[2]);
	nw_kernel_map_sort(latency);
	ck_assert_uint_eq(latency->keys, 2);
	ck_assert_uint_eq(latency->rows.item[0].key[0].low, 128);
	ck_assert_uint_eq(latency->rows.item[1].key[1].low, 2304);
	ck_assert_uint_eq(latency->rows.item[1].key[1].high, 2367);
	ck_assert_uint_eq(latency->rows.item[1].sum, 4650);
	nw_kernel_maps_free(&maps);
}
END_TEST

START_TEST(a_trigger_of_others_is_not_ours)
{
	nw_kernel_maps maps = {0};

	ck_assert_int_eq(nw_kernel_maps_parse(text, sizeof(text) - 1, &maps), 0);
	ck_assert_ptr_null(nw_kernel_map_find(&maps, "common_pi", "", ""));
	ck_assert_ptr_null(nw_kernel_map_find(&maps, "common_pid,lat", "", ""));
	ck_assert_ptr_null(nw_kernel_map_find(&maps, "common_pid", "", ":at1="));
	ck_assert_ptr_null(nw_kernel_map_find(&maps, "common_pid", "lat >= 2048", ""));
	ck_assert_ptr_null(nw_kernel_map_find(&maps, "common_pid,lat.buckets=64", "", ""));
	ck_assert_ptr_null(nw_kernel_map_find(&maps, "common_pid,lat.buckets=64",
					      "lat >= 2048 && lat < 13107", ""));
	nw_kernel_maps_free(&maps);
}
END_TEST

#define INFO "# trigger info: hist:keys=a:vals=hitcount:size=128 [active]\n"

START_TEST(damaged_rows_are_refused)
{
	static const char *const bad[] = {
		"{ a: 1 } hitcount: 2\n", /* of no trigger */
		INFO "{ a: } hitcount: 2\n",
		INFO "{ a: 1 hitcount: 2\n",
		INFO "{ a: 1 } hitcount:\n",
		INFO "{ a: 1 } hits: 2\n",
		INFO "{ 1 } hitcount: 2\n",
		INFO "{ a: ~ 5-3 } hitcount: 2\n",
		INFO "{ a: ~ 3^3 } hitcount: 2\n",
		INFO "{ a: ~ 2^64 } hitcount: 2\n",
		INFO "{ a: ~ 2^ } hitcount: 2\n",
		INFO "{ a: ~ 5 } hitcount: 2\n",
		INFO "{ a: name [1] } hitcount: 2\n",
		INFO "{ a: 1, b: 2, c: 3, d: 4 } hitcount: 2\n",
		INFO "{ a: 18446744073709551616 } hitcount: 2\n",
		INFO "{ a: 1 } hitcount: 2  b\n",
		INFO "{ a: 1 } hitcount: 2\n{ a: 1, b: 2 } hitcount: 2\n",
		INFO "    Dropped: none\n",
		INFO "{ a:\n         uprobe_notify_resume+0x1c7/0x4a0\n} hitcount: 1\n",
	};

	for (size_t i = 0; i < NW_COUNT(bad); i++) {
		nw_kernel_maps maps = {0};
		ck_assert_int_eq(nw_kernel_maps_parse(bad[i], strlen(bad[i]), &maps),
				 -EBADMSG);
		ck_assert_uint_eq(maps.count, 0);
	}
}
END_TEST

START_TEST(what_may_be_there_is_read)
{
	static const char good[] = INFO "{ a: 18446744073709551615 } hitcount: 2  a: 5";
	nw_kernel_maps maps = {0};

	ck_assert_int_eq(nw_kernel_maps_parse("", 0, &maps), 0);
	ck_assert_uint_eq(maps.count, 0);
	ck_assert_int_eq(nw_kernel_maps_parse(good, sizeof(good) - 1, &maps), 0);
	ck_assert_int_eq((int64_t)maps.item[0].rows.item[0].key[0].low, -1);
	nw_kernel_maps_free(&maps);
}
END_TEST

START_TEST(what_a_kernel_lacks_is_told)
{
	struct nw_features features = {0};
	static const enum nw_feature wanted[] = {
		NW_FEATURE_HIST, NW_FEATURE_SYNTHETIC, NW_FEATURE_INSTANCES,
		NW_FEATURE_INSTANCE_EVENTS, NW_FEATURE_CLOCK_MONO};

	for (size_t i = 0; i < NW_COUNT(wanted); i++) {
		ck_assert_ptr_nonnull(nw_triggers_lack(&features));
		features.has[wanted[i]] = true;
	}
	/* Without buckets a 64-bit kernel is needed. */
	ck_assert_int_eq(nw_triggers_lack(&features) == NULL, sizeof(long) == 8);
	features.long64 = true;
	ck_assert_ptr_null(nw_triggers_lack(&features));
	features.long64 = false;
	features.has[NW_FEATURE_HIST_BUCKETS] = true;
	ck_assert_ptr_null(nw_triggers_lack(&features));
}
END_TEST

/* Returns the least value of a row of a power of two, as the kernel prints its key, of which a map counts a part. */
static uint64_t low_of(unsigned int part, uint64_t low, uint64_t high)
{
	const struct nw_counted_map map = {.part = part};
	const struct nw_kernel_map_row row = {.key[0] = {low, high}, .hits = 1};

	return nw_kernel_counts_row(&map, &row).low;
}

START_TEST(a_row_has_its_part_of_a_power_of_two)
{
	const uint64_t half = (uint64_t)1 << 63;
	const struct nw_counted_map map = {.part = NW_COUNTED_EIGHTH + 7};
	struct nw_kernel_map_row row = {
		.key[0] = {4097, 8192}, .hits = 3, .sum = UINT64_C(3 * 8000)};

	ck_assert_uint_eq(low_of(NW_COUNTED_PLAIN, 5, 5), 5);
	ck_assert_uint_eq(low_of(NW_COUNTED_EIGHTH, 1025, 2048), 2048);
	ck_assert_uint_eq(low_of(NW_COUNTED_EIGHTH, 2049, 4096), 2049);
	ck_assert_uint_eq(low_of(NW_COUNTED_EIGHTH + 1, 2049, 4096), 2048 + 256 + 1);
	ck_assert_uint_eq(low_of(NW_COUNTED_OCTAVE, half / 2 + 1, half), half / 2 + 1);
	ck_assert_uint_eq(low_of(NW_COUNTED_OCTAVE, 0, 1), half + 1);
	ck_assert_uint_eq(nw_kernel_counts_row(&map, &row).low, 4096 + 7 * 512 + 1);
	ck_assert_uint_eq(nw_kernel_counts_row(&map, &row).sum, 24000);
	/* A sum that cannot tell the mean gives way to the row's begin. */
	row.key[0] = (struct nw_kernel_map_key){half / 2 + 1, half};
	row.hits = 64;
	const struct nw_counted counted = nw_kernel_counts_row(&map, &row);
	ck_assert_uint_eq(counted.low, half / 16 * 15 + 1);
	ck_assert_uint_eq(counted.sum, 64 * counted.low);
}
END_TEST

/* As Linux 4.18 prints it. */
START_TEST(powers_of_two_are_ranges)
{
	static const char powers[] = INFO
		"{ a: ~ 2^0  } hitcount: 2\n{ a: ~ 2^11 } hitcount: 1  lat: 1500\n{ a: ~ 2^63 } hitcount: 3\n";
	nw_kernel_maps maps = {0};

	ck_assert_int_eq(nw_kernel_maps_parse(powers, sizeof(powers) - 1, &maps), 0);
	const struct nw_kernel_map_row *rows = maps.item[0].rows.item;
	ck_assert_uint_eq(maps.item[0].rows.count, 3);
	ck_assert_uint_eq(rows[0].key[0].low, 0);
	ck_assert_uint_eq(rows[0].key[0].high, 1);
	ck_assert_uint_eq(rows[1].key[0].low, 1025);
	ck_assert_uint_eq(rows[1].key[0].high, 2048);
	ck_assert_uint_eq(rows[1].sum, 1500);
	ck_assert_uint_eq(rows[2].key[0].high, (uint64_t)1 << 63);
	nw_kernel_maps_free(&maps);
}
END_TEST

UNIT_MAIN("kernel_map", each_trigger_has_its_rows, a_trigger_of_others_is_not_ours,
	  damaged_rows_are_refused, powers_of_two_are_ranges,
	  a_row_has_its_part_of_a_power_of_two, what_may_be_there_is_read,
	  what_a_kernel_lacks_is_told)
