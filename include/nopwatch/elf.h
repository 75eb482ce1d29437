/* SPDX-License-Identifier: MIT */
/*
 * find/elf: the content of one file: its identity and segments, USDT notes, symbols. Reads that file and its debug
 * file.
 *
 * Everything that is read from an ELF file is hostile until it has been checked; strings from notes are bytes without
 * NUL, and nothing more is known about them.
 */
#ifndef NOPWATCH_ELF_H
#define NOPWATCH_ELF_H

#include <sys/types.h>

#include "nopwatch/arch.h"

/* ---- images ------------------------------------------------------------------------- */

struct nw_segment { /* a PT_LOAD */
	uint64_t vaddr, offset, filesz, memsz;
	bool exec, write;
};
typedef NW_VEC(struct nw_segment) nw_segments;

/* One USDT note whose site can be probed. Strings live as long as the image. */
struct nw_site {
	const char *provider, *name, *args;
	uint64_t vaddr;		   /* address as linked, adjusted by .stapsdt.base */
	uint64_t offset;	   /* in the file, through the executable PT_LOAD */
	uint64_t semaphore_vaddr;  /* 0: none */
	uint64_t semaphore_offset; /* in the file, through its own PT_LOAD */
	enum nw_nop nop;
	const char *warning; /* what is wrong with its semaphore; NULL: nothing */
};

/* A note that was left out, and why. */
struct nw_skipped {
	const char *provider, *name; /* "" where the note is too broken to tell */
	uint64_t vaddr;
	bool trap;   /* a breakpoint is in the file there */
	bool barred; /* kernels place no uprobe in such code: Thumb */
	char *why;
};

enum nw_notes {
	NW_NOTES_FOUND,
	NW_NOTES_NONE,	      /* linked without USDT probes, or they were stripped */
	NW_NOTES_NO_SECTIONS, /* no section headers: notes cannot be found */
	NW_NOTES_UNLINKED,    /* a relocatable object: addresses are not final */
};

struct nw_symbols; /* lazily loaded; see find/elf/symbol.c */

/* Where the debug file of a stripped file may be, or the file that several debug files share (dwz). */
enum nw_debug_place {
	NW_DEBUG_BUILD_ID, /* /usr/lib/debug/.build-id, by the digits of the build ID */
	NW_DEBUG_BESIDE,   /* the file's own directory, by a plain name */
	NW_DEBUG_HIDDEN,   /* .debug/ in that directory */
	NW_DEBUG_FAR,	   /* that directory below /usr/lib/debug */
	NW_DEBUG_SHARED,   /* /usr/lib/debug/.dwz, by a path below it */
	NW_DEBUG_PLACES
};
/* The function that opens these files for an image: it returns a descriptor or -errno. */
struct nw_debug_files {
	int (*open)(void *arg, enum nw_debug_place place, const char *name);
	void *arg;
};

struct nw_image {
	char *path; /* as shown to the user; usable in a spec */
	int fd;	    /* read-only, close-on-exec, open as long as the image lives */
	uint64_t dev, ino, size;
	int64_t mtime; /* seconds */
	bool overlay;  /* it lies on overlayfs, where one file has several devices */
	char build_id[129];
	const struct nw_arch *arch; /* NULL: a machine without uprobes */
	unsigned int machine;	    /* e_machine */
	uint32_t flags;		    /* e_flags */
	bool elf64, big_endian;
	bool executable;	   /* ET_EXEC: linked addresses are run-time addresses */
	bool go;		   /* Go code: return probes crash it */
	bool throws, throws_known; /* nw_image_throws() */
	nw_segments segments;
	enum nw_notes notes;
	NW_VEC(struct nw_site) sites;
	NW_VEC(struct nw_skipped) skipped;
	char *note_data; /* what the sites' strings point into */
	struct nw_symbols *symbols;
	const struct nw_debug_files *debug_files; /* NULL: they are opened right here */
	uint64_t got_work; /* relocations that were looked at for operands: it is bounded */
	int failed; /* -errno: a part of the file could not be read, so what is said of the file may be wrong */
};

/*
 * Open an ELF file and read its notes. Errors: ENOENT and others of open(2), EISDIR,
 * ENOEXEC for what is not ELF or is damaged beyond reading. A file without notes is no error:
 * look at image->notes. force keeps sites that are not nops.
 */
int nw_image_open(const char *path, bool force, struct nw_image **out,
		  struct nw_error *err);
