// SPDX-License-Identifier: MIT
/*
 * Symbols of an image. .symtab and .dynsym are read together on first use, into an array by name and an array of
 * functions by address. A stripped file's .symtab comes from its debug file, which has the same addresses.
 *
 * Several places may have the same name, such as `static int count` in two source files, and the note only says
 * `count(%rip)`. The STT_FILE entries group local symbols by source file, so the symbol in the group of the site's
 * function is taken. If that does not decide, no symbol is found rather than a wrong one.
 */
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "budget.h"
#include "find/arch/arch.h"
#include "find/elf/elf.h"
#include "symbol.h"

struct entry {
	struct nw_symbol symbol;
	uint32_t name_len; /* up to an '@': .symtab contains memcpy@GLIBC_2.14 */
	/* Number of the STT_FILE group; 0: a global symbol, or no group. */
	unsigned int file;
	const char *version; /* NULL: none */
	/* An old version, which a name without a version does not refer to. */
	bool hidden;
	/* Its place in the file: qsort() keeps the order of equals only as long as it gets memory. */
	uint32_t number;
};

struct nw_symbols {
	Elf *elf;   /* the names point into its string tables */
	Elf *debug; /* the debug file, into whose string tables names point, too */
	int debug_fd;
	struct nw_buf packed; /* the unpacked .gnu_debugdata, if `debug` is that */
	bool has_symtab;
	/* The tables claim to be larger than the file can hold, so some were not read. */
	bool cut;
	struct nw_section_budget sections;
	uint64_t names; /* bytes of names that may still be read */
	NW_VEC(struct entry) by_name;
	/* By address; of the same address, the larger first. */
	NW_VEC(struct entry) functions;
};

/* ---- loading ------------------------------------------------------------------------ */

static bool wanted(const GElf_Sym *sym)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);

	if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE &&
	    type != STT_TLS && type != STT_GNU_IFUNC)
		return false;
	/* The value of a COMMON symbol is an alignment, and the value of an ABS symbol is no address. */
	return sym->st_shndx != SHN_COMMON && sym->st_shndx != SHN_ABS;
}

/* ---- versions ----------------------------------------------------------------------- */

/* .gnu.version and .gnu.version_d of a .dynsym (the ELF gABI's GNU extension; LSB, "Symbol Versioning"). */
struct versions {
	Elf_Data *of_symbols;
	NW_VEC(const char *) names; /* indexed by the version's number */
};

static int read_version_names(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
			      struct versions *out)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Verdef def;
	GElf_Verdaux aux;
	int at = 0;

	for (uint64_t i = 0; data && i < header->sh_info; i++) {
		if (!gelf_getverdef(data, at, &def))
			break;
		size_t number = def.vd_ndx & 0x7fff;
		if (gelf_getverdaux(data, at + (int)def.vd_aux, &aux) && number < 4096) {
			while (out->names.count <= number)
				if (!nw_vec_add(&out->names))
					return -ENOMEM;
			out->names.item[number] = elf_strptr(elf, header->sh_link,
							     aux.vda_name);
		}
		if (!def.vd_next || def.vd_next > INT32_MAX - (uint64_t)at)
			break;
		at += (int)def.vd_next;
	}
	return 0;
}

static int read_versions(struct nw_symbols *symbols, Elf *elf, struct versions *out)
{
	Elf_Scn *section = NULL;
	int ret = 0;

	while (ret == 0 && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_GNU_versym &&
		     header.sh_type != SHT_GNU_verdef) ||
		    !nw_section_afford(&symbols->sections, &header) ||
		    !nw_section_afford_names(&symbols->sections, elf, &header))
			continue;
		if (header.sh_type == SHT_GNU_versym)
			out->of_symbols = elf_getdata(section, NULL);
		else if (header.sh_type == SHT_GNU_verdef)
			ret = read_version_names(elf, section, &header, out);
	}
	return ret;
}

/* ---- tables ------------------------------------------------------------------------- */

