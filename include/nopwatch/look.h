/* SPDX-License-Identifier: MIT */
/*
 * look: what a diagnosis sees of files and processes. The second header of the probe room:
 * nothing here is needed to measure, and nothing here concludes anything; src/why does.
 */
#ifndef NOPWATCH_LOOK_H
#define NOPWATCH_LOOK_H

#include "nopwatch/probe.h"

/* ---- a function in a file ----------------------------------------------------------- */

enum nw_symbol_state {
	NW_SYMBOL_FOUND,
	NW_SYMBOL_IMPORTED, /* named, but undefined: it lies in another file */
	NW_SYMBOL_MISSING,
	NW_SYMBOL_AMBIGUOUS, /* several different ones */
	NW_SYMBOL_DATA,	     /* a variable */
};

/* Strings are owned; NULL: there is none, or it was not found. */
struct nw_symbol_look {
	enum nw_symbol_state state;
	bool stripped; /* the file has no .symtab; its debug file may have */
	bool ifunc;    /* its address is a resolver's, which runs once */
	bool is_note;  /* a USDT probe has that name */
	bool has_notes;
	uint64_t vaddr, size;
	int inlined;	      /* copies that DWARF knows of; -1: it says nothing */
	char *mangled;	      /* a C++ or Rust symbol that stands for that name */
	char *near;	      /* names that are spelled alike: "a, b" */
	char *clones;	      /* what the compiler made of it: "f.constprop.0, f.part.0" */
	char *aliases;	      /* other functions at the same address: "a, b" */
	char *defined_in;     /* not found here: a file among those loaded that has it */
	char *implementation; /* ifunc: what the process runs, by name or 0xOFFSET */
	char *implementation_file;
};

/* Look for a function in an image, and for what explains its absence. pid: a process that has
 * the file loaded, 0: none; its libraries are searched, else those the file asks for. */
int nw_look_symbol(struct nw_image *image, const char *name, pid_t pid,
		   struct nw_symbol_look *out, struct nw_error *err);
void nw_symbol_look_free(struct nw_symbol_look *look);

/* Copies of a function that DWARF says were inlined; -1 without DWARF or without libdw. */
int nw_count_inlined(const struct nw_image *image, const char *name);
/* What an ifunc became in a process: its name, or 0xOFFSET, and the file; -ENOENT. */
int nw_look_ifunc(struct nw_image *image, const struct nw_symbol *symbol, pid_t pid,
		  char **name, char **file);
/* Every symbol, each name once a table; stops when visit() is not 0. */
int nw_image_each_symbol(struct nw_image *image,
			 int (*visit)(const struct nw_symbol *symbol, void *arg),
			 void *arg);
/* Has the file a .symtab? */
bool nw_image_has_symtab(struct nw_image *image);

/* ---- a process ---------------------------------------------------------------------- */

enum nw_process_state {
	NW_PROCESS_ALIVE,
	NW_PROCESS_GONE,
	NW_PROCESS_THREAD, /* the number is that of a thread of `process` */
	NW_PROCESS_INNER,  /* the number is `process` as seen inside its PID namespace */
};

struct nw_process_look {
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

int nw_look_process(pid_t pid, struct nw_process_look *out, struct nw_error *err);
void nw_process_look_free(struct nw_process_look *look);

/*
 * Which file of the process its calls of a function reach instead of this one, since that comes
 * before it in the dynamic linker's search order. *by: its path, owned by the caller; NULL: none, or
 * the image does not export the name. -ENOMEM.
 */
int nw_look_interposed(const struct nw_image *image, const char *name,
		       const struct nw_process_look *process, char **by);

/* ---- a file in processes ------------------------------------------------------------ */

enum nw_instead {
	NW_INSTEAD_NONE,
	NW_INSTEAD_SAME_PATH, /* another file that has, or had, the same path there */
	NW_INSTEAD_SAME_NAME, /* a file of that name in another directory */
};

/* How processes map a file; and if none does, what one of them maps instead. */
struct nw_mapping_look {
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
int nw_look_mapping(const char *path, const struct nw_image *image, uint64_t vaddr,
		    const pid_t *pids, size_t pid_count, struct nw_mapping_look *out,
		    struct nw_error *err);
void nw_mapping_look_free(struct nw_mapping_look *look);

/* Is this the mapping of this file? By inode, and device or build-id: overlayfs and btrfs tell
 * different devices for one file. */
bool nw_mapping_shows(pid_t pid, const struct nw_mapping *mapping,
		      const struct nw_image *image);
/* A path that leads from here to what a process maps; the caller frees. */
char *nw_mapping_reach(pid_t pid, const struct nw_mapping *mapping);

/* What a process adds to the linked addresses of an image, from any mapping of it; -ENOENT. */
int nw_load_bias(pid_t pid, const nw_mappings *maps, const struct nw_image *image,
		 uint64_t *bias);

#endif
