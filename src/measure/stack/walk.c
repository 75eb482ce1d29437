// SPDX-License-Identifier: MIT
/* Walks a stack: from registers and the copied words of the stack to its functions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/load.h"

#include "modules.h"

enum {
	/* A return probe has replaced the return address, which is unknown */
	TAKEN = -ENOLINK
};

struct walk {
	struct nw_stacks *stacks;
	const struct nw_stack_copy *copy;
	struct nw_maps *maps;
	const struct nw_unwind *unwind;
	struct nw_registers registers;
	unsigned int word; /* size of an address */
	uint64_t base;	   /* address of the first word */
	bool hit;	   /* the walk is still in the function that was hit */
	const unsigned char *words;
	size_t len;
};

static uint64_t number_at(const struct walk *w, const unsigned char *at, unsigned int bytes)
{
	return nw_load_ordered(at, bytes, w->copy->big_endian);
}

static struct nw_return *return_slot(const struct walk *w, uint64_t slot)
{
	uint64_t hash = nw_hash64(slot ^ (uint64_t)(uint32_t)w->copy->thread << 40);

	return &w->stacks->returns[hash & (NW_STACK_RETURNS - 1)];
}

static bool is_return_probe(const struct walk *w, uint64_t value)
{
	const struct nw_region *region = nw_maps_region(w->stacks, w->maps, value);

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

/* Corrects the address to which the callee returns: a return probe may have replaced it, and then the address from
 * the function's entry counts. */
static int real_target(struct walk *w)
{
	struct nw_registers *regs = &w->registers;
	uint64_t slot = regs->value[w->unwind->stack] - w->unwind->pops;

	if (is_return_probe(w, regs->pc)) {
		const struct nw_return *known = return_slot(w, slot);
		if (known->thread != w->copy->thread || known->slot != slot)
			return TAKEN;
		regs->pc = known->target;
	}
	regs->pc &= ~w->unwind->no_address;
	return 0;
}

/* Finds the return address of a function that has just been entered. */
static bool return_address(const struct walk *w, uint64_t *out)
{
	unsigned int link = w->unwind->link;

	if (!w->copy->entry || (link == NW_NO_REGISTER && w->len < w->word))
		return false;
	*out = link == NW_NO_REGISTER ? number_at(w, w->words, w->word)
				      : w->registers.value[link];
	return true;
}

/* Notes the return address at a function's entry, before its return probe replaces it. */
static void note_return(const struct walk *w)
{
	uint64_t target;

	if (return_address(w, &target) && !is_return_probe(w, target))
		*return_slot(w, w->base) = (struct nw_return){w->copy->thread, w->base,
							      target};
}

/* Leaves a function at its first instruction, when it has no frame yet. */
static int leave_entered(struct walk *w, const struct nw_rule *rule)
{
	struct nw_registers *regs = &w->registers;
	uint64_t pc;

	if (!nw_rule_is_entry(rule) || !return_address(w, &pc) || !pc ||
	    !nw_maps_region(w->stacks, w->maps, pc - 1))
		return -ENOENT;
	regs->pc = pc;
	regs->value[w->unwind->stack] += w->unwind->pops;
	return real_target(w) < 0 ? TAKEN : 1;
}

/* Follows the frame pointer to the caller's frame and to the return address. */
static int follow_frames(struct walk *w)
{
	const struct nw_frame_list *list = &w->unwind->frames;
	const struct nw_memory memory = {read_memory, w};
	struct nw_registers *regs = &w->registers;
	const unsigned int stack = w->unwind->stack;
	uint64_t next, pc;

	if (list->reg == NW_NO_REGISTER || !regs->known[list->reg])
		return -ENOENT;
	uint64_t at = regs->value[list->reg];
	if (at % w->word || at < regs->value[stack])
		return -ENOENT;
	int ret = memory.read(memory.arg, at + (uint64_t)list->next, w->word, &next);
	if (ret == 0 && list->back_in_next && !next)
		return 0;
	if (ret == 0)
		ret = memory.read(memory.arg,
				  (list->back_in_next ? next : at) + (uint64_t)list->back,
				  w->word, &pc);
	if (ret < 0)
		return at - w->base < (uint64_t)1 << 20 ? ret : -ENOENT;
	if (!pc)
		return 0;
	*regs = (struct nw_registers){.pc = pc};
	regs->value[stack] = at + (uint64_t)list->end;
	regs->value[list->reg] = next;
	regs->known[list->reg] = regs->known[stack] = true;
	if (real_target(w) < 0)
		return TAKEN;
	return nw_maps_region(w->stacks, w->maps, regs->pc - 1) ? 1 : -ENOENT;
}

/* Goes to the caller. Returns 1: done; 0: there is none; -errno: it is unknown. */
static int step(struct walk *w, const struct nw_region *region, bool call,
		bool *interrupted)
{
	struct nw_module *module = region ? w->stacks->modules.item[region->module] : NULL;
	const struct nw_memory memory = {read_memory, w};
	const uint64_t *stack = &w->registers.value[w->unwind->stack], before = *stack;
	const struct nw_rule *rule = NULL;
	uint64_t pc = w->registers.pc - call, vaddr;
	int ret = -ENOENT;

	*interrupted = false;
	if (module && nw_module_linked(module, region, pc, &vaddr))
		rule = nw_module_rule(w->stacks, region->module, vaddr);
	if (rule)
		ret = nw_rule_step(rule, module->facts.arch, pc - vaddr, &memory,
				   &w->registers, interrupted);
	if (ret == 1 && real_target(w) < 0)
		ret = TAKEN;
	if (ret == -ENOENT || ret == -ENOTSUP)
		ret = w->hit && rule ? leave_entered(w, rule) : -ENOENT;
	if (ret == -ENOENT && rule) {
		ret = nw_rule_step_table(rule, &memory, &w->registers, interrupted);
		if (ret == 1 && real_target(w) < 0)
			ret = TAKEN;
	}
	if (ret == -ENOENT)
		ret = follow_frames(w);
	w->hit = false;
	/* Callers are higher on the stack, except for a function that had nothing on the stack yet. */
	return ret == 1 && *stack < before ? -ENOENT : ret;
}

static enum nw_stack_end end_of(int ret)
{
	return ret == 0		? NW_STACK_WHOLE
	       : ret == TAKEN	? NW_STACK_RETURN
	       : ret == -EFAULT ? NW_STACK_SIZE
				: NW_STACK_LOST;
}

/* Notes how far the memory of a stack that was cut reaches. Reading the maps of a process takes time, so few are looked at. */
static void note_size(const struct walk *w)
{
	enum {
		MOST_SIZED = 64
	};
	struct nw_stacks *stacks = w->stacks;
	nw_mappings maps = {0};
	struct nw_error err;

	if (!stacks->proc || stacks->sized >= MOST_SIZED)
		return;
	stacks->sized++;
	if (nw_process_maps_in(stacks->proc, w->copy->process, &maps, &err) == 0)
		nw_vec_each (&maps, map)
			if (w->base >= map->start && w->base < map->end)
				stacks->needed = nw_max64(stacks->needed,
							  map->end - w->base);
	nw_mappings_free(&maps);
}

static bool begin(struct walk *w)
{
	const struct nw_stack_copy *copy = w->copy;
	const struct nw_unwind *unwind = copy->arch->unwind;

	if (!unwind || copy->len < 8 * unwind->count)
		return false;
	w->unwind = unwind;
	w->word = copy->arch->word;
	w->registers.pc = unwind->has_pc ? number_at(w, copy->bytes, 8) : copy->address;
	w->registers.pc &= ~unwind->no_address;
	for (size_t i = 0; i < unwind->count; i++) {
		unsigned int number = unwind->fetched[i].dwarf;
		if (number == NW_NO_REGISTER)
			continue;
		w->registers.value[number] = number_at(w, copy->bytes + 8 * i, 8);
		w->registers.known[number] = true;
	}
	w->base = w->registers.value[unwind->stack];
	w->words = copy->bytes + 8 * unwind->count;
	w->len = copy->len - 8 * unwind->count;
	return true;
}

int nw_stacks_walk(struct nw_stacks *stacks, const struct nw_stack_copy *copy,
		   nw_walked *out, enum nw_stack_end *end)
{
	struct walk w = {.stacks = stacks, .copy = copy, .hit = true};
	const struct nw_region *region = NULL;
	bool call = false, interrupted = false;
	int ret = 1;

	w.maps = nw_maps_of(stacks, copy->process);
	if (!w.maps)
		return -ENOMEM;
	*end = NW_STACK_LOST;
	w.maps->hit = true;
	w.maps->now = copy->time;
	if (!begin(&w))
		return 0;
	note_return(&w);
	while (ret == 1 && out->count < NW_DEEPEST_STACK) {
		uint64_t pc = w.registers.pc;
		uint32_t first, count;
		region = nw_maps_region(stacks, w.maps, pc - call);
		if (nw_stacks_name(stacks, w.maps, region, pc, call, &first, &count) < 0)
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
	if (*end == NW_STACK_SIZE)
		note_size(&w);
	if (*end == NW_STACK_LOST && region && stacks->modules.item[region->module]->unread)
		*end = NW_STACK_UNREAD;
	return 0;
}
