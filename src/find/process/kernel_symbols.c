// SPDX-License-Identifier: MIT
/* See find/process/kernel_symbols.h. */
#include "find/process/kernel_symbols.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
	uint64_t address;
	size_t name; /* offset of the name in `names` */
};

struct nw_kernel_symbols {
	NW_VEC(struct symbol) list;
	struct nw_buf names;
	bool sorted;
	/* The range of the scheduler's code; 0: not known. */
	uint64_t sched_from, sched_until;
};

const char *const nw_kernel_sched_text[2] = {"__sched_text_start", "__sched_text_end"};

int nw_kernel_symbols_new(struct nw_kernel_symbols **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void nw_kernel_sched_bounds(const struct nw_kernel_symbols *symbols, uint64_t out[2])
{
	out[0] = symbols->sched_from;
	out[1] = symbols->sched_until;
}

void nw_kernel_symbols_free(struct nw_kernel_symbols *symbols)
{
	if (!symbols)
		return;
	nw_vec_free(&symbols->list);
	nw_buf_free(&symbols->names);
	free(symbols);
}

int nw_kernel_symbols_add(struct nw_kernel_symbols *symbols, uint64_t address,
			  const char *name)
{
	uint64_t *const bounds[2] = {&symbols->sched_from, &symbols->sched_until};

	for (size_t i = 0; i < NW_COUNT(bounds); i++)
		if (strcmp(name, nw_kernel_sched_text[i]) == 0) {
			*bounds[i] = address;
			/* This symbol marks where a range of functions begins or ends. */
			return 0;
		}
	struct symbol *symbol = nw_vec_add(&symbols->list);
	if (!symbol)
		return -ENOMEM;
	*symbol = (struct symbol){.address = address, .name = symbols->names.len};
	nw_buf_add(&symbols->names, name, strlen(name) + 1);
	symbols->sorted = false;
	return symbols->names.failed ? -ENOMEM : 0;
}

bool nw_kernel_symbol_is_code(const struct nw_kernel_symbol *symbol)
{
	return strchr("tTwW", symbol->type) && strncmp(symbol->name, "__pfx_", 6) != 0 &&
	       strncmp(symbol->name, "__cfi_", 6) != 0;
}

/* Cuts up a line "ADDRESS TYPE NAME[\t[MODULE]]", of which a kernel has 200,000. */
static bool parse_line(char *line, struct nw_kernel_symbol *out)
{
	char *end = line, *module;

	*out = (struct nw_kernel_symbol){0};
	for (; isxdigit((unsigned char)*end); end++)
		out->address = out->address << 4 |
			       (uint64_t)(*end <= '9' ? *end - '0' : (*end & 7) + 9);
	if (*end != ' ' || !end[1] || end[2] != ' ')
		return false;
	out->type = end[1];
	out->name = end + 3;
	module = strchr(end + 3, '\t');
	if (module && module[1] == '[') {
		out->module = module + 2;
		module[2 + strcspn(module + 2, "]")] = '\0';
	}
	if (module)
		*module = '\0';
	return true;
}

int nw_kernel_symbols_each(const char *path, nw_kernel_symbol_fn *each, void *arg)
{
	struct nw_buf text = {0};
	struct nw_kernel_symbol symbol;
	int ret = nw_buf_read_file(&text, AT_FDCWD, path);
	char *rest = text.data, *line;

	while (ret == 0 && (line = strsep(&rest, "\n")))
		if (parse_line(line, &symbol))
			ret = each(arg, &symbol);
	nw_buf_free(&text);
	return ret;
}

static int add_symbol(void *arg, const struct nw_kernel_symbol *symbol)
{
	return symbol->address && nw_kernel_symbol_is_code(symbol)
		       ? nw_kernel_symbols_add(arg, symbol->address, symbol->name)
		       : 0;
}

int nw_kernel_symbols_load(const char *path, struct nw_kernel_symbols **out,
			   struct nw_error *err)
{
	int ret = nw_kernel_symbols_new(out);

	if (ret == 0)
		ret = nw_kernel_symbols_each(path, add_symbol, *out);
	if (ret == -ENOMEM)
		nw_no_memory(err);
	else if (ret < 0)
		nw_fail(err, -ret, "cannot read %s: %s", path, nw_strerror(-ret));
	else if (!(*out)->list.count || !(*out)->sched_from || !(*out)->sched_until)
		ret = nw_fail(err, EPERM, "%s does not tell where functions are", path);
	if (ret < 0) {
		nw_kernel_symbols_free(*out);
		*out = NULL;
	}
	return ret;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Returns the function that contains an address; NULL: none is known. */
static const char *function_at(struct nw_kernel_symbols *symbols, uint64_t address,
			       uint64_t *start)
{
	if (!symbols->sorted && symbols->list.count)
		qsort(symbols->list.item, symbols->list.count, sizeof(struct symbol),
		      by_address);
	symbols->sorted = true;
	size_t low = nw_vec_lower_bound(&symbols->list, symbol, symbol->address <= address);

	if (!low)
		return NULL;
	*start = symbols->list.item[low - 1].address;
	return nw_buf_str(&symbols->names) + symbols->list.item[low - 1].name;
}

const char *nw_kernel_wait_channel(struct nw_kernel_symbols *symbols,
				   const uint64_t *callers, size_t count, uint64_t *start)
{
	bool scheduling = false;

	for (size_t i = 0; symbols->sched_until && i < count; i++) {
		bool is = callers[i] >= symbols->sched_from &&
			  callers[i] < symbols->sched_until;
		if (scheduling &&
		    !is) /* this is a return address, so the call is before it */
			return function_at(symbols, callers[i] - 1, start);
		scheduling |= is;
	}
	return NULL;
}
