// SPDX-License-Identifier: MIT
/*
 * The directory tracefs: its place (found by libtracefs) and its small text files.
 * docs/dev/decisions/0026-what-libtracefs-does-for-us.md lists which work libtracefs does, which not, and why.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tracefs.h>
#include <unistd.h>

#include "files.h"
#include "refusal.h"

/* Unescapes a path: /proc/mounts writes a blank, tab, newline or backslash as \ooo, and libtracefs does not change
 * that. */
static void take_path(const char *text, char *out, size_t room)
{
	size_t len = 0;

	while (*text && len + 1 < room) {
		unsigned int byte = 0;
		int digits = 0;
		if (sscanf(text, "\\%3o%n", &byte, &digits) == 1 && digits == 4) {
			out[len++] = (char)byte;
			text += 4;
		} else {
			out[len++] = *text++;
		}
	}
	out[len] = '\0';
}

#ifdef __SANITIZE_ADDRESS__
/* libtracefs allocates a new path each time, which callers must not free (libtracefs-files(3)). LeakSanitizer has to see the
 * symbol, which is weak because a test that knows of leaks in another library defines its own. */
__attribute__((weak, visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtracefs.so";
}
__attribute__((visibility("default"))) const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
	return "print_suppressions=0";
}
#endif

/* Finds the mount point of tracefs, or of debugfs with tracing below it. */
static int find_mount(char *out, size_t room)
{
	const char *path = NULL;

	errno = 0;
	if (tracefs_tracing_dir_is_mounted(false, &path) != 1 || !path)
		return nw_shortage() ? nw_shortage() : -ENOENT;
	take_path(path, out, room);
	if (nw_tracefs_has(AT_FDCWD, out))
		return 0;
	/* A debugfs may have no tracing directory. */
	return errno == EACCES ? -EACCES : -ENOENT;
}

/* tracefs is a file system of its own since 4.1; before, it is a part of debugfs. */
static bool kernel_has(const char *type)
{
	FILE *list = fopen("/proc/filesystems", "re");
	char line[128];
	bool found = !list && nw_is_shortage(errno);

	while (list && fgets(line, sizeof(line), list))
		found = found || strstr(line, type);
	if (list)
		fclose(list);
	return found;
}

static int not_allowed(const char *path, int code, struct nw_error *err)
{
	if (code == EROFS) {
		nw_fail(err, code, "tracefs at %s is mounted read-only", path);
		nw_error_hint(err,
			      geteuid() == 0 ? "mount -o remount,rw %s"
					     : "as root: mount -o remount,rw %s",
			      path);
		return -code;
	}
	nw_fail(err, code, "may not use tracefs at %s: %s", path, nw_strerror(code));
	if (geteuid() != 0)
		nw_error_hint(err,
			      "run as root (sudo nopwatch ...), or with CAP_DAC_OVERRIDE");
	else
		nw_error_hint(
			err,
			"even root may not: a container without the right to see it, or kernel lockdown (cat /sys/kernel/security/lockdown)");
	return -code;
}

static int not_mounted(struct nw_error *err)
{
	bool own = kernel_has("tracefs");

	if (!own && !kernel_has("debugfs")) {
		nw_fail(err, ENOSYS,
			"this kernel has no tracefs (built without CONFIG_FTRACE)");
		nw_error_hint(err, "a kernel with CONFIG_UPROBE_EVENTS=y is needed");
		return -ENOSYS;
	}
	nw_fail(err, ENOENT, "tracefs is not mounted");
	if (own)
		nw_error_hint(
			err,
			geteuid() == 0
				? "mount -t tracefs nodev /sys/kernel/tracing"
				: "as root: mount -t tracefs nodev /sys/kernel/tracing");
	else
		nw_error_hint(
			err, geteuid() == 0
				     ? "mount -t debugfs nodev /sys/kernel/debug"
				     : "as root: mount -t debugfs nodev /sys/kernel/debug");
	return -ENOENT;
}

