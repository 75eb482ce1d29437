// SPDX-License-Identifier: MIT
/* A journal says the same wherever it was cut, with or without its header; but not after a boot. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/recovery/kept.h"
#include "kernel/steps/journal.h"

#include "unit.h"

static const struct nw_action definition = {.kind = NW_DO_APPEND,
					    .file = (char *)"uprobe_events",
					    .text = (char *)"p:g/e /a b:0x10"};
static const struct nw_action delete = {.kind = NW_DO_APPEND,
					.file = (char *)"uprobe_events",
					.text = (char *)"-:g/e"};
static const struct nw_action before = {.kind = NW_DO_WRITE,
					.file = (char *)"trace_clock",
					.text = (char *)"local"};
static const struct nw_action later = {.kind = NW_DO_WRITE,
				       .file = (char *)"trace_clock",
				       .text = (char *)"mono"};
static const struct nw_action raise_one = {.kind = NW_DO_RAISE,
					   .file = (char *)"1",
					   .text = (char *)"1 2 3 4 5 6 - 7"};
static const struct nw_action lower_one = {.kind = NW_DO_LOWER,
					   .file = (char *)"1",
					   .text = (char *)"1 2 3 4 5 6 - 7"};
static const struct nw_action nothing = {.kind = NW_DO_NOTHING};

static struct nw_journal open_file(void)
{
	char path[] = "/tmp/nopwatch-journal.XXXXXX";
	struct nw_journal journal = {.fd = mkstemp(path)};

	ck_assert_int_ge(journal.fd, 0);
	unlink(path);
	return journal;
}

static void write_some(const struct nw_journal *journal)
{
	ck_assert_int_eq(nw_journal_step(journal, &definition, &delete), 0);
	ck_assert_int_eq(nw_journal_step(journal, &raise_one, &lower_one), 0);
	ck_assert_int_eq(nw_journal_step(journal, &later, &before), 0);
	ck_assert_int_eq(nw_journal_step(journal, &definition, &later), 0);
}

START_TEST(what_was_written_is_read)
{
	struct nw_journal journal = open_file();
	struct nw_journal_contents contents;

	write_some(&journal);
	ck_assert_int_eq(nw_journal_read(&journal, &contents), 0);
	ck_assert_uint_eq(contents.definitions.list.count, 2);
	ck_assert_str_eq(contents.definitions.list.item[0].go.text, "p:g/e /a b:0x10");
	/* the latest first; of a file's values the first */
	ck_assert_uint_eq(contents.undos.list.count, 2);
	ck_assert_str_eq(contents.undos.list.item[0].go.text, "local");
	ck_assert_str_eq(contents.undos.list.item[1].go.text, "-:g/e");
	ck_assert_uint_eq(contents.semaphores.list.count, 1);
	ck_assert_str_eq(contents.semaphores.list.item[0].back.text, "1 2 3 4 5 6 - 7");
	ck_assert(!contents.semaphore_last);
	nw_journal_contents_free(&contents);
	ck_assert(!contents.armed);
	nw_journal_step(&journal, &lower_one, &nothing);
	ck_assert_int_eq(nw_journal_read(&journal, &contents), 0);
	ck_assert_uint_eq(contents.semaphores.list.count, 2);
	ck_assert_int_eq(contents.semaphores.list.item[1].go.kind, NW_DO_LOWER);
	ck_assert(contents.semaphore_last);
	nw_journal_contents_free(&contents);
	struct nw_buf file = {0};
	nw_journal_file(&file, "/proc/self/fd/7", "/a b #");
	ck_assert_int_eq(nw_journal_write(journal.fd, &file), 0);
	nw_buf_free(&file);
	nw_journal_note(&journal, "arming\nundone trace_clock\n");
	ck_assert_int_eq(nw_journal_read(&journal, &contents), 0);
	ck_assert_uint_eq(contents.undos.list.count, 1);
	ck_assert(contents.armed);
	ck_assert_uint_eq(contents.files.list.count, 1);
	ck_assert_str_eq(contents.files.list.item[0].go.text, "/a b #");
	nw_journal_contents_free(&contents);
	close(journal.fd);
}
END_TEST

