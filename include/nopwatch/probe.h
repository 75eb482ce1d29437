/* SPDX-License-Identifier: MIT */
/*
 * find/probe: turns the user's specs into a selection of probes: names and types of arguments, files and processes.
 * Never touches tracefs.
 */
#ifndef NOPWATCH_PROBE_H
#define NOPWATCH_PROBE_H

#include "nopwatch/dwarf.h"
#include "nopwatch/elf.h"
#include "nopwatch/process.h"

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
	bool any_path;	/* "*": what the scope says, else what anybody runs */
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
const struct nw_described *nw_types_of(const struct nw_types *types, const char *path,
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
	struct nw_image *image;	    /* NULL: a tracepoint */
	const struct nw_site *site; /* NULL: not USDT */
	uint64_t vaddr, offset;
	uint64_t semaphore_offset; /* 0: none */
	enum nw_nop nop;	   /* what stands there, if it is a nop */
	bool is_return; /* a return probe of the kernel's, which stands at the entry */
	bool jumps;	/* an exit that is a jump into another function */
	bool is_exit; /* an instruction by which the function is left: where a return probe
			   would do harm, or on demand (returns=insn) */
	nw_operands operands; /* USDT: parsed arguments of this site */
	struct nw_frame
		frame; /* USDT: what tells a pair of it apart from others, where it does;
				  see nw_selection_frames() */
	/* A function of Go's: the register that points to the goroutine which runs it, "" if there is
	 * none; NULL: it is not Go's. */
	const char *goroutine;
	char *hazard; /* why a breakpoint there would harm the program, as far as its file
			 tells; NULL: it does not. Such a point is only armed by --force */
};

/* What the user names: one row of the result. Owned by the selection. */
struct nw_probe {
	char *label; /* "postgresql:query__start"; with its path where it would be ambiguous */
	char *provider; /* USDT: of the notes; tracepoint: the system; else "uprobe", ... */
	char *name;
	char *symbol; /* of a function that is called as its source calls it: the linker's name; else NULL */
	enum nw_spec_kind kind;
	struct nw_image *image; /* the file that it is in; NULL: a tracepoint, which is the
				   kernel's */
	NW_VEC(struct nw_point) points;
	nw_named_args args; /* as many as its sites have arguments; tracepoint: the fields
			       that are wanted */
	bool has_args;	    /* the user named arguments */
	size_t named;	    /* the first so many */
	bool hidden; /* nobody has asked for it: what it tells is needed for something else */
	bool callers; /* who called is wanted with each hit */
	bool shifted_states; /* of sched_switch: prev_state is one bit too high (struct nw_armed) */
};

/* The argument that a user means: of that name or, whatever it is called, argN by its number; -1. */
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
	bool no_demangle; /* functions that patterns name are called as the linker calls them */
	bool some;	  /* a spec that fits nothing is passed over, if others fit */
	bool want_operands; /* parse the arguments of every site, not only where named */
	const struct nw_types *types; /* what is known of arguments; NULL: nothing */
	/* NULL: nobody can tell; then tracepoints are believed, as long as they are no globs */
	const struct nw_kernel_events *events;
};

/*
 * What a hit adds to the time of the thread that it happens to. Its record's timestamp is taken somewhere within: what
 * comes before it (the trap, the fetches), and what after (the record, the way over the instruction). Of a
 * span, so much is inside: after its start's, before its end's, and both of every hit in between.
 */
struct nw_hit_cost {
	uint32_t before, after; /* ns, NW_MOST_HIT_COST at most */
};
#define NW_MOST_HIT_COST (UINT32_MAX / 4)

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
/* The same of specs as they were typed, and of their arguments only those that were named
 * (nw_selection_trim()). No word at all is a usage error. */
int nw_select_words(const char *const *words, size_t count, const struct nw_scope *scope,
		    struct nw_selection *out, struct nw_error *err);
/*
 * Of the probes whose arguments were named, leave only those: of the others, the first keep, as
 * far as there are, and those that the strings among them have their lengths in. A usage error if
 * a string's length is no argument.
 */
int nw_selection_trim(struct nw_selection *selection, size_t keep, struct nw_error *err);

/* Find out the frames of all points of those USDT probes that are wanted: as many as there are
 * probes. */
int nw_selection_frames(struct nw_selection *selection, const bool *wanted,
			struct nw_error *err);

/* Leave only those probes that are wanted: as many as there are probes. */
void nw_selection_keep(struct nw_selection *selection, const bool *wanted);
/* How many of its probes nobody has asked for. */
size_t nw_selection_hidden(const struct nw_selection *selection);
/* Call the functions as the linker does, of which both names are known. -ENOMEM. */
int nw_selection_linked(struct nw_selection *selection);
void nw_selection_free(struct nw_selection *selection);

/* Files that hold none of its probes need not stay open. */
void nw_selection_drop_unused(struct nw_selection *selection);

/* Does a USDT spec's provider and name pattern fit? */
bool nw_spec_matches(const struct nw_spec *spec, const char *provider, const char *name);
bool nw_spec_matches_provider(const struct nw_spec *spec, const char *provider);
/* The error for a spec that fits nothing in these images, with near names; -ENOENT. */
int nw_no_match(const struct nw_spec *spec, const nw_images *candidates,
		struct nw_error *err);

/* The executable file that a shell would run; *out stays NULL: there is none. The caller frees it. -ENOMEM. */
int nw_find_program(const char *name, char **out) nw_must_check;
/* The file that a bare name means: in $PATH, then among the libraries; the caller frees. */
int nw_locate(const char *name, char **out, struct nw_error *err);
/* The libraries that the dynamic linker would load for an executable (for a script, for
 * its interpreter), itself first. */
