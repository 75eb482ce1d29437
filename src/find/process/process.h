/* SPDX-License-Identifier: MIT */
/*
 * find/process: running processes, their threads, numbers and mappings. Reads /proc, whose content is hostile until
 * it was checked.
 */
#ifndef NOPWATCH_FIND_PROCESS_PROCESS_H
#define NOPWATCH_FIND_PROCESS_PROCESS_H

#include "find/elf/elf.h"

/* ---- processes ---------------------------------------------------------------------- */

struct nw_mapping {
	uint64_t start, end, offset;
	uint64_t dev, ino; /* as maps shows them; btrfs shows other devices in stat() */
	bool exec, write, shared, deleted;
	/* As the kernel prints it, unescaped, without " (deleted)"; "": anonymous memory. */
	char *path;
};

typedef NW_VEC(struct nw_mapping) nw_mappings;
typedef NW_VEC(pid_t) nw_pids;

/* Reads the mappings of a process. ESRCH: it is gone; EACCES: the right is missing. */
int nw_process_maps(pid_t pid, nw_mappings *out, struct nw_error *err);
/* Reads the maps of a process from the /proc mounted at `proc`, which may number processes differently (struct nw_pid_space). */
int nw_process_maps_in(const char *proc, pid_t pid, nw_mappings *out, struct nw_error *err);
void nw_mappings_free(nw_mappings *maps);
/* Lists all threads of a process. ESRCH: it is gone. */
int nw_process_threads(pid_t pid, nw_pids *out, struct nw_error *err);
/* Adds the child processes of all its threads. Returns 0 or -errno. */
int nw_process_children(pid_t pid, nw_pids *out);
/* Lists all processes. */
int nw_process_all(nw_pids *out, struct nw_error *err);
/* Does one of the open files of the process pass the test? `link`: its path. The files of a process that may not be looked at,
 * or is gone, pass none. */
bool nw_process_has_open(pid_t pid, bool (*test)(const char *link, const void *arg),
			 const void *arg);
/* Reads a thread's process and name. -ESRCH: it is gone. */
int nw_process_task(pid_t tid, pid_t *process, char comm[16]);
/* Facts that distinguish a process from a later one with the same number, and a fork from a process that has
 * started a program. */
struct nw_process_stat {
	uint64_t start; /* clock ticks since boot */
	bool forked;	/* it still runs its parent's program (PF_FORKNOEXEC) */
	bool kernel;	/* it is one of the kernel's own threads (PF_KTHREAD) */
	bool exiting;	/* it is ending, or is a zombie (PF_EXITING) */
};
int nw_process_stat(pid_t pid, struct nw_process_stat *out); /* 0 or -errno */

/*
 * A process, opened once. Between two uses of /proc/PID another process may get the number, and the process may
 * start another program (exec) with more rights. Here memory, maps and stat always belong to one process and one
 * program. After an exec, memory still refers to the old program, and writes to it have no effect.
 */
struct nw_process {
	pid_t pid;
	int dir;    /* /proc/PID, which stays tied to the process if the number is reused */
	int memory; /* its /proc/PID/mem; -1: reading it is not allowed */
	struct nw_process_stat stat;
	nw_mappings maps;
};

enum nw_process_use {
	NW_PROCESS_READ,  /* memory is for reading, if reading is allowed */
	NW_PROCESS_WRITE, /* memory is for reading and writing */
};

/* Returns 0 or -errno. -ESRCH: the process is gone; -EAGAIN: it starts one program after the other. For writing only:
 * -EINPROGRESS: the kernel is still starting its program, which has run nothing yet; -ENODATA: it cannot be proved that
 * memory and maps belong together. */
int nw_process_open(pid_t pid, enum nw_process_use use, struct nw_process *out);
void nw_process_close(struct nw_process *process);
/* A file, identified by stat() and its build ID. */
struct nw_file_id {
	uint64_t dev, ino, size;
	const char *build_id; /* "": not known */
	/* The file is or may be on overlayfs, so the build ID decides if the device differs. */
	bool overlay;
};
/* Is the image this file? */
bool nw_image_is_same(const struct nw_image *image, const struct nw_file_id *file);
/* Does the mapping show this file? proc: the open /proc/PID of the mapping's process. */
bool nw_mapping_is_of(int proc, const struct nw_mapping *mapping,
		      const struct nw_file_id *file);
/* Finds the file offsets of addresses in our own executable. ENOENT: one of them is not in it. */
int nw_process_own_offsets(const uintptr_t *addresses, size_t count, uint64_t *offsets,
			   struct nw_error *err);
/* Returns the address at which the process has this part of the file as a variable, in private and writable memory;
 * 0: nowhere. */
uint64_t nw_process_variable(const struct nw_process *process,
			     const struct nw_file_id *file, uint64_t offset);
struct nw_file_id nw_image_file_id(const struct nw_image *image);
/*
 * Process numbers. A pid_t here is the number that /proc shows, which users see. The kernel's records and filters
 * use the host's numbers, which differ inside a PID namespace (a container).
 */
