// SPDX-License-Identifier: MIT
/* Functions that a process generates while it runs, and the USDT probes that its runtime has for them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/engine.h"

/*
 * Runtimes call these probes once for each call of a function of the language: HotSpot (JDK, make/hotspot and
 * hotspot.d), CPython (Include/pydtrace.d), Ruby (probes.d), PHP (Zend/zend_dtrace.d).
 */
static const char *const call_probes[] = {"method__entry", "function__entry"};

static bool is_call_probe(const char *name)
{
	for (size_t i = 0; i < NW_COUNT(call_probes); i++)
		if (nw_glob_match(call_probes[i], name))
			return true;
	return false;
}

/* Finds the probe of the process's runtime, as a spec; *out stays NULL if it has none. */
static int find_call_probe(pid_t pid, char **out)
{
	nw_images images = {0};
	int ret = nw_process_images(pid, false, false, &images, NULL);

	nw_vec_each (&images, image)
		nw_vec_each (&(*image)->sites, site) {
			if (*out || !is_call_probe(site->name))
				continue;
			*out = nw_text("usdt:%s:%s:%s", (*image)->path, site->provider,
				       site->name);
			ret = *out ? ret : -ENOMEM;
		}
	nw_images_free(&images);
	return ret == -ENOMEM ? ret
			      : 0; /* what cannot be looked at has no probe to offer */
}

/* Runtimes that generate code: a file that their processes map, and what makes them list it in /tmp/perf-PID.map. */
static const struct {
	const char *file; /* glob */
	const char *runtime, *lists_names;
} runtimes[] = {
	{"*/libjvm.so", "a JVM",
	 "a JVM lists its compiled methods on `jcmd PID Compiler.perfmap` (JDK 17), or at its exit if it was started with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"},
	{"*/libnode.so*", "Node.js", "start it with node --perf-basic-prof"},
	{"*/node", "Node.js", "start it with node --perf-basic-prof"},
	{"*/libcoreclr.so", "a .NET runtime", "start it with DOTNET_PerfMapEnabled=1"},
	{"*/beam.smp", "an Erlang VM", "start it with erl +JPperf map (OTP 25)"},
	{"*/libruby*.so*", "Ruby", "start it with ruby --yjit-perf (3.3)"},
	{"*/php*", "PHP", "start it with opcache.jit_debug=16"},
};

/* Is it code in memory of no file? The kernel's own pages are in brackets, but so is named anonymous memory. Runtimes
 * that map their code twice, writable and executable, use a memfd. */
static bool is_generated(const struct nw_mapping *mapping)
{
	const char *path = mapping->path;

	return mapping->exec &&
	       (!*path || strncmp(path, "[anon", 5) == 0 || strcmp(path, "[heap]") == 0 ||
		strncmp(path, "/memfd:", 7) == 0);
}

/* Finds out of which runtime a process is that has generated code; out->pid stays 0 if of none. */
static void find_runtime(pid_t pid, struct nw_generated *out)
{
	nw_mappings maps = {0};
	uint64_t code = 0;

	if (nw_process_maps(pid, &maps, NULL) < 0)
		return;
	nw_vec_each (&maps, mapping)
		code += is_generated(mapping) ? mapping->end - mapping->start : 0;
	for (size_t i = 0; code && !out->pid && i < NW_COUNT(runtimes); i++)
		nw_vec_each (&maps, mapping)
			if (mapping->exec && !out->pid &&
			    nw_glob_match(runtimes[i].file, mapping->path))
				*out = (struct nw_generated){
					.pid = pid,
					.runtime = runtimes[i].runtime,
					.lists_names = runtimes[i].lists_names,
					.code = code};
	nw_mappings_free(&maps);
}

int nw_find_generated(const char *name, const pid_t *pids, size_t count,
		      struct nw_generated *out)
{
	int ret = -ENOENT;

	*out = (struct nw_generated){0};
	for (size_t i = 0; ret == -ENOENT && i < count; i++) {
		ret = nw_generated_find(pids[i], name, &out->name);
		out->pid = ret == 0 ? pids[i] : 0;
	}
	for (size_t i = 0; ret == -ENOENT && !out->pid && i < count; i++)
		find_runtime(pids[i], out);
	if (out->pid)
		ret = 0;
	if (ret == 0)
		ret = find_call_probe(out->pid, &out->probe);
	return ret == -ENOENT ? 0 : ret;
}

void nw_generated_free(struct nw_generated *generated)
{
	free(generated->name);
	free(generated->probe);
	*generated = (struct nw_generated){0};
}
