// SPDX-License-Identifier: MIT
/* The lines of uprobe_events, dynamic_events and uprobe_profile, and enable files. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "kernel/session/session_private.h"
#include "kernel/steps/definitions.h"
#include "kernel/tracefs/event_list.h"

#include "unit.h"

START_TEST(a_line_is_what_defines_an_event)
{
	struct nw_definition_line line;

	ck_assert(nw_definition_line_parse("r:g/back /a:b:0x0000000000001525(0x3084) "
					   "a=%di:s32 b=+0(%si):string",
					   &line));
	ck_assert_str_eq(line.group, "g");
	ck_assert_str_eq(line.name, "back");
	ck_assert(line.is_return);
	ck_assert_uint_eq(line.path_len, 4);
	ck_assert_int_eq(strncmp(line.path, "/a:b", 4), 0);
	ck_assert_uint_eq(line.offset, 0x1525);
	ck_assert_uint_eq(line.ref_ctr, 0x3084);
	ck_assert_str_eq(line.args, "a=%di:s32 b=+0(%si):string");
	ck_assert(nw_definition_line_parse("p:g/e /a:0x1", &line));
	ck_assert(!line.is_return);
	ck_assert_uint_eq(line.ref_ctr, 0);
	ck_assert_str_eq(line.args, "");
}
END_TEST

/* Kprobes, synthetic events, and what a name must not be, since it becomes part of a path. */
START_TEST(other_lines_are_none)
{
	static const char *const none[] = {
		"",
		"p",
		"p:",
		"p:g",
		"p:g/",
		"p:g/e",
		"p:g/e ",
		"p:g/e /x",
		"p:g/e :0x1",
		"p:/e /x:0x1",
		"p:g/ /x:0x1",
		"p: / :",
		"p:g/e /x:zz",
		"p:g/e /x:0xzz",
		"p:g/e /x:0x1z",
		"p:g/e /x:12",
		"p:g/e /x:0x10000000000000000",
		"p:../e /x:0x1",
		"p:g/../../e /x:0x1",
		"p:g/e/f /x:0x1",
		"p:g/.. /x:0x1",
		"p:kprobes/vfs_read vfs_read",
		"p:kprobes/nfs nfs:nfs_open+4",
		"r10:kprobes/many vfs_read",
		"p100:g/e /x:0x1",
		"s:synthetic/wakeup u64 lat:0x1",
		"e:g/e sched.sched_switch a=$prev_pid",
		"f:fprobes/f vfs_read",
		"-:g/e",
		"# p:g/e /x:0x1",
	};
	struct nw_definition_line line;

	for (size_t i = 0; i < NW_COUNT(none); i++)
		ck_assert_msg(!nw_definition_line_parse(none[i], &line), "%s", none[i]);
}
END_TEST

START_TEST(names_are_as_long_as_the_kernels_and_no_longer)
{
	struct nw_definition_line line;
	char text[256], name[NW_MAX_NAME + 2];

	memset(name, 'n', sizeof(name));
	snprintf(text, sizeof(text), "p:%.*s/%.*s /x:0x1", NW_MAX_NAME, name, NW_MAX_NAME,
		 name);
	ck_assert(nw_definition_line_parse(text, &line));
	ck_assert_uint_eq(strlen(line.name), NW_MAX_NAME);
	snprintf(text, sizeof(text), "p:g/%.*s /x:0x1", NW_MAX_NAME + 1, name);
	ck_assert(!nw_definition_line_parse(text, &line));
	snprintf(text, sizeof(text), "p:%.*s/e /x:0x1", NW_MAX_NAME + 1, name);
	ck_assert(!nw_definition_line_parse(text, &line));
}
END_TEST

/* Any line cut anywhere, or with any byte changed: nothing is read beyond it. */
START_TEST(damaged_lines_stay_inside_themselves)
{
	static const char whole[] = "p:group/name /usr/bin/a:b:0x1525(0x3084) a=%di:s32";
	static const char profile[] = "  /usr/bin/a:b name                      7";
	uint64_t seed = 1, hits;
	struct nw_definition_line line;

	for (size_t len = 0; len < sizeof(whole); len++)
		for (int i = 0; i < 200; i++) {
			char *text = malloc(len + 1), *count;
			memcpy(text, whole, len);
			text[len] = '\0';
			if (len)
				text[unit_random(&seed) % len] = (char)(unit_random(&seed));
			if (nw_definition_line_parse(text, &line)) {
				ck_assert(line.path >= text &&
					  line.path + line.path_len <= text + len);
				ck_assert(line.args >= text && line.args <= text + len);
				ck_assert_ptr_null(strchr(line.group, '/'));
				size_t cut = unit_random(&seed) % sizeof(profile);
				count = strndup(profile, cut);
				(void)nw_profile_line_parse(count, &line, &hits);
				free(count);
			}
			free(text);
		}
}
END_TEST

