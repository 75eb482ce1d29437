// SPDX-License-Identifier: MIT
/*
 * Strings of system calls. The kernel's events (syscalls:sys_enter_openat) have addresses only, so another event takes the
 * place of such a one: an event probe behind it, or a kprobe in the function of the call, whose arguments are where its
 * registers are. Both read the program's memory when the call begins. A page that is not in memory then cannot be read,
 * except behind an event that copies the string itself, and has waited for the page (Linux 7.0).
 */
#include <errno.h>
#include <string.h>

#include "find/process/kernel_symbols.h"

#include "run.h"

enum {
	CALL_ARGUMENTS = 6
};

static const char entry[] = "sys_enter_";

/* ---- by an event probe -------------------------------------------------------------- */

static bool all_copied(const struct nw_probe *probe)
{
	for (size_t i = 0; i < probe->args.count && i < probe->call_args.count; i++)
		if (probe->args.item[i].type.base == NW_TYPE_STRING &&
		    !probe->call_args.item[i].copied)
			return false;
	return true;
}

static int follow_event(struct nw_probe *probe)
{
	int ret = 0;

	nw_vec_each (&probe->args, arg)
		if (ret == 0)
			ret = nw_strings_addf(&probe->places, "$%s", arg->name);
	probe->attached = nw_text("%s.%s", probe->provider, probe->name);
	return probe->attached ? ret : -ENOMEM;
}

/* ---- in the call's function --------------------------------------------------------- */

struct looking {
	const struct nw_arch *arch;
	const char *call; /* "openat" */
	bool wrapped, plain;
};

static int look(void *arg, const struct nw_kernel_symbol *symbol)
{
	struct looking *l = arg;
	const char *name = symbol->name;
	const size_t prefix = strlen(l->arch->syscall_prefix);
	const bool wrapper = strncmp(name, l->arch->syscall_prefix, prefix) == 0;

	name += wrapper ? prefix : 0;
	if (strncmp(name, "sys_", 4) != 0 || strcmp(name + 4, l->call) != 0)
		return 0;
	l->wrapped |= wrapper;
	l->plain |= !wrapper;
	return 0;
}

/* Returns the place of an argument in a list of places, each of which has a blank behind it. *len: its length. */
static const char *place_of(const char *places, uint32_t number, size_t *len)
{
	while (number-- && *places)
		places += strcspn(places, " ") + 1;
	*len = strcspn(places, " ");
	return *len ? places : NULL;
}

/* Returns 1; 0: the kernel has no function that is known; -errno. */
static int enter_function(const struct nw_arch *arch, struct nw_probe *probe)
{
	struct looking l = {.arch = arch, .call = probe->name};
	int ret = 0;

	if (strncmp(probe->name, entry, sizeof(entry) - 1) == 0)
		l.call += sizeof(entry) - 1;
	ret = nw_kernel_symbols_each("/proc/kallsyms", look, &l);
	if (ret < 0 || (!l.wrapped && !l.plain))
		return ret;
	probe->attached = nw_text("%ssys_%s", l.wrapped ? l.arch->syscall_prefix : "",
				  l.call);
	nw_vec_each (&probe->call_args, arg) {
		size_t len;
		const char *place = arg->number < CALL_ARGUMENTS
					    ? place_of(l.wrapped ? l.arch->syscall_regs
								 : l.arch->syscall_args,
						       arg->number, &len)
					    : NULL;
		if (!place)
			return 0;
		ret = nw_strings_add(&probe->places, place, len);
		if (ret < 0)
			return ret;
	}
	return probe->attached ? 1 : -ENOMEM;
}

/* ---- the choice --------------------------------------------------------------------- */

static int refuse(const struct nw_probe *probe, struct nw_error *err)
{
	nw_fail(err, ENOTSUP,
		"%s: the strings of system calls cannot be fetched here: event probes do not read them, and there are no kprobe_events, or the call's function in this kernel is not known",
		probe->label);
	nw_error_hint(
		err,
		"without :string the addresses can be had. uprobe:libc.so.6:openat64 and the like have the strings of calls through the C library; they miss what the library itself and the dynamic linker open (fopen(), shared libraries), and static programs: `strace -f` shows all of one program");
	return -ENOTSUP;
}

/* may_try: the kernel may be changed for a trial of event probes. */
static int attach(struct nw_run *run, struct nw_probe *probe, bool may_try,
		  struct nw_error *err)
{
	struct nw_features *features = &run->live.features;
	const struct nw_arch *arch = nw_arch_native();
	const bool functions = features->has[NW_FEATURE_KPROBE_EVENTS] && arch &&
			       arch->syscall_prefix;
	const bool wanted = all_copied(probe) || !functions;
	int ret = wanted && may_try ? nw_event_probes_try(&run->live.fs, features, err) : 0;

	if (ret < 0)
		return ret;
	if (wanted && features->has[NW_FEATURE_EVENT_PROBES]) {
		ret = follow_event(probe);
		return ret < 0 ? nw_no_memory(err) : 0;
	}
	ret = functions ? enter_function(arch, probe) : 0;
	if (ret > 0)
		return 0;
	if (ret == -ENOMEM)
		return nw_no_memory(err);
	return ret < 0 ? nw_fail(err, -ret, "cannot read /proc/kallsyms: %s",
				 nw_strerror(-ret))
		       : refuse(probe, err);
}

int nw_run_attach_calls(struct nw_run *run, bool may_try, struct nw_error *err)
{
	nw_vec_each (&run->result->selection.probes, probe) {
		if (!(*probe)->call_args.count || (*probe)->attached)
			continue;
		int ret = attach(run, *probe, may_try, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}