static int add_symbol(struct nw_image *image, struct nw_symbols *symbols,
		      const struct versions *versions, int number, const GElf_Sym *sym,
		      const char *name, unsigned int file)
{
	size_t len = strnlen(name, symbols->names + 1);

	unsigned int type = GELF_ST_TYPE(sym->st_info);
	struct entry entry = {
		.symbol = {.name = name,
			   .value = sym->st_value,
			   .size = sym->st_size,
			   .function = type == STT_FUNC || type == STT_GNU_IFUNC,
			   .ifunc = type == STT_GNU_IFUNC,
			   .tls = type == STT_TLS,
			   .object = type == STT_OBJECT || type == STT_TLS,
			   .undefined = sym->st_shndx == SHN_UNDEF},
		.file = GELF_ST_BIND(sym->st_info) == STB_LOCAL ? file : 0,
		.number = (uint32_t)symbols->by_name.count,
	};

	/* Comparing long names, or many symbols that share the bytes of one name, would take too long. */
	if (len > symbols->names || len > UINT32_MAX) {
		symbols->cut = true;
		return 0;
	}
	symbols->names -= len;
	/* Names are compared up to an '@'. */
	entry.name_len = (uint32_t)strcspn(name, "@");
	if (image->arch && entry.symbol.function) {
		entry.symbol.barred = entry.symbol.value & image->arch->no_address;
		entry.symbol.value &= ~image->arch->no_address;
		if (image->arch->local_entries)
			entry.symbol.local_entry = (1u << (sym->st_other >> 5 & 7)) >>
						   2 << 2;
	}
	/* .symtab has the version in the name, NAME@OLD or NAME@@DEFAULT. .dynsym has it in a separate table. */
	const char *at = strchr(entry.symbol.name, '@');
	GElf_Versym version;

	if (at) {
		entry.hidden = at[1] != '@';
		entry.version = at + 1 + (at[1] == '@');
	} else if (versions && versions->of_symbols &&
		   gelf_getversym(versions->of_symbols, number, &version)) {
		size_t index = version & 0x7fff;
		entry.hidden = version & 0x8000;
		if (index < versions->names.count)
			entry.version = versions->names.item[index];
	}
	struct entry *named = nw_vec_add(&symbols->by_name);
	if (!named)
		return -ENOMEM;
	*named = entry;
	if (!entry.symbol.function || entry.symbol.undefined)
		return 0;
	struct entry *function = nw_vec_add(&symbols->functions);
	if (!function)
		return -ENOMEM;
	*function = entry;
	return 0;
}

static int load_table(struct nw_image *image, struct nw_symbols *symbols, Elf *elf,
		      Elf_Scn *section, const GElf_Shdr *header)
{
	struct versions versions = {0};
	unsigned int file = 0;
	int ret = 0;

	if (!header->sh_entsize || !nw_section_afford(&symbols->sections, header) ||
	    !nw_section_afford_names(&symbols->sections, elf, header))
		return 0;
	Elf_Data *data = elf_getdata(section, NULL);
	if (!data)
		return 0;
	if (header->sh_type == SHT_DYNSYM)
		ret = read_versions(symbols, elf, &versions);
	size_t count = header->sh_size / header->sh_entsize;
	for (size_t i = 1; i < count && i < INT32_MAX && ret == 0; i++) {
		GElf_Sym sym;
		if (!gelf_getsym(data, (int)i, &sym))
			break;
		if (GELF_ST_TYPE(sym.st_info) == STT_FILE)
			file++;
		const char *name = elf_strptr(elf, header->sh_link, sym.st_name);
		if (!name || !*name || !wanted(&sym))
			continue;
		ret = add_symbol(image, symbols, &versions, (int)i, &sym, name, file);
	}
	nw_vec_free(&versions.names);
	return ret;
}

static int compare_names(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t shorter = a_len < b_len ? a_len : b_len;
	int order = memcmp(a, b, shorter);

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int by_number(const struct entry *x, const struct entry *y)
{
	return (x->number > y->number) - (x->number < y->number);
}

static int by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = compare_names(x->symbol.name, x->name_len, y->symbol.name, y->name_len);

	return order ? order : by_number(x, y);
}

static int by_address(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->symbol.value != y->symbol.value)
		return x->symbol.value < y->symbol.value ? -1 : 1;
	int order = (x->symbol.size < y->symbol.size) - (x->symbol.size > y->symbol.size);
	return order ? order : by_number(x, y);
}

