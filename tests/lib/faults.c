// SPDX-License-Identifier: MIT
/*
 * Preloaded by tests/lib/faults: makes one allocation or one system call of a program fail.
 *
 *	FAULT=alloc:N			the Nth malloc(), calloc(), realloc(), ... returns NULL
 *	FAULT=call:N:ERRNO		the Nth system call that can give this error fails with it (enum kind)
 *	FAULT=...:ERRNO:CALLER		the Nth of this caller, which is the hash of the addresses that the call returns to
 *	FAULT_STATE=FILE		struct state, as it is while the program runs; tests/lib/faults reads it
 *	FAULT_WHERE=1			who called the one that failed is written there, too
 *
 * The processes that the program forks count together. What the program executes is left alone.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
	MOST = 1 << 20,
	FRAMES = 14,
	SHOWN = 40,
};

enum kind {
	ALLOC = 1,
	OPEN = 2,     /* opens a file, or makes a descriptor of another kind */
	READ = 4,     /* reads or lists */
	WRITE = 8,    /* writes */
	MAP = 16,     /* maps memory */
	WAIT = 32,    /* waits */
	START = 64,   /* starts a process or a thread */
	CHANGE = 128, /* makes, renames or removes a file or directory */
	TALK = 256,   /* sends or receives a message of a socket */
};

/* Which calls can give which error. */
static const struct {
	int code, kinds;
} errors[] = {
	{EMFILE, OPEN},
	{ENFILE, OPEN},
	{EIO, OPEN | READ | WRITE | CHANGE},
	{ENOMEM, OPEN | READ | WRITE | MAP | WAIT | START | CHANGE | TALK},
	{ENOSPC, WRITE},
	{EINTR, OPEN | READ | WRITE | WAIT},
	{EAGAIN, READ | START},
};

struct state {
	atomic_long seen;      /* those that could fail, of all callers */
	atomic_long of_caller; /* of these, those of the wanted caller */
	atomic_long failed;
	uint32_t callers[MOST]; /* who called each that could fail, by its number - 1 */
	/* who called the one that failed: lines of a file and an offset in it */
	char where[16384];
};

static int kinds; /* that fail, of enum kind */
static long wanted;
static int code;
static unsigned wanted_caller; /* 0: any */
static int wants_where;
static volatile int ready;
static struct state own,
	*state = &own; /* FAULT_STATE, which is shared with the processes that are forked */
static __thread int inside; /* backtrace() and dlsym() allocate, too */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static uint32_t caller_of(void *const *frame, int count)
{
	uint32_t hash = 2166136261u;

	for (int i = 0; i < count; i++)
		hash = (hash ^ (uint32_t)(uintptr_t)frame[i]) * 16777619u;
	return hash;
}

/* Counts one that could fail. Is it the one that shall fail? */
static int is_wanted(uint32_t caller)
{
	long number = atomic_fetch_add(&state->seen, 1) + 1;

	if (number <= MOST)
		state->callers[number - 1] = caller;
	if (wanted_caller && caller != wanted_caller)
		return 0;
	if (wanted_caller)
		number = atomic_fetch_add(&state->of_caller, 1) + 1;
	if (number != wanted)
		return 0;
	atomic_fetch_add(&state->failed, 1);
	return 1;
}

/* Libraries that crash where an allocation of theirs fails, which we cannot mend (docs/dev/upstream.md). */
static const char *const spared[] = {"/libtraceevent.so", "/libcapstone.so"};

struct frames {
	void *const *frame;
	int count;
};

static int is_in_spared(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct frames *frames = arg;
	size_t name = 0;

	(void)size;
	while (name < sizeof(spared) / sizeof(*spared) &&
	       !strstr(info->dlpi_name, spared[name]))
		name++;
	for (int i = 0; name < sizeof(spared) / sizeof(*spared) && i < info->dlpi_phnum;
	     i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		for (int at = 0; part->p_flags & PF_X && at < frames->count; at++)
			if ((uintptr_t)frames->frame[at] - info->dlpi_addr - part->p_vaddr <
			    part->p_memsz)
				return 1;
	}
	return 0;
}

/* Capstone is opened when it is needed: which libraries there are is asked each time. */
static int is_spared(void *const *frame, int count)
{
	struct frames frames = {frame, count};

	return dl_iterate_phdr(is_in_spared, &frames);
}

/* No file is opened for it: the process that reads debugging information may open and write none. */
static void tell_where(void)
{
	void *frame[SHOWN];
	int count = backtrace(frame, SHOWN);
	size_t len = 0;
	Dl_info it;

	for (int i = 0; i < count && len < sizeof(state->where); i++)
		if (dladdr(frame[i], &it))
			len += (size_t)snprintf(
				state->where + len, sizeof(state->where) - len,
				"%s +%#zx\n", it.dli_fname,
				(size_t)((char *)frame[i] - (char *)it.dli_fbase));
}

