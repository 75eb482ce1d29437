// SPDX-License-Identifier: MIT
/*
 * kprobe:SYMBOL, kretprobe:SYMBOL, func:kernel:SYMBOL: functions of the running kernel. /proc/kallsyms tells their names
 * to every user. The kernel itself decides where it lets probes in.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "find/process/kernel_symbols.h"
#include "select.h"

enum {
	/* Limit of functions that a pattern may match without --force */
	FUNCTIONS_MOST = 256,
};

/* Functions of one name. */
struct named {
	char *name;
	size_t count; /* more than one: the name does not tell which is meant */
};

struct matching {
	const struct nw_spec *spec;
	const struct nw_scope *scope;
	struct nw_image *image;
	struct nw_selection *selection;
	struct nw_error *err;
	NW_VEC(struct named) found;
	size_t matches;	      /* also those that are not in `found` */
	bool variable;	      /* the name is that of a variable */
	struct nw_buf copies; /* "f.isra.0, f.constprop.0" */
	struct nw_near near;
};

/* ---- names -------------------------------------------------------------------------- */

static int add_name(struct matching *m, const char *name)
{
	const bool many = m->found.count > FUNCTIONS_MOST && !m->scope->force;

	nw_vec_each (&m->found, known)
		if (strcmp(known->name, name) == 0) {
			known->count++;
			return 0;
		}
	m->matches++;
	struct named *slot = many ? NULL : nw_vec_add(&m->found);
	if (!slot)
		return many ? 0 : -ENOMEM;
	*slot = (struct named){.name = strdup(name), .count = 1};
	return slot->name ? 0 : -ENOMEM;
}

/* Looks whether a function that does not match may be meant all the same. */
static void consider(struct matching *m, const char *name)
{
	const char *wanted = m->spec->name;
	const size_t len = strlen(wanted), its_len = strlen(name), near = len / 5 + 1;

	if (strncmp(name, wanted, len) == 0 && name[len] == '.') {
		nw_buf_printf(&m->copies, "%s%s", m->copies.len ? ", " : "", name);
		return;
	}
	/* The distance, which takes long to find, is at least the difference of the lengths. */
	if (its_len > len + near || len > its_len + near || strchr(name, '.'))
		return;
	const unsigned int distance = nw_edit_distance(wanted, name);
	if (distance <= near)
		nw_near_add(&m->near, distance, name);
}

static int take(void *arg, const struct nw_kernel_symbol *symbol)
{
	struct matching *m = arg;
	const bool glob = nw_has_glob(m->spec->name);
	const bool code = nw_kernel_symbol_is_code(symbol);

	if (nw_glob_match(m->spec->name, symbol->name) &&
	    !(glob && strchr(symbol->name, '.'))) {
		m->variable |= !code;
		return code ? add_name(m, symbol->name) : 0;
	}
	if (code && !glob)
		consider(m, symbol->name);
	return 0;
}

/* ---- probes ------------------------------------------------------------------------- */

/* The kernel's debugging information is not read, so arguments have no other names than their numbers. */
static int check_names(const struct matching *m)
{
	nw_vec_each (&m->spec->args, arg)
		if (strpbrk(arg->name, "->.["))
			return nw_fail_usage(
				m->err,
				"'%s': fields of a kernel function's arguments are not known: '%s' may only name an argument in its order",
				m->spec->text, arg->name);
	return 0;
}

static int add_arguments(const struct matching *m, bool is_return, struct nw_probe *probe)
{
	struct nw_point *point = &probe->points.item[0];
	const size_t named = m->spec->has_args ? m->spec->args.count : 0;

	if (!m->image->arch)
		return 0;
	nw_vec_free(&point->operands);
	if (nw_call_operands(m->image, probe->name, is_return, named, &m->spec->args,
			     &point->operands) < 0)
		return nw_no_memory(m->err);
	while (probe->args.count < point->operands.count)
		if (!nw_vec_add(&probe->args))
			return nw_no_memory(m->err);
	return 0;
}

