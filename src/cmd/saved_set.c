// SPDX-License-Identifier: MIT
/* Several saved results, which become one summary: see saved.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "saved.h"

/* ---- keys --------------------------------------------------------------------------- */

bool nw_by_has_host(const char *by)
{
	nw_cleanup(nw_free_ptr) char *copy = by ? strdup(by) : NULL;
	char *rest = copy, *key;
	bool found = false;

	while (!found && (key = nw_split_keys(&rest)))
		found = strcmp(key, "host") == 0;
	return found;
}

/* Takes `host` out of the keys, which is known of a whole recording, not of a hit. */
static int split_keys(struct nw_saved_set *set, const char *by, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) char *copy = by ? strdup(by) : NULL;
	struct nw_buf others = {0};
	char *rest = copy, *key;
	int at = 0;

	set->host_at = NW_MERGE_NO_HOST;
	if (by && !copy)
		return nw_no_memory(err);
	for (; (key = nw_split_keys(&rest)); at++) {
		if (strcmp(key, "host") == 0 && set->host_at == NW_MERGE_NO_HOST) {
			set->host_at = at;
			continue;
		}
		nw_buf_printf(&others, "%s%s", set->keys ? "," : "", key);
		set->keys++;
	}
	set->by = set->keys ? nw_buf_take(&others) : NULL;
	nw_buf_free(&others);
	return set->keys && !set->by ? nw_no_memory(err) : 0;
}

/* Checks that JSON lines, whose groups are as they are, have the keys of all others. Without --by, the keys are those of the first
 * result. Earlier versions did not tell the name of a single key. */
static int check_keys(struct nw_saved_set *set, const struct nw_saved *saved,
		      bool are_given, struct nw_error *err)
{
	const char *have = saved->is_json ? saved->json.group_by : set->by;

	if (!are_given && have && saved == set->results.item) {
		set->keys = saved->json.keys;
		set->by = strdup(have);
		return set->by ? 0 : nw_no_memory(err);
	}
	if (!set->by ? !have
		     : have && (strcmp(set->by, have) == 0 ||
				(strcmp(have, "group") == 0 && set->keys == 1)))
		return 0;
	nw_fail_usage(err, "'%s' has rows %s%s, which cannot be grouped %s%s", saved->path,
		      have ? "grouped by " : "without groups", have ? have : "",
		      set->by ? "by " : "otherwise", set->by ? set->by : "");
	nw_error_hint(
		err,
		"run `nopwatch stat -j%s%s` there, or keep recordings: `nopwatch record`",
		set->by ? " --by " : "", set->by ? set->by : "");
	return -EINVAL;
}

/* ---- reading and merging -------------------------------------------------------------- */

static void add_end(struct nw_end *sum, const struct nw_end *end)
{
	sum->lost += end->lost;
	sum->lost_is_least |= end->lost_is_least;
	sum->discarded += end->discarded;
	sum->dropped += end->dropped;
	sum->incomplete += end->incomplete;
	sum->has_filter |= end->has_filter;
	sum->filtered += end->filtered;
	sum->elapsed_ns += end->elapsed_ns;
}

int nw_saved_set_read(struct nw_saved_set *set, const struct nw_args *args,
		      const char *const *paths, size_t count,
		      const struct nw_saved_set *like, struct nw_error *err)
{
	const char *by = like && !args->by ? like->by : args->by;
	int ret = split_keys(set, by, err);

	set->end = (struct nw_end){.reason = NW_END_RECORDING};
	/* A result has pointers into itself, so it must not move when another one is added. */
	set->results.item = calloc(count + 1, sizeof(*set->results.item));
	set->results.room = set->results.item ? count + 1 : 0;
	if (ret == 0 && !set->results.item)
		ret = nw_no_memory(err);
	for (size_t i = 0; ret == 0 && i < count; i++) {
		struct nw_saved *saved = nw_vec_add(&set->results);
		ret = saved ? nw_saved_read(args, paths[i], set->by, saved, err)
			    : nw_no_memory(err);
		if (ret == 0)
			ret = check_keys(set, saved, args->by || like, err);
		if (ret == 0)
			add_end(&set->end, &saved->end);
	}
	return ret;
}

