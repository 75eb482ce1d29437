// SPDX-License-Identifier: MIT
/*
 * Handles a probed file that is replaced during the run: a package upgrade puts a new file at the path, and programs
 * that start later run the new file, in which nothing is armed. The run checks its paths several times a second,
 * finds the same probes in the new file, and arms them in addition to the old ones, which running programs still use.
 * A file that is overwritten in place has lost its breakpoints, so its old events are disabled first.
 */
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "run/limits/guards.h"

#include "sources.h"

enum {
	LOOK_NS = 200000000,
	OLD_SECONDS = 2, /* a file that was written so long ago is complete */
	MOST_MOVES = 100,
	MOST_NOTICES = 4
};

struct watched {
	/* The probes' file, and the file that they are in now. */
	const struct nw_image *first, *image;
	/* The version that was handled, and that of the last check */
	struct stat known, seen;
	unsigned int moves;
};

struct nw_replaced {
	uint64_t next; /* trace clock: time of the next check */
	NW_VEC(struct watched) files;
};

/* ---- looking ------------------------------------------------------------------------ */

static bool look(const char *path, struct stat *out)
{
	return stat(path, out) == 0 && S_ISREG(out->st_mode);
}

/* Are these the same version of a file? */
static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Is the file on a remote file system? A server that does not answer would block the run at each check. */
static bool is_remote(const struct nw_image *image)
{
	static const unsigned long remote[] = {
		NFS_SUPER_MAGIC,       AFS_SUPER_MAGIC,	      SMB_SUPER_MAGIC,
		CODA_SUPER_MAGIC,      0xff534d42 /* cifs */, 0xfe534d42 /* smb2 */,
		0x65735546 /* fuse */, 0x00c36400 /* ceph */, 0x01021997 /* 9p */};
	struct statfs fs;

	if (fstatfs(image->fd, &fs) < 0)
		return true;
	for (size_t i = 0; i < NW_COUNT(remote); i++)
		if (((unsigned long)fs.f_type & 0xffffffff) == remote[i])
			return true;
	return false;
}

int nw_replaced_open(struct nw_run *run, struct nw_error *err)
{
	struct nw_replaced *r;

	if (run->inner || !run->request->replaced)
		return 0;
	run->live.replaced = r = calloc(1, sizeof(*r));
	if (!r)
		return nw_no_memory(err);
	nw_vec_each (&run->result->selection.images, image) {
		struct stat state;
		if (is_remote(*image) || !nw_image_is_at(*image, (*image)->path) ||
		    !look((*image)->path, &state))
			continue;
		struct watched *file = nw_vec_add(&r->files);
		if (!file)
			return nw_no_memory(err);
		*file = (struct watched){*image, *image, state, state, 0};
	}
	return 0;
}

void nw_replaced_free(struct nw_run *run)
{
	if (run->live.replaced)
		nw_vec_free(&run->live.replaced->files);
	free(run->live.replaced);
	run->live.replaced = NULL;
}

/* Is there another file, and is it complete? A file that was just written has to be the same at two checks. */
static bool has_come(struct watched *file)
{
	struct stat now;

	if (!look(file->first->path, &now) || is_same(&now, &file->known))
		return false;
	bool settled = is_same(&now, &file->seen) ||
		       time(NULL) - now.st_mtim.tv_sec > OLD_SECONDS;
	file->seen = now;
	if (settled)
		file->known = now;
	return settled;
}

/* ---- the probes in the new file ------------------------------------------------------ */

static const struct nw_probe *find_again(const struct nw_selection *fresh,
					 const struct nw_image *image,
					 const struct nw_probe *probe)
{
	nw_vec_each (&fresh->probes, other)
		if ((*other)->image == image && (*other)->kind == probe->kind &&
		    strcmp((*other)->provider, probe->provider) == 0 &&
		    strcmp((*other)->name, probe->name) == 0)
			return *other;
	return NULL;
}

/* Is the probe given by an offset, which means an instruction of one build only? */
static bool is_at_offset(const struct nw_probe *probe)
{
	return probe->kind != NW_SPEC_USDT &&
	       (strncmp(probe->name, "0x", 2) == 0 || strchr(probe->name, '+'));
}