/* Shall this one fail? */
static int fails(enum kind which)
{
	void *frame[FRAMES];
	int failed, before = errno;

	if (!ready || !(which & kinds) || inside)
		return 0;
	inside = 1;
	int count = backtrace(frame, FRAMES);
	if (is_spared(frame, count)) {
		inside = 0;
		errno = before;
		return 0;
	}
	failed = is_wanted(caller_of(frame, count));
	if (failed && wants_where)
		tell_where();
	inside = 0;
	errno = failed ? (which == ALLOC ? ENOMEM : code) : before;
	return failed;
}

static void share_state(const char *path)
{
	int fd = path ? open(path, O_RDWR) : -1;
	void *shared = MAP_FAILED;

	if (fd >= 0)
		shared = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			      0);
	if (path && shared == MAP_FAILED)
		abort();
	if (path)
		state = shared;
	if (fd >= 0)
		close(fd);
}

__attribute__((constructor)) static void begin(void)
{
	const char *fault = getenv("FAULT");
	char word[8] = "";
	void *frame[4];

	inside = 1;
	wants_where = getenv("FAULT_WHERE") != NULL;
	unsetenv("LD_PRELOAD");
	backtrace(frame, 4); /* opens a library when it is called first */
	share_state(getenv("FAULT_STATE"));
	if (fault &&
	    sscanf(fault, "%7[a-z]:%ld:%d:%x", word, &wanted, &code, &wanted_caller) >= 1)
		kinds = strcmp(word, "call") == 0 ? OPEN | READ : ALLOC;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (kinds != ALLOC && errors[i].code == code)
			kinds = errors[i].kinds;
	inside = 0;
	ready = fault != NULL;
}

/* ---- memory ------------------------------------------------------------------------- */

void *malloc(size_t size)
{
	return fails(ALLOC) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(ALLOC) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails(ALLOC) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails(ALLOC) ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
	return fails(ALLOC) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	*out = fails(ALLOC) ? NULL : __libc_memalign(alignment, size);
	return *out ? 0 : ENOMEM;
}

/* ---- system calls, and what of libc makes them out of sight --------------------------- */

#define REAL(name)                                                 \
	static __typeof__(&name) real;                             \
	do {                                                       \
		inside++;                                          \
		if (!real)                                         \
			*(void **)&real = dlsym(RTLD_NEXT, #name); \
		inside--;                                          \
	} while (0)

static int mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, int) : 0;
}

#define OPEN(name)                                                 \
	int name(const char *path, int flags, ...)                 \
	{                                                          \
		REAL(name);                                        \
		va_list args;                                      \
		va_start(args, flags);                             \
		int mode = mode_of(flags, args);                   \
		va_end(args);                                      \
		return fails(OPEN) ? -1 : real(path, flags, mode); \
	}
#define OPENAT(name)                                                    \
	int name(int dir, const char *path, int flags, ...)             \
	{                                                               \
		REAL(name);                                             \
		va_list args;                                           \
		va_start(args, flags);                                  \
		int mode = mode_of(flags, args);                        \
		va_end(args);                                           \
		return fails(OPEN) ? -1 : real(dir, path, flags, mode); \
	}
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

ssize_t read(int fd, void *to, size_t len)
{
	REAL(read);
	return fails(READ) ? -1 : real(fd, to, len);
}

#define PREAD(name)                                              \
	ssize_t name(int fd, void *to, size_t len, off_t at)     \
	{                                                        \
		REAL(name);                                      \
		return fails(READ) ? -1 : real(fd, to, len, at); \
	}
PREAD(pread)
PREAD(pread64)

FILE *fopen(const char *path, const char *mode)
{
	REAL(fopen);
	return fails(OPEN) ? NULL : real(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	REAL(fopen64);
	return fails(OPEN) ? NULL : real(path, mode);
}

char *fgets(char *to, int size, FILE *file)
{
	REAL(fgets);
	if (!fails(READ))
		return real(to, size, file);
	file->_flags |= 0x20; /* _IO_ERR_SEEN of glibc: ferror() says so */
	return NULL;
}

ssize_t getline(char **line, size_t *room, FILE *file)
{
	REAL(getline);
	if (!fails(READ))
		return real(line, room, file);
	file->_flags |= 0x20;
	return -1;
}

DIR *opendir(const char *path)
{
	REAL(opendir);
	return fails(OPEN) ? NULL : real(path);
}

DIR *fdopendir(int fd)
{
	REAL(fdopendir);
	return fails(OPEN) ? NULL : real(fd);
}

struct dirent *readdir(DIR *dir)
{
	REAL(readdir);
	return fails(READ) ? NULL : real(dir);
}

struct dirent64 *readdir64(DIR *dir)
{
	REAL(readdir64);
	return fails(READ) ? NULL : real(dir);
}

ssize_t readlink(const char *path, char *to, size_t len)
{
	REAL(readlink);
	return fails(READ) ? -1 : real(path, to, len);
}

ssize_t readlinkat(int dir, const char *path, char *to, size_t len)
{
	REAL(readlinkat);
	return fails(READ) ? -1 : real(dir, path, to, len);
}

char *realpath(const char *path, char *to)
{
	REAL(realpath);
	return fails(READ) ? NULL : real(path, to);
}

/* Messages are written, so that what is said of the failed call can be seen. Only files on a disk or in memory can be full. */
static int fails_to_write(int fd)
{
	struct statfs system;
	struct stat file;

	if (fd == STDERR_FILENO ||
	    (code == ENOSPC &&
	     (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode) || fstatfs(fd, &system) < 0 ||
	      system.f_type == TRACEFS_MAGIC || system.f_type == DEBUGFS_MAGIC ||
	      system.f_type == PROC_SUPER_MAGIC)))
		return 0;
	return fails(WRITE);
}

