// SPDX-License-Identifier: MIT
/* JSON lines: facts, which are lists of things and not a run. */
#include <string.h>

#include "json.h"
#include "show/rows/site.h"
#include "show/rows/status.h"

/* ---- sites -------------------------------------------------------------------------- */

static const char *const operand_kinds[] = {
	[NW_OPERAND_UNKNOWN] = "unknown",   [NW_OPERAND_REGISTER] = "register",
	[NW_OPERAND_MEMORY] = "memory",	    [NW_OPERAND_GLOBAL] = "global",
	[NW_OPERAND_CONSTANT] = "constant",
};

static void value_keys(const struct nw_operand *op, struct nw_json *json)
{
	if (*op->reg)
		nw_json_key_text(json, "register", op->reg);
	if (*op->reg_high)
		nw_json_key_text(json, "register_high", op->reg_high);
	if (op->kind == NW_OPERAND_MEMORY || op->kind == NW_OPERAND_GLOBAL || op->symbol) {
		nw_json_key(json, "offset");
		nw_json_i64(json, op->offset);
	}
	if (*op->index) {
		nw_json_key_text(json, "index_register", op->index);
		nw_json_key_u64(json, "scale", op->scale);
	}
	if (op->symbol) {
		nw_json_key(json, "symbol");
		nw_json_text(json, op->symbol, op->symbol_len);
	}
	if (op->kind != NW_OPERAND_CONSTANT || (op->symbol && !op->resolved))
		return;
	nw_json_key(json, "value");
	if (op->is_signed)
		nw_json_i64(json, (int64_t)op->value);
	else
		nw_json_u64(json, op->value);
}

static void arg_json(const struct nw_image *image, const struct nw_site *site,
		     const struct nw_site_args *args, size_t index, struct nw_json *json)
{
	const struct nw_operand *op = &args->point.operands.item[index];
	const struct nw_named_arg *known = &args->known.item[index];
	struct nw_fetch fetch;
	char type[16];

	nw_site_fetch(image, site, args, index, &fetch);
	nw_json_open(json, '{');
	nw_json_key_u64(json, "index", index);
	if (*known->name)
		nw_json_key_text(json, "name", known->name);
	if (known->type.base != NW_TYPE_DEFAULT) {
		nw_type_text(&known->type, type);
		nw_json_key_text(json, "type", type);
	}
	nw_json_key(json, "text");
	nw_json_text(json, op->text, op->text_len);
	nw_json_key_u64(json, "size", op->size);
	nw_json_key(json, "signed");
	nw_json_bool(json, op->is_signed);
	nw_json_key(json, "float");
	nw_json_bool(json, op->is_float);
	nw_json_key_text(json, "kind", operand_kinds[op->kind]);
	value_keys(op, json);
	nw_json_key(json, "fetch");
	/* both halves, if a pair of registers holds the value */
	nw_cleanup(nw_free_ptr) char *text = nw_text(
		"%s%s%s", fetch.text, *fetch.high_text ? " " : "", fetch.high_text);
	json->out->failed |= !text;
	if (fetch.problem || !text || !*text)
		nw_json_null(json);
	else
		nw_json_text(json, text, strlen(text));
	if (fetch.problem)
		nw_json_key_text(json, "problem", fetch.problem);
	else if (nw_fetch_remark(&fetch))
		nw_json_key_text(json, "remark", nw_fetch_remark(&fetch));
	nw_json_close(json, '}');
}

static void image_keys(const struct nw_image *image, struct nw_json *json)
{
	nw_json_key_text(json, "path", image->path);
	if (*image->build_id)
		nw_json_key_text(json, "build_id", image->build_id);
	if (image->arch)
		nw_json_key_text(json, "arch", image->arch->name);
}

static void arguments_key(const nw_source_arguments *arguments, struct nw_json *json)
{
	nw_json_key(json, "args");
	nw_json_open(json, '[');
	nw_vec_each (arguments, one) {
		nw_json_open(json, '{');
		nw_json_key_text(json, "name", one->name);
		if (*one->type)
			nw_json_key_text(json, "type", one->type);
		if (one->problem)
			nw_json_key_text(json, "problem", one->problem);
		nw_json_close(json, '}');
	}
	nw_json_close(json, ']');
}

