// SPDX-License-Identifier: MIT
/* The names of events. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "plan_private.h"

const char nw_session_prefix[] = "nopwatch_";

void nw_session_group(const char *session, char out[NW_MAX_NAME + 1])
{
	snprintf(out, NW_MAX_NAME + 1, "%s%.23s", nw_session_prefix, session);
}

const char *nw_group_session(const char *group)
{
	size_t len = sizeof(nw_session_prefix) - 1;

	return strncmp(group, nw_session_prefix, len) == 0 ? group + len : NULL;
}

/* Does another event of the plan have the same name? */
static bool is_taken(const struct nw_plan *plan, const struct nw_event *event)
{
	nw_vec_each (&plan->events, other)
		if (*other != event && strcmp((*other)->name, event->name) == 0 &&
		    strcmp((*other)->group, event->group) == 0)
			return true;
	return false;
}

static const struct nw_probe *probe_of(const struct nw_plan *plan,
				       const struct nw_event *event)
{
	return plan->selection->probes
		.item[plan->points.item[event->places.item[0].planned].probe];
}

void nw_event_name(const struct nw_event *event, unsigned int number,
		   char out[NW_MAX_NAME + 1])
{
	if (number)
		snprintf(out, NW_MAX_NAME + 1, "%s_%u", event->base, number % 1000000);
	else
		snprintf(out, NW_MAX_NAME + 1, "%s", event->base);
}

static void group_of(const struct nw_probe *probe, const char *wanted,
		     char out[NW_MAX_NAME + 1])
{
	char provider[NW_MAX_NAME - 4];

	if (wanted) {
		snprintf(out, NW_MAX_NAME + 1, "%s", wanted);
	} else if (probe->kind == NW_SPEC_USDT) {
		nw_identifier(probe->provider, sizeof(provider) - 1, provider);
		snprintf(out, NW_MAX_NAME + 1, "sdt_%s", provider);
	} else {
		/* perf's name: "probe_libc" for /usr/lib/libc.so.6 (its probe-event.c cuts at the first of -._) */
		const char *slash = strrchr(probe->image->path, '/');
		char name[NW_MAX_NAME - 8];
		nw_identifier(slash ? slash + 1 : probe->image->path, sizeof(name) - 1,
			      name);
		name[strcspn(name, "_")] = '\0';
		snprintf(out, NW_MAX_NAME + 1, "probe_%s", *name ? name : "file");
	}
}

/* Names an event as perf and trace-cmd do, so that they find it: sdt_PROVIDER/NAME, NAME_1, ...; probe_FILE/FUNCTION
 * and FUNCTION__return. A companion event's name says that it is one. */
static void name_to_stay(const struct nw_plan *plan, const char *group,
			 struct nw_event *event)
{
	const struct nw_probe *probe = probe_of(plan, event);
	unsigned int part = event->places.item[0].part;
	const struct nw_point *point = nw_plan_point(plan, &event->places.item[0]);
	bool is_return = event->is_return || point->is_exit;
	char tail[24] = "";

	group_of(probe, group, event->group);
	if (part)
		snprintf(tail, sizeof(tail), "%s__part%u", is_return ? "__return" : "",
			 (part + 1) % 1000);
	else if (is_return)
		snprintf(tail, sizeof(tail), "__return");
	nw_identifier(probe->name, sizeof(event->base) - 1 - strlen(tail), event->base);
	strcat(event->base, tail);
	for (unsigned int i = 0; i == 0 || is_taken(plan, event); i++)
		nw_event_name(event, i, event->name);
}

void nw_plan_name(const struct nw_plan *plan, const struct nw_plan_options *options,
		  struct nw_event *event, size_t number)
{
	if (*event->system) /* the kernel's own event has its name already */
		return;
	switch (options->naming) {
	case NW_NAMES_PRIVATE:
		snprintf(event->name, sizeof(event->name), "e%.20s_%zu", options->session,
			 number);
		break;
	case NW_NAMES_PROBES:
		/* Named after its first probe; if that name is taken, a number is appended. */
		nw_identifier(probe_of(plan, event)->name, sizeof(event->base) - 1,
			      event->base);
		for (unsigned int i = 0; i == 0 || is_taken(plan, event); i++)
			nw_event_name(event, i, event->name);
		break;
	case NW_NAMES_STAY:
		name_to_stay(plan, options->group, event);
		break;
	}
}
