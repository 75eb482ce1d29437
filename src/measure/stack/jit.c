// SPDX-License-Identifier: MIT
/*
 * Names of code that a process has generated itself: runtimes list them in /tmp/perf-PID.map (Linux,
 * tools/perf/Documentation/jit-interface.txt), a line "START SIZE NAME" each, in hexadecimal. Anybody may put such a
 * file there. It counts only if it is a plain file of moderate size that belongs to the user of the process or to
 * root.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/state.h"

#include "modules.h"

enum {
	MOST_BYTES = 64 << 20,
	MOST_NAMES = 1 << 20,
	LONGEST = 512,
	/* RESOLVE_... of linux/openat2.h, which older headers do not have. */
	NO_MAGICLINKS = 0x02,
	IN_ROOT = 0x10
};

/*
 * Opens a file in the process's /tmp below its root, so that a symbolic link cannot leave the root. Kernels before
 * openat2 (Linux 5.6), and containers that refuse unknown system calls, follow no symbolic links at all.
 */
static int open_below(int root, const char *name, int flags)
{
#ifdef SYS_openat2
	const struct {
		uint64_t flags, mode, resolve;
	} how = {(uint64_t)flags, 0, NO_MAGICLINKS | IN_ROOT};
	nw_cleanup(nw_free_ptr) char *path = nw_text("tmp/%s", name);

	if (!path)
		return -1;
	int found = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (found >= 0 || (errno != ENOSYS && errno != EPERM))
		return found;
#endif
	int tmp = openat(root, "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tmp < 0)
		return -1;
	int fd = openat(tmp, name, flags);
	close(tmp);
	return fd;
}

/* The request to the process that copies a list, which gets a copy of it. */
struct asked {
	char proc[256];
	pid_t pid;
	uid_t owner; /* whose lists count, besides root's */
	/* As of the last reading: what has been read is not copied again. */
	uint64_t size, inode, end;
};

/* A copy begins with this. The text follows, each byte as far behind it as it is in the list; what is in front of `from` is left
 * out. */
struct copy_head {
	uint64_t size, inode, from;
};

enum {
	TAIL = 64 /* bytes in front of the end that tell whether it is the same list */
};

/*
 * Opens the list as the process sees /tmp, or as we see it if the process has ended. (A zombie has an owner, but no
 * root any more.)
 */
static int open_list(const struct asked *asked, struct stat *st)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	int pid = (int)asked->pid, root = -1, fd = -1;
	nw_cleanup(nw_free_ptr) char *its_root = nw_text("%s/%d/root", asked->proc, pid);

	if (its_root)
		root = open(its_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	nw_cleanup(nw_free_ptr) char *name = nw_text(
		"/tmp/perf-%d.map", root >= 0 ? nw_proc_own_number(asked->proc, pid) : pid);
	if (name)
		fd = root < 0 ? open(name, flags)
			      : open_below(root, name + strlen("/tmp/"), flags);
	if (root >= 0)
		close(root);
	if (fd < 0)
		return -1;
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_size <= MOST_BYTES &&
	    (st->st_uid == asked->owner || st->st_uid == 0))
		return fd;
	close(fd);
	return -1;
}

static int copy_text(int list, const struct copy_head *head)
{
	struct nw_buf text = {0};
	int copy = nw_memory_file("perf.map");

	if (lseek(list, (off_t)head->from, SEEK_SET) >= 0)
		nw_buf_read_most(&text, list, MOST_BYTES);
	const off_t place = (off_t)(sizeof(*head) + head->from);
	if (copy >= 0 && (text.failed || nw_write_all(copy, head, sizeof(*head)) < 0 ||
			  lseek(copy, place, SEEK_SET) < 0 ||
			  nw_write_all(copy, nw_buf_str(&text), text.len) < 0)) {
		close(copy);
		copy = -1;
	}
	nw_buf_free(&text);
	return copy < 0 ? -EIO : copy;
}

