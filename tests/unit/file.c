// SPDX-License-Identifier: MIT
/* Files that others control: what is no regular file is never opened, and nobody is waited for. */
#include <dirent.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

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
	ck_assert_int_eq(nw_replace_begin("x", NW_FILE_READABLE, false, &file, &err), 0);
	write_to(&file, "one");
	ck_assert_int_eq(nw_replace_commit(&file, &err), 0);
	check_content("x", "one", 0640);
	ck_assert_int_eq(chmod("x", 0604), 0);
	ck_assert_int_eq(nw_replace_begin("x", NW_FILE_READABLE, false, &file, &err), 0);
	write_to(&file, "two");
	check_content("x", "one", 0604);
	nw_replace_abort(&file);
	check_content("x", "one", 0604);
	ck_assert_int_eq(nw_replace_begin("x", NW_FILE_READABLE, false, &file, &err), 0);
	write_to(&file, "three");
	ck_assert_int_eq(nw_replace_commit(&file, &err), 0);
	check_content("x", "three", 0604);
	ck_assert_uint_eq(count_entries(), 1);
	ck_assert_int_eq(nw_replace_begin("no/x", NW_FILE_READABLE, false, &file, &err),
			 -ENOENT);
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
	ck_assert_int_eq(nw_replace_begin("x", NW_FILE_READABLE, false, &file, &err), 0);
	write_to(&file, "one");
	ck_assert_int_eq(nw_replace_commit_new(&file, &err), 0);
	check_content("x", "one", 0640);
	ck_assert_int_eq(nw_replace_begin("x", NW_FILE_READABLE, false, &file, &err), 0);
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
	ck_assert_int_eq(nw_replace_begin("link", NW_FILE_READABLE, false, &file, &err), 0);
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
	ck_assert_int_eq(nw_replace_begin("link", NW_FILE_READABLE, false, &file, &err),
			 -ELOOP);
	ck_assert_str_eq(err.what,
			 "cannot write 'link': it is a link that belongs to another user");
	ck_assert_int_eq(nw_output_open("link", NW_FILE_PRIVATE, false, &err), -ELOOP);
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
	ck_assert_int_eq(
		nw_replace_begin("/dev/full", NW_FILE_READABLE, false, &file, &err), 0);
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
	ck_assert_int_eq(
		nw_replace_begin("/dev/null", NW_FILE_READABLE, false, &file, &err), 0);
	ck_assert_int_eq(nw_write_all(file.fd, "x", 1), 0);
	ck_assert_int_eq(nw_replace_commit(&file, &err), 0);
}
END_TEST

static void replace_with(const char *path, const char *text)
{
	struct nw_error err = {0};

	ck_assert_msg(nw_replace_text(path, NW_FILE_PRIVATE, false, text, strlen(text),
				      &err) == 0,
		      "%s", err.what);
}

