/* SPDX-License-Identifier: MIT */
/*
 * find/probe: turns the user's specs into a selection of probes: their files, processes, and the names and types of
 * their arguments. Never touches tracefs.
 */
#ifndef NOPWATCH_FIND_PROBE_PROBE_H
#define NOPWATCH_FIND_PROBE_PROBE_H

#include "find/dwarf/dwarf.h"
#include "find/elf/elf.h"
#include "find/process/process.h"

/* ---- specs -------------------------------------------------------------------------- */

enum nw_spec_kind {
	NW_SPEC_USDT,
	NW_SPEC_UPROBE,
	NW_SPEC_URETPROBE,
	NW_SPEC_FUNC,
	NW_SPEC_TRACEPOINT,
};

enum nw_base_type {
	NW_TYPE_DEFAULT, /* the type in the note */
	NW_TYPE_UNSIGNED,
	NW_TYPE_SIGNED,
	NW_TYPE_HEX,
	NW_TYPE_STRING,
	NW_TYPE_FLOAT, /* fetched as raw bits, converted in user space */
	NW_TYPE_CHAR,  /* only as an array, which is text up to its first NUL */
};

/* u8..u64, s8..s64, x8..x64, f32, f64, string, char; array > 0: an array of that many elements. */
struct nw_type {
	enum nw_base_type base;
	unsigned int bits;
	unsigned int array;
};

int nw_type_parse(const char *text, size_t len, struct nw_type *out);
static inline bool nw_type_is_text(const struct nw_type *type)
{
	return type->base == NW_TYPE_STRING || type->base == NW_TYPE_CHAR;
}

/* The characters of a path to a variable's field. */
#define NW_PATH_CHARACTERS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.->[]"

/* The characters of the names of the kernel's functions, and of patterns of them. */
#define NW_KERNEL_CHARACTERS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.*?[]"

/* The system of the events that programs have registered by user_events_data. That of events of which several formats may be
 * registered begins with it, too. */
#define NW_USER_EVENTS "user_events"

/* Fields of every EventHeader event: its flags, by which it is recognized, and what is shown of it. */
#define NW_EVENTHEADER_FLAGS  "eventheader_flags"
#define NW_EVENTHEADER_EVENT  "event"
#define NW_EVENTHEADER_FIELDS "fields"

/* Behind the name of a function: its copies in other functions. */
#define NW_INLINED_MARK " (inlined)"

enum {
	NW_ARG_NAME = 128 /* bytes of an argument's name, with its NUL */
};
struct nw_named_arg {
	char name[NW_ARG_NAME]; /* "": argN; of a function also "request->id" */
	struct nw_type type;
	/* For a string: the argument that has its length; "": it ends with a NUL. */
	char length[32];
	bool made; /* it is not fetched, but made of another argument (run/members.c) */
	bool at_return; /* "buf:string@return": an argument of the call, read when it returns */
};

typedef NW_VEC(struct nw_named_arg) nw_named_args;

struct nw_spec {
	char *text; /* as typed */
	enum nw_spec_kind kind;
	char *path; /* "": not given */
	bool any_path; /* "*": the files of the scope, or (USDT only) those of all running processes */
	char *provider; /* glob; tracepoint: the system */
	char *name;	/* glob or symbol; tracepoint: the event; a source line: "x.c:64" */
	uint64_t offset;
	char *source; /* uprobe:PATH@SOURCE:LINE: the source file; else NULL */
	unsigned int line;
	/* "sdt_" preceded the provider. A provider whose own name begins with it comes first. */
	bool perf;
	/* returns=insn: probe return instructions instead of using a return probe */
	bool returns_insn;
	bool inlined;  /* "f (inlined)": only its copies in other functions */
	bool kernel;   /* a function of the kernel: kprobe:SYMBOL, func:kernel:SYMBOL */
	bool has_args; /* there were parentheses, perhaps empty ones */
	nw_named_args args;
};

/* Parses one spec. EINVAL: the error names the text and the accepted forms. */
int nw_spec_parse(const char *text, struct nw_spec *out, struct nw_error *err);
/* Writes the spec of a function or place again: PATH:SYMBOL[+0xOFFSET], PATH:0xOFFSET or PATH@SOURCE:LINE. */
void nw_spec_write_place(const struct nw_spec *spec, const char *path, struct nw_buf *out);
void nw_spec_free(struct nw_spec *spec);

