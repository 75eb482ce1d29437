// SPDX-License-Identifier: MIT
/* What keeps a place from being armed: here, and on a kernel that is not known. */
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/tracefs/features.h"
#include "unit.h"

START_TEST(a_long_nop_is_dangerous_where_the_kernel_is_not_known_to_be_safe)
{
	char own[] = "of the place itself";
	struct nw_image image = {.fd = -1};
	struct nw_point point = {.image = &image, .nop = NW_NOP_5, .hazard = own};
	struct nw_features features = {.has = {[NW_FEATURE_MEMORY] = true}};

	ck_assert_ptr_nonnull(strstr(nw_point_hazard(&features, &point), "this kernel"));
	ck_assert_ptr_nonnull(strstr(nw_point_hazard(NULL, &point), "Linux 6.18 to 7.1"));
	features.has[NW_FEATURE_NOP5_SAFE] = true;
	ck_assert_ptr_eq(nw_point_hazard(&features, &point), own);
	point.nop = NW_NOP_1;
	ck_assert_ptr_eq(nw_point_hazard(NULL, &point), own);
	point.hazard = NULL;
	ck_assert_ptr_null(nw_point_hazard(NULL, &point));
}
END_TEST

/* A memfd lies on tmpfs. */
START_TEST(tmpfs_is_mute_only_where_a_trial_found_an_old_kernel)
{
	struct nw_image image = {.fd = memfd_create("mute", MFD_CLOEXEC)};
	struct nw_point point = {.image = &image, .nop = NW_NOP_1};
	struct nw_features features = {.tried = {[NW_FEATURE_MEMORY] = "a trial"}};

	ck_assert_int_ge(image.fd, 0);
	ck_assert_ptr_nonnull(strstr(nw_point_hazard(&features, &point), "tmpfs"));
	features.tried[NW_FEATURE_MEMORY] = NULL; /* masked: nothing was found out */
	ck_assert_ptr_null(nw_point_hazard(&features, &point));
	features.has[NW_FEATURE_MEMORY] = true;
	features.tried[NW_FEATURE_MEMORY] = "works";
	ck_assert_ptr_null(nw_point_hazard(&features, &point));
	features.tried[NW_FEATURE_INSTANCE_EVENTS] =
		"no record in the instance"; /* RHEL 7 */
	ck_assert_ptr_nonnull(nw_point_hazard(&features, &point));
	features.has[NW_FEATURE_INSTANCE_EVENTS] = true;
	ck_assert_ptr_null(nw_point_hazard(&features, &point));
	ck_assert_ptr_null(nw_point_hazard(NULL, &point));
	close(image.fd);
}
END_TEST

/* This very program calls longjmp(): the trial of it is linked to it. */
START_TEST(return_probes_are_refused_where_longjmp_kills)
{
	struct nw_error err;
	struct nw_image *image = NULL;
	struct nw_features features = {
		.has = {[NW_FEATURE_LONGJMP] = true, [NW_FEATURE_NOP5_SAFE] = true}};

	ck_assert_int_eq(nw_image_open("/proc/self/exe", false, &image, &err), 0);
	struct nw_point point = {.image = image, .nop = NW_NOP_1, .is_return = true};
	ck_assert_ptr_null(nw_point_hazard(&features, &point));
	features.has[NW_FEATURE_LONGJMP] = false;
	ck_assert_ptr_nonnull(strstr(nw_point_hazard(&features, &point), "longjmp()"));
	point.is_return = false;
	ck_assert_ptr_null(nw_point_hazard(&features, &point));
	nw_image_free(image);
}
END_TEST

UNIT_MAIN("hazard", a_long_nop_is_dangerous_where_the_kernel_is_not_known_to_be_safe,
	  tmpfs_is_mute_only_where_a_trial_found_an_old_kernel,
	  return_probes_are_refused_where_longjmp_kills)
