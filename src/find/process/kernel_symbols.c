// SPDX-License-Identifier: MIT
/* See find/process/kernel_symbols.h. */
#include "find/process/kernel_symbols.h"

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

/* Takes a line "ADDRESS TYPE NAME[\t[MODULE]]" if it is code and not a compiler's padding. */
static int add_line(struct nw_kernel_symbols *symbols, char *line)
{
	char *end;
	uint64_t address = strtoull(line, &end, 16);

	if (*end != ' ' || !end[1] || end[2] != ' ' || !strchr("tTwW", end[1]) || !address)
		return 0;
	char *name = end + 3;
	name[strcspn(name, "\t\n")] = '\0';
	if (strncmp(name, "__pfx_", 6) == 0 || strncmp(name, "__cfi_", 6) == 0)
		return 0;
	return nw_kernel_symbols_add(symbols, address, name);
}

static int add_lines(struct nw_kernel_symbols *symbols, char *text)
{
	char *line;
	int ret = 0;

	while (ret == 0 && (line = strsep(&text, "\n")))
		ret = add_line(symbols, line);
	return ret;
}

int nw_kernel_symbols_load(const char *path, struct nw_kernel_symbols **out,
			   struct nw_error *err)
{
	struct nw_buf text = {0};
	int ret = nw_buf_read_file(&text, AT_FDCWD, path);

	*out = NULL;
	if (ret < 0)
		return nw_fail(err, -ret, "cannot read %s: %s", path, nw_strerror(-ret));
	ret = nw_kernel_symbols_new(out);
	if (ret == 0)
		ret = add_lines(*out, text.data);
	nw_buf_free(&text);
	if (ret < 0)
		nw_no_memory(err);
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