void nw_json_function(struct nw_output *output, struct nw_image *image, const char *symbol,
		      const char *name, const struct nw_function_details *details)
{
	struct nw_json json = nw_json_start(&output->text, "function");
	struct nw_symbol found;

	nw_json_key_text(&json, "name", name);
	nw_json_key_text(&json, "symbol", symbol);
	image_keys(image, &json);
	if (nw_image_symbol(image, symbol, strlen(symbol), 0, &found) == 0) {
		nw_json_key_u64(&json, "vaddr", found.value);
		nw_json_key_u64(&json, "size", found.size);
	}
	if (details && details->line.file) {
		nw_json_key_text(&json, "file", details->line.file);
		nw_json_key_u64(&json, "line", details->line.line);
	}
	if (details && details->arguments.count)
		arguments_key(&details->arguments, &json);
	nw_json_finish(&json);
}

static void armed_as(const struct nw_armed_forms *forms, struct nw_json *json)
{
	nw_json_key(json, "armed_as");
	nw_json_open(json, '{');
	nw_json_key_u64(json, "trapped", forms->trapped);
	nw_json_key_u64(json, "emulated", forms->emulated);
	nw_json_key_u64(json, "optimised", forms->optimised);
	nw_json_close(json, '}');
}

void nw_json_site(struct nw_output *output, struct nw_image *image,
		  const struct nw_site *site, const struct nw_types *types)
{
	struct nw_symbol function;
	struct nw_site_args args;

	if (nw_site_args_read(image, site, types, &args) < 0)
		output->text.failed = true;
	struct nw_json json = nw_json_start(&output->text, "site");
	nw_json_key_text(&json, "provider", site->provider);
	nw_json_key_text(&json, "name", site->name);
	image_keys(image, &json);
	nw_json_key_u64(&json, "vaddr", site->vaddr);
	nw_json_key_u64(&json, "offset", site->offset);
	if (site->semaphore_vaddr) {
		nw_json_key_u64(&json, "semaphore_vaddr", site->semaphore_vaddr);
		nw_json_key_u64(&json, "semaphore_offset", site->semaphore_offset);
	}
	if (nw_nop_name(site->nop))
		nw_json_key_text(&json, "nop", nw_nop_name(site->nop));
	if (nw_image_function(image, site->vaddr, &function) == 0)
		nw_json_key_text(&json, "function", function.name);
	if (site->armed.trapped || site->armed.emulated || site->armed.optimised)
		armed_as(&site->armed, &json);
	if (site->warning)
		nw_json_key_text(&json, "warning", site->warning);
	nw_json_key(&json, "args");
	nw_json_open(&json, '[');
	for (size_t i = 0; i < args.known.count; i++)
		arg_json(image, site, &args, i, &json);
	nw_json_close(&json, ']');
	nw_json_finish(&json);
	nw_site_args_free(&args);
}

/* Writes a note's names, file and address, and what is wrong with it. */
static void problem_keys(const struct nw_image *image,
			 const struct nw_note_problem *problem, struct nw_json *json)
{
	bool of_note = *problem->name || !problem->kind;

	if (problem->kind)
		nw_json_key_text(json, "kind", problem->kind);
	if (of_note) {
		nw_json_key_text(json, "provider", problem->provider);
		nw_json_key_text(json, "name", problem->name);
	}
	image_keys(image, json);
	if (of_note)
		nw_json_key_u64(json, "vaddr", problem->vaddr);
	nw_json_key_text(json, "problem", problem->text);
	nw_json_finish(json);
}

void nw_json_skipped(struct nw_output *output, const struct nw_image *image,
		     const struct nw_skipped *skipped)
{
	struct nw_json json = nw_json_start(&output->text, "skipped");

	problem_keys(image,
		     &(struct nw_note_problem){NULL, skipped->provider, skipped->name,
					       skipped->vaddr, skipped->why},
		     &json);
}