struct sums {
	unsigned int lines;
	uint64_t hits;
	int stop_at;
};

static int add(void *arg, const struct nw_definition_line *line)
{
	struct sums *sums = arg;

	sums->hits += line->hits;
	return ++sums->lines == (unsigned int)sums->stop_at ? -ENOMEM : 0;
}

static bool walk(const char *events, const char *profile, struct sums *sums)
{
	char *list = strdup(events), *counts = strdup(profile);
	bool joined = false;

	*sums = (struct sums){0};
	ck_assert_int_eq(nw_event_list_walk(list, counts, &joined, add, sums), 0);
	free(list);
	free(counts);
	return joined;
}

START_TEST(hits_belong_to_the_same_line)
{
	static const char events[] =
		"p:g/one /bin/a:0x10\np:kprobes/k f\np:h/one /bin/b b:0x20\n"
		"p:h/one /bin/b:0x20\n";
	static const char *const others[] = {
		"",
		"  /bin/a one 1\n  f k 2\n  ? 0\n", /* one too few */
		"  /bin/a one 1\n  f k 2\n  ? 0\n  /bin/b one 4\n  x y 5\n", /* many */
		"  /bin/b one 1\n  f k 2\n  ? 0\n  /bin/a one 4\n",	     /* order */
		"  /bin/a two 1\n  f k 2\n  ? 0\n  /bin/b one 4\n",	     /* name */
		"  /bin/a one x\n  f k 2\n  ? 0\n  /bin/b one 4\n",	     /* number */
		"  /bin/a one\n  f k 2\n  ? 0\n  /bin/b one 4\n",
		"/bin/aone 1\n  f k 2\n  ? 0\n  /bin/b one 4\n",
	};
	struct sums sums;

	ck_assert(walk(events, "  /bin/a one       1\n  f k 2\n  ? 0\n  /bin/b one  4\n",
		       &sums));
	ck_assert_uint_eq(sums.lines, 2);
	ck_assert_uint_eq(sums.hits, 5);
	for (size_t i = 0; i < NW_COUNT(others); i++) {
		ck_assert_msg(!walk(events, others[i], &sums), "%s", others[i]);
		ck_assert_uint_eq(sums.lines, 2);
		ck_assert_uint_eq(sums.hits, 0);
	}
}
END_TEST

START_TEST(an_error_ends_the_walk)
{
	char events[] = "p:g/one /a:0x10\np:g/two /a:0x20\n";
	struct sums sums = {.stop_at = 1};

	ck_assert_int_eq(nw_event_list_walk(events, NULL, NULL, add, &sums), -ENOMEM);
	ck_assert_uint_eq(sums.lines, 1);
	ck_assert_int_eq(nw_event_list_walk(NULL, NULL, NULL, add, &sums), 0);
}
END_TEST

START_TEST(enable_files_say_five_things)
{
	static const struct {
		const char *text;
		enum nw_enabled enabled;
		bool arms;
	} rows[] = {
		{"0\n", NW_ENABLED_NO, false},	 {"1\n", NW_ENABLED_YES, true},
		{"0*\n", NW_ENABLED_SOFT, true}, {"1*\n", NW_ENABLED_YES, true},
		{"X\n", NW_ENABLED_MIXED, true}, {"?\n", NW_ENABLED_NONE, false},
		{"", NW_ENABLED_NONE, false},	 {"\n", NW_ENABLED_NONE, false},
	};

	for (size_t i = 0; i < NW_COUNT(rows); i++) {
		ck_assert_int_eq(nw_enabled_parse(rows[i].text), rows[i].enabled);
		ck_assert_int_eq(nw_enabled_arms(rows[i].enabled), rows[i].arms);
	}
}
END_TEST

