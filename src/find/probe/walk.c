// SPDX-License-Identifier: MIT
/*
 * Walks a directory tree in the order of names. Nearly all of the time the kernel resolves paths and opens files to
 * see whether they are ELF files. So several threads read directories, and the caller's thread gets the results in
 * order. A thread notes only the paths of files with notes, which are few: descriptors and memory do not grow with
 * the tree.
 *
 * fts(3) is not used, because it asks for the status of every file, which takes as long as everything else.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/old_headers.h"
#include "find/probe/probe.h"
#include "select.h"

enum {
	DEEPEST = 200,	  /* deeper than any real tree: a loop of mounts */
	MOST_THREADS = 8, /* more threads do not make a disk faster */
	READ_ALONE = 64,  /* directories to read before starting threads pays off */
};

/* ---- a directory -------------------------------------------------------------------- */

struct dir;

/* A file with notes, or a directory. */
struct entry {
	char *file;
	struct dir *dir;
};

struct dir {
	char *path;
	unsigned int depth;
	dev_t parent; /* device of the parent directory */
	NW_VEC(struct entry) entries;
	/* The entries are complete; protected by the walk's lock, unlike the other fields */
	bool read;
	struct dir *next; /* the next directory to read */
};

/* Buffers that a thread uses for one directory after the other. */
struct reader {
	struct nw_buf names, path;
};

static void free_dir(struct dir *dir)
{
	nw_vec_free(&dir->entries);
	free(dir->path);
	free(dir);
}

static void free_reader(struct reader *reader)
{
	nw_buf_free(&reader->names);
	nw_buf_free(&reader->path);
}

/* Is it a file system that the kernel generates (/proc, /sys)? It contains no programs, and opening some of its files
 * has side effects. */
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

/* Returns its descriptor, or -1 if it is not to be walked. The root may be a link. */
static int open_dir(struct dir *dir, dev_t *dev)
{
	int follow = dir->depth ? O_NOFOLLOW : 0;
	int fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && (st.st_dev == dir->parent || !is_pseudo(fd))) {
		*dev = st.st_dev;
		return fd;
	}
	close(fd);
	return -1;
}