int nw_tracefs_open(struct nw_tracefs *out, struct nw_error *err)
{
	struct nw_tracefs fs = {.root = -1};
	const char *told = getenv("NOPWATCH_TRACEFS");

	int found = 0;
	if (told)
		snprintf(fs.path, sizeof(fs.path), "%s", told);
	else
		found = find_mount(fs.path, sizeof(fs.path));
	if (found == -ENOENT)
		return not_mounted(err);
	if (found ==
	    -EACCES) /* debugfs, which contains it on old kernels, is accessible to root only */
		return not_allowed(fs.path, EACCES, err);
	if (found < 0)
		return nw_fail(err, -found, "cannot find out where tracefs is: %s",
			       nw_strerror(-found));
	fs.root = open(fs.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fs.root < 0 && (errno == EACCES || errno == EPERM))
		return not_allowed(fs.path, errno, err);
	if (fs.root < 0)
		return nw_fail(err, errno, "cannot open %s: %s", fs.path,
			       nw_strerror(errno));
	/* Lockdown shows only when the file is opened. Opening it for appending changes nothing. */
	int events = openat(fs.root, "uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	int code = errno;
	if (events >= 0) {
		close(events);
		*out = fs;
		return 0;
	}
	bool is_tracefs = nw_tracefs_has(fs.root, "trace_clock");
	close(fs.root);
	if (code == EACCES || code == EPERM || code == EROFS)
		return not_allowed(fs.path, code, err);
	if (code != ENOENT)
		return nw_fail(err, code, "cannot open %s/uprobe_events: %s", fs.path,
			       nw_strerror(code));
	if (told && !is_tracefs) {
		nw_fail(err, ENOTDIR, "NOPWATCH_TRACEFS: %s is not a tracefs", told);
		nw_error_hint(err,
			      "it is a mount of type tracefs, such as /sys/kernel/tracing");
		return -ENOTDIR;
	}
	nw_fail(err, ENOSYS,
		"this kernel has no uprobe_events (built without CONFIG_UPROBE_EVENTS)");
	nw_error_hint(err,
		      "`nopwatch script` and `--from` work with another machine's kernel");
	return -ENOSYS;
}

void nw_tracefs_close(struct nw_tracefs *fs)
{
	if (fs->root >= 0)
		close(fs->root);
	fs->root = -1;
}

int nw_tracefs_open_lock(const struct nw_tracefs *fs, struct nw_error *err)
{
	int fd = openat(fs->root, "README", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? nw_fail(err, errno, "cannot open tracefs' README: %s",
				nw_strerror(errno))
		      : fd;
}

int nw_tracefs_read(int dir, const char *file, struct nw_buf *out)
{
	return nw_buf_read_file(out, dir, file);
}

static int write_file(int dir, const char *file, const char *text, int flags)
{
	int fd = openat(dir, file, O_WRONLY | O_CLOEXEC | flags);
	int ret = 0;

	if (fd < 0)
		return -errno;
	size_t len = strlen(text);
	ssize_t done = write(fd, text, len);
	if (done < 0)
		ret = -errno;
	else if ((size_t)done != len)
		ret = -EIO;
	/* Some files take effect, and report errors, only when they are closed. */
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	return ret;
}

int nw_tracefs_write(int dir, const char *file, const char *text)
{
	/* Truncating one of these files would delete the definitions of all users. */
	if (strstr(file, "uprobe_events") || strstr(file, NW_KPROBE_EVENTS) ||
	    strstr(file, "dynamic_events") || strstr(file, "synthetic_events"))
		return -EPERM;
	return write_file(dir, file, text, O_TRUNC);
}

int nw_tracefs_append(int dir, const char *file, const char *text)
{
	return write_file(dir, file, text, O_APPEND);
}

int nw_tracefs_list(int dir, const char *path, const char *prefix, nw_strings *out)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	int ret = list ? 0 : -errno;
	struct dirent *entry;

	if (!list && fd >= 0)
		close(fd);
	while (ret == 0 && (errno = 0, entry = readdir(list)))
		if (entry->d_name[0] != '.' && entry->d_type == DT_DIR &&
		    strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			ret = nw_strings_add(out, entry->d_name, strlen(entry->d_name));
	if (ret == 0)
		ret = -errno;
	if (list)
		closedir(list);
	return ret;
}

int nw_tracefs_list_any(int dir, const char *path, const char *prefix, nw_strings *out)
{
	int ret = nw_tracefs_list(dir, path, prefix, out);

	return ret == -ENOENT ? 0 : ret;
}

/* access() does not count capabilities of users other than root (access(2)). */
bool nw_tracefs_has(int dir, const char *file)
{
	struct stat st;

	return fstatat(dir, file, &st, 0) == 0;
}

/*
 * error_log has entries "[ 12.34] trace_uprobe: error: MESSAGE\n Command: LINE\n". The kernel logs nothing for some
 * errors, so only an entry with this command counts, and not somebody's older one. Kernels around 5.4 cut the
 * command to 255 characters.
 */
void nw_tracefs_reason(const struct nw_tracefs *fs, const char *command, char out[128])
{
	static const char mark[] = "error: ", label[] = "\n  Command: ";
	size_t len = nw_min64(strcspn(command, "\n"), 200);
	struct tracefs_instance *top = tracefs_instance_alloc(fs->path, NULL);
	char *log = top ? tracefs_instance_file_read(top, "error_log", NULL) : NULL;
	const char *last = NULL, *at = log;

	while (at && (at = strstr(at, mark))) {
		at += sizeof(mark) - 1;
		const char *end = at + strcspn(at, "\n");
		if (strncmp(end, label, sizeof(label) - 1) == 0 &&
		    strncmp(end + sizeof(label) - 1, command, len) == 0)
			last = at;
	}
	snprintf(out, 128, "%.*s", last ? (int)strcspn(last, "\n") : 0, last ? last : "");
	free(log);
	tracefs_instance_free(top);
}