void nw_json_problem(struct nw_output *output, const struct nw_image *image,
		     const struct nw_note_problem *problem)
{
	struct nw_json json = nw_json_start(&output->text, "problem");

	problem_keys(image, problem, &json);
}

void nw_json_checked(struct nw_output *output, const struct nw_image *image,
		     const struct nw_checked *checked)
{
	struct nw_json json = nw_json_start(&output->text, "checked");

	image_keys(image, &json);
	nw_json_key_u64(&json, "probes", checked->probes);
	nw_json_key_u64(&json, "sites", checked->sites);
	nw_json_key_u64(&json, "problems", checked->problems);
	nw_json_finish(&json);
}

/* ---- features ----------------------------------------------------------------------- */

void nw_json_features(struct nw_output *output, const struct nw_features *features)
{
	for (size_t i = 0; i < NW_FEATURE_COUNT; i++) {
		const struct nw_feature_info *info = &nw_feature_table[i];
		struct nw_json json = nw_json_start(&output->text, "feature");
		nw_json_key_text(&json, "name", info->name);
		nw_json_key(&json, "present");
		nw_json_bool(&json, features->has[i]);
		nw_json_key(&json, "masked");
		nw_json_bool(&json, features->masked[i]);
		nw_json_key_text(&json, "found_by", info->how);
		if (features->tried[i])
			nw_json_key_text(&json, "tried", features->tried[i]);
		nw_json_key_text(&json, "what", info->what);
		nw_json_key_text(&json, "without", info->without);
		nw_json_finish(&json);
	}

	for (size_t i = 0; i < NW_RIGHTS; i++) {
		struct nw_json json = nw_json_start(&output->text, "right");
		nw_json_key_text(&json, "name", nw_rights[i].name);
		nw_json_key(&json, "present");
		nw_json_bool(&json, features->rights[i]);
		nw_json_key_text(&json, "what", nw_rights[i].purpose);
		nw_json_key_text(&json, "without", nw_rights[i].without);
		nw_json_finish(&json);
	}
}

/* ---- events that stay, and others' -------------------------------------------------- */

static void place_json(const struct nw_definition *place, const char *label, bool has_hits,
		       struct nw_json *json)
{
	nw_json_open(json, '{');
	nw_json_key_text(json, "path", place->path);
	nw_json_key_u64(json, "offset", place->offset);
	if (place->ref_ctr)
		nw_json_key_u64(json, "semaphore_offset", place->ref_ctr);
	nw_json_key_text(json, "fetch", place->args);
	nw_json_key(json, "probe");
	if (label)
		nw_json_text(json, label, strlen(label));
	else
		nw_json_null(json);
	if (has_hits)
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

static void status_line(const struct nw_event_status *line, bool has_hits,
			struct nw_buf *out)
{
	const struct nw_uprobe_event *event = line->event;
	struct nw_json json = nw_json_start(out, "status");

