// SPDX-License-Identifier: MIT
/* Facts for people: sites, features, persistent events, diagnoses. */
#include <inttypes.h>
#include <string.h>

#include "show/rows/site.h"
#include "show/rows/status.h"
#include "text_private.h"

/* ---- sites -------------------------------------------------------------------------- */

static void arg_text(const struct nw_image *image, const struct nw_site *site,
		     const struct nw_site_args *args, size_t index, struct nw_buf *out)
{
	const struct nw_operand *op = &args->point.operands.item[index];
	const char *name = args->known.item[index].name;
	struct nw_fetch fetch;

	nw_site_fetch(image, site, args, index, &fetch);
	nw_buf_printf(out, "      arg%zu  ", index);
	nw_buf_add_escaped(out, op->text, op->text_len);
	for (size_t pad = op->text_len; pad < 18; pad++)
		nw_buf_addc(out, ' ');
	if (fetch.problem) {
		nw_buf_adds(out, "  cannot be fetched: ");
		nw_buf_add_sentence(out, fetch.problem, strlen(fetch.problem));
	} else if (fetch.is_constant && op->is_signed)
		nw_buf_printf(out, "  constant %" PRId64, (int64_t)fetch.constant);
	else if (fetch.is_constant)
		nw_buf_printf(out, "  constant %" PRIu64, fetch.constant);
	else
		nw_buf_printf(out, "  %s%s%s", fetch.text, *fetch.high_text ? " " : "",
			      fetch.high_text);
	if (nw_fetch_remark(&fetch) && !fetch.problem)
		nw_buf_printf(out, " (%s)", nw_fetch_remark(&fetch));
	nw_buf_printf(out, "%s%s\n", *name ? "  " : "", name);
}

enum {
	BYTES_WIDTH = 15, /* of a function, with the blanks before it */
	PLACE_WIDTH = 24, /* of its place in the source, at least */
	FILE_INDENT = 2,  /* of the functions below the name of their file */
};

/* Are lines with the whole spec too long for the terminal? */
static bool lists_by_file(const struct nw_image *image,
			  const struct nw_function_details *details)
{
	return details && details->line_width &&
	       strlen("func::") + strlen(image->path) + details->width + BYTES_WIDTH +
			       PLACE_WIDTH >
		       details->line_width;
}

/* Writes the end of a place for which there is not enough room. */
static void add_place(const struct nw_source_line *line, size_t room, struct nw_buf *out)
{
	struct nw_buf place = {0};

	nw_buf_add_escaped(&place, line->file, strlen(line->file));
	nw_buf_printf(&place, ":%u", line->line);
	nw_buf_adds(out, "  ");
	if (place.len > room) {
		nw_buf_adds(out, "...");
		nw_buf_adds(out, nw_buf_str(&place) + place.len - (room - 3));
	} else {
		nw_buf_add(out, place.data, place.len);
	}
	out->failed |= place.failed;
	nw_buf_free(&place);
}

/* Writes the size of a function, and the line where its source begins if that is known. by_file: in the columns of a
 * terminal; if the name is too long for its column, on a line of their own. */
static void add_details(const struct nw_function_details *details, bool by_file,
			size_t written, struct nw_buf *out)
{
	const size_t rest = FILE_INDENT + BYTES_WIDTH + 2 + PLACE_WIDTH;
	size_t width = nw_min64(details->width, written + 64), room = SIZE_MAX;

	if (by_file) {
		size_t most = nw_max64(details->line_width, rest + PLACE_WIDTH) - rest;
		width = nw_min64(details->width, most);
		room = rest + most - FILE_INDENT - width - BYTES_WIDTH - 2;
		if (written > width)
			nw_buf_printf(out, "\n%*s", FILE_INDENT, "");
		written = written > width ? 0 : written;
	}
	int pad = width > written ? (int)(width - written) : 0;
	if (details->size)
		nw_buf_printf(out, "%*s  %7" PRIu64 " byte%s", pad, "", details->size,
			      details->size != 1   ? "s"
			      : details->line.file ? " "
						   : "");
	else
		nw_buf_printf(out, "%*s  %13s", pad, "", "size unknown");
	if (!details->line.file)
		return;
	add_place(&details->line, room, out);
}