int nw_saved_set_merge(struct nw_saved_set *set, struct nw_error *err)
{
	NW_VEC(struct nw_merge_part) parts = {0};
	int ret = 0;

	nw_vec_each (&set->results, saved) {
		struct nw_merge_part *part = nw_vec_add(&parts);
		if (!part)
			ret = nw_no_memory(err);
		else
			*part = saved->part;
	}
	if (ret == 0)
		ret = nw_merge(parts.item, parts.count, set->keys, set->host_at,
			       &set->merged, err);
	nw_vec_free(&parts);
	return ret;
}

bool nw_saved_set_is_incomplete(const struct nw_saved_set *set)
{
	return set->end.lost || set->end.lost_is_least || set->end.incomplete;
}

void nw_saved_set_free(struct nw_saved_set *set)
{
	nw_vec_each (&set->results, saved)
		nw_saved_close(saved);
	nw_vec_free(&set->results);
	nw_merged_free(&set->merged);
	free(set->by);
	*set = (struct nw_saved_set){0};
}

/* ---- programs ------------------------------------------------------------------------- */

/* The first build of each file of a set, and the result that has it. */
struct builds {
	struct nw_index paths;
	NW_VEC(struct build {
		const struct nw_image *image;
		const char *in;
		bool told;
	})
	first;
	bool failed;
};

/* Finds the first build of a file; NULL: no memory. */
static struct build *first_of(struct builds *builds, const struct nw_image *image)
{
	int64_t at = nw_index_add(&builds->paths, image->path, strlen(image->path));

	builds->failed |= at < 0 || ((size_t)at == builds->first.count &&
				     !nw_vec_add(&builds->first));
	return builds->failed ? NULL : &builds->first.item[at];
}

static void free_builds(struct builds *builds)
{
	nw_index_free(&builds->paths);
	nw_vec_free(&builds->first);
}

/* Compares each file of a set with its first build. note: of its path, result and build ID, and those of the first one. New files are kept if
 * `keeps`. */
static void compare_builds(struct builds *builds, const struct nw_saved_set *set,
			   bool keeps, const char *note)
{
	nw_vec_each (&set->results, saved)
		nw_vec_each (&saved->part.selection->probes, probe) {
			const struct nw_image *image = (*probe)->image;
			if (!image || !*image->build_id || builds->failed)
				continue;
			struct build *first = first_of(builds, image);
			if (first && !first->image && keeps)
				*first = (struct build){image, saved->path, false};
			if (!first || !first->image || first->told ||
			    strcmp(first->image->build_id, image->build_id) == 0)
				continue;
			nw_note(note, image->path, saved->path, image->build_id, first->in,
				first->image->build_id);
			first->told = true;
		}
}

void nw_saved_set_tell_builds(const struct nw_saved_set *set)
{
	struct builds builds = {0};

	compare_builds(
		&builds, set, true,
		"%s is another program in '%s' (build ID %.16s) than in '%s' (%.16s); their rows are added");
	free_builds(&builds);
}

void nw_saved_sets_tell_builds(const struct nw_saved_set *before,
			       const struct nw_saved_set *after)
{
	struct builds builds = {0};

	compare_builds(
		&builds, before, true,
		"%s is another program in '%s' (build ID %.16s) than in '%s' (%.16s), both of them before; their rows are added");
	nw_vec_each (&builds.first, first)
		first->told = false;
	compare_builds(
		&builds, after, false,
		"%s is another program after, in '%s' (build ID %.16s), than before, in '%s' (%.16s)");
	free_builds(&builds);
	builds = (struct builds){0};
	compare_builds(
		&builds, after, true,
		"%s is another program in '%s' (build ID %.16s) than in '%s' (%.16s), both of them after; their rows are added");
	free_builds(&builds);
}
