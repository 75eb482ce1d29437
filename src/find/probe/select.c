// SPDX-License-Identifier: MIT
/* From specs to probes: candidates, matches, labels, and hints if nothing matches. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select.h"

/* ---- near names --------------------------------------------------------------------- */

void nw_near_add(struct nw_near *near, unsigned int distance, const char *text)
{
	unsigned int at = NW_NEAR_MOST;

	for (unsigned int i = 0; i < NW_NEAR_MOST; i++)
		if (near->text[i][0] && strcmp(near->text[i], text) == 0)
			return;
	while (at > 0 && (!near->text[at - 1][0] || distance < near->distance[at - 1]))
		at--;
	if (at == NW_NEAR_MOST || strlen(text) >= sizeof(near->text[0]))
		return;
	for (unsigned int i = NW_NEAR_MOST - 1; i > at; i--) {
		memcpy(near->text[i], near->text[i - 1], sizeof(near->text[i]));
		near->distance[i] = near->distance[i - 1];
	}
	strcpy(near->text[at], text);
	near->distance[at] = distance;
}

/* Compares names first, then providers. A name that contains the other one counts as near, too. */
void nw_near_consider(struct nw_near *near, const struct nw_spec *spec, const char *prefix,
		      const char *provider, const char *name)
{
	unsigned int by_name = nw_edit_distance(spec->name, name);
	unsigned int by_provider = strcmp(spec->provider, "*") == 0
					   ? 0
					   : nw_edit_distance(spec->provider, provider);
	size_t limit = strlen(spec->name) / 3 + 2;
	bool holds = strlen(spec->name) >= 3 && strstr(name, spec->name);

	if (!holds && by_name > limit)
		return;
	nw_cleanup(nw_free_ptr) char *text = nw_text("%s%s:%s", prefix, provider, name);
	if (text)
		nw_near_add(near, (holds ? 1 : by_name) + by_provider, text);
}

void nw_near_list(const struct nw_near *near, struct nw_buf *out)
{
	for (unsigned int i = 0; i < NW_NEAR_MOST && near->text[i][0]; i++)
		nw_buf_printf(out, "%s%s", i ? ", " : "", near->text[i]);
}

void nw_near_hint(const struct nw_near *near, const char *otherwise, struct nw_error *err)
{
	struct nw_buf text = {0};

	nw_near_list(near, &text);
	if (text.len)
		nw_error_hint(err, "did you mean %s?", nw_buf_str(&text));
	else
		nw_error_hint(err, "%s", otherwise);
	nw_buf_free(&text);
}

/* Returns a skipped note that the spec names; NULL: there is none. */
static const struct nw_skipped *left_out(const struct nw_spec *spec,
					 const struct nw_image *image)
{
	nw_vec_each (&image->skipped, skipped)
		if (*skipped->name &&
		    nw_spec_matches(spec, skipped->provider, skipped->name))
			return skipped;
	return NULL;
}

int nw_no_match(const struct nw_spec *spec, const nw_images *candidates,
		struct nw_error *err)
{
	nw_cleanup(nw_buf_free) struct nw_buf otherwise = {0};
	struct nw_near near = {0};
	size_t notes = 0;

