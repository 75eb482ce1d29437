// SPDX-License-Identifier: MIT
/* Stacks, each kept once, and the facts that a recording needs to name them again. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "modules.h"
#include "plan/plan.h"

const char *const nw_stack_end_words[NW_STACK_ENDS] = {
	[NW_STACK_WHOLE] = "whole",	    [NW_STACK_SIZE] = "size",
	[NW_STACK_LOST] = "unknown",	    [NW_STACK_UNREAD] = "unread",
	[NW_STACK_RETURN] = "return-probe", [NW_STACK_DEEP] = "deep",
	[NW_STACK_OTHERS] = "others",	    [NW_STACK_NONE] = "none",
};

const char *const nw_stack_end_texts[NW_STACK_ENDS] = {
	[NW_STACK_WHOLE] = NULL,
	[NW_STACK_SIZE] =
		"cut off: only so many bytes of the stack were fetched (--stack-size)",
	[NW_STACK_LOST] =
		"cut off: neither call frame information nor a frame pointer tells who called",
	[NW_STACK_UNREAD] = "cut off: the file of the function there could not be read",
	[NW_STACK_RETURN] =
		"cut off: a return probe has taken the place of the return address",
	[NW_STACK_DEEP] = "cut off: deeper than 256 functions",
	[NW_STACK_OTHERS] = "one of those beyond 65536 different stacks",
	[NW_STACK_NONE] = "not known: what was fetched of it is lost",
};

enum {
	OTHERS = 1 /* the number that all stacks beyond the limit share */
};

int nw_stacks_open(const char *proc, struct nw_stacks **out)
{
	struct nw_stacks *stacks = calloc(1, sizeof(*stacks));

	*out = stacks;
	if (!stacks)
		return -ENOMEM;
	stacks->proc = proc ? strdup(proc) : NULL;
	stacks->returns = calloc(NW_STACK_RETURNS, sizeof(*stacks->returns));
	/* Stacks NW_STACK_NONE and OTHERS have no frames. */
	struct nw_known_stack *none = nw_vec_add(&stacks->stacks);
	struct nw_known_stack *others = none ? nw_vec_add(&stacks->stacks) : NULL;
	if (!stacks->proc != !proc || !stacks->returns || !others ||
	    nw_reader_open(&stacks->reader) < 0) {
		nw_stacks_free(stacks);
		*out = NULL;
		return -ENOMEM;
	}
	stacks->stacks.item[0].end = NW_STACK_NONE;
	others->end = NW_STACK_OTHERS;
	return 0;
}

void nw_stacks_linked(struct nw_stacks *stacks)
{
	nw_reader_linked(stacks->reader);
}

void nw_stacks_free(struct nw_stacks *stacks)
{
	if (!stacks)
		return;
	nw_map_watch_free(stacks->watch);
	nw_vec_each (&stacks->modules, module)
		nw_module_free(*module);
	nw_vec_free(&stacks->modules);
	nw_index_free(&stacks->module_keys);
	nw_maps_free_all(stacks);
	nw_vec_each (&stacks->frames, frame) {
		free(frame->text);
		free(frame->function);
	}
	nw_vec_free(&stacks->frames);
	nw_vec_each (&stacks->stacks, stack)
		free(stack->frames);
	nw_vec_free(&stacks->stacks);
	nw_vec_each (&stacks->unread, unread) {
		free(unread->path);
		free(unread->why);
	}
	nw_vec_free(&stacks->unread);
	nw_vec_free(&stacks->unanswered);
	nw_rules_free(&stacks->rules);
	nw_reader_free(stacks->reader);
	free(stacks->proc);
	nw_hash_table_free(&stacks->stack_table);
	nw_vec_free(&stacks->places);
	nw_hash_table_free(&stacks->place_table);
	free(stacks->returns);
	free(stacks);
}

static bool is_same(const struct nw_known_stack *known, const nw_walked *walked,
		    enum nw_stack_end end)
{
	return known->end == end && known->count == walked->count &&
	       (!walked->count || memcmp(known->frames, walked->item,
					 walked->count * sizeof(*walked->item)) == 0);
}

static int64_t keep(struct nw_stacks *stacks, nw_walked *walked, enum nw_stack_end end)
{
	uint64_t hash = nw_hash_text((const char *)walked->item,
				     walked->count * sizeof(*walked->item)) +
			end;

	nw_hash_each (&stacks->stack_table, hash, number)
		if (is_same(&stacks->stacks.item[number], walked, end))
			return (int64_t)number;
	if (stacks->stacks.count > NW_MOST_STACKS)
		return OTHERS;
	struct nw_known_stack *known = nw_vec_add(&stacks->stacks);
	uint32_t *frames = known ? malloc(walked->count * sizeof(*frames) + 1) : NULL;
	if (!frames)
		return -ENOMEM;
	if (walked->count)
		memcpy(frames, walked->item, walked->count * sizeof(*frames));
	*known = (struct nw_known_stack){frames, (uint32_t)walked->count, end};
	const size_t number = stacks->stacks.count - 1;
	return nw_hash_table_add(&stacks->stack_table, hash, number) < 0 ? -ENOMEM
									 : (int64_t)number;
}

