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

int nw_selection_frames(struct nw_selection *selection, const bool *wanted,
			struct nw_error *err)
{
	NW_VEC(struct nw_point *) points = {0};
	int ret = 0;

	nw_vec_each (&selection->images, image) {
		points.count = 0;
		for (size_t i = 0; i < selection->probes.count; i++) {
			struct nw_probe *probe = selection->probes.item[i];
			if (!wanted[i] || probe->image != *image ||
			    probe->kind != NW_SPEC_USDT)
				continue;
			nw_vec_each (&probe->points, point) {
				struct nw_point **slot = nw_vec_add(&points);
				if (slot)
					*slot = point;
				else
					ret = nw_no_memory(err);
			}
		}
		if (ret == 0 && points.count)
			ret = find_frames(*image, points.item, points.count, err);
	}
	nw_vec_free(&points);
	return ret;
}
