// SPDX-License-Identifier: MIT
/*
 * Finds the function that an ifunc has become in a process. An ifunc's symbol is the address of a resolver, which
 * the dynamic linker calls once. It stores the result in GOT slots: those of R_*_IRELATIVE relocations of the same
 * file, whose addend is the resolver, and those of other files that import the ifunc by name.
 */
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include "find/arch/arch.h"
#include "find/elf/budget.h"
#include "find/process/process.h"

#include "proc.h"

struct search {
	const struct nw_symbol *symbol;
	bool own; /* this is the file that contains the resolver */
	uint64_t slots[64];
	size_t count;
};

/* Is this a relocation whose slot receives the resolver's result? */
static bool is_filled(const struct nw_arch *arch, const struct search *search,
		      const GElf_Rela *rela, const char *name)
{
	uint64_t type = GELF_R_TYPE(rela->r_info);
	size_t len = strcspn(search->symbol->name, "@");

	if (type == arch->ifunc_slot)
		return search->own && (uint64_t)rela->r_addend == search->symbol->value;
	return (type == arch->plt_slot || type == arch->got_slot) && name &&
	       strncmp(name, search->symbol->name, len) == 0 && name[len] == '\0';
}

static const char *symbol_name(Elf *elf, Elf_Scn *linked, Elf_Data *symbols, uint64_t index)
{
	GElf_Shdr header;
	GElf_Sym sym;

	if (!symbols || index == 0 || index > INT32_MAX || !gelf_getshdr(linked, &header) ||
	    !gelf_getsym(symbols, (int)index, &sym))
		return NULL;
	return elf_strptr(elf, header.sh_link, sym.st_name);
}

static void search_section(const struct nw_image *image, Elf *elf, Elf_Scn *section,
			   struct nw_section_budget *budget, struct search *search)
{
	GElf_Shdr header, symtab;
	GElf_Rela rela;

	if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA)
		return;
	Elf_Scn *linked = elf_getscn(elf, header.sh_link);
	if (!nw_section_afford(budget, &header) ||
	    (linked &&
	     (!gelf_getshdr(linked, &symtab) || !nw_section_afford(budget, &symtab) ||
	      !nw_section_afford_names(budget, elf, &symtab))))
		return;
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Data *symbols = linked ? elf_getdata(linked, NULL) : NULL;
	for (int i = 0; data && i < INT32_MAX && gelf_getrela(data, i, &rela); i++) {
		const char *name = symbol_name(elf, linked, symbols,
					       GELF_R_SYM(rela.r_info));
		if (is_filled(image->arch, search, &rela, name) &&
		    search->count < NW_COUNT(search->slots))
			search->slots[search->count++] = rela.r_offset;
	}
}

static void search_image(const struct nw_image *image, struct search *search)
{
	struct nw_section_budget budget = nw_section_budget(3 * image->size);
	Elf *elf = elf_begin(image->fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;

	while (elf && image->arch && image->arch->ifunc_slot &&
	       (section = elf_nextscn(elf, section)))
		search_section(image, elf, section, &budget, search);
	elf_end(elf);
}

/* Names the function at an address of the process, unless the address is in a PLT or is the resolver. */
static int name_address(pid_t pid, const nw_mappings *maps, nw_images *images,
			uint64_t address, const struct nw_symbol *resolver, char **name,
			char **file)
{
	struct nw_symbol symbol;
	uint64_t bias;

	nw_vec_each (images, slot) {
		struct nw_image *image = *slot;
		if (nw_load_bias(pid, maps, image, &bias) < 0 || address < bias)
			continue;
		int64_t offset = nw_image_offset(image, address - bias, true);
		if (offset < 0 || nw_image_function(image, address - bias, &symbol) < 0 ||
		    symbol.value == resolver->value)
			continue;
		*name = symbol.value == address - bias ? strdup(symbol.name)
						       : nw_text("0x%jx", offset);
		*file = strdup(image->path);
		return *name && *file ? 0 : -ENOMEM;
	}
	return -ENOENT;
}

static int read_slots(const struct nw_process *process, nw_images *images,
		      const struct nw_image *image, const struct search *search,
		      char **name, char **file)
{
	uint64_t bias;
	int ret = nw_load_bias(process->pid, &process->maps, image, &bias);

	if (ret < 0)
		return ret;
	ret = -ENOENT;
	for (size_t i = 0; ret == -ENOENT && i < search->count; i++) {
		uint64_t address = 0;
		size_t size = image->elf64 ? 8 : 4;
		if (pread(process->memory, &address, size,
			  (off_t)(bias + search->slots[i])) == (ssize_t)size &&
		    address)
			ret = name_address(process->pid, &process->maps, images, address,
					   search->symbol, name, file);
	}
	return ret;
}

int nw_ifunc_target(struct nw_image *image, const struct nw_symbol *symbol, pid_t pid,
		    char **name, char **file)
{
	struct nw_process process;
	nw_images images = {0};
	int ret = nw_process_open(pid, NW_PROCESS_READ, &process);

	if (ret < 0)
		return -ENOENT;
	ret = nw_process_images(pid, true, false, &images, NULL);
	if (ret == 0)
		ret = -ENOENT;
	nw_vec_each (&images, user) {
		struct search search = {.symbol = symbol,
					.own = (*user)->ino == image->ino &&
					       (*user)->dev == image->dev};
		if (ret != -ENOENT)
			break;
		search_image(*user, &search);
		ret = read_slots(&process, &images, *user, &search, name, file);
	}
	nw_images_free(&images);
	nw_process_close(&process);
	return ret;
}
