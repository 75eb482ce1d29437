/* SPDX-License-Identifier: MIT */
/*
 * find/process: processes, their threads and numbers, and what they map. Reads /proc, whose contents are hostile
 * until they have been checked.
 */
#ifndef NOPWATCH_PROCESS_H
#define NOPWATCH_PROCESS_H

#include "nopwatch/elf.h"

/* ---- processes ---------------------------------------------------------------------- */

struct nw_mapping {
	uint64_t start, end, offset;
	uint64_t dev, ino; /* as maps tells them; btrfs has other devices for stat() */
	bool exec, write, shared, deleted;
	char *path; /* as the kernel prints it, unescaped, without " (deleted)"; "" = anonymous */
};

typedef NW_VEC(struct nw_mapping) nw_mappings;
typedef NW_VEC(pid_t) nw_pids;

/* The mappings of a process; ESRCH when it is gone, EACCES without the right to facts. */
int nw_process_maps(pid_t pid, nw_mappings *out, struct nw_error *err);
/* Reads the maps of a process from the /proc mounted at `proc`, which may number processes differently (struct nw_pid_space). */
int nw_process_maps_in(const char *proc, pid_t pid, nw_mappings *out, struct nw_error *err);
void nw_mappings_free(nw_mappings *maps);
/* All threads of a process. ESRCH when it is gone. */
int nw_process_threads(pid_t pid, nw_pids *out, struct nw_error *err);
/* Add the children of all its threads. 0 or -errno. */
int nw_process_children(pid_t pid, nw_pids *out);
/* All processes there are. */
int nw_process_all(nw_pids *out, struct nw_error *err);
/* What a thread is: its process and its name; -ESRCH when it is gone. */
int nw_process_task(pid_t tid, pid_t *process, char comm[16]);
/* What tells a process from a later one of the same number, and a fork from a program that was
 * started. */
struct nw_process_stat {
	uint64_t start; /* clock ticks since boot */
	bool forked;	/* it still runs its parent's program (PF_FORKNOEXEC) */
	bool kernel;	/* it is one of the kernel's own threads (PF_KTHREAD) */
};
int nw_process_stat(pid_t pid, struct nw_process_stat *out); /* 0 or -errno */

/*
 * A process, looked at once. Between two looks at /proc/PID the number may have become another
 * process's, and the process may have started another program (exec), with more rights than
 * it had. Here, memory, maps and stat belong to one process and one program, whatever happens
 * meanwhile, and memory goes on to mean that program: what is written to it after the next exec
 * goes nowhere.
 */
struct nw_process {
	pid_t pid;
	int dir;    /* /proc/PID: the process, not the number */
	int memory; /* its /proc/PID/mem; -1: it may not be read */
	struct nw_process_stat stat;
	nw_mappings maps;
};

enum nw_process_use {
	NW_PROCESS_READ,  /* memory is for reading, if that is allowed */
	NW_PROCESS_WRITE, /* memory is for writing, too */
};

/* 0 or -errno: -ESRCH, it is gone; -EAGAIN, it starts one program after the other; for writing
 * also -ENODATA, it cannot be shown that memory and maps belong together. */
int nw_process_open(pid_t pid, enum nw_process_use use, struct nw_process *out);
void nw_process_close(struct nw_process *process);
/* A file, as stat() and its build-id tell it. */
struct nw_file_id {
	uint64_t dev, ino, size;
	const char *build_id; /* "": not known */
	bool overlay; /* it lies on overlayfs, or may: another device proves nothing, and the build-id decides */
};
/* Is it this file? */
bool nw_image_is_same(const struct nw_image *image, const struct nw_file_id *file);
/* Does the mapping, of the process whose /proc/PID is open as proc, show this file? */
bool nw_mapping_is_of(int proc, const struct nw_mapping *mapping,
		      const struct nw_file_id *file);
/* Where in our own executable these addresses of ours are: offsets into the file. ENOENT: one of them is not in it. */
int nw_process_own_offsets(const uintptr_t *addresses, size_t count, uint64_t *offsets,
			   struct nw_error *err);
/* Where it has this place of a file as a variable of its own, that is, in private and writable
 * memory; 0: nowhere. */
uint64_t nw_process_variable(const struct nw_process *process,
			     const struct nw_file_id *file, uint64_t offset);
struct nw_file_id nw_image_file_id(const struct nw_image *image);
/*
 * Whose numbers are these? Here, pid_t is what /proc says, which is what people see; the
 * kernel's records and filters have the host's numbers, and inside a PID namespace (a container)
 * they are not the same.
 */
struct nw_pid_space {
	bool foreign; /* /proc does not have the kernel's numbers */
	int host;     /* a /proc that does, if one can be seen; -1: none */
	unsigned int level;
};

void nw_pid_space_open(struct nw_pid_space *out);
void nw_pid_space_close(struct nw_pid_space *space);
/* The kernel's number of a process; ENOTSUP with the reason where it cannot be told. */
int nw_pid_space_kernel(const struct nw_pid_space *space, pid_t pid, pid_t *out,
			struct nw_error *err);
/* Can the process of a hit be told? ENOTSUP with the reason if not; `what` needs it. */
int nw_pid_space_check(const struct nw_pid_space *space, const char *what,
		       struct nw_error *err);
