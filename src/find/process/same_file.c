// SPDX-License-Identifier: MIT
/*
 * Tells whether a process maps a given file, and where addresses of our own are in our executable. A path proves
 * nothing (containers, replaced files). A device number does not either: on btrfs and overlayfs, maps, stat() of
 * the path and stat() of the mapped file show three different numbers for a file. So stat() is called on the mapped
 * file itself: on btrfs it then shows the path's device, and on overlayfs the build ID decides if the devices
 * differ.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "find/process/process.h"

struct nw_file_id nw_image_file_id(const struct nw_image *image)
{
	return (struct nw_file_id){image->dev, image->ino, image->size, image->build_id,
				   image->overlay};
}

bool nw_image_is_same(const struct nw_image *image, const struct nw_file_id *file)
{
	if (image->ino != file->ino)
		return false;
	if (image->dev == file->dev)
		return true;
	/* Unrelated file systems number their files alike, so the inode alone is no proof. */
	return (image->overlay || file->overlay) && image->size == file->size &&
	       file->build_id && *file->build_id &&
	       strcmp(image->build_id, file->build_id) == 0;
}

static bool has_build(int proc, const char *path, const struct nw_file_id *file)
{
	struct nw_image *image;
	int fd = file->build_id && *file->build_id ? nw_open_regular(proc, path) : -1;

	if (fd < 0 || nw_image_open_fd(fd, path, false, &image, NULL) < 0)
		return false;
	bool same = nw_image_is_same(image, file);
	nw_image_free(image);
	return same;
}

/* Uses only what the kernel has cached, so that a file system that does not respond cannot block us. (Before Linux
 * 4.11 it can.) */
static int look_at(int proc, const char *path, struct stat *st)
{
#ifdef STATX_INO
	struct statx facts;

	if (statx(proc, path, AT_STATX_DONT_SYNC, STATX_INO, &facts) == 0) {
		*st = (struct stat){
			.st_ino = facts.stx_ino,
			.st_dev = makedev(facts.stx_dev_major, facts.stx_dev_minor)};
		return 0;
	}
	if (errno != ENOSYS && errno != EPERM)
		return -1;
#endif
	return fstatat(proc, path, st, 0);
}

/* Returns 1 if the path refers to the file, 0 if not, -1 if the path cannot be examined. */
static int is_file(int proc, const char *path, const struct nw_file_id *file)
{
	struct stat st;

	if (look_at(proc, path, &st) < 0)
		return -1;
	return st.st_ino == file->ino &&
	       (st.st_dev == file->dev || has_build(proc, path, file));
}

/* The mapped file itself can be examined since 3.3, before 4.3 only with CONFIG_CHECKPOINT_RESTORE, and only with
 * the right to. Otherwise its path is examined, and if that fails, the device in maps must be the same. */
bool nw_mapping_is_of(int proc, const struct nw_mapping *mapping,
		      const struct nw_file_id *file)
{
	char path[64];

	if (!mapping->ino)
		return false;
	snprintf(path, sizeof(path), "map_files/%jx-%jx", mapping->start, mapping->end);
	int is = is_file(proc, path, file);
	if (is >= 0)
		return is;
	if (mapping->ino != file->ino)
		return false;
	nw_cleanup(nw_free_ptr) char *there = nw_text("root%s", mapping->path);
	is = mapping->deleted || *mapping->path != '/' || !there
		     ? -1
		     : is_file(proc, there, file);
	return is > 0 || mapping->dev == file->dev;
}

static uint64_t offset_of(int proc, const nw_mappings *maps, const struct nw_file_id *file,
			  uintptr_t address)
{
	nw_vec_each (maps, mapping)
		if (address >= mapping->start && address < mapping->end)
			return nw_mapping_is_of(proc, mapping, file)
				       ? address - mapping->start + mapping->offset
				       : 0;
	return 0;
}

int nw_process_own_offsets(const uintptr_t *addresses, size_t count, uint64_t *offsets,
			   struct nw_error *err)
{
	nw_mappings maps = {0};
	struct stat st;
	int proc = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret = 0;

	if (proc < 0 || fstatat(proc, "exe", &st, 0) < 0)
		ret = nw_fail(err, errno, "cannot find our own executable: %s",
			      nw_strerror(errno));
	if (ret == 0)
		ret = nw_process_maps(getpid(), &maps, err);
	for (size_t i = 0; ret == 0 && i < count; i++) {
		const struct nw_file_id file = {(uint64_t)st.st_dev, (uint64_t)st.st_ino,
						(uint64_t)st.st_size, "", false};
		offsets[i] = offset_of(proc, &maps, &file, addresses[i]);
		if (!offsets[i])
			ret = nw_fail(err, ENOENT, "our own code is not in our executable");
	}
	nw_mappings_free(&maps);
	if (proc >= 0)
		close(proc);
	return ret;
}