/* Copies what is new in the list, in another process: its file system may never answer (struct nw_read_file). */
static int copy_list(void *arg, unsigned int what, const char *name)
{
	const struct asked *asked = arg;
	struct stat st;
	int list = open_list(asked, &st), copy = -EALREADY;

	(void)what;
	(void)name;
	if (list < 0)
		return -ENOENT;
	struct copy_head head = {.size = (uint64_t)st.st_size, .inode = st.st_ino};
	if (head.inode == asked->inode && head.size >= asked->end)
		head.from = asked->end - nw_min64(asked->end, TAIL);
	if (head.size != asked->size || head.inode != asked->inode)
		copy = copy_text(list, &head);
	close(list);
	return copy;
}

static void take_line(nw_jit_names *names, const char *line, size_t len)
{
	char *end, *rest;
	uint64_t start = strtoull(line, &end, 16);

	if (end == line || *end != ' ' || names->count == MOST_NAMES)
		return;
	uint64_t size = strtoull(end + 1, &rest, 16);
	if (rest == end + 1 || *rest != ' ' || rest >= line + len || !size)
		return;
	size_t name = (size_t)(line + len - rest - 1);
	struct nw_jit_name *slot = nw_vec_add(names);
	if (!slot)
		return;
	*slot = (struct nw_jit_name){start, size, (uint32_t)names->count,
				     strndup(rest + 1, name < LONGEST ? name : LONGEST)};
	if (!slot->name)
		names->count--;
}

