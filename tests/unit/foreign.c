// SPDX-License-Identifier: MIT
/* Events of others: what their instance does with hits, read from files as the kernel prints them. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "kernel/recovery/inventory.h"
#include "kernel/session/session.h"
#include "kernel/tracefs/cpus.h"

#include "put.h"

static char dir[] = "/tmp/nopwatch-foreign.XXXXXX";
static struct nw_tracefs fs;
static char app[] = "/bin/app";
static struct nw_image image = {.path = app};
static struct nw_error err;

static void begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	fs.root = open(dir, O_RDONLY | O_DIRECTORY);
	snprintf(fs.path, sizeof(fs.path), "%s", dir);
	put(dir, "uprobe_events", "p:g/e /bin/app:0x1100\n");
	put(dir, "uprobe_profile",
	    "  /bin/app e                                       7\n");
	put(dir, "events/g/e/filter", "none\n");
	put(dir, "tracing_on", "1\n");
	put(dir, "options/overwrite", "1\n");
	put(dir, "buffer_size_kb", "1408\n");
	put(dir, "set_event_pid", "no pid\n");
}

/* The one event of the file, as it is now; freed by the next call. */
static const struct nw_foreign_event *seen(const nw_pids *threads)
{
	static nw_foreign_events events;
	const nw_pids nobody = {0};

	nw_foreign_events_free(&events);
	ck_assert_int_eq(nw_foreign_events_read(&fs, &image, threads ? threads : &nobody,
						&events, &err),
			 0);
	ck_assert_uint_eq(events.count, 1);
	return &events.item[0];
}

static void end(void)
{
	nw_cleanup(nw_free_ptr) char *command = nw_text("rm -rf %s", dir);

	ck_assert_int_eq(system(command), 0);
	close(fs.root);
}

START_TEST(soft_disabled_events_wait)
{
	static const struct {
		const char *enable;
		bool enabled, waits;
	} cases[] = {
		{"0\n", false, false},
		{"1\n", true, false},
		{"0*\n", true, true},
		{"1*\n", true, false},
	};

	begin();
	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		put(dir, "events/g/e/enable", cases[i].enable);
		ck_assert_int_eq(seen(NULL)->enabled, cases[i].enabled);
		ck_assert_int_eq(seen(NULL)->waits, cases[i].waits);
	}
	end();
}
END_TEST

START_TEST(what_filters_threads_is_seen)
{
	pid_t tids[2] = {40, 41};
	const nw_pids threads = {.item = tids, .count = 2};

	begin();
	put(dir, "events/g/e/enable", "1\n");
	ck_assert(!seen(&threads)->pid_filter);
	put(dir, "set_event_pid", "41\n");
	ck_assert(seen(&threads)->pid_filter && !seen(&threads)->pid_filtered);
	put(dir, "set_event_pid", "7\n42\n");
	ck_assert(seen(&threads)->pid_filtered);
	put(dir, "set_event_pid", "no pid\n");
	put(dir, "set_event_notrace_pid", "40\n");
	ck_assert(!seen(&threads)->pid_excluded);
	put(dir, "set_event_notrace_pid", "40\n41\n");
	ck_assert(seen(&threads)->pid_excluded && !seen(&threads)->pid_filtered);
	end();
}
END_TEST

START_TEST(small_buffers_are_seen)
{
	begin();
	put(dir, "events/g/e/enable", "1\n");
	put(dir, "buffer_size_kb", "4\n");
	ck_assert_uint_eq(seen(NULL)->buffer_kib, 4);
	put(dir, "buffer_size_kb", "7 (expanded: 1408)\n");
	ck_assert_uint_eq(seen(NULL)->buffer_kib, 0);
	end();
}
END_TEST

START_TEST(masks_are_compared_cpu_by_cpu)
{
	static const struct {
		const char *mask, *online, *all;
		unsigned int left_out;
	} cases[] = {
		{"3\n", "0-1\n", "3", 0},
		{"1\n", "0-1\n", "3", 1},
		{"c\n", "0-1\n", "3", 2}, /* as many CPUs as are online, but not these */
		{"f\n", "0-1\n", "3", 0},
		{"0\n", "0\n", "1", 1},
		{"f,ffffffff\n", "0-35\n", "f,ffffffff", 0},
		{"7,ffffffff\n", "0-35\n", "f,ffffffff", 1},
		{"f,fffffffe\n", "0-35\n", "f,ffffffff", 1},
		{"ffffffff\n", "0-35\n", "f,ffffffff", 4},
		{"00000000,00000000,00000003\n", "0-1,64\n", "1,00000000,00000003", 1},
		{"00000001,00000000,00000003\n", "0-1,64\n", "1,00000000,00000003", 0},
		{"", "0-3\n", "f", 4},
		{"f\n", "", "0", 0},
		{"f\n", "3-1,9999999999\n", "0", 0},
	};

	for (size_t i = 0; i < NW_COUNT(cases); i++) {
		struct nw_buf all = {0};
		ck_assert_uint_eq(nw_cpus_left_out(cases[i].mask, cases[i].online),
				  cases[i].left_out);
		ck_assert_int_eq(nw_cpus_mask(cases[i].online, &all), 0);
		ck_assert_str_eq(nw_buf_str(&all), cases[i].all);
		nw_buf_free(&all);
	}
}
END_TEST

UNIT_MAIN("foreign", soft_disabled_events_wait, what_filters_threads_is_seen,
	  small_buffers_are_seen, masks_are_compared_cpu_by_cpu)
