// SPDX-License-Identifier: MIT
/*
 * An ELF file: its identity, its segments and its USDT notes.
 *
 * libelf reads headers and sections. Nothing is mapped, so that a file that shrinks meanwhile causes a failed read
 * and not a SIGBUS. Three things that are easy to get wrong are done here once:
 *
 * - The pc of a note is corrected by the difference between the address of .stapsdt.base and the
 *    base that the note recorded (prelink moves both), but only if both exist: linkers that drop
 *    the section leave 0 in the note (mold issue 1510).
 * - The file offset comes from the PT_LOAD that holds the address, never from section headers or
 *    from "the first segment" (llvm issue 66630). The semaphore has a PT_LOAD of its own.
 * - A bad note does not affect the others: it is listed as skipped, with the reason.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "budget.h"
#include "find/arch/arch.h"
#include "note.h"
#include "symbol.h"

static void find_build_id(struct nw_image *image, Elf_Data *data)
{
	static const char digits[] = "0123456789abcdef";
	const size_t most = (sizeof(image->build_id) - 1) / 2;
	GElf_Nhdr note;
	size_t at = 0, name_at, desc_at;

	while (!image->build_id[0] &&
	       (at = gelf_getnote(data, at, &note, &name_at, &desc_at)) > 0) {
		const unsigned char *bytes = data->d_buf;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp(bytes + name_at, "GNU", 4) != 0)
			continue;
		for (size_t i = 0; i < note.n_descsz && i < most; i++) {
			image->build_id[2 * i] = digits[bytes[desc_at + i] >> 4];
			image->build_id[2 * i + 1] = digits[bytes[desc_at + i] & 15];
		}
	}
}

/* Adds the segment's address and its bytes, at most `left`, to the hash. */
static int hash_segment(const struct nw_image *image, const struct nw_segment *segment,
			uint64_t *left, uint64_t *hash)
{
	uint64_t words[4096], at = 0, len = nw_min64(segment->filesz, *left);

	*hash = nw_hash64(*hash ^ segment->vaddr);
	*hash = nw_hash64(*hash ^ segment->filesz);
	while (at < len) {
		ssize_t got = pread(image->fd, words,
				    (size_t)nw_min64(len - at, sizeof(words)),
				    (off_t)(segment->offset + at));
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		memset((char *)words + got, 0, sizeof(words) - (size_t)got);
		for (size_t i = 0; i < ((size_t)got + 7) / 8; i++)
			*hash = nw_hash64(*hash ^ words[i]);
		at += (uint64_t)got;
	}
	*left -= len;
	return 0;
}

int nw_image_identity(const struct nw_image *image, char out[NW_IDENTITY])
{
	uint64_t left = NW_MOST_HASHED, hash = 0;
	int ret = 0;

	if (*image->build_id) {
		snprintf(out, NW_IDENTITY, "build-id:%s", image->build_id);
		return 0;
	}
	nw_vec_each (&image->segments, segment)
		if (segment->exec && ret == 0)
			ret = hash_segment(image, segment, &left, &hash);
	snprintf(out, NW_IDENTITY, "code:%016" PRIx64, hash);
	return ret;
}

/* ---- headers ------------------------------------------------------------------------ */

static int read_header(struct nw_image *image, Elf *elf, GElf_Ehdr *header,
		       struct nw_error *err)
{
	if (elf_kind(elf) == ELF_K_AR)
		return nw_fail(
			err, ENOEXEC,
			"'%s' is an archive, whose code is linked into programs: name the program",
			image->path);
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, header))
		return nw_fail(err, ENOEXEC, "'%s' is not an ELF file", image->path);
	image->elf64 = header->e_ident[EI_CLASS] == ELFCLASS64;
	image->big_endian = header->e_ident[EI_DATA] == ELFDATA2MSB;
	image->executable = header->e_type == ET_EXEC;
	image->machine = header->e_machine;
	image->flags = header->e_flags;
	image->arch = nw_arch_find(header->e_machine, image->elf64, image->big_endian);
	return 0;
}

