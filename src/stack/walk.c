// SPDX-License-Identifier: MIT
/* From registers and the words of a stack to the functions that are on it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "modules.h"

enum {
	TAKEN = -ENOLINK /* a return probe has taken the address, and nobody knows it */
};

struct walk {
	struct nw_stacks *stacks;
	const struct nw_stack_copy *copy;
	struct nw_traced *traced;
	struct nw_registers registers;
	unsigned int word, stack,
		frame; /* of an address; numbers of stack and frame pointer */
	uint64_t base; /* the address of the first word */
	const unsigned char *words;
	size_t len;
};

static uint64_t number_at(const struct walk *w, const unsigned char *at, unsigned int bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes; i++) {
		unsigned int from = w->copy->big_endian ? i : bytes - 1 - i;
		value = value << 8 | at[from];
	}
	return value;
}

static struct nw_return *return_slot(const struct walk *w, uint64_t slot)
{
	uint64_t hash = nw_hash64(slot ^ (uint64_t)(uint32_t)w->copy->thread << 40);

	return &w->stacks->returns[hash & (NW_STACK_RETURNS - 1)];
}

static bool is_return_probe(const struct walk *w, uint64_t value)
{
	const struct nw_region *region = nw_traced_region(w->stacks, w->traced, value);

	return region && w->stacks->modules.item[region->module]->kind == NW_MODULE_RETURN;
}

static int read_memory(void *arg, uint64_t address, unsigned int bytes, uint64_t *out)
{
	const struct walk *w = arg;

	if (address < w->base || address - w->base + bytes > w->len)
		return -EFAULT;
	*out = number_at(w, w->words + (address - w->base), bytes);
	return 0;
}

/* Where a function returns to, if that has been taken by a return probe. */
static int real_target(const struct walk *w, uint64_t slot, uint64_t *target)
{
	if (!is_return_probe(w, *target))
		return 0;
	const struct nw_return *known = return_slot(w, slot);
	if (known->thread != w->copy->thread || known->slot != slot)
		return TAKEN;
	*target = known->target;
	return 0;
}

/* A function is entered: its return probe comes behind this hit. (x86: the address is on the stack.) */
static void note_return(const struct walk *w)
{
	uint64_t target;

	if (w->copy->entry && w->len >= w->word) {
		target = number_at(w, w->words, w->word);
		if (!is_return_probe(w, target))
			*return_slot(w, w->base) = (struct nw_return){w->copy->thread,
								      w->base, target};
	}
}

/* The frame pointer leads to the caller's, and to where it returns to, behind it. */
static int follow_frame_pointer(struct walk *w)
{
	const struct nw_memory memory = {read_memory, w};
	struct nw_registers *regs = &w->registers;
	uint64_t at = regs->value[w->frame], next, pc;

	if (!(regs->known >> w->frame & 1) || at % w->word || at < regs->value[w->stack])
		return -ENOENT;
	int ret = memory.read(memory.arg, at, w->word, &next);
	if (ret == 0)
		ret = memory.read(memory.arg, at + w->word, w->word, &pc);
	if (ret < 0)
		return at - w->base < (uint64_t)1 << 20 ? ret : -ENOENT;
	ret = real_target(w, at + w->word, &pc);
	if (ret < 0)
		return ret;
	if (!pc)
		return 0;
	if (!nw_traced_region(w->stacks, w->traced, pc - 1))
		return -ENOENT;
	regs->pc = pc;
	regs->value[w->frame] = next;
	regs->value[w->stack] = at + 2 * (uint64_t)w->word;
	regs->known = (uint64_t)1 << w->frame | (uint64_t)1 << w->stack;
	return 1;
}

/* 1: to the caller; 0: there is none; -errno: it cannot be told. */
static int step(struct walk *w, const struct nw_region *region, bool call,
		bool *interrupted)
{
	struct nw_module *module = region ? w->stacks->modules.item[region->module] : NULL;
	struct nw_cfi *cfi = module ? nw_module_cfi(module) : NULL;
	const struct nw_memory memory = {read_memory, w};
	uint64_t pc = w->registers.pc - call, vaddr, stack = w->registers.value[w->stack];
	int ret = -ENOENT;

	*interrupted = false;
	if (cfi && nw_module_linked(module, region, pc, &vaddr))
		ret = nw_cfi_step(cfi, vaddr, pc - vaddr, &memory, w->stack, &w->registers,
				  interrupted);
	if (ret == 1)
		ret = real_target(w, w->registers.value[w->stack] - w->word,
				  &w->registers.pc) < 0
			      ? TAKEN
			      : 1;
	else if (ret == -ENOENT || ret == -ENOTSUP)
		ret = follow_frame_pointer(w);
	/* callers are further up, but for one whose function had nothing on the stack yet */
	return ret == 1 && w->registers.value[w->stack] < stack ? -ENOENT : ret;
}

static enum nw_stack_end end_of(int ret)
{
	return ret == 0		? NW_STACK_WHOLE
	       : ret == TAKEN	? NW_STACK_RETURN
	       : ret == -EFAULT ? NW_STACK_SIZE
				: NW_STACK_LOST;
}

static bool begin(struct walk *w)
{
	const struct nw_stack_copy *copy = w->copy;
	size_t count;
	const struct nw_unwind_register *regs = nw_arch_unwind(copy->arch, &count);

	if (count < 3 || copy->len < 8 * count)
		return false;
	w->word = nw_arch_word(copy->arch);
	w->stack = regs[1].dwarf;
	w->frame = regs[2].dwarf;
	for (size_t i = 0; i < count; i++) {
		w->registers.value[regs[i].dwarf] = number_at(w, copy->bytes + 8 * i, 8);
		w->registers.known |= (uint64_t)1 << regs[i].dwarf;
	}
	w->registers.pc = w->registers.value[regs[0].dwarf];
	w->base = w->registers.value[w->stack];
	w->words = copy->bytes + 8 * count;
	w->len = copy->len - 8 * count;
	return true;
}

int nw_stacks_walk(struct nw_stacks *stacks, const struct nw_stack_copy *copy,
		   nw_walked *out, enum nw_stack_end *end)
{
	struct walk w = {.stacks = stacks, .copy = copy};
	bool call = false, interrupted = false;
	int ret = 1;

	w.traced = nw_traced_of(stacks, copy->process);
	if (!w.traced)
		return -ENOMEM;
	*end = NW_STACK_LOST;
	w.traced->hit = true;
	w.traced->now = copy->time;
	if (!begin(&w))
		return 0;
	note_return(&w);
	while (ret == 1 && out->count < NW_DEEPEST_STACK) {
		uint64_t pc = w.registers.pc;
		const struct nw_region *region = nw_traced_region(stacks, w.traced,
								  pc - call);
		uint32_t first, count;
		if (nw_stacks_name(stacks, w.traced, region, pc, call, &first, &count) < 0)
			return -ENOMEM;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t *slot = nw_vec_add(out);
			if (!slot)
				return -ENOMEM;
			*slot = first + i;
		}
		ret = step(&w, region, call, &interrupted);
		call = !interrupted;
	}
	*end = ret == 1 ? NW_STACK_DEEP : end_of(ret);
	return 0;
}
