// SPDX-License-Identifier: MIT
/*
 * Calling conventions. Those of C are rows of find/arch/table.c: integers are in registers, then on the stack;
 * floating-point values are in registers of their own, which the kernel does not keep for us, except in ABIs without
 * such registers (the flags of the ELF header tell).
 *
 * Go has its own conventions (its internal ABI, src/cmd/compile/abi-internal.md of Go): since 1.17 arguments are in
 * registers; before that, and in assembly (SYMBOL.abi0), all are on the stack.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "find/arch/arch.h"

struct convention {
	/* Operands, in the syntax of notes; "" or NULL: none */
	const char *registers, *stack;
	const char *problem; /* why arguments are unknown */
	const char *floats; /* why a floating-point value cannot be fetched; NULL: it can */
	bool floats_take;   /* such an argument leaves the place of an integer unused */
};

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static struct convention go_convention(const struct nw_image *image, const char *name,
				       bool is_return)
{
	const struct nw_arch *arch = image->arch;
	struct convention c = {
		.floats =
			"a floating-point value of Go's is in a vector register, which ftrace cannot read"};
	int minor = nw_go_minor(image);
	bool assembly = ends_with(name, ".abi0");

	if (!arch->go_args && !arch->go_stack)
		c.problem = "how Go passes arguments is not known for this architecture";
	else if (arch->go_args && !minor && !assembly)
		c.problem =
			"which version of Go built the file is not known, and since 1.17 arguments are elsewhere";
	else if (arch->go_args && !assembly && minor >= arch->go_since)
		c.registers = arch->go_args;
	else if (is_return)
		c.problem =
			"a result on Go's stack: how far behind the arguments is not known";
	else
		c.stack = arch->go_stack;
	return c;
}

static bool is_go(const struct nw_image *image, const char *name)
{
	/* A Go symbol begins with its package. The suffixes of gcc and clang are no packages. */
	static const char *const suffixes[] = {".constprop.", ".isra.",	    ".part.",
					       ".cold",	      ".lto_priv.", ".llvm."};

	if (!image->go || !image->arch)
		return false;
	for (size_t i = 0; i < NW_COUNT(suffixes); i++)
		if (strstr(name, suffixes[i]))
			return false;
	return strchr(name, '.');
}

const char *nw_call_goroutine(const struct nw_image *image, const char *name)
{
	const struct nw_arch *arch = image->arch;

	if (!name || !is_go(image, name))
		return NULL;
	if (arch->go_g && (arch->go_g_always || (nw_go_minor(image) >= arch->go_since &&
						 !ends_with(name, ".abi0"))))
		return arch->go_g;
	return "";
}

static struct convention convention_of(const struct nw_image *image, const char *name,
				       bool is_return)
{
	const struct nw_arch *arch = image->arch;

	if (is_go(image, name))
		return go_convention(image, name, is_return);
	struct convention c = {
		.registers = is_return ? arch->return_value : arch->call_args,
		.stack = is_return ? NULL : arch->stack_args,
		.floats = is_return ? arch->float_result : arch->float_args,
		.floats_take = arch->floats_take_places,
	};
	if (image->kernel && !is_return && arch->kernel_call_args) {
		c.registers = arch->kernel_call_args;
		c.stack = arch->kernel_stack_args;
	}
	if (arch->soft_float_mask &&
	    (image->flags & arch->soft_float_mask) == arch->soft_float)
		c.floats = NULL;
	return c;
}

static bool is_float(const nw_named_args *types, size_t i)
{
	return i < types->count && types->item[i].type.base == NW_TYPE_FLOAT &&
	       !types->item[i].type.array;
}

int nw_call_refuse_floats(const struct nw_image *image, const char *name, bool is_return,
			  const nw_named_args *types, struct nw_error *err)
{
	const char *why = convention_of(image, name, is_return).floats;
	size_t i = 0;

	while (i < types->count && !is_float(types, i))
		i++;
	if (!why || i == types->count)
		return 0;
	const char *arg = types->item[i].name;
	if (*arg)
		nw_fail_usage(err, "'%s' of '%s' cannot be fetched: %s", arg, name, why);
	else
		nw_fail_usage(err, "an argument of '%s' cannot be fetched: %s", name, why);
	if (is_return)
		nw_error_hint(
			err,
			"leave the parentheses out: returns are counted and timed all the same");
	else if (image->arch->floats_take_places && !is_go(image, name))
		nw_error_hint(
			err,
			"give it an integer's type, such as x64: what it shows means nothing, and the integers and pointers behind it are found");
	else
		nw_error_hint(
			err,
			"leave it out: the integers and pointers behind it are found without it, as it is passed elsewhere");
	return -EINVAL;
}

static int add_problem(nw_operands *out, const char *problem)
{
	struct nw_operand *op = nw_vec_add(out);

	if (!op)
		return -ENOMEM;
	*op = (struct nw_operand){.text = "", .size = 8, .problem = problem};
	return 0;
}

/* Gives each argument the next place for integers in `all`. Floating-point arguments are passed elsewhere: they take
 * no such place, or leave one unused (floats_take). */
static int deal(const struct convention *c, const nw_operands *all, size_t count,
		const nw_named_args *types, nw_operands *out)
{
	size_t next = 0;
	int ret = 0;

	for (size_t i = 0; i < count && ret == 0; i++) {
		if (c->problem) {
			ret = add_problem(out, c->problem);
		} else if (is_float(types, i) && c->floats) {
			ret = add_problem(out, c->floats);
			next += c->floats_take;
		} else if (next < all->count) {
			struct nw_operand *op = nw_vec_add(out);
			if (op)
				*op = all->item[next++];
			ret = op ? 0 : -ENOMEM;
		} else {
			ret = add_problem(
				out,
				"where it is passed is not known: one of too many arguments");
		}
	}
	return ret;
}

int nw_call_operands(const struct nw_image *image, const char *name, bool is_return,
		     size_t named, const nw_named_args *types, nw_operands *out)
{
	const struct convention c = convention_of(image, name, is_return);
	nw_operands all = {0};
	int ret = 0;

	if (c.registers)
		ret = nw_operands_parse(image->arch, c.registers, &all);
	size_t count = c.problem || (is_return && all.count) ? 1 : all.count;
	if (ret == 0 && c.stack)
		ret = nw_operands_parse(image->arch, c.stack, &all);
	if (!count)
		count = all.count < 6 ? all.count : 6;
	size_t most = c.problem ? named : all.count;
	/* A floating-point argument takes no integer register, so another argument gets it. */
	for (size_t i = 0; c.floats && !c.floats_take && i < named; i++)
		most += is_float(types, i);
	if (named > count)
		count = named < most ? named : most;
	if (ret == 0)
		ret = deal(&c, &all, count, types, out);
	nw_vec_free(&all);
	return ret;
}