/* Would the argument's values have another meaning? */
static bool is_other_type(const struct nw_probe *old, const struct nw_probe *fresh,
			  size_t arg)
{
	const nw_operands *a = &old->points.item[0].operands;
	const nw_operands *b = &fresh->points.item[0].operands;

	if (old->args.item[arg].type.base != NW_TYPE_DEFAULT)
		return false;
	if (arg >= a->count || arg >= b->count)
		return a->count != b->count;
	return a->item[arg].size != b->item[arg].size ||
	       a->item[arg].is_signed != b->item[arg].is_signed ||
	       a->item[arg].is_float != b->item[arg].is_float;
}

/* Returns why the probe cannot be followed to the new file; NULL: it can. */
static const char *misfit(const struct nw_image *before, const struct nw_image *image,
			  const struct nw_probe *old, const struct nw_probe *fresh)
{
	if (!fresh || !fresh->points.count)
		return "the new file has no such probe";
	if (before->arch != image->arch || before->elf64 != image->elf64 ||
	    before->big_endian != image->big_endian || before->go != image->go)
		return "the new file is of another machine or language";
	if (is_at_offset(old) &&
	    (!*before->build_id || strcmp(before->build_id, image->build_id) != 0))
		return "the new file is another build, so the offset is another instruction's";
	if (old->args.count != fresh->args.count)
		return "it has another number of arguments in the new file";
	for (size_t i = 0; i < old->args.count; i++)
		if (is_other_type(old, fresh, i))
			return "its arguments have other types in the new file";
	return NULL;
}

static int add_point(nw_points_of *list, size_t probe, size_t point)
{
	struct nw_point_of *slot = nw_vec_add(list);

	if (!slot)
		return -ENOMEM;
	*slot = (struct nw_point_of){probe, point};
	return 0;
}

/* Moves the points of the new probe to the old one. */
static int take_points(struct nw_selection *selection, size_t number,
		       struct nw_probe *fresh, nw_points_of *list)
{
	struct nw_probe *probe = selection->probes.item[number];

	while (fresh->points.count) {
		struct nw_point *slot = nw_vec_add(&probe->points);
		if (!slot || add_point(list, number, probe->points.count - 1) < 0)
			return -ENOMEM;
		*slot = fresh->points.item[--fresh->points.count];
	}
	return 0;
}

/* Finds the frames in the new file of pairs that are told apart by frames. */
static int find_frames(const struct nw_selection *old, struct nw_selection *fresh,
		       const struct nw_image *image, struct nw_error *err)
{
	nw_cleanup(nw_free_ptr) bool *wanted = calloc(fresh->probes.count + 1,
						      sizeof(*wanted));

	if (!wanted)
		return nw_no_memory(err);
	nw_vec_each (&old->probes, probe)
		for (size_t i = 0; i < fresh->probes.count; i++)
			wanted[i] |= (*probe)->points.count &&
				     (*probe)->points.item[0].frame.function &&
				     find_again(fresh, image, *probe) ==
					     fresh->probes.item[i];
	return nw_selection_frames(fresh, wanted, err);
}

/* ---- moving ------------------------------------------------------------------------- */

/* Disables the events of a file whose code was overwritten. Points of other files that share these events are armed
 * again. */
static int retire(struct nw_run *run, const struct nw_image *image, nw_points_of *again)
{
	struct nw_run_result *result = run->result;

	nw_vec_each (&result->armed.events, slot) {
		const struct nw_event *planned = (*slot)->planned;
		bool holds = false;
		for (size_t i = 0; i < planned->places.count; i++)
			holds |= nw_armed_holds(*slot, i) &&
				 nw_plan_point(&result->plan, &planned->places.item[i])
						 ->image == image;
		if (!holds || !(*slot)->defined ||
		    nw_session_retire(run->live.session, *slot) < 0)
			continue;
		for (size_t i = 0; i < planned->places.count; i++) {
			const struct nw_event_site *place = &planned->places.item[i];
			const struct nw_planned_point *point =
				&result->plan.points.item[place->planned];
			if (!nw_armed_holds(*slot, i) || place->part)
				continue;
			if (nw_plan_point(&result->plan, place)->image != image &&
			    !result->armed.points.item[place->planned].failed &&
			    add_point(again, point->probe, point->point) < 0)
				return -ENOMEM;
			nw_armed_refuse(&result->armed, place,
					"its file was written again");
		}
	}
	return 0;
}