static int read_segments(struct nw_image *image, Elf *elf, struct nw_error *err)
{
	size_t count = 0;

	if (elf_getphdrnum(elf, &count) < 0)
		return nw_fail(err, ENOEXEC, "the program headers of '%s' are damaged: %s",
			       image->path, elf_errmsg(-1));
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		/* The number of segments is limited because each address is searched in all of them. */
		if (image->segments.count == NW_MOST_SEGMENTS)
			return nw_fail(err, EFBIG, "'%s' has more than %d segments",
				       image->path, NW_MOST_SEGMENTS);
		struct nw_segment *segment = nw_vec_add(&image->segments);
		if (!segment)
			return nw_no_memory(err);
		*segment = (struct nw_segment){
			.vaddr = header.p_vaddr,
			.offset = header.p_offset,
			.filesz = header.p_filesz,
			.memsz = header.p_memsz,
			.exec = header.p_flags & PF_X,
			.write = header.p_flags & PF_W,
		};
	}
	return 0;
}

int64_t nw_image_offset(const struct nw_image *image, uint64_t vaddr, bool exec)
{
	nw_vec_each (&image->segments, segment) {
		if (exec && !segment->exec)
			continue;
		if (vaddr < segment->vaddr || vaddr - segment->vaddr >= segment->filesz)
			continue;
		uint64_t offset = vaddr - segment->vaddr + segment->offset;
		if (offset < segment->offset || offset >= image->size)
			return -1;
		return (int64_t)offset;
	}
	return -1;
}

bool nw_segments_vaddr(const nw_segments *segments, uint64_t offset, uint64_t *vaddr)
{
	nw_vec_each (segments, segment) {
		if (!segment->exec || offset < segment->offset ||
		    offset - segment->offset >= segment->filesz)
			continue;
		*vaddr = offset - segment->offset + segment->vaddr;
		return true;
	}
	return false;
}

bool nw_image_vaddr(const struct nw_image *image, uint64_t offset, uint64_t *vaddr)
{
	return nw_segments_vaddr(&image->segments, offset, vaddr);
}

/* ---- sites -------------------------------------------------------------------------- */

/* Lists a note as skipped. Returns 0 or -ENOMEM. */
nw_format(3, 4) static int skip(struct nw_image *image, const struct nw_note *note,
				const char *fmt, ...)
{
	struct nw_skipped *skipped = nw_vec_add(&image->skipped);
	struct nw_buf why = {0};
	va_list args;

	if (!skipped)
		return -ENOMEM;
	va_start(args, fmt);
	nw_buf_vprintf(&why, fmt, args);
	va_end(args);
	skipped->provider = note->provider;
	skipped->name = note->name;
	skipped->vaddr = note->pc;
	skipped->why = nw_buf_take(&why);
	return skipped->why ? 0 : -ENOMEM;
}

/* A piece of code that was read. Sites lie close together, and a system call for each of them would take longer
 * than everything else that is done with it. */
struct code {
	uint64_t at;
	size_t len;
	unsigned char bytes[4096];
};

static enum nw_nop nop_at(const struct nw_image *image, struct code *code, uint64_t offset)
{
	enum {
		LONGEST = 16
	};

	if (!image->arch)
		return NW_NOP_NONE;
	if (offset < code->at || offset - code->at >= code->len ||
	    code->len - (offset - code->at) < LONGEST) {
		ssize_t got = pread(image->fd, code->bytes, sizeof(code->bytes),
				    (off_t)offset);
		code->at = offset;
		code->len = got > 0 ? (size_t)got : 0;
	}
	size_t from = (size_t)(offset - code->at), left = code->len - from;
	return left ? nw_nop_at(image->arch, code->bytes + from,
				left < LONGEST ? left : LONGEST)
		    : NW_NOP_NONE;
}

bool nw_image_is_at(const struct nw_image *image, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_dev == image->dev && st.st_ino == image->ino;
}