	nw_json_key_text(&json, "group", event->group);
	nw_json_key_text(&json, "event", event->name);
	nw_json_key(&json, "return");
	nw_json_bool(&json, event->is_return);
	nw_json_key_text(&json, "owner", nw_owner_names[event->owner]);
	if (event->owner_pid)
		nw_json_key_u64(&json, "owner_pid", (uint64_t)event->owner_pid);
	if (event->persistent)
		nw_json_key_text(&json, "home", event->persistent->home);
	uses_json(event, &json);
	if (has_hits)
		nw_json_key_u64(&json, "hits", nw_status_hits(event));
	nw_json_key(&json, "armed_in");
	nw_json_open(&json, '[');
	nw_vec_each (&line->armed, pid)
		nw_json_u64(&json, (uint64_t)*pid);
	nw_json_close(&json, ']');
	armed_as(&line->forms, &json);
	nw_json_key_u64(&json, "mapped_by", line->mapped);
	nw_json_key_text(&json, "file", nw_file_states[line->file]);
	nw_json_key(&json, "places");
	nw_json_open(&json, '[');
	for (size_t i = 0; i < event->places.count; i++)
		place_json(&event->places.item[i], line->labels.item[i], has_hits, &json);
	nw_json_close(&json, ']');
	nw_json_finish(&json);
}

void nw_json_status(struct nw_output *output, const struct nw_status *status)
{
	nw_vec_each (status->events, line)
		status_line(line, status->has_hits, &output->text);
}

/* Writes the words of "ftrace perf". */
static void words_key(const char *key, const char *words, struct nw_json *json)
{
	nw_json_key(json, key);
	nw_json_open(json, '[');
	while (*words) {
		size_t len = strcspn(words, " ");
		nw_json_text(json, words, len);
		words += len;
		words += strspn(words, " ");
	}
	nw_json_close(json, ']');
}

void nw_json_user_event(struct nw_output *output, const struct nw_user_event_row *row)
{
	struct nw_json json = nw_json_start(&output->text, "user_event");
	char type[16];

	nw_json_key(&json, "event");
	nw_cleanup(nw_free_ptr) char *event = nw_text("%s:%s", row->system, row->name);
	nw_json_text(&json, event ? event : "", event ? strlen(event) : 0);
	words_key("used_by", row->used, &json);
	nw_json_key(&json, "names_fields");
	nw_json_bool(&json, row->names_own);
	nw_json_key(&json, "fields");
	nw_json_open(&json, '[');
	nw_vec_each (&row->fields, field) {
		nw_json_open(&json, '{');
		nw_json_key_text(&json, "name", field->name);
		if (field->type.base != NW_TYPE_DEFAULT) {
			struct nw_type element = field->type;
			element.array = 0;
			nw_type_text(&element, type);
			strcat(type, field->type.array ? "[]" : "");
			nw_json_key_text(&json, "type", type);
		}
		nw_json_close(&json, '}');
	}
	nw_json_close(&json, ']');
	nw_json_finish(&json);
}

void nw_json_change(struct nw_output *output, const struct nw_change *change)
{
	struct nw_json json = nw_json_start(&output->text, "change");

	nw_json_key_text(&json, "event", change->event);
	if (*change->label)
		nw_json_key_text(&json, "probe", change->label);
	if (*change->where)
		nw_json_key_text(&json, "instance", change->where);
	nw_json_key_text(&json, "change", nw_change_words[change->kind]);
	nw_json_finish(&json);
}

/* ---- diagnoses ---------------------------------------------------------------------- */

static const char *const results[] = {
	[NW_RESULT_PASS] = "pass",
	[NW_RESULT_FAIL] = "fail",
	[NW_RESULT_UNKNOWN] = "unknown",
};

static void print_verdict(const struct nw_diagnosis *diagnosis, const char *label,
			  struct nw_buf *out)
{
	struct nw_json json = nw_json_start(out, "verdict");

	if (label)
		nw_json_key_text(&json, "probe", label);
	nw_json_key(&json, "fires");
	if (diagnosis->fires < 0)
		nw_json_null(&json);
	else
		nw_json_bool(&json, diagnosis->fires == 1);
	nw_json_key(&json, "causes");
	nw_json_open(&json, '[');
	nw_vec_each (&diagnosis->reasons, reason) {
		const char *key = nw_cause_table[reason->cause].key;
		nw_json_text(&json, key, strlen(key));
	}
	nw_json_close(&json, ']');
	nw_json_key_text(&json, "text", diagnosis->text);
	nw_json_key(&json, "remedy");
	nw_json_open(&json, '[');
	nw_vec_each (&diagnosis->remedy, command)
		nw_json_text(&json, *command, strlen(*command));
	nw_json_close(&json, ']');
	nw_json_finish(&json);
}

void nw_json_diagnosis(struct nw_output *output, const struct nw_diagnosis *diagnosis,
		       const char *label, bool color)
{
	(void)color;
	nw_vec_each (&diagnosis->checks, check) {
		struct nw_json json = nw_json_start(&output->text, "check");
		nw_json_key_text(&json, "name", check->name);
		nw_json_key_text(&json, "result", results[check->result]);
		nw_json_key_text(&json, "saw", check->saw);
		nw_json_finish(&json);
	}
	print_verdict(diagnosis, label, &output->text);
}
