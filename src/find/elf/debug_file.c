// SPDX-License-Identifier: MIT
/*
 * Finds the debug file of a stripped file (gdb's manual, "Debugging Information in Separate Files"):
 * /usr/lib/debug/.build-id/xx/yyyy.debug, or the name in its .gnu_debuglink section, in the same directory, in
 * .debug/, or below /usr/lib/debug, with a matching checksum.
 *
 * That name is as trustworthy as the file that contains it: it must not be a path, and the file found must be an
 * ELF file of the same kind.
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
#include "debuginfod.h"
#include "symbol.h"

static const char debug_root[] = "/usr/lib/debug";

/* ---- candidates --------------------------------------------------------------------- */

struct link {
	char name[256]; /* "": the section is missing */
	uint32_t crc;
};

/* Computes zlib's CRC-32 of a file. */
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

/* Tells whether this is an ELF file of the same machine, class and byte order. */
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

/* Opens a candidate. Returns -ENOENT if it does not match, or -errno of what was short (nw_shortage()). link: the
 * checksum must match, too. The owner of the directory decides what the name refers to, so it may be a device. */
static int try_file(const struct nw_image *image, enum nw_debug_place place,
		    const char *name, const struct link *link)
{
	const struct nw_debug_files *files = image->debug_files;
	int fd = files ? files->open(files->arg, place, name)
		       : nw_debug_place_open(image->path, place, name);
	struct stat st;
	uint32_t crc;

	if (fd <
	    0) /* the caller of the reader process has its own words for a lack of descriptors */
		return files ? -ENOENT : fd;
	errno = 0;
	if (fstat(fd, &st) == 0 && !nw_is_hollow(fd) &&
	    (st.st_dev != image->dev || st.st_ino != image->ino) && is_sibling(image, fd) &&
	    (!link || (checksum(fd, &crc) == 0 && crc == link->crc)))
		return fd;
	const int shortage = nw_shortage();
	close(fd);
	return shortage ? shortage : -ENOENT;
}

/* Returns the descriptor, or the reason that counts if two candidates have failed: a shortage. */
static int better_of(int ret, int before)
{
	return ret < 0 && nw_is_shortage(-before) ? before : ret;
}

/* ---- .gnu_debuglink ----------------------------------------------------------------- */

/* The section holds the name, its NUL, padding to 4 bytes, and the checksum in the file's byte order. */
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

/* Returns the content of a section that holds a name; NULL: the file has no such section. */
static Elf_Data *small_section(const struct nw_image *image, Elf *elf, const char *wanted)
{
	struct nw_section_budget budget = nw_section_budget(image->size);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;

	while ((section = nw_next_section(elf, section, &header, &name))) {
		if (header.sh_type != SHT_PROGBITS || header.sh_size > 4096 ||
		    strcmp(name, wanted) != 0)
			continue;
		Elf_Data *data = nw_section_afford(&budget, &header)
					 ? elf_rawdata(section, NULL)
					 : NULL;
		if (data && data->d_buf)
			return data;
	}
	return NULL;
}

/* ---- .gnu_debugaltlink -------------------------------------------------------------- */

/* The file that several debug files share, as one of them names it: the section holds a path, its NUL and a build
 * ID. */
struct shared {
	char name[256];	    /* the path behind .dwz/; "": the path has no such directory */
	char build_id[129]; /* "": none */
};

static void read_shared(const Elf_Data *data, struct shared *out)
{
	static const char digits[] = "0123456789abcdef", directory[] = "/.dwz/";
	const char *path = data->d_buf, *nul = memchr(path, '\0', data->d_size);
	const char *below = nul ? strstr(path, directory) : NULL;

	if (!nul)
		return;
	const unsigned char *id = (const unsigned char *)nul + 1;
	size_t len = data->d_size - (size_t)((const char *)id - path);
	for (size_t i = 0; i < len && 2 * i + 2 < sizeof(out->build_id); i++) {
		out->build_id[2 * i] = digits[id[i] >> 4];
		out->build_id[2 * i + 1] = digits[id[i] & 15];
	}
	if (below && strlen(below + strlen(directory)) < sizeof(out->name))
		strcpy(out->name, below + strlen(directory));
}

/* Returns fd if the file has that build ID: in any other file the offsets mean something else. Else closes it, and
 * returns -errno. */
static int with_build_id(int fd, const char *build_id)
{
	struct nw_image *image = NULL;
	int ret = nw_image_open_fd(fd, "", false, &image, NULL);

	if (ret < 0)
		return ret;
	bool same = strcmp(image->build_id, build_id) == 0;
	if (same)
		image->fd = -1; /* the descriptor belongs to the caller again */
	nw_image_free(image);
	return same ? fd : -ENOENT;
}

