// SPDX-License-Identifier: MIT
/* A directory tree, file by file; the first bytes of a file decide whether it is opened. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "nopwatch/probe.h"

/* Open path if it is a linked ELF file of a known class; -1 if it is anything else. */
static int open_elf(const char *path)
{
	unsigned char head[EI_NIDENT + 2];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);

	if (fd < 0)
		return -1;
	if (pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	    memcmp(head, ELFMAG, SELFMAG) == 0)
		return fd;
	close(fd);
	return -1;
}

static int visit(const char *path, bool force,
		 int (*found)(struct nw_image *image, void *arg), void *arg)
{
	struct nw_image *image;
	int fd = open_elf(path);

	if (fd < 0)
		return 0;
	int ret = nw_image_open_fd(fd, path, force, &image, NULL);
	if (ret < 0) /* a damaged file costs only itself */
		return ret == -ENOMEM ? ret : 0;
	return found(image, arg);
}

/* A file system of the kernel's own making: no programs in it, and some files in it bite. */
static bool is_pseudo(const char *path)
{
	static const unsigned long magics[] = {
		PROC_SUPER_MAGIC,   SYSFS_MAGIC,	 TRACEFS_MAGIC,	   DEBUGFS_MAGIC,
		CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, SECURITYFS_MAGIC, BPF_FS_MAGIC,
		DEVPTS_SUPER_MAGIC, PSTOREFS_MAGIC,
	};
	struct statfs fs;

	if (statfs(path, &fs) < 0)
		return true;
	for (size_t i = 0; i < NW_COUNT(magics); i++)
		if ((unsigned long)fs.f_type == magics[i])
			return true;
	return false;
}

/* Does the walk enter another file system here? */
static bool is_mount(const FTSENT *entry)
{
	return entry->fts_level == 0 ||
	       entry->fts_statp->st_dev != entry->fts_parent->fts_statp->st_dev;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

int nw_walk(const char *root, bool force, int (*found)(struct nw_image *image, void *arg),
	    void *arg, struct nw_error *err)
{
	char *const roots[] = {(char *)(uintptr_t)root, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	FTSENT *entry;
	int ret = 0;

	if (!tree)
		return nw_fail(err, errno, "cannot walk '%s': %s", root,
			       nw_strerror(errno));
	while (ret == 0 && (entry = fts_read(tree))) {
		/* what cannot be read further down costs only itself */
		if (entry->fts_level == 0 &&
		    (entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR))
			ret = nw_fail(err, entry->fts_errno, "cannot walk '%s': %s", root,
				      nw_strerror(entry->fts_errno));
		if (entry->fts_info == FTS_D && is_mount(entry) &&
		    is_pseudo(entry->fts_path))
			fts_set(tree, entry, FTS_SKIP);
		if (entry->fts_info == FTS_F && entry->fts_statp->st_size > 0)
			ret = visit(entry->fts_path, force, found, arg);
	}
	fts_close(tree);
	return ret;
}