	nw_vec_each (candidates, image) {
		notes += (*image)->sites.count;
		nw_vec_each (&(*image)->sites, site)
			nw_near_consider(&near, spec, "", site->provider, site->name);
	}
	if (!candidates->count) {
		nw_fail(err, ENOENT,
			"no file with USDT notes was found in which '%s' could be",
			spec->text);
		nw_error_hint(
			err,
			strchr(spec->text, ':')
				? "name the file: usdt:FILE:PROVIDER:NAME, or -x FILE; a process of -p that has just begun may not have loaded it yet"
				: "to time a function, write func:FILE:%s (func:libc.so.6:malloc); a probe is usdt:FILE:PROVIDER:NAME",
			spec->text);
		return -ENOENT;
	}
	if (candidates->count == 1 && !notes) {
		nw_image_explain(candidates->item[0], err);
		const char *colon = strchr(spec->text, ':');
		bool plain = !colon || (colon == strrchr(spec->text, ':') &&
					strncmp(spec->text, "lib", 3) == 0);
		if (plain && candidates->item[0]->notes == NW_NOTES_NONE)
			nw_error_hint(err, "to time a function of it, write func:%s:%s",
				      candidates->item[0]->path,
				      colon ? colon + 1 : spec->text);
		return -ENOENT;
	}
	nw_vec_each (candidates, image) {
		const struct nw_skipped *skipped = left_out(spec, *image);
		if (skipped)
			return nw_fail(err, ENOENT,
				       "the note of %s:%s in %s cannot be used: %s",
				       skipped->provider, skipped->name, (*image)->path,
				       skipped->why);
	}
	if (candidates->count == 1)
		nw_fail(err, ENOENT, "no probe '%s' in %s", spec->text,
			candidates->item[0]->path);
	else
		nw_fail(err, ENOENT, "no probe '%s' in any of the %zu files searched",
			spec->text, candidates->count);
	nw_buf_adds(&otherwise, "`nopwatch list` shows what there is");
	/* Several files are those of a process or of CMD, in all of which func:*: looks. */
	if (!strchr(spec->text, ':'))
		nw_buf_printf(&otherwise, "; to time a function, write func:%s:%s",
			      candidates->count == 1 ? candidates->item[0]->path : "*",
			      spec->text);
	else if (strchr("./", *spec->text) &&
		 strchr(spec->text, ':') == strrchr(spec->text, ':'))
		nw_buf_printf(&otherwise, "; to time a function, write func:%s",
			      spec->text);
	nw_near_hint(&near, nw_buf_str(&otherwise), err);
	return -ENOENT;
}

void nw_arg_name(const struct nw_probe *probe, size_t i, char out[NW_ARG_NAME])
{
	if (i < probe->args.count && *probe->args.item[i].name)
		snprintf(out, NW_ARG_NAME, "%s", probe->args.item[i].name);
	else
		snprintf(out, NW_ARG_NAME, "arg%zu", i);
}

size_t nw_arg_word(const struct nw_probe *probe, size_t i, uint64_t number, bool is_signed,
		   const char **out)
{
	char wanted[32];
	size_t len;

	if (i >= probe->enums.count || !*probe->enums.item[i])
		return 0;
	if (is_signed)
		snprintf(wanted, sizeof(wanted), "%" PRId64 "=", (int64_t)number);
	else
		snprintf(wanted, sizeof(wanted), "%" PRIu64 "=", number);
	for (const char *at = probe->enums.item[i]; *at; at += len + (at[len] != '\0')) {
		const size_t digits = strlen(wanted);
		len = strcspn(at, ",");
		if (strncmp(at, wanted, digits) == 0) {
			*out = at + digits;
			return len - digits;
		}
	}
	return 0;
}

const char *nw_return_provider(const char *entry)
{
	static const char *const halves[][2] = {{"uprobe", "uretprobe"},
						{"kprobe", "kretprobe"}};

	for (size_t i = 0; i < NW_COUNT(halves); i++)
		if (strcmp(entry, halves[i][0]) == 0)
			return halves[i][1];
	return NULL;
}

void nw_point_text(const struct nw_probe *probe, const struct nw_point *point,
		   struct nw_buf *out)
{
	nw_buf_adds(out, probe->label);
	if (!nw_probe_in_kernel(probe))
		nw_buf_printf(out, " at %s+0x%jx", point->image->path, point->offset);
}

bool nw_probes_are_call(const struct nw_probe *entry, const struct nw_probe *returns)
{
	const char *back = nw_return_provider(entry->provider);

	return back && entry->image == returns->image &&
	       strcmp(returns->provider, back) == 0 &&
	       strcmp(returns->name, entry->name) == 0;
}

int nw_arg_find(const struct nw_probe *probe, const char *name)
{
	uint64_t number;

	for (size_t i = 0; *name && i < probe->args.count; i++)
		if (strcmp(probe->args.item[i].name, name) == 0)
			return (int)i;
	if (strncmp(name, "arg", 3) != 0 || nw_parse_u64(name + 3, &number) < 0 ||
	    number >= probe->args.count)
		return -1;
	return (int)number;
}

