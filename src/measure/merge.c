// SPDX-License-Identifier: MIT
/* See measure/merge.h. */
#include "measure/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

/* The numbers that the probes and spans of a part have in the merged result. */
struct numbers {
	uint32_t *probe, *span;
};

struct merge {
	struct nw_merged *out;
	struct nw_index labels, span_names;
	size_t keys;
	int host_at;
};

/* ---- probes and spans --------------------------------------------------------------- */

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

struct nw_probe *nw_merged_new_probe(struct nw_selection *selection,
				     const struct nw_probe *of)
{
	struct nw_probe **slot = nw_vec_add(&selection->probes);
	struct nw_probe *probe = slot ? calloc(1, sizeof(*probe)) : NULL;

	if (!probe) {
		selection->probes.count -= slot != NULL;
		return NULL;
	}
	*slot = probe;
	probe->label = copy_of(of->label);
	probe->provider = copy_of(of->provider);
	probe->name = copy_of(of->name);
	probe->symbol = copy_of(of->symbol);
	probe->kind = of->kind;
	probe->hidden = of->hidden;
	probe->has_args = of->has_args;
	bool copied = probe->label && !probe->provider == !of->provider &&
		      !probe->name == !of->name && !probe->symbol == !of->symbol;
	return copied ? probe : NULL;
}

int nw_merged_arg(struct nw_probe *probe, const char *name)
{
	for (size_t i = 0; i < probe->args.count; i++)
		if (strcmp(probe->args.item[i].name, name) == 0)
			return (int)i;
	struct nw_named_arg *arg = nw_vec_add(&probe->args);
	if (!arg)
		return -1;
	memcpy(arg->name, name, strnlen(name, sizeof(arg->name) - 1));
	return (int)probe->args.count - 1;
}

