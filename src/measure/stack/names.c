// SPDX-License-Identifier: MIT
/* Names addresses in processes: the function, the offset in it, and the file. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "modules.h"

enum {
	MOST_FRAMES = 1 << 18 /* limit of different named frames */
};

/* ---- frames ------------------------------------------------------------------------- */

static int add_frame(struct nw_stacks *stacks, struct nw_buf *text, const char *function)
{
	struct nw_known_frame *frame = text->failed ? NULL : nw_vec_add(&stacks->frames);

	if (!frame)
		return -ENOMEM;
	frame->text = nw_buf_take(text);
	frame->function = strdup(function);
	return frame->text && frame->function ? 0 : -ENOMEM;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Adds the source line if it is known. It comes in front of the closing parenthesis. */
static void add_line(struct nw_buf *text, const struct nw_source_line *line)
{
	if (line && line->file)
		nw_buf_printf(text, ", %s:%u", base_name(line->file), line->line);
}

static int frame_of_nothing(struct nw_stacks *stacks, const char *file, uint64_t at)
{
	nw_cleanup(nw_free_ptr) char *function = *file ? nw_text("[%s]", base_name(file))
						       : strdup(NW_STACK_NAMELESS);
	struct nw_buf text = {0};

	if (*file)
		nw_buf_printf(&text, "0x%" PRIx64 " (%s)", at, file);
	else
		nw_buf_printf(&text, "0x%" PRIx64, at);
	return function ? add_frame(stacks, &text, function) : -ENOMEM;
}

/* Adds the frames of an address: the functions that the compiler has inlined there, and then the function that
 * contains it. */
static int frames_of_image(struct nw_stacks *stacks, uint32_t number, uint64_t vaddr,
			   bool call)
{
	const struct nw_module *module = stacks->modules.item[number];
	struct nw_place_facts place;
	struct nw_buf text = {0};
	int ret = 0;

	if (!nw_module_place(stacks, number, vaddr - call, true, &place))
		return frame_of_nothing(stacks, module->path, vaddr);
	for (size_t i = 0; ret == 0 && i < place.lines.count; i++) {
		const char *name = place.lines.inlined[i].function;
		nw_buf_printf(&text, "%s (inlined, %s", name, module->path);
		add_line(&text, &place.lines.inlined[i].line);
		nw_buf_adds(&text, ")");
		ret = add_frame(stacks, &text, name);
	}
	if (ret < 0)
		return ret;
	if (!place.known)
		return frame_of_nothing(stacks, module->path, vaddr);
	nw_buf_printf(&text, "%s+0x%" PRIx64 " (%s", place.name, vaddr - place.function,
		      module->path);
	add_line(&text, &place.lines.line);
	nw_buf_adds(&text, ")");
	return add_frame(stacks, &text, place.name);
}

static int frames_of_jit(struct nw_stacks *stacks, const struct nw_jit_name *jit,
			 uint64_t address)
{
	struct nw_buf text = {0};

	nw_buf_printf(&text, "%s+0x%" PRIx64 " (generated)", jit->name,
		      address - jit->start);
	return add_frame(stacks, &text, jit->name);
}

/* ---- places that are known ---------------------------------------------------------- */

static uint64_t hash_of(const struct nw_known_place *place)
{
	return nw_hash64(place->address ^ (uint64_t)place->module << 48 ^
			 (uint64_t)(uint32_t)place->pid << 32);
}

static const struct nw_known_place *find_place(const struct nw_stacks *stacks,
					       const struct nw_known_place *wanted)
{
	nw_hash_each (&stacks->place_table, hash_of(wanted), number) {
		const struct nw_known_place *it = &stacks->places.item[number];
		if (it->address == wanted->address && it->module == wanted->module &&
		    it->pid == wanted->pid && it->made == wanted->made &&
		    it->linked == wanted->linked && it->call == wanted->call)
			return it;
	}
	return NULL;
}

static int add_place(struct nw_stacks *stacks, const struct nw_known_place *place)
{
	struct nw_known_place *added = nw_vec_add(&stacks->places);

	if (!added)
		return -ENOMEM;
	*added = *place;
	return nw_hash_table_add(&stacks->place_table, hash_of(place),
				 stacks->places.count - 1);
}

/* Makes frame 0, which stands for all frames that are too many. */
static int add_rest(struct nw_stacks *stacks)
{
	struct nw_buf text = {0};

	if (stacks->frames.count)
		return 0;
	nw_buf_adds(&text, "[others]");
	return add_frame(stacks, &text, "[others]");
}

static int make_frames(struct nw_stacks *stacks, const struct nw_module *module,
		       const struct nw_jit_name *jit, const struct nw_known_place *place)
{
	if (jit)
		return frames_of_jit(stacks, jit, place->address);
	if (place->linked)
		return frames_of_image(stacks, place->module, place->address, place->call);
	return frame_of_nothing(stacks, module ? module->path : "", place->address);
}

int nw_stacks_name(struct nw_stacks *stacks, struct nw_maps *maps,
		   const struct nw_region *region, uint64_t address, bool call,
		   uint32_t *first, uint32_t *count)
{
	struct nw_known_place wanted = {.address = address,
					.call = call,
					.module = region ? region->module : UINT32_MAX,
					.pid = maps->pid};
	const struct nw_module *module = region ? stacks->modules.item[region->module]
						: NULL;
	const struct nw_jit_name *jit = NULL;

	if (module && nw_module_linked(module, region, address - call, &wanted.address)) {
		wanted.address += call;
		wanted.linked = true;
		wanted.pid = 0;
	} else if (!module || module->kind == NW_MODULE_NAMELESS) {
		jit = nw_jit_find(stacks, maps, address - call);
		wanted.made = jit ? jit->order : 0;
	}
	if (add_rest(stacks) < 0)
		return -ENOMEM;
	const struct nw_known_place *known = find_place(stacks, &wanted);
	if (!known && stacks->frames.count < MOST_FRAMES) {
		wanted.first = (uint32_t)stacks->frames.count;
		int ret = make_frames(stacks, module, jit, &wanted);
		if (ret < 0)
			return ret;
		wanted.count = (uint32_t)stacks->frames.count - wanted.first;
		if (add_place(stacks, &wanted) < 0)
			return -ENOMEM;
		known = &wanted;
	}
	*first = known ? known->first : 0;
	*count = known ? known->count : 1;
	return 0;
}

/* Names a frame that had no name. */
static int rename_frame(struct nw_stacks *stacks, const struct nw_known_place *place,
			const struct nw_jit_name *jit)
{
	int ret = frames_of_jit(stacks, jit, place->address);

	if (ret < 0)
		return ret;
	struct nw_known_frame *last = &stacks->frames.item[--stacks->frames.count];
	struct nw_known_frame *frame = &stacks->frames.item[place->first];
	free(frame->text);
	free(frame->function);
	*frame = *last;
	return 0;
}

int nw_stacks_look_again(struct nw_stacks *stacks)
{
	int ret = 0;

	nw_vec_each (&stacks->places, place) {
		if (!stacks->proc || ret < 0)
			break;
		struct nw_maps *maps = place->pid && !place->made
					       ? nw_maps_find(stacks, place->pid)
					       : NULL;
		const struct nw_jit_name *jit = maps ? nw_jit_find(stacks, maps,
								   place->address -
									   place->call)
						     : NULL;
		if (jit)
			ret = rename_frame(stacks, place, jit);
	}
	return ret;
}
