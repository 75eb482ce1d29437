// SPDX-License-Identifier: MIT
/* Finds the events that words on the command line mean, and plans the events that they would define. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manager.h"

/* Plans one event per site, because the kernel's own check for such events ensures that nobody uses a deleted
 * event. */
int nw_manager_plan(const struct nw_manager *m, const struct nw_selection *selection,
		    const char *group, uint32_t string_size, bool kernel_strings,
		    struct nw_plan *out, struct nw_error *err)
{
	struct nw_plan_options options = {.session = "",
					  .caps = nw_features_caps(m->features),
					  .all_args = true,
					  .naming = NW_NAMES_STAY,
					  .group = group,
					  .string_size = string_size,
					  .kernel_strings = kernel_strings};

	options.caps.multi_site = false;
	options.caps.elements = false; /* triggers would have to stay, too */
	const struct nw_probe *carries = nw_selection_carries(selection);
	if (carries) {
		nw_fail(err, ENOTSUP,
			"%s: @return: an event that stays has what its own place has, and arguments of the entry are not there at the return",
			carries->label);
		nw_error_hint(err, "leave @return out, or use stat, trace or record");
		return -ENOTSUP;
	}
	return nw_plan_make(selection, &options, out, err);
}

/* ---- words -------------------------------------------------------------------------- */

/* The search for the events that a spec or a pattern means. */
struct picking {
	const struct nw_manager *m;
	struct nw_pick *pick;
	const char *word;
	bool is_spec;
	struct nw_spec spec;
	struct nw_selection selection;
	const char *file; /* as the user names it; NULL: by a process */
	char *path;	  /* the file's absolute path */
};

