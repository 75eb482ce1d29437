/* SPDX-License-Identifier: MIT */
/* The files that processes map, and what their addresses are called. */
#ifndef NOPWATCH_MEASURE_STACK_MODULES_H
#define NOPWATCH_MEASURE_STACK_MODULES_H

#include "nopwatch/dwarf.h"
#include "nopwatch/stack.h"
#include "watch.h"

enum nw_module_kind {
	NW_MODULE_FILE,
	NW_MODULE_VDSO,
	NW_MODULE_RETURN,   /* where the kernel's return probes are */
	NW_MODULE_NAMELESS, /* memory of no file: made by the process itself */
};

/* A name in a list of those that a process has made itself. */
struct nw_jit_name {
	uint64_t start, size;
	uint32_t order; /* its line: what was written later holds */
	char *name;
};
typedef NW_VEC(struct nw_jit_name) nw_jit_names;

struct nw_module {
	enum nw_module_kind kind;
	char *path; /* as the process knows it */
	uint64_t dev, ino;
	char *identity; /* of the file when it was recorded (nw_image_identity()); NULL: not known */
	/* how it was found when it was first hit */
	pid_t pid;
	uint64_t start, end;
	bool opened,
		read;  /* it was asked for; it is an ELF file, and facts are its facts */
	bool unread;   /* it may be an ELF file, but could not be read: that was noted */
	bool no_lines; /* its DWARF could not be read: it is not asked about lines again */
	struct nw_file_facts facts;
};

/* Memory of a process that is a module's. Sorted, and they do not overlap. */
struct nw_region {
	uint64_t start, end, offset;
	uint32_t module;
};

/* One that was there up to a time, and then was another's. */
struct nw_past_region {
	struct nw_region region;
	uint64_t until;
};
typedef NW_VEC(struct nw_past_region) nw_past_regions;

/* What was at the address: the first of the regions that was there until later than `now`; NULL: none, or no memory. *tree
 * is made for it, and again when there are more. */
struct nw_past_tree;
const struct nw_region *nw_past_find(const nw_past_regions *past,
				     struct nw_past_tree **tree, uint64_t address,
				     uint64_t now);
void nw_past_tree_free(struct nw_past_tree *tree);

struct nw_traced { /* a process */
	pid_t pid;
	struct nw_traced *older, *newer; /* that was seen just before it, and behind it */
	NW_VEC(struct nw_region) regions;
	nw_past_regions past;		/* by time; since it was hit */
	struct nw_past_tree *past_tree; /* NULL: nobody has asked */
	uint64_t now;			/* of the hit or change that it is about */
	uint64_t looked; /* when its maps were read last, CLOCK_MONOTONIC; 0: not yet */
	pid_t parent;	 /* that it was forked from, and is still like; 0: not known */
	bool hit;	 /* it has stacks */
	bool stale;	 /* it may be another program now */
	uid_t owner;	 /* whom it ran as when that was looked up; else root */
	nw_jit_names jit;
	/* Of the list when it was read: its size and inode, where its last whole line ends, and a hash of what is in front of
	 * that, by which one that was written anew is told from one that has grown. */
	uint64_t jit_size, jit_inode, jit_end, jit_tail;
};

/* A number that stays the same for what is mapped; -ENOMEM. */
int64_t nw_module_of(struct nw_stacks *stacks, const struct nw_mapping *mapping);
void nw_module_free(struct nw_module *module);
/* Ask the reader for what a region's module is, once. */
void nw_module_open(struct nw_stacks *stacks, const struct nw_traced *traced,
		    const struct nw_region *region);
/* What is at a linked address of a module that was read. false: it could not be read after all. */
bool nw_module_place(struct nw_stacks *stacks, uint32_t module, uint64_t vaddr, bool names,
		     struct nw_place_facts *out);
/* The rule by which callers are found there; NULL: there is none. Good until the next. */
const struct nw_rule *nw_module_rule(struct nw_stacks *stacks, uint32_t module,
				     uint64_t vaddr);

/* The address as linked, in an executable segment; false: it is in none. */
bool nw_module_linked(const struct nw_module *module, const struct nw_region *region,
		      uint64_t address, uint64_t *vaddr);

/* Processes, in the order in which they were seen, and by number. */
struct nw_traced_set {
	struct nw_traced *oldest, *newest;
	size_t count;
	size_t regions; /* of all of them, those of the past as well */
	void *by_pid;	/* a tree of tsearch(3) */
};

/* The process, made if it is new (the oldest goes where there are too many); NULL: no memory. */
struct nw_traced *nw_traced_of(struct nw_stacks *stacks, pid_t pid);
/* NULL: it is not known. */
struct nw_traced *nw_traced_find(const struct nw_stacks *stacks, pid_t pid);
/* From now on (traced->now) it is there. -ENOMEM. Hostile processes map without end: what is too much is left out, and said
 * once (nw_stacks_unread()). */