/* ---- arguments of functions ------------------------------------------------------------- */

/* An argument of a function in its source. */
struct nw_source_argument {
	char *name, *type; /* type "": unknown */
	const char *
		problem; /* why it cannot be fetched at the function's entry; NULL: it can */
};
typedef NW_VEC(struct nw_source_argument) nw_source_arguments;

struct nw_reader;
/* Finds the arguments of the function at its entry, by DWARF; none without it. The caller frees them, also after an error: the
 * file cannot be read. The reader must not be used for another file. */
int nw_source_arguments_find(struct nw_reader *reader, struct nw_image *image,
			     const char *symbol, uint64_t vaddr, nw_source_arguments *out,
			     struct nw_error *err);
void nw_source_arguments_free(nw_source_arguments *arguments);

/* ---- names and types of arguments ---------------------------------------------------- */

/* One probe as described by a file: facts that its notes do not contain. */
struct nw_described {
	char *program;	/* glob of the base name of its file; NULL: any file */
	char *provider; /* glob; NULL: any provider */
	char *name;	/* glob */
	bool given;	/* the user named the file; otherwise it is installed */
	nw_named_args args;
};

struct nw_types {
	NW_VEC(struct nw_described) probes;
};

/*
 * Adds the descriptions in a file: a provider file of DTrace (`provider x { probe y(char *); };`) or a tapset of
 * SystemTap (`probe process("x").mark("y") { name = user_string($arg1) }`). An error names FILE:LINE; then nothing is
 * added. ENOENT: the file describes no USDT probes.
 */
int nw_types_read(struct nw_types *types, const char *path, struct nw_error *err);
/* Adds built-in descriptions: strings that have a length and no NUL. Returns -ENOMEM on failure. */
int nw_types_builtin(struct nw_types *types);
/* Adds the tapsets below a directory. They only apply to the programs that they name; unreadable ones are skipped. */
void nw_types_find(struct nw_types *types, const char *directory);
/* Reads the files that the user named, and what else is known: built-in descriptions and the installed tapsets
 * ($SYSTEMTAP_TAPSET, as for stap). `out` is only written on success. */
int nw_types_load(const char *const *files, size_t count, struct nw_types *out,
		  struct nw_error *err);
void nw_types_free(struct nw_types *types);
/* Returns the description of a probe in the file at path; NULL: none. Files that the user named come first. */
const struct nw_described *nw_types_of(const struct nw_types *types, const char *path,
				       const char *provider, const char *name);
struct nw_point;
/*
 * Applies the description's names and types to arguments that have none, if the value can have that type at all these
 * points.
 */
void nw_types_apply(const struct nw_described *known, const struct nw_point *points,
		    size_t count, nw_named_args *args);

/* ---- selection ---------------------------------------------------------------------- */

/* One place of a probe. */
struct nw_point {
	struct nw_image *image;	    /* NULL: a tracepoint */
	const struct nw_site *site; /* NULL: not a USDT probe */
	uint64_t vaddr, offset;
	uint64_t semaphore_offset; /* 0: none */
	enum nw_nop nop;	   /* the nop at this place, if it is one */
	bool is_call; /* it is the second nop of the site, which the kernel turns into a call (nw_point_take_call()) */
	bool is_return; /* a return probe of the kernel, which is placed at the entry */
	bool jumps;	/* an exit that is a jump to another function */
	/* An instruction that leaves the function, used if a return probe would do harm or with returns=insn. */
	bool is_exit;
	nw_operands operands; /* USDT: parsed arguments of this site */
	/*
	 * Both ends of a function whose arguments are read at the return: what is kept of the entry for that, as fetches
	 * without types, "%di". An operand of the return that is `carried` begins with one of them, "k0".
	 */
	nw_strings kept;
	/* USDT: the frame that tells a pair of this call apart from others; see nw_selection_frames(). */
	struct nw_frame frame;
	/* Go functions: the register that points to the current goroutine; "": there is none. NULL: it is no Go
	 * function. */
	const char *goroutine;
	/* Why a breakpoint here would harm the program, as far as its file tells; NULL: it does not. Such a point is
	 * armed only with --force. */
	char *hazard;
};

/*
 * Moves the probe of a USDT site to its second nop, which the kernel turns into a call. Returns whether the site has one:
 * it must not cross a page, or the kernel leaves it a trap (can_optimize() of arch/x86/kernel/uprobes.c).
 */