int64_t nw_stacks_add(struct nw_stacks *stacks, const struct nw_stack_copy *copy)
{
	enum nw_stack_end end;
	nw_walked walked = {0};
	int64_t ret = nw_maps_advance(stacks, copy->time);

	if (ret == 0)
		ret = nw_stacks_walk(stacks, copy, &walked, &end);
	if (ret == 0)
		ret = stacks->failed;
	if (stacks->watch && copy->time >= stacks->lost_since &&
	    copy->time <= stacks->lost_until)
		stacks->losses.stacks++;
	if (ret == 0)
		ret = keep(stacks, &walked, end);
	nw_vec_free(&walked);
	return ret;
}

struct nw_stack nw_stacks_get(const struct nw_stacks *stacks, uint32_t number)
{
	const struct nw_known_stack *known = &stacks->stacks.item[number];

	return (struct nw_stack){known->frames, known->count, known->end};
}

struct nw_stack_frame nw_stacks_frame(const struct nw_stacks *stacks, uint32_t number)
{
	const struct nw_known_frame *frame = &stacks->frames.item[number];

	return (struct nw_stack_frame){frame->text, frame->function};
}

void nw_stacks_renamed(struct nw_stacks *stacks, pid_t process)
{
	struct nw_maps *maps = nw_maps_find(stacks, process);

	/* Watching and recordings report an exec more precisely. */
	if (maps && !stacks->watch && stacks->proc)
		maps->stale = true;
}

int nw_stacks_watch(struct nw_stacks *stacks, clockid_t clock)
{
	return nw_map_watch_open(clock, &stacks->watch);
}

int nw_stacks_advance(struct nw_stacks *stacks, uint64_t until)
{
	return nw_maps_advance(stacks, until);
}

uint64_t nw_stacks_needed(const struct nw_stacks *stacks)
{
	return stacks->needed;
}

struct nw_stack_losses nw_stacks_losses(const struct nw_stacks *stacks)
{
	/* If no change was lost after all, the buffer was only nearly full. */
	return stacks->losses.changes ? stacks->losses : (struct nw_stack_losses){0};
}

size_t nw_stacks_unread(const struct nw_stacks *stacks, const struct nw_unread **out)
{
	*out = stacks->unread.item;
	return stacks->unread.count;
}

void nw_stacks_hurry(struct nw_stacks *stacks)
{
	nw_reader_hurry(stacks->reader);
}

/* ---- in recordings ------------------------------------------------------------------ */

/*
 * Saves and loads these lines:
 *
 * 	module KIND DEV INODE PATH	by number, from 0 on
 * 	identity MODULE TEXT		nw_image_identity()
 * 	region PID START END OFFSET MODULE
 * 	past PID START END OFFSET MODULE UNTIL	a region that was replaced at that time, by time
 * 	jit PID START SIZE NAME
 * 	unmapped CHANGES STACKS		losses while recording (struct nw_stack_losses)
 * 	needed BYTES			nw_stacks_needed()
 */
static void save_region(const char *word, const struct nw_maps *maps,
			const struct nw_region *region, struct nw_buf *out)
{
	nw_buf_printf(out, "%s %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32, word,
		      (int)maps->pid, region->start, region->end, region->offset,
		      region->module);
}

void nw_stacks_save(const struct nw_stacks *stacks, struct nw_buf *out)
{
	uint64_t number = 1;

	nw_vec_each (&stacks->modules, module) {
		/* Files of processes without stacks are private, and not saved. */
		bool used = (*module)->opened || (*module)->kind != NW_MODULE_FILE;
		nw_buf_printf(out, "module %d %" PRIu64 " %" PRIu64,
			      used ? (int)(*module)->kind : NW_MODULE_FILE,
			      used ? (*module)->dev : 0, used ? (*module)->ino : number);
		nw_plan_word(out, used ? (*module)->path : "/");
		nw_buf_addc(out, '\n');
		if ((*module)->identity) {
			nw_buf_printf(out, "identity %" PRIu64, number - 1);
			nw_plan_word(out, (*module)->identity);
			nw_buf_addc(out, '\n');
		}
		number++;
	}
	for (const struct nw_maps *it = stacks->maps.oldest; it; it = it->newer) {
		if (!it->hit)
			continue;
		nw_vec_each (&it->regions, region) {
			save_region("region", it, region, out);
			nw_buf_addc(out, '\n');
		}
		nw_vec_each (&it->past, past) {
			save_region("past", it, &past->region, out);
			nw_buf_printf(out, " %" PRIu64 "\n", past->until);
		}
		nw_vec_each (&it->jit, jit) {
			nw_buf_printf(out, "jit %d %" PRIu64 " %" PRIu64, (int)it->pid,
				      jit->start, jit->size);
			nw_plan_word(out, jit->name);
			nw_buf_addc(out, '\n');
		}
	}
	const struct nw_stack_losses losses = nw_stacks_losses(stacks);
	if (stacks->needed)
		nw_buf_printf(out, "needed %" PRIu64 "\n", stacks->needed);
	if (losses.changes)
		nw_buf_printf(out, "unmapped %" PRIu64 " %" PRIu64 "\n", losses.changes,
			      losses.stacks);
}

