// SPDX-License-Identifier: MIT
/* Files that others control: what is no regular file is never opened, and nobody is waited for. */
#include <dirent.h>
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

/* Links of another root lead into it, also from its top. */
START_TEST(links_stay_in_their_root)
{
	char dir[64], text[8] = "";

	enter(dir);
	ck_assert_int_eq(mkdir("root", 0700), 0);
	ck_assert_int_eq(mkdir("root/etc", 0700), 0);
	eb_write_bytes("root/etc", "hostname", "theirs", 6);
	ck_assert_int_eq(symlink("/etc/hostname", "root/link"), 0);
	ck_assert_int_eq(symlink("../../../../etc/passwd", "root/up"), 0);
	int fd = nw_open_regular_in("root", "/link");
	if (fd == -ENOENT) {
		unit_skip("the links of an old kernel lead into our own root");
		return;
	}
	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(read(fd, text, 7), 6);
	close(fd);
	if (strcmp(text, "theirs") == 0)
		ck_assert_int_eq(nw_open_regular_in("root", "/up"), -ENOENT);
}
END_TEST

START_TEST(holes_are_no_content)
{
	char dir[64];

	enter(dir);
	eb_write_bytes(dir, "file", "hello", 5);
	int fd = open("file", O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert(!nw_is_hollow(fd));
	ck_assert_int_eq(ftruncate(fd, 1 << 20), 0);
	ck_assert(!nw_is_hollow(fd)); /* small */
	ck_assert_int_eq(ftruncate(fd, (off_t)1 << 40), 0);
	ck_assert(nw_is_hollow(fd));
	close(fd);
}
END_TEST

/* ---- writing ------------------------------------------------------------------------ */

static void check_content(const char *path, const char *wanted, unsigned int mode)
{
	struct nw_buf text = {0};
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(nw_buf_read(&text, fd), 0);
	ck_assert_str_eq(nw_buf_str(&text), wanted);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, mode);
	close(fd);
	nw_buf_free(&text);
}

static unsigned int count_entries(void)
{
	struct dirent **names;
	int count = scandir(".", &names, NULL, alphasort);

	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return (unsigned int)count - 2; /* . and .. */
}

static void write_to(struct nw_replace *file, const char *text)
{
	ck_assert_int_eq(nw_write_all(file->fd, text, strlen(text)), 0);
}

START_TEST(a_file_is_replaced_when_it_is_complete)
{
	struct nw_error err = {0};
	struct nw_replace file;
	bool direct = true;
	char dir[64];

	enter(dir);
	umask(027);
	ck_assert_int_eq(nw_replace_try("x", &direct, &err), 0);
	ck_assert(!direct);
	ck_assert_uint_eq(count_entries(), 0);
	ck_assert_int_eq(nw_replace_begin("x", &file, &err), 0);
	write_to(&file, "one");
	ck_assert_int_eq(nw_replace_commit(&file, &err), 0);
	check_content("x", "one", 0640);
	ck_assert_int_eq(chmod("x", 0604), 0);
	ck_assert_int_eq(nw_replace_begin("x", &file, &err), 0);
	write_to(&file, "two");
	check_content("x", "one", 0604);
	nw_replace_abort(&file);
	check_content("x", "one", 0604);
	ck_assert_int_eq(nw_replace_begin("x", &file, &err), 0);
	write_to(&file, "three");
	ck_assert_int_eq(nw_replace_commit(&file, &err), 0);
	check_content("x", "three", 0604);
	ck_assert_uint_eq(count_entries(), 1);
	ck_assert_int_eq(nw_replace_begin("no/x", &file, &err), -ENOENT);
	ck_assert_str_eq(err.what, "cannot write 'no/x': No such file or directory");
}
END_TEST

START_TEST(a_new_file_takes_no_other_ones_place)
{
	struct nw_error err = {0};
	struct nw_replace file;
	char dir[64];

	enter(dir);
	umask(027);
	ck_assert_int_eq(nw_replace_begin("x", &file, &err), 0);
	write_to(&file, "one");
	ck_assert_int_eq(nw_replace_commit_new(&file, &err), 0);
	check_content("x", "one", 0640);
	ck_assert_int_eq(nw_replace_begin("x", &file, &err), 0);
	write_to(&file, "two");
	ck_assert_int_eq(nw_replace_commit_new(&file, &err), -EEXIST);
	ck_assert_str_eq(err.what, "cannot write 'x': File exists");
	check_content("x", "one", 0640);
	ck_assert_uint_eq(count_entries(), 1);
}
END_TEST

START_TEST(links_of_our_own_are_followed)
{
	struct nw_error err = {0};
	struct nw_replace file;
	struct stat st;
	char dir[64];

	enter(dir);
	eb_write_bytes(dir, "target", "old", 3);
	ck_assert_int_eq(symlink("target", "link"), 0);
	ck_assert_int_eq(nw_replace_begin("link", &file, &err), 0);
	write_to(&file, "new");
	ck_assert_int_eq(nw_replace_commit(&file, &err), 0);
	check_content("target", "new", 0755);
	ck_assert_int_eq(lstat("link", &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	if (geteuid() != 0) {
		unit_skip("only root can make a link of somebody else's");
		return;
	}
	ck_assert_int_eq(lchown("link", 65534, 65534), 0);
	ck_assert_int_eq(nw_replace_begin("link", &file, &err), -ELOOP);
	ck_assert_str_eq(err.what,
			 "cannot write 'link': it is a link that belongs to another user");
	ck_assert_int_eq(nw_output_open("link", &err), -ELOOP);
	check_content("target", "new", 0755);
}
END_TEST

START_TEST(what_is_no_file_is_written_to)
{
	struct nw_error err = {0};
	struct nw_replace file;
	bool direct = false;

	ck_assert_int_eq(nw_replace_try("/dev/null", &direct, &err), 0);
	ck_assert(direct);
	ck_assert_int_eq(nw_replace_begin("/dev/full", &file, &err), 0);
	ck_assert_int_eq(nw_write_all(file.fd, "x", 1), -ENOSPC);
	ck_assert_int_eq(nw_replace_commit(&file, &err), 0);
}
END_TEST

/* As of a job in the background, whose input is /dev/null. */
START_TEST(what_is_open_for_reading_is_not_written_to)
{
	struct nw_error err = {0};
	struct nw_replace file;

	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(dup2(null, STDIN_FILENO), STDIN_FILENO);
	close(null);
	ck_assert_int_eq(nw_replace_begin("/dev/null", &file, &err), 0);
	ck_assert_int_eq(nw_write_all(file.fd, "x", 1), 0);
	ck_assert_int_eq(nw_replace_commit(&file, &err), 0);
}
END_TEST

UNIT_MAIN("files", only_regular_files_are_opened, what_was_looked_at_is_opened,
	  links_stay_in_their_root, holes_are_no_content,
	  a_file_is_replaced_when_it_is_complete, a_new_file_takes_no_other_ones_place,
	  links_of_our_own_are_followed, what_is_no_file_is_written_to,
	  what_is_open_for_reading_is_not_written_to)
