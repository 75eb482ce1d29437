// SPDX-License-Identifier: MIT
/* The mappings of processes at the time of their hits. A process is looked at when it is first seen, and when an
 * address is in no known mapping. Mappings that are gone stay known. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/state.h"

#include "modules.h"

enum {
	MOST_TRACED = 65536,
	MOST_PAST = 4096,
	LOOK_AGAIN_NS = 20000000 /* not for each unknown address */
};

/* ---- modules ------------------------------------------------------------------------ */

static const char too_many_files[] =
	"there are more than 65,536 files, or 64 MiB would not hold what is to be known of them";

static bool afford(struct nw_stacks *stacks, uint64_t bytes)
{
	if (bytes > NW_MOST_MODULE_BYTES - stacks->module_bytes)
		return false;
	stacks->module_bytes += bytes;
	return true;
}

struct nw_unread *nw_unread_of(struct nw_stacks *stacks, const char *path, bool named,
			       const char *why)
{
	nw_vec_each (&stacks->unread, it)
		if (it->named == named && strcmp(it->why, why) == 0)
			return it;
	struct nw_unread *unread = nw_vec_add(&stacks->unread);
	if (unread) {
		*unread = (struct nw_unread){strdup(path), strdup(why), 0, named};
		if (unread->path && unread->why)
			return unread;
		free(unread->path);
		free(unread->why);
		stacks->unread.count--;
	}
	stacks->failed = -ENOMEM;
	return NULL;
}

static void note_unread(struct nw_stacks *stacks, const struct nw_module *module,
			bool named, const struct nw_error *why)
{
	struct nw_unread *unread = nw_unread_of(stacks, module->path, named, why->what);

	if (unread)
		unread->files++;
}

/* Only the first such file is counted, because counting the others would mean remembering them. */
static void note_too_many(struct nw_stacks *stacks, const char *path, const char *why)
{
	struct nw_unread *unread = nw_unread_of(stacks, path, false, why);

	if (unread)
		unread->files = 1;
}

void nw_module_free(struct nw_module *module)
{
	if (!module)
		return;
	nw_vec_free(&module->facts.segments);
	free(module->identity);
	free(module->path);
	free(module);
}

bool nw_module_linked(const struct nw_module *module, const struct nw_region *region,
		      uint64_t address, uint64_t *vaddr)
{
	uint64_t offset = address - region->start + region->offset;

	return module->read && nw_segments_vaddr(&module->facts.segments, offset, vaddr);
}

/* Copies the vdso, which is not a file: all processes of an architecture have the same one, so ours will do. */
static int open_vdso(void)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
	int fd = header ? nw_memory_file("vdso") : -1;

	if (fd < 0)
		return -ENXIO;
	/* The table of sections is the last part of it. */
	size_t size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	if (nw_write_all(fd, header, size) == 0)
		return fd;
	close(fd);
	return -EIO;
}

static enum nw_module_kind kind_of(const struct nw_mapping *mapping)
{
	if (strcmp(mapping->path, "[vdso]") == 0)
		return NW_MODULE_VDSO;
	if (strcmp(mapping->path, "[uprobes]") == 0)
		return NW_MODULE_RETURN;
	return mapping->ino && mapping->path[0] == '/' ? NW_MODULE_FILE
						       : NW_MODULE_NAMELESS;
}

/* Identifies the file of a module, for the process that opens it. */
struct opening {
	enum nw_module_kind kind;
	bool by_inode;
	pid_t pid;
	uint64_t start, end, dev, ino;
	/* PATH_MAX of linux/limits.h; "": the module is from a recording */
	char proc[4096];
	char path[4096];
};

/*
 * Opens the file through the process that maps it. If the process has ended, or the module is from a recording, opens
 * the path if the same file is there. If a recording knows the file's identity, only that counts: a copy of the file
 * will do. *path: the path that was opened.
 */
static int open_file(struct opening *opening, char **path)
{
	const struct nw_mapping mapping = {.start = opening->start,
					   .end = opening->end,
					   .dev = opening->dev,
					   .ino = opening->ino,
					   .path = opening->path};
	struct stat st;

	*path = *opening->proc ? nw_mapping_reach(opening->proc, opening->pid, &mapping)
			       : NULL;
	int fd = *path ? nw_open_regular(AT_FDCWD, *path) : -ENOENT;
	if (fd >= 0)
		return fd;
	free(*path);
	*path = strdup(opening->path);
	fd = *path ? nw_open_regular(AT_FDCWD, *path) : -ENOMEM;
	if (fd >= 0 && opening->by_inode &&
	    (fstat(fd, &st) < 0 || st.st_ino != opening->ino)) {
		close(fd);
		fd = -ESTALE;
	}
	return fd;
}

