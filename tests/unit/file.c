// SPDX-License-Identifier: MIT
/* Files that others control: what is no regular file is never opened, and nobody is waited for. */
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "elf_files.h"

/* Tells whether anybody opens the file: a FIFO does for all that must not be opened. */
static int watch(const char *path)
{
	int watcher = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	ck_assert_int_ge(watcher, 0);
	ck_assert_int_ge(inotify_add_watch(watcher, path, IN_OPEN), 0);
	return watcher;
}

static bool was_opened(int watcher)
{
	char event[4096];

	return read(watcher, event, sizeof(event)) > 0;
}

static void enter(char dir[64])
{
	eb_dir(dir);
	ck_assert_int_eq(chdir(dir), 0);
}

START_TEST(only_regular_files_are_opened)
{
	char dir[64], text[8] = "";

	enter(dir);
	eb_write_bytes(dir, "file", "hello", 5);
	ck_assert_int_eq(symlink("file", "link"), 0);
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	ck_assert_int_eq(symlink("fifo", "to_fifo"), 0);
	ck_assert_int_eq(symlink("/dev/zero", "to_zero"), 0);
	ck_assert_int_eq(symlink("loop", "loop"), 0);
	int watcher = watch("fifo");
	int fd = nw_open_regular(AT_FDCWD, "link");
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(read(fd, text, sizeof(text)), 5);
	ck_assert_str_eq(text, "hello");
	close(fd);
	ck_assert_int_eq(nw_open_regular(AT_FDCWD, "fifo"), -ENXIO);
	ck_assert_int_eq(nw_open_regular(AT_FDCWD, "to_fifo"), -ENXIO);
	ck_assert_int_eq(nw_open_regular(AT_FDCWD, "to_zero"), -ENXIO);
	ck_assert_int_eq(nw_open_regular(AT_FDCWD, "."), -EISDIR);
	ck_assert_int_eq(nw_open_regular(AT_FDCWD, "loop"), -ELOOP);
	ck_assert_int_eq(nw_open_regular(AT_FDCWD, "none"), -ENOENT);
	ck_assert(!was_opened(watcher));
	close(watcher);
}
END_TEST

/* Somebody who exchanges the file for another thing all the time. */
static pid_t start_swapping(void)
{
	pid_t pid = fork();

	while (pid == 0) {
		if (getppid() == 1 || symlink("file", "fresh") < 0 ||
		    rename("fresh", "name") < 0 || symlink("fifo", "fresh") < 0 ||
		    rename("fresh", "name") < 0)
			_exit(1);
	}
	return pid;
}

START_TEST(what_was_looked_at_is_opened)
{
	char dir[64];

	enter(dir);
	eb_write_bytes(dir, "file", "hello", 5);
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	ck_assert_int_eq(symlink("file", "name"), 0);
	int watcher = watch("fifo");
	pid_t swapper = start_swapping();
	ck_assert_int_gt(swapper, 0);
	for (int i = 0; i < 20000; i++) {
		int fd = nw_open_regular(AT_FDCWD, "name");
		ck_assert(fd >= 0 || fd == -ENXIO);
		if (fd >= 0)
			close(fd);
	}
	ck_assert_int_eq(kill(swapper, SIGKILL), 0);
	ck_assert_int_eq(waitpid(swapper, NULL, 0), swapper);
	ck_assert(!was_opened(watcher));
	close(watcher);
}
END_TEST

UNIT_MAIN("files", only_regular_files_are_opened, what_was_looked_at_is_opened)