bool nw_point_take_call(struct nw_point *point);
/* Is a probe at this offset one of the site's? It is at its nop, or at the second one. */
bool nw_site_is_at(const struct nw_site *site, uint64_t offset);

/* An argument of a system call. */
struct nw_call_arg {
	uint32_t number; /* the call's first argument is 0 */
	bool copied; /* the kernel's event has a copy of its string, "__filename_val" (Linux 7.0), for which it waits if need be */
	struct nw_type type; /* as the kernel's event has it */
};

/* A probe: one row of the result. Owned by the selection. */
struct nw_probe {
	char *label; /* "postgresql:query__start"; with its path if it would be ambiguous */
	/* USDT: from the notes; tracepoint: the system; else "uprobe", "kretprobe", ... */
	char *provider;
	char *name;
	/* The linker's name, for a function whose `name` is that of its source; else NULL. */
	char *symbol;
	enum nw_spec_kind kind;
	/* Its file; NULL: a tracepoint, which belongs to the kernel. */
	struct nw_image *image;
	NW_VEC(struct nw_point) points;
	/* As many as its sites have arguments; tracepoint: the selected fields. */
	nw_named_args args;
	/* The names of the values of an enumeration, "0=RED,7=GREEN", for each of these arguments, or only for the first ones; "": it has none. */
	nw_strings enums;
	bool has_args; /* the user named arguments */
	size_t named;  /* how many of the first arguments they named */
	bool hidden;   /* the user did not ask for it: it is needed for something else */
	bool callers;  /* callers are wanted with each hit */
	/* sched_switch: prev_state is one bit too high (struct nw_armed) */
	bool shifted_states;
	/*
	 * A system call, of which the user wants strings. The kernel's event has only their addresses, so an event of ours
	 * takes its place. It has these arguments, as many as `args`; none: the kernel's event is taken.
	 */
	NW_VEC(struct nw_call_arg) call_args;
	/* The function "__x64_sys_openat" or the event "syscalls.sys_enter_openat" that our event is attached to, and the
	 * fetch of each argument there. NULL: it is not known yet. */
	char *attached;
	nw_strings places;
};

/* Does the probe stand in the kernel, rather than in programs? It is a kernel event, or in a function of the kernel. */
static inline bool nw_probe_in_kernel(const struct nw_probe *probe)
{
	return !probe->image || probe->image->kernel;
}
/* Is it in a function of the kernel? What a hit of such a probe costs is not measured, but at least that of a kernel event. */
static inline bool nw_probe_in_kernel_function(const struct nw_probe *probe)
{
	return probe->image && probe->image->kernel;
}
/* Returns the provider of the returns of functions whose entries have this one, "uretprobe" for "uprobe"; NULL: the
 * provider is not of entries. */
const char *nw_return_provider(const char *entry);
struct nw_point;
/* Appends where a point of the probe is: "LABEL at PATH+0xOFFSET", or in the kernel its label. */
void nw_point_text(const struct nw_probe *probe, const struct nw_point *point,
		   struct nw_buf *out);
/* Does the second probe stand at the returns of the function at whose entry the first one stands? */
bool nw_probes_are_call(const struct nw_probe *entry, const struct nw_probe *returns);

/* Returns the argument of that name, or argN by its number whatever its name is; -1: none. */
int nw_arg_find(const struct nw_probe *probe, const char *name);
/* Writes the name of argument i, or "argI" if it has none. */
void nw_arg_name(const struct nw_probe *probe, size_t i, char out[NW_ARG_NAME]);

/* Finds the name of an argument's number, if its type is an enumeration. Returns the length of *out; 0: it has none. The name
 * comes from a file, and is not escaped. */
size_t nw_arg_word(const struct nw_probe *probe, size_t i, uint64_t number, bool is_signed,
		   const char **out);

/*
 * The kernel events, from a caller that may read tracefs. Both functions return 0, or -errno with a reason; they
 * append to `out`, which the caller owns.
 */
struct nw_kernel_events {
	void *arg;
	/* Lists all events as "SYSTEM:EVENT". */
	int (*names)(void *arg, nw_strings *out, struct nw_error *err);
	/* Tells why programs cannot register user_events (-EOPNOTSUPP); 0: they can. */
	int (*user_events)(void *arg, struct nw_error *err);
	/* Lists the fields of an event in their order, with the types that the user sees. */
	int (*fields)(void *arg, const char *system, const char *event, nw_named_args *out,
		      struct nw_error *err);
};

