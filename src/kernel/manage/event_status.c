// SPDX-License-Identifier: MIT
/* The state of uprobe events: of their files, of the code at their places, and of the processes in which they are
 * armed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel/manage/manage.h"
#include "kernel/session/session.h"

/* A file of events, which is opened once; image NULL: it cannot be opened. */
struct opened {
	const char *path;
	struct nw_image *image;
};

/* A place to search in processes. */
struct target {
	size_t event; /* number of its event */
	struct nw_point point;
	/* Not opened: only the members that the search needs are set. */
	struct nw_image file;
};

struct survey {
	nw_event_statuses *events;
	NW_VEC(struct opened) files;
	NW_VEC(struct target) targets;
};

const char *const nw_file_states[] = {
	[NW_FILE_PRESENT] = "present", [NW_FILE_SAME] = "same",
	[NW_FILE_CHANGED] = "changed", [NW_FILE_REPLACED] = "replaced",
	[NW_FILE_GONE] = "gone",
};

/* ---- files -------------------------------------------------------------------------- */

static int open_file(struct survey *s, const char *path, struct nw_image **out)
{
	struct nw_image *image = NULL;

	nw_vec_each (&s->files, file) {
		if (strcmp(file->path, path) == 0) {
			*out = file->image;
			return 0;
		}
	}
	struct opened *file = nw_vec_add(&s->files);
	if (!file)
		return -ENOMEM;
	if (nw_image_open(path, true, &image, NULL) < 0)
		image = NULL;
	*file = (struct opened){path, image};
	*out = image;
	return 0;
}

static enum nw_file_state state_of(const struct nw_uprobe_event *event,
				   const struct nw_image *image)
{
	if (event->persistent) {
		struct stat st;

		if (stat(event->persistent->file, &st) < 0)
			return NW_FILE_GONE;
		if (st.st_dev != event->persistent->dev ||
		    st.st_ino != event->persistent->ino)
			return NW_FILE_REPLACED;
		if (!image || strcmp(image->build_id, event->persistent->build_id) != 0 ||
		    image->size != event->persistent->size ||
		    image->mtime != event->persistent->mtime)
			return NW_FILE_CHANGED;
		return NW_FILE_SAME;
	}
	return image ? NW_FILE_PRESENT : NW_FILE_GONE;
}

/* ---- from an offset back to a name -------------------------------------------------- */

/* Returns "provider:name" or "symbol+0x4"; NULL: neither is known. The caller frees. */
static char *name_place(struct nw_image *image, uint64_t offset)
{
	struct nw_symbol function;
	uint64_t vaddr;

	nw_vec_each (&image->sites, site)
		if (nw_site_is_at(site, offset))
			return nw_text("%s:%s", site->provider, site->name);
	if (!nw_image_vaddr(image, offset, &vaddr) ||
	    nw_image_function(image, vaddr, &function) < 0)
		return NULL;
	if (vaddr == function.value)
		return nw_text("%s", function.name);
	return nw_text("%s+0x%jx", function.name, vaddr - function.value);
}

/* ---- places ------------------------------------------------------------------------- */

/*
 * Processes are searched for an inode. The journal knows the inode of our events, also if the file is gone or
 * another file has its path.
 */
static int add_target(struct survey *s, const struct nw_uprobe_event *event,
		      const struct nw_definition *place, const struct nw_image *image)
{
	struct target *target = nw_vec_add(&s->targets);

	if (!target)
		return -ENOMEM;
	target->event = s->events->count - 1;
	target->point.offset = place->offset;
	target->point.semaphore_offset = place->ref_ctr;
	target->file.fd = -1;
	if (event->persistent) {
		target->file.dev = event->persistent->dev;
		target->file.ino = event->persistent->ino;
		target->file.machine = event->persistent->machine;
	} else if (image) {
		target->file.dev = image->dev;
		target->file.ino = image->ino;
		target->file.machine = image->machine;
	}
	if (image && image->ino == target->file.ino && image->dev == target->file.dev) {
		target->file.fd = image->fd;
		target->point.nop = nw_image_nop(image, place->offset);
	}
	return 0;
}

