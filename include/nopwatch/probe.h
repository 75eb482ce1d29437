/* SPDX-License-Identifier: MIT */
/*
 * probe: what can be probed, and what the user meant. ELF files and their USDT notes,
 * operands, symbols, processes and their mappings, probe specs. Reads files and /proc,
 * never tracefs.
 *
 * Everything read from an ELF file or from /proc is hostile until checked; strings taken
 * from notes are bytes without NUL, nothing more is known about them.
 */
#ifndef NOPWATCH_PROBE_H
#define NOPWATCH_PROBE_H

#include <sys/types.h>

#include "nopwatch/base.h"

/* ---- architectures ------------------------------------------------------------------ */

struct nw_arch; /* registers, operand grammar and nops of one machine; see probe/arch.h */

/* By e_machine, class and byte order of an ELF header; NULL: not one that uprobes know. */
const struct nw_arch *nw_arch_find(unsigned int machine, bool elf64, bool big_endian);
/* By name ("x86_64"), NULL if unknown. */
const struct nw_arch *nw_arch_by_name(const char *name);
const char *nw_arch_name(const struct nw_arch *arch);
/* Bytes of a register and of a pointer: 4 or 8. */
unsigned int nw_arch_word(const struct nw_arch *arch);
/* The instruction pointer as the kernel spells it ("ip"); NULL where it cannot be named. */
const char *nw_arch_pc(const struct nw_arch *arch);
/* The stack pointer as the kernel spells it ("sp"); how much higher it is for a return probe than it
 * was at the function's entry, and whether it may be higher still, by arguments that were popped. */
const char *nw_arch_stack(const struct nw_arch *arch);
unsigned int nw_arch_return_pops(const struct nw_arch *arch);
bool nw_arch_callee_pops(const struct nw_arch *arch);
/* The architecture that the tool itself was built for. */
const struct nw_arch *nw_arch_native(void);

/*
 * What stands at a USDT site. The kernel emulates the one-byte nop everywhere; others may
 * be single-stepped (ten times dearer) or, on 6.18..7.1, be rewritten into a call that
 * tramples the red zone (nop5).
 */
enum nw_nop {
	NW_NOP_NONE, /* not a nop: nothing may be armed here */
	NW_NOP_1,    /* the architecture's plain nop */
	NW_NOP_LONG, /* x86: 2..9 bytes, but not 5 */
	NW_NOP_5,    /* x86: 5 bytes */
	NW_NOP_10,   /* x86: 10 bytes and more */
	NW_NOP_TRAP, /* a breakpoint is in the file already */
};
/* "nop", "nop5", ...; "trap"; NULL for NW_NOP_NONE. */
const char *nw_nop_name(enum nw_nop nop);
enum nw_nop nw_nop_at(const struct nw_arch *arch, const unsigned char *code, size_t len);

/* ---- operands ----------------------------------------------------------------------- */

enum nw_operand_kind {
	NW_OPERAND_UNKNOWN, /* no grammar fits: problem says what was seen */
	NW_OPERAND_REGISTER,
	NW_OPERAND_MEMORY,   /* *(register + offset [+ index * scale]) */
	NW_OPERAND_GLOBAL,   /* *(symbol + offset) */
	NW_OPERAND_CONSTANT, /* value */
};

/*
 * One argument of a USDT note, such as `-4@8(%rbp)`. The size and sign are the note's: the
 * width of the register's name does not count (sys/sdt.h: "STAP_PROBE_ASM", gdb PR 24541).
 */