static bool numbers(char *const *words, size_t count, uint64_t *out)
{
	for (size_t i = 0; i < count; i++)
		if (nw_parse_u64(words[i], &out[i]) < 0)
			return false;
	return true;
}

static void take_module(struct nw_stacks *stacks, char *const *words)
{
	uint64_t n[3];

	if (!numbers(words + 1, 3, n) || n[0] > NW_MODULE_NAMELESS)
		return;
	struct nw_mapping mapping = {.dev = n[1], .ino = n[2], .path = words[4]};
	if (n[0] == NW_MODULE_FILE && mapping.path[0] != '/')
		return;
	nw_module_of(stacks, &mapping);
}

static void take_identity(struct nw_stacks *stacks, char *const *words)
{
	uint64_t number;

	if (nw_parse_u64(words[1], &number) < 0 || number >= stacks->modules.count ||
	    stacks->modules.item[number]->identity || strlen(words[2]) >= NW_IDENTITY)
		return;
	stacks->modules.item[number]->identity = strdup(words[2]);
}

static struct nw_maps *region_of(struct nw_stacks *stacks, char *const *words,
				 struct nw_region *out)
{
	uint64_t n[5];

	if (!numbers(words + 1, 5, n) || n[0] > INT32_MAX || n[1] >= n[2] ||
	    n[4] >= stacks->modules.count)
		return NULL;
	*out = (struct nw_region){n[1], n[2], n[3], (uint32_t)n[4]};
	return nw_maps_of(stacks, (pid_t)n[0]);
}

static void take_region(struct nw_stacks *stacks, char *const *words)
{
	struct nw_region region;
	struct nw_maps *maps = region_of(stacks, words, &region);
	size_t count = maps ? maps->regions.count : 0;

	/* Regions were saved in order. One that is out of order is wrong, and inserting it would be slow. */
	if (maps && (!count || maps->regions.item[count - 1].end <= region.start))
		(void)nw_maps_put(stacks, maps, &region);
}

static void take_past(struct nw_stacks *stacks, char *const *words)
{
	struct nw_region region;
	struct nw_maps *maps = region_of(stacks, words, &region);
	uint64_t until;

	if (maps && nw_parse_u64(words[6], &until) == 0)
		(void)nw_maps_add_past(stacks, maps, &region, until);
}

static void take_unmapped(struct nw_stacks *stacks, char *const *words)
{
	uint64_t n[2];

	if (numbers(words + 1, 2, n))
		stacks->losses = (struct nw_stack_losses){n[0], n[1]};
}

static void take_jit(struct nw_stacks *stacks, char *const *words)
{
	uint64_t n[3];
	struct nw_maps *maps = numbers(words + 1, 3, n) && n[0] <= INT32_MAX
				       ? nw_maps_of(stacks, (pid_t)n[0])
				       : NULL;
	struct nw_jit_name *jit = maps ? nw_vec_add(&maps->jit) : NULL;

	if (!jit)
		return;
	*jit = (struct nw_jit_name){n[1], n[2], (uint32_t)maps->jit.count,
				    strdup(words[4])};
	if (!jit->name)
		maps->jit.count--;
}

static void take_needed(struct nw_stacks *stacks, char *const *words)
{
	uint64_t bytes;

	if (nw_parse_u64(words[1], &bytes) == 0)
		stacks->needed = bytes;
}

bool nw_stacks_line(struct nw_stacks *stacks, char *const *words, size_t count)
{
	static const struct {
		const char *word;
		size_t count;
		void (*take)(struct nw_stacks *stacks, char *const *words);
	} lines[] = {{"module", 5, take_module},     {"identity", 3, take_identity},
		     {"region", 6, take_region},     {"past", 7, take_past},
		     {"unmapped", 3, take_unmapped}, {"jit", 5, take_jit},
		     {"needed", 2, take_needed}};

	for (size_t i = 0; i < NW_COUNT(lines); i++) {
		if (strcmp(words[0], lines[i].word) != 0)
			continue;
		if (count == lines[i].count)
			lines[i].take(stacks, words);
		return true;
	}
	return false;
}