/* Opens the file or one of its debug files. Debug files are searched in the root of the process through which the
 * file was opened. */
static int get(void *arg, unsigned int what, const char *name)
{
	struct opening *opening = arg;
	nw_cleanup(nw_free_ptr) char *path = NULL;

	if (opening->kind == NW_MODULE_VDSO)
		return what == NW_WANT_FILE
			       ? open_vdso()
			       : nw_debug_place_open(opening->path,
						     (enum nw_debug_place)what, name);
	int fd = open_file(opening, &path);
	if (what == NW_WANT_FILE || !path)
		return fd;
	if (fd >= 0)
		close(fd);
	return nw_debug_place_open(path, (enum nw_debug_place)what, name);
}

static struct nw_read_file file_of(const struct nw_stacks *stacks, uint32_t number,
				   struct opening *opening)
{
	const struct nw_module *module = stacks->modules.item[number];

	*opening = (struct opening){.kind = module->kind,
				    .by_inode = stacks->proc || !module->identity,
				    .pid = module->pid,
				    .start = module->start,
				    .end = module->end,
				    .dev = module->dev,
				    .ino = module->ino};
	snprintf(opening->proc, sizeof(opening->proc), "%s",
		 stacks->proc ? stacks->proc : "");
	snprintf(opening->path, sizeof(opening->path), "%s", module->path);
	return (struct nw_read_file){number, get, opening, sizeof(*opening)};
}

static bool is_said(int code)
{
	/* Files that are no ELF files, such as devices, have no names that could be missing. */
	return code != ENOEXEC && code != ENXIO && code != EISDIR;
}

static void note_unanswered(struct nw_stacks *stacks, uint64_t device)
{
	uint64_t *slot = nw_vec_add(&stacks->unanswered);

	if (slot)
		*slot = device;
}

/* Notes that the file cannot be read, so its functions have no names. ESTALE: another file is at its path. */
static void give_up(struct nw_stacks *stacks, struct nw_module *module,
		    struct nw_error *why)
{
	module->read = false;
	if (why->code == ESTALE)
		nw_fail(why, ESTALE, "%s",
			stacks->proc
				? "the process has ended, and another file is at its path"
				: "it is not the file that was recorded");
	if (why->code == EHOSTDOWN)
		note_unanswered(stacks, module->dev);
	if (why->code == ENOENT && stacks->proc)
		nw_fail(why, ENOENT,
			"the process has ended, and the file cannot be opened any more");
	module->unread = is_said(why->code);
	if (module->unread)
		note_unread(stacks, module, false, why);
}

/* Remembers the identity in a live run, and compares it in a recording. -ESTALE: it is not the file that was
 * recorded. */
static int compare_identity(struct nw_stacks *stacks, struct nw_module *module,
			    struct nw_error *err)
{
	if (stacks->proc)
		module->identity = strdup(module->facts.identity);
	else if (module->identity && strcmp(module->identity, module->facts.identity) != 0)
		return nw_fail(err, ESTALE, "%s", nw_strerror(ESTALE));
	return 0;
}

/* Has its file system not answered once? It is not asked again, because that would take as long each time. */
static bool is_unanswered(const struct nw_stacks *stacks, const struct nw_module *module)
{
	if (module->kind != NW_MODULE_FILE)
		return false;
	nw_vec_each (&stacks->unanswered, device)
		if (*device == module->dev)
			return true;
	return false;
}

static int ask_file(struct nw_stacks *stacks, uint32_t number, struct nw_error *err)
{
	struct nw_module *module = stacks->modules.item[number];
	struct opening opening;
	const struct nw_read_file file = file_of(stacks, number, &opening);

	if (is_unanswered(stacks, module))
		return nw_fail(err, EHOSTDOWN, "its file system does not answer");
	int ret = nw_reader_file(stacks->reader, &file, &module->facts, err);
	return ret < 0 ? ret : compare_identity(stacks, module, err);
}

