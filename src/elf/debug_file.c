// SPDX-License-Identifier: MIT
/*
 * Where the symbols of a stripped file went (gdb's manual, "Debugging Information in Separate
 * Files"): /usr/lib/debug/.build-id/xx/yyyy.debug, or the name in its .gnu_debuglink section,
 * beside it, in .debug/, or below /usr/lib/debug, with a checksum that must be right.
 *
 * The name in that section is as trustworthy as the file it is in: it must be a mere name, and
 * what is found must be an ELF file of the same kind.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "budget.h"
#include "symbol.h"

static const char debug_root[] = "/usr/lib/debug";

/* ---- candidates --------------------------------------------------------------------- */

struct link {
	char name[256]; /* "" = there is none */
	uint32_t crc;
};

/* CRC-32 as zlib has it, bit by bit over a table made on the spot. */
static int checksum(int fd, uint32_t *out)
{
	uint32_t table[256], crc = ~(uint32_t)0;
	off_t at = 0;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	nw_cleanup(nw_free_ptr) unsigned char *bytes = malloc(1 << 16);
	if (!bytes)
		return -ENOMEM;
	for (;;) {
		ssize_t got = pread(fd, bytes, 1 << 16, at);
		if (got <= 0) {
			*out = ~crc;
			return got < 0 ? -errno : 0;
		}
		at += got;
		for (ssize_t i = 0; i < got; i++)
			crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 255];
	}
}

/* An ELF file of the same machine, class and byte order. */
static bool is_sibling(const struct nw_image *image, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	GElf_Ehdr header;
	bool same = elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
		    header.e_machine == image->machine &&
		    (header.e_ident[EI_CLASS] == ELFCLASS64) == image->elf64 &&
		    (header.e_ident[EI_DATA] == ELFDATA2MSB) == image->big_endian;

	elf_end(elf);
	return same;
}

/* Open a candidate; -1 if it is not what is wanted. link: its checksum must be that one.
 * Whoever owns the directory decides what the name leads to: to a device, for instance. */
static int try_file(const struct nw_image *image, const char *root, const char *path,
		    const struct link *link)
{
	int fd = path ? nw_open_regular_in(root, path) : -1;
	struct stat st;
	uint32_t crc;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && !nw_is_hollow(fd) &&
	    (st.st_dev != image->dev || st.st_ino != image->ino) && is_sibling(image, fd) &&
	    (!link || (checksum(fd, &crc) == 0 && crc == link->crc)))
		return fd;
	close(fd);
	return -1;
}

static int try_build_id(const struct nw_image *image, const char *root)
{
	const char *id = image->build_id;

	if (strlen(id) < 4)
		return -1;
	nw_cleanup(nw_free_ptr) char *path = nw_text("%s/.build-id/%.2s/%s.debug",
						     debug_root, id, id + 2);
	return try_file(image, root, path, NULL);
}

/* ---- .gnu_debuglink ----------------------------------------------------------------- */

/* A name, its NUL, padding to 4 bytes, the checksum in the file's byte order. */
static void read_link(const struct nw_image *image, const Elf_Data *data, struct link *out)
{
	const char *name = data->d_buf;
	const char *nul = memchr(name, '\0', data->d_size);
	size_t len = nul ? (size_t)(nul - name) : 0;
	size_t at = (len + 4) & ~(size_t)3;

	if (!len || len >= sizeof(out->name) || at + 4 > data->d_size ||
	    memchr(name, '/', len) || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	memcpy(out->name, name, len + 1);
	for (size_t i = 0; i < 4; i++) {
		size_t shift = 8 * (image->big_endian ? 3 - i : i);
		out->crc |= (uint32_t)(unsigned char)name[at + i] << shift;
	}
}

static void find_link(const struct nw_image *image, Elf *elf, struct link *out)
{
	struct nw_section_budget budget = nw_section_budget(image->size);
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return;
	while (!*out->name && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    header.sh_size > 4096)
			continue;
		const char *name = elf_strptr(elf, names, header.sh_name);
		if (!name || strcmp(name, ".gnu_debuglink") != 0)
			continue;
		Elf_Data *data = nw_section_afford(&budget, &header)
					 ? elf_rawdata(section, NULL)
					 : NULL;
		if (data && data->d_buf)
			read_link(image, data, out);
	}
}

static int try_link(const struct nw_image *image, const char *root, const char *directory,
		    const struct link *link)
{
	nw_cleanup(nw_free_ptr) char *beside = nw_text("%s/%s", directory, link->name);
	nw_cleanup(nw_free_ptr) char *hidden = nw_text("%s/.debug/%s", directory,
						       link->name);
	nw_cleanup(nw_free_ptr) char *far = nw_text("%s%s/%s", debug_root, directory,
						    link->name);
	int fd = try_file(image, root, beside, link);

	if (fd < 0)
		fd = try_file(image, root, hidden, link);
	return fd < 0 ? try_file(image, root, far, link) : fd;
}

/* ---- the whole ---------------------------------------------------------------------- */

/* Length of "/proc/PID/root" at the start of a path: the files of a container. */
static size_t root_length(const char *path)
{
	size_t digits;

	if (strncmp(path, "/proc/", 6) != 0)
		return 0;
	digits = strspn(path + 6, "0123456789");
	return digits && strncmp(path + 6 + digits, "/root/", 6) == 0 ? 6 + digits + 5 : 0;
}

int nw_debug_file_open(const struct nw_image *image, Elf *elf)
{
	size_t len = root_length(image->path);
	nw_cleanup(nw_free_ptr) char *root = strndup(image->path, len);
	/* the debug file is looked for beside the file itself, not beside a link to it; links within
	 * a container are followed within the container */
	nw_cleanup(nw_free_ptr) char *path = len ? strdup(image->path + len)
						 : realpath(image->path, NULL);
	struct link link = {0};
	int fd = root ? try_build_id(image, root) : -1;

	if (fd >= 0 || !root || !path)
		return fd >= 0 ? fd : -ENOENT;
	find_link(image, elf, &link);
	char *slash = strrchr(path, '/');
	if (!*link.name || !slash)
		return -ENOENT;
	*slash = '\0';
	fd = try_link(image, root, path, &link);
	return fd < 0 ? -ENOENT : fd;
}

uint64_t nw_debug_size(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t sum = 0;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		GElf_Chdr packed;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS)
			continue;
		bool is_packed = (header.sh_flags & SHF_COMPRESSED) &&
				 gelf_getchdr(section, &packed);
		uint64_t size = is_packed ? packed.ch_size : header.sh_size;
		sum = size > UINT64_MAX - sum ? UINT64_MAX : sum + size;
	}
	return sum;
}
