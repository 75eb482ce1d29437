// SPDX-License-Identifier: MIT
/* See manage.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manage.h"
#include "request.h"

/* ---- opening ------------------------------------------------------------------------ */

int nw_open_kernel(const struct nw_args *args, struct nw_tracefs *fs,
		   struct nw_features *features, struct nw_error *err)
{
	const struct nw_request request = nw_kernel_request(args);

	return nw_request_kernel(&request, args->dry_run, fs, features, err);
}

int nw_management_open(struct nw_management *m, const struct nw_args *args, bool look,
		       struct nw_error *err)
{
	*m = (struct nw_management){.args = args,
				    .fs = {.root = -1},
				    .options = {.instance = args->instance,
						.enable = args->enable,
						.foreign = args->foreign,
						.force = args->force}};
	int ret = nw_open_kernel(args, &m->fs, &m->features, err);

	return ret < 0 ? ret
		       : nw_manager_open(&m->fs, &m->features, look || args->dry_run,
					 &m->manager, err);
}

void nw_management_close(struct nw_management *m)
{
	nw_manager_close(m->manager);
	nw_tracefs_close(&m->fs);
}

/* ---- what add defines ---------------------------------------------------------------- */

int nw_management_select(const struct nw_args *args, struct nw_selection *out,
			 struct nw_error *err)
{
	const struct nw_scope scope = {.pids = args->pids.item,
				       .pid_count = args->pids.count,
				       .file = args->file,
				       .force = args->force,
				       .want_operands = true};
	NW_VEC(struct nw_spec) specs = {0};
	int ret = args->words.count ? 0 : nw_fail_usage(err, "no probe is named");

	nw_vec_each (&args->words, word) {
		struct nw_spec *spec = ret == 0 ? nw_vec_add(&specs) : NULL;
		if (ret == 0 && !spec)
			ret = nw_no_memory(err);
		else if (ret == 0)
			ret = nw_spec_parse(*word, spec, err);
	}
	if (ret == 0)
		ret = nw_select(specs.item, specs.count, &scope, out, err);
	if (ret == 0 && (ret = nw_selection_trim(out, 0, err)) < 0)
		nw_selection_free(out);
	nw_vec_each (&specs, spec)
		nw_spec_free(spec);
	nw_vec_free(&specs);
	return ret;
}

/* One event a site: for those the kernel's own check holds that nobody uses what is deleted. */
int nw_management_plan(const struct nw_management *m, const struct nw_selection *selection,
		       struct nw_plan *out, struct nw_error *err)
{
	struct nw_plan_options options = {.session = "",
					  .caps = nw_features_caps(&m->features),
					  .all_args = true,
					  .naming = NW_NAMES_STAY,
					  .group = m->args->group,
					  .string_size = m->args->string_size};

	options.caps.multi_site = false;
	return nw_plan_make(selection, &options, out, err);
}

/* ---- words -------------------------------------------------------------------------- */

/* What a spec or a pattern means among the events that there are. */
struct picking {
	struct nw_management *m;
	const char *word;
	bool is_spec;
	struct nw_spec spec;
	struct nw_selection selection;
};