/* The same for an open file, which the image then owns, also after an error. */
int nw_image_open_fd(int fd, const char *path, bool force, struct nw_image **out,
		     struct nw_error *err);
void nw_image_free(struct nw_image *image);
/* Returns the error of image->failed: "cannot read 'FILE': out of memory". 0: everything that was asked for could be read. */
int nw_image_check(const struct nw_image *image, struct nw_error *err);
/* File offset of a linked address, through the segment that holds it; -1 if none does.
 * Only bytes that are in the file have one. exec: executable segments only. */
int64_t nw_image_offset(const struct nw_image *image, uint64_t vaddr, bool exec);
/* The other way: where code at that file offset is linked, by the first executable segment that has it. */
bool nw_image_vaddr(const struct nw_image *image, uint64_t offset, uint64_t *vaddr);
bool nw_segments_vaddr(const nw_segments *segments, uint64_t offset, uint64_t *vaddr);
/*
 * Open a file of debugging information for the file at `path`, by the guards of base/file.c, in the root of the process that
 * `path` names (/proc/PID/root/...). The name comes from a hostile file: one that does not fit the place is refused.
 * Returns a descriptor or -errno.
 */
int nw_debug_place_open(const char *path, enum nw_debug_place place, const char *name);
enum {
	NW_IDENTITY = 160 /* bytes that hold an image's identity, with its NUL */
};
/* Write what tells the file from others that may come to its path: "build-id:HEX"; of a file without one "code:HEX", a hash
 * of where its executable segments are and of their first 64 MiB. -errno: they cannot be read. */
int nw_image_identity(const struct nw_image *image, char out[NW_IDENTITY]);
/* Does the path lead to this very file? */
bool nw_image_is_at(const struct nw_image *image, const char *path);
/* Does a name that C++ or Rust has made mean this one, as people write it ("app::serve")? Each of its parts is in it,
 * in that order. */
bool nw_mangled_is(const char *mangled, const char *name);
/* Two names of Rust's that differ by their hashes only, as those of two builds do. */
bool nw_differs_by_hash(const char *a, const char *b);
/* Does the file hold no code, though it has sections of code: the debug information of another file? */
bool nw_image_lacks_code(const struct nw_image *image);
/* The nop in the file at that offset, if it is one. */
enum nw_nop nw_image_nop(const struct nw_image *image, uint64_t offset);
/* "no USDT notes in 'FILE'", "the section headers of ... are gone", ... for NW_NOTES_*. */
int nw_image_explain(const struct nw_image *image, struct nw_error *err);

/* ---- symbols ------------------------------------------------------------------------ */

struct nw_symbol {
	const char *name; /* lives as long as the image */
	uint64_t value, size;
	/* ppc64 (ELFv2, section 3.4.1): how far behind value everybody comes by, calls from the same
	 * module, too; 0 elsewhere */
	uint64_t local_entry;
	bool function, ifunc, tls, undefined;
	bool object; /* a variable */
	bool barred; /* code that kernels place no uprobe in: Thumb */
};

/*
 * The symbol of that name as code at vaddr means it; 0: from nowhere in particular. NAME@VERSION
 * and NAME@@VERSION are that version's, NAME the default one's. -ENOENT: there is none; -ENXIO: it is only imported; -ENOTUNIQ:
 * there are several, and which one is meant cannot be told.
 */
int nw_image_symbol(struct nw_image *image, const char *name, size_t len, uint64_t vaddr,
		    struct nw_symbol *out);
/* Every symbol, each name once a table; stops when visit() is not 0. */
int nw_image_each_symbol(struct nw_image *image,
			 int (*visit)(const struct nw_symbol *symbol, void *arg),
			 void *arg);
/* Has the file a .symtab? */
bool nw_image_has_symtab(struct nw_image *image);
/* N of the Go 1.N that built the file; 0: not known. */
int nw_go_minor(const struct nw_image *image);
/* Can exceptions pass through its functions, as far as its file tells? */
bool nw_image_throws(struct nw_image *image);
/* Does it call longjmp(), or have it? */
bool nw_image_jumps(struct nw_image *image);
/* The function that holds vaddr; -ENOENT. */
int nw_image_function(struct nw_image *image, uint64_t vaddr, struct nw_symbol *out);

/*
 * Find the addresses of the symbols that the operands of the site at vaddr name. An operand whose symbol is not to be
 * found gets its problem; an address constant of an ET_EXEC file becomes a plain constant.
 */
void nw_operands_resolve(struct nw_image *image, uint64_t vaddr, nw_operands *operands);

#endif