/* Cut after every byte: each whole line counts, what follows the last does not. */
START_TEST(a_journal_may_be_cut_anywhere)
{
	struct nw_journal whole = open_file();
	struct nw_buf text = {0};

	nw_journal_head(&text);
	nw_journal_write(whole.fd, &text);
	nw_buf_clear(&text);
	write_some(&whole);
	ck_assert_int_eq(nw_journal_text(&whole, &text), 0);
	for (size_t len = 0; len <= text.len; len++) {
		struct nw_journal part = open_file();
		struct nw_journal_contents contents;
		size_t undos = 0, lines = 0;
		struct nw_buf head = {0};
		for (size_t i = 0; i < len; i++)
			lines += text.data[i] == '\n';
		undos = lines < 3 ? 0 : lines < 5 ? 1 : 2;
		nw_buf_add(&head, text.data, len);
		if (len)
			ck_assert_int_eq(nw_journal_write(part.fd, &head), 0);
		ck_assert_int_eq(nw_journal_read(&part, &contents), 0);
		ck_assert_uint_eq(contents.undos.list.count, undos);
		nw_journal_contents_free(&contents);
		nw_buf_free(&head);
		close(part.fd);
	}
	nw_buf_free(&text);
	close(whole.fd);
}
END_TEST

START_TEST(another_boot_is_another_machine)
{
	static const struct {
		const char *head;
		bool stale;
	} heads[] = {
		{"nopwatch 2 01234567-89ab-cdef-0123-456789abcdef\n", true},
		{"nopwatch-kept 1 01234567-89ab-cdef-0123-456789abcdef\n", true},
		{"nopwatch 2 \n", false}, /* it could not be read then */
		{"nopwatch 1\n", false},
		{"", false},
	};

	for (size_t i = 0; i < NW_COUNT(heads); i++) {
		struct nw_journal journal = open_file();
		struct nw_journal_contents contents;
		ck_assert_int_eq(nw_journal_note(&journal, "%s", heads[i].head), 0);
		ck_assert_int_eq(nw_journal_step(&journal, &nothing, &before), 0);
		ck_assert_int_eq(nw_journal_read(&journal, &contents), 0);
		ck_assert_uint_eq(contents.undos.list.count, !heads[i].stale);
		nw_journal_contents_free(&contents);
		close(journal.fd);
	}
}
END_TEST

START_TEST(a_damaged_line_costs_only_itself)
{
	struct nw_journal journal = open_file();
	struct nw_journal_contents contents;

	nw_journal_note(&journal,
			"undo\nundo 99 a b\nundo 7 a b\nundo x a b\n\n \nundo 1 a\n");
	write_some(&journal);
	ck_assert_int_eq(nw_journal_read(&journal, &contents), 0);
	ck_assert_uint_eq(contents.undos.list.count, 2);
	nw_journal_contents_free(&contents);
	close(journal.fd);
}
END_TEST

/* Other nopwatches of this machine may hold the lock for longer than it is waited for. */
static int lock_journals(void)
{
	int lock = nw_journals_lock();

	while (lock == -EBUSY)
		lock = nw_journals_lock();
	ck_assert_int_ge(lock, 0);
	return lock;
}