/* Does the word name a place in a file, and not an event? */
static bool names_a_file(const struct nw_scope *scope, const char *word)
{
	static const char *const kinds[] = {"usdt:", "uprobe:", "uretprobe:", "func:"};

	for (size_t i = 0; i < NW_COUNT(kinds); i++)
		if (strncmp(word, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return scope->file || scope->pid_count || *word == '/';
}

/*
 * Finds the probes of the spec in the file as it is now. Events of a file that is gone or was replaced are found by
 * their labels.
 */
static int open_picking(struct picking *p, struct nw_error *err)
{
	const struct nw_scope scope = {.pids = p->pick->scope->pids,
				       .pid_count = p->pick->scope->pid_count,
				       .file = p->pick->scope->file,
				       .force = true};

	p->is_spec = names_a_file(&scope, p->word);
	if (!p->is_spec)
		return 0;
	int ret = nw_spec_parse(p->word, &p->spec, err);
	if (ret < 0)
		return ret;
	p->file = *p->spec.path ? p->spec.path : scope.file;
	p->path = p->file ? nw_absolute_path(p->file) : NULL;
	if (p->file && !p->path)
		return nw_fail(err, errno, "cannot find the path of %s: %s", p->file,
			       nw_strerror(errno));
	ret = nw_select(&p->spec, 1, &scope, &p->selection, err);
	if (ret < 0)
		p->selection = (struct nw_selection){0};
	return ret < 0 && nw_is_shortage(-ret) ? ret : 0;
}

/* Was the event defined for the file that the spec names, before that file was replaced? Returns 1, 0 or -ENOMEM. */
static int label_matches(const struct picking *p,
			 const struct nw_persistent_event *persistent)
{
	const char *colon = strchr(persistent->label, ':');
	const char *base = strrchr(persistent->file, '/');

	if (p->spec.kind != NW_SPEC_USDT || !colon || !p->path ||
	    (!nw_glob_match(p->path, persistent->file) &&
	     !nw_glob_match(p->file, base ? base + 1 : "")))
		return 0;
	nw_cleanup(nw_free_ptr) char *provider = strndup(
		persistent->label, (size_t)(colon - persistent->label));
	return !provider ? -ENOMEM : nw_spec_matches(&p->spec, provider, colon + 1);
}

/* Does the word mean the event? Returns 1, 0 or -ENOMEM. */
static int matches(const struct picking *p, const struct nw_uprobe_event *event)
{
	int ret = 0;

	if (!p->is_spec)
		return nw_event_matches(event, p->word);
	if (event->persistent)
		ret = label_matches(p, event->persistent);
	nw_vec_each (&p->selection.probes, probe)
		nw_vec_each (&(*probe)->points, point)
			if (ret == 0 && nw_event_is_at(event, point))
				ret = 1;
	return ret;
}

static bool is_picked(const nw_vec_u32 *list, size_t number)
{
	nw_vec_each (list, other)
		if (*other == number)
			return true;
	return false;
}

/* Finds the events that one word means. *count: how many match, whoever defined them. */
static int pick_word(const struct picking *p, size_t *count, struct nw_error *err)
{
	const struct nw_inventory *inventory = &p->m->inventory;
	const struct nw_uprobe_event *refused = NULL;
	size_t not_ours = 0;

	for (size_t i = 0; i < inventory->events.count; i++) {
		const struct nw_uprobe_event *event = &inventory->events.item[i];
		bool take = p->pick->all || event->owner == NW_OWNER_PERSISTENT ||
			    (event->owner == NW_OWNER_KEPT && p->pick->counts) ||
			    (event->owner == NW_OWNER_FOREIGN && p->pick->options->foreign);
		int matched = matches(p, event);
		if (matched < 0)
			return nw_no_memory(err);
		if (!matched)
			continue;
		if (!take) {
			/* An event of a session deserves the more detailed reason. */
			if (!refused || event->owner != NW_OWNER_FOREIGN)
				refused = event;
			not_ours++;
			continue;
		}
		++*count;
		if (is_picked(&p->pick->events, i))
			continue;
		uint32_t *slot = nw_vec_add(&p->pick->events);
		if (!slot)
			return nw_no_memory(err);
		*slot = (uint32_t)i;
	}
	/* A spec names a place, at which others may also have events. */
	if (!refused || *count || p->is_spec)
		return 0;
	*count = not_ours;
	/* The word matches only events of others. A pattern has then asked for nothing, but a name for an event
	 * that it may not change. */
	nw_strings *foreign = &p->pick->foreign;
	struct nw_error why = {0};
	int ret = nw_manager_may_touch(refused, p->pick->options, &why);

	if (!p->pick->lenient || !strpbrk(p->word, "*?[") ||
	    refused->owner != NW_OWNER_FOREIGN) {
		*err = why;
		return ret;
	}
	if (not_ours == 1)
		ret = nw_strings_addf(foreign, "nothing to do for '%s': %s", p->word,
				      why.what);
	else
		ret = nw_strings_addf(
			foreign,
			"nothing to do for '%s': all %zu events that it fits are not ours (%s)",
			p->word, not_ours, why.what);
	return ret < 0 ? nw_no_memory(err) : 0;
}

int nw_manager_pick(const struct nw_manager *m, struct nw_pick *pick, struct nw_error *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < pick->count; i++) {
		const char *word = pick->words[i];
		/* perf writes %sdt_PROVIDER:NAME */
		struct picking p = {.m = m, .pick = pick, .word = word + (*word == '%')};
		size_t found = 0;
		ret = open_picking(&p, err);
		if (ret == 0)
			ret = pick_word(&p, &found, err);
		if (ret == 0 && !found &&
		    nw_strings_add(&pick->missing, word, strlen(word)) < 0)
			ret = nw_no_memory(err);
		nw_selection_free(&p.selection);
		nw_spec_free(&p.spec);
		free(p.path);
	}
	return ret;
}

void nw_pick_free(struct nw_pick *pick)
{
	nw_vec_free(&pick->events);
	nw_strings_free(&pick->missing);
	nw_strings_free(&pick->foreign);
}