static int add_probe(const struct matching *m, const char *name, bool is_return)
{
	const struct nw_spec *spec = m->spec;
	const char *provider = is_return ? "kretprobe" : "kprobe";
	/* The names in func:kernel:SYMBOL(...) are those of the call's arguments. */
	const bool named = spec->has_args && !(is_return && spec->kind == NW_SPEC_FUNC);
	struct nw_probe *probe = nw_probe_find(m->selection, m->image, provider, name);
	int ret = 0;

	if (!probe) {
		probe = nw_probe_add(m->selection, m->image, spec->kind, provider, name);
		struct nw_point *point = probe ? nw_vec_add(&probe->points) : NULL;
		if (!point)
			return nw_no_memory(m->err);
		point->image = m->image;
		point->is_return = is_return;
	}
	if (named || m->scope->want_operands)
		ret = add_arguments(m, is_return, probe);
	return ret == 0 && named ? nw_probe_name_args(spec, probe, m->err) : ret;
}

/* Adds the probes of one function. Returns how many, or -errno. */
static int add_function(const struct matching *m, const char *name)
{
	const bool entry = m->spec->kind != NW_SPEC_URETPROBE;
	const bool back = m->spec->kind != NW_SPEC_UPROBE;
	int ret = entry ? add_probe(m, name, false) : 0;

	if (ret == 0 && back)
		ret = add_probe(m, name, true);
	return ret < 0 ? ret : entry + back;
}

/* Adds a function of each name that matches. One that stands for several is an error, or left out of a pattern. */
static int add_functions(const struct matching *m)
{
	const bool glob = nw_has_glob(m->spec->name);
	int ret = 0, added = 0;

	nw_vec_each (&m->found, one) {
		if (ret < 0)
			break;
		if (one->count > 1 && !glob && !m->scope->force)
			return nw_fail(
				m->err, ENOTUNIQ,
				"the kernel has %zu functions called '%s', and a probe by that name could be in any of them",
				one->count, one->name);
		if (one->count > 1 && glob)
			continue;
		ret = add_function(m, one->name);
		added += ret > 0 ? ret : 0;
	}
	return ret < 0 ? ret : added;
}

/* ---- nothing ------------------------------------------------------------------------ */

static int no_function(struct matching *m)
{
	const char *name = m->spec->name;

	if (m->variable)
		return nw_fail(m->err, ENOENT,
			       "'%s' is a variable of the kernel, not a function", name);
	nw_fail(m->err, ENOENT, "the kernel has no function '%s'", name);
	if (m->copies.len)
		nw_error_hint(
			m->err,
			"the compiler made copies of it: %s (`nopwatch why kprobe:%s` says more)",
			nw_buf_str(&m->copies), name);
	else
		nw_near_hint(
			&m->near,
			nw_has_glob(name)
				? "/proc/kallsyms has the names of its functions"
				: "it may have been inlined, or its module is not loaded: /proc/kallsyms has the names of those there are",
			m->err);
	return -ENOENT;
}

static int choose(struct matching *m)
{
	const struct nw_spec *spec = m->spec;

	if (!m->matches)
		return no_function(m);
	if (m->found.count <= FUNCTIONS_MOST || m->scope->force)
		return add_functions(m);
	nw_fail_usage(m->err, "'%s' names %zu functions of the kernel", spec->text,
		      m->matches);
	nw_error_hint(
		m->err,
		"a probe on each slows the machine much: narrow it to %d at most, or add --force",
		FUNCTIONS_MOST);
	return -EINVAL;
}

int nw_match_kernel(const struct nw_spec *spec, const struct nw_scope *scope,
		    struct nw_image *image, struct nw_selection *selection,
		    struct nw_error *err)
{
	struct matching m = {.spec = spec,
			     .scope = scope,
			     .image = image,
			     .selection = selection,
			     .err = err};
	const char *path = scope->kallsyms ? scope->kallsyms : "/proc/kallsyms";
	int ret = check_names(&m);

	if (ret == 0 && (ret = nw_kernel_symbols_each(path, take, &m)) < 0)
		nw_fail(err, -ret, "cannot read %s, which has the kernel's functions: %s",
			path, nw_strerror(-ret));
	if (ret == 0 && m.copies.failed)
		ret = nw_no_memory(err);
	if (ret == 0)
		ret = choose(&m);
	nw_vec_each (&m.found, one)
		free(one->name);
	nw_vec_free(&m.found);
	nw_buf_free(&m.copies);
	return ret;
}