struct nw_operand {
	enum nw_operand_kind kind;
	const char *text; /* into the note, text_len bytes */
	size_t text_len;
	unsigned int size; /* bytes */
	bool is_signed;
	bool is_float;
	bool absolute;		 /* GLOBAL: the symbol's address is written into the code */
	bool got;		 /* GLOBAL: what is wanted is the address in its GOT slot */
	unsigned int shift;	 /* REGISTER: first bit, 8 for %ah */
	char reg[12];		 /* as the kernel spells it, "" if there is none */
	char reg_high[12];	 /* second half of a pair of registers */
	char index[12];		 /* MEMORY: index register */
	unsigned int index_bits; /* width of the index register's name */
	unsigned int scale;	 /* MEMORY: 1, 2, 4, 8, ... with an index */
	bool window; /* its problem is the index only: what is near the base can be had */
	bool half;   /* REGISTER: of twice its width; which one has the rest is not told */
	int64_t offset; /* MEMORY, GLOBAL, address constant: displacement */
	uint64_t value; /* CONSTANT: cut to size, sign-extended to 64 bits if signed */
	const char
		*symbol; /* what offset is relative to: into the note, symbol_len bytes */
	size_t symbol_len;
	bool resolved;	     /* the symbol was found, */
	uint64_t address;    /* and this is its linked address (of its GOT slot, if got) */
	const char *problem; /* why no value can be had, a sentence; NULL: it can */
};

typedef NW_VEC(struct nw_operand) nw_operands;

/*
 * Split and parse the argument string of a note. Never fails on bad text: what cannot be
 * understood becomes an operand of kind UNKNOWN with its problem. Returns -ENOMEM at worst.
 * The operands point into args.
 */
int nw_operands_parse(const struct nw_arch *arch, const char *args, nw_operands *out);
/* How many there are, which is the same for every architecture. */
size_t nw_operands_count(const char *args);

/* ---- images ------------------------------------------------------------------------- */

struct nw_segment { /* a PT_LOAD */
	uint64_t vaddr, offset, filesz, memsz;
	bool exec, write;
};

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
	char *why;
};

enum nw_notes {
	NW_NOTES_FOUND,
	NW_NOTES_NONE,	      /* linked without USDT probes, or they were stripped */
	NW_NOTES_NO_SECTIONS, /* no section headers: notes cannot be found */
	NW_NOTES_UNLINKED,    /* a relocatable object: addresses are not final */
};

struct nw_symbols; /* lazily loaded; see probe/symbol.c */

