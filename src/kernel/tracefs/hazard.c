// SPDX-License-Identifier: MIT
/* Reasons why it is dangerous or useless to arm a place. Each hazard is a row of the table, with its text. */
#include <linux/magic.h>
#include <sys/vfs.h>

#include "kernel/tracefs/features.h"

static bool lacks(const struct nw_features *features, enum nw_feature feature)
{
	return features->tried[feature] && !features->has[feature];
}

/*
 * Old kernels do not place probes in files on tmpfs, and no file of tracefs says so. Trials find these kernels by
 * other features: probes do not record in instances, or cannot read memory. RHEL 7's kernel reads memory, but
 * records in one buffer only. 3.15 can do both although its probes on tmpfs are silent; it cannot be told from
 * 3.16.
 */
bool nw_is_mute(const struct nw_features *features, const struct nw_image *image)
{
	struct statfs fs;

	return features &&
	       (lacks(features, NW_FEATURE_INSTANCE_EVENTS) ||
		lacks(features, NW_FEATURE_MEMORY)) &&
	       image->fd >= 0 && fstatfs(image->fd, &fs) == 0 &&
	       (unsigned long)fs.f_type == TMPFS_MAGIC;
}

static bool on_mute_file(const struct nw_features *features, const struct nw_point *point)
{
	return nw_is_mute(features, point->image);
}

/*
 * Linux before 4.3 keeps the return probe of a call that longjmp() has abandoned. The next return of a probed
 * caller then jumps to the return address of the abandoned call. (Since 4.3 the kernel compares stack pointers:
 * arch_uretprobe_is_alive().)
 */
static bool on_jumping_return(const struct nw_features *features,
			      const struct nw_point *point)
{
	return point->is_return && features && !features->has[NW_FEATURE_LONGJMP] &&
	       !point->image->kernel && nw_image_jumps(point->image);
}

static bool on_long_nop(const struct nw_features *features, const struct nw_point *point)
{
	return point->nop == NW_NOP_5 &&
	       (!features || !features->has[NW_FEATURE_NOP5_SAFE]);
}

#define JUMPS \
	"calls longjmp(), and a return probe of this kernel kills who leaves a function so: write func:FILE:FUNCTION,returns=insn to probe the return instructions instead (--force arms it all the same)"
const char nw_jump_hazard[] = JUMPS;

static const struct {
	bool (*is)(const struct nw_features *features, const struct nw_point *point);
	const char *here;  /* the text if this kernel is affected */
	const char *there; /* the text if the kernel is not known */
} hazards[] = {
	{on_mute_file,
	 "its file is on tmpfs, where probes of this kernel never hit: copy the program to a disk, and start it from there",
	 NULL},
	{on_jumping_return, "its file " JUMPS, NULL},
	{on_long_nop,
	 "it stands on a 5-byte nop, which this kernel turns into a call that can destroy the function's red zone (--force arms it all the same)",
	 "it stands on a 5-byte nop, which Linux 6.18 to 7.1 turn into a call that can destroy the function's red zone (--force arms it all the same)"},
};

const char *nw_point_hazard(const struct nw_features *features,
			    const struct nw_point *point)
{
	for (size_t i = 0; i < NW_COUNT(hazards); i++)
		if (hazards[i].is(features, point))
			return features ? hazards[i].here : hazards[i].there;
	return point->hazard;
}
