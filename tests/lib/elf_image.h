/* SPDX-License-Identifier: MIT */
/* An ELF file that a test has built, opened as an image. */
#ifndef NOPWATCH_TESTS_ELF_IMAGE_H
#define NOPWATCH_TESTS_ELF_IMAGE_H

#include "elf_builder.h"
#include "find/probe/probe.h"

static inline struct nw_image *open_image(struct eb *b, bool force)
{
	struct nw_image *image = NULL;
	struct nw_error err = {0};

	ck_assert_msg(nw_image_open_fd(eb_memfd(b), "file", force, &image, &err) == 0, "%s",
		      err.what);
	return image;
}

static inline void x86_program(struct eb *b)
{
	eb_program(b, EM_X86_64, true, false);
}

#endif
