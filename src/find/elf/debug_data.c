// SPDX-License-Identifier: MIT
/*
 * Symbols that a file carries in compressed form: .gnu_debugdata is an ELF file, packed by xz, that has only a
 * .symtab of functions ("MiniDebugInfo" of Fedora and RHEL).
 */
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"

#include "budget.h"
#include "symbol.h"

#ifdef NW_HAVE_LZMA
#include <lzma.h>

/* The functions of liblzma that are called. Unless liblzma is linked, it is opened on first use. */
#define FUNCTIONS(each) each(lzma_stream_decoder) each(lzma_code) each(lzma_end)

struct lzma {
#define POINTER(name) __typeof__(&(name)) name;
	FUNCTIONS(POINTER)
};

static bool open_lzma(struct lzma *out)
{
#ifdef NW_LINKED_LZMA
#define ADDRESS(name) (void (*)(void))(name)
#else
#define ADDRESS(name) NULL
#endif
#define ROW(name) {#name, offsetof(struct lzma, name), ADDRESS(name)},
	static const struct nw_library_function functions[] = {FUNCTIONS(ROW)};

	return nw_library_open(NW_LZMA_LIBRARY, functions, NW_COUNT(functions), out);
}

enum {
	MOST_PACKED = 64 << 20,
	MOST_UNPACKED = 256 << 20,
	LEAST_UNPACKED = 16 << 20,
	/* Factor of unpacked to packed bytes; real files have at most ten. */
	MOST_TIMES = 64,
	/* Of the decoder: a hostile header could ask for 4 GiB. */
	MOST_MEMORY = 128 << 20,
};

/* Unpacks into out, which grows. A file that cannot be unpacked counts as one without symbols. */
static int unpack(const struct lzma *lzma, lzma_stream *stream, struct nw_buf *out)
{
	size_t most = LEAST_UNPACKED + MOST_TIMES * stream->avail_in;
	lzma_ret state = LZMA_OK;

	nw_cleanup(nw_free_ptr) uint8_t *chunk = malloc(1 << 16);
	if (!chunk)
		return -ENOMEM;
	if (most > MOST_UNPACKED)
		most = MOST_UNPACKED;
	while (state == LZMA_OK && out->len < most && !out->failed) {
		stream->next_out = chunk;
		stream->avail_out = 1 << 16;
		state = lzma->lzma_code(stream, LZMA_FINISH);
		nw_buf_add(out, (const char *)chunk, (1 << 16) - stream->avail_out);
	}
	if (out->failed)
		return -ENOMEM;
	return state == LZMA_STREAM_END ? 0 : -EBADMSG;
}

static int unpack_section(Elf_Scn *section, struct nw_buf *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	struct lzma lzma;
	Elf_Data *data = elf_rawdata(section, NULL);

	if (!data || !data->d_buf || data->d_size > MOST_PACKED)
		return -EBADMSG;
	if (!open_lzma(&lzma))
		return -ENOENT;
	if (lzma.lzma_stream_decoder(&stream, MOST_MEMORY, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	int ret = unpack(&lzma, &stream, out);
	lzma.lzma_end(&stream);
	return ret;
}

int nw_debug_data_read(Elf *elf, struct nw_buf *out)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;

	while ((section = nw_next_section(elf, section, &header, &name)))
		if (header.sh_type == SHT_PROGBITS && strcmp(name, ".gnu_debugdata") == 0)
			return unpack_section(section, out);
	return -ENOENT;
}

void nw_debug_data_prepare(void)
{
	struct lzma ignored;

	(void)open_lzma(&ignored);
}
#else
void nw_debug_data_prepare(void)
{
}

int nw_debug_data_read(Elf *elf, struct nw_buf *out)
{
	(void)elf;
	(void)out;
	return -ENOENT;
}
#endif
