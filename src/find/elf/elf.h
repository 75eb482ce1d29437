/* SPDX-License-Identifier: MIT */
/*
 * find/elf: the content of an ELF file: its identity and segments, USDT notes and symbols. Reads that file and its
 * debug file.
 *
 * Everything read from an ELF file is hostile until it was checked. Strings from notes are bytes without NUL;
 * nothing else is known of them.
 */
#ifndef NOPWATCH_FIND_ELF_ELF_H
#define NOPWATCH_FIND_ELF_ELF_H

#include <sys/types.h>

#include "find/arch/arch.h"

/* ---- images ------------------------------------------------------------------------- */

struct nw_segment { /* a PT_LOAD */
	uint64_t vaddr, offset, filesz, memsz;
	bool exec, write;
};
typedef NW_VEC(struct nw_segment) nw_segments;

/* A USDT note whose site can be probed. Its strings live as long as the image. */
/*
 * How a hit of an armed place enters the kernel, and in how many processes it does so: by a breakpoint at another instruction
 * than a plain nop, which the kernel executes in a copy or emulates; by one at a plain nop, which it skips; by its own call.
 */
struct nw_armed_forms {
	unsigned int trapped, emulated, optimised;
};

struct nw_site {
	const char *provider, *name, *args;
	uint64_t vaddr;		   /* linked address, corrected by .stapsdt.base */
	uint64_t offset;	   /* in the file, by the executable PT_LOAD */
	uint64_t semaphore_vaddr;  /* 0: none */
	uint64_t semaphore_offset; /* in the file, by its own PT_LOAD */
	enum nw_nop nop;
	const char *warning;	     /* the problem with its semaphore; NULL: none */
	struct nw_armed_forms armed; /* as nw_image_find_armed() has found it */
};

/* A note that was skipped, and the reason. */
struct nw_skipped {
	const char *provider, *name; /* "": the note is too broken to tell */
	uint64_t vaddr;
	bool trap;    /* the file itself has a breakpoint at the site */
	bool barred;  /* the kernel cannot place a uprobe in such code (Thumb) */
	bool dropped; /* the linker dropped the code (--gc-sections) */
	char *why;
};

enum nw_notes {
	NW_NOTES_FOUND,
	NW_NOTES_NONE,	      /* linked without USDT probes, or they were stripped */
	NW_NOTES_NO_SECTIONS, /* no section headers: notes cannot be found */
	NW_NOTES_UNLINKED,    /* a relocatable object, whose addresses are not final */
};

struct nw_symbols; /* loaded on first use; see find/elf/symbol.c */

/* The place of a stripped file's debug file, or of the file that several debug files share (dwz). */
enum nw_debug_place {
	/* /usr/lib/debug/.build-id; the name is the build ID in hexadecimal. */
	NW_DEBUG_BUILD_ID,
	NW_DEBUG_BESIDE,  /* the file's own directory; the name is no path */
	NW_DEBUG_HIDDEN,  /* .debug/ in that directory */
	NW_DEBUG_FAR,	  /* /usr/lib/debug followed by that directory */
	NW_DEBUG_SHARED,  /* /usr/lib/debug/.dwz; the name is a path below it */
	NW_DEBUG_FETCHED, /* from a server; the name is the build ID */
	NW_DEBUG_PLACES
};
/* The function that opens these files for an image: it returns a descriptor or -errno. */
struct nw_debug_files {
	int (*open)(void *arg, enum nw_debug_place place, const char *name);
	void *arg;
};

struct nw_image {
	char *path; /* as shown to the user, who can write it in a spec */
	int fd;	    /* read-only and close-on-exec; open as long as the image lives */
	uint64_t dev, ino, size;
	int64_t mtime; /* seconds */
	/* The file is on overlayfs, where one file has several device numbers. */
	bool overlay;
	char build_id[129];
	const struct nw_arch *arch; /* NULL: uprobes do not exist for this machine */
	unsigned int machine;	    /* e_machine */
	uint32_t flags;		    /* e_flags */
	bool elf64, big_endian;
	bool executable; /* ET_EXEC: linked addresses are the addresses in the process */
	bool go;	 /* Go code, which return probes crash */
	/* The running kernel: it has no file, and its functions are found by name. `fd` is -1. */
	bool kernel;
	bool throws, throws_known; /* nw_image_throws() */
	nw_segments segments;
	enum nw_notes notes;
	/* The fault of .stapsdt.base, by which the addresses of notes are corrected; NULL: there is none. */
	const char *base_problem;
	NW_VEC(struct nw_site) sites;
	NW_VEC(struct nw_skipped) skipped;
	char *note_data; /* the sites' strings point into this */
	struct nw_symbols *symbols;
	/* Opens debug files; NULL: this process opens them itself. */
	const struct nw_debug_files *debug_files;
	/* Relocations examined for operands so far; limited by NW_MOST_GOT_WORK. */
	uint64_t got_work;
	/* -errno: a part of the file could not be read, so information on the file may be wrong. */
	int failed;
};

/*
 * Opens an ELF file and reads its notes. Errors: ENOENT and others of open(2), EISDIR, and ENOEXEC for a file that
 * is not ELF or is damaged. A file without notes is no error: see image->notes. force: keep sites that are not
 * nops.
 */
