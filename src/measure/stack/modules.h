/* SPDX-License-Identifier: MIT */
/* The files that processes map, and the names of their addresses. */
#ifndef NOPWATCH_MEASURE_STACK_MODULES_H
#define NOPWATCH_MEASURE_STACK_MODULES_H

#include "find/dwarf/dwarf.h"
#include "measure/stack/stack.h"
#include "watch.h"

enum nw_module_kind {
	NW_MODULE_FILE,
	NW_MODULE_VDSO,
	NW_MODULE_RETURN,   /* the kernel's return probes ([uprobes]) */
	NW_MODULE_NAMELESS, /* memory without a file: generated code */
};

/* A name in the list of code that a process has generated. */
struct nw_jit_name {
	uint64_t start, size;
	uint32_t order; /* its line: later lines replace earlier ones */
	char *name;
};
typedef NW_VEC(struct nw_jit_name) nw_jit_names;

struct nw_module {
	enum nw_module_kind kind;
	char *path; /* as the process sees it */
	uint64_t dev, ino;
	/* of the file when it was recorded (nw_image_identity()); NULL: unknown */
	char *identity;
	/* The process and the mapping of the first hit in it. */
	pid_t pid;
	uint64_t start, end;
	/* opened: the reader was asked; read: it is an ELF file, and `facts` are valid. */
	bool opened, read;
	bool unread;   /* it may be an ELF file but could not be read, which was noted */
	bool no_lines; /* its DWARF could not be read: lines are not asked for again */
	struct nw_file_facts facts;
};

/* Memory of a process that belongs to a module. Regions are sorted and do not overlap. */
struct nw_region {
	uint64_t start, end, offset;
	uint32_t module;
};

/* A region that was there up to a time, and was then replaced. */
struct nw_past_region {
	struct nw_region region;
	uint64_t until;
};
typedef NW_VEC(struct nw_past_region) nw_past_regions;

/* Returns the region of an address at a time: the first one that was there until later than `now`. NULL: none, or no
 * memory. *tree is made for the search, and made again when there are more regions. */
struct nw_past_tree;
const struct nw_region *nw_past_find(const nw_past_regions *past,
				     struct nw_past_tree **tree, uint64_t address,
				     uint64_t now);
void nw_past_tree_free(struct nw_past_tree *tree);

/* A process with mappings. */
struct nw_maps {
	pid_t pid;
	/* The processes that were first seen before and after it */
	struct nw_maps *older, *newer;
	NW_VEC(struct nw_region) regions;
	nw_past_regions past;		/* by time; from its first hit on */
	struct nw_past_tree *past_tree; /* NULL: not needed yet */
	uint64_t now;			/* time of the current hit or change */
	uint64_t looked; /* time of the last look at its maps, CLOCK_MONOTONIC; 0: never */
	pid_t parent; /* the process it was forked from and still resembles; 0: unknown */
	bool hit;     /* it has stacks */
	bool stale;   /* it may run another program now */
	uid_t owner;  /* its user when last looked up; else root */
	nw_jit_names jit;
	/* The list as of its last reading: size, inode, the end of the last whole line, and a hash of the text in
	 * front of that end, which tells a list that was written anew from one that has grown. */
	uint64_t jit_size, jit_inode, jit_end, jit_tail;
	bool jit_given_up; /* its file system does not answer */
};

/* Returns a number that stays the same for the mapped file; -ENOMEM. */
int64_t nw_module_of(struct nw_stacks *stacks, const struct nw_mapping *mapping);
void nw_module_free(struct nw_module *module);
/* Asks the reader about the module of a region, once. */
void nw_module_open(struct nw_stacks *stacks, const struct nw_maps *maps,
		    const struct nw_region *region);
/* Finds out what is at a linked address of a module. Returns false if the module cannot be read. */
bool nw_module_place(struct nw_stacks *stacks, uint32_t module, uint64_t vaddr, bool names,
		     struct nw_place_facts *out);
/* Returns the rule by which the caller is found at an address; NULL: none. Valid until the next call. */
const struct nw_rule *nw_module_rule(struct nw_stacks *stacks, uint32_t module,
				     uint64_t vaddr);

/* Converts an address to the address as linked. Returns false if it is in no executable segment. */
bool nw_module_linked(const struct nw_module *module, const struct nw_region *region,
		      uint64_t address, uint64_t *vaddr);

/* Processes, by number and in the order in which they were first seen. */
struct nw_maps_set {
	struct nw_maps *oldest, *newest;
	size_t count;
	size_t regions; /* regions of all processes, including past ones */
	void *by_pid;	/* a tree of tsearch(3) */
};

/* Returns the process, made if it is new (the oldest one is dropped if there are too many); NULL: no memory. */
struct nw_maps *nw_maps_of(struct nw_stacks *stacks, pid_t pid);
/* Returns NULL if the process is unknown. */
struct nw_maps *nw_maps_find(const struct nw_stacks *stacks, pid_t pid);
/* Adds a region as of maps->now. Returns -ENOMEM on failure. Hostile processes map without end: regions beyond the
 * limits are left out, which is noted once (nw_stacks_unread()). */