enum nw_nop nw_image_nop(const struct nw_image *image, uint64_t offset)
{
	unsigned char code[16];
	ssize_t got = pread(image->fd, code, sizeof(code), (off_t)offset);

	return got > 0 && image->arch ? nw_nop_at(image->arch, code, (size_t)got)
				      : NW_NOP_NONE;
}

/* Returns the file offset of a semaphore by its own, writable PT_LOAD; sets *warning if there is none. */
static uint64_t semaphore_offset(const struct nw_image *image, uint64_t vaddr,
				 const char **warning)
{
	nw_vec_each (&image->segments, segment) {
		if (vaddr < segment->vaddr || vaddr - segment->vaddr >= segment->memsz)
			continue;
		if (segment->exec || !segment->write)
			break;
		uint64_t at = vaddr - segment->vaddr, offset = at + segment->offset;
		if (segment->filesz < 2 || at > segment->filesz - 2)
			*warning =
				"its semaphore lies past the file's data (.bss), where the kernel cannot count";
		else if (offset < at || image->size < 2 || offset > image->size - 2)
			*warning = "its semaphore lies past the end of the file";
		return offset < at ? 0 : offset;
	}
	*warning = "its semaphore's address is in no writable segment";
	return 0;
}

/*
 * Skips a note whose site is not a nop. base: the address of .stapsdt.base; 0: the file has none. If the base is
 * missing in the file or in the note, that may be the reason, because nothing tells how far prelink has moved the
 * code.
 */
static int skip_site(struct nw_image *image, const struct nw_note *note, uint64_t base,
		     uint64_t offset, enum nw_nop nop)
{
	unsigned char code[16];
	ssize_t got = pread(image->fd, code, sizeof(code), (off_t)offset);
	const char *barred = got > 0 ? nw_nop_barred(image->arch, code, (size_t)got) : NULL;

	if (barred) {
		int ret = skip(image, note, "at 0x%llx there is %s",
			       (unsigned long long)note->pc, barred);
		if (ret == 0)
			image->skipped.item[image->skipped.count - 1].barred = true;
		return ret;
	}
	int ret = skip(
		image, note,
		nop == NW_NOP_TRAP
			? "there is a breakpoint at 0x%llx: the note does not belong to this code%s"
			: "there is no nop at 0x%llx: the note does not belong to this code%s",
		(unsigned long long)note->pc,
		!note->base ? " (the linker lost its .stapsdt.base)"
		: !base	    ? " (the file's .stapsdt.base is gone)"
			    : "");
	if (ret == 0)
		image->skipped.item[image->skipped.count - 1].trap = nop == NW_NOP_TRAP;
	return ret;
}

/*
 * Did the linker drop the code of a note that is in no executable segment? ld.lld then writes how far behind the
 * beginning of its section the code was (--gc-sections): at most the length of a large function, and in front of all
 * code of the file.
 */
static bool is_dropped(const struct nw_image *image, const struct nw_note *note,
		       uint64_t base)
{
	if (note->pc >= 0x10000 || (note->base && note->base != base))
		return false;
	nw_vec_each (&image->segments, segment)
		if (segment->exec && note->pc >= segment->vaddr)
			return false;
	return true;
}

static int skip_dropped(struct nw_image *image, const struct nw_note *note, const char *why)
{
	int ret = skip(image, note, "%s", why);

	if (ret == 0)
		image->skipped.item[image->skipped.count - 1].dropped = true;
	return ret;
}