ssize_t write(int fd, const void *from, size_t len)
{
	REAL(write);
	return fails_to_write(fd) ? -1 : real(fd, from, len);
}

ssize_t pwrite64(int fd, const void *from, size_t len, off64_t at)
{
	REAL(pwrite64);
	return fails_to_write(fd) ? -1 : real(fd, from, len, at);
}

void *mmap64(void *at, size_t len, int protection, int flags, int fd, off64_t from)
{
	REAL(mmap64);
	return fails(MAP) ? MAP_FAILED : real(at, len, protection, flags, fd, from);
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	REAL(poll);
	return fails(WAIT) ? -1 : real(fds, count, timeout);
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout)
{
	REAL(epoll_wait);
	return fails(WAIT) ? -1 : real(epoll, events, most, timeout);
}

int epoll_create1(int flags)
{
	REAL(epoll_create1);
	return fails(OPEN) ? -1 : real(flags);
}

int pipe2(int ends[2], int flags)
{
	REAL(pipe2);
	return fails(OPEN) ? -1 : real(ends, flags);
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
	REAL(socketpair);
	return fails(OPEN) ? -1 : real(domain, type, protocol, ends);
}

int signalfd(int fd, const sigset_t *signals, int flags)
{
	REAL(signalfd);
	return fails(OPEN) ? -1 : real(fd, signals, flags);
}

int dup(int fd)
{
	REAL(dup);
	return fails(OPEN) ? -1 : real(fd);
}

pid_t fork(void)
{
	REAL(fork);
	return fails(START) ? -1 : real();
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*run)(void *), void *arg)
{
	REAL(pthread_create);
	return fails(START) ? EAGAIN : real(thread, attributes, run, arg);
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags)
{
	REAL(recvmsg);
	return fails(TALK) ? -1 : real(socket, message, flags);
}

ssize_t recv(int socket, void *to, size_t len, int flags)
{
	REAL(recv);
	return fails(TALK) ? -1 : real(socket, to, len, flags);
}

ssize_t send(int socket, const void *from, size_t len, int flags)
{
	REAL(send);
	return fails(TALK) ? -1 : real(socket, from, len, flags);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
	REAL(sendmsg);
	return fails(TALK) ? -1 : real(socket, message, flags);
}

int mkdir(const char *path, mode_t mode)
{
	REAL(mkdir);
	return fails(CHANGE) ? -1 : real(path, mode);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
	REAL(mkdirat);
	return fails(CHANGE) ? -1 : real(dir, path, mode);
}

int unlink(const char *path)
{
	REAL(unlink);
	return fails(CHANGE) ? -1 : real(path);
}

int unlinkat(int dir, const char *path, int flags)
{
	REAL(unlinkat);
	return fails(CHANGE) ? -1 : real(dir, path, flags);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	REAL(renameat);
	return fails(CHANGE) ? -1 : real(from_dir, from, to_dir, to);
}

int rmdir(const char *path)
{
	REAL(rmdir);
	return fails(CHANGE) ? -1 : real(path);
}

int ftruncate64(int fd, off64_t len)
{
	REAL(ftruncate64);
	return fails(CHANGE) ? -1 : real(fd, len);
}

int fsync(int fd)
{
	REAL(fsync);
	return fails(CHANGE) ? -1 : real(fd);
}

/* Calls for which libc has no function of its own, or had none when older kernels were new. */
long syscall(long number, ...)
{
	REAL(syscall);
	va_list args;
	long arg[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	switch (number) {
	case SYS_openat2:
	case SYS_perf_event_open:
	case SYS_memfd_create:
	case SYS_pidfd_open:
		if (fails(OPEN))
			return -1;
		break;
	case SYS_getdents64:
		if (fails(READ))
			return -1;
		break;
	}
	return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
