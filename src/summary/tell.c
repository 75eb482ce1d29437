// SPDX-License-Identifier: MIT
/* Whoever listens is told what becomes of each span. */
#include <string.h>

#include "state.h"

static void tell(const struct nw_summary *s, const struct nw_span_event *event)
{
	if (s->options.listener)
		s->options.listener(s->options.listener_arg, event);
}

void nw_tell_hit(const struct nw_summary *s, enum nw_span_moment moment, uint32_t span,
		 uint64_t key, const struct nw_start *start, const struct nw_hit *hit,
		 int64_t group)
{
	bool nothing = moment == NW_SPAN_ENDS_NOTHING;

	tell(s, &(struct nw_span_event){
			.moment = moment,
			.span = span,
			.key = key,
			.start = start	   ? start->time
				 : nothing ? 0
					   : hit->time,
			.group = start && start->group >= 0 ? start->group : group,
			.cpu = start	 ? start->cpu
			       : nothing ? 0
					 : hit->cpu,
			.hit = hit,
			.why = nothing ? "unmatched" : NULL,
		});
}

void nw_tell_gone(const struct nw_summary *s, uint32_t span, uint64_t key,
		  const struct nw_start *start, const char *why)
{
	bool open = s->finished && strcmp(why, "unmatched") == 0;

	if (start->group != NW_HIDDEN)
		tell(s, &(struct nw_span_event){
				.moment = open ? NW_SPAN_STILL_OPEN : NW_SPAN_NEVER_ENDS,
				.span = span,
				.key = key,
				.start = start->time,
				.group = start->group,
				.cpu = start->cpu,
				.why = why,
			});
}
