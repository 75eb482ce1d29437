// SPDX-License-Identifier: MIT
/* Steps are done as a whole or not at all, and told so that any shell does the same. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/steps/gate.h"
#include "kernel/steps/semaphore_step.h"
#include "kernel/steps/span_watch.h"

#include "unit.h"

static char dir[] = "/tmp/nopwatch-steps.XXXXXX";
static struct nw_tracefs fs;

/* A directory in place of tracefs, with these files, which can be written to. */
static void make_dir(void)
{
	static const char *const files[] = {"uprobe_events", "a", "b c"};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	fs.root = open(dir, O_RDONLY | O_DIRECTORY);
	snprintf(fs.path, sizeof(fs.path), "%s", dir);
	for (size_t i = 0; i < NW_COUNT(files); i++)
		close(openat(fs.root, files[i], O_CREAT | O_WRONLY, 0600));
}

static void remove_dir(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
	close(fs.root);
}

static void check_file(const char *name, const char *wanted)
{
	struct nw_buf text = {0};

	ck_assert_int_eq(nw_tracefs_read(fs.root, name, &text), 0);
	ck_assert_str_eq(nw_buf_str(&text), wanted);
	nw_buf_free(&text);
}

static void add_some(struct nw_steps *steps)
{
	nw_steps_add(steps, NW_DO_MKDIR, "made", "");
	nw_steps_back(steps, NW_DO_RMDIR, "made", "");
	nw_steps_add(steps, NW_DO_WRITE, "a", "1");
	nw_steps_back(steps, NW_DO_WRITE, "a", "0");
	nw_steps_add(steps, NW_DO_APPEND, "uprobe_events", "p:g/e /x:0x1");
	nw_steps_back(steps, NW_DO_APPEND, "uprobe_events", "-:g/e");
}

static int count_backs(void *arg, const struct nw_action *back)
{
	int *left = arg;

	ck_assert_int_ne(back->kind, NW_DO_SHELL);
	return (*left)-- ? 0 : -ENOSPC;
}

START_TEST(all_are_done)
{
	struct nw_steps steps = {0};
	int left = 10;
	struct stat st;

	make_dir();
	add_some(&steps);
	ck_assert_int_eq(nw_steps_do(&fs, &steps, count_backs, &left, NULL, NULL), 0);
	ck_assert_int_eq(left, 7);
	ck_assert_int_eq(fstatat(fs.root, "made", &st, 0), 0);
	check_file("a", "1");
	check_file("uprobe_events", "p:g/e /x:0x1\n");
	nw_steps_free(&steps);
	remove_dir();
}
END_TEST

START_TEST(or_what_was_done_is_undone)
{
	struct nw_steps steps = {0};
	struct nw_error err = {0};
	struct stat st;

	make_dir();
	add_some(&steps);
	nw_steps_add(&steps, NW_DO_WRITE, "there/is/no/such", "1");
	nw_steps_what(&steps, NW_REFUSED_ENABLING, "cannot enable %s", "g:e");
	ck_assert_int_eq(nw_steps_do(&fs, &steps, NULL, NULL, NULL, &err), -ENOENT);
	ck_assert_str_eq(err.what, "cannot enable g:e: No such file or directory");
	ck_assert_str_eq(err.hint, "");
	ck_assert_int_eq(fstatat(fs.root, "made", &st, 0), -1);
	check_file("a", "0");
	check_file("uprobe_events", "p:g/e /x:0x1\n-:g/e\n");
	nw_steps_free(&steps);
	remove_dir();
}
END_TEST

START_TEST(a_journal_that_cannot_be_written_undoes_it_too)
{
	struct nw_steps steps = {0};
	struct nw_error err = {0};
	int left = 1;
	struct stat st;

	make_dir();
	add_some(&steps);
	ck_assert_int_eq(nw_steps_do(&fs, &steps, count_backs, &left, NULL, &err), -ENOSPC);
	ck_assert_str_eq(err.what, "cannot write the journal: No space left on device");
	ck_assert_int_eq(fstatat(fs.root, "made", &st, 0), -1);
	check_file("a", "");
	nw_steps_free(&steps);
	remove_dir();
}
END_TEST