static int add_probe(struct merge *m, const struct nw_probe *probe, uint32_t *number)
{
	struct nw_selection *selection = &m->out->selection;
	int64_t at = nw_index_add(&m->labels, probe->label, strlen(probe->label));

	if (at < 0 || ((size_t)at == selection->probes.count &&
		       !nw_merged_new_probe(selection, probe)))
		return -ENOMEM;
	*number = (uint32_t)at;
	struct nw_probe *merged = selection->probes.item[at];
	merged->hidden &= probe->hidden;
	merged->has_args |= probe->has_args;
	merged->named = merged->named > probe->named ? merged->named : probe->named;
	for (size_t i = 0; i < probe->args.count; i++) {
		char name[NW_ARG_NAME];
		nw_arg_name(probe, i, name);
		if (nw_merged_arg(merged, name) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Adds the numbers of probes, which a part has, as those of the merged result. */
static int add_numbers(const nw_vec_u32 *from, const uint32_t *probe, nw_vec_u32 *to)
{
	nw_vec_each (from, number) {
		uint32_t *slot = nw_vec_add(to);
		if (!slot)
			return -ENOMEM;
		*slot = probe[*number];
	}
	return 0;
}

/* The merged span receives no hits: its key is only shown, and no hit is asked for it. */
static int new_span(nw_span_defs *spans, const struct nw_span_def *of,
		    const uint32_t *probe)
{
	struct nw_span_def *span = nw_vec_add(spans);

	if (!span)
		return -ENOMEM;
	span->name = copy_of(of->name);
	span->call = of->call;
	span->named = of->named;
	memcpy(span->key_name, of->key_name, sizeof(span->key_name));
	memcpy(span->end_key_name, of->end_key_name, sizeof(span->end_key_name));
	return !span->name || add_numbers(&of->starts, probe, &span->starts) < 0
		       ? -ENOMEM
		       : add_numbers(&of->ends, probe, &span->ends);
}

static int add_span(struct merge *m, const struct nw_span_def *def, const uint32_t *probe,
		    uint32_t *number)
{
	char key[NW_SPAN_KEY_TEXT];
	struct nw_buf name = {0};

	nw_span_key_text(def, key);
	nw_buf_printf(&name, "%s%c%s", def->name, NW_GROUP_SEPARATOR, key);
	int64_t at = name.failed
			     ? -ENOMEM
			     : nw_index_add(&m->span_names, nw_buf_str(&name), name.len);
	nw_buf_free(&name);
	*number = (uint32_t)at;
	if (at < 0)
		return -ENOMEM;
	return (size_t)at < m->out->spans.count ? 0 : new_span(&m->out->spans, def, probe);
}

static int add_names(struct merge *m, const struct nw_merge_part *part, struct numbers *to)
{
	size_t probes = part->selection->probes.count;
	int ret = 0;

	to->probe = calloc(probes + 1, sizeof(*to->probe));
	to->span = calloc(part->span_count + 1, sizeof(*to->span));
	if (!to->probe || !to->span)
		return -ENOMEM;
	for (size_t i = 0; ret == 0 && i < probes; i++)
		ret = add_probe(m, part->selection->probes.item[i], &to->probe[i]);
	for (size_t i = 0; ret == 0 && i < part->span_count; i++)
		ret = add_span(m, &part->spans[i], to->probe, &to->span[i]);
	return ret;
}

/* ---- rows --------------------------------------------------------------------------- */

/* Merges the distributions of arguments, which may have other numbers in another part. */
static int add_args(struct nw_probe *merged, struct nw_probe_row *into,
		    const struct nw_probe *probe, const struct nw_probe_row *from)
{
	for (size_t i = 0; from->args && i < probe->args.count; i++) {
		char name[NW_ARG_NAME];
		nw_arg_name(probe, i, name);
		int at = nw_merged_arg(merged, name);
		if (at < 0)
			return -ENOMEM;
		nw_histogram_merge(&into->args[at], &from->args[i]);
	}
	return 0;
}

static void *row_of(struct nw_group_rows *rows, enum nw_subject subject, uint32_t number)
{
	return subject == NW_SUBJECT_SPANS ? (void *)nw_rows_add_span(rows, number)
					   : nw_rows_add_probe(rows, number);
}

void *nw_merged_row(struct nw_merged *merged, const char *group, size_t len,
		    enum nw_subject subject, uint32_t number)
{
	struct nw_summary *summary = merged->summary;
	int64_t at = summary->options.grouped ? nw_summary_group(summary, group, len) : 0;

	return at < 0 ? NULL : row_of(&summary->groups.item[at].current, subject, number);
}

static int add_row(struct merge *m, const struct nw_merge_part *part,
		   const struct numbers *numbers, const struct nw_group_row *row,
		   struct nw_group_rows *into)
{
	uint32_t number = row->subject == NW_SUBJECT_SPANS ? numbers->span[row->number]
							   : numbers->probe[row->number];
	void *sum = row_of(into, row->subject, number);

	if (!sum)
		return -ENOMEM;
	nw_row_merge(row->subject, sum, row->row, 0);
	return row->subject == NW_SUBJECT_SPANS
		       ? 0
		       : add_args(m->out->selection.probes.item[number], sum,
				  part->selection->probes.item[row->number], row->probe);
}

/* Returns the number of a part's group in the merged result, with the host among its keys; or -ENOMEM. */
static int64_t group_of(struct merge *m, const struct nw_merge_part *part, const char *name)
{
	static const char separator[] = {NW_GROUP_SEPARATOR, '\0'};
	struct nw_buf with = {0};

	if (m->host_at == NW_MERGE_NO_HOST || strcmp(name, nw_group_overflow) == 0)
		return nw_summary_group(m->out->summary, name, strlen(name));
	const char *rest = name;
	for (int i = 0; i < m->host_at; i++) {
		size_t len = m->keys == 1 ? strlen(rest) : strcspn(rest, separator);
		nw_buf_add(&with, rest, len);
		nw_buf_addc(&with, NW_GROUP_SEPARATOR);
		rest += len + (rest[len] != '\0');
	}
	nw_buf_adds(&with, part->host);
	if (m->keys > (size_t)m->host_at)
		nw_buf_addc(&with, NW_GROUP_SEPARATOR);
	size_t from = with.len;
	nw_buf_adds(&with, rest);
	/* The name of a group of one key is as the program wrote it. */
	for (size_t i = from; m->keys == 1 && i < with.len; i++)
		if (with.data[i] == NW_GROUP_SEPARATOR)
			with.data[i] = '?';
	int64_t group = with.failed ? -ENOMEM
				    : nw_summary_group(m->out->summary, nw_buf_str(&with),
						       with.len);
	nw_buf_free(&with);
	return group;
}

static int add_rows(struct merge *m, const struct nw_merge_part *part,
		    const struct numbers *numbers)
{
	struct nw_summary *summary = m->out->summary;
	int ret = 0;

	for (size_t g = 0; ret == 0 && g < nw_summary_groups(part->summary); g++) {
		const struct nw_group_rows *from = nw_summary_rows(part->summary, g,
								   !part->interval);
		int64_t group = 0;
		struct nw_group_row row;
		size_t at = 0;
		if (summary->options.grouped)
			group = group_of(m, part,
					 m->keys ? nw_summary_group_name(part->summary, g)
						 : "");
		if (group < 0)
			return -ENOMEM;
		while (ret == 0 && nw_group_next(from, &at, &row))
			if (nw_row_has(row.subject, row.row))
				ret = add_row(m, part, numbers, &row,
					      &summary->groups.item[group].current);
	}
	summary->failed |= nw_summary_failed(part->summary);
	summary->discarded += part->discarded;
	return ret;
}

/* ---- the whole ---------------------------------------------------------------------- */

/* Arguments are allotted before any row is made, since a row has as many distributions as its probe has arguments. */
int nw_merge(const struct nw_merge_part *parts, size_t count, size_t keys, int host_at,
	     struct nw_merged *out, struct nw_error *err)
{
	struct merge m = {.out = out, .keys = keys, .host_at = host_at};
	struct numbers *numbers = calloc(count + 1, sizeof(*numbers));
	int ret = numbers ? 0 : -ENOMEM;

	*out = (struct nw_merged){0};
	for (size_t i = 0; ret == 0 && i < count; i++)
		ret = add_names(&m, &parts[i], &numbers[i]);
	const struct nw_summary_options options = {
		.selection = &out->selection,
		.spans = out->spans.item,
		.span_count = out->spans.count,
		.args = NW_ARGS_ALL,
		.grouped = keys || host_at != NW_MERGE_NO_HOST,
	};
	if (ret == 0)
		ret = nw_summary_open(&options, &out->summary, err);
	for (size_t i = 0; ret == 0 && i < count; i++)
		ret = add_rows(&m, &parts[i], &numbers[i]);
	for (size_t i = 0; numbers && i < count; i++) {
		free(numbers[i].probe);
		free(numbers[i].span);
	}
	free(numbers);
	nw_index_free(&m.labels);
	nw_index_free(&m.span_names);
	return ret == -ENOMEM ? nw_no_memory(err) : ret;
}

void nw_merged_free(struct nw_merged *merged)
{
	nw_summary_free(merged->summary);
	nw_spans_free(&merged->spans);
	nw_selection_free(&merged->selection);
	*merged = (struct nw_merged){0};
}
