// SPDX-License-Identifier: MIT
/* elf: frames, of this program itself, and of the same with a damaged table. */
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include "elf_files.h"
#include "find/dwarf/dwarf.h"
#include "unit.h"

static int first(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1;
}

/* Where the linker put a function of ours. */
static uint64_t linked(void (*function)(void))
{
	uint64_t base = 0;

	dl_iterate_phdr(first, &base);
	return (uint64_t)(uintptr_t)function - base;
}

__attribute__((noinline, noclone)) static void some_function(void)
{
	char path[32];

	ck_assert_int_ge(readlink("/proc/self/exe", path, sizeof(path)), 0);
}

static bool can_tell(void)
{
#ifdef NW_HAVE_LIBDW
	return true;
#else
	return false;
#endif
}

/* Asks a reader of its own. */
static int frames_of(const struct nw_image *image, const uint64_t *vaddrs, size_t count,
		     struct nw_frame *out)
{
	struct nw_reader *reader;

	ck_assert_int_eq(nw_reader_open(&reader), 0);
	int ret = nw_image_frames(reader, image, vaddrs, count, out, NULL);
	nw_reader_free(reader);
	return ret;
}

START_TEST(at_its_beginning_it_counts_from_the_stack_pointer)
{
	struct nw_image *image;
	struct nw_frame frames[3];
	const uint64_t begin = linked(some_function);
	const uint64_t vaddrs[] = {begin, begin + 1, (uint64_t)1 << 40};

	ck_assert_int_eq(nw_image_open("/proc/self/exe", false, &image, NULL), 0);
	ck_assert_int_eq(frames_of(image, vaddrs, 3, frames), 0);
	ck_assert_uint_eq(frames[2].function, 0);
	if (can_tell()) {
		ck_assert_uint_eq(frames[0].function, begin);
		ck_assert_uint_eq(frames[1].function, begin);
		ck_assert_uint_gt(frames[0].size, 1);
		ck_assert_uint_eq(frames[1].next, frames[0].next);
		ck_assert_str_eq(frames[0].reg, image->arch->stack);
		ck_assert_int_eq(frames[0].offset, image->arch->return_pops);
	} else {
		ck_assert_uint_eq(frames[0].function, 0);
	}
	nw_image_free(image);
	some_function();
}
END_TEST

/* What is wrong in a file costs frames, and nothing else. */
START_TEST(damaged_tables_are_survived)
{
	const uint64_t begin = linked(some_function);
	uint64_t state = 7;
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct nw_buf bytes = {0};

	ck_assert_int_eq(nw_buf_read(&bytes, from), 0);
	close(from);
	for (int round = 0; round < 30; round++) {
		int to = memfd_create("damaged", MFD_CLOEXEC);
		struct nw_image *image;
		struct nw_frame frame;
		ck_assert_int_eq(write(to, bytes.data, bytes.len), (ssize_t)bytes.len);
		/* everything behind the code is tables */
		for (int i = 0; i < 2000; i++) {
			unsigned char byte = (unsigned char)unit_random(&state);
			off_t at = 4096 + (off_t)(unit_random(&state) % (bytes.len - 4096));
			ck_assert_int_eq(pwrite(to, &byte, 1, at), 1);
		}
		if (nw_image_open_fd(to, "damaged", false, &image, NULL) < 0)
			continue;
		for (uint64_t at = begin; at < begin + 32; at++)
			(void)frames_of(image, &at, 1, &frame);
		nw_image_free(image);
	}
	nw_buf_free(&bytes);
}
END_TEST

UNIT_MAIN("frame", at_its_beginning_it_counts_from_the_stack_pointer,
	  damaged_tables_are_survived)