START_TEST(an_undo_that_fails_is_told)
{
	struct nw_steps steps = {0};
	struct nw_error err = {0};

	make_dir();
	nw_steps_add(&steps, NW_DO_WRITE, "a", "1");
	nw_steps_back(&steps, NW_DO_WRITE, "gone", "0");
	nw_steps_add(&steps, NW_DO_MKDIR, "a", "");
	nw_steps_what(&steps, NW_REFUSED_INSTANCE, "cannot make it");
	ck_assert_int_eq(nw_steps_do(&fs, &steps, NULL, NULL, NULL, &err), -EEXIST);
	ck_assert_str_eq(err.what, "cannot make it: there is one of this name");
	ck_assert_str_eq(err.hint, "and '0' could not be put back into gone: "
				   "No such file or directory");
	nw_steps_free(&steps);
	remove_dir();
}
END_TEST

START_TEST(a_step_that_may_fail_is_passed_over)
{
	struct nw_steps steps = {0};

	make_dir();
	nw_steps_add(&steps, NW_DO_RMDIR, "a", "");
	nw_steps_add(&steps, NW_DO_WRITE, "a", "2");
	ck_assert_int_eq(nw_steps_do(&fs, &steps, NULL, NULL, NULL, NULL), 0);
	check_file("a", "2");
	nw_steps_free(&steps);
	remove_dir();
}
END_TEST

/* Hostile text in every field: what a shell makes of it is what the library writes. */
START_TEST(a_shell_does_the_same)
{
	static const char *const odd[] = {
		"plain", "it's",    "$HOME `id` \"x\"", "a\\nb\\\\",
		"-n",	 "~ * ? [", "\xc3\xa4 ;|&<>()", "",
	};
	struct nw_buf told = {0}, want = {0};
	struct nw_steps steps = {0};
	char script[64];

	make_dir();
	for (size_t i = 0; i < NW_COUNT(odd); i++)
		nw_steps_add(&steps, NW_DO_APPEND, i % 2 ? "b c" : "a", odd[i]);
	ck_assert_int_eq(nw_steps_do(&fs, &steps, NULL, NULL, NULL, NULL), 0);
	nw_tracefs_read(fs.root, "a", &want);
	nw_tracefs_read(fs.root, "b c", &want);
	nw_tracefs_write(fs.root, "a", "");
	nw_tracefs_write(fs.root, "b c", "");
	nw_steps_print(fs.path, &steps, &told);
	close(openat(fs.root, "script", O_CREAT | O_WRONLY, 0600));
	ck_assert_int_eq(nw_tracefs_write(fs.root, "script", nw_buf_str(&told)), 0);
	snprintf(script, sizeof(script), "sh %s/script", dir);
	ck_assert_int_eq(system(script), 0);
	nw_buf_clear(&told);
	nw_tracefs_read(fs.root, "a", &told);
	nw_tracefs_read(fs.root, "b c", &told);
	ck_assert_str_eq(nw_buf_str(&told), nw_buf_str(&want));
	nw_buf_free(&told);
	nw_buf_free(&want);
	nw_steps_free(&steps);
	remove_dir();
}
END_TEST

START_TEST(nothing_to_do_is_nothing_to_tell)
{
	struct nw_steps steps = {0};
	struct nw_buf told = {0};

	nw_steps_print("/t", &steps, &told);
	ck_assert_str_eq(nw_buf_str(&told), "");
	nw_steps_add(&steps, NW_DO_LINK, "/run/nopwatch/file.1", "/a b");
	nw_steps_add(&steps, NW_DO_NOTHING, "", "");
	nw_steps_add(&steps, NW_DO_SHELL, "", "sleep 1");
	nw_steps_add(&steps, NW_DO_UNLINK, "/run/nopwatch/file.1", "");
	nw_steps_print("/t t", &steps, &told);
	ck_assert_str_eq(nw_buf_str(&told),
			 "T='/t t'\n"
			 "mkdir -p /run/nopwatch && ln -s '/a b' /run/nopwatch/file.1\n"
			 "sleep 1\n"
			 "rm -f /run/nopwatch/file.1\n");
	nw_buf_free(&told);
	nw_steps_free(&steps);
}
END_TEST