void nw_module_open(struct nw_stacks *stacks, const struct nw_maps *maps,
		    const struct nw_region *region)
{
	struct nw_module *module = stacks->modules.item[region->module];
	struct nw_error why;

	if (module->opened)
		return;
	/* The process of the first hit in the module is used: others may have come and gone. */
	module->opened = true;
	module->pid = maps->pid;
	module->start = region->start;
	module->end = region->end;
	if (module->kind != NW_MODULE_FILE && module->kind != NW_MODULE_VDSO)
		return;
	module->read = ask_file(stacks, region->module, &why) == 0;
	if (!module->read) {
		nw_vec_free(&module->facts.segments);
		give_up(stacks, module, &why);
	} else if (!afford(stacks, module->facts.segments.count *
					   sizeof(*module->facts.segments.item))) {
		nw_vec_free(&module->facts.segments);
		module->read = false;
		note_too_many(stacks, module->path, too_many_files);
	}
}

/* Asks for the function at an address. If its DWARF cannot be read, asks again without DWARF, since symbols and call
 * frames tell nearly as much. */
static int ask_place(struct nw_stacks *stacks, struct nw_module *module,
		     const struct nw_read_file *file, uint64_t vaddr, bool names,
		     struct nw_place_facts *out, struct nw_error *err)
{
	const bool lines = names && !module->no_lines;
	const enum nw_place_depth depth = lines	  ? NW_PLACE_LINES
					  : names ? NW_PLACE_NAME
						  : NW_PLACE_RULE;
	int ret = nw_reader_place(stacks->reader, file, vaddr, depth, out, err);

	if (ret == 0 || ret == -ECANCELED || !lines)
		return ret;
	const struct nw_error why = *err;
	ret = nw_reader_place(stacks->reader, file, vaddr, NW_PLACE_NAME, out, err);
	if (ret < 0)
		return ret;
	module->no_lines = true;
	note_unread(stacks, module, true, &why);
	return 0;
}

/* Debug files are given up for all files at once, so that is noted once. One that could not be opened was only this module's. */
static void note_debug_files(struct nw_stacks *stacks, const struct nw_module *module)
{
	const int shortage = nw_reader_take_shortage(stacks->reader);
	struct nw_error why;

	if (shortage) {
		nw_fail(&why, shortage, "its debug file cannot be opened: %s",
			nw_strerror(shortage));
		note_unread(stacks, module, false, &why);
	}
	if (stacks->debug_files_noted || !nw_reader_lacks_debug_files(stacks->reader))
		return;
	stacks->debug_files_noted = true;
	nw_fail(&why, EHOSTDOWN,
		"the file system of its debug file does not answer, so no debug files are read");
	note_unread(stacks, module, true, &why);
}

bool nw_module_place(struct nw_stacks *stacks, uint32_t number, uint64_t vaddr, bool names,
		     struct nw_place_facts *out)
{
	struct nw_module *module = stacks->modules.item[number];
	struct opening opening;
	const struct nw_read_file file = file_of(stacks, number, &opening);
	struct nw_error why;

	*out = (struct nw_place_facts){0};
	if (!module->read || is_unanswered(stacks, module))
		return false;
	int ret = ask_place(stacks, module, &file, vaddr, names, out, &why);
	note_debug_files(stacks, module);
	if (ret < 0) {
		give_up(stacks, module, &why);
		return false;
	}
	errno = 0;
	nw_rules_add(&stacks->rules, number, vaddr, out->rule, out->rule_len);
	if (nw_shortage() < 0)
		stacks->failed = nw_shortage();
	return true;
}

const struct nw_rule *nw_module_rule(struct nw_stacks *stacks, uint32_t number,
				     uint64_t vaddr)
{
	struct nw_place_facts place;
	const struct nw_rule *rule;

	if (!nw_rules_find(&stacks->rules, number, vaddr, &rule) &&
	    nw_module_place(stacks, number, vaddr, false, &place))
		(void)nw_rules_find(&stacks->rules, number, vaddr, &rule);
	return rule;
}

/* Returns the memory of a module, whose key also contains the path. */
static uint64_t module_bytes(const struct nw_mapping *mapping)
{
	return sizeof(struct nw_module) + 2 * strlen(mapping->path) + 64;
}

/* Returns the number of a module: a file by its identity, all others by their kind. Module 0 stands for all that are
 * too many. */