/* Writes the arguments, each on a line, and why it has no value. */
static void add_arguments(const nw_source_arguments *arguments, struct nw_buf *out)
{
	nw_vec_each (arguments, one) {
		nw_buf_adds(out, "        ");
		nw_buf_add_escaped(out, one->name, strlen(one->name));
		nw_buf_adds(out, *one->type ? ": " : "");
		nw_buf_add_escaped(out, one->type, strlen(one->type));
		if (one->problem)
			nw_buf_printf(out, "  (no value: %s)", one->problem);
		nw_buf_addc(out, '\n');
	}
}

/* Writes a spec, with the linker's name if the source's name has parameters, which would be taken for names of
 * arguments. */
void nw_text_function(struct nw_output *output, struct nw_image *image, const char *symbol,
		      const char *name, const struct nw_function_details *details)
{
	struct nw_buf *out = &output->text;
	bool typed = !strpbrk(name, "( ");
	const char *in_spec = typed ? name : symbol;
	const bool by_file = lists_by_file(image, details);

	if (!by_file || details->first) {
		nw_buf_adds(out, "func:");
		nw_buf_add_escaped(out, image->path, strlen(image->path));
		nw_buf_adds(out, by_file ? ":\n" : ":");
	}
	nw_buf_printf(out, "%*s", by_file ? FILE_INDENT : 0, "");
	nw_buf_add_escaped(out, in_spec, strlen(in_spec));
	if (details)
		add_details(details, by_file, strlen(in_spec), out);
	if (!typed) {
		nw_buf_adds(out, by_file ? "\n    " : "  ");
		nw_buf_add_escaped(out, name, strlen(name));
	}
	nw_buf_addc(out, '\n');
	if (details)
		add_arguments(&details->arguments, out);
}

/* Prints what -f text accepts as a spec, and who has the event enabled. */
void nw_text_user_event(struct nw_output *output, const struct nw_user_event_row *row)
{
	struct nw_buf *out = &output->text;
	const char *before = "(";
	char type[16];

	nw_buf_adds(out, strcmp(row->system, NW_USER_EVENTS) == 0 ? "" : "tracepoint:");
	nw_buf_printf(out, "%s:", row->system);
	nw_buf_add_escaped(out, row->name, strlen(row->name));
	nw_vec_each (&row->fields, field) {
		if (row->names_own && strcmp(field->name, NW_EVENTHEADER_EVENT) != 0 &&
		    strcmp(field->name, NW_EVENTHEADER_FIELDS) != 0)
			continue;
		nw_buf_adds(out, before);
		nw_buf_add_escaped(out, field->name, strlen(field->name));
		if (field->type.base != NW_TYPE_DEFAULT && !field->type.array) {
			nw_type_text(&field->type, type);
			nw_buf_printf(out, ":%s", type);
		}
		before = ", ";
	}
	nw_buf_adds(out, row->fields.count ? ")" : "");
	if (row->names_own)
		nw_buf_adds(out, "  each record names its fields");
	if (*row->used) {
		nw_buf_adds(out, "  used by ");
		nw_buf_add_escaped(out, row->used, strlen(row->used));
	}
	nw_buf_addc(out, '\n');
}

/* Appends how a place is armed, if it is, behind a text. */
static void armed_forms(const struct nw_armed_forms *forms, const char *before,
			struct nw_buf *out)
{
	if (!forms->trapped && !forms->emulated && !forms->optimised)
		return;
	nw_buf_adds(out, before);
	nw_armed_forms_text(forms, out);
}

void nw_text_site(struct nw_output *output, struct nw_image *image,
		  const struct nw_site *site, const struct nw_types *types)
{
	struct nw_buf *out = &output->text;
	const char *nop = nw_nop_name(site->nop);
	struct nw_symbol function;
	struct nw_site_args args;

	nw_buf_printf(out, "    site 0x%" PRIx64 "  offset 0x%" PRIx64, site->vaddr,
		      site->offset);
	if (site->semaphore_vaddr)
		nw_buf_printf(out, "  semaphore 0x%" PRIx64 " offset 0x%" PRIx64,
			      site->semaphore_vaddr, site->semaphore_offset);
	nw_buf_printf(out, "  %s", nop ? nop : "no nop");
	if (nw_image_function(image, site->vaddr, &function) == 0) {
		nw_buf_adds(out, "  in ");
		nw_buf_add_escaped(out, function.name, strlen(function.name));
		nw_buf_printf(out, "+0x%" PRIx64, site->vaddr - function.value);
	}
	armed_forms(&site->armed, "  armed: ", out);
	nw_buf_addc(out, '\n');
	if (site->warning)
		nw_buf_printf(out, "      warning: %s\n", site->warning);
	if (nw_site_args_read(image, site, types, &args) < 0)
		out->failed = true;
	for (size_t i = 0; i < args.known.count; i++)
		arg_text(image, site, &args, i, out);
	nw_site_args_free(&args);
}

