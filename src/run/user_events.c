// SPDX-License-Identifier: MIT
/* The events that programs have registered through user_events_data, with their fields. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/tracefs/user_events.h"

#include "run.h"

/* Events of which several formats may be registered at once have a system of their own. */
static const char *const systems[] = {NW_USER_EVENTS, NW_USER_EVENTS "_multi"};

static bool is_wanted(const struct nw_user_event *event, const char *const *specs,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct nw_spec spec = {0};
		bool matches = nw_spec_parse(specs[i], &spec, NULL) == 0 &&
			       nw_glob_match(spec.name, event->name);
		nw_spec_free(&spec);
		if (matches)
			return true;
	}
	return !count;
}

static int read_row(const struct nw_tracefs *fs, const struct nw_user_event *event,
		    struct nw_user_event_row *row, struct nw_error *err)
{
	struct nw_buf text = {0};
	size_t i = 0;
	int ret = -ENOENT;

	for (; ret == -ENOENT && i < NW_COUNT(systems); i++)
		ret = nw_tracefs_format(fs, systems[i], event->name, &text);
	/* its program may have ended meanwhile */
	*row = (struct nw_user_event_row){.system = strdup(systems[ret == 0 ? i - 1 : 0]),
					  .name = strdup(event->name),
					  .used = strdup(event->used)};
	if (ret == 0)
		ret = nw_format_fields(nw_buf_str(&text), &row->fields, err);
	nw_vec_each (&row->fields, field)
		row->names_own |= strcmp(field->name, NW_EVENTHEADER_FLAGS) == 0;
	nw_buf_free(&text);
	if (!row->system || !row->name || !row->used)
		ret = nw_no_memory(err);
	return ret == -ENOMEM ? ret : 0;
}

static int read_rows(const struct nw_tracefs *fs, const char *const *specs, size_t count,
		     nw_user_event_rows *out, struct nw_error *err)
{
	nw_user_events events = {0};
	int ret = nw_user_events_read(fs, &events, err);

	nw_vec_each (&events, event) {
		if (ret < 0 || !is_wanted(event, specs, count))
			continue;
		struct nw_user_event_row *row = nw_vec_add(out);
		ret = row ? read_row(fs, event, row, err) : nw_no_memory(err);
	}
	nw_user_events_free(&events);
	return ret;
}

int nw_user_event_rows_read(const char *const *specs, size_t count, nw_user_event_rows *out,
			    struct nw_error *err)
{
	struct nw_tracefs fs;
	int ret = nw_tracefs_open(&fs, err);

	if (ret < 0)
		return ret;
	ret = read_rows(&fs, specs, count, out, err);
	nw_tracefs_close(&fs);
	if (ret == 0 && count && !out->count)
		ret = nw_fail(err, ENOENT, "no program has registered an event '%s'",
			      specs[0]);
	return ret;
}

void nw_user_event_rows_free(nw_user_event_rows *rows)
{
	nw_vec_each (rows, row) {
		free(row->system);
		free(row->name);
		free(row->used);
		nw_vec_free(&row->fields);
	}
	nw_vec_free(rows);
}