int nw_image_open(const char *path, bool force, struct nw_image **out,
		  struct nw_error *err);
/* Does the same for an open file, which the image then owns, also after an error. */
int nw_image_open_fd(int fd, const char *path, bool force, struct nw_image **out,
		     struct nw_error *err);
/* The path that stands for the kernel. */
extern const char nw_kernel_path[9]; /* "[kernel]" */
/* Makes the image of the running kernel, whose functions kprobes probe. Returns 0 or -ENOMEM. */
int nw_image_of_kernel(struct nw_image **out);
void nw_image_free(struct nw_image *image);
/* Returns the error of image->failed: "cannot read 'FILE': out of memory". 0: every part of the file that was
 * needed could be read. */
int nw_image_check(const struct nw_image *image, struct nw_error *err);
/* Returns the file offset of a linked address, by the segment that holds it; -1 if no segment does, or if the file
 * has no bytes for it. exec: search executable segments only. */
int64_t nw_image_offset(const struct nw_image *image, uint64_t vaddr, bool exec);
/* Finds the linked address of code at a file offset, by the first executable segment that contains it. */
bool nw_image_vaddr(const struct nw_image *image, uint64_t offset, uint64_t *vaddr);
bool nw_segments_vaddr(const nw_segments *segments, uint64_t offset, uint64_t *vaddr);
/*
 * Opens a file of debugging information for the file at `path`, with the checks of base/file.c, in the root
 * directory of the process that `path` names (/proc/PID/root/...). The name comes from a hostile file and is
 * refused if it leads elsewhere. Returns a descriptor or -errno.
 */
int nw_debug_place_open(const char *path, enum nw_debug_place place, const char *name);
enum {
	NW_IDENTITY = 160 /* bytes of an image's identity, with its NUL */
};
/*
 * Writes the identity of the file, by which it differs from other files of the same path: "build-id:HEX", or for a
 * file without a build ID "code:HEX", a hash of the addresses of its executable segments and of their first 64 MiB.
 * -errno: they cannot be read.
 */
int nw_image_identity(const struct nw_image *image, char out[NW_IDENTITY]);
/* Does the path refer to this very file? */
bool nw_image_is_at(const struct nw_image *image, const char *path);
/* Does a mangled name of C++ or Rust mean `name`, as people write it ("app::serve")? It does if it contains each
 * part of `name`, in that order. */
bool nw_mangled_is(const char *mangled, const char *name);
/* Do two names of Rust differ in their hashes only, as those of two builds do? */
bool nw_differs_by_hash(const char *a, const char *b);
/* Does the file have sections for code, but no code in them? Then it is another file's debug file. */
bool nw_image_lacks_code(const struct nw_image *image);
/* Returns the nop in the file at that offset, or NW_NOP_NONE. */
enum nw_nop nw_image_nop(const struct nw_image *image, uint64_t offset);
/* Sets the error that explains image->notes: "no USDT notes in 'FILE'", "the section headers of ... are gone", ... */
int nw_image_explain(const struct nw_image *image, struct nw_error *err);

/* ---- symbols ------------------------------------------------------------------------ */

struct nw_symbol {
	const char *name; /* lives as long as the image */
	uint64_t value, size;
	/* ppc64 (ELFv2, section 3.4.1): calls, also those from the same module, enter this many bytes behind value.
	 * 0 on other architectures. */
	uint64_t local_entry;
	bool function, ifunc, tls, undefined;
	bool object; /* a variable */
	bool barred; /* the kernel cannot place a uprobe in such code (Thumb) */
};

/*
 * Finds the symbol that code at vaddr means by a name; vaddr 0: no particular code. NAME@VERSION and NAME@@VERSION
 * mean that version, NAME means the default one. -ENOENT: there is none; -ENXIO: it is only imported; -ENOTUNIQ:
 * there are several, and it is not known which one is meant.
 */
int nw_image_symbol(struct nw_image *image, const char *name, size_t len, uint64_t vaddr,
		    struct nw_symbol *out);
/* Visits every symbol, each name once per table; stops when visit() returns nonzero. */
int nw_image_each_symbol(struct nw_image *image,
			 int (*visit)(const struct nw_symbol *symbol, void *arg),
			 void *arg);
/* Does the file have a .symtab? */
bool nw_image_has_symtab(struct nw_image *image);
/* Returns N if Go 1.N built the file; 0: not known. */
int nw_go_minor(const struct nw_image *image);
/* Can exceptions pass through the functions of the file, as far as the file itself tells? */
bool nw_image_throws(struct nw_image *image);
/* Does the file call or define longjmp()? */
bool nw_image_jumps(struct nw_image *image);
/* Does the file import longjmp()? The C library, which defines it, does not. */
bool nw_image_imports_jump(struct nw_image *image);
/* Finds the function that contains vaddr. Returns 0 or -ENOENT. */
int nw_image_function(struct nw_image *image, uint64_t vaddr, struct nw_symbol *out);

/*
 * Finds the addresses of the symbols in the operands of the site at vaddr. An operand whose symbol is not found
 * gets a problem. The address of a symbol in an ET_EXEC file becomes a plain constant.
 */
void nw_operands_resolve(struct nw_image *image, uint64_t vaddr, nw_operands *operands);

#endif
