// SPDX-License-Identifier: MIT
/* The frames in which sites of USDT probes are hit. */
#include <errno.h>
#include <stdlib.h>

#include "find/probe/probe.h"

/* Finds the frames of several points at once, because that needs the image's tables. */
static int find_frames(const struct nw_image *image, struct nw_point **points, size_t count,
		       struct nw_error *err)
{
	uint64_t *vaddrs = calloc(count + 1, sizeof(*vaddrs));
	struct nw_frame *frames = calloc(count + 1, sizeof(*frames));
	struct nw_reader *reader = NULL;
	int ret = vaddrs && frames && nw_reader_open(&reader) == 0
			  ? nw_image_check(image, err)
			  : nw_no_memory(err);

	for (size_t i = 0; ret == 0 && i < count; i++)
		vaddrs[i] = points[i]->vaddr;
	if (ret == 0)
		ret = nw_image_frames(reader, image, vaddrs, count, frames, err);
	for (size_t i = 0; ret == 0 && i < count; i++)
		points[i]->frame = frames[i].reg ? frames[i] : (struct nw_frame){0};
	nw_reader_free(reader);
	free(vaddrs);
	free(frames);
	return ret;
}

/* A point of a USDT probe in the order of the selection. */
struct placed {
	const struct nw_image *image;
	size_t number;
	struct nw_point *point;
};

static int by_image(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->image != y->image)
		return (uintptr_t)x->image < (uintptr_t)y->image ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

typedef NW_VEC(struct placed) placed_list;

static int list_points(struct nw_selection *selection, const bool *wanted, placed_list *out)
{
	for (size_t i = 0; i < selection->probes.count; i++) {
		struct nw_probe *probe = selection->probes.item[i];
		if (!wanted[i] || probe->kind != NW_SPEC_USDT)
			continue;
		nw_vec_each (&probe->points, point) {
			struct placed *slot = nw_vec_add(out);
			if (!slot)
				return -ENOMEM;
			*slot = (struct placed){probe->image, out->count, point};
		}
	}
	return 0;
}

int nw_selection_frames(struct nw_selection *selection, const bool *wanted,
			struct nw_error *err)
{
	placed_list all = {0};
	NW_VEC(struct nw_point *) points = {0};
	int ret = list_points(selection, wanted, &all) < 0 ? nw_no_memory(err) : 0;

	if (ret == 0 && all.count)
		qsort(all.item, all.count, sizeof(*all.item), by_image);
	for (size_t i = 0; ret == 0 && i < all.count; i++) {
		struct nw_point **slot = nw_vec_add(&points);
		if (!slot) {
			ret = nw_no_memory(err);
			break;
		}
		*slot = all.item[i].point;
		if (i + 1 < all.count && all.item[i + 1].image == all.item[i].image)
			continue;
		ret = find_frames(all.item[i].image, points.item, points.count, err);
		points.count = 0;
	}
	nw_vec_free(&all);
	nw_vec_free(&points);
	return ret;
}