/* Does the word name a place in a file, rather than an event? */
static bool names_a_file(const struct nw_args *args, const char *word)
{
	static const char *const kinds[] = {"usdt:", "uprobe:", "uretprobe:", "func:"};

	for (size_t i = 0; i < NW_COUNT(kinds); i++)
		if (strncmp(word, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return args->file || args->pids.count || *word == '/';
}

/*
 * The probes of the spec in the file as it is now. A file that is gone or has been replaced does
 * not hide the events that were made of it: those are known by their labels.
 */
static int open_picking(struct picking *p, struct nw_error *err)
{
	const struct nw_args *args = p->m->args;
	const struct nw_scope scope = {.pids = args->pids.item,
				       .pid_count = args->pids.count,
				       .file = args->file,
				       .force = true};

	p->is_spec = names_a_file(args, p->word);
	if (!p->is_spec)
		return 0;
	int ret = nw_spec_parse(p->word, &p->spec, err);
	if (ret == 0 && nw_select(&p->spec, 1, &scope, &p->selection, err) < 0)
		p->selection = (struct nw_selection){0};
	return ret;
}

static void close_picking(struct picking *p)
{
	if (!p->is_spec)
		return;
	nw_selection_free(&p->selection);
	nw_spec_free(&p->spec);
}

/* Made of the file that the spec names, when that still was another? */
static bool fits_label(const struct picking *p,
		       const struct nw_persistent_event *persistent)
{
	const char *said = *p->spec.path ? p->spec.path : p->m->args->file;
	nw_cleanup(nw_free_ptr) char *path = said ? nw_absolute_path(said) : NULL;
	const char *colon = strchr(persistent->label, ':');
	const char *base = strrchr(persistent->file, '/');

	if (p->spec.kind != NW_SPEC_USDT || !colon || !path ||
	    (!nw_glob_match(path, persistent->file) &&
	     !nw_glob_match(said, base ? base + 1 : "")))
		return false;
	nw_cleanup(nw_free_ptr) char *provider = strndup(
		persistent->label, (size_t)(colon - persistent->label));
	return provider && nw_spec_matches(&p->spec, provider, colon + 1);
}

static bool fits(const struct picking *p, const struct nw_uprobe_event *event)
{
	if (!p->is_spec)
		return nw_event_matches(event, p->word);
	if (event->persistent && fits_label(p, event->persistent))
		return true;
	nw_vec_each (&p->selection.probes, probe)
		nw_vec_each (&(*probe)->points, point)
			if (nw_event_is_at(event, point))
				return true;
	return false;
}

static bool is_picked(const nw_vec_u32 *list, size_t number)
{
	nw_vec_each (list, other)
		if (*other == number)
			return true;
	return false;
}

static bool is_glob(const char *word)
{
	return strpbrk(word, "*?[");
}

/* Only what others have made fits: a pattern has asked for nothing then, a name for what it
 * cannot have. */
static int refuse(const struct picking *p, const struct nw_uprobe_event *refused,
		  size_t count, nw_strings *others, struct nw_error *err)
{
	struct nw_error why = {0};
	int ret = nw_manager_may_touch(refused, &p->m->options, &why);

	if (!others || !is_glob(p->word) || refused->owner != NW_OWNER_FOREIGN) {
		*err = why;
		return ret;
	}
	if (count == 1)
		ret = nw_strings_addf(others, "nothing to do for '%s': %s", p->word,
				      why.what);
	else
		ret = nw_strings_addf(others,
				      "nothing to do for '%s': all %zu events that it fits "
				      "are not ours (%s)",
				      p->word, count, why.what);
	return ret < 0 ? nw_no_memory(err) : 0;
}

static int pick(const struct picking *p, bool all, nw_vec_u32 *out, size_t *count,
		nw_strings *others, struct nw_error *err)
{
	const struct nw_inventory *inventory = nw_manager_inventory(p->m->manager);
	const struct nw_uprobe_event *refused = NULL;
	size_t not_ours = 0;

	*count = 0;
	for (size_t i = 0; i < inventory->events.count; i++) {
		const struct nw_uprobe_event *event = &inventory->events.item[i];
		bool take = all || event->owner == NW_OWNER_PERSISTENT ||
			    (event->owner == NW_OWNER_FOREIGN && p->m->args->foreign);
		if (!fits(p, event))
			continue;
		if (!take) {
			/* what a session has, or has left, is worth more words */
			if (!refused || event->owner != NW_OWNER_FOREIGN)
				refused = event;
			not_ours++;
			continue;
		}
		++*count;
		if (is_picked(out, i))
			continue;
		uint32_t *slot = nw_vec_add(out);
		if (!slot)
			return nw_no_memory(err);
		*slot = (uint32_t)i;
	}
	/* a spec names a place, where others may have events of their own */
	if (!refused || *count || p->is_spec)
		return 0;
	*count = not_ours;
	return refuse(p, refused, not_ours, others, err);
}

int nw_management_pick(struct nw_management *m, bool all, nw_vec_u32 *out,
		       nw_strings *missing, nw_strings *others, struct nw_error *err)
{
	int ret = 0;

	nw_vec_each (&m->args->words, word) {
		/* perf's spelling: %sdt_PROVIDER:NAME */
		struct picking p = {.m = m, .word = *word + (**word == '%')};
		size_t count = 0;
		if (ret < 0)
			break;
		ret = open_picking(&p, err);
		if (ret == 0)
			ret = pick(&p, all, out, &count, others, err);
		if (ret == 0 && !count && nw_strings_add(missing, *word, strlen(*word)) < 0)
			ret = nw_no_memory(err);
		close_picking(&p);
	}
	return ret;
}

/* ---- the end ------------------------------------------------------------------------ */

static void print_changes(const struct nw_management *m, struct nw_output *output)
{
	nw_vec_each (nw_manager_changes(m->manager), change)
		if (!output->format->for_people || !m->args->quiet)
			output->format->change(output, change);
}

int nw_management_finish(struct nw_management *m, struct nw_error *err)
{
	struct nw_output output;
	struct nw_sink sink;
	int ret = nw_sink_open(m->args, &sink, err);

	if (ret < 0)
		return ret;
	if (nw_output_make(m->args->format, &output) < 0)
		ret = nw_no_memory(err);
	else if (m->args->dry_run)
		nw_manager_print(m->manager, &output.text);
	else
		ret = nw_manager_do(m->manager, err);
	if (!m->args->quiet)
		nw_vec_each (nw_manager_notes(m->manager), note)
			nw_note("%s", *note);
	if (ret == 0 && !m->args->dry_run)
		print_changes(m, &output);
	if (ret == 0)
		ret = nw_sink_write(&sink, &output.text, err);
	int end = nw_sink_close(&sink, ret == 0 ? err : NULL);
	nw_output_free(&output);
	if (ret == 0 && end == 0 && nw_manager_left(m->manager)->count) {
		end = nw_fail(err, EBUSY, "%s", nw_manager_left(m->manager)->item[0]);
		nw_error_hint(err, "once nobody does, `nopwatch clean` takes it away");
	}
	return ret < 0 ? ret : end;
}