/* Extends all data by point and by event to those that were added. */
static int catch_up(struct nw_run *run, size_t first, size_t points, struct nw_error *err)
{
	size_t count = run->result->plan.points.count;
	int ret = nw_formats_grow(&run->delivery.formats, first, nw_run_read_format,
				  &run->live.fs, err);

	if (run->live.profile) {
		uint64_t *grown = realloc(run->live.profile, (count + 1) * sizeof(*grown));
		if (!grown)
			return nw_no_memory(err);
		memset(grown + points, 0, (count + 1 - points) * sizeof(*grown));
		run->live.profile = grown;
	}
	nw_stream_grow(run->delivery.stream);
	return ret < 0 ? ret : nw_external_changes_open(run, err);
}

/* Arms these points, too. Returns 1: done; 0: none was armed, and the reason is in *err. */
static int arm_more(struct nw_run *run, const nw_points_of *list, struct nw_error *err)
{
	struct nw_run_result *result = run->result;
	const nw_strings *warnings = nw_session_warnings(run->live.session);
	size_t points = result->plan.points.count, planned = result->plan.events.count;
	size_t first = result->armed.events.count, warned = warnings->count;

	if (nw_run_plan_more(run, list) < 0 || nw_armed_grow(&result->armed, planned) < 0)
		return nw_no_memory(err);
	int armed = nw_session_grow(run->live.session, first, err);
	for (size_t i = warned; i < warnings->count; i++)
		nw_run_notice(run, "%s", warnings->item[i]);
	struct nw_error why;
	int ret = catch_up(run, first, points, &why);
	if (ret < 0)
		*err = why;
	return ret < 0 ? ret : armed == 0;
}

/* Moves the file's probes to the new file. Returns how many were found there; a notice reports all others. */
static int move_probes(struct nw_run *run, const struct watched *file,
		       struct nw_selection *fresh, const struct nw_image *image,
		       nw_points_of *list)
{
	struct nw_selection *selection = &run->result->selection;
	int moved = 0;
	unsigned int told = 0;

	for (size_t i = 0; i < selection->probes.count; i++) {
		const struct nw_probe *probe = selection->probes.item[i];
		if (probe->image != file->first || nw_result_is_disabled(run->result, i))
			continue;
		const struct nw_probe *other = find_again(fresh, image, probe);
		const char *why = misfit(file->image, image, probe, other);
		if (why && told++ < MOST_NOTICES)
			nw_run_notice(run, "%s was replaced, and %s is not followed: %s",
				      image->path, probe->label, why);
		if (why)
			continue;
		if (take_points(selection, i, (struct nw_probe *)(uintptr_t)other, list) <
		    0)
			return -ENOMEM;
		moved++;
	}
	if (told > MOST_NOTICES)
		nw_run_notice(
			run,
			nw_plural(told - MOST_NOTICES,
				  "%s was replaced, and %u more probe is not followed",
				  "%s was replaced, and %u more probes are not followed"),
			image->path, told - MOST_NOTICES);
	return moved;
}

static void tell_moved(const struct nw_run *run, const struct nw_image *image, int moved,
		       bool in_place)
{
	if (in_place)
		nw_run_notice(
			run,
			nw_plural(
				(unsigned int)moved,
				"%s was written again: its %d probe is armed in it again",
				"%s was written again: its %d probes are armed in it again"),
			image->path, moved);
	else
		nw_run_notice(
			run,
			nw_plural(
				(unsigned int)moved,
				"%s was replaced: its %d probe is armed in the new file, too",
				"%s was replaced: its %d probes are armed in the new file, too"),
			image->path, moved);
}

