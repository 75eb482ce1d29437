// SPDX-License-Identifier: MIT
/* Reads what the kernel tells of one of its functions: /proc/kallsyms, and the lists of where probes may be. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "find/process/kernel_symbols.h"

#define KPROBES "/sys/kernel/debug/kprobes/"

struct search {
	const char *name;
	struct nw_kernel_function *out;
	struct nw_buf copies;
};

static int take(void *arg, const struct nw_kernel_symbol *symbol)
{
	struct search *s = arg;
	const size_t len = strlen(s->name);

	if (strncmp(symbol->name, s->name, len) != 0)
		return 0;
	const bool code = nw_kernel_symbol_is_code(symbol);
	if (!symbol->name[len]) {
		s->out->count += code;
		s->out->variable |= !code;
	} else if (symbol->name[len] == '.' && code) {
		nw_buf_printf(&s->copies, "%s%s", s->copies.len ? ", " : "", symbol->name);
	}
	return 0;
}

/* Does a line of the text have this name behind a blank or at its beginning, and then nothing or a blank? */
static bool lists(const char *text, const char *name)
{
	const size_t len = strlen(name);

	for (const char *at = text; (at = strstr(at, name)); at += len)
		if ((at == text || strchr("\t\n ", at[-1])) &&
		    (!at[len] || strchr("\t\n ", at[len])))
			return true;
	return false;
}

/* Returns whether a list has the name; -1: there is no such list. */
static int is_listed(const char *path, const char *name)
{
	struct nw_buf text = {0};
	int ret = nw_buf_read_file(&text, AT_FDCWD, path);

	ret = ret < 0 ? -1 : lists(nw_buf_str(&text), name);
	nw_buf_free(&text);
	return ret;
}

int nw_kernel_function_inspect(const char *name, const char *kallsyms,
			       const char *traceable, struct nw_kernel_function *out)
{
	*out = (struct nw_kernel_function){0};
	struct search search = {.name = name, .out = out};
	int ret = nw_kernel_symbols_each(kallsyms, take, &search);

	if (ret == 0 && search.copies.len && !(out->copies = nw_buf_take(&search.copies)))
		ret = -ENOMEM;
	nw_buf_free(&search.copies);
	out->traceable = traceable ? lists(traceable, name) : -1;
	out->forbidden = is_listed(KPROBES "blacklist", name);
	out->off = is_listed(KPROBES "enabled", "0") == 1;
	return ret;
}

void nw_kernel_function_free(struct nw_kernel_function *function)
{
	free(function->copies);
	*function = (struct nw_kernel_function){0};
}