enum {
	/* files; where programs are built and tested, each test program is one */
	NW_MOST_MODULES = 65536,
	NW_MOST_MODULE_BYTES = 64 << 20, /* memory for their paths and segments */
	NW_MOST_REGIONS = 65536,	 /* per process */
	NW_MOST_ALL_REGIONS = 1 << 20,	 /* of all processes: at most 40 MiB */
};
int nw_maps_put(struct nw_stacks *stacks, struct nw_maps *maps,
		const struct nw_region *region);
int nw_maps_add_past(struct nw_stacks *stacks, struct nw_maps *maps,
		     const struct nw_region *region, uint64_t until);
/* Returns the region of an address; NULL: unknown. Looks at the process again, if not too often. */
const struct nw_region *nw_maps_region(struct nw_stacks *stacks, struct nw_maps *maps,
				       uint64_t address);
/* Takes a change of mappings, programs or processes that the kernel reports. Returns -ENOMEM on failure. */
struct nw_map_change;
int nw_maps_change(struct nw_stacks *stacks, const struct nw_map_change *change);
void nw_maps_free_all(struct nw_stacks *stacks);
/* Takes in the changes up to this time. Returns -ENOMEM on failure. */
int nw_maps_advance(struct nw_stacks *stacks, uint64_t until);

/* Finds the name of generated code in the process's /tmp/perf-PID.map; NULL: none. */
const struct nw_jit_name *nw_jit_find(struct nw_stacks *stacks, struct nw_maps *maps,
				      uint64_t address);
/* Returns the entry of that reason among the files that could not be read, made if there is none; NULL without memory. */
struct nw_unread *nw_unread_of(struct nw_stacks *stacks, const char *path, bool named,
			       const char *why);

/* ---- rules -------------------------------------------------------------------------- */

/* A cache of rules by place. Equal rules are kept once. A zeroed one is empty and valid. (rules.c) */
struct nw_kept_rule {
	struct nw_rule *rule; /* NULL: the bytes are no rule */
	void *bytes;
	size_t len;
};
struct nw_rule_cache {
	NW_VEC(struct nw_kept_rule) rules;
	size_t bytes;
	uint32_t *numbers;	    /* of rules, by their bytes */
	struct nw_rule_slot *slots; /* by module and address */
};
/* Returns false if the place is not in the cache. *out NULL: the place has no rule. */
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
};

struct nw_known_frame {
	char *text, *function;
};

/* The frames of an address: more than one if functions are inlined there. */
struct nw_known_place {
	uint64_t address; /* as linked if `linked`; else in the process */
	bool linked;
	bool call;	 /* a call returns to it */
	uint32_t module; /* UINT32_MAX: it is in no module */
	/* Order of its name in the list of generated code; 0: it is not in the list. */
	uint32_t made;
	pid_t pid; /* valid unless `linked` */
	uint32_t first, count;
};

/* The return address of an entered function, noted before a return probe replaces it. */
enum {
	NW_STACK_RETURNS = 1 << 14
};
struct nw_return {
	pid_t thread;
	uint64_t slot, target;
};

struct nw_stacks {
	char *proc; /* the /proc of the processes; NULL: they are from a recording */
	struct nw_reader *reader;
	struct nw_rule_cache rules;
	NW_VEC(struct nw_unread) unread;
	/* -errno: a stack is wrong, because memory or descriptors ran out; else 0 */
	int failed;
	uint64_t needed;	    /* nw_stacks_needed() */
	unsigned int sized;	    /* stacks that were looked at for it */
	struct nw_map_watch *watch; /* NULL: processes are only looked at */
	struct nw_stack_losses losses;
	uint64_t lost_since, lost_until; /* begin and end of the last loss */
	bool losing;			 /* no hit after that loss has come yet */
	NW_VEC(struct nw_module *) modules;
	uint64_t module_bytes;	     /* memory of all modules */
	NW_VEC(uint64_t) unanswered; /* devices whose file systems did not answer */
	bool debug_files_noted;	     /* that debug files are not read any more was noted */
	struct nw_index module_keys; /* numbers of modules by their identity */
	struct nw_maps_set maps;
	NW_VEC(struct nw_known_frame) frames;
	NW_VEC(struct nw_known_stack) stacks;
	struct nw_hash_table stack_table;
	NW_VEC(struct nw_known_place) places;
	struct nw_hash_table place_table;
	/* By thread and slot; a newer entry replaces an older one. */
	struct nw_return *returns;
};

/* Finds the frames of an address: the first one and their number. call: a call returns to the address. Returns
 * -ENOMEM on failure. */
int nw_stacks_name(struct nw_stacks *stacks, struct nw_maps *maps,
		   const struct nw_region *region, uint64_t address, bool call,
		   uint32_t *first, uint32_t *count);

/* Walks from the registers and the copied words up to the first function of the thread. Returns -ENOMEM on failure. */
typedef NW_VEC(uint32_t) nw_walked;
int nw_stacks_walk(struct nw_stacks *stacks, const struct nw_stack_copy *copy,
		   nw_walked *out, enum nw_stack_end *end);

#endif