enum {
	/* files; where programs are built and tested each of them is one */
	NW_MOST_MODULES = 65536,
	NW_MOST_MODULE_BYTES = 64 << 20, /* what is kept of them: paths and segments */
	NW_MOST_REGIONS = 65536,	 /* of a process */
	NW_MOST_ALL_REGIONS = 1 << 20,	 /* of all processes: 40 MiB at most */
};
int nw_traced_put(struct nw_stacks *stacks, struct nw_traced *traced,
		  const struct nw_region *region);
int nw_traced_add_past(struct nw_stacks *stacks, struct nw_traced *traced,
		       const struct nw_region *region, uint64_t until);
/* Where the address is; NULL: nowhere that is known. Looks at the process again, now and then, if it is not. */
const struct nw_region *nw_traced_region(struct nw_stacks *stacks, struct nw_traced *traced,
					 uint64_t address);
/* What the kernel tells of mappings, programs and processes. -ENOMEM. */
struct nw_map_change;
int nw_traced_change(struct nw_stacks *stacks, const struct nw_map_change *change);
void nw_traced_free_all(struct nw_stacks *stacks);
/* Take in what processes have mapped up to this time. -ENOMEM. */
int nw_traced_advance(struct nw_stacks *stacks, uint64_t until);

/* Names of code that a process has made itself, from its /tmp/perf-PID.map. NULL: it tells none. proc: where the process is
 * looked at; NULL: it is one of a recording. */
const struct nw_jit_name *nw_jit_find(struct nw_traced *traced, uint64_t address,
				      const char *proc);

/* ---- rules -------------------------------------------------------------------------- */

/* Rules of places that were met, each different one once. Zeroed it is empty. (rules.c) */
struct nw_kept_rule {
	struct nw_rule *rule; /* NULL: its bytes are none */
	void *bytes;
	size_t len;
};
struct nw_rule_cache {
	NW_VEC(struct nw_kept_rule) rules;
	size_t bytes;
	uint32_t *numbers;	    /* of rules, by their bytes */
	struct nw_rule_slot *slots; /* by module and address */
};
/* false: it is not known. *out: NULL: there is none. */
bool nw_rules_find(const struct nw_rule_cache *cache, uint32_t module, uint64_t vaddr,
		   const struct nw_rule **out);
void nw_rules_add(struct nw_rule_cache *cache, uint32_t module, uint64_t vaddr,
		  const void *bytes, size_t len);
void nw_rules_free(struct nw_rule_cache *cache);

/* ---- all of it ---------------------------------------------------------------------- */

struct nw_known_stack {
	uint32_t *frames;
	uint32_t count;
	enum nw_stack_end end;
	uint64_t hash;
};

struct nw_known_frame {
	char *text, *function;
};

struct nw_known_place { /* where an address leads: one frame, and more where functions are inlined */
	uint64_t address; /* linked: in the file; else in the process */
	bool linked;
	bool call;	 /* it is where a call returns to */
	uint32_t module; /* UINT32_MAX: it is in none */
	uint32_t
		made; /* the order of its name in the list of what a process has made; 0: it is in none */
	pid_t pid; /* unless it is linked */
	uint32_t first, count;
};

/* Where a function that was entered returned to, before a return probe was put there. */
enum {
	NW_STACK_RETURNS = 1 << 14
};
struct nw_return {
	pid_t thread;
	uint64_t slot, target;
};

struct nw_stacks {
	char *proc; /* where processes are looked at; NULL: they are those of a recording */
	struct nw_reader *reader;
	struct nw_rule_cache rules;
	NW_VEC(struct nw_unread) unread;
	int failed; /* -errno: a stack is wrong, since memory or descriptors ran out; 0 */
	struct nw_map_watch *watch; /* NULL: processes are only looked at */
	struct nw_stack_losses losses;
	uint64_t lost_since, lost_until; /* when they were, the last time */
	bool losing;			 /* and no hit behind that has come yet */
	NW_VEC(struct nw_module *) modules;
	uint64_t module_bytes;	     /* that they take */
	NW_VEC(uint64_t) unanswered; /* devices whose file systems have not answered */
	struct nw_index module_keys; /* their numbers, by what they are */
	struct nw_traced_set traced;
	NW_VEC(struct nw_known_frame) frames;
	NW_VEC(struct nw_known_stack) stacks;
	uint32_t *slot; /* of stacks, by hash: number, 0: free */
	size_t slots;
	struct nw_known_place *place;
	size_t places, place_count;
	struct nw_return
		*returns; /* by thread and slot; a newer one takes an older one's place */
};

/* The frames of an address: *first and how many. call: it is where a call returns to. -ENOMEM. */
int nw_stacks_name(struct nw_stacks *stacks, struct nw_traced *traced,
		   const struct nw_region *region, uint64_t address, bool call,
		   uint32_t *first, uint32_t *count);

/* Walk from the registers and the words to the first function. -ENOMEM. */
typedef NW_VEC(uint32_t) nw_walked;
int nw_stacks_walk(struct nw_stacks *stacks, const struct nw_stack_copy *copy,
		   nw_walked *out, enum nw_stack_end *end);

#endif
