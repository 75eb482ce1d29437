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

int nw_find_generated(const char *name, const pid_t *pids, size_t count,
		      struct nw_generated *out)
{
	int ret = -ENOENT;

	*out = (struct nw_generated){0};
	for (size_t i = 0; ret == -ENOENT && i < count; i++) {
		ret = nw_generated_find(pids[i], name, &out->name);
		out->pid = ret == 0 ? pids[i] : 0;
	}
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