/* Another process holds the lock of that file, and gives it back a moment later if it is shared. */
static pid_t hold(const char *dir, const char *file, int how)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	int ready[2];
	char byte = 0;

	ck_assert_int_eq(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char path[64];
		snprintf(path, sizeof(path), "%s/%s", dir, file);
		int fd = open(path, O_RDONLY);
		bool has = fd >= 0 && flock(fd, how) == 0;
		if (!has || write(ready[1], &byte, 1) != 1)
			_exit(1);
		if (how == LOCK_EX)
			pause();
		nanosleep(&moment, NULL);
		_exit(0);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

START_TEST(who_only_looks_at_a_journal_is_no_pulse)
{
	static const char session[] = "unit_looked_at";
	struct nw_journal journal, seized;

	ck_assert_int_eq(nw_journal_create(session, &journal, NULL), 0);
	int lock =
		lock_journals(); /* no other nopwatch removes the dead session meanwhile */
	ck_assert_int_eq(nw_journal_seize(session, &seized), NW_JOURNAL_LIVING);
	nw_journal_leave(&journal);
	pid_t looking = hold(nw_journal_dir(), session, LOCK_SH);
	ck_assert_int_eq(nw_journal_seize(session, &seized), NW_JOURNAL_DEAD);
	nw_journal_leave(&seized);
	ck_assert_int_eq(waitpid(looking, NULL, 0), looking);
	pid_t living = hold(nw_journal_dir(), session, LOCK_EX);
	ck_assert_int_eq(nw_journal_seize(session, &seized), NW_JOURNAL_LIVING);
	kill(living, SIGKILL);
	ck_assert_int_eq(waitpid(living, NULL, 0), living);
	ck_assert_int_eq(nw_journal_seize(session, &seized), NW_JOURNAL_DEAD);
	nw_journal_remove(&seized);
	ck_assert_int_eq(nw_journal_seize(session, &seized), NW_JOURNAL_GONE);
	close(lock);
}
END_TEST

/* A gate that cannot be removed keeps its journal, so that `clean` tries again. (Nobody can unlink() a directory.) */
START_TEST(a_gate_that_stays_is_removed_later)
{
	static const char session[] = "unit_gate_stays";
	struct nw_journal journal, seized;
	char path[128];

	ck_assert_int_eq(nw_journal_create(session, &journal, NULL), 0);
	int lock = lock_journals();
	snprintf(path, sizeof(path), "%s/gate.%s", nw_journal_dir(), session);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_lt(nw_journal_remove(&journal), 0);
	ck_assert_int_eq(nw_journal_seize(session, &seized), NW_JOURNAL_DEAD);
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(nw_journal_remove(&seized), 0);
	ck_assert_int_eq(nw_journal_seize(session, &seized), NW_JOURNAL_GONE);
	close(lock);
}
END_TEST

/* A journal that cannot be opened is not one that does not exist. */
START_TEST(a_journal_without_a_descriptor_is_not_gone)
{
	static const char session[] = "unit_no_descriptor";
	struct nw_journal journal, seized;
	struct rlimit all, few;

	ck_assert_int_eq(nw_journal_create(session, &journal, NULL), 0);
	int lock = lock_journals();
	nw_journal_leave(&journal);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &all), 0);
	int next = dup(0);
	close(next);
	for (int more = 0; more < 2; more++) { /* for the directory, but not for the file */
		few = (struct rlimit){(rlim_t)(next + more), all.rlim_max};
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		int checked = nw_journal_check(session);
		int taken = nw_journal_seize(session, &seized);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &all), 0);
		ck_assert_int_eq(checked, -EMFILE);
		ck_assert_int_eq(taken, -EMFILE);
	}
	ck_assert_int_eq(nw_journal_seize(session, &seized), NW_JOURNAL_DEAD);
	ck_assert_int_eq(nw_journal_remove(&seized), 0);
	close(lock);
}
END_TEST

/* Nor is it waited for what is in the place of a journal. */
START_TEST(a_fifo_is_no_journal)
{
	static const char session[] = "unit_fifo";
	struct nw_journal journal, seized;
	char path[128];

	ck_assert_int_eq(nw_journal_create("unit_beside_fifo", &journal, NULL), 0);
	snprintf(path, sizeof(path), "%s/%s", nw_journal_dir(), session);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(nw_journal_check(session), NW_JOURNAL_GONE);
	ck_assert_int_eq(nw_journal_seize(session, &seized), NW_JOURNAL_GONE);
	unlink(path);
	nw_journal_remove(&journal);
}
END_TEST

START_TEST(one_cleans_at_a_time)
{
	struct nw_journal journal;

	ck_assert_int_eq(nw_journal_create("unit_cleaned", &journal, NULL), 0);
	int first = lock_journals();
	int dir = open(nw_journal_dir(), O_RDONLY);
	ck_assert_int_ne(flock(dir, LOCK_EX | LOCK_NB), 0);
	close(first); /* another nopwatch may be the next to hold the lock: no LOCK_NB */
	ck_assert_int_eq(flock(dir, LOCK_EX), 0);
	close(dir);
	/* it is waited for */
	pid_t other = hold(nw_journal_dir(), ".", LOCK_SH);
	close(lock_journals());
	ck_assert_int_eq(waitpid(other, NULL, 0), other);
	nw_journal_remove(&journal);
}
END_TEST

