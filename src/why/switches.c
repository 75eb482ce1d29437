// SPDX-License-Identifier: MIT
/* Probes that are armed and silent because their program fires them only when it is told to. */
#include <stdlib.h>
#include <string.h>

#include "judge.h"

/*
 * The known switches. `told` holds words, each ended by a NUL, one of which is in the arguments or the environment of
 * a process that was told; an empty list: it cannot be seen from outside.
 */
static const struct switched {
	const char *provider, *name; /* globs */
	const char *told;
	const char *text, *remedy;
	const char *file; /* glob: the file, with symbolic links resolved; NULL: any */
	const char *
		partner; /* the name of a probe that makes these fire while it is armed; or NULL */
} switches[] = {
	/* java -XX:+ExtendedDTraceProbes -XX:+PrintFlagsFinal -version (17): it turns on the other
	 * three */
	{"hotspot", "method__*", "+ExtendedDTraceProbes\0+DTraceMethodProbes\0",
	 "the JVM fires its method probes only with -XX:+DTraceMethodProbes or -XX:+ExtendedDTraceProbes",
	 "# start java with -XX:+ExtendedDTraceProbes", NULL, NULL},
	{"hotspot", "object__alloc", "+ExtendedDTraceProbes\0+DTraceAllocProbes\0",
	 "the JVM fires object__alloc only with -XX:+DTraceAllocProbes or -XX:+ExtendedDTraceProbes",
	 "# start java with -XX:+ExtendedDTraceProbes", NULL, NULL},
	{"hotspot", "monitor__*", "+ExtendedDTraceProbes\0+DTraceMonitorProbes\0",
	 "the JVM fires its monitor probes only with -XX:+DTraceMonitorProbes or -XX:+ExtendedDTraceProbes",
	 "# start java with -XX:+ExtendedDTraceProbes", NULL, NULL},
	/* PHP's manual, "Using PHP and DTrace" */
	{"php", "*", "USE_ZEND_DTRACE=1\0",
	 "PHP fires its probes only with USE_ZEND_DTRACE=1 in its environment",
	 "# start PHP with USE_ZEND_DTRACE=1", NULL, NULL},
	/* Python/ceval.c of 3.11: an armed line probe makes the interpreter pass the code of all three probes
	 * (OR_DTRACE_LINE); otherwise only generator.throw() does (python/cpython issue 98894). Later versions have no such
	 * notes, until pull request 142397 brings back function__*, but not line. */
	{"python", "function__*", "\0",
	 "CPython 3.11 passes function__entry and function__return only while its line probe is armed, too",
	 "# add usdt:FILE:python:line to the same command", "*3.11*", "line"},
	/* Ruby's vm_insnhelper.c: vm_trace() fires them, and runs only while a hook of that kind is on. Those of C
	 * methods (cmethod__*) always fire, but Ruby 3.1.7 crashes now and then while it prepares their arguments
	 * (rb_dtrace_setup()), so they are not recommended. */
	{"ruby", "method__*", "\0",
	 "Ruby passes its method probes only while it traces calls itself, as a TracePoint makes it do",
	 "# run TracePoint.new(:call, :return) { }.enable in the program", NULL, NULL},
};

static bool was_told(const char *told, const char *words)
{
	for (; *told; told += strlen(told) + 1)
		if (strstr(words, told))
			return true;
	return false;
}

static bool is_in_file(const struct nw_probe *probe, const char *wanted)
{
	char *path = wanted && probe->image ? realpath(probe->image->path, NULL) : NULL;
	bool fits = !wanted || (path && nw_glob_match(wanted, path));

	free(path);
	return fits;
}

/* Returns the row of the probe whose program was not told in `words`; NULL: there is none. */
static const struct switched *find_switch(const struct nw_probe *probe, const char *words)
{
	for (size_t i = 0; probe->provider && probe->name && i < NW_COUNT(switches); i++)
		if (nw_glob_match(switches[i].provider, probe->provider) &&
		    nw_glob_match(switches[i].name, probe->name) &&
		    is_in_file(probe, switches[i].file) &&
		    !(words && was_told(switches[i].told, words)))
			return &switches[i];
	return NULL;
}

const char *nw_switch_partner(const struct nw_selection *selection,
			      const struct nw_probe *probe)
{
	const struct switched *row = probe->kind == NW_SPEC_USDT ? find_switch(probe, NULL)
								 : NULL;

	if (!row || !row->partner)
		return NULL;
	nw_vec_each (&selection->probes, other)
		if ((*other)->image == probe->image && (*other)->kind == NW_SPEC_USDT &&
		    (*other)->name && strcmp((*other)->name, row->partner) == 0)
			return NULL;
	return row->text;
}

const char *nw_switch_text(const struct nw_probe *probe, const char *words)
{
	const struct switched *row = probe->kind == NW_SPEC_USDT ? find_switch(probe, words)
								 : NULL;

	return row ? row->text : NULL;
}

bool nw_blame_switch(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_probe *probe = facts->selection && facts->selection->probes.count
					       ? facts->selection->probes.item[0]
					       : NULL;
	const char *words = facts->process ? facts->process->words : NULL;
	const struct switched *row = probe && nw_is_usdt(facts) ? find_switch(probe, words)
								: NULL;

	if (!row)
		return false;
	nw_blame(judge, NW_CAUSE_SWITCHED_OFF,
		 "everything is in place, but the code was not executed: %s", row->text);
	nw_remedy(judge, "%s", row->remedy);
	return true;
}
