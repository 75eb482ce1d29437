// SPDX-License-Identifier: MIT
/* Every uprobe event of a system: read from files as the kernels print them. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/recovery/inventory_private.h"
#include "put.h"

static char dir[] = "/tmp/nopwatch-inventory.XXXXXX";
static struct nw_tracefs fs;

static void begin(const char *events, const char *profile)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	fs.root = open(dir, O_RDONLY | O_DIRECTORY);
	put(dir, "uprobe_events", events);
	put(dir, "uprobe_profile", profile);
}

static void end(struct nw_inventory *inventory)
{
	nw_cleanup(nw_free_ptr) char *command = nw_text("rm -rf %s", dir);

	nw_inventory_free(inventory);
	ck_assert_int_eq(system(command), 0);
	close(fs.root);
}

START_TEST(definitions_are_understood)
{
	struct nw_persistent persistent = {.fd = -1};
	struct nw_inventory all;

	begin("p:g/one /bin/a:0x0000000000001525(0x3084) a=%di:s32 b=+0(%si):string\n"
	      "p:g/two /odd:path:0x10\n"
	      "r:g/back /bin/a:0x20 ret=$retval\n"
	      "p:g/two /odd:path:0x18\n",
	      "  /bin/a one                                       7\n"
	      "  /odd:path two                                   11\n"
	      "  /bin/a back                                      0\n"
	      "  /odd:path two                                   13\n");
	put(dir, "events/g/one/enable", "0\n");
	put(dir, "events/g/one/filter", "a > 3\n");
	put(dir, "events/g/two/enable", "1*\n");
	put(dir, "events/g/two/filter", "none\n");
	put(dir, "instances/i/events/g/one/enable", "1\n");
	put(dir, "instances/i/events/g/one/filter", "none\n");
	ck_assert_int_eq(nw_inventory_read(&fs, &persistent, &all, NULL), 0);
	ck_assert(all.has_hits);
	ck_assert_uint_eq(all.events.count, 3);

	const struct nw_uprobe_event *one = nw_inventory_find(&all, "g", "one");
	ck_assert_ptr_nonnull(one);
	ck_assert(!one->is_return && one->owner == NW_OWNER_FOREIGN);
	ck_assert_str_eq(one->places.item[0].path, "/bin/a");
	ck_assert_uint_eq(one->places.item[0].offset, 0x1525);
	ck_assert_uint_eq(one->places.item[0].ref_ctr, 0x3084);
	ck_assert_str_eq(one->places.item[0].args, "a=%di:s32 b=+0(%si):string");
	ck_assert_uint_eq(one->places.item[0].hits, 7);
	ck_assert(!nw_event_is_on(one, "") && nw_event_is_on(one, "i"));
	ck_assert_str_eq(one->uses.item[0].filter, "a > 3");

	const struct nw_uprobe_event *two = nw_inventory_find(&all, "g", "two");
	ck_assert_uint_eq(two->places.count, 2);
	ck_assert_str_eq(two->places.item[0].path, "/odd:path");
	ck_assert_uint_eq(two->places.item[1].offset, 0x18);
	ck_assert_uint_eq(two->places.item[0].hits + two->places.item[1].hits, 24);
	ck_assert(nw_event_is_on(two, ""));
	ck_assert(nw_inventory_find(&all, "g", "back")->is_return);
	end(&all);
}
END_TEST

START_TEST(a_profile_that_does_not_belong_is_not_believed)
{
	struct nw_persistent persistent = {.fd = -1};
	struct nw_inventory all;

	begin("p:g/one /bin/a:0x10\np:g/two /bin/a:0x20\n", "  /bin/a one 7\n");
	ck_assert_int_eq(nw_inventory_read(&fs, &persistent, &all, NULL), 0);
	ck_assert(!all.has_hits);
	ck_assert_uint_eq(all.events.item[0].places.item[0].hits, 0);
	end(&all);
}
END_TEST

START_TEST(lines_that_nobody_understands_are_passed_over)
{
	struct nw_persistent persistent = {.fd = -1};
	struct nw_inventory all;
	char lines[2000];
	int at = snprintf(lines, sizeof(lines),
			  "\np\np:\np:g\np:g/\np:g/e\np:g/e \np:g/e /x\np: / :\nxyz\n"
			  "p:g/ok /x:0x1(\np:g/fine /x:zz\np:g/");

	memset(lines + at, 'n', 300);
	snprintf(lines + at + 300, 40, " /x:0x1\n");
	begin(lines, "");
	ck_assert_int_eq(nw_inventory_read(&fs, &persistent, &all, NULL), 0);
	ck_assert(!all.has_hits);
	nw_vec_each (&all.events, event)
		ck_assert_uint_ge(event->places.count, 1);
	ck_assert_ptr_nonnull(nw_inventory_find(&all, "g", "ok"));
	end(&all);
}
END_TEST

START_TEST(ours_is_what_the_journal_says_at_that_place)
{
	struct nw_persistent persistent = {.fd = -1};
	struct nw_inventory all;
	struct nw_persistent_event *event = nw_vec_add(&persistent.events);

	snprintf(event->group, sizeof(event->group), "sdt_app");
	snprintf(event->name, sizeof(event->name), "go__on");
	event->label = strdup("app:go__on");
	event->offset = 0x10;
	begin("p:sdt_app/go__on /bin/a:0x10\n", "");
	ck_assert_int_eq(nw_inventory_read(&fs, &persistent, &all, NULL), 0);
	ck_assert_int_eq(all.events.item[0].owner, NW_OWNER_PERSISTENT);
	static const char *const fit[] = {
		"sdt_app:go__on", "sdt_app/go__on", "sdt_app",	"go__on", "*",
		"app:go__on",	  "app:go-on",	    "sdt_*:go*"};
	static const char *const not [] = {"", "app", "sdt_app:go", "x:*",
					   "go__on:sdt_app"};
	for (size_t i = 0; i < NW_COUNT(fit); i++)
		ck_assert_msg(nw_event_matches(all.events.item, fit[i]), "%s", fit[i]);
	for (size_t i = 0; i < NW_COUNT(not ); i++)
		ck_assert_msg(!nw_event_matches(all.events.item, not [i]), "%s", not [i]);
	nw_inventory_free(&all);
	put(dir, "uprobe_events",
	    "p:sdt_app/go__on /bin/a:0x18\n"); /* another's, of that name */
	ck_assert_int_eq(nw_inventory_read(&fs, &persistent, &all, NULL), 0);
	ck_assert_int_eq(all.events.item[0].owner, NW_OWNER_FOREIGN);
	nw_inventory_free(&all);
	put(dir, "uprobe_events", "p:nopwatch_1_abcdef/e /bin/a:0x18\n");
	ck_assert_int_eq(nw_inventory_read(&fs, &persistent, &all, NULL), 0);
	ck_assert_int_eq(all.events.item[0].owner, NW_OWNER_ORPHAN);
	ck_assert_int_eq(all.events.item[0].owner_pid, 0);
	nw_persistent_close(&persistent);
	end(&all);
}
END_TEST

UNIT_MAIN("inventory", definitions_are_understood,
	  a_profile_that_does_not_belong_is_not_believed,
	  lines_that_nobody_understands_are_passed_over,
	  ours_is_what_the_journal_says_at_that_place)