struct nw_image {
	char *path; /* as shown to the user; usable in a spec */
	int fd;	    /* read-only, close-on-exec, open as long as the image lives */
	uint64_t dev, ino, size;
	int64_t mtime; /* seconds */
	char build_id[129];
	const struct nw_arch *arch; /* NULL: a machine without uprobes */
	unsigned int machine;	    /* e_machine */
	uint32_t flags;		    /* e_flags */
	bool elf64, big_endian;
	bool executable;	   /* ET_EXEC: linked addresses are run-time addresses */
	bool go;		   /* Go code: return probes crash it */
	bool throws, throws_known; /* nw_image_throws() */
	NW_VEC(struct nw_segment) segments;
	enum nw_notes notes;
	NW_VEC(struct nw_site) sites;
	NW_VEC(struct nw_skipped) skipped;
	char *note_data; /* what the sites' strings point into */
	struct nw_symbols *symbols;
	uint64_t got_work; /* relocations that were looked at for operands: it is bounded */
	bool kernel;	   /* no file: the kernel itself, which its own events belong to */
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
/* File offset of a linked address, through the segment that holds it; -1 if none does.
 * Only bytes that are in the file have one. exec: executable segments only. */
int64_t nw_image_offset(const struct nw_image *image, uint64_t vaddr, bool exec);
/* The nop in the file at that offset, if it is one. */
enum nw_nop nw_image_nop(const struct nw_image *image, uint64_t offset);
/* "no USDT notes in 'FILE'", "the section headers of ... are gone", ... for NW_NOTES_*. */
int nw_image_explain(const struct nw_image *image, struct nw_error *err);

/* ---- notes -------------------------------------------------------------------------- */

/* A stapsdt note as it lies in the file; strings point into the section. */
struct nw_note {
	uint64_t pc, base, semaphore;
	const char *provider, *name, *args;
};

/*
 * Walk the bytes of a .note.stapsdt section. *at starts at 0 and moves on; returns 1 with a
 * note, 0 at the end, -EBADMSG for a note that is damaged (with *why, a static sentence): it
 * is skipped and the walk can go on, unless *at has reached len.
 */
int nw_note_next(const char *data, size_t len, bool elf64, bool big_endian, size_t *at,
		 struct nw_note *note, const char **why);

/* ---- symbols ------------------------------------------------------------------------ */

struct nw_symbol {
	const char *name; /* lives as long as the image */
	uint64_t value, size;
	/* ppc64 (ELFv2, section 3.4.1): how far behind value everybody comes by, calls from the same
	 * module, too; 0 elsewhere */
	uint64_t local_entry;
	bool function, ifunc, tls, undefined;
	bool object; /* a variable */
};

/*
 * The symbol of that name as code at vaddr means it; 0: from nowhere in particular. NAME@VERSION
 * and NAME@@VERSION are that version's, NAME the default one's. -ENOENT: there is none; -ENXIO: it is only imported; -ENOTUNIQ:
 * there are several, and which one is meant cannot be told.
 */
int nw_image_symbol(struct nw_image *image, const char *name, size_t len, uint64_t vaddr,
		    struct nw_symbol *out);
/* Can exceptions pass through its functions, as far as its file tells? */
bool nw_image_throws(struct nw_image *image);
/* The function that holds vaddr; -ENOENT. */
int nw_image_function(struct nw_image *image, uint64_t vaddr, struct nw_symbol *out);

/*
 * Find the addresses of the symbols that the operands of the site at vaddr name. An operand whose symbol is not to be
 * found gets its problem; an address constant of an ET_EXEC file becomes a plain constant.
 */
void nw_operands_resolve(struct nw_image *image, uint64_t vaddr, nw_operands *operands);

/* ---- processes ---------------------------------------------------------------------- */

struct nw_mapping {
	uint64_t start, end, offset;
	uint64_t dev, ino; /* as maps tells them; btrfs has other devices for stat() */
	bool exec, write, shared, deleted;
	char *path; /* as the kernel prints it, unescaped, without " (deleted)"; "" = anonymous */
};

typedef NW_VEC(struct nw_mapping) nw_mappings;
typedef NW_VEC(pid_t) nw_pids;

/* The mappings of a process; ESRCH when it is gone, EACCES without the right to look. */
int nw_process_maps(pid_t pid, nw_mappings *out, struct nw_error *err);
void nw_mappings_free(nw_mappings *maps);
/* All threads of a process. ESRCH when it is gone. */
int nw_process_threads(pid_t pid, nw_pids *out, struct nw_error *err);
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
/* Where it has this place of a file as a variable of its own, that is, in private and writable
 * memory; 0: nowhere. */
uint64_t nw_process_variable(const struct nw_process *process, uint64_t dev, uint64_t ino,
			     uint64_t offset);
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
/* nw_process_threads() and nw_process_task() in the kernel's numbers. space NULL: they are ours. */
int nw_pid_space_threads(const struct nw_pid_space *space, pid_t process, nw_pids *out,
			 struct nw_error *err);
int nw_pid_space_task(const struct nw_pid_space *space, pid_t tid, pid_t *process,
		      char comm[16]);
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
int nw_process_images(pid_t pid, bool without_notes, bool force, nw_images *out,
		      struct nw_error *err);
void nw_images_free(nw_images *images);

/* ---- armed or not ------------------------------------------------------------------- */

/* How one place looks in the processes that there are. */
struct nw_presence {
	unsigned int mapped;	       /* processes that map its page as code */
	unsigned int armed;	       /* of these, with a breakpoint in their memory */
	unsigned int unreadable;       /* of these, whose memory we may not read */
	unsigned int closed;	       /* of these, whose semaphore is 0 */
	pid_t unarmed_pid, closed_pid; /* an example each, 0: none */
};

struct nw_point;
/*
 * Look at places in every process (pids == NULL), or in these: enabled does not mean armed,
 * and only the bytes in a process's own memory tell. out: one per point.
 */
int nw_points_look(const struct nw_point *const *points, size_t count, const pid_t *pids,
		   size_t pid_count, struct nw_presence *out, struct nw_error *err);

/* ---- specs -------------------------------------------------------------------------- */

enum nw_spec_kind {
	NW_SPEC_USDT,
	NW_SPEC_UPROBE,
	NW_SPEC_URETPROBE,
	NW_SPEC_FUNC,
	NW_SPEC_TRACEPOINT,
};

enum nw_base_type {
	NW_TYPE_DEFAULT, /* what the note says */
	NW_TYPE_UNSIGNED,
	NW_TYPE_SIGNED,
	NW_TYPE_HEX,
	NW_TYPE_STRING,
	NW_TYPE_FLOAT, /* raw bits, converted in user space */
};

/* u8..u64, s8..s64, x8..x64, f32, f64, string; array > 0: that many elements. */
struct nw_type {
	enum nw_base_type base;
	unsigned int bits;
	unsigned int array;
};

int nw_type_parse(const char *text, size_t len, struct nw_type *out);

struct nw_named_arg {
	char name[32]; /* "" = argN */
	struct nw_type type;
	char length
		[32]; /* a string: the argument that has its length; "": it ends with a NUL */
};

typedef NW_VEC(struct nw_named_arg) nw_named_args;

struct nw_spec {
	char *text; /* as typed */
	enum nw_spec_kind kind;
	char *path;	/* "" = not said */
	char *provider; /* glob; tracepoint: the system */
	char *name;	/* glob; or symbol; tracepoint: the event */
	uint64_t offset;
	bool perf; /* "sdt_" was before the provider: a provider that has it in its name comes
		      first */
	bool returns_insn; /* returns=insn: return instructions instead of a return probe */
	bool has_args;	   /* parentheses were there, even if empty */
	nw_named_args args;
};

/* Parse one spec; EINVAL with a reason that names the text and what is accepted. */
int nw_spec_parse(const char *text, struct nw_spec *out, struct nw_error *err);
void nw_spec_free(struct nw_spec *spec);

/* ---- names and types of arguments ---------------------------------------------------- */

/* One probe as a file describes it: what its notes cannot say. */
struct nw_described {
	char *program;	/* glob of the base name of its file; NULL: any file */
	char *provider; /* glob; NULL: any */
	char *name;	/* glob */
	bool given;	/* the user named the file; else it was found */
	nw_named_args args;
};

struct nw_types {
	NW_VEC(struct nw_described) probes;
};

/*
 * Add what a file describes: a provider file of DTrace's (`provider x { probe y(char *); };`)
 * or a tapset of SystemTap's (`probe process("x").mark("y") { name = user_string($arg1) }`).
 * Errors name FILE:LINE; then nothing is added. ENOENT: it describes no USDT probes.
 */
int nw_types_read(struct nw_types *types, const char *path, struct nw_error *err);
/* Add what is known without a file: strings that have a length and no NUL. -ENOMEM. */
int nw_types_builtin(struct nw_types *types);
/* Add the tapsets below a directory. They only count for the programs that they name; those
 * that cannot be read are passed over. */
void nw_types_find(struct nw_types *types, const char *directory);
void nw_types_free(struct nw_types *types);
/* What is known of a probe in the file at path; NULL: nothing. What the user named comes first. */
const struct nw_described *nw_types_look_up(const struct nw_types *types, const char *path,
					    const char *provider, const char *name);
struct nw_point;
/*
 * Give arguments that have no name or no type of their own those of the description, where
 * that type can be the value's at all these points.
 */
void nw_types_apply(const struct nw_described *known, const struct nw_point *points,
		    size_t count, nw_named_args *args);

/* ---- selection ---------------------------------------------------------------------- */

/* One place of a probe. */
struct nw_point {
	struct nw_image *image;
	const struct nw_site *site; /* NULL: not USDT */
	uint64_t vaddr, offset;
	uint64_t semaphore_offset; /* 0: none */
	enum nw_nop nop;	   /* what stands there, if it is a nop */
	bool is_return; /* a return probe of the kernel's, which stands at the entry */
	bool jumps;	/* an exit that is a jump into another function */
	bool is_exit; /* an instruction by which the function is left: where a return probe
			   would do harm, or on demand (returns=insn) */
	nw_operands operands; /* USDT: parsed arguments of this site */
	char *hazard; /* why a breakpoint there would harm the program, as far as its file
			 tells; NULL: it does not. Such a point is only armed by --force */
};

/* What the user names: one row of the result. Owned by the selection. */
struct nw_probe {
	char *label; /* "postgresql:query__start"; with its path where it would be ambiguous */
	char *provider; /* USDT: of the notes; tracepoint: the system; else "uprobe", ... */
	char *name;
	enum nw_spec_kind kind;
	struct nw_image *image;
	NW_VEC(struct nw_point) points;
	nw_named_args args; /* as many as its sites have arguments; tracepoint: the fields
			       that are wanted */
	bool has_args;	    /* the user named arguments */
	size_t named;	    /* the first so many */
};

/* The argument of that name or, whatever it is called, argN; -1. */
int nw_arg_find(const struct nw_probe *probe, const char *name);
/* What argument i is called: its name, or "argI". */
void nw_arg_name(const struct nw_probe *probe, size_t i, char out[32]);

/*
 * The kernel's own events, as somebody knows them who may look into tracefs. Both functions
 * return 0 or -errno with a reason; what they add to out is the caller's.
 */
struct nw_kernel_events {
	void *arg;
	/* All there are, as "SYSTEM:EVENT". */
	int (*names)(void *arg, nw_strings *out, struct nw_error *err);
	/* The fields of one, in their order, each with the type it has for the user. */
	int (*fields)(void *arg, const char *system, const char *event, nw_named_args *out,
		      struct nw_error *err);
};

/* Where probes are looked for when a spec does not say. */
struct nw_scope {
	const pid_t *pids;
	size_t pid_count;
	const char *file;    /* -x */
	const char *command; /* CMD's executable, resolved */
	bool force;
	bool want_operands; /* parse the arguments of every site, not only where named */
	const struct nw_types *types; /* what is known of arguments; NULL: nothing */
	/* NULL: nobody can tell; then tracepoints are believed, as long as they are no globs */
	const struct nw_kernel_events *events;
};

struct nw_selection {
	nw_images images; /* each file once */
	NW_VEC(struct nw_probe *) probes;
	nw_strings warnings; /* notes that were skipped, and the like: for the user */
};

/*
 * Find all that the specs name. A spec that matches nothing is an error with near names
 * (ENOENT); so is one that says no file while the scope says none (EINVAL).
 */
int nw_select(const struct nw_spec *specs, size_t count, const struct nw_scope *scope,
	      struct nw_selection *out, struct nw_error *err);
/*
 * Of the probes whose arguments were named, leave only those: of the others, the first keep, as
 * far as there are, and those that the strings among them have their lengths in. A usage error if
 * a string's length is no argument.
 */
int nw_selection_trim(struct nw_selection *selection, size_t keep, struct nw_error *err);

void nw_selection_free(struct nw_selection *selection);

/* Does a USDT spec's provider and name pattern fit? */
bool nw_spec_fits(const struct nw_spec *spec, const char *provider, const char *name);
bool nw_spec_fits_provider(const struct nw_spec *spec, const char *provider);
/* The error for a spec that fits nothing in these images, with near names; -ENOENT. */
int nw_no_match(const struct nw_spec *spec, const nw_images *candidates,
		struct nw_error *err);

/* The file that a bare name means: in $PATH, then among the libraries; the caller frees. */
int nw_locate(const char *name, char **out, struct nw_error *err);
/* What runs a #! script; the caller frees. ENOEXEC: it is none. */
int nw_locate_interpreter(const char *path, char **out, struct nw_error *err);
/* The libraries that the dynamic linker would load for an executable (for a script, for
 * its interpreter), itself first. */
int nw_locate_needed(const char *path, bool force, nw_images *out, struct nw_error *err);

/*
 * Every ELF file with USDT notes below a directory, in the order of their names, each handed to
 * found() with its image, which found() then owns; what is not ELF is passed over by its first
 * bytes. Several threads read the tree, but found() is called by the caller's only. Stops when
 * found() is not 0.
 */
int nw_walk(const char *root, bool force, int (*found)(struct nw_image *image, void *arg),
	    void *arg, struct nw_error *err);

#endif