static int read_event(struct survey *s, const struct nw_uprobe_event *event)
{
	struct nw_event_status *status = nw_vec_add(s->events);
	struct nw_image *image = NULL;
	int ret = status ? 0 : -ENOMEM;

	if (status)
		status->event = event;
	nw_vec_each (&event->places, place) {
		char **label = ret == 0 ? nw_vec_add(&status->labels) : NULL;
		if (!label)
			return -ENOMEM;
		const char *path = event->persistent ? event->persistent->file
						     : place->path;
		ret = open_file(s, path, &image);
		if (ret < 0)
			return ret;
		if (place == event->places.item)
			status->file = state_of(event, image);
		if (event->persistent)
			*label = strdup(event->persistent->label);
		else if (image)
			*label = name_place(image, place->offset);
		ret = add_target(s, event, place, image);
	}
	return ret;
}

/* ---- processes ---------------------------------------------------------------------- */

static int note_process(struct survey *s, pid_t pid, const struct nw_presence *seen)
{
	size_t last_armed = SIZE_MAX,
	       last_mapped = SIZE_MAX; /* the places of one event follow each other */

	for (size_t i = 0; i < s->targets.count; i++) {
		size_t number = s->targets.item[i].event;
		struct nw_event_status *status = &s->events->item[number];
		if (seen[i].mapped && last_mapped != number) {
			status->mapped++;
			last_mapped = number;
		}
		nw_armed_forms_add(&status->forms, &seen[i].forms);
		if (!seen[i].armed || last_armed == number)
			continue;
		last_armed = number;
		pid_t *slot = nw_vec_add(&status->armed);
		if (!slot)
			return -ENOMEM;
		*slot = pid;
	}
	return 0;
}

/* Reads one process after the other, because a process is identified by its number. */
static int read_processes(struct survey *s)
{
	nw_cleanup(nw_free_ptr) const struct nw_point **points = calloc(
		s->targets.count + 1, sizeof(*points));
	nw_cleanup(nw_free_ptr) struct nw_presence *seen = calloc(s->targets.count + 1,
								  sizeof(*seen));
	nw_pids all = {0};
	int ret = points && seen ? nw_process_all(&all, NULL) : -ENOMEM;

	for (size_t i = 0; i < s->targets.count && points; i++) {
		/* The items do not move any more. */
		struct target *target = &s->targets.item[i];
		target->point.image = &target->file;
		points[i] = &target->point;
	}
	nw_vec_each (&all, pid) {
		if (ret < 0 || !s->targets.count)
			break;
		int looked = nw_points_presence(points, s->targets.count, pid, 1, seen,
						NULL);
		if (looked == 0)
			ret = note_process(s, *pid, seen);
		else if (
			nw_is_shortage(
				-looked)) /* any other error means that the process is gone */
			ret = looked;
	}
	nw_vec_free(&all);
	return ret;
}

/* ---- the whole ---------------------------------------------------------------------- */

int nw_event_status_read(const struct nw_inventory *inventory, const nw_vec_u32 *numbers,
			 nw_event_statuses *out, struct nw_error *err)
{
	struct survey s = {.events = out};
	int ret = 0;

	nw_vec_each (numbers, number)
		if (ret == 0)
			ret = read_event(&s, &inventory->events.item[*number]);
	if (ret == 0)
		ret = read_processes(&s);
	nw_vec_each (&s.files, file)
		nw_image_free(file->image);
	nw_vec_free(&s.files);
	nw_vec_free(&s.targets);
	return ret < 0 ? nw_fail(err, -ret, "cannot find out where events are armed: %s",
				 nw_strerror(-ret))
		       : 0;
}

void nw_event_status_free(nw_event_statuses *statuses)
{
	nw_vec_each (statuses, status) {
		nw_strings_free(&status->labels);
		nw_vec_free(&status->armed);
	}
	nw_vec_free(statuses);
}