void nw_text_problem(struct nw_output *output, const struct nw_image *image,
		     const struct nw_note_problem *problem)
{
	struct nw_buf *out = &output->text;

	nw_buf_add_escaped(out, image->path, strlen(image->path));
	nw_buf_adds(out, ": ");
	if (*problem->name) {
		nw_buf_add_escaped(out, problem->provider, strlen(problem->provider));
		nw_buf_addc(out, ':');
		nw_buf_add_escaped(out, problem->name, strlen(problem->name));
		nw_buf_printf(out, " at 0x%" PRIx64 ": ", problem->vaddr);
	}
	nw_buf_add_sentence(out, problem->text, strlen(problem->text));
	nw_buf_addc(out, '\n');
}

void nw_text_checked(struct nw_output *output, const struct nw_image *image,
		     const struct nw_checked *checked)
{
	struct nw_buf *out = &output->text;

	nw_buf_add_escaped(out, image->path, strlen(image->path));
	nw_buf_printf(out, ": %zu %s of %zu %s, ", checked->sites,
		      nw_plural(checked->sites, "site", "sites"), checked->probes,
		      nw_plural(checked->probes, "probe", "probes"));
	if (checked->problems)
		nw_buf_printf(out, "%zu %s\n", checked->problems,
			      nw_plural(checked->problems, "problem", "problems"));
	else
		nw_buf_adds(out, "no problem\n");
}

/* ---- features ----------------------------------------------------------------------- */

static void feature_row(const struct nw_features *features, size_t i,
			struct nw_table *table)
{
	const struct nw_feature_info *info = &nw_feature_table[i];
	const char *tried = features->tried[i];

	nw_table_text(table, info->name);
	nw_table_text(table, features->has[i]	   ? "yes"
			     : features->masked[i] ? "masked"
						   : "no");
	nw_table_cell(table, "%s%s%s", info->how, tried ? "; tried: " : "",
		      tried ? tried : "");
	nw_table_cell(table, "%s; without: %s", info->what, info->without);
}

static void feature_sentences(const struct nw_features *features, size_t i,
			      struct nw_buf *out)
{
	const struct nw_feature_info *info = &nw_feature_table[i];
	const char *tried = features->tried[i];

	nw_buf_printf(out, "Feature %s is %s: %s. Found by %s%s%s. Without it: %s.\n",
		      info->name,
		      features->has[i]	    ? "here"
		      : features->masked[i] ? "masked"
					    : "not here",
		      info->what, info->how, tried ? "; tried: " : "", tried ? tried : "",
		      info->without);
}

/* Capabilities that are missing. Root on the host has all. */
static void rights(const struct nw_features *features, struct nw_buf *out)
{
	bool any = false;

	for (size_t i = 0; i < NW_RIGHTS; i++) {
		if (features->rights[i])
			continue;
		nw_buf_printf(out, "%s%s is missing here (%s). Without it: %s.\n",
			      any ? "" : "\n", nw_rights[i].name, nw_rights[i].purpose,
			      nw_rights[i].without);
		any = true;
	}
}

void nw_text_features(struct nw_output *output, const struct nw_features *features)
{
	static const bool left[] = {true, true, true, true};
	struct nw_table table = {.columns = 4, .left = left};

	if (!output->plain) {
		nw_table_text(&table, "FEATURE");
		nw_table_text(&table, "HERE");
		nw_table_text(&table, "FOUND BY");
		nw_table_text(&table, "WHAT IT IS, AND WHAT IS DONE WITHOUT IT");
	}
	for (size_t i = 0; i < NW_FEATURE_COUNT; i++)
		if (output->plain)
			feature_sentences(features, i, &output->text);
		else
			feature_row(features, i, &table);
	nw_table_print(&table, &output->text);
	rights(features, &output->text);
}

/* Adds a row, or writes a sentence for a screen reader. */
static void overhead(struct nw_output *output, const char *kind, uint64_t ns,
		     struct nw_table *table)
{
	char each[16];