static int64_t module_number(struct nw_stacks *stacks, enum nw_module_kind kind,
			     const struct nw_mapping *mapping)
{
	bool named = kind == NW_MODULE_FILE;
	nw_cleanup(nw_free_ptr) char *key = nw_text(
		"%d %ju %ju %s", (int)kind, named ? mapping->dev : 0,
		named ? mapping->ino : 0, named ? mapping->path : "");

	if (!key)
		return -ENOMEM;
	int64_t number = nw_index_find(&stacks->module_keys, key, strlen(key));
	if (number >= 0)
		return number;
	if (stacks->modules.count < NW_MOST_MODULES &&
	    afford(stacks, module_bytes(mapping)))
		return nw_index_add(&stacks->module_keys, key, strlen(key));
	note_too_many(stacks, mapping->path, too_many_files);
	return 0;
}

int64_t nw_module_of(struct nw_stacks *stacks, const struct nw_mapping *mapping)
{
	static const struct nw_mapping nameless = {.path = (char *)(uintptr_t) ""};
	enum nw_module_kind kind = kind_of(mapping);

	/* Module 0 stands for all that are too many. */
	if (!stacks->modules.count && kind != NW_MODULE_NAMELESS) {
		int64_t ret = nw_module_of(stacks, &nameless);
		if (ret < 0)
			return ret;
	}
	int64_t number = module_number(stacks, kind, mapping);
	if (number < 0 || (size_t)number < stacks->modules.count)
		return number;
	struct nw_module *module = calloc(1, sizeof(*module));
	struct nw_module **slot = module ? nw_vec_add(&stacks->modules) : NULL;
	if (!slot) {
		free(module);
		return -ENOMEM;
	}
	*slot = module;
	module->kind = kind;
	module->dev = mapping->dev;
	module->ino = mapping->ino;
	module->path = strdup(mapping->path);
	return module->path ? number : -ENOMEM;
}

/* ---- processes ---------------------------------------------------------------------- */