static int add_site(struct nw_image *image, const struct nw_note *note, uint64_t base,
		    bool force, struct code *code)
{
	if (note->pc == 0)
		return skip_dropped(
			image, note,
			"its address is 0: the linker dropped the code it stood in");
	int64_t offset = nw_image_offset(image, note->pc, true);
	if (offset < 0) {
		nw_cleanup(nw_free_ptr) char *why = nw_text(
			"address 0x%llx is in no executable segment%s",
			(unsigned long long)note->pc,
			note->base && !base ? " (the file's .stapsdt.base is gone)" : "");
		return !why			       ? -ENOMEM
		       : is_dropped(image, note, base) ? skip_dropped(image, note, why)
						       : skip(image, note, "%s", why);
	}
	enum nw_nop nop = nop_at(image, code, (uint64_t)offset);
	if (image->arch && (nop == NW_NOP_NONE || nop == NW_NOP_TRAP) && !force)
		return skip_site(image, note, base, (uint64_t)offset, nop);
	struct nw_site *site = nw_vec_add(&image->sites);
	if (!site)
		return -ENOMEM;
	*site = (struct nw_site){.provider = note->provider,
				 .name = note->name,
				 .args = note->args,
				 .vaddr = note->pc,
				 .offset = (uint64_t)offset,
				 .nop = nop,
				 .semaphore_vaddr = note->semaphore};
	if (note->semaphore)
		site->semaphore_offset = semaphore_offset(image, note->semaphore,
							  &site->warning);
	return 0;
}

/* Records what is wrong with .stapsdt.base. A linker that drops it writes 0 into the notes. */
static void check_base(struct nw_image *image, const struct nw_note *note, uint64_t base)
{
	if (!base)
		image->base_problem =
			note->base
				? "its notes were written for a .stapsdt.base, which is gone: their addresses are wrong if anything moves the code"
				: "the linker dropped .stapsdt.base: addresses of notes are wrong if anything moves the code; link with -Wl,-u,_.stapsdt.base";
	else if (!note->base)
		image->base_problem =
			"a note does not say where .stapsdt.base was: its address is wrong if anything moves the code";
}

static int read_notes(struct nw_image *image, const char *data, size_t len, uint64_t base,
		      bool force, struct code *code)
{
	struct nw_note note;
	const char *why;
	size_t at = 0;
	int ret;

	while ((ret = nw_note_next(data, len, image->elf64, image->big_endian, &at, &note,
				   &why)) != 0) {
		if (ret < 0) {
			ret = skip(image, &note, "%s", why);
		} else {
			uint64_t moved = base && note.base ? base - note.base : 0;
			check_base(image, &note, base);
			if (note.pc) /* 0: the linker dropped the code (--gc-sections), so there is nothing to correct */
				note.pc += moved;
			if (note.semaphore)
				note.semaphore += moved;
			ret = add_site(image, &note, base, force, code);
		}
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* ---- sections ----------------------------------------------------------------------- */

struct sections {
	Elf *elf;
	size_t names;  /* index of the string table of section names */
	uint64_t base; /* address of .stapsdt.base; 0: the file has none */
	NW_VEC(Elf_Scn *) notes;
	size_t note_size;
	struct nw_section_budget budget;
};

static int read_section(struct nw_image *image, struct sections *found, Elf_Scn *section)
{
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header))
		return 0;
	if (header.sh_type == SHT_NOTE && !image->build_id[0] && header.sh_size <= 4096 &&
	    nw_section_afford(&found->budget, &header)) {
		Elf_Data *data = elf_getdata(section, NULL);
		if (data && data->d_buf)
			find_build_id(image, data);
	}
	if (header.sh_type != SHT_NOTE && header.sh_type != SHT_PROGBITS)
		return 0;
	const char *name = elf_strptr(found->elf, found->names, header.sh_name);
	if (name && strcmp(name, ".stapsdt.base") == 0)
		found->base = header.sh_addr;
	if (name &&
	    (strcmp(name, ".go.buildinfo") == 0 || strcmp(name, ".note.go.buildid") == 0))
		image->go = true;
	if (!name || header.sh_type != SHT_NOTE || strcmp(name, ".note.stapsdt") != 0)
		return 0;
	if (header.sh_size > image->size || header.sh_offset > image->size - header.sh_size)
		return 0;
	/* Sections of an honest file do not overlap, so all of them together are not larger than the file. */
	if (header.sh_size > image->size - found->note_size)
		return 0;
	Elf_Scn **slot = nw_vec_add(&found->notes);
	if (!slot)
		return -ENOMEM;
	*slot = section;
	found->note_size += header.sh_size;
	return 0;
}