/* Returns how many arguments a probe needs; -EINVAL. */
static int needed_args(const struct nw_probe *probe, size_t keep, struct nw_error *err)
{
	size_t needed = probe->has_args && probe->kind != NW_SPEC_TRACEPOINT
				? probe->named
				: probe->args.count;

	if (needed < keep)
		needed = keep;
	for (size_t i = 0; i < needed && i < probe->args.count; i++) {
		const struct nw_named_arg *arg = &probe->args.item[i];
		int length = *arg->length ? nw_arg_find(probe, arg->length) : 0;
		if (length < 0 || (*arg->length && (size_t)length == i)) {
			nw_fail_usage(
				err,
				"string[%s] of %s: its length is no argument of the probe",
				arg->length, probe->label);
			return -EINVAL;
		}
		if ((size_t)length >= needed)
			needed = (size_t)length + 1;
	}
	return (int)(needed < probe->args.count ? needed : probe->args.count);
}

int nw_selection_trim(struct nw_selection *selection, size_t keep, struct nw_error *err)
{
	nw_vec_each (&selection->probes, probe) {
		int needed = needed_args(*probe, keep, err);
		if (needed < 0)
			return needed;
		(*probe)->args.count = (size_t)needed;
	}
	return 0;
}

/* ---- the selection ------------------------------------------------------------------ */

/* Is there a provider whose own name begins with perf's "sdt_"? */
static bool has_literally(const struct nw_spec *spec, const char *provider,
			  const nw_images *candidates)
{
	nw_vec_each (candidates, image)
		nw_vec_each (&(*image)->sites, site)
			if (nw_glob_match(provider, site->provider) &&
			    nw_glob_match(spec->name, site->name))
				return true;
	return false;
}

static int select_one(const struct nw_spec *asked, const struct nw_scope *scope,
		      struct nw_selection *selection, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *literal = asked->perf
							? nw_text("sdt_%s", asked->provider)
							: NULL;
	struct nw_spec meant = *asked, *spec = &meant;
	nw_images candidates = {0};
	int matched = 0, ret;

	if (spec->kind == NW_SPEC_TRACEPOINT)
		return nw_match_events(spec, scope, selection, err);
	ret = nw_candidates_find(spec, scope, selection, &candidates, err);
	/* From here on "sdt_" is either part of the provider or gone. */
	meant.perf = false;
	if (literal && has_literally(asked, literal, &candidates))
		meant.provider = literal;
	for (size_t i = 0; ret >= 0 && i < candidates.count; i++) {
		ret = nw_match_image(spec, scope, candidates.item[i], selection, err);
		matched += ret > 0 ? ret : 0;
		/* It is no error if one of several files lacks the function. */
		if (ret == -ENOENT && (matched || i + 1 < candidates.count))
			ret = 0;
	}
	if (ret >= 0 && !matched)
		ret = nw_no_match(spec, &candidates, err);
	nw_vec_free(&candidates);
	return ret < 0 ? ret : 0;
}

static bool is_ambiguous(const struct nw_selection *selection, const struct nw_probe *probe)
{
	nw_vec_each (&selection->probes, other)
		if (*other != probe && strcmp((*other)->provider, probe->provider) == 0 &&
		    strcmp((*other)->name, probe->name) == 0)
			return true;
	return false;
}

static int label_probes(struct nw_selection *selection, struct nw_error *err)
{
	nw_vec_each (&selection->probes, slot) {
		struct nw_probe *probe = *slot;
		bool ambiguous = is_ambiguous(selection, probe);
		const char *where = probe->kind == NW_SPEC_TRACEPOINT ? "tracepoint"
								      : probe->image->path;
		probe->label = nw_text("%s%s%s:%s", ambiguous ? where : "",
				       ambiguous ? ":" : "", probe->provider, probe->name);
		if (!probe->label)
			return nw_no_memory(err);
	}
	return 0;
}