/* Ten sessions that end at once on a slow machine take longer than the time for which a stopped process is waited for. */
START_TEST(a_cleaner_that_goes_on_is_waited_for)
{
	const struct timespec moment = {.tv_nsec = 50000000};
	struct nw_journal journal;
	int ready[2];
	char byte = 0;

	ck_assert_int_eq(nw_journal_create("unit_slow", &journal, NULL), 0);
	ck_assert_int_eq(pipe(ready), 0);
	pid_t slow = fork();
	if (slow == 0) {
		int lock = nw_journals_lock();
		if (lock < 0 || write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (int i = 0; i < 140; i++) {
			nw_journals_progress(lock);
			nanosleep(&moment, NULL);
		}
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	int next = nw_journals_lock();
	ck_assert_int_ge(next, 0);
	close(next);
	close(ready[0]);
	close(ready[1]);
	ck_assert_int_eq(waitpid(slow, NULL, 0), slow);
	nw_journal_remove(&journal);
}
END_TEST

/* Counts that stay: nobody holds the journal, and nobody cleans it, unless the line that says so is cut off, or is taken back. */
START_TEST(what_is_kept_is_not_dead)
{
	char span[] = "r=a..b", by[] = "tid, status", plan[] = "nopwatch-plan 1\ngroup x\n";
	char *spans[] = {span};
	const struct nw_kept kept = {.began_ns = 77,
				     .by = by,
				     .plan = plan,
				     .spans = {.item = spans, .count = 1}};
	struct nw_probe probe = {.named = 3}, *one[] = {&probe};
	const struct nw_selection selection = {.probes = {.item = one, .count = 1}};
	struct nw_journal journal, seized;
	struct nw_buf lines = {0};
	struct nw_kept read;
	struct nw_error err;

	ck_assert_int_eq(nw_journal_create("unit_kept", &journal, NULL), 0);
	ck_assert_int_eq(nw_kept_read("unit_kept", &read, &err), -ENOENT);
	nw_kept_lines(&kept, &selection, &lines);
	/* killed while it wrote the last line */
	ck_assert(write(journal.fd, lines.data, lines.len - 1) == (ssize_t)lines.len - 1);
	nw_journal_leave(&journal);
	ck_assert_int_eq(nw_journal_check("unit_kept"), NW_JOURNAL_DEAD);
	ck_assert_int_eq(nw_journal_seize_kept("unit_kept", &seized), NW_JOURNAL_DEAD);
	ck_assert_int_eq(nw_journal_seize("unit_kept", &seized), NW_JOURNAL_DEAD);
	ck_assert_int_eq(nw_journal_write(seized.fd, &lines), 0);
	ck_assert_int_eq(nw_journal_check("unit_kept"), NW_JOURNAL_LIVING);
	ck_assert_int_eq(nw_kept_read("unit_kept", &read, &err), -ENOENT);
	nw_journal_leave(&seized);
	ck_assert_int_eq(nw_journal_check("unit_kept"), NW_JOURNAL_KEPT);
	ck_assert_int_eq(nw_journal_seize("unit_kept", &seized), NW_JOURNAL_KEPT);
	ck_assert_int_eq(nw_kept_read("unit_kept", &read, &err), 0);
	ck_assert_uint_eq(read.began_ns, 77);
	ck_assert_str_eq(read.by, by);
	ck_assert_str_eq(read.plan, plan);
	ck_assert_uint_eq(read.spans.count, 2); /* the first ones were whole lines */
	ck_assert_str_eq(read.spans.item[1], span);
	ck_assert_uint_eq(read.named.item[0], 3);
	nw_kept_free(&read);
	nw_strings names = {0};
	ck_assert_int_eq(nw_kept_list(&names), 0);
	ck_assert(nw_strings_has(&names, "unit_kept"));
	nw_strings_free(&names);
	/* it is taken away, and who does it is killed */
	ck_assert_int_eq(nw_journal_seize_kept("unit_kept", &seized), NW_JOURNAL_KEPT);
	ck_assert_int_eq(nw_journal_note(&seized, "dropped\n"), 0);
	nw_journal_leave(&seized);
	ck_assert_int_eq(nw_journal_seize("unit_kept", &seized), NW_JOURNAL_DEAD);
	nw_journal_remove(&seized);
	ck_assert_int_eq(nw_journal_check("unit_kept"), NW_JOURNAL_GONE);
	nw_buf_free(&lines);
}
END_TEST

START_TEST(counts_are_called_like_no_process)
{
	static const char *const bad[] = {
		"", "7", "7_1a2b3c", "_x", "A", "a/b", "a.b", "abcdefghijklmnopqrstuvwx"};
	struct nw_error err;

	ck_assert_int_eq(nw_kept_name_check("night_2", &err), 0);
	for (size_t i = 0; i < NW_COUNT(bad); i++)
		ck_assert_int_eq(nw_kept_name_check(bad[i], &err), -EINVAL);
}
END_TEST

UNIT_MAIN("journal", what_is_kept_is_not_dead, counts_are_called_like_no_process,
	  who_only_looks_at_a_journal_is_no_pulse, a_gate_that_stays_is_removed_later,
	  a_journal_without_a_descriptor_is_not_gone, a_fifo_is_no_journal,
	  one_cleans_at_a_time, a_cleaner_that_goes_on_is_waited_for,
	  what_was_written_is_read, a_journal_may_be_cut_anywhere,
	  another_boot_is_another_machine, a_damaged_line_costs_only_itself)
