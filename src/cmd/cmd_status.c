// SPDX-License-Identifier: MIT
/* status: every uprobe event of the system, ours and others'. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manage.h"
#include "standing.h"

/* ---- words -------------------------------------------------------------------------- */

static const char *owner_name(const struct nw_uprobe_event *event)
{
	static const char *const names[] = {
		[NW_OWNER_FOREIGN] = "foreign",	       [NW_OWNER_PERSISTENT] = "nopwatch",
		[NW_OWNER_SESSION] = "session",	       [NW_OWNER_DEAD] = "dead session",
		[NW_OWNER_ORPHAN] = "unknown session",
	};

	return names[event->owner];
}

static uint64_t hits_of(const struct nw_uprobe_event *event)
{
	uint64_t hits = 0;

	nw_vec_each (&event->places, place)
		hits += place->hits;
	return hits;
}

/* The probes of an event's places, each once; "?" for what cannot be told. */
static void probes_text(const struct nw_standing *standing, struct nw_buf *out)
{
	const char *last = "";

	nw_vec_each (&standing->places, place) {
		const char *label = place->label ? place->label : "?";
		if (strcmp(label, last) == 0)
			continue;
		nw_buf_adds(out, out->len ? "," : "");
		nw_buf_add_escaped(out, label, strlen(label));
		last = label;
	}
}

/* ---- text --------------------------------------------------------------------------- */

enum {
	COLUMNS = 8
};

static void uses_cells(const struct nw_uprobe_event *event, struct nw_table *table)
{
	struct nw_buf on = {0}, filters = {0};

	nw_vec_each (&event->uses, use) {
		const char *where = *use->where ? use->where : "top";
		if (use->on) {
			nw_buf_adds(&on, on.len ? "," : "");
			nw_buf_add_escaped(&on, where, strlen(where));
		}
		if (*use->filter) {
			nw_buf_adds(&filters, filters.len ? "; " : "");
			nw_buf_add_escaped(&filters, where, strlen(where));
			nw_buf_adds(&filters, ": ");
			nw_buf_add_escaped(&filters, use->filter, strlen(use->filter));
		}
	}
	nw_table_text(table, on.len ? nw_buf_str(&on) : "-");
	nw_table_text(table, filters.len ? nw_buf_str(&filters) : "-");
	table->text.failed |= on.failed || filters.failed;
	nw_buf_free(&on);
	nw_buf_free(&filters);
}

static void armed_cell(const struct nw_standing *standing, struct nw_table *table)
{
	struct nw_buf text = {0};
	size_t shown = 0;

	nw_vec_each (&standing->armed, pid) {
		if (shown++ < 3)
			nw_buf_printf(&text, "%s%d", shown > 1 ? "," : "", (int)*pid);
	}
	if (shown > 3)
		nw_buf_printf(&text, ",+%zu", shown - 3);
	nw_table_text(table, text.len ? nw_buf_str(&text) : "-");
	table->text.failed |= text.failed;
	nw_buf_free(&text);
}

static void row(const struct nw_inventory *inventory, const struct nw_uprobe_event *event,
		const struct nw_standing *standing, struct nw_table *table)
{
	struct nw_buf probes = {0};

	probes_text(standing, &probes);
	nw_table_cell(table, "%s:%s", event->group, event->name);
	nw_table_text(table, nw_buf_str(&probes));
	if (event->owner_pid)
		nw_table_cell(table, "%s %d", owner_name(event), (int)event->owner_pid);
	else
		nw_table_text(table, owner_name(event));
	uses_cells(event, table);
	if (inventory->has_hits)
		nw_table_number(table, hits_of(event));
	else
		nw_table_text(table, "?");
	armed_cell(standing, table);
	nw_table_text(table, nw_file_state_name(standing->file));
	table->text.failed |= probes.failed;
	nw_buf_free(&probes);
}

static void print_text(const struct nw_inventory *inventory, const nw_standings *standings,
		       bool color, struct nw_buf *out)
{
	static const char *const header[COLUMNS] = {
		"EVENT", "PROBE", "OWNER", "ENABLED IN", "FILTER", "HITS", "ARMED", "FILE"};
	static const bool left[COLUMNS] = {true, true, true, true, true, false, true, true};
	struct nw_table table = {.columns = COLUMNS, .left = left};

	for (size_t i = 0; i < COLUMNS; i++)
		nw_table_text(&table, header[i]);
	nw_vec_each (standings, standing)
		row(inventory, standing->event, standing, &table);
	nw_table_print(&table, color, out);
}

/* -v: where each event is defined, as the kernel has it. */
static void print_lines(const nw_standings *standings, struct nw_buf *out)
{
	nw_vec_each (standings, standing)
		nw_vec_each (&standing->event->places, place) {
			nw_buf_add_escaped(out, place->line, strlen(place->line));
			nw_buf_addc(out, '\n');
		}
}

/* ---- JSON --------------------------------------------------------------------------- */

static void place_json(const struct nw_inventory *inventory,
		       const struct nw_definition *place, const struct nw_stand *stand,
		       struct nw_json *json)
{
	nw_json_open(json, '{');
	nw_json_key_text(json, "path", place->path);
	nw_json_key_u64(json, "offset", place->offset);
	if (place->ref_ctr)
		nw_json_key_u64(json, "semaphore_offset", place->ref_ctr);
	nw_json_key_text(json, "fetch", place->args);
	nw_json_key(json, "probe");
	if (stand->label)
		nw_json_text(json, stand->label, strlen(stand->label));
	else
		nw_json_null(json);
	if (inventory->has_hits)
		nw_json_key_u64(json, "hits", place->hits);
	nw_json_close(json, '}');
}