	nw_duration_text(ns, each);
	if (output->plain) {
		nw_buf_printf(&output->text, "A hit costs %s: %s.\n", each, kind);
		return;
	}
	nw_table_text(table, kind);
	nw_table_text(table, each);
}

void nw_text_overheads(struct nw_output *output, const struct nw_machine_cost *cost)
{
	static const char *const kinds[NW_COST_KINDS] = {
		[NW_COST_NOP] = "a USDT probe",
#if defined(__x86_64__) || defined(__i386__)
		[NW_COST_CALL] = "a USDT probe that the kernel turns into a call",
		[NW_COST_LONG_NOP] = "a USDT probe on a nop of several bytes",
		[NW_COST_PUSH] = "a function that begins with push",
		[NW_COST_ENDBR] = "a function that begins with endbr64",
#endif
		[NW_COST_USUAL] = "a function that begins with any other instruction",
		[NW_COST_RETURN] = "its return, with func:",
		[NW_COST_RETURN_ALONE] = "a return alone, with uretprobe:",
		[NW_COST_EVENT] = "a tracepoint of the scheduler"
	};
	static const bool left[] = {true, false};
	struct nw_table table = {.columns = 2, .left = left};

	nw_buf_addc(&output->text, '\n');
	if (!cost->times) {
		nw_buf_adds(
			&output->text,
			"The probe overhead is unknown here; `nopwatch stat -v` says why.\n");
		return;
	}
	if (!output->plain) {
		nw_table_text(&table, "PROBE");
		nw_table_text(&table, "OVERHEAD OF A HIT");
	}
	for (size_t i = 0; i < NW_COST_KINDS; i++) {
		const struct nw_hit_cost *kind = &cost->kind[i];
		if (kinds[i] && (kind->before || kind->after))
			overhead(output, kinds[i], (uint64_t)kind->before + kind->after,
				 &table);
	}
	/* 256 words: the stack that --stack copies. */
	overhead(output, "its stack, with --stack",
		 (uint64_t)cost->word_ps * NW_STACK_BYTES / sizeof(uint64_t) / 1000,
		 &table);
	nw_table_print(&table, &output->text);
}

/* ---- events that stay, and others' -------------------------------------------------- */

enum {
	COLUMNS = 8
};

/* Writes the probes of an event's places, each once; "?" for unknown ones. */
static void probes_cell(const struct nw_event_status *line, struct nw_table *table)
{
	struct nw_buf text = {0};
	const char *last = "";

	nw_vec_each (&line->labels, one) {
		const char *label = *one ? *one : "?";
		if (strcmp(label, last) == 0)
			continue;
		nw_buf_adds(&text, text.len ? "," : "");
		nw_buf_add_escaped(&text, label, strlen(label));
		last = label;
	}
	nw_table_text(table, nw_buf_str(&text));
	table->text.failed |= text.failed;
	nw_buf_free(&text);
}

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

static void armed_cell(const nw_pids *armed, struct nw_table *table)
{
	struct nw_buf text = {0};
	size_t shown = 0;

	nw_vec_each (armed, pid) {
		if (shown++ < 3)
			nw_buf_printf(&text, "%s%d", shown > 1 ? "," : "", (int)*pid);
	}
	if (shown > 3)
		nw_buf_printf(&text, ",+%zu", shown - 3);
	nw_table_text(table, text.len ? nw_buf_str(&text) : "-");
	table->text.failed |= text.failed;
	nw_buf_free(&text);
}

static void status_row(const struct nw_event_status *line, bool has_hits,
		       struct nw_table *table)
{
	const struct nw_uprobe_event *event = line->event;
	const char *owner = nw_owner_names[event->owner];

	nw_table_cell(table, "%s:%s", event->group, event->name);
	probes_cell(line, table);
	if (event->owner_pid)
		nw_table_cell(table, "%s %d", owner, (int)event->owner_pid);
	else
		nw_table_text(table, owner);
	uses_cells(event, table);
	if (has_hits)
		nw_table_number(table, nw_status_hits(event));
	else
		nw_table_text(table, "?");
	armed_cell(&line->armed, table);
	nw_table_text(table, nw_file_states[line->file]);
}