int nw_locate_needed(const char *path, bool force, nw_images *out,
		     struct nw_error *err) nw_must_check;

/* ---- looking for probes -------------------------------------------------------------- */

/* Which USDT probes are looked for, and where. */
struct nw_search {
	const char *file; /* or NULL */
	const pid_t *pids;
	size_t pid_count;
	bool force;
	/* what the words said, and file: */
	NW_VEC(struct nw_spec) patterns; /* none: everything */
	nw_strings places; /* files, directories, globs; "*": what running processes map */
};

/* Words are files, directories, or patterns. Nowhere to look is a usage error. */
int nw_search_add(struct nw_search *search, const char *const *words, size_t count,
		  struct nw_error *err);
void nw_search_free(struct nw_search *search);
/* Is the probe one of those that are looked for? */
bool nw_search_wants(const struct nw_search *search, const char *provider,
		     const char *name);

/* Who hears of what is found. */
struct nw_finder {
	void *arg;
	/* A file, which it then owns. of_many: nobody has named it. Not 0: look no further. */
	int (*found)(void *arg, struct nw_image *image, bool of_many);
	/* A place could not be looked into. file: it is a file, or a pattern of files. */
	void (*failed)(void *arg, struct nw_error *err, bool file);
};
void nw_search_run(const struct nw_search *search, const struct nw_finder *finder);

/* ---- armed or not ------------------------------------------------------------------- */

/* How one place looks in the processes that there are. */
struct nw_presence {
	unsigned int mapped;	       /* processes that map its page as code */
	unsigned int armed;	       /* of these, with a breakpoint in their memory */
	unsigned int unreadable;       /* of these, whose memory we may not read */
	unsigned int closed;	       /* of these, whose semaphore is 0 */
	pid_t unarmed_pid, closed_pid; /* an example each, 0: none */
};

/*
 * Look at places in every process (pids == NULL), or in these: enabled does not mean armed,
 * and only the bytes in a process's own memory tell. out: one per point.
 */
int nw_points_presence(const struct nw_point *const *points, size_t count,
		       const pid_t *pids, size_t pid_count, struct nw_presence *out,
		       struct nw_error *err);

/* The file that this debug file, which holds no code, belongs to: one of the process's (0: none is meant), or where
 * packages have it. *owner is NULL where it is not found. 0 or -ENOMEM. */
int nw_find_debug_owner(const struct nw_image *debug, pid_t pid, char **owner);

/* ---- functions ---------------------------------------------------------------------- */

/* Functions of a file. Zeroed it is valid. */
struct nw_functions {
	nw_strings symbols; /* the linker's names */
	nw_strings
		names; /* of each the name to show: the source's, where it is known and tells it from the others */
};

/*
 * The functions of a file that a name or a pattern means: by the linker's names, or by the source's, in which parameters,
 * results and arguments of templates may be left out ("app::f" of "int app::f<int>(int)"). 0, -errno with the reason;
 * -ENOENT where there is none, with names that are near.
 */
int nw_functions_find(struct nw_image *image, const char *pattern, struct nw_functions *out,
		      struct nw_error *err);
void nw_functions_free(struct nw_functions *functions);

/* ---- what is known of a function ----------------------------------------------------------- */

enum nw_symbol_state {
	NW_SYMBOL_FOUND,
	NW_SYMBOL_IMPORTED, /* named, but undefined: it lies in another file */
	NW_SYMBOL_MISSING,
	NW_SYMBOL_AMBIGUOUS, /* several different ones */
	NW_SYMBOL_DATA,	     /* a variable */
};

/* Strings are owned; NULL: there is none, or it was not found. */
struct nw_symbol_facts {
	enum nw_symbol_state state;
	bool stripped; /* the file has no .symtab; its debug file may have */
	bool ifunc;    /* its address is a resolver's, which runs once */
	bool is_note;  /* a USDT probe has that name */
	bool has_notes;
	bool barred; /* its code is such that kernels place no uprobe in it: Thumb */
	uint64_t vaddr, size;
	int inlined;	/* copies that DWARF knows of; -1: it says nothing */
	char *mangled;	/* a C++ or Rust symbol that stands for that name */
	char *rehashed; /* a Rust symbol that differs by its hash only: of another build */
	char *near;	/* names that are spelled alike: "a, b" */
	char *clones;	/* what the compiler made of it: "f.constprop.0, f.part.0" */
	char *aliases;	/* other functions at the same address: "a, b" */
	char *defined_in;     /* not found here: a file among those loaded that has it */
	char *implementation; /* ifunc: what the process runs, by name or 0xOFFSET */
	char *implementation_file;
};

/* Look for a function in an image, and for what explains its absence. pid: a process that has
 * the file loaded, 0: none; its libraries are searched, else those the file asks for. */
int nw_symbol_inspect(struct nw_image *image, const char *name, pid_t pid,
		      struct nw_symbol_facts *out, struct nw_error *err);
void nw_symbol_facts_free(struct nw_symbol_facts *facts);

/*
 * Which file of the process its calls of a function reach instead of this one, since that comes
 * before it in the dynamic linker's search order. *by: its path, owned by the caller; NULL: none, or
 * the image does not export the name. -ENOMEM.
 */
int nw_symbol_interposed(const struct nw_image *image, const char *name,
			 const struct nw_process_facts *process, char **by);

/*
 * The kernel's stacks of threads that go to sleep. They are not an event that can be enabled, or that a spec
 * names: a trigger of sched_switch writes them behind its records (Documentation/trace/events.rst, stacktrace).
 */
#define NW_STACK_SYSTEM "ftrace"
#define NW_STACK_EVENT	"kernel_stack"
int nw_select_stacks(struct nw_selection *selection, struct nw_error *err);

#endif