static void truncate_with(const char *path, const char *text)
{
	struct nw_error err = {0};
	int fd = nw_output_open(path, NW_FILE_PRIVATE, false, &err);

	ck_assert_msg(fd >= 0, "%s", err.what);
	ck_assert_int_eq(nw_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static void check_refused(const char *path)
{
	static const char wanted[] =
		"cannot write 'open/x': it belongs to another user, and others can write to its directory";
	struct nw_error err = {0};
	struct nw_replace file;
	bool direct;

	ck_assert_int_eq(nw_output_open(path, NW_FILE_PRIVATE, false, &err), -EPERM);
	ck_assert_str_eq(err.what, wanted);
	ck_assert_int_eq(nw_replace_try(path, &direct, &err), -EPERM);
	ck_assert_int_eq(nw_replace_begin(path, NW_FILE_READABLE, false, &file, &err),
			 -EPERM);
	ck_assert_str_eq(err.what, wanted);
	ck_assert_str_eq(err.hint, "remove it, or name another file");
}

START_TEST(what_is_measured_is_private)
{
	char dir[64];

	enter(dir);
	umask(022);
	replace_with("x", "one");
	check_content("x", "one", 0600);
	truncate_with("y", "one");
	check_content("y", "one", 0600);
	ck_assert_int_eq(chmod("x", 0640) + chmod("y", 0640), 0);
	replace_with("x", "two");
	check_content("x", "two", 0640);
	truncate_with("y", "two");
	check_content("y", "two", 0640);
}
END_TEST

/* Others can read the file, may have it open, or may have linked or moved it there from elsewhere. */
START_TEST(where_others_can_write_it_is_another_file)
{
	struct stat before, after;
	char dir[64];

	enter(dir);
	umask(022);
	for (unsigned int mode = 0770; mode <= 01777; mode += 01007) {
		ck_assert_int_eq(mkdir("open", 0700) + chmod("open", mode), 0);
		eb_write_bytes(dir, "kept", "kept", 4);
		ck_assert_int_eq(chmod("kept", 0644), 0);
		ck_assert_int_eq(link("kept", "open/x") + link("kept", "open/y"), 0);
		ck_assert_int_eq(stat("open/y", &before), 0);
		replace_with("open/x", "one");
		check_content("open/x", "one", 0600);
		truncate_with("open/y", "one");
		check_content("open/y", "one", 0600);
		ck_assert_int_eq(stat("open/y", &after), 0);
		ck_assert_uint_ne(before.st_ino, after.st_ino);
		check_content("kept", "kept", 0644);
		ck_assert_int_eq(unlink("open/x") + unlink("open/y") + rmdir("open") +
					 unlink("kept"),
				 0);
	}
}
END_TEST

START_TEST(what_somebody_else_has_put_there_is_refused)
{
	char dir[64];

	enter(dir);
	if (geteuid() != 0) {
		unit_skip("only root can make a file of somebody else's");
		return;
	}
	ck_assert_int_eq(mkdir("open", 0700), 0);
	eb_write_bytes(dir, "open/x", "his", 3);
	ck_assert_int_eq(chown("open/x", 65534, 65534) + chmod("open/x", 0666), 0);
	for (unsigned int mode = 0770; mode <= 01777; mode += 01007) {
		ck_assert_int_eq(chmod("open", mode), 0);
		check_refused("open/x");
		/* also in a directory of his own */
		ck_assert_int_eq(chown("open", 65534, 65534), 0);
		check_refused("open/x");
		ck_assert_int_eq(chown("open", 0, 0), 0);
	}
	check_content("open/x", "his", 0666);
	/* a FIFO, too, which is not waited for */
	ck_assert_int_eq(unlink("open/x") + mkfifo("open/x", 0666), 0);
	ck_assert_int_eq(chown("open/x", 65534, 65534), 0);
	struct nw_error err = {0};
	ck_assert_int_eq(nw_output_open("open/x", NW_FILE_PRIVATE, false, &err), -EPERM);
	ck_assert_int_eq(unlink("open/x"), 0);
	/* one that only he can have put there, or that only we can, is as it was */
	ck_assert_int_eq(chmod("open", 0755), 0);
	eb_write_bytes(dir, "open/x", "his", 3);
	ck_assert_int_eq(chown("open/x", 65534, 65534) + chmod("open/x", 0644), 0);
	replace_with("open/x", "one");
	check_content("open/x", "one", 0644);
	ck_assert_int_eq(chown("open", 65534, 65534), 0);
	truncate_with("open/x", "two");
	check_content("open/x", "two", 0644);
	/* ours in his directory may be a link to one of root's that everybody reads */
	ck_assert_int_eq(chown("open/x", 0, 0), 0);
	truncate_with("open/x", "three");
	check_content("open/x", "three", 0600);
}
END_TEST

/* What a run has left that was killed where files without a name cannot be had. */
START_TEST(leftovers_go_and_nothing_else)
{
	static const char *const stay[] = {
		".nopwatch.0123456789abcde",   ".nopwatch.0123456789abcdeF",
		".nopwatch.0123456789abcdef0", ".nopwatch.00000000000000aa",
		".nopwatch.00000000000000bb",  "x.0123456789abcdef",
		".nopwatch.00000000000000cc", /* another user's, which only root can make */
	};
	const size_t count = NW_COUNT(stay) - (geteuid() != 0);
	const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	struct nw_error err = {0};
	bool direct;
	char dir[64];

	enter(dir);
	eb_write_bytes(dir, ".nopwatch.0123456789abcdef", "left", 4);
	ck_assert_int_eq(utimensat(AT_FDCWD, ".nopwatch.0123456789abcdef", old, 0), 0);
	for (size_t i = 0; i < count; i++) {
		eb_write_bytes(dir, stay[i], "stays", 5);
		ck_assert_int_eq(i == 3 ? 0 : utimensat(AT_FDCWD, stay[i], old, 0), 0);
	}
	if (geteuid() == 0)
		ck_assert_int_eq(chown(stay[count - 1], 4711, 4711), 0);
	/* being written, as far as anybody can tell */
	int fd = open(stay[4], O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	ck_assert_int_eq(nw_replace_try("x", &direct, &err), 0);
	ck_assert_uint_eq(count_entries(), count);
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(access(stay[i], F_OK), 0);
	close(fd);
	ck_assert_int_eq(nw_replace_try("x", &direct, &err), 0);
	ck_assert_uint_eq(count_entries(), count - 1);
}
END_TEST

START_TEST(a_fifo_is_waited_for_until_a_signal_comes)
{
	struct nw_error err = {0};
	sigset_t term;
	char dir[64];

	enter(dir);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	raise(SIGTERM);
	ck_assert_int_eq(nw_output_open("fifo", NW_FILE_PRIVATE, false, &err), -EINTR);
	ck_assert_str_eq(err.what, "cannot write 'fifo': nobody reads from it");
	/* one that came before, and is not pending any more, does, too */
	int number;
	ck_assert_int_eq(sigwait(&term, &number), 0);
	ck_assert_int_eq(nw_output_open("fifo", NW_FILE_PRIVATE, true, &err), -EINTR);
	ck_assert_str_eq(err.what, "cannot write 'fifo': nobody reads from it");
	ck_assert_int_eq(nw_replace_text("fifo", NW_FILE_PRIVATE, true, "x", 1, &err),
			 -EINTR);
	int reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int fd = nw_output_open("fifo", NW_FILE_PRIVATE, false, &err);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	/* a reader who does not read, who is given up after a signal of either kind */
	static const char much[1 << 20];
	ck_assert_int_eq(
		nw_replace_text("fifo", NW_FILE_PRIVATE, true, much, sizeof(much), &err),
		-ECANCELED);
	ck_assert_str_eq(err.what, "cannot write 'fifo': nobody reads from it");
	raise(SIGTERM);
	ck_assert_int_eq(
		nw_replace_text("fifo", NW_FILE_PRIVATE, false, much, sizeof(much), &err),
		-ECANCELED);
	close(fd);
	close(reader);
}
END_TEST

/* The shell's >(COMMAND), which is no path of a file system. */
START_TEST(a_pipe_that_we_have_is_written_to)
{
	char path[32], got[3];
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	truncate_with(path, "yes");
	ck_assert_int_eq(read(ends[0], got, sizeof(got)), 3);
	ck_assert_mem_eq(got, "yes", 3);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

/* A child holds nothing that it was not given. */
START_TEST(a_child_gives_up_what_it_need_not_have)
{
	int ends[2], ours = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int given = open("/dev/null", O_RDONLY);
	int status;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid_t child = fork();
	if (child == 0) {
		nw_close_own_files(&ends[1], 1);
		bool some = fcntl(ours, F_GETFD) < 0 && fcntl(ends[0], F_GETFD) < 0 &&
			    fcntl(given, F_GETFD) >= 0 && fcntl(ends[1], F_GETFD) >= 0;
		nw_close_all_files(&ends[1], 1);
		struct stat null, out;
		bool all = fcntl(given, F_GETFD) < 0 && fcntl(ends[1], F_GETFD) >= 0 &&
			   stat("/dev/null", &null) == 0 &&
			   fstat(STDOUT_FILENO, &out) == 0 && null.st_rdev == out.st_rdev;
		_exit(some && all ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	close(ends[0]);
	close(ends[1]);
	close(ours);
	close(given);
}
END_TEST

/* From now on no directory can be listed in this process, where the kernel can see to that. */
static void forbid_listing(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getdents64, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {NW_COUNT(code), code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* /proc/self/fd can be opened, but what is in it is not told. */
START_TEST(a_child_gives_up_what_it_cannot_list)
{
	int given = open("/dev/null", O_RDONLY), kept = open("/dev/null", O_RDONLY);
	int status;

	pid_t child = fork();
	if (child == 0) {
		forbid_listing();
		nw_close_all_files(&kept, 1);
		bool all = fcntl(given, F_GETFD) < 0 && fcntl(kept, F_GETFD) >= 0;
		nw_close_files_above(STDERR_FILENO);
		_exit(all && fcntl(kept, F_GETFD) < 0 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	close(given);
	close(kept);
}
END_TEST

START_TEST(a_child_ends_with_its_parent)
{
	int ends[2], status;
	char byte;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid_t parent = fork();
	if (parent == 0) {
		parent = getpid();
		if (fork() == 0) {
			nw_end_with_parent(parent, SIGKILL);
			for (;;)
				pause();
		}
		_exit(0);
	}
	close(ends[1]);
	ck_assert_int_eq(waitpid(parent, &status, 0), parent);
	ck_assert_int_eq(read(ends[0], &byte, 1), 0); /* nobody has the other end */
	close(ends[0]);
}
END_TEST

UNIT_MAIN("files", only_regular_files_are_opened, what_was_looked_at_is_opened,
	  links_stay_in_their_root, holes_are_no_content,
	  a_file_is_replaced_when_it_is_complete, a_new_file_takes_no_other_ones_place,
	  links_of_our_own_are_followed, what_is_no_file_is_written_to,
	  what_is_open_for_reading_is_not_written_to, what_is_measured_is_private,
	  where_others_can_write_it_is_another_file,
	  what_somebody_else_has_put_there_is_refused, leftovers_go_and_nothing_else,
	  a_fifo_is_waited_for_until_a_signal_comes, a_pipe_that_we_have_is_written_to,
	  a_child_gives_up_what_it_need_not_have, a_child_gives_up_what_it_cannot_list,
	  a_child_ends_with_its_parent)