void nw_text_status(struct nw_output *output, const struct nw_status *status)
{
	static const char *const header[COLUMNS] = {
		"EVENT", "PROBE", "OWNER", "ENABLED IN", "FILTER", "HITS", "ARMED", "FILE"};
	static const bool left[COLUMNS] = {true, true, true, true, true, false, true, true};
	/* what is the same for most events goes first */
	static const char give_up[] = "0FILTER\0"
				      "0ARMED\0"
				      "0ENABLED IN\0ARMED\0FILTER\0OWNER\0"
				      "FILE\0ENABLED IN\0PROBE\0";
	nw_strings left_out = {0};
	struct nw_table table = {.columns = COLUMNS,
				 .left = left,
				 .layout = status->layout,
				 .give_up = give_up,
				 .left_out = &left_out};

	if (!status->events->count)
		return;
	for (size_t i = 0; i < COLUMNS; i++)
		nw_table_text(&table, header[i]);
	nw_vec_each (status->events, line)
		status_row(line, status->has_hits, &table);
	nw_table_print(&table, &output->text);
	const size_t sentence = output->text.len;
	nw_table_left_out(&left_out, &output->text);
	nw_text_fill(&output->text, sentence, status->layout.width);
	nw_strings_free(&left_out);
	nw_vec_each (status->events, line) {
		if (!status->details)
			break;
		nw_vec_each (&line->event->places, place) {
			nw_buf_add_escaped(&output->text, place->line, strlen(place->line));
			nw_buf_addc(&output->text, '\n');
		}
		const size_t before = output->text.len;
		armed_forms(&line->forms, "  armed: ", &output->text);
		if (output->text.len > before)
			nw_buf_addc(&output->text, '\n');
	}
}

void nw_text_change(struct nw_output *output, const struct nw_change *change)
{
	struct nw_buf *out = &output->text;

	nw_buf_printf(out, "%s: %s", change->event, nw_change_words[change->kind]);
	if (*change->where) {
		nw_buf_adds(out, " in instance ");
		nw_buf_add_escaped(out, change->where, strlen(change->where));
	}
	nw_buf_addc(out, '\n');
}

/* ---- diagnoses ---------------------------------------------------------------------- */

static const struct {
	const char *text, *color;
	const char *said; /* in a sentence */
} results[] = {
	[NW_RESULT_PASS] = {"ok", "\033[32m", "passes"},
	[NW_RESULT_FAIL] = {"FAIL", "\033[1;31m", "fails"},
	[NW_RESULT_UNKNOWN] = {"?", "\033[33m", "has no result"},
};

/* Appends a sentence, which may hold paths and names from files. */
static void add_sentence(struct nw_buf *out, const char *text)
{
	nw_buf_add_sentence(out, text, strlen(text));
}

/* Ends a sentence, unless it has its end. */
static void end_sentence(struct nw_buf *out)
{
	if (!out->len || !strchr(".?!", out->data[out->len - 1]))
		nw_buf_addc(out, '.');
}

void nw_text_diagnosis(struct nw_output *output, const struct nw_diagnosis *diagnosis,
		       const char *label, bool color)
{
	struct nw_buf *out = &output->text;

	if (label) {
		add_sentence(out, label);
		nw_buf_addc(out, '\n');
	}
	nw_vec_each (&diagnosis->checks, check) {
		if (output->plain)
			nw_buf_printf(out, "Check %s %s: ", check->name,
				      results[check->result].said);
		else
			nw_buf_printf(out, "%s%-5s%s %-10s ",
				      color ? results[check->result].color : "",
				      results[check->result].text, color ? "\033[0m" : "",
				      check->name);
		add_sentence(out, check->saw);
		if (output->plain)
			end_sentence(out);
		nw_buf_addc(out, '\n');
	}
	nw_buf_printf(out, "%s%sVerdict: ", diagnosis->checks.count ? "\n" : "",
		      color ? "\033[1m" : "");
	add_sentence(out, diagnosis->text);
	end_sentence(out);
	nw_buf_adds(out, color ? "\033[0m\n" : "\n");
	for (size_t i = 1; i < diagnosis->reasons.count; i++) {
		if (strstr(diagnosis->text, diagnosis->reasons.item[i].text))
			continue;
		nw_buf_adds(out, "Also: ");
		add_sentence(out, diagnosis->reasons.item[i].text);
		nw_buf_adds(out, ".\n");
	}
	nw_vec_each (&diagnosis->remedy, command) {
		nw_buf_adds(out, output->plain ? "Type: " : "    ");
		add_sentence(out, *command);
		nw_buf_addc(out, '\n');
	}
}
