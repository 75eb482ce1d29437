// SPDX-License-Identifier: MIT
/* See trigger.h. */
#include <stdio.h>

#include "trigger.h"

#define MOMENT_NS UINT64_C(100000000)

static uint64_t beginning(uint64_t start, uint64_t keep_ns)
{
	return start > keep_ns ? start - keep_ns : 0;
}

void nw_trigger_add(struct nw_trigger *trigger, uint64_t start, uint64_t end,
		    uint64_t keep_ns, const char *text)
{
	const uint64_t from = beginning(start, keep_ns);

	if (!trigger->any)
		*trigger = (struct nw_trigger){.any = true, .from = from, .end = end};
	else
		trigger->more++;
	trigger->from = nw_min64(trigger->from, from);
	trigger->end = nw_max64(trigger->end, end);
	if (!trigger->text[0] || end - start > trigger->longest)
		snprintf(trigger->text, sizeof(trigger->text), "%s", text);
	trigger->longest = nw_max64(trigger->longest, end - start);
}

bool nw_trigger_holds(const struct nw_trigger *reading, uint64_t start, uint64_t end,
		      uint64_t keep_ns)
{
	return end <= reading->end && beginning(start, keep_ns) >= reading->from;
}

bool nw_trigger_is_due(const struct nw_trigger *trigger, uint64_t now)
{
	return trigger->any && now - nw_min64(trigger->end, now) >= MOMENT_NS;
}