struct nw_pid_space {
	bool foreign; /* /proc does not show the kernel's numbers */
	int host;     /* a /proc that shows the kernel's numbers; -1: none is visible */
	unsigned int level;
};

void nw_pid_space_open(struct nw_pid_space *out);
void nw_pid_space_close(struct nw_pid_space *space);
/* Returns the kernel's number of a process. ENOTSUP: it is not known, and err says why. */
int nw_pid_space_kernel(const struct nw_pid_space *space, pid_t pid, pid_t *out,
			struct nw_error *err);
/* Returns the kernel's number of a thread, whose process has this number of the kernel. */
int nw_pid_space_kernel_thread(const struct nw_pid_space *space, pid_t process, pid_t tid,
			       pid_t *out, struct nw_error *err);
/* Can the process of a hit be determined? Returns 0, or ENOTSUP with the reason; `what` names the feature that
 * needs it. */
int nw_pid_space_check(const struct nw_pid_space *space, const char *what,
		       struct nw_error *err);
/* Returns a process's number in its own PID namespace, or `pid`, its number in `proc`, if the kernel does not tell. */
pid_t nw_proc_own_number(const char *proc, pid_t pid);
/* Like nw_process_threads() and nw_process_task(), with the kernel's numbers. space NULL: our numbers are the
 * kernel's. */
int nw_pid_space_threads(const struct nw_pid_space *space, pid_t process, nw_pids *out,
			 struct nw_error *err);
int nw_pid_space_task(const struct nw_pid_space *space, pid_t tid, pid_t *process,
		      char comm[16]);
/*
 * Reads the title of a process, by the kernel's number: its arguments with blanks between them, as ps shows them and as
 * PostgreSQL and others rewrite them; "[NAME]" if it has none. Reads where the path of a descriptor leads. Of a text
 * that does not fit, the last bytes are "...". Return 0 or -errno; -ESRCH: the process has gone or is ending.
 */
int nw_pid_space_title(const struct nw_pid_space *space, pid_t pid, char *out, size_t size);
/*
 * Appends /proc/PID/cgroup of a process, or if that is ending, of its thread `tid`, both by the kernel's numbers. -EAGAIN: both are
 * ending; then the kernel shows version 1's groups as "/". -ESRCH: they have gone. *start: when the process began, in clock ticks since boot,
 * which tells it from a later one with its number; 0: the text is the thread's.
 */
int nw_pid_space_cgroup(const struct nw_pid_space *space, pid_t pid, pid_t tid,
			uint64_t *start, struct nw_buf *out);
int nw_pid_space_path(const struct nw_pid_space *space, pid_t pid, int32_t fd, char *out,
		      size_t size);
/*
 * May a process close descriptors by other ways than system calls of our own kind? Its program has 32 bits on a kernel of 64, whose
 * events do not tell of such calls, or it has a ring of io_uring, which closes without calls. Also if that cannot be found out.
 */
bool nw_pid_space_closes_unseen(const struct nw_pid_space *space, pid_t pid);
/* Returns the number that the kernel has given to a process or thread last. 0: not known. space NULL: our
 * numbers are the kernel's. */
uint64_t nw_pid_space_last_born(const struct nw_pid_space *space);
/*
 * Lists the threads of the given processes by the kernel's numbers; without processes, the threads of all processes
 * (with `kernel`, including all kernel threads). Calls seen() for each thread; its name has no NUL, and false ends
 * the list. Threads that end meanwhile are left out. Lists nothing if no /proc shows the kernel's numbers.
 */
typedef bool nw_thread_seen(void *arg, pid_t process, pid_t tid, const char *comm,
			    size_t len);
void nw_pid_space_scan_threads(const struct nw_pid_space *space, const nw_pids *processes,
			       bool kernel, nw_thread_seen *seen, void *arg);
/* Does /proc show the numbers that system calls such as fork() and kill() use? */
bool nw_proc_is_ours(void);
/* Translates a number that fork() returned into the number in /proc. */
pid_t nw_pid_shown(pid_t pid);
/*
 * Images of all files that the process maps as code, each file once. They are opened by /proc/PID/map_files or
 * /proc/PID/root, so containers and deleted files work. Files that are not ELF are left out, and without
 * `without_notes` those without notes.
 */
typedef NW_VEC(struct nw_image *) nw_images;
/* Finds the image of this file; NULL: it is not among them. */
struct nw_image *nw_images_find(const nw_images *images, uint64_t dev, uint64_t ino);
int nw_process_images(pid_t pid, bool without_notes, bool force, nw_images *out,
		      struct nw_error *err);
/* Lists the files with USDT notes that running processes map, each once with the path of the first process that
 * maps it, as far as access is allowed. Returns 0 or -ENOMEM. */
int nw_running_images(bool force, nw_images *out, struct nw_error *err);
void nw_images_free(nw_images *images);

/* ---- what one is ---------------------------------------------------------------------- */