/* Where probes are searched if a spec does not tell. */
struct nw_scope {
	const pid_t *pids;
	size_t pid_count;
	bool members;	     /* they come and go: one that has ended has no files */
	const char *file;    /* -x */
	const char *command; /* the resolved executable of CMD */
	bool force;
	bool no_demangle; /* functions that match patterns keep the linker's names */
	bool some;	  /* a spec that matches nothing is skipped if others match */
	/* Parse the arguments of every site, not only of those that are named */
	bool want_operands;
	const struct nw_types *types; /* descriptions of arguments; NULL: none */
	const char *kallsyms; /* the kernel's list of its symbols; NULL: /proc/kallsyms */
	/* NULL: events are unknown; then tracepoints are accepted unchecked, unless they are globs. */
	const struct nw_kernel_events *events;
};

/*
 * A hit adds this overhead to the time of its thread. The kernel takes the timestamp of the record in between: `before` is
 * the overhead up to the timestamp (the trap, the fetches), `after` the rest (the record, the single step). A span contains `after` of its
 * start, `before` of its end, and both of every hit in between.
 */
struct nw_hit_cost {
	uint32_t before, after; /* in ns, at most NW_MOST_HIT_COST */
};
#define NW_MOST_HIT_COST (UINT32_MAX / 4)

struct nw_selection {
	nw_images images; /* without duplicates */
	NW_VEC(struct nw_probe *) probes;
	struct nw_hash_table
		by_name; /* the first by_name.count probes, for nw_probe_find() */
	nw_strings
		warnings; /* for the user: notes that were skipped and why, and the like */
};

/* Returns the first probe with an argument that is carried from a call's entry to its return; NULL: there is none. */
const struct nw_probe *nw_selection_carries(const struct nw_selection *selection);

/*
 * Finds the probes that the specs name. A spec that matches nothing is an error with similar names (ENOENT); a spec
 * without a file is an error if the scope has none, either (EINVAL).
 */
int nw_select(const struct nw_spec *specs, size_t count, const struct nw_scope *scope,
	      struct nw_selection *out, struct nw_error *err);
/* Does the same for specs as typed, and keeps only the arguments that were named (nw_selection_trim()). It is a usage
 * error if there are no words. */
int nw_select_words(const char *const *words, size_t count, const struct nw_scope *scope,
		    struct nw_selection *out, struct nw_error *err);
/*
 * Removes arguments that were not named, from probes for which the user named some. The first `keep` arguments stay,
 * and so do the arguments that hold lengths of remaining strings. It is a usage error if a string's length is no
 * argument.
 */
int nw_selection_trim(struct nw_selection *selection, size_t keep, struct nw_error *err);

/* Finds the frames of all points of the wanted USDT probes. `wanted` has an element per probe. */
int nw_selection_frames(struct nw_selection *selection, const bool *wanted,
			struct nw_error *err);

/* Removes the probes that are not wanted. `wanted` has an element per probe. */
void nw_selection_keep(struct nw_selection *selection, const bool *wanted);
/* Returns the number of hidden probes. */
size_t nw_selection_hidden(const struct nw_selection *selection);
/* Renames functions to the linker's names if both names are known. Returns -ENOMEM on failure. */
int nw_selection_linked(struct nw_selection *selection);
void nw_selection_free(struct nw_selection *selection);

/* Closes files without selected probes. */
void nw_selection_drop_unused(struct nw_selection *selection);

/* Do provider and name match the patterns of a USDT spec? */
bool nw_spec_matches(const struct nw_spec *spec, const char *provider, const char *name);
bool nw_spec_matches_provider(const struct nw_spec *spec, const char *provider);
/* Sets the error for a spec that matches nothing in these images, with similar names; returns -ENOENT. */
int nw_no_match(const struct nw_spec *spec, const nw_images *candidates,
		struct nw_error *err);

/* Finds the executable file that a shell would run; *out stays NULL if there is none. The caller frees it. Returns
 * -ENOMEM on failure. */
int nw_find_program(const char *name, char **out) nw_must_check;
/* Returns the file that has the USDT probes of a program: the program java has none, but loads the JVM, which has them. */
const char *nw_usdt_file(const char *name);
/* Finds the file of a bare name: in $PATH, then among the libraries, then among the files that processes map, then where packages
 * put servers. The caller frees it. EEXIST: there are several, and the error names them. */
