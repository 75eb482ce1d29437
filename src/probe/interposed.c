// SPDX-License-Identifier: MIT
/*
 * Which of a process's files does a call of an exported function reach? The dynamic linker takes the
 * first definition in its search order: the program, what is preloaded, then the libraries in the order
 * in which they are needed (ld.so(8), gABI "Shared Object Dependencies").
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "nopwatch/probe.h"

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

/* Do others' calls of that name reach this file, if it comes first? */
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
	return a->ino == b->ino &&
	       (a->dev == b->dev ||
		(*a->build_id && strcmp(a->build_id, b->build_id) == 0));
}

static const struct nw_image *loaded(const nw_images *images, const struct nw_image *wanted)
{
	nw_vec_each (images, image)
		if (is_same(*image, wanted))
			return *image;
	return NULL;
}

/* Is the file named in LD_PRELOAD or /etc/ld.so.preload, by path or by its last part? */
static bool is_preloaded(const char *preloads, const struct nw_image *image)
{
	const char *slash = strrchr(image->path, '/');
	const char *base = slash ? slash + 1 : image->path;
	const char *at = *base ? strstr(preloads, base) : NULL;
	size_t len = strlen(base);

	return at && strchr(" :\n\t", at[len]) &&
	       (at == preloads || strchr("/ :\n\t", at[-1]));
}

/* What stands before `image` in the search order and exports the name; NULL: nothing. */
static const struct nw_image *first_of(const nw_images *all, const nw_images *order,
				       const struct nw_image *image, uint64_t exe,
				       const char *preloads, const char *name)
{
	nw_vec_each (all, one)
		if ((*one)->ino == exe && !is_same(*one, image) && exports(*one, name))
			return *one;
	nw_vec_each (all, one)
		if (is_preloaded(preloads, *one) && !is_same(*one, image) &&
		    exports(*one, name))
			return *one;
	nw_vec_each (order, needed) {
		const struct nw_image *there = loaded(all, *needed);
		if (is_same(*needed, image))
			return NULL;
		if (there && exports(there, name))
			return there;
	}
	return NULL;
}

int nw_symbol_interposed(const struct nw_image *image, const char *name,
			 const struct nw_process_facts *process, char **by)
{
	nw_images all = {0}, order = {0};
	nw_cleanup(nw_free_ptr) char *exe = nw_text("/proc/%d/exe", (int)process->process);
	int ret = exe ? 0 : -ENOMEM;

	*by = NULL;
	if (ret == 0 && exports(image, name) && image->ino != process->exe_ino) {
		ret = nw_process_images(process->process, true, false, &all, NULL);
		if (ret == 0)
			nw_locate_needed(exe, false, &order, NULL);
		const struct nw_image *first =
			ret == 0
				? first_of(&all, &order, image, process->exe_ino,
					   process->preloads ? process->preloads : "", name)
				: NULL;
		if (first)
			*by = strdup(first->path);
		ret = first && !*by ? -ENOMEM : ret == -ENOMEM ? ret : 0;
	}
	nw_images_free(&all);
	nw_images_free(&order);
	return ret;
}
