// SPDX-License-Identifier: MIT
/*
 * The version of Go that built a file, by its section .go.buildinfo (debug/buildinfo/buildinfo.go of Go): 14 bytes
 * "\xff Go buildinf:", the size of a pointer, flags. Since 1.18 (flag 2) byte 32 has the version's length, followed
 * by the version. Before, byte 16 has a pointer to a Go string (pointer, length).
 */
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/load.h"
#include "find/elf/elf.h"

#include "budget.h"

enum {
	POINTER_SIZE = 14,
	FLAGS = 15,
	STRING = 16,
	INLINE = 32,
	FLAG_BIG_ENDIAN = 1,
	FLAG_INLINE = 2,
};

static bool read_at(const struct nw_image *image, uint64_t vaddr, void *to, size_t len)
{
	int64_t offset = nw_image_offset(image, vaddr, false);

	return offset >= 0 && pread(image->fd, to, len, (off_t)offset) == (ssize_t)len;
}

/* Takes N of "go1.N.8" or "devel go1.N-abc". */
static int minor_of(const char *text)
{
	const char *at = strstr(text, "go1.");

	return at ? atoi(at + 4) : 0;
}

static int parse(const struct nw_image *image, const unsigned char *data, size_t len)
{
	char text[64] = "";
	unsigned char pair[16];

	if (len < INLINE || memcmp(data, "\xff Go buildinf:", POINTER_SIZE) != 0)
		return 0;
	/* A version is shorter than 128, so its length has one byte. */
	if (data[FLAGS] & FLAG_INLINE) {
		size_t size = len > INLINE ? data[INLINE] : 0;
		if (size >= sizeof(text) || size > len - INLINE - 1)
			return 0;
		memcpy(text, data + INLINE + 1, size);
		return minor_of(text);
	}
	size_t word = data[POINTER_SIZE];
	bool big = data[FLAGS] & FLAG_BIG_ENDIAN;
	if ((word != 4 && word != 8) ||
	    !read_at(image, nw_load_ordered(data + STRING, word, big), pair, 2 * word))
		return 0;
	uint64_t size = nw_load_ordered(pair + word, word, big);
	if (size >= sizeof(text) ||
	    !read_at(image, nw_load_ordered(pair, word, big), text, size))
		return 0;
	return minor_of(text);
}

int nw_go_minor(const struct nw_image *image)
{
	Elf *elf = elf_begin(image->fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;
	int minor = 0;

	while ((section = nw_next_section(elf, section, &header, &name))) {
		if (strcmp(name, ".go.buildinfo") != 0)
			continue;
		Elf_Data *data = elf_rawdata(section, NULL);
		if (data && data->d_buf)
			minor = parse(image, data->d_buf, data->d_size);
		break;
	}
	elf_end(elf);
	return minor;
}
