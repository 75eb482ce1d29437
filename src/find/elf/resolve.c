// SPDX-License-Identifier: MIT
/* Finds the addresses of the symbols that operands name. */
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "budget.h"
#include "find/arch/arch.h"
#include "symbol.h"

/* Reads the slot and the symbol of an entry of a SHT_REL or SHT_RELA section. */
static bool read_relocation(Elf_Data *data, bool rela, int at, GElf_Addr *slot,
			    GElf_Xword *info)
{
	GElf_Rela with;
	GElf_Rel without;

	if (rela && gelf_getrela(data, at, &with)) {
		*slot = with.r_offset;
		*info = with.r_info;
		return true;
	}
	if (!rela && gelf_getrel(data, at, &without)) {
		*slot = without.r_offset;
		*info = without.r_info;
		return true;
	}
	return false;
}

static bool names_symbol(Elf *elf, const GElf_Shdr *symtab, Elf_Data *symbols,
			 uint64_t index, const struct nw_operand *op)
{
	GElf_Sym sym;

	if (index > INT32_MAX || !gelf_getsym(symbols, (int)index, &sym))
		return false;
	const char *name = elf_strptr(elf, symtab->sh_link, sym.st_name);
	return name && strlen(name) == op->symbol_len &&
	       memcmp(name, op->symbol, op->symbol_len) == 0;
}

/* A search in the relocations of a file, for one operand. */
struct relocations {
	struct nw_image *image;
	Elf *elf;
	struct nw_section_budget budget;
};

static bool search_relocations(struct relocations *all, Elf_Scn *section,
			       struct nw_operand *op)
{
	struct nw_image *image = all->image;
	Elf *elf = all->elf;
	GElf_Shdr header, symtab;
	Elf_Scn *linked;

	if (!gelf_getshdr(section, &header) || !header.sh_entsize ||
	    (header.sh_type != SHT_RELA && header.sh_type != SHT_REL))
		return false;
	linked = elf_getscn(elf, header.sh_link);
	if (!linked || !gelf_getshdr(linked, &symtab) ||
	    !nw_section_afford(&all->budget, &header) ||
	    !nw_section_afford(&all->budget, &symtab) ||
	    !nw_section_afford_names(&all->budget, elf, &symtab))
		return false;
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Data *symbols = elf_getdata(linked, NULL);
	if (!data || !symbols)
		return false;
	size_t count = header.sh_size / header.sh_entsize;
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		GElf_Addr slot;
		GElf_Xword info;
		if (image->got_work++ >= NW_MOST_GOT_WORK)
			return false;
		if (!read_relocation(data, header.sh_type == SHT_RELA, (int)i, &slot,
				     &info))
			return false;
		if (GELF_R_TYPE(info) == image->arch->got_slot &&
		    names_symbol(elf, &symtab, symbols, GELF_R_SYM(info), op)) {
			op->address = slot + (uint64_t)op->offset;
			op->resolved = true;
			return true;
		}
	}
	return false;
}

static void resolve_got(struct nw_image *image, struct nw_operand *op)
{
	struct relocations all = {.image = image,
				  .budget = nw_section_budget(3 * image->size)};
	Elf_Scn *section = NULL;

	op->problem = "the symbol has no slot in the global offset table of this file";
	if (image->got_work >= NW_MOST_GOT_WORK) {
		op->problem =
			"the file has too many relocations to look for all its symbols";
		return;
	}
	all.elf = elf_begin(image->fd, ELF_C_READ, NULL);
	while (all.elf && (section = elf_nextscn(all.elf, section))) {
		image->got_work++;
		if (search_relocations(&all, section, op)) {
			op->problem = NULL;
			break;
		}
	}
	elf_end(all.elf);
}

static const char *symbol_problem(int ret, const struct nw_operand *op)
{
	if (ret == -ENOTUNIQ)
		return "several symbols of this name, and no way to tell which is meant";
	if (ret == -EFBIG)
		return "the file's symbol tables are larger than itself, and were not all read";
	if (ret == -ENXIO)
		return "the symbol is defined in another file";
	/* Of clang's constants, .LCPI0_0(%rip), only the note has the name: no instruction and no relocation of a
	 * linked file tells where in .rodata they are. */
	if (op->symbol_len >= 2 && op->symbol[0] == '.' && op->symbol[1] == 'L')
		return "a local label of the compiler: it is in no symbol table";
	return "the symbol is in no symbol table of this file (stripped?)";
}

static void resolve(struct nw_image *image, uint64_t vaddr, struct nw_operand *op)
{
	struct nw_symbol symbol;
	int ret = nw_image_symbol(image, op->symbol, op->symbol_len, vaddr, &symbol);

	if (ret < 0) {
		op->problem = symbol_problem(ret, op);
		return;
	}
	if (symbol.tls) {
		op->problem = "thread-local storage: ftrace cannot read the thread pointer";
		return;
	}
	op->address = symbol.value + (uint64_t)op->offset;
	op->resolved = true;
	if (op->kind == NW_OPERAND_GLOBAL || (op->window && !*op->reg))
		return;
	if (!image->executable) {
		op->resolved = false;
		op->problem = "an address that is only known once the program is loaded";
	} else if (op->kind == NW_OPERAND_CONSTANT) {
		op->value = op->address;
	}
}

void nw_operands_resolve(struct nw_image *image, uint64_t vaddr, nw_operands *operands)
{
	nw_vec_each (operands, op) {
		if (!op->symbol || (op->problem && !op->window))
			continue;
		if (op->got)
			resolve_got(image, op);
		else
			resolve(image, vaddr, op);
		op->window &= op->resolved;
	}
}