/* A gate's file: made once, never through a link, and of the size that lets enabling through or not. */
START_TEST(an_own_file_is_made_and_given_a_size)
{
	struct nw_steps steps = {0};
	struct nw_buf told = {0};
	struct stat st;

	make_dir();
	nw_cleanup(nw_free_ptr) char *file = nw_text("%s/gate.1_ab", dir);
	nw_cleanup(nw_free_ptr) char *link = nw_text("%s/gate.2_ab", dir);
	ck_assert_int_eq(nw_do(&fs, NW_DO_RESIZE, file, "8192"), -ENOENT);
	ck_assert_int_eq(nw_do(&fs, NW_DO_CREATE, file, ""), 0);
	ck_assert_int_eq(nw_do(&fs, NW_DO_RESIZE, file, "8192"), 0);
	ck_assert_int_eq(nw_do(&fs, NW_DO_CREATE, file, ""), 0);
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_int_eq(st.st_size, 8192);
	ck_assert_int_eq(symlink(file, link), 0);
	ck_assert_int_eq(nw_do(&fs, NW_DO_RESIZE, link, "0"), -ELOOP);
	ck_assert_int_eq(nw_do(&fs, NW_DO_RESIZE, file, "0"), 0);
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_int_eq(st.st_size, 0);
	ck_assert_int_eq(chmod(dir, 0777), 0); /* not ours alone any more */
	ck_assert_int_eq(nw_do(&fs, NW_DO_RESIZE, file, "8192"), -EPERM);
	nw_steps_add(&steps, NW_DO_CREATE, "/run/nopwatch/gate.1_ab", "");
	nw_steps_add(&steps, NW_DO_RESIZE, "/run/nopwatch/gate.1_ab", "8192");
	nw_steps_print("/t", &steps, &told);
	ck_assert_str_eq(nw_buf_str(&told), "T=/t\n: >>/run/nopwatch/gate.1_ab\n"
					    "truncate -s 8192 /run/nopwatch/gate.1_ab\n");
	nw_buf_free(&told);
	nw_steps_free(&steps);
	remove_dir();
}
END_TEST

START_TEST(what_enabling_answers_tells_who_has_an_event)
{
	static const struct {
		int answer, shut, open;
	} rows[] = {
		{0, -EBUSY, 0},		  {-EINTR, -EBUSY, -EBUSY},
		{-EINVAL, 0, 0},	  {-EIO, 0, 0},
		{-ENOTSUP, -ENOTSUP, 0},  {-524, -524, 0},
		{-EBUSY, -EBUSY, -EBUSY}, {-EACCES, -EACCES, -EACCES},
	};

	for (size_t i = 0; i < NW_COUNT(rows); i++) {
		ck_assert_int_eq(nw_event_holder(rows[i].answer, true), rows[i].shut);
		ck_assert_int_eq(nw_event_holder(rows[i].answer, false), rows[i].open);
	}
}
END_TEST

static uint16_t counter = 5; /* in a file's private, writable memory */