/* A session's event that a trigger keeps from being recorded is armed, and as good as disabled. */
START_TEST(soft_disabled_is_said_alike_everywhere)
{
	static const char state[] = "events/nopwatch_1_ab/e";
	static const struct {
		const char *text;
		enum nw_event_state state;
	} rows[] = {{"0\n", NW_EVENT_OFF},
		    {"1\n", NW_EVENT_ON},
		    {"0*\n", NW_EVENT_OFF},
		    {"1*\n", NW_EVENT_ON}};
	char dir[] = "/tmp/nopwatch-enable.XXXXXX";
	struct nw_plan plan = {.group = "nopwatch_1_ab"};
	const struct nw_event planned = {.name = "e"};
	const struct nw_armed_event event = {.planned = &planned, .name = "e"};
	struct nw_session session = {.plan = &plan};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	session.instance = open(dir, O_RDONLY | O_DIRECTORY);
	ck_assert_int_eq(nw_session_event_state(&session, &event), NW_EVENT_GONE);
	nw_cleanup(nw_free_ptr) char *make = nw_text("mkdir -p %s/%s", dir, state);
	nw_cleanup(nw_free_ptr) char *file = nw_text("%s/%s/enable", dir, state);
	ck_assert_int_eq(system(make), 0);
	for (size_t i = 0; i < NW_COUNT(rows); i++) {
		FILE *out = fopen(file, "w");
		fputs(rows[i].text, out);
		fclose(out);
		ck_assert_int_eq(nw_session_event_state(&session, &event), rows[i].state);
	}
	nw_cleanup(nw_free_ptr) char *clean = nw_text("rm -rf %s", dir);
	ck_assert_int_eq(system(clean), 0);
	close(session.instance);
}
END_TEST

START_TEST(a_sessions_names_come_from_one_place)
{
	char group[NW_MAX_NAME + 1];

	nw_session_group("sh123456_1234567_123456", group);
	ck_assert_str_eq(group, "nopwatch_sh123456_1234567_123456");
	ck_assert_str_eq(nw_group_session(group), "sh123456_1234567_123456");
	ck_assert_ptr_null(nw_group_session("nopwatc"));
	ck_assert_ptr_null(nw_group_session("sdt_nopwatch_1"));
}
END_TEST

static const struct nw_defined_event *find(struct nw_defined_events *all, int dir,
					   const char *event)
{
	const struct nw_tracefs fs = {.root = dir};
	const struct nw_defined_event *found;

	ck_assert_int_eq(nw_defined_events_find(all, &fs, event, &found), 0);
	return found;
}

static void write_events(const char *dir, const char *text)
{
	nw_cleanup(nw_free_ptr) char *file = nw_text("%s/uprobe_events", dir);
	FILE *out = fopen(file, "w");

	fputs(text, out);
	fclose(out);
}

/* Many deletions read the list once, but never take an event for a missing one that somebody has just defined. */
START_TEST(definitions_are_read_once_for_many_events)
{
	char dir[] = "/tmp/nopwatch-events.XXXXXX";
	struct nw_defined_events all = {0};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	write_events(
		dir,
		"p:g/a /gate:0x1000\np:g/a /f:0x10 x=%di:s32\nr:g/b /f:0x20 y=$retval\n");
	const struct nw_defined_event *a = find(&all, fd, "g/a");
	ck_assert_uint_eq(a->count, 2);
	ck_assert_str_eq(a->path, "/gate");
	ck_assert_str_eq(a->args, "");
	ck_assert_int_eq(a->kind, 'p');
	write_events(dir, "p:g/a /gate:0x1000\np:g/c /f:0x30\n");
	const struct nw_defined_event *b = find(&all, fd, "g/b");
	ck_assert_int_eq(b->kind, 'r');
	ck_assert_str_eq(b->args, " y=$retval");
	/* one that is not known makes it look again */
	ck_assert_uint_eq(find(&all, fd, "g/c")->count, 1);
	ck_assert_ptr_null(find(&all, fd, "g/b"));
	ck_assert_uint_eq(find(&all, fd, "g/a")->count, 1);
	/* and so does time */
	write_events(dir, "p:g/a /gate:0x1000\np:g/a /f:0x10\n");
	ck_assert_uint_eq(find(&all, fd, "g/a")->count, 1);
	all.read_ns -= 2000000000;
	ck_assert_uint_eq(find(&all, fd, "g/a")->count, 2);
	nw_defined_events_free(&all);
	nw_cleanup(nw_free_ptr) char *clean = nw_text("rm -rf %s", dir);
	ck_assert_int_eq(system(clean), 0);
	close(fd);
}
END_TEST

UNIT_MAIN("event_list", definitions_are_read_once_for_many_events,
	  a_line_is_what_defines_an_event, other_lines_are_none,
	  names_are_as_long_as_the_kernels_and_no_longer,
	  damaged_lines_stay_inside_themselves, hits_belong_to_the_same_line,
	  an_error_ends_the_walk, enable_files_say_five_things,
	  soft_disabled_is_said_alike_everywhere, a_sessions_names_come_from_one_place)