static int find_sections(struct nw_image *image, struct sections *found)
{
	Elf_Scn *section = NULL;
	size_t count = 0;

	if (elf_getshdrnum(found->elf, &count) < 0 || count == 0 ||
	    elf_getshdrstrndx(found->elf, &found->names) < 0) {
		image->notes = NW_NOTES_NO_SECTIONS;
		return 0;
	}
	while ((section = elf_nextscn(found->elf, section))) {
		int ret = read_section(image, found, section);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Copies all note sections, one behind the other, and takes the sites from the copy. */
static int take_notes(struct nw_image *image, const struct sections *found, bool force)
{
	struct code code = {.len = 0};
	size_t used = 0;

	image->note_data = malloc(found->note_size);
	if (!image->note_data)
		return -ENOMEM;
	nw_vec_each (&found->notes, section) {
		Elf_Data *data = elf_rawdata(*section, NULL);
		if (!data || !data->d_buf || data->d_size > found->note_size - used)
			continue;
		char *copy = image->note_data + used;
		memcpy(copy, data->d_buf, data->d_size);
		used += data->d_size;
		int ret = read_notes(image, copy, data->d_size, found->base, force, &code);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int read_sections(struct nw_image *image, Elf *elf, bool linked, bool force)
{
	struct sections found = {.elf = elf, .budget = nw_section_budget(image->size)};
	int ret = 0;

	image->notes = NW_NOTES_NONE;
	if (find_sections(image, &found) < 0)
		ret = -ENOMEM;
	else if (found.note_size && !linked)
		image->notes = NW_NOTES_UNLINKED;
	else if (found.note_size) {
		ret = take_notes(image, &found, force);
		if (image->sites.count || image->skipped.count)
			image->notes = NW_NOTES_FOUND;
	}
	nw_vec_free(&found.notes);
	return ret;
}

int nw_image_explain(const struct nw_image *image, struct nw_error *err)
{
	const char *path = image->path;

	switch (image->notes) {
	case NW_NOTES_NO_SECTIONS:
		nw_fail(err, ENOENT,
			"the section headers of '%s' are gone, and its USDT notes with them",
			path);
		nw_error_hint(err, "use the file as it was before sstrip or a packer");
		return -ENOENT;
	case NW_NOTES_UNLINKED:
		nw_fail(err, ENOENT,
			"'%s' is not linked yet: its USDT notes have no addresses", path);
		nw_error_hint(err, "use the program or library it becomes a part of");
		return -ENOENT;
	case NW_NOTES_NONE:
		nw_fail(err, ENOENT, "no USDT notes in '%s'", path);
		nw_error_hint(
			err,
			"it was built without them (PostgreSQL: --enable-dtrace, Python: --with-dtrace, OpenJDK: --enable-dtrace), or they were stripped (llvm-strip, strip -R .note.stapsdt)");
		return -ENOENT;
	default:
		return nw_fail(err, ENOENT,
			       "none of the %zu USDT notes in '%s' can be used: %s",
			       image->skipped.count, path,
			       image->skipped.count ? image->skipped.item[0].why : "empty");
	}
}

/* ---- opening ------------------------------------------------------------------------ */

static int read_image(struct nw_image *image, bool force, struct nw_error *err)
{
	GElf_Ehdr header;
	Elf *elf = NULL;
	struct stat st;

	if (fstat(image->fd, &st) < 0)
		return nw_fail(err, errno, "cannot examine '%s': %s", image->path,
			       nw_strerror(errno));
	if (S_ISDIR(st.st_mode))
		return nw_fail(err, EISDIR, "'%s' is a directory", image->path);
	if (!S_ISREG(st.st_mode))
		return nw_fail(err, ENOEXEC, "'%s' is not a regular file", image->path);
	if (nw_is_hollow(image->fd))
		return nw_fail(
			err, EFBIG,
			"'%s' is said to have %llu bytes, and nearly all of them are a hole: it is not read",
			image->path, (unsigned long long)st.st_size);
	image->dev = st.st_dev;
	image->ino = st.st_ino;
	image->size = (uint64_t)st.st_size;
	image->mtime = st.st_mtim.tv_sec;
	image->overlay = nw_is_overlay(image->fd);
	if (elf_version(EV_CURRENT) == EV_NONE)
		return nw_fail(err, ENOSYS, "libelf is too old: %s", elf_errmsg(-1));
	errno = 0;
	elf = elf_begin(image->fd, ELF_C_READ, NULL);
	int ret = elf ? read_header(image, elf, &header, err)
		      : nw_fail(err, ENOEXEC, "cannot read '%s': %s", image->path,
				elf_errmsg(-1));
	if (ret == 0)
		ret = read_segments(image, elf, err);
	if (ret == 0 && read_sections(image, elf, header.e_type != ET_REL, force) < 0)
		ret = nw_no_memory(err);
	/* Remembers that a section could not be read, since it would count as missing otherwise. */
	image->failed = nw_shortage();
	elf_end(elf);
	return image->failed ? nw_image_check(image, err) : ret;
}

int nw_image_check(const struct nw_image *image, struct nw_error *err)
{
	if (!image->failed)
		return 0;
	return nw_fail(err, -image->failed, "cannot read '%s': %s", image->path,
		       nw_strerror(-image->failed));
}

int nw_image_open_fd(int fd, const char *path, bool force, struct nw_image **out,
		     struct nw_error *err)
{
	struct nw_image *image = calloc(1, sizeof(*image));

	if (!image) {
		close(fd);
		return nw_no_memory(err);
	}
	image->fd = fd;
	image->path = strdup(path);
	int ret = image->path ? read_image(image, force, err) : nw_no_memory(err);
	if (ret < 0) {
		nw_image_free(image);
		return ret;
	}
	*out = image;
	return 0;
}

int nw_image_open(const char *path, bool force, struct nw_image **out, struct nw_error *err)
{
	int fd = nw_open_regular(AT_FDCWD, path);

	if (fd == -EISDIR)
		return nw_fail(err, EISDIR, "'%s' is a directory", path);
	if (fd == -ENXIO)
		return nw_fail(err, ENOEXEC, "'%s' is not a regular file", path);
	if (fd < 0)
		return nw_fail(err, -fd, "cannot open '%s': %s", path, nw_strerror(-fd));
	return nw_image_open_fd(fd, path, force, out, err);
}

const char nw_kernel_path[] = "[kernel]";

int nw_image_of_kernel(struct nw_image **out)
{
	struct nw_image *image = calloc(1, sizeof(*image));
	struct utsname here;

	if (!image)
		return -ENOMEM;
	image->fd = -1;
	image->kernel = true;
	image->arch = uname(&here) == 0 ? nw_arch_by_name(here.machine) : NULL;
	if (!image->arch) /* "i686", "armv7l" */
		image->arch = nw_arch_native();
	image->elf64 = image->arch && image->arch->word == 8;
	image->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	image->path = strdup(nw_kernel_path);
	if (!image->path) {
		nw_image_free(image);
		return -ENOMEM;
	}
	*out = image;
	return 0;
}

void nw_image_free(struct nw_image *image)
{
	if (!image)
		return;
	nw_vec_each (&image->skipped, skipped)
		free(skipped->why);
	nw_vec_free(&image->skipped);
	nw_vec_free(&image->sites);
	nw_vec_free(&image->segments);
	nw_symbols_free(image->symbols);
	free(image->note_data);
	free(image->path);
	if (image->fd >= 0)
		close(image->fd);
	free(image);
}

bool nw_image_lacks_code(const struct nw_image *image)
{
	Elf *elf = elf_begin(image->fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	bool empty = false, code = false;

	while (elf && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
			continue;
		empty |= header.sh_type == SHT_NOBITS;
		code |= header.sh_type != SHT_NOBITS;
	}
	elf_end(elf);
	return empty && !code;
}