START_TEST(a_semaphore_is_raised_and_lowered_in_its_process)
{
	struct nw_semaphore_step step = {
		.pid = getpid(), .at = (uintptr_t)&counter, .before = 5};
	struct nw_steps steps = {0};
	struct nw_process process;
	struct nw_action raise, lower;
	struct nw_buf told = {0};

	ck_assert_int_eq(nw_process_open(getpid(), NW_PROCESS_WRITE, &process), 0);
	step.start = process.stat.start;
	nw_vec_each (&process.maps, mapping)
		if (step.at >= mapping->start && step.at < mapping->end) {
			step.its.dev = mapping->dev;
			step.its.ino = mapping->ino;
			step.its.offset = step.at - mapping->start + mapping->offset;
		}
	nw_process_close(&process);
	ck_assert_int_eq(nw_semaphore_action(NW_DO_RAISE, &step, &raise), 0);
	ck_assert_int_eq(nw_semaphore_action(NW_DO_LOWER, &step, &lower), 0);
	ck_assert_int_eq(nw_action_do(&fs, &raise), 0);
	ck_assert_uint_eq(*(volatile uint16_t *)&counter, 6);
	ck_assert_int_eq(nw_action_do(&fs, &lower), 0);
	ck_assert_uint_eq(*(volatile uint16_t *)&counter, 5);
	/* a shell does the same */
	nw_steps_add(&steps, NW_DO_RAISE, raise.file, raise.text);
	nw_steps_print("/t", &steps, &told);
	ck_assert_int_eq(system(nw_buf_str(&told)), 0);
	ck_assert_uint_eq(*(volatile uint16_t *)&counter, 6);
	nw_action_free(&raise);
	nw_action_free(&lower);
	/* another process of that number, or another place, is left alone */
	step.start++;
	ck_assert_int_eq(nw_semaphore_action(NW_DO_LOWER, &step, &lower), 0);
	ck_assert_int_eq(nw_action_do(&fs, &lower), -ESRCH);
	nw_action_free(&lower);
	step.start--;
	step.at += 2;
	ck_assert_int_eq(nw_semaphore_action(NW_DO_LOWER, &step, &lower), 0);
	ck_assert_int_eq(nw_action_do(&fs, &lower), -ESRCH);
	ck_assert_uint_eq(*(volatile uint16_t *)&counter, 6);
	nw_action_free(&lower);
	nw_buf_free(&told);
	nw_steps_free(&steps);
}
END_TEST

/* A trigger that is not known of stays, and with it its event and the instance: an end that cannot be read is no "there is none". */
START_TEST(triggers_that_cannot_be_read_are_an_error)
{
	static const char *const dirs[] = {"events",
					   "events/synthetic",
					   "events/synthetic/g",
					   "instances",
					   "instances/g",
					   "instances/g/events",
					   "instances/g/events/g",
					   "instances/g/events/g/start",
					   "instances/g/events/g/start/trigger",
					   "instances/g/events/g/end"};
	char end[] = "end", start[] = "start", gone[] = "gone";
	char *names[] = {end, start, gone};
	const nw_strings events = {.item = names, .count = NW_COUNT(names)};
	struct nw_steps steps = {0};

	make_dir();
	ck_assert_int_eq(nw_span_watch_steps(&fs, "g", &events, &steps), 0);
	ck_assert_uint_eq(steps.list.count, 0); /* without a synthetic event */
	for (size_t i = 0; i < NW_COUNT(dirs); i++)
		ck_assert_int_eq(mkdirat(fs.root, dirs[i], 0700), 0);
	int file = openat(fs.root, "instances/g/events/g/end/trigger", O_CREAT | O_WRONLY,
			  0600);
	ck_assert_int_eq(write(file, "hist:keys=a [active]\n", 21), 21);
	close(file);
	/* a directory in place of the other file */
	ck_assert_int_eq(nw_span_watch_steps(&fs, "g", &events, &steps), -EISDIR);
	nw_steps_free(&steps);
	ck_assert_int_eq(
		unlinkat(fs.root, "instances/g/events/g/start/trigger", AT_REMOVEDIR), 0);
	ck_assert_int_eq(nw_span_watch_steps(&fs, "g", &events, &steps), 0);
	nw_synthetic_steps(&fs, "g", &steps);
	ck_assert_uint_eq(steps.list.count, 2);
	ck_assert_str_eq(steps.list.item[0].go.text, "!hist:keys=a");
	ck_assert_str_eq(steps.list.item[1].go.text, "!g");
	ck_assert(!steps.failed);
	nw_steps_free(&steps);
	remove_dir();
}
END_TEST

UNIT_MAIN("steps", triggers_that_cannot_be_read_are_an_error,
	  a_semaphore_is_raised_and_lowered_in_its_process,
	  an_own_file_is_made_and_given_a_size,
	  what_enabling_answers_tells_who_has_an_event, all_are_done,
	  or_what_was_done_is_undone, a_journal_that_cannot_be_written_undoes_it_too,
	  an_undo_that_fails_is_told, a_step_that_may_fail_is_passed_over,
	  a_shell_does_the_same, nothing_to_do_is_nothing_to_tell)
