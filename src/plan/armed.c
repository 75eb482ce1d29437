// SPDX-License-Identifier: MIT
/* Which events of a plan the kernel accepted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

static struct nw_armed_event *add_event(struct nw_armed *armed,
					const struct nw_event *planned)
{
	struct nw_armed_event *event = calloc(1, sizeof(*event));
	struct nw_armed_event **slot = event ? nw_vec_add(&armed->events) : NULL;

	if (!slot) {
		free(event);
		return NULL;
	}
	*slot = event;
	event->planned = planned;
	event->only = -1;
	memcpy(event->name, planned->name, sizeof(event->name));
	return event;
}

int nw_armed_grow(struct nw_armed *armed, size_t known)
{
	const struct nw_plan *plan = armed->plan;
	bool ok = true;

	while (ok && armed->points.count < plan->points.count)
		ok = nw_vec_add(&armed->points) != NULL;
	for (size_t i = known; ok && i < plan->events.count; i++) {
		const struct nw_event *planned = plan->events.item[i];
		struct nw_armed_event *event = add_event(armed, planned);
		ok = event != NULL;
		if (ok)
			memcpy(event->by_low_bits, planned->by_low_bits,
			       sizeof(event->by_low_bits));
	}
	return ok ? 0 : -ENOMEM;
}

int nw_armed_make(const struct nw_plan *plan, struct nw_armed *out)
{
	*out = (struct nw_armed){.plan = plan};
	int ret = nw_armed_grow(out, 0);

	if (ret < 0)
		nw_armed_free(out);
	return ret;
}

void nw_armed_free(struct nw_armed *armed)
{
	nw_vec_each (&armed->points, point)
		free(point->why);
	nw_vec_free(&armed->points);
	nw_vec_each (&armed->events, event)
		free(*event);
	nw_vec_free(&armed->events);
	*armed = (struct nw_armed){0};
}

bool nw_armed_holds(const struct nw_armed_event *event, size_t place)
{
	return event->only < 0 || (size_t)event->only == place;
}

void nw_armed_assume(struct nw_armed *armed)
{
	nw_vec_each (&armed->events, event) {
		(*event)->defined = 0;
		nw_vec_each (&(*event)->planned->places, place)
			(*event)->defined += !armed->points.item[place->planned].failed;
	}
}

void nw_armed_refuse(struct nw_armed *armed, const struct nw_event_site *place,
		     const char *why)
{
	struct nw_armed_point *point = &armed->points.item[place->planned];

	point->refused |= 1u << place->part;
	point->failed |= place->part == 0;
	if (!point->why)
		point->why = strdup(why);
}

static uint16_t *low_bits_slot(const struct nw_armed *armed, struct nw_armed_event *event,
			       size_t place)
{
	const struct nw_event_site *at = &event->planned->places.item[place];

	return &event->by_low_bits[nw_plan_point(armed->plan, at)->offset & 0xfff];
}

void nw_armed_forget(struct nw_armed *armed, struct nw_armed_event *event, size_t place)
{
	*low_bits_slot(armed, event, place) = 0;
}

static bool has_name(const struct nw_armed *armed, const struct nw_armed_event *event)
{
	nw_vec_each (&armed->events, other)
		if (*other != event && strcmp((*other)->name, event->name) == 0)
			return true;
	return false;
}

struct nw_armed_event *nw_armed_split(struct nw_armed *armed, struct nw_armed_event *event,
				      size_t place)
{
	struct nw_armed_event *fresh = add_event(armed, event->planned);
	size_t number = armed->events.count;

	if (!fresh)
		return NULL;
	nw_armed_forget(armed, event, place);
	fresh->only = (int)place;
	*low_bits_slot(armed, fresh, place) = (uint16_t)(place + 1);
	do
		snprintf(fresh->name, sizeof(fresh->name), "%.48s_s%zu", event->name,
			 number++ % 1000000);
	while (has_name(armed, fresh));
	return fresh;
}