static bool is_wanted(int dir, struct dirent64 *name)
{
	struct stat st;

	if (name->d_type == DT_UNKNOWN &&
	    fstatat(dir, name->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		name->d_type = (unsigned char)IFTODT(st.st_mode);
	return name->d_type == DT_REG ||
	       (name->d_type == DT_DIR && strcmp(name->d_name, ".") != 0 &&
		strcmp(name->d_name, "..") != 0);
}

/* ---- a file ------------------------------------------------------------------------- */

/* Opens a file if it is an ELF file, and reads its header as far as it exists. Returns -1 for other files. */
static int open_elf(int dir, const char *name, Elf64_Ehdr *head)
{
	int fd = openat(dir, name,
			O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);

	if (fd < 0)
		return -1;
	*head = (Elf64_Ehdr){0};
	if (pread(fd, head, sizeof(*head), 0) >= EI_NIDENT &&
	    memcmp(head, ELFMAG, SELFMAG) == 0)
		return fd;
	close(fd);
	return -1;
}

/*
 * May the file have notes? They are found by the name of their section. For the usual file, two small reads show that
 * the name is missing, which makes further reads unnecessary. For all other files the answer is yes.
 */
static bool may_have_notes(int fd, const Elf64_Ehdr *head)
{
	static const char wanted[] = ".note.stapsdt";
	const unsigned char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
					     ? ELFDATA2LSB
					     : ELFDATA2MSB;
	Elf64_Shdr names;
	char text[4096];

	if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != native ||
	    head->e_shentsize != sizeof(names) || head->e_shstrndx >= SHN_LORESERVE)
		return true;
	off_t at = (off_t)(head->e_shoff + head->e_shstrndx * sizeof(names));
	if (pread(fd, &names, sizeof(names), at) != (ssize_t)sizeof(names) ||
	    names.sh_type != SHT_STRTAB || names.sh_size > sizeof(text) ||
	    pread(fd, text, names.sh_size, (off_t)names.sh_offset) !=
		    (ssize_t)names.sh_size)
		return true;
	return memmem(text, names.sh_size, wanted, sizeof(wanted) - 1) != NULL;
}

/* Returns 1 if it is a file with notes; 0: it is not, or too damaged; -ENOMEM. */
static int has_notes(int dir, const char *name)
{
	struct nw_image *image;
	Elf64_Ehdr head;
	int fd = open_elf(dir, name, &head);

	if (fd < 0)
		return 0;
	if (!may_have_notes(fd, &head)) {
		close(fd);
		return 0;
	}
	int ret = nw_image_open_fd(fd, name, false, &image, NULL);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	ret = image->notes == NW_NOTES_FOUND || image->notes == NW_NOTES_UNLINKED;
	nw_image_free(image);
	return ret;
}

/* ---- reading ------------------------------------------------------------------------ */

/* Returns the path of an entry. The first len bytes of reader->path are the path of its directory. */
static char *entry_path(struct reader *reader, size_t len, const char *name)
{
	if (reader->path.failed)
		return NULL;
	nw_buf_cut(&reader->path, len);
	if (len && reader->path.data[len - 1] != '/')
		nw_buf_addc(&reader->path, '/');
	nw_buf_adds(&reader->path, name);
	return reader->path.failed ? NULL : strdup(nw_buf_str(&reader->path));
}

static struct dir *new_dir(char *path, unsigned int depth, dev_t parent)
{
	struct dir *dir = path ? calloc(1, sizeof(*dir)) : NULL;

	if (!dir) {
		free(path);
		return NULL;
	}
	dir->path = path;
	dir->depth = depth;
	dir->parent = parent;
	return dir;
}

static int add_dir(struct dir *dir, dev_t dev, char *path)
{
	struct dir *below = new_dir(path, dir->depth + 1, dev);
	struct entry *entry = below ? nw_vec_add(&dir->entries) : NULL;

	if (entry) {
		entry->dir = below;
		return 0;
	}
	if (below)
		free_dir(below);
	return -ENOMEM;
}

static int add_file(struct dir *dir, char *path)
{
	struct entry *entry = path ? nw_vec_add(&dir->entries) : NULL;

	if (entry) {
		entry->file = path;
		return 0;
	}
	free(path);
	return -ENOMEM;
}

static int read_entry(struct reader *reader, struct dir *dir, int fd, dev_t dev,
		      const struct dirent64 *name)
{
	size_t len = strlen(dir->path);
	int ret;

	if (name->d_type == DT_DIR)
		return dir->depth + 1 < DEEPEST
			       ? add_dir(dir, dev, entry_path(reader, len, name->d_name))
			       : 0;
	ret = has_notes(fd, name->d_name);
	return ret > 0 ? add_file(dir, entry_path(reader, len, name->d_name)) : ret;
}

static const char *path_of(const struct entry *entry)
{
	return entry->dir ? entry->dir->path : entry->file;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(path_of(a), path_of(b));
}

static int read_entries(struct reader *reader, struct dir *dir, int fd, dev_t dev)
{
	/* getdents64(2), because opendir(3) and readdir(3) need three more system calls for each directory. */
	_Alignas(struct dirent64) char part[32768];
	long got;
	nw_buf_clear(&reader->names);
	while ((got = syscall(SYS_getdents64, fd, part, sizeof(part))) > 0)
		nw_buf_add(&reader->names, part, (size_t)got);
	int ret = reader->names.failed ? -ENOMEM : 0;

	for (size_t at = 0; ret == 0 && at < reader->names.len;) {
		struct dirent64 *name = (struct dirent64 *)(reader->names.data + at);
		at += name->d_reclen;
		if (is_wanted(fd, name))
			ret = read_entry(reader, dir, fd, dev, name);
	}
	return ret;
}

/* Reads a directory and sorts its entries, so that the order is always the same. Entries that cannot be read are
 * skipped. */
static int read_dir(struct reader *reader, struct dir *dir)
{
	dev_t dev;
	int fd = open_dir(dir, &dev);

	if (fd < 0)
		return 0;
	nw_buf_clear(&reader->path);
	nw_buf_adds(&reader->path, dir->path);
	int ret = read_entries(reader, dir, fd, dev);
	close(fd);
	if (dir->entries.count > 1)
		qsort(dir->entries.item, dir->entries.count, sizeof(*dir->entries.item),
		      by_path);
	return ret;
}

/* ---- several threads ---------------------------------------------------------------- */

struct walk {
	bool force;
	int (*found)(struct nw_image *image, void *arg);
	void *arg;
	pthread_mutex_t lock; /* protects all fields below, and `read` of each directory */
	pthread_cond_t changed;
	struct dir *todo; /* a stack; the first directory of the tree is on top */
	unsigned int read;
	int failed;
	bool ended; /* the walk is over */
	pthread_t threads[MOST_THREADS];
	unsigned int thread_count;
	bool started;
};

/* Reads directories from the list until the given one has been read; NULL: until the walk ends. The caller holds the
 * lock. */
static void read_until(struct walk *walk, struct reader *reader, const struct dir *until)
{
	while (until ? !until->read : !walk->ended) {
		struct dir *dir = walk->todo;
		if (!dir) {
			pthread_cond_wait(&walk->changed, &walk->lock);
			continue;
		}
		walk->todo = dir->next;
		bool wanted = !walk->ended && !walk->failed;
		pthread_mutex_unlock(&walk->lock);
		int ret = wanted ? read_dir(reader, dir) : 0;
		pthread_mutex_lock(&walk->lock);
		for (size_t i = dir->entries.count; i-- > 0;) {
			struct dir *below = dir->entries.item[i].dir;
			if (!below)
				continue;
			below->next = walk->todo;
			walk->todo = below;
		}
		dir->read = true;
		walk->read++;
		if (ret < 0)
			walk->failed = ret;
		pthread_cond_broadcast(&walk->changed);
	}
}

static void *help(void *arg)
{
	struct reader reader = {0};
	struct walk *walk = arg;

	/* The thread gets its own table of descriptors: a shared one is locked at every open and close. No descriptor
	 * is passed between threads. */
	unshare(CLONE_FILES);
	pthread_mutex_lock(&walk->lock);
	read_until(walk, &reader, NULL);
	pthread_mutex_unlock(&walk->lock);
	free_reader(&reader);
	return NULL;
}

/* Starts a thread for each CPU that we may use; the caller's thread is one of them. */
static void start_threads(struct walk *walk)
{
	cpu_set_t cpus;
	int count = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 2;

	walk->started = true;
	for (int i = 1; i < count && i < MOST_THREADS; i++)
		if (pthread_create(&walk->threads[walk->thread_count], NULL, help, walk) ==
		    0)
			walk->thread_count++;
}

/* ---- the whole ---------------------------------------------------------------------- */

static int hand_out(struct walk *walk, const char *path)
{
	struct nw_image *image;
	int ret = nw_image_open(path, walk->force, &image, NULL);

	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	return walk->found(image, walk->arg);
}

/* Waits for a directory, hands out its files and those below it in order, and frees it. */
static int finish_dir(struct walk *walk, struct reader *reader, struct dir *dir, int ret)
{
	pthread_mutex_lock(&walk->lock);
	read_until(walk, reader, dir);
	ret = ret ? ret : walk->failed;
	walk->ended = walk->ended || ret;
	bool more = !walk->started && walk->read >= READ_ALONE;
	pthread_mutex_unlock(&walk->lock);
	if (more)
		start_threads(walk);
	nw_vec_each (&dir->entries, entry) {
		if (entry->dir)
			ret = finish_dir(walk, reader, entry->dir, ret);
		else if (ret == 0)
			ret = hand_out(walk, entry->file);
		free(entry->file);
	}
	free_dir(dir);
	return ret;
}

static int walk_dir(struct walk *walk, struct dir *root)
{
	struct reader reader = {0};

	pthread_mutex_init(&walk->lock, NULL);
	pthread_cond_init(&walk->changed, NULL);
	walk->todo = root;
	int ret = finish_dir(walk, &reader, root, 0);
	pthread_mutex_lock(&walk->lock);
	walk->ended = true;
	pthread_cond_broadcast(&walk->changed);
	pthread_mutex_unlock(&walk->lock);
	for (unsigned int i = 0; i < walk->thread_count; i++)
		pthread_join(walk->threads[i], NULL);
	pthread_mutex_destroy(&walk->lock);
	pthread_cond_destroy(&walk->changed);
	free_reader(&reader);
	return ret;
}

int nw_walk(const char *root, bool force, int (*found)(struct nw_image *image, void *arg),
	    void *arg, struct nw_error *err)
{
	struct walk walk = {.force = force, .found = found, .arg = arg};
	struct stat st;

	if (stat(root, &st) < 0 ||
	    (S_ISDIR(st.st_mode) && faccessat(AT_FDCWD, root, R_OK | X_OK, AT_EACCESS) < 0))
		return nw_fail(err, errno, "cannot walk '%s': %s", root,
			       nw_strerror(errno));
	if (!S_ISDIR(st.st_mode)) {
		int ret = S_ISREG(st.st_mode) ? has_notes(AT_FDCWD, root) : 0;
		return ret > 0 ? hand_out(&walk, root) : ret;
	}
	/* No device is the root's parent: it may be a mount. */
	struct dir *dir = new_dir(strdup(root), 0, (dev_t)-1);
	int ret = dir ? walk_dir(&walk, dir) : -ENOMEM;
	return ret == -ENOMEM ? nw_no_memory(err) : ret;
}