enum nw_process_state {
	NW_PROCESS_ALIVE,
	NW_PROCESS_GONE,
	NW_PROCESS_THREAD, /* the number is that of a thread of `process` */
	NW_PROCESS_INNER,  /* the number is `process` as seen inside its PID namespace */
};

struct nw_process_facts {
	pid_t asked;
	enum nw_process_state state;
	pid_t process; /* the process of the number that was asked for; 0: none */
	char comm[16];
	/* Its program, as readlink() shows it, without " (deleted)"; NULL: unknown. */
	char *exe;
	bool exe_deleted;
	uint64_t exe_ino;
	bool other_mounts; /* another mount namespace or another root than ours */
	bool other_pids;   /* it has another PID namespace than this program */
	int seccomp;	   /* 0 none, 1 strict, 2 filter; -1 unknown */
	bool bits32;
	bool readable; /* we may read its memory */
	nw_pids children;
	/* Its arguments and environment, separated by blanks; NULL: unknown. */
	char *words;
	char *preloads; /* LD_PRELOAD and /etc/ld.so.preload; NULL: none */
};

int nw_process_inspect(pid_t pid, struct nw_process_facts *out, struct nw_error *err);
void nw_process_facts_free(struct nw_process_facts *facts);

/* ---- a process that does not run ------------------------------------------------------ */

enum nw_stop_kind {
	NW_STOP_NONE,
	NW_STOP_SIGNAL,	  /* SIGSTOP, SIGTSTP, SIGTTIN or SIGTTOU */
	NW_STOP_DEBUGGER, /* a tracer holds it */
	NW_STOP_FROZEN,	  /* its control group, or one above it */
};

struct nw_stop {
	enum nw_stop_kind kind;
	pid_t tracer; /* 0: it is not traced */
	/* The file that has frozen the group; NULL: the group is not frozen. */
	char *freezer;
	const char *thaw; /* the text that ends this when it is written into `freezer` */
};

/* Finds out whether the process is stopped. If a file cannot be read, the process counts as running. Returns 0 or
 * -ENOMEM. */
int nw_process_find_stop(pid_t pid, struct nw_stop *out);
void nw_stop_free(struct nw_stop *stop);

/* ---- a file in processes ------------------------------------------------------------ */

enum nw_instead {
	NW_INSTEAD_NONE,
	NW_INSTEAD_SAME_PATH, /* another file that has or had the same path there */
	NW_INSTEAD_SAME_NAME, /* a file of the same name in another directory */
};

/* How processes map a file; if none does, the file that a process maps instead. */
struct nw_mapping_facts {
	unsigned int processes;	 /* number of processes examined */
	unsigned int mapped;	 /* of these, map this very file as code */
	unsigned int unreadable; /* of these, do not let us read their mappings */
	/* Map the file, but execute its code from anonymous memory. */
	unsigned int copied;
	/* Map its code writable or shared, which the kernel does not probe. */
	unsigned int written;
	pid_t pid; /* one of `mapped`, or else the process of `other` */
	enum nw_instead instead;
	char *other;	    /* a path by which this process can open it */
	char *other_path;   /* its path in that process */
	bool other_deleted; /* the file does not have that path any more */
	bool other_mounts;  /* that process has other mounts or another root */
	bool overlay;	    /* the given file is on an overlay file system */
	bool same_build;    /* both have the same build-id */
	uint64_t other_ino;
	char other_build_id[129];
};

/* One question about a file. */
struct nw_mapping_query {
	const char *
		path; /* as the user named it; changed by the call, and not valid behind it */
	const struct nw_image *image; /* the file at that path; NULL: none */
	uint64_t vaddr;		      /* an address in it; 0: none */
	struct nw_mapping_facts facts;
};

/*
 * Answers the questions about all files with one look at each process. pids NULL: examines all processes. Returns 0 or
 * -errno; nw_mapping_facts_free() frees each query's facts in any case.
 */
int nw_mappings_inspect(struct nw_mapping_query *queries, size_t count, const pid_t *pids,
			size_t pid_count, struct nw_error *err);
/* Does the same for one file. */
int nw_mapping_inspect(const char *path, const struct nw_image *image, uint64_t vaddr,
		       const pid_t *pids, size_t pid_count, struct nw_mapping_facts *out,
		       struct nw_error *err);
void nw_mapping_facts_free(struct nw_mapping_facts *facts);

/* Lists the processes that map one of these files, by the numbers of /proc, as far as access is allowed. Returns 0
 * or -errno: of what the machine lacks (nw_is_shortage()). */
int nw_processes_mapping(const struct nw_image *const *images, size_t count, nw_pids *out);

/* Returns a path by which this process can open a mapped file; the caller frees. */
char *nw_mapping_reach(const char *proc, pid_t pid, const struct nw_mapping *mapping);

/* Finds the function that an ifunc has become in a process: its name or 0xOFFSET, and its file. -ENOENT: not found. */
int nw_ifunc_target(struct nw_image *image, const struct nw_symbol *symbol, pid_t pid,
		    char **name, char **file);

#endif
