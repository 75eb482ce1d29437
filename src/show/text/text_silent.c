// SPDX-License-Identifier: MIT
/* Says why probes have no hits, or no more hits. */
#include <string.h>

#include "text.h"

enum {
	FOLD = 5,	 /* so many probes have a line each */
	MOST_NAMED = 3,	 /* so many are named where several have one line */
	MOST_LINES = 10, /* so many reasons are told then */
};

static bool has_reason(const struct nw_selection *selection,
		       const struct nw_probe_state *states, size_t i)
{
	return states[i].text && !selection->probes.item[i]->hidden;
}

/* Writes a line for a probe; with `all` for all probes from this one on that have the same reason. */
static void add_line(const struct nw_selection *selection,
		     const struct nw_probe_state *states, size_t first, bool all,
		     struct nw_buf *out)
{
	const size_t end = all ? selection->probes.count : first + 1;
	const char *text = states[first].text;
	size_t named = 0, more = 0;

	for (size_t i = first; i < end; i++) {
		const char *label = selection->probes.item[i]->label;
		if (!has_reason(selection, states, i) || strcmp(states[i].text, text) != 0)
			continue;
		if (named == MOST_NAMED) {
			more++;
			continue;
		}
		nw_buf_adds(out, named++ ? ", " : "");
		nw_buf_add_escaped(out, label, strlen(label));
	}
	if (more)
		nw_buf_printf(out, " and %zu more", more);
	nw_buf_adds(out, ": ");
	nw_buf_add_sentence(out, text, strlen(text));
	nw_buf_addc(out, '\n');
}

void nw_text_silent_lines(const struct nw_selection *selection,
			  const struct nw_probe_state *states, bool all, struct nw_buf *out)
{
	size_t silent = 0, said = 0, unsaid = 0;

	for (size_t i = 0; states && i < selection->probes.count; i++)
		silent += has_reason(selection, states, i);
	const bool fold = silent > FOLD && !all;
	for (size_t i = 0; silent && i < selection->probes.count; i++) {
		bool again = !has_reason(selection, states, i);
		for (size_t j = 0; fold && j < i && !again; j++)
			again = has_reason(selection, states, j) &&
				strcmp(states[j].text, states[i].text) == 0;
		if (again)
			continue;
		if (fold && said++ >= MOST_LINES)
			unsaid++;
		else
			add_line(selection, states, i, fold, out);
	}
	if (unsaid)
		nw_buf_printf(out,
			      nw_plural(unsaid,
					"and %zu more reason; --all-rows shows it\n",
					"and %zu more reasons; --all-rows shows them\n"),
			      unsaid);
}
