// SPDX-License-Identifier: MIT
/* A whole ELF file: headers, segments, notes, symbols, and the operands of its sites. The
 * length's lowest bit says whether sites that are not nops are kept. */
#include <sys/mman.h>
#include <unistd.h>

#include "find/probe/probe.h"
#include "fuzz.h"

/* The file: made once, filled anew for each input. */
static int file_of(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	PROMISE(fd >= 0);
	PROMISE(ftruncate(fd, (off_t)size) == 0);
	PROMISE(pwrite(fd, data, size, 0) == (ssize_t)size);
	return dup(fd);
}

static void check_operands(struct nw_image *image, const struct nw_site *site)
{
	nw_operands operands = {0};

	PROMISE(nw_operands_parse(image->arch, site->args, &operands) == 0);
	nw_operands_resolve(image, site->vaddr, &operands);
	nw_vec_each (&operands, op) {
		PROMISE(op->text >= site->args);
		PROMISE(op->text + op->text_len <= site->args + strlen(site->args));
		if (op->kind == NW_OPERAND_GLOBAL && !op->problem)
			PROMISE(op->resolved);
	}
	nw_vec_free(&operands);
}

static void check_site(struct nw_image *image, const struct nw_site *site, bool force)
{
	struct nw_symbol symbol;

	PROMISE(*site->provider && *site->name);
	PROMISE(site->offset < image->size);
	PROMISE(site->semaphore_offset == 0 || site->semaphore_offset < image->size ||
		site->warning);
	/* what a nop looks like on an unknown machine, nobody knows */
	PROMISE(force || !image->arch || site->nop != NW_NOP_NONE);
	PROMISE(nw_image_offset(image, site->vaddr, true) == (int64_t)site->offset);
	if (image->arch)
		check_operands(image, site);
	if (nw_image_function(image, site->vaddr, &symbol) == 0)
		PROMISE(symbol.name && symbol.value <= site->vaddr);
	nw_image_symbol(image, site->name, strlen(site->name), site->vaddr, &symbol);
}

static void check_image(struct nw_image *image, size_t size, bool force)
{
	struct nw_error err = {0};
	struct nw_symbol symbol;

	PROMISE(image->size == size);
	PROMISE((image->notes == NW_NOTES_FOUND) ==
		(image->sites.count + image->skipped.count > 0));
	nw_vec_each (&image->skipped, skipped)
		PROMISE(skipped->provider && skipped->name && *skipped->why);
	/* the walk is long where thousands of notes lie over each other: a few will do */
	for (size_t i = 0; i < image->sites.count && i < 16; i++)
		check_site(image, &image->sites.item[i], force);
	nw_image_symbol(image, "main", 4, 0, &symbol);
	nw_image_function(image, 0x401010, &symbol);
	nw_image_nop(image, 0);
	nw_image_nop(image, size);
	if (image->notes != NW_NOTES_FOUND || !image->sites.count)
		fuzz_error(nw_image_explain(image, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nw_image *image = NULL;
	struct nw_error err = {0};
	bool force = size & 1;
	int ret = nw_image_open_fd(file_of(data, size), "file", force, &image, &err);

	if (ret < 0) {
		fuzz_error(ret, &err);
		return 0;
	}
	check_image(image, size, force);
	nw_image_free(image);
	return 0;
}