int nw_shared_debug_open(const struct nw_image *image, Elf *elf)
{
	const enum nw_debug_place places[] = {NW_DEBUG_BUILD_ID, NW_DEBUG_SHARED,
					      NW_DEBUG_FETCHED};
	Elf_Data *data = small_section(image, elf, ".gnu_debugaltlink");
	struct shared shared = {{0}, {0}};
	int ret = -ENOENT;

	if (data)
		read_shared(data, &shared);
	for (size_t i = 0; ret < 0 && *shared.build_id && i < NW_COUNT(places); i++) {
		int fd = try_file(
			image, places[i],
			places[i] == NW_DEBUG_SHARED ? shared.name : shared.build_id, NULL);
		if (fd >= 0)
			fd = with_build_id(fd, shared.build_id);
		ret = better_of(fd, ret);
	}
	return ret;
}

/* ---- the whole ---------------------------------------------------------------------- */

/* Returns the length of "/proc/PID/root" at the start of a path, as the files of a container have; else 0. */
static size_t root_length(const char *path)
{
	size_t digits;

	if (strncmp(path, "/proc/", 6) != 0)
		return 0;
	digits = strspn(path + 6, "0123456789");
	return digits && strncmp(path + 6 + digits, "/root/", 6) == 0 ? 6 + digits + 5 : 0;
}

/* Refuses names that lead out of their directory, since they come from hostile files. */
static bool is_fit(enum nw_debug_place place, const char *name)
{
	size_t len = strlen(name);

	if (place == NW_DEBUG_BUILD_ID || place == NW_DEBUG_FETCHED)
		return len >= 4 && strspn(name, "0123456789abcdef") == len;
	if (place == NW_DEBUG_SHARED) {
		nw_cleanup(nw_free_ptr) char *whole = nw_text("/%s/", name);
		return len && whole && !strstr(whole, "/../");
	}
	return len && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

/* Returns the directory of the file itself, with links resolved, so not the directory of a link to it. Links of a
 * container's file are left to be resolved inside the container. NULL: the file is gone. */
static char *directory_of(const char *path, size_t root)
{
	char *whole = root ? strdup(path + root) : realpath(path, NULL);
	char *slash = whole ? strrchr(whole, '/') : NULL;

	if (slash) {
		*slash = '\0';
		return whole;
	}
	free(whole);
	return NULL;
}

static char *place_path(enum nw_debug_place place, const char *directory, const char *name)
{
	switch (place) {
	case NW_DEBUG_BUILD_ID:
		return nw_text("%s/.build-id/%.2s/%s.debug", debug_root, name, name + 2);
	case NW_DEBUG_BESIDE:
		return nw_text("%s/%s", directory, name);
	case NW_DEBUG_HIDDEN:
		return nw_text("%s/.debug/%s", directory, name);
	case NW_DEBUG_FAR:
		return nw_text("%s%s/%s", debug_root, directory, name);
	default:
		return nw_text("%s/.dwz/%s", debug_root, name);
	}
}

int nw_debug_place_open(const char *path, enum nw_debug_place place, const char *name)
{
	bool in_directory = place != NW_DEBUG_BUILD_ID && place != NW_DEBUG_SHARED &&
			    place != NW_DEBUG_FETCHED;
	size_t len = root_length(path);
	nw_cleanup(nw_free_ptr) char *root = strndup(path, len);

	if (!root)
		return -ENOMEM;
	errno = 0;
	if (!is_fit(place, name))
		return nw_shortage() ? nw_shortage() : -ENOENT;
	if (place == NW_DEBUG_FETCHED)
		return nw_debuginfod_open(name);
	nw_cleanup(nw_free_ptr) char *directory = in_directory ? directory_of(path, len)
							       : NULL;
	if (in_directory && !directory)
		return nw_shortage() ? nw_shortage() : -ENOENT;
	nw_cleanup(nw_free_ptr) char *found = place_path(place, directory, name);
	return found ? nw_open_regular_in(root, found) : -ENOMEM;
}

int nw_debug_file_open(const struct nw_image *image, Elf *elf)
{
	struct link link = {0};
	int fd = *image->build_id
			 ? try_file(image, NW_DEBUG_BUILD_ID, image->build_id, NULL)
			 : -ENOENT;

	if (fd >= 0)
		return fd;
	errno = 0;
	Elf_Data *data = small_section(image, elf, ".gnu_debuglink");
	if (data)
		read_link(image, data, &link);
	else if (nw_shortage() < 0)
		return nw_shortage();
	for (enum nw_debug_place place = NW_DEBUG_BESIDE;
	     *link.name && fd < 0 && place <= NW_DEBUG_FAR; place++)
		fd = better_of(try_file(image, place, link.name, &link), fd);
	if (fd == -ENOENT && *image->build_id)
		fd = try_file(image, NW_DEBUG_FETCHED, image->build_id, NULL);
	return fd;
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