void nw_selection_drop_unused(struct nw_selection *selection)
{
	size_t left = 0;

	nw_vec_each (&selection->images, image) {
		bool used = false;
		nw_vec_each (&selection->probes, probe)
			used = used || (*probe)->image == *image;
		if (used)
			selection->images.item[left++] = *image;
		else
			nw_image_free(*image);
	}
	selection->images.count = left;
}

int nw_select(const struct nw_spec *specs, size_t count, const struct nw_scope *scope,
	      struct nw_selection *out, struct nw_error *err)
{
	struct nw_selection selection = {0};
	int ret = 0;

	for (size_t i = 0; i < count && (ret == 0 || scope->some); i++) {
		int one = select_one(&specs[i], scope, &selection, err);
		ret = ret < 0 ? ret : one;
	}
	if (scope->some && selection.probes.count)
		ret = 0;
	/* A missing function is only an error if the whole file could be read. */
	nw_vec_each (&selection.images, image)
		if ((*image)->failed)
			ret = nw_image_check(*image, err);
	nw_selection_drop_unused(&selection);
	if (ret == 0)
		ret = label_probes(&selection, err);
	if (ret < 0)
		nw_selection_free(&selection);
	else
		*out = selection;
	return ret;
}

static void free_probe(struct nw_probe *probe)
{
	nw_vec_each (&probe->points, point) {
		nw_vec_free(&point->operands);
		nw_strings_free(&point->kept);
		free(point->hazard);
	}
	nw_vec_free(&probe->points);
	nw_vec_free(&probe->args);
	nw_strings_free(&probe->enums);
	nw_vec_free(&probe->call_args);
	nw_strings_free(&probe->places);
	free(probe->attached);
	free(probe->label);
	free(probe->provider);
	free(probe->name);
	free(probe->symbol);
	free(probe);
}

void nw_selection_keep(struct nw_selection *selection, const bool *wanted)
{
	size_t left = 0;

	nw_hash_table_free(&selection->by_name);
	for (size_t i = 0; i < selection->probes.count; i++) {
		if (wanted[i])
			selection->probes.item[left++] = selection->probes.item[i];
		else
			free_probe(selection->probes.item[i]);
	}
	selection->probes.count = left;
	nw_selection_drop_unused(selection);
}

size_t nw_selection_hidden(const struct nw_selection *selection)
{
	size_t hidden = 0;

	nw_vec_each (&selection->probes, probe)
		hidden += (*probe)->hidden;
	return hidden;
}

int nw_selection_linked(struct nw_selection *selection)
{
	nw_hash_table_free(&selection->by_name);
	nw_vec_each (&selection->probes, slot) {
		struct nw_probe *probe = *slot;
		if (!probe->symbol)
			continue;
		size_t before = strlen(probe->label) - strlen(probe->name);
		char *label = nw_text("%.*s%s", (int)before, probe->label, probe->symbol);
		if (!label)
			return -ENOMEM;
		free(probe->label);
		free(probe->name);
		probe->label = label;
		probe->name = probe->symbol;
		probe->symbol = NULL;
	}
	return 0;
}

void nw_selection_free(struct nw_selection *selection)
{
	nw_vec_each (&selection->probes, probe)
		free_probe(*probe);
	nw_vec_free(&selection->probes);
	nw_hash_table_free(&selection->by_name);
	nw_strings_free(&selection->warnings);
	nw_images_free(&selection->images);
}

int nw_select_words(const char *const *words, size_t count, const struct nw_scope *scope,
		    struct nw_selection *out, struct nw_error *err)
{
	NW_VEC(struct nw_spec) specs = {0};
	int ret = count ? 0 : nw_fail_usage(err, "no probe is named");

	for (size_t i = 0; ret == 0 && i < count; i++) {
		struct nw_spec *spec = nw_vec_add(&specs);
		ret = spec ? nw_spec_parse(words[i], spec, err) : nw_no_memory(err);
	}
	if (ret == 0)
		ret = nw_select(specs.item, specs.count, scope, out, err);
	if (ret == 0 && (ret = nw_selection_trim(out, 0, err)) < 0)
		nw_selection_free(out);
	nw_vec_each (&specs, spec)
		nw_spec_free(spec);
	nw_vec_free(&specs);
	return ret;
}
