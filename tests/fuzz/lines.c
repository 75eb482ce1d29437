// SPDX-License-Identifier: MIT
/* The debugging information of a file: lines and inlined functions all over its code, and how often a function was inlined. */
#include <sys/mman.h>
#include <unistd.h>

#include "find/dwarf/reader.h"
#include "fuzz.h"

enum {
	PLACES = 16 /* in a segment */
};

/* What is told can be read to its end. */
static void read_all(const struct nw_source_lines *lines)
{
	size_t length = lines->line.file ? strlen(lines->line.file) : 0;

	PROMISE(lines->count <= NW_MOST_INLINED);
	for (size_t i = 0; i < lines->count; i++) {
		const char *file = lines->inlined[i].line.file;
		length += strlen(lines->inlined[i].function) + (file ? strlen(file) : 0);
	}
	PROMISE(length < 1 << 20);
}

/* The copies of a function, and the places of a line that most sources have. */
static void find_places(struct nw_lines *lines)
{
	struct nw_line_places found;

	struct nw_inlined_copies copies;
	PROMISE(nw_lines_inlined(lines, "inner", &copies) == 0 && copies.count >= -1);
	PROMISE(copies.entries.count <= NW_MOST_SOURCE_PLACES);
	nw_vec_free(&copies.entries);
	PROMISE(nw_lines_places(lines, "a.c", 3, &found) == 0);
	PROMISE(found.places.count <= NW_MOST_SOURCE_PLACES);
	PROMISE(strlen(found.file) + strlen(found.other) < 1 << 20);
	PROMISE(!found.places.count || *found.file);
	nw_vec_free(&found.places);
}

LIBELF_LEAKS

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nw_source_lines found;
	struct nw_image *image = NULL;
	struct nw_lines *lines = NULL;
	struct nw_error err = {0};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	PROMISE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	int ret = nw_image_open_fd(fd, "file", false, &image, &err);
	if (ret < 0) {
		fuzz_error(ret, &err);
		return 0;
	}
	nw_lines_open(image, &lines);
	nw_vec_each (&image->segments, segment)
		for (uint64_t i = 0; lines && segment->exec && i < PLACES; i++) {
			uint64_t vaddr = segment->vaddr + segment->filesz / PLACES * i;
			nw_lines_at(lines, vaddr, &found);
			read_all(&found);
		}
	if (lines)
		find_places(lines);
	nw_lines_free(lines);
	nw_image_free(image);
	return 0;
}
