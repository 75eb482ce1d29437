// SPDX-License-Identifier: MIT
/* See triggers.h. */
#include "triggers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int nw_triggers_add(struct nw_triggers *triggers, const struct nw_hist_trigger *trigger)
{
	struct nw_hist_trigger *slot = nw_vec_add(&triggers->list);

	if (!slot)
		return -ENOMEM;
	*slot = *trigger;
	slot->event = strdup(trigger->event);
	slot->text = strdup(trigger->text);
	slot->filter = strdup(trigger->filter);
	return slot->event && slot->text && slot->filter ? 0 : -ENOMEM;
}

void nw_triggers_free(struct nw_triggers *triggers)
{
	nw_strings_free(&triggers->synthetic);
	nw_vec_each (&triggers->list, trigger) {
		free(trigger->event);
		free(trigger->text);
		free(trigger->filter);
	}
	nw_vec_free(&triggers->list);
}
