// SPDX-License-Identifier: MIT
/*
 * See definitions.h. The kernel hands out a page of uprobe_events at a time, and for each page walks its list from the
 * beginning (seq_list_start() of lib/seq_file.c). Reading it before each of N deletions takes N times N lines.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel/tracefs/event_list.h"

#include "definitions.h"

enum {
	VALID_NS = 1000000000
};

static struct nw_defined_event *find(const struct nw_defined_events *definitions,
				     const char *event)
{
	nw_hash_each (&definitions->table, nw_hash_text(event, strlen(event)), number)
		if (strcmp(definitions->events.item[number].event, event) == 0)
			return &definitions->events.item[number];
	return NULL;
}

static int add(struct nw_defined_events *definitions, char *event,
	       const struct nw_definition_line *line)
{
	struct nw_defined_event *fresh = nw_vec_add(&definitions->events);

	if (!fresh) {
		free(event);
		return -ENOMEM;
	}
	*fresh = (struct nw_defined_event){
		.event = event,
		.count = 1,
		.kind = line->is_return ? 'r' : 'p',
		.path = strndup(line->path, line->path_len),
		.args = nw_text("%s%s", *line->args ? " " : "", line->args),
	};
	return fresh->path && fresh->args
		       ? nw_hash_table_add(&definitions->table,
					   nw_hash_text(event, strlen(event)),
					   definitions->events.count - 1)
		       : -ENOMEM;
}

static int take_line(void *arg, const struct nw_definition_line *line)
{
	char *event = nw_text("%s/%s", line->group, line->name);
	struct nw_defined_event *known = event ? find(arg, event) : NULL;

	if (!event)
		return -ENOMEM;
	if (!known)
		return add(arg, event, line);
	known->count++;
	free(event);
	return 0;
}

static int read_again(struct nw_defined_events *definitions, const struct nw_tracefs *fs)
{
	int64_t now = (int64_t)nw_clock_ns(CLOCK_MONOTONIC);

	nw_defined_events_free(definitions);
	int ret = nw_event_list_read(fs, NULL, take_line, definitions);
	if (ret < 0)
		nw_defined_events_free(definitions);
	else
		definitions->read_ns = now;
	return ret;
}

int nw_defined_events_find(struct nw_defined_events *definitions,
			   const struct nw_tracefs *fs, const char *event,
			   const struct nw_defined_event **out)
{
	int64_t age = (int64_t)nw_clock_ns(CLOCK_MONOTONIC) - definitions->read_ns;
	bool old = !definitions->read_ns || age > VALID_NS;

	*out = NULL;
	int ret = old ? read_again(definitions, fs) : 0;
	if (ret == 0 && !old && !find(definitions, event))
		ret = read_again(definitions, fs);
	if (ret == 0)
		*out = find(definitions, event);
	return ret;
}

void nw_defined_events_free(struct nw_defined_events *definitions)
{
	nw_vec_each (&definitions->events, d) {
		free(d->event);
		free(d->path);
		free(d->args);
	}
	nw_vec_free(&definitions->events);
	nw_hash_table_free(&definitions->table);
	definitions->read_ns = 0;
}
