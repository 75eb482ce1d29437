// SPDX-License-Identifier: MIT
/* Checks a function of the kernel: whether it is there, whether the kernel lets probes in, whether it is called. */
#include <string.h>

#include "judge.h"

/* Offers a search for functions whose names begin alike: as far as the first '_', or by half of the name. */
static void remedy_alike(struct judge *judge, const char *name)
{
	const size_t under = strspn(name, "_"), len = strlen(name + under);
	const size_t part = strcspn(name + under, "_");

	nw_remedy(judge, "grep ' %.*s' /proc/kallsyms",
		  (int)(under + (part < len ? part : (len + 1) / 2)), name);
}

static void blame_missing(struct judge *judge)
{
	const struct nw_kernel_function *function = judge->facts->function;
	const char *name = judge->facts->spec->name;

	nw_fails(judge, "the kernel has no function '%s'", name);
	if (function->variable) {
		nw_blame(judge, NW_CAUSE_SYMBOL_MISSING,
			 "'%s' is a variable of the kernel, not a function", name);
	} else if (function->copies) {
		nw_cleanup(nw_free_ptr) char *first = strndup(
			function->copies, strcspn(function->copies, ","));
		nw_blame(
			judge, NW_CAUSE_SYMBOL_MISSING,
			"the kernel has no function '%s': the compiler made %s of it, of which other copies may have been inlined",
			name, function->copies);
		if (first)
			nw_remedy(judge, "nopwatch stat kprobe:%s", first);
	} else {
		nw_blame(
			judge, NW_CAUSE_SYMBOL_MISSING,
			"the kernel has no function '%s': it was inlined wherever it is used, its module is not loaded, or this kernel has another name for it",
			name);
	}
	remedy_alike(judge, name);
}

static void check_name(struct judge *judge)
{
	const struct nw_kernel_function *function = judge->facts->function;
	const char *name = judge->facts->spec->name;

	if (!function->count) {
		blame_missing(judge);
	} else if (function->count > 1) {
		nw_fails(judge, "the kernel has %zu functions called '%s'", function->count,
			 name);
		nw_blame(
			judge, NW_CAUSE_SYMBOL_AMBIGUOUS,
			"the kernel has %zu functions called '%s': new kernels refuse a probe by that name, old ones put it into the first",
			function->count, name);
		nw_remedy(judge, "grep -w '%s' /proc/kallsyms", name);
	} else {
		nw_pass(judge, "the kernel has one function '%s'", name);
	}
}

static void check_permission(struct judge *judge)
{
	const struct nw_kernel_function *function = judge->facts->function;
	const char *name = judge->facts->spec->name;

	if (function->forbidden == 1) {
		nw_fails(judge, "it is in the kernel's blacklist of kprobes");
		nw_blame(
			judge, NW_CAUSE_FORBIDDEN,
			"the kernel lets no probe into '%s', since handling the probe would run it again (NOKPROBE_SYMBOL)",
			name);
		nw_remedy(judge, "# probe the functions that call it, or that it calls");
	} else if (function->traceable == 0) {
		nw_unknown(judge, "available_filter_functions does not have it");
		nw_blame(
			judge, NW_CAUSE_NOT_TRACEABLE,
			"'%s' is no function that the kernel can trace (notrace, or assembly): most kernels let no probe into it",
			name);
		nw_remedy(judge, "# probe the functions that call it, or that it calls");
	}
	if (function->off) {
		nw_fails(judge, "all kprobes are switched off");
		nw_blame(judge, NW_CAUSE_KPROBES_OFF,
			 "somebody has switched off all kprobes of the machine");
		nw_remedy(judge, "echo 1 >/sys/kernel/debug/kprobes/enabled");
	}
}

void nw_check_function(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;

	if (!facts->function)
		return;
	check_name(judge);
	if (facts->function->count)
		check_permission(judge);
	if (!facts->kernel->tracefs && !facts->kprobes) {
		nw_fails(judge, "there is no kprobe_events");
		nw_blame(
			judge, NW_CAUSE_NO_KPROBES,
			"the kernel was built without CONFIG_KPROBE_EVENTS, so its functions cannot be probed through tracefs");
		nw_remedy(
			judge,
			"# use the kernel's own events, such as tracepoint:syscalls:sys_*_read, or another kernel");
	}
}

void nw_check_called(struct judge *judge)
{
	const struct nw_watch *watch = judge->facts->watch;
	char hits[32];

	if (!judge->facts->function || !watch)
		return;
	if (*watch->refused) {
		nw_fails(judge, "%s", watch->refused);
		nw_blame(judge, NW_CAUSE_REFUSED, "%s", watch->refused);
	} else if (!watch->done) {
		if (watch->skipped)
			nw_unknown(judge, "not tried: %s", watch->skipped);
	} else if (watch->in_target) {
		nw_thousands(watch->in_target, hits);
		nw_pass(judge, "%s in %.3g s", hits, (double)watch->elapsed_ns / 1e9);
	} else {
		nw_fails(judge, "no hit in %.3g s", (double)watch->elapsed_ns / 1e9);
		nw_blame(
			judge, NW_CAUSE_NOT_EXECUTED,
			"everything is in place; the code was not executed in the last %.3g s",
			(double)watch->elapsed_ns / 1e9);
		nw_remedy_again(judge, "", "-d 1m");
	}
}