static int by_pid(const void *a, const void *b)
{
	const struct nw_maps *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

struct nw_maps *nw_maps_find(const struct nw_stacks *stacks, pid_t pid)
{
	const struct nw_maps key = {.pid = pid};
	struct nw_maps *const *found = tfind(&key, &stacks->maps.by_pid, by_pid);

	return found ? *found : NULL;
}

static void forget(struct nw_maps_set *set, struct nw_maps *maps)
{
	*(maps->older ? &maps->older->newer : &set->oldest) = maps->newer;
	*(maps->newer ? &maps->newer->older : &set->newest) = maps->older;
	set->count--;
	set->regions -= maps->regions.count + maps->past.count;
	tdelete(maps, &set->by_pid, by_pid);
	nw_vec_each (&maps->jit, it)
		free(it->name);
	nw_vec_free(&maps->jit);
	nw_vec_free(&maps->regions);
	nw_vec_free(&maps->past);
	nw_past_tree_free(maps->past_tree);
	free(maps);
}

void nw_maps_free_all(struct nw_stacks *stacks)
{
	while (stacks->maps.oldest)
		forget(&stacks->maps, stacks->maps.oldest);
}

struct nw_maps *nw_maps_of(struct nw_stacks *stacks, pid_t pid)
{
	struct nw_maps_set *set = &stacks->maps;
	struct nw_maps *maps = nw_maps_find(stacks, pid);

	if (maps)
		return maps;
	if (set->count == MOST_TRACED)
		forget(set, set->oldest);
	maps = calloc(1, sizeof(*maps));
	if (!maps)
		return NULL;
	maps->pid = pid;
	if (!tsearch(maps, &set->by_pid, by_pid)) {
		free(maps);
		return NULL;
	}
	maps->older = set->newest;
	*(set->newest ? &set->newest->newer : &set->oldest) = maps;
	set->newest = maps;
	set->count++;
	return maps;
}

/* Returns the index of the first region that ends behind the address. */
static size_t find(const struct nw_maps *maps, uint64_t address)
{
	return nw_vec_lower_bound(&maps->regions, region, region->end <= address);
}

/* Is there room for more regions? If not, that is noted. */
static bool has_room(struct nw_stacks *stacks, const struct nw_region *region, size_t more)
{
	if (stacks->maps.regions + more <= NW_MOST_ALL_REGIONS)
		return true;
	note_too_many(stacks, stacks->modules.item[region->module]->path,
		      "all processes together have more than 1,048,576 mappings of code");
	return false;
}

int nw_maps_add_past(struct nw_stacks *stacks, struct nw_maps *maps,
		     const struct nw_region *region, uint64_t until)
{
	struct nw_past_region *past;

	if (maps->past.count == MOST_PAST || !has_room(stacks, region, 1))
		return 0;
	past = nw_vec_add(&maps->past);
	if (!past)
		return -ENOMEM;
	*past = (struct nw_past_region){*region, until};
	stacks->maps.regions++;
	return 0;
}

/* Keeps a region that is replaced, because a recording is read after the run and has to know earlier mappings. */
static int retire(struct nw_stacks *stacks, struct nw_maps *maps,
		  const struct nw_region *old, const struct nw_region *new)
{
	bool same = new && old->module == new->module &&
		    old->start - old->offset == new->start - new->offset;

	return same || !maps->hit ? 0 : nw_maps_add_past(stacks, maps, old, maps->now);
}

/* Removes all regions as of maps->now. Returns -ENOMEM on failure. */
static int forget_regions(struct nw_stacks *stacks, struct nw_maps *maps)
{
	int ret = 0;

	nw_vec_each (&maps->regions, region)
		if (ret == 0)
			ret = retire(stacks, maps, region, NULL);
	stacks->maps.regions -= maps->regions.count;
	nw_vec_free(&maps->regions);
	return ret;
}

/* Adds a region, which replaces what was mapped there. */
int nw_maps_put(struct nw_stacks *stacks, struct nw_maps *maps,
		const struct nw_region *region)
{
	size_t at = find(maps, region->start), last = at, count = 0;
	struct nw_region pieces[3];
	int ret = 0;

	while (last < maps->regions.count && maps->regions.item[last].start < region->end) {
		ret = retire(stacks, maps, &maps->regions.item[last++], region);
		if (ret < 0)
			return ret;
	}
	/* The remains of the first and the last region that it replaces. */
	if (at < last && maps->regions.item[at].start < region->start) {
		pieces[count] = maps->regions.item[at];
		pieces[count++].end = region->start;
	}
	pieces[count++] = *region;
	if (at < last && maps->regions.item[last - 1].end > region->end) {
		struct nw_region rest = maps->regions.item[last - 1];
		rest.offset += region->end - rest.start;
		rest.start = region->end;
		pieces[count++] = rest;
	}
	size_t left = maps->regions.count - last, old = last - at;
	if (left + at + count > NW_MOST_REGIONS ||
	    (count > old && !has_room(stacks, region, count - old)))
		return 0;
	while (maps->regions.count < left + at + count)
		if (!nw_vec_add(&maps->regions))
			return -ENOMEM;
	memmove(&maps->regions.item[at + count], &maps->regions.item[at + old],
		left * sizeof(*region));
	memcpy(&maps->regions.item[at], pieces, count * sizeof(*region));
	maps->regions.count = left + at + count;
	stacks->maps.regions += count;
	stacks->maps.regions -= old;
	return 0;
}

static int read_maps(struct nw_stacks *stacks, struct nw_maps *maps)
{
	nw_mappings lines = {0};
	struct nw_error ignored;
	int ret = nw_process_maps_in(stacks->proc, maps->pid, &lines, &ignored);
	/* A process that is ending has no memory any more: its list is empty. */
	bool gone = ret < 0 || !lines.count;

	if (gone && maps->parent) { /* the mappings that it had when it was forked */
		ret = nw_process_maps_in(stacks->proc, maps->parent, &lines, &ignored);
		gone = ret < 0 || !lines.count;
	}

	maps->looked = nw_clock_ns(CLOCK_MONOTONIC);
	if (gone) { /* nothing more can be learned than what is known */
		maps->stale = false;
		return nw_is_shortage(-ret) ? ret : 0;
	}
	ret = maps->stale ? forget_regions(stacks, maps) : 0;
	maps->stale = false;
	nw_vec_each (&lines, mapping) {
		if (ret < 0 || !mapping->exec)
			continue;
		int64_t module = nw_module_of(stacks, mapping);
		const struct nw_region region = {mapping->start, mapping->end,
						 mapping->offset, (uint32_t)module};
		ret = module < 0 ? (int)module : nw_maps_put(stacks, maps, &region);
	}
	nw_mappings_free(&lines);
	return ret;
}

static const struct nw_region *open_region(struct nw_stacks *stacks,
					   const struct nw_maps *maps,
					   const struct nw_region *found)
{
	nw_module_open(stacks, maps, found);
	return found;
}

const struct nw_region *nw_maps_region(struct nw_stacks *stacks, struct nw_maps *maps,
				       uint64_t address)
{
	/* In a recording, an earlier mapping counts if it was there at the time of the hit. */
	const struct nw_region *past = stacks->proc
					       ? NULL
					       : nw_past_find(&maps->past, &maps->past_tree,
							      address, maps->now);

	if (past)
		return open_region(stacks, maps, past);
	for (bool again = true;; again = false) {
		size_t at = maps->stale ? maps->regions.count : find(maps, address);
		if (at < maps->regions.count && maps->regions.item[at].start <= address)
			return open_region(stacks, maps, &maps->regions.item[at]);
		if (!again || !stacks->proc || !address ||
		    (!maps->stale && maps->looked &&
		     nw_clock_ns(CLOCK_MONOTONIC) - maps->looked < LOOK_AGAIN_NS))
			return NULL;
		int ret = read_maps(stacks, maps);
		if (ret < 0) {
			stacks->failed = ret;
			return NULL;
		}
	}
}

/* ---- what the kernel tells ---------------------------------------------------------- */

/*
 * Gives a child the regions of its parent. If the parent is unknown, the child is looked up when it is needed. Its
 * number may have belonged to another process.
 */
static int forked(struct nw_stacks *stacks, const struct nw_map_change *change)
{
	const struct nw_maps *parent = nw_maps_find(stacks, change->parent);
	struct nw_maps *child = parent ? nw_maps_of(stacks, change->pid)
				       : nw_maps_find(stacks, change->pid);
	int ret = parent && !child ? -ENOMEM : 0;

	if (!child)
		return ret;
	/* The parent may have been dropped to make room for its child. */
	parent = nw_maps_find(stacks, change->parent);
	child->now = change->time;
	ret = forget_regions(stacks, child);
	child->parent = change->parent;
	child->stale = !parent || parent->stale;
	if (!parent)
		return ret;
	nw_vec_each (&parent->regions, region)
		if (ret == 0)
			ret = nw_maps_put(stacks, child, region);
	return ret;
}

/* Forgets a process, whose number may be used again. A process that was hit is kept for recordings. */
static void ended(struct nw_stacks *stacks, pid_t pid)
{
	struct nw_maps *maps = nw_maps_find(stacks, pid);

	if (maps && !maps->hit)
		forget(&stacks->maps, maps);
}

static int mapped(struct nw_stacks *stacks, const struct nw_map_change *change)
{
	struct nw_maps *maps = nw_maps_of(stacks, change->pid);
	int64_t module = maps ? nw_module_of(stacks, &change->mapping) : -ENOMEM;
	const struct nw_region region = {change->mapping.start, change->mapping.end,
					 change->mapping.offset, (uint32_t)module};

	if (module < 0)
		return (int)module;
	maps->now = change->time;
	return nw_maps_put(stacks, maps, &region);
}

/* Marks all processes as stale: they are looked up when they are needed next. */
static void distrust_all(struct nw_stacks *stacks)
{
	for (struct nw_maps *it = stacks->maps.oldest; it; it = it->newer)
		it->stale = true;
}

/* Handles a loss of changes, which lasts until `until`: all processes are looked up again, now and after it. */
static void lost(struct nw_stacks *stacks, const struct nw_map_change *change)
{
	stacks->losses.changes += change->lost;
	stacks->lost_since = change->time;
	stacks->lost_until = change->until;
	stacks->losing = true;
	distrust_all(stacks);
}

int nw_maps_change(struct nw_stacks *stacks, const struct nw_map_change *change)
{
	struct nw_maps *maps;

	switch (change->kind) {
	case NW_CHANGE_MAPPED:
		return mapped(stacks, change);
	case NW_CHANGE_FORKED:
		return forked(stacks, change);
	case NW_CHANGE_STARTED:
		maps = nw_maps_of(stacks, change->pid);
		if (!maps)
			return -ENOMEM;
		maps->now = change->time;
		maps->parent = 0;
		maps->stale = stacks->losing;
		return forget_regions(stacks, maps);
	case NW_CHANGE_LOST:
		lost(stacks, change);
		return 0;
	default:
		ended(stacks, change->pid);
		return 0;
	}
}

int nw_maps_advance(struct nw_stacks *stacks, uint64_t until)
{
	struct nw_map_change change;
	int ret = 0, next = 0;

	while (ret == 0 && stacks->watch &&
	       (next = nw_map_watch_next(stacks->watch, until, &change)) > 0)
		ret = nw_maps_change(stacks, &change);
	if (next < 0)
		return next;
	if (stacks->losing && until > stacks->lost_until) {
		stacks->losing = false;
		distrust_all(stacks);
	}
	return ret;
}