int nw_locate(const char *name, char **out, struct nw_error *err);
/* Finds the program that a script starts: a shim of pyenv, rbenv or nodenv, or a line `exec /FILE ...`. *out stays NULL if it is
 * unknown, or the file is no script. Returns 0 or -ENOMEM. */
int nw_follow_script(const char *path, char **out) nw_must_check;
/* Adds to the error of a file that is no ELF file (ret is -ENOEXEC), if it is a script, which program it starts. Returns ret. */
int nw_hint_script(const char *path, int ret, struct nw_error *err);
/*
 * Finds the ELF file of a bare name. If $PATH has a script of that name, this is the program that the script starts
 * (nw_follow_script()), a file that a process maps by that name, the next program in $PATH that is no script, or the script's
 * interpreter; *script is the script then, else NULL. The caller frees both.
 */
int nw_locate_elf(const char *name, char **out, char **script, struct nw_error *err);
/* Fails, since a spec names no file and no process is given, and says what to write instead. */
int nw_no_file_named(const char *spec, struct nw_error *err);
/* Finds the libraries that the dynamic linker would load for an executable; for a script, for the program that it starts
 * (nw_follow_script()) and for its interpreter. The executables come first. */
int nw_locate_needed(const char *path, bool force, nw_images *out,
		     struct nw_error *err) nw_must_check;

/* ---- looking for probes -------------------------------------------------------------- */

/* A search for probes: the patterns that they match, and the places to look in. */
struct nw_search {
	const char *file;    /* -x FILE, or NULL */
	const char *command; /* the program of CMD, or NULL */
	const pid_t *pids;
	size_t pid_count;
	bool members; /* they come and go: one that has ended has no files */
	bool force;
	/* From the words and `file`: */
	NW_VEC(struct nw_spec) patterns; /* none: all probes */
	nw_strings
		/* Files, directories, globs; "*": files that running processes map */
		places;
};

/* Adds words: files, directories, or patterns. It is a usage error if there is no place to search. */
int nw_search_add(struct nw_search *search, const char *const *words, size_t count,
		  struct nw_error *err);
void nw_search_free(struct nw_search *search);
/* Does the search look for this probe? */
bool nw_search_wants(const struct nw_search *search, const char *provider,
		     const char *name);

/* Receives the results of a search. */
struct nw_finder {
	void *arg;
	/* A file, which the callee then owns. of_many: the user did not name it. Returns another value than 0 to
	 * stop. */
	int (*found)(void *arg, struct nw_image *image, bool of_many);
	/* A place could not be searched. file: it is a file, or a pattern of files. */
	void (*failed)(void *arg, struct nw_error *err, bool file);
};
void nw_search_run(const struct nw_search *search, const struct nw_finder *finder);

/* ---- armed or not ------------------------------------------------------------------- */

/* The state of one place in the running processes. */
struct nw_presence {
	unsigned int mapped; /* processes that map its page as code */
	unsigned int
		armed; /* those with a breakpoint in their memory, or the kernel's call */
	struct nw_armed_forms forms;   /* the same, by what is in their memory */
	unsigned int unreadable;       /* those whose memory cannot be read */
	int unreadable_code;	       /* the errno of one of these */
	unsigned int closed;	       /* those whose semaphore is 0 */
	pid_t unarmed_pid, closed_pid; /* an example of each; 0: none */
};

/*
 * Checks places in every process (pids == NULL) or in the given ones: that an event is enabled does not mean that it
 * is armed; only the bytes in a process's memory tell. out: an element per point.
 */
int nw_points_presence(const struct nw_point *const *points, size_t count,
		       const pid_t *pids, size_t pid_count, struct nw_presence *out,
		       struct nw_error *err);

/* Finds in which processes (NULL: in any) the sites of a file are armed, and how: site->armed. Processes whose memory cannot
 * be read do not count. Returns 0 or a shortage of memory or descriptors. */
int nw_image_find_armed(struct nw_image *image, const pid_t *pids, size_t pid_count,
			struct nw_error *err);
/* Appends "1 optimised, 2 emulated"; nothing if it is not armed anywhere. */
void nw_armed_forms_text(const struct nw_armed_forms *forms, struct nw_buf *out);
void nw_armed_forms_add(struct nw_armed_forms *sum, const struct nw_armed_forms *one);

