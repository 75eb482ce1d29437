/* SPDX-License-Identifier: MIT */
/*
 * find/process: the kernel's functions by address, for the places where threads sleep. They come from /proc/kallsyms
 * ("ffffffff81000000 T _stext", for users who may see addresses), or from a recording that has kept some.
 */
#ifndef NOPWATCH_FIND_PROCESS_KERNEL_SYMBOLS_H
#define NOPWATCH_FIND_PROCESS_KERNEL_SYMBOLS_H

#include "base/base.h"

struct nw_kernel_symbols;

/* A line of /proc/kallsyms. */
struct nw_kernel_symbol {
	uint64_t address; /* 0: it is hidden */
	char type;	  /* as nm tells it */
	const char *name;
	const char *module; /* NULL: the kernel itself */
};
typedef int nw_kernel_symbol_fn(void *arg, const struct nw_kernel_symbol *symbol);
/* Calls each() for every symbol in the file, until it returns an error. Returns that error, or that of reading. */
int nw_kernel_symbols_each(const char *path, nw_kernel_symbol_fn *each, void *arg);
/* Is it a function, and not a compiler's padding in front of one? */
bool nw_kernel_symbol_is_code(const struct nw_kernel_symbol *symbol);

/* A function of the kernel, as far as the kernel tells. */
struct nw_kernel_function {
	size_t count;  /* functions of that name */
	bool variable; /* the name is that of a variable */
	char *copies;  /* copies that the compiler made, "f.isra.0, f.part.0"; NULL: none */
	/* The kernel can trace it; its blacklist of kprobes has it. -1: not known */
	int traceable, forbidden;
	bool off; /* all kprobes are switched off */
};
/* kallsyms: the path of the list. traceable: the text of available_filter_functions; NULL: not known. Returns 0 or -errno. */
int nw_kernel_function_inspect(const char *name, const char *kallsyms,
			       const char *traceable, struct nw_kernel_function *out);
void nw_kernel_function_free(struct nw_kernel_function *function);

/* ENOENT, EPERM: the kernel does not tell, or hides where they are (kernel.kptr_restrict). */
int nw_kernel_symbols_load(const char *path, struct nw_kernel_symbols **out,
			   struct nw_error *err);
/* None yet: they are added. -ENOMEM. */
int nw_kernel_symbols_new(struct nw_kernel_symbols **out);
int nw_kernel_symbols_add(struct nw_kernel_symbols *symbols, uint64_t address,
			  const char *name);
void nw_kernel_symbols_free(struct nw_kernel_symbols *symbols);

/*
 * The wait channel of a stack, innermost frame first, that begins in the scheduler, with whatever traced it
 * there in front: as /proc/PID/wchan has it, the first function behind the scheduler's own, which
 * are those between __sched_text_start and __sched_text_end (kernel/sched/core.c, get_wchan(),
 * in_sched_functions()). NULL: it cannot be told.
 */
const char *nw_kernel_wait_channel(struct nw_kernel_symbols *symbols,
				   const uint64_t *callers, size_t count, uint64_t *start);
/* The two names that this takes. */
extern const char *const nw_kernel_sched_text[2];
void nw_kernel_sched_bounds(const struct nw_kernel_symbols *symbols, uint64_t out[2]);

#endif
