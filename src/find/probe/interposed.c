// SPDX-License-Identifier: MIT
/*
 * Finds the file that calls of an exported function reach. The dynamic linker takes the first definition in its
 * search order: the program, then preloaded libraries, then the libraries in the order in which they are needed
 * (ld.so(8), gABI "Shared Object Dependencies").
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "find/probe/probe.h"

static bool is_exported(const GElf_Sym *sym)
{
	unsigned int bind = GELF_ST_BIND(sym->st_info),
		     shown = GELF_ST_VISIBILITY(sym->st_other);

	return sym->st_shndx != SHN_UNDEF && (bind == STB_GLOBAL || bind == STB_WEAK) &&
	       (shown == STV_DEFAULT || shown == STV_PROTECTED);
}

static bool table_exports(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			  const char *name)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 1; i < count && i < INT32_MAX; i++) {
		GElf_Sym sym;
		if (!gelf_getsym(data, (int)i, &sym))
			break;
		if (!is_exported(&sym))
			continue;
		const char *there = elf_strptr(elf, header->sh_link, sym.st_name);
		if (there && strcmp(there, name) == 0)
			return true;
	}
	return false;
}

/* Does the file export the name, so that calls from other files reach it if it comes first? */
static bool exports(const struct nw_image *image, const char *name)
{
	Elf *elf = elf_begin(image->fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	bool found = false;

	while (elf && !found && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			found = table_exports(elf, section, &header, name);
	}
	elf_end(elf);
	return found;
}

static bool is_same(const struct nw_image *a, const struct nw_image *b)
{
	const struct nw_file_id file = nw_image_file_id(b);

	return nw_image_is_same(a, &file);
}

/* ---- the search order --------------------------------------------------------------- */

/* The search order, limited to loaded files, without duplicates. */
typedef NW_VEC(const struct nw_image *) search_order;

static int add_once(search_order *order, const struct nw_image *image)
{
	nw_vec_each (order, there)
		if (is_same(*there, image))
			return 0;
	const struct nw_image **slot = nw_vec_add(order);
	if (!slot)
		return -ENOMEM;
	*slot = image;
	return 0;
}

/* Is the file that the process finds at dir/name the image? A link leads to it, as libx.so.4 leads to libx.so.4.5. */
static bool is_there(const struct nw_image *image, pid_t pid, size_t dir_len,
		     const char *dir, size_t len, const char *name)
{
	nw_cleanup(nw_free_ptr) char *path = nw_text("/proc/%d/root%.*s%.*s", (int)pid,
						     (int)dir_len, dir, (int)len, name);
	struct stat st;

	if (!path || stat(path, &st) < 0)
		return false;
	return nw_image_is_same(image, &(struct nw_file_id){.dev = st.st_dev,
							    .ino = st.st_ino,
							    .size = (uint64_t)st.st_size,
							    .build_id = ""});
}

/* Does LD_PRELOAD or /etc/ld.so.preload name the file, by its path or the last part of it? $LIB and the like, which
 * the linker replaces, only occur in front of the last part. */
static bool is_called(const struct nw_image *image, pid_t pid, const char *word, size_t len)
{
	const char *slash = strrchr(image->path, '/');
	const char *base = slash ? slash + 1 : image->path;
	const char *last = memrchr(word, '/', len);
	size_t head = last ? (size_t)(last + 1 - word) : 0;

	if (len <= head)
		return false;
	if (strlen(base) == len - head && strncmp(base, word + head, len - head) == 0)
		return true;
	return (*word == '/' && is_there(image, pid, 0, "", len, word)) ||
	       is_there(image, pid, (size_t)(base - image->path), image->path, len - head,
			word + head);
}

/* Adds preloaded files, in the order of the list. */
static int add_preloaded(search_order *order, const nw_images *all,
			 const struct nw_process_facts *process)
{
	const char *preloads = process->preloads ? process->preloads : "";
	int ret = 0;

	for (size_t len; ret == 0 && *(preloads += strspn(preloads, " :\t\n"));
	     preloads += len) {
		len = strcspn(preloads, " :\t\n");
		nw_vec_each (all, image)
			if (ret == 0 && is_called(*image, process->process, preloads, len))
				ret = add_once(order, *image);
	}
	return ret;
}

static int build_order(const nw_images *all, const nw_images *needed,
		       const struct nw_process_facts *process, search_order *order)
{
	int ret = 0;

	nw_vec_each (all, image)
		if (ret == 0 && (*image)->ino == process->exe_ino)
			ret = add_once(order, *image);
	if (ret == 0)
		ret = add_preloaded(order, all, process);
	nw_vec_each (needed, wanted)
		nw_vec_each (all, image)
			if (ret == 0 && is_same(*image, *wanted))
				ret = add_once(order, *image);
	return ret;
}

/* Returns the first file before `image` in the search order that exports the name; NULL: none. */
static const struct nw_image *first_of(const search_order *order,
				       const struct nw_image *image, const char *name)
{
	nw_vec_each (order, there) {
		if (is_same(*there, image))
			return NULL;
		if (exports(*there, name))
			return *there;
	}
	return NULL;
}

/* Returns the program if the process has not loaded the library, but the program contains such a function. */
static const struct nw_image *linked_into(const nw_images *all, uint64_t exe,
					  const struct nw_image *image, const char *name)
{
	struct nw_image *program = NULL;
	struct nw_symbol symbol;

	nw_vec_each (all, there) {
		if (is_same(*there, image))
			return NULL;
		if ((*there)->ino == exe)
			program = *there;
	}
	return program && nw_image_symbol(program, name, strlen(name), 0, &symbol) == 0 &&
			       symbol.function
		       ? program
		       : NULL;
}

int nw_symbol_interposed(const struct nw_image *image, const char *name,
			 const struct nw_process_facts *process, char **by)
{
	nw_images all = {0}, needed = {0};
	search_order order = {0};
	nw_cleanup(nw_free_ptr) char *exe = nw_text("/proc/%d/exe", (int)process->process);
	int ret = exe ? 0 : -ENOMEM;

	*by = NULL;
	if (ret == 0 && exports(image, name) && image->ino != process->exe_ino &&
	    nw_process_images(process->process, true, false, &all, NULL) == 0) {
		ret = nw_locate_needed(exe, false, &needed, NULL);
		if (ret == 0 || !nw_is_shortage(-ret))
			ret = build_order(&all, &needed, process, &order);
		const struct nw_image *first = ret == 0 ? first_of(&order, image, name)
							: NULL;
		if (ret == 0 && !first)
			first = linked_into(&all, process->exe_ino, image, name);
		if (first)
			*by = strdup(first->path);
		ret = first && !*by ? -ENOMEM : ret;
	}
	nw_vec_free(&order);
	nw_images_free(&all);
	nw_images_free(&needed);
	return ret;
}