static void uses_json(const struct nw_uprobe_event *event, struct nw_json *json)
{
	nw_json_key(json, "enabled_in");
	nw_json_open(json, '[');
	nw_vec_each (&event->uses, use)
		if (use->on)
			nw_json_text(json, use->where, strlen(use->where));
	nw_json_close(json, ']');
	nw_json_key(json, "filters");
	nw_json_open(json, '{');
	nw_vec_each (&event->uses, use)
		if (*use->filter)
			nw_json_key_text(json, use->where, use->filter);
	nw_json_close(json, '}');
}

static void print_json(const struct nw_inventory *inventory,
		       const struct nw_standing *standing, struct nw_buf *out)
{
	const struct nw_uprobe_event *event = standing->event;
	struct nw_json json = {.out = out};

	nw_json_open(&json, '{');
	nw_json_key_text(&json, "type", "status");
	nw_json_key_text(&json, "group", event->group);
	nw_json_key_text(&json, "event", event->name);
	nw_json_key(&json, "return");
	nw_json_bool(&json, event->is_return);
	nw_json_key_text(&json, "owner", owner_name(event));
	if (event->owner_pid)
		nw_json_key_u64(&json, "owner_pid", (uint64_t)event->owner_pid);
	if (event->persistent)
		nw_json_key_text(&json, "home", event->persistent->home);
	uses_json(event, &json);
	if (inventory->has_hits)
		nw_json_key_u64(&json, "hits", hits_of(event));
	nw_json_key(&json, "armed_in");
	nw_json_open(&json, '[');
	nw_vec_each (&standing->armed, pid)
		nw_json_u64(&json, (uint64_t)*pid);
	nw_json_close(&json, ']');
	nw_json_key_u64(&json, "mapped_by", standing->mapped);
	nw_json_key_text(&json, "file", nw_file_state_name(standing->file));
	nw_json_key(&json, "places");
	nw_json_open(&json, '[');
	for (size_t i = 0; i < event->places.count; i++)
		place_json(inventory, &event->places.item[i], &standing->places.item[i],
			   &json);
	nw_json_close(&json, ']');
	nw_json_close(&json, '}');
	nw_buf_addc(out, '\n');
}

/* ---- the command -------------------------------------------------------------------- */

/* All events, or those that the words mean. */
static int choose(struct nw_management *m, nw_vec_u32 *out, struct nw_error *err)
{
	size_t count = nw_manager_inventory(m->manager)->events.count;
	nw_strings missing = {0};
	int ret = 0;

	if (m->args->words.count)
		ret = nw_management_pick(m, true, out, &missing, NULL, err);
	for (size_t i = 0; i < count && ret == 0 && !m->args->words.count; i++) {
		uint32_t *slot = nw_vec_add(out);
		if (slot)
			*slot = (uint32_t)i;
		else
			ret = nw_no_memory(err);
	}
	if (ret == 0 && missing.count)
		ret = nw_fail(err, ENOENT, "no event is there for '%s'", missing.item[0]);
	nw_strings_free(&missing);
	return ret;
}

static int print(struct nw_management *m, const nw_standings *standings,
		 struct nw_error *err)
{
	const struct nw_inventory *inventory = nw_manager_inventory(m->manager);
	const struct nw_args *args = m->args;
	struct nw_buf out = {0};
	struct nw_sink sink;
	int ret = nw_sink_open(args, &sink, err);

	if (ret < 0)
		return ret;
	if (args->form == NW_FORM_JSON) {
		nw_vec_each (standings, standing)
			print_json(inventory, standing, &out);
	} else if (standings->count) {
		print_text(inventory, standings,
			   !args->output && nw_use_color(args, stdout), &out);
		if (args->verbose)
			print_lines(standings, &out);
	} else if (!args->quiet) {
		nw_note("there is no uprobe event");
	}
	ret = nw_sink_write(&sink, &out, err);
	nw_buf_free(&out);
	int end = nw_sink_close(&sink, ret == 0 ? err : NULL);
	return ret < 0 && !sink.closed ? ret : end;
}

static int run(const struct nw_args *args)
{
	struct nw_management m = {.fs = {.root = -1}};
	nw_standings standings = {0};
	nw_vec_u32 chosen = {0};
	struct nw_error err;
	int ret = nw_management_open(&m, args, true, &err);

	if (ret == 0)
		ret = choose(&m, &chosen, &err);
	if (ret == 0)
		ret = nw_standings_look(nw_manager_inventory(m.manager), &chosen,
					&standings, &err);
	if (ret == 0)
		ret = print(&m, &standings, &err);
	nw_standings_free(&standings);
	nw_vec_free(&chosen);
	nw_management_close(&m);
	return ret < 0 ? nw_failure(&nw_cmd_status, &err) : NW_EXIT_OK;
}

const struct nw_command nw_cmd_status = {
	.name = "status",
	.summary = "every uprobe event there is: whose, where enabled, hits, armed where",
	.usage = "[SPEC|GROUP:EVENT...] [-v] [-j]",
	.details =
		"Ours and others'. PROBE is what stands at the event's places. OWNER: "
		"nopwatch (add made\n"
		"it), session PID (a nopwatch that runs), dead session (`clean` removes "
		"it) "
		"or foreign.\n"
		"HITS are the kernel's own count, in all processes, recorded or not. "
		"ARMED: "
		"processes that\n"
		"have the breakpoint in their memory now. FILE: same, changed, replaced or "
		"gone since add;\n"
		"present or gone for others' events. -v shows the definitions.",
	.options = "pid exe output format json quiet verbose color",
	.run = run,
};
