// SPDX-License-Identifier: MIT
/*
 * A directory tree, file by file; the first bytes of a file decide whether it is opened. Not by
 * fts(3): it asks for the status of every file, which takes as long as all the rest.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "nopwatch/probe.h"

/* Open the file if it is a linked ELF file of a known class; -1 if it is anything else. */
static int open_elf(int dir, const char *name)
{
	unsigned char head[EI_NIDENT + 2];
	int fd = openat(dir, name,
			O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);

	if (fd < 0)
		return -1;
	if (pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	    memcmp(head, ELFMAG, SELFMAG) == 0)
		return fd;
	close(fd);
	return -1;
}

/* A file system of the kernel's own making: no programs in it, and some files in it bite. */
static bool is_pseudo(int dir)
{
	static const unsigned long magics[] = {
		PROC_SUPER_MAGIC,   SYSFS_MAGIC,	 TRACEFS_MAGIC,	   DEBUGFS_MAGIC,
		CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, SECURITYFS_MAGIC, BPF_FS_MAGIC,
		DEVPTS_SUPER_MAGIC, PSTOREFS_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(dir, &fs) < 0)
		return true;
	for (size_t i = 0; i < NW_COUNT(magics); i++)
		if ((unsigned long)fs.f_type == magics[i])
			return true;
	return false;
}

struct walk {
	bool force;
	int (*found)(struct nw_image *image, void *arg);
	void *arg;
	struct nw_buf path; /* of what is being looked at */
	unsigned int depth;
};

static int visit_file(struct walk *walk, int dir, const char *name)
{
	struct nw_image *image;
	int fd = open_elf(dir, name);

	if (fd < 0)
		return 0;
	int ret = nw_image_open_fd(fd, nw_buf_str(&walk->path), walk->force, &image, NULL);
	if (ret < 0) /* a damaged file costs only itself */
		return ret == -ENOMEM ? ret : 0;
	return walk->found(image, walk->arg);
}

/* ---- directories -------------------------------------------------------------------- */

/* An entry as "TYPE NAME"; the type, from readdir(), spares a system call a file. */
static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a + 1, *(char *const *)b + 1);
}

static char type_of(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return (char)entry->d_type;
	if (fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return (char)IFTODT(st.st_mode);
}

/* The files and directories in it, sorted, so that the order is always the same. */
static int read_names(DIR *stream, nw_strings *out)
{
	struct dirent *entry;
	char text[sizeof(entry->d_name) + 1];

	while ((entry = readdir(stream))) {
		text[0] = type_of(dirfd(stream), entry);
		if ((text[0] != DT_REG && text[0] != DT_DIR) ||
		    strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		size_t len = strlen(entry->d_name);
		memcpy(text + 1, entry->d_name, len);
		if (nw_strings_add(out, text, len + 1) < 0)
			return -ENOMEM;
	}
	if (out->count)
		qsort(out->item, out->count, sizeof(*out->item), by_name);
	return 0;
}

static int visit_dir(struct walk *walk, int fd, dev_t parent);

static int visit_entry(struct walk *walk, int dir, dev_t dev, const char *entry)
{
	size_t len = walk->path.len;
	int ret = 0;

	nw_buf_printf(&walk->path, "%s%s",
		      len && walk->path.data[len - 1] == '/' ? "" : "/", entry + 1);
	if (walk->path.failed)
		return -ENOMEM;
	if (*entry == DT_REG) {
		ret = visit_file(walk, dir, entry + 1);
	} else {
		int fd = openat(dir, entry + 1,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0) /* what cannot be read further down costs only itself */
			ret = visit_dir(walk, fd, dev);
	}
	nw_buf_cut(&walk->path, len);
	return ret;
}

/* Takes the descriptor over. parent: the device of the directory it is in. */
static int visit_dir(struct walk *walk, int fd, dev_t parent)
{
	enum {
		DEEPEST = 200 /* a descriptor each */
	};
	nw_strings names = {0};
	struct stat st;
	int ret = 0;

	if (walk->depth == DEEPEST || fstat(fd, &st) < 0 ||
	    (st.st_dev != parent && is_pseudo(fd))) {
		close(fd);
		return 0;
	}
	DIR *stream = fdopendir(fd);
	if (!stream) {
		close(fd);
		return -ENOMEM;
	}
	walk->depth++;
	ret = read_names(stream, &names);
	nw_vec_each (&names, entry)
		if (ret == 0)
			ret = visit_entry(walk, fd, st.st_dev, *entry);
	walk->depth--;
	closedir(stream);
	nw_strings_free(&names);
	return ret;
}

int nw_walk(const char *root, bool force, int (*found)(struct nw_image *image, void *arg),
	    void *arg, struct nw_error *err)
{
	struct walk walk = {.force = force, .found = found, .arg = arg};
	struct stat st;
	int ret, fd = -1;

	if (stat(root, &st) < 0 ||
	    (S_ISDIR(st.st_mode) &&
	     (fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0))
		return nw_fail(err, errno, "cannot walk '%s': %s", root,
			       nw_strerror(errno));
	nw_buf_adds(&walk.path, root);
	if (fd >= 0) /* no device is the root's parent: it may be a mount */
		ret = visit_dir(&walk, fd, (dev_t)-1);
	else
		ret = S_ISREG(st.st_mode) ? visit_file(&walk, AT_FDCWD, root) : 0;
	nw_buf_free(&walk.path);
	return ret;
}