/* Returns the index of the new file among the images of the selection; their number: it is not there. */
static size_t find_image(const struct nw_selection *fresh, const struct stat *state)
{
	size_t i = 0;

	while (i < fresh->images.count &&
	       (fresh->images.item[i]->dev != (uint64_t)state->st_dev ||
		fresh->images.item[i]->ino != (uint64_t)state->st_ino))
		i++;
	return i;
}

/* Transfers an image to the run's selection. */
static int keep_image(struct nw_selection *selection, struct nw_selection *fresh, size_t at)
{
	struct nw_image **slot = nw_vec_add(&selection->images);

	if (!slot)
		return -ENOMEM;
	*slot = fresh->images.item[at];
	fresh->images.item[at] = fresh->images.item[--fresh->images.count];
	return 0;
}

/* Arms the probes in the new file. Returns 1: done; 0: nothing was armed, and the reason is in *err. */
static int move_to(struct nw_run *run, struct watched *file, struct nw_selection *fresh,
		   struct nw_error *err)
{
	struct nw_selection *selection = &run->result->selection;
	size_t at = find_image(fresh, &file->known);
	nw_points_of list = {0};

	if (at == fresh->images.count) {
		nw_fail(err, ENOENT, "its probes are not found at that path any more");
		return 0;
	}
	const struct nw_image *image = fresh->images.item[at];
	bool in_place = image->dev == file->image->dev && image->ino == file->image->ino;
	if (in_place && *image->build_id &&
	    strcmp(image->build_id, file->image->build_id) == 0)
		return 1; /* only its times have changed */
	int ret = find_frames(selection, fresh, image, err);
	if (ret < 0)
		return ret;
	ret = keep_image(selection, fresh, at);
	if (ret == 0 && in_place)
		ret = retire(run, file->image, &list);
	int moved = ret < 0 ? ret : move_probes(run, file, fresh, image, &list);
	if (moved >= 0 && list.count)
		ret = arm_more(run, &list, err);
	else
		ret = moved < 0 ? nw_no_memory(err) : 1;
	nw_vec_free(&list);
	if (moved > 0)
		file->image = image;
	if (moved > 0 && ret > 0)
		tell_moved(run, image, moved, in_place);
	return ret;
}

static int follow(struct nw_run *run, struct watched *file, struct nw_error *err)
{
	struct nw_selection fresh;
	struct nw_error why = {0};
	int ret = 0;

	if (++file->moves > MOST_MOVES) {
		if (file->moves == MOST_MOVES + 1)
			nw_run_notice(
				run,
				"%s was replaced %d times, and is not followed any more",
				file->first->path, MOST_MOVES);
		return 0;
	}
	if (nw_run_select_again(run, file->first->path, &fresh, &why) == 0)
		ret = move_to(run, file, &fresh, &why);
	nw_selection_free(&fresh);
	if (ret == 0)
		nw_run_notice(
			run,
			"%s was replaced, and its probes stay in the file that was there before: %s",
			file->first->path, why.what);
	if (ret < 0)
		*err = why;
	return ret < 0 ? ret : 0;
}

int nw_replaced_check(struct nw_run *run, struct nw_error *err)
{
	struct nw_replaced *r = run->live.replaced;
	/* a recording has a fixed list of events */
	bool records = run->consumer.needs.named_events || run->consumer.due;
	int ret = 0;

	if (!r || run->result->now_ns < r->next)
		return 0;
	r->next = run->result->now_ns + LOOK_NS;
	nw_vec_each (&r->files, file) {
		if (ret < 0 || !has_come(file))
			continue;
		if (run->request->replaced == NW_REPLACED_FOLLOWED && !records)
			ret = follow(run, file, err);
		else
			nw_run_notice(
				run,
				records ? "%s was replaced: programs that start now run the new file, whose probes are not recorded; record again for these"
					: "%s was replaced: programs that start now run the new file, whose probes are not armed (--no-follow-file)",
				file->first->path);
	}
	return ret;
}
