// SPDX-License-Identifier: MIT
/* Probes that are armed and silent because their program fires them only when it is told to. */
#include <string.h>

#include "judge.h"

/*
 * The known switches. `told` holds words, each ended by a NUL, one of which is in the arguments or the environment of
 * a process that was told; an empty list: it cannot be seen from outside.
 */
static const struct {
	const char *provider, *name; /* globs */
	const char *told;
	const char *text, *remedy;
} switches[] = {
	/* java -XX:+ExtendedDTraceProbes -XX:+PrintFlagsFinal -version (17): it turns on the other
	 * three */
	{"hotspot", "method__*", "+ExtendedDTraceProbes\0+DTraceMethodProbes\0",
	 "the JVM fires its method probes only with -XX:+DTraceMethodProbes or -XX:+ExtendedDTraceProbes",
	 "# start java with -XX:+ExtendedDTraceProbes"},
	{"hotspot", "object__alloc", "+ExtendedDTraceProbes\0+DTraceAllocProbes\0",
	 "the JVM fires object__alloc only with -XX:+DTraceAllocProbes or -XX:+ExtendedDTraceProbes",
	 "# start java with -XX:+ExtendedDTraceProbes"},
	{"hotspot", "monitor__*", "+ExtendedDTraceProbes\0+DTraceMonitorProbes\0",
	 "the JVM fires its monitor probes only with -XX:+DTraceMonitorProbes or -XX:+ExtendedDTraceProbes",
	 "# start java with -XX:+ExtendedDTraceProbes"},
	/* PHP's manual, "Using PHP and DTrace" */
	{"php", "*", "USE_ZEND_DTRACE=1\0",
	 "PHP fires its probes only with USE_ZEND_DTRACE=1 in its environment",
	 "# start PHP with USE_ZEND_DTRACE=1"},
	/* python/cpython issue 98894: later versions have no such notes, until pull request 142397 brings back
	 * function__*, but not line */
	{"python", "function__*", "\0",
	 "the interpreter of CPython 3.11 calls Python functions without passing its function__entry and function__return probes (python/cpython issue 98894)",
	 "# gc__start, import__find__load__start and audit fire on all versions"},
	{"python", "line", "\0",
	 "CPython has not fired its line probe since 3.11 (python/cpython issue 98894)",
	 "# gc__start, import__find__load__start and audit fire on all versions"},
	/* Ruby's vm_insnhelper.c: vm_trace() fires them, and runs only while a hook of that kind is on; those of C
	 * methods are in vm_call_cfunc(), which always runs */
	{"ruby", "method__*", "\0",
	 "Ruby passes its method probes only while it traces calls itself, as a TracePoint makes it do; cmethod__entry and cmethod__return, of methods written in C, fire always",
	 "# run TracePoint.new(:call, :return) { }.enable in the program, or try ruby:cmethod__*"},
};

static bool was_told(const char *told, const char *words)
{
	for (; *told; told += strlen(told) + 1)
		if (strstr(words, told))
			return true;
	return false;
}

bool nw_blame_switch(struct judge *judge)
{
	const struct nw_facts *facts = judge->facts;
	const struct nw_probe *probe = facts->selection && facts->selection->probes.count
					       ? facts->selection->probes.item[0]
					       : NULL;
	const char *words = facts->process ? facts->process->words : NULL;
	bool named = probe && probe->provider && probe->name && nw_is_usdt(facts);

	for (size_t i = 0; named && i < NW_COUNT(switches); i++) {
		if (!nw_glob_match(switches[i].provider, probe->provider) ||
		    !nw_glob_match(switches[i].name, probe->name) ||
		    (words && was_told(switches[i].told, words)))
			continue;
		nw_blame(judge, NW_CAUSE_SWITCHED_OFF,
			 "everything is in place, but the code was not executed: %s",
			 switches[i].text);
		nw_remedy(judge, "%s", switches[i].remedy);
		return true;
	}
	return false;
}
