/* SPDX-License-Identifier: MIT */
/* A directory for the files of a test, gone when the test is, however that ends. */
#ifndef NOPWATCH_TESTS_ELF_FILES_H
#define NOPWATCH_TESTS_ELF_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/mman.h>

#include "elf_builder.h"

static inline int eb_remove(const char *path, const struct stat *st, int what,
			    struct FTW *ftw)
{
	(void)st, (void)what, (void)ftw;
	return remove(path);
}

/*
 * Make a directory. A process of its own removes it when the write end of a pipe is closed,
 * which happens when the test ends: at a failed assertion, a crash or a timeout, too.
 */
static inline void eb_dir(char path[64])
{
	int ends[2];

	snprintf(path, 64, "/tmp/nopwatch-unit.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(path));
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) { /* no assertions in a child: they would be the test's */
		char byte;
		close(ends[1]);
		while (read(ends[0], &byte, 1) > 0)
			;
		nftw(path, eb_remove, 8, FTW_DEPTH | FTW_PHYS);
		_exit(0);
	}
	ck_assert_int_gt(pid, 0);
	/* check kills the test's process group when the test has ended: not this one */
	ck_assert_int_eq(setpgid(pid, pid), 0);
	close(ends[0]);
}

/* Write a file below a directory; mode 0755. */
static inline void eb_write_bytes(const char *dir, const char *name, const void *data,
				  size_t len)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	close(fd);
}

/* The finished ELF file below a directory; frees the builder. */
static inline void eb_write(struct eb *b, const char *dir, const char *name)
{
	struct nw_buf file = eb_finish(b);

	eb_write_bytes(dir, name, file.data, file.len);
	nw_buf_free(&file);
}

/* Maps pages of a file of this name, which has four. */
static inline char *map_file(const char *name, int protection, int flags, size_t page,
			     size_t pages)
{
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0755);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, 4 * 4096), 0);
	char *at = mmap(NULL, pages * 4096, protection, flags, fd, (off_t)(page * 4096));
	ck_assert_ptr_ne(at, MAP_FAILED);
	close(fd);
	return at;
}

#endif