/* Of two names that start at one address, the later one is valid, because code moves. */
static int by_start(const void *a, const void *b)
{
	const struct nw_jit_name *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Sorts the names from index `from` on into the list. Mostly, runtimes put new code behind the old. */
static void sort_in(nw_jit_names *names, size_t from)
{
	size_t left = names->count - from, to = names->count;
	struct nw_jit_name *fresh = left ? malloc(left * sizeof(*fresh)) : NULL;

	if (!fresh) {
		if (left)
			qsort(names->item, names->count, sizeof(*names->item), by_start);
		return;
	}
	qsort(names->item + from, left, sizeof(*names->item), by_start);
	memcpy(fresh, names->item + from, left * sizeof(*fresh));
	while (left)
		names->item[--to] = from && by_start(&names->item[from - 1],
						     &fresh[left - 1]) > 0
					    ? names->item[--from]
					    : fresh[--left];
	free(fresh);
}

/* Returns a hash of the last bytes in front of `end`. */
static uint64_t tail_of(int copy, uint64_t end)
{
	char bytes[TAIL];
	size_t len = (size_t)nw_min64(end, sizeof(bytes));
	const off_t place = (off_t)(sizeof(struct copy_head) + end - len);

	return pread(copy, bytes, len, place) == (ssize_t)len ? nw_hash_text(bytes, len)
							      : 0;
}

/* Forgets the names if the list was written anew. Returns false if the copy lacks its beginning then. */
static bool begin_reading(struct nw_maps *maps, int copy, const struct copy_head *head)
{
	bool same = head->inode == maps->jit_inode && head->size >= maps->jit_end &&
		    tail_of(copy, maps->jit_end) == maps->jit_tail;

	if (!same) {
		nw_vec_each (&maps->jit, it)
			free(it->name);
		maps->jit.count = 0;
		maps->jit_end = maps->jit_inode = maps->jit_size = 0;
	}
	if (head->from > maps->jit_end)
		return false;
	maps->jit_inode = head->inode;
	maps->jit_size = head->size;
	return true;
}

/* Reads new lines. A last line without its end is taken, and again when it has one: the later entry is valid. */
static void read_new_lines(struct nw_maps *maps, int copy)
{
	size_t before = maps->jit.count;
	struct nw_buf text = {0};

	if (lseek(copy, (off_t)(sizeof(struct copy_head) + maps->jit_end), SEEK_SET) >= 0)
		nw_buf_read_most(&text, copy, MOST_BYTES);
	for (const char *at = nw_buf_str(&text); *at;) {
		size_t len = strcspn(at, "\n");
		take_line(&maps->jit, at, len);
		at += len + (at[len] == '\n');
		maps->jit_end += at[-1] == '\n' ? len + 1 : 0;
	}
	nw_buf_free(&text);
	maps->jit_tail = tail_of(copy, maps->jit_end);
	sort_in(&maps->jit, before);
}

/* Has the list copied. Returns -errno if there is none, or nothing new in it. */
static int have_copied(struct nw_stacks *stacks, struct nw_maps *maps)
{
	struct asked asked = {.pid = maps->pid,
			      .size = maps->jit_size,
			      .inode = maps->jit_inode,
			      .end = maps->jit_end};
	const struct nw_read_file file = {
		.get = copy_list, .arg = &asked, .size = sizeof(asked)};
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/%d", stacks->proc, (int)maps->pid);
	nw_cleanup(nw_free_ptr) char *list = nw_text("/tmp/perf-%d.map", (int)maps->pid);
	struct nw_error why = {0};
	struct stat process;

	if (!path || !list)
		return -ENOMEM;
	if (stat(path, &process) == 0)
		maps->owner = process.st_uid;
	asked.owner = maps->owner;
	snprintf(asked.proc, sizeof(asked.proc), "%s", stacks->proc);
	int copy = nw_reader_copy(stacks->reader, &file, &why);
	maps->jit_given_up = copy == -EHOSTDOWN;
	struct nw_unread *unread = maps->jit_given_up
					   ? nw_unread_of(stacks, list, false, why.what)
					   : NULL;
	if (unread)
		unread->files++;
	return copy;
}

static void read_list(struct nw_stacks *stacks, struct nw_maps *maps)
{
	struct copy_head head;
	bool read = false;

	/* The second copy is of the whole list. */
	for (int copies = 0; copies < 2 && !read && !maps->jit_given_up; copies++) {
		int copy = have_copied(stacks, maps);
		if (copy < 0)
			return;
		if (pread(copy, &head, sizeof(head), 0) == (ssize_t)sizeof(head))
			read = begin_reading(maps, copy, &head);
		if (read)
			read_new_lines(maps, copy);
		close(copy);
	}
}

static const struct nw_jit_name *find(const nw_jit_names *names, uint64_t address)
{
	size_t low = nw_vec_lower_bound(names, name, name->start <= address);

	return low && address - names->item[low - 1].start < names->item[low - 1].size
		       ? &names->item[low - 1]
		       : NULL;
}

const struct nw_jit_name *nw_jit_find(struct nw_stacks *stacks, struct nw_maps *maps,
				      uint64_t address)
{
	const struct nw_jit_name *found = find(&maps->jit, address);

	if (found || !stacks->proc)
		return found;
	read_list(stacks, maps);
	return find(&maps->jit, address);
}

/* Is `word` in the text, with no letter of a name right before or behind it? */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at++)
		if ((at == text || !nw_is_word(at[-1])) && !nw_is_word(at[len]))
			return true;
	return false;
}

int nw_generated_find(pid_t pid, const char *name, char **out)
{
	struct nw_stacks *stacks = NULL;
	int ret = nw_stacks_open("/proc", &stacks);
	struct nw_maps *maps = ret == 0 ? nw_maps_of(stacks, pid) : NULL;

	*out = NULL;
	if (maps)
		read_list(stacks, maps);
	for (size_t i = 0; maps && !*out && i < maps->jit.count; i++)
		if (has_word(maps->jit.item[i].name, name)) {
			*out = strdup(maps->jit.item[i].name);
			ret = *out ? 0 : -ENOMEM;
		}
	nw_stacks_free(stacks);
	if (ret < 0 || !maps)
		return -ENOMEM;
	return *out ? 0 : -ENOENT;
}