/* Finds the file that this debug file, which contains no code, belongs to: a file of the process (0: no process), or
 * one in the usual place of packages. *owner is NULL if it is not found. Returns 0 or -ENOMEM. */
int nw_find_debug_owner(const struct nw_image *debug, pid_t pid, char **owner);

/* ---- functions ---------------------------------------------------------------------- */

/* Functions of a file. A zeroed one is valid. */
struct nw_functions {
	nw_strings symbols; /* the linker's names */
	/* The name to show of each: that of the source if it is known and unambiguous. */
	nw_strings names;
};

/*
 * Finds the functions of a file that a name or a pattern means, by the linker's names or by the names in the source,
 * in which parameters, results and template arguments may be omitted ("app::f" for "int app::f<int>(int)"). Returns
 * 0, or -errno with the reason; -ENOENT with similar names if there is none.
 */
int nw_functions_find(struct nw_image *image, const char *pattern, struct nw_functions *out,
		      struct nw_error *err);
void nw_functions_free(struct nw_functions *functions);
/* Does the word name functions ("func:...")? */
bool nw_names_functions(const char *word);
/* Is the word a spec of user_events? */
bool nw_names_user_event(const char *word);
/* Opens the file that a spec names by its path, or as PATH finds it. */
int nw_image_of_spec(const struct nw_spec *spec, bool force, struct nw_image **image,
		     struct nw_error *err);
/* Finds the functions that a spec names. *image receives its file, which the caller frees. */
int nw_functions_of_spec(const struct nw_spec *spec, bool force, struct nw_image **image,
			 struct nw_functions *out, struct nw_error *err);

/* ---- what is known of a function ----------------------------------------------------------- */

enum nw_symbol_state {
	NW_SYMBOL_FOUND,
	NW_SYMBOL_IMPORTED, /* named, but undefined: it is in another file */
	NW_SYMBOL_MISSING,
	NW_SYMBOL_AMBIGUOUS, /* several different functions */
	NW_SYMBOL_DATA,	     /* a variable */
};

/* Strings are owned; NULL: there is none, or it was not found. */
struct nw_symbol_facts {
	enum nw_symbol_state state;
	bool stripped; /* the file has no .symtab; its debug file may have one */
	bool ifunc;    /* its address is that of a resolver, which runs once */
	bool is_note;  /* it is the name of a USDT probe */
	bool has_notes;
	bool barred; /* code in which kernels place no uprobes: Thumb */
	uint64_t vaddr, size;
	int inlined;	/* number of inlined copies in DWARF; -1: unknown */
	char *mangled;	/* a C++ or Rust symbol for that name */
	char *rehashed; /* a Rust symbol that differs only by its hash: of another build */
	char *near;	/* names that are spelt similarly: "a, b" */
	char *clones;	/* copies that the compiler made: "f.constprop.0, f.part.0" */
	char *aliases;	/* other functions at the same address: "a, b" */
	char *defined_in; /* a loaded file that defines it, if this one does not */
	/* ifunc: the function that the process runs, by name or 0xOFFSET */
	char *implementation;
	char *implementation_file;
};

/* Looks for a function in an image, and for reasons of its absence. pid: a process that has loaded the file, whose
 * libraries are searched; 0: those that the file needs. */
int nw_symbol_inspect(struct nw_image *image, const char *name, pid_t pid,
		      struct nw_symbol_facts *out, struct nw_error *err);
void nw_symbol_facts_free(struct nw_symbol_facts *facts);

/*
 * Finds the file that the process's calls of a function reach instead of this one, because it comes first in the
 * dynamic linker's search order. *by: its path, owned by the caller; NULL: none, or the image does not export the
 * name. Returns -ENOMEM on failure.
 */
int nw_symbol_interposed(const struct nw_image *image, const char *name,
			 const struct nw_process_facts *process, char **by);

/*
 * Kernel stacks of threads that go to sleep. There is no such event that could be enabled or that a spec could name:
 * a trigger of sched_switch writes them behind its records (Documentation/trace/events.rst, stacktrace).
 */
#define NW_STACK_SYSTEM "ftrace"
#define NW_STACK_EVENT	"kernel_stack"
int nw_select_stacks(struct nw_selection *selection, struct nw_error *err);

#endif