/* The process's number in its own PID namespace; the given one, of a number in `proc`, where that is not told. */
pid_t nw_proc_own_number(const char *proc, pid_t pid);
/* nw_process_threads() and nw_process_task() in the kernel's numbers. space NULL: they are ours. */
int nw_pid_space_threads(const struct nw_pid_space *space, pid_t process, nw_pids *out,
			 struct nw_error *err);
int nw_pid_space_task(const struct nw_pid_space *space, pid_t tid, pid_t *process,
		      char comm[16]);
/* The kernel's number that was given to a process or thread last. 0: that cannot be told. space NULL: our numbers are the kernel's. */
uint64_t nw_pid_space_last_born(const struct nw_pid_space *space);
/*
 * Meet the threads of processes, in the kernel's numbers; none given: of all there are, the kernel's own threads for certain
 * only with `kernel`. met() is told of each: its process and its name, which is no string; false: enough. Who goes meanwhile
 * is left out, and so is everybody where no /proc has the kernel's numbers.
 */
typedef bool nw_thread_met(void *arg, pid_t process, pid_t tid, const char *comm,
			   size_t len);
void nw_pid_space_meet(const struct nw_pid_space *space, const nw_pids *processes,
		       bool kernel, nw_thread_met *met, void *arg);
/* Does /proc have the numbers that system calls take and give (fork, kill)? */
bool nw_proc_is_ours(void);
/* The number in /proc of a process that fork() has told us of. */
pid_t nw_pid_shown(pid_t pid);
/*
 * Every file that the process maps as code, each once, as images. Opened by
 * /proc/PID/map_files, else /proc/PID/root, so that containers and deleted files work. Files
 * that are not ELF are left out; so are, without without_notes, those without notes.
 */
typedef NW_VEC(struct nw_image *) nw_images;
/* The image of this file among them; NULL: there is none. */
struct nw_image *nw_images_find(const nw_images *images, uint64_t dev, uint64_t ino);
int nw_process_images(pid_t pid, bool without_notes, bool force, nw_images *out,
		      struct nw_error *err);
/* The files with USDT notes that any running process maps, as far as we may look, each once: where
 * the first process that has it found it. -ENOMEM. */
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
	pid_t process; /* the process that is meant, 0: there is none */
	char comm[16];
	char *exe; /* what it runs, as readlink() tells, without " (deleted)"; NULL: unknown */
	bool exe_deleted;
	uint64_t exe_ino;
	bool other_mounts; /* another mount namespace or another root than ours */
	bool other_pids;   /* another PID namespace than ours */
	int seccomp;	   /* 0 none, 1 strict, 2 filter; -1 unknown */
	bool bits32;
	bool readable; /* may we look at its memory? */
	nw_pids children;
	char *words;	/* its arguments and environment, a blank between; NULL: unknown */
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
	pid_t tracer;	  /* 0: nobody traces it */
	char *freezer;	  /* the file that has frozen the group; NULL: it is not frozen */
	const char *thaw; /* what ends that when it is written there */
};

/* Does the process run at all? What cannot be read is taken for running. 0 or -ENOMEM. */
int nw_process_find_stop(pid_t pid, struct nw_stop *out);
void nw_stop_free(struct nw_stop *stop);

/* ---- a file in processes ------------------------------------------------------------ */

enum nw_instead {
	NW_INSTEAD_NONE,
	NW_INSTEAD_SAME_PATH, /* another file that has, or had, the same path there */
	NW_INSTEAD_SAME_NAME, /* a file of that name in another directory */
};

/* How processes map a file; and if none does, what one of them maps instead. */
struct nw_mapping_facts {
	unsigned int processes;	 /* looked at */
	unsigned int mapped;	 /* of these, map this very file as code */
	unsigned int unreadable; /* of these, whose mappings we may not read */
	unsigned int copied;	 /* map the file, but its code lies in memory of no file */
	unsigned int written; /* map its code writable or shared: the kernel passes it by */
	pid_t pid;	      /* one of `mapped`; else the one with `other` */
	enum nw_instead instead;
	char *other;	    /* a path to it that works from here */
	char *other_path;   /* as the process knows it */
	bool other_deleted; /* no longer under that path */
	bool other_mounts;  /* that process has other mounts or another root */
	bool overlay;	    /* the file given lies on an overlay file system */
	bool same_build;    /* both have the same build-id */
	uint64_t other_ino;
	char other_build_id[129];
};

/*
 * path: what the user named, image: the file there (NULL: there is none), vaddr: a place in it
 * (0: none). pids NULL: every process.
 */
int nw_mapping_inspect(const char *path, const struct nw_image *image, uint64_t vaddr,
		       const pid_t *pids, size_t pid_count, struct nw_mapping_facts *out,
		       struct nw_error *err);
void nw_mapping_facts_free(struct nw_mapping_facts *facts);

/* The processes that map one of these files, by the numbers of /proc, as far as we may look. -ENOMEM. */
int nw_processes_mapping(const struct nw_image *const *images, size_t count, nw_pids *out);

/* A path that leads from here to what a process maps; the caller frees. */
char *nw_mapping_reach(const char *proc, pid_t pid, const struct nw_mapping *mapping);

/* What an ifunc became in a process: its name, or 0xOFFSET, and the file; -ENOENT. */
int nw_ifunc_target(struct nw_image *image, const struct nw_symbol *symbol, pid_t pid,
		    char **name, char **file);

#endif