/* Loads the .symtab of a file, and with `dynamic` its .dynsym, too. *full: the file has a .symtab. */
static int load_tables(struct nw_image *image, struct nw_symbols *symbols, Elf *elf,
		       bool dynamic, bool *full)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_SYMTAB)
			*full = true;
		else if (header.sh_type != SHT_DYNSYM || !dynamic)
			continue;
		if (load_table(image, symbols, elf, section, &header) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void allow(struct nw_symbols *symbols, uint64_t file_size)
{
	symbols->cut |= symbols->sections.spent;
	symbols->sections = nw_section_budget(file_size);
	symbols->names = NW_TIMES_NAMES * file_size + 65536;
}

static uint64_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

/* Loads the file's own tables; a stripped file's missing .symtab comes from its debug file. */
static int load_files(struct nw_image *image, struct nw_symbols *symbols)
{
	bool full = false;

	allow(symbols, image->size);
	symbols->elf = elf_begin(image->fd, ELF_C_READ, NULL);
	if (!symbols->elf)
		return 0;
	int ret = load_tables(image, symbols, symbols->elf, true, &full);
	symbols->has_symtab = full;
	ret = ret < 0 ? ret : nw_shortage();
	if (ret < 0 || full)
		return ret;
	symbols->debug_fd = nw_debug_file_open(image, symbols->elf);
	if (nw_is_shortage(-symbols->debug_fd))
		return symbols->debug_fd;
	errno = 0;
	if (symbols->debug_fd >= 0) {
		allow(symbols, size_of(symbols->debug_fd));
		symbols->debug = elf_begin(symbols->debug_fd, ELF_C_READ, NULL);
	} else if (nw_debug_data_read(symbols->elf, &symbols->packed) == 0) {
		allow(symbols, symbols->packed.len);
		symbols->debug = elf_memory(symbols->packed.data, symbols->packed.len);
	}
	return symbols->debug ? load_tables(image, symbols, symbols->debug, false, &full)
			      : 0;
}

/* Returns the symbols and loads them on first use; NULL: out of memory. */
static const struct nw_symbols *symbols_of(struct nw_image *image)
{
	if (image->symbols)
		return image->symbols;
	struct nw_symbols *symbols = calloc(1, sizeof(*symbols));
	if (!symbols) {
		image->failed = -ENOMEM;
		return NULL;
	}
	symbols->debug_fd = -1;
	errno = 0;
	int ret = load_files(image, symbols);
	if (ret == 0)
		ret = nw_shortage();
	if (ret < 0) {
		image->failed = ret;
		nw_symbols_free(symbols);
		return NULL;
	}
	symbols->cut |= symbols->sections.spent;
	if (symbols->by_name.count)
		qsort(symbols->by_name.item, symbols->by_name.count,
		      sizeof(*symbols->by_name.item), by_name);
	if (symbols->functions.count)
		qsort(symbols->functions.item, symbols->functions.count,
		      sizeof(*symbols->functions.item), by_address);
	image->symbols = symbols;
	return symbols;
}

void nw_symbols_free(struct nw_symbols *symbols)
{
	if (!symbols)
		return;
	nw_vec_free(&symbols->by_name);
	nw_vec_free(&symbols->functions);
	elf_end(symbols->debug);
	nw_buf_free(&symbols->packed);
	elf_end(symbols->elf);
	if (symbols->debug_fd >= 0)
		close(symbols->debug_fd);
	free(symbols);
}

/* ---- look-ups ----------------------------------------------------------------------- */

static const struct entry *function_entry(const struct nw_symbols *symbols, uint64_t vaddr)
{
	size_t low = nw_vec_lower_bound(&symbols->functions, entry,
					entry->symbol.value <= vaddr);

	/* Hand-written functions have no size. They reach to the next function, unless they are a label or another
	 * name within a function that has a size. */
	const struct entry *sizeless = NULL;
	for (size_t back = 0; back < 8 && low-- > 0; back++) {
		const struct entry *entry = &symbols->functions.item[low];
		if (vaddr - entry->symbol.value < entry->symbol.size)
			return entry;
		if (entry->symbol.size == 0 && back == 0)
			sizeless = entry;
	}
	return sizeless;
}

int nw_image_function(struct nw_image *image, uint64_t vaddr, struct nw_symbol *out)
{
	const struct nw_symbols *symbols = symbols_of(image);
	const struct entry *entry = symbols ? function_entry(symbols, vaddr) : NULL;

	if (!entry)
		return -ENOENT;
	*out = entry->symbol;
	return 0;
}

/* Returns the first entry of that name; NULL: there is none. *count entries of that name follow each other. */
static const struct entry *find_name(const struct nw_symbols *symbols, const char *name,
				     size_t len, size_t *count)
{
	size_t low = nw_vec_lower_bound(
		&symbols->by_name, entry,
		compare_names(entry->symbol.name, entry->name_len, name, len) < 0);
	size_t end;

	for (end = low; end < symbols->by_name.count && end - low < NW_MOST_NAMESAKES;
	     end++) {
		const struct entry *there = &symbols->by_name.item[end];
		if (compare_names(there->symbol.name, there->name_len, name, len) != 0)
			break;
	}
	*count = end - low;
	return *count ? &symbols->by_name.item[low] : NULL;
}

/* A choice between the symbols of one name. */
struct choice {
	/* The function that refers to the name; NULL: not known. */
	const struct entry *user;
	const char *version; /* NULL: the default version, if there is one */
	size_t version_len;
	const struct entry *only, *default_only, *same_file;
	bool unique, default_unique, unique_in_file;
};

static bool has_version(const struct entry *entry, const struct choice *choice)
{
	return !choice->version ||
	       (entry->version &&
		strncmp(entry->version, choice->version, choice->version_len) == 0 &&
		!entry->version[choice->version_len]);
}

/* Adds a candidate. Entries with the same address (in .symtab and .dynsym) are one symbol, so they stay unique. */
static void add_candidate(const struct entry *entry, const struct entry **only,
			  bool *unique)
{
	*unique = *unique && (!*only || (*only)->symbol.value == entry->symbol.value);
	*only = entry;
}

/* Chooses the symbol that is meant among those of one name: the only one, else the only one of the user's source
 * file, else the only default version. */
static int choose(const struct entry *entry, size_t count, struct choice *choice,
		  struct nw_symbol *out)
{
	choice->unique = choice->default_unique = choice->unique_in_file = true;
	for (size_t i = 0; i < count; i++) {
		if (entry[i].symbol.undefined || !has_version(&entry[i], choice))
			continue;
		add_candidate(&entry[i], &choice->only, &choice->unique);
		if (!entry[i].hidden)
			add_candidate(&entry[i], &choice->default_only,
				      &choice->default_unique);
		if (!choice->user || !choice->user->file ||
		    entry[i].file != choice->user->file)
			continue;
		choice->unique_in_file = choice->unique_in_file && !choice->same_file;
		choice->same_file = &entry[i];
	}
	if (choice->only && choice->unique)
		*out = choice->only->symbol;
	else if (choice->same_file && choice->unique_in_file)
		*out = choice->same_file->symbol;
	else if (choice->default_only && choice->default_unique)
		*out = choice->default_only->symbol;
	else
		return choice->only ? -ENOTUNIQ : -ENOENT;
	return 0;
}

int nw_image_symbol(struct nw_image *image, const char *name, size_t len, uint64_t vaddr,
		    struct nw_symbol *out)
{
	const struct nw_symbols *symbols = symbols_of(image);
	const char *at = memchr(name, '@', len);
	struct choice choice = {0};
	size_t count;

	if (!symbols)
		return -ENOMEM;
	if (at) { /* NAME@VERSION, NAME@@VERSION */
		choice.version = at + 1 + (at + 1 < name + len && at[1] == '@');
		choice.version_len = (size_t)(name + len - choice.version);
		len = (size_t)(at - name);
	}
	if (vaddr)
		choice.user = function_entry(symbols, vaddr);
	const struct entry *entry = find_name(symbols, name, len, &count);
	int ret = count < NW_MOST_NAMESAKES ? choose(entry, count, &choice, out)
					    : -ENOTUNIQ;
	if (ret == -ENOENT && symbols->cut)
		return -EFBIG;
	if (ret == -ENOENT && count && !at) { /* other files define it */
		*out = entry[0].symbol;
		return -ENXIO;
	}
	return ret;
}

int nw_image_each_symbol(struct nw_image *image,
			 int (*visit)(const struct nw_symbol *symbol, void *arg), void *arg)
{
	const struct nw_symbols *symbols = symbols_of(image);
	int ret = symbols ? 0 : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < symbols->by_name.count; i++)
		ret = visit(&symbols->by_name.item[i].symbol, arg);
	return ret;
}

bool nw_image_has_symtab(struct nw_image *image)
{
	const struct nw_symbols *symbols = symbols_of(image);

	return symbols && symbols->has_symtab;
}
