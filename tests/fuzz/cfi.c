// SPDX-License-Identifier: MIT
/* The call frame information of a file, and 32-bit ARM's tables, walked from addresses all over its code. What is on the stack are the
 * file's own bytes. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "find/dwarf/rule.h"
#include "fuzz.h"

enum {
	STACK = 0x7000, /* where it begins */
	PLACES = 48,	/* in a segment */
	DEEPEST = 6
};

struct bytes {
	const uint8_t *data;
	size_t size;
};

static int read_stack(void *arg, uint64_t address, unsigned int count, uint64_t *out)
{
	const struct bytes *bytes = arg;

	PROMISE(count <= 8);
	if (address < STACK || address - STACK > bytes->size ||
	    bytes->size - (address - STACK) < count)
		return -EFAULT;
	*out = 0;
	memcpy(out, bytes->data + (address - STACK), count);
	return 0;
}

/* One of the two is there. What they say has to pass the check of rules, whatever the file says. */
static struct nw_rule *rule_at(struct nw_cfi *cfi, struct nw_exidx *exidx, uint64_t vaddr)
{
	struct nw_buf bytes = {0}, body = {0};
	unsigned int flags = 0;

	if (cfi)
		(void)nw_cfi_rule(cfi, vaddr, &flags, &body);
	else
		flags = nw_exidx_rule(exidx, vaddr, &body);
	nw_put(&bytes, flags, 1);
	nw_buf_add(&bytes, nw_buf_str(&body), body.len);
	struct nw_rule *rule = nw_rule_load(bytes.data, bytes.len);
	PROMISE(rule);
	nw_buf_free(&bytes);
	nw_buf_free(&body);
	return rule;
}

static void walk(const struct nw_arch *arch, struct nw_cfi *cfi, struct nw_exidx *exidx,
		 uint64_t vaddr, struct bytes *bytes)
{
	const struct nw_memory memory = {read_stack, bytes};
	struct nw_registers registers = {.pc = vaddr};
	bool interrupted;

	for (size_t i = 0; i < NW_COUNT(registers.value); i++) {
		registers.value[i] = STACK + 16 * i;
		registers.known[i] = true;
	}
	for (int i = 0; i < DEEPEST; i++) {
		struct nw_rule *rule = rule_at(cfi, exidx, registers.pc);
		int ret = cfi ? nw_rule_step(rule, arch, 0, &memory, &registers,
					     &interrupted)
			      : nw_rule_step_table(rule, &memory, &registers, &interrupted);
		nw_rule_free(rule);
		PROMISE(ret == 1 || ret == 0 || ret == -ENOENT || ret == -EFAULT ||
			ret == -ENOTSUP);
		if (ret != 1)
			return;
		PROMISE(registers.pc);
	}
}

/* And what may come from a reader that has gone wrong. */
static void load(const uint8_t *data, size_t size, struct bytes *bytes)
{
	const struct nw_memory memory = {read_stack, bytes};
	struct nw_registers registers = {.pc = 1};
	struct nw_rule *rule = nw_rule_load(data, size);
	bool interrupted;

	if (!rule)
		return;
	nw_rule_is_entry(rule);
	nw_rule_step(rule, nw_arch_native(), 0, &memory, &registers, &interrupted);
	nw_rule_step_table(rule, &memory, &registers, &interrupted);
	nw_rule_free(rule);
}

LIBELF_LEAKS

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = {data, size};
	struct nw_image *image = NULL;
	struct nw_error err = {0};
	struct nw_cfi *cfi = NULL;
	struct nw_exidx *exidx = NULL;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	load(data, size, &bytes);
	PROMISE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	int ret = nw_image_open_fd(fd, "file", false, &image, &err);
	if (ret < 0) {
		fuzz_error(ret, &err);
		return 0;
	}
	nw_cfi_open(image, &cfi);
	nw_exidx_open(image, &exidx);
	nw_vec_each (&image->segments, segment)
		for (uint64_t i = 0; segment->exec && i < PLACES; i++) {
			uint64_t vaddr = segment->vaddr + segment->filesz / PLACES * i;
			if (cfi)
				walk(image->arch, cfi, NULL, vaddr, &bytes);
			if (exidx)
				walk(image->arch, NULL, exidx, vaddr, &bytes);
		}
	nw_exidx_free(exidx);
	nw_cfi_free(cfi);
	nw_image_free(image);
	return 0;
}
